//! Derivatives of forces and of what elements remember, as arrays.

use std::collections::HashSet;

use force_elements::{
    BodyIndex, End, Error, ForceSystem, Forces, Linearization as CrateLinearization, Scope, SpatialForce,
    Stage, State as CrateState, Topology, VariableVector, Variation,
};
use numpy::{PyArray1, PyArray2, ToPyArray as _};
use pyo3::prelude::*;
use pyo3::types::PyMapping;

use crate::convert::{self, force_numbers, velocity_of};
use crate::errors::{invalid, no_such, raised};
use crate::parts::{Body, body_rows, coordinate_places};
use crate::system::System;
use crate::variables::{Names, once, places_among};

/// Which number of a [`VariableVector`] each variable of a state has; flags and energy accounts have none.
#[derive(Clone)]
pub(crate) struct Places(Vec<Option<usize>>);

impl Places {
    pub(crate) fn of(state: &CrateState<f64>) -> Self {
        let (mut places, mut count) = (Vec::new(), 0);
        state.visit_variables(&mut |entry| {
            // Flags have no unit, time has a place of its own, and energies are listed after the variables of each element.
            let is_number = !entry.unit.is_empty() && !places.is_empty();
            let is_energy =
                entry.stage == Stage::Dynamics && entry.name.to_string().ends_with("].absorbed_energy");
            places.push((is_number && !is_energy).then_some(count));
            count += usize::from(is_number && !is_energy);
        });
        Self(places)
    }

    fn count(&self) -> usize {
        self.0.len()
    }

    fn read(&self, numbers: &[f64], vector: &mut VariableVector<f64>) {
        vector.time = numbers.first().copied().unwrap_or_default();
        for (place, number) in self.0.iter().zip(numbers) {
            if let Some(to) = place.and_then(|place| vector.numbers_mut().get_mut(place)) {
                *to = *number;
            }
        }
    }

    fn write(&self, vector: &VariableVector<f64>, numbers: &mut [f64]) {
        for (place, to) in self.0.iter().zip(&mut *numbers) {
            *to = place.and_then(|place| vector.numbers().get(place).copied()).unwrap_or_default();
        }
        if let Some(time) = numbers.first_mut() {
            *time = vector.time;
        }
    }
}

/// A linearization, and the memory of its products with numbers.
pub(crate) struct Products {
    matrices: CrateLinearization<f64>,
    topology: Topology,
    places: Places,
    motions: [Variation<f64>; 2],
    forces: [Forces<f64>; 2],
    variables: [VariableVector<f64>; 2],
}

impl Products {
    pub(crate) fn new(scope: Scope, topology: &Topology, state: &CrateState<f64>, places: &Places) -> Self {
        Self {
            matrices: CrateLinearization::of(scope),
            topology: topology.clone(),
            places: places.clone(),
            motions: [0, 1].map(|_| Variation::zeros(topology)),
            forces: [0, 1].map(|_| Forces::zeros(topology)),
            variables: [0, 1].map(|_| VariableVector::zeros(state)),
        }
    }

    /// Whether products about a state, which may have more elements than before, can be written.
    pub(crate) fn fit(&self, scope: Scope, state: &CrateState<f64>) -> bool {
        let mut count = 0;
        state.visit_variables(&mut |_| count += 1);
        self.matrices.scope() == scope
            && self.places.count() == count
            && self.topology == *state.positions().topology()
    }

    pub(crate) fn linearize(
        &mut self,
        system: &ForceSystem<f64>,
        state: &CrateState<f64>,
    ) -> Result<(), Error> {
        system.linearize(state, &mut self.matrices)
    }

    /// Multiplies motion, velocity and variables, as far as they are given.
    pub(crate) fn forwards(
        &mut self,
        [motion, velocity, variables]: [Option<&[f64]>; 3],
        to: Option<&mut [f64]>,
        next: Option<&mut [f64]>,
    ) -> Result<(), Error> {
        let [dX, dV] = &mut self.motions;
        let [dF, _] = &mut self.forces;
        read_motion(&self.topology, motion, dX);
        read_motion(&self.topology, velocity, dV);
        if self.matrices.scope().variables {
            let [dp, after] = &mut self.variables;
            dp.set_zero();
            self.places.read(variables.unwrap_or_default(), dp);
            self.matrices.apply(dX, dV, dF, Some((dp, after)))?;
            if let Some(next) = next {
                self.places.write(after, next);
            }
        } else {
            self.matrices.apply(dX, dV, dF, None)?;
        }
        if let Some(to) = to {
            write_forces(dF, to);
        }
        Ok(())
    }

    /// Multiplies the transpose with forces and variables, as far as they are given.
    pub(crate) fn backwards(
        &mut self,
        [forces, next]: [Option<&[f64]>; 2],
        to: [Option<&mut [f64]>; 2],
        by_variables: Option<&mut [f64]>,
    ) -> Result<(), Error> {
        let [multipliers, _] = &mut self.motions;
        let [by_position, by_velocity] = &mut self.forces;
        read_motion(&self.topology, forces, multipliers);
        if self.matrices.scope().variables {
            let [after, by] = &mut self.variables;
            after.set_zero();
            self.places.read(next.unwrap_or_default(), after);
            self.matrices.apply_transpose(multipliers, by_position, by_velocity, Some((after, by)))?;
            if let Some(to) = by_variables {
                self.places.write(by, to);
            }
        } else {
            self.matrices.apply_transpose(multipliers, by_position, by_velocity, None)?;
        }
        for (by, to) in self.forces.iter().zip(to) {
            if let Some(to) = to {
                write_forces(by, to);
            }
        }
        Ok(())
    }

    fn size(&self) -> usize {
        self.matrices.size()
    }
}

/// The derivatives of all forces about one state.
///
/// Rows and columns are six for each body and one for each coordinate; ``names`` lists them. The motion of a body is measured
/// by a twist in ground at its origin: rotation [rad], displacement [m]. Forces change by
/// ``stiffness @ motion + damping @ velocity``; a spring has a negative stiffness.
#[pyclass(module = "force_elements")]
pub(crate) struct Linearization {
    products: Products,
    bodies: Vec<(Body, BodyIndex)>,
    /// The names that elements had: they may have been removed since.
    given: Names,
    variable_names: Vec<String>,
}

type Arrays<'py, const N: usize> = [Bound<'py, PyArray1<f64>>; N];

/// The names of the rows and columns of the matrices of a system.
pub(crate) fn names(topology: &Topology) -> Vec<String> {
    let bodies = body_rows(topology).into_iter().enumerate().flat_map(|(row, body)| {
        let name = body.and_then(|body| topology.body_name(body)).map(ToString::to_string);
        let name = name.unwrap_or_else(|| format!("body[{row}]"));
        ["qx", "qy", "qz", "px", "py", "pz"].map(|axis| format!("{name}.{axis}"))
    });
    let coordinates = coordinate_places(topology).into_iter().enumerate().map(|(place, coordinate)| {
        let name = coordinate.and_then(|of| topology.coordinate_name(of)).map(ToString::to_string);
        name.unwrap_or_else(|| format!("coordinate[{place}]"))
    });
    bodies.chain(coordinates).collect()
}

/// Six numbers for each row of a body, and one for each place of a coordinate; zeros if there are none.
fn read_motion(topology: &Topology, numbers: Option<&[f64]>, variation: &mut Variation<f64>) {
    let mut rest = numbers.unwrap_or_default();
    for place in 1..topology.body_places() {
        let own = rest.split_off(..6);
        if let Some(body) = topology.body(place) {
            *variation.body_mut(body) = velocity_of(own.unwrap_or(&[0.0; 6]));
        }
    }
    for coordinate in topology.coordinates() {
        *variation.coordinate_mut(coordinate) = rest.get(coordinate.index()).copied().unwrap_or_default();
    }
}

/// Those on ground are left out.
fn write_forces(forces: &Forces<f64>, to: &mut [f64]) {
    let bodies = forces.bodies().iter().skip(1).flat_map(|F: &SpatialForce<f64>| force_numbers(F));
    let numbers = bodies.chain(forces.coordinates().iter().copied());
    to.iter_mut().zip(numbers).for_each(|(to, number)| *to = number);
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
        let scope = Scope { variables: variables || commit, commit };
        let products = py.detach(|| {
            let system = system.read();
            let mut products = Products::new(scope, system.topology(), state, &Places::of(state));
            let bodies = system.topology().bodies().chain([BodyIndex::GROUND]);
            let bodies = bodies.map(|body| (system.body(body), body)).collect();
            let given = Names::of(&system);
            products.linearize(&system, state).map(|()| (products, bodies, given))
        });
        let (products, bodies, given) = products.map_err(raised)?;
        Ok(Self { products, bodies, given, variable_names: state.variable_names() })
    }

    /// The numbers of a motion, velocity or force.
    fn motion(&self, value: Option<&Bound<'_, PyAny>>, what: &str) -> PyResult<Option<Vec<f64>>> {
        value.map(|value| convert::shaped(value, &[&[self.products.size()]], what)).transpose()
    }

    /// A number for each variable, from all of them or from some by name.
    fn vector(&self, value: Option<&Bound<'_, PyAny>>, what: &str) -> PyResult<Option<Vec<f64>>> {
        let Some(value) = value else { return Ok(None) };
        let count = self.variable_names.len();
        let Ok(some) = value.cast::<PyMapping>() else {
            return convert::shaped(value, &[&[count]], what).map(Some);
        };
        let place = places_among(&self.variable_names);
        let (mut numbers, mut places) = (vec![0.0; count], HashSet::new());
        for (name, number) in convert::items(some)? {
            let place = place(&self.given, &name)?;
            once(&mut places, place, &name)?;
            numbers[place] = convert::number(&number, &name)?;
        }
        Ok(Some(numbers))
    }

    fn dense<'py>(&self, py: Python<'py>, which: usize) -> PyResult<Bound<'py, PyArray2<f64>>> {
        // Column by column, hence transposed.
        let matrix = self.products.matrices.to_dense()[which].transpose();
        convert::matrix(py, matrix.as_slice(), self.products.size()).map(convert::read_only)
    }

    /// Products with variables need their derivatives.
    fn has_variables(&self, are_used: bool) -> PyResult<bool> {
        let has = self.products.matrices.scope().variables;
        if are_used && !has {
            return Err(invalid("the derivatives by variables require linearize(variables=True)"));
        }
        Ok(has)
    }
}

#[pymethods]
impl Linearization {
    /// The names of rows and columns: of body ``b`` ``b.qx`` to ``b.pz``, then those of coordinates.
    #[getter]
    fn names(&self) -> Vec<String> {
        names(&self.products.topology)
    }

    /// The names of all variables, in the order of vectors of variables: the keys of the state. Flags, energy accounts
    /// and the remembered path of a cable have derivatives of zero. Those by the entries of a rotation matrix ``R`` are meaningful
    /// only together: a turn of the frame changes ``R`` by the cross product matrix of the turn times ``R``.
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
        let all: Vec<_> = self.products.matrices.triplets().collect();
        let places = |of: &dyn Fn(usize) -> usize| (0..all.len()).map(of).collect::<Vec<_>>().to_pyarray(py);
        let numbers = |of: &dyn Fn(usize) -> f64| (0..all.len()).map(of).collect::<Vec<_>>().to_pyarray(py);
        (places(&|i| all[i].0), places(&|i| all[i].1), numbers(&|i| all[i].2[0]), numbers(&|i| all[i].2[1]))
    }

    /// The first row of a body, or ``None`` for ground.
    fn row_of(&self, body: Body) -> PyResult<Option<usize>> {
        let found = self.bodies.iter().find(|(own, _)| *own == body);
        let (_, index) =
            found.ok_or_else(|| no_such(&format!("the system did not have {}", body.__repr__())))?;
        Ok(self.products.matrices.row_of(End::Body(*index)))
    }

    /// The change of all forces for a change of positions, velocities and variables (an array, or some by name), and with
    /// ``variables`` that of all variables after the next ``accept``; in place of continuous variables that of their rates.
    #[pyo3(signature = (motion=None, velocity=None, variables=None))]
    fn jvp<'py>(
        &mut self,
        py: Python<'py>,
        motion: Option<&Bound<'py, PyAny>>,
        velocity: Option<&Bound<'py, PyAny>>,
        variables: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyArray1<f64>>, Option<Bound<'py, PyArray1<f64>>>)> {
        let (motion, velocity) = (self.motion(motion, "motion")?, self.motion(velocity, "velocity")?);
        let variables = self.vector(variables, "variables")?;
        let mut forces = vec![0.0; self.products.size()];
        let mut next = self.has_variables(variables.is_some())?.then(|| vec![0.0; self.variable_names.len()]);
        let given = [motion.as_deref(), velocity.as_deref(), variables.as_deref()];
        self.products.forwards(given, Some(&mut forces), next.as_deref_mut()).map_err(raised)?;
        Ok((forces.to_pyarray(py), next.map(|next| next.to_pyarray(py))))
    }

    /// The transpose of ``jvp``: gradients by positions, velocities and, with ``variables``, by variables, from those by forces
    /// and by the variables after the next ``accept``.
    #[pyo3(signature = (forces=None, next=None))]
    fn vjp<'py>(
        &mut self,
        py: Python<'py>,
        forces: Option<&Bound<'py, PyAny>>,
        next: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Arrays<'py, 2>, Option<Bound<'py, PyArray1<f64>>>)> {
        let (forces, next) = (self.motion(forces, "forces")?, self.vector(next, "next")?);
        let [mut by_position, mut by_velocity] = [0, 1].map(|_| vec![0.0; self.products.size()]);
        let mut by_variables =
            self.has_variables(next.is_some())?.then(|| vec![0.0; self.variable_names.len()]);
        self.products
            .backwards(
                [forces.as_deref(), next.as_deref()],
                [Some(&mut by_position), Some(&mut by_velocity)],
                by_variables.as_deref_mut(),
            )
            .map_err(raised)?;
        let by_variables = by_variables.map(|by| by.to_pyarray(py));
        Ok(([by_position, by_velocity].map(|by| by.to_pyarray(py)), by_variables))
    }

    fn __repr__(&self) -> String {
        let size = self.products.size();
        format!("Linearization of {size} rows and {} variables", self.variable_names.len())
    }
}
