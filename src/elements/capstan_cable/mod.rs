//! An elastic cable that wraps obstacles with friction.

mod variables;

pub use variables::{Discrete, Parameters};

use crate::cable::{CablePath, Grip, PathResults, Strands, SurfaceCasts, Wrap};
use crate::framework::{
    AtDynamics, AtPosition, AtVelocity, ElementError, Error, ForceElement, Given, Variables,
};
use crate::math::{Real, Requirement, check};
use crate::mechanics::{ForceAccumulator, Topology, Velocities};
use crate::results;

/// A cable.
#[derive(Debug, Clone)]
pub struct CapstanCable<T: Real> {
    path: CablePath<T>,
    defaults: Parameters<T>,
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
    #[derive(Copy)]
    pub struct Velocity<T> {
        /// The rate of change `L̇` of the path's length.
        pub length_rate: T ["m/s"];
        /// The power that goes into the cable at a stiffness of 1 N/m, `Σ x_k L̇_k`.
        pub unit_power: T ["m²/s"];
    }
}

results! {
    /// Results at Dynamics stage.
    #[derive(Copy)]
    pub struct Dynamics<T> {
        /// The tension at the origin, `f_0`, at least zero.
        pub first_tension: T ["N"];
        /// The tension at the termination, `f_n`, at least zero.
        pub last_tension: T ["N"];
        /// The energy stored.
        pub potential_energy: T ["J"];
        /// The power dissipated by damping.
        pub power_dissipated: T ["W"];
        /// The tension of a strand per elongation, damping included: `f_k / x_k`.
        pub effective_stiffness: T ["N/m"];
    }
}

impl<T: Real> CapstanCable<T> {
    /// An elastic cable along this path, with friction on its obstacles.
    ///
    /// # Errors
    /// [`Error::Element`] with [`ElementError::InvalidValue`] for a parameter that is negative or not finite, or for
    /// more coefficients of friction than obstacles.
    pub fn new(path: CablePath<T>, mut parameters: Parameters<T>) -> Result<Self, Error> {
        let (given, obstacles) = (parameters.friction.len(), path.obstacles().len());
        let count = T::lit(f64::from(u32::try_from(given).unwrap_or(u32::MAX)));
        let must = Requirement::AtMost("the number of obstacles");
        check::that(given <= obstacles, "friction.len()", count, must)
            .and_then(|()| parameters.validate())
            .map_err(|error| Error::of_new(Self::KIND, error))?;
        parameters.friction.resize(obstacles, T::zero());
        Ok(Self { path, defaults: parameters })
    }

    /// The same cable in another scalar.
    ///
    /// # Errors
    /// As [`cast_with`](Self::cast_with).
    pub fn cast<U: Real>(&self) -> Result<CapstanCable<U>, Error> {
        self.cast_with(&SurfaceCasts::new())
    }

    /// The same cable in another scalar, with casts of a user's own surfaces.
    ///
    /// # Errors
    /// [`Error::Element`] with the error of [`CablePath::cast_with`], or with [`ElementError::InvalidValue`] where the
    /// other scalar has a smaller range.
    pub fn cast_with<U: Real>(&self, casts: &SurfaceCasts<T, U>) -> Result<CapstanCable<U>, Error> {
        let path = self.path.cast_with(casts).map_err(|error| Error::of_new(Self::KIND, error))?;
        CapstanCable::new(path, self.defaults.cast())
    }

    /// The path of the cable.
    pub fn path(&self) -> &CablePath<T> {
        &self.path
    }

    /// The tension in each strand \[N\], in the order of [`Position::strands`].
    pub fn tensions<'a>(at: &'a AtDynamics<'_, T, Self>) -> impl Iterator<Item = T> + 'a {
        let stiffness = at.dynamics.effective_stiffness;
        at.position.strands.all.iter().map(move |strand| stiffness * strand.elongation)
    }
}

impl<T: Real> ForceElement<T> for CapstanCable<T> {
    const KIND: &'static str = "capstan_cable";
    type Parameters = Parameters<T>;
    type Discrete = Discrete<T>;
    type Continuous = ();
    type Position = Position<T>;
    type Velocity = Velocity<T>;
    type Dynamics = Dynamics<T>;

    fn check_topology(&self, topology: &Topology) -> Result<(), ElementError> {
        Ok(self.path.check_topology(topology)?)
    }

    fn default_parameters(&self) -> Self::Parameters {
        self.defaults.clone()
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
        let Parameters { elastic, friction } = given.parameters;
        let Position { path, strands } = cache;
        self.path.solve(given.positions, wraps, path)?;
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
        *cache = Velocity { length_rate, unit_power: strands.unit_power(length_rate, at.positions, velocities) };
        Ok(())
    }

    fn calc_dynamics(
        &self,
        at: &AtVelocity<'_, T, Self>,
        cache: &mut Self::Dynamics,
    ) -> Result<(), ElementError> {
        let elastic = &at.parameters.elastic;
        let strands = &at.position.strands;
        let mean = strands.mean_elongation;
        let unit_power = at.velocity.unit_power;
        let rate = if mean > T::zero() { unit_power / mean } else { T::zero() };
        let rise = (elastic.dissipation * rate).max(-T::one());
        let effective_stiffness = elastic.stiffness * (T::one() + rise);
        let tension = |end: Option<&crate::cable::Strand<T>>| {
            end.map_or(T::zero(), |strand| effective_stiffness * strand.elongation)
        };
        *cache = Dynamics {
            first_tension: tension(strands.all.first()),
            last_tension: tension(strands.all.last()),
            potential_energy: elastic.stiffness * strands.unit_energy(),
            power_dissipated: elastic.stiffness * rise * unit_power,
            effective_stiffness,
        };
        Ok(())
    }

    fn add_forces(&self, at: &AtDynamics<'_, T, Self>, forces: &mut ForceAccumulator<'_, T>) {
        let Position { path, strands } = at.position;
        strands.add_forces(path, at.dynamics.effective_stiffness, forces);
    }

    fn potential_energy(&self, at: &AtDynamics<'_, T, Self>) -> T {
        at.dynamics.potential_energy
    }

    fn power_dissipated(&self, at: &AtDynamics<'_, T, Self>) -> T {
        at.dynamics.power_dissipated
    }

    fn reset_memory(&self, _: &Given<'_, T, Self>, next: &mut Self::Discrete) -> Result<(), ElementError> {
        next.wraps.obstacles.fill(Wrap::default());
        next.grips.places.fill(Grip::default());
        Ok(())
    }

    fn accept_step(
        &self,
        at: &AtDynamics<'_, T, Self>,
        next: &mut Self::Discrete,
    ) -> Result<(), ElementError> {
        let Position { path, strands } = at.position;
        path.remember(&mut next.wraps);
        if at.parameters.friction.iter().any(|mu| *mu > T::zero()) {
            strands.remember(&self.path, path, at.positions, &mut next.grips);
        } else {
            next.grips.places.fill(Grip::default());
        }
        Ok(())
    }
}
