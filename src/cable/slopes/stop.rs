//! The ends, via points and contacts of a path, and the segments between them, as they follow a motion of the path.

use nalgebra::{Matrix3, Matrix3x6, Point3, RowVector6, Vector3};

use crate::cable::geodesics::geodesic::{GeodesicEnd, Jacobi};
use crate::cable::model::settings::Settings;
use crate::cable::slopes::path_derivatives::{PathMotion, UnitCoordinateForce, UnitForce};
use crate::cable::solve::linear_system::Chord;
use crate::math::Real;

/// An end, a via point or a contact.
#[derive(Debug)]
pub(crate) struct Stop<T: Real> {
    pub(crate) part: PathMotion,
    /// The place of its body among the forces.
    pub(crate) body: usize,
    /// Start and end of a contact; a point twice, without axes and curvatures.
    pub(crate) sides: [GeodesicEnd<T>; 2],
    /// The origin of the surface's frame, its scale, and the length of the arc.
    pub(crate) center: Point3<T>,
    pub(crate) scale: T,
    pub(crate) arc: T,
    pub(crate) jacobi: Jacobi<T>,
    /// The integrals of torsion times the rates of the Jacobi scalars; see [`Wrappable::turning_by_start`](crate::cable::Wrappable).
    pub(crate) twist: [T; 2],
    /// Of a moving point: the place of its coordinate among the forces, and its first two derivatives.
    pub(crate) slope: Option<(usize, [Vector3<T>; 2])>,
    /// The sideways shifts of start and end, by the right-hand sides at start and end and by the shift of the next
    /// start.
    pub(crate) solution: [[T; 3]; 2],
    /// The effect of the shift of the previous end on the first right-hand side.
    pub(crate) coupling: T,
    /// For a motion: shifts of start and end with the body or surface, its rotation, and the sideways shifts.
    pub(crate) shifts: [Matrix3x6<T>; 2],
    pub(crate) turn: Matrix3x6<T>,
    pub(crate) slips: [RowVector6<T>; 2],
    /// The shifts over the surface of the points at which start and end are held.
    pub(crate) held: [Option<Matrix3x6<T>>; 2],
    /// The sideways shifts of the end by that of a held start, and of the start by that of a held end.
    pub(crate) by_held: [T; 2],
}

impl<T: Real> Stop<T> {
    pub(crate) fn new(part: PathMotion, body: usize, sides: [GeodesicEnd<T>; 2]) -> Self {
        let zero = T::zero();
        Self {
            part,
            body,
            sides,
            center: Point3::origin(),
            scale: T::one(),
            arc: zero,
            jacobi: Jacobi::at_start(),
            twist: [zero; 2],
            slope: None,
            solution: [[zero; 3]; 2],
            coupling: zero,
            shifts: [Matrix3x6::zeros(); 2],
            turn: Matrix3x6::zeros(),
            slips: [RowVector6::zeros(); 2],
            held: [None; 2],
            by_held: [zero; 2],
        }
    }

    pub(crate) fn is_scaled_by(&self, motion: PathMotion) -> bool {
        matches!((self.part, motion), (PathMotion::Obstacle(i), PathMotion::Scale(k)) if i == k)
    }

    /// Moves with its body, surface or coordinate, while contacts keep their places on the surface; returns whether it
    /// moves.
    pub(crate) fn follow(
        &mut self,
        motion: PathMotion,
        body: &UnitForce<T>,
        coordinates: &[UnitCoordinateForce<T>],
    ) -> bool {
        let twist = |axes: &Matrix3<T>, r: &Vector3<T>| {
            let mut shift = Matrix3x6::zeros();
            shift.fixed_columns_mut::<3>(0).copy_from(&(-r.cross_matrix() * axes));
            shift.fixed_columns_mut::<3>(3).copy_from(axes);
            shift
        };
        let first = |axes: &Matrix3<T>| {
            let mut shift = Matrix3x6::zeros();
            shift.fixed_columns_mut::<3>(0).copy_from(axes);
            shift
        };
        let alone = |shift: &Vector3<T>| {
            let mut shifts = Matrix3x6::zeros();
            shifts.set_column(0, shift);
            shifts
        };
        let axes = body.R_GB.matrix();
        self.turn.fill(T::zero());
        match motion {
            PathMotion::Body(index) if index == body.body => {
                self.turn = first(&Matrix3::identity());
                self.shifts = self.sides.map(|side| twist(&Matrix3::identity(), &body.lever(&side.point)));
            }
            PathMotion::Obstacle(_) if self.part == motion => {
                self.turn = first(axes);
                self.shifts = self.sides.map(|side| twist(axes, &(side.point - self.center)));
            }
            PathMotion::Scale(_) if self.is_scaled_by(motion) => {
                self.shifts = self.sides.map(|side| alone(&((side.point - self.center) / self.scale)));
            }
            PathMotion::Origin | PathMotion::Termination | PathMotion::ViaPoint(_) if self.part == motion => {
                self.shifts = [first(axes); 2];
            }
            PathMotion::Coordinate(index) => match &self.slope {
                Some((place, [slope, _])) if coordinates[*place].coordinate == index => {
                    self.shifts = [alone(slope); 2];
                }
                _ => return self.stay(),
            },
            _ => return self.stay(),
        }
        true
    }

    fn stay(&mut self) -> bool {
        self.shifts = [Matrix3x6::zeros(); 2];
        false
    }
}

/// The directions of the segments before and after a stop; zero where there is none.
pub(crate) fn directions<T: Real>(legs: &[Chord<T>], stop: usize) -> [Vector3<T>; 2] {
    [stop.checked_sub(1), Some(stop)]
        .map(|leg| leg.and_then(|leg| legs.get(leg)).map_or_else(Vector3::zeros, |leg| leg.direction))
}

/// The sideways shifts of a contact's start and end, by both right-hand sides and by the shift of the next start.
///
/// `inverse_lengths` are those of the segments before and after, zero for one without length, whose point holds the
/// contact; then the other shift also depends on that of the point, which is second. `before` has the shift of the
/// previous end by that of the start, and its effect; `after` is the effect of the next start.
pub(crate) fn solution<T: Real>(
    jacobi: &Jacobi<T>,
    inverse_lengths: [T; 2],
    before: [T; 2],
    after: T,
) -> ([[T; 3]; 2], [T; 2]) {
    let Jacobi { shift, shift_rate, turn, turn_rate } = *jacobi;
    let [inverse_before, inverse_after] = inverse_lengths;
    let zero = T::zero();
    // Per unit turn of the start, and per unit shift: the left-hand side at the end.
    let by_turn = turn * inverse_after + turn_rate;
    let by_shift = shift * inverse_after + shift_rate;
    // The turn of the start is that required by its shift, minus the right-hand side.
    let mut demand = inverse_before - before[0] * before[1];
    match inverse_lengths.map(|inverse| inverse == zero) {
        [false, false] => {
            // As in the solver, where all paths in some direction are equal.
            let stiffness = inverse_before + inverse_after;
            let across = demand + by_shift / by_turn;
            if across.abs() <= Settings::<T>::default().smoothness * stiffness {
                demand += T::lit(0.05) * stiffness;
            }
            let pivot = T::one() / (by_shift + by_turn * demand);
            let end = shift + turn * demand;
            let of_end = [(shift * turn_rate - turn * shift_rate) * pivot, end * pivot, end * after * pivot];
            ([[by_turn * pivot, pivot, after * pivot], of_end], [zero; 2])
        }
        [true, false] => {
            // The determinant of the scalars, shift·turn_rate − turn·shift_rate, is one.
            let over = by_turn.recip();
            ([[zero; 3], [zero, turn * over, turn * after * over]], [over, zero])
        }
        [false, true] => {
            let over = (shift + turn * demand).recip();
            ([[turn * over, zero, zero], [zero; 3]], [zero, over])
        }
        [true, true] => ([[zero; 3]; 2], [zero; 2]),
    }
}
