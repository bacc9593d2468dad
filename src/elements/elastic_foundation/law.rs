//! The law of one spring of the bed.
//!
//! It gives the whole force of a spring, over any number: evaluation uses the scalar, derivatives use dual numbers.
//! Vectors enter by their squares, since forces are along the stretch and along the velocity.

use super::Material;
use crate::elements::contact_law::ContactLaw;
use crate::math::Number;

/// A material, with the terms shared by all its springs computed once.
#[derive(Debug, Clone, Copy)]
pub(super) struct Law<S: Number> {
    /// Dissipation, and friction without anchors.
    pub(super) contact: ContactLaw<S>,
    pub(super) material: Material<S>,
}

/// Friction, as the factors of stretch and slip velocity.
///
/// With an anchor, a load that friction can hold is held without creep, from rest and after sliding. A block of 10 kg on
/// a slope of 15° moves by less than 1e-14 m a second in steps of 0.1, 1 and 5 ms, where it creeps at 4 mm/s without
/// anchors; with adaptive steps it jitters within their accuracy. A load that is applied suddenly stretches the springs
/// by up to twice their final stretch.
///
/// Each spring has its own anchor, instead of one anchor per contact for the resultant. The anchors therefore resist spin
/// as well as slip, in contacts of any shape such as a peg in a hole. As a body rolls, springs enter at rest and leave
/// with their memory. The cost is a state with one place for each spring. A spring in two other surfaces at once has an
/// anchor on each, as long as there are no more anchors than springs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Friction<S> {
    /// The factor of the stretch \[N/m\].
    pub(super) elastic: S,
    /// The factor of the velocity \[N·s/m\], for the damper and viscous friction.
    pub(super) damping: S,
    pub(super) viscous: S,
    /// Whether the spring has yielded.
    pub(super) slips: bool,
}

impl<S: Number> Material<S> {
    /// The elastic force `k a x`, of an area and a depth or of any two factors of the displaced volume.
    #[inline]
    pub(super) fn elastic_force(&self, [a, x]: [S; 2]) -> S {
        self.stiffness * a * x
    }
}

impl<S: Number> Law<S> {
    pub(super) fn new(material: Material<S>, transition_velocity: S) -> Self {
        let friction = [material.static_friction, material.dynamic_friction, material.viscous_friction];
        Self { contact: ContactLaw::new(material.dissipation, friction, transition_velocity), material }
    }

    /// The normal force, and its ratio to the elastic force.
    #[inline]
    pub(super) fn press(&self, elastic_force: S, depth_rate: S) -> (S, S) {
        let factor = self.contact.normal_factor(depth_rate);
        (elastic_force * factor, factor)
    }

    /// Stiffness \[N/m\] and viscosity \[N·s/m\] along the surface, of a spring of this area.
    #[inline]
    pub(super) fn grip(&self, area: S) -> [S; 2] {
        [self.material.tangential_stiffness * area, self.material.tangential_viscosity * area]
    }

    /// Friction from the squares of stretch and velocity and their product; with an anchor if there is an area.
    #[inline]
    pub(super) fn friction(&self, area: Option<S>, squares: [S; 3], normal_force: S) -> Friction<S> {
        let zero = S::zero();
        let viscous = match area {
            Some(area) if area > zero => return self.hold(self.grip(area), squares, normal_force),
            // A vertex of upright faces. With a limit of zero, `hold` has a derivative by the coefficient of friction.
            Some(_) => normal_force * self.contact.viscous_friction,
            None => normal_force * self.contact.friction_factor(squares[2]),
        };
        Friction { elastic: zero, damping: zero, viscous, slips: true }
    }

    /// Friction with an anchor, from the squares of stretch and velocity and their product.
    ///
    /// The spring acts first, with as much of its force as the limit allows; then the damper acts likewise. Because the
    /// spring comes first, the anchor is independent of the velocity: it trails a slipping spring at the full limit, and
    /// friction equals the limit at any speed.
    #[inline]
    fn hold(&self, [k, c]: [S; 2], [ss, sv, vv]: [S; 3], normal_force: S) -> Friction<S> {
        let (zero, one) = (S::zero(), S::lit(1.0));
        let limit = self.contact.holding_coefficient(vv) * normal_force;
        let viscous = self.contact.viscous_friction * normal_force;
        let limit_squared = limit * limit;
        let squared = k * k * ss;
        // At the limit the spring slips, and only a damper that pulls back can act.
        let slips = squared >= limit_squared;
        if !slips && squared + k * c * sv * S::lit(2.0) + c * c * vv <= limit_squared {
            return Friction { elastic: -k, damping: -c, viscous, slips };
        }
        let (stretch, speed) = (ss.sqrt(), vv.sqrt());
        let elastic = if !slips {
            -k
        } else if squared > zero {
            -(limit / stretch)
        } else {
            // Without stretch or stiffness, under a limit of zero.
            zero
        };
        // The damper's force at the limit, over the limit: the greatest x with |e + x v/|v|| = 1, where e is the elastic
        // force over the limit. It uses ratios of forces, since fourth powers of the forces of light or heavy bodies are
        // out of range in `f32`.
        let greatest = if speed <= zero {
            zero
        } else if slips && squared > zero {
            // A damper that pulls back acts until it would exceed the limit on the other side.
            let along = sv / stretch / speed;
            if along >= zero { zero } else { along * S::lit(-2.0) }
        } else if slips {
            one
        } else {
            // In this order, since the derivative of `k/limit` may be out of range in `f32` if a vertex barely touches.
            let along = k * sv / limit / speed;
            let left = one - k * ss / limit * k / limit;
            let root = (along * along + left).sqrt();
            if along > zero { left / (along + root) } else { root - along }
        };
        // A viscosity of zero counts as a small one, which acts fully only if the spring is below the limit.
        let damping = if c * speed < limit * greatest {
            -c
        } else if speed > zero {
            -(limit * greatest / speed)
        } else {
            zero
        };
        Friction { elastic, damping, viscous, slips }
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::Vector3;

    use super::*;

    #[test]
    fn spring_and_damper_together_keep_within_the_limit_and_never_drive() {
        let wave = |i: u32| (f64::from(i) * 1.618_034).sin() * 3.0;
        let mut sliding = 0;
        for i in 0..20_000 {
            let vector = |k: u32| Vector3::new(wave(i + k), wave(7 * i + k), 0.0);
            // One newton of friction for each of normal force.
            let material = Material::<f64>::new(1.0).with_friction(1.0, 1.0, 0.0).with_grip(2.0, 0.5);
            let law = Law::new(material, 0.01);
            let (stretch, velocity, limit) = (vector(1), vector(2), 3.0 * wave(3 * i).abs());
            let squares = [stretch.norm_squared(), stretch.dot(&velocity), velocity.norm_squared()];
            let Friction { elastic, damping, slips, .. } = law.hold(law.grip(1.0), squares, limit);
            let (elastic, damping) = (stretch * elastic, velocity * damping);
            // Squares, a root and a quotient.
            assert!((elastic + damping).norm() <= limit * (1.0 + 1e-14), "{i}");
            assert!(damping.dot(&velocity) <= 0.0 && elastic.dot(&stretch) <= 0.0, "{i}");
            assert_eq!(slips, 2.0 * stretch.norm() >= limit);
            sliding += u32::from(slips);
            // Nothing is withheld: the damper acts fully, or the limit is reached.
            let full = (damping + velocity * 0.5).norm() < 1e-14;
            assert!(full || (elastic + damping).norm() >= limit * (1.0 - 1e-12), "{i}");
        }
        assert!(sliding > 5000 && sliding < 19_000, "{sliding}");
    }

    /// The bodies of which single precision computes contacts as well as others: of a nanogram, and of 1e16 kg.
    #[test]
    fn friction_of_light_and_heavy_bodies_is_in_proportion() {
        let wave = |i: u32| (f64::from(i) * 1.618_034).sin() * 3.0;
        for i in 0..500 {
            let vector = |k: u32| Vector3::new(wave(i + k), wave(7 * i + k), 0.0);
            let (stretch, velocity, load) = (vector(1), vector(2), 3.0 * wave(3 * i).abs());
            let squares = [stretch.norm_squared(), stretch.dot(&velocity), velocity.norm_squared()];
            let material = Material::<f64>::new(1.0).with_friction(1.0, 1.0, 0.0).with_grip(2.0, 0.5);
            let law = Law::new(material, 0.01);
            let exact = law.hold(law.grip(1.0), squares, load);
            for scale in [1e-12_f32, 1.0, 1e17] {
                let material =
                    Material::new(scale).with_friction(1.0, 1.0, 0.0).with_grip(2.0 * scale, 0.5 * scale);
                let law = Law::new(material, 0.01);
                let scaled = law.hold(law.grip(1.0), squares.map(f32::lit), f32::lit(load) * scale);
                for (of, from) in [(scaled.elastic, exact.elastic), (scaled.damping, exact.damping)] {
                    // A difference of numbers that are rounded to 6e-8.
                    assert!((f64::from(of / scale) - from).abs() < 1e-5, "{i} {scale}: {of} {from}");
                }
            }
        }
    }
}
