//! Three bodies that hang under each other from Ground on damped bushings, and a chain of six joints to
//! compare each bushing with.

use force_elements::linear_bushing::{Framed, Frames, Parameters};
use force_elements::nalgebra::{Matrix3, Point3, Rotation3, Translation3, Unit, Vector3, Vector6};
use force_elements::simulation::{Integrator, Plant, RigidBody, Simulation, SimulationError, Statistics};
use force_elements::{
    BodyIndex, DynamicsView, ForceSystem, Forces, Frame, Handle, LinearBushing, Pose, SpatialForce,
    SpatialVelocity, State, linear_bushing,
};

/// How long it swings \[s\].
pub const END: f64 = 10.0;

/// Half the distance from one bushing to the next \[m\].
const HALF_LENGTH: f64 = 0.25;

pub struct BushingChain {
    pub system: ForceSystem<f64>,
    pub plant: Plant<f64>,
    pub bushings: [Handle<LinearBushing<f64>>; 3],
    pub start: State<f64>,
}

impl BushingChain {
    /// The chain, drawn aside and twisted, and already moving.
    pub fn new() -> Result<Self, SimulationError> {
        let mut system = ForceSystem::new();
        let mut plant = Plant::new(Vector3::new(0.0, 0.0, -9.81))?;
        let stiffness = Vector6::new(0.8, 1.2, 0.6, 900.0, 1100.0, 1300.0);
        let damping = Vector6::new(0.03, 0.05, 0.02, 3.0, 4.0, 5.0);
        // Turned frames: with the body's own axes, half of the terms would be zero.
        let tilt = Rotation3::from_euler_angles(0.2, -0.1, 0.3);
        let at = |z| Pose::from_parts(Translation3::new(0.03, -0.02, z), tilt);
        // Off equilibrium in every axis. The middle angles stay clear of a right angle.
        let q = [
            Vector6::new(1.2, 0.3, -0.3, 0.01, -0.02, 0.0),
            Vector6::new(0.6, -0.4, 0.8, 0.0, 0.01, -0.02),
            Vector6::new(-0.9, 0.3, 0.5, -0.01, 0.0, 0.01),
        ];
        let qdot = Vector6::new(1.0, -0.8, 2.0, 0.1, 0.2, -0.1);

        let mut poses = vec![(BodyIndex::GROUND, Pose::identity(), SpatialVelocity::zero())];
        let mut bushings = Vec::new();
        for (i, q) in q.iter().enumerate() {
            let (parent, X_GP, V_GP) = poses[i];
            let mass = [2.0, 1.5, 1.0][i];
            // Of a box, with its mass center off the line of the bushings.
            let inertia = Matrix3::from_diagonal(&(Vector3::new(0.022, 0.024, 0.006) * mass));
            let body = RigidBody::new(mass, Point3::new(0.02, -0.01, -0.03), inertia)?;
            let body = plant.add_body(&mut system, body);
            let (X_PF, X_BM) = (at(if i == 0 { 0.0 } else { -HALF_LENGTH }), at(HALF_LENGTH));
            let bushing = LinearBushing::new(
                Frame::on(parent, X_PF),
                Frame::on(body, X_BM),
                linear_bushing::Parameters { stiffness, damping },
            )?;
            bushings.push(system.add(bushing)?);

            let X_GF = X_GP * X_PF;
            let V_GF = V_GP.shifted(X_GP.rotation * X_PF.translation.vector);
            let (X_GM, V_GM, _) = chain_of_joints(&X_GF, &V_GF, q, &qdot);
            let X_GB = X_GM * X_BM.inverse();
            let V_GB = V_GM.shifted(X_GB.translation.vector - X_GM.translation.vector);
            poses.push((body, X_GB, V_GB));
        }
        let mut start = system.default_state();
        for &(body, X_GB, V_GB) in &poses[1..] {
            start.set_body(body, X_GB, V_GB)?;
        }
        for &bushing in &bushings {
            system.reset_memory(&mut start, bushing)?;
        }
        Ok(Self { system, plant, bushings: [bushings[0], bushings[1], bushings[2]], start })
    }

    pub fn simulation(&self) -> Result<Simulation<'_, f64>, SimulationError> {
        Simulation::new(&self.system, &self.plant, self.start.clone())
    }

    /// Swings to the end, keeping account of energies at every accepted step.
    pub fn run(&self, integrator: &mut impl Integrator<f64>) -> Result<Run, SimulationError> {
        let mut simulation = self.simulation()?;
        let start = simulation.work_balance();
        let (mut times, mut powers) = (Vec::new(), [const { Vec::new() }; 3]);
        let (mut open, mut fall, mut losses) = (0.0_f64, 0.0_f64, [(0.0, 0.0); 3]);
        loop {
            open = open.max((simulation.work_balance() - start).abs());
            let view = simulation.dynamics()?;
            times.push(view.time());
            for (i, &bushing) in self.bushings.iter().enumerate() {
                powers[i].push(view.power_dissipated_of(bushing));
                let lost = view.dissipated_energy_of(bushing).unwrap_or(f64::NAN);
                fall = fall.max(losses[i].0 - lost);
                losses[i].0 = lost;
            }
            if simulation.time() >= END {
                break;
            }
            integrator.step(&mut simulation, END)?;
        }
        for (loss, powers) in losses.iter_mut().zip(&powers) {
            loss.1 = crate::quadrature::integral(&times, powers);
        }
        Ok(Run { statistics: simulation.statistics(), open, fall, losses })
    }

    /// Compares a bushing with a chain of joints that has the same coordinates.
    pub fn compare(
        &self,
        view: &DynamicsView<'_, f64>,
        handle: Handle<LinearBushing<f64>>,
    ) -> Result<Comparison, SimulationError> {
        let element = self.system.element(handle);
        let Framed { frames: Frames { X_B1F, X_B2M }, law: Parameters { stiffness, damping } } =
            view.of(handle).parameters;
        let (q, qdot) = (view.of(handle).position.q, view.of(handle).velocity.qdot);
        let frame = |body, X_BF: &Pose<f64>| {
            let X_GB = view.pose(body);
            let offset = X_GB.rotation * X_BF.translation.vector;
            (X_GB * X_BF, view.velocity(body).shifted(offset), offset)
        };
        let (X_GF, V_GF, _) = frame(element.body1(), X_B1F);
        let (X_GM, V_GM, offset) = frame(element.body2(), X_B2M);
        let (X, V, unit_rates) = chain_of_joints(&X_GF, &V_GF, &q, &qdot);

        let mut forces = Forces::zeros(self.system.topology());
        view.add_contribution(handle, &mut forces)?;
        let on = |body: BodyIndex| forces.bodies()[body.index()];
        let power_on_bodies: f64 =
            [element.body1(), element.body2()].iter().map(|&b| view.velocity(b).power(&on(b))).sum();
        let F_GM: SpatialForce<f64> = on(element.body2()).shifted(offset);
        let needed = Vector6::from(unit_rates.map(|unit| unit.power(&F_GM)));
        let of_springs = -(stiffness.component_mul(&q) + damping.component_mul(&qdot));

        let part = |six: &Vector6<f64>, first| six.fixed_rows::<3>(first).into_owned();
        Ok(Comparison {
            orientation: Pair::of(
                (X.rotation.matrix() - X_GM.rotation.matrix()).norm(),
                X_GM.rotation.angle(),
            ),
            position: Pair::vectors(X.translation.vector, X_GM.translation.vector),
            angular: Pair::vectors(V.angular, V_GM.angular),
            linear: Pair::vectors(V.linear, V_GM.linear),
            power: Pair::of((of_springs.dot(&qdot) - power_on_bodies).abs(), power_on_bodies.abs()),
            moments: Pair::vectors(part(&of_springs, 0), part(&needed, 0)),
            forces: Pair::vectors(part(&of_springs, 3), part(&needed, 3)),
        })
    }
}

/// What came of a run.
pub struct Run {
    pub statistics: Statistics,
    /// The largest change of the work balance \[J\]: the error of the integrator.
    pub open: f64,
    /// The most by which the energy a bushing has dissipated fell in a step \[J\].
    pub fall: f64,
    /// What each bushing has dissipated, and the integral of its power \[J\].
    pub losses: [(f64, f64); 3],
}

impl Run {
    /// The largest difference between the two \[J\].
    pub fn loss_off(&self) -> f64 {
        self.losses.iter().map(|(lost, integral)| (lost - integral).abs()).fold(0.0, f64::max)
    }
}

/// Frame M at the end of six joints that begin at frame F: slides along F's axes, then turns about x, y
/// and z, each about the axis as the ones before have left it. Its pose and velocity, and how it moves per
/// unit rate of each joint. Turns come first in `q`.
pub fn chain_of_joints(
    X_GF: &Pose<f64>,
    V_GF: &SpatialVelocity<f64>,
    q: &Vector6<f64>,
    qdot: &Vector6<f64>,
) -> (Pose<f64>, SpatialVelocity<f64>, [SpatialVelocity<f64>; 6]) {
    let (mut X, mut V) = (*X_GF, *V_GF);
    let mut unit_rates = [SpatialVelocity::zero(); 6];
    for joint in [3, 4, 5, 0, 1, 2] {
        let axis = Unit::new_unchecked(Vector3::ith(joint % 3, 1.0));
        let along = X.rotation * *axis;
        let is_slide = joint >= 3;
        let (crossed, unit_rate) = if is_slide {
            (Pose::from(Translation3::from(*axis * q[joint])), SpatialVelocity::new(Vector3::zeros(), along))
        } else {
            let turn = Rotation3::from_axis_angle(&axis, q[joint]);
            (Pose::from_parts(Translation3::identity(), turn), SpatialVelocity::new(along, Vector3::zeros()))
        };
        let offset = X.rotation * crossed.translation.vector;
        for velocity in unit_rates.iter_mut().chain([&mut V]) {
            *velocity = velocity.shifted(offset);
        }
        unit_rates[joint] = unit_rate;
        V.angular += unit_rate.angular * qdot[joint];
        V.linear += unit_rate.linear * qdot[joint];
        X *= crossed;
    }
    (X, V, unit_rates)
}

/// A deviation, and the size of what deviates.
#[derive(Clone, Copy, Default)]
pub struct Pair {
    pub deviation: f64,
    pub size: f64,
}

impl Pair {
    fn of(deviation: f64, size: f64) -> Self {
        Self { deviation, size }
    }

    fn vectors(a: Vector3<f64>, b: Vector3<f64>) -> Self {
        Self { deviation: (a - b).norm(), size: b.norm() }
    }

    /// The worst of both.
    fn join(self, other: Self) -> Self {
        Self { deviation: self.deviation.max(other.deviation), size: self.size.max(other.size) }
    }
}

/// How a bushing deviates from a chain of joints.
#[derive(Clone, Copy, Default)]
pub struct Comparison {
    /// Orientation of M in Ground \[rad\].
    pub orientation: Pair,
    /// Position of M in Ground \[m\].
    pub position: Pair,
    /// Angular velocity of M in Ground \[rad/s\].
    pub angular: Pair,
    /// Velocity of M's origin in Ground \[m/s\].
    pub linear: Pair,
    /// Power of the springs on the joints, and of the forces on the two bodies \[W\].
    pub power: Pair,
    /// Moments of the springs on the turns, and those that hold the force on the body \[N·m\].
    pub moments: Pair,
    /// Forces of the springs on the slides, likewise \[N\].
    pub forces: Pair,
}

impl Comparison {
    /// The worst of both.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        Self {
            orientation: self.orientation.join(other.orientation),
            position: self.position.join(other.position),
            angular: self.angular.join(other.angular),
            linear: self.linear.join(other.linear),
            power: self.power.join(other.power),
            moments: self.moments.join(other.moments),
            forces: self.forces.join(other.forces),
        }
    }
}
