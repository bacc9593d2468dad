//! Instructions of seventeen kernels, beside those of the record.
//!
//! Times of a shared machine are noisy, counts are not: they depend on the compiler and the mathematical functions of the
//! system alone. Each kernel runs under callgrind, which [valgrind](https://valgrind.org) has, for two numbers of rounds; the
//! difference is divided by the rounds and the elements. What has grown by more than two hundredths is named, and the program
//! fails.
//!
//! ```text
//! cargo bench --bench instructions               # compares with benches/record/instructions.md
//! cargo bench --bench instructions -- --write    # writes it anew
//! ```

use std::error::Error;
use std::fmt::Write as _;
use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

use force_elements::cable::{CablePath, Obstacle};
use force_elements::elastic_foundation::{Material, Parameters};
use force_elements::nalgebra::{Point3, Vector3};
use force_elements::shapes::{Ellipsoid, HalfSpace, TriangleMesh};
use force_elements::{
    CableSpring, ElasticFoundation, ForceSystem, Frame, Linearization, Pose, Scope, State, Station,
    StepMethod, Worlds, cable_spring,
};
use force_elements_scenes::kilograms::Kilograms;

#[allow(dead_code, reason = "another bench takes the others")]
mod scenes;

use scenes::{coordinates, gimbals, hertz_contacts, spatial_bushings, springs_with};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// What is counted in a round, and the rounds.
struct Kernel {
    name: &'static str,
    rounds: u64,
    /// The number of elements, and one round.
    make: fn() -> Result<(usize, Round)>,
}

/// Counts from one on.
type Round = Box<dyn FnMut(u32) -> Result<()>>;

const KERNELS: [Kernel; 17] = [
    Kernel { name: "LinearBushing", rounds: 20, make: || Ok(evaluation(gimbals(200), false)) },
    Kernel {
        name: "SpatialBushing",
        rounds: 20,
        make: || Ok(evaluation(spatial_bushings(200, 0, 0), false)),
    },
    Kernel {
        name: "ExponentialSpring, settling, with commit",
        rounds: 20,
        make: || Ok(evaluation(springs_with(200, true, 1.0), true)),
    },
    Kernel {
        name: "ExponentialSpring, return mapping, with commit",
        rounds: 20,
        make: || Ok(evaluation(springs_with(200, false, 1.0), true)),
    },
    Kernel {
        name: "coordinate element, regularised, with commit",
        rounds: 20,
        make: || Ok(evaluation(coordinates(1000, |p| p.friction_proportional_zone = 0.01), true)),
    },
    Kernel {
        name: "coordinate element, bristles, with commit",
        rounds: 20,
        make: || Ok(evaluation(coordinates(1000, |_| {}), true)),
    },
    Kernel {
        name: "HertzContact on a ball",
        rounds: 20,
        make: || Ok(evaluation(hertz_contacts(200, true), false)),
    },
    Kernel { name: "foundation of 8192 faces on a half-space", rounds: 10, make: || foundation(false) },
    Kernel { name: "foundation of 8192 faces on its like", rounds: 2, make: || foundation(true) },
    Kernel { name: "CableSpring over 1 ellipsoid, with commit", rounds: 20, make: || cable(1) },
    Kernel { name: "CableSpring over 5 ellipsoids, with commit", rounds: 20, make: || cable(5) },
    Kernel { name: "a world of 8 springs: set, evaluate, accept", rounds: 10, make: worlds },
    Kernel { name: "check of a step, LinearBushing", rounds: 20, make: || check(gimbals(200)) },
    Kernel {
        name: "check of a step, ExponentialSpring",
        rounds: 20,
        make: || check(springs_with(200, false, 1.0)),
    },
    Kernel {
        name: "linearize, LinearBushing",
        rounds: 20,
        make: || linearization(gimbals(200), Scope::default()),
    },
    Kernel {
        name: "linearize with variables and commit, ExponentialSpring",
        rounds: 5,
        make: || linearization(springs_with(200, false, 1.0), EVERYTHING),
    },
    Kernel {
        name: "linearize with variables and commit, bristles",
        rounds: 5,
        make: || linearization(coordinates(1000, |_| {}), EVERYTHING),
    },
];

const EVERYTHING: Scope = Scope { variables: true, commit: true };

fn evaluation((system, mut state): (ForceSystem<f64>, State<f64>), commits: bool) -> (usize, Round) {
    let count = system.element_count();
    let round = move |round| {
        state.set_time(1e-6 * f64::from(round))?;
        black_box(system.realize_dynamics(black_box(&mut state))?.potential_energy());
        if commits {
            system.accept_step(&mut state)?;
        }
        Ok(())
    };
    (count, Box::new(round))
}

/// A sphere a hundredth of its radius deep in a half-space or another sphere.
fn foundation(is_on_mesh: bool) -> Result<(usize, Round)> {
    let rubber = Material::new(1e6).with_dissipation(0.1).with_friction(0.9, 0.7, 0.01);
    let mesh = TriangleMesh::sphere(1.0, 32)?;
    let mut system = ForceSystem::new();
    let body = system.add_body();
    let mut foundation = ElasticFoundation::new(Parameters::default())?;
    let height = if is_on_mesh {
        foundation.add_springs(Frame::ground(Pose::identity()), mesh.clone(), rubber)?;
        1.99
    } else {
        foundation.add_rigid(Frame::ground(Pose::identity()), HalfSpace::BelowZ)?;
        0.99
    };
    foundation.add_springs(Frame::of(body), mesh, rubber)?;
    system.add(foundation)?;
    let mut state = system.default_state();
    state.set_pose(body, Pose::translation(1e-4, 0.0, height))?;
    Ok(evaluation((system, state), false))
}

/// Its end moves a little between commits.
fn cable(count: u32) -> Result<(usize, Round)> {
    let mut system = ForceSystem::new();
    let end = system.add_body();
    let mut path =
        CablePath::new(Station::ground(Point3::new(-1.5, 0.0, 0.0)), Station::on(end, Point3::origin()))?;
    for i in 0..count {
        let X = Pose::translation(2.0 * f64::from(i), 0.25 * f64::from(i % 2) - 0.4, 0.0);
        path = path.over(Obstacle::new(Frame::ground(X), Ellipsoid::new(Vector3::new(0.7, 0.6, 1.0))?)?);
    }
    let slack_length = 2.0 * f64::from(count);
    let elastic = cable_spring::Parameters { slack_length, stiffness: 1e4, ..Default::default() };
    system.add(CableSpring::new(path, elastic)?)?;
    let mut state = system.default_state();
    let x = 2.0 * f64::from(count) + 1.0;
    let round = move |round| {
        let a = 0.01 * f64::from(round);
        let X = Pose::translation(x + 0.1 * a.sin(), 0.2 * (1.3 * a).sin(), 0.3 * (0.7 * a).sin());
        state.set_pose(end, X)?;
        black_box(system.realize_dynamics(&mut state)?.potential_energy());
        Ok(system.accept_step(&mut state)?)
    };
    Ok((1, Box::new(round)))
}

fn worlds() -> Result<(usize, Round)> {
    const COUNT: usize = 256;
    let (system, state) = springs_with(8, false, 1.0);
    let body = system.bodies().next().ok_or("a body")?;
    let pose = *state.positions().pose(body);
    let mut worlds = Worlds::new(&state, COUNT);
    let mut forces = vec![Vector3::zeros(); COUNT];
    let round = move |round| {
        worlds.visit::<(), _>(&[], &mut forces, |state, _, force| {
            state.set_time(1e-6 * f64::from(round))?;
            state.set_pose(body, pose)?;
            force[0] = system.realize_dynamics(state)?.body_force(body).force;
            system.accept_step(state)
        })?;
        Ok(())
    };
    Ok((COUNT, Box::new(round)))
}

fn check((system, mut state): (ForceSystem<f64>, State<f64>)) -> Result<(usize, Round)> {
    system.realize_dynamics(&mut state)?;
    let count = system.element_count();
    let round = move |_| {
        Ok(system.check_step(black_box(&mut state), &Kilograms, StepMethod::SymplecticEuler, 1e-9)?)
    };
    Ok((count, Box::new(round)))
}

fn linearization(
    (system, mut state): (ForceSystem<f64>, State<f64>),
    scope: Scope,
) -> Result<(usize, Round)> {
    let mut linearization = Linearization::of(scope);
    system.realize_dynamics(&mut state)?;
    let count = system.element_count();
    Ok((count, Box::new(move |_| Ok(system.linearize(black_box(&state), &mut linearization)?))))
}

/// Runs a kernel for so many rounds; prints its number of elements.
fn run(name: &str, rounds: u32) -> Result<()> {
    let kernel = KERNELS.iter().find(|kernel| kernel.name == name).ok_or("no such kernel")?;
    let (count, mut round) = (kernel.make)()?;
    (1..=rounds).try_for_each(&mut round)?;
    println!("{count}");
    Ok(())
}

/// The number of elements of a kernel, and its instructions for so many rounds.
fn count(name: &str, rounds: u64) -> Result<(u64, u64)> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(env::current_exe()?)
        .args(["--run", name, &rounds.to_string()])
        .output()
        .map_err(|error| format!("valgrind: {error}"))?;
    let (printed, report) = (String::from_utf8(output.stdout)?, String::from_utf8(output.stderr)?);
    let collected = report.lines().find_map(|line| line.split_once("Collected :"));
    let (_, collected) = collected.ok_or_else(|| format!("{name}: {report}"))?;
    Ok((printed.trim().parse()?, collected.trim().parse()?))
}

/// The instructions of a kernel in the text of a record.
fn recorded(record: &str, name: &str) -> Option<u64> {
    let row = record.lines().find_map(|line| line.strip_prefix(&format!("| {name} | ")))?;
    row.split(' ').next()?.parse().ok()
}

fn compare(writes: bool) -> Result<()> {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("record/instructions.md");
    let record = fs::read_to_string(&place).unwrap_or_default();
    let compiler = String::from_utf8(Command::new("rustc").arg("--version").output()?.stdout)?;
    let mut table = String::from("| kernel | instructions | before |\n|---|---|---|\n");
    let mut grown = Vec::new();
    for Kernel { name, rounds, .. } in KERNELS {
        // What is made in the first rounds is not counted.
        let ((elements, few), (_, many)) = (count(name, 2)?, count(name, 2 + rounds)?);
        let now = (many - few) / (rounds * elements);
        let before = recorded(&record, name);
        if before.is_some_and(|before| now * 100 > before * 102) {
            grown.push(name);
        }
        let before = before.map_or_else(|| "–".into(), |before| before.to_string());
        writeln!(table, "| {name} | {now} | {before} |")?;
    }
    print!("{}\n\n{table}", compiler.trim());
    let head = record.split("\n| kernel").next().unwrap_or_default();
    if !head.contains(compiler.trim()) {
        println!("\nThe record is of another compiler.");
    }
    if writes {
        let (title, rest) = head.split_once("\n\n").ok_or("a title")?;
        let text = rest.split_once("\n\n").map_or("", |(_, text)| text);
        fs::write(place, format!("{title}\n\n{}.\n\n{}\n\n{table}", compiler.trim(), text.trim()))?;
    } else if !grown.is_empty() {
        return Err(format!("more than 2 % above the record: {}", grown.join("; ")).into());
    }
    Ok(())
}

fn main() -> Result<()> {
    let arguments: Vec<_> = env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--run", name, rounds] => run(name, rounds.parse()?),
        ["--write"] => compare(true),
        [] => compare(false),
        _ => Err("expected nothing or --write".into()),
    }
}
