//! What pickles and copies of states hold, without ledger history.

use force_elements::{Error, ForceSystem, Stage, State};
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
    /// The [`progress`] of each.
    progress: Vec<u8>,
    /// Of one state after the other: poses, velocities, coordinates, rates, variables.
    numbers: [Vec<f64>; 5],
}

/// In Python: names of variables, progress, and arrays of numbers.
pub(crate) type Arrays<'py> = (Vec<String>, Vec<u8>, [Bound<'py, PyArray1<f64>>; 5]);

/// No motion was set since the state was new or restored.
const NEW: u8 = 0;
/// A motion was set, but not evaluated.
const PLACED: u8 = 1;
/// It was evaluated.
const EVALUATED: u8 = 2;
/// Another motion was set after that, and has not been accepted.
const MOVED: u8 = 3;

/// How far a state has come in a step. Memory follows parameters, and accounts stay open, according to it.
///
/// The crate does not tell, so it is found by what closes an account on a copy: a change of an element while no motion is set, and
/// accepting a step that was not integrated.
fn progress(system: &ForceSystem<f64>, state: &State<f64>) -> u8 {
    let stays_open = |element, then: &dyn Fn(&mut State<f64>) -> Result<(), Error>| {
        let (mut copy, account) = (state.clone(), format!("{element}.account_open"));
        let outcome = system.set_variable(&mut copy, &account, 1.0).and_then(|()| then(&mut copy));
        outcome.is_err() || copy.variable(&account) == Ok(1.0)
    };
    let has_motion =
        |element| stays_open(element, &|copy| system.set_enabled(copy, element, !copy.is_enabled(element)));
    let accept = |copy: &mut State<f64>| {
        system.realize_dynamics(copy)?;
        system.accept_step(copy)
    };
    match system.elements().next() {
        Some(_) if !system.elements().any(has_motion) => NEW,
        Some(first) if !stays_open(first, &accept) => MOVED,
        Some(first) if !stays_open(first, &|copy| copy.set_time(copy.time()).and_then(|()| accept(copy))) => {
            EVALUATED
        }
        Some(_) => PLACED,
        None if state.stage() > Stage::Topology => EVALUATED,
        None => NEW,
    }
}

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
            poses.extend(positions.poses().iter().skip(1).flat_map(matrix_of));
            velocities.extend(speeds.bodies().iter().skip(1).flat_map(velocity_numbers));
            coordinates.extend(positions.coordinates());
            rates.extend(speeds.coordinates());
            state.visit_variables(&mut |entry| variables.push(entry.value.number()));
        }
        let names =
            states.first().map_or_else(|| system.default_state().variable_names(), State::variable_names);
        Ok(Self { names, progress: states.iter().map(|state| progress(system, state)).collect(), numbers })
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
            fresh.restore(&variables.into()).map_err(raised)?;
        }
        let mut states = copies(&fresh, count)?;
        for (place, (state, progress)) in states.iter_mut().zip(&self.progress).enumerate() {
            let mut restore = || {
                if *progress == NEW {
                    motion.write(place, state)?;
                }
                state.restore_values(&variables[v * place..][..v])?;
                // A motion that is set before variables counts as none.
                if *progress >= PLACED {
                    motion.write(place, state)?;
                }
                if *progress >= EVALUATED {
                    system.realize_dynamics(state)?;
                }
                if *progress >= MOVED { state.set_time(state.time()) } else { Ok(()) }
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
            (*to, _) = convert::numbers(array)?;
        }
        Ok(Self { names, progress, numbers })
    }
}
