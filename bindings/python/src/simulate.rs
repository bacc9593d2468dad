//! Runs of the reference simulator.

use std::time::{Duration, Instant};

use force_elements::State as CrateState;
use force_elements::simulation::{
    DormandPrince, Implicit, Integrator, Plant, SemiImplicitEuler, Simulation, SimulationError,
};
use numpy::{PyArray1, PyArrayMethods as _, ToPyArray as _};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::{matrix_of, velocity_numbers};
use crate::errors::{classes, exception, invalid, raised};
use crate::system::System;

/// By how much of the time between two samples one may miss the end through roundoff: it is taken at the end then.
const ROUNDOFF: f64 = 1e-6;

/// The accuracy of error control where none is given.
const ACCURACY: f64 = 1e-6;

/// How long a run may last until an interrupt is looked for.
const PATIENCE: Duration = Duration::from_millis(50);

/// What a run is to do.
pub(crate) struct Run {
    pub(crate) end: f64,
    /// The time between two samples; without, every step is one.
    pub(crate) every: Option<f64>,
    /// Of error control.
    pub(crate) accuracy: Option<f64>,
    /// The step, or the longest one under error control.
    pub(crate) step: Option<f64>,
    /// The results that are sampled.
    pub(crate) names: Vec<String>,
}

/// What has been sampled, one row after the other.
#[derive(Default)]
pub(crate) struct Samples {
    time: Vec<f64>,
    poses: Vec<f64>,
    velocities: Vec<f64>,
    coordinates: Vec<f64>,
    coordinate_rates: Vec<f64>,
    energy: Vec<f64>,
    results: Vec<Vec<f64>>,
}

/// An error of a simulation as an exception.
pub(crate) fn failed(error: SimulationError) -> PyErr {
    match error {
        SimulationError::Forces(error) => raised(error),
        SimulationError::OtherBodies => exception(classes::TopologyError::new_err, &error.to_string()),
        SimulationError::EnergyExploded { .. } | SimulationError::PositionsTooCoarse { .. } => {
            exception(classes::StepError::new_err, &error.to_string())
        }
        other => exception(classes::Error::new_err, &other.to_string()),
    }
}

impl Samples {
    fn take(&mut self, simulation: &mut Simulation<'_, f64>, names: &[String]) -> PyResult<()> {
        self.energy.push(simulation.mechanical_energy().map_err(failed)?);
        let view = simulation.dynamics().map_err(raised)?;
        self.results.resize_with(names.len(), Vec::new);
        for (results, name) in self.results.iter_mut().zip(names) {
            results.push(view.result(name).map_err(raised)?);
        }
        let state = simulation.state();
        let (positions, velocities) = (state.positions(), state.velocities());
        self.time.push(state.time());
        self.poses.extend(positions.bodies().iter().skip(1).flat_map(matrix_of));
        self.velocities.extend(velocities.bodies().iter().skip(1).flat_map(velocity_numbers));
        self.coordinates.extend(positions.coordinates());
        self.coordinate_rates.extend(velocities.coordinates());
        Ok(())
    }

    pub(crate) fn into_dict<'py>(self, py: Python<'py>, names: &[String]) -> PyResult<Bound<'py, PyDict>> {
        let count = self.time.len();
        let shaped = |numbers: &[f64], shape: &[usize]| {
            let width = numbers.len() / (count * shape.iter().product::<usize>()).max(1);
            let all: Vec<usize> = [count, width].into_iter().chain(shape.iter().copied()).collect();
            numbers.to_pyarray(py).reshape(all)
        };
        let run = PyDict::new(py);
        run.set_item("time", self.time.to_pyarray(py))?;
        run.set_item("poses", shaped(&self.poses, &[4, 4])?)?;
        run.set_item("velocities", shaped(&self.velocities, &[6])?)?;
        run.set_item("coordinates", shaped(&self.coordinates, &[])?)?;
        run.set_item("coordinate_rates", shaped(&self.coordinate_rates, &[])?)?;
        run.set_item("energy", self.energy.to_pyarray(py))?;
        for (name, numbers) in names.iter().zip(&self.results) {
            let numbers: Bound<'_, PyArray1<f64>> = numbers.to_pyarray(py);
            run.set_item(name, numbers)?;
        }
        Ok(run)
    }
}

impl Run {
    fn check(&self, start: f64) -> PyResult<()> {
        if !(self.end.is_finite() && self.end >= start) {
            let end = self.end;
            return Err(invalid(&format!("end = {end} s, but it must be finite and not before {start} s")));
        }
        match self.every {
            Some(every) if !(every.is_finite() && every > 0.0) => {
                Err(invalid("every, the time between two samples, must be positive and finite"))
            }
            Some(every) if [start, self.end].iter().any(|&time| time + every <= time) => {
                Err(invalid(&format!(
                    "every = {every:e} s is less than the rounding of times from {start} s to {} s: make it longer",
                    self.end
                )))
            }
            _ => Ok(()),
        }
    }

    /// Moves a state to the end by the integrator of this name; returns the samples. After an error the state is that of the last
    /// step.
    pub(crate) fn simulate(
        &self,
        py: Python<'_>,
        system: &System,
        plant: &Plant<f64>,
        state: &mut CrateState<f64>,
        integrator: &str,
    ) -> PyResult<Samples> {
        self.check(state.time())?;
        let accuracy = self.accuracy.unwrap_or(ACCURACY);
        // Without a limit, error control alone determines the steps.
        let longest = self.step.unwrap_or_else(|| (self.end - state.time()).max(f64::MIN_POSITIVE));
        let system = system.read();
        let mut simulation = Simulation::new(&system, plant, state.clone()).map_err(failed)?;
        let samples = py.detach(|| match (integrator, self.step) {
            ("dormand_prince", _) => {
                self.drive(&mut simulation, &mut DormandPrince::new(accuracy).with_max_step(longest))
            }
            ("implicit_trapezoidal", _) => {
                self.drive(&mut simulation, &mut Implicit::trapezoidal(longest).with_accuracy(accuracy))
            }
            ("tr_bdf2", _) => {
                self.drive(&mut simulation, &mut Implicit::tr_bdf2(longest).with_accuracy(accuracy))
            }
            ("symplectic_euler", _) if self.accuracy.is_some() => Err(invalid(
                "symplectic_euler has no error control: accuracy has no effect, step determines it",
            )),
            ("symplectic_euler", Some(step)) => {
                self.drive(&mut simulation, &mut SemiImplicitEuler::new(step))
            }
            ("symplectic_euler", None) => Err(invalid("symplectic_euler needs a step")),
            _ => {
                let known =
                    "\"dormand_prince\", \"implicit_trapezoidal\", \"tr_bdf2\" or \"symplectic_euler\"";
                Err(invalid(&format!("integrator must be {known}, not {integrator:?}")))
            }
        });
        if samples.is_ok() || simulation.time() > state.time() {
            state.clone_from(simulation.state());
        }
        samples
    }

    #[expect(clippy::redundant_closure_for_method_calls, reason = "the method is of one lifetime")]
    fn drive(
        &self,
        simulation: &mut Simulation<'_, f64>,
        integrator: &mut impl Integrator<f64>,
    ) -> PyResult<Samples> {
        let (start, mut samples, mut number) = (simulation.time(), Samples::default(), 0_u32);
        let mut asked = Instant::now();
        samples.take(simulation, &self.names)?;
        while simulation.time() < self.end {
            let next = match self.every.map(|every| (every, start + f64::from(number + 1) * every)) {
                Some((every, next)) if self.end - next > ROUNDOFF * every => next,
                _ => self.end,
            };
            integrator.step(simulation, next).map_err(failed)?;
            if self.every.is_none() || simulation.time() >= next {
                samples.take(simulation, &self.names)?;
                number += 1;
            }
            if asked.elapsed() > PATIENCE {
                Python::attach(|py| py.check_signals())?;
                asked = Instant::now();
            }
        }
        Ok(samples)
    }
}
