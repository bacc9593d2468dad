//! Variables that are named like the entries of a rotation, and are none.

use force_elements::nalgebra::Matrix3;
use force_elements::variables::{Entry, Slot, Value, Visitor, VisitorMut};
use force_elements::{
    AtDynamics, Column, CoordinateIndex, ElementError, Error, ForceAccumulator, ForceElement, ForceSystem,
    InvalidValue, Linearization, Scope, Stage, Topology, Variables,
};

/// A matrix of resistances, listed by itself.
#[derive(Debug, Clone, PartialEq, Default)]
struct Resistances {
    R: Matrix3<f64>,
}

/// Names and places, row by row.
const NAMES: [&str; 9] = ["R.xx", "R.xy", "R.xz", "R.yx", "R.yy", "R.yz", "R.zx", "R.zy", "R.zz"];

impl Variables<f64> for Resistances {
    fn visit(&self, visit: Visitor<'_, f64>) {
        for (i, name) in NAMES.into_iter().enumerate() {
            let value = Value::Number(self.R[(i / 3, i % 3)]);
            visit(Entry { name: format_args!("{name}"), unit: "1", stage: Stage::Instance, value });
        }
    }
    fn visit_mut(&mut self, visit: VisitorMut<'_, f64>) {
        for (i, name) in NAMES.into_iter().enumerate() {
            let value = Slot::Number(&mut self.R[(i / 3, i % 3)]);
            visit(Entry { name: format_args!("{name}"), unit: "1", stage: Stage::Instance, value });
        }
    }
    fn validate(&self) -> Result<(), InvalidValue> {
        Ok(())
    }
}

/// The sum of the entries, each weighed by its number.
#[derive(Debug)]
struct Weighed {
    coordinate: CoordinateIndex,
}

impl ForceElement<f64> for Weighed {
    const KIND: &'static str = "weighed";
    force_elements::element_types! { Parameters = Resistances; }

    fn check_topology(&self, topology: &Topology) -> Result<(), ElementError> {
        Ok(topology.check_coordinate(self.coordinate)?)
    }
    fn default_parameters(&self) -> Resistances {
        Resistances { R: Matrix3::identity() }
    }
    fn add_forces(&self, at: &AtDynamics<'_, f64, Self>, forces: &mut ForceAccumulator<'_, f64>) {
        let weights = (1_u8..).map(f64::from);
        let f = at.parameters.R.transpose().iter().zip(weights).map(|(entry, weight)| entry * weight).sum();
        forces.apply_to_coordinate(self.coordinate, f);
    }
}

#[test]
fn what_is_named_like_a_rotation_but_belongs_to_no_pose_has_independent_entries() -> Result<(), Error> {
    let mut system = ForceSystem::new();
    let coordinate = system.add_coordinate();
    let element = system.add(Weighed { coordinate })?;
    let mut state = system.default_state();
    system.realize_dynamics(&mut state)?;
    let mut linearization = Linearization::of(Scope { variables: true, commit: false });
    system.linearize(&state, &mut linearization)?;
    let of_element = linearization.element(element);
    assert!(!of_element.is_exact_by_variables());
    for (i, weight) in (1_usize..=9).zip((1_u8..).map(f64::from)) {
        let derivative: f64 = of_element
            .blocks()
            .filter(|(_, column, _)| *column == Column::Variable(i))
            .map(|(_, _, numbers)| numbers[0])
            .sum();
        // Differences of a linear function.
        assert!((derivative - weight).abs() < 1e-8, "{}: {derivative}", NAMES[i - 1]);
    }
    Ok(())
}
