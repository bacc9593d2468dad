//! A capsule pinched between two plates, and a block on a plane that tilts: what each friction law holds, where it lets
//! go, and how it creeps.
//!
//! ```text
//! cargo run --release --example pinch [-- PICTURE.svg]
//! ```

use std::error::Error;
use std::process::ExitCode;

use force_elements_examples::picture::{self, Curve, Panel};
use force_elements_examples::{Argument, Arguments, Progress, Table, print, println};
use force_elements_scenes::pinch::{CUBE, Friction, MU_STATIC, Pinch, SLAB, Sample, Tilt, creep_after};

/// How long a load is held, and from when creep is measured \[s\].
const HELD: f64 = 30.0;
const MEASURED: f64 = 20.0;
/// Of the capsule at the start \[m/s\].
const FALLING: f64 = 0.1;
/// At which creep is measured, and how fast the plane turns from the level \[°, °/s\].
const SLOPE: f64 = 25.0;
const RATE: f64 = 1.0;
/// More than creeps, and soon reached by what slides \[m/s\].
const AWAY: f64 = 0.1;
/// More than what holds jitters by in adaptive steps \[m/s\].
const NOTHING: f64 = 1e-8;

/// All runs with one friction.
struct Runs {
    friction: Friction,
    pinched: Vec<Sample>,
    caught: Vec<Sample>,
    sloping: Vec<Sample>,
    tilting: Vec<Sample>,
    /// Of a slab in place of a cube.
    slab: Vec<Sample>,
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments = Arguments::read(
        "A pinched capsule and a block on a tilting plane, with each friction: two tables, and a picture.",
        [Argument::picture("target/pinch.svg")],
    );
    println!("{INTRODUCTION}");
    let progress = Progress::new(5 * Friction::ALL.len() as u64);
    let stepped = |samples| {
        progress.step();
        samples
    };
    let mut all = Vec::new();
    for friction in Friction::ALL {
        let pinch = Pinch::new(friction)?;
        let (cube, slab) = (Tilt::new(friction, CUBE)?, Tilt::new(friction, SLAB)?);
        let tilted =
            |block: &Tilt| block.run(0.0, RATE.to_radians(), 45.0 / RATE, |sample| sample.speed > AWAY);
        all.push(Runs {
            friction,
            pinched: stepped(pinch.run(0.0, HELD)?),
            caught: stepped(pinch.run(FALLING, HELD)?),
            sloping: stepped(cube.run(SLOPE.to_radians(), 0.0, HELD, |_| false)?),
            tilting: stepped(tilted(&cube)?),
            slab: stepped(tilted(&slab)?),
        });
    }
    drop(progress);
    print_pinch(&all);
    print_tilt(&all);
    let holds = all.iter().filter(|runs| runs.friction.holds()).all(|runs| {
        let creeps =
            [&runs.pinched, &runs.caught, &runs.sloping].map(|samples| creep_after(samples, MEASURED));
        let [cube, slab] = [&runs.tilting, &runs.slab]
            .map(|samples| samples.last().map_or(f64::NAN, |last| last.time * RATE));
        let expected = MU_STATIC.atan().to_degrees();
        creeps.iter().all(|creep| creep.abs() < NOTHING)
            && (cube - expected).abs() < 0.5
            && (slab - expected).abs() < 0.5
    });
    println!(
        "\nReturn mapping and anchors hold the load, and the blocks slide within half a degree of {:.2}°: {}.",
        MU_STATIC.atan().to_degrees(),
        if holds { "pass" } else { "FAIL" }
    );
    let path = arguments.path(0);
    picture::draw(path, (1, 2), &panels(&all))?;
    println!("\npicture: {}", path.display());
    Ok(if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

const INTRODUCTION: &str = "\
# A pinched capsule, and a tilting plane

Static friction is 0.7, kinetic friction 0.5. The other parameters of the exponential springs, except the transition, are the
defaults. The foundation has clipped faces and a transition velocity of 10 mm/s. If it has anchors, it is as stiff along the
surface as across it, with 0.3 of critical damping. The integrator is Dormand–Prince of order 5 with accuracy 1e-7.

## The capsule

A capsule of 0.4 kg, 0.06 m thick and 0.16 m long, lies between two fixed upright plates. Each plate presses with 5.6 N, so
that static friction could hold twice the weight. The contact is either exponential springs at the ends of the straight part,
on both sides, or a mesh of 7488 faces. *From rest*: the capsule starts where it is held, with anchors in place and, for
exponential springs, Sliding 0. *Falling*: it starts at 0.1 m/s, with Sliding 1.";

fn print_pinch(all: &[Runs]) {
    let mut table = Table::new([
        "friction",
        "from rest: creep, µm/s",
        "fallen in 30 s, mm",
        "falling: creep, µm/s",
        "fallen in 30 s, mm",
    ]);
    for Runs { friction, pinched, caught, .. } in all {
        let [a, b] = [pinched, caught].map(|samples| {
            [
                micro(creep_after(samples, MEASURED)),
                milli(samples.last().map_or(f64::NAN, |sample| sample.moved)),
            ]
        });
        let [[a, b], [c, d]] = [a, b];
        table.row([friction.name().into(), a, b, c, d]);
    }
    println!("\nCreep: the mean speed from 20 s to 30 s.\n");
    print!("{table}");
}

fn print_tilt(all: &[Runs]) {
    println!(
        "
## The plane

A cube of 10 kg, 0.2 m wide, is on a plane. The contact is either exponential springs at its four lower corners or a mesh of
192 faces. At 25° the load is two thirds of what static friction can hold, and 93 % of what kinetic friction can hold. In a
second run the plane tilts from level at 1° a second. By Coulomb's law the block slides at {:.2}°, and so does a slab of the
same width that is 0.02 m high. Their rear corners carry less and slip first. Slip of exponential springs up to the release
velocity, 0.2 mm/s, counts as static friction.
",
        MU_STATIC.atan().to_degrees()
    );
    let mut table = Table::new([
        "friction",
        "creep at 25°, µm/s",
        "moved by 0.1 mm at, °",
        "by 1 mm at, °",
        "slides at, °",
        "a slab at, °",
    ]);
    for Runs { friction, sloping, tilting, slab, .. } in all {
        let start = tilting.first().map_or(0.0, |sample| sample.moved);
        let moved_by = |far: f64| degrees(tilting.iter().find(|sample| sample.moved - start > far));
        let [slides, slab] =
            [tilting, slab].map(|samples| degrees(samples.iter().find(|sample| sample.speed > AWAY)));
        let creep = creep_after(sloping, MEASURED);
        let creep = if creep > AWAY { "away".into() } else { micro(creep) };
        table.row([friction.name().into(), creep, moved_by(1e-4), moved_by(1e-3), slides, slab]);
    }
    print!("{table}");
    println!("\n*Slides*: the speed exceeds 0.1 m/s.");
}

fn panels(all: &[Runs]) -> Vec<Panel> {
    let curves = |points: &dyn Fn(&Runs) -> Vec<(f64, f64)>| {
        let curve = |(i, runs): (usize, &Runs)| Curve {
            is_beneath: i == 0,
            ..Curve::new(runs.friction.name(), points(runs))
        };
        all.iter().enumerate().map(curve).collect()
    };
    let capsule = |runs: &Runs| {
        let shown = runs.caught.iter().take_while(|sample| sample.time <= 5.0);
        shown.map(|sample| (sample.time, 1e3 * sample.moved)).filter(|point| point.1 < 40.0).collect()
    };
    let block = |runs: &Runs| {
        let start = runs.tilting.first().map_or(0.0, |sample| sample.moved);
        let shown = runs.tilting.iter().map(|sample| (sample.time * RATE, 1e3 * (sample.moved - start)));
        shown.collect()
    };
    vec![
        Panel::over_time("A pinched capsule is caught as it falls", "fallen [mm]", curves(&capsule)),
        Panel::new(
            "A block on a plane that tilts: the first 5 mm",
            "slope [°]",
            "moved [mm]",
            curves(&block),
        )
        .up_to(5.0),
    ]
}

fn degrees(sample: Option<&Sample>) -> String {
    sample.map_or_else(|| "–".into(), |sample| format!("{:.2}", sample.time * RATE))
}

/// In millionths.
fn micro(value: f64) -> String {
    format!("{:.3}", value.abs() * 1e6)
}

/// In thousandths.
fn milli(value: f64) -> String {
    format!("{:.3}", value * 1e3)
}
