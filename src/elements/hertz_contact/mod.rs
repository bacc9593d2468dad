//! A ball against a ball or a half-space, after Hertz.

mod linearize;
mod variables;

use nalgebra::{Point3, Vector3};

pub use variables::{Dynamics, Parameters, Position, Velocity};

use crate::elements::Refusal;
use crate::elements::errors::check_ends;
use crate::elements::frames::check_bodies;
use crate::framework::variables::Variables as _;
use crate::framework::{
    AtDynamics, AtPosition, AtVelocity, Blocks, ElementError, ElementResult, Error, ForceElement, Given,
    Meaning, Pen, Stiffnesses,
};
use crate::math::{InvalidValue, Pose, Real, check};
use crate::mechanics::{
    BodyIndex, Checked, ForceAccumulator, Frame, KinematicsError, Positions, Quantity, Station, Topology,
};
use crate::shapes::direction_and_length;

/// Contact of a ball with another ball or with a half-space, as elastic bodies after Hertz, with the dissipation of Hunt
/// and Crossley and friction after Hollars.
///
/// ```text
///       ,--~~--.
///      (    C ──)── B        ball of radius R₁
///       `-.__.-'
///     ════ P ════  ↑ n       δ: overlap of the undeformed surfaces
///      half-space, or ball of radius R₂
/// ```
///
#[doc = include_str!("../../../docs/sketches/hertz_contact.svg")]
///
/// # Law
///
/// ```text
/// f_e = 4/3 E* √R δ^{3/2}
/// f_n = f_e (1 + 3/2 c v)                                        or zero, if that is negative
/// f_t = f_n [ min(v_s/v_t, 1) (μ_d + 2(μ_s − μ_d)/(1 + (v_s/v_t)²)) + μ_v v_s ]
/// ```
///
/// | symbol | meaning | unit | range |
/// |---|---|---|---|
/// | `E*` | [`effective_modulus`](Parameters::effective_modulus): `1/E* = (1 − ν₁²)/E₁ + (1 − ν₂²)/E₂` | Pa | ≥ 0 |
/// | `R` | `1/R = 1/R₁ + 1/R₂`; of a ball on a half-space its radius | m | > 0 |
/// | `c` | [`dissipation`](Parameters::dissipation) | s/m | ≥ 0 |
/// | `μ_s`, `μ_d` | [static](Parameters::static_friction), [dynamic](Parameters::dynamic_friction) friction | | 0 ≤ μ_d ≤ μ_s |
/// | `μ_v` | [viscous friction](Parameters::viscous_friction) | s/m | ≥ 0 |
/// | `v_t` | [transition velocity](Parameters::transition_velocity) | m/s | > 0 |
/// | `δ`, `v` | [depth](Position::depth), its rate | m, m/s | δ > 0 |
/// | `v_s` | slip speed at the contact point | m/s | |
///
/// The forces act at the point P half-way between the undeformed surfaces, on the line through the center C along the
/// normal. The contact is a disc of radius `a = √(R δ)`, with a pressure of up to `3 f_n/(2π a²)` in its middle.
///
/// # Impact
///
/// If bodies of reduced mass `m` meet at speed `v` without rotating,
///
/// - they reach the depth `δ = (15 m v²/(16 E* √R))^{2/5}` and part after `2.943 δ/v`, without dissipation;
/// - they rebound at `e v`, for all masses, radii and moduli, where `e` solves `y (1 + e) = ln((1 + y)/(1 − y e))` with
///   `y = 3 c v/2`. For small `y` that is about `1 − c v`: `c` is the slope of the coefficient of restitution over speed
///   that Hunt and Crossley call α.
///
/// # Energy
///
/// Stored: `2/5 f_e δ`. Lost: `(f_n − f_e) v + f_t v_s`, known instantaneously and never negative. While the bodies push
/// each other, the first part is `3/2 c f_e v²`. When they let go (`f_n` is zero while `δ > 0`), the energy that they
/// release is lost.
///
/// # Notes
///
/// - The theory of Hertz is for contacts much smaller than the radii, without friction, and for motions slower than the
///   elastic waves that cross the bodies. This is not checked: a ball whose center is below the surface is still pushed.
/// - Two balls may meet and part within one step: see [`passing_time`](crate::ForceSystem::passing_time).
/// - There is no adhesion: bodies that part never pull at each other, however fast they are.
/// - Friction only opposes slip at the contact point. There is no stiction, as in an
///   [`ElasticFoundation`](crate::ElasticFoundation) without anchors, and no resistance to spinning or rolling.
/// - Forces and their slopes are continuous, except at the transition velocity and where bodies that part quickly let go.
///
/// # Errors of an evaluation
///
/// [`CentersCoincide`](crate::Refusal::CentersCoincide) if the centers of two balls coincide, so that the normal is not
/// defined, by [`Error::own`]; [`ElementError::NonFiniteForce`] if a force, an energy, or the square of a slip speed or
/// of its ratio to `v_t` is not finite; [`KinematicsError::NonFinite`] if a position is not finite.
///
/// # Linearization
///
/// Exact, by motion and all parameters.
///
/// | branch | margin | unit |
/// |---|---|---|
/// | `in contact`, `apart` | the depth or the gap | m |
/// | in contact: `pressing`; `let go` while the bodies part so fast that there is no force | of the depth's rate from `−2/(3c)` | m/s |
/// | `below transition`, `beyond transition` | of the slip speed from `v_t` | m/s |
///
/// # Source
///
/// H. Hertz, *Über die Berührung fester elastischer Körper*, Journal für die reine und angewandte Mathematik 92 (1882)
/// 156–171; K. L. Johnson, *Contact Mechanics* (1985), sections 4.2 and 11.4. Dissipation: K. H. Hunt, F. R. E. Crossley,
/// *Coefficient of restitution interpreted as damping in vibroimpact*, Journal of Applied Mechanics 42 (1975) 440–445.
/// Friction: M. G. Hollars' model, as in [`ElasticFoundation`](crate::ElasticFoundation).
///
/// # Example: a steel ball at rest on a steel plate
///
/// ```
/// use force_elements::hertz_contact::Parameters;
/// use force_elements::{ForceSystem, Frame, HertzContact, Pose, Station, nalgebra::Point3};
///
/// let mut system = ForceSystem::<f64>::new();
/// let body = system.add_body();
/// let steel = [210e9, 0.3];
/// let parameters = Parameters::of_elastic(steel, steel)?.with_friction(0.2, 0.15, 0.0);
/// // The plate fills z < 0.
/// let plate = Frame::ground(Pose::identity());
/// let ball = (Station::on(body, Point3::origin()), 0.01);
/// let contact = system.add(HertzContact::on_half_space(plate, ball, parameters)?)?;
///
/// let mut state = system.default_state();
/// state.set_pose(body, Pose::translation(0.0, 0.0, 0.01 - 1e-6))?;
/// let dynamics = system.realize_dynamics(&mut state)?;
/// let at = dynamics.of(contact);
/// // A micrometre bears 15 N, on a disc of a tenth of a millimetre, at 0.73 GPa.
/// assert!((at.dynamics.normal_force - 15.4).abs() < 0.05);
/// assert!((at.position.contact_radius - 1e-4).abs() < 1e-9);
/// assert!((at.dynamics.peak_pressure - 0.7346e9).abs() < 1e6);
/// # Ok::<(), force_elements::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct HertzContact<T: Real> {
    /// The frame of the half-space; of another ball one at its center, and its radius.
    surface: (Frame<T>, Option<T>),
    ball: (Station<T>, T),
    /// `R`.
    effective_radius: T,
    parameters: Parameters<T>,
}

impl<T: Real> HertzContact<T> {
    /// A contact of a ball, given by its center and radius \[m\], with the half-space below the x-y plane of a frame.
    ///
    /// # Errors
    /// [`Error::Element`] with [`ElementError::SameEnds`] if both are on the same body, or with
    /// [`ElementError::InvalidValue`] for a pose or center that is not finite, a pose whose rotation is not orthonormal, a
    /// radius that is not of a [`Size`](crate::Requirement::Size), parameters out of range, or an effective modulus of zero,
    /// with which there is no contact. In a state it may be zero.
    pub fn on_half_space(
        half_space: Frame<T>,
        ball: (Station<T>, T),
        parameters: Parameters<T>,
    ) -> Result<Self, Error> {
        Self::new((half_space, None), ball, parameters)
    }

    /// A contact of a ball with another one, each given by its center and radius \[m\].
    ///
    /// # Errors
    /// As [`on_half_space`](Self::on_half_space).
    pub fn on_ball(
        (center, radius): (Station<T>, T),
        ball: (Station<T>, T),
        parameters: Parameters<T>,
    ) -> Result<Self, Error> {
        let p_B = center.p_B;
        let frame = Frame::on(center.body, Pose::translation(p_B.x, p_B.y, p_B.z));
        Self::new((frame, Some(radius)), ball, parameters)
    }

    fn new(
        surface: (Frame<T>, Option<T>),
        ball: (Station<T>, T),
        parameters: Parameters<T>,
    ) -> Result<Self, Error> {
        let ((frame, other), (center, radius)) = (&surface, &ball);
        check_ends(Self::KIND, [frame.body, center.body])?;
        let valid = || {
            if let Some(other) = other {
                check::finite_vector("surface.center", &frame.X_BF.translation.vector)?;
                check::size("surface.radius", *other)?;
            } else {
                check::pose("surface.X_BF", &frame.X_BF)?;
            }
            check::finite_vector("ball.center", &center.p_B.coords)?;
            check::size("ball.radius", *radius)?;
            parameters.validate()?;
            check::positive("effective_modulus", parameters.effective_modulus)
        };
        valid().map_err(|error: InvalidValue| Error::of_new(Self::KIND, error))?;
        // No product of radii overflows, since their fourth powers do not.
        let effective_radius = other.map_or(*radius, |other| *radius * other / (*radius + other));
        Ok(Self { surface, ball, effective_radius, parameters })
    }

    /// What the ball touches: the frame of the half-space; or a frame at the center of the other ball, and its radius.
    pub fn surface(&self) -> &(Frame<T>, Option<T>) {
        &self.surface
    }

    /// The center of the ball, and its radius \[m\].
    pub fn ball(&self) -> &(Station<T>, T) {
        &self.ball
    }

    /// The effective radius `R` \[m\].
    pub fn effective_radius(&self) -> T {
        self.effective_radius
    }

    /// The same contact in another scalar.
    ///
    /// # Errors
    /// Those of [`on_half_space`](Self::on_half_space), where the other scalar has a smaller range.
    pub fn cast<U: Real>(&self) -> Result<HertzContact<U>, Error> {
        let ((frame, other), (center, radius)) = (&self.surface, &self.ball);
        let surface = (frame.cast(), other.map(T::cast));
        HertzContact::new(surface, (center.cast(), radius.cast()), self.parameters.cast())
    }

    /// The bodies of the ball and of the surface.
    fn bodies(&self) -> [BodyIndex; 2] {
        [self.ball.0.body, self.surface.0.body]
    }

    /// The normal of the surface towards the ball, and the distance of the ball's center from the surface.
    fn normal_and_height(
        &self,
        positions: &Positions<T>,
        p_GC: &Point3<T>,
    ) -> ElementResult<(Vector3<T>, T)> {
        let (frame, other) = &self.surface;
        let X_GB = positions.pose(Checked(frame.body));
        if let Some(other) = other {
            let apart = p_GC - X_GB * Point3::from(frame.X_BF.translation.vector);
            let (normal_G, distance) =
                direction_and_length(&apart).ok_or_else(|| ElementError::own(Refusal::CentersCoincide))?;
            Ok((normal_G, distance - *other))
        } else {
            let X_GF = X_GB * frame.X_BF;
            let normal_G = X_GF.rotation.matrix().column(2).into_owned();
            Ok((normal_G, normal_G.dot(&(p_GC.coords - X_GF.translation.vector))))
        }
    }
}

impl<T: Real> ForceElement<T> for HertzContact<T> {
    const KIND: &'static str = "hertz_contact";
    type Parameters = Parameters<T>;
    type Discrete = ();
    type Continuous = ();
    type Position = Position<T>;
    type Velocity = Velocity<T>;
    type Dynamics = Dynamics<T>;

    fn check_topology(&self, topology: &Topology) -> ElementResult {
        check_bodies(self.bodies(), topology)
    }

    fn default_parameters(&self) -> Parameters<T> {
        self.parameters
    }

    fn calc_position(&self, given: &Given<'_, T, Self>, cache: &mut Position<T>) -> ElementResult {
        let (Station { body, p_B }, radius) = self.ball;
        let p_GC = given.positions.pose(Checked(body)) * p_B;
        let (normal_G, height) = self.normal_and_height(given.positions, &p_GC)?;
        let depth = radius - height;
        // The product of finite poses may overflow, and comparisons would then report no contact.
        if !depth.is_finite() {
            return Err(KinematicsError::NonFinite { quantity: Quantity::Pose(body) }.into());
        }
        let touches = depth > T::zero();
        // The root of a constant has no derivative that could be infinite, unlike that of a depth of zero.
        let contact_radius = if touches { (self.effective_radius * depth).sqrt() } else { T::zero() };
        let elastic_force =
            if touches { given.parameters.elastic_force(contact_radius, depth) } else { T::zero() };
        *cache = Position {
            normal_G,
            point_G: p_GC - normal_G * (radius - depth * T::lit(0.5)),
            depth,
            contact_radius,
            elastic_force,
            potential_energy: elastic_force * depth * T::lit(0.4),
        };
        Ok(())
    }

    fn calc_velocity(&self, at: &AtPosition<'_, T, Self>, cache: &mut Velocity<T>) -> ElementResult {
        let Position { normal_G, point_G, .. } = at.position;
        let [v_ball, v_surface] =
            self.bodies().map(|body| at.velocities.velocity_of_point(at.positions, Checked(body), point_G));
        let v = v_ball - v_surface;
        let depth_rate = -normal_G.dot(&v);
        *cache = Velocity { depth_rate, slip_G: v + normal_G * depth_rate };
        Ok(())
    }

    fn calc_dynamics(&self, at: &AtVelocity<'_, T, Self>, cache: &mut Dynamics<T>) -> ElementResult {
        let Position { depth, contact_radius, elastic_force, .. } = *at.position;
        let Velocity { depth_rate, slip_G } = at.velocity;
        if depth <= T::zero() {
            *cache = Dynamics::default();
            return Ok(());
        }
        let law = at.parameters.contact_law();
        let factor = law.normal_factor(*depth_rate);
        let normal_force = elastic_force * factor;
        let (friction_force_G, rubbing_power) = law.friction(normal_force, slip_G);
        let modulus = at.parameters.effective_modulus * T::lit(core::f64::consts::FRAC_2_PI);
        *cache = Dynamics {
            normal_force,
            friction_force_G,
            peak_pressure: modulus * contact_radius / self.effective_radius * factor,
            power_dissipated: (normal_force - elastic_force) * *depth_rate + rubbing_power,
        };
        Ok(())
    }

    fn add_forces(&self, at: &AtDynamics<'_, T, Self>, forces: &mut ForceAccumulator<'_, T>) {
        let Position { normal_G, point_G, .. } = at.position;
        let force_G = normal_G * at.dynamics.normal_force + at.dynamics.friction_force_G;
        for (body, force_G) in self.bodies().into_iter().zip([force_G, -force_G]) {
            forces.apply_at_point(Checked(body), point_G, force_G);
        }
    }

    fn draw(&self, at: &AtDynamics<'_, T, Self>, pen: &mut Pen<'_>) {
        let Position { normal_G, point_G, depth, contact_radius, .. } = at.position;
        if *depth <= T::zero() {
            return pen.point(Meaning::Station, -*depth, point_G);
        }
        let across = normal_G.cross(&Vector3::ith(normal_G.iamin(), T::one())).normalize() * *contact_radius;
        let rim = |k: u8| {
            let (sine, cosine) = T::lit(f64::from(k) * core::f64::consts::TAU / 24.0).sin_cos();
            point_G + across * cosine + normal_G.cross(&across) * sine
        };
        for k in 0..24 {
            pen.line(Meaning::Face, at.dynamics.peak_pressure, &rim(k), &rim(k + 1));
        }
        let f_G = normal_G * at.dynamics.normal_force + at.dynamics.friction_force_G;
        for (body, f_G) in self.bodies().into_iter().zip([f_G, -f_G]) {
            pen.force(body, point_G, &f_G);
        }
    }

    fn report_stiffness(&self, at: &AtDynamics<'_, T, Self>, stiffnesses: &mut Stiffnesses<'_, T>) {
        self.report_contact(at, stiffnesses);
    }

    fn passing_time(&self, at: &AtDynamics<'_, T, Self>, _: f64) -> f64 {
        let ((frame, Some(other)), (center, radius)) = (&self.surface, &self.ball) else {
            return f64::INFINITY;
        };
        if at.position.depth > T::zero() {
            return f64::INFINITY;
        }
        let other_center = Station::on(frame.body, frame.X_BF.translation.vector.into());
        let velocity = |body, p_G| at.velocities.velocity_of_point(at.positions, Checked(body), &p_G);
        let centers = [center, &other_center].map(|of| at.positions.pose(Checked(of.body)) * of.p_B);
        let v_ball = velocity(center.body, centers[0]);
        // As seen from Ground, or from the body of the other ball, with which this one may turn.
        let speed = centers.map(|p_G| (v_ball - velocity(frame.body, p_G)).norm());
        let dip = (*radius + *other) * T::lit(0.5);
        ((dip - at.position.depth) / speed[0].min(speed[1])).to_f64()
    }

    fn report_gaps(&self, at: &AtDynamics<'_, T, Self>, report: &mut dyn FnMut([T; 2])) {
        report([-at.position.depth, -at.velocity.depth_rate]);
    }

    fn linearize(&self, at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
        Self::state_branches(at, blocks);
        self.linearize_by_motion(at, blocks);
    }

    fn linearize_variables(&self, at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
        self.linearize_by_parameters(at, blocks);
    }

    /// There is no memory.
    fn linearize_commit(&self, _: &AtDynamics<'_, T, Self>, _: &mut Blocks<'_, T>) {}
}
