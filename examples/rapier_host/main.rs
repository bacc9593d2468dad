//! Rapier as a host: it integrates, the elements compute the forces, and the reference host is compared with it.
//!
//! ```text
//! cargo run --release -p force-elements-rapier-host --example rapier_host [-- PICTURE.svg]
//! ```
//!
//! A box slides on a slope and is held; two bodies hang on bushings; a cable runs over a drum on a carriage; a tyre lands
//! and rolls; boxes are dropped on a slope and removed at its foot. Prints the energies of both hosts and what became of
//! the bodies, and what substeps of rapier do to a spring.

use std::error::Error;

use force_elements::simulation::SimulationError;
use force_elements::{DynamicsView, StepRule};
use force_elements_examples::picture::{self, Curve, Panel};
use force_elements_examples::{Argument, Arguments, Table, print, println};
use force_elements_rapier_host::scenes::bushings::Bushings;
use force_elements_rapier_host::scenes::cable::Cable;
use force_elements_rapier_host::scenes::shower::{self, Shower};
use force_elements_rapier_host::scenes::slope::Slope;
use force_elements_rapier_host::scenes::spring;
use force_elements_rapier_host::scenes::tyre::Tyre;
use force_elements_rapier_host::{Energies, Sample, Scene, Steps, closing_error};

/// Steps of rapier in one interval between samples, for three step lengths.
const STEPS_PER_SAMPLE: [u32; 3] = [40, 80, 160];
/// The one of which energies and curves are shown.
const SHOWN: usize = 1;
/// How the energy absorbed in a step may be computed, the one that fits rapier last.
const RULES: [StepRule; 3] = [StepRule::LeftEndpoint, StepRule::Trapezoid, StepRule::HeldForces];
/// Time between samples \[s\].
const INTERVAL: f64 = 0.02;
/// Accuracy of the reference host.
const ACCURACY: f64 = 1e-8;

fn steps(per_sample: u32) -> Steps {
    Steps::of(INTERVAL / f64::from(per_sample))
}

/// A scene in both hosts.
struct Pair<R> {
    /// By length of step.
    rapier: [Vec<Sample<R>>; 3],
    reference: Vec<Sample<R>>,
    /// Closing errors by rule, in the steps shown.
    by_rule: [f64; 3],
}

impl<R> Pair<R> {
    fn run(
        scene: &Scene,
        looks: u32,
        read: impl Fn(&DynamicsView<'_, f64>) -> R,
    ) -> Result<Self, SimulationError> {
        let [a, b, c] = STEPS_PER_SAMPLE.map(|count| scene.in_rapier(steps(count), looks, count, &read));
        let count = STEPS_PER_SAMPLE[SHOWN];
        let by_rule = RULES.map(|rule| {
            let samples = scene.in_rapier(Steps { rule, ..steps(count) }, looks, count, |_| ());
            samples.map(|samples| closing_error(&samples))
        });
        let [left, trapezoid, held] = by_rule;
        Ok(Self {
            rapier: [a?, b?, c?],
            reference: scene.in_reference(ACCURACY, looks, INTERVAL, &read)?,
            by_rule: [left?, trapezoid?, held?],
        })
    }

    fn shown(&self) -> &[Sample<R>] {
        &self.rapier[SHOWN]
    }

    /// The largest difference between the hosts.
    fn deviation(&self, difference: impl Fn(&R, &R) -> f64) -> f64 {
        let pairs = self.shown().iter().zip(&self.reference);
        pairs.map(|(a, b)| difference(&a.reading, &b.reading)).fold(0.0, f64::max)
    }

    /// A value of both hosts over time.
    fn curves(&self, value: impl Fn(&R) -> f64) -> Vec<Curve> {
        let points = |samples: &[Sample<R>]| samples.iter().map(|s| (s.time, value(&s.reading))).collect();
        vec![
            Curve::new("reference host", points(&self.reference)),
            Curve::new("rapier", points(self.shown())),
        ]
    }
}

/// The tables to which every scene adds.
struct Report {
    energies: Table<7>,
    closing: Table<5>,
    rules: Table<4>,
    panels: Vec<Panel>,
}

impl Report {
    fn add<R>(&mut self, name: &str, pair: &Pair<R>) {
        let hosts = [("rapier", pair.shown()), ("reference", &pair.reference[..])];
        for (host, samples) in hosts {
            let Sample { time, energies, .. } = &samples[samples.len() - 1];
            let Energies { kinetic, gravitational, stored, dissipated } = energies;
            self.energies.row([
                format!("{name}, {time:.1} s"),
                host.to_string(),
                format!("{kinetic:.4}"),
                format!("{gravitational:.4}"),
                format!("{stored:.4}"),
                format!("{dissipated:.4}"),
                format!("{:.1e}", closing_error(samples)),
            ]);
        }
        let [a, b, c] = [0, 1, 2].map(|i| format!("{:.1e}", closing_error(&pair.rapier[i])));
        self.closing.row([name.to_string(), a, b, c, format!("{:.1e}", closing_error(&pair.reference))]);
        let [a, b, c] = pair.by_rule.map(|off| format!("{off:.1e}"));
        self.rules.row([name.to_string(), a, b, c]);
    }
}

fn slope(report: &mut Report) -> Result<String, SimulationError> {
    let slope = Slope::new()?;
    let pair = Pair::run(&slope.scene, 500, |dynamics| slope.place(dynamics))?;
    report.add("box on a slope", &pair);
    let curves = pair.curves(|place| 1e3 * place.x).into_iter().map(|curve| curve.until(1.0)).collect();
    report.panels.push(Panel::over_time("A pushed box slides and is held", "along the slope [mm]", curves));
    let place = |second: usize| pair.shown()[50 * second].reading;
    Ok(format!(
        "The box slides {:.2} mm in rapier and {:.2} mm in the reference host, and holds: it creeps {:.0} nm from 2 s \
         to 4 s, {:.0} nm from 4 s to 6 s, {:.1} nm from 6 s to 10 s.",
        1e3 * place(10).x,
        1e3 * pair.reference[500].reading.x,
        1e9 * (place(4) - place(2)).norm(),
        1e9 * (place(6) - place(4)).norm(),
        1e9 * (place(10) - place(6)).norm(),
    ))
}

fn bushings(report: &mut Report) -> Result<String, SimulationError> {
    let bushings = Bushings::new()?;
    let pair = Pair::run(&bushings.scene, 150, |dynamics| bushings.place(dynamics))?;
    report.add("two bodies on bushings", &pair);
    let curves = pair.curves(|place| 1e3 * place.x);
    report.panels.push(Panel::over_time("Two bodies hang on bushings", "lower body, along x [mm]", curves));
    let off = pair.deviation(|a, b| (a - b).norm());
    Ok(format!(
        "The lower of the two bodies is never more than {:.2} mm from where the reference host has it.",
        1e3 * off
    ))
}

fn cable(report: &mut Report) -> Result<String, SimulationError> {
    let cable = Cable::new()?;
    let pair = Pair::run(&cable.scene, 200, |dynamics| cable.reading(dynamics))?;
    report.add("cable over a carriage", &pair);
    let curves = pair.curves(|reading| reading.tension);
    report.panels.push(Panel::over_time("A cable runs over a swaying drum", "tension [N]", curves));
    let [a, b] = [pair.shown(), &pair.reference[..]].map(|samples| &samples[samples.len() - 1].reading);
    let lost = |energy: Option<f64>| energy.unwrap_or(f64::NAN);
    Ok(format!(
        "The weight on the cable is never more than {:.2} mm, and its tension never more than {:.2} N, from those in the \
         reference host. The cable has dissipated {:.4} J and the suspension of the carriage {:.4} J, in the reference \
         host {:.4} J and {:.4} J.",
        1e3 * pair.deviation(|a, b| (a.weight - b.weight).norm()),
        pair.deviation(|a, b| (a.tension - b.tension).abs()),
        lost(a.cable_lost),
        lost(a.suspension_lost),
        lost(b.cable_lost),
        lost(b.suspension_lost),
    ))
}

fn tyre(report: &mut Report) -> Result<String, SimulationError> {
    let tyre = Tyre::new()?;
    let pair = Pair::run(&tyre.scene, 150, |dynamics| tyre.reading(dynamics))?;
    report.add("tyre", &pair);
    let mut curves = pair.curves(|reading| reading.speed);
    let rim = pair.shown().iter().map(|s| (s.time, s.reading.rim_speed)).collect();
    curves.push(Curve::new("rapier, rim", rim));
    let curves = curves.into_iter().map(|curve| curve.until(1.0)).collect();
    report.panels.push(Panel::over_time("A tyre lands, skids and rolls", "axle, rim [m/s]", curves));
    let [early, late] = [15, 150].map(|i| &pair.shown()[i].reading);
    Ok(format!(
        "The tyre rolls at {:.4} m/s after 0.3 s ({:.4} without loss in rolling), and from then to 3 s slows down by {:.4} \
         m/s per second; its rim is {:.1e} m/s off the speed of its axle.",
        early.speed,
        Tyre::rolling_speed(early.height),
        (early.speed - late.speed) / 2.7,
        (late.rim_speed - late.speed).abs(),
    ))
}

/// Ten seconds of boxes; the reference host has only one, as every box moves like the first.
fn shower(report: &mut Report) -> Result<String, SimulationError> {
    let (lone, body, X_GP) = shower::lone()?;
    let pair = Pair::run(&lone, 75, |dynamics| (X_GP.inverse() * dynamics.pose(body)).translation.vector)?;
    report.add("one dropped box", &pair);

    let count = STEPS_PER_SAMPLE[SHOWN];
    let mut shower = Shower::new(steps(count));
    let (mut dropped, mut removed, mut off, mut is_alike) = (0, 0, 0.0_f64, true);
    let mut curves: Vec<Curve> = Vec::new();
    for sample in 0..500_u16 {
        if sample % 25 == 0 {
            shower.drop_box()?;
            dropped += 1;
            curves.push(Curve::new("", Vec::new()));
        }
        for (i, present) in shower.boxes.iter().enumerate() {
            let (place, age) =
                (shower.place(present).translation.vector, usize::from(sample) - 25 * (removed + i));
            is_alike &= pair.shown().get(age).is_none_or(|lone| lone.reading == place);
            curves[removed + i].points.push((INTERVAL * f64::from(sample), place.x));
        }
        for _ in 0..count {
            shower.advance()?;
        }
        removed += usize::from(shower.remove_fallen()?);
        off = off.max((shower.energies()?.total() - shower.exchanged).abs());
    }
    report.panels.push(Panel::over_time("Boxes are dropped, and removed", "along the slope [m]", curves));
    Ok(format!(
        "{dropped} boxes were dropped and {removed} removed while it ran; the energies of all add up to {off:.1e} J of {:.0} J \
         dissipated. Each {} a box alone, to the last bit.",
        shower.energies()?.dissipated + shower.carried_off,
        if is_alike { "moves like" } else { "moves otherwise than" },
    ))
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::read_of(
        "force-elements-rapier-host",
        "Rapier integrates, force elements compute the forces: tables beside the reference host, and a picture.",
        [Argument::picture("target/rapier_host.svg")],
    );
    let energies = [
        "scene",
        "host",
        "kinetic [J]",
        "gravitational [J]",
        "stored [J]",
        "dissipated [J]",
        "total off [J]",
    ];
    let [a, b, c] = STEPS_PER_SAMPLE.map(|count| format!("{} ms", 1e3 * steps(count).length));
    let [rule_a, rule_b, rule_c] = RULES.map(|rule| format!("{rule:?}"));
    let mut report = Report {
        energies: Table::new(energies),
        closing: Table::new(["scene", &a, &b, &c, "reference"]),
        rules: Table::new(["scene", &rule_a, &rule_b, &rule_c]),
        panels: Vec::new(),
    };
    let outcomes = [
        slope(&mut report)?,
        bushings(&mut report)?,
        cable(&mut report)?,
        tyre(&mut report)?,
        shower(&mut report)?,
    ];

    println!(
        "Rapier in steps of {b}, the reference host to an accuracy of {ACCURACY:e}\n\n{}",
        report.energies
    );
    println!("The largest change of the total energy [J], by step of rapier\n\n{}", report.closing);
    println!("The same in steps of {b}, by rule\n\n{}", report.rules);
    for outcome in outcomes {
        println!("- {outcome}");
    }

    println!("\nA spring without loss in rapier, in steps h: its gain of energy per step\n");
    let mut table = Table::new(["substeps n", "gain / ω²h²", "(n - 1) / 2n"]);
    let mut curves = Vec::new();
    for (n, name) in [(1, "1 substep"), (2, "2 substeps"), (4, "4 substeps, the default"), (8, "8 substeps")]
    {
        let expected = (f64::from(n) - 1.0) / (2.0 * f64::from(n));
        let n = usize::try_from(n)?;
        table.row([n.to_string(), format!("{:.4}", spring::gain(n)?), format!("{expected:.4}")]);
        curves.push(Curve::new(name, spring::energies(n)?));
    }
    print!("{table}");
    report.panels.push(Panel::over_time("A spring without loss", "energy, relative to the start", curves));

    let path = arguments.path(0);
    picture::draw(path, (2, 3), &report.panels)?;
    println!("\npicture: {}", path.display());
    Ok(())
}
