//! Balls after Hertz against closed forms: rest, impact, rebound, oblique impact; and what is refused.
#![allow(non_snake_case, reason = "monogram notation")]

use std::f64::consts::PI;

use approx::assert_relative_eq;
use force_elements::hertz_contact::Parameters;
use force_elements::nalgebra::{Matrix3, Point3, Rotation3, Translation3, Vector3};
use force_elements::simulation::{DormandPrince, Plant, RigidBody, Simulation};
use force_elements::testing::refuses_parameter;
use force_elements::{
    BodyIndex, ElementError, Error, ForceSystem, Frame, Handle, HertzContact, KinematicsError, Pose, Refusal,
    Requirement, SpatialVelocity, Station, StepMethod,
};

use super::restitution::restitution;

const RADIUS: f64 = 0.1;
const MASS: f64 = 2.0;
const MODULUS: f64 = 1e6;
const ACCURACY: f64 = 1e-10;

fn rubber() -> Parameters<f64> {
    Parameters { effective_modulus: MODULUS, ..Parameters::default() }
}

/// A solid ball above the ground, or above another ball of three times its mass and twice its radius, which are free.
struct Scene {
    system: ForceSystem<f64>,
    plant: Plant<f64>,
    ball: BodyIndex,
    other: BodyIndex,
    contact: Handle<HertzContact<f64>>,
    /// Of the centers, where the surfaces touch.
    height: f64,
    effective_radius: f64,
    reduced_mass: f64,
}

impl Scene {
    fn new(is_on_ball: bool, gravity: f64, parameters: Parameters<f64>) -> Self {
        let mut system = ForceSystem::new();
        let mut plant = Plant::new(Vector3::new(0.0, 0.0, -gravity)).expect("finite");
        let mut add = |mass: f64, radius: f64| {
            let solid = RigidBody::with_equal_inertia(mass, 0.4 * mass * radius * radius).expect("positive");
            plant.add_body(&mut system, solid)
        };
        let ball = add(MASS, RADIUS);
        let at_origin = |body, radius| (Station::on(body, Point3::origin()), radius);
        let (contact, other, height, effective_radius, reduced_mass) = if is_on_ball {
            let other = add(3.0 * MASS, 2.0 * RADIUS);
            let (above, below) = (at_origin(ball, RADIUS), at_origin(other, 2.0 * RADIUS));
            let contact = HertzContact::on_ball(below, above, parameters);
            (contact, other, 3.0 * RADIUS, RADIUS / 1.5, MASS * 0.75)
        } else {
            let ground = Frame::ground(Pose::identity());
            let contact = HertzContact::on_half_space(ground, at_origin(ball, RADIUS), parameters);
            (contact, BodyIndex::GROUND, RADIUS, RADIUS, MASS)
        };
        let contact = contact.expect("valid");
        assert_relative_eq!(contact.effective_radius(), effective_radius, max_relative = 1e-15);
        let contact = system.add(contact).expect("bodies exist");
        Self { system, plant, ball, other, contact, height, effective_radius, reduced_mass }
    }

    /// The ball so far above where it touches, in this motion.
    fn start(&self, gap: f64, V: SpatialVelocity<f64>) -> Simulation<'_, f64> {
        let mut state = self.system.default_state();
        state.set_body(self.ball, Pose::translation(0.0, 0.0, self.height + gap), V).expect("finite");
        Simulation::new(&self.system, &self.plant, state).expect("regular")
    }

    fn relative_velocity(&self, simulation: &Simulation<'_, f64>) -> Vector3<f64> {
        let velocities = simulation.state().velocities();
        velocities.velocity(self.ball).linear - velocities.velocity(self.other).linear
    }
}

fn falling(speed: f64) -> SpatialVelocity<f64> {
    SpatialVelocity::new(Vector3::zeros(), Vector3::new(0.0, 0.0, -speed))
}

#[test]
fn a_ball_at_rest_sinks_in_as_far_and_presses_as_hard_as_hertz_says() {
    let parameters = rubber().with_dissipation(20.0);
    let scene = Scene::new(false, 9.81, parameters);
    let mut simulation = scene.start(0.0, falling(0.0));
    simulation.run(&mut DormandPrince::new(ACCURACY), 5.0, |_| {}).expect("runs");
    let dynamics = simulation.dynamics().expect("regular");
    let at = dynamics.of(scene.contact);
    // Johnson, (4.22) to (4.24), by the load.
    let load = MASS * 9.81;
    let radius = (3.0 * load * RADIUS / (4.0 * MODULUS)).cbrt();
    let depth = (9.0 * load * load / (16.0 * RADIUS * MODULUS * MODULUS)).cbrt();
    let pressure = (6.0 * load * MODULUS * MODULUS / (PI.powi(3) * RADIUS * RADIUS)).cbrt();
    // It trembles within the accuracy of the steps, of depths of a millimetre.
    assert_relative_eq!(at.position.contact_radius, radius, max_relative = 1e-6);
    assert_relative_eq!(at.position.depth, depth, max_relative = 1e-6);
    assert_relative_eq!(at.dynamics.peak_pressure, pressure, max_relative = 1e-6);
    // The pressure p₀ √(1 − r²/a²) bears the load.
    assert_relative_eq!(2.0 / 3.0 * PI * radius * radius * pressure, load, max_relative = 1e-12);
}

#[test]
fn an_impact_is_as_deep_and_takes_as_long_as_hertz_says_and_keeps_its_energy() {
    // ∫ dx/√(1 − x^{5/2}) from 0 to 1 is 2/5 Γ(2/5) Γ(1/2)/Γ(9/10); there and back.
    let duration_factor: f64 = 2.0 * 0.4 * 2.218_159_543_757_688 * PI.sqrt() / 1.068_628_702_119_319_4;
    assert_relative_eq!(duration_factor, 2.94, epsilon = 5e-3);
    for is_on_ball in [false, true] {
        for speed in [0.3, 1.0] {
            let scene = Scene::new(is_on_ball, 0.0, rubber());
            let stiffness = MODULUS * scene.effective_radius.sqrt();
            let depth = (15.0 * scene.reduced_mass * speed * speed / (16.0 * stiffness)).powf(0.4);
            let duration = duration_factor * depth / speed;
            let mut simulation = scene.start(0.0, falling(speed));
            let had = simulation.kinetic_energy();
            let (mut deepest, mut change) = (0.0_f64, 0.0_f64);
            simulation
                .run(&mut DormandPrince::new(ACCURACY).with_max_step(duration / 2000.0), 0.1, |simulation| {
                    let energy = simulation.mechanical_energy().expect("regular");
                    change = change.max((energy - had).abs());
                    let dynamics = simulation.dynamics().expect("regular");
                    deepest = deepest.max(dynamics.of(scene.contact).position.depth);
                })
                .expect("runs");
            // It has flown freely since they parted.
            let dynamics = simulation.dynamics().expect("regular");
            let gap = -dynamics.of(scene.contact).position.depth;
            let rebound = scene.relative_velocity(&simulation).z;
            let parted = simulation.time() - gap / rebound;
            let case = format!("{is_on_ball} {speed}");
            // The turn lies within half a step of one of 2000: π²/8/1000² of a half wave.
            assert!((deepest / depth - 1.0).abs() < 2e-6, "{case}: {deepest} {depth}");
            assert!((parted / duration - 1.0).abs() < 1e-6, "{case}: {parted} {duration}");
            assert!((rebound / speed - 1.0).abs() < 1e-8, "{case}: {rebound}");
            // Thousands of steps of the accuracy, of which signs differ.
            assert!(change < 1e-8 * had, "{case}: {change} of {had}");
        }
    }
}

#[test]
fn balls_rebound_with_the_restitution_of_their_speed_and_lose_what_that_takes() {
    for is_on_ball in [false, true] {
        for (y, speed) in [(0.05, 0.3), (0.5, 1.0), (3.0, 0.5)] {
            let scene = Scene::new(is_on_ball, 0.0, rubber().with_dissipation(y / (1.5 * speed)));
            let mut simulation = scene.start(1e-3, falling(speed));
            let (mut last, mut least_gain) = (0.0, 0.0_f64);
            simulation
                .run(&mut DormandPrince::new(ACCURACY), 0.5, |simulation| {
                    let lost = simulation.dynamics().expect("regular").dissipated_energy().expect("open");
                    least_gain = least_gain.min(lost - last);
                    last = lost;
                })
                .expect("runs");
            let e = restitution(y);
            let rebound = scene.relative_velocity(&simulation).z;
            let had = 0.5 * scene.reduced_mass * speed * speed;
            let case = format!("{is_on_ball} {y}: {rebound} for {}", e * speed);
            let stored = simulation.dynamics().expect("regular").potential_energy();
            assert_eq!(stored, 0.0, "still in contact: {case}");
            // A hundred steps of the accuracy.
            assert!((rebound / (e * speed) - 1.0).abs() < 1e-7, "{case}");
            assert!((last - had * (1.0 - e * e)).abs() < 1e-7 * had, "{case}: {last} lost");
            // In one step the depth is off by the accuracy, at most under the greatest force.
            let stiffness = 4.0 / 3.0 * MODULUS * scene.effective_radius.sqrt();
            let force = stiffness * (2.5 * had / stiffness).powf(0.6) * (1.0 + y);
            assert!(least_gain > -force * ACCURACY, "{case}: {least_gain} of {force}");
        }
    }
    // Slow impacts: e = 1 − c v.
    assert_relative_eq!(restitution(1.5e-4), 1.0 - 1e-4, epsilon = 1e-8);
}

#[test]
fn a_ball_that_slips_throughout_an_oblique_impact_gets_the_impulse_of_friction() {
    // Slow enough a transition that friction is dynamic all along, and soft enough a normal that it stays upright.
    let (mu, y, down, along) = (0.2, 0.3, 0.5, 2.0);
    let parameters = Parameters { transition_velocity: 1e-6, ..rubber() };
    let scene =
        Scene::new(false, 0.0, parameters.with_dissipation(y / (1.5 * down)).with_friction(mu, mu, 0.0));
    let V = SpatialVelocity::new(Vector3::zeros(), Vector3::new(along, 0.0, -down));
    let mut simulation = scene.start(0.0, V);
    let had = simulation.kinetic_energy();
    let (mut lost, mut time, mut power) = (0.0, 0.0, 0.0);
    let mut deepest = 0.0_f64;
    simulation
        .run(&mut DormandPrince::new(ACCURACY).with_max_step(1e-5), 0.1, |simulation| {
            let dynamics = simulation.dynamics().expect("regular");
            let now = dynamics.power_dissipated_of(scene.contact);
            lost += 0.5 * (power + now) * (dynamics.time() - time);
            (time, power) = (dynamics.time(), now);
            deepest = deepest.max(dynamics.of(scene.contact).position.depth);
        })
        .expect("runs");
    let e = restitution(y);
    let V = *simulation.state().velocities().velocity(scene.ball);
    // Of the impulse m (1 + e) v.
    let slowed = mu * (1.0 + e) * down;
    assert_relative_eq!(V.linear.z, e * down, max_relative = 1e-7);
    assert_relative_eq!(V.linear.x, along - slowed, max_relative = 1e-7);
    // On a lever that is shorter than the radius by up to half the depth.
    let spin = slowed / (0.4 * RADIUS);
    assert!(
        V.angular.y < spin && V.angular.y > spin * (1.0 - 0.5 * deepest / RADIUS),
        "{} {spin}",
        V.angular.y
    );
    assert!(along - slowed - V.angular.y * RADIUS > 0.5, "it has come to roll");
    // The power that it says it loses, by the trapezoidal rule in steps of 1e-5 s.
    assert_relative_eq!(lost, had - simulation.kinetic_energy(), max_relative = 1e-5);
}

#[test]
fn the_effective_modulus_is_that_of_springs_in_series() {
    let [steel, rubber, rigid] = [[210e9, 0.3], [5e6, 0.5], [f64::INFINITY, 0.0]];
    // E/(2(1 − ν²)) of one material.
    let same = Parameters::of_elastic(steel, steel).expect("valid").effective_modulus;
    assert_relative_eq!(same, 210e9 / (2.0 * 0.91), max_relative = 1e-15);
    let against_rigid = Parameters::of_elastic(rubber, rigid).expect("valid").effective_modulus;
    assert_relative_eq!(against_rigid, 5e6 / 0.75, max_relative = 1e-15);
    let both = Parameters::of_elastic(steel, rubber).expect("valid").effective_modulus;
    assert_relative_eq!(1.0 / both, 0.91 / 210e9 + 0.75 / 5e6, max_relative = 1e-15);
    for refused in [[0.0, 0.3], [f64::NAN, 0.3], [1e9, 0.51], [1e9, -0.1], [1e-320, 0.3], rigid] {
        Parameters::of_elastic(refused, rigid).expect_err("out of range");
    }
}

#[test]
fn far_apart_nothing_acts_and_where_centers_coincide_an_error_says_so() {
    let scene = Scene::new(true, 0.0, rubber());
    let mut state = scene.system.default_state();
    let error = scene.system.realize_position(&mut state).expect_err("one center");
    assert_eq!(error.own(), Some(&Refusal::CentersCoincide));
    state.set_pose(scene.ball, Pose::translation(3.0, 0.0, 0.0)).expect("finite");
    let dynamics = scene.system.realize_dynamics(&mut state).expect("regular");
    assert_relative_eq!(dynamics.of(scene.contact).position.depth, -2.7, max_relative = 1e-15);
    assert_eq!(dynamics.body_force(scene.ball).force.norm(), 0.0);
    // Too far to tell.
    for (body, x) in [(scene.ball, 1.5e308), (scene.other, -1.5e308)] {
        state.set_pose(body, Pose::translation(x, 0.0, 0.0)).expect("finite");
    }
    let error = scene.system.realize_position(&mut state).expect_err("infinitely far");
    let refusal = error.element_error();
    assert!(matches!(refusal, Some(ElementError::Kinematics(KinematicsError::NonFinite { .. }))), "{error}");
}

#[test]
fn bad_places_and_parameters_are_refused() {
    let mut system = ForceSystem::<f64>::new();
    let body = system.add_body();
    let ground = Frame::ground(Pose::identity());
    let ball = |body, x, radius| (Station::on(body, Point3::new(x, 0.0, 0.0)), radius);
    let same =
        HertzContact::on_half_space(Frame::of(body), ball(body, 0.0, 1.0), rubber()).expect_err("one body");
    assert_eq!(same.element_error(), Some(&ElementError::SameEnds));
    let scaled = Rotation3::from_matrix_unchecked(Matrix3::identity() * 1.1);
    let scaled = Frame::ground(Pose::from_parts(Translation3::identity(), scaled));
    let on_ground = |x, radius| ball(BodyIndex::GROUND, x, radius);
    let slippery = rubber().with_friction(0.3, 0.4, 0.0);
    for (name, refused) in [
        ("surface.X_BF", HertzContact::on_half_space(scaled, ball(body, 0.0, 1.0), rubber())),
        ("surface.center", HertzContact::on_ball(on_ground(f64::NAN, 1.0), ball(body, 0.0, 1.0), rubber())),
        ("surface.radius", HertzContact::on_ball(on_ground(0.0, 0.0), ball(body, 0.0, 1.0), rubber())),
        ("ball.center", HertzContact::on_half_space(ground, ball(body, f64::INFINITY, 1.0), rubber())),
        ("ball.radius", HertzContact::on_half_space(ground, ball(body, 0.0, -1.0), rubber())),
        ("dynamic_friction", HertzContact::on_half_space(ground, ball(body, 0.0, 1.0), slippery)),
        (
            "effective_modulus",
            HertzContact::on_half_space(ground, ball(body, 0.0, 1.0), Parameters::default()),
        ),
    ] {
        let error = refused.expect_err(name);
        assert_eq!(error.invalid_value().map(|value| value.name), Some(name), "{error}");
    }
    let contact = HertzContact::on_half_space(ground, ball(body, 0.0, 1.0), rubber()).expect("valid");
    let contact = system.add(contact).expect("exists");
    let mut refused = |name, spoil: fn(&mut Parameters<f64>), must| {
        assert_eq!(refuses_parameter(&mut system, contact, name, spoil, must), Ok(()));
    };
    refused("effective_modulus", |p| p.effective_modulus = -1.0, Requirement::NonNegative);
    refused("dissipation", |p| p.dissipation = f64::NAN, Requirement::NonNegative);
    refused("static_friction", |p| p.static_friction = -0.1, Requirement::NonNegative);
    refused("dynamic_friction", |p| p.dynamic_friction = 0.1, Requirement::AtMost("static_friction"));
    refused("viscous_friction", |p| p.viscous_friction = f64::INFINITY, Requirement::NonNegative);
    refused("transition_velocity", |p| p.transition_velocity = 0.0, Requirement::Positive);
    refused("transition_velocity", |p| p.transition_velocity = -0.1, Requirement::Positive);
    refused("transition_velocity", |p| p.transition_velocity = 1e-160, Requirement::Square);
}

#[test]
fn a_cast_is_the_same_contact_and_one_out_of_range_is_refused() -> Result<(), Error> {
    let scene = Scene::new(true, 0.0, rubber().with_dissipation(0.5).with_friction(0.4, 0.3, 0.1));
    let single = scene.system.cast::<f32>()?;
    let mut state = scene.system.default_state();
    let V = SpatialVelocity::new(Vector3::new(1.0, 2.0, 3.0), Vector3::new(0.1, 0.2, -0.3));
    state.set_body(scene.ball, Pose::translation(0.01, 0.02, 0.29), V)?;
    let mut rounded = single.cast_state(&state)?;
    let force = scene.system.realize_dynamics(&mut state)?.body_force(scene.ball).force;
    let in_single = single.realize_dynamics(&mut rounded)?.body_force(scene.ball).force.map(f64::from);
    assert!(force.norm() > 100.0);
    // Depths of a centimetre are rounded by 3e-8 m.
    assert!((force - in_single).norm() < 1e-5 * force.norm(), "{force} {in_single}");

    let huge = (Station::on(scene.ball, Point3::origin()), 1e12);
    let huge = HertzContact::on_half_space(Frame::ground(Pose::identity()), huge, rubber())?;
    assert_eq!(huge.cast::<f32>().expect_err("1e48").invalid_value().map(|v| v.name), Some("ball.radius"));
    Ok(())
}

/// What a stated speed of impact reports is what the ball reports where an impact at that speed turns, of the lighter body.
#[test]
fn the_step_for_a_speed_of_impact_is_that_of_its_deepest_place() -> Result<(), Error> {
    for is_on_ball in [false, true] {
        let scene = Scene::new(is_on_ball, 0.0, rubber());
        let length = |gap: f64, velocity: f64, impact_speed: f64| -> Result<f64, Error> {
            let simulation =
                scene.start(gap, SpatialVelocity::new(Vector3::zeros(), Vector3::z() * velocity));
            let method = StepMethod::SymplecticEuler;
            Ok(scene.system.stable_step(simulation.state(), &scene.plant, method, impact_speed)?.length)
        };
        let mut before = f64::INFINITY;
        for speed in [0.01, 0.1, 2.0] {
            let stiffness = 4.0 / 3.0 * MODULUS * scene.effective_radius.sqrt();
            let depth = (2.5 * 0.5 * MASS * speed * speed / stiffness).powf(0.4);
            let stated = length(1e-6, 0.0, speed)?;
            // The point of contact is nearer to the center of a ball that is pressed in.
            let there = length(-depth, -speed, 0.0)?;
            assert_relative_eq!(stated, there, max_relative = depth / RADIUS);
            assert!(stated < before);
            before = stated;
        }
    }
    Ok(())
}
