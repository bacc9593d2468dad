//! Stiffness and damping reported by the elements, against the exact slopes of their forces.

use force_elements::nalgebra::{DMatrix, Matrix3, Rotation3, Translation3, Vector3};
use force_elements::testing::{Numbers, Scene, Subject};
use force_elements::{
    BodyIndex, CoordinateIndex, ElasticFoundation, Error, ExponentialSpring, ForceSystem, Inertias, Pose,
    Real, SpatialVelocity, State, StepMethod,
};
use force_elements_scenes::is_at_length;
use num_dual::Dual64;

use crate::element_contract::hertz::{BallOnBall, BallOnPlane};
use crate::element_contract::meshes::{AnchoredBrick, AnchoredClippedBrick};
use crate::element_contract::scene::{
    Bushing, Cable, Capstan, Coordinate, CoupledBushing, ReturnMappedSpring, SmoothlyStopped, Spring,
};

/// The same masses for all.
struct Alike {
    mass: f64,
    inertia: f64,
}

impl Inertias for Alike {
    fn mass(&self, _: BodyIndex) -> f64 {
        self.mass
    }
    fn inertia(&self, _: BodyIndex) -> Matrix3<f64> {
        Matrix3::from_diagonal_element(self.inertia)
    }
    fn coordinate_mass(&self, _: CoordinateIndex) -> f64 {
        self.mass
    }
}

/// One of the six motions of a body about its origin, or of a coordinate.
#[derive(Clone, Copy)]
enum Motion {
    Body(BodyIndex, usize),
    Coordinate(CoordinateIndex),
}

fn motions(system: &ForceSystem<Dual64>) -> Vec<Motion> {
    let of_bodies = system.bodies().flat_map(|body| (0..6).map(move |axis| Motion::Body(body, axis)));
    of_bodies.chain(system.coordinates().map(Motion::Coordinate)).collect()
}

/// Adds a derivative of one along a motion, to positions or to velocities.
fn perturb(state: &mut State<Dual64>, motion: Motion, moves: bool) {
    let unit = Dual64::new(0.0, 1.0);
    match motion {
        Motion::Coordinate(c) => {
            let (q, u) = (state.positions().coordinate(c), state.velocities().coordinate_rate(c));
            if moves {
                state.set_coordinate(c, q + unit).expect("finite");
            } else {
                state.set_coordinate_rate(c, u + unit).expect("finite");
            }
        }
        Motion::Body(body, axis) => {
            let (pose, velocity) = (*state.positions().pose(body), *state.velocities().velocity(body));
            let along = Vector3::ith(axis % 3, unit);
            let (turn, shift) = if axis < 3 { (along, Vector3::zeros()) } else { (Vector3::zeros(), along) };
            if moves {
                let turned = turn.cross_matrix() * pose.rotation.matrix() + pose.rotation.matrix();
                let rotation = Rotation3::from_matrix_unchecked(turned);
                let moved = Translation3::from(pose.translation.vector + shift);
                state.set_body(body, Pose::from_parts(moved, rotation), velocity).expect("finite");
            } else {
                let faster = SpatialVelocity::new(velocity.angular + turn, velocity.linear + shift);
                state.set_body(body, pose, faster).expect("finite");
            }
        }
    }
}

/// A scene whose bodies rest, if they are to: the forces of some elements depend on products of positions and velocities,
/// for which there is no bound without a bound on the velocities.
fn scene<S: Subject, T: Real>(seed: u64, rests: bool) -> Scene<T, S::Element<T>> {
    let mut scene = S::scene::<T>(&mut Numbers::new(seed)).expect("valid");
    for body in scene.system.bodies() {
        if rests {
            let pose = *scene.state.positions().pose(body);
            scene.state.set_body(body, pose, SpatialVelocity::zero()).expect("finite");
        }
    }
    scene
}

/// Minus the slopes of all forces over positions, or over velocities.
fn slopes<S: Subject>(seed: u64, rests: bool, moves: bool) -> DMatrix<f64> {
    let Scene { system, state, .. } = scene::<S, Dual64>(seed, rests);
    let all = motions(&system);
    let mut slopes = DMatrix::zeros(all.len(), all.len());
    for (j, &motion) in all.iter().enumerate() {
        let mut state = state.clone();
        perturb(&mut state, motion, moves);
        let view = system.realize_dynamics(&mut state).expect("regular");
        for (i, &felt) in all.iter().enumerate() {
            let force = match felt {
                Motion::Coordinate(c) => view.coordinate_force(c),
                Motion::Body(body, axis) if axis < 3 => view.body_force(body).torque[axis],
                Motion::Body(body, axis) => view.body_force(body).force[axis - 3],
            };
            slopes[(i, j)] = -force.eps;
        }
    }
    slopes
}

/// At the longest stable step `h`, `½hC + ¼h²K ≤ M`; returns the largest eigenvalue of the former over the latter.
fn reached<S: Subject>(seed: u64, rests: bool) -> f64 {
    let Scene { system, mut state, .. } = scene::<S, f64>(seed, rests);
    let inertias = Alike { mass: 2.0, inertia: 0.3 };
    system.realize_dynamics(&mut state).expect("regular");
    let h = system.stable_step(&state, &inertias, StepMethod::SymplecticEuler, 0.0).expect("valid").length;
    refuses_longer_steps(&system, &mut state, &inertias, h);
    let [stiffness, damping] = [true, false].map(|moves| slopes::<S>(seed, rests, moves));
    let Scene { system, .. } = scene::<S, Dual64>(seed, rests);
    let scales: Vec<f64> = motions(&system)
        .iter()
        .map(|motion| match motion {
            Motion::Body(_, axis) if *axis < 3 => inertias.inertia.sqrt().recip(),
            _ => inertias.mass.sqrt().recip(),
        })
        .collect();
    let sum = damping * (0.5 * h) + stiffness * (0.25 * h * h);
    let scaled = DMatrix::from_fn(sum.nrows(), sum.ncols(), |i, j| {
        0.5 * (sum[(i, j)] + sum[(j, i)]) * scales[i] * scales[j]
    });
    scaled.symmetric_eigenvalues().max()
}

/// A step is refused if it is longer than the stable one, which may be longer than `shortest` since friction does not count.
/// How far it is from that does not matter, to roundoff.
fn refuses_longer_steps(system: &ForceSystem<f64>, state: &mut State<f64>, inertias: &Alike, shortest: f64) {
    // Bushings and cables must not turn too far either.
    let (turning, _) = system.passing_time(state, 1e6).expect("realized");
    let mut longest = |step: f64| match system.check_step(state, inertias, StepMethod::SymplecticEuler, step)
    {
        Err(Error::StepTooLong { longest, .. }) => Some(longest),
        outcome => outcome.map(|()| None).expect("no other error"),
    };
    // No bound of these elements is as long.
    let Some(bound) = longest(1e6) else { return };
    assert!(bound >= shortest.min(turning), "{bound} {shortest} {turning}");
    for factor in [1.0 + 1e-12, 1.1, 2.0, 10.0] {
        assert_eq!(longest(bound * factor), Some(bound));
        assert_eq!(longest(bound / factor), None);
    }
}

fn is_bound<S: Subject>(rests: bool, least: f64) {
    let scenes: u32 = if is_at_length() { 200 } else { 20 };
    let all: Vec<f64> = (0..scenes).map(|seed| reached::<S>(seed.into(), rests)).collect();
    let worst = all.iter().copied().fold(0.0, f64::max);
    // To roundoff of the sums.
    assert!(worst <= 1.0 + 1e-12, "{}: {worst}", core::any::type_name::<S>());
    let mean = all.iter().sum::<f64>() / f64::from(scenes);
    assert!(mean > least, "so cautious that it is of little use: {mean} of 1 on average");
}

#[test]
fn bushings_are_no_stiffer_than_they_report() {
    is_bound::<Bushing>(false, 0.2);
    is_bound::<CoupledBushing>(false, 0.05);
}

#[test]
fn cables_are_no_stiffer_than_they_report() {
    is_bound::<Cable>(true, 0.2);
    is_bound::<Capstan<true>>(true, 0.2);
    is_bound::<Capstan<false>>(true, 0.2);
}

#[test]
fn coordinate_elements_are_no_stiffer_than_they_report() {
    is_bound::<Coordinate<false>>(false, 0.2);
    is_bound::<Coordinate<true>>(false, 0.01);
    is_bound::<SmoothlyStopped>(false, 0.01);
}

#[test]
fn hertz_contacts_are_no_stiffer_than_they_report() {
    is_bound::<BallOnBall>(true, 0.2);
    is_bound::<BallOnPlane>(true, 0.2);
}

/// A subject whose friction outweighs its normal forces.
macro_rules! held_along {
    ($name:ident: $element:ident as $subject:ident, $update:expr) => {
        struct $name;

        impl Subject for $name {
            type Element<T: Real> = $element<T>;

            fn scene<T: Real>(deal: &mut Numbers) -> Result<Scene<T, $element<T>>, Error> {
                let mut scene = $subject::scene::<T>(deal)?;
                scene.system.update_parameters(&mut scene.state, scene.element, $update)?;
                Ok(scene)
            }
        }
    };
}

held_along!(HeldSpring: ExponentialSpring as ReturnMappedSpring, |p| {
    p.d1 *= T::lit(1e-4);
    p.set_mu_static(T::lit(1e6));
});

held_along!(HeldBrick: ElasticFoundation as AnchoredBrick, |p| {
    for rubber in p.materials.iter_mut().flatten() {
        *rubber = rubber
            .with_friction(T::lit(1e6), T::lit(1e6), T::zero())
            .with_grip(rubber.stiffness * T::lit(30.0), rubber.stiffness);
    }
});

#[test]
fn exponential_springs_are_no_stiffer_than_they_report() {
    is_bound::<Spring>(true, 0.8);
    is_bound::<ReturnMappedSpring>(true, 0.8);
    is_bound::<HeldSpring>(true, 0.9);
}

#[test]
fn foundations_with_anchors_are_no_stiffer_than_they_report() {
    is_bound::<AnchoredBrick>(true, 0.2);
    is_bound::<AnchoredClippedBrick>(true, 0.2);
    is_bound::<HeldBrick>(true, 0.5);
}

/// A station that touches strikes at its own speed, as at one that the host states; one that does not touch strikes only at that.
#[test]
fn an_exponential_spring_reports_the_speed_at_which_it_is_struck() -> Result<(), Error> {
    let length = |height: f64, speed: f64, impact_speed: f64| -> Result<f64, Error> {
        let mut system = ForceSystem::new();
        let body = system.add_body();
        system.add(force_elements_scenes::machine::spring::<f64>(body)?)?;
        let mut state = system.default_state();
        // Its station is 0.31 m below the origin of the body.
        let pose = Pose::translation(0.0, 0.0, 0.31 + height);
        state.set_body(body, pose, SpatialVelocity::new(Vector3::zeros(), Vector3::z() * -speed))?;
        system.realize_dynamics(&mut state)?;
        let (inertias, method) = (Alike { mass: 2.0, inertia: 0.3 }, StepMethod::SymplecticEuler);
        Ok(system.stable_step(&state, &inertias, method, impact_speed)?.length)
    };
    assert_eq!(length(0.0, 2.0, 0.0)?, length(0.0, 2.0, 2.0)?);
    assert!(length(0.0, 2.0, 0.0)? < 0.8 * length(0.0, 0.0, 0.0)?);
    // Twenty centimetres are a hundred decay lengths.
    assert!(length(0.2, 2.0, 0.0)? > 1e6 && length(0.2, 2.0, 2.0)? < 0.1);
    Ok(())
}
