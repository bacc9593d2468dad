//! A small reference simulator.
//!
//! Free rigid bodies and sliders on coordinates, gravity and constant loads: as much as examples and tests need.
//! It also shows how to embed the crate in another simulator. The five essential steps are in [`Simulation`]:
//!
//! 1. write time, poses and velocities into the state
//!    ([`State::set_kinematics`](crate::State::set_kinematics));
//! 2. [`realize_dynamics`](crate::ForceSystem::realize_dynamics), and read the body and coordinate forces from
//!    the view;
//! 3. integrate the motion and the energy absorbed by each element;
//! 4. when the integrator accepts a step, evaluate at its end and call
//!    [`accept_step`](crate::ForceSystem::accept_step); a trial step that is rejected needs no undoing;
//! 5. once, at the start, [`reset_dissipated_energy`](crate::ForceSystem::reset_dissipated_energy).
//!
//! Four integrators: [`DormandPrince`], explicit, of order 5 with error control;
//! [`Implicit::trapezoidal`] and [`Implicit::tr_bdf2`], of order 2, for stiff elements and those that switch; and
//! [`SemiImplicitEuler`], of order 1 with a fixed step. The trapezoidal rule conserves the energy of a stiff contact, which
//! rings; TR-BDF2 damps it. Impacts on what is stiff for the step need error control. `DormandPrince` is constructed with its
//! accuracy, `SemiImplicitEuler` with its step, and the implicit ones with their longest step; error control of these is
//! switched on by [`with_accuracy`](Implicit::with_accuracy).

mod dormand_prince;
mod energy;
mod error;
mod implicit;
mod integrator;
mod layout;
mod linearized;
mod motion;
mod plant;
mod rounding;
mod saved;
mod scales;
mod semi_implicit_euler;

pub use dormand_prince::DormandPrince;
pub use error::SimulationError;
pub use implicit::Implicit;
pub use integrator::Integrator;
pub use motion::{Simulation, Statistics};
pub use plant::{Plant, RigidBody};
pub use saved::Saved;
pub use semi_implicit_euler::SemiImplicitEuler;
