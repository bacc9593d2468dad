//! Casts of surfaces and curves to another scalar.

use alloc::sync::Arc;
use core::any::Any;

use crate::cable::{PointCurve, SplineCurve, Wrappable};
use crate::math::{Casts, Real};
use crate::shapes::{
    Cylinder, DistanceField, Ellipsoid, FiniteCylinder, HeightMap, ShapeError, Sphere, Torus,
};

impl<T: Real, U: Real> Casts<T, U> {
    /// With the casts of the surfaces and curves of this crate.
    pub(crate) fn with_paths(mut self) -> Self {
        self.add_surface(|shape: &Sphere<T>| shape.cast::<U>());
        self.add_surface(|shape: &Cylinder<T>| shape.cast::<U>());
        self.add_surface(|shape: &FiniteCylinder<T>| shape.cast::<U>());
        self.add_surface(|shape: &Ellipsoid<T>| shape.cast::<U>());
        self.add_surface(|shape: &Torus<T>| shape.cast::<U>());
        self.add_surface(|shape: &HeightMap<T>| shape.cast::<U>());
        self.add_surface(|shape: &DistanceField| Ok(shape.clone()));
        self.add_curve(|curve: &SplineCurve<T>| Ok(curve.cast::<U>()?));
        self
    }

    /// Adds the cast of a user's surface that a cable can wrap.
    pub fn add_surface<S: Wrappable<T>, R: Wrappable<U>>(
        &mut self,
        cast: impl Fn(&S) -> Result<R, ShapeError> + Send + Sync + 'static,
    ) {
        self.add_from(move |shape: &S, _| {
            let cast: Arc<dyn Wrappable<U>> = Arc::new(cast(shape)?);
            Ok::<_, ShapeError>(cast)
        });
    }

    /// Adds the cast of a user's curve along which the via points of cables move.
    pub fn add_curve<C: PointCurve<T>, R: PointCurve<U>>(
        &mut self,
        cast: impl Fn(&C) -> Result<R, ShapeError> + Send + Sync + 'static,
    ) {
        self.add_from(move |curve: &C, _| {
            let cast: Arc<dyn PointCurve<U>> = Arc::new(cast(curve)?);
            Ok::<_, ShapeError>(cast)
        });
    }

    /// The surface in the other scalar.
    ///
    /// # Errors
    /// [`ShapeError::NoCast`] if none was added for its type, or the error of the cast.
    pub(crate) fn cast_surface(
        &self,
        surface: &dyn Wrappable<T>,
    ) -> Result<Arc<dyn Wrappable<U>>, ShapeError> {
        let any: &dyn Any = surface;
        self.find(any).unwrap_or_else(|| Err(ShapeError::NoCast { shape: surface.type_name() }))
    }

    /// The curve in the other scalar.
    ///
    /// # Errors
    /// As [`cast_surface`](Self::cast_surface).
    pub(crate) fn cast_curve(&self, curve: &dyn PointCurve<T>) -> Result<Arc<dyn PointCurve<U>>, ShapeError> {
        let any: &dyn Any = curve;
        self.find(any).unwrap_or_else(|| Err(ShapeError::NoCast { shape: curve.type_name() }))
    }
}
