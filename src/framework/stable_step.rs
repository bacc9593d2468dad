//! The longest stable step of a system.

use nalgebra::ComplexField;

use crate::framework::springs::Springs;
use crate::framework::{ElementId, Error, ForceSystem, Stage, State, StepMethod, Stiffnesses};
use crate::math::{Real, Requirement, check};
use crate::mechanics::Inertias;

/// The longest stable step, and the element that limits it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StableStep {
    /// The step \[s\]; infinite if no known element limits it.
    pub length: f64,
    /// The element that limits the step: the one that contributes most on the body or coordinate that moves fastest;
    /// `None` if there is none.
    pub element: Option<ElementId>,
    /// The bound on the angular frequency of the motion that limits the step \[rad/s\].
    pub frequency: f64,
    /// The bound on the damping over mass of that motion \[1/s\].
    pub damping_rate: f64,
    /// An element whose stable step is not known, the first of several; `None` if all are known.
    pub unknown: Option<ElementId>,
}

impl<T: Real> ForceSystem<T> {
    /// Returns the longest stable step of a host for the present forces, by its method and the largest speed at which
    /// bodies may meet \[m/s\]. With a speed of zero, elements without contact are assumed to remain without contact.
    ///
    /// Below this step, a linear system with the reported stiffness and damping stays bounded. [`Stiffnesses`] has the
    /// theory, and the pages of the elements state what they report. It is a bound for stability, not accuracy: half of
    /// it is a good step, unless stops or cables without damping are [hit](crate::guide::steps) again and again. The call
    /// allocates memory; make it before a run, and again when loads, contacts or parameters have changed.
    ///
    /// # Errors
    /// [`Error::StageTooLow`] below Dynamics stage; [`Error::TopologyMismatch`] if the state belongs to another system;
    /// [`Error::InvalidValue`] for a mass or moment of inertia that is not greater than zero, or an impact speed that is
    /// negative or not finite.
    ///
    /// # Example: a body on a bushing
    ///
    /// ```
    /// use force_elements::linear_bushing::Parameters;
    /// use force_elements::nalgebra::{Matrix3, Vector6};
    /// use force_elements::{
    ///     BodyIndex, CoordinateIndex, ForceSystem, Frame, Inertias, LinearBushing, Pose, StepMethod,
    /// };
    ///
    /// struct TwoKilograms;
    ///
    /// impl Inertias for TwoKilograms {
    ///     fn mass(&self, _: BodyIndex) -> f64 {
    ///         2.0
    ///     }
    ///     fn inertia(&self, _: BodyIndex) -> Matrix3<f64> {
    ///         Matrix3::from_diagonal_element(0.1)
    ///     }
    ///     fn coordinate_mass(&self, _: CoordinateIndex) -> f64 {
    ///         f64::INFINITY
    ///     }
    /// }
    ///
    /// let mut system = ForceSystem::<f64>::new();
    /// let body = system.add_body();
    /// let parameters = Parameters { stiffness: Vector6::new(0.0, 0.0, 0.0, 5e3, 1e3, 1e3), ..Parameters::default() };
    /// let frame = Frame::ground(Pose::identity());
    /// let bushing = system.add(LinearBushing::new(frame, Frame::of(body), parameters)?)?;
    ///
    /// let mut state = system.default_state();
    /// system.realize_dynamics(&mut state)?;
    /// let step = system.stable_step(&state, &TwoKilograms, StepMethod::SymplecticEuler, 0.0)?;
    /// assert_eq!((step.element, step.unknown), (Some(bushing.id()), None));
    /// assert!((step.frequency - 50.0).abs() < 1e-12); // √(5000/2)
    /// assert!((step.length - 2.0 / 50.0).abs() < 1e-12);
    /// # Ok::<(), force_elements::Error>(())
    /// ```
    pub fn stable_step(
        &self,
        state: &State<T>,
        inertias: &dyn Inertias,
        method: StepMethod,
        impact_speed: f64,
    ) -> Result<StableStep, Error> {
        self.require(state, Stage::Dynamics)?;
        let springs = Springs::default();
        let mut stiffnesses = Stiffnesses::new(&state.kinematics, springs, inertias, method, impact_speed)?;
        self.bound_step(state, &mut stiffnesses, f64::INFINITY)
    }

    /// Returns the time \[s\] in which bodies could pass through each other unnoticed at the present velocities, and the
    /// element whose contact it is; infinity and `None` if there is none. If the time is longer than `within`, any value
    /// longer than `within` may be returned.
    ///
    /// For two surfaces apart, it is the time in which they would meet and penetrate by half the sum of their least half
    /// widths. Such a step can miss only a graze: between two balls, an impact within 15° of the tangent. The passing
    /// time covers the contacts of elements that report them: [`HertzContact`](crate::HertzContact),
    /// [`ElasticFoundation`](crate::ElasticFoundation), [`OnBed`](crate::laws::OnBed), and a user's own. For elements
    /// that count turns, it is the time in which a bushing turns, or a cable winds on an obstacle, by 2 rad, or by
    /// 1.2 rad if a surface of the cable is not convex.
    ///
    /// A host with fixed steps must not take a longer step; [`check_step`](Self::check_step) and
    /// [`finish_step`](Self::finish_step) ensure that. A host with error control takes at most half of the passing time
    /// as its next step, and repeats a step that is longer than the passing time at its end, where bodies may be faster.
    /// The integrators of [`simulation`](crate::simulation) do so. Details are on the page
    /// [`steps`](crate::guide::steps#contacts-between-two-evaluations).
    ///
    /// # Errors
    /// [`Error::StageTooLow`] below Dynamics stage; [`Error::TopologyMismatch`] if the state belongs to another system;
    /// [`Error::InvalidValue`] unless `within` is at least zero.
    pub fn passing_time(&self, state: &State<T>, within: f64) -> Result<(f64, Option<ElementId>), Error> {
        check::that(within >= 0.0, "within", within, Requirement::NonNegative)?;
        self.require(state, Stage::Dynamics)?;
        let mut shortest = (f64::INFINITY, None);
        self.for_each_enabled(state, |id, element| {
            let time = element.passing_time(within);
            if time < shortest.0 {
                shortest = (time, Some(id));
            }
        })?;
        Ok(shortest)
    }

    /// Refuses a step of a host that is longer than the present forces allow, before they are integrated over it, or in
    /// which bodies could [pass through each other](Self::passing_time).
    ///
    /// A host with fixed steps calls it once for each step, after [`realize_dynamics`](Self::realize_dynamics): contacts
    /// become stiffer as bodies land, and the approach of a body to an exponential spring shows its impact speed.
    ///
    /// Friction that is limited and has no memory does not count: in a step that is too long it alternates, by no more
    /// than its limit. If it continues to alternate, [`finish_step`](Self::finish_step) refuses.
    ///
    /// The state keeps the memory of the calculation, and the time of the check. A check at a later time, with no step
    /// accepted in between, is refused if an element has memory that only its forces read, such as anchors and bristles,
    /// which would spring back, or memory that [depends on the path](crate::ForceElement::is_path_dependent). A bushing,
    /// or a cable without friction, does not cause this refusal.
    ///
    /// # Errors
    /// [`Error::StepNotAccepted`] for such a check; [`Error::StepTooLong`], with the element and the longest step;
    /// [`Error::InvalidValue`] for a step that is negative or not finite; otherwise the errors of
    /// [`stable_step`](Self::stable_step).
    pub fn check_step(
        &self,
        state: &mut State<T>,
        inertias: &dyn Inertias,
        method: StepMethod,
        step: f64,
    ) -> Result<(), Error> {
        self.require(state, Stage::Dynamics)?;
        check::nonnegative("step", step)?;
        let time = state.time().to_f64();
        if let Some(checked_at) = state.continuous.checked_at.filter(|&checked_at| checked_at < time) {
            for kind in &self.kinds {
                if kind.must_accept(state)? {
                    return Err(Error::StepNotAccepted { checked_at, time });
                }
            }
        }
        let springs = core::mem::take(&mut state.springs);
        let mut stiffnesses = Stiffnesses::new(&state.kinematics, springs, inertias, method, 0.0)?;
        // In a step that is too long, limited friction alternates by no more than its limit, and adds no energy.
        stiffnesses.counts_friction = false;
        let stable = self.bound_step(state, &mut stiffnesses, step)?;
        state.springs = stiffnesses.springs;
        let passing = self.passing_time(state, step)?;
        let shortest = if passing.0 < stable.length { passing } else { (stable.length, stable.element) };
        self.require_within(step, shortest)?;
        state.continuous.checked_at = Some(time);
        Ok(())
    }

    /// Refuses a step in which bodies could pass through each other.
    pub(crate) fn check_passing(&self, state: &State<T>, step: f64) -> Result<(), Error> {
        self.require_within(step, self.passing_time(state, step)?)
    }

    /// Refuses a step that is longer than an element allows.
    fn require_within(&self, step: f64, (longest, element): (f64, Option<ElementId>)) -> Result<(), Error> {
        match element {
            Some(element) if step > longest => {
                Err(Error::StepTooLong { element: self.name_of(element)?, step, longest })
            }
            _ => Ok(()),
        }
    }

    /// The longest stable step, if it is shorter than `longest`.
    fn bound_step(
        &self,
        state: &State<T>,
        stiffnesses: &mut Stiffnesses<'_, T>,
        longest: f64,
    ) -> Result<StableStep, Error> {
        self.report(state, stiffnesses)?;
        let (rates @ [square, damping_rate], place) = stiffnesses.springs.bound(stiffnesses.method, longest);
        let length = stiffnesses.method.longest_step(rates);
        if length < f64::INFINITY {
            stiffnesses.seek(place);
            self.report(state, stiffnesses)?;
        }
        let (element, unknown) = (stiffnesses.strongest(), stiffnesses.unknown);
        Ok(StableStep { length, element, frequency: ComplexField::sqrt(square), damping_rate, unknown })
    }

    fn report(&self, state: &State<T>, stiffnesses: &mut Stiffnesses<'_, T>) -> Result<(), Error> {
        self.for_each_enabled(state, |id, element| {
            stiffnesses.element = Some(id);
            element.report_stiffness(stiffnesses);
        })
    }
}
