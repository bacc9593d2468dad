//! The contract of an element as checks, for elements of one's own (feature `testing`).
//!
//! A [`Subject`] puts an element in a scene that is drawn from [`Numbers`]. Each check evaluates it in the scene of a
//! seed and returns a [`Violation`] where the element breaks a promise of [`ForceElement`](crate::ForceElement);
//! [`contract`] runs those that hold for every element between two bodies. The elements of this crate are tested with
//! the same checks.
//!
//! # Example: a spring between two bodies
//!
//! ```
//! use force_elements::nalgebra::Point3;
//! use force_elements::testing::{self, Numbers, Scene, Subject};
//! use force_elements::*;
//!
//! struct Spring;
//!
//! impl Subject for Spring {
//!     type Element<T: Real> = CustomForce<T>;
//!
//!     fn scene<T: Real>(numbers: &mut Numbers) -> Result<Scene<T, CustomForce<T>>, Error> {
//!         let mut system = ForceSystem::new();
//!         let bodies = [system.add_body(), system.add_body()];
//!         let stiffness: T = numbers.between(10.0, 100.0);
//!         let element = system.add(CustomForce::new(move |motion, loads| {
//!             let [p_GA, p_GB] = bodies.map(|body| motion.point(body, &Point3::origin()));
//!             let f_G = (p_GB - p_GA) * stiffness;
//!             loads.apply_at_point(bodies[0], &p_GA, f_G);
//!             loads.apply_at_point(bodies[1], &p_GB, -f_G);
//!             T::lit(0.5) * stiffness * (p_GB - p_GA).norm_squared()
//!         }))?;
//!         let mut state = system.default_state();
//!         for body in bodies {
//!             state.set_body(body, numbers.pose(1.5, 1.0), numbers.velocity(2.0))?;
//!         }
//!         Ok(Scene { system, state, element })
//!     }
//! }
//!
//! testing::contract::<Spring>(0..20)?;
//! # Ok::<(), testing::Violation>(())
//! ```

mod energy;
mod forces;
mod linearization;
mod numbers;
mod purity;
mod refusal;
mod scene;
mod violation;

pub use energy::{derivatives, gradient, power_balance};
pub use forces::{frame_invariance, single_precision, third_law};
pub use linearization::{Agreement, Curve, linearization};
pub use numbers::Numbers;
pub use purity::{as_in_a_fresh_state, no_trace, reset_forgets};
pub use refusal::{refuses_parameter, refuses_what_is_not_a_number};
pub use scene::{Scene, Subject};
pub use violation::{Finding, Violation};

/// Runs every check of an element between bodies in the scene of each seed.
///
/// Single precision is required to 10⁻³.
///
/// # Errors
/// For the first promise that is broken.
pub fn contract<S: Subject>(seeds: impl IntoIterator<Item = u64>) -> Result<(), Violation> {
    seeds.into_iter().try_for_each(|seed| {
        third_law::<S>(seed)?;
        frame_invariance::<S>(seed)?;
        power_balance::<S>(seed)?;
        gradient::<S>(seed)?;
        derivatives::<S>(seed)?;
        linearization::<S>(seed)?;
        single_precision::<S>(seed, 1e-3)?;
        no_trace::<S>(seed)?;
        reset_forgets::<S>(seed)?;
        as_in_a_fresh_state::<S>(seed)?;
        refuses_what_is_not_a_number::<S>(seed)
    })
}
