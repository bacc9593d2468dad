//! Surfaces with an inside.

use core::any::Any;
use core::fmt::Debug;

use nalgebra::{Matrix3, Point3, Vector3};

use crate::math::{Pose, Real};

/// A closed surface with an inside, fixed in its own frame S.
///
/// All points and vectors are expressed in S. Only [`nearest`](Self::nearest) is required. The other methods follow from
/// it, and may be overridden by cheaper ones. A bounded surface should state its [`bounds`](Self::bounds).
///
/// # Notes
///
/// - The signed distance must be a true distance: between two points it changes by no more than their distance. Culling
///   of whole groups of faces relies on this.
/// - If several surface points are equally near, any of them may be returned.
/// - A contact with a distance, point or normal that is not a number is an error.
/// - [`passing_time`](crate::ForceSystem::passing_time) takes half of the narrowest edge of the bounds for half of the
///   width of the solid. For a hollow solid, such as a pipe, that is more than its wall: build it from several solids, or
///   limit the steps yourself.
///
/// # Example: a user's own shape
///
/// An upright cylinder without ends, as a pipe filled with rubber:
///
/// ```
/// use force_elements::nalgebra::{Point3, Vector3};
/// use force_elements::shapes::{Solid, SurfacePoint};
///
/// #[derive(Debug)]
/// struct Pillar { radius: f64 }
///
/// impl Solid<f64> for Pillar {
///     fn nearest(&self, p_S: &Point3<f64>) -> SurfacePoint<f64> {
///         let across = Vector3::new(p_S.x, p_S.y, 0.0);
///         let normal = across.try_normalize(0.0).unwrap_or(Vector3::x());
///         let signed_distance = across.norm() - self.radius;
///         SurfacePoint { point: p_S - normal * signed_distance, normal, signed_distance }
///     }
/// }
///
/// let pillar = Pillar { radius: 2.0 };
/// assert!(pillar.contains(&Point3::new(1.0, 1.0, 50.0)));
/// assert_eq!(pillar.signed_distance(&Point3::new(0.0, 3.0, 0.0)), 1.0);
/// ```
pub trait Solid<T: Real>: Any + Debug + Send + Sync {
    /// The surface point nearest to a point inside or outside.
    fn nearest(&self, p_S: &Point3<T>) -> SurfacePoint<T>;

    /// A box around the solid, along the axes of its frame: the middle, and half of each edge \[m\]. By default `None`,
    /// for an unbounded solid.
    fn bounds(&self) -> Option<(Point3<T>, Vector3<T>)> {
        None
    }

    /// Distance from the surface \[m\], negative inside.
    fn signed_distance(&self, p_S: &Point3<T>) -> T {
        self.nearest(p_S).signed_distance
    }

    /// Whether a point is inside.
    fn contains(&self, p_S: &Point3<T>) -> bool {
        self.signed_distance(p_S) < T::zero()
    }

    /// A plane with all of the inside behind it, close to the surface near the point; `None` if there is none or if it is
    /// expensive to find.
    ///
    /// Faces in front of the plane of a convex shape are culled without further tests.
    fn supporting_plane(&self, _p_S: &Point3<T>) -> Option<Plane<T>> {
        None
    }

    /// The derivatives of the [normal](SurfacePoint::normal) by the point from which this surface point is nearest: the
    /// second derivatives of the signed distance, a symmetric matrix. `None` if they are not known; derivatives of
    /// contact forces are then finite differences.
    ///
    /// Where the derivatives do not exist, any finite matrix may be returned.
    fn normal_gradient(&self, _near: &SurfacePoint<T>) -> Option<Matrix3<T>> {
        None
    }

    /// The name of the type, for errors.
    fn type_name(&self) -> &'static str {
        core::any::type_name::<Self>()
    }
}

/// A point of a surface, and the signed distance of another point from it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SurfacePoint<T: Real> {
    /// The surface point.
    pub point: Point3<T>,
    /// Outward unit normal there: the direction in which the signed distance grows.
    pub normal: Vector3<T>,
    /// Distance of the query point \[m\], negative inside.
    pub signed_distance: T,
}

impl<T: Real> SurfacePoint<T> {
    /// The point of a plane nearest to `p`, whose height in front of the plane is given.
    #[inline]
    pub(crate) fn below(p: Point3<T>, height: T, normal: Vector3<T>) -> Self {
        Self { point: p - normal * height, normal, signed_distance: height }
    }

    /// This point in the frame in which the surface has the pose `X`.
    #[inline]
    pub(crate) fn placed(&self, X: &Pose<T>) -> Self {
        Self { point: X * self.point, normal: X.rotation * self.normal, ..*self }
    }

    /// The same in another scalar, with zero derivatives.
    #[inline]
    pub fn cast<U: Real>(&self) -> SurfacePoint<U> {
        SurfacePoint {
            point: self.point.map(T::cast),
            normal: self.normal.map(T::cast),
            signed_distance: self.signed_distance.cast(),
        }
    }
}

/// The plane of points p with `normal · p = offset`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plane<T: Real> {
    /// Unit normal.
    pub normal: Vector3<T>,
    /// Distance from the origin along the normal \[m\].
    pub offset: T,
}

impl<T: Real> Plane<T> {
    /// The same in another scalar, with zero derivatives.
    #[inline]
    pub fn cast<U: Real>(&self) -> Plane<U> {
        Plane { normal: self.normal.map(T::cast), offset: self.offset.cast() }
    }

    /// Height of a point in front of the plane \[m\].
    #[inline]
    pub fn height(&self, p: &Point3<T>) -> T {
        self.normal.dot(&p.coords) - self.offset
    }
}
