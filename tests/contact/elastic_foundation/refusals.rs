//! Surfaces, parameters and values that a foundation refuses.

use std::sync::Arc;

use approx::assert_relative_eq;
use force_elements::elastic_foundation::{Material, Parameters};
use force_elements::nalgebra::{Point3, Vector3};
use force_elements::shapes::{HalfSpace, MeshFault, Solid, SolidShape, Sphere, SurfacePoint, TriangleMesh};
use force_elements::{
    BodyIndex, ElasticFoundation, ElementError, Error, ForceSystem, Frame, Pose, Refusal, Requirement,
    SpatialVelocity,
};

use super::{Foundation, on_floor, rubber, vertical_force};

#[test]
fn a_foundation_that_can_never_push_is_refused_when_it_is_added() {
    let ball = Arc::new(TriangleMesh::sphere(0.5, 2).expect("valid"));
    let mut system = ForceSystem::<f64>::new();
    let (body, other) = (system.add_body(), system.add_body());
    let place = Pose::identity();
    let rigid = |on: BodyIndex| (on, None);
    let soft = |on: BodyIndex| (on, Some(rubber()));
    let mut add = |surfaces: &[(BodyIndex, Option<Material<f64>>)]| {
        let mut foundation = ElasticFoundation::default();
        for &(body, material) in surfaces {
            match material {
                Some(material) => foundation.add_springs(Frame::on(body, place), Arc::clone(&ball), material),
                None => foundation.add_rigid(Frame::on(body, place), Arc::clone(&ball)),
            }
            .expect("valid");
        }
        system.add(foundation)
    };
    let nothing: [&[_]; 5] = [
        &[],
        &[soft(body)],
        &[rigid(body), rigid(other), rigid(BodyIndex::GROUND)],
        &[soft(body), soft(body), rigid(body)],
        &[soft(BodyIndex::GROUND), rigid(BodyIndex::GROUND)],
    ];
    for surfaces in nothing {
        let error = add(surfaces).expect_err("nothing could push");
        assert_eq!(error.own(), Some(&Refusal::NoContactPossible), "{error}");
        let Error::Element { element, .. } = error else { panic!("{error}") };
        assert_eq!(element.kind, "elastic_foundation");
    }
    for surfaces in
        [[soft(body), rigid(other)], [rigid(BodyIndex::GROUND), soft(body)], [soft(body), soft(other)]]
    {
        add(&surfaces).expect("the two can push each other");
    }
    assert_eq!(system.element_count(), 3, "what was refused was not added");
}

#[test]
fn springs_and_anchors_that_exert_no_force_are_refused_when_the_foundation_is_added() {
    let refusal = |has_anchors: bool, material: Material<f64>| {
        let mut system = ForceSystem::new();
        let body = system.add_body();
        let mut foundation = ElasticFoundation::default();
        if has_anchors {
            foundation = foundation.with_anchors();
        }
        foundation.add_rigid(Frame::ground(Pose::identity()), HalfSpace::BelowZ)?;
        foundation.add_springs(Frame::of(body), TriangleMesh::sphere(0.5, 2).expect("valid"), material)?;
        match system.add(foundation) {
            Err(Error::Element { source: ElementError::InvalidValue(value), .. }) => {
                Ok(Some((value.name, value.requirement)))
            }
            other => other.map(|_| None),
        }
    };
    let rubbing = Material::new(1e6).with_friction(0.9, 0.8, 0.0);
    let no_grip = Some(("tangential_stiffness", Requirement::Positive));
    let no_stiffness = Some(("stiffness", Requirement::Positive));
    assert_eq!(refusal(true, rubbing), Ok(no_grip));
    assert_eq!(refusal(false, rubbing), Ok(None));
    for material in [rubbing.with_grip(1e6, 0.0), rubbing.with_grip(0.0, 1e3), Material::new(1e6)] {
        assert_eq!(refusal(true, material), Ok(None));
    }
    for has_anchors in [false, true] {
        let material = Material { stiffness: 0.0, ..rubbing.with_grip(1e6, 0.0) };
        assert_eq!(refusal(has_anchors, material), Ok(no_stiffness));
    }
}

#[test]
fn what_overflows_is_an_error() {
    let brick = || TriangleMesh::brick(Vector3::new(0.5, 0.3, 0.2), [5, 3, 2]).expect("valid");
    let evaluate = |material: Material<f64>, velocity: Vector3<f64>, z: f64| {
        let mut scene = on_floor(brick(), material, Parameters::default());
        let V_GB = SpatialVelocity::new(Vector3::zeros(), velocity);
        scene.state.set_body(scene.body, Pose::translation(0.0, 0.0, z), V_GB).expect("finite");
        scene.system.realize_dynamics(&mut scene.state).map(|view| view.body_force(scene.body)).map(drop)
    };
    let down = -Vector3::z();
    let soft = Material::new(1e5);
    evaluate(soft, down, 0.199).expect("as it should be");
    let cases = [
        (Material::new(1e300), down, -1e10),
        (soft.with_dissipation(1e200), down * 1e200, 0.199),
        // The square of the slip.
        (soft.with_friction(1.0, 1.0, 0.0), Vector3::x() * 1e200, 0.199),
        (soft.with_friction(1.0, 1.0, 1e250), Vector3::x() * 1e120, 0.199),
        // Heat overflows where the force does not.
        (Material::new(1e200).with_friction(1.0, 1.0, 0.0), Vector3::x() * 1e150, 0.199),
    ];
    for (material, velocity, z) in cases {
        let error = evaluate(material, velocity, z).expect_err("not finite");
        assert_eq!(error.element_error(), Some(&ElementError::NonFiniteForce), "{error}");
    }

    let mut system = ForceSystem::<f64>::new();
    let body = system.add_body();
    let mut foundation = ElasticFoundation::default();
    foundation.add_rigid(Frame::ground(Pose::identity()), HalfSpace::BelowZ).expect("valid");
    foundation
        .add_springs(Frame::on(body, Pose::translation(0.0, 0.0, -1.5e308)), brick(), soft)
        .expect("valid");
    system.add(foundation).expect("bodies exist");
    let mut state = system.default_state();
    state.set_pose(body, Pose::translation(0.0, 0.0, -1.5e308)).expect("finite");
    assert!(system.realize_position(&mut state).is_err(), "the surface is at minus infinity");
}

/// A ball of which the distance, the normal or the nearest point is not a number.
#[derive(Debug)]
struct Broken(usize);

impl Solid<f64> for Broken {
    fn nearest(&self, p_S: &Point3<f64>) -> SurfacePoint<f64> {
        let mut near = Sphere::new(1.0).expect("valid").nearest(p_S);
        match self.0 {
            0 => near.signed_distance = f64::NAN,
            1 => near.normal.x = f64::NAN,
            _ => near.point.z = f64::NAN,
        }
        near
    }
}

#[test]
fn a_solid_that_does_not_know_where_it_is_is_an_error() {
    let brick = || TriangleMesh::brick(Vector3::new(0.5, 0.3, 0.2), [5, 3, 2]).expect("valid");
    for (broken, clipped) in [0, 1, 2].into_iter().flat_map(|i| [(i, false), (i, true)]) {
        let mut system = ForceSystem::<f64>::new();
        let body = system.add_body();
        let mut foundation =
            ElasticFoundation::new(Parameters { clipped, ..Parameters::default() }).expect("valid");
        let ball = SolidShape::custom(Broken(broken));
        foundation.add_rigid(Frame::ground(Pose::identity()), ball).expect("valid");
        foundation.add_springs(Frame::of(body), brick(), Material::new(1e5)).expect("valid");
        system.add(foundation).expect("bodies exist");
        let mut state = system.default_state();
        state.set_pose(body, Pose::translation(0.0, 0.0, 1.1)).expect("finite");
        let refused = system.realize_dynamics(&mut state).map(drop).expect_err("not finite");
        assert_eq!(refused.element_error(), Some(&ElementError::NonFiniteForce), "{broken} {clipped}");
    }
}

#[cfg(feature = "serde")]
#[test]
fn what_is_read_passes_the_same_checks_as_what_is_built() {
    let good = rubber();
    let text = serde_json::to_string(&good).expect("numbers");
    assert_eq!(serde_json::from_str::<Material<f64>>(&text).expect("as written"), good);
    for (from, to, said) in [
        ("100000.0", "-1.0", "stiffness = -1, but it must be finite and at least 0"),
        (
            "\"dynamic_friction\":0.6",
            "\"dynamic_friction\":0.91",
            "dynamic_friction = 0.91, but it must be at most static_friction, which is 0.9",
        ),
    ] {
        assert!(text.contains(from), "{text}");
        let error = serde_json::from_str::<Material<f64>>(&text.replace(from, to)).expect_err(to);
        assert!(error.to_string().starts_with(said), "{error}");
    }

    let scene = on_floor(TriangleMesh::sphere(0.5, 2).expect("valid"), rubber(), Parameters::default());
    let parameters = scene.state.parameters(scene.foundation);
    let text = serde_json::to_string(parameters).expect("numbers");
    assert_eq!(&serde_json::from_str::<Parameters<f64>>(&text).expect("as written"), parameters);
    for (from, to) in [("0.01", "0.0"), ("0.01", "-1.0"), ("100000.0", "-1.0")] {
        assert!(text.contains(from), "{text}");
        assert!(serde_json::from_str::<Parameters<f64>>(&text.replacen(from, to, 1)).is_err(), "{to}");
    }
}

#[test]
fn an_open_mesh_carries_springs_but_is_no_obstacle() {
    let brick = TriangleMesh::brick(Vector3::new(0.5, 0.5, 0.5), [2, 2, 2]).expect("valid");
    let vertices: Vec<_> = brick.vertices().collect();
    let open = Arc::new(TriangleMesh::open(&vertices, &brick.faces()[1..]).expect("open"));
    let mut system = ForceSystem::<f64>::new();
    let (body, other) = (system.add_body(), system.add_body());
    let mut foundation = Foundation::default();
    let place = Pose::identity();
    let refused = foundation.add_rigid(Frame::on(body, place), Arc::clone(&open)).expect_err("open");
    let Some(Refusal::OpenSurface { surface: 0, fault: MeshFault::OpenEdge { .. } }) = refused.own() else {
        panic!("{refused}")
    };
    foundation.add_springs(Frame::on(body, place), Arc::clone(&open), rubber()).expect("springs only");
    foundation.add_rigid(Frame::ground(Pose::identity()), HalfSpace::BelowZ).expect("valid");
    let refused =
        foundation.add_springs(Frame::on(other, place), brick.clone(), rubber()).expect_err("asks inside");
    assert!(matches!(refused.own(), Some(Refusal::OpenSurface { surface: 0, .. })), "{refused}");
    // On the same body nothing is asked; rigid, the other asks nothing either.
    foundation.add_springs(Frame::on(body, place), brick.clone(), rubber()).expect("the same body");
    let last = foundation.add_rigid(Frame::on(other, place), brick).expect("rigid");
    assert_eq!(last, 3, "what was refused was not added");
}

#[test]
fn bad_parameters_are_refused_and_named() {
    let ball = || TriangleMesh::sphere(0.5, 2).expect("valid");
    let mut foundation = Foundation::default();
    let place = Pose::identity();
    let bad = [
        ("stiffness", Material { stiffness: -1.0, ..rubber() }, Requirement::NonNegative),
        ("dissipation", Material { dissipation: f64::NAN, ..rubber() }, Requirement::NonNegative),
        ("static_friction", Material { static_friction: -0.1, ..rubber() }, Requirement::NonNegative),
        (
            "viscous_friction",
            Material { viscous_friction: f64::INFINITY, ..rubber() },
            Requirement::NonNegative,
        ),
        (
            "dynamic_friction",
            Material { dynamic_friction: 0.91, ..rubber() },
            Requirement::AtMost("static_friction"),
        ),
    ];
    for (name, material, must) in bad {
        let error = foundation.add_springs(Frame::ground(place), ball(), material).expect_err(name);
        assert_eq!(error.invalid_value().map(|v| (v.name, v.requirement)), Some((name, must)), "{error}");
    }
    let refused = Foundation::new(Parameters { transition_velocity: 0.0, ..Parameters::default() });
    let refused = refused.expect_err("zero");
    assert_eq!(refused.invalid_value().map(|v| v.name), Some("transition_velocity"));
    let crooked = Pose::translation(f64::NAN, 0.0, 0.0);
    assert!(foundation.add_rigid(Frame::ground(crooked), HalfSpace::BelowZ).is_err());

    let mut scene = on_floor(ball(), rubber(), Parameters::default());
    let error = scene
        .system
        .set_variable(&mut scene.state, "elastic_foundation[0].materials[1].stiffness", -3.0)
        .expect_err("negative");
    assert_eq!(error.invalid_value().map(|v| v.name), Some("stiffness"), "{error}");
    let error = scene
        .system
        .set_variable(&mut scene.state, "elastic_foundation[0].transition_velocity", 0.0)
        .expect_err("zero");
    assert_eq!(error.invalid_value().map(|v| v.requirement), Some(Requirement::Positive), "{error}");

    for [modulus, ratio, thickness] in [[0.0, 0.3, 0.1], [1e6, 0.5, 0.1], [1e6, -0.1, 0.1], [1e6, 0.3, 0.0]] {
        assert!(Material::from_elastic_layer(modulus, ratio, thickness).is_err());
    }
    let layer = Material::from_elastic_layer(2e6, 0.25, 0.02).expect("valid");
    assert_relative_eq!(layer.stiffness, 0.75 * 2e6 / (1.25 * 0.5 * 0.02), max_relative = 1e-15);
}

#[test]
fn parameters_change_per_state_and_by_name() {
    let ball = TriangleMesh::sphere(0.5, 8).expect("valid");
    let mut scene = on_floor(ball, Material::new(1e5), Parameters::default());
    let before = vertical_force(&mut scene, 0.45);
    scene
        .system
        .set_variable(&mut scene.state, "elastic_foundation[0].materials[1].stiffness", 3e5)
        .expect("named");
    assert_relative_eq!(vertical_force(&mut scene, 0.45), 3.0 * before, max_relative = 1e-14);
    let mut fresh = scene.system.default_state();
    fresh.set_pose(scene.body, Pose::translation(0.0, 0.0, 0.45)).expect("finite");
    let view = scene.system.realize_dynamics(&mut fresh).expect("regular");
    assert_eq!(view.body_force(scene.body).force.z, before, "other states keep theirs");

    let names = scene.state.variable_names();
    assert!(names.iter().any(|name| name == "elastic_foundation[0].materials[1].viscous_friction"));
    assert!(!names.iter().any(|name| name.contains("materials[0]")), "the half-space has no material");
}

#[test]
fn parameters_of_another_element_are_refused() {
    let ball = || TriangleMesh::sphere(0.5, 4).expect("valid");
    let mut scene = on_floor(ball(), rubber(), Parameters::default());
    let mut system = ForceSystem::<f64>::new();
    let body = system.add_body();
    let mut other = ElasticFoundation::default();
    other.add_springs(Frame::of(body), ball(), rubber()).expect("valid");
    other.add_rigid(Frame::ground(Pose::identity()), HalfSpace::BelowZ).expect("valid");
    let other = system.add(other).expect("the body exists");
    let foreign: Parameters<f64> = system.default_state().parameters(other).clone();
    let before = scene.state.snapshot();
    let error =
        scene.system.set_parameters(&mut scene.state, scene.foundation, foreign).expect_err("foreign");
    assert_eq!(scene.state.snapshot(), before);
    let Error::Element { element, source: ElementError::ForeignVariables } = error else { panic!("{error}") };
    assert_eq!(element.index, Some(0));

    // One more rigid surface at the end has no variables of its own, and yet does not fit.
    let mut longer = ElasticFoundation::default();
    longer.add_rigid(Frame::ground(Pose::identity()), HalfSpace::BelowZ).expect("valid");
    longer.add_springs(Frame::of(body), ball(), rubber()).expect("valid");
    longer.add_rigid(Frame::ground(Pose::identity()), HalfSpace::BelowZ).expect("valid");
    let longer = system.add(longer).expect("the body exists");
    let foreign = system.default_state().parameters(longer).clone();
    let error =
        scene.system.set_parameters(&mut scene.state, scene.foundation, foreign).expect_err("foreign");
    assert_eq!(error.element_error(), Some(&ElementError::ForeignVariables), "{error}");
    assert_eq!(scene.state.snapshot(), before);
}

#[test]
fn an_open_mesh_is_refused_as_a_solid_of_ones_own_too() {
    let brick = TriangleMesh::<f64>::brick(Vector3::repeat(0.5), [1; 3]).expect("valid");
    let vertices: Vec<_> = brick.vertices().collect();
    let open = TriangleMesh::open(&vertices, &brick.faces()[1..]).expect("faces");
    let fault = open.opening().expect("a face is missing");
    let mut foundation = ElasticFoundation::default();
    let refused = foundation.add_rigid(Frame::ground(Pose::identity()), SolidShape::custom(open));
    let refused = refused.expect_err("it encloses nothing");
    assert_eq!(refused.own(), Some(&Refusal::OpenSurface { surface: 0, fault }), "{refused}");
    foundation.add_rigid(Frame::ground(Pose::identity()), SolidShape::custom(brick)).expect("closed");
}
