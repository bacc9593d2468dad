//! The data of the solver on one span: the problem, the nodes of its obstacles and contacts, and the budget.

use core::cell::Cell;
use core::ops::Deref;

use nalgebra::{Point3, Vector3};

use crate::cable::{Geodesic, GeodesicEnd, Jacobi, Obstacle, Settings, Wrap, Wrappable, Wraps, ceil};
use crate::math::{Pose, Real, is_finite};
use crate::mechanics::BodyIndex;

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
    /// The obstacle, counted along the path.
    pub(crate) obstacle: usize,
    /// The pose of the surface in Ground, and the factor by which it is larger there than it was made. What is in the
    /// surface's frame is on the surface as it was made.
    pub(crate) X_GS: Pose<T>,
    pub(crate) scale: T,
    inverse_scale: T,
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
    pub(crate) fn new(obstacle: usize, X_GS: Pose<T>, scale: T) -> Self {
        let zero = T::zero();
        let end = GeodesicEnd::blank();
        let jacobi = Jacobi::at_start();
        Self {
            obstacle,
            X_GS,
            scale,
            inverse_scale: T::one() / scale,
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

    /// Computes the geodesic, which ends in NaN if the budget does not suffice.
    #[inline]
    pub(crate) fn evaluate(&mut self, span: &SpanProblem<'_, T>, accuracy: T) {
        let surface = span.surface(self);
        let Trial { point, tangent, length } = self.trial;
        let geodesic = surface.geodesic(&point, &tangent, length, accuracy);
        self.local_start = geodesic.start;
        self.trial.point = geodesic.start.point;
        self.trial.tangent = geodesic.start.tangent;
        // A geodesic that was given up has no end; the previous one is kept.
        if is_finite(&geodesic.end.point.coords) {
            let ends = [geodesic.start.point, geodesic.end.point];
            self.off_patch = ends.into_iter().find(|p| !surface.covers(p));
        }
        let scaled = geodesic.scaled(self.scale);
        self.ground = Geodesic {
            start: scaled.start.transformed(&self.X_GS),
            end: scaled.end.transformed(&self.X_GS),
            ..scaled
        };
    }

    /// The contact in parts, in the surface's frame: in equal ones of which none would turn the cable by more than about this
    /// angle if it were bent as at its start, at least four, and halved where their ends show that they turn it by more; none shorter
    /// than a hundred thousandth.
    pub(crate) fn parts<'a>(
        &self,
        surface: Metered<'a, T>,
        angle: T,
    ) -> impl Iterator<Item = Geodesic<T>> + use<'a, T> {
        let mut at = self.end_to_surface(&self.ground.start);
        let length = self.to_scale(self.ground.length);
        let longest = length / ceil(self.turns() / angle).max(T::lit(4.0)).min(T::lit(1e5));
        let (least, straight) = (length * T::lit(1e-5), angle.cos());
        let (mut left, mut step) = (length, longest);
        core::iter::from_fn(move || {
            while left > T::zero() && !surface.budget.is_spent() {
                // What rounding leaves is no part.
                let reach = if step < left - T::lit(0.5) * least { step } else { left };
                let part = surface.geodesic(&at.point, &at.tangent, reach, T::lit(ACCURACY));
                if part.start.tangent.dot(&part.end.tangent) < straight && step > least {
                    step = T::lit(0.5) * reach;
                    continue;
                }
                (at, left) = (part.end, left - reach);
                step = longest.min(step + step);
                return Some(part);
            }
            None
        })
    }

    #[inline]
    pub(crate) fn to_surface(&self, p_G: &Point3<T>) -> Point3<T> {
        self.X_GS.inverse_transform_point(p_G) * self.inverse_scale
    }

    #[inline]
    pub(crate) fn to_ground(&self, p_S: &Point3<T>) -> Point3<T> {
        self.X_GS * (p_S * self.scale)
    }

    pub(crate) fn end_to_surface(&self, end_G: &GeodesicEnd<T>) -> GeodesicEnd<T> {
        end_G.transformed(&self.X_GS.inverse()).scaled(self.inverse_scale)
    }

    pub(crate) fn end_to_ground(&self, end_S: &GeodesicEnd<T>) -> GeodesicEnd<T> {
        end_S.scaled(self.scale).transformed(&self.X_GS)
    }

    /// What is remembered of it.
    #[inline]
    pub(crate) fn wrap(&self) -> Wrap<T> {
        let Trial { point, tangent, length } = self.trial;
        Wrap { known: true, in_contact: self.in_contact, point, tangent, length: length.max(T::zero()) }
    }

    /// A length in Ground, on the surface as it was made.
    #[inline]
    pub(crate) fn to_scale(&self, length: T) -> T {
        length * self.inverse_scale
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
    /// All obstacles of the path, and which of them are in the span and active.
    pub(crate) obstacles: &'a [Obstacle<T>],
    pub(crate) acting: &'a [usize],
    /// The bodies of both points, those of the path, and their poses in Ground.
    pub(crate) ends: [BodyIndex; 2],
    pub(crate) bodies: &'a [BodyIndex],
    pub(crate) poses: &'a [Pose<T>],
    /// The memory of the path; empty in a search without memory.
    pub(crate) memory: &'a Wraps<T>,
    pub(crate) settings: &'a Settings<T>,
    pub(crate) budget: &'a Budget,
}

impl<'a, T: Real> SpanProblem<'a, T> {
    /// The remembered first contact with the obstacle of a node, or the passage without contact.
    pub(crate) fn wrap(&self, node: &Node<T>) -> Option<&'a Wrap<T>> {
        self.memory.wraps.get(node.obstacle).filter(|wrap| wrap.known)
    }

    /// The obstacle of a node.
    #[inline]
    pub(crate) fn obstacle(&self, node: &Node<T>) -> &'a Obstacle<T> {
        &self.obstacles[node.obstacle]
    }

    /// The active obstacles.
    pub(crate) fn acting(&self) -> impl Iterator<Item = &'a Obstacle<T>> + use<'a, T> {
        let Self { obstacles, acting, .. } = *self;
        acting.iter().map(|&k| &obstacles[k])
    }

    /// The size of the smallest feature of a node's obstacle in Ground.
    pub(crate) fn size(&self, node: &Node<T>) -> T {
        self.obstacle(node).surface().size() * node.scale
    }

    /// The largest number of contacts.
    pub(crate) fn most_contacts(&self) -> usize {
        self.acting().map(|obstacle| obstacle.most_contacts).sum()
    }

    /// The surface of a node's obstacle.
    #[inline]
    pub(crate) fn surface(&self, node: &Node<T>) -> Metered<'a, T> {
        Metered { surface: self.obstacle(node).surface(), budget: self.budget }
    }
}

/// The accuracy of geodesics in a search \[rad\].
pub(crate) const ACCURACY: f64 = 1e-6;

/// The work done on a span, in evaluations of surfaces, and its limit. What is spent beyond the limit is void: no path is
/// returned.
#[derive(Debug, Default)]
pub(crate) struct Budget {
    pub(crate) spent: Cell<usize>,
    pub(crate) limit: Cell<usize>,
    /// Whether some work was left undone.
    pub(crate) was_short: Cell<bool>,
}

impl Budget {
    #[inline]
    pub(crate) fn spend(&self, evaluations: usize) {
        self.spent.set(self.spent.get() + evaluations);
    }

    /// What may still be spent.
    #[inline]
    pub(crate) fn left(&self) -> usize {
        self.limit.get().saturating_sub(self.spent.get())
    }

    /// Asked before work that is left undone in this case.
    #[inline]
    pub(crate) fn is_spent(&self) -> bool {
        let is_spent = self.left() == 0;
        self.was_short.set(self.was_short.get() || is_spent);
        is_spent
    }
}

/// A surface whose geodesics and searches are charged to the budget of the span.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Metered<'a, T: Real> {
    surface: &'a dyn Wrappable<T>,
    pub(crate) budget: &'a Budget,
}

impl<T: Real> Deref for Metered<'_, T> {
    type Target = dyn Wrappable<T>;

    #[inline]
    fn deref(&self) -> &Self::Target {
        self.surface
    }
}

impl<T: Real> Metered<'_, T> {
    /// The geodesic, which ends in NaN if the budget does not suffice: at once if it is spent.
    #[inline]
    pub(crate) fn geodesic(
        &self,
        p: &Point3<T>,
        direction: &Vector3<T>,
        length: T,
        accuracy: T,
    ) -> Geodesic<T> {
        let length = if self.budget.is_spent() { T::lit(f64::NAN) } else { length };
        let geodesic = self.surface.geodesic(p, direction, length, accuracy, self.budget.left());
        self.budget.spend(1 + geodesic.evaluations);
        geodesic
    }

    /// Follows a geodesic in a search; returns its end.
    pub(crate) fn follow(&self, p: &Point3<T>, direction: &Vector3<T>, length: T) -> GeodesicEnd<T> {
        self.geodesic(p, direction, length, T::lit(ACCURACY)).end
    }

    /// [`Wrappable::closest_on_segment`], at the price of fifty evaluations.
    #[inline]
    pub(crate) fn closest_on_segment(&self, a: &Point3<T>, b: &Point3<T>) -> (Point3<T>, T) {
        self.budget.spend(50);
        self.surface.closest_on_segment(a, b)
    }

    /// [`Wrappable::clears`], at the price of five evaluations.
    pub(crate) fn clears(&self, a: &Point3<T>, b: &Point3<T>) -> bool {
        self.budget.spend(5);
        self.surface.clears(a, b)
    }
}

/// The nodes in contact, on which Newton's method works.
pub(crate) fn touching<T: Real>(nodes: &[Node<T>]) -> impl DoubleEndedIterator<Item = &Node<T>> {
    nodes.iter().filter(|node| node.in_contact)
}

pub(crate) fn touching_mut<T: Real>(nodes: &mut [Node<T>]) -> impl DoubleEndedIterator<Item = &mut Node<T>> {
    nodes.iter_mut().filter(|node| node.in_contact)
}
