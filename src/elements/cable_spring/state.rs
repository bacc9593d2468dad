//! Parameters and memory of the cable, and the results of its path, by name.

use alloc::vec::Vec;
use core::fmt::Arguments;

use super::Parameters;
use crate::cable::{Grips, PathResults, Places, Wraps};
use crate::framework::results::whole;
use crate::framework::variables::{Composite, Declared, Listed, Part, Variables, Visitor, VisitorMut};
use crate::framework::{Stage, variables};
use crate::math::{InvalidValue, Real, check, clone_by_field, default_by_field};

/// The path or the strands depend on places, coefficients of friction and everything that is remembered.
const STAGE: Stage = Stage::Position;

fn declared<'a>(name: Arguments<'a>, units: &'static [&'static str]) -> Declared<'a> {
    Declared { name, units, stage: STAGE }
}

/// Implements [`Variables`] for a struct of fields, of structs whose names are its own, and of lists under a name.
macro_rules! declare {
    ([$($generics:tt)*] $Type:ty {
        $(fields $($field:ident [$unit:literal]),+;)?
        $(structs $($of:ident),+;)?
        $(lists $($list:ident as $called:literal),+;)?
    }) => {
        impl<$($generics)*> Variables<T> for $Type {
            const FIRST_STAGE: Option<Stage> = Some(STAGE);

            fn visit(&self, visit: Visitor<'_, T>) {
                $($(self.$field.visit(declared(format_args!(stringify!($field)), &[$unit]), visit);)+)?
                $($(Variables::visit(&self.$of, visit);)+)?
                $($(for (i, member) in self.$list.iter().enumerate() {
                    let name = format_args!(concat!($called, "[{}]"), i);
                    Listed::<T, _>::visit(member, declared(name, &[]), visit);
                })+)?
            }

            fn visit_mut(&mut self, visit: VisitorMut<'_, T>) {
                $($(self.$field.visit_mut(declared(format_args!(stringify!($field)), &[$unit]), visit);)+)?
                $($(Variables::visit_mut(&mut self.$of, visit);)+)?
                $($(for (i, member) in self.$list.iter_mut().enumerate() {
                    let name = format_args!(concat!($called, "[{}]"), i);
                    Part::<T, _>::visit_mut(member, declared(name, &[]), visit);
                })+)?
            }

            fn first_stage_changed(&self, new: &Self) -> Option<Stage> {
                let is_same = true
                    $($(&& self.$field.is_same(&new.$field))+)?
                    $($(&& self.$list.iter().zip(&new.$list).all(|(a, b)| Part::<T, _>::is_same(a, b)))+)?;
                let first = (!is_same).then_some(STAGE);
                $($(let first = variables::earlier(first, Variables::first_stage_changed(&self.$of, &new.$of));)+)?
                first
            }

            fn validate(&self) -> Result<(), InvalidValue> {
                Self::validate(self)
            }

            fn fits(&self, other: &Self) -> bool {
                true
                    $($(&& Variables::fits(&self.$of, &other.$of))+)?
                    $($(&& self.$list.len() == other.$list.len())+)?
            }
        }
    };
}

declare!([T: Real] Places<T> {
    fields origin["m"], termination["m"];
    lists via_points as "via_points", obstacles as "obstacles";
});
declare!([T: Real] Wraps<T> {
    lists obstacles as "wrap", further as "further_wrap";
});
declare!([T: Real] Grips<T> {
    lists places as "grip", laps as "lap";
});
declare!([T: Real, L: Variables<T>] StateParameters<T, L> {
    structs places, law;
    lists friction as "friction";
});
declare!([T: Real] Discrete<T> {
    structs wraps, grips;
});

/// The parameters in a state of a cable with this law: the places of the path (by default those with which it was
/// made), the parameters of the law, and friction.
///
/// The names are those of the fields: `origin.x`, `via_points[0].active`, `obstacles[1].X_BS.p.x`,
/// `obstacles[1].scale`, `stiffness`, `friction[1]`.
#[derive(Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct StateParameters<T: Real, L = Parameters<T>> {
    /// The places of the parts of the path on their bodies, the scales of its surfaces, and which of them are active.
    pub places: Places<T>,
    /// The parameters of the law.
    pub law: L,
    /// The coefficient of friction of each obstacle, in order, at least 0; empty for a cable without friction.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "checked_friction"))]
    pub friction: Vec<T>,
}

#[cfg(feature = "serde")]
fn checked_friction<'de, T: Real + serde::Deserialize<'de>, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    let read: Vec<T> = serde::Deserialize::deserialize(deserializer)?;
    validate_friction(&read).map_err(serde::de::Error::custom)?;
    Ok(read)
}

pub(super) fn validate_friction<T: Real>(friction: &[T]) -> Result<(), InvalidValue> {
    friction.iter().try_for_each(|&mu| check::nonnegative("friction", mu))
}

impl<T: Real, L: Default> Default for StateParameters<T, L> {
    fn default() -> Self {
        Self { places: Places::default(), law: L::default(), friction: Vec::new() }
    }
}

impl<T: Real, L: Clone> Clone for StateParameters<T, L> {
    fn clone(&self) -> Self {
        Self { places: self.places.clone(), law: self.law.clone(), friction: self.friction.clone() }
    }

    fn clone_from(&mut self, source: &Self) {
        self.places.clone_from(&source.places);
        self.law.clone_from(&source.law);
        self.friction.clone_from(&source.friction);
    }
}

impl<T: Real, L: Variables<T>> StateParameters<T, L> {
    fn validate(&self) -> Result<(), InvalidValue> {
        self.places.validate()?;
        self.law.validate()?;
        validate_friction(&self.friction)
    }
}

/// Memory of the path and of friction along it.
#[derive(Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Discrete<T: Real> {
    /// The memory of the path.
    pub wraps: Wraps<T>,
    /// The marks on obstacles and via points; empty for a cable without friction.
    pub grips: Grips<T>,
}

clone_by_field!(Discrete { wraps, grips });

default_by_field!(Discrete { wraps, grips });

/// Without friction.
impl<T: Real> From<Wraps<T>> for Discrete<T> {
    fn from(wraps: Wraps<T>) -> Self {
        Self { wraps, ..Self::default() }
    }
}

impl<T: Real> Discrete<T> {
    fn validate(&self) -> Result<(), InvalidValue> {
        self.wraps.validate()?;
        self.grips.validate()
    }
}

/// The variables that do not depend on whether the path has been solved; contacts and segments are lists.
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
