//! Casts of solids to another scalar.

use core::any::Any;
use core::fmt;
use core::marker::PhantomData;

use crate::math::{CastTable, Real};
use crate::shapes::{
    Ellipsoid, FiniteCylinder, HalfSpace, ShapeError, Solid, SolidShape, Sphere, TriangleMesh,
};

/// Casts of solids from one scalar to another: those of this crate, and of a user's own those that were added.
///
/// ```
/// use force_elements::nalgebra::{Point3, Vector3};
/// use force_elements::shapes::{Bounds, Solid, SolidCasts, SolidShape, SurfacePoint};
/// use force_elements::Real;
///
/// /// Fills x < edge.
/// #[derive(Debug)]
/// struct Wall<T> { edge: T }
///
/// impl<T: Real> Solid<T> for Wall<T> {
///     fn nearest(&self, p_S: &Point3<T>) -> SurfacePoint<T> {
///         let point = Point3::new(self.edge, p_S.y, p_S.z);
///         SurfacePoint { point, normal: Vector3::x(), signed_distance: p_S.x - self.edge }
///     }
///     fn bounds(&self) -> Bounds<T> {
///         Bounds::Unbounded
///     }
/// }
///
/// let wall = SolidShape::custom(Wall { edge: 0.5_f64 });
/// assert!(wall.cast::<f32>().is_err());
///
/// let mut casts = SolidCasts::<f64, f32>::new();
/// casts.add(|wall: &Wall<f64>| Ok(Wall { edge: wall.edge.cast::<f32>() }));
/// assert_eq!(wall.cast_with(&casts)?.signed_distance(&Point3::new(2.0, 0.0, 0.0)), 1.5);
/// # Ok::<(), force_elements::Error>(())
/// ```
pub struct SolidCasts<T: Real, U: Real> {
    table: CastTable<Result<SolidShape<U>, ShapeError>>,
    from: PhantomData<fn(T)>,
}

impl<T: Real, U: Real> SolidCasts<T, U> {
    /// The casts of the solids of this crate.
    pub fn new() -> Self {
        let mut casts = Self { table: CastTable::new(), from: PhantomData };
        casts.add(|shape: &HalfSpace| Ok(*shape));
        casts.add(|shape: &Sphere<T>| shape.cast::<U>());
        casts.add(|shape: &Ellipsoid<T>| shape.cast::<U>());
        casts.add(|shape: &FiniteCylinder<T>| shape.cast::<U>());
        casts.add(|shape: &TriangleMesh<T>| shape.cast::<U>());
        casts
    }

    /// Adds the cast of a user's own solid; of several for one type, the last one counts.
    pub fn add<S: Solid<T>, R: Solid<U>>(
        &mut self,
        cast: impl Fn(&S) -> Result<R, ShapeError> + Send + Sync + 'static,
    ) {
        self.table.add(move |shape: &S| cast(shape).map(SolidShape::custom));
    }

    /// The solid in the other scalar.
    ///
    /// # Errors
    /// [`ShapeError::NoCast`] if none was added for its type, or the error of the cast.
    pub(crate) fn cast(&self, shape: &dyn Solid<T>) -> Result<SolidShape<U>, ShapeError> {
        let any: &dyn Any = shape;
        self.table.cast(any).unwrap_or_else(|| Err(ShapeError::NoCast { shape: shape.type_name() }))
    }
}

impl<T: Real, U: Real> Default for SolidCasts<T, U> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Real, U: Real> fmt::Debug for SolidCasts<T, U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.table.fmt(f)
    }
}
