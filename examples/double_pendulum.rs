//! A host in joint coordinates: a double pendulum with its own equations of motion and its own integrators.
//!
//! ```text
//! cargo run --release --example double_pendulum [-- PICTURE.svg]
//! ```
//!
//! Friction and stops act on the two coordinates. A bushing acts between the two rods, which are bodies whose poses and
//! velocities follow from the coordinates, and its forces are mapped to the coordinates by the transposed Jacobian.
//! Prints the motion, and the energy balance under the midpoint rule and under symplectic Euler.

use std::error::Error;
use std::path::Path;

use force_elements::coordinate_spring_damper_ext::Parameters as Joint;
use force_elements::linear_bushing::Parameters as Brace;
use force_elements::nalgebra::{Matrix2, Point3, Rotation3, Translation3, Vector2, Vector3, Vector6};
use force_elements::{
    BodyIndex, CoordinateIndex, CoordinatePair, CoordinateSpringDamperExt, DynamicsView, ForceSystem, Frame,
    KinematicsSource, LinearBushing, Pose, SpatialVelocity, State, StepRule,
};
use force_elements_examples::{Argument, Arguments, Table, println};
// Linked so that the generic code compiled with it, for all tests, is not compiled again here.
use force_elements_scenes as _;
use plotters::prelude::*;

const MASS: f64 = 1.0;
const LENGTH: f64 = 0.5;
const GRAVITY: f64 = 9.81;
/// The elbow bends so far \[rad\].
const STOP: f64 = 1.2;
/// How long it swings \[s\].
const END: f64 = 6.0;
/// The step of which energies and curves are shown \[s\].
const STEP: f64 = 1e-3;

/// Two rods in the x-z plane, each with its origin in its joint, hanging along −z at zero coordinates.
#[derive(Clone, Copy)]
struct DoublePendulum {
    rods: [BodyIndex; 2],
    joints: [CoordinateIndex; 2],
    time: f64,
    q: Vector2<f64>,
    u: Vector2<f64>,
}

impl DoublePendulum {
    fn rod(&self, body: BodyIndex) -> usize {
        usize::from(body == self.rods[1])
    }

    fn joint(&self, coordinate: CoordinateIndex) -> usize {
        usize::from(coordinate == self.joints[1])
    }

    fn pose_of_rod(&self, rod: usize) -> Pose<f64> {
        let turn = |angle| Rotation3::from_axis_angle(&Vector3::y_axis(), angle);
        let X_GA = Pose::from_parts(Translation3::identity(), turn(self.q[0]));
        let X_AB = Pose::from_parts(Translation3::new(0.0, 0.0, -LENGTH), turn(self.q[1]));
        if rod == 0 { X_GA } else { X_GA * X_AB }
    }

    /// The velocity of a rod's origin when one joint turns at unit rate: a column of the rod's Jacobian.
    fn unit_rate(&self, rod: usize, joint: usize) -> SpatialVelocity<f64> {
        if joint > rod {
            return SpatialVelocity::zero();
        }
        let [p_GB, p_GJ] = [rod, joint].map(|i| self.pose_of_rod(i).translation.vector);
        SpatialVelocity::new(Vector3::y(), Vector3::zeros()).shifted(p_GB - p_GJ)
    }

    /// Generalized forces of all elements: those on the coordinates, and those on the bodies by the transposed Jacobian.
    fn forces(&self, dynamics: &DynamicsView<'_, f64>) -> Vector2<f64> {
        Vector2::from_fn(|joint, _| {
            let of_rod = |rod: usize| self.unit_rate(rod, joint).power(&dynamics.body_force(self.rods[rod]));
            dynamics.coordinate_force(self.joints[joint]) + of_rod(0) + of_rod(1)
        })
    }

    fn mass_matrix(&self) -> Matrix2<f64> {
        let unit = MASS * LENGTH * LENGTH;
        let coupled = unit * (1.0 / 3.0 + 0.5 * self.q[1].cos());
        Matrix2::new(unit * (5.0 / 3.0 + self.q[1].cos()), coupled, coupled, unit / 3.0)
    }

    fn acceleration(&self, dynamics: &DynamicsView<'_, f64>) -> Vector2<f64> {
        let (q, u) = (self.q, self.u);
        let (moment, coupled) = (0.5 * MASS * GRAVITY * LENGTH, 0.5 * MASS * LENGTH * LENGTH * q[1].sin());
        let of_lower = moment * (q[0] + q[1]).sin();
        let bias = Vector2::new(
            3.0 * moment * q[0].sin() + of_lower - coupled * (2.0 * u[0] + u[1]) * u[1],
            of_lower + coupled * u[0] * u[0],
        );
        self.mass_matrix().try_inverse().unwrap_or_default() * (self.forces(dynamics) - bias)
    }

    /// Later by `h`, at these rates.
    fn moved(&self, u: Vector2<f64>, acceleration: Vector2<f64>, h: f64) -> Self {
        Self { time: self.time + h, q: self.q + u * h, u: self.u + acceleration * h, ..*self }
    }

    fn energy(&self) -> f64 {
        let height = -1.5 * LENGTH * self.q[0].cos() - 0.5 * LENGTH * (self.q[0] + self.q[1]).cos();
        0.5 * self.u.dot(&(self.mass_matrix() * self.u)) + MASS * GRAVITY * height
    }
}

impl KinematicsSource<f64> for DoublePendulum {
    fn time(&self) -> f64 {
        self.time
    }
    fn pose(&self, body: BodyIndex) -> Pose<f64> {
        self.pose_of_rod(self.rod(body))
    }
    fn velocity(&self, body: BodyIndex) -> SpatialVelocity<f64> {
        let rates = [0, 1].map(|joint| {
            let unit = self.unit_rate(self.rod(body), joint);
            SpatialVelocity::new(unit.angular * self.u[joint], unit.linear * self.u[joint])
        });
        SpatialVelocity::new(rates[0].angular + rates[1].angular, rates[0].linear + rates[1].linear)
    }
    fn coordinate(&self, coordinate: CoordinateIndex) -> f64 {
        self.q[self.joint(coordinate)]
    }
    fn coordinate_rate(&self, coordinate: CoordinateIndex) -> f64 {
        self.u[self.joint(coordinate)]
    }
}

/// The pendulum, raised, with friction in its joints, stops at its elbow, and a brace across it.
fn build() -> Result<(ForceSystem<f64>, DoublePendulum), force_elements::Error> {
    let mut system = ForceSystem::new();
    let rods = [system.add_body(), system.add_body()];
    let joints = [system.add_coordinate(), system.add_coordinate()];
    let shoulder = Joint {
        dynamic_friction: 0.05,
        static_friction_offset: 0.02,
        sticking_stiffness: 50.0,
        sticking_damping: 0.05,
        ..Joint::default()
    };
    let elbow = Joint {
        use_limit_stops: true,
        limit_stops_lower: -STOP,
        limit_stops_upper: STOP,
        limit_stops_upper_stiffness: 200.0,
        limit_stops_lower_stiffness: 200.0,
        limit_stops_upper_damping: 0.5,
        limit_stops_lower_damping: 0.5,
        ..shoulder
    };
    for (joint, parameters) in joints.into_iter().zip([shoulder, elbow]) {
        system.add(CoordinateSpringDamperExt::new(CoordinatePair::on(joint), parameters)?)?;
    }
    let brace = Brace {
        stiffness: Vector6::new(0.0, 0.0, 0.0, 30.0, 30.0, 30.0),
        damping: Vector6::new(0.0, 0.0, 0.0, 0.2, 0.2, 0.2),
    };
    let upper = Frame::on(rods[0], Pose::translation(0.1, 0.0, -0.4));
    let lower = Frame::on(rods[1], Pose::translation(0.1, 0.0, -0.1));
    system.add(LinearBushing::new(upper, lower, brace)?)?;
    Ok((system, DoublePendulum { rods, joints, time: 0.0, q: Vector2::new(2.0, 1.0), u: Vector2::zeros() }))
}

/// A step of the midpoint rule: two evaluations, and the elements' variables integrated with the motion.
fn midpoint(
    system: &ForceSystem<f64>,
    state: &mut State<f64>,
    host: &mut DoublePendulum,
    h: f64,
) -> Result<(), force_elements::Error> {
    let dynamics = system.realize_dynamics(state)?;
    let middle = host.moved(host.u, host.acceleration(&dynamics), 0.5 * h);
    let half: Vec<_> = dynamics.continuous_rates().iter().map(|rate| 0.5 * h * rate).collect();
    state.set_kinematics(&middle)?;
    state.advance_continuous(&half)?;
    let dynamics = system.realize_dynamics(state)?;
    *host = host.moved(middle.u, middle.acceleration(&dynamics), h);
    let rest: Vec<_> =
        dynamics.continuous_rates().iter().zip(&half).map(|(rate, half)| h * rate - half).collect();
    state.set_kinematics(host)?;
    state.advance_continuous(&rest)?;
    system.realize_dynamics(state)?;
    system.accept_step(state)
}

/// A step of symplectic Euler: one evaluation, whose forces are held. The rule that matches it cannot correct its own
/// error: the mass matrix changes within a step, and energy drifts even without elements.
fn symplectic_euler(
    system: &ForceSystem<f64>,
    state: &mut State<f64>,
    host: &mut DoublePendulum,
    h: f64,
    rule: StepRule,
) -> Result<(), force_elements::Error> {
    let acceleration = host.acceleration(&system.realize_dynamics(state)?);
    *host = host.moved(host.u + acceleration * h, acceleration, h);
    system.finish_step(state, host, rule)
}

/// What is kept of a step.
struct Sample {
    host: DoublePendulum,
    stored: f64,
    dissipated: f64,
}

impl Sample {
    fn total(&self) -> f64 {
        self.host.energy() + self.stored + self.dissipated
    }
}

/// Swings to the end in steps of this length.
fn run(
    h: f64,
    step: impl Fn(
        &ForceSystem<f64>,
        &mut State<f64>,
        &mut DoublePendulum,
        f64,
    ) -> Result<(), force_elements::Error>,
) -> Result<Vec<Sample>, force_elements::Error> {
    let (system, mut host) = build()?;
    let mut state = system.default_state();
    state.set_kinematics(&host)?;
    system.reset_memories(&mut state)?;
    system.reset_dissipated_energy(&mut state)?;
    let sample = |state: &mut State<f64>, host| {
        let dynamics = system.realize_dynamics(state)?;
        let dissipated = dynamics.dissipated_energy().unwrap_or(f64::NAN);
        Ok::<_, force_elements::Error>(Sample { host, stored: dynamics.potential_energy(), dissipated })
    };
    let mut samples = vec![sample(&mut state, host)?];
    while host.time < END - 0.5 * h {
        step(&system, &mut state, &mut host, h)?;
        samples.push(sample(&mut state, host)?);
    }
    Ok(samples)
}

/// The largest change of the total energy \[J\].
fn off(samples: &[Sample]) -> f64 {
    samples.iter().map(|sample| (sample.total() - samples[0].total()).abs()).fold(0.0, f64::max)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::read(
        "A double pendulum in joint coordinates with friction, stops and a brace: two tables, and a picture.",
        [Argument::picture("target/double_pendulum.svg")],
    );
    let shown = run(STEP, midpoint)?;
    let mut table = Table::new([
        "t [s]",
        "shoulder [°]",
        "elbow [°]",
        "mechanical [J]",
        "stored [J]",
        "dissipated [J]",
        "total [J]",
    ]);
    for sample in shown.iter().step_by(500) {
        table.row([
            format!("{:.1}", sample.host.time),
            format!("{:.1}", sample.host.q[0].to_degrees()),
            format!("{:.1}", sample.host.q[1].to_degrees()),
            format!("{:.4}", sample.host.energy()),
            format!("{:.4}", sample.stored),
            format!("{:.4}", sample.dissipated),
            format!("{:.4}", sample.total()),
        ]);
    }
    println!(
        "The midpoint rule in steps of {} ms; *mechanical* is kinetic and gravitational energy\n\n{table}",
        1e3 * STEP
    );

    let rules = [StepRule::LeftEndpoint, StepRule::Trapezoid, StepRule::HeldForces];
    let [a, b, c] = rules.map(|rule| format!("{rule:?}"));
    let mut table = Table::new(["h [ms]", &a, &b, &c, "midpoint rule"]);
    for h in [4e-3, 2e-3, 1e-3, 0.5e-3, 0.25e-3] {
        let euler =
            rules.map(|rule| run(h, |system, state, host, h| symplectic_euler(system, state, host, h, rule)));
        let [a, b, c] = euler.map(|samples| samples.map(|samples| format!("{:.4}", off(&samples))));
        table.row([(1e3 * h).to_string(), a?, b?, c?, format!("{:.4}", off(&run(h, midpoint)?))]);
    }
    println!(
        "The largest change of the total [J], under symplectic Euler by rule, and under the midpoint rule\n\n{table}"
    );

    let path = arguments.path(0);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    draw(path, &shown)?;
    println!("picture: {}", path.display());
    Ok(())
}

/// The rods now and then with the path of the tip, and the angles over time.
fn draw(path: &Path, samples: &[Sample]) -> Result<(), Box<dyn Error>> {
    let root = SVGBackend::new(path, (1000, 440)).into_drawing_area();
    root.fill(&WHITE)?;
    let (left, right) = root.split_horizontally(440);
    let [blue, red] = [RGBColor(40, 80, 150), RGBColor(205, 90, 50)];

    let mut chart = ChartBuilder::on(&left)
        .caption("Two seconds of it", ("sans-serif", 17))
        .margin(10)
        .x_label_area_size(34)
        .y_label_area_size(46)
        .build_cartesian_2d(-1.1..1.1, -1.1..1.1)?;
    chart.configure_mesh().max_light_lines(0).x_desc("x [m]").y_desc("z [m]").draw()?;
    let begin = || samples.iter().take_while(|sample| sample.host.time < 2.0);
    let points = |host: &DoublePendulum| {
        let [X_GA, X_GB] = [0, 1].map(|rod| host.pose_of_rod(rod));
        let tip = X_GB * Point3::new(0.0, 0.0, -LENGTH);
        [X_GA.translation.vector, X_GB.translation.vector, tip.coords].map(|p| (p.x, p.z))
    };
    for sample in begin().step_by(100) {
        chart.draw_series(LineSeries::new(points(&sample.host), blue.mix(0.45).stroke_width(3)))?;
    }
    chart.draw_series(LineSeries::new(begin().map(|sample| points(&sample.host)[2]), red.stroke_width(2)))?;

    let mut chart = ChartBuilder::on(&right)
        .caption("Angles; the elbow between its stops", ("sans-serif", 17))
        .margin(10)
        .x_label_area_size(34)
        .y_label_area_size(46)
        .build_cartesian_2d(0.0..END, -150.0..150.0)?;
    chart.configure_mesh().max_light_lines(0).x_desc("t [s]").y_desc("angle [°]").draw()?;
    for stop in [-STOP, STOP] {
        let line = [(0.0, stop.to_degrees()), (END, stop.to_degrees())];
        chart.draw_series(LineSeries::new(line, BLACK.mix(0.4).stroke_width(1)))?;
    }
    for (joint, name, color) in [(0, "shoulder", blue), (1, "elbow", red)] {
        let line = samples.iter().map(|sample| (sample.host.time, sample.host.q[joint].to_degrees()));
        chart
            .draw_series(LineSeries::new(line, color.stroke_width(2)))?
            .label(name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 14, y)], color.stroke_width(2)));
    }
    let mut labels = chart.configure_series_labels();
    labels.position(SeriesLabelPosition::UpperRight);
    labels.background_style(WHITE.mix(0.85)).border_style(BLACK.mix(0.3)).draw()?;
    root.present()?;
    Ok(())
}
