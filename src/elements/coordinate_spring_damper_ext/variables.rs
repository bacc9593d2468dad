//! Parameters, memory and results of the extended coordinate spring-damper.

use crate::elements::ContactDesign;
use crate::framework::{Variables, stored_variables};
use crate::math::{InvalidValue, Number, Real, Requirement, check};
use crate::results;

// The variables of each part of the law follow one another, since derivatives are taken part by part.
stored_variables! {
    /// Parameters of spring, damper, friction and stops, in the units of a translation. For a rotation read N as N·m and
    /// m as rad.
    #[derive(Copy, Lift)]
    pub struct Parameters<T> {
        /// Stiffness `k` of the spring.
        pub stiffness: T ["N/m"], finite => Dynamics;
        /// Damping `d`.
        pub damping: T ["N·s/m"], finite => Dynamics;
        /// Displacement `x_off` at which the spring exerts no force; may be a prescribed position.
        pub offset: T ["m"], finite => Dynamics;
        /// Velocity `v_off` at which the damper exerts no force; may be a prescribed velocity.
        pub velocity_offset: T ["m/s"], finite => Dynamics;
        /// Factor `f0` on coordinate 0.
        pub factor0: T = 1.0, finite => Position;
        /// Factor `f1` on coordinate 1.
        pub factor1: T = 1.0, finite => Position;
        /// Displacement `s_upper` of the upper stop.
        pub limit_stops_upper: T ["m"], finite => Dynamics;
        /// Displacement `s_lower` of the lower stop, at most `s_upper`.
        pub limit_stops_lower: T ["m"], finite => Dynamics;
        /// Stiffness `k_u` of the upper stop. With stops, one of `k_u`, `k_l`, `d_u` and `d_l` is greater than zero.
        pub limit_stops_upper_stiffness: T ["N/m"], nonnegative => Dynamics;
        /// Stiffness `k_l` of the lower stop.
        pub limit_stops_lower_stiffness: T ["N/m"], nonnegative => Dynamics;
        /// Damping `d_u` of the upper stop.
        pub limit_stops_upper_damping: T ["N·s/m"], nonnegative => Dynamics;
        /// Damping `d_l` of the lower stop.
        pub limit_stops_lower_damping: T ["N·s/m"], nonnegative => Dynamics;
        /// Depth `w` over which the stops reach their stiffness and damping; zero selects stops that switch.
        pub limit_stops_transition: T ["m"], nonnegative => Dynamics;
        /// Dynamic friction force `f_d`.
        pub dynamic_friction: T ["N"], nonnegative => Dynamics;
        /// Excess `f_so` of static over dynamic friction.
        pub static_friction_offset: T ["N"], nonnegative => Dynamics;
        /// Dynamic friction `μ_d` per load. For a rotation, a length in m.
        pub dynamic_friction_coefficient: T ["1"], nonnegative => Dynamics;
        /// Excess `μ_so` of static over dynamic friction per load. For a rotation, a length in m.
        pub static_friction_offset_coefficient: T ["1"], nonnegative => Dynamics;
        /// Load `N`: the transmitted force whose magnitude determines friction, such as the normal force of a guide or
        /// the reaction of a joint. It is an input, which the host writes in every step if it varies. It is a force also
        /// for a rotation.
        ///
        /// A guide with friction in proportion to its normal force:
        ///
        /// ```
        /// use force_elements::coordinate_spring_damper_ext::Parameters;
        /// use force_elements::{CoordinatePair, CoordinateSpringDamperExt, ForceSystem};
        ///
        /// let mut system = ForceSystem::<f64>::new();
        /// let slider = system.add_coordinate();
        /// let guide = system.add(CoordinateSpringDamperExt::new(CoordinatePair::on(slider), Parameters {
        ///     dynamic_friction_coefficient: 0.25,
        ///     friction_proportional_zone: 1e-3,
        ///     ..Parameters::default()
        /// })?)?;
        ///
        /// let mut state = system.default_state();
        /// state.set_coordinate_rate(slider, 0.5)?;
        /// for load in [8.0, -16.0, 0.0] {
        ///     system.update_parameters(&mut state, guide, |p| p.friction_load = load)?;
        ///     let force = system.realize_dynamics(&mut state)?.coordinate_force(slider);
        ///     assert_eq!(force, -0.25 * load.abs());
        /// }
        /// # Ok::<(), force_elements::Error>(())
        /// ```
        pub friction_load: T ["N"], finite => Dynamics;
        /// Stiffness `k_μ` of the bristles while they stick. If bristles act (`v_reg = 0`, and `f_d`, `f_so`, `μ_d` or
        /// `μ_so` above zero), `k_μ` or `d_μ` must be greater than zero; otherwise the bristles would never slip. When
        /// setting parameters by name, set this one first.
        pub sticking_stiffness: T ["N/m"], nonnegative => Dynamics;
        /// Damping `d_μ` of the bristles while they stick.
        pub sticking_damping: T ["N·s/m"], nonnegative => Dynamics;
        /// Velocity `v_exp` at which the static offset has fallen to 1/e.
        pub exponential_decay_static: T ["m/s"] = 0.001, positive => Dynamics;
        /// Viscous friction `f_v` while sliding. With `v_reg = 0` it acts only where one of `f_d`, `f_so`, `μ_d`
        /// and `μ_so` is above zero.
        pub viscous_friction: T ["N·s/m"], finite => Dynamics;
        /// Half-width `v_reg` of the zone in which friction is proportional to velocity; zero selects
        /// bristles.
        pub friction_proportional_zone: T ["m/s"], nonnegative => Dynamics;
        /// Whether there are stops.
        pub use_limit_stops: bool => Dynamics;
        /// Whether stops only push. By default their damping may make them pull on rebound.
        pub limit_stops_only_push: bool => Dynamics;
    }
    check |p| check::at_most("limit_stops_lower", p.limit_stops_lower, "limit_stops_upper", p.limit_stops_upper)
        .and_then(|()| {
            // Bristles that stick without a force never slip, so there would be no friction.
            let (stiffness, damping) = (p.sticking_stiffness, p.sticking_damping);
            let can_act = !p.has_bristles() || stiffness > T::zero() || damping > T::zero();
            check::that(can_act, "sticking_stiffness", stiffness, Requirement::Positive)?;
            // Stops without stiffness and damping exert no force.
            let stiffness = p.limit_stops_upper_stiffness;
            let others =
                [p.limit_stops_lower_stiffness, p.limit_stops_upper_damping, p.limit_stops_lower_damping];
            let can_stop = stiffness > T::zero() || others.iter().any(|constant| *constant > T::zero());
            let can_stop = !p.use_limit_stops || can_stop;
            check::that(can_stop, "limit_stops_upper_stiffness", stiffness, Requirement::Positive)
        });
}

stored_variables! {
    /// Memory of friction and stops.
    #[derive(Copy, Lift)]
    pub struct Discrete<T> {
        /// Zero while the bristles stick; otherwise the slip force, with the sign of the slip. While slipping its
        /// magnitude is at least 2e-14 (in `f64`) of the greatest slip force, or 2e-14 N without load, since zero means
        /// sticking.
        pub friction_mode: T ["N"], finite => Dynamics;
        /// Displacement at which the bristles last stuck; while they slip, the displacement at the last update.
        pub last_sticking_position: T ["m"], finite => Dynamics;
        /// Distance by which a stop is surpassed: positive for the upper one, negative for the lower one, zero for none.
        /// With a transition it is always zero, and no force depends on it.
        pub limit_stop_state: T ["m"], finite => Dynamics;
        /// Energy stored in bristles that slip. Without bristles, the energy that was lost when parameters switched them
        /// off. No force depends on it.
        pub bristle_energy: T ["J"], nonnegative => Dynamics;
    }
}

impl<S: Number> Discrete<S> {
    /// The same with sticking bristles.
    pub(super) fn stuck(&self) -> Self {
        Self { friction_mode: S::zero(), bristle_energy: S::zero(), ..*self }
    }

    /// The memory of bristles without load, which slip without force, follow the velocity, and store no energy. Their
    /// mode only determines the direction of friction until the next commit.
    pub(super) fn unloaded(&self, q: S, v: S) -> Self {
        let friction_mode = S::of(S::Scalar::negligible()).towards(v);
        Self { friction_mode, last_sticking_position: q, bristle_energy: S::zero(), ..*self }
    }
}

impl<T: Real> Parameters<T> {
    /// Bristle friction of a sledge that carries the mass of the design by its weight, along the coordinate, under a host
    /// with fixed steps. It holds without creep, and is displaced by at most `μs·g·(5.6·step)²`. Spring, damper and stops
    /// are zero.
    ///
    /// # Errors
    /// Those of [`ContactDesign::validate`].
    pub fn for_contact(design: &ContactDesign) -> Result<Self, InvalidValue> {
        design.validate()?;
        let [stiffness, damping] = design.grip(design.mass);
        let chosen = Self {
            dynamic_friction: T::lit(design.mu_kinetic * design.weight()),
            static_friction_offset: T::lit((design.mu_static - design.mu_kinetic) * design.weight()),
            sticking_stiffness: T::lit(stiffness),
            sticking_damping: T::lit(damping),
            exponential_decay_static: T::lit(1e-3 * design.scale_of_speeds()),
            ..Self::default()
        };
        chosen.validate()?;
        Ok(chosen)
    }
}

impl<S: Number> Parameters<S> {
    /// Dynamic friction `f_d + μ_d·|N|` \[N\].
    pub(super) fn dynamic_force(&self) -> S {
        self.dynamic_friction + self.dynamic_friction_coefficient * self.friction_load.abs()
    }

    /// Excess `f_so + μ_so·|N|` of static over dynamic friction \[N\].
    pub(super) fn static_offset_force(&self) -> S {
        self.static_friction_offset + self.static_friction_offset_coefficient * self.friction_load.abs()
    }

    /// The force up to which bristles stick \[N\].
    pub(super) fn holding_force(&self) -> S {
        self.dynamic_force() + self.static_offset_force()
    }

    /// Whether there is friction, at some load.
    pub(super) fn has_friction(&self) -> bool {
        [
            self.dynamic_friction,
            self.static_friction_offset,
            self.dynamic_friction_coefficient,
            self.static_friction_offset_coefficient,
        ]
        .iter()
        .any(|constant| *constant != S::zero())
    }
}

results! {
    /// Results at Dynamics stage.
    #[derive(Copy)]
    pub struct Dynamics<T> {
        /// The force `f`.
        pub force: T ["N"];
        /// Its friction part.
        pub friction_force: T ["N"];
        /// Its limit-stop part.
        pub contact_force: T ["N"];
        /// Generalized force on coordinate 0.
        pub generalized_force0: T ["N"];
        /// Generalized force on coordinate 1.
        pub generalized_force1: T ["N"];
        /// The energy stored.
        pub potential_energy: T ["J"];
        /// The power dissipated.
        pub power_dissipated: T ["W"];
        /// The power supplied by the drive that a velocity offset represents.
        pub power_supplied: T ["W"];
    }
}
