//! Height maps against surfaces with known geodesics, and refined grids of one landscape.

use core::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use force_elements::Error;
use force_elements::cable::{Geodesic, GeodesicEnd, Obstacle, PathError, Tracking, Wrappable};
use force_elements::nalgebra::{Matrix3, Point3, Rotation3, Translation3, Vector2, Vector3};
use force_elements::shapes::{Cylinder, HeightMap, ShapeError, Sphere};
use force_elements::{Frame, Pose};
use force_elements_scenes::one_in;

use super::{fixed, on_ground, one_end_free, past_ball};

/// A map over a square around the origin, of this half width and number of cells in each direction.
fn square(half: f64, cells: u32, h: impl Fn(f64, f64) -> f64) -> Result<HeightMap<f64>, ShapeError> {
    let spacing = 2.0 * half / f64::from(cells);
    let line = |i: u32| spacing * f64::from(i) - half;
    let heights: Vec<f64> = (0..=cells)
        .flat_map(|j| (0..=cells).map(move |i| (i, j)))
        .map(|(i, j)| h(line(i), line(j)))
        .collect();
    HeightMap::new(Vector2::repeat(-half), Vector2::repeat(spacing), cells as usize + 1, &heights)
}

/// The distance of the ends of two geodesics, and of their tangents.
fn gap(a: &GeodesicEnd<f64>, b: &GeodesicEnd<f64>) -> f64 {
    (a.point - b.point).norm().max((a.tangent - b.tangent).norm())
}

/// Requires that errors fall by at least this factor from each grid to the next, down to a floor.
fn assert_falls(errors: &[f64], factor: f64, floor: f64) {
    println!("{errors:?}");
    for pair in errors.windows(2) {
        assert!(pair[1] < (pair[0] / factor).max(floor), "{errors:?}");
    }
    assert!(errors[0] > 10.0 * floor && errors[errors.len() - 1] < floor, "{errors:?}");
}

#[test]
fn geodesics_over_a_sphere_cap_and_a_cylinder_converge_to_great_circles_and_helices() -> Result<(), Error> {
    let (ball, drum) = (Sphere::new(1.0)?, Cylinder::new(1.0)?);
    // The drum's axis lies along the map's y axis.
    let turned = Rotation3::from_axis_angle(&Vector3::x_axis(), -core::f64::consts::FRAC_PI_2);
    let X = Pose::from_parts(Translation3::identity(), turned);
    let mut errors = [Vec::new(), Vec::new()];
    for cells in [10, 20, 40, 80] {
        let cap = square(0.5, cells, |x, y| (1.0 - x * x - y * y).sqrt())?;
        let arch = square(0.5, cells, |x, _| (1.0 - x * x).sqrt())?;
        let mut worst = [0.0_f64; 2];
        for i in 0..12 {
            let angle = 0.5 * f64::from(i);
            let along = Vector3::new(angle.cos(), angle.sin(), 0.0);
            let p = Point3::from(-0.2 * along) + Vector3::new(0.02, -0.03, 1.0);
            let exact = ball.geodesic(&ball.retract(&cap.retract(&p)), &along, 0.5, 1e-12, usize::MAX);
            let ours = cap.geodesic(&p, &along, 0.5, 1e-12, usize::MAX);
            worst[0] = worst[0].max(gap(&ours.end, &exact.end));

            let from = X.inverse_transform_point(&arch.retract(&p));
            let exact = drum.geodesic(&from, &(X.rotation.inverse() * along), 0.5, 1e-12, usize::MAX);
            let ours = arch.geodesic(&p, &along, 0.5, 1e-12, usize::MAX);
            worst[1] = worst[1].max(gap(&ours.end, &exact.end.transformed(&X)));
            assert!((ours.jacobi.turn - 0.5).abs() < 1e-2 && !ours.passes_conjugate_point);
        }
        for (errors, worst) in errors.iter_mut().zip(worst) {
            errors.push(worst);
        }
    }
    for errors in errors {
        // With the fourth power of the spacing near the rim, faster far from it.
        assert_falls(&errors, 16.0, 1e-10);
    }
    Ok(())
}

/// A ridge across x with ripples, that is flat far from the origin.
#[derive(Debug)]
struct Ridge;

impl Ridge {
    /// The height with its first and second derivatives: h, hx, hy, hxx, hxy, hyy.
    fn at(x: f64, y: f64) -> [f64; 6] {
        // A bell along each axis, with its two derivatives.
        let bell = |x: f64, a: f64| {
            let e = (-a * x * x).exp();
            [e, -2.0 * a * x * e, (4.0 * a * a * x * x - 2.0 * a) * e]
        };
        let (u, v) = (bell(x, 2.0), bell(y, 1.5));
        let (sin, cos) = (2.0 * y + x).sin_cos();
        // The height is 0.5·u·v·(1 + 0.1·sin).
        let w = [1.0 + 0.1 * sin, 0.1 * cos, 0.2 * cos, -0.1 * sin, -0.2 * sin, -0.4 * sin];
        let h = u[0] * v[0] * w[0];
        let hx = u[1] * v[0] * w[0] + u[0] * v[0] * w[1];
        let hy = u[0] * v[1] * w[0] + u[0] * v[0] * w[2];
        let hxx = u[2] * v[0] * w[0] + 2.0 * u[1] * v[0] * w[1] + u[0] * v[0] * w[3];
        let hxy = u[1] * v[1] * w[0] + u[1] * v[0] * w[2] + u[0] * v[1] * w[1] + u[0] * v[0] * w[4];
        let hyy = u[0] * v[2] * w[0] + 2.0 * u[0] * v[1] * w[2] + u[0] * v[0] * w[5];
        [h, hx, hy, hxx, hxy, hyy].map(|x| 0.5 * x)
    }
}

impl Wrappable<f64> for Ridge {
    fn value(&self, p: &Point3<f64>) -> f64 {
        p.z - Self::at(p.x, p.y)[0]
    }
    fn gradient(&self, p: &Point3<f64>) -> Vector3<f64> {
        let [_, hx, hy, ..] = Self::at(p.x, p.y);
        Vector3::new(-hx, -hy, 1.0)
    }
    fn hessian(&self, p: &Point3<f64>) -> Matrix3<f64> {
        let [.., hxx, hxy, hyy] = Self::at(p.x, p.y);
        -Matrix3::new(hxx, hxy, 0.0, hxy, hyy, 0.0, 0.0, 0.0, 0.0)
    }
    fn size(&self) -> f64 {
        0.3
    }
}

/// A map that counts the evaluations of its geodesics and the lines searched.
#[derive(Debug)]
struct Counted {
    map: HeightMap<f64>,
    work: AtomicUsize,
}

impl Wrappable<f64> for Counted {
    fn value(&self, p: &Point3<f64>) -> f64 {
        self.work.fetch_add(1, Ordering::Relaxed);
        self.map.value(p)
    }
    fn gradient(&self, p: &Point3<f64>) -> Vector3<f64> {
        self.work.fetch_add(1, Ordering::Relaxed);
        self.map.gradient(p)
    }
    fn hessian(&self, p: &Point3<f64>) -> Matrix3<f64> {
        self.work.fetch_add(1, Ordering::Relaxed);
        self.map.hessian(p)
    }
    fn size(&self) -> f64 {
        self.map.size()
    }
    fn covers(&self, p: &Point3<f64>) -> bool {
        self.map.covers(p)
    }
    fn retract(&self, p: &Point3<f64>) -> Point3<f64> {
        self.work.fetch_add(1, Ordering::Relaxed);
        self.map.retract(p)
    }
    fn geodesic(
        &self,
        p: &Point3<f64>,
        along: &Vector3<f64>,
        length: f64,
        accuracy: f64,
        most: usize,
    ) -> Geodesic<f64> {
        let geodesic = self.map.geodesic(p, along, length, accuracy, most);
        self.work.fetch_add(1 + geodesic.evaluations, Ordering::Relaxed);
        geodesic
    }
    fn closest_on_segment(&self, a: &Point3<f64>, b: &Point3<f64>) -> (Point3<f64>, f64) {
        self.work.fetch_add(1, Ordering::Relaxed);
        self.map.closest_on_segment(a, b)
    }
}

/// Lengths of a cable drawn over a surface, by steps.
fn drawn(surface: Arc<dyn Wrappable<f64>>) -> Result<Vec<f64>, Error> {
    let obstacle = Obstacle::shared(Frame::ground(Pose::identity()), surface)?;
    let (system, body, cable) = one_end_free(fixed(-1.9, -0.2, 0.1), [obstacle])?;
    let mut state = system.default_state();
    let mut lengths = Vec::new();
    for step in 0..20 {
        let t = f64::from(step);
        state.set_pose(body, Pose::translation(1.9, 0.01 * t, 0.1 + 2e-3 * t))?;
        let view = system.realize_dynamics(&mut state)?;
        let path = &view.of(cable).position.path;
        assert!(path.contacts[0].in_contact);
        assert_eq!(path.tracking, if step == 0 { Tracking::Cold } else { Tracking::Warm });
        lengths.push(path.length);
        system.accept_step(&mut state)?;
    }
    Ok(lengths)
}

#[test]
fn a_cable_over_a_refined_map_costs_the_same_and_its_length_converges_with_the_eighth_power()
-> Result<(), Error> {
    let exact = drawn(Arc::new(Ridge))?;
    let (mut errors, mut work) = (Vec::new(), Vec::new());
    for cells in [20, 40, 80, 160] {
        let map = square(2.0, cells, |x, y| Ridge::at(x, y)[0])?;
        let counted = Arc::new(Counted { map, work: AtomicUsize::new(0) });
        let ours = drawn(counted.clone())?;
        errors.push(ours.iter().zip(&exact).fold(0.0_f64, |worst, (a, b)| worst.max((a - b).abs())));
        work.push(counted.work.load(Ordering::Relaxed));
    }
    println!("{work:?}");
    // Kinks below 1e-9 cost no length; what is left is the roundoff of a spline.
    assert_falls(&errors, 128.0, 1e-12);
    let (least, most) = (work.iter().min(), work.iter().max());
    // Steps of the integrator are chosen by its error, which is not the same on every grid.
    assert!(most.zip(least).is_some_and(|(most, least)| *most < least + least / 4), "{work:?}");
    Ok(())
}

#[test]
fn a_cable_over_the_map_of_a_sphere_is_as_long_as_over_the_sphere() -> Result<(), Error> {
    let mut errors = Vec::new();
    for cells in [10, 20, 40, 80] {
        let cap = square(0.5, cells, |x, y| (1.0 - x * x - y * y).sqrt())?;
        let (system, body, cable) = one_end_free(fixed(-1.3, 0.1, 0.8), [on_ground(cap)?])?;
        let mut state = system.default_state();
        state.set_pose(body, Pose::translation(1.2, 0.15, 0.85))?;
        let length = system.realize_position(&mut state)?.of(cable).position.path.length;
        let exact = past_ball(Vector3::new(-1.3, 0.1, 0.8), Vector3::new(1.2, 0.15, 0.85), 1.0);
        errors.push((length - exact).abs());
    }
    assert_falls(&errors, 16.0, 1e-11);
    Ok(())
}

/// Natural splines contain all polynomials of degree three.
#[test]
fn a_paraboloid_is_reproduced_on_any_grid_with_its_geodesics() -> Result<(), Error> {
    let h = |x: f64, y: f64| 0.2 * x - 0.5 * x * x - 0.3 * y * y + 0.4 * x * y;
    // Over the square from -1 to 1.
    let grid = |columns: u32, rows: u32, h: &dyn Fn(f64, f64) -> f64| {
        let [dx, dy] = [columns, rows].map(|count| 2.0 / f64::from(count - 1));
        let row = |y: f64| (0..columns).map(move |i| h(dx * f64::from(i) - 1.0, y));
        let heights: Vec<f64> = (0..rows).flat_map(|j| row(dy * f64::from(j) - 1.0)).collect();
        HeightMap::new(Vector2::repeat(-1.0), Vector2::new(dx, dy), columns as usize, &heights)
    };
    for (columns, rows) in [(7, 9), (3, 7), (7, 3), (3, 3)] {
        let map = grid(columns, rows, &h)?;
        for (x, y) in [(-1.0, -1.0), (0.03, 0.9), (1.0, 0.2), (0.4, -0.5), (-0.95, 1.0)] {
            // A few hundred operations on numbers of order one.
            assert!((map.height_at(x, y)? - h(x, y)).abs() < 1e-14, "{x} {y}");
            let p = Point3::new(x, y, 0.0);
            let slope = Vector3::new(x - 0.2 - 0.4 * y, 0.6 * y - 0.4 * x, 1.0);
            assert!((map.gradient(&p) - slope).norm() < 1e-12);
            let bend = Matrix3::new(1.0, -0.4, 0.0, -0.4, 0.6, 0.0, 0.0, 0.0, 0.0);
            assert!((map.hessian(&p) - bend).norm() < 1e-10);
        }
        // A principal section of the paraboloid, seen from its top, is a geodesic that stays in its plane.
        let bowl = grid(columns, rows, &|x, y| -0.5 * (x * x + y * y))?;
        let angle = 0.6_f64;
        let along = Vector3::new(angle.cos(), angle.sin(), 0.0);
        let geodesic = bowl.geodesic(&Point3::origin(), &along, 0.8, 1e-12, usize::MAX);
        let r = geodesic.end.point.xy().coords.norm();
        assert!((geodesic.end.point.y / geodesic.end.point.x - angle.tan()).abs() < 1e-11);
        // The arc length of the parabola z = −r²/2.
        assert!((0.5 * (r * (1.0 + r * r).sqrt() + r.asinh()) - 0.8).abs() < 1e-11);
    }
    // Two values give a line.
    let plane = grid(2, 2, &|x, y| 1.5 + 0.5 * x + y)?;
    assert!((plane.height_at(0.5, -0.5)? - 1.25).abs() < 1e-15);
    Ok(())
}

#[test]
fn a_grid_needs_two_rows_and_two_columns() {
    let made =
        |columns, heights: &[f64]| HeightMap::new(Vector2::zeros(), Vector2::repeat(1.0), columns, heights);
    let single = Some(ShapeError::IncompleteGrid { columns: 1, heights: 3 });
    assert_eq!(made(1, &[0.0; 3]).err(), single);
    assert_eq!(made(3, &[0.0; 3]).err(), Some(ShapeError::IncompleteGrid { columns: 3, heights: 3 }));
    assert!(made(3, &[0.0; 6]).is_ok());
}

#[test]
fn a_narrow_hill_behind_flat_ground_is_seen_however_long_the_line_before_it() -> Result<(), Error> {
    let mut is_drawn = one_in(5);
    for (columns, hill, width, height) in
        [(41_u32, 33.0, 0.4, 0.5), (201, 87.5, 2.0, 1.0), (201, 171.0, 0.7, 0.3)]
    {
        let over = |x: f64| height * (-((x - hill) / width).powi(2)).exp();
        let row = (0..columns).map(|i| over(f64::from(i)));
        let heights: Vec<f64> = (0..9).flat_map(|_| row.clone()).collect();
        let map = HeightMap::new(Vector2::zeros(), Vector2::repeat(1.0), columns as usize, &heights)?;
        let length = f64::from(columns - 1);
        for (start, slope) in [0.0, 1e-9, 0.3 * height, 0.6 * height]
            .into_iter()
            .flat_map(|z| [0.0, 1e-5, -1e-5, 1e-4].map(|slope| (z, slope)))
            .filter(|_| is_drawn())
        {
            let [a, b] = [0.0, length].map(|x| Point3::new(x, 4.0, start + slope * x));
            let found = map.value(&map.closest_on_segment(&a, &b).0);
            let samples = (0..=200_000).map(|i| map.value(&(a + (b - a) * (f64::from(i) / 200_000.0))));
            let lowest = samples.fold(f64::INFINITY, f64::min);
            // To a millionth of the spacing, as documented.
            assert!(found < lowest + 1e-6, "{columns} columns, from {start} at {slope}: {found}, {lowest}");
            assert!(!map.clears(&a, &b));
        }
        let (from, to) = (fixed(0.0, 4.0, 0.6 * height), Vector3::new(length, 4.0, 0.6 * height));
        let (system, body, cable) = one_end_free(from, [on_ground(map)?])?;
        let mut state = system.default_state();
        state.set_pose(body, Pose::from(Translation3::from(to)))?;
        let path = &system.realize_position(&mut state)?.of(cable).position.path;
        // Straight to the top of the hill and down again, at most.
        let [before, after] = [hill, length - hill].map(|x| x.hypot(0.4 * height));
        let contact = &path.contacts[0];
        assert!(
            contact.in_contact && path.length > length && path.length < before + after + 0.1,
            "{}",
            path.length
        );
    }
    Ok(())
}

/// The reason why a step of a cable is refused, and how many steps came before it; of 400 one must be.
fn refused(
    map: HeightMap<f64>,
    from: [f64; 3],
    to: impl Fn(f64) -> Vector3<f64>,
) -> Result<(u32, Option<PathError>), Error> {
    let [x, y, z] = from;
    let (system, body, cable) = one_end_free(fixed(x, y, z), [on_ground(map)?])?;
    let mut state = system.default_state();
    for step in 0..400 {
        state.set_pose(body, Pose::from(Translation3::from(to(f64::from(step)))))?;
        match system.realize_dynamics(&mut state) {
            Ok(view) => assert!(view.of(cable).position.path.contacts[0].in_contact, "{step}"),
            Err(error) => return Ok((step, error.own().cloned())),
        }
        system.accept_step(&mut state)?;
    }
    Ok((400, None))
}

#[test]
fn a_cable_that_leaves_its_patch_is_refused_by_that_name() -> Result<(), Error> {
    let arch = |half| square(half, 30, |x: f64, _| 0.5 - 0.4 * x * x);
    // Drawn sideways over an arch until it comes to the rim.
    let (step, error) = refused(arch(1.0)?, [-2.0, 0.0, 0.0], |t| Vector3::new(2.0, 0.01 * t, 0.0))?;
    let Some(PathError::Shape(ShapeError::OffPatch { y, .. })) = error else { panic!("{step}: {error:?}") };
    assert!(step > 100 && y > 0.99, "{step}: {y}");
    // Lowered until the arch ends before the cable leaves it.
    let (step, error) = refused(arch(0.8)?, [-2.0, 0.0, 0.2], |t| Vector3::new(2.0, 0.1, 0.2 - 0.01 * t))?;
    let Some(PathError::Shape(ShapeError::OffPatch { x, .. })) = error else { panic!("{step}: {error:?}") };
    assert!(step > 10 && x.abs() < 1.0, "{step}: {x}");
    // Without memory: a ridge whose top is at the rim.
    for cells in [4, 8, 40] {
        let slope = square(1.0, cells, |x: f64, _| 1.0 - 0.2 * (x + 1.0) * (x + 1.0))?;
        let (_, error) = refused(slope, [-2.0, 0.1, 0.2], |_| Vector3::new(3.0, 0.1, 0.2))?;
        assert!(matches!(error, Some(PathError::Shape(ShapeError::OffPatch { .. }))), "{cells}: {error:?}");
    }
    Ok(())
}

/// Newton's method wanders over the flat place before the hollow, which one contact cannot cross.
#[test]
fn a_contact_that_would_end_within_a_shallow_hollow_continues_beyond_it() -> Result<(), Error> {
    let waves = [
        [0.026_539_79, -1.567_523_25, 1.653_368_09, 0.172_017_56],
        [2.626_194_92, 1.906_337_47, 1.365_841_39, 0.256_373_88],
        [1.874_278_19, -2.598_934_08, 4.913_503_43, 0.182_353_51],
        [2.145_635_13, -0.151_491_15, 5.298_149_36, 0.258_034_23],
        [1.190_569_83, 1.929_641_90, 5.909_433_93, 0.169_002_62],
    ];
    let half = Vector2::new(2.106_738_12, 1.515_299_40);
    let [columns, rows] = [14_u32, 12];
    let spacing = Vector2::new(2.0 * half.x / f64::from(columns - 1), 2.0 * half.y / f64::from(rows - 1));
    let height = |j: u32, i: u32| {
        let [x, y] = [spacing.x * f64::from(i) - half.x, spacing.y * f64::from(j) - half.y];
        waves.iter().map(|[u, v, phase, high]| high * (u * x + v * y + phase).sin()).sum()
    };
    let heights: Vec<f64> =
        (0..rows).flat_map(|j| (0..columns).map(move |i| (j, i))).map(|(j, i)| height(j, i)).collect();
    let map = HeightMap::new(-half, spacing, columns as usize, &heights)?;
    let from = fixed(0.070_886_31, 0.973_307_04, 0.047_397_84);
    let (system, body, cable) = one_end_free(from, [on_ground(map)?])?;
    let mut state = system.default_state();
    state.set_pose(body, Pose::translation(0.143_657_95, -0.897_464_64, -0.004_636_42))?;
    let path = &system.realize_position(&mut state)?.of(cable).position.path;
    assert_eq!(path.contacts.iter().filter(|contact| contact.in_contact).count(), 2);
    // A string of 128 beads pulled tight over it is 1.87551 m long.
    assert!((path.length - 1.875_507).abs() < 1e-6, "{}", path.length);
    Ok(())
}

#[test]
fn a_contact_that_leaves_its_patch_between_its_ends_is_refused_by_that_name() -> Result<(), Error> {
    let to = Vector3::new(0.44, 0.02, 0.7613);
    let from = Vector3::new(-to.x, to.y, to.z);
    let middle = Vector3::new(0.0, 0.5, 0.0);
    // The great circle turns by 45 degrees, from y = 0.008 over y = -0.033.
    for edge in [-0.2, 0.0] {
        let line = |i: u32, from: f64, to: f64| from + (to - from) * f64::from(i) / 60.0;
        let height = |x: f64, y: f64| (1.0 - x * x - (y - middle.y).powi(2)).sqrt();
        let row = |y: f64| (0..=60).map(move |i| height(line(i, -0.6, 0.6), y));
        let heights: Vec<f64> = (0..=60).flat_map(|j| row(line(j, edge, 0.7))).collect();
        let spacing = Vector2::new(1.2, 0.7 - edge) / 60.0;
        let map = HeightMap::new(Vector2::new(-0.6, edge), spacing, 61, &heights)?;
        let (system, body, cable) = one_end_free(fixed(from.x, from.y, from.z), [on_ground(map)?])?;
        let mut state = system.default_state();
        state.set_pose(body, Pose::from(Translation3::from(to)))?;
        let outcome = system.realize_position(&mut state).map(|view| view.of(cable).position.path.length);
        if edge < -0.1 {
            let exact = past_ball(from - middle, to - middle, 1.0);
            assert!((outcome? - exact).abs() < 1e-6);
            continue;
        }
        let error = outcome.err().and_then(|error| error.own::<PathError>().cloned());
        let Some(PathError::Shape(ShapeError::OffPatch { y, .. })) = error else { panic!("{error:?}") };
        assert!(y < 0.0 && y > -0.04, "{y}");
    }
    Ok(())
}
