//! Shapes at the edges of what a scalar can hold: no panic, no abort, nothing that is wrong without an error.
#![allow(
    clippy::unwrap_used,
    non_snake_case,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a test stops at the first surprise; monogram notation; small numbers that pick from a list"
)]

use allocation_counter::measure;
use approx::assert_relative_eq;
use force_elements::contact::{BoundingBox, PairSearch};
use force_elements::nalgebra::{Matrix3, Point3, Rotation3, Translation3, Vector3};
use force_elements::shapes::{
    DistanceField, Ellipsoid, HalfSpace, MeshFault, ShapeError, Solid, SolidShape, Sphere, SurfacePoint,
    TriangleMesh,
};
use force_elements::{
    BodyIndex, CoordinateIndex, ElasticFoundation, ForceSystem, Frame, Inertias, Pose, StepMethod,
    elastic_foundation,
};
use force_elements_scenes::meshes::{self, Sequence};

const MAX_FACES: usize = TriangleMesh::<f64>::MAX_FACES;

type Attempt = fn(u32) -> Result<TriangleMesh<f64>, ShapeError>;

#[test]
fn more_faces_than_allowed_are_refused_before_they_are_allocated() {
    let most = 32_768;
    let attempts: [(&str, Attempt); 6] = [
        ("sphere", |n| TriangleMesh::sphere(1.0, n)),
        ("smallest refused sphere", |_| TriangleMesh::sphere(1.0, 725)),
        ("brick", |n| TriangleMesh::brick(Vector3::repeat(1.0), [n; 3])),
        ("cylinder along", |n| TriangleMesh::cylinder(1.0, 1.0, n, n, 1)),
        ("cylinder rings", |n| TriangleMesh::cylinder(1.0, 1.0, n, 1, n)),
        ("torus", |n| TriangleMesh::torus(1.0, 0.5, n, n)),
    ];
    for (name, attempt) in attempts {
        let mut refused = None;
        let counted = measure(|| refused = Some(attempt(most).unwrap_err()));
        let Some(ShapeError::Mesh { fault: MeshFault::TooManyFaces { count } }) = refused else {
            panic!("{name}: {refused:?}")
        };
        assert!(count > MAX_FACES as u64, "{name}: {count}");
        assert!(counted.bytes_total < 1000, "{name}: {} bytes", counted.bytes_total);
        assert!(
            matches!(attempt(most + 1), Err(ShapeError::InvalidValue(_) | ShapeError::Mesh { .. })),
            "{name}"
        );
    }

    let vertices = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]].map(Point3::<f32>::from);
    let faces = vec![[0, 1, 2]; MAX_FACES + 1];
    let counted = measure(|| {
        let expected = [MeshFault::TooManyFaces { count: MAX_FACES as u64 + 1 }];
        assert_eq!(TriangleMesh::faults(&vertices, &faces), expected);
        assert_eq!(
            TriangleMesh::open(&vertices, &faces).unwrap_err(),
            ShapeError::Mesh { fault: expected[0] }
        );
        assert_eq!(
            TriangleMesh::closed(&vertices, &faces).unwrap_err(),
            ShapeError::Mesh { fault: expected[0] }
        );
    });
    assert!(counted.bytes_total < 1000, "{} bytes", counted.bytes_total);
    drop(faces);

    let count = 3 * MAX_FACES as u64 + 1;
    let vertices = vec![Point3::<f32>::origin(); 3 * MAX_FACES + 1];
    let fault = MeshFault::TooManyVertices { count };
    let counted = measure(|| assert_eq!(TriangleMesh::faults(&vertices, &[[0, 1, 2]]), [fault]));
    assert!(counted.bytes_total < 1000, "{} bytes", counted.bytes_total);
}

/// A number with any exponent, or one of those that break things.
fn nasty(sequence: &mut Sequence) -> f64 {
    let p = sequence.next_point();
    match (p.x * 8.0) as i32 {
        -7 => [0.0, -0.0, 1.0, f64::MIN_POSITIVE, f64::MAX, -f64::MAX, 5e-324][((p.y + 1.0) * 3.49) as usize],
        -6 => p.y * 10.0_f64.powf(p.z * 300.0),
        -5 => [f64::NAN, f64::INFINITY, f64::NEG_INFINITY][((p.y + 1.0) * 1.49) as usize],
        -4..=-2 => (p.y * 2.0).round(),
        _ => p.y,
    }
}

fn nasty_point(sequence: &mut Sequence, scale: f64) -> Point3<f64> {
    Point3::new(nasty(sequence), nasty(sequence), nasty(sequence)) * scale
}

fn nasty_pose(sequence: &mut Sequence) -> Pose<f64> {
    let turn = Rotation3::new(sequence.next_point().coords * 3.0);
    Pose::from_parts(Translation3::from(nasty_point(sequence, 1.0).coords), turn)
}

fn is_finite(p: &Point3<f64>) -> bool {
    p.iter().all(|x| x.is_finite())
}

/// What is returned for a finite point is finite and consistent, unless the distance itself overflows.
fn check_nearest(shape: &dyn Solid<f64>, p: &Point3<f64>) {
    let near @ SurfacePoint { point, normal, signed_distance } = shape.nearest(p);
    let _ = shape.contains(p);
    if let Some(plane) = shape.supporting_plane(p).filter(|_| is_finite(p)) {
        assert!((plane.normal.norm() - 1.0).abs() < 1e-12, "{shape:?} at {p:?}: {plane:?}");
    }
    if is_finite(p) && p.coords.amax() < 1e300 {
        assert!(is_finite(&point) && signed_distance.is_finite(), "{shape:?} at {p:?}: {near:?}");
        assert!((normal.norm() - 1.0).abs() < 1e-12, "{shape:?} at {p:?}: {near:?}");
        // The normal leads from the surface point to the point, as far as rounding at either lets it be told.
        let scale = 1e-10 * (p.coords.amax() + point.coords.amax());
        let off = ((p - point) / scale - normal * (signed_distance / scale)).amax();
        assert!(off < 1.0, "{shape:?} at {p:?}: {near:?}");
        if let Some((center, half_extents)) = shape.bounds() {
            let on = shape.signed_distance(&point).abs();
            let rounding = 1e-12 * (center.coords.amax() + half_extents.amax());
            assert!(on <= rounding, "{shape:?} at {p:?}: {near:?} is {on} off");
        }
    }
}

#[test]
fn no_input_makes_contact_panic_and_finite_points_have_finite_answers() {
    let mut sequence = Sequence::new();
    let mut accepted = 0;
    let mut closed = 0;
    for round in 0..20_000_usize {
        let scale = [1.0, 1.0, 1e-300, 1e300, 1e-4, 1e4, 1e-70, 1e70][round % 8];
        let vertices: Vec<_> = if round % 3 == 0 {
            // A tetrahedron, bent by one vertex or none.
            let mut vertices = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
                .map(|p| Point3::from(p) * scale);
            if round % 2 == 0 {
                vertices[round % 4] = nasty_point(&mut sequence, scale);
            }
            vertices.to_vec()
        } else {
            (0..round % 7).map(|_| nasty_point(&mut sequence, scale)).collect()
        };
        let faces: Vec<[u32; 3]> = if round % 3 == 0 {
            vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
        } else {
            let corner = |x: f64| if x > 0.99 { u32::MAX } else { ((x + 1.0) * 3.2) as u32 };
            (0..round % 5).map(|_| sequence.next_point().coords.map(corner).into()).collect()
        };
        let faults = TriangleMesh::faults(&vertices, &faces);
        assert_eq!(faults.is_empty(), TriangleMesh::closed(&vertices, &faces).is_ok());
        let Ok(mesh) = TriangleMesh::open(&vertices, &faces) else { continue };
        accepted += 1;
        assert!(mesh.areas().all(|area| area.is_finite() && area > 0.0));
        assert!(mesh.normals().all(|normal| (normal.norm() - 1.0).abs() < 1e-12));
        let points: Vec<_> = (0..4).map(|_| nasty_point(&mut sequence, scale)).collect();
        for p in &points {
            check_nearest(&mesh, p);
        }
        check_nearest(&mesh, &nasty_point(&mut sequence, 1.0));
        let poses = [nasty_pose(&mut sequence), nasty_pose(&mut sequence)];
        let mut shapes =
            vec![SolidShape::from(HalfSpace::BelowZ), SolidShape::from(Sphere::new(0.8).unwrap())];
        shapes.push(Ellipsoid::new(Vector3::new(1e-3, 1.0, 1e3)).unwrap().into());
        if mesh.is_closed() {
            closed += 1;
            assert!(mesh.volume().unwrap().is_finite());
            shapes.push(mesh.clone().into());
        }
        for shape in &shapes {
            mesh.for_each_inside(&poses[0], shape, &poses[1], |displaced| {
                assert!(displaced.index < faces.len());
            });
            mesh.for_each_inside(&poses[0], shape, &poses[0], |displaced| {
                assert!(displaced.index < faces.len());
            });
        }
    }
    assert!(accepted > 1000 && closed > 500, "{accepted} accepted, {closed} closed");
}

#[test]
fn analytic_shapes_answer_any_finite_point() {
    let mut sequence = Sequence::new();
    let mut shapes: Vec<Box<dyn Solid<f64>>> =
        vec![Box::new(HalfSpace::BelowZ), Box::new(HalfSpace::BelowY), Box::new(HalfSpace::BeyondX)];
    for radius in [1e-70, 1e-4, 1.0, 1e4, 1e70] {
        shapes.push(Box::new(Sphere::new(radius).unwrap()));
        for radii in [
            [1.0, 1.0, 1.0],
            [1.0, 1.0 + f64::EPSILON, 1.0],
            [1.0, 2.0, 1e3],
            [1e-3, 1.0, 1.0],
            [3.0, 2.0, 1.0],
        ] {
            shapes.push(Box::new(Ellipsoid::new(Vector3::from(radii) * radius).unwrap()));
        }
    }
    for _ in 0..5000 {
        for shape in &shapes {
            let size = match shape.bounds() {
                Some((_, half_extents)) => half_extents.amax(),
                None => 1.0,
            };
            check_nearest(shape.as_ref(), &nasty_point(&mut sequence, 1.0));
            check_nearest(shape.as_ref(), &nasty_point(&mut sequence, size));
        }
    }
}

#[test]
fn pairs_are_found_among_boxes_of_any_numbers() {
    for round in 0..400 {
        let mut sequence = Sequence::new();
        for _ in 0..round {
            sequence.next_point();
        }
        let mut search = PairSearch::default();
        for _ in 0..30 {
            let (min, max) = (nasty_point(&mut sequence, 1.0), nasty_point(&mut sequence, 1.0));
            search.boxes.push(BoundingBox { min, max });
        }
        let mut expected = Vec::new();
        for i in 0..30 {
            for j in i + 1..30 {
                if search.boxes[i].overlaps(&search.boxes[j]) {
                    expected.push([i, j].map(|k| u32::try_from(k).unwrap()));
                }
            }
        }
        let found = search.find(|_, _| true).to_vec();
        assert_eq!(found, expected);
    }
    // A pillar without ends is everywhere, however it is turned.
    let pillar = Some((Point3::origin(), Vector3::new(1.0, 1.0, f64::INFINITY)));
    let around = BoundingBox::around(pillar, &Pose::identity());
    assert!(around.overlaps(&BoundingBox::around::<f64>(None, &Pose::identity())));
    let small = Some((Point3::origin(), Vector3::repeat(0.1)));
    assert!(around.overlaps(&BoundingBox::around(small, &Pose::translation(0.0, 0.0, 50.0))));
}

#[test]
fn meshes_of_any_size_anywhere_answer_as_one_metre_at_the_origin_does() {
    let mut sequence = Sequence::new();
    for (name, mesh) in meshes::menagerie() {
        for (size, distance) in
            [(1e-4, 0.0), (1e-4, 1e-2), (1e4, 0.0), (1e4, 1e6), (1e-60, 0.0), (1e60, 0.0), (1.0, 1e4)]
        {
            let turn = Rotation3::new(sequence.next_point().coords * 3.0);
            let place = sequence.next_point().coords * distance;
            let moved = |p: &Point3<f64>| turn * (p * size) + place;
            let vertices: Vec<_> = mesh.vertices().map(|p| moved(&p)).collect();
            let copy = TriangleMesh::closed(&vertices, mesh.faces()).unwrap();
            let volume = mesh.volume().unwrap() * size.powi(3);
            // What rounding of the coordinates leaves of their digits, in units of the mesh.
            let rounding = 1e-14 * (1.0 + distance / size);
            assert_relative_eq!(copy.volume().unwrap(), volume, max_relative = 100.0 * rounding);
            for _ in 0..200 {
                let p = sequence.next_point() * 1.3;
                let (near, expected) = (copy.nearest(&moved(&p)), mesh.signed_distance(&p));
                assert!(
                    (near.signed_distance / size - expected).abs() < rounding,
                    "{name} {size} {distance}"
                );
                assert!((near.normal.norm() - 1.0).abs() < 1e-14);
                let is_inside = meshes::winding_number(&mesh, p) > 0.5;
                if expected.abs() > rounding {
                    assert_eq!(near.signed_distance < 0.0, is_inside, "{name} {size} {distance}");
                }
            }
        }
    }
    // Where the scalar's range ends, so does what is accepted.
    let faces = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
    let corners = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    for size in [1e-300, 1e-82, 1e78, 1e200, 1e307] {
        let vertices = corners.map(|p| Point3::from(p) * size);
        let fault = MeshFault::FaceOutOfScale { face: 0 };
        assert_eq!(TriangleMesh::open(&vertices, &faces).unwrap_err(), ShapeError::Mesh { fault }, "{size}");
    }
    for size in [1e-80, 1e-76, 1e76] {
        let mesh = TriangleMesh::closed(&corners.map(|p| Point3::from(p) * size), &faces).unwrap();
        assert_relative_eq!(
            mesh.signed_distance(&Point3::new(0.2, 0.2, -0.5).map(|x: f64| x * size)),
            0.5 * size
        );
        assert!(mesh.contains(&(Point3::new(0.2, 0.2, 0.2) * size)));
        assert!(mesh.normals().all(|normal| (normal.norm() - 1.0).abs() < 1e-15));
    }
}

#[test]
fn from_afar_a_shape_is_a_point_in_its_direction() {
    let shapes: Vec<(SolidShape<f64>, f64)> = vec![
        (Sphere::new(2.0).unwrap().into(), 2.0),
        (Ellipsoid::new(Vector3::new(1.0, 2.0, 3.0)).unwrap().into(), 3.0),
        (TriangleMesh::torus(1.0, 0.4, 12, 8).unwrap().into(), 1.4),
    ];
    let direction = Vector3::new(0.36, -0.48, 0.8);
    for (shape, reach) in shapes {
        for distance in [1e7, 1e9, 1e12, 1e15, 1e17, 1e20, 1e100, 1e160, 1e200, 1e300] {
            let near = shape.nearest(&Point3::from(direction * distance));
            assert_relative_eq!(near.normal, direction, epsilon = 1e-14 + reach / distance);
            assert_relative_eq!(near.signed_distance, distance, max_relative = 1e-14 + reach / distance);
            assert!(near.point.coords.norm() < reach * 1.0001 && near.point.coords.dot(&direction) > 0.3);
        }
    }
    // Thinner than the rounding of such distances.
    let plate = TriangleMesh::brick(Vector3::new(1.0, 1.0, 1e-9), [3, 3, 1]).unwrap();
    let mut sequence = Sequence::new();
    for distance in [1e3, 1e5, 1e6, 1e7, 1e8, 1e10] {
        for _ in 0..100 {
            let p = Point3::from(sequence.next_point().coords.normalize() * distance);
            let near = plate.nearest(&p);
            let expected = meshes::distance(&plate, p);
            // Some roundings at that distance, and half the square of the size over it.
            let rounding = 1e-14 * distance + if distance > 1e7 { 1.0 / distance } else { 0.0 };
            assert!((near.signed_distance - expected).abs() < rounding, "{near:?} at {p:?}");
        }
    }
    // At the smallest distances from the centre of a ball, too, its direction is known.
    let ball = Sphere::new(1.0).unwrap();
    for distance in [1e-300, 1e-170, 1e-20] {
        assert_relative_eq!(
            ball.nearest(&Point3::from(direction * distance)).normal,
            direction,
            epsilon = 1e-14
        );
    }
}

#[cfg(feature = "serde")]
#[test]
fn shapes_that_are_read_pass_the_same_checks_as_those_that_are_built() {
    use force_elements::shapes::{Cylinder, FiniteCylinder, Torus};

    let ball = Sphere::new(0.5).unwrap();
    let text = serde_json::to_string(&ball).unwrap();
    assert_eq!(serde_json::from_str::<Sphere<f64>>(&text).unwrap(), ball);
    for radius in ["-1.0", "0.0", "1e-200", "1e200"] {
        let error = serde_json::from_str::<Sphere<f64>>(&text.replace("0.5", radius)).unwrap_err();
        assert!(error.to_string().contains("radius"), "{error}");
    }
    let ellipsoid = Ellipsoid::new(Vector3::new(1.5, 2.5, 3.5)).unwrap();
    let text = serde_json::to_string(&ellipsoid).unwrap();
    assert_eq!(serde_json::from_str::<Ellipsoid<f64>>(&text).unwrap(), ellipsoid);
    assert!(serde_json::from_str::<Ellipsoid<f64>>(&text.replace("2.5", "-2.5")).is_err());
    let cylinder = Cylinder::new(0.5).unwrap();
    let text = serde_json::to_string(&cylinder).unwrap();
    assert_eq!(serde_json::from_str::<Cylinder<f64>>(&text).unwrap(), cylinder);
    assert!(serde_json::from_str::<Cylinder<f64>>(&text.replace("0.5", "-0.5")).is_err());
    let column = FiniteCylinder::new(1.5, 2.5, 0.5).unwrap();
    let text = serde_json::to_string(&column).unwrap();
    assert_eq!(serde_json::from_str::<FiniteCylinder<f64>>(&text).unwrap(), column);
    for (from, to) in [("0.5", "0.0"), ("0.5", "0.8"), ("1.5", "-1.5"), ("2.5", "0.4")] {
        assert!(serde_json::from_str::<FiniteCylinder<f64>>(&text.replace(from, to)).is_err(), "{to}");
    }
    let torus = Torus::new(1.5, 0.5).unwrap();
    let text = serde_json::to_string(&torus).unwrap();
    assert_eq!(serde_json::from_str::<Torus<f64>>(&text).unwrap(), torus);
    for (from, to) in [("0.5", "0.0"), ("0.5", "2.5"), ("1.5", "-1.5")] {
        assert!(serde_json::from_str::<Torus<f64>>(&text.replace(from, to)).is_err(), "{to}");
    }
    for half_space in [HalfSpace::BelowZ, HalfSpace::BelowY, HalfSpace::BeyondX] {
        let text = serde_json::to_string(&half_space).unwrap();
        assert_eq!(serde_json::from_str::<HalfSpace>(&text).unwrap(), half_space);
    }
    assert!(serde_json::from_str::<HalfSpace>("\"Sideways\"").is_err());
}

#[test]
fn what_is_not_a_number_is_not_inside() {
    let solids: [SolidShape<f64>; 3] = [
        Sphere::new(1.0).unwrap().into(),
        Ellipsoid::new(Vector3::new(1.0, 2.0, 3.0)).unwrap().into(),
        HalfSpace::BelowZ.into(),
    ];
    for solid in solids {
        for i in 0..7_usize {
            let p = Point3::from([0, 1, 2].map(|axis| if i >> axis & 1 == 0 { f64::NAN } else { 0.0 }));
            assert!(!solid.contains(&p), "{solid:?} {p}");
        }
    }
}

/// A vertex far away at which there is no face.
#[test]
fn vertices_without_faces_change_nothing() {
    let ball = TriangleMesh::<f64>::sphere(0.1, 8).unwrap();
    let stray = Point3::new(10.0, -7.0, -20.0);
    let vertices: Vec<_> = ball.vertices().chain([stray]).collect();
    let with = TriangleMesh::closed(&vertices, ball.faces()).unwrap();
    assert!(DistanceField::from_mesh(&with, 0.02).is_ok());
    let measured = [ball, with].map(|mesh| {
        let mut system = ForceSystem::new();
        let body = system.add_body();
        let mut foundation = ElasticFoundation::new(elastic_foundation::Parameters::default()).unwrap();
        foundation.add_springs(Frame::of(body), mesh, elastic_foundation::Material::new(1e6)).unwrap();
        foundation.add_rigid(Frame::ground(Pose::identity()), HalfSpace::BelowZ).unwrap();
        system.add(foundation).unwrap();
        let mut state = system.default_state();
        state.set_pose(body, Pose::translation(0.0, 0.0, 0.09)).unwrap();
        system.realize_dynamics(&mut state).unwrap();
        let mut gaps = Vec::new();
        system.write_gaps(&state, &mut gaps).unwrap();
        let stable = system.stable_step(&state, &Alike, StepMethod::SymplecticEuler, 1.0).unwrap();
        (stable.length, format!("{gaps:?}"))
    });
    assert_eq!(measured[0], measured[1]);
}

/// A body of 1 kg.
struct Alike;

impl Inertias for Alike {
    fn mass(&self, _: BodyIndex) -> f64 {
        1.0
    }

    fn inertia(&self, _: BodyIndex) -> Matrix3<f64> {
        Matrix3::identity() * 1e-2
    }

    fn coordinate_mass(&self, _: CoordinateIndex) -> f64 {
        1.0
    }
}

#[test]
fn springs_without_stiffness_limit_no_step() {
    let mut system = ForceSystem::<f64>::new();
    let body = system.add_body();
    let parameters = elastic_foundation::Parameters::default();
    let mut foundation = ElasticFoundation::new(parameters).unwrap();
    let ball = TriangleMesh::sphere(0.1, 8).unwrap();
    let mesh = foundation.add_springs(Frame::of(body), ball, elastic_foundation::Material::new(1e6)).unwrap();
    foundation.add_rigid(Frame::ground(Pose::identity()), HalfSpace::BelowZ).unwrap();
    let foundation = system.add(foundation.with_anchors()).unwrap();
    let mut state = system.default_state();
    system
        .update_parameters(&mut state, foundation, |p| {
            p.materials[mesh].as_mut().unwrap().stiffness = 0.0;
        })
        .unwrap();
    state.set_pose(body, Pose::translation(0.0, 0.0, 0.2)).unwrap();
    system.realize_dynamics(&mut state).unwrap();
    assert_eq!(system.stable_step(&state, &Alike, StepMethod::SymplecticEuler, 1.0).unwrap().unknown, None);
}
