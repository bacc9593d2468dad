//! Derivatives of the exponential spring.

use core::array::from_fn;

use nalgebra::{Matrix3, Scalar, Vector3};

use super::branches::Near;
use super::law::{Motion, Step, Tangential};
use super::normal::normal_force;
use super::{Discrete, ExponentialSpring, FrictionTransition, Parameters};
use crate::framework::variables::Numbers;
use crate::framework::{AtDynamics, Between, Blocks, Row, Slopes};
use crate::math::{Dual, Number, Real, SpatialForce, SpatialVelocity, rotated};

/// The directions of the normal force: height and speed, then its parameters.
const NORMAL: usize = 2 + 5;
/// The directions of the force in the plane by motion: position and velocity in the plane, and the normal force.
const MOTION: usize = 5;
const BY_NORMAL: usize = 4;
/// The next direction, by which the memory has derivatives.
const BY_HEIGHT: usize = 5;
/// The directions of variables: time, the parameters of friction and the memory.
const BY_VARIABLES: usize = 6;
const ALL: usize = BY_VARIABLES + 1 + 6 + <Discrete<f64> as Numbers<f64>>::COUNT;
/// How many directions are taken at once: numbers with more of them do not fit into registers.
const AT_ONCE: usize = 8;

type At<'a, T> = AtDynamics<'a, T, ExponentialSpring<T>>;

/// The parameters that the normal force depends on.
fn of_normal<S: Scalar>(p: &mut Parameters<S>) -> [&mut S; 5] {
    [&mut p.d0, &mut p.d1, &mut p.d2, &mut p.normal_viscosity, &mut p.max_normal_force]
}

/// The parameters that friction depends on.
fn of_friction<S: Scalar>(p: &mut Parameters<S>) -> [&mut S; 6] {
    [
        &mut p.friction_elasticity,
        &mut p.friction_viscosity,
        &mut p.settle_velocity,
        &mut p.release_velocity,
        &mut p.mu_static,
        &mut p.mu_kinetic,
    ]
}

/// Makes `N` numbers from this one on variables of a direction each.
#[inline]
fn varied<T: Real, const N: usize>(first: usize) -> impl FnMut(T) -> Dual<T, N> {
    let mut place = 0;
    move |number| {
        let direction = place - first.min(place);
        let varies = place >= first && direction < N;
        place += 1;
        if varies { Dual::variable(number, direction) } else { Dual::of(number) }
    }
}

/// The derivatives of the normal force in its first `N` directions.
#[inline]
fn normal_slopes<T: Real, const N: usize>(at: &At<'_, T>) -> [T; N] {
    let mut vary = varied(0);
    let [height, speed] = [at.position.height, at.velocity.v_PS.z].map(&mut vary);
    let mut parameters = at.parameters.lift(&mut Dual::of);
    for number in of_normal(&mut parameters) {
        *number = vary(number.value);
    }
    normal_force(&parameters, height, speed).total.slopes
}

/// The law in the plane, with derivatives in `N` directions.
struct Varied<T: Real, const N: usize> {
    motion: Motion<Dual<T, N>>,
    memory: Discrete<Dual<T, N>>,
    tangential: Tangential<Dual<T, N>>,
}

impl<T: Real, const N: usize> Varied<T, N> {
    /// In those from this one on.
    #[inline]
    fn new(at: &At<'_, T>, first: usize) -> Self {
        let mut vary = varied(first);
        let [position, velocity] = [at.position.p_PS.coords, at.velocity.v_PS].map(|v| v.xy().map(&mut vary));
        let [normal, height, time] = [at.dynamics.normal_force, at.position.height, at.time].map(&mut vary);
        let mut parameters = at.parameters.lift(&mut Dual::of);
        for number in of_friction(&mut parameters) {
            *number = vary(number.value);
        }
        let memory = at.discrete.lift(&mut vary);
        let elapsed = time - memory.last_update;
        let tangential = parameters.tangential(&memory, [position, velocity], normal, elapsed);
        let (position, velocity) = (position.push(height), velocity.push(Dual::of(at.velocity.v_PS.z)));
        Self { motion: Motion { position, velocity, time }, memory, tangential }
    }

    /// The force in the plane.
    fn friction(&self) -> [Dual<T, N>; 2] {
        let force = self.tangential.friction.elastic + self.tangential.friction.damping;
        [force.x, force.y]
    }
}

/// Derivatives by position and velocity from those in the first directions, given those of the normal force by height and
/// speed.
fn by_motion<T: Real>(by: &[T], normal: [T; 2]) -> [Vector3<T>; 2] {
    let by_height = by.get(BY_HEIGHT).copied().unwrap_or(T::zero());
    let [position, velocity] = normal.map(|slope| by[BY_NORMAL] * slope);
    [Vector3::new(by[0], by[1], by_height + position), Vector3::new(by[2], by[3], velocity)]
}

/// The variables by which friction and the normal force have derivatives.
struct Places {
    friction: [usize; ALL - BY_VARIABLES],
    normal: [usize; NORMAL - 2],
}

impl Places {
    fn new<T: Real>(at: &At<'_, T>, blocks: &Blocks<'_, T>) -> Self {
        let mut parameters = at.parameters.places(blocks.parameter(0));
        let normal = of_normal(&mut parameters).map(|place| *place);
        let memory = blocks.discrete(0)..;
        let of_friction = of_friction(&mut parameters).map(|place| *place);
        let mut places = [Blocks::<T>::TIME].into_iter().chain(of_friction).chain(memory);
        Self { friction: from_fn(|_| places.next().unwrap_or(usize::MAX)), normal }
    }

    /// Calls `add` with each variable in these directions and the derivatives of some numbers by it, unless they are zero.
    fn for_each<T: Real, const R: usize>(
        &self,
        first: usize,
        numbers: [&Dual<T, AT_ONCE>; R],
        normal: &[T; NORMAL],
        mut add: impl FnMut(usize, [T; R]),
    ) {
        let mut add = |place, slopes: [T; R]| {
            if !slopes.iter().all(|slope| slope.vanishes()) {
                add(place, slopes);
            }
        };
        if first == 0 {
            for (place, by) in self.normal.iter().zip(&normal[2..]) {
                add(*place, numbers.map(|number| number.slopes[BY_NORMAL] * *by));
            }
        }
        for direction in first.max(BY_VARIABLES)..ALL.min(first + AT_ONCE) {
            add(
                self.friction[direction - BY_VARIABLES],
                numbers.map(|number| number.slopes[direction - first]),
            );
        }
    }
}

impl<T: Real> ExponentialSpring<T> {
    /// The velocity of the station as seen from the plane's body, in Ground; there is no torque that depends on a turn.
    fn velocity_G(at: &At<'_, T>) -> SpatialVelocity<T> {
        SpatialVelocity::new(Vector3::zeros(), at.position.X_GP.rotation * at.velocity.v_PS)
    }

    /// Stiffness and damping of friction that holds.
    fn grip(at: &At<'_, T>) -> Option<[T; 2]> {
        let Parameters { friction_elasticity: k, friction_viscosity: c, friction_transition, .. } =
            *at.parameters;
        let Discrete { sliding, overspeed, last_station, .. } = at.discrete;
        let share = match friction_transition {
            FrictionTransition::Settling => T::one() - *sliding,
            FrictionTransition::ReturnMapping if *overspeed > T::zero() => return None,
            FrictionTransition::ReturnMapping if last_station.is_some() || *sliding == T::zero() => T::one(),
            FrictionTransition::ReturnMapping => T::zero(),
        };
        (!at.dynamics.limit_reached).then_some([k * share, c])
    }

    pub(super) fn linearize_by_motion(&self, at: &At<'_, T>, blocks: &mut Blocks<'_, T>) {
        let normal = normal_slopes(at);
        let limit = at.dynamics.friction_force_limit;
        let mut near = Near { limit, room: T::lit(f64::INFINITY) };
        let none = [[Vector3::zeros(); 2]; 2];
        let [x, y] = if !at.parameters.holds(limit) {
            none
        } else if let Some([k, c]) = Self::grip(at) {
            // Most springs hold, where the law is that of a spring and a damper.
            let along = |factor: T| [Vector3::x() * -factor, Vector3::y() * -factor];
            let ([kx, ky], [cx, cy]) = (along(k), along(c));
            [[kx, cx], [ky, cy]]
        } else {
            let varied = Varied::<T, MOTION>::new(at, 0);
            let Near { limit, room } = varied.tangential.near;
            near = Near { limit: limit.value, room: room.value };
            varied.friction().map(|force| by_motion(&force.slopes, normal))
        };
        let R_GP = at.position.X_GP.rotation.matrix();
        let slopes = |i: usize| {
            let rows = [x[i], y[i], Vector3::z() * normal[i]];
            let in_P = Matrix3::from_fn(|row, column| rows[row][column]);
            Slopes::Separate { torque: Matrix3::zeros(), force: rotated(R_GP, &in_P) }
        };
        blocks.add_between(&Between {
            bodies: [self.plane.body, self.station.body],
            p_GM: at.position.p_GS,
            F_GM: SpatialForce::new(Vector3::zeros(), at.dynamics.force_G()),
            V_M: Self::velocity_G(at),
            by_position: slopes(0),
            by_velocity: slopes(1),
        });
        Self::state_branches(at, near, blocks);
    }

    pub(super) fn linearize_by_variables(&self, at: &At<'_, T>, blocks: &mut Blocks<'_, T>) {
        let (bodies, R_GP) = ([self.plane.body, self.station.body], at.position.X_GP.rotation);
        let (places, normal) = (Places::new(at, blocks), normal_slopes(at));
        let mut z = Dual::of(at.dynamics.normal_force);
        z.slopes[BY_NORMAL] = T::one();
        let directions = if at.parameters.holds(at.dynamics.friction_force_limit) { ALL } else { AT_ONCE };
        for first in (0..directions).step_by(AT_ONCE) {
            let [x, y] = &Varied::new(at, first).friction();
            places.for_each(first, [x, y, &z], &normal, |variable, in_P| {
                let force = SpatialForce::new(Vector3::zeros(), R_GP * Vector3::from(in_P));
                blocks.add_between_by_variable(bodies, &at.position.p_GS, variable, &force);
            });
            z = Dual::of(z.value);
        }
    }

    pub(super) fn linearize_memory(&self, at: &At<'_, T>, blocks: &mut Blocks<'_, T>) {
        // Differences return the error of the commit.
        let Ok(step) = Self::step(at) else { return blocks.differences() };
        let (bodies, R_GP) = ([self.plane.body, self.station.body], at.position.X_GP.rotation);
        let (p_GS, V_G, none) = (&at.position.p_GS, Self::velocity_G(at), Vector3::zeros());
        let (places, normal) = (Places::new(at, blocks), normal_slopes(at));
        // Without friction a commit depends on motion and time only.
        let is_free = step == Step::Whole && !at.parameters.holds(at.dynamics.friction_force_limit);
        let directions = if is_free { AT_ONCE } else { ALL };
        for first in (0..directions).step_by(AT_ONCE) {
            let Varied { motion, memory, tangential } = Varied::<T, AT_ONCE>::new(at, first);
            memory.after(step, &motion, tangential.next).for_each(|row, next| {
                let row = Row::Next(row);
                if first == 0 && !next.slopes[..=BY_HEIGHT].iter().all(|slope| slope.vanishes()) {
                    let [position, velocity] =
                        by_motion(&next.slopes, [normal[0], normal[1]]).map(|v| [none, R_GP * v]);
                    blocks.add_to_between(row, bodies, (p_GS, &V_G), position, velocity);
                }
                places.for_each(first, [&next], &normal, |variable, [slope]| {
                    blocks.add_to_by_variable(row, variable, slope);
                });
            });
        }
    }
}
