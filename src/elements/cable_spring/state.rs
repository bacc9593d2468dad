//! Parameters and memory of the cable, and the results of its path, by name.
//!
//! The module of paths does not depend on stages and names.

use alloc::vec::Vec;
use core::fmt::Arguments;

use nalgebra::Point3;

use super::Parameters;
use crate::cable::{Grip, Grips, Lap, PathResults, Places, Wraps};
use crate::framework::results::whole;
use crate::framework::variables::{
    Composite, Declared, Lift, Listed, Numbers, Part, Variables, Visitor, VisitorMut,
};
use crate::framework::{Stage, variables};
use crate::math::{Algebraic, InvalidValue, Real, check, clone_by_field};

/// The path or the strands depend on places, coefficients of friction and everything that is remembered.
const STAGE: Stage = Stage::Position;

fn declared<'a>(name: Arguments<'a>, units: &'static [&'static str]) -> Declared<'a> {
    Declared { name, units, stage: STAGE }
}

/// Declares fields, and lists of parts with fields, such as `wrap[2].length` of the list called `wrap`.
macro_rules! declare {
    ($name:ident {
        $($field:ident [$($unit:literal)?],)*
    } $($list:ident as $called:ident [$($part:ident [$($part_unit:literal)?]),*]),*) => {
        impl<T: Real> Variables<T> for $name<T> {
            const FIRST_STAGE: Option<Stage> = Some(STAGE);

            fn visit(&self, visit: Visitor<'_, T>) {
                $(self.$field.visit(declared(format_args!(stringify!($field)), &[$($unit)?]), visit);)*
                $(for (i, of) in self.$list.iter().enumerate() {
                    $(of.$part.visit(declare!(@of $called $part i [$($part_unit)?]), visit);)*
                })*
            }

            fn visit_mut(&mut self, visit: VisitorMut<'_, T>) {
                $(self.$field.visit_mut(declared(format_args!(stringify!($field)), &[$($unit)?]), visit);)*
                $(for (i, of) in self.$list.iter_mut().enumerate() {
                    $(of.$part.visit_mut(declare!(@of $called $part i [$($part_unit)?]), visit);)*
                })*
            }

            fn first_stage_changed(&self, new: &Self) -> Option<Stage> {
                let is_same = true
                    $(&& self.$field.is_same(&new.$field))*
                    $(&& self.$list.iter().zip(&new.$list).all(|(a, b)| {
                        true $(&& Part::<T, _>::is_same(&a.$part, &b.$part))*
                    }))*;
                (!is_same).then_some(STAGE)
            }

            fn validate(&self) -> Result<(), InvalidValue> {
                $name::validate(self)
            }

            fn fits(&self, other: &Self) -> bool {
                true $(&& self.$list.len() == other.$list.len())*
            }
        }
    };
    (@of $called:ident $part:ident $i:ident $units:tt) => {
        declared(format_args!(concat!(stringify!($called), "[{}].", stringify!($part)), $i), &$units)
    };
}

declare!(Places { origin["m"], termination["m"], }
    via_points as via_points [active[], p_B["m"]],
    obstacles as obstacles [active[], X_BS["m"], scale[]]
);
declare!(Wraps {}
    obstacles as wrap [known[], in_contact[], point["m"], tangent[], length["m"]],
    further as further_wrap [known[], in_contact[], point["m"], tangent[], length["m"]]
);
declare!(Grips {}
    places as grip [in_contact[], start["m"], end["m"], before["m"], after["m"], share[]],
    laps as lap [length["m"], share[]]
);

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

impl<T: Real, L: Variables<T>> Variables<T> for StateParameters<T, L> {
    const FIRST_STAGE: Option<Stage> = Some(STAGE);

    fn visit(&self, visit: Visitor<'_, T>) {
        self.places.visit(visit);
        self.law.visit(visit);
        for (i, mu) in self.friction.iter().enumerate() {
            Listed::<T, _>::visit(mu, declared(format_args!("friction[{i}]"), &[]), visit);
        }
    }

    fn visit_mut(&mut self, visit: VisitorMut<'_, T>) {
        self.places.visit_mut(visit);
        self.law.visit_mut(visit);
        for (i, mu) in self.friction.iter_mut().enumerate() {
            Part::<T, _>::visit_mut(mu, declared(format_args!("friction[{i}]"), &[]), visit);
        }
    }

    fn first_stage_changed(&self, new: &Self) -> Option<Stage> {
        let rubs_alike = self.friction.iter().zip(&new.friction).all(|(a, b)| Part::<T, _>::is_same(a, b));
        let changed = [self.places.first_stage_changed(&new.places), self.law.first_stage_changed(&new.law)];
        changed.into_iter().flatten().chain((!rubs_alike).then_some(STAGE)).min()
    }

    fn validate(&self) -> Result<(), InvalidValue> {
        self.places.validate()?;
        self.law.validate()?;
        validate_friction(&self.friction)
    }

    fn fits(&self, other: &Self) -> bool {
        let is_as_long = self.friction.len() == other.friction.len();
        self.places.fits(&other.places) && self.law.fits(&other.law) && is_as_long
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

impl<T: Real> Default for Discrete<T> {
    fn default() -> Self {
        Self { wraps: Wraps::default(), grips: Grips::default() }
    }
}

/// Without friction.
impl<T: Real> From<Wraps<T>> for Discrete<T> {
    fn from(wraps: Wraps<T>) -> Self {
        Self { wraps, ..Self::default() }
    }
}

impl<T: Real> Variables<T> for Discrete<T> {
    const FIRST_STAGE: Option<Stage> = Some(STAGE);

    fn visit(&self, visit: Visitor<'_, T>) {
        self.wraps.visit(visit);
        self.grips.visit(visit);
    }

    fn visit_mut(&mut self, visit: VisitorMut<'_, T>) {
        self.wraps.visit_mut(visit);
        self.grips.visit_mut(visit);
    }

    fn first_stage_changed(&self, new: &Self) -> Option<Stage> {
        let changed = self.wraps.first_stage_changed(&new.wraps);
        variables::earlier(changed, self.grips.first_stage_changed(&new.grips))
    }

    fn validate(&self) -> Result<(), InvalidValue> {
        self.wraps.validate()?;
        self.grips.validate()
    }

    fn fits(&self, other: &Self) -> bool {
        self.wraps.fits(&other.wraps) && self.grips.fits(&other.grips)
    }
}

/// The numbers of a part of a list, for which derivatives have places.
macro_rules! numbers {
    ($name:ident { $($field:ident: $type:ty),* }) => {
        impl<T: Algebraic> Numbers<T> for $name<T> {
            const COUNT: usize = 0 $(+ <$type as Lift<T, T, _>>::COUNT)*;
            type Over<S: nalgebra::Scalar> = $name<S>;

            fn lift<S: nalgebra::Scalar>(&self, of: &mut impl FnMut(T) -> S) -> $name<S> {
                $name { $($field: Lift::<T, S, _>::lift(&self.$field, of)),* }
            }

            fn for_each_over<S: Algebraic>(over: &$name<S>, visit: impl FnMut(usize, S)) {
                Numbers::<S>::for_each(over, visit);
            }
        }
    };
}

numbers!(Grip { in_contact: bool, start: Point3<T>, end: Point3<T>, before: T, after: T, share: T });
numbers!(Lap { length: T, share: T });

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
