//! Ten thousand random scenes, two hundred motions and a thousand crossings of rings and hollows: how often is
//! the path found, does it depend on where the search began, and does it keep out of the obstacles?
//!
//! Scenes have one to six waypoints: spheres, cylinders, ellipsoids, tori (with a hint through the
//! hole), domes of splines, a surface known by its implicit function alone, via points. Fails
//! if any two searches in one class disagree without a word, if a straight segment runs through an obstacle
//! that it touches or passes, by formulas that the library does not know, or if more than one scene in a
//! thousand is not solved. Crossings need not be: some would have to leave their map.
//!
//! ```text
//! cargo run --release --example cable_corpus [-- SCENES SEED MOTIONS CROSSINGS]
//! ```
#![allow(non_snake_case, reason = "monogram notation")]

use std::collections::BTreeMap;
use std::process::ExitCode;

use force_elements::Error;
use force_elements::cable::{PathError, Tracking};
use force_elements_examples::{Argument, Arguments, Progress, println};
use force_elements_scenes::cables::{Counts, Dice, SAME_LENGTH, Scene, Verdict, cross, examine};

fn main() -> ExitCode {
    let argument = |name, help, default| Argument { name, help, default };
    let arguments = Arguments::read(
        "Random cables: is the path found, is it the same from elsewhere, does it keep out of the obstacles?",
        [
            argument("SCENES", "how many random scenes", "10000"),
            argument("SEED", "the seed of the first", "0"),
            argument("MOTIONS", "how many motions of a thousand steps", "200"),
            argument("CROSSINGS", "how many crossings of rings and hollows", "1000"),
        ],
    );
    let [scenes, first, motions, crossings] = [0, 1, 2, 3].map(|place| arguments.number(place));
    let progress = Progress::new(scenes + motions + crossings);

    let mut counts = Counts::default();
    let mut verdicts = BTreeMap::<&str, u64>::new();
    for seed in first..first + scenes {
        let verdict = examine(seed, &mut counts);
        let name = match &verdict {
            Verdict::Agreed => "agreed",
            Verdict::Refused(_) => "refused",
            Verdict::Failed(_) => "failed",
            Verdict::Declared => "declared another class",
            Verdict::Disagreed { .. } => "DISAGREED",
            Verdict::Penetrated(_) => "PENETRATED",
        };
        *verdicts.entry(name).or_default() += 1;
        if matches!(verdict, Verdict::Failed(_) | Verdict::Disagreed { .. } | Verdict::Penetrated(_)) {
            progress.aside(|| println!("scene {seed}: {verdict:?}"));
        }
        progress.step();
    }
    progress.aside(|| println!("{scenes} scenes: {verdicts:?}\n  {counts:?}"));
    let count = |name| verdicts.get(name).copied().unwrap_or(0);
    let sound = count("DISAGREED") == 0 && 1000 * count("failed") <= scenes;

    let mut counts = Counts::default();
    let (mut failures, mut refusals, mut disagreements, mut checks) = (0, 0, 0, 0);
    let mut done = 0;
    let mut seed = 1_000_000;
    while done < motions {
        seed += 1;
        match travel(seed, &mut counts, &mut checks, &mut disagreements, &progress) {
            Ok(()) => {
                progress.step();
                done += 1;
            }
            Err(error) if matches!(error.own(), Some(PathError::NotConverged { .. })) => {
                progress.aside(|| println!("motion {seed}: {error}"));
                progress.step();
                failures += 1;
                done += 1;
            }
            Err(_) => refusals += 1,
        }
    }
    progress.aside(|| {
        println!(
            "{motions} motions of 1000 steps ({refusals} scenes refused on the way): {failures} failed, \
         {disagreements} of {checks} checks disagreed\n  {counts:?}"
        );
    });
    let clear = cross_all(crossings, &progress);
    if sound && failures == 0 && disagreements == 0 && clear { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Follows cables across random rings and hollows, where many paths touch an obstacle twice; whether none of those found
/// runs through an obstacle.
fn cross_all(count: u64, progress: &Progress) -> bool {
    let mut outcomes = BTreeMap::<&str, u64>::new();
    let mut slowest = 0.0_f64;
    for seed in 0..count {
        let begin = std::time::Instant::now();
        let outcome = match cross(seed) {
            Ok((_, Some(dive), _)) => {
                progress.aside(|| println!("crossing {seed}: {dive:?}"));
                "PENETRATED"
            }
            Ok((_, None, None)) => "found all along",
            Ok((_, None, Some(PathError::Penetrates { .. }))) => "refused: not found without running through",
            Ok((_, None, Some(PathError::PointInsideObstacle { .. }))) => "refused: an end inside",
            Ok((_, None, Some(PathError::NotConverged { .. }))) => "not found",
            Ok((_, None, Some(_))) | Err(_) => "refused otherwise",
        };
        *outcomes.entry(outcome).or_default() += 1;
        slowest = slowest.max(begin.elapsed().as_secs_f64());
        progress.step();
    }
    progress.aside(|| {
        println!("{count} crossings of 20 steps: {outcomes:?}, the slowest in {:.1} ms", 1e3 * slowest);
    });
    !outcomes.contains_key("PENETRATED")
}

/// A thousand steps, with a search from elsewhere in the same class at every fiftieth.
fn travel(
    seed: u64,
    counts: &mut Counts,
    checks: &mut u64,
    disagreements: &mut u64,
    progress: &Progress,
) -> Result<(), Error> {
    let mut scene = Scene::random(seed)?;
    let mut dice = Dice::new(!seed);
    for step in 0..1000_u32 {
        let time = 0.02 * f64::from(step);
        let (length, _) = scene.solve(time, counts)?;
        scene.accept()?;
        if step % 50 == 49 {
            *checks += 1;
            if let Some(dive) = scene.dive()? {
                *disagreements += 1;
                progress.aside(|| println!("motion {seed}, step {step}: {dive:?}"));
            }
            let (elsewhere, how) = scene.solve_from_elsewhere(time, &mut dice)?;
            if (elsewhere - length).abs() > SAME_LENGTH && how < Tracking::Relaxed {
                *disagreements += 1;
                progress.aside(|| println!("motion {seed}, step {step}: {:e}", elsewhere - length));
            }
        }
    }
    Ok(())
}
