//! Checks this crate against numbers computed by other programs.
//!
//! ```text
//! cargo run --release --example conformance -- FOLDER
//! ```
//!
//! Reads every `*.json` file of the folder (by default the cases the tests use) and prints, for each
//! file and quantity, the worst deviation, the case it occurs in, the tolerance, and pass or FAIL.
//! The exit status is 1 if anything fails.
//!
//! A search without memory may find a shorter path than the reference, on other sides of the obstacles. Such a case is
//! solved again from the reference's contacts and compared with those numbers; it is listed with both lengths.

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use force_elements_examples::{Argument, Arguments, Progress, Table, println};
use force_elements_scenes::conformance::{self, Comparison, Detour};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments = Arguments::read(
        "Deviations from conformance cases; the exit status is 1 if one exceeds its tolerance.",
        [Argument {
            name: "FOLDER",
            help: "where the cases are",
            default: concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/golden"),
        }],
    );
    let folder = arguments.path(0);
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .map_err(|error| format!("{}: {error}", folder.display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    files.sort();

    if files.is_empty() {
        return Err(format!("{}: no cases", folder.display()).into());
    }
    let progress = Progress::new(files.len() as u64);
    let mut table = Table::new(["file", "quantity", "deviation", "tolerance", "worst case", "verdict"]);
    let mut elsewhere = Table::new(["file", "case", "reference [m]", "without memory [m]"]);
    let mut failures = Vec::new();
    let mut failed = false;
    for path in files {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        match conformance::file(&path) {
            Ok(Comparison { lines, detours }) => {
                for Detour { case, label, lengths: [theirs, ours] } in detours {
                    elsewhere.row([
                        name.clone(),
                        format!("{} ({label})", case + 1),
                        format!("{theirs:.9}"),
                        format!("{ours:.9}"),
                    ]);
                }
                for line in lines {
                    failed |= !line.passes();
                    table.row([
                        name.clone(),
                        line.quantity.to_string(),
                        format!("{:.1e}", line.deviation),
                        format!("{:.1e}", line.tolerance),
                        format!("{} of {} ({})", line.case + 1, line.cases, line.label),
                        if line.passes() { "pass" } else { "FAIL" }.to_string(),
                    ]);
                }
            }
            Err(error) => failures.push(format!("{name}: {error}  FAIL")),
        }
        progress.step();
    }
    drop(progress);
    println!("{table}");
    println!("Compared in the reference's class, which has a longer path:\n\n{elsewhere}");
    for failure in &failures {
        println!("{failure}");
    }
    let passes = !failed && failures.is_empty();
    Ok(if passes { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
