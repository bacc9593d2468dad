//! The results and the memory of a path, by name.
//!
//! The module of paths knows nothing of stages and names.

use core::fmt::Arguments;

use crate::cable::{PathResults, Wrap, Wraps};
use crate::framework::Stage;
use crate::framework::results::whole;
use crate::framework::variables::{Composite, Declared, Listed, Part, Variables, Visitor, VisitorMut};
use crate::math::{InvalidValue, Real};

/// Places, and everything that is remembered, feed the path.
pub(super) const STAGE: Stage = Stage::Position;

pub(super) fn declared<'a>(name: Arguments<'a>, units: &'static [&'static str]) -> Declared<'a> {
    Declared { name, units, stage: STAGE }
}

impl<T: Real> Variables<T> for Wraps<T> {
    const FIRST_STAGE: Option<Stage> = Some(STAGE);

    fn visit(&self, visit: Visitor<'_, T>) {
        for (list, wraps) in [("wrap", &self.obstacles), ("further_wrap", &self.further)] {
            for (i, Wrap { known, in_contact, point, tangent, length }) in wraps.iter().enumerate() {
                known.visit(declared(format_args!("{list}[{i}].known"), &[]), visit);
                in_contact.visit(declared(format_args!("{list}[{i}].in_contact"), &[]), visit);
                point.visit(declared(format_args!("{list}[{i}].point"), &["m"]), visit);
                tangent.visit(declared(format_args!("{list}[{i}].tangent"), &[]), visit);
                length.visit(declared(format_args!("{list}[{i}].length"), &["m"]), visit);
            }
        }
    }

    fn visit_mut(&mut self, visit: VisitorMut<'_, T>) {
        for (list, wraps) in [("wrap", &mut self.obstacles), ("further_wrap", &mut self.further)] {
            for (i, Wrap { known, in_contact, point, tangent, length }) in wraps.iter_mut().enumerate() {
                known.visit_mut(declared(format_args!("{list}[{i}].known"), &[]), visit);
                in_contact.visit_mut(declared(format_args!("{list}[{i}].in_contact"), &[]), visit);
                point.visit_mut(declared(format_args!("{list}[{i}].point"), &["m"]), visit);
                tangent.visit_mut(declared(format_args!("{list}[{i}].tangent"), &[]), visit);
                length.visit_mut(declared(format_args!("{list}[{i}].length"), &["m"]), visit);
            }
        }
    }

    fn first_stage_changed(&self, new: &Self) -> Option<Stage> {
        let is_same = |(a, b): (&Wrap<T>, &Wrap<T>)| {
            (a.known, a.in_contact) == (b.known, b.in_contact)
                && a.point.is_same(&b.point)
                && a.tangent.is_same(&b.tangent)
                && a.length.is_same(&b.length)
        };
        let are_same = |a: &[Wrap<T>], b: &[Wrap<T>]| a.iter().zip(b).all(is_same);
        let is_unchanged = are_same(&self.obstacles, &new.obstacles) && are_same(&self.further, &new.further);
        (!is_unchanged).then_some(STAGE)
    }

    fn validate(&self) -> Result<(), InvalidValue> {
        self.obstacles.iter().chain(&self.further).try_for_each(Wrap::validate)
    }

    fn fits(&self, other: &Self) -> bool {
        self.obstacles.len() == other.obstacles.len() && self.further.len() == other.further.len()
    }
}

/// What does not depend on whether the path has been solved for; contacts and segments are lists.
impl<T: Real> Listed<T, Composite> for PathResults<T> {
    fn neutral() -> Self {
        Self::default()
    }

    fn visit(&self, field: Declared<'_>, visit: Visitor<'_, T>) {
        let Self { length, smoothness, iterations, .. } = self;
        let name = field.name;
        length.visit(field.child(format_args!("{name}.length"), &["m"]), visit);
        smoothness.visit(field.child(format_args!("{name}.smoothness"), &["rad"]), visit);
        iterations.visit(field.child(format_args!("{name}.iterations"), &[]), visit);
    }
}

whole! {
    [T: Real] T, PathResults<T>, [];
}
