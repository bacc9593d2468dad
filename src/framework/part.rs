//! Fields of declared structs: the scalars in them, their names and units.

use core::fmt::Arguments;

use crate::framework::{Stage, Variables};
use crate::math::{InvalidValue, Number, Real, check, have_same_bits};

/// A number or a flag: by value, for reading, or as a [`Slot`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<T, F = bool> {
    /// A number.
    Number(T),
    /// A flag.
    Flag(F),
}

/// The place of a number or a flag, for writing.
pub type Slot<'a, T> = Value<&'a mut T, &'a mut bool>;

impl<T: Real> Value<T> {
    /// The number; 1 or 0 for a flag.
    pub fn number(self) -> T {
        match self {
            Self::Number(number) => number,
            Self::Flag(true) => T::one(),
            Self::Flag(false) => T::zero(),
        }
    }
}

impl<T: Real> Slot<'_, T> {
    /// Writes the number, or 1 or 0 for a flag. Returns whether this changed it; `true` for scalars other than `f64`
    /// and `f32`, for which this is not known.
    ///
    /// # Errors
    /// If the slot is a flag and the number is neither 0 nor 1.
    pub fn write(self, name: &'static str, number: T) -> Result<bool, InvalidValue> {
        Ok(match self {
            Self::Number(slot) => !have_same_bits(core::mem::replace(slot, number), number),
            Self::Flag(slot) => {
                let flag = check::flag(name, number)?;
                core::mem::replace(slot, flag) != flag
            }
        })
    }
}

/// One scalar of a struct of variables or results: its name, unit and stage, and its [`Value`] or [`Slot`].
#[derive(Debug, Clone, Copy)]
pub struct Entry<'a, V> {
    /// The name.
    pub name: Arguments<'a>,
    /// The unit, such as `N·s/m`: `1` for a dimensionless number, empty for a flag or if the unit is not known.
    pub unit: &'static str,
    /// For a variable, the first stage that reads it; writing it drops the state below that stage. For a result, the
    /// stage at which it is known.
    pub stage: Stage,
    /// The value, or the place to write it.
    pub value: V,
}

impl<V> Entry<'_, V> {
    /// The same under another name.
    pub fn renamed(self, name: Arguments<'_>) -> Entry<'_, V> {
        Entry { name, unit: self.unit, stage: self.stage, value: self.value }
    }
}

/// Called with each scalar and its value.
pub type Visitor<'v, T> = &'v mut dyn FnMut(Entry<'_, Value<T>>);
/// Called with each scalar and its place.
pub type VisitorMut<'v, T> = &'v mut dyn FnMut(Entry<'_, Slot<'_, T>>);

/// The declaration of a field, or of a part of one: its name, units and stage.
#[derive(Debug, Clone, Copy)]
pub struct Declared<'a> {
    /// The name.
    pub name: Arguments<'a>,
    /// The units: none for a dimensionless field, one, or one for each of several parts of equal length.
    pub units: &'static [&'static str],
    /// The stage.
    pub stage: Stage,
}

impl Declared<'_> {
    /// A part with a name and units of its own.
    pub fn child<'b>(&self, name: Arguments<'b>, units: &'static [&'static str]) -> Declared<'b> {
        Declared { name, units, stage: self.stage }
    }

    /// One of `count` equal parts, with a name of its own and the unit assigned to it.
    pub fn part<'b>(&self, name: Arguments<'b>, part: usize, count: usize) -> Declared<'b> {
        let unit = part * self.units.len() / count;
        self.child(name, self.units.get(unit..=unit).unwrap_or_default())
    }
}

impl<'a> Declared<'a> {
    /// A number.
    pub fn number<V>(self, value: V) -> Entry<'a, V> {
        Entry { name: self.name, unit: self.units.first().unwrap_or(&"1"), stage: self.stage, value }
    }

    /// A flag.
    pub fn flag<V>(self, value: V) -> Entry<'a, V> {
        Entry { name: self.name, unit: "", stage: self.stage, value }
    }
}

/// A function that checks the range of a number and names the number in its error: one of [`check`](crate::check), or one
/// that refuses none.
pub type RangeCheck<T> = fn(&'static str, T) -> Result<(), InvalidValue>;

/// A declared struct within another, as a kind of [`Listed`] and [`Part`].
#[derive(Debug)]
pub enum Nested {}

/// A field, of a struct that [`results!`](crate::results!) or [`variables!`](crate::variables!) declares, whose scalars
/// are listed by name.
///
/// `Kind` is inferred. It distinguishes a scalar from types made of scalars, which the compiler cannot do: `T` for the
/// scalar itself, [`Nested`] for a struct that [`variables!`](crate::variables!) declares, `()` for anything else,
/// `(Kind,)` for an `Option`, `[Kind; 1]` for a `Vec`.
pub trait Listed<T: Real, Kind>: Sized {
    /// The value of a field without a default.
    fn neutral() -> Self;

    /// Calls `visit` for each scalar, under names that begin with that of the field.
    fn visit(&self, field: Declared<'_>, visit: Visitor<'_, T>);
}

/// A field of a struct that [`variables!`](crate::variables!) declares.
pub trait Part<T: Real, Kind>: Listed<T, Kind> {
    /// The first stage that reads one of its numbers, if the type states it.
    const OWN_STAGE: Option<Stage> = None;

    /// The mutable counterpart of [`visit`](Listed::visit), with the same order and names.
    fn visit_mut(&mut self, field: Declared<'_>, visit: VisitorMut<'_, T>);

    /// The first stage that reads a scalar that differs in `new`, for a field of this stage; see
    /// [`Variables::first_stage_changed`](crate::Variables::first_stage_changed).
    fn first_stage_changed(&self, new: &Self, stage: Stage) -> Option<Stage>;

    /// Whether `other` has the same scalars under the same names.
    fn fits(&self, _other: &Self) -> bool {
        true
    }

    /// Checks each number by its range, and the requirements of the type.
    ///
    /// # Errors
    /// [`InvalidValue`] for a value out of range, under the name of the field.
    fn check(&self, _name: &'static str, _range: RangeCheck<T>) -> Result<(), InvalidValue> {
        Ok(())
    }
}

/// The stage of a field whose bits are not all equal, or not known, as for numbers other than `f64` and `f32`.
pub(super) fn changed<'a, T: Real>(
    stage: Stage,
    present: impl IntoIterator<Item = &'a T>,
    new: impl IntoIterator<Item = &'a T>,
) -> Option<Stage> {
    let are_same = present.into_iter().zip(new).all(|(a, b)| have_same_bits(*a, *b));
    (!are_same).then_some(stage)
}

/// A field over numbers `T` that can also be over numbers `S`: another scalar, or dual numbers.
pub trait Lift<T, S, Kind> {
    /// The field with such numbers.
    type Lifted;
    /// The field with every number replaced, in the order in which they are listed.
    fn lift(&self, of: &mut impl FnMut(T) -> S) -> Self::Lifted;
    /// The number of numbers.
    const COUNT: usize;
}

impl<T: Number, S> Lift<T, S, T> for T {
    type Lifted = S;
    #[inline]
    fn lift(&self, of: &mut impl FnMut(T) -> S) -> S {
        of(*self)
    }
    const COUNT: usize = 1;
}

impl<T, S> Lift<T, S, ()> for bool {
    type Lifted = Self;
    #[inline]
    fn lift(&self, _: &mut impl FnMut(T) -> S) -> Self {
        *self
    }
    const COUNT: usize = 0;
}

impl<T: Real> Listed<T, T> for T {
    fn neutral() -> Self {
        T::zero()
    }
    fn visit(&self, field: Declared<'_>, visit: Visitor<'_, T>) {
        visit(field.number(Value::Number(*self)));
    }
}

impl<T: Real> Part<T, T> for T {
    fn visit_mut(&mut self, field: Declared<'_>, visit: VisitorMut<'_, T>) {
        visit(field.number(Slot::Number(self)));
    }
    fn first_stage_changed(&self, new: &Self, stage: Stage) -> Option<Stage> {
        changed(stage, [self], [new])
    }
    fn check(&self, name: &'static str, range: RangeCheck<T>) -> Result<(), InvalidValue> {
        range(name, *self)
    }
}

impl<T: Real> Listed<T, ()> for bool {
    fn neutral() -> Self {
        false
    }
    fn visit(&self, field: Declared<'_>, visit: Visitor<'_, T>) {
        visit(field.flag(Value::Flag(*self)));
    }
}

impl<T: Real> Part<T, ()> for bool {
    fn visit_mut(&mut self, field: Declared<'_>, visit: VisitorMut<'_, T>) {
        visit(field.flag(Slot::Flag(self)));
    }
    fn first_stage_changed(&self, new: &Self, stage: Stage) -> Option<Stage> {
        (self != new).then_some(stage)
    }
}

/// A count.
impl<T: Real> Listed<T, ()> for usize {
    fn neutral() -> Self {
        0
    }
    fn visit(&self, field: Declared<'_>, visit: Visitor<'_, T>) {
        let count = u32::try_from(*self).unwrap_or(u32::MAX);
        visit(field.number(Value::Number(T::lit(f64::from(count)))));
    }
}

/// The scalars of a declared struct, such as `anchors[0].point.x` of a member `anchors[0]`, with their own units and
/// stages; under their own names if the name of the field is empty.
impl<T: Real, V: Variables<T> + Default> Listed<T, Nested> for V {
    fn neutral() -> Self {
        Self::default()
    }
    fn visit(&self, field: Declared<'_>, visit: Visitor<'_, T>) {
        Variables::visit(self, &mut |entry| within(&field, entry, visit));
    }
}

/// Calls `visit` with an entry of a declared struct, under its name within that of the field.
fn within<V>(field: &Declared<'_>, entry: Entry<'_, V>, visit: &mut dyn FnMut(Entry<'_, V>)) {
    if field.name.as_str() == Some("") {
        return visit(entry);
    }
    let (outer, name) = (field.name, entry.name);
    visit(entry.renamed(format_args!("{outer}.{name}")));
}

impl<T: Real, V: Variables<T> + Default> Part<T, Nested> for V {
    const OWN_STAGE: Option<Stage> = V::FIRST_STAGE;

    fn visit_mut(&mut self, field: Declared<'_>, visit: VisitorMut<'_, T>) {
        Variables::visit_mut(self, &mut |entry| within(&field, entry, visit));
    }
    fn first_stage_changed(&self, new: &Self, _: Stage) -> Option<Stage> {
        Variables::first_stage_changed(self, new)
    }
    fn fits(&self, other: &Self) -> bool {
        Variables::fits(self, other)
    }
    fn check(&self, _: &'static str, _: RangeCheck<T>) -> Result<(), InvalidValue> {
        self.validate()
    }
}
