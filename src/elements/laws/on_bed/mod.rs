//! The element of a law at the springs of a bed.

mod linearize;
mod springs;
mod touch;

use alloc::sync::Arc;
use alloc::vec::Vec;

use nalgebra::{Point3, Vector3};

use super::Law;
use crate::elements::Refusal;
use crate::elements::frames::{self, Framed, Frames};
use crate::elements::meshes::{across_and_along, gap, half_width, passing_time};
use crate::framework::variables::{Numbers, Over, Variables as _};
use crate::framework::{
    AtDynamics, AtPosition, AtVelocity, Blocks, ElementError, ElementResult, Error, ForceElement, Given,
    Meaning, Pen, Stiffnesses,
};
use crate::math::{Casts, Number, Pose, Real, SpatialForce, SpatialVelocity, is_finite_pose};
use crate::mechanics::{
    BodyIndex, Checked, ForceAccumulator, Frame, KinematicsError, Quantity, Topology, Velocities,
};
use crate::results;
use crate::shapes::{Displaced, ShapeError, Solid as _, SolidShape, TriangleMesh};

pub use springs::Springs;
pub use touch::{Push, Touch};

results! {
    /// Results of a law on a bed at Position stage.
    pub struct Position<T> {
        /// Pose of frame F, of the other surface, in Ground.
        pub X_GF: Pose<T> ["m"];
        /// Pose of frame M, of the mesh, in Ground.
        pub X_GM: Pose<T> ["m"];
        /// The displaced springs.
        pub springs: Vec<Displaced<T>>;
    }
}

results! {
    /// Results of a law on a bed at Velocity stage.
    pub struct Velocity<T> {
        /// Velocity of M's origin as seen from frame F, expressed in Ground.
        pub V_FM_G: SpatialVelocity<T> ["rad/s", "m/s"];
        /// The motion of each spring, in the order of [`Position::springs`].
        pub springs: Vec<Touch<T>>;
    }
}

results! {
    /// Results of a law on a bed at Dynamics stage.
    pub struct Dynamics<T> {
        /// Force on the mesh at M's origin, expressed in Ground. The other surface gets the opposite.
        pub F_GM: SpatialForce<T> ["N·m", "N"];
        /// The energy stored.
        pub potential_energy: T ["J"];
        /// The power dissipated.
        pub power_dissipated: T ["W"];
        /// The power that a drive within the law supplies.
        pub power_supplied: T ["W"];
        /// The force of each spring, in the order of [`Position::springs`].
        pub springs: Vec<Push<T>>;
    }
}

/// The element of a law of springs: frame F on one body with a surface, frame M on another with a mesh, and a spring at
/// the centroid of each face of the mesh.
///
/// A spring whose base is inside the surface is displaced. The law returns the force of each displaced spring, which acts
/// at its base. The parameters in a state are those of the law.
///
/// For a bed after Hunt, Crossley and Hollars, with faces that count in part, several surfaces and meshes on meshes, see
/// [`ElasticFoundation`](crate::ElasticFoundation).
///
/// # Limits
///
/// A spring acts fully if the centroid of its face is inside, and otherwise not at all. A contact that is smaller than a
/// face may be missed. As in the foundation, the force of a spring jumps where its base passes a point equally near to
/// two parts of the surface.
///
/// # Stable step
///
/// For the [longest stable step](crate::ForceSystem::stable_step) of a host, the element reports the stiffness and
/// damping of the displaced springs, and that the law may be stiffer elsewhere. Before the first touch it bounds no step.
///
/// # Linearization
///
/// Exact, from the equations of the law, for the displaced springs; at a kink, the derivatives of the branch taken. A
/// user's shape may provide [the derivatives of its normal](crate::shapes::Solid::normal_gradient); otherwise finite
/// differences are taken. The branches of a law are not reported.
///
/// # Errors
///
/// The errors of the law are returned as [`Error::Element`](crate::Error::Element) at Dynamics stage. An evaluation
/// refuses a surface whose pose overflows ([`KinematicsError::NonFinite`](crate::KinematicsError::NonFinite)).
///
/// # Example: the brush of a tyre
///
/// The tread is a bed of bristles. Each one is pressed by its depth, and bends along the road until it slips.
///
/// ```
/// use force_elements::laws::{Law, OnBed, Push, Touch};
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
/// impl<T: Real> Law<T, Touch<T>> for Brush {
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
///     fn begin<S: Number<Scalar = T>>(&self, _: &Tread<S>, at: &Touch<S>) -> ElementResult<Tip<S>> {
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
#[derive(Debug, Clone)]
pub struct OnBed<T: Real, L: Law<T, Touch<T>>> {
    law: L,
    bodies: [BodyIndex; 2],
    frames: Frames<T>,
    surface: SolidShape<T>,
    mesh: Arc<TriangleMesh<T>>,
    /// Half of the width of surface and mesh that one must cross to get to the other side.
    half_widths: [T; 2],
    parameters: L::Parameters,
}

impl<T: Real, L: Law<T, Touch<T>>> OnBed<T, L> {
    /// A law between a surface at frame F on one body and the faces of a mesh at frame M on another.
    ///
    /// # Errors
    /// [`Error::Element`] with [`ElementError::SameEnds`] if both are on the same body, with
    /// [`ElementError::InvalidValue`] for a pose that is not finite or not a rotation, or a parameter out of range, or
    /// with [`OpenSurface`](crate::Refusal::OpenSurface) if the surface, which has the number 0, is a mesh that encloses
    /// no volume.
    pub fn new(
        law: L,
        frame1: Frame<T>,
        surface: impl Into<SolidShape<T>>,
        frame2: Frame<T>,
        mesh: impl Into<Arc<TriangleMesh<T>>>,
        parameters: L::Parameters,
    ) -> Result<Self, Error> {
        let (bodies, framed) = Framed::new(L::KIND, [frame1, frame2], parameters)?;
        let Framed { frames, law: parameters } = framed;
        let (surface, mesh) = (surface.into(), mesh.into());
        if let Some(fault) = surface.opening() {
            let open = ElementError::own(Refusal::OpenSurface { surface: 0, fault });
            return Err(Error::of_new(L::KIND, open));
        }
        let of_mesh = SolidShape::Mesh(Arc::clone(&mesh));
        let half_widths = [&surface, &of_mesh].map(|shape| half_width(shape, shape.bounds()));
        Ok(Self { law, bodies, frames, surface, mesh, half_widths, parameters })
    }

    /// The same element in another scalar, for [`Casts::add`](crate::Casts::add), with casts of a user's own solids.
    ///
    /// # Errors
    /// [`Error::Element`] with the [`ShapeError`](crate::shapes::ShapeError) of [`SolidShape::cast_with`], or with
    /// [`InvalidValue`](crate::InvalidValue) where the other scalar has a smaller range.
    pub fn cast_with<U: Real>(&self, casts: &Casts<T, U>) -> Result<OnBed<U, L>, Error>
    where
        L: Law<U, Touch<U>, Parameters = Over<T, <L as Law<T, Touch<T>>>::Parameters, U>> + Clone,
    {
        let refused = |error: ShapeError| Error::of_new(<L as Law<T, Touch<T>>>::KIND, error);
        let (surface, mesh) = (self.surface.cast_with(casts), self.mesh.cast());
        let (surface, mesh) = (surface.map_err(refused)?, mesh.map_err(refused)?);
        let frame = |body, X: Pose<T>| Frame::on(body, X).cast();
        let [frame1, frame2] =
            [frame(self.bodies[0], self.frames.X_B1F), frame(self.bodies[1], self.frames.X_B2M)];
        let parameters = self.parameters.lift(&mut Real::cast::<U>);
        OnBed::new(self.law.clone(), frame1, surface, frame2, mesh, parameters)
    }
}

impl<T: Real, L: Law<T, Touch<T>>> OnBed<T, L> {
    /// Calls `visit` with the face of each displaced spring, its motion, and the result of `of` over other numbers: those
    /// of the parameters, the motion and the memory. A spring without a memory has just been displaced.
    ///
    /// Returns `false` if a motion is not known over these numbers.
    fn for_each<S: Number<Scalar = T>, R>(
        &self,
        at: &AtVelocity<'_, T, Self>,
        parameters: &Over<T, L::Parameters, S>,
        motion: impl Fn(&Displaced<T>, &Touch<T>) -> Option<Touch<S>>,
        lift: impl Fn(&L::Memory) -> Over<T, L::Memory, S>,
        of: impl Fn(&L, &Over<T, L::Parameters, S>, &Over<T, L::Memory, S>, &Touch<S>) -> ElementResult<R>,
        mut visit: impl FnMut(usize, &Touch<T>, R),
    ) -> ElementResult<bool> {
        for (spring, touch) in at.position.springs.iter().zip(&at.velocity.springs) {
            let Some(at_base) = motion(spring, touch) else { return Ok(false) };
            let memory = match at.discrete.of(spring.index) {
                Some(memory) => lift(memory),
                None => self.law.begin(parameters, &at_base)?,
            };
            visit(spring.index, touch, of(&self.law, parameters, &memory, &at_base)?);
        }
        Ok(true)
    }

    /// From M's origin to the base of a spring, in Ground.
    fn arm(position: &Position<T>, touch: &Touch<T>) -> Vector3<T> {
        let Position { X_GF, X_GM, .. } = position;
        X_GF * Point3::from(touch.p_FB) - Point3::from(X_GM.translation.vector)
    }
}

impl<T: Real, L: Law<T, Touch<T>>> ForceElement<T> for OnBed<T, L> {
    const KIND: &'static str = L::KIND;
    type Parameters = L::Parameters;
    type Discrete = Springs<L::Memory>;
    type Continuous = ();
    type Position = Position<T>;
    type Velocity = Velocity<T>;
    type Dynamics = Dynamics<T>;

    derived_methods!(between frames);

    fn check_topology(&self, topology: &Topology) -> ElementResult {
        frames::check_bodies(self.bodies, topology)
    }

    fn default_parameters(&self) -> Self::Parameters {
        self.parameters.clone()
    }

    fn default_discrete(&self) -> Self::Discrete {
        let remembers = L::Memory::FIRST_STAGE.is_some();
        Springs(alloc::vec![None; if remembers { self.mesh.face_count() } else { 0 }])
    }

    fn calc_position(&self, given: &Given<'_, T, Self>, cache: &mut Self::Position) -> ElementResult {
        let place = |body, X: &Pose<T>| {
            let X_G = given.positions.pose(Checked(body)) * X;
            // The product of finite poses may overflow, and no point would then be inside the surface.
            let error = KinematicsError::NonFinite { quantity: Quantity::Pose(body) };
            if is_finite_pose(&X_G) { Ok(X_G) } else { Err(error) }
        };
        cache.X_GF = place(self.bodies[0], &self.frames.X_B1F)?;
        cache.X_GM = place(self.bodies[1], &self.frames.X_B2M)?;
        cache.springs.clear();
        cache.springs.reserve_exact(self.mesh.face_count());
        let Position { X_GF, X_GM, springs } = cache;
        self.mesh.for_each_inside(X_GM, &self.surface, X_GF, |displaced| springs.push(displaced));
        Ok(())
    }

    fn calc_velocity(&self, at: &AtPosition<'_, T, Self>, cache: &mut Self::Velocity) -> ElementResult {
        let Position { X_GF, X_GM, springs } = at.position;
        let p_GM = X_GM.translation.vector;
        let [V_F, V_M] = self
            .bodies
            .map(|body| at.velocities.velocity_of_frame(at.positions, Checked(body), &p_GM.into()));
        let V = V_M - V_F;
        cache.V_FM_G = V;
        cache.springs.clear();
        cache.springs.reserve_exact(self.mesh.face_count());
        cache.springs.extend(springs.iter().map(|spring| {
            let base_G = spring.base_G();
            let velocity = V.linear + V.angular.cross(&(base_G.coords - p_GM));
            let (depth_rate, slip_G) = across_and_along(&velocity, &spring.normal_G);
            let in_F = |v: &Vector3<T>| X_GF.rotation.inverse_transform_vector(v);
            Touch {
                time: at.time,
                area: spring.area,
                depth: spring.depth,
                depth_rate,
                p_FB: X_GF.inverse_transform_point(&base_G).coords,
                slip_F: in_F(&slip_G),
                n_F: in_F(&spring.normal_G),
            }
        }));
        Ok(())
    }

    fn calc_dynamics(&self, at: &AtVelocity<'_, T, Self>, cache: &mut Self::Dynamics) -> ElementResult {
        let (X_GF, zero) = (&at.position.X_GF, T::zero());
        (cache.F_GM, cache.potential_energy) = (SpatialForce::zero(), zero);
        (cache.power_dissipated, cache.power_supplied) = (zero, zero);
        cache.springs.clear();
        cache.springs.reserve_exact(self.mesh.face_count());
        let Dynamics { F_GM, potential_energy, power_dissipated, power_supplied, springs } = cache;
        self.for_each(
            at,
            at.parameters,
            |_, touch| Some(*touch),
            L::Memory::clone,
            L::evaluate,
            |_, touch, push| {
                let force = X_GF.rotation * push.force;
                *F_GM += SpatialForce::new(Self::arm(at.position, touch).cross(&force), force);
                *potential_energy += push.potential_energy;
                *power_dissipated += push.power_dissipated;
                *power_supplied += push.power_supplied;
                springs.push(push);
            },
        )?;
        Ok(())
    }

    fn add_forces(&self, at: &AtDynamics<'_, T, Self>, forces: &mut ForceAccumulator<'_, T>) {
        let p_GM = at.position.X_GM.translation.vector.into();
        let F_GM = at.dynamics.F_GM;
        forces.apply_to_frame(Checked(self.bodies[0]), &p_GM, -F_GM);
        forces.apply_to_frame(Checked(self.bodies[1]), &p_GM, F_GM);
    }

    fn draw(&self, at: &AtDynamics<'_, T, Self>, pen: &mut Pen<'_>) {
        let Position { X_GF, X_GM, springs } = at.position;
        for (spring, push) in springs.iter().zip(&at.dynamics.springs) {
            let corners = self.mesh.corners(spring.index).map(|corner| X_GM * corner);
            let force_G = X_GF.rotation * push.force;
            pen.face(Meaning::Face, spring.normal_G.dot(&force_G).abs() / spring.area, &corners);
            let base_G = spring.base_G();
            pen.force(self.bodies[1], &base_G, &force_G);
            pen.force(self.bodies[0], &base_G, &-force_G);
        }
    }

    fn passing_time(&self, at: &AtDynamics<'_, T, Self>, _: f64) -> f64 {
        // Nothing passes through a half-space, and the forces of springs in contact are known.
        if matches!(self.surface, SolidShape::HalfSpace(_)) || !at.position.springs.is_empty() {
            return f64::INFINITY;
        }
        let (Position { X_GF, X_GM, .. }, V) = (at.position, at.velocity.V_FM_G);
        let Some((center, half_extents)) = self.mesh.bounds() else { return f64::INFINITY };
        let (center_G, radius) = (X_GM * center, half_extents.norm());
        let distance = self.surface.signed_distance(&X_GF.inverse_transform_point(&center_G));
        let apart = (distance - radius).to_f64().max(0.0);
        let [surface, mesh] = self.half_widths;
        let seen = if surface > T::zero() { surface } else { mesh };
        let linear = V.linear + V.angular.cross(&(center_G.coords - X_GM.translation.vector));
        let speed = (linear.norm() + V.angular.norm() * radius).to_f64();
        passing_time(apart, self.half_widths, seen, speed)
    }

    fn report_gaps(&self, at: &AtDynamics<'_, T, Self>, report: &mut dyn FnMut([T; 2])) {
        let SolidShape::HalfSpace(half_space) = &self.surface else { return };
        let Position { X_GF, X_GM, springs } = at.position;
        if !springs.is_empty() {
            return report([T::zero(); 2]);
        }
        report(gap((half_space, X_GF), (&self.mesh, X_GM), |p_G| {
            let [v_F, v_M] =
                self.bodies.map(|body| at.velocities.velocity_of_point(at.positions, Checked(body), p_G));
            v_M - v_F
        }));
    }

    fn accept_step(&self, at: &AtDynamics<'_, T, Self>, next: &mut Self::Discrete) -> ElementResult {
        next.0.fill(None);
        self.for_each(
            at,
            at.parameters,
            |_, touch| Some(*touch),
            L::Memory::clone,
            L::commit,
            |face, _, memory| {
                if let Some(place) = next.0.get_mut(face) {
                    *place = Some(memory);
                }
            },
        )?;
        Ok(())
    }

    fn reset_memory(
        &self,
        _: &Given<'_, T, Self>,
        _: &Velocities<T>,
        next: &mut Self::Discrete,
    ) -> ElementResult {
        next.0.fill(None);
        Ok(())
    }
}
