//! A scene, and its two hosts.

use force_elements::nalgebra::Vector3;
use force_elements::simulation::{DormandPrince, Plant, RigidBody, Simulation, SimulationError};
use force_elements::{BodyIndex, DynamicsView, Error, ForceSystem, Pose, SpatialVelocity, State};

use crate::host::{Host, Steps};

/// Free bodies, where they start, and the elements between them.
pub struct Scene {
    pub system: ForceSystem<f64>,
    gravity_G: Vector3<f64>,
    plant: Plant<f64>,
    bodies: Vec<Placed>,
}

/// A body where it starts.
pub struct Placed {
    pub index: BodyIndex,
    pub body: RigidBody<f64>,
    pub X_GB: Pose<f64>,
    pub V_GB: SpatialVelocity<f64>,
}

/// Energies of a scene \[J\].
#[derive(Clone, Copy)]
pub struct Energies {
    pub kinetic: f64,
    pub gravitational: f64,
    pub stored: f64,
    pub dissipated: f64,
}

impl Energies {
    /// Energies of the bodies, and those of the elements in a state whose accounts are open.
    pub fn new(kinetic: f64, gravitational: f64, dynamics: &DynamicsView<'_, f64>) -> Self {
        let dissipated = dynamics.dissipated_energy().unwrap_or(f64::NAN);
        Self { kinetic, gravitational, stored: dynamics.potential_energy(), dissipated }
    }

    /// Kinetic, gravitational and stored energy.
    pub fn mechanical(&self) -> f64 {
        self.kinetic + self.gravitational + self.stored
    }

    pub fn total(&self) -> f64 {
        self.mechanical() + self.dissipated
    }
}

/// What is kept of a run at one time.
pub struct Sample<R> {
    pub time: f64,
    pub energies: Energies,
    pub reading: R,
}

/// The largest change of the total energy \[J\].
pub fn closing_error<R>(samples: &[Sample<R>]) -> f64 {
    let start = samples[0].energies.total();
    samples.iter().map(|sample| (sample.energies.total() - start).abs()).fold(0.0, f64::max)
}

impl Scene {
    pub fn new(gravity_G: Vector3<f64>) -> Result<Self, SimulationError> {
        let plant = Plant::new(gravity_G)?;
        Ok(Self { system: ForceSystem::new(), gravity_G, plant, bodies: Vec::new() })
    }

    /// Adds a body that starts at this pose, its origin at this velocity.
    pub fn add_body(
        &mut self,
        body: RigidBody<f64>,
        X_GB: Pose<f64>,
        V_GB: SpatialVelocity<f64>,
    ) -> BodyIndex {
        let index = self.plant.add_body(&mut self.system, body);
        self.bodies.push(Placed { index, body, X_GB, V_GB });
        index
    }

    /// The state in which either host starts, the accounts open.
    fn start(&self) -> Result<State<f64>, Error> {
        let mut state = self.system.default_state();
        for placed in &self.bodies {
            state.set_body(placed.index, placed.X_GB, placed.V_GB)?;
        }
        self.system.reset_memories(&mut state)?;
        self.system.reset_dissipated_energy(&mut state)?;
        Ok(state)
    }

    /// Runs in rapier, and looks at equal intervals of so many steps.
    pub fn in_rapier<R>(
        &self,
        steps: Steps,
        looks: u32,
        interval: u32,
        mut read: impl FnMut(&DynamicsView<'_, f64>) -> R,
    ) -> Result<Vec<Sample<R>>, SimulationError> {
        let (mut host, mut state) = (Host::new(self.gravity_G, steps), self.start()?);
        for placed in &self.bodies {
            host.insert(placed);
        }
        let mut samples = Vec::new();
        for look in 0..=looks {
            if look > 0 {
                (0..interval).try_for_each(|_| host.advance(&self.system, &mut state))?;
            }
            let dynamics = self.system.realize_dynamics(&mut state)?;
            samples.push(Sample {
                time: dynamics.time(),
                energies: host.energies(&dynamics),
                reading: read(&dynamics),
            });
        }
        Ok(samples)
    }

    /// Runs in the reference host, to this accuracy, and looks at equal intervals.
    pub fn in_reference<R>(
        &self,
        accuracy: f64,
        looks: u32,
        interval: f64,
        mut read: impl FnMut(&DynamicsView<'_, f64>) -> R,
    ) -> Result<Vec<Sample<R>>, SimulationError> {
        let mut simulation = Simulation::new(&self.system, &self.plant, self.start()?)?;
        let mut integrator = DormandPrince::new(accuracy);
        let mut samples = Vec::new();
        for look in 0..=looks {
            simulation.run(&mut integrator, f64::from(look) * interval, |_| {})?;
            let (kinetic, gravitational) = (simulation.kinetic_energy(), simulation.gravitational_energy());
            let dynamics = simulation.dynamics()?;
            let energies = Energies::new(kinetic, gravitational, &dynamics);
            samples.push(Sample { time: dynamics.time(), energies, reading: read(&dynamics) });
        }
        Ok(samples)
    }
}
