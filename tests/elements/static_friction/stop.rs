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
