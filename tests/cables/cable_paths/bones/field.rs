//! Smooth surfaces of meshes: their accuracy, derivatives, geodesics and refusals.

use force_elements::Error;
use force_elements::cable::Wrappable;
use force_elements::nalgebra::{Matrix3, Point3, Vector3};
use force_elements::shapes::{DistanceField, MeshFault, ShapeError, Solid, TriangleMesh};
use force_elements_scenes::cables::Dice;
use num_dual::Dual64;

use super::FEMUR;
use crate::cable_geodesics::slow_geodesic;
use force_elements_scenes::seeds;

#[test]
fn the_stated_accuracy_holds_between_the_places_where_it_was_measured() {
    let (mesh, field) = &*FEMUR;
    // Between measured places, half a spacing apart, the deviation changes little.
    let allowed = 1.1 * field.accuracy();
    // The mesh has edges of 3 mm in hollows and on condyles with radii from 5 mm on.
    assert!(field.accuracy() < 5e-4, "{}", field.accuracy());
    let mut dice = Dice::new(1);
    let triangles: Vec<_> = mesh.triangles().collect();
    let mut largest = 0.0_f64;
    for _ in 0..seeds(20_000) {
        #[allow(clippy::cast_possible_truncation, reason = "below the number of faces")]
        let [a, b, c] = triangles[dice.below(triangles.len() as u64) as usize];
        let (u, v) = (dice.between(0.0, 1.0), dice.between(0.0, 1.0));
        let (u, v) = if u + v > 1.0 { (1.0 - u, 1.0 - v) } else { (u, v) };
        let p = a + (b - a) * u + (c - a) * v;
        let from_mesh = (field.retract(&p) - p).norm();
        let offset = p + dice.vector(0.003);
        let from_surface = mesh.signed_distance(&field.retract(&offset)).abs();
        largest = largest.max(from_mesh).max(from_surface);
        assert!(from_mesh < allowed && from_surface < allowed, "{p}: {from_mesh} {from_surface} {allowed}");
    }
    assert!(largest > 0.3 * allowed, "{largest} {allowed}");
}

#[test]
fn derivatives_are_those_of_the_function_and_continuous_from_cell_to_cell_and_into_the_surroundings()
-> Result<(), Error> {
    let mesh = TriangleMesh::torus(1.0, 0.4, 48, 24)?;
    let field = DistanceField::from_mesh(&mesh, 0.1)?;
    let mut dice = Dice::new(2);
    let mut outside = 0;
    for _ in 0..2000 {
        // Inside the ring, near it, in the blend, and beyond.
        let p = Point3::from(dice.vector(3.5).component_mul(&Vector3::new(1.0, 1.0, 0.6)));
        outside += usize::from(p.coords.amax() > 2.4);
        let (gradient, hessian) = (field.gradient(&p), field.hessian(&p));
        for axis in 0..3 {
            let mut q = p.map(Dual64::from_re);
            q[axis].eps = 1.0;
            let size = 1.0 + hessian.norm();
            assert!((field.value(&q).eps - gradient[axis]).abs() < 1e-13 * size);
            assert!((field.gradient(&q).map(|x| x.eps) - hessian.column(axis)).norm() < 1e-12 * size);
        }
        assert_eq!(Wrappable::<f64>::value_and_gradient(&field, &p), (field.value(&p), gradient));
        // Across each kind of seam: beside a node's plane, and beside the end of the box.
        for axis in 0..3 {
            let mut low = p;
            let corner = field.bounds()[0][axis];
            low[axis] = corner + 0.1 * ((p[axis] - corner) / 0.1).round() - 1e-9;
            let mut high = low;
            high[axis] += 2e-9;
            let jump: Matrix3<f64> = field.hessian(&high) - field.hessian(&low);
            // Third derivatives are below 1/h² = 100 by 20 or so where the distance has kinks.
            assert!(jump.norm() < 2e-9 * 4e3, "{low}: {jump}");
        }
    }
    assert!(outside > 100, "{outside}");
    Ok(())
}

#[test]
fn outside_the_function_is_positive_and_rises_away_from_the_bone() {
    let (mesh, field) = &*FEMUR;
    let [low, high] = field.bounds();
    let mut dice = Dice::new(3);
    let mut far = 0;
    for _ in 0..seeds(5000) {
        let p = Point3::from(dice.vector(0.4) + Vector3::new(0.0, 0.0, 0.2));
        let distance = mesh.signed_distance(&p);
        if distance.abs() > field.spacing() {
            assert_eq!(field.value(&p) > 0.0, distance > 0.0, "{p}");
        }
        let gradient = field.gradient(&p);
        for axis in 0..3 {
            // Beyond the box of the mesh, which is three cells smaller.
            let margin = 3.0 * field.spacing();
            if p[axis] > high[axis] - margin {
                assert!(gradient[axis] > 0.0, "{p}: {gradient}");
                far += 1;
            } else if p[axis] < low[axis] + margin {
                assert!(gradient[axis] < 0.0, "{p}: {gradient}");
                far += 1;
            }
        }
        let foot = field.retract(&p);
        if distance > 0.0 {
            // Roundoff of coordinates of half a metre.
            assert!(field.value(&foot).abs() < 1e-14, "{p}: {foot}");
            assert!(mesh.signed_distance(&foot).abs() < 1.1 * field.accuracy(), "{p}: {foot}");
        }
    }
    assert!(far > 1000, "{far}");
}

#[test]
fn the_lowest_place_of_a_line_is_found() {
    let (_, field) = &*FEMUR;
    let mut dice = Dice::new(4);
    let (mut inside, mut past) = (0, 0);
    for _ in 0..seeds(1000) {
        let middle = Vector3::new(0.0, 0.0, dice.between(-0.05, 0.45)) + dice.vector(0.04);
        let reach = dice.vector(0.3);
        let [a, b] = [middle + reach, middle - reach].map(Point3::from);
        let (found, height) = field.closest_on_segment(&a, &b);
        let value = field.value(&found);
        let samples = (0..=4000).map(|i| field.value(&(a + (b - a) * (f64::from(i) / 4000.0))));
        let lowest = samples.fold(f64::INFINITY, f64::min);
        assert!(value < lowest + 1e-12, "{a} {b}: {value} {lowest}");
        // Samples are 0.26 mm apart, and the line bends by at most one over the spacing.
        assert!(value > lowest - 2e-6, "{a} {b}: {value} {lowest}");
        assert_eq!(height < 0.0, value < 0.0);
        *(if lowest < 0.0 { &mut inside } else { &mut past }) += 1;
    }
    assert!(inside > seeds(200) && past > seeds(200), "{inside} {past}");
}

#[test]
fn a_line_that_begins_on_the_surface_is_found_to_dip_below_it() {
    const STEEPEST: f64 = 0.3;
    let (_, field) = &*FEMUR;
    let mut dice = Dice::new(8);
    let mut dips = 0;
    for _ in 0..seeds(4000) {
        let p =
            field.retract(&Point3::from(Vector3::new(0.0, 0.0, dice.between(0.0, 0.4)) + dice.vector(0.03)));
        let end = field.end(&p, &dice.vector(1.0));
        let along = end.tangent - end.normal * dice.between(0.0, STEEPEST).powi(2);
        let b = p + along * 0.1;
        // The first three spacings.
        let sampled = (0..=3000).map(|i| field.value(&(p + (b - p) * (f64::from(i) * 1.2e-4))));
        let lowest = sampled.fold(f64::INFINITY, f64::min);
        for (from, to) in [(p, b), (b, p)] {
            let value = field.value(&field.closest_on_segment(&from, &to).0);
            assert!(value < lowest + 1e-12, "{from} {to}: {value} {lowest}");
        }
        dips += u32::from(lowest < -1e-9);
    }
    assert!(u64::from(dips) > seeds(1000), "{dips}");
}

#[test]
fn geodesics_across_seams_are_the_limit_of_a_fine_quadrature() -> Result<(), Error> {
    let field = DistanceField::from_mesh(&TriangleMesh::torus(0.6, 0.25, 48, 24)?, 0.08)?;
    let mut dice = Dice::new(5);
    let mut sums = [0.0; 2];
    for _ in 0..6 {
        let p = field.retract(&Point3::from(dice.vector(0.8)));
        let t = field.end(&p, &dice.vector(1.0)).tangent;
        let length = dice.between(0.3, 1.0);
        let end = field.geodesic(&p, &t, length, 1e-12, usize::MAX).end.point;
        assert!(field.height(&end).abs() < 1e-13);
        for (sum, steps) in sums.iter_mut().zip([2000, 8000]) {
            *sum += (slow_geodesic(&field, p, t, length, steps).0 - end).norm() / 6.0;
        }
    }
    // Where third derivatives jump within its step, the slow rule is of second order.
    assert!(sums[0] / sums[1] > 8.0 && sums[1] < 1e-8, "{sums:?}");
    Ok(())
}

#[test]
fn what_a_grid_cannot_hold_is_refused() -> Result<(), Error> {
    let ball = TriangleMesh::sphere(1.0, 8)?;
    for bad in [0.0, -0.1, f64::NAN, f64::INFINITY, 1e-12] {
        let refused = DistanceField::from_mesh(&ball, bad);
        assert!(
            matches!(&refused, Err(ShapeError::InvalidValue(v)) if v.name == "distance_field.spacing"),
            "{bad}: {refused:?}"
        );
    }
    let faces = ball.faces();
    let vertices: Vec<_> = ball.vertices().collect();
    let open = TriangleMesh::open(&vertices, &faces[1..])?;
    assert!(matches!(
        DistanceField::from_mesh(&open, 0.2),
        Err(ShapeError::Mesh { fault: MeshFault::OpenEdge { .. } })
    ));
    for fine in [0.005, 1e-6] {
        let refused = DistanceField::from_mesh(&ball, fine);
        assert!(
            matches!(refused, Err(ShapeError::GridTooLarge { nodes, most })
                if nodes > 16e6 && most == DistanceField::MAX_NODES),
            "{refused:?}"
        );
    }
    // A ball within a cell.
    for coarse in [5.0, 100.0] {
        let refused = DistanceField::from_mesh(&ball, coarse);
        assert!(
            matches!(refused, Err(ShapeError::GridTooCoarse { spacing, .. }) if spacing == coarse),
            "{refused:?}"
        );
    }
    // Plates as thick as the spacing, and thinner.
    for (half, is_held) in [(0.05, true), (0.02, false), (0.005, false)] {
        let plate = TriangleMesh::brick(Vector3::new(0.5, 0.5, half), [4, 4, 1])?;
        let field = DistanceField::from_mesh(&plate, 0.1);
        match field {
            Ok(field) => assert!(is_held && field.accuracy() < 0.03, "{half}: {}", field.accuracy()),
            Err(fault) => assert!(!is_held && matches!(fault, ShapeError::GridTooCoarse { .. })),
        }
    }
    Ok(())
}

#[test]
fn the_search_of_a_line_of_any_length_ends() -> Result<(), Error> {
    let field = DistanceField::from_mesh(&TriangleMesh::sphere(1.0, 8)?, 0.3)?;
    for reach in [1.0, 1e6, 1e12, 1e15, 3e15, 1e16, 2e16, 4e16, 1e17, 1e30, 1e100] {
        for tilt in [0.0, 0.3, 2.0] {
            let a = Point3::new(-reach, 0.2 + tilt, 0.1);
            let b = Point3::new(0.7 * reach, 0.2 - tilt, 0.1);
            let approach: (_, f64) = field.closest_on_segment(&a, &b);
            // Where coordinates resolve the ball, it is found.
            assert!(reach > 1e12 || tilt > 1.0 || approach.1 < -0.1, "{reach} {tilt}: {approach:?}");
        }
    }
    Ok(())
}

#[test]
fn a_line_that_leaves_a_bump_is_found_to_enter_the_next() -> Result<(), Error> {
    let waves = [
        ([-1.081_622_16, -0.186_849_58, -0.682_145_40], 2.761_791_82),
        ([2.216_329_38, -2.146_724_07, -1.139_743_96], 1.115_498_79),
        ([-1.384_366_28, 1.979_721_04, 2.779_078_32], 2.864_002_76),
        ([2.799_012_42, -2.737_863_30, -1.248_866_22], 5.772_018_01),
    ];
    let ball = TriangleMesh::sphere(1.0, 12)?;
    let bumpy = |p: Point3<f64>| {
        let wave =
            |&([x, y, z], phase): &([f64; 3], f64)| (Vector3::new(x, y, z).dot(&p.coords) + phase).sin();
        p * (1.0 + 0.15 * waves.iter().map(wave).sum::<f64>())
    };
    let vertices: Vec<_> = ball.vertices().map(bumpy).collect();
    let field = DistanceField::from_mesh(&TriangleMesh::closed(&vertices, ball.faces())?, 0.08)?;
    // It rises by 78 µm, and dips to 20 µm between samples of which the first is higher than the start.
    let from = Point3::new(0.473_974_68, -1.127_390_24, 0.631_615_44);
    let to = Point3::new(0.464_124_40, -1.266_074_27, -0.029_709_87);
    let sampled = (0..=1000).map(|i| field.height(&(from + (to - from) * (f64::from(i) / 1000.0))));
    let sampled = sampled.fold(0.0, f64::min);
    assert!(sampled < -1.5e-5, "{sampled}");
    for (a, b) in [(from, to), (to, from)] {
        let (_, found) = field.closest_on_segment(&a, &b);
        assert!(found <= sampled, "{found} {sampled}");
    }
    Ok(())
}
