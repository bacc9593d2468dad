//! Derivatives at the states where laws begin, each against differences from one side and from the other.

use force_elements_scenes::linearized::{
    AnyCable, AnyCapstan, AnyCoordinate, AnyFoundation, AnyHertz, AnyLinearBushing, AnySpatialBushing,
    AnySpring, Columns, Course, Instant, Kind, columns,
};
use force_elements_scenes::seeds;

/// Compares so many states, each drawn, reset and committed, as it moves, at rest and turned back: each derivative must be
/// that of a side, but for those that `is_listed` among the exceptions in `docs/linearization.md`.
fn are_of_a_side<K: Kind>(states: u64, is_listed: impl Fn(&str) -> bool) {
    let mut all = Columns::default();
    for seed in 0..seeds(states) {
        for instant in [Instant::Drawn, Instant::Reset, Instant::Committed] {
            for course in [Course::Drawn, Course::AtRest, Course::Back] {
                if let Some(found) = columns::<K>(seed, instant, course) {
                    all.add(found);
                }
            }
        }
    }
    let Columns { right, meeting, between_sides, unresolved, wrong, .. } = all;
    let wrong: Vec<_> = wrong.iter().chain(&between_sides).filter(|what| !is_listed(what)).collect();
    assert!(wrong.is_empty(), "{} of {right}:\n{wrong:#?}", wrong.len());
    // Differences tell little of what is next to nothing, and of cables that leave a drum where their end is moved.
    assert!(right > 500 * seeds(10) && 200 * unresolved.len() as u64 <= right, "{right}\n{unresolved:#?}");
    assert!(20 * meeting < right, "{}: {meeting} of {right}", K::NAME);
}

/// Cones, at rest: what depends on a speed.
fn is_at_rest_by_velocity(what: &str) -> bool {
    what.contains(" Drawn AtRest: ") && what.contains(" by velocity ")
}

#[test]
fn of_bushings() {
    are_of_a_side::<AnyLinearBushing>(12, |_| false);
    are_of_a_side::<AnySpatialBushing>(12, |_| false);
}

#[test]
fn of_springs() {
    // A commit at the time of the last one keeps all, if nothing has moved.
    let is_kept = |what: &str| what.contains("next last_update by ");
    are_of_a_side::<AnySpring>(100, |what| is_at_rest_by_velocity(what) || is_kept(what));
}

#[test]
fn of_coordinate_elements() {
    are_of_a_side::<AnyCoordinate>(100, |_| false);
}

#[test]
fn of_foundations() {
    are_of_a_side::<AnyFoundation>(8, is_at_rest_by_velocity);
}

#[test]
fn of_balls() {
    are_of_a_side::<AnyHertz>(40, |_| false);
}

#[test]
fn of_cables() {
    are_of_a_side::<AnyCable>(5, |_| false);
}

#[test]
fn of_cables_with_friction() {
    let is_listed = |what: &str| {
        // Without friction there is no contact at which strands could differ.
        let by_no_friction = what.contains(".friction[") && what.contains(": 0.000000e0,");
        by_no_friction || what.contains(".share by ") || is_at_rest_by_velocity(what)
    };
    are_of_a_side::<AnyCapstan>(5, is_listed);
}
