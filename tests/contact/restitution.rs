//! Impacts on foundation springs: the restitution of a Hunt-Crossley law, which depends on neither shape nor stiffness.
#![allow(non_snake_case, reason = "monogram notation")]

use approx::assert_relative_eq;
use force_elements::elastic_foundation::{Material, Parameters};
use force_elements::nalgebra::Vector3;
use force_elements::shapes::{HalfSpace, TriangleMesh};
use force_elements::simulation::{DormandPrince, Plant, RigidBody, Simulation};
use force_elements::{ElasticFoundation, ForceSystem, Frame, Pose, SpatialVelocity};

/// The e for which the speed e·v of separation follows from the speed v of approach.
///
/// With m·v·dv/dx = −g(x)(1 + c·v), the integral of v/(1 + c·v) from v to −e·v is that of g/m there and back, zero:
/// y(1 + e) = ln((1 + y)/(1 − y·e)) with y = c·v.
pub(crate) fn restitution(y: f64) -> f64 {
    let excess = |e: f64| y * (1.0 + e) - y.ln_1p() + (-y * e).ln_1p();
    // From 0, where it is positive, to where the logarithm ends, or to 1, where it is negative.
    let (mut low, mut high) = (0.0, 1.0_f64.min(1.0 / y));
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if excess(middle) > 0.0 { low = middle } else { high = middle }
    }
    low
}

#[test]
fn the_closed_form_has_the_limits_that_are_known() {
    // 1 − 2y/3 for slow impacts (Hunt and Crossley's first order); 1/y for fast ones, where the spring just does not pull.
    assert_relative_eq!(restitution(1e-4), 1.0 - 2e-4 / 3.0, epsilon = 1e-8);
    assert_relative_eq!(restitution(1e3) * 1e3, 1.0, epsilon = 1e-6);
}

#[test]
fn a_body_rebounds_with_the_restitution_of_its_speed_whatever_its_shape() {
    let (mass, stiffness) = (2.0, 1e6);
    let brick = || TriangleMesh::brick(Vector3::new(0.1, 0.1, 0.05), [3, 3, 1]).expect("valid");
    let ball = || TriangleMesh::sphere(0.1, 8).expect("valid");
    // With the height at which they touch.
    for (mesh, height) in [(brick(), 0.05), (ball(), 0.1)] {
        for clipped in [false, true] {
            for (y, speed) in [(0.05, 0.3), (0.5, 1.0), (3.0, 0.5)] {
                let mut system = ForceSystem::new();
                let mut plant = Plant::new(Vector3::zeros()).expect("finite");
                let inertia = RigidBody::with_equal_inertia(mass, 0.01).expect("positive");
                let body = plant.add_body(&mut system, inertia);
                let parameters = Parameters { clipped, ..Parameters::default() };
                let mut foundation = ElasticFoundation::new(parameters).expect("valid");
                foundation.add_rigid(Frame::ground(Pose::identity()), HalfSpace::BelowZ).expect("valid");
                let rubber = Material::new(stiffness).with_dissipation(y / speed);
                foundation.add_springs(Frame::of(body), mesh.clone(), rubber).expect("valid");
                system.add(foundation).expect("bodies exist");
                let mut state = system.default_state();
                let above = Pose::translation(0.0, 0.0, height + 0.001);
                let V = SpatialVelocity::new(Vector3::zeros(), Vector3::new(0.0, 0.0, -speed));
                state.set_body(body, above, V).expect("finite");

                let mut simulation = Simulation::new(&system, &plant, state).expect("regular");
                let had = simulation.kinetic_energy();
                let (mut last, mut least_gain) = (0.0, 0.0_f64);
                simulation
                    .run(&mut DormandPrince::new(1e-9), 0.5, |simulation| {
                        let view = simulation.dynamics().expect("regular");
                        let lost = view.dissipated_energy().expect("open");
                        least_gain = least_gain.min(lost - last);
                        last = lost;
                    })
                    .expect("runs");
                let rebound = simulation.state().velocities().velocity(body).linear.z;
                let e = restitution(y);
                let case = format!("{clipped} {y} at {height}: {rebound} for {}", e * speed);
                let stored = simulation.dynamics().expect("regular").potential_energy();
                assert_eq!(stored, 0.0, "still in contact: {case}");
                // A hundred steps of accuracy 1e-9, some of them over kinks where springs come in and leave.
                assert!((rebound / (e * speed) - 1.0).abs() < 1e-6, "{case}");
                assert!((last - had * (1.0 - e * e)).abs() < 2e-6 * had, "{case}: {last} lost");
                assert!(least_gain > -1e-6 * had, "{case}: {least_gain}");
            }
        }
    }
}

#[test]
fn dissipation_resists_rolling() {
    let (radius, stiffness, dissipation, spin) = (0.1, 1e6, 0.4, 2.0);
    for depth in [0.005, 0.01, 0.02] {
        let mut system = ForceSystem::<f64>::new();
        let ball = system.add_body();
        let parameters = Parameters { clipped: true, ..Parameters::default() };
        let mut foundation = ElasticFoundation::new(parameters).expect("valid");
        foundation.add_rigid(Frame::ground(Pose::identity()), HalfSpace::BelowZ).expect("valid");
        let mesh = TriangleMesh::sphere(radius, 64).expect("valid");
        let rubber = Material::new(stiffness).with_dissipation(dissipation);
        foundation.add_springs(Frame::of(ball), mesh, rubber).expect("valid");
        system.add(foundation).expect("bodies exist");
        let mut state = system.default_state();
        let rolls = SpatialVelocity::new(Vector3::y() * spin, Vector3::x() * (spin * radius));
        state.set_body(ball, Pose::translation(0.0, 0.0, radius - depth), rolls).expect("finite");
        let torque = system.realize_dynamics(&mut state).expect("regular").body_force(ball).torque;
        // A point `s` ahead is `δ − r²/2R` deep and sinks at `ω s`: the integral of `k c ω s²` times that over the disc.
        let expected = core::f64::consts::PI / 3.0
            * (stiffness * dissipation * spin)
            * (radius * radius)
            * (depth * depth * depth);
        // The closed form is for depths much smaller than the radius: it is off by a quarter of δ/R.
        assert!((torque.y / -expected - 1.0).abs() < 0.3 * depth / radius, "{depth}: {torque}, {expected}");
    }
}
