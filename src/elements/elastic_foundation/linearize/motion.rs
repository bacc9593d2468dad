//! Derivatives of the forces by motion.

use nalgebra::{Matrix3, Matrix6, Point3, Vector3, Vector6};

use super::contact::{Contact, Spring, twist};
use super::friction::{Pressed, Rubbing};
use crate::elements::elastic_foundation::ElasticFoundation;
use crate::framework::{AtDynamics, Between, Blocks, Pair};
use crate::math::{Real, SpatialForce};
use crate::shapes::greater;

/// Sums over the springs of a contact. Rows are of the torque about the mesh's origin and of the force.
struct Sums<T: Real> {
    by_position: Matrix6<T>,
    by_velocity: Matrix6<T>,
    F_GS: SpatialForce<T>,
    /// Of `r fᵀ`, with the base and the force.
    base_by_force: Matrix3<T>,
    /// Of the viscosity `N g` of friction in all directions, of it times the contact point, the base, and products.
    viscosity: T,
    by_point: Vector3<T>,
    by_base: Vector3<T>,
    point_by_point: Matrix3<T>,
    point_by_base: Matrix3<T>,
}

impl<T: Real> ElasticFoundation<T> {
    pub(in super::super) fn linearize_by_motion(
        &self,
        at: &AtDynamics<'_, T, Self>,
        blocks: &mut Blocks<'_, T>,
    ) {
        let mut memory = blocks.take_memory();
        let mut contacts = 0..;
        let are_known = self.for_each_contact(at, |contact| {
            let mut sums = Sums::zero();
            let mut deepest = T::zero();
            contact.for_each_spring(at, &mut memory, |spring| {
                deepest = greater(deepest, spring.depth);
                let pressed = contact.press(spring);
                if self.has_anchors {
                    let id = contact.first_spring + spring.index;
                    sums.add_anchored(contact, spring, &pressed, at.discrete.of(id, contact.surfaces[1]));
                } else {
                    sums.add(contact, spring, &pressed);
                }
            });
            blocks.add_between(&sums.between(contact));
            blocks.branch_of(contacts.next().unwrap_or_default(), "in contact", deepest, "m");
        });
        blocks.give_back(memory);
        if !are_known {
            self.ask_for_differences(blocks);
        }
    }
}

impl<T: Real> Sums<T> {
    fn zero() -> Self {
        Self {
            by_position: Matrix6::zeros(),
            by_velocity: Matrix6::zeros(),
            F_GS: SpatialForce::zero(),
            base_by_force: Matrix3::zeros(),
            viscosity: T::zero(),
            by_point: Vector3::zeros(),
            by_base: Vector3::zeros(),
            point_by_point: Matrix3::zeros(),
            point_by_base: Matrix3::zeros(),
        }
    }

    /// Adds a spring whose friction follows its slip.
    ///
    /// With the shift `δp` of the base, the contact point shifts by `T δp` with `T = 1 − n nᵀ + x H`, and the normal turns by
    /// `H δp`. Matrices of one column times one row stay factors.
    #[inline]
    fn add(&mut self, contact: &Contact<'_, T>, spring: &Spring<T>, pressed: &Pressed<T>) {
        let Spring { normal: n, base, point, depth, gradient, by_motion, .. } = spring;
        let &Pressed { factor, normal_force, damping, depth_rate, slip, .. } = pressed;
        let Rubbing { factor: g, along, direction } = contact.rub(pressed);
        let w = &contact.V.angular;
        let viscosity = normal_force * g;
        let per_newton = n - slip * g;
        let force = per_newton * normal_force;
        let load = twist(point, &per_newton);
        let spins = n.cross(w);

        // By the load, and by the depth's rate and slip along the normal.
        self.by_position += load * (by_motion * (contact.law.stiffness * factor)).transpose();
        let across = twist(point, n);
        let resisting = across * viscosity - load * damping;
        self.by_velocity += resisting * across.transpose();
        // By slip in the direction in which friction is not the same.
        let rubs = twist(point, &direction) * -(normal_force * along);
        self.by_velocity += rubs * twist(point, &direction).transpose();
        // By the motion of the contact point as seen from the mesh.
        let turned = force.cross(n);
        let slipping = twist(point, &(spins * -viscosity));
        let lever = Vector6::new(turned.x, turned.y, turned.z, T::zero(), T::zero(), T::zero()) + slipping;
        self.by_position += lever * twist(base, n).transpose();
        let turns = direction.cross(w);
        let (mut spins_of_base, mut turns_of_base) = (spins, turns - n * n.dot(&turns));
        if let Some(H) = gradient {
            spins_of_base += H * spins * *depth;
            turns_of_base += H * turns * *depth;
        }
        self.by_position += resisting * twist(base, &spins_of_base).transpose();
        self.by_position += rubs * twist(base, &turns_of_base).transpose();

        if let Some(H) = gradient {
            let turning = H * slip;
            self.by_position -= load * (twist(base, &turning) * damping).transpose();
            let along_e = direction * (H * direction).transpose() * (along * depth_rate);
            let by_force = (H * (T::one() - g * depth_rate) + n * (turning * g).transpose() - along_e)
                * normal_force
                - w.cross_matrix() * H * (viscosity * *depth);
            let by_torque = point.cross_matrix() * by_force - force.cross_matrix() * H * *depth;
            self.add_by_base(&by_torque, &by_force, base);
        }
        self.add_force(point, base, &force);
        self.viscosity += viscosity;
        self.by_point += point * viscosity;
        self.by_base += base * viscosity;
        self.point_by_point += point * point.transpose() * viscosity;
        self.point_by_base += point * base.transpose() * viscosity;
    }

    /// Adds a spring with friction at its base.
    fn add_anchored(
        &mut self,
        contact: &Contact<'_, T>,
        spring: &Spring<T>,
        pressed: &Pressed<T>,
        anchor: Option<Point3<T>>,
    ) {
        let Spring { normal: n, base, point, gradient, depth, .. } = spring;
        let held = contact.hold(spring, pressed, anchor);
        let slopes = held.slopes(contact, spring);
        let (normal_force, friction) = (n * pressed.normal_force, held.force());
        let load = twist(point, n) + twist(base, &slopes.by_normal_force);
        let [by_position, by_velocity] = normal_force_by_motion(contact, spring, pressed);
        self.by_position += load * by_position.transpose();
        self.by_velocity += load * by_velocity.transpose();
        let mut by_force = slopes.by_shift;
        let mut by_torque = base.cross_matrix() * by_force;
        if let Some(H) = gradient {
            let turned = H * pressed.normal_force;
            by_force += turned;
            by_torque += point.cross_matrix() * turned - normal_force.cross_matrix() * H * *depth;
        }
        self.add_by_base(&by_torque, &by_force, base);
        let by_velocity = &slopes.by_velocity;
        add_by_twist(&mut self.by_velocity, &(base.cross_matrix() * by_velocity), by_velocity, base);
        self.add_force(point, base, &normal_force);
        self.add_force(base, base, &friction);
    }

    /// Adds a force; its derivatives include those of its lever, for a point of application that follows the base.
    fn add_force(&mut self, lever: &Vector3<T>, base: &Vector3<T>, force: &Vector3<T>) {
        self.F_GS += SpatialForce::new(lever.cross(force), *force);
        self.base_by_force += base * force.transpose();
    }

    /// Adds derivatives by the shift of a base.
    fn add_by_base(&mut self, torque: &Matrix3<T>, force: &Matrix3<T>, base: &Vector3<T>) {
        add_by_twist(&mut self.by_position, torque, force, base);
    }

    /// The derivatives of all forces of the contact.
    fn between(mut self, contact: &Contact<'_, T>) -> Between<T> {
        let w = &contact.V.angular;
        let spin = w.cross_matrix();
        // The lever of a force follows the base, relative to the mesh's origin.
        let J = &self.base_by_force;
        add_to(&mut self.by_position, 0, 0, &(J - Matrix3::from_diagonal_element(J.trace())));
        // Friction in all directions, of the contact points and of their velocities relative to the mesh.
        let [point, base] = [self.by_point, self.by_base].map(|sum| sum.cross_matrix());
        let D = &mut self.by_velocity;
        let squares = self.point_by_point;
        add_to(D, 0, 0, &(squares - Matrix3::from_diagonal_element(squares.trace())));
        add_to(D, 0, 3, &-point);
        add_to(D, 3, 0, &point);
        add_to(D, 3, 3, &Matrix3::from_diagonal_element(-self.viscosity));
        let M = &self.point_by_base;
        let twice = Vector3::new(M[(1, 2)] - M[(2, 1)], M[(2, 0)] - M[(0, 2)], M[(0, 1)] - M[(1, 0)]);
        let K = &mut self.by_position;
        add_to(K, 0, 0, &(w * twice.transpose() - M.tr_mul(w).cross_matrix()));
        add_to(K, 0, 3, &-(point * spin));
        add_to(K, 3, 0, &(spin * base));
        add_to(K, 3, 3, &(spin * -self.viscosity));
        // Velocities are those at the mesh's origin, which shifts.
        let by_linear = self.by_velocity.fixed_columns::<3>(3) * spin;
        let mut columns = self.by_position.fixed_columns_mut::<3>(3);
        columns -= by_linear;
        Between {
            bodies: contact.bodies,
            p_GM: contact.X_GM.translation.vector.into(),
            F_GM: self.F_GS,
            V_M: contact.V,
            by_position: pair(&self.by_position),
            by_velocity: pair(&self.by_velocity),
        }
    }
}

/// The derivatives of the normal force by motion and by velocity, for velocities of the mesh as extended to a fixed point.
pub(super) fn normal_force_by_motion<T: Real>(
    contact: &Contact<'_, T>,
    spring: &Spring<T>,
    pressed: &Pressed<T>,
) -> [Vector6<T>; 2] {
    let Spring { normal: n, base, point, gradient, depth, by_motion, .. } = spring;
    let mut by_shift = contact.V.angular.cross(n);
    if let Some(H) = gradient {
        by_shift += H * (by_shift * *depth - pressed.slip);
    }
    let by_position =
        by_motion * (contact.law.stiffness * pressed.factor) + twist(base, &(by_shift * pressed.damping));
    [by_position, twist(point, &(n * -pressed.damping))]
}

/// Adds derivatives of torque and force by the shift, or the velocity, of a point that a twist moves.
fn add_by_twist<T: Real>(sum: &mut Matrix6<T>, torque: &Matrix3<T>, force: &Matrix3<T>, point: &Vector3<T>) {
    let lever = -point.cross_matrix();
    add_to(sum, 0, 0, &(torque * lever));
    add_to(sum, 0, 3, torque);
    add_to(sum, 3, 0, &(force * lever));
    add_to(sum, 3, 3, force);
}

fn add_to<T: Real>(sum: &mut Matrix6<T>, row: usize, column: usize, block: &Matrix3<T>) {
    let mut view = sum.fixed_view_mut::<3, 3>(row, column);
    view += block;
}

fn pair<T: Real>(all: &Matrix6<T>) -> Pair<T> {
    let block = |row, column| all.fixed_view::<3, 3>(row, column).into_owned();
    Pair {
        torque_by_angular: block(0, 0),
        torque_by_linear: block(0, 3),
        force_by_angular: block(3, 0),
        force_by_linear: block(3, 3),
    }
}
