//! A picture: the scene with the paths of both ends and some shapes of the cable, and the energies.

use std::error::Error;
use std::path::Path;

use force_elements::Pose;
use force_elements::cable::PathResults;
use force_elements::nalgebra::{Point3, Vector3};
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
    shapes: Vec<Vec<Point3<f64>>>,
}

/// A flat piece of the scene, ready for the painter: the farthest is drawn first.
struct Piece {
    depth: f64,
    corners: Vec<(f64, f64)>,
    color: RGBAColor,
    /// Of a line \[pixels\]; a face has none.
    width: Option<u32>,
}

/// From where the scene is looked at, and what is seen.
struct View {
    right: Vector3<f64>,
    up: Vector3<f64>,
    toward_eye: Vector3<f64>,
    pieces: Vec<Piece>,
}

impl View {
    fn from(toward_eye: Vector3<f64>) -> Self {
        let toward_eye = toward_eye.normalize();
        let right = Vector3::z().cross(&toward_eye).normalize();
        Self { right, up: toward_eye.cross(&right), toward_eye, pieces: Vec::new() }
    }

    fn see(&self, p: &Point3<f64>) -> (f64, f64) {
        (p.coords.dot(&self.right), p.coords.dot(&self.up))
    }

    /// A face with this outward normal, if it is turned towards the eye.
    fn add_face(
        &mut self,
        corners: &[Vector3<f64>; 4],
        normal: &Vector3<f64>,
        color: RGBColor,
        opacity: f64,
    ) {
        if normal.dot(&self.toward_eye) <= 0.0 {
            return;
        }
        let light = Vector3::new(-0.5, -0.6, 0.9).normalize();
        let color = shaded(color, 0.7 + 0.3 * normal.normalize().dot(&light)).mix(opacity);
        let middle = corners.iter().sum::<Vector3<f64>>() / 4.0;
        let outline = corners.iter().map(|p| self.see(&Point3::from(*p))).collect();
        let depth = middle.dot(&self.toward_eye);
        self.pieces.push(Piece { depth, corners: outline, color, width: None });
    }

    /// A line, in pieces short enough to be sorted; `ahead` of what it lies on \[m\].
    fn add_line(&mut self, line: &[Point3<f64>], color: RGBAColor, width: u32, ahead: f64) {
        for pair in line.windows(2) {
            let parts = ((pair[1] - pair[0]).norm() / 0.05).ceil().max(1.0);
            let mut part = 0.0;
            while part < parts {
                let ends = [part / parts, (part + 1.0) / parts].map(|u| pair[0].lerp(&pair[1], u));
                let depth = ends[0].coords.dot(&self.toward_eye) + ahead;
                let corners = ends.iter().map(|p| self.see(p)).collect();
                self.pieces.push(Piece { depth, corners, color, width: Some(width) });
                part += 1.0;
            }
        }
    }

    fn add_cylinder(&mut self, X_GS: &Pose<f64>) {
        const PARTS: u32 = 72;
        const RINGS: u32 = 12;
        let at = |i: u32, j: u32| {
            let angle = core::f64::consts::TAU * f64::from(i) / f64::from(PARTS);
            let z = HALF_LENGTH * (2.0 * f64::from(j) / f64::from(RINGS) - 1.0);
            (X_GS * Point3::new(RADIUS * angle.cos(), RADIUS * angle.sin(), z)).coords
        };
        for i in 0..PARTS {
            for j in 0..RINGS {
                let corners = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
                let normal = (corners[2] - corners[0]).cross(&(corners[3] - corners[1]));
                self.add_face(&corners, &normal, CYLINDER, 1.0);
            }
            for (end, sense) in [(0, -1.0), (RINGS, 1.0)] {
                let middle = (X_GS * Point3::new(0.0, 0.0, sense * HALF_LENGTH)).coords;
                let normal = X_GS.rotation * Vector3::z() * sense;
                self.add_face(&[middle, at(i, end), at(i + 1, end), middle], &normal, CYLINDER, 1.0);
            }
        }
    }

    fn add_box(&mut self, X_GB: &Pose<f64>, color: RGBColor, opacity: f64) {
        for axis in 0..3 {
            for side in [-1.0, 1.0] {
                let corner = |u: f64, v: f64| {
                    let mut p = Vector3::zeros();
                    (p[axis], p[(axis + 1) % 3], p[(axis + 2) % 3]) = (side, u, v);
                    (X_GB * Point3::from(p.component_mul(&Vector3::from(HALF_SIDES)))).coords
                };
                let corners = [corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
                let normal = X_GB.rotation * Vector3::ith(axis, side);
                self.add_face(&corners, &normal, color, opacity);
            }
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to a byte")]
fn shaded(RGBColor(r, g, b): RGBColor, shade: f64) -> RGBColor {
    let dim = |x: u8| (f64::from(x) * shade).clamp(0.0, 255.0) as u8;
    RGBColor(dim(r), dim(g), dim(b))
}

impl<'a> Film<'a> {
    pub(crate) fn new(scene: &'a SwingingCable) -> Self {
        Self { scene, shapes: Vec::new() }
    }

    /// Keeps the shape of the cable at one sample of a run.
    pub(crate) fn expose(&mut self, cable: &PathResults<f64>) {
        self.shapes.push(cable.sample(self.scene.system.element(self.scene.cable).path(), 0.02));
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
        let mut view = View::from(Vector3::new(-0.28, -1.0, 0.5));
        let cable = self.scene.system.element(self.scene.cable);
        view.add_cylinder(&cable.path().obstacles()[0].frame().X_BF);
        for (end, color) in ENDS.iter().enumerate() {
            let path: Vec<_> = samples.iter().map(|sample| sample.eyes()[end]).collect();
            view.add_line(&path, color.mix(0.4), 2, 0.0);
        }
        let shown = shown(samples);
        for &(place, _, color, width) in &shown {
            view.add_line(&self.shapes[place], color.to_rgba(), width, 0.1);
        }
        if let Some(&(place, ..)) = shown.last() {
            for (pose, color) in samples[place].poses.iter().zip(ENDS) {
                view.add_box(pose, color, 0.85);
            }
        }
        view.pieces.sort_by(|a, b| a.depth.total_cmp(&b.depth));

        let (width, height) = (f64::from(WIDTH) / SCALE, f64::from(SCENE_HEIGHT) / SCALE);
        let bottom = -0.71;
        let pixels = (0..i32::try_from(WIDTH)?, 0..i32::try_from(SCENE_HEIGHT)?);
        let plane = area.apply_coord_spec(Cartesian2d::<RangedCoordf64, RangedCoordf64>::new(
            -0.5 * width..0.5 * width,
            bottom + height..bottom,
            pixels,
        ));
        for Piece { corners, color, width, .. } in &view.pieces {
            if let Some(width) = width {
                plane.draw(&PathElement::new(corners.clone(), color.stroke_width(*width)))?;
            } else {
                plane.draw(&Polygon::new(corners.clone(), color.filled()))?;
                let outline: Vec<_> = corners.iter().chain(corners.first()).copied().collect();
                plane.draw(&PathElement::new(outline, color.stroke_width(1)))?;
            }
        }
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
