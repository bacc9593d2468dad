//! Derivatives at the end of the numbers' range.

use force_elements::nalgebra::{Vector1, Vector6};
use force_elements::spatial_bushing::{self, Symmetric6};
use force_elements::{
    AtDynamics, Blocks, BodyIndex, CoordinateIndex, ElementError, End, ForceAccumulator, ForceElement,
    ForceSystem, Frame, LinearBushing, Linearization, Pose, SpatialBushing, Topology, linear_bushing,
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

/// A force that rises from -1e308 N to 1e308 N within a tenth of a micrometre. It asks for differences after it has written
/// derivatives.
#[derive(Debug)]
struct Step(CoordinateIndex);

impl ForceElement<f64> for Step {
    const KIND: &'static str = "step";
    type Parameters = ();
    type Discrete = ();
    type Continuous = ();
    type Position = ();
    type Velocity = ();
    type Dynamics = ();

    fn check_topology(&self, topology: &Topology) -> Result<(), ElementError> {
        Ok(topology.check_coordinate(self.0)?)
    }

    fn add_forces(&self, at: &AtDynamics<'_, f64, Self>, forces: &mut ForceAccumulator<'_, f64>) {
        let q = at.positions.coordinate(self.0);
        forces.apply_to_coordinate(self.0, 1e308 * (q / 1e-7).clamp(-1.0, 1.0));
    }

    fn linearize(&self, _: &AtDynamics<'_, f64, Self>, blocks: &mut Blocks<'_, f64>) {
        blocks.add(self.0, self.0, &Vector1::new(1.0), &Vector1::new(1.0));
        blocks.differences_of([End::Coordinate(self.0)]);
    }
}

#[test]
fn differences_are_refused_if_they_overflow_whatever_was_written_before() {
    let mut system = ForceSystem::new();
    let coordinate = system.add_coordinate();
    system.add(Step(coordinate)).expect("exists");
    let mut state = system.default_state();
    system.realize_dynamics(&mut state).expect("regular");
    let refused = system.linearize(&state, &mut Linearization::new()).expect_err("overflows");
    assert_eq!(refused.element_error(), Some(&ElementError::NonFiniteForce));
}
