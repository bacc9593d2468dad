//! Derivatives of the forces by motion, and the branches that the springs of a contact take.

use nalgebra::{Matrix3, Matrix6, Vector3, Vector6};

use super::contact::{Contact, Memory, Spring, twist};
use super::friction::Held;
use crate::elements::elastic_foundation::ElasticFoundation;
use crate::framework::{AtDynamics, Between, Blocks, Slopes};
use crate::math::{Real, SpatialForce, cross_times, times_cross};
use crate::shapes::greater;

/// Two branches of the springs of a contact: the number of springs in each, and the smallest distance of one from the other
/// branch.
type Branches<T> = [(usize, T); 2];

/// Counts a spring in the first of two branches, or else in the second.
#[inline]
fn count<T: Real>(branches: &mut Branches<T>, is_first: bool, margin: T) {
    let (springs, nearest) = &mut branches[usize::from(!is_first)];
    if *springs == 0 || margin < *nearest {
        *nearest = margin;
    }
    *springs += 1;
}

/// Sums over the springs of a contact. Rows are of the torque about the mesh's origin and of the force.
struct Sums<T: Real> {
    by_position: Matrix6<T>,
    by_velocity: Matrix6<T>,
    F_GS: SpatialForce<T>,
}

impl<T: Real> ElasticFoundation<T> {
    pub(in super::super) fn linearize_by_motion(
        &self,
        at: &AtDynamics<'_, T, Self>,
        blocks: &mut Blocks<'_, T>,
    ) {
        let mut contacts = 0..;
        let are_known = blocks.with_workspace(|blocks, (vertices, _): &mut Memory<T>| {
            self.for_each_contact(at, |contact| {
                let mut sums = Sums::zero();
                let (mut deepest, mut springs) = (T::zero(), 0);
                // Below a limit springs creep, or stick; beyond it they slide, or slip. Springs that rise so fast that they do
                // not press have let go.
                let [mut friction, mut damping]: [Branches<T>; 2] = [[(0, T::zero()); 2]; 2];
                let letting_go = -contact.law.contact.damping(T::one()).recip();
                let transition = contact.transition_velocity;
                contact.for_each_spring(at, vertices, |spring| {
                    deepest = greater(deepest, spring.depth);
                    springs += 1;
                    let margin = (spring.depth_rate - letting_go).abs();
                    count(&mut damping, spring.factor > T::zero(), margin);
                    if self.has_anchors {
                        let id = contact.first_spring + spring.index;
                        let anchor = at.discrete.of(id, contact.surfaces[1]);
                        let held = contact.hold(spring, anchor);
                        count(&mut friction, !held.slips, held.margin);
                        sums.add_anchored(contact, spring, &held);
                    } else {
                        let slip_squared = spring.slip.norm_squared();
                        let margin = (slip_squared.sqrt() - transition).abs();
                        count(&mut friction, slip_squared < transition * transition, margin);
                        sums.add(contact, spring);
                    }
                });
                blocks.add_between(&sums.between(contact));
                let place = contacts.next().unwrap_or_default();
                blocks.branch_of_parts(place, "in contact", springs, deepest, "m");
                let mut state = |names: [&'static str; 2], found: Branches<T>, unit| {
                    for (name, (springs, margin)) in names.into_iter().zip(found) {
                        if springs > 0 {
                            blocks.branch_of_parts(place, name, springs, margin, unit);
                        }
                    }
                };
                if self.has_anchors {
                    state(["sticking", "slipping"], friction, "N");
                } else if contact.material.static_friction > T::zero() {
                    state(["creeping", "sliding"], friction, "m/s");
                }
                if contact.material.dissipation > T::zero() {
                    state(["pressing", "let go"], damping, "m/s");
                }
            })
        });
        if !are_known {
            self.ask_for_differences(blocks);
        }
    }
}

impl<T: Real> Sums<T> {
    fn zero() -> Self {
        Self { by_position: Matrix6::zeros(), by_velocity: Matrix6::zeros(), F_GS: SpatialForce::zero() }
    }

    /// Adds a spring whose friction follows its slip.
    ///
    /// With the shift `δp` of the base, the contact point shifts by `T δp` with `T = 1 − n nᵀ + x H`, and the normal turns by
    /// `H δp`.
    #[inline]
    fn add(&mut self, contact: &Contact<'_, T>, spring: &Spring<T>) {
        let Spring { normal: n, base, point, depth, gradient, by_depth, by_turn, .. } = spring;
        let &Spring { factor, normal_force, damping, depth_rate, slip, .. } = spring;
        let [g, along] = contact.law.contact.friction_slopes(&slip);
        let w = &contact.V.angular;
        let viscosity = normal_force * g;
        let per_newton = n - slip * g;
        let force = per_newton * normal_force;
        let pressing = contact.material.stiffness * factor;

        // By the velocity of the contact point: the normal force, friction in all directions along the surface, and in
        // the direction of the slip.
        let across = n * viscosity - per_newton * damping;
        let by_speed = slip * -(normal_force * along);
        let mut by_velocity = across * n.transpose() + by_speed * slip.transpose();
        (0..3).for_each(|i| by_velocity[(i, i)] -= viscosity);
        // By the shift of the base: the load, and the velocity of the contact point, which moves along the surface.
        let spun = times_cross(&by_velocity, w);
        let along_normal = per_newton * (pressing * *by_depth) - spun * n;
        let mut by_force = spun + along_normal * n.transpose();
        let mut lever = force.cross(n) * n.transpose() - force.cross_matrix();
        if let Some(H) = gradient {
            let turning = H * slip;
            let along_slip = slip * (H * slip).transpose() * (along * depth_rate);
            by_force += (H * (T::one() - g * depth_rate) + n * (turning * g).transpose() - along_slip)
                * normal_force
                + spun * H * *depth
                - per_newton * (turning * damping).transpose();
            lever -= force.cross_matrix() * H * *depth;
        }
        add_by_twist(&mut self.by_position, &(cross_times(point, &by_force) + lever), &by_force, base);
        add_by_twist(&mut self.by_velocity, &cross_times(point, &by_velocity), &by_velocity, point);
        if let Some(by_turn) = by_turn {
            self.by_position += twist(point, &per_newton) * (by_turn * pressing).transpose();
        }
        self.F_GS += SpatialForce::new(point.cross(&force), force);
    }

    /// Adds a spring with friction at its base.
    fn add_anchored(&mut self, contact: &Contact<'_, T>, spring: &Spring<T>, held: &Held<T>) {
        let Spring { normal: n, base, point, gradient, depth, .. } = spring;
        let slopes = held.slopes(contact, spring);
        let (normal_force, friction) = (n * spring.normal_force, held.force());
        let load = twist(point, n) + twist(base, &slopes.by_normal_force);
        let [by_position, by_velocity] = normal_force_by_motion(contact, spring);
        self.by_position += load * by_position.transpose();
        self.by_velocity += load * by_velocity.transpose();
        let mut by_force = slopes.by_shift;
        let mut by_torque = cross_times(base, &by_force) - (friction + normal_force).cross_matrix();
        if let Some(H) = gradient {
            let turned = H * spring.normal_force;
            by_force += turned;
            by_torque += cross_times(point, &turned) - normal_force.cross_matrix() * H * *depth;
        }
        add_by_twist(&mut self.by_position, &by_torque, &by_force, base);
        let by_velocity = &slopes.by_velocity;
        add_by_twist(&mut self.by_velocity, &cross_times(base, by_velocity), by_velocity, base);
        let torque = point.cross(&normal_force) + base.cross(&friction);
        self.F_GS += SpatialForce::new(torque, normal_force + friction);
    }

    /// The derivatives of all forces of the contact.
    fn between(mut self, contact: &Contact<'_, T>) -> Between<T> {
        // Levers and velocities are relative to the mesh's origin, which shifts.
        let by_linear = self.by_velocity.fixed_columns::<3>(3) * contact.V.angular.cross_matrix();
        let mut columns = self.by_position.fixed_columns_mut::<3>(3);
        columns -= by_linear;
        add_to(&mut self.by_position, 0, 3, &self.F_GS.force.cross_matrix());
        Between {
            bodies: contact.bodies,
            p_GM: contact.X_GM.translation.vector.into(),
            F_GM: self.F_GS,
            V_M: contact.V,
            by_position: Slopes::Coupled(quarters(&self.by_position)),
            by_velocity: Slopes::Coupled(quarters(&self.by_velocity)),
        }
    }
}

/// The derivatives of the normal force by motion and by velocity, where the velocity of the mesh is extended to a fixed
/// point.
pub(super) fn normal_force_by_motion<T: Real>(
    contact: &Contact<'_, T>,
    spring: &Spring<T>,
) -> [Vector6<T>; 2] {
    let Spring { normal: n, base, point, gradient, depth, by_depth, by_turn, .. } = spring;
    let mut by_shift = contact.V.angular.cross(n);
    if let Some(H) = gradient {
        by_shift += H * (by_shift * *depth - spring.slip);
    }
    let pressing = contact.material.stiffness * spring.factor;
    let by_base = n * (pressing * *by_depth) + by_shift * spring.damping;
    let mut by_position = twist(base, &by_base);
    if let Some(by_turn) = by_turn {
        by_position += by_turn * pressing;
    }
    [by_position, twist(point, &(n * -spring.damping))]
}

/// Adds derivatives of torque and force by the shift, or by the velocity, of a point that moves with a twist.
#[inline]
fn add_by_twist<T: Real>(sum: &mut Matrix6<T>, torque: &Matrix3<T>, force: &Matrix3<T>, point: &Vector3<T>) {
    for (row, block) in [(0, torque), (3, force)] {
        add_to(sum, row, 0, &-times_cross(block, point));
        add_to(sum, row, 3, block);
    }
}

/// The quarters, row by row.
fn quarters<T: Real>(m: &Matrix6<T>) -> [[Matrix3<T>; 2]; 2] {
    [0, 3].map(|row| [0, 3].map(|column| m.fixed_view::<3, 3>(row, column).into_owned()))
}

#[inline]
fn add_to<T: Real>(sum: &mut Matrix6<T>, row: usize, column: usize, block: &Matrix3<T>) {
    let mut view = sum.fixed_view_mut::<3, 3>(row, column);
    view += block;
}
