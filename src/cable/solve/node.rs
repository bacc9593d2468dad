//! The data of the solver on one span: the problem, the nodes of its obstacles and contacts, and the budget.

use alloc::vec::Vec;

use nalgebra::{Point3, Vector3};

use crate::cable::ceil;
use crate::cable::geodesics::geodesic::{Geodesic, GeodesicEnd, Jacobi};
use crate::cable::geodesics::wrappable::Wrappable;
use crate::cable::model::obstacle::Obstacle;
use crate::cable::model::places::Wrap;
use crate::cable::model::settings::Settings;
use crate::math::{Pose, Real, is_finite};

/// A start and a length of a geodesic, in the surface's frame.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Trial<T: Real> {
    pub(crate) point: Point3<T>,
    pub(crate) tangent: Vector3<T>,
    pub(crate) length: T,
}

/// The solver's data of one contact, or of an obstacle that is passed freely.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, not the states of a machine")]
pub(crate) struct Node<T: Real> {
    /// The obstacle, counted within the span.
    pub(crate) obstacle: usize,
    pub(crate) X_GS: Pose<T>,
    pub(crate) in_contact: bool,
    /// The start of the present attempt.
    pub(crate) start: Trial<T>,
    pub(crate) trial: Trial<T>,
    pub(crate) base: Trial<T>,
    pub(crate) base_axes: [Vector3<T>; 2],
    pub(crate) local_start: GeodesicEnd<T>,
    /// The geodesic in Ground.
    pub(crate) ground: Geodesic<T>,
    pub(crate) inverse_chords: [T; 2],
    /// The row of blocks after elimination: `correction = constant − ahead · (next correction's shifts)`.
    pub(crate) constant: [T; 4],
    pub(crate) ahead: [[T; 4]; 2],
    /// Whether the second variation restricted to this and all earlier obstacles is positive.
    pub(crate) minimal: bool,
    /// The four natural geodesic corrections: shift of the start along the tangent and along the binormal, turn of the
    /// start, growth of the length.
    pub(crate) correction: [T; 4],
    /// Whether it was released in this solution because the cable did not press on it.
    pub(crate) released: bool,
    /// Whether it was placed in this solution on an obstacle that the cable had jumped over.
    pub(crate) jumped: bool,
    /// An end of the geodesic that is outside the patch of the surface, in the surface's frame.
    pub(crate) off_patch: Option<Point3<T>>,
    /// Whether the fixed points before and after lie on the surface.
    pub(crate) on_surface: [bool; 2],
    /// Whether the contact begins or ends at a fixed point on the surface. If the surface is not convex, the cable may
    /// lift off there and touch it elsewhere.
    pub(crate) holds: [bool; 2],
    /// Whether the obstacle contains a fixed point and is therefore ignored.
    pub(crate) ignored: bool,
}

impl<T: Real> Trial<T> {
    fn zero() -> Self {
        Self { point: Point3::origin(), tangent: Vector3::zeros(), length: T::zero() }
    }

    pub(crate) fn cast<U: Real>(&self) -> Trial<U> {
        Trial {
            point: self.point.map(T::cast),
            tangent: self.tangent.map(T::cast),
            length: self.length.cast(),
        }
    }
}

impl<T: Real> Node<T> {
    pub(crate) fn new(obstacle: usize, X_GS: Pose<T>) -> Self {
        let zero = T::zero();
        let end = GeodesicEnd::blank();
        let jacobi = Jacobi::at_start();
        Self {
            obstacle,
            X_GS,
            in_contact: false,
            start: Trial::zero(),
            trial: Trial::zero(),
            base: Trial::zero(),
            base_axes: [Vector3::zeros(); 2],
            local_start: end,
            ground: Geodesic {
                start: end,
                end,
                length: zero,
                jacobi,
                passes_conjugate_point: false,
                evaluations: 0,
            },
            inverse_chords: [zero; 2],
            constant: [zero; 4],
            ahead: [[zero; 4]; 2],
            minimal: true,
            correction: [zero; 4],
            released: false,
            jumped: false,
            off_patch: None,
            on_surface: [false; 2],
            holds: [false; 2],
            ignored: false,
        }
    }

    pub(crate) fn begin(&mut self, trial: Trial<T>) {
        self.in_contact = true;
        self.start = trial;
        self.trial = trial;
        self.holds = self.on_surface;
    }

    /// Records whether an end of the geodesic in Ground is outside the patch of the surface: the last correction may
    /// have moved it beyond.
    pub(crate) fn check_patch(&mut self, surface: &dyn Wrappable<T>) {
        let ends = [&self.ground.start, &self.ground.end].map(|end| self.to_surface(&end.point));
        self.off_patch = ends.into_iter().find(|p| !surface.covers(p));
    }

    /// Computes the geodesic and charges a budget.
    #[inline]
    pub(crate) fn evaluate_within(&mut self, obstacles: &[Obstacle<T>], accuracy: T, budget: &mut Budget) {
        let evaluations = self.evaluate(obstacles, accuracy, budget.left());
        budget.spend(evaluations);
    }

    /// Computes the geodesic, which ends in NaN if it would cost more than `most`; returns the cost in evaluations of
    /// the surface.
    #[inline]
    pub(crate) fn evaluate(&mut self, obstacles: &[Obstacle<T>], accuracy: T, most: usize) -> usize {
        let surface = obstacles[self.obstacle].surface();
        let Trial { point, tangent, length } = self.trial;
        let geodesic = surface.geodesic(&point, &tangent, length, accuracy, most);
        self.local_start = geodesic.start;
        self.trial.point = geodesic.start.point;
        self.trial.tangent = geodesic.start.tangent;
        // A geodesic that was given up has no end; the previous one is kept.
        if is_finite(&geodesic.end.point.coords) {
            let ends = [geodesic.start.point, geodesic.end.point];
            self.off_patch = ends.into_iter().find(|p| !surface.covers(p));
        }
        self.ground = Geodesic {
            start: geodesic.start.transformed(&self.X_GS),
            end: geodesic.end.transformed(&self.X_GS),
            ..geodesic
        };
        1 + geodesic.evaluations
    }

    /// The contact in equal parts, in the surface's frame, of which none turns the cable by more than about this angle; at most a
    /// hundred thousand.
    pub(crate) fn parts<'a>(
        &self,
        surface: &'a dyn Wrappable<T>,
        angle: T,
    ) -> impl Iterator<Item = Geodesic<T>> + use<'a, T> {
        let mut at = self.ground.start.transformed(&self.X_GS.inverse());
        let length = self.ground.length;
        let step = length / ceil(self.turns() / angle).max(T::one()).min(T::lit(1e5));
        let mut reach = step;
        core::iter::from_fn(move || {
            let is_within = reach < length + T::lit(0.5) * step;
            if !is_within {
                return None;
            }
            reach += step;
            let part = surface.geodesic(&at.point, &at.tangent, step, T::lit(ACCURACY), usize::MAX);
            at = part.end;
            Some(part)
        })
    }

    #[inline]
    pub(crate) fn to_surface(&self, p_G: &Point3<T>) -> Point3<T> {
        self.X_GS.inverse_transform_point(p_G)
    }

    #[inline]
    pub(crate) fn to_ground(&self, p_S: &Point3<T>) -> Point3<T> {
        self.X_GS * p_S
    }

    /// The distance of the surface's frame from the Ground origin.
    pub(crate) fn reach(&self) -> T {
        self.X_GS.translation.vector.amax()
    }

    /// The approximate signed angle by which the contact turns the cable.
    pub(crate) fn turns(&self) -> T {
        self.ground.length * self.ground.start.greatest_curvature()
    }
}

/// The problem between two fixed points.
#[derive(Debug)]
pub(crate) struct SpanProblem<'a, T: Real> {
    pub(crate) from: Point3<T>,
    pub(crate) to: Point3<T>,
    pub(crate) obstacles: &'a [Obstacle<T>],
    /// The memory of the first contact of each obstacle; empty without memory.
    pub(crate) wraps: &'a [Wrap<T>],
    /// The memory of further contacts, in order: as many of each obstacle as there is room for.
    pub(crate) further: &'a [Wrap<T>],
    pub(crate) settings: &'a Settings<T>,
}

impl<'a, T: Real> SpanProblem<'a, T> {
    /// The obstacle of a node.
    #[inline]
    pub(crate) fn obstacle(&self, node: &Node<T>) -> &'a Obstacle<T> {
        &self.obstacles[node.obstacle]
    }

    /// The largest number of contacts.
    pub(crate) fn most_contacts(&self) -> usize {
        self.obstacles.iter().map(|obstacle| obstacle.most_contacts).sum()
    }

    /// The surface of a node's obstacle.
    #[inline]
    pub(crate) fn surface(&self, node: &Node<T>) -> &'a dyn Wrappable<T> {
        self.obstacle(node).surface()
    }
}

/// The point where the cable is placed on a newly touched obstacle: the deepest point, unless that is on the far side
/// of where the cable passed before.
pub(crate) fn side<T: Real>(
    wrap: Option<&Wrap<T>>,
    surface: &dyn Wrappable<T>,
    deepest: Point3<T>,
) -> Point3<T> {
    let Some(wrap) = wrap else { return deepest };
    let passed = if wrap.known && wrap.in_contact {
        wrap.point
    } else if let Some((start, along)) = wrap.passing() {
        surface.retract(&surface.closest_on_segment(&start, &(start + along)).0)
    } else {
        return deepest;
    };
    if surface.gradient(&passed).dot(&surface.gradient(&deepest)) < T::zero() { passed } else { deepest }
}

/// The accuracy of geodesics in a search \[rad\].
pub(crate) const ACCURACY: f64 = 1e-6;

/// The cost of one search of a line, in evaluations of a surface.
pub(crate) const SEARCH: usize = 50;

/// The cost of finding that a line needs no search.
pub(crate) const CLEARED: usize = 5;

/// The work done on a span, in evaluations of surfaces, and its limit.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Budget {
    pub(crate) spent: usize,
    pub(crate) limit: usize,
}

impl Budget {
    #[inline]
    pub(crate) fn spend(&mut self, evaluations: usize) {
        self.spent += evaluations;
    }

    /// What may still be spent.
    #[inline]
    pub(crate) fn left(&self) -> usize {
        self.limit.saturating_sub(self.spent)
    }

    #[inline]
    pub(crate) fn is_spent(&self) -> bool {
        self.spent >= self.limit
    }

    /// Follows a geodesic in a search, at any cost; returns its end.
    pub(crate) fn follow<T: Real>(
        &mut self,
        surface: &dyn Wrappable<T>,
        p: &Point3<T>,
        direction: &Vector3<T>,
        length: T,
    ) -> GeodesicEnd<T> {
        let geodesic = surface.geodesic(p, direction, length, T::lit(ACCURACY), usize::MAX);
        self.spend(1 + geodesic.evaluations);
        geodesic.end
    }
}

/// One run of the solver on a span.
#[derive(Debug, Default)]
pub(crate) struct Run {
    /// The nodes in contact, on which Newton's method works.
    pub(crate) active: Vec<usize>,
    pub(crate) budget: Budget,
}

impl Run {
    /// Finds the nodes in contact.
    pub(crate) fn activate<T: Real>(&mut self, nodes: &[Node<T>]) {
        self.active.clear();
        self.active.extend((0..nodes.len()).filter(|&k| nodes[k].in_contact));
    }
}
