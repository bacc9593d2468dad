//! An elastic cable that wraps obstacles.

mod derivatives;
mod memory;
mod places;

pub use places::StateParameters;

use crate::cable::{CablePath, PathCasts, PathResults, Wraps};
use crate::elements::linearized_path::state_contacts;
use crate::elements::tension::report_tension;
use crate::framework::{
    AtDynamics, AtPosition, AtVelocity, Blocks, ElementError, Error, ForceElement, Given, Stiffnesses,
    Variables,
};
use crate::math::{Number, Real, checked_when_read};
use crate::mechanics::{ForceAccumulator, Topology, Velocities};
use crate::{results, variables};

/// A massless elastic cable, like a rubber band, along a frictionless [`CablePath`].
///
/// ```text
///                   ,--~~~--.
///   B1 ●───────────(  B2     )───────● B3        one tension f all along
///                   `-------'
/// ```
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
/// | symbol | meaning | unit | range |
/// |---|---|---|---|
/// | `k` | [`stiffness`](Parameters::stiffness) | N/m | ≥ 0 |
/// | `L₀` | [`slack_length`](Parameters::slack_length) | m | ≥ 0 |
/// | `c` | [`dissipation`](Parameters::dissipation) | s/m | ≥ 0 |
/// | | [`places`](StateParameters::places) of the path, switches and scales | m | poses rotations, scales > 0 |
///
/// The tension is never negative. It pulls the ends of every straight segment of the path together; an obstacle
/// is loaded by the two that meet it.
///
/// # Energy
///
/// Stored: `k x² / 2`. Lost: `f_rate L̇`, known instantaneously and never negative. While a taut cable shortens
/// so fast that the tension is zero, all of `−k x L̇`, the rate at which the stored energy falls, is lost.
///
/// # Note that
///
/// - Damping is a fraction of the elastic tension, as in Hunt and Crossley's contact model, so the
///   tension grows from zero without a jump as the slack is taken up.
/// - Until the first accepted step the path is not remembered, and every evaluation searches for it from
///   scratch: slowly, with the same result. Accept a step before measuring speed.
/// - Where the parts of the path are on their bodies, the scale of each surface and which parts are active may differ
///   from state to state ([`StateParameters::places`]).
/// - A cable that ends on the surface of an obstacle, such as the drum of a winch, winds on it as often as the body turns.
/// - The side of an obstacle on which the cable lies, and its number of windings, are remembered; see
///   [`CablePath`].
///
/// # Errors of an evaluation
///
/// Those of [`CablePath::solve`], which [`Error::own`] returns as a [`PathError`](crate::cable::PathError);
/// [`ElementError::NonFiniteForce`] if a force or energy is not finite.
///
/// # Stable step
///
/// For the [longest stable step](crate::ForceSystem::stable_step) of a host, it reports `k` along the path, whether taut
/// or slack, damping at the present elongation, and tension over length across each straight segment.
///
/// # Linearization
///
/// Exact to the smoothness of the path, by motion and all parameters ([`PathDerivatives`](crate::cable::PathDerivatives)).
/// A cable that begins or ends on a surface goes on doing so. What is remembered is where the next search starts: no force
/// depends on it, and its derivatives are zero, as those in dual numbers are. At zero elongation the cable is slack.
///
/// | branch | margin | unit |
/// |---|---|---|
/// | `taut`, `slack` | of the length from `L₀` | m |
/// | `pulling`; `limp` while it shortens faster than `1/c` | of the rate from `−1/c` | m/s |
/// | of each obstacle: `in contact` | the length of the arc | m |
/// | `free` | the distance from the surface; off a drum, that of the other end of the segment from the tangent plane | m |
///
/// # Source
///
/// M. A. Sherman, A. Seth, S. L. Delp, *Simbody: multibody dynamics for biomedical research*,
/// Procedia IUTAM 2 (2011) 241–261, and the reference manual of its cable spring. K. H. Hunt,
/// F. R. E. Crossley, *Coefficient of restitution interpreted as damping in vibroimpact*, Journal of
/// Applied Mechanics 42 (1975) 440–445. For the path see [`CablePath`].
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
/// let eye = Station::on(weight, Point3::origin());
/// let path = CablePath::new(hook, eye)?.over(ball);
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
///
/// system.accept_step(&mut state)?; // from here on the path is tracked
/// # Ok::<(), force_elements::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct CableSpring<T: Real> {
    path: CablePath<T>,
    law: Parameters<T>,
}

variables! {
    /// Stiffness, slack length and dissipation.
    #[derive(Copy)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(remote = "Self"))]
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
        /// The elongation `x`, zero while slack.
        pub elongation: T ["m"];
    }
}

results! {
    /// Results at Velocity stage.
    #[derive(Copy)]
    pub struct Velocity<T> {
        /// The rate of change `L̇` of the path's length.
        pub length_rate: T ["m/s"];
    }
}

results! {
    /// Results at Dynamics stage.
    #[derive(Copy)]
    pub struct Dynamics<T> {
        /// The tension `f`, at least zero.
        pub tension: T ["N"];
        /// The energy stored.
        pub potential_energy: T ["J"];
        /// The power dissipated.
        pub power_dissipated: T ["W"];
    }
}

impl<T: Real> CableSpring<T> {
    /// An elastic cable along this path.
    ///
    /// # Errors
    /// [`Error::Element`] with [`ElementError::InvalidValue`] for a parameter that is negative or not finite.
    pub fn new(path: CablePath<T>, parameters: Parameters<T>) -> Result<Self, Error> {
        parameters.validate().map_err(|error| Error::of_new(Self::KIND, error))?;
        Ok(Self { path, law: parameters })
    }

    /// The same cable in another scalar.
    ///
    /// # Errors
    /// As [`cast_with`](Self::cast_with).
    pub fn cast<U: Real>(&self) -> Result<CableSpring<U>, Error> {
        self.cast_with(&PathCasts::new())
    }

    /// The same cable in another scalar, with casts of a user's own surfaces.
    ///
    /// # Errors
    /// [`Error::Element`] with the error of [`CablePath::cast_with`], or with [`ElementError::InvalidValue`] where the
    /// other scalar has a smaller range.
    pub fn cast_with<U: Real>(&self, casts: &PathCasts<T, U>) -> Result<CableSpring<U>, Error> {
        let path = self.path.cast_with(casts).map_err(|error| Error::of_new(Self::KIND, error))?;
        CableSpring::new(path, self.law.cast())
    }

    /// The path of the cable.
    pub fn path(&self) -> &CablePath<T> {
        &self.path
    }
}

checked_when_read!(Parameters);

/// The elastic tension of a taut cable, and its rise by damping.
#[inline]
fn tension<T: Real, S: Number<T>>(elongation: S, rate: S, stiffness: S, dissipation: S) -> [S; 2] {
    let elastic = stiffness * elongation;
    [elastic, (elastic * dissipation * rate).max(-elastic)]
}

impl<T: Real> ForceElement<T> for CableSpring<T> {
    const KIND: &'static str = "cable_spring";
    type Parameters = StateParameters<T>;
    type Discrete = Wraps<T>;
    type Continuous = ();
    type Position = Position<T>;
    type Velocity = Velocity<T>;
    type Dynamics = Dynamics<T>;

    fn check_topology(&self, topology: &Topology) -> Result<(), ElementError> {
        Ok(self.path.check_topology(topology)?)
    }

    fn default_parameters(&self) -> Self::Parameters {
        StateParameters { places: self.path.places().clone(), law: self.law }
    }

    fn default_discrete(&self) -> Self::Discrete {
        self.path.no_wraps()
    }

    fn calc_position(
        &self,
        given: &Given<'_, T, Self>,
        cache: &mut Self::Position,
    ) -> Result<(), ElementError> {
        let StateParameters { places, law } = given.parameters;
        self.path.at(places).solve(given.positions, given.discrete, &mut cache.path)?;
        let elongation = cache.path.length - law.slack_length;
        cache.elongation = if elongation > T::zero() { elongation } else { T::zero() };
        Ok(())
    }

    fn calc_velocity(
        &self,
        at: &AtPosition<'_, T, Self>,
        velocities: &Velocities<T>,
        cache: &mut Self::Velocity,
    ) -> Result<(), ElementError> {
        cache.length_rate = at.position.path.length_rate(at.positions, velocities);
        Ok(())
    }

    fn calc_dynamics(
        &self,
        at: &AtVelocity<'_, T, Self>,
        cache: &mut Self::Dynamics,
    ) -> Result<(), ElementError> {
        let Parameters { stiffness, dissipation, .. } = &at.parameters.law;
        let rate = at.velocity.length_rate;
        let elongation = at.position.elongation;
        let [elastic, damping] = tension(elongation, rate, *stiffness, *dissipation);
        *cache = Dynamics {
            tension: elastic + damping,
            potential_energy: T::lit(0.5) * *stiffness * elongation * elongation,
            power_dissipated: damping * rate,
        };
        Ok(())
    }

    fn add_forces(&self, at: &AtDynamics<'_, T, Self>, forces: &mut ForceAccumulator<'_, T>) {
        at.position.path.add_forces(at.dynamics.tension, forces);
    }

    fn potential_energy(&self, at: &AtDynamics<'_, T, Self>) -> T {
        at.dynamics.potential_energy
    }

    fn power_dissipated(&self, at: &AtDynamics<'_, T, Self>) -> T {
        at.dynamics.power_dissipated
    }

    fn report_stiffness(&self, at: &AtDynamics<'_, T, Self>, stiffnesses: &mut Stiffnesses<'_, T>) {
        let Parameters { stiffness, dissipation, .. } = &at.parameters.law;
        let path = &at.position.path;
        let damping = *stiffness * at.position.elongation * *dissipation;
        let unit = |forces: &mut ForceAccumulator<'_, T>| path.add_forces(T::one(), forces);
        stiffnesses.along(stiffness.to_f64(), damping.to_f64(), unit);
        report_tension(path, at.dynamics.tension.to_f64(), stiffnesses);
    }

    fn linearize(&self, at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
        let Parameters { slack_length, dissipation, .. } = at.parameters.law;
        let path = &at.position.path;
        let stretch = path.length - slack_length;
        let is_taut = stretch > T::zero();
        blocks.branch(if is_taut { "taut" } else { "slack" }, stretch.abs(), "m");
        if is_taut && dissipation > T::zero() {
            let margin = at.velocity.length_rate + dissipation.recip();
            blocks.branch(if margin > T::zero() { "pulling" } else { "limp" }, margin.abs(), "m/s");
        }
        state_contacts(&self.path, path, blocks);
        self.linearize_force(at, blocks);
    }

    fn linearize_variables(&self, at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
        self.linearize_force_by_parameters(at, blocks);
    }

    /// What is remembered is where the next search starts: it has no derivatives, and no force depends on it.
    fn linearize_commit(&self, _: &AtDynamics<'_, T, Self>, _: &mut Blocks<'_, T>) {}

    fn reset_memory(
        &self,
        _: &Given<'_, T, Self>,
        _: &Velocities<T>,
        next: &mut Self::Discrete,
    ) -> Result<(), ElementError> {
        next.forget();
        Ok(())
    }

    fn accept_step(
        &self,
        at: &AtDynamics<'_, T, Self>,
        next: &mut Self::Discrete,
    ) -> Result<(), ElementError> {
        at.position.path.remember(next);
        Ok(())
    }
}
