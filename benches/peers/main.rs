//! Our side of the comparison with other programs: the least time of many short batches, by scene.
//!
//! ```text
//! cargo bench --bench peers -- SCENE         # prints nanoseconds a unit
//! ```

use std::env;
use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use force_elements::elastic_foundation::{Material, Parameters};
use force_elements::exponential_spring::FrictionTransition;
use force_elements::shapes::{HalfSpace, TriangleMesh};
use force_elements::{ElasticFoundation, ForceSystem, Frame, Pose, State, Worlds};

#[allow(dead_code, reason = "another bench takes the others")]
#[path = "../scenes.rs"]
mod scenes;

use scenes::{coordinates, gimbals, springs_with};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Batches of a call.
const BATCHES: usize = 30;

/// The least time of a round in several batches \[ns\].
fn least(rounds: u32, mut round: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut least = f64::INFINITY;
    for _ in 0..BATCHES {
        let start = Instant::now();
        for _ in 0..rounds {
            round()?;
        }
        least = least.min(start.elapsed().as_secs_f64() / f64::from(rounds));
    }
    Ok(1e9 * least)
}

/// Nanoseconds an element: an evaluation after a new time, and a commit if asked.
fn elements(count: u32, (system, mut state): (ForceSystem<f64>, State<f64>), commits: bool) -> Result<f64> {
    let mut time = 0.0;
    let taken = least(20_000 / count, || {
        time += 1e-6;
        state.set_time(time)?;
        black_box(system.realize_dynamics(black_box(&mut state))?.potential_energy());
        if commits { Ok(system.accept_step(&mut state)?) } else { Ok(()) }
    })?;
    Ok(taken / f64::from(count))
}

fn ball() -> Result<TriangleMesh<f64>> {
    Ok(TriangleMesh::sphere(1.0, 32)?)
}

/// Nanoseconds an evaluation of a sphere of 8192 faces, a share of its radius deep in a half-space or in its like.
fn foundation(is_on_mesh: bool, depth: f64) -> Result<f64> {
    let rubber = Material::new(1e6).with_dissipation(0.1).with_friction(0.9, 0.7, 0.01);
    let mut system = ForceSystem::new();
    let body = system.add_body();
    let mut foundation = ElasticFoundation::new(Parameters::default())?;
    let height = if is_on_mesh {
        foundation.add_springs(Frame::ground(Pose::identity()), ball()?, rubber)?;
        2.0 - depth
    } else {
        foundation.add_rigid(Frame::ground(Pose::identity()), HalfSpace::BelowZ)?;
        1.0 - depth
    };
    foundation.add_springs(Frame::of(body), ball()?, rubber)?;
    system.add(foundation)?;
    let mut state = system.default_state();
    state.set_pose(body, Pose::translation(1e-4, 0.0, height))?;
    elements(1, (system, state), false)
}

/// Nanoseconds a world: a body on eight springs is set, evaluated and accepted.
fn worlds(count: u32) -> Result<f64> {
    let (system, state) = springs_with(8, FrictionTransition::default(), 1.0);
    let body = system.bodies().next().ok_or("a body")?;
    let pose = *state.positions().pose(body);
    let mut worlds = Worlds::new(&state, usize::try_from(count)?);
    let mut forces = vec![0.0; usize::try_from(count)?];
    let mut time = 0.0;
    let taken = least((20_000 / count).max(1), || {
        time += 1e-6;
        Ok(worlds.visit::<(), _>(&[], &mut forces, |state, _, force| {
            state.set_time(time)?;
            state.set_pose(body, pose)?;
            force[0] = system.realize_dynamics(state)?.body_force(body).force.z;
            system.accept_step(state)
        })?)
    })?;
    Ok(taken / f64::from(count))
}

fn measure(scene: &str) -> Result<f64> {
    match scene {
        "bushing" => elements(200, gimbals(200), false),
        "regularised" => elements(1000, coordinates(1000, |p| p.friction_proportional_zone = 0.01), true),
        "bristles" => elements(1000, coordinates(1000, |_| {}), true),
        "half_space_1" => foundation(false, 0.01),
        "half_space_5" => foundation(false, 0.05),
        "mesh_1" => foundation(true, 0.01),
        "mesh_5" => foundation(true, 0.05),
        "worlds_200" => worlds(200),
        "worlds_100000" => worlds(100_000),
        _ => Err("no such scene".into()),
    }
}

fn main() -> Result<()> {
    let arguments: Vec<_> = env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [scene] => {
            println!("{:.2}", measure(scene)?);
            Ok(())
        }
        _ => Err("expected a scene".into()),
    }
}
