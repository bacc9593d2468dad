//! Checks this crate against numbers computed by other programs.
//!
//! ```text
//! cargo run --release --example conformance -- FOLDER
//! ```
//!
//! Reads every `*.json` file of the folder (by default the cases the tests use) and prints, for each
//! file and quantity, the worst deviation, the case it occurs in, the tolerance, and pass or FAIL.
//! The exit status is 1 if anything fails.

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

mod check;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let folder = std::env::args_os()
        .nth(1)
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden")), PathBuf::from);
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .map_err(|error| format!("{}: {error}", folder.display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    files.sort();

    if files.is_empty() {
        return Err(format!("{}: no cases", folder.display()).into());
    }
    let mut failed = false;
    println!("{:<44} {:<24} {:>10} {:>10}  worst case", "file", "quantity", "deviation", "tolerance");
    for path in files {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        match check::file(&path) {
            Ok(lines) => {
                for line in lines {
                    failed |= !line.passes();
                    println!(
                        "{name:<44} {:<24} {:>10.1e} {:>10.1e}  {} of {} ({})  {}",
                        line.quantity,
                        line.deviation,
                        line.tolerance,
                        line.case + 1,
                        line.cases,
                        line.label,
                        if line.passes() { "pass" } else { "FAIL" },
                    );
                }
            }
            Err(error) => {
                failed = true;
                println!("{name:<44} {error}  FAIL");
            }
        }
    }
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
