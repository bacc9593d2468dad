//! Derivatives of the exponential spring, its branches, and the stiffness that it reports.

use core::array::from_fn;

use nalgebra::{ComplexField, Matrix3, Scalar, Vector2, Vector3};

use super::law::{Step, Tangential, length, normal_force};
use super::{Discrete, ExponentialSpring, FrictionTransition, Parameters};
use crate::framework::variables::Numbers;
use crate::framework::{AtDynamics, Between, Blocks, Row, Slopes, Stiffnesses, varied};
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

/// The law in the plane, the memory, and all that a commit can write, with derivatives in `N` directions from this one on.
#[inline]
fn vary<T: Real, const N: usize>(
    at: &At<'_, T>,
    first: usize,
) -> (Tangential<Dual<T, N>>, [Discrete<Dual<T, N>>; 2]) {
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
    let next = Discrete {
        anchor_P: tangential.next_anchor,
        sliding: tangential.next_sliding,
        last_update: time,
        last_station: Some(position.push(height).into()),
        last_velocity_P: velocity,
        overspeed: tangential.next_overspeed,
    };
    (tangential, [memory, next])
}

/// The components of friction.
fn components<T: Real, const N: usize>(tangential: &Tangential<Dual<T, N>>) -> [Dual<T, N>; 2] {
    let force = tangential.elastic + tangential.damping;
    [force.x, force.y]
}

/// Derivatives by position and velocity from those in the first directions, given those of the normal force by height and
/// speed.
fn by_motion<T: Real>(by: &[T], normal: [T; 2]) -> [Vector3<T>; 2] {
    let by_height = by.get(BY_HEIGHT).copied().unwrap_or(T::zero());
    let [position, velocity] = normal.map(|slope| by[BY_NORMAL] * slope);
    [Vector3::new(by[0], by[1], by_height + position), Vector3::new(by[2], by[3], velocity)]
}

/// The variables in the directions after motion: time, the parameters of friction and the memory. Then the parameters of the
/// normal force.
fn places<T: Real>(
    at: &At<'_, T>,
    blocks: &Blocks<'_, T>,
) -> ([usize; ALL - BY_VARIABLES], [usize; NORMAL - 2]) {
    let mut parameters = at.parameters.places(blocks.parameter(0));
    let normal = of_normal(&mut parameters).map(|place| *place);
    let of_friction = of_friction(&mut parameters).map(|place| *place);
    let mut places = [Blocks::<T>::TIME].into_iter().chain(of_friction).chain(blocks.discrete(0)..);
    (from_fn(|_| places.next().unwrap_or(usize::MAX)), normal)
}

/// Calls `add` with each variable in the directions from this one on and the derivatives of some numbers by it, unless they are
/// zero.
fn for_each_slope<T: Real, const R: usize>(
    (places, of_normal): &([usize; ALL - BY_VARIABLES], [usize; NORMAL - 2]),
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
        for (place, by) in of_normal.iter().zip(&normal[2..]) {
            add(*place, numbers.map(|number| number.slopes[BY_NORMAL] * *by));
        }
    }
    for direction in first.max(BY_VARIABLES)..ALL.min(first + AT_ONCE) {
        add(places[direction - BY_VARIABLES], numbers.map(|number| number.slopes[direction - first]));
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
        let mut near = [limit, T::lit(f64::INFINITY)];
        let none = [[Vector3::zeros(); 2]; 2];
        let [x, y] = if !at.parameters.holds(limit) {
            none
        } else if let Some([k, c]) = Self::grip(at) {
            // Most springs hold, where the law is that of a spring and a damper.
            let along = |factor: T| [Vector3::x() * -factor, Vector3::y() * -factor];
            let ([kx, ky], [cx, cy]) = (along(k), along(c));
            [[kx, cx], [ky, cy]]
        } else {
            let (tangential, _) = vary::<T, MOTION>(at, 0);
            near = [tangential.lowered_limit.value, tangential.room.value];
            components(&tangential).map(|force| by_motion(&force.slopes, normal))
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

    /// Writes the derivatives of the forces by variables, and those of the memory after what a commit does.
    pub(super) fn linearize_others(
        &self,
        at: &At<'_, T>,
        forces: bool,
        commit: Option<Step>,
        blocks: &mut Blocks<'_, T>,
    ) {
        let (bodies, R_GP) = ([self.plane.body, self.station.body], at.position.X_GP.rotation);
        let (p_GS, V_G, none) = (&at.position.p_GS, Self::velocity_G(at), Vector3::zeros());
        let (places, normal) = (places(at, blocks), normal_slopes(at));
        let mut z = Dual::of(at.dynamics.normal_force);
        z.slopes[BY_NORMAL] = T::one();
        // Without friction, forces and a commit depend on motion, time and the normal force only.
        let is_free = !at.parameters.holds(at.dynamics.friction_force_limit);
        let keeps_all = commit.is_some_and(|step| step != Step::Whole);
        let directions = if is_free && !keeps_all { AT_ONCE } else { ALL };
        for first in (0..directions).step_by(AT_ONCE) {
            let (tangential, [memory, next]) = vary::<T, AT_ONCE>(at, first);
            if forces {
                let [x, y] = &components(&tangential);
                for_each_slope(&places, first, [x, y, &z], &normal, |variable, in_P| {
                    let force = SpatialForce::new(none, R_GP * Vector3::from(in_P));
                    blocks.add_between_by_variable(bodies, p_GS, variable, &force);
                });
                z = Dual::of(z.value);
            }
            let Some(step) = commit else { continue };
            memory.after(step, next).for_each(|row, next| {
                let row = Row::Next(row);
                if first == 0 && !next.slopes[..=BY_HEIGHT].iter().all(|slope| slope.vanishes()) {
                    let [position, velocity] =
                        by_motion(&next.slopes, [normal[0], normal[1]]).map(|v| [none, R_GP * v]);
                    blocks.add_to_between(row, bodies, (p_GS, &V_G), position, velocity);
                }
                for_each_slope(&places, first, [&next], &normal, |variable, [slope]| {
                    blocks.add_to_by_variable(row, variable, slope);
                });
            });
        }
    }
}

impl<T: Real> ExponentialSpring<T> {
    /// States the branches, given the limit and the room of friction that is not simply held.
    fn state_branches(at: &AtDynamics<'_, T, Self>, near: [T; 2], blocks: &mut Blocks<'_, T>) {
        Self::state_friction(at, near, blocks);
        let Parameters { normal_viscosity, max_normal_force: max, .. } = *at.parameters;
        let factor = T::one() - normal_viscosity * at.velocity.v_PS.z;
        if normal_viscosity > T::zero() {
            let name = if factor > T::zero() { "pressing" } else { "let go" };
            blocks.branch(name, factor.abs() / normal_viscosity, "m/s");
        }
        if factor > T::zero() {
            let clamp = max - at.dynamics.normal_force_unclamped * factor;
            blocks.branch(if clamp < T::zero() { "clamped" } else { "not clamped" }, clamp.abs(), "N");
        }
    }

    fn state_friction(
        at: &AtDynamics<'_, T, Self>,
        [lowered_limit, room]: [T; 2],
        blocks: &mut Blocks<'_, T>,
    ) {
        let parameters = at.parameters;
        let Parameters { friction_elasticity: k, friction_viscosity: c, .. } = *parameters;
        let Discrete { sliding, overspeed, last_station, .. } = at.discrete;
        let (zero, limit) = (T::zero(), at.dynamics.friction_force_limit);
        let beyond_least = limit - parameters.least_limit();
        if beyond_least <= zero {
            blocks.branch("free", -beyond_least, "N");
            return;
        }
        let is_mapped = parameters.friction_transition == FrictionTransition::ReturnMapping;
        let is_anchored = !is_mapped || last_station.is_some() || *sliding == zero;
        let velocity = at.velocity.v_PS.xy();
        let stretch =
            if is_anchored { at.position.p_PS.xy().coords - at.discrete.anchor_P } else { Vector2::zeros() };
        // By how much spring and damper would pull beyond the limit if the anchor held.
        let pull = length(stretch * k + velocity * c) - limit;
        let slips = at.dynamics.limit_reached;
        let name = if slips { "slipping" } else { "sticking" };
        if !is_mapped {
            let mut margin = beyond_least;
            if *sliding < T::one() {
                margin = margin.min(pull.abs());
            }
            if *sliding > zero {
                margin = margin.min((length(velocity) * c - limit).abs());
            }
            return blocks.branch(name, margin, "N");
        }

        let speed = length(velocity);
        let release = parameters.release_velocity;
        let drop =
            (parameters.mu_static - parameters.mu_kinetic) * at.dynamics.normal_force * (T::one() - *sliding);
        let falls = drop > zero && (release == zero || speed > release);
        let is_slack = speed * c > lowered_limit;
        let mut margin = beyond_least;
        if falls || !(is_slack || *overspeed > zero) {
            margin = margin.min(pull.abs());
        }
        if falls && pull > zero {
            margin = margin.min((pull - drop).abs());
        }
        if slips && is_anchored {
            margin = margin.min(room * k);
        } else if *overspeed > zero {
            margin = margin.min((lowered_limit - length(at.dynamics.friction_force_P)).abs());
        }
        blocks.branch(name, margin, "N");

        let mut nearest = T::lit(f64::INFINITY);
        if c > zero {
            nearest = (speed - lowered_limit / c).abs();
        }
        if slips && release > zero && *sliding < T::one() {
            nearest = nearest.min((speed - release).abs());
        }
        if !slips && *sliding > zero {
            nearest = nearest.min((speed - parameters.settle_velocity).abs());
        }
        if nearest.is_finite() {
            blocks.branch(if is_slack { "slack" } else { "taut" }, nearest, "m/s");
        }
    }
}

/// The share of `d1` above which a normal force counts as contact: seven decay lengths above the height where it is `d1`.
const TOUCH: f64 = 1e-3;

impl<T: Real> ExponentialSpring<T> {
    /// Reports the friction spring, which resists whenever the station touches; the exponential at present; and if the
    /// station may strike, at the speed that the host states or the present one of a station that touches, the exponential then.
    ///
    /// A mass `m` that strikes at `v` turns where the exponential has stored `U = m·∫u/(1 + cz·u) du` over the speeds up to
    /// `v`. With the slope `d2·f`, `f = d2·U`, it then has `ω² = (d2·v)²·(y − ln(1 + y))/y²` and the damping rate
    /// `γ = cz·d2·U/m = d2·v·(y − ln(1 + y))/y` with `y = cz·v`, whatever it weighs. Twice the frequency is reported: at
    /// half of the bound of an oscillation an impact gains less than 1 % of its energy, at the bound it doubles it.
    pub(super) fn report_spring(&self, at: &AtDynamics<'_, T, Self>, stiffnesses: &mut Stiffnesses<'_, T>) {
        let Parameters { d1, d2, normal_viscosity, friction_elasticity, friction_viscosity, .. } =
            *at.parameters;
        let ends = [self.station.body, self.plane.body].map(|body| (body, at.position.p_GS));
        let pressed = at.dynamics.normal_force_elastic.max(at.dynamics.normal_force);
        let touches = pressed > d1 * T::lit(TOUCH);
        if touches || stiffnesses.impact_speed() > 0.0 {
            stiffnesses.between(friction_elasticity.to_f64(), friction_viscosity.to_f64(), ends);
        }
        let (d2, cz) = (d2.to_f64(), normal_viscosity.to_f64());
        let damping = cz * at.dynamics.normal_force_elastic.to_f64();
        let normal_G = at.position.X_GP.rotation.matrix().column(2).map(T::to_f64);
        stiffnesses.in_direction(d2 * pressed.to_f64(), damping, normal_G, ends);
        let approach = if touches { (-at.velocity.v_PS.z.to_f64()).max(0.0) } else { 0.0 };
        let speed = stiffnesses.impact_speed().max(approach);
        let y = cz * speed;
        // `(y − ln(1 + y))/y²`, of which little is left of small `y`.
        let share = if y > 1e-4 { (y - ComplexField::ln_1p(y)) / (y * y) } else { 0.5 - y / 3.0 };
        stiffnesses.struck(2.0 * d2 * speed * ComplexField::sqrt(share), y * d2 * speed * share, ends);
    }
}
