//! Elements that follow from laws written over any number.

use std::collections::BTreeMap;
use std::fmt;

use force_elements::laws::{AlongLine, BetweenFrames, Law, OnCoordinates, Outcome, Pull, Relative, Stretch};
use force_elements::linear_bushing::Parameters as Axes;
use force_elements::nalgebra::{Matrix3, Rotation3, Vector3, Vector6};
use force_elements::testing::{self, Numbers, Scene, Subject, Violation};
use force_elements::{
    BodyIndex, Casts, CoordinateIndex, CoordinatePair, ElementError, Error, ForceElement, ForceSystem, Frame,
    Handle, Inertias, LinearBushing, Linearization, Number, Pose, Real, Scope, SpatialVelocity, Stage, State,
    StepMethod, variables,
};
use force_elements_scenes::gimbal::Gimbal;
use force_elements_scenes::linearized::{Columns, Course, Exact, Instant, Kind, columns};
use force_elements_scenes::seeds;
use num_dual::Dual64;

variables! {
    /// Of a spring whose anchor is dragged along.
    #[derive(Copy, Lift)]
    struct Drag<T> {
        stiffness: T ["N/m"] = 300.0, nonnegative => Dynamics;
        reach: T ["m"] = 0.1, positive => Dynamics;
    }
}

variables! {
    /// The anchor in F, and what is recorded of the motion.
    #[derive(Copy, Lift)]
    struct Anchor<T> {
        held_at: Vector3<T> ["m"], finite => Dynamics;
        heading: T ["rad"], finite => Dynamics;
        swirl: T ["m·rad/s²"], finite => Dynamics;
        time: T ["s"], finite => Dynamics;
    }
}

#[derive(Debug, Clone)]
struct Dragged;

impl Dragged {
    fn stretch<S: Number>(m: &Anchor<S>, at: &Relative<S>) -> (Vector3<S>, S) {
        let d = at.p_FM - m.held_at;
        (d, (d.x * d.x + d.y * d.y + d.z * d.z).sqrt())
    }
}

impl<T: Real> Law<T, Relative<T>> for Dragged {
    const KIND: &'static str = "dragged";
    type Parameters = Drag<T>;
    type Memory = Anchor<T>;

    fn evaluate<S: Number<Scalar = T>>(
        &self,
        p: &Drag<S>,
        m: &Anchor<S>,
        at: &Relative<S>,
    ) -> Result<Outcome<S>, ElementError> {
        let (stretch, length) = Self::stretch(m, at);
        if length.value() > T::lit(10.0) {
            return Err(ElementError::own(Torn));
        }
        // A spring with a limit of force, along its stretch.
        let pull = length.min(p.reach);
        let held = if length > p.reach { p.reach / length } else { S::lit(1.0) };
        Ok(Outcome {
            force: stretch.map(|x| -p.stiffness * x * held),
            potential_energy: p.stiffness * pull * (length - S::lit(0.5) * pull),
            ..Outcome::zero()
        })
    }

    fn commit<S: Number<Scalar = T>>(
        &self,
        p: &Drag<S>,
        m: &Anchor<S>,
        at: &Relative<S>,
    ) -> Result<Anchor<S>, ElementError> {
        let (stretch, length) = Self::stretch(m, at);
        let share = if length > p.reach { (length - p.reach) / length } else { S::zero() };
        Ok(Anchor {
            held_at: m.held_at + stretch.map(|x| x * share),
            heading: at.R_FM[(1, 0)].atan2(at.R_FM[(0, 0)]) + at.p_FM.x * at.R_FM[(1, 2)],
            swirl: at.v_FM.x * at.w_FM.z + at.v_FM.y * at.w_FM.x + m.swirl,
            time: at.time,
        })
    }

    fn begin<S: Number<Scalar = T>>(&self, _: &Drag<S>, at: &Relative<S>) -> Result<Anchor<S>, ElementError> {
        Ok(Anchor { held_at: at.p_FM, time: at.time, heading: S::zero(), swirl: S::zero() })
    }
}

#[derive(Debug, PartialEq)]
struct Torn;

impl fmt::Display for Torn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("torn")
    }
}

impl std::error::Error for Torn {}

variables! {
    /// Of the oil in a strut.
    #[derive(Copy, Lift)]
    struct Oil<T> {
        damping: T ["N·s/m"] = 60.0, nonnegative => Dynamics;
        /// Where it leaks.
        leak: Option<T> ["s/m"], nonnegative => Dynamics;
    }
}

variables! {
    /// Of a strut, with a struct between its numbers.
    #[derive(Copy, Lift)]
    struct Rod<T> {
        stiffness: T ["N/m"] = 4e3, nonnegative => Dynamics;
        length: T ["m"] = 0.8, positive => Dynamics;
        oil: Oil<T> => Dynamics;
        exponent: T = 1.5, positive => Dynamics;
    }
}

/// A strut that is pushed only, with a power law.
#[derive(Debug, Clone)]
struct Strut;

impl<T: Real> Law<T, Stretch<T>> for Strut {
    const KIND: &'static str = "strut";
    type Parameters = Rod<T>;
    type Memory = ();

    fn evaluate<S: Number<Scalar = T>>(
        &self,
        p: &Rod<S>,
        (): &(),
        at: &Stretch<S>,
    ) -> Result<Pull<S>, ElementError> {
        let depth = (p.length - at.length) / p.length;
        if depth.value() <= T::zero() {
            return Ok(Pull::zero());
        }
        let elastic = p.stiffness * p.length * depth.powd(p.exponent);
        let leak = p.oil.leak.map_or(S::lit(1.0), |leak| (-(leak * at.rate).abs()).exp());
        let resistance = p.oil.damping * leak * depth * at.rate;
        Ok(Pull {
            tension: resistance - elastic,
            potential_energy: elastic * depth * p.length / (p.exponent + S::lit(1.0)),
            power_dissipated: resistance * at.rate,
            ..Pull::zero()
        })
    }
}

variables! {
    /// Where a clutch sticks, and what is recorded of the motion.
    #[derive(Copy, Lift)]
    struct Stuck<T> {
        at: T ["m"], finite => Dynamics;
        wear: T ["J"], finite => Dynamics;
        time: T ["s"], finite => Dynamics;
    }
}

/// A clutch whose anchor is dragged along.
#[derive(Debug, Clone)]
struct Clutch;

impl Clutch {
    /// The elastic part of the displacement.
    fn bend<S: Number>(p: &Drag<S>, m: &Stuck<S>, at: &Stretch<S>) -> S {
        (at.length - m.at).min(p.reach).max(-p.reach)
    }
}

impl<T: Real> Law<T, Stretch<T>> for Clutch {
    const KIND: &'static str = "clutch";
    type Parameters = Drag<T>;
    type Memory = Stuck<T>;

    fn evaluate<S: Number<Scalar = T>>(
        &self,
        p: &Drag<S>,
        m: &Stuck<S>,
        at: &Stretch<S>,
    ) -> Result<Pull<S>, ElementError> {
        let bend = Self::bend(p, m, at);
        let tension = p.stiffness * bend;
        let potential_energy = tension * (at.length - m.at - S::lit(0.5) * bend);
        Ok(Pull { tension, potential_energy, ..Pull::zero() })
    }

    fn commit<S: Number<Scalar = T>>(
        &self,
        p: &Drag<S>,
        m: &Stuck<S>,
        at: &Stretch<S>,
    ) -> Result<Stuck<S>, ElementError> {
        let bend = Self::bend(p, m, at);
        let slip = at.length - m.at - bend;
        Ok(Stuck {
            at: at.length - bend,
            wear: m.wear + p.stiffness * bend * slip + at.rate * at.rate,
            time: at.time,
        })
    }

    fn begin<S: Number<Scalar = T>>(&self, _: &Drag<S>, at: &Stretch<S>) -> Result<Stuck<S>, ElementError> {
        Ok(Stuck { at: at.length, time: at.time, wear: S::zero() })
    }
}

/// Parameters of a strut, which leaks or does not.
fn strut<T: Real>(deal: &mut Numbers) -> Rod<T> {
    let leak = (deal.between::<f64>(0.0, 1.0) > 0.5).then(|| deal.between(0.1, 0.5));
    Rod { oil: Oil { leak, ..Oil::default() }, exponent: deal.between(1.1, 2.5), ..Rod::default() }
}

/// Two bodies with an element between frames on them.
fn between<T: Real, E: ForceElement<T>>(
    deal: &mut Numbers,
    make: impl FnOnce(&mut Numbers, Frame<T>, Frame<T>) -> Result<E, Error>,
) -> Result<Scene<T, E>, Error> {
    let mut system = ForceSystem::new();
    let (body1, body2) = (system.add_body(), system.add_body());
    let (X_B1F, X_B2M) = (deal.pose(1.5, 0.4), deal.pose(1.5, 0.4));
    let element = system.add(make(deal, Frame::on(body1, X_B1F), Frame::on(body2, X_B2M))?)?;
    let X_GB1: Pose<T> = deal.pose(1.5, 1.0);
    // Far from the singular middle angle of a gimbal.
    let X_FM = deal.pose(0.6, 0.3);
    let mut state = system.default_state();
    state.set_body(body1, X_GB1, deal.velocity(2.0))?;
    state.set_body(body2, X_GB1 * X_B1F * X_FM * X_B2M.inverse(), deal.velocity(2.0))?;
    Ok(Scene { system, state, element })
}

fn axes<T: Real>(deal: &mut Numbers) -> Axes<T> {
    let stiffness = Vector6::from_fn(|_, _| deal.between(1.0, 500.0));
    Axes { stiffness, damping: Vector6::from_fn(|_, _| deal.between(0.1, 20.0)) }
}

struct AnyGimbal;
struct AnyDragged;
struct AnyStrut;

impl Subject for AnyGimbal {
    type Element<T: Real> = BetweenFrames<T, Gimbal>;
    fn scene<T: Real>(deal: &mut Numbers) -> Result<Scene<T, Self::Element<T>>, Error> {
        between(deal, |deal, F, M| BetweenFrames::new(Gimbal, F, M, axes(deal)))
    }
}

impl Subject for AnyDragged {
    type Element<T: Real> = BetweenFrames<T, Dragged>;
    fn scene<T: Real>(deal: &mut Numbers) -> Result<Scene<T, Self::Element<T>>, Error> {
        let mut scene = between(deal, |deal, F, M| {
            let parameters = Drag { stiffness: deal.between(50.0, 500.0), reach: deal.between(0.05, 0.6) };
            BetweenFrames::new(Dragged, F, M, parameters)
        })?;
        let Scene { system, state, element } = &mut scene;
        let anchor = Vector3::from_fn(|_, _| deal.between(-0.3, 0.3));
        system.update_discrete(state, *element, |memory| memory.held_at = anchor)?;
        Ok(scene)
    }
}

impl Subject for AnyStrut {
    type Element<T: Real> = BetweenFrames<T, AlongLine<Strut>>;
    fn scene<T: Real>(deal: &mut Numbers) -> Result<Scene<T, Self::Element<T>>, Error> {
        between(deal, |deal, F, M| {
            let parameters = strut(deal);
            BetweenFrames::new(AlongLine(Strut), F, M, parameters)
        })
    }
}

/// Two coordinates, or one, with a law on them, at a displacement between these.
fn on_coordinates<T: Real, L: Law<T, Stretch<T>>>(
    deal: &mut Numbers,
    law: L,
    parameters: L::Parameters,
    [least, most]: [f64; 2],
) -> Result<Scene<T, OnCoordinates<T, L>>, Error> {
    let mut system = ForceSystem::new();
    let (first, second) = (system.add_coordinate(), system.add_coordinate());
    let is_pair = deal.between::<f64>(0.0, 1.0) > 0.5;
    let pair = if is_pair { CoordinatePair::between(first, second) } else { CoordinatePair::on(second) };
    let factors: [T; 2] = [deal.between(0.5, 2.0), deal.between(-2.0, -0.5)];
    let element = system.add(OnCoordinates::new(law, pair, parameters)?.with_factors(factors)?)?;
    let mut state = system.default_state();
    let q0: T = deal.between(-1.0, 1.0);
    let begin = if is_pair { factors[0] * q0 } else { T::zero() };
    state.set_coordinate(first, q0)?;
    state.set_coordinate(second, (deal.between::<T>(least, most) + begin) / factors[1])?;
    state.set_coordinate_rate(first, deal.between(-2.0, 2.0))?;
    state.set_coordinate_rate(second, deal.between(-2.0, 2.0))?;
    Ok(Scene { system, state, element })
}

struct AnyBuffer;
struct AnyClutch;

impl Subject for AnyBuffer {
    type Element<T: Real> = OnCoordinates<T, Strut>;
    fn scene<T: Real>(deal: &mut Numbers) -> Result<Scene<T, Self::Element<T>>, Error> {
        let parameters = strut(deal);
        on_coordinates(deal, Strut, parameters, [0.1, 0.75])
    }
}

impl Subject for AnyClutch {
    type Element<T: Real> = OnCoordinates<T, Clutch>;
    fn scene<T: Real>(deal: &mut Numbers) -> Result<Scene<T, Self::Element<T>>, Error> {
        let parameters = Drag { stiffness: deal.between(50.0, 500.0), reach: deal.between(0.05, 0.6) };
        let mut scene = on_coordinates(deal, Clutch, parameters, [-1.0, 1.0])?;
        let Scene { system, state, element } = &mut scene;
        let stuck_at = deal.between(-0.3, 0.3);
        system.update_discrete(state, *element, |memory| memory.at = stuck_at)?;
        Ok(scene)
    }
}

impl Kind for AnyBuffer {
    const NAME: &'static str = "buffer";
    fn marks(_: u64, _: &Scene<f64, Self::Element<f64>>) -> Result<Vec<&'static str>, Error> {
        Ok(Vec::new())
    }
}

impl Kind for AnyClutch {
    const NAME: &'static str = "clutch";
    fn marks(_: u64, _: &Scene<f64, Self::Element<f64>>) -> Result<Vec<&'static str>, Error> {
        Ok(Vec::new())
    }
}

impl Kind for AnyGimbal {
    const NAME: &'static str = "gimbal";
    fn marks(_: u64, _: &Scene<f64, Self::Element<f64>>) -> Result<Vec<&'static str>, Error> {
        Ok(Vec::new())
    }
}

impl Kind for AnyDragged {
    const NAME: &'static str = "dragged";
    fn marks(_: u64, _: &Scene<f64, Self::Element<f64>>) -> Result<Vec<&'static str>, Error> {
        Ok(Vec::new())
    }
}

impl Kind for AnyStrut {
    const NAME: &'static str = "strut";
    fn marks(_: u64, _: &Scene<f64, Self::Element<f64>>) -> Result<Vec<&'static str>, Error> {
        Ok(Vec::new())
    }
}

#[test]
fn a_law_has_the_contract_of_an_element() {
    let seeds = || 0..seeds(100);
    assert_eq!(testing::contract::<Exact<AnyGimbal>>(seeds()), Ok(()));
    assert_eq!(testing::contract::<Exact<AnyStrut>>(seeds()), Ok(()));
    assert_eq!(testing::contract::<Exact<AnyDragged>>(seeds()), Ok::<(), Violation>(()));
    assert_eq!(testing::contract::<Exact<AnyBuffer>>(seeds()), Ok(()));
    assert_eq!(testing::contract::<Exact<AnyClutch>>(seeds()), Ok(()));
}

/// Forces on all bodies, the energy stored and the power dissipated.
fn forces<E: ForceElement<f64>>(Scene { system, state, .. }: &mut Scene<f64, E>) -> Vec<f64> {
    let dynamics = system.realize_dynamics(state).expect("regular");
    let mut numbers = vec![dynamics.potential_energy(), dynamics.power_dissipated()];
    for body in system.bodies() {
        let F = dynamics.body_force(body);
        numbers.extend(F.torque.iter().chain(&F.force));
    }
    numbers
}

/// A row or column, whatever the system.
fn name(of: &impl fmt::Debug) -> String {
    let name = format!("{of:?}");
    name.split("id").next().unwrap_or_default().to_owned()
}

/// All derivatives of an element that follow from its law, by row and column.
fn derivatives(
    linearization: &Linearization<f64>,
    element: Handle<impl ForceElement<f64>>,
) -> BTreeMap<String, Vec<f64>> {
    let mut sums = BTreeMap::<String, Vec<f64>>::new();
    for (row, column, numbers) in linearization.element(element).blocks() {
        let sum = sums
            .entry(format!("{} by {}", name(&row), name(&column)))
            .or_insert_with(|| vec![0.0; numbers.len()]);
        sum.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += number);
    }
    sums.retain(|_, numbers| numbers.iter().any(|&number| number != 0.0));
    sums
}

#[test]
fn forces_and_derivatives_are_those_of_the_bushing_that_has_them_by_hand() {
    for seed in 0..seeds(100) {
        let Ok(mut own) = AnyGimbal::scene::<f64>(&mut Numbers::new(seed)) else { panic!("regular") };
        let by_hand = between(&mut Numbers::new(seed), |deal, F, M| LinearBushing::new(F, M, axes(deal)));
        let mut by_hand = by_hand.expect("valid");
        let ours = forces(&mut own);
        let theirs = forces(&mut by_hand);
        let scale = theirs.iter().fold(1.0, |scale: f64, x| scale.max(x.abs()));
        // Some tens of roundings.
        assert!(ours.iter().zip(&theirs).all(|(a, b)| (a - b).abs() < 1e-13 * scale), "{ours:?} {theirs:?}");

        let scope = Scope { variables: true, commit: false };
        let (mut of_own, mut of_by_hand) = (Linearization::of(scope), Linearization::of(scope));
        own.system.linearize(&own.state, &mut of_own).expect("regular");
        by_hand.system.linearize(&by_hand.state, &mut of_by_hand).expect("regular");
        let element = of_own.element(own.element);
        assert_eq!([element.is_exact(), element.is_exact_by_variables()], [true; 2]);
        let (ours, theirs) = (derivatives(&of_own, own.element), derivatives(&of_by_hand, by_hand.element));
        assert_eq!(ours.keys().collect::<Vec<_>>(), theirs.keys().collect::<Vec<_>>());
        for ((name, a), b) in ours.iter().zip(theirs.values()) {
            let scale = b.iter().fold(1.0, |scale: f64, x| scale.max(x.abs()));
            assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-11 * scale), "{name}: {a:?} {b:?}");
        }
    }
}

/// All columns are those of one-sided differences, those of a commit too.
fn are_of_a_side<K: Kind>() {
    let mut all = Columns::default();
    for seed in 0..seeds(40) {
        for (instant, course) in [(Instant::Drawn, Course::Drawn), (Instant::Committed, Course::Back)] {
            if let Some(found) = columns::<K>(seed, instant, course) {
                all.add(found);
            }
        }
    }
    assert!(all.wrong.is_empty() && all.between_sides.is_empty(), "{all:#?}");
    assert!(all.right > 500 * seeds(10) && 100 * all.unresolved.len() as u64 <= all.right, "{all:#?}");
}

#[test]
fn derivatives_are_those_of_differences() {
    are_of_a_side::<AnyGimbal>();
    are_of_a_side::<AnyDragged>();
    are_of_a_side::<AnyStrut>();
    are_of_a_side::<AnyBuffer>();
    are_of_a_side::<AnyClutch>();
}

#[test]
fn what_a_law_refuses_is_the_error_of_the_element() {
    let mut scene = AnyDragged::scene::<f64>(&mut Numbers::new(3)).expect("valid");
    let body = scene.system.bodies().next().expect("there are two");
    scene.state.set_pose(body, Pose::translation(30.0, 0.0, 0.0)).expect("finite");
    let error = scene.system.realize_dynamics(&mut scene.state).expect_err("torn");
    assert_eq!(error.own::<Torn>(), Some(&Torn));
    assert_eq!(scene.state.stage(), Stage::Velocity);
}

#[test]
fn a_parameter_out_of_range_and_a_frame_on_the_same_body_are_refused() {
    let body = ForceSystem::<f64>::new().add_body();
    let wrong = Rod { length: 0.0, ..Rod::default() };
    let refused =
        BetweenFrames::new(AlongLine(Strut), Frame::ground(Pose::identity()), Frame::of(body), wrong);
    let error = refused.expect_err("no length");
    assert_eq!(error.invalid_value().map(|value| value.name), Some("length"));
    let refused =
        BetweenFrames::new(AlongLine(Strut), Frame::of(body), Frame::of(body), Rod::<f64>::default());
    assert!(refused.is_err());
}

#[test]
fn a_cast_law_goes_on_in_another_scalar() {
    let mut scene = AnyDragged::scene::<f64>(&mut Numbers::new(5)).expect("valid");
    scene.system.realize_dynamics(&mut scene.state).expect("regular");
    scene.system.accept_step(&mut scene.state).expect("regular");
    let mut casts = Casts::<f64, Dual64>::without_elements();
    casts.add(|law: &BetweenFrames<f64, Dragged>, _| Ok(law.cast::<Dual64>()));
    let duals = scene.system.cast_with(&casts).expect("known");
    let mut state: State<Dual64> = duals.cast_state(&scene.state).expect("fits");
    let body = BodyIndex::GROUND;
    let real = scene.system.realize_dynamics(&mut scene.state).expect("regular").body_force(body);
    let dual = duals.realize_dynamics(&mut state).expect("regular").body_force(body);
    assert_eq!(real.force, dual.force.map(|x| x.re));
    assert_eq!(real.torque, dual.torque.map(|x| x.re));
}

#[test]
fn length_rate_and_tension_along_the_line_are_results() {
    for seed in 0..20 {
        let Scene { system, mut state, .. } = AnyStrut::scene::<f64>(&mut Numbers::new(seed)).expect("valid");
        let [first, second] = [0, 1].map(|place| system.bodies().nth(place).expect("there are two"));
        let view = system.realize_dynamics(&mut state).expect("regular");
        let result = |name: &str| view.result(&format!("strut[0].{name}")).expect("listed");
        let point =
            |frame: &str| Vector3::from(["x", "y", "z"].map(|axis| result(&format!("{frame}.p.{axis}"))));
        let moving = |body, p_G: &Vector3<f64>| {
            let arm = p_G - view.positions().pose(body).translation.vector;
            view.velocities().velocity(body).shifted(arm).linear
        };
        let (p_GF, p_GM) = (point("X_GF"), point("X_GM"));
        let (direction, length) = ((p_GM - p_GF).normalize(), (p_GM - p_GF).norm());
        // Sums of a few numbers of the size of one, and of forces.
        let force = Vector3::from(["x", "y", "z"].map(|axis| result(&format!("F_GM.force.{axis}"))));
        assert!((result("length") - length).abs() < 1e-14);
        let rate = direction.dot(&(moving(second, &p_GM) - moving(first, &p_GF)));
        assert!((result("rate") - rate).abs() < 1e-13, "{} and {rate}", result("rate"));
        assert!((force + direction * result("tension")).norm() <= 1e-13 * force.norm());
    }
}

#[test]
fn points_that_meet_pull_nowhere_and_have_no_derivative() {
    fn force<T: Real>(p: Vector3<T>) -> Vector3<T> {
        let mut system = ForceSystem::<T>::new();
        let (body, floor) = (system.add_body(), Frame::ground(Pose::identity()));
        let strut = BetweenFrames::new(AlongLine(Strut), floor, Frame::of(body), Rod::default());
        system.add(strut.expect("valid")).expect("exists");
        let mut state = system.default_state();
        let velocity = SpatialVelocity::new(Vector3::z(), Vector3::x());
        state.set_body(body, Pose::from_parts(p.into(), Rotation3::identity()), velocity).expect("finite");
        let force = system.realize_dynamics(&mut state).expect("regular").body_force(body).force;
        system.linearize(&state, &mut Linearization::new()).expect("finite");
        force
    }
    assert_eq!(force(Vector3::<f64>::zeros()), Vector3::zeros());
    let moving = Vector3::new(Dual64::new(0.0, 1.0), Dual64::from(0.0), Dual64::from(0.0));
    assert_eq!(force(moving).map(|f| [f.re, f.eps]), Vector3::repeat([0.0; 2]));
}

#[test]
fn a_number_of_any_kind_has_the_functions_of_the_scalar() {
    fn all<S: Number<Scalar = f64>>(x: S, y: S) -> [S; 5] {
        [x.powd(y), x.sin(), y.cos(), x.atan2(y), (-x).atan2(-y)]
    }
    let (x, y) = (0.8_f64, 1.7_f64);
    let expected = [x.powf(y), x.sin(), y.cos(), x.atan2(y), (-x).atan2(-y)];
    assert_eq!(all(x, y), expected);
}

struct TwoKilograms;

impl Inertias for TwoKilograms {
    fn mass(&self, _: BodyIndex) -> f64 {
        2.0
    }
    fn inertia(&self, _: BodyIndex) -> Matrix3<f64> {
        Matrix3::from_diagonal_element(0.1)
    }
    fn coordinate_mass(&self, _: CoordinateIndex) -> f64 {
        f64::INFINITY
    }
}

#[test]
fn the_present_stiffness_bounds_a_step_and_is_said_not_to_be_all() {
    let mut system = ForceSystem::<f64>::new();
    let body = system.add_body();
    for (stiffness, frequency) in [
        (Vector6::new(0.0, 0.0, 0.0, 5e3, 1e3, 1e3), 50.0), // √(5000/2)
        (Vector6::new(10.0, 40.0, 10.0, 0.0, 0.0, 0.0), 20.0), // √(40/0.1)
    ] {
        let parameters = Axes { stiffness, ..Axes::default() };
        let law = BetweenFrames::new(Gimbal, Frame::ground(Pose::identity()), Frame::of(body), parameters);
        let element = system.add(law.expect("valid")).expect("exists");
        let mut state = system.default_state();
        system.realize_dynamics(&mut state).expect("regular");
        let step =
            system.stable_step(&state, &TwoKilograms, StepMethod::SymplecticEuler, 0.0).expect("at Dynamics");
        assert_eq!((step.element, step.unknown), (Some(element.id()), Some(element.id())));
        assert!((step.frequency - frequency).abs() < 0.03 * frequency, "{}", step.frequency);
        system.remove(element).expect("exists");
    }
}

#[test]
fn a_memory_that_is_reset_holds_what_is_there() {
    let mut scene = AnyDragged::scene::<f64>(&mut Numbers::new(7)).expect("valid");
    let Scene { system, state, element } = &mut scene;
    system.reset_memory(state, *element).expect("regular");
    let dynamics = system.realize_dynamics(state).expect("regular");
    let at = dynamics.of(*element);
    assert_eq!(at.discrete.held_at, at.position.X_FM.translation.vector);
    assert_eq!(at.dynamics.F_GM.force, Vector3::zeros());
}

/// A power law behind a gear between two coordinates, against its closed form.
#[test]
fn a_law_on_coordinates_acts_through_the_factors() {
    let mut system = ForceSystem::<f64>::new();
    let (q0, q1) = (system.add_coordinate(), system.add_coordinate());
    let law = |factors| {
        OnCoordinates::new(Strut, CoordinatePair::between(q0, q1), Rod::default())?.with_factors(factors)
    };
    let element = system.add(law([0.5, 2.0]).expect("finite")).expect("exists");
    let mut state = system.default_state();
    state.set_coordinate(q0, 0.4).expect("finite");
    state.set_coordinate(q1, 0.3).expect("finite");
    state.set_coordinate_rate(q1, 0.1).expect("finite");
    // q = 2·0.3 − 0.5·0.4 = 0.4, half of the length, and v = 0.2.
    let tension = 60.0 * 0.5 * 0.2 - 4e3 * 0.8 * 0.5_f64.powf(1.5);
    let dynamics = system.realize_dynamics(&mut state).expect("regular");
    // A few roundings.
    let is = |a: f64, b: f64| assert!((a - b).abs() < 1e-14 * b.abs(), "{a} {b}");
    is(dynamics.of(element).dynamics.tension, tension);
    is(dynamics.coordinate_force(q0), 0.5 * tension);
    is(dynamics.coordinate_force(q1), -2.0 * tension);
    is(dynamics.potential_energy(), 4e3 * 0.8 * 0.5_f64.powf(2.5) * 0.8 / 2.5);
    is(dynamics.result("strut[0].displacement").expect("known"), 0.4);
    assert_eq!(dynamics.result("strut[0].velocity").ok(), Some(0.2));

    assert!(law([f64::NAN, 1.0]).is_err());
    let same = OnCoordinates::new(Strut, CoordinatePair::between(q0, q0), Rod::<f64>::default());
    assert_eq!(same.expect_err("one").element_error(), Some(&ElementError::SameEnds));
}

struct TenKilograms;

impl Inertias for TenKilograms {
    fn mass(&self, _: BodyIndex) -> f64 {
        f64::INFINITY
    }
    fn inertia(&self, _: BodyIndex) -> Matrix3<f64> {
        Matrix3::from_diagonal_element(f64::INFINITY)
    }
    fn coordinate_mass(&self, _: CoordinateIndex) -> f64 {
        10.0
    }
}

#[test]
fn a_law_on_a_coordinate_bounds_a_step_and_goes_on_in_another_scalar() {
    let mut system = ForceSystem::<f64>::new();
    let q = system.add_coordinate();
    let clutch = OnCoordinates::new(Clutch, CoordinatePair::on(q), Drag::default()).expect("valid");
    let element = system.add(clutch.with_factors([1.0, 3.0]).expect("finite")).expect("exists");
    let mut state = system.default_state();
    system.realize_dynamics(&mut state).expect("regular");
    let step =
        system.stable_step(&state, &TenKilograms, StepMethod::SymplecticEuler, 0.0).expect("at Dynamics");
    // √(3²·300/10), and the law may be stiffer elsewhere.
    assert!((step.frequency - 270.0_f64.sqrt()).abs() < 1e-9, "{}", step.frequency);
    assert_eq!((step.element, step.unknown), (Some(element.id()), Some(element.id())));

    state.set_coordinate(q, 0.25).expect("finite");
    system.realize_dynamics(&mut state).expect("regular");
    system.accept_step(&mut state).expect("regular");
    let mut casts = Casts::<f64, Dual64>::without_elements();
    casts.add(|law: &OnCoordinates<f64, Clutch>, _| Ok(law.cast::<Dual64>()));
    let duals = system.cast_with(&casts).expect("known");
    let mut there: State<Dual64> = duals.cast_state(&state).expect("fits");
    let force = system.realize_dynamics(&mut state).expect("regular").coordinate_force(q);
    assert!((force + 3.0 * 300.0 * 0.1).abs() < 1e-12, "{force}");
    assert_eq!(duals.realize_dynamics(&mut there).expect("regular").coordinate_force(q).re, force);

    system.reset_memory(&mut state, element).expect("regular");
    assert_eq!(state.discrete(element).at, 0.75);
    assert_eq!(system.realize_dynamics(&mut state).expect("regular").coordinate_force(q), 0.0);
}
