//! Surfaces that a cable passes over.

use alloc::sync::Arc;
use core::any::Any;

use nalgebra::{Point3, Vector3};

use crate::cable::{PathError, Wrappable};
use crate::math::{Casts, Real, Requirement, check, is_finite, is_plain};
use crate::mechanics::Frame;

/// A surface on a body.
#[derive(Debug, Clone)]
pub struct Obstacle<T: Real> {
    frame: Frame<T>,
    surface: Arc<dyn Wrappable<T>>,
    /// The surface in plain numbers, if the scalar is another and the surface is available in them.
    plain: Option<Arc<dyn Wrappable<f64>>>,
    hint_S: Option<Point3<T>>,
    /// The side to which the cable is confined, a unit vector across the surface's axis.
    pub(crate) side_S: Option<Vector3<T>>,
    /// Whether the surface is convex. A cable is tested against every other surface at every solution.
    pub(crate) is_convex: bool,
    /// Whether the obstacle is ignored while it contains an end of the cable's span.
    pub(crate) admits_ends: bool,
    /// The largest number of its contacts.
    pub(crate) most_contacts: usize,
}

impl<T: Real> Obstacle<T> {
    /// The default of the largest number of contacts with an obstacle that is not convex.
    const MOST_CONTACTS: usize = 8;

    /// A surface in a frame on a body.
    ///
    /// # Errors
    /// [`PathError::InvalidValue`] for a pose that is not finite or not a rotation.
    pub fn new(frame: Frame<T>, surface: impl Wrappable<T>) -> Result<Self, PathError> {
        Self::shared(frame, Arc::new(surface))
    }

    /// An obstacle whose surface several obstacles share.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn shared(frame: Frame<T>, surface: Arc<dyn Wrappable<T>>) -> Result<Self, PathError> {
        check::pose("obstacle.X_BF", &frame.X_BF)?;
        let is_convex = surface.is_convex();
        let plain = if is_plain::<T>() { None } else { in_plain(&surface) };
        let most_contacts = if is_convex { 1 } else { Self::MOST_CONTACTS };
        Ok(Self {
            frame,
            surface,
            plain,
            hint_S: None,
            side_S: None,
            is_convex,
            admits_ends: false,
            most_contacts,
        })
    }

    /// The same obstacle in another scalar.
    ///
    /// # Errors
    /// As [`cast_with`](Self::cast_with).
    pub fn cast<U: Real>(&self) -> Result<Obstacle<U>, PathError> {
        self.cast_with(&Casts::none().with_paths())
    }

    /// The same obstacle in another scalar, with casts of a user's own surfaces.
    ///
    /// # Errors
    /// [`PathError::Shape`] with [`ShapeError::NoCast`](crate::shapes::ShapeError::NoCast) for a user's own surface
    /// without a cast, or with the error of the cast; [`PathError::InvalidValue`] or [`PathError::NonFinite`] where
    /// the other scalar has a smaller range.
    pub fn cast_with<U: Real>(&self, casts: &Casts<T, U>) -> Result<Obstacle<U>, PathError> {
        let mut obstacle = self.with_surface(casts.cast_surface(self.surface.as_ref())?);
        check::pose("obstacle.X_BF", &obstacle.frame.X_BF)?;
        obstacle.hint_S.iter().try_for_each(finite_point)?;
        if !is_plain::<U>() {
            obstacle.plain = self.plain.clone().or_else(|| in_plain(&self.surface));
        }
        Ok(obstacle)
    }

    /// The same obstacle with a surface in another scalar.
    fn with_surface<U: Real>(&self, surface: Arc<dyn Wrappable<U>>) -> Obstacle<U> {
        Obstacle {
            frame: self.frame.cast(),
            is_convex: surface.is_convex(),
            surface,
            plain: None,
            hint_S: self.hint_S.map(|hint| hint.map(T::cast)),
            side_S: self.side_S.map(|side| side.map(T::cast)),
            admits_ends: self.admits_ends,
            most_contacts: self.most_contacts,
        }
    }

    /// The obstacle in plain numbers, if its surface is known in them.
    pub(crate) fn in_plain(&self) -> Option<Obstacle<f64>> {
        Some(self.with_surface(self.plain.clone()?))
    }

    /// The same obstacle with a point, in the surface's frame \[m\], that indicates where the cable passes.
    ///
    /// The hint is used while there is no memory of the obstacle: where the cable is [laid
    /// anew](crate::ForceSystem::reset_memory), and where the obstacle is switched on. It turns with the body: on a wheel
    /// that has turned by half a turn it is on the other side. The cable need not touch the obstacle, nor run through the
    /// point: straight lines through the point determine the class of the path; see
    /// [`CablePath`](crate::cable::CablePath). A point inside the solid is replaced by a nearby point of the surface.
    ///
    /// # Errors
    /// [`PathError::NonFinite`] if the point is not finite.
    pub fn with_contact_hint(mut self, p_S: Point3<T>) -> Result<Self, PathError> {
        finite_point(&p_S)?;
        self.hint_S = Some(p_S);
        Ok(self)
    }

    /// The same obstacle, ignored while it contains the end or via point before or after the cable's passage.
    ///
    /// Without this option such a point is an error ([`PathError::PointInsideObstacle`]). With it, the length of the
    /// cable may jump where the point enters or leaves the solid.
    #[must_use]
    pub fn ignored_around_ends(mut self) -> Self {
        self.admits_ends = true;
        self
    }

    /// The same obstacle with another largest number of contacts, from 1 to 1000. Default: 8, or 1 if the surface is
    /// convex.
    ///
    /// The memory of a path has this number of places, whether or not they are used.
    ///
    /// # Errors
    /// [`PathError::InvalidValue`] outside that range.
    pub fn with_most_contacts(mut self, most_contacts: usize) -> Result<Self, PathError> {
        // A larger number is probably a mistake, and might not fit into memory.
        const MOST: u32 = 1000;
        let number = u32::try_from(most_contacts).unwrap_or(u32::MAX);
        let value = T::lit(f64::from(number));
        check::that(number > 0, "most_contacts", value, Requirement::Positive)?;
        check::that(number <= MOST, "most_contacts", value, Requirement::AtMost("1000"))?;
        self.most_contacts = most_contacts;
        Ok(self)
    }

    /// The frame of the surface.
    pub fn frame(&self) -> &Frame<T> {
        &self.frame
    }

    /// The surface.
    #[inline]
    pub fn surface(&self) -> &dyn Wrappable<T> {
        self.surface.as_ref()
    }

    /// The contact hint, or a nearby point of the surface if the hint is inside.
    pub(crate) fn place_of_hint(&self) -> Option<Point3<T>> {
        let surface = self.surface();
        let inside = |p: &Point3<T>| surface.value(p) < T::zero() || !surface.covers(p);
        self.hint_S.map(|hint| if inside(&hint) { surface.retract(&hint) } else { hint })
    }

    /// The contact hint, in the surface's frame.
    pub fn contact_hint(&self) -> Option<&Point3<T>> {
        self.hint_S.as_ref()
    }
}

/// A surface in plain numbers.
fn in_plain<T: Real>(surface: &Arc<dyn Wrappable<T>>) -> Option<Arc<dyn Wrappable<f64>>> {
    let any: &dyn Any = surface;
    match any.downcast_ref::<Arc<dyn Wrappable<f64>>>() {
        Some(surface) => Some(Arc::clone(surface)),
        None => Casts::<T, f64>::none().with_paths().cast_surface(surface.as_ref()).ok(),
    }
}

pub(crate) fn finite_point<T: Real>(p: &Point3<T>) -> Result<(), PathError> {
    if is_finite(&p.coords) { Ok(()) } else { Err(PathError::NonFinite) }
}
