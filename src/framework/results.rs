//! Results of elements, the table that declares them, and reading them by name.

use alloc::string::ToString;
use alloc::vec::Vec;
use core::fmt::Debug;

use nalgebra::{Point3, SVector};

use crate::framework::element_variables::{find_number, is_named};
use crate::framework::part::{Entry, Value, Visitor};
use crate::framework::slots::{Group, Results};
use crate::framework::{ElementId, Error, ForceElement, PositionView, Stage};
use crate::math::{Pose, Real, SpatialForce, SpatialVelocity};

/// A struct of results that the state keeps for each element at one stage.
///
/// Its buffers are reused from call to call.
///
/// [`results!`](crate::results!) declares such a struct and implements this trait. Use `()` for a stage without results.
/// A vector, point, pose, spatial velocity or force, an `f64` or an `f32` can be the only result of a stage, and is
/// listed under the name of the stage: `pull[0].position.x`. An `Option` or a `Vec` is not listed.
pub trait Cache<T: Real>: Clone + Debug + Send + Sync + 'static {
    /// The value for "not computed", which a disabled element has.
    fn neutral() -> Self;

    /// Calls `visit` once for each result that can be read by name, always with the same names in the same order. The
    /// default lists none.
    fn visit(&self, _stage: Stage, _visit: Visitor<'_, T>) {}

    /// The results named `potential_energy`, `power_dissipated` and `power_supplied`. They are those of the element
    /// unless it defines the methods of these names. By default there are none.
    #[inline]
    fn energies(&self) -> [Option<T>; 3] {
        [None; 3]
    }
}

/// Declares a struct of results and implements [`Cache`](crate::Cache) for it. Each field is declared once, with its
/// documentation, type and unit.
///
/// ```text
/// /// Documentation.
/// pub name: type ["unit"] = default;
/// ```
///
/// A field with a unit can be read by name, as with [`PositionView::result`](crate::PositionView::result). Its type is
/// a scalar `T`, a `bool`, a `usize`, a vector, a point, a pose, a spatial velocity or force, an `Option` of one of
/// these, or any type with [`Listed`](crate::variables::Listed). The unit is written as in
/// [`variables!`](crate::variables!), and added to the documentation: `["1"]` for a dimensionless number, `[]` for a
/// flag. Names must be unique among all results of an element, and must not change. Lists whose length changes, such as
/// the contacts of a foundation, have only typed access.
///
/// Fields named `potential_energy`, `power_dissipated` and `power_supplied`, of type `T`, are the energy and powers of the
/// element, unless it defines the methods of [`ForceElement`](crate::ForceElement) of these names.
///
/// A field without a unit is not listed, and may be of any type with `Default`: a buffer, or data that only the element
/// itself reads. A default is needed only if it differs from the neutral value (zero, the origin, the identity, `None`).
///
/// The struct gets `Default`, `Debug` and `Clone`; with `#[derive(Copy)]` right after its documentation, `Copy`.
/// Otherwise it is cloned field by field, so that `clone_from` keeps buffers.
///
/// # Example: the results of a spring
///
/// ```
/// use force_elements::nalgebra::Vector3;
/// use force_elements::results;
///
/// results! {
///     /// The pull of the spring.
///     #[derive(Copy)]
///     pub struct Pull<T> {
///         /// Its length.
///         pub length: T ["m"];
///         /// The force on the second body, in Ground.
///         pub force_G: Vector3<T> ["N"];
///         /// Whether it is taut.
///         pub is_taut: bool [];
///     }
/// }
///
/// assert_eq!(Pull::<f64>::default().force_G, Vector3::zeros());
/// ```
#[macro_export]
macro_rules! results {
    (
        $(#[$($meta:tt)*])*
        $vis:vis struct $name:ident<T> {
            $(
                $(#[$field_meta:meta])*
                $field_vis:vis $field:ident : $type:ty $([$($unit:literal $(, $more:literal)*)?])?
                    $(= $default:expr)? ;
            )*
        }
    ) => {
        $crate::variables! { @struct []
            $(#[$($meta)*])*
            $vis struct $name<T> {
                $(
                    $(#[$field_meta])*
                    $($(
                        #[doc = ""]
                        #[doc = concat!("Unit: ", $unit, $(", ", $more,)* ".")]
                    )?)?
                    $field_vis $field: $type;
                )*
            }
        }

        impl<T: $crate::Real> Default for $name<T> {
            fn default() -> Self {
                Self { $($field: $crate::results!(@default T ($([$($unit)?])?) $($default)?),)* }
            }
        }

        impl<T: $crate::Real> $crate::Cache<T> for $name<T> {
            fn neutral() -> Self {
                Self::default()
            }

            fn visit(&self, stage: $crate::Stage, visit: $crate::variables::Visitor<'_, T>) {
                // A struct may list nothing.
                let _ = (stage, &visit);
                $($($crate::variables::Listed::<T, _>::visit(
                    &self.$field,
                    $crate::variables::Declared {
                        name: format_args!(stringify!($field)),
                        units: &[$($unit $(, $more)*)?],
                        stage,
                    },
                    visit,
                );)?)*
            }

            #[inline]
            fn energies(&self) -> [Option<T>; 3] {
                let energies = &mut [None; 3];
                $($crate::results!(@energy energies self $field);)*
                *energies
            }
        }
    };
    (@energy $energies:ident $self:ident potential_energy) => { $energies[0] = Some($self.potential_energy) };
    (@energy $energies:ident $self:ident power_dissipated) => { $energies[1] = Some($self.power_dissipated) };
    (@energy $energies:ident $self:ident power_supplied) => { $energies[2] = Some($self.power_supplied) };
    (@energy $energies:ident $self:ident $other:ident) => {};
    (@default $T:ident ($($unit:tt)?) $default:expr) => { <$T as $crate::Real>::lit($default) };
    (@default $T:ident ($unit:tt)) => { $crate::variables::Listed::<$T, _>::neutral() };
    (@default $T:ident ()) => { Default::default() };
}

impl<T: Real> Cache<T> for () {
    fn neutral() {}
}

impl<T: Real, C: Clone + Debug + Send + Sync + 'static> Cache<T> for Option<C> {
    fn neutral() -> Self {
        None
    }
}

impl<T: Real, C: Clone + Debug + Send + Sync + 'static> Cache<T> for Vec<C> {
    fn neutral() -> Self {
        Self::new()
    }
}

/// Implements [`Cache`] for types that can be the only result of a stage; an empty unit means that it is not known.
macro_rules! whole {
    ($([$($parameter:tt)*] $T:ty, $type:ty, $units:expr;)*) => {$(
        impl<$($parameter)*> $crate::framework::Cache<$T> for $type {
            fn neutral() -> Self {
                $crate::framework::variables::Listed::<$T, _>::neutral()
            }

            fn visit(
                &self,
                stage: $crate::framework::Stage,
                visit: $crate::framework::variables::Visitor<'_, $T>,
            ) {
                let name = match stage {
                    $crate::framework::Stage::Position => "position",
                    $crate::framework::Stage::Velocity => "velocity",
                    _ => "dynamics",
                };
                let (name, units) = (format_args!("{name}"), &$units);
                let declared = $crate::framework::variables::Declared { name, units, stage };
                $crate::framework::variables::Listed::<$T, _>::visit(self, declared, visit);
            }
        }
    )*};
}

pub(crate) use whole;

whole! {
    [] f64, f64, [""];
    [] f32, f32, [""];
    [T: Real, const N: usize] T, SVector<T, N>, [""];
    [T: Real] T, Point3<T>, ["m"];
    [T: Real] T, Pose<T>, ["m"];
    [T: Real] T, SpatialVelocity<T>, ["rad/s", "m/s"];
    [T: Real] T, SpatialForce<T>, ["N·m", "N"];
}

/// The results of every element at Dynamics stage, with units, unless the element has fields of these names.
const OF_EVERY_ELEMENT: [(&str, &str); 3] =
    [("potential_energy", "J"), ("power_dissipated", "W"), ("power_absorbed", "W")];

/// For each of these results, whether elements of this type have a result of that name.
pub(crate) fn has_own<T: Real, E: ForceElement<T>>() -> [bool; 3] {
    let mut has_own = [false; 3];
    Results::<T, E>::neutral().visit(&mut |entry| {
        for (own, (name, _)) in has_own.iter_mut().zip(OF_EVERY_ELEMENT) {
            *own |= is_named(entry.name, name);
        }
    });
    has_own
}

impl<T: Real> PositionView<'_, T> {
    /// The result of this name, such as `exponential_spring[3].friction_force_P.x`; for a flag, 1 or 0.
    ///
    /// Results of the stage of the view and earlier ones can be read. At Dynamics stage every element has
    /// `potential_energy`, `power_dissipated` and `power_absorbed`; a field of that name among its results takes
    /// precedence. Lists whose length changes, such as the contacts of a foundation or the segments of a cable, are read
    /// through [`of`](Self::of). A disabled element has defaults. Nothing is allocated.
    ///
    /// # Errors
    /// [`Error::NoSuchResult`] if no result has this name at the stage of the view.
    pub fn result(&self, name: &str) -> Result<T, Error> {
        let no_such = |stage| Error::NoSuchResult { name: name.to_string(), stage };
        let (id, field) = self.state.find(name).ok_or_else(|| no_such(None))?;
        match find_number(field, |visit| self.visit_all(id, visit)) {
            Some((stage, value)) if stage <= self.results => Ok(value),
            beyond => Err(no_such(beyond.map(|(stage, _)| stage))),
        }
    }

    /// Calls `visit` once for each [result](Self::result), with its full name, unit, stage and value, in the same order
    /// for all states of a system. A vector among the results of a user's element is visited with the members that it
    /// has. Nothing is allocated.
    pub fn visit_results(&self, visit: Visitor<'_, T>) {
        for id in self.system.elements() {
            self.visit_known(id, &mut |entry| {
                let field = entry.name;
                visit(entry.renamed(format_args!("{id}.{field}")));
            });
        }
    }

    /// Calls `visit` for the results of one element, under their names within it, in the order of
    /// [`visit_results`](Self::visit_results).
    ///
    /// # Errors
    /// [`Error::NoSuchElement`] if the system does not have it.
    pub fn visit_results_of(
        &self,
        element: impl Into<ElementId>,
        visit: Visitor<'_, T>,
    ) -> Result<(), Error> {
        self.visit_known(self.state.check(element.into())?, visit);
        Ok(())
    }

    /// The element of the result of this name, and the place of the result among those that
    /// [`visit_results_of`](Self::visit_results_of) visits, for reading it in many states of the system without comparing
    /// names. Elements of this crate have the same places in all states. So do a user's elements, unless a vector whose
    /// length varies precedes the result.
    ///
    /// # Errors
    /// As [`result`](Self::result).
    pub fn place_of_result(&self, name: &str) -> Result<(ElementId, usize), Error> {
        self.result(name)?;
        let (id, field) =
            self.state.find(name).ok_or(Error::NoSuchResult { name: name.to_string(), stage: None })?;
        let (mut place, mut is_found) = (0, false);
        self.visit_known(id, &mut |entry| {
            is_found |= is_named(entry.name, field);
            place += usize::from(!is_found);
        });
        Ok((id, place))
    }

    /// Calls `visit` for the results of one element at the stage of the view and earlier ones.
    fn visit_known(&self, id: ElementId, visit: Visitor<'_, T>) {
        self.visit_all(id, &mut |entry| {
            if entry.stage <= self.results {
                visit(entry);
            }
        });
    }

    /// Calls `visit` for each result of one element, at all stages, under its name within the element. Results beyond the
    /// stage of the view have no meaningful value.
    fn visit_all(&self, id: ElementId, visit: Visitor<'_, T>) {
        let Self { system, state, results } = *self;
        let (kind, place) = (id.kind(), id.place());
        state.kinds[kind].visit(place, Group::Results, visit);
        let own = state.kinds[kind].roster().has_own;
        let mut values = [T::zero(); 3];
        if results == Stage::Dynamics {
            let [stored, dissipated] = system.energies(state, id).unwrap_or_else(|_| [T::zero(); 2]);
            values = [stored, dissipated, state.continuous.rates[state.slot_at(kind, place)]];
        }
        for ((own, (name, unit)), value) in own.into_iter().zip(OF_EVERY_ELEMENT).zip(values) {
            if !own {
                let (stage, value) = (Stage::Dynamics, Value::Number(value));
                visit(Entry { name: format_args!("{name}"), unit, stage, value });
            }
        }
    }
}
