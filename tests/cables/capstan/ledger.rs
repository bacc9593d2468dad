//! Energy that goes in is stored or lost to slip.

use std::sync::Arc;

use force_elements::Error;
use force_elements::shapes::Cylinder;

use super::scene::{Hoist, Shown, elastic};

const STIFFNESS: f64 = 4000.0;
const SLACK: f64 = 7.1;

/// The work against friction of material that slips from one strand to the next, per share of material.
fn drop(shown: &Shown) -> f64 {
    let [a, b] = [0, 1].map(|k| shown.strands.get(k).map_or(0.0, |strand| strand.elongation));
    STIFFNESS * ((b - a) * SLACK + 0.5 * (b * b - a * a))
}

/// The error of the balance and the loss, of a quasi-static motion in steps of this size.
fn balance(step: f64) -> Result<(f64, f64), Error> {
    let mut hoist = Hoist::over(Arc::new(Cylinder::new(1.0)?), 1.5, 0.25, elastic(STIFFNESS, SLACK, 0.0))?;
    hoist.heights = [-2.0, -2.05];
    let mut before = hoist.step()?;
    let (stored_first, mut work, mut lost) = (before.stored, 0.0, 0.0);
    let mut ledger = 0.0;
    for i in (1..).take_while(|&i| f64::from(i) * step <= 12.0 + 0.5 * step) {
        let t = f64::from(i) * step;
        let old = hoist.heights;
        hoist.heights = [-2.0 - 0.1 * (1.3 * t).sin(), -2.05 - 0.4 * t.sin()];
        let trial = hoist.evaluate()?;
        for (k, old) in old.into_iter().enumerate() {
            work -= 0.5 * (before.pulls[k] + trial.pulls[k]) * (hoist.heights[k] - old);
        }
        let slip = trial.strands[1].share - trial.strands[1].committed_share;
        let loss = 0.5 * slip * (drop(&before) + drop(&trial));
        // Material slips towards the greater tension.
        assert!(loss >= -1e-12, "{loss}");
        lost += loss;
        hoist.accept()?;
        let after = hoist.evaluate()?;
        // Forces of 4 kN, and lengths rounded to 1e-14 m.
        assert!(after.stored <= trial.stored + 1e-10, "a commit makes energy: {trial:?} {after:?}");
        let now = work + stored_first - after.stored;
        // Of second order in the step.
        assert!(now >= ledger - 40.0 * step * step, "the loss falls by {}", ledger - now);
        ledger = now;
        before = after;
    }
    Ok(((ledger - lost).abs(), lost))
}

#[test]
fn what_slips_is_what_is_lost_to_first_order_in_the_step_or_better() -> Result<(), Error> {
    let (coarse, lost) = balance(4e-3)?;
    let (fine, _) = balance(1e-3)?;
    assert!(lost > 10.0, "{lost}");
    assert!(fine < 0.4 * coarse && fine < 1e-3 * lost, "{coarse} J, {fine} J of {lost} J");
    Ok(())
}

#[test]
fn what_strands_lose_as_friction_is_lowered_is_dissipated() -> Result<(), Error> {
    // Vertical strands of half the material each, which friction holds at elongations of 0.02 m above and below their mean.
    const APART: f64 = 0.02;
    let held = || {
        let elastic = elastic(STIFFNESS, SLACK, 0.0);
        let mut hoist = Hoist::over(Arc::new(Cylinder::new(1.0)?), 1.0, 0.5, elastic)?;
        hoist.step()?;
        hoist.heights = [0.5 * APART - 2.0, -0.5 * APART - 2.0];
        let stored = hoist.evaluate()?.stored;
        hoist.system.reset_dissipated_energy(&mut hoist.state)?;
        Ok::<_, Error>((hoist, stored))
    };
    let account = |mut hoist: Hoist| {
        let stored = hoist.evaluate()?.stored;
        let view = hoist.system.realize_dynamics(&mut hoist.state)?;
        Ok::<_, Error>((stored, view.dissipated_energy().expect("open")))
    };
    for (friction, released) in [(0.0, Some(0.5 * STIFFNESS * APART * APART)), (0.1, None)] {
        let (mut hoist, before) = held()?;
        hoist.system.update_parameters(&mut hoist.state, hoist.cable, |p| p.friction[0] = friction)?;
        let (stored, dissipated) = account(hoist)?;
        assert!(before - stored > 0.1 && (before - stored - dissipated).abs() < 1e-9, "{dissipated} J");
        assert!(released.is_none_or(|released| (dissipated - released).abs() < 1e-9), "{dissipated} J");
    }
    for factor in [0.5, 2.0] {
        let (mut hoist, before) = held()?;
        hoist.system.update_parameters(&mut hoist.state, hoist.cable, |p| p.law.stiffness *= factor)?;
        let (stored, dissipated) = account(hoist)?;
        assert!((stored - factor * before).abs() < 1e-9 && dissipated.abs() < 1e-9, "{dissipated} J");
    }
    Ok(())
}
