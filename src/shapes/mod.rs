//! Shapes, and the trait of solids.
//!
//! | shape | solid | can be entered | can be wrapped |
//! |---|---|---|---|
//! | [`HalfSpace`] | one side of a coordinate plane of its frame; the ground is `HalfSpace::BelowZ` | yes | |
//! | [`Sphere`] | a ball about the origin of its frame | yes | yes |
//! | [`Ellipsoid`] | an ellipsoid along the axes of its frame | yes | yes |
//! | [`Cylinder`] | a round column about the z axis, without ends | | yes |
//! | [`FiniteCylinder`] | a round column about the z axis, with flat ends and rounded rims | yes | yes |
//! | [`Torus`] | a ring about the z axis | | yes |
//! | [`HeightMap`] | the space below a spline over a rectangle | | yes |
//! | [`DistanceField`] | the inside of a closed mesh, with edges rounded at the scale of a grid | | yes |
//! | [`TriangleMesh`] | the inside of closed faces | yes | |
//!
//! Shapes that can be entered implement [`Solid`]: nearest point, signed distance, bounds. Shapes that a cable
//! can wrap implement [`Wrappable`](crate::cable::Wrappable): an implicit function with two derivatives,
//! geodesics. A user's shape implements either or both.
//!

use nalgebra::{Matrix3, Vector3};

use crate::math::Real;

mod cylinder;
mod distance_field;
mod ellipsoid;
mod error;
pub(crate) mod finite_cylinder;
mod half_space;
mod height_map;
mod lengths;
mod mesh;
mod solid;
mod solid_shape;
mod sphere;
mod spline;
mod torus;

pub use cylinder::Cylinder;
pub use distance_field::DistanceField;
pub use ellipsoid::Ellipsoid;
pub use error::ShapeError;
pub use finite_cylinder::FiniteCylinder;
pub use half_space::HalfSpace;
pub use height_map::HeightMap;
pub use mesh::{Displaced, FaceList, MeshFault, TriangleMesh};
pub(crate) use mesh::{Feature, VertexBuffer, moments_of_depth};
pub use solid::{Plane, Solid, SurfacePoint};
pub use solid_shape::SolidShape;
pub use sphere::Sphere;
pub use torus::Torus;

/// The value of a function with its first and second derivatives.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Jet<T: Real> {
    pub(crate) value: T,
    pub(crate) gradient: Vector3<T>,
    pub(crate) hessian: Matrix3<T>,
}

/// The direction and the length of a vector, even if squares would overflow or underflow; `None` for zero.
#[inline]
pub(crate) fn direction_and_length<T: Real>(v: &Vector3<T>) -> Option<(Vector3<T>, T)> {
    let squared = v.norm_squared();
    if squared.is_finite() && squared > T::default_epsilon() * T::default_epsilon() {
        let length = squared.sqrt();
        return Some((v / length, length));
    }
    let largest =
        v.iter().fold(T::zero(), |largest, &x| greater(largest, if x < T::zero() { -x } else { x }));
    // NaN differs from zero.
    v.iter().any(|&x| x != T::zero()).then(|| {
        let scaled = v / largest;
        let length = scaled.norm_squared().sqrt();
        (scaled / length, largest * length)
    })
}

/// The derivatives of a direction by the end of a vector of this length; zero for a vector of length zero.
#[inline]
pub(crate) fn turned_about<T: Real>(direction: &Vector3<T>, length: T) -> Matrix3<T> {
    let over = length.recip();
    if over.is_finite() {
        (Matrix3::identity() - direction * direction.transpose()) * over
    } else {
        Matrix3::zeros()
    }
}

/// The smaller of two values, without the NaN handling that slows `min` down.
#[inline]
pub(crate) fn lesser<T: PartialOrd + Copy>(a: T, b: T) -> T {
    if b < a { b } else { a }
}

/// The greater of two values, without the NaN handling that slows `max` down.
#[inline]
pub(crate) fn greater<T: PartialOrd + Copy>(a: T, b: T) -> T {
    if b > a { b } else { a }
}
