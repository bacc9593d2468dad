//! A law of the force of one spring of a bed.

use core::fmt::Debug;

use nalgebra::Vector3;

use super::LawVariables;
use crate::framework::ElementResult;
use crate::framework::variables::{Numbers as _, Over};
use crate::math::{Number, Real, dot};

/// A law of the force of one spring of a bed: equations over any number.
///
/// [`OnBed`](super::OnBed) makes an element of it, with one spring at the centroid of every face of a mesh.
///
/// # Requirements
///
/// - It depends only on its arguments, and on data in `self` that never changes.
/// - The force does work at the rate `−d(potential_energy)/dt − power_dissipated + power_supplied`, except for what is lost
///   where memory changes: by friction that slips, and where contact ends. The energy ledger finds that loss.
///
/// # Example: the brush of a tyre
///
/// The tread is a bed of bristles. Each one is pressed by its depth, and bends along the road until it slips.
///
/// ```
/// use force_elements::laws::{BedLaw, OnBed, Push, Touch};
/// use force_elements::nalgebra::Vector3;
/// use force_elements::shapes::{HalfSpace, TriangleMesh};
/// use force_elements::*;
///
/// variables! {
///     /// Parameters of a tread.
///     #[derive(Copy, Lift)]
///     pub struct Tread<T> {
///         /// Stiffness across the road per area.
///         pub stiffness: T ["N/m³"] = 2e7, positive => Dynamics;
///         /// Stiffness along the road per area.
///         pub shear: T ["N/m³"] = 1e7, positive => Dynamics;
///         /// Coefficient of friction.
///         pub friction: T = 0.9, nonnegative => Dynamics;
///     }
/// }
///
/// variables! {
///     /// Where a bristle stands on the road.
///     #[derive(Copy, Lift)]
///     pub struct Tip<T> {
///         /// In frame F.
///         pub p_F: Vector3<T> ["m"], finite => Dynamics;
///     }
/// }
///
/// #[derive(Debug, Clone)]
/// struct Brush;
///
/// impl Brush {
///     /// How far a bristle is bent along the road, and by which factor it is shortened where it slips.
///     fn bend<S: Number>(p: &Tread<S>, m: &Tip<S>, at: &Touch<S>) -> (Vector3<S>, S) {
///         let bend = at.along(at.p_FB - m.p_F);
///         let (length, most) = (at.norm(bend), p.friction * p.stiffness * at.depth / p.shear);
///         (bend, if length > most { most / length } else { S::lit(1.0) })
///     }
/// }
///
/// impl<T: Real> BedLaw<T> for Brush {
///     const KIND: &'static str = "brush";
///     type Parameters = Tread<T>;
///     type Memory = Tip<T>;
///
///     fn evaluate<S: Number<Scalar = T>>(&self, p: &Tread<S>, m: &Tip<S>, at: &Touch<S>) -> ElementResult<Push<S>> {
///         let (bend, share) = Self::bend(p, m, at);
///         let (across, along) = (p.stiffness * at.area, p.shear * at.area * share);
///         let length = at.norm(bend);
///         Ok(Push {
///             force: at.n_F.map(|n| n * across * at.depth) - bend.map(|b| b * along),
///             potential_energy: S::lit(0.5) * across * at.depth * at.depth
///                 + S::lit(0.5) * along * share * length * length,
///             ..Push::zero()
///         })
///     }
///
///     fn commit<S: Number<Scalar = T>>(&self, p: &Tread<S>, m: &Tip<S>, at: &Touch<S>) -> ElementResult<Tip<S>> {
///         let (bend, share) = Self::bend(p, m, at);
///         let slips = share < S::lit(1.0);
///         Ok(if slips { Tip { p_F: at.p_FB - bend.map(|b| b * share) } } else { *m })
///     }
///
///     fn touch<S: Number<Scalar = T>>(&self, _: &Tread<S>, at: &Touch<S>) -> ElementResult<Tip<S>> {
///         Ok(Tip { p_F: at.p_FB })
///     }
/// }
///
/// let mut system = ForceSystem::<f64>::new();
/// let wheel = system.add_body();
/// let tread = TriangleMesh::sphere(0.3, 64)?;
/// let road = Frame::ground(Pose::identity());
/// let brush = OnBed::new(Brush, road, HalfSpace::BelowZ, Frame::of(wheel), tread, Tread::default())?;
/// let brush = system.add(brush)?;
///
/// let mut state = system.default_state();
/// for y in [0.0, 1e-4, 2e-4] {
///     state.set_pose(wheel, Pose::translation(0.0, y, 0.29))?;
///     system.realize_dynamics(&mut state)?;
///     system.accept_step(&mut state)?;
/// }
/// let dynamics = system.realize_dynamics(&mut state)?;
/// let force = dynamics.body_force(wheel).force;
/// // A layer of the area 2πRδ, of which most sticks: k_t·A·y, and k·πRδ² across the road.
/// let area = 2.0 * std::f64::consts::PI * 0.3 * 0.01;
/// assert!((force.y + 1e7 * area * 2e-4).abs() < 0.05 * force.y.abs());
/// assert!((force.z - 2e7 * area * 0.005).abs() < 0.05 * force.z);
///
/// let mut linearization = Linearization::of(Scope { variables: true, commit: true });
/// system.linearize(&state, &mut linearization)?;
/// assert!(linearization.element(brush).is_exact());
/// # Ok::<(), Error>(())
/// ```
pub trait BedLaw<T: Real>: Debug + Send + Sync + 'static {
    /// As [`FrameLaw::KIND`](super::FrameLaw::KIND).
    const KIND: &'static str;

    /// As [`FrameLaw::Parameters`](super::FrameLaw::Parameters), of all springs.
    type Parameters: LawVariables<T>;
    /// As [`FrameLaw::Memory`](super::FrameLaw::Memory), of each spring.
    type Memory: LawVariables<T>;

    /// The force of a displaced spring on its base, with energy and powers.
    ///
    /// # Errors
    /// Those of the law.
    fn evaluate<S: Number<Scalar = T>>(
        &self,
        parameters: &Over<T, Self::Parameters, S>,
        memory: &Over<T, Self::Memory, S>,
        at: &Touch<S>,
    ) -> ElementResult<Push<S>>;

    /// The memory of a displaced spring after an accepted step. By default it stays as it is. A spring that is not
    /// displaced forgets.
    ///
    /// # Errors
    /// Those of the law.
    fn commit<S: Number<Scalar = T>>(
        &self,
        _parameters: &Over<T, Self::Parameters, S>,
        memory: &Over<T, Self::Memory, S>,
        _at: &Touch<S>,
    ) -> ElementResult<Over<T, Self::Memory, S>> {
        Ok(memory.clone())
    }

    /// The memory of a spring that was not displaced at the last commit, for example a tip under its base. Unless
    /// overridden, the default of the memory.
    ///
    /// # Errors
    /// Those of the law.
    fn touch<S: Number<Scalar = T>>(
        &self,
        _parameters: &Over<T, Self::Parameters, S>,
        _at: &Touch<S>,
    ) -> ElementResult<Over<T, Self::Memory, S>> {
        Ok(Self::Memory::default().lift(&mut S::of))
    }
}

// Numbers that laws take, lifted like variables but not stored.
crate::variables! { @struct [PartialEq]
    /// Where the base B of a displaced spring is, and how it moves, in frame F of the other surface.
    #[derive(Copy, Lift)]
    pub struct Touch<T> {
        /// Time \[s\].
        pub time: T;
        /// The area of the face \[m²\].
        pub area: T;
        /// How far the base is inside the other surface \[m\], greater than zero.
        pub depth: T;
        /// The rate of change of the depth \[m/s\].
        pub depth_rate: T;
        /// The position of the base in F \[m\].
        pub p_FB: Vector3<T>;
        /// The velocity of the base along the surface, in F \[m/s\].
        pub slip_F: Vector3<T>;
        /// The other surface's outward unit normal at the point nearest to the base, in F.
        pub n_F: Vector3<T>;
    }
}

impl<S: Number> Touch<S> {
    /// The part of a vector along the surface.
    #[must_use]
    pub fn along(&self, v_F: Vector3<S>) -> Vector3<S> {
        let across = dot(&self.n_F, &v_F);
        v_F - self.n_F.map(|n| n * across)
    }

    /// The length of a vector; that of zero has no derivatives.
    #[must_use]
    pub fn norm(&self, v_F: Vector3<S>) -> S {
        let squared = dot(&v_F, &v_F);
        if squared > S::zero() { squared.sqrt() } else { squared }
    }
}

/// The force of a spring of a bed, with energy and powers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Push<S> {
    /// The force on the base, in F \[N\]. The other surface gets the opposite at the same point.
    pub force: Vector3<S>,
    /// The energy stored \[J\].
    pub potential_energy: S,
    /// The power dissipated \[W\], as far as it is known instantaneously.
    pub power_dissipated: S,
    /// The power that a drive within the law supplies \[W\].
    pub power_supplied: S,
}

impl<S: Number> Push<S> {
    /// No force, and no energy.
    pub fn zero() -> Self {
        let none = S::zero();
        Self {
            force: Vector3::from([none; 3]),
            potential_energy: none,
            power_dissipated: none,
            power_supplied: none,
        }
    }
}
