//! Half widths, passing times, gaps and spring motion for beds of springs on meshes.

mod motion;

use nalgebra::{Point3, Vector3};

use crate::math::{Pose, Real};
use crate::shapes::{HalfSpace, Solid as _, SolidShape, TriangleMesh};

pub(super) use motion::{ELASTIC, MOTION, Sums, across_and_along, by_mesh, normal_gradient};

/// Half of the least width of a shape, and for a mesh at most twice its volume over its area: two thirds of the radius of
/// a ball, or the thickness of a wall. Springs that have just not passed through the shape are that deep. Zero for an
/// open mesh.
pub(super) fn half_width<T: Real>(shape: &SolidShape<T>, bounds: Option<(Point3<T>, Vector3<T>)>) -> T {
    let Some((_, half_extents)) = bounds else { return T::zero() };
    let least = half_extents.min();
    match shape {
        SolidShape::Mesh(mesh) => {
            let area = mesh.areas().fold(T::zero(), |sum, area| sum + area);
            least.min(mesh.volume().map_or(T::zero(), |volume| T::lit(2.0) * volume / area))
        }
        _ => least,
    }
}

/// The time in which surfaces at this distance could pass through each other unnoticed at this speed, if a surface inside
/// the other is detected while it is within `seen` of the border.
pub(super) fn passing_time<T: Real>(apart: f64, half_widths: [T; 2], seen: T, speed: f64) -> f64 {
    let [a, b] = half_widths;
    let dip = ((a + b) * T::lit(0.5)).min(seen).to_f64();
    // A surface without a known width can be passed in any step.
    if dip > 0.0 { (apart + dip) / speed } else { f64::INFINITY }
}

/// The gap between a half-space and a mesh, and its rate, from the velocity of a point of the mesh relative to the
/// half-space. The gap is that of the lowest point of the box around the mesh or, if this point is inside, of the mesh
/// itself.
pub(super) fn gap<T: Real>(
    (half_space, X_GP): (&HalfSpace, &Pose<T>),
    (mesh, X_GM): (&TriangleMesh<T>, &Pose<T>),
    velocity: impl Fn(&Point3<T>) -> Vector3<T>,
) -> [T; 2] {
    let normal_G = X_GP.rotation * half_space.normal();
    let height = |p_G: &Point3<T>| normal_G.dot(&(p_G.coords - X_GP.translation.vector));
    let up_M = X_GM.rotation.inverse_transform_vector(&normal_G);
    let of_box = mesh.bounds().map(|(center, half_extents)| {
        X_GM * (center + half_extents.zip_map(&up_M, |half, up| -half.copysign(up)))
    });
    let lowest_G = of_box.filter(|p_G| height(p_G) > T::zero()).unwrap_or_else(|| {
        let vertices = mesh.used_vertices().map(|vertex| (vertex, up_M.dot(&vertex.coords)));
        let lowest = vertices.reduce(|a, b| if b.1 < a.1 { b } else { a });
        lowest.map_or(X_GM.translation.vector.into(), |(vertex, _)| X_GM * vertex)
    });
    [height(&lowest_G), normal_G.dot(&velocity(&lowest_G))]
}
