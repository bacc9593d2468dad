//! Derivatives of forces by variables and of a commit, which some laws derive at once, are the same if only one is asked for.

use force_elements::coordinate_spring_damper_ext as coordinate;
use force_elements::exponential_spring::Parameters;
use force_elements::nalgebra::{Point3, Vector3};
use force_elements::{
    Column, CoordinatePair, CoordinateSpringDamperExt, ElementId, ExponentialSpring, ForceSystem, Frame,
    Linearization, Pose, Row, Scope, SpatialVelocity, State, Station,
};

/// Rows, columns and numbers, in the order of their names.
fn blocks(
    system: &ForceSystem<f64>,
    state: &State<f64>,
    element: ElementId,
    [variables, commit]: [bool; 2],
    is_wanted: impl Fn(Row, Column) -> bool,
) -> Vec<String> {
    let mut linearization = Linearization::of(Scope { variables, commit });
    system.linearize(state, &mut linearization).expect("regular");
    let all = linearization.element(element);
    let wanted = all.blocks().filter(|&(row, column, _)| is_wanted(row, column));
    let mut named: Vec<_> = wanted.map(|block| format!("{block:?}")).collect();
    named.sort();
    named
}

fn are_those_of_both(system: &ForceSystem<f64>, state: &mut State<f64>, element: ElementId) {
    system.realize_dynamics(state).expect("regular");
    let of_commit = |row, _| matches!(row, Row::Next(_));
    let by_variables = |row, column| matches!((row, column), (Row::Force(_), Column::Variable(_)));
    let both = [true; 2];
    let [next, forces] =
        [blocks(system, state, element, both, of_commit), blocks(system, state, element, both, by_variables)];
    assert!(next.len() > 5 && forces.len() > 5, "{next:?} {forces:?}");
    assert_eq!(blocks(system, state, element, [false, true], of_commit), next);
    assert_eq!(blocks(system, state, element, [true, false], by_variables), forces);
}

#[test]
fn of_exponential_springs_that_hold_slip_and_are_free() {
    for settling in [false, true] {
        for (speed, height) in [(0.0, -0.001), (1.0, -0.001), (1.0, 0.5)] {
            let mut system = ForceSystem::new();
            let body = system.add_body();
            let parameters = Parameters { settling, ..Parameters::default() };
            let (plane, station) = (Frame::ground(Pose::identity()), Station::on(body, Point3::origin()));
            let spring = system.add(ExponentialSpring::new(plane, station, parameters).expect("valid"));
            let spring = spring.expect("exists");
            let mut state = system.default_state();
            state.set_pose(body, Pose::translation(0.0, 0.0, height)).expect("finite");
            system.reset_memory(&mut state, spring).expect("regular");
            let velocity = SpatialVelocity::new(Vector3::zeros(), Vector3::new(speed, 0.3 * speed, -0.1));
            state.set_body(body, Pose::translation(1e-4, 2e-4, height), velocity).expect("finite");
            state.set_time(1e-3).expect("finite");
            are_those_of_both(&system, &mut state, spring.into());
        }
    }
}

#[test]
fn of_a_coordinate_with_bristles_and_stops() {
    let mut system = ForceSystem::new();
    let slider = system.add_coordinate();
    let parameters = coordinate::Parameters {
        dynamic_friction: 2.0,
        static_friction_offset: 1.0,
        sticking_stiffness: 1e4,
        use_limit_stops: true,
        limit_stops_upper: 0.1,
        limit_stops_upper_stiffness: 1e3,
        ..coordinate::Parameters::default()
    };
    let element = CoordinateSpringDamperExt::new(CoordinatePair::on(slider), parameters).expect("valid");
    let element = system.add(element).expect("exists");
    let mut state = system.default_state();
    state.set_coordinate(slider, 0.2).expect("finite");
    state.set_coordinate_rate(slider, 1.0).expect("finite");
    are_those_of_both(&system, &mut state, element.into());
}
