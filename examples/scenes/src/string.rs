//! A discrete string: beads on springs that are pulled tight outside obstacles.

use core::ops::Range;

use force_elements::Pose;
use force_elements::cable::PathResults;
use force_elements::nalgebra::{Point3, Vector3};

use crate::arc::{Arc, ArcPoint};
use crate::cables::Dice;
use crate::solids::Solid;
use crate::verifier::{Problem, pose};

/// A bead, and the obstacles that it must keep out of.
struct Bead {
    place: Point3<f64>,
    obstacles: Range<usize>,
}

/// The fewest beads of a string, and the most.
const BEADS: [u32; 2] = [64, 1024];

/// A string is shorter than a path if it is by more than this part.
const SIGNIFICANT: f64 = 1e-5;

/// By what part a string laid beside a path between two fixed points, pulled tight, is shorter; none if it is not.
///
/// Chords between few beads cut through ridges, and slip over them. So the beads of a string that is shorter are doubled
/// until it is no longer so.
pub(crate) fn shorter(
    problem: &Problem,
    path: &PathResults<f64>,
    ends: &[Point3<f64>; 2],
    obstacles: &Range<usize>,
    arcs: &[&Arc],
    dice: &mut Dice,
) -> Option<f64> {
    let solids: Vec<(usize, &Solid, Pose<f64>)> =
        obstacles.clone().filter_map(|k| Some((k, &problem.solids[k], pose(path, k)?))).collect();
    let (course, total) = course(ends, obstacles, arcs);
    if sharpest(arcs, total / f64::from(BEADS[0])) > 0.5 {
        return None;
    }
    let smallest = solids.iter().map(|(_, solid, _)| solid.sizes()[0]).fold(problem.scale, f64::min);
    let mut longest: f64 = 0.0;
    for amplitude in [0.0, 0.1 * smallest] {
        let modes = core::array::from_fn(|_| dice.vector(amplitude));
        let gain = |count: u32| {
            let spacing = total / f64::from(count);
            let mut beads = beads(&course, total, &modes, count);
            pull(&mut beads, &solids, count, spacing);
            let length: f64 = beads.windows(2).map(|pair| (pair[1].place - pair[0].place).norm()).sum();
            (total - cut(arcs, spacing) - length) / total
        };
        longest = longest.max(settled(gain));
    }
    (longest > SIGNIFICANT).then_some(longest)
}

/// What is gained by a string of so many beads, doubled as long as anything is: one of many may stay on a ridge over which those of
/// 64 and of 256 have slipped.
fn settled(gain: impl Fn(u32) -> f64) -> f64 {
    let [mut count, most] = BEADS;
    let mut gained = gain(count);
    while gained > SIGNIFICANT && count < most {
        count *= 2;
        gained = gain(count);
    }
    gained
}

/// The largest turn of an arc between beads.
fn sharpest(arcs: &[&Arc], spacing: f64) -> f64 {
    arcs.iter().map(|arc| sharpest_of(arc, spacing)).fold(0.0, f64::max)
}

fn sharpest_of(arc: &Arc, spacing: f64) -> f64 {
    arc.points.windows(2).map(|pair| turn(pair, spacing)).fold(0.0, f64::max)
}

/// The turn of an arc within a spacing, between two of its points.
fn turn(pair: &[ArcPoint], spacing: f64) -> f64 {
    pair[0].curvatures[0].abs().max(pair[1].curvatures[0].abs()) * spacing
}

/// By how much beads on arcs shorten a string: chords between them cut corners, and the beads where arcs begin and end are
/// a little off.
fn cut(arcs: &[&Arc], spacing: f64) -> f64 {
    let of_arc = |arc: &&Arc| {
        let chords = arc.points.windows(2).map(|pair| {
            let turn = turn(pair, spacing);
            turn * turn * (pair[1].reach - pair[0].reach) / 8.0
        });
        chords.sum::<f64>() + sharpest_of(arc, spacing).powi(2) * spacing
    };
    arcs.iter().map(of_arc).sum()
}

/// Corners of the path: the length up to each, its place, and the obstacles of the part that follows.
type Corner = (f64, Point3<f64>, Range<usize>);

fn course(ends: &[Point3<f64>; 2], obstacles: &Range<usize>, arcs: &[&Arc]) -> (Vec<Corner>, f64) {
    let mut corners = Vec::new();
    let mut reach = 0.0;
    let mut from = ends[0];
    let mut first = obstacles.start;
    for arc in arcs {
        corners.push((reach, from, first..arc.obstacle + 1));
        for point in &arc.points {
            reach += (point.place - from).norm();
            from = point.place;
            corners.push((reach, from, arc.obstacle..arc.obstacle + 1));
        }
        first = arc.obstacle;
    }
    corners.push((reach, from, first..obstacles.end));
    reach += (ends[1] - from).norm();
    corners.push((reach, ends[1], first..obstacles.end));
    (corners, reach)
}

/// Evenly spaced beads along the course, displaced by a smooth bump of these sines.
fn beads(course: &[Corner], total: f64, modes: &[Vector3<f64>; 5], count: u32) -> Vec<Bead> {
    let mut corner = 0;
    (0..=count)
        .map(|i| {
            let part = f64::from(i) / f64::from(count);
            while corner + 2 < course.len() && course[corner + 1].0 < part * total {
                corner += 1;
            }
            let ((start, a, obstacles), (end, b, _)) = (&course[corner], &course[corner + 1]);
            let u = if end > start { ((part * total - start) / (end - start)).clamp(0.0, 1.0) } else { 0.0 };
            let mut place = a + (b - a) * u;
            let mut wave = 0.0;
            for mode in *modes {
                wave += core::f64::consts::PI;
                place += mode * (wave * part).sin();
            }
            if i == 0 || i == count {
                place = if i == 0 { course[0].1 } else { course[course.len() - 1].1 };
            }
            Bead { place, obstacles: obstacles.clone() }
        })
        .collect()
}

/// Moves each bead beyond the middle of its neighbours, and out of its obstacles.
fn pull(beads: &mut [Bead], solids: &[(usize, &Solid, Pose<f64>)], count: u32, spacing: f64) {
    // For the fewest beads. Of more, each moves further beyond, as is best for a longer chain, and more often: as much
    // is left of a bump.
    const SWEEPS: u32 = 300;
    const RELAXATION: f64 = 1.8;
    let finer = count / BEADS[0];
    let beyond = 2.0 / (1.0 + (2.0 / RELAXATION - 1.0) / f64::from(finer));
    let sweeps = SWEEPS * finer;
    for sweep in 0..sweeps {
        // At the end without beyond, so that what rests on surfaces comes to rest.
        let relaxation = if sweep + sweeps / 5 > sweeps { 1.0 } else { beyond };
        let mut moved: f64 = 0.0;
        for i in 1..beads.len() - 1 {
            let middle = (beads[i - 1].place.coords + beads[i + 1].place.coords) * 0.5;
            let bead = &beads[i];
            let was = bead.place;
            let mut place = was + (middle - was.coords) * relaxation;
            for (k, solid, X) in solids {
                if bead.obstacles.contains(k) {
                    let p = X.inverse_transform_point(&place);
                    if solid.value(&p) < 0.0 {
                        place = X * solid.foot(&p);
                    }
                }
            }
            if place.coords.iter().all(|x| x.is_finite()) {
                moved = moved.max((place - was).norm());
                beads[i].place = place;
            }
        }
        if moved < 1e-7 * spacing {
            break;
        }
    }
}
