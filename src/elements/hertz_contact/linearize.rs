//! Derivatives of the contact, its branches, and the stiffness that it reports.

use core::array::from_fn;

use nalgebra::{ComplexField, Matrix3, Vector3};

use super::{HertzContact, Parameters, Position, Velocity};
use crate::framework::variables::Numbers;
use crate::framework::{AtDynamics, Between, Blocks, Slopes, Stiffnesses, varied};
use crate::math::{Dual, Number, Real, SpatialForce, cross_times, outer, times_cross};
use crate::mechanics::Checked;

/// The number of parameters.
const NUMBERS: usize = <Parameters<f64> as Numbers<f64>>::COUNT;

impl<T: Real> HertzContact<T> {
    /// The derivatives of the normal by a shift of the ball's center.
    fn gradient(&self, at: &Position<T>) -> Matrix3<T> {
        let Some(other) = self.surface.1 else { return Matrix3::zeros() };
        let n = at.normal_G;
        (Matrix3::identity() - n * n.transpose()) / (other + self.ball.1 - at.depth)
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
        let Position { normal_G: n, depth, elastic_force, .. } = at.position;
        if *depth <= T::zero() {
            return;
        }
        let Velocity { depth_rate, slip_G: slip } = at.velocity;
        let [ball, surface] = self.bodies();
        let (center, radius) = &self.ball;
        let p_GC = at.positions.pose(Checked(ball)) * center.p_B;
        let H = self.gradient(at.position);
        let velocity = |body| at.velocities.velocity_of_frame(at.positions, Checked(body), &p_GC);
        let V = velocity(ball) - velocity(surface);
        // From the contact point to the center, along the normal.
        let height = *radius - *depth * T::lit(0.5);
        let law = at.parameters.contact_law();
        let [g, along] = law.friction_slopes(slip);
        let factor = law.normal_factor(*depth_rate);
        let normal_force = *elastic_force * factor;
        let damping = if factor > T::zero() { law.damping(*elastic_force) } else { T::zero() };
        let stiffness = *elastic_force / *depth * T::lit(1.5) * factor;
        let per_newton = n - slip * g;
        let force = per_newton * normal_force;
        let lever = n * -height;
        let half = T::lit(0.5);

        // Along the surface, on which the slip is.
        let by_speed = outer(&(slip * along), slip, g);
        // By the velocity of the contact point; and by the velocity of the center and the spin of the ball.
        let across = n * (g * normal_force) - per_newton * damping;
        let by_velocity = across * n.transpose() - by_speed * normal_force;
        let by_spin = -times_cross(&by_velocity, &lever);
        // By a shift of the center: the velocity of the contact point, its components along the turning normal, and the
        // load.
        let lever_by_shift = -H * height - n * n.transpose() * half;
        let spun = cross_times(&V.angular, &lever_by_shift);
        let turned = (H * slip).transpose();
        let by_shift = by_velocity * spun - per_newton * (turned * damping + n.transpose() * stiffness)
            + (H - by_speed * (H * *depth_rate - n * turned)) * normal_force;
        let torque_by = |force_by: &Matrix3<T>| cross_times(&lever, force_by);
        blocks.add_between(&Between {
            bodies: [surface, ball],
            p_GM: p_GC,
            F_GM: SpatialForce::new(lever.cross(&force), force),
            V_M: V,
            by_position: Slopes::Coupled([
                [Matrix3::zeros(), torque_by(&by_shift) - cross_times(&force, &lever_by_shift)],
                [Matrix3::zeros(), by_shift],
            ]),
            by_velocity: Slopes::Coupled([
                [torque_by(&by_spin), torque_by(&by_velocity)],
                [by_spin, by_velocity],
            ]),
        });
    }

    pub(super) fn linearize_by_parameters(&self, at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
        let Position { normal_G: n, point_G, depth, contact_radius, .. } = at.position;
        if *depth <= T::zero() {
            return;
        }
        let Velocity { depth_rate, slip_G: slip } = at.velocity;
        let [ball, surface] = self.bodies();
        let parameters = at.parameters.lift(&mut varied::<T, NUMBERS>(0));
        let law = parameters.contact_law();
        let elastic_force = parameters.elastic_force(Dual::of(*contact_radius), Dual::of(*depth));
        let normal_force = elastic_force * law.normal_factor(Dual::of(*depth_rate));
        let viscosity = normal_force * law.friction_factor(Dual::of(slip.norm_squared()));
        let force = n.zip_map(slip, |n, slip| normal_force * Dual::of(n) - viscosity * Dual::of(slip));
        let changes: [_; NUMBERS] =
            from_fn(|i| SpatialForce::new(Vector3::zeros(), force.map(|component| component.slopes[i])));
        blocks.add_between_by_variables([surface, ball], point_G, blocks.parameter(0), &changes);
    }

    /// Reports the present contact; or, if the bodies may meet and this is deeper, the contact at the turning point of
    /// an impact.
    ///
    /// These are the slope `3/2 f/δ` of the greater of `f_n` and `f_e`, the damping `3/2 c f_e`, and friction as a
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
            // 2/5 k δ^{5/2} is the stored energy plus the kinetic energy, of the lighter body at most.
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
        let counted = law.report_friction(elastic * factor, ends, stiffnesses);
        stiffnesses.between(1.5 * slope * factor, damping - counted, ends);
        stiffnesses.load(elastic * factor, 0.0, ends);
    }
}
