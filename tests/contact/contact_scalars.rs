//! Meshes in other scalars: shared by casts, exact in their derivatives, also where vertices carry them.
#![allow(
    clippy::unwrap_used,
    non_snake_case,
    reason = "a test stops at the first surprise; monogram notation"
)]

use force_elements::nalgebra::{Point3, Vector3};
use force_elements::shapes::{
    Displaced, Ellipsoid, HalfSpace, MeshFault, Plane, ShapeError, Solid, SolidShape, Sphere, SurfacePoint,
    TriangleMesh,
};
use force_elements::{Pose, Real, cast_pose};
use force_elements_scenes::meshes::{self, Sequence};
use num_dual::{Dual32, Dual64};

/// The mesh with every vertex displaced by `reach` along a field that bends it.
fn warped<T: Real>(mesh: &TriangleMesh<f64>, reach: T) -> TriangleMesh<T> {
    let moved = |v: Point3<f64>| {
        let field = Vector3::new((3.0 * v.y).sin(), (2.0 * v.z).cos(), (v.x + v.z).sin());
        v.map(T::lit) + field.map(T::lit) * reach
    };
    let vertices: Vec<_> = mesh.vertices().map(moved).collect();
    TriangleMesh::closed(&vertices, mesh.faces()).unwrap()
}

fn numbers<T: Real>(near: &SurfacePoint<T>) -> [T; 7] {
    let SurfacePoint { point: p, normal: n, signed_distance } = near;
    [p.x, p.y, p.z, n.x, n.y, n.z, *signed_distance]
}

#[test]
fn derivatives_of_the_vertices_pass_through_every_query() {
    // Central differences are good to H² times third derivatives, which grow with the inverse square of the
    // distance near an edge, and to roundoff over H.
    const H: f64 = 1e-5;
    for (name, mesh) in meshes::menagerie() {
        let dual = warped(&mesh, Dual64::from_re(0.0).derivative());
        let [ahead, behind] = [H, -H].map(|reach| warped(&mesh, reach));
        let agrees = |dual: Dual64, ahead: f64, behind: f64, tolerance: f64| {
            let slope = (ahead - behind) / (2.0 * H);
            assert!((dual.eps - slope).abs() < tolerance, "{name}: {dual} but {slope}");
        };
        agrees(dual.volume().unwrap(), ahead.volume().unwrap(), behind.volume().unwrap(), 1e-8);
        let of_faces = |mesh: &TriangleMesh<f64>| -> Vec<f64> {
            let places = mesh.centroids().zip(mesh.normals()).zip(mesh.areas());
            places.flat_map(|((p, n), a)| [p.x, p.y, p.z, n.x, n.y, n.z, a]).collect()
        };
        let places = dual.centroids().zip(dual.normals()).zip(dual.areas());
        let dual_of_faces = places.flat_map(|((p, n), a)| [p.x, p.y, p.z, n.x, n.y, n.z, a]);
        for ((dual, ahead), behind) in dual_of_faces.zip(of_faces(&ahead)).zip(of_faces(&behind)) {
            agrees(dual, ahead, behind, 1e-6);
        }

        let mut sequence = Sequence::new();
        let (mut smooth, mut moving) = (0, 0);
        for _ in 0..500 {
            let p = sequence.next_point() * 1.2;
            let near = dual.nearest(&p.map(Dual64::from_re));
            let distance = near.signed_distance.re.abs();
            let [ahead, behind] = [&ahead, &behind].map(|mesh| numbers(&mesh.nearest(&p)));
            // The place moves from one face or edge to another within H: there is a kink or a jump.
            let here = numbers(&near).map(|x| 2.0 * x.re);
            let bends = ahead.iter().zip(&behind).zip(here).map(|((a, b), here)| (a + b - here).abs());
            if distance < 0.02 || bends.fold(0.0, f64::max) > 1e-2 * H {
                continue;
            }
            smooth += 1;
            moving += usize::from(near.signed_distance.eps.abs() > 1e-3);
            for ((dual, ahead), behind) in numbers(&near).into_iter().zip(ahead).zip(behind) {
                agrees(dual, ahead, behind, 1e-8 / (distance * distance));
            }
        }
        assert!(smooth > 400 && moving > 350, "{name}: {smooth} {moving}");
    }
}

#[test]
fn at_a_vertex_the_normal_is_the_same_with_and_without_derivatives() {
    for (name, mesh) in meshes::menagerie() {
        let dual = warped(&mesh, Dual64::from_re(0.0).derivative());
        let mut exact = 0;
        for (vertex, place) in mesh.vertices().zip(dual.vertices()) {
            let (near, in_dual) = (mesh.nearest(&vertex), dual.nearest(&place));
            assert!(in_dual.signed_distance.re.abs() < 1e-15, "{name}");
            if near.signed_distance == 0.0 {
                exact += 1;
                let off = near.normal - in_dual.normal.map(|x| x.re);
                assert!(off.norm() < 1e-14, "{name}: {off}");
            }
        }
        assert!(2 * exact > mesh.vertices().len(), "{name}: {exact}");
    }
}

/// What `mesh` finds inside each kind of shape.
fn displaced<T: Real>(mesh: &TriangleMesh<T>, other: &TriangleMesh<T>, X: [Pose<T>; 2]) -> Vec<Displaced<T>> {
    let mut all = Vec::new();
    let size = |x: f64| T::lit(x);
    let shapes = [
        SolidShape::from(other.clone()),
        SolidShape::from(HalfSpace::BelowZ),
        SolidShape::from(Sphere::new(size(0.75)).unwrap()),
        SolidShape::from(Ellipsoid::new(Vector3::new(size(0.75), size(0.5), size(1.0))).unwrap()),
        SolidShape::custom(Slab),
    ];
    for shape in shapes {
        mesh.for_each_inside(&X[0], &shape, &X[1], |displaced| all.push(displaced));
    }
    all
}

/// What lies between y = −0.5 and y = 0.5.
#[derive(Debug)]
struct Slab;

impl<T: Real> Solid<T> for Slab {
    fn nearest(&self, p_S: &Point3<T>) -> SurfacePoint<T> {
        let side = if p_S.y < T::zero() { -T::one() } else { T::one() };
        let normal = Vector3::y() * side;
        let signed_distance = p_S.y * side - T::lit(0.5);
        SurfacePoint { point: p_S - normal * signed_distance, normal, signed_distance }
    }
    fn supporting_plane(&self, p_S: &Point3<T>) -> Option<Plane<T>> {
        let normal = self.nearest(p_S).normal;
        Some(Plane { normal, offset: T::lit(0.5) })
    }
}

fn components<T: Real>(displaced: &Displaced<T>) -> [T; 8] {
    let Displaced { area, depth, point_G: p, normal_G: n, .. } = displaced;
    [*area, *depth, p.x, p.y, p.z, n.x, n.y, n.z]
}

/// Calls `visit` with two meshes and their poses.
fn for_each_pair(mut visit: impl FnMut(&TriangleMesh<f64>, &TriangleMesh<f64>, [Pose<f64>; 2])) {
    let mut sequence = Sequence::new();
    let meshes = meshes::menagerie();
    for (_, mesh) in &meshes {
        for (_, other) in &meshes {
            visit(mesh, other, [sequence.next_pose(0.5), sequence.next_pose(0.3)]);
        }
    }
}

#[test]
fn a_cast_finds_what_a_mesh_built_anew_finds() {
    let mut found = 0;
    for_each_pair(|mesh, other, X| {
        let here = displaced(mesh, other, X);
        found += here.len();

        // The same scalar: the same bits.
        let same = displaced(&mesh.cast().unwrap(), &other.cast().unwrap(), X);
        assert!(here.iter().map(components).eq(same.iter().map(components)));

        // Duals, with a motion of the mesh as the derivative.
        let mut moving = X.map(|X| cast_pose::<f64, Dual64>(&X));
        moving[0].translation.x = moving[0].translation.x.derivative();
        moving[0].translation.z = moving[0].translation.z.derivative();
        let cast = displaced(&mesh.cast::<Dual64>().unwrap(), &other.cast().unwrap(), moving);
        let anew =
            displaced(&warped(mesh, Dual64::from_re(0.0)), &warped(other, Dual64::from_re(0.0)), moving);
        assert_eq!(cast.len(), here.len());
        assert_eq!(anew.len(), here.len());
        for ((cast, anew), here) in cast.iter().zip(&anew).zip(&here) {
            assert_eq!([cast.index, anew.index], [here.index; 2]);
            // Near an edge directions are differences divided by the depth.
            let tolerance = 1e-13 * (1.0 + 1.0 / (here.depth * here.depth));
            for ((cast, anew), here) in components(cast).iter().zip(components(anew)).zip(components(here)) {
                assert!((cast.re - here).abs() + (anew.re - here).abs() < tolerance);
                assert!((cast.eps - anew.eps).abs() < tolerance, "{cast} {anew}");
            }
        }
    });
    assert!(found > 10_000, "{found}");
}

#[test]
fn in_single_precision_a_cast_is_what_was_built_there() {
    // Of numbers that both scalars hold.
    let rounded = |mesh: &TriangleMesh<f64>| {
        let single: Vec<Point3<f32>> = mesh.vertices().map(|v| v.map(Real::cast)).collect();
        let double: Vec<Point3<f64>> = single.iter().map(|v| v.map(f64::from)).collect();
        (
            TriangleMesh::closed(&double, mesh.faces()).unwrap(),
            TriangleMesh::closed(&single, mesh.faces()).unwrap(),
        )
    };
    for_each_pair(|mesh, other, X| {
        let [(mesh, single_mesh), (other, single_other)] = [mesh, other].map(rounded);
        let cast = (mesh.cast::<f32>().unwrap(), other.cast::<f32>().unwrap());
        assert!(cast.0.vertices().eq(single_mesh.vertices()) && cast.0.areas().eq(single_mesh.areas()));
        assert!(cast.0.normals().eq(single_mesh.normals()) && cast.0.centroids().eq(single_mesh.centroids()));
        let X = X.map(|X| cast_pose::<f64, f32>(&X));
        let cast = displaced(&cast.0, &cast.1, X);
        let anew = displaced(&single_mesh, &single_other, X);
        assert_eq!(cast.len(), anew.len());
        assert!(cast.iter().map(components).eq(anew.iter().map(components)));
        // The user's shape rounds coordinates of order one, by 6e-8; the others round their results only.
        let double = displaced(&mesh, &other, X.map(|X| cast_pose(&X)));
        assert_eq!(double.len(), cast.len());
        for (single, double) in cast.iter().zip(&double) {
            assert!((f64::from(single.depth) - double.depth).abs() <= 2e-7);
        }
    });
}

#[test]
fn a_cast_shares_the_mesh_and_allocates_nothing() {
    let mesh = TriangleMesh::<f64>::sphere(1.0, 32).unwrap();
    let mut copies = None;
    let info = allocation_counter::measure(|| {
        copies = Some((mesh.cast::<Dual64>(), mesh.cast::<f32>(), mesh.clone()));
    });
    assert_eq!(info.count_total, 0, "{info:?}");
    let (dual, single, _) = copies.unwrap();
    assert_eq!((dual.unwrap().face_count(), single.unwrap().face_count()), (8192, 8192));
}

#[test]
fn a_mesh_beyond_the_range_of_the_other_scalar_is_refused() {
    let faces = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
    let corners = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    for (size, fits) in
        [(1e-60, false), (1e-13, false), (1e-9, true), (1e6, true), (1e12, false), (1e60, false)]
    {
        let mesh = TriangleMesh::closed(&corners.map(|p| Point3::from(p) * size), &faces).unwrap();
        let cast = mesh.cast::<f32>();
        assert_eq!(cast.is_ok(), fits, "{size}");
        if let Err(refused) = cast {
            let ShapeError::Mesh { fault: MeshFault::FaceOutOfScale { .. } } = refused else {
                panic!("{refused}")
            };
        }
        assert!(mesh.cast::<Dual64>().is_ok());
    }
}

#[test]
fn faces_too_fine_for_single_precision_stay_what_they_are_in_a_cast() {
    // Its vertices coincide in single precision, but the search does not run on those.
    let tiny = TriangleMesh::<f64>::sphere(1e-5, 8).unwrap();
    let vertices: Vec<_> = tiny.vertices().map(|v| v + Vector3::new(100.0, 0.0, 0.0)).collect();
    let far = TriangleMesh::closed(&vertices, tiny.faces()).unwrap();
    let single: Vec<Point3<f32>> = vertices.iter().map(|v| v.map(Real::cast)).collect();
    assert!(TriangleMesh::closed(&single, tiny.faces()).is_err());
    let (in_single, in_dual) = (far.cast::<f32>().unwrap(), far.cast::<Dual32>().unwrap());
    let p = Point3::new(100.0_f32, 0.5, 0.25);
    let expected = far.signed_distance(&p.map(f64::from));
    // One rounding in single precision; in duals, of coordinates of one hundred.
    assert!((f64::from(in_single.signed_distance(&p)) - expected).abs() < 4e-8);
    let near = in_dual.nearest(&p.map(Dual32::from_re));
    assert!((f64::from(near.signed_distance.re) - expected).abs() < 2e-5);
}

/// Seen from far away, both sides of a thin brick are equally near, and one of them from behind.
#[test]
fn far_from_a_thin_brick_a_point_is_outside_in_dual_numbers_too() {
    let thin = TriangleMesh::brick(Vector3::new(1.0, 1.0, 1e-10), [1; 3]).unwrap();
    let duals: TriangleMesh<Dual64> = thin.cast().unwrap();
    for z in [1e7, -1e7] {
        let p = Point3::new(0.3, 0.1, z);
        let (near, dual) = (thin.nearest(&p), duals.nearest(&p.map(Dual64::from)));
        assert_eq!((near.signed_distance, dual.signed_distance.re), (1e7, 1e7), "{z}");
        assert_eq!(near.normal, dual.normal.map(|n| n.re), "{z}");
    }
}

#[test]
fn a_shape_of_the_crate_that_was_given_as_a_users_own_stays_so_in_another_scalar() {
    let sphere = || Sphere::new(0.5_f64).expect("positive");
    let mesh = TriangleMesh::sphere(0.5_f64, 4).expect("positive");
    // A clipped bed integrates over parts of faces in a solid, and over whole faces in a mesh.
    for shape in [SolidShape::custom(mesh.clone()), SolidShape::custom(sphere())] {
        let cast = shape.cast::<f32>().expect("in range");
        assert!(matches!(cast, SolidShape::Custom(_)), "{cast:?}");
    }
    let cast = SolidShape::from(mesh).cast::<f32>().expect("in range");
    assert!(matches!(cast, SolidShape::Mesh(_)), "{cast:?}");
}
