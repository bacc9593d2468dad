//! A body between two bushings is spun through every attitude: the law of the rotation vector keeps its energy, that of
//! gimbal angles refuses their singularity.
//!
//! ```text
//! cargo run --release --example spinning_bushing [-- PICTURE.svg]
//! ```

use std::error::Error;
use std::process::ExitCode;

use force_elements::Refusal;
use force_elements::simulation::SimulationError;
use force_elements_examples::picture::{self, Curve, Panel};
use force_elements_examples::{Argument, Arguments, Progress, Table, print, println};
use force_elements_scenes::spinning::{ENERGY, Law, Run, Sample, direction, launch, visited};

const LAUNCHES: u32 = 48;
/// Attitudes that are to be visited, and how nearly \[rad\].
const ATTITUDES: (u32, f64) = (2000, 15.0 * core::f64::consts::PI / 180.0);
const ACCURACIES: [f64; 3] = [1e-6, 1e-8, 1e-10];
/// The launch of the picture.
const SHOWN: u32 = 20;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments = Arguments::read(
        "A body between two bushings is spun through every attitude, with each law: a table, and a picture.",
        [Argument::picture("target/spinning_bushing.svg")],
    );
    println!("{INTRODUCTION}");
    let cases = ACCURACIES.map(|accuracy| (Law::Spatial, accuracy)).into_iter();
    let cases: Vec<_> = cases.chain([(Law::Gimbal, ACCURACIES[1])]).collect();
    let progress = Progress::new(cases.len() as u64 * u64::from(LAUNCHES));
    let mut table = Table::new([
        "law",
        "accuracy",
        "to the end",
        "refused",
        "first refused at, s",
        "furthest turn, °",
        "attitudes visited",
        "steps",
        "energy off, J",
    ]);
    let mut keeps = true;
    let mut shown = Vec::new();
    for (law, accuracy) in cases {
        let runs: Vec<Run> = (0..LAUNCHES)
            .map(|i| {
                progress.step();
                launch(law, direction(i, LAUNCHES), accuracy)
            })
            .collect::<Result<_, SimulationError>>()?;
        let summary = Summary::of(&runs);
        table.row(summary.row(law, accuracy));
        if law == Law::Spatial {
            // Thousands of steps, each of the accuracy.
            keeps &= summary.finished == LAUNCHES as usize && summary.energy_error < 1e3 * accuracy * ENERGY;
        }
        if accuracy == ACCURACIES[1] {
            shown.push(runs.into_iter().nth(SHOWN as usize));
        }
    }
    drop(progress);
    print!("\n{table}");
    println!("{NOTES}");
    println!(
        "The rotation vector keeps the energy and refuses no attitude: {}.",
        if keeps { "pass" } else { "FAIL" }
    );
    if let [Some(spatial), Some(gimbal)] = &shown[..] {
        let path = arguments.path(0);
        picture::draw(path, (2, 2), &panels(spatial, gimbal))?;
        println!("\npicture: {}", path.display());
    }
    Ok(if keeps { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

const INTRODUCTION: &str = "\
# A body spun through every attitude

A body of 1 kg with moments of inertia 0.08, 0.11 and 0.14 kg·m² hangs between two undamped bushings, 0.1 m to either side
of its middle, without gravity. Their stiffness is 0.4, 0.45 and 0.5 N·m/rad, and 20 N/m. The body is launched with a spin of
10 J about each of 48 axes, which are spread over all directions. It tumbles for 30 s. The integrator is Dormand–Prince of
order 5.

*Attitudes visited*: of 2000 attitudes spread evenly over all, the share that has been approached within 15° at an accepted
step of some launch. *Energy off*: the largest deviation of the sum of kinetic and stored energy from 10 J, over all launches
and accepted steps.";

const NOTES: &str = "
The error of the energy follows the accuracy of the steps. Gimbal angles are refused within 0.46° of a middle angle of ±90°.
The launches that reach the end have not come this close.
";

struct Summary {
    finished: usize,
    refused: usize,
    first_refusal: f64,
    furthest_turn: f64,
    visited: f64,
    steps: usize,
    energy_error: f64,
}

impl Summary {
    fn of(runs: &[Run]) -> Self {
        let refused: Vec<&Run> = runs.iter().filter(|run| run.end.as_ref().is_err_and(is_refusal)).collect();
        let samples: Vec<&Sample> = runs.iter().flat_map(|run| &run.samples).collect();
        Self {
            finished: runs.iter().filter(|run| run.end.is_ok()).count(),
            refused: refused.len(),
            first_refusal: refused.iter().map(|run| run.last_time()).fold(f64::INFINITY, f64::min),
            furthest_turn: runs.iter().map(Run::furthest_turn).fold(0.0, f64::max),
            visited: visited(&samples, ATTITUDES.0, ATTITUDES.1),
            steps: samples.len() - runs.len(),
            energy_error: runs.iter().map(Run::energy_error).fold(0.0, f64::max),
        }
    }

    fn row(&self, law: Law, accuracy: f64) -> [String; 9] {
        [
            law.name().into(),
            format!("{accuracy:.0e}"),
            self.finished.to_string(),
            self.refused.to_string(),
            if self.refused > 0 { format!("{:.2}", self.first_refusal) } else { "–".into() },
            format!("{:.0}", self.furthest_turn.to_degrees()),
            format!("{:.1} %", 100.0 * self.visited),
            self.steps.to_string(),
            format!("{:.1e}", self.energy_error),
        ]
    }
}

/// Whether a bushing refused the attitude or the step that led there.
fn is_refusal(error: &SimulationError) -> bool {
    error.forces().is_some_and(|error| error.own::<Refusal>().is_some())
}

/// One launch by both laws.
fn panels(spatial: &Run, gimbal: &Run) -> Vec<Panel> {
    let curve = |name, run: &Run, value: &dyn Fn(&Sample) -> f64| {
        let shown = run.samples.iter().take_while(|sample| sample.time <= 4.0);
        Curve::new(name, shown.map(|sample| (sample.time, value(sample))).collect())
    };
    let both = |value: &dyn Fn(&Sample) -> f64| {
        let spatial = Curve { is_beneath: true, ..curve("rotation vector", spatial, value) };
        vec![spatial, curve("gimbal angles, until refused", gimbal, value)]
    };
    let start = spatial.samples[0].energy();
    vec![
        Panel::over_time("The turn goes past half a turn and back", "angle of the turn [°]", {
            both(&|sample| sample.turn.to_degrees())
        }),
        Panel::over_time("Gimbal angles are singular at 90°", "middle gimbal angle [°]", {
            both(&|sample| sample.middle_angle().to_degrees())
        }),
        Panel::over_time(
            "Energies with the rotation vector",
            "energy [J]",
            vec![
                Curve { is_beneath: true, ..curve("total", spatial, &Sample::energy) },
                curve("kinetic", spatial, &|sample| sample.kinetic),
                curve("stored", spatial, &|sample| sample.stored),
            ],
        )
        .after_colors(1),
        Panel::over_time(
            "Error of that total",
            "total − 10 J [nJ]",
            vec![curve("", spatial, &|sample| 1e9 * (sample.energy() - start))],
        )
        .after_colors(3),
    ]
}
