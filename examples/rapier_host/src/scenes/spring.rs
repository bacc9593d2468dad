//! A mass on a spring without loss.

use core::f64::consts::TAU;

use force_elements::linear_bushing::Parameters;
use force_elements::nalgebra::{Vector3, Vector6};
use force_elements::simulation::{RigidBody, SimulationError};
use force_elements::{Frame, LinearBushing, Pose, SpatialVelocity};

use crate::host::Steps;
use crate::scene::Scene;

/// Length of a step \[s\].
pub const STEP: f64 = 1e-3;
/// Whole periods are compared, since the energy of symplectic Euler swings within one.
const STEPS_PER_PERIOD: u16 = 100;
/// When the energy has doubled, of eight substeps after four periods, `finish_step` refuses.
pub const PERIODS: u16 = 3;
/// `ωh`: the phase of a step \[rad\].
const PHASE: f64 = TAU / 100.0;

/// The energy relative to that at the start, period by period.
pub fn energies(substeps: usize) -> Result<Vec<(f64, f64)>, SimulationError> {
    let mut scene = Scene::new(Vector3::zeros())?;
    let body = RigidBody::with_equal_inertia(1.0, 1.0)?;
    let body = scene.add_body(body, Pose::translation(0.1, 0.0, 0.0), SpatialVelocity::zero());
    let stiffness = Vector6::new(0.0, 0.0, 0.0, (PHASE / STEP).powi(2), 0.0, 0.0);
    let parameters = Parameters { stiffness, ..Parameters::default() };
    scene.system.add(LinearBushing::new(Frame::ground(Pose::identity()), Frame::of(body), parameters)?)?;
    let steps = Steps { substeps, ..Steps::of(STEP) };
    let samples = scene.in_rapier(steps, PERIODS.into(), STEPS_PER_PERIOD.into(), |_| ())?;
    let start = samples[0].energies.mechanical();
    Ok(samples.iter().map(|s| (s.time, s.energies.mechanical() / start)).collect())
}

/// The energy gained in a step, relative to `ω²h²` times the energy, from whole periods.
pub fn gain(substeps: usize) -> Result<f64, SimulationError> {
    let energies = energies(substeps)?;
    let steps = f64::from(PERIODS * STEPS_PER_PERIOD);
    Ok((energies[usize::from(PERIODS)].1.powf(1.0 / steps) - 1.0) / PHASE.powi(2))
}
