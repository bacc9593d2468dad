//! The bushing without a singular orientation: its potential, rates, memory and energy.

use core::f64::consts::TAU;

use force_elements::nalgebra::{Matrix6, Point3, Rotation3, Translation3, UnitQuaternion, Vector3, Vector6};
use force_elements::simulation::{DormandPrince, Integrator, Plant, RigidBody, Simulation};
use force_elements::spatial_bushing::{Curve, CurvePoint, Parameters, Symmetric6};
use force_elements::{
    BodyIndex, Error, ForceSystem, Frame, Handle, LinearBushing, Pose, Refusal, SpatialBushing, SpatialForce,
    SpatialVelocity, State, linear_bushing,
};
use num_dual::Dual64;

use force_elements_scenes::turning::Random;

fn squares(random: &mut Random, size: f64) -> Matrix6<f64> {
    let root = Matrix6::from_fn(|_, _| random.between(-size, size));
    root * root.transpose()
}

/// The force `kx³`.
fn hardening(k: f64) -> Curve<f64> {
    Curve::function(move |x: f64| CurvePoint {
        energy: 0.25 * k * x.powi(4),
        force: k * x.powi(3),
        slope: 3.0 * k * x * x,
    })
}

fn pose(turn: &Vector3<f64>, p: &Vector3<f64>) -> Pose<f64> {
    Pose::from_parts(Translation3::from(*p), Rotation3::new(*turn))
}

/// A bushing between two free bodies.
struct Scene {
    system: ForceSystem<f64>,
    bodies: [BodyIndex; 2],
    bushing: Handle<SpatialBushing<f64>>,
    state: State<f64>,
}

impl Scene {
    fn new(stiffness: &Matrix6<f64>, damping: &Matrix6<f64>) -> Self {
        let mut system = ForceSystem::new();
        let bodies = [system.add_body(), system.add_body()];
        let parameters = Parameters {
            stiffness: Symmetric6::from_matrix(stiffness).expect("semidefinite"),
            damping: Symmetric6::from_matrix(damping).expect("semidefinite"),
        };
        let bushing = SpatialBushing::new(Frame::of(bodies[0]), Frame::of(bodies[1]), parameters);
        let bushing = system.add(bushing.expect("valid")).expect("exists");
        let state = system.default_state();
        Self { system, bodies, bushing, state }
    }

    fn place(&mut self, poses: [Pose<f64>; 2]) {
        for (body, pose) in self.bodies.into_iter().zip(poses) {
            self.state.set_pose(body, pose).expect("finite");
        }
    }

    fn q(&mut self) -> Result<Vector6<f64>, Error> {
        Ok(self.system.realize_position(&mut self.state)?.of(self.bushing).position.q)
    }

    fn forces(&mut self) -> Result<[SpatialForce<f64>; 2], Error> {
        let dynamics = self.system.realize_dynamics(&mut self.state)?.of(self.bushing).dynamics;
        Ok([dynamics.F_GF, dynamics.F_GM])
    }
}

/// `q` from its definition, with the logarithm of a quaternion and a spherical interpolation to half-way.
fn q_by_definition([X_GF, X_GM]: &[Pose<f64>; 2]) -> Vector6<f64> {
    let [F, M] = [X_GF, X_GM].map(|X| UnitQuaternion::from_rotation_matrix(&X.rotation));
    let turn = F.rotation_to(&M);
    let theta = (F.inverse() * turn * F).scaled_axis();
    let half_way = F.slerp(&M, 0.5);
    let x = half_way.inverse() * (X_GM.translation.vector - X_GF.translation.vector);
    Vector6::new(theta.x, theta.y, theta.z, x.x, x.y, x.z)
}

#[test]
fn forces_are_the_slope_of_the_potential_in_the_logarithm_and_the_half_way_frame() {
    const H: f64 = 1e-5;
    let mut random = Random::new(1);
    for case in 0..300 {
        let stiffness = squares(&mut random, 5.0);
        let mut scene = Scene::new(&stiffness, &Matrix6::zeros());
        // Turned by up to 3.1 rad.
        let turn = random.vector(1.0).normalize() * random.between(0.0, 3.1);
        let first = pose(&random.vector(1.5), &random.vector(1.0));
        let poses = [first, first * pose(&turn, &random.vector(0.5))];
        scene.place(poses);
        let q = scene.q().expect("below half a turn");
        assert!((q - q_by_definition(&poses)).amax() < 1e-14 * 100.0, "{case}: {q}");
        let energy = |poses: &[Pose<f64>; 2]| {
            let q = q_by_definition(poses);
            0.5 * q.dot(&(stiffness * q))
        };
        let forces = scene.forces().expect("regular");
        let size = stiffness.norm() * q.norm();
        for (body, force) in forces.iter().enumerate() {
            for axis in 0..6 {
                let moved = |h: f64| {
                    let mut poses = poses;
                    let mut step = [Vector3::zeros(); 2];
                    step[axis / 3][axis % 3] = h;
                    let X = poses[body];
                    poses[body] = Pose::from_parts(
                        Translation3::from(X.translation.vector + step[1]),
                        Rotation3::new(step[0]) * X.rotation,
                    );
                    energy(&poses)
                };
                let slope = (moved(H) - moved(-H)) / (2.0 * H);
                let component = if axis < 3 { force.torque[axis] } else { force.force[axis - 3] };
                // H² times third derivatives, which grow near half a turn as the logarithm's; and roundoff over H.
                assert!(
                    (component + slope).abs() < 1e-8 * size,
                    "{case}, {body}, {axis}: {component} {slope}"
                );
            }
        }
    }
}

#[test]
fn rates_are_those_of_q_on_both_sides_of_half_a_turn() {
    const H: f64 = 1e-5;
    let mut random = Random::new(2);
    for case in 0..200 {
        let mut scene = Scene::new(&Matrix6::identity(), &Matrix6::zeros());
        let axis = random.vector(1.0).normalize();
        let angle = random.between(0.0, 6.0);
        let shift = random.vector(0.5);
        let first = pose(&random.vector(1.5), &random.vector(1.0));
        // There in steps, each remembered.
        for part in 1..=4 {
            let turn = axis * (angle * f64::from(part) / 4.0);
            scene.place([first, first * pose(&turn, &shift)]);
            scene.system.realize_dynamics(&mut scene.state).expect("regular");
            scene.system.accept_step(&mut scene.state).expect("regular");
        }
        let q = scene.q().expect("remembered");
        assert!((q.fixed_rows::<3>(0) - axis * angle).amax() < 1e-13, "{case}: {angle} {q}");
        let poses = [first, first * pose(&(axis * angle), &shift)];
        let velocities = [0, 1].map(|_| SpatialVelocity::new(random.vector(1.0), random.vector(1.0)));
        for (body, V) in scene.bodies.into_iter().zip(velocities) {
            scene.state.set_velocity(body, V).expect("finite");
        }
        let rate =
            scene.system.realize_velocity(&mut scene.state).expect("regular").of(scene.bushing).velocity.qdot;
        let [after, before] = [H, -H].map(|time| {
            let moved = |i: usize| {
                let (X, V): (Pose<f64>, SpatialVelocity<f64>) = (poses[i], velocities[i]);
                Pose::from_parts(
                    Translation3::from(X.translation.vector + V.linear * time),
                    Rotation3::new(V.angular * time) * X.rotation,
                )
            };
            scene.place([moved(0), moved(1)]);
            scene.q().expect("near")
        });
        let slope = (after - before) / (2.0 * H);
        // The rotation vector turns up to 22 times as fast as M at 6 rad, and the error of differences with its cube.
        let growth = 1.0 + (0.5 * angle) / (0.5 * angle).sin();
        assert!((slope - rate).amax() < 1e-9 * growth.powi(3), "{case}, {angle}: {slope} {rate}");
    }
}

#[test]
fn the_bodies_are_alike() {
    let mut random = Random::new(3);
    for _ in 0..100 {
        let (stiffness, damping) = (squares(&mut random, 5.0), squares(&mut random, 1.0));
        let mut scene = Scene::new(&stiffness, &damping);
        let poses = [0, 1].map(|_| pose(&random.vector(0.8), &random.vector(0.3)));
        let velocities = [0, 1].map(|_| SpatialVelocity::new(random.vector(1.0), random.vector(1.0)));
        let mut forces_with = |poses: [Pose<f64>; 2], velocities: [SpatialVelocity<f64>; 2]| {
            scene.place(poses);
            for (body, V) in scene.bodies.into_iter().zip(velocities) {
                scene.state.set_velocity(body, V).expect("finite");
            }
            scene.forces().expect("regular")
        };
        let [on_first, on_second] = forces_with(poses, velocities);
        let [other_second, other_first] = forces_with([poses[1], poses[0]], [velocities[1], velocities[0]]);
        for (a, b) in [(on_first, other_first), (on_second, other_second)] {
            let off = (a.torque - b.torque).amax().max((a.force - b.force).amax());
            // A few units of roundoff of the largest products.
            assert!(off < 1e-13 * stiffness.norm(), "{off}");
        }
    }
}

#[test]
fn for_small_motions_it_agrees_with_the_gimbal_law_to_second_order() {
    let mut random = Random::new(4);
    for _ in 0..50 {
        let stiffness = Vector6::from_fn(|_, _| random.between(1.0, 10.0));
        let damping = Vector6::from_fn(|_, _| random.between(0.1, 1.0));
        let (turn, shift) = (random.vector(1.0), random.vector(1.0));
        let (w, v) = (random.vector(1.0), random.vector(1.0));
        let difference = |size: f64| {
            let mut system = ForceSystem::new();
            let body = system.add_body();
            let ends = || (Frame::ground(Pose::identity()), Frame::of(body));
            let parameters = Parameters {
                stiffness: Symmetric6::from_diagonal(&stiffness),
                damping: Symmetric6::from_diagonal(&damping),
            };
            let spatial = SpatialBushing::new(ends().0, ends().1, parameters).expect("valid");
            let gimbal =
                LinearBushing::new(ends().0, ends().1, linear_bushing::Parameters { stiffness, damping });
            let spatial = system.add(spatial).expect("exists");
            let gimbal = system.add(gimbal.expect("valid")).expect("exists");
            let mut state = system.default_state();
            let V = SpatialVelocity::new(w * size, v * size);
            state.set_body(body, pose(&(turn * size), &(shift * size)), V).expect("finite");
            let view = system.realize_dynamics(&mut state).expect("regular");
            let (a, b) = (view.of(spatial).dynamics.F_GM, view.of(gimbal).dynamics.F_GM);
            (a.torque - b.torque).norm() + (a.force - b.force).norm()
        };
        let [coarse, fine] = [1e-3, 1e-4].map(difference);
        assert!(coarse > 1e-9, "the laws are the same: {coarse}");
        // A hundredth, and third-order terms a thousandth of that.
        assert!((coarse / fine / 100.0 - 1.0).abs() < 0.05, "{coarse} {fine}");
    }
}

#[test]
fn bodies_spun_through_every_attitude_keep_their_energy() {
    const ACCURACY: f64 = 1e-9;
    let mut random = Random::new(5);
    let (mut past_right_angle, mut past_half_turn) = (0, 0);
    for case in 0..90 {
        let mut system = ForceSystem::new();
        let mut plant = Plant::new(Vector3::zeros()).expect("finite");
        let inertia = Vector3::from_fn(|_, _| random.between(0.08, 0.15));
        let inertia = force_elements::nalgebra::Matrix3::from_diagonal(&inertia);
        let body = RigidBody::new(1.0, Point3::origin(), inertia).expect("positive");
        let body = plant.add_body(&mut system, body);
        let mut stiffness = squares(&mut random, 0.4) + Matrix6::from_diagonal_element(0.3);
        stiffness.fixed_view_mut::<3, 3>(3, 3).fill_diagonal(100.0);
        let parameters = Parameters {
            stiffness: Symmetric6::from_matrix(&stiffness).expect("semidefinite"),
            ..Parameters::default()
        };
        let mounted = Pose::from_parts(Translation3::identity(), Rotation3::new(random.vector(1.5)));
        let bushing = SpatialBushing::new(Frame::ground(mounted), Frame::on(body, mounted), parameters);
        let mut bushing = bushing.expect("valid");
        if case % 3 == 2 {
            bushing = bushing.with_curve(1, hardening(0.1)).expect("an axis");
            bushing = bushing.with_curve(4, hardening(1e4)).expect("an axis");
        }
        let bushing = system.add(bushing).expect("exists");
        let mut state = system.default_state();
        let V = SpatialVelocity::new(random.vector(6.0), random.vector(0.3));
        state.set_velocity(body, V).expect("finite");
        system.reset_memory(&mut state, bushing).expect("at rest");
        let mut simulation = Simulation::new(&system, &plant, state).expect("regular");
        let mut integrator = DormandPrince::new(ACCURACY);
        let look = |simulation: &mut Simulation<'_, f64>| {
            let kinetic = simulation.kinetic_energy();
            let view = simulation.dynamics().expect("regular");
            let at = view.of(bushing).position;
            (
                kinetic + view.potential_energy(),
                at.q.fixed_rows::<3>(0).norm(),
                at.X_GM.rotation[(0, 2)].abs(),
            )
        };
        let (energy, ..) = look(&mut simulation);
        let (mut steps, mut furthest) = (0.0, 0.0_f64);
        while simulation.time() < 4.0 {
            if let Err(error) = integrator.step(&mut simulation, 4.0) {
                let turned = error
                    .forces()
                    .is_some_and(|error| matches!(error.own(), Some(Refusal::WholeTurn { .. })));
                assert!(turned && furthest > 5.0, "{case}: {error} after {furthest} rad");
                break;
            }
            steps += 1.0;
            let (now, angle, _) = look(&mut simulation);
            furthest = furthest.max(angle);
            // Each step holds each velocity to the accuracy, relative to 1 + velocity; energies of six axes.
            let allowed = 12.0 * ACCURACY * steps * (1.0 + energy);
            assert!((now - energy).abs() < allowed, "{case}: {} J after {furthest} rad", now - energy);
        }
        past_right_angle += i32::from(furthest > 1.8);
        past_half_turn += i32::from(furthest > 3.3);
    }
    assert!(past_right_angle > 30 && past_half_turn > 5, "{past_right_angle} {past_half_turn}");
}

#[test]
fn whole_turns_and_long_steps_are_refused() {
    let mut scene = Scene::new(&Matrix6::identity(), &Matrix6::zeros());
    let axis = Vector3::new(0.3, -0.5, 0.7).normalize();
    let mut accept_at = |angle: f64| {
        scene.place([Pose::identity(), pose(&(axis * angle), &Vector3::zeros())]);
        scene.system.realize_dynamics(&mut scene.state)?;
        scene.system.accept_step(&mut scene.state)
    };
    // Nothing is remembered yet.
    accept_at(-3.1).expect("any turn");
    accept_at(0.0).expect_err("3.1 rad");
    for angle in [-3.5, -5.0, -6.2] {
        accept_at(angle).expect("up to a whole turn");
    }
    let error = accept_at(-6.27).expect_err("a whole turn");
    assert!(
        matches!(error.own(), Some(Refusal::WholeTurn { angle }) if (angle - 6.27).abs() < 1e-9),
        "{error}"
    );
    // Past it in one step: a shorter one would not help.
    for angle in [-6.4, -7.0, -8.0, -9.0] {
        let error = accept_at(angle).expect_err("beyond");
        assert_eq!(error.own(), Some(&Refusal::WholeTurn { angle: TAU }), "{angle}: {error}");
    }
    accept_at(-6.0).expect("back");
}

/// Beside a whole turn the axis turns faster than M. There a shorter step does help.
#[test]
fn a_step_round_a_whole_turn_is_refused_until_it_is_short_enough() {
    let mut scene = Scene::new(&Matrix6::identity(), &Matrix6::zeros());
    let mut accept_at = |turn: &Vector3<f64>| {
        scene.place([Pose::identity(), pose(turn, &Vector3::zeros())]);
        scene.system.realize_dynamics(&mut scene.state)?;
        scene.system.accept_step(&mut scene.state)
    };
    let direction = |angle: f64| Vector3::new(angle.cos(), angle.sin(), 0.0);
    for angle in [2.0, 4.0, 5.5] {
        accept_at(&(direction(0.0) * angle)).expect("below a whole turn");
    }
    let error = accept_at(&(direction(1.6) * 5.5)).expect_err("a quarter of the way round");
    assert!(matches!(error.own(), Some(Refusal::AmbiguousTurn { .. })), "{error}");
    for angle in [0.8, 1.6, 2.4, 3.2] {
        accept_at(&(direction(angle) * 5.5)).expect("a shorter step");
    }
}

/// Orientations alone do not tell a turn of more than half a turn from the rest of a whole one the other way.
#[test]
fn a_turn_within_one_step_is_taken_the_shortest_way() -> Result<(), Error> {
    for (turned, taken) in [(2.99, Some(2.99)), (3.01, None), (3.27, None), (3.29, Some(3.29 - TAU))] {
        let mut scene = Scene::new(&Matrix6::identity(), &Matrix6::zeros());
        scene.place([Pose::identity(), Pose::identity()]);
        scene.system.realize_dynamics(&mut scene.state)?;
        scene.system.accept_step(&mut scene.state)?;
        scene.place([Pose::identity(), pose(&(Vector3::y() * turned), &Vector3::zeros())]);
        match (scene.system.realize_dynamics(&mut scene.state), taken) {
            (Ok(view), Some(taken)) => {
                let found = view.of(scene.bushing).position.q[1];
                assert!((found - taken).abs() < 1e-12, "{turned}: {found}");
            }
            (Err(error), None) => {
                assert!(matches!(error.own(), Some(Refusal::AmbiguousTurn { .. })), "{turned}: {error}");
            }
            (_, taken) => panic!("{turned}: {taken:?} expected"),
        }
    }
    Ok(())
}

/// At the reference pose the derivative of the force is the stiffness, and nothing is divided by zero.
#[test]
fn at_rest_the_exact_stiffness_is_that_of_the_matrix() -> Result<(), Error> {
    let stiffness = squares(&mut Random::new(6), 5.0);
    for column in 0..6 {
        let mut system = ForceSystem::<Dual64>::new();
        let body = system.add_body();
        let matrix = stiffness.map(Dual64::from);
        let parameters = Parameters {
            stiffness: Symmetric6::from_matrix(&matrix).expect("semidefinite"),
            ..Parameters::default()
        };
        let ground = Frame::ground(Pose::identity());
        let bushing = system.add(SpatialBushing::new(ground, Frame::of(body), parameters)?)?;
        let mut state = system.default_state();
        let mut step = Vector6::from_element(Dual64::from(0.0));
        step[column].eps = 1.0;
        let turn = Rotation3::from_matrix_unchecked(
            force_elements::nalgebra::Matrix3::identity()
                + Vector3::new(step[0], step[1], step[2]).cross_matrix(),
        );
        state.set_pose(body, Pose::from_parts(Translation3::new(step[3], step[4], step[5]), turn))?;
        let force = system.realize_dynamics(&mut state)?.of(bushing).dynamics.F_GM;
        for row in 0..6 {
            let component = if row < 3 { force.torque[row] } else { force.force[row - 3] };
            assert!((component.eps + stiffness[(row, column)]).abs() < 1e-13, "{row} {column}: {component}");
        }
    }
    Ok(())
}

#[test]
fn a_curve_whose_slopes_overflow_or_whose_points_merge_in_another_scalar_is_refused() {
    let overflowing = Curve::new(&[(-1.0, -1e308), (1.0, 1e308)]).map(|_| ());
    assert_eq!(overflowing.map_err(|value| value.name), Err("curve.slope"));
    for points in [[(-1.0, -1e39), (0.0, 0.0), (1.0, 1e39)], [(0.0, 0.0), (1.0, 1.0), (1.0 + 1e-9, 5.0)]] {
        let mut scene = Scene::new(&Matrix6::identity(), &Matrix6::zeros());
        let curve = Curve::new(&points).expect("regular");
        let cast = curve.cast::<Dual64>().expect("the same numbers");
        let (force, expected) = (cast.at(Dual64::from(0.5)).force.re, curve.at(0.5).force);
        // Some roundings, of a division by a multiplication.
        assert!((force / expected - 1.0).abs() < 1e-14, "{force} {expected}");
        let bushing = scene.system.element(scene.bushing).clone().with_curve(3, curve).expect("an axis");
        scene.system.add(bushing).expect("exists");
        let refused = scene.system.cast::<f32>().map(|_| ());
        assert!(matches!(refused, Err(Error::Element { .. })), "{refused:?}");
    }
}
