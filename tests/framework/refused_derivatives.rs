//! Derivatives that are refused: beyond the range of numbers, and of variables that an element does not have.

use force_elements::nalgebra::{Vector1, Vector6};
use force_elements::spatial_bushing::{self, Symmetric6};
use force_elements::testing::Numbers;
use force_elements::{
    AtDynamics, AtVelocity, Blocks, BodyIndex, CoordinateIndex, ElementError, End, ForceAccumulator,
    ForceElement, ForceSystem, Frame, LinearBushing, Linearization, Pose, Row, Scope, SpatialBushing,
    Topology, linear_bushing,
};

/// A bushing at a distance, without a force: as a law of separate axes and as one of coupled axes.
fn far_bushings(stiffness: f64, lever: f64) -> [(ForceSystem<f64>, BodyIndex); 2] {
    [false, true].map(|is_spatial| {
        let mut system = ForceSystem::new();
        let body = system.add_body();
        let frame = Pose::translation(lever, 0.0, 0.0);
        let (F, M) = (Frame::ground(frame), Frame::on(body, frame));
        let axes = Vector6::new(1.0, 1.0, 1.0, stiffness, stiffness, stiffness);
        if is_spatial {
            let stiffness = Symmetric6::from_diagonal(&axes);
            let parameters = spatial_bushing::Parameters { stiffness, damping: Symmetric6::zeros() };
            system.add(SpatialBushing::new(F, M, parameters).expect("valid")).expect("exists");
        } else {
            let parameters = linear_bushing::Parameters { stiffness: axes, damping: Vector6::zeros() };
            system.add(LinearBushing::new(F, M, parameters).expect("valid")).expect("exists");
        }
        (system, body)
    })
}

#[test]
fn derivatives_are_refused_if_one_overflows_and_not_if_only_their_sum_does() {
    for (system, body) in far_bushings(1e308, 1.0) {
        let mut state = system.default_state();
        system.realize_dynamics(&mut state).expect("regular");
        let mut linearization = Linearization::new();
        system.linearize(&state, &mut linearization).expect("finite");
        let [stiffness, _] = linearization.to_dense();
        let first = linearization.row_of(End::Body(body)).expect("has rows");
        for (row, column, number) in [(3, 3, -1e308), (4, 4, -1e308), (4, 2, -1e308), (2, 4, -1e308)] {
            assert_eq!(stiffness[(first + row, first + column)], number);
        }
    }
    for (system, _) in far_bushings(1e308, 10.0) {
        let mut state = system.default_state();
        system.realize_dynamics(&mut state).expect("regular");
        let refused = system.linearize(&state, &mut Linearization::new()).expect_err("overflows");
        assert_eq!(refused.element_error(), Some(&ElementError::NonFiniteForce));
    }
}

/// Wherever one number overflows: no derivative that is returned is not finite.
#[test]
fn derivatives_that_are_returned_are_finite_whichever_number_overflows() {
    let mut numbers = Numbers::new(7);
    let (mut refused, mut returned) = (0, 0);
    for i in 0..4000 {
        // Undeflected and at rest, since forces overflow first otherwise.
        let mut large = || 10.0_f64.powf(numbers.between(-40.0, 140.0));
        let X_AF = Pose::translation(large(), large(), large());
        let stiffness: Vector6<f64> = Vector6::from_fn(|_, _| large());
        let damping: Vector6<f64> = Vector6::from_fn(|_, _| large());
        let mut system = ForceSystem::new();
        let bodies = [system.add_body(), system.add_body()];
        // Both bodies have a lever, or the first alone.
        let is_at_origin = i % 2 == 0;
        let [X_GB, X_BM] = if is_at_origin { [X_AF, Pose::identity()] } else { [Pose::identity(), X_AF] };
        let (F, M) = (Frame::on(bodies[0], X_AF), Frame::on(bodies[1], X_BM));
        let parameters = linear_bushing::Parameters { stiffness, damping };
        system.add(LinearBushing::new(F, M, parameters).expect("valid")).expect("exists");
        let mut state = system.default_state();
        state.set_pose(bodies[1], X_GB).expect("finite");
        system.realize_dynamics(&mut state).expect("no force");
        let mut linearization = Linearization::new();
        match system.linearize(&state, &mut linearization) {
            Ok(()) => {
                returned += 1;
                let mut derivatives = linearization.to_dense().into_iter();
                assert!(derivatives.all(|dense| dense.iter().all(|number| number.is_finite())), "{i}");
            }
            Err(error) => {
                refused += 1;
                assert_eq!(error.element_error(), Some(&ElementError::NonFiniteForce), "{i}");
            }
        }
    }
    assert!(refused > 300 && returned > 300, "{refused} and {returned}");
}

type Write = fn(CoordinateIndex, &mut Blocks<'_, f64>);

/// A force that rises from -1e308 N to 1e308 N within a tenth of a micrometre, by the derivatives that it writes.
#[derive(Debug)]
struct Step {
    on: CoordinateIndex,
    by_motion: Write,
    by_variables: Write,
}

impl ForceElement<f64> for Step {
    const KIND: &'static str = "step";
    force_elements::element_types! {}

    fn check_topology(&self, topology: &Topology) -> Result<(), ElementError> {
        Ok(topology.check_coordinate(self.on)?)
    }

    fn add_forces(&self, at: &AtDynamics<'_, f64, Self>, forces: &mut ForceAccumulator<'_, f64>) {
        let q = at.positions.coordinate(self.on);
        forces.apply_to_coordinate(self.on, 1e308 * (q / 1e-7).clamp(-1.0, 1.0));
    }

    fn linearize(&self, _: &AtDynamics<'_, f64, Self>, blocks: &mut Blocks<'_, f64>) {
        (self.by_motion)(self.on, blocks);
    }

    fn linearize_variables(&self, _: &AtDynamics<'_, f64, Self>, blocks: &mut Blocks<'_, f64>) {
        (self.by_variables)(self.on, blocks);
    }
}

/// Why the derivatives are refused.
fn refusal(by_motion: Write, by_variables: Write) -> Option<ElementError> {
    let mut system = ForceSystem::new();
    let on = system.add_coordinate();
    system.add(Step { on, by_motion, by_variables }).expect("exists");
    let mut state = system.default_state();
    system.realize_dynamics(&mut state).expect("regular");
    let mut linearization = Linearization::of(Scope { variables: true, commit: true });
    let refused = system.linearize(&state, &mut linearization).err()?;
    refused.element_error().cloned()
}

#[test]
fn differences_are_refused_if_they_overflow_whatever_was_written_before() {
    let by_motion: Write = |on, blocks| {
        blocks.add(on, on, &Vector1::new(1.0), &Vector1::new(1.0));
        blocks.differences_of([End::Coordinate(on)]);
    };
    assert_eq!(refusal(by_motion, |_, _| ()), Some(ElementError::NonFiniteForce));
}

#[test]
fn derivatives_of_and_by_variables_that_an_element_lacks_are_refused() {
    const TIME: usize = Blocks::<f64>::TIME;
    let none: Write = |_, _| ();
    assert_eq!(refusal(none, |on, blocks| blocks.add_by_variables(on, TIME, &[Vector1::new(1.0)])), None);
    assert_eq!(refusal(none, |on, blocks| blocks.add_by_variables(on, TIME, &[Vector1::new(1.0)])), None);
    let foreign: [Write; 9] = [
        // A list that goes on beyond the last variable, which is time.
        |on, blocks| blocks.add_by_variables(on, TIME, &[Vector1::new(1.0); 2]),
        |on, blocks| blocks.add_by_variables(on, blocks.parameter(0), &[Vector1::new(1.0); 2]),
        |_, blocks| blocks.add_to_by_variables(Row::Rate(0), TIME, &[1.0]),
        |on, blocks| blocks.add_by_variables(on, blocks.parameter(0), &[Vector1::new(1.0)]),
        |on, blocks| blocks.add_by_variables(on, blocks.discrete(0), &[Vector1::new(1.0)]),
        |on, blocks| blocks.add_by_variables(on, blocks.continuous(0), &[Vector1::new(1.0)]),
        |on, blocks| blocks.add_by_variables(on, 1, &[Vector1::new(1.0)]),
        |_, blocks| blocks.add_to_by_variables(Row::Rate(0), TIME, &[1.0]),
        |by, blocks| blocks.add_to(Row::Next(0), by, &Vector1::new(1.0), &Vector1::new(1.0)),
    ];
    for by_variables in foreign {
        assert_eq!(refusal(none, by_variables), Some(ElementError::NoSuchVariable));
    }
}

force_elements::variables! {
    /// A number at the end of its range.
    #[derive(Copy)]
    struct Share<T> {
        share: T = 1.0, fraction => Dynamics;
    }
}

/// A force that cannot be evaluated where its share is below one.
#[derive(Debug)]
struct Whole;

impl ForceElement<f64> for Whole {
    const KIND: &'static str = "whole";
    force_elements::element_types! { Parameters = Share<f64>; }

    fn check_topology(&self, _: &Topology) -> Result<(), ElementError> {
        Ok(())
    }

    fn calc_dynamics(&self, at: &AtVelocity<'_, f64, Self>, (): &mut ()) -> Result<(), ElementError> {
        if at.parameters.share < 1.0 { Err(ElementError::SameEnds) } else { Ok(()) }
    }

    fn add_forces(&self, _: &AtDynamics<'_, f64, Self>, _: &mut ForceAccumulator<'_, f64>) {}
}

#[test]
fn an_element_that_fails_on_the_one_side_on_which_its_variable_is_in_range_has_no_differences() {
    let mut system = ForceSystem::new();
    system.add(Whole).expect("valid");
    let mut state = system.default_state();
    system.realize_dynamics(&mut state).expect("regular");
    let mut linearization = Linearization::of(Scope { variables: true, commit: false });
    let refused = system.linearize(&state, &mut linearization).expect_err("fails below one");
    assert_eq!(refused.element_error(), Some(&ElementError::SameEnds));
}
