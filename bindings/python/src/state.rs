//! One state: motion, variables by name, forces and results.

use std::slice;

use force_elements::{
    BodyIndex, CoordinateIndex, DynamicsView, Error, KinematicsError, KinematicsSource, Pose, Quantity,
    SpatialVelocity, Stage, State as CrateState, StepRule,
};
use numpy::{PyArray1, PyArray2, PyArray3, PyArrayMethods as _, ToPyArray as _};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict as _, PyBytes, PyDict, PyMapping};

use crate::cables::{MomentArms, cable_of};
use crate::convert::{
    self, force_numbers, force_of, matrix_of, pose_of, read_only, shaped, velocity_numbers, velocity_of,
};
use crate::errors::{classes, exception, invalid, no_such, raised, with_rows};
use crate::inertias::{Inertias, StableStep, method_of};
use crate::linearization::Linearization;
use crate::motion::Motion;
use crate::parts::{Body, Built, Coordinate, Element, body_rows, coordinate_places, occupied};
use crate::saved::{self, Saved};
use crate::simulate::{Run, failed};
use crate::system::System;
use crate::variables::{Names, Update, completions, places_among, similar};

/// Time, motion, variables and results of one system. Made by ``System.state``.
///
/// ``state[name]`` reads and writes a variable, such as ``state["linear_bushing[0].stiffness.qx"]``, also under the name of the
/// element: ``state["mount.stiffness.qx"]``. Setting ``time``, a variable, or a pose or another part of the motion, requires a new
/// ``evaluate`` before forces and results can be read.
#[pyclass(module = "force_elements")]
pub(crate) struct State {
    system: Py<System>,
    pub(crate) state: CrateState<f64>,
}

impl State {
    pub(crate) fn of(system: Py<System>, state: CrateState<f64>) -> Self {
        Self { system, state }
    }

    pub(crate) fn default_of(system: &Bound<'_, System>) -> Self {
        Self::of(system.clone().unbind(), system.get().read().default_state())
    }

    /// A copy for its own system, or for an equal one, such as that of another process.
    ///
    /// # Errors
    /// If the other system has other places or variables.
    pub(crate) fn copy_for(slf: &Bound<'_, Self>, system: &Bound<'_, System>) -> PyResult<CrateState<f64>> {
        if slf.borrow().system.is(system) {
            return Ok(slf.borrow().state.clone());
        }
        let state = slf.borrow();
        let saved = Saved::of(&state.system.get().read(), slice::from_ref(&state.state))?;
        saved.state(&system.get().read())
    }

    /// Calls with the system and the state at Dynamics stage.
    fn view<V>(&self, read: impl FnOnce(&Built, DynamicsView<'_, f64>) -> PyResult<V>) -> PyResult<V> {
        let system = self.system.get().read();
        read(&system, system.dynamics_view(&self.state).map_err(raised)?)
    }

    /// The exception of an error in reading or writing variables of these names.
    fn refused(&self, error: Error, names: &[String]) -> PyErr {
        if let Error::NoSuchVariable { .. } = error {
            let (keys, all) = (self.state.variable_names(), Names::of(&self.system.get().read()));
            let place = places_among(&keys);
            let unknown = names.iter().find_map(|name| place(&all, name).err());
            return unknown.unwrap_or_else(|| raised(error));
        }
        raised(error)
    }

    /// The number for a variable of this name. Of an array for several variables, such as a whole stiffness, the names are told.
    fn number(&self, name: &str, value: &Bound<'_, PyAny>) -> PyResult<f64> {
        convert::number(value, name).map_err(|error| match self.state.variable(name) {
            Err(unknown) => self.refused(unknown, &[name.to_string()]),
            Ok(_) => error,
        })
    }
}

/// The motion of another state of the system.
struct MotionOf<'a>(&'a CrateState<f64>);

impl KinematicsSource<f64> for MotionOf<'_> {
    fn time(&self) -> f64 {
        self.0.time()
    }

    fn pose(&self, body: BodyIndex) -> Pose<f64> {
        *self.0.positions().pose(body)
    }

    fn velocity(&self, body: BodyIndex) -> SpatialVelocity<f64> {
        *self.0.velocities().velocity(body)
    }

    fn coordinate(&self, coordinate: CoordinateIndex) -> f64 {
        self.0.positions().coordinate(coordinate)
    }

    fn coordinate_rate(&self, coordinate: CoordinateIndex) -> f64 {
        self.0.velocities().coordinate_rate(coordinate)
    }
}

#[pymethods]
impl State {
    /// Its system.
    #[getter]
    fn system(&self, py: Python<'_>) -> Py<System> {
        self.system.clone_ref(py)
    }

    /// Time [s].
    #[getter]
    fn time(&self) -> f64 {
        self.state.time()
    }

    #[setter]
    fn set_time(&mut self, time: f64) -> PyResult<()> {
        self.state.set_time(time).map_err(raised)
    }

    /// The poses (bodies, 4, 4) [m] of all bodies in ground; (bodies, 7) numbers (x, y, z, and the quaternion w, i, j, k) can
    /// be set too.
    #[getter]
    fn poses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray3<f64>>> {
        let positions = self.state.positions();
        let poses: Vec<f64> = positions.bodies().iter().skip(1).flat_map(matrix_of).collect();
        poses.to_pyarray(py).reshape([poses.len() / 16, 4, 4]).map(read_only)
    }

    #[setter]
    fn set_poses(&mut self, poses: &Bound<'_, PyAny>) -> PyResult<()> {
        let bodies = body_rows(self.state.positions().topology());
        let count = bodies.len();
        let numbers = shaped(poses, &[&[count, 4, 4], &[count, 7]], "poses")?;
        let width = numbers.len().checked_div(count).unwrap_or(7);
        for (body, numbers) in occupied(bodies.iter().copied(), numbers.chunks_exact(width)) {
            let refused = |error| invalid(&format!("{error}, in row {} of poses", body.index() - 1));
            pose_of(numbers).map_err(refused)?;
        }
        let motion = Motion { bodies, poses: Some((&numbers, count * width)), ..Motion::default() };
        motion.write(0, &mut self.state).map_err(raised)
    }

    /// The velocities (bodies, 6) of the origins of all bodies, in ground: angular [rad/s], linear [m/s].
    #[getter]
    fn velocities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let velocities = self.state.velocities().bodies().iter().skip(1).flat_map(velocity_numbers);
        convert::matrix(py, &velocities.collect::<Vec<_>>(), 6).map(read_only)
    }

    #[setter]
    fn set_velocities(&mut self, velocities: &Bound<'_, PyAny>) -> PyResult<()> {
        let bodies = body_rows(self.state.positions().topology());
        let numbers = shaped(velocities, &[&[bodies.len(), 6]], "velocities")?;
        let motion = Motion { bodies, velocities: Some((&numbers, numbers.len())), ..Motion::default() };
        motion.write(0, &mut self.state).map_err(raised)
    }

    /// The values of all coordinates [m or rad].
    #[getter]
    fn coordinates<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        read_only(self.state.positions().coordinates().to_pyarray(py))
    }

    #[setter]
    fn set_coordinates(&mut self, values: &Bound<'_, PyAny>) -> PyResult<()> {
        let coordinates = coordinate_places(self.state.positions().topology());
        let numbers = shaped(values, &[&[coordinates.len()]], "coordinates")?;
        let motion = Motion { coordinates, values: Some((&numbers, numbers.len())), ..Motion::default() };
        motion.write(0, &mut self.state).map_err(raised)
    }

    /// The rates of all coordinates [m/s or rad/s].
    #[getter]
    fn coordinate_rates<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        read_only(self.state.velocities().coordinates().to_pyarray(py))
    }

    #[setter]
    fn set_coordinate_rates(&mut self, values: &Bound<'_, PyAny>) -> PyResult<()> {
        let coordinates = coordinate_places(self.state.positions().topology());
        let numbers = shaped(values, &[&[coordinates.len()]], "coordinate_rates")?;
        let motion = Motion { coordinates, rates: Some((&numbers, numbers.len())), ..Motion::default() };
        motion.write(0, &mut self.state).map_err(raised)
    }

    /// Sets pose [m] and, if given, velocity of a body: a 4 x 4 matrix, or 7 numbers (x, y, z, w, i, j, k), or a position, which is
    /// a pose that is not turned; and 6 numbers, angular [rad/s] and linear [m/s], which otherwise stay as they are.
    #[pyo3(signature = (body, pose, velocity=None))]
    fn set_body(
        &mut self,
        body: Body,
        pose: &Bound<'_, PyAny>,
        velocity: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let body = body.find(&self.system.get().read())?;
        let X_GB = convert::pose(pose)?;
        match velocity {
            Some(velocity) => {
                let V_GB = velocity_of(&shaped(velocity, &[&[6]], "velocity")?);
                self.state.set_body(body, X_GB, V_GB).map_err(raised)
            }
            None => self.state.set_pose(body, X_GB).map_err(raised),
        }
    }

    /// Sets value [m or rad] and, if given, rate [m/s or rad/s] of a coordinate.
    #[pyo3(signature = (coordinate, value, rate=None))]
    fn set_coordinate(&mut self, coordinate: Coordinate, value: f64, rate: Option<f64>) -> PyResult<()> {
        let coordinate = coordinate.find(&self.system.get().read())?;
        let is_finite = rate.is_none_or(f64::is_finite);
        let of_rate = KinematicsError::NonFinite { quantity: Quantity::CoordinateRate(coordinate) };
        is_finite.then_some(()).ok_or_else(|| raised(of_rate))?;
        self.state.set_coordinate(coordinate, value).map_err(raised)?;
        rate.map_or(Ok(()), |rate| self.state.set_coordinate_rate(coordinate, rate).map_err(raised))
    }

    /// Evaluates all elements.
    fn evaluate(&mut self, py: Python<'_>) -> PyResult<()> {
        let (system, state) = (self.system.get(), &mut self.state);
        py.detach(|| system.read().realize_dynamics(state).map(|_| ())).map_err(raised)
    }

    /// Commits what elements remember, when the host accepts a step: anchors, sliding, bristles, stops, turns, cable paths.
    /// Requires an evaluated state.
    fn accept(&mut self, py: Python<'_>) -> PyResult<()> {
        let (system, state) = (self.system.get(), &mut self.state);
        py.detach(|| system.read().accept_step(state)).map_err(raised)
    }

    /// Raises a ``StepError`` if a step of ``length`` [s] is longer than is known to be stable for the present forces, or if bodies
    /// could pass through each other in it. For a host with fixed steps, in each of them, after ``evaluate`` and before the motion
    /// is integrated. ``method``: ``"symplectic_euler"`` or ``"runge_kutta_4"``. A check at a later time, with no ``accept`` in between,
    /// is a ``StageError`` where elements on coordinates, anchors, or friction on a cable would not follow the motion.
    #[pyo3(signature = (length, inertias, *, method="symplectic_euler"))]
    fn check_step(&mut self, length: f64, inertias: &Inertias, method: &str) -> PyResult<()> {
        let (system, method) = (self.system.get().read(), method_of(method)?);
        let inertias = inertias.of(system.topology())?;
        system.check_step(&mut self.state, inertias, method, length).map_err(raised)
    }

    /// The longest step for which the present forces are stable, and the element that limits it; half of it is a good step.
    /// ``impact_speed`` [m/s] is the largest speed at which bodies may meet: contacts become stiffer the deeper they are. Requires
    /// an evaluated state.
    #[pyo3(signature = (inertias, *, method="symplectic_euler", impact_speed=0.0))]
    fn stable_step(&self, inertias: &Inertias, method: &str, impact_speed: f64) -> PyResult<StableStep> {
        let (system, method) = (self.system.get().read(), method_of(method)?);
        let inertias = inertias.of(system.topology())?;
        let step = system.stable_step(&self.state, inertias, method, impact_speed).map_err(raised)?;
        Ok(StableStep::of(step, &system))
    }

    /// Moves the state to ``end`` [s] as free bodies and coordinates of these inertias, by the reference simulator of the library,
    /// and returns samples: ``time`` (k,), ``poses`` (k, bodies, 4, 4), ``velocities`` (k, bodies, 6), ``coordinates`` and
    /// ``coordinate_rates`` (k, coordinates), ``energy`` (k,), kinetic, by gravity and stored [J], and (k,) for each of the results
    /// in ``names``. The first is the start, the last the end; between them one follows every ``every`` [s], or each step.
    ///
    /// ``integrator``: ``"dormand_prince"``, explicit, ``"implicit_trapezoidal"`` or ``"tr_bdf2"``, for stiff elements, all with
    /// error control to ``accuracy``, by default 1e-6, in steps of at most ``step``; or ``"symplectic_euler"`` in steps of ``step``, or less before a
    /// sample, which are refused if they are too long. The error of a number may be ``accuracy`` times the sum of its magnitude
    /// and ``scale`` [SI unit], by default the largest magnitude so far between 1e-3 and 1: give the scale of what is smaller or
    /// larger. ``gravity`` [m/s2] acts on bodies, by default 9.81 against z; ``loads`` (bodies, 6), torque [N m] and force [N] at the origins in
    /// ground, and ``coordinate_loads`` are constant. A controller acts between runs: it writes variables, as
    /// ``state["spring.offset"]``, or gives other loads, and the next call continues from there. Elements keep what they remember; energy accounts begin anew, at zero. After an error
    /// the state is that of the last step.
    ///
    /// A system from which a body or coordinate was removed is refused.
    #[pyo3(signature = (end, inertias, *, gravity=[0.0, 0.0, -9.81], integrator="dormand_prince", accuracy=None, scale=None,
        step=None, every=None, loads=None, coordinate_loads=None, names=Vec::new()))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords")]
    fn simulate<'py>(
        &mut self,
        py: Python<'py>,
        end: f64,
        inertias: &Inertias,
        #[pyo3(from_py_with = convert::gravity)] gravity: [f64; 3],
        integrator: &str,
        accuracy: Option<f64>,
        scale: Option<f64>,
        step: Option<f64>,
        every: Option<f64>,
        loads: Option<&Bound<'py, PyAny>>,
        coordinate_loads: Option<&Bound<'py, PyAny>>,
        #[pyo3(from_py_with = convert::names)] names: Vec<String>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let Self { system, state } = self;
        let topology = state.positions().topology();
        let places = (topology.bodies().count() + 1, topology.coordinates().count());
        if places != (topology.body_places(), topology.coordinate_places()) {
            let message =
                "simulate needs a system from which no body or coordinate was removed: build it anew";
            return Err(exception(classes::TopologyError::new_err, message));
        }
        let check = |what: &str, numbers: &[f64]| {
            let is_finite = numbers.iter().all(|number| number.is_finite());
            is_finite.then_some(()).ok_or_else(|| invalid(&format!("{what} must be finite")))
        };
        let mut plant = inertias.of(topology)?.plant(topology, gravity.into()).map_err(failed)?;
        scale.map_or(Ok(()), |scale| plant.set_scale(scale)).map_err(|value| failed(value.into()))?;
        if let Some(loads) = loads {
            let bodies = body_rows(topology);
            let numbers = shaped(loads, &[&[bodies.len(), 6]], "loads")?;
            check("loads", &numbers)?;
            for (body, load) in occupied(bodies, numbers.chunks_exact(6)) {
                plant.set_body_load(body, force_of(load)).map_err(failed)?;
            }
        }
        if let Some(loads) = coordinate_loads {
            let places = coordinate_places(topology);
            let numbers = shaped(loads, &[&[places.len()]], "coordinate_loads")?;
            check("coordinate_loads", &numbers)?;
            for (coordinate, load) in occupied(places, numbers) {
                plant.set_coordinate_load(coordinate, load).map_err(failed)?;
            }
        }
        let run = Run { end, every, accuracy, step, names };
        run.simulate(py, system.get(), &plant, state, integrator)?.into_dict(py, &run.names)
    }

    /// In place of ``accept``, with energy accounts: moves the state to the end of a step, given by ``time`` and what moves,
    /// integrates the energies that elements absorb over it, and accepts the step. The state must have been evaluated at its
    /// start, and keep the motion of it. ``rule`` fits the method of the host: ``"held_forces"`` symplectic Euler, with forces
    /// held over the step, ``"trapezoid"`` methods of second order, ``"left_endpoint"`` prescribed motion. An element that has
    /// returned more than half of the most that it stored without having received it raises a ``StepError``: steps are too long.
    /// With held forces so does friction that reverses the slip in every step, as under a load of several times that of its design.
    /// A motion in which ``time`` does not advance is accepted, and not checked.
    #[pyo3(signature = (*, time, poses=None, velocities=None, coordinates=None, coordinate_rates=None, rule="held_forces"))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords")]
    fn finish_step(
        &mut self,
        py: Python<'_>,
        time: f64,
        poses: Option<&Bound<'_, PyAny>>,
        velocities: Option<&Bound<'_, PyAny>>,
        coordinates: Option<&Bound<'_, PyAny>>,
        coordinate_rates: Option<&Bound<'_, PyAny>>,
        rule: &str,
    ) -> PyResult<()> {
        let rule = match rule {
            "held_forces" => StepRule::HeldForces,
            "trapezoid" => StepRule::Trapezoid,
            "left_endpoint" => StepRule::LeftEndpoint,
            _ => {
                let rules = "\"held_forces\", \"trapezoid\" or \"left_endpoint\"";
                return Err(invalid(&format!("rule must be {rules}, not {rule:?}")));
            }
        };
        let mut end = self.copy(py);
        end.set_time(time)?;
        poses.map_or(Ok(()), |poses| end.set_poses(poses))?;
        velocities.map_or(Ok(()), |velocities| end.set_velocities(velocities))?;
        coordinates.map_or(Ok(()), |values| end.set_coordinates(values))?;
        coordinate_rates.map_or(Ok(()), |rates| end.set_coordinate_rates(rates))?;
        let (system, state, end) = (self.system.get(), &mut self.state, MotionOf(&end.state));
        py.detach(|| system.read().finish_step(state, &end, rule)).map_err(raised)
    }

    /// Time [s] in which bodies could pass through each other unnoticed at the present velocities: for two surfaces apart, that in
    /// which they meet and dip into each other by half the sum of their least half widths; for a bushing and a cable, that in which
    /// they turn farther than can be told after one step. ``inf`` if there is none. A host with
    /// error control takes at most half of it as its next step. A time longer than ``within`` may be any other one that is
    /// longer. Requires an evaluated state.
    #[pyo3(signature = (within=f64::INFINITY))]
    fn passing_time(&self, within: f64) -> PyResult<f64> {
        let (time, _) = self.system.get().read().passing_time(&self.state, within).map_err(raised)?;
        Ok(time)
    }

    /// Gaps [m or rad] and their rates of change, a row for each: of exponential springs, meshes with springs above
    /// half-spaces, Hertz contacts, limit stops and slack cables, element by element; those of elements that are disabled are
    /// missing. A gap is closed where it is not greater than zero; that of an exponential spring, which acts above its plane too,
    /// where its force reaches a thousandth of ``d1``. One that narrows at the start of a step and widens at its end may have been closed in between; so an
    /// integrator of one's own can detect contacts that it would step over, for example as events. Requires an evaluated
    /// state.
    fn gaps<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let mut gaps = Vec::new();
        self.system.get().read().write_gaps(&self.state, &mut gaps).map_err(raised)?;
        convert::matrix(py, &gaps.iter().flat_map(|gap| [gap.distance, gap.rate]).collect::<Vec<_>>(), 2)
    }

    /// The largest force error [N, or N m on an angle] of what the elements remember, at the end of a trial step of a host with
    /// error control. If it is large, an element has switched within the step, as from sticking to sliding: reject the step and try a
    /// shorter one. It covers exponential springs and elements on coordinates, and changes nothing. Requires an evaluated state.
    fn switching_error(&mut self) -> PyResult<f64> {
        self.system.get().read().switching_error(&mut self.state).map_err(raised)
    }

    /// Lets elements forget the past, as though the bodies had always been where they are; of one element, if given. Call it
    /// after setting the initial motion, and wherever bodies are put elsewhere: otherwise bristles of a new state stick at a
    /// displacement of zero, and a stop that is surpassed acts after the first step.
    #[pyo3(signature = (element=None))]
    fn reset_memory(&mut self, element: Option<&Element>) -> PyResult<()> {
        let system = self.system.get().read();
        match element {
            Some(element) => system.reset_memory(&mut self.state, element.find(&system)?),
            None => system.reset_memories(&mut self.state),
        }
        .map_err(raised)
    }

    /// Opens the energy accounts of all elements with zero dissipated energy, at the initial motion. They stay open in steps
    /// that end with ``finish_step``; an ``accept`` after a motion closes them.
    fn reset_dissipated_energy(&mut self) -> PyResult<()> {
        self.system.get().read().reset_dissipated_energy(&mut self.state).map_err(raised)
    }

    /// Enables or disables an element. Results of a disabled element are its defaults, such as a height of zero. It keeps what it
    /// remembers: call ``reset_memory`` if bodies have moved meanwhile.
    fn set_enabled(&mut self, element: &Element, enabled: bool) -> PyResult<()> {
        let system = self.system.get().read();
        let id = element.find(&system)?;
        system.set_enabled(&mut self.state, id, enabled).map_err(raised)
    }

    /// Brings the state up to date after something was added to its system or removed. What is still there keeps its values to
    /// the last bit; new bodies are at rest at the ground origin, new elements have their defaults.
    fn carry_over(&mut self) -> PyResult<()> {
        self.system.get().read().carry_over(&mut self.state).map_err(raised)
    }

    /// Torque [N m] and force [N] of all elements on a body, at its origin, in ground.
    fn body_force<'py>(&self, py: Python<'py>, body: Body) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let force = self.view(|system, view| Ok(force_numbers(&view.body_force(body.find(system)?))))?;
        Ok(force.to_pyarray(py))
    }

    /// The forces (bodies, 6) on all bodies at their origins, in ground: torque [N m], force [N].
    #[getter]
    fn wrenches<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let wrenches = |view: DynamicsView<'_, f64>| {
            view.forces().bodies().iter().skip(1).flat_map(force_numbers).collect::<Vec<_>>()
        };
        convert::matrix(py, &self.view(|_, view| Ok(wrenches(view)))?, 6).map(read_only)
    }

    /// The forces [N or N m] on all coordinates.
    #[getter]
    fn coordinate_forces<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let forces = self.view(|_, view| Ok(view.forces().coordinates().to_vec()))?;
        Ok(read_only(forces.to_pyarray(py)))
    }

    /// The energy stored in all elements [J].
    #[getter]
    fn energy(&self) -> PyResult<f64> {
        self.view(|_, view| Ok(view.potential_energy()))
    }

    /// The power dissipated by all elements [W], as far as it is known instantaneously.
    #[getter]
    fn power_dissipated(&self) -> PyResult<f64> {
        self.view(|_, view| Ok(view.power_dissipated()))
    }

    /// The energy dissipated by all elements [J]; ``None`` while an account is closed.
    #[getter]
    fn dissipated_energy(&self) -> PyResult<Option<f64>> {
        self.view(|_, view| Ok(view.dissipated_energy()))
    }

    /// Points (n, 3) along the path of a cable, in ground: for drawings, on arcs at most ``spacing`` [m] apart.
    fn cable_points<'py>(
        &self,
        py: Python<'py>,
        cable: &Element,
        spacing: f64,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let finite = spacing.is_finite() && spacing > 0.0;
        finite
            .then_some(())
            .ok_or_else(|| invalid(&format!("spacing must be positive and finite, not {spacing}")))?;
        let points = self.view(|system, view| {
            let handle = cable_of(system, cable)?;
            let path = &view.try_of(handle).map_err(raised)?.position.path;
            Ok(path.sample(system.try_element(handle).map_err(raised)?.path(), spacing))
        })?;
        let numbers: Vec<f64> = points.iter().flat_map(|p| [p.x, p.y, p.z]).collect();
        convert::matrix(py, &numbers, 3)
    }

    /// The moment arms (k,) of a cable about ``k`` coordinates of the host, such as joint angles: m for an angle, without dimension
    /// for a displacement. ``motions`` (k, bodies, 6) are the velocities of all bodies per unit rate of each, angular and linear at
    /// their origins in ground: the columns of the host's Jacobian. ``rates`` (k, coordinates) are those of coordinates of the system,
    /// needed if via points move with one. A tension f drives a coordinate with f times the moment arm, which is minus the derivative
    /// of the length: it is positive if a taut cable increases the coordinate. Requires an evaluated state.
    #[pyo3(signature = (cable, motions, rates=None))]
    fn moment_arms<'py>(
        &self,
        py: Python<'py>,
        cable: &Element,
        motions: &Bound<'py, PyAny>,
        rates: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let motions = convert::array(motions, "motions")?;
        let rates = rates.map(|rates| convert::array(rates, "rates")).transpose()?;
        let motions = convert::shaped_slice(&motions)?;
        let rates = rates.as_ref().map(convert::shaped_slice).transpose()?;
        let arms = self.view(|system, view| {
            let of = MomentArms::new(system, cable, None, motions, rates)?;
            let mut arms = vec![0.0; of.count];
            of.write(&view, 0, &mut arms).map_err(raised)?;
            Ok(arms)
        })?;
        Ok(arms.to_pyarray(py))
    }

    /// The result of this name, such as ``exponential_spring[3].friction_force_P.x``; of a flag 1 or 0.
    fn result(&self, name: &str) -> PyResult<f64> {
        self.view(|system, view| {
            view.result(name).map_err(|error| {
                let Error::NoSuchResult { stage: None, .. } = error else { return raised(error) };
                let mut results = Vec::new();
                view.visit_results(&mut |entry| results.push(entry.name.to_string()));
                let listed = Names::of(system).listed(name);
                let [parts, fields] = similar(&results, name, &listed);
                no_such(&(with_rows(&error) + if parts.is_empty() { &fields } else { &parts }))
            })
        })
    }

    /// All results, under the kinds and places of their elements, such as ``linear_bushing[0].f.px``. ``result`` takes the name
    /// that was given to an element in their place too. The documentation of ``System.add_linear_bushing`` and of the other elements
    /// says what each is; ``units`` returns their units.
    fn results<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let mut results = Vec::new();
        self.view(|_, view| {
            view.visit_results(&mut |entry| results.push((entry.name.to_string(), entry.value.number())));
            Ok(())
        })?;
        results.into_py_dict(py)
    }

    /// The units of all variables and, in an evaluated state, of all results, under the names of ``keys()`` and ``results()``:
    /// ``1`` of a number without dimension, empty of a flag.
    fn units<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let mut units = Vec::new();
        self.state.visit_variables(&mut |entry| units.push((entry.name.to_string(), entry.unit)));
        if self.state.stage() >= Stage::Dynamics {
            self.view(|_, view| {
                view.visit_results(&mut |entry| units.push((entry.name.to_string(), entry.unit)));
                Ok(())
            })?;
        }
        units.into_py_dict(py)
    }

    /// The names of all variables, under the kinds and places of their elements, such as ``linear_bushing[0].stiffness.px``: each
    /// variable once, as ``restore`` takes them. The name that was given to an element serves in their place, in ``state[name]``,
    /// ``in`` and ``update``, but is not listed: ``"mount.stiffness.px" in state`` holds where it is not in ``state.keys()``.
    fn keys(&self) -> Vec<String> {
        self.state.variable_names()
    }

    /// All variables with their names, those of ``keys()``.
    fn variables(&self) -> Vec<(String, f64)> {
        self.state.snapshot()
    }

    /// All variables as an array, in the order of ``keys()``; flags are 1 or 0.
    fn values<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        let mut values = Vec::new();
        self.state.visit_variables(&mut |entry| values.push(entry.value.number()));
        values.to_pyarray(py)
    }

    /// Sets all variables, as ``values`` returns them, accounts of energy and what elements remember among them: a changed
    /// stiffness appears as dissipated energy, where ``state[name]`` and ``update`` count it as supplied; bristles that are switched
    /// on are bent from where they last stuck, and a stop that is moved past its coordinate acts after the next ``accept``, where
    /// ``state[name]`` and ``update`` let both begin at once.
    fn set_values(&mut self, values: &Bound<'_, PyAny>) -> PyResult<()> {
        let numbers = shaped(values, &[&[self.__len__()]], "values")?;
        self.state.restore_values(&numbers).map_err(raised)
    }

    fn __getitem__(&self, name: &str) -> PyResult<f64> {
        self.state.variable(name).map_err(|error| self.refused(error, &[name.to_string()]))
    }

    fn __setitem__(&mut self, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let value = self.number(name, value)?;
        let outcome = self.system.get().read().set_variable(&mut self.state, name, value);
        outcome.map_err(|error| self.refused(error, &[name.to_string()]))
    }

    /// Sets variables from a dictionary, those of an element together: for those that bound each other, as ``mu_static`` and
    /// ``mu_kinetic`` do.
    fn update(&mut self, values: &Bound<'_, PyMapping>) -> PyResult<()> {
        let (names, values): (Vec<_>, Vec<_>) = convert::items(values)?.into_iter().unzip();
        let numbers = names.iter().zip(&values).map(|(name, value)| self.number(name, value));
        let values = numbers.collect::<PyResult<Vec<f64>>>()?;
        let system = self.system.get().read();
        let update = Update::of(&names, &system)?;
        let outcome = update.write(&system, &mut self.state, |place| values[place]);
        outcome.map_err(|error| self.refused(error, &names))
    }

    fn __contains__(&self, name: &str) -> bool {
        self.state.variable(name).is_ok()
    }

    /// For IPython: what can follow ``state["``, also under the names of elements.
    fn _ipython_key_completions_(&self) -> Vec<String> {
        completions(&self.system.get().read(), self.keys())
    }

    fn __len__(&self) -> usize {
        let mut count = 0;
        self.state.visit_variables(&mut |_| count += 1);
        count
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.keys().into_pyobject(py)?.call_method0("__iter__")
    }

    fn __repr__(&self) -> String {
        format!("State of {} at {} s", self.system.get().__repr__(), self.state.time())
    }

    /// The derivatives of all forces about this state, which must have been evaluated; with ``variables`` also by time and
    /// variables, with ``commit`` also those of what elements remember after ``accept``.
    #[pyo3(signature = (*, variables=false, commit=false))]
    fn linearize(&self, py: Python<'_>, variables: bool, commit: bool) -> PyResult<Linearization> {
        Linearization::about(py, &self.system, &self.state, variables, commit)
    }

    /// All variables as bytes, for ``restore_bytes``. The motion is not among them.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.state.to_bytes())
    }

    /// Restores all variables from the bytes of a state of an equal system; refuses those of one with other kinds, numbers or ids of
    /// elements. What elements connect, and the names of yours, are not compared.
    fn restore_bytes(&mut self, bytes: &[u8]) -> PyResult<()> {
        self.state.restore_bytes(bytes).map_err(raised)
    }

    /// Restores all variables, what elements remember among them, from pairs of names and values, as ``variables`` returns them;
    /// refuses those of a system with other variables, naming the first.
    fn restore(&mut self, variables: Vec<(String, f64)>) -> PyResult<()> {
        self.state.restore(&variables).map_err(raised)
    }

    /// A copy, of the same system.
    fn copy(&self, py: Python<'_>) -> Self {
        Self { system: self.system.clone_ref(py), state: self.state.clone() }
    }

    fn __copy__(&self, py: Python<'_>) -> Self {
        self.copy(py)
    }

    fn __deepcopy__(slf: &Bound<'_, Self>, memo: &Bound<'_, PyAny>) -> PyResult<Self> {
        let system = (slf.borrow().system(slf.py()), memo);
        let copied = slf.py().import("copy")?.call_method1("deepcopy", system)?;
        let system = copied.cast_into::<System>()?;
        let state = Self::copy_for(slf, &system)?;
        Ok(Self { system: system.unbind(), state })
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Py<System>, saved::Arrays<'py>))> {
        let (py, state) = (slf.py(), slf.borrow());
        let saved = Saved::of(&state.system.get().read(), slice::from_ref(&state.state))?;
        let make = py.import("force_elements._core")?.getattr("_state_of")?;
        Ok((make, (state.system(py), saved.into_arrays(py))))
    }
}

/// For pickles.
#[pyfunction]
pub(crate) fn _state_of(system: Bound<'_, System>, saved: saved::Arrays<'_>) -> PyResult<State> {
    let state = Saved::from_arrays(saved)?.state(&system.get().read())?;
    Ok(State::of(system.unbind(), state))
}
