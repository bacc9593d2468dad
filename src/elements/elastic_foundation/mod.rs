//! A bed of springs on triangle meshes.

mod anchors;
mod contact;
mod evaluate;
mod law;
mod linearize;
mod parameters;
mod passing;
mod results;
mod stiffness;

use alloc::sync::Arc;
use alloc::vec::Vec;

use nalgebra::{Point3, Vector3};

use crate::contact::PairSearch;
use crate::elements::Refusal;
use crate::elements::meshes::half_width;
use crate::framework::{ElementError, Error, ForceElement as _, Variables as _};
use crate::math::{Casts, Pose, Real, check, default_by_field};
use crate::mechanics::{BodyIndex, Frame};
use crate::shapes::{SolidShape, TriangleMesh};

pub use anchors::{Anchor, Anchors};
pub use parameters::{Material, Parameters};
pub use results::{Dynamics, MeshContact, Position, Resultant, SpringForce, SpringVelocity};

/// A bed of springs: surfaces on bodies, some of them triangle meshes with a spring on each face or at each vertex.
///
/// ```text
///      mesh    \   |   |   /      a spring at the centroid of every face;
///    ───────────\──┼───┼──/───    those inside the other surface are displaced
///      other     ╲_x___x_╱        toward its nearest point, by x
/// ```
///
#[doc = include_str!("../../../docs/sketches/elastic_foundation.svg")]
///
/// # Law
///
/// The springs are independent of each other. A spring whose base is inside the other surface is displaced to the nearest
/// point of that surface, and exerts a normal force there (Hunt and Crossley) and friction (Hollars):
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
/// A mesh is deformable by its own springs and rigid to the springs of others. If two meshes both have springs, each acts
/// with half of its area. Surfaces on the same body do not interact, and neither do two surfaces without springs.
///
/// A body that strikes a half-space at speed `v` without rotating rebounds at `e v`, where `e` solves `y (1 + e) = ln((1 +
/// y)/(1 − y e))` with `y = c v`. For small `y` that is about `1 − 2y/3`.
///
/// ## Clipped faces
///
/// By default a face counts fully if its centroid is inside the other surface, and not at all otherwise. With
/// [`clipped`](Parameters::clipped) faces the pressure `k x` is integrated over the part of each face that is inside. The
/// depth `x` is interpolated between the corners of the face, and the springs are at the vertices:
///
/// ```text
/// a x = Σ ∫ φ max(Σ φ_i x_i, 0) dA     over the faces around the vertex; φ is 1 there and 0 at other vertices
/// ```
///
/// ## Meshes on meshes
///
/// Two meshes always interact through the centroids of their faces, because a vertex has no depth at an edge of the other
/// mesh. With `clipped` set, each mesh is [`refined`](TriangleMesh::refined) until its edges are at most three eighths of
/// the length of its box. If the edges of one mesh are then less than half as long as those of the other, only the finer
/// mesh has springs in this contact. They act for both meshes, with their full area and a mean material: `k`, `k_t` and `c_t`
/// are the means of both, and `c` and the coefficients of friction are means weighted by `k`.
///
/// ## Friction that holds
///
/// With the friction above, surfaces creep under any tangential load. A foundation [`with_anchors`](Self::with_anchors)
/// holds instead. It remembers an anchor on the other surface for every spring in contact; a tangential spring holds the
/// base at the anchor until it yields:
///
/// ```text
/// limit       L   = f_n [ μ_d + (μ_s − μ_d) min(1, 2/(1 + (v_s/v_t)²)) ]
/// elastic     f_e = −k_t A s, shortened to L
/// damping     f_c = −γ c_t A v_s with the greatest γ ≤ 1 for which |f_e + f_c| ≤ L
/// friction    f_t = f_e + f_c − f_n μ_v v_s
/// ```
///
/// | symbol | meaning | unit | range |
/// |---|---|---|---|
/// | `k_t`, `c_t` | [tangential stiffness](Material::tangential_stiffness), [viscosity](Material::tangential_viscosity) per area | N/m³, N·s/m³ | ≥ 0; `k_t` > 0 for friction with anchors |
/// | `A` | whole area of the face or vertex | m² | |
/// | `s`, `v_s` | tangential displacement from the anchor, slip velocity, of the base | m, m/s | |
///
/// When a step is accepted, the anchor of a spring that has yielded moves to where the spring exerts exactly `f_e`. A spring
/// that has come into contact, or whose `k_t` is zero, gets its anchor at its base. A spring that has left contact loses it.
///
/// With clipped faces, the whole area `A` of a vertex is a third of the area of one face around it, the one most nearly
/// parallel to the surface, and of the faces within 5° of that one. Faces beyond the rim of a base are therefore not counted,
/// and a round mesh whose faces turn by more than 5° is held up to three times more softly than a finer one. A vertex above
/// the surface counts fully if a face around it is within 30° of the surface, with a thirtieth of its area if one is
/// within 80°, and otherwise not at all: then only viscous friction acts. Below the surface a vertex counts fully. When a body
/// tips over an edge, friction and its stored energy jump, because the areas become those of the other side.
///
/// # Energy
///
/// Stored: `Σ k a x²/2`, with clipped faces `k/2 ∫ x² dA`; with anchors also `|f_e|²/(2 k_t A)`.
///
/// Lost: `(f_n − k a x) v + f_t v_s`, which is known instantaneously and never negative. When a spring lets go (`f_n` is zero
/// while `x > 0`), the energy that it releases is lost. With anchors, the losses of `f_c` and `μ_v` are known
/// instantaneously; that of a dragged anchor, `−f_e` times its motion, appears in
/// [`dissipated_energy`](crate::DynamicsView::dissipated_energy).
///
/// # Limits
///
/// - Accuracy of clipped faces: exact in a half-space, for the given mesh. In a ball or an ellipsoid the depth is off by at
///   most `L²/6r` in a face whose longest edge is `L`, where `r` is the radius of curvature of the surface at that depth. A
///   ball that touches only the middle of a larger face is not detected.
/// - Accuracy of centroids: a contact smaller than a face is missed, or counts with the whole face. A cube of 0.2 m with 192
///   faces sinks 12 mm on an edge, and 19 to 29 mm on a corner, before there is any force.
/// - Upright faces press too, with their own area: a cube of side `s` that stands `x` deep in a half-space carries `k (s² x +
///   2 s x²)` with clipped faces, of which its bottom carries the first part.
/// - With clipped faces, friction acts at the vertices, and a base of few faces resists turning on the spot too strongly: the
///   base of a cube with 1, 2, 4 or 8 cells along each edge by 1.85, 1.12, 1.04 or 1.01 times the torque of even pressure.
/// - Where the base of a spring passes a point equally near to two parts of the other surface, its force jumps, and so does
///   the energy stored with an anchor. The dissipated energy may decrease by as much; if that is most of the stored energy,
///   [`finish_step`](crate::ForceSystem::finish_step) reports a step that is too long. In a thin body a deep spring is
///   nearer to the far side: keep the depth below half of the thickness.
/// - Dissipation also resists rolling, since the springs ahead sink while those behind rise: a ball of radius `R` that sinks
///   in by `δ` rolls at `ω` against a torque of `π k c ω R² δ³/3`.
/// - Without anchors, surfaces creep at less than `v_t` under a steady tangential load below `μ_s f_n`.
/// - With anchors, the position where a body comes to rest is accurate to first order in the step, and explicit hosts need
///   steps shorter than `2/ω` of the vibration of the body on the tangential springs. Along a curved surface the stored
///   energy is wrong by up to the product of stretch, depth and curvature. In `f32`, springs beyond the first 2²⁴ are
///   confused with each other.
/// - A write of `clipped` drops the anchors. The energy ledger counts what they have stored as received by the caller.
/// - Two bodies may meet and part within one step: see [`passing_time`](crate::ForceSystem::passing_time).
/// - An evaluation allocates only the first time, and after `clipped` is set; a commit with anchors only the first two times.
///   This holds while no more springs are displaced than there are anchors for (with clipped faces, no more faces pushed and
///   vertices visited by all surfaces together), and while the box around a surface overlaps at most 32 others on average.
///
/// # Errors
///
/// [`ForceSystem::add`](crate::ForceSystem::add) refuses
///
/// - a foundation in which no mesh with springs can meet a surface on another body
///   ([`NoContactPossible`](crate::Refusal::NoContactPossible));
/// - springs without stiffness, and anchors with friction but without stiffness and viscosity along the surface
///   ([`InvalidValue`](crate::InvalidValue)).
///
/// An evaluation refuses
///
/// - more springs in contact than there are anchors for, which needs surfaces that overlap
///   ([`TooManySprings`](crate::Refusal::TooManySprings));
/// - a surface whose pose overflows ([`KinematicsError::NonFinite`](crate::KinematicsError::NonFinite));
/// - a force, energy or power that is not finite, and a slip speed whose square, or the square of whose ratio to `v_t`, is not
///   finite ([`ElementError::NonFiniteForce`](crate::ElementError::NonFiniteForce)).
///
/// # Linearization
///
/// Exact with every option, for the springs that are displaced and the nearest face, edge or vertex of a mesh. A user's shape
/// may provide [the derivatives of its normal](crate::shapes::Solid::normal_gradient); otherwise finite differences are
/// taken.
///
/// | branch of a contact, with the number of its springs | margin, of the nearest spring | unit |
/// |---|---|---|
/// | `in contact` | the greatest depth | m |
/// | `creeping`, `sliding`, with dry friction | of the slip speed from `v_t` | m/s |
/// | `sticking`, `slipping`, with anchors | of the elastic force from `L` | N |
/// | `pressing`, `let go`, with dissipation | of the depth's rate from `−1/c` | m/s |
///
/// # Source
///
/// M. A. Sherman, A. Seth, S. L. Delp, *Simbody: multibody dynamics for biomedical research*, Procedia IUTAM 2 (2011)
/// 241–261, and the reference manual of its elastic foundation, with M. G. Hollars' friction. K. L. Johnson, *Contact
/// Mechanics* (1985), section 4.3. K. H. Hunt, F. R. E. Crossley, *Coefficient of restitution interpreted as damping in
/// vibroimpact*, Journal of Applied Mechanics 42 (1975) 440–445.
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
/// let springs = &dynamics.of(foundation).position.springs;
/// let deepest = springs.iter().map(|spring| spring.depth).fold(0.0, f64::max);
/// assert!(deepest > 0.97 * depth && deepest < depth);
/// # Ok::<(), force_elements::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct ElasticFoundation<T: Real> {
    surfaces: Vec<Placed<T>>,
    /// The number of springs of all surfaces, at faces or at vertices.
    spring_count: usize,
    /// For how many springs in contact there is room: a spring counts once for each surface that displaces it.
    room: usize,
    /// The largest number of vertices of one mesh with springs.
    most_vertices: usize,
    has_anchors: bool,
    defaults: Parameters<T>,
}

/// A surface with its body and pose.
#[derive(Debug, Clone)]
struct Placed<T: Real> {
    body: BodyIndex,
    X_BS: Pose<T>,
    shape: SolidShape<T>,
    bounds: Option<(Point3<T>, Vector3<T>)>,
    /// Half of the width that another surface must cross to get to the other side.
    half_width: T,
    /// The mesh, if the surface has springs.
    springs: Option<Arc<TriangleMesh<T>>>,
    /// If it may meet other meshes, the same with short edges: their springs act instead of those of clipped faces.
    refined: Option<Arc<TriangleMesh<T>>>,
    /// The number of springs of the preceding surfaces.
    first_spring: usize,
    /// If there are anchors: around each vertex the normals of the faces, and its area where each rests \[m²\].
    vertex_areas: Vec<Vec<(Vector3<T>, T)>>,
}

default_by_field!(ElasticFoundation { surfaces, spring_count, room, most_vertices, has_anchors, defaults });

impl<T: Real> ElasticFoundation<T> {
    /// A foundation without surfaces yet.
    ///
    /// # Errors
    /// [`Error::Element`] with [`InvalidValue`](crate::InvalidValue) for a transition velocity that is not finite
    /// and greater than zero.
    pub fn new(parameters: Parameters<T>) -> Result<Self, Error> {
        parameters.validate().map_err(|error| Error::of_new(Self::KIND, error))?;
        Ok(Self { defaults: Parameters { materials: Vec::new(), ..parameters }, ..Self::default() })
    }

    /// The same with friction that holds: every spring in contact has an anchor, which the state remembers. Materials
    /// with friction need a [grip](Material::with_grip), which [`Material::for_contact`] sets.
    #[must_use]
    pub fn with_anchors(mut self) -> Self {
        self.has_anchors = true;
        for placed in &mut self.surfaces {
            placed.vertex_areas = vertex_areas(placed.springs.as_deref());
        }
        self
    }

    /// Adds a rigid surface. Returns its index among the surfaces of the element.
    ///
    /// # Errors
    /// [`Error::Element`] with [`InvalidValue`](crate::InvalidValue) for a pose that is not finite or not a
    /// rotation, or with [`OpenSurface`](crate::Refusal::OpenSurface) for a mesh that encloses no volume.
    pub fn add_rigid(&mut self, frame: Frame<T>, shape: impl Into<SolidShape<T>>) -> Result<usize, Error> {
        self.add(frame, shape.into(), None)
    }

    /// Adds a mesh with a spring on each face. Returns its index among the surfaces of the element: the number in
    /// `materials[2].stiffness`.
    ///
    /// # Errors
    /// [`Error::Element`] with [`InvalidValue`](crate::InvalidValue) for a pose that is not finite or not a
    /// rotation, or a material out of range, or with [`OpenSurface`](crate::Refusal::OpenSurface) if there are two meshes with springs on
    /// different bodies and one of them encloses no volume.
    pub fn add_springs(
        &mut self,
        frame: Frame<T>,
        mesh: impl Into<Arc<TriangleMesh<T>>>,
        material: Material<T>,
    ) -> Result<usize, Error> {
        material.validate().map_err(|error| Error::of_new(Self::KIND, error))?;
        self.add(frame, SolidShape::Mesh(mesh.into()), Some(material))
    }

    fn add(
        &mut self,
        frame: Frame<T>,
        shape: SolidShape<T>,
        material: Option<Material<T>>,
    ) -> Result<usize, Error> {
        let Frame { body, X_BF: X_BS } = frame;
        check::pose("X_BF", &X_BS).map_err(|error| Error::of_new(Self::KIND, error))?;
        let springs = match (&shape, material) {
            (SolidShape::Mesh(mesh), Some(_)) => Some(Arc::clone(mesh)),
            _ => None,
        };
        let index = self.surfaces.len();
        let vertex_areas = if self.has_anchors { vertex_areas(springs.as_deref()) } else { Vec::new() };
        let bounds = shape.bounds();
        let half_width = half_width(&shape, bounds);
        let mut added = Placed {
            body,
            X_BS,
            shape,
            bounds,
            half_width,
            springs,
            refined: None,
            first_spring: 0,
            vertex_areas,
        };
        if added.springs.is_none() {
            added.check_closed(index)?;
        }
        for (i, other) in self.surfaces.iter().enumerate() {
            if other.body != body && other.springs.is_some() && added.springs.is_some() {
                other.check_closed(i)?;
                added.check_closed(index)?;
            }
        }
        for other in &mut self.surfaces {
            other.refine_for(&added);
            added.refine_for(other);
        }
        self.surfaces.push(added);
        self.number_springs();
        self.defaults.materials.push(material);
        Ok(index)
    }

    /// The same foundation in another scalar. Meshes are shared.
    ///
    /// # Errors
    /// As [`cast_with`](Self::cast_with).
    pub fn cast<U: Real>(&self) -> Result<ElasticFoundation<U>, Error> {
        self.cast_with(&Casts::none().with_solids())
    }

    /// The same foundation in another scalar, with casts of a user's own solids. Meshes are shared.
    ///
    /// # Errors
    /// [`Error::Element`] with the [`ShapeError`](crate::shapes::ShapeError) of
    /// [`SolidShape::cast_with`], or with [`InvalidValue`](crate::InvalidValue) where the other scalar has a smaller
    /// range.
    pub fn cast_with<U: Real>(&self, casts: &Casts<T, U>) -> Result<ElasticFoundation<U>, Error> {
        let mut foundation = ElasticFoundation::new(self.defaults.cast())?;
        foundation.has_anchors = self.has_anchors;
        for (placed, material) in self.surfaces.iter().zip(&self.defaults.materials) {
            let shape = placed.shape.cast_with(casts).map_err(|error| Error::of_new(Self::KIND, error))?;
            let frame = Frame::on(placed.body, placed.X_BS).cast();
            foundation.add(frame, shape, material.as_ref().map(Material::cast))?;
        }
        Ok(foundation)
    }

    /// The body of a surface; `None` if it does not exist.
    pub fn body(&self, surface: usize) -> Option<BodyIndex> {
        self.surfaces.get(surface).map(|placed| placed.body)
    }

    /// Numbers the springs of all surfaces in their order, and finds how many may be in contact.
    fn number_springs(&mut self) {
        // Shapes that do not overlap contain each vertex once, and each loads the vertices of the faces around those it contains:
        // on average seven for each, since on average six edges meet at a vertex of a closed mesh.
        const MOST_SHAPES: usize = 7;
        (self.spring_count, self.room, self.most_vertices) = (0, 0, 0);
        for index in 0..self.surfaces.len() {
            let placed = &self.surfaces[index];
            let Some(mesh) = &placed.springs else { continue };
            let is_shape =
                |other: &&Placed<T>| other.body != placed.body && !matches!(other.shape, SolidShape::Mesh(_));
            let shapes = self.surfaces.iter().filter(is_shape).count();
            let (vertices, faces) =
                (mesh.vertex_count(), placed.refined.as_ref().unwrap_or(mesh).face_count());
            self.room += faces.max(vertices.saturating_mul(shapes.min(MOST_SHAPES)));
            self.most_vertices = self.most_vertices.max(vertices);
            self.surfaces[index].first_spring = self.spring_count;
            self.spring_count += faces.max(vertices);
        }
    }

    /// The share of their areas with which the springs of a mesh act against another surface, and their material; `None` if
    /// they do not. Where they act fully against springs, they act for those too.
    fn acting(&self, [mesh, other]: [usize; 2], parameters: &Parameters<T>) -> Option<(T, Material<T>)> {
        let share = self.surfaces[mesh].share(&self.surfaces[other], parameters.clipped)?;
        let own = *parameters.material(mesh)?;
        let others = parameters.material(other).filter(|_| share == T::one());
        Some((share, others.map_or(own, |others| Material::mean([own, *others]))))
    }

    /// The number of contacts for which the first evaluation reserves buffers.
    fn contact_room(&self) -> usize {
        2 * PairSearch::room(self.surfaces.len())
    }
}

impl<T: Real> Placed<T> {
    /// With which share of their area the springs act against another surface; `None` if they do not.
    #[inline]
    fn share(&self, other: &Self, clipped: bool) -> Option<T> {
        const MUCH_LONGER: f64 = 2.0;
        self.springs.as_ref()?;
        let all = Some(T::one());
        if other.springs.is_none() {
            return all;
        }
        let (Some(own), Some(others)) = (&self.refined, &other.refined) else { return Some(T::lit(0.5)) };
        // A face that is much longer than those of the other mesh may be larger than the contact.
        match [own, others].map(|mesh| mesh.longest_edge()) {
            [own, others] if clipped && own > MUCH_LONGER * others => None,
            [own, others] if clipped && others > MUCH_LONGER * own => all,
            _ => Some(T::lit(0.5)),
        }
    }

    /// Refines the mesh, if it has springs that the other surface may displace and that is a mesh: its edges get at most three
    /// eighths of the length of its box, and the side of a cube 32 faces.
    fn refine_for(&mut self, other: &Self) {
        let Some(mesh) = &self.springs else { return };
        if self.refined.is_some() || self.body == other.body || !matches!(other.shape, SolidShape::Mesh(_)) {
            return;
        }
        let longest = mesh.length() * 0.375;
        let is_coarse = mesh.longest_edge() > longest;
        // Shorter edges may be too short for the scalar, though those of the mesh are not.
        let refined = is_coarse.then(|| mesh.refined(T::lit(longest)).ok()).flatten();
        self.refined = Some(refined.map_or_else(|| Arc::clone(mesh), Arc::new));
    }

    /// The area of a vertex along a surface with this normal, which points towards the mesh and is in its frame: a third of the
    /// face around it that is most nearly parallel to the surface, and of those within 5° of it. Less or nothing if the vertex
    /// is above the surface and all faces around it are steep or look away from the surface.
    fn vertex_area(&self, vertex: usize, normal: &Vector3<T>, is_above: bool) -> T {
        // The cosines of 30° and 80°: a body that leans by more than the former stands on an edge, not on a face.
        const STEEP: f64 = 0.866;
        const UPRIGHT: f64 = 0.17;
        // The share of the pressure on a face that rests on its farther corners, where it is inside by a tenth of its length.
        const FARTHER: f64 = 1.0 / 30.0;
        let seen = self.vertex_areas.get(vertex).into_iter().flatten();
        let seen = seen.map(|(face, area)| (-face.dot(normal), *area));
        let nearest = seen.reduce(|nearest, next| if next.0 > nearest.0 { next } else { nearest });
        match nearest {
            Some((along, area)) if !is_above || along > T::lit(STEEP) => area,
            Some((along, area)) if along > T::lit(UPRIGHT) => area * T::lit(FARTHER),
            _ => T::zero(),
        }
    }

    fn check_closed(&self, surface: usize) -> Result<(), Error> {
        match self.shape.opening() {
            Some(fault) => Err(Error::of_new(
                ElasticFoundation::<T>::KIND,
                ElementError::own(Refusal::OpenSurface { surface, fault }),
            )),
            None => Ok(()),
        }
    }
}

/// Around each vertex the normals of the faces, and with each a third of the areas of those within 5° of it, which rest on a
/// surface together. Empty without a mesh.
fn vertex_areas<T: Real>(mesh: Option<&TriangleMesh<T>>) -> Vec<Vec<(Vector3<T>, T)>> {
    let Some(mesh) = mesh else { return Vec::new() };
    let mut around = alloc::vec![Vec::new(); mesh.vertex_count()];
    for (face, corners) in mesh.faces().iter().enumerate() {
        for &corner in corners {
            around[corner as usize].push(face);
        }
    }
    // The cosine of 5°.
    let is_along = |face: usize, normal: &Vector3<T>| mesh.normal(face).dot(normal) > T::lit(0.996);
    let area_along = |faces: &[usize], normal: Vector3<T>| {
        let areas = faces.iter().filter(|&&face| is_along(face, &normal)).map(|&face| mesh.area(face));
        areas.fold(T::zero(), |sum, area| sum + area) * T::lit(1.0 / 3.0)
    };
    let seen = |faces: Vec<usize>| {
        faces.iter().map(|&face| (mesh.normal(face), area_along(&faces, mesh.normal(face)))).collect()
    };
    around.into_iter().map(seen).collect()
}
