//! Undamped spins: every run keeps its energy or ends in an error.

use force_elements::nalgebra::{Matrix3, Point3, Rotation3, Translation3, Vector3, Vector6};
use force_elements::simulation::{
    DormandPrince, Implicit, Integrator, Plant, RigidBody, SemiImplicitEuler, Simulation, SimulationError,
};
use force_elements::{
    Error, ForceSystem, Frame, Handle, LinearBushing, Pose, SpatialVelocity, State, linear_bushing,
};
use force_elements_scenes::is_at_length;

use super::turns::is_turn;
use force_elements_scenes::turning::Random;

/// One free body on an undamped bushing to Ground, without gravity: nothing is lost.
struct Spin {
    system: ForceSystem<f64>,
    plant: Plant<f64>,
    bushing: Handle<LinearBushing<f64>>,
    start: State<f64>,
}

/// What came of a run.
struct Run {
    /// At the start \[J\].
    energy: f64,
    /// The largest deviation of the energy at the accepted steps \[J\].
    off: f64,
    /// The largest change of an angle in one step \[rad\].
    change: f64,
    /// How many steps it took.
    steps: usize,
    end: Result<(), SimulationError>,
}

impl Run {
    /// Whether it ended at an orientation or a step that the angles of the bushing do not cover.
    fn refused_turn(&self) -> bool {
        self.end.as_ref().err().and_then(SimulationError::forces).is_some_and(is_turn)
    }
}

impl Spin {
    fn new(inertia: Vector3<f64>, stiffness: Vector3<f64>, R_GF: Rotation3<f64>, w_B: Vector3<f64>) -> Self {
        let mut system = ForceSystem::new();
        let mut plant = Plant::new(Vector3::zeros()).expect("finite");
        let body = RigidBody::new(1.0, Point3::origin(), Matrix3::from_diagonal(&inertia)).expect("positive");
        let body = plant.add_body(&mut system, body);
        let frame = Pose::from_parts(Translation3::identity(), R_GF);
        let stiffness = Vector6::new(stiffness.x, stiffness.y, stiffness.z, 100.0, 100.0, 100.0);
        let bushing = LinearBushing::new(
            Frame::ground(frame),
            Frame::of(body),
            linear_bushing::Parameters { stiffness, damping: Vector6::zeros() },
        );
        let bushing = system.add(bushing.expect("valid")).expect("exists");
        let mut start = system.default_state();
        start.set_velocity(body, SpatialVelocity::new(w_B, Vector3::zeros())).expect("finite");
        Self { system, plant, bushing, start }
    }

    /// Energies of 0.1 to 60 J; mounted at any angle.
    fn random(random: &mut Random) -> Self {
        let inertia = Vector3::from_fn(|_, _| random.between(0.08, 0.15));
        let stiffness = Vector3::from_fn(|_, _| random.between(0.2, 3.0));
        Self::new(inertia, stiffness, Rotation3::new(random.vector(1.5)), random.vector(14.0))
    }

    fn run(&self, integrator: &mut impl Integrator<f64>, end: f64) -> Run {
        let mut run = Run { energy: 0.0, off: 0.0, change: 0.0, steps: 0, end: Ok(()) };
        run.end = self.try_run(integrator, end, &mut run);
        run
    }

    fn try_run(
        &self,
        integrator: &mut impl Integrator<f64>,
        end: f64,
        run: &mut Run,
    ) -> Result<(), SimulationError> {
        let mut start = self.start.clone();
        self.system.reset_memory(&mut start, self.bushing)?;
        let mut simulation = Simulation::new(&self.system, &self.plant, start)?;
        let look = |simulation: &mut Simulation<'_, f64>| -> Result<(f64, Vector6<f64>), SimulationError> {
            let kinetic = simulation.kinetic_energy();
            let view = simulation.dynamics()?;
            Ok((kinetic + view.potential_energy(), view.of(self.bushing).position.q))
        };
        let (energy, mut q) = look(&mut simulation)?;
        run.energy = energy;
        while simulation.time() < end {
            integrator.step(&mut simulation, end)?;
            let (energy, next) = look(&mut simulation)?;
            run.off = run.off.max((energy - run.energy).abs());
            run.change = run.change.max((next - q).fixed_rows::<3>(0).amax());
            run.steps += 1;
            q = next;
        }
        Ok(())
    }
}

#[test]
fn a_body_that_pitches_across_a_right_angle_ends_in_an_error() {
    // 3.2 J, of which the spring can hold 2.2 at a right angle.
    let spin = Spin::new(
        Vector3::repeat(0.1),
        Vector3::repeat(1.8),
        Rotation3::identity(),
        Vector3::new(0.0, 8.0, 0.0),
    );
    let mut runs = vec![spin.run(&mut DormandPrince::new(1e-9), 1.0)];
    for step in [1e-4, 1e-3, 5e-3] {
        runs.push(spin.run(&mut SemiImplicitEuler::new(step).unchecked(), 1.0));
        runs.push(spin.run(&mut Implicit::trapezoidal(step), 1.0));
    }
    for run in runs {
        assert!(run.refused_turn(), "{:?} with {} J off", run.end, run.off);
        // Up to there the motion is a plain oscillation: an error of order 1 is at most the change per step.
        assert!(run.off < run.change * run.energy, "{} J", run.off);
    }
}

/// The least and the most of the spins that may be refused.
type Refused = core::ops::RangeInclusive<i32>;

/// Runs random spins. `allowed` is the share of the energy by which a run may be off, up to its end or its error.
fn spin_all<I: Integrator<f64>>(
    spins: i32,
    integrator: impl Fn() -> I,
    end: f64,
    allowed: impl Fn(&Run) -> f64,
    expected: Refused,
) {
    let mut random = Random::new(3);
    let mut refused = 0;
    for i in 0..if is_at_length() { spins } else { spins / 10 } {
        let spin = Spin::random(&mut random);
        let run = spin.run(&mut integrator(), end);
        if let Err(error) = &run.end {
            assert!(run.refused_turn(), "spin {i}: {error:?}");
            refused += 1;
        } else {
            assert!(run.change > 0.0, "spin {i} is trivial");
        }
        let share = run.off / run.energy;
        assert!(run.off <= allowed(&run) * run.energy, "spin {i}: {share} with changes of {}", run.change);
    }
    let is_expected = if is_at_length() { expected.contains(&refused) } else { refused <= *expected.end() };
    assert!(is_expected, "{refused} refused");
}

/// Steps, and how long they spin \[s\]: up to four turns. Of short steps there are many, hence fewer and shorter spins.
const ENDS: [(f64, f64); 3] = [(1e-4, 0.3), (1e-3, 1.0), (5e-3, 1.0)];

#[test]
fn spins_under_semi_implicit_euler_keep_their_energy_or_end_in_an_error() {
    for ((step, end), (spins, most)) in ENDS.into_iter().zip([(200, 5), (1000, 230), (1000, 640)]) {
        // Order 1: where an angle changes by δ in a step, the energy it exchanges is off by δ² in the step and by
        // δ in the whole exchange. A bushing lets both outer angles change by a tenth, not more.
        spin_all(
            spins,
            || SemiImplicitEuler::new(step).unchecked(),
            end,
            |run| run.change.min(0.1),
            1..=most,
        );
    }
}

#[test]
fn spins_under_the_implicit_trapezoidal_rule_keep_their_energy_or_end_in_an_error() {
    for ((step, end), (spins, most)) in ENDS.into_iter().zip([(50, 1), (200, 6), (300, 9)]) {
        // Order 2: δ² in place of δ, from the two outer angles at once.
        let allowed = |run: &Run| (2.0 * run.change.powi(2)).min(0.02);
        // It takes shorter steps where a bushing refuses one: refused is only what comes to the right angle. Its steps
        // cost most, hence the fewer spins.
        spin_all(spins, || Implicit::trapezoidal(step), end, allowed, 0..=most);
    }
}

#[test]
fn spins_under_error_control_keep_their_energy_or_end_in_an_error() {
    for accuracy in [1e-6, 1e-9] {
        // Each step holds each velocity to the accuracy, relative to 1 + velocity: energies of three axes to six
        // times that, with velocities of 1 rad/s and more.
        let allowed = |run: &Run| {
            6.0 * accuracy * f64::from(u32::try_from(run.steps).expect("few")) * (1.0 + 1.0 / run.energy)
        };
        spin_all(1000, || DormandPrince::new(accuracy), 1.0, allowed, 1..=25);
    }
}

/// The angle of a flywheel of 1 kg·m² on a weak torsion spring, which it winds at 300 rad/s for a second.
fn wound(integrator: &mut impl Integrator<f64>) -> Result<f64, SimulationError> {
    let mut system = ForceSystem::new();
    let mut plant = Plant::new(Vector3::zeros())?;
    let wheel = plant.add_body(&mut system, RigidBody::with_equal_inertia(1.0, 1.0)?);
    let stiffness = Vector6::new(1e-3, 0.0, 0.0, 0.0, 0.0, 0.0);
    let spring = linear_bushing::Parameters { stiffness, damping: Vector6::zeros() };
    let spring = LinearBushing::new(Frame::ground(Pose::identity()), Frame::of(wheel), spring)?;
    let spring = system.add(spring)?;
    let mut state = system.default_state();
    state.set_velocity(wheel, SpatialVelocity::new(Vector3::x() * 300.0, Vector3::zeros()))?;
    let mut simulation = Simulation::new(&system, &plant, state)?;
    simulation.run(integrator, 1.0, |_| ())?;
    Ok(simulation.dynamics()?.of(spring).position.q[0])
}

#[test]
fn a_weak_spring_is_wound_turn_by_turn_at_any_accuracy() -> Result<(), SimulationError> {
    let frequency = 1e-3_f64.sqrt();
    let expected = 300.0 / frequency * frequency.sin();
    // Without the limit of a step by the turning they take a few steps of many turns.
    for angle in
        [wound(&mut DormandPrince::new(1e-2))?, wound(&mut Implicit::tr_bdf2(1.0).with_accuracy(1e-2))?]
    {
        assert!((angle - expected).abs() < 0.1, "{angle} for {expected}");
    }
    let refused = wound(&mut SemiImplicitEuler::new(7e-3));
    assert!(matches!(refused, Err(SimulationError::Forces(Error::StepTooLong { .. }))), "{refused:?}");
    Ok(())
}
