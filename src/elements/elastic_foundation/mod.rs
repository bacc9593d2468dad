//! A bed of springs on triangle meshes.

mod anchors;
mod error;
mod evaluate;
mod linearize;
mod parameters;
mod results;
mod stiction;
mod stiffness;

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::contact::PairSearch;
use crate::framework::{Error, Variables};
use crate::math::{Pose, Real, check};
use crate::mechanics::{BodyIndex, Frame};
use crate::shapes::{Bounds, Solid, SolidCasts, SolidShape, TriangleMesh};

pub use anchors::{Anchor, Anchors};
pub use error::{NoContactPossible, OpenSurface};
pub use parameters::{Material, Parameters};
pub use results::{
    Dynamics, MeshContact, Position, Resultant, SpringForce, SpringPosition, SpringVelocity, Velocity,
};

use parameters::KIND;

/// Surfaces on bodies, some of them meshes with a spring on each face, or at each vertex.
///
/// ```text
///      mesh    \   |   |   /      a spring at the centroid of every face;
///    ───────────\──┼───┼──/───    those inside the other surface are displaced
///      other     ╲_x___x_╱        toward its nearest point, by x
/// ```
///
/// # Law
///
/// Springs are independent. A spring whose base is inside the other surface is displaced to the nearest point of
/// that surface, where the bodies exert normal and friction forces on each other:
///
/// ```text
/// f_n = k a x (1 + c v)                                          or zero, if that is negative
/// f_t = f_n [ min(v_s/v_t, 1) (μ_d + 2(μ_s − μ_d)/(1 + (v_s/v_t)²)) + μ_v v_s ]
/// ```
///
/// | symbol | meaning | unit | range |
/// |---|---|---|---|
/// | `k` | [`stiffness`](Material::stiffness) per area | N/m³ | ≥ 0 |
/// | `c` | [`dissipation`](Material::dissipation) | s/m | ≥ 0 |
/// | `μ_s`, `μ_d` | [static](Material::static_friction), [dynamic](Material::dynamic_friction) friction | | 0 ≤ μ_d ≤ μ_s |
/// | `μ_v` | [viscous friction](Material::viscous_friction) | s/m | ≥ 0 |
/// | `v_t` | [transition velocity](Parameters::transition_velocity) | m/s | > 0 |
/// | `a` | area of the face | m² | |
/// | `x`, `v` | displacement, its rate | m, m/s | x > 0 |
/// | `v_s` | slip speed at the contact point | m/s | |
///
/// The normal force is of the form of Hunt and Crossley. A body that strikes a half-space at speed `v` without turning
/// rebounds at `e v`, whatever its shape, mass and stiffness, with the solution `e` of
/// `y (1 + e) = ln((1 + y)/(1 − y e))`, `y = c v`: about `1 − 2y/3` if that is near one.
///
/// A mesh is deformable by its own springs and rigid to those of others. If both meshes carry springs, each
/// counts with half its area. Two surfaces on one body, and two without springs, ignore each other.
///
/// # Clipped faces
///
/// A face counts fully or not at all, by its centroid, and nothing bears before the first centroid is inside: a cube of
/// 0.2 m with 192 faces sinks 11.8 mm on an edge and 19.2 to 28.9 mm on a corner. With
/// [`clipped`](Parameters::clipped) faces the pressure `k x` is integrated over the part of each face that is inside.
/// `x` is interpolated linearly over the face between its corners, and each spring is at a vertex, with its share of the
/// faces around it:
///
/// ```text
/// a x = Σ ∫ φ max(Σ φ_i x_i, 0) dA     over the faces around the vertex; φ is 1 there and 0 at other vertices
/// ```
///
/// - In a half-space that is exact for the mesh as it is, in every attitude, and there is a force from the first touch.
/// - Forces are continuous, but for the exception below, without the kinks of the published law where centroids come in.
/// - What a mesh cuts off a round body is missing still. By centroids the force on a ball of 8192 faces is, depending on its
///   attitude, 0.57 to 0.97 of that with clipped faces at a depth of 0.002 of its radius, and 0.97 to 0.99 at 0.02.
/// - In other shapes, where the surface at the depth of a face has the radius of curvature r, the depth is off by at most
///   `L²/8r` within a face of longest edge L: too small in what is convex. A ball that reaches into the middle of a larger
///   face only is not noticed. A plate of right triangles, 0.1 m deep in a ball of 1 m, lacks 13 %, 3.5 %, 0.9 % and
///   0.2 % of the force if their shorter edges are 0.2, 0.1, 0.05 and 0.025 m long; by centroids, where errors in and out
///   cancel in so wide a contact, it is off by at most 1.4 %, 0.2 %, 0.06 % and 0.006 %.
///
/// # Friction with anchors
///
/// Under Hollars' law surfaces creep. A foundation [`with_anchors`](Self::with_anchors) remembers for every spring in
/// contact an anchor on the other surface, from which a spring along the surface holds the base of this one until it yields
/// at the limit of friction. With the tangential displacement `s` from the anchor, the slip velocity `v_s`, both of the
/// base, and the whole area `A` of the face or of the vertex's share:
///
/// ```text
/// limit       L   = f_n [ μ_d + (μ_s − μ_d) min(1, 2/(1 + (v_s/v_t)²)) ]      Hollars' without the rise from rest
/// elastic     f_e = −k_t A s, shortened to L
/// damping     f_c = −γ c_t A v_s with the greatest γ ≤ 1 for which |f_e + f_c| ≤ L
/// friction    f_t = f_e + f_c − f_n μ_v v_s
/// ```
///
/// with the [tangential stiffness](Material::tangential_stiffness) `k_t` and
/// [viscosity](Material::tangential_viscosity) `c_t` per area. At the end of a step the anchors of springs that have yielded
/// follow to where the spring exerts just `f_e`; a spring that has come into contact gets its anchor where it is, and one
/// that has left loses it.
///
/// - A load that friction can hold is held without creep, from rest and after sliding: a block of 10 kg on a slope of 15°
///   moves by less than 1e-14 m a second in steps of 0.1, 1 and 5 ms, where it creeps at 4 mm/s by Hollars' law. With
///   adaptive steps it jitters within their accuracy.
/// - Each spring has its own anchor rather than a contact one for its resultant: they hold against spin as against slip,
///   in a contact of any form, such as a peg in a hole, and as it rolls on, springs enter at rest and leave with their
///   memory. Its price is a state with one place for each spring.
/// - Places where a block comes to rest are of first order in the step. A load that is applied suddenly stretches the springs
///   by up to twice their final stretch.
/// - Explicit hosts need steps shorter than `2/ω` of the vibration of a body on its tangential springs too.
/// - A spring in two other surfaces at once has an anchor on each, as long as there are no more in all than springs.
///
/// # Energy
///
/// Stored: `Σ k a x² / 2`; with clipped faces `k/2 ∫ x² dA` of the interpolated depth, whose gradient the force is to
/// roundoff, in any shape; and `|f_e|²/(2 k_t A)` with anchors. Lost: `(f_n − k a x) v + f_t v_s`, never negative: while the spring pushes, the first
/// part is `k a x c v²`; once it has let go, the energy that it gives up is lost. The loss is known
/// instantaneously, but for what is lost as anchors are dragged, `−f_e` times their motion, which shows in
/// [`dissipated_energy`](crate::DynamicsView::dissipated_energy). Where the other surface is curved, a spring along it stores
/// what it is given up to the product of stretch, depth and curvature.
///
/// # Note that
///
/// - Without anchors friction only opposes slip; there is no stiction: under a steady tangential load below `μ_s f_n`
///   surfaces creep, at less than `v_t`.
/// - Displacements are continuous as bodies move, and so are forces, with one exception. Where a spring's base
///   passes a point equally near to two parts of the other surface, the direction of the force jumps.
/// - In a thin body a deep spring is nearer to the far side: keep the depth below half the thickness.
/// - A force, energy or power that is not finite is refused with
///   [`ElementError::NonFiniteForce`](crate::ElementError::NonFiniteForce).
/// - After the first evaluation of a state, and with anchors the second commit, nothing is allocated as long as no more springs are displaced than
///   there are (one inside two surfaces counts twice) and a box around a surface overlaps no more than 32
///   others on average.
///
/// # Refused
///
/// By [`ForceSystem::add`](crate::ForceSystem::add): a foundation without a mesh with springs and a surface on
/// another body ([`NoContactPossible`]). By the evaluation: a surface whose pose overflows
/// ([`KinematicsError::NonFinite`](crate::KinematicsError::NonFinite)).
///
/// # Stable step
///
/// For the [longest stable step](crate::ForceSystem::stable_step) of a host, it reports for each displaced spring `k a`,
/// the damping `c·f`, and friction as a damper of its slope at rest, `((2μ_s − μ_d)/v_t + μ_v)·f`. If bodies may meet, with a
/// speed that the host states, it reports as well what else of a mesh may be displaced at once, taken as half of a closed one, at
/// the distance of the farthest vertex.
///
/// # Linearization
///
/// Derivatives are exact with every option, also those of anchors after a commit, for the springs that are displaced: others
/// have no part. On a mesh they are those of the face, edge or vertex that is nearest; a shape of one's own states
/// [how its normal turns](crate::shapes::Solid::normal_gradient), or the foundation gets differences.
///
/// Each contact is in the branch `in contact`, with the depth of its deepest spring as the margin. Where there is dry friction,
/// so many of its springs are `creeping` below the transition velocity and so many `sliding`; with anchors, so many are
/// `sticking` and so many `slipping`. With dissipation, so many are `pressing` and so many have `let go`. The margin of these
/// is that of the spring that is nearest to the other branch. If two steps have the same branches with the same counts, no
/// spring has switched, unless another has switched back.
///
/// # Source
///
/// M. A. Sherman, A. Seth, S. L. Delp, *Simbody: multibody dynamics for biomedical research*, Procedia
/// IUTAM 2 (2011) 241–261, and the reference manual of its elastic foundation. Layer stiffness:
/// K. L. Johnson, *Contact Mechanics* (1985), section 4.3. Dissipation: K. H. Hunt, F. R. E. Crossley, *Coefficient of
/// restitution interpreted as damping in vibroimpact*, Journal of Applied Mechanics 42 (1975) 440–445. Friction: M. G. Hollars' model, as given
/// there.
///
/// # Example: a ball at rest on the ground
///
/// ```
/// use force_elements::elastic_foundation::Material;
/// use force_elements::shapes::{HalfSpace, TriangleMesh};
/// use force_elements::{ElasticFoundation, ForceSystem, Frame, Pose};
///
/// let mut system = ForceSystem::<f64>::new();
/// let ball = system.add_body();
///
/// let mut foundation = ElasticFoundation::default();
/// // The ground fills z < 0.
/// foundation.add_rigid(Frame::ground(Pose::identity()), HalfSpace::BelowZ)?;
/// let rubber = Material::new(1e6).with_friction(0.8, 0.6, 0.0);
/// foundation.add_springs(Frame::of(ball), TriangleMesh::sphere(0.1, 64)?, rubber)?;
/// let foundation = system.add(foundation)?;
///
/// // A ball of 1 kg rests where k π R δ² is its weight, up to the fineness of the mesh.
/// let weight = 9.81;
/// let depth = (weight / (1e6 * std::f64::consts::PI * 0.1_f64)).sqrt();
/// let mut state = system.default_state();
/// state.set_pose(ball, Pose::translation(0.0, 0.0, 0.1 - depth))?;
/// let dynamics = system.realize_dynamics(&mut state)?;
/// let force = dynamics.body_force(ball).force;
/// assert!((force.z - weight).abs() < 0.02 * weight && force.xy().norm() < 1e-9);
/// let at = dynamics.of(foundation);
/// let deepest = at.position.springs.iter().map(|spring| spring.depth).fold(0.0, f64::max);
/// assert!(deepest > 0.97 * depth && deepest < depth);
///
/// // Above the ground nothing pushes.
/// state.set_pose(ball, Pose::translation(0.0, 0.0, 1.0))?;
/// assert_eq!(system.realize_dynamics(&mut state)?.body_force(ball).force.norm(), 0.0);
/// # Ok::<(), force_elements::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct ElasticFoundation<T: Real> {
    surfaces: Vec<Placed<T>>,
    /// The greatest number of springs of all surfaces, at faces or at vertices.
    spring_count: usize,
    /// The greatest number of vertices of one mesh with springs.
    most_vertices: usize,
    has_anchors: bool,
    defaults: Parameters<T>,
}

/// A surface of one [`ElasticFoundation`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SurfaceIndex(usize);

impl SurfaceIndex {
    /// The place among the surfaces of the element: the number in `materials[2].stiffness`.
    pub const fn index(self) -> usize {
        self.0
    }
}

/// A surface with its body and pose.
#[derive(Debug, Clone)]
struct Placed<T: Real> {
    body: BodyIndex,
    X_BS: Pose<T>,
    shape: SolidShape<T>,
    bounds: Bounds<T>,
    /// The mesh, if the surface carries springs.
    springs: Option<Arc<TriangleMesh<T>>>,
    /// The number of springs of the surfaces before.
    first_spring: usize,
    /// The share of each vertex in the area of the faces around it \[m²\], if there are anchors.
    vertex_areas: Vec<T>,
}

/// A foundation with default parameters, without surfaces yet.
impl<T: Real> Default for ElasticFoundation<T> {
    fn default() -> Self {
        Self {
            surfaces: Vec::new(),
            spring_count: 0,
            most_vertices: 0,
            has_anchors: false,
            defaults: Parameters::default(),
        }
    }
}

impl<T: Real> ElasticFoundation<T> {
    /// A foundation without surfaces yet.
    ///
    /// # Errors
    /// [`Error::Element`] with [`InvalidValue`](crate::InvalidValue) for a transition velocity that is not finite
    /// and greater than zero.
    pub fn new(parameters: Parameters<T>) -> Result<Self, Error> {
        parameters.validate().map_err(|error| Error::of_new(KIND, error))?;
        Ok(Self { defaults: parameters.without_surfaces(), ..Self::default() })
    }

    /// The same with friction that holds: every spring in contact has an anchor, which the state remembers.
    #[must_use]
    pub fn with_anchors(mut self) -> Self {
        self.has_anchors = true;
        for placed in &mut self.surfaces {
            placed.vertex_areas = vertex_areas(placed.springs.as_deref());
        }
        self
    }

    /// Adds a rigid surface.
    ///
    /// # Errors
    /// [`Error::Element`] with [`InvalidValue`](crate::InvalidValue) for a pose that is not finite or not a
    /// rotation, or with [`OpenSurface`] for a mesh that encloses no volume.
    pub fn add_rigid(
        &mut self,
        frame: Frame<T>,
        shape: impl Into<SolidShape<T>>,
    ) -> Result<SurfaceIndex, Error> {
        self.add(frame, shape.into(), None)
    }

    /// Adds a mesh with a spring on each face.
    ///
    /// # Errors
    /// [`Error::Element`] with [`InvalidValue`](crate::InvalidValue) for a pose that is not finite or not a
    /// rotation, or a material out of range, or with [`OpenSurface`] if there are two meshes with springs on
    /// different bodies and one of them encloses no volume.
    pub fn add_springs(
        &mut self,
        frame: Frame<T>,
        mesh: impl Into<Arc<TriangleMesh<T>>>,
        material: Material<T>,
    ) -> Result<SurfaceIndex, Error> {
        material.validate().map_err(|error| Error::of_new(KIND, error))?;
        self.add(frame, SolidShape::Mesh(mesh.into()), Some(material))
    }

    fn add(
        &mut self,
        frame: Frame<T>,
        shape: SolidShape<T>,
        material: Option<Material<T>>,
    ) -> Result<SurfaceIndex, Error> {
        let Frame { body, X_BF: X_BS } = frame;
        check::pose("X_BF", &X_BS).map_err(|error| Error::of_new(KIND, error))?;
        let springs = match (&shape, material) {
            (SolidShape::Mesh(mesh), Some(_)) => Some(Arc::clone(mesh)),
            _ => None,
        };
        let index = self.surfaces.len();
        let vertex_areas = if self.has_anchors { vertex_areas(springs.as_deref()) } else { Vec::new() };
        let bounds = shape.bounds();
        let added =
            Placed { body, X_BS, bounds, shape, springs, first_spring: self.spring_count, vertex_areas };
        if added.springs.is_none() {
            added.check_closed(index)?;
        }
        for (i, other) in self.surfaces.iter().enumerate() {
            if other.body != body && other.springs.is_some() && added.springs.is_some() {
                other.check_closed(i)?;
                added.check_closed(index)?;
            }
        }
        if let Some(mesh) = &added.springs {
            self.spring_count += mesh.face_count().max(mesh.vertex_count());
            self.most_vertices = self.most_vertices.max(mesh.vertex_count());
        }
        self.surfaces.push(added);
        self.defaults.push(material);
        Ok(SurfaceIndex(index))
    }

    /// The same foundation in another scalar. Meshes are shared.
    ///
    /// # Errors
    /// As [`cast_with`](Self::cast_with).
    pub fn cast<U: Real>(&self) -> Result<ElasticFoundation<U>, Error> {
        self.cast_with(&SolidCasts::new())
    }

    /// The same foundation in another scalar, with casts of a user's own solids. Meshes are shared.
    ///
    /// # Errors
    /// [`Error::Element`] with the [`ShapeError`](crate::shapes::ShapeError) of
    /// [`SolidShape::cast_with`], or with [`InvalidValue`](crate::InvalidValue) where the other scalar has a smaller
    /// range.
    pub fn cast_with<U: Real>(&self, casts: &SolidCasts<T, U>) -> Result<ElasticFoundation<U>, Error> {
        let mut foundation = ElasticFoundation::new(self.defaults.cast())?;
        foundation.has_anchors = self.has_anchors;
        for (placed, material) in self.surfaces.iter().zip(&self.defaults.materials) {
            let shape = placed.shape.cast_with(casts).map_err(|error| Error::of_new(KIND, error))?;
            let frame = Frame::on(placed.body, placed.X_BS).cast();
            foundation.add(frame, shape, material.as_ref().map(Material::cast))?;
        }
        Ok(foundation)
    }

    /// The shape of a surface; `None` if it does not exist.
    pub fn shape(&self, surface: SurfaceIndex) -> Option<&SolidShape<T>> {
        self.surfaces.get(surface.0).map(|placed| &placed.shape)
    }

    /// The body of a surface; `None` if it does not exist.
    pub fn body(&self, surface: SurfaceIndex) -> Option<BodyIndex> {
        self.surfaces.get(surface.0).map(|placed| placed.body)
    }

    /// The pose `X_BS` of a surface on its body; `None` if it does not exist.
    pub fn pose(&self, surface: SurfaceIndex) -> Option<&Pose<T>> {
        self.surfaces.get(surface.0).map(|placed| &placed.X_BS)
    }

    /// The number of surfaces.
    pub fn surface_count(&self) -> usize {
        self.surfaces.len()
    }

    /// The number of contacts for which the first evaluation reserves buffers.
    fn contact_room(&self) -> usize {
        2 * PairSearch::room(self.surfaces.len())
    }
}

impl<T: Real> Placed<T> {
    fn check_closed(&self, surface: usize) -> Result<(), Error> {
        match &self.shape {
            SolidShape::Mesh(mesh) => match mesh.opening() {
                Some(fault) => Err(Error::of_new(KIND, OpenSurface { surface, fault })),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }
}

/// A third of the area of the faces around each vertex; empty without a mesh.
fn vertex_areas<T: Real>(mesh: Option<&TriangleMesh<T>>) -> Vec<T> {
    let Some(mesh) = mesh else { return Vec::new() };
    let mut areas = alloc::vec![T::zero(); mesh.vertex_count()];
    for (corners, area) in mesh.faces().iter().zip(mesh.areas()) {
        for &corner in corners {
            areas[corner as usize] += area * T::lit(1.0 / 3.0);
        }
    }
    areas
}
