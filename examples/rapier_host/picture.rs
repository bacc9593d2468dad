//! Pictures of curves over time, side by side.

use std::error::Error;
use std::path::Path;

use plotters::prelude::*;

/// Curves on one pair of axes.
pub(crate) struct Panel {
    pub(crate) title: &'static str,
    pub(crate) y: &'static str,
    pub(crate) curves: Vec<Curve>,
}

/// A value over time \[s\].
pub(crate) struct Curve {
    /// Empty if it needs none.
    pub(crate) name: &'static str,
    pub(crate) points: Vec<(f64, f64)>,
}

impl Curve {
    pub(crate) fn new(name: &'static str, points: Vec<(f64, f64)>) -> Self {
        Self { name, points }
    }

    /// Its beginning.
    pub(crate) fn until(mut self, end: f64) -> Self {
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

pub(crate) fn draw(path: &Path, panels: &[Panel]) -> Result<(), Box<dyn Error>> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let root = SVGBackend::new(path, (1260, 760)).into_drawing_area();
    root.fill(&WHITE)?;
    for (area, panel) in root.split_evenly((2, 3)).iter().zip(panels) {
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
    chart.configure_mesh().max_light_lines(0).x_desc("t [s]").y_desc(panel.y).draw()?;
    let mut has_names = false;
    for (curve, (color, width)) in panel.curves.iter().zip(STYLES.iter().cycle()) {
        // Curves without names are alike.
        let style =
            if curve.name.is_empty() { STYLES[1].0.stroke_width(1) } else { color.stroke_width(*width) };
        let series = chart.draw_series(LineSeries::new(curve.points.iter().copied(), style))?;
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
