//! Surfaces and their geodesics against closed forms and slow oracles.
#![allow(non_snake_case, reason = "monogram notation")]

use core::f64::consts::PI;

use force_elements::Error;
use force_elements::cable::{Geodesic, Wrappable};
use force_elements::nalgebra::{Point3, Vector3};
use force_elements::shapes::{Cylinder, DistanceField, Ellipsoid, Sphere, Torus, TriangleMesh};
use force_elements_scenes::cables::{Dice, Pebble, hill};
use num_dual::Dual64;

use crate::plain::Plain;

mod approaches;

fn every_surface() -> Result<Vec<Box<dyn Wrappable<f64>>>, Error> {
    Ok(vec![
        Box::new(Sphere::new(0.7)?),
        Box::new(Cylinder::new(0.7)?),
        Box::new(Ellipsoid::new(Vector3::new(0.7, 0.6, 1.0))?),
        Box::new(Torus::new(2.0, 0.5)?),
        Box::new(hill(&mut Dice::new(7)).map()?),
        Box::new(Pebble { radius: 0.7 }),
        Box::new(DistanceField::from_mesh(&TriangleMesh::torus(0.6, 0.25, 48, 24)?, 0.08)?),
    ])
}

/// A place on the surface and a direction there.
fn start(surface: &dyn Wrappable<f64>, dice: &mut Dice) -> (Point3<f64>, Vector3<f64>) {
    let p = surface.retract(&(Point3::new(0.3, 0.2, 0.1) + dice.vector(0.8)));
    let end = surface.end(&p, &dice.vector(1.0));
    (p, end.tangent)
}

/// The geodesic equation by classical Runge–Kutta in many small steps.
pub(crate) fn slow_geodesic(
    surface: &dyn Wrappable<f64>,
    p: Point3<f64>,
    t: Vector3<f64>,
    length: f64,
    steps: u32,
) -> (Point3<f64>, Vector3<f64>) {
    let h = length / f64::from(steps);
    let acceleration = |p: &Point3<f64>, v: &Vector3<f64>| {
        let gradient = surface.gradient(p);
        -gradient * (v.dot(&(surface.hessian(p) * v)) / gradient.norm_squared())
    };
    let (mut p, mut v) = (p, t);
    for _ in 0..steps {
        let (v1, a1) = (v, acceleration(&p, &v));
        let (v2, a2) = (v + a1 * (h / 2.0), acceleration(&(p + v1 * (h / 2.0)), &(v + a1 * (h / 2.0))));
        let (v3, a3) = (v + a2 * (h / 2.0), acceleration(&(p + v2 * (h / 2.0)), &(v + a2 * (h / 2.0))));
        let (v4, a4) = (v + a3 * h, acceleration(&(p + v3 * h), &(v + a3 * h)));
        p += (v1 + v2 * 2.0 + v3 * 2.0 + v4) * (h / 6.0);
        v += (a1 + a2 * 2.0 + a3 * 2.0 + a4) * (h / 6.0);
    }
    (p, v)
}

fn same(a: &Geodesic<f64>, b: &Geodesic<f64>, tolerance: f64) {
    assert!((a.end.point - b.end.point).norm() < tolerance, "{} {}", a.end.point, b.end.point);
    assert!((a.end.tangent - b.end.tangent).norm() < tolerance);
    assert!((a.end.normal - b.end.normal).norm() < tolerance);
    for (x, y) in [
        (a.end.curvature, b.end.curvature),
        (a.end.torsion, b.end.torsion),
        (a.end.transverse_curvature, b.end.transverse_curvature),
    ] {
        assert!((x - y).abs() < 10.0 * tolerance, "{x} {y}");
    }
    // The Jacobi scalars are integrated along, at a lower order.
    let loose = 100.0 * tolerance.sqrt();
    assert!((a.jacobi.shift - b.jacobi.shift).abs() < loose);
    assert!((a.jacobi.turn - b.jacobi.turn).abs() < loose);
    assert!((a.jacobi.turn_rate - b.jacobi.turn_rate).abs() < loose);
}

#[test]
fn a_length_that_makes_no_sense_ends_nowhere() -> Result<(), Error> {
    for surface in every_surface()? {
        let (p, t) = start(&*surface, &mut Dice::new(3));
        for length in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let end = surface.geodesic(&p, &t, length, 1e-9, usize::MAX).end.point;
            assert!(!end.iter().all(|x| x.is_finite()), "{length} on {surface:?}: {end}");
        }
    }
    // More windings than anyone integrates.
    let egg = Ellipsoid::new(Vector3::new(0.7, 0.6, 1.0))?;
    let end = egg.geodesic(&Point3::new(1.0, 0.0, 0.0), &Vector3::y(), 1e12, 1e-9, usize::MAX).end.point;
    assert!(!end.iter().all(|x: &f64| x.is_finite()), "{end}");
    Ok(())
}

#[test]
fn integrated_geodesics_meet_great_circles_and_helices_to_the_accuracy_asked_for() -> Result<(), Error> {
    let mut dice = Dice::new(1);
    for power in 3..13 {
        let accuracy = 0.1_f64.powi(power);
        for length in [0.01, 0.4, 1.3, 2.1, -0.9] {
            let (sphere, cylinder) = (Sphere::new(0.7)?, Cylinder::new(0.7)?);
            // The error of a step is controlled, not that of the whole: ten steps, ten errors; and
            // roundoff of the extrapolation.
            let tolerance = 10.0 * accuracy + 1e-13;
            let (p, t) = start(&sphere, &mut dice);
            same(
                &Plain(sphere).geodesic(&p, &t, length, accuracy, usize::MAX),
                &sphere.geodesic(&p, &t, length, 0.0, usize::MAX),
                tolerance,
            );
            let (p, t) = start(&cylinder, &mut dice);
            same(
                &Plain(cylinder).geodesic(&p, &t, length, accuracy, usize::MAX),
                &cylinder.geodesic(&p, &t, length, 0.0, usize::MAX),
                tolerance,
            );
        }
    }
    Ok(())
}

#[test]
fn geodesics_by_first_integrals_agree_with_those_of_the_bare_implicit_function() -> Result<(), Error> {
    let mut dice = Dice::new(2);
    for _ in 0..40 {
        let length = dice.between(-2.0, 2.0);
        let ellipsoid = Ellipsoid::new(Vector3::from_fn(|_, _| dice.between(0.4, 1.2)))?;
        let (p, t) = start(&ellipsoid, &mut dice);
        same(
            &ellipsoid.geodesic(&p, &t, length, 1e-12, usize::MAX),
            &Plain(ellipsoid).geodesic(&p, &t, length, 1e-12, usize::MAX),
            1e-10,
        );
        let torus = Torus::new(dice.between(1.0, 2.0), dice.between(0.3, 0.8))?;
        let (p, t) = start(&torus, &mut dice);
        same(
            &torus.geodesic(&p, &t, length, 1e-12, usize::MAX),
            &Plain(torus).geodesic(&p, &t, length, 1e-12, usize::MAX),
            1e-10,
        );
    }
    Ok(())
}

#[test]
fn geodesics_of_every_surface_agree_with_a_fine_quadrature() -> Result<(), Error> {
    let mut dice = Dice::new(3);
    let mut surfaces = every_surface()?;
    // Of many seams; tested with the paths over bones.
    surfaces.pop();
    for surface in surfaces {
        for _ in 0..5 {
            let (p, t) = start(surface.as_ref(), &mut dice);
            let length = dice.between(0.1, 1.0);
            let fast = surface.geodesic(&p, &t, length, 1e-12, usize::MAX);
            let (end, tangent) = slow_geodesic(surface.as_ref(), p, t, length, 4000);
            // Steps of 1/4000 of the length to the fourth power, and for the spline its seams, which
            // the slow rule steps across.
            assert!((fast.end.point - end).norm() < 1e-8, "{surface:?}");
            assert!((fast.end.tangent - tangent).norm() < 1e-8, "{surface:?}");
            assert!(surface.height(&fast.end.point).abs() < 1e-13);
        }
    }
    Ok(())
}

#[test]
fn principal_ellipse_is_a_geodesic_of_known_length() -> Result<(), Error> {
    let ellipsoid = Ellipsoid::new(Vector3::new(0.9, 0.5, 0.7))?;
    // The quarter arc by the midpoint rule, which converges exponentially on a periodic integrand.
    let quarter: f64 = (0..400)
        .map(|i| PI / 2.0 * (f64::from(i) + 0.5) / 400.0)
        .map(|a| (0.9 * a.sin()).hypot(0.5 * a.cos()) * PI / 800.0)
        .sum();
    let geodesic = ellipsoid.geodesic(&Point3::new(0.9, 0.0, 0.0), &Vector3::y(), quarter, 1e-13, usize::MAX);
    assert!((geodesic.end.point - Point3::new(0.0, 0.5, 0.0)).norm() < 1e-11);
    assert!((geodesic.end.tangent + Vector3::x()).norm() < 1e-11);
    Ok(())
}

#[test]
fn equators_of_a_torus_are_geodesics_and_only_the_outer_one_focuses() -> Result<(), Error> {
    let torus = Torus::new(2.0, 0.5)?;
    for (radius, gauss) in [(2.5, 1.0 / (0.5 * 2.5)), (1.5, -1.0 / (0.5 * 1.5))] {
        let length = 1.7;
        let geodesic =
            torus.geodesic(&Point3::new(radius, 0.0, 0.0), &Vector3::y(), length, 1e-12, usize::MAX);
        let angle: f64 = length / radius;
        let expected = Point3::new(radius * angle.cos(), radius * angle.sin(), 0.0);
        assert!((geodesic.end.point - expected).norm() < 1e-11);
        // Jacobi's equation with constant curvature.
        let root = f64::abs(gauss).sqrt();
        let turn = if gauss > 0.0 { (root * length).sin() / root } else { (root * length).sinh() / root };
        assert!((geodesic.jacobi.turn - turn).abs() < 1e-7, "{} {turn}", geodesic.jacobi.turn);
        assert!(!geodesic.passes_conjugate_point);
    }
    // Half a period of the Jacobi field on the outer equator.
    let conjugate = PI * (0.5_f64 * 2.5).sqrt();
    for (length, passes) in [(0.99 * conjugate, false), (1.01 * conjugate, true)] {
        let geodesic = torus.geodesic(&Point3::new(2.5, 0.0, 0.0), &Vector3::y(), length, 1e-10, usize::MAX);
        assert_eq!(geodesic.passes_conjugate_point, passes);
    }
    Ok(())
}

#[test]
fn jacobi_fields_are_the_derivatives_of_the_end_by_the_start() -> Result<(), Error> {
    const H: f64 = 1e-5;
    let mut dice = Dice::new(4);
    for surface in every_surface()? {
        for _ in 0..5 {
            let (p, t) = start(surface.as_ref(), &mut dice);
            let length = dice.between(0.2, 0.8);
            let shoot = |p: &Point3<f64>, t: &Vector3<f64>| surface.geodesic(p, t, length, 1e-13, usize::MAX);
            let middle = shoot(&p, &t);
            let (b, b_end) = (middle.start.binormal(), middle.end.binormal());
            let slope = |plus: Geodesic<f64>, minus: Geodesic<f64>| {
                let shift = (plus.end.point - minus.end.point).dot(&b_end) / (2.0 * H);
                let turn = (plus.end.tangent - minus.end.tangent).dot(&b_end) / (2.0 * H);
                (shift, turn)
            };
            // Central differences: H² times third derivatives of order 10 to 100.
            let tolerance = 1e-6;
            let (shift, rate) = slope(shoot(&(p + b * H), &t), shoot(&(p - b * H), &t));
            assert!((middle.jacobi.shift - shift).abs() < tolerance, "{surface:?}");
            assert!((middle.jacobi.shift_rate - rate).abs() < tolerance, "{surface:?}");
            let (turn, rate) = slope(shoot(&p, &(t + b * H)), shoot(&p, &(t - b * H)));
            assert!((middle.jacobi.turn - turn).abs() < tolerance, "{surface:?}");
            assert!((middle.jacobi.turn_rate - rate).abs() < tolerance, "{surface:?}");
        }
    }
    Ok(())
}

#[test]
fn curvatures_are_the_rates_of_change_of_the_normal() -> Result<(), Error> {
    const H: f64 = 1e-5;
    let mut dice = Dice::new(5);
    for surface in every_surface()? {
        for _ in 0..10 {
            let (p, t) = start(surface.as_ref(), &mut dice);
            let end = surface.end(&p, &t);
            let b = end.binormal();
            let normal = |q: Point3<f64>| surface.gradient(&surface.retract(&q)).normalize();
            let by = |d: &Vector3<f64>| (normal(p + d * H) - normal(p - d * H)) / (2.0 * H);
            // Central differences: H² times third derivatives of order 100.
            assert!((by(&t).dot(&t) - end.curvature).abs() < 1e-6, "{surface:?}");
            assert!((by(&t).dot(&b) - end.torsion).abs() < 1e-6, "{surface:?}");
            assert!((by(&b).dot(&b) - end.transverse_curvature).abs() < 1e-6, "{surface:?}");
        }
    }
    Ok(())
}

#[test]
fn derivatives_pass_through_an_integrated_geodesic() -> Result<(), Error> {
    // The derivative of the end by the length is the tangent there.
    let radii = Vector3::new(0.7, 0.6, 1.0);
    let ellipsoid = Ellipsoid::new(radii.map(Dual64::from_re))?;
    let p = Point3::new(0.7, 0.0, 0.0).map(Dual64::from_re);
    let t = Vector3::new(0.0, 0.8, 0.6).map(Dual64::from_re);
    let end = ellipsoid.geodesic(&p, &t, Dual64::new(0.9, 1.0), Dual64::from_re(1e-12), usize::MAX).end;
    for i in 0..3 {
        assert!((end.point[i].eps - end.tangent[i].re).abs() < 1e-10);
    }
    Ok(())
}

#[test]
fn single_precision_geodesics_are_good_to_single_precision() -> Result<(), Error> {
    let wide = Torus::new(2.0_f64, 0.5)?;
    let narrow = Torus::new(2.0_f32, 0.5)?;
    let exact =
        wide.geodesic(&Point3::new(2.5, 0.0, 0.0), &Vector3::new(0.0, 0.6, 0.8), 1.1, 1e-12, usize::MAX);
    let single =
        narrow.geodesic(&Point3::new(2.5, 0.0, 0.0), &Vector3::new(0.0, 0.6, 0.8), 1.1, 0.0, usize::MAX);
    // A few hundred operations with a roundoff of 6e-8 on lengths of 2.5.
    assert!((exact.end.point - single.end.point.map(f64::from)).norm() < 3e-6);
    Ok(())
}
