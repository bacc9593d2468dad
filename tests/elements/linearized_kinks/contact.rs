//! Foundations and cables exactly at kinks.

use force_elements::cable::{CablePath, Obstacle};
use force_elements::elastic_foundation::{self as foundation, Material};
use force_elements::nalgebra::{Point3, Vector3};
use force_elements::shapes::{Ellipsoid, HalfSpace, SolidShape, Sphere, TriangleMesh};
use force_elements::{
    CableSpring, ElasticFoundation, Error, ForceSystem, Frame, Pose, SpatialVelocity, Station, cable_spring,
};

use super::{Case, Freedoms, all_are_finite, all_are_one_sided};

/// A brick above or in a solid.
fn brick(
    (parameters, material, anchors): (foundation::Parameters<f64>, Material<f64>, bool),
    solid: SolidShape<f64>,
    height: f64,
    nudge: Vector3<f64>,
    velocity: Vector3<f64>,
) -> Case {
    let mut system = ForceSystem::new();
    let body = system.add_body();
    let bed = ElasticFoundation::new(parameters)?;
    let mut bed = if anchors { bed.with_anchors() } else { bed };
    bed.add_rigid(Frame::ground(Pose::identity()), solid)?;
    let brick = TriangleMesh::brick(Vector3::new(0.5, 0.25, 0.125), [1; 3])?;
    // A foundation with anchors is not added without grip, but a state may take it away.
    let springs = bed.add_springs(Frame::of(body), brick, material.with_grip(512.0, 16.0))?;
    let element = system.add(bed)?;
    let mut state = system.default_state();
    system.update_parameters(&mut state, element, |p| {
        if let Some(present) = p.material_mut(springs) {
            *present = material;
        }
    })?;
    state.set_pose(body, Pose::translation(0.0, 0.0, height))?;
    system.realize_dynamics(&mut state)?;
    system.accept_step(&mut state)?;
    state.set_pose(body, Pose::translation(nudge.x, nudge.y, height + nudge.z))?;
    state.set_velocity(body, SpatialVelocity::new(Vector3::zeros(), velocity))?;
    Ok((system, state, element.id()))
}

#[test]
fn a_foundation_at_rest_at_touch_and_at_the_limits_of_friction() -> Result<(), Error> {
    let rubber =
        Material::new(1024.0).with_dissipation(0.5).with_friction(0.5, 0.25, 0.125).with_grip(512.0, 16.0);
    let materials = [
        ("rubber", rubber),
        ("without viscosity", rubber.with_grip(512.0, 0.0)),
        ("without grip", rubber.with_grip(0.0, 0.0)),
        ("frictionless", rubber.with_friction(0.0, 0.0, 0.0)),
        ("undamped", rubber.with_dissipation(0.0)),
    ];
    let (none, x, z) = (Vector3::zeros(), Vector3::x(), Vector3::z());
    let motions = [
        ("at rest", none, none),
        ("at the transition velocity", none, x / 8.0),
        ("thrown off", none, z * 2.0),
        // The bottom is 1/16 m deep: half of 1024 N/m³ of it, of 512 N/m³.
        ("at the limit", x / 16.0, none),
        ("at the limit and back", x / 16.0, -x / 4.0),
        ("at the limit and on", x / 16.0, x / 4.0),
        ("beyond the limit", x / 8.0, none),
    ];
    let (mut cases, mut corners) = (Vec::new(), Vec::new());
    for [clipped, anchors] in [[false, false], [false, true], [true, false], [true, true]] {
        let plain = foundation::Parameters {
            transition_velocity: 0.125,
            clipped,
            ..foundation::Parameters::default()
        };
        let mut add =
            |name: String, p: &foundation::Parameters<f64>, material, solid, height, nudge, velocity| {
                let case = brick((p.clone(), material, anchors), solid, height, nudge, velocity);
                // Areas of clipped faces are rounded, so that no limit is met, and edges of a block lie on those of another.
                let is_corner = (clipped && name.contains("at the limit")) || name == "on a block";
                let name = format!("{name}, clipped {clipped}, anchors {anchors}");
                if is_corner { corners.push((name, case)) } else { cases.push((name, case)) }
            };
        for (of, material) in materials {
            for (name, nudge, velocity) in motions {
                add(
                    format!("{of}, {name}"),
                    &plain,
                    material,
                    HalfSpace::BelowZ.into(),
                    0.0625,
                    nudge,
                    velocity,
                );
            }
        }
        for height in [0.125, 0.0] {
            add(format!("at {height}"), &plain, rubber, HalfSpace::BelowZ.into(), height, none, none);
        }
        let egg = Ellipsoid::new(Vector3::new(0.5, 0.75, 0.5))?;
        let block = TriangleMesh::brick(Vector3::repeat(0.5), [1; 3])?;
        add("on a ball".to_string(), &plain, rubber, Sphere::new(0.5)?.into(), 0.5, none, none);
        add("on an egg".to_string(), &plain, rubber, egg.into(), 0.5, none, none);
        add("on a block".to_string(), &plain, rubber, block.into(), 0.5625, none, none);
    }
    all_are_finite(corners);
    // Turns take springs to either side of a kink.
    all_are_one_sided(cases, Freedoms::Shifts);
    Ok(())
}

/// A cable from Ground along x, perhaps over a ball of a metre whose highest point is so far below it.
fn cable(law: cable_spring::Parameters<f64>, below: Option<f64>, velocity: Vector3<f64>) -> Case {
    let mut system = ForceSystem::new();
    let body = system.add_body();
    let mut path =
        CablePath::new(Station::ground(Point3::new(-2.0, 0.0, 0.0)), Station::on(body, Point3::origin()))?;
    if let Some(below) = below {
        let at = Frame::ground(Pose::translation(0.0, 0.0, -1.0 - below));
        path = path.over(Obstacle::new(at, Sphere::new(1.0)?)?);
    }
    let element = system.add(CableSpring::new(path, law)?)?;
    let mut state = system.default_state();
    state.set_body(
        body,
        Pose::translation(2.0, 0.0, 0.0),
        SpatialVelocity::new(Vector3::zeros(), velocity),
    )?;
    Ok((system, state, element.id()))
}

#[test]
fn a_cable_without_stretch_at_touch_and_at_the_end_of_its_pull() {
    let law = cable_spring::Parameters { stiffness: 64.0, slack_length: 4.0, dissipation: 0.5 };
    let taut = cable_spring::Parameters { slack_length: 3.5, ..law };
    let mut cases = Vec::new();
    for (name, law) in [("unstretched", law), ("taut", taut)] {
        for (moving, velocity) in
            [("at rest", Vector3::zeros()), ("limp", -Vector3::x() * 2.0), ("pulled", Vector3::x())]
        {
            for below in [None, Some(0.0), Some(0.5), Some(-0.25)] {
                cases.push((format!("{name}, {moving}, {below:?}"), cable(law, below, velocity)));
            }
        }
    }
    all_are_one_sided(cases, Freedoms::All);
}
