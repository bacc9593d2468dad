//! Parameters and memory of the cable with friction.

use alloc::vec::Vec;

use crate::cable::{Grip, Grips, Lap, Wraps};
use crate::elements::cable_spring;
use crate::framework::variables::{Declared, Part, Variables, Visitor, VisitorMut};
use crate::framework::{Stage, variables};
use crate::math::{InvalidValue, Real, check, checked_when_read};

/// The first stage that reads the coefficients of friction and the memory.
const STAGE: Stage = Stage::Position;

/// Elasticity, and the coefficients of friction.
#[derive(Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(remote = "Self"))]
pub struct Parameters<T: Real> {
    /// Stiffness, slack length and dissipation.
    pub elastic: cable_spring::Parameters<T>,
    /// The coefficient of friction of each obstacle, in order, at least 0. Of those that are missing it is 0.
    pub friction: Vec<T>,
}

/// The parameters in a state: the places of the path, by default those that it was made with, and the law.
pub type StateParameters<T> = cable_spring::StateParameters<T, Parameters<T>>;

/// Memory of the path and of friction along it.
#[derive(Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Discrete<T: Real> {
    /// The memory of the path.
    pub wraps: Wraps<T>,
    /// The marks on obstacles and via points.
    pub grips: Grips<T>,
}

/// Implements what a derive would, with buffers kept by `clone_from`.
macro_rules! of_fields {
    ($name:ident { $first:ident, $second:ident }) => {
        impl<T: Real> Default for $name<T> {
            fn default() -> Self {
                Self { $first: Default::default(), $second: Default::default() }
            }
        }

        impl<T: Real> Clone for $name<T> {
            fn clone(&self) -> Self {
                Self { $first: self.$first.clone(), $second: self.$second.clone() }
            }

            fn clone_from(&mut self, source: &Self) {
                self.$first.clone_from(&source.$first);
                self.$second.clone_from(&source.$second);
            }
        }
    };
}

checked_when_read!(Parameters);

of_fields!(Parameters { elastic, friction });
of_fields!(Discrete { wraps, grips });

impl<T: Real> Parameters<T> {
    /// The same in another scalar.
    pub fn cast<U: Real>(&self) -> Parameters<U> {
        Parameters {
            elastic: self.elastic.cast(),
            friction: self.friction.iter().copied().map(T::cast).collect(),
        }
    }
}

fn declared<'a>(name: core::fmt::Arguments<'a>, units: &'static [&'static str]) -> Declared<'a> {
    Declared { name, units, stage: STAGE }
}

impl<T: Real> Variables<T> for Parameters<T> {
    const FIRST_STAGE: Option<Stage> = variables::earliest(&[STAGE]);

    fn visit(&self, visit: Visitor<'_, T>) {
        self.elastic.visit(visit);
        for (i, mu) in self.friction.iter().enumerate() {
            variables::Listed::<T, _>::visit(mu, declared(format_args!("friction[{i}]"), &[]), visit);
        }
    }

    fn visit_mut(&mut self, visit: VisitorMut<'_, T>) {
        self.elastic.visit_mut(visit);
        for (i, mu) in self.friction.iter_mut().enumerate() {
            Part::<T, _>::visit_mut(mu, declared(format_args!("friction[{i}]"), &[]), visit);
        }
    }

    fn first_stage_changed(&self, new: &Self) -> Option<Stage> {
        let is_same = self.friction.iter().zip(&new.friction).all(|(a, b)| Part::<T, _>::is_same(a, b));
        variables::earlier(self.elastic.first_stage_changed(&new.elastic), (!is_same).then_some(STAGE))
    }

    fn validate(&self) -> Result<(), InvalidValue> {
        self.elastic.validate()?;
        self.friction.iter().try_for_each(|&mu| check::nonnegative("friction", mu))
    }

    fn fits(&self, other: &Self) -> bool {
        self.friction.len() == other.friction.len()
    }
}

impl<T: Real> Variables<T> for Discrete<T> {
    const FIRST_STAGE: Option<Stage> = Some(STAGE);

    fn visit(&self, visit: Visitor<'_, T>) {
        self.wraps.visit(visit);
        for (i, Grip { in_contact, start, end, before, after, share }) in self.grips.places.iter().enumerate()
        {
            use variables::Listed;
            in_contact.visit(declared(format_args!("grip[{i}].in_contact"), &[]), visit);
            start.visit(declared(format_args!("grip[{i}].start"), &["m"]), visit);
            end.visit(declared(format_args!("grip[{i}].end"), &["m"]), visit);
            before.visit(declared(format_args!("grip[{i}].before"), &["m"]), visit);
            after.visit(declared(format_args!("grip[{i}].after"), &["m"]), visit);
            share.visit(declared(format_args!("grip[{i}].share"), &[]), visit);
        }
        for (i, Lap { length, share }) in self.grips.laps.iter().enumerate() {
            use variables::Listed;
            length.visit(declared(format_args!("lap[{i}].length"), &["m"]), visit);
            share.visit(declared(format_args!("lap[{i}].share"), &[]), visit);
        }
    }

    fn visit_mut(&mut self, visit: VisitorMut<'_, T>) {
        self.wraps.visit_mut(visit);
        let grips = self.grips.places.iter_mut().enumerate();
        for (i, Grip { in_contact, start, end, before, after, share }) in grips {
            in_contact.visit_mut(declared(format_args!("grip[{i}].in_contact"), &[]), visit);
            start.visit_mut(declared(format_args!("grip[{i}].start"), &["m"]), visit);
            end.visit_mut(declared(format_args!("grip[{i}].end"), &["m"]), visit);
            before.visit_mut(declared(format_args!("grip[{i}].before"), &["m"]), visit);
            after.visit_mut(declared(format_args!("grip[{i}].after"), &["m"]), visit);
            share.visit_mut(declared(format_args!("grip[{i}].share"), &[]), visit);
        }
        for (i, Lap { length, share }) in self.grips.laps.iter_mut().enumerate() {
            length.visit_mut(declared(format_args!("lap[{i}].length"), &["m"]), visit);
            share.visit_mut(declared(format_args!("lap[{i}].share"), &[]), visit);
        }
    }

    fn first_stage_changed(&self, new: &Self) -> Option<Stage> {
        let is_same = |(a, b): (&Grip<T>, &Grip<T>)| {
            a.in_contact == b.in_contact
                && a.start.is_same(&b.start)
                && a.end.is_same(&b.end)
                && a.before.is_same(&b.before)
                && a.after.is_same(&b.after)
                && a.share.is_same(&b.share)
        };
        let is_wound_same =
            |(a, b): (&Lap<T>, &Lap<T>)| a.length.is_same(&b.length) && a.share.is_same(&b.share);
        let same = self.grips.places.iter().zip(&new.grips.places).all(is_same)
            && self.grips.laps.iter().zip(&new.grips.laps).all(is_wound_same);
        variables::earlier(self.wraps.first_stage_changed(&new.wraps), (!same).then_some(STAGE))
    }

    fn validate(&self) -> Result<(), InvalidValue> {
        self.wraps.validate()?;
        self.grips.validate()
    }

    fn fits(&self, other: &Self) -> bool {
        self.wraps.fits(&other.wraps)
            && self.grips.places.len() == other.grips.places.len()
            && self.grips.laps.len() == other.grips.laps.len()
    }
}
