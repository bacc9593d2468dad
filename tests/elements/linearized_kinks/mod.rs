//! Linearizations exactly at kinks: finite, and those of one side.

mod announced;
mod contact;
mod springs;

use force_elements::nalgebra::{Rotation3, Translation3, Vector3};
use force_elements::{
    Column, ElementId, End, Error, ForceSystem, Forces, Linearization, Pose, Row, Scope, SpatialVelocity,
    State,
};

/// What one number is moved of.
#[derive(Debug, Clone)]
enum Moved {
    Position(End, usize),
    Velocity(End, usize),
    Variable(String),
}

fn forces_of(forces: &Forces<f64>) -> Vec<f64> {
    let of_bodies = forces.bodies().iter().flat_map(|F| [F.torque, F.force]).flat_map(|v| [v.x, v.y, v.z]);
    of_bodies.chain(forces.coordinates().iter().copied()).collect()
}

/// An element at a kink.
struct Kink {
    system: ForceSystem<f64>,
    state: State<f64>,
    element: ElementId,
    /// The names of the discrete variables.
    memory: Vec<String>,
}

impl Kink {
    fn new(system: ForceSystem<f64>, mut state: State<f64>, element: ElementId) -> Result<Self, Error> {
        system.realize_dynamics(&mut state)?;
        let mut linearization = Linearization::of(Scope { variables: true, commit: true });
        system.linearize(&state, &mut linearization)?;
        let names = state.linearized_variables(element)?;
        // Only those of the memory change by a commit, of which there is a row for each.
        let rows = linearization.element(element).blocks().filter_map(|(row, ..)| match row {
            Row::Next(number) => Some(number + 1),
            _ => None,
        });
        let count = rows.max().unwrap_or(0);
        let is_memory = |name: &String| {
            let field = name.split_once("].").map_or("", |(_, field)| field);
            MEMORY.iter().any(|memory| field.starts_with(memory))
        };
        let memory = names.iter().skip_while(|name| !is_memory(name)).take(count).cloned().collect();
        Ok(Self { system, state, element, memory })
    }

    /// The forces and the next memory after a small change.
    fn at(&self, moved: &Moved, by: f64) -> Result<Vec<f64>, Error> {
        let mut state = self.state.clone();
        let twist = |freedom: usize| {
            let mut twist = [Vector3::zeros(); 2];
            twist[freedom / 3][freedom % 3] = by;
            twist
        };
        match moved {
            Moved::Position(End::Body(body), freedom) => {
                let ([turn, shift], X) = (twist(*freedom), *state.positions().pose(*body));
                let p = X.translation.vector + shift;
                state.set_pose(
                    *body,
                    Pose::from_parts(Translation3::from(p), Rotation3::new(turn) * X.rotation),
                )?;
            }
            Moved::Velocity(End::Body(body), freedom) => {
                let ([angular, linear], V) = (twist(*freedom), *state.velocities().velocity(*body));
                let V = SpatialVelocity::new(V.angular + angular, V.linear + linear);
                state.set_velocity(*body, V)?;
            }
            Moved::Position(End::Coordinate(c), _) => {
                let q = state.positions().coordinate(*c);
                state.set_coordinate(*c, q + by)?;
            }
            Moved::Velocity(End::Coordinate(c), _) => {
                let u = state.velocities().coordinate_rate(*c);
                state.set_coordinate_rate(*c, u + by)?;
            }
            Moved::Variable(name) => {
                let value = state.variable(name)?;
                self.system.set_variable(&mut state, name, value + by)?;
            }
        }
        let mut numbers = forces_of(self.system.realize_dynamics(&mut state)?.forces());
        self.system.accept_step(&mut state)?;
        for name in &self.memory {
            numbers.push(state.variable(name)?);
        }
        Ok(numbers)
    }

    /// The derivatives of the same numbers, of the linearization.
    fn column(&self, linearization: &Linearization<f64>, moved: &Moved, names: &[String]) -> Vec<f64> {
        let bodies = self.system.topology().body_places();
        let rows = 6 * bodies + self.system.topology().coordinate_places();
        let mut column = vec![0.0; rows + self.memory.len()];
        for (row, by, block) in linearization.element(self.element).blocks() {
            let first = match row {
                Row::Force(End::Body(body)) => 6 * body.index(),
                Row::Force(End::Coordinate(c)) => 6 * bodies + c.index(),
                Row::Next(number) => rows + number,
                Row::Rate(_) => continue,
            };
            let (place, width) = match (by, moved) {
                (Column::Motion(end), Moved::Position(of, freedom)) if end == *of => {
                    (*freedom, 2 * end.freedoms())
                }
                (Column::Motion(end), Moved::Velocity(of, freedom)) if end == *of => {
                    (end.freedoms() + freedom, 2 * end.freedoms())
                }
                (Column::Variable(variable), Moved::Variable(name)) if names[variable] == *name => (0, 1),
                _ => continue,
            };
            for (down, row) in block.chunks_exact(width).enumerate() {
                column[first + down] += row[place];
            }
        }
        column
    }
}

/// Vec<f64> that count, and those that select a law by being zero, of which another law is on the other side.
const SELECTING: [&str; 8] = [
    "spring",
    "other",
    "friction_mode",
    "friction_proportional_zone",
    "limit_stop_state",
    "limit_stops_transition",
    "sliding",
    "overspeed",
];

/// How the first fields of the memories begin.
const MEMORY: [&str; 5] = ["accepted", "quaternion", "friction_mode", "anchor_P", "anchors["];

/// Requires that the linearization is finite, and in every direction that of one side.
fn is_one_sided(
    name: &str,
    (system, state, element): (ForceSystem<f64>, State<f64>, ElementId),
    freedoms: Freedoms,
) -> Vec<String> {
    let kink = match Kink::new(system, state, element) {
        Ok(kink) => kink,
        Err(error) => return vec![format!("{name}: {error}")],
    };
    let mut wrong = Vec::new();
    let check = || -> Result<Vec<String>, Error> {
        let mut state = kink.state.clone();
        kink.system.realize_dynamics(&mut state)?;
        let mut linearization = Linearization::of(Scope { variables: true, commit: true });
        kink.system.linearize(&state, &mut linearization)?;
        let names = state.linearized_variables(kink.element)?;
        let mut moves = Vec::new();
        for body in kink.system.bodies() {
            for freedom in if freedoms == Freedoms::All { 0..6 } else { 3..6 } {
                moves.push(Moved::Position(End::Body(body), freedom));
                moves.push(Moved::Velocity(End::Body(body), freedom));
            }
        }
        for coordinate in kink.system.coordinates() {
            moves.push(Moved::Position(End::Coordinate(coordinate), 0));
            moves.push(Moved::Velocity(End::Coordinate(coordinate), 0));
        }
        // Rotations only turn, flags select laws, and the numbers of springs are whole.
        let is_plain = |name: &&String| {
            let field = name.rsplit('.').next().unwrap_or_default();
            !(name.contains(".R.") || name.contains("accepted") || SELECTING.contains(&field))
        };
        moves.extend(names.iter().skip(1).filter(is_plain).cloned().map(Moved::Variable));
        let mut wrong = Vec::new();
        for moved in &moves {
            let column = kink.column(&linearization, moved, &names);
            if !column.iter().all(|number| number.is_finite()) {
                wrong.push(format!("{name}, by {moved:?}: {column:?} is not finite"));
                continue;
            }
            // Differences of order two: forces here change by up to 1e5 times their size per metre.
            let h = 1e-7;
            let here = kink.at(moved, 0.0)?;
            let scale = column.iter().chain(&here).fold(1.0_f64, |most, x| most.max(x.abs()));
            let sides = [h, -h].map(|h| {
                let (near, far) = (kink.at(moved, h).ok()?, kink.at(moved, 2.0 * h).ok()?);
                Some(
                    (0..here.len())
                        .map(|i| (4.0 * near[i] - 3.0 * here[i] - far[i]) / (2.0 * h))
                        .collect::<Vec<_>>(),
                )
            });
            let [above, below] = &sides;
            for (i, slope) in column.iter().enumerate() {
                let slopes = [above, below].map(|side| side.as_ref().map(|slopes| slopes[i]));
                // A commit jumps where a law switches: there is no slope to that side.
                let finite = slopes.into_iter().flatten().filter(|slope| (slope * h).abs() < 1e-3 * scale);
                let off = finite.map(|side| (side - slope).abs()).reduce(f64::min);
                if off.is_some_and(|off| off > 1e-5 * scale) {
                    wrong.push(format!("{name}, by {moved:?}, number {i}: {slope}, not of {slopes:?}"));
                }
            }
        }
        Ok(wrong)
    };
    match check() {
        Ok(found) => wrong.extend(found),
        Err(error) => wrong.push(format!("{name}: {error}")),
    }
    wrong
}

type Case = Result<(ForceSystem<f64>, State<f64>, ElementId), Error>;

/// In which directions bodies are moved.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Freedoms {
    All,
    Shifts,
}

fn all_are_one_sided(cases: impl IntoIterator<Item = (String, Case)>, freedoms: Freedoms) {
    let mut wrong = Vec::new();
    for (name, case) in cases {
        match case {
            Ok(case) => wrong.extend(is_one_sided(&name, case, freedoms)),
            Err(error) => wrong.push(format!("{name}: {error}")),
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Requires derivatives that are finite where several kinks meet, so that no direction has a side of all of them.
fn all_are_finite(cases: impl IntoIterator<Item = (String, Case)>) {
    for (name, case) in cases {
        let kink = case.and_then(|(system, state, element)| Kink::new(system, state, element));
        assert!(kink.is_ok(), "{name}: {:?}", kink.err());
    }
}
