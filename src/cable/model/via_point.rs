//! Points through which a cable runs.

use alloc::sync::Arc;
use core::ops::RangeInclusive;

use nalgebra::{Point3, Vector3};

use crate::cable::{PathError, PointCurve};
use crate::math::{Casts, Real, Requirement, check};
use crate::mechanics::{BodyIndex, Checked, CoordinateIndex, Positions, Station};

/// A point through which a cable runs: fixed on a body, or moving on it with a coordinate; at all values of a
/// coordinate, or in a range.
///
/// # Example: a patellar tendon
///
/// If a knee is modelled by a hinge, the patella is a point of the shank that moves with the angle. As the point moves,
/// the cable does work on the angle, in addition to the work of its forces on the bodies.
///
/// ```
/// use force_elements::cable::{CablePath, SplineCurve, ViaPoint};
/// use force_elements::cable_spring::Parameters;
/// use force_elements::nalgebra::{Point3, Rotation3, Vector3};
/// use force_elements::{CableSpring, ForceSystem, Pose, SpatialVelocity, Station};
///
/// // Thigh along +y of Ground, shank along −y of its own frame; the knee's angle is negative in flexion.
/// let mut system = ForceSystem::<f64>::new();
/// let shank = system.add_body();
/// let knee = system.add_coordinate();
/// let patella = SplineCurve::new([
///     (-2.0, Point3::new(0.02, 0.02, 0.0)),
///     (-1.0, Point3::new(0.04, 0.03, 0.0)),
///     (0.0, Point3::new(0.05, 0.04, 0.0)),
/// ])?;
/// let hip = Station::ground(Point3::new(0.05, 0.4, 0.0));
/// let tuberosity = Station::on(shank, Point3::new(0.04, -0.06, 0.0));
/// let path = CablePath::new(hip, tuberosity)?.through(ViaPoint::moving(shank, knee, patella))?;
/// let elastic = Parameters { stiffness: 1e4, slack_length: 0.4, ..Parameters::default() };
/// let muscle = system.add(CableSpring::new(path, elastic)?)?;
///
/// let mut state = system.default_state();
/// let mut length_at = |angle: f64| {
///     state.set_coordinate(knee, angle)?;
///     let turn = Rotation3::from_axis_angle(&Vector3::z_axis(), angle);
///     state.set_pose(shank, Pose::from_parts([0.0; 3].into(), turn))?;
///     let dynamics = system.realize_dynamics(&mut state)?;
///     let path = &dynamics.of(muscle).position.path;
///     let turning = |_| SpatialVelocity::new(Vector3::z(), Vector3::zeros());
///     let arm = path.moment_arm(dynamics.positions(), turning, |_| 1.0);
///     // The hinge gets the torque about its axis and the force on its angle.
///     let drive = dynamics.body_force(shank).torque.z + dynamics.coordinate_force(knee);
///     assert!((drive - dynamics.of(muscle).dynamics.tension * arm).abs() < 1e-12);
///     Ok::<_, force_elements::Error>((path.length, arm))
/// };
/// let (_, arm) = length_at(-0.7)?;
/// let slope = (length_at(-0.7 + 1e-5)?.0 - length_at(-0.7 - 1e-5)?.0) / 2e-5;
/// assert!(arm > 0.03 && (arm + slope).abs() < 1e-9);
/// # Ok::<(), force_elements::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct ViaPoint<T: Real> {
    station: Station<T>,
    curve: Option<(CoordinateIndex, Arc<dyn PointCurve<T>>)>,
    range: Option<(CoordinateIndex, T, T)>,
}

impl<T: Real> From<Station<T>> for ViaPoint<T> {
    fn from(station: Station<T>) -> Self {
        Self { station, curve: None, range: None }
    }
}

impl<T: Real> ViaPoint<T> {
    /// A point that moves on a body along a curve in the body's frame, with a coordinate.
    ///
    /// Besides the force at the point, a cable of tension `f` exerts on the coordinate the generalized force `f·u·dp/dq`,
    /// where `u` is the sum of the unit directions in which the cable leaves the point on both sides. With this force
    /// power balances. It is continuous if the derivative of the curve is. Cables [with
    /// friction](crate::CableSpring::with_friction) cannot have such points.
    pub fn moving(body: BodyIndex, coordinate: CoordinateIndex, curve: impl PointCurve<T>) -> Self {
        let station = Station::on(body, Point3::origin());
        Self { station, curve: Some((coordinate, Arc::new(curve))), range: None }
    }

    /// The same point, which is part of the path only while a coordinate is in a range, including its ends.
    ///
    /// Outside the range the cable skips the point. At the ends of the range the length jumps, unless the cable runs
    /// through the point there anyway. The stored energy jumps with it, without work of a force: the jump appears in the
    /// energy account as dissipated, with a negative sign if the cable becomes longer. If it is most of the stored
    /// energy, [`finish_step`](crate::ForceSystem::finish_step) and fixed steps of
    /// [`Implicit`](crate::simulation::Implicit) attribute it to a step that is too long, unless
    /// [`reset_dissipated_energy`](crate::ForceSystem::reset_dissipated_energy) follows the jump.
    ///
    /// # Errors
    /// [`PathError::InvalidValue`] if the end of the range is below its start, or one of them is NaN.
    pub fn only_within(
        mut self,
        coordinate: CoordinateIndex,
        range: RangeInclusive<T>,
    ) -> Result<Self, PathError> {
        let (start, end) = range.into_inner();
        check::that(start <= end, "range.start", start, Requirement::AtMost("range.end"))?;
        self.range = Some((coordinate, start, end));
        Ok(self)
    }

    /// The point on its body. For a moving point, the body's origin, to which its curve is added.
    pub fn station(&self) -> Station<T> {
        self.station
    }

    /// The coordinate with which the point moves, and the curve.
    pub fn curve(&self) -> Option<(CoordinateIndex, &dyn PointCurve<T>)> {
        self.curve.as_ref().map(|(coordinate, curve)| (*coordinate, curve.as_ref()))
    }

    /// The coordinate in whose range the point belongs to the path, and the range.
    pub fn range(&self) -> Option<(CoordinateIndex, RangeInclusive<T>)> {
        self.range.map(|(coordinate, start, end)| (coordinate, start..=end))
    }

    pub(crate) fn cast_with<U: Real>(&self, casts: &Casts<T, U>) -> Result<ViaPoint<U>, PathError> {
        let curve = self.curve().map(|(coordinate, curve)| Ok((coordinate, casts.cast_curve(curve)?)));
        let range = self.range.map(|(coordinate, start, end)| (coordinate, start.cast(), end.cast()));
        Ok(ViaPoint {
            station: self.station.cast(),
            curve: curve.transpose().map_err(PathError::Shape)?,
            range,
        })
    }

    /// The coordinates on which the point depends.
    pub(crate) fn coordinates(&self) -> impl Iterator<Item = CoordinateIndex> + '_ {
        let ranging = self.range.map(|(coordinate, ..)| coordinate);
        self.curve.as_ref().map(|(coordinate, _)| *coordinate).into_iter().chain(ranging)
    }

    /// Whether the point is fixed on its body.
    pub(crate) fn is_fixed(&self) -> bool {
        self.curve.is_none()
    }

    /// Whether the point belongs to the path at these values of coordinates, which exist.
    #[inline]
    pub(crate) fn is_in_range(&self, positions: &Positions<T>) -> bool {
        self.range.is_none_or(|(coordinate, start, end)| {
            let q = positions.coordinate(Checked(coordinate));
            start <= q && q <= end
        })
    }

    /// The displacement of the point from its station by its curve, and the derivative, for coordinates that exist; in
    /// the body's frame.
    #[inline]
    pub(crate) fn shift(
        &self,
        positions: &Positions<T>,
    ) -> Option<(CoordinateIndex, Vector3<T>, Vector3<T>)> {
        let (coordinate, curve) = self.curve.as_ref()?;
        let (point, slope) = curve.at(positions.coordinate(Checked(*coordinate)));
        Some((*coordinate, point.coords, slope))
    }
}
