//! Derivatives of the exponential spring.

use nalgebra::{Matrix3, Vector2, Vector3};

use super::branches::Near;
use super::friction::{Friction, exceeds};
use super::law::{Law, Memory, Motion, Outcome, Pulled};
use super::normal::normal_force;
use super::slider::Slider;
use super::{Discrete, ExponentialSpring, FrictionTransition, Parameters, Step};
use crate::framework::{AtDynamics, Between, Blocks, Row, Slopes};
use crate::math::{Dual, Number, Real, SpatialForce, SpatialVelocity, have_same_bits, rotated};

/// Position and velocity of the station in the plane's frame.
const MOTION: usize = 6;
/// Time, and the numbers of the parameters and of the memory.
const VARIABLES: usize = 1 + PARAMETERS + MEMORY;
const PARAMETERS: usize = 11;
const MEMORY: usize = 10;
/// The parameters of the normal force come first.
const OF_NORMAL: usize = 5;
/// Places among the variables.
const ELASTICITY: usize = 6;
const VISCOSITY: usize = 7;
const ANCHOR: usize = 1 + PARAMETERS;
const SLIDING: usize = ANCHOR + 2;
const OVERSPEED: usize = ANCHOR + 9;

/// Derivatives by the variables.
struct ByVariables<T> {
    /// Of the force on the station, in the plane's frame.
    force: [[T; VARIABLES]; 3],
    /// Of what a commit writes, in the order of [`written`].
    next: [[T; VARIABLES]; 4],
}

impl<T: Real> ExponentialSpring<T> {
    /// The outcome of the law with derivatives by the motion.
    fn by_motion(at: &AtDynamics<'_, T, Self>) -> Outcome<Dual<T, MOTION>> {
        let law = Law::of(at.parameters, |number, _| Dual::of(number));
        let memory = Memory::of(at.discrete, |number, _| Dual::of(number));
        let vary = |v: &Vector3<T>, first: usize| {
            let [x, y, z] = [0, 1, 2].map(|axis| Dual::variable(v[axis], first + axis));
            Vector3::new(x, y, z)
        };
        let position = vary(&at.position.p_PS.coords, 0);
        let velocity = vary(&at.velocity.v_PS, 3);
        let motion = Motion { position, velocity, time: Dual::of(at.time) };
        law.evaluate(at.parameters.friction_transition, &memory, &motion)
    }

    /// The derivatives of the force on the station by its position and velocity, in the plane's frame.
    fn force_by_motion(at: &AtDynamics<'_, T, Self>) -> ([Matrix3<T>; 2], Near<T>) {
        let Parameters { d2, normal_viscosity, max_normal_force, .. } = *at.parameters;
        let exponential = at.dynamics.normal_force_unclamped;
        let factor = T::one() - normal_viscosity * at.velocity.v_PS.z;
        let is_free = factor > T::zero() && exponential * factor <= max_normal_force;
        let normal = if is_free {
            [-d2 * exponential * factor, -normal_viscosity * exponential]
        } else {
            [T::zero(); 2]
        };
        let (friction, near) = Self::friction_by_motion(at);
        let of = |first: usize, by_normal: T| {
            let row = |axis: usize| {
                let slopes = &friction[axis];
                [slopes[first], slopes[first + 1], slopes[4] * by_normal]
            };
            let ([xx, xy, xz], [yx, yy, yz], zero) = (row(0), row(1), T::zero());
            Matrix3::new(xx, xy, xz, yx, yy, yz, zero, zero, by_normal)
        };
        ([of(0, normal[0]), of(2, normal[1])], near)
    }

    /// The derivatives of the two components of friction by position and velocity in the plane, and by the normal force.
    #[inline]
    fn friction_by_motion(at: &AtDynamics<'_, T, Self>) -> ([[T; 5]; 2], Near<T>) {
        let (parameters, limit) = (at.parameters, at.dynamics.friction_force_limit);
        let (zero, mut near) = (T::zero(), Near::holding(limit));
        if !Law::new(parameters).holds(limit) {
            return ([[zero; 5]; 2], near);
        }
        let is_published = parameters.friction_transition == FrictionTransition::Settling;
        let Discrete { sliding, overspeed, last_station, .. } = at.discrete;
        if !at.dynamics.limit_reached && (is_published || *overspeed == zero) {
            // Spring and damper, the former without an anchor before the first commit of a station that slides.
            let share = match parameters.friction_transition {
                FrictionTransition::Settling => T::one() - *sliding,
                FrictionTransition::ReturnMapping if last_station.is_some() || *sliding == zero => T::one(),
                FrictionTransition::ReturnMapping => zero,
            };
            let (k, c) = (-parameters.friction_elasticity * share, -parameters.friction_viscosity);
            return ([[k, zero, c, zero, zero], [zero, k, zero, c, zero]], near);
        }
        let law = Law::of(parameters, |number, _| Dual::<T, 5>::of(number));
        let memory = Memory::of(at.discrete, |number, _| Dual::of(number));
        let vary =
            |v: &Vector3<T>, first| Vector2::new(Dual::variable(v.x, first), Dual::variable(v.y, first + 1));
        let (position, velocity) = (vary(&at.position.p_PS.coords, 0), vary(&at.velocity.v_PS, 2));
        let normal = Dual::variable(at.dynamics.normal_force, 4);
        let limit = law.friction_coefficient(&memory) * normal;
        let (elastic, damping) = if is_published {
            let friction = Friction::blended(&law, position - memory.anchor, velocity, limit, memory.sliding);
            (friction.elastic, friction.damping)
        } else {
            let Pulled { yielding, limit, .. } =
                law.pulls(&memory, true, [position, velocity], [normal, limit]);
            near = Near { limit: limit.value, room: yielding.room.value };
            (yielding.elastic, yielding.damping)
        };
        let force = elastic + damping;
        ([force.x.slopes, force.y.slopes], near)
    }

    /// Whether spring and damper hold the station at an anchor that stays where it is.
    fn is_anchored(at: &AtDynamics<'_, T, Self>) -> bool {
        let Discrete { sliding, overspeed, last_station, .. } = at.discrete;
        at.parameters.friction_transition == FrictionTransition::ReturnMapping
            && !at.dynamics.limit_reached
            && *overspeed == T::zero()
            && (last_station.is_some() || *sliding == T::zero())
    }

    /// The derivatives by the variables of the force on the station, in the plane's frame, and of what a commit writes.
    fn by_variables(at: &AtDynamics<'_, T, Self>) -> ByVariables<T> {
        if Self::is_anchored(at) {
            return Self::by_variables_while_anchored(at);
        }
        let law = Law::of(at.parameters, |number, place| Dual::variable(number, 1 + place));
        let memory = Memory::of(at.discrete, |number, place| Dual::variable(number, ANCHOR + place));
        let constant = |v: &Vector3<T>| Vector3::new(Dual::of(v.x), Dual::of(v.y), Dual::of(v.z));
        let position = constant(&at.position.p_PS.coords);
        let velocity = constant(&at.velocity.v_PS);
        let motion = Motion { position, velocity, time: Dual::variable(at.time, 0) };
        let outcome: Outcome<Dual<T, VARIABLES>> =
            law.evaluate(at.parameters.friction_transition, &memory, &motion);
        let friction: Vector2<_> = outcome.friction.elastic + outcome.friction.damping;
        ByVariables {
            force: [friction.x, friction.y, outcome.normal.total].map(|component| component.slopes),
            next: written(&outcome).map(|next| next.slopes),
        }
    }

    fn by_variables_while_anchored(at: &AtDynamics<'_, T, Self>) -> ByVariables<T> {
        let mut by = ByVariables { force: [[T::zero(); VARIABLES]; 3], next: [[T::zero(); VARIABLES]; 4] };
        let law = Law::of(at.parameters, |number, place| {
            if place < OF_NORMAL { Dual::variable(number, place) } else { Dual::<T, OF_NORMAL>::of(number) }
        });
        let [height, speed] = [at.position.height, at.velocity.v_PS.z].map(Dual::of);
        by.force[2][1..=OF_NORMAL].copy_from_slice(&normal_force(&law, height, speed).total.slopes);
        for axis in 0..2 {
            by.force[axis][ELASTICITY] = at.discrete.anchor_P[axis] - at.position.p_PS[axis];
            by.force[axis][VISCOSITY] = -at.velocity.v_PS[axis];
            by.force[axis][ANCHOR + axis] = at.parameters.friction_elasticity;
            by.next[axis][ANCHOR + axis] = T::one();
        }
        // Had it been too fast for its spring, the anchor would have been dragged along.
        let law = Law::of(at.parameters, |number, _| Dual::<T, 1>::of(number));
        let memory =
            Memory { overspeed: Dual::variable(T::zero(), 0), ..Memory::of(at.discrete, |n, _| Dual::of(n)) };
        let [position, velocity] = [at.position.p_PS.coords, at.velocity.v_PS].map(|v| v.xy().map(Dual::of));
        let limit = Dual::of(at.dynamics.friction_force_limit);
        let dragged = Slider::committed(&memory, position).friction(&law, position, velocity, limit);
        for axis in 0..2 {
            let [by_overspeed] = dragged.stretch[axis].slopes;
            by.force[axis][OVERSPEED] = -at.parameters.friction_elasticity * by_overspeed;
            by.next[axis][OVERSPEED] = -by_overspeed;
        }
        if exceeds(at.velocity.v_PS.xy(), at.parameters.settle_velocity) {
            by.next[2][SLIDING] = T::one();
        }
        by
    }

    /// The velocity of the station as seen from the plane's body, in Ground; there is no torque that depends on a turn.
    fn velocity_G(at: &AtDynamics<'_, T, Self>) -> SpatialVelocity<T> {
        SpatialVelocity::new(Vector3::zeros(), at.position.X_GP.rotation * at.velocity.v_PS)
    }

    pub(super) fn linearize_by_motion(&self, at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
        let R_GP = at.position.X_GP.rotation.matrix();
        let ([by_position, by_velocity], near) = Self::force_by_motion(at);
        let along = |in_P| Slopes::Separate { torque: Matrix3::zeros(), force: rotated(R_GP, in_P) };
        blocks.add_between(&Between {
            bodies: [self.plane.body, self.station.body],
            p_GM: at.position.p_GS,
            F_GM: SpatialForce::new(Vector3::zeros(), at.dynamics.force_G()),
            V_M: Self::velocity_G(at),
            by_position: along(&by_position),
            by_velocity: along(&by_velocity),
        });
        Self::state_branches(at, near, blocks);
    }

    pub(super) fn linearize_by_variables(&self, at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
        let [x, y, z] = Self::by_variables(at).force;
        for (variable, ((&x, &y), &z)) in x.iter().zip(&y).zip(&z).enumerate() {
            let change = Vector3::new(x, y, z);
            if !change.iter().all(is_nothing) {
                let change = SpatialForce::new(Vector3::zeros(), at.position.X_GP.rotation * change);
                let bodies = [self.plane.body, self.station.body];
                blocks.add_between_by_variable(bodies, &at.position.p_GS, variable, &change);
            }
        }
    }

    pub(super) fn linearize_memory(&self, at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
        // Differences return the error of the commit.
        let Ok(step) = Self::step(at) else { return blocks.differences() };
        if step == Step::Whole {
            if !Self::is_anchored(at) {
                for (number, next) in WRITTEN.into_iter().zip(written(&Self::by_motion(at))) {
                    let [by_position, by_velocity] =
                        [0, 3].map(|first| Vector3::from_fn(|axis, _| next.slopes[first + axis]));
                    self.add_row(at, number, by_position, by_velocity, blocks);
                }
            }
            for (number, slopes) in WRITTEN.into_iter().zip(&Self::by_variables(at).next) {
                for (variable, &slope) in slopes.iter().enumerate() {
                    if is_nothing(&slope) {
                        continue;
                    }
                    blocks.add_to_by_variable(Row::Next(number), variable, slope);
                }
            }
            for axis in 0..2 {
                self.add_row(at, 7 + axis, Vector3::zeros(), Vector3::ith(axis, T::one()), blocks);
            }
        }
        if step != Step::Nothing {
            blocks.add_to_by_variable(Row::Next(3), Blocks::<T>::TIME, T::one());
            for axis in 0..3 {
                self.add_row(at, 4 + axis, Vector3::ith(axis, T::one()), Vector3::zeros(), blocks);
            }
        }
        let is_kept = |number: usize| match step {
            Step::Whole => false,
            Step::First => !(3..7).contains(&number),
            Step::Nothing => true,
        };
        for number in (0..MEMORY).filter(|&number| is_kept(number)) {
            let present = blocks.discrete(number);
            blocks.add_to_by_variable(Row::Next(number), present, T::one());
        }
    }

    /// Adds the derivatives of one number of the memory by position and velocity in the plane's frame.
    fn add_row(
        &self,
        at: &AtDynamics<'_, T, Self>,
        number: usize,
        by_position: Vector3<T>,
        by_velocity: Vector3<T>,
        blocks: &mut Blocks<'_, T>,
    ) {
        let R_GP = &at.position.X_GP.rotation;
        let none = Vector3::zeros();
        blocks.add_to_between(
            Row::Next(number),
            [self.plane.body, self.station.body],
            (&at.position.p_GS, &Self::velocity_G(at)),
            [none, R_GP * by_position],
            [none, R_GP * by_velocity],
        );
    }
}

/// Zero without derivatives of its own.
fn is_nothing<T: Real>(slope: &T) -> bool {
    have_same_bits(*slope, T::zero())
}

/// The places among the numbers of the memory of what a commit writes that depends on the law.
const WRITTEN: [usize; 4] = [0, 1, 2, 9];

/// What a commit writes there.
fn written<T: Real, const N: usize>(outcome: &Outcome<Dual<T, N>>) -> [Dual<T, N>; 4] {
    let next = &outcome.next;
    [next.anchor.x, next.anchor.y, next.sliding, next.overspeed]
}
