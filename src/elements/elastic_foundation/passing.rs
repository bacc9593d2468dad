//! The time in which surfaces of a foundation could pass through each other unnoticed, and gaps between meshes and
//! half-spaces.

use nalgebra::Point3;

use super::{ElasticFoundation, MeshContact, Position};
use crate::elements::meshes::{gap, passing_time};
use crate::framework::AtDynamics;
use crate::math::{Real, SpatialVelocity};
use crate::mechanics::Checked;
use crate::shapes::SolidShape;

impl<T: Real> ElasticFoundation<T> {
    pub(super) fn shortest_passing_time(&self, at: &AtDynamics<'_, T, Self>, within: f64) -> f64 {
        let Position { search, contacts, .. } = at.position;
        let velocity_at = |i: usize, p_G: &Point3<T>| {
            at.velocities.velocity_of_frame(at.positions, Checked(self.surfaces[i].body), p_G)
        };
        // A bound on the speed of the points within this radius, for a body with this velocity at their middle.
        let bound = |V: SpatialVelocity<T>, radius: T| (V.linear.norm() + V.angular.norm() * radius).to_f64();
        let own_speed =
            |i: usize, (center_G, radius): (Point3<T>, T)| bound(velocity_at(i, &center_G), radius);
        let extents = (0..self.surfaces.len()).filter_map(|i| Some((i, self.extent(i, at)?)));
        let speeds = extents.map(|(i, extent)| own_speed(i, extent));
        // Surfaces that are farther apart do not meet within the time.
        let reach = 2.0 * speeds.fold(0.0, f64::max) * within;
        let mut shortest = f64::INFINITY;
        search.for_each_within(if reach.is_nan() { f64::INFINITY } else { reach }, |i, j| {
            let (i, j) = (i as usize, j as usize);
            // The forces of surfaces in contact are known.
            if !self.may_touch(i, j) || are_in_contact(contacts, i, j) {
                return;
            }
            let (small, large) = match (self.extent(i, at), self.extent(j, at)) {
                (Some(a), Some(b)) if a.1 > b.1 => ((j, b), (i, Some(a))),
                (Some(a), b) => ((i, a), (j, b)),
                (None, Some(b)) => ((j, b), (i, None)),
                (None, None) => return,
            };
            let ((i, extent), (j, other)) = (small, large);
            let (center_G, radius) = extent;
            let apart = match (&other, &self.surfaces[j].shape) {
                (Some(_), _) => search.boxes[i].distance(&search.boxes[j]),
                // Nothing passes through a half-space.
                (None, SolidShape::HalfSpace(_)) => return,
                (None, shape) => {
                    let p_O = at.position.X_GS[j].inverse_transform_point(&center_G);
                    (shape.signed_distance(&p_O) - radius).to_f64().max(0.0)
                }
            };
            let [half, others] = [i, j].map(|k| self.surfaces[k].half_width);
            // Springs are detected while they are inside the other surface, whose width is not known if it is unbounded.
            let acts = |i: usize, j: usize| {
                self.surfaces[i].share(&self.surfaces[j], at.parameters.clipped).is_some()
            };
            let seen = match [acts(i, j), acts(j, i)] {
                [true, true] => half.max(others),
                [true, false] if other.is_some() => others,
                _ => half,
            };
            // The motion of one relative to the other, at the points of the smaller one; or the sum of their own motions,
            // if that is less, as when one spins far away.
            let V = velocity_at(i, &center_G) - velocity_at(j, &center_G);
            let own = other.map_or(f64::INFINITY, |other| own_speed(i, extent) + own_speed(j, other));
            let speed = bound(V, radius).min(own);
            shortest = shortest.min(passing_time(apart, [half, others], seen, speed));
        });
        shortest
    }

    /// Reports the gap between each mesh with springs and each half-space: the gap of the box around the mesh or, if the
    /// box is inside, of its vertices.
    pub(super) fn report_gaps_to_half_spaces(
        &self,
        at: &AtDynamics<'_, T, Self>,
        report: &mut dyn FnMut([T; 2]),
    ) {
        let surfaces = || self.surfaces.iter().zip(&at.position.X_GS).enumerate();
        for (j, (plane, X_GP)) in surfaces() {
            let SolidShape::HalfSpace(half_space) = &plane.shape else { continue };
            for (i, (placed, X_GM)) in surfaces() {
                let (true, Some(mesh)) = (self.may_touch(i, j), &placed.springs) else { continue };
                if are_in_contact(&at.position.contacts, i, j) {
                    report([T::zero(); 2]);
                    continue;
                }
                report(gap((half_space, X_GP), (mesh, X_GM), |p_G| {
                    let velocity = |body| at.velocities.velocity_of_point(at.positions, Checked(body), p_G);
                    velocity(placed.body) - velocity(plane.body)
                }));
            }
        }
    }

    /// The box around a surface: its centre in Ground, and half of its diagonal; `None` if the surface is unbounded.
    fn extent(&self, i: usize, at: &AtDynamics<'_, T, Self>) -> Option<(Point3<T>, T)> {
        let (center, half_extents) = self.surfaces[i].bounds?;
        Some((at.position.X_GS[i] * center, half_extents.norm()))
    }
}

/// Whether two surfaces are in contact. Contacts are in the order of pairs.
fn are_in_contact(contacts: &[MeshContact], i: usize, j: usize) -> bool {
    let pair = |contact: &MeshContact| {
        let (a, b) = (contact.mesh, contact.other);
        (a.min(b), a.max(b))
    };
    contacts.binary_search_by_key(&(i.min(j), i.max(j)), pair).is_ok()
}
