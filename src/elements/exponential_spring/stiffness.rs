//! The stiffness and damping of the spring, by which a host chooses its step.

use nalgebra::ComplexField;

use crate::elements::exponential_spring::{ExponentialSpring, Parameters};
use crate::framework::{AtDynamics, Stiffnesses};
use crate::math::Real;

/// The share of `d1` above which a normal force counts as contact: seven decay lengths above the height where it is `d1`.
const TOUCH: f64 = 1e-3;

impl<T: Real> ExponentialSpring<T> {
    /// Reports the friction spring, which resists whenever the station touches; the exponential at present; and if the
    /// station may strike, at the speed that the host states or the present one of a station that touches, the exponential then.
    ///
    /// A mass `m` that strikes at `v` turns where the exponential has stored `U = m·∫u/(1 + cz·u) du` over the speeds up to
    /// `v`. With the slope `d2·f`, `f = d2·U`, it then has `ω² = (d2·v)²·(y − ln(1 + y))/y²` and the damping rate
    /// `γ = cz·d2·U/m = d2·v·(y − ln(1 + y))/y` with `y = cz·v`, whatever it weighs. Twice the frequency is reported: at
    /// half of the bound of an oscillation an impact gains less than 1 % of its energy, at the bound it doubles it.
    pub(super) fn report_spring(&self, at: &AtDynamics<'_, T, Self>, stiffnesses: &mut Stiffnesses<'_, T>) {
        let Parameters { d1, d2, normal_viscosity, friction_elasticity, friction_viscosity, .. } =
            *at.parameters;
        let ends = [self.station.body, self.plane.body].map(|body| (body, at.position.p_GS));
        let pressed = at.dynamics.normal_force_elastic.max(at.dynamics.normal_force);
        let touches = pressed > d1 * T::lit(TOUCH);
        if touches || stiffnesses.impact_speed() > 0.0 {
            stiffnesses.between(friction_elasticity.to_f64(), friction_viscosity.to_f64(), ends);
        }
        let (d2, cz) = (d2.to_f64(), normal_viscosity.to_f64());
        let damping = cz * at.dynamics.normal_force_elastic.to_f64();
        let normal_G = at.position.X_GP.rotation.matrix().column(2).map(T::to_f64);
        stiffnesses.in_direction(d2 * pressed.to_f64(), damping, normal_G, ends);
        let approach = if touches { (-at.velocity.v_PS.z.to_f64()).max(0.0) } else { 0.0 };
        let speed = stiffnesses.impact_speed().max(approach);
        let y = cz * speed;
        // `(y − ln(1 + y))/y²`, of which little is left of small `y`.
        let share = if y > 1e-4 { (y - ComplexField::ln_1p(y)) / (y * y) } else { 0.5 - y / 3.0 };
        stiffnesses.struck(2.0 * d2 * speed * ComplexField::sqrt(share), y * d2 * speed * share, ends);
    }
}
