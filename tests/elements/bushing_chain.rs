//! Claims about bushings, on three bodies that swing far on them.
#![allow(non_snake_case, reason = "monogram notation")]

use force_elements::nalgebra::Vector6;
use force_elements::simulation::{DormandPrince, Implicit, Integrator};
use force_elements_scenes::bushing_chain::{BushingChain, Comparison, END, Pair};

/// What errors of up to `accuracy` in every step amount to in the energies \[J\].
///
/// A step's error in a velocity is an energy of up to 10 kg·m/s times as much. The estimate that is
/// held to the accuracy is that of the solution of order 4; the one of order 5 that is kept errs by a tenth
/// of it. Errors of several thousand steps with different signs add up to some hundred times one.
fn allowed(accuracy: f64) -> f64 {
    10.0 * 0.1 * 100.0 * accuracy
}

#[test]
fn energy_and_dissipation_together_are_constant() {
    let chain = BushingChain::new().expect("valid");
    let mut last = f64::INFINITY;
    for accuracy in [1e-5, 1e-7, 1e-9] {
        let run = chain.run(&mut DormandPrince::new(accuracy)).expect("regular");
        let lost: f64 = run.losses.iter().map(|(lost, _)| lost).sum();
        assert!(lost > 10.0, "the motion is trivial: {lost} J");
        let steps = run.statistics.steps;
        assert!(run.open < allowed(accuracy), "{:e} J in {steps} steps of accuracy {accuracy:e}", run.open);
        // The work balances whatever the forces are. What makes the claim is that all the bushings have absorbed
        // and do not store is Σ c q̇².
        assert!(run.loss_off() < allowed(accuracy), "{:e} J at accuracy {accuracy:e}", run.loss_off());
        // Not a bias that no accuracy removes: a hundred times the accuracy, thirty times closer at least.
        assert!(run.open < last / 30.0, "{:e} J at accuracy {accuracy:e}, {last:e} J before", run.open);
        last = run.open;
    }
    let implicit = |step| chain.run(&mut Implicit::trapezoidal(step)).expect("regular").open;
    // Order two: half the step, a quarter of the error, to a tenth.
    let ratio = implicit(4e-3) / implicit(2e-3);
    assert!((ratio - 4.0).abs() < 0.4, "{ratio}");
}

#[test]
fn dissipated_energy_never_falls() {
    let chain = BushingChain::new().expect("valid");
    let run = chain.run(&mut DormandPrince::new(1e-9)).expect("regular");
    for (lost, _) in run.losses {
        assert!(lost > 2.0, "the motion is trivial: {lost} J");
    }
    // Not even in one step by that step's own error: six rates are never all zero together.
    assert_eq!(run.fall, 0.0);
}

#[test]
fn a_bushing_moves_and_pushes_as_a_chain_of_six_joints() {
    let chain = BushingChain::new().expect("valid");
    let mut simulation = chain.simulation().expect("regular");
    let mut integrator = DormandPrince::new(1e-6);
    let mut worst = Comparison::default();
    let mut farthest = [Vector6::zeros(); 3];
    while simulation.time() < END {
        integrator.step(&mut simulation, END).expect("regular");
        let view = simulation.dynamics().expect("regular");
        for (farthest, &bushing) in farthest.iter_mut().zip(&chain.bushings) {
            worst = worst.join(chain.compare(&view, bushing).expect("own handle"));
            *farthest = farthest.sup(&view.of(bushing).position.q.abs());
        }
    }
    for q in farthest {
        // Far enough that the order of the turns matters in every one of them.
        assert!(q.fixed_rows::<3>(0).min() > 0.5, "the motion is trivial: {q}");
        assert!(q.fixed_rows::<3>(3).min() > 0.01, "the motion is trivial: {q}");
    }
    let Comparison { orientation, position, angular, linear, power, moments, forces } = worst;
    for (what, Pair { deviation, size }) in [
        ("orientation", orientation),
        ("position", position),
        ("angular velocity", angular),
        ("velocity", linear),
        ("power", power),
        ("moments", moments),
        ("forces", forces),
    ] {
        // Some twenty products and sums on either side, and the reciprocal of a cosine of 0.4.
        let roundoff = 100.0 * f64::EPSILON;
        assert!(deviation < roundoff * size, "{what}: {deviation:e} of {size}");
    }
}
