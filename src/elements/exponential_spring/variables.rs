//! Parameters, memory, results and the error of the exponential spring.

use nalgebra::{Point3, Vector2, Vector3};

use crate::elements::ContactDesign;
use crate::framework::{Variables, stored_variables};
use crate::math::{InvalidValue, Pose, Real, check};
use crate::results;

stored_variables! {
    /// The shape of the normal force, the friction spring, the coefficients of friction and the settle velocity.
    ///
    /// The defaults are those of the reference. They suit a box of 10 kg on four stations in steps of 1 ms. At 1 kg and
    /// below the friction damper is too strong for that step, and a box on a slope creeps by millimetres a second.
    /// [`Parameters::for_contact`] chooses parameters for a mass and a step;
    /// [`check_step`](crate::ForceSystem::check_step) refuses a step that is too long.
    #[derive(Copy, Lift)]
    pub struct Parameters<T> {
        /// Shift of the exponential along the normal.
        pub d0: T ["m"] = 0.006_590_5, finite => Dynamics;
        /// Scale of the normal force.
        pub d1: T ["N"] = 0.5336, positive => Dynamics;
        /// Steepness of the exponential.
        pub d2: T ["1/m"] = 1150.0, positive => Dynamics;
        /// Normal viscosity `cz`; with zero no energy is lost along the normal.
        pub normal_viscosity: T ["s/m"] = 0.5, nonnegative => Dynamics;
        /// The maximum normal force: the clamp.
        pub max_normal_force: T ["N"] = 100_000.0, positive => Dynamics;
        /// Elasticity `kxy` of the friction spring.
        pub friction_elasticity: T ["N/m"] = 20_000.0, positive => Dynamics;
        /// Viscosity `cxy` of the friction spring. The default is critical damping for 1 kg on the default elasticity.
        /// With zero, a held station vibrates without decay.
        pub friction_viscosity: T ["N·s/m"] = 282.842_712_474_619, nonnegative => Dynamics;
        /// The speed of the anchor below which friction settles from kinetic to static. With return mapping, the speed of
        /// the station at or below which an anchor that is not dragged holds again.
        pub settle_velocity: T ["m/s"] = 0.01, positive => Dynamics;
        /// With return mapping, the mean speed since the last commit up to which static friction remains while the anchor
        /// is dragged. With zero the anchor lets go at once.
        pub release_velocity: T ["m/s"], nonnegative => Dynamics;
        /// Coefficient of static friction, at least `mu_kinetic`. There is no upper bound.
        pub mu_static: T = 0.7, nonnegative => Dynamics;
        /// Coefficient of kinetic friction.
        pub mu_kinetic: T = 0.5, nonnegative => Dynamics;
        /// Whether Sliding settles from step to step as the anchor slows down, by the
        /// [law of the source](super::ExponentialSpring#the-law-of-the-source), in place of return mapping.
        pub settling: bool => Dynamics;
    }
    check |p| check::at_most("mu_kinetic", p.mu_kinetic, "mu_static", p.mu_static);
}

/// The speed, over `g·step`, up to which some of the points that share a load may slip while others hold.
const RELEASE: f64 = 0.02;

stored_variables! {
    /// Memory of the spring: the anchor and Sliding.
    #[derive(Copy, Lift)]
    pub struct Discrete<T> {
        /// The anchor `p0`, the zero of the friction spring, in the plane.
        pub anchor_P: Vector2<T> ["m"], finite => Dynamics;
        /// Sliding: from 0, fixed in place, to 1, sliding. With return mapping it is either 0 or 1.
        pub sliding: T = 1.0, fraction => Dynamics;
        /// Time of the last commit.
        pub last_update: T ["s"], finite => Dynamics;
        /// The station at the last commit, in the plane's frame; `None` before the first.
        pub last_station: Option<Point3<T>> ["m"], finite => Dynamics;
        /// With return mapping, the velocity of the station at the last commit, in the plane.
        pub last_velocity_P: Vector2<T> ["m/s"], finite => Dynamics;
        /// With return mapping, the excess of the speed of the station at the last commit over the speed at which the
        /// damper alone reaches the limit, if the friction spring was slack; otherwise zero.
        pub overspeed: T ["m/s"], nonnegative => Dynamics;
    }
}

impl<T: Real> Parameters<T> {
    /// Parameters for a body on springs at its [points](ContactDesign::points), under a host with fixed steps.
    ///
    /// The following holds for bodies whose points have a lever `r` about the mass center and a least moment of inertia
    /// `I` with `m·r²/I ≤ 4.5`, such as boxes that are no longer than they are wide and high:
    ///
    /// - At rest, under an even load, the points are at height zero. A load `n` times as large lowers them by `ln(n)/d2`.
    /// - In the flight after an impact at up to the stated speed, the energy is at most 1 % above that before. A body
    ///   that strikes flat rebounds with the stated restitution; a slower body keeps a larger fraction of its speed.
    /// - Bounces and rocking decay, and friction holds: a body dropped on a slope below kinetic friction comes to rest
    ///   and stays there, unless it tumbles on, as cubes may on slopes of more than 25°.
    /// - Friction springs stretch by at most `μs·g·(5.6·step)²` under an even load that grows slowly: 35 µm at 0.7 and a
    ///   step of 0.4 ms.
    /// - Several points together hold up to `μs` times the load, also on a plane that accelerates, if they are loaded so
    ///   slowly that the first ones slip at less than `0.02·g·step`: 0.2 mm/s in steps of 1 ms on Earth.
    /// - A load along the plane that begins at once stretches the friction springs up to 1.4 times as far as one that is
    ///   applied slowly. A block that is put on a slope therefore slides above about three quarters of `μs`.
    /// - The clamp of each point is at `m·(2·d2·v² + 10·g)`; a point under a larger load falls through the plane.
    ///
    /// # Errors
    /// # Errors
    /// Those of [`ContactDesign::validate`].
    pub fn for_contact(design: &ContactDesign) -> Result<Self, InvalidValue> {
        design.validate()?;
        let ContactDesign { mass, points, speed, gravity, mu_static, mu_kinetic, step, .. } = *design;
        let share = mass / f64::from(points);
        let d2 = design.steepness();
        let [stiffness, damping] = design.grip(share);
        let chosen = Self {
            d0: T::zero(),
            d1: T::lit(share * gravity),
            d2: T::lit(d2),
            normal_viscosity: T::lit(design.dissipation()),
            // One point may have to stop the whole mass, with a force of d2·m·v²/2. The clamp is four times that, plus
            // the weight.
            max_normal_force: T::lit(mass * (d2 * speed * speed * 2.0 + gravity * 10.0)),
            friction_elasticity: T::lit(stiffness),
            friction_viscosity: T::lit(damping),
            // The change of velocity by friction in a step.
            settle_velocity: T::lit((mu_kinetic * gravity * step).max(0.01 * design.scale_of_speeds())),
            release_velocity: T::lit(if points > 1 { RELEASE * gravity * step } else { 0.0 }),
            mu_static: T::lit(mu_static),
            mu_kinetic: T::lit(mu_kinetic),
            ..Self::default()
        };
        chosen.validate()?;
        Ok(chosen)
    }

    /// The same parameters with this friction elasticity `kxy` \[N/m\] and the viscosity `2·√(kxy·mass)`, critical
    /// damping for the mass \[kg\].
    #[must_use]
    pub fn with_critical_damping(self, friction_elasticity: T, mass: T) -> Self {
        let friction_viscosity = T::lit(2.0) * (friction_elasticity * mass).sqrt();
        Self { friction_elasticity, friction_viscosity, ..self }
    }

    /// Sets the coefficient of static friction, and lowers the kinetic one to it if necessary.
    pub fn set_mu_static(&mut self, mu_static: T) {
        self.mu_static = mu_static;
        self.mu_kinetic = self.mu_kinetic.min(mu_static);
    }

    /// Sets the coefficient of kinetic friction, and raises the static one to it if necessary.
    pub fn set_mu_kinetic(&mut self, mu_kinetic: T) {
        self.mu_kinetic = mu_kinetic;
        self.mu_static = self.mu_static.max(mu_kinetic);
    }

    /// The height at which a spring at rest carries this load \[m\], `d0 − ln(load/d1)/d2`.
    ///
    /// If `n` springs share the weight of a body evenly, each carries an `n`-th of it. At the clamp the result is the
    /// greatest height that carries the load.
    ///
    /// # Errors
    /// [`InvalidValue`] unless the load is greater than zero and at most
    /// [`max_normal_force`](Self::max_normal_force), or for parameters out of range.
    pub fn resting_height(&self, load: T) -> Result<T, InvalidValue> {
        self.validate()?;
        check::positive("load", load)?;
        check::at_most("load", load, "max_normal_force", self.max_normal_force)?;
        // Not the logarithm of a quotient, which may overflow or underflow.
        let height = self.d0 - (load.ln() - self.d1.ln()) / self.d2;
        check::finite("resting height", height)?;
        Ok(height)
    }
}

results! {
    /// Results at Position stage.
    #[derive(Copy)]
    pub struct Position<T> {
        /// Pose of the plane in Ground.
        pub X_GP: Pose<T> ["m"];
        /// The station in Ground.
        pub p_GS: Point3<T> ["m"];
        /// The station in the plane's frame.
        pub p_PS: Point3<T> ["m"];
        /// Height of the station above the plane, `p_PS.z`; negative below it.
        pub height: T ["m"];
    }
}

results! {
    /// Results at Velocity stage.
    #[derive(Copy)]
    pub struct Velocity<T> {
        /// Velocity of the station in Ground, expressed in Ground.
        pub v_GS: Vector3<T> ["m/s"];
        /// Velocity of the station relative to the plane, expressed in the plane's frame.
        pub v_PS: Vector3<T> ["m/s"];
    }
}

results! {
    /// Results at Dynamics stage. A trailing `_P` is expressed in the plane's frame, `_G` in Ground.
    #[derive(Copy)]
    pub struct Dynamics<T> {
        /// The exponential before the clamp, `d1·exp(−d2·(height − d0))`; infinite where it overflows.
        pub normal_force_unclamped: T ["N"];
        /// Elastic part of the normal force, along z of the plane: the exponential, clamped.
        pub normal_force_elastic: T ["N"];
        /// Damping part of the normal force, along z of the plane.
        pub normal_force_damping: T ["N"];
        /// The normal force, along z of the plane.
        pub normal_force: T ["N"];
        /// The coefficient of friction between static and kinetic, by the committed Sliding.
        pub mu: T ["1"];
        /// The largest possible friction force, `mu·normal_force`.
        pub friction_force_limit: T ["N"];
        /// Whether friction is limited.
        pub limit_reached: bool [];
        /// Elastic part of the friction force, in the plane.
        pub friction_force_elastic_P: Vector2<T> ["N"];
        /// Damping part of the friction force, in the plane.
        pub friction_force_damping_P: Vector2<T> ["N"];
        /// The friction force, in the plane.
        pub friction_force_P: Vector2<T> ["N"];
        /// The anchor that the next accepted step commits, in the plane.
        pub next_anchor_P: Vector2<T> ["m"];
        /// The Sliding that the next accepted step commits. By the law of the source it is 1 if no time has passed since
        /// the last commit; to plot sliding, use the committed [`Discrete::sliding`](Discrete::sliding).
        pub next_sliding: T ["1"];
        /// With return mapping, the overspeed that the next accepted step commits.
        pub next_overspeed: T ["m/s"];
        /// With return mapping, the error of friction if the anchor lets go at the end of the step.
        pub switching_error: T ["N"];
        /// The energy stored.
        pub potential_energy: T ["J"];
        /// The power dissipated by damping.
        pub power_dissipated: T ["W"];
        pub(super) X_GP: Pose<T>;
    }
}

impl<T: Real> Dynamics<T> {
    /// A force in Ground \[N\], from its part in the plane and its component along z of the plane.
    pub fn in_G(&self, f_P: Vector2<T>, along_normal: T) -> Vector3<T> {
        self.X_GP.rotation * f_P.push(along_normal)
    }

    /// The force on the body, acting at the station, in the plane's frame \[N\].
    pub fn force_P(&self) -> Vector3<T> {
        self.friction_force_P.push(self.normal_force)
    }

    /// The force on the body, acting at the station \[N\].
    pub fn force_G(&self) -> Vector3<T> {
        self.X_GP.rotation * self.force_P()
    }

    /// The anchor that the next accepted step commits \[m\].
    pub fn next_anchor_G(&self) -> Point3<T> {
        self.X_GP * Point3::from(self.next_anchor_P.push(T::zero()))
    }
}
