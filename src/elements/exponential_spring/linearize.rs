//! Derivatives of the exponential spring.

use nalgebra::{Matrix3, Vector2, Vector3};

use super::branches::Near;
use super::friction::{Friction, exceeds};
use super::law::{Motion, Pulled, Step};
use super::normal::normal_force;
use super::slider::Slider;
use super::{Discrete, ExponentialSpring, FrictionTransition, Parameters};
use crate::framework::variables::Numbers;
use crate::framework::{AtDynamics, Between, Blocks, Columns, Row, Slopes};
use crate::math::{Algebraic, Dual, Number, Real, SpatialForce, SpatialVelocity, have_same_bits, rotated};

/// Position and velocity of the station in the plane's frame.
const MOTION: usize = 6;
/// The number of variables: time, parameters and memory.
const VARIABLES: usize =
    1 + <Parameters<f64> as Numbers<f64>>::COUNT + <Discrete<f64> as Numbers<f64>>::COUNT;

/// All that the law depends on.
struct Varied<S: Algebraic> {
    parameters: Parameters<S>,
    memory: Discrete<S>,
    motion: Motion<S>,
}

impl<S: Algebraic> Varied<S> {
    /// The memory after a commit.
    fn committed(&self, step: Step) -> Discrete<S> {
        let outcome = self.parameters.evaluate(&self.memory, &self.motion);
        self.memory.after(step, &self.motion, outcome.next)
    }
}

impl<T: Real> ExponentialSpring<T> {
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
        if !parameters.holds(limit) {
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
        let law = parameters.lift(&mut Dual::<T, 5>::of);
        let memory = at.discrete.lift(&mut Dual::of);
        let vary =
            |v: &Vector3<T>, first| Vector2::new(Dual::variable(v.x, first), Dual::variable(v.y, first + 1));
        let (position, velocity) = (vary(&at.position.p_PS.coords, 0), vary(&at.velocity.v_PS, 2));
        let normal = Dual::variable(at.dynamics.normal_force, 4);
        let limit = law.friction_coefficient(&memory) * normal;
        let (elastic, damping) = if is_published {
            let friction =
                Friction::blended(&law, position - memory.anchor_P, velocity, limit, memory.sliding);
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

    /// All that the law depends on, with derivatives by the variables.
    #[inline]
    fn varied(at: &AtDynamics<'_, T, Self>) -> Varied<Dual<T, VARIABLES>> {
        let mut columns = Columns::new();
        let time = columns.number(at.time);
        let Motion { position, velocity, .. } = Self::motion(at);
        let motion = Motion { position: position.map(Dual::of), velocity: velocity.map(Dual::of), time };
        let of = &mut |number| columns.number(number);
        Varied { parameters: at.parameters.lift(of), memory: at.discrete.lift(of), motion }
    }

    /// Whether spring and damper hold the station at an anchor that stays where it is.
    fn is_anchored(at: &AtDynamics<'_, T, Self>) -> bool {
        let Discrete { sliding, overspeed, last_station, .. } = at.discrete;
        at.parameters.friction_transition == FrictionTransition::ReturnMapping
            && !at.dynamics.limit_reached
            && *overspeed == T::zero()
            && (last_station.is_some() || *sliding == T::zero())
    }

    /// The derivative of the stretch by the overspeed, of a station that is anchored: had it been too fast for its spring, the
    /// anchor would have been dragged along.
    fn dragged_by_overspeed(at: &AtDynamics<'_, T, Self>) -> Vector2<T> {
        let parameters = at.parameters.lift(&mut Dual::<T, 1>::of);
        let memory = at.discrete.lift(&mut Dual::of);
        let memory = Discrete { overspeed: Dual::variable(T::zero(), 0), ..memory };
        let [position, velocity] = [at.position.p_PS.coords, at.velocity.v_PS].map(|v| v.xy().map(Dual::of));
        let limit = Dual::of(at.dynamics.friction_force_limit);
        let slider = Slider::committed(&memory, position);
        slider.friction(&parameters, position, velocity, limit).stretch.map(|stretch| stretch.slopes[0])
    }

    /// Writes the derivatives of the force by variables of a station that is anchored.
    fn linearize_anchored(&self, at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
        let of = at.parameters.places(blocks.parameter(0));
        let memory = at.discrete.places(blocks.discrete(0));
        let parameters = at.parameters.lift(&mut Dual::<T, 5>::of);
        let places = [of.d0, of.d1, of.d2, of.normal_viscosity, of.max_normal_force];
        let mut directions = 0..;
        let mut vary =
            |number: Dual<T, 5>| Dual::variable(number.value, directions.next().unwrap_or_default());
        let parameters = Parameters {
            d0: vary(parameters.d0),
            d1: vary(parameters.d1),
            d2: vary(parameters.d2),
            normal_viscosity: vary(parameters.normal_viscosity),
            max_normal_force: vary(parameters.max_normal_force),
            ..parameters
        };
        let [height, speed] = [at.position.height, at.velocity.v_PS.z].map(Dual::of);
        let normal = normal_force(&parameters, height, speed).total.slopes;
        let stretch = at.position.p_PS.xy().coords - at.discrete.anchor_P;
        let (k, dragged) = (at.parameters.friction_elasticity, Self::dragged_by_overspeed(at));
        let mut add = |variable: usize, change: Vector3<T>| {
            let change = SpatialForce::new(Vector3::zeros(), at.position.X_GP.rotation * change);
            let bodies = [self.plane.body, self.station.body];
            blocks.add_between_by_variable(bodies, &at.position.p_GS, variable, &change);
        };
        let along = |v: Vector2<T>| Vector3::new(v.x, v.y, T::zero());
        places.into_iter().zip(normal).for_each(|(place, slope)| add(place, Vector3::z() * slope));
        add(of.friction_elasticity, along(-stretch));
        add(of.friction_viscosity, along(-at.velocity.v_PS.xy()));
        add(memory.anchor_P.x, Vector3::x() * k);
        add(memory.anchor_P.y, Vector3::y() * k);
        add(memory.overspeed, along(dragged * -k));
    }

    /// Writes the derivatives of the memory by variables of a station that is anchored.
    fn linearize_anchor(at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
        let memory = at.discrete.places(blocks.discrete(0));
        let rows = at.discrete.places(0);
        let dragged = Self::dragged_by_overspeed(at);
        for axis in 0..2 {
            let row = Row::Next(rows.anchor_P[axis]);
            blocks.add_to_by_variable(row, memory.anchor_P[axis], T::one());
            blocks.add_to_by_variable(row, memory.overspeed, -dragged[axis]);
        }
        if exceeds(at.velocity.v_PS.xy(), at.parameters.settle_velocity) {
            blocks.add_to_by_variable(Row::Next(rows.sliding), memory.sliding, T::one());
        }
        blocks.add_to_by_variable(Row::Next(rows.last_update), Blocks::<T>::TIME, T::one());
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
        if Self::is_anchored(at) {
            return self.linearize_anchored(at, blocks);
        }
        let (bodies, R_GP) = ([self.plane.body, self.station.body], at.position.X_GP.rotation);
        let Varied { parameters, memory, motion } = Self::varied(at);
        let force = parameters.evaluate(&memory, &motion).force();
        blocks.add_between_in_columns(bodies, &at.position.p_GS, &force, |change| {
            SpatialForce::new(Vector3::zeros(), R_GP * change)
        });
    }

    pub(super) fn linearize_memory(&self, at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
        // Differences return the error of the commit.
        let Ok(step) = Self::step(at) else { return blocks.differences() };
        let Motion { position, velocity, time } = Self::motion(at);
        let vary = |v: Vector3<T>, first: usize| {
            Vector3::new(0, 1, 2).map(|axis| Dual::<T, MOTION>::variable(v[axis], first + axis))
        };
        let motion =
            Motion { position: vary(position, 0), velocity: vary(velocity, 3), time: Dual::of(time) };
        let (parameters, memory) = (at.parameters.lift(&mut Dual::of), at.discrete.lift(&mut Dual::of));
        Varied { parameters, memory, motion }.committed(step).for_each(|row, next| {
            if next.slopes.iter().all(|slope| have_same_bits(*slope, T::zero())) {
                return;
            }
            let [by_position, by_velocity] =
                [0, 3].map(|i| Vector3::from_fn(|axis, _| next.slopes[i + axis]));
            self.add_row(at, row, by_position, by_velocity, blocks);
        });
        if step == Step::Whole && Self::is_anchored(at) {
            return Self::linearize_anchor(at, blocks);
        }
        let next = Self::varied(at).committed(step);
        next.for_each(|row, next| blocks.add_to_in_columns(Row::Next(row), next));
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
