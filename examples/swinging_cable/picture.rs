//! A picture: the scene with the paths of both ends and some shapes of the cable, and the energies.

use std::error::Error;
use std::path::Path;

use force_elements::nalgebra::{Point3, Vector3};
use force_elements::{Canvas, DynamicsView, Mark, Meaning, Pose};
use force_elements_examples::scene::Scene;
use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;

use force_elements_scenes::swinging_cable::{HALF_SIDES, RADIUS, Run, SECONDS, Sample, SwingingCable};

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// When something is so: its name, color and whether it is.
type Bar = (&'static str, RGBColor, fn(&Sample) -> bool);

/// One layer of the stack of energies: its name, color and thickness.
type Layer = (&'static str, RGBColor, fn(&Sample) -> f64);

// Twice the size that text is made for: places are whole pixels.
const WIDTH: u32 = 2480;
const SCENE_HEIGHT: u32 = 1160;
const HEIGHT: u32 = 2000;
const KEY_HEIGHT: u32 = 70;
/// Pixels per metre.
const SCALE: f64 = 680.0;
/// Half the length of the cylinder as it is drawn \[m\]; it has no ends.
const HALF_LENGTH: f64 = 0.75;
const CYLINDER: RGBColor = RGBColor(206, 190, 160);
const ENDS: [RGBColor; 2] = [RGBColor(70, 130, 190), RGBColor(95, 160, 95)];
const CABLE: RGBColor = RGBColor(150, 25, 30);
const TEXT: RGBColor = RGBColor(80, 80, 80);

/// The shapes of the cable in the course of a run.
pub(crate) struct Film<'a> {
    scene: &'a SwingingCable,
    shapes: Vec<Shape>,
}

/// The pieces of the cable, as it draws itself.
#[derive(Default)]
struct Shape(Vec<[Point3<f64>; 2]>);

impl Canvas for Shape {
    fn line(&mut self, mark: Mark, from: Point3<f64>, to: Point3<f64>) {
        if mark.meaning == Meaning::Cable {
            self.0.push([from, to]);
        }
    }
}

impl<'a> Film<'a> {
    pub(crate) fn new(scene: &'a SwingingCable) -> Self {
        Self { scene, shapes: Vec::new() }
    }

    /// Keeps the shape of the cable at one sample of a run.
    pub(crate) fn expose(&mut self, dynamics: &DynamicsView<'_, f64>) {
        let mut shape = Shape::default();
        dynamics.draw(&mut shape);
        self.shapes.push(shape);
    }

    /// Draws the run that was filmed, and the energies of another one beside its own.
    pub(crate) fn draw(&self, path: &Path, filmed: &Run, lossy: &Run) -> Result<(), Box<dyn Error>> {
        let root = SVGBackend::new(path, (WIDTH, HEIGHT)).into_drawing_area();
        root.fill(&WHITE)?;
        let (top, bottom) = root.split_vertically(SCENE_HEIGHT);
        self.draw_scene(&top, &filmed.samples)?;
        let (charts, key) = bottom.split_vertically(HEIGHT - SCENE_HEIGHT - KEY_HEIGHT);
        let (left, right) = charts.split_horizontally(WIDTH / 2);
        draw_energies(&left, "Without dissipation", &filmed.samples)?;
        draw_energies(&right, "With dissipation", &lossy.samples)?;
        draw_key(&key)?;
        root.present()?;
        Ok(())
    }

    fn draw_scene(&self, area: &Area<'_>, samples: &[Sample]) -> Result<(), Box<dyn Error>> {
        let mut view =
            Scene::new(Vector3::new(-0.28, -1.0, 0.5), Vector3::z(), Vector3::new(-0.5, -0.6, 0.9));
        let X_GS: Pose<f64> = self.scene.system.element(self.scene.cable).path().obstacles()[0].frame().X_BF;
        view.add_column(&X_GS, CYLINDER, [RADIUS, HALF_LENGTH]);
        for (end, color) in ENDS.iter().enumerate() {
            let path: Vec<_> = samples.iter().map(|sample| sample.eyes()[end]).collect();
            view.add_line(&path, color.mix(0.4), 2, 0.0);
        }
        let shown = shown(samples);
        for &(place, _, color, width) in &shown {
            for piece in &self.shapes[place].0 {
                view.add_line(piece, color.to_rgba(), width, 0.1);
            }
        }
        if let Some(&(place, ..)) = shown.last() {
            for (pose, color) in samples[place].poses.iter().zip(ENDS) {
                view.add_box(pose, HALF_SIDES, color, 0.85);
            }
        }

        let (width, height) = (f64::from(WIDTH) / SCALE, f64::from(SCENE_HEIGHT) / SCALE);
        let bottom = -0.71;
        let pixels = (0..i32::try_from(WIDTH)?, 0..i32::try_from(SCENE_HEIGHT)?);
        let plane = area.apply_coord_spec(Cartesian2d::<RangedCoordf64, RangedCoordf64>::new(
            -0.5 * width..0.5 * width,
            bottom + height..bottom,
            pixels,
        ));
        view.paint(&plane)?;
        for &(place, _, color, width) in &shown {
            for eye in samples[place].eyes() {
                plane.draw(&Circle::new(view.see(&eye), width + 2, color.filled()))?;
            }
        }
        let title = text(40);
        area.draw(&Text::new("A cable over a cylinder between two bodies on soft springs", (40, 30), title))?;
        let top = i32::try_from(SCENE_HEIGHT)? - 250;
        area.draw(&Text::new(
            format!("paths of its ends in {SECONDS} s, and its shape:"),
            (1700, top),
            text(30),
        ))?;
        for (row, (place, what, color, width)) in (1..).zip(&shown) {
            let y = top + 44 * row;
            area.draw(&PathElement::new([(1700, y + 16), (1760, y + 16)], color.stroke_width(*width)))?;
            let label = format!("{what}, {:.2} s", samples[*place].time);
            area.draw(&Text::new(label, (1776, y), text(30)))?;
        }
        Ok(())
    }
}

/// Which samples to show the cable of: what they are, color and width.
fn shown(samples: &[Sample]) -> Vec<(usize, &'static str, RGBColor, u32)> {
    let best = |of: &dyn Fn(&Sample) -> f64| {
        (0..samples.len()).max_by(|&a, &b| of(&samples[a]).total_cmp(&of(&samples[b]))).unwrap_or(0)
    };
    let along = |sample: &Sample| sample.eyes().iter().map(|eye| eye.y).sum::<f64>();
    let height = |sample: &Sample| sample.eyes().iter().map(|eye| eye.z).sum::<f64>();
    let only = |holds: bool, value: f64| if holds { value } else { f64::NEG_INFINITY };
    vec![
        (
            best(&|s| only(s.elongation == 0.0, -(s.eyes()[0] - s.eyes()[1]).norm())),
            "slack",
            RGBColor(130, 130, 130),
            4,
        ),
        (
            best(&|s| only(!s.in_contact && s.elongation > 0.0, height(s))),
            "taut, clear of the cylinder",
            RGBColor(225, 150, 60),
            6,
        ),
        (best(&|s| only(s.in_contact, along(s))), "farthest back", RGBColor(165, 125, 190), 6),
        (best(&|s| only(s.in_contact, -along(s))), "farthest forward", RGBColor(105, 70, 135), 6),
        (best(&|s| s.tension), "at the highest tension", CABLE, 8),
    ]
}

fn text(size: u32) -> TextStyle<'static> {
    ("sans-serif", size).into_font().color(&TEXT)
}

/// From the bottom up.
const STACK: [Layer; 5] = [
    ("dissipated", RGBColor(205, 110, 80), |s| s.dissipated),
    ("in the cable", CABLE, |s| s.in_cable),
    ("in the supports", RGBColor(110, 175, 110), |s| s.in_supports),
    ("gravitational", RGBColor(200, 195, 180), |s| s.gravitational),
    ("kinetic", RGBColor(70, 130, 190), |s| s.kinetic),
];

/// From the top down.
const BARS: [Bar; 2] = [
    ("on the cylinder", RGBColor(170, 150, 115), |s| s.in_contact),
    ("taut", RGBColor(105, 70, 135), |s| s.elongation > 0.0),
];

/// Where the energy is: a stack whose upper edge does not move; below, when the cable touches and is taut.
fn draw_energies(area: &Area<'_>, name: &str, samples: &[Sample]) -> Result<(), Box<dyn Error>> {
    // Heights count from the lowest.
    let lowest = samples.iter().map(|s| s.gravitational).fold(f64::INFINITY, f64::min);
    let total = samples[0].total() - lowest;
    let bar = 0.055 * total;
    let mut chart = ChartBuilder::on(area)
        .caption(format!("{name}: where the energy is"), text(34))
        .margin(24)
        .x_label_area_size(76)
        .y_label_area_size(100)
        .build_cartesian_2d(0.0..f64::from(SECONDS), -2.4 * bar..total * 1.03)?;
    chart
        .configure_mesh()
        .disable_mesh()
        .x_desc("t [s]")
        .y_desc("energy [J]")
        .label_style(text(26))
        .axis_style(TEXT)
        .draw()?;
    for (i, (_, color, _)) in STACK.iter().enumerate().rev() {
        let upper = samples.iter().map(|s| {
            let sum: f64 = STACK[..=i].iter().map(|(.., of)| of(s)).sum();
            (s.time, if i >= 3 { sum - lowest } else { sum })
        });
        chart.draw_series(AreaSeries::new(upper, 0.0, color.filled()))?;
    }
    for (row, (_, color, is_so)) in [0.3, 1.3].into_iter().zip(BARS) {
        for stretch in samples.chunk_by(|a, b| is_so(a) == is_so(b)).filter(|stretch| is_so(&stretch[0])) {
            let (from, to) = (stretch[0].time, stretch[stretch.len() - 1].time);
            let corners = [(from, -(row + 0.75) * bar), (to, -row * bar)];
            chart.draw_series([Rectangle::new(corners, color.filled())])?;
        }
    }
    Ok(())
}

/// What the colors mean, in one row.
fn draw_key(area: &Area<'_>) -> Result<(), Box<dyn Error>> {
    let energies = STACK.iter().rev().map(|(name, color, _)| (*name, *color));
    let mut x = 130;
    for (name, color) in energies.chain(BARS.map(|(name, color, _)| (name, color))) {
        area.draw(&Rectangle::new([(x, 14), (x + 26, 40)], color.filled()))?;
        area.draw(&Text::new(name, (x + 40, 12), text(30)))?;
        x += 130 + 16 * i32::try_from(name.len())?;
    }
    Ok(())
}
