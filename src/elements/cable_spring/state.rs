//! Parameters and memory of the cable, and the results of its path, by name.

use alloc::vec::Vec;

use super::Parameters;
use crate::cable::{Grips, PathResults, Places, Wraps};
use crate::framework::results::whole;
use crate::framework::stored_variables;
use crate::framework::variables::{Declared, Listed, Visitor};
use crate::math::Real;
use crate::variables;

stored_variables! {
    /// The parameters in a state: the places of the path (by default those with which it was made), the parameters of the law,
    /// and friction.
    ///
    /// The names are those of the fields: `origin.x`, `via_points[0].active`, `obstacles[1].X_BS.p.x`,
    /// `obstacles[1].scale`, `stiffness`, `friction[1]`.
    pub struct StateParameters<T> {
        /// The places of the parts of the path on their bodies, the scales of its surfaces, and which of them are active.
        pub places: Places<T>, flat => Position;
        /// The parameters of the law.
        pub law: Parameters<T>, flat => Position;
        /// The coefficient of friction of each obstacle, in order; empty for a cable without friction.
        pub friction: Vec<T>, nonnegative => Position;
    }
}

variables! {
    /// Memory of the path and of friction along it.
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    pub struct Discrete<T> {
        /// The memory of the path.
        pub wraps: Wraps<T>, flat => Position;
        /// The marks on obstacles and via points; empty for a cable without friction.
        pub grips: Grips<T>, flat => Position;
    }
}

/// Without friction.
impl<T: Real> From<Wraps<T>> for Discrete<T> {
    fn from(wraps: Wraps<T>) -> Self {
        Self { wraps, ..Self::default() }
    }
}

/// The variables that do not depend on whether the path has been solved; contacts and segments are lists.
impl<T: Real> Listed<T, ()> for PathResults<T> {
    fn neutral() -> Self {
        Self::default()
    }

    fn visit(&self, field: Declared<'_>, visit: Visitor<'_, T>) {
        let Self { length, smoothness, iterations, tracking, .. } = self;
        let name = field.name;
        length.visit(field.child(format_args!("{name}.length"), &["m"]), visit);
        smoothness.visit(field.child(format_args!("{name}.smoothness"), &["rad"]), visit);
        iterations.visit(field.child(format_args!("{name}.iterations"), &[]), visit);
        (*tracking as usize).visit(field.child(format_args!("{name}.tracking"), &[]), visit);
    }
}

whole! {
    [T: Real] T, PathResults<T>, [];
}
