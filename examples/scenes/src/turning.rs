//! The angles of a bushing by integration of their rates, without reading them off an orientation.

use force_elements::nalgebra::{Quaternion, Rotation3, UnitQuaternion, Vector3};

/// Numbers that look random and are the same everywhere (splitmix64).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0xd1b5_4a32_d192_ed03))
    }

    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let high_bits = u32::try_from((z ^ (z >> 31)) >> 32).expect("32 bits are left");
        low + (high - low) * f64::from(high_bits) / f64::from(u32::MAX)
    }

    pub fn vector(&mut self, range: f64) -> Vector3<f64> {
        Vector3::from_fn(|_, _| self.between(-range, range))
    }
}

/// `q̇ = N(q) ω` with ω in F: ω is `q̇_x` about x, `q̇_y` about y turned by `q_x`, and `q̇_z` about what z
/// has been turned into by both. Solved as three equations, not by a formula for the inverse.
pub fn rates(q: &Vector3<f64>, w_F: &Vector3<f64>) -> Vector3<f64> {
    let about_x = Rotation3::from_axis_angle(&Vector3::x_axis(), q.x);
    let about_y = about_x * Rotation3::from_axis_angle(&Vector3::y_axis(), q.y);
    let axes = [Vector3::x(), about_x * Vector3::y(), about_y * Vector3::z()];
    let matrix = force_elements::nalgebra::Matrix3::from_columns(&axes);
    matrix.lu().solve(w_F).expect("regular")
}

/// The orientation that three turns one after the other lead to.
pub fn orientation(q: &Vector3<f64>) -> Rotation3<f64> {
    Rotation3::from_axis_angle(&Vector3::x_axis(), q.x)
        * Rotation3::from_axis_angle(&Vector3::y_axis(), q.y)
        * Rotation3::from_axis_angle(&Vector3::z_axis(), q.z)
}

/// A turning M: its orientation in F, and the angles, each from its own differential equation.
#[derive(Clone)]
pub struct Turning {
    pub q: Vector3<f64>,
    R_FM: UnitQuaternion<f64>,
}

impl Turning {
    pub fn new(q: Vector3<f64>) -> Self {
        Self { q, R_FM: UnitQuaternion::from_rotation_matrix(&orientation(&q)) }
    }

    pub fn R_FM(&self) -> Rotation3<f64> {
        self.R_FM.to_rotation_matrix()
    }

    /// Advances both by the Runge–Kutta method of order 4, with `w_F` a function of time and orientation.
    pub fn advance(&mut self, time: f64, h: f64, w_F: &dyn Fn(f64, &UnitQuaternion<f64>) -> Vector3<f64>) {
        type Slope = (Quaternion<f64>, Vector3<f64>);
        let slope = |time: f64, R: Quaternion<f64>, q: &Vector3<f64>| -> Slope {
            let w = w_F(time, &UnitQuaternion::new_normalize(R));
            (Quaternion::from_imag(w) * R * 0.5, rates(q, &w))
        };
        let (R, q) = (self.R_FM.into_inner(), self.q);
        let k1 = slope(time, R, &q);
        let k2 = slope(time + h / 2.0, R + k1.0 * (h / 2.0), &(q + k1.1 * (h / 2.0)));
        let k3 = slope(time + h / 2.0, R + k2.0 * (h / 2.0), &(q + k2.1 * (h / 2.0)));
        let k4 = slope(time + h, R + k3.0 * h, &(q + k3.1 * h));
        self.R_FM = UnitQuaternion::new_normalize(R + (k1.0 + (k2.0 + k3.0) * 2.0 + k4.0) * (h / 6.0));
        self.q += (k1.1 + (k2.1 + k3.1) * 2.0 + k4.1) * (h / 6.0);
    }
}
