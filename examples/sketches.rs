//! Sketches of the elements, drawn by the elements on a canvas, and plots of their laws, for the pages of the elements.
//!
//! ```text
//! cargo run --release --example sketches [-- FOLDER]
//! ```
#![allow(non_snake_case, reason = "monogram notation")]

use std::error::Error;
use std::fmt::Write as _;

use force_elements::cable::{CablePath, Obstacle};
use force_elements::elastic_foundation::Material;
use force_elements::nalgebra::{Point3, Rotation3, Translation3, Vector3, Vector6};
use force_elements::shapes::{HalfSpace, Sphere, TriangleMesh};
use force_elements::spatial_bushing::{Curve, Symmetric6};
use force_elements::{
    BodyIndex, CableSpring, Canvas, CoordinatePair, CoordinateSpringDamperExt, CustomForce,
    ElasticFoundation, ExponentialSpring, ForceSystem, Frame, HertzContact, LinearBushing, Mark, Meaning,
    Pose, SpatialBushing, SpatialVelocity, State, Station, cable_spring, coordinate_spring_damper_ext,
    exponential_spring, hertz_contact, linear_bushing, spatial_bushing,
};
use force_elements_examples::{Argument, Arguments, println};
// Linked so that the generic code compiled with it, for all tests, is not compiled again here.
use force_elements_scenes as _;

/// A style of lines and dots: those of one color and width are one path.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Style {
    Body,
    Face,
    Frame,
    Anchor,
    Cable,
    Force,
    Torque,
}

impl Style {
    fn attributes(self) -> &'static str {
        match self {
            Self::Body => r#"stroke="currentColor" stroke-opacity=".45""#,
            Self::Face => r##"stroke="#e08a1e""##,
            Self::Frame => r##"stroke="#5a8f5a" stroke-width="1.5""##,
            Self::Anchor => r##"stroke="#0a9d5f" stroke-width="2""##,
            Self::Cable => r##"stroke="#3a76c4" stroke-width="2.5""##,
            Self::Force => r##"stroke="#d0453a" stroke-width="2""##,
            Self::Torque => r##"stroke="#9a5fc0" stroke-width="2""##,
        }
    }
}

/// Lines in space, seen obliquely: x to the right, z up, y into the picture.
struct Sketch {
    lines: Vec<(Style, [[f64; 2]; 2])>,
    dots: Vec<[f64; 2]>,
    labels: Vec<(&'static str, [f64; 2])>,
    /// The length of an arrow for each newton or newton metre, and of the axes of a frame \[m\].
    per_newton: f64,
    axis: f64,
}

fn seen(p: Point3<f64>) -> [f64; 2] {
    [p.x + 0.42 * p.y, p.z + 0.3 * p.y]
}

impl Sketch {
    fn new(per_newton: f64, axis: f64) -> Self {
        Self { lines: Vec::new(), dots: Vec::new(), labels: Vec::new(), per_newton, axis }
    }

    fn segment(&mut self, style: Style, from: Point3<f64>, to: Point3<f64>) {
        self.lines.push((style, [seen(from), seen(to)]));
    }

    fn label(&mut self, text: &'static str, x: f64, z: f64) {
        self.labels.push((text, [x, z]));
    }

    /// A closed outline of a body.
    fn outline(&mut self, points: impl IntoIterator<Item = Point3<f64>>) {
        let points: Vec<_> = points.into_iter().collect();
        for (i, from) in points.iter().enumerate() {
            self.segment(Style::Body, *from, points[(i + 1) % points.len()]);
        }
    }

    /// A circle about a point in the plane of the picture.
    fn circle(&mut self, center: Point3<f64>, radius: f64) {
        let at = |k: u16| (f64::from(k) * std::f64::consts::TAU / 48.0).sin_cos();
        self.outline((0..48).map(at).map(|(s, c)| center + Vector3::new(c, 0.0, s) * radius));
    }

    /// The edges of a box.
    fn solid(&mut self, X_GB: &Pose<f64>, half: [f64; 3]) {
        let corner = |i: usize| {
            let side = |axis: usize| if i >> axis & 1 == 1 { half[axis] } else { -half[axis] };
            X_GB * Point3::new(side(0), side(1), side(2))
        };
        for i in 0..8 {
            for axis in (0..3).filter(|axis| i >> axis & 1 == 0) {
                self.segment(Style::Body, corner(i), corner(i | 1 << axis));
            }
        }
    }
}

impl Canvas for Sketch {
    fn line(&mut self, mark: Mark, from: Point3<f64>, to: Point3<f64>) {
        let style = match mark.meaning {
            Meaning::Cable => Style::Cable,
            Meaning::Face => Style::Face,
            Meaning::Frame => Style::Frame,
            Meaning::Anchor => Style::Anchor,
            Meaning::Force(_) => Style::Force,
            Meaning::Torque(_) => Style::Torque,
            _ => Style::Body,
        };
        self.segment(style, from, to);
    }

    fn point(&mut self, _: Mark, at: Point3<f64>) {
        self.dots.push(seen(at));
    }

    fn size(&self, mark: Mark) -> f64 {
        match mark.meaning {
            Meaning::Force(_) | Meaning::Torque(_) => self.per_newton * mark.value,
            _ => self.axis,
        }
    }
}

/// Curves of a law: name, and points.
type Curves = Vec<(&'static str, Vec<(f64, f64)>)>;

struct Plot {
    x: &'static str,
    y: &'static str,
    curves: Curves,
}

const COLORS: [&str; 3] = ["#3a76c4", "#d0453a", "#0a9d5f"];
/// Left and top of the plot, and its size, in pixels.
const BOX: [f64; 4] = [380.0, 26.0, 240.0, 170.0];

/// The sketch on the left, the plot on the right.
fn picture(sketch: &Sketch, plot: &Plot) -> Result<String, std::fmt::Error> {
    let mut svg =
        String::from("<div><svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 240\" width=\"640\" ");
    svg.push_str("font-family=\"sans-serif\" font-size=\"12\" fill=\"none\" stroke-linecap=\"round\">\n");

    let points = || sketch.lines.iter().flat_map(|(_, ends)| *ends).chain(sketch.dots.iter().copied());
    let range =
        |axis: usize| points().fold([f64::MAX, f64::MIN], |[a, b], p| [a.min(p[axis]), b.max(p[axis])]);
    let [x, z] = [range(0), range(1)];
    let scale = (270.0 / (x[1] - x[0])).min(200.0 / (z[1] - z[0]));
    let place = |p: [f64; 2]| {
        [150.0 + (p[0] - 0.5 * (x[0] + x[1])) * scale, 120.0 - (p[1] - 0.5 * (z[0] + z[1])) * scale]
    };
    let mut lines = sketch.lines.clone();
    lines.sort_by_key(|(style, _)| *style);
    for group in lines.chunk_by(|a, b| a.0 == b.0) {
        write!(svg, "<path {} d=\"", group[0].0.attributes())?;
        let mut pen = [f64::NAN; 2];
        for (_, ends) in group {
            let [from, to] = ends.map(place).map(|p| p.map(|u| u.round_to(1)));
            if pen != from {
                write!(svg, "M{} {}", from[0], from[1])?;
            }
            write!(svg, "L{} {}", to[0], to[1])?;
            pen = to;
        }
        svg.push_str("\"/>\n");
    }
    for [u, v] in sketch.dots.iter().map(|p| place(*p)) {
        writeln!(svg, "<circle cx=\"{u:.1}\" cy=\"{v:.1}\" r=\"3.5\" fill=\"currentColor\"/>")?;
    }
    for (text, p) in &sketch.labels {
        let [u, v] = place(*p);
        writeln!(svg, "<text x=\"{u:.1}\" y=\"{v:.1}\" fill=\"currentColor\">{text}</text>")?;
    }
    plot_into(&mut svg, plot)?;
    svg.push_str("</svg></div>\n");
    Ok(svg)
}

/// Rounding to decimal places.
trait Round {
    fn round_to(self, digits: i32) -> Self;
}

impl Round for f64 {
    fn round_to(self, digits: i32) -> Self {
        let power = 10.0_f64.powi(digits);
        (self * power).round() / power + 0.0
    }
}

fn plot_into(svg: &mut String, plot: &Plot) -> std::fmt::Result {
    let [left, top, width, height] = BOX;
    let all = || plot.curves.iter().flat_map(|(_, points)| points);
    let range =
        |of: fn(&(f64, f64)) -> f64| all().map(of).fold([0.0_f64, 0.0], |[a, b], v| [a.min(v), b.max(v)]);
    let [x, y] = [range(|p| p.0), range(|p| p.1)];
    let place = |(a, b): (f64, f64)| {
        [left + (a - x[0]) / (x[1] - x[0]) * width, top + height - (b - y[0]) / (y[1] - y[0]) * height]
    };
    let [u, v] = place((0.0, 0.0));
    let (right, bottom) = (left + width, top + height);
    writeln!(
        svg,
        "<path stroke=\"currentColor\" stroke-opacity=\".6\" d=\"M{left} {v:.1}H{right}M{u:.1} {top}V{bottom}\"/>"
    )?;
    let mut text = |x: f64, y: f64, anchor: &str, text: &str| {
        writeln!(
            svg,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"currentColor\">{text}</text>"
        )
    };
    text(right, bottom + 34.0, "end", plot.x)?;
    text(left - 6.0, top - 10.0, "start", plot.y)?;
    for value in [x[0], x[1]] {
        text(place((value, 0.0))[0], bottom + 16.0, "middle", &value.round_to(6).to_string())?;
    }
    for value in [y[0], y[1]] {
        text(
            left - 8.0,
            place((0.0, value))[1] + 4.0,
            "end",
            &value.round_to(i32::from(value.abs() < 100.0)).to_string(),
        )?;
    }
    // Where no curve begins.
    let falls = all().next().is_some_and(|first| first.1 > 0.5 * y[1]);
    let names = left + if falls { 0.45 * width } else { 12.0 };
    for (i, (name, points)) in plot.curves.iter().enumerate() {
        write!(svg, "<path stroke=\"{}\" stroke-width=\"2\" d=\"", COLORS[i % 3])?;
        for (k, point) in points.iter().enumerate() {
            let [u, v] = place(*point).map(|u| u.round_to(1));
            write!(svg, "{}{u} {v}", if k == 0 { "M" } else { "L" })?;
        }
        svg.push_str("\"/>\n");
        if !name.is_empty() {
            let (x, y) = (names, top + 14.0 + 16.0 * f64::from(u8::try_from(i).unwrap_or(0)));
            writeln!(svg, "<text x=\"{x}\" y=\"{y}\" fill=\"{}\">{name}</text>", COLORS[i % 3])?;
        }
    }
    Ok(())
}

/// Sixty-one values from one to another.
fn span(from: f64, to: f64) -> impl Iterator<Item = f64> {
    (0..=60).map(move |i| from + (to - from) * f64::from(i) / 60.0)
}

/// A system with one body, and its state.
struct Stage {
    system: ForceSystem<f64>,
    state: State<f64>,
    body: BodyIndex,
}

impl Stage {
    fn new(
        add: impl FnOnce(&mut ForceSystem<f64>, BodyIndex) -> Result<(), Box<dyn Error>>,
    ) -> Result<Self, Box<dyn Error>> {
        let mut system = ForceSystem::new();
        let body = system.add_body();
        add(&mut system, body)?;
        let state = system.default_state();
        Ok(Self { system, state, body })
    }

    /// The force on the body at this place and velocity.
    fn force(&mut self, place: Vector3<f64>, velocity: Vector3<f64>) -> Result<Vector3<f64>, Box<dyn Error>> {
        let at_rest = SpatialVelocity::new(Vector3::zeros(), velocity);
        self.state.set_body(self.body, Pose::from_parts(place.into(), Rotation3::identity()), at_rest)?;
        Ok(self.system.realize_dynamics(&mut self.state)?.body_force(self.body).force)
    }

    fn draw(&mut self, X_GB: &Pose<f64>, sketch: &mut Sketch) -> Result<(), Box<dyn Error>> {
        self.state.set_body(self.body, *X_GB, SpatialVelocity::zero())?;
        self.system.realize_dynamics(&mut self.state)?.draw(sketch);
        Ok(())
    }
}

fn turned(axis: [f64; 3], place: [f64; 3]) -> Pose<f64> {
    Pose::from_parts(Translation3::from(Vector3::from(place)), Rotation3::new(Vector3::from(axis)))
}

fn ground() -> Frame<f64> {
    Frame::ground(Pose::identity())
}

type Made = Result<(Sketch, Plot), Box<dyn Error>>;
type Make = fn() -> Made;

fn exponential_spring() -> Made {
    let stage = |station: Point3<f64>, friction_elasticity| {
        Stage::new(|system, body| {
            let parameters = exponential_spring::Parameters {
                friction_elasticity,
                ..exponential_spring::Parameters::default()
            };
            system.add(ExponentialSpring::new(ground(), Station::on(body, station), parameters)?)?;
            Ok(())
        })
    };
    let mut corner = stage(Point3::new(0.1, -0.1, -0.06), 2e3)?;
    let mut sketch = Sketch::new(6e-4, 0.04);
    // It has been drawn aside by four centimetres since it was anchored.
    let spring = corner.system.elements().next().ok_or("no element")?;
    corner.state.set_pose(corner.body, turned([0.0, 0.1, 0.0], [-0.04, 0.0, 0.0712]))?;
    corner.system.reset_memory(&mut corner.state, spring)?;
    let pose = turned([0.0, 0.1, 0.0], [0.0, 0.0, 0.0712]);
    corner.draw(&pose, &mut sketch)?;
    sketch.solid(&pose, [0.1, 0.1, 0.06]);
    sketch
        .outline([[-0.2, -0.2], [0.22, -0.2], [0.22, 0.2], [-0.2, 0.2]].map(|[x, y]| Point3::new(x, y, 0.0)));
    sketch.label("P", -0.025, 0.02);
    sketch.label("S", 0.075, -0.055);
    let mut point = stage(Point3::origin(), 2e4)?;
    let mut press = |velocity: f64| {
        span(-0.002, 0.006)
            .map(|z| Ok((1e3 * z, point.force(Vector3::new(0.0, 0.0, z), Vector3::z() * velocity)?.z)))
            .collect::<Result<Vec<_>, Box<dyn Error>>>()
    };
    let curves = vec![
        ("at rest", press(0.0)?),
        ("sinking at 0.5 m/s", press(-0.5)?),
        ("rising at 0.5 m/s", press(0.5)?),
    ];
    Ok((sketch, Plot { x: "height [mm]", y: "normal force [N]", curves }))
}

fn hertz_contact() -> Made {
    let parameters =
        hertz_contact::Parameters { effective_modulus: 1e6, ..Default::default() }.with_dissipation(0.3);
    let mut stage = Stage::new(|system, body| {
        let ball = (Station::on(body, Point3::origin()), 0.1);
        system.add(HertzContact::on_half_space(ground(), ball, parameters)?)?;
        Ok(())
    })?;
    let mut sketch = Sketch::new(4e-4, 0.03);
    let pose = Pose::translation(0.0, 0.0, 0.09);
    stage.draw(&pose, &mut sketch)?;
    sketch.circle(Point3::new(0.0, 0.0, 0.09), 0.1);
    sketch.outline(
        [[-0.15, -0.1], [0.15, -0.1], [0.15, 0.1], [-0.15, 0.1]].map(|[x, y]| Point3::new(x, y, 0.0)),
    );
    sketch.label("a", 0.034, -0.012);
    let mut press = |rate: f64| {
        span(0.0, 0.002)
            .map(|depth| {
                let force = stage.force(Vector3::new(0.0, 0.0, 0.1 - depth), Vector3::z() * -rate)?;
                Ok((1e3 * depth, force.z))
            })
            .collect::<Result<Vec<_>, Box<dyn Error>>>()
    };
    let curves = vec![
        ("at rest", press(0.0)?),
        ("sinking at 0.5 m/s", press(0.5)?),
        ("rising at 0.5 m/s", press(-0.5)?),
    ];
    Ok((sketch, Plot { x: "depth δ [mm]", y: "normal force [N]", curves }))
}

fn elastic_foundation() -> Made {
    let stage = |fineness| {
        Stage::new(|system, body| {
            let mut foundation = ElasticFoundation::default();
            foundation.add_rigid(ground(), HalfSpace::BelowZ)?;
            foundation.add_springs(
                Frame::of(body),
                TriangleMesh::sphere(0.1, fineness)?,
                Material::new(1e6),
            )?;
            system.add(foundation)?;
            Ok(())
        })
    };
    let mut sketch = Sketch::new(1.5e-3, 0.03);
    let pose = Pose::translation(0.0, 0.0, 0.086);
    stage(10)?.draw(&pose, &mut sketch)?;
    sketch.circle(Point3::new(0.0, 0.0, 0.086), 0.1);
    sketch.outline(
        [[-0.15, -0.1], [0.15, -0.1], [0.15, 0.1], [-0.15, 0.1]].map(|[x, y]| Point3::new(x, y, 0.0)),
    );
    let press = |fineness| -> Result<Vec<_>, Box<dyn Error>> {
        let mut ball = stage(fineness)?;
        span(0.0, 0.01)
            .map(|depth| {
                Ok((1e3 * depth, ball.force(Vector3::new(0.0, 0.0, 0.1 - depth), Vector3::zeros())?.z))
            })
            .collect()
    };
    let exact = span(0.0, 0.01).map(|depth| (1e3 * depth, 1e6 * std::f64::consts::PI * 0.1 * depth * depth));
    let curves = vec![("exact ball", exact.collect()), ("800 faces", press(10)?), ("8192 faces", press(32)?)];
    Ok((sketch, Plot { x: "depth of a ball [mm]", y: "force [N]", curves }))
}

/// Two boxes on the frames of a bushing.
fn bushing(mut stage: Stage) -> Result<Sketch, Box<dyn Error>> {
    let mut sketch = Sketch::new(2.5e-3, 0.06);
    let pose = turned([0.0, -0.3, 0.15], [0.2, 0.0, 0.05]);
    stage.draw(&pose, &mut sketch)?;
    sketch.solid(&Pose::translation(-0.08, 0.0, 0.0), [0.06, 0.06, 0.06]);
    sketch.solid(&(pose * Pose::translation(0.08, 0.0, 0.0)), [0.06, 0.06, 0.06]);
    sketch.label("F", -0.02, -0.03);
    sketch.label("M", 0.19, 0.02);
    Ok(sketch)
}

fn bushing_loop(stage: &mut Stage) -> Result<Vec<(f64, f64)>, Box<dyn Error>> {
    let turn = std::f64::consts::TAU;
    span(0.0, turn)
        .map(|phase| {
            // At one hertz.
            let (x, v) = (0.02 * phase.sin(), 0.02 * turn * phase.cos());
            Ok((1e3 * x, -stage.force(Vector3::x() * x, Vector3::x() * v)?.x))
        })
        .collect()
}

fn linear_bushing() -> Made {
    let stage = |damping: f64| {
        Stage::new(|system, body| {
            let stiffness = Vector6::new(40.0, 40.0, 40.0, 400.0, 400.0, 400.0);
            let law = linear_bushing::Parameters { stiffness, damping: Vector6::repeat(damping) };
            system.add(LinearBushing::new(ground(), Frame::of(body), law)?)?;
            Ok(())
        })
    };
    let curves =
        vec![("k", bushing_loop(&mut stage(0.0)?)?), ("k and c, at 1 Hz", bushing_loop(&mut stage(25.0)?)?)];
    Ok((bushing(stage(0.0)?)?, Plot { x: "displacement [mm]", y: "resistance [N]", curves }))
}

fn spatial_bushing() -> Made {
    let stage = |damping: f64, measured: bool| {
        Stage::new(|system, body| {
            let along = if measured { 0.0 } else { 400.0 };
            let stiffness = Symmetric6::from_diagonal(&Vector6::new(40.0, 40.0, 40.0, along, 400.0, 400.0));
            let damping = Symmetric6::from_diagonal(&Vector6::repeat(damping));
            let law = spatial_bushing::Parameters { stiffness, damping };
            let mut element = SpatialBushing::new(ground(), Frame::of(body), law)?;
            if measured {
                let points =
                    [(-0.02, -11.0), (-0.012, -3.0), (0.0, 0.0), (0.012, 3.0), (0.016, 6.0), (0.02, 14.0)];
                element = element.with_curve(3, Curve::new(&points)?)?;
            }
            system.add(element)?;
            Ok(())
        })
    };
    let mut curves = Vec::new();
    for (name, damping) in [("measured curve", 0.0), ("with damping, at 1 Hz", 15.0)] {
        curves.push((name, bushing_loop(&mut stage(damping, true)?)?));
    }
    Ok((bushing(stage(0.0, false)?)?, Plot { x: "displacement [mm]", y: "resistance [N]", curves }))
}

fn cable_spring() -> Made {
    let stage = |is_straight: bool| {
        Stage::new(|system, body| {
            let (hook, end) =
                (Station::ground(Point3::new(-0.5, 0.0, 0.0)), Station::on(body, Point3::origin()));
            let mut path = CablePath::new(hook, end)?;
            if !is_straight {
                path = path
                    .over(Obstacle::new(
                        Frame::ground(Pose::translation(-0.1, 0.0, 0.08)),
                        Sphere::new(0.15)?,
                    )?)
                    .through(Station::ground(Point3::new(0.25, 0.1, 0.2)))?;
            }
            let slack_length = if is_straight { 0.5 } else { 1.0 };
            let law = cable_spring::Parameters { stiffness: 400.0, slack_length, dissipation: 2.0 };
            system.add(CableSpring::new(path, law)?)?;
            Ok(())
        })
    };
    let mut sketch = Sketch::new(1e-3, 0.03);
    stage(false)?.draw(&Pose::translation(0.5, 0.0, -0.1), &mut sketch)?;
    sketch.circle(Point3::new(-0.1, 0.0, 0.08), 0.15);
    let mut band = stage(true)?;
    let mut stretch = |rate: f64| {
        span(-0.02, 0.05)
            .map(|x| Ok((1e3 * x, -band.force(Vector3::x() * x, Vector3::x() * rate)?.x)))
            .collect::<Result<Vec<_>, Box<dyn Error>>>()
    };
    let curves = vec![
        ("held", stretch(0.0)?),
        ("drawn at 0.1 m/s", stretch(0.1)?),
        ("eased at 0.1 m/s", stretch(-0.1)?),
    ];
    Ok((sketch, Plot { x: "length − slack length [mm]", y: "tension [N]", curves }))
}

fn coordinate_spring_damper_ext() -> Made {
    let mut sketch = Sketch::new(1e-3, 0.03);
    for (x, width) in [(-0.3, 0.03), (0.3, 0.06)] {
        sketch.solid(&Pose::translation(x, 0.0, 0.0), [width, 0.05, 0.12]);
    }
    let turns = (0..=12).map(|i: i32| {
        let up = if i == 0 || i == 12 {
            0.0
        } else if i % 2 == 0 {
            0.03
        } else {
            -0.03
        };
        Point3::new(-0.27 + 0.51 * f64::from(i) / 12.0, 0.0, 0.05 + up)
    });
    let turns: Vec<_> = turns.collect();
    turns.windows(2).for_each(|pair| sketch.segment(Style::Cable, pair[0], pair[1]));
    let rod = |x: f64, z: f64| Point3::new(x, 0.0, z);
    for [a, b] in [[-0.27, 0.0], [0.02, 0.24]] {
        sketch.segment(Style::Frame, rod(a, -0.06), rod(b, -0.06));
    }
    for (from, to) in [
        ([0.0, -0.09], [0.0, -0.03]),
        ([-0.05, -0.09], [0.05, -0.09]),
        ([-0.05, -0.03], [0.05, -0.03]),
        ([0.02, -0.08], [0.02, -0.04]),
    ] {
        sketch.segment(Style::Frame, rod(from[0], from[1]), rod(to[0], to[1]));
    }
    sketch.label("q₀", -0.31, -0.16);
    sketch.label("q₁", 0.28, -0.16);

    let parameters = coordinate_spring_damper_ext::Parameters {
        dynamic_friction: 6.0,
        static_friction_offset: 4.0,
        exponential_decay_static: 0.01,
        viscous_friction: 20.0,
        friction_proportional_zone: 0.002,
        ..Default::default()
    };
    let mut system = ForceSystem::<f64>::new();
    let slider = system.add_coordinate();
    system.add(CoordinateSpringDamperExt::new(CoordinatePair::on(slider), parameters)?)?;
    let mut state = system.default_state();
    let friction = span(-0.06, 0.06)
        .map(|v| {
            state.set_coordinate_rate(slider, v)?;
            Ok((1e3 * v, -system.realize_dynamics(&mut state)?.coordinate_force(slider)))
        })
        .collect::<Result<Vec<_>, Box<dyn Error>>>()?;
    Ok((sketch, Plot { x: "velocity [mm/s]", y: "friction [N]", curves: vec![("", friction)] }))
}

fn custom_force() -> Made {
    let mut stage = Stage::new(|system, body| {
        system.add(CustomForce::<f64>::new(move |motion, loads| {
            let p_GB = motion.point(body, &Point3::origin());
            let pull = p_GB.coords * (50.0 + 900.0 * p_GB.coords.norm_squared());
            loads.apply_at_point(BodyIndex::GROUND, &Point3::origin(), pull);
            loads.apply_at_point(body, &p_GB, -pull);
            25.0 * p_GB.coords.norm_squared() + 225.0 * p_GB.coords.norm_squared().powi(2)
        }))?;
        Ok(())
    })?;
    let mut sketch = Sketch::new(6e-3, 0.03);
    stage.draw(&Pose::translation(0.3, 0.0, 0.1), &mut sketch)?;
    sketch.solid(&Pose::translation(0.3, 0.0, 0.1), [0.05, 0.05, 0.05]);
    sketch.solid(&Pose::translation(0.0, 0.0, 0.0), [0.02, 0.1, 0.1]);
    let curve = span(-0.3, 0.3)
        .map(|x| Ok((1e3 * x, -stage.force(Vector3::x() * x, Vector3::zeros())?.x)))
        .collect::<Result<Vec<_>, Box<dyn Error>>>()?;
    Ok((sketch, Plot { x: "displacement [mm]", y: "50 x + 900 x³ [N]", curves: vec![("", curve)] }))
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder =
        Argument { name: "FOLDER", help: "where the sketches are written", default: "target/sketches" };
    let arguments =
        Arguments::read("Sketches of the elements and plots of their laws, for their pages.", [folder]);
    let folder = arguments.path(0);
    std::fs::create_dir_all(folder)?;
    println!("# Sketches of the elements\n\n`cargo run --release --example sketches`\n");
    let all: [(&str, Make); 8] = [
        ("cable_spring", cable_spring),
        ("coordinate_spring_damper_ext", coordinate_spring_damper_ext),
        ("custom_force", custom_force),
        ("elastic_foundation", elastic_foundation),
        ("exponential_spring", exponential_spring),
        ("hertz_contact", hertz_contact),
        ("linear_bushing", linear_bushing),
        ("spatial_bushing", spatial_bushing),
    ];
    for (name, make) in all {
        let (sketch, plot) = make()?;
        let path = folder.join(format!("{name}.svg"));
        std::fs::write(&path, picture(&sketch, &plot)?)?;
        println!("- {}", path.display());
    }
    Ok(())
}
