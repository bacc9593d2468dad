//! The stiffness and damping of the contact, by which a host chooses its step.

use nalgebra::ComplexField;

use crate::elements::hertz_contact::HertzContact;
use crate::framework::{AtDynamics, Stiffnesses};
use crate::math::Real;

impl<T: Real> HertzContact<T> {
    /// Reports the contact as it is; or if the bodies may meet, as it is where they turn around, if that is deeper.
    ///
    /// This is the slope `3/2 f/δ` of the greater of `f_n` and `f_e`, the damping `3/2 c f_e`, and friction as a damper of its
    /// slope at rest, `((2μ_s − μ_d)/v_t + μ_v) f`. The turn is that of an impact of the lighter body.
    pub(super) fn report_contact(&self, at: &AtDynamics<'_, T, Self>, stiffnesses: &mut Stiffnesses<'_, T>) {
        let law = at.parameters.contact_law();
        let [ball, other] = self.bodies();
        // f_e = k δ^{3/2}
        let k = (at.parameters.effective_modulus * self.effective_radius.sqrt()).to_f64() * (4.0 / 3.0);
        let (mut depth, mut rate) = (at.position.depth.to_f64(), at.velocity.depth_rate.to_f64());

        let speed = stiffnesses.impact_speed();
        let mass = stiffnesses.mass(ball).min(stiffnesses.mass(other));
        if speed > 0.0 && mass.is_finite() && k > 0.0 {
            // 2/5 k δ^{5/2} is what is stored and what the motion brings, of the lighter body at most.
            let energy = at.position.potential_energy.to_f64() + 0.5 * mass * speed * speed;
            depth = depth.max(ComplexField::powf(2.5 * energy / k, 0.4));
            rate = rate.max(speed);
        }
        if depth <= 0.0 {
            return;
        }
        let factor = law.normal_factor(T::lit(rate)).to_f64().max(1.0);
        let slope = k * ComplexField::sqrt(depth);
        let elastic = slope * depth;
        let rubbing = elastic * factor * law.friction_factor(T::zero()).to_f64();
        let damping = law.damping(T::lit(elastic)).to_f64();
        let ends = [ball, other].map(|body| (body, at.position.point_G));
        stiffnesses.between(1.5 * slope * factor, damping, ends);
        stiffnesses.rubbing(rubbing - damping, ends);
        stiffnesses.loaded(elastic * factor, 0.0, ends);
    }
}
