//! What overflows within a law is refused, or the force is right all the same.

use force_elements::exponential_spring::Parameters;
use force_elements::hertz_contact;
use force_elements::nalgebra::{Point3, Vector3};
use force_elements::{
    BodyIndex, ElementError, Error, ExponentialSpring, ForceSystem, Frame, HertzContact, Pose, Real,
    SpatialVelocity, State, Station,
};

/// The force on a body that slides along x at this speed, at this height.
fn force_at<T: Real>(
    system: &ForceSystem<T>,
    mut state: State<T>,
    body: BodyIndex,
    height: f64,
    speed: T,
) -> Result<Vector3<T>, Error> {
    let [zero, height] = [0.0, height].map(T::lit);
    let velocity = SpatialVelocity::new(Vector3::zeros(), Vector3::new(speed, zero, zero));
    state.set_body(body, Pose::translation(zero, zero, height), velocity)?;
    Ok(system.realize_dynamics(&mut state)?.body_force(body).force)
}

/// Checks friction of this coefficient from 10 m/s, where the damping of an anchor exceeds it, to the largest number.
fn slides_or_is_refused<T: Real>(system: &ForceSystem<T>, body: BodyIndex, height: f64, mu: f64) {
    let most = T::max_value().map_or(f64::MAX, T::to_f64).log10();
    let mut refused = 0;
    for tenth in 10..10 * 310 {
        let exponent = f64::from(tenth) * 0.1;
        if exponent > most - 0.5 {
            break;
        }
        let speed = T::lit(10.0).powf(T::lit(exponent));
        match force_at(system, system.default_state(), body, height, speed) {
            Ok(f) => {
                let (friction, normal) = (-f.x.to_f64(), f.z.to_f64());
                // Some roundings of single precision; at 10 m/s the dynamic coefficient of a ball is reached to 1e-5.
                assert!(
                    (friction - mu * normal).abs() < 2e-4 * mu * normal,
                    "1e{exponent}: {friction} {normal}"
                );
            }
            Err(error) => {
                assert_eq!(
                    error.element_error(),
                    Some(&ElementError::NonFiniteForce),
                    "1e{exponent}: {error}"
                );
                // The damping of an anchor is below 1e3 N·s/m; no square of such a force overflows below this.
                assert!(exponent > most / 2.0 - 4.0, "1e{exponent}: {error}");
                refused += 1;
            }
        }
    }
    assert!(refused > 0);
}

fn springs<T: Real>() {
    for settling in [false, true] {
        let mut system = ForceSystem::<T>::new();
        let body = system.add_body();
        let parameters = Parameters { settling, ..Parameters::default() };
        let plane = Frame::ground(Pose::identity());
        let spring = ExponentialSpring::new(plane, Station::on(body, Point3::origin()), parameters);
        system.add(spring.expect("valid")).expect("exists");
        slides_or_is_refused(&system, body, 0.0, 0.5);
    }
}

fn balls<T: Real>() {
    let mut system = ForceSystem::<T>::new();
    let body = system.add_body();
    let parameters = hertz_contact::Parameters {
        effective_modulus: T::lit(1e6),
        static_friction: T::lit(0.7),
        dynamic_friction: T::lit(0.5),
        ..hertz_contact::Parameters::default()
    };
    let ball = (Station::on(body, Point3::origin()), T::lit(0.1));
    let contact = HertzContact::on_half_space(Frame::ground(Pose::identity()), ball, parameters);
    system.add(contact.expect("valid")).expect("exists");
    slides_or_is_refused(&system, body, 0.099, 0.5);
}

#[test]
fn a_spring_that_slides_has_its_kinetic_friction_or_is_refused() {
    springs::<f64>();
    springs::<f32>();
}

#[test]
fn a_ball_that_slides_has_its_dynamic_friction_or_is_refused() {
    balls::<f64>();
    balls::<f32>();
}
