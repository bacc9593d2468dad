//! The element of a law at the springs of a bed.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::array::from_fn;
use core::fmt::Arguments;

use nalgebra::{Matrix3, Point3, Vector3};

use super::LawVariables;
use super::bed_law::{BedLaw, Push, Touch, dot};
use crate::elements::elastic_foundation::OpenSurface;
use crate::elements::frames::{Ends, Frames};
use crate::elements::meshes::{half_width, lowest_point};
use crate::framework::variables::{Declared, Listed, Numbers, Over, Part, Variables, Visitor, VisitorMut};
use crate::framework::{
    AtDynamics, AtPosition, AtVelocity, Between, Blocks, ElementError, Error, ForceElement, Given, Meaning,
    Pen, Row, Slopes, Stage, Stiffnesses, varied,
};
use crate::math::{
    Casts, Dual, InvalidValue, Number, Pose, Real, SpatialForce, SpatialVelocity, cross_times,
    is_finite_pose, rotated, times_cross,
};
use crate::mechanics::{
    BodyIndex, Checked, ForceAccumulator, Frame, KinematicsError, Quantity, Topology, Velocities,
};
use crate::results;
use crate::shapes::{Bounds, Displaced, ShapeError, Solid as _, SolidShape, SurfacePoint, TriangleMesh};

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
        /// In the order of [`Position::springs`].
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
        /// In the order of [`Position::springs`].
        pub springs: Vec<Push<T>>;
    }
}

/// The memory of the springs of a bed, `springs[0]` and so on, by face; `None` for one that was not displaced at the last
/// commit. Empty if the law has none.
#[derive(Debug, PartialEq, Default)]
pub struct Springs<M>(Vec<Option<M>>);

// Not derived: `clone_from` keeps the buffer.
impl<M: Clone> Clone for Springs<M> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }

    fn clone_from(&mut self, source: &Self) {
        self.0.clone_from(&source.0);
    }
}

impl<M> Springs<M> {
    /// The memory of the spring of a face.
    pub fn of(&self, face: usize) -> Option<&M> {
        self.0.get(face)?.as_ref()
    }
}

impl<T: Real, M: LawVariables<T>> Variables<T> for Springs<M> {
    const FIRST_STAGE: Option<Stage> = M::FIRST_STAGE;

    fn visit(&self, visit: Visitor<'_, T>) {
        for (i, spring) in self.0.iter().enumerate() {
            Listed::<T, _>::visit(spring, field::<T, M>(format_args!("springs[{i}]")), visit);
        }
    }

    fn visit_mut(&mut self, visit: VisitorMut<'_, T>) {
        for (i, spring) in self.0.iter_mut().enumerate() {
            Part::<T, _>::visit_mut(spring, field::<T, M>(format_args!("springs[{i}]")), visit);
        }
    }

    fn first_stage_changed(&self, new: &Self) -> Option<Stage> {
        let mut pairs = self.0.iter().zip(&new.0);
        if pairs.all(|(a, b)| Part::<T, _>::is_same(a, b)) { None } else { M::FIRST_STAGE }
    }

    fn validate(&self) -> Result<(), InvalidValue> {
        self.0.iter().flatten().try_for_each(Variables::validate)
    }

    fn fits(&self, other: &Self) -> bool {
        self.0.len() == other.0.len()
    }
}

fn field<T: Real, M: LawVariables<T>>(name: Arguments<'_>) -> Declared<'_> {
    Declared { name, units: &[], stage: M::FIRST_STAGE.unwrap_or(Stage::Instance) }
}

/// The directions of the motion of a base in F: a shift, and a velocity.
const MOTION: usize = 6;

/// How many variables vary at once.
const AT_ONCE: usize = 8;

/// The element of a [`BedLaw`]: frame F on one body with a surface, frame M on another with a mesh, and a spring at the
/// centroid of each face of the mesh.
///
/// Springs whose base is inside the surface are displaced, and the law gives the force on each. The force acts at the base.
/// The parameters in a state are those of the law. For a bed after Hunt, Crossley and Hollars, with faces that count in
/// part, several surfaces and meshes on meshes, see [`ElasticFoundation`](crate::ElasticFoundation).
///
/// # Limits
///
/// Springs act fully or not at all, by the centroid of their face; as in the foundation, they jump where the base passes a
/// point equally near to two parts of the surface. A contact that is smaller than a face may be missed.
///
/// # Stable step
///
/// For the [longest stable step](crate::ForceSystem::stable_step) of a host it reports the stiffness and damping of the
/// displaced springs, and that the law may be stiffer elsewhere: before the first touch it bounds no step.
///
/// # Linearization
///
/// Exact, from the equations of the law, for the displaced springs; at a kink those of the branch taken. A user's shape
/// provides [the derivatives of its normal](crate::shapes::Solid::normal_gradient); otherwise finite differences are taken.
/// The branches of a law are not reported.
///
/// # Errors
///
/// Those of the law are [`Error::Element`](crate::Error::Element) at Dynamics stage. An evaluation refuses a surface whose
/// pose overflows ([`KinematicsError::NonFinite`](crate::KinematicsError::NonFinite)).
#[derive(Debug, Clone)]
pub struct OnBed<T: Real, L: BedLaw<T>> {
    law: L,
    ends: Ends,
    frames: Frames<T>,
    surface: SolidShape<T>,
    mesh: Arc<TriangleMesh<T>>,
    /// Half of the width that one must cross to get to the other side.
    half_widths: [T; 2],
    parameters: L::Parameters,
}

impl<T: Real, L: BedLaw<T>> OnBed<T, L> {
    /// A law between a surface at frame F on one body and the faces of a mesh at frame M on another.
    ///
    /// # Errors
    /// [`Error::Element`] with [`ElementError::SameEnds`] if both are on the same body, with
    /// [`ElementError::InvalidValue`] for a pose that is not finite or not a rotation, or a parameter out of range, or with
    /// [`OpenSurface`] if the surface, which is number 0, is a mesh that encloses no volume.
    pub fn new(
        law: L,
        frame1: Frame<T>,
        surface: impl Into<SolidShape<T>>,
        frame2: Frame<T>,
        mesh: impl Into<Arc<TriangleMesh<T>>>,
        parameters: L::Parameters,
    ) -> Result<Self, Error> {
        let refused = |error: ElementError| Error::of_new(L::KIND, error);
        let (ends, frames) = Ends::of(&frame1, &frame2).map_err(refused)?;
        frames.validate().and(parameters.validate()).map_err(|error| refused(error.into()))?;
        let (surface, mesh) = (surface.into(), mesh.into());
        if let SolidShape::Mesh(surface) = &surface
            && let Some(fault) = surface.opening()
        {
            return Err(refused(ElementError::own(OpenSurface { surface: 0, fault })));
        }
        let of_mesh = SolidShape::Mesh(Arc::clone(&mesh));
        let half_widths = [&surface, &of_mesh].map(|shape| half_width(shape, &shape.bounds()));
        Ok(Self { law, ends, frames, surface, mesh, half_widths, parameters })
    }

    /// The law.
    pub fn law(&self) -> &L {
        &self.law
    }

    /// The body that carries the surface.
    pub fn body1(&self) -> BodyIndex {
        self.ends.body1
    }

    /// The body that carries the mesh.
    pub fn body2(&self) -> BodyIndex {
        self.ends.body2
    }

    /// The surface.
    pub fn surface(&self) -> &SolidShape<T> {
        &self.surface
    }

    /// The mesh.
    pub fn mesh(&self) -> &TriangleMesh<T> {
        &self.mesh
    }

    /// The same element in another scalar, for [`Casts::add`](crate::Casts::add), with casts of a user's own solids.
    ///
    /// # Errors
    /// [`Error::Element`] with the [`ShapeError`](crate::shapes::ShapeError) of [`SolidShape::cast_with`], or with
    /// [`InvalidValue`] where the other scalar has a smaller range.
    pub fn cast_with<U: Real>(&self, casts: &Casts<T, U>) -> Result<OnBed<U, L>, Error>
    where
        L: BedLaw<U, Parameters = Over<T, <L as BedLaw<T>>::Parameters, U>> + Clone,
    {
        let refused = |error: ShapeError| Error::of_new(<L as BedLaw<T>>::KIND, error);
        let (surface, mesh) = (self.surface.cast_with(casts), self.mesh.cast());
        let (surface, mesh) = (surface.map_err(refused)?, mesh.map_err(refused)?);
        let frame = |body, X: Pose<T>| Frame::on(body, X).cast();
        let [frame1, frame2] =
            [frame(self.ends.body1, self.frames.X_B1F), frame(self.ends.body2, self.frames.X_B2M)];
        let parameters = self.parameters.lift(&mut Real::cast::<U>);
        OnBed::new(self.law.clone(), frame1, surface, frame2, mesh, parameters)
    }
}

type At<'a, T, L> = AtDynamics<'a, T, OnBed<T, L>>;

/// A number of which eight variables vary.
type Varied<T> = Dual<T, AT_ONCE>;

impl<T: Real, L: BedLaw<T>> OnBed<T, L> {
    const PARAMETERS: usize = <L::Parameters as Numbers<T>>::COUNT;
    const MEMORY: usize = <L::Memory as Numbers<T>>::COUNT;

    /// The motion of a base that varies, given the derivatives of the normal by its shift.
    fn varied_touch(at: &Touch<T>, gradient: &Matrix3<T>) -> Touch<Dual<T, MOTION>> {
        let velocity_F = at.slip_F - at.n_F * at.depth_rate;
        let p_FB = Vector3::from_fn(|i, _| Dual::variable(at.p_FB[i], i));
        let velocity = Vector3::from_fn(|i, _| Dual::variable(velocity_F[i], 3 + i));
        let n_F = Vector3::from_fn(|i, _| {
            let mut normal = Dual::of(at.n_F[i]);
            (0..3).for_each(|j| normal.slopes[j] = gradient[(i, j)]);
            normal
        });
        let mut depth = Dual::of(at.depth);
        (0..3).for_each(|j| depth.slopes[j] = -at.n_F[j]);
        let depth_rate = -dot(&n_F, &velocity);
        let slip_F = velocity + n_F.map(|n| n * depth_rate);
        Touch { time: Dual::of(at.time), area: Dual::of(at.area), depth, depth_rate, p_FB, slip_F, n_F }
    }

    /// The derivatives of the normal by a shift of a base, in F; `None` if the surface does not provide them.
    fn gradient(&self, spring: &Displaced<T>, at: &Touch<T>) -> Option<Matrix3<T>> {
        if let (SolidShape::Mesh(mesh), Some(part)) = (&self.surface, spring.part) {
            let gradient = mesh.normal_gradient_on(part, &at.n_F, -spring.depth);
            return Some(gradient.unwrap_or_else(Matrix3::zeros));
        }
        self.surface.normal_gradient(&SurfacePoint {
            point: (at.p_FB + at.n_F * spring.depth).into(),
            normal: at.n_F,
            signed_distance: -spring.depth,
        })
    }

    /// Calls `visit` with the face of each displaced spring, its motion, and what `of` returns over other numbers: those of the
    /// parameters, of a motion, and of a memory, each of which `lifts` makes. A spring without a memory has just been displaced.
    ///
    /// Returns `false` if a motion is not known over these numbers.
    fn for_each<S: Number<T>, R, Lift: FnMut(T) -> S>(
        &self,
        at: &AtVelocity<'_, T, Self>,
        parameters: &Over<T, L::Parameters, S>,
        motion: impl Fn(&Displaced<T>, &Touch<T>) -> Option<Touch<S>>,
        lifts: impl Fn() -> Lift,
        of: impl Fn(&Over<T, L::Parameters, S>, &Over<T, L::Memory, S>, &Touch<S>) -> Result<R, ElementError>,
        mut visit: impl FnMut(usize, &Touch<T>, R),
    ) -> Result<bool, ElementError> {
        for (spring, touch) in at.position.springs.iter().zip(&at.velocity.springs) {
            let Some(at_base) = motion(spring, touch) else { return Ok(false) };
            let memory = match at.discrete.of(spring.face) {
                Some(memory) => memory.lift(&mut lifts()),
                None => self.law.touch(parameters, &at_base)?,
            };
            visit(spring.face, touch, of(parameters, &memory, &at_base)?);
        }
        Ok(true)
    }

    /// As [`for_each`](Self::for_each), over numbers that vary with the motion of the base.
    fn for_motion<R>(
        &self,
        at: &At<'_, T, L>,
        of: impl Fn(
            &Over<T, L::Parameters, Dual<T, MOTION>>,
            &Over<T, L::Memory, Dual<T, MOTION>>,
            &Touch<Dual<T, MOTION>>,
        ) -> Result<R, ElementError>,
        visit: impl FnMut(usize, &Touch<T>, R),
    ) -> Option<()> {
        let motion = |spring: &Displaced<T>, touch: &Touch<T>| {
            Some(Self::varied_touch(touch, &self.gradient(spring, touch)?))
        };
        let parameters = at.parameters.lift(&mut Dual::of);
        // The law has succeeded for the same values; if it fails here, finite differences report the error.
        self.for_each(at, &parameters, motion, || Dual::of, of, visit).ok()?.then_some(())
    }

    /// As [`for_each`](Self::for_each), over numbers of which eight vary: of time and parameters, or of the memory, from
    /// `first` on.
    fn for_variables<R>(
        &self,
        at: &At<'_, T, L>,
        (first, in_memory): (usize, bool),
        of: impl Fn(
            &Over<T, L::Parameters, Varied<T>>,
            &Over<T, L::Memory, Varied<T>>,
            &Touch<Varied<T>>,
        ) -> Result<R, ElementError>,
        mut visit: impl FnMut(usize, &Touch<T>, R),
    ) -> Option<()> {
        let visit = |face, touch: &Touch<T>, value| {
            if !in_memory || at.discrete.of(face).is_some() {
                visit(face, touch, value);
            }
        };
        let constants = usize::MAX;
        let mut next = varied(if in_memory { constants } else { first });
        let time = next(at.time);
        let parameters = at.parameters.lift(&mut next);
        let motion = |_: &Displaced<T>, touch: &Touch<T>| Some(Touch { time, ..touch.constant() });
        let lifts = || varied(if in_memory { first } else { constants });
        self.for_each(at, &parameters, motion, lifts, of, visit).ok()?.then_some(())
    }

    /// From M's origin to the base of a spring, in Ground.
    fn arm(position: &Position<T>, touch: &Touch<T>) -> Vector3<T> {
        let Position { X_GF, X_GM, .. } = position;
        X_GF * Point3::from(touch.p_FB) - Point3::from(X_GM.translation.vector)
    }

    /// The law as seen from the surface.
    fn between(&self, at: &At<'_, T, L>) -> Option<Between<T>> {
        let Position { X_GF, X_GM, .. } = at.position;
        let R_GF = X_GF.rotation.matrix();
        let V_M = at.velocity.V_FM_G;
        let mut by = [[[Matrix3::zeros(); 2]; 2]; 2];
        let evaluate = |p: &_, m: &_, x: &_| self.law.evaluate(p, m, x);
        self.for_motion(at, evaluate, |_, touch, push: Push<Dual<T, MOTION>>| {
            let arm = &Self::arm(at.position, touch);
            let [by_shift, by_velocity] = slopes(&push.force).map(|slopes| rotated(R_GF, &slopes));
            let force = R_GF * push.force.map(|component| component.value);
            // A rotation moves the base along its arm, and turns its velocity.
            let by_turn = -times_cross(&(by_shift + times_cross(&by_velocity, &V_M.angular)), arm);
            let lever = force.cross_matrix() * arm.cross_matrix();
            let by_angular = -times_cross(&by_velocity, arm);
            for (sums, [turn, shift], lever) in
                [(0, [by_turn, by_shift], lever), (1, [by_angular, by_velocity], Matrix3::zeros())]
            {
                by[sums][0][0] += cross_times(arm, &turn) + lever;
                by[sums][0][1] += cross_times(arm, &shift);
                by[sums][1][0] += turn;
                by[sums][1][1] += shift;
            }
        })?;
        let [by_position, by_velocity] = by.map(Slopes::Coupled);
        let p_GM = X_GM.translation.vector.into();
        Some(Between {
            bodies: self.ends.bodies(),
            p_GM,
            F_GM: at.dynamics.F_GM,
            V_M,
            by_position,
            by_velocity,
        })
    }

    fn try_linearize_variables(&self, at: &At<'_, T, L>, blocks: &mut Blocks<'_, T>) -> Option<()> {
        let Position { X_GF, X_GM, .. } = at.position;
        let (bodies, p_GM) = (self.ends.bodies(), Point3::from(X_GM.translation.vector));
        let evaluate = |p: &_, m: &_, x: &_| self.law.evaluate(p, m, x);
        let changes = |touch: &Touch<T>, push: Push<Varied<T>>| {
            let arm = Self::arm(at.position, touch);
            from_fn::<_, AT_ONCE, _>(|direction| {
                let force = X_GF.rotation * push.force.map(|component| component.slopes[direction]);
                SpatialForce::new(arm.cross(&force), force)
            })
        };
        for (first, count) in chunks(1 + Self::PARAMETERS) {
            let mut sums = [SpatialForce::zero(); AT_ONCE];
            self.for_variables(at, (first, false), evaluate, |_, touch, push| {
                sums.iter_mut().zip(changes(touch, push)).for_each(|(sum, change)| *sum += change);
            })?;
            blocks.add_between_by_variables(bodies, &p_GM, Blocks::<T>::TIME + first, &sums[..count]);
        }
        for (first, count) in chunks(Self::MEMORY) {
            self.for_variables(at, (first, true), evaluate, |face, touch, push| {
                let place = blocks.discrete(Self::MEMORY * face + first);
                blocks.add_between_by_variables(bodies, &p_GM, place, &changes(touch, push)[..count]);
            })?;
        }
        Some(())
    }

    fn try_linearize_commit(&self, at: &At<'_, T, L>, blocks: &mut Blocks<'_, T>) -> Option<()> {
        let Position { X_GF, X_GM, .. } = at.position;
        let motion = (&X_GM.translation.vector.into(), &at.velocity.V_FM_G);
        let bodies = self.ends.bodies();
        self.for_motion(
            at,
            |p, m, x| self.law.commit(p, m, x),
            |face, touch, next| {
                let arm = Self::arm(at.position, touch);
                L::Memory::for_each_over(&next, |number, next: Dual<T, MOTION>| {
                    let slopes = |first| X_GF.rotation * Vector3::from_fn(|i, _| next.slopes[first + i]);
                    let (by_shift, by_velocity): (Vector3<T>, Vector3<T>) = (slopes(0), slopes(3));
                    let by_turn = arm.cross(&(by_shift + by_velocity.cross(&at.velocity.V_FM_G.angular)));
                    let row = Row::Next(Self::MEMORY * face + number);
                    let by_velocity = [arm.cross(&by_velocity), by_velocity];
                    blocks.add_to_between(row, bodies, motion, [by_turn, by_shift], by_velocity);
                });
            },
        )?;
        let commit = |p: &_, m: &_, x: &_| self.law.commit(p, m, x);
        let mut add = |face: usize, (place, count): (usize, usize), next: Over<T, L::Memory, Varied<T>>| {
            L::Memory::for_each_over(&next, |number, next: Varied<T>| {
                let row = Row::Next(Self::MEMORY * face + number);
                blocks.add_to_by_variables(row, place, &next.slopes[..count]);
            });
        };
        for (first, count) in chunks(1 + Self::PARAMETERS) {
            let place = Blocks::<T>::TIME + first;
            self.for_variables(at, (first, false), commit, |face, _, next| add(face, (place, count), next))?;
        }
        for (first, count) in chunks(Self::MEMORY) {
            let place = |face| Blocks::<T>::TIME + 1 + Self::PARAMETERS + Self::MEMORY * face + first;
            self.for_variables(at, (first, true), commit, |face, _, next| {
                add(face, (place(face), count), next);
            })?;
        }
        Some(())
    }
}

/// The beginnings of the parts of a list of this length whose members vary at once, and the lengths of the parts.
fn chunks(length: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..length).step_by(AT_ONCE).map(move |first| (first, AT_ONCE.min(length - first)))
}

/// The derivatives of a force by the six directions of a motion.
fn slopes<T: Real>(force: &Vector3<Dual<T, MOTION>>) -> [Matrix3<T>; 2] {
    [0, 3].map(|first| Matrix3::from_fn(|i, j| force[i].slopes[first + j]))
}

impl<T: Real, L: BedLaw<T>> ForceElement<T> for OnBed<T, L> {
    const KIND: &'static str = L::KIND;
    type Parameters = L::Parameters;
    type Discrete = Springs<L::Memory>;
    type Continuous = ();
    type Position = Position<T>;
    type Velocity = Velocity<T>;
    type Dynamics = Dynamics<T>;

    fn check_topology(&self, topology: &Topology) -> Result<(), ElementError> {
        self.ends.check_topology(topology)
    }

    fn default_parameters(&self) -> Self::Parameters {
        self.parameters.clone()
    }

    fn default_discrete(&self) -> Self::Discrete {
        let remembers = L::Memory::FIRST_STAGE.is_some();
        Springs(alloc::vec![None; if remembers { self.mesh.face_count() } else { 0 }])
    }

    fn calc_position(
        &self,
        given: &Given<'_, T, Self>,
        cache: &mut Self::Position,
    ) -> Result<(), ElementError> {
        let place = |body, X: &Pose<T>| {
            let X_G = given.positions.pose(Checked(body)) * X;
            // The product of finite poses may overflow, and no point would then be inside the surface.
            let error = KinematicsError::NonFinite { quantity: Quantity::Pose(body) };
            if is_finite_pose(&X_G) { Ok(X_G) } else { Err(error) }
        };
        cache.X_GF = place(self.ends.body1, &self.frames.X_B1F)?;
        cache.X_GM = place(self.ends.body2, &self.frames.X_B2M)?;
        cache.springs.clear();
        cache.springs.reserve_exact(self.mesh.face_count());
        let Position { X_GF, X_GM, springs } = cache;
        self.mesh.for_each_inside(X_GM, &self.surface, X_GF, |displaced| springs.push(displaced));
        Ok(())
    }

    fn calc_velocity(
        &self,
        at: &AtPosition<'_, T, Self>,
        velocities: &Velocities<T>,
        cache: &mut Self::Velocity,
    ) -> Result<(), ElementError> {
        let Position { X_GF, X_GM, springs } = at.position;
        let p_GM = X_GM.translation.vector;
        let [V_F, V_M] = self
            .ends
            .bodies()
            .map(|body| velocities.velocity_of_frame(at.positions, Checked(body), &p_GM.into()));
        let V = V_M - V_F;
        cache.V_FM_G = V;
        cache.springs.clear();
        cache.springs.reserve_exact(self.mesh.face_count());
        cache.springs.extend(springs.iter().map(|spring| {
            let base_G = spring.point_G - spring.normal_G * spring.depth;
            let v = V.linear + V.angular.cross(&(base_G.coords - p_GM));
            let depth_rate = -v.dot(&spring.normal_G);
            let in_F = |v: &Vector3<T>| X_GF.rotation.inverse_transform_vector(v);
            Touch {
                time: at.time,
                area: spring.area,
                depth: spring.depth,
                depth_rate,
                p_FB: X_GF.inverse_transform_point(&base_G).coords,
                slip_F: in_F(&(v + spring.normal_G * depth_rate)),
                n_F: in_F(&spring.normal_G),
            }
        }));
        Ok(())
    }

    fn calc_dynamics(
        &self,
        at: &AtVelocity<'_, T, Self>,
        cache: &mut Self::Dynamics,
    ) -> Result<(), ElementError> {
        let (X_GF, zero) = (&at.position.X_GF, T::zero());
        (cache.F_GM, cache.potential_energy) = (SpatialForce::zero(), zero);
        (cache.power_dissipated, cache.power_supplied) = (zero, zero);
        cache.springs.clear();
        cache.springs.reserve_exact(self.mesh.face_count());
        let Dynamics { F_GM, potential_energy, power_dissipated, power_supplied, springs } = cache;
        let evaluate = |p: &_, m: &_, x: &_| self.law.evaluate(p, m, x);
        self.for_each(
            at,
            at.parameters,
            |_, touch| Some(*touch),
            || |number| number,
            evaluate,
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
        forces.apply_to_frame(Checked(self.ends.body1), &p_GM, -F_GM);
        forces.apply_to_frame(Checked(self.ends.body2), &p_GM, F_GM);
    }

    fn potential_energy(&self, at: &AtDynamics<'_, T, Self>) -> T {
        at.dynamics.potential_energy
    }

    fn power_dissipated(&self, at: &AtDynamics<'_, T, Self>) -> T {
        at.dynamics.power_dissipated
    }

    fn power_supplied(&self, at: &AtDynamics<'_, T, Self>) -> T {
        at.dynamics.power_supplied
    }

    fn draw(&self, at: &AtDynamics<'_, T, Self>, pen: &mut Pen<'_>) {
        let Position { X_GF, X_GM, springs } = at.position;
        for (spring, push) in springs.iter().zip(&at.dynamics.springs) {
            let corners = self.mesh.corners(spring.face).map(|corner| X_GM * corner);
            pen.face(Meaning::Face, push.force.norm() / spring.area, &corners);
            let base_G = spring.point_G - spring.normal_G * spring.depth;
            let force_G = X_GF.rotation * push.force;
            pen.force(self.ends.body2, &base_G, &force_G);
            pen.force(self.ends.body1, &base_G, &-force_G);
        }
    }

    fn passing_time(&self, at: &AtDynamics<'_, T, Self>, _: &Velocities<T>, _: f64) -> f64 {
        // Nothing comes out of a half-space on its other side, and the forces of those in contact are known.
        if matches!(self.surface, SolidShape::HalfSpace(_)) || !at.position.springs.is_empty() {
            return f64::INFINITY;
        }
        let (Position { X_GF, X_GM, .. }, V) = (at.position, at.velocity.V_FM_G);
        let Bounds::Box { center, half_extents } = self.mesh.bounds() else { return f64::INFINITY };
        let (center_G, radius) = (X_GM * center, half_extents.norm());
        let distance = self.surface.signed_distance(&X_GF.inverse_transform_point(&center_G));
        let apart = (distance - radius).to_f64().max(0.0);
        let [surface, mesh] = self.half_widths;
        let seen = if surface > T::zero() { surface } else { mesh };
        let dip = ((surface + mesh) * T::lit(0.5)).min(seen).to_f64();
        let linear = V.linear + V.angular.cross(&(center_G.coords - X_GM.translation.vector));
        let speed = (linear.norm() + V.angular.norm() * radius).to_f64();
        // What has no known width can be passed in any step.
        if dip > 0.0 { (apart + dip) / speed } else { f64::INFINITY }
    }

    fn report_gaps(
        &self,
        at: &AtDynamics<'_, T, Self>,
        velocities: &Velocities<T>,
        report: &mut dyn FnMut([T; 2]),
    ) {
        let SolidShape::HalfSpace(half_space) = &self.surface else { return };
        let Position { X_GF, X_GM, springs } = at.position;
        if !springs.is_empty() {
            return report([T::zero(); 2]);
        }
        let normal_G = X_GF.rotation * half_space.normal();
        let height = |p_G: &Point3<T>| normal_G.dot(&(p_G.coords - X_GF.translation.vector));
        let lowest_G = lowest_point(&self.mesh, X_GM, &normal_G, height);
        let [v_F, v_M] = self
            .ends
            .bodies()
            .map(|body| velocities.velocity_of_point(at.positions, Checked(body), &lowest_G));
        report([height(&lowest_G), normal_G.dot(&(v_M - v_F))]);
    }

    fn report_stiffness(&self, at: &AtDynamics<'_, T, Self>, stiffnesses: &mut Stiffnesses<'_, T>) {
        stiffnesses.unknown();
        let Some(between) = self.between(at) else { return };
        super::between_frames::report(&between, stiffnesses);
    }

    fn linearize(&self, at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
        match self.between(at) {
            Some(between) => blocks.add_between(&between),
            None => blocks.differences(),
        }
    }

    fn linearize_variables(&self, at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
        if self.try_linearize_variables(at, blocks).is_none() {
            blocks.differences();
        }
    }

    fn linearize_commit(&self, at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
        if self.try_linearize_commit(at, blocks).is_none() {
            blocks.differences();
        }
    }

    fn accept_step(
        &self,
        at: &AtDynamics<'_, T, Self>,
        next: &mut Self::Discrete,
    ) -> Result<(), ElementError> {
        next.0.fill(None);
        let commit = |p: &_, m: &_, x: &_| self.law.commit(p, m, x);
        self.for_each(
            at,
            at.parameters,
            |_, touch| Some(*touch),
            || |number| number,
            commit,
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
    ) -> Result<(), ElementError> {
        next.0.fill(None);
        Ok(())
    }
}
