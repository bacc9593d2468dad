//! The motion of the springs of a mesh over numbers, and the derivatives of their forces.
//!
//! Motions are relative to the other surface, the observer. Rows and columns of six are angular, then linear.

use nalgebra::{Matrix3, Vector3, Vector6};

use crate::elements::laws::Touch;
use crate::framework::Quarters;
use crate::framework::variables::Numbers as _;
use crate::math::{Dual, Number, Real, SpatialForce, cross_times, dot, times_cross};
use crate::shapes::{Feature, SolidShape, SurfacePoint};

/// The directions in which the force of a spring varies: three of the velocity of the point on which it acts, one of its
/// elastic force, and three of a shift of its base at constant velocity.
pub(in crate::elements) const MOTION: usize = 7;
pub(in crate::elements) const ELASTIC: usize = 3;
const SHIFT: usize = 4;

/// The rate of the depth, and the velocity along the surface.
#[inline]
pub(in crate::elements) fn across_and_along<S: Number>(
    velocity: &Vector3<S>,
    normal: &Vector3<S>,
) -> (S, Vector3<S>) {
    let depth_rate = -dot(velocity, normal);
    (depth_rate, velocity + normal.map(|n| n * depth_rate))
}

/// The derivatives of the normal by a shift of a base near a surface, in the frame of the surface, or `None` if the
/// normal does not turn; an error if the surface does not provide them.
#[inline]
pub(in crate::elements) fn normal_gradient<T: Real>(
    surface: &SolidShape<T>,
    part: Option<(usize, Feature)>,
    near: impl FnOnce() -> SurfacePoint<T>,
) -> Result<Option<Matrix3<T>>, ()> {
    match (surface, part) {
        (SolidShape::HalfSpace(_), _) => Ok(None),
        (SolidShape::Mesh(mesh), Some(part)) => {
            let near = near();
            Ok(mesh.normal_gradient_on(part, &near.normal, near.signed_distance))
        }
        _ => surface.normal_gradient(&near()).map(Some).ok_or(()),
    }
}

impl<T: Real> Touch<T> {
    /// The same over numbers that vary in the first of the directions of [`MOTION`].
    #[inline]
    pub(in crate::elements) fn varied<const N: usize>(
        &self,
        gradient: Option<&Matrix3<T>>,
    ) -> Touch<Dual<T, N>> {
        let mut at: Touch<Dual<T, N>> = self.lift(&mut Dual::of);
        let mut velocity = (self.slip_F - self.n_F * self.depth_rate).map(Dual::<T, N>::of);
        for j in 0..3 {
            velocity[j].slopes[j] = T::one();
            if SHIFT + j < N {
                at.p_FB[j].slopes[SHIFT + j] = T::one();
                at.depth.slopes[SHIFT + j] = -self.n_F[j];
                let turned = gradient.map(|gradient| gradient.column(j));
                for (n, &by) in at.n_F.iter_mut().zip(turned.iter().flatten()) {
                    n.slopes[SHIFT + j] = by;
                }
            }
        }
        (at.depth_rate, at.slip_F) = across_and_along(&velocity, &at.n_F);
        at
    }
}

/// The derivatives of a number by a rotation and a translation of a mesh, and by its angular and linear velocity, from
/// the derivatives by the motion of a base on this lever.
#[inline]
pub(in crate::elements) fn by_mesh<T: Real>(
    number: &Dual<T, MOTION>,
    lever: &Vector3<T>,
    spin: &Vector3<T>,
) -> [[Vector3<T>; 2]; 2] {
    let [by_velocity, by_shift] = [0, SHIFT].map(|first| Vector3::from_fn(|i, _| number.slopes[first + i]));
    // A rotation moves the base along its lever, and turns its velocity.
    let by_turn = lever.cross(&(by_shift + by_velocity.cross(spin)));
    [[by_turn, by_shift], [lever.cross(&by_velocity), by_velocity]]
}

/// Sums of torque and force over the springs of a mesh, with their derivatives by the motion of the mesh about a fixed
/// point.
#[derive(Debug)]
pub(in crate::elements) struct Sums<T: Real> {
    /// Angular velocity of the mesh relative to the observer.
    spin: Vector3<T>,
    F_M: SpatialForce<T>,
    by_position: Quarters<T>,
    by_velocity: Quarters<T>,
}

impl<T: Real> Sums<T> {
    /// Zero sums for a mesh with this angular velocity.
    pub(in crate::elements) fn of(spin: Vector3<T>) -> Self {
        let none = [[Matrix3::zeros(); 2]; 2];
        Self { spin, F_M: SpatialForce::zero(), by_position: none, by_velocity: none }
    }

    /// Adds the force of a spring, with the derivatives of its elastic force by motion. The lever of its base is `base`;
    /// the force acts on `point`, whose shift has the derivatives `follows` by that of the base, or which is the base.
    #[inline]
    pub(in crate::elements) fn add<const N: usize>(
        &mut self,
        base: &Vector3<T>,
        (point, follows): (&Vector3<T>, Option<&Matrix3<T>>),
        force: &Vector3<Dual<T, N>>,
        elastic_by_motion: Option<&Vector6<T>>,
    ) {
        let slopes = |first| Matrix3::from_fn(|i, j| force[i].slopes[first + j]);
        let value = force.map(|component| component.value);
        self.F_M += SpatialForce::new(point.cross(&value), value);
        let by_velocity = slopes(0);
        let mut by_shift = times_cross(&by_velocity, &self.spin);
        let mut lever_by_shift = value.cross_matrix();
        if let Some(follows) = follows {
            (by_shift, lever_by_shift) = (by_shift * follows, lever_by_shift * follows);
        }
        if N > SHIFT {
            by_shift += slopes(SHIFT);
        }
        let by_torque = cross_times(point, &by_shift) - lever_by_shift;
        add_by_twist(&mut self.by_position, [&by_torque, &by_shift], base);
        add_by_twist(&mut self.by_velocity, [&cross_times(point, &by_velocity), &by_velocity], point);
        let Some(by_motion) = elastic_by_motion else { return };
        let by_elastic = force.map(|component| component.slopes[ELASTIC]);
        for (row, load) in self.by_position.iter_mut().zip([point.cross(&by_elastic), by_elastic]) {
            for (sum, first) in row.iter_mut().zip([0, 3]) {
                *sum += load * by_motion.fixed_rows::<3>(first).transpose();
            }
        }
    }

    /// Torque and force, and their derivatives by position and by velocity, if the fixed point is the mesh's origin.
    #[inline]
    pub(in crate::elements) fn about_origin(self) -> (SpatialForce<T>, [Quarters<T>; 2]) {
        let Self { spin, F_M, mut by_position, by_velocity } = self;
        // Levers and velocities are relative to the mesh's origin, which shifts.
        for (by_position, by_velocity) in by_position.iter_mut().zip(&by_velocity) {
            by_position[1] -= times_cross(&by_velocity[1], &spin);
        }
        by_position[0][1] += F_M.force.cross_matrix();
        (F_M, [by_position, by_velocity])
    }
}

/// Adds derivatives of torque and force by the shift, or by the velocity, of a point that moves with a twist.
#[inline]
fn add_by_twist<T: Real>(sum: &mut Quarters<T>, by: [&Matrix3<T>; 2], point: &Vector3<T>) {
    for (row, by) in sum.iter_mut().zip(by) {
        row[0] -= times_cross(by, point);
        row[1] += by;
    }
}
