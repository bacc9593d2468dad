//! A bed of springs on triangle meshes.

mod law;
mod parameters;
mod results;

use alloc::sync::Arc;
use alloc::vec::Vec;

use nalgebra::{Point3, Vector3};

use crate::contact::{BoundingBox, Bounds, Displaced, Shape, Surface, TriangleMesh};
use crate::element::{AtDynamics, AtPosition, AtVelocity, ForceElement, Given};
use crate::error::{ElementName, Error, Result};
use crate::forces::ForceAccumulator;
use crate::kinematics::{BodyIndex, Topology, Velocities};
use crate::scalar::Real;
use crate::spatial::{SpatialForce, SpatialVelocity, Transform};
use crate::variables::{Check, Variables};

pub use parameters::{Material, Parameters};
pub use results::{
    Contact, Dynamics, Position, Resultant, SpringForce, SpringPosition, SpringVelocity, Velocity,
};

use law::Law;
use parameters::KIND;

/// Surfaces on bodies, some of them meshes with a spring on each face.
///
/// ```text
///      mesh    \   |   |   /      a spring at the centroid of every face;
///    ───────────\──┼───┼──/───    those inside the other surface are displaced
///      other     ╲_x___x_╱        toward its nearest point, by x
/// ```
///
/// # Law
///
/// Each spring stands for itself. Where its base is inside the other surface, it is displaced to the
/// nearest point of that surface, where the bodies push and rub each other:
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
/// To its own springs a mesh is soft, to those of others it is rigid. Of two meshes that both carry
/// springs, each counts with half its area. Two surfaces on one body, and two of which neither carries
/// springs, ignore each other.
///
/// # Options
///
/// [`facing_only`](Parameters::facing_only) leaves out springs whose face looks away from the contact.
/// [`projected_area`](Parameters::projected_area) counts the area seen along the contact normal; a
/// finely meshed body in a half-space is then pushed with k times the volume within, where
/// with whole areas a ball of radius R at depth δ gives `k π R δ²`, more by the factor
/// `1/(1 − δ/3R)`.
///
/// # Energy
///
/// Stored: `Σ k a x² / 2`. Lost: `(f_n − k a x) v + f_t v_s`, never negative: as long as the spring
/// pushes, the first part is `k a x c v²`; when it has let go, what it gives up is lost. All of it is
/// known at the instant.
///
/// With an option set, the area a spring counts with depends on how the bodies are turned. The energy
/// that it thereby gains or loses, of the order of `x²`, is exchanged with no body: it shows in
/// [`dissipated_energy`](crate::DynamicsView::dissipated_energy), not in the power.
///
/// # Note that
///
/// - Friction only ever slows slip: under a steady push surfaces creep, at less than `v_t`.
/// - Depth and force are continuous as bodies move. Where a spring's base passes a place equally near
///   to two parts of the other surface, the direction of the force turns at once.
/// - Thin bodies that go through each other find the far side nearer: keep the depth below half the
///   thickness.
///
/// # Source
///
/// M. A. Sherman, A. Seth, S. L. Delp, *Simbody: multibody dynamics for biomedical research*, Procedia
/// IUTAM 2 (2011) 241–261, and the reference manual of its elastic foundation. Layer stiffness:
/// K. L. Johnson, *Contact Mechanics* (1985), section 4.3. Friction: M. G. Hollars' model, as given
/// there.
///
/// # Example: a ball pressed into the ground
///
/// ```
/// use force_elements::contact::{HalfSpace, TriangleMesh};
/// use force_elements::elastic_foundation::Material;
/// use force_elements::nalgebra::{Rotation3, Vector3};
/// use force_elements::{BodyIndex, ElasticFoundation, ForceSystem, Transform};
///
/// let mut system = ForceSystem::<f64>::new();
/// let ball = system.add_body();
///
/// let mut foundation = ElasticFoundation::new();
/// // A half-space fills x > 0 of its frame: turn that downwards.
/// let down = Rotation3::from_axis_angle(&Vector3::y_axis(), std::f64::consts::FRAC_PI_2);
/// let X_GS = Transform::from_parts(Default::default(), down);
/// foundation.add_rigid(BodyIndex::GROUND, X_GS, HalfSpace)?;
/// let rubber = Material::new(1e6).with_friction(0.8, 0.6, 0.0);
/// foundation.add_springs(ball, Transform::identity(), TriangleMesh::sphere(0.1, 64)?, rubber)?;
/// let foundation = system.add(foundation)?;
///
/// let mut state = system.default_state();
/// state.set_pose(ball, Transform::translation(0.0, 0.0, 0.095))?;
/// let dynamics = system.realize_dynamics(&mut state)?;
///
/// // k π R δ², up to the fineness of the mesh.
/// let force = dynamics.body_force(ball).force;
/// assert!((force.z - 1e6 * std::f64::consts::PI * 0.1 * 0.005_f64.powi(2)).abs() < 0.02 * force.z);
/// let at = dynamics.of(foundation);
/// let deepest = at.position.springs.iter().map(|spring| spring.depth).fold(0.0, f64::max);
/// assert!(deepest > 0.0049 && deepest < 0.005);
/// # Ok::<(), force_elements::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct ElasticFoundation<T: Real> {
    surfaces: Vec<Placed<T>>,
    defaults: Parameters<T>,
}

/// A surface of one [`ElasticFoundation`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SurfaceIndex(usize);

impl SurfaceIndex {
    /// The place among the surfaces of the element: the number in `surface[2].stiffness`.
    pub const fn index(self) -> usize {
        self.0
    }
}

/// A surface and where it is.
#[derive(Debug, Clone)]
struct Placed<T: Real> {
    body: BodyIndex,
    X_BS: Transform<T>,
    shape: Shape<T>,
    bounds: Bounds<T>,
    /// The mesh, if it carries springs.
    springs: Option<Arc<TriangleMesh<T>>>,
}

impl<T: Real> Default for ElasticFoundation<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Real> ElasticFoundation<T> {
    /// No surfaces yet, and a transition velocity of 0.01 m/s.
    pub fn new() -> Self {
        Self { surfaces: Vec::new(), defaults: Parameters::new() }
    }

    /// The same with this transition velocity \[m/s\].
    ///
    /// # Errors
    /// [`Error::InvalidValue`] unless it is finite and greater than zero.
    pub fn with_transition_velocity(mut self, transition_velocity: T) -> Result<Self> {
        self.defaults.transition_velocity = transition_velocity;
        self.defaults.validate()?;
        Ok(self)
    }

    /// The same, counting only springs that face the contact, or all.
    #[must_use]
    pub fn with_facing_only(mut self, facing_only: bool) -> Self {
        self.defaults.facing_only = facing_only;
        self
    }

    /// The same, counting areas as seen along the contact normal, or whole.
    #[must_use]
    pub fn with_projected_area(mut self, projected_area: bool) -> Self {
        self.defaults.projected_area = projected_area;
        self
    }

    /// Adds a surface that is rigid, at `X_BS` on its body.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for a pose that is not finite or not a rotation;
    /// [`Error::OpenSurface`] for a mesh that encloses nothing.
    pub fn add_rigid(
        &mut self,
        body: BodyIndex,
        X_BS: Transform<T>,
        shape: impl Into<Shape<T>>,
    ) -> Result<SurfaceIndex> {
        self.add(body, X_BS, shape.into(), None)
    }

    /// Adds a mesh with a spring on each face, at `X_BS` on its body.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for a pose that is not finite or not a rotation, or a material out of
    /// range; [`Error::OpenSurface`] if two meshes with springs on different bodies meet and one of
    /// them encloses nothing.
    pub fn add_springs(
        &mut self,
        body: BodyIndex,
        X_BS: Transform<T>,
        mesh: impl Into<Arc<TriangleMesh<T>>>,
        material: Material<T>,
    ) -> Result<SurfaceIndex> {
        material.validate()?;
        self.add(body, X_BS, Shape::Mesh(mesh.into()), Some(material))
    }

    fn add(
        &mut self,
        body: BodyIndex,
        X_BS: Transform<T>,
        shape: Shape<T>,
        material: Option<Material<T>>,
    ) -> Result<SurfaceIndex> {
        Check::new(KIND).pose("X_BS", &X_BS)?;
        let springs = match (&shape, material) {
            (Shape::Mesh(mesh), Some(_)) => Some(Arc::clone(mesh)),
            _ => None,
        };
        let index = self.surfaces.len();
        let added = Placed { body, X_BS, bounds: shape.bounds(), shape, springs };
        if added.springs.is_none() {
            added.check_closed(index)?;
        }
        for (i, other) in self.surfaces.iter().enumerate() {
            if other.body != body && other.springs.is_some() && added.springs.is_some() {
                other.check_closed(i)?;
                added.check_closed(index)?;
            }
        }
        self.surfaces.push(added);
        self.defaults.push(material);
        Ok(SurfaceIndex(index))
    }

    /// The shape of a surface, if it is there.
    pub fn shape(&self, surface: SurfaceIndex) -> Option<&Shape<T>> {
        self.surfaces.get(surface.0).map(|placed| &placed.shape)
    }

    /// The body of a surface, if it is there.
    pub fn body(&self, surface: SurfaceIndex) -> Option<BodyIndex> {
        self.surfaces.get(surface.0).map(|placed| placed.body)
    }

    /// How many surfaces there are.
    pub fn surface_count(&self) -> usize {
        self.surfaces.len()
    }

    /// Finds the springs of one mesh that another surface displaces.
    fn find_contact(&self, mesh: usize, other: usize, parameters: &Parameters<T>, cache: &mut Position<T>) {
        let Some(springs) = &self.surfaces[mesh].springs else { return };
        let Some(material) = parameters.material(SurfaceIndex(mesh)) else { return };
        let Position { X_GS, contacts, springs: found, potential_energy, .. } = cache;
        let share = if self.surfaces[other].springs.is_some() { T::lit(0.5) } else { T::one() };
        let first = found.len();
        let mut work = T::zero();
        let (is_plain, facing_only, projected_area) = (
            !parameters.facing_only && !parameters.projected_area,
            parameters.facing_only,
            parameters.projected_area,
        );
        let areas = springs.areas();
        let (X_GM, X_GO) = (&X_GS[mesh], &X_GS[other]);
        springs.for_each_inside(X_GM, &self.surfaces[other].shape, X_GO, |displaced| {
            let Displaced { face, depth, point_G, normal_G } = displaced;
            let mut area = areas[face] * share;
            if !is_plain {
                // The cosine of the angle between the face and the contact, positive where they look
                // at each other.
                let cosine = -(X_GM.rotation * springs.normals()[face]).dot(&normal_G);
                // Upright faces are out, whichever way rounding tilts them.
                if facing_only && cosine <= T::negligible() {
                    return;
                }
                if projected_area {
                    area *= if cosine < T::zero() { -cosine } else { cosine };
                }
            }
            let elastic_force = material.stiffness * area * depth;
            work += elastic_force * depth;
            found.push(SpringPosition { face, depth, area, elastic_force, point_G, normal_G });
        });
        if found.len() > first {
            *potential_energy += work * T::lit(0.5);
            let springs = first..found.len();
            contacts.push(Contact { mesh: SurfaceIndex(mesh), other: SurfaceIndex(other), springs });
        }
    }

    /// The velocity of a surface's body at another surface's origin.
    fn velocity_at(
        &self,
        surface: SurfaceIndex,
        p_G: Vector3<T>,
        at: &AtPosition<'_, T, Self>,
        velocities: &Velocities<T>,
    ) -> SpatialVelocity<T> {
        let body = self.surfaces[surface.0].body;
        velocities.velocity(body).shifted(p_G - at.positions.pose(body).translation.vector)
    }
}

impl<T: Real> Placed<T> {
    fn check_closed(&self, surface: usize) -> Result<()> {
        match &self.shape {
            Shape::Mesh(mesh) => match mesh.opening() {
                Some(fault) => Err(Error::OpenSurface { surface, fault }),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }
}

impl<T: Real> ForceElement<T> for ElasticFoundation<T> {
    const KIND: &'static str = KIND;
    type Parameters = Parameters<T>;
    type Discrete = ();
    type Position = Position<T>;
    type Velocity = Velocity<T>;
    type Dynamics = Dynamics<T>;

    fn check_topology(&self, topology: &Topology) -> Result<()> {
        self.surfaces.iter().try_for_each(|placed| topology.check_body(placed.body))
    }

    fn default_parameters(&self) -> Self::Parameters {
        self.defaults.clone()
    }

    fn default_discrete(&self) {}

    fn calc_position(&self, given: &Given<'_, T, Self>, cache: &mut Self::Position) -> Result<()> {
        if !given.parameters.fit(&self.defaults) {
            return Err(Error::ForeignParameters { element: ElementName::new(KIND) });
        }
        cache.contacts.clear();
        cache.springs.clear();
        cache.potential_energy = T::zero();
        cache.X_GS.clear();
        cache.X_GS.extend(self.surfaces.iter().map(|placed| given.positions.pose(placed.body) * placed.X_BS));
        // The search is lifted out of the cache while contacts are written to the rest of it.
        let mut search = core::mem::take(&mut cache.search);
        search.boxes.clear();
        let boxes = self.surfaces.iter().zip(&cache.X_GS);
        search.boxes.extend(boxes.map(|(placed, X_GS)| BoundingBox::around(&placed.bounds, X_GS)));
        let pairs = search.find(|i, j| {
            let (a, b) = (&self.surfaces[i], &self.surfaces[j]);
            a.body != b.body && (a.springs.is_some() || b.springs.is_some())
        });
        for pair in pairs {
            let [i, j] = pair.map(|k| k as usize);
            self.find_contact(i, j, given.parameters, cache);
            self.find_contact(j, i, given.parameters, cache);
        }
        cache.search = search;
        Ok(())
    }

    fn calc_velocity(
        &self,
        at: &AtPosition<'_, T, Self>,
        velocities: &Velocities<T>,
        cache: &mut Self::Velocity,
    ) -> Result<()> {
        cache.springs.clear();
        for contact in &at.position.contacts {
            let p_GS = at.position.X_GS[contact.mesh.0].translation.vector;
            let V_mesh = self.velocity_at(contact.mesh, p_GS, at, velocities);
            let V_other = self.velocity_at(contact.other, p_GS, at, velocities);
            let V = V_mesh - V_other;
            cache.springs.extend(at.position.springs[contact.springs.clone()].iter().map(|spring| {
                let v = V.linear + V.angular.cross(&(spring.point_G.coords - p_GS));
                let depth_rate = -v.dot(&spring.normal_G);
                SpringVelocity { depth_rate, slip_G: v + spring.normal_G * depth_rate }
            }));
        }
        Ok(())
    }

    fn calc_dynamics(&self, at: &AtVelocity<'_, T, Self>, cache: &mut Self::Dynamics) -> Result<()> {
        cache.springs.clear();
        cache.resultants.clear();
        cache.power_dissipated = T::zero();
        for contact in &at.position.contacts {
            let Some(material) = at.parameters.material(contact.mesh) else { continue };
            let law = Law::new(material, at.parameters.transition_velocity);
            let p_GS = at.position.X_GS[contact.mesh.0].translation.vector;
            let mut F_GS = SpatialForce::zero();
            let mut normal_sum = T::zero();
            let mut area = T::zero();
            let mut moment = Vector3::zeros();
            let mut lost = T::zero();
            let range = contact.springs.clone();
            let springs = at.position.springs[range.clone()].iter().zip(&at.velocity.springs[range]);
            cache.springs.extend(springs.map(|(spring, velocity)| {
                let SpringVelocity { depth_rate, slip_G } = velocity;
                let factor = law.normal_factor(*depth_rate);
                let normal_force = spring.elastic_force * factor;
                let slip_squared = slip_G.norm_squared();
                let rubbing = normal_force * law.friction_factor(slip_squared);
                let friction_force_G = slip_G * -rubbing;

                let r_G = spring.point_G.coords - p_GS;
                let force_G = spring.normal_G * normal_force + friction_force_G;
                F_GS += SpatialForce::new(r_G.cross(&force_G), force_G);
                normal_sum += normal_force;
                area += spring.area;
                moment += r_G * normal_force;
                lost += (normal_force - spring.elastic_force) * *depth_rate + rubbing * slip_squared;
                let pressure = material.stiffness * spring.depth * factor;
                SpringForce { normal_force, pressure, friction_force_G }
            }));
            cache.power_dissipated += lost;
            cache.resultants.push(Resultant {
                F_GS,
                normal_force: normal_sum,
                area,
                center_of_pressure_G: (normal_sum > T::zero())
                    .then(|| Point3::from(p_GS + moment / normal_sum)),
            });
        }
        Ok(())
    }

    fn add_forces(&self, at: &AtDynamics<'_, T, Self>, forces: &mut ForceAccumulator<'_, T>) {
        for (contact, resultant) in at.position.contacts.iter().zip(&at.dynamics.resultants) {
            let p_GS = at.position.X_GS[contact.mesh.0].translation.vector;
            for (surface, F_GS) in [(contact.mesh, resultant.F_GS), (contact.other, -resultant.F_GS)] {
                let body = self.surfaces[surface.0].body;
                let p_GB = at.positions.pose(body).translation.vector;
                forces.apply_to_body(body, F_GS.shifted(p_GB - p_GS));
            }
        }
    }

    fn potential_energy(&self, at: &AtDynamics<'_, T, Self>) -> T {
        at.position.potential_energy
    }

    fn power_dissipated(&self, at: &AtDynamics<'_, T, Self>) -> T {
        at.dynamics.power_dissipated
    }
}
