//! Stiffness, damping and friction from a noisy motion, by the Gauss–Newton method with exact sensitivities through
//! stick and slip.
//!
//! Prints the parameters in each iteration, their standard deviations, and a sensitivity compared with differences.
//!
//! ```text
//! cargo run --release --example identify [-- PICTURE.svg]
//! ```

use std::array::from_fn;
use std::error::Error;
use std::process::ExitCode;

use force_elements::nalgebra::{DMatrix, DVector, SMatrix, SVector};
use force_elements_examples::picture::{self, Curve, Panel};
use force_elements_examples::{Argument, Arguments, Table, differences, print, println};
use force_elements_scenes::mounted::{Mounted, STEP};
use force_elements_scenes::rollout::{Change, Derivatives};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Of which the positions are measured at every twentieth.
const STEPS: u32 = 8000;
const EVERY: u32 = 20;
/// The position of the carriage, and three of each of three markers.
const CHANNELS: usize = 10;
/// The standard deviations of their noise \[m\].
const NOISE: [f64; CHANNELS] = {
    let mut noise = [2e-4; CHANNELS];
    noise[0] = 5e-5;
    noise
};

/// What is sought, with its unit and the ratio of the first guess to it. Those of the mount come first.
const UNKNOWNS: [(&str, &str, f64); 15] = [
    ("stiffness.qx", "N·m/rad", 0.9),
    ("stiffness.qy", "N·m/rad", 1.1),
    ("stiffness.qz", "N·m/rad", 0.92),
    ("stiffness.px", "N/m", 1.1),
    ("stiffness.py", "N/m", 0.9),
    ("stiffness.pz", "N/m", 1.08),
    ("damping.qx", "N·m·s/rad", 1.2),
    ("damping.qy", "N·m·s/rad", 0.85),
    ("damping.qz", "N·m·s/rad", 1.15),
    ("damping.px", "N·s/m", 0.8),
    ("damping.py", "N·s/m", 1.2),
    ("damping.pz", "N·s/m", 0.85),
    ("stiffness", "N/m", 0.95),
    ("damping", "N·s/m", 1.2),
    ("dynamic_friction", "N", 0.9),
];
const COUNT: usize = UNKNOWNS.len();
const OF_MOUNT: usize = 12;
const ITERATIONS: usize = 8;

/// Of recovered parameters, in standard deviations; relative, from a motion without noise; and of a sensitivity, relative to
/// its largest value.
const DEVIATIONS: f64 = 4.0;
const EXACT: f64 = 1e-10;
const TOLERANCE: f64 = 1e-6;

type Parameters = SVector<f64, COUNT>;

/// The name of an unknown in the state.
fn full_name(scene: &Mounted<f64>, unknown: usize) -> String {
    let element = if unknown < OF_MOUNT { scene.mount.id() } else { scene.guide.id() };
    format!("{element}.{}", UNKNOWNS[unknown].0)
}

fn true_parameters() -> Result<Parameters> {
    let scene = Mounted::new()?;
    let mut values = Parameters::zeros();
    for (unknown, value) in values.iter_mut().enumerate() {
        *value = scene.state.variable(&full_name(&scene, unknown))?;
    }
    Ok(values)
}

/// A motion: all positions at every twentieth step, and the friction mode at all steps.
struct Motion {
    positions: Vec<[f64; CHANNELS]>,
    modes: Vec<f64>,
    /// The derivatives of each position by the logarithm of each parameter, if they are asked for.
    sensitivities: Vec<[[f64; COUNT]; CHANNELS]>,
}

/// Runs all steps.
fn run(parameters: &Parameters, with_sensitivities: bool) -> Result<Motion> {
    let mut scene = Mounted::new()?;
    let mut changes = Vec::new();
    for (unknown, &value) in parameters.iter().enumerate() {
        let name = full_name(&scene, unknown);
        scene.system.set_variable(&mut scene.state, &name, value)?;
        if with_sensitivities {
            let mut change = Change::zeros(&scene.state);
            *change.variables.number_mut(&scene.state, &name)? = value;
            changes.push(change);
        }
    }
    scene.system.reset_memories(&mut scene.state)?;
    let mut derivatives = Derivatives::new(&scene.state);
    let mut motion = Motion { positions: Vec::new(), modes: Vec::new(), sensitivities: Vec::new() };
    for step in 1..=STEPS {
        if with_sensitivities {
            derivatives.linearize(&mut scene.host, &scene.system, &mut scene.state)?;
            for change in &mut changes {
                derivatives.tangent(&scene.host, &scene.state, change)?;
            }
        }
        scene.advance()?;
        motion.modes.push(scene.state.discrete(scene.guide).friction_mode);
        if step % EVERY == 0 {
            motion.positions.push(scene.positions());
            if with_sensitivities {
                let mut sensitivities = [[0.0; COUNT]; CHANNELS];
                for (unknown, change) in changes.iter().enumerate() {
                    let changes = scene.change_of_positions(&change.motion);
                    sensitivities.iter_mut().zip(changes).for_each(|(row, change)| row[unknown] = change);
                }
                motion.sensitivities.push(sensitivities);
            }
        }
    }
    Ok(motion)
}

/// One fit after all iterations.
struct Fit {
    /// The guess, and the parameters after each iteration.
    parameters: Vec<Parameters>,
    /// The root mean square of the residuals in standard deviations of the noise, with these parameters.
    residuals: Vec<f64>,
    /// The inverse of the covariance of the logarithms of the parameters.
    normal: SMatrix<f64, COUNT, COUNT>,
    last: Motion,
}

/// Residuals and their derivatives by the logarithms of parameters, in standard deviations of the noise.
fn residuals(motion: &Motion, measured: &[[f64; CHANNELS]]) -> (DVector<f64>, DMatrix<f64>) {
    let count = CHANNELS * measured.len();
    let (mut residual, mut slopes) = (DVector::zeros(count), DMatrix::zeros(count, COUNT));
    for (sample, (measured, computed)) in measured.iter().zip(&motion.positions).enumerate() {
        let sensitivities = motion.sensitivities.get(sample).unwrap_or(&[[0.0; COUNT]; CHANNELS]);
        for channel in 0..CHANNELS {
            let (row, weight) = (CHANNELS * sample + channel, 1.0 / NOISE[channel]);
            residual[row] = (measured[channel] - computed[channel]) * weight;
            for unknown in 0..COUNT {
                slopes[(row, unknown)] = sensitivities[channel][unknown] * weight;
            }
        }
    }
    (residual, slopes)
}

/// The root mean square of residuals.
fn size(residual: &DVector<f64>) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "thousands")]
    let count = residual.len() as f64;
    (residual.norm_squared() / count).sqrt()
}

fn inverse(normal: &SMatrix<f64, COUNT, COUNT>) -> Result<SMatrix<f64, COUNT, COUNT>> {
    Ok(normal.cholesky().ok_or("the motion does not determine the parameters")?.inverse())
}

/// Gauss–Newton: each iteration solves the linear least squares for the logarithms of the parameters, which keeps them
/// positive. A correction of more than a thousandth is halved until the residual falls.
fn fit(measured: &[[f64; CHANNELS]], guess: Parameters) -> Result<Fit> {
    let (mut parameters, mut sizes) = (vec![guess], Vec::new());
    loop {
        let present = parameters[parameters.len() - 1];
        let motion = run(&present, true)?;
        let (residual, slopes) = residuals(&motion, measured);
        let present_size = size(&residual);
        sizes.push(present_size);
        let normal = slopes.tr_mul(&slopes).fixed_view::<COUNT, COUNT>(0, 0).into();
        if sizes.len() > ITERATIONS {
            return Ok(Fit { parameters, residuals: sizes, normal, last: motion });
        }
        let right: Parameters = slopes.tr_mul(&residual).fixed_rows::<COUNT>(0).into();
        let mut correction = inverse(&normal)? * right;
        parameters.push(loop {
            let next = present.component_mul(&correction.map(f64::exp));
            // Parameters far off may throw the payload about until the mount refuses it.
            let falls =
                run(&next, false).is_ok_and(|motion| size(&residuals(&motion, measured).0) < present_size);
            if falls || correction.amax() < 1e-3 {
                break next;
            }
            correction *= 0.5;
        });
    }
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
}

fn print_iterations(fit: &Fit) {
    let mut table: Table<{ ITERATIONS + 2 }> =
        Table::new(["", "guess", "1", "2", "3", "4", "5", "6", "7", "8"]);
    let line = |name: &str, number: &dyn Fn(usize) -> String| {
        from_fn(|column| column.checked_sub(1).map_or_else(|| name.into(), number))
    };
    table.row(line("residual", &|i| format!("{:.3}", fit.residuals[i])));
    for (unknown, (name, unit, _)) in UNKNOWNS.iter().enumerate() {
        let digits = |value: f64| {
            if value > 1000.0 {
                1
            } else if value > 10.0 {
                3
            } else {
                5
            }
        };
        table.row(line(&format!("{name}, {unit}"), &|i| {
            let value = fit.parameters[i][unknown];
            format!("{value:.0$}", digits(value))
        }));
    }
    print!("\n{table}");
}

/// Prints how far the parameters are from the true ones; returns whether each is within what the noise allows, whether all
/// together are, and whether they are recovered without noise.
fn print_result(truth: &Parameters, noisy: &Fit, clean: &Fit) -> Result<[bool; 3]> {
    let mut table = Table::new([
        "",
        "true",
        "recovered",
        "standard deviation",
        "off, in deviations",
        "off without noise",
    ]);
    let [found, exact] = [noisy, clean].map(|fit| fit.parameters[ITERATIONS]);
    let off = found.component_div(truth).map(f64::ln);
    let deviations = inverse(&noisy.normal)?.diagonal().map(f64::sqrt);
    let mut holds = [true; 3];
    for (unknown, (name, unit, _)) in UNKNOWNS.iter().enumerate() {
        let in_deviations = off[unknown] / deviations[unknown];
        let relative = (exact[unknown] / truth[unknown] - 1.0).abs();
        holds[0] &= in_deviations.abs() < DEVIATIONS;
        holds[2] &= relative < EXACT;
        table.row([
            format!("{name}, {unit}"),
            format!("{}", truth[unknown]),
            format!("{:.5}", found[unknown]),
            format!("{:.3} %", 100.0 * deviations[unknown]),
            format!("{in_deviations:.2}"),
            format!("{relative:.0e}"),
        ]);
    }
    print!("\n{table}");
    let (square, expected) = (off.dot(&(noisy.normal * off)), f64::from(u8::try_from(COUNT)?));
    let spread = (2.0 * expected).sqrt();
    println!(
        "\nThe errors of the parameters are correlated. The square of their norm in the metric of the normal matrix is \
         {square:.1}. For {COUNT} parameters its mean is {COUNT} and its standard deviation {spread:.1}."
    );
    holds[1] = (square - expected).abs() < DEVIATIONS * spread;
    Ok(holds)
}

/// Compares sensitivities of all positions with differences of rollouts in which bristles stick and slip in the same steps.
fn check_sensitivities(truth: &Parameters) -> Result<bool> {
    let base = run(truth, true)?;
    let signs = |motion: &Motion| motion.modes.iter().map(|mode| mode.total_cmp(&0.0)).collect::<Vec<_>>();
    let mut agrees = true;
    let mut table = Table::new(["sensitivity to", "moved by", "off"]);
    for unknown in [1, 9, 14] {
        let mut moved = *truth;
        let found = differences(truth[unknown], |value| {
            moved[unknown] = value;
            let motion = run(&moved, false)?;
            let is_on_branch = signs(&motion) == signs(&base);
            Result::Ok(is_on_branch.then(|| motion.positions.into_iter().flatten().collect()))
        })?;
        let (slopes, relative) = found.ok_or("bristles switch in other steps")?;
        let exact = base.sensitivities.iter().flatten().map(|row| row[unknown] / truth[unknown]);
        let (mut off, mut size) = (0.0_f64, 0.0_f64);
        for (exact, slope) in exact.zip(slopes) {
            (off, size) = (off.max((exact - slope).abs()), size.max(exact.abs()));
        }
        agrees &= off < TOLERANCE * size;
        table.row([UNKNOWNS[unknown].0.into(), format!("{relative:.0e}"), format!("{:.1e}", off / size)]);
    }
    print!("\n{table}");
    Ok(agrees)
}

fn panels(guess: &Motion, measured: &[[f64; CHANNELS]], fit: &Fit) -> Vec<Panel> {
    let times = || (1_u32..).map(|sample| STEP * f64::from(EVERY * sample));
    let over_time = |positions: &[[f64; CHANNELS]], channel: usize| {
        times().zip(positions.iter().map(|at| 1e3 * at[channel])).collect::<Vec<_>>()
    };
    let three = |channel: usize, until: f64| {
        vec![
            Curve::beneath("measured", over_time(measured, channel)).until(until),
            Curve::new("fitted", over_time(&fit.last.positions, channel)).until(until),
            Curve::new("guess", over_time(&guess.positions, channel)).until(until),
        ]
    };
    let sensitivity = |unknown: usize| {
        times().zip(fit.last.sensitivities.iter().map(|rows| 1e3 * rows[0][unknown])).collect::<Vec<_>>()
    };
    vec![
        Panel::over_time("The carriage slides, turns and sticks", "position [mm]", three(0, 2.0)),
        Panel::over_time("A marker on the payload", "height [mm]", three(3, 0.4)),
        Panel::over_time("Sensitivities of the carriage", "∂q/∂ln p [mm]", {
            vec![
                Curve::new("stiffness", sensitivity(12)),
                Curve::new("damping", sensitivity(13)),
                Curve::new("friction", sensitivity(14)),
            ]
        })
        .after_colors(2),
        Panel::new("Residuals of Gauss and Newton's method", "iteration", "residual / σ", {
            let sizes = fit.residuals.iter().copied();
            vec![Curve::new("", (0_u32..).map(f64::from).zip(sizes).collect())]
        }),
    ]
}

fn main() -> Result<ExitCode> {
    let arguments = Arguments::read(
        "Stiffness, damping and friction from a noisy motion, by exact sensitivities: three tables, and a picture.",
        [Argument::picture("target/identify.svg")],
    );
    println!("{INTRODUCTION}");
    let truth = true_parameters()?;
    let guess = Parameters::from_fn(|unknown, _| truth[unknown] * UNKNOWNS[unknown].2);
    let exact = run(&truth, false)?.positions;
    let mut noise = Noise(1);
    let measured: Vec<[f64; CHANNELS]> =
        exact.iter().map(|at| from_fn(|channel| at[channel] + NOISE[channel] * noise.normal())).collect();

    println!("\n## Iterations");
    let noisy = fit(&measured, guess)?;
    print_iterations(&noisy);
    println!("\n## Recovered parameters");
    let clean = fit(&exact, guess)?;
    let [each, together, recovered] = print_result(&truth, &noisy, &clean)?;
    // The mean of so many squares has a standard deviation of √(2/n).
    #[expect(clippy::cast_precision_loss, reason = "thousands")]
    let count = (CHANNELS * measured.len() - COUNT) as f64;
    let explained = (noisy.residuals[ITERATIONS].powi(2) - 1.0).abs() < DEVIATIONS * (2.0 / count).sqrt();
    println!("\n## Sensitivities");
    let agrees = check_sensitivities(&truth)?;
    let claims = [
        ("Each parameter is within four standard deviations of its true value", each),
        ("The square of all errors together is within four standard deviations of its mean", together),
        (
            "The mean square of the residuals is within four standard deviations of that of the noise",
            explained,
        ),
        ("Without noise the parameters are recovered to 1e-10", recovered),
        ("Sensitivities agree with differences to 1e-6 of their largest values", agrees),
    ];
    println!();
    for (claim, holds) in claims {
        println!("- {claim}: {}.", if holds { "pass" } else { "FAIL" });
    }
    let path = arguments.path(0);
    picture::draw(path, (2, 2), &panels(&run(&guess, false)?, &measured, &noisy))?;
    println!("\npicture: {}", path.display());
    Ok(if claims.iter().all(|claim| claim.1) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

const INTRODUCTION: &str = "\
# Parameters of a mount and a guide from their motion

A carriage of 4 kg on a guide with a spring, a damper and bristle friction carries a payload of 2 kg on a `LinearBushing`.
The carriage is released away from its rest position, and the payload starts with an initial velocity. The motion has 8000
steps of 0.25 ms by the semi-implicit Euler method. The positions of the carriage and of three markers on the payload are
measured at every twentieth step, with normal noise of 0.05 mm for the carriage and 0.2 mm for the markers.

Fifteen parameters are fitted to the measurements by the Gauss–Newton method, which solves for their logarithms. The
sensitivities are propagated along with the steps. Each step is linearized with respect to motion, parameters and memory.
*Residual*: the root mean square of the residuals, in standard deviations of the noise. *Standard deviation*: that of a
parameter, from the inverse of the normal matrix.";
