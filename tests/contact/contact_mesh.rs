//! Meshes: what is refused, and every fast query against a slow one.
#![allow(
    clippy::unwrap_used,
    non_snake_case,
    reason = "a test stops at the first surprise; monogram notation"
)]

use std::collections::BTreeSet;
use std::f64::consts::PI;

use approx::assert_relative_eq;
use force_elements::contact::{BoundingBox, PairSearch};
use force_elements::nalgebra::{Point3, Rotation3, Vector3};
use force_elements::shapes::{
    Ellipsoid, HalfSpace, MeshFault, ShapeError, Solid, SolidShape, Sphere, TriangleMesh,
};
use force_elements::testing::Numbers;
use force_elements::{InvalidValue, Pose, Real, Requirement};
use force_elements_scenes::is_at_length;
use force_elements_scenes::meshes::{self, Sequence};
use num_dual::Dual64;

fn tetrahedron() -> (Vec<Point3<f64>>, Vec<[u32; 3]>) {
    let vertices = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    (vertices.map(Point3::from).to_vec(), vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
}

/// Edges that differ by rounding are halved in a common order, unless one is within the limit.
#[test]
fn edges_of_about_the_limit_are_halved_on_both_sides() {
    let deal = &mut Numbers::new(5);
    for case in 0..2000 {
        let (vertices, faces) = tetrahedron();
        let scattered: Vec<_> =
            vertices.iter().map(|p| p + Vector3::from_fn(|_, _| deal.between(-1e-3, 1e-3))).collect();
        let mesh = TriangleMesh::closed(&scattered, &faces).unwrap();
        let limit = deal.between::<f64>(0.999, 1.001) * [1.0, 2.0_f64.sqrt(), 0.5][case % 3];
        let refined = mesh.refined(limit).unwrap();
        assert!(refined.is_closed(), "{limit}: {scattered:?}");
        let longest = longest_edge(&refined);
        assert!(longest <= limit * (1.0 + 1e-15), "{longest} {limit}");
    }
}

fn longest_edge(mesh: &TriangleMesh<f64>) -> f64 {
    let of_face = |[a, b, c]: [Point3<f64>; 3]| [(b - a).norm(), (c - b).norm(), (a - c).norm()];
    mesh.triangles().flat_map(of_face).fold(0.0, f64::max)
}

#[test]
fn a_refined_mesh_is_the_same_closed_surface_with_short_edges() {
    for (name, mesh) in meshes::menagerie() {
        for share in [1.1, 0.7, 0.2] {
            let limit = share * longest_edge(&mesh);
            let refined = mesh.refined(limit).unwrap();
            // Squares are compared.
            assert!(longest_edge(&refined) <= limit * (1.0 + 1e-15), "{name}");
            assert_eq!(refined.is_closed(), mesh.is_closed(), "{name}");
            assert_eq!(refined.is_convex(), mesh.is_convex(), "{name}");
            // Rounding in additions of thousands of faces.
            assert_relative_eq!(
                refined.areas().sum::<f64>(),
                mesh.areas().sum::<f64>(),
                max_relative = 1e-12
            );
            for (a, b) in refined.volume().into_iter().zip(mesh.volume()) {
                assert_relative_eq!(a, b, max_relative = 1e-12);
            }
            assert_eq!(share > 1.0, refined.face_count() == mesh.face_count(), "{name}");
        }
        for length in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(mesh.refined(length), Err(ShapeError::InvalidValue { .. })), "{name}: {length}");
        }
    }
    let (vertices, faces) = tetrahedron();
    let tetrahedron = TriangleMesh::closed(&vertices, &faces).unwrap();
    let too_many = tetrahedron.refined(1e-6).unwrap_err();
    assert!(matches!(too_many, ShapeError::Mesh { fault: MeshFault::TooManyFaces { .. } }), "{too_many}");
}

#[test]
fn generated_bodies_have_the_volume_area_and_faces_they_should() {
    let brick = TriangleMesh::<f64>::brick(Vector3::new(0.5, 0.4, 0.3), [5, 4, 3]).unwrap();
    // Flat bodies are exact up to rounding in a hundred additions.
    assert_relative_eq!(brick.volume().unwrap(), 0.48, epsilon = 1e-14);
    assert_relative_eq!(brick.areas().sum::<f64>(), 3.76, epsilon = 1e-13);
    assert_eq!(brick.face_count(), 4 * (5 * 4 + 4 * 3 + 3 * 5));
    assert!(brick.is_convex());

    for (frequency, count) in [(1, 8), (8, 512), (32, 8192)] {
        let sphere = TriangleMesh::<f64>::sphere(0.8, frequency).unwrap();
        assert_eq!(sphere.face_count(), count);
        assert!(sphere.is_convex());
        let deficit = 1.0 - sphere.volume().unwrap() / (4.0 / 3.0 * PI * 0.8_f64.powi(3));
        // An inscribed polyhedron loses less than (edge/radius)² of the volume.
        assert!(deficit > 0.0 && deficit < (0.5 * PI).powi(2) / f64::from(frequency).powi(2), "{deficit}");
    }

    let n = 40.0_f64;
    let polygon = 0.5 * n * (2.0 * PI / n).sin();
    let cylinder = TriangleMesh::<f64>::cylinder(0.5, 1.5, 40, 6, 4).unwrap();
    assert_relative_eq!(cylinder.volume().unwrap(), polygon * 0.25 * 3.0, epsilon = 1e-13);
    assert!(cylinder.is_convex());
    assert_eq!(cylinder.face_count(), 2 * 40 * 6 + 2 * (40 + 2 * 3 * 40));

    let torus = TriangleMesh::<f64>::torus(1.0, 0.3, 200, 100).unwrap();
    assert_relative_eq!(torus.volume().unwrap(), 2.0 * PI * PI * 0.09, max_relative = 2e-3);
    assert!(!torus.is_convex());
    assert_eq!(torus.face_count(), 2 * 200 * 100);
}

#[test]
fn generators_refuse_sizes_and_counts_without_meaning() {
    assert!(matches!(
        TriangleMesh::sphere(-1.0, 4),
        Err(ShapeError::InvalidValue(InvalidValue { name: "mesh.radius", .. }))
    ));
    assert!(matches!(TriangleMesh::sphere(f64::NAN, 4), Err(ShapeError::InvalidValue(_))));
    assert!(matches!(
        TriangleMesh::sphere(1.0, 0),
        Err(ShapeError::InvalidValue(InvalidValue { name: "frequency", .. }))
    ));
    assert!(matches!(TriangleMesh::torus(0.3, 0.3, 9, 9), Err(ShapeError::InvalidValue(_))));
    assert!(matches!(
        TriangleMesh::cylinder(1.0, 1.0, 2, 1, 1),
        Err(ShapeError::InvalidValue(InvalidValue { requirement: Requirement::AtLeast("3"), .. }))
    ));
    assert!(TriangleMesh::brick(Vector3::new(1.0, 0.0, 1.0), [1; 3]).is_err());
    assert!(Sphere::new(0.0).is_err() && Ellipsoid::new(Vector3::new(1.0, f64::INFINITY, 1.0)).is_err());
}

#[test]
fn each_fault_is_found_and_names_its_face() {
    let (vertices, faces) = tetrahedron();
    let faults = |vertices: &[_], faces: &[_]| TriangleMesh::faults(vertices, faces);
    assert!(faults(&vertices, &faces).is_empty());
    assert_eq!(faults(&vertices, &[]), [MeshFault::Empty]);

    let mut bad = vertices.clone();
    bad[2].y = f64::NAN;
    bad[3].x = f64::INFINITY;
    let expected = [MeshFault::NonFiniteVertex { vertex: 2 }, MeshFault::NonFiniteVertex { vertex: 3 }];
    assert_eq!(faults(&bad, &faces), expected);

    let mut bad = faces.clone();
    bad[1][2] = 9;
    assert_eq!(faults(&vertices, &bad), [MeshFault::IndexOutOfRange { face: 1, index: 9, vertex_count: 4 }]);

    let mut bad = faces.clone();
    bad[3] = [1, 2, 2];
    assert_eq!(faults(&vertices, &bad), [MeshFault::DegenerateFace { face: 3 }]);
    let mut in_line = vertices.clone();
    in_line.push(Point3::new(2.0, 0.0, 0.0));
    let mut bad = faces.clone();
    bad.push([0, 1, 4]);
    assert_eq!(faults(&in_line, &bad), [MeshFault::DegenerateFace { face: 4 }]);

    assert_eq!(faults(&vertices, &faces[..3]).len(), 3);
    assert_eq!(faults(&vertices, &faces[..3])[2], MeshFault::OpenEdge { face: 2, vertices: [3, 2] });

    let mut bad = faces.clone();
    bad[2].swap(0, 1);
    let found = faults(&vertices, &bad);
    assert!(found.contains(&MeshFault::FlippedFace { face: 2, neighbour: 0 }), "{found:?}");

    let mut fin = vertices.clone();
    fin.push(Point3::new(-1.0, -1.0, 0.5));
    let mut bad = faces.clone();
    bad.push([0, 3, 4]);
    let found = faults(&fin, &bad);
    assert!(found.contains(&MeshFault::NonManifoldEdge { face: 4, vertices: [0, 3] }), "{found:?}");

    let inverted: Vec<_> = faces.iter().map(|&[a, b, c]| [a, c, b]).collect();
    assert_eq!(faults(&vertices, &inverted), [MeshFault::InsideOut { face: 0 }]);
    let fault = MeshFault::InsideOut { face: 0 };
    assert_eq!(TriangleMesh::closed(&vertices, &inverted).unwrap_err(), ShapeError::Mesh { fault });
}

/// Next to the area, whatever the unit: a plate a thousand million times as wide as it is thick has a volume.
#[test]
fn what_encloses_no_volume_is_refused_and_a_thin_plate_is_not() {
    let folded = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.3, 0.8, 0.0]].map(Point3::from);
    let no_volume = [MeshFault::NoVolume { face: 0 }];
    assert_eq!(TriangleMesh::faults(&folded, &[[0, 1, 2], [0, 2, 1]]), no_volume);
    assert!(!TriangleMesh::open(&folded, &[[0, 1, 2], [0, 2, 1]]).unwrap().is_closed());

    let turn = Rotation3::from_euler_angles(0.3, -0.8, 1.1);
    for unit in [1e-6, 1.0, 1e6] {
        let put = |p: Point3<f64>| turn * p * unit + Vector3::new(0.7, -0.2, 0.4) * unit;
        // A square, divided along one diagonal in front and along the other behind.
        let square =
            [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]].map(|p| put(p.into()));
        let faces = [[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]];
        assert_eq!(TriangleMesh::faults(&square, &faces), no_volume, "{unit}");

        let plate = TriangleMesh::<f64>::brick(Vector3::new(0.5, 0.5, 0.5e-9), [8, 8, 1]).unwrap();
        let vertices: Vec<_> = plate.vertices().map(put).collect();
        let plate = TriangleMesh::closed(&vertices, plate.faces()).unwrap();
        // Coordinates of order one are rounded to 1e-7 of the thickness.
        assert_relative_eq!(plate.volume().unwrap(), 1e-9 * unit * unit * unit, max_relative = 1e-6);
    }
}

#[test]
fn two_bodies_that_touch_in_a_vertex_are_refused_and_a_cavity_is_not() {
    let (mut vertices, mut faces) = tetrahedron();
    vertices.extend([[-1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0]].map(Point3::from));
    faces.extend([[0, 4, 5], [0, 6, 4], [0, 5, 6], [4, 6, 5]]);
    let faults = TriangleMesh::faults(&vertices, &faces);
    assert_eq!(faults, [MeshFault::NonManifoldVertex { face: 4, vertex: 0 }]);

    let hollow = meshes::hollow_brick();
    assert_relative_eq!(hollow.volume().unwrap(), 8.0 * (0.48 - 0.09), epsilon = 1e-13);
    assert!(!hollow.contains(&Point3::origin()) && hollow.contains(&Point3::new(0.8, 0.0, 0.0)));
    // The same cavity wound like the outside is a body within a body: one of them is inside out.
    let inner =
        hollow.face_count() - TriangleMesh::brick(Vector3::repeat(1.0), [3, 2, 2]).unwrap().face_count();
    let mut faces = hollow.faces().to_vec();
    faces[inner..].iter_mut().for_each(|f| f.swap(1, 2));
    let vertices: Vec<_> = hollow.vertices().collect();
    assert_eq!(TriangleMesh::faults(&vertices, &faces), [MeshFault::InsideOut { face: inner }]);
}

#[test]
fn vertices_repeated_for_every_face_are_one() {
    let brick = TriangleMesh::brick(Vector3::new(1.0, 2.0, 3.0), [3, 2, 4]).unwrap();
    let soup: Vec<_> = brick.triangles().flatten().collect();
    let faces: Vec<_> = (0..).map(|f| [3 * f, 3 * f + 1, 3 * f + 2]).take(brick.face_count()).collect();
    let welded = TriangleMesh::closed(&soup, &faces).unwrap();
    assert_eq!(welded.volume(), brick.volume());
    assert!(welded.centroids().eq(brick.centroids()));
}

#[test]
fn an_open_mesh_is_accepted_to_carry_springs_only() {
    let (vertices, faces) = tetrahedron();
    let open = TriangleMesh::open(&vertices, &faces[..2]).unwrap();
    assert!(!open.is_closed() && open.volume().is_none());
    assert!(matches!(open.opening(), Some(MeshFault::OpenEdge { .. })));
    assert!(TriangleMesh::closed(&vertices, &faces[..2]).is_err());
    assert!(TriangleMesh::open(&vertices, &faces).unwrap().is_closed());
}

#[test]
fn nearest_points_and_signs_match_all_triangles_and_winding_numbers() {
    for (name, mesh) in meshes::menagerie() {
        let Some((center, half_extents)) = mesh.bounds() else { unreachable!() };
        let vertices: Vec<_> = mesh.vertices().collect();
        let mut sequence = Sequence::new();
        let mut inside = 0;
        for i in 0..2000 {
            let mut p = center + sequence.next_point().coords.component_mul(&half_extents) * 1.3;
            // Every third point close to a vertex, where signs are hardest.
            if i % 3 == 0 {
                let vertex = vertices[i * 7919 % vertices.len()];
                p = vertex + (p - vertex) * 1e-3;
            }
            let near = mesh.nearest(&p);
            let expected = meshes::distance(&mesh, p);
            // Both methods round a few times at the size of the mesh, about one.
            assert_relative_eq!(near.signed_distance.abs(), expected, epsilon = 1e-14);
            assert_relative_eq!((near.point - p).norm(), expected, epsilon = 1e-14);
            assert_relative_eq!(near.normal.norm(), 1.0, epsilon = 1e-14);
            assert_relative_eq!(near.normal.dot(&(p - near.point)), near.signed_distance, epsilon = 1e-14);
            let is_inside = meshes::winding_number(&mesh, p) > 0.5;
            assert_eq!(near.signed_distance < 0.0, is_inside, "{name} at {p}");
            inside += usize::from(is_inside);
        }
        assert!(inside > 50, "{name}: {inside} points inside");
    }
}

#[test]
fn distances_in_single_precision_and_with_derivatives_are_the_same() {
    for (name, mesh) in meshes::menagerie() {
        let (single, dual) = (mesh.cast::<f32>().unwrap(), mesh.cast::<Dual64>().unwrap());
        let mut sequence = Sequence::new();
        for _ in 0..300 {
            let p = sequence.next_point() * 1.2;
            let near = mesh.nearest(&p);
            let in_single = single.signed_distance(&p.map(Real::cast));
            // Coordinates of order one are rounded to 6e-8.
            assert!((f64::from(in_single) - near.signed_distance).abs() < 1e-6, "{name} at {p}");
            for axis in 0..3 {
                let mut seeded = p.map(Dual64::from_re);
                seeded[axis] = seeded[axis].derivative();
                let slope = dual.signed_distance(&seeded).eps;
                // Near an edge the direction is a difference of nearby points, divided by the distance.
                let tolerance = 1e-12 / near.signed_distance.abs();
                assert!((slope - near.normal[axis]).abs() < tolerance.max(1e-12), "{name} at {p}");
            }
        }
    }
}

#[test]
fn vertices_are_on_the_surface() {
    for (_, mesh) in meshes::menagerie() {
        for vertex in mesh.vertices() {
            let near = mesh.nearest(&vertex);
            assert!(near.signed_distance.abs() < 1e-15, "{near:?}");
            assert_relative_eq!(near.normal.norm(), 1.0, epsilon = 1e-14);
        }
    }
}

/// How many of so many poses are drawn: a third, or all at length.
fn poses(all: usize) -> usize {
    if is_at_length() { all } else { all / 3 }
}

/// Every face of `mesh` whose centroid the other surface contains, one by one.
fn inside_one_by_one(
    mesh: &TriangleMesh<f64>,
    X_GS: &Pose<f64>,
    contains: impl Fn(&Point3<f64>) -> bool,
    X_GO: &Pose<f64>,
) -> BTreeSet<usize> {
    let is_inside =
        |(_, centroid): &(usize, Point3<f64>)| contains(&X_GO.inverse_transform_point(&(X_GS * centroid)));
    mesh.centroids().enumerate().filter(is_inside).map(|(face, _)| face).collect()
}

#[test]
fn no_centroid_inside_another_mesh_is_missed() {
    let mut sequence = Sequence::new();
    let mut found_in_all = 0;
    let meshes = meshes::menagerie();
    for (_, mesh) in &meshes {
        let centroids: Vec<_> = mesh.centroids().collect();
        for (name, other) in meshes.iter().flat_map(|named| core::iter::repeat_n(named, poses(3))) {
            let (X_GS, X_GO) = (sequence.next_pose(0.8), sequence.next_pose(0.3));
            let mut found = BTreeSet::new();
            let shape = SolidShape::from(other.clone());
            mesh.for_each_inside(&X_GS, &shape, &X_GO, |displaced| {
                let p_O = X_GO.inverse_transform_point(&(X_GS * centroids[displaced.index]));
                assert_relative_eq!(displaced.depth, meshes::distance(other, p_O), epsilon = 1e-13);
                assert!(found.insert(displaced.index), "a face was found twice");
            });
            let winds = |p: &Point3<f64>| meshes::winding_number(other, *p) > 0.5;
            assert_eq!(found, inside_one_by_one(mesh, &X_GS, winds, &X_GO), "in {name}");
            found_in_all += found.len();
        }
    }
    assert!(found_in_all > 700 * poses(3), "{found_in_all}");
}

#[test]
fn a_mesh_wholly_inside_another_is_found_though_no_faces_meet() {
    let small = TriangleMesh::sphere(0.1, 12).unwrap();
    let mut sequence = Sequence::new();
    for (other, place) in [
        (TriangleMesh::sphere(1.0, 12).unwrap(), Vector3::new(0.3, 0.2, 0.1)),
        (TriangleMesh::torus(1.0, 0.4, 40, 20).unwrap(), Vector3::new(0.0, 1.0, 0.1)),
        (meshes::hollow_brick(), Vector3::new(0.8, 0.0, 0.0)),
    ] {
        let X_GO = sequence.next_pose(1.0);
        let X_GS = X_GO * Pose::translation(place.x, place.y, place.z);
        let mut count = 0;
        small.for_each_inside(&X_GS, &SolidShape::from(other), &X_GO, |_| count += 1);
        assert_eq!(count, small.face_count());
    }
    // In the cavity, and beyond everything, nothing is inside.
    let hollow = SolidShape::from(meshes::hollow_brick());
    for x in [0.0, 1.5] {
        let X_GS = Pose::translation(x, 0.0, 0.0);
        small.for_each_inside(&X_GS, &hollow, &Pose::identity(), |face| panic!("{face:?}"));
    }
}

#[derive(Debug)]
struct Custom<S>(S);

impl<S: Solid<f64>> Solid<f64> for Custom<S> {
    fn nearest(&self, p_S: &Point3<f64>) -> force_elements::shapes::SurfacePoint<f64> {
        self.0.nearest(p_S)
    }
    fn bounds(&self) -> Option<(Point3<f64>, Vector3<f64>)> {
        self.0.bounds()
    }
}

#[test]
fn no_centroid_inside_an_analytic_shape_is_missed() {
    let ellipsoid = Ellipsoid::new(Vector3::new(0.9, 0.5, 0.7)).unwrap();
    let shapes = [
        SolidShape::from(HalfSpace::BelowZ),
        SolidShape::from(HalfSpace::BelowY),
        SolidShape::from(HalfSpace::BeyondX),
        SolidShape::from(Sphere::new(0.8).unwrap()),
        SolidShape::from(ellipsoid),
        SolidShape::custom(Custom(ellipsoid)),
    ];
    let mut sequence = Sequence::new();
    for (name, mesh) in meshes::menagerie() {
        let centroids: Vec<_> = mesh.centroids().collect();
        for shape in &shapes {
            let mut found_in_all = 0;
            for _ in 0..poses(20) {
                let (X_GS, X_GO) = (sequence.next_pose(0.8), sequence.next_pose(0.5));
                let mut found = BTreeSet::new();
                mesh.for_each_inside(&X_GS, shape, &X_GO, |displaced| {
                    let p_G = X_GS * centroids[displaced.index];
                    let near = shape.nearest(&X_GO.inverse_transform_point(&p_G));
                    assert_relative_eq!(displaced.depth, -near.signed_distance, epsilon = 1e-14);
                    assert_relative_eq!(displaced.point_G, X_GO * near.point, epsilon = 1e-13);
                    assert_relative_eq!(displaced.normal_G, X_GO * near.normal, epsilon = 1e-13);
                    assert!(found.insert(displaced.index));
                });
                let expected = inside_one_by_one(&mesh, &X_GS, |p| shape.contains(p), &X_GO);
                assert_eq!(found, expected, "{name} in {shape:?}");
                found_in_all += found.len();
            }
            assert!(found_in_all > 0, "{name} in {shape:?}");
        }
    }
}

#[test]
fn the_sweep_finds_every_overlapping_pair_once() {
    for count in [0, 1, 5, 8, 9, 60, 200] {
        let mut sequence = Sequence::new();
        let mut search = PairSearch::default();
        for i in 0..count {
            let bounds = if i % 29 == 7 {
                None
            } else {
                let half_extents = sequence.next_point().coords.abs() * 0.4;
                Some((sequence.next_point(), half_extents))
            };
            search.boxes.push(BoundingBox::around(bounds, &sequence.next_pose(2.0)));
        }
        let boxes = search.boxes.clone();
        let matters = |i: usize, j: usize| (i + 1) * (j + 1) % 3 != 1;
        let mut expected = Vec::new();
        for i in 0..count {
            for j in i + 1..count {
                if matters(i, j) && boxes[i].overlaps(&boxes[j]) {
                    expected.push([i, j].map(|k| u32::try_from(k).unwrap()));
                }
            }
        }
        assert_eq!(search.find(matters), expected);
        assert_eq!(search.find(matters), expected, "the same again with buffers in use");
        // Without a search since boxes were removed nothing is promised but that it does not panic.
        let mut shorter = search.clone();
        shorter.boxes.truncate(count / 2);
        shorter.for_each_within(1.0, |i, j| assert!(i < j));
        for distance in [0.0, 0.3, 2.0, f64::INFINITY] {
            let mut visited = BTreeSet::new();
            search.for_each_within(distance, |i, j| assert!(i < j && visited.insert([i, j])));
            for i in 0..count {
                for j in i + 1..count {
                    let pair = [i, j].map(|k| u32::try_from(k).unwrap());
                    assert!(boxes[i].distance(&boxes[j]) > distance || visited.contains(&pair), "{pair:?}");
                }
            }
        }
    }
}
