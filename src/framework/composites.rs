//! Vectors, points, poses, matrices and options as fields of declared structs.

use alloc::vec::Vec;
use core::fmt::Display;

use nalgebra::{Matrix3, Point3, Rotation3, SMatrix, SVector, Scalar, Translation3};

use crate::framework::part::{
    Declared, Entry, Lift, Listed, Nested, Part, RangeCheck, Slot, Value, Visitor, VisitorMut, changed,
};
use crate::framework::{Stage, Variables};
use crate::math::{
    InvalidValue, Number, Pose, Real, SpatialForce, SpatialVelocity, Symmetric6, check, places,
};

const AXES: [&str; 4] = ["x", "y", "z", "w"];
/// Three angles and three translations.
const SIX_AXES: [&str; 6] = ["qx", "qy", "qz", "px", "py", "pz"];

/// Calls `visit` for the components of a vector, in order. Vectors of more than four components, other than six, name
/// them by number.
fn visit_vector<V>(
    field: &Declared<'_>,
    components: impl ExactSizeIterator<Item = V>,
    mut visit: impl FnMut(Entry<'_, V>),
) {
    let (name, count) = (field.name, components.len());
    let names: &[&str] = match count {
        6 => &SIX_AXES,
        1..=4 => &AXES,
        _ => &[],
    };
    for (index, value) in components.enumerate() {
        let component: &dyn Display = names.get(index).map_or(&index, |name| name);
        visit(field.part(format_args!("{name}.{component}"), index, count).number(value));
    }
}

impl<T: Real, const N: usize> Listed<T, ()> for SVector<T, N> {
    fn neutral() -> Self {
        Self::zeros()
    }
    fn visit(&self, field: Declared<'_>, visit: Visitor<'_, T>) {
        visit_vector(&field, self.iter().copied().map(Value::Number), visit);
    }
}

impl<T: Real, const N: usize> Part<T, ()> for SVector<T, N> {
    fn visit_mut(&mut self, field: Declared<'_>, visit: VisitorMut<'_, T>) {
        visit_vector(&field, self.iter_mut().map(Slot::Number), visit);
    }
    fn first_stage_changed(&self, new: &Self, stage: Stage) -> Option<Stage> {
        changed(stage, self, new)
    }
    fn check(&self, name: &'static str, range: RangeCheck<T>) -> Result<(), InvalidValue> {
        self.iter().try_for_each(|&number| range(name, number))
    }
}

/// Vectors, and matrices, which are not listed.
impl<T: Number, S: Scalar, const R: usize, const C: usize> Lift<T, S, ()> for SMatrix<T, R, C> {
    type Lifted = SMatrix<S, R, C>;
    #[inline]
    fn lift(&self, of: &mut impl FnMut(T) -> S) -> SMatrix<S, R, C> {
        self.map(of)
    }
    const COUNT: usize = R * C;
}

/// The unit of an entry that couples two axes. Units are declared in the order: two rotations, a rotation and a
/// translation, two translations.
fn coupled(row: usize, column: usize) -> usize {
    usize::from(row > 2) + usize::from(column > 2)
}

/// Calls `visit` for the entries of a symmetric matrix, in order. A diagonal entry has the name of its axis, and another
/// entry the names of both axes.
fn visit_symmetric<V>(
    field: &Declared<'_>,
    entries: impl Iterator<Item = V>,
    mut visit: impl FnMut(Entry<'_, V>),
) {
    let name = field.name;
    for ((row, column), value) in places().zip(entries) {
        let part = |name| field.part(name, coupled(row, column), 3).number(value);
        if row == column {
            visit(part(format_args!("{name}.{}", SIX_AXES[row])));
        } else {
            visit(part(format_args!("{name}.{}_{}", SIX_AXES[row], SIX_AXES[column])));
        }
    }
}

impl<T: Real> Listed<T, ()> for Symmetric6<T> {
    fn neutral() -> Self {
        Self::zeros()
    }
    fn visit(&self, field: Declared<'_>, visit: Visitor<'_, T>) {
        visit_symmetric(&field, self.entries().iter().copied().map(Value::Number), visit);
    }
}

impl<T: Real> Part<T, ()> for Symmetric6<T> {
    fn visit_mut(&mut self, field: Declared<'_>, visit: VisitorMut<'_, T>) {
        visit_symmetric(&field, self.entries_mut().iter_mut().map(Slot::Number), visit);
    }
    fn first_stage_changed(&self, new: &Self, stage: Stage) -> Option<Stage> {
        changed(stage, self.entries(), new.entries())
    }
    fn check(&self, name: &'static str, range: RangeCheck<T>) -> Result<(), InvalidValue> {
        self.validate().map_err(|error| InvalidValue { name, ..error })?;
        self.entries().iter().try_for_each(|&number| range(name, number))
    }
}

impl<T: Real, S: Real> Lift<T, S, ()> for Symmetric6<T> {
    type Lifted = Symmetric6<S>;
    fn lift(&self, of: &mut impl FnMut(T) -> S) -> Symmetric6<S> {
        self.map(of)
    }
    const COUNT: usize = Self::ENTRIES;
}

impl<T: Real> Listed<T, ()> for Point3<T> {
    fn neutral() -> Self {
        Self::origin()
    }
    fn visit(&self, field: Declared<'_>, visit: Visitor<'_, T>) {
        self.coords.visit(field, visit);
    }
}

impl<T: Real> Part<T, ()> for Point3<T> {
    fn visit_mut(&mut self, field: Declared<'_>, visit: VisitorMut<'_, T>) {
        self.coords.visit_mut(field, visit);
    }
    fn first_stage_changed(&self, new: &Self, stage: Stage) -> Option<Stage> {
        self.coords.first_stage_changed(&new.coords, stage)
    }
    fn check(&self, name: &'static str, range: RangeCheck<T>) -> Result<(), InvalidValue> {
        self.coords.check(name, range)
    }
}

impl<T: Number, S: Scalar> Lift<T, S, ()> for Point3<T> {
    type Lifted = Point3<S>;
    #[inline]
    fn lift(&self, of: &mut impl FnMut(T) -> S) -> Point3<S> {
        self.map(of)
    }
    const COUNT: usize = 3;
}

/// The nine entries `R.xx`, `R.xy`, … of the rotation, row by row and without a unit, and the vector `p` in the unit of
/// the field. Entries are bit-identical after saving and restoring, which angles would not be. As a variable the pose is
/// checked to be finite and its rotation to be orthonormal.
impl<T: Real> Listed<T, ()> for Pose<T> {
    fn neutral() -> Self {
        Self::identity()
    }
    fn visit(&self, field: Declared<'_>, visit: Visitor<'_, T>) {
        let rows = self.rotation.matrix().transpose();
        visit_rotation(&field, rows.iter().copied().map(Value::Number), &mut *visit);
        let name = field.name;
        self.translation.vector.visit(field.child(format_args!("{name}.p"), field.units), visit);
    }
}

/// Calls `visit` for the entries of a rotation, row by row.
fn visit_rotation<V>(
    field: &Declared<'_>,
    entries: impl Iterator<Item = V>,
    mut visit: impl FnMut(Entry<'_, V>),
) {
    let name = field.name;
    for (place, value) in entries.enumerate() {
        let [i, j] = [place / 3, place % 3].map(|axis| AXES[axis]);
        visit(field.child(format_args!("{name}.R.{i}{j}"), &[]).number(value));
    }
}

impl<T: Real> Part<T, ()> for Pose<T> {
    fn visit_mut(&mut self, field: Declared<'_>, visit: VisitorMut<'_, T>) {
        let mut rows: Matrix3<T> = self.rotation.matrix().transpose();
        visit_rotation(&field, rows.iter_mut().map(Slot::Number), &mut *visit);
        self.rotation = Rotation3::from_matrix_unchecked(rows.transpose());
        let name = field.name;
        self.translation.vector.visit_mut(field.child(format_args!("{name}.p"), field.units), visit);
    }
    fn first_stage_changed(&self, new: &Self, stage: Stage) -> Option<Stage> {
        let [present, new] = [self, new].map(|X| X.rotation.matrix().iter().chain(&X.translation.vector));
        changed(stage, present, new)
    }
    fn check(&self, name: &'static str, _: RangeCheck<T>) -> Result<(), InvalidValue> {
        check::pose(name, self)
    }
}

impl<T: Real, S: Real> Lift<T, S, ()> for Pose<T> {
    type Lifted = Pose<S>;
    fn lift(&self, of: &mut impl FnMut(T) -> S) -> Pose<S> {
        let R = self.rotation.matrix().transpose().map(&mut *of).transpose();
        let p = Translation3::from(self.translation.vector.map(of));
        Pose::from_parts(p, Rotation3::from_matrix_unchecked(R))
    }
    const COUNT: usize = 9 + 3;
}

/// The vectors `angular` and `linear`.
impl<T: Real> Listed<T, ()> for SpatialVelocity<T> {
    fn neutral() -> Self {
        Self::zero()
    }
    fn visit(&self, field: Declared<'_>, visit: Visitor<'_, T>) {
        let name = field.name;
        self.angular.visit(field.part(format_args!("{name}.angular"), 0, 2), visit);
        self.linear.visit(field.part(format_args!("{name}.linear"), 1, 2), visit);
    }
}

/// The vectors `torque` and `force`.
impl<T: Real> Listed<T, ()> for SpatialForce<T> {
    fn neutral() -> Self {
        Self::zero()
    }
    fn visit(&self, field: Declared<'_>, visit: Visitor<'_, T>) {
        let name = field.name;
        self.torque.visit(field.part(format_args!("{name}.torque"), 0, 2), visit);
        self.force.visit(field.part(format_args!("{name}.force"), 1, 2), visit);
    }
}

/// The flag `known` and the scalars of the value; neutral scalars for `None`, so that the names are the same. To write a
/// scalar by name, set the flag first.
impl<T: Real, K, V: Listed<T, K>> Listed<T, (K,)> for Option<V> {
    fn neutral() -> Self {
        None
    }
    fn visit(&self, field: Declared<'_>, visit: Visitor<'_, T>) {
        let name = field.name;
        visit(field.child(format_args!("{name}.known"), &[]).flag(Value::Flag(self.is_some())));
        match self {
            Some(value) => value.visit(field, visit),
            None => V::neutral().visit(field, visit),
        }
    }
}

impl<T: Real, K, V: Part<T, K>> Part<T, (K,)> for Option<V> {
    const OWN_STAGE: Option<Stage> = V::OWN_STAGE;

    fn visit_mut(&mut self, field: Declared<'_>, visit: VisitorMut<'_, T>) {
        let name = field.name;
        let mut is_known = self.is_some();
        visit(field.child(format_args!("{name}.known"), &[]).flag(Slot::Flag(&mut is_known)));
        let mut value = self.take().unwrap_or_else(V::neutral);
        value.visit_mut(field, visit);
        *self = is_known.then_some(value);
    }
    fn first_stage_changed(&self, new: &Self, stage: Stage) -> Option<Stage> {
        match (self, new) {
            (Some(present), Some(new)) => present.first_stage_changed(new, stage),
            (present, new) => (present.is_some() || new.is_some()).then_some(stage),
        }
    }
    fn check(&self, name: &'static str, range: RangeCheck<T>) -> Result<(), InvalidValue> {
        self.as_ref().map_or(Ok(()), |value| value.check(name, range))
    }
}

/// The numbers of `None` also have places.
impl<T: Number, S, K, V: Lift<T, S, K>> Lift<T, S, (K,)> for Option<V> {
    type Lifted = Option<V::Lifted>;
    #[inline]
    fn lift(&self, of: &mut impl FnMut(T) -> S) -> Option<V::Lifted> {
        if self.is_none() {
            (0..V::COUNT).for_each(|_| drop(of(T::zero())));
        }
        self.as_ref().map(|value| value.lift(of))
    }
    const COUNT: usize = V::COUNT;
}

/// Lists of members of one kind, such as `friction[1]`. The length is part of the layout: a list of another length does
/// not fit. A list has no fixed number of numbers, so laws do not take it.
macro_rules! lists {
    ($([$($generics:tt)*] $Member:ty, $Kind:ty;)*) => {$(
        impl<T: Real, $($generics)*> Listed<T, [$Kind; 1]> for Vec<$Member> {
            fn neutral() -> Self {
                Self::new()
            }
            fn visit(&self, field: Declared<'_>, visit: Visitor<'_, T>) {
                let list = field.name;
                for (i, member) in self.iter().enumerate() {
                    Listed::<T, $Kind>::visit(member, field.child(format_args!("{list}[{i}]"), field.units), visit);
                }
            }
        }

        impl<T: Real, $($generics)*> Part<T, [$Kind; 1]> for Vec<$Member> {
            const OWN_STAGE: Option<Stage> = <$Member as Part<T, $Kind>>::OWN_STAGE;

            fn visit_mut(&mut self, field: Declared<'_>, visit: VisitorMut<'_, T>) {
                let list = field.name;
                for (i, member) in self.iter_mut().enumerate() {
                    Part::<T, $Kind>::visit_mut(member, field.child(format_args!("{list}[{i}]"), field.units), visit);
                }
            }
            fn first_stage_changed(&self, new: &Self, stage: Stage) -> Option<Stage> {
                let lengths = (self.len() != new.len()).then_some(stage);
                let members = self.iter().zip(new);
                members.filter_map(|(a, b)| Part::<T, $Kind>::first_stage_changed(a, b, stage)).chain(lengths).min()
            }
            fn fits(&self, other: &Self) -> bool {
                self.len() == other.len() && self.iter().zip(other).all(|(a, b)| Part::<T, $Kind>::fits(a, b))
            }
            fn check(&self, name: &'static str, range: RangeCheck<T>) -> Result<(), InvalidValue> {
                self.iter().try_for_each(|member| Part::<T, $Kind>::check(member, name, range))
            }
        }
    )*};
}

lists! {
    [] T, T;
    [V: Variables<T> + Default] V, Nested;
}

impl<T: Number, S> Lift<T, S, [T; 1]> for Vec<T> {
    type Lifted = Vec<S>;
    fn lift(&self, of: &mut impl FnMut(T) -> S) -> Vec<S> {
        self.iter().map(|&number| of(number)).collect()
    }
    const COUNT: usize = 0;
}

impl<T, S, V: Lift<T, S, Nested>> Lift<T, S, [Nested; 1]> for Vec<V> {
    type Lifted = Vec<V::Lifted>;
    fn lift(&self, of: &mut impl FnMut(T) -> S) -> Vec<V::Lifted> {
        self.iter().map(|member| member.lift(of)).collect()
    }
    const COUNT: usize = 0;
}
