//! The law of a linear bushing over any number.

use force_elements::laws::{Law, Outcome, Relative};
use force_elements::linear_bushing::Parameters as Axes;
use force_elements::nalgebra::Vector3;
use force_elements::{ElementError, Number, Real};

/// The law of the linear bushing within a turn, which has its derivatives by hand.
#[derive(Debug, Clone, Copy)]
pub struct Gimbal;

impl<T: Real> Law<T, Relative<T>> for Gimbal {
    const KIND: &'static str = "gimbal";
    type Parameters = Axes<T>;
    type Memory = ();

    fn evaluate<S: Number<Scalar = T>>(
        &self,
        p: &Axes<S>,
        (): &(),
        at: &Relative<S>,
    ) -> Result<Outcome<S>, ElementError> {
        let Relative { R_FM: R, p_FM, w_FM: w, v_FM: v, .. } = at;
        let (r12, r22) = (R[(1, 2)], R[(2, 2)]);
        let cy = (r12 * r12 + r22 * r22).sqrt();
        let (sx, cx, sy) = (-r12 / cy, r22 / cy, R[(0, 2)]);
        let angles = [sx.atan2(cx), sy.atan2(cy), (-R[(0, 1)]).atan2(R[(0, 0)])];
        let rate_z = (cx * w.z - sx * w.y) / cy;
        let rates = [w.x - sy * rate_z, cx * w.y + sx * w.z, rate_z];

        let q = [angles[0], angles[1], angles[2], p_FM.x, p_FM.y, p_FM.z];
        let u = [rates[0], rates[1], rates[2], v.x, v.y, v.z];
        let f: [S; 6] = core::array::from_fn(|i| -(p.stiffness[i] * q[i] + p.damping[i] * u[i]));
        let across = (f[2] - sy * f[0]) / cy;
        let mut outcome = Outcome {
            torque: Vector3::new(f[0], cx * f[1] - sx * across, sx * f[1] + cx * across),
            force: Vector3::new(f[3], f[4], f[5]),
            ..Outcome::zero()
        };
        for i in 0..6 {
            outcome.potential_energy += S::lit(0.5) * p.stiffness[i] * q[i] * q[i];
            outcome.power_dissipated += p.damping[i] * u[i] * u[i];
        }
        Ok(outcome)
    }
}
