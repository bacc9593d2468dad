//! Surfaces that one body can be inside of, and the search for what is inside.
//!
//! | shape | what it fills | answers "inside" by |
//! |---|---|---|
//! | [`HalfSpace`] | one side of a coordinate plane of its frame; the ground is `HalfSpace::BelowZ` | the plane |
//! | [`Sphere`] | a ball about the origin of its frame | the radius |
//! | [`Ellipsoid`] | its axes are those of its frame | the nearest point, by Newton iteration |
//! | [`TriangleMesh`] | what its closed faces enclose | the nearest point, found in a tree of boxes, and its pseudo-normal |
//! | a user's own | | the trait [`Surface`] |
//!
//! Nothing here knows about springs or forces; the element
//! [`ElasticFoundation`](crate::ElasticFoundation) does.

use nalgebra::Vector3;

use crate::math::Real;

mod ellipsoid;
mod error;
mod half_space;
mod mesh;
mod pairs;
mod shape;
mod sphere;
mod surface;

pub use ellipsoid::Ellipsoid;
pub use error::ShapeError;
pub use half_space::HalfSpace;
#[cfg(feature = "mesh-files")]
pub use mesh::FaceList;
pub use mesh::{Displaced, MeshFault, TriangleMesh};
pub use pairs::{BoundingBox, PairSearch};
pub use shape::Shape;
pub use sphere::Sphere;
pub use surface::{Bounds, Plane, Surface, SurfacePoint};

/// The direction and the length of a vector, also where squares would overflow or vanish; `None` for zero.
#[inline]
pub(crate) fn direction_and_length<T: Real>(v: &Vector3<T>) -> Option<(Vector3<T>, T)> {
    let squared = v.norm_squared();
    if squared.is_finite() && squared > T::default_epsilon() * T::default_epsilon() {
        let length = squared.sqrt();
        return Some((v / length, length));
    }
    let largest =
        v.iter().fold(T::zero(), |largest, &x| greater(largest, if x < T::zero() { -x } else { x }));
    (largest > T::zero()).then(|| {
        let scaled = v / largest;
        let length = scaled.norm_squared().sqrt();
        (scaled / length, largest * length)
    })
}

/// The smaller of two values, without the care for not-a-number that slows `min` down.
#[inline]
pub(crate) fn lesser<T: PartialOrd + Copy>(a: T, b: T) -> T {
    if b < a { b } else { a }
}

/// The greater of two values, without the care for not-a-number that slows `max` down.
#[inline]
pub(crate) fn greater<T: PartialOrd + Copy>(a: T, b: T) -> T {
    if b > a { b } else { a }
}
