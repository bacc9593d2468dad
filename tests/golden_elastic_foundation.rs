//! Forty scenes computed by another program.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

#[path = "golden_check/elastic_foundation.rs"]
mod golden_check;

use std::path::Path;

use serde_json::Value;

#[test]
fn forces_and_energy_agree_with_simbody() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let text = std::fs::read_to_string(folder.join("elastic_foundation.json")).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    let cases = file["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 40);
    let mut worst = 0.0_f64;
    for (i, case) in cases.iter().enumerate() {
        for comparison in golden_check::check(case, &folder) {
            let ratio = comparison.deviation / comparison.tolerance;
            assert!(ratio <= 1.0, "case {i} {}: {comparison:?}", case["label"]);
            worst = worst.max(ratio);
        }
    }
    println!("worst deviation: {worst:.1e} of the tolerance");
}
