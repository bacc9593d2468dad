//! Limit stops beside friction.

use approx::assert_relative_eq;
use force_elements::coordinate_spring_damper_ext::{Discrete, Parameters};
use force_elements::simulation::DormandPrince;
use force_elements::{CoordinatePair, CoordinateSpringDamperExt, ForceSystem, Requirement};

use super::{losses, stops};

#[test]
fn stops_switch_by_penetration_and_store_it() {
    let p = Parameters {
        use_limit_stops: true,
        limit_stops_upper: 1.0,
        limit_stops_lower: -1.0,
        limit_stops_upper_stiffness: 1e3,
        limit_stops_lower_stiffness: 1e3,
        ..Parameters::default()
    };
    let free = Discrete::default();
    for (q, state) in [(1.25, 0.25_f64), (-1.5, -0.5), (0.9, 0.0), (1.0, 0.0)] {
        let switch = p.switch(q, 0.0, &free, &free);
        assert_eq!(switch.0.limit_stop_state, state);
        assert_relative_eq!(switch.1, 1e3 * state.abs());
    }
    let touching = Discrete { limit_stop_state: 0.25, ..free };
    let deeper = p.switch(1.5, 0.0, &free, &touching);
    assert_eq!((deeper.0.limit_stop_state, deeper.1), (0.5, 0.0));
    let released = p.switch(0.5, 0.0, &free, &touching);
    // Its spring pulls with 1000 N/m over 0.5 m until it is let go.
    assert_eq!((released.0.limit_stop_state, released.1), (0.0, 500.0));
}

/// The contact force at a penetration and velocity of a stop that has been surpassed.
fn contact(only_push: bool, penetration: f64, v: f64, upper: bool) -> (f64, f64, f64) {
    let sign = if upper { 1.0 } else { -1.0 };
    let mut system = ForceSystem::new();
    let slider = system.add_coordinate();
    let parameters = Parameters {
        use_limit_stops: true,
        limit_stops_upper: 1.0,
        limit_stops_lower: -1.0,
        limit_stops_upper_stiffness: 1e3,
        limit_stops_lower_stiffness: 1e3,
        limit_stops_upper_damping: 50.0,
        limit_stops_lower_damping: 50.0,
        limit_stops_only_push: only_push,
        ..Parameters::default()
    };
    let element = system
        .add(CoordinateSpringDamperExt::new(CoordinatePair::on(slider), parameters).expect("valid"))
        .expect("exists");
    let mut state = system.default_state();
    state.set_coordinate(slider, sign * (1.0 + penetration)).expect("finite");
    state.set_coordinate_rate(slider, sign * v).expect("finite");
    system.update_discrete(&mut state, element, |d| d.limit_stop_state = sign * 0.1).expect("valid");
    let view = system.realize_dynamics(&mut state).expect("regular");
    let at = view.of(element);
    (sign * at.dynamics.contact_force, at.dynamics.potential_energy, at.dynamics.power_dissipated)
}

#[test]
fn a_stop_that_only_pushes_does_not_pull_on_rebound() {
    for upper in [true, false] {
        // Going in, both are the same spring and damper.
        for only_push in [false, true] {
            let (force, stored, lost) = contact(only_push, 0.01, 0.1, upper);
            assert_relative_eq!(force, 15.0, max_relative = 1e-12);
            assert_relative_eq!(stored, 0.05, max_relative = 1e-12);
            assert_relative_eq!(lost, 0.5, max_relative = 1e-12);
        }
        // Coming out fast, one pulls with 40 N; the other lets go, and loses just what it stored.
        let (pull, ..) = contact(false, 0.01, -1.0, upper);
        assert_relative_eq!(pull, -40.0, max_relative = 1e-12);
        let (none, _, lost) = contact(true, 0.01, -1.0, upper);
        assert_eq!(none, 0.0);
        assert_relative_eq!(lost, 10.0, max_relative = 1e-12);
        // Out of the stop before the state has switched, it neither pulls nor stores.
        assert_eq!(contact(true, -0.01, 1e-3, upper), (0.05, 0.0, 5e-5));
        assert_eq!(contact(true, -0.01, -1.0, upper), (0.0, 0.0, 0.0));
    }
}

#[test]
fn undamped_stops_keep_the_energy_of_a_slider_under_error_control_alone() {
    // No longest step: free flight must not run through a stop.
    let (lost, fall, open) = losses(stops(), 1.0, &mut DormandPrince::new(1e-6));
    // The accuracy, in each of the hundred steps that stand in a stop.
    assert!(lost.abs() < 1e-5 && fall < 1e-5, "{lost} J lost, {fall} J made, of 0.25 J");
    assert!(open < 1e-4, "{open} J");
}

#[test]
fn a_start_beyond_a_stop_can_be_told_to_the_state() {
    let mut system = ForceSystem::<f64>::new();
    let slider = system.add_coordinate();
    let element = CoordinateSpringDamperExt::new(CoordinatePair::on(slider), stops()).expect("valid");
    let element = system.add(element).expect("exists");
    let mut state = system.default_state();
    state.set_coordinate(slider, -0.51).expect("finite");
    assert_eq!(system.realize_dynamics(&mut state).expect("regular").coordinate_force(slider), 0.0);
    assert_relative_eq!(system.switching_error(&mut state).expect("realized"), 100.0, max_relative = 1e-9);
    system.reset_memory(&mut state, element).expect("own handle");
    let force = system.realize_dynamics(&mut state).expect("regular").coordinate_force(slider);
    assert_relative_eq!(force, 100.0, max_relative = 1e-9);
    assert_eq!(system.switching_error(&mut state).expect("realized"), 0.0);
}

#[test]
fn stops_that_could_never_stop_anything_are_refused() {
    let stops = Parameters::<f64> { use_limit_stops: true, limit_stops_upper: 0.5, ..Parameters::default() };
    let pair = CoordinatePair::on(ForceSystem::<f64>::new().add_coordinate());
    let refused = CoordinateSpringDamperExt::new(pair, stops).expect_err("neither stiffness nor damping");
    let value = refused.invalid_value().map(|v| (v.name, v.requirement));
    assert_eq!(value, Some(("limit_stops_upper_stiffness", Requirement::Positive)));
    for accepted in [
        Parameters { limit_stops_upper_stiffness: 1e4, ..stops },
        Parameters { limit_stops_lower_stiffness: 1e4, ..stops },
        Parameters { limit_stops_upper_damping: 10.0, ..stops },
        Parameters { limit_stops_lower_damping: 10.0, ..stops },
        Parameters { use_limit_stops: false, ..stops },
    ] {
        assert!(CoordinateSpringDamperExt::new(pair, accepted).is_ok(), "{accepted:?}");
    }
}
