//! A body between two undamped bushings, spun so hard that it tumbles through every attitude.

use force_elements::nalgebra::{Matrix3, Point3, Rotation3, Vector3, Vector6};
use force_elements::simulation::{DormandPrince, Integrator, Plant, RigidBody, Simulation, SimulationError};
use force_elements::spatial_bushing::Symmetric6;
use force_elements::{
    BodyIndex, Error, ForceElement, ForceSystem, Frame, Handle, LinearBushing, Pose, SpatialBushing,
    SpatialVelocity, linear_bushing, spatial_bushing,
};

/// How long it tumbles \[s\].
pub const END: f64 = 30.0;
/// What it is given at the start \[J\]: enough to turn it by more than half a turn about any axis, and by less than a whole.
pub const ENERGY: f64 = 10.0;

/// Half the distance of the bushings \[m\].
const HALF_LENGTH: f64 = 0.1;
/// Moments of inertia \[kg·m²\].
const INERTIA: [f64; 3] = [0.08, 0.11, 0.14];

/// The law of both bushings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Law {
    /// The rotation vector, in the half-way frame.
    Spatial,
    /// Three gimbal angles.
    Gimbal,
}

impl Law {
    pub fn name(self) -> &'static str {
        match self {
            Self::Spatial => "SpatialBushing",
            Self::Gimbal => "LinearBushing",
        }
    }
}

/// One instant of a run.
#[derive(Debug, Clone)]
pub struct Sample {
    pub time: f64,
    /// The orientation of the body.
    pub R_GB: Rotation3<f64>,
    /// The angle of its turn: of the rotation vector, or of the orientation, which is at most half a turn \[rad\].
    pub turn: f64,
    /// \[J\]
    pub kinetic: f64,
    /// \[J\]
    pub stored: f64,
}

impl Sample {
    pub fn energy(&self) -> f64 {
        self.kinetic + self.stored
    }

    /// The middle one of the gimbal angles \[rad\].
    pub fn middle_angle(&self) -> f64 {
        self.R_GB[(0, 2)].clamp(-1.0, 1.0).asin()
    }
}

/// All accepted steps of one launch, and the error that ended it early.
#[derive(Debug, Clone)]
pub struct Run {
    pub samples: Vec<Sample>,
    pub end: Result<(), SimulationError>,
}

impl Run {
    /// The largest deviation of the energy from what it was at the start \[J\].
    pub fn energy_error(&self) -> f64 {
        let start = self.samples[0].energy();
        self.samples.iter().map(|sample| (sample.energy() - start).abs()).fold(0.0, f64::max)
    }

    pub fn furthest_turn(&self) -> f64 {
        self.samples.iter().map(|sample| sample.turn).fold(0.0, f64::max)
    }

    pub fn last_time(&self) -> f64 {
        self.samples.last().map_or(0.0, |sample| sample.time)
    }
}

/// The i-th of n directions that are spread over the sphere (a Fibonacci lattice).
pub fn direction(i: u32, n: u32) -> Vector3<f64> {
    let z = 1.0 - (2.0 * f64::from(i) + 1.0) / f64::from(n);
    let around = f64::from(i) * core::f64::consts::PI * (3.0 - 5.0_f64.sqrt());
    let r = (1.0 - z * z).sqrt();
    Vector3::new(r * around.cos(), r * around.sin(), z)
}

/// The share of `count` attitudes, spread evenly over all, that come within an angle \[rad\] of some sample.
pub fn visited(samples: &[&Sample], count: u32, within: f64) -> f64 {
    // The angle of a turn by tr R = 1 + 2 cos.
    let least_trace = 1.0 + 2.0 * within.cos();
    let near = (0..count).filter(|&i| {
        let R = attitude(i, count);
        samples.iter().any(|sample| R.matrix().dot(sample.R_GB.matrix()) >= least_trace)
    });
    f64::from(u32::try_from(near.count()).unwrap_or(0)) / f64::from(count)
}

/// An axis of the lattice, and of the angle of a turn an additive sequence through its even distribution.
fn attitude(i: u32, count: u32) -> Rotation3<f64> {
    let share = (0.5 + f64::from(i) * 0.754_877_666_246_692_8).fract();
    // Of all attitudes the share (φ − sin φ)/π is turned by less than φ.
    let (mut low, mut high) = (0.0, core::f64::consts::PI);
    for _ in 0..60 {
        let middle: f64 = 0.5 * (low + high);
        if middle - middle.sin() < share * core::f64::consts::PI { low = middle } else { high = middle }
    }
    Rotation3::new(direction(i, count) * low)
}

struct Spun<E> {
    system: ForceSystem<f64>,
    plant: Plant<f64>,
    body: BodyIndex,
    bushings: [Handle<E>; 2],
}

impl<E: ForceElement<f64>> Spun<E> {
    fn new(bushing: impl Fn(Frame<f64>, Frame<f64>) -> Result<E, Error>) -> Result<Self, SimulationError> {
        let mut system = ForceSystem::new();
        let mut plant = Plant::new(Vector3::zeros())?;
        let inertia = Matrix3::from_diagonal(&Vector3::from(INERTIA));
        let body = plant.add_body(&mut system, RigidBody::new(1.0, Point3::origin(), inertia)?);
        let mut add = |x| {
            let place = Pose::translation(x, 0.0, 0.0);
            system.add(bushing(Frame::ground(place), Frame::on(body, place))?)
        };
        let bushings = [add(-HALF_LENGTH)?, add(HALF_LENGTH)?];
        Ok(Self { system, plant, body, bushings })
    }

    /// At rest position, spun about an axis with the energy of the scene.
    fn run(
        &self,
        axis: Vector3<f64>,
        accuracy: f64,
        turn: impl Fn(&force_elements::DynamicsView<'_, f64>, Handle<E>) -> f64,
    ) -> Result<Run, SimulationError> {
        let spin = (2.0 * ENERGY / axis.component_mul(&axis).dot(&Vector3::from(INERTIA))).sqrt();
        let mut state = self.system.default_state();
        state.set_velocity(self.body, SpatialVelocity::new(axis * spin, Vector3::zeros()))?;
        self.system.reset_memories(&mut state)?;
        let mut simulation = Simulation::new(&self.system, &self.plant, state)?;
        let mut integrator = DormandPrince::new(accuracy);
        let mut run = Run { samples: Vec::new(), end: Ok(()) };
        loop {
            let kinetic = simulation.kinetic_energy();
            let view = simulation.dynamics()?;
            run.samples.push(Sample {
                time: view.time(),
                R_GB: view.pose(self.body).rotation,
                turn: turn(&view, self.bushings[0]),
                kinetic,
                stored: view.potential_energy(),
            });
            if simulation.time() >= END {
                return Ok(run);
            }
            if let Err(error) = integrator.step(&mut simulation, END) {
                run.end = Err(error);
                return Ok(run);
            }
        }
    }
}

/// Launches the body about an axis.
pub fn launch(law: Law, axis: Vector3<f64>, accuracy: f64) -> Result<Run, SimulationError> {
    // The same six constants.
    let stiffness = Vector6::new(0.4, 0.45, 0.5, 20.0, 20.0, 20.0);
    match law {
        Law::Spatial => {
            let stiffness = Symmetric6::from_diagonal(&stiffness);
            let parameters = spatial_bushing::Parameters { stiffness, ..Default::default() };
            let spun = Spun::new(|F, M| SpatialBushing::new(F, M, parameters))?;
            spun.run(axis, accuracy, |view, bushing| view.of(bushing).position.q.fixed_rows::<3>(0).norm())
        }
        Law::Gimbal => {
            let parameters = linear_bushing::Parameters { stiffness, ..Default::default() };
            let spun = Spun::new(|F, M| LinearBushing::new(F, M, parameters))?;
            spun.run(axis, accuracy, |view, bushing| view.of(bushing).position.X_FM.rotation.angle())
        }
    }
}
