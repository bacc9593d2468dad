//! An independent verifier of cable paths: formulas, integration and a discrete string of its own.
//!
//! Nothing here calls the library's surfaces or solver; a spline of distances alone is read for its values.

use core::ops::Range;

use force_elements::Pose;
use force_elements::cable::{CablePath, PathResults};
use force_elements::nalgebra::{Point3, Vector3};

use crate::arc::{Arc, ArcPoint, follow};
use crate::cables::Dice;
use crate::solids::{Dive, Solid, dives};
use crate::string;

/// The problem that a path is said to solve.
#[derive(Debug, Clone)]
pub struct Problem {
    pub solids: Vec<Solid>,
    /// Fixed points in Ground, and the obstacles between them.
    pub spans: Vec<([Point3<f64>; 2], Range<usize>)>,
    /// Contact hints in the frames of the surfaces, if the path was found without memory.
    pub hints: Vec<Option<Point3<f64>>>,
    /// The kink asked for \[rad\].
    pub smoothness: f64,
    /// The length of which the scene is.
    pub scale: f64,
    /// Whether an end or via point lies on a surface.
    pub is_held: bool,
}

/// What is wrong with a path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fault {
    /// Segments and arcs do not follow each other from station to station \[m\].
    Broken { gap: f64 },
    /// The length is not the sum of the parts \[m\].
    Length { off: f64 },
    /// A straight segment meets an arc with a kink \[rad\].
    Kink { obstacle: usize, kink: f64, allowed: f64 },
    /// A kink is larger than the bound reported \[rad\].
    Smoothness { obstacle: usize, kink: f64, reported: f64 },
    /// An end of an arc is off the surface \[m\].
    Off { obstacle: usize, height: f64 },
    /// A geodesic from the start of an arc ends elsewhere \[m\], or in another direction \[rad\].
    NotGeodesic { obstacle: usize, gap: f64, turn: f64 },
    /// The surface would have to pull on the cable: the normal curvature is negative \[rad\].
    Hollow { obstacle: usize, turn: f64 },
    /// The angle by which a contact turns the cable is not the integral of its curvature \[rad\].
    Turning { obstacle: usize, by: f64 },
    /// A straight segment runs through an obstacle that it touches or passes.
    Penetrates(Dive),
    /// The length is not minimal to second order: so many of the directions shorten it.
    Saddle { directions: usize },
    /// A string laid along the path or beside it, pulled tight, is shorter by this part.
    Shorter { part: f64 },
    /// The path winds about an obstacle otherwise than the straight lines through its hint \[rad\].
    Hint { obstacle: usize, off: f64 },
    /// Forces or moments do not sum to zero, relative to the tension.
    Unbalanced { off: f64 },
}

/// The roundoff of coordinates so far from the origin of Ground.
fn roundoff(problem: &Problem, path: &PathResults<f64>) -> f64 {
    let ends = path.segments.iter().flat_map(|s| [s.from_G, s.to_G]);
    let poses = path.contacts.iter().map(|c| c.X_GS.translation.vector.amax());
    let far = ends.map(|p| p.coords.amax()).chain(poses).fold(problem.scale, f64::max);
    32.0 * f64::EPSILON * far
}

/// Everything that is wrong with a path, and the number of arcs too long to integrate here.
pub fn verify(
    problem: &Problem,
    cable: &CablePath<f64>,
    path: &PathResults<f64>,
    dice: &mut Dice,
    with_string: bool,
) -> (Vec<Fault>, usize) {
    let rounding = roundoff(problem, path);
    let mut faults = chain(problem, path, rounding);
    if !faults.is_empty() {
        return (faults, 0);
    }
    let mut arcs = Vec::new();
    let mut skipped = 0;
    for contact in path.contacts.iter().filter(|contact| contact.in_contact) {
        let obstacle = contact.obstacle;
        let solid = &problem.solids[obstacle];
        let [small, _] = solid.sizes();
        let X = contact.X_GS;
        let (start, end) = (&contact.geodesic.start, &contact.geodesic.end);
        let [first, last] = [start, end].map(|end| X.inverse() * end.point);
        for p in [first, last] {
            let (value, slope) = solid.slope(&p);
            let height = value / slope.norm();
            // The last correction moves along the tangent plane.
            if exceeds(height.abs(), (1e-9 + 0.1 * problem.smoothness) * problem.scale + rounding) {
                faults.push(Fault::Off { obstacle, height });
            }
        }
        let begin = ArcPoint::at(solid, solid.foot(&first), X.inverse().rotation * start.tangent, 0.0);
        let Some(points) = follow(solid, begin, contact.geodesic.length) else {
            skipped += 1;
            continue;
        };
        let here = points[points.len() - 1];
        let gap = (here.place - last).norm();
        let turn = (X.rotation * here.tangent - end.tangent).norm();
        // Errors of the start grow along the arc as neighbouring geodesics part.
        let parting: f64 = points
            .windows(2)
            .map(|pair| (pair[1].reach - pair[0].reach) * pair[0].greatest())
            .sum::<f64>()
            .min(30.0);
        let growth = 1.0 + parting * parting;
        let off = (1e-7 + (problem.smoothness + rounding / small) * 100.0) * growth;
        if exceeds(gap, off * contact.geodesic.length.max(small) + rounding) || exceeds(turn, 2.0 * off) {
            faults.push(Fault::NotGeodesic { obstacle, gap, turn });
        }
        let hollow: f64 = points
            .windows(2)
            .map(|pair| (pair[1].reach - pair[0].reach) * pair[0].curvatures[0].min(0.0))
            .sum();
        if hollow < -1e-6 {
            faults.push(Fault::Hollow { obstacle, turn: hollow });
        }
        // Simpson's rule over each step of the integration and its middle.
        let bend: f64 = points
            .windows(3)
            .step_by(2)
            .map(|step| {
                let [first, middle, last] = [&step[0], &step[1], &step[2]].map(|point| point.curvatures[0]);
                (step[2].reach - step[0].reach) / 6.0 * (first + 4.0 * middle + last)
            })
            .sum();
        // From the start of the arc followed here: that of the contact is off the surface by as much as its smoothness
        // allows.
        let mut followed = *contact;
        let start = points[0].moved(&X);
        (followed.geodesic.start.point, followed.geodesic.start.tangent) = (start.place, start.tangent);
        let by = followed.turning(cable.obstacles()[obstacle].surface(), 1e-9) - bend;
        // Curvatures of a spline of distances have corners.
        let corners = if matches!(solid, Solid::Bone(_)) { 1e-2 } else { 1e-4 };
        if exceeds(by.abs(), corners * (parting + 1e-3)) {
            faults.push(Fault::Turning { obstacle, by });
        }
        arcs.push(Arc { obstacle, points: points.into_iter().map(|point| point.moved(&X)).collect() });
    }
    kinks(problem, path, rounding, &mut faults);
    let spans: Vec<_> = problem.spans.iter().map(|(_, obstacles)| obstacles.clone()).collect();
    for dive in dives(&problem.solids, &spans, path) {
        let along: f64 = path.segments.iter().map(|s| s.length).fold(0.0, f64::max);
        let allowed = 2e-8 * problem.scale + 20.0 * problem.smoothness * along + rounding;
        if dive.depth > allowed {
            faults.push(Fault::Penetrates(dive));
        }
    }
    let is_hollow = faults.iter().any(|fault| matches!(fault, Fault::Hollow { .. }));
    if skipped == 0 {
        for (ends, obstacles) in &problem.spans {
            let within: Vec<&Arc> = arcs.iter().filter(|arc| obstacles.contains(&arc.obstacle)).collect();
            let directions = negative_directions(ends, &within);
            if directions > 0 {
                faults.push(Fault::Saddle { directions });
            }
            if with_string
                && !is_hollow
                && let Some(part) = string::shorter(problem, path, ends, obstacles, &within, dice)
            {
                faults.push(Fault::Shorter { part });
            }
        }
        winding_faults(problem, path, &arcs, &mut faults);
    }
    (faults, skipped)
}

/// Whether a number is above a bound, or no number.
fn exceeds(x: f64, bound: f64) -> bool {
    x > bound || x.is_nan()
}

/// The pose of the surface of an obstacle in Ground.
pub(crate) fn pose(path: &PathResults<f64>, obstacle: usize) -> Option<Pose<f64>> {
    path.contacts.iter().find(|contact| contact.obstacle == obstacle).map(|contact| contact.X_GS)
}

/// Whether the parts follow each other from station to station, their lengths and their forces.
fn chain(problem: &Problem, path: &PathResults<f64>, rounding: f64) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut gap: f64 = 0.0;
    let mut length = 0.0;
    let mut segments = path.segments.iter();
    let mut arrived = 0;
    for (ends, obstacles) in &problem.spans {
        let mut from = ends[0];
        let mut next = obstacles.start;
        loop {
            let Some(segment) = segments.next() else {
                return vec![Fault::Broken { gap: f64::INFINITY }];
            };
            gap = gap.max((segment.from_G - from).norm());
            let along = segment.to_G - segment.from_G;
            gap = gap.max((along - segment.direction_G * segment.length).norm());
            length += segment.length;
            let Some(i) = segment.to_contact else {
                gap = gap.max((segment.to_G - ends[1]).norm());
                break;
            };
            let contact = &path.contacts[i];
            let k = contact.obstacle;
            if i < arrived || k < next || !obstacles.contains(&k) || !contact.in_contact {
                return vec![Fault::Broken { gap: f64::INFINITY }];
            }
            arrived = i + 1;
            let geodesic = &contact.geodesic;
            gap = gap.max((segment.to_G - geodesic.start.point).norm());
            length += geodesic.length;
            if exceeds(-geodesic.length, 0.0) {
                faults.push(Fault::Length { off: geodesic.length });
            }
            from = geodesic.end.point;
            next = k;
        }
    }
    let touched = path.contacts.iter().filter(|contact| contact.in_contact).count();
    let arrived = path.segments.iter().filter(|segment| segment.to_contact.is_some()).count();
    // A contact that begins at a fixed point does so to the smoothness.
    let held = if problem.is_held { problem.smoothness } else { 0.0 };
    if segments.next().is_some()
        || touched != arrived
        || exceeds(gap, (1e-9 + held) * problem.scale + rounding)
    {
        faults.push(Fault::Broken { gap });
    }
    if exceeds((length - path.length).abs(), 1e-13 * length + rounding) {
        faults.push(Fault::Length { off: length - path.length });
    }
    let forces = path.unit_forces();
    let (force, moment) = forces.fold((Vector3::zeros(), Vector3::zeros()), |(force, moment), (_, p, f)| {
        (force + f, moment + (p.coords - path.segments[0].from_G.coords).cross(&f))
    });
    let off = force.norm() + moment.norm() / length;
    if exceeds(off, 1e-12 + rounding / length * 10.0) {
        faults.push(Fault::Unbalanced { off });
    }
    faults
}

/// Kinks where segments meet arcs.
fn kinks(problem: &Problem, path: &PathResults<f64>, rounding: f64, faults: &mut Vec<Fault>) {
    for pair in path.segments.windows(2) {
        let Some(contact) = pair[0].to_contact.map(|i| &path.contacts[i]) else { continue };
        let (obstacle, geodesic, X_SG) = (contact.obstacle, &contact.geodesic, contact.X_GS.inverse());
        let [small, _] = problem.solids[obstacle].sizes();
        for (segment, end) in [(&pair[0], &geodesic.start), (&pair[1], &geodesic.end)] {
            // The surface's own normal at the place of contact, not the one reported.
            let (_, slope) = problem.solids[obstacle].slope(&(X_SG * end.point));
            let steep = (X_SG.rotation * segment.direction_G).dot(&slope.normalize()).abs();
            let kink = steep.max((segment.direction_G - end.tangent).norm());
            let blur = if segment.length > 0.0 { rounding / segment.length } else { 0.0 } + rounding / small;
            // Splines of distances are differentiated by differences.
            let blur = blur + if matches!(problem.solids[obstacle], Solid::Bone(_)) { 1e-7 } else { 0.0 };
            let allowed = 16.0 * problem.smoothness + 4.0 * blur;
            if exceeds(kink, allowed) {
                faults.push(Fault::Kink { obstacle, kink, allowed });
            }
            if exceeds(kink, path.smoothness * 1.01 + 4.0 * blur + 1e-14) {
                faults.push(Fault::Smoothness { obstacle, kink, reported: path.smoothness });
            }
        }
    }
}

/// The number of directions in which the discrete path, its corners displaced across it along the surfaces, becomes
/// shorter: the negative pivots of the second derivatives of length.
fn negative_directions([from, to]: &[Point3<f64>; 2], arcs: &[&Arc]) -> usize {
    // Discrete arcs differ from smooth ones by the square of their turn per corner, a few 1e-4 at most. Where length
    // does not change at all to second order a path counts as minimal.
    const MARGIN: f64 = 2e-3;
    // Where contact just begins there is no arc to bend.
    let lasting = arcs.iter().filter(|arc| arc.turn() > 1e-6);
    let corners: Vec<&ArcPoint> = lasting.flat_map(|arc| &arc.points).collect();
    let across: Vec<Vector3<f64>> = corners.iter().map(|c| c.normal.cross(&c.tangent)).collect();
    let place = |i: usize| corners[i].place;
    let mut negative = 0;
    let mut before: Option<(f64, f64)> = None;
    for i in 0..corners.len() {
        let back = place(i) - if i == 0 { *from } else { place(i - 1) };
        let ahead = if i + 1 == corners.len() { *to } else { place(i + 1) } - place(i);
        let (d, e) = (back.norm(), ahead.norm());
        if d == 0.0 || e == 0.0 {
            // An arc without length, or one held at a fixed point.
            return 0;
        }
        let stiff =
            |chord: &Vector3<f64>, length: f64| (1.0 - (across[i].dot(chord) / length).powi(2)) / length;
        let turn = (ahead / e - back / d).dot(&corners[i].normal);
        // The corner displaced across by u sinks by half the transverse curvature times u².
        let bend = corners[i].curvatures[1] * turn;
        let mut pivot = stiff(&back, d) + stiff(&ahead, e) + bend + MARGIN * bend.abs();
        if let Some((previous, coupling)) = before {
            pivot -= coupling * coupling / previous;
        }
        negative += usize::from(pivot < 0.0);
        if i + 1 < corners.len() {
            let direction = ahead / e;
            let cosine =
                across[i].dot(&across[i + 1]) - across[i].dot(&direction) * across[i + 1].dot(&direction);
            before = Some((pivot, -cosine / e));
        }
    }
    negative
}

/// The angle by which a straight line winds about the core of a solid, if it has one.
fn wound(solid: &Solid, a: &Point3<f64>, b: &Point3<f64>) -> Option<f64> {
    const PARTS: u32 = 2000;
    let angle = |p: Point3<f64>| match solid {
        Solid::Rod(_) => p.y.atan2(p.x),
        Solid::Ring(ring, _) => p.z.atan2(p.x.hypot(p.y) - ring),
        _ => f64::NAN,
    };
    let mut sum = 0.0;
    let mut last = angle(*a);
    for i in 1..=PARTS {
        let next = angle(a + (b - a) * (f64::from(i) / f64::from(PARTS)));
        let part =
            core::f64::consts::TAU.mul_add(-((next - last) / core::f64::consts::TAU).round(), next - last);
        // A line through the core winds either way.
        if exceeds(part.abs(), 1.0) {
            return None;
        }
        sum += part;
        last = next;
    }
    Some(sum)
}

/// Obstacles about which the path does not wind as the straight lines through their hints.
fn winding_faults(problem: &Problem, path: &PathResults<f64>, arcs: &[Arc], faults: &mut Vec<Fault>) {
    for (ends, obstacles) in &problem.spans {
        for obstacle in obstacles.clone() {
            let Some(hint) = problem.hints[obstacle] else { continue };
            let solid = &problem.solids[obstacle];
            let Some(X_GS) = pose(path, obstacle) else { continue };
            let X_SG = X_GS.inverse();
            let mut touching =
                path.contacts.iter().filter(|c| c.in_contact && obstacles.contains(&c.obstacle));
            let before = touching.clone().rfind(|c| c.obstacle < obstacle);
            let after = touching.find(|c| c.obstacle > obstacle);
            let a = X_SG * before.map_or(ends[0], |contact| contact.geodesic.end.point);
            let b = X_SG * after.map_or(ends[1], |contact| contact.geodesic.start.point);
            // Inside, a hint stands for the surface near it. Along the gradient one might leap across a ring.
            let hint = match solid {
                Solid::Ring(ring, tube) if solid.height(hint) < 0.0 => {
                    let out = Vector3::new(hint.x, hint.y, 0.0).normalize();
                    let middle = Point3::from(out * *ring);
                    middle + (hint - middle).normalize() * *tube
                }
                _ if solid.height(hint) < 0.0 => solid.foot(&hint),
                _ => hint,
            };
            let sum = |points: &[Point3<f64>]| -> Option<f64> {
                points.windows(2).map(|pair| wound(solid, &pair[0], &pair[1])).sum()
            };
            let mut course = vec![a];
            for arc in arcs.iter().filter(|arc| arc.obstacle == obstacle) {
                // A few points to a turn suffice: each chord is followed itself.
                let skip = (arc.points.len() / 24).max(1);
                course.extend(arc.points.iter().step_by(skip).map(|point| X_SG * point.place));
                course.extend(arc.points.last().map(|point| X_SG * point.place));
            }
            course.push(b);
            if let (Some(wanted), Some(found)) = (sum(&[a, hint, b]), sum(&course))
                && (wanted - found).abs() > 1.0
            {
                faults.push(Fault::Hint { obstacle, off: found - wanted });
            }
        }
    }
}
