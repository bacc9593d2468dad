//! Nearest points, approaches of lines, and sides of surfaces.

use force_elements::Error;
use force_elements::cable::Wrappable;
use force_elements::nalgebra::{Point3, Vector2, Vector3};
use force_elements::shapes::{Cylinder, Ellipsoid, HeightMap, ShapeError, Solid, Sphere, Torus};
use force_elements_scenes::cables::{Dice, Pebble, hollows};
use force_elements_scenes::seeds;

use super::every_surface;
use crate::plain::Plain;

#[test]
fn closest_approach_of_a_line_is_the_lowest_of_all_its_points() -> Result<(), Error> {
    let mut dice = Dice::new(8);
    for surface in every_surface()? {
        for _ in 0..20 {
            let [a, b] = [-2.0, 2.0].map(|x| Point3::new(x, 0.0, 0.0) + dice.vector(1.0));
            let found = surface.closest_on_segment(&a, &b);
            let value = surface.value(&found.0);
            for i in 0..=2000 {
                let p = a + (b - a) * (f64::from(i) / 2000.0);
                if surface.covers(&p) {
                    assert!(surface.value(&p) > value - 1e-9, "{surface:?}");
                }
            }
        }
    }
    Ok(())
}

#[test]
fn height_map_passes_through_its_heights_with_continuous_curvature() -> Result<(), Error> {
    let heights: Vec<f64> = (0..30).map(|i| (f64::from(i) * 0.7).sin() * 0.1).collect();
    let map = HeightMap::new(Vector2::new(-1.0, 0.5), Vector2::new(0.2, 0.3), 6, &heights)?;
    for (i, &height) in heights.iter().enumerate() {
        #[allow(clippy::cast_precision_loss, reason = "below 30")]
        let (x, y) = (-1.0 + 0.2 * (i % 6) as f64, 0.5 + 0.3 * (i / 6) as f64);
        assert!((map.height_at(x, y)? - height).abs() < 1e-14);
    }
    // Across a seam the second derivatives agree to the third derivative (about 10) times the gap.
    let at = |x: f64| map.hessian(&Point3::new(x, 1.0, 0.0));
    assert!((at(-0.6 - 1e-9) - at(-0.6 + 1e-9)).norm() < 1e-6);
    assert_eq!(map.height_at(0.3, 1.0), Err(ShapeError::OffPatch { x: 0.3, y: 1.0 }));
    let ragged = HeightMap::new(Vector2::new(0.0, 0.0), Vector2::new(1.0, 1.0), 4, &heights);
    assert_eq!(ragged.err(), Some(ShapeError::IncompleteGrid { columns: 4, heights: 30 }));
    Ok(())
}

/// Contact and cables see the same surface by methods that share nothing.
#[test]
fn what_can_be_entered_and_wrapped_is_one_surface() -> Result<(), Error> {
    let mut dice = Dice::new(7);
    for _ in 0..200 {
        let radii: Vector3<f64> = Vector3::from_fn(|_, _| dice.between(0.5, 2.0));
        let direction = dice.vector(1.0);
        let (ball, ellipsoid) = (Sphere::new(radii.x)?, Ellipsoid::new(radii)?);
        // Outside, where there is one nearest point.
        let p = Point3::from(direction.normalize() * dice.between(2.1, 3.1));
        let near = ball.nearest(&p);
        // A few operations each, of numbers below four.
        assert!((near.signed_distance - ball.height(&p)).abs() < 1e-14);
        assert!((near.point - ball.retract(&p)).norm() < 1e-14);
        let near = ellipsoid.nearest(&p);
        // Outside a convex solid the nearest point is that below which the point lies, to the roundoff of its residual times a
        // ratio of radii of four.
        assert!(((p - near.point).normalize() - near.normal).norm() < 1e-13, "{radii} {p}");
        assert!(ellipsoid.value(&near.point).abs() < 1e-13);
        assert!((near.normal - ellipsoid.gradient(&near.point).normalize()).norm() < 1e-13);
        // And on both sides of it they agree on what is inside.
        for q in [near.point + near.normal * 1e-6, near.point - near.normal * 1e-6] {
            assert_eq!(ellipsoid.contains(&q), ellipsoid.value(&q) < 0.0);
        }
    }
    Ok(())
}

#[test]
fn bad_sizes_are_refused() {
    /// The measure that is out of its range.
    fn refused<S>(shape: Result<S, ShapeError>) -> Option<&'static str> {
        match shape {
            Err(ShapeError::InvalidValue(value)) => Some(value.name),
            _ => None,
        }
    }
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(refused(Sphere::new(bad)), Some("sphere.radius"));
        assert_eq!(refused(Cylinder::new(bad)), Some("cylinder.radius"));
        assert_eq!(refused(Ellipsoid::new(Vector3::new(1.0, bad, 1.0))), Some("ellipsoid.radii"));
        assert_eq!(refused(Torus::new(bad, 0.1)), Some("torus.ring_radius"));
        assert_eq!(refused(Torus::new(1.0, bad)), Some("torus.tube_radius"));
    }
    assert_eq!(refused(Torus::new(1.0, 1.0)), Some("torus.tube_radius"));
}

#[test]
fn a_ring_is_as_far_from_its_axis_as_its_circle_is() -> Result<(), Error> {
    for scale in [1e-3_f64, 1.0, 1e3] {
        let ring = Torus::new(scale, 0.3 * scale)?;
        for z in [-2.0, -0.1, 0.0, 1e-9, 0.5] {
            // On the axis, and nearer to it than coordinates can tell.
            for off in [0.0, 1e-300, 1e-20, 1e-16, 1e-12, 1e-3] {
                for (x, y) in [(off, 0.0), (0.0, -off), (off, off)] {
                    let p = Point3::new(x, y, z) * scale;
                    let expected: f64 = (f64::hypot(p.x, p.y) - scale).hypot(p.z) - 0.3 * scale;
                    assert!((ring.value(&p) - expected).abs() < 1e-15 * scale, "{p:?}");
                    assert!((ring.gradient(&p).norm() - 1.0).abs() < 1e-14, "{p:?}");
                    let foot = ring.retract(&p);
                    assert!(ring.value(&foot).abs() < 1e-15 * scale, "{p:?}");
                    assert!(((foot - p).norm() - expected.abs()).abs() < 1e-15 * scale, "{p:?}");
                }
            }
        }
    }
    Ok(())
}

#[test]
fn where_no_direction_is_outwards_heights_and_feet_are_still_there() -> Result<(), Error> {
    let middles: [(Box<dyn Wrappable<f64>>, Vector3<f64>); 6] = [
        (Box::new(Sphere::new(0.7)?), Vector3::zeros()),
        (Box::new(Cylinder::new(0.7)?), Vector3::new(0.0, 0.0, 2.0)),
        (Box::new(Ellipsoid::new(Vector3::new(0.7, 0.6, 1.0))?), Vector3::zeros()),
        (Box::new(Torus::new(2.0, 0.5)?), Vector3::new(0.0, -2.0, 0.0)),
        (Box::new(Pebble { radius: 0.7 }), Vector3::zeros()),
        (Box::new(Plain(Sphere::new(0.7)?)), Vector3::zeros()),
    ];
    for (surface, middle) in middles {
        // There, and so near that the gradient is next to nothing.
        for off in [0.0, 1e-200, 1e-16, 1e-9] {
            let p = Point3::from(middle) + Vector3::new(off, -off, off);
            assert!(surface.height(&p) < 0.0, "{surface:?} {off}");
            let foot = surface.retract(&p);
            // Roundoff of coordinates up to 2.5.
            assert!(surface.height(&foot).abs() < 1e-14, "{surface:?} {off}: {foot:?}");
            let line = surface.closest_on_segment(&(p - Vector3::x() * 3.0), &(p + Vector3::x() * 3.0));
            let foot = surface.retract(&line.0);
            assert!(surface.height(&foot).abs() < 1e-14, "{surface:?} {off}: {foot:?}");
        }
    }
    Ok(())
}

/// Lands with hollows and rings, where a line may lie low at several places.
fn bumpy(dice: &mut Dice) -> Result<Box<dyn Wrappable<f64>>, Error> {
    Ok(match dice.below(3) {
        0 => Box::new(hollows(dice, 1.0).map()?),
        1 => Box::new(Torus::new(1.0, dice.between(0.05, 0.9))?),
        _ => Box::new(Plain(Torus::new(1.0, dice.between(0.2, 0.6))?)),
    })
}

#[test]
fn of_several_low_places_on_a_line_the_lowest_is_found() -> Result<(), Error> {
    let mut dice = Dice::new(9);
    for _ in 0..seeds(300) {
        let surface = bumpy(&mut dice)?;
        let [a, b] = [(); 2].map(|()| Point3::from(dice.vector(2.5)));
        let found = surface.closest_on_segment(&a, &b);
        let at = |u: f64| Some(a + (b - a) * u).filter(|p| surface.covers(p)).map(|p| surface.value(&p));
        let lowest = (0..=20_000).filter_map(|i| at(f64::from(i) / 20_000.0)).fold(f64::INFINITY, f64::min);
        if lowest == f64::INFINITY {
            continue;
        }
        let value = surface.value(&found.0);
        // A map is searched to a millionth of its grid of 0.2. A sample lies within 2e-4 of the lowest place,
        // which at the rim of a map is no minimum: slopes are below 3.
        assert!(value < lowest + 3e-7, "{surface:?} {a:?} {b:?}: {value} {lowest}");
        assert!(value > lowest - 6e-4, "{surface:?} {a:?} {b:?}: {value} {lowest}");
    }
    Ok(())
}

#[test]
fn tangents_that_a_ring_says_stay_clear_of_it_do() -> Result<(), Error> {
    let mut dice = Dice::new(10);
    let (mut clear, mut entering) = (0, 0);
    for _ in 0..seeds(2000) {
        let (ring, tube) = (1.0, dice.between(0.05, 0.9));
        let torus = Torus::new(ring, tube)?;
        let touch = torus.retract(&Point3::from(dice.vector(1.5)));
        let along = torus.end(&touch, &dice.vector(1.0)).tangent;
        let to = touch + along * dice.between(0.05, 4.0);
        if torus.value(&to) < 0.0 {
            continue;
        }
        let height = |p: Vector3<f64>| (p.x.hypot(p.y) - ring).hypot(p.z) - tube;
        let samples = (0..=4000).map(|i| height((touch + (to - touch) * (f64::from(i) / 4000.0)).coords));
        let lowest = samples.fold(f64::INFINITY, f64::min);
        if torus.may_reenter(&touch, &to) {
            // What is entered between samples only, to their spacing of 1e-3 squared.
            assert!(lowest < 1e-6, "{touch:?} {to:?} {tube}: {lowest}");
            entering += 1;
        } else {
            assert!(lowest > -1e-12, "{touch:?} {to:?} {tube}: {lowest}");
            clear += 1;
        }
    }
    assert!(clear > seeds(200) && entering > seeds(200), "{clear} {entering}");
    Ok(())
}

#[test]
fn what_says_it_is_convex_is() -> Result<(), Error> {
    let mut dice = Dice::new(13);
    let mut convex = 0;
    for surface in every_surface()? {
        if !surface.is_convex() {
            continue;
        }
        convex += 1;
        for _ in 0..500 {
            let [a, b] = [0; 2].map(|_| surface.retract(&Point3::from(dice.vector(1.0))));
            for i in 1..10 {
                assert!(surface.value(&(a + (b - a) * (f64::from(i) / 10.0))) < 1e-14, "{surface:?}");
            }
        }
    }
    assert_eq!(convex, 3);
    Ok(())
}
