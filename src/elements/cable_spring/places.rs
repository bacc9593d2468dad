//! The places of a path, by name, and the parameters of a cable in a state.

use crate::cable::{ObstaclePlace, Places, ViaPlace};
use crate::elements::cable_spring::Parameters;
use crate::elements::cable_spring::memory::{STAGE, declared};
use crate::framework::Stage;
use crate::framework::variables::{Listed, Part, Variables, Visitor, VisitorMut};
use crate::math::{InvalidValue, Real};

/// The parameters in a state of a cable with this law: the places of the path, by default those that it was made with,
/// and those of the law.
///
/// Their names are those of the fields of both: `origin.x`, `via_points[0].active`, `obstacles[1].X_BS.p.x`,
/// `obstacles[1].scale`, `stiffness`.
#[derive(Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct StateParameters<T: Real, L = Parameters<T>> {
    /// Where the parts of the path are on their bodies, how large its surfaces are, and which of them act.
    pub places: Places<T>,
    /// The parameters of the law.
    pub law: L,
}

impl<T: Real, L: Default> Default for StateParameters<T, L> {
    fn default() -> Self {
        Self { places: Places::default(), law: L::default() }
    }
}

impl<T: Real, L: Clone> Clone for StateParameters<T, L> {
    fn clone(&self) -> Self {
        Self { places: self.places.clone(), law: self.law.clone() }
    }

    fn clone_from(&mut self, source: &Self) {
        self.places.clone_from(&source.places);
        self.law.clone_from(&source.law);
    }
}

impl<T: Real, L: Variables<T>> Variables<T> for StateParameters<T, L> {
    const FIRST_STAGE: Option<Stage> = Some(STAGE);

    fn visit(&self, visit: Visitor<'_, T>) {
        self.places.visit(visit);
        self.law.visit(visit);
    }

    fn visit_mut(&mut self, visit: VisitorMut<'_, T>) {
        self.places.visit_mut(visit);
        self.law.visit_mut(visit);
    }

    fn first_stage_changed(&self, new: &Self) -> Option<Stage> {
        let changed = [self.places.first_stage_changed(&new.places), self.law.first_stage_changed(&new.law)];
        changed.into_iter().flatten().min()
    }

    fn validate(&self) -> Result<(), InvalidValue> {
        self.places.validate()?;
        self.law.validate()
    }

    fn fits(&self, other: &Self) -> bool {
        self.places.fits(&other.places) && self.law.fits(&other.law)
    }
}

/// What a list of all parts calls for each: the name, the unit, and the part.
macro_rules! each_part {
    ($places:expr, $iter:ident, $visit:ident, $visitor:ident) => {{
        let Places { origin, termination, via_points, obstacles } = $places;
        origin.$visit(declared(format_args!("origin"), &["m"]), $visitor);
        termination.$visit(declared(format_args!("termination"), &["m"]), $visitor);
        for (i, ViaPlace { active, p_B }) in via_points.$iter().enumerate() {
            active.$visit(declared(format_args!("via_points[{i}].active"), &[]), $visitor);
            p_B.$visit(declared(format_args!("via_points[{i}].p_B"), &["m"]), $visitor);
        }
        for (i, ObstaclePlace { active, X_BS, scale }) in obstacles.$iter().enumerate() {
            active.$visit(declared(format_args!("obstacles[{i}].active"), &[]), $visitor);
            X_BS.$visit(declared(format_args!("obstacles[{i}].X_BS"), &["m"]), $visitor);
            scale.$visit(declared(format_args!("obstacles[{i}].scale"), &[]), $visitor);
        }
    }};
}

impl<T: Real> Variables<T> for Places<T> {
    const FIRST_STAGE: Option<Stage> = Some(STAGE);

    fn visit(&self, visit: Visitor<'_, T>) {
        each_part!(self, iter, visit, visit);
    }

    fn visit_mut(&mut self, visit: VisitorMut<'_, T>) {
        each_part!(self, iter_mut, visit_mut, visit);
    }

    fn first_stage_changed(&self, new: &Self) -> Option<Stage> {
        let is_same_via =
            |(a, b): (&ViaPlace<T>, &ViaPlace<T>)| a.active == b.active && a.p_B.is_same(&b.p_B);
        let is_same_obstacle = |(a, b): (&ObstaclePlace<T>, &ObstaclePlace<T>)| {
            a.active == b.active && a.X_BS.is_same(&b.X_BS) && a.scale.is_same(&b.scale)
        };
        let is_same = self.origin.is_same(&new.origin)
            && self.termination.is_same(&new.termination)
            && self.via_points.iter().zip(&new.via_points).all(is_same_via)
            && self.obstacles.iter().zip(&new.obstacles).all(is_same_obstacle);
        (!is_same).then_some(STAGE)
    }

    fn validate(&self) -> Result<(), InvalidValue> {
        self.validate()
    }

    fn fits(&self, other: &Self) -> bool {
        self.fits(other)
    }
}
