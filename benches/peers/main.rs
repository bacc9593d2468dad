//! Times beside those of other programs that have the same elements, taken in turns.
//!
//! ```text
//! cargo bench --bench peers -- SCENE              # nanoseconds a unit of our side
//! cargo bench --bench peers -- SIMBODY EXUDYN     # the table; two programs that print theirs, as `peers/run` makes them
//! ```

use std::env;
use std::error::Error;
use std::hint::black_box;
use std::process::Command;
use std::time::Instant;

use force_elements::elastic_foundation::{Material, Parameters};
use force_elements::nalgebra::Vector3;
use force_elements::shapes::{HalfSpace, TriangleMesh};
use force_elements::simulation::DormandPrince;
use force_elements::{ElasticFoundation, ForceSystem, Frame, Pose, SpatialVelocity, State, Worlds};
use force_elements_scenes::block::{Block, Contact, Setting};

#[allow(dead_code, reason = "another bench takes the others")]
#[path = "../scenes.rs"]
mod scenes;
#[allow(dead_code, reason = "another bench takes the others")]
#[path = "../tracked_cable.rs"]
mod tracked_cable;

use scenes::{coordinates, gimbals, springs_with};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// A scene, the program beside which it is measured, and the unit of its time \[ns\].
struct Row {
    scene: &'static str,
    title: &'static str,
    peer: Option<Peer>,
    unit: f64,
}

#[derive(Clone, Copy)]
enum Peer {
    Simbody,
    Exudyn,
}

const fn row(scene: &'static str, title: &'static str, peer: Option<Peer>, unit: f64) -> Row {
    Row { scene, title, peer, unit }
}

const NS: f64 = 1.0;
const US: f64 = 1e3;
const MS: f64 = 1e6;
const SIMBODY: Option<Peer> = Some(Peer::Simbody);
const EXUDYN: Option<Peer> = Some(Peer::Exudyn);

const ROWS: [Row; 20] = [
    row("bushing", "LinearBushing, of 200, ns", SIMBODY, NS),
    row("spring", "ExponentialSpring, of 200, with commit, ns", SIMBODY, NS),
    row("regularised", "coordinate element, regularised, of 1000, with commit, ns", EXUDYN, NS),
    row("bristles", "coordinate element, bristles, of 1000, with commit, ns", EXUDYN, NS),
    row("half_space_1", "foundation of 8192 faces on a half-space, 1 % deep, µs", SIMBODY, US),
    row("half_space_5", "the same, 5 % deep, µs", SIMBODY, US),
    row("mesh_1", "foundation of 8192 faces on its like, 1 % deep, µs", SIMBODY, US),
    row("mesh_5", "the same, 5 % deep, µs", SIMBODY, US),
    row("cable_sphere_1", "tracked cable over 1 sphere, with commit, µs", SIMBODY, US),
    row("cable_sphere_5", "over 5 spheres, µs", SIMBODY, US),
    row("cable_ellipsoid_1", "over 1 ellipsoid, µs", SIMBODY, US),
    row("cable_ellipsoid_5", "over 5 ellipsoids, µs", SIMBODY, US),
    row("cable_torus_1", "over 1 torus, µs", SIMBODY, US),
    row("cable_torus_5", "over 5 tori, µs", SIMBODY, US),
    row("block_drop", "block on 8 springs for 7 s, dropped, ms", SIMBODY, MS),
    row("block_slide", "the same, sliding, ms", SIMBODY, MS),
    row("block_spin", "the same, spinning, ms", SIMBODY, MS),
    row("block_slide_and_spin", "the same, sliding and spinning, ms", SIMBODY, MS),
    row("worlds_200", "a body on 4 springs set, evaluated, accepted, of 200 worlds, ns", None, NS),
    row("worlds_100000", "of 100000 worlds, ns", None, NS),
];

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

/// Nanoseconds a world: a body on four springs is set, evaluated and accepted.
fn worlds(count: u32) -> Result<f64> {
    let (system, state) = springs_with(4, false, 1.0);
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

/// Nanoseconds of an evaluation and a commit.
fn cable(kind: &str, count: u32) -> Result<f64> {
    let mut scene = tracked_cable::Scene::new(kind, count)?;
    least(100, || {
        black_box(scene.step()?);
        Ok(())
    })
}

/// Nanoseconds of a run of 7 s to an accuracy of 1e-5; also tells the evaluations.
fn block(drop: f64, speed: f64, spin: f64) -> Result<f64> {
    let block = Block::new(Setting::default(), Contact::springs(true))?;
    let X_GB = Pose::translation(0.0, 0.0, drop) * block.resting_pose();
    let V_GB = SpatialVelocity::new(Vector3::new(0.0, 0.0, spin), Vector3::new(speed, 0.0, 0.0));
    let mut evaluations = 0;
    let taken = least(1, || {
        let mut simulation = block.start(X_GB, V_GB, 1.0)?;
        simulation.run(&mut DormandPrince::new(1e-5), 7.0, |_| {})?;
        evaluations = simulation.statistics().evaluations;
        Ok(())
    })?;
    eprintln!("{evaluations} evaluations");
    Ok(taken)
}

fn measure(scene: &str) -> Result<f64> {
    match scene {
        "bushing" => elements(200, gimbals(200), false),
        "spring" => elements(200, springs_with(200, true, 1.0), true),
        "regularised" => elements(1000, coordinates(1000, |p| p.friction_proportional_zone = 0.01), true),
        "bristles" => elements(1000, coordinates(1000, |_| {}), true),
        "half_space_1" => foundation(false, 0.01),
        "half_space_5" => foundation(false, 0.05),
        "mesh_1" => foundation(true, 0.01),
        "mesh_5" => foundation(true, 0.05),
        "worlds_200" => worlds(200),
        "worlds_100000" => worlds(100_000),
        "block_drop" => block(0.1, 0.0, 0.0),
        "block_slide" => block(0.0, 4.0, 0.0),
        "block_spin" => block(0.0, 0.0, 8.0),
        "block_slide_and_spin" => block(0.0, 3.0, 8.0),
        _ => match scene.split('_').collect::<Vec<_>>()[..] {
            ["cable", kind, count] => cable(kind, count.parse()?),
            _ => Err("no such scene".into()),
        },
    }
}

/// What a program prints for a scene \[ns\].
fn ask(program: &str, scene: &str) -> Result<f64> {
    let output = Command::new(program).arg(scene).output().map_err(|error| format!("{program}: {error}"))?;
    let printed = String::from_utf8(output.stdout)?;
    printed.trim().parse().map_err(|_| format!("{program} {scene}: {printed}").into())
}

/// Each side three times, in turns; the least time of each counts.
fn compare(simbody: &str, exudyn: &str) -> Result<()> {
    let ours = env::current_exe()?;
    let ours = ours.to_str().ok_or("a path in UTF-8")?;
    println!("| scene | theirs | ours | theirs over ours |\n|---|---|---|---|");
    for Row { scene, title, peer, unit } in ROWS {
        let theirs = peer.map(|peer| match peer {
            Peer::Simbody => simbody,
            Peer::Exudyn => exudyn,
        });
        let mut least = [f64::INFINITY; 2];
        for _ in 0..3 {
            for (least, program) in least.iter_mut().zip([theirs, Some(ours)]) {
                if let Some(program) = program {
                    *least = least.min(ask(program, scene)?);
                }
            }
        }
        let [theirs, ours] = least.map(|time| time / unit);
        if theirs.is_finite() {
            println!("| {title} | {theirs:.2} | {ours:.2} | {:.1} |", theirs / ours);
        } else {
            println!("| {title} | – | {ours:.2} | – |");
        }
    }
    Ok(())
}

fn main() -> Result<()> {
    let arguments: Vec<_> = env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [scene] => {
            println!("{:.2}", measure(scene)?);
            Ok(())
        }
        [simbody, exudyn] => compare(simbody, exudyn),
        _ => Err("expected a scene or two programs".into()),
    }
}
