//! Measured tosses of a cube: contact fitted to some of them by the Gauss–Newton method, and judged on others.
//!
//! Prints the scale of the cameras, the fitted parameters, the errors compared with MuJoCo's, and the error that a
//! perfect model would have.
//!
//! ```text
//! cargo run --release --example tosses [-- TOSSES.json PICTURE.svg]
//! ```

use std::array::from_fn;
use std::error::Error;
use std::process::ExitCode;
use std::thread;

use force_elements::SpatialVelocity;
use force_elements::nalgebra::{Rotation3, SMatrix, SVector, Vector3};
use force_elements_examples::picture::{self, Curve, Panel};
use force_elements_examples::{Argument, Arguments, Progress, Table, print, println};
use force_elements_scenes::rollout::GRAVITY;
use force_elements_scenes::tosses::{
    COUNT, Contact, Model, Prediction, Recording, Start, Toss, error, fall, time,
};

type Result<T> = std::result::Result<T, Box<dyn Error>>;
type Numbers = SVector<f64, COUNT>;

/// The tosses that parameters are fitted to; those after them are judged.
const FITTED: usize = 60;

/// The last is the height of the board, which may be negative; it is sought in millimetres, the others by their logarithms.
const HEIGHT: usize = COUNT - 1;

/// First guesses: friction of smooth plastics, impacts of a millisecond that give little back, a hollow cube with thin walls,
/// 5/3, and the board half a millimetre below where the cameras say.
const GUESSES: [(Contact, [f64; COUNT]); 2] = [
    (Contact::Springs, [0.2, 4.0, 2000.0, 30_000.0, 40.0, 1.67, -5e-4]),
    (Contact::Foundation, [0.2, 2.5, 7e7, 2e7, 3e4, 1.67, -5e-4]),
];

const ITERATIONS: usize = 7;

/// The longest step of a parameter: what tosses hardly depend on must not run away.
const LONGEST: f64 = 0.4;

/// Below these errors samples are fitted by squares rather than by magnitude: in sides, and in degrees.
const SMALL: [f64; 2] = [0.02, 2.0];

/// Where a predicted sample moves by so many sides or right angles as a parameter changes e-fold, its slope says little: it
/// counts half, and a tenth at three times that.
const CHAOTIC: f64 = 4.0;

/// Mean and median errors of MuJoCo 4.0 on the same tosses, fitted to the same: position in percent of a side and angle in
/// degrees. See `tests/golden/tosses/README.md`.
const MUJOCO: [[f64; 4]; 2] = [[11.8, 17.3, 10.4, 10.1], [13.4, 18.8, 12.1, 10.1]];
/// By how much less the error has to be.
const LESS: f64 = 0.9;

/// How far poses in free flight are from it, the root mean square of the distance: \[m\] and in degrees.
const SCATTER: [f64; 2] = [8e-5, 0.02];

const MEDIAN: usize = 2;

/// From which motion predictions start.
#[derive(Clone, Copy)]
enum From {
    FreeFlight,
    FirstPose,
}

impl From {
    const BOTH: [Self; 2] = [Self::FreeFlight, Self::FirstPose];

    fn name(self) -> &'static str {
        match self {
            Self::FreeFlight => "free flight",
            Self::FirstPose => "first pose",
        }
    }

    fn start(self, toss: &Toss, model: &Model) -> Start {
        match self {
            Self::FreeFlight => toss.free_flight(toss.flight(model.side), model.fall()),
            Self::FirstPose => toss.first_pose(),
        }
    }
}

/// Does something with each of many, on all cores.
fn for_each<C: Sync, R: Send>(
    cases: &[C],
    of: impl Fn(&C) -> std::result::Result<R, force_elements::Error> + Sync,
) -> Result<Vec<R>> {
    let threads = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let mut results: Vec<Option<std::result::Result<R, force_elements::Error>>> =
        cases.iter().map(|_| None).collect();
    thread::scope(|scope| {
        let mut shares: Vec<Vec<_>> = (0..threads).map(|_| Vec::new()).collect();
        for (i, work) in cases.iter().zip(&mut results).enumerate() {
            shares[i % threads].push(work);
        }
        for share in shares {
            scope.spawn(|| share.into_iter().for_each(|(case, result)| *result = Some(of(case))));
        }
    });
    Ok(results.into_iter().flatten().collect::<std::result::Result<_, _>>()?)
}

/// The mean errors of a toss: in sides, and in degrees.
fn errors(predicted: &Prediction, measured: &Toss, side: f64) -> [f64; 2] {
    let mut sums = [0.0; 2];
    for (predicted, measured) in predicted.poses.iter().zip(&measured.poses) {
        let off = error(predicted, measured);
        sums[0] += off.linear.norm() / side;
        sums[1] += off.angular.norm().to_degrees();
    }
    #[expect(clippy::cast_precision_loss, reason = "hundreds")]
    let count = predicted.poses.len() as f64;
    sums.map(|sum| sum / count)
}

/// What a fit makes small: the error in sides, and in right angles.
fn cost([position, angle]: [f64; 2]) -> f64 {
    position + angle / 90.0
}

fn mean(numbers: impl ExactSizeIterator<Item = f64>) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "hundreds")]
    let count = numbers.len() as f64;
    numbers.sum::<f64>() / count
}

/// A model with other values.
fn moved(model: &Model, change: &Numbers) -> Model {
    let values = from_fn(|i| {
        if i == HEIGHT { model.values[i] + 1e-3 * change[i] } else { model.values[i] * change[i].exp() }
    });
    Model { values, ..*model }
}

/// A toss, and from which motion it is predicted.
type Case<'a> = (&'a Toss, From);

/// The mean cost.
fn cost_of(model: &Model, cases: &[Case<'_>]) -> Result<f64> {
    let costs = for_each(cases, |&(toss, from)| {
        let start = from.start(toss, model);
        let predicted = model.predict(&start, toss.poses.len(), false)?;
        Ok(cost(errors(&predicted, toss, model.side)))
    })?;
    Ok(mean(costs.into_iter()))
}

/// The gradient of the mean cost, and the matrix of Gauss and Newton, from weighted squares: a distance is the square of
/// itself over its present magnitude.
fn normal_equations(model: &Model, cases: &[Case<'_>]) -> Result<(Numbers, SMatrix<f64, COUNT, COUNT>)> {
    let scales: [f64; COUNT] = from_fn(|i| if i == HEIGHT { 1e-3 } else { model.values[i] });
    let units = [1.0 / model.side, std::f64::consts::FRAC_2_PI];
    let small = [SMALL[0], SMALL[1] / 90.0];
    let of_cases = for_each(cases, |&(toss, from)| {
        let start = from.start(toss, model);
        let predicted = model.predict(&start, toss.poses.len(), true)?;
        let (mut gradient, mut matrix) = (Numbers::zeros(), SMatrix::<f64, COUNT, COUNT>::zeros());
        for ((pose, slopes), measured) in predicted.poses.iter().zip(&predicted.slopes).zip(&toss.poses) {
            let off = error(pose, measured);
            let parts = [off.linear * units[0], off.angular * units[1]];
            let slopes: [SMatrix<f64, 3, COUNT>; 2] = from_fn(|part| {
                SMatrix::from_fn(|row, column| {
                    let slope: &SpatialVelocity<f64> = &slopes[column];
                    let slope = if part == 0 { slope.linear } else { slope.angular };
                    slope[row] * units[part] * scales[column]
                })
            });
            let steepness = slopes.iter().map(SMatrix::norm_squared).sum::<f64>();
            let trust = 1.0 / (1.0 + steepness / (CHAOTIC * CHAOTIC));
            for part in 0..2 {
                let weight = trust / parts[part].norm().max(small[part]);
                gradient += slopes[part].tr_mul(&parts[part]) * weight;
                matrix += slopes[part].tr_mul(&slopes[part]) * weight;
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "hundreds")]
        let share = 1.0 / (predicted.poses.len() * cases.len()) as f64;
        Ok((gradient * share, matrix * share))
    })?;
    let none = (Numbers::zeros(), SMatrix::zeros());
    Ok(of_cases.into_iter().fold(none, |sum, of| (sum.0 + of.0, sum.1 + of.1)))
}

/// A step of Gauss and Newton, damped after Levenberg and Marquardt.
fn fit(mut model: Model, tosses: &[Toss], progress: &Progress) -> Result<Model> {
    let cases: Vec<Case<'_>> =
        From::BOTH.iter().flat_map(|&from| tosses.iter().map(move |toss| (toss, from))).collect();
    let (mut present, mut damping) = (cost_of(&model, &cases)?, 0.03);
    for _ in 0..ITERATIONS {
        let (gradient, matrix) = normal_equations(&model, &cases)?;
        let mut falls = false;
        for _ in 0..6 {
            let mut damped = matrix;
            for i in 0..COUNT {
                damped[(i, i)] += damping * matrix[(i, i)] + 1e-6;
            }
            let step =
                damped.cholesky().ok_or("the tosses do not determine the parameters")?.solve(&-gradient);
            let next = moved(&model, &step.map(|change| change.clamp(-LONGEST, LONGEST)));
            let cost = cost_of(&next, &cases).unwrap_or(f64::INFINITY);
            falls = cost < present;
            if falls {
                (model, present) = (next, cost);
                damping *= 0.2;
                break;
            }
            damping *= 5.0;
        }
        progress.step();
        if !falls {
            break;
        }
    }
    Ok(model)
}

/// Mean and median of the errors of tosses, as they are printed.
fn figures(errors: &[[f64; 2]]) -> [f64; 4] {
    from_fn(|figure| {
        let mut part: Vec<f64> = errors.iter().map(|errors| errors[figure % 2]).collect();
        let scale = if figure % 2 == 0 { 100.0 } else { 1.0 };
        if figure < MEDIAN {
            return scale * mean(part.into_iter());
        }
        part.sort_by(f64::total_cmp);
        let half = part.len() / 2;
        scale * if part.len().is_multiple_of(2) { 0.5 * (part[half - 1] + part[half]) } else { part[half] }
    })
}

fn judge(model: &Model, tosses: &[Toss], from: From) -> Result<Vec<[f64; 2]>> {
    for_each(tosses, |toss| {
        let predicted = model.predict(&from.start(toss, model), toss.poses.len(), false)?;
        Ok(errors(&predicted, toss, model.side))
    })
}

/// Numbers of a normal distribution, by Box and Muller from a Weyl sequence that is mixed.
struct Noise(u64);

impl Noise {
    /// Above 0, at most 1.
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        #[expect(clippy::cast_precision_loss, reason = "53 bits")]
        let number = ((bits ^ (bits >> 31)) >> 11) as f64;
        (number + 1.0) / 9_007_199_254_740_992.0
    }

    fn normal(&mut self) -> f64 {
        let (radius, angle) = ((-2.0 * self.uniform().ln()).sqrt(), self.uniform() * std::f64::consts::TAU);
        radius * angle.cos()
    }

    /// A vector whose length has this root mean square.
    fn vector(&mut self, length: f64) -> Vector3<f64> {
        Vector3::from_fn(|_, _| self.normal()) * (length / 3.0_f64.sqrt())
    }
}

/// The errors of a model in a world that it describes: each toss is simulated from its free flight and recorded with the
/// scatter of the cameras, and predicted from that record. First poses get velocities that are as far off as measured.
fn floor(model: &Model, tosses: &[Toss], from: From) -> Result<Vec<[f64; 2]>> {
    for_each(tosses, |toss| {
        let truth = From::FreeFlight.start(toss, model);
        let mut noise = Noise(toss.id as u64);
        let mut record = model.predict(&truth, toss.poses.len(), false)?.poses;
        for X in &mut record {
            X.translation.vector += noise.vector(SCATTER[0]);
            X.rotation = Rotation3::new(noise.vector(SCATTER[1].to_radians())) * X.rotation;
        }
        let record = Toss { id: toss.id, poses: record, velocity: toss.velocity };
        let start = match from {
            From::FreeFlight => record.free_flight(toss.flight(model.side), model.fall()),
            From::FirstPose => record.first_pose(),
        };
        let predicted = model.predict(&start, toss.poses.len(), false)?;
        Ok(errors(&predicted, &record, model.side))
    })
}

/// Prints the parameters.
fn print_parameters(guess: &Model, fitted: &Model) {
    let mut table = Table::new(["", "guess", "fitted", "unit"]);
    for (i, unknown) in fitted.contact.unknowns().iter().enumerate() {
        let [guess, fitted] = [guess, fitted].map(|model| {
            let value = model.values[i];
            if value.abs() > 1e5 { format!("{value:.3e}") } else { format!("{value:.4}") }
        });
        table.row([unknown.name.into(), guess, fitted, unknown.unit.into()]);
    }
    print!("\n{table}");
}

fn print_calibration(recording: &Recording, scale: f64) {
    let resting = mean(
        recording.tosses[..FITTED].iter().map(|toss| toss.poses.last().map_or(0.0, |X| X.translation.z)),
    );
    println!(
        "\nIn the free flights of the first {FITTED} tosses the cameras measure an acceleration of {:.3} m/s², {scale:.4} of \
         gravity. At the end the centers are {:.2} mm high, {:.4} of half a side. Measured lengths are too short by these \
         factors.",
        scale * GRAVITY,
        1e3 * resting,
        resting / (0.5 * recording.side),
    );
}

/// Height and turn of three tosses, of median error in each third of those that `order` has from the best to the worst.
fn panels(recording: &Recording, models: &[Model], order: &[usize]) -> Result<Vec<Panel>> {
    const TITLES: [[&str; 3]; 2] = [
        ["Height: best third of tosses", "Height: middle third", "Height: worst third"],
        ["Turn: best third of tosses", "Turn: middle third", "Turn: worst third"],
    ];
    let mut panels = Vec::new();
    for (row, titles) in TITLES.into_iter().enumerate() {
        for (column, title) in titles.into_iter().enumerate() {
            let toss = &recording.tosses[order[(2 * column + 1) * order.len() / 6]];
            let curve = |name: &'static str, poses: &[force_elements::Pose<f64>]| {
                let values = poses.iter().map(|X| match row {
                    0 => 1e3 * X.translation.z,
                    _ => error(X, &poses[0]).angular.norm().to_degrees(),
                });
                Curve::new(name, (0..).map(time).zip(values).collect())
            };
            let mut curves = vec![Curve { is_beneath: true, ..curve("measured", &toss.poses) }];
            for model in models {
                let predicted =
                    model.predict(&From::FreeFlight.start(toss, model), toss.poses.len(), false)?;
                curves.push(curve(name(model.contact), &predicted.poses));
            }
            let y = ["height of the center [mm]", "turn from the first pose [°]"][row];
            panels.push(Panel::over_time(title, y, curves));
        }
    }
    Ok(panels)
}

fn name(contact: Contact) -> &'static str {
    match contact {
        Contact::Springs => "springs",
        Contact::Foundation => "foundation",
    }
}

fn main() -> Result<ExitCode> {
    let arguments = Arguments::read(
        "Contact fitted to measured tosses of a cube by exact derivatives, and judged on others: three tables, and a picture.",
        [
            Argument {
                name: "TOSSES.json",
                help: "the recording",
                default: concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/golden/tosses/tosses.json"),
            },
            Argument::picture("target/tosses.svg"),
        ],
    );
    println!("{INTRODUCTION}");
    let recording = Recording::read(arguments.path(0))?;
    let (fitted, judged) = recording.tosses.split_at_checked(FITTED).ok_or("too few tosses")?;
    let scale = fall(fitted, recording.side) / GRAVITY;
    print_calibration(&recording, scale);

    let progress = Progress::new(2 * ITERATIONS as u64);
    let mut models = Vec::new();
    for (contact, values) in GUESSES {
        let guess = Model { contact, values, side: recording.side, mass: recording.mass, scale };
        let model = fit(guess, fitted, &progress)?;
        progress.aside(|| {
            println!("\n## Parameters: {}", name(contact));
            print_parameters(&guess, &model);
        });
        models.push(model);
    }
    drop(progress);

    println!("\n## Errors on the other {} tosses", judged.len());
    let mut table = Table::new([
        "from",
        "by",
        "mean position, %",
        "mean angle, °",
        "median position, %",
        "median angle, °",
    ]);
    let mut verdicts = Vec::new();
    let mut order: Vec<usize> = (FITTED..recording.tosses.len()).collect();
    for (from, mujoco) in From::BOTH.into_iter().zip(MUJOCO) {
        let mut row = |by: String, figures: [f64; 4], digits: usize| {
            let [a, b, c, d] = figures.map(|figure| format!("{figure:.digits$}"));
            table.row([from.name().into(), by, a, b, c, d]);
        };
        row("MuJoCo 4.0".into(), mujoco, 1);
        row("a tenth less".into(), mujoco.map(|figure| LESS * figure), 2);
        for (which, model) in models.iter().enumerate() {
            let errors = judge(model, judged, from)?;
            let figures = figures(&errors);
            row(name(model.contact).into(), figures, 2);
            let is_less = figures.iter().zip(mujoco).all(|(figure, mujoco)| *figure <= LESS * mujoco);
            verdicts.push((from.name(), name(model.contact), is_less));
            if matches!(from, From::FreeFlight) && which == 0 {
                order.sort_by(|&a, &b| cost(errors[a - FITTED]).total_cmp(&cost(errors[b - FITTED])));
            }
        }
        for model in &models {
            row(format!("perfect {}", name(model.contact)), figures(&floor(model, judged, from)?), 2);
        }
    }
    print!("\n{table}");
    println!("\nWhether all four errors are at least a tenth below those of MuJoCo:\n");
    for (from, contact, is_less) in verdicts {
        println!("- {contact}, from the {from}: {}", if is_less { "yes" } else { "no" });
    }
    let path = arguments.path(1);
    picture::draw(path, (2, 3), &panels(&recording, &models, &order)?)?;
    println!("\npicture: {}", path.display());
    Ok(ExitCode::SUCCESS)
}

const INTRODUCTION: &str = "\
# Measured tosses of a cube

An acrylic cube, side 0.1048 m, 0.37 kg, was tossed 150 times onto a board and tracked by cameras at 148 Hz until it rested
(Pfrommer, Halm, Posa, ContactNets, CoRL 2020; `tests/golden/tosses`). Each toss is simulated in steps of 0.28 ms by the
semi-implicit Euler method. The contact is an exponential spring at each corner (*springs*), or a clipped elastic foundation
with anchors and 12 faces (*foundation*).

*Fit*: seven parameters are fitted to the first 60 tosses by the Gauss–Newton method. Exact derivatives of every sample are
propagated along. Each step is linearized with respect to motion, parameters and memory. The error of a sample is the distance
between centers, in sides, plus the angle between orientations, in right angles. The error of a toss is the mean over its
samples.

*From*: the start of a prediction. *First pose* is that pose, with its velocities from differences. *Free flight* is the
beginning of the parabola and constant angular velocity through all poses before the lowest corner is at 8 mm. The parameters
are fitted to predictions from both starts together.

*Perfect*: the fitted model predicts tosses that it has simulated itself. They have the scatter of the cameras, 0.08 mm and
0.02°, and first velocities that are as far off as in the recording. No model can be expected to have smaller errors.";
