//! Results of the foundation, stage by stage.

use alloc::vec::Vec;
use core::ops::Range;

use nalgebra::{Point3, Vector3};

use crate::contact::PairSearch;
use crate::elements::elastic_foundation::Anchor;
use crate::math::{Pose, Real, SpatialForce};
use crate::results;
use crate::shapes::{Displaced, VertexBuffer};

results! {
    /// Results at Position stage.
    pub struct Position<T> {
        /// The pose of every surface in Ground.
        pub X_GS: Vec<Pose<T>>;
        /// The contacts, each of a mesh with displaced springs and another surface.
        pub contacts: Vec<MeshContact>;
        /// The displaced springs, grouped by contact. If faces are [clipped](super::Parameters::clipped), the index is
        /// that of the vertex, the depth is the mean over the vertex's share of the faces, and `base_G` is at that depth
        /// under the contact point, not at the vertex. Against another mesh, the index is that of the face of the
        /// [refined](crate::shapes::TriangleMesh::refined) mesh. The area is half of the face's, if the other mesh has
        /// springs in this contact too.
        pub springs: Vec<Displaced<T>>;
        /// The energy stored.
        pub potential_energy: T ["J"];
        pub(super) search: PairSearch;
        pub(super) vertices: VertexBuffer<T>;
    }
}

/// A mesh with springs displaced by another surface. Two meshes that both have springs may be in contact twice, once in
/// each direction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeshContact {
    /// The mesh whose springs are displaced, by its index among the surfaces.
    pub mesh: usize,
    /// The surface that displaces the springs.
    pub other: usize,
    /// The range of these springs in [`Position::springs`], in the results at Velocity stage, and in
    /// [`Dynamics::springs`].
    pub springs: Range<usize>,
    /// The range of their vertices in [`Position::vertices`], which has faces too.
    pub(super) vertices: Range<usize>,
    pub(super) faces: Range<usize>,
}

pub use crate::elements::contact_law::ContactVelocity as SpringVelocity;

results! {
    /// Results at Dynamics stage.
    pub struct Dynamics<T> {
        /// The forces of the springs, in the order of [`Position::springs`].
        pub springs: Vec<SpringForce<T>>;
        /// The resultants of the contacts, in the order of [`Position::contacts`].
        pub resultants: Vec<Resultant<T>>;
        /// The sum of the normal forces of all springs.
        pub normal_force: T ["N"];
        /// The sum of the areas of all displaced springs.
        pub area: T ["m²"];
        /// The power dissipated.
        pub power_dissipated: T ["W"];
        /// The energy stored by friction with anchors.
        pub friction_energy: T ["J"];
        /// The energy that friction with anchors would store if no spring yielded.
        pub held_energy: T ["J"];
        pub(super) next_anchors: Vec<Anchor<T>>;
    }
}

/// The force of one displaced spring.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpringForce<T: Real> {
    /// The force along the normal \[N\].
    pub normal_force: T,
    /// The normal force per area \[Pa\].
    pub pressure: T,
    /// The friction force on the mesh \[N\], expressed in Ground.
    pub friction_force_G: Vector3<T>,
}

/// The sum of all forces of one contact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Resultant<T: Real> {
    /// Force on the mesh at its origin, expressed in Ground. The other surface gets the opposite.
    pub F_GS: SpatialForce<T>,
    /// The sum of the normal forces \[N\].
    pub normal_force: T,
    /// The sum of the areas \[m²\].
    pub area: T,
    /// The mean of the contact points, weighted by normal force, in Ground; `None` if their sum is not positive.
    pub center_of_pressure_G: Option<Point3<T>>,
}

impl MeshContact {
    /// Whether springs are at vertices of clipped faces, and not at centroids.
    pub(super) fn is_clipped(&self) -> bool {
        !self.faces.is_empty()
    }
}
