//! Derivatives of forces and of what elements remember, as arrays.

use force_elements::{
    End, ForceSystem, Forces, Linearization as CrateLinearization, Scope, SpatialForce, State as CrateState,
    Topology, VariableVector, Variation,
};
use numpy::{PyArray1, PyArray2, ToPyArray as _};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::{self, force_numbers, velocity_of};
use crate::errors::{invalid, no_such, raised};
use crate::system::System;

/// The derivatives of all forces about one state.
///
/// Rows and columns are six for each body and one for each coordinate; ``names`` lists them. The motion of a body is measured
/// by a twist in ground at its origin: rotation [rad], displacement [m]. Forces change by
/// ``stiffness @ motion + damping @ velocity``; a spring has a negative stiffness.
#[pyclass(frozen, module = "force_elements")]
pub(crate) struct Linearization {
    matrices: CrateLinearization<f64>,
    topology: Topology,
    zeros: VariableVector<f64>,
    variable_names: Vec<String>,
}

type Arrays<'py, const N: usize> = [Bound<'py, PyArray1<f64>>; N];

/// The names of the rows and columns of the matrices of a system.
pub(crate) fn names(topology: &Topology) -> Vec<String> {
    let bodies = topology.bodies().flat_map(|body| {
        let name = topology.body_name(body).map(ToString::to_string);
        let name = name.unwrap_or_else(|| format!("body[{}]", body.index() - 1));
        ["qx", "qy", "qz", "px", "py", "pz"].map(|axis| format!("{name}.{axis}"))
    });
    let coordinates = topology.coordinates().map(|coordinate| {
        let name = topology.coordinate_name(coordinate).map(ToString::to_string);
        name.unwrap_or_else(|| format!("coordinate[{}]", coordinate.index()))
    });
    bodies.chain(coordinates).collect()
}

fn variation(topology: &Topology, numbers: &[f64]) -> Variation<f64> {
    let mut variation = Variation::zeros(topology);
    let mut rest = numbers;
    for body in topology.bodies() {
        let (own, others) = rest.split_at(rest.len().min(6));
        *variation.body_mut(body) = velocity_of(own);
        rest = others;
    }
    for (coordinate, number) in topology.coordinates().zip(rest) {
        *variation.coordinate_mut(coordinate) = *number;
    }
    variation
}

fn force_vector(forces: &Forces<f64>) -> Vec<f64> {
    let bodies = forces.bodies().iter().skip(1).flat_map(|F: &SpatialForce<f64>| force_numbers(F));
    bodies.chain(forces.coordinates().iter().copied()).collect()
}

impl Linearization {
    pub(crate) fn about(
        py: Python<'_>,
        system: &Py<System>,
        state: &CrateState<f64>,
        variables: bool,
        commit: bool,
    ) -> PyResult<Self> {
        let system = system.get();
        py.detach(|| Self::of(&system.read(), state, Scope { variables: variables || commit, commit }))
    }

    fn of(system: &ForceSystem<f64>, state: &CrateState<f64>, scope: Scope) -> PyResult<Self> {
        let mut linearization = CrateLinearization::of(scope);
        system.linearize(state, &mut linearization).map_err(raised)?;
        let mut variable_names = vec!["time".to_string()];
        for element in system.elements() {
            variable_names.extend(state.linearized_variables(element).map_err(raised)?.into_iter().skip(1));
        }
        let (topology, zeros) = (system.topology().clone(), VariableVector::zeros(state));
        Ok(Self { matrices: linearization, topology, zeros, variable_names })
    }

    /// The numbers of a motion, velocity or force; zeros if it is not given.
    fn motion(&self, value: Option<&Bound<'_, PyAny>>) -> PyResult<Variation<f64>> {
        let size = self.matrices.size();
        let numbers = match value {
            Some(value) => convert::numbers(value)?.0,
            None => vec![0.0; size],
        };
        if numbers.len() != size {
            return Err(invalid(&format!("{size} numbers are required, in the order of names")));
        }
        Ok(variation(&self.topology, &numbers))
    }

    /// A number for each variable, from all of them or from some by name.
    fn vector(&self, value: Option<&Bound<'_, PyAny>>) -> PyResult<VariableVector<f64>> {
        let count = self.variable_names.len();
        let numbers = match value {
            None => vec![0.0; count],
            Some(value) => match value.cast::<PyDict>() {
                Ok(some) => {
                    let mut numbers = vec![0.0; count];
                    for (name, number) in some {
                        let name: String = name.extract()?;
                        let place = self.variable_names.iter().position(|other| *other == name);
                        let place =
                            place.ok_or_else(|| no_such(&format!("no variable is named {name:?}")))?;
                        numbers[place] = number.extract()?;
                    }
                    numbers
                }
                Err(_) => convert::numbers(value)?.0,
            },
        };
        let mut vector = self.zeros.clone();
        match numbers.split_first() {
            Some((time, rest)) if rest.len() == vector.numbers().len() => {
                vector.time = *time;
                vector.numbers_mut().copy_from_slice(rest);
                Ok(vector)
            }
            _ => Err(invalid(&format!("{count} numbers are required, in the order of variable_names"))),
        }
    }

    fn array<'py>(py: Python<'py>, vector: &VariableVector<f64>) -> Bound<'py, PyArray1<f64>> {
        let numbers: Vec<f64> =
            core::iter::once(vector.time).chain(vector.numbers().iter().copied()).collect();
        numbers.to_pyarray(py)
    }

    fn dense<'py>(&self, py: Python<'py>, which: usize) -> PyResult<Bound<'py, PyArray2<f64>>> {
        // Column by column, hence transposed.
        let matrix = self.matrices.to_dense()[which].transpose();
        convert::matrix(py, matrix.as_slice(), self.matrices.size())
    }
}

#[pymethods]
impl Linearization {
    /// The names of rows and columns: of body ``b`` ``b.qx`` to ``b.pz``, then those of coordinates.
    #[getter]
    fn names(&self) -> Vec<String> {
        names(&self.topology)
    }

    /// The names of time and all variables, in the order of vectors of variables.
    #[getter]
    fn variable_names(&self) -> Vec<String> {
        self.variable_names.clone()
    }

    /// The derivatives of forces by position [N/m, N/rad, N m/m, N m/rad].
    #[getter]
    fn stiffness<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.dense(py, 0)
    }

    /// The derivatives of forces by velocity [N s/m, N s/rad, N m s/m, N m s/rad].
    #[getter]
    fn damping<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.dense(py, 1)
    }

    /// Rows, columns, and the numbers of stiffness and damping in these places, element by element; those in one place add up.
    fn triplets<'py>(
        &self,
        py: Python<'py>,
    ) -> (
        Bound<'py, PyArray1<usize>>,
        Bound<'py, PyArray1<usize>>,
        Bound<'py, PyArray1<f64>>,
        Bound<'py, PyArray1<f64>>,
    ) {
        let all: Vec<_> = self.matrices.triplets().collect();
        let places = |of: &dyn Fn(usize) -> usize| (0..all.len()).map(of).collect::<Vec<_>>().to_pyarray(py);
        let numbers = |of: &dyn Fn(usize) -> f64| (0..all.len()).map(of).collect::<Vec<_>>().to_pyarray(py);
        (
            places(&|i| all[i].row),
            places(&|i| all[i].column),
            numbers(&|i| all[i].by_position),
            numbers(&|i| all[i].by_velocity),
        )
    }

    /// The first row of a body, or ``None`` for ground.
    fn row_of(&self, body: crate::parts::Body) -> Option<usize> {
        let place = usize::try_from(body.index + 1).ok()?;
        self.matrices.row_of(End::Body(self.topology.body(place)?))
    }

    /// The change of all forces for a change of positions, velocities and variables (an array, or some by name), and with
    /// ``variables`` that of all variables after the next ``accept``; in place of continuous variables that of their rates.
    #[pyo3(signature = (motion=None, velocity=None, variables=None))]
    fn jvp<'py>(
        &self,
        py: Python<'py>,
        motion: Option<&Bound<'py, PyAny>>,
        velocity: Option<&Bound<'py, PyAny>>,
        variables: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyArray1<f64>>, Option<Bound<'py, PyArray1<f64>>>)> {
        let (motion, velocity) = (self.motion(motion)?, self.motion(velocity)?);
        let mut forces = Forces::zeros(&self.topology);
        if !self.matrices.scope().variables && variables.is_none() {
            self.matrices.apply(&motion, &velocity, &mut forces).map_err(raised)?;
            return Ok((force_vector(&forces).to_pyarray(py), None));
        }
        let (variables, mut next) = (self.vector(variables)?, self.zeros.clone());
        self.matrices
            .apply_with_variables(&motion, &velocity, &variables, &mut forces, &mut next)
            .map_err(raised)?;
        Ok((force_vector(&forces).to_pyarray(py), Some(Self::array(py, &next))))
    }

    /// The transpose of ``jvp``: gradients by positions, velocities and, with ``variables``, by variables, from those by forces
    /// and by the variables after the next ``accept``.
    #[pyo3(signature = (forces=None, next=None))]
    fn vjp<'py>(
        &self,
        py: Python<'py>,
        forces: Option<&Bound<'py, PyAny>>,
        next: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Arrays<'py, 2>, Option<Bound<'py, PyArray1<f64>>>)> {
        let multipliers = self.motion(forces)?;
        let [mut by_position, mut by_velocity] = [0, 1].map(|_| Forces::zeros(&self.topology));
        let mut by_variables = None;
        if self.matrices.scope().variables || next.is_some() {
            let (next, mut by) = (self.vector(next)?, self.zeros.clone());
            self.matrices
                .apply_transpose_with_variables(
                    &multipliers,
                    &next,
                    &mut by_position,
                    &mut by_velocity,
                    &mut by,
                )
                .map_err(raised)?;
            by_variables = Some(Self::array(py, &by));
        } else {
            self.matrices
                .apply_transpose(&multipliers, &mut by_position, &mut by_velocity)
                .map_err(raised)?;
        }
        Ok(([by_position, by_velocity].map(|by| force_vector(&by).to_pyarray(py)), by_variables))
    }

    fn __repr__(&self) -> String {
        let size = self.matrices.size();
        format!("Linearization of {size} rows and {} variables", self.variable_names.len())
    }
}
