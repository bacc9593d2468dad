//! The memory of the springs of a bed.

use alloc::vec::Vec;
use core::fmt::Arguments;

use crate::framework::variables::{Declared, Listed, Part, Visitor, VisitorMut};
use crate::framework::{Stage, Variables};
use crate::math::{InvalidValue, Real, clone_by_field};

/// The memory of the springs of a bed, `springs[0]` and so on, by face; `None` for a spring that was not displaced at the
/// last commit. Empty if the law has no memory.
#[derive(Debug, PartialEq, Default)]
pub struct Springs<M>(pub(super) Vec<Option<M>>);

clone_by_field!([M: Clone] Springs<M> { 0 });

impl<M> Springs<M> {
    /// The memory of the spring of a face.
    pub fn of(&self, face: usize) -> Option<&M> {
        self.0.get(face)?.as_ref()
    }
}

impl<T: Real, M: Variables<T> + Default> Variables<T> for Springs<M> {
    const FIRST_STAGE: Option<Stage> = M::FIRST_STAGE;

    fn visit(&self, visit: Visitor<'_, T>) {
        for (i, spring) in self.0.iter().enumerate() {
            Listed::<T, _>::visit(spring, field::<T, M>(format_args!("springs[{i}]")), visit);
        }
    }

    fn visit_mut(&mut self, visit: VisitorMut<'_, T>) {
        for (i, spring) in self.0.iter_mut().enumerate() {
            Part::<T, _>::visit_mut(spring, field::<T, M>(format_args!("springs[{i}]")), visit);
        }
    }

    fn first_stage_changed(&self, new: &Self) -> Option<Stage> {
        let stage = M::FIRST_STAGE?;
        self.0.iter().zip(&new.0).filter_map(|(a, b)| Part::<T, _>::first_stage_changed(a, b, stage)).min()
    }

    fn validate(&self) -> Result<(), InvalidValue> {
        self.0.iter().flatten().try_for_each(Variables::validate)
    }

    fn fits(&self, other: &Self) -> bool {
        self.0.len() == other.0.len()
    }
}

fn field<T: Real, M: Variables<T> + Default>(name: Arguments<'_>) -> Declared<'_> {
    Declared { name, units: &[], stage: M::FIRST_STAGE.unwrap_or(Stage::Instance) }
}
