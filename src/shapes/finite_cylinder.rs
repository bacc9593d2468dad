//! A round cylinder with ends.

use nalgebra::{Matrix3, Point3, Vector3};

use crate::math::{Real, Requirement, check};
use crate::shapes::lengths::shape_of_lengths;
use crate::shapes::{Plane, Solid, SurfacePoint, greater, turned_about};

shape_of_lengths! {
    /// A round cylinder about the z axis of its frame, with flat ends and rounded rims.
    ///
    /// ```text
    ///        rim radius            z
    ///           ╭──────────────────│──────────────────╮
    ///           │                  │                  │   half length
    ///           │                  └──── radius ──────│ x
    ///           │                                     │
    ///           ╰─────────────────────────────────────╯
    /// ```
    ///
    /// It is convex, and its normal is continuous: a cable slides off over the rim without a jump of its length. Inside,
    /// where two parts of the surface are equally near, the part around the axis is taken; on the axis, its point on +x.
    pub struct FiniteCylinder in "finite_cylinder" {
        /// The radius \[m\].
        radius,
        /// Half of the length from end to end \[m\].
        half_length,
        /// The radius of the rims \[m\].
        rim_radius,
    }
    /// A cylinder with this radius \[m\], half of its length \[m\], and the radius of its rims in a section through the
    /// axis \[m\].
    ///
    /// # Errors
    /// [`ShapeError::InvalidValue`](crate::shapes::ShapeError::InvalidValue) unless all are of a
    /// [`Size`](crate::Requirement::Size), the rim's radius is below half of the radius, and it is at most the half length.
    new;
    check |cylinder| {
        let Self { radius, half_length, rim_radius } = *cylinder;
        let (name, is_thin) = ("finite_cylinder.rim_radius", rim_radius + rim_radius < radius);
        check::that(is_thin, name, rim_radius, Requirement::Below("half of the radius"))?;
        check::at_most(name, rim_radius, "half_length", half_length)
    };
}

/// The parts of the surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// Around the axis.
    Side,
    /// Flat.
    End,
    /// Between both, a quarter of a torus.
    Rim,
}

impl<T: Real> FiniteCylinder<T> {
    /// The radius of the flat ends.
    pub(crate) fn end_radius(&self) -> T {
        self.radius - self.rim_radius
    }

    /// Half of the length without the rims.
    pub(crate) fn side_half_length(&self) -> T {
        self.half_length - self.rim_radius
    }

    /// The part of the surface nearest to a point, with the distance of the point from the axis.
    #[inline]
    pub(crate) fn nearest_part(&self, p: &Point3<T>) -> (Part, T) {
        let squared = p.x * p.x + p.y * p.y;
        // The root of zero has no derivative.
        let distance = if squared > T::zero() { squared.sqrt() } else { T::zero() };
        let [out, up] = self.beyond(distance, p.z);
        let part = if out > T::zero() && up > T::zero() {
            Part::Rim
        } else if up > out {
            Part::End
        } else {
            Part::Side
        };
        (part, distance)
    }

    /// The distances beyond the flat ends, outwards and upwards.
    #[inline]
    pub(crate) fn beyond(&self, distance: T, z: T) -> [T; 2] {
        [distance - self.end_radius(), z.abs() - self.side_half_length()]
    }

    /// The distance of a point from the surface, negative inside.
    #[inline]
    pub(crate) fn distance_of(&self, p: &Point3<T>) -> T {
        let (part, distance) = self.nearest_part(p);
        let [out, up] = self.beyond(distance, p.z);
        let reach = match part {
            Part::Rim => (out * out + up * up).sqrt(),
            Part::End => up,
            Part::Side => out,
        };
        reach - self.rim_radius
    }

    /// The outward normal of the surface at its point nearest to `p`.
    #[inline]
    pub(crate) fn normal_at(&self, p: &Point3<T>) -> Vector3<T> {
        let (part, distance) = self.nearest_part(p);
        let along = if p.z < T::zero() { -Vector3::z() } else { Vector3::z() };
        if part == Part::End {
            return along;
        }
        let across =
            if distance > T::zero() { Vector3::new(p.x, p.y, T::zero()) / distance } else { Vector3::x() };
        if part == Part::Side {
            return across;
        }
        let [out, up] = self.beyond(distance, p.z);
        (across * out + along * up) / (out * out + up * up).sqrt()
    }
}

impl<T: Real> Solid<T> for FiniteCylinder<T> {
    fn nearest(&self, p_S: &Point3<T>) -> SurfacePoint<T> {
        let (normal, signed_distance) = (self.normal_at(p_S), self.distance_of(p_S));
        SurfacePoint { point: p_S - normal * signed_distance, normal, signed_distance }
    }

    fn bounds(&self) -> Option<(Point3<T>, Vector3<T>)> {
        let half_extents = Vector3::new(self.radius, self.radius, self.half_length);
        Some((Point3::origin(), half_extents))
    }

    fn signed_distance(&self, p_S: &Point3<T>) -> T {
        self.distance_of(p_S)
    }

    fn supporting_plane(&self, p_S: &Point3<T>) -> Option<Plane<T>> {
        let normal = self.normal_at(p_S);
        let across = (normal.x * normal.x + normal.y * normal.y).sqrt();
        let core = self.end_radius() * across + self.side_half_length() * greater(normal.z, -normal.z);
        Some(Plane { normal, offset: core + self.rim_radius })
    }

    fn normal_gradient(&self, near: &SurfacePoint<T>) -> Option<Matrix3<T>> {
        let p = near.point + near.normal * near.signed_distance;
        let (part, distance) = self.nearest_part(&p);
        if part == Part::End || distance <= T::zero() {
            return Some(Matrix3::zeros());
        }
        let round = Vector3::new(-p.y, p.x, T::zero()) / distance;
        // The distances along the normal to the axis, and to the middle of the rim.
        let out = near.normal.xy().norm_squared().sqrt();
        let around = round * round.transpose() * (out / distance);
        let over_rim = match part {
            Part::Rim => {
                let length = near.signed_distance + self.rim_radius;
                let over_rim = round.cross(&near.normal);
                over_rim * (turned_about(&near.normal, length) * over_rim).transpose()
            }
            Part::Side | Part::End => Matrix3::zeros(),
        };
        Some(around + over_rim)
    }
}
