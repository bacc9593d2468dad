//! Promises about energy, and derivatives.

use super::linearization::{Curve, Direction, Results, variation};
use super::scene::{axes, scene, size, unit};
use super::violation::{alive, claim, within};
use super::{Numbers, Scene, Subject, Violation};
use crate::framework::{DynamicsView, ForceElement};
use crate::mechanics::Variation;

/// The power of all forces along a motion, and the sum of the sizes of its terms.
fn power(motion: &Variation<f64>, view: &DynamicsView<'_, f64>) -> [f64; 2] {
    let forces = view.forces();
    let of_bodies =
        motion.bodies().iter().zip(forces.bodies()).map(|(V, F)| {
            [V.power(F), V.angular.norm() * F.torque.norm() + V.linear.norm() * F.force.norm()]
        });
    let of_coordinates =
        motion.coordinates().iter().zip(forces.coordinates()).map(|(u, f)| [u * f, (u * f).abs()]);
    of_bodies
        .chain(of_coordinates)
        .fold([0.0; 2], |[sum, size], [term, of_term]| [sum + term, size + of_term])
}

/// Checks that the power delivered to bodies and coordinates, the rate of change of the energy stored and the power being
/// lost add up to the power supplied, that the energy stored and the power being lost are at least zero, and that the power
/// absorbed is what the ledger takes it to be.
///
/// Returns the rate of change of the energy stored and the power being lost \[W\], so that a test can require that they are
/// not zero.
///
/// # Errors
/// If the balance is off by more than 10⁻¹¹, or [the precision](Subject::PRECISION) if that is more, of its terms.
pub fn power_balance<S: Subject>(seed: u64) -> Result<[f64; 2], Violation> {
    claim("the power balance", seed, || {
        let mut scene = scene::<S, f64>(seed)?;
        let (system, element) = (&scene.system, scene.element);
        let view = system.realize_dynamics(&mut scene.state)?;
        within("the energy stored below zero", -view.potential_energy_of(element), 0.0)?;
        let dissipated = view.power_dissipated_of(element);
        within("the power gained instead of lost", -dissipated, 0.0)?;
        let supplied = system.try_element(element)?.power_supplied(&view.try_of(element)?);
        let absorbed: f64 = view.power_absorbed().iter().sum();
        let direction = Direction::of_motion(view.velocities().clone());
        let [delivered, size] = power(&direction.motion, &view);
        let stored = S::rate(&Curve::<S>::of_energy(seed, &direction))?;
        let scale = size + stored.abs() + dissipated + supplied.abs();
        alive("the power of all forces", scale, 1e-6)?;
        // Powers are sums of products of forces and velocities that cancel.
        let tolerance = S::PRECISION.max(1e-11) * scale;
        within("the power balance", (delivered + stored + dissipated - supplied).abs(), tolerance)?;
        within("the power absorbed", (absorbed - (supplied - delivered)).abs(), 1e-11 * scale)?;
        Ok([stored, dissipated])
    })
}

/// Checks that at rest the force is minus the gradient of the energy stored, along each direction of each body and
/// along each coordinate.
///
/// # Errors
/// If it is off by more than 10⁻¹², or [the precision](Subject::PRECISION) if that is more, of the largest force and torque on one
/// body.
pub fn gradient<S: Subject>(seed: u64) -> Result<(), Violation> {
    claim("the gradient of the energy", seed, || {
        let Scene { system, mut state, element } = scene::<S, f64>(seed)?;
        let topology = system.topology();
        let moving = Direction { velocity: state.velocities().clone(), ..Direction::zeros(topology, 0) };
        moving.follow(&system, &mut state, element.id(), -1.0)?;
        let view = system.realize_dynamics(&mut state)?;
        for axis in axes(topology) {
            let direction = Direction::of_motion(unit(topology, axis));
            let at_rest = Some((&moving, -1.0));
            let energy = Curve::<S> { start: at_rest, ..Curve::of_energy(seed, &direction) };
            let ([power, _], slope) = (power(&direction.motion, &view), S::rate(&energy)?);
            let on_bodies = view.forces().bodies().iter().map(|F| F.force.norm() + F.torque.norm());
            let on_coordinates = view.forces().coordinates().iter().map(|f| f.abs());
            let scale = on_bodies.chain(on_coordinates).fold(1.0, f64::max);
            // Lever arms of order one multiply rounding.
            let off = (power + slope).abs();
            within("the force along an axis", off, S::PRECISION.max(1e-12) * scale)?;
        }
        Ok(())
    })
}

/// Checks that the derivative of the forces along the motion, as the subject [computes it](Subject::rate), is what differences over 2·10⁻⁶ s
/// show; or, where these see a kink in between, one that is seen from one side.
///
/// For elements with forces that change by less than 2·10³ times their size a second.
///
/// # Errors
/// If it is off by more than 10⁻⁵ of its size or that of the forces, or by 10⁻³ at a kink.
pub fn derivatives<S: Subject>(seed: u64) -> Result<(), Violation> {
    claim("derivatives", seed, || {
        let mut scene = scene::<S, f64>(seed)?;
        let size = size(&scene.system.realize_dynamics(&mut scene.state)?);
        let topology = scene.system.topology();
        let direction = Direction::of_motion(scene.state.velocities().clone());
        let forces = &variation(topology, &mut Numbers::new(!seed));
        let curve = Curve::<S> { results: Results::Forces, forces, ..Curve::of_energy(seed, &direction) };
        let exact = S::rate(&curve)?;
        let h = 1e-6;
        let [before, now, after] = [curve.at(-h)?, curve.at(0.0)?, curve.at(h)?];
        let (slope, sides) = ((after - before) / (2.0 * h), [(now - before) / h, (after - now) / h]);
        let scale = exact.abs().max(size);
        // Rounding in a difference over 2e-6 of forces that change by up to 2300 times their size a
        // second, and a truncation of (2300·1e-6)²/6 of that. Where a kink lies between (a spring that touches, a
        // nearest face that changes) the derivative is that of one side, and the truncation 2300·1e-6/2.
        let is_one_sided = sides.iter().any(|side| (side - exact).abs() < 1.2e-3 * scale);
        if is_one_sided && (sides[0] - sides[1]).abs() > 2e-5 * scale {
            return Ok(());
        }
        within("the derivative of the forces", (slope - exact).abs(), 1e-5 * scale)
    })
}
