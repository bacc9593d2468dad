//! Points and tensions along a solved path, for drawing.

use nalgebra::{Point3, Vector3};

use super::strands::{Grips, Strands};
use crate::cable::ceil;
use crate::cable::geodesics::wrappable::Wrappable;
use crate::cable::model::path::CablePath;
use crate::cable::slopes::path_derivatives::PathMotion;
use crate::cable::solution::results::{ObstacleContact, PathResults};
use crate::math::Real;
use crate::mechanics::BodyIndex;

impl<T: Real> ObstacleContact<T> {
    /// Points along the contact arc in Ground \[m\], each with its fraction of the arc's length, from start to end.
    /// Between two points the arc turns by a tenth of a radian or less. None without contact. `surface` is that of the
    /// obstacle, as it was made, and `accuracy` that of directions \[rad\].
    pub fn points_G<'a>(
        &'a self,
        surface: &'a dyn Wrappable<T>,
        accuracy: T,
    ) -> impl Iterator<Item = (T, Point3<T>)> + 'a {
        let pieces = ceil(self.turning(surface, accuracy).abs() * T::lit(10.0)).to_f64().clamp(1.0, 1e4);
        self.walk_G(surface, pieces, accuracy)
    }

    /// The points between this number of equal pieces of the contact arc, and its ends, each with its fraction of the
    /// arc's length. None without contact.
    pub(crate) fn walk_G<'a>(
        &'a self,
        surface: &'a dyn Wrappable<T>,
        pieces: f64,
        accuracy: T,
    ) -> impl Iterator<Item = (T, Point3<T>)> + 'a {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1 and 100,000")]
        let points = if self.in_contact { pieces as u32 + 1 } else { 0 };
        let (mut point, mut tangent, length) = self.start_on_surface();
        let step = length / T::lit(pieces);
        (0..points).map(move |i| {
            if i > 0 {
                let end = surface.geodesic(&point, &tangent, step, accuracy, 10_000).end;
                (point, tangent) = (end.point, end.tangent);
            }
            (T::lit(f64::from(i) / pieces), self.X_GS * (point * self.scale))
        })
    }
}

impl<T: Real> Strands<T> {
    /// The tension \[N\] in a straight segment of the path, given those in all strands: that of the last strand that is
    /// not wound and begins before it. `None` without friction.
    pub(crate) fn tension_in(
        &self,
        segment: usize,
        tensions: &[T],
        (path, grips): (&CablePath<T>, &Grips<T>),
        results: &PathResults<T>,
    ) -> Option<T> {
        let before = &results.segments[..segment.min(results.segments.len())];
        let is_passed = |place: usize| {
            path.marks(grips).find(|mark| mark.place == place).is_some_and(|mark| {
                if let PathMotion::ViaPoint(i) = mark.hold {
                    let point = results.via_points.get(i).copied().flatten();
                    return before.iter().any(|segment| Some(segment.to_G) == point);
                }
                let mut contacts = mark.contacts(results).0;
                contacts.any(|contact| before.iter().any(|s| s.to_contact == Some(contact)))
            })
        };
        let strands = self.all.iter().zip(&self.ends).zip(tensions);
        let free = strands.filter(|((strand, _), _)| !strand.is_wound);
        let begun =
            free.enumerate().filter(|(i, ((_, ends), _))| *i == 0 || ends.marks[0].is_some_and(is_passed));
        begun.last().map(|(_, (_, tension))| *tension)
    }

    /// The forces of a cable with these tensions in its strands \[N\]: body, point in Ground \[m\], force in Ground \[N\].
    ///
    /// The mean tension acts along the present path; the deviations from it act along the straight parts of the path at
    /// the last commit, moved with the bodies.
    pub(crate) fn forces<'a>(
        &'a self,
        results: &'a PathResults<T>,
        tensions: &'a [T],
    ) -> impl Iterator<Item = (BodyIndex, Point3<T>, Vector3<T>)> + 'a {
        let mean = self.mean(tensions);
        let along_path = results.unit_forces().map(move |(body, p, f)| (body, p, f * mean));
        along_path.chain(self.departures(tensions, mean))
    }
}
