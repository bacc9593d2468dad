//! An elastic cable that wraps obstacles, with or without friction.

mod derivatives;
mod state;

pub use state::{Discrete, StateParameters};

use alloc::vec::Vec;

use nalgebra::{Point3, Vector3};

use crate::cable::{CablePath, Grips, PathResults, Strands, ViaPoint, tension};
use crate::elements::{LARGEST_TURN, Refusal};
use crate::framework::stored_variables;
use crate::framework::{
    AtDynamics, AtPosition, AtVelocity, Blocks, ElementError, ElementResult, Error, ForceElement, Given,
    Meaning, Pen, Stiffnesses, Variables,
};
use crate::math::{Casts, Real, Requirement, check};
use crate::mechanics::{BodyIndex, Checked, ForceAccumulator, Topology, Velocities};
use crate::results;

/// A massless elastic cable, like a rubber band, along a [`CablePath`], with or without friction on its obstacles.
///
/// ```text
///            f_0    ,--~~~--.    f_1
///   B1 ●───────────(  B2  μ  )───────● B3        without friction one tension f all along
///                   `-------'
/// ```
///
#[doc = include_str!("../../../docs/sketches/cable_spring.svg")]
///
/// # Law
///
/// With the path's length `L`, its rate `L̇`, and the elongation `x = max(0, L − L₀)`:
///
/// ```text
/// f_elastic = k x
/// f_rate    = max(−f_elastic, f_elastic c L̇)
/// f         = f_elastic + f_rate
/// ```
///
/// [With friction](Self::with_friction), the cable is divided into strands by marks, one on each contact arc and one on
/// each via point. Strand `k` has the length `L_k` from mark to mark, and the fraction `φ_k` of the cable's material:
///
/// ```text
/// x_k = max(0, L_k/φ_k − L₀)                        Σ L_k = L,  Σ φ_k = 1
/// f_k = k x_k (1 + r_k)                             r_k ≥ −1
/// e^(−μθ) ≤ f_{k+1} / f_k ≤ e^(μθ)                  θ = ∫ κ_n ds
/// ```
///
/// | symbol | meaning | unit | range |
/// |---|---|---|---|
/// | `k` | [`stiffness`](Parameters::stiffness) | N/m | ≥ 0 |
/// | `L₀` | [`slack_length`](Parameters::slack_length) | m | ≥ 0 |
/// | `c` | [`dissipation`](Parameters::dissipation) | s/m | ≥ 0 |
/// | `μ` | [`friction`](StateParameters::friction), one per obstacle, or none | | ≥ 0 |
/// | | [`places`](StateParameters::places) of the path, switches and scales | m | poses rotations, scales > 0 |
///
/// `θ` is the integral of the surface's normal curvature along the contact arc between two strands; it is zero on a via
/// point and without contact.
///
/// A contact sticks while the ratio is within its limit. Otherwise material slips through the contact, towards the
/// greater tension, exactly as far as the limit requires. This return mapping does not depend on time and is part of the
/// evaluation; [`accept_step`](crate::ForceSystem::accept_step) commits it. A load that friction can hold is held without
/// creep, for any step. While the cable slides sideways over the surface, this has an error of third order in each step.
///
/// Damping is a fraction of the elastic tension: tension rises from zero without a jump as the slack is taken up, and is
/// never negative. The rise `r_k` of a strand is `c` times the rate at which it stretches,
///
/// ```text
/// r_k = c (L̇_k − (L₀ + x_k) (s_k − s_{k+1}))/φ_k
/// ```
///
/// where `s_k` is the rate at which material enters strand `k` from strand `k − 1`. It is zero if the limit of friction
/// is not reached, and otherwise directed towards the greater tension. A contact whose `μθ` is above 36 (16 in `f32`)
/// does not limit damping. A contact whose `μθ` is above 709 (88), where `e^(μθ)` overflows, does not limit tension
/// either.
///
/// # Forces
///
/// Tension pulls the ends of every straight segment of the path together; an obstacle is loaded by the two segments that
/// meet it.
///
/// With friction, the mean tension acts along the present path. It is the mean over the strands that are not wound on a
/// drum, weighted by their fractions at the last commit. The deviations of the strands from the mean act between the
/// points where the cable left one body and met the next at the last commit, moved with their bodies. The lengths `L_k`
/// follow these points; the remaining change of the path is distributed by the committed fractions. The law therefore has
/// a potential while contacts stick.
///
/// # Energy
///
/// Stored: `k x² / 2`; with friction `Σ k φ_k x_k² / 2`.
///
/// Lost by damping: `f_rate L̇`, which is never negative, or with friction `Σ k x_k r_k L̇_k`; both are known
/// instantaneously. The latter includes the change of friction by damping, and may be negative where material slips while
/// strands shorten.
///
/// Lost by slip: where the fraction `dφ` slips from strand `a` to strand `b`, `(f_b − f_a)·L₀·dφ + (f_b² − f_a²)/(2k)·dφ`
/// of the elastic tensions. This is known at the commit: see
/// [`DynamicsView::dissipated_energy`](crate::DynamicsView::dissipated_energy).
///
/// # Pulleys and winches
///
/// On a turning wheel, the mark reaches the end of the contact arc and stays there. The material that passes takes the
/// strain of the strand that it enters, and the difference in energy is lost: the creep of an elastic belt. To model a
/// pulley that turns with the cable, put the obstacle on the body of the wheel, with a large coefficient such as 1000.
///
/// A cable that begins or ends on the surface of its first or last obstacle, and is fixed on the same body, winds on this
/// obstacle as on the drum of a winch.
///
/// - With friction, the wound part is divided into laps. Each lap is a strand
///   ([`Strand::is_wound`](crate::cable::Strand::is_wound)) with the strain that it had when it came onto the drum: see
///   [`Grips::laps`]. If the cable touches a drum several times, the contact at the fixed end is wound and the others
///   have a mark each. While the cable lifts off at the fixed end, none of them has friction.
/// - Without friction, the wound part is as elastic as the free cable, and slips.
///
/// # Notes
///
/// - [`reset_memory`](crate::ForceSystem::reset_memory) lays the cable anew, by its hints, at the present poses. From
///   then on the side of an obstacle on which the cable lies, and its windings, are remembered; see [`CablePath`].
///   Without a reset every evaluation until the first accepted step searches for the path, and a hint that turns with its
///   body may select another side at the end of that step. If the reset finds no path, the next evaluation returns the
///   error.
/// - Friction acts only along the cable; sideways, the cable slides freely to the shortest path. The lines between the
///   points of the last commit are then too long or too short, in second order, until the next commit. The stored energy
///   changes with them, in either direction. The dissipated energy may decrease by the sum of these changes, which is of
///   first order in the step (0.15 mJ of 12 J in 30 s of a swing of 0.6 m in steps of 10 ms). Friction forces lag by the
///   sideways motion in a step, which is also an error of first order: there, integrators with error control take steps
///   in proportion to the root of their accuracy.
/// - A contact has no friction until the step after its touchdown. A cable that is laid anew has a uniform tension.
///   Friction that parameters switch on marks the cable where it lies; in a new or restored state, once a motion has been
///   set.
/// - Tensions jump where friction begins or ceases at once, because a coefficient or an obstacle is switched. If a state
///   changes places of the path, marks stay until the next commit, and the strands that are not wound share the change of
///   length; none becomes shorter than a millionth of its fraction of the path.
/// - A strand is stiffer than the cable, `k/φ_k`: a short strand requires shorter steps of an explicit integrator.
/// - Slip within a step is undone if the motion reverses within the same step. With fixed steps this is an error of first
///   order in the step. [Integrators with error control](crate::ForceElement::is_path_dependent) let the cable slip at
///   the start of a step or halfway.
/// - Shares of the material are known to the rounding `ε` of the scalar. A drum that winds a length `l` in each step of a
///   cable of length `L` stores its strain `e` with an error of up to about `ε L/l`: in `f32`, with 1 m of cable and
///   0.1 mm a step, 6e-4.
/// - The mark of a new contact is put in the middle of its arc at the first commit. What friction then holds depends on
///   that arc, to first order in the step.
/// - The rates `s_k` are not integrated: only the slip that elastic tensions require occurs. Where damping exceeds the
///   elastic tension, `c ẋ_k > 1`, a fast motion and a slow return near the limit of a contact may return energy.
/// - Turns on an obstacle are counted from one commit to the next: on a convex surface a straight segment may wind by
///   less than half a turn, on others by less than a quarter. Steps in which it would wind by more than 2 rad at the
///   present velocities are [refused](crate::ForceSystem::passing_time); if a surface is not convex, by more than
///   1.2 rad. A segment that does not yet touch an obstacle is not limited, and comes to lie on the side that is nearer
///   at the end of the step.
///
/// # Errors of an evaluation
///
/// The errors of [`CablePath::solve`], which [`Error::own`] returns as a [`PathError`](crate::cable::PathError), and
/// [`ElementError::NonFiniteForce`](crate::ElementError::NonFiniteForce) if a force or energy is not finite.
///
/// # Stable step
///
/// For the [longest stable step](crate::ForceSystem::stable_step) of a host, the cable reports
///
/// - `k` along the path; with friction `k/φ_k` along each strand, taut or slack;
/// - damping at the present elongation;
/// - the largest tension over length, across each straight segment.
///
/// # Linearization
///
/// Exact to the smoothness of the path, by motion, all parameters and memory, including the commit. The derivatives
/// assume that contacts that stick continue to stick, that contacts that slip continue to slip, and that a cable that
/// begins or ends on a surface continues to do so. The remembered path only selects where the next search starts: its
/// derivatives are zero. At zero elongation the cable counts as slack.
///
/// | branch | margin | unit |
/// |---|---|---|
/// | `taut`, `slack` | the least elongation of a taut strand; of the greatest stretch from `L₀` | m |
/// | `pulling`; `limp` while damping cancels the tension | `(1 + r)/c` of the greatest rise | m/s |
/// | of each obstacle: `in contact` | the length of the arc | m |
/// | `free` | the distance from the surface; if the cable leaves a drum, that of the other end of the segment from the tangent plane | m |
/// | of each contact with friction: `sticking` | by how much the tension on one side may grow | N |
/// | `slipping` | the length that has slipped in this step | m |
///
/// # Source
///
/// M. A. Sherman, A. Seth, S. L. Delp, *Simbody: multibody dynamics for biomedical research*, Procedia IUTAM 2 (2011) 241–261,
/// and the reference manual of its cable spring. K. H. Hunt, F. R. E. Crossley, *Coefficient of restitution interpreted as
/// damping in vibroimpact*, Journal of Applied Mechanics 42 (1975) 440–445. L. Euler, *Remarques sur l'effet du frottement dans
/// l'équilibre*, Mémoires de l'Académie des sciences de Berlin 18 (1762) 265–278. J. C. Simo, T. J. R. Hughes, *Computational
/// Inelasticity* (1998), on return mappings.
///
/// # Example: a winch
///
/// ```
/// use force_elements::cable::{CablePath, Obstacle};
/// use force_elements::cable_spring::Parameters;
/// use force_elements::nalgebra::{Point3, Vector3};
/// use force_elements::shapes::Cylinder;
/// use force_elements::{CableSpring, ForceSystem, Frame, Pose, Station};
///
/// // A drum that turns about z, on which the cable is fixed on the right; the load hangs below that point.
/// let mut system = ForceSystem::new();
/// let [drum, load] = [system.add_body(), system.add_body()];
/// let fixed = Station::on(drum, Point3::new(0.2, 0.0, 0.0));
/// let path = CablePath::new(fixed, Station::on(load, Point3::origin()))?
///     .over(Obstacle::new(Frame::of(drum), Cylinder::new(0.2)?)?);
/// let elastic = Parameters { stiffness: 1e4, slack_length: 9.99, ..Parameters::default() };
/// let winch = system.add(CableSpring::new(path, elastic)?.with_friction([0.2])?)?;
///
/// // An eighth of a turn a step winds the load up, five turns in all.
/// let mut state = system.default_state();
/// for step in 0..=40 {
///     let angle = core::f64::consts::FRAC_PI_4 * f64::from(step);
///     state.set_pose(drum, Pose::rotation(Vector3::z() * angle))?;
///     state.set_pose(load, Pose::translation(0.2, 0.2 * angle - 10.0, 0.0))?;
///     system.realize_dynamics(&mut state)?;
///     system.accept_step(&mut state)?; // from here on the path is tracked, and friction holds
/// }
/// let dynamics = system.realize_dynamics(&mut state)?;
/// let at = dynamics.of(winch);
/// let turns: f64 = at.position.path.contacts[0].geodesic.length / (0.2 * core::f64::consts::TAU);
/// assert!((turns - 5.0).abs() < 1e-9);
/// assert!((dynamics.body_force(drum).torque.z + 0.2 * at.dynamics.last_tension).abs() < 1e-9);
/// # Ok::<(), force_elements::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct CableSpring<T: Real> {
    path: CablePath<T>,
    law: Parameters<T>,
    /// One per obstacle; none without friction.
    friction: Vec<T>,
}

stored_variables! {
    /// Stiffness, slack length and dissipation.
    #[derive(Copy, Lift)]
    pub struct Parameters<T> {
        /// Stiffness `k`.
        pub stiffness: T ["N/m"], nonnegative => Dynamics;
        /// Slack length `L₀`, at and below which the tension is zero.
        pub slack_length: T ["m"], nonnegative => Position;
        /// Dissipation `c`, the relative rise of tension per length rate.
        pub dissipation: T ["s/m"], nonnegative => Dynamics;
    }
}

results! {
    /// Results at Position stage.
    pub struct Position<T> {
        /// The path: length, contacts, straight segments, smoothness.
        pub path: PathResults<T> [];
        /// The elongation `x`, zero while slack; with friction that of the most elongated strand.
        pub elongation: T ["m"];
        /// The strands between neighbouring marks, in order: lengths, shares of material, elongations; none without friction.
        pub strands: Strands<T>;
    }
}

results! {
    /// Results at Velocity stage.
    pub struct Velocity<T> {
        /// The rate of change `L̇` of the path's length.
        pub length_rate: T ["m/s"];
        /// The rate of change `L̇_k` of each strand's length \[m/s\].
        pub strand_rates: Vec<T>;
    }
}

results! {
    /// Results at Dynamics stage.
    pub struct Dynamics<T> {
        /// The tension `f`, at least zero; with friction the largest one.
        pub tension: T ["N"];
        /// The tension at the origin.
        pub first_tension: T ["N"];
        /// The tension at the termination.
        pub last_tension: T ["N"];
        /// The energy stored.
        pub potential_energy: T ["J"];
        /// The power dissipated by damping, including with friction the change of friction by damping.
        pub power_dissipated: T ["W"];
        /// The tension `f_k` in each strand \[N\].
        pub tensions: Vec<T>;
    }
}

impl<T: Real> CableSpring<T> {
    /// An elastic cable without friction along this path.
    ///
    /// # Errors
    /// [`Error::Element`] with [`ElementError::InvalidValue`](crate::ElementError::InvalidValue) for a parameter that is negative or not finite.
    ///
    /// # Example: a rubber band over a ball
    ///
    /// ```
    /// use force_elements::cable::{CablePath, Obstacle};
    /// use force_elements::cable_spring::Parameters;
    /// use force_elements::nalgebra::Point3;
    /// use force_elements::shapes::Sphere;
    /// use force_elements::{CableSpring, ForceSystem, Frame, Pose, Station};
    ///
    /// let mut system = ForceSystem::new();
    /// let weight = system.add_body();
    /// let ball = Obstacle::new(Frame::ground(Pose::identity()), Sphere::new(0.5)?)?;
    /// let hook = Station::ground(Point3::new(-2.0, 0.2, 0.0));
    /// let path = CablePath::new(hook, Station::on(weight, Point3::origin()))?.over(ball);
    /// let elastic = Parameters { stiffness: 50.0, slack_length: 3.0, ..Parameters::default() };
    /// let band = system.add(CableSpring::new(path, elastic)?)?;
    ///
    /// let mut state = system.default_state();
    /// state.set_pose(weight, Pose::translation(2.0, 0.1, 0.0))?;
    /// let dynamics = system.realize_dynamics(&mut state)?;
    /// let at = dynamics.of(band);
    /// assert!(at.position.path.contacts[0].in_contact);
    /// let elongation: f64 = at.position.path.length - 3.0;
    /// assert!((at.dynamics.tension - 50.0 * elongation).abs() < 1e-12);
    /// assert!((dynamics.body_force(weight).force.norm() - at.dynamics.tension).abs() < 1e-12);
    /// # Ok::<(), force_elements::Error>(())
    /// ```
    pub fn new(path: CablePath<T>, parameters: Parameters<T>) -> Result<Self, Error> {
        parameters.validate().map_err(|error| Error::of_new(Self::KIND, error))?;
        Ok(Self { path, law: parameters, friction: Vec::new() })
    }

    /// The same cable with these coefficients of friction on its obstacles, in order; missing ones are 0.
    ///
    /// # Errors
    /// [`Error::Element`] with [`ElementError::InvalidValue`](crate::ElementError::InvalidValue) for a coefficient that
    /// is negative or not finite, or for more coefficients than obstacles; with [`Refusal::ViaPointMoves`] if a via point
    /// of the path [moves](ViaPoint::moving) on its body or [comes and goes](ViaPoint::only_within): it changes the
    /// lengths of the strands before and after it, and the law of strands does not tell these apart.
    ///
    /// # Example: a rope around a bollard
    ///
    /// ```
    /// use force_elements::cable::{CablePath, Obstacle};
    /// use force_elements::cable_spring::Parameters;
    /// use force_elements::nalgebra::Point3;
    /// use force_elements::shapes::Cylinder;
    /// use force_elements::{CableSpring, ForceSystem, Frame, Pose, Station};
    ///
    /// let mut system = ForceSystem::new();
    /// let boat = system.add_body();
    /// let bollard = Obstacle::new(Frame::ground(Pose::identity()), Cylinder::new(0.2)?)?
    ///     .with_contact_hint(Point3::new(0.0, 0.2, 0.0))?;
    /// let cleat = Station::ground(Point3::new(-0.2, -1.0, 0.0));
    /// let path = CablePath::new(cleat, Station::on(boat, Point3::origin()))?.over(bollard);
    /// let elastic = Parameters { stiffness: 2e4, slack_length: 2.62, dissipation: 0.0 };
    /// let rope = system.add(CableSpring::new(path, elastic)?.with_friction([0.3])?)?;
    ///
    /// let mut state = system.default_state();
    /// for step in 0..20 {
    ///     state.set_pose(boat, Pose::translation(0.2, -1.0 - 0.002 * f64::from(step), 0.0))?;
    ///     system.realize_dynamics(&mut state)?;
    ///     system.accept_step(&mut state)?;
    /// }
    /// let dynamics = system.realize_dynamics(&mut state)?;
    /// let at = dynamics.of(rope).dynamics;
    /// let ratio: f64 = at.last_tension / at.first_tension;
    /// assert!((ratio - (0.3 * core::f64::consts::PI).exp()).abs() < 1e-9);
    /// # Ok::<(), force_elements::Error>(())
    /// ```
    pub fn with_friction(mut self, friction: impl Into<Vec<T>>) -> Result<Self, Error> {
        let mut friction = friction.into();
        let (given, obstacles) = (friction.len(), self.path.obstacles().len());
        let count = T::lit(f64::from(u32::try_from(given).unwrap_or(u32::MAX)));
        let must = Requirement::AtMost("the number of obstacles");
        check::that(given <= obstacles, "friction.len()", count, must)
            .and_then(|()| friction.iter().try_for_each(|&mu| check::nonnegative("friction", mu)))
            .map_err(|error| Error::of_new(Self::KIND, error))?;
        if self.path.via_points().any(|point| point.curve().is_some() || point.range().is_some()) {
            return Err(Error::of_new(Self::KIND, ElementError::own(Refusal::ViaPointMoves)));
        }
        friction.resize(obstacles, T::zero());
        self.friction = friction;
        Ok(self)
    }

    /// The same cable in another scalar.
    ///
    /// # Errors
    /// As [`cast_with`](Self::cast_with).
    pub fn cast<U: Real>(&self) -> Result<CableSpring<U>, Error> {
        self.cast_with(&Casts::none().with_paths())
    }

    /// The same cable in another scalar, with casts of a user's own surfaces.
    ///
    /// # Errors
    /// [`Error::Element`] with the error of [`CablePath::cast_with`], or with [`ElementError::InvalidValue`](crate::ElementError::InvalidValue) where the
    /// other scalar has a smaller range.
    pub fn cast_with<U: Real>(&self, casts: &Casts<T, U>) -> Result<CableSpring<U>, Error> {
        let path = self.path.cast_with(casts).map_err(|error| Error::of_new(Self::KIND, error))?;
        let friction: Vec<U> = self.friction.iter().copied().map(T::cast).collect();
        let cable = CableSpring::new(path, self.law.cast())?;
        if friction.is_empty() { Ok(cable) } else { cable.with_friction(friction) }
    }

    /// The path of the cable.
    pub fn path(&self) -> &CablePath<T> {
        &self.path
    }
}

impl<T: Real> CableSpring<T> {
    /// Writes the memory of a path.
    fn remember(&self, given: &Given<'_, T, Self>, position: &Position<T>, next: &mut Discrete<T>) {
        let Position { path, strands, .. } = position;
        path.remember(&mut next.wraps);
        if has_friction(given.parameters) {
            strands.remember(&self.path, path, given.positions, &given.discrete.grips, &mut next.grips);
        } else if !self.friction.is_empty() {
            next.grips.clear();
        }
    }

    /// Lays the cable at the present poses: writes the memory of the present path.
    fn lay(&self, given: &Given<'_, T, Self>, next: &mut Discrete<T>) {
        let present = next.clone();
        let given = Given { discrete: &present, ..*given };
        let mut position = Position::default();
        // A path that is not found is an error of the next evaluation.
        if self.calc_position(&given, &mut position).is_ok() {
            self.remember(&given, &position, next);
        }
    }
}

/// Whether there is friction at present.
fn has_friction<T: Real>(parameters: &StateParameters<T>) -> bool {
    parameters.friction.iter().any(|mu| *mu > T::zero())
}

impl<T: Real> ForceElement<T> for CableSpring<T> {
    const KIND: &'static str = "cable_spring";
    type Parameters = StateParameters<T>;
    type Discrete = Discrete<T>;
    type Continuous = ();
    type Position = Position<T>;
    type Velocity = Velocity<T>;
    type Dynamics = Dynamics<T>;

    fn check_topology(&self, topology: &Topology) -> ElementResult {
        Ok(self.path.check_topology(topology)?)
    }

    fn default_parameters(&self) -> Self::Parameters {
        StateParameters { places: self.path.places().clone(), law: self.law, friction: self.friction.clone() }
    }

    fn default_discrete(&self) -> Self::Discrete {
        let grips = if self.friction.is_empty() { Grips::default() } else { self.path.no_grips() };
        Discrete { wraps: self.path.no_wraps(), grips }
    }

    fn calc_position(&self, given: &Given<'_, T, Self>, cache: &mut Self::Position) -> ElementResult {
        let StateParameters { places, law, friction } = given.parameters;
        let Discrete { wraps, grips } = given.discrete;
        let Position { path, elongation, strands } = cache;
        self.path.solve_at(places, given.positions, wraps, path)?;
        let zero = T::zero();
        if friction.is_empty() {
            let stretch = path.length - law.slack_length;
            *elongation = if stretch > zero { stretch } else { zero };
        } else {
            strands.solve(&self.path, path, given.positions, grips, friction, law.slack_length);
            *elongation = greatest(strands.all.iter().map(|strand| strand.elongation));
        }
        Ok(())
    }

    fn calc_velocity(&self, at: &AtPosition<'_, T, Self>, cache: &mut Self::Velocity) -> ElementResult {
        let Position { path, strands, .. } = at.position;
        cache.length_rate = path.length_rate(at.positions, at.velocities);
        if !strands.all.is_empty() {
            strands.length_rates(cache.length_rate, at.positions, at.velocities, &mut cache.strand_rates);
        }
        Ok(())
    }

    fn calc_dynamics(&self, at: &AtVelocity<'_, T, Self>, cache: &mut Self::Dynamics) -> ElementResult {
        let Parameters { stiffness, dissipation, .. } = at.parameters.law;
        let Position { strands, elongation, .. } = at.position;
        let Velocity { length_rate, strand_rates } = at.velocity;
        if strands.all.is_empty() {
            let [elastic, damping] = tension(*elongation, *length_rate, [stiffness, dissipation]);
            cache.tension = elastic + damping;
            (cache.first_tension, cache.last_tension) = (cache.tension, cache.tension);
            cache.potential_energy = T::lit(0.5) * stiffness * *elongation * *elongation;
            cache.power_dissipated = damping * *length_rate;
        } else {
            let tensions = &mut cache.tensions;
            cache.power_dissipated = strands.tensions(stiffness, dissipation, strand_rates, tensions);
            cache.potential_energy = stiffness * strands.unit_energy();
            cache.tension = greatest(tensions.iter().copied());
            if let (Some(&first), Some(&last)) = (tensions.first(), tensions.last()) {
                (cache.first_tension, cache.last_tension) = (first, last);
            }
        }
        Ok(())
    }

    fn add_forces(&self, at: &AtDynamics<'_, T, Self>, forces: &mut ForceAccumulator<'_, T>) {
        let Position { path, strands, .. } = at.position;
        if strands.all.is_empty() {
            path.add_forces(at.dynamics.tension, forces);
        } else {
            strands.add_forces(path, at.dynamics.tensions.iter().copied(), forces);
        }
    }

    fn friction_energy(&self, at: &AtDynamics<'_, T, Self>) -> [T; 2] {
        let (strands, law, stored) = (&at.position.strands, at.parameters.law, at.dynamics.potential_energy);
        let is_held = !strands.all.is_empty();
        [stored, if is_held { law.stiffness * strands.held_unit_energy(law.slack_length) } else { stored }]
    }

    fn draw(&self, at: &AtDynamics<'_, T, Self>, pen: &mut Pen<'_>) {
        let (Position { path, strands, .. }, Dynamics { tension, tensions, .. }) = (at.position, at.dynamics);
        let tension_in = |segment| strands.tension_in(segment, tensions).unwrap_or(*tension);
        for (i, segment) in path.segments.iter().enumerate() {
            pen.line(Meaning::Cable, tension_in(i), &segment.from_G, &segment.to_G);
        }
        let ends = [path.segments.first().map(|s| s.from_G), path.segments.last().map(|s| s.to_G)];
        for point in path.via_points.iter().copied().chain(ends).flatten() {
            let meets = path.segments.iter().position(|segment| segment.to_G == point);
            pen.point(Meaning::Attachment, tension_in(meets.unwrap_or(0)), &point);
        }
        for (i, contact) in path.contacts.iter().enumerate() {
            let before = path.segments.iter().position(|segment| segment.to_contact == Some(i));
            let [start, end] = [before.unwrap_or(0), before.map_or(0, |before| before + 1)].map(tension_in);
            let surface = self.path.obstacles()[contact.obstacle].surface();
            let mut points = contact.points_G(surface, self.path.settings().smoothness);
            let Some((_, mut from)) = points.next() else { continue };
            for (share, to) in points {
                pen.line(Meaning::Cable, start + (end - start) * share, &from, &to);
                from = to;
            }
        }
        if strands.all.is_empty() {
            path.unit_forces().for_each(|(body, p_G, f_G)| pen.force(body, &p_G, &(f_G * *tension)));
        } else {
            strands
                .forces(path, tensions.iter().copied())
                .for_each(|(body, p_G, f_G)| pen.force(body, &p_G, &f_G));
        }
    }

    fn report_stiffness(&self, at: &AtDynamics<'_, T, Self>, stiffnesses: &mut Stiffnesses<'_, T>) {
        let Parameters { stiffness, dissipation, .. } = at.parameters.law;
        let Position { path, elongation, strands } = at.position;
        // Damping is a fraction of the elastic tension.
        let pulled = |tension: T, elongation: T| {
            if tension > stiffness * elongation { tension / elongation } else { stiffness }
        };
        if strands.all.is_empty() {
            let unit = |forces: &mut ForceAccumulator<'_, T>| path.add_forces(T::one(), forces);
            let damping = stiffness * *elongation * dissipation;
            let stiffness = pulled(at.dynamics.tension, *elongation);
            stiffnesses.along(stiffness.to_f64(), damping.to_f64(), unit);
        }
        for (i, strand) in strands.all.iter().enumerate() {
            // The energy of a strand is k·φ·x²/2, and x is L/φ − L₀.
            let damping = stiffness * strand.elongation * dissipation / strand.share;
            let of_strand = pulled(at.dynamics.tensions[i], strand.elongation) / strand.share;
            let unit = (0..strands.all.len()).map(|j| if i == j { T::one() } else { T::zero() });
            let pull = |forces: &mut ForceAccumulator<'_, T>| strands.add_forces(path, unit, forces);
            stiffnesses.along(of_strand.to_f64(), damping.to_f64(), pull);
        }
        // Tension resists a motion of the ends of each straight segment across it, and a rotation of the bodies that
        // carry them.
        let tension = at.dynamics.tension.to_f64();
        for segment in &path.segments {
            let length = segment.length.to_f64();
            let ends = [(segment.from_body, segment.from_G), (segment.to_body, segment.to_G)];
            let moving = |p_G: &Point3<T>| path.moving_points().find(|(point, ..)| point.p_G == *p_G);
            let moving = [&segment.from_G, &segment.to_G].map(moving);
            // The square of a sum is at most the sum of the squares times their number.
            let parts = moving.iter().flatten().fold(1.0, |parts, _| parts + 1.0);
            let stiffness = parts * tension / length;
            if length > 0.0 {
                stiffnesses.between(stiffness, 0.0, ends);
            }
            for (_, coordinate, slope_G) in moving.into_iter().flatten().filter(|_| length > 0.0) {
                let across = slope_G.cross(&segment.direction_G).norm();
                stiffnesses
                    .along(stiffness, 0.0, |unit| unit.apply_to_coordinate(Checked(coordinate), across));
            }
            stiffnesses.load(tension, 0.0, ends);
        }
        let lengths =
            path.segments.iter().map(|segment| segment.length.to_f64()).filter(|length| *length > 0.0);
        let reach = lengths.fold(f64::INFINITY, f64::min);
        // A force on a coordinate changes as the curve bends, and as it turns with its body.
        for (point, coordinate, slope_G) in path.moving_points() {
            let mut on_coordinate = |stiffness: f64| {
                stiffnesses
                    .along(stiffness, 0.0, |unit| unit.apply_to_coordinate(Checked(coordinate), T::one()));
            };
            let on_point = path.unit_forces().filter(|(_, p_G, _)| *p_G == point.p_G);
            let pull_G = on_point.fold(Vector3::zeros(), |sum: Vector3<T>, (.., f_G)| sum + f_G);
            let curve = self.path.via_points().nth(point.place - 1).and_then(ViaPoint::curve);
            let bend_B = curve.map_or(Vector3::zeros(), |(_, curve)| {
                curve.second_derivative(at.positions.coordinate(coordinate))
            });
            let bend = (at.positions.pose(point.body).rotation * bend_B).dot(&pull_G);
            on_coordinate(tension * bend.abs().to_f64());
            let slope = slope_G.norm().to_f64();
            if point.body != BodyIndex::GROUND && slope > 0.0 && reach.is_finite() {
                // Twice a product of motions is at most the sum of the squares of both in metres.
                let torque = 0.5 * tension * slope_G.cross(&pull_G).norm().to_f64();
                on_coordinate(torque * slope / reach);
                stiffnesses.torsion(torque * reach / slope, 0.0, [point.body, BodyIndex::GROUND]);
            }
        }
    }

    fn passing_time(&self, at: &AtDynamics<'_, T, Self>, _: f64) -> f64 {
        // On other surfaces Newton's method starts within a right angle.
        let are_convex = self.path.obstacles().iter().all(|obstacle| obstacle.is_convex);
        let largest = if are_convex { LARGEST_TURN } else { 0.6 * LARGEST_TURN };
        largest / at.position.path.winding_rate(at.positions, at.velocities).to_f64()
    }

    fn report_gaps(&self, at: &AtDynamics<'_, T, Self>, report: &mut dyn FnMut([T; 2])) {
        let Position { path, strands, .. } = at.position;
        let longest = strands.longest().unwrap_or(path.length);
        let rate = strands.longest_rate(&at.velocity.strand_rates).unwrap_or(at.velocity.length_rate);
        report([at.parameters.law.slack_length - longest, -rate]);
    }

    fn linearize(&self, at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
        self.state_branches(at, blocks);
        self.linearize_in_scope(at, blocks);
    }

    fn linearize_variables(&self, at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
        let [is_taut, _] = Self::varies(at, blocks.scope());
        Self::differences_if_unknown(is_taut, blocks);
    }

    fn linearize_commit(&self, at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
        let [_, remembers] = Self::varies(at, blocks.scope());
        Self::differences_if_unknown(remembers, blocks);
    }

    fn reset_memory(
        &self,
        given: &Given<'_, T, Self>,
        _: &Velocities<T>,
        next: &mut Self::Discrete,
    ) -> ElementResult {
        next.wraps.forget();
        next.grips.clear();
        self.lay(given, next);
        Ok(())
    }

    fn follow_parameters(
        &self,
        before: Option<&Self::Parameters>,
        given: &Given<'_, T, Self>,
        _: &Velocities<T>,
        next: &mut Self::Discrete,
    ) -> bool {
        let grips = has_friction(given.parameters) && before.is_some_and(|before| !has_friction(before));
        if grips {
            self.lay(given, next);
        }
        grips
    }

    fn is_path_dependent(&self) -> bool {
        !self.friction.is_empty()
    }

    fn accept_step(&self, at: &AtDynamics<'_, T, Self>, next: &mut Self::Discrete) -> ElementResult {
        self.remember(at, at.position, next);
        Ok(())
    }
}

/// The greatest of nonnegative numbers.
fn greatest<T: Real>(numbers: impl Iterator<Item = T>) -> T {
    numbers.fold(T::zero(), T::max)
}
