//! A block thrown such that it stops at a mark: an optimization with gradients of rollouts of 1000 steps, through stick
//! and slip.
//!
//! Prints the gradient by the adjoint of the steps and by differences of whole rollouts, the optimization, and the cost
//! of the adjoint.
//!
//! ```text
//! cargo run --release --example throw [-- PICTURE.svg [RECORDING.glb]]
//! ```

use std::error::Error;
use std::process::ExitCode;
use std::time::Instant;

use force_elements::exponential_spring::Parameters;
use force_elements::nalgebra::{Matrix3, Vector3};
use force_elements::{Branch, Checkpoint, Pose};
use force_elements_examples::picture::{self, Curve, Panel};
use force_elements_examples::{Argument, Arguments, Table, differences, print, println};
use force_elements_scenes::rollout::Derivatives;
use force_elements_scenes::throw::{Gradient, HALF_SIDE, MASS, Throw, Velocity};

mod recording;

use recording::{Recording, Still};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const STEPS: usize = 1000;
/// Of the gradient, and at which the search begins: along x and y \[m/s\], and about z \[rad/s\].
const THROWN: Velocity<f64> = [1.6, 0.2, 1.0];
/// Where the block is to stop: along x and y \[m\], and its heading \[rad\].
const MARK: [f64; 3] = [0.45, 0.15, 0.7];
/// Of the gradient, against differences.
const TOLERANCE: f64 = 1e-6;
/// Of anchors \[m\].
const ROUNDOFF: f64 = 1e-14;
/// Of the search \[m, rad\].
const MISS: f64 = 1e-12;

/// What is thrown, and how.
#[derive(Clone, Copy)]
struct Setup {
    velocity: Velocity<f64>,
    mass: f64,
    parameters: Parameters<f64>,
}

/// A number of a setup.
struct Input {
    /// A parameter of all corners has its own name.
    name: &'static str,
    unit: &'static str,
    of: fn(&mut Setup) -> &mut f64,
}

const INPUTS: [Input; 9] = [
    Input { name: "velocity along x", unit: "m/s", of: |setup| &mut setup.velocity[0] },
    Input { name: "velocity along y", unit: "m/s", of: |setup| &mut setup.velocity[1] },
    Input { name: "velocity about z", unit: "rad/s", of: |setup| &mut setup.velocity[2] },
    Input { name: "mass", unit: "kg", of: |setup| &mut setup.mass },
    Input { name: "mu_kinetic", unit: "1", of: |setup| &mut setup.parameters.mu_kinetic },
    Input { name: "friction_elasticity", unit: "N/m", of: |setup| &mut setup.parameters.friction_elasticity },
    Input {
        name: "friction_viscosity", unit: "N·s/m", of: |setup| &mut setup.parameters.friction_viscosity
    },
    Input { name: "normal_viscosity", unit: "s/m", of: |setup| &mut setup.parameters.normal_viscosity },
    Input { name: "d2", unit: "1/m", of: |setup| &mut setup.parameters.d2 },
];

/// The derivatives by the velocity with which a block is thrown.
fn by_velocity(gradient: &Gradient, throw: &Throw<f64>) -> Velocity<f64> {
    let by = gradient.by_start.velocity.body(throw.host.cubes[0].body);
    [by.linear.x, by.linear.y, by.angular.z]
}

/// The derivative by an input.
fn derivative(gradient: &Gradient, throw: &Throw<f64>, input: &Input) -> Result<f64> {
    let [x, y, about_z] = by_velocity(gradient, throw);
    Ok(match input.name {
        "velocity along x" => x,
        "velocity along y" => y,
        "velocity about z" => about_z,
        "mass" => gradient.by_mass,
        parameter => {
            let mut sum = 0.0;
            for &corner in &throw.corners {
                let name = format!("{}.{parameter}", corner.id());
                sum += gradient.by_start.variables.number(&throw.state, &name)?;
            }
            sum
        }
    })
}

/// The branches of one corner in one step: whether it slips, its damper alone is at the limit, its anchor is dragged along, its
/// friction is kinetic from then on, and its anchor lets go.
type Branches = [bool; 5];

/// A block after all steps.
struct Rollout {
    throw: Throw<f64>,
    branches: Vec<Branches>,
    samples: Vec<Sample>,
}

struct Sample {
    time: f64,
    place: [f64; 3],
    speed: f64,
    slipping: f64,
}

/// Runs all steps, and keeps the states from which they start.
fn run(setup: &Setup, starts: &mut Vec<Checkpoint<f64>>) -> Result<Rollout> {
    let mut throw = Throw::new(setup.velocity, setup.mass, setup.parameters)?;
    let (mut branches, mut samples) = (Vec::new(), Vec::new());
    for step in 0..STEPS {
        match starts.get_mut(step) {
            Some(start) => throw.state.save_to(start),
            None => starts.push(throw.state.checkpoint()),
        }
        let dynamics = throw.system.realize_dynamics(&mut throw.state)?;
        branches.extend(throw.corners.iter().map(|&corner| {
            let at = dynamics.of(corner);
            let (law, dragged) = (at.dynamics, at.dynamics.next_anchor_P - at.discrete.anchor_P);
            let pull = at.velocity.v_PS.xy().norm() * at.parameters.friction_viscosity;
            [
                law.limit_reached,
                pull > law.friction_force_limit,
                dragged.norm() > ROUNDOFF,
                law.next_sliding > 0.0,
                law.switching_error > 0.0,
            ]
        }));
        let of_step = &branches[4 * step..];
        samples.push(Sample {
            time: throw.state.time(),
            place: throw.place(),
            speed: throw.state.velocities().velocity(throw.host.cubes[0].body).linear.xy().norm(),
            slipping: of_step.iter().map(|branches| f64::from(u8::from(branches[0]))).sum(),
        });
        throw.advance()?;
    }
    Ok(Rollout { throw, branches, samples })
}

/// The least of all margins of the branches with one name.
struct Margin {
    branch: Branch<f64>,
    time: f64,
}

/// Points of a curve.
type Points = Vec<(f64, f64)>;

/// Prints the gradient of a rollout both ways; returns whether they agree, and the derivatives by the velocity along x at all
/// times.
fn check_gradient(setup: &Setup, base: &Rollout) -> Result<(bool, Points)> {
    let mut starts = Vec::new();
    let mut throw = run(setup, &mut starts)?.throw;
    let mut gradients = throw.gradients_of_place();
    let mut derivatives = Derivatives::new(&throw.state);
    let (mut margins, mut pushes): (Vec<Margin>, Points) = (Vec::new(), Vec::new());
    let (corners, body) = (throw.corners.clone(), throw.host.cubes[0].body);
    throw.pull_back(&starts, &mut derivatives, &mut gradients, |step, gradients, derivatives| {
        let time = base.samples[step].time;
        pushes.push((time, gradients[0].by_start.velocity.body(body).linear.x));
        for branch in corners.iter().flat_map(|&corner| derivatives.linearization.element(corner).branches())
        {
            let (branch, known) =
                (*branch, margins.iter_mut().find(|known| known.branch.name == branch.name));
            match known {
                None => margins.push(Margin { branch, time }),
                Some(known) if branch.margin < known.branch.margin => *known = Margin { branch, time },
                Some(_) => {}
            }
        }
    })?;
    let mut table = Table::new([
        "of the final x, m, by",
        "in",
        "adjoint",
        "differences",
        "moved by",
        "off, of all three",
    ]);
    let mut agrees = true;
    for input in &INPUTS {
        let mut moved = *setup;
        let (expected, relative) = differences(*(input.of)(&mut moved), |number| {
            *(input.of)(&mut moved) = number;
            let Rollout { throw, branches, .. } = run(&moved, &mut starts)?;
            Result::Ok((branches == base.branches).then(|| throw.place().to_vec()))
        })?
        .ok_or_else(|| format!("a step changes its branch with the {}", input.name))?;
        let mut exact = [0.0; 3];
        for (exact, gradient) in exact.iter_mut().zip(&gradients) {
            *exact = derivative(gradient, &throw, input)?;
        }
        let [exact_size, off] =
            [exact, [0, 1, 2].map(|i| exact[i] - expected[i])].map(|v| Vector3::from(v).norm());
        let off = off / exact_size;
        agrees &= off < TOLERANCE;
        table.row([
            input.name.into(),
            input.unit.into(),
            format!("{:.9e}", exact[0]),
            format!("{:.9e}", expected[0]),
            format!("{relative:.0e}"),
            format!("{off:.1e}"),
        ]);
    }
    print!("\n{table}");
    println!("\nThe least margin of each branch, over all corners and steps:\n");
    let mut table = Table::new(["branch", "least margin", "at, s"]);
    for Margin { branch, time } in &margins {
        let margin = format!("{:.1e} {}", branch.margin, branch.unit);
        table.row([branch.name.into(), margin, format!("{time:.3}")]);
    }
    print!("{table}");
    pushes.reverse();
    Ok((agrees, pushes))
}

/// Newton's method for the throw that stops at the mark; returns the paths of all throws, and whether the last one hits.
fn search(mut setup: Setup) -> Result<(bool, Vec<Points>)> {
    let mut table =
        Table::new(["throw", "vx, m/s", "vy, m/s", "wz, rad/s", "x, m", "y, m", "heading, °", "miss"]);
    let (mut starts, mut paths, mut hits) = (Vec::new(), Vec::new(), false);
    for throws in 1..=8 {
        let Rollout { mut throw, samples, .. } = run(&setup, &mut starts)?;
        paths.push(samples.iter().map(|sample| (sample.place[0], sample.place[1])).collect());
        let place = throw.place();
        let miss = Vector3::from(place) - Vector3::from(MARK);
        let [vx, vy, wz] = setup.velocity.map(|number| format!("{number:.6}"));
        let [x, y] = [0, 1].map(|i| format!("{:.6}", place[i]));
        let heading = format!("{:.4}", place[2].to_degrees());
        table.row([throws.to_string(), vx, vy, wz, x, y, heading, format!("{:.1e}", miss.norm())]);
        hits = miss.norm() < MISS;
        if hits {
            break;
        }
        let mut gradients = throw.gradients_of_place();
        let mut derivatives = Derivatives::new(&throw.state);
        throw.pull_back(&starts, &mut derivatives, &mut gradients, |_, _, _| {})?;
        let rows = gradients.map(|gradient| Vector3::from(by_velocity(&gradient, &throw)).transpose());
        let correction = Matrix3::from_rows(&rows).lu().solve(&miss).ok_or("the throw does not matter")?;
        setup.velocity = (Vector3::from(setup.velocity) - correction).into();
    }
    print!("\n{table}");
    Ok((hits, paths))
}

/// Prints what the adjoint takes, in the time of a rollout.
fn time_adjoint(setup: &Setup) -> Result<()> {
    let mut starts = Vec::new();
    let mut least = [f64::INFINITY; 4];
    for _ in 0..10 {
        let mut throw = run(setup, &mut starts)?.throw;
        let mut derivatives = Derivatives::new(&throw.state);
        let gradients = throw.gradients_of_place();
        let mut measure = |which: usize, work: &mut dyn FnMut() -> Result<()>| {
            let start = Instant::now();
            work()?;
            least[which] = least[which].min(start.elapsed().as_secs_f64());
            Result::Ok(())
        };
        for count in [1, 3] {
            let gradients = &gradients[..count];
            measure(count, &mut || {
                Ok(throw.pull_back(&starts, &mut derivatives, &mut gradients.to_vec(), |_, _, _| {})?)
            })?;
        }
        throw.state.return_to(&starts[0])?;
        measure(0, &mut || (0..STEPS).try_for_each(|_| Ok(throw.advance()?)))?;
    }
    println!(
        "\nThe adjoint takes {:.1} times as long as the rollout for one number of the final place, and {:.1} times for three. \
         Central differences with respect to {} inputs take {} rollouts.",
        least[1] / least[0],
        least[3] / least[0],
        INPUTS.len(),
        2 * INPUTS.len(),
    );
    Ok(())
}

fn panels(rollout: &Rollout, pushes: Points, mut paths: Vec<Points>) -> Vec<Panel> {
    let over_time = |value: &dyn Fn(&Sample) -> f64| {
        rollout.samples.iter().map(|sample| (sample.time, value(sample))).collect::<Vec<_>>()
    };
    let [x, y, _] = MARK;
    let cross = [(-1.0, -1.0), (1.0, 1.0), (0.0, 0.0), (-1.0, 1.0), (1.0, -1.0)];
    let cross = cross.map(|(a, b)| (x + 0.008 * a, y + 0.008 * b)).to_vec();
    let mut curves = vec![Curve::beneath("the last throw", paths.pop().unwrap_or_default())];
    curves.extend(
        ["the first", "the second"].into_iter().zip(paths).map(|(name, path)| Curve::new(name, path)),
    );
    curves.push(Curve::new("the mark", cross));
    vec![
        Panel::new("Throws towards a mark", "x [m]", "y [m]", curves),
        Panel::over_time("The first slows down and sticks", "speed [m/s]", {
            vec![Curve::new("", over_time(&|sample| sample.speed))]
        }),
        Panel::over_time("Its corners stick", "corners that slip", {
            vec![Curve::new("", over_time(&|sample| sample.slipping))]
        })
        .counted(),
        Panel::over_time("How far a push takes the block", "∂x(end)/∂vx(t) [m/(m/s)]", {
            vec![Curve::new("", pushes)]
        }),
    ]
}

fn main() -> Result<ExitCode> {
    let arguments = Arguments::read(
        "The throw of a block that stops at a mark, by gradients of rollouts: three tables, and a picture.",
        [
            Argument::picture("target/throw.svg"),
            Argument {
                name: "RECORDING.glb",
                help: "where it is recorded as glTF, if anywhere",
                default: "",
            },
        ],
    );
    println!("{INTRODUCTION}");
    // Damped enough along the normal to be at rest at the end.
    let parameters = Parameters { normal_viscosity: 2.0, ..Parameters::default() };
    let setup = Setup { velocity: THROWN, mass: MASS, parameters };
    println!("\n## The gradient");
    let rollout = run(&setup, &mut Vec::new())?;
    let (agrees, pushes) = check_gradient(&setup, &rollout)?;
    println!("\nThe adjoint agrees with differences to 1e-6: {}.", verdict(agrees));
    println!("\n## The search");
    let (hits, paths) = search(setup)?;
    println!("\nThe block stops within 1e-12 m and rad of the mark: {}.", verdict(hits));
    time_adjoint(&setup)?;
    let path = arguments.path(0);
    picture::draw(path, (2, 2), &panels(&rollout, pushes, paths))?;
    println!("\npicture: {}", path.display());
    let recorded = arguments.path(1);
    if !recorded.as_os_str().is_empty() {
        println!("recording: {}, {} bytes", recorded.display(), record(&setup, recorded)?);
    }
    Ok(if agrees && hits { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Records the throw, every twentieth step.
fn record(setup: &Setup, path: &std::path::Path) -> Result<usize> {
    let mut throw = Throw::new(setup.velocity, setup.mass, setup.parameters)?;
    let mut recording = Recording::new(0.003);
    recording.add_box(throw.host.cubes[0].body, [HALF_SIDE; 3]);
    recording.add_still(Still::Box, &Pose::translation(0.3, 0.0, -0.01), [0.6, 0.4, 0.01]);
    for step in 0..=STEPS {
        if step % 20 == 0 {
            recording.expose(&throw.system.realize_dynamics(&mut throw.state)?);
        }
        throw.advance()?;
    }
    recording.write(path)
}

fn verdict(holds: bool) -> &'static str {
    if holds { "pass" } else { "FAIL" }
}

const INTRODUCTION: &str = "\
# A throw at a mark

A cube of 10 kg, 0.2 m wide, has four exponential springs with default parameters except for a normal viscosity of 2 s/m. It
is thrown along a plane at 1.6 m/s and 0.2 m/s, turning at 1 rad/s. It slides, slows down and sticks. The rollout has 1000
steps of 1 ms by the semi-implicit Euler method.

*Adjoint*: each step is linearized from its checkpoint, from the last to the first, with respect to motion, parameters and
memory. The gradients of the final place along x, along y and of the heading are propagated back together. *Differences*:
central differences of whole rollouts, extrapolated from two displacements. *Moved by* is the larger of these, relative to the
input. It is the largest of a list at which no step of any corner takes another branch than in the rollout itself. If one
does, the final place is not smooth, and differences are not derivatives. *Off*: the distance of all three derivatives
from the differences, relative to their norm.";
