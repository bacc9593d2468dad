//! Faces displaced by another surface: those found by the search, in the scalar of the caller.

use alloc::sync::Arc;

use nalgebra::{Point3, Vector3};

use crate::math::{Pose, Real, cast_pose, is_plain};
use crate::shapes::{Feature, HalfSpace, Plane, Solid, SolidShape, SurfacePoint, TriangleMesh};

/// A face whose centroid, or with clipped faces a vertex, is inside another surface.
#[derive(Debug, Clone, Copy)]
pub struct Displaced<T: Real> {
    /// The number of the face or vertex in the mesh.
    pub index: usize,
    /// Its area \[m²\].
    pub area: T,
    /// Its depth \[m\].
    pub depth: T,
    /// The nearest point of the other surface, in Ground.
    pub point_G: Point3<T>,
    /// The outward normal of the other surface there, in Ground.
    pub normal_G: Vector3<T>,
    /// The face of the other surface, and its feature, on which the nearest point lies, if that is a mesh.
    pub(crate) part: Option<(usize, Feature)>,
}

impl<T: Real> Displaced<T> {
    /// Creates it from the surface point nearest to the face, given in Ground.
    #[inline]
    pub(super) fn new(
        index: usize,
        area: T,
        near_G: &SurfacePoint<T>,
        part: Option<(usize, Feature)>,
    ) -> Self {
        let SurfacePoint { point: point_G, normal: normal_G, signed_distance } = *near_G;
        Self { index, area, depth: -signed_distance, point_G, normal_G, part }
    }

    /// The centroid or vertex, in Ground. The nearest point is at this depth along the normal from it.
    pub fn base_G(&self) -> Point3<T> {
        self.point_G - self.normal_G * self.depth
    }
}

impl<T: Real> TriangleMesh<T> {
    /// Calls `found` for each face whose centroid is inside the other surface, in an order that depends
    /// on the mesh. The mesh is at `X_GS`, the other surface at `X_GO`; if it is a mesh, it must be closed.
    ///
    /// Whole subtrees are dropped if the disc around their centroids is in front of a plane that has the other surface
    /// behind it, or is farther outside than it is large. The search runs on plain numbers, whatever the scalar; of a
    /// user's shape it uses only the values.
    #[inline]
    pub fn for_each_inside(
        &self,
        X_GS: &Pose<T>,
        other: &SolidShape<T>,
        X_GO: &Pose<T>,
        mut found: impl FnMut(Displaced<T>),
    ) {
        match other {
            SolidShape::HalfSpace(other) => {
                let near_G = on_half_space(X_GS, *other, X_GO);
                let plane = plane_in(&cast_pose(X_GS), *other, &cast_pose(X_GO));
                self.plain.find_behind_plane(&plane, |face, centroid, height| {
                    let near_G = near_G(&centroid, height, self.centroid(face));
                    self.find(face, None, &near_G, SurfacePoint::clone, &mut found);
                });
            }
            SolidShape::Mesh(other) => {
                let (S, O) = (cast_pose::<T, f64>(X_GS), cast_pose::<T, f64>(X_GO));
                let X_OS = relative::<T>(X_GS, X_GO);
                self.plain.find_inside_mesh(&O.inv_mul(&S), &other.plain, |face, nearest| {
                    let (part, near) = (Some((nearest.0, nearest.1)), &nearest.2);
                    if is_plain::<T>() {
                        self.find(face, part, near, |near| near.placed(&O).cast(), &mut found);
                    } else if near.signed_distance < 0.0 {
                        let near = other.with_derivatives(nearest, &(X_OS * self.centroid(face)));
                        self.find(face, part, &near, |near| near.placed(X_GO), &mut found);
                    }
                });
            }
            SolidShape::Sphere(other) => self.find_inside(X_GS, other, &other.in_plain(), X_GO, found),
            SolidShape::Ellipsoid(other) => self.find_inside(X_GS, other, &other.in_plain(), X_GO, found),
            SolidShape::Custom(other) => {
                self.find_inside(X_GS, other.as_ref(), &Valued(Arc::clone(other)), X_GO, found);
            }
        }
    }

    /// `plain` is the other solid in plain numbers.
    fn find_inside(
        &self,
        X_GS: &Pose<T>,
        other: &(impl Solid<T> + ?Sized),
        plain: &impl Solid<f64>,
        X_GO: &Pose<T>,
        mut found: impl FnMut(Displaced<T>),
    ) {
        let (S, O) = (cast_pose::<T, f64>(X_GS), cast_pose::<T, f64>(X_GO));
        let X_OS = relative::<T>(X_GS, X_GO);
        self.plain.find_inside(&O.inv_mul(&S), plain, |face, p_O| {
            if is_plain::<T>() {
                self.find(face, None, &plain.nearest(p_O), |near| near.placed(&O).cast(), &mut found);
            } else if plain.contains(p_O) {
                let near = other.nearest(&(X_OS * self.centroid(face)));
                self.find(face, None, &near, |near| near.placed(X_GO), &mut found);
            }
        });
    }

    /// Calls `found` if the nearest point of a surface says that the centroid of a face is inside.
    #[inline]
    fn find<U: Real>(
        &self,
        index: usize,
        part: Option<(usize, Feature)>,
        near: &SurfacePoint<U>,
        in_ground: impl FnOnce(&SurfacePoint<U>) -> SurfacePoint<T>,
        found: impl FnOnce(Displaced<T>),
    ) {
        // A number that is NaN leads to a force that is NaN, and so to an error.
        if near.signed_distance < U::zero() || near.signed_distance.to_f64().is_nan() {
            found(Displaced::new(index, self.area(index), &in_ground(near), part));
        }
    }
}

/// The pose of the mesh in the other surface's frame, if the scalar is not plain and needs it.
#[inline]
pub(super) fn relative<T: Real>(X_GS: &Pose<T>, X_GO: &Pose<T>) -> Pose<T> {
    if is_plain::<T>() { Pose::identity() } else { X_GO.inv_mul(X_GS) }
}

/// Returns a function that finds the point of a half-space nearest to a point of the mesh, in Ground, from the point in plain
/// numbers, its height above the plane, and the point in the scalar.
#[inline]
pub(super) fn on_half_space<T: Real>(
    X_GS: &Pose<T>,
    other: HalfSpace,
    X_GO: &Pose<T>,
) -> impl Fn(&Point3<f64>, f64, Point3<T>) -> SurfacePoint<T> {
    let (X_GS, S, O) = (*X_GS, cast_pose::<T, f64>(X_GS), cast_pose::<T, f64>(X_GO));
    let (normal, normal_G) = (O * other.normal(), X_GO * other.normal());
    let plane_S = plane_in(&X_GS, other, X_GO);
    move |plain, height, p| {
        if is_plain::<T>() {
            SurfacePoint::below(S * plain, height, normal).cast()
        } else {
            SurfacePoint::below(X_GS * p, plane_S.height(&p), normal_G)
        }
    }
}

/// The plane of a half-space in the frame of the mesh.
#[inline]
pub(super) fn plane_in<T: Real>(X_GS: &Pose<T>, other: HalfSpace, X_GO: &Pose<T>) -> Plane<T> {
    let normal_G = X_GO * other.normal();
    let normal = X_GS.rotation.inverse_transform_vector(&normal_G);
    let offset = normal_G.dot(&(X_GO.translation.vector - X_GS.translation.vector));
    Plane { normal, offset }
}

/// A solid of any scalar, read in plain numbers.
#[derive(Debug)]
pub(super) struct Valued<T: Real>(pub(super) Arc<dyn Solid<T>>);

impl<T: Real> Solid<f64> for Valued<T> {
    #[inline]
    fn nearest(&self, p_S: &Point3<f64>) -> SurfacePoint<f64> {
        self.0.nearest(&p_S.map(T::lit)).cast()
    }

    #[inline]
    fn signed_distance(&self, p_S: &Point3<f64>) -> f64 {
        self.0.signed_distance(&p_S.map(T::lit)).to_f64()
    }

    #[inline]
    fn contains(&self, p_S: &Point3<f64>) -> bool {
        self.0.contains(&p_S.map(T::lit))
    }

    #[inline]
    fn supporting_plane(&self, p_S: &Point3<f64>) -> Option<Plane<f64>> {
        self.0.supporting_plane(&p_S.map(T::lit)).map(|plane| plane.cast())
    }
}
