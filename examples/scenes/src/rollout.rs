//! A host with steps of a fixed length, and the derivatives of its steps.
//!
//! The host uses the semi-implicit Euler method, with forces before the commit at the beginning of each step. A step is
//! a map of motion and variables; [`Derivatives`] multiplies with its derivative, forwards ([`tangent`](Derivatives::tangent))
//! or backwards ([`adjoint`](Derivatives::adjoint)). What is the host's stands here; forces and memory are multiplied by
//! their [`Linearization`].

use force_elements::nalgebra::{Matrix3, Rotation3, Translation3, Vector3};
use force_elements::{
    BodyIndex, CoordinateIndex, Error, ForceSystem, Forces, Linearization, Pose, Real, Scope,
    SpatialVelocity, State, VariableVector, Variation,
};

pub const GRAVITY: f64 = 9.81;

/// A free body with its mass center at its origin, and the same moment of inertia about all axes, as that of a cube.
pub struct Cube<T> {
    pub body: BodyIndex,
    pub mass: T,
    /// The moment of inertia per mass \[m²\].
    pub gyration: T,
}

/// A body that a coordinate moves along x of Ground.
pub struct Carriage<T> {
    pub coordinate: CoordinateIndex,
    pub body: BodyIndex,
    pub mass: T,
}

/// Masses, and the length of a step.
pub struct Host<T: Real> {
    pub step: f64,
    pub cubes: Vec<Cube<T>>,
    pub carriages: Vec<Carriage<T>>,
    forces: Forces<T>,
}

impl<T: Real> Host<T> {
    /// A host of a system to which all bodies and coordinates have been added.
    pub fn new(system: &ForceSystem<T>, step: f64, cubes: Vec<Cube<T>>, carriages: Vec<Carriage<T>>) -> Self {
        Self { step, cubes, carriages, forces: Forces::zeros(system.topology()) }
    }

    /// Evaluates the forces, commits the memory, and moves on by one step.
    pub fn advance(&mut self, system: &ForceSystem<T>, state: &mut State<T>) -> Result<(), Error> {
        let h = T::lit(self.step);
        self.forces.clone_from(system.realize_dynamics(state)?.forces());
        system.accept_step(state)?;
        for cube in &self.cubes {
            let V = cube.next_velocity(&self.forces, state, h);
            let X = *state.positions().pose(cube.body);
            let shifted = Translation3::from(X.translation.vector + V.linear * h);
            let turned = Rotation3::new(V.angular * h) * X.rotation;
            state.set_body(cube.body, Pose::from_parts(shifted, turned), V)?;
        }
        for &Carriage { coordinate, body, mass } in &self.carriages {
            let force = self.forces.coordinate(coordinate) + self.forces.body(body).force.x;
            let u = state.velocities().coordinate_rate(coordinate) + force / mass * h;
            let q = state.positions().coordinate(coordinate) + u * h;
            set_carriage(state, (coordinate, body), q, u)?;
        }
        state.set_time(state.time() + h)
    }
}

/// Sets position and velocity of a carriage.
pub fn set_carriage<T: Real>(
    state: &mut State<T>,
    (coordinate, body): (CoordinateIndex, BodyIndex),
    q: T,
    u: T,
) -> Result<(), Error> {
    state.set_coordinate(coordinate, q)?;
    state.set_coordinate_rate(coordinate, u)?;
    let V_GB = SpatialVelocity::new(Vector3::zeros(), Vector3::x() * u);
    state.set_body(body, Pose::translation(q, T::zero(), T::zero()), V_GB)
}

impl<T: Real> Cube<T> {
    fn next_velocity(&self, forces: &Forces<T>, state: &State<T>, h: T) -> SpatialVelocity<T> {
        let (V, F) = (state.velocities().velocity(self.body), forces.body(self.body));
        let fall = Vector3::z() * T::lit(GRAVITY);
        SpatialVelocity::new(
            V.angular + F.torque / (self.mass * self.gyration) * h,
            V.linear + (F.force / self.mass - fall) * h,
        )
    }
}

/// A small change of everything that a step starts from, or the derivatives of a result by all of it.
#[derive(Clone)]
pub struct Change {
    pub motion: Variation<f64>,
    pub velocity: Variation<f64>,
    pub variables: VariableVector<f64>,
}

impl Change {
    pub fn zeros(state: &State<f64>) -> Self {
        let none = Variation::zeros(state.positions().topology());
        Self { motion: none.clone(), velocity: none, variables: VariableVector::zeros(state) }
    }
}

/// The derivatives of a step, and memory for their products.
pub struct Derivatives {
    pub linearization: Linearization<f64>,
    next: VariableVector<f64>,
    multipliers: Variation<f64>,
    by_position: Forces<f64>,
    by_velocity: Forces<f64>,
}

impl Derivatives {
    pub fn new(state: &State<f64>) -> Self {
        let topology = state.positions().topology();
        Self {
            linearization: Linearization::of(Scope { variables: true, commit: true }),
            next: VariableVector::zeros(state),
            multipliers: Variation::zeros(topology),
            by_position: Forces::zeros(topology),
            by_velocity: Forces::zeros(topology),
        }
    }

    /// Linearizes the step that starts from a state.
    pub fn linearize(
        &mut self,
        host: &mut Host<f64>,
        system: &ForceSystem<f64>,
        state: &mut State<f64>,
    ) -> Result<(), Error> {
        host.forces.clone_from(system.realize_dynamics(state)?.forces());
        system.linearize(state, &mut self.linearization)
    }

    /// Replaces a change before the step by that after it.
    pub fn tangent(
        &mut self,
        host: &Host<f64>,
        state: &State<f64>,
        change: &mut Change,
    ) -> Result<(), Error> {
        self.tangent_with(host, state, change, 0.0)
    }

    /// The same where the gyrations of all cubes change by this share.
    pub fn tangent_with(
        &mut self,
        host: &Host<f64>,
        state: &State<f64>,
        change: &mut Change,
        of_gyrations: f64,
    ) -> Result<(), Error> {
        let Change { motion, velocity, variables } = change;
        let (h, forces, next) = (host.step, &mut self.by_position, &mut self.next);
        self.linearization.apply(motion, velocity, forces, Some((variables, next)))?;
        core::mem::swap(variables, next);
        for cube in &host.cubes {
            let dF = forces.body(cube.body);
            let dV = velocity.body_mut(cube.body);
            let torque = dF.torque - host.forces.body(cube.body).torque * of_gyrations;
            dV.angular += torque * (h / (cube.mass * cube.gyration));
            dV.linear += dF.force * (h / cube.mass);
            let turn = cube.next_velocity(&host.forces, state, h).angular * h;
            let dX = motion.body_mut(cube.body);
            dX.angular = Rotation3::new(turn) * dX.angular + left_jacobian(&turn) * dV.angular * h;
            dX.linear += dV.linear * h;
        }
        for &Carriage { coordinate, body, mass } in &host.carriages {
            let force = forces.coordinate(coordinate) + forces.body(body).force.x;
            *velocity.coordinate_mut(coordinate) += force / mass * h;
            let du = velocity.coordinate(coordinate);
            *motion.coordinate_mut(coordinate) += du * h;
            velocity.body_mut(body).linear.x = du;
            motion.body_mut(body).linear.x = motion.coordinate(coordinate);
        }
        Ok(())
    }

    /// Replaces the derivatives of a result by what there is after the step by those by what there is before it, and adds
    /// those by the masses of the cubes, whose size stays.
    pub fn adjoint(
        &mut self,
        host: &Host<f64>,
        state: &State<f64>,
        gradient: &mut Change,
        by_masses: &mut [f64],
    ) -> Result<(), Error> {
        let Change { motion, velocity, variables } = gradient;
        let (h, multipliers) = (host.step, &mut self.multipliers);
        for (cube, by_mass) in host.cubes.iter().zip(by_masses) {
            let turn = cube.next_velocity(&host.forces, state, h).angular * h;
            let (by_X, by_V) = (motion.body_mut(cube.body), velocity.body_mut(cube.body));
            by_V.angular += left_jacobian(&turn).tr_mul(&by_X.angular) * h;
            by_V.linear += by_X.linear * h;
            by_X.angular = Rotation3::new(-turn) * by_X.angular;
            let by_force = multipliers.body_mut(cube.body);
            by_force.angular = by_V.angular * (h / (cube.mass * cube.gyration));
            by_force.linear = by_V.linear * (h / cube.mass);
            *by_mass -= by_force.power(host.forces.body(cube.body)) / cube.mass;
        }
        for &Carriage { coordinate, body, mass } in &host.carriages {
            *velocity.coordinate_mut(coordinate) += motion.coordinate(coordinate) * h;
            let by_force = velocity.coordinate(coordinate) * h / mass;
            *multipliers.coordinate_mut(coordinate) = by_force;
            multipliers.body_mut(body).linear.x = by_force;
        }
        let Self { linearization, next, by_position, by_velocity, .. } = self;
        let multipliers = &self.multipliers;
        linearization.apply_transpose(multipliers, by_position, by_velocity, Some((variables, next)))?;
        core::mem::swap(variables, next);
        for (by, forces) in [(motion, by_position), (velocity, by_velocity)] {
            for cube in &host.cubes {
                let (by, felt) = (by.body_mut(cube.body), forces.body(cube.body));
                by.angular += felt.torque;
                by.linear += felt.force;
            }
            for &Carriage { coordinate, body, .. } in &host.carriages {
                *by.coordinate_mut(coordinate) += forces.coordinate(coordinate) + forces.body(body).force.x;
            }
        }
        Ok(())
    }
}

/// The turn, about axes that stay, that a small change of θ adds to `exp(θ)`.
fn left_jacobian(turn: &Vector3<f64>) -> Matrix3<f64> {
    let angle = turn.norm();
    let cross = turn.cross_matrix();
    // (1 − cos θ)/θ² and (θ − sin θ)/θ³. The first terms of their series are exact to roundoff below the limit: the next are
    // smaller by θ²/12 and θ²/20, and what cancels above it is multiplied by θ².
    let (first, second) = if angle < 1e-4 {
        (0.5, 1.0 / 6.0)
    } else {
        let ratio = (0.5 * angle).sin() / (0.5 * angle);
        (0.5 * ratio * ratio, (angle - angle.sin()) / angle.powi(3))
    };
    Matrix3::identity() + cross * first + cross * cross * second
}
