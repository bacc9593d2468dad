//! Derivatives of the exponential spring, its branches, and the stiffness that it reports.

use core::array::from_fn;

use nalgebra::{ComplexField, Matrix3, Vector2, Vector3};

use super::law::{Step, TOUCH, Tangential, length, normal_force};
use super::{Discrete, ExponentialSpring, FrictionTransition, Parameters};
use crate::framework::variables::Numbers;
use crate::framework::{AtDynamics, Between, Blocks, Row, Slopes, Stiffnesses, varied};
use crate::math::{Dual, Number, Real, SpatialForce, SpatialVelocity, rotated};

/// The directions of motion: position and velocity of the station, in the plane's frame.
const MOTION: usize = 6;
/// The directions of everything on which forces and a commit depend: motion, then time, parameters and memory.
const ALL: usize =
    MOTION + 1 + <Parameters<f64> as Numbers<f64>>::COUNT + <Discrete<f64> as Numbers<f64>>::COUNT;

type At<'a, T> = AtDynamics<'a, T, ExponentialSpring<T>>;

/// The law in numbers with derivatives in the first `N` directions.
struct Law<T: Real, const N: usize> {
    /// The force on the station, in the plane's frame.
    force_P: [Dual<T, N>; 3],
    tangential: Tangential<Dual<T, N>>,
    memory: Discrete<Dual<T, N>>,
    /// Everything that a commit can write.
    next: Discrete<Dual<T, N>>,
}

impl<T: Real, const N: usize> Law<T, N> {
    #[inline]
    fn of(at: &At<'_, T>) -> Self {
        let mut vary = varied(0);
        let [p, v] = [at.position.p_PS.coords, at.velocity.v_PS].map(|vector| vector.map(&mut vary));
        let time = vary(at.time);
        let parameters = at.parameters.lift(&mut vary);
        let memory = at.discrete.lift(&mut vary);
        let normal = normal_force(&parameters, p.z, v.z).total;
        let elapsed = time - memory.last_update;
        let tangential = parameters.tangential(&memory, [p.xy(), v.xy()], normal, elapsed);
        let friction = tangential.elastic + tangential.damping;
        let next = Discrete {
            anchor_P: tangential.next_anchor,
            sliding: tangential.next_sliding,
            last_update: time,
            last_station: Some(p.into()),
            last_velocity_P: v.xy(),
            overspeed: tangential.next_overspeed,
        };
        Self { force_P: [friction.x, friction.y, normal], tangential, memory, next }
    }
}

impl<T: Real> ExponentialSpring<T> {
    /// The velocity of the station as seen from the plane's body, in Ground; no torque depends on a rotation.
    fn velocity_G(at: &At<'_, T>) -> SpatialVelocity<T> {
        SpatialVelocity::new(Vector3::zeros(), at.position.X_GP.rotation * at.velocity.v_PS)
    }

    pub(super) fn linearize_by_motion(&self, at: &At<'_, T>, blocks: &mut Blocks<'_, T>) {
        let Law { force_P, tangential, .. } = Law::<T, MOTION>::of(at);
        let R_GP = at.position.X_GP.rotation.matrix();
        let slopes = |first: usize| {
            let in_P = Matrix3::from_fn(|row, column| force_P[row].slopes[first + column]);
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
        Self::state_branches(at, [tangential.lowered_limit.value, tangential.room.value], blocks);
    }

    /// Writes the derivatives of the forces by variables, and those of the memory after a commit.
    pub(super) fn linearize_others(
        &self,
        at: &At<'_, T>,
        forces: bool,
        commit: Option<Step>,
        blocks: &mut Blocks<'_, T>,
    ) {
        let (bodies, R_GP) = ([self.plane.body, self.station.body], at.position.X_GP.rotation);
        let (p_GS, none, first) = (&at.position.p_GS, Vector3::zeros(), Blocks::<T>::TIME);
        let Law { force_P, memory, next, .. } = Law::<T, ALL>::of(at);
        if forces {
            let changes: [_; ALL - MOTION] = from_fn(|variable| {
                let in_P = Vector3::from_fn(|row, _| force_P[row].slopes[MOTION + variable]);
                SpatialForce::new(none, R_GP * in_P)
            });
            blocks.add_between_by_variables(bodies, p_GS, first, &changes);
        }
        let Some(step) = commit else { return };
        let V_G = Self::velocity_G(at);
        <Discrete<T> as Numbers<T>>::for_each_over(&memory.after(step, next), |row, next: Dual<T, ALL>| {
            let (motion, by_variables) = next.slopes.split_at(MOTION);
            let row = Row::Next(row);
            if !motion.iter().all(|slope| slope.vanishes()) {
                let [position, velocity] =
                    [0, 3].map(|first| [none, R_GP * Vector3::from_column_slice(&motion[first..first + 3])]);
                blocks.add_to_between(row, bodies, (p_GS, &V_G), position, velocity);
            }
            blocks.add_to_by_variables(row, first, by_variables);
        });
    }
}

impl<T: Real> ExponentialSpring<T> {
    /// States the branches, given the friction limit and the room of its spring.
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
    /// Reports the friction spring, which resists whenever the station touches; the exponential at present; and, if the
    /// station may strike, the exponential at the speed that the host states or at the present speed of a station that
    /// touches.
    ///
    /// A mass `m` that strikes at `v` turns where the exponential has stored `U = m·∫u/(1 + cz·u) du` over the speeds
    /// up to `v`. With the slope `d2·f` and `f = d2·U`, it then has `ω² = (d2·v)²·(y − ln(1 + y))/y²` and the damping
    /// rate `γ = cz·d2·U/m = d2·v·(y − ln(1 + y))/y` with `y = cz·v`, for any mass. Twice the frequency is reported: an
    /// impact gains less than 1 % of its energy at half of the bound of an oscillation, and doubles it at the bound.
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
        // `(y − ln(1 + y))/y²`, which cancels for small `y`.
        let share = if y > 1e-4 { (y - ComplexField::ln_1p(y)) / (y * y) } else { 0.5 - y / 3.0 };
        stiffnesses.impact(2.0 * d2 * speed * ComplexField::sqrt(share), y * d2 * speed * share, ends);
    }
}
