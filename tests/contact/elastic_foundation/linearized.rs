//! Linearizations of contact with a user's own solid.

use std::collections::BTreeMap;

use approx::assert_relative_eq;
use force_elements::elastic_foundation::{Material, Parameters};
use force_elements::nalgebra::{Matrix3, Point3, Rotation3, Vector3};
use force_elements::shapes::{HalfSpace, Solid, SolidShape, SurfacePoint, TriangleMesh};
use force_elements::{
    Column, ElasticFoundation, Error, ForceSystem, Forces, Frame, Linearization, Pose, Scope,
    SpatialVelocity, Variation,
};

use super::rubber;

/// A ball that says how its normal turns up to some height only.
#[derive(Debug)]
struct Ball {
    radius: f64,
    known_below: f64,
}

impl Solid<f64> for Ball {
    fn nearest(&self, p_S: &Point3<f64>) -> SurfacePoint<f64> {
        let normal = p_S.coords.normalize();
        let point = Point3::from(normal * self.radius);
        SurfacePoint { point, normal, signed_distance: p_S.coords.norm() - self.radius }
    }

    fn normal_gradient(&self, near: &SurfacePoint<f64>) -> Option<Matrix3<f64>> {
        let normal = near.normal;
        let across = Matrix3::identity() - normal * normal.transpose();
        (near.point.z < self.known_below).then(|| across / (self.radius + near.signed_distance))
    }
}

/// The change of the force on a mesh on a ball by a small motion, and where it comes from.
fn change(known_below: f64, clipped: bool) -> Result<(Vector3<f64>, [bool; 2]), Error> {
    let mut system = ForceSystem::new();
    let body = system.add_body();
    let mut foundation = ElasticFoundation::new(Parameters { clipped, ..Parameters::default() })?;
    let ball = SolidShape::custom(Ball { radius: 1.0, known_below });
    foundation.add_rigid(Frame::ground(Pose::identity()), ball)?;
    foundation.add_springs(Frame::of(body), TriangleMesh::brick(Vector3::repeat(0.5), [6; 3])?, rubber())?;
    let foundation = system.add(foundation)?;
    let mut state = system.default_state();
    let V = SpatialVelocity::new(Vector3::new(0.1, -0.2, 0.3), Vector3::new(0.4, 0.1, -0.2));
    state.set_body(body, Pose::translation(0.05, 0.03, 1.2), V)?;
    system.realize_dynamics(&mut state)?;
    let mut linearization = Linearization::of(Scope { variables: true, commit: false });
    system.linearize(&state, &mut linearization)?;
    let element = linearization.element(foundation);
    let are_exact = [element.is_exact(), element.is_exact_by_variables()];
    let (mut motion, none) = (Variation::zeros(system.topology()), Variation::zeros(system.topology()));
    *motion.body_mut(body) = SpatialVelocity::new(Vector3::new(0.3, 0.2, -0.5), Vector3::new(0.6, -0.4, 0.7));
    let mut forces = Forces::zeros(system.topology());
    linearization.apply(&motion, &none, &mut forces, None)?;
    Ok((forces.body(body).force, are_exact))
}

#[test]
fn a_solid_that_does_not_say_everywhere_how_its_normal_turns_gets_differences() -> Result<(), Error> {
    for clipped in [false, true] {
        let (exact, are_exact) = change(2.0, clipped)?;
        assert_eq!(are_exact, [true; 2]);
        // Known nowhere, and everywhere but near the top, where some of the springs are.
        for known_below in [-2.0, 0.99] {
            let (differences, are_exact) = change(known_below, clipped)?;
            assert_eq!(are_exact, [false; 2], "{known_below} {clipped}");
            // Differences err by 1e-8 of smooth forces.
            assert_relative_eq!(exact, differences, max_relative = 1e-5);
        }
    }
    Ok(())
}

/// The change of the force on springs over a diagonal of the upper side of a tilted slab, or over a half-space, by a motion
/// across that diagonal.
fn along_a_flat_side(
    surface: impl Into<SolidShape<f64>>,
    tilt: &Rotation3<f64>,
) -> Result<Vector3<f64>, Error> {
    let mut system = ForceSystem::new();
    let body = system.add_body();
    let mut foundation = ElasticFoundation::new(Parameters::default())?;
    let surface: SolidShape<f64> = surface.into();
    let X_GS = if matches!(surface, SolidShape::HalfSpace(_)) {
        Pose::from_parts((tilt * Vector3::z() * 0.1).into(), *tilt)
    } else {
        Pose::identity()
    };
    foundation.add_rigid(Frame::ground(X_GS), surface)?;
    let (mut vertices, mut faces) = (Vec::new(), Vec::new());
    for i in 0..360_u32 {
        let x = f64::from(i) * 5e-3 - 0.9;
        faces.push([0, 1, 2].map(|k| 3 * i + k));
        for (dx, dy) in [(1e-3, 0.0), (0.0, 1e-3), (-1e-3, -1e-3)] {
            vertices.push(tilt * Point3::new(x + dx, x + dy, 0.1 - DEPTH));
        }
    }
    foundation.add_springs(Frame::of(body), TriangleMesh::open(&vertices, &faces)?, rubber())?;
    system.add(foundation)?;
    let mut state = system.default_state();
    system.realize_dynamics(&mut state)?;
    let mut linearization = Linearization::new();
    system.linearize(&state, &mut linearization)?;
    let (mut motion, none) = (Variation::zeros(system.topology()), Variation::zeros(system.topology()));
    let across = tilt * Vector3::new(1.0, -1.0, 0.0);
    *motion.body_mut(body) = SpatialVelocity::new(Vector3::zeros(), across);
    let mut forces = Forces::zeros(system.topology());
    linearization.apply(&motion, &none, &mut forces, None)?;
    Ok(forces.body(body).force)
}

const DEPTH: f64 = 1e-3;

#[test]
fn between_faces_in_one_plane_the_normal_does_not_turn() -> Result<(), Error> {
    let mut turned = Vec::new();
    // The diagonal is one edge, or some of the springs are over vertices.
    for (cells, i) in [1, 10].into_iter().flat_map(|cells| (0..8).map(move |i| (cells, i))) {
        let brick = TriangleMesh::<f64>::brick(Vector3::new(1.0, 1.0, 0.1), [cells, cells, 1])?;
        let tilt = Rotation3::from_euler_angles(0.3 + 0.1 * f64::from(i), -0.4, 0.7);
        let vertices: Vec<_> = brick.vertices().map(|vertex| tilt * vertex).collect();
        let slab = TriangleMesh::closed(&vertices, brick.faces())?;
        let [of_slab, of_plane] =
            [along_a_flat_side(slab, &tilt)?, along_a_flat_side(HalfSpace::BelowZ, &tilt)?];
        turned.push((of_slab - of_plane).norm() / rubber().stiffness);
    }
    // The area of all springs is 5.4e-4 m².
    assert!(turned.iter().all(|turned| *turned < 1e-12), "{turned:?}");
    Ok(())
}

/// The half-space below z = 0, of which derivatives of the normal are not known.
#[derive(Debug)]
struct Floor;

impl Solid<f64> for Floor {
    fn nearest(&self, p_S: &Point3<f64>) -> SurfacePoint<f64> {
        SurfacePoint { point: Point3::new(p_S.x, p_S.y, 0.0), normal: Vector3::z(), signed_distance: p_S.z }
    }
}

#[test]
fn by_differences_there_is_no_derivative_by_the_number_of_a_spring() -> Result<(), Error> {
    let derivatives = |floor: SolidShape<f64>| {
        let mut system = ForceSystem::<f64>::new();
        let body = system.add_body();
        let plate = TriangleMesh::brick(Vector3::new(0.5, 0.5, 0.1), [1, 1, 1])?;
        let mut foundation = ElasticFoundation::new(Parameters::default())?.with_anchors();
        foundation.add_rigid(Frame::ground(Pose::identity()), floor)?;
        let material = Material::new(1e3).with_friction(0.5, 0.5, 0.0).with_grip(500.0, 0.0);
        foundation.add_springs(Frame::of(body), plate, material)?;
        let foundation = system.add(foundation)?;
        let mut state = system.default_state();
        state.set_pose(body, Pose::translation(0.0, 0.0, 0.09))?;
        system.realize_dynamics(&mut state)?;
        system.accept_step(&mut state)?;
        state.set_pose(body, Pose::translation(0.001, 0.0, 0.09))?;
        system.realize_dynamics(&mut state)?;
        let names = state.linearized_variables(foundation)?;
        let mut linearization = Linearization::of(Scope { variables: true, commit: true });
        system.linearize(&state, &mut linearization)?;
        let mut all = BTreeMap::new();
        for (row, column, block) in linearization.element(foundation).blocks() {
            let Column::Variable(variable) = column else { continue };
            let largest = block.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
            if largest > 1e-6 {
                all.insert((format!("{row:?}"), names[variable].clone()), largest);
            }
        }
        Ok::<_, Error>(all)
    };
    let (exact, by_differences) =
        (derivatives(HalfSpace::BelowZ.into())?, derivatives(SolidShape::custom(Floor))?);
    assert_eq!(exact.keys().collect::<Vec<_>>(), by_differences.keys().collect::<Vec<_>>());
    for (key, expected) in &exact {
        assert!((by_differences[key] / expected - 1.0).abs() < 1e-5, "{key:?}");
    }
    assert!(exact.len() > 10, "{}", exact.len());
    Ok(())
}
