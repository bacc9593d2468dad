//! Casts of surfaces and curves to another scalar.

use alloc::sync::Arc;
use core::any::Any;
use core::fmt;
use core::marker::PhantomData;

use crate::cable::geodesics::wrappable::Wrappable;
use crate::cable::model::point_curve::{PointCurve, SplineCurve};
use crate::math::{CastTable, Real};
use crate::shapes::{
    Cylinder, DistanceField, Ellipsoid, FiniteCylinder, HeightMap, ShapeError, Sphere, Torus,
};

/// Casts of surfaces that a cable can wrap, and of curves along which its via points move, from one scalar to another:
/// those of this crate, and those that a user adds.
pub struct PathCasts<T: Real, U: Real> {
    surfaces: CastTable<Result<Arc<dyn Wrappable<U>>, ShapeError>>,
    curves: CastTable<Result<Arc<dyn PointCurve<U>>, ShapeError>>,
    from: PhantomData<fn(T)>,
}

impl<T: Real, U: Real> PathCasts<T, U> {
    /// The casts of the surfaces and curves of this crate.
    pub fn new() -> Self {
        let mut casts = Self { surfaces: CastTable::new(), curves: CastTable::new(), from: PhantomData };
        casts.add_surface(|shape: &Sphere<T>| shape.cast::<U>());
        casts.add_surface(|shape: &Cylinder<T>| shape.cast::<U>());
        casts.add_surface(|shape: &FiniteCylinder<T>| shape.cast::<U>());
        casts.add_surface(|shape: &Ellipsoid<T>| shape.cast::<U>());
        casts.add_surface(|shape: &Torus<T>| shape.cast::<U>());
        casts.add_surface(|shape: &HeightMap<T>| shape.cast::<U>());
        casts.add_surface(|shape: &DistanceField| Ok(shape.clone()));
        casts.add_curve(|curve: &SplineCurve<T>| Ok(curve.cast::<U>()?));
        casts
    }

    /// Adds the cast of a user's surface, replacing an earlier one for the type.
    pub fn add_surface<S: Wrappable<T>, R: Wrappable<U>>(
        &mut self,
        cast: impl Fn(&S) -> Result<R, ShapeError> + Send + Sync + 'static,
    ) {
        self.surfaces.add(move |shape: &S| {
            let cast: Arc<dyn Wrappable<U>> = Arc::new(cast(shape)?);
            Ok(cast)
        });
    }

    /// Adds the cast of a user's curve, replacing an earlier one for the type.
    pub fn add_curve<C: PointCurve<T>, R: PointCurve<U>>(
        &mut self,
        cast: impl Fn(&C) -> Result<R, ShapeError> + Send + Sync + 'static,
    ) {
        self.curves.add(move |curve: &C| {
            let cast: Arc<dyn PointCurve<U>> = Arc::new(cast(curve)?);
            Ok(cast)
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
        self.surfaces.cast(any).unwrap_or_else(|| Err(ShapeError::NoCast { shape: surface.type_name() }))
    }

    /// The curve in the other scalar.
    ///
    /// # Errors
    /// As [`cast_surface`](Self::cast_surface).
    pub(crate) fn cast_curve(&self, curve: &dyn PointCurve<T>) -> Result<Arc<dyn PointCurve<U>>, ShapeError> {
        let any: &dyn Any = curve;
        self.curves.cast(any).unwrap_or_else(|| Err(ShapeError::NoCast { shape: curve.type_name() }))
    }
}

impl<T: Real, U: Real> Default for PathCasts<T, U> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Real, U: Real> fmt::Debug for PathCasts<T, U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { surfaces, curves, .. } = self;
        f.debug_struct("PathCasts").field("surfaces", surfaces).field("curves", curves).finish()
    }
}
