//! The rules by which `finish_step` integrates.

use force_elements::nalgebra::Vector3;
use force_elements::{Error, ForceSystem, Pose, Real, SpatialVelocity, StepRule};
use num_dual::Dual64;

use super::{Bench, Fading, MASS, Masses, RULES};

/// Stiffness of the bushing along x \[N/m\].
const K: f64 = 80.0;
/// Its damping \[N·s/m\].
const C: f64 = 1.0;

/// A host that moves along x only.
fn along_x(speed: f64) -> Masses<f64> {
    let V = SpatialVelocity::new(Vector3::zeros(), Vector3::x() * speed);
    // The frame of the bushing on Ground is 0.1 m off.
    Masses { time: 0.0, X: Pose::translation(0.15, 0.0, 0.0), V, q: 0.0, u: 0.0 }
}

/// The sum over 21 steps, each by the next of these rules, in numbers alone.
fn sum(rules: &[StepRule], h: f64, is_verlet: bool) -> f64 {
    let (mut x, mut v) = (0.05, 0.7);
    let force = |x: f64, v: f64| -K * x - C * v;
    let mut sum = 0.5 * K * x * x;
    for rule in rules.iter().cycle().take(21) {
        let (f0, v0) = (force(x, v), v);
        if is_verlet {
            let half = v + 0.5 * h * f0 / MASS;
            x += h * half;
            v = half + 0.5 * h * force(x, v + h * f0 / MASS) / MASS;
        } else {
            v += h * f0 / MASS;
            x += h * v;
        }
        sum -= match rule {
            StepRule::LeftEndpoint => h * f0 * v0,
            StepRule::Trapezoid => 0.5 * h * (f0 * v0 + force(x, v) * v),
            StepRule::HeldForces => 0.5 * h * f0 * (v0 + v),
        };
    }
    sum
}

#[test]
fn the_energy_absorbed_is_the_sum_that_the_rules_name() -> Result<(), Error> {
    let h = 0.01;
    let [left, trapezoid, held] = RULES.map(|rule| [rule; 3]);
    for rules in [left, trapezoid, held, RULES] {
        for is_verlet in [false, true] {
            let mut bench = Bench::new(along_x(0.7))?;
            let step = if is_verlet { Bench::verlet } else { Bench::euler };
            for rule in rules.into_iter().cycle().take(21) {
                step(&mut bench, h, rule)?;
            }
            let (found, expected) = (bench.absorbed(), sum(&rules, h, is_verlet));
            // Twenty roundings of some tenths of a joule; the rules differ by hundredths.
            assert!((found - expected).abs() < 1e-14, "{rules:?}, {is_verlet}: {found} against {expected}");
        }
    }
    let [left, trapezoid, held] = [left, trapezoid, held].map(|rules| sum(&rules, h, false));
    assert!((left - trapezoid).abs() > 1e-2 && (trapezoid - held).abs() > 1e-2);
    Ok(())
}

/// Kinetic energy and the energy absorbed, less those at the start, after a second of steps.
fn imbalance(
    rule: StepRule,
    h: f64,
    step: fn(&mut Bench<f64>, f64, StepRule) -> Result<(), Error>,
) -> Result<f64, Error> {
    let mut bench = Bench::with_motor(Masses::thrown(1.0))?;
    let start = bench.host.kinetic_energy() + bench.absorbed();
    while bench.host.time < 1.0 - 0.5 * h {
        step(&mut bench, h, rule)?;
    }
    let lost = bench.dissipated()?.expect("open");
    assert!(lost > 0.5, "the motion is trivial: {lost} J");
    Ok((bench.host.kinetic_energy() + bench.absorbed() - start).abs())
}

#[test]
fn held_forces_balance_symplectic_euler_to_roundoff_and_no_other_rule_does() -> Result<(), Error> {
    let h = 1e-3;
    // A thousand roundings of about a joule.
    let off = imbalance(StepRule::HeldForces, h, Bench::euler)?;
    assert!(off < 1e-13, "{off:e}");
    for rule in [StepRule::LeftEndpoint, StepRule::Trapezoid] {
        let off = imbalance(rule, h, Bench::euler)?;
        assert!(off > 1e-3, "{rule:?}: {off:e}");
    }
    Ok(())
}

#[test]
fn the_trapezoid_balances_velocity_verlet_to_second_order_and_no_other_rule_does() -> Result<(), Error> {
    for (rule, factor) in RULES.into_iter().zip([2.0, 4.0, 2.0]) {
        let [whole, half] = [2e-3, 1e-3].map(|h| imbalance(rule, h, Bench::verlet));
        let ratio = whole? / half?;
        // The next term of the error is smaller by the phase of a step, some percent.
        assert!((ratio / factor - 1.0).abs() < 0.05, "{rule:?}: {ratio}");
    }
    Ok(())
}

/// Errors after a second in `n` steps of motions that are prescribed: of the energy that a bushing absorbs along
/// `x = sin t`, of the level of a fading motor, and of the energy that it absorbs along `x = t`.
fn prescribed(rule: StepRule, n: u32) -> Result<[f64; 3], Error> {
    let at = |step: u32, x: fn(f64) -> f64, v: fn(f64) -> f64| {
        let time = f64::from(step) / f64::from(n);
        let X = Pose::translation(0.1 + x(time), 0.0, 0.0);
        Masses { time, X, ..along_x(v(time)) }
    };
    let mut bench = Bench::new(at(0, f64::sin, f64::cos))?;
    for step in 1..=n {
        bench.system.realize_dynamics(&mut bench.state)?;
        bench.system.finish_step(&mut bench.state, &at(step, f64::sin, f64::cos), rule)?;
    }
    let exact = 0.5 * K * 1.0_f64.sin().powi(2) + C * (0.5 + 0.25 * 2.0_f64.sin());
    let bushing = bench.state.absorbed_energy()[0] - exact;

    let mut system = ForceSystem::new();
    let body = system.add_body();
    let motor = system.add(Fading(body))?;
    let mut state = system.default_state();
    state.set_kinematics(&at(0, |t| t, |_| 1.0))?;
    for step in 1..=n {
        system.realize_dynamics(&mut state)?;
        system.finish_step(&mut state, &at(step, |t| t, |_| 1.0), rule)?;
    }
    let level = state.continuous_of(motor).level - 0.5;
    Ok([bushing, level, state.absorbed_energy()[0] - 2.0_f64.ln() - 1.0])
}

#[test]
fn errors_fall_with_the_order_of_the_rule() -> Result<(), Error> {
    let orders = [[2.0, 2.0, 2.0], [4.0, 4.0, 4.0], [2.0, 4.0, 2.0]];
    for (rule, factors) in RULES.into_iter().zip(orders) {
        let (whole, half) = (prescribed(rule, 200)?, prescribed(rule, 400)?);
        for i in 0..3 {
            let ratio = whole[i] / half[i];
            // The next term is smaller by the length of a step, a half percent.
            assert!((ratio / factors[i] - 1.0).abs() < 0.01, "{rule:?}, {i}: {ratio}");
        }
    }
    Ok(())
}

#[test]
fn the_books_balance_in_single_precision() -> Result<(), Error> {
    let mut bench = Bench::<f32>::new(Masses::thrown(1.0))?;
    let start = bench.host.kinetic_energy() + bench.absorbed();
    for _ in 0..1024 {
        // Without rounding of time, from whose difference a step has its length.
        bench.euler(1.0 / 1024.0, StepRule::HeldForces)?;
    }
    let off = (bench.host.kinetic_energy() + bench.absorbed() - start).abs();
    // A thousand roundings of 6e-8 of about a joule, if all went one way.
    assert!(off < 6e-5, "{off:e}");
    assert!(bench.dissipated()?.is_some_and(|lost| lost > 0.5));
    Ok(())
}

#[test]
fn the_derivative_of_the_energy_absorbed_is_the_limit_of_differences() -> Result<(), Error> {
    fn absorbed<T: Real>(speed: T, rule: StepRule) -> Result<T, Error> {
        let mut bench = Bench::new(Masses::thrown(speed))?;
        (0..200).try_for_each(|_| bench.euler(T::lit(2e-3), rule))?;
        Ok(bench.absorbed())
    }
    for rule in RULES {
        let eps = 1e-5;
        let difference = (absorbed(1.0 + eps, rule)? - absorbed(1.0 - eps, rule)?) / (2.0 * eps);
        let derivative = absorbed(Dual64::new(1.0, 1.0), rule)?.eps;
        // Truncation of 1e-10 and roundoff of 1e-16/1e-5 of a value of about one.
        assert!((derivative - difference).abs() < 1e-9, "{rule:?}: {derivative} against {difference}");
        assert!(derivative.abs() > 0.1, "{derivative}");
    }
    Ok(())
}
