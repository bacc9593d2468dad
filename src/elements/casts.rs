//! Casts of elements, and of their parts, to another scalar.

use core::fmt;

use crate::cable::PathCasts;
use crate::elements::{
    CableSpring, CoordinateSpringDamperExt, CustomForce, ElasticFoundation, ExponentialSpring, HertzContact,
    LinearBushing, SpatialBushing,
};
use crate::framework::casts::KindCasts;
use crate::framework::{ElementError, Error, ForceElement, ForceSystem};
use crate::math::Real;
use crate::shapes::SolidCasts;

/// Casts of elements and shapes from one scalar to another, for [`ForceSystem::cast_with`].
///
/// [`new`](Self::new) contains those of this crate; add your own.
///
/// # Example: a user's element
///
/// ```
/// use force_elements::*;
///
/// /// A constant force along x.
/// #[derive(Debug)]
/// struct Wind<T: Real> { body: BodyIndex, force: T }
///
/// impl<T: Real> ForceElement<T> for Wind<T> {
///     const KIND: &'static str = "wind";
///     element_types! {}
///
///     fn check_topology(&self, topology: &Topology) -> Result<(), ElementError> {
///         Ok(topology.check_body(self.body)?)
///     }
///     fn add_forces(&self, at: &AtDynamics<'_, T, Self>, forces: &mut ForceAccumulator<'_, T>) {
///         let (p_GB, zero) = (at.positions.pose(self.body).translation.vector, T::zero());
///         forces.apply_at_point(self.body, &p_GB.into(), nalgebra::Vector3::new(self.force, zero, zero));
///     }
/// }
///
/// let mut system = ForceSystem::<f64>::new();
/// let body = system.add_body();
/// let wind = system.add(Wind { body, force: 2.0 })?;
/// assert!(matches!(system.cast::<f32>(), Err(Error::NoCast { kind: "wind" })));
///
/// let mut casts = Casts::<f64, f32>::new();
/// casts.add(|wind: &Wind<f64>, _| Ok(Wind { body: wind.body, force: wind.force.cast::<f32>() }));
/// let single = system.cast_with(&casts)?;
/// assert_eq!(single.element(wind.cast::<Wind<f32>>()).force, 2.0);
/// # Ok::<(), Error>(())
/// ```
pub struct Casts<T: Real, U: Real> {
    /// Casts of solids, for elements that contain solids.
    pub solids: SolidCasts<T, U>,
    /// Casts of surfaces and curves of cable paths, for elements that contain them.
    pub paths: PathCasts<T, U>,
    kinds: KindCasts<T, U, Self>,
}

impl<T: Real, U: Real> Casts<T, U> {
    /// The casts of the elements and shapes of this crate.
    pub fn new() -> Self {
        let mut casts = Self::without_elements();
        casts.add(|element: &LinearBushing<T>, _| Ok(element.cast::<U>()));
        casts.add(|element: &SpatialBushing<T>, _| element.cast::<U>());
        casts.add(|element: &ExponentialSpring<T>, _| Ok(element.cast::<U>()));
        casts.add(|element: &CoordinateSpringDamperExt<T>, _| element.cast::<U>());
        casts.add(|element: &ElasticFoundation<T>, casts| element.cast_with(&casts.solids));
        casts.add(|element: &HertzContact<T>, _| element.cast::<U>());
        casts.add(|element: &CableSpring<T>, casts| element.cast_with(&casts.paths));
        casts.add(|_: &CustomForce<T>, _| {
            let bound = Error::of_new(CustomForce::<T>::KIND, ElementError::BoundToScalar);
            Err::<CustomForce<U>, _>(bound)
        });
        casts
    }

    /// The casts of shapes alone. If you cast few types of elements, add only those; the others are then not compiled
    /// in the other scalar.
    pub fn without_elements() -> Self {
        Self { solids: SolidCasts::new(), paths: PathCasts::new(), kinds: KindCasts::new() }
    }

    /// Adds the cast of elements of one type, replacing an earlier one.
    ///
    /// The function makes the element from the other's places; defaults set on the system are copied by name. It is
    /// given these casts for the shapes that the element contains.
    pub fn add<E: ForceElement<T>, F: ForceElement<U>>(
        &mut self,
        cast: impl Fn(&E, &Self) -> Result<F, Error> + Send + Sync + 'static,
    ) {
        self.kinds.add(cast);
    }
}

impl<T: Real, U: Real> fmt::Debug for Casts<T, U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { solids, paths, kinds } = self;
        let kinds = &kinds.len();
        f.debug_struct("Casts").field("solids", solids).field("paths", paths).field("kinds", kinds).finish()
    }
}

impl<T: Real, U: Real> Default for Casts<T, U> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Real> ForceSystem<T> {
    /// The same system in another scalar, if all its elements and shapes are of this crate; see
    /// [`cast_with`](Self::cast_with).
    ///
    /// # Errors
    /// As [`cast_with`](Self::cast_with).
    ///
    /// # Example: the stiffness of a mount by a derivative
    ///
    /// ```
    /// use force_elements::linear_bushing::Parameters;
    /// use force_elements::nalgebra::Vector6;
    /// use force_elements::{ForceSystem, Frame, LinearBushing, Pose};
    /// use num_dual::Dual64;
    ///
    /// let mut system = ForceSystem::<f64>::new();
    /// let body = system.add_body();
    /// let parameters = Parameters { stiffness: Vector6::repeat(800.0), ..Parameters::default() };
    /// let mount = system.add(LinearBushing::new(Frame::ground(Pose::identity()), Frame::of(body), parameters)?)?;
    /// let mut state = system.default_state();
    /// state.set_pose(body, Pose::translation(0.01, 0.0, 0.0))?;
    ///
    /// let in_duals = system.cast::<Dual64>()?;
    /// let mut moving = in_duals.cast_state(&state)?;
    /// let mut pose = *moving.positions().pose(body);
    /// pose.translation.x.eps = 1.0;
    /// moving.set_pose(body, pose)?;
    /// let dynamics = in_duals.realize_dynamics(&mut moving)?;
    /// assert_eq!(dynamics.body_force(body).force.x.eps, -800.0);
    /// assert_eq!(dynamics.of(mount.cast::<LinearBushing<Dual64>>()).position.q[3].re, 0.01);
    /// # Ok::<(), force_elements::Error>(())
    /// ```
    pub fn cast<U: Real>(&self) -> Result<ForceSystem<U>, Error> {
        self.cast_with(&Casts::new())
    }

    /// The same system in another scalar, with casts of a user's own elements and shapes. Indices of bodies and
    /// coordinates remain valid; convert handles of elements by [`Handle::cast`](crate::Handle::cast).
    ///
    /// Meshes are shared; everything else is copied, with zero derivatives: bodies, coordinates, elements, names, and
    /// the variables with which new states begin. The two systems are independent afterwards.
    ///
    /// # Errors
    /// [`Error::NoCast`] for a kind of element without a cast; [`Error::Element`] with the error of an element's cast,
    /// with [`ElementError::ForeignVariables`] if the cast has variables of other names, or with
    /// [`ElementError::InvalidValue`] where the other scalar has a smaller range.
    pub fn cast_with<U: Real>(&self, casts: &Casts<T, U>) -> Result<ForceSystem<U>, Error> {
        casts.kinds.cast(self, casts)
    }
}
