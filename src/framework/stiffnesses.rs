//! Stiffness and damping of all elements, and the step that they allow.

use nalgebra::{ComplexField, Matrix3, Point3, Vector3};

use crate::framework::springs::{EVEN, End, Joined, Pull, Springs, add_quarters, add_spring};
use crate::framework::{ElementId, Error};
use crate::math::{Real, check};
use crate::mechanics::{
    AsIndex, BodyIndex, CoordinateIndex, ForceAccumulator, Forces, Inertias, Kinematics, Topology,
};

/// The method by which a host integrates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StepMethod {
    /// Symplectic Euler, the method of most game engines: velocities from the forces at the start of the step, and
    /// positions from the new velocities. Applies also to leapfrog, with velocities half a step behind.
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
/// rounded down. Its arc touches the boundary of the region at 123°; the boundary is at 2.83 on the imaginary axis and at
/// 2.79 on the real one.
const RUNGE_KUTTA_RADIUS: f64 = 2.615;

/// The stiffness and damping that elements report.
///
/// An element reports springs. A spring has a stiffness `k` \[N/m\], a damping `d` \[N·s/m\], and ends. At an end it is
/// stretched by `r` metres for each metre, or radian, by which a body or coordinate moves. The reported numbers are
/// bounds: a spring may be softer, or act in one direction only.
///
/// # Theory
///
/// Let `M` be the masses, and `K` and `C` the sums over all springs, symmetric and positive semidefinite. Symplectic
/// Euler is stable if `M − ½hC − ¼h²K` is positive definite: then `vᵀ(M − ½hC − ¼h²K)v + x̄ᵀKx̄`, with `x̄` half way
/// between the positions of two steps, never grows.
///
/// To find such an `h`, each spring gets a part of the mass at each of its ends, in proportion to its contribution there
/// times a weight `w_i`. No more than `M` is distributed, so positive definiteness for each spring implies that of the
/// sum. Consider a spring with ends on bodies or coordinates `i`, where all springs together have the weighted stiffness
/// `K_i` and damping `C_i`. It moves with `ω² ≤ Σ ‖K_i‖/w_i` and `γ ≤ Σ ‖C_i‖/w_i`, where `‖K_i‖` is the largest
/// eigenvalue of `M_i^{-½} K_i M_i^{-½}`, which is bounded to 3 % by the norm of the 32nd power. For one spring, and for
/// equal springs in parallel, the bound has no other slack.
///
/// This holds for any positive weights. A weight is one, except at an end where the spring pulls less than a tenth as
/// hard, over the root of the mass, as at another of its ends. There, with the ratio `ρ` of the pulls, `w = 0.1/ρ`. The
/// less a spring pulls at an end, the less the end counts; in the limit it does not count at all, as where the forces of
/// a strand cancel but for rounding.
#[derive(Debug)]
pub struct Stiffnesses<'a, T: Real> {
    kinematics: &'a Kinematics<T>,
    pub(super) method: StepMethod,
    impact_speed: f64,
    /// The springs that have been reported.
    pub(super) springs: Springs<T>,
    /// Whether friction that is proportional to the velocity when it is small, and limited beyond, counts as a damper.
    pub(super) counts_friction: bool,
    /// The element that reports.
    pub(super) element: Option<ElementId>,
    /// The first element that may be stiffer than it reports.
    pub(super) unknown: Option<ElementId>,
    /// The place at which the strongest spring is sought, its `ω²` and `γ` there, and its element.
    strongest: Option<(usize, [f64; 2], Option<ElementId>)>,
}

impl<'a, T: Real> Stiffnesses<'a, T> {
    pub(crate) fn new(
        kinematics: &'a Kinematics<T>,
        mut springs: Springs<T>,
        inertias: &dyn Inertias,
        method: StepMethod,
        impact_speed: f64,
    ) -> Result<Self, Error> {
        check::nonnegative("impact_speed", impact_speed)?;
        springs.begin(kinematics, inertias)?;
        Ok(Self {
            kinematics,
            method,
            impact_speed,
            springs,
            counts_friction: true,
            element: None,
            unknown: None,
            strongest: None,
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
            let (place, r) = self.lever_arm(body, &p_G);
            self.line(place, direction_G, r.cross(&direction_G))
        });
        self.add(stiffness, damping, &ends);
    }

    /// States that the element may be stiffer than it reports, or that it reports nothing.
    pub fn unknown(&mut self) {
        self.unknown = self.unknown.or(self.element);
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
        self.add(stiffness, damping, &self.points(&ends));
    }

    /// Returns the damping to report for friction that is proportional to the velocity: with the first factor at rest,
    /// and with the second beyond its limit. It is the first factor, or the second if limited friction is left out.
    pub fn of_friction(&self, at_rest: f64, unlimited: f64) -> f64 {
        if self.counts_friction { at_rest } else { unlimited }
    }

    /// Reports a force \[N\] at points of two bodies, in Ground, and a torque \[N·m\] between them. As the bodies rotate,
    /// the lever of the force changes; this acts as a torsion spring of force times lever.
    ///
    /// # Panics
    /// If a body does not exist, like slice indexing.
    pub fn load(&mut self, force: f64, torque: f64, ends: [(BodyIndex, Point3<T>); 2]) {
        for (body, p_G) in ends {
            let stiffness = force * self.lever(body, &p_G) + torque;
            self.add(stiffness, 0.0, &[self.turn(body)]);
        }
    }

    /// Reports a torsion spring \[N·m/rad\] and damper \[N·m·s/rad\] about any axis between two bodies.
    ///
    /// # Panics
    /// If a body does not exist, like slice indexing.
    pub fn torsion(&mut self, stiffness: f64, damping: f64, bodies: [BodyIndex; 2]) {
        self.add(stiffness, damping, &bodies.map(|body| self.turn(body)));
    }

    /// Reports springs and dampers that act in several directions between two bodies: the derivatives of their wrench at
    /// a point in Ground by the displacement, and by the velocity, of one body relative to the other. Both are symmetric
    /// positive semidefinite matrices, in quarters: torques by rotations; torques by displacements, whose transpose is
    /// the forces by rotations; forces by displacements.
    ///
    /// # Panics
    /// If a body does not exist, like slice indexing.
    pub fn coupled(
        &mut self,
        stiffness: &[Matrix3<f64>; 3],
        damping: &[Matrix3<f64>; 3],
        bodies: [BodyIndex; 2],
        p_G: &Point3<T>,
    ) {
        let matrices = [stiffness, damping];
        if !matrices
            .into_iter()
            .flatten()
            .all(|quarter| quarter.as_slice().iter().all(ComplexField::is_finite))
        {
            self.unknown();
            return;
        }
        let greatest = matrices.map(|[torques, _, forces]| [torques, forces].map(|m| m.diagonal().max()));
        if greatest.as_flattened().iter().all(|entry| *entry <= 0.0) {
            return;
        }
        let ends = self.points(&bodies.map(|body| (body, *p_G)));
        let owns = ends.map(|end| {
            let turning = self.springs.places[end.place].inverse_inertia.trace();
            (end.place, greatest.map(|[torques, forces]| forces * end.yielding + torques * turning))
        });
        let own =
            |end: &End| owns.iter().find(|(place, _)| *place == end.place).map_or([0.0; 2], |(_, own)| *own);
        // By stiffness and damping alike, even if the point is at the mass center of a body that only turns.
        let most = [0, 1].map(|i| owns.iter().map(|(_, own)| own[i]).fold(0.0, f64::max));
        let share = |end: &End| {
            let shares = own(end).into_iter().zip(most).filter(|(_, most)| *most > 0.0);
            shares.map(|(own, most)| own / most).sum()
        };
        let ends = ends.map(|end| End { yielding: share(&end), ..end });
        self.distribute(&ends, own, |springs, end, weight| {
            let Pull::Point(r) = &end.pull else { return };
            for (sum, matrix) in springs.places[end.place].sums.iter_mut().zip(matrices) {
                add_quarters(sum, matrix, weight, r);
            }
        });
    }

    /// Reports a spring and damper on coordinates, each with the stretch per displacement of the coordinate; `None` is
    /// ground.
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
            let ground = End { place: BodyIndex::GROUND.index(), pull: Pull::Coordinate, yielding: 0.0 };
            coordinate.map_or(ground, |coordinate| self.on_coordinate(coordinate, factor))
        });
        self.add(stiffness, damping, &ends);
    }

    /// Reports a spring and damper; `unit` applies its forces at a tension of 1 N.
    pub fn along(&mut self, stiffness: f64, damping: f64, unit: impl FnOnce(&mut ForceAccumulator<'_, T>)) {
        let topology = self.topology();
        let mut ends = core::mem::take(&mut self.springs.ends);
        let mut forces = self.springs.forces.take().unwrap_or_else(|| Forces::zeros(topology));
        forces.set_zero();
        unit(&mut ForceAccumulator::new(&mut forces, self.kinematics));
        ends.clear();
        for body in topology.bodies() {
            let F_GB = forces.body(body);
            let (force, torque) = (F_GB.force.map(T::to_f64), F_GB.torque.map(T::to_f64));
            let (place, r) =
                self.lever_arm(body, &self.kinematics.positions.pose(body).translation.vector.into());
            ends.push(self.line(place, force, torque + r.cross(&force)));
        }
        for coordinate in topology.coordinates() {
            ends.push(self.on_coordinate(coordinate, forces.coordinate(coordinate).to_f64()));
        }
        self.add(stiffness, damping, &ends);
        (self.springs.ends, self.springs.forces) = (ends, Some(forces));
    }

    /// Reports a spring between points of two bodies that is loaded by an impact. It is as stiff as required to reverse
    /// the bodies with this frequency \[rad/s\], and dissipates their speed at this rate \[1/s\], for any mass. A spring
    /// whose force grows exponentially has this property. Several such springs share the energy of one impact, and count
    /// as one.
    ///
    /// # Panics
    /// If a body does not exist, like slice indexing.
    pub fn impact(&mut self, frequency: f64, damping_rate: f64, ends: [(BodyIndex, Point3<T>); 2]) {
        if frequency <= 0.0 && damping_rate <= 0.0 {
            return;
        }
        let ends = self.points(&ends);
        // The inverse of the mass that moves at the ends.
        let all: f64 = ends.iter().map(|end| end.yielding).sum();
        let own = move |end: &End| [frequency * frequency, damping_rate].map(|x| x * (end.yielding / all));
        self.distribute(&ends, own, |springs, end, weight| {
            let impact = &mut springs.places[end.place].impact;
            for (most, own) in impact.iter_mut().zip(own(end)) {
                *most = most.max(own * weight);
            }
        });
    }

    /// The distance of a point in Ground from the mass center of a body \[m\].
    ///
    /// # Panics
    /// If the body does not exist, like slice indexing.
    pub fn lever(&self, body: BodyIndex, p_G: &Point3<T>) -> f64 {
        self.lever_arm(body, p_G).1.norm()
    }

    /// The mass of a body \[kg\]; infinite for Ground and immovable bodies.
    ///
    /// # Panics
    /// If the body does not exist, like slice indexing.
    pub fn mass(&self, body: BodyIndex) -> f64 {
        self.springs.places[body.place_in(self.topology())].inverse_mass.recip()
    }

    /// The place of a body, and a point in Ground relative to its mass center.
    fn lever_arm(&self, body: BodyIndex, p_G: &Point3<T>) -> (usize, Vector3<f64>) {
        let place = body.place_in(self.topology());
        (place, p_G.map(T::to_f64) - self.springs.places[place].mass_center)
    }

    /// The ends of a spring in any direction.
    #[inline]
    fn points(&self, [first, second]: &[(BodyIndex, Point3<T>); 2]) -> [End; 2] {
        let end = |(body, p_G): &(BodyIndex, Point3<T>)| {
            let (place, r) = self.lever_arm(*body, p_G);
            let inverse_inertia = &self.springs.places[place].inverse_inertia;
            // Half the trace of [r]×ᵀ J⁻¹ [r]×.
            let turning = 0.5 * (r.norm_squared() * inverse_inertia.trace() - r.dot(&(inverse_inertia * r)));
            let yielding = self.springs.places[place].inverse_mass + turning.max(0.0);
            End { place, pull: Pull::Point(r), yielding }
        };
        [end(first), end(second)]
    }

    /// The end of a spring whose unit force acts on a body like this at its mass center.
    fn line(&self, place: usize, force: Vector3<f64>, torque: Vector3<f64>) -> End {
        let turning = torque.dot(&(self.springs.places[place].inverse_inertia * torque));
        let yielding = force.norm_squared() * self.springs.places[place].inverse_mass + turning;
        End { place, pull: Pull::Line { force, torque }, yielding }
    }

    /// The end of a spring about any axis.
    fn turn(&self, body: BodyIndex) -> End {
        let place = body.place_in(self.topology());
        let yielding = self.springs.places[place].inverse_inertia.trace() / 3.0;
        End { place, pull: Pull::Turn, yielding }
    }

    fn on_coordinate(&self, coordinate: CoordinateIndex, factor: f64) -> End {
        let place = self.topology().body_places() + coordinate.place_in(self.topology());
        let yielding = factor * factor * self.springs.places[place].inverse_mass;
        End { place, pull: Pull::Coordinate, yielding }
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
        let factors = [stiffness.max(0.0), damping.max(0.0)];
        let own = |end: &End| factors.map(|factor| factor * end.yielding);
        self.distribute(ends, own, |springs, end, weight| {
            if matches!(end.pull, Pull::Coordinate) {
                let along = &mut springs.places[end.place].along;
                along.iter_mut().zip(own(end)).for_each(|(sum, own)| *sum += own * weight);
                return;
            }
            for (sum, factor) in springs.places[end.place].sums.iter_mut().zip(factors) {
                if factor > 0.0 {
                    add_spring(sum, factor * weight, &end.pull);
                }
            }
        });
    }

    /// Adds a spring at the places where it moves, with the weights of its ends; or compares its contribution at the
    /// place at which the strongest spring is sought.
    fn distribute(
        &mut self,
        ends: &[End],
        own: impl Fn(&End) -> [f64; 2],
        add: impl Fn(&mut Springs<T>, &End, f64),
    ) {
        let most = ends.iter().map(|end| end.yielding).fold(0.0, f64::max);
        // An infinite stiffness on an immovable body is ignored.
        let moving = ends.iter().filter(|end| end.yielding > 0.0);
        let weighted = moving.clone().map(|end| {
            let is_even = end.yielding >= EVEN * EVEN * most;
            let uneven = || EVEN * (ComplexField::sqrt(most) / ComplexField::sqrt(end.yielding));
            (end, if is_even { 1.0 } else { uneven() })
        });
        if let Some((place, strongest, element)) = &mut self.strongest {
            for (end, weight) in weighted.filter(|(end, _)| end.place == *place) {
                let own = own(end).map(|x| x * weight);
                let is_faster = self.method.longest_step(own) < self.method.longest_step(*strongest);
                if is_faster || element.is_none() {
                    (*strongest, *element) = (own, self.element);
                }
            }
            return;
        }
        let count = moving.count();
        let first = self.springs.joined.len();
        for (end, weight) in weighted {
            add(&mut self.springs, end, weight);
            let Springs { places, joined, .. } = &mut self.springs;
            match count {
                1 => places[end.place].is_alone = true,
                _ => joined.push(Joined { place: end.place, weight, count }),
            }
        }
        // One of several springs between the same bodies.
        let (before, last) = self.springs.joined.split_at(first);
        if before.ends_with(last) {
            self.springs.joined.truncate(first);
        }
    }

    /// From here on reported springs are compared at a place, until [`strongest`](Self::strongest).
    pub(super) fn seek(&mut self, place: usize) {
        self.strongest = Some((place, [0.0; 2], None));
    }

    /// The element of the spring that contributes most at the place sought.
    pub(super) fn strongest(&self) -> Option<ElementId> {
        self.strongest.and_then(|(.., element)| element)
    }
}
