//! The stiffness and damping of the spring, by which a host chooses its step.

use crate::elements::exponential_spring::{ExponentialSpring, Parameters};
use crate::framework::{AtDynamics, Stiffnesses};
use crate::math::Real;

impl<T: Real> ExponentialSpring<T> {
    /// Reports the friction spring, which resists whenever the station touches; the exponential at present; and if the
    /// station may strike at a speed `v`, the exponential then. At the turn of a mass `m` it has stored `f/d2 = m·v²/2`, so
    /// that its slope `d2·f` makes the mass turn with `ω = d2·v/√2` whatever it weighs, and `cz·f` damps at `cz·d2·v²/2`.
    pub(super) fn report_spring(&self, at: &AtDynamics<'_, T, Self>, stiffnesses: &mut Stiffnesses<'_, T>) {
        let Parameters { d2, normal_viscosity, friction_elasticity, friction_viscosity, .. } = *at.parameters;
        let ends = [self.station.body, self.plane.body].map(|body| (body, at.position.p_GS));
        stiffnesses.between(friction_elasticity.to_f64(), friction_viscosity.to_f64(), ends);
        let (d2, cz) = (d2.to_f64(), normal_viscosity.to_f64());
        let pressed = at.dynamics.normal_force_elastic.max(at.dynamics.normal_force).to_f64();
        stiffnesses.between(d2 * pressed, cz * pressed, ends);
        let speed = stiffnesses.impact_speed();
        let frequency = d2 * speed / core::f64::consts::SQRT_2;
        stiffnesses.struck(frequency, 0.5 * cz * d2 * speed * speed, ends);
    }
}
