//! Pictures: the tyre seen from below with its footprint, and a curve of errors.

use std::error::Error;
use std::path::{Path, PathBuf};

use force_elements::nalgebra::{Point3, Vector3};
use force_elements::{Canvas, Mark, Meaning};
use force_elements_examples::picture::{self, Area, font, px};
use force_elements_examples::scene::Scene;
use plotters::prelude::*;

use crate::Snapshot;

/// Low to high: dark violet, red, orange, pale yellow.
fn heat(fraction: f64) -> RGBColor {
    const STOPS: [[f64; 3]; 5] = [
        [48.0, 18.0, 90.0],
        [140.0, 30.0, 110.0],
        [215.0, 70.0, 65.0],
        [250.0, 150.0, 40.0],
        [250.0, 240.0, 150.0],
    ];
    let place = fraction.clamp(0.0, 1.0) * 4.0;
    let [r, g, b] = [0, 1, 2].map(|i| {
        // A broken line: each piece that has been passed adds its climb.
        let climb = |pair: &[[f64; 3]], from: f64| (pair[1][i] - pair[0][i]) * (place - from).clamp(0.0, 1.0);
        let climbs = STOPS.windows(2).zip([0.0, 1.0, 2.0, 3.0]).map(|(pair, from)| climb(pair, from));
        channel(STOPS[0][i] + climbs.sum::<f64>())
    });
    RGBColor(r, g, b)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to a byte")]
fn channel(value: f64) -> u8 {
    value.clamp(0.0, 255.0) as u8
}

pub(crate) fn draw(path: &Path, snapshot: &Snapshot<'_>) -> Result<PathBuf, Box<dyn Error>> {
    picture::write(path, (1240, 620), |root| {
        let (left, right) = root.split_horizontally(px(560));
        let highest = snapshot.dynamics.springs.iter().map(|force| force.pressure).fold(0.0, f64::max);
        draw_tyre(&left, snapshot, highest)?;
        let (middle, scale) = right.split_horizontally(px(570));
        draw_footprint(&middle, snapshot, highest)?;
        draw_scale(&scale, highest)
    })?;
    Ok(path.to_path_buf())
}

/// The pressed faces, each with its pressure, as the foundation draws them.
#[derive(Default)]
struct Footprint(Vec<([Point3<f64>; 3], f64)>);

impl Canvas for Footprint {
    fn line(&mut self, _: Mark, _: Point3<f64>, _: Point3<f64>) {}

    fn face(&mut self, mark: Mark, corners: [Point3<f64>; 3]) {
        self.0.push((corners, mark.value));
    }
}

/// The whole tyre, seen from below through the ground.
fn draw_tyre(area: &Area<'_>, snapshot: &Snapshot<'_>, highest: f64) -> Result<(), Box<dyn Error>> {
    const RUBBER: RGBColor = RGBColor(190, 194, 200);
    let (toward_eye, light) = (Vector3::new(0.55, -0.9, -0.75), Vector3::new(0.1, -0.8, -0.35));
    let mut scene = Scene::new(toward_eye, Vector3::z(), light);
    for (corners, normal) in snapshot.mesh.triangles().zip(snapshot.mesh.normals()) {
        let corners = corners.map(|p| snapshot.X_GS * p);
        scene.add_face(&corners, &(snapshot.X_GS.rotation * normal), RUBBER, 1.0);
    }
    let style =
        |mark: Mark| (mark.meaning == Meaning::Face).then(|| (heat(mark.value / highest).to_rgba(), px(1)));
    // Nearer than the rubber that they lie on.
    scene.add_elements(&snapshot.view, &style, 0.01);
    let (x, y) = scene.see(&snapshot.X_GS.translation.vector.into());
    let chart = ChartBuilder::on(area)
        .caption("A leaning tyre, seen from below through the ground", font(18))
        .margin(px(10))
        .build_cartesian_2d(x - 0.36..x + 0.36, y - 0.38..y + 0.38)?;
    scene.paint(chart.plotting_area())
}

type Plane<'a, 'b> = ChartContext<
    'a,
    SVGBackend<'b>,
    Cartesian2d<plotters::coord::types::RangedCoordf64, plotters::coord::types::RangedCoordf64>,
>;

/// A triangle with an edge of its own color, so that no seams show.
fn fill(chart: &mut Plane<'_, '_>, outline: &[(f64, f64); 3], color: RGBColor) -> Result<(), Box<dyn Error>> {
    let [a, b, c] = *outline;
    chart.draw_series(std::iter::once(PathElement::new([a, b, c, a], color.stroke_width(px(1)))))?;
    chart.draw_series(std::iter::once(Polygon::new(outline.to_vec(), color.filled())))?;
    Ok(())
}

/// The faces in contact, seen from above, with friction arrows and the centre of pressure.
fn draw_footprint(area: &Area<'_>, snapshot: &Snapshot<'_>, highest: f64) -> Result<(), Box<dyn Error>> {
    let Snapshot { position, dynamics, .. } = snapshot;
    let resultant = &dynamics.resultants[0];
    let center = resultant.center_of_pressure_G.ok_or("no contact")?;
    let half = 95.0;
    let (x0, y0) = (1e3 * center.x, 1e3 * center.y);
    let mut chart = ChartBuilder::on(area)
        .caption("Footprint from above: pressure, friction on the tyre", font(18))
        .margin(px(10))
        .x_label_area_size(px(38))
        .y_label_area_size(px(52))
        .build_cartesian_2d(x0 - half..x0 + half, y0 - half..y0 + half)?;
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .bold_line_style(BLACK.mix(0.2).stroke_width(px(1)))
        .axis_style(BLACK.stroke_width(px(1)))
        .label_style(font(12))
        .x_desc("x, the way it slides [mm]")
        .y_desc("y [mm]")
        .x_label_formatter(&|x| format!("{x:.0}"))
        .y_label_formatter(&|y| format!("{y:.0}"))
        .draw()?;
    let mut footprint = Footprint::default();
    snapshot.view.draw(&mut footprint);
    for (corners, pressure) in footprint.0 {
        fill(&mut chart, &corners.map(|p| (1e3 * p.x, 1e3 * p.y)), heat(pressure / highest))?;
    }
    // One arrow per patch of so many millimetres, as long as the friction force of the patch.
    let patch = 14.0;
    let mut patches = std::collections::BTreeMap::<[i32; 2], (Vector3<f64>, Vector3<f64>, f64)>::new();
    for (spring, force) in position.springs.iter().zip(&dynamics.springs) {
        let p = spring.point_G.coords * 1e3;
        #[expect(clippy::cast_possible_truncation, reason = "a place on a small grid")]
        let cell = [(p.x / patch).floor() as i32, (p.y / patch).floor() as i32];
        let sum = patches.entry(cell).or_insert((Vector3::zeros(), Vector3::zeros(), 0.0));
        sum.0 += p * force.normal_force;
        sum.1 += force.friction_force_G;
        sum.2 += force.normal_force;
    }
    let longest = patches.values().map(|sum| sum.1.norm()).fold(0.0, f64::max);
    // Patches at the rim bear next to nothing.
    let felt = patches.values().filter(|sum| sum.1.norm() >= 0.05 * longest);
    let arrows = felt.map(|(moment, friction, load)| (moment / *load, *friction));
    // The scale: an arrow of a round force, in the lower left corner.
    let round = 10.0_f64.powf(longest.log10().floor());
    let corner = Vector3::new(x0 - 0.92 * half, y0 - 0.92 * half, 0.0);
    for (from, friction) in arrows.chain([(corner, Vector3::x() * round)]) {
        let arrow = friction * (1.6 * patch / longest);
        let to = from + arrow;
        let across = Vector3::z().cross(&arrow);
        let barb = |side: f64| to - arrow * 0.3 + across * (0.16 * side);
        let line = |points: Vec<Vector3<f64>>, style: ShapeStyle| {
            PathElement::new(points.iter().map(|p| (p.x, p.y)).collect::<Vec<_>>(), style)
        };
        for style in [WHITE.stroke_width(px(4)), RGBColor(20, 90, 160).stroke_width(px(2))] {
            chart.draw_series(std::iter::once(line(vec![from, to], style)))?;
            chart.draw_series(std::iter::once(line(vec![barb(1.0), to, barb(-1.0)], style)))?;
        }
    }
    chart.draw_series(std::iter::once(Circle::new((x0, y0), px(6), WHITE.filled())))?;
    chart.draw_series(std::iter::once(Circle::new((x0, y0), px(4), BLACK.filled())))?;
    let force = resultant.F_GS.force;
    let notes = [
        format!("load {:.0} N over {:.0} cm²", force.z, 1e4 * resultant.area),
        format!("friction {:.0} N at {:.2} of the load", force.xy().norm(), force.xy().norm() / force.z),
        format!("centre of pressure {y0:.1} mm to the side"),
    ];
    let style = font(15).into_font().color(&BLACK);
    let beside = (corner.x + 1.6 * patch * round / longest + 3.0, corner.y + 0.02 * half);
    chart.draw_series(std::iter::once(Text::new(format!("{round} N of friction"), beside, style.clone())))?;
    let mut y = y0 + 0.95 * half;
    for note in notes {
        chart.draw_series(std::iter::once(Text::new(note, (x0 - 0.95 * half, y), style.clone())))?;
        y -= 0.075 * half;
    }
    Ok(())
}

/// What the colors mean.
fn draw_scale(area: &Area<'_>, highest: f64) -> Result<(), Box<dyn Error>> {
    let top = highest * 1e-3;
    let mut chart = ChartBuilder::on(area)
        .margin(px(10))
        .margin_top(px(46))
        .margin_bottom(px(44))
        .right_y_label_area_size(px(54))
        .build_cartesian_2d(0.0..1.0, 0.0..top)?
        .set_secondary_coord(0.0..1.0, 0.0..top);
    chart
        .configure_secondary_axes()
        .label_style(font(13))
        .axis_desc_style(font(14))
        .y_desc("pressure [kPa]")
        .y_label_formatter(&|y| format!("{y:.0}"))
        .draw()?;
    let steps = 120;
    chart.draw_series((0..steps).map(|i| {
        // Each reaches to the top, under those that follow, so that no seams show.
        let low = f64::from(i) / f64::from(steps);
        Rectangle::new([(0.0, low * top), (1.0, top)], heat(low + 0.5 / f64::from(steps)).filled())
    }))?;
    Ok(())
}

pub(crate) fn draw_convergence(path: &Path, errors: &[(f64, [f64; 2])]) -> Result<PathBuf, Box<dyn Error>> {
    picture::write(path, (760, 520), |root| draw_errors(root, errors))?;
    Ok(path.to_path_buf())
}

fn draw_errors(root: &Area<'_>, errors: &[(f64, [f64; 2])]) -> Result<(), Box<dyn Error>> {
    let last = errors.last().map_or(1.0, |(faces, _)| *faces);
    let mut chart = ChartBuilder::on(root)
        .caption("A ball pressed into a plane by a fifth of its radius", font(20))
        .margin(px(14))
        .x_label_area_size(px(44))
        .y_label_area_size(px(70))
        .build_cartesian_2d((100.0..1.6 * last).log_scale(), (1e-4..1.0).log_scale())?;
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .bold_line_style(BLACK.mix(0.2).stroke_width(px(1)))
        .axis_style(BLACK.stroke_width(px(1)))
        .label_style(font(12))
        .x_desc("faces")
        .y_desc("relative error of the force")
        .y_label_formatter(&|y| format!("{y:.0e}"))
        .x_label_formatter(&|x| format!("{x:.0}"))
        .draw()?;
    let gray = RGBColor(150, 150, 150);
    let straight = [(128.0, 0.3), (last, 0.3 * 128.0 / last)];
    chart
        .draw_series(LineSeries::new(straight, gray.stroke_width(px(1))))?
        .label("one over the number of faces")
        .legend(move |(x, y)| {
            PathElement::new([(x, y), (x + px(14).cast_signed(), y)], gray.stroke_width(px(1)))
        });
    let curves = [("by centroids", RGBColor(60, 90, 160)), ("clipped faces", RGBColor(205, 90, 50))];
    for (i, (name, color)) in curves.into_iter().enumerate() {
        let points: Vec<_> = errors.iter().map(|(faces, error)| (*faces, error[i])).collect();
        chart
            .draw_series(LineSeries::new(points.iter().copied(), color.stroke_width(px(2))))?
            .label(name)
            .legend(move |(x, y)| {
                PathElement::new([(x, y), (x + px(14).cast_signed(), y)], color.stroke_width(px(2)))
            });
        chart.draw_series(points.into_iter().map(|point| Circle::new(point, px(4), color.filled())))?;
    }
    picture::legend(&mut chart.configure_series_labels()).position(SeriesLabelPosition::LowerLeft).draw()?;
    Ok(())
}
