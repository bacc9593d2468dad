//! Derivatives of whole rollouts, by the linearization of every step, against dual numbers through the same steps.

use force_elements::exponential_spring::Parameters;
use force_elements::{Error, Real};
use force_elements_scenes::mounted::Mounted;
use force_elements_scenes::rollout::{Change, Derivatives};
use force_elements_scenes::throw::{MASS, Throw};
use num_dual::Dual64;

/// Hundreds of steps of some dozens of roundings, and dual numbers as many.
const ROUNDOFF: f64 = 1e-10;

const THROWN: [f64; 3] = [0.6, 0.2, 1.0];
/// It slides for 0.13 s.
const STEPS: usize = 250;
/// The carriage turns twice and rests, after 1.3 s.
const FLUNG: usize = 6000;

/// The final place of a block, with derivatives by one number: a velocity, the mass, or a parameter.
fn place_by<T: Real>(numbers: [T; 5]) -> Result<Throw<T>, Error> {
    let [x, y, about_z, mass, mu_kinetic] = numbers;
    let mut throw = Throw::new([x, y, about_z], mass, Parameters { mu_kinetic, ..Parameters::default() })?;
    (0..STEPS).try_for_each(|_| throw.advance())?;
    Ok(throw)
}

#[test]
fn the_adjoint_of_a_throw_through_stick_and_slip_is_exact() -> Result<(), Error> {
    let numbers = [THROWN[0], THROWN[1], THROWN[2], MASS, 0.5];
    let mut throw = Throw::new(THROWN, MASS, Parameters::default())?;
    let mut starts = Vec::new();
    let mut slipping = Vec::new();
    for _ in 0..STEPS {
        starts.push(throw.state.checkpoint());
        let dynamics = throw.system.realize_dynamics(&mut throw.state)?;
        slipping.push(dynamics.of(throw.corners[0]).dynamics.limit_reached);
        throw.advance()?;
    }
    assert!(slipping.contains(&true) && slipping.ends_with(&[false; 20]), "it slides, and rests");

    let mut gradients = throw.gradients_of_place();
    let mut derivatives = Derivatives::new(&throw.state);
    throw.pull_back(&starts, &mut derivatives, &mut gradients, |_, _, _| {})?;
    for direction in 0..numbers.len() {
        let varied = std::array::from_fn(|i| Dual64::new(numbers[i], f64::from(u8::from(i == direction))));
        let expected = place_by(varied)?.place();
        for (gradient, expected) in gradients.iter().zip(expected) {
            let by = gradient.by_start.velocity.body(throw.host.cubes[0].body);
            let mut by_friction = 0.0;
            for &corner in &throw.corners {
                let name = format!("{}.mu_kinetic", corner.id());
                by_friction += gradient.by_start.variables.number(&throw.state, &name)?;
            }
            let all = [by.linear.x, by.linear.y, by.angular.z, gradient.by_mass, by_friction];
            let off = (all[direction] - expected.eps).abs();
            // Beside the derivatives of all three numbers of the place.
            assert!(off < ROUNDOFF * 0.1, "{direction}: {}, not {}", all[direction], expected.eps);
        }
    }
    Ok(())
}

#[test]
fn sensitivities_of_a_payload_on_a_guide_with_friction_are_exact() -> Result<(), Error> {
    let mut mounted = Mounted::<f64>::new()?;
    let (mount, guide) = (mounted.mount, mounted.guide);
    let names = [(mount.id(), "stiffness.qy"), (mount.id(), "damping.px"), (guide.id(), "dynamic_friction")];
    let mut changes = Vec::new();
    for (element, name) in names {
        let mut change = Change::zeros(&mounted.state);
        *change.variables.number_mut(&mounted.state, &format!("{element}.{name}"))? = 1.0;
        changes.push(change);
    }
    let mut derivatives = Derivatives::new(&mounted.state);
    let mut modes = Vec::new();
    for _ in 0..FLUNG {
        derivatives.linearize(&mut mounted.host, &mounted.system, &mut mounted.state)?;
        for change in &mut changes {
            derivatives.tangent(&mounted.host, &mounted.state, change)?;
        }
        mounted.advance()?;
        modes.push(mounted.state.discrete(guide).friction_mode == 0.0);
    }
    assert!(modes.windows(2).filter(|pair| pair[0] != pair[1]).count() > 3, "bristles stick and slip");
    for ((element, name), change) in names.into_iter().zip(&changes) {
        let mut varied = Mounted::<Dual64>::new()?;
        let name = format!("{element}.{name}");
        let value = varied.state.variable(&name)?.re;
        varied.system.set_variable(&mut varied.state, &name, Dual64::new(value, 1.0))?;
        (0..FLUNG).try_for_each(|_| varied.advance())?;
        let expected = varied.positions().map(|position| position.eps);
        let size = expected.iter().fold(0.0, |size: f64, number| size.max(number.abs()));
        for (change, expected) in mounted.change_of_positions(&change.motion).iter().zip(expected) {
            assert!((change - expected).abs() < ROUNDOFF * size, "{name}: {change}, not {expected}");
        }
    }
    Ok(())
}

/// ⟨λ, J·δ⟩ = ⟨Jᵀ·λ, δ⟩ for a step `J` of bodies and coordinates.
#[test]
fn the_adjoint_of_a_step_is_the_transpose_of_its_tangent() -> Result<(), Error> {
    let mut mounted = Mounted::<f64>::new()?;
    (0..30).try_for_each(|_| mounted.advance())?;
    let mut derivatives = Derivatives::new(&mounted.state);
    derivatives.linearize(&mut mounted.host, &mounted.system, &mut mounted.state)?;
    let (payload, coordinate) = (mounted.payload(), mounted.coordinate());
    let count = Change::zeros(&mounted.state).variables.numbers().len();
    let units: Vec<Change> = (0..14 + count)
        .map(|i| {
            let mut unit = Change::zeros(&mounted.state);
            let of = if i % 2 == 0 { &mut unit.motion } else { &mut unit.velocity };
            match i / 2 {
                axis @ 0..3 => of.body_mut(payload).angular[axis] = 1.0,
                axis @ 3..6 => of.body_mut(payload).linear[axis - 3] = 1.0,
                6 => *of.coordinate_mut(coordinate) = 1.0,
                _ => unit.variables.numbers_mut()[i - 14] = 1.0,
            }
            unit
        })
        .collect();
    let product = |a: &Change, b: &Change| {
        let mut sum = 0.0;
        for (a, b) in [(&a.motion, &b.motion), (&a.velocity, &b.velocity)] {
            let (of_a, of_b) = (a.body(payload), b.body(payload));
            sum += of_a.angular.dot(&of_b.angular) + of_a.linear.dot(&of_b.linear);
            sum += a.coordinate(coordinate) * b.coordinate(coordinate);
        }
        let numbers = a.variables.numbers().iter().zip(b.variables.numbers());
        sum + numbers.map(|(a, b)| a * b).sum::<f64>()
    };
    let mut rows = units.clone();
    for row in &mut rows {
        derivatives.adjoint(&mounted.host, &mounted.state, row, &mut [0.0])?;
    }
    for column in &units {
        let mut after = column.clone();
        // The carriage's body moves with its coordinate.
        let carriage = mounted.host.carriages[0].body;
        after.motion.body_mut(carriage).linear.x = column.motion.coordinate(coordinate);
        after.velocity.body_mut(carriage).linear.x = column.velocity.coordinate(coordinate);
        derivatives.tangent(&mounted.host, &mounted.state, &mut after)?;
        for (row, before) in units.iter().zip(&rows) {
            let [forwards, backwards] = [product(row, &after), product(before, column)];
            // Forces of up to 1e4 N/m in steps of a millisecond.
            assert!((forwards - backwards).abs() < 1e-13 * forwards.abs().max(10.0));
        }
    }
    Ok(())
}
