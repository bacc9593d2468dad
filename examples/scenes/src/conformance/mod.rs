//! Evaluates conformance cases and compares the results; shared by the example and the tests.

use std::collections::BTreeMap;
use std::path::Path;

use force_elements::SpatialForce;
use serde_json::Value;

mod cable;
pub mod coordinate_spring_damper_ext;
mod elastic_foundation;
mod exponential_spring;
mod fields;
mod linear_bushing;

pub use fields::Fields;

/// Anything that keeps a case from being checked.
pub type Failure = Box<dyn std::error::Error>;

/// Compares one case.
type Check<'a> = &'a dyn Fn(Fields<'_>) -> Result<Deviations, Failure>;

/// The worst deviation of one quantity over all cases of a file.
pub struct Line {
    pub quantity: &'static str,
    pub deviation: f64,
    pub tolerance: f64,
    pub case: usize,
    pub cases: usize,
    pub label: String,
}

impl Line {
    pub fn passes(&self) -> bool {
        self.deviation <= self.tolerance
    }
}

/// The comparison of one file.
pub struct Comparison {
    pub lines: Vec<Line>,
    pub detours: Vec<Detour>,
}

/// A case of a cable whose path without memory is shorter than the reference's, and of another class: it was compared in
/// the reference's class, from its memory.
pub struct Detour {
    pub case: usize,
    pub label: String,
    /// The reference's length, and that of the path without memory \[m\].
    pub lengths: [f64; 2],
}

/// The deviations of one case.
#[derive(Default)]
pub struct Deviations {
    /// Quantity, deviation, tolerance.
    pub quantities: Vec<(&'static str, f64, f64)>,
    /// The lengths of a [`Detour`].
    pub detour: Option<[f64; 2]>,
}

impl Deviations {
    /// Compares a vector relative to the length of the expected one.
    pub fn relative(&mut self, quantity: &'static str, got: &[f64], want: &[f64], tolerance: f64) {
        self.scaled(quantity, got, want, length(want.iter().copied()), tolerance);
    }

    /// Compares a vector relative to a length that is known to matter.
    pub fn scaled(&mut self, quantity: &'static str, got: &[f64], want: &[f64], scale: f64, tolerance: f64) {
        let off = length(got.iter().zip(want).map(|(got, want)| got - want));
        let deviation = if got.len() != want.len() || !off.is_finite() {
            f64::INFINITY
        } else if off == 0.0 {
            0.0
        } else {
            off / scale
        };
        self.quantities.push((quantity, deviation, tolerance));
    }

    /// Compares a spatial force as [`relative`](Self::relative) does.
    pub fn force(
        &mut self,
        quantity: &'static str,
        got: &SpatialForce<f64>,
        want: &SpatialForce<f64>,
        tolerance: f64,
    ) {
        let components =
            |F: &SpatialForce<f64>| -> Vec<f64> { F.torque.iter().chain(&F.force).copied().collect() };
        self.relative(quantity, &components(got), &components(want), tolerance);
    }

    /// Compares number by number, absolutely.
    pub fn worst(&mut self, quantity: &'static str, got: &[f64], want: &[f64], tolerance: f64) {
        let off = got.iter().zip(want).map(|(got, want)| (got - want).abs());
        let worst =
            off.fold(0.0, |worst: f64, off| if off.is_nan() { f64::INFINITY } else { worst.max(off) });
        self.quantities.push((
            quantity,
            if got.len() == want.len() { worst } else { f64::INFINITY },
            tolerance,
        ));
    }
}

fn length(components: impl Iterator<Item = f64>) -> f64 {
    components.map(|x| x * x).sum::<f64>().sqrt()
}

/// Checks all cases of a file.
pub fn file(path: &Path) -> Result<Comparison, Failure> {
    let content: Value = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    let root = Fields(&content);
    let element = root.text("element")?;
    let is_trajectories = root.has("trajectories");
    let meshes = elastic_foundation::Meshes::new(path.with_file_name("meshes"));
    let check: Check<'_> = match element {
        "LinearBushing" => &linear_bushing::check,
        "ExponentialSpring" => &exponential_spring::check,
        "CoordinateSpringDamperExt" if is_trajectories => &coordinate_spring_damper_ext::check_trajectory,
        "CoordinateSpringDamperExt" => &coordinate_spring_damper_ext::check,
        "ElasticFoundation" => &|case| elastic_foundation::check(&meshes, case),
        "CablePath" => &cable::check_path,
        "CableSpring" => &cable::check_spring,
        other => return Err(format!("no element {other}").into()),
    };
    let cases = root.list(if is_trajectories { "trajectories" } else { "cases" })?;
    // Trajectories are few and each has a tolerance of its own: one line for each.
    let group = |label: &str| if is_trajectories { label.to_string() } else { String::new() };
    let mut worst: BTreeMap<(String, &'static str), Line> = BTreeMap::new();
    let mut detours = Vec::new();
    for (case, content) in cases.iter().enumerate() {
        let fields = Fields(content);
        let label = fields.text("label")?;
        let deviations = check(fields).map_err(|error| format!("case {}: {error}", case + 1))?;
        if let Some(lengths) = deviations.detour {
            detours.push(Detour { case, label: label.to_string(), lengths });
        }
        for (quantity, deviation, tolerance) in deviations.quantities {
            let line =
                Line { quantity, deviation, tolerance, case, cases: cases.len(), label: label.to_string() };
            let key = (group(label), quantity);
            let beaten = worst
                .get(&key)
                .is_none_or(|before| before.deviation / before.tolerance < deviation / tolerance);
            if beaten {
                worst.insert(key, line);
            }
        }
    }
    Ok(Comparison { lines: worst.into_values().collect(), detours })
}
