//! Boxes, sledges, stacks, carts and cables over whole runs, with every integration method: right to a stated accuracy,
//! or refused.
//!
//! ```text
//! cargo run --release --example runs [-- PICTURE.svg]
//! ```

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

use force_elements_examples::{Argument, Arguments, Progress, Table, print, println};
use force_elements_scenes::runs::{Finding, Method, Refused, SCENES, with_default_springs};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

const COUNT: usize = Method::ALL.len();
/// At which masses parameters are shown to scale, beside 1 kg \[kg\].
const MASSES: [f64; 3] = [0.1, 10.0, 1000.0];
/// By which methods.
const SCALED: [Method; 3] = [Method::Euler(1.0 / 240.0), Method::Euler(1e-3), Method::DormandPrince(1e-6)];

/// What a scene shows by one method.
type Cell = Result<Vec<Finding>, Refused>;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments = Arguments::read(
        "Scenes of contact, friction and cables with every integration method: three tables, and a picture.",
        [Argument::picture("target/runs.svg")],
    );
    println!("{INTRODUCTION}");
    let progress = Progress::new((SCENES.len() * (COUNT + SCALED.len() * MASSES.len())) as u64);
    let cell = |scene: usize, method: Method, mass: f64| {
        let cell = SCENES[scene].run(method, mass);
        progress.step();
        cell
    };
    let rows: Vec<[Cell; COUNT]> =
        (0..SCENES.len()).map(|scene| Method::ALL.map(|method| cell(scene, method, 1.0))).collect();
    let scaled: Vec<Vec<[Cell; MASSES.len()]>> = (0..SCENES.len())
        .map(|scene| SCALED.map(|method| MASSES.map(|mass| cell(scene, method, mass))).into())
        .collect();
    drop(progress);
    print_matrix(&rows);
    print_masses(&rows, &scaled);
    let are_refused = print_defaults()?;
    let all = rows.iter().flatten().chain(scaled.iter().flatten().flatten());
    let is_right = all.clone().all(|cell| verdict(cell) != Verdict::Wrong);
    let refused = rows.iter().flatten().filter(|cell| verdict(cell) == Verdict::Refused).count();
    println!(
        "\n{} cells of {} are refused, with what refused them; the others are right: {}.",
        refused,
        rows.len() * COUNT,
        if is_right && are_refused { "pass" } else { "FAIL" }
    );
    let path = arguments.path(0);
    draw(path, &rows)?;
    println!("\npicture: {}", path.display());
    Ok(if is_right && are_refused { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

const INTRODUCTION: &str = "\
# Whole runs with every integration method

The parameters of every contact are those of `for_contact` of a `ContactDesign` for the step `h` of the method, or for 1 ms
under error control. Bodies to which the guarantee for that step does not apply are designed for a longer one: the tall box,
the stack and the cart for `2h`, the askew cube for `1.25h`. Boxes that drop are designed for an impact: the flat one at 2.3
times its speed, the turned one at 1.7 m/s. μs is 0.7 and μk is 0.5. Boxes are cubes of 0.2 m unless stated otherwise.

Euler is `SemiImplicitEuler`. RK4 is the classical method in a host of its own, which calls `ForceSystem::check_step` in each
step. DP5 is `DormandPrince`; a is its accuracy.

A cell has the deviation, which is claimed to be at most what is *allowed*. The expected value is a formula. For the rebound
it is from the law, and for the toppling box from a rigid pendulum, both integrated in tiny steps. No expected value uses an
element. If the step is refused, the cell says by what: `step` for the design, or the element that the run names.

*Stretch* is that of friction springs, `μs·g·(h/0.18)²`. *Shift* is the distance by which a box on a soft contact leans
forward as it slides; for a bristle, the distance slid below five times the velocity at which its static excess decays.

## 1 kg
";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Right,
    Refused,
    Wrong,
}

fn verdict(cell: &Cell) -> Verdict {
    match cell {
        Ok(findings) if findings.iter().all(|finding| finding.is_right()) => Verdict::Right,
        Err(refused) if refused.of_step().is_some() => Verdict::Refused,
        _ => Verdict::Wrong,
    }
}

/// The text of a claim in a cell.
fn text(cell: &Cell, claim: usize) -> String {
    match cell {
        Ok(findings) => {
            let Finding { deviation, .. } = findings[claim];
            let wrong = if findings[claim].is_right() { "" } else { " WRONG" };
            if deviation < 1e-12 { format!("<1e-12{wrong}") } else { format!("{deviation:.0e}{wrong}") }
        }
        Err(refused) => {
            refused.of_step().map_or_else(|| format!("WRONG: {refused}"), |what| format!("refused: {what}"))
        }
    }
}

fn print_matrix(rows: &[[Cell; COUNT]]) {
    let names = Method::ALL.map(|method| method.to_string());
    let mut head = [""; COUNT + 2];
    head[..2].copy_from_slice(&["scene: deviation", "allowed"]);
    head[2..].copy_from_slice(&names.each_ref().map(String::as_str));
    let mut table = Table::new(head);
    for (scene, cells) in SCENES.iter().zip(rows) {
        for (i, claim) in scene.claims().enumerate() {
            let mut row = [const { String::new() }; COUNT + 2];
            row[0] = format!("{}: {}", scene.name, claim.what);
            row[1] = claim.allowed.to_string();
            for (text_of, cell) in row[2..].iter_mut().zip(cells) {
                *text_of = text(cell, i);
            }
            table.row(row);
        }
    }
    print!("{table}");
}

fn print_masses(rows: &[[Cell; COUNT]], scaled: &[Vec<[Cell; MASSES.len()]>]) {
    println!(
        "\n## Other masses\n\nThe largest share of what is allowed, over all claims: with 1 kg, and the worst of 0.1, 10 and 1000 kg.\n"
    );
    let names = SCALED.map(|method| method.to_string());
    let mut table = Table::new([
        "scene",
        &format!("{}, 1 kg", names[0]),
        "worst of others",
        &format!("{}, 1 kg", names[1]),
        "worst of others",
        &format!("{}, 1 kg", names[2]),
        "worst of others",
    ]);
    for ((scene, cells), scaled) in SCENES.iter().zip(rows).zip(scaled) {
        let mut row = [const { String::new() }; 7];
        row[0] = scene.name.to_string();
        for (i, (method, others)) in SCALED.iter().zip(scaled).enumerate() {
            let own = Method::ALL.iter().position(|known| known == method);
            row[1 + 2 * i] = own.map_or_else(String::new, |own| share_text(&cells[own]));
            let worst = others.iter().max_by(|a, b| share(a).total_cmp(&share(b)));
            row[2 + 2 * i] = worst.map_or_else(String::new, share_text);
        }
        table.row(row);
    }
    print!("{table}");
}

/// The largest share of what is allowed; infinite if it was refused.
fn share(cell: &Cell) -> f64 {
    let shares = cell.iter().flatten().map(|finding| finding.deviation / finding.allowed);
    if cell.is_ok() { shares.fold(0.0, f64::max) } else { f64::INFINITY }
}

fn share_text(cell: &Cell) -> String {
    if cell.is_ok() { format!("{:.2}", share(cell)) } else { text(cell, 0) }
}

/// Whether no box is launched.
fn print_defaults() -> Result<bool, Refused> {
    println!(
        "\n## Default parameters at the frame rates of games\n\nA box on eight exponential springs of default parameters is released 1 cm above the plane, under symplectic Euler. *Risen* \
         is how far it has risen above that height within 4 s, or until the step is refused.\n"
    );
    let mut table = Table::new(["mass, kg", "step", "outcome", "risen, mm"]);
    let mut is_held = true;
    for mass in [0.1, 1.0, 10.0, 1000.0] {
        for rate in [60.0, 240.0] {
            let (refused, highest) = with_default_springs(mass, 1.0 / rate)?;
            is_held &= highest < 1e-6;
            let outcome = refused.map_or_else(|| "runs".into(), |kind| format!("refused: {kind}"));
            table.row([mass.to_string(), format!("1/{rate} s"), outcome, format!("{:.3}", highest * 1e3)]);
        }
    }
    print!("{table}");
    Ok(is_held)
}

/// The largest share of what is allowed, by its decade; grey where the step is refused.
fn draw(path: &Path, rows: &[[Cell; COUNT]]) -> Result<(), Box<dyn Error>> {
    const LEFT: i32 = 330;
    const TOP: i32 = 40;
    const CELL: (i32, i32) = (84, 24);
    const GREY: RGBColor = RGBColor(205, 205, 205);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let height = TOP + CELL.1 * i32::try_from(rows.len())? + 70;
    let width = LEFT + CELL.0 * i32::try_from(COUNT)? + 12;
    let size = (u32::try_from(width)?, u32::try_from(height)?);
    let root = SVGBackend::new(path, size).into_drawing_area();
    root.fill(&WHITE)?;
    let font = |size: i32, at: HPos| {
        TextStyle::from(("sans-serif", size).into_font()).pos(Pos::new(at, VPos::Center))
    };
    let mut column = LEFT;
    for method in Method::ALL {
        let name = method.to_string();
        root.draw(&Text::new(name, (column + CELL.0 / 2, TOP - 14), font(11, HPos::Center)))?;
        column += CELL.0;
    }
    let square = |x: i32, y: i32, color: RGBColor| {
        Rectangle::new([(x, y), (x + CELL.0 - 2, y + CELL.1 - 2)], color.filled())
    };
    let mut y = TOP;
    for (scene, cells) in SCENES.iter().zip(rows) {
        root.draw(&Text::new(scene.name, (LEFT - 8, y + CELL.1 / 2), font(12, HPos::Right)))?;
        let mut x = LEFT;
        for cell in cells {
            let (color, label) = match verdict(cell) {
                Verdict::Right => (color(share(cell)), format!("{:.0e}", share(cell).max(1e-12))),
                Verdict::Refused => (GREY, "refused".into()),
                Verdict::Wrong => (RED, "wrong".into()),
            };
            root.draw(&square(x, y, color))?;
            root.draw(&Text::new(label, (x + CELL.0 / 2, y + CELL.1 / 2), font(11, HPos::Center)))?;
            x += CELL.0;
        }
        y += CELL.1;
    }
    y += 20;
    root.draw(&Text::new(
        "largest deviation over what is allowed",
        (LEFT - 8, y + CELL.1 / 2),
        font(12, HPos::Right),
    ))?;
    let mut x = LEFT;
    for (name, color) in [
        ("≤ 1e-4", color(1e-5)),
        ("≤ 1e-3", color(5e-4)),
        ("≤ 1e-2", color(5e-3)),
        ("≤ 0.1", color(0.05)),
        ("≤ 1", color(0.5)),
        ("refused", GREY),
        ("wrong", RED),
    ] {
        root.draw(&square(x, y, color))?;
        root.draw(&Text::new(name, (x + CELL.0 / 2, y + CELL.1 / 2), font(11, HPos::Center)))?;
        x += CELL.0;
    }
    root.present()?;
    Ok(())
}

fn color(share: f64) -> RGBColor {
    match share {
        share if share <= 1e-4 => RGBColor(120, 180, 130),
        share if share <= 1e-3 => RGBColor(155, 205, 160),
        share if share <= 1e-2 => RGBColor(190, 225, 190),
        share if share <= 0.1 => RGBColor(225, 235, 190),
        _ => RGBColor(250, 225, 160),
    }
}
