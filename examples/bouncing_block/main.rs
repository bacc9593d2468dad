//! A block is thrown on the floor, bounces, slides, and comes to rest on eight exponential springs.
//!
//! ```text
//! cargo run --release --example bouncing_block [-- PICTURE.svg]
//! ```

use std::error::Error;

use force_elements::exponential_spring::Parameters;
use force_elements::nalgebra::{Point3, Rotation3, Translation3, Vector3};
use force_elements::simulation::{DormandPrince, Plant, RigidBody, Simulation, SimulationError};
use force_elements::{
    BodyIndex, ExponentialSpring, ForceSystem, Frame, Handle, Pose, SpatialVelocity, State, Station,
};
use force_elements_examples::picture::{self, Area, font, px, short};
use force_elements_examples::{Argument, Arguments, Table, println};
use plotters::prelude::*;

const HALF_SIDE: f64 = 0.1;
const END: f64 = 2.5;

/// What is kept of an accepted step.
struct Sample {
    time: f64,
    pose: Pose<f64>,
    speed: f64,
    normal_force: f64,
    friction_force: f64,
    sliding: f64,
    kinetic: f64,
    gravitational: f64,
    stored: f64,
    dissipated: f64,
}

impl Sample {
    fn total(&self) -> f64 {
        self.kinetic + self.gravitational + self.stored + self.dissipated
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::read(
        "A thrown block bounces, slides, and comes to rest on eight exponential springs: a table, and a picture.",
        [Argument::picture("target/bouncing_block.svg")],
    );
    let mut system = ForceSystem::new();
    let mut plant = Plant::new(Vector3::new(0.0, 0.0, -9.81))?;
    let block = plant.add_body(&mut system, RigidBody::with_equal_inertia(10.0, 0.07)?);

    let floor = Pose::identity();
    let parameters = Parameters::default().with_critical_damping(20_000.0, 10.0 / 4.0);
    let mut springs = Vec::new();
    for corner in corners() {
        springs.push(system.add(ExponentialSpring::new(
            Frame::ground(floor),
            Station::on(block, corner),
            parameters,
        )?)?);
    }

    let mut state = system.default_state();
    let pose =
        Pose::from_parts(Translation3::new(0.0, 0.0, 0.45), Rotation3::from_euler_angles(0.05, 0.3, 0.1));
    let velocity = SpatialVelocity::new(Vector3::new(0.4, 4.0, 0.8), Vector3::new(2.5, 0.0, 0.0));
    state.set_body(block, pose, velocity)?;
    for &spring in &springs {
        system.reset_memory(&mut state, spring)?;
    }

    let mut simulation = Simulation::new(&system, &plant, state)?;
    let mut samples = vec![sample(&mut simulation, block, &springs)?];
    let mut integrator = DormandPrince::new(1e-5).with_max_step(0.01);
    let mut failure = None;
    simulation.run(&mut integrator, END, |simulation| match sample(simulation, block, &springs) {
        Ok(sample) => samples.push(sample),
        Err(error) => failure = Some(error),
    })?;
    if let Some(error) = failure {
        return Err(error.into());
    }

    print_table(&samples, simulation.state(), &springs);
    let statistics = simulation.statistics();
    println!(
        "{} steps, {} rejected, {} evaluations; energy closes to {:.1e} of {:.1} J",
        statistics.steps,
        statistics.rejected,
        statistics.evaluations,
        samples.iter().map(|s| (s.total() - samples[0].total()).abs()).fold(0.0, f64::max),
        samples[0].total(),
    );

    let path = arguments.path(0);
    draw(path, &samples)?;
    println!("picture: {}", path.display());
    Ok(())
}

fn corners() -> impl Iterator<Item = Point3<f64>> {
    (0..8).map(|i| {
        let side = |bit: usize| if i >> bit & 1 == 0 { -HALF_SIDE } else { HALF_SIDE };
        Point3::new(side(0), side(1), side(2))
    })
}

fn sample(
    simulation: &mut Simulation<'_, f64>,
    block: BodyIndex,
    springs: &[Handle<ExponentialSpring<f64>>],
) -> Result<Sample, SimulationError> {
    let (kinetic, gravitational) = (simulation.kinetic_energy(), simulation.gravitational_energy());
    let view = simulation.dynamics()?;
    let force = view.body_force(block).force;
    let loaded: f64 = springs.iter().map(|&s| view.of(s).dynamics.normal_force).sum();
    let sliding: f64 =
        springs.iter().map(|&s| view.of(s).dynamics.normal_force * view.of(s).discrete.sliding).sum();
    Ok(Sample {
        time: view.time(),
        pose: *view.pose(block),
        speed: view.velocity(block).linear.norm(),
        normal_force: force.z,
        friction_force: force.xy().norm(),
        sliding: if loaded > 0.0 { sliding / loaded } else { 1.0 },
        kinetic,
        gravitational,
        stored: view.potential_energy(),
        dissipated: view.dissipated_energy().unwrap_or(f64::NAN),
    })
}

fn print_table(samples: &[Sample], state: &State<f64>, springs: &[Handle<ExponentialSpring<f64>>]) {
    let mut table = Table::new([
        "t [s]",
        "x [m]",
        "height [m]",
        "speed [m/s]",
        "normal [N]",
        "friction [N]",
        "sliding",
        "lost [J]",
        "total [J]",
    ]);
    let mut next = 0.0;
    for s in samples {
        if s.time >= next - 1e-9 {
            next += 0.25;
            let p = s.pose.translation.vector;
            table.row([
                format!("{:.2}", s.time),
                format!("{:.4}", p.x),
                format!("{:.4}", p.z),
                format!("{:.1e}", s.speed),
                format!("{:.2}", s.normal_force),
                format!("{:.2}", s.friction_force),
                format!("{:.3}", s.sliding),
                format!("{:.4}", s.dissipated),
                format!("{:.4}", s.total()),
            ]);
        }
    }
    println!("{table}");
    let held = springs.iter().filter(|&&s| state.discrete(s).sliding < 1e-3).count();
    println!("{held} of {} anchors hold", springs.len());
}

fn draw(path: &std::path::Path, samples: &[Sample]) -> Result<(), Box<dyn Error>> {
    picture::write(path, (1100, 800), |root| {
        let (top, bottom) = root.split_vertically(px(400));
        draw_motion(&top, samples)?;
        let (left, right) = bottom.split_horizontally(px(550));
        draw_energies(&left, samples)?;
        draw_forces(&right, samples)
    })
}

/// One layer of the stack of energies: its name, color and upper edge.
type Layer = (&'static str, RGBColor, fn(&Sample, f64) -> f64);

/// A curve over time: its name, color and value.
type Curve = (&'static str, RGBColor, fn(&Sample) -> f64);

/// The block seen from the side, at equal intervals, with the path of its center.
fn draw_motion(area: &Area<'_>, samples: &[Sample]) -> Result<(), Box<dyn Error>> {
    let last = samples.last().map_or(1.0, |s| s.pose.translation.x);
    // One scale for both axes: 1020 by 320 pixels of drawing.
    let width = last + 0.5;
    let mut chart = ChartBuilder::on(area)
        .caption("A thrown block bounces, slides and comes to rest", font(20))
        .margin(px(12))
        .x_label_area_size(px(34))
        .y_label_area_size(px(46))
        .build_cartesian_2d(-0.25..width - 0.25, -0.04..width * 0.31)?;
    picture::mesh(&mut chart.configure_mesh()).x_desc("x [m]").y_desc("z [m]").draw()?;
    chart.draw_series(std::iter::once(Rectangle::new(
        [(-0.25, -0.04), (width - 0.25, 0.0)],
        RGBColor(225, 220, 210).filled(),
    )))?;

    let (mut next, mut drawn_at) = (0.0, Vector3::zeros());
    for s in samples {
        let moved = (s.pose.translation.vector - drawn_at).norm();
        if s.time < next || moved < 0.05 * HALF_SIDE {
            continue;
        }
        (next, drawn_at) = (s.time + 0.06, s.pose.translation.vector);
        let shade = (s.time / 1.2).min(1.0);
        let color = HSLColor(0.58 - 0.5 * shade, 0.65, 0.45);
        for face in faces_towards_viewer(&s.pose) {
            chart.draw_series(std::iter::once(Polygon::new(face.clone(), color.mix(0.10))))?;
            let outline: Vec<_> = face.iter().chain(face.first()).copied().collect();
            chart.draw_series(LineSeries::new(outline, color.mix(0.8).stroke_width(px(1))))?;
        }
    }
    let center = samples.iter().map(|s| (s.pose.translation.x, s.pose.translation.z));
    chart.draw_series(LineSeries::new(center, BLACK.stroke_width(px(2))))?;
    Ok(())
}

/// The faces of the block whose normals point against y, as polygons in x and z.
fn faces_towards_viewer(pose: &Pose<f64>) -> Vec<Vec<(f64, f64)>> {
    let mut faces = Vec::new();
    for axis in 0..3 {
        for side in [-1.0, 1.0] {
            let mut normal = Vector3::zeros();
            normal[axis] = side;
            if (pose.rotation * normal).y >= 0.0 {
                continue;
            }
            let corner = |u: f64, v: f64| {
                let mut p = normal * HALF_SIDE;
                p[(axis + 1) % 3] = u * HALF_SIDE;
                p[(axis + 2) % 3] = v * HALF_SIDE;
                let p_G = pose * Point3::from(p);
                (p_G.x, p_G.z)
            };
            faces.push(vec![corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)]);
        }
    }
    faces
}

/// Where the energy goes: a stack whose upper edge does not move.
fn draw_energies(area: &Area<'_>, samples: &[Sample]) -> Result<(), Box<dyn Error>> {
    // Measured from where the block rests.
    let rest = samples.last().map_or(0.0, |s| s.gravitational + s.stored);
    let total = samples[0].total() - rest;
    let mut chart = ChartBuilder::on(area)
        .caption("Where the energy above that at rest goes", font(17))
        .margin(px(12))
        .x_label_area_size(px(34))
        .y_label_area_size(px(46))
        .build_cartesian_2d(0.0..END, 0.0..total * 1.25)?;
    picture::mesh(&mut chart.configure_mesh()).x_desc("t [s]").y_desc("energy [J]").draw()?;
    let stack: [Layer; 3] = [
        ("kinetic", RGBColor(70, 130, 190), |s, rest| s.total() - rest),
        ("gravity and springs", RGBColor(110, 175, 110), |s, rest| s.total() - s.kinetic - rest),
        ("dissipated", RGBColor(205, 110, 80), |s, _| s.dissipated),
    ];
    for (name, color, upper) in stack {
        let line = samples.iter().map(|s| (s.time, upper(s, rest)));
        chart
            .draw_series(AreaSeries::new(line, 0.0, color.filled()))?
            .label(name)
            .legend(move |(x, y)| Rectangle::new([(x, y - 50), (x + 120, y + 50)], color.filled()));
    }
    picture::legend(&mut chart.configure_series_labels()).draw()?;
    Ok(())
}

/// Contact force, and the share of the load on springs that slide.
fn draw_forces(area: &Area<'_>, samples: &[Sample]) -> Result<(), Box<dyn Error>> {
    // Impacts are hundreds of times the weight; a square-root scale shows both.
    let top = samples.iter().map(|s| s.normal_force).fold(0.0, f64::max).sqrt();
    let mut chart = ChartBuilder::on(area)
        .caption("Force on the block, and how much of it slides", font(17))
        .margin(px(12))
        .x_label_area_size(px(34))
        .y_label_area_size(px(54))
        .right_y_label_area_size(px(44))
        .build_cartesian_2d(0.0..END, 0.0..top * 1.25)?
        .set_secondary_coord(0.0..END, 0.0..1.25);
    picture::mesh(&mut chart.configure_mesh())
        .x_desc("t [s]")
        .y_desc("force [N], square-root scale")
        .y_label_formatter(&|root| format!("{:.0}", root * root))
        .draw()?;
    chart
        .configure_secondary_axes()
        .axis_style(BLACK.stroke_width(px(1)))
        .set_all_tick_mark_size(px(5))
        .label_style(font(12))
        .y_desc("share of the load that slides")
        .y_label_formatter(&short)
        .draw()?;
    let gray = RGBColor(170, 170, 170);
    chart
        .draw_secondary_series(LineSeries::new(
            samples.iter().map(|s| (s.time, s.sliding)),
            gray.stroke_width(px(1)),
        ))?
        .label("share that slides")
        .legend(move |(x, y)| PathElement::new([(x, y), (x + 120, y)], gray.stroke_width(px(1))));
    let curves: [Curve; 2] = [
        ("normal", RGBColor(60, 90, 160), |s| s.normal_force),
        ("friction", RGBColor(200, 80, 60), |s| s.friction_force),
    ];
    for (name, color, value) in curves {
        let line = samples.iter().map(|s| (s.time, value(s).max(0.0).sqrt()));
        chart
            .draw_series(LineSeries::new(line, color.stroke_width(px(2))))?
            .label(name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 120, y)], color.stroke_width(px(2))));
    }
    picture::legend(&mut chart.configure_series_labels()).draw()?;
    Ok(())
}
