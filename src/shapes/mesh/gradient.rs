//! Derivatives of the normal at the nearest point of a mesh.

use nalgebra::{Matrix3, Vector3};

use crate::math::Real;
use crate::shapes::mesh::triangles::Feature;
use crate::shapes::{TriangleMesh, turned_about};

/// Where on a mesh the nearest point lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MeshPart {
    pub(super) face: usize,
    pub(super) feature: Feature,
}

impl<T: Real> TriangleMesh<T> {
    /// As [`Solid::normal_gradient`](crate::shapes::Solid::normal_gradient), for a nearest point on this part.
    #[inline]
    pub(crate) fn normal_gradient_on(
        &self,
        part: MeshPart,
        normal: &Vector3<T>,
        signed_distance: T,
    ) -> Option<Matrix3<T>> {
        if self.plain.is_flat_around(part) {
            return None;
        }
        match part.feature {
            Feature::Face => None,
            Feature::Edge(k) => {
                let (_, edge) = self.edge(part.face, k);
                let across = edge.cross(normal);
                let scale = (edge.norm_squared() * signed_distance).recip();
                Some(if scale.is_finite() { across * across.transpose() * scale } else { Matrix3::zeros() })
            }
            Feature::Corner(_) => Some(turned_about(normal, signed_distance)),
        }
    }
}
