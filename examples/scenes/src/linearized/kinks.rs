//! Lines through the states of a scene: is every kink of the forces, and of what a commit writes, announced by a branch?

use force_elements::nalgebra::{Rotation3, Translation3};
use force_elements::testing::{Finding, Numbers, Scene};
use force_elements::variables::Value;
use force_elements::{
    Branch, Column, End, Error, ForceElement, Handle, Linearization, Pose, Row, Scope, SpatialVelocity,
    State, Variables, Variation,
};

use super::{Kind, spread};

/// The kinks found on a line.
#[derive(Debug, Default)]
pub struct Kinks {
    /// How many a branch announces: its name, or the number of parts in it, is another on the other side, or its margin
    /// passes through zero.
    pub announced: u64,
    /// What is known of the others.
    pub silent: Vec<String>,
}

/// Intervals on a line.
const INTERVALS: u32 = 24;
/// How far things move within what a kink is narrowed down to \[m, rad\]: some thousand roundings.
const NARROW: f64 = 1e-12;
/// How far from a kink margins and jumps are compared, in multiples of that.
const AROUND: [f64; 2] = [16.0, 256.0];
/// A jump, relative to the largest number on the line.
const JUMP: f64 = 1e-3;
/// A margin of next to nothing \[N\].
const NO_FORCE: f64 = 1e-6;

/// A line through a state.
struct Line<'a, E: ForceElement<f64>> {
    scene: &'a Scene<f64, E>,
    motion: Variation<f64>,
    acceleration: Variation<f64>,
    narrow: f64,
}

/// What is known at a point of it: forces and next memory with their slopes along the line, and the branches.
struct Point {
    at: f64,
    numbers: Vec<f64>,
    branches: Vec<Branch<f64>>,
}

/// Walks along a random line through the scene of a seed, if its options are these.
pub fn walk<K: Kind>(seed: u64, is_wanted: impl Fn(&[&str]) -> bool) -> Result<Kinks, Finding> {
    let deal = &mut Numbers::new(seed);
    let Ok(mut scene) = K::scene::<f64>(deal) else { return Ok(Kinks::default()) };
    if scene.system.realize_dynamics(&mut scene.state).is_err() || !is_wanted(&K::marks(seed, &scene)?) {
        return Ok(Kinks::default());
    }
    let topology = scene.system.topology();
    let (turn, shift, speed) = (spread(deal, 1e-4, 0.1), spread(deal, 1e-4, 0.1), spread(deal, 1e-3, 3.0));
    let narrow = NARROW / f64::max(turn, shift);
    let none = Variation::zeros(topology);
    let mut line = Line { motion: none.clone(), acceleration: none, scene: &scene, narrow };
    for body in scene.system.bodies() {
        let twist = |turn: f64, shift: f64, deal: &mut Numbers| {
            SpatialVelocity::new(deal.vector(turn), deal.vector(shift))
        };
        *line.motion.body_mut(body) = twist(turn, shift, deal);
        *line.acceleration.body_mut(body) = twist(speed, speed, deal);
    }
    for coordinate in scene.system.coordinates() {
        *line.motion.coordinate_mut(coordinate) = shift * deal.number();
        *line.acceleration.coordinate_mut(coordinate) = speed * deal.number();
    }
    let mut points = Vec::new();
    for i in 0..=INTERVALS {
        // Where the element cannot be evaluated the line ends.
        let Ok(point) = line.point(f64::from(i) / f64::from(INTERVALS)) else { break };
        points.push(point);
    }
    let count = points.iter().map(|point| point.numbers.len()).min().unwrap_or(0);
    let of = |i: usize| points.iter().fold(0.0, |most: f64, point| most.max(point.numbers[i].abs()));
    let forces = 6 * (scene.system.bodies().count() + 1) + scene.system.coordinates().count();
    let largest = |first: usize| (first..count.min(first + forces)).map(of).fold(f64::MIN_POSITIVE, f64::max);
    // Forces next to each other; each number of the memory by itself, unless it is what rounding leaves of metres.
    let most = [0, count / 2].map(largest);
    let scale = |i: usize| {
        let half = usize::from(i >= count / 2);
        if i - half * (count / 2) < forces { most[half] } else { of(i).max([1e-6, 1e-9][half]) }
    };
    let mut scales: Vec<f64> = (0..count).map(scale).collect();
    for place in (0..(count / 2).saturating_sub(forces)).filter(|&place| K::is_quiet(place)) {
        for first in [0, count / 2] {
            scales[first + forces + place] = f64::INFINITY;
        }
    }
    let mut kinks = Kinks::default();
    for pair in points.windows(2) {
        line.find(&pair[0], &pair[1], &scales, &mut kinks).map_err(Finding::from)?;
    }
    kinks.silent.iter_mut().for_each(|what| *what = format!("{} {seed}: {what}", K::NAME));
    Ok(kinks)
}

impl<E: ForceElement<f64>> Line<'_, E> {
    fn state(&self, at: f64) -> Result<State<f64>, Error> {
        let Scene { system, state, .. } = self.scene;
        let mut moved = state.clone();
        for body in system.bodies() {
            let (V, A) = (self.motion.body(body), self.acceleration.body(body));
            let (X, U) = (state.positions().pose(body), state.velocities().velocity(body));
            let R = Rotation3::new(V.angular * at) * X.rotation;
            let p = X.translation.vector + V.linear * at;
            let U = SpatialVelocity::new(U.angular + A.angular * at, U.linear + A.linear * at);
            moved.set_body(body, Pose::from_parts(Translation3::from(p), R), U)?;
        }
        for coordinate in system.coordinates() {
            let (q, u) =
                (state.positions().coordinate(coordinate), state.velocities().coordinate_rate(coordinate));
            moved.set_coordinate(coordinate, q + self.motion.coordinate(coordinate) * at)?;
            moved.set_coordinate_rate(coordinate, u + self.acceleration.coordinate(coordinate) * at)?;
        }
        system.realize_dynamics(&mut moved)?;
        Ok(moved)
    }

    fn point(&self, at: f64) -> Result<Point, Error> {
        let Scene { system, element, .. } = self.scene;
        let mut state = self.state(at)?;
        let mut linearization = Linearization::of(Scope { variables: false, commit: true });
        system.linearize(&state, &mut linearization)?;
        let mut numbers: Vec<f64> = Vec::new();
        let forces = system.dynamics_view(&state)?.forces();
        for F in forces.bodies() {
            numbers.extend(F.torque.iter().chain(&F.force));
        }
        numbers.extend(forces.coordinates());
        let count = numbers.len();
        let first_coordinate = 6 * forces.bodies().len();
        system.accept_step(&mut state)?;
        memory(&state, *element, &mut numbers);
        let all = numbers.len();
        numbers.resize(2 * all, 0.0);
        let slopes = &mut numbers[all..];
        let element = linearization.element(*element);
        for (row, column, block) in element.blocks() {
            let first = match row {
                Row::Force(End::Body(body)) => 6 * body.index(),
                Row::Force(End::Coordinate(coordinate)) => first_coordinate + coordinate.index(),
                Row::Next(number) => count + number,
                Row::Rate(_) => continue,
            };
            let along: Vec<f64> = match column {
                Column::Motion(End::Body(body)) => {
                    let (V, A) = (self.motion.body(body), self.acceleration.body(body));
                    V.angular.iter().chain(&V.linear).chain(&A.angular).chain(&A.linear).copied().collect()
                }
                Column::Motion(End::Coordinate(coordinate)) => {
                    vec![self.motion.coordinate(coordinate), self.acceleration.coordinate(coordinate)]
                }
                Column::Variable(_) => continue,
            };
            for (down, derivatives) in block.chunks_exact(along.len()).enumerate() {
                slopes[first + down] += derivatives.iter().zip(&along).map(|(a, b)| a * b).sum::<f64>();
            }
        }
        Ok(Point { at, numbers, branches: element.branches().to_vec() })
    }

    /// Finds a kink between two points, if there is one.
    fn find(&self, from: &Point, to: &Point, scales: &[f64], kinks: &mut Kinks) -> Result<(), Error> {
        let Some((_, jump)) = largest_jump(from, to, scales) else { return Ok(()) };
        if jump < JUMP {
            return Ok(());
        }
        if to.at - from.at > self.narrow {
            let Ok(middle) = self.point(0.5 * (from.at + to.at)) else { return Ok(()) };
            let jump = |a, b| largest_jump(a, b, scales).map_or(0.0, |(_, jump)| jump);
            let is_before = jump(from, &middle) > jump(&middle, to);
            let (from, to) = if is_before { (from, &middle) } else { (&middle, to) };
            return self.find(from, to, scales, kinks);
        }
        // What is smooth changes by more where it is looked at from farther.
        let around = AROUND[0] * self.narrow;
        let [Ok(before), Ok(after)] = [from.at - around, to.at + around].map(|at| self.point(at)) else {
            return Ok(());
        };
        let is_kinked = (0..scales.len()).any(|i| {
            let [narrow, wide] =
                [(from, to), (&before, &after)].map(|(a, b)| (a.numbers[i] - b.numbers[i]).abs());
            let scale = scales[i].max(from.numbers[i].abs()).max(to.numbers[i].abs());
            narrow > JUMP * scale && narrow > 0.5 * wide
        });
        if !is_kinked {
            return Ok(());
        }
        if self.is_announced(from, to) {
            kinks.announced += 1;
        } else if let Some((i, jump)) = largest_jump(from, to, scales) {
            kinks.silent.push(format!(
                "number {i} of {} jumps by {jump:.1e} at {}: from {:.3e} to {:.3e}, [{}]",
                from.numbers.len(),
                from.at,
                from.numbers[i],
                to.numbers[i],
                stated(&from.branches)
            ));
        }
        Ok(())
    }

    fn is_announced(&self, from: &Point, to: &Point) -> bool {
        let name = |branch: &Branch<f64>| (branch.name, branch.index, branch.count);
        if !from.branches.iter().map(name).eq(to.branches.iter().map(name)) {
            return true;
        }
        AROUND.into_iter().any(|around| {
            [(from, -around), (to, around)].into_iter().any(|(near, by)| {
                let Ok(far) = self.point(near.at + by * self.narrow) else { return false };
                near.branches.iter().zip(&far.branches).any(|(near, far)| {
                    let is_none = near.unit == "N" && near.margin > 0.0 && near.margin < NO_FORCE;
                    is_none || (name(near) == name(far) && near.margin < 0.2 * far.margin)
                })
            })
        })
    }
}

/// The numbers of the memory of an element.
pub(super) fn memory<E: ForceElement<f64>>(state: &State<f64>, element: Handle<E>, numbers: &mut Vec<f64>) {
    state.discrete(element).visit(&mut |entry| {
        if let Value::Number(number) = entry.value {
            numbers.push(number);
        }
    });
}

/// Which number changes most between two points, and by how much of its scale.
fn largest_jump(a: &Point, b: &Point, scales: &[f64]) -> Option<(usize, f64)> {
    let jumps = scales.iter().zip(a.numbers.iter().zip(&b.numbers)).enumerate();
    let jumps = jumps.map(|(i, (scale, (a, b)))| (i, (a - b).abs() / scale.max(a.abs()).max(b.abs())));
    jumps.max_by(|(_, a), (_, b)| a.total_cmp(b))
}

fn stated(branches: &[Branch<f64>]) -> String {
    let one = |branch: &Branch<f64>| {
        let of = branch.index.map_or(String::new(), |index| format!(" of {index}"));
        format!("{} {}{of} {:.1e} {}", branch.count, branch.name, branch.margin, branch.unit)
    };
    branches.iter().map(one).collect::<Vec<_>>().join(", ")
}
