//! Muscles of an arm over cylinders and ellipsoids that they may use on one side, beside OpenSim and beside strings pulled
//! tight.

use std::path::Path;

use force_elements::cable::PathResults;
use force_elements_scenes::arm::{Arm, Shape};
use force_elements_scenes::conformance::Failure;
use force_elements_scenes::taut::as_string;
use force_elements_scenes::{is_at_length, one_in};

use crate::moment_arm::moment_arm_by_differences;

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
                let difference = moment_arm_by_differences(
                    (&path, path.places()),
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

#[test]
fn paths_are_as_short_as_strings_pulled_tight_on_the_side_allowed() -> Result<(), Failure> {
    let arm = arm()?;
    let mut is_drawn = one_in(4);
    let mut wrapped = 0;
    for muscle in &arm.muscles {
        // Each surface depends on one joint.
        let is_examined =
            |[shoulder, elbow]: [f64; 2]| elbow == 0.0 || shoulder == -30.0 && elbow % 10.0 == 0.0;
        for pose in arm.poses.iter().filter(|pose| is_examined(pose.angles) && is_drawn()) {
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
    assert!(wrapped > if is_at_length() { 30 } else { 7 }, "{wrapped}");
    Ok(())
}
