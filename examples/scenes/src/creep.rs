//! A block of 10 kg, or a slider of that mass, under a steady tangential load.

use force_elements::coordinate_spring_damper_ext::Parameters as Bristles;
use force_elements::exponential_spring::Parameters;
use force_elements::nalgebra::Vector3;
use force_elements::simulation::{DormandPrince, Plant, Simulation, SimulationError, Statistics};
use force_elements::{CoordinatePair, CoordinateSpringDamperExt, ForceSystem, SpatialVelocity};

use crate::block::{Block, Contact, GRAVITY, MASS, Setting, cube_inertia};

pub const MU_STATIC: f64 = 0.7;
/// Kinetic friction where it is less than static.
pub const MU_KINETIC: f64 = 0.5;
/// The load beyond which nothing can hold \[N\].
pub const LIMIT: f64 = MU_STATIC * MASS * GRAVITY;

/// What holds the block, and how it begins.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    pub grip: Grip,
    pub start: Start,
    pub mu_kinetic: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Grip {
    Springs { settling: bool },
    Foundation { transition_velocity: f64 },
    Bristles,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Start {
    /// At rest in the default state: exponential springs with anchors at the origin and Sliding 1.
    Rest,
    /// At rest with the anchors of exponential springs under the corners and Sliding 0.
    Anchored,
    /// At this speed \[m/s\] in the default state; bristles slip.
    Sliding(f64),
}

/// What became of it.
#[derive(Debug, Clone, Copy)]
pub struct Outcome {
    pub statistics: Statistics,
    /// Displacement along the load over the second half of the time, per second \[m/s\].
    pub creep: f64,
    /// The same of what holds: the loaded anchor that moves most, or the bristles; zero if nothing
    /// remembers a place.
    pub creep_of_anchor: f64,
    /// The largest change of the work balance \[J\]: the error of the integrator.
    pub energy_error: f64,
    /// Kinetic energy of the start and work of the load \[J\].
    pub energy_turned_over: f64,
}

impl Grip {
    pub fn name(self) -> &'static str {
        match self {
            Self::Springs { settling: true } => "exponential springs, settling",
            Self::Springs { settling: false } => "exponential springs, return mapping",
            Self::Foundation { transition_velocity: 0.01 } => "foundation, 0.01 m/s",
            Self::Foundation { .. } => "foundation, 0.001 m/s",
            Self::Bristles => "bristle coordinate",
        }
    }
}

impl Start {
    pub fn name(self) -> String {
        match self {
            Self::Rest => "rest".into(),
            Self::Anchored => "rest, anchored".into(),
            Self::Sliding(speed) => format!("sliding, {speed} m/s"),
        }
    }

    fn speed(self) -> f64 {
        if let Self::Sliding(speed) = self { speed } else { 0.0 }
    }
}

/// Those of exponential springs. A block that comes at 1 m/s rocks when it stops, which may free anchors
/// that are about to hold, or let hold what slips; at 0.05 m/s viscous friction slows it down gently.
pub const STARTS: [Start; 4] = [Start::Rest, Start::Anchored, Start::Sliding(1.0), Start::Sliding(0.05)];

impl Case {
    /// A case in which kinetic friction is as large as static friction, so that the limit is one number.
    pub fn new(grip: Grip, start: Start) -> Self {
        Self { grip, start, mu_kinetic: MU_STATIC }
    }

    /// Every grip from every start that makes a difference to it; then, of those that remember a place, with
    /// less kinetic than static friction.
    pub fn all() -> Vec<Self> {
        let cases = |starts: &[Start], grip: Grip, mu_kinetic: f64| {
            starts.iter().map(|&start| Self { grip, start, mu_kinetic }).collect::<Vec<_>>()
        };
        let few = [Start::Rest, Start::Sliding(1.0)];
        let springs = |mu_kinetic: f64| {
            [true, false].map(|settling| cases(&STARTS, Grip::Springs { settling }, mu_kinetic))
        };
        let foundations = [0.01, 0.001]
            .map(|transition_velocity| cases(&few, Grip::Foundation { transition_velocity }, MU_STATIC));
        let bristles = |mu_kinetic: f64| [cases(&few, Grip::Bristles, mu_kinetic)];
        let equal = springs(MU_STATIC).into_iter().chain(foundations).chain(bristles(MU_STATIC));
        let less = springs(MU_KINETIC).into_iter().chain(bristles(MU_KINETIC));
        equal.chain(less).flatten().collect()
    }

    /// Whether no more than kinetic friction is needed to hold this share of the limit.
    pub fn kinetic_friction_holds(&self, share: f64) -> bool {
        share * MU_STATIC < self.mu_kinetic
    }

    /// Pushes with a share of the limit for so many seconds.
    pub fn run(&self, share: f64, seconds: f64, accuracy: f64) -> Result<Outcome, SimulationError> {
        let contact = match self.grip {
            Grip::Springs { settling } => Contact::springs(settling),
            Grip::Foundation { transition_velocity } => Contact::Foundation { transition_velocity },
            Grip::Bristles => return self.run_slider(share, seconds, accuracy),
        };
        // The inertia of a cube: a larger one lets the block rock for longer than it is watched.
        let inertia = cube_inertia();
        let setting =
            Setting { inertia, mu_static: MU_STATIC, mu_kinetic: self.mu_kinetic, ..Setting::default() };
        let mut block = Block::new(setting, contact)?;
        block.push(share * LIMIT)?;
        let V_GB = SpatialVelocity::new(Vector3::zeros(), Vector3::new(self.start.speed(), 0.0, 0.0));
        let simulation = match self.start {
            Start::Anchored => block.start(block.resting_pose(), V_GB, 0.0)?,
            Start::Rest | Start::Sliding(_) => block.default_start(block.resting_pose(), V_GB)?,
        };
        measure(simulation, seconds, accuracy, |simulation| {
            let anchors = block.springs.iter().take(4);
            let anchors = anchors.map(|&spring| simulation.state().discrete(spring).anchor_P.x);
            (block.position(simulation).x, anchors.collect())
        })
    }

    /// Bristles as stiff and as viscous as the friction springs of four corners.
    fn run_slider(&self, share: f64, seconds: f64, accuracy: f64) -> Result<Outcome, SimulationError> {
        let corner = Parameters::<f64>::default();
        let mut system = ForceSystem::new();
        let mut plant = Plant::new(Vector3::zeros())?;
        let slider = plant.add_coordinate(&mut system, MASS)?;
        let bristles = Bristles {
            dynamic_friction: self.mu_kinetic * MASS * GRAVITY,
            static_friction_offset: (MU_STATIC - self.mu_kinetic) * MASS * GRAVITY,
            sticking_stiffness: 4.0 * corner.friction_elasticity,
            sticking_damping: 4.0 * corner.friction_viscosity,
            ..Bristles::default()
        };
        let bristles = system.add(CoordinateSpringDamperExt::new(CoordinatePair::on(slider), bristles)?)?;
        plant.set_coordinate_load(slider, share * LIMIT)?;
        let mut state = system.default_state();
        state.set_coordinate_rate(slider, self.start.speed())?;
        if let Start::Sliding(_) = self.start {
            system.update_discrete(&mut state, bristles, |discrete| discrete.friction_mode = LIMIT)?;
        }
        let simulation = Simulation::new(&system, &plant, state)?;
        measure(simulation, seconds, accuracy, |simulation| {
            let state = simulation.state();
            (state.positions().coordinate(slider), vec![state.discrete(bristles).last_sticking_position])
        })
    }
}

/// Runs, and compares the middle with the end. `places` are those of the body and of what holds it.
fn measure(
    mut simulation: Simulation<'_, f64>,
    seconds: f64,
    accuracy: f64,
    places: impl Fn(&Simulation<'_, f64>) -> (f64, Vec<f64>),
) -> Result<Outcome, SimulationError> {
    let energy = simulation.work_balance();
    let kinetic_energy = simulation.kinetic_energy();
    let mut energy_error = 0.0_f64;
    let mut observe = |simulation: &mut Simulation<'_, f64>| {
        energy_error = energy_error.max((simulation.work_balance() - energy).abs());
    };
    let mut integrator = DormandPrince::new(accuracy);
    simulation.run(&mut integrator, seconds / 2.0, &mut observe)?;
    let (before, anchors_before) = places(&simulation);
    simulation.run(&mut integrator, seconds, &mut observe)?;
    let (after, anchors_after) = places(&simulation);
    let shifts = anchors_before.iter().zip(anchors_after).map(|(before, after)| (after - before).abs());
    Ok(Outcome {
        statistics: simulation.statistics(),
        creep: (after - before) / (seconds / 2.0),
        creep_of_anchor: shifts.fold(0.0, f64::max) / (seconds / 2.0),
        energy_error,
        energy_turned_over: kinetic_energy + simulation.supplied_work().abs(),
    })
}
