//! Masses and moments of inertia of a host, and the longest step for them.

use std::slice;

use force_elements::nalgebra::{ArrayStorage, Matrix3, Point3, Vector3};
use force_elements::simulation::{Plant, RigidBody, SimulationError};
use force_elements::{
    BodyIndex, CoordinateIndex, ElementId, Inertias as CrateInertias, StableStep as CrateStableStep,
    StepMethod, Topology,
};
use numpy::PyArray2;
use pyo3::prelude::*;

use crate::convert::{self, wrong_shape};
use crate::errors::invalid;
use crate::parts::{Built, Element};

/// Masses and moments of inertia of a host, with which ``check_step`` and ``stable_step`` bound its steps, and with which
/// ``simulate`` moves free bodies. Each is an array in the order of ``state.poses`` or ``state.coordinates``, with as many rows, or a
/// number for all.
///
/// ``masses`` [kg] and ``moments`` [kg m2], needed if there are bodies: moments about the mass center in the frame of the body,
/// (bodies, 3, 3), or (bodies, 3) along its axes, or one for each body whose moments are alike (three different numbers, and a
/// symmetric matrix of three rows, could be either, and are refused); ``mass_centers`` (bodies, 3) [m] in the frame of the body, by
/// default its origin; ``coordinate_masses`` [kg, or kg m2 of an angle], needed if there are coordinates.
///
/// What does not move has infinite masses and moments. In a mechanism, the kinetic energy of everything that is stated must not exceed
/// that of the mechanism, in any of its motions: links are stated as if each were free; those that move as one divide their inertia;
/// coordinates alone have ``m_i / λ``, where ``m_i = 1 / inv(M)_ii`` and ``λ`` is the largest eigenvalue of
/// ``sqrt(m_i m_j) inv(M)_ij`` with the mass matrix ``M``; where both have elements, each is stated with a part, such as half
/// (``examples/mujoco_host.py``). What no host can have, such as a mass of zero, is refused here, also in the row of a body that was removed.
/// ``simulate`` moves all bodies: theirs must be finite, neither tiny nor huge, and no moment may exceed the sum of the other two.
#[pyclass(frozen, module = "force_elements")]
pub(crate) struct Inertias {
    masses: Rows<f64>,
    moments: Rows<Matrix3<f64>>,
    mass_centers: Option<Vec<Point3<f64>>>,
    coordinate_masses: Rows<f64>,
}

/// A number for all rows, or what each has.
#[derive(Clone, IntoPyObject)]
enum Rows<V> {
    ForAll(f64),
    Each(Vec<V>),
}

impl<V: Copy> Rows<V> {
    /// What a row has, if there is one.
    fn at(&self, row: usize, of_number: impl Fn(f64) -> V) -> Option<V> {
        match self {
            Self::ForAll(number) => Some(of_number(*number)),
            Self::Each(rows) => rows.get(row).copied(),
        }
    }

    /// How many rows there are, where there is not one number for all.
    fn count(&self) -> Option<usize> {
        match self {
            Self::ForAll(_) => None,
            Self::Each(rows) => Some(rows.len()),
        }
    }
}

/// By how much moments may differ from those across the diagonal, relative to the largest, as those that were rotated do.
const ROUNDOFF: f64 = 1e-9;

/// The moments of a missing row, which are refused.
const MISSING: Matrix3<f64> = Matrix3::from_array_storage(ArrayStorage([[f64::NAN; 3]; 3]));

/// The moments of inertia of one body.
fn symmetric(moments: &Matrix3<f64>) -> PyResult<Matrix3<f64>> {
    // Those of a body that does not move are infinite.
    if *moments == Matrix3::from_diagonal_element(f64::INFINITY) {
        return Ok(*moments);
    }
    let is_symmetric = (moments - moments.transpose()).amax() <= ROUNDOFF * moments.amax();
    if !(is_symmetric && moments.iter().all(|moment| moment.is_finite())) {
        return Err(invalid("moments must be symmetric, and finite or all infinite"));
    }
    let moments = (moments + moments.transpose()) * 0.5;
    let size = moments.amax();
    let is_definite = size > 0.0 && (moments / size).symmetric_eigenvalues().min() > 0.0;
    if !is_definite {
        return Err(invalid("moments must be greater than 0, and those of a matrix positive definite"));
    }
    Ok(moments)
}

/// Masses: a number for all, or one for each.
fn masses_of(value: &Bound<'_, PyAny>, what: &str) -> PyResult<Rows<f64>> {
    let (masses, shape) = convert::numbers(value, what)?;
    if let Some(mass) = masses.iter().find(|&&mass| mass.is_nan() || mass <= 0.0) {
        return Err(invalid(&format!("{what} must be greater than 0, not {mass}")));
    }
    match (shape.as_slice(), masses.as_slice()) {
        ([], &[mass]) => Ok(Rows::ForAll(mass)),
        ([_], _) => Ok(Rows::Each(masses)),
        _ => Err(wrong_shape(what, "(), one number for all, or (n,), one for each", &shape)),
    }
}

/// The moments of one body after the other.
fn moments_of(value: &Bound<'_, PyAny>) -> PyResult<Rows<Matrix3<f64>>> {
    let (numbers, shape) = convert::numbers(value, "moments")?;
    if shape == [3] && numbers.iter().any(|&moment| (moment - numbers[0]).abs() > 0.0) {
        return Err(invalid(
            "three moments may be those of one body or of three: give rows (bodies, 3), or matrices (bodies, 3, 3)",
        ));
    }
    let matrices: Vec<_> = match shape.as_slice() {
        [] | [_] => numbers.iter().map(|&moment| Matrix3::from_diagonal_element(moment)).collect(),
        [_, 3] => numbers
            .chunks_exact(3)
            .map(|row| Matrix3::from_diagonal(&Vector3::from_column_slice(row)))
            .collect(),
        [_, 3, 3] => numbers.chunks_exact(9).map(Matrix3::from_row_slice).collect(),
        _ => {
            return Err(wrong_shape("moments", "(bodies,), (bodies, 3) or (bodies, 3, 3)", &shape));
        }
    };
    if shape == [3, 3] {
        let rows = Matrix3::from_row_slice(&numbers);
        let is_symmetric = (rows - rows.transpose()).amax() <= ROUNDOFF * rows.amax();
        if is_symmetric && rows != Matrix3::repeat(rows[0]) {
            return Err(invalid(
                "moments of shape (3, 3) may be one matrix or the rows of three bodies: give matrices (bodies, 3, 3)",
            ));
        }
    }
    let matrices = matrices.iter().map(symmetric).collect::<PyResult<Vec<_>>>()?;
    match (shape.as_slice(), numbers.as_slice()) {
        ([], &[moment]) => Ok(Rows::ForAll(moment)),
        _ => Ok(Rows::Each(matrices)),
    }
}

/// The row of a body: ground has none.
fn row_of(body: BodyIndex) -> usize {
    body.index().wrapping_sub(1)
}

impl Inertias {
    /// Returns `self` if it has as many rows as the system.
    pub(crate) fn of(&self, topology: &Topology) -> PyResult<&Self> {
        let (bodies, coordinates) = (topology.body_places() - 1, topology.coordinate_places());
        let centers = self.mass_centers.as_ref().map(Vec::len);
        let rows = [
            ("masses", self.masses.count(), bodies),
            ("moments", self.moments.count(), bodies),
            ("mass_centers", centers, bodies),
            ("coordinate_masses", self.coordinate_masses.count(), coordinates),
        ];
        match rows.into_iter().find(|&(_, found, wanted)| found.is_some_and(|found| found != wanted)) {
            Some((what, found, wanted)) => {
                let found = found.unwrap_or_default();
                Err(invalid(&format!("{what} must have {wanted} rows, not {found}")))
            }
            None => Ok(self),
        }
    }

    /// A plant of these free bodies and coordinates.
    pub(crate) fn plant(
        &self,
        topology: &Topology,
        gravity: Vector3<f64>,
    ) -> Result<Plant<f64>, SimulationError> {
        let mut plant = Plant::new(gravity)?;
        for body in topology.bodies() {
            let rigid = RigidBody::new(self.mass(body), self.mass_center(body), self.inertia(body))?;
            plant.put_body(body, rigid);
        }
        for coordinate in topology.coordinates() {
            plant.put_coordinate(coordinate, self.coordinate_mass(coordinate))?;
        }
        Ok(plant)
    }
}

impl CrateInertias for Inertias {
    fn mass(&self, body: BodyIndex) -> f64 {
        self.masses.at(row_of(body), |mass| mass).unwrap_or(f64::NAN)
    }

    fn inertia(&self, body: BodyIndex) -> Matrix3<f64> {
        self.moments.at(row_of(body), Matrix3::from_diagonal_element).unwrap_or(MISSING)
    }

    fn mass_center(&self, body: BodyIndex) -> Point3<f64> {
        let center = |centers: &Vec<Point3<f64>>| centers.get(row_of(body)).copied();
        self.mass_centers.as_ref().and_then(center).unwrap_or_else(Point3::origin)
    }

    fn coordinate_mass(&self, coordinate: CoordinateIndex) -> f64 {
        self.coordinate_masses.at(coordinate.index(), |mass| mass).unwrap_or(f64::NAN)
    }
}

/// The inertias of all worlds of a batch, or those of each.
pub(crate) enum OfWorlds {
    All(Py<Inertias>),
    Each(Vec<Py<Inertias>>),
}

impl<'py> FromPyObject<'_, 'py> for OfWorlds {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let each = || value.extract().map(Self::Each).ok();
        let found = value.extract().map(Self::All).ok().or_else(each);
        found.ok_or_else(|| {
            convert::not_a("inertias must be Inertias, or a list of those of each world", &value)
        })
    }
}

impl OfWorlds {
    /// Refuses them unless they are those of so many worlds, and have as many rows as the system.
    pub(crate) fn check(&self, worlds: usize, topology: &Topology) -> PyResult<()> {
        let each = match self {
            Self::All(of_all) => slice::from_ref(of_all),
            Self::Each(each) if each.len() == worlds => each,
            Self::Each(each) => {
                let count = each.len();
                return Err(invalid(&format!(
                    "inertias must be one for all, or a list of one for each of {worlds} worlds, not of {count}"
                )));
            }
        };
        each.iter().try_for_each(|inertias| inertias.get().of(topology).map(|_| ()))
    }

    pub(crate) fn of(&self, world: usize) -> &Inertias {
        match self {
            Self::All(of_all) => of_all.get(),
            Self::Each(each) => each[world].get(),
        }
    }
}

#[pymethods]
impl Inertias {
    #[new]
    #[pyo3(signature = (masses=None, moments=None, mass_centers=None, coordinate_masses=None))]
    fn new(
        masses: Option<&Bound<'_, PyAny>>,
        moments: Option<&Bound<'_, PyAny>>,
        mass_centers: Option<&Bound<'_, PyAny>>,
        coordinate_masses: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let mass_centers = match mass_centers {
            Some(centers) => {
                let (numbers, shape) = convert::numbers(centers, "mass_centers")?;
                if shape.len() != 2 || shape[1] != 3 {
                    return Err(wrong_shape("mass_centers", "(bodies, 3)", &shape));
                }
                if !numbers.iter().all(|number| number.is_finite()) {
                    return Err(invalid("mass_centers must be finite"));
                }
                Some(numbers.chunks_exact(3).map(Point3::from_slice).collect())
            }
            None => None,
        };
        let rows = |given: Option<&Bound<'_, PyAny>>, what| {
            given.map_or(Ok(Rows::Each(Vec::new())), |masses| masses_of(masses, what))
        };
        Ok(Self {
            masses: rows(masses, "masses")?,
            moments: moments.map_or(Ok(Rows::Each(Vec::new())), moments_of)?,
            mass_centers,
            coordinate_masses: rows(coordinate_masses, "coordinate_masses")?,
        })
    }

    fn __repr__(&self) -> String {
        let text = |rows: &Rows<f64>| match rows {
            Rows::ForAll(number) => format!("{number:?}"),
            Rows::Each(numbers) => format!("{numbers:?}"),
        };
        let [masses, of_coordinates] = [&self.masses, &self.coordinate_masses].map(text);
        format!("Inertias(masses={masses}, coordinate_masses={of_coordinates})")
    }

    #[expect(clippy::type_complexity, reason = "they are the arguments")]
    fn __getnewargs__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Rows<f64>, Rows<[[f64; 3]; 3]>, Option<Bound<'py, PyArray2<f64>>>, Rows<f64>)> {
        let moments = match &self.moments {
            Rows::ForAll(moment) => Rows::ForAll(*moment),
            Rows::Each(rows) => Rows::Each(rows.iter().map(|&moments| moments.into()).collect()),
        };
        let centers = self.mass_centers.as_ref().map(|centers| {
            let numbers: Vec<f64> =
                centers.iter().flat_map(|center| [center.x, center.y, center.z]).collect();
            convert::matrix(py, &numbers, 3)
        });
        Ok((self.masses.clone(), moments, centers.transpose()?, self.coordinate_masses.clone()))
    }
}

/// The longest stable step, and the element that limits it.
#[pyclass(frozen, get_all, module = "force_elements")]
pub(crate) struct StableStep {
    /// The step [s]; ``inf`` if no known element limits it.
    length: f64,
    /// The element that limits it, the first of several.
    element: Option<Element>,
    /// The bound on the angular frequency of the motion that limits it [rad/s].
    frequency: f64,
    /// The bound on the damping over mass of that motion [1/s].
    damping_rate: f64,
    /// An element whose stable step is not known, the first of several.
    unknown: Option<Element>,
}

impl StableStep {
    pub(crate) fn of(step: CrateStableStep, system: &Built) -> Self {
        let CrateStableStep { length, element, frequency, damping_rate, unknown } = step;
        let of = |element: Option<_>| element.map(|id: ElementId| system.element(id));
        Self { length, element: of(element), frequency, damping_rate, unknown: of(unknown) }
    }
}

#[pymethods]
impl StableStep {
    fn __repr__(&self) -> String {
        let element = self.element.as_ref().map_or("None", |element| &element.id);
        format!("StableStep(length={}, element={element})", self.length)
    }
}

/// The method of this name.
pub(crate) fn method_of(name: &str) -> PyResult<StepMethod> {
    match name {
        "symplectic_euler" => Ok(StepMethod::SymplecticEuler),
        "runge_kutta_4" => Ok(StepMethod::RungeKutta4),
        _ => Err(invalid(&format!("method must be \"symplectic_euler\" or \"runge_kutta_4\", not {name:?}"))),
    }
}
