//! Via points that move on their bodies with a coordinate.

use force_elements::cable::{CablePath, Obstacle, PointCurve, SplineCurve, ViaPoint};
use force_elements::cable_spring::Parameters;
use force_elements::nalgebra::{Matrix3, Point3, Rotation3, Translation3, Vector3};
use force_elements::shapes::{Cylinder, ShapeError};
use force_elements::simulation::{DormandPrince, Plant, RigidBody, Simulation, SimulationError};
use force_elements::testing::Numbers;
use force_elements::{
    BodyIndex, CableSpring, Casts, CoordinateIndex, Error, ForceSystem, Frame, Handle, Inertias, Pose, Real,
    SpatialForce, SpatialVelocity, State, Station, StepMethod,
};
use num_dual::Dual64;

use crate::moment_arm::moment_arm_by_differences;

use super::fixed;

const STIFFNESS: f64 = 40.0;
const SLACK: f64 = 1.5;

/// The curve of the tests, written out: a helix.
#[derive(Debug, Clone)]
struct Helix;

impl<T: Real> PointCurve<T> for Helix {
    fn at(&self, q: T) -> (Point3<T>, Vector3<T>) {
        let (sin, cos) = q.sin_cos();
        let half = T::lit(0.5);
        (
            Point3::new(half * cos, half * sin, half * half * q),
            Vector3::new(-half * sin, half * cos, half * half),
        )
    }

    fn second_derivative(&self, q: T) -> Vector3<T> {
        let (sin, cos) = q.sin_cos();
        Vector3::new(cos, sin, T::zero()) * T::lit(-0.5)
    }
}

struct Rig<T: Real> {
    system: ForceSystem<T>,
    state: State<T>,
    cable: Handle<CableSpring<T>>,
    bodies: [BodyIndex; 2],
    coordinate: CoordinateIndex,
}

/// A cable from Ground through a point that moves on one body to another body, all moving.
fn rig(seed: u64) -> Result<Rig<f64>, Error> {
    let mut numbers = Numbers::new(seed);
    let mut system = ForceSystem::new();
    let bodies = [system.add_body(), system.add_body()];
    let coordinate = system.add_coordinate();
    let path = CablePath::new(fixed(-1.5, 0.2, 0.1), Station::on(bodies[1], Point3::new(0.1, 0.2, 0.3)))?
        .through(ViaPoint::moving(bodies[0], coordinate, Helix))?;
    let law = Parameters { stiffness: STIFFNESS, slack_length: SLACK, dissipation: 0.2 };
    let cable = system.add(CableSpring::new(path, law)?)?;
    let mut state = system.default_state();
    state.set_body(bodies[0], numbers.pose(1.5, 0.5), numbers.velocity(1.0))?;
    state.set_body(
        bodies[1],
        Pose::translation(2.0, 0.0, 0.0) * numbers.pose(1.5, 0.5),
        numbers.velocity(1.0),
    )?;
    state.set_coordinate(coordinate, numbers.between(-3.0, 3.0))?;
    state.set_coordinate_rate(coordinate, numbers.between(-2.0, 2.0))?;
    system
        .update_parameters(&mut state, cable, |p| p.places.via_points[0].p_B = numbers.vector(0.2).into())?;
    Ok(Rig { system, state, cable, bodies, coordinate })
}

#[test]
fn force_power_and_length_rate_are_those_of_two_segments_by_hand() -> Result<(), Error> {
    for seed in 0..50 {
        let Rig { system, mut state, cable, bodies, coordinate } = rig(seed)?;
        let offset = state.parameters(cable).places.via_points[0].p_B;
        let view = system.realize_dynamics(&mut state)?;
        let at = view.of(cable);

        let (q, u) = (view.coordinate(coordinate), view.coordinate_rate(coordinate));
        let [X_GA, X_GB] = bodies.map(|body| *view.pose(body));
        let [V_GA, V_GB] = bodies.map(|body| *view.velocity(body));
        let p_A = offset + Vector3::new(0.5 * q.cos(), 0.5 * q.sin(), 0.25 * q);
        let slope_G = X_GA.rotation * Vector3::new(-0.5 * q.sin(), 0.5 * q.cos(), 0.25);
        let (p, via, end) = (Point3::new(-1.5, 0.2, 0.1), X_GA * p_A, X_GB * Point3::new(0.1, 0.2, 0.3));
        let (first, second) = (via - p, end - via);
        let (e1, e2) = (first.normalize(), second.normalize());
        let length = first.norm() + second.norm();
        let of_point = |V: SpatialVelocity<f64>, X: Pose<f64>, p: Point3<f64>| {
            V.linear + V.angular.cross(&(p.coords - X.translation.vector))
        };
        let v_via = of_point(V_GA, X_GA, via) + slope_G * u;
        let v_end = of_point(V_GB, X_GB, end);
        let rate = e1.dot(&v_via) + e2.dot(&(v_end - v_via));
        // Some tens of operations on numbers of up to 5.
        assert!((at.position.path.length - length).abs() < 1e-14);
        assert!((at.velocity.length_rate - rate).abs() < 1e-13);

        let elastic = STIFFNESS * (length - SLACK).max(0.0);
        let tension = elastic + (elastic * 0.2 * rate).max(-elastic);
        assert!(tension > 1.0, "{seed}");
        assert!((view.coordinate_force(coordinate) - tension * (e2 - e1).dot(&slope_G)).abs() < 1e-11);
        assert!((view.body_force(bodies[0]).force - (e2 - e1) * tension).norm() < 1e-11);

        // The third law, and the power with the coordinate's share.
        let mut sum = SpatialForce::zero();
        let mut power = view.coordinate_force(coordinate) * u;
        for body in [BodyIndex::GROUND, bodies[0], bodies[1]] {
            let force = view.body_force(body);
            sum += force.shifted(-view.pose(body).translation.vector);
            power += view.velocity(body).power(&force);
        }
        assert!(sum.force.norm() < 1e-13 * tension && sum.torque.norm() < 1e-12 * tension);
        assert!((power + tension * rate).abs() < 1e-13 * tension * 10.0);
        let share = view.coordinate_force(coordinate) * u;
        assert!(share.abs() > 1e-3 * tension, "{seed}: the point hardly moves");
    }
    Ok(())
}

#[test]
fn moment_arms_about_the_coordinate_of_a_point_are_those_by_differences() -> Result<(), Error> {
    for seed in 0..20 {
        let Rig { system, mut state, cable, bodies, coordinate } = rig(seed)?;
        let places = state.parameters(cable).places.clone();
        let memory = state.discrete(cable).wraps.clone();
        let mut numbers = Numbers::new(1000 + seed);
        let twists = bodies.map(|_| [0; 2].map(|_| numbers.velocity(1.0)));
        let rates: [f64; 2] = [0; 2].map(|_| numbers.between(-1.0, 1.0));
        let motion = |i: usize, on: BodyIndex| {
            bodies.iter().position(|&body| body == on).map_or(SpatialVelocity::zero(), |k| twists[k][i])
        };
        let rate = |i: usize, of: CoordinateIndex| if of == coordinate { rates[i] } else { f64::NAN };
        let path = (system.element(cable).path(), &places);
        let view = system.realize_position(&mut state)?;
        let (results, positions) = (&view.of(cable).position.path, view.positions());
        let mut arms = [f64::NAN; 2];
        results.moment_arms(positions, motion, rate, &mut arms);
        for (i, arm) in arms.into_iter().enumerate() {
            let one = results.moment_arm(positions, |body| motion(i, body), |of| rate(i, of));
            assert!((arm - one).abs() < 1e-14);
            let difference = moment_arm_by_differences(
                path,
                positions,
                &memory,
                |body| motion(i, body),
                |of| rate(i, of),
                1e-5,
            )?;
            // The square of the step times a third derivative below 100, and roundoff over the step.
            assert!((arm - difference).abs() < 1e-8, "{arm} {difference}");
        }
    }
    Ok(())
}

#[test]
fn a_users_curve_is_cast_and_its_second_derivative_goes_into_the_stiffness() -> Result<(), Error> {
    let Rig { system, mut state, cable, coordinate, .. } = rig(3)?;
    assert!(matches!(
        system.element(cable).path().cast::<f32>(),
        Err(force_elements::cable::PathError::Shape(ShapeError::NoCast { shape })) if shape.contains("Helix")
    ));
    let mut casts = Casts::<f64, Dual64>::new();
    casts.add_curve(|helix: &Helix| Ok(helix.clone()));
    let in_duals = system.cast_with(&casts)?;
    let mut moving = in_duals.cast_state(&state)?;
    let q = state.positions().coordinate(coordinate);
    moving.set_coordinate(coordinate, Dual64::new(q, 1.0))?;
    let slope = in_duals.realize_dynamics(&mut moving)?.coordinate_force(coordinate).eps;
    let mut force = |q: f64| {
        state.set_coordinate(coordinate, q)?;
        Ok::<_, Error>(system.realize_dynamics(&mut state)?.coordinate_force(coordinate))
    };
    let difference = (force(q + 1e-5)? - force(q - 1e-5)?) / 2e-5;
    // The square of the step times a third derivative of some thousands.
    assert!((slope - difference).abs() < 1e-5 * slope.abs().max(1.0), "{slope} {difference}");
    assert!(slope.abs() > 1.0);
    Ok(())
}

#[test]
fn a_spline_curve_is_cast_with_the_path() -> Result<(), Error> {
    let mut system = ForceSystem::<f64>::new();
    let coordinate = system.add_coordinate();
    let knots = [(0.0, 0.0), (0.5, 0.4), (1.0, 0.1)].map(|(q, y)| (q, Point3::new(1.0, y, 0.0)));
    let curve = SplineCurve::new(knots)?;
    let point = ViaPoint::moving(BodyIndex::GROUND, coordinate, curve).only_within(coordinate, 0.0..=2.0)?;
    let path = CablePath::new(fixed(0.0, 0.0, 0.0), fixed(2.0, 0.0, 0.0))?.through(point)?;
    let single = path.cast_with(&Casts::<f64, f32>::without_elements())?;
    let (moved, range) = single.via_points().map(|via| (via.curve(), via.range())).next().expect("one");
    assert_eq!(range, Some((coordinate, 0.0..=2.0)));
    let (with, curve) = moved.expect("moving");
    assert_eq!((with, curve.at(0.5).0), (coordinate, Point3::new(1.0, 0.4, 0.0)));
    Ok(())
}

#[test]
fn neighbours_that_move_may_start_from_one_point() -> Result<(), Error> {
    let mut system = ForceSystem::<f64>::new();
    let coordinate = system.add_coordinate();
    let moving = || ViaPoint::<f64>::moving(BodyIndex::GROUND, coordinate, Helix);
    let origin = fixed(0.0, 0.0, 0.0);
    let path = CablePath::new(origin, fixed(1.0, 0.0, 0.0))?.through(moving())?.through(origin)?;
    assert_eq!(path.via_points().count(), 2);
    Ok(())
}

/// The energy of a slider that a cable drives through its moving point alone, and of a body that it pulls.
#[test]
fn the_ledger_of_a_cable_through_a_moving_point_closes() -> Result<(), SimulationError> {
    let mut system = ForceSystem::new();
    let mut plant = Plant::new(Vector3::zeros())?;
    let weight = plant.add_body(&mut system, RigidBody::with_equal_inertia(1.0, 0.1)?);
    let slider = plant.add_coordinate(&mut system, 0.5)?;
    let path = CablePath::new(fixed(-1.5, 0.2, 0.1), Station::on(weight, Point3::new(0.1, 0.0, 0.0)))
        .and_then(|path| path.through(ViaPoint::moving(BodyIndex::GROUND, slider, Helix)))
        .map_err(Error::from)?;
    let law = Parameters { stiffness: STIFFNESS, slack_length: SLACK, dissipation: 0.0 };
    let cable = system.add(CableSpring::new(path, law)?)?;
    let mut state = system.default_state();
    let turned = Rotation3::from_axis_angle(&Vector3::z_axis(), 0.3);
    state.set_pose(weight, Pose::from_parts(Translation3::new(1.8, 0.0, 0.4), turned))?;
    state.set_coordinate(slider, 0.4)?;
    state.set_coordinate_rate(slider, 1.0)?;
    system.reset_dissipated_energy(&mut state)?;
    let mut simulation = Simulation::new(&system, &plant, state)?;
    let energy = |simulation: &mut Simulation<'_, f64>| -> Result<f64, SimulationError> {
        Ok(simulation.kinetic_energy() + simulation.dynamics()?.potential_energy())
    };
    let start = energy(&mut simulation)?;
    let mut rates: Vec<f64> = Vec::new();
    simulation.run(&mut DormandPrince::new(1e-10), 2.0, |simulation| {
        rates.push(simulation.state().velocities().coordinate_rate(slider));
    })?;
    // The error that control allows over some hundreds of steps.
    assert!((energy(&mut simulation)? - start).abs() < 1e-7);
    let dynamics = simulation.dynamics()?;
    assert!(dynamics.of(cable).position.path.length > 0.0);
    assert!(dynamics.dissipated_energy().expect("kept").abs() < 1e-7);
    let (least, most) = rates.iter().fold((f64::MAX, f64::MIN), |(a, b), &u| (a.min(u), b.max(u)));
    assert!(most - least > 2.0, "the slider hardly changes its speed: {least} {most}");
    Ok(())
}

/// Bodies so heavy that only coordinates move.
struct Light(f64);

impl Inertias for Light {
    fn mass(&self, _: BodyIndex) -> f64 {
        1e9
    }

    fn inertia(&self, _: BodyIndex) -> Matrix3<f64> {
        Matrix3::identity() * 1e9
    }

    fn coordinate_mass(&self, _: CoordinateIndex) -> f64 {
        self.0
    }
}

#[test]
fn the_longest_step_is_that_of_the_tension_across_a_moving_point() -> Result<(), Error> {
    const STEP: f64 = 1e-5;
    // The transverse stiffness of two segments of 1 m under 10 kN is 20 kN/m.
    let mut system = ForceSystem::<f64>::new();
    let coordinate = system.add_coordinate();
    let curve = SplineCurve::new([(0.0, Point3::origin()), (1.0, Point3::new(0.0, 1.0, 0.0))])?;
    let path = CablePath::new(fixed(-1.0, 0.0, 0.0), fixed(1.0, 0.0, 0.0))?.through(ViaPoint::moving(
        BodyIndex::GROUND,
        coordinate,
        curve,
    ))?;
    let law = Parameters { stiffness: 1e4, slack_length: 1.0, dissipation: 0.0 };
    system.add(CableSpring::new(path, law)?)?;
    let mut state = system.default_state();
    system.realize_dynamics(&mut state)?;
    let longest = system.stable_step(&state, &Light(0.01), StepMethod::SymplecticEuler, 0.0)?.length;
    let limit = 2.0 * (0.01_f64 / 2e4).sqrt();
    assert!(longest <= limit && longest > 0.5 * limit, "{longest} {limit}");

    // Along a helix, by differences of the force.
    for seed in 0..40 {
        let Rig { system, mut state, coordinate, .. } = rig(seed)?;
        state.set_coordinate_rate(coordinate, 0.0)?;
        for body in system.bodies() {
            state.set_velocity(body, SpatialVelocity::zero())?;
        }
        let q = state.positions().coordinate(coordinate);
        let mut force = |q: f64| -> Result<f64, Error> {
            state.set_coordinate(coordinate, q)?;
            Ok(system.realize_dynamics(&mut state)?.coordinate_force(coordinate))
        };
        let stiffness = (force(q - STEP)? - force(q + STEP)?) / (2.0 * STEP);
        force(q)?;
        let longest = system.stable_step(&state, &Light(1.0), StepMethod::SymplecticEuler, 0.0)?.length;
        // To the error of differences.
        assert!(longest <= 2.0 / stiffness.max(0.0).sqrt() * (1.0 + 1e-6), "{seed}: {longest} {stiffness}");
    }
    Ok(())
}

#[derive(Debug, Clone)]
struct Circle;

impl<T: Real> PointCurve<T> for Circle {
    fn at(&self, q: T) -> (Point3<T>, Vector3<T>) {
        let [x, y] = [q.cos(), q.sin()].map(|x| x * T::lit(0.5));
        (Point3::new(x, y, T::zero()), Vector3::new(-y, x, T::zero()))
    }

    fn second_derivative(&self, q: T) -> Vector3<T> {
        -PointCurve::<T>::at(self, q).0.coords
    }
}

#[test]
fn a_point_that_moves_around_an_obstacle_limits_the_step() -> Result<(), Error> {
    let mut system = ForceSystem::<f64>::new();
    let coordinate = system.add_coordinate();
    let obstacle = Obstacle::new(Frame::ground(Pose::identity()), Cylinder::new(0.1)?)?;
    let path = CablePath::new(fixed(-0.5, 0.05, 0.0), fixed(2.0, 0.0, 0.0))?
        .over(obstacle)
        .through(ViaPoint::moving(BodyIndex::GROUND, coordinate, Circle))?;
    let cable = system.add(CableSpring::new(path, Parameters::default())?)?;
    let mut state = system.default_state();
    state.set_coordinate_rate(coordinate, 40.0)?;
    assert!(system.realize_dynamics(&mut state)?.of(cable).position.path.contacts[0].in_contact);
    let (time, _) = system.passing_time(&state, f64::INFINITY)?;
    // Two radians.
    assert!((time - 0.05).abs() < 1e-12, "{time}");
    Ok(())
}
