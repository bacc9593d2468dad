//! Stiffness and damping of all elements, and the step that they allow.

use alloc::vec;
use alloc::vec::Vec;

use nalgebra::{ComplexField, Point3, Vector3};

use crate::framework::Error;
use crate::math::{Real, Requirement, check};
use crate::mechanics::{
    AsBody, AsCoordinate, BodyIndex, CoordinateIndex, ForceAccumulator, Forces, Inertias, Kinematics,
    Topology,
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

/// What a host does between two evaluations.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Stepping {
    /// The method.
    pub method: StepMethod,
    /// The largest speed at which bodies may meet \[m/s\]. With zero, elements without contact are taken to stay without.
    pub impact_speed: f64,
}

/// Bounds on the frequency and on the damping of the motion that one spring takes part in.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Rates {
    /// Bound on `ω²` \[1/s²\].
    pub(crate) square: f64,
    /// Bound on the damping rate `γ`, damping over mass \[1/s\].
    pub(crate) damping: f64,
}

impl StepMethod {
    /// The longest stable step \[s\]; infinite if nothing limits it.
    pub(crate) fn longest_step(self, Rates { square, damping }: Rates) -> f64 {
        match self {
            // ω²h² + 2γh ≤ 4.
            Self::SymplecticEuler => 4.0 / (damping + ComplexField::sqrt(damping * damping + 4.0 * square)),
            // Of the rates μ with μ² + γμ + ω² = 0 none is larger than ω or γ.
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
/// Let `M` be the masses, `K` and `C` the sums over all springs, symmetric and positive semidefinite. Symplectic Euler is
/// stable if `M − ½hC − ¼h²K` is positive definite, since then
/// `vᵀ(M − ½hC − ¼h²K)v + x̄ᵀKx̄`, with `x̄` half way between the positions of two steps, never grows. To
/// find such `h` without eigenvalues, each spring gets a share of the mass at each of its ends, in proportion to what it
/// adds there; all of `M` is shared, so what is positive definite for each spring is for the sum. A spring with ends
/// `i` of mass `m_i`, where all springs together have the stiffness `K_i = Σ k·r²` and the damping `C_i = Σ d·r²`, then
/// moves with `ω² ≤ Σ K_i/m_i` and `γ ≤ Σ C_i/m_i`. The bound is sharp for one spring and for equal ones in parallel;
/// springs across each other count as parallel.
#[derive(Debug)]
pub struct Stiffnesses<'a, T: Real> {
    kinematics: &'a Kinematics<T>,
    stepping: Stepping,
    /// In f64 and Ground, by place of the body.
    mass_centers: Vec<Point3<f64>>,
    /// One over the mass at each place of an [`End`].
    inverse_masses: Vec<f64>,
    totals: Vec<Total>,
    /// Buffer for forces of unit tension.
    forces: Forces<T>,
    is_bounding: bool,
    report: Report,
}

/// What all springs add at one end.
#[derive(Debug, Clone, Copy, Default)]
struct Total {
    stiffness: f64,
    damping: f64,
    /// The stiffest of the springs that share the energy of one impact.
    impact: f64,
    /// The most damped of them.
    impact_damping: f64,
}

/// What one element has reported.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Report {
    /// Of the spring that allows the shortest step.
    pub(crate) worst: Rates,
    pub(crate) is_unknown: bool,
}

/// One end of a spring: a place, and the square of the stretch per motion.
///
/// Places `2b` and `2b + 1` are the translation and the rotation of the body at place `b`; the coordinates follow.
type End = (usize, f64);

/// Where nothing moves.
const GROUND: End = (0, 1.0);

impl<'a, T: Real> Stiffnesses<'a, T> {
    pub(crate) fn new(
        kinematics: &'a Kinematics<T>,
        inertias: &dyn Inertias,
        stepping: Stepping,
    ) -> Result<Self, Error> {
        check::nonnegative("impact_speed", stepping.impact_speed)?;
        let topology = kinematics.positions.topology();
        let (bodies, coordinates) = (topology.body_places(), topology.coordinate_places());
        let mut inverse_masses = vec![0.0; 2 * bodies + coordinates];
        let mut mass_centers = vec![Point3::origin(); bodies];
        // An infinite mass is welcome.
        let inverse = |name, mass: f64| {
            check::that(mass > 0.0, name, mass, Requirement::Positive)?;
            Ok::<_, Error>(mass.recip())
        };
        for body in topology.bodies() {
            let place = body.index();
            inverse_masses[2 * place] = inverse("mass", inertias.mass(body))?;
            inverse_masses[2 * place + 1] = inverse("inertia", inertias.least_inertia(body))?;
            let X_GB = kinematics.positions.pose(body);
            let p_BC = inertias.mass_center(body);
            check::finite_vector("mass_center", &p_BC.coords)?;
            mass_centers[place] = plain(&(X_GB * p_BC.map(T::lit)));
        }
        for coordinate in topology.coordinates() {
            let mass = inertias.coordinate_mass(coordinate);
            inverse_masses[2 * bodies + coordinate.index()] = inverse("coordinate mass", mass)?;
        }
        Ok(Self {
            kinematics,
            stepping,
            mass_centers,
            totals: vec![Total::default(); inverse_masses.len()],
            inverse_masses,
            forces: Forces::zeros(topology),
            is_bounding: false,
            report: Report::default(),
        })
    }

    /// From here on springs are bounded, by the sums of what has been reported.
    pub(crate) fn begin_bounding(&mut self) {
        self.is_bounding = true;
    }

    /// What was reported since the last call.
    pub(crate) fn take_report(&mut self) -> Report {
        core::mem::take(&mut self.report)
    }

    /// States that the element may be stiffer than it reports, or reports nothing.
    pub fn unknown(&mut self) {
        self.report.is_unknown = true;
    }

    /// The largest speed at which bodies may meet \[m/s\].
    pub fn impact_speed(&self) -> f64 {
        self.stepping.impact_speed
    }

    /// Reports a spring and damper in any direction between points of two bodies, in Ground.
    ///
    /// # Panics
    /// If a body does not exist, like slice indexing.
    pub fn between(&mut self, stiffness: f64, damping: f64, ends: [(BodyIndex, Point3<T>); 2]) {
        self.add(stiffness, damping, &self.ends_at(&ends).concat());
    }

    /// Reports a force \[N\] at points of two bodies, in Ground, and a torque \[N·m\] between them: as the bodies turn, the
    /// force acts on another lever, like a torsion spring of force times lever.
    ///
    /// # Panics
    /// If a body does not exist, like slice indexing.
    pub fn loaded(&mut self, force: f64, torque: f64, ends: [(BodyIndex, Point3<T>); 2]) {
        for (body, p_G) in ends {
            let stiffness = force * self.lever(body, &p_G) + torque;
            self.turning(stiffness, 0.0, [body, BodyIndex::GROUND]);
        }
    }

    /// Reports a torsion spring \[N·m/rad\] and damper \[N·m·s/rad\] about any axis between two bodies.
    ///
    /// # Panics
    /// If a body does not exist, like slice indexing.
    pub fn turning(&mut self, stiffness: f64, damping: f64, bodies: [BodyIndex; 2]) {
        let ends = bodies.map(|body| (2 * body.place_in(self.topology()) + 1, 1.0));
        self.add(stiffness, damping, &ends);
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
        let end = |(coordinate, factor): (Option<CoordinateIndex>, f64)| {
            coordinate.map_or(GROUND, |coordinate| (self.place_of(coordinate), factor * factor))
        };
        let ends = factors.map(end);
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
            let r_G = self.mass_centers[place]
                - plain(&Point3::from(self.kinematics.positions.pose(body).translation.vector));
            let force = F_GB.force.map(T::to_f64);
            let torque = F_GB.torque.map(T::to_f64) - r_G.cross(&force);
            ends.extend([(2 * place, force.norm_squared()), (2 * place + 1, torque.norm_squared())]);
        }
        for coordinate in self.topology().coordinates() {
            let f = self.forces.coordinate(coordinate).to_f64();
            ends.push((self.place_of(coordinate), f * f));
        }
        self.add(stiffness, damping, &ends);
    }

    /// Reports a spring between points of two bodies that is struck, and then as stiff as makes the bodies turn around with
    /// this frequency \[rad/s\], and loses their speed at this rate \[1/s\], whatever they weigh; one with a force that
    /// grows exponentially is such a spring. Several share the energy of one impact, and count as one.
    ///
    /// # Panics
    /// If a body does not exist, like slice indexing.
    pub fn struck(&mut self, frequency: f64, damping_rate: f64, ends: [(BodyIndex, Point3<T>); 2]) {
        let ends = self.ends_at(&ends).concat();
        let mass = self.effective_mass_of(&ends);
        if !mass.is_finite() || (frequency <= 0.0 && damping_rate <= 0.0) {
            return;
        }
        let (stiffness, damping) = (frequency * frequency * mass, damping_rate * mass);
        if self.is_bounding {
            self.bound(&ends);
        } else {
            for (place, square) in ends {
                let total = &mut self.totals[place];
                total.impact = total.impact.max(stiffness * square);
                total.impact_damping = total.impact_damping.max(damping * square);
            }
        }
    }

    /// The distance of a point in Ground from the mass center of a body \[m\].
    ///
    /// # Panics
    /// If the body does not exist, like slice indexing.
    pub fn lever(&self, body: BodyIndex, p_G: &Point3<T>) -> f64 {
        (plain(p_G) - self.mass_centers[body.place_in(self.topology())]).norm()
    }

    /// The mass of a body \[kg\]; infinite for Ground and what does not yield.
    ///
    /// # Panics
    /// If the body does not exist, like slice indexing.
    pub fn mass(&self, body: BodyIndex) -> f64 {
        self.inverse_masses[2 * body.place_in(self.topology())].recip()
    }

    /// The mass that a force in any direction between points of two bodies moves, at least \[kg\]; infinite if neither
    /// yields.
    ///
    /// # Panics
    /// If a body does not exist, like slice indexing.
    pub fn effective_mass(&self, ends: [(BodyIndex, Point3<T>); 2]) -> f64 {
        self.effective_mass_of(&self.ends_at(&ends).concat())
    }

    fn effective_mass_of(&self, ends: &[End]) -> f64 {
        ends.iter().map(|&(place, square)| square * self.inverse_masses[place]).sum::<f64>().recip()
    }

    /// Translation and rotation of a body at a point.
    fn ends_at(&self, points: &[(BodyIndex, Point3<T>); 2]) -> [[End; 2]; 2] {
        points.map(|(body, p_G)| {
            let place = body.place_in(self.topology());
            let lever = self.lever(body, &p_G);
            [(2 * place, 1.0), (2 * place + 1, lever * lever)]
        })
    }

    fn topology(&self) -> &'a Topology {
        self.kinematics.positions.topology()
    }

    fn place_of(&self, coordinate: CoordinateIndex) -> usize {
        2 * self.mass_centers.len() + coordinate.place_in(self.topology())
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
            self.bound(ends);
            return;
        }
        for &(place, square) in ends {
            let total = &mut self.totals[place];
            total.stiffness += stiffness.max(0.0) * square;
            total.damping += damping.max(0.0) * square;
        }
    }

    /// Bounds the motion of a spring with these ends.
    fn bound(&mut self, ends: &[End]) {
        let mut rates = Rates::default();
        for &(place, _) in ends.iter().filter(|(_, square)| *square > 0.0) {
            let (total, inverse_mass) = (&self.totals[place], self.inverse_masses[place]);
            // An infinite stiffness on what does not yield is no stiffness.
            if inverse_mass > 0.0 {
                rates.square += (total.stiffness + total.impact) * inverse_mass;
                rates.damping += (total.damping + total.impact_damping) * inverse_mass;
            }
        }
        let method = self.stepping.method;
        if method.longest_step(rates) < method.longest_step(self.report.worst) {
            self.report.worst = rates;
        }
    }
}

/// A point without derivatives.
fn plain<T: Real>(p: &Point3<T>) -> Point3<f64> {
    Point3::from(Vector3::new(p.x.to_f64(), p.y.to_f64(), p.z.to_f64()))
}
