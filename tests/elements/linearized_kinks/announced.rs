//! Kinks on random lines through states are those that branches announce.

use force_elements::testing::Finding;
use force_elements_scenes::linearized::{
    AnyCable, AnyCapstan, AnyCoordinate, AnyFoundation, AnyHertz, AnyLinearBushing, AnySpatialBushing,
    AnySpring, Kind, walk,
};

/// Requires that branches announce all kinks on so many lines, and that there are some.
fn are_announced<K: Kind>(lines: u64, least: u64, without: &[&str]) -> Result<(), Finding> {
    let (mut announced, mut silent) = (0, Vec::new());
    for seed in 0..lines {
        let kinks = walk::<K>(seed, |marks| !marks.iter().any(|mark| without.contains(mark)))?;
        announced += kinks.announced;
        silent.extend(kinks.silent);
    }
    assert!(silent.is_empty(), "{} of {}:\n{}", silent.len(), announced, silent[..silent.len().min(12)].join("\n"));
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
    are_announced::<AnyFoundation>(400, 30, &["in a mesh", "springs on springs", "in a cylinder", "clipped", "facing only", "projected area", "with anchors"])
}

#[test]
fn of_cables() -> Result<(), Finding> {
    are_announced::<AnyCable>(200, 5, &[])
}

#[test]
fn of_cables_with_friction() -> Result<(), Finding> {
    are_announced::<AnyCapstan>(400, 10, &["damped"])
}

#[test]
fn of_bushings() -> Result<(), Finding> {
    are_announced::<AnyLinearBushing>(500, 0, &[])?;
    are_announced::<AnySpatialBushing>(500, 0, &[])
}
