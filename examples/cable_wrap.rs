//! An elastic cable over a sphere, a cylinder and an ellipsoid, through a torus and across both sides of a ring to the drum
//! of a winch, while the sphere rises into the cable and the winch hauls and pays out.
//!
//! Prints length, tension and contacts, and writes two pictures: the wrapped path, and the tension
//! over time with the intervals of contact.
//!
//! ```text
//! cargo run --release --example cable_wrap [-- FOLDER]
//! ```
#![allow(non_snake_case, reason = "monogram notation")]

use core::f64::consts::{FRAC_PI_2, PI, TAU};
use std::error::Error;
use std::path::Path;

use force_elements::cable::{CablePath, Obstacle};
use force_elements::nalgebra::{Point3, Rotation3, Translation3, Vector3};
use force_elements::shapes::{Cylinder, Ellipsoid, Sphere, Torus};
use force_elements::{
    BodyIndex, CableSpring, ForceSystem, Frame, Handle, Mark, Meaning, Pose, SpatialVelocity, State, Station,
    cable_spring,
};
use force_elements_examples::scene::Scene;
use force_elements_examples::{Argument, Arguments, Table, println};
// Linked so that the generic code compiled with it, for all tests, is not compiled again here.
use force_elements_scenes as _;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;

const NAMES: [&str; 6] = ["sphere", "cylinder", "ellipsoid", "torus", "ring", "drum"];
const COLORS: [RGBColor; 6] = [
    RGBColor(86, 145, 196),
    RGBColor(226, 160, 74),
    RGBColor(109, 170, 110),
    RGBColor(160, 120, 180),
    RGBColor(190, 130, 120),
    RGBColor(150, 150, 158),
];
const CABLE: RGBColor = RGBColor(150, 25, 30);

/// Turns on the drum at first.
const TURNS: f64 = 2.5;
/// Radius and half length.
const DRUM: [f64; 2] = [0.4, 0.6];
const SPHERE: f64 = 0.7;
const CYLINDER: f64 = 0.55;
const ELLIPSOID: [f64; 3] = [0.8, 0.55, 1.0];
const TORUS: [f64; 2] = [1.3, 0.35];
const RING: [f64; 2] = [0.8, 0.2];

/// Where the cable begins.
const ORIGIN: Point3<f64> = Point3::new(-1.9, -0.55, 0.0);

/// The cable, the body that carries the sphere, and the drum.
struct Rig {
    system: ForceSystem<f64>,
    cable: Handle<CableSpring<f64>>,
    lift: BodyIndex,
    drum: BodyIndex,
}

/// What is plotted of one instant.
struct Instant {
    time: f64,
    tension: f64,
    contacts: [bool; 6],
}

fn build() -> Result<Rig, force_elements::Error> {
    let mut system = ForceSystem::new();
    let (lift, drum) = (system.add_body(), system.add_body());
    let fixed = |x, y, z, R| Pose::from_parts(Translation3::new(x, y, z), R);
    let upright = Rotation3::identity();
    let tilted = Rotation3::from_axis_angle(&Vector3::x_axis(), 0.25);
    let facing = Rotation3::from_axis_angle(&Vector3::y_axis(), FRAC_PI_2);
    // Laid flat, a little lower towards the drum.
    let lying = Rotation3::from_axis_angle(&Vector3::z_axis(), -0.155)
        * Rotation3::from_axis_angle(&Vector3::x_axis(), -FRAC_PI_2);
    let origin = Station::ground(ORIGIN);
    // Fixed on the drum near its end, so that the laps lie beside each other.
    let fastened = Station::on(drum, Point3::new(0.0, DRUM[0], -0.5));
    let path = CablePath::new(origin, fastened)?
        .over(Obstacle::new(Frame::of(lift), Sphere::new(SPHERE)?)?)
        .over(Obstacle::new(Frame::ground(fixed(2.0, -0.5, 0.0, tilted)), Cylinder::new(CYLINDER)?)?)
        .over(Obstacle::new(
            Frame::ground(fixed(4.0, -0.3, 0.1, upright)),
            Ellipsoid::new(Vector3::from(ELLIPSOID))?,
        )?)
        .over(
            Obstacle::new(Frame::ground(fixed(6.1, 1.05, 0.0, facing)), Torus::new(TORUS[0], TORUS[1])?)?
                .with_contact_hint(Point3::new(0.0, -0.95, 0.0))?,
        )
        .over(Obstacle::new(Frame::ground(fixed(8.2, -0.32, 0.0, lying)), Torus::new(RING[0], RING[1])?)?)
        .over(Obstacle::new(Frame::of(drum), Cylinder::new(DRUM[0])?)?);
    let cable = system.add(CableSpring::new(
        path,
        cable_spring::Parameters {
            stiffness: 400.0,
            slack_length: 11.5 + DRUM[0] * TAU * TURNS,
            dissipation: 0.05,
        },
    )?)?;
    Ok(Rig { system, cable, lift, drum })
}

impl Rig {
    /// Where the two bodies are and how they move, with these turns on the drum.
    fn drive(&self, state: &mut State<f64>, time: f64, turns: f64) -> Result<(), force_elements::Error> {
        let still = Vector3::zeros();
        let y = -0.8 - 0.4 * (TAU * time).cos();
        let X = Pose::translation(0.0, y, 0.0);
        let v = Vector3::new(0.0, 0.4 * TAU * (TAU * time).sin(), 0.0);
        state.set_body(self.lift, X, SpatialVelocity::new(still, v))?;
        let place = Translation3::new(9.9, -1.0, 0.0);
        // It winds clockwise.
        let angle = -TAU * turns - 0.5 * (TAU * time).sin();
        let spin = Vector3::z() * (-0.5 * TAU * (TAU * time).cos());
        let turned = Rotation3::from_axis_angle(&Vector3::z_axis(), angle);
        state.set_body(self.drum, Pose::from_parts(place, turned), SpatialVelocity::new(spin, still))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::read(
        "A cable over a sphere, a cylinder and an ellipsoid, through a torus and across a ring to a winch: a table, and two pictures.",
        [Argument { name: "FOLDER", help: "where the pictures are written", default: "target" }],
    );
    let folder = arguments.path(0);
    std::fs::create_dir_all(folder)?;
    let rig = build()?;
    let mut state = rig.system.default_state();
    // Winds the drum.
    for step in 0..=60 {
        rig.drive(&mut state, 0.0, TURNS * f64::from(step) / 60.0)?;
        rig.system.realize_dynamics(&mut state)?;
        rig.system.accept_step(&mut state)?;
    }
    let mut history = Vec::new();
    let (eye, light) = (Vector3::new(0.35, 0.52, 0.78), Vector3::new(-0.35, 0.8, 0.5));
    let mut poses = [Pose::identity(); 2];
    let mut scene = Scene::new(eye, Vector3::y(), light);
    let mut table = Table::new(["t [s]", "length [m]", "rate [m/s]", "turns", "tension [N]", "contacts"]);
    for step in 0..=400_u32 {
        let time = 0.005 * f64::from(step);
        rig.drive(&mut state, time, TURNS)?;
        let dynamics = rig.system.realize_dynamics(&mut state)?;
        let at = dynamics.of(rig.cable);
        let path = &at.position.path;
        let touching =
            |i| path.contacts.iter().filter(move |contact| contact.obstacle == i && contact.in_contact);
        let contacts = core::array::from_fn(|i| touching(i).next().is_some());
        if step % 25 == 0 {
            let named: Vec<_> = (0..NAMES.len()).flat_map(|i| touching(i).map(move |_| NAMES[i])).collect();
            let wound = touching(NAMES.len() - 1).map(|contact| contact.geodesic.length).sum::<f64>();
            table.row([
                format!("{time:.3}"),
                format!("{:.5}", path.length),
                format!("{:.4}", at.velocity.length_rate),
                format!("{:.3}", wound / (TAU * DRUM[0])),
                format!("{:.3}", at.dynamics.tension),
                named.join(", "),
            ]);
        }
        if let Some((color, width)) = match step {
            200 => Some((RGBColor(205, 130, 120), 4)),
            300 => Some((CABLE, 8)),
            _ => None,
        } {
            let style = |mark: Mark| (mark.meaning == Meaning::Cable).then(|| (color.to_rgba(), width));
            scene.add_elements(&dynamics, &style, 0.06);
            poses = [rig.lift, rig.drum].map(|body| *dynamics.pose(body));
        }
        history.push(Instant { time, tension: at.dynamics.tension, contacts });
        rig.system.accept_step(&mut state)?;
    }
    println!("{table}");
    draw_path(&folder.join("cable_wrap.svg"), &rig, scene, poses)?;
    draw_tension(&folder.join("cable_tension.svg"), &history)?;
    println!("pictures in {}", folder.display());
    Ok(())
}

fn round(radii: [f64; 3]) -> impl Fn(f64, f64) -> Vector3<f64> {
    move |u, v| {
        let (a, b) = (TAU * u, PI * v);
        Vector3::new(radii[0] * a.cos() * b.sin(), radii[1] * a.sin() * b.sin(), -radii[2] * b.cos())
    }
}

/// The patches of a surface each way.
const PARTS: [u32; 2] = [56; 2];

/// Draws the obstacles where they are at last, with the cable that the scene has already.
fn draw_path(
    file: &Path,
    rig: &Rig,
    mut scene: Scene,
    [last, drum]: [Pose<f64>; 2],
) -> Result<(), Box<dyn Error>> {
    let obstacles = rig.system.element(rig.cable).path().obstacles();
    scene.add_surface(&last, COLORS[0], PARTS, round([SPHERE; 3]));
    scene.add_column(&obstacles[1].frame().X_BF, COLORS[1], [CYLINDER, 1.1]);
    scene.add_surface(&obstacles[2].frame().X_BF, COLORS[2], PARTS, round(ELLIPSOID));
    for (i, [ring, tube]) in [(3, TORUS), (4, RING)] {
        scene.add_surface(&obstacles[i].frame().X_BF, COLORS[i], PARTS, |u, v| {
            let (a, b) = (TAU * u, TAU * v);
            let reach = ring + tube * b.cos();
            Vector3::new(reach * a.cos(), reach * a.sin(), tube * b.sin())
        });
    }
    scene.add_column(&drum, COLORS[5], DRUM);
    let area = SVGBackend::new(file, (2680, 1264)).into_drawing_area();
    area.fill(&WHITE)?;
    // One unit of length is 200 pixels both ways.
    let area = area.apply_coord_spec(Cartesian2d::<RangedCoordf64, RangedCoordf64>::new(
        -3.0..10.4,
        2.42..-3.9,
        (0..2680, 0..1264),
    ));
    scene.paint(&area)?;
    area.draw(&Circle::new(scene.see(&ORIGIN), 11, CABLE.filled()))?;
    let style = ("sans-serif", 36).into_font().color(&RGBColor(60, 60, 60));
    let title = "A cable over a sphere that rises into it, a cylinder, an ellipsoid, through a torus and across a ring to a winch";
    area.draw(&Text::new(title, (-2.8, 2.22), style.clone()))?;
    let small = ("sans-serif", 27).into_font().color(&RGBColor(110, 110, 110));
    let note = "dark: t = 1.5 s, the sphere holds it up; light: t = 1 s, the sphere hangs below";
    area.draw(&Text::new(note, (-2.8, 1.95), small))?;
    area.present()?;
    Ok(())
}

fn draw_tension(file: &Path, history: &[Instant]) -> Result<(), Box<dyn Error>> {
    let area = SVGBackend::new(file, (1200, 620)).into_drawing_area();
    area.fill(&WHITE)?;
    let (upper, lower) = area.split_vertically(450);
    let end = history.last().map_or(1.0, |instant| instant.time);
    let highest = history.iter().map(|instant| instant.tension).fold(0.0, f64::max);
    let grey = RGBColor(90, 90, 90);
    let text = |size: u32| ("sans-serif", size).into_font().color(&grey);

    let mut chart = ChartBuilder::on(&upper)
        .caption("Tension of the cable", text(24))
        .margin(12)
        .x_label_area_size(48)
        .y_label_area_size(95)
        .build_cartesian_2d(0.0..end, 0.0..highest * 1.1)?;
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .y_desc("tension [N]")
        .x_desc("time [s]")
        .label_style(text(16))
        .axis_style(grey)
        .draw()?;
    let points = history.iter().map(|instant| (instant.time, instant.tension));
    let below = points.clone().chain([(end, 0.0), (0.0, 0.0)]).collect::<Vec<_>>();
    chart.draw_series([Polygon::new(below, CABLE.mix(0.10))])?;
    chart.draw_series(LineSeries::new(points, CABLE.stroke_width(3)))?;
    for pair in history.windows(2) {
        for (i, color) in COLORS.iter().enumerate() {
            if pair[0].contacts[i] != pair[1].contacts[i] {
                let at = (pair[1].time, pair[1].tension);
                chart.draw_series([
                    Circle::new(at, 6, color.filled()),
                    Circle::new(at, 6, WHITE.stroke_width(2)),
                ])?;
            }
        }
    }

    let mut bars = ChartBuilder::on(&lower)
        .margin(12)
        .margin_top(0)
        .y_label_area_size(95)
        .build_cartesian_2d(0.0..end, 0.0..6.0)?;
    for (i, (name, color)) in NAMES.iter().zip(COLORS).enumerate() {
        let row = 5.0 - f64::from(u8::try_from(i)?);
        bars.draw_series(history.windows(2).filter(|pair| pair[0].contacts[i]).map(|pair| {
            Rectangle::new([(pair[0].time, row + 0.25), (pair[1].time + 1e-3, row + 0.75)], color.filled())
        }))?;
        let (x, y) = bars.backend_coord(&(0.0, row + 0.62));
        lower.strip_coord_spec().draw(&Text::new(*name, (x - 90, y - lower.get_base_pixel().1), text(16)))?;
    }
    area.present()?;
    Ok(())
}
