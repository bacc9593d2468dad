//! Newton's method on the touch-down conditions of one span.
//!
//! A. Scholz, M. Sherman, I. Stavness, S. Delp, A. Kecskeméthy, *A fast multi-obstacle muscle
//! wrapping method using natural geodesic variations*, Multibody System Dynamics 36 (2016) 195–219.

use nalgebra::{Point3, Vector3};

use crate::cable::solve::contacts::{closed, lay_along, neighbours};
use crate::cable::solve::linear_system::{Chord, around, assemble, substitute};
use crate::cable::solve::node::{touching, touching_mut};
use crate::cable::{ACCURACY, Geodesic, GeodesicEnd, Node, Settings, SpanProblem};
use crate::math::Real;

/// Longer steps, in radians of turn, are shortened to this length. Beyond it, the surface under the end points differs
/// too much from the linearization.
const LONGEST_STEP: f64 = 0.6;
/// The largest number of shortened steps without a kink below the least one before. This number of steps leads either end
/// of a contact once around its obstacle.
const MOST_IN_VAIN: usize = 22;
/// A full step of δ radians leaves a kink of about δ² (the second variation of geodesic and chord
/// has coefficients of order one); this is that order with a margin.
const SECOND_ORDER: f64 = 4.0;
/// A trial step may raise the kink by this factor before it is halved.
const TOLERATED_RISE: f64 = 1.5;
/// The largest number of successive halvings of a trial step.
const HALVINGS: usize = 8;

/// A motion that turns the cable relative to a surface by more than this, in radians, is large.
pub(crate) const LARGE_MOTION: f64 = 0.05;

/// The progress of Newton's method.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, not the states of a machine")]
pub(crate) struct Progress<T> {
    /// The largest kink between a straight segment and the geodesic it meets \[rad\].
    pub(crate) kink: T,
    /// The obstacle with this kink, counted along the path.
    pub(crate) worst: usize,
    /// The number of geodesics computed per obstacle.
    pub(crate) iterations: usize,
    pub(crate) converged: bool,
    /// The contact before a bridge, between two contacts of one obstacle, that runs backwards: the two are one.
    pub(crate) closed: Option<usize>,
    /// Whether small steps of the motion may lead to another path: the path had to descend on the way, or the motion
    /// was large.
    pub(crate) relaxed: bool,
    /// Whether the first kink was that of a large motion, or chords were turned.
    pub(crate) is_far: bool,
    /// Whether a step was shortened, or chords were turned.
    pub(crate) is_shortened: bool,
}

impl<T: Real> Progress<T> {
    /// The progress before the first geodesic.
    pub(crate) fn none() -> Self {
        Self {
            kink: T::zero(),
            worst: 0,
            iterations: 0,
            converged: false,
            closed: None,
            relaxed: false,
            is_far: false,
            is_shortened: false,
        }
    }
}

/// Whether the kink of a path is within the requested smoothness. The kink is an estimate; if it is far above,
/// precision was exhausted.
pub(crate) fn is_smooth<T: Real>(kink: T, settings: &Settings<T>) -> bool {
    kink <= settings.smoothness * T::lit(16.0)
}

/// Iterates on the nodes in contact. Ends with geodesics in Ground corrected to first
/// order by the last step. Stops when the budget is spent.
pub(crate) fn iterate<T: Real>(span: &SpanProblem<'_, T>, nodes: &mut [Node<T>]) -> Progress<T> {
    let SpanProblem { settings, budget, .. } = span;
    let Settings { smoothness, max_iterations, .. } = **settings;
    let is_straight = touching(nodes).next().is_none();
    let mut progress = Progress { converged: is_straight, ..Progress::none() };
    if is_straight {
        return progress;
    }
    let exact = settings.accuracy();
    let rough = exact.max(T::lit(ACCURACY));
    // A step after a shortened one is not the last: its geodesics need not be exact.
    let mut is_far = false;
    let mut previous_kink: Option<T> = None;
    let mut halvings = 0;
    let mut scale = T::one();
    // At the start, and where a solution has a chord that runs back.
    let (mut is_turning, mut has_turned) = (true, false);
    let mut least: Option<T> = None;
    let mut in_vain = 0;
    for iteration in 1..=max_iterations {
        if budget.is_spent() || in_vain > MOST_IN_VAIN {
            return progress;
        }
        progress.iterations = iteration;
        let accuracy = if is_far { rough } else { exact };
        for node in touching_mut(nodes) {
            node.evaluate(span, accuracy);
        }
        lay_ends(span, nodes, accuracy, is_far);
        progress.closed = closed(span, nodes);
        if progress.closed.is_some() {
            return progress;
        }
        is_turning = is_turning && turn_to_chords(span, nodes);
        if is_turning {
            (progress.is_far, progress.is_shortened) = (true, true);
            is_far = true;
            in_vain += 1;
            continue;
        }
        let (kink, worst) = assemble(span, nodes, smoothness, false);
        // If a geodesic was too long for the budget, the last kink stays.
        if !kink.is_finite() && iteration > 1 && budget.is_spent() {
            return progress;
        }
        progress.kink = kink;
        progress.worst = worst;
        if !kink.is_finite() {
            return progress;
        }
        if iteration == 1 && kink > T::lit(LARGE_MOTION) {
            progress.is_far = true;
        }
        if let Some(before) = previous_kink
            && kink > before * T::lit(TOLERATED_RISE)
            && halvings < HALVINGS
        {
            halvings += 1;
            scale *= T::lit(0.5);
            for node in touching_mut(nodes) {
                node.step_from_base(scale);
            }
            continue;
        }
        let step = substitute(nodes);
        if !step.is_finite() {
            return progress;
        }
        let is_last = T::lit(SECOND_ORDER) * step * step <= smoothness && !is_far;
        if is_last && kink < T::lit(LONGEST_STEP) {
            finish(nodes);
            let (kink, squared) = (largest_kink(span, nodes), step * step);
            progress.converged = is_smooth(kink + T::lit(SECOND_ORDER) * squared, settings);
            progress.kink = kink + second_order(span, nodes) * squared;
            return progress;
        }
        // A solution with a large kink: some chord runs back.
        if is_last {
            if has_turned || !turn_to_chords(span, nodes) {
                return progress;
            }
            (is_turning, has_turned, previous_kink) = (true, true, None);
            (progress.is_far, progress.is_shortened) = (true, true);
            continue;
        }
        if least.is_none_or(|least| kink < least) {
            (least, in_vain) = (Some(kink), 0);
        }
        is_far = step > T::lit(LONGEST_STEP);
        in_vain += usize::from(is_far);
        previous_kink = Some(kink);
        halvings = 0;
        scale = shortened(span, nodes, step, T::lit(LONGEST_STEP));
        progress.is_shortened |= scale < T::one();
        for node in touching_mut(nodes) {
            node.correct_trial(scale);
        }
    }
    progress
}

/// Moves the ends of contacts along their geodesics to where the chords leave, on surfaces that have flat parts, where the system has
/// no slope: of contacts that end there, or of all if they are far from the solution.
#[inline]
pub(crate) fn lay_ends<T: Real>(span: &SpanProblem<'_, T>, nodes: &mut [Node<T>], accuracy: T, is_far: bool) {
    for k in 0..nodes.len() {
        let Geodesic { start, end, length, .. } = &nodes[k].ground;
        let is_flat = start.curvature == T::zero() || end.curvature == T::zero();
        if nodes[k].in_contact && (is_far || is_flat) && *length > T::zero() {
            lay_ends_of(span, nodes, k, accuracy);
        }
    }
}

#[cold]
fn lay_ends_of<T: Real>(span: &SpanProblem<'_, T>, nodes: &mut [Node<T>], k: usize, accuracy: T) {
    let (node, surface) = (&nodes[k], span.surface(&nodes[k]));
    if node.holds == [false; 2] && surface.has_flats() {
        let [before, after] = neighbours(span, nodes, node);
        nodes[k].trial = lay_along(surface, &node.trial, &before, &after);
        nodes[k].evaluate(span, accuracy);
    }
}

/// Moves the ends of contacts with convex surfaces from which a chord runs back, where the residuals fall towards the opposite
/// direction; returns whether there are any.
fn turn_to_chords<T: Real>(span: &SpanProblem<'_, T>, nodes: &mut [Node<T>]) -> bool {
    let mut found = false;
    for k in 0..nodes.len() {
        if !nodes[k].in_contact {
            continue;
        }
        let [(from, holds_start), (to, holds_end)] = around(span, nodes, k);
        let Geodesic { start, end, .. } = &nodes[k].ground;
        let before = if holds_start { T::zero() } else { start.shortfall(&-start.tangent, &from) };
        let after = if holds_end { T::zero() } else { end.shortfall(&end.tangent, &to) };
        let runs_back = before != T::zero() || after != T::zero();
        if runs_back && span.obstacle(&nodes[k]).is_convex {
            found = true;
            nodes[k].correction = [-before, T::zero(), T::zero(), before + after];
        } else {
            nodes[k].correction = [T::zero(); 4];
        }
    }
    if found {
        let turns = touching(nodes).map(|node| node.turn_of(&node.correction));
        let scale = shortened(span, nodes, turns.fold(T::zero(), T::max), T::lit(LONGEST_STEP));
        for node in touching_mut(nodes) {
            node.correct_trial(scale);
        }
    }
    found
}

/// Continues from a solution, which is remembered as the start, until precision is exhausted, independent of the
/// requested smoothness: each step is at most half as long as the one before.
///
/// Leaves trials whose geodesics have not been computed.
pub(crate) fn exhaust<T: Real>(span: &SpanProblem<'_, T>, nodes: &mut [Node<T>]) {
    for node in touching_mut(nodes) {
        // The last correction has been applied to the geodesic, not to the trial.
        node.start = node.trial;
        node.correct_trial(T::one());
    }
    let mut longest = T::lit(LONGEST_STEP);
    while longest > T::negligible() {
        let step = exact_step(span, nodes);
        if step > longest || !step.is_finite() {
            return;
        }
        longest = T::lit(0.5) * step;
        for node in touching_mut(nodes) {
            node.correct_trial(T::one());
        }
    }
}

/// Two steps of Newton's method from a solution without derivatives, in which precision is exhausted; returns the
/// largest kink.
///
/// Each step doubles the number of derivatives that are exact: the first gives those of first order, by the implicit
/// function theorem, the second those of third order. Curvatures are those
/// of the second start, and exact to first order.
pub(crate) fn differentiate<T: Real>(span: &SpanProblem<'_, T>, nodes: &mut [Node<T>]) -> T {
    exact_step(span, nodes);
    for node in touching_mut(nodes) {
        node.correct_trial(T::one());
    }
    exact_step(span, nodes);
    finish(nodes);
    largest_kink(span, nodes)
}

/// Computes geodesics to roundoff, and the step from there; returns its size.
///
/// The threshold for neutral directions does not depend on the smoothness.
fn exact_step<T: Real>(span: &SpanProblem<'_, T>, nodes: &mut [Node<T>]) -> T {
    // What has been found is not given up.
    span.budget.limit.set(usize::MAX);
    for node in touching_mut(nodes) {
        node.evaluate(span, T::zero());
    }
    assemble(span, nodes, Settings::<T>::default().smoothness, false);
    substitute(nodes)
}

/// One step of descent in length, of at most `longest` radians, on nodes that have been evaluated; returns its size
/// before it was shortened, and whether the length was clearly convex there.
///
/// Where the second variation is not positive its pivots are made positive, so that the step leaves a saddle instead of
/// converging to it. Lengths are kept from becoming negative.
pub(crate) fn descend<T: Real>(span: &SpanProblem<'_, T>, nodes: &mut [Node<T>], longest: T) -> (T, bool) {
    assemble(span, nodes, span.settings.smoothness, true);
    let step = substitute(nodes);
    let scale = shortened(span, nodes, step, longest);
    for node in touching_mut(nodes) {
        node.correct_trial(scale);
        node.trial.length = node.trial.length.max(T::zero());
    }
    (step, touching(nodes).all(|node| node.minimal))
}

/// The fraction of a step of this size that bends nothing by more than `longest`.
#[inline]
fn shortened<T: Real>(span: &SpanProblem<'_, T>, nodes: &[Node<T>], step: T, longest: T) -> T {
    if step <= longest {
        return T::one();
    }
    // If hollows may be near, the bend at the beginning of a step says nothing about its end.
    let bend_of = |node: &Node<T>| {
        if span.obstacle(node).is_convex { node.bend_of_correction() } else { node.turn_of(&node.correction) }
    };
    let bend = touching(nodes).map(bend_of).fold(T::zero(), T::max);
    if bend > longest { longest / bend } else { T::one() }
}

/// The largest angle between a chord and the tangent it meets.
fn largest_kink<T: Real>(span: &SpanProblem<'_, T>, nodes: &[Node<T>]) -> T {
    let mut largest = T::zero();
    for (k, node) in nodes.iter().enumerate().filter(|(_, node)| node.in_contact) {
        let Geodesic { start, end, .. } = &node.ground;
        let [from, to] = around(span, nodes, k);
        let ends =
            [(Chord::new(&from.0, &start.point), start, from), (Chord::new(&end.point, &to.0), end, to)];
        for (chord, at, (fixed, is_held)) in ends {
            let kink = if is_held {
                (fixed - at.point).norm() * at.greatest_curvature()
            } else {
                (chord.direction - at.tangent).norm()
            };
            if kink >= largest || !kink.is_finite() {
                largest = kink;
            }
        }
    }
    largest
}

/// The largest kink that a last step can leave, divided by the square of its size.
///
/// Along an ellipse with the curvature κ, the angle φ of the normal and the least radius of curvature ρ, `d ln κ / dφ`
/// is at most `3 (κρ)^(−1/3)`, and half of it enters where the surface bends more within the step: over the rim of a
/// thin disc it is far above order one.
fn second_order<T: Real>(span: &SpanProblem<'_, T>, nodes: &[Node<T>]) -> T {
    // Below this the margin no longer covers it.
    const ROUND: f64 = 0.2;
    let mut flattest = T::one();
    for node in touching(nodes) {
        let Geodesic { start, end, .. } = &node.ground;
        let curvature = start.greatest_curvature().min(end.greatest_curvature());
        flattest = flattest.min(curvature * span.size(node));
    }
    if flattest > T::lit(ROUND) {
        return T::lit(2.0 * SECOND_ORDER);
    }
    T::lit(2.0 * SECOND_ORDER) + T::lit(3.0) / flattest.max(T::lit(1e-9)).cbrt()
}

/// Applies the last correction to the geodesics in Ground, to first order. This needs no geodesic and squares the error
/// once more.
#[inline]
fn finish<T: Real>(nodes: &mut [Node<T>]) {
    for node in touching_mut(nodes) {
        let [along, across, turn, growth] = node.correction;
        let Geodesic { start, end, jacobi, length, .. } = &mut node.ground;
        *length += growth;
        let (end_across, end_turn) = jacobi.at_end(across, turn);
        start.move_by(along, across, turn);
        end.move_by(along + growth, end_across, end_turn);
    }
}

impl<T: Real> GeodesicEnd<T> {
    /// Moves the end along its tangent and binormal and turns it, to first order; axes stay unit vectors.
    #[inline]
    fn move_by(&mut self, along: T, across: T, turn: T) {
        let binormal = self.binormal();
        let tip = self.curvature * along + self.torsion * across;
        let roll = self.torsion * along + self.transverse_curvature * across;
        self.point += self.tangent * along + binormal * across;
        let tangent = self.tangent + binormal * turn - self.normal * tip;
        let normal = self.normal + self.tangent * tip + binormal * roll;
        self.tangent = tangent / tangent.norm();
        self.normal = normal / normal.norm();
    }

    /// How far the end must move along a direction, that of its tangent or the opposite one, to meet a chord that leads to
    /// this point; zero unless the chord runs back. On the circle of curvature there the tangent meets the point, less than
    /// half a turn away.
    #[inline]
    fn shortfall(&self, direction: &Vector3<T>, to: &Point3<T>) -> T {
        let chord = to - self.point;
        let along = chord.dot(direction);
        if along >= T::zero() || self.curvature <= T::zero() {
            return T::zero();
        }
        let (up, across) = (chord.dot(&self.normal), chord.dot(&self.binormal()));
        if across * across > along * along + up * up {
            return T::zero();
        }
        let radius = self.curvature.recip();
        let height = up + radius;
        let distance = along.hypot(height);
        let angle = along.atan2(height) - (radius / distance).min(T::one()).acos();
        let nearest = if angle < -T::pi() { angle + T::two_pi() } else { angle };
        nearest * radius
    }

    /// The sum of the angles by which the normal, and a chord from far away, turn with a shift and a turn of this end.
    pub(crate) fn bend(&self, along: T, across: T, turn: T, inverse_chord: T) -> T {
        let tip = self.curvature * along + self.torsion * across;
        let roll = self.torsion * along + self.transverse_curvature * across;
        tip.abs() + roll.abs() + turn.abs() + (along.abs() + across.abs()) * inverse_chord
    }
}

impl<T: Real> Node<T> {
    /// Whether the path up to this contact is a local minimum: no conjugate point on its geodesic, and the second variation of
    /// length over shifts and turns of the geodesics positive, except for directions in which all paths are equal.
    pub(crate) fn is_minimal(&self) -> bool {
        self.minimal && !self.ground.passes_conjugate_point
    }

    /// The largest turn, in radians, that a correction causes at either end or in the chord there.
    #[inline]
    pub(crate) fn turn_of(&self, correction: &[T; 4]) -> T {
        let [along, across, turn, growth] = *correction;
        let Geodesic { start, end, jacobi, .. } = &self.ground;
        let (end_across, end_turn) = jacobi.at_end(across, turn);
        let [before, after] = self.inverse_chords;
        let at_start = (along.abs() + across.abs()) * (start.greatest_curvature() + before) + turn.abs();
        let at_end =
            ((along + growth).abs() + end_across.abs()) * (end.greatest_curvature() + after) + end_turn.abs();
        at_start.max(at_end)
    }

    /// The largest angle by which the last correction turns either end or the chord there, to first order.
    ///
    /// [`turn_of`](Self::turn_of) is a bound for any direction. Along a sharp edge it is far too large: there the
    /// surface bends as little as the edge.
    #[cold]
    fn bend_of_correction(&self) -> T {
        let [along, across, turn, growth] = self.correction;
        let Geodesic { start, end, jacobi, .. } = &self.ground;
        let (end_across, end_turn) = jacobi.at_end(across, turn);
        let [before, after] = self.inverse_chords;
        start.bend(along, across, turn, before).max(end.bend(along + growth, end_across, end_turn, after))
    }

    /// Applies a fraction of the last correction to the trial, which becomes the base.
    #[inline]
    pub(crate) fn correct_trial(&mut self, scale: T) {
        self.base = self.trial;
        self.base_axes = [self.local_start.tangent, self.local_start.binormal()];
        self.step_from_base(scale);
    }

    /// Sets the trial to the base corrected by a fraction of the last correction.
    #[inline]
    fn step_from_base(&mut self, scale: T) {
        let [along, across, turn, growth] = self.correction.map(|x| x * scale);
        let [along, across, growth] = [along, across, growth].map(|length| self.to_scale(length));
        let [tangent, binormal] = self.base_axes;
        self.trial.point = self.base.point + tangent * along + binormal * across;
        self.trial.tangent = self.base.tangent + binormal * turn;
        self.trial.length = self.base.length + growth;
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;
    use core::f64::consts::PI;

    use nalgebra::Vector3;

    use super::*;
    use crate::cable::solve::linear_system::residual;
    use crate::cable::solve::node::{Budget, Trial};
    use crate::cable::{Obstacle, PathError, Wraps};
    use crate::math::Pose;
    use crate::mechanics::{BodyIndex, Frame};
    use crate::shapes::{Cylinder, Ellipsoid, Sphere, Torus};

    fn residuals(nodes: &[Node<f64>], a: &Point3<f64>, b: &Point3<f64>) -> Vec<f64> {
        let mut from = *a;
        let mut all = Vec::new();
        for (k, node) in nodes.iter().enumerate() {
            let Geodesic { start, end, .. } = &node.ground;
            let to = nodes.get(k + 1).map_or(*b, |next| next.ground.start.point);
            for (chord, at) in [(Chord::new(&from, &start.point), start), (Chord::new(&end.point, &to), end)]
            {
                let (n, b, _) = residual(&chord, at, &at.binormal());
                all.extend([n, b]);
            }
            from = end.point;
        }
        all
    }

    /// Along the Newton step every residual falls at the rate of its own size: this holds for no
    /// other direction, so it checks the whole Jacobian and the elimination.
    #[test]
    fn newton_step_is_that_of_the_jacobian_by_finite_differences() -> Result<(), PathError> {
        const H: f64 = 1e-5;
        let at = |x, y| Pose::translation(x, y, 0.1);
        let obstacles = [
            Obstacle::new(Frame::ground(at(0.0, -0.4)), Ellipsoid::new(Vector3::new(0.7, 0.6, 1.0))?)?,
            Obstacle::new(Frame::ground(at(2.0, -0.3)), Cylinder::new(0.6)?)?,
            Obstacle::new(Frame::ground(at(4.0, -0.5)), Torus::new(0.6, 0.3)?)?,
            Obstacle::new(Frame::ground(at(6.0, -0.4)), Sphere::new(0.7)?)?,
        ];
        let (from, to) = (Point3::new(-1.5, -0.1, 0.0), Point3::new(7.5, 0.2, 0.4));
        let active = [0, 1, 2, 3];
        let (settings, budget) = (Settings::default(), Budget::default());
        budget.limit.set(usize::MAX);
        let span = SpanProblem {
            from,
            to,
            obstacles: &obstacles,
            acting: &active,
            ends: [BodyIndex::GROUND; 2],
            bodies: &[],
            poses: &[],
            memory: &Wraps::default(),
            settings: &settings,
            budget: &budget,
        };
        let node = |(k, obstacle): (usize, &Obstacle<f64>)| Node::new(k, obstacle.frame().X_BF, 1.0);
        let mut nodes: Vec<Node<f64>> = obstacles.iter().enumerate().map(node).collect();
        for round in 0..10_u32 {
            // Far from the solution, in a different way each time.
            let wobble = |i: u32| 0.2 * f64::from((round * 7 + i * 5) % 11) / 11.0 - 0.1;
            for (node, i) in nodes.iter_mut().zip(0_u32..) {
                let point = Point3::new(wobble(i), 1.0, wobble(i + 3));
                let tangent = Vector3::new(1.0, wobble(i + 1), wobble(i + 2));
                node.begin(Trial { point, tangent, length: 0.4 + wobble(i + 4) });
            }
            let evaluate = |nodes: &mut Vec<Node<f64>>| {
                for node in nodes.iter_mut() {
                    node.evaluate(&span, 1e-13);
                }
                residuals(nodes, &from, &to)
            };
            let here = evaluate(&mut nodes);
            assemble(&span, &mut nodes, 1e-9, false);
            substitute(&mut nodes);
            let mut moved = [H, -H].map(|scale| {
                let mut nodes = nodes.clone();
                for node in &mut nodes {
                    node.correct_trial(scale);
                }
                nodes
            });
            let [plus, minus] = moved.each_mut().map(evaluate);
            for ((r, plus), minus) in here.iter().zip(plus).zip(minus) {
                let rate = (plus - minus) / (2.0 * H);
                // H² times third derivatives along a step of order one; the Jacobi scalars are good
                // to the square root of the accuracy.
                assert!((rate + r).abs() < 1e-6, "{rate} {r}");
            }
        }
        Ok(())
    }

    /// The contact ends as far beyond the point nearest the end of the cable as it should end before it: the chord runs
    /// back, and residuals vanish there too.
    #[test]
    fn a_contact_that_overshoots_is_turned_back() -> Result<(), PathError> {
        let obstacles = [Obstacle::new(Frame::ground(Pose::identity()), Sphere::new(1.0)?)?];
        let settings = Settings::default();
        let at = |distance: f64, angle: f64| Point3::new(distance * angle.cos(), distance * angle.sin(), 0.0);
        for distance in [1.001, 1.02, 1.2, 2.0] {
            let angle = -0.35;
            let (from, to) = (at(3.0, PI), at(distance, angle));
            let [first, last] = [3.0, distance].map(|distance: f64| (1.0 / distance).acos());
            let length = PI - first - (angle + last);
            let budget = Budget::default();
            budget.limit.set(1000);
            let span = SpanProblem {
                from,
                to,
                obstacles: &obstacles,
                acting: &[0],
                ends: [BodyIndex::GROUND; 2],
                bodies: &[],
                poses: &[],
                memory: &Wraps::default(),
                settings: &settings,
                budget: &budget,
            };
            let begin = Trial {
                point: at(1.0, PI - first),
                tangent: Vector3::new(first.sin(), first.cos(), 0.0),
                length: length + 2.0 * last,
            };
            let mut nodes = alloc::vec![Node::new(0, Pose::identity(), 1.0)];
            nodes[0].begin(begin);
            nodes[0].in_contact = true;
            let progress = iterate(&span, &mut nodes);
            assert!(
                progress.converged && progress.is_far && progress.is_shortened,
                "{distance}: {}",
                progress.kink
            );
            // The smoothness, over the sine of the angle at which the chord leaves.
            let off = (nodes[0].ground.length - length).abs();
            assert!(off < 1e-9 / last, "{distance}: {off}");
        }
        Ok(())
    }
}
