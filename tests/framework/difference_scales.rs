//! Differences far from the scales of metres and seconds: of large and small numbers, and of elements that load bodies which
//! they do not check.

use force_elements::nalgebra::{Point3, Rotation3, Vector3};
use force_elements::{
    AtDynamics, BodyIndex, Column, CoordinateIndex, CustomForce, ElementError, End, Error, ForceAccumulator,
    ForceElement, ForceSystem, Linearization, Pose, Real, Row, Scope, SpatialVelocity, Topology, variables,
};

variables! {
    /// One that cannot be zero, and one of either sign.
    #[derive(Copy)]
    struct Numbers<T> {
        scale: T = 1.0, positive => Dynamics;
        offset: T = 0.0, finite => Dynamics;
    }
}

/// The force `law(q, scale, offset)` on a coordinate.
#[derive(Debug)]
struct OfNumbers<T: Real> {
    coordinate: CoordinateIndex,
    law: fn(T, T, T) -> T,
}

impl<T: Real> ForceElement<T> for OfNumbers<T> {
    const KIND: &'static str = "of numbers";
    force_elements::element_types! { Parameters = Numbers<T>; }

    fn check_topology(&self, topology: &Topology) -> Result<(), ElementError> {
        Ok(topology.check_coordinate(self.coordinate)?)
    }

    fn add_forces(&self, at: &AtDynamics<'_, T, Self>, forces: &mut ForceAccumulator<'_, T>) {
        let q = at.positions.coordinate(self.coordinate);
        let Numbers { scale, offset } = *at.parameters;
        forces.apply_to_coordinate(self.coordinate, (self.law)(q, scale, offset));
    }
}

fn assert_near(found: f64, wanted: f64, tolerance: f64, what: &str) {
    assert!((found - wanted).abs() <= tolerance, "{what}: {found:e}, not {wanted:e} to {tolerance:e}");
}

/// The derivatives of a law by the coordinate, the scale and the offset.
fn slopes<T: Real>(law: fn(T, T, T) -> T, [q, scale, offset]: [f64; 3]) -> Result<[f64; 3], Error> {
    let mut system = ForceSystem::<T>::new();
    let coordinate = system.add_coordinate();
    let element = system.add(OfNumbers { coordinate, law })?;
    let mut state = system.default_state();
    state.set_coordinate(coordinate, T::lit(q))?;
    let numbers = Numbers { scale: T::lit(scale), offset: T::lit(offset) };
    system.update_parameters(&mut state, element, |parameters| *parameters = numbers)?;
    system.realize_dynamics(&mut state)?;
    let mut linearization = Linearization::of(Scope { variables: true, commit: false });
    system.linearize(&state, &mut linearization)?;
    let mut slopes = [0.0; 3];
    let row = Row::Force(End::Coordinate(coordinate));
    for (at, column, numbers) in linearization.element(element).blocks() {
        match column {
            Column::Motion(End::Coordinate(_)) if at == row => slopes[0] = numbers[0].to_f64(),
            Column::Variable(number @ 1..) if at == row => slopes[number] = numbers[0].to_f64(),
            _ => {}
        }
    }
    Ok(slopes)
}

/// The stiffness and the damping along x of the force of a closure on a body there, and the derivative by time.
fn along_x<T: Real>(
    [x, v, time]: [f64; 3],
    law: impl Fn(T, T, T) -> T + Send + Sync + 'static,
) -> Result<[f64; 3], Error> {
    let mut system = ForceSystem::<T>::new();
    let body = system.add_body();
    let closure = CustomForce::<T>::new(move |motion, loads| {
        let velocity = motion.velocity(body).linear.x;
        let p_GO = motion.point(body, &Point3::origin());
        let force = Vector3::new(law(p_GO.x, velocity, motion.time()), T::zero(), T::zero());
        loads.apply_at_point(body, &p_GO, force);
        loads.apply_at_point(BodyIndex::GROUND, &p_GO, -force);
        T::zero()
    });
    let element = system.add(closure)?;
    let mut state = system.default_state();
    let pose = Pose::translation(T::lit(x), T::zero(), T::zero());
    let V = SpatialVelocity::new(Vector3::zeros(), Vector3::x() * T::lit(v));
    state.set_body(body, pose, V)?;
    state.set_time(T::lit(time))?;
    system.realize_dynamics(&mut state)?;
    let mut linearization = Linearization::of(Scope { variables: true, commit: false });
    system.linearize(&state, &mut linearization)?;
    let [K, D] = linearization.to_dense();
    let mut by_time = 0.0;
    for (row, column, numbers) in linearization.element(element).blocks() {
        if (row, column) == (Row::Force(End::Body(body)), Column::Variable(0)) {
            by_time = numbers[3].to_f64();
        }
    }
    Ok([K[(3, 3)].to_f64(), D[(3, 3)].to_f64(), by_time])
}

#[test]
fn large_times_and_coordinates_are_moved_by_little() {
    for x in [0.0, 1.0, 10.0, 100.0, 1e3, 1e4, 1e5] {
        // The step of `differences.rs`; the error is `(wh)²/6` by truncation, and by rounding the phase `w x` to `εwx/2` on both
        // sides, and the sine and its factor as coarsely.
        let epsilon = f64::EPSILON;
        let step = 0.1 * (epsilon * (1.0 + 10.0 * x)).cbrt();
        let tolerance = |w: f64| w * (w * step).powi(2) / 6.0 + 2.0 * epsilon * (1.0 + w * x) / step;
        let [.., by_time] = along_x::<f64>([0.0, 0.0, x], |_, _, time| (time * 100.0).sin()).unwrap();
        assert_near(by_time, 100.0 * (100.0 * x).cos(), tolerance(100.0), "time");
        let [K, ..] = slopes::<f64>(|q, _, _| (q * 10.0).sin(), [x, 1.0, 0.0]).unwrap();
        assert_near(K, 10.0 * (10.0 * x).cos(), tolerance(10.0), "coordinate");
        assert!(tolerance(100.0) < 1e-3 && tolerance(10.0) < 1e-4);
    }
}

#[test]
fn large_numbers_are_moved_by_more_than_their_rounding() {
    /// `x - x0` is exact, so that a linear law errs by rounding its force alone: by `ε` of it on both sides.
    fn check<T: Real>() {
        let tolerance = 100.0 * 4.0 * T::default_epsilon().to_f64();
        for x in [0.0, 1.0, 100.0, 1e3, 1e4, 1e5, 1e6, 1e7, 1e9, 1e11] {
            let x0 = T::lit(x);
            let [K, D, by_time] = along_x::<T>([x, x, x], move |p, v, time| {
                -((p - x0) + (v - x0) + (time - x0)) * T::lit(100.0)
            })
            .unwrap();
            for slope in [K, D, by_time] {
                assert_near(slope, -100.0, tolerance, "linear");
            }
        }
    }
    check::<f64>();
    check::<f32>();
}

#[test]
fn turns_of_a_body_far_away_are_moved_by_more_than_the_rounding_of_its_points() {
    /// A spring at a station with a lever of 1 m: the exact stiffness by turns is `-100`.
    fn check<T: Real>(x: f64) -> f64 {
        let mut system = ForceSystem::<T>::new();
        let body = system.add_body();
        let closure = CustomForce::<T>::new(move |motion, loads| {
            let p = motion.point(body, &Point3::new(T::zero(), T::one(), T::zero()));
            let force = Vector3::new((p.x - T::lit(x)) * T::lit(-100.0), T::zero(), T::zero());
            loads.apply_at_point(body, &p, force);
            loads.apply_at_point(BodyIndex::GROUND, &p, -force);
            T::zero()
        });
        system.add(closure).unwrap();
        let mut state = system.default_state();
        state.set_pose(body, Pose::translation(T::lit(x), T::zero(), T::zero())).unwrap();
        system.realize_dynamics(&mut state).unwrap();
        let mut linearization = Linearization::new();
        system.linearize(&state, &mut linearization).unwrap();
        // A turn about z shifts the station by -1 m/rad along x.
        linearization.to_dense()[0][(3, 2)].to_f64()
    }
    fn tolerance<T: Real>(x: f64) -> f64 {
        // The point is rounded on both sides, as is the sine of the turn; its truncation is a sixth of the square.
        let epsilon = T::default_epsilon().to_f64();
        let step = 0.1 * (epsilon * (1.0 + 10.0 * x)).cbrt();
        100.0 * (step * step / 6.0 + 2.0 * epsilon * (1.0 + x) / step)
    }
    for x in [0.0, 1.0, 1e3, 1e6, 1e9] {
        assert_near(check::<f64>(x), 100.0, tolerance::<f64>(x), "f64");
        assert!(tolerance::<f64>(x) < 0.1);
    }
    for x in [0.0, 1.0, 1e2, 1e4] {
        assert_near(check::<f32>(x), 100.0, tolerance::<f32>(x), "f32");
        assert!(tolerance::<f32>(x) < 15.0);
    }
}

#[test]
fn numbers_that_cannot_be_zero_are_moved_by_a_share_of_themselves() {
    fn check<T: Real>(scales: &[f64]) {
        let epsilon = T::default_epsilon().to_f64();
        let share = epsilon.cbrt();
        for &r in scales {
            // At x = r: a third derivative of 3/(8 r³), the slope -1/(4 r), and rounding of the force of 1/2 on both sides.
            let [_, by_scale, _] = slopes::<T>(|x, r, _| x / (x + r), [r, r, 0.0]).unwrap();
            let wanted = -0.25 / r;
            assert_near(by_scale, wanted, (share * share / 16.0 + 2.0 * epsilon / share) / r, "radius");
            // Linear: rounding of the force alone.
            let [_, by_scale, _] = slopes::<T>(|x, k, _| x * k, [3.0, r, 0.0]).unwrap();
            assert_near(by_scale, 3.0, 3.0 * 4.0 * epsilon / share, "stiffness");
        }
    }
    check::<f64>(&[1e-200, 1e-9, 1e-6, 1e-3, 1.0, 1e3, 1e10, 1e200]);
    check::<f32>(&[1e-30, 1e-9, 1e-6, 1e-3, 1.0, 1e3, 1e10]);
}

#[test]
fn numbers_of_either_sign_are_moved_on_the_scale_of_a_tenth() {
    fn check<T: Real>() {
        let epsilon = T::default_epsilon().to_f64();
        let step = 0.1 * epsilon.cbrt();
        // The terms of the force are 1 + offset and 1: rounding of either on both sides.
        for offset in [0.0, 1e-30, -1e-12, 1e-6, 1e-3] {
            let [.., by_offset] =
                slopes::<T>(|_, one, offset| (one + offset) - one, [0.0, 1.0, offset]).unwrap();
            assert_near(by_offset, 1.0, 4.0 * epsilon / step, "offset");
        }
    }
    check::<f64>();
    check::<f32>();
}

/// A spring from a body to the origin of Ground that checks nothing.
#[derive(Debug)]
struct Lenient(BodyIndex, CoordinateIndex);

impl ForceElement<f64> for Lenient {
    const KIND: &'static str = "lenient";
    force_elements::element_types! {}

    fn check_topology(&self, _: &Topology) -> Result<(), ElementError> {
        Ok(())
    }

    fn add_forces(&self, at: &AtDynamics<'_, f64, Self>, forces: &mut ForceAccumulator<'_, f64>) {
        let p_GO = Point3::from(at.positions.pose(self.0).translation.vector);
        let q = at.positions.coordinate(self.1);
        forces.apply_at_point(self.0, &p_GO, p_GO.coords * -100.0);
        forces.apply_to_coordinate(self.1, q * -7.0);
    }
}

#[test]
fn bodies_and_coordinates_that_an_element_loads_unchecked_are_moved() {
    let mut system = ForceSystem::new();
    let [_, body] = [system.add_body(), system.add_body()];
    let coordinate = system.add_coordinate();
    system.add(Lenient(body, coordinate)).unwrap();
    let mut state = system.default_state();
    state.set_pose(body, Pose::translation(1.0, 0.0, 0.0)).unwrap();
    state.set_coordinate(coordinate, 1.0).unwrap();
    system.realize_dynamics(&mut state).unwrap();
    let mut linearization = Linearization::new();
    // The second is of memory that knows the element.
    for _ in 0..2 {
        system.linearize(&state, &mut linearization).unwrap();
        let [K, _] = linearization.to_dense();
        // Rounding of forces of 100 and 7 at places of 1 m, over steps of 1.3e-6 m.
        let tolerance = 4.0 * f64::EPSILON / 1.3e-6;
        for place in 9..12 {
            assert_near(K[(place, place)], -100.0, 100.0 * tolerance, "body");
        }
        assert_near(K[(12, 12)], -7.0, 7.0 * tolerance, "coordinate");
    }
}

variables! {
    /// Where a point is fixed.
    #[derive(Copy)]
    struct Placed<T> {
        X_GF: Pose<T> ["m"] => Position;
    }
}

/// The force `x³ + y z` on a coordinate, of a point of a frame.
#[derive(Debug)]
struct OfFrame(CoordinateIndex);

const P_F: [f64; 3] = [0.3, -0.2, 0.5];

impl<T: Real> ForceElement<T> for OfFrame {
    const KIND: &'static str = "of_frame";
    force_elements::element_types! { Parameters = Placed<T>; }

    fn check_topology(&self, topology: &Topology) -> Result<(), ElementError> {
        Ok(topology.check_coordinate(self.0)?)
    }

    fn add_forces(&self, at: &AtDynamics<'_, T, Self>, forces: &mut ForceAccumulator<'_, T>) {
        let p_G = at.parameters.X_GF * Point3::from(P_F.map(T::lit));
        forces.apply_to_coordinate(self.0, p_G.x * p_G.x * p_G.x + p_G.y * p_G.z);
    }
}

#[test]
fn derivatives_by_the_entries_of_a_rotation_sum_to_those_by_turning_it() {
    fn check<T: Real>(tolerance: f64) {
        // Entries of the least angles may be zero or doubled in a rotation, others may be neither.
        for angle in [0.0, 1e-9, 1e-7, 1e-6, 1e-5, 1e-3, 0.1, 0.7, 2.0] {
            let mut system = ForceSystem::<T>::new();
            let coordinate = system.add_coordinate();
            let element = system.add(OfFrame(coordinate)).unwrap();
            let mut state = system.default_state();
            let axis = Vector3::new(0.48, 0.6, 0.64);
            let R = Rotation3::new(axis * angle);
            let turned = Rotation3::new((axis * angle).map(T::lit));
            let p_GF = Vector3::new(0.1, 0.2, -0.3);
            let X_GF = Pose::from_parts(p_GF.map(T::lit).into(), turned);
            system.update_parameters(&mut state, element, |placed| placed.X_GF = X_GF).unwrap();
            system.realize_dynamics(&mut state).unwrap();
            let mut linearization = Linearization::of(Scope { variables: true, commit: false });
            system.linearize(&state, &mut linearization).unwrap();
            let mut by_number = [0.0; 13];
            for (_, column, numbers) in linearization.element(element).blocks() {
                if let Column::Variable(number) = column {
                    by_number[number] = numbers[0].to_f64();
                }
            }
            let arm = R * Vector3::from(P_F);
            let p = p_GF + arm;
            let gradient = Vector3::new(3.0 * p.x * p.x, p.z, p.y);
            for axis in [Vector3::x(), Vector3::y(), Vector3::z()] {
                let change = (axis.cross_matrix() * R.matrix()).transpose();
                let sum: f64 = change.iter().zip(&by_number[1..]).map(|(change, by)| change * by).sum();
                assert_near(sum, gradient.dot(&axis.cross(&arm)), tolerance, "turn");
            }
        }
    }
    check::<f64>(1e-9);
    check::<f32>(1e-3);
}
