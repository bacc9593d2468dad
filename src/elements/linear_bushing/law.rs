//! Gimbal angles of an orientation, and their whole turns from one orientation to the next.

use nalgebra::{Matrix3, Rotation3, Vector3, convert_unchecked};

use crate::elements::Refusal;
use crate::elements::linear_bushing::Discrete;
use crate::framework::{ElementError, ElementResult};
use crate::math::Real;

/// The least cosine of the middle angle, at 0.46° from ±90°. There the outer angles turn up to 125 times as fast as M.
const LEAST_COSINE: f64 = 0.008;

/// The derivatives of `N ω` and of `Nᵀ m` by a turn of M about the axes of F, given the rates `N` of the angles.
///
/// `N` depends on `q_x` and `q_y`.
#[inline]
pub(super) fn rates_by_turn<T: Real>(N: &Matrix3<T>, w: &Vector3<T>, m: &Vector3<T>) -> [Matrix3<T>; 2] {
    let (cx, sx) = (N[(1, 1)], N[(1, 2)]);
    let over_cy = cx * N[(2, 2)] - sx * N[(2, 1)];
    let ty = sx * N[(0, 1)] - cx * N[(0, 2)];
    let (over_cy2, sy_over_cy2) = (over_cy * over_cy, ty * over_cy);

    let (a, b) = (cx * w.z - sx * w.y, cx * w.y + sx * w.z);
    let rates_by_qx = Vector3::new(ty * b, a, -b * over_cy);
    let rates_by_qy = Vector3::new(-a * over_cy2, T::zero(), a * sy_over_cy2);

    let across = m.z * over_cy - ty * m.x;
    let torque_by_qx = Vector3::new(T::zero(), -(sx * m.y + cx * across), cx * m.y - sx * across);
    let torque_by_qy = Vector3::new(T::zero(), -sx, cx) * (m.z * sy_over_cy2 - m.x * over_cy2);

    let [by_qx, by_qy] = [N.row(0), N.row(1)];
    [rates_by_qx * by_qx + rates_by_qy * by_qy, torque_by_qx * by_qx + torque_by_qy * by_qy]
}

/// Returns the angles, within ±π, ±π/2 and ±π, and their rates.
///
/// # Errors
/// [`Singular`](crate::Refusal::Singular) near a middle angle of ±90°.
#[inline(always)]
#[expect(clippy::inline_always, reason = "with two callers it is a call in the loop")]
pub(super) fn principal_angles<T: Real>(R_FM: &Matrix3<T>) -> ElementResult<(Vector3<T>, Matrix3<T>)> {
    let z_M: Vector3<T> = R_FM.column(2).into();
    let cy = (z_M.y * z_M.y + z_M.z * z_M.z).sqrt();
    if cy < T::lit(LEAST_COSINE).max(T::default_epsilon().sqrt()) {
        return Err(ElementError::own(Refusal::Singular { angle: z_M.x.atan2(cy).to_f64() }));
    }
    // The only angle without a division comes first, to overlap with the division.
    let qy = angle_of(z_M.x, cy);
    let over_cy = T::one() / cy;
    let (sz, cz) = (-R_FM[(0, 1)] * over_cy, R_FM[(0, 0)] * over_cy);
    // The axes of the gimbal are x, (0, cx, sx) and z_M = (sy, −sx·cy, cx·cy).
    let (sx, cx, ty) = (-z_M.y * over_cy, z_M.z * over_cy, z_M.x * over_cy);
    let (one, zero) = (T::one(), T::zero());
    let N = Matrix3::new(one, sx * ty, -cx * ty, zero, cx, sx, zero, -sx * over_cy, cx * over_cy);
    Ok((Vector3::new(angle_of(sx, cx), qy, angle_of(sz, cz)), N))
}

/// The angle with this sine and cosine.
///
/// The arc sine takes half the time of the arc tangent of two arguments. Up to 45° it is as accurate: it multiplies a
/// relative error of the sine by at most 1.3.
#[inline]
fn angle_of<T: Real>(sin: T, cos: T) -> T {
    if cos > T::lit(0.7) { sin.asin() } else { sin.atan2(cos) }
}

/// The largest change of both outer angles in a step that passes near the singular case \[rad\].
///
/// Crossing ±90° changes both by π, far more than this. Passing close by changes both by nearly π in a short
/// time, which only short steps resolve: an integrator of order 2 whose steps change the angles by δ was measured
/// to err by up to 1.2·δ² of the energy, here 1 %.
const MOST_OF_BOTH: f64 = 0.1;

/// The sine of the middle angle beyond which a step passes near the singular case: √3/2, at 60°. Below this angle, the
/// outer angles turn at most twice as fast as M.
const NEAR_SINGULAR: f64 = 0.866_025_403_784_438_6;

/// The largest turn of M in one step \[rad\]: a twentieth less than half a turn. Beyond half a turn the sense is
/// ambiguous.
const MOST_TURN: f64 = 3.0;

/// Returns the outer angles `q_x` and `q_z`, with whole turns tracked from the accepted angles.
///
/// # Errors
/// [`AmbiguousAngles`](crate::Refusal::AmbiguousAngles) if the whole turns cannot be determined.
#[inline]
pub(super) fn with_turns<T: Real>(qx: T, qy: T, qz: T, accepted: &Discrete<T>) -> ElementResult<(T, T)> {
    let near = T::lit(MOST_OF_BOTH);
    let is_near = (qx - accepted.accepted_qx).abs() <= near && (qz - accepted.accepted_qz).abs() <= near;
    if is_near || !accepted.accepted { Ok((qx, qz)) } else { with_turns_from_afar(qx, qy, qz, accepted) }
}

#[inline(never)]
fn with_turns_from_afar<T: Real>(qx: T, qy: T, qz: T, accepted: &Discrete<T>) -> ElementResult<(T, T)> {
    // Computed from the angles, which are passed by value: passing references to them and to `R_FM` makes the ordinary
    // case 8 ns slower.
    let from = orientation(accepted.accepted_qx, accepted.accepted_qy, accepted.accepted_qz);
    let (angle, [along_x, along_z], steepest) = turn(&from, &orientation(qx, qy, qz));
    let (is_about_x, is_about_z) = (along_x.abs() > along_z.abs(), along_z.abs() > along_x.abs());
    let qx = reached(qx, accepted.accepted_qx, is_about_x.then_some(along_x));
    let qz = reached(qz, accepted.accepted_qz, is_about_z.then_some(along_z));
    let (dx, dz) = (qx - accepted.accepted_qx, qz - accepted.accepted_qz);
    let is_clear = steepest <= T::lit(NEAR_SINGULAR) || dx.abs().min(dz.abs()) <= T::lit(MOST_OF_BOTH);
    if is_clear && angle <= T::lit(MOST_TURN) {
        Ok((qx, qz))
    } else {
        let (angle, qx, qz) = (angle.to_f64(), dx.to_f64(), dz.to_f64());
        Err(ElementError::own(Refusal::AmbiguousAngles { angle, qx, qz }))
    }
}

/// A rotation of M in F about a fixed axis, of less than half a turn.
///
/// With `u` and `w` the components of the axis along F's x and M's z, both constant, the rates of the outer angles
/// per angle turned are `(u − w·sin q_y)/cos² q_y` and `(w − u·sin q_y)/cos² q_y`. If `|u| > |w|`, then `q_x`
/// changes in the sense of `u` throughout, by less than a whole turn. `q_z` changes by less than half a turn: it is the
/// direction of x seen along z from M, where x traces an arc about the axis, and the projection of this arc is an arc of
/// an ellipse that does not enclose z. If `|w| > |u|`, the two angles are exchanged.
///
/// Returns the angle, both components, and the largest magnitude of `sin q_y` on the way.
fn turn<T: Real>(from: &Matrix3<T>, to: &Matrix3<T>) -> (T, [T; 2], T) {
    let R = to * from.transpose();
    let half = T::lit(0.5);
    let axis = Vector3::new(R[(2, 1)] - R[(1, 2)], R[(0, 2)] - R[(2, 0)], R[(1, 0)] - R[(0, 1)]) * half;
    let sin = axis.norm();
    let angle = sin.atan2((R.trace() - T::one()) * half);
    let axis = if sin > T::zero() { axis / sin } else { axis };

    let ends = [from.column(2), to.column(2)];
    let (along_x, along_z) = (axis.x, axis.dot(&ends[1]));
    let [rise, last_rise] = ends.map(|z| axis.y * z.z - axis.z * z.y);
    let mut steepest = ends[0].x.abs().max(ends[1].x.abs());
    if rise * last_rise < T::zero() {
        // The sine of q_y varies by `sway` about `along_x·along_z`, and has an extremum on the way.
        let across = |along: T| (T::one() - along * along).max(T::zero());
        let sway = (across(along_x) * across(along_z)).sqrt();
        steepest = steepest.max((along_x * along_z + if rise > T::zero() { sway } else { -sway }).abs());
    }
    (angle, [along_x, along_z], steepest)
}

/// Returns an angle plus the whole turns with which it is reached from another: in the given sense, or else the shorter
/// way.
fn reached<T: Real>(angle: T, from: T, sense: Option<T>) -> T {
    let nearest = nearest(angle, from);
    let change = nearest - from;
    // In a turn of 3 rad an angle changes by at most π + 1.5 (seen from a point of the arc, by the theorem of the
    // inscribed angle), so a small change against the sense is rounding.
    match sense {
        Some(sense) if change * sense < T::zero() && change.abs() > T::one() => {
            nearest + T::two_pi().copysign(sense)
        }
        _ => nearest,
    }
}

/// An angle plus the whole turns that bring it nearest to another.
fn nearest<T: Real>(angle: T, to: T) -> T {
    // On plain values and without a math library: dual numbers have no `round`.
    let turns = (to - angle).to_f64() * (1.0 / core::f64::consts::TAU);
    let half = if turns < 0.0 { -0.5 } else { 0.5 };
    let turns = f64::from(convert_unchecked::<f64, i32>(turns + half));
    angle + T::lit(turns * core::f64::consts::TAU)
}

/// `R_FM` with these angles.
fn orientation<T: Real>(qx: T, qy: T, qz: T) -> Matrix3<T> {
    let about = Rotation3::from_axis_angle;
    (about(&Vector3::x_axis(), qx) * about(&Vector3::y_axis(), qy) * about(&Vector3::z_axis(), qz))
        .into_inner()
}
