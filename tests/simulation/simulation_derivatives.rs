//! Derivatives of whole runs in dual numbers, against central differences of runs in plain numbers at the same
//! steps, and against closed forms.
#![allow(non_snake_case, reason = "monogram notation")]

use force_elements::coordinate_spring_damper_ext::{Discrete, Parameters};
use force_elements::nalgebra::{Point3, Vector3, Vector6};
use force_elements::simulation::{
    DormandPrince, Implicit, Integrator, Plant, RigidBody, SemiImplicitEuler, Simulation,
};
use force_elements::{
    CoordinatePair, CoordinateSpringDamperExt, ForceSystem, Frame, LinearBushing, Pose, Real,
    SpatialVelocity, State, linear_bushing,
};
use force_elements_scenes::is_at_length;
use num_dual::{Dual64, DualNum as _};

/// A mechanism that starts with one parameter of the start to differentiate by.
trait Scene {
    /// What the parameter is, where it is differentiated at.
    const AT: f64;
    /// The time of the end \[s\].
    const END: f64;
    /// By how much the differences displace the parameter: not across an event of the steps.
    const DELTA: f64 = 1e-6;
    fn build<T: Real>(parameter: T) -> (ForceSystem<T>, Plant<T>, State<T>);
    /// What is differentiated, at the end.
    fn read<T: Real>(simulation: &Simulation<'_, T>) -> T;
}

/// Runs in dual numbers; returns what was read, and the times of all steps.
fn run_dual<S: Scene>(integrator: &mut impl Integrator<Dual64>) -> (Dual64, Vec<f64>) {
    let (system, plant, state) = S::build(Dual64::new(S::AT, 1.0));
    let mut simulation = Simulation::new(&system, &plant, state).expect("regular");
    let mut times = Vec::new();
    simulation.run(integrator, S::END, |simulation| times.push(simulation.time())).expect("runs");
    assert_eq!(simulation.state().time().eps, 0.0, "time carries a derivative");
    (S::read(&simulation), times)
}

/// Runs in plain numbers through the same steps, each by an integrator that takes it at once.
fn run_plain<S: Scene, I: Integrator<f64>>(parameter: f64, times: &[f64], step_of: impl Fn(f64) -> I) -> f64 {
    let (system, plant, state) = S::build(parameter);
    let mut simulation = Simulation::new(&system, &plant, state).expect("regular");
    for &time in times {
        step_of(time - simulation.time()).step(&mut simulation, time).expect("steps");
        assert_eq!(simulation.time(), time, "the step was divided");
    }
    S::read(&simulation)
}

/// The derivative of a run in dual numbers, which must be that of the steps it took: to `tolerance`.
fn derivative<S: Scene, I: Integrator<f64>>(
    integrator: &mut impl Integrator<Dual64>,
    step_of: impl Fn(f64) -> I,
    tolerance: f64,
) -> f64 {
    let (found, times) = run_dual::<S>(integrator);
    assert!(times.len() > 10, "{} steps", times.len());
    let delta = S::DELTA;
    let run = |parameter: f64| run_plain::<S, I>(parameter, &times, &step_of);
    let difference = (run(S::AT + delta) - run(S::AT - delta)) / (2.0 * delta);
    assert!(
        (found.eps - difference).abs() < tolerance * difference.abs().max(1.0),
        "{}: {} by dual numbers, {difference} by differences, {} steps",
        core::any::type_name::<S>(),
        found.eps,
        times.len()
    );
    // Both runs are the same one.
    let value = run(S::AT);
    assert!((found.re - value).abs() < 1e-9, "{} and {value}", found.re);
    found.eps
}

/// One step of whatever length.
fn explicit_step(length: f64) -> DormandPrince<f64> {
    DormandPrince::new(1e30).with_first_step(2.0 * length).with_event_step(2.0 * length)
}

fn implicit_step(length: f64) -> Implicit<f64> {
    Implicit::trapezoidal(2.0 * length)
}

fn euler_step(length: f64) -> SemiImplicitEuler<f64> {
    SemiImplicitEuler::new(2.0 * length)
}

/// A mass that slides until friction has stopped it, by its speed at the start. Bristles hold it, or friction that is
/// proportional to the speed below `ZONE`.
struct Sliding<const IS_ON_BRISTLES: bool>;

impl<const IS_ON_BRISTLES: bool> Sliding<IS_ON_BRISTLES> {
    const FRICTION: f64 = 3.0;
    const ZONE: f64 = 0.01;

    /// At constant friction F it comes to within the zone after m·(v₀² − z²)/(2·F), and then m·z²/F farther.
    fn exact() -> f64 {
        Self::AT / Self::FRICTION
    }
}

impl<const IS_ON_BRISTLES: bool> Scene for Sliding<IS_ON_BRISTLES> {
    const AT: f64 = 1.4387;
    const END: f64 = 1.0;
    const DELTA: f64 = 1e-8;

    fn build<T: Real>(speed: T) -> (ForceSystem<T>, Plant<T>, State<T>) {
        let mut system = ForceSystem::new();
        let mut plant = Plant::new(Vector3::zeros()).expect("finite");
        let slider = plant.add_coordinate(&mut system, T::one()).expect("positive");
        let friction = Parameters { dynamic_friction: Self::FRICTION, ..Parameters::default() };
        let friction = if IS_ON_BRISTLES {
            Parameters { sticking_stiffness: 1e4, sticking_damping: 200.0, ..friction }
        } else {
            Parameters { friction_proportional_zone: Self::ZONE, ..friction }
        };
        let element =
            CoordinateSpringDamperExt::new(CoordinatePair::on(slider), friction.cast()).expect("valid");
        let element = system.add(element).expect("exists");
        let mut state = system.default_state();
        state.set_coordinate_rate(slider, speed).expect("finite");
        if IS_ON_BRISTLES {
            let slip = |discrete: &mut Discrete<T>| discrete.friction_mode = T::one();
            system.update_discrete(&mut state, element, slip).expect("valid");
        }
        (system, plant, state)
    }

    fn read<T: Real>(simulation: &Simulation<'_, T>) -> T {
        simulation.state().positions().coordinates()[0]
    }
}

/// A mass that falls on a stop and bounces back, by the height it falls from.
struct Bouncing;

impl Bouncing {
    const GRAVITY: f64 = 9.81;
    const STIFFNESS: f64 = 1e4;

    /// Flight, half a swing on the stop, flight.
    fn exact() -> f64 {
        let (height, g) = (Dual64::new(Self::AT, 1.0), Self::GRAVITY);
        let omega = Self::STIFFNESS.sqrt();
        let flight = (height * 2.0 / g).sqrt();
        let speed = flight * g;
        // g/ω²·(cos θ − 1) − v/ω·sin θ is zero again at θ = 2π − 2·atan(v·ω/g).
        let swing = (-(speed * omega / g).atan() + core::f64::consts::PI) * 2.0 / omega;
        let back = -flight - swing + Self::END;
        (speed * back - back * back * (0.5 * g)).eps
    }
}

impl Scene for Bouncing {
    const AT: f64 = 0.3;
    const END: f64 = 0.6;
    const DELTA: f64 = 1e-9;

    fn build<T: Real>(height: T) -> (ForceSystem<T>, Plant<T>, State<T>) {
        let mut system = ForceSystem::new();
        let mut plant = Plant::new(Vector3::zeros()).expect("finite");
        let slider = plant.add_coordinate(&mut system, T::one()).expect("positive");
        plant.set_coordinate_load(slider, T::lit(-Self::GRAVITY)).expect("finite");
        // Where steps meet the stop depends on the scales: those that bounds were found with.
        plant.set_scale(1.0).expect("positive");
        let stop = Parameters {
            use_limit_stops: true,
            limit_stops_lower: 0.0,
            limit_stops_upper: 10.0,
            limit_stops_upper_stiffness: Self::STIFFNESS,
            limit_stops_lower_stiffness: Self::STIFFNESS,
            ..Parameters::default()
        };
        let element = CoordinateSpringDamperExt::new(CoordinatePair::on(slider), stop.cast()).expect("valid");
        system.add(element).expect("exists");
        let mut state = system.default_state();
        state.set_coordinate(slider, height).expect("finite");
        (system, plant, state)
    }

    fn read<T: Real>(simulation: &Simulation<'_, T>) -> T {
        simulation.state().positions().coordinates()[0]
    }
}

/// A body of inertia 0.02 kg·m² on a bushing, whose center of mass hangs `ARM` below it.
fn on_a_bushing<T: Real>(arm: f64, spin: Vector3<T>) -> (ForceSystem<T>, Plant<T>, State<T>) {
    let mut system = ForceSystem::new();
    let mut plant = Plant::new(Vector3::new(T::zero(), T::lit(-9.81), T::zero())).expect("finite");
    let center = Point3::new(T::zero(), T::lit(-arm), T::zero());
    let inertia = force_elements::nalgebra::Matrix3::identity() * T::lit(0.02);
    let body = RigidBody::new(T::one(), center, inertia).expect("positive definite");
    let body = plant.add_body(&mut system, body);
    let stiffness = Vector6::new(2.0, 2.0, 2.0, 1e4, 1e4, 1e4).map(T::lit);
    let damping = Vector6::new(0.0, 0.0, 0.0, 10.0, 10.0, 10.0).map(T::lit);
    let bushing = LinearBushing::new(
        Frame::ground(Pose::identity()),
        Frame::of(body),
        linear_bushing::Parameters { stiffness, damping },
    );
    system.add(bushing.expect("valid")).expect("exists");
    let mut state = system.default_state();
    let velocity = SpatialVelocity::new(spin, Vector3::zeros());
    // Where its weight stretches the bushing.
    let sag = Pose::translation(T::zero(), T::lit(-9.81 / 1e4), T::zero());
    state.set_body(body, sag, velocity).expect("finite");
    (system, plant, state)
}

/// Turning to and fro about its center of mass, by the spin at the start \[rad/s\].
struct Torsion<const SPIN: u8>;

impl<const SPIN: u8> Torsion<SPIN> {
    fn exact() -> f64 {
        let omega = (2.0_f64 / 0.02).sqrt();
        let angle = Dual64::new(Self::AT, 1.0) * (omega * Self::END).sin() / omega;
        angle.sin().eps
    }
}

impl<const SPIN: u8> Scene for Torsion<SPIN> {
    const AT: f64 = SPIN as f64;
    const END: f64 = 1.0;

    fn build<T: Real>(spin: T) -> (ForceSystem<T>, Plant<T>, State<T>) {
        on_a_bushing(0.0, Vector3::new(T::zero(), T::zero(), spin))
    }

    fn read<T: Real>(simulation: &Simulation<'_, T>) -> T {
        simulation.state().positions().bodies()[1].rotation[(1, 0)]
    }
}

/// A pendulum that swings about all axes, by the spin at the start.
struct Pendulum;

impl Scene for Pendulum {
    const AT: f64 = 3.0;
    const END: f64 = 1.0;

    fn build<T: Real>(spin: T) -> (ForceSystem<T>, Plant<T>, State<T>) {
        on_a_bushing(0.2, Vector3::new(spin, T::lit(1.0), T::lit(-2.0)))
    }

    fn read<T: Real>(simulation: &Simulation<'_, T>) -> T {
        simulation.state().positions().bodies()[1].rotation[(1, 0)]
    }
}

/// What differences may err by: rounding of 1e-16 over the displacement of the parameter, a hundred times as much as
/// it grows to in many steps, and their own error of the second order.
fn of_differences<S: Scene>() -> f64 {
    1e-14 / S::DELTA + 1e4 * S::DELTA * S::DELTA
}

fn explicit<S: Scene>(integrator: DormandPrince<Dual64>) -> f64 {
    derivative::<S, _>(&mut { integrator }, explicit_step, of_differences::<S>())
}

/// An integrator that locates events no closer than differences displace them.
fn roughly(accuracy: f64) -> DormandPrince<Dual64> {
    DormandPrince::new(accuracy).with_event_step(1e-6).with_force_tolerance(1e-3)
}

fn implicit<S: Scene>(accuracy: f64) -> f64 {
    let mut integrator = Implicit::trapezoidal(0.01).with_accuracy(accuracy);
    derivative::<S, _>(&mut integrator, implicit_step, of_differences::<S>())
}

fn damped<S: Scene>(accuracy: f64) -> f64 {
    let mut integrator = Implicit::tr_bdf2(0.01).with_accuracy(accuracy);
    derivative::<S, _>(&mut integrator, |length| Implicit::tr_bdf2(2.0 * length), of_differences::<S>())
}

fn euler<S: Scene>(step: f64) -> f64 {
    derivative::<S, _>(&mut SemiImplicitEuler::new(step), euler_step, of_differences::<S>())
}

/// The finest of each at length only.
fn accuracies() -> impl Iterator<Item = f64> {
    [1e-4, 1e-6, 1e-8, 1e-10].into_iter().take(if is_at_length() { 4 } else { 2 })
}

fn steps() -> impl Iterator<Item = f64> {
    [1e-3, 1e-4, 1e-5].into_iter().take(if is_at_length() { 3 } else { 1 })
}

fn close(found: f64, exact: f64, allowed: f64, at: f64) {
    assert!((found - exact).abs() < allowed, "{found} for {exact}, {allowed:e} allowed at {at:e}");
}

#[test]
fn derivatives_of_a_torsional_pendulum_are_as_accurate_as_its_motion() {
    type Torsion = self::Torsion<3>;
    let exact = Torsion::exact();
    for accuracy in accuracies() {
        close(explicit::<Torsion>(DormandPrince::new(accuracy)), exact, accuracy, accuracy);
        // Order two: steps fall with the cube root of the accuracy, and the sum of their errors with its square.
        close(implicit::<Torsion>(accuracy), exact, accuracy.cbrt().powi(2), accuracy);
        close(damped::<Torsion>(accuracy), exact, accuracy.cbrt().powi(2), accuracy);
    }
    for step in steps() {
        close(euler::<Torsion>(step), exact, step, step);
    }
}

#[test]
fn derivatives_of_a_pendulum_at_rest_are_those_of_a_small_swing() {
    type Torsion = self::Torsion<0>;
    let exact = Torsion::exact();
    for step in [1e-2, 1e-3] {
        // The phase errs by (ω h)²/12 of ω·t, which is 8 h² of the angle.
        let allowed = 10.0 * step * step;
        close(run_dual::<Torsion>(&mut Implicit::trapezoidal(step)).0.eps, exact, allowed, step);
        close(run_dual::<Torsion>(&mut Implicit::tr_bdf2(step)).0.eps, exact, allowed, step);
        close(euler::<Torsion>(step), exact, step, step);
    }
}

#[test]
fn derivatives_of_a_sliding_mass_that_friction_stops_are_those_of_its_closed_form() {
    type Sliding = self::Sliding<false>;
    let exact = Sliding::exact();
    for accuracy in accuracies() {
        // The slope of friction jumps by F/z within one step, which the error estimate does not see.
        let allowed = accuracy.sqrt();
        close(explicit::<Sliding>(DormandPrince::new(accuracy)), exact, allowed, accuracy);
        close(implicit::<Sliding>(accuracy), exact, allowed, accuracy);
    }
    for step in steps() {
        close(euler::<Sliding>(step), exact, step, step);
    }
}

#[test]
fn derivatives_of_a_bouncing_mass_are_those_of_its_closed_form() {
    let exact = Bouncing::exact();
    // A stop that pushes late by this time lacks k·late of the derivative of its impulse, per kilogram.
    let allowed = |late: f64| Bouncing::STIFFNESS * late;
    for accuracy in accuracies() {
        close(explicit::<Bouncing>(roughly(accuracy)), exact, allowed(1e-6), accuracy);
        close(implicit::<Bouncing>(accuracy), exact, allowed(1e-6), accuracy);
    }
    for late in [1e-7, 1e-8, 1e-9] {
        let located = DormandPrince::new(1e-10).with_event_step(late).with_force_tolerance(1e4 * late);
        // No differences: steps would end on the other side of the event.
        close(run_dual::<Bouncing>(&mut { located }).0.eps, exact, allowed(late), late);
    }
    for step in [1e-4, 1e-5] {
        // The stop pushes late by up to a step.
        close(euler::<Bouncing>(step), exact, allowed(step), step);
    }
}

#[test]
fn derivatives_of_a_pendulum_on_a_bushing_are_those_of_its_steps() {
    let closest = explicit::<Pendulum>(DormandPrince::new(1e-12));
    for accuracy in accuracies() {
        close(explicit::<Pendulum>(DormandPrince::new(accuracy)), closest, accuracy, accuracy);
        close(implicit::<Pendulum>(accuracy), closest, accuracy.cbrt().powi(2), accuracy);
        close(damped::<Pendulum>(accuracy), closest, accuracy.cbrt().powi(2), accuracy);
    }
    for step in steps() {
        close(euler::<Pendulum>(step), closest, step, step);
    }
}

#[test]
fn derivatives_pass_through_bristles_that_catch_as_the_steps_have_located_it() {
    type Sliding = self::Sliding<true>;
    // Bristles catch bent by what friction and their damper leave, (F − d·v)/k. There v is zero but for the step; its
    // derivative is one, for the time of catching has none.
    let exact = Sliding::exact() + 200.0 / 1e4;
    for accuracy in accuracies() {
        close(explicit::<Sliding>(roughly(accuracy)), exact, 1e-4, accuracy);
    }
    for accuracy in [1e-8, 1e-10] {
        // No differences: bristles catch in another step.
        let mut integrator = Implicit::trapezoidal(0.01).with_accuracy(accuracy);
        close(run_dual::<Sliding>(&mut integrator).0.eps, exact, 1e-4, accuracy);
    }
    for step in steps() {
        close(euler::<Sliding>(step), exact, step, step);
    }
}
