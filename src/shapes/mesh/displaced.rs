//! Faces displaced by another surface: those found by the search, in the scalar asked for.

use alloc::sync::Arc;

use nalgebra::{Point3, Vector3};

use crate::math::{Pose, Real, cast_pose, is_plain};
use crate::shapes::{HalfSpace, MeshPart, Plane, Solid, SolidShape, SurfacePoint, TriangleMesh};

/// A face whose centroid is inside another surface.
#[derive(Debug, Clone, Copy)]
pub struct Displaced<T: Real> {
    /// The number of the face in the mesh.
    pub index: usize,
    /// Its area \[m²\].
    pub area: T,
    /// Its depth \[m\].
    pub depth: T,
    /// The nearest point of the other surface, in Ground.
    pub point_G: Point3<T>,
    /// The outward normal of the other surface there, in Ground.
    pub normal_G: Vector3<T>,
    /// Where on the other surface the nearest point lies, if that is a mesh.
    pub(crate) part: Option<MeshPart>,
}

impl<T: Real> Displaced<T> {
    /// Calls `found` if the nearest point of a surface at `X_GO` says that the centroid of the face is inside.
    #[inline]
    fn find(
        (index, area, part): (usize, T, Option<MeshPart>),
        near: &SurfacePoint<T>,
        X_GO: &Pose<T>,
        found: impl FnOnce(Self),
    ) {
        // What is not a number leads to a force that is none, and so to an error.
        if near.signed_distance < T::zero() || near.signed_distance.to_f64().is_nan() {
            found(Self {
                index,
                area,
                depth: -near.signed_distance,
                point_G: X_GO * near.point,
                normal_G: X_GO.rotation * near.normal,
                part,
            });
        }
    }

    /// The centroid of the face, from which the nearest point is at this depth along the normal, in Ground.
    pub fn base_G(&self) -> Point3<T> {
        self.point_G - self.normal_G * self.depth
    }

    #[inline]
    fn cast<U: Real>(&self) -> Displaced<U> {
        Displaced {
            index: self.index,
            area: self.area.cast(),
            depth: self.depth.cast(),
            point_G: self.point_G.map(T::cast),
            normal_G: self.normal_G.map(T::cast),
            part: self.part,
        }
    }
}

impl<T: Real> TriangleMesh<T> {
    /// Calls `found` for each face whose centroid is inside the other surface, in an order that depends
    /// on the mesh. The mesh is at `X_GS`, the other surface at `X_GO`; if it is a mesh, it must be closed.
    ///
    /// Whole subtrees are dropped when the disc around their centroids is in front of a plane
    /// that has the other surface behind it, or farther outside than it is large. The search runs on plain numbers,
    /// whatever the scalar; of a user's own shape it uses the values only.
    #[inline]
    pub fn for_each_inside(
        &self,
        X_GS: &Pose<T>,
        other: &SolidShape<T>,
        X_GO: &Pose<T>,
        found: impl FnMut(Displaced<T>),
    ) {
        match other {
            SolidShape::HalfSpace(other) => self.find_inside_half_space(X_GS, *other, X_GO, found),
            SolidShape::Mesh(other) => self.find_inside_mesh(X_GS, other, X_GO, found),
            SolidShape::Sphere(other) => self.find_inside(X_GS, other, &other.in_plain(), X_GO, found),
            SolidShape::Ellipsoid(other) => self.find_inside(X_GS, other, &other.in_plain(), X_GO, found),
            SolidShape::Custom(other) => {
                self.find_inside(X_GS, other.as_ref(), &Valued(Arc::clone(other)), X_GO, found);
            }
        }
    }

    #[inline]
    fn find_inside_half_space(
        &self,
        X_GS: &Pose<T>,
        other: HalfSpace,
        X_GO: &Pose<T>,
        mut found: impl FnMut(Displaced<T>),
    ) {
        let (S, O) = (cast_pose::<T, f64>(X_GS), cast_pose::<T, f64>(X_GO));
        let normal = O * other.normal();
        let normal_G = X_GO * other.normal();
        let plane = plane_in(&S, normal, &O);
        let plane_S = plane_in(X_GS, normal_G, X_GO);
        self.plain.find_behind_plane(plane, |(face, area), centroid, height| {
            if is_plain::<T>() {
                let point_G = S * centroid - normal * height;
                let depth = -height;
                found(Displaced { index: face, area, depth, point_G, normal_G: normal, part: None }.cast());
            } else {
                let centroid = self.centroid(face);
                let height = plane_S.height(&centroid);
                if height < T::zero() {
                    let point_G = X_GS * centroid - normal_G * height;
                    let (area, depth) = (self.area(face), -height);
                    found(Displaced { index: face, area, depth, point_G, normal_G, part: None });
                }
            }
        });
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
            let (face, area) = face;
            if is_plain::<T>() {
                let near = plain.nearest(p_O);
                Displaced::find((face, area, None), &near, &O, |displaced| found(displaced.cast()));
            } else if plain.contains(p_O) {
                let near = other.nearest(&(X_OS * self.centroid(face)));
                Displaced::find((face, self.area(face), None), &near, X_GO, &mut found);
            }
        });
    }

    fn find_inside_mesh(
        &self,
        X_GS: &Pose<T>,
        other: &Self,
        X_GO: &Pose<T>,
        mut found: impl FnMut(Displaced<T>),
    ) {
        let (S, O) = (cast_pose::<T, f64>(X_GS), cast_pose::<T, f64>(X_GO));
        let X_OS = relative::<T>(X_GS, X_GO);
        self.plain.find_inside_mesh(&O.inv_mul(&S), &other.plain, |(face, area), nearest| {
            let (part, near) = (Some(nearest.0), &nearest.1);
            if is_plain::<T>() {
                Displaced::find((face, area, part), near, &O, |displaced| found(displaced.cast()));
            } else if near.signed_distance < 0.0 {
                let near = other.with_derivatives(nearest, &(X_OS * self.centroid(face)));
                Displaced::find((face, self.area(face), part), &near, X_GO, &mut found);
            }
        });
    }
}

/// The pose of the mesh in the other surface's frame, if the scalar is not plain and needs it.
#[inline]
pub(super) fn relative<T: Real>(X_GS: &Pose<T>, X_GO: &Pose<T>) -> Pose<T> {
    if is_plain::<T>() { Pose::identity() } else { X_GO.inv_mul(X_GS) }
}

/// The plane through the origin of O with this normal in Ground, in the frame S.
#[inline]
pub(super) fn plane_in<T: Real>(X_GS: &Pose<T>, normal_G: Vector3<T>, X_GO: &Pose<T>) -> Plane<T> {
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
