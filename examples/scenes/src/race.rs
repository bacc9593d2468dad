//! Three scenes with the block, in which contacts run against each other.

use force_elements::SpatialVelocity;
use force_elements::nalgebra::Vector3;
use force_elements::simulation::{DormandPrince, Simulation, SimulationError, Statistics};

use crate::block::{Block, Contact, GRAVITY, Setting};

/// How long a scene lasts \[s\].
pub const END: f64 = 7.0;
/// From when to when what the block still moves is measured within the scene \[s\].
const LATE: [f64; 2] = [5.0, END];
/// And long after it, when the block no longer rocks \[s\].
const REST: [f64; 2] = [40.0, 60.0];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scene {
    /// The block slides at 4 m/s.
    Slide,
    /// The block slides at 3 m/s and spins at 8 rad/s about the vertical.
    SlideAndSpin,
    /// Gravity is tilted by 10°, and the block starts at rest.
    TiltedGravity,
}

pub const SCENES: [Scene; 3] = [Scene::Slide, Scene::SlideAndSpin, Scene::TiltedGravity];

impl Scene {
    pub fn name(self) -> &'static str {
        match self {
            Self::Slide => "slide at 4 m/s",
            Self::SlideAndSpin => "slide at 3 m/s, spin at 8 rad/s",
            Self::TiltedGravity => "gravity tilted by 10°",
        }
    }

    fn setting(self) -> Setting {
        if self == Self::TiltedGravity {
            let angle = 10.0_f64.to_radians();
            let gravity_G = Vector3::new(angle.sin(), 0.0, -angle.cos()) * GRAVITY;
            Setting { gravity_G, ..Setting::default() }
        } else {
            Setting::default()
        }
    }

    fn velocity(self) -> SpatialVelocity<f64> {
        let (spin, speed) = match self {
            Self::Slide => (0.0, 4.0),
            Self::SlideAndSpin => (8.0, 3.0),
            Self::TiltedGravity => (0.0, 0.0),
        };
        SpatialVelocity::new(Vector3::new(0.0, 0.0, spin), Vector3::new(speed, 0.0, 0.0))
    }
}

/// Who runs.
#[derive(Debug, Clone, Copy)]
pub struct Runner {
    pub name: &'static str,
    pub contact: Contact,
}

/// The first is the one the others are measured by.
pub fn runners() -> [Runner; 4] {
    [
        Runner { name: "exponential springs, settling", contact: Contact::springs(true) },
        Runner { name: "exponential springs, return mapping", contact: Contact::springs(false) },
        Runner { name: "foundation, 0.01 m/s", contact: Contact::Foundation { transition_velocity: 0.01 } },
        Runner { name: "foundation, 0.001 m/s", contact: Contact::Foundation { transition_velocity: 0.001 } },
    ]
}

/// Where a block is at the end of a scene, and what it has cost to get there.
#[derive(Debug, Clone, Copy)]
pub struct Finish {
    pub statistics: Statistics,
    /// Displacement along the plane over the last two seconds, per second \[m/s\].
    pub drift: f64,
    pub position: Vector3<f64>,
}

/// A block on its way, with the anchors under its corners and the default Sliding of 1.
fn start(scene: Scene, block: &Block) -> Result<Simulation<'_, f64>, SimulationError> {
    block.start(block.resting_pose(), scene.velocity(), 1.0)
}

/// Displacement along the plane from one time to another, per second \[m/s\]. Along the normal
/// a block at rest buzzes by what the accuracy allows, and goes nowhere.
fn drift(
    block: &Block,
    simulation: &mut Simulation<'_, f64>,
    integrator: &mut DormandPrince<f64>,
    [from, to]: [f64; 2],
) -> Result<f64, SimulationError> {
    simulation.run(integrator, from, |_| {})?;
    let before = block.position(simulation);
    simulation.run(integrator, to, |_| {})?;
    Ok((block.position(simulation) - before).xy().norm() / (to - from))
}

/// Runs a scene.
pub fn run(scene: Scene, contact: Contact, accuracy: f64) -> Result<Finish, SimulationError> {
    let block = Block::new(scene.setting(), contact)?;
    let mut simulation = start(scene, &block)?;
    let drift = drift(&block, &mut simulation, &mut DormandPrince::new(accuracy), LATE)?;
    Ok(Finish { statistics: simulation.statistics(), drift, position: block.position(&simulation) })
}

/// What the block still moves long after the scene, per second \[m/s\].
pub fn drift_at_rest(scene: Scene, contact: Contact, accuracy: f64) -> Result<f64, SimulationError> {
    let block = Block::new(scene.setting(), contact)?;
    let mut simulation = start(scene, &block)?;
    drift(&block, &mut simulation, &mut DormandPrince::new(accuracy), REST)
}
