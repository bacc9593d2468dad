//! Sums of the springs that elements report, at the mass centers of bodies and on coordinates.

use alloc::vec::Vec;

use nalgebra::{ComplexField, Matrix3, Matrix6, Point3, Vector3};

use crate::framework::{Error, StepMethod};
use crate::math::{Real, Requirement, check, cross_times, default_by_field, outer, rotated, times_cross};
use crate::mechanics::{Forces, Inertias, Kinematics};

/// The masses of a host and the springs that elements report, in f64 and Ground. A state keeps its memory for the next
/// check.
#[derive(Debug)]
pub(crate) struct Springs<T: Real> {
    /// The places of the bodies, then of the coordinates.
    pub(super) places: Vec<Place>,
    /// The ends of each spring that moves at several places, one spring after the other.
    pub(super) joined: Vec<Joined>,
    /// Buffers of [`Stiffnesses::along`](crate::Stiffnesses::along): forces of unit tension, and the ends at which they act.
    pub(super) forces: Option<Forces<T>>,
    pub(super) ends: Vec<End>,
}

default_by_field!(Springs { places, joined, forces, ends });

impl<T: Real> Springs<T> {
    /// Starts without springs, for the masses of a host and the present poses.
    pub(super) fn begin(&mut self, kinematics: &Kinematics<T>, inertias: &dyn Inertias) -> Result<(), Error> {
        let topology = kinematics.positions.topology();
        // An infinite mass is permitted.
        let inverse = |name, mass: f64| {
            check::that(mass > 0.0, name, mass, Requirement::Positive)?;
            Ok::<_, Error>(mass.recip())
        };
        let Self { places, joined, forces, .. } = self;
        // The state may have become a copy of a state of another system.
        *forces = forces.take().filter(|forces| forces.topology() == topology);
        places.clear();
        places.resize_with(topology.body_places() + topology.coordinate_places(), Place::default);
        joined.clear();
        for body in topology.bodies() {
            let place = &mut places[body.index()];
            let X_GB = kinematics.positions.pose(body);
            place.inverse_mass = inverse("mass", inertias.mass(body))?;
            let p_BC = inertias.mass_center(body);
            check::finite_vector("mass_center", &p_BC.coords)?;
            place.mass_center = (X_GB * p_BC.map(T::lit)).map(T::to_f64);
            let R_BG = X_GB.rotation.matrix().map(T::to_f64).transpose();
            let root = inverse_root(&inertias.inertia(body))? * R_BG;
            (place.is_body, place.inertia_root) = (true, root);
            place.inverse_inertia = root.transpose() * root;
        }
        for coordinate in topology.coordinates() {
            let place = &mut places[topology.body_places() + coordinate.index()];
            place.inverse_mass = inverse("coordinate mass", inertias.coordinate_mass(coordinate))?;
        }
        Ok(())
    }

    /// Returns the bounds `ω²` and `γ` of the spring that allows the shortest step, and the place of the end that
    /// contributes most to them; zero if no spring allows less than `longest`.
    pub(super) fn bound(&mut self, method: StepMethod, longest: f64) -> ([f64; 2], usize) {
        let Self { places, joined, .. } = self;
        let is_faster =
            |rates: [f64; 2], other: [f64; 2]| method.longest_step(rates) < method.longest_step(other);
        for place in places.iter_mut() {
            place.bound(largest_row);
        }
        let mut worst = ([0.0; 2], 0);
        let mut consider = |places: &mut [Place], ends: &[Joined]| {
            let at = |places: &[Place], end: &Joined| places[end.place].rates.map(|rate| rate / end.weight);
            let sum = |places: &[Place]| {
                ends.iter()
                    .map(|end| at(places, end))
                    .fold([0.0; 2], |sum, end| [0, 1].map(|i| sum[i] + end[i]))
            };
            if method.longest_step(sum(places)) >= longest {
                return;
            }
            for end in ends {
                let place = &mut places[end.place];
                if !place.is_tight {
                    place.is_tight = true;
                    place.bound(greatest);
                }
            }
            let rates = sum(places);
            if is_faster(rates, worst.0) {
                let mut fastest = ([0.0; 2], 0);
                for end in ends {
                    if is_faster(at(places, end), fastest.0) {
                        fastest = (at(places, end), end.place);
                    }
                }
                worst = (rates, fastest.1);
            }
        };
        for place in 0..places.len() {
            if places[place].is_alone {
                consider(places, &[Joined { place, weight: 1.0, count: 1 }]);
            }
        }
        let mut rest = joined.as_slice();
        while let [first, ..] = rest {
            let (ends, after) = rest.split_at(first.count);
            consider(places, ends);
            rest = after;
        }
        worst
    }
}

/// A body or coordinate, by default an immovable one, and the quantities that limit the step there. The sums are of stiffness
/// and of damping.
#[derive(Debug, Default)]
pub(super) struct Place {
    pub(super) inverse_mass: f64,
    is_body: bool,
    pub(super) mass_center: Point3<f64>,
    /// `J^{-½}` and `J⁻¹`.
    inertia_root: Matrix3<f64>,
    pub(super) inverse_inertia: Matrix3<f64>,
    /// The sums at the mass center of a body, each a symmetric positive semidefinite matrix by quarters: torques by
    /// rotations, torques by displacements, whose transpose is the forces by rotations, and forces by displacements.
    pub(super) sums: [[Matrix3<f64>; 3]; 2],
    /// The sums of a coordinate per mass.
    pub(super) along: [f64; 2],
    /// `ω²` of the fastest of the springs that share the energy of one impact, and `γ` of the one with the most damping.
    pub(super) impact: [f64; 2],
    /// Whether a spring here moves at no other place.
    pub(super) is_alone: bool,
    /// The bounds `‖K_i‖` and `‖C_i‖`, and whether they come from eigenvalues, to 3 %, or only from [rows](largest_row).
    rates: [f64; 2],
    is_tight: bool,
}

impl Place {
    /// Bounds the motion here by a bound on the largest eigenvalue.
    fn bound(&mut self, greatest: impl Fn(&Matrix6<f64>) -> f64) {
        let mass_root = ComplexField::sqrt(self.inverse_mass);
        self.rates = core::array::from_fn(|i| {
            let of_body =
                if self.is_body { greatest(&self.normalized(&self.sums[i], mass_root)) } else { 0.0 };
            of_body + self.along[i] + self.impact[i]
        });
    }

    /// A sum per mass and inertia, by their inverse roots.
    fn normalized(
        &self,
        [by_rotation, across, by_shift]: &[Matrix3<f64>; 3],
        mass_root: f64,
    ) -> Matrix6<f64> {
        let across = self.inertia_root * across * mass_root;
        let mut matrix = Matrix6::zeros();
        matrix.fixed_view_mut::<3, 3>(0, 0).copy_from(&rotated(&self.inertia_root, by_rotation));
        matrix.fixed_view_mut::<3, 3>(0, 3).copy_from(&across);
        matrix.fixed_view_mut::<3, 3>(3, 0).tr_copy_from(&across);
        matrix.fixed_view_mut::<3, 3>(3, 3).copy_from(&(by_shift * (mass_root * mass_root)));
        matrix
    }
}

/// Adds a spring of this stiffness to the quarters of a sum.
pub(super) fn add_spring(
    [by_rotation, across, by_shift]: &mut [Matrix3<f64>; 3],
    stiffness: f64,
    pull: &Pull,
) {
    match pull {
        Pull::Line { force, torque } => {
            let [f, t] = [force, torque].map(|v| v * stiffness);
            *by_rotation += t * torque.transpose();
            *across += t * force.transpose();
            *by_shift += f * force.transpose();
        }
        Pull::Point(r) => {
            let lever = r * stiffness;
            *by_rotation -= outer(&lever, r, -lever.dot(r));
            *across += lever.cross_matrix();
            (0..3).for_each(|i| by_shift[(i, i)] += stiffness);
        }
        Pull::Turn => (0..3).for_each(|i| by_rotation[(i, i)] += stiffness),
        Pull::Coordinate => {}
    }
}

/// Adds to the quarters of a sum others, given about a point at `r` from the mass center, times a factor.
pub(super) fn add_quarters(
    [by_rotation, across, by_shift]: &mut [Matrix3<f64>; 3],
    [A, B, D]: &[Matrix3<f64>; 3],
    factor: f64,
    r: &Vector3<f64>,
) {
    // A + [r]× Bᵀ + (B + [r]× D) [r]×ᵀ
    let moved = B + cross_times(r, D);
    *by_rotation += (A + cross_times(r, &B.transpose()) - times_cross(&moved, r)) * factor;
    *across += moved * factor;
    *by_shift += D * factor;
}

/// One end of a spring that moves at several places.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Joined {
    pub(super) place: usize,
    pub(super) weight: f64,
    /// The number of ends of the spring.
    pub(super) count: usize,
}

/// One end of a spring of unit stiffness.
#[derive(Debug, Clone, Copy)]
pub(super) struct End {
    /// The place of the body or coordinate.
    pub(super) place: usize,
    pub(super) pull: Pull,
    /// The inverse of the mass that the spring moves here, over directions \[1/kg\]; zero where nothing moves.
    pub(super) yielding: f64,
}

/// How a spring of unit stiffness acts at one end.
#[derive(Debug, Clone, Copy)]
pub(super) enum Pull {
    /// In one direction, with this force and torque at the mass center.
    Line { force: Vector3<f64>, torque: Vector3<f64> },
    /// In any direction, at this distance from the mass center.
    Point(Vector3<f64>),
    /// About any axis.
    Turn,
    /// On a coordinate.
    Coordinate,
}

/// A bound on the largest eigenvalue `λ` of a symmetric positive semidefinite matrix, at most `√6 λ`: the largest sum of
/// magnitudes in a row or, equally, in a column.
fn largest_row(matrix: &Matrix6<f64>) -> f64 {
    let columns = matrix.as_slice().chunks_exact(6);
    columns.map(|column| column.iter().map(|entry| entry.abs()).sum::<f64>()).fold(0.0, |most, sum| {
        // Sums that overflow may cancel to NaN, which comparisons ignore.
        if sum.is_finite() { most.max(sum) } else { f64::INFINITY }
    })
}

/// A bound on the largest eigenvalue of a symmetric positive semidefinite matrix, less than 3 % above it, from the
/// largest row of the 32nd power.
fn greatest(matrix: &Matrix6<f64>) -> f64 {
    let scale = largest_row(matrix);
    if scale <= 0.0 || scale == f64::INFINITY {
        return scale;
    }
    let mut power = matrix / scale;
    for _ in 0..SQUARINGS {
        power = power * power;
    }
    let root = (0..SQUARINGS).fold(largest_row(&power), |root, _| ComplexField::sqrt(root));
    scale * root
}

/// The inverse of the lower Cholesky factor of an inertia: products of vectors with the inverse inertia are squares of
/// their products with it. Zero about axes about which nothing turns.
fn inverse_root(inertia: &Matrix3<f64>) -> Result<Matrix3<f64>, Error> {
    let root = inertia.cholesky().and_then(|root| root.l().solve_lower_triangular(&Matrix3::identity()));
    let root = root.filter(|root| root.iter().all(ComplexField::is_finite));
    check::that(root.is_some(), "inertia", inertia.diagonal().min(), Requirement::Positive)?;
    Ok(root.unwrap_or_default())
}

/// The number of squarings of a matrix for a [bound](greatest) on its eigenvalues.
const SQUARINGS: usize = 5;

/// The ratio below which an end of a spring has a weight above one. With a ratio of one, many light bodies on a heavy one
/// would count at the heavy body by the root of the ratio of masses.
pub(super) const EVEN: f64 = 0.1;

#[cfg(test)]
mod tests {
    use nalgebra::Vector6;

    use super::*;

    #[test]
    fn eigenvalues_are_bounded_to_3_percent_at_any_scale() {
        for seed in 0..500_u32 {
            // Sums of up to six lines, as springs add them, of sizes that differ by up to a million.
            let mut matrix = Matrix6::zeros();
            for k in 0..=seed % 6 {
                let draw = |i: u32| f64::from(seed * 37 + k * 7 + i * i).sin();
                let line = Vector6::from_iterator((0..6).map(draw)) * 10_f64.powf(3.0 * draw(9));
                matrix += line * line.transpose();
            }
            for scale in [1e-150, 1.0, 1e150] {
                let exact = matrix.symmetric_eigenvalues().max() * scale;
                let bound = greatest(&(matrix * scale));
                assert!(bound >= exact * (1.0 - 1e-12) && bound <= 1.03 * exact, "{seed}: {bound} {exact}");
            }
        }
        assert_eq!(greatest(&Matrix6::zeros()), 0.0);
    }

    #[test]
    fn sums_that_overflow_have_no_finite_bound() {
        let mut matrix = Matrix6::identity();
        matrix[(0, 3)] = f64::INFINITY - f64::INFINITY;
        assert_eq!(greatest(&matrix), f64::INFINITY);
        assert_eq!(greatest(&(Matrix6::identity() * f64::MAX)), f64::MAX);
    }
}
