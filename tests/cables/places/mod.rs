//! Places of a path in a state: stations, poses, scales and switches, and via points that move or come and go.
#![allow(non_snake_case, reason = "monogram notation")]

mod moving;
mod scales;
mod state;
mod switches;

use force_elements::cable::{CablePath, PathResults, Places, Wraps};
use force_elements::nalgebra::Point3;
use force_elements::{BodyIndex, Error, ForceSystem, Positions, Real, Station};

fn fixed<T: Real>(x: f64, y: f64, z: f64) -> Station<T> {
    Station::ground(Point3::new(x, y, z).map(T::lit))
}

/// The positions of a system without bodies.
fn nowhere<T: Real>() -> Positions<T> {
    ForceSystem::new().default_state().positions().clone()
}

/// The path with its parts at these places, found without memory on Ground alone.
fn found<T: Real>(path: &CablePath<T>, places: &Places<T>) -> Result<PathResults<T>, Error> {
    tracked(path, places, &path.no_wraps())
}

/// The same from memory.
fn tracked<T: Real>(
    path: &CablePath<T>,
    places: &Places<T>,
    wraps: &Wraps<T>,
) -> Result<PathResults<T>, Error> {
    let mut results = PathResults::default();
    path.solve_at(places, &nowhere(), wraps, &mut results)?;
    Ok(results)
}

/// The memory of a path.
fn memory<T: Real>(path: &CablePath<T>, results: &PathResults<T>) -> Wraps<T> {
    let mut wraps = path.no_wraps();
    results.remember(&mut wraps);
    wraps
}

/// Whether the two are the same to the last bit, but for which obstacles are counted.
fn agree_to_the_bit(a: &PathResults<f64>, b: &PathResults<f64>) -> bool {
    let bodies = |path: &PathResults<f64>| -> Vec<(BodyIndex, [u64; 6])> {
        let forces = path.unit_forces();
        forces.map(|(body, p, f)| (body, [p.x, p.y, p.z, f.x, f.y, f.z].map(f64::to_bits))).collect()
    };
    a.length.to_bits() == b.length.to_bits() && bodies(a) == bodies(b)
}
