//! An elastic cable that wraps obstacles with friction.

mod derivatives;
mod variables;

pub use variables::{Discrete, Parameters, StateParameters};

use alloc::vec::Vec;

use crate::cable::{CablePath, PathCasts, PathResults, Strands};
use crate::elements::cable_spring;
use crate::elements::tension::report_tension;
use crate::framework::{
    AtDynamics, AtPosition, AtVelocity, Blocks, ElementError, Error, ForceElement, Given, Stiffnesses,
    Variables,
};
use crate::math::{Real, Requirement, check};
use crate::mechanics::{ForceAccumulator, Topology, Velocities};
use crate::results;

/// A massless elastic cable with capstan friction on the obstacles of a [`CablePath`].
///
/// ```text
///          f_0    ,--~~~--.    f_1
///   B1 ●─────────(  B2  μ  )─────────● B3      e^(−μθ) ≤ f_1/f_0 ≤ e^(μθ)
///                 `-------'
/// ```
///
/// With coefficients of zero it is a [`CableSpring`](crate::CableSpring). It is an element of its own, since it
/// remembers more, and an evaluation integrates the curvature along each contact.
///
/// # Law
///
/// Marks, one on each contact arc and one on each via point, divide the cable into strands. Strand `k` has the
/// length `L_k` from mark to mark, and the share `φ_k` of the cable's material:
///
/// ```text
/// x_k = max(0, L_k/φ_k − L₀)                        Σ L_k = L,  Σ φ_k = 1
/// f_k = k x_k (1 + r_k)                             r_k ≥ −1
/// e^(−μθ) ≤ f_{k+1} / f_k ≤ e^(μθ)                  θ = ∫ κ_n ds
/// ```
///
/// `L` is the length of the path, `θ` the integral of the surface's normal curvature along the contact arc,
/// between the strands `k` and `k + 1`; on a via point and without contact it is zero. A contact sticks while
/// the ratio is within its limit. Where it is not, material slips through the contact, towards the greater
/// tension, just as far as the limit demands: a return mapping, which does not depend on time and is part of
/// the evaluation. [`accept_step`](crate::ForceSystem::accept_step) commits it.
///
/// | symbol | meaning | unit | range |
/// |---|---|---|---|
/// | `k` | [`stiffness`](crate::cable_spring::Parameters::stiffness) | N/m | ≥ 0 |
/// | `L₀` | [`slack_length`](crate::cable_spring::Parameters::slack_length) | m | ≥ 0 |
/// | `c` | [`dissipation`](crate::cable_spring::Parameters::dissipation) | s/m | ≥ 0 |
/// | `μ` | [`friction`](Parameters::friction), one per obstacle | | ≥ 0 |
/// | | [`places`](StateParameters::places) of the path, switches and scales | m | poses rotations, scales > 0 |
///
/// Damping: alone, each strand would rise by `c·L̇_k/φ_k`. The rises `r_k` are the nearest to these that the limits of
/// friction and `r_k ≥ −1` allow, with least `Σ φ_k x_k (r_k − c·L̇_k/φ_k)²`. Strands between which material slips rise alike
/// while the limit holds them together, and without friction the whole cable by `c·L̇`. Tensions are continuous in lengths,
/// rates and limits while the marks are the same ones: where slip begins or ends, and at a commit that finds material
/// slipped. So the motions of all integrators approach one as steps get shorter. They jump where friction begins or
/// ceases at once: at the first commit after a start or a reset, and where an obstacle is switched. A limit beyond the
/// reciprocal of the unit roundoff, of a `μθ` of 36 (16 in `f32`), does not limit damping.
///
/// # Forces
///
/// Within a step, `L_k` changes with the distance between the points where the cable left one body and met the
/// next at the last commit, both moved with their bodies; what the length of the path changes beyond that is
/// distributed by the committed shares. The mean tension `Σ φ_k f_k` acts along the present path, the
/// departures from it between those points. After a commit, these are the ends of the straight segments, and
/// each segment pulls with its own tension; the torque on a wheel is the difference of tensions times its
/// radius.
///
/// The law has a potential while contacts stick, which is why forces are not taken at the present ends of the
/// arcs throughout: a cable that is held along itself and slides sideways is a nonholonomic constraint, and
/// would gain or lose energy on a closed path within a step.
///
/// # Energy
///
/// Stored: `Σ k φ_k x_k² / 2`. Lost: `Σ k x_k r_k L̇_k`, known instantaneously and at least `Σ k φ_k x_k r_k²/c`; and, where
/// the share `dφ` slips from strand `a` to strand `b`, `(f_b − f_a)·L₀·dφ + (f_b² − f_a²)/(2k)·dφ` of the
/// elastic tensions. The latter rate is not known instantaneously, but its integral is known afterwards: see
/// [`DynamicsView::dissipated_energy`](crate::DynamicsView::dissipated_energy).
///
/// A mark stays on its place of the surface while that is within the contact arc. On a wheel that turns it
/// comes to the end of the arc and stays there; the material that passes takes the strain of the strand it
/// enters, and the difference in energy is lost at the commit. This is the creep of an elastic belt.
///
/// # Winches
///
/// A cable that begins or ends on the surface of its first or last obstacle, on whose body it is fixed, winds on it as on
/// the drum of a winch. What is wound is divided into laps of at most an eighth of a turn, each a strand
/// ([`Strand::is_wound`](crate::cable::Strand::is_wound)) with the strain that the cable had when it came onto the drum.
/// Friction acts between the middles of laps: tension declines from the free cable by the capstan equation, and below it
/// the laps are held; what leaves the drum takes the strain of the free cable. A drum has at most 24 laps in memory:
/// beyond, those of nearly equal strain count as one, at a loss of energy of second order in their difference. Turns on
/// the drum are read from its contact: its length, or its [`turning`](crate::cable::ObstacleContact::turning).
///
/// Without friction the cable on the drum is as elastic as the free one, and slips on it. Of a drum that is touched several
/// times, the contact at the fixed end is wound and the others have a mark each; while the cable lifts off at the fixed
/// end, none of them has friction.
///
/// # Note that
///
/// - A load that friction can hold is held without creep, whatever the step.
/// - With a large coefficient, such as 1000, a contact that turns the cable by a tenth of a radian or more slips only
///   beside a slack strand: on the body of a wheel, it is a pulley that turns with the cable. Where `e^(μθ)` overflows,
///   beyond a `μθ` of 709 (of 88 in `f32`), it does not slip there either.
/// - Friction acts along the cable only. Sideways, the cable slides freely to the shortest path.
/// - The first accepted step finds the tension uniform, and so does one after
///   [`reset_memory`](crate::ForceSystem::reset_memory). A contact is without friction until the step after its
///   touchdown.
/// - Where a state changes places of the path, marks stay where the last commit put them, and all strands that are not wound
///   share the change of length until the next one; none of them gets shorter than a millionth of its share of the path. The contact with an obstacle that is no longer active is without friction.
/// - Material is neither made nor lost: the shares add up to 1 through touchdown and liftoff.
/// - Slip within a step is undone if the motion is reversed within the same step.
/// - A strand is stiffer than the cable, `k/φ_k`; a short one requires shorter steps of an explicit integrator.
///
/// # Errors of an evaluation
///
/// Those of [`CablePath::solve`], which [`Error::own`] returns as a [`PathError`](crate::cable::PathError);
/// [`ElementError::NonFiniteForce`] if a force or energy is not finite.
///
/// # Stable step
///
/// For the [longest stable step](crate::ForceSystem::stable_step) of a host, it reports for each strand `k/φ` along it,
/// damping at its present elongation, and the greatest tension over length across each straight segment.
///
/// # Linearization
///
/// Exact to the smoothness of the path, by motion, all parameters and memory, and so is the commit. Contacts that stick go on
/// sticking, and those that slip go on slipping. Where the next search for the path starts has no derivatives, as in
/// [`CableSpring`](crate::CableSpring). At zero elongation the cable is slack.
///
/// | branch | margin | unit |
/// |---|---|---|
/// | `taut`, `slack` | the least elongation; of the greatest stretch from `L₀` | m |
/// | `pulling`; `limp` while damping leaves no tension | `(1 + r)/c` of the greatest rise; of that of the last strand were it not limited to −1 | m/s |
/// | of each obstacle: `in contact` | the length of the arc | m |
/// | `free` | the distance from the surface; off a drum, that of the other end of the segment from the tangent plane | m |
/// | of each contact with friction: `sticking` | by how much the tension on one side may grow | N |
/// | `slipping` | the length that has slipped in this step | m |
///
/// # Source
///
/// L. Euler, *Remarques sur l'effet du frottement dans l'équilibre*, Mémoires de l'Académie des sciences de
/// Berlin 18 (1762) 265–278. J. C. Simo, T. J. R. Hughes, *Computational Inelasticity* (1998), on return
/// mappings. For the path see [`CablePath`], for damping [`CableSpring`](crate::CableSpring).
///
/// # Example: a winch
///
/// ```
/// use force_elements::cable::{CablePath, Obstacle};
/// use force_elements::nalgebra::{Point3, Vector3};
/// use force_elements::shapes::Cylinder;
/// use force_elements::{CapstanCable, ForceSystem, Frame, Pose, Station, cable_spring, capstan_cable};
///
/// // A drum that turns about z, on which the cable is fixed on the right; the load hangs below that point.
/// let mut system = ForceSystem::new();
/// let [drum, load] = [system.add_body(), system.add_body()];
/// let fixed = Station::on(drum, Point3::new(0.2, 0.0, 0.0));
/// let path = CablePath::new(fixed, Station::on(load, Point3::origin()))?
///     .over(Obstacle::new(Frame::of(drum), Cylinder::new(0.2)?)?);
/// let elastic = cable_spring::Parameters { stiffness: 1e4, slack_length: 9.99, dissipation: 0.0 };
/// let winch = system.add(CapstanCable::new(path, capstan_cable::Parameters { elastic, friction: vec![0.2] })?)?;
///
/// // An eighth of a turn a step winds the load up, five turns in all.
/// let mut state = system.default_state();
/// for step in 0..=40 {
///     let angle = core::f64::consts::FRAC_PI_4 * f64::from(step);
///     state.set_pose(drum, Pose::rotation(Vector3::z() * angle))?;
///     state.set_pose(load, Pose::translation(0.2, 0.2 * angle - 10.0, 0.0))?;
///     system.realize_dynamics(&mut state)?;
///     system.accept_step(&mut state)?;
/// }
/// let dynamics = system.realize_dynamics(&mut state)?;
/// let at = dynamics.of(winch);
/// let turns: f64 = at.position.path.contacts[0].geodesic.length / (0.2 * core::f64::consts::TAU);
/// assert!((turns - 5.0).abs() < 1e-9);
/// assert!((dynamics.body_force(drum).torque.z + 0.2 * at.dynamics.last_tension).abs() < 1e-9);
/// # Ok::<(), force_elements::Error>(())
/// ```
///
/// # Example: a rope around a bollard
///
/// ```
/// use force_elements::cable::{CablePath, Obstacle};
/// use force_elements::nalgebra::Point3;
/// use force_elements::shapes::Cylinder;
/// use force_elements::{CapstanCable, ForceSystem, Frame, Pose, Station, cable_spring, capstan_cable};
///
/// let mut system = ForceSystem::new();
/// let boat = system.add_body();
/// let bollard = Obstacle::new(Frame::ground(Pose::identity()), Cylinder::new(0.2)?)?
///     .with_contact_hint(Point3::new(0.0, 0.2, 0.0))?;
/// let cleat = Station::ground(Point3::new(-0.2, -1.0, 0.0));
/// let path = CablePath::new(cleat, Station::on(boat, Point3::origin()))?.over(bollard);
/// let elastic = cable_spring::Parameters { stiffness: 2e4, slack_length: 2.62, dissipation: 0.0 };
/// let parameters = capstan_cable::Parameters { elastic, friction: vec![0.3] };
/// let rope = system.add(CapstanCable::new(path, parameters)?)?;
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
#[derive(Debug, Clone)]
pub struct CapstanCable<T: Real> {
    path: CablePath<T>,
    law: Parameters<T>,
}

results! {
    /// Results at Position stage.
    pub struct Position<T> {
        /// The path: length, contacts, straight segments, smoothness.
        pub path: PathResults<T> [];
        /// The strands between neighbouring marks, in order: lengths, shares of material, elongations.
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
        /// The tension at the origin, `f_0`, at least zero.
        pub first_tension: T ["N"];
        /// The tension at the termination, `f_n`, at least zero.
        pub last_tension: T ["N"];
        /// The energy stored.
        pub potential_energy: T ["J"];
        /// The power dissipated by damping.
        pub power_dissipated: T ["W"];
        /// The tension `f_k` in each strand \[N\].
        pub tensions: Vec<T>;
    }
}

impl<T: Real> CapstanCable<T> {
    /// An elastic cable along this path, with friction on its obstacles.
    ///
    /// # Errors
    /// [`Error::Element`] with [`ElementError::InvalidValue`] for a parameter that is negative or not finite,
    /// or for more coefficients of friction than obstacles.
    pub fn new(path: CablePath<T>, mut parameters: Parameters<T>) -> Result<Self, Error> {
        let (given, obstacles) = (parameters.friction.len(), path.obstacles().len());
        let count = T::lit(f64::from(u32::try_from(given).unwrap_or(u32::MAX)));
        let must = Requirement::AtMost("the number of obstacles");
        check::that(given <= obstacles, "friction.len()", count, must)
            .and_then(|()| parameters.validate())
            .map_err(|error| Error::of_new(Self::KIND, error))?;
        parameters.friction.resize(obstacles, T::zero());
        Ok(Self { path, law: parameters })
    }

    /// The same cable in another scalar.
    ///
    /// # Errors
    /// As [`cast_with`](Self::cast_with).
    pub fn cast<U: Real>(&self) -> Result<CapstanCable<U>, Error> {
        self.cast_with(&PathCasts::new())
    }

    /// The same cable in another scalar, with casts of a user's own surfaces.
    ///
    /// # Errors
    /// [`Error::Element`] with the error of [`CablePath::cast_with`], or with [`ElementError::InvalidValue`]
    /// where the other scalar has a smaller range.
    pub fn cast_with<U: Real>(&self, casts: &PathCasts<T, U>) -> Result<CapstanCable<U>, Error> {
        let path = self.path.cast_with(casts).map_err(|error| Error::of_new(Self::KIND, error))?;
        CapstanCable::new(path, self.law.cast())
    }

    /// The path of the cable.
    pub fn path(&self) -> &CablePath<T> {
        &self.path
    }
}

impl<T: Real> ForceElement<T> for CapstanCable<T> {
    const KIND: &'static str = "capstan_cable";
    type Parameters = StateParameters<T>;
    type Discrete = Discrete<T>;
    type Continuous = ();
    type Position = Position<T>;
    type Velocity = Velocity<T>;
    type Dynamics = Dynamics<T>;

    fn check_topology(&self, topology: &Topology) -> Result<(), ElementError> {
        Ok(self.path.check_topology(topology)?)
    }

    fn default_parameters(&self) -> Self::Parameters {
        StateParameters { places: self.path.places().clone(), law: self.law.clone() }
    }

    fn default_discrete(&self) -> Self::Discrete {
        Discrete { wraps: self.path.no_wraps(), grips: self.path.no_grips() }
    }

    fn calc_position(
        &self,
        given: &Given<'_, T, Self>,
        cache: &mut Self::Position,
    ) -> Result<(), ElementError> {
        let Discrete { wraps, grips } = given.discrete;
        let StateParameters { places, law: Parameters { elastic, friction } } = given.parameters;
        let Position { path, strands } = cache;
        self.path.at(places).solve(given.positions, wraps, path)?;
        strands.solve(&self.path, path, given.positions, grips, friction, elastic.slack_length);
        Ok(())
    }

    fn calc_velocity(
        &self,
        at: &AtPosition<'_, T, Self>,
        velocities: &Velocities<T>,
        cache: &mut Self::Velocity,
    ) -> Result<(), ElementError> {
        let Position { path, strands } = at.position;
        let length_rate = path.length_rate(at.positions, velocities);
        cache.length_rate = length_rate;
        strands.length_rates(length_rate, at.positions, velocities, &mut cache.strand_rates);
        Ok(())
    }

    fn calc_dynamics(
        &self,
        at: &AtVelocity<'_, T, Self>,
        cache: &mut Self::Dynamics,
    ) -> Result<(), ElementError> {
        let cable_spring::Parameters { stiffness, dissipation, .. } = at.parameters.law.elastic;
        let strands = &at.position.strands;
        let tensions = &mut cache.tensions;
        cache.power_dissipated =
            strands.tensions(stiffness, dissipation, &at.velocity.strand_rates, tensions);
        cache.potential_energy = stiffness * strands.unit_energy();
        let end = |tension: Option<&T>| tension.copied().unwrap_or_else(T::zero);
        (cache.first_tension, cache.last_tension) = (end(tensions.first()), end(tensions.last()));
        Ok(())
    }

    fn add_forces(&self, at: &AtDynamics<'_, T, Self>, forces: &mut ForceAccumulator<'_, T>) {
        let Position { path, strands } = at.position;
        strands.add_forces(path, &at.dynamics.tensions, forces);
    }

    fn potential_energy(&self, at: &AtDynamics<'_, T, Self>) -> T {
        at.dynamics.potential_energy
    }

    fn power_dissipated(&self, at: &AtDynamics<'_, T, Self>) -> T {
        at.dynamics.power_dissipated
    }

    fn report_stiffness(&self, at: &AtDynamics<'_, T, Self>, stiffnesses: &mut Stiffnesses<'_, T>) {
        let cable_spring::Parameters { stiffness, dissipation, .. } = at.parameters.law.elastic;
        let Position { path, strands } = at.position;
        let tensions = &at.dynamics.tensions;
        let mut unit = alloc::vec![T::zero(); strands.all.len()];
        for (i, strand) in strands.all.iter().enumerate() {
            // The energy of a strand is k·φ·x²/2, and x is L/φ − L₀.
            let of_strand = stiffness / strand.share;
            let damping = of_strand * strand.elongation * dissipation;
            unit.fill(T::zero());
            unit[i] = T::one();
            let pull = |forces: &mut ForceAccumulator<'_, T>| strands.add_forces(path, &unit, forces);
            stiffnesses.along(of_strand.to_f64(), damping.to_f64(), pull);
        }
        let tightest = tensions.iter().fold(T::zero(), |most, &tension| most.max(tension));
        report_tension(path, tightest.to_f64(), stiffnesses);
    }

    fn linearize(&self, at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
        self.state_branches(at, blocks);
        self.linearize_force(at, blocks);
    }

    fn linearize_variables(&self, at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
        self.linearize_force_by_variables(at, blocks);
    }

    fn linearize_commit(&self, at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
        self.linearize_memory(at, blocks);
    }

    fn reset_memory(
        &self,
        _: &Given<'_, T, Self>,
        _: &Velocities<T>,
        next: &mut Self::Discrete,
    ) -> Result<(), ElementError> {
        next.wraps.forget();
        next.grips.clear();
        Ok(())
    }

    fn accept_step(
        &self,
        at: &AtDynamics<'_, T, Self>,
        next: &mut Self::Discrete,
    ) -> Result<(), ElementError> {
        let Position { path, strands } = at.position;
        path.remember(&mut next.wraps);
        if at.parameters.law.friction.iter().any(|mu| *mu > T::zero()) {
            strands.remember(&self.path, path, at.positions, &mut next.grips);
        } else {
            next.grips.clear();
        }
        Ok(())
    }
}
