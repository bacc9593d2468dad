//! Outputs of the evaluation of a world, written to rows of arrays: forces, energies and results.

use std::collections::HashMap;
use std::sync::OnceLock;

use force_elements::{DynamicsView, ElementId, Error, ForceSystem, State as CrateState};

use crate::convert::force_numbers;

/// One world, and where its forces go.
pub(crate) struct Job<'a> {
    pub(crate) state: &'a mut CrateState<f64>,
    pub(crate) wrenches: Option<&'a mut [f64]>,
    pub(crate) coordinate_forces: Option<&'a mut [f64]>,
    pub(crate) energies: Option<&'a mut [f64]>,
    pub(crate) results: Option<&'a mut [f64]>,
}

impl Job<'_> {
    /// Whether anything is asked for.
    pub(crate) fn is_read(&self) -> bool {
        let Self { wrenches, coordinate_forces, energies, results, .. } = self;
        wrenches.is_some() || coordinate_forces.is_some() || energies.is_some() || results.is_some()
    }

    pub(crate) fn evaluate(&mut self, system: &ForceSystem<f64>, wanted: &Wanted<'_>) -> Result<(), Error> {
        let view = system.realize_dynamics(self.state)?;
        let places = wanted.places(&view)?;
        if let Some(wrenches) = &mut self.wrenches {
            for (F, wrench) in view.forces().bodies().iter().skip(1).zip(wrenches.chunks_exact_mut(6)) {
                wrench.copy_from_slice(&force_numbers(F));
            }
        }
        if let Some(forces) = &mut self.coordinate_forces {
            forces.iter_mut().zip(view.forces().coordinates()).for_each(|(to, from)| *to = *from);
        }
        if let Some([energy]) = self.energies.as_deref_mut() {
            *energy = view.potential_energy();
        }
        self.results.as_mut().map_or(Ok(()), |results| read(&view, places, results))
    }
}

/// The names of results, and where they stand, which the first world finds for all.
pub(crate) struct Wanted<'a> {
    names: &'a [String],
    places: OnceLock<Result<PlacesOfResults, Error>>,
}

/// By element: places among its results, in order, each with that of the name.
pub(crate) type PlacesOfResults = HashMap<ElementId, Vec<(usize, usize)>>;

impl<'a> Wanted<'a> {
    pub(crate) fn new(names: &'a [String]) -> Self {
        Self { names, places: OnceLock::new() }
    }

    fn find(&self, view: &DynamicsView<'_, f64>) -> Result<PlacesOfResults, Error> {
        let mut places = HashMap::<_, Vec<_>>::new();
        for (to, name) in self.names.iter().enumerate() {
            let (element, place) = view.place_of_result(name)?;
            places.entry(element).or_default().push((place, to));
        }
        for of_element in places.values_mut() {
            of_element.sort_unstable();
        }
        Ok(places)
    }

    pub(crate) fn places(&self, view: &DynamicsView<'_, f64>) -> Result<&PlacesOfResults, Error> {
        self.places.get_or_init(|| self.find(view)).as_ref().map_err(Clone::clone)
    }
}

/// Reads the results at these places.
fn read(view: &DynamicsView<'_, f64>, places: &PlacesOfResults, results: &mut [f64]) -> Result<(), Error> {
    for (element, places) in places {
        let (mut place, mut rest) = (0, &places[..]);
        view.visit_results_of(*element, &mut |entry| {
            while let [(wanted, to), others @ ..] = rest
                && *wanted == place
            {
                (results[*to], rest) = (entry.value.number(), others);
            }
            place += 1;
        })?;
    }
    Ok(())
}
