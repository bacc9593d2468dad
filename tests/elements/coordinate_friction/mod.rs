//! Stick, slip and stops of the extended coordinate spring-damper.

use approx::assert_relative_eq;
use force_elements::coordinate_spring_damper_ext::{Discrete, Parameters};
use force_elements::nalgebra::Vector3;
use force_elements::simulation::{DormandPrince, Implicit, Integrator, Plant, SemiImplicitEuler, Simulation};
use force_elements::{
    CoordinateIndex, CoordinatePair, CoordinateSpringDamperExt, ElementError, Error, ForceSystem,
    Requirement, Variables,
};

mod limits;

fn bristles() -> Parameters<f64> {
    Parameters {
        dynamic_friction: 2.0,
        static_friction_offset: 1.0,
        exponential_decay_static: 0.1,
        viscous_friction: 0.5,
        sticking_stiffness: 1e4,
        sticking_damping: 10.0,
        ..Parameters::default()
    }
}

fn stuck(last_sticking_position: f64) -> Discrete<f64> {
    Discrete { last_sticking_position, ..Discrete::default() }
}

fn slipping(friction_mode: f64) -> Discrete<f64> {
    Discrete { friction_mode, ..Discrete::default() }
}

#[test]
fn bristles_hold_up_to_the_static_limit_and_then_slip_at_the_stribeck_force() {
    let p = bristles();
    let start = stuck(0.5);
    let held = p.switch(0.5 + 2.9e-4, 0.0, &start, &start);
    assert_eq!(held, (start, 0.0));
    let v = 0.02;
    let let_go = p.switch(0.5 + 2.9e-4, v, &start, &start);
    let stribeck = 2.0 + (-v / 0.1_f64).exp() + 0.5 * v;
    assert_relative_eq!(let_go.0.friction_mode, stribeck, max_relative = 1e-15);
    assert_relative_eq!(let_go.1, 2.9 + 10.0 * v - stribeck, max_relative = 1e-9);
    let backwards = p.switch(0.5 - 3.5e-4, -v, &start, &start);
    assert_relative_eq!(backwards.0.friction_mode, -stribeck, max_relative = 1e-15);
}

#[test]
fn the_limit_of_bristles_is_that_of_the_parameters_up_to_a_millionth_and_rounding() {
    let p = bristles();
    let holds = |q: f64, excess: f64| {
        let start = stuck(q - 3.0 * (1.0 + excess) / p.sticking_stiffness);
        p.switch(q, 0.0, &start, &start).0 == start
    };
    for q in [0.0, 1.0, -100.0] {
        assert!(holds(q, -1e-8) && holds(q, 1e-7) && !holds(q, 2e-6), "at {q} m");
    }
    // In single precision displacements of 1 m are rounded to 6e-8 m, here 0.06 N.
    let single =
        Parameters::<f32> { dynamic_friction: 3.0, sticking_stiffness: 1e6, ..Parameters::default() };
    let start = Discrete { last_sticking_position: 1.0_f32, ..Discrete::default() };
    for (bend, slips) in [(2.9e-6, false), (3.5e-6, true), (-2.9e-6, false), (-3.5e-6, true)] {
        let mode = single.switch(1.0 + bend, 0.0, &start, &start).0.friction_mode;
        assert_eq!(mode, if slips { 3.0_f32.copysign(bend) } else { 0.0 }, "{bend} m");
    }
}

#[test]
fn slip_that_turns_around_sticks_where_it_stuck_before_or_where_the_force_continues() {
    let p = bristles();
    let v = -0.01;
    // It stuck at the start of the step, 2 N from here: back to that position.
    let back = p.switch(0.3, v, &stuck(0.2998), &slipping(2.5));
    assert_eq!((back.0.friction_mode, back.0.last_sticking_position), (0.0, 0.2998));
    // It stuck 100 N from here, or slipped at the start of the step: the bristle force continues the last slip force.
    let force = |discrete: Discrete<f64>| 1e4 * (0.3 - discrete.last_sticking_position) + 10.0 * v;
    let far = p.switch(0.3, v, &stuck(0.29), &slipping(2.5)).0;
    assert_eq!(far.friction_mode, 0.0);
    assert_relative_eq!(force(far), 2.5, max_relative = 1e-9);
    let caught = p.switch(0.3, v, &slipping(2.5), &slipping(2.4));
    assert_eq!(caught.0.friction_mode, 0.0);
    assert_relative_eq!(force(caught.0), 2.5, max_relative = 1e-9);
    let stribeck = 2.0 + (v / 0.1_f64).exp() - 0.5 * v;
    assert_relative_eq!(caught.1, 2.5 + stribeck + 10.0 * 0.01, max_relative = 1e-12);
}

#[test]
fn slip_that_goes_on_tracks_position_and_force_without_error() {
    let p = bristles();
    let on = p.switch(0.7, 0.2, &slipping(2.5), &slipping(2.5));
    let stribeck = 2.0 + (-2.0_f64).exp() + 0.1;
    assert_eq!(on.0.last_sticking_position, 0.7);
    assert_relative_eq!(on.0.friction_mode, stribeck, max_relative = 1e-15);
    assert_eq!(on.1, 0.0);
}

#[test]
fn during_an_evaluation_slip_does_not_turn_around() {
    let mut system = ForceSystem::<f64>::new();
    let slider = system.add_coordinate();
    let element = system
        .add(CoordinateSpringDamperExt::new(CoordinatePair::on(slider), bristles()).expect("valid"))
        .expect("exists");
    let mut state = system.default_state();
    system.set_discrete(&mut state, element, slipping(-2.5)).expect("valid");
    for v in [-0.3, -0.01, 0.0, 0.01, 0.3] {
        state.set_coordinate_rate(slider, v).expect("finite");
        let force = system.realize_dynamics(&mut state).expect("regular").of(element).dynamics.friction_force;
        assert!(force < -2.0, "{force} N at {v} m/s");
    }
}

#[test]
fn sticking_can_be_reset_to_where_the_coordinates_are() {
    let mut system = ForceSystem::<f64>::new();
    let slider = system.add_coordinate();
    let element = system
        .add(
            CoordinateSpringDamperExt::new(
                CoordinatePair { coordinate0: Some(slider), coordinate1: None },
                bristles(),
            )
            .expect("valid"),
        )
        .expect("exists");
    let mut state = system.default_state();
    state.set_coordinate(slider, 0.5).expect("finite");
    let jolt = system.realize_dynamics(&mut state).expect("regular").coordinate_force(slider);
    assert_relative_eq!(jolt, -5000.0, max_relative = 1e-12);
    system.reset_memory(&mut state, element).expect("own handle");
    assert_eq!(system.realize_dynamics(&mut state).expect("regular").coordinate_force(slider), 0.0);
    assert_eq!(state.discrete(element).last_sticking_position, -0.5);
}

/// The first force of a motion is that of a slip, not of the damper of bristles that stick at full speed.
#[test]
fn bristles_reset_in_motion_slip_if_their_damper_demands_more_than_they_hold() -> Result<(), Error> {
    let parameters = Parameters { sticking_damping: 200.0, ..bristles() };
    let holding = parameters.dynamic_friction + parameters.static_friction_offset;
    let limit = holding / parameters.sticking_damping;
    for side in [-1.0, 1.0] {
        for (speed, slips) in [(0.999 * limit, false), (1.001 * limit, true), (100.0 * limit, true)] {
            let mut system = ForceSystem::<f64>::new();
            let slider = system.add_coordinate();
            let element =
                system.add(CoordinateSpringDamperExt::new(CoordinatePair::on(slider), parameters)?)?;
            let mut state = system.default_state();
            state.set_coordinate(slider, 0.5)?;
            state.set_coordinate_rate(slider, side * speed)?;
            system.reset_memory(&mut state, element)?;
            let expected = if slips { parameters.stribeck(speed) } else { 200.0 * speed };
            let force = system.realize_dynamics(&mut state)?.coordinate_force(slider);
            assert_relative_eq!(force, -side * expected, max_relative = 1e-12);
            assert_eq!(state.discrete(element).last_sticking_position, 0.5);
            // What was stored is an unbent bristle.
            assert_eq!(state.discrete(element).bristle_energy, 0.0);
        }
    }
    Ok(())
}

#[test]
fn a_slider_is_held_by_bristles_until_the_load_exceeds_static_friction() {
    for (load, holds) in [(2.5, true), (3.1, false)] {
        let mut system = ForceSystem::<f64>::new();
        let mut plant = Plant::new(Vector3::zeros()).expect("finite");
        let slider: CoordinateIndex = plant.add_coordinate(&mut system, 1.0).expect("positive");
        plant.set_coordinate_load(slider, load).expect("finite");
        let parameters = Parameters { sticking_damping: 200.0, ..bristles() };
        system
            .add(CoordinateSpringDamperExt::new(CoordinatePair::on(slider), parameters).expect("valid"))
            .expect("exists");
        let mut simulation = Simulation::new(&system, &plant, system.default_state()).expect("regular");
        simulation.run(&mut SemiImplicitEuler::new(1e-4), 2.0, |_| {}).expect("runs");
        let q = simulation.state().positions().coordinate(slider);
        if holds {
            // The load over the stiffness of the bristles.
            assert_relative_eq!(q, load / 1e4, max_relative = 1e-6);
        } else {
            assert!(q > 1.0, "{q} m");
        }
    }
}

/// Simulates a slider of 0.5 kg; returns what was lost, by how much that ever fell, and what is missing from the
/// balance of work at the worst, by the integrator.
fn losses(parameters: Parameters<f64>, speed: f64, integrator: &mut impl Integrator<f64>) -> (f64, f64, f64) {
    let mut system = ForceSystem::<f64>::new();
    let mut plant = Plant::new(Vector3::zeros()).expect("finite");
    let slider = plant.add_coordinate(&mut system, 0.5).expect("positive");
    // Where steps meet an event depends on the scales: those that bounds were found with.
    plant.set_scale(1.0).expect("positive");
    let element = CoordinateSpringDamperExt::new(CoordinatePair::on(slider), parameters).expect("valid");
    let element = system.add(element).expect("exists");
    let mut state = system.default_state();
    state.set_coordinate_rate(slider, speed).expect("finite");
    system
        .update_discrete(&mut state, element, |discrete| discrete.friction_mode = speed.signum())
        .expect("valid");
    let mut simulation = Simulation::new(&system, &plant, state).expect("regular");
    let before = simulation.work_balance();
    let (mut lost, mut fall, mut open) = (0.0_f64, 0.0_f64, 0.0_f64);
    let mut observe = |simulation: &mut Simulation<'_, f64>| {
        let view = simulation.dynamics().expect("regular");
        let now = view.dissipated_energy_of(element).expect("open");
        fall = fall.max(lost - now);
        lost = lost.max(now);
        open = open.max((simulation.work_balance() - before).abs());
    };
    simulation.run(integrator, 3.0, &mut observe).expect("runs");
    (lost, fall, open)
}

fn stops() -> Parameters<f64> {
    Parameters {
        use_limit_stops: true,
        limit_stops_upper: 0.5,
        limit_stops_lower: -0.5,
        limit_stops_upper_stiffness: 1e4,
        limit_stops_lower_stiffness: 1e4,
        ..Parameters::default()
    }
}

#[test]
fn dissipation_never_falls() {
    let braked = Parameters { stiffness: 100.0, damping: 2.8, ..bristles() };
    let cases = [
        ("bristles", braked, 24.9),
        ("soft bristles", Parameters { sticking_stiffness: 100.0, ..braked }, 24.0),
        ("regularised", Parameters { friction_proportional_zone: 1e-3, ..braked }, 24.9),
        (
            "damped stops",
            Parameters { limit_stops_upper_damping: 10.0, limit_stops_lower_damping: 10.0, ..stops() },
            20.0,
        ),
        (
            "stops that only push",
            Parameters {
                limit_stops_upper_damping: 10.0,
                limit_stops_lower_damping: 10.0,
                limit_stops_only_push: true,
                ..stops()
            },
            20.0,
        ),
    ];
    for (name, parameters, least) in cases {
        let mut integrator = DormandPrince::new(1e-9).with_max_step(1e-2);
        let (lost, fall, open) = losses(parameters, 10.0, &mut integrator);
        assert!(lost > least && lost < 25.0 + 1e-5, "{name}: {lost} J of 25 J");
        // Events are located to 1e-6 s: friction of 3 N pushes the wrong way over as much of the motion,
        // and a stop of 1e4 N/m is entered by up to 1e-5 m.
        assert!(fall < 1e-5, "{name}: dissipation fell by {fall} J");
        assert!(open < 1e-5, "{name}: {open} J");
    }
}

#[test]
fn bristles_torn_loose_by_their_damper_are_bent_on_by_friction() {
    let mut system = ForceSystem::<f64>::new();
    let slider = system.add_coordinate();
    let element = CoordinateSpringDamperExt::new(CoordinatePair::on(slider), bristles()).expect("valid");
    let element = system.add(element).expect("exists");
    let mut state = system.default_state();
    // 1 N of bend and 4 N of damping: they let go bent by a third, and slip.
    let (bend, v) = (1e-4, 0.4);
    state.set_coordinate(slider, bend).expect("finite");
    state.set_coordinate_rate(slider, v).expect("finite");
    let stuck = system.realize_dynamics(&mut state).expect("regular").potential_energy();
    assert_relative_eq!(stuck, 0.5 * 1e4 * bend * bend, max_relative = 1e-12);
    system.accept_step(&mut state).expect("realized");
    let mut at = |q: f64| {
        state.set_coordinate(slider, q).expect("finite");
        let view = system.realize_dynamics(&mut state).expect("regular");
        let at = view.of(element).dynamics;
        let stored_and_lost = (at.potential_energy, at.power_dissipated, at.friction_force * v);
        system.accept_step(&mut state).expect("realized");
        stored_and_lost
    };
    // Nothing jumps as they let go.
    assert_relative_eq!(at(bend).0, stuck, max_relative = 1e-12);
    let full: f64 = 0.5 * 3.0 * 3.0 / 1e4;
    let mut last = stuck;
    for i in 1..=40_i32 {
        let (stored, lost, taken) = at(bend + 1e-5 * f64::from(i));
        // What is stored within a step is what was at its start; the work of the step is credited at its end.
        assert_eq!(lost, taken);
        let work = if i == 1 { 0.0 } else { 1e-5 * taken / v };
        assert_relative_eq!(stored, full.min(last + work), max_relative = 1e-12);
        last = stored;
    }
    assert_relative_eq!(last, full);
    assert_relative_eq!(at(-1.0).0, full);
    assert_relative_eq!(at(-2.0).0, full);
}

#[test]
fn iterates_that_go_to_and_fro_bend_the_bristles_by_the_way_of_the_step_alone() {
    let p = Parameters { dynamic_friction: 1.0, sticking_stiffness: 1.0, ..Parameters::default() };
    let start = slipping(1.0);
    let mut current = start;
    for q in [1e-3, 0.5e-3, 1e-3, 0.5e-3] {
        current = p.switch(q, 1.0, &start, &current).0;
        assert_relative_eq!(current.bristle_energy, 1.0 * q, max_relative = 1e-12);
    }
    // And whoever sticks remembers none of it.
    assert_eq!(p.switch(0.5e-3, -1.0, &start, &current).0.bristle_energy, 0.0);
}

#[test]
fn friction_that_has_decayed_to_nothing_still_slips() {
    // Without dynamic friction, exp(−v/v_exp) is zero at 750 times the velocity of its decay.
    let p = Parameters { static_friction_offset: 1.0, sticking_stiffness: 1e3, ..Parameters::default() };
    let v = 1.0;
    assert_eq!(p.stribeck(v), 0.0);
    let let_go = p.switch(0.1, v, &stuck(0.0), &stuck(0.0)).0;
    assert!(let_go.friction_mode > 0.0);
    let on = p.switch(0.2, v, &let_go, &let_go).0;
    assert!(on.friction_mode > 0.0 && on.last_sticking_position == 0.2);
    // In single precision, where it decays seven times sooner.
    let p = p.cast::<f32>();
    let on = p.switch(0.2, 0.2, &let_go.cast(), &let_go.cast()).0;
    assert!(p.stribeck(0.2) == 0.0 && on.friction_mode > 0.0);
}

#[test]
fn what_sticking_again_makes_under_an_implicit_host_vanishes_with_the_step() {
    // A damper so strong that sticking under it, while it already pushes back, bends the bristles too far.
    let parameters = Parameters { stiffness: 100.0, sticking_damping: 100.0, ..bristles() };
    for step in [1e-3, 1e-4, 1e-5] {
        let (_, fall, _) = losses(parameters, 10.0, &mut Implicit::trapezoidal(step));
        // The slider turns with the pull of the spring at 0.6 m and of friction, 63 N on 0.5 kg, so that at the end
        // of the step it has up to that velocity the other way.
        let damping = 100.0 * (63.0 / 0.5 * step);
        let most = ((3.0 + damping).powi(2) - 3.0_f64.powi(2)) / (2.0 * 1e4);
        assert!(fall < most && fall > 0.2 * most, "{fall} J of {most} J in steps of {step} s");
    }
    // Under error control the step in which it turns is no longer than 1e-6 s, whatever the accuracy.
    for accuracy in [1e-3, 1e-5] {
        let mut integrator = Implicit::trapezoidal(1e-2).with_accuracy(accuracy);
        let (_, fall, _) = losses(parameters, 10.0, &mut integrator);
        assert!(fall < 1e-5, "{fall} J at accuracy {accuracy}");
    }
}

#[test]
fn a_slip_too_short_to_bend_the_bristles_makes_no_more_energy_than_they_can_hold() {
    let full = 0.5 * 3.0 * 3.0 / 1e4;
    // So light that stopping it takes less work than bending its bristles does.
    let (mut largest, mass) = (0.0_f64, 0.005);
    for speed in [0.301, 0.31, 0.32, 0.35] {
        let mut system = ForceSystem::<f64>::new();
        let mut plant = Plant::new(Vector3::zeros()).expect("finite");
        let slider = plant.add_coordinate(&mut system, mass).expect("positive");
        let element = CoordinateSpringDamperExt::new(CoordinatePair::on(slider), bristles()).expect("valid");
        let element = system.add(element).expect("exists");
        let mut state = system.default_state();
        state.set_coordinate_rate(slider, speed).expect("finite");
        let mut simulation = Simulation::new(&system, &plant, state).expect("regular");
        let mut lost = 0.0_f64;
        let mut observe = |simulation: &mut Simulation<'_, f64>| {
            let view = simulation.dynamics().expect("regular");
            let now = view.dissipated_energy_of(element).expect("open");
            largest = largest.max(lost - now);
            lost = lost.max(now);
        };
        simulation.run(&mut DormandPrince::new(1e-10), 0.1, &mut observe).expect("runs");
    }
    assert!(largest > 0.1 * full, "the bound is not put to the test: {largest} J");
    assert!(largest < full, "{largest} J of {full} J");
}

#[test]
fn an_implicit_host_iterates_the_switching_to_rest() {
    let braked = Parameters { stiffness: 100.0, damping: 2.8, ..bristles() };
    let (lost, fall, open) = losses(braked, 10.0, &mut Implicit::trapezoidal(1e-4));
    assert!(lost > 24.9 && lost < 25.001, "{lost} J of 25 J");
    // Of order two, in steps of 1e-4 s; and 3 N over the step in which the slider turns.
    assert!(fall < 1e-3 && open < 1e-4, "{fall} J, {open} J");
}

#[test]
fn bristles_that_could_never_let_go_are_refused() {
    let refused = |parameters: Parameters<f64>| {
        let element = CoordinateSpringDamperExt::new(
            CoordinatePair::on(ForceSystem::<f64>::new().add_coordinate()),
            parameters,
        );
        let error = element.err();
        error.as_ref().and_then(Error::invalid_value).map(|v| (v.name, v.requirement))
            == Some(("sticking_stiffness", Requirement::Positive))
    };
    let none = Parameters::default();
    let dynamic = Parameters { dynamic_friction: 2.0, ..none };
    assert!(refused(dynamic));
    assert!(refused(Parameters { static_friction_offset: 2.0, ..none }));
    // What has no bristles needs none, and a damper lets go too, if not at rest.
    for accepted in [
        none,
        Parameters { viscous_friction: 1.0, ..none },
        Parameters { friction_proportional_zone: 1e-3, ..dynamic },
        Parameters { sticking_stiffness: 1e4, ..dynamic },
        Parameters { sticking_damping: 1e2, ..dynamic },
    ] {
        assert!(!refused(accepted), "{accepted:?}");
    }
    // By name, in the order that the page says.
    let mut system = ForceSystem::<f64>::new();
    let slider = system.add_coordinate();
    let element = CoordinateSpringDamperExt::new(CoordinatePair::on(slider), none).expect("valid");
    system.add(element).expect("exists");
    let mut state = system.default_state();
    let mut set = |field: &str, value: f64| {
        system.set_variable(&mut state, &format!("coordinate_spring_damper_ext[0].{field}"), value)
    };
    let is_refused = |error: &Error| matches!(error.element_error(), Some(ElementError::InvalidValue(_)));
    assert!(set("dynamic_friction", 2.0).is_err_and(|error| is_refused(&error)));
    set("sticking_stiffness", 1e4).expect("no bristles yet");
    set("dynamic_friction", 2.0).expect("bristles with a stiffness");
    assert!(set("sticking_stiffness", 0.0).is_err_and(|error| is_refused(&error)));
}

#[test]
fn bristles_without_stiffness_hold_like_a_damper_and_let_go_at_the_same_force() {
    let p = Parameters { dynamic_friction: 2.0, sticking_damping: 100.0, ..Parameters::default() };
    p.validate().expect("a damper");
    let start = stuck(0.0);
    assert_eq!(p.switch(0.3, 0.0199, &start, &start).0, start);
    assert_eq!(p.switch(0.3, 0.0201, &start, &start).0.friction_mode, 2.0);
}

#[test]
fn bristles_switch_alike_in_all_units_that_a_number_can_hold() {
    // Powers of two, so that nothing rounds: another result would be another branch.
    for exponent in (-300..=300).step_by(10) {
        let unit = 2.0_f64.powi(exponent);
        let force = Parameters {
            dynamic_friction: 2.0 * unit,
            static_friction_offset: unit,
            exponential_decay_static: 0.1 * unit,
            viscous_friction: 0.5,
            sticking_stiffness: 1e4,
            sticking_damping: 10.0,
            ..Parameters::default()
        };
        let scaled = |d: Discrete<f64>| Discrete {
            friction_mode: d.friction_mode * unit,
            last_sticking_position: d.last_sticking_position * unit,
            limit_stop_state: d.limit_stop_state * unit,
            bristle_energy: d.bristle_energy * unit * unit,
        };
        for start in [stuck(0.1), slipping(2.5), slipping(-2.5)] {
            for current in [start, slipping(2.4), slipping(-2.4)] {
                for (q, v) in [(0.1001, 0.01), (0.2, 0.3), (-0.2, -1e-3), (0.1, 40.0), (0.1, -1e-12)] {
                    let (discrete, force_error) = bristles().switch(q, v, &start, &current);
                    let switch = force.switch(q * unit, v * unit, &scaled(start), &scaled(current));
                    assert_eq!(switch, (scaled(discrete), force_error * unit));
                }
            }
        }
    }
}

#[test]
fn a_slip_force_that_has_decayed_to_nothing_stays_small_beside_the_greatest_one() {
    let unit = 1e-25;
    let p = Parameters {
        static_friction_offset: unit,
        exponential_decay_static: 1e-3,
        sticking_stiffness: unit,
        ..Parameters::default()
    };
    let mode = p.switch(2.0, 1.0, &stuck(0.0), &stuck(0.0)).0.friction_mode;
    assert!(mode > 0.0 && mode < 1e-13 * unit, "{mode} N of {unit} N");
}
