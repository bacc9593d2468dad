//! The numbers of the programs that define these elements.

use std::path::Path;

use force_elements_scenes::conformance::{self, Comparison, Detour};

/// Checks one file; it must hold at least this many cases and this many quantities.
fn conforms(name: &str, cases: usize, quantities: usize) -> Vec<Detour> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    let Comparison { lines, detours } = conformance::file(&path).expect("a readable file");
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
    detours
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
    let detours = conforms("cable_path.json", 80, 10);
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
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/linear_bushing.json");
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
