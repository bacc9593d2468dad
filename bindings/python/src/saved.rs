//! Saved states: the contents of pickles and of copies between equal systems, without ledger history.

use force_elements::{Error, Progress, State};
use numpy::{PyArray1, ToPyArray as _};
use pyo3::prelude::*;

use crate::batch::copies;
use crate::convert::{self, matrix_of, velocity_numbers};
use crate::errors::{classes, exception, raised};
use crate::motion::Motion;
use crate::parts::{Built, body_rows, coordinate_places};

/// States of one system, without the system.
pub(crate) struct Saved {
    /// The names of the variables of each.
    names: Vec<String>,
    /// The [`Progress`] of each.
    progress: Vec<u8>,
    /// Of one state after the other: poses, velocities, coordinates, rates, variables.
    numbers: [Vec<f64>; 5],
}

/// In Python: names of variables, progress, and arrays of numbers.
pub(crate) type Arrays<'py> = (Vec<String>, Vec<u8>, [Bound<'py, PyArray1<f64>>; 5]);

impl Saved {
    /// # Errors
    /// If one of the states is from before a change of the system.
    pub(crate) fn of(system: &Built, states: &[State<f64>]) -> PyResult<Self> {
        if !states.iter().all(|state| system.owns(state)) {
            return Err(raised(Error::TopologyMismatch));
        }
        let mut numbers: [Vec<f64>; 5] = Default::default();
        let [poses, velocities, coordinates, rates, variables] = &mut numbers;
        for state in states {
            let (positions, speeds) = (state.positions(), state.velocities());
            poses.extend(positions.bodies().iter().skip(1).flat_map(matrix_of));
            velocities.extend(speeds.bodies().iter().skip(1).flat_map(velocity_numbers));
            coordinates.extend(positions.coordinates());
            rates.extend(speeds.coordinates());
            state.visit_variables(&mut |entry| variables.push(entry.value.number()));
        }
        let names =
            states.first().map_or_else(|| system.default_state().variable_names(), State::variable_names);
        Ok(Self { names, progress: states.iter().map(|state| state.progress() as u8).collect(), numbers })
    }

    /// The states, of this system.
    ///
    /// # Errors
    /// If the system has other places or variables.
    pub(crate) fn states(&self, system: &Built) -> PyResult<Vec<State<f64>>> {
        let (bodies, coordinates) = (body_rows(system.topology()), coordinate_places(system.topology()));
        let [poses, velocities, values, rates, variables] = &self.numbers;
        let (count, b, c, v) = (self.progress.len(), bodies.len(), coordinates.len(), self.names.len());
        let widths = [16 * b, 6 * b, c, c, v];
        if self.numbers.iter().zip(widths).any(|(numbers, width)| numbers.len() != count * width) {
            return Err(exception(classes::TopologyError::new_err, "the state belongs to another system"));
        }
        let motion = Motion {
            bodies,
            coordinates,
            time: None,
            poses: Some((poses, 16 * b)),
            velocities: Some((velocities, 6 * b)),
            values: Some((values, c)),
            rates: Some((rates, c)),
        };
        let mut fresh = system.default_state();
        if fresh.variable_names() != self.names {
            // The state names the first that differs.
            let variables: Vec<_> = self.names.iter().map(|name| (name.clone(), 0.0)).collect();
            fresh.restore(&variables).map_err(raised)?;
        }
        let mut states = copies(&fresh, count)?;
        for (place, (state, progress)) in states.iter_mut().zip(&self.progress).enumerate() {
            let mut restore = || {
                if *progress == Progress::New as u8 {
                    motion.write(place, state)?;
                }
                state.restore_values(&variables[v * place..][..v])?;
                // A motion that is set before variables counts as none.
                if *progress >= Progress::Placed as u8 {
                    motion.write(place, state)?;
                }
                let is_moved = *progress >= Progress::Moved as u8;
                if *progress >= Progress::Evaluated as u8 {
                    let evaluated = system.realize_dynamics(state).map(|_| ());
                    // The motion that was set since may be one at which an element fails, as it would have in the original.
                    evaluated.or_else(|error| if is_moved { Ok(()) } else { Err(error) })?;
                }
                if is_moved { state.set_time(state.time()) } else { Ok(()) }
            };
            restore().map_err(raised)?;
        }
        Ok(states)
    }

    /// # Errors
    /// If there is not one state.
    pub(crate) fn state(&self, system: &Built) -> PyResult<State<f64>> {
        let state = self.states(system)?.pop();
        state.ok_or_else(|| exception(classes::LayoutError::new_err, "there is no state"))
    }

    pub(crate) fn into_arrays(self, py: Python<'_>) -> Arrays<'_> {
        (self.names, self.progress, self.numbers.map(|numbers| numbers.to_pyarray(py)))
    }

    pub(crate) fn from_arrays((names, progress, arrays): Arrays<'_>) -> PyResult<Self> {
        let mut numbers: [Vec<f64>; 5] = Default::default();
        for (to, array) in numbers.iter_mut().zip(&arrays) {
            (*to, _) = convert::numbers(array, "saved")?;
        }
        Ok(Self { names, progress, numbers })
    }
}
