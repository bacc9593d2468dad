//! Mechanical force elements that any rigid-body simulator can embed.
//!
//! A [`ForceSystem`] holds bodies, coordinates and elements; a [`State`] holds everything that varies. The host writes
//! poses and velocities into the state, realizes it stage by stage, reads forces through a view, integrates, and commits
//! the steps that it accepts.
//!
//! # Example: the loop of a host
//!
//! A mass of 2 kg falls on a floor and comes to rest. The host integrates; the system computes the force.
//!
//! ```
//! use force_elements::exponential_spring::Parameters;
//! use force_elements::nalgebra::{Point3, Vector3};
//! use force_elements::{ContactDesign, ExponentialSpring, ForceSystem, Frame, Pose, SpatialVelocity, Station};
//!
//! let (mass, h) = (2.0, 1e-3);
//! let mut system = ForceSystem::<f64>::new();
//! let ball = system.add_body();
//! // A contact for this mass, size and step, which rebounds with a fifth of the speed of 1.4 m/s.
//! let design = ContactDesign::new(mass, 0.05, h).with_points(1).with_impact(1.4, 0.2);
//! let (floor, lowest) = (Frame::ground(Pose::identity()), Station::on(ball, Point3::origin()));
//! let spring = system.add(ExponentialSpring::new(floor, lowest, Parameters::for_contact(&design)?)?)?;
//!
//! let mut state = system.default_state();
//! let (mut p, mut v) = (Vector3::new(0.0, 0.0, 0.1), Vector3::zeros());
//! for step in 0..3000 {
//!     // The motion in.
//!     state.set_time(h * f64::from(step))?;
//!     state.set_body(ball, Pose::translation(p.x, p.y, p.z), SpatialVelocity::new(Vector3::zeros(), v))?;
//!     // The step that led here is kept: what the elements remember is committed.
//!     system.realize_dynamics(&mut state)?;
//!     system.accept_step(&mut state)?;
//!     // The force out, at the origin of the body and in Ground.
//!     let force = system.realize_dynamics(&mut state)?.body_force(ball).force;
//!     v += (force / mass - Vector3::z() * 9.81) * h;
//!     p += v * h;
//! }
//! // It rests where the spring carries its weight.
//! let normal_force = system.realize_dynamics(&mut state)?.of(spring).dynamics.normal_force;
//! assert!((normal_force - mass * 9.81).abs() < 1e-3 && v.norm() < 1e-3);
//! # Ok::<(), force_elements::Error>(())
//! ```
//!
//! The guide describes [hosts](guide::hosts) of every kind, with error control, implicit steps, and an account of energy.
//!
//! # Example: derivatives through any scalar
//!
//! The same code runs on `f64`, `f32` and dual numbers, which carry a derivative. ([`linearize`](ForceSystem::linearize)
//! takes all derivatives of a system at once, at lower cost.)
//!
//! ```
//! use force_elements::linear_bushing::Parameters;
//! use force_elements::nalgebra::Vector6;
//! use force_elements::{Error, ForceSystem, Frame, LinearBushing, Pose, Real};
//! use num_dual::Dual64;
//!
//! /// The force along x on a body that is displaced along x.
//! fn force_at<T: Real>(x: T) -> Result<T, Error> {
//!     let mut system = ForceSystem::<T>::new();
//!     let body = system.add_body();
//!     let parameters = Parameters { stiffness: Vector6::repeat(T::lit(800.0)), ..Parameters::default() };
//!     system.add(LinearBushing::new(Frame::ground(Pose::identity()), Frame::of(body), parameters)?)?;
//!     let mut state = system.default_state();
//!     state.set_pose(body, Pose::translation(x, T::zero(), T::zero()))?;
//!     Ok(system.realize_dynamics(&mut state)?.body_force(body).force.x)
//! }
//!
//! assert_eq!(force_at(0.01)?, -8.0);
//! assert_eq!(force_at(Dual64::new(0.01, 1.0))?.eps, -800.0);
//! # Ok::<(), force_elements::Error>(())
//! ```
//!
//! # Contents
//!
//! The [`guide`] has a page with programs to copy for each task: [embed it](guide::hosts), [choose parameters and
//! steps](guide::steps), [suspensions and mounts](guide::suspensions), [muscles and cables](guide::cables), [save, spawn
//! and branch](guide::states), [laws of one's own](guide::laws), [drawing](guide::drawing),
//! [derivatives](guide::linearization), [coming from another program](guide::other_programs).
//!
//! | to … | see |
//! |---|---|
//! | choose an element | [`LinearBushing`], [`SpatialBushing`], [`ExponentialSpring`], [`CoordinateSpringDamperExt`], [`ElasticFoundation`], [`HertzContact`], [`CableSpring`] |
//! | lay a cable | [`cable::CablePath`], [`cable::Obstacle`] |
//! | choose or write a shape | [`shapes`], [`shapes::Solid`], [`cable::Wrappable`] |
//! | write a law or an element | [`laws`], [`CustomForce`], [`ForceElement`], [`variables!`], [`results!`] |
//! | build a system | [`ForceSystem`], [`Handle`], [`ElementId`], [`Frame`], [`Station`], [`CoordinatePair`], [`BodyIndex`], [`CoordinateIndex`] |
//! | add and remove while running | [`remove`](ForceSystem::remove), [`carry_over`](ForceSystem::carry_over) |
//! | change the scalar | [`cast`](ForceSystem::cast), [`Casts`], [`cast_state`](ForceSystem::cast_state) |
//! | set the motion, evaluate | [`State`], [`KinematicsSource`], [`Stage`] |
//! | read results | [`PositionView`], [`VelocityView`], [`DynamicsView`], [`Forces`] |
//! | draw, in any engine | [`DynamicsView::draw`], [`Canvas`], [`guide::drawing`] |
//! | log, plot or bind by name, with units | [`PositionView::visit_results`], [`State::visit_variables`] |
//! | commit | [`accept_step`](ForceSystem::accept_step), [`finish_step`](ForceSystem::finish_step) |
//! | save, restore, copy | [`Checkpoint`], [`State::snapshot`], [`State::to_bytes`] |
//! | evaluate many worlds | [`Worlds`] |
//! | account for energy | [`dissipated_energy`](DynamicsView::dissipated_energy), [`StepRule`] |
//! | linearize forces, rates and commits | [`linearize`](ForceSystem::linearize), [`Linearization`], [`guide::linearization`] |
//! | differentiate a rollout | [`Linearization::apply`], [`apply_transpose`](Linearization::apply_transpose), [`VariableVector`] |
//! | choose a step | [`stable_step`](ForceSystem::stable_step), [`Inertias`], [`guide::steps`] |
//! | write a host | [`guide::hosts`] |
//! | run the reference host | [`simulation`] |
//! | handle errors | [`Error`], [`ElementError`], [`cable::PathError`], [`shapes::ShapeError`], [`simulation::SimulationError`] |
//! | find what another program calls otherwise | [`guide::other_programs`], [`guide::coverage`] |
//! | look up notation and design | [`guide::notation`], [`guide::design`] |
//!
//! # Features
//!
//! - `std` (default), or `libm` for `no_std`: the source of floating-point functions.
//! - `rayon`: evaluates the elements of one kind, and many states, on all cores, with bitwise equal results.
//! - `serde`: (de)serialises parameters, discrete variables, spatial vectors, shapes other than height maps,
//!   distance fields and meshes, and simulations with their integrators.
//! - `mesh-files`: reads triangle meshes from OBJ and STL files.
//! - `testing`: checks that an element keeps its contract.
//!
//! # Panics
//!
//! Reading through the handle of an element, or the index of a body or coordinate, that the system does not have panics,
//! like indexing a slice out of bounds. [`ForceSystem::contains`], [`State::contains`] and [`Topology::has_body`] test
//! this beforehand; `try_of` and similar methods return an error. Nothing else panics.
#![no_std]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

#[cfg(not(any(feature = "std", feature = "libm")))]
compile_error!("force-elements needs floating-point functions: enable the feature `std` or `libm`");

pub use nalgebra;

pub mod cable;
pub mod contact;
mod elements;
mod framework;
mod math;
mod mechanics;
pub mod shapes;
pub mod simulation;
#[cfg(feature = "testing")]
pub mod testing;

// Documented in their modules, with their parameters and results.
#[doc(no_inline)]
pub use elements::{
    CableSpring, ContactDesign, CoordinateSpringDamperExt, CustomForce, ElasticFoundation, ExponentialSpring,
    HertzContact, LinearBushing, Refusal, SpatialBushing,
};
pub use elements::{
    bushing, cable_spring, coordinate_spring_damper_ext, custom_force, elastic_foundation,
    exponential_spring, hertz_contact, laws, linear_bushing, spatial_bushing,
};
pub use framework::variables;
pub use framework::{
    AtDynamics, AtPosition, AtVelocity, Between, Blocks, Branch, Cache, Canvas, Checkpoint, Column,
    DynamicsView, ElementError, ElementId, ElementLinearization, ElementName, ElementResult, End, Error,
    ForceElement, ForceSystem, Freedoms, Gap, Given, Handle, Linearization, Mark, Meaning, OwnError, Pen,
    PositionView, Progress, Row, Scope, Slopes, StableStep, Stage, State, StepMethod, StepRule, Stiffnesses,
    VariableVector, Variables, VelocityView, Worlds,
};
pub use math::check;
pub use math::{
    Casts, InvalidValue, Number, Pose, Real, Requirement, SpatialForce, SpatialVelocity, cast_pose,
};
pub use mechanics::{
    AsIndex, BodyIndex, ByPlace, CoordinateIndex, CoordinatePair, ForceAccumulator, Forces, Frame, Inertias,
    KinematicsError, KinematicsSource, Positions, Quantity, Station, Topology, Variation, Velocities,
};

/// The guide: how to embed the crate, choose parameters and steps, and build what it does not have.
///
/// | to … | see |
/// |---|---|
/// | embed the crate in a simulator of one's own | [`hosts`](guide::hosts) |
/// | choose parameters and steps | [`steps`](guide::steps) |
/// | build suspensions, mounts and tyres | [`suspensions`](guide::suspensions) |
/// | build muscles, winches and cables | [`cables`](guide::cables) |
/// | save, restore, spawn, remove, branch | [`states`](guide::states) |
/// | write a law of one's own | [`laws`](guide::laws) |
/// | draw elements and their forces | [`drawing`](guide::drawing) |
/// | take derivatives | [`linearization`](guide::linearization) |
/// | find what another program calls otherwise | [`other_programs`](guide::other_programs), [`coverage`](guide::coverage) |
/// | read symbols and frames | [`notation`](guide::notation) |
/// | know why the crate is as it is | [`design`](guide::design) |
pub mod guide {
    #[doc = include_str!("../docs/cables.md")]
    pub mod cables {}
    #[doc = include_str!("../docs/coverage.md")]
    pub mod coverage {}
    #[doc = include_str!("../docs/design.md")]
    pub mod design {}
    #[doc = include_str!("../docs/drawing.md")]
    pub mod drawing {}
    #[doc = include_str!("../docs/hosts.md")]
    pub mod hosts {}
    #[doc = include_str!("../docs/laws.md")]
    pub mod laws {}
    #[doc = include_str!("../docs/linearization.md")]
    pub mod linearization {}
    #[doc = include_str!("../docs/notation.md")]
    pub mod notation {}
    #[doc = include_str!("../docs/other_programs.md")]
    pub mod other_programs {}
    #[doc = include_str!("../docs/states.md")]
    pub mod states {}
    #[doc = include_str!("../docs/steps.md")]
    pub mod steps {}
    #[doc = include_str!("../docs/suspensions.md")]
    pub mod suspensions {}
}

/// The README's example, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
