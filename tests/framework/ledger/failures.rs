//! A step that fails changes nothing.

use force_elements::coordinate_spring_damper_ext::Parameters;
use force_elements::nalgebra::Vector3;
use force_elements::{
    BodyIndex, CoordinateIndex, CoordinatePair, CoordinateSpringDamperExt, CustomForce, ElementError, Error,
    ForceSystem, KinematicsSource, Pose, SpatialVelocity, State, StepRule,
};

use super::{BROKEN, Bench, DRAINED, Fading, Masses, REFUSED, RULES};
use force_elements_scenes::cables::Dice;
use force_elements_scenes::machine::Machine;
use force_elements_scenes::seeds;

/// A host with the motion of a state, and an error in the rate of its coordinate.
struct Shown {
    state: State<f64>,
    error: f64,
}

impl KinematicsSource<f64> for Shown {
    fn time(&self) -> f64 {
        self.state.time()
    }
    fn pose(&self, body: BodyIndex) -> Pose<f64> {
        *self.state.positions().pose(body)
    }
    fn velocity(&self, body: BodyIndex) -> SpatialVelocity<f64> {
        *self.state.velocities().velocity(body)
    }
    fn coordinate(&self, coordinate: CoordinateIndex) -> f64 {
        self.state.positions().coordinate(coordinate)
    }
    fn coordinate_rate(&self, coordinate: CoordinateIndex) -> f64 {
        self.state.velocities().coordinate_rate(coordinate) + self.error
    }
}

/// A machine with one of each element, and a motor on a body of its own.
struct Motorized {
    machine: Machine<f64>,
    motor_body: BodyIndex,
}

impl Motorized {
    fn new() -> Result<Self, Error> {
        let mut machine = Machine::new()?;
        let motor_body = machine.system.add_body();
        machine.system.add(Fading(motor_body))?;
        Ok(Self { machine, motor_body })
    }

    fn system(&self) -> &ForceSystem<f64> {
        &self.machine.system
    }

    /// The motion at the end of a step of 2 ms, with the body of the motor at this height.
    fn host(&self, step: u32, height: f64) -> Result<Shown, Error> {
        let mut state = self.system().default_state();
        let time = 0.002 * f64::from(step);
        self.machine.move_to(&mut state, time)?;
        let V = SpatialVelocity::new(Vector3::zeros(), Vector3::x() * 0.1 * time.cos());
        state.set_body(self.motor_body, Pose::translation(0.1 * time.sin(), 0.0, height), V)?;
        Ok(Shown { state, error: 0.0 })
    }
}

/// Runs 60 steps; returns everything that there is in the end. With a height, each third step fails before it succeeds:
/// at the heights where the motor fails, or because the host is not finite.
fn run(rule: StepRule, height: Option<f64>) -> Result<Vec<String>, Error> {
    let motorized = Motorized::new()?;
    let mut state = motorized.machine.start()?;
    let varies = |state: &State<f64>| {
        let motion = format!("{:?} {:?} {:?}", state.time(), state.positions(), state.velocities());
        (motion, state.snapshot(), state.continuous().to_vec())
    };
    for step in 1..=60 {
        if let Some(height) = height
            && step % 3 == 0
        {
            let before = varies(&state);
            let spoilt = if height.is_nan() {
                Shown { error: f64::NAN, ..motorized.host(step, 0.0)? }
            } else {
                motorized.host(step, height)?
            };
            motorized.system().realize_dynamics(&mut state)?;
            let error = motorized.system().finish_step(&mut state, &spoilt, rule).expect_err("spoilt");
            let is_expected = match &error {
                Error::Kinematics(_) => height.is_nan(),
                Error::Element { source: ElementError::SameEnds, .. } => [BROKEN, REFUSED].contains(&height),
                Error::Element { source: ElementError::InvalidValue(value), .. } => {
                    height == DRAINED && value.name == "level"
                }
                _ => false,
            };
            assert!(is_expected, "{height}: {error}");
            assert!(varies(&state) == before, "{rule:?}, {height}");
        }
        motorized.system().realize_dynamics(&mut state)?;
        motorized.system().finish_step(&mut state, &motorized.host(step, 0.0)?, rule)?;
    }
    let mut everything = motorized.machine.everything(&mut state)?;
    everything.push(format!("{:?} {:?}", state.continuous(), state.snapshot()));
    let dynamics = motorized.system().realize_dynamics(&mut state)?;
    everything.push(format!("{:?}", dynamics.dissipated_energy().expect("open")));
    Ok(everything)
}

#[test]
fn a_step_that_fails_leaves_no_trace() -> Result<(), Error> {
    for rule in RULES {
        let expected = run(rule, None)?;
        for height in [BROKEN, REFUSED, DRAINED, f64::NAN] {
            // The rate of the end, at which the motor drains, is none of this rule's business.
            if (rule, height) != (StepRule::LeftEndpoint, DRAINED) {
                assert!(run(rule, Some(height))? == expected, "{rule:?}, {height}");
            }
        }
    }
    Ok(())
}

#[test]
fn a_step_that_fails_neither_opens_nor_closes_an_account() -> Result<(), Error> {
    let mut bench = Bench::new(Masses::thrown(1.0))?;
    let nowhere = Masses { u: f64::NAN, ..bench.host };
    let mut fast = bench.host;
    fast.V.linear.x = f64::MAX;
    for host in [nowhere, fast] {
        bench.system.finish_step(&mut bench.state, &host, StepRule::HeldForces).expect_err("not finite");
        bench.system.realize_dynamics(&mut bench.state)?;
        // Nothing has moved since the accounts were opened.
        bench.system.accept_step(&mut bench.state)?;
        assert_eq!(bench.dissipated()?, Some(0.0));

        // A step that failed has fed nobody.
        let mut state = bench.state.clone();
        bench.system.finish_step(&mut state, &host, StepRule::HeldForces).expect_err("not finite");
        state.set_pose(bench.body, Pose::translation(0.01, 0.0, 0.0))?;
        bench.system.realize_dynamics(&mut state)?;
        bench.system.accept_step(&mut state)?;
        assert_eq!(bench.system.realize_dynamics(&mut state)?.dissipated_energy(), None);
    }
    Ok(())
}

type Sliders = (ForceSystem<f64>, [CoordinateIndex; 2], State<f64>);

/// Two sliders, each on a spring of its own, of which the first is damped, with their accounts open.
fn sliders() -> Result<Sliders, Error> {
    let mut system = ForceSystem::new();
    let sliders = [system.add_coordinate(), system.add_coordinate()];
    for (slider, damping) in sliders.into_iter().zip([5.0, 0.0]) {
        let spring = Parameters { stiffness: 100.0, damping, ..Parameters::default() };
        system.add(CoordinateSpringDamperExt::new(CoordinatePair::on(slider), spring)?)?;
    }
    let mut state = system.default_state();
    sliders.iter().try_for_each(|&slider| state.set_coordinate(slider, 0.1))?;
    system.reset_dissipated_energy(&mut state)?;
    Ok((system, sliders, state))
}

/// The motion of a state with these values and rates of coordinates, so much later.
fn moved<const N: usize>(
    state: &State<f64>,
    sliders: [CoordinateIndex; N],
    motion: [[f64; 2]; N],
    step: f64,
) -> Result<Shown, Error> {
    let mut end = state.clone();
    for (slider, [q, v]) in sliders.into_iter().zip(motion) {
        end.set_coordinate(slider, q)?;
        end.set_coordinate_rate(slider, v)?;
    }
    end.set_time(state.time() + step)?;
    Ok(Shown { state: end, error: 0.0 })
}

/// A step of symplectic Euler of sliders of 1 kg.
fn euler<const N: usize>(
    system: &ForceSystem<f64>,
    state: &mut State<f64>,
    sliders: [CoordinateIndex; N],
    step: f64,
    rule: StepRule,
) -> Result<(), Error> {
    let dynamics = system.realize_dynamics(state)?;
    let motion = sliders.map(|slider| {
        let force = dynamics.coordinate_force(slider);
        let (q, v) = (dynamics.coordinate(slider), dynamics.coordinate_rate(slider) + step * force);
        [q + step * v, v]
    });
    let end = moved(state, sliders, motion, step)?;
    system.finish_step(state, &end, rule)
}

/// Steps of a millisecond in which a slider moves freely, after one that gave it back more than it had stored: its spring has hardly
/// stored anything again.
fn thrown(system: &ForceSystem<f64>, state: &mut State<f64>, slider: CoordinateIndex) -> Result<(), Error> {
    let (q, v) = (state.positions().coordinate(slider), state.velocities().coordinate_rate(slider));
    let end = moved(state, [slider], [[q + 1e-3 * v, v]], 1e-3)?;
    system.realize_dynamics(state)?;
    system.finish_step(state, &end, StepRule::HeldForces)
}

#[test]
fn the_history_of_a_ledger_is_not_that_of_a_step_that_was_refused() -> Result<(), Error> {
    let (system, sliders, mut state) = sliders()?;
    // The first absorbs much and the second returns what it did not receive.
    let wrong = moved(&state, sliders, [[0.05, 3.0], [0.0, -3.0]], 0.1)?;
    system.realize_dynamics(&mut state)?;
    system.finish_step(&mut state, &wrong, StepRule::HeldForces)?;
    (0..2).try_for_each(|_| thrown(&system, &mut state, sliders[1]))?;
    // Nor does it begin anew: the same step is refused again.
    for _ in 0..3 {
        let refused = thrown(&system, &mut state, sliders[1]);
        assert!(matches!(refused, Err(Error::EnergyGained { .. })), "{refused:?}");
    }
    Ok(())
}

#[test]
fn energy_that_the_first_step_returns_without_having_received_it_is_seen_after_three_more()
-> Result<(), Error> {
    let (system, sliders, mut state) = sliders()?;
    // The second had half a joule, and gives back another one.
    let wrong = moved(&state, sliders, [[0.1, 0.0], [0.0, -3.0]], 0.1)?;
    system.realize_dynamics(&mut state)?;
    system.finish_step(&mut state, &wrong, StepRule::HeldForces)?;
    (0..2).try_for_each(|_| thrown(&system, &mut state, sliders[1]))?;
    let refused = thrown(&system, &mut state, sliders[1]);
    let Err(Error::EnergyGained { gained, stored, .. }) = refused else { panic!("{refused:?}") };
    // The work of 10 N at the start and of none at the end, over 0.1 s at 3 m/s, is one and a half; then a spring of 100 N/m
    // is bent by 9 mm, by forces that lag behind by a step.
    assert!((gained - 1.0).abs() < 5e-3 && (stored - 0.5).abs() < 1e-12, "{gained} {stored}");
    Ok(())
}

/// The held force of a damper returns energy for a step where a load turns its velocity round, and takes it back in the next.
#[test]
fn a_damper_under_a_load_that_changes_from_step_to_step_is_not_refused() -> Result<(), Error> {
    const STEP: f64 = 1e-3;
    let mut dice = Dice::new(31);
    for (turn, ratio) in [(0.05_f64, 1.0), (0.2, 0.7), (0.2, 2.0), (0.5, 1.0)] {
        for _ in 0..seeds(100) {
            let mut system = ForceSystem::new();
            let slider = system.add_coordinate();
            let natural = turn / STEP;
            let law = Parameters {
                stiffness: natural * natural,
                damping: 2.0 * ratio * natural,
                ..Parameters::default()
            };
            system.add(CoordinateSpringDamperExt::new(CoordinatePair::on(slider), law)?)?;
            let mut state = system.default_state();
            system.reset_dissipated_energy(&mut state)?;
            for _ in 0..400 {
                let force = system.realize_dynamics(&mut state)?.coordinate_force(slider);
                let v =
                    state.velocities().coordinate_rate(slider) + STEP * (force + dice.between(-10.0, 10.0));
                let end =
                    moved(&state, [slider], [[state.positions().coordinate(slider) + STEP * v, v]], STEP)?;
                system.finish_step(&mut state, &end, StepRule::HeldForces)?;
            }
        }
    }
    Ok(())
}

#[test]
fn a_state_that_was_moved_before_its_step_is_finished_is_refused() -> Result<(), Error> {
    let (system, sliders, mut state) = sliders()?;
    system.realize_dynamics(&mut state)?;
    let end = moved(&state, sliders, [[0.1, 1.0]; 2], 0.01)?;
    state.set_coordinate(sliders[0], 0.1)?;
    for rule in RULES {
        let before = state.snapshot();
        let refused = system.finish_step(&mut state, &end, rule);
        assert!(matches!(refused, Err(Error::StageTooLow { .. })), "{refused:?}");
        assert_eq!(state.snapshot(), before);
    }
    Ok(())
}

/// What its forces absorbed on the way is not known.
#[test]
fn a_state_that_was_moved_to_the_end_and_realized_before_its_step_is_finished_closes_its_accounts()
-> Result<(), Error> {
    for rule in RULES {
        let (system, sliders, mut state) = sliders()?;
        system.realize_dynamics(&mut state)?;
        system.reset_dissipated_energy(&mut state)?;
        let end = moved(&state, sliders, [[0.1, 1.0]; 2], 0.01)?;
        let mut finished = state.clone();
        system.realize_dynamics(&mut finished)?;
        system.finish_step(&mut finished, &end, rule)?;
        assert!(system.realize_dynamics(&mut finished)?.dissipated_energy().is_some());

        state.set_kinematics(&end)?;
        system.realize_dynamics(&mut state)?;
        system.finish_step(&mut state, &end, rule)?;
        assert_eq!(system.realize_dynamics(&mut state)?.dissipated_energy(), None);
    }
    Ok(())
}

#[test]
fn a_step_back_in_time_is_refused() -> Result<(), Error> {
    let (system, sliders, mut state) = sliders()?;
    for rule in RULES {
        let before = state.snapshot();
        let back = moved(&state, sliders, [[0.1, 1.0]; 2], -0.01)?;
        system.realize_dynamics(&mut state)?;
        let refused = system.finish_step(&mut state, &back, rule);
        assert!(matches!(refused, Err(Error::InvalidValue(_))), "{refused:?}");
        assert_eq!(state.snapshot(), before);
    }
    Ok(())
}

/// Energies that a host counts from zero again are not energies that an element has returned.
#[test]
fn the_history_of_a_ledger_begins_anew_where_its_energy_is_written() -> Result<(), Error> {
    type Write = fn(&ForceSystem<f64>, &mut State<f64>) -> Result<(), Error>;
    let writes: [Write; 3] = [
        |_, state| state.set_absorbed_energy(&[0.0; 2]),
        |_, state| state.set_continuous(&[0.0; 2]),
        |system, state| {
            let id = system.elements().next().expect("one");
            system.set_dissipated_energy(state, id, 0.0)
        },
    ];
    for write in writes {
        let (system, sliders, mut state) = sliders()?;
        let mut step = || euler(&system, &mut state, sliders, 1e-3, StepRule::HeldForces);
        // The damped one has lost nearly all it had.
        (0..1000).try_for_each(|_| step())?;
        write(&system, &mut state)?;
        (0..1000).try_for_each(|_| euler(&system, &mut state, sliders, 1e-3, StepRule::HeldForces))?;
    }
    Ok(())
}

/// A slider of 1 kg under symplectic Euler, from 1 m or at 1 m/s: the steps until one is refused, or none of 2000.
fn refused_after(
    law: Parameters<f64>,
    [q, v]: [f64; 2],
    step: f64,
    rule: StepRule,
) -> Result<Option<u32>, Error> {
    let mut system = ForceSystem::<f64>::new();
    let slider = system.add_coordinate();
    system.add(CoordinateSpringDamperExt::new(CoordinatePair::on(slider), law)?)?;
    let mut state = system.default_state();
    state.set_coordinate(slider, q)?;
    state.set_coordinate_rate(slider, v)?;
    system.reset_dissipated_energy(&mut state)?;
    for taken in 0..2000 {
        match euler(&system, &mut state, [slider], step, rule) {
            Err(Error::EnergyGained { .. }) => return Ok(Some(taken)),
            outcome => outcome?,
        }
    }
    Ok(None)
}

/// Beyond the longest stable step of 2 ms energies grow by at least 2.2 in a step, and never is a spring relaxed.
#[test]
fn motions_that_explode_are_refused() -> Result<(), Error> {
    let spring = Parameters { stiffness: 1e6, ..Parameters::default() };
    let damped = Parameters { damping: 10.0, ..spring };
    let bristly = Parameters { dynamic_friction: 1.0, sticking_stiffness: 1e4, ..spring };
    for rule in [StepRule::HeldForces, StepRule::Trapezoid] {
        for start in [[1.0, 0.0], [0.0, 1.0], [1.0, -100.0]] {
            for share in [0.5, 0.9, 0.99] {
                for law in [spring, damped] {
                    let refused = refused_after(law, start, share * 2e-3, rule)?;
                    assert_eq!(refused, None, "{rule:?} {start:?} {share}");
                }
            }
        }
    }
    let held = StepRule::HeldForces;
    for start in [[1.0, 0.0], [0.0, 1.0], [1.0, -100.0]] {
        assert_eq!(refused_after(spring, start, 0.999 * 2e-3, held)?, None, "{start:?}");
    }
    for law in [spring, damped, bristly] {
        for (step, most) in [(2.05e-3, 40), (2.2e-3, 20), (5e-3, 10)] {
            for start in [[1.0, 0.0], [0.0, 1.0]] {
                let refused = refused_after(law, start, step, held)?;
                assert!(refused.is_some_and(|taken| taken <= most), "{start:?} {step}: {refused:?}");
            }
        }
    }
    // Damping and friction below zero deliver power by their law: amplitudes grow by 7 in 20 s, or as long as friction does.
    let driven = Parameters { damping: -1.0, ..Parameters::default() };
    assert_eq!(refused_after(driven, [0.0, 1.0], 1e-2, held)?, None);
    let spring = Parameters { stiffness: 100.0, ..Parameters::default() };
    let damped = Parameters { damping: -0.2, ..spring };
    let rubbed = Parameters { viscous_friction: -0.2, friction_proportional_zone: 1e-3, ..spring };
    let offset = Parameters { velocity_offset: 0.3, ..damped };
    for rule in [held, StepRule::Trapezoid] {
        for law in [damped, rubbed, offset, Parameters { dynamic_friction: 0.05, ..rubbed }] {
            assert_eq!(refused_after(law, [0.1, 0.0], 1e-2, rule)?, None, "{rule:?} {law:?}");
        }
    }
    // A motion that begins within rounding of rest.
    for offset in [1e-14, 1e-12, 1e-9, 1e-6] {
        let soft = Parameters { stiffness: 1e4, ..Parameters::default() };
        assert_eq!(refused_after(soft, [offset, 1.0], 1e-3, held)?, None, "{offset}");
    }
    Ok(())
}

/// A slider that bounces between two stops, resumed after each of its steps, in the middle of impacts too: how much was stored
/// before is not known there.
#[test]
fn runs_that_are_resumed_in_an_impact_are_not_refused() -> Result<(), Error> {
    for (stiffness, transition) in [(4e4, 5e-3), (4e4, 0.0), (1.6e5, 1e-3)] {
        for rule in [StepRule::HeldForces, StepRule::Trapezoid, StepRule::LeftEndpoint] {
            let mut system = ForceSystem::<f64>::new();
            let slider = system.add_coordinate();
            let stops = Parameters {
                use_limit_stops: true,
                limit_stops_upper: 0.05,
                limit_stops_lower: -0.05,
                limit_stops_upper_stiffness: stiffness,
                limit_stops_lower_stiffness: stiffness,
                limit_stops_transition: transition,
                ..Parameters::default()
            };
            system.add(CoordinateSpringDamperExt::new(CoordinatePair::on(slider), stops)?)?;
            let mut state = system.default_state();
            state.set_coordinate_rate(slider, 1.0)?;
            system.reset_dissipated_energy(&mut state)?;
            for taken in 0..150 {
                euler(&system, &mut state, [slider], 1e-3, rule)?;
                let mut resumed = system.default_state();
                resumed.restore_bytes(&state.to_bytes())?;
                resumed.set_kinematics(&Shown { state: state.clone(), error: 0.0 })?;
                for step in 0..60 {
                    let outcome = euler(&system, &mut resumed, [slider], 1e-3, rule);
                    assert_eq!(outcome, Ok(()), "{stiffness} {transition} {rule:?} {taken} {step}");
                }
            }
        }
    }
    Ok(())
}

/// A coordinate that is driven to and fro against a stop, in steps too long for the work of the stop: no force spoils its
/// motion. What it seems to have gained is not held against a motion that the host integrates from there.
#[test]
fn a_prescribed_motion_is_not_refused_for_its_energy() {
    let (step, mut other_rules_refuse) = (1e-2, 0);
    for (frequency, phase) in
        [5.0, 8.0, 13.0, 21.0].into_iter().flat_map(|f| (0..10).map(move |i| (f, 0.6 * f64::from(i))))
    {
        let run = |rule| -> Result<(), Error> {
            let mut system = ForceSystem::<f64>::new();
            let slider = system.add_coordinate();
            let stop = Parameters {
                use_limit_stops: true,
                limit_stops_upper: 0.08,
                limit_stops_upper_stiffness: 1e4,
                ..Parameters::default()
            };
            system.add(CoordinateSpringDamperExt::new(CoordinatePair::on(slider), stop)?)?;
            let mut state = system.default_state();
            let omega = std::f64::consts::TAU * frequency;
            let motion = |time: f64| {
                let (sin, cos) = (omega * time + phase).sin_cos();
                [0.1 * sin, 0.1 * omega * cos]
            };
            let [q, v] = motion(0.0);
            state.set_coordinate(slider, q)?;
            state.set_coordinate_rate(slider, v)?;
            system.reset_memories(&mut state)?;
            system.reset_dissipated_energy(&mut state)?;
            for taken in 1..=100 {
                let end = moved(&state, [slider], [motion(step * f64::from(taken))], step)?;
                system.realize_dynamics(&mut state)?;
                system.finish_step(&mut state, &end, rule)?;
            }
            for _ in 0..1000 {
                euler(&system, &mut state, [slider], 1e-3, StepRule::HeldForces)?;
            }
            Ok(())
        };
        assert_eq!(run(StepRule::LeftEndpoint), Ok(()), "{frequency} {phase}");
        other_rules_refuse +=
            usize::from(matches!(run(StepRule::HeldForces), Err(Error::EnergyGained { .. })));
    }
    assert!(other_rules_refuse > 3, "{other_rules_refuse}");
}

/// A motion that explodes is refused when it is resumed, and a cast refuses it in the same step.
#[test]
fn a_motion_that_explodes_is_refused_when_it_is_resumed() -> Result<(), Error> {
    let mut system = ForceSystem::<f64>::new();
    let slider = system.add_coordinate();
    let spring = Parameters { stiffness: 1e6, ..Parameters::default() };
    system.add(CoordinateSpringDamperExt::new(CoordinatePair::on(slider), spring)?)?;
    let mut state = system.default_state();
    state.set_coordinate(slider, 1.0)?;
    system.reset_dissipated_energy(&mut state)?;
    let refused_after = |state: &mut State<f64>| {
        (0..100).find(|_| euler(&system, state, [slider], 2.2e-3, StepRule::HeldForces).is_err())
    };
    let unbroken = refused_after(&mut state.clone()).expect("refused");
    for taken in 1..unbroken {
        euler(&system, &mut state, [slider], 2.2e-3, StepRule::HeldForces)?;
        let mut cast = system.cast_state(&state)?;
        assert_eq!(refused_after(&mut cast), Some(unbroken - taken), "{taken}");
        let mut resumed = system.default_state();
        resumed.restore(&state.snapshot())?;
        resumed.set_kinematics(&Shown { state: state.clone(), error: 0.0 })?;
        let refused = refused_after(&mut resumed);
        // Its history begins once more is stored than a step before.
        assert!(refused.is_some_and(|steps| steps <= unbroken + 2), "{taken}: {refused:?} {unbroken}");
    }
    Ok(())
}

/// Two sliders tied at equilibrium that glide together: only rounding stretches the spring.
#[test]
fn rounding_of_the_places_of_bodies_that_glide_together_is_no_gain() -> Result<(), Error> {
    for speed in [0.1, 1.0, 7.3, 30.0] {
        for (stiffness, damping) in [(2e4, 0.0), (1e5, 0.0), (2e5, 60.0)] {
            let mut system = ForceSystem::<f64>::new();
            let sliders = [system.add_coordinate(), system.add_coordinate()];
            let spring = Parameters { stiffness, damping, offset: 0.3, ..Parameters::default() };
            let pair = CoordinatePair::between(sliders[0], sliders[1]);
            system.add(CoordinateSpringDamperExt::new(pair, spring)?)?;
            let mut state = system.default_state();
            for (slider, [q, v]) in sliders.into_iter().zip([[0.0, speed], [0.3, speed]]) {
                state.set_coordinate(slider, q)?;
                state.set_coordinate_rate(slider, v)?;
            }
            system.reset_dissipated_energy(&mut state)?;
            for _ in 0..2000 {
                euler(&system, &mut state, sliders, 1e-3, StepRule::HeldForces)?;
            }
        }
    }
    Ok(())
}

/// Gravity as a potential that may be below zero, and a stop on which a slider bounces.
#[test]
fn a_potential_below_zero_is_no_energy_returned() -> Result<(), Error> {
    for zero in [0.0, 0.3, 1.0, -0.3] {
        for rule in [StepRule::HeldForces, StepRule::Trapezoid] {
            let mut system = ForceSystem::<f64>::new();
            let slider = system.add_coordinate();
            system.add(CustomForce::new(move |motion, loads| {
                loads.apply_to_coordinate(slider, -9.81);
                9.81 * (motion.coordinate(slider) - zero)
            }))?;
            let stop = Parameters {
                use_limit_stops: true,
                limit_stops_upper: 10.0,
                limit_stops_lower_stiffness: 4e4,
                limit_stops_upper_stiffness: 4e4,
                limit_stops_transition: 5e-3,
                ..Parameters::default()
            };
            system.add(CoordinateSpringDamperExt::new(CoordinatePair::on(slider), stop)?)?;
            let mut state = system.default_state();
            state.set_coordinate(slider, 0.3)?;
            system.reset_dissipated_energy(&mut state)?;
            for _ in 0..3000 {
                euler(&system, &mut state, [slider], 1e-3, rule)?;
            }
        }
    }
    Ok(())
}

#[test]
fn a_motion_that_explodes_is_refused_although_nobody_has_opened_an_account() -> Result<(), Error> {
    let mut system = ForceSystem::<f64>::new();
    let slider = system.add_coordinate();
    let spring = |stiffness: f64| Parameters { stiffness, ..Parameters::default() };
    let element = system.add(CoordinateSpringDamperExt::new(CoordinatePair::on(slider), spring(1e6))?)?;
    let mut state = system.default_state();
    state.set_coordinate(slider, 1.0)?;
    let refused = (0..100)
        .find_map(|_| euler(&system, &mut state, [slider], 2.2e-3, StepRule::HeldForces).err())
        .expect("refused");
    assert!(matches!(refused, Error::EnergyGained { .. }), "{refused}");
    assert_eq!(system.realize_dynamics(&mut state)?.dissipated_energy(), None);

    // Nor is energy that a host adds, by placing what moves elsewhere, with and without a commit.
    for is_committed in [false, true] {
        let mut state = system.default_state();
        system.set_parameters(&mut state, element, spring(100.0))?;
        state.set_coordinate(slider, 0.1)?;
        for farther in [0.3, 0.9, 2.7] {
            for _ in 0..700 {
                euler(&system, &mut state, [slider], 1e-3, StepRule::HeldForces)?;
            }
            state.set_coordinate(slider, farther)?;
            state.set_coordinate_rate(slider, 0.0)?;
            if is_committed {
                system.realize_dynamics(&mut state)?;
                system.accept_step(&mut state)?;
            }
        }
        for _ in 0..700 {
            euler(&system, &mut state, [slider], 1e-3, StepRule::HeldForces)?;
        }
    }

    // Energy that a caller supplies by a write is none that the element returns without having received it.
    let mut state = system.default_state();
    state.set_coordinate(slider, 1e-3)?;
    for step in 0..4000_u32 {
        if step % 57 == 0 {
            system.set_parameters(&mut state, element, spring(if step % 2 == 0 { 1e3 } else { 1e5 }))?;
        }
        euler(&system, &mut state, [slider], 1e-3, StepRule::HeldForces)?;
    }
    Ok(())
}
