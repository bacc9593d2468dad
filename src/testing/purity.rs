//! The promise that an evaluation depends on nothing but the state.

use alloc::format;
use alloc::vec::Vec;

use nalgebra::Vector3;

use super::scene::scene;
use super::violation::claim;
use super::{Finding, Numbers, Scene, Subject, Violation};
use crate::framework::element_variables::is_named;
use crate::framework::variables::VisitorMut;
use crate::framework::{Error, ForceElement, ForceSystem, Handle, State, Variables};
use crate::math::Pose;
use crate::mechanics::Forces;

/// The forces, and the bits of all results that have names, of energies, powers and the rates of continuous variables.
fn results(system: &ForceSystem<f64>, state: &mut State<f64>) -> Result<(Forces<f64>, Vec<u64>), Error> {
    let view = system.realize_dynamics(state)?;
    let mut bits = Vec::new();
    view.visit_results(&mut |entry| bits.push(entry.value.number().to_bits()));
    let sums = [view.potential_energy(), view.power_dissipated()];
    // Zeros are equal, whatever their sign.
    bits.extend(sums.iter().chain(view.continuous_rates()).map(|number| (number + 0.0).to_bits()));
    Ok((view.forces().clone(), bits))
}

/// Those of a state that was made anew with the variables and the motion of another.
fn results_of_fresh(system: &ForceSystem<f64>, state: &State<f64>) -> Result<(Forces<f64>, Vec<u64>), Error> {
    let mut fresh = system.default_state();
    fresh.restore_bytes(&state.to_bytes())?;
    copy_motion(state, &mut fresh)?;
    results(system, &mut fresh)
}

/// Moves all bodies and coordinates to where they are in another state, with the same velocities.
fn copy_motion(from: &State<f64>, to: &mut State<f64>) -> Result<(), Error> {
    let (positions, velocities) = (from.positions(), from.velocities());
    for body in positions.topology().bodies() {
        to.set_body(body, *positions.pose(body), *velocities.velocity(body))?;
    }
    for coordinate in positions.topology().coordinates() {
        to.set_coordinate(coordinate, positions.coordinate(coordinate))?;
        to.set_coordinate_rate(coordinate, velocities.coordinate_rate(coordinate))?;
    }
    Ok(())
}

/// Checks that a trial evaluation elsewhere, as an integrator makes it, leaves no trace: back again, variables and
/// results are what they were, to the last bit.
///
/// # Errors
/// If they are not.
pub fn no_trace<S: Subject>(seed: u64) -> Result<(), Violation> {
    claim("purity", seed, || {
        let Scene { system, mut state, .. } = scene::<S, f64>(seed)?;
        let saved = state.snapshot();
        let first = results(&system, &mut state)?;
        let before = state.clone();
        let (positions, velocities) = (before.positions(), before.velocities());
        for body in system.bodies() {
            state.set_pose(body, positions.pose(body) * Pose::translation(0.01, 0.0, 0.02))?;
            state.set_velocity(body, velocities.velocity(body).shifted(Vector3::y()))?;
        }
        for coordinate in system.coordinates() {
            state.set_coordinate(coordinate, positions.coordinate(coordinate) + 0.01)?;
        }
        system.realize_dynamics(&mut state)?;
        copy_motion(&before, &mut state)?;
        same(first == results(&system, &mut state)?, "a trial elsewhere")?;
        same(saved == state.snapshot(), "two evaluations")
    })
}

/// Checks that a [reset](ForceSystem::reset_memory) leaves nothing of the past: after commits elsewhere, and back at the same
/// motion, it gives the discrete variables that it gives without them, to the last bit. Memory that four steps of a
/// centimetre do not change is not seen.
///
/// # Errors
/// If it does not.
pub fn reset_forgets<S: Subject>(seed: u64) -> Result<(), Violation> {
    claim("purity", seed, || {
        let Scene { system, state, element } = scene::<S, f64>(seed)?;
        let mut moved = state.clone();
        for step in 1..5 {
            let way = 0.01 * f64::from(step);
            for (body, i) in system.bodies().zip([1.0, -1.0].into_iter().cycle()) {
                let X = state.positions().pose(body);
                moved.set_pose(body, Pose::translation(way * i, 0.5 * way * i, 0.2 * way) * X)?;
            }
            for coordinate in system.coordinates() {
                moved.set_coordinate(coordinate, state.positions().coordinate(coordinate) - way)?;
            }
            // There may be no path so far away, nor a force.
            if system.realize_dynamics(&mut moved).is_err() || system.accept_step(&mut moved).is_err() {
                break;
            }
        }
        copy_motion(&state, &mut moved)?;
        let [forgotten, without] = [moved, state].map(|mut state| {
            system.reset_memory(&mut state, element)?;
            let mut bits = Vec::new();
            state.try_discrete(element)?.visit(&mut |entry| bits.push(entry.value.number().to_bits()));
            Ok::<_, Error>(bits)
        });
        same(forgotten? == without?, "a reset of the memory that has another past")
    })
}

/// Checks that after writes of every kind the results are those of a new state with the same variables and motion, to
/// the last bit: after a write of each variable alone, by name and as part of its struct, and with another, and after writes of time,
/// poses, velocities, coordinates, variables, the enabled flag and accepted steps in a random order.
///
/// # Errors
/// If they are not.
pub fn as_in_a_fresh_state<S: Subject>(seed: u64) -> Result<(), Violation> {
    claim("purity", seed, || {
        let mut scene = scene::<S, f64>(seed)?;
        let start = scene.state.clone();
        each_variable_alone(&scene)?;
        // Some are read only where there is a memory.
        let Scene { system, state, .. } = &mut scene;
        state.set_time(state.time() + 0.01)?;
        system.realize_dynamics(state)?;
        system.accept_step(state)?;
        each_variable_alone(&scene)?;
        scene.state = start;
        let mut numbers = Numbers::new(!seed);
        for _ in 0..12 {
            let after = write(&mut scene, &mut numbers)?;
            if numbers.number() > 0.0 {
                same_as_fresh(&mut scene, after)?;
            }
        }
        same_as_fresh(&mut scene, "writes of all kinds")
    })
}

/// Checks the results after each variable has been written alone in a state that was evaluated before, if it takes
/// another value: entries of a rotation do not; and after it has been written together with the first.
fn each_variable_alone<E: ForceElement<f64>>(scene: &Scene<f64, E>) -> Result<(), Finding> {
    let Scene { system, state, element } = scene;
    let mut realized = state.clone();
    system.realize_dynamics(&mut realized)?;
    let mut written = realized.clone();
    let prefix = format!("{}[{}].", E::KIND, element.place());
    let (snapshot, unwritten) = (realized.snapshot(), realized.to_bytes());
    let mut first = None;
    for (name, present) in &snapshot {
        let field = name.strip_prefix(&prefix);
        let moved = 1.01 * present + 1e-6;
        // Another number; the other flag; an angle with another turn.
        for value in [moved, 1.0 - present, present + core::f64::consts::TAU] {
            // What both ways write alike has the same results in a new state.
            let mut fresh = None;
            for by_name in [true, false] {
                written.clone_from(&realized);
                if by_name {
                    let _ = system.set_variable(&mut written, name, value);
                } else if let Some(field) = field {
                    write_fields(system, &mut written, *element, &[(field, value)]);
                }
                // A path may be lost: then it is in a new state too.
                let variables = written.to_bytes();
                if fresh.as_ref().is_none_or(|(known, _)| *known != variables) {
                    fresh = Some((variables, results_of_fresh(system, &written)));
                }
                let found = results(system, &mut written);
                same(fresh.as_ref().is_some_and(|(_, fresh)| *fresh == found), "a write of one variable")?;
            }
        }
        let Some(field) = field else { continue };
        written.clone_from(&realized);
        write_fields(system, &mut written, *element, &[(field, moved)]);
        if written.to_bytes() == unwritten {
            continue;
        }
        // Of two stages the earlier counts.
        let both = [*first.get_or_insert((field, moved)), (field, moved)];
        written.clone_from(&realized);
        write_fields(system, &mut written, *element, &both);
        let fresh = results_of_fresh(system, &written);
        same(fresh == results(system, &mut written), "a write of two variables")?;
    }
    Ok(())
}

/// Writes fields of one element's variables as parts of their structs, if they are taken.
fn write_fields<E: ForceElement<f64>>(
    system: &ForceSystem<f64>,
    state: &mut State<f64>,
    element: Handle<E>,
    fields: &[(&str, f64)],
) {
    let write_in = |variables: &mut dyn FnMut(VisitorMut<'_, f64>)| {
        variables(&mut |entry| {
            if let Some((_, value)) = fields.iter().find(|(field, _)| is_named(entry.name, field)) {
                // A flag refuses numbers.
                let _ = entry.value.write("flag", *value);
            }
        });
    };
    let _ = system
        .update_parameters(state, element, |p| write_in(&mut |v| p.visit_mut(v)))
        .and(system.update_discrete(state, element, |d| write_in(&mut |v| d.visit_mut(v))))
        .and(system.update_continuous(state, element, |c| write_in(&mut |v| c.visit_mut(v))));
}

fn same_as_fresh<E: ForceElement<f64>>(
    Scene { system, state, .. }: &mut Scene<f64, E>,
    after: &'static str,
) -> Result<(), Finding> {
    let fresh = results_of_fresh(system, state)?;
    same(fresh == results(system, state)?, after)
}

fn same(is_same: bool, after: &'static str) -> Result<(), Finding> {
    if is_same { Ok(()) } else { Err(Finding::OtherBits { after }) }
}

/// Writes something, each time to another value.
fn write<E: ForceElement<f64>>(
    Scene { system, state, element }: &mut Scene<f64, E>,
    numbers: &mut Numbers,
) -> Result<&'static str, Error> {
    Ok(match numbers.index(12) {
        0 => {
            state.set_time(state.time() + 0.01)?;
            "a write of time"
        }
        1 => {
            for body in system.bodies() {
                let X = *state.positions().pose(body);
                state.set_pose(body, Pose::translation(1e-4, 0.0, 2e-4) * X)?;
            }
            "a write of poses"
        }
        2 => {
            for body in system.bodies() {
                let V = *state.velocities().velocity(body);
                state.set_velocity(body, V.shifted(Vector3::x()))?;
            }
            "a write of velocities"
        }
        3 => {
            for coordinate in system.coordinates() {
                let q = state.positions().coordinate(coordinate);
                state.set_coordinate(coordinate, q + 1e-4)?;
                state.set_coordinate_rate(coordinate, 0.5 - q)?;
            }
            "a write of coordinates"
        }
        4 | 5 => {
            // Whatever is a number of its own: entries of rotations and flags refuse.
            let names = state.variable_names();
            let name = &names[numbers.index(names.len())];
            let value = state.variable(name)?;
            let _ = system.set_variable(state, name, 1.01 * value);
            "a write of a variable"
        }
        6 => {
            system.set_enabled(state, *element, false)?;
            "the element was disabled"
        }
        7 | 8 => {
            system.set_enabled(state, *element, true)?;
            "the element was enabled"
        }
        _ => {
            state.set_time(state.time() + 0.01)?;
            system.realize_dynamics(state)?;
            system.accept_step(state)?;
            "an accepted step"
        }
    })
}
