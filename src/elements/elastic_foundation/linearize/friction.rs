//! Friction of one spring with an anchor, and its derivatives.

use nalgebra::{Matrix3, Point3, Vector3};

use super::contact::{Contact, Spring};
use crate::elements::elastic_foundation::law::Friction;
use crate::math::{Dual, Number, Real};

/// Friction with an anchor: `A s + B v` with the stretch and the slip velocity of the base.
#[derive(Debug, Clone, Copy)]
pub(super) struct Held<T: Real> {
    /// From the anchor to the base, in Ground.
    from_anchor: Vector3<T>,
    pub(super) stretch: Vector3<T>,
    /// Velocity of the base with its part along the normal, and without.
    velocity: Vector3<T>,
    pub(super) slip: Vector3<T>,
    /// The squares of stretch and slip velocity, and their product.
    pub(super) squares: [T; 3],
    /// The factors `A` and `B`, with their derivatives by `s·s`, `s·v`, `v·v` and the normal force.
    elastic: Dual<T, 4>,
    damping: Dual<T, 4>,
    pub(super) slips: bool,
    /// The distance of the spring's pull from the limit \[N\].
    pub(super) margin: T,
}

/// Derivatives of a vector by the shift of a base, by its velocity and by the normal force.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_field_names, reason = "derivatives are named by what they are by")]
pub(super) struct Slopes<T: Real> {
    pub(super) by_stretch: Matrix3<T>,
    pub(super) by_shift: Matrix3<T>,
    pub(super) by_velocity: Matrix3<T>,
    pub(super) by_normal_force: Vector3<T>,
}

impl<T: Real> Contact<'_, T> {
    /// Friction of a spring with an anchor, given in the frame of the other surface; `None` for one that has just come
    /// into contact.
    pub(super) fn hold(&self, spring: &Spring<T>, anchor: Option<Point3<T>>) -> Held<T> {
        let p_GB = self.X_GM.translation.vector + spring.base;
        let from_anchor = anchor.map_or_else(Vector3::zeros, |anchor| p_GB - (self.X_GO * anchor).coords);
        let velocity = self.V.linear + self.V.angular.cross(&spring.base);
        let along = |v: &Vector3<T>| v - spring.normal * spring.normal.dot(v);
        let (stretch, slip) = (along(&from_anchor), along(&velocity));
        let squares = [stretch.norm_squared(), stretch.dot(&slip), slip.norm_squared()];
        // Without an anchor there is no stretch, for any motion of the base.
        let is_varied = |i| i == 2 || anchor.is_some();
        let vary = |i| if is_varied(i) { Dual::variable(squares[i], i) } else { Dual::of(squares[i]) };
        let normal_force = Dual::variable(spring.normal_force, 3);
        let law = &self.constant_law;
        let Friction { elastic, damping, viscous, slips } =
            law.hold(law.grip(Dual::of(spring.area)), [0, 1, 2].map(vary), normal_force);
        let [stiffness, _] = self.law.grip(spring.area);
        let limit = self.law.contact.holding_coefficient(squares[2]) * spring.normal_force;
        Held {
            from_anchor,
            stretch,
            velocity,
            slip,
            squares,
            elastic: if anchor.is_some() { elastic } else { Dual::zero() },
            damping: damping - viscous,
            slips,
            margin: (limit - stiffness * squares[0].sqrt()).abs(),
        }
    }
}

impl<T: Real> Held<T> {
    /// The friction force on the mesh.
    pub(super) fn force(&self) -> Vector3<T> {
        self.stretch * self.elastic.value + self.slip * self.damping.value
    }

    /// The derivatives of the friction force.
    pub(super) fn slopes(&self, contact: &Contact<'_, T>, spring: &Spring<T>) -> Slopes<T> {
        self.slopes_of([self.elastic, self.damping], contact, spring)
    }

    /// The derivatives of the stretch at which the spring exerts its force, for an anchor that is dragged.
    pub(super) fn slopes_of_lead(&self, contact: &Contact<'_, T>, spring: &Spring<T>) -> Slopes<T> {
        let [stiffness, _] = contact.law.grip(spring.area);
        self.slopes_of([self.elastic * Dual::of(stiffness.recip()), Dual::zero()], contact, spring)
    }

    /// The derivatives of `A s + B v`.
    fn slopes_of(&self, [a, b]: [Dual<T, 4>; 2], contact: &Contact<'_, T>, spring: &Spring<T>) -> Slopes<T> {
        let (s, v, n) = (&self.stretch, &self.slip, &spring.normal);
        let two = T::lit(2.0);
        let by = |factor: T, by_s: [T; 2], by_v: [T; 2], with: [T; 2]| {
            Matrix3::from_diagonal_element(factor)
                + s * (s * by_s[0] + v * by_s[1]).transpose() * with[0]
                + v * (s * by_v[0] + v * by_v[1]).transpose() * with[1]
        };
        let one = [T::one(); 2];
        let [ss, sv, vv, _] = a.slopes;
        let [tt, tw, ww, _] = b.slopes;
        let by_s = by(a.value, [ss * two, sv], [tt * two, tw], one);
        let by_v = by(b.value, [sv, vv * two], [tw, ww * two], one);
        let along = Matrix3::identity() - n * n.transpose();
        let mut stretch = along;
        let mut slip = along * contact.V.angular.cross_matrix();
        if let Some(H) = &spring.gradient {
            let turned = |v: &Vector3<T>| H * n.dot(v) + n * (H * v).transpose();
            stretch -= turned(&self.from_anchor);
            slip -= turned(&self.velocity);
        }
        Slopes {
            by_stretch: by_s * along,
            by_shift: by_s * stretch + by_v * slip,
            by_velocity: by_v * along,
            by_normal_force: s * a.slopes[3] + v * b.slopes[3],
        }
    }
}
