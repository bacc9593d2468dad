//! Switched stops and bristles under error control with default settings: they switch in time, against closed forms.

use approx::assert_relative_eq;
use force_elements::coordinate_spring_damper_ext::{Discrete, Parameters};
use force_elements::nalgebra::Vector3;
use force_elements::simulation::{DormandPrince, Implicit, Integrator, Plant, Simulation};
use force_elements::{CoordinateIndex, CoordinatePair, CoordinateSpringDamperExt, ForceSystem};

const STOP: f64 = 0.1;

/// A mass thrown at one of two stops. Positions, velocities and forces are measured towards that stop, depths from it.
#[derive(Debug, Clone, Copy)]
struct Throw {
    upper: bool,
    only_push: bool,
    mass: f64,
    stiffness: f64,
    damping: f64,
    load: f64,
    depth: f64,
    speed: f64,
    end: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Phase {
    Free,
    Pressed,
    /// Beyond the stop, which only pushes and would have to pull.
    LetGo,
}

impl Throw {
    fn outward(&self) -> f64 {
        if self.upper { 1.0 } else { -1.0 }
    }

    /// `m·ẍ = F − d·ẋ − k·x`, or without spring and damper.
    fn flow(&self, phase: Phase, (x, v): (f64, f64), t: f64) -> (f64, f64) {
        let Self { mass, stiffness, damping, load, .. } = *self;
        if phase != Phase::Pressed {
            let a = load / mass;
            (x + v * t + 0.5 * a * t * t, v + a * t)
        } else if stiffness == 0.0 {
            let (creep, time) = (load / damping, mass / damping);
            let fading = (-t / time).exp();
            (x + creep * t + (v - creep) * time * (1.0 - fading), creep + (v - creep) * fading)
        } else {
            let (rest, decay) = (load / stiffness, 0.5 * damping / mass);
            let frequency = (stiffness / mass - decay * decay).sqrt();
            assert!(frequency > 0.0, "underdamped");
            let (fading, (sin, cos)) = ((-decay * t).exp(), (frequency * t).sin_cos());
            let (c, s) = (x - rest, (v + decay * (x - rest)) / frequency);
            let y = fading * (c * cos + s * sin);
            (rest + y, fading * frequency * (s * cos - c * sin) - decay * y)
        }
    }

    fn push(&self, (x, v): (f64, f64)) -> f64 {
        self.stiffness * x + self.damping * v
    }

    /// What is below zero once a phase has ended.
    fn until(&self, phase: Phase, at: (f64, f64)) -> f64 {
        match phase {
            Phase::Free => -at.0,
            Phase::Pressed if self.only_push => self.push(at),
            Phase::Pressed | Phase::LetGo => at.0,
        }
    }

    /// Depth and speed at a time, and how many phases have ended by then.
    fn exact(&self, time: f64) -> ((f64, f64), usize) {
        const SCAN: f64 = 1e-4;
        let mut at = (self.depth, self.speed);
        let mut phase = match (at.0 > 0.0, self.only_push && self.push(at) < 0.0) {
            (false, _) => Phase::Free,
            (true, false) => Phase::Pressed,
            (true, true) => Phase::LetGo,
        };
        let (mut start, mut ended) = (0.0, 0);
        loop {
            let has_ended = |t: f64| self.until(phase, self.flow(phase, at, t)) < 0.0;
            // A phase begins where the one before ended: it does not end there.
            let mut after = SCAN;
            while start + after < time && !has_ended(after) {
                after += SCAN;
            }
            if start + after >= time && !has_ended(time - start) {
                return (self.flow(phase, at, time - start), ended);
            }
            let (mut before, mut after) = (after - SCAN, after.min(time - start));
            for _ in 0..60 {
                let middle = 0.5 * (before + after);
                if has_ended(middle) { after = middle } else { before = middle }
            }
            at = self.flow(phase, at, after);
            start += after;
            ended += 1;
            phase = match phase {
                Phase::Free => Phase::Pressed,
                Phase::Pressed if self.only_push => Phase::LetGo,
                Phase::Pressed | Phase::LetGo => Phase::Free,
            };
        }
    }

    /// The largest error of depth and of speed at ten times.
    fn error(&self, integrator: &mut impl Integrator<f64>) -> (f64, f64) {
        let mut system = ForceSystem::new();
        let mut plant = Plant::new(Vector3::zeros()).expect("finite");
        let slider: CoordinateIndex = plant.add_coordinate(&mut system, self.mass).expect("positive");
        let outward = self.outward();
        plant.set_coordinate_load(slider, outward * self.load).expect("finite");
        let mut parameters = Parameters {
            use_limit_stops: true,
            limit_stops_upper: 5.0,
            limit_stops_lower: -5.0,
            limit_stops_only_push: self.only_push,
            ..Parameters::default()
        };
        if self.upper {
            parameters.limit_stops_upper = STOP;
            parameters.limit_stops_upper_stiffness = self.stiffness;
            parameters.limit_stops_upper_damping = self.damping;
        } else {
            parameters.limit_stops_lower = -STOP;
            parameters.limit_stops_lower_stiffness = self.stiffness;
            parameters.limit_stops_lower_damping = self.damping;
        }
        let element = CoordinateSpringDamperExt::new(CoordinatePair::on(slider), parameters).expect("valid");
        let element = system.add(element).expect("exists");
        let mut state = system.default_state();
        state.set_coordinate(slider, outward * (STOP + self.depth)).expect("finite");
        state.set_coordinate_rate(slider, outward * self.speed).expect("finite");
        system.reset_memory(&mut state, element).expect("own");
        let mut simulation = Simulation::new(&system, &plant, state).expect("regular");
        let mut worst = (0.0_f64, 0.0_f64);
        for i in 1..=10 {
            let time = self.end * f64::from(i) / 10.0;
            simulation.run(integrator, time, |_| {}).expect("runs");
            let state = simulation.state();
            let depth = outward * state.positions().coordinate(slider) - STOP;
            let speed = outward * state.velocities().coordinate_rate(slider);
            let ((x, v), _) = self.exact(time);
            worst = (worst.0.max((depth - x).abs()), worst.1.max((speed - v).abs()));
        }
        worst
    }
}

const THROW: Throw = Throw {
    upper: true,
    only_push: false,
    mass: 1.0,
    stiffness: 1e3,
    damping: 20.0,
    load: 0.0,
    depth: -0.1,
    speed: 1.0,
    end: 0.4,
};

/// With the number of phases that end.
fn throws() -> [(&'static str, usize, Throw); 6] {
    [
        ("damper alone", 1, Throw { stiffness: 0.0, damping: 100.0, end: 0.14, ..THROW }),
        ("spring and damper that pulls", 2, Throw { upper: false, ..THROW }),
        ("spring and damper that only pushes", 3, Throw { only_push: true, ..THROW }),
        ("left from inside", 1, Throw { depth: 1e-3, speed: -0.75, damping: 40.0, end: 0.1, ..THROW }),
        (
            "damper alone that only pushes, against a load",
            3,
            Throw {
                upper: false,
                only_push: true,
                stiffness: 0.0,
                damping: 100.0,
                load: -5.0,
                speed: 1.5,
                end: 0.5,
                ..THROW
            },
        ),
        (
            "bounces until it rests",
            9,
            Throw { upper: false, stiffness: 1e4, damping: 30.0, load: 9.81, speed: 0.0, end: 1.2, ..THROW },
        ),
    ]
}

#[test]
fn stops_are_entered_and_left_in_time_under_error_control_that_locates_them() {
    for (name, ended, throw) in throws() {
        assert_eq!(throw.exact(throw.end).1, ended, "{name}");
        let (depth, speed) = throw.error(&mut DormandPrince::new(1e-8));
        // Some hundred steps err by up to 1e-8 each; where the stop acts, what is off in time is multiplied by decelerations
        // of up to 100 m/s².
        let allowed = 1e-6;
        assert!(depth < allowed && speed < allowed, "{name}: off by {depth:e} m, {speed:e} m/s");
    }
}

#[test]
fn the_force_error_of_a_stop_counts_its_damper_where_it_is_entered_and_where_it_is_left() {
    for outward in [1.0, -1.0] {
        for only_push in [false, true] {
            let p = Parameters {
                use_limit_stops: true,
                limit_stops_upper: STOP,
                limit_stops_lower: -STOP,
                limit_stops_upper_stiffness: 1e3,
                limit_stops_lower_stiffness: 1e3,
                limit_stops_upper_damping: 50.0,
                limit_stops_lower_damping: 50.0,
                limit_stops_only_push: only_push,
                ..Parameters::default()
            };
            let error = |depth: f64, v: f64, state: f64| {
                let discrete = Discrete { limit_stop_state: outward * state, ..Discrete::default() };
                p.switch(outward * (STOP + depth), outward * v, &discrete, &discrete).1
            };
            assert_relative_eq!(error(0.01, 2.0, 0.0), 110.0, max_relative = 1e-12);
            // Beyond its end it pulls, unless it only pushes; coming back it would push.
            let pull = if only_push { 0.0 } else { 110.0 };
            assert_relative_eq!(error(-0.01, -2.0, 0.2), pull, max_relative = 1e-12);
            // Entered within the step, and on its way out at the end: what it did meanwhile is missing.
            assert!(error(0.01, -0.2, 0.0) >= 20.0 - 1e-9);
            assert_eq!(error(0.01, -0.2, 0.3), 0.0);
        }
    }
}

#[test]
fn a_thrown_slider_stops_where_friction_has_taken_its_energy_and_rebounds_by_the_bend_of_its_bristles() {
    let (mass, speed, friction, stiffness, damping) = (1.0, 1.0, 2.0, 1e4, 200.0);
    let mut system = ForceSystem::new();
    let mut plant = Plant::new(Vector3::zeros()).expect("finite");
    let slider = plant.add_coordinate(&mut system, mass).expect("positive");
    let parameters = Parameters {
        dynamic_friction: friction,
        sticking_stiffness: stiffness,
        sticking_damping: damping,
        ..Parameters::default()
    };
    let element = CoordinateSpringDamperExt::new(CoordinatePair::on(slider), parameters).expect("valid");
    system.add(element).expect("exists");
    let travel = mass * speed * speed / (2.0 * friction);
    for accuracy in [1e-4, 1e-6, 1e-8] {
        let mut state = system.default_state();
        state.set_coordinate_rate(slider, speed).expect("finite");
        let mut simulation = Simulation::new(&system, &plant, state).expect("regular");
        let (mut farthest, mut fastest_back) = (0.0_f64, 0.0_f64);
        simulation
            .run(
                &mut DormandPrince::new(accuracy).with_force_tolerance(1e-7).with_event_step(1e-10),
                2.0,
                |simulation| {
                    let state = simulation.state();
                    farthest = farthest.max(state.positions().coordinate(slider));
                    fastest_back = fastest_back.min(state.velocities().coordinate_rate(slider));
                },
            )
            .expect("runs");
        // Bristles stick at first, and their damper tears them loose at once: until that is noticed, up to a hundredth of
        // the accuracy later, it takes its force from the momentum, and that times speed over deceleration from the travel.
        let allowed = damping * speed * 0.01 * accuracy / mass * speed * mass / friction;
        assert!((farthest - travel).abs() < allowed, "{farthest} m of {travel} m at accuracy {accuracy}");
        // What bristles can store gives it back no more than this speed.
        assert!(fastest_back > -friction / (stiffness * mass).sqrt(), "{fastest_back} m/s");
        let (q, v) = (
            simulation.state().positions().coordinate(slider),
            simulation.state().velocities().coordinate_rate(slider),
        );
        // It comes to rest with bristles straight; error control holds the rest to the accuracy.
        assert!((q - (farthest - friction / stiffness)).abs() < accuracy, "{q} m");
        assert!(v.abs() < accuracy, "{v} m/s");
    }
}

/// How far a slider of 1 kg thrown at this speed against bristles that slip at 3 N is after a second, over where it comes
/// to rest.
fn thrown(speed: f64, integrator: &mut impl Integrator<f64>) -> f64 {
    const FRICTION: f64 = 3.0;
    const STIFFNESS: f64 = 1e4;
    let mut system = ForceSystem::new();
    let mut plant = Plant::new(Vector3::zeros()).expect("finite");
    let slider = plant.add_coordinate(&mut system, 1.0).expect("positive");
    let parameters = Parameters {
        dynamic_friction: FRICTION,
        sticking_stiffness: STIFFNESS,
        sticking_damping: 200.0,
        ..Parameters::default()
    };
    let element = CoordinateSpringDamperExt::new(CoordinatePair::on(slider), parameters).expect("valid");
    let element = system.add(element).expect("exists");
    let mut state = system.default_state();
    state.set_coordinate_rate(slider, speed).expect("finite");
    let slips = |discrete: &mut Discrete<f64>| discrete.friction_mode = FRICTION;
    system.update_discrete(&mut state, element, slips).expect("valid");
    let mut simulation = Simulation::new(&system, &plant, state).expect("regular");
    while simulation.time() < 1.0 {
        integrator.step(&mut simulation, 1.0).expect("regular");
        // A run at the highest accuracy takes about 1300 steps.
        assert!(simulation.statistics().steps < 3000, "it stalls at {} s", simulation.time());
    }
    let rest = 0.5 * speed * speed / FRICTION - FRICTION / STIFFNESS;
    simulation.state().positions().coordinate(slider) - rest
}

#[test]
fn bristles_that_stick_again_hold_at_every_accuracy_and_phase_of_the_steps() {
    for accuracy in [1e-6, 1e-8, 1e-10] {
        for i in 0..20 {
            let speed = 1.4 + 2e-3 * f64::from(i);
            let errors = [
                thrown(speed, &mut DormandPrince::new(accuracy)),
                thrown(speed, &mut Implicit::trapezoidal(0.01).with_accuracy(accuracy)),
                thrown(speed, &mut Implicit::tr_bdf2(0.01).with_accuracy(accuracy)),
            ];
            // The motion of a slip is a parabola, on which all three are right to rounding; the rest decays.
            assert!(errors.iter().all(|error| error.abs() < 10.0 * accuracy), "{speed} m/s: {errors:?}");
        }
    }
}

/// Weak bristles slip between two sliders that strong ones hold together, while a third slider draws at one of them; its
/// pull turns so slowly that the velocity of the slip changes by less than its rounding in an event step. Returns the
/// steps of a run and whether the slip has ended.
fn steps_of_a_slow_reversal(speed: f64, stiffness: f64, pull_stiffness: f64) -> (usize, bool) {
    let mut system = ForceSystem::<f64>::new();
    let mut plant = Plant::new(Vector3::zeros()).expect("finite");
    let [a, b, pull] = [1.0; 3].map(|mass| plant.add_coordinate(&mut system, mass).expect("positive"));
    let bristles = |force: f64, stiffness: f64, damping: f64| Parameters {
        dynamic_friction: force,
        sticking_stiffness: stiffness,
        sticking_damping: damping,
        ..Parameters::default()
    };
    let spring = |stiffness: f64| Parameters { stiffness, ..Parameters::default() };
    let mut add = |pair, parameters| {
        system.add(CoordinateSpringDamperExt::new(pair, parameters).expect("in range")).expect("there")
    };
    // Hardly more than critically damped.
    let strong = add(CoordinatePair::between(a, b), bristles(10.0, stiffness, 1.5 * stiffness.sqrt()));
    let weak = add(CoordinatePair::between(a, b), bristles(0.4, 1e3, 7.0));
    add(CoordinatePair::between(b, pull), spring(pull_stiffness));
    add(CoordinatePair::on(pull), spring(4.0));
    let mut state = system.default_state();
    for (slider, rate) in [(a, speed), (b, speed), (pull, 2.0)] {
        state.set_coordinate_rate(slider, rate).expect("finite");
    }
    // In balance.
    let sticks = Discrete { last_sticking_position: 0.4 / stiffness, ..Discrete::default() };
    let slips = Discrete { friction_mode: 0.4, ..Discrete::default() };
    system.set_discrete(&mut state, strong, sticks).expect("in range");
    system.set_discrete(&mut state, weak, slips).expect("in range");
    let mut simulation = Simulation::new(&system, &plant, state).expect("matches");
    let mut integrator = DormandPrince::new(1e-9);
    while simulation.time() < 1.0 && simulation.statistics().steps < 2000 {
        integrator.step(&mut simulation, 1.0).expect("regular");
    }
    (simulation.statistics().steps, simulation.state().discrete(weak).friction_mode == 0.0)
}

#[test]
fn a_slip_that_reverses_more_slowly_than_rounding_shows_ends_without_a_stall() {
    for speed in [1.2, 1.7] {
        for stiffness in [1e5, 3e5] {
            for pull_stiffness in [0.01, 0.1] {
                let (steps, has_ended) = steps_of_a_slow_reversal(speed, stiffness, pull_stiffness);
                // The frequency of the strong bristles asks for some hundred.
                assert!(steps < 1000 && has_ended, "{speed} {stiffness} {pull_stiffness}: {steps}");
            }
        }
    }
}
