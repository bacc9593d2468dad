//! Pictures of curves, side by side.

use std::error::Error;
use std::path::Path;

use plotters::chart::{MeshStyle, SeriesLabelStyle};
use plotters::coord::ranged1d::ValueFormatter;
use plotters::coord::{CoordTranslate, Shift};
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
    /// Whether values are decimal logarithms, and labels powers of ten.
    pub is_logarithmic: bool,
    /// The largest value shown; that of the curves unless it is given.
    pub top: Option<f64>,
    /// Whether a unit is as long along both axes, as in a drawing of a scene.
    pub is_to_scale: bool,
    /// The number of colors to leave out, which mean something else in other panels of the picture.
    pub colors_taken: usize,
    /// Whether its values are counts, with labels at whole numbers.
    pub is_counted: bool,
}

impl Panel {
    /// Curves over something.
    pub fn new(title: &'static str, x: &'static str, y: &'static str, curves: Vec<Curve>) -> Self {
        Self {
            title,
            x,
            y,
            curves,
            is_logarithmic: false,
            top: None,
            is_to_scale: false,
            colors_taken: 0,
            is_counted: false,
        }
    }

    /// Curves over time.
    pub fn over_time(title: &'static str, y: &'static str, curves: Vec<Curve>) -> Self {
        Self::new(title, "t [s]", y, curves)
    }

    /// The same for decimal logarithms.
    #[must_use]
    pub fn logarithmic(self) -> Self {
        Self { is_logarithmic: true, ..self }
    }

    /// The same with a unit as long along both axes.
    #[must_use]
    pub fn to_scale(self) -> Self {
        Self { is_to_scale: true, ..self }
    }

    /// The same in other colors than the first so many, which mean something else in other panels of the picture.
    #[must_use]
    pub fn after_colors(self, colors_taken: usize) -> Self {
        Self { colors_taken, ..self }
    }

    /// The same for counts: labels stand at whole numbers.
    #[must_use]
    pub fn counted(self) -> Self {
        Self { is_counted: true, ..self }
    }

    /// The same up to this value, at which curves leave the panel.
    #[must_use]
    pub fn up_to(self, top: f64) -> Self {
        Self { top: Some(top), ..self }
    }
}

/// A value over time \[s\], or over what is along the x axis.
#[derive(Debug)]
pub struct Curve {
    /// Empty if it belongs to the curve before, whose color it then has, or is the only one.
    pub name: &'static str,
    /// Places along the x axis and values.
    pub points: Vec<(f64, f64)>,
    /// Whether it is drawn pale and broad, so that others can lie on it and both are seen.
    pub is_beneath: bool,
}

impl Curve {
    /// A curve through these points.
    pub fn new(name: &'static str, points: Vec<(f64, f64)>) -> Self {
        Self { name, points, is_beneath: false }
    }

    /// A curve on which others lie, such as what they are compared with.
    pub fn beneath(name: &'static str, points: Vec<(f64, f64)>) -> Self {
        Self { name, points, is_beneath: true }
    }

    /// Its beginning.
    #[must_use]
    pub fn until(mut self, end: f64) -> Self {
        self.points.retain(|&(time, _)| time <= end);
        self
    }

    /// Its beginning up to where it first rises above this value, which is its last.
    fn below(&self, top: f64) -> Vec<(f64, f64)> {
        let Some(end) = self.points.iter().position(|point| point.1 > top) else {
            return self.points.clone();
        };
        let mut points = self.points[..end].to_vec();
        if let (Some(&(x0, y0)), (x1, y1)) = (points.last(), self.points[end]) {
            points.push((x0 + (x1 - x0) * (top - y0) / (y1 - y0), top));
        }
        points
    }
}

const PALE: RGBColor = RGBColor(190, 205, 225);
/// The colors of the others, in their order.
const COLORS: [RGBColor; 5] = [
    RGBColor(40, 80, 150),
    RGBColor(205, 90, 50),
    RGBColor(90, 150, 90),
    RGBColor(130, 90, 160),
    RGBColor(150, 110, 30),
];

/// What surrounds the curves of a panel, in pixels.
const MARGIN: u32 = 10;
const MARGIN_RIGHT: u32 = 18;
const X_LABELS: u32 = 34;
const Y_LABELS: u32 = 52;
const TITLE: u32 = 15;

/// Units of a drawing in a pixel: the backend rounds to whole units.
const UNITS: u32 = 10;

/// A length in pixels, in units of the drawing.
pub const fn px(pixels: u32) -> u32 {
    UNITS * pixels
}

/// A font of this size in pixels.
pub fn font(pixels: u32) -> (&'static str, u32) {
    ("sans-serif", px(pixels))
}

/// The part of a drawing on which something is drawn, in units of the drawing.
pub type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Writes a picture of this size in pixels, and makes its folder if it is not there.
///
/// # Errors
/// If `draw` fails, or the picture cannot be written.
pub fn write(
    path: &Path,
    (width, height): (u32, u32),
    draw: impl FnOnce(&Area<'_>) -> Result<(), Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, (px(width), px(height))).into_drawing_area();
        root.fill(&WHITE)?;
        draw(&root)?;
        root.present()?;
    }
    let in_units = format!("width=\"{}\" height=\"{}\"", px(width), px(height));
    Ok(std::fs::write(path, text.replacen(&in_units, &format!("width=\"{width}\" height=\"{height}\""), 1))?)
}

/// The grid, axes and labels of a chart.
pub fn mesh<'s, 'a, 'b, X, Y>(
    mesh: &'s mut MeshStyle<'a, 'b, X, Y, SVGBackend<'a>>,
) -> &'s mut MeshStyle<'a, 'b, X, Y, SVGBackend<'a>>
where
    X: Ranged<ValueType = f64> + ValueFormatter<f64>,
    Y: Ranged<ValueType = f64> + ValueFormatter<f64>,
{
    mesh.max_light_lines(0)
        .bold_line_style(BLACK.mix(0.2).stroke_width(px(1)))
        .axis_style(BLACK.stroke_width(px(1)))
        .set_all_tick_mark_size(px(5))
        .label_style(font(12))
        .x_label_formatter(&short)
        .y_label_formatter(&short)
}

/// The names of the series of a chart.
pub fn legend<'s, 'a, 'b, Coordinates: CoordTranslate>(
    labels: &'s mut SeriesLabelStyle<'a, 'b, SVGBackend<'a>, Coordinates>,
) -> &'s mut SeriesLabelStyle<'a, 'b, SVGBackend<'a>, Coordinates> {
    let border = BLACK.mix(0.3).stroke_width(px(1));
    labels.label_font(font(12)).margin(px(6)).legend_area_size(px(22));
    labels.background_style(WHITE.mix(0.85)).border_style(border)
}

/// A number as short as it is.
pub fn short(value: &f64) -> String {
    format!("{}", (value * 1e9).round() / 1e9 + 0.0)
}

/// Draws panels in so many rows and columns.
///
/// # Errors
/// If the picture cannot be written.
pub fn draw(path: &Path, grid: (usize, usize), panels: &[Panel]) -> Result<(), Box<dyn Error>> {
    let size = [grid.1, grid.0].map(|count| u32::try_from(count).unwrap_or(1));
    write(path, (420 * size[0], 380 * size[1]), |root| {
        root.split_evenly(grid).iter().zip(panels).try_for_each(|(area, panel)| draw_panel(area, panel))
    })
}

fn draw_panel(area: &Area<'_>, panel: &Panel) -> Result<(), Box<dyn Error>> {
    let shown: Vec<_> =
        panel.curves.iter().map(|curve| curve.below(panel.top.unwrap_or(f64::INFINITY))).collect();
    let range = |values: &mut dyn Iterator<Item = f64>| {
        values.fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)))
    };
    let (first, end) = range(&mut shown.iter().flatten().map(|point| point.0));
    // The first sample may be a step after the beginning.
    let start = if (0.0..0.05 * end).contains(&first) { 0.0 } else { first };
    let (low, high) = range(&mut shown.iter().flatten().map(|point| point.1));
    let names = panel.curves.iter().filter(|curve| !curve.name.is_empty()).count();
    let margin = 0.08 * (high - low);
    // Names stand above the curves, a line for each.
    let above = match (panel.top, names) {
        (None, 0) => margin,
        (_, 0) => 0.0,
        (_, names) => margin * (1.0 + 0.95 * f64::from(u32::try_from(names)?)),
    };
    let [mut across, mut up] = [start..end, low - margin..high + above];
    if panel.is_to_scale {
        let (width, height) = area.dim_in_pixel();
        let [width, height] =
            [width - px(MARGIN + MARGIN_RIGHT + Y_LABELS), height - px(2 * MARGIN + X_LABELS + TITLE)];
        let ratio = f64::from(width) / f64::from(height);
        let [of_x, of_y] = [across.end - across.start, up.end - up.start];
        let wider = 0.5 * (ratio * of_y - of_x).max(0.0);
        let higher = 0.5 * (of_x / ratio - of_y).max(0.0);
        across = across.start - wider..across.end + wider;
        up = up.start - higher..up.end + higher;
    }
    let mut chart = ChartBuilder::on(area)
        .caption(panel.title, font(17))
        .margin(px(MARGIN))
        .margin_right(px(MARGIN_RIGHT))
        .x_label_area_size(px(X_LABELS))
        .y_label_area_size(px(Y_LABELS))
        .build_cartesian_2d(across, up)?;
    let power = |exponent: &f64| format!("1e{}", short(exponent));
    // About as many lines as there are whole numbers are put at whole numbers.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small count")]
    let lines = if panel.is_counted { ((high - low) as usize + 1).min(11) } else { 11 };
    mesh(&mut chart.configure_mesh())
        .y_labels(lines)
        .x_desc(panel.x)
        .y_desc(panel.y)
        .y_label_formatter(if panel.is_logarithmic { &power } else { &short })
        .draw()?;
    let mut colored = panel.colors_taken;
    for (curve, points) in panel.curves.iter().zip(&shown) {
        colored +=
            usize::from(!curve.is_beneath && (colored == panel.colors_taken || !curve.name.is_empty()));
        let style = if curve.is_beneath {
            PALE.stroke_width(px(6))
        } else {
            COLORS[(colored - 1) % COLORS.len()].stroke_width(px(2))
        };
        let points = thinned(points, [end - start, high - low]);
        let series = chart.draw_series(LineSeries::new(points, style))?;
        if !curve.name.is_empty() {
            let sample = move |(x, y)| PathElement::new([(x, y), (x + px(14).cast_signed(), y)], style);
            series.label(curve.name).legend(sample);
        }
    }
    if names > 0 {
        legend(&mut chart.configure_series_labels()).position(SeriesLabelPosition::UpperMiddle).draw()?;
    }
    Ok(())
}

/// The points without those that lie on the one before: nearer than half a pixel, of the most that a panel has, both ways. The
/// last is kept.
fn thinned(points: &[(f64, f64)], ranges: [f64; 2]) -> Vec<(f64, f64)> {
    const HALVES: f64 = 840.0;
    let mut kept: Vec<(f64, f64)> = Vec::new();
    for (i, &(x, y)) in points.iter().enumerate() {
        let is_near = kept
            .last()
            .is_some_and(|&(u, v)| (x - u).abs() * HALVES < ranges[0] && (y - v).abs() * HALVES < ranges[1]);
        if !is_near || i + 1 == points.len() {
            kept.push((x, y));
        }
    }
    kept
}
