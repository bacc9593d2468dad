//! The memory of a path as discrete variables.

use crate::cable::{Wrap, Wraps};
use crate::framework::variables::{Variables, Visitor, visit_flag, visit_vector};
use crate::math::{InvalidValue, Real};

impl<T: Real> Variables<T> for Wraps<T> {
    fn visit(&mut self, visit: Visitor<'_, T>) {
        for (i, wrap) in self.obstacles.iter_mut().enumerate() {
            let mut named = |name: core::fmt::Arguments<'_>, value: &mut T| {
                visit(format_args!("wrap[{i}].{name}"), value);
            };
            visit_flag("known", &mut wrap.known, &mut named);
            visit_flag("in_contact", &mut wrap.in_contact, &mut named);
            visit_vector(format_args!("point"), &mut wrap.point.coords, &mut named);
            visit_vector(format_args!("tangent"), &mut wrap.tangent, &mut named);
            named(format_args!("length"), &mut wrap.length);
        }
    }

    fn validate(&self) -> Result<(), InvalidValue> {
        self.obstacles.iter().try_for_each(Wrap::validate)
    }

    fn fits(&self, other: &Self) -> bool {
        self.obstacles.len() == other.obstacles.len()
    }
}
