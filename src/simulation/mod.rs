//! A small reference simulator.
//!
//! Free rigid bodies and sliders on coordinates, gravity and constant loads: enough for examples and tests. It also shows
//! how to embed the crate in another simulator. The five essential steps are in [`Simulation`]:
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
//! There are four integrators:
//!
//! - [`DormandPrince`]: explicit, of order 5, with error control. It is constructed with its accuracy.
//! - [`Implicit::trapezoidal`] and [`Implicit::tr_bdf2`]: of order 2, for stiff elements and elements that switch. The
//!   trapezoidal rule conserves the energy of a stiff contact, which rings; TR-BDF2 damps it. They are constructed with
//!   their longest step; [`with_accuracy`](Implicit::with_accuracy) switches error control on.
//! - [`SemiImplicitEuler`]: of order 1, with a fixed step, with which it is constructed.
//!
//! Impacts on elements that are stiff for the step need error control.
//!
//! # Inputs that vary
//!
//! A controller acts between steps. Its inputs are parameters of elements, such as the offset of a spring, the load of
//! friction or the excitation of a [muscle](crate::guide::cables); [`Simulation::update_state`] writes them. They are
//! held until the next write, as by a sampled controller: end the run at each time at which a write is due. The loads of
//! a [`Plant`] are constant throughout a [`Simulation`]: an actuator is an element with an input. An input that is a
//! function of time or of the motion, without a sample time, is a [law of one's own](crate::guide::laws).
//!
//! ```
//! use force_elements::coordinate_spring_damper_ext::Parameters;
//! use force_elements::nalgebra::Vector3;
//! use force_elements::simulation::{DormandPrince, Plant, Simulation};
//! use force_elements::{CoordinatePair, CoordinateSpringDamperExt, ForceSystem};
//!
//! // A motor turns a wheel of 0.1 kg·m² by a spring whose other end it moves.
//! let mut system = ForceSystem::<f64>::new();
//! let mut plant = Plant::new(Vector3::zeros())?;
//! let wheel = plant.add_coordinate(&mut system, 0.1)?;
//! let spring = Parameters { stiffness: 10.0, damping: 2.0, ..Parameters::default() };
//! let motor = system.add(CoordinateSpringDamperExt::new(CoordinatePair::on(wheel), spring)?)?;
//!
//! let mut simulation = Simulation::new(&system, &plant, system.default_state())?;
//! let mut integrator = DormandPrince::new(1e-6);
//! for sample in 0..500 {
//!     let angle = simulation.state().positions().coordinate(wheel);
//!     let offset = angle + 0.5 * (1.0 - angle);
//!     simulation.update_state(|state| system.update_parameters(state, motor, |p| p.offset = offset))?;
//!     simulation.run(&mut integrator, 0.01 * f64::from(sample + 1), |_| {})?;
//! }
//! assert!((simulation.state().positions().coordinate(wheel) - 1.0).abs() < 1e-3);
//! # Ok::<(), force_elements::simulation::SimulationError>(())
//! ```

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
