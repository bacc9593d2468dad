//! Derivatives at the end of the numbers' range.

use force_elements::nalgebra::Vector6;
use force_elements::spatial_bushing::{self, Symmetric6};
use force_elements::{
    BodyIndex, ElementError, End, ForceSystem, Frame, LinearBushing, Linearization, Pose, SpatialBushing,
    linear_bushing,
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
