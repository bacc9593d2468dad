//! Muscles of an arm over cylinders and ellipsoids that they may use on one side, beside OpenSim and beside strings pulled
//! tight.

use std::path::Path;

use force_elements::cable::PathResults;
use force_elements::nalgebra::{Point3, Vector3};
use force_elements::{Pose, Positions, testing};
use force_elements_scenes::arm::{Arm, Muscle, RIM, Shape, Surface};
use force_elements_scenes::conformance::Failure;

fn arm() -> Result<Arm, Failure> {
    Arm::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/muscles/arm26.json"))
}

#[test]
fn the_same_surfaces_are_touched_as_in_opensim_by_a_path_never_longer() -> Result<(), Failure> {
    let arm = arm()?;
    let (mut straight, mut wrapped) = (0, 0);
    for muscle in &arm.muscles {
        for (i, pose) in arm.poses.iter().enumerate() {
            let state = arm.state(pose)?;
            let found = arm.solve(muscle, state.positions())?;
            let touched = found.path.contacts.iter().filter(|contact| contact.in_contact).count();
            let what = format!("{} at {:?}", muscle.name, pose.angles);
            assert_eq!(touched.to_string(), muscle.touched[i].to_string(), "{what}");
            let longer = found.path.length - muscle.lengths[i];
            if touched == 0 {
                straight += 1;
                // Roundoff of coordinates of a metre; OpenSim's axes are units to eight digits.
                assert!(longer.abs() < 1e-15 * 16.0, "{what}: {longer}");
                for (ours, theirs) in found.moment_arms.iter().zip(&muscle.moment_arms) {
                    assert!((ours - theirs[i]).abs() < 1e-8, "{what}: {ours} {}", theirs[i]);
                }
            } else {
                wrapped += 1;
                // What OpenSim finds is near the shortest path, and on an ellipsoid some millimetres longer.
                assert!(longer < 1e-9 && longer > -4e-3, "{what}: {longer}");
            }
        }
    }
    assert!(straight > 300 && wrapped > 200, "{straight} {wrapped}");
    Ok(())
}

#[test]
fn moment_arms_about_both_joints_are_those_by_differences() -> Result<(), Failure> {
    let arm = arm()?;
    for muscle in &arm.muscles {
        for pose in &arm.poses {
            let state = arm.state(pose)?;
            let positions = state.positions();
            let found = arm.solve(muscle, positions)?;
            let path = muscle.path()?;
            for (joint, ours) in found.moment_arms.into_iter().enumerate() {
                let motion = |body| arm.motion(positions, joint, body);
                let difference = testing::moment_arm_by_differences(
                    path.at(path.places()),
                    positions,
                    &path.no_wraps(),
                    motion,
                    |_| 0.0,
                    1e-5,
                )?;
                // The square of the step times a third derivative below one, and roundoff divided by the step.
                assert!(
                    (ours - difference).abs() < 1e-9,
                    "{} {:?}: {ours} {difference}",
                    muscle.name,
                    pose.angles
                );
            }
        }
    }
    Ok(())
}

#[test]
fn the_path_depends_on_the_present_pose_alone() -> Result<(), Failure> {
    let arm = arm()?;
    let mut path = PathResults::default();
    for muscle in &arm.muscles {
        let cable = muscle.path()?;
        let mut wraps = cable.no_wraps();
        // From pose to pose in leaps.
        for i in (0..arm.poses.len()).map(|i| (41 * i) % arm.poses.len()) {
            let state = arm.state(&arm.poses[i])?;
            cable.solve(state.positions(), &wraps, &mut path)?;
            let length = path.length;
            path.remember(&mut wraps);
            let cold = arm.solve(muscle, state.positions())?.path.length;
            assert!(
                (length - cold).abs() < 1e-12,
                "{} {:?}: {length} {cold}",
                muscle.name,
                arm.poses[i].angles
            );
        }
    }
    Ok(())
}

impl Solid {
    /// The point nearest to `p` that is not inside.
    fn outside(&self, p_G: Point3<f64>) -> Point3<f64> {
        let p = self.X_GS.inverse_transform_point(&p_G);
        match self.shape {
            Shape::Cylinder { radius, length } => {
                // A plain cylinder, less the radius of the rims, grown by it.
                let rim = RIM * radius;
                let (reach, half) = (radius - rim, 0.5 * length - rim);
                let distance = p.x.hypot(p.y);
                let [out, up] = [distance - reach, p.z.abs() - half];
                if out.max(0.0).hypot(up.max(0.0)) >= rim {
                    return p_G;
                }
                if out <= 0.0 && up > out {
                    return self.X_GS * Point3::new(p.x, p.y, (half + rim).copysign(p.z));
                }
                let (grown, raised) = if up > 0.0 {
                    let grow = rim / out.hypot(up);
                    (reach + grow * out, (half + grow * up).copysign(p.z))
                } else {
                    (radius, p.z)
                };
                self.X_GS * Point3::new(p.x * (grown / distance), p.y * (grown / distance), raised)
            }
            Shape::Ellipsoid { radii } => {
                // The nearest point has coordinates r² p / (r² + t), with the t for which it lies on the surface.
                let near = |t: f64| p.coords.zip_map(&radii, |p, r| r * r * p / (r * r + t));
                let height = |t: f64| near(t).component_div(&radii).norm() - 1.0;
                if height(0.0) >= 0.0 {
                    return p_G;
                }
                let (mut low, mut high) = (-radii.min().powi(2), 0.0);
                for _ in 0..50 {
                    let middle = 0.5 * (low + high);
                    *(if height(middle) > 0.0 { &mut low } else { &mut high }) = middle;
                }
                self.X_GS * Point3::from(near(high))
            }
        }
    }
}

/// A surface in Ground, and a point above the side that may be used.
struct Solid {
    X_GS: Pose<f64>,
    shape: Shape,
    above_G: Point3<f64>,
    /// The length on which the string is fine.
    size: f64,
}

impl Solid {
    fn new(surface: &Surface, positions: &Positions<f64>, a: &Point3<f64>, b: &Point3<f64>) -> Self {
        let X_GS = positions.pose(surface.frame.body) * surface.frame.X_BF;
        let radii = match surface.shape {
            Shape::Cylinder { radius, .. } => Vector3::new(radius, radius, 0.0),
            Shape::Ellipsoid { radii } => radii,
        };
        // Above the middle of the straight line, or of the side that may be used.
        let (a, b) = (X_GS.inverse_transform_point(a), X_GS.inverse_transform_point(b));
        let weight = |v: Vector3<f64>| v.zip_map(&radii, |v, r| if r > 0.0 { v / r } else { 0.0 });
        let (start, along) = (weight(a.coords), weight(b - a));
        let middle = a + (b - a) * (-start.dot(&along) / along.norm_squared()).clamp(0.0, 1.0);
        let mut above = middle;
        if surface.side_S == Vector3::zeros() {
            let out = weight(middle.coords).normalize().component_mul(&radii);
            above = Point3::from(out + Vector3::new(0.0, 0.0, middle.z));
        } else {
            let side = surface.side_S;
            above += side * (side.dot(&radii).abs() - side.dot(&middle.coords));
        }
        Self { X_GS, shape: surface.shape, above_G: X_GS * above, size: radii.max() }
    }
}

/// The length of a string from `a` to `b` that is laid above the solids and pulled tight.
fn pulled_tight(a: Point3<f64>, b: Point3<f64>, solids: &[Solid]) -> f64 {
    let mut beads = vec![a];
    let mut corners: Vec<_> = solids.iter().map(|solid| (solid.above_G, solid.size)).collect();
    corners.push((b, f64::INFINITY));
    let mut from = (a, f64::INFINITY);
    for corner in corners {
        // Fine near the solids: a fiftieth of their size, and from one size away in growing steps.
        let whole = (corner.0 - from.0).norm();
        let mut at = 0.0;
        while at < whole {
            beads.push(from.0 + (corner.0 - from.0) * (at / whole));
            let spacing = |distance: f64, size: f64| {
                if size.is_finite() { (0.02 * size).max(0.2 * (distance - size)) } else { f64::INFINITY }
            };
            at += spacing(at, from.1).min(spacing(whole - at, corner.1)).min(0.1 * whole);
        }
        from = corner;
    }
    beads.push(b);
    let stiffness: Vec<_> = beads.windows(2).map(|pair| 1.0 / (pair[1] - pair[0]).norm().max(1e-6)).collect();
    for sweep in 0..4000 {
        // Over-relaxed at first, so that long waves die out.
        let lead = if sweep < 3600 { 1.95 } else { 1.0 };
        for i in 1..beads.len() - 1 {
            let (k, l) = (stiffness[i - 1], stiffness[i]);
            let middle = (beads[i - 1].coords * k + beads[i + 1].coords * l) / (k + l);
            let moved = beads[i] + (middle - beads[i].coords) * lead;
            beads[i] = solids.iter().fold(moved, |p, solid| solid.outside(p));
        }
    }
    beads.windows(2).map(|pair| (pair[1] - pair[0]).norm()).sum()
}

/// The length of a muscle as a string, and how many of its pieces are not straight.
fn as_string(muscle: &Muscle, surfaces: &[Surface], positions: &Positions<f64>) -> (f64, usize) {
    let points: Vec<_> = muscle.points.iter().map(|point| positions.pose(point.body) * point.p_B).collect();
    let mut bent = 0;
    let pieces = points.windows(2).enumerate().map(|(i, ends)| {
        let [a, b] = [ends[0], ends[1]];
        let here = surfaces.iter().filter(|surface| surface.after == i);
        let mut solids: Vec<_> = here.map(|surface| Solid::new(surface, positions, &a, &b)).collect();
        // What the straight line does not meet is not in its way.
        let is_met = |solid: &Solid| {
            (0..=2000).map(|n| a + (b - a) * (f64::from(n) / 2000.0)).any(|p| solid.outside(p) != p)
        };
        // Nor is what contains an end.
        solids.retain(|solid| is_met(solid) && solid.outside(a) == a && solid.outside(b) == b);
        bent += usize::from(!solids.is_empty());
        if solids.is_empty() { (b - a).norm() } else { pulled_tight(a, b, &solids) }
    });
    (pieces.sum(), bent)
}

#[test]
fn paths_are_as_short_as_strings_pulled_tight_on_the_side_allowed() -> Result<(), Failure> {
    let arm = arm()?;
    let mut wrapped = 0;
    for muscle in &arm.muscles {
        // Each surface depends on one joint.
        let is_examined =
            |[shoulder, elbow]: [f64; 2]| elbow == 0.0 || shoulder == -30.0 && elbow % 10.0 == 0.0;
        for pose in arm.poses.iter().filter(|pose| is_examined(pose.angles)) {
            let state = arm.state(pose)?;
            let positions = state.positions();
            let found = arm.solve(muscle, positions)?;
            let (string, bent) = as_string(muscle, &muscle.surfaces, positions);
            wrapped += bent;
            let longer = found.path.length - string;
            // The chords of the string, a fiftieth of the radius long, cut the corners.
            assert!((-1e-9..1e-6).contains(&longer), "{} {:?}: {longer}", muscle.name, pose.angles);
            for (surface, contact) in muscle.surfaces.iter().zip(&found.path.contacts) {
                if !contact.in_contact {
                    continue;
                }
                let X_SG = contact.X_GS.inverse();
                let [from, to] = [contact.geodesic.start, contact.geodesic.end].map(|end| X_SG * end.point);
                let middle = (from.coords + to.coords) * 0.5;
                // At one pose the muscle comes over the end of a cylinder.
                let is_beside =
                    matches!(surface.shape, Shape::Cylinder { length, .. } if middle.z.abs() > 0.49 * length);
                assert!(is_beside || surface.side_S.dot(&middle) >= 0.0, "{} {middle}", surface.name);
            }
        }
    }
    assert!(wrapped > 30, "{wrapped}");
    Ok(())
}
