//! Observers of a run: where a body is at a time, and whether it comes to rest.

use force_elements::nalgebra::Vector3;
use force_elements::{BodyIndex, ContactDesign, State};

use super::{Finding, GRAVITY, MU_STATIC, Method};

pub(super) fn place(state: &State<f64>, body: BodyIndex) -> Vector3<f64> {
    state.positions().pose(body).translation.vector
}

/// The place and velocity of the middle of a box's lower side, which is this far from its center: what slides, while the box
/// above it leans.
pub(super) fn sole(state: &State<f64>, body: BodyIndex, below: f64) -> (Vector3<f64>, Vector3<f64>) {
    let (X_GB, V_GB) = (state.positions().pose(body), state.velocities().velocity(body));
    let lever = X_GB.rotation * Vector3::new(0.0, 0.0, -below);
    (X_GB.translation.vector + lever, V_GB.linear + V_GB.angular.cross(&lever))
}

pub(super) fn lean_of(state: &State<f64>, body: BodyIndex) -> f64 {
    let z = state.positions().pose(body).rotation * Vector3::z();
    z.x.atan2(z.z)
}

/// The speed of a body, with that of a point on it at this distance from its origin as it turns.
pub(super) fn speed(state: &State<f64>, body: BodyIndex, radius: f64) -> f64 {
    let velocity = state.velocities().velocity(body);
    velocity.linear.norm() + radius * velocity.angular.norm()
}

/// The value where a run first is at a time or later.
#[derive(Debug, Clone, Copy)]
pub(super) struct At<V> {
    pub(super) time: f64,
    value: Option<V>,
}

impl<V: Copy> At<V> {
    pub(super) fn new(time: f64) -> Self {
        Self { time, value: None }
    }

    pub(super) fn see(&mut self, time: f64, value: V) {
        if self.value.is_none() && time >= self.time - 1e-9 {
            self.value = Some(value);
        }
    }

    pub(super) fn get_or(&self, otherwise: V) -> V {
        self.value.unwrap_or(otherwise)
    }
}

/// The part of an end of a run that must be at rest: speed at the end, and displacement in the last second \[m/s\].
const REST: f64 = 1e-6;

const CREEP: f64 = 1e-7;

/// Sees whether a body is at rest, up to the accuracy of explicit error control, which lets stiff springs jitter.
pub(super) struct Rest {
    pub(super) accuracy: f64,
    second: At<Vector3<f64>>,
    pub(super) place: Vector3<f64>,
    speed: f64,
}

impl Rest {
    pub(super) fn until(end: f64, method: Method) -> Self {
        let accuracy = if let Method::DormandPrince(accuracy) = method { accuracy } else { 0.0 };
        Self { accuracy, second: At::new(end - 1.0), place: Vector3::repeat(f64::NAN), speed: f64::NAN }
    }

    pub(super) fn see(&mut self, time: f64, place: Vector3<f64>, speed: f64) {
        self.second.see(time, place);
        (self.place, self.speed) = (place, speed);
    }

    pub(super) fn findings(&self) -> [Finding; 2] {
        let creep = (self.place - self.second.get_or(Vector3::repeat(f64::NAN))).norm();
        [
            Finding::new(self.speed, REST.max(10.0 * self.accuracy)),
            Finding::new(creep, CREEP.max(0.1 * self.accuracy)),
        ]
    }
}

/// By how much a value is off, of what is expected.
pub(super) fn relative(value: f64, expected: f64) -> f64 {
    value / expected - 1.0
}

/// How far friction springs of a body are drawn out by this acceleration \[m\].
pub(super) fn drawn_out(acceleration: f64, design: &ContactDesign) -> f64 {
    acceleration * (design.step / 0.18).powi(2)
}

/// The way to a stop from the place and speed at the time from which it is measured; it may be off by this shift, beside what a
/// step and the springs make.
pub(super) fn way(
    from: At<(f64, f64)>,
    to: f64,
    deceleration: f64,
    shift: f64,
    design: &ContactDesign,
) -> Finding {
    let (start, speed) = from.get_or((f64::NAN, f64::NAN));
    let expected = speed * speed / (2.0 * deceleration);
    let allowed = speed * design.step + drawn_out(MU_STATIC * GRAVITY, design) + shift;
    Finding::new(relative(to - start, expected), allowed / expected)
}
