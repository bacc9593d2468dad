//! Casts of surfaces to another scalar.

use alloc::sync::Arc;
use core::any::Any;
use core::fmt;
use core::marker::PhantomData;

use super::wrappable::Wrappable;
use crate::math::{CastTable, Real};
use crate::shapes::{Cylinder, DistanceField, Ellipsoid, HeightMap, ShapeError, Sphere, Torus};

/// Casts of surfaces that a cable can wrap from one scalar to another: those of this crate, and of a user's own those
/// that were added.
pub struct SurfaceCasts<T: Real, U: Real> {
    table: CastTable<Result<Arc<dyn Wrappable<U>>, ShapeError>>,
    from: PhantomData<fn(T)>,
}

impl<T: Real, U: Real> SurfaceCasts<T, U> {
    /// The casts of the surfaces of this crate.
    pub fn new() -> Self {
        let mut casts = Self { table: CastTable::new(), from: PhantomData };
        casts.add(|shape: &Sphere<T>| shape.cast::<U>());
        casts.add(|shape: &Cylinder<T>| shape.cast::<U>());
        casts.add(|shape: &Ellipsoid<T>| shape.cast::<U>());
        casts.add(|shape: &Torus<T>| shape.cast::<U>());
        casts.add(|shape: &HeightMap<T>| shape.cast::<U>());
        casts.add(|shape: &DistanceField| Ok(shape.clone()));
        casts
    }

    /// Adds the cast of a user's own surface; of several for one type, the last one counts.
    pub fn add<S: Wrappable<T>, R: Wrappable<U>>(
        &mut self,
        cast: impl Fn(&S) -> Result<R, ShapeError> + Send + Sync + 'static,
    ) {
        self.table.add(move |shape: &S| {
            let cast: Arc<dyn Wrappable<U>> = Arc::new(cast(shape)?);
            Ok(cast)
        });
    }

    /// The surface in the other scalar.
    ///
    /// # Errors
    /// [`ShapeError::NoCast`] if none was added for its type, or the error of the cast.
    pub(super) fn cast(&self, surface: &dyn Wrappable<T>) -> Result<Arc<dyn Wrappable<U>>, ShapeError> {
        let any: &dyn Any = surface;
        self.table.cast(any).unwrap_or_else(|| Err(ShapeError::NoCast { shape: surface.type_name() }))
    }
}

impl<T: Real, U: Real> Default for SurfaceCasts<T, U> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Real, U: Real> fmt::Debug for SurfaceCasts<T, U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.table.fmt(f)
    }
}
