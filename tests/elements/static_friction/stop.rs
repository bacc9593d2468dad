//! A block that slides to rest stops where its law says, under error control of any accuracy and from any first step.

use super::*;
use force_elements::simulation::{Implicit, Integrator};

/// A block of one station under its weight, at a speed.
#[derive(Debug, Clone, Copy)]
struct Slide {
    mass: f64,
    speed: f64,
    friction: Parameters<f64>,
}

impl Slide {
    fn all() -> [Self; 4] {
        let slippery = Parameters { mu_static: 1.0, mu_kinetic: 0.8, ..Parameters::default() };
        let with_viscosity = |friction_viscosity| Parameters { friction_viscosity, ..default_parameters() };
        [
            Self { mass: 1.0, speed: 1.0, friction: default_parameters() },
            Self { mass: 2.0, speed: 5.0, friction: slippery.with_critical_damping(1e6, 0.98) },
            Self { mass: 1.0, speed: 1.0, friction: with_viscosity(20.0) },
            Self { mass: 1.0, speed: 1.0, friction: with_viscosity(0.0) },
        ]
    }

    /// The way that the coefficient of kinetic friction alone would leave \[m\].
    fn rigid(&self) -> f64 {
        self.speed * self.speed / (2.0 * self.friction.mu_kinetic * GRAVITY)
    }

    /// A time by which it has stopped \[s\]; an undamped spring swings on.
    fn until(&self) -> f64 {
        self.speed / (self.friction.mu_kinetic * GRAVITY) + 0.2
    }

    /// The farthest place that it comes to, and the least velocity after it, from the law in steps of a microsecond: the
    /// stretch of the friction spring grows with the way, as far as the damper leaves of kinetic friction.
    fn reference(&self) -> (f64, f64) {
        let Parameters { friction_elasticity: k, friction_viscosity: c, mu_kinetic, .. } = self.friction;
        let limit = mu_kinetic * self.mass * GRAVITY;
        let (mut x, mut v, mut stretch) = (0.0_f64, self.speed, 0.0_f64);
        let (mut farthest, mut slowest) = (0.0_f64, 0.0_f64);
        let (h, mut time) = (1e-6, 0.0);
        while time < self.until() {
            time += h;
            let damping = (c * v).clamp(-limit, limit);
            stretch = stretch.clamp((-limit - damping) / k, (limit - damping) / k);
            let acceleration = -(damping + k * stretch) / self.mass;
            let middle = v + 0.5 * h * acceleration;
            (x, stretch, v) = (x + h * middle, stretch + h * middle, v + h * acceleration);
            (farthest, slowest) = (farthest.max(x), slowest.min(v));
        }
        (farthest, slowest)
    }

    fn check(&self, name: &str, accuracy: f64, integrator: &mut impl Integrator<f64>, expected: (f64, f64)) {
        let mut scene = Scene::new(self.mass, 1.0);
        scene.add_spring(Frame::ground(Pose::identity()), Point3::origin(), self.friction);
        let weight = self.mass * GRAVITY;
        let load = SpatialForce::new(Vector3::zeros(), Vector3::new(0.0, 0.0, -weight));
        scene.plant.set_body_load(scene.body, load).expect("finite");
        let height = self.friction.resting_height(weight).expect("a load");
        let mut simulation = scene.start(Pose::translation(0.0, 0.0, height), along_x(self.speed));
        let (mut farthest, mut slowest) = (0.0_f64, 0.0_f64);
        let mut last = (0.0, 0.0, self.speed);
        let observe = |simulation: &mut Simulation<'_, f64>| {
            let v = scene.velocity(simulation).x;
            if last.2 > 0.0 && v <= 0.0 {
                // Where it turned within the step, at an even deceleration.
                let deceleration = (last.2 - v) / (simulation.time() - last.0);
                farthest = farthest.max(last.1 + 0.5 * last.2 * last.2 / deceleration);
            }
            last = (simulation.time(), scene.position(simulation).x, v);
            slowest = slowest.min(v);
        };
        simulation.run(integrator, self.until(), observe).expect("regular");
        // Errors of some tens of steps add up. At the turn forces are located to a millinewton of kinetic friction.
        let allowed = 20.0 * accuracy + 1e-5;
        assert!(
            (farthest - expected.0).abs() < allowed * self.rigid(),
            "{name}, {self:?}: {farthest} for {expected:?}"
        );
        assert!(
            slowest > 1.1 * expected.1 - allowed * self.speed,
            "{name}, {self:?}: {slowest} for {expected:?}"
        );
    }
}

#[test]
fn a_block_that_slides_stops_where_its_law_says_and_does_not_reverse() {
    for slide in Slide::all() {
        let expected = slide.reference();
        assert!((expected.0 / slide.rigid() - 1.0).abs() < 3e-3, "near that of rigid friction: {expected:?}");
        for accuracy in [1e-4, 1e-5, 1e-6, 1e-7, 1e-8] {
            let name = format!("{accuracy:e}");
            slide.check(&name, accuracy, &mut DormandPrince::new(accuracy), expected);
            if accuracy > 1e-7 {
                let mut trapezoidal = Implicit::trapezoidal(0.1).with_accuracy(accuracy);
                slide.check(&name, accuracy, &mut trapezoidal, expected);
                slide.check(&name, accuracy, &mut Implicit::tr_bdf2(0.1).with_accuracy(accuracy), expected);
            }
        }
    }
}

#[test]
fn the_first_step_does_not_decide_where_a_block_stops() {
    for slide in Slide::all() {
        let expected = slide.reference();
        for first_step in [1e-6, 1e-3, 1e-2, 0.1, 1.0] {
            let mut integrator = DormandPrince::new(1e-6).with_first_step(first_step);
            slide.check(&format!("first step {first_step} s"), 1e-6, &mut integrator, expected);
        }
    }
}

/// It turns against a load between kinetic and static friction, slowly enough to hold for a time as short as the settle
/// velocity is small: 2e-5 s here, where steps of smooth motion are a thousand times as long.
#[test]
fn a_block_that_is_slow_only_within_a_step_holds() {
    let (load, speed) = (0.6, 1.0);
    let weight = GRAVITY;
    for settle_velocity in [1e-2, 1e-3, 1e-4] {
        let friction = Parameters { mu_static: 0.9, settle_velocity, ..default_parameters() };
        let run = |name: &str, integrator: &mut dyn FnMut(&mut Simulation<'_, f64>)| {
            let mut scene = Scene::new(1.0, 1.0);
            scene.add_spring(Frame::ground(Pose::identity()), Point3::origin(), friction);
            let force = SpatialForce::new(Vector3::zeros(), Vector3::new(-load * weight, 0.0, -weight));
            scene.plant.set_body_load(scene.body, force).expect("finite");
            let height = friction.resting_height(weight).expect("a load");
            let mut simulation = scene.start(Pose::translation(0.0, 0.0, height), along_x(speed));
            integrator(&mut simulation);
            let rigid = speed * speed / (2.0 * (friction.mu_kinetic + load) * GRAVITY);
            // The springs of friction give by half a millimetre; one that slid would be 0.4 m back.
            let x = scene.position(&simulation).x;
            assert!((x - rigid).abs() < 2e-3, "{name}, {settle_velocity} m/s: {x} for {rigid}");
        };
        for accuracy in [1e-4, 1e-5, 1e-6, 1e-8] {
            run(&format!("Dormand-Prince {accuracy:e}"), &mut |simulation| {
                simulation.run(&mut DormandPrince::new(accuracy), 1.0, |_| {}).expect("regular");
            });
            if accuracy > 1e-7 {
                run(&format!("TR-BDF2 {accuracy:e}"), &mut |simulation| {
                    let mut implicit = Implicit::tr_bdf2(0.1).with_accuracy(accuracy);
                    simulation.run(&mut implicit, 1.0, |_| {}).expect("regular");
                });
            }
        }
    }
}

/// The anchor is dragged along the net way of the step, and the station has come back from farther: the spring is off by the way
/// back, whatever the two coefficients.
#[test]
fn a_reversal_is_an_error_without_a_difference_of_static_friction_too() {
    let weight = 100.0;
    for mu_static in [0.5, 0.5 + 1e-9, 0.7] {
        let friction =
            Parameters { mu_static, mu_kinetic: 0.5, friction_viscosity: 0.0, ..Parameters::default() };
        let height = friction.resting_height(weight).expect("a load");
        let mut system = ForceSystem::<f64>::new();
        let body = system.add_body();
        let station = Station::on(body, Point3::origin());
        system
            .add(ExponentialSpring::new(Frame::ground(Pose::identity()), station, friction).expect("valid"))
            .expect("exists");
        let mut state = system.default_state();
        let mut move_to = |time: f64, x: f64, speed: f64| {
            state.set_time(time).expect("finite");
            state.set_body(body, Pose::translation(x, 0.0, height), along_x(speed)).expect("finite");
            system.realize_dynamics(&mut state).expect("regular");
            let error = system.switching_error(&mut state).expect("realized");
            system.accept_step(&mut state).expect("regular");
            error
        };
        move_to(0.0, 0.0, 1.0);
        move_to(0.01, 0.01, 1.0);
        let (h, before, back) = (0.01, 1.0, 0.5);
        let error = move_to(0.01 + h, 0.0125, -back);
        // At an even deceleration the station comes back for this share of the step, at half of its last speed.
        let way_back = 0.5 * back * h * back / (before + back);
        let expected = friction.friction_elasticity * way_back;
        assert!(expected < weight, "below what bounds it");
        assert!(error >= expected * (1.0 - 1e-9), "{mu_static}: {error} of {expected} N");
    }
}

/// A body of 1 kg on one station is thrown down and bounces, with parameters by design; the velocity along the plane that the
/// impact leaves, after so many steps.
fn bounced(friction: [f64; 2], speed: f64, integrator: &mut impl Integrator<f64>) -> (f64, usize) {
    let design = ContactDesign::new(1.0, 0.1, 1e-3).with_points(1).with_impact(2.0, 0.3);
    let design = design.with_friction(friction[0], friction[1]);
    let parameters = Parameters::for_contact(&design).expect("a design");
    let mut system = ForceSystem::new();
    let mut plant = Plant::new(Vector3::new(0.0, 0.0, -9.81)).expect("finite");
    let rigid = RigidBody::with_equal_inertia(1.0, 1e3).expect("positive");
    let body = plant.add_body(&mut system, rigid);
    let station = Station::on(body, Point3::origin());
    let floor = Frame::ground(Pose::identity());
    system.add(ExponentialSpring::new(floor, station, parameters).expect("valid")).expect("exists");
    let mut state = system.default_state();
    let velocity = SpatialVelocity::new(Vector3::zeros(), Vector3::new(speed, 0.0, -1.0));
    state.set_body(body, Pose::translation(0.0, 0.0, 0.1), velocity).expect("finite");
    system.reset_memories(&mut state).expect("regular");
    let mut simulation = Simulation::new(&system, &plant, state).expect("regular");
    simulation.run(integrator, 0.18, |_| {}).expect("regular");
    (simulation.state().velocities().velocity(body).linear.x, simulation.statistics().steps)
}

/// As the body rebounds, the friction spring throws it back while the normal force vanishes: the damper alone exceeds the limit,
/// against the spring, and the anchor lets go.
#[test]
fn an_anchor_that_lets_go_against_its_spring_does_so_in_time() {
    let (friction, speed) = ([1.189, 0.68], 0.672);
    // Of first order in the step, 2e-5 m/s.
    let (expected, _) = bounced(friction, speed, &mut SemiImplicitEuler::new(1e-5));
    for accuracy in [1e-6, 1e-7, 1e-8] {
        let (found, steps) = bounced(friction, speed, &mut DormandPrince::new(accuracy));
        // It was off by 5e-3, 5e-3 and 1e-3 m/s.
        assert!((found - expected).abs() < 1e-4, "{accuracy:e}: {found} for {expected}");
        assert!(steps < 200, "{steps}");
    }
}
