//! Casts of solids to another scalar.

use core::any::Any;

use crate::math::{Casts, Real};
use crate::shapes::{
    Ellipsoid, FiniteCylinder, HalfSpace, ShapeError, Solid, SolidShape, Sphere, TriangleMesh,
};

impl<T: Real, U: Real> Casts<T, U> {
    /// With the casts of the solids of this crate.
    pub(crate) fn with_solids(mut self) -> Self {
        self.add_solid(|shape: &HalfSpace| Ok(*shape));
        self.add_solid(|shape: &Sphere<T>| shape.cast::<U>());
        self.add_solid(|shape: &Ellipsoid<T>| shape.cast::<U>());
        self.add_solid(|shape: &FiniteCylinder<T>| shape.cast::<U>());
        self.add_solid(|shape: &TriangleMesh<T>| shape.cast::<U>());
        self
    }

    /// Adds the cast of a user's own solid.
    ///
    /// ```
    /// use force_elements::nalgebra::{Point3, Vector3};
    /// use force_elements::shapes::{Solid, SolidShape, SurfacePoint};
    /// use force_elements::{Casts, Real};
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
    /// }
    ///
    /// let wall = SolidShape::custom(Wall { edge: 0.5_f64 });
    /// assert!(wall.cast::<f32>().is_err());
    ///
    /// let mut casts = Casts::<f64, f32>::without_elements();
    /// casts.add_solid(|wall: &Wall<f64>| Ok(Wall { edge: wall.edge.cast::<f32>() }));
    /// assert_eq!(wall.cast_with(&casts)?.signed_distance(&Point3::new(2.0, 0.0, 0.0)), 1.5);
    /// # Ok::<(), force_elements::Error>(())
    /// ```
    pub fn add_solid<S: Solid<T>, R: Solid<U>>(
        &mut self,
        cast: impl Fn(&S) -> Result<R, ShapeError> + Send + Sync + 'static,
    ) {
        self.add_from(move |shape: &S, _| cast(shape).map(SolidShape::custom));
    }

    /// The solid in the other scalar.
    ///
    /// # Errors
    /// [`ShapeError::NoCast`] if none was added for its type, or the error of the cast.
    pub(crate) fn cast_solid(&self, shape: &dyn Solid<T>) -> Result<SolidShape<U>, ShapeError> {
        let any: &dyn Any = shape;
        self.find(any).unwrap_or_else(|| Err(ShapeError::NoCast { shape: shape.type_name() }))
    }
}
