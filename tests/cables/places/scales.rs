//! Surfaces larger or smaller than they were made.

use std::sync::Arc;

use approx::assert_relative_eq;
use force_elements::cable::{CablePath, Obstacle, PathResults, Settings, Wrappable};
use force_elements::nalgebra::{Matrix3, Point3, Rotation3, Translation3, Vector3};
use force_elements::shapes::{Cylinder, DistanceField, Ellipsoid, HeightMap, Sphere, Torus, TriangleMesh};
use force_elements::{Error, Frame, Pose, Real};
use num_dual::Dual64;

use super::{fixed, found, memory, tracked};

/// A quartic without overrides: `x⁴ + y⁴ + z⁴ = r⁴`.
#[derive(Debug)]
struct Cushion<T: Real> {
    radius: T,
}

impl<T: Real> Wrappable<T> for Cushion<T> {
    fn value(&self, p: &Point3<T>) -> T {
        let r = self.radius;
        p.coords.map(|x| x * x * x * x).sum() - r * r * r * r
    }
    fn gradient(&self, p: &Point3<T>) -> Vector3<T> {
        p.coords.map(|x| T::lit(4.0) * x * x * x)
    }
    fn hessian(&self, p: &Point3<T>) -> Matrix3<T> {
        Matrix3::from_diagonal(&p.coords.map(|x| T::lit(12.0) * x * x))
    }
    fn size(&self) -> T {
        self.radius * T::lit(0.3)
    }
}

type Surface<T> = Arc<dyn Wrappable<T>>;

/// A hill on a square, every length of which is multiplied.
fn hill<T: Real>(scale: T) -> Result<HeightMap<T>, Error> {
    let heights = (0..81_u32).map(|i| {
        let (x, y) = (f64::from(i % 9) * 0.5 - 2.0, f64::from(i / 9) * 0.5 - 2.0);
        T::lit(0.8 * (-x * x - y * y).exp() - 0.4) * scale
    });
    let corner = [T::lit(-2.0) * scale; 2].into();
    let spacing = [T::lit(0.5) * scale; 2].into();
    Ok(HeightMap::new(corner, spacing, 9, &heights.collect::<Vec<_>>())?)
}

/// Every kind of surface, larger by this factor; the top of each is at 0.6 or so above its origin.
fn surfaces<T: Real>(scale: T) -> Result<Vec<(&'static str, Surface<T>)>, Error> {
    let radii = Vector3::new(0.8, 0.6, 0.7).map(T::lit);
    Ok(vec![
        ("sphere", Arc::new(Sphere::new(T::lit(0.6) * scale)?)),
        ("cylinder", Arc::new(Cylinder::new(T::lit(0.6) * scale)?)),
        ("ellipsoid", Arc::new(Ellipsoid::new(radii * scale)?)),
        ("torus", Arc::new(Torus::new(T::lit(1.0) * scale, T::lit(0.3) * scale)?)),
        ("height map", Arc::new(hill(scale)?)),
        ("the user's own", Arc::new(Cushion { radius: T::lit(0.6) * scale })),
    ])
}

/// A cable over a surface on Ground.
fn over<T: Real>(name: &str, surface: Surface<T>) -> Result<CablePath<T>, Error> {
    let (R, drop) = match name {
        "torus" => (Rotation3::from_axis_angle(&Vector3::y_axis(), T::frac_pi_2()), -1.13),
        "height map" => (Rotation3::from_axis_angle(&Vector3::x_axis(), -T::frac_pi_2()), -0.3),
        _ => (Rotation3::identity(), -0.5),
    };
    let X = Pose::from_parts(Translation3::new(T::zero(), T::lit(drop), T::zero()), R);
    let obstacle = Obstacle::shared(Frame::ground(X), surface)?;
    let path = CablePath::new(fixed(-1.9, 0.05, 0.3), fixed(1.9, 0.0, -0.2))?.over(obstacle);
    let smoothness = T::lit(1e-12);
    Ok(path.with_settings(Settings { smoothness, ..Settings::default() })?)
}

#[test]
fn a_scaled_surface_is_one_made_larger() -> Result<(), Error> {
    for factor in [0.95, 1.0, 1.07, 1.1] {
        for ((name, made), (_, larger)) in surfaces(1.0)?.into_iter().zip(surfaces(factor)?) {
            let path = over(name, made)?;
            let mut places = path.places().clone();
            places.obstacles[0].scale = factor;
            let scaled = found(&path, &places)?;
            let rebuilt = over(name, larger)?;
            let expected = found(&rebuilt, rebuilt.places())?;
            assert!(expected.contacts[0].in_contact, "{name} {factor}");
            // Kinks of 1e-12 shift points by as much.
            assert_relative_eq!(scaled.length, expected.length, max_relative = 1e-14);
            for (a, b) in scaled.segments.iter().zip(&expected.segments) {
                assert!((a.to_G - b.to_G).norm() < 1e-10, "{name} {factor}: {} {}", a.to_G, b.to_G);
            }
            let turned = |path: &CablePath<f64>, results: &PathResults<f64>| {
                results.contacts[0].turning(path.obstacles()[0].surface(), 1e-13)
            };
            assert_relative_eq!(turned(&path, &scaled), turned(&rebuilt, &expected), epsilon = 1e-10);
            // Points drawn lie on the surface.
            for p in scaled.sample(&path, 0.1) {
                let p_S = rebuilt.obstacles()[0].frame().X_BF.inverse_transform_point(&p);
                assert!(rebuilt.obstacles()[0].surface().height(&p_S) > -1e-9, "{name} {factor}");
            }
            // Tracked to another size the path is the same as if searched for.
            let before = found(&path, path.places())?;
            let tracked = tracked(&path, &places, &memory(&path, &before))?;
            assert_relative_eq!(tracked.length, expected.length, max_relative = 1e-13);
        }
    }
    Ok(())
}

#[test]
fn memory_of_a_scaled_surface_follows_its_scale() -> Result<(), Error> {
    // A rope wound around a drum: its windings are kept while the drum grows.
    let drum = Obstacle::new(Frame::ground(Pose::identity()), Cylinder::new(0.2)?)?;
    let path = CablePath::new(fixed(-1.0, 0.0, 0.1), fixed(1.0, 0.0, -0.1))?.over(drum);
    let mut results = found(&path, path.places())?;
    let mut wraps = memory(&path, &results);
    wraps.wraps[0].in_contact = true;
    wraps.wraps[0].point = Point3::new(0.0, 0.2, 0.0);
    wraps.wraps[0].tangent = Vector3::new(1.0, 0.0, -0.02);
    wraps.wraps[0].length = 0.2 * 14.0;
    let mut places = path.places().clone();
    results = tracked(&path, &places, &wraps)?;
    let turns = |results: &PathResults<f64>, scale: f64| {
        results.contacts[0].geodesic.length / (0.2 * scale) / core::f64::consts::TAU
    };
    let wound = turns(&results, 1.0);
    assert!(wound > 1.5, "{wound}");
    for scale in [1.5, 3.0, 0.7] {
        results.remember(&mut wraps);
        places.obstacles[0].scale = scale;
        results = tracked(&path, &places, &wraps)?;
        assert!((turns(&results, scale) - wound).abs() < 0.5, "{scale}: {}", turns(&results, scale));
    }
    Ok(())
}

/// The length of a cable in the plane across a cylinder of radius `r` about z: two tangents and an arc.
fn around<T: Real>(a: [f64; 2], b: [f64; 2], r: T) -> T {
    let distance = |p: [f64; 2]| T::lit(p[0].hypot(p[1]));
    let (da, db) = (distance(a), distance(b));
    let between = T::lit((a[0] * b[1] - a[1] * b[0]).abs().atan2(a[0] * b[0] + a[1] * b[1]));
    let angle = between - (r / da).acos() - (r / db).acos();
    (da * da - r * r).sqrt() + (db * db - r * r).sqrt() + r * angle
}

#[test]
fn derivative_by_the_radius_is_that_of_the_closed_form() -> Result<(), Error> {
    let (a, b) = ([-1.4, 0.1], [1.1, -0.3]);
    for radius in [0.4, 0.55, 0.9] {
        let made: Cylinder<Dual64> = Cylinder::new(Dual64::from(0.5))?;
        let hint = Point3::new(0.0, -0.5, 0.0).map(Dual64::from);
        let drum = Obstacle::new(Frame::ground(Pose::identity()), made)?.with_contact_hint(hint)?;
        let path = CablePath::new(fixed(a[0], a[1], 0.0), fixed(b[0], b[1], 0.0))?.over(drum);
        let mut places = path.places().clone();
        places.obstacles[0].scale = Dual64::new(radius, 1.0) / 0.5;
        let length = found(&path, &places)?.length;
        let exact = around(a, b, Dual64::new(radius, 1.0));
        // A dozen operations on numbers of up to 3.
        assert!((length.re - exact.re).abs() < 1e-14 && (length.eps - exact.eps).abs() < 1e-13);
        assert!(exact.eps > 0.1);
    }
    Ok(())
}

#[test]
fn derivatives_by_scale_and_place_are_those_by_differences() -> Result<(), Error> {
    for ((name, made), (_, in_duals)) in surfaces(1.0)?.into_iter().zip(surfaces(Dual64::from(1.0))?) {
        let (path, dual) = (over(name, made)?, over(name, in_duals)?);
        let scale = |x: f64| {
            let mut places = path.places().clone();
            places.obstacles[0].scale = x;
            found(&path, &places).map(|results| results.length)
        };
        let mut places = dual.places().clone();
        places.obstacles[0].scale.eps = 1.0;
        let slope = found(&dual, &places)?.length.eps;
        let h = 1e-5;
        let difference = (scale(1.0 + h)? - scale(1.0 - h)?) / (2.0 * h);
        // The square of the step times a third derivative of some hundreds.
        assert!((slope - difference).abs() < 1e-7, "{name}: {slope} {difference}");
        assert!(slope.abs() > 1e-3, "{name}");

        let lift = |y: f64| {
            let mut places = path.places().clone();
            places.obstacles[0].X_BS.translation.y += y;
            found(&path, &places).map(|results| results.length)
        };
        let mut places = dual.places().clone();
        places.obstacles[0].X_BS.translation.y.eps = 1.0;
        let slope = found(&dual, &places)?.length.eps;
        let difference = (lift(h)? - lift(-h)?) / (2.0 * h);
        assert!((slope - difference).abs() < 1e-7, "{name}: {slope} {difference}");

        // The origin: the direction of the cable there.
        let mut places = dual.places().clone();
        places.origin.y.eps = 1.0;
        let results = found(&dual, &places)?;
        assert!((results.length.eps + results.segments[0].direction_G.y.re).abs() < 1e-12, "{name}");
    }
    Ok(())
}

#[test]
fn a_mesh_may_be_scaled() -> Result<(), Error> {
    let field = DistanceField::from_mesh(&TriangleMesh::sphere(0.6, 24)?, 0.15)?;
    let path = over("field", Arc::new(field))?;
    let mut places = path.places().clone();
    places.obstacles[0].scale = 1.2;
    let ball = over("ball", Arc::new(Sphere::new(0.72)?))?;
    // The mesh is within some millimetres of the ball.
    let (found, expected): (PathResults<f64>, _) = (found(&path, &places)?, found(&ball, ball.places())?);
    assert!((found.length - expected.length).abs() < 3e-3);
    Ok(())
}
