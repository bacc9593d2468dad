//! Many worlds of one system, with their motion and forces in arrays.

use std::borrow::Cow;
use std::collections::HashSet;
use std::num::NonZeroUsize;

use force_elements::{Error, ForceSystem, Scope, State as CrateState};
use numpy::{PyArray1, PyArray2, PyArrayMethods as _, PyUntypedArrayMethods as _, ToPyArray as _};
use pyo3::exceptions::{PyIndexError, PyMemoryError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyMapping;

use crate::arrays::{self, Input, Memory, chunks, input, output, row};
use crate::cables::MomentArms;
use crate::convert::{self, check_shape};
use crate::errors::{invalid, raised, raised_in};
use crate::inertias::{OfWorlds, method_of};
use crate::linearization::{Places, Products};
use crate::motion::Motion;
use crate::outputs::{Job, Wanted};
use crate::parallel::{self, Pool};
use crate::parts::{Element, body_rows, coordinate_places};
use crate::saved::{self, Saved};
use crate::state::State;
use crate::system::System;
use crate::variables::{Names, Update, completions, once, places_among};

/// ``count`` worlds: states of one system, evaluated together on ``threads`` threads, by default on all cores. Each starts as a
/// copy of ``state``, by default the default state. Results do not depend on the number of threads.
///
/// ``batch[name]`` reads and writes a variable of all worlds, and ``in`` and iteration are those of its names, as of a ``State``;
/// ``len(batch)`` is the number of worlds. A world takes the memory of a ``State``.
#[pyclass(module = "force_elements")]
pub(crate) struct Batch {
    system: Py<System>,
    worlds: Vec<CrateState<f64>>,
    threads: Option<NonZeroUsize>,
    products: Pool<Products>,
}

/// What ends the step of a world that has been evaluated.
type Commit<'a> = dyn Fn(usize, &ForceSystem<f64>, &mut CrateState<f64>) -> Result<(), Error> + Sync + 'a;

/// One world, and where its products go.
struct Product<'a> {
    state: &'a CrateState<f64>,
    to: [Option<&'a mut [f64]>; 3],
}

/// What a caller gives or leaves out.
type Given<'a, 'py> = Option<&'a Bound<'py, PyAny>>;

impl Batch {
    /// Sets variables by name.
    fn write(&mut self, py: Python<'_>, values: Vec<(String, Bound<'_, PyAny>)>) -> PyResult<()> {
        self.is_current().then_some(()).ok_or_else(|| raised(Error::TopologyMismatch))?;
        let n = self.worlds.len();
        let (mut names, mut columns) = (Vec::new(), Vec::new());
        for (name, value) in values {
            // Before its shape: an array for several variables, such as a whole stiffness, is told their names. Also where there is
            // no world.
            self.check_name(&name)?;
            let (numbers, shape) = convert::numbers(&value, &name)?;
            check_shape(&name, &[&[n], &[]], &shape)?;
            names.push(name);
            columns.push((numbers, shape.is_empty()));
        }
        let update = Update::of(&names, &self.system.get().read())?;
        let Self { system, worlds, threads, .. } = self;
        let (system, threads) = (system.get(), *threads);
        py.detach(|| {
            let system = system.read();
            parallel::each(worlds, threads, |world, state| {
                update.write(&system, state, |place| {
                    let (numbers, is_one) = &columns[place];
                    numbers[if *is_one { 0 } else { world }]
                })
            })
        })
    }

    /// Whether all worlds are up to date with the system.
    fn is_current(&self) -> bool {
        let system = self.system.get().read();
        self.worlds.iter().all(|world| system.owns(world))
    }

    /// Refuses worlds that are all from before a change of the system, before their arrays are refused, which have other shapes.
    fn check_date(&self) -> PyResult<()> {
        let system = self.system.get().read();
        if self.worlds.is_empty() || self.worlds.iter().any(|world| system.owns(world)) {
            return Ok(());
        }
        Err(raised_in((0..self.worlds.len()).collect(), Error::TopologyMismatch))
    }

    /// Refuses worlds with different variables, as where some began anew after a change of the system, and others are from before.
    fn check_alike(&self) -> PyResult<()> {
        let keys = self.keys();
        let is_alike = self.is_current() || self.worlds.iter().all(|world| world.variable_names() == keys);
        is_alike.then_some(()).ok_or_else(|| raised(Error::TopologyMismatch))
    }

    /// Refuses the name of a variable that there is not.
    fn check_name(&self, name: &str) -> PyResult<()> {
        let known = self.first().variable(name);
        known.map(|_| ()).or_else(|_| {
            let names = Names::of(&self.system.get().read());
            places_among(&self.keys())(&names, name).map(|_| ())
        })
    }

    /// The first world, or one that would be.
    fn first(&self) -> Cow<'_, CrateState<f64>> {
        let new = || Cow::Owned(self.system.get().read().default_state());
        self.worlds.first().map_or_else(new, Cow::Borrowed)
    }

    /// The place of a world.
    fn world(&self, world: isize) -> PyResult<usize> {
        let place = usize::try_from(world).ok().filter(|place| *place < self.worlds.len());
        place.ok_or_else(|| {
            PyIndexError::new_err(format!("there is no world {world}: the batch has {}", self.worlds.len()))
        })
    }

    /// Sets the motion of all worlds and evaluates them, again after their commit if there is one.
    fn run(
        &mut self,
        py: Python<'_>,
        [time, poses, velocities, values, rates]: [Given<'_, '_>; 5],
        [wrenches, coordinate_forces, energies, results]: [Given<'_, '_>; 4],
        names: &[String],
        commit: Option<&Commit<'_>>,
    ) -> PyResult<()> {
        self.check_date()?;
        let (n, system) = (self.worlds.len(), self.system.get());
        let (bodies, coordinates) = {
            let system = system.read();
            (body_rows(system.topology()), coordinate_places(system.topology()))
        };
        let (b, c) = (bodies.len(), coordinates.len());
        let k = names.len();
        if (k == 0) != results.is_none() {
            return Err(PyTypeError::new_err("names and the array results of their numbers belong together"));
        }

        let time = match time {
            Some(time) if convert::array(time, "time")?.ndim() == 0 => {
                let same = py.import("numpy")?.call_method1("full", (n, time))?;
                input(Some(&same), "time", &[&[n]])?
            }
            time => input(time, "time", &[&[n]])?,
        };
        let poses = input(poses, "poses", &[&[n, b, 4, 4], &[n, b, 7]])?;
        let velocities = input(velocities, "velocities", &[&[n, b, 6]])?;
        let values = input(values, "coordinates", &[&[n, c]])?;
        let rates = input(rates, "coordinate_rates", &[&[n, c]])?;
        let motion = Motion {
            time: Input::rows(time.as_ref())?,
            poses: Input::rows(poses.as_ref())?,
            velocities: Input::rows(velocities.as_ref())?,
            values: Input::rows(values.as_ref())?,
            rates: Input::rows(rates.as_ref())?,
            bodies,
            coordinates,
        };

        let mut used = Memory::of([&time, &poses, &velocities, &values, &rates])?;
        let mut wrenches = output(wrenches, "wrenches", &[n, b, 6], &mut used)?;
        let mut coordinate_forces = output(coordinate_forces, "coordinate_forces", &[n, c], &mut used)?;
        let mut energies = output(energies, "energies", &[n], &mut used)?;
        let mut results = output(results, "results", &[n, k], &mut used)?;
        let mut wrenches = chunks(wrenches.as_mut(), 6 * b)?;
        let mut coordinate_forces = chunks(coordinate_forces.as_mut(), c)?;
        let mut energies = chunks(energies.as_mut(), 1)?;
        let mut results = chunks(results.as_mut(), k)?;
        let mut jobs: Vec<Job<'_>> = self
            .worlds
            .iter_mut()
            .map(|state| Job {
                state,
                wrenches: wrenches.as_mut().and_then(Iterator::next),
                coordinate_forces: coordinate_forces.as_mut().and_then(Iterator::next),
                energies: energies.as_mut().and_then(Iterator::next),
                results: results.as_mut().and_then(Iterator::next),
            })
            .collect();

        let threads = self.threads;
        let wanted = Wanted::new(names);
        py.detach(|| {
            let system = system.read();
            parallel::each(&mut jobs, threads, |world, job| {
                if !system.owns(job.state) {
                    return Err(Error::TopologyMismatch);
                }
                motion.write(world, job.state)?;
                let Some(commit) = commit else { return job.evaluate(&system, &wanted) };
                // An unknown name is refused before the commit.
                wanted.places(&system.realize_dynamics(job.state)?)?;
                let outcome = commit(world, &system, job.state);
                // Forces and results are read once: where the step is accepted, with the bristles and stops that have switched.
                let written = if job.is_read() { job.evaluate(&system, &wanted) } else { Ok(()) };
                outcome.and(written)
            })
        })
    }

    /// How many rows a linearization has.
    fn rows(&self) -> usize {
        let system = self.system.get().read();
        6 * (system.topology().body_places() - 1) + system.topology().coordinate_places()
    }

    /// How many variables a world has.
    fn width(&self) -> usize {
        let mut count = 0;
        self.first().visit_variables(&mut |_| count += 1);
        count
    }

    /// An array (n, variables) from one, or from some variables by name, each a number or (n,).
    fn variables<'py>(
        &self,
        py: Python<'py>,
        value: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Option<Input<'py>>> {
        let (n, v) = (self.worlds.len(), self.width());
        let Some(Ok(some)) = value.map(|value| value.cast::<PyMapping>()) else {
            return input(value, "variables", &[&[n, v]]);
        };
        let (keys, names, mut places) = (self.keys(), Names::of(&self.system.get().read()), HashSet::new());
        let place = places_among(&keys);
        let all = py.import("numpy")?.call_method1("zeros", ((v, n),))?;
        for (name, values) in convert::items(some)? {
            let values = convert::array(&values, &name)?;
            check_shape(&name, &[&[n], &[]], values.shape())?;
            let place = place(&names, &name)?;
            once(&mut places, place, &name)?;
            all.set_item(place, &*values)?;
        }
        input(Some(&all.getattr("T")?), "variables", &[&[n, v]])
    }

    /// Multiplies in all worlds.
    fn multiply(
        &self,
        py: Python<'_>,
        scope: Scope,
        mut used: Memory,
        outputs: [(Option<&Bound<'_, PyAny>>, &str, usize); 3],
        product: impl Fn(&mut Products, usize, &mut [Option<&mut [f64]>; 3]) -> Result<(), Error> + Sync,
    ) -> PyResult<()> {
        let (n, system, threads) = (self.worlds.len(), self.system.get(), self.threads);
        let [mut a, mut b, mut c] = {
            let [a, b, c] =
                outputs.map(|(array, what, width)| (output(array, what, &[n, width], &mut used), width));
            [(a.0?, a.1), (b.0?, b.1), (c.0?, c.1)]
        };
        let mut to = [chunks(a.0.as_mut(), a.1)?, chunks(b.0.as_mut(), b.1)?, chunks(c.0.as_mut(), c.1)?];
        let mut jobs: Vec<Product<'_>> = self
            .worlds
            .iter()
            .map(|state| Product { state, to: to.each_mut().map(|of| of.as_mut().and_then(Iterator::next)) })
            .collect();
        let Some(first) = self.worlds.first() else { return Ok(()) };
        py.detach(|| {
            let system = system.read();
            let places = Places::of(first);
            parallel::each(&mut jobs, threads, |world, job| {
                let mut products = self.products.take(
                    |products| products.fit(scope, job.state),
                    || Products::new(scope, system.topology(), job.state, &places),
                );
                products.linearize(&system, job.state)?;
                product(&mut products, world, &mut job.to)?;
                self.products.give(products);
                Ok(())
            })
        })
    }
}

/// As many copies of a state.
///
/// # Errors
/// `MemoryError` if there is no room for them, where an allocation that fails would end the process.
pub(crate) fn copies(state: &CrateState<f64>, count: usize) -> PyResult<Vec<CrateState<f64>>> {
    let too_many = || PyMemoryError::new_err(format!("no memory for {count} worlds"));
    // A state takes up to eight times what is saved: results, and room for what elements find.
    let bytes = count.checked_mul(8 * state.to_bytes().len()).ok_or_else(too_many)?;
    Vec::<u8>::new().try_reserve_exact(bytes).map_err(|_| too_many())?;
    let mut worlds = Vec::new();
    worlds.try_reserve_exact(count).map_err(|_| too_many())?;
    worlds.resize(count, state.clone());
    Ok(worlds)
}

#[pymethods]
impl Batch {
    #[new]
    #[pyo3(signature = (system, count, *, state=None, threads=None))]
    fn new(
        system: &Bound<'_, System>,
        count: usize,
        state: Option<&Bound<'_, State>>,
        threads: Option<isize>,
    ) -> PyResult<Self> {
        let positive = |threads| usize::try_from(threads).ok().and_then(NonZeroUsize::new);
        let refused = || invalid("threads must be at least 1; None takes all cores");
        let threads = threads.map(|threads| positive(threads).ok_or_else(refused)).transpose()?;
        let first = match state {
            Some(state) => State::copy_for(state, system)?,
            None => system.get().read().default_state(),
        };
        let system = system.clone().unbind();
        Ok(Self { system, worlds: copies(&first, count)?, threads, products: Pool::default() })
    }

    /// Its system.
    #[getter]
    fn system(&self, py: Python<'_>) -> Py<System> {
        self.system.clone_ref(py)
    }

    fn __len__(&self) -> usize {
        self.worlds.len()
    }

    fn __repr__(&self) -> String {
        format!("Batch of {} worlds", self.worlds.len())
    }

    /// Sets the motion of all worlds, as far as it is given, evaluates them, and writes forces and results to the arrays that
    /// are given.
    ///
    /// In: ``time`` (n,) or one number [s]; ``poses`` (n, bodies, 4, 4) or (n, bodies, 7) as x, y, z and the quaternion
    /// w, i, j, k [m]; ``velocities`` (n, bodies, 6), angular [rad/s] and linear [m/s]; ``coordinates`` and ``coordinate_rates``
    /// (n, coordinates). Out, written in place: ``wrenches`` (n, bodies, 6), torque [N m] and force [N] at the origins in
    /// ground; ``coordinate_forces`` (n, coordinates); ``energies`` (n,) [J]; ``results`` (n, k) for k ``names`` of results.
    /// Without worlds the names of results are not checked.
    ///
    /// A world whose motion is refused, because a pose is none or a number is not finite, stays as it was. One that cannot be
    /// evaluated with its new motion has that motion. Rows of worlds that fail before they have been evaluated keep what they held,
    /// and so do all rows where there is no result of a name.
    #[pyo3(signature = (*, time=None, poses=None, velocities=None, coordinates=None, coordinate_rates=None, wrenches=None,
        coordinate_forces=None, energies=None, names=Vec::new(), results=None))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords")]
    fn evaluate<'py>(
        &mut self,
        py: Python<'py>,
        time: Option<&Bound<'py, PyAny>>,
        poses: Option<&Bound<'py, PyAny>>,
        velocities: Option<&Bound<'py, PyAny>>,
        coordinates: Option<&Bound<'py, PyAny>>,
        coordinate_rates: Option<&Bound<'py, PyAny>>,
        wrenches: Option<&Bound<'py, PyAny>>,
        coordinate_forces: Option<&Bound<'py, PyAny>>,
        energies: Option<&Bound<'py, PyAny>>,
        #[pyo3(from_py_with = convert::names)] names: Vec<String>,
        results: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<()> {
        let motion = [time, poses, velocities, coordinates, coordinate_rates];
        let outputs = [wrenches, coordinate_forces, energies, results];
        self.run(py, motion, outputs, &names, None)
    }

    /// ``evaluate`` and ``accept``, each world in one go; forces and results are those after it, for the next step of the host. With
    /// ``length`` [s] of the host's steps and its ``inertias``, one for all worlds or a list of one for each, it raises a ``StepError``
    /// for worlds in which the steps are too long, as ``State.check_step``; those are evaluated, but not accepted.
    #[pyo3(signature = (*, time=None, poses=None, velocities=None, coordinates=None, coordinate_rates=None, wrenches=None,
        coordinate_forces=None, energies=None, names=Vec::new(), results=None, length=None, inertias=None,
        method=None))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords")]
    fn step<'py>(
        &mut self,
        py: Python<'py>,
        time: Option<&Bound<'py, PyAny>>,
        poses: Option<&Bound<'py, PyAny>>,
        velocities: Option<&Bound<'py, PyAny>>,
        coordinates: Option<&Bound<'py, PyAny>>,
        coordinate_rates: Option<&Bound<'py, PyAny>>,
        wrenches: Option<&Bound<'py, PyAny>>,
        coordinate_forces: Option<&Bound<'py, PyAny>>,
        energies: Option<&Bound<'py, PyAny>>,
        #[pyo3(from_py_with = convert::names)] names: Vec<String>,
        results: Option<&Bound<'py, PyAny>>,
        length: Option<f64>,
        inertias: Option<OfWorlds>,
        method: Option<&str>,
    ) -> PyResult<()> {
        if length.is_some() != inertias.is_some() || method.is_some() && length.is_none() {
            return Err(PyTypeError::new_err(
                "length, inertias and method of the host's steps belong together",
            ));
        }
        let method = method_of(method.unwrap_or("symplectic_euler"))?;
        if let Some(inertias) = &inertias {
            inertias.check(self.worlds.len(), self.system.get().read().topology())?;
        }
        let inertias = inertias.as_ref();
        let motion = [time, poses, velocities, coordinates, coordinate_rates];
        let outputs = [wrenches, coordinate_forces, energies, results];
        let commit = |world, system: &ForceSystem<f64>, state: &mut CrateState<f64>| {
            if let (Some(length), Some(inertias)) = (length, inertias) {
                system.check_step(state, inertias.of(world), method, length)?;
            }
            system.accept_step(state)
        };
        self.run(py, motion, outputs, &names, Some(&commit))
    }

    /// Commits what elements remember, in all worlds. Requires that they have been evaluated.
    fn accept(&mut self, py: Python<'_>) -> PyResult<()> {
        let Self { system, worlds, threads, .. } = self;
        let (system, threads) = (system.get(), *threads);
        py.detach(|| {
            let system = system.read();
            parallel::each(worlds, threads, |_, state| system.accept_step(state))
        })
    }

    /// The changes of forces and of what elements remember, for changes of motion and variables, in all worlds, which must have
    /// been evaluated and not yet accepted.
    ///
    /// In: ``motion`` and ``velocity`` (n, rows), in the order of the names of a ``Linearization``: six for each body, one for
    /// each coordinate; ``variables`` (n, variables), in the order of ``keys()``, or some by name, each a number or (n,). Out,
    /// written in place: ``forces`` (n, rows); ``next`` (n, variables), the changes of all variables after the next ``accept``.
    #[pyo3(signature = (*, motion=None, velocity=None, variables=None, forces=None, next=None))]
    fn jvp<'py>(
        &self,
        py: Python<'py>,
        motion: Option<&Bound<'py, PyAny>>,
        velocity: Option<&Bound<'py, PyAny>>,
        variables: Option<&Bound<'py, PyAny>>,
        forces: Option<&Bound<'py, PyAny>>,
        next: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<()> {
        self.check_date()?;
        let (n, m, v) = (self.worlds.len(), self.rows(), self.width());
        let motion = input(motion, "motion", &[&[n, m]])?;
        let velocity = input(velocity, "velocity", &[&[n, m]])?;
        let variables = self.variables(py, variables)?;
        let used = Memory::of([&motion, &velocity, &variables])?;
        let [motion, velocity, variables] = [
            Input::rows(motion.as_ref())?,
            Input::rows(velocity.as_ref())?,
            Input::rows(variables.as_ref())?,
        ];
        let scope = Scope { variables: variables.is_some() || next.is_some(), commit: next.is_some() };
        let outputs = [(forces, "forces", m), (next, "next", v), (None, "", 0)];
        self.multiply(py, scope, used, outputs, |products, world, [forces, next, _]| {
            products.forwards(
                [row(motion, world), row(velocity, world), row(variables, world)],
                forces.as_deref_mut(),
                next.as_deref_mut(),
            )
        })
    }

    /// The transpose of ``jvp``: gradients by motion, velocity and variables, written in place, from those by ``forces`` and by
    /// the variables after the next ``accept``, ``next``.
    #[pyo3(signature = (*, forces=None, next=None, motion=None, velocity=None, variables=None))]
    fn vjp<'py>(
        &self,
        py: Python<'py>,
        forces: Option<&Bound<'py, PyAny>>,
        next: Option<&Bound<'py, PyAny>>,
        motion: Option<&Bound<'py, PyAny>>,
        velocity: Option<&Bound<'py, PyAny>>,
        variables: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<()> {
        self.check_date()?;
        let (n, m, v) = (self.worlds.len(), self.rows(), self.width());
        let forces = input(forces, "forces", &[&[n, m]])?;
        let next = self.variables(py, next)?;
        let scope = Scope { variables: variables.is_some() || next.is_some(), commit: next.is_some() };
        let used = Memory::of([&forces, &next])?;
        let [forces, next] = [Input::rows(forces.as_ref())?, Input::rows(next.as_ref())?];
        let outputs = [(motion, "motion", m), (velocity, "velocity", m), (variables, "variables", v)];
        self.multiply(py, scope, used, outputs, |products, world, [motion, velocity, variables]| {
            products.backwards(
                [row(forces, world), row(next, world)],
                [motion.as_deref_mut(), velocity.as_deref_mut()],
                variables.as_deref_mut(),
            )
        })
    }

    /// The moment arms (n, k) of a cable about ``k`` coordinates of the host in all worlds, which must have been evaluated, from
    /// ``motions`` (n, k, bodies, 6) and, if via points move with a coordinate, ``rates`` (n, k, coordinates): see
    /// ``State.moment_arms``.
    #[pyo3(signature = (cable, motions, rates=None))]
    fn moment_arms<'py>(
        &self,
        py: Python<'py>,
        cable: &Element,
        motions: &Bound<'py, PyAny>,
        rates: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.check_date()?;
        let motions = convert::array(motions, "motions")?;
        let rates = rates.map(|rates| convert::array(rates, "rates")).transpose()?;
        let motions = convert::shaped_slice(&motions)?;
        let rates = rates.as_ref().map(convert::shaped_slice).transpose()?;
        let Self { system, worlds, threads, .. } = self;
        let (n, system, threads) = (worlds.len(), system.get(), *threads);
        let (arms, count) = py.detach(|| {
            let system = system.read();
            let of = MomentArms::new(&system, cable, Some(n), motions, rates)?;
            let mut arms = vec![0.0; n * of.count];
            let mut rows: Vec<&mut [f64]> = arms.chunks_exact_mut(of.count.max(1)).collect();
            parallel::each(&mut rows, threads, |world, arms| {
                of.write(&system.dynamics_view(&worlds[world])?, world, arms)
            })?;
            Ok::<_, PyErr>((arms, of.count))
        })?;
        arms.to_pyarray(py).reshape([n, count])
    }

    /// The names of all variables, under the kinds and places of their elements, as those of a ``State``.
    fn keys(&self) -> Vec<String> {
        self.first().variable_names()
    }

    /// All variables of all worlds (n, variables), in the order of ``keys()``; flags are 1 or 0.
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.check_alike()?;
        let mut values = Vec::new();
        for world in &self.worlds {
            world.visit_variables(&mut |entry| values.push(entry.value.number()));
        }
        convert::matrix(py, &values, self.width())
    }

    /// Sets all variables of all worlds, as ``values`` returns them, what elements remember among them: see
    /// ``State.set_values``.
    fn set_values(&mut self, py: Python<'_>, values: &Bound<'_, PyAny>) -> PyResult<()> {
        self.check_alike()?;
        let values = input(Some(values), "values", &[&[self.worlds.len(), self.width()]])?;
        let rows = Input::rows(values.as_ref())?;
        let Self { worlds, threads, .. } = self;
        py.detach(|| {
            parallel::each(worlds, *threads, |world, state| {
                state.restore_values(row(rows, world).unwrap_or_default())
            })
        })
    }

    /// Replaces the worlds where ``mask`` (n,) of bool is true by copies of ``state``, by default of the default state of the system,
    /// with its parameters: those that differ between worlds are to be written again.
    #[pyo3(signature = (mask, state=None))]
    fn reset(
        &mut self,
        py: Python<'_>,
        mask: &Bound<'_, PyAny>,
        state: Option<&Bound<'_, State>>,
    ) -> PyResult<()> {
        let mask = arrays::mask(mask, self.worlds.len())?;
        let first = match state {
            Some(state) => State::copy_for(state, self.system.bind(py))?,
            None => self.system.get().read().default_state(),
        };
        // After a change of the system its memory would not fit, although it has as many variables.
        self.products = Pool::default();
        for (world, _) in self.worlds.iter_mut().zip(mask).filter(|(_, is_meant)| *is_meant) {
            world.clone_from(&first);
        }
        Ok(())
    }

    /// Lets the elements of all worlds, or of those where ``mask`` (n,) is true, forget the past, as though the bodies had always
    /// been where they are: see ``State.reset_memory``.
    #[pyo3(signature = (mask=None))]
    fn reset_memory(&mut self, py: Python<'_>, mask: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let mask = mask.map(|mask| arrays::mask(mask, self.worlds.len())).transpose()?;
        let Self { system, worlds, threads, .. } = self;
        let (system, threads) = (system.get(), *threads);
        py.detach(|| {
            let system = system.read();
            parallel::each(worlds, threads, |world, state| {
                let is_meant = mask.as_ref().is_none_or(|mask| mask[world]);
                if is_meant { system.reset_memories(state) } else { Ok(()) }
            })
        })
    }

    /// A copy of one world.
    fn state(&self, py: Python<'_>, world: isize) -> PyResult<State> {
        let world = self.world(world)?;
        Ok(State::of(self.system.clone_ref(py), self.worlds[world].clone()))
    }

    /// Replaces one world by a copy of a state, of this system or an equal one.
    fn set_state(&mut self, world: isize, state: &Bound<'_, State>) -> PyResult<()> {
        let world = self.world(world)?;
        self.worlds[world] = State::copy_for(state, self.system.bind(state.py()))?;
        self.products = Pool::default();
        Ok(())
    }

    /// For IPython: what can follow ``batch["``, also under the names of elements.
    fn _ipython_key_completions_(&self) -> Vec<String> {
        completions(&self.system.get().read(), self.keys())
    }

    /// Brings all worlds up to date after something was added to their system or removed, as ``State.carry_over``.
    fn carry_over(&mut self) -> PyResult<()> {
        let system = self.system.get().read();
        self.products = Pool::default();
        self.worlds.iter_mut().try_for_each(|world| system.carry_over(world)).map_err(raised)
    }

    /// The variable of this name in all worlds (n,).
    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.check_name(name)?;
        let values: Result<Vec<f64>, _> = self.worlds.iter().map(|state| state.variable(name)).collect();
        Ok(convert::read_only(values.map_err(raised)?.to_pyarray(py)))
    }

    /// Sets the variable of this name in all worlds, to an array (n,) or one number.
    fn __setitem__(&mut self, py: Python<'_>, name: String, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.write(py, vec![(name, value.clone())])
    }

    /// Sets variables of all worlds from a dictionary of arrays (n,) or numbers, those of an element together: for those that
    /// bound each other, as ``mu_static`` and ``mu_kinetic`` do. A world of which one is refused stays as it was.
    fn update(&mut self, py: Python<'_>, values: &Bound<'_, PyMapping>) -> PyResult<()> {
        self.write(py, convert::items(values)?)
    }

    fn __contains__(&self, name: &str) -> bool {
        self.check_name(name).is_ok()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.keys().into_pyobject(py)?.call_method0("__iter__")
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Parts<'py>)> {
        let (py, batch) = (slf.py(), slf.borrow());
        let saved = Saved::of(&batch.system.get().read(), &batch.worlds)?;
        let make = py.import("force_elements._core")?.getattr("_batch_of")?;
        Ok((make, (batch.system(py), batch.threads, saved.into_arrays(py))))
    }
}

/// System, threads, and worlds.
type Parts<'py> = (Py<System>, Option<NonZeroUsize>, saved::Arrays<'py>);

/// For pickles.
#[pyfunction]
#[pyo3(signature = (system, threads, saved))]
pub(crate) fn _batch_of(
    system: Bound<'_, System>,
    threads: Option<NonZeroUsize>,
    saved: saved::Arrays<'_>,
) -> PyResult<Batch> {
    let worlds = Saved::from_arrays(saved)?.states(&system.get().read())?;
    Ok(Batch { system: system.unbind(), worlds, threads, products: Pool::default() })
}
