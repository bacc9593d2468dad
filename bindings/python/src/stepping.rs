//! The longest step of a host that states its masses.

use force_elements::nalgebra::Point3;
use force_elements::{
    BodyIndex, CoordinateIndex, Inertias as CrateInertias, StableStep as CrateStableStep, StepMethod,
    Topology,
};
use pyo3::prelude::*;

use crate::convert;
use crate::errors::invalid;
use crate::parts::Element;

/// Masses and moments of inertia of a host, with which ``check_step`` and ``stable_step`` bound its steps. Each is an array in the
/// order of ``state.poses`` or ``state.coordinates``, or a number for all. ``masses`` [kg]; ``moments`` [kg m2], the least principal
/// moment of each body about its mass center; ``mass_centers`` (bodies, 3) [m], each in the frame of its body, by default its
/// origin; ``coordinate_masses`` [kg, or kg m2 of an angle], needed if there are coordinates. A host in joint coordinates states
/// the inertia that a force on the body acts on, or less. What does not move has an infinite mass.
#[pyclass(frozen, module = "force_elements")]
pub(crate) struct Inertias {
    masses: Vec<f64>,
    moments: Vec<f64>,
    mass_centers: Vec<Point3<f64>>,
    coordinate_masses: Vec<f64>,
}

/// A number for all, or one for each.
fn one_or_each(value: &Bound<'_, PyAny>, what: &str) -> PyResult<Vec<f64>> {
    let (numbers, shape) = convert::numbers(value)?;
    if shape.len() > 1 {
        return Err(invalid(&format!("{what} must be a number, or one for each, not of shape {shape:?}")));
    }
    Ok(numbers)
}

/// The number of one, where there may be one for all. A number that is missing is refused as one that is not greater than zero.
fn at(numbers: &[f64], row: usize) -> f64 {
    let row = if numbers.len() == 1 { 0 } else { row };
    numbers.get(row).copied().unwrap_or(f64::NAN)
}

/// The row of a body: ground has none.
fn row_of(body: BodyIndex) -> usize {
    body.index().wrapping_sub(1)
}

impl Inertias {
    /// These, if they have as many rows as the system.
    pub(crate) fn of(&self, topology: &Topology) -> PyResult<&Self> {
        let (bodies, coordinates) = (topology.body_places() - 1, topology.coordinate_places());
        let mass_centers = self.mass_centers.len();
        let wrong = [
            ("masses", self.masses.len(), bodies, 1),
            ("moments", self.moments.len(), bodies, 1),
            ("mass_centers", mass_centers, bodies, 0),
            ("coordinate_masses", self.coordinate_masses.len(), coordinates, 1),
        ]
        .into_iter()
        .find(|&(_, found, wanted, for_all)| found != wanted && found != for_all);
        match wrong {
            Some((what, found, wanted, _)) if wanted > 0 => {
                Err(invalid(&format!("{what} must have {wanted} rows, not {found}")))
            }
            _ => Ok(self),
        }
    }
}

impl CrateInertias for Inertias {
    fn mass(&self, body: BodyIndex) -> f64 {
        at(&self.masses, row_of(body))
    }

    fn least_inertia(&self, body: BodyIndex) -> f64 {
        at(&self.moments, row_of(body))
    }

    fn mass_center(&self, body: BodyIndex) -> Point3<f64> {
        self.mass_centers.get(row_of(body)).copied().unwrap_or_default()
    }

    fn coordinate_mass(&self, coordinate: CoordinateIndex) -> f64 {
        at(&self.coordinate_masses, coordinate.index())
    }
}

#[pymethods]
impl Inertias {
    #[new]
    #[pyo3(signature = (masses, moments, mass_centers=None, coordinate_masses=None))]
    fn new(
        masses: &Bound<'_, PyAny>,
        moments: &Bound<'_, PyAny>,
        mass_centers: Option<&Bound<'_, PyAny>>,
        coordinate_masses: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let mass_centers = match mass_centers {
            Some(centers) => {
                let (numbers, shape) = convert::numbers(centers)?;
                if shape.len() != 2 || shape[1] != 3 {
                    return Err(invalid(&format!(
                        "mass_centers must be of shape (bodies, 3), not {shape:?}"
                    )));
                }
                numbers.chunks_exact(3).map(Point3::from_slice).collect()
            }
            None => Vec::new(),
        };
        Ok(Self {
            masses: one_or_each(masses, "masses")?,
            moments: one_or_each(moments, "moments")?,
            mass_centers,
            coordinate_masses: coordinate_masses
                .map_or(Ok(Vec::new()), |masses| one_or_each(masses, "coordinate_masses"))?,
        })
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

impl From<CrateStableStep> for StableStep {
    fn from(step: CrateStableStep) -> Self {
        let CrateStableStep { length, element, frequency, damping_rate, unknown } = step;
        let of = |element: Option<_>| element.map(Element::of);
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
        _ => Err(invalid(&format!("there is no method {name:?}"))),
    }
}
