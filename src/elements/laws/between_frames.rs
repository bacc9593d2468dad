//! The element of a law between two frames.

use nalgebra::{ComplexField, Matrix3, Matrix6, Scalar, Vector3};

use super::{AT_ONCE, Law, LawMotion, for_variables, length};
use crate::elements::frames::{self, Framed, Frames};
use crate::framework::variables::{Numbers, Over};
use crate::framework::{
    AtDynamics, AtPosition, AtVelocity, Between, Blocks, ElementResult, Error, ForceElement, Given, Pen, Row,
    Slopes, Stiffnesses,
};
use crate::math::{Dual, Number, Pose, Real, SpatialForce, SpatialVelocity, dot, rotated};
use crate::mechanics::{BodyIndex, ForceAccumulator, Frame, Topology, Velocities};
use crate::results;

// Numbers that laws take, lifted like variables but not stored.
crate::variables! { @struct [PartialEq]
    /// Pose and motion of frame M in frame F, expressed in F.
    #[derive(Copy, Lift)]
    pub struct Relative<T> {
        /// Time \[s\].
        pub time: T;
        /// Orientation of M in F.
        pub R_FM: Matrix3<T>;
        /// M's origin in F \[m\].
        pub p_FM: Vector3<T>;
        /// Angular velocity of M in F \[rad/s\].
        pub w_FM: Vector3<T>;
        /// Velocity of M's origin in F \[m/s\]: the rate of change of `p_FM`.
        pub v_FM: Vector3<T>;
    }
}

impl<T: Real> LawMotion<T> for Relative<T> {
    type Force<S: Number<Scalar = T>> = Outcome<S>;
}

/// Torque and force of a law between two frames, with energy and powers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome<S: Scalar> {
    /// Torque on body 2 about M's origin, expressed in F \[N·m\].
    pub torque: Vector3<S>,
    /// Force on body 2, expressed in F \[N\]. Body 1 gets the opposite along the same line.
    pub force: Vector3<S>,
    /// The energy stored \[J\].
    pub potential_energy: S,
    /// The power dissipated \[W\], as far as it is known instantaneously.
    pub power_dissipated: S,
    /// The power that a drive within the law supplies \[W\].
    pub power_supplied: S,
}

impl<S: Number> Outcome<S> {
    /// Neither torque nor force, and no energy.
    pub fn zero() -> Self {
        let (none, zero) = (Vector3::repeat(S::zero()), S::zero());
        Self {
            torque: none,
            force: none,
            potential_energy: zero,
            power_dissipated: zero,
            power_supplied: zero,
        }
    }
}

results! {
    /// Results at Position stage.
    #[derive(Copy)]
    pub struct Position<T> {
        /// Pose of frame F in Ground.
        pub X_GF: Pose<T> ["m"];
        /// Pose of frame M in Ground.
        pub X_GM: Pose<T> ["m"];
        /// Pose of frame M in frame F.
        pub X_FM: Pose<T> ["m"];
        /// Distance of M's origin from F's.
        pub length: T ["m"];
    }
}

results! {
    /// Results at Velocity stage.
    #[derive(Copy)]
    pub struct Velocity<T> {
        /// Velocity of frame M in frame F, expressed in F: the rate of change of `X_FM`.
        pub V_FM: SpatialVelocity<T> ["rad/s", "m/s"];
        /// Rate of change of `length`; zero where the origins coincide.
        pub rate: T ["m/s"];
    }
}

results! {
    /// Results at Dynamics stage.
    #[derive(Copy)]
    pub struct Dynamics<T> {
        /// Force on body 1 at F's origin, expressed in Ground.
        pub F_GF: SpatialForce<T> ["N·m", "N"];
        /// Force on body 2 at M's origin, expressed in Ground.
        pub F_GM: SpatialForce<T> ["N·m", "N"];
        /// The part of the force along the line between the origins, positive if it shortens the line: the tension of a
        /// law [along this line](super::AlongLine). Zero where the origins coincide.
        pub tension: T ["N"];
        /// The energy stored.
        pub potential_energy: T ["J"];
        /// The power dissipated.
        pub power_dissipated: T ["W"];
        /// The power that a drive within the law supplies.
        pub power_supplied: T ["W"];
    }
}

impl<T: Real> Position<T> {
    /// The part of a vector, expressed in F, along the line from F's origin to M's.
    fn along(&self, v_F: &Vector3<T>) -> T {
        if self.length > T::zero() {
            dot(&self.X_FM.translation.vector, v_F) / self.length
        } else {
            T::zero()
        }
    }
}

/// The directions of the motion of M in F: three rotations, three translations, angular and linear velocity.
const MOTION: usize = 12;

/// The element of a law between frame F on one body and frame M on another.
///
/// The parameters in a state are `frames` and `law`; their names are those of the fields of both: `X_B1F.p.x`, `damping`.
///
/// # Stable step
///
/// For the [longest stable step](crate::ForceSystem::stable_step) of a host, the element reports the stiffness and
/// damping at the present motion, and that the law may be stiffer elsewhere.
///
/// # Linearization
///
/// Exact, from the equations of the law; at a kink, the derivatives of the branch taken. One evaluation covers the 12
/// directions of motion; derivatives by variables need one evaluation for every eight variables. The branches of a law
/// are not reported.
///
/// # Errors
///
/// The errors of the law are returned as [`Error::Element`](crate::Error::Element) at Dynamics stage.
#[derive(Debug, Clone, PartialEq)]
pub struct BetweenFrames<T: Real, L: Law<T, Relative<T>>> {
    law: L,
    bodies: [BodyIndex; 2],
    defaults: Framed<T, L::Parameters>,
}

impl<T: Real, L: Law<T, Relative<T>>> BetweenFrames<T, L> {
    /// A law from frame F on one body to frame M on another.
    ///
    /// # Errors
    /// [`Error::Element`] with [`ElementError::SameEnds`](crate::ElementError::SameEnds) if both frames are on the same body, or with
    /// [`ElementError::InvalidValue`](crate::ElementError::InvalidValue) for a pose that is not finite or not a rotation, or a parameter out of range.
    pub fn new(law: L, frame1: Frame<T>, frame2: Frame<T>, parameters: L::Parameters) -> Result<Self, Error> {
        let (bodies, defaults) = Framed::new(L::KIND, [frame1, frame2], parameters)?;
        Ok(Self { law, bodies, defaults })
    }

    /// The same element in another scalar, for [`Casts::add`](crate::Casts::add).
    pub fn cast<U: Real>(&self) -> BetweenFrames<U, L>
    where
        L: Law<U, Relative<U>, Parameters = Over<T, <L as Law<T, Relative<T>>>::Parameters, U>> + Clone,
    {
        let Framed { frames, law } = &self.defaults;
        let defaults = Framed { frames: frames.cast(), law: law.lift(&mut Real::cast::<U>) };
        BetweenFrames { law: self.law.clone(), bodies: self.bodies, defaults }
    }
}

impl<T: Real, L: Law<T, Relative<T>>> BetweenFrames<T, L> {
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "with two callers it is a call and a copy of the poses in the loop"
    )]
    fn position(&self, given: &Given<'_, T, Self>) -> Position<T> {
        let [X_GF, X_GM, X_FM] = given.parameters.frames.placed(self.bodies, given.positions);
        Position { X_GF, X_GM, X_FM, length: length(&X_FM.translation.vector) }
    }

    /// The motion of M in F.
    #[inline]
    fn relative(time: T, position: &Position<T>, velocity: &Velocity<T>) -> Relative<T> {
        let Pose { rotation, translation } = &position.X_FM;
        let SpatialVelocity { angular: w_FM, linear: v_FM } = velocity.V_FM;
        Relative { time, R_FM: *rotation.matrix(), p_FM: translation.vector, w_FM, v_FM }
    }

    /// The motion over numbers that vary with it. The law has succeeded for the same values; if it fails for these
    /// numbers, finite differences report the error.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call returns kilobytes of dual numbers, which are copied")]
    fn moving(at: &AtDynamics<'_, T, Self>) -> Relative<Dual<T, MOTION>> {
        let still = Self::relative(at.time, at.position, at.velocity);
        let mut moving = still.lift(&mut Dual::<T, MOTION>::of);
        for axis in 0..3 {
            let turned = Vector3::ith(axis, T::one()).cross_matrix() * still.R_FM;
            moving.R_FM.zip_apply(&turned, |entry, slope| entry.slopes[axis] = slope);
            moving.p_FM[axis].slopes[3 + axis] = T::one();
            moving.w_FM[axis].slopes[6 + axis] = T::one();
            moving.v_FM[axis].slopes[9 + axis] = T::one();
        }
        moving
    }

    /// The law relative to body 1.
    fn between(&self, at: &AtDynamics<'_, T, Self>) -> Option<Between<T>> {
        let (p, m) = (at.parameters.law.lift(&mut Dual::of), at.discrete.lift(&mut Dual::of));
        let Outcome { torque, force, .. } = self.law.evaluate(&p, &m, &Self::moving(at)).ok()?;
        let (X_GF, V_FM) = (&at.position.X_GF, &at.velocity.V_FM);
        let R_GF = X_GF.rotation.matrix();
        let is_zero = |quarter: &Matrix3<T>| quarter.iter().all(|entry| entry.vanishes());
        let slopes = |first| {
            let of = |of: &Vector3<Dual<T, MOTION>>, first| Matrix3::from_fn(|i, j| of[i].slopes[first + j]);
            let quarters = [&torque, &force].map(|v| [of(v, first), of(v, first + 3)]);
            if is_zero(&quarters[0][1]) && is_zero(&quarters[1][0]) {
                let [torque, force] = [0, 1].map(|i| rotated(R_GF, &quarters[i][i]));
                Slopes::Separate { torque, force }
            } else {
                Slopes::Coupled(quarters.map(|row| row.map(|quarter| rotated(R_GF, &quarter))))
            }
        };
        Some(Between {
            bodies: self.bodies,
            p_GM: at.position.X_GM.translation.vector.into(),
            F_GM: at.dynamics.F_GM,
            V_M: V_FM.rotated(&X_GF.rotation),
            by_position: slopes(0),
            by_velocity: slopes(6),
        })
    }

    fn try_linearize_variables(
        &self,
        at: &AtDynamics<'_, T, Self>,
        blocks: &mut Blocks<'_, T>,
    ) -> Option<()> {
        let (between, X_GF) = (self.between(at)?, &at.position.X_GF);
        blocks.add_between_by_frames(&between, &at.parameters.frames.poses(), &X_GF.translation.vector);
        let still = Self::relative(at.time, at.position, at.velocity);
        let given = (&still, &at.parameters.law, at.discrete);
        let of_law = blocks.parameter(0) + Frames::<T>::COUNT;
        for_variables(&self.law, given, of_law, L::evaluate, |outcome, place, direction| {
            let slopes = |v: &Vector3<Dual<T, AT_ONCE>>| v.map(|number| number.slopes[direction]);
            let change = SpatialForce::new(slopes(&outcome.torque), slopes(&outcome.force));
            let change = change.rotated(&X_GF.rotation);
            blocks.add_between_by_variables(between.bodies, &between.p_GM, place, &[change]);
        })
    }

    fn try_linearize_commit(&self, at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) -> Option<()> {
        let of_frames = (self.bodies, &at.parameters.frames.poses());
        let Position { X_GF, X_GM, .. } = at.position;
        let (p_GF, p_GM) = (X_GF.translation.vector, X_GM.translation.vector.into());
        let V_M = at.velocity.V_FM.rotated(&X_GF.rotation);
        let (p, m) = (at.parameters.law.lift(&mut Dual::of), at.discrete.lift(&mut Dual::of));
        L::Memory::for_each_over(
            &self.law.commit(&p, &m, &Self::moving(at)).ok()?,
            |row, next: Dual<T, MOTION>| {
                let R_GF = X_GF.rotation.matrix();
                let slopes = |first| R_GF * Vector3::from_fn(|i, _| next.slopes[first + i]);
                let (by_position, by_velocity) = ([slopes(0), slopes(3)], [slopes(6), slopes(9)]);
                let (row, motion) = (Row::Next(row), (&p_GF, &p_GM, &V_M));
                blocks.add_to_between_frames(row, of_frames, motion, by_position, by_velocity);
            },
        );
        let still = Self::relative(at.time, at.position, at.velocity);
        let given = (&still, &at.parameters.law, at.discrete);
        let of_law = blocks.parameter(0) + Frames::<T>::COUNT;
        for_variables(&self.law, given, of_law, L::commit, |next, place, direction| {
            L::Memory::for_each_over(next, |row, next: Dual<T, AT_ONCE>| {
                blocks.add_to_by_variables(Row::Next(row), place, &[next.slopes[direction]]);
            });
        })
    }
}

/// A positive semidefinite matrix, by quarters, that bounds the symmetric part from above and its negative too.
fn bound<T: Real>(slopes: &Slopes<T>) -> [Matrix3<f64>; 3] {
    let mut matrix = Matrix6::zeros();
    for (row, quarters) in slopes.quarters().iter().enumerate() {
        for (column, quarter) in quarters.iter().enumerate() {
            matrix.fixed_view_mut::<3, 3>(3 * row, 3 * column).copy_from(&quarter.map(Real::to_f64));
        }
    }
    // The eigenvalues of a matrix that is not finite are not found.
    if !matrix.iter().all(ComplexField::is_finite) {
        return [Matrix3::repeat(f64::INFINITY); 3];
    }
    let mut eigen = ((matrix + matrix.transpose()) * 0.5).symmetric_eigen();
    eigen.eigenvalues.apply(|value| *value = value.abs());
    matrix = eigen.recompose();
    [(0, 0), (0, 3), (3, 3)].map(|(row, column)| matrix.fixed_view::<3, 3>(row, column).into_owned())
}

/// Reports stiffness and damping of a force, and its load.
pub(super) fn report<T: Real>(between: &Between<T>, stiffnesses: &mut Stiffnesses<'_, T>) {
    let Between { bodies, p_GM, F_GM, by_position, by_velocity, .. } = between;
    let [k, c] = [by_position, by_velocity].map(bound);
    stiffnesses.coupled(&k, &c, *bodies, p_GM);
    let ends = bodies.map(|body| (body, *p_GM));
    stiffnesses.load(F_GM.force.norm().to_f64(), F_GM.torque.norm().to_f64(), ends);
}

impl<T: Real, L: Law<T, Relative<T>>> ForceElement<T> for BetweenFrames<T, L> {
    const KIND: &'static str = L::KIND;
    type Parameters = Framed<T, L::Parameters>;
    type Discrete = L::Memory;
    type Continuous = ();
    type Position = Position<T>;
    type Velocity = Velocity<T>;
    type Dynamics = Dynamics<T>;

    derived_methods!(between frames);

    fn check_topology(&self, topology: &Topology) -> ElementResult {
        frames::check_bodies(self.bodies, topology)
    }

    fn default_parameters(&self) -> Self::Parameters {
        self.defaults.clone()
    }

    fn calc_position(&self, given: &Given<'_, T, Self>, cache: &mut Self::Position) -> ElementResult {
        *cache = self.position(given);
        Ok(())
    }

    fn calc_velocity(&self, at: &AtPosition<'_, T, Self>, cache: &mut Self::Velocity) -> ElementResult {
        let Position { X_GF, X_GM, .. } = at.position;
        [.., cache.V_FM] =
            frames::relative_velocities(self.bodies, at.positions, at.velocities, [X_GF, X_GM]);
        cache.rate = at.position.along(&cache.V_FM.linear);
        Ok(())
    }

    fn calc_dynamics(&self, at: &AtVelocity<'_, T, Self>, cache: &mut Self::Dynamics) -> ElementResult {
        let relative = Self::relative(at.time, at.position, at.velocity);
        let Outcome { torque, force, potential_energy, power_dissipated, power_supplied } =
            self.law.evaluate(&at.parameters.law, at.discrete, &relative)?;
        let Position { X_GF, X_GM, .. } = at.position;
        let F_GM = SpatialForce::new(torque, force).rotated(&X_GF.rotation);
        let F_GF = -F_GM.shifted(X_GF.translation.vector - X_GM.translation.vector);
        let tension = -at.position.along(&force);
        *cache = Dynamics { F_GF, F_GM, tension, potential_energy, power_dissipated, power_supplied };
        Ok(())
    }

    fn add_forces(&self, at: &AtDynamics<'_, T, Self>, forces: &mut ForceAccumulator<'_, T>) {
        let (Position { X_GF, X_GM, .. }, Dynamics { F_GF, F_GM, .. }) = (at.position, at.dynamics);
        frames::add_forces(self.bodies, [X_GF, X_GM], [F_GF, F_GM], forces);
    }

    fn draw(&self, at: &AtDynamics<'_, T, Self>, pen: &mut Pen<'_>) {
        let (position, dynamics) = (at.position, at.dynamics);
        frames::draw(self.bodies, [&position.X_GF, &position.X_GM], [&dynamics.F_GF, &dynamics.F_GM], pen);
    }

    fn reset_memory(
        &self,
        given: &Given<'_, T, Self>,
        _: &Velocities<T>,
        next: &mut Self::Discrete,
    ) -> ElementResult {
        let relative = Self::relative(given.time, &self.position(given), &Velocity::default());
        *next = self.law.begin(&given.parameters.law, &relative)?;
        Ok(())
    }

    fn accept_step(&self, at: &AtDynamics<'_, T, Self>, next: &mut Self::Discrete) -> ElementResult {
        let relative = Self::relative(at.time, at.position, at.velocity);
        *next = self.law.commit(&at.parameters.law, at.discrete, &relative)?;
        Ok(())
    }
}
