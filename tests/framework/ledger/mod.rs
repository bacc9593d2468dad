//! Energy accounts and continuous variables of a host with steps of its own.

mod accounts;
mod failures;
mod rules;

use force_elements::nalgebra::{Rotation3, Vector3, Vector6};
use force_elements::{
    AtDynamics, BodyIndex, CoordinateIndex, CoordinatePair, CoordinateSpringDamperExt, ElementError, Error,
    ForceAccumulator, ForceElement, ForceSystem, Forces, Frame, Given, Handle, KinematicsSource,
    LinearBushing, Pose, Real, SpatialForce, SpatialVelocity, State, StepRule, Topology,
    coordinate_spring_damper_ext, linear_bushing, variables,
};

const RULES: [StepRule; 3] = [StepRule::LeftEndpoint, StepRule::Trapezoid, StepRule::HeldForces];

/// Of the ball \[kg\].
const MASS: f64 = 2.0;
/// Of the ball about any axis \[kg·m²\].
const INERTIA: f64 = 0.3;
/// Mass of the slider \[kg\].
const SLIDER: f64 = 0.7;

/// A ball and a slider, on which only elements act; the ball is as hard to turn about any axis.
#[derive(Debug, Clone, Copy)]
struct Masses<T: Real> {
    time: T,
    X: Pose<T>,
    V: SpatialVelocity<T>,
    q: T,
    u: T,
}

impl<T: Real> KinematicsSource<T> for Masses<T> {
    fn time(&self) -> T {
        self.time
    }
    fn pose(&self, _: BodyIndex) -> Pose<T> {
        self.X
    }
    fn velocity(&self, _: BodyIndex) -> SpatialVelocity<T> {
        self.V
    }
    fn coordinate(&self, _: CoordinateIndex) -> T {
        self.q
    }
    fn coordinate_rate(&self, _: CoordinateIndex) -> T {
        self.u
    }
}

impl<T: Real> Masses<T> {
    /// Thrown off from the origin, with this speed along x.
    fn thrown(speed: T) -> Self {
        let V = SpatialVelocity::new(
            Vector3::new(0.4, -0.7, 0.5).map(T::lit),
            Vector3::new(speed, T::lit(0.3), T::lit(-0.8)),
        );
        Self { time: T::zero(), X: Pose::identity(), V, q: T::lit(0.01), u: T::lit(0.4) }
    }

    fn kick(&mut self, body: BodyIndex, slider: CoordinateIndex, forces: &Forces<T>, h: T) {
        let F = forces.body(body);
        self.V.angular += F.torque * (h / T::lit(INERTIA));
        self.V.linear += F.force * (h / T::lit(MASS));
        self.u += forces.coordinate(slider) * h / T::lit(SLIDER);
    }

    fn drift(&mut self, h: T) {
        let turned = Rotation3::new(self.V.angular * h) * self.X.rotation;
        let p = self.X.translation.vector + self.V.linear * h;
        self.X = Pose::from_parts(p.into(), turned);
        self.q += self.u * h;
        self.time += h;
    }

    fn kinetic_energy(&self) -> T {
        let twice = self.V.linear.norm_squared() * T::lit(MASS)
            + self.V.angular.norm_squared() * T::lit(INERTIA)
            + self.u * self.u * T::lit(SLIDER);
        twice * T::lit(0.5)
    }
}

/// A ball on a bushing with loss, and a slider on a spring with viscous friction.
struct Bench<T: Real> {
    system: ForceSystem<T>,
    body: BodyIndex,
    slider: CoordinateIndex,
    bushing: Handle<LinearBushing<T>>,
    host: Masses<T>,
    state: State<T>,
}

impl<T: Real> Bench<T> {
    /// At the start, the accounts open.
    fn new(host: Masses<T>) -> Result<Self, Error> {
        let mut system = ForceSystem::new();
        let (body, slider) = (system.add_body(), system.add_coordinate());
        let bushing = linear_bushing::Parameters {
            stiffness: Vector6::new(3.0, 4.0, 5.0, 80.0, 90.0, 100.0).map(T::lit),
            damping: Vector6::new(0.1, 0.1, 0.1, 1.0, 1.5, 2.0).map(T::lit),
        };
        let (wall, handle) = (Pose::translation(T::lit(0.1), T::zero(), T::zero()), Pose::identity());
        let bushing =
            system.add(LinearBushing::new(Frame::ground(wall), Frame::on(body, handle), bushing)?)?;
        let spring = coordinate_spring_damper_ext::Parameters {
            stiffness: T::lit(50.0),
            viscous_friction: T::lit(0.6),
            ..Default::default()
        };
        system.add(CoordinateSpringDamperExt::new(CoordinatePair::on(slider), spring)?)?;
        let mut state = system.default_state();
        state.set_kinematics(&host)?;
        system.reset_memories(&mut state)?;
        system.reset_dissipated_energy(&mut state)?;
        Ok(Self { system, body, slider, bushing, host, state })
    }

    /// The same with a fading motor on the ball.
    fn with_motor(host: Masses<T>) -> Result<Self, Error> {
        let mut bench = Self::new(host)?;
        let motor = bench.system.add(Fading(bench.body))?;
        bench.system.carry_over(&mut bench.state)?;
        bench.system.set_dissipated_energy(&mut bench.state, motor, T::zero())?;
        Ok(bench)
    }

    /// A step of symplectic Euler.
    fn euler(&mut self, h: T, rule: StepRule) -> Result<(), Error> {
        let dynamics = self.system.realize_dynamics(&mut self.state)?;
        self.host.kick(self.body, self.slider, dynamics.forces(), h);
        self.host.drift(h);
        self.system.finish_step(&mut self.state, &self.host, rule)
    }

    /// A step of velocity Verlet; another state looks ahead at the forces of the end, where velocities are predicted.
    fn verlet(&mut self, h: T, rule: StepRule) -> Result<(), Error> {
        let half = h * T::lit(0.5);
        let dynamics = self.system.realize_dynamics(&mut self.state)?;
        self.host.kick(self.body, self.slider, dynamics.forces(), half);
        self.host.drift(h);
        let mut predicted = self.host;
        predicted.kick(self.body, self.slider, dynamics.forces(), half);
        let increments: Vec<_> = dynamics.continuous_rates().iter().map(|&rate| rate * h).collect();
        let mut ahead = self.state.clone();
        ahead.set_kinematics(&predicted)?;
        ahead.advance_continuous(&increments)?;
        let dynamics = self.system.realize_dynamics(&mut ahead)?;
        self.host.kick(self.body, self.slider, dynamics.forces(), half);
        self.system.finish_step(&mut self.state, &self.host, rule)
    }

    fn absorbed(&self) -> T {
        self.state.absorbed_energy().iter().fold(T::zero(), |sum, &energy| sum + energy)
    }

    fn dissipated(&mut self) -> Result<Option<T>, Error> {
        Ok(self.system.realize_dynamics(&mut self.state)?.dissipated_energy())
    }
}

variables! {
    /// The state of a fading motor.
    struct Level<T> {
        /// The force that it exerts.
        level: T ["N"] = 1.0, nonnegative => Dynamics;
    }
}

variables! {
    /// The memory of a fading motor.
    struct Count<T> {
        /// Steps accepted.
        steps: T ["1"], finite => Dynamics;
    }
}

/// A motor that pulls its body along −x with a force that fades by `level' = −level²`: `level = 1/(1 + t)`; and a damper
/// of 1 N·s/m, which reads the motion as late as it can. It fails with its body on one of three shelves.
#[derive(Debug)]
struct Fading(BodyIndex);

/// Height of the body at which an evaluation fails.
const BROKEN: f64 = 10.0;
/// Height at which a commit is refused.
const REFUSED: f64 = 20.0;
/// Height at which the level falls below zero.
const DRAINED: f64 = 30.0;

impl Fading {
    fn is_at<T: Real>(&self, given: &Given<'_, T, Self>, shelf: f64) -> bool {
        given.positions.pose(self.0).translation.z == T::lit(shelf)
    }
}

impl<T: Real> ForceElement<T> for Fading {
    const KIND: &'static str = "fading";
    force_elements::element_types! { Discrete = Count<T>; Continuous = Level<T>; }

    fn check_topology(&self, topology: &Topology) -> Result<(), ElementError> {
        Ok(topology.check_body(self.0)?)
    }
    fn calc_position(&self, given: &Given<'_, T, Self>, (): &mut ()) -> Result<(), ElementError> {
        if self.is_at(given, BROKEN) { Err(ElementError::SameEnds) } else { Ok(()) }
    }
    fn add_forces(&self, at: &AtDynamics<'_, T, Self>, forces: &mut ForceAccumulator<'_, T>) {
        let pull = Vector3::x() * (at.continuous.level + at.velocities.velocity(self.0).linear.x);
        forces.apply_to_body(self.0, SpatialForce::new(Vector3::zeros(), -pull));
        forces.apply_to_body(BodyIndex::GROUND, SpatialForce::new(Vector3::zeros(), pull));
    }
    fn calc_rates(&self, at: &AtDynamics<'_, T, Self>, rates: &mut Level<T>) -> Result<(), ElementError> {
        rates.level = -at.continuous.level * at.continuous.level;
        if self.is_at(at, DRAINED) {
            rates.level = T::lit(-1e9);
        }
        Ok(())
    }
    fn accept_step(&self, at: &AtDynamics<'_, T, Self>, next: &mut Count<T>) -> Result<(), ElementError> {
        next.steps += T::one();
        if self.is_at(at, REFUSED) { Err(ElementError::SameEnds) } else { Ok(()) }
    }
}
