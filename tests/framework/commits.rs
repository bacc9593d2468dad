//! Commits by a host that calls in another order, or forgets a call.

use force_elements::cable::{CablePath, Obstacle};
use force_elements::coordinate_spring_damper_ext as coordinate;
use force_elements::exponential_spring::Parameters;
use force_elements::nalgebra::{Point3, Rotation3, Vector3};
use force_elements::shapes::Cylinder;
use force_elements::{
    AtDynamics, BodyIndex, CableSpring, CoordinatePair, CoordinateSpringDamperExt, ElementError, Error,
    ExponentialSpring, ForceAccumulator, ForceElement, ForceSystem, Frame, Given, Handle, LinearBushing,
    Pose, Refusal, Requirement, SpatialForce, SpatialVelocity, Stage, State, Station, StepMethod, Topology,
    cable_spring, check, variables,
};

use force_elements_scenes::kilograms::Kilograms;
use force_elements_scenes::machine::Machine;

struct Corner {
    system: ForceSystem<f64>,
    body: BodyIndex,
    spring: Handle<ExponentialSpring<f64>>,
}

/// A station at the origin of a body, above a plane that is tilted by 10° about y.
fn corner(settling: bool) -> Corner {
    let mut system = ForceSystem::new();
    let body = system.add_body();
    let slope = Pose::from_parts(Vector3::zeros().into(), Rotation3::from_euler_angles(0.0, 0.17, 0.0));
    let parameters = Parameters { settling, ..Parameters::default() };
    let spring =
        ExponentialSpring::new(Frame::ground(slope), Station::on(body, Point3::origin()), parameters)
            .expect("valid");
    let spring = system.add(spring).expect("exists");
    Corner { system, body, spring }
}

/// Checks a step from this time on.
fn check_at(corner: &Corner, state: &mut State<f64>, time: f64) -> Result<(), Error> {
    state.set_time(time)?;
    corner.system.realize_dynamics(state)?;
    corner.system.check_step(state, &Kilograms, StepMethod::SymplecticEuler, 1e-6)
}

#[test]
fn a_host_that_checks_its_steps_but_accepts_none_is_told() -> Result<(), Error> {
    type Write<'a> = &'a dyn Fn(&mut State<f64>) -> Result<(), Error>;

    let corner = corner(false);
    let Corner { system, spring, .. } = &corner;
    let mut state = system.default_state();
    system.reset_memories(&mut state)?;
    check_at(&corner, &mut state, 0.1)?;
    // Again, and after a return to an earlier time.
    check_at(&corner, &mut state, 0.1)?;
    check_at(&corner, &mut state, 0.05)?;
    let start = state.clone();
    let refused = check_at(&corner, &mut state, 0.2).expect_err("nothing was accepted");
    assert_eq!(refused, Error::StepNotAccepted { checked_at: 0.05, time: 0.2 });
    assert!(
        refused.to_string().ends_with("or friction and other memory do not follow the motion"),
        "{refused}"
    );
    assert!(check_at(&corner, &mut start.clone(), 0.2).is_err(), "a copy was checked as well");

    // Where memory is written or there is none, time may go on.
    let writes: [Write<'_>; 6] = [
        &|state| {
            system.realize_dynamics(state)?;
            system.accept_step(state)
        },
        &|state| {
            let snapshot = state.snapshot();
            state.restore(&snapshot)
        },
        &|state| system.reset_memories(state),
        &|state| system.update_discrete(state, *spring, |memory| memory.sliding = 0.0),
        &|state| system.set_enabled(state, *spring, false),
        &|state| {
            *state = system.default_state();
            Ok(())
        },
    ];
    for write in writes {
        let mut state = start.clone();
        write(&mut state)?;
        check_at(&corner, &mut state, 0.2)?;
    }
    Ok(())
}

/// A cable over a drum to the origin of a body.
fn cable(end: BodyIndex) -> Result<CableSpring<f64>, Error> {
    let drum = Obstacle::new(Frame::ground(Pose::identity()), Cylinder::new(0.1)?)?;
    let from = Station { body: BodyIndex::GROUND, p_B: Point3::new(-1.0, 0.1, 0.0) };
    let path = CablePath::new(from, Station { body: end, p_B: Point3::origin() })?;
    let parameters = cable_spring::Parameters { stiffness: 1.0, slack_length: 0.0, dissipation: 0.0 };
    CableSpring::new(path.over(drum), parameters)
}

#[test]
fn only_hosts_of_memory_that_forces_alone_read_must_accept_what_they_check() -> Result<(), Error> {
    type Add = fn(&mut ForceSystem<f64>, BodyIndex) -> Result<(), Error>;
    let cases: [(Add, bool); 4] = [
        (
            |system, _| {
                let slider = CoordinatePair::on(system.add_coordinate());
                let parameters = coordinate::Parameters { stiffness: 10.0, ..Default::default() };
                system.add(CoordinateSpringDamperExt::new(slider, parameters)?).map(|_| ())
            },
            true,
        ),
        (
            |system, body| {
                let (floor, top) = (Frame::ground(Pose::identity()), Frame::of(body));
                system
                    .add(LinearBushing::new(
                        floor,
                        top,
                        force_elements::linear_bushing::Parameters::default(),
                    )?)
                    .map(|_| ())
            },
            false,
        ),
        (|system, body| system.add(cable(body)?).map(|_| ()), false),
        (|system, body| system.add(cable(body)?.with_friction([0.3])?).map(|_| ()), true),
    ];
    for (case, (add, must_accept)) in cases.into_iter().enumerate() {
        let mut system = ForceSystem::new();
        let body = system.add_body();
        add(&mut system, body)?;
        let mut state = system.default_state();
        state.set_pose(body, Pose::translation(2.0, 0.0, -0.3))?;
        system.reset_memories(&mut state)?;
        let mut checked = Ok(());
        for time in [0.0, 0.1] {
            state.set_time(time)?;
            system.realize_dynamics(&mut state)?;
            checked = system.check_step(&mut state, &Kilograms, StepMethod::SymplecticEuler, 1e-9);
        }
        assert_eq!(matches!(checked, Err(Error::StepNotAccepted { .. })), must_accept, "{case}: {checked:?}");
    }
    Ok(())
}

/// Steps a point mass on the slope by semi-implicit Euler, 1 ms at a time, telling the time or not; returns
/// how far it has got when it ends or is refused.
fn slide(tells_time: bool, mass: f64) -> (f64, Result<(), Error>) {
    let Corner { system, body, spring } = corner(true);
    let mut state = system.default_state();
    system.reset_memory(&mut state, spring).expect("regular");
    let (mut p, mut v) = (Vector3::<f64>::zeros(), Vector3::zeros());
    let h = 1e-3;
    for step in 1..=1000 {
        let outcome = (|| {
            if tells_time {
                state.set_time(h * f64::from(step))?;
            }
            state.set_body(body, Pose::from(p), SpatialVelocity::new(Vector3::zeros(), v))?;
            let force = system.realize_dynamics(&mut state)?.body_force(body).force;
            v += (force / mass + Vector3::new(0.0, 0.0, -9.81)) * h;
            p += v * h;
            system.accept_step(&mut state)
        })();
        if outcome.is_err() {
            return (p.norm(), outcome);
        }
    }
    (p.norm(), Ok(()))
}

#[test]
fn a_host_that_forgets_the_time_is_told_and_does_not_creep() {
    let (_, told) = slide(true, 1.0);
    assert_eq!(told, Ok(()));
    let (_, forgotten) = slide(false, 1.0);
    let error = forgotten.expect_err("no time passes");
    assert_eq!(error.own(), Some(&Refusal::TimeNotAdvanced { time: 0.0, last_update: 0.0 }), "{error}");
    assert!(
        error.to_string().starts_with("exponential_spring[0]: a commit at t = 0 would follow one at t = 0"),
        "{error}"
    );
}

/// Steps a point mass down a slope in single precision without telling the time, from the height at which the
/// plane carries it; returns how far it has got when it ends or is refused.
fn creep_in_single_precision(far: f32, h: f32, steps: usize) -> (f32, Result<(), Error>) {
    let mut system = ForceSystem::<f32>::new();
    let body = system.add_body();
    let tilt = Rotation3::from_euler_angles(0.0, 0.3, 0.0);
    let slope = Pose::from_parts(Vector3::new(far, 0.0, 0.0).into(), tilt);
    let parameters = Parameters { settling: true, ..Parameters::default() };
    let spring =
        ExponentialSpring::new(Frame::ground(slope), Station::on(body, Point3::origin()), parameters)
            .expect("valid");
    let spring = system.add(spring).expect("exists");
    let mut state = system.default_state();
    let height = parameters.resting_height(9.81 * 0.3_f32.cos()).expect("a load");
    let start = Vector3::new(far, 0.0, 0.0) + tilt * Vector3::z() * height;
    let (mut p, mut v) = (start, Vector3::zeros());
    state.set_pose(body, Pose::from(p)).expect("finite");
    system.reset_memory(&mut state, spring).expect("regular");
    for _ in 0..steps {
        let outcome = (|| {
            state.set_body(body, Pose::from(p), SpatialVelocity::new(Vector3::zeros(), v))?;
            let force = system.realize_dynamics(&mut state)?.body_force(body).force;
            v += (force + Vector3::new(0.0, 0.0, -9.81)) * h;
            p += v * h;
            system.accept_step(&mut state)
        })();
        if outcome.is_err() {
            return ((p - start).norm(), outcome);
        }
    }
    ((p - start).norm(), Ok(()))
}

#[test]
fn a_host_that_forgets_the_time_is_told_however_little_moves_in_a_step() {
    // At 10 mm/s a step of 1e-5 s moves it by 1e-7 m, less than single precision shows of the station.
    for (far, h) in [(0.0, 1e-3), (0.0, 1e-4), (0.0, 1e-5), (10.0, 1e-4)] {
        let (moved, forgotten) = creep_in_single_precision(far, h, 300_000);
        let error = forgotten.expect_err("no time passes");
        assert!(matches!(error.own(), Some(Refusal::TimeNotAdvanced { .. })), "{error}");
        // Some units of roundoff of the place, and a step.
        assert!(moved < 2e-6 * (1.0 + far) + 0.02 * h, "{far} m, {h} s: told after {moved} m");
    }
}

#[test]
fn the_first_commit_may_be_at_any_time() {
    for settling in [true, false] {
        for time in [-1e6, -2.0, -1e-9, 0.0, 3.0] {
            let Committed { spring, state, .. } = committed(settling, time);
            assert_eq!(state.discrete(spring).last_update, time);
        }
    }
}

#[test]
fn a_commit_at_an_earlier_time_is_refused_and_changes_nothing() {
    for settling in [true, false] {
        let Committed { system, mut state, .. } = committed(settling, 2.0);
        state.set_time(1.5).expect("finite");
        system.realize_dynamics(&mut state).expect("regular");
        let before = (state.stage(), state.snapshot());
        let refused = system.accept_step(&mut state).expect_err("time goes back");
        assert_eq!(
            refused.own(),
            Some(&Refusal::TimeNotAdvanced { time: 1.5, last_update: 2.0 }),
            "{refused}"
        );
        assert_eq!((state.stage(), state.snapshot()), before);
    }
}

struct Committed {
    system: ForceSystem<f64>,
    body: BodyIndex,
    spring: Handle<ExponentialSpring<f64>>,
    state: State<f64>,
}

/// A sliding corner after a commit at this time.
fn committed(settling: bool, time: f64) -> Committed {
    let Corner { system, body, spring } = corner(settling);
    let mut state = system.default_state();
    state.set_time(time).expect("finite");
    let velocity = SpatialVelocity::new(Vector3::zeros(), Vector3::new(0.4, -0.1, 0.0));
    state.set_body(body, Pose::translation(0.01, 0.02, -0.001), velocity).expect("finite");
    system.realize_dynamics(&mut state).expect("regular");
    system.accept_step(&mut state).expect("the first");
    Committed { system, body, spring, state }
}

#[test]
fn a_second_commit_of_the_same_state_changes_no_bit() {
    for settling in [true, false] {
        for time in [0.0, 0.3, 1e6] {
            let Committed { system, mut state, .. } = committed(settling, time);
            let once = state.snapshot();
            for _ in 0..3 {
                system.realize_dynamics(&mut state).expect("regular");
                system.accept_step(&mut state).expect("the same again");
                assert_eq!(state.snapshot(), once);
            }
        }
    }
}

#[test]
fn poses_swept_at_one_time_are_committed_by_what_needs_no_time() {
    let Committed { system, body, spring, mut state } = committed(false, 0.5);
    let mut anchors = Vec::new();
    for step in 1..6 {
        state.set_pose(body, Pose::translation(0.05 * f64::from(step), 0.0, -0.01)).expect("finite");
        system.realize_dynamics(&mut state).expect("regular");
        system.accept_step(&mut state).expect("needs no time");
        anchors.push(state.discrete(spring).anchor_P.x);
    }
    assert!(anchors.windows(2).all(|pair| pair[1] > pair[0] + 0.04), "{anchors:?}");

    // A cable wound up by poses alone.
    let mut system = ForceSystem::<f64>::new();
    let end = system.add_body();
    let cable = cable(end).expect("valid");
    let cable = system.add(cable).expect("exists");
    let mut state = system.default_state();
    for step in 0..=80 {
        let angle = 0.1 * f64::from(step);
        let p = Vector3::new(angle.sin(), angle.cos(), 0.02 * angle);
        state.set_pose(end, Pose::from(p)).expect("finite");
        system.realize_dynamics(&mut state).expect("a path");
        system.accept_step(&mut state).expect("needs no time");
    }
    let wound = state.discrete(cable).wraps.wraps[0].length / 0.1;
    assert!(wound > 5.0, "{wound} rad");
}

#[test]
fn the_anchor_goes_on_from_where_time_is_reset() {
    let Committed { system, body, spring, mut state } = committed(true, 2.0);
    state.set_time(0.0).expect("finite");
    system.reset_memory(&mut state, spring).expect("regular");
    state.set_time(1e-3).expect("finite");
    state.set_pose(body, Pose::translation(0.011, 0.02, -0.001)).expect("finite");
    system.realize_dynamics(&mut state).expect("regular");
    assert_eq!(system.accept_step(&mut state), Ok(()));
    assert_eq!(state.discrete(spring).last_update, 1e-3);
}

/// Remembers where its body was, and has a rule about it.
#[derive(Debug)]
struct Fence(BodyIndex);

variables! {
    /// Where its body was.
    struct Place<T> {
        /// Along x, short of the fence.
        x: T ["m"] = 0.25, finite;
    }
    check |p| check::that(p.x < T::one(), "x", p.x, Requirement::Below("1"));
}

impl ForceElement<f64> for Fence {
    const KIND: &'static str = "fence";
    force_elements::element_types! { Discrete = Place<f64>; Position = f64; }

    fn check_topology(&self, topology: &Topology) -> Result<(), ElementError> {
        Ok(topology.check_body(self.0)?)
    }
    // Reads what is remembered at Position stage, and relies on the stage that the trait says by default.
    fn calc_position(&self, given: &Given<'_, f64, Self>, force: &mut f64) -> Result<(), ElementError> {
        *force = given.discrete.x - given.positions.pose(self.0).translation.x;
        Ok(())
    }
    fn add_forces(&self, at: &AtDynamics<'_, f64, Self>, forces: &mut ForceAccumulator<'_, f64>) {
        let pull = Vector3::x() * *at.position;
        forces.apply_to_body(self.0, SpatialForce::new(Vector3::zeros(), pull));
        forces.apply_to_body(BodyIndex::GROUND, SpatialForce::new(Vector3::zeros(), -pull));
    }
    fn potential_energy(&self, at: &AtDynamics<'_, f64, Self>) -> f64 {
        0.5 * at.position * at.position
    }
    fn accept_step(&self, at: &AtDynamics<'_, f64, Self>, next: &mut Place<f64>) -> Result<(), ElementError> {
        next.x = at.positions.pose(self.0).translation.x;
        Ok(())
    }
}

#[test]
fn one_element_that_must_not_commit_keeps_all_from_it() {
    let Corner { mut system, body, .. } = corner(true);
    system.add(Fence(body)).expect("exists");
    let mut state = system.default_state();
    state.set_time(0.1).expect("finite");
    state.set_pose(body, Pose::translation(3.0, 0.0, -0.001)).expect("finite");
    system.realize_dynamics(&mut state).expect("regular");
    let before = (state.stage(), state.snapshot());
    let refused = system.accept_step(&mut state).expect_err("beyond the fence");
    assert_eq!(refused.invalid_value().map(|v| (v.name, v.value)), Some(("x", 3.0)), "{refused}");
    assert_eq!((state.stage(), state.snapshot()), before, "the spring has not committed either");
    assert_eq!(state.clone().restore(&before.1), Ok(()));
}

#[test]
fn what_an_element_would_store_out_of_range_is_refused_by_the_commit() {
    let mut system = ForceSystem::<f64>::new();
    let slider = system.add_coordinate();
    let parameters = coordinate::Parameters {
        dynamic_friction: 1.0,
        viscous_friction: 1e20,
        sticking_stiffness: 10.0,
        ..Default::default()
    };
    system
        .add(CoordinateSpringDamperExt::new(CoordinatePair::on(slider), parameters).expect("valid"))
        .expect("exists");
    let mut state = system.default_state();
    state.set_coordinate(slider, 1.0).expect("finite");
    state.set_coordinate_rate(slider, 1e300).expect("finite");
    let start = state.clone();
    system.realize_dynamics(&mut state).expect("bristles that stick");
    let before = state.snapshot();
    assert!(system.accept_step(&mut state).is_err(), "an infinite friction mode");
    assert!(system.discontinuous_update(&mut state, &start).is_err());
    assert_eq!(state.snapshot(), before);
    assert_eq!(state.clone().restore(&before), Ok(()));
}

#[test]
fn an_element_that_says_nothing_of_its_stage_is_evaluated_anew_when_its_memory_changes() {
    let mut system = ForceSystem::<f64>::new();
    let body = system.add_body();
    let fence = system.add(Fence(body)).expect("exists");
    let mut state = system.default_state();
    system.realize_dynamics(&mut state).expect("regular");
    system.set_discrete(&mut state, fence, Place { x: -1.0 }).expect("valid");
    assert!(state.stage() < Stage::Position);
    let force = system.realize_dynamics(&mut state).expect("regular").body_force(body).force.x;
    let mut fresh = system.default_state();
    system.set_variable(&mut fresh, "fence[0].x", -1.0).expect("named");
    let expected = system.realize_dynamics(&mut fresh).expect("regular").body_force(body).force.x;
    assert_eq!((force, expected), (-1.0, -1.0));
}

#[test]
fn an_integration_before_the_accounts_were_opened_does_not_stand_for_the_next_step() -> Result<(), Error> {
    let machine = Machine::<f64>::new()?;
    let mut state = machine.start()?;
    let energies = state.absorbed_energy().to_vec();
    state.set_absorbed_energy(&energies)?;
    machine.system.reset_dissipated_energy(&mut state)?;
    machine.move_to(&mut state, 0.01)?;
    machine.system.realize_dynamics(&mut state)?;
    machine.system.accept_step(&mut state)?;
    assert_eq!(machine.system.realize_dynamics(&mut state)?.dissipated_energy(), None);
    Ok(())
}
