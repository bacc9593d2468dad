//! Cables against the numbers of the reference programs.
#![allow(non_snake_case, reason = "monogram notation")]

#[path = "support/cable_cases.rs"]
mod cable_cases;

use cable_cases::{Comparison, compare_path, compare_spring};
use force_elements::Result;
use serde_json::Value;

fn check(file: &str, count: usize, compare: fn(&Value) -> Result<Vec<Comparison>>) {
    let parsed: Value = serde_json::from_str(file).expect("the file is JSON");
    let cases = parsed["cases"].as_array().expect("cases");
    assert_eq!(cases.len(), count);
    let mut failures = Vec::new();
    for (i, case) in cases.iter().enumerate() {
        match compare(case) {
            Ok(compared) => failures.extend(
                compared
                    .into_iter()
                    .filter(|(_, deviation, tolerance)| deviation.is_nan() || deviation > tolerance)
                    .map(|found| format!("case {i} ({}): {found:?}", case["label"])),
            ),
            Err(error) => failures.push(format!("case {i} ({}): {error}", case["label"])),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn cable_paths_are_those_of_the_reference() {
    check(include_str!("golden/cable_path.json"), 80, compare_path);
}

#[test]
fn cable_springs_are_those_of_the_reference() {
    check(include_str!("golden/cable_spring.json"), 80, compare_spring);
}
