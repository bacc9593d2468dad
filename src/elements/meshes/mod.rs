//! What beds of springs on meshes share: measures by which contacts are not missed, and the motion of a spring.

mod motion;

use nalgebra::{Point3, Vector3};

use crate::math::{Pose, Real};
use crate::shapes::{Solid as _, SolidShape, TriangleMesh};

pub(super) use motion::{ELASTIC, MOTION, Sums, across_and_along, by_mesh, normal_gradient, twist};

/// Half of the least width of a shape; of a mesh also no more than three times its volume over its area, which is the radius
/// of a ball, and for a wall 1.5 times half of its thickness. Zero for an open mesh.
pub(super) fn half_width<T: Real>(shape: &SolidShape<T>, bounds: Option<(Point3<T>, Vector3<T>)>) -> T {
    let Some((_, half_extents)) = bounds else { return T::zero() };
    let least = half_extents.min();
    match shape {
        SolidShape::Mesh(mesh) => {
            let area = mesh.areas().fold(T::zero(), |sum, area| sum + area);
            least.min(mesh.volume().map_or(T::zero(), |volume| T::lit(3.0) * volume / area))
        }
        _ => least,
    }
}

/// The lowest point of the box around a mesh above a plane with this normal, in Ground; if that is not above the plane, the
/// lowest vertex.
pub(super) fn lowest_point<T: Real>(
    mesh: &TriangleMesh<T>,
    X_GM: &Pose<T>,
    normal_G: &Vector3<T>,
    height: impl Fn(&Point3<T>) -> T,
) -> Point3<T> {
    let up_M = X_GM.rotation.inverse_transform_vector(normal_G);
    if let Some((center, half_extents)) = mesh.bounds() {
        let lowest_G = X_GM * (center + half_extents.zip_map(&up_M, |half, up| -half.copysign(up)));
        if height(&lowest_G) > T::zero() {
            return lowest_G;
        }
    }
    let vertices = mesh.vertices().map(|vertex| (vertex, up_M.dot(&vertex.coords)));
    let lowest = vertices.reduce(|a, b| if b.1 < a.1 { b } else { a });
    lowest.map_or(X_GM.translation.vector.into(), |(vertex, _)| X_GM * vertex)
}
