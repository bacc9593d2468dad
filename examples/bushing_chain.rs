//! Three bodies swing far on damped bushings: the energy balance, and whether each bushing moves and pushes like a
//! chain of six joints.
//!
//! ```text
//! cargo run --release --example bushing_chain
//! ```
#![allow(non_snake_case, reason = "monogram notation")]

use std::error::Error;

use force_elements::DynamicsView;
use force_elements::nalgebra::Vector6;
use force_elements::simulation::{DormandPrince, Implicit, Integrator, SimulationError, Statistics};
use force_elements_examples::{Arguments, Progress, Table, print, println};
use force_elements_scenes::bushing_chain::{BushingChain, Comparison, END, Pair, Run};

const SCENE: &str = "\
Three bodies of 2, 1.5 and 1 kg hang from Ground in a chain on damped bushings, half a metre apart. The frames of the
bushings are offset and turned, and the mass centers are off the line of the bushings. The bodies start twisted, moving and
far from equilibrium. They swing under gravity for";

const ADDS_UP: &str = "\
*Total off*: the largest change of the sum of kinetic, gravitational and absorbed energy, over all accepted steps. This
balance of work tests the integrator. *Loss off*: the largest difference, among the three bushings, between the energy
dissipated by one and the integral of Σ c q̇² over the run. The integral is computed by polynomials of degree 5 from the
values at the accepted steps. Only the times of these steps are due to the integrator. *Fall*: the largest decrease in one
step of the energy that a bushing has dissipated.";

const JOINTS: &str = "\
Frame M is built from frame F by three slides along F's axes, then three turns about x, y and z in this order. Their
coordinates and rates are the bushing's own q and q̇. Velocities are propagated from joint to joint. The joints carry springs
and dampers with the bushing's constants.";

fn print_energies(chain: &BushingChain) -> Result<(), Box<dyn Error>> {
    println!("\n## Energy over time\n\nDormand–Prince, accuracy 1e-10.\n");
    let mut table = Table::new([
        "t [s]",
        "kinetic [J]",
        "gravitational [J]",
        "stored [J]",
        "dissipated [J]",
        "total [J]",
    ]);
    let mut simulation = chain.simulation()?;
    let mut integrator = DormandPrince::new(1e-10);
    for second in 0..=10 {
        simulation.run(&mut integrator, f64::from(second), |_| {})?;
        let (kinetic, gravitational) = (simulation.kinetic_energy(), simulation.gravitational_energy());
        let view = simulation.dynamics()?;
        let (stored, dissipated) = (view.potential_energy(), view.dissipated_energy().unwrap_or(f64::NAN));
        let total = kinetic + gravitational + stored + dissipated;
        table.row([
            second.to_string(),
            format!("{kinetic:.4}"),
            format!("{gravitational:.4}"),
            format!("{stored:.4}"),
            format!("{dissipated:.4}"),
            format!("{total:.9}"),
        ]);
    }
    print!("{table}");
    Ok(())
}

fn print_accuracies(chain: &BushingChain) -> Result<(), Box<dyn Error>> {
    println!("\n## Errors of the energy balance\n\n{ADDS_UP}\n");
    let mut table = Table::new([
        "integrator",
        "steps",
        "rejected",
        "evaluations",
        "total off [J]",
        "dissipated [J]",
        "loss off [J]",
        "fall [J]",
    ]);
    let (explicit, implicit) = ([4, 6, 8, 10], [4e-3, 2e-3, 1e-3, 5e-4]);
    let progress = Progress::new((explicit.len() + 2 * implicit.len()) as u64);
    for digits in explicit {
        let name = format!("Dormand–Prince, accuracy 1e-{digits}");
        table.row(row(name, &chain.run(&mut DormandPrince::new(0.1_f64.powi(digits)))?));
        progress.step();
    }
    for step in implicit {
        let name = format!("implicit trapezoidal, step {} ms", step * 1e3);
        table.row(row(name, &chain.run(&mut Implicit::trapezoidal(step))?));
        progress.step();
    }
    for step in implicit {
        let name = format!("TR-BDF2, step {} ms", step * 1e3);
        table.row(row(name, &chain.run(&mut Implicit::tr_bdf2(step))?));
        progress.step();
    }
    drop(progress);
    print!("{table}");
    Ok(())
}

fn row(name: String, run: &Run) -> [String; 8] {
    let Statistics { steps, rejected, evaluations, .. } = run.statistics;
    let lost: f64 = run.losses.iter().map(|(lost, _)| lost).sum();
    [
        name,
        steps.to_string(),
        rejected.to_string(),
        evaluations.to_string(),
        format!("{:.1e}", run.open),
        format!("{lost:.6}"),
        format!("{:.1e}", run.loss_off()),
        run.fall.to_string(),
    ]
}

fn print_joints(chain: &BushingChain) -> Result<(), Box<dyn Error>> {
    let mut simulation = chain.simulation()?;
    let mut integrator = DormandPrince::new(1e-8);
    let mut worst = Comparison::default();
    let mut farthest = [Vector6::zeros(); 3];
    let mut compared = 0;
    let mut look = |view: &DynamicsView<'_, f64>| -> Result<(), SimulationError> {
        for (farthest, &bushing) in farthest.iter_mut().zip(&chain.bushings) {
            worst = worst.join(chain.compare(view, bushing)?);
            *farthest = farthest.sup(&view.of(bushing).position.q.abs());
            compared += 1;
        }
        Ok(())
    };
    look(&simulation.dynamics()?)?;
    while simulation.time() < END {
        integrator.step(&mut simulation, END)?;
        look(&simulation.dynamics()?)?;
    }

    println!("\n## Each bushing compared with a chain of six joints\n\n{JOINTS}\n");
    println!(
        "Compared {compared} times, at every accepted step of a run with Dormand–Prince, accuracy 1e-8.\n"
    );
    let mut table = Table::new(["compared", "largest deviation", "largest value"]);
    let Comparison { orientation, position, angular, linear, power, moments, forces } = worst;
    for (what, unit, Pair { deviation, size }) in [
        ("orientation of M in Ground", "rad", orientation),
        ("position of M in Ground", "m", position),
        ("angular velocity of M in Ground", "rad/s", angular),
        ("velocity of M's origin in Ground", "m/s", linear),
        ("power of the springs on the joints, and of the forces on both bodies", "W", power),
        ("moments of the springs on the turns, and those of the force on the body", "N·m", moments),
        ("forces of the springs on the slides, and those of the force on the body", "N", forces),
    ] {
        table.row([format!("{what} [{unit}]"), format!("{deviation:.1e}"), format!("{size:.3}")]);
    }
    println!("{table}");
    let mut table = Table::new([
        "bushing",
        "farthest q_x [rad]",
        "q_y [rad]",
        "q_z [rad]",
        "p_x [m]",
        "p_y [m]",
        "p_z [m]",
    ]);
    for (name, q) in ["upper", "middle", "lower"].iter().zip(&farthest) {
        let [turns, slides] = [[q[0], q[1], q[2]], [q[3], q[4], q[5]]];
        let [a, b, c] = turns.map(|angle| format!("{angle:.3}"));
        let [x, y, z] = slides.map(|length| format!("{length:.4}"));
        table.row([(*name).to_string(), a, b, c, x, y, z]);
    }
    print!("{table}");
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    Arguments::read(
        "Three bodies on damped bushings: energy over time, and errors of the energy balance.",
        [],
    );
    let chain = BushingChain::new()?;
    println!("# Bushings: energy, and a chain of joints\n");
    println!("`cargo run --release --example bushing_chain`\n\n{SCENE} {END} s.");
    print_energies(&chain)?;
    print_accuracies(&chain)?;
    print_joints(&chain)
}
