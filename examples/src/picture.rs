//! Pictures of curves, side by side.

use std::error::Error;
use std::path::Path;

use plotters::prelude::*;

/// Curves on one pair of axes.
#[derive(Debug)]
pub struct Panel {
    /// What it shows.
    pub title: &'static str,
    /// What is along its x axis, with the unit.
    pub x: &'static str,
    /// What is up its y axis, with the unit.
    pub y: &'static str,
    /// The curves.
    pub curves: Vec<Curve>,
}

impl Panel {
    /// Curves over time.
    pub fn over_time(title: &'static str, y: &'static str, curves: Vec<Curve>) -> Self {
        Self { title, x: "t [s]", y, curves }
    }
}

/// A value over time \[s\], or over what is along the x axis.
#[derive(Debug)]
pub struct Curve {
    /// Empty if it needs none.
    pub name: &'static str,
    /// Places along the x axis and values.
    pub points: Vec<(f64, f64)>,
}

impl Curve {
    /// A curve through these points.
    pub fn new(name: &'static str, points: Vec<(f64, f64)>) -> Self {
        Self { name, points }
    }

    /// Its beginning.
    #[must_use]
    pub fn until(mut self, end: f64) -> Self {
        self.points.retain(|&(time, _)| time <= end);
        self
    }
}

/// The first is drawn broad, so that the next can lie on it and both are seen.
const STYLES: [(RGBColor, u32); 4] = [
    (RGBColor(190, 205, 225), 6),
    (RGBColor(40, 80, 150), 2),
    (RGBColor(205, 90, 50), 2),
    (RGBColor(90, 150, 90), 2),
];

/// Draws panels in so many rows and columns, and makes the folder of the picture if it is not there.
///
/// # Errors
/// If the picture cannot be written.
pub fn draw(path: &Path, grid: (usize, usize), panels: &[Panel]) -> Result<(), Box<dyn Error>> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let size = [grid.1, grid.0].map(|count| u32::try_from(count).unwrap_or(1));
    let root = SVGBackend::new(path, (420 * size[0], 380 * size[1])).into_drawing_area();
    root.fill(&WHITE)?;
    for (area, panel) in root.split_evenly(grid).iter().zip(panels) {
        draw_panel(area, panel)?;
    }
    root.present()?;
    Ok(())
}

fn draw_panel(
    area: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>,
    panel: &Panel,
) -> Result<(), Box<dyn Error>> {
    let all = || panel.curves.iter().flat_map(|curve| &curve.points);
    let end = all().map(|point| point.0).fold(0.0, f64::max);
    let (low, high) = all().fold((f64::MAX, f64::MIN), |(low, high), &(_, y)| (low.min(y), high.max(y)));
    let margin = 0.08 * (high - low);
    let mut chart = ChartBuilder::on(area)
        .caption(panel.title, ("sans-serif", 17))
        .margin(10)
        .x_label_area_size(34)
        .y_label_area_size(52)
        .build_cartesian_2d(0.0..end, low - margin..high + 5.0 * margin)?;
    chart.configure_mesh().max_light_lines(0).x_desc(panel.x).y_desc(panel.y).draw()?;
    let mut has_names = false;
    for (curve, (color, width)) in panel.curves.iter().zip(STYLES.iter().cycle()) {
        // Curves without names are alike.
        let style =
            if curve.name.is_empty() { STYLES[1].0.stroke_width(1) } else { color.stroke_width(*width) };
        let points = thinned(&curve.points, [end, high - low]);
        let series = chart.draw_series(LineSeries::new(points, style))?;
        if !curve.name.is_empty() {
            has_names = true;
            series.label(curve.name).legend(move |(x, y)| PathElement::new([(x, y), (x + 14, y)], style));
        }
    }
    if has_names {
        let mut labels = chart.configure_series_labels();
        labels.position(SeriesLabelPosition::UpperMiddle);
        labels.background_style(WHITE.mix(0.85)).border_style(BLACK.mix(0.3)).draw()?;
    }
    Ok(())
}

/// The points without those that lie on the one before: nearer than a pixel, of the most that a panel has, both ways. The last
/// is kept.
fn thinned(points: &[(f64, f64)], ranges: [f64; 2]) -> Vec<(f64, f64)> {
    const PIXELS: f64 = 420.0;
    let mut kept: Vec<(f64, f64)> = Vec::new();
    for (i, &(x, y)) in points.iter().enumerate() {
        let is_near = kept
            .last()
            .is_some_and(|&(u, v)| (x - u).abs() * PIXELS < ranges[0] && (y - v).abs() * PIXELS < ranges[1]);
        if !is_near || i + 1 == points.len() {
            kept.push((x, y));
        }
    }
    kept
}
