//! The linearization of a system: its memory, differences of a user's element, and what is refused.

use force_elements::cable::{CablePath, Obstacle};
use force_elements::elastic_foundation as foundation;
use force_elements::exponential_spring;
use force_elements::hertz_contact;
use force_elements::linear_bushing::Parameters;
use force_elements::nalgebra::{Point3, Vector3, Vector6};
use force_elements::shapes::{Ellipsoid, HalfSpace, SolidShape, TriangleMesh};
use force_elements::testing::Numbers;
use force_elements::{
    AtDynamics, BodyIndex, CableSpring, Column, CoordinateIndex, CustomForce, ElasticFoundation,
    ElementError, ElementId, End, Error, ExponentialSpring, ForceAccumulator, ForceElement, ForceSystem,
    Forces, Frame, HertzContact, LinearBushing, Linearization, Pose, Row, Scope, SpatialForce,
    SpatialVelocity, Stage, Station, Topology, VariableVector, Variation, Worlds, cable_spring, variables,
};

variables! {
    /// A spring constant.
    #[derive(Copy)]
    pub struct Stiffness<T> {
        /// Of the spring.
        pub stiffness: T ["N/m"] = 7.0, nonnegative => Dynamics;
    }
}

variables! {
    /// What has been reached.
    #[derive(Copy)]
    pub struct Reached<T> {
        /// The square of the position at the last commit.
        pub square: T ["m²"], finite => Dynamics;
    }
}

/// A user's element: a body is pulled along x by a spring whose other end a coordinate moves.
#[derive(Debug)]
struct Pull {
    body: BodyIndex,
    coordinate: CoordinateIndex,
}

impl Pull {
    fn stretch(&self, at: &AtDynamics<'_, f64, Self>) -> f64 {
        at.positions.pose(self.body).translation.x - at.positions.coordinate(self.coordinate)
    }
}

impl ForceElement<f64> for Pull {
    const KIND: &'static str = "pull";
    force_elements::element_types! { Parameters = Stiffness<f64>; Discrete = Reached<f64>; }

    fn check_topology(&self, topology: &Topology) -> Result<(), ElementError> {
        topology.check_body(self.body)?;
        Ok(topology.check_coordinate(self.coordinate)?)
    }

    fn add_forces(&self, at: &AtDynamics<'_, f64, Self>, forces: &mut ForceAccumulator<'_, f64>) {
        let f = at.parameters.stiffness * self.stretch(at);
        forces.apply_to_body(self.body, SpatialForce::new(Vector3::zeros(), -Vector3::x() * f));
        forces.apply_to_coordinate(self.coordinate, f);
    }

    fn accept_step(
        &self,
        at: &AtDynamics<'_, f64, Self>,
        next: &mut Self::Discrete,
    ) -> Result<(), ElementError> {
        next.square = self.stretch(at).powi(2) + 3.0 * at.discrete.square;
        Ok(())
    }
}

/// Two bodies of many and two coordinates of several, in motion.
fn system() -> Result<(ForceSystem<f64>, [BodyIndex; 2], CoordinateIndex), Error> {
    let mut system = ForceSystem::new();
    let bodies: Vec<_> = (0..9).map(|_| system.add_body()).collect();
    let coordinates: Vec<_> = (0..5).map(|_| system.add_coordinate()).collect();
    system.remove_body(bodies[4])?;
    Ok((system, [bodies[2], bodies[7]], coordinates[3]))
}

#[test]
fn a_users_element_gets_differences_of_itself_alone() -> Result<(), Error> {
    let (mut system, [_, body], coordinate) = system()?;
    let pull = system.add(Pull { body, coordinate })?;
    let mut state = system.default_state();
    state.set_pose(body, force_elements::Pose::translation(0.75, 2.0, 3.0))?;
    state.set_coordinate(coordinate, 0.25)?;
    system.update_discrete(&mut state, pull, |reached| reached.square = 0.5)?;
    system.realize_dynamics(&mut state)?;
    let mut linearization = Linearization::of(Scope { variables: true, commit: true });
    system.linearize(&state, &mut linearization)?;

    let element = linearization.element(pull);
    assert!(!element.is_exact());
    assert!(!element.is_exact_by_variables());
    assert!(!element.is_exact_at_commit());
    let ends = [End::Body(BodyIndex::GROUND), End::Body(body), End::Coordinate(coordinate)];
    for (row, column, block) in element.blocks() {
        for on in [row].iter().filter_map(|row| if let Row::Force(end) = row { Some(end) } else { None }) {
            assert!(ends.contains(on), "{on:?} is none of its own");
        }
        let expected: &[(usize, f64)] = match (row, column) {
            (Row::Force(End::Body(b)), Column::Motion(End::Body(c))) if (b, c) == (body, body) => {
                &[(39, -7.0)]
            }
            (Row::Force(End::Body(b)), Column::Motion(End::Coordinate(_))) if b == body => &[(6, 7.0)],
            (Row::Force(End::Coordinate(_)), Column::Motion(End::Body(_))) => &[(3, 7.0)],
            (Row::Force(End::Coordinate(_)), Column::Motion(End::Coordinate(_))) => &[(0, -7.0)],
            // The stretch is 0.5; the variables are time, the stiffness and the square.
            (Row::Force(End::Body(b)), Column::Variable(1)) if b == body => &[(3, -0.5)],
            (Row::Force(End::Coordinate(_)), Column::Variable(1)) => &[(0, 0.5)],
            (Row::Next(0), Column::Motion(End::Body(_))) => &[(3, 1.0)],
            (Row::Next(0), Column::Motion(End::Coordinate(_))) => &[(0, -1.0)],
            (Row::Next(0), Column::Variable(2)) => &[(0, 3.0)],
            _ => &[],
        };
        for (i, &number) in block.iter().enumerate() {
            let expected = expected.iter().find(|(place, _)| *place == i).map_or(0.0, |(_, value)| *value);
            // Differences over 6e-7 of numbers of order one, without curvature or with a constant one.
            assert!((number - expected).abs() < 2e-9, "{row:?} by {column:?}, {i}: {number}, not {expected}");
        }
    }
    let blocks = element.blocks().filter(|(row, column, _)| {
        matches!(row, Row::Force(end) if !end.is_ground()) && matches!(column, Column::Motion(_))
    });
    assert_eq!(blocks.count(), 4);
    Ok(())
}

#[test]
fn a_closure_gets_differences_by_what_it_reads() -> Result<(), Error> {
    let (mut system, [first, second], _) = system()?;
    let law = move |motion: &force_elements::custom_force::Motion<'_, f64>,
                    loads: &mut force_elements::custom_force::Loads<f64>| {
        let f_G = motion.point(first, &Point3::origin()).coords * 4.0;
        loads.apply_to_body(second, SpatialForce::new(Vector3::zeros(), f_G));
        loads.apply_to_body(BodyIndex::GROUND, SpatialForce::new(Vector3::zeros(), -f_G));
        0.0
    };
    system.add(CustomForce::new(law))?;
    let mut state = system.default_state();
    system.realize_dynamics(&mut state)?;
    let mut linearization = Linearization::new();
    system.linearize(&state, &mut linearization)?;
    let mut motion = Variation::zeros(system.topology());
    motion.body_mut(first).linear = Vector3::new(1.0, 2.0, 3.0);
    let mut forces = Forces::zeros(system.topology());
    linearization.apply(&motion, &Variation::zeros(system.topology()), &mut forces, None)?;
    assert!((forces.body(second).force - Vector3::new(4.0, 8.0, 12.0)).norm() < 1e-8);
    assert!((forces.body(BodyIndex::GROUND).force + Vector3::new(4.0, 8.0, 12.0)).norm() < 1e-8);
    Ok(())
}

/// The slope of a force along x on a body, by differences, at a place and a velocity.
fn slope(law: fn(f64) -> f64, [x, v]: [f64; 2]) -> Result<f64, Error> {
    let mut system = ForceSystem::new();
    let body = system.add_body();
    system.add(CustomForce::new(move |motion, loads| {
        let f_G = Vector3::x() * law(motion.point(body, &Point3::origin()).x);
        loads.apply_to_body(body, SpatialForce::new(Vector3::zeros(), f_G));
        loads.apply_to_body(BodyIndex::GROUND, SpatialForce::new(Vector3::zeros(), -f_G));
        0.0
    }))?;
    let mut state = system.default_state();
    let V = SpatialVelocity::new(Vector3::zeros(), Vector3::x() * v);
    state.set_body(body, Pose::translation(x, 0.0, 0.0), V)?;
    system.realize_dynamics(&mut state)?;
    let mut linearization = Linearization::new();
    system.linearize(&state, &mut linearization)?;
    let first = linearization.row_of(End::Body(body)).unwrap_or_default();
    Ok(linearization.to_dense()[0][(first + 3, first + 3)])
}

#[test]
fn differences_are_of_one_side_at_a_kink() -> Result<(), Error> {
    let kinked: fn(f64) -> f64 = |x| 5.0 * x.abs() + (3.0 * x).sin();
    // Exactly there it is the side to which the body moves; beside it, though within the 6e-7 m of the differences, its own.
    for (x, v, side) in [
        (0.0, 1.0, 1.0),
        (0.0, 0.0, 1.0),
        (0.0, -1.0, -1.0),
        (1e-7, -1.0, 1.0),
        (4e-7, -1.0, 1.0),
        (-1e-7, 1.0, -1.0),
        (-4e-7, 1.0, -1.0),
        (1e-3, -1.0, 1.0),
    ] {
        let expected = 5.0 * side + 3.0 * f64::cos(3.0 * x);
        // Of order two over 6e-7 m, and rounding of positions of up to 1e-3 m to 1e-19 m over 3e-7 m.
        assert!((slope(kinked, [x, v])? - expected).abs() < 1e-9, "{x} {v}");
    }
    // Steps and roots have a slope on one side only.
    assert_eq!(slope(|x| if x > 0.0 { 7.0 } else { 0.0 }, [0.0, 1.0])?, 0.0);
    assert_eq!(slope(|x| if x > 0.0 { x.sqrt() } else { 0.0 }, [0.0, 1.0])?, 0.0);
    // What is steep but smooth is central: off by 6e-7² of 1150²/6 of its slope.
    let steep: fn(f64) -> f64 = |x| (1150.0 * x).exp();
    assert!((slope(steep, [0.0, 1.0])? / 1150.0 - 1.0).abs() < 1e-7);
    Ok(())
}

#[test]
fn nothing_is_allocated_after_the_first_call() -> Result<(), Error> {
    let (mut system, [first, second], coordinate) = system()?;
    let mut numbers = Numbers::new(1);
    for _ in 0..20 {
        let parameters = Parameters { stiffness: Vector6::repeat(10.0), damping: Vector6::repeat(1.0) };
        let (F, M) = (Frame::on(first, numbers.pose(0.3, 1.0)), Frame::on(second, numbers.pose(0.3, 1.0)));
        system.add(LinearBushing::new(F, M, parameters)?)?;
        system.add(Pull { body: first, coordinate })?;
    }
    let mut derived: Vec<ElementId> = Vec::new();
    for (clipped, has_anchors) in [(false, false), (false, true), (true, false), (true, true)] {
        // All of the brick is within, wherever it is.
        let deep = Frame::on(second, Pose::translation(0.0, 0.0, 5.0));
        for shape in
            [SolidShape::from(HalfSpace::BelowZ), Ellipsoid::new(Vector3::new(9.0, 8.0, 7.0))?.into()]
        {
            let options = foundation::Parameters { clipped, ..Default::default() };
            let bed = ElasticFoundation::new(options)?;
            let mut bed = if has_anchors { bed.with_anchors() } else { bed };
            bed.add_rigid(deep, shape)?;
            let rubber = foundation::Material::new(1e3).with_friction(0.8, 0.5, 0.1).with_grip(1e3, 1.0);
            bed.add_springs(Frame::of(first), TriangleMesh::brick(Vector3::repeat(0.5), [1; 3])?, rubber)?;
            derived.push(system.add(bed)?.id());
        }
    }
    for settling in [false, true] {
        let parameters = exponential_spring::Parameters { settling, ..Default::default() };
        let station = Station::on(first, Point3::new(0.1, 0.2, -0.3));
        derived.push(system.add(ExponentialSpring::new(Frame::of(second), station, parameters)?)?.id());
    }
    let ball = Obstacle::new(
        Frame::on(first, Pose::translation(0.0, 0.0, 1.0)),
        Ellipsoid::new(Vector3::repeat(0.4))?,
    )?;
    let [hook, eye] = [-3.0, 3.0].map(|x| Point3::new(x, 0.0, 1.2));
    let path = CablePath::new(Station::ground(hook), Station::on(second, eye))?.over(ball);
    let elastic = cable_spring::Parameters { stiffness: 10.0, ..Default::default() };
    derived.push(system.add(CableSpring::new(path.clone(), elastic)?.with_friction(vec![0.1])?)?.id());
    derived.push(system.add(CableSpring::new(path, elastic)?)?.id());
    let ball = (Station::on(first, Point3::origin()), 3.0);
    let other = (Station::on(second, Point3::new(0.0, 0.0, 5.0)), 3.0);
    let steel = hertz_contact::Parameters { effective_modulus: 1e5, ..Default::default() };
    derived.push(system.add(HertzContact::on_ball(other, ball, steel)?)?.id());
    let mut state = system.default_state();
    let mut linearization = Linearization::of(Scope { variables: true, commit: true });
    let (none, mut motion) = (Variation::zeros(system.topology()), Variation::zeros(system.topology()));
    motion.body_mut(first).linear.x = 1.0;
    let [mut forces, mut others] = [(); 2].map(|()| Forces::zeros(system.topology()));
    let [mut variables, mut next] = [(); 2].map(|()| VariableVector::zeros(&state));
    variables.time = 1.0;
    let mut linearize = |time: f64| -> Result<(), Error> {
        state.set_time(time)?;
        state.set_body(first, numbers.pose(0.3, 0.1), numbers.velocity(1.0))?;
        system.realize_dynamics(&mut state)?;
        system.linearize(&state, &mut linearization)?;
        linearization.apply(&motion, &none, &mut forces, None)?;
        linearization.apply_transpose(&motion, &mut forces, &mut others, None)?;
        linearization.apply(&motion, &none, &mut forces, Some((&variables, &mut next)))?;
        linearization.apply_transpose(&motion, &mut forces, &mut others, Some((&next, &mut variables)))?;
        let _ = std::hint::black_box(
            linearization.triplets().map(|(.., [by_position, _])| by_position).sum::<f64>(),
        );
        Ok(())
    };
    linearize(0.1)?;
    let mut outcome = Ok(());
    let counted = allocation_counter::measure(|| {
        outcome = (2..10).try_for_each(|step| linearize(0.1 * f64::from(step)));
    });
    outcome?;
    assert_eq!(counted.count_total, 0);
    for element in derived {
        let element = linearization.element(element);
        let are_exact = [element.is_exact(), element.is_exact_by_variables(), element.is_exact_at_commit()];
        assert_eq!(are_exact, [true; 3]);
        assert!(!element.branches().is_empty());
    }
    Ok(())
}

#[test]
fn a_linearization_follows_the_system() -> Result<(), Error> {
    let (mut system, [first, second], coordinate) = system()?;
    let parameters = Parameters { stiffness: Vector6::repeat(10.0), ..Parameters::default() };
    let bushing = system.add(LinearBushing::new(Frame::of(first), Frame::of(second), parameters)?)?;
    let mut linearization = Linearization::new();
    let mut state = system.default_state();
    let too_low = Error::StageTooLow { required: Stage::Dynamics, actual: state.stage() };
    assert_eq!(system.linearize(&state, &mut linearization), Err(too_low));
    assert!(linearization.try_element(bushing).is_err());
    system.realize_dynamics(&mut state)?;
    system.linearize(&state, &mut linearization)?;
    assert_eq!(linearization.element(bushing).blocks().count(), 4);
    assert!(linearization.element(bushing).is_exact());

    system.set_enabled(&mut state, bushing, false)?;
    system.realize_dynamics(&mut state)?;
    system.linearize(&state, &mut linearization)?;
    assert_eq!(linearization.element(bushing).blocks().count(), 0);

    let pull = system.add(Pull { body: first, coordinate })?;
    assert_eq!(system.linearize(&state, &mut linearization), Err(Error::TopologyMismatch));
    assert!(linearization.try_element(pull).is_err());
    system.carry_over(&mut state)?;
    system.realize_dynamics(&mut state)?;
    system.linearize(&state, &mut linearization)?;
    assert!(!linearization.element(pull).is_exact());
    Ok(())
}

#[test]
fn a_linearization_that_fails_is_empty() -> Result<(), Error> {
    let (mut system, [first, second], _) = system()?;
    let frames = [first, second].map(|body| Frame::on(body, Pose::translation(100.0, 0.0, 0.0)));
    let parameters = Parameters { stiffness: Vector6::repeat(10.0), ..Parameters::default() };
    let bushings = [0, 1].map(|_| LinearBushing::new(frames[0], frames[1], parameters));
    let [stiffened, plain] = bushings.map(|bushing| system.add(bushing?));
    let (stiffened, plain) = (stiffened?, plain?);
    let mut linearization = Linearization::new();
    let mut state = system.default_state();
    system.realize_dynamics(&mut state)?;
    system.linearize(&state, &mut linearization)?;
    assert_eq!(linearization.element(plain).blocks().count(), 4);

    // The frames coincide: there is no force, but levers of 100 m make a stiffness beyond all numbers.
    system.update_parameters(&mut state, stiffened, |p| p.law.stiffness = Vector6::repeat(1e307))?;
    system.realize_dynamics(&mut state)?;
    assert!(system.linearize(&state, &mut linearization).is_err());
    for bushing in [stiffened, plain] {
        assert_eq!(linearization.element(bushing).blocks().count(), 0);
    }
    assert_eq!(linearization.triplets().count(), 0);
    Ok(())
}

#[test]
fn many_worlds_are_linearized_as_one_by_one() -> Result<(), Error> {
    let (mut system, [first, second], coordinate) = system()?;
    let parameters = Parameters { stiffness: Vector6::repeat(10.0), damping: Vector6::repeat(1.0) };
    system.add(LinearBushing::new(Frame::of(first), Frame::of(second), parameters)?)?;
    system.add(Pull { body: first, coordinate })?;
    let mut numbers = Numbers::new(3);
    let motions: Vec<_> = (0..40).map(|_| (numbers.pose(0.5, 1.0), numbers.velocity(1.0))).collect();
    let mut together: Vec<_> = motions.iter().map(|_| Linearization::new()).collect();
    let mut worlds = Worlds::new(&system.default_state(), motions.len());
    worlds.visit(&motions, &mut together, |state, motion, linearization| {
        state.set_body(first, motion[0].0, motion[0].1)?;
        system.realize_dynamics(state)?;
        system.linearize(state, &mut linearization[0])
    })?;
    let mut alone = Linearization::new();
    for ((pose, velocity), linearization) in motions.into_iter().zip(&together) {
        let mut state = system.default_state();
        state.set_body(first, pose, velocity)?;
        system.realize_dynamics(&mut state)?;
        system.linearize(&state, &mut alone)?;
        assert!(alone.triplets().eq(linearization.triplets()));
    }
    Ok(())
}

#[test]
fn variables_have_the_names_of_the_state() -> Result<(), Error> {
    let (mut system, [first, _], coordinate) = system()?;
    let pull = system.add(Pull { body: first, coordinate })?;
    let names = system.default_state().linearized_variables(pull)?;
    assert_eq!(names, ["time", "pull[0].stiffness", "pull[0].square"]);
    Ok(())
}

/// The statement of the page on linearization: without damping only the turns of a body are not symmetric, by its torque.
#[test]
fn a_bushing_without_damping_is_symmetric_but_for_turns_under_torque() -> Result<(), Error> {
    let mut system = ForceSystem::new();
    let bodies = [system.add_body(), system.add_body()];
    let mut numbers = Numbers::new(5);
    let parameters = Parameters {
        stiffness: Vector6::from_fn(|_, _| numbers.between(1.0, 50.0)),
        ..Parameters::default()
    };
    let [F, M] = bodies.map(|body| Frame::on(body, numbers.pose(0.5, 0.4)));
    system.add(LinearBushing::new(F, M, parameters)?)?;
    let mut state = system.default_state();
    for body in bodies {
        state.set_pose(body, numbers.pose(0.4, 0.5))?;
    }
    let torques =
        bodies.map(|body| system.realize_dynamics(&mut state).map(|view| view.body_force(body).torque));
    let mut linearization = Linearization::new();
    system.linearize(&state, &mut linearization)?;
    let [mut stiffness, damping] = linearization.to_dense();
    assert!(damping.iter().all(|number| *number == 0.0));
    assert!((&stiffness - stiffness.transpose()).amax() > 1.0, "there is a torque");
    for (body, torque) in bodies.into_iter().zip(torques) {
        let first = linearization.row_of(End::Body(body)).unwrap_or_default();
        let mut turns = stiffness.fixed_view_mut::<3, 3>(first, first);
        turns += torque?.cross_matrix() * 0.5;
    }
    // Entries of up to a hundred, of a few dozen roundings.
    assert!((&stiffness - stiffness.transpose()).amax() < 1e-12);
    Ok(())
}
