//! The numbers of the programs that define these elements.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use force_elements_scenes::conformance::{self, Comparison, Detour};

/// The comparison of a file, which two tests read and one makes.
fn compare(name: &str) -> Arc<Comparison> {
    type Once = Arc<OnceLock<Arc<Comparison>>>;
    static FILES: Mutex<BTreeMap<String, Once>> = Mutex::new(BTreeMap::new());
    let file = {
        let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(files.entry(name.to_owned()).or_default())
    };
    let comparison = file.get_or_init(|| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden").join(name);
        Arc::new(conformance::file(&path).expect("a readable file"))
    });
    Arc::clone(comparison)
}

/// Checks one file; it must hold at least this many cases and this many quantities.
fn conforms(name: &str, cases: usize, quantities: usize) -> Arc<Comparison> {
    let comparison = compare(name);
    let lines = &comparison.lines;
    assert!(lines.len() >= quantities, "{name}: {} quantities", lines.len());
    for line in lines {
        assert!(line.cases >= cases, "{name}: {} cases", line.cases);
        assert!(
            line.passes(),
            "{name}, {}, case {} ({}): off by {:e}, tolerance {:e}",
            line.quantity,
            line.case + 1,
            line.label,
            line.deviation,
            line.tolerance,
        );
    }
    comparison
}

#[test]
fn linear_bushing_agrees_with_simbody() {
    conforms("linear_bushing.json", 80, 15);
}

#[test]
fn exponential_spring_agrees_with_simbody() {
    conforms("exponential_spring.json", 160, 15);
}

#[test]
fn coordinate_spring_damper_ext_agrees_with_exudyn() {
    conforms("coordinate_spring_damper_ext.json", 120, 5);
}

#[test]
fn trajectories_with_friction_and_stops_agree_with_exudyn() {
    conforms("coordinate_spring_damper_ext_trajectories.json", 3, 6);
}

#[test]
fn elastic_foundation_agrees_with_simbody() {
    conforms("elastic_foundation.json", 40, 5);
}

#[test]
fn cable_paths_agree_with_simbody() {
    let detours = &conforms("cable_path.json", 80, 10).detours;
    // In few cases only the path without memory is a shorter one than the reference's.
    assert!(detours.iter().all(|Detour { lengths: [theirs, ours], .. }| ours < theirs));
    assert!(detours.len() < 8, "{}", detours.len());
}

#[test]
fn cable_springs_agree_with_simbody() {
    conforms("cable_spring.json", 80, 8);
}

#[test]
fn a_wrong_number_is_noticed() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/linear_bushing.json");
    let text = std::fs::read_to_string(path).expect("a readable file");
    let mut content: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let q = &mut content["cases"][7]["expected"]["q"][2];
    *q = serde_json::Value::from(q.as_f64().expect("a number") * (1.0 + 1e-8));
    let spoilt = std::env::temp_dir().join(format!("force_elements_spoilt_{}.json", std::process::id()));
    std::fs::write(&spoilt, content.to_string()).expect("a writable folder");
    let lines = conformance::file(&spoilt);
    std::fs::remove_file(&spoilt).expect("removable");
    let Comparison { lines, .. } = lines.expect("a readable file");
    let failing: Vec<_> = lines.iter().filter(|line| !line.passes()).map(|line| line.quantity).collect();
    assert_eq!(failing, ["q"]);
}

/// A number rounded up to one digit.
fn rounded_up(number: f64) -> String {
    if number == 0.0 {
        return "0".into();
    }
    let decade = 10_f64.powf(number.log10().floor());
    format!("{:.0e}", (number / decade).ceil() * decade)
}

/// The worst deviation of the quantities of a file that are meant.
fn worst(name: &str, is_meant: impl Fn(&str) -> bool) -> String {
    let comparison = compare(name);
    let meant = comparison.lines.iter().filter(|line| is_meant(line.quantity));
    rounded_up(meant.map(|line| line.deviation).fold(0.0, f64::max))
}

/// The deviations of a quantity, trajectory by trajectory.
fn of_trajectories(quantity: &str) -> String {
    let comparison = compare("coordinate_spring_damper_ext_trajectories.json");
    let meant = comparison.lines.iter().filter(|line| line.quantity == quantity);
    meant.map(|line| rounded_up(line.deviation)).collect::<Vec<_>>().join(", ")
}

fn page(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name);
    std::fs::read_to_string(path).expect("a page")
}

#[test]
fn readme_states_the_least_and_the_greatest_ratio_of_times() {
    let record = page("benches/record/peers.md");
    let ratios = record.lines().filter_map(|line| line.strip_suffix(" |")?.rsplit(' ').next()?.parse().ok());
    let [least, greatest] =
        ratios.fold([f64::INFINITY, 0.0], |[a, b]: [f64; 2], ratio: f64| [a.min(ratio), b.max(ratio)]);
    let stated = format!("{least:.1} to {greatest:.1} times");
    assert!(page("README.md").contains(&stated), "{stated}");
}

#[test]
fn the_pages_state_the_worst_deviations() {
    let all = |_: &str| true;
    let [spring, foundation, coordinate, bushing, cable] = [
        "exponential_spring",
        "elastic_foundation",
        "coordinate_spring_damper_ext",
        "linear_bushing",
        "cable_spring",
    ]
    .map(|name| worst(&format!("{name}.json"), all));
    let lengths = worst("cable_path.json", |quantity| quantity == "length");
    let points = worst("cable_path.json", |quantity| quantity != "length");
    // The largest of all runs, which the example prints.
    let record = page("benches/record/friction_trajectories.md");
    let largest = record.lines().find_map(|line| line.strip_prefix("The largest: ")).expect("the line");
    for (name, row, expected) in [
        ("README.md", "| `ExponentialSpring` |", spring.clone()),
        ("README.md", "| `ElasticFoundation` |", foundation.clone()),
        ("README.md", "| `CoordinateSpringDamperExt` |", format!("{coordinate}; trajectories {largest}")),
        ("README.md", "| `LinearBushing` |", bushing.clone()),
        ("README.md", "| `CableSpring` |", format!("{cable}; points of paths {points} m")),
        ("docs/coverage.md", "| `ExponentialSpring` | 160", spring),
        ("docs/coverage.md", "| `ElasticFoundation` | 40", foundation),
        ("docs/coverage.md", "| `CoordinateSpringDamperExt` | 120", coordinate),
        ("docs/coverage.md", "| the same, integrated |", of_trajectories("q")),
        ("docs/coverage.md", "| | | velocity there", of_trajectories("u")),
        ("docs/coverage.md", "| `CableSpring` | 80", cable),
        ("docs/coverage.md", "| its path |", lengths),
        ("docs/coverage.md", "| | | contact points", points),
        ("docs/coverage.md", "| `LinearBushing` | 80", bushing),
    ] {
        let text = page(name);
        let stated = text.lines().find(|line| line.starts_with(row)).expect("the row");
        assert!(stated.ends_with(&format!("| {expected} |")), "{name}: {stated}\nfound {expected}");
    }
}
