//! Casts of values that are known only by an interface.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::any::Any;
use core::fmt;
use core::marker::PhantomData;

use super::Real;

/// Casts of elements, and of the shapes and curves in them, from one scalar to another, for
/// [`ForceSystem::cast_with`](crate::ForceSystem::cast_with).
///
/// [`new`](Self::new) contains the casts of this crate; add your own. Of several casts for one type, the last one counts.
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
///     fn check_topology(&self, topology: &Topology) -> ElementResult {
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
    /// A [`Cast`] for each type and each result.
    casts: Vec<Box<dyn Any + Send + Sync>>,
    scalars: PhantomData<fn(T) -> U>,
}

/// A function from values of one type; `None` for a value of another type.
type Cast<T, U, R> = Box<dyn Fn(&dyn Any, &Casts<T, U>) -> Option<R> + Send + Sync>;

impl<T: Real, U: Real> Casts<T, U> {
    pub(crate) fn none() -> Self {
        Self { casts: Vec::new(), scalars: PhantomData }
    }

    /// Adds a function from values of one type, which receives these casts for the parts of the value.
    pub(crate) fn add_from<S: 'static, R: 'static>(
        &mut self,
        cast: impl Fn(&S, &Self) -> R + Send + Sync + 'static,
    ) {
        let cast: Cast<T, U, R> = Box::new(move |value, casts| Some(cast(value.downcast_ref()?, casts)));
        self.casts.push(Box::new(cast));
    }

    /// `None` if there is no function from values of this type to `R`.
    pub(crate) fn find<R: 'static>(&self, value: &dyn Any) -> Option<R> {
        let mut casts = self.casts.iter().rev().filter_map(|cast| cast.downcast_ref::<Cast<T, U, R>>());
        casts.find_map(|cast| cast(value, self))
    }
}

impl<T: Real, U: Real> fmt::Debug for Casts<T, U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Casts").field("count", &self.casts.len()).finish()
    }
}
