//! Derivatives of the contact.

use core::array::from_fn;

use nalgebra::{Matrix3, Point3, Vector3};

use super::results::{Position, Velocity};
use super::{HertzContact, Parameters, Surface};
use crate::framework::variables::Numbers;
use crate::framework::{AtDynamics, Between, Blocks, Slopes, varied};
use crate::math::{Dual, Number, Real, SpatialForce, SpatialVelocity, cross_times, outer, times_cross};
use crate::mechanics::{BodyIndex, Checked};

/// The number of parameters.
const NUMBERS: usize = <Parameters<f64> as Numbers<f64>>::COUNT;

/// The ball's center relative to the surface.
struct Center<T: Real> {
    /// The surface's body, which observes, and the ball's.
    bodies: [BodyIndex; 2],
    p_GC: Point3<T>,
    /// From the contact point to the center, along the normal.
    height: T,
    V: SpatialVelocity<T>,
    /// The derivatives of the normal by a shift of the center; zero on a half-space.
    gradient: Matrix3<T>,
}

impl<T: Real> HertzContact<T> {
    fn center(&self, at: &AtDynamics<'_, T, Self>) -> Center<T> {
        let Position { normal_G: n, depth, .. } = at.position;
        let [ball, surface] = self.bodies();
        let height = self.ball.radius - *depth * T::lit(0.5);
        let p_GC = at.positions.pose(Checked(ball)) * self.ball.center.p_B;
        let [V_ball, V_surface] =
            [ball, surface].map(|body| at.velocities.velocity_of_frame(at.positions, Checked(body), &p_GC));
        let gradient = match &self.surface {
            Surface::HalfSpace(_) => Matrix3::zeros(),
            Surface::Ball(other) => {
                let distance = other.radius + self.ball.radius - *depth;
                (Matrix3::identity() - n * n.transpose()) / distance
            }
        };
        Center { bodies: [surface, ball], p_GC, height, V: V_ball - V_surface, gradient }
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
        let Center { bodies, p_GC, height, V, gradient: H } = self.center(at);
        let law = at.parameters.contact_law();
        let [g, along] = law.rubbing(slip);
        let factor = law.normal_factor(*depth_rate);
        let normal_force = *elastic_force * factor;
        let damping = if factor > T::zero() { law.damping(*elastic_force) } else { T::zero() };
        let stiffness = *elastic_force / *depth * T::lit(1.5) * factor;
        let per_newton = n - slip * g;
        let force = per_newton * normal_force;
        let lever = n * -height;
        let half = T::lit(0.5);

        // Along the surface, on which the slip is.
        let rubs = outer(&(slip * along), slip, g);
        // By the velocity of the contact point, and by that of the center and the spin of the ball.
        let across = n * (g * normal_force) - per_newton * damping;
        let by_velocity = across * n.transpose() - rubs * normal_force;
        let by_spin = -times_cross(&by_velocity, &lever);
        // By a shift of the center: velocity of the contact point, its parts along the turning normal, and load.
        let lever_by_shift = -H * height - n * n.transpose() * half;
        let spun = cross_times(&V.angular, &lever_by_shift);
        let turned = (H * slip).transpose();
        let by_shift = by_velocity * spun - per_newton * (turned * damping + n.transpose() * stiffness)
            + (H - rubs * (H * *depth_rate - n * turned)) * normal_force;
        let torque_by = |force_by: &Matrix3<T>| cross_times(&lever, force_by);
        blocks.add_between(&Between {
            bodies,
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
        let volume = Dual::of(T::lit(4.0 / 3.0) * *contact_radius * *depth);
        let normal_force = parameters.effective_modulus * volume * law.normal_factor(Dual::of(*depth_rate));
        let viscosity = normal_force * law.friction_factor(Dual::of(slip.norm_squared()));
        let force = n.zip_map(slip, |n, slip| normal_force * Dual::of(n) - viscosity * Dual::of(slip));
        let changes: [_; NUMBERS] =
            from_fn(|i| SpatialForce::new(Vector3::zeros(), force.map(|component| component.slopes[i])));
        blocks.add_between_by_variables([surface, ball], point_G, blocks.parameter(0), &changes);
    }
}
