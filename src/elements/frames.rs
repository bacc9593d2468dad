//! Two frames on two bodies, which an element connects.

use nalgebra::{Point3, Rotation3};

use crate::elements::errors::check_ends;
use crate::framework::variables::{Lift, Visitor, VisitorMut};
use crate::framework::{ElementResult, Error, Meaning, Pen, Stage, Variables, stored_variables};
use crate::math::{InvalidValue, Pose, Real, SpatialForce, SpatialVelocity};
use crate::mechanics::{BodyIndex, Checked, ForceAccumulator, Frame, Positions, Topology, Velocities};

stored_variables! {
    /// The poses of the frames on their bodies.
    #[derive(Copy)]
    pub struct Frames<T> {
        /// Pose of frame F on body 1.
        pub X_B1F: Pose<T> ["m"] => Position;
        /// Pose of frame M on body 2.
        pub X_B2M: Pose<T> ["m"] => Position;
    }
}

/// The parameters in a state: the frames, by default those of the element, and the law.
///
/// Their names are those of the fields of both: `X_B1F.p.x`, `stiffness.qx`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(bound(serialize = "Frames<T>: serde::Serialize, L: serde::Serialize")))]
#[cfg_attr(
    feature = "serde",
    serde(bound(deserialize = "Frames<T>: serde::Deserialize<'de>, L: serde::Deserialize<'de>"))
)]
pub struct Framed<T: Real, L> {
    /// The poses of the frames on their bodies.
    pub frames: Frames<T>,
    /// The parameters of the law.
    pub law: L,
}

impl<T: Real> Frames<T> {
    /// `X_GF`, `X_GM` and `X_FM` on these bodies.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "with two callers it is a call and a copy of the poses in the loop"
    )]
    pub(super) fn placed(&self, bodies: [BodyIndex; 2], positions: &Positions<T>) -> [Pose<T>; 3] {
        let X_GF = positions.pose(Checked(bodies[0])) * self.X_B1F;
        let X_GM = positions.pose(Checked(bodies[1])) * self.X_B2M;
        let R_GF = X_GF.rotation.matrix();
        let R_FM = Rotation3::from_matrix_unchecked(R_GF.tr_mul(X_GM.rotation.matrix()));
        let p_FM = R_GF.tr_mul(&(X_GM.translation.vector - X_GF.translation.vector));
        [X_GF, X_GM, Pose::from_parts(p_FM.into(), R_FM)]
    }

    /// Both poses.
    pub(super) fn poses(&self) -> [Pose<T>; 2] {
        [self.X_B1F, self.X_B2M]
    }

    /// The number of numbers in both poses.
    pub(super) const COUNT: usize = 2 * <Pose<T> as Lift<T, T, ()>>::COUNT;
}

/// Checks that both bodies exist.
pub(super) fn check_bodies(bodies: [BodyIndex; 2], topology: &Topology) -> ElementResult {
    Ok(bodies.into_iter().try_for_each(|body| topology.check_body(body))?)
}

/// Velocities of frames F and M in Ground, expressed in Ground, and of M in F, expressed in F.
#[inline(always)]
#[expect(clippy::inline_always, reason = "with two callers it is a call in the loop")]
pub(super) fn relative_velocities<T: Real>(
    bodies: [BodyIndex; 2],
    positions: &Positions<T>,
    velocities: &Velocities<T>,
    [X_GF, X_GM]: [&Pose<T>; 2],
) -> [SpatialVelocity<T>; 3] {
    let of = |body, X: &Pose<T>| {
        velocities.velocity_of_frame(positions, Checked(body), &X.translation.vector.into())
    };
    let (V_GF, V_GM) = (of(bodies[0], X_GF), of(bodies[1], X_GM));
    // F and M are compared at one point, M's origin.
    let V_GF_at_M = V_GF.shifted(X_GM.translation.vector - X_GF.translation.vector);
    [V_GF, V_GM, (V_GM - V_GF_at_M).rotated(&X_GF.rotation.inverse())]
}

/// Adds the forces on frames F and M.
#[inline(always)]
#[expect(clippy::inline_always, reason = "with two callers it is a call in the loop")]
pub(super) fn add_forces<T: Real>(
    bodies: [BodyIndex; 2],
    poses: [&Pose<T>; 2],
    loads: [&SpatialForce<T>; 2],
    forces: &mut ForceAccumulator<'_, T>,
) {
    for i in 0..2 {
        forces.apply_to_frame(Checked(bodies[i]), &poses[i].translation.vector.into(), *loads[i]);
    }
}

/// Draws frames F and M, and the forces on them.
pub(super) fn draw<T: Real>(
    bodies: [BodyIndex; 2],
    poses: [&Pose<T>; 2],
    loads: [&SpatialForce<T>; 2],
    pen: &mut Pen<'_>,
) {
    let origins = poses.map(|X| Point3::from(X.translation.vector));
    let distance = (origins[1] - origins[0]).norm();
    pen.line(Meaning::Frame, distance, &origins[0], &origins[1]);
    for i in 0..2 {
        pen.frame(distance, poses[i]);
        pen.force(bodies[i], &origins[i], &loads[i].force);
        pen.torque(bodies[i], &origins[i], &loads[i].torque);
    }
}

impl<T: Real, L: Variables<T>> Framed<T, L> {
    /// The bodies of two frames, and the parameters of an element of this kind between them.
    pub(super) fn new(
        kind: &'static str,
        [frame1, frame2]: [Frame<T>; 2],
        law: L,
    ) -> Result<([BodyIndex; 2], Self), Error> {
        let bodies = [frame1.body, frame2.body];
        check_ends(kind, bodies)?;
        let framed = Self { frames: Frames { X_B1F: frame1.X_BF, X_B2M: frame2.X_BF }, law };
        framed.validate().map_err(|error| Error::of_new(kind, error))?;
        Ok((bodies, framed))
    }
}

impl<T: Real, L: Default> Default for Framed<T, L> {
    fn default() -> Self {
        Self { frames: Frames::default(), law: L::default() }
    }
}

impl<T: Real, L: Variables<T>> Variables<T> for Framed<T, L> {
    const FIRST_STAGE: Option<Stage> = Some(Stage::Position);

    fn visit(&self, visit: Visitor<'_, T>) {
        self.frames.visit(visit);
        self.law.visit(visit);
    }

    fn visit_mut(&mut self, visit: VisitorMut<'_, T>) {
        self.frames.visit_mut(visit);
        self.law.visit_mut(visit);
    }

    fn first_stage_changed(&self, new: &Self) -> Option<Stage> {
        let changed = [self.frames.first_stage_changed(&new.frames), self.law.first_stage_changed(&new.law)];
        changed.into_iter().flatten().min()
    }

    fn validate(&self) -> Result<(), InvalidValue> {
        self.frames.validate()?;
        self.law.validate()
    }
}
