//! Derivatives of the contact, its branches, and the stiffness that it reports.

use core::array::from_fn;

use nalgebra::{ComplexField, Matrix3, Vector3};

use super::{HertzContact, Parameters, Velocity};
use crate::elements::laws::Touch;
use crate::elements::meshes::{MOTION, Sums};
use crate::framework::variables::Numbers;
use crate::framework::{AtDynamics, Between, Blocks, Slopes, Stiffnesses};
use crate::math::{Dual, Number, Real, SpatialForce, dot, outer, varied};
use crate::mechanics::Checked;

/// The number of parameters.
const NUMBERS: usize = <Parameters<f64> as Numbers<f64>>::COUNT;

impl<T: Real> HertzContact<T> {
    /// The contact as a spring whose base is the ball's center.
    fn touch(at: &AtDynamics<'_, T, Self>) -> Touch<T> {
        let (depth, Velocity { depth_rate, slip_G: slip_F }) = (at.position.depth, *at.velocity);
        let (area, p_FB) = (T::zero(), Vector3::zeros());
        Touch { time: at.time, area, depth, depth_rate, p_FB, slip_F, n_F: at.position.normal_G }
    }

    /// The force on the ball.
    #[inline]
    fn force<S: Number<Scalar = T>>(&self, parameters: &Parameters<S>, at: &Touch<S>) -> Vector3<S> {
        let law = parameters.contact_law();
        let contact_radius = (S::of(self.effective_radius) * at.depth).sqrt();
        let elastic_force = parameters.elastic_force(contact_radius, at.depth);
        let normal_force = elastic_force * law.normal_factor(at.depth_rate);
        let viscosity = normal_force * law.friction_factor(dot(&at.slip_F, &at.slip_F));
        at.n_F.zip_map(&at.slip_F, |n, slip| n * normal_force - slip * viscosity)
    }

    pub(super) fn state_branches(at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
        let depth = at.position.depth;
        if depth <= T::zero() {
            blocks.branch("apart", -depth, "m");
            return;
        }
        blocks.branch("in contact", depth, "m");
        let Velocity { depth_rate, slip_G } = at.velocity;
        let parameters = at.parameters;
        if parameters.dissipation > T::zero() {
            let margin = *depth_rate + (parameters.dissipation * T::lit(1.5)).recip();
            let name = if margin > T::zero() { "pressing" } else { "let go" };
            blocks.branch(name, margin.abs(), "m/s");
        }
        if parameters.static_friction > T::zero() {
            let margin = slip_G.norm() - parameters.transition_velocity;
            let name = if margin < T::zero() { "below transition" } else { "beyond transition" };
            blocks.branch(name, margin.abs(), "m/s");
        }
    }

    pub(super) fn linearize_by_motion(&self, at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
        if at.position.depth <= T::zero() {
            return;
        }
        let ([ball, surface], n, (center, radius)) = (self.bodies(), at.position.normal_G, &self.ball);
        let p_GM = at.positions.pose(Checked(ball)) * center.p_B;
        let velocity = |body| at.velocities.velocity_of_frame(at.positions, Checked(body), &p_GM);
        let V_M = velocity(ball) - velocity(surface);
        // The derivatives, by a shift of the center, of the normal and of the contact point at this height on it.
        let across = Matrix3::identity() - n * n.transpose();
        let gradient = self.surface.1.map(|other| across / (other + *radius - at.position.depth));
        let height = *radius - at.position.depth * T::lit(0.5);
        let follows =
            outer(&(n * T::lit(-0.5)), &n, T::one()) - gradient.map_or(Matrix3::zeros(), |H| H * height);

        let parameters = at.parameters.lift(&mut Dual::of);
        let force = self.force(&parameters, &Self::touch(at).varied::<MOTION>(gradient.as_ref()));
        let mut sums = Sums::of(V_M.angular);
        sums.add(&Vector3::zeros(), (&(n * -height), Some(&follows)), &force, None);
        let (F_GM, by) = sums.about_origin();
        let [by_position, by_velocity] = by.map(Slopes::Coupled);
        blocks.add_between(&Between { bodies: [surface, ball], p_GM, F_GM, V_M, by_position, by_velocity });
    }

    pub(super) fn linearize_by_parameters(&self, at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
        if at.position.depth <= T::zero() {
            return;
        }
        let ([ball, surface], point_G) = (self.bodies(), &at.position.point_G);
        let parameters = at.parameters.lift(&mut varied::<T, NUMBERS>(0));
        let force = self.force(&parameters, &Self::touch(at).lift(&mut Dual::of));
        let changes: [_; NUMBERS] =
            from_fn(|i| SpatialForce::new(Vector3::zeros(), force.map(|component| component.slopes[i])));
        blocks.add_between_by_variables([surface, ball], point_G, blocks.parameter(0), &changes);
    }

    /// Reports the present contact or, if the bodies may meet and it is deeper, the contact at the turning point of an
    /// impact.
    ///
    /// It reports the slope `3/2 f/δ` of the greater of `f_n` and `f_e`, the damping `3/2 c f_e`, and friction as a
    /// damper with its slope at rest, `((2μ_s − μ_d)/v_t + μ_v) f`. The impact is that of the lighter body.
    pub(super) fn report_contact(&self, at: &AtDynamics<'_, T, Self>, stiffnesses: &mut Stiffnesses<'_, T>) {
        let law = at.parameters.contact_law();
        let [ball, other] = self.bodies();
        // f_e = k δ^{3/2}
        let k = (at.parameters.effective_modulus * self.effective_radius.sqrt()).to_f64() * (4.0 / 3.0);
        let (mut depth, mut rate) = (at.position.depth.to_f64(), at.velocity.depth_rate.to_f64());

        let speed = stiffnesses.impact_speed();
        let mass = stiffnesses.mass(ball).min(stiffnesses.mass(other));
        if speed > 0.0 && mass.is_finite() && k > 0.0 {
            // 2/5 k δ^{5/2} is the stored energy plus the kinetic energy, at most that of the lighter body.
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
        let damping = law.damping(T::lit(elastic)).to_f64();
        let ends = [ball, other].map(|body| (body, at.position.point_G));
        let friction = law.friction_damping(elastic * factor, stiffnesses);
        // The damping in any direction, along the normal and across it.
        let most = if friction > damping { friction } else { damping };
        stiffnesses.between(1.5 * slope * factor, most, ends);
        stiffnesses.load(elastic * factor, 0.0, ends);
    }
}
