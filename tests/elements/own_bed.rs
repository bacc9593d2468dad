//! A law at the springs of a bed, beside the foundation and closed forms.

use std::fmt;

use force_elements::elastic_foundation::{Material, Parameters};
use force_elements::laws::{Law, OnBed, Push, Touch};
use force_elements::nalgebra::{Point3, Vector3};
use force_elements::shapes::{Ellipsoid, FiniteCylinder, HalfSpace, SolidShape, TriangleMesh};
use force_elements::testing::{self, Numbers, Scene, Subject};
use force_elements::{
    BodyIndex, Casts, ElasticFoundation, ElementError, Error, ForceSystem, Frame, Handle, Linearization,
    Number, Pose, Real, SpatialVelocity, Stage, variables,
};
use force_elements_scenes::linearized::{Columns, Course, Exact, Instant, Kind, columns};
use force_elements_scenes::seeds;
use num_dual::Dual64;

variables! {
    /// Of a tread, with a damper in each spring.
    #[derive(Copy, Lift)]
    struct Tread<T> {
        stiffness: T ["N/m³"] = 4e3, positive => Dynamics;
        dissipation: T ["s/m"], nonnegative => Dynamics;
        shear: T ["N/m³"] = 2e3, positive => Dynamics;
        friction: T = 0.5, nonnegative => Dynamics;
        viscosity: T ["N·s/m³"], nonnegative => Dynamics;
    }
}

variables! {
    /// Where a bristle stands, and since when.
    #[derive(Copy, Lift)]
    struct Tip<T> {
        p_F: Vector3<T> ["m"], finite => Dynamics;
        since: T ["s"], finite => Dynamics;
    }
}

#[derive(Debug, Clone)]
struct Brush;

impl Brush {
    fn bend<S: Number>(p: &Tread<S>, m: &Tip<S>, at: &Touch<S>) -> (Vector3<S>, S) {
        let bend = at.along(at.p_FB - m.p_F);
        let (length, most) = (at.norm(bend), p.friction * p.stiffness * at.depth / p.shear);
        (bend, if length > most { most / length } else { S::lit(1.0) })
    }
}

impl<T: Real> Law<T, Touch<T>> for Brush {
    const KIND: &'static str = "brush";
    type Parameters = Tread<T>;
    type Memory = Tip<T>;

    fn evaluate<S: Number<Scalar = T>>(
        &self,
        p: &Tread<S>,
        m: &Tip<S>,
        at: &Touch<S>,
    ) -> Result<Push<S>, ElementError> {
        let (bend, share) = Self::bend(p, m, at);
        let (across, along) = (p.stiffness * at.area * at.depth, p.shear * at.area * share);
        let damped = across * p.dissipation * at.depth_rate;
        let viscosity = p.viscosity * at.area;
        let (length, slip) = (at.norm(bend), at.norm(at.slip_F));
        Ok(Push {
            force: at.n_F.map(|n| n * (across + damped))
                - bend.map(|b| b * along)
                - at.slip_F.map(|v| v * viscosity),
            potential_energy: S::lit(0.5) * across * at.depth + S::lit(0.5) * along * share * length * length,
            power_dissipated: damped * at.depth_rate + viscosity * slip * slip,
            ..Push::zero()
        })
    }

    fn commit<S: Number<Scalar = T>>(
        &self,
        p: &Tread<S>,
        m: &Tip<S>,
        at: &Touch<S>,
    ) -> Result<Tip<S>, ElementError> {
        let (bend, share) = Self::bend(p, m, at);
        let slips = share < S::lit(1.0);
        Ok(Tip { p_F: if slips { at.p_FB - bend.map(|b| b * share) } else { m.p_F }, since: m.since })
    }

    fn begin<S: Number<Scalar = T>>(&self, _: &Tread<S>, at: &Touch<S>) -> Result<Tip<S>, ElementError> {
        Ok(Tip { p_F: at.p_FB, since: at.time })
    }
}

/// A law without memory: a layer that hardens.
#[derive(Debug, Clone)]
struct Foam;

variables! {
    /// Of a foam.
    #[derive(Copy, Lift)]
    struct Pores<T> {
        pressure: T ["Pa"] = 500.0, nonnegative => Dynamics;
        thickness: T ["m"] = 3.0, positive => Dynamics;
    }
}

impl<T: Real> Law<T, Touch<T>> for Foam {
    const KIND: &'static str = "foam";
    type Parameters = Pores<T>;
    type Memory = ();

    fn evaluate<S: Number<Scalar = T>>(
        &self,
        p: &Pores<S>,
        (): &(),
        at: &Touch<S>,
    ) -> Result<Push<S>, ElementError> {
        // f = p·a·x/(h − x), of which the integral is p·a·(h·ln(h/(h − x)) − x).
        let rest = p.thickness - at.depth;
        if rest.value() <= T::zero() {
            return Err(ElementError::own(Crushed));
        }
        let load = p.pressure * at.area;
        let force = load * at.depth / rest;
        Ok(Push {
            force: at.n_F.map(|n| n * force),
            potential_energy: load * (p.thickness * (p.thickness / rest).ln() - at.depth),
            ..Push::zero()
        })
    }
}

#[derive(Debug, PartialEq)]
struct Crushed;

impl fmt::Display for Crushed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("crushed")
    }
}

impl std::error::Error for Crushed {}

fn brick<T: Real>() -> TriangleMesh<T> {
    TriangleMesh::brick(Vector3::new(0.5, 0.4, 0.3).map(T::lit), [2, 1, 1]).expect("valid")
}

/// A brick that reaches into a surface of any of these kinds, moved a little since the last commit.
fn on_bed<T: Real, L: Law<T, Touch<T>>>(
    deal: &mut Numbers,
    law: L,
    parameters: L::Parameters,
    kinds: f64,
) -> Result<Scene<T, OnBed<T, L>>, Error> {
    let mut system = ForceSystem::new();
    let (body1, body2) = (system.add_body(), system.add_body());
    let (X_B1F, X_B2M): (Pose<T>, Pose<T>) = (deal.pose(1.5, 0.4), deal.pose(1.5, 0.4));
    let round = Ellipsoid::new(Vector3::new(0.5, 0.6, 0.7).map(T::lit))?;
    let surface: SolidShape<T> = match deal.between::<f64>(0.0, kinds) {
        kind if kind < 1.0 => HalfSpace::BelowZ.into(),
        kind if kind < 2.0 => round.into(),
        kind if kind < 3.0 => SolidShape::custom(FiniteCylinder::new(T::lit(0.6), T::lit(0.5), T::lit(0.2))?),
        _ => TriangleMesh::sphere(T::lit(0.6), 3)?.into(),
    };
    let element =
        OnBed::new(law, Frame::on(body1, X_B1F), surface, Frame::on(body2, X_B2M), brick(), parameters)?;
    let element = system.add(element)?;
    let mut state = system.default_state();
    let X_GB1: Pose<T> = deal.pose(1.5, 1.0);
    let X_FM: Pose<T> = deal.pose(1.5, 0.4);
    state.set_time(deal.between(0.0, 2.0))?;
    state.set_body(body1, X_GB1, deal.velocity(1.0))?;
    state.set_body(body2, X_GB1 * X_B1F * X_FM * X_B2M.inverse(), deal.velocity(1.0))?;
    system.realize_dynamics(&mut state)?;
    system.accept_step(&mut state)?;
    // Some springs have come into contact since then, others have left.
    let nudge: Pose<T> = deal.pose(0.05, 0.1);
    state.set_body(body2, X_GB1 * X_B1F * X_FM * nudge * X_B2M.inverse(), deal.velocity(1.0))?;
    Ok(Scene { system, state, element })
}

/// On surfaces of all kinds, with bristles that slip.
struct AnyBrush;
/// On a plane, where the law stores what it exerts, with bristles that hold.
struct Holding;
struct AnyFoam;

fn tread<T: Real>(deal: &mut Numbers, friction: [f64; 2]) -> Tread<T> {
    Tread {
        dissipation: deal.between(0.0, 0.3),
        shear: deal.between(500.0, 5e3),
        friction: deal.between(friction[0], friction[1]),
        viscosity: deal.between(0.0, 100.0),
        ..Tread::default()
    }
}

impl Subject for AnyBrush {
    type Element<T: Real> = OnBed<T, Brush>;
    fn scene<T: Real>(deal: &mut Numbers) -> Result<Scene<T, Self::Element<T>>, Error> {
        let tread = tread(deal, [0.1, 2.0]);
        on_bed(deal, Brush, tread, 4.0)
    }
}

impl Subject for Holding {
    type Element<T: Real> = OnBed<T, Brush>;
    fn scene<T: Real>(deal: &mut Numbers) -> Result<Scene<T, Self::Element<T>>, Error> {
        let tread = tread(deal, [1e6, 2e6]);
        on_bed(deal, Brush, tread, 1.0)
    }
}

impl Subject for AnyFoam {
    type Element<T: Real> = OnBed<T, Foam>;
    fn scene<T: Real>(deal: &mut Numbers) -> Result<Scene<T, Self::Element<T>>, Error> {
        let parameters = Pores { pressure: deal.between(100.0, 1e3), ..Pores::default() };
        on_bed(deal, Foam, parameters, 4.0)
    }
}

impl Kind for AnyBrush {
    const NAME: &'static str = "brush";
    fn marks(_: u64, _: &Scene<f64, Self::Element<f64>>) -> Result<Vec<&'static str>, Error> {
        Ok(Vec::new())
    }
}

impl Kind for AnyFoam {
    const NAME: &'static str = "foam";
    fn marks(_: u64, _: &Scene<f64, Self::Element<f64>>) -> Result<Vec<&'static str>, Error> {
        Ok(Vec::new())
    }
}

#[test]
fn a_law_at_the_springs_of_a_bed_has_the_contract_of_an_element() {
    assert_eq!(testing::contract::<Exact<Holding>>(0..seeds(60)), Ok(()));
    assert_eq!(testing::contract::<Exact<AnyFoam>>(0..seeds(60)), Ok(()));
}

/// All columns are those of one-sided differences, those of a commit too.
///
/// After a commit bristles that have slipped are at their limit, and rounding decides for each one on which side: the sum of
/// all then lies between the two.
fn are_of_a_side<K: Kind>(may_be_between: bool) {
    let mut all = Columns::default();
    for seed in 0..seeds(30) {
        for (instant, course) in [(Instant::Drawn, Course::Drawn), (Instant::Committed, Course::Back)] {
            if let Some(found) = columns::<K>(seed, instant, course) {
                all.add(found);
            }
        }
    }
    assert!(all.wrong.is_empty() && (may_be_between || all.between_sides.is_empty()), "{all:#?}");
    assert!(all.right > 500 * seeds(10) && 100 * all.unresolved.len() as u64 <= all.right, "{all:#?}");
}

#[test]
fn derivatives_at_the_springs_of_a_bed_are_those_of_differences() {
    are_of_a_side::<AnyBrush>(true);
    are_of_a_side::<AnyFoam>(false);
}

/// With a single coefficient of friction, and without dampers, the anchors of the foundation and the tips of the brush are the
/// same law, written twice.
#[test]
fn a_brush_is_a_foundation_with_anchors() {
    let mut slipped = 0;
    for seed in 0..seeds(40) {
        let deal = &mut Numbers::new(seed);
        let tread =
            Tread { friction: deal.between(0.1, 1.0), shear: deal.between(500.0, 5e3), ..Tread::default() };
        let radii: Vector3<f64> = Vector3::new(0.5, 0.6, 0.7);
        let surface: SolidShape<f64> = match seed % 3 {
            0 => HalfSpace::BelowZ.into(),
            1 => Ellipsoid::new(radii).expect("valid").into(),
            _ => TriangleMesh::sphere(0.6, 3).expect("valid").into(),
        };
        let mut system = ForceSystem::<f64>::new();
        let bodies = [system.add_body(), system.add_body()];
        let [F, M] = bodies.map(|body| Frame::on(body, deal.pose(1.5, 0.4)));
        let brush = OnBed::new(Brush, F, surface.clone(), M, brick(), tread).expect("valid");
        let mut foundation = ElasticFoundation::new(Parameters::default()).expect("valid").with_anchors();
        foundation.add_rigid(F, surface).expect("closed");
        let material = Material::new(tread.stiffness)
            .with_friction(tread.friction, tread.friction, 0.0)
            .with_grip(tread.shear, 0.0);
        foundation.add_springs(M, brick(), material).expect("valid");
        let brush = system.add(brush).expect("exists");
        let foundation = system.add(foundation).expect("exists");
        let mut state = system.default_state();
        let X_GB1: Pose<f64> = deal.pose(1.5, 1.0);
        let mut X_FM: Pose<f64> = deal.pose(1.5, 0.4);
        for _ in 0..12 {
            X_FM *= deal.pose::<f64>(0.1, 0.03);
            state.set_body(bodies[0], X_GB1, deal.velocity(1.0)).expect("finite");
            let X_GB2 = X_GB1 * F.X_BF * X_FM * M.X_BF.inverse();
            state.set_body(bodies[1], X_GB2, deal.velocity(1.0)).expect("finite");
            let dynamics = system.realize_dynamics(&mut state).expect("regular");
            let (of_brush, of_foundation) = (dynamics.of(brush), dynamics.of(foundation));
            let sum = of_foundation.dynamics.resultants.iter().map(|resultant| resultant.F_GS);
            let theirs = sum.fold(force_elements::SpatialForce::zero(), |sum, F| sum + F);
            let ours = of_brush.dynamics.F_GM;
            let size = 1.0 + theirs.force.norm() + theirs.torque.norm();
            // Some hundreds of roundings.
            assert!((ours.force - theirs.force).norm() < 1e-12 * size, "{seed}: {ours:?} {theirs:?}");
            assert!((ours.torque - theirs.torque).norm() < 1e-12 * size, "{seed}: {ours:?} {theirs:?}");
            slipped += u32::from(of_foundation.dynamics.held_energy > of_foundation.dynamics.friction_energy);

            let mut linearization = Linearization::new();
            system.linearize(&state, &mut linearization).expect("regular");
            assert!(linearization.element(brush).is_exact());
            let (ours, theirs) = (by_motion(&linearization, brush), by_motion(&linearization, foundation));
            let size = theirs.iter().fold(1.0, |size: f64, x| size.max(x.abs()));
            let worst = ours.iter().zip(&theirs).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(ours.len() == theirs.len() && worst < 1e-11 * size, "{seed}: {worst} of {size}");
            system.accept_step(&mut state).expect("regular");
        }
    }
    assert!(u64::from(slipped) > seeds(40), "{slipped}");
}

/// The blocks of an element by the motion of its bodies, in a fixed order.
fn by_motion(
    linearization: &Linearization<f64>,
    element: Handle<impl force_elements::ForceElement<f64>>,
) -> Vec<f64> {
    let mut blocks: Vec<_> = linearization
        .element(element)
        .blocks()
        .map(|(row, column, numbers)| (format!("{row:?} {column:?}"), numbers.to_vec()))
        .collect();
    blocks.sort_by(|a, b| a.0.cmp(&b.0));
    let mut sums: Vec<(String, Vec<f64>)> = Vec::new();
    for (name, numbers) in blocks {
        match sums.last_mut() {
            Some((last, sum)) if *last == name => {
                sum.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += number);
            }
            _ => sums.push((name, numbers)),
        }
    }
    sums.into_iter().flat_map(|(_, numbers)| numbers).collect()
}

/// A plate of four faces, 0.2 m by 0.1 m, pressed and dragged over a plane.
#[test]
fn a_plate_is_dragged_at_the_limit_and_springs_back() {
    let corners = [(0.0, 0.0), (0.2, 0.0), (0.2, 0.1), (0.0, 0.1)].map(|(x, y)| Point3::new(x, y, 0.0));
    let plate = TriangleMesh::open(&corners, &[[0, 1, 2], [0, 2, 3]]).expect("two faces");
    let mut system = ForceSystem::<f64>::new();
    let body = system.add_body();
    let tread = Tread { stiffness: 1e6, shear: 5e5, friction: 0.4, ..Tread::default() };
    let element =
        OnBed::new(Brush, Frame::ground(Pose::identity()), HalfSpace::BelowZ, Frame::of(body), plate, tread);
    let element = system.add(element.expect("valid")).expect("exists");
    let mut state = system.default_state();
    let (area, depth) = (0.02, 0.002);
    // Bristles slip once they are bent by μ·k·δ/k_t = 1.6 mm.
    let mut tip: f64 = 0.0;
    for x in [0.0, 1e-3, 1.5e-3, 3e-3, 4e-3, 2e-3, -1e-3] {
        state.set_pose(body, Pose::translation(x, 0.0, -depth)).expect("finite");
        let dynamics = system.realize_dynamics(&mut state).expect("regular");
        let bend = (x - tip).clamp(-1.6e-3, 1.6e-3);
        let force = dynamics.body_force(body).force;
        assert!((force.x + 5e5 * area * bend).abs() < 1e-9, "{x}: {force}");
        assert!((force.z - 1e6 * area * depth).abs() < 1e-9, "{x}: {force}");
        let at = dynamics.of(element);
        assert_eq!(at.dynamics.springs.len(), 2);
        assert!((at.dynamics.F_GM.force - force).norm() < 1e-12);
        system.accept_step(&mut state).expect("regular");
        tip = x - bend;
        assert!(
            (state.variable("brush[0].springs[1].p_F.x").expect("known") - (tip + 0.2 / 3.0)).abs() < 1e-12
        );
    }
    // A bristle that has left the road forgets, and stands where it comes down.
    state.set_pose(body, Pose::translation(0.0, 0.0, 0.01)).expect("finite");
    system.realize_dynamics(&mut state).expect("regular");
    system.accept_step(&mut state).expect("regular");
    assert_eq!(state.variable("brush[0].springs[0].known").ok(), Some(0.0));
    state.set_pose(body, Pose::translation(5e-3, 0.0, -depth)).expect("finite");
    let force = system.realize_dynamics(&mut state).expect("regular").body_force(body).force;
    assert_eq!(force.x, 0.0);
}

#[test]
fn what_a_law_at_a_spring_refuses_is_the_error_of_the_element() {
    let mut system = ForceSystem::<f64>::new();
    let body = system.add_body();
    let pores = Pores { thickness: 0.01, ..Pores::default() };
    let foam =
        |frame| OnBed::new(Foam, Frame::ground(Pose::identity()), HalfSpace::BelowZ, frame, brick(), pores);
    system.add(foam(Frame::of(body)).expect("valid")).expect("exists");
    let mut state = system.default_state();
    let error = system.realize_dynamics(&mut state).expect_err("30 cm deep");
    assert_eq!(error.own::<Crushed>(), Some(&Crushed));
    assert_eq!(state.stage(), Stage::Velocity);
    state.set_pose(body, Pose::translation(0.0, 0.0, 0.295)).expect("finite");
    let force = system.realize_dynamics(&mut state).expect("regular").body_force(body).force;
    // The bottom of 0.8 m², half of the foam deep.
    assert!((force.z - 500.0 * 0.8).abs() < 1e-9, "{force}");

    let same = foam(Frame::ground(Pose::identity()));
    assert_eq!(same.expect_err("one body").element_error(), Some(&ElementError::SameEnds));
    let wrong = Pores { thickness: 0.0, ..pores };
    let refused =
        OnBed::new(Foam, Frame::of(body), HalfSpace::BelowZ, Frame::ground(Pose::identity()), brick(), wrong);
    assert_eq!(refused.expect_err("no foam").invalid_value().map(|value| value.name), Some("thickness"));
}

#[test]
fn a_law_at_the_springs_of_a_bed_goes_on_in_another_scalar() {
    let mut scene = AnyBrush::scene::<f64>(&mut Numbers::new(5)).expect("valid");
    let mut casts = Casts::<f64, Dual64>::without_elements();
    casts.add(|law: &OnBed<f64, Brush>, casts| law.cast_with(casts));
    let duals = scene.system.cast_with(&casts).expect("known");
    let mut state = duals.cast_state(&scene.state).expect("fits");
    let body = BodyIndex::GROUND;
    let body = scene.system.bodies().find(|&other| other != body).expect("there are two");
    let real = scene.system.realize_dynamics(&mut scene.state).expect("regular").body_force(body);
    let dual = duals.realize_dynamics(&mut state).expect("regular").body_force(body);
    assert_ne!(real.force, Vector3::zeros());
    // Faces are found in plain numbers, and their depths computed in the scalar.
    assert!((real.force - dual.force.map(|x| x.re)).norm() < 1e-13 * real.force.norm());
    assert!((real.torque - dual.torque.map(|x| x.re)).norm() < 1e-13 * real.torque.norm());
}

/// Hosts with error control see a bed that comes down on a plane, and one that could pass through a ball.
#[test]
fn a_bed_reports_its_gap_to_a_plane_and_the_time_to_pass_a_ball() {
    let mut system = ForceSystem::<f64>::new();
    let (body, ball) = (system.add_body(), system.add_body());
    let ground = Frame::ground(Pose::identity());
    let on_plane = OnBed::new(Foam, ground, HalfSpace::BelowZ, Frame::of(body), brick(), Pores::default());
    system.add(on_plane.expect("valid")).expect("exists");
    let mut state = system.default_state();
    state
        .set_body(
            body,
            Pose::translation(0.0, 0.0, 1.0),
            SpatialVelocity::new(Vector3::zeros(), -2.0 * Vector3::z()),
        )
        .expect("finite");
    state.set_pose(ball, Pose::translation(10.0, 0.0, 0.0)).expect("finite");
    system.realize_dynamics(&mut state).expect("regular");
    let mut gaps = Vec::new();
    system.write_gaps(&state, &mut gaps).expect("at Dynamics");
    assert_eq!(gaps.len(), 1);
    assert!((gaps[0].distance - 0.7).abs() < 1e-12 && (gaps[0].rate + 2.0).abs() < 1e-12, "{gaps:?}");
    assert_eq!(system.passing_time(&state, 1.0).expect("at Dynamics").0, f64::INFINITY);

    let sphere = TriangleMesh::sphere(0.2, 4).expect("valid");
    let on_ball = OnBed::new(Foam, Frame::of(ball), sphere, Frame::of(body), brick(), Pores::default());
    let mut system = system;
    system.add(on_ball.expect("valid")).expect("exists");
    let mut state = system.default_state();
    state
        .set_body(
            body,
            Pose::translation(0.0, 0.0, 1.0),
            SpatialVelocity::new(Vector3::zeros(), 2.0 * Vector3::x()),
        )
        .expect("finite");
    state.set_pose(ball, Pose::translation(3.0, 0.0, 1.0)).expect("finite");
    system.realize_dynamics(&mut state).expect("regular");
    let (time, _) = system.passing_time(&state, 10.0).expect("at Dynamics");
    // 3 m less the half diagonal and the radius, and at most the half width of the ball, at 2 m/s.
    let apart = 3.0 - Vector3::new(0.5, 0.4, 0.3).norm() - 0.2;
    assert!(time > 0.475 * apart && time < 0.5 * apart + 0.15, "{time}");
}

/// A plate that comes down and lifts off again: buffers are those of the first cycle, in evaluations, commits and copies.
#[test]
fn a_bed_does_not_allocate_after_the_first_cycle() {
    let mut system = ForceSystem::<f64>::new();
    let body = system.add_body();
    let bed = OnBed::new(
        Brush,
        Frame::ground(Pose::identity()),
        HalfSpace::BelowZ,
        Frame::of(body),
        brick(),
        Tread::default(),
    );
    system.add(bed.expect("valid")).expect("exists");
    let mut state = system.default_state();
    let mut checkpoint = state.checkpoint();
    let mut cycle = || {
        for z in [0.4, 0.28, 0.2, 0.29, 0.4] {
            state.set_pose(body, Pose::translation(0.1 * z, 0.0, z)).expect("finite");
            system.realize_dynamics(&mut state).expect("regular");
            state.save_to(&mut checkpoint);
            system.accept_step(&mut state).expect("regular");
        }
    };
    cycle();
    cycle();
    assert_eq!(allocation_counter::measure(cycle).count_total, 0);
}
