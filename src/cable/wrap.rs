//! What a path remembers between accepted steps.

use alloc::vec::Vec;

use nalgebra::{Point3, Vector3};

use crate::framework::Result;
use crate::framework::variables::{Check, Variables, Visitor, visit_flag, visit_vector};
use crate::math::{Real, checked_when_read};

/// How the cable lay on one obstacle when it was last committed.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(remote = "Self"))]
pub struct Wrap<T: Real> {
    /// Whether there is anything to remember; before the first accepted step there is not.
    pub known: bool,
    /// Whether the cable touched.
    pub in_contact: bool,
    /// Where it touched down, or, clear of the obstacle, the point of the surface it passed
    /// closest to; in the surface's frame \[m\].
    pub point: Point3<T>,
    /// Its direction there, in the surface's frame.
    pub tangent: Vector3<T>,
    /// The length in contact \[m\].
    pub length: T,
}

/// What a path remembers: one [`Wrap`] per obstacle, in order.
///
/// It decides the class of the path (which side of an obstacle, how many windings) and where the
/// solver starts; within the class the path depends on it by no more than its smoothness.
#[derive(Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Wraps<T: Real> {
    /// One per obstacle.
    pub obstacles: Vec<Wrap<T>>,
}

checked_when_read!(Wrap);

impl<T: Real> Wrap<T> {
    fn validate(&self) -> Result<()> {
        let check = Check::new("cable_path");
        check.finite_vector("wrap.point", &self.point.coords)?;
        check.finite_vector("wrap.tangent", &self.tangent)?;
        check.nonnegative("wrap.length", self.length)
    }
}

impl<T: Real> Default for Wrap<T> {
    fn default() -> Self {
        Self {
            known: false,
            in_contact: false,
            point: Point3::origin(),
            tangent: Vector3::zeros(),
            length: T::zero(),
        }
    }
}

impl<T: Real> Clone for Wraps<T> {
    fn clone(&self) -> Self {
        Self { obstacles: self.obstacles.clone() }
    }

    fn clone_from(&mut self, source: &Self) {
        self.obstacles.clone_from(&source.obstacles);
    }
}

impl<T: Real> Wraps<T> {
    /// Whether every obstacle has been solved for before.
    pub fn is_known(&self) -> bool {
        self.obstacles.iter().all(|wrap| wrap.known)
    }
}

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

    fn validate(&self) -> Result<()> {
        self.obstacles.iter().try_for_each(Wrap::validate)
    }

    fn fits(&self, other: &Self) -> bool {
        self.obstacles.len() == other.obstacles.len()
    }
}
