//! Friction of a coordinate under a load that the host writes, and smooth stops, against closed forms.

use approx::assert_relative_eq;
use force_elements::coordinate_spring_damper_ext::{Discrete, Parameters};
use force_elements::nalgebra::Vector3;
use force_elements::simulation::{DormandPrince, Integrator, Plant, SemiImplicitEuler, Simulation};
use force_elements::{
    Column, CoordinateIndex, CoordinatePair, CoordinateSpringDamperExt, Error, ForceSystem, Handle,
    Linearization, Real, Row, Scope, State,
};
use num_dual::Dual64;

type Element = Handle<CoordinateSpringDamperExt<f64>>;

const MASS: f64 = 2.0;

/// A slider on one element.
struct Bench {
    system: ForceSystem<f64>,
    plant: Plant<f64>,
    slider: CoordinateIndex,
    element: Element,
}

impl Bench {
    fn new(parameters: Parameters<f64>, pull: f64) -> Self {
        let mut system = ForceSystem::new();
        let mut plant = Plant::new(Vector3::zeros()).expect("finite");
        let slider = plant.add_coordinate(&mut system, MASS).expect("positive");
        plant.set_coordinate_load(slider, pull).expect("finite");
        let element = CoordinateSpringDamperExt::new(CoordinatePair::on(slider), parameters).expect("valid");
        let element = system.add(element).expect("exists");
        Self { system, plant, slider, element }
    }

    /// Between stops at -1 and 0.1 m.
    fn between_stops() -> Self {
        let stops = Parameters {
            use_limit_stops: true,
            limit_stops_upper: 0.1,
            limit_stops_lower: -1.0,
            limit_stops_upper_stiffness: 1e4,
            limit_stops_lower_stiffness: 2e4,
            ..Parameters::default()
        };
        Self::new(stops, 0.0)
    }

    /// At this position and speed; slipping, if it moves.
    fn start(&self, q: f64, v: f64) -> Simulation<'_, f64> {
        let mut state = self.system.default_state();
        state.set_coordinate(self.slider, q).expect("finite");
        state.set_coordinate_rate(self.slider, v).expect("finite");
        self.system.reset_memory(&mut state, self.element).expect("own");
        if v != 0.0 {
            let slips = |discrete: &mut Discrete<f64>| discrete.friction_mode = v.signum();
            self.system.update_discrete(&mut state, self.element, slips).expect("valid");
        }
        Simulation::new(&self.system, &self.plant, state).expect("regular")
    }

    /// Runs to `end` in equal steps, with the load at the middle of each.
    fn run_under(
        &self,
        simulation: &mut Simulation<'_, f64>,
        integrator: &mut impl Integrator<f64>,
        load: impl Fn(f64) -> f64,
        steps: u32,
        end: f64,
    ) {
        let (start, length) = (simulation.time(), end / f64::from(steps));
        for i in 0..steps {
            let (from, to) = (start + length * f64::from(i), start + length * f64::from(i + 1));
            let present = load(0.5 * (from + to));
            let write = |p: &mut Parameters<f64>| p.friction_load = present;
            let written =
                simulation.update_state(|state| self.system.update_parameters(state, self.element, write));
            written.expect("finite");
            simulation.run(integrator, to, |_| {}).expect("runs");
        }
    }

    fn motion(&self, simulation: &Simulation<'_, f64>) -> (f64, f64) {
        let state = simulation.state();
        (state.positions().coordinate(self.slider), state.velocities().coordinate_rate(self.slider))
    }
}

fn loaded() -> Parameters<f64> {
    Parameters {
        dynamic_friction_coefficient: 0.3,
        sticking_stiffness: 1e5,
        sticking_damping: 100.0,
        ..Parameters::default()
    }
}

#[test]
fn a_slider_under_a_varying_load_slows_as_the_integral_of_the_load() {
    let (mean, amplitude, frequency, speed, end) = (20.0, 10.0, 7.0_f64, 3.0, 0.6_f64);
    let load = |t: f64| mean + amplitude * (frequency * t).sin();
    // The first and the second integral of the load.
    let phase = frequency * end;
    let once = mean * end + amplitude * (1.0 - phase.cos()) / frequency;
    let twice = 0.5 * mean * end * end + amplitude * (end - phase.sin() / frequency) / frequency;
    let slope = 0.3 / MASS;
    let (q, v) = (speed * end - slope * twice, speed - slope * once);
    assert!(v > 0.5, "it slides to the end: {v} m/s");
    for zone in [0.0, 1e-6] {
        let bench = Bench::new(Parameters { friction_proportional_zone: zone, ..loaded() }, 0.0);
        for steps in [100, 200, 400] {
            let mut simulation = bench.start(0.0, speed);
            bench.run_under(&mut simulation, &mut DormandPrince::new(1e-10), load, steps, end);
            let (got_q, got_v) = bench.motion(&simulation);
            // The midpoint rule is off by h²/24 of the change of slope of the load, at most once up and once down.
            let h = end / f64::from(steps);
            let allowed = slope * h * h / 24.0 * 2.0 * amplitude * frequency + 1e-8;
            assert!((got_v - v).abs() < allowed, "{got_v} m/s, {v} m/s, {allowed}, {steps} steps");
            assert!((got_q - q).abs() < allowed * end, "{got_q} m, {q} m, {steps} steps");
            let view = simulation.dynamics().expect("regular");
            let at_end = view.dissipated_energy_of(bench.element).expect("open") + view.potential_energy();
            let kinetic = 0.5 * MASS * (speed * speed - got_v * got_v);
            assert_relative_eq!(at_end, kinetic, max_relative = 1e-7);
        }
    }
}

#[test]
fn bristles_hold_until_the_falling_load_can_no_longer() {
    let (pull, first, fall) = (3.0, 20.0, 10.0);
    let bench = Bench::new(loaded(), pull);
    let load = |t: f64| first - fall * t;
    // Friction of 0.3 N holds 3 N down to a load of 10 N, at 1 s.
    let slips = (first - pull / 0.3) / fall;
    let step = 1e-4;
    let mut simulation = bench.start(pull / 1e5, 0.0);
    // It starts in balance once the bristles are bent.
    let bent = |discrete: &mut Discrete<f64>| discrete.last_sticking_position = 0.0;
    let set = simulation.update_state(|state| bench.system.update_discrete(state, bench.element, bent));
    set.expect("valid");
    let mut euler = SemiImplicitEuler::new(step);
    bench.run_under(&mut simulation, &mut euler, load, 9990, 0.999);
    let (held, rest) = bench.motion(&simulation);
    assert!((held - pull / 1e5).abs() < 1e-12 && rest.abs() < 1e-9, "{held} m, {rest} m/s");
    bench.run_under(&mut simulation, &mut euler, load, 5010, 0.501);
    let after: f64 = 1.5 - slips;
    let (q, v) = bench.motion(&simulation);
    // m·v̇ = 0.3·fall·(t − t*), late by a step or two.
    let expected_v = 0.3 * fall * after.powi(2) / (2.0 * MASS);
    let expected_q = held + 0.3 * fall * after.powi(3) / (6.0 * MASS);
    assert!((v - expected_v).abs() < 3.0 * step * 0.3 * fall * after / MASS, "{v} m/s, {expected_v} m/s");
    assert!((q - expected_q).abs() < 3.0 * step * expected_v, "{q} m, {expected_q} m");
}

#[test]
fn bristles_that_the_load_tears_keep_the_direction_of_their_force() {
    // Bent by 2 N, of which the load holds 1.5 N; the slider already moves back.
    let p = Parameters { friction_load: 5.0, ..loaded() };
    for side in [1.0, -1.0] {
        let stuck = Discrete::default();
        let (q, v) = (side * 2.1e-5, -side * 1e-3);
        let torn = p.switch(q, v, &stuck, &stuck);
        assert_relative_eq!(torn.0.friction_mode, side * 1.5, max_relative = 1e-12);
        assert_relative_eq!(torn.1, 0.5, max_relative = 1e-9);
        // They stick where they continue the force, in the next step as in the same one, and hold from then on.
        for start in [torn.0, stuck] {
            let held = p.switch(q, v, &start, &torn.0).0;
            let force = p.sticking_stiffness * (q - held.last_sticking_position) + p.sticking_damping * v;
            assert_eq!(held.friction_mode, 0.0);
            assert_relative_eq!(force, side * 1.5, max_relative = 1e-9);
            assert_eq!(p.switch(q, v, &start, &held).0, held);
        }
        // Viscous friction makes the force of a fast slip larger than what sticks.
        let viscous = Parameters { viscous_friction: 1e3, ..p };
        let torn = viscous.switch(q, v, &stuck, &stuck).0;
        assert!(torn.friction_mode.abs() > 2.0, "{torn:?}");
        let held = viscous.switch(q, v, &torn, &torn).0;
        assert_eq!(viscous.switch(q, v, &held, &held).0, held);
    }
}

#[test]
fn without_load_there_is_no_friction_to_the_last_bit() {
    let swing = Parameters { stiffness: 300.0, ..Parameters::default() };
    let mut ends = Vec::new();
    for parameters in [swing, Parameters { stiffness: 300.0, ..loaded() }] {
        let bench = Bench::new(parameters, 0.0);
        let mut simulation = bench.start(0.1, 0.5);
        let mut turns = 0;
        let mut last = 0.5;
        let observe = |simulation: &mut Simulation<'_, f64>| {
            let (_, v) = bench.motion(simulation);
            turns += i32::from(v * last < 0.0);
            last = v;
        };
        simulation.run(&mut SemiImplicitEuler::new(1e-3), 3.0, observe).expect("runs");
        assert!(turns > 5, "{turns} turns");
        ends.push(bench.motion(&simulation));
    }
    assert_eq!(ends[0], ends[1]);
}

#[test]
fn bristles_without_load_slip_and_stick_again_under_load() {
    let p = loaded();
    let stuck = Discrete { last_sticking_position: 0.2, ..Discrete::default() };
    let unloaded = p.switch(0.20001, -0.1, &stuck, &stuck);
    assert!(unloaded.0.friction_mode < 0.0, "slips with the velocity");
    assert_eq!(unloaded.0.last_sticking_position, 0.20001);
    // What the bristles exerted, 1 N of bend less 10 N of damping, is lost.
    assert_relative_eq!(unloaded.1, 9.0, max_relative = 1e-9);
    let turned = p.switch(0.2, 0.1, &unloaded.0, &unloaded.0);
    assert!(turned.0.friction_mode > 0.0 && turned.1 == 0.0);
    let pressed = Parameters { friction_load: -10.0, ..p };
    let caught = pressed.switch(0.2, -1e-9, &turned.0, &turned.0);
    assert_eq!(caught.0.friction_mode, 0.0);
    assert_relative_eq!(caught.0.last_sticking_position, 0.2, max_relative = 1e-9);
}

#[test]
fn writing_a_load_moves_no_energy_and_keeps_positions_and_velocities_realized() {
    let bench = Bench::new(Parameters { friction_load: 15.0, ..loaded() }, 0.0);
    let mut state = bench.system.default_state();
    state.set_coordinate(bench.slider, 2e-5).expect("finite");
    bench.system.reset_dissipated_energy(&mut state).expect("regular");
    let before = bench.system.dynamics_view(&state).expect("realized").potential_energy();
    assert!(before > 0.0, "the bristles are bent");
    for load in [40.0, -3.0, 0.0, 7.0] {
        let write = |p: &mut Parameters<f64>| p.friction_load = load;
        bench.system.update_parameters(&mut state, bench.element, write).expect("finite");
        bench.system.velocity_view(&state).expect("still there");
        bench.system.dynamics_view(&state).expect_err("forces depend on it");
        let view = bench.system.realize_dynamics(&mut state).expect("regular");
        assert_eq!(view.dissipated_energy_of(bench.element), Some(0.0));
        assert_eq!(view.potential_energy(), before);
    }
}

fn smooth() -> Parameters<f64> {
    Parameters {
        use_limit_stops: true,
        limit_stops_upper: 0.5,
        limit_stops_lower: -0.25,
        limit_stops_upper_stiffness: 4e4,
        limit_stops_lower_stiffness: 1e4,
        limit_stops_transition: 0.01,
        ..Parameters::default()
    }
}

/// The force of a smooth stop and the energy stored in it.
fn pressed(parameters: Parameters<f64>, q: f64, v: f64) -> (f64, f64) {
    let bench = Bench::new(parameters, 0.0);
    let mut state = bench.system.default_state();
    state.set_coordinate(bench.slider, q).expect("finite");
    state.set_coordinate_rate(bench.slider, v).expect("finite");
    let view = bench.system.realize_dynamics(&mut state).expect("regular");
    let at = view.of(bench.element).dynamics;
    (at.contact_force, at.potential_energy)
}

#[test]
fn the_energy_of_a_smooth_stop_is_the_integral_of_its_force() {
    for (stop, outward) in [(0.5, 1.0), (-0.25, -1.0)] {
        let mut energy = 0.0;
        let count = 300;
        let width = 0.03 / f64::from(count);
        for i in 0..count {
            // Simpson's rule is exact up to cubics; the rest is of the sixth power of 1/100 of the transition.
            let force =
                |share: f64| pressed(smooth(), stop + outward * width * (f64::from(i) + share), 0.0).0;
            energy += outward * width / 6.0 * (force(0.0) + 4.0 * force(0.5) + force(1.0));
            let stored = pressed(smooth(), stop + outward * width * f64::from(i + 1), 0.0).1;
            assert_relative_eq!(stored, energy, max_relative = 1e-7, epsilon = 1e-9);
        }
        assert!(energy > 1.0, "{energy} J");
    }
    // Beyond the transition the two stops are springs and dampers of their own.
    let damped = Parameters { limit_stops_upper_damping: 30.0, limit_stops_lower_damping: 70.0, ..smooth() };
    assert_relative_eq!(pressed(damped, 0.52, 0.1).0, 4e4 * 0.02 + 3.0, max_relative = 1e-12);
    assert_relative_eq!(pressed(damped, -0.27, 0.1).0, -1e4 * 0.02 + 7.0, max_relative = 1e-12);
    // Half way through the transition it is half of that; between the stops nothing.
    assert_relative_eq!(pressed(damped, 0.505, 0.1).0, 0.5 * (4e4 * 0.005 + 3.0), max_relative = 1e-12);
    assert_eq!(pressed(damped, 0.5, 9.0), (0.0, 0.0));
    // A stop without constants is none.
    let one_sided = Parameters { limit_stops_lower_stiffness: 0.0, ..smooth() };
    assert_eq!(pressed(one_sided, -9.0, 1.0), (0.0, 0.0));
}

#[test]
fn a_dropped_slider_bounces_back_to_its_height_and_enters_as_deep_as_its_energy() {
    let (weight, height) = (MASS * 9.81, 0.3);
    let bench = Bench::new(smooth(), -weight);
    let mut simulation = bench.start(-0.25 + height, 0.0);
    let (mut deepest, mut highest, mut bounced) = (0.0_f64, 0.0_f64, false);
    let observe = |simulation: &mut Simulation<'_, f64>| {
        let depth = -0.25 - bench.motion(simulation).0;
        deepest = deepest.max(depth);
        bounced |= depth > 0.0;
        highest = if bounced { highest.max(-depth) } else { 0.0 };
    };
    simulation.run(&mut DormandPrince::new(1e-10).with_max_step(1e-4), 0.7, observe).expect("runs");
    // k·p²/2 − k·w²/7 = weight·(height + p), beyond the transition.
    let constant = weight * height + 1e4 * 0.01 * 0.01 / 7.0;
    let expected = (weight + (weight * weight + 2.0 * 1e4 * constant).sqrt()) / 1e4;
    assert!(expected > 0.01, "beyond the transition: {expected} m");
    // The turning points lie within half a step: 0.5·150 m/s²·(5e-5 s)² and 0.5·g·(5e-5 s)².
    assert!((deepest - expected).abs() < 2e-7, "{deepest} m, {expected} m");
    assert!((highest - height).abs() < 2e-8, "{highest} m");
}

#[test]
fn a_damped_smooth_stop_tends_to_the_restitution_of_a_spring_and_damper_as_its_transition_narrows() {
    let speed = 1.0;
    let (upper, lower) = ((4e4_f64, 80.0), (1e4_f64, 120.0));
    for (direction, (stiffness, damping)) in [(1.0, upper), (-1.0, lower)] {
        // m·ẍ + d·ẋ + k·x = 0 until it is back at the stop.
        let ratio: f64 = damping / (2.0 * (stiffness * MASS).sqrt());
        let restitution = (-core::f64::consts::PI * ratio / (1.0 - ratio * ratio).sqrt()).exp();
        for width in [1e-4, 1e-5, 1e-6] {
            let parameters = Parameters {
                limit_stops_upper_damping: upper.1,
                limit_stops_lower_damping: lower.1,
                limit_stops_transition: width,
                ..smooth()
            };
            let bench = Bench::new(parameters, 0.0);
            let mut simulation = bench.start(0.1, direction * speed);
            simulation.run(&mut DormandPrince::new(1e-10), 0.8, |_| {}).expect("runs");
            let (_, v) = bench.motion(&simulation);
            assert!(v * direction < 0.0, "bounced");
            // The damper is missing over less than the transition, twice: d·w of momentum each.
            let allowed = 2.0 * damping * width / MASS + 1e-8;
            let off = v.abs() / speed - restitution;
            assert!(off.abs() < allowed, "{v} m/s for {restitution}, {allowed} allowed at {width} m");
            let view = simulation.dynamics().expect("regular");
            let lost = view.dissipated_energy_of(bench.element).expect("open");
            assert_relative_eq!(lost, 0.5 * MASS * (speed * speed - v * v), max_relative = 1e-7);
        }
    }
}

#[test]
fn smooth_stops_do_not_switch() {
    let bench = Bench::new(smooth(), 0.0);
    let mut state = bench.system.default_state();
    state.set_coordinate(bench.slider, 0.52).expect("finite");
    let force = bench.system.realize_dynamics(&mut state).expect("regular").coordinate_force(bench.slider);
    assert_relative_eq!(force, -4e4 * 0.02, max_relative = 1e-12);
    assert_eq!(bench.system.switching_error(&mut state).expect("realized"), 0.0);
    bench.system.accept_step(&mut state).expect("realized");
    assert_eq!(state.discrete(bench.element).limit_stop_state, 0.0);
}

#[test]
fn a_stop_that_only_pushes_states_the_force_by_which_it_does() -> Result<(), Error> {
    let (upper, lower) = ((3e3, 40.0), (5e3, 70.0));
    let only_pushes = Parameters {
        use_limit_stops: true,
        limit_stops_upper: 0.5,
        limit_stops_lower: -0.4,
        limit_stops_upper_stiffness: upper.0,
        limit_stops_upper_damping: upper.1,
        limit_stops_lower_stiffness: lower.0,
        limit_stops_lower_damping: lower.1,
        limit_stops_only_push: true,
        ..Parameters::default()
    };
    let smooth = Parameters { limit_stops_transition: 1e-3, ..only_pushes };
    for (parameters, q, inward) in [
        (only_pushes, 0.51, 0.3),
        (only_pushes, 0.51, 1.2),
        (only_pushes, -0.42, -1.0),
        (only_pushes, -0.42, -2.0),
        (smooth, 0.51, 1.2),
        (smooth, -0.42, -1.0),
    ] {
        let bench = Bench::new(parameters, 0.0);
        let simulation = bench.start(q, -inward);
        let mut linearization = Linearization::new();
        bench.system.linearize(simulation.state(), &mut linearization)?;
        let (stiffness, damping) = if q > 0.0 { upper } else { lower };
        let depth = f64::max(q - 0.5, -0.4 - q);
        let push = stiffness * depth - damping * inward.abs();
        let branches = linearization.element(bench.element).branches();
        let name = if push > 0.0 { "pushing" } else { "let go" };
        let stated = branches.iter().find(|branch| branch.name == name).map(|branch| branch.margin);
        // Roundoff of newtons.
        assert!(
            stated.is_some_and(|stated| (stated - push.abs()).abs() < 1e-12),
            "{q} {inward}: {branches:?}"
        );
    }
    Ok(())
}

#[test]
fn the_slope_of_slipping_bristles_by_the_zone_is_that_of_regularised_friction_on_its_side() {
    let rubbing = Parameters {
        dynamic_friction: 2.0,
        static_friction_offset: 1.0,
        exponential_decay_static: 0.1,
        viscous_friction: 0.5,
        ..loaded()
    };
    let bench = Bench::new(rubbing, 0.0);
    for (v, mode, is_slope) in
        [(0.05, 2.0, true), (-0.2, -2.0, true), (0.05, 0.0, false), (-0.05, 2.0, false)]
    {
        let mut state = bench.system.default_state();
        state.set_coordinate_rate(bench.slider, v).expect("finite");
        let slips = |discrete: &mut Discrete<f64>| discrete.friction_mode = mode;
        bench.system.update_discrete(&mut state, bench.element, slips).expect("valid");
        let force = |zone: f64| {
            let mut state = state.clone();
            let set = |p: &mut Parameters<f64>| p.friction_proportional_zone = zone;
            bench.system.update_parameters(&mut state, bench.element, set).expect("valid");
            bench.system.realize_dynamics(&mut state).expect("regular").coordinate_force(bench.slider)
        };
        let h = 1e-6;
        let side = (4.0 * force(h) - 3.0 * force(0.0) - force(2.0 * h)) / (2.0 * h);
        bench.system.realize_dynamics(&mut state).expect("regular");
        let mut linearization = Linearization::of(Scope { variables: true, commit: false });
        bench.system.linearize(&state, &mut linearization).expect("regular");
        let id = bench.element.id();
        let names = state.linearized_variables(id).expect("own");
        let is_zone = |column| matches!(column, Column::Variable(i) if names[i].ends_with("friction_proportional_zone"));
        let slope: f64 = linearization
            .element(id)
            .blocks()
            .filter(|&(row, by, _)| matches!(row, Row::Force(_)) && is_zone(by))
            .map(|(.., block)| block[0])
            .sum();
        if is_slope {
            assert!(slope.abs() > 0.1, "{slope}");
            // Differences err by h² of the third derivative and by rounding over h.
            assert_relative_eq!(slope, side, max_relative = 1e-7);
        } else {
            // Another law, to which there is a jump.
            assert!(side.abs() > 1e5, "{side}");
        }
        assert!(mode != 0.0 || slope == 0.0, "{slope}");
    }
}

/// A stop that was touched before stops were switched off does not act when they are switched on elsewhere.
#[test]
fn stops_that_are_switched_on_again_act_where_the_coordinate_is() {
    let Bench { system, slider, element, .. } = Bench::between_stops();
    for (elsewhere, force) in [(-0.4, 0.0), (0.05, 0.0), (-1.01, 200.0), (0.101, -10.0)] {
        for only_push in [false, true] {
            let mut state = system.default_state();
            state.set_coordinate(slider, 0.101).expect("finite");
            system.reset_memory(&mut state, element).expect("own");
            let switch = |state: &mut _, is_on| {
                system.update_parameters(state, element, |p| {
                    (p.use_limit_stops, p.limit_stops_only_push) = (is_on, only_push);
                })
            };
            switch(&mut state, false).expect("valid");
            for (time, q) in [(0.1, 0.09), (0.2, elsewhere)] {
                state.set_time(time).expect("finite");
                state.set_coordinate(slider, q).expect("finite");
                system.realize_dynamics(&mut state).expect("regular");
                system.accept_step(&mut state).expect("regular");
                assert_eq!(state.discrete(element).limit_stop_state, 0.0);
            }
            switch(&mut state, true).expect("valid");
            for _ in 0..2 {
                let dynamics = system.realize_dynamics(&mut state).expect("regular");
                assert_relative_eq!(dynamics.coordinate_force(slider), force, epsilon = 1e-9);
                system.accept_step(&mut state).expect("regular");
            }
        }
    }
}

/// A stop that is moved acts where it is, at once, and the caller supplies its energy.
#[test]
fn a_stop_that_is_moved_acts_where_it_is() {
    let Bench { system, slider, element, .. } = Bench::between_stops();
    for (is_upper, to, force) in
        [(true, 0.5, 0.0), (true, 0.05, -520.0), (false, 0.2, 1960.0), (false, -2.0, -20.0)]
    {
        let mut state = system.default_state();
        // Between the two stops, if the lower one has moved.
        state.set_coordinate(slider, 0.102).expect("finite");
        system.reset_memory(&mut state, element).expect("own");
        system.reset_dissipated_energy(&mut state).expect("regular");
        let moved = |p: &mut Parameters<f64>| {
            if is_upper {
                p.limit_stops_upper = to;
            } else {
                (p.limit_stops_lower, p.limit_stops_upper) = (to, to.max(0.1));
            }
        };
        system.update_parameters(&mut state, element, moved).expect("valid");
        for _ in 0..2 {
            let dynamics = system.realize_dynamics(&mut state).expect("regular");
            assert_relative_eq!(dynamics.coordinate_force(slider), force, epsilon = 1e-9);
            let dissipated = dynamics.dissipated_energy().expect("open");
            assert_relative_eq!(dissipated, 0.0, epsilon = 1e-12);
            system.accept_step(&mut state).expect("regular");
        }
    }
}

/// A stop that is written before the initial motion is not surpassed by the coordinate of a new state, nor by that of one
/// whose variables have been restored.
#[test]
fn a_stop_that_is_written_before_the_motion_does_not_act_where_the_coordinate_was() {
    let Bench { system, slider, element, .. } = Bench::between_stops();
    let mut moved = system.default_state();
    moved.set_coordinate(slider, 0.05).expect("finite");
    system.realize_dynamics(&mut moved).expect("regular");
    let mut restored = moved.clone();
    restored.restore(&moved.snapshot()).expect("of the same system");
    for mut state in [system.default_state(), restored] {
        let write = |p: &mut Parameters<f64>| (p.limit_stops_lower, p.limit_stops_upper) = (-3.0, -0.5);
        system.update_parameters(&mut state, element, write).expect("valid");
        state.set_coordinate(slider, -1.0).expect("finite");
        let dynamics = system.realize_dynamics(&mut state).expect("regular");
        assert_eq!(dynamics.coordinate_force(slider), 0.0);
    }
    // One that has been evaluated is where it is.
    let write = |p: &mut Parameters<f64>| (p.limit_stops_lower, p.limit_stops_upper) = (-3.0, -0.5);
    system.update_parameters(&mut moved, element, write).expect("valid");
    assert!(system.realize_dynamics(&mut moved).expect("regular").coordinate_force(slider) < -1.0);
}

/// However a state has come to a motion, parameters that are written there act as after an evaluation, and the caller
/// supplies their energy.
#[test]
fn parameters_act_alike_in_states_that_were_evaluated_restored_resumed_or_begun() {
    let bench = Bench::between_stops();
    let Bench { system, plant, slider, element } = &bench;
    let run = bench.start(0.05, 0.0);
    let mut evaluated = run.state().clone();
    system.reset_dissipated_energy(&mut evaluated).expect("regular");
    let place = |state: &mut State<f64>| state.set_coordinate(*slider, 0.05).expect("finite");
    let mut restored = system.default_state();
    restored.restore(&evaluated.snapshot()).expect("of the same system");
    place(&mut restored);
    let mut from_bytes = system.default_state();
    from_bytes.restore_bytes(&evaluated.to_bytes()).expect("of the same system");
    place(&mut from_bytes);
    let mut begun = system.default_state();
    place(&mut begun);
    system.reset_memories(&mut begun).expect("regular");
    let resumed = Simulation::resume(system, plant, &run.save()).expect("of the same plant");
    let stop = |p: &mut Parameters<f64>| (p.limit_stops_lower, p.limit_stops_upper) = (-3.0, -0.05);
    let brake = |p: &mut Parameters<f64>| (p.dynamic_friction, p.sticking_stiffness) = (4.0, 1e4);
    let lone_stop = -1e4 * 0.1;
    for mut state in [evaluated, restored, from_bytes, begun, resumed.state().clone()] {
        let is_open = state.variable("coordinate_spring_damper_ext[0].account_open") == Ok(1.0);
        system.update_parameters(&mut state, *element, stop).expect("valid");
        system.update_parameters(&mut state, *element, brake).expect("valid");
        let dynamics = system.realize_dynamics(&mut state).expect("regular");
        assert_relative_eq!(dynamics.coordinate_force(*slider), lone_stop, max_relative = 1e-12);
        let dissipated = dynamics.dissipated_energy();
        assert_eq!(dissipated.map(|energy| energy.abs() < 1e-12), is_open.then_some(true), "{dissipated:?}");
    }
}

/// An element that is enabled where a stop is surpassed pushes at once, and the caller supplies the energy.
#[test]
fn an_element_that_is_enabled_beyond_a_stop_pushes_at_once() {
    let Bench { system, slider, element, .. } = Bench::between_stops();
    for (q, force) in [(0.3, -1e4 * 0.2), (0.05, 0.0), (-1.5, 2e4 * 0.5)] {
        let mut state = system.default_state();
        system.reset_memories(&mut state).expect("regular");
        system.reset_dissipated_energy(&mut state).expect("regular");
        system.set_enabled(&mut state, element, false).expect("own");
        state.set_time(0.1).expect("finite");
        state.set_coordinate(slider, q).expect("finite");
        system.realize_dynamics(&mut state).expect("regular");
        // Without force there is no work.
        state.set_absorbed_energy(&[0.0]).expect("of one element");
        system.accept_step(&mut state).expect("regular");
        system.set_enabled(&mut state, element, true).expect("own");
        for _ in 0..2 {
            let dynamics = system.realize_dynamics(&mut state).expect("regular");
            assert_relative_eq!(dynamics.coordinate_force(slider), force, max_relative = 1e-12);
            assert_relative_eq!(dynamics.dissipated_energy().expect("open"), 0.0, epsilon = 1e-12);
            system.accept_step(&mut state).expect("regular");
        }
    }
}

/// Dual numbers, of which derivatives are not compared, and writes by name follow as double precision does.
#[test]
fn memory_follows_in_dual_numbers_and_by_name() {
    fn force<T: Real>(by_name: bool) -> [f64; 2] {
        let mut system = ForceSystem::<T>::new();
        let slider = system.add_coordinate();
        let brake = Parameters { sticking_stiffness: T::lit(1e4), ..Parameters::default() };
        let stops = Parameters {
            use_limit_stops: true,
            limit_stops_upper: T::lit(2.0),
            limit_stops_upper_stiffness: T::lit(1e3),
            ..Parameters::default()
        };
        let [brake, stops] = [brake, stops].map(|parameters| {
            let element = CoordinateSpringDamperExt::new(CoordinatePair::on(slider), parameters);
            system.add(element.expect("valid")).expect("exists")
        });
        [brake, stops].map(|element| {
            let mut state = system.default_state();
            system.set_enabled(&mut state, brake, element == brake).expect("own");
            system.set_enabled(&mut state, stops, element == stops).expect("own");
            state.set_coordinate(slider, T::one()).expect("finite");
            system.realize_dynamics(&mut state).expect("regular");
            system.accept_step(&mut state).expect("regular");
            if by_name {
                // Disabled while it moves, and enabled with what has changed.
                system.set_enabled(&mut state, element, false).expect("own");
                state.set_coordinate(slider, T::lit(1.5)).expect("finite");
                let changed = if element == brake { "dynamic_friction" } else { "limit_stops_upper" };
                let value = if element == brake { 5.0 } else { 1.4 };
                let values = [("enabled", T::one()), (changed, T::lit(value))];
                system.set_variables(&mut state, element, &values).expect("valid");
            } else {
                let change = |p: &mut Parameters<T>| {
                    if element == brake {
                        p.dynamic_friction = T::lit(5.0);
                    } else {
                        p.limit_stops_upper = T::lit(0.9);
                    }
                };
                system.update_parameters(&mut state, element, change).expect("valid");
            }
            system.realize_dynamics(&mut state).expect("regular").coordinate_force(slider).to_f64()
        })
    }
    for by_name in [false, true] {
        let [bristles, stop] = force::<f64>(by_name);
        assert_eq!(bristles, 0.0, "{by_name}");
        assert_relative_eq!(stop, -100.0, max_relative = 1e-12);
        assert_eq!(force::<Dual64>(by_name), [bristles, stop], "{by_name}");
    }
}

/// What parameters supply before the motion of a restored state is set is not known.
#[test]
fn parameters_that_are_written_before_the_motion_close_the_account() {
    let Bench { system, slider, element, .. } = Bench::between_stops();
    let mut saved = system.default_state();
    saved.set_coordinate(slider, 0.2).expect("finite");
    system.reset_dissipated_energy(&mut saved).expect("regular");
    let mut state = system.default_state();
    state.restore(&saved.snapshot()).expect("of the same system");
    let stiffer = |p: &mut Parameters<f64>| p.limit_stops_upper_stiffness *= 2.0;
    system.update_parameters(&mut state, element, stiffer).expect("valid");
    state.set_coordinate(slider, 0.2).expect("finite");
    assert_eq!(system.realize_dynamics(&mut state).expect("regular").dissipated_energy(), None);
    system.update_parameters(&mut saved, element, stiffer).expect("valid");
    let dissipated = system.realize_dynamics(&mut saved).expect("regular").dissipated_energy();
    assert_relative_eq!(dissipated.expect("open"), 0.0, epsilon = 1e-12);
}

/// Bristles that parameters switch on begin unbent where the coordinate is, and slip if their damper tears them.
#[test]
fn bristles_that_are_switched_on_begin_where_the_coordinate_is() {
    let brake = Parameters {
        dynamic_friction: 4.0,
        sticking_stiffness: 1e4,
        sticking_damping: 20.0,
        ..Parameters::default()
    };
    let off: [fn(&mut Parameters<f64>); 2] =
        [|p| p.dynamic_friction = 0.0, |p| p.friction_proportional_zone = 1e-3];
    for off in off {
        for (v, force) in [(0.0, 0.0), (0.01, -0.2), (1.0, -4.0), (-1.0, 4.0)] {
            let Bench { system, slider, element, .. } = Bench::new(brake, 0.0);
            let mut state = system.default_state();
            system.reset_dissipated_energy(&mut state).expect("regular");
            system.update_parameters(&mut state, element, off).expect("valid");
            let accept = |state: &mut _, time: f64, q: f64, v: f64| {
                State::set_time(state, time).expect("finite");
                state.set_coordinate(slider, q).expect("finite");
                state.set_coordinate_rate(slider, v).expect("finite");
                system.realize_dynamics(state).expect("regular");
                system.accept_step(state).expect("regular");
            };
            accept(&mut state, 0.1, 0.1, 1.0);
            accept(&mut state, 0.2, 0.25, v);
            system.set_parameters(&mut state, element, brake).expect("valid");
            let dynamics = system.realize_dynamics(&mut state).expect("regular");
            assert_relative_eq!(dynamics.coordinate_force(slider), force, max_relative = 1e-9);
            assert_relative_eq!(dynamics.potential_energy(), 0.0, epsilon = 1e-12);
        }
    }
}
