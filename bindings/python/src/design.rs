//! Parameters of contacts for the step of a host.

use force_elements::{
    ContactDesign as CrateDesign, InvalidValue, Variables, check, coordinate_spring_damper_ext,
    elastic_foundation, exponential_spring, hertz_contact,
};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict as _, PyDict};

use crate::errors::raised;
use crate::keywords;

/// The requirements on a contact, from which keyword arguments of exponential springs, Hertz contacts, elastic foundations and
/// coordinates with bristles are computed:
/// ``system.add_exponential_spring(plane, station, **design.exponential_spring())``.
///
/// ``mass`` that the contact carries [kg], less if both bodies move: ``check_step`` takes the lighter one and all its contacts into
/// account; ``extent``, the distance of its mass center from the contact at rest [m], half the height of a box;
/// ``step`` of the host [s], by symplectic Euler; ``base``, half the width on which the body stands [m], by default the extent: a
/// body that is taller than wide needs it, or it may fall over; ``points`` that share the weight; ``speed``, the highest at which they strike
/// [m/s], for the corners of a cube up to 2.3 times that of its fall; ``restitution``, the ratio of the rebound speed to it, greater
/// than zero, and refused if it is so large that the body would rock on; ``gravity`` [m/s2].
///
/// For a contact between two bodies state the lighter one and twice the step of the host. The contact is stable and damped at this
/// step. Bodies come to rest, and hold on exponential springs, foundations with anchors and bristles; on Hertz contacts and
/// foundations without anchors they creep, and their friction may alternate from step to step in impacts. A step that is too long
/// for the body is refused with an ``InvalidValueError``.
#[pyclass(frozen, module = "force_elements")]
pub(crate) struct ContactDesign(CrateDesign);

/// The parameters as keyword arguments.
fn arguments<V: Variables<f64>>(
    parameters: Result<V, InvalidValue>,
    py: Python<'_>,
) -> PyResult<Bound<'_, PyDict>> {
    keywords::arguments(&parameters.map_err(raised)?, py)
}

#[pymethods]
impl ContactDesign {
    #[new]
    #[pyo3(signature = (mass, extent, step, *, base=None, points=4, speed=1.0, restitution=0.2, mu_static=0.7, mu_kinetic=0.5, gravity=9.81))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords")]
    fn new(
        mass: f64,
        extent: f64,
        step: f64,
        base: Option<f64>,
        points: u32,
        speed: f64,
        restitution: f64,
        mu_static: f64,
        mu_kinetic: f64,
        gravity: f64,
    ) -> PyResult<Self> {
        let design = CrateDesign {
            mass,
            extent,
            step,
            base,
            points,
            speed,
            restitution,
            mu_static,
            mu_kinetic,
            gravity,
        };
        // A step that is too long is refused where it is used: what is the longest is asked of the design.
        check::positive("contact_design.step", step).map_err(raised)?;
        design.longest_step().map_err(raised)?;
        Ok(Self(design))
    }

    /// The longest step for which there is a contact [s], with this extent, impact and friction. A gentle impact may shorten it: with a
    /// restitution of 0.2 it is at most 5.2 ms at 1 m/s, and 1.3 ms at 0.25 m/s, on Earth, however large the body is.
    #[getter]
    fn longest_step(&self) -> PyResult<f64> {
        self.0.longest_step().map_err(raised)
    }

    /// Parameters of an exponential spring at each of the points. Under its weight the body rests with the points at height zero.
    fn exponential_spring<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        arguments(exponential_spring::Parameters::for_contact(&self.0), py)
    }

    /// Parameters of a Hertz contact at each of the points, of a ball of this effective radius [m]: on a half-space the radius of
    /// the ball, on another ball the inverse of the sum of the inverse radii.
    fn hertz_contact<'py>(&self, effective_radius: f64, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        arguments(hertz_contact::Parameters::for_contact(&self.0, effective_radius), py)
    }

    /// Parameters of the ``Surface`` of a body that rests on this area of its mesh [m2].
    fn material<'py>(&self, area: f64, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        arguments(elastic_foundation::Material::for_contact(&self.0, area), py)
    }

    /// Parameters of an elastic foundation with such surfaces.
    fn elastic_foundation<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        arguments(elastic_foundation::Parameters::for_contact(&self.0), py)
    }

    /// Parameters of a coordinate element whose bristles carry the friction of the weight.
    fn coordinate_spring_damper_ext<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        arguments(coordinate_spring_damper_ext::Parameters::for_contact(&self.0), py)
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<((f64, f64, f64), Bound<'py, PyDict>)> {
        let CrateDesign {
            mass,
            extent,
            step,
            base,
            points,
            speed,
            restitution,
            mu_static,
            mu_kinetic,
            gravity,
        } = self.0;
        let options = [
            ("speed", speed),
            ("restitution", restitution),
            ("mu_static", mu_static),
            ("mu_kinetic", mu_kinetic),
            ("gravity", gravity),
        ];
        let options = options.into_py_dict(py)?;
        options.set_item("points", points)?;
        options.set_item("base", base)?;
        Ok(((mass, extent, step), options))
    }

    fn __repr__(&self) -> String {
        let CrateDesign { mass, extent, step, .. } = self.0;
        format!("ContactDesign(mass={mass}, extent={extent}, step={step})")
    }
}
