//! Design of a contact: parameters from a mass, a size, a step and a restitution.

use nalgebra::ComplexField;

use crate::math::{InvalidValue, Requirement, check};

/// `d·v·h` of an impact at speed `v` on an exponential of decay length `1/d`. At the turn, `ω²h² + 2γh` is between `½`
/// and `2` times this, for any mass. Symplectic Euler then gains less than 1 % of the energy, and a station that strikes
/// 50 % faster is still resolved.
const IMPACT: f64 = 0.5;

/// The square of the phase by which the bounce of a resting body advances in one step. It is 0.28 at the corner of a
/// cube, where the effective mass is a 5.5th.
const RESTING: f64 = 0.05;

/// The smallest fraction of critical damping with which a resting body bounces and rocks.
const RESTING_DAMPING: f64 = 0.15;

/// The largest fraction of its velocity that a body loses to damping in one step of an impact. On a linear contact this
/// is at most `ω h √(2 y)`: where damping is greatest, at most `m v/c` is stored.
const LANDING: f64 = 0.5;

/// The damping rate of a resting body in one step: `γ h = c g h`, for any stiffness.
const DAMPED: f64 = 0.25;

/// The phase by which the swing of a body on its friction springs advances in one step. With the damping below,
/// `ω²h² + 2γh`, which must be below 4, is 1.8 at the corner of a cube; the difference leaves room for an impact.
const HELD: f64 = 0.18;

/// The fraction of critical damping with which a body swings on its friction springs.
const HELD_DAMPING: f64 = 0.4;

/// `2γh` at rest, where friction is proportional to the velocity: a damper of the rate `γ`.
const CREEPING: f64 = 0.6;

/// The fraction of its extent by which a body may sink in, or friction springs may stretch, under its weight.
const YIELD: f64 = 0.1;

/// The fraction of its extent `r` by which a body may sink into a bed under its weight. A cube leans by `3 μ_k` times
/// this fraction on a slope of `atan μ_k`, 3° at 0.5; a body that leans much more tumbles when it lands there.
const LEAN: f64 = 1.0 / 30.0;

/// The largest permitted ratio of the moment of the weight of a leaning body to the moment that supports it: `r δ/b²` on
/// points at `±b`, and `12 r δ/A` on a bed under a square base of area `A`, at a depth `δ`. At a ratio of one the body
/// falls over.
const TIPPING: f64 = 0.5;

/// The requirements on a contact: the body, the step of the host, and how the body rebounds and slides. The units are SI,
/// or any others that are consistent; in other units set [`gravity`](Self::gravity).
///
/// Every law of contact or friction computes parameters from a design:
/// [`exponential_spring::Parameters::for_contact`](crate::exponential_spring::Parameters::for_contact),
/// [`elastic_foundation::Material::for_contact`](crate::elastic_foundation::Material::for_contact) and
/// [`Parameters::for_contact`](crate::elastic_foundation::Parameters::for_contact),
/// [`hertz_contact::Parameters::for_contact`](crate::hertz_contact::Parameters::for_contact) and
/// [`coordinate_spring_damper_ext::Parameters::for_contact`](crate::coordinate_spring_damper_ext::Parameters::for_contact).
///
/// # What is chosen
///
/// The rules are for a host that takes steps `h` by symplectic Euler, the method of most game engines. Other explicit
/// methods allow the same steps; implicit methods and error control allow longer ones. A body of mass `m` on a contact of
/// stiffness `k` and dissipation `c` (`f = f_e (1 + c v)`, Hunt and Crossley) bounces under its weight with `ω = √(k/m)`
/// and the fraction `ζ = c g/2ω` of critical damping.
///
/// | chosen | such that |
/// |---|---|
/// | dissipation `c = y/v` | a body that strikes flat at `v` rebounds at `e v`: `y (1 + e) = ln((1 + y)/(1 − y e))`. At any speed it rebounds at less than `1/c` |
/// | step | `c g h ≤ 0.25`: the damping at rest is stable. A small restitution at a small speed would require more |
/// | stiffness | `ω h ≤ 0.22` at rest, an impact at `v` is resolved, and `ζ ≥ 0.15`: bouncing decays by 60 % in each period. Slower rocking decays by less: that of a cube on a foundation with anchors by 40 % |
/// | friction springs | `ω h = 0.18` along the surface with `ζ = 0.4`. The friction springs of a body that is pushed at the height of the contact stretch by at most `μ_s g (5.6 h)²` |
/// | friction proportional to velocity | `γ h = 0.3` at rest under the weight |
///
/// A large restitution leaves little damping at rest. The contact is then softer, so that rocking decays at the same rate
/// in each period.
///
/// # Refused
///
/// The step is too long for the body, and refused, if
///
/// - the body would sink in by more than a tenth of its [`extent`](Self::extent);
/// - its friction springs would stretch by more than that;
/// - or the body would be damped faster than a step can resolve.
///
/// [`longest_step`](Self::longest_step) returns the limit.
///
/// A body whose mass center is at a height `r` above points at distances of `±b` falls over unless `b² > r δ`, where `δ`
/// is its weight over the stiffness of the points at rest: `1/d2` on exponential springs, two thirds of the depth on
/// Hertz contacts. The design requires twice that of the [base](Self::base), so a body that is taller than wide should
/// state its base. A foundation is designed for an area, which is refused if the body would fall over on a square of this
/// area. A design with one [point](Self::points), as for a ball, a wheel or a guided body, is not checked for this.
///
/// # Source
///
/// K. H. Hunt, F. R. E. Crossley, *Coefficient of restitution interpreted as damping in vibroimpact*, Journal of Applied
/// Mechanics 42 (1975) 440–445. Stability: see [`Stiffnesses`](crate::Stiffnesses).
///
/// # Example: a box of 2 kg and 0.2 m in a game at 240 Hz
///
/// ```
/// use force_elements::ContactDesign;
/// use force_elements::exponential_spring::Parameters;
///
/// let design = ContactDesign::new(2.0, 0.1, 1.0 / 240.0).with_friction(0.8, 0.6);
/// let parameters = Parameters::<f64>::for_contact(&design)?;
/// // Under its weight each of the four corners below is at height zero.
/// assert!(parameters.resting_height(2.0 * 9.81 / 4.0)?.abs() < 1e-15);
///
/// // At 60 Hz it would sink in by more than a centimetre.
/// let slow = ContactDesign { step: 1.0 / 60.0, ..design };
/// assert_eq!(Parameters::<f64>::for_contact(&slow).unwrap_err().name, "contact_design.step");
/// assert!(slow.longest_step()? > 1.0 / 210.0);
/// # Ok::<(), force_elements::InvalidValue>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContactDesign {
    /// Mass of the body \[kg\]; of two bodies, the lighter one. A load of several times this mass requires shorter steps,
    /// as [`check_step`](crate::ForceSystem::check_step) reports, or [`finish_step`](crate::ForceSystem::finish_step) for
    /// friction without memory.
    pub mass: f64,
    /// Distance of its mass center from the contact at rest \[m\], half the height of a box.
    pub extent: f64,
    /// Step of the host \[s\]. For an engine that holds forces over substeps, the interval over which it holds them.
    /// Between two bodies, twice the step.
    pub step: f64,
    /// Half the width of the base \[m\], along its narrower side: the distance of the points from the line of the weight.
    /// `None` for the extent, as for a cube.
    pub base: Option<f64>,
    /// Number of points that share the weight; one for a body that cannot tip, such as a ball.
    pub points: u32,
    /// The highest impact speed of the points \[m/s\]. If a body falls at `v`, the points that land last are faster: the
    /// corners of a cube by up to `2.3 v`, and those of longer boxes possibly by more.
    pub speed: f64,
    /// The ratio of the rebound speed to the impact speed, greater than zero and at most one.
    pub restitution: f64,
    /// Coefficient of static friction.
    pub mu_static: f64,
    /// Coefficient of kinetic friction, at most the static one.
    pub mu_kinetic: f64,
    /// Gravity \[m/s²\].
    pub gravity: f64,
}

impl ContactDesign {
    /// A design with four points, as far apart as they are below the mass center, which strike at 1 m/s and rebound at
    /// 0.2 m/s, with coefficients of friction of 0.7 and 0.5, on Earth.
    pub const fn new(mass: f64, extent: f64, step: f64) -> Self {
        Self {
            mass,
            extent,
            step,
            base: None,
            points: 4,
            speed: 1.0,
            restitution: 0.2,
            mu_static: 0.7,
            mu_kinetic: 0.5,
            gravity: 9.81,
        }
    }

    /// The same design with this half width of the base \[m\], for a body that is taller than wide.
    #[must_use]
    pub const fn with_base(self, base: f64) -> Self {
        Self { base: Some(base), ..self }
    }

    /// The same design with this number of points that share the weight.
    #[must_use]
    pub const fn with_points(self, points: u32) -> Self {
        Self { points, ..self }
    }

    /// The same design with points that strike at this speed \[m/s\] and rebound at this fraction of it.
    #[must_use]
    pub const fn with_impact(self, speed: f64, restitution: f64) -> Self {
        Self { speed, restitution, ..self }
    }

    /// The same design with these coefficients of static and kinetic friction.
    #[must_use]
    pub const fn with_friction(self, mu_static: f64, mu_kinetic: f64) -> Self {
        Self { mu_static, mu_kinetic, ..self }
    }

    /// The same design with this gravity \[m/s²\].
    #[must_use]
    pub const fn with_gravity(self, gravity: f64) -> Self {
        Self { gravity, ..self }
    }

    /// The longest step \[s\] for which a contact exists with this extent, base, impact and friction.
    ///
    /// A gentle impact may shorten it: with less restitution, or with the same restitution at less speed, the contact is
    /// more damped. With a restitution of 0.2 it is at most 5.2 ms at 1 m/s, and 1.3 ms at 0.25 m/s, on Earth, however
    /// large the body is.
    ///
    /// # Errors
    /// [`InvalidValue`] as by [`validate`](Self::validate) for every number but the step.
    pub fn longest_step(&self) -> Result<f64, InvalidValue> {
        self.check_task()?;
        Ok(self.longest_step_and_hint().0)
    }

    /// The longest step \[s\], with a hint for the message about a longer one.
    fn longest_step_and_hint(&self) -> (f64, &'static str) {
        let depth = self.largest_depth();
        let held = HELD * ComplexField::sqrt(depth / (self.mu_static * self.gravity));
        let bounds = [
            (
                IMPACT * depth / self.speed,
                "longest_step() (longer for a larger or wider body, or less speed)",
            ),
            (
                ComplexField::sqrt(RESTING * depth / self.gravity),
                "longest_step() (longer for a larger or wider body)",
            ),
            (held, "longest_step() (longer for a larger or wider body, or less static friction)"),
            (
                DAMPED / (self.dissipation() * self.gravity),
                "longest_step() (longer with more restitution, or more speed)",
            ),
        ];
        bounds
            .into_iter()
            .fold((f64::INFINITY, ""), |least, bound| if bound.0 < least.0 { bound } else { least })
    }

    /// Checks all numbers, and that the step is not too long.
    ///
    /// # Errors
    /// [`InvalidValue`] unless all numbers are finite and greater than zero, the coefficients of friction at least zero,
    /// the restitution at most one, the kinetic coefficient at most the static one, and the step at most the
    /// [longest](Self::longest_step); also for a restitution so large that a body of this extent would rock for a long
    /// time.
    pub fn validate(&self) -> Result<(), InvalidValue> {
        self.check_task()?;
        check::positive("contact_design.step", self.step)?;
        let (longest, hint) = self.longest_step_and_hint();
        check::at_most("contact_design.step", self.step, hint, longest)?;
        let is_damped = self.gravity / square(self.damped_frequency()) <= self.largest_depth();
        let must = Requirement::Below(
            "the value at which a body on a contact this stiff would rock for a long time",
        );
        check::that(is_damped, "contact_design.restitution", self.restitution, must)
    }

    /// The weight over the stiffness at which a body on points sinks in, or leans, as far as is permitted \[m\].
    fn largest_depth(&self) -> f64 {
        (YIELD * self.extent).min(self.tipping_depth())
    }

    /// The weight over the stiffness at which a body on points leans as far as is permitted \[m\].
    fn tipping_depth(&self) -> f64 {
        let base = self.base.unwrap_or(self.extent);
        if self.points == 1 { f64::INFINITY } else { TIPPING * square(base) / self.extent }
    }

    /// Checks all numbers but the step.
    fn check_task(&self) -> Result<(), InvalidValue> {
        check::positive("contact_design.mass", self.mass)?;
        check::positive("contact_design.extent", self.extent)?;
        check::positive("contact_design.base", self.base.unwrap_or(1.0))?;
        check::positive("contact_design.points", f64::from(self.points))?;
        check::positive("contact_design.speed", self.speed)?;
        check::positive("contact_design.restitution", self.restitution)?;
        check::at_most("contact_design.restitution", self.restitution, "1", 1.0)?;
        check::nonnegative("contact_design.mu_static", self.mu_static)?;
        check::nonnegative("contact_design.mu_kinetic", self.mu_kinetic)?;
        check::at_most("contact_design.mu_kinetic", self.mu_kinetic, "mu_static", self.mu_static)?;
        check::positive("contact_design.gravity", self.gravity)
    }

    /// The dissipation `c` after Hunt and Crossley \[s/m\].
    pub(super) fn dissipation(&self) -> f64 {
        let e = self.restitution;
        // Positive beyond the solution, negative before it.
        let beyond = |y: f64| ComplexField::ln((1.0 + y) / (1.0 - y * e)) - y * (1.0 + e);
        let (mut least, mut most) = (0.0, e.recip());
        // One halving for each binary digit of a number.
        for _ in 0..60 {
            let y = 0.5 * (least + most);
            if beyond(y) > 0.0 { most = y } else { least = y }
        }
        let elastic = e >= 1.0;
        if elastic { 0.0 } else { 0.5 * (least + most) / self.speed }
    }

    /// The highest frequency at which a resting body is sufficiently damped \[rad/s\].
    fn damped_frequency(&self) -> f64 {
        self.dissipation() * self.gravity / (2.0 * RESTING_DAMPING)
    }

    /// The frequency with which the resting body bounces \[rad/s\].
    pub(super) fn resting_frequency(&self) -> f64 {
        (ComplexField::sqrt(RESTING) / self.step).min(self.damped_frequency())
    }

    /// The frequency for a bed of linear springs under an area, on which the body may also land.
    ///
    /// # Errors
    /// [`InvalidValue`] if the body would sink in by more than a thirtieth of its extent; or if base or area are too
    /// narrow for it, unless it rests on one point like a ball.
    pub(super) fn landing_frequency(&self, area: f64) -> Result<f64, InvalidValue> {
        let y = self.dissipation() * self.speed;
        let landing = LANDING / (self.step * ComplexField::sqrt(2.0 * y).max(1e-6));
        let frequency = self.resting_frequency().min(landing);
        let must = Requirement::Below("the value at which the bed becomes so soft that the body leans");
        let depth = |frequency: f64| self.gravity / square(frequency);
        // The moment of a bed between ±b is a third of that of points at ±b.
        let largest = (LEAN * self.extent).min(self.tipping_depth() / 3.0);
        let leans = |frequency: f64| depth(frequency) > largest;
        let damped = !leans(self.damped_frequency());
        check::that(damped, "contact_design.restitution", self.restitution, must)?;
        check::that(!leans(frequency), "contact_design.step", self.step, must)?;
        let stands = self.points == 1 || 12.0 * self.extent * depth(frequency) <= TIPPING * area;
        let must = Requirement::AtLeast(
            "24 times the extent times the depth of sinking in: on less, a body on several points may fall over",
        );
        check::that(stands, "area", area, must)?;
        Ok(frequency)
    }

    /// The stiffness `k` of a force `k x^(3/2)` on which the body may also land \[N/m^(3/2)\].
    pub(super) fn landing_stiffness(&self) -> f64 {
        // While the body slows down from v, at most m v² (y − ln(1 + y))/y² is stored, which is 2/5 k x^(5/2).
        let y = self.dissipation() * self.speed;
        let stored = 2.5 * square(self.speed) * y.recip().min(0.5);
        let rate = LANDING * self.speed / (y * self.step);
        self.mass * ComplexField::powf(rate, 2.5) / ComplexField::powf(stored, 1.5)
    }

    /// Checks how deep the body sinks in under its weight \[m\], if the force grows with the power 3/2 of the depth.
    ///
    /// # Errors
    /// [`InvalidValue`] if the depth is greater than at the longest step: 0.15 of the extent, unless the base is narrow.
    pub(super) fn check_depth(&self, depth: f64) -> Result<(), InvalidValue> {
        let must = Requirement::Below(
            "the value at which the body sinks in by 0.15 of its extent, or may fall over",
        );
        check::that(depth <= 1.5 * self.largest_depth(), "contact_design.step", self.step, must)
    }

    /// One over the decay length of an exponential contact \[1/m\].
    pub(super) fn steepness(&self) -> f64 {
        let resting = square(self.resting_frequency()) / self.gravity;
        resting.min(IMPACT / (self.speed * self.step))
    }

    /// The friction spring of a contact that carries this mass \[kg\].
    pub(super) fn grip(&self, mass: f64) -> [f64; 2] {
        let frequency = HELD / self.step;
        [mass * square(frequency), 2.0 * HELD_DAMPING * mass * frequency]
    }

    /// The velocity up to which friction after Hollars is proportional to it \[m/s\].
    pub(super) fn transition_velocity(&self) -> f64 {
        let slope = 2.0 * self.mu_static - self.mu_kinetic;
        (2.0 * slope * self.gravity * self.step / CREEPING).max(1e-3 * self.scale_of_speeds())
    }

    /// A reference speed that scales with the size of the body, in any units: 1 m/s for 0.1 m on Earth. Much lower speeds
    /// are small.
    pub(super) fn scale_of_speeds(&self) -> f64 {
        ComplexField::sqrt(self.gravity * self.extent)
    }

    /// The weight \[N\].
    pub(super) fn weight(&self) -> f64 {
        self.mass * self.gravity
    }
}

fn square(x: f64) -> f64 {
    x * x
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    #[test]
    fn the_dissipation_gives_the_restitution_by_integration() {
        // m dv/dt = k x (1 − c v) outward, in tiny steps of the midpoint rule.
        for restitution in [0.05, 0.2, 0.5, 0.8, 0.99] {
            for speed in [0.3, 4.0] {
                let c = ContactDesign::new(1.0, 0.1, 1e-3).with_impact(speed, restitution).dissipation();
                let (mut x, mut v, h) = (0.0_f64, speed, 1e-4);
                let acceleration = |x: f64, v: f64| -x * (1.0 + c * v);
                while x >= 0.0 {
                    let (x1, v1) = (x + 0.5 * h * v, v + 0.5 * h * acceleration(x, v));
                    (x, v) = (x + h * v1, v + h * acceleration(x1, v1));
                }
                assert_relative_eq!(-v / speed, restitution, max_relative = 1e-3);
            }
        }
        assert_eq!(ContactDesign::new(1.0, 0.1, 1e-3).with_impact(2.0, 1.0).dissipation(), 0.0);
    }

    #[test]
    fn what_is_out_of_range_is_refused_by_name() {
        let design = ContactDesign::new(1.0, 0.1, 1e-3);
        assert_eq!(design.validate(), Ok(()));
        for (broken, name) in [
            (ContactDesign { mass: 0.0, ..design }, "mass"),
            (ContactDesign { extent: f64::NAN, ..design }, "extent"),
            (ContactDesign { step: -1e-3, ..design }, "step"),
            (ContactDesign { base: Some(0.0), ..design }, "base"),
            (ContactDesign { points: 0, ..design }, "points"),
            (ContactDesign { speed: f64::INFINITY, ..design }, "speed"),
            (ContactDesign { restitution: 0.0, ..design }, "restitution"),
            (ContactDesign { restitution: 1.1, ..design }, "restitution"),
            // Elastic, it would bounce for ever.
            (ContactDesign { restitution: 1.0, ..design }, "restitution"),
            (ContactDesign { mu_static: 0.4, ..design }, "mu_kinetic"),
            (ContactDesign { mu_kinetic: -0.1, ..design }, "mu_kinetic"),
            (ContactDesign { gravity: 0.0, ..design }, "gravity"),
            (ContactDesign { step: 1.0 / 60.0, ..design }, "step"),
        ] {
            let error = broken.validate().expect_err(name);
            assert_eq!(error.name.strip_prefix("contact_design."), Some(name), "{error}");
            // An elastic contact has a longest step, and so has every step.
            let has_longest = name == "step" || broken.restitution == 1.0;
            assert_eq!(broken.longest_step().is_ok(), has_longest, "{name}");
        }
        let longest_step = |design: ContactDesign| design.longest_step().expect("valid");
        let longest = ContactDesign { step: longest_step(design), ..design };
        assert_eq!(longest.validate(), Ok(()));
        let longer = ContactDesign { step: longest_step(design) * 1.001, ..design };
        assert!(longer.validate().is_err());
    }

    #[test]
    fn a_step_that_is_too_long_is_refused_with_what_makes_it_longer() {
        let design = ContactDesign::new(1.0, 0.1, 1e-3);
        let large = ContactDesign { extent: 100.0, ..design };
        let flat = ContactDesign { mu_static: 0.1, mu_kinetic: 0.1, restitution: 0.8, speed: 0.3, ..design };
        let mut hints = std::collections::HashSet::new();
        for (design, longer) in [
            // A larger body does not help a gentle impact, and more restitution or speed does.
            (large, ContactDesign { restitution: 0.4, ..large }),
            (large, ContactDesign { speed: 2.0, ..large }),
            (ContactDesign { speed: 8.0, ..design }, ContactDesign { speed: 4.0, ..design }),
            (flat, ContactDesign { extent: 0.2, ..flat }),
            (
                ContactDesign { mu_static: 5.0, restitution: 0.5, ..design },
                ContactDesign { mu_static: 4.0, restitution: 0.5, ..design },
            ),
        ] {
            let step = design.longest_step().expect("valid");
            assert!(longer.longest_step().expect("valid") > 1.1 * step, "{longer:?}");
            let refused = ContactDesign { step: 1.01 * step, ..design }.validate();
            hints.insert(refused.expect_err("longer").requirement);
        }
        assert_eq!(hints.len(), 4, "{hints:?}");
        // To the digits that the page gives.
        for (speed, longest) in [(1.0, 5.2e-3), (0.25, 1.3e-3)] {
            for extent in [10.0, 1e3] {
                let step = ContactDesign { extent, speed, ..design }.longest_step().expect("valid");
                assert!((step - longest).abs() < 5e-5, "{speed} {extent}: {step}");
            }
        }
    }
}
