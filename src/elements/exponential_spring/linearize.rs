//! Derivatives of the exponential spring, its branches, and the stiffness that it reports.

use core::array::from_fn;

use nalgebra::{ComplexField, Matrix3, Vector2, Vector3};

use super::law::{Step, TOUCH, Tangential, length, normal_force};
use super::{Discrete, ExponentialSpring, Parameters};
use crate::framework::variables::Numbers;
use crate::framework::{AtDynamics, Between, Blocks, Row, Scope, Slopes, Stiffnesses};
use crate::math::{Dual, Number, Real, SpatialForce, SpatialVelocity, rotated, varied};

/// The parameters of the normal force alone, which are the first ones.
const OF_NORMAL: usize = 5;
const PARAMETERS: usize = <Parameters<f64> as Numbers<f64>>::COUNT;
const MEMORY: usize = <Discrete<f64> as Numbers<f64>>::COUNT;
/// The directions of motion: position and velocity of the station, in the plane's frame.
const MOTION: usize = 6;
/// Time, parameters and memory.
const VARIABLES: usize = 1 + PARAMETERS + MEMORY;
/// The last directions of friction: position and velocity in the plane, and the normal force.
const IN_PLANE: usize = 5;
/// All directions of friction: the other parameters and memory come first. Time has no direction of its own, since the
/// elapsed time depends on it as on the time of the last commit, with the opposite sign.
const FRICTION: usize = PARAMETERS - OF_NORMAL + MEMORY + IN_PLANE;

/// The law in numbers with derivatives: the normal force by height, speed and the parameters of the normal force, and
/// friction by the last of its directions. Height, speed and these parameters affect friction only through the normal
/// force.
struct Law<T: Real, const M: usize, const N: usize> {
    normal: Dual<T, M>,
    tangential: Tangential<Dual<T, N>>,
}

impl<T: Real, const M: usize, const N: usize> Law<T, M, N> {
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "results that are not read cost nothing")]
    fn of(at: &AtDynamics<'_, T, ExponentialSpring<T>>) -> Self {
        let (p, v) = (&at.position.p_PS.coords, &at.velocity.v_PS);
        let mut vary = varied(0);
        let [height, speed] = [p.z, v.z].map(&mut vary);
        let normal = normal_force(&at.parameters.lift(&mut vary), height, speed).total;
        let mut vary = varied(OF_NORMAL + FRICTION - N);
        let (parameters, memory) = (at.parameters.lift(&mut vary), at.discrete.lift(&mut vary));
        let motion = [p.xy(), v.xy()].map(|vector| vector.map(&mut vary));
        let elapsed = Dual::of(at.time) - memory.last_update;
        let tangential = parameters.tangential(&memory, motion, vary(normal.value), elapsed);
        Self { normal, tangential }
    }

    /// The force on the station, in the plane's frame.
    #[inline]
    fn force_P(&self) -> [Dual<T, N>; 3] {
        let friction = self.tangential.elastic + self.tangential.damping;
        [friction.x, friction.y, Dual::variable(self.normal.value, N - 1)]
    }

    /// The derivatives of a number by position and velocity of the station, in the plane's frame.
    #[inline]
    fn by_motion(&self, number: &Dual<T, N>) -> [T; MOTION] {
        let [x, y, u, v, by_normal] = from_fn(|i| number.slopes[N - IN_PLANE + i]);
        [x, y, by_normal * self.normal.slopes[0], u, v, by_normal * self.normal.slopes[1]]
    }
}

impl<T: Real> Law<T, { 2 + OF_NORMAL }, FRICTION> {
    /// The derivatives of a number by all variables, given the direction of the time of the last commit.
    #[inline]
    fn by_variables(&self, last_update: usize, number: &Dual<T, FRICTION>) -> [T; VARIABLES] {
        let by_normal = number.slopes[FRICTION - 1];
        from_fn(|variable| match variable.checked_sub(1) {
            None => -number.slopes[last_update],
            Some(parameter) if parameter < OF_NORMAL => by_normal * self.normal.slopes[2 + parameter],
            Some(other) => number.slopes[other - OF_NORMAL],
        })
    }
}

impl<T: Real> ExponentialSpring<T> {
    /// The velocity of the station relative to the plane's body, in Ground; its angular part is zero, since no torque
    /// depends on a rotation.
    fn velocity_G(at: &AtDynamics<'_, T, Self>) -> SpatialVelocity<T> {
        SpatialVelocity::new(Vector3::zeros(), at.position.X_GP.rotation * at.velocity.v_PS)
    }

    /// Writes the derivatives of the forces by motion, and the other derivatives in scope, which come from the same
    /// evaluation.
    pub(super) fn linearize_in_scope(&self, at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
        let Scope { variables, commit } = blocks.scope();
        if variables || commit {
            let law = Law::of(at);
            self.linearize_by_motion(at, &law, blocks);
            self.linearize_others(at, &law, blocks);
        } else {
            self.linearize_by_motion(at, &Law::<T, 2, IN_PLANE>::of(at), blocks);
        }
    }

    #[inline]
    fn linearize_by_motion<const M: usize, const N: usize>(
        &self,
        at: &AtDynamics<'_, T, Self>,
        law: &Law<T, M, N>,
        blocks: &mut Blocks<'_, T>,
    ) {
        let R_GP = at.position.X_GP.rotation.matrix();
        let rows = law.force_P().map(|number| law.by_motion(&number));
        let slopes = |first: usize| {
            let in_P = Matrix3::from_fn(|row, column| rows[row][first + column]);
            Slopes::Separate { torque: Matrix3::zeros(), force: rotated(R_GP, &in_P) }
        };
        blocks.add_between(&Between {
            bodies: [self.plane.body, self.station.body],
            p_GM: at.position.p_GS,
            F_GM: SpatialForce::new(Vector3::zeros(), at.dynamics.force_G()),
            V_M: Self::velocity_G(at),
            by_position: slopes(0),
            by_velocity: slopes(3),
        });
        Self::state_branches(at, [law.tangential.lowered_limit.value, law.tangential.room.value], blocks);
    }

    /// Writes the derivatives of the forces by variables, and those of the memory after a commit.
    #[inline]
    fn linearize_others(
        &self,
        at: &AtDynamics<'_, T, Self>,
        law: &Law<T, { 2 + OF_NORMAL }, FRICTION>,
        blocks: &mut Blocks<'_, T>,
    ) {
        let (bodies, R_GP) = ([self.plane.body, self.station.body], at.position.X_GP.rotation);
        let (p_GS, none, first) = (&at.position.p_GS, Vector3::zeros(), Blocks::<T>::TIME);
        let last_update = at.discrete.places(PARAMETERS - OF_NORMAL).last_update;
        let by_variables = |number: &Dual<T, FRICTION>| law.by_variables(last_update, number);
        let scope = blocks.scope();
        if scope.variables {
            let rows = law.force_P().map(|number| by_variables(&number));
            let changes: [_; VARIABLES] = from_fn(|variable| {
                SpatialForce::new(none, R_GP * Vector3::from_fn(|row, _| rows[row][variable]))
            });
            blocks.add_between_by_variables(bodies, p_GS, first, &changes);
        }
        // Differences return the error of the commit.
        let Some(step) = Self::step(at).ok().filter(|_| scope.commit) else { return };
        let V_G = Self::velocity_G(at);
        let by_motion =
            |blocks: &mut Blocks<'_, T>, row, by_position: Vector3<T>, by_velocity: Vector3<T>| {
                let (position, velocity) = ([none, R_GP * by_position], [none, R_GP * by_velocity]);
                blocks.add_to_between(Row::Next(row), bodies, (p_GS, &V_G), position, velocity);
            };
        let kept = |blocks: &mut Blocks<'_, T>, row| {
            blocks.add_to_by_variables(Row::Next(row), first + 1 + PARAMETERS + row, &[T::one()]);
        };
        let known = Discrete { last_station: Some(at.position.p_PS), ..*at.discrete };
        let rows = known.places(0);
        let Tangential { next_anchor, next_sliding, next_overspeed, .. } = law.tangential;
        for (row, next) in [
            (rows.anchor_P.x, &next_anchor.x),
            (rows.anchor_P.y, &next_anchor.y),
            (rows.sliding, &next_sliding),
            (rows.overspeed, &next_overspeed),
        ] {
            if step == Step::Whole {
                let [x, y, z, u, v, w] = law.by_motion(next);
                if ![x, y, z, u, v, w].into_iter().all(T::vanishes) {
                    by_motion(blocks, row, Vector3::new(x, y, z), Vector3::new(u, v, w));
                }
                blocks.add_to_by_variables(Row::Next(row), first, &by_variables(next));
            } else {
                kept(blocks, row);
            }
        }
        if step == Step::Nothing {
            kept(blocks, rows.last_update);
        } else {
            blocks.add_to_by_variables(Row::Next(rows.last_update), first, &[T::one()]);
        }
        let unit = |axis| Vector3::ith(axis, T::one());
        for (axis, &row) in rows.last_station.iter().flat_map(|station| station.coords.iter().enumerate()) {
            if step == Step::Nothing { kept(blocks, row) } else { by_motion(blocks, row, unit(axis), none) }
        }
        for (axis, &row) in rows.last_velocity_P.iter().enumerate() {
            if step == Step::Whole { by_motion(blocks, row, none, unit(axis)) } else { kept(blocks, row) }
        }
    }
}

impl<T: Real> ExponentialSpring<T> {
    /// States the branches, given the lowered friction limit and the room of the friction spring.
    fn state_branches(at: &AtDynamics<'_, T, Self>, near: [T; 2], blocks: &mut Blocks<'_, T>) {
        Self::state_friction(at, near, blocks);
        let Parameters { normal_viscosity, max_normal_force: max, .. } = *at.parameters;
        let factor = T::one() - normal_viscosity * at.velocity.v_PS.z;
        if normal_viscosity > T::zero() {
            let name = if factor > T::zero() { "pressing" } else { "let go" };
            blocks.branch(name, factor.abs() / normal_viscosity, "m/s");
        }
        if factor > T::zero() {
            let settling = at.parameters.settling;
            let most = if settling { factor } else { factor.max(T::one()) };
            let clamp = max - at.dynamics.normal_force_unclamped * most;
            // A clamped elastic part is damped while the station rises, and not while it descends.
            let is_damped = !settling && clamp < T::zero() && factor < T::one();
            let damped = max * (factor - T::one());
            let (name, margin) = match clamp < T::zero() {
                true if settling => ("clamped", clamp.abs()),
                true if is_damped => ("elastic part clamped", clamp.abs().min(damped.abs())),
                true => ("clamped", clamp.abs().min(damped.abs())),
                false => ("not clamped", clamp),
            };
            blocks.branch(name, margin, "N");
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
        let is_mapped = !parameters.settling;
        let is_anchored = !is_mapped || last_station.is_some() || *sliding == zero;
        let velocity = at.velocity.v_PS.xy();
        let stretch =
            if is_anchored { at.position.p_PS.xy().coords - at.discrete.anchor_P } else { Vector2::zeros() };
        // The excess of the pull of spring and damper over the limit, if the anchor held.
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
        let motion = [at.position.p_PS.xy().coords, velocity];
        let slip = length(at.discrete.mean_velocity(motion, at.time - at.discrete.last_update));
        let falls = drop > zero && (release == zero || slip > release);
        let is_slack = speed * c > lowered_limit;
        let mut margin = beyond_least;
        if falls {
            // If the spring pulls against the damper, the damper alone counts.
            let alone = speed * c - limit;
            let excess = pull.max(alone);
            margin = margin.min(excess.abs());
            if excess > zero {
                margin = margin.min((excess - drop).abs()).min((pull - alone).abs());
            }
        } else if !(is_slack || *overspeed > zero) {
            margin = margin.min(pull.abs());
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
            nearest = nearest.min((slip - release).abs());
        }
        if !slips && *sliding > zero {
            nearest = nearest.min((speed - parameters.settle_velocity).abs());
        }
        if nearest.is_finite() {
            blocks.branch(if is_slack { "slack" } else { "taut" }, nearest, "m/s");
        }
    }
}

impl<T: Real> ExponentialSpring<T> {
    /// Reports
    ///
    /// - the friction spring, which resists whenever the station touches;
    /// - the exponential at the present height;
    /// - if the station may strike, the exponential at the speed that the host states, or at the present speed of a
    ///   station that touches.
    ///
    /// A mass `m` that strikes at `v` turns where the exponential has stored `U = m·∫u/(1 + cz·u) du` over the speeds up
    /// to `v`. With the slope `d2·f` and `f = d2·U`, it then has `ω² = (d2·v)²·(y − ln(1 + y))/y²` and the damping rate
    /// `γ = cz·d2·U/m = d2·v·(y − ln(1 + y))/y` with `y = cz·v`, for any mass. Twice the frequency is reported: an impact
    /// gains less than 1 % of its energy at half of the bound of an oscillation, and doubles it at the bound.
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
        let (force, max) = (at.dynamics.normal_force, at.parameters.max_normal_force);
        // By the law of the source the damper multiplies the unclamped exponential while their product is below the
        // clamp.
        let is_unclamped = at.parameters.settling && force > T::zero() && force < max;
        let damped =
            if is_unclamped { at.dynamics.normal_force_unclamped } else { at.dynamics.normal_force_elastic };
        let damping = cz * damped.to_f64();
        let normal_G = at.position.X_GP.rotation.matrix().column(2).map(T::to_f64);
        stiffnesses.in_direction(d2 * pressed.to_f64(), damping, normal_G, ends);
        stiffnesses.load(at.dynamics.force_G().norm().to_f64(), 0.0, ends);
        let approach = if touches { (-at.velocity.v_PS.z.to_f64()).max(0.0) } else { 0.0 };
        let speed = stiffnesses.impact_speed().max(approach);
        let y = cz * speed;
        // `(y − ln(1 + y))/y²`, which cancels for small `y`.
        let share = if y > 1e-4 { (y - ComplexField::ln_1p(y)) / (y * y) } else { 0.5 - y / 3.0 };
        stiffnesses.impact(2.0 * d2 * speed * ComplexField::sqrt(share), y * d2 * speed * share, ends);
    }
}
