//! Each column of a linearization against one-sided differences of the element, at the states where laws begin.
//!
//! Dual numbers take the branches that the hand-written derivatives take, so that neither sees a term that a branch drops.
//! Differences do: they are extrapolated from one side of the state and the other, and a derivative must be that of a side.

use force_elements::nalgebra::{Rotation3, Vector3};
use force_elements::testing::{Numbers, Scene};
use force_elements::variables::Value;
use force_elements::{
    Column, End, Error, ForceElement, ForceSystem, Handle, Linearization, Pose, Row, Scope, SpatialVelocity,
    State, Variables as _,
};

use super::Kind;
use super::kinks::memory;

/// Which memory a state has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instant {
    /// Drawn at random.
    Drawn,
    /// That of bodies that have always been where they are.
    Reset,
    /// Just committed.
    Committed,
}

/// How a state moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Course {
    /// As drawn.
    Drawn,
    AtRest,
    /// Back where it came from.
    Back,
}

/// How many derivatives are those of the differences, or what else they are.
#[derive(Debug, Default)]
pub struct Columns {
    /// Those of one side at least.
    pub right: u64,
    /// Of a variable that can be displaced to neither side, or that chooses another law there.
    pub refused: u64,
    /// Of neither side where kinks meet, each of which is of a side of its own, or at a kink at the end of a range.
    pub meeting: u64,
    /// Of neither side, which differ from each other: several kinks meet.
    pub between_sides: Vec<String>,
    /// Differences have not converged.
    pub unresolved: Vec<String>,
    /// Another number than that of both sides, or of the only side there is.
    pub wrong: Vec<String>,
}

impl Columns {
    pub fn add(&mut self, other: Self) {
        let Self { right, refused, meeting, between_sides, unresolved, wrong } = other;
        self.right += right;
        self.refused += refused;
        self.meeting += meeting;
        self.between_sides.extend(between_sides);
        self.unresolved.extend(unresolved);
        self.wrong.extend(wrong);
    }
}

/// The steps of differences, in metres, radians, their rates, or shares of a variable: in the order in which most agree.
const STEPS: [f64; 12] = [1e-5, 1e-6, 1e-4, 1e-7, 1e-8, 1e-3, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13, 1e-14];

/// How far a derivative may be off the best differences, relative to the largest in its column of forces or of memory: those
/// of order two leave `(h/L)²` and `1e-16/h` of it.
const PRECISION: f64 = 1e-4;

/// A number by which a law is differentiated.
#[derive(Debug, Clone, Copy)]
enum Place {
    Body {
        end: usize,
        is_rate: bool,
        axis: usize,
    },
    Coordinate {
        end: usize,
        is_rate: bool,
    },
    /// A number of the element, by its place in a snapshot.
    Variable(usize),
}

/// A state with what is known of it.
struct About<'a, E: ForceElement<f64>> {
    system: &'a ForceSystem<f64>,
    element: Handle<E>,
    state: &'a State<f64>,
    snapshot: Vec<(String, f64)>,
    here: Vec<f64>,
    /// The rows that are compared.
    rows: Vec<usize>,
}

/// Whether a number is what a cable remembers of its path, on which forces do not depend: its derivatives are zero.
fn is_of_path(name: &str) -> bool {
    name.contains("wraps[") || name.contains("past_")
}

/// Compares all columns of the state of a seed; `None` if it is refused.
pub fn columns<K: Kind>(seed: u64, instant: Instant, course: Course) -> Option<Columns> {
    let mut scene = K::scene::<f64>(&mut Numbers::new(seed)).ok()?;
    let Scene { system, state, element } = &mut scene;
    let element = *element;
    if course != Course::Drawn {
        let sign = if course == Course::Back { -1.0 } else { 0.0 };
        for body in system.bodies() {
            let V = *state.velocities().velocity(body);
            state.set_velocity(body, SpatialVelocity::new(V.angular * sign, V.linear * sign)).ok()?;
        }
        for coordinate in system.coordinates() {
            let u = state.velocities().coordinate_rate(coordinate);
            state.set_coordinate_rate(coordinate, u * sign).ok()?;
        }
    }
    match instant {
        Instant::Drawn => {}
        Instant::Reset => system.reset_memory(state, element).ok()?,
        Instant::Committed => {
            system.realize_dynamics(state).ok()?;
            system.accept_step(state).ok()?;
        }
    }
    if instant != Instant::Drawn {
        // The next commit is not one that changes nothing.
        state.set_time(state.time() + 1e-3).ok()?;
    }
    system.realize_dynamics(state).ok()?;
    if !K::is_resolved(&scene).ok()? {
        return None;
    }
    let Scene { system, state, .. } = &scene;
    let mut linearization = Linearization::of(Scope { variables: true, commit: true });
    system.linearize(state, &mut linearization).ok()?;
    let snapshot = state.snapshot();
    let here = results(system, &mut state.clone(), element).ok()?;
    let branches = linearization.element(element).branches();
    let at_kinks = branches.iter().filter(|branch| branch.margin < 1e-9).count();
    let kinks_meet = at_kinks > usize::from(!K::HAS_PARTS);
    let mut about = About { system, element, state, snapshot, here, rows: Vec::new() };
    let names = about.memory_names();
    let memory = (0..names.len()).filter(|&i| !is_of_path(&names[i])).map(|i| about.forces() + i);
    about.rows = (0..about.forces()).chain(memory).collect();
    let name = |of: &str| format!("{} {seed} {instant:?} {course:?}: {of}", K::NAME);
    let mut found = about.compare(&linearization, at_kinks > 0, &name);
    if kinks_meet {
        found.meeting += [&mut found.between_sides, &mut found.unresolved, &mut found.wrong]
            .into_iter()
            .flat_map(|list| list.drain(..))
            .count() as u64;
    }
    Some(found)
}

/// The forces and the memory after a commit.
fn results<E: ForceElement<f64>>(
    system: &ForceSystem<f64>,
    state: &mut State<f64>,
    element: Handle<E>,
) -> Result<Vec<f64>, Error> {
    system.realize_dynamics(state)?;
    let mut numbers: Vec<f64> = Vec::new();
    let forces = system.dynamics_view(state)?.forces();
    for F in forces.bodies() {
        numbers.extend(F.torque.iter().chain(&F.force));
    }
    numbers.extend(forces.coordinates());
    system.accept_step(state)?;
    memory(state, element, &mut numbers);
    Ok(numbers)
}

impl<E: ForceElement<f64>> About<'_, E> {
    fn compare(
        &self,
        linearization: &Linearization<f64>,
        is_at_kink: bool,
        name: &dyn Fn(&str) -> String,
    ) -> Columns {
        let mut found = Columns::default();
        for (place, label) in self.places() {
            let written = self.written(linearization, place);
            let rows = self.judge(place, &written);
            for (row, verdict) in rows.into_iter().enumerate() {
                let told = |sides: [Option<f64>; 2]| {
                    let of = self.row_name(row);
                    name(&format!("{of} by {label}: {:.6e}, sides {sides:?}", written[row]))
                };
                match verdict {
                    Verdict::Right => found.right += 1,
                    Verdict::Refused => found.refused += 1,
                    Verdict::BetweenSides(sides) => found.between_sides.push(told(sides.map(Some))),
                    Verdict::Unresolved => found.unresolved.push(told([None; 2])),
                    // It may be of the side that is not permitted.
                    Verdict::Wrong([_, None] | [None, _]) if is_at_kink => found.meeting += 1,
                    Verdict::Wrong(sides) => found.wrong.push(told(sides)),
                }
            }
        }
        found
    }

    fn bodies(&self) -> usize {
        self.system.bodies().count() + 1
    }

    /// How many of the results are forces.
    fn forces(&self) -> usize {
        6 * self.bodies() + self.system.coordinates().count()
    }

    fn row_name(&self, row: usize) -> String {
        match row {
            row if row < 6 * self.bodies() => format!("force {} of body {}", row % 6, row / 6),
            row if row < self.forces() => format!("force of coordinate {}", row - 6 * self.bodies()),
            row => self.memory_names().swap_remove(row - self.forces()),
        }
    }

    fn memory_names(&self) -> Vec<String> {
        let mut names = Vec::new();
        self.state.discrete(self.element).visit(&mut |entry| {
            if let Value::Number(_) = entry.value {
                names.push(format!("next {}", entry.name));
            }
        });
        names
    }

    /// What can be displaced by itself. Entries of rotations cannot, and dual numbers turn them; a mode is no number by which
    /// a law is smooth.
    fn places(&self) -> Vec<(Place, String)> {
        let mut places = Vec::new();
        for is_rate in [false, true] {
            let of = if is_rate { "velocity" } else { "motion" };
            for end in 1..self.bodies() {
                for axis in 0..6 {
                    places.push((Place::Body { end, is_rate, axis }, format!("{of} {axis} of body {end}")));
                }
            }
            for end in 0..self.system.coordinates().count() {
                places.push((Place::Coordinate { end, is_rate }, format!("{of} of coordinate {end}")));
            }
        }
        let names = self.state.linearized_variables(self.element).unwrap_or_default();
        for name in names {
            let is_number = !name.contains(".R.") && !name.ends_with("friction_mode") && !is_of_path(&name);
            let place = self.snapshot.iter().position(|(listed, _)| *listed == name);
            if let (true, Some(place)) = (is_number, place) {
                places.push((Place::Variable(place), name));
            }
        }
        places
    }

    /// The column of the linearization.
    fn written(&self, linearization: &Linearization<f64>, place: Place) -> Vec<f64> {
        let mut column = vec![0.0; self.here.len()];
        let names = self.state.linearized_variables(self.element).unwrap_or_default();
        let first_coordinate = 6 * self.bodies();
        for (row, by, block) in linearization.element(self.element).blocks() {
            let first = match row {
                Row::Force(End::Body(body)) => 6 * body.index(),
                Row::Force(End::Coordinate(coordinate)) => first_coordinate + coordinate.index(),
                Row::Next(number) => self.forces() + number,
                Row::Rate(_) => continue,
            };
            let (width, at) = match (by, place) {
                (Column::Motion(End::Body(body)), Place::Body { end, is_rate, axis })
                    if body.index() == end =>
                {
                    (12, axis + 6 * usize::from(is_rate))
                }
                (Column::Motion(End::Coordinate(by)), Place::Coordinate { end, is_rate })
                    if by.index() == end =>
                {
                    (2, usize::from(is_rate))
                }
                (Column::Variable(number), Place::Variable(place))
                    if self.is_named(place, &names[number]) =>
                {
                    (1, 0)
                }
                _ => continue,
            };
            for (down, derivatives) in block.chunks_exact(width).enumerate() {
                column[first + down] += derivatives[at];
            }
        }
        column
    }

    fn is_named(&self, place: usize, name: &str) -> bool {
        self.snapshot[place].0 == name
    }

    /// The results where something is displaced.
    fn at(&self, place: Place, by: f64) -> Option<Vec<f64>> {
        let mut state = self.state.clone();
        match place {
            Place::Body { end, is_rate, axis } => {
                let body = self.system.bodies().nth(end - 1)?;
                let (mut turn, mut shift) = (Vector3::zeros(), Vector3::zeros());
                if axis < 3 {
                    turn[axis] = by;
                } else {
                    shift[axis - 3] = by;
                }
                let (X, V) = (state.positions().pose(body), state.velocities().velocity(body));
                if is_rate {
                    let V = SpatialVelocity::new(V.angular + turn, V.linear + shift);
                    state.set_velocity(body, V).ok()?;
                } else {
                    let p = X.translation.vector + shift;
                    let X = Pose::from_parts(p.into(), Rotation3::new(turn) * X.rotation);
                    state.set_pose(body, X).ok()?;
                }
            }
            Place::Coordinate { end, is_rate } => {
                let coordinate = self.system.coordinates().nth(end)?;
                if is_rate {
                    let u = state.velocities().coordinate_rate(coordinate);
                    state.set_coordinate_rate(coordinate, u + by).ok()?;
                } else {
                    let q = state.positions().coordinate(coordinate);
                    state.set_coordinate(coordinate, q + by).ok()?;
                }
            }
            Place::Variable(place) => {
                let mut snapshot = self.snapshot.clone();
                snapshot[place].1 += by;
                state.restore(&snapshot).ok()?;
            }
        }
        results(self.system, &mut state, self.element).ok()
    }

    /// The magnitude of what is displaced: poses and coordinates of some metres, or rates, all of which rounding leaves off.
    fn value(&self, place: Place) -> f64 {
        match place {
            Place::Variable(place) => self.snapshot[place].1.abs(),
            Place::Body { is_rate: false, .. } | Place::Coordinate { is_rate: false, .. } => 1.0,
            Place::Body { end, .. } => {
                let V = self.state.velocities().bodies()[end];
                V.angular.amax().max(V.linear.amax())
            }
            Place::Coordinate { end, .. } => self.state.velocities().coordinates()[end].abs(),
        }
    }

    /// The size of what is displaced.
    fn size(&self, place: Place) -> f64 {
        match place {
            Place::Variable(place) => {
                let size = self.snapshot[place].1.abs();
                if size > 0.0 { size } else { 1.0 }
            }
            _ => 1.0,
        }
    }

    /// Differences of order two on one side.
    fn slopes(&self, place: Place, step: f64) -> Option<Vec<f64>> {
        let (near, far) = (self.at(place, step)?, self.at(place, 2.0 * step)?);
        let slope = |((a, b), c): ((&f64, &f64), &f64)| (4.0 * b - c - 3.0 * a) / (2.0 * step);
        Some(self.here.iter().zip(&near).zip(&far).map(slope).collect())
    }

    fn judge(&self, place: Place, written: &[f64]) -> Vec<Verdict> {
        let size = self.size(place);
        let mut sides: [Vec<Option<Difference>>; 2] = Default::default();
        let mut is_right = vec![true; written.len()];
        self.rows.iter().for_each(|&row| is_right[row] = false);
        for step in STEPS {
            for (side, found) in [1.0, -1.0].into_iter().zip(&mut sides) {
                let slopes = self.slopes(place, side * step * size);
                let difference = slopes.map(|slopes| Difference { step: step * size, slopes });
                for &row in &self.rows {
                    let agrees = |found: &Difference| {
                        // In shorter steps what is displaced may be lost in rounding.
                        (found.slopes[row] == written[row] && step >= 1e-8)
                            || self.is_close(found, row, written[row], written, place)
                    };
                    is_right[row] |= difference.as_ref().is_some_and(agrees);
                }
                found.push(difference);
            }
            if is_right.iter().all(|&is_right| is_right) {
                break;
            }
        }
        // Two steps that agree, next to each other in length; the shortest of which are nearest to the state.
        let converged = |side: &[Option<Difference>], row: usize| -> Option<f64> {
            let mut known: Vec<&Difference> = side.iter().flatten().collect();
            known.sort_by(|a, b| a.step.total_cmp(&b.step));
            known.windows(2).find_map(|pair| {
                let other = pair[0].slopes[row];
                (self.is_close(pair[1], row, other, written, place)
                    && self.is_close(pair[0], row, pair[1].slopes[row], written, place))
                .then_some(other)
            })
        };
        let is_refused = [0, 1].map(|side: usize| {
            // Within rounding of where it is, a station has not moved, and may not do more.
            let permitted = sides[side].iter().flatten().filter(|found| found.step > 1e-12).count();
            permitted == 0 || self.jumps(&sides[side])
        });
        let verdict = |row: usize| {
            if is_right[row] {
                return Verdict::Right;
            }
            let found = [0, 1].map(|side: usize| converged(&sides[side], row));
            match found {
                _ if is_refused == [true; 2] => Verdict::Refused,
                [Some(above), Some(below)] if is_refused == [false; 2] => {
                    let is_smooth = (above - below).abs() <= 2.0 * PRECISION * above.abs().max(below.abs());
                    if is_smooth { Verdict::Wrong(found) } else { Verdict::BetweenSides([above, below]) }
                }
                [Some(_), _] if is_refused[1] => Verdict::Wrong(found),
                [_, Some(_)] if is_refused[0] => Verdict::Wrong(found),
                _ => Verdict::Unresolved,
            }
        };
        (0..written.len()).map(verdict).collect()
    }

    /// Whether results jump on a side: over a hundredth of a step they change by as much. There a number chooses another law, and
    /// there is no derivative.
    fn jumps(&self, side: &[Option<Difference>]) -> bool {
        let mut known: Vec<&Difference> = side.iter().flatten().filter(|found| found.step > 1e-9).collect();
        known.sort_by(|a, b| a.step.total_cmp(&b.step));
        let change = |found: &Difference, row: usize| found.slopes[row].abs() * found.step;
        known.first().zip(known.get(2)).is_some_and(|(short, long)| {
            (0..self.here.len())
                .any(|row| change(short, row) > (1e-9 * self.here[row].abs()).max(0.5 * change(long, row)))
        })
    }

    /// Whether a number is the derivative of a row, as far as the difference tells: not at all where rounding outweighs it.
    fn is_close(&self, found: &Difference, row: usize, number: f64, written: &[f64], place: Place) -> bool {
        let Difference { step, slopes } = found;
        let off = (slopes[row] - number).abs();
        let largest = |rows: core::ops::Range<usize>| {
            rows.fold(0.0_f64, |most, row| written[row].abs().max(slopes[row].abs()).max(most))
        };
        // Numbers of the memory have units of their own.
        let scale = if row < self.forces() {
            largest(0..self.forces())
        } else {
            let own = number.abs().max(slopes[row].abs()).max(written[row].abs());
            own.max(1e-9 * largest(self.forces()..written.len()))
        };
        let rounding = 4e-16 * (self.here[row].abs() + self.value(place) * slopes[row].abs()) / step;
        let size = self.size(place);
        let least = if row < self.forces() {
            1e-10 * self.here[..self.forces()].iter().fold(0.0_f64, |most, force| most.max(force.abs()))
        } else {
            1e-10 + 1e-9 * self.here[row].abs()
        };
        let largest = slopes[row].abs().max(number.abs()).max(written[row].abs());
        let is_nothing = largest * size <= least && rounding * size <= least;
        is_nothing || (off <= PRECISION * scale && rounding <= PRECISION * scale)
    }
}

/// Slopes from one side, over a step and twice that.
struct Difference {
    step: f64,
    slopes: Vec<f64>,
}

/// What differences say of a derivative.
enum Verdict {
    Right,
    BetweenSides([f64; 2]),
    Unresolved,
    /// Neither side is permitted.
    Refused,
    Wrong([Option<f64>; 2]),
}
