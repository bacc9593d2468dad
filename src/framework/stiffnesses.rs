//! Stiffness and damping of all elements, and the step that they allow.

use alloc::vec;
use alloc::vec::Vec;

use nalgebra::{ComplexField, Matrix3, Matrix6, Matrix6x3, Point3, Vector3, Vector6};

use crate::framework::{ElementId, Error};
use crate::math::{Real, Requirement, check};
use crate::mechanics::{
    AsIndex, BodyIndex, CoordinateIndex, ForceAccumulator, Forces, Inertias, Kinematics, Topology,
};

/// The method by which a host integrates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StepMethod {
    /// Velocities from the forces at the start of the step, positions from the new velocities: symplectic Euler, the
    /// method of most game engines. Holds for leapfrog too, with velocities half a step behind.
    #[default]
    SymplecticEuler,
    /// The classical Runge–Kutta method of order four.
    RungeKutta4,
}

impl StepMethod {
    /// The longest stable step \[s\] by bounds on `ω²` \[1/s²\] and on the damping rate `γ`, damping over mass \[1/s\]; infinite
    /// if nothing limits it.
    pub(crate) fn longest_step(self, [square, damping]: [f64; 2]) -> f64 {
        match self {
            // ω²h² + 2γh ≤ 4.
            Self::SymplecticEuler => 4.0 / (damping + ComplexField::sqrt(damping * damping + 4.0 * square)),
            // No rate μ with μ² + γμ + ω² = 0 is larger than ω or γ.
            Self::RungeKutta4 => RUNGE_KUTTA_RADIUS / damping.max(ComplexField::sqrt(square)),
        }
    }
}

/// The radius of the largest half disc about zero in the left half plane on which `|1 + z + z²/2 + z³/6 + z⁴/24| ≤ 1`,
/// rounded down. Its arc touches the edge at 123°; on the imaginary axis the edge is at 2.83, on the real one at 2.79.
const RUNGE_KUTTA_RADIUS: f64 = 2.615;

/// The stiffness and damping that elements report.
///
/// An element reports springs. A spring has a stiffness `k` \[N/m\], a damping `d` \[N·s/m\], and ends: it is stretched
/// by `r` metres for each metre, or radian, by which a body or coordinate moves. The reported numbers are bounds: a
/// spring may be softer, or act in one direction only.
///
/// # Theory
///
/// Let `M` be the masses, and `K` and `C` the sums over all springs, symmetric and positive semidefinite. Symplectic
/// Euler is stable if `M − ½hC − ¼h²K` is positive definite, since then `vᵀ(M − ½hC − ¼h²K)v + x̄ᵀKx̄`, with `x̄` half
/// way between the positions of two steps, never grows. To find such `h`, each spring gets a part of the mass at each
/// of its ends, in proportion to its contribution there times a weight `w_i`. No more than `M` is distributed, so
/// positive definiteness for each spring implies that of the sum. A spring with ends on bodies or coordinates `i`, where
/// all springs together have the weighted stiffness `K_i` and damping `C_i`, then moves with `ω² ≤ Σ ‖K_i‖/w_i` and
/// `γ ≤ Σ ‖C_i‖/w_i`, with the largest eigenvalues `‖K_i‖` of `M_i^{-½} K_i M_i^{-½}`, which are bounded to 3 % by the
/// norms of 32nd powers. For one spring, and for equal ones in parallel, the bound has no other slack.
///
/// This holds for any positive weights. They are one, except where a spring pulls less than a tenth as hard, over the root
/// of the mass, as at another of its ends, by a ratio `ρ`: there `w = 0.1/ρ`. So an end counts the less the less the
/// spring does there, and not at all in the limit, as where forces of a strand cancel but for rounding.
#[derive(Debug)]
pub struct Stiffnesses<'a, T: Real> {
    kinematics: &'a Kinematics<T>,
    pub(super) method: StepMethod,
    impact_speed: f64,
    /// In f64 and Ground, by place of the body.
    mass_centers: Vec<Point3<f64>>,
    /// The inverse roots of the mass of each body, then of each coordinate.
    mass_roots: Vec<f64>,
    /// The inverse root of the inertia of each body, for torques in Ground.
    inertia_roots: Vec<Matrix3<f64>>,
    /// Of each body, then of each coordinate.
    totals: Vec<Total>,
    /// Whether all is summed, and springs are [bounded](Self::begin_bounding) by the sums.
    is_bounding: bool,
    /// Shorter steps than this are to be found.
    longest: f64,
    /// Whether friction that is proportional to a small velocity, and limited beyond, counts as a damper.
    pub(super) counts_friction: bool,
    /// Buffer for forces of unit tension.
    forces: Forces<T>,
    /// The element that reports.
    pub(super) element: Option<ElementId>,
    /// Of the spring that allows the shortest step: its bounds `ω²` and `γ`, and the place of the end that contributes most.
    worst: ([f64; 2], usize),
    /// Whether the present element may be stiffer than it reports.
    pub(super) is_unknown: bool,
}

/// The sum over all springs at one body or coordinate, per mass and inertia.
#[derive(Debug, Clone, Copy, Default)]
struct Total {
    stiffness: Matrix6<f64>,
    damping: Matrix6<f64>,
    /// `ω²` of the fastest of the springs that share the energy of one impact, and `γ` of the most damped.
    impact: [f64; 2],
    /// What it bounds, `ω²` and `γ`, and whether by eigenvalues to 3 %, not only by [rows](largest_row).
    rates: [f64; 2],
    is_tight: bool,
    /// What the strongest spring contributes to that, and the element of the spring.
    strongest: ([f64; 2], Option<ElementId>),
}

impl Total {
    /// Its bound, by a bound on the largest eigenvalue.
    fn bound(&self, greatest: impl Fn(&Matrix6<f64>) -> f64) -> [f64; 2] {
        let [square, damping] = self.impact;
        [greatest(&self.stiffness) + square, greatest(&self.damping) + damping]
    }
}

/// A bound on the largest eigenvalue `λ` of a symmetric positive semidefinite matrix, at most `√6 λ`: the largest sum of
/// magnitudes in a row (in a column, which is the same).
fn largest_row(matrix: &Matrix6<f64>) -> f64 {
    // Sums that overflow may cancel to NaN, which comparisons ignore.
    if !matrix.iter().all(ComplexField::is_finite) {
        return f64::INFINITY;
    }
    matrix.column_iter().map(|column| column.iter().map(|entry| entry.abs()).sum::<f64>()).fold(0.0, f64::max)
}

/// A bound on the largest eigenvalue of a symmetric positive semidefinite matrix, less than 3 % above it: by the largest row
/// of the 32nd power.
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

/// The inverse of the lower Cholesky factor of an inertia, by which products with its inverse are squares; zero about axes
/// about which nothing turns.
fn inverse_root(inertia: &Matrix3<f64>) -> Result<Matrix3<f64>, Error> {
    let root = inertia.cholesky().and_then(|root| root.l().solve_lower_triangular(&Matrix3::identity()));
    let root = root.filter(|root| root.iter().all(ComplexField::is_finite));
    check::that(root.is_some(), "inertia", inertia.diagonal().min(), Requirement::Positive)?;
    Ok(root.unwrap_or_default())
}

/// The number of squarings of a matrix for a [bound](greatest) on its eigenvalues.
const SQUARINGS: usize = 5;

/// The ratio below which an end of a spring has a weight above one. With a ratio of one, many light bodies on a heavy one
/// would count there by the root of the ratio of masses.
const EVEN: f64 = 0.1;

/// One end of a spring of unit stiffness.
#[derive(Debug, Clone, Copy)]
struct End {
    /// The place of the body or coordinate.
    place: usize,
    /// In the first `count` columns, force and torque at a unit tension in each of the spring's directions, over the roots of
    /// mass and inertia.
    lines: Matrix6x3<f64>,
    count: usize,
    /// The inverse of the mass that it moves there, over directions \[1/kg\]; zero where nothing moves.
    yielding: f64,
}

impl End {
    /// Of a spring in one direction.
    fn along(place: usize, line: Vector6<f64>) -> Self {
        let mut lines = Matrix6x3::zeros();
        lines.set_column(0, &line);
        Self { place, lines, count: 1, yielding: line.norm_squared() }
    }

    /// Of a spring in any direction, with the inverse root of the mass and torques of unit forces over the root of the
    /// inertia; without a mass about any axis.
    fn anywhere(place: usize, of_mass: f64, torques: &Matrix3<f64>, yielding: f64) -> Self {
        let mut lines = Matrix6x3::zeros();
        lines.fixed_rows_mut::<3>(0).fill_diagonal(of_mass);
        lines.fixed_rows_mut::<3>(3).copy_from(torques);
        Self { place, lines, count: 3, yielding }
    }

    /// The ends at which something moves, with their weights.
    fn weighted(ends: &[Self]) -> impl Iterator<Item = (&Self, f64)> + Clone {
        let most = ComplexField::sqrt(ends.iter().map(|end| end.yielding).fold(0.0, f64::max));
        // An infinite stiffness on an immovable body is ignored.
        ends.iter().filter(|end| end.yielding > 0.0).map(move |end| {
            let weight = EVEN * most / ComplexField::sqrt(end.yielding);
            (end, weight.max(1.0))
        })
    }
}

impl<'a, T: Real> Stiffnesses<'a, T> {
    pub(crate) fn new(
        kinematics: &'a Kinematics<T>,
        inertias: &dyn Inertias,
        method: StepMethod,
        impact_speed: f64,
    ) -> Result<Self, Error> {
        check::nonnegative("impact_speed", impact_speed)?;
        let topology = kinematics.positions.topology();
        let (bodies, coordinates) = (topology.body_places(), topology.coordinate_places());
        let mut mass_roots = vec![0.0; bodies + coordinates];
        let mut inertia_roots = vec![Matrix3::zeros(); bodies];
        let mut mass_centers = vec![Point3::origin(); bodies];
        // An infinite mass is welcome.
        let inverse = |name, mass: f64| {
            check::that(mass > 0.0, name, mass, Requirement::Positive)?;
            Ok::<_, Error>(ComplexField::sqrt(mass.recip()))
        };
        for body in topology.bodies() {
            let place = body.index();
            let X_GB = kinematics.positions.pose(body);
            mass_roots[place] = inverse("mass", inertias.mass(body))?;
            inertia_roots[place] =
                inverse_root(&inertias.inertia(body))? * X_GB.rotation.matrix().map(T::to_f64).transpose();
            let p_BC = inertias.mass_center(body);
            check::finite_vector("mass_center", &p_BC.coords)?;
            mass_centers[place] = (X_GB * p_BC.map(T::lit)).map(T::to_f64);
        }
        for coordinate in topology.coordinates() {
            let mass = inertias.coordinate_mass(coordinate);
            mass_roots[bodies + coordinate.index()] = inverse("coordinate mass", mass)?;
        }
        Ok(Self {
            kinematics,
            method,
            impact_speed,
            mass_centers,
            totals: vec![Total::default(); mass_roots.len()],
            mass_roots,
            inertia_roots,
            is_bounding: false,
            longest: f64::INFINITY,
            counts_friction: true,
            forces: Forces::zeros(topology),
            element: None,
            worst: ([0.0; 2], 0),
            is_unknown: false,
        })
    }

    /// Reports a spring and damper in one direction, in Ground, between points of two bodies.
    ///
    /// # Panics
    /// If a body does not exist, like slice indexing.
    pub fn in_direction(
        &mut self,
        stiffness: f64,
        damping: f64,
        direction_G: Vector3<f64>,
        ends: [(BodyIndex, Point3<T>); 2],
    ) {
        let ends = ends.map(|(body, p_G)| {
            let place = body.place_in(self.topology());
            let torque = (p_G.map(T::to_f64) - self.mass_centers[place]).cross(&direction_G);
            self.line(place, direction_G, torque)
        });
        self.add(stiffness, damping, &ends);
    }

    /// From here on springs are bounded by the sums of what has been reported; those that allow a step of length `longest` are
    /// left out.
    pub(crate) fn begin_bounding(&mut self, longest: f64) {
        (self.longest, self.is_unknown, self.is_bounding) = (longest, false, true);
        self.totals.iter_mut().for_each(|total| total.rates = total.bound(largest_row));
    }

    /// The bounds `ω²` and `γ` of the spring that allows the shortest step, and the element that contributes most to them.
    pub(crate) fn worst(&self) -> ([f64; 2], Option<ElementId>) {
        (self.worst.0, self.totals[self.worst.1].strongest.1)
    }

    /// States that the element may be stiffer than it reports, or reports nothing.
    pub fn unknown(&mut self) {
        self.is_unknown = true;
    }

    /// The largest speed at which bodies may meet \[m/s\].
    pub fn impact_speed(&self) -> f64 {
        self.impact_speed
    }

    /// Reports a spring and damper in any direction between points of two bodies, in Ground.
    ///
    /// # Panics
    /// If a body does not exist, like slice indexing.
    pub fn between(&mut self, stiffness: f64, damping: f64, ends: [(BodyIndex, Point3<T>); 2]) {
        self.add(stiffness, damping, &self.ends_at(&ends));
    }

    /// Reports friction between points of two bodies, in Ground, that is limited, and proportional to the velocity at
    /// rest with this damping. Returns the damping that was counted: none where friction that is limited is left out.
    ///
    /// # Panics
    /// If a body does not exist, like slice indexing.
    pub fn friction(&mut self, damping: f64, ends: [(BodyIndex, Point3<T>); 2]) -> f64 {
        if !self.counts_friction {
            return 0.0;
        }
        self.between(0.0, damping, ends);
        damping
    }

    /// Reports a force \[N\] at points of two bodies, in Ground, and a torque \[N·m\] between them. As the bodies
    /// rotate, the lever of the force changes, as with a torsion spring of force times lever.
    ///
    /// # Panics
    /// If a body does not exist, like slice indexing.
    pub fn load(&mut self, force: f64, torque: f64, ends: [(BodyIndex, Point3<T>); 2]) {
        for (body, p_G) in ends {
            let stiffness = force * self.lever(body, &p_G) + torque;
            self.torsion(stiffness, 0.0, [body, BodyIndex::GROUND]);
        }
    }

    /// Reports a torsion spring \[N·m/rad\] and damper \[N·m·s/rad\] about any axis between two bodies.
    ///
    /// # Panics
    /// If a body does not exist, like slice indexing.
    pub fn torsion(&mut self, stiffness: f64, damping: f64, bodies: [BodyIndex; 2]) {
        let ends = bodies.map(|body| {
            let place = body.place_in(self.topology());
            let root = self.inertia_roots[place];
            End::anywhere(place, 0.0, &root, root.norm_squared() / 3.0)
        });
        self.add(stiffness, damping, &ends);
    }

    /// Reports springs and dampers that act in several directions between two bodies: their wrench at a point in Ground by
    /// the displacement, and by the velocity, of one body relative to the other. Both matrices are symmetric and positive
    /// semidefinite; torques and rotations come first.
    ///
    /// # Panics
    /// If a body does not exist, like slice indexing.
    pub fn coupled(
        &mut self,
        stiffness: &Matrix6<f64>,
        damping: &Matrix6<f64>,
        bodies: [BodyIndex; 2],
        p_G: &Point3<T>,
    ) {
        let matrices = [stiffness, damping];
        if matrices.iter().any(|matrix| !matrix.iter().all(ComplexField::is_finite)) {
            self.unknown();
            return;
        }
        let ends = self.ends_at(&bodies.map(|body| (body, *p_G)));
        if self.is_bounding {
            if matrices.iter().any(|matrix| matrix.amax() > 0.0) {
                let own =
                    matrices.map(|matrix| [0, 3].map(|i| matrix.fixed_view::<3, 3>(i, i).diagonal().max()));
                let turning = bodies.map(|body| {
                    let place = body.place_in(self.topology());
                    (place, self.inertia_roots[place].norm_squared())
                });
                let at_end = |end: &End| {
                    let turning =
                        turning.iter().find(|(place, _)| *place == end.place).map_or(0.0, |(_, x)| *x);
                    own.map(|[torques, forces]| forces * end.yielding + torques * turning)
                };
                self.bound(&ends, at_end);
            }
            return;
        }
        for (&End { place, lines, .. }, weight) in End::weighted(&ends) {
            // Force and torque at the mass center, over the roots of mass and inertia, of a wrench at the point.
            let mut to_center = Matrix6::zeros();
            to_center.fixed_view_mut::<3, 3>(3, 0).copy_from(&self.inertia_roots[place]);
            to_center.fixed_columns_mut::<3>(3).copy_from(&lines);
            let total = &mut self.totals[place];
            total.stiffness += to_center * stiffness * to_center.transpose() * weight;
            total.damping += to_center * damping * to_center.transpose() * weight;
        }
    }

    /// Reports a spring and damper on coordinates, each with the stretch per coordinate; `None` is ground.
    ///
    /// # Panics
    /// If a coordinate does not exist, like slice indexing.
    pub fn on_coordinates(
        &mut self,
        stiffness: f64,
        damping: f64,
        factors: [(Option<CoordinateIndex>, f64); 2],
    ) {
        let ends = factors.map(|(coordinate, factor)| {
            let ground = || End::along(BodyIndex::GROUND.index(), Vector6::zeros());
            coordinate.map_or_else(ground, |coordinate| self.end_of(coordinate, factor))
        });
        self.add(stiffness, damping, &ends);
    }

    /// Reports a spring and damper whose forces at a tension of 1 N are those that `unit` applies.
    pub fn along(&mut self, stiffness: f64, damping: f64, unit: impl FnOnce(&mut ForceAccumulator<'_, T>)) {
        self.forces.set_zero();
        unit(&mut ForceAccumulator::new(&mut self.forces, self.kinematics));
        let mut ends = Vec::new();
        for body in self.topology().bodies() {
            let place = body.index();
            let F_GB = self.forces.body(body);
            let p_GB = self.kinematics.positions.pose(body).translation.vector.map(T::to_f64);
            let r_G = self.mass_centers[place].coords - p_GB;
            let force = F_GB.force.map(T::to_f64);
            let torque = F_GB.torque.map(T::to_f64) - r_G.cross(&force);
            ends.push(self.line(place, force, torque));
        }
        for coordinate in self.topology().coordinates() {
            ends.push(self.end_of(coordinate, self.forces.coordinate(coordinate).to_f64()));
        }
        self.add(stiffness, damping, &ends);
    }

    /// Reports a spring between points of two bodies that is loaded by an impact. It is as stiff as required to reverse
    /// the bodies with this frequency \[rad/s\], and dissipates their speed at this rate \[1/s\], for any mass; a
    /// spring whose force grows exponentially has this property. Several share the energy of one impact, and count as
    /// one.
    ///
    /// # Panics
    /// If a body does not exist, like slice indexing.
    pub fn impact(&mut self, frequency: f64, damping_rate: f64, ends: [(BodyIndex, Point3<T>); 2]) {
        let ends = self.ends_at(&ends);
        // The inverse of the mass that moves at the ends.
        let all: f64 = ends.iter().map(|end| end.yielding).sum();
        if all <= 0.0 || (frequency <= 0.0 && damping_rate <= 0.0) {
            return;
        }
        if self.is_bounding {
            self.bound(&ends, |end: &End| {
                [frequency * frequency, damping_rate].map(|x: f64| x * (end.yielding / all))
            });
            return;
        }
        for (&End { place, yielding, .. }, weight) in End::weighted(&ends) {
            let share = weight * yielding / all;
            let [square, damping] = &mut self.totals[place].impact;
            *square = square.max(frequency * frequency * share);
            *damping = damping.max(damping_rate * share);
        }
    }

    /// The distance of a point in Ground from the mass center of a body \[m\].
    ///
    /// # Panics
    /// If the body does not exist, like slice indexing.
    pub fn lever(&self, body: BodyIndex, p_G: &Point3<T>) -> f64 {
        (p_G.map(T::to_f64) - self.mass_centers[body.place_in(self.topology())]).norm()
    }

    /// The mass of a body \[kg\]; infinite for Ground and immovable bodies.
    ///
    /// # Panics
    /// If the body does not exist, like slice indexing.
    pub fn mass(&self, body: BodyIndex) -> f64 {
        let root = self.mass_roots[body.place_in(self.topology())];
        (root * root).recip()
    }

    /// The ends of a spring in any direction.
    fn ends_at(&self, points: &[(BodyIndex, Point3<T>); 2]) -> [End; 2] {
        points.map(|(body, p_G)| {
            let place = body.place_in(self.topology());
            let of_mass = self.mass_roots[place];
            let lever = p_G.map(T::to_f64) - self.mass_centers[place];
            let torques = self.inertia_roots[place] * lever.cross_matrix();
            let yielding = of_mass * of_mass + 0.5 * torques.norm_squared();
            End::anywhere(place, of_mass, &torques, yielding)
        })
    }

    /// The end of a spring whose unit force acts on a body like this at its mass center.
    fn line(&self, place: usize, force: Vector3<f64>, torque: Vector3<f64>) -> End {
        let (f, t) = (force * self.mass_roots[place], self.inertia_roots[place] * torque);
        End::along(place, Vector6::new(f.x, f.y, f.z, t.x, t.y, t.z))
    }

    fn end_of(&self, coordinate: CoordinateIndex, factor: f64) -> End {
        let place = self.mass_centers.len() + coordinate.place_in(self.topology());
        End::along(place, Vector6::ith(0, factor * self.mass_roots[place]))
    }

    fn topology(&self) -> &'a Topology {
        self.kinematics.positions.topology()
    }

    fn add(&mut self, stiffness: f64, damping: f64, ends: &[End]) {
        if !stiffness.is_finite() || !damping.is_finite() {
            self.unknown();
            return;
        }
        if stiffness <= 0.0 && damping <= 0.0 {
            return;
        }
        if self.is_bounding {
            self.bound(ends, |end| [stiffness, damping].map(|factor| factor.max(0.0) * end.yielding));
            return;
        }
        for (end, weight) in End::weighted(ends) {
            let total = &mut self.totals[end.place];
            for (sum, factor) in [(&mut total.stiffness, stiffness), (&mut total.damping, damping)] {
                if factor > 0.0 {
                    let lines = end.lines.column_iter().take(end.count);
                    lines.for_each(|line| sum.ger(factor * weight, &line, &line, 1.0));
                }
            }
        }
    }

    /// Bounds the motion of a spring with these ends, at which it contributes about so much.
    fn bound(&mut self, ends: &[End], at_end: impl Fn(&End) -> [f64; 2]) {
        let Self { totals, method, longest, worst, element, .. } = self;
        let ends = End::weighted(ends);
        let sum = |totals: &[Total]| {
            ends.clone().fold([0.0; 2], |sum, (end, weight)| {
                let of_end = totals[end.place].rates;
                [0, 1].map(|i| sum[i] + of_end[i] / weight)
            })
        };
        if method.longest_step(sum(totals)) >= *longest {
            return;
        }
        for (&End { place, .. }, _) in ends.clone() {
            let total = &mut totals[place];
            if !total.is_tight {
                (total.rates, total.is_tight) = (total.bound(greatest), true);
            }
        }
        let rates = sum(totals);
        let mut limiting = ([0.0; 2], 0);
        let is_faster =
            |rates: [f64; 2], other: [f64; 2]| method.longest_step(rates) < method.longest_step(other);
        for (end, weight) in ends.clone() {
            let own = at_end(end).map(|x| x * weight);
            let total = &mut totals[end.place];
            let of_end = total.rates.map(|x| x / weight);
            if is_faster(own, total.strongest.0) {
                total.strongest = (own, *element);
            }
            if is_faster(of_end, limiting.0) {
                limiting = (of_end, end.place);
            }
        }
        if is_faster(rates, worst.0) {
            *worst = (rates, limiting.1);
        }
    }
}

#[cfg(test)]
mod tests {
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
