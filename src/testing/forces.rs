//! Promises about forces at one instant.

use nalgebra::Vector3;

use super::scene::{scene, size};
use super::violation::{alive, claim, within};
use super::{Numbers, Subject, Violation};
use crate::math::{Pose, SpatialForce, SpatialVelocity};

/// Checks that forces and moments about one point sum to zero over all bodies, Ground included.
///
/// # Errors
/// If they do not, to 10⁻¹³ of the sum of their sizes.
pub fn third_law<S: Subject>(seed: u64) -> Result<(), Violation> {
    claim("the third law", seed, || {
        let mut scene = scene::<S, f64>(seed)?;
        let view = scene.system.realize_dynamics(&mut scene.state)?;
        let mut sum = SpatialForce::zero();
        for (F_GB, X_GB) in view.forces().bodies().iter().zip(view.positions().bodies()) {
            sum += F_GB.shifted(-X_GB.translation.vector);
        }
        let scale = size(&view);
        alive("the sum of the sizes of all forces", scale, 1e-3)?;
        // A few dozen operations on numbers of this size.
        within("the sum of forces and moments", sum.force.norm() + sum.torque.norm(), 1e-13 * scale)
    })
}

/// Checks that moving all bodies together turns the forces along and changes no energy or power.
///
/// For elements that act between bodies, not on Ground. Coordinates stay as they are.
///
/// # Errors
/// If a force changes by more than 10⁻¹⁰ of all, or an energy by as much or a power by ten times as much of
/// itself: for elements with forces that change by less than 10⁵ times their size per metre or radian.
pub fn frame_invariance<S: Subject>(seed: u64) -> Result<(), Violation> {
    claim("frame invariance", seed, || {
        let mut scene = scene::<S, f64>(seed)?;
        let (system, state, element) = (&scene.system, &mut scene.state, scene.element);
        let view = system.realize_dynamics(state)?;
        let before = view.forces().clone();
        let energy = view.potential_energy_of(element);
        let power = view.power_dissipated_of(element);
        let scale = size(&view);

        let mut numbers = Numbers::new(!seed);
        let X: Pose<f64> = numbers.pose(1.5, 1.0);
        // A common velocity field: what a moving observer sees.
        let V = SpatialVelocity::new(numbers.vector(0.5), Vector3::new(0.3, -0.2, 0.4));
        for body in system.bodies() {
            let (X_GB, V_GB) = (*state.positions().pose(body), *state.velocities().velocity(body));
            let (X_GB, V_GB) = (X * X_GB, V_GB.rotated(&X.rotation));
            state.set_body(body, X_GB, V_GB + V.shifted(X_GB.translation.vector))?;
        }
        let view = system.realize_dynamics(state)?;
        // Positions of order 1 m are rounded to 1e-16 m; forces that change by 1e5 of themselves per metre
        // agree to about 1e-11 of their size.
        let tolerance = 1e-10;
        for body in system.bodies() {
            let off = view.body_force(body) - before.bodies()[body.index()].rotated(&X.rotation);
            within("the force on a body", off.force.norm() + off.torque.norm(), tolerance * scale)?;
        }
        for coordinate in system.coordinates() {
            let off = view.coordinate_force(coordinate) - before.coordinates()[coordinate.index()];
            within("the force on a coordinate", off.abs(), tolerance * scale)?;
        }
        let off = (view.potential_energy_of(element) - energy).abs();
        within("the energy stored", off, tolerance * energy.abs())?;
        let off = (view.power_dissipated_of(element) - power).abs();
        within("the power being lost", off, (1e-9 * power.abs()).max(1e-12))
    })
}

/// Checks that forces in single precision are those in double precision to `tolerance` times the sum of their
/// sizes.
///
/// Coordinates of the order of 1 m are rounded by 10⁻⁷ m, which is to be multiplied by the change of force, relative
/// to its size, per metre: 10⁻³ suits most elements.
///
/// # Errors
/// If they are not.
pub fn single_precision<S: Subject>(seed: u64, tolerance: f64) -> Result<(), Violation> {
    claim("single precision", seed, || {
        let (mut double, mut single) = (scene::<S, f64>(seed)?, scene::<S, f32>(seed)?);
        let view64 = double.system.realize_dynamics(&mut double.state)?;
        let view32 = single.system.realize_dynamics(&mut single.state)?;
        let scale = size(&view64);
        for (F64, F32) in view64.forces().bodies().iter().zip(view32.forces().bodies()) {
            let off = *F64 - F32.cast();
            within("the force on a body", off.force.norm() + off.torque.norm(), tolerance * scale)?;
        }
        for (f64, &f32) in view64.forces().coordinates().iter().zip(view32.forces().coordinates()) {
            within("the force on a coordinate", (f64 - f64::from(f32)).abs(), tolerance * scale)?;
        }
        Ok(())
    })
}
