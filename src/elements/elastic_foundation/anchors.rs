//! Memory of friction: the anchors of the springs in contact.

use alloc::vec::Vec;

use nalgebra::Point3;

use crate::framework::variables::{Declared, Listed, Numbers, Part, Visitor, VisitorMut};
use crate::framework::{Stage, Variables, stored_variables};
use crate::math::{
    InvalidValue, Real, Requirement, check, checked_when_read, clone_by_field, default_by_field,
};

stored_variables! {
    /// The anchor of one spring in contact.
    #[derive(Copy, Lift)]
    pub struct Anchor<T> {
        /// The spring, counted through the springs of all surfaces.
        pub spring: T, index => Dynamics;
        /// The surface that displaces it.
        pub other: T, index => Dynamics;
        /// The point at which the base of the spring would be without friction, in the frame of that surface.
        pub point: Point3<T> ["m"], finite => Dynamics;
    }
}

impl<T: Real> Anchor<T> {
    pub(super) fn new(spring: usize, other: usize, point: Point3<T>) -> Self {
        let [spring, other] = [spring, other].map(number);
        Self { spring, other, point }
    }

    /// Spring and surface, for comparison.
    pub(super) fn key(&self) -> (f64, f64) {
        (self.spring.to_f64(), self.other.to_f64())
    }
}

/// A number of springs or surfaces, which fits in the 52 bits of `f64`.
#[expect(clippy::cast_precision_loss, reason = "there are fewer than 2⁵² springs")]
fn number<T: Real>(index: usize) -> T {
    T::lit(index as f64)
}

/// The anchors of the springs in contact, of a foundation [with anchors](super::ElasticFoundation::with_anchors); empty
/// for others.
///
/// There is a place for every spring, `anchors[0]` and so on, and several places for a spring at a vertex that more than
/// one shape may displace. The springs in contact take the first places.
#[derive(Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(remote = "Self"))]
pub struct Anchors<T: Real> {
    room: usize,
    /// Sorted by spring and surface; the places after the last are vacant.
    taken: Vec<Option<Anchor<T>>>,
}

checked_when_read!(Anchors);

clone_by_field!(Anchors { room, taken });
default_by_field!(Anchors { room, taken });

impl<T: Real> Anchors<T> {
    pub(super) fn with_room(room: usize) -> Self {
        Self { room, taken: Vec::new() }
    }

    /// The anchors.
    pub fn iter(&self) -> impl Iterator<Item = &Anchor<T>> {
        self.taken.iter().flatten()
    }

    /// The anchor of a spring on a surface.
    #[inline]
    pub(super) fn of(&self, spring: usize, other: usize) -> Option<Point3<T>> {
        self.at(self.place_of(spring, other)?)
    }

    /// The anchor in a place.
    #[inline]
    pub(super) fn at(&self, place: usize) -> Option<Point3<T>> {
        self.taken.get(place)?.map(|anchor| anchor.point)
    }

    /// The place of the anchor of a spring on a surface.
    #[inline]
    pub(super) fn place_of(&self, spring: usize, other: usize) -> Option<usize> {
        let key = (number::<f64>(spring), number::<f64>(other));
        let compare = |place: &Option<Anchor<T>>| {
            let present = place.as_ref().map_or((f64::INFINITY, 0.0), Anchor::key);
            present.partial_cmp(&key).unwrap_or(core::cmp::Ordering::Greater)
        };
        self.taken.binary_search_by(compare).ok()
    }

    /// The place of the first number of the point of an anchor, among the numbers of all anchors.
    pub(super) fn place_of_point(place: usize) -> usize {
        Anchor::<T>::default().places(Anchor::<T>::COUNT * place).point.x
    }

    pub(super) fn clear(&mut self) {
        self.taken.clear();
    }

    /// Replaces all anchors.
    pub(super) fn replace(&mut self, anchors: &[Anchor<T>]) {
        self.taken.clear();
        self.taken.reserve_exact(self.room);
        self.taken.extend(anchors.iter().copied().map(Some));
        self.taken.sort_unstable_by(|a, b| {
            let (a, b) = (a.as_ref().map(Anchor::key), b.as_ref().map(Anchor::key));
            a.partial_cmp(&b).unwrap_or(core::cmp::Ordering::Equal)
        });
    }
}

const STAGE: Stage = Stage::Dynamics;

impl<T: Real> Variables<T> for Anchors<T> {
    const FIRST_STAGE: Option<Stage> = Some(STAGE);

    fn first_stage(&self) -> Option<Stage> {
        (self.room > 0).then_some(STAGE)
    }

    fn visit(&self, visit: Visitor<'_, T>) {
        for i in 0..self.room {
            let anchor = self.taken.get(i).copied().flatten();
            let field = Declared { name: format_args!("anchors[{i}]"), units: &[], stage: STAGE };
            Listed::<T, _>::visit(&anchor, field, visit);
        }
    }

    fn visit_mut(&mut self, visit: VisitorMut<'_, T>) {
        self.taken.resize(self.room, None);
        for (i, place) in self.taken.iter_mut().enumerate() {
            let field = Declared { name: format_args!("anchors[{i}]"), units: &[], stage: STAGE };
            Part::<T, _>::visit_mut(place, field, visit);
        }
        let taken = self.taken.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        self.taken.truncate(taken);
    }

    fn first_stage_changed(&self, new: &Self) -> Option<Stage> {
        let mut pairs = self.taken.iter().zip(&new.taken);
        let has_changed = self.taken.len() != new.taken.len()
            || pairs.any(|(a, b)| Part::<T, _>::first_stage_changed(a, b, STAGE).is_some());
        has_changed.then_some(STAGE)
    }

    fn validate(&self) -> Result<(), InvalidValue> {
        let (taken, room) = (self.taken.len(), self.room);
        let must = Requirement::AtMost("the number of places");
        check::that(taken <= room, "number of anchors", number::<T>(taken), must)?;
        self.iter().try_for_each(Variables::validate)?;
        // Places are found by bisection.
        let keys = || self.taken.iter().map(|place| place.as_ref().map_or((f64::INFINITY, 0.0), Anchor::key));
        let unsorted = keys().zip(keys().skip(1)).find(|(a, b)| a >= b);
        let must = Requirement::Below("that of the next anchor");
        unsorted.map_or(Ok(()), |((spring, _), _)| check::that(false, "anchors.spring", spring, must))
    }

    fn fits(&self, other: &Self) -> bool {
        self.room == other.room
    }
}
