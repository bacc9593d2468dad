//! A discrete string: beads on springs that are pulled tight outside obstacles.

use core::ops::Range;

use force_elements::Pose;
use force_elements::cable::PathResults;
use force_elements::nalgebra::{Point3, Vector3};

use crate::arc::Arc;
use crate::cables::Dice;
use crate::solids::Solid;
use crate::verifier::{Problem, pose};

/// A bead, and the obstacles that it must keep out of.
struct Bead {
    place: Point3<f64>,
    obstacles: Range<usize>,
}

const BEADS: u32 = 64;
const SWEEPS: usize = 300;

/// By what part a string laid beside a path between two fixed points, pulled tight, is shorter; none if it is not.
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
    let spacing = total / f64::from(BEADS);
    // Beads on arcs are joined by chords, which cut corners; the beads where arcs begin and end are a little off.
    let mut cut = 0.0;
    for arc in arcs {
        let mut sharpest: f64 = 0.0;
        for pair in arc.points.windows(2) {
            let turn = pair[0].curvatures[0].abs().max(pair[1].curvatures[0].abs()) * spacing;
            cut += turn * turn * (pair[1].reach - pair[0].reach) / 8.0;
            sharpest = sharpest.max(turn);
        }
        cut += sharpest * sharpest * spacing;
        if sharpest > 0.5 {
            return None;
        }
    }
    let mut longest: f64 = 0.0;
    let smallest = solids.iter().map(|(_, solid, _)| solid.sizes()[0]).fold(problem.scale, f64::min);
    for amplitude in [0.0, 0.1 * smallest] {
        let mut beads = beads(&course, total, amplitude, dice);
        pull(&mut beads, &solids, spacing);
        let length: f64 = beads.windows(2).map(|pair| (pair[1].place - pair[0].place).norm()).sum();
        longest = longest.max(total - cut - length);
    }
    (longest > 1e-5 * total).then_some(longest / total)
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

/// Evenly spaced beads along the course, displaced by a smooth random bump.
fn beads(course: &[Corner], total: f64, amplitude: f64, dice: &mut Dice) -> Vec<Bead> {
    let modes: [Vector3<f64>; 5] = core::array::from_fn(|_| dice.vector(amplitude));
    let mut corner = 0;
    (0..=BEADS)
        .map(|i| {
            let part = f64::from(i) / f64::from(BEADS);
            while corner + 2 < course.len() && course[corner + 1].0 < part * total {
                corner += 1;
            }
            let ((start, a, obstacles), (end, b, _)) = (&course[corner], &course[corner + 1]);
            let u = if end > start { ((part * total - start) / (end - start)).clamp(0.0, 1.0) } else { 0.0 };
            let mut place = a + (b - a) * u;
            let mut wave = 0.0;
            for mode in modes {
                wave += core::f64::consts::PI;
                place += mode * (wave * part).sin();
            }
            if i == 0 || i == BEADS {
                place = if i == 0 { course[0].1 } else { course[course.len() - 1].1 };
            }
            Bead { place, obstacles: obstacles.clone() }
        })
        .collect()
}

/// Moves each bead beyond the middle of its neighbours, and out of its obstacles.
fn pull(beads: &mut [Bead], solids: &[(usize, &Solid, Pose<f64>)], spacing: f64) {
    const RELAXATION: f64 = 1.8;
    for sweep in 0..SWEEPS {
        // At the end without beyond, so that what rests on surfaces comes to rest.
        let relaxation = if sweep + 60 > SWEEPS { 1.0 } else { RELAXATION };
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
