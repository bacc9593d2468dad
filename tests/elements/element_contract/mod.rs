//! The contract of every element, whatever its law.

use approx::assert_relative_eq;
use force_elements::nalgebra::Vector3;
use force_elements::{
    BodyIndex, CoordinateIndex, DynamicsView, ForceElement, ForceSystem, Forces, Pose, SpatialForce,
    SpatialVelocity, State,
};
use num_dual::Dual64;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

mod meshes;
mod refusals;
mod scene;

use meshes::{SoftBrickAndBall, SoftTorus};
use scene::{
    BODY1, BODY2, BodyElement, Bushing, Cable, Deal, ReturnMappedSpring, Scene, Spring, coordinate_scene,
    moved, numbers,
};

/// The same cases in every run.
fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 200,
        rng_seed: RngSeed::Fixed(0x5eed),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Sizes of the torques and forces of a scene, to compare rounding errors with.
fn size(view: &DynamicsView<'_, f64>) -> f64 {
    let forces = view.forces();
    let bodies: f64 = forces.bodies().iter().map(|F| F.force.norm() + F.torque.norm()).sum();
    bodies + forces.coordinates().iter().map(|f| f.abs()).sum::<f64>()
}

fn forces_and_moments_sum_to_zero<B: BodyElement>(numbers: &[f64]) {
    let Scene { system, mut state, .. } = B::scene::<f64>(numbers);
    let view = system.realize_dynamics(&mut state).expect("regular");
    let mut sum = SpatialForce::zero();
    for body in [BodyIndex::GROUND, BODY1, BODY2] {
        sum += view.body_force(body).shifted(-view.pose(body).translation.vector);
    }
    let scale = size(&view);
    assert!(scale > 1e-3, "the scene is dead");
    // A few dozen operations on numbers of this size.
    assert!(sum.force.norm() + sum.torque.norm() < 1e-13 * scale, "{sum:?} of {scale}");
}

fn moving_everything_changes_nothing<B: BodyElement>(numbers: &[f64]) {
    let Scene { system, mut state, element } = B::scene::<f64>(numbers);
    let view = system.realize_dynamics(&mut state).expect("regular");
    let before = [BODY1, BODY2].map(|body| view.body_force(body));
    let energy = view.potential_energy_of(element).expect("own handle");
    let power = view.power_dissipated_of(element).expect("own handle");
    let scale = size(&view);

    let mut deal = Deal::new(&numbers[50..]);
    let X: Pose<f64> = deal.pose(1.5, 1.0);
    // A common velocity field: what a moving observer sees.
    let V = SpatialVelocity::new(deal.vector(0.5), Vector3::new(0.3, -0.2, 0.4));
    for body in [BODY1, BODY2] {
        let (X_GB, V_GB) = (*state.positions().pose(body), *state.velocities().velocity(body));
        let (X_GB, V_GB) = (X * X_GB, V_GB.rotated(&X.rotation));
        let common = V.shifted(X_GB.translation.vector);
        let V_GB = SpatialVelocity::new(V_GB.angular + common.angular, V_GB.linear + common.linear);
        state.set_body(body, X_GB, V_GB).expect("finite");
    }
    let view = system.realize_dynamics(&mut state).expect("regular");
    // Positions of order 1 m are rounded to 1e-16 m; the stiffest force here changes by 5e-5 of
    // itself per 1e-8 m, so forces agree to about 1e-11 of their size.
    let tolerance = 1e-10;
    for (before, body) in before.into_iter().zip([BODY1, BODY2]) {
        let off = view.body_force(body) + -before.rotated(&X.rotation);
        assert!(off.force.norm() + off.torque.norm() < tolerance * scale);
    }
    assert_relative_eq!(
        view.potential_energy_of(element).expect("own handle"),
        energy,
        max_relative = tolerance
    );
    assert_relative_eq!(
        view.power_dissipated_of(element).expect("own handle"),
        power,
        max_relative = 1e-9,
        epsilon = 1e-12
    );
}

/// The rate of change of the stored energy along the motion, exactly, by a dual number.
fn energy_rate<B: BodyElement>(numbers: &[f64]) -> f64 {
    let Scene { system, mut state, element } = B::scene::<Dual64>(numbers);
    move_along(&mut state);
    system
        .realize_dynamics(&mut state)
        .expect("regular")
        .potential_energy_of(element)
        .expect("own handle")
        .eps
}

/// Gives the poses the derivative that the velocities are.
fn move_along(state: &mut State<Dual64>) {
    let time = Dual64::new(0.0, 1.0);
    for body in [BODY1, BODY2] {
        let X = moved(state.positions().pose(body), state.velocities().velocity(body), time);
        state.set_pose(body, X).expect("finite");
    }
}

fn work_is_stored_or_lost<B: BodyElement>(numbers: &[f64]) {
    let Scene { system, mut state, element } = B::scene::<f64>(numbers);
    let view = system.realize_dynamics(&mut state).expect("regular");
    let power: f64 = [BODY1, BODY2].iter().map(|&b| view.velocity(b).power(&view.body_force(b))).sum();
    let (stored, lost) = (energy_rate::<B>(numbers), view.power_dissipated_of(element).expect("own handle"));
    assert!(view.potential_energy_of(element).expect("own handle") >= 0.0 && lost >= 0.0);
    assert!(stored.abs() > 1e-6 && lost > 1e-9, "the motion is trivial: {stored} W, {lost} W");
    let scale = [BODY1, BODY2].iter().map(|&b| view.body_force(b).force.norm() * 4.0).sum::<f64>();
    // Powers are sums of products of forces and velocities of up to 4 m/s that cancel.
    assert!((power + stored + lost).abs() < 1e-11 * (scale + stored.abs()), "{power} {stored} {lost}");
    assert_relative_eq!(view.power_absorbed()[0], -power, max_relative = 1e-12, epsilon = 1e-11 * scale);
}

fn at_rest_force_is_minus_the_gradient_of_energy<B: BodyElement>(numbers: &[f64]) {
    for axis in 0..12 {
        let probe = |sign: f64| {
            let mut V = [SpatialVelocity::<f64>::zero(); 2];
            let target = &mut V[axis / 6];
            if axis % 6 < 3 {
                target.angular[axis % 3] = sign;
            } else {
                target.linear[axis % 3] = sign;
            }
            V
        };
        let Scene { system, mut state, element } = B::scene::<Dual64>(numbers);
        let time = Dual64::new(0.0, 1.0);
        for (body, V) in [BODY1, BODY2].into_iter().zip(probe(1.0)) {
            let X = moved(state.positions().pose(body), &V.cast(), time);
            state.set_body(body, X, SpatialVelocity::zero()).expect("finite");
        }
        let view = system.realize_dynamics(&mut state).expect("regular");
        let slope = view.potential_energy_of(element).expect("own handle").eps;
        let force: f64 = [BODY1, BODY2]
            .into_iter()
            .zip(probe(1.0))
            .map(|(b, V)| {
                let F = view.body_force(b);
                V.power(&SpatialForce::new(F.torque.map(|x| x.re), F.force.map(|x| x.re)))
            })
            .sum();
        let scale = view.body_force(BODY2).force.norm().re + view.body_force(BODY2).torque.norm().re;
        // Both are exact; lever arms of order one multiply rounding.
        assert!((force + slope).abs() < 1e-12 * scale.max(1.0), "axis {axis}: {force} {slope}");
    }
}

fn single_precision_agrees<B: BodyElement>(numbers: &[f64]) {
    let (double, single) = (B::scene::<f64>(numbers), B::scene::<f32>(numbers));
    let (mut state64, mut state32) = (double.state, single.state);
    let view64 = double.system.realize_dynamics(&mut state64).expect("regular");
    let view32 = single.system.realize_dynamics(&mut state32).expect("regular");
    let scale = size(&view64);
    for body in [BODY1, BODY2] {
        let off = view64.body_force(body) + -view32.body_force(body).cast();
        // 1e-7 m of rounding in the pose of a station moves a friction spring of 5e4 N/m by 5e-3 N
        // and an exponential of 1150 /m by 1e-4 of itself.
        assert!(off.force.norm() + off.torque.norm() < 1e-3 * scale, "{off:?} of {scale}");
    }
}

fn derivatives_agree_with_differences<B: BodyElement>(numbers: &[f64]) {
    let Scene { system, mut state, .. } = B::scene::<Dual64>(numbers);
    move_along(&mut state);
    let view = system.realize_dynamics(&mut state).expect("regular");
    let h = 1e-6;
    let forces_after = |time: f64| {
        let Scene { system, mut state, .. } = B::scene::<f64>(numbers);
        for body in [BODY1, BODY2] {
            let X = moved(state.positions().pose(body), state.velocities().velocity(body), time);
            state.set_pose(body, X).expect("finite");
        }
        let view = system.realize_dynamics(&mut state).expect("regular");
        (view.body_force(BODY2), size(&view))
    };
    let [before, now, after] = [-h, 0.0, h].map(|time| forces_after(time).0.force);
    let (slope, sides) = ((after - before) / (2.0 * h), [(now - before) / h, (after - now) / h]);
    let exact = view.body_force(BODY2).force.map(|x| x.eps);
    let size = exact.norm().max(forces_after(0.0).1);
    // Rounding in a difference over 2e-6 of forces that change by up to 2300 times their size a
    // second, and a truncation of (2300·1e-6)²/6 of that. Where a kink lies between (a spring that touches, a
    // nearest face that changes) the derivative is that of one side, and the truncation 2300·1e-6/2.
    let is_smooth = (slope - exact).norm() < 1e-5 * size;
    let is_one_sided = sides.iter().any(|side| (side - exact).norm() < 1.2e-3 * size);
    assert!(is_smooth || (is_one_sided && (sides[0] - sides[1]).norm() > 2e-5 * size), "{slope} {exact}");
}

fn an_evaluation_leaves_no_trace<B: BodyElement>(numbers: &[f64]) {
    let Scene { system, mut state, element } = B::scene::<f64>(numbers);
    let saved = state.snapshot();
    let first = system.realize_dynamics(&mut state).expect("regular").forces().clone();
    // A trial elsewhere, as an integrator makes it, and back.
    let X = *state.positions().pose(BODY2);
    state.set_pose(BODY2, X * Pose::translation(0.01, 0.0, 0.02)).expect("finite");
    system.realize_dynamics(&mut state).expect("regular");
    state.set_pose(BODY2, X).expect("finite");
    let again = system.realize_dynamics(&mut state).expect("regular").forces().clone();
    assert_eq!(first, again, "the same state gives the same bits");
    assert_eq!(saved, state.snapshot());
    assert!(system.dynamics_view(&state).expect("realized").try_of(element).is_ok());
}

/// Forces, energies and powers of a state that was made anew with the variables and the motion of another.
fn of_a_fresh_state(system: &ForceSystem<f64>, state: &State<f64>) -> (Forces<f64>, [f64; 2], Vec<f64>) {
    let mut fresh = system.default_state();
    fresh.restore(&state.snapshot()).expect("its own");
    for body in (1..system.topology().body_count).map(BodyIndex::new) {
        let (X, V) = (*state.positions().pose(body), *state.velocities().velocity(body));
        fresh.set_body(body, X, V).expect("finite");
    }
    for c in (0..system.topology().coordinate_count).map(CoordinateIndex::new) {
        let (q, u) = (state.positions().coordinate(c), state.velocities().coordinate_rate(c));
        fresh.set_coordinate(c, q).expect("finite");
        fresh.set_coordinate_rate(c, u).expect("finite");
    }
    results(system, &mut fresh)
}

fn results(system: &ForceSystem<f64>, state: &mut State<f64>) -> (Forces<f64>, [f64; 2], Vec<f64>) {
    let view = system.realize_dynamics(state).expect("regular");
    let totals = [view.potential_energy(), view.power_dissipated()];
    (view.forces().clone(), totals, view.power_absorbed().to_vec())
}

/// Writes of every kind in a random order, each to another value: none may leave results behind.
fn every_evaluation_is_that_of_a_fresh_state<E: ForceElement<f64>>(
    Scene { system, mut state, element }: Scene<f64, E>,
    numbers: &[f64],
) {
    let mut deal = Deal::new(&numbers[40..]);
    let names = state.variable_names();
    for step in 0..12 {
        let dice: f64 = deal.between(0.0, 12.0);
        match (1..12_u8).take_while(|&side| f64::from(side) <= dice).count() {
            0 => state.set_time(state.time() + 0.01).expect("finite"),
            1 => {
                for body in (1..system.topology().body_count).map(BodyIndex::new) {
                    let X = *state.positions().pose(body);
                    state.set_pose(body, Pose::translation(1e-4, 0.0, 2e-4) * X).expect("finite");
                }
            }
            2 => {
                for body in (1..system.topology().body_count).map(BodyIndex::new) {
                    let V = *state.velocities().velocity(body);
                    state.set_velocity(body, V.shifted(Vector3::x())).expect("finite");
                }
            }
            3 => {
                for c in (0..system.topology().coordinate_count).map(CoordinateIndex::new) {
                    let q = state.positions().coordinate(c);
                    state.set_coordinate(c, q + 1e-4).expect("finite");
                    state.set_coordinate_rate(c, 0.5 - q).expect("finite");
                }
            }
            4 | 5 => {
                // Whatever is a number of its own: entries of rotations and flags refuse.
                let name = &names[step * names.len() / 12];
                let value = state.variable(name).expect("named");
                let _ = system.set_variable(&mut state, name, 1.01 * value);
            }
            6 => system.set_enabled(&mut state, element, false).expect("own handle"),
            7 | 8 => system.set_enabled(&mut state, element, true).expect("own handle"),
            _ => {
                state.set_time(state.time() + 0.01).expect("finite");
                system.realize_dynamics(&mut state).expect("regular");
                system.accept_step(&mut state).expect("time has passed");
            }
        }
        if deal.number() > 0.0 {
            assert_eq!(of_a_fresh_state(&system, &state), results(&system, &mut state), "after write {step}");
        }
    }
    assert_eq!(of_a_fresh_state(&system, &state), results(&system, &mut state));
}

/// The claims that hold for every element between two bodies.
macro_rules! body_element_claims {
    ($module:ident, $kind:ty) => {
        mod $module {
            use super::*;
            proptest! {
                #![proptest_config(config())]
                #[test]
                fn third_law(numbers in numbers()) { forces_and_moments_sum_to_zero::<$kind>(&numbers); }
                #[test]
                fn frame_invariance(numbers in numbers()) { moving_everything_changes_nothing::<$kind>(&numbers); }
                #[test]
                fn power_balance(numbers in numbers()) { work_is_stored_or_lost::<$kind>(&numbers); }
                #[test]
                fn conservative_at_rest(numbers in numbers()) {
                    at_rest_force_is_minus_the_gradient_of_energy::<$kind>(&numbers);
                }
                #[test]
                fn single_precision(numbers in numbers()) { single_precision_agrees::<$kind>(&numbers); }
                #[test]
                fn exact_derivatives(numbers in numbers()) { derivatives_agree_with_differences::<$kind>(&numbers); }
                #[test]
                fn purity(numbers in numbers()) { an_evaluation_leaves_no_trace::<$kind>(&numbers); }
                #[test]
                fn as_in_a_fresh_state(numbers in numbers()) {
                    every_evaluation_is_that_of_a_fresh_state(<$kind>::scene::<f64>(&numbers), &numbers);
                }
            }
        }
    };
}

body_element_claims!(linear_bushing, Bushing);
body_element_claims!(cable_spring, Cable);
body_element_claims!(exponential_spring, Spring);
body_element_claims!(return_mapped_exponential_spring, ReturnMappedSpring);
body_element_claims!(elastic_foundation_in_ellipsoid, SoftTorus);
body_element_claims!(elastic_foundation_on_its_like, SoftBrickAndBall);

mod coordinate_spring_damper_ext {
    use super::*;

    const SIDES: [CoordinateIndex; 2] = [CoordinateIndex::new(0), CoordinateIndex::new(1)];

    /// Gives the coordinates the derivative that their rates are.
    fn move_along(state: &mut State<Dual64>) {
        for c in SIDES {
            let (q, u) = (state.positions().coordinate(c), state.velocities().coordinate_rate(c));
            state.set_coordinate(c, q + u * Dual64::new(0.0, 1.0)).expect("finite");
        }
    }

    proptest! {
        #![proptest_config(config())]

        #[test]
        fn as_in_a_fresh_state(numbers in numbers(), slips: bool) {
            every_evaluation_is_that_of_a_fresh_state(coordinate_scene::<f64>(&numbers, slips), &numbers);
        }

        #[test]
        fn forces_are_those_of_the_virtual_work(numbers in numbers(), slips: bool) {
            let Scene { system, mut state, element } = coordinate_scene::<f64>(&numbers, slips);
            let view = system.realize_dynamics(&mut state).expect("regular");
            let at = view.of(element);
            let power: f64 = SIDES.iter().map(|&c| view.coordinate_force(c) * view.coordinate_rate(c)).sum();
            let scale = at.dynamics.force.abs() * 4.0;
            assert_relative_eq!(power, -at.dynamics.force * at.velocity.velocity, epsilon = 1e-13 * scale);
        }

        #[test]
        fn power_balance(numbers in numbers(), slips: bool) {
            let Scene { system, mut state, element } = coordinate_scene::<f64>(&numbers, slips);
            let view = system.realize_dynamics(&mut state).expect("regular");
            let at = view.of(element);
            let power: f64 = SIDES.iter().map(|&c| view.coordinate_force(c) * view.coordinate_rate(c)).sum();
            let (lost, supplied) = (view.power_dissipated_of(element).expect("own handle"), at.dynamics.power_supplied);
            assert!(at.dynamics.potential_energy >= 0.0 && lost >= 0.0);
            let stored = {
                let Scene { system, mut state, element } = coordinate_scene::<Dual64>(&numbers, slips);
                move_along(&mut state);
                system.realize_dynamics(&mut state).expect("regular").potential_energy_of(element).expect("own handle").eps
            };
            assert!(stored.abs() > 1e-9 && lost > 1e-9, "the motion is trivial");
            let scale = at.dynamics.force.abs() * 4.0 + stored.abs() + lost;
            assert!((power + stored + lost - supplied).abs() < 1e-12 * scale);
            assert_relative_eq!(view.power_absorbed()[0], supplied - power, epsilon = 1e-12 * scale);
        }

        #[test]
        fn single_precision_and_derivatives(numbers in numbers()) {
            let Scene { system, mut state, element } = coordinate_scene::<f64>(&numbers, false);
            let force = system.realize_dynamics(&mut state).expect("regular").of(element).dynamics.force;
            let single = coordinate_scene::<f32>(&numbers, false);
            let mut state32 = single.state;
            let view32 = single.system.realize_dynamics(&mut state32).expect("regular");
            // Stiffnesses of 1e4 N/m times 1e-7 m of rounding.
            assert_relative_eq!(f64::from(view32.of(single.element).dynamics.force), force, max_relative = 1e-4, epsilon = 0.02);

            let Scene { system, mut state, element } = coordinate_scene::<Dual64>(&numbers, false);
            move_along(&mut state);
            let view = system.realize_dynamics(&mut state).expect("regular");
            let at = view.of(element);
            let p = at.parameters;
            let stiffness = p.stiffness + p.sticking_stiffness + p.limit_stops_stiffness;
            // In stick and contact the law is linear, so the slope is known by hand.
            assert_relative_eq!(at.dynamics.force.eps, (stiffness * at.velocity.velocity).re, max_relative = 1e-12);
        }
    }
}
