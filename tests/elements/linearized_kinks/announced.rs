//! Kinks on random lines through states are those that branches announce.

use force_elements::testing::Finding;
use force_elements_scenes::linearized::{
    AnyCable, AnyCapstan, AnyCoordinate, AnyFoundation, AnyHertz, AnyLinearBushing, AnySpatialBushing,
    AnySpring, Kind, walk,
};
use force_elements_scenes::{is_at_length, seeds};

/// Requires that branches announce all kinks on so many lines, and that there are some.
fn are_announced<K: Kind>(lines: u64, least: u64, without: &[&str]) -> Result<(), Finding> {
    let (mut announced, mut silent) = (0, Vec::new());
    let drawn = if is_at_length() { lines } else { seeds(lines).min(100) };
    let least = if is_at_length() { least } else { (least * drawn).div_ceil(2 * lines) };
    for seed in 0..drawn {
        let kinks = walk::<K>(seed, |marks| !marks.iter().any(|mark| without.contains(mark)))?;
        announced += kinks.announced;
        silent.extend(kinks.silent);
    }
    assert!(
        silent.is_empty(),
        "{} of {}:\n{}",
        silent.len(),
        announced,
        silent[..silent.len().min(12)].join("\n")
    );
    assert!(announced >= least, "{announced}");
    Ok(())
}

#[test]
fn of_springs() -> Result<(), Finding> {
    are_announced::<AnySpring>(4000, 1000, &[])
}

#[test]
fn of_coordinate_elements() -> Result<(), Finding> {
    are_announced::<AnyCoordinate>(2000, 300, &[])
}

#[test]
fn of_balls() -> Result<(), Finding> {
    are_announced::<AnyHertz>(2000, 100, &[])
}

#[test]
fn of_foundations() -> Result<(), Finding> {
    // Places on other surfaces switch, faces are clipped, and dampers of anchored springs reach the limit:
    // docs/linearization.md names them.
    let without =
        ["in a mesh", "springs on springs", "in a cylinder", "in an ellipsoid", "clipped", "with anchors"];
    are_announced::<AnyFoundation>(600, 30, &without)
}

#[test]
fn of_cables() -> Result<(), Finding> {
    // The curvature of a can jumps.
    are_announced::<AnyCable>(300, 5, &["over a can"])
}

#[test]
fn of_cables_with_friction() -> Result<(), Finding> {
    // Friction limits how far damping differs along the cable. Through points that stay, these lines have five kinks in all, and
    // none in the first hundred.
    let least = if is_at_length() { 5 } else { 0 };
    are_announced::<AnyCapstan>(400, least, &["over a can", "damped"])
}

#[test]
fn of_bushings() -> Result<(), Finding> {
    are_announced::<AnyLinearBushing>(500, 0, &[])?;
    are_announced::<AnySpatialBushing>(500, 0, &[])
}
