//! The memory of a path as discrete variables.

use nalgebra::{Point3, Vector3};

use crate::cable::{Wrap, Wraps};
use crate::framework::variables::{Part, Slot, Value, Variables, Visitor, VisitorMut};
use crate::math::{InvalidValue, Real};

impl<T: Real> Variables<T> for Wraps<T> {
    fn visit(&self, visit: Visitor<'_, T>) {
        for (i, Wrap { known, in_contact, point, tangent, length }) in self.obstacles.iter().enumerate() {
            visit(format_args!("wrap[{i}].known"), Value::Flag(*known));
            visit(format_args!("wrap[{i}].in_contact"), Value::Flag(*in_contact));
            Point3::visit(point, format_args!("wrap[{i}].point"), visit);
            Vector3::visit(tangent, format_args!("wrap[{i}].tangent"), visit);
            visit(format_args!("wrap[{i}].length"), Value::Number(*length));
        }
    }

    fn visit_mut(&mut self, visit: VisitorMut<'_, T>) {
        for (i, Wrap { known, in_contact, point, tangent, length }) in self.obstacles.iter_mut().enumerate() {
            visit(format_args!("wrap[{i}].known"), Slot::Flag(known));
            visit(format_args!("wrap[{i}].in_contact"), Slot::Flag(in_contact));
            Point3::visit_mut(point, format_args!("wrap[{i}].point"), visit);
            Vector3::visit_mut(tangent, format_args!("wrap[{i}].tangent"), visit);
            visit(format_args!("wrap[{i}].length"), Slot::Number(length));
        }
    }

    fn validate(&self) -> Result<(), InvalidValue> {
        self.obstacles.iter().try_for_each(Wrap::validate)
    }

    fn fits(&self, other: &Self) -> bool {
        self.obstacles.len() == other.obstacles.len()
    }
}
