//! A slice of the corpus of linearizations, which the example `linearization_corpus` runs at length.

use std::collections::BTreeMap;

use force_elements::testing::{Numbers, Scene, Violation};
use force_elements::{Linearization, Real};
use force_elements_scenes::linearized::{
    AnyCable, AnyCapstan, AnyCoordinate, AnyFoundation, AnyHertz, AnyLinearBushing, AnySpatialBushing,
    AnySpring, Kind, Moving, Outcome, examine,
};
use force_elements_scenes::{is_at_length, seeds};

/// Requires that linearizations are right, few states refused, most motions smooth, and that every option and branch named
/// occurs, if at length, and no other.
fn is_right<K: Kind>(states: u64, marks: &[&str]) -> Result<(), Violation> {
    let (mut refused, mut smooth) = (0, 0);
    let mut seen = BTreeMap::<&str, u64>::new();
    let states = seeds(states);
    for seed in 0..states {
        match examine::<K>(seed)? {
            Outcome::Refused(_) => refused += 1,
            Outcome::Right(report) => {
                smooth += u64::from(matches!(report.moving, Moving::Smooth(_)));
                report.marks.into_iter().for_each(|mark| *seen.entry(mark).or_default() += 1);
            }
        }
    }
    assert!(10 * refused < states, "{refused} of {states} are refused");
    assert!(10 * smooth > 8 * states, "{smooth} of {states} are smooth");
    let listed: Vec<_> = seen.keys().copied().collect();
    if is_at_length() {
        assert_eq!(listed, marks, "{seen:?}");
    }
    assert!(listed.iter().all(|mark| marks.contains(mark)), "{seen:?}");
    Ok(())
}

#[test]
fn linear_bushings_at_any_angle() -> Result<(), Violation> {
    is_right::<AnyLinearBushing>(
        1000,
        &[
            "damped",
            "first body Ground",
            "middle angle beyond 69°",
            "second body Ground",
            "turned by more than a half",
            "two bodies",
            "undamped",
        ],
    )
}

#[test]
fn spatial_bushings_at_any_turn() -> Result<(), Violation> {
    is_right::<AnySpatialBushing>(
        1000,
        &[
            "axes alone",
            "coupled axes",
            "first body Ground",
            "second body Ground",
            "turned by less than 16°",
            "turned by more than a half",
            "turned by up to a half",
            "two bodies",
            "with curves",
        ],
    )
}

#[test]
fn coordinate_elements_in_every_branch() -> Result<(), Violation> {
    is_right::<AnyCoordinate>(
        4000,
        &[
            "about to stick",
            "backwards",
            "between the stops",
            "bristles",
            "bristles without stiffness",
            "creeping",
            "forwards",
            "in the lower stop",
            "in the upper stop",
            "let go",
            "load",
            "no friction",
            "not turned",
            "one coordinate",
            "pushing",
            "regularised friction",
            "sliding",
            "slipping",
            "smooth stops",
            "sticking",
            "stop that only pushes",
            "switched stops",
            "turning back",
            "two coordinates",
            "yielding",
        ],
    )
}

#[test]
fn exponential_springs_in_every_branch() -> Result<(), Violation> {
    is_right::<AnySpring>(
        3000,
        &[
            "before the first commit",
            "between sliding and fixed",
            "clamped",
            "elastic part clamped",
            "far above",
            "faster than released",
            "first body Ground",
            "free",
            "let go",
            "not clamped",
            "pressing",
            "return mapping",
            "second body Ground",
            "settling",
            "slack",
            "slipping",
            "slower than released",
            "sticking",
            "taut",
            "two bodies",
            "was dragged along",
        ],
    )
}

#[test]
fn foundations_in_every_solid() -> Result<(), Violation> {
    is_right::<AnyFoundation>(
        500,
        &[
            "a third surface",
            "clipped",
            "creeping",
            "first body Ground",
            "free",
            "in a ball",
            "in a cylinder",
            "in a half-space",
            "in a mesh",
            "in an ellipsoid",
            "in contact",
            "let go",
            "pressing",
            "second body Ground",
            "sliding",
            "slipping",
            "springs on springs",
            "sticking",
            "two bodies",
            "with anchors",
            "without anchors",
        ],
    )
}

#[test]
fn cables_over_every_surface() -> Result<(), Violation> {
    is_right::<AnyCable>(
        150,
        &[
            "free",
            "held on a drum",
            "in contact",
            "in other places",
            "limp",
            "over a ball",
            "over a can",
            "over a cylinder",
            "over a torus",
            "over an ellipsoid",
            "pulling",
            "slack",
            "straight",
            "taut",
            "through a moving point",
            "through a point",
            "through a point at times",
            "touching three or more",
        ],
    )
}

#[test]
fn balls_from_apart_to_deep() -> Result<(), Violation> {
    is_right::<AnyHertz>(
        2000,
        &[
            "apart",
            "barely touching",
            "below transition",
            "beyond transition",
            "damped",
            "deep",
            "first body Ground",
            "in a ball",
            "in a half-space",
            "in contact",
            "let go",
            "pressing",
            "second body Ground",
            "two bodies",
            "undamped",
            "with friction",
            "without friction",
        ],
    )
}

#[test]
fn a_ball_that_hardly_moves() -> Result<(), Violation> {
    // Differences see roundings over 10 µs, and the curvature of the force over 100.
    let outcome = examine::<AnyHertz>(1_045_172)?;
    assert!(matches!(outcome, Outcome::Right(_)), "{outcome:?}");
    Ok(())
}

#[test]
fn cables_with_friction_on_every_surface() -> Result<(), Violation> {
    is_right::<AnyCapstan>(
        150,
        &[
            "damped",
            "free",
            "held on a drum",
            "in contact",
            "in other places",
            "limp",
            "one strand",
            "over a ball",
            "over a can",
            "over a cylinder",
            "over a torus",
            "over an ellipsoid",
            "pulling",
            "several strands",
            "slack",
            "slack in part",
            "slipping",
            "sticking",
            "straight",
            "taut",
            "through a point",
            "touching three or more",
            "undamped",
            "wound",
        ],
    )
}

#[test]
fn strands_at_equal_tension_have_the_derivatives_of_their_shares() -> Result<(), Violation> {
    // Through points between which strands are as long as the path, give or take a rounding; some slack beside others that are
    // taut; equally taut on both sides of a point.
    let mut are_slack_in_part = 0;
    for seed in [
        5_000_173, 5_002_812, 1_000_696, 1_002_081, 1_003_386, 1_005_967, 1_020_907, 1_021_244, 1_000_164,
        1_000_982,
    ] {
        let Outcome::Right(report) = examine::<AnyCapstan>(seed)? else { panic!("{seed} is refused") };
        assert!(report.agreement.commit < 1e-12, "{seed}: {:?}", report.agreement);
        are_slack_in_part += u32::from(report.marks.contains(&"slack in part"));
    }
    assert!(are_slack_in_part > 1);
    Ok(())
}

#[test]
fn laps_held_at_their_limit_and_slack_strands_that_slide_have_their_own_derivatives() -> Result<(), Violation>
{
    // Drums whose laps are at the limit since the last commit, where rounding decided on the damping; slack cables that slide
    // without friction, with some strands as long as before.
    for seed in [5_012_471, 5_028_086, 5_029_456, 5_031_089, 5_030_943, 5_039_686, 6_069_285, 6_158_380] {
        let outcome = examine::<AnyCapstan>(seed)?;
        assert!(matches!(outcome, Outcome::Right(_)), "{seed}: {outcome:?}");
    }
    Ok(())
}

/// A branch, and how many take it.
type Taken = (&'static str, usize);

/// The derivatives of the state of a seed by motion, and the branches; `None` if it is refused.
fn by_motion<T: Real, K: Kind>(seed: u64) -> Option<(Vec<f64>, Vec<Taken>)> {
    let Scene { system, mut state, element } = K::scene::<T>(&mut Numbers::new(seed)).ok()?;
    system.realize_dynamics(&mut state).ok()?;
    let mut linearization = Linearization::new();
    system.linearize(&state, &mut linearization).ok()?;
    let branches = linearization.element(element).branches().iter().map(|branch| (branch.name, branch.count));
    let [stiffness, damping] = linearization.to_dense();
    Some((stiffness.iter().chain(&damping).map(|number| number.to_f64()).collect(), branches.collect()))
}

/// Requires that so many states of a hundred have the same derivatives in single precision.
fn agrees_in_single_precision<K: Kind>(percentage: u64) {
    let (mut same, mut compared) = (0, 0_u64);
    // Enough for a share in per cent.
    let scenes = if is_at_length() { 400 } else { 100 };
    for seed in 0..scenes {
        let (Some((exact, in_f64)), Some((rounded, in_f32))) =
            (by_motion::<f64, K>(seed), by_motion::<f32, K>(seed))
        else {
            continue;
        };
        let largest = exact.iter().fold(0.0_f64, |most, number| most.max(number.abs()));
        let off = exact.iter().zip(&rounded).fold(0.0_f64, |most, (a, b)| most.max((a - b).abs()));
        compared += 1;
        same += u64::from(in_f64 == in_f32 && off <= 1e-2 * largest);
    }
    assert!(
        8 * compared > 7 * scenes && 100 * same >= percentage * compared,
        "{}: {same} of {compared}",
        K::NAME
    );
}

#[test]
fn linearizations_in_single_precision() {
    agrees_in_single_precision::<AnyLinearBushing>(100);
    agrees_in_single_precision::<AnySpatialBushing>(100);
    agrees_in_single_precision::<AnyCoordinate>(100);
    // Far from the plane forces underflow; near kinks branches differ.
    agrees_in_single_precision::<AnySpring>(80);
    // The depth of balls that barely touch is known to some hundredths.
    agrees_in_single_precision::<AnyHertz>(90);
    agrees_in_single_precision::<AnyFoundation>(98);
    agrees_in_single_precision::<AnyCable>(98);
    agrees_in_single_precision::<AnyCapstan>(95);
}
