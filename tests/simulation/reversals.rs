//! Memory that is dragged along, by integrators with error control: against phases in closed form, and small steps.

use core::f64::consts::TAU;

use force_elements::cable::{CablePath, Obstacle};
use force_elements::laws::{BetweenFrames, Law, Outcome, Relative};
use force_elements::nalgebra::{Point3, Vector3, Vector6};
use force_elements::shapes::{Cylinder, HalfSpace, TriangleMesh};
use force_elements::simulation::{
    DormandPrince, Implicit, Integrator, Plant, RigidBody, Simulation, SimulationError, Statistics,
};
use force_elements::{
    CableSpring, ContactDesign, ElasticFoundation, ElementError, ForceSystem, Frame, LinearBushing, Number,
    Pose, Real, SpatialForce, SpatialVelocity, Station, cable_spring, elastic_foundation, linear_bushing,
    variables,
};

variables! {
    /// Dry friction along x: an anchor, dragged along.
    #[derive(Copy, Lift)]
    struct Friction<T> {
        stiffness: T ["N/m"] = 4e4, positive => Dynamics;
        limit: T ["N"] = 8.0, positive => Dynamics;
    }
}

variables! {
    #[derive(Copy, Lift)]
    struct Anchor<T> {
        x: T ["m"], finite => Dynamics;
    }
}

#[derive(Debug)]
struct Slide;

impl Slide {
    fn stretch<S: Number>(p: &Friction<S>, m: &Anchor<S>, at: &Relative<S>) -> S {
        let most = p.limit / p.stiffness;
        (at.p_FM.x - m.x).min(most).max(-most)
    }
}

impl<T: Real> Law<T, Relative<T>> for Slide {
    const KIND: &'static str = "slide";
    type Parameters = Friction<T>;
    type Memory = Anchor<T>;

    fn evaluate<S: Number<Scalar = T>>(
        &self,
        p: &Friction<S>,
        m: &Anchor<S>,
        at: &Relative<S>,
    ) -> Result<Outcome<S>, ElementError> {
        let force = p.stiffness * Self::stretch(p, m, at);
        Ok(Outcome { force: Vector3::new(-force, S::zero(), S::zero()), ..Outcome::zero() })
    }

    fn commit<S: Number<Scalar = T>>(
        &self,
        p: &Friction<S>,
        m: &Anchor<S>,
        at: &Relative<S>,
    ) -> Result<Anchor<S>, ElementError> {
        Ok(Anchor { x: at.p_FM.x - Self::stretch(p, m, at) })
    }
}

const MASS: f64 = 2.0;
const SPRING: f64 = 50.0;
const SPEED: f64 = 3.0;

/// Where a mass on a spring is that slides against friction, phase by phase: harmonic about a place that depends on whether
/// the anchor is dragged.
fn in_phases(end: f64) -> f64 {
    let Friction { stiffness, limit } = Friction::<f64>::default();
    let reach = limit / stiffness;
    let (mut time, mut x, mut v, mut anchor) = (0.0, 0.0_f64, SPEED, 0.0);
    // The direction in which the anchor is dragged; zero where it holds.
    let mut drags = 0.0_f64;
    loop {
        let (constant, middle) = if drags == 0.0 {
            (SPRING + stiffness, stiffness * anchor / (SPRING + stiffness))
        } else {
            (SPRING, -drags * limit / SPRING)
        };
        let frequency = (constant / MASS).sqrt();
        let (a, b) = (x - middle, v / frequency);
        let at = |t: f64| {
            let (sin, cos) = (frequency * t).sin_cos();
            (middle + a * cos + b * sin, frequency * (b * cos - a * sin))
        };
        // Positive once the phase has ended.
        let ended = |t: f64| if drags == 0.0 { (at(t).0 - anchor).abs() - reach } else { -drags * at(t).1 };
        let step = 1e-3 * TAU / frequency;
        let (mut low, mut high) = (0.0, step);
        // It has begun within rounding of its end.
        while ended(high) <= 0.0 && time + high < end {
            (low, high) = (high, high + step);
        }
        if time + high >= end && ended(end - time) <= 0.0 {
            return at(end - time).0;
        }
        for _ in 0..60 {
            let t = 0.5 * (low + high);
            if ended(t) > 0.0 { high = t } else { low = t }
        }
        time += high;
        (x, v) = at(high);
        if drags == 0.0 {
            drags = v.signum();
        } else {
            (anchor, drags) = (x - drags * reach, 0.0);
        }
    }
}

fn along_x(speed: f64) -> SpatialVelocity<f64> {
    SpatialVelocity::new(Vector3::zeros(), Vector3::new(speed, 0.0, 0.0))
}

/// Where the mass is according to an integrator.
fn simulated(integrator: &mut impl Integrator<f64>, end: f64) -> Result<f64, SimulationError> {
    let mut system = ForceSystem::new();
    let mut plant = Plant::new(Vector3::zeros())?;
    let body = plant.add_body(&mut system, RigidBody::with_equal_inertia(MASS, 0.1)?);
    let (ground, of_body) = (Frame::ground(Pose::identity()), Frame::of(body));
    system.add(BetweenFrames::new(Slide, ground, of_body, Friction::default())?)?;
    let stiffness = Vector6::new(0.0, 0.0, 0.0, SPRING, 0.0, 0.0);
    let spring = linear_bushing::Parameters { stiffness, damping: Vector6::zeros() };
    system.add(LinearBushing::new(ground, of_body, spring)?)?;
    let mut state = system.default_state();
    state.set_velocity(body, along_x(SPEED))?;
    let mut simulation = Simulation::new(&system, &plant, state)?;
    simulation.run(integrator, end, |_| ())?;
    Ok(simulation.state().positions().pose(body).translation.x)
}

#[test]
fn a_law_with_a_dragged_anchor_is_followed_through_every_reversal() -> Result<(), SimulationError> {
    // While it still slides, and where it has stopped. Each reversal is found to the accuracy of a step; what it leaves grows until
    // the end.
    for end in [0.9, 2.0] {
        let expected = in_phases(end);
        for (accuracy, allowed) in [(1e-4, 2e-2), (1e-5, 2e-3), (1e-6, 1e-3), (1e-7, 2e-4), (1e-8, 2e-5)] {
            let x = simulated(&mut DormandPrince::new(accuracy), end)?;
            assert!((x - expected).abs() < allowed, "{end}, {accuracy}: {x} for {expected}");
        }
        let x = simulated(&mut Implicit::tr_bdf2(0.1).with_accuracy(1e-6), end)?;
        assert!((x - expected).abs() < 1e-3, "{end}: {x} for {expected}");
    }
    Ok(())
}

/// The height of a weight on a rope over a bollard, thrown up while the rope is taut.
fn hoisted(integrator: &mut impl Integrator<f64>) -> Result<f64, SimulationError> {
    let mut system = ForceSystem::new();
    let mut plant = Plant::new(Vector3::new(0.0, -9.81, 0.0))?;
    let weight = plant.add_body(&mut system, RigidBody::with_equal_inertia(10.0, 0.1)?);
    let bollard = Obstacle::new(Frame::ground(Pose::identity()), Cylinder::new(0.1)?)?
        .with_contact_hint(Point3::new(0.1, 0.1, 0.0))?;
    let hook = Station::ground(Point3::new(-1.0, 0.1, 0.0));
    let path = CablePath::new(hook, Station::on(weight, Point3::origin()))?.over(bollard);
    let rope = cable_spring::Parameters { stiffness: 2e3, slack_length: 2.0, dissipation: 0.0 };
    system.add(CableSpring::new(path, rope)?.with_friction([0.3])?)?;
    let mut state = system.default_state();
    let up = SpatialVelocity::new(Vector3::zeros(), Vector3::new(0.0, 0.4, 0.0));
    state.set_body(weight, Pose::translation(0.1, -0.9, 0.0), up)?;
    system.reset_memories(&mut state)?;
    let mut simulation = Simulation::new(&system, &plant, state)?;
    simulation.run(integrator, 2.0, |_| ())?;
    Ok(simulation.state().positions().pose(weight).translation.y)
}

#[test]
fn a_rope_that_slips_forth_and_back_over_a_bollard_is_followed() -> Result<(), SimulationError> {
    // Of second order in a step that is short beside the period of 0.4 s, and within 2e-5 by accuracy.
    let expected = hoisted(&mut Implicit::tr_bdf2(2e-4))?;
    for (accuracy, allowed) in [(1e-4, 1e-4), (1e-5, 4e-5), (1e-6, 4e-5)] {
        let y = hoisted(&mut DormandPrince::new(accuracy))?;
        assert!((y - expected).abs() < allowed, "{accuracy}: {y} for {expected}");
    }
    Ok(())
}

/// The cost of a brick that is thrown flat on a bed with anchors, turning and pushed, and where it is then.
fn dragged<T: Real>(
    integrator: &mut impl Integrator<T>,
) -> Result<(Statistics, Vector3<f64>), SimulationError> {
    let l = T::lit;
    let vector = |x, y, z| Vector3::new(l(x), l(y), l(z));
    let mut system = ForceSystem::new();
    let mut plant = Plant::new(vector(0.0, 0.0, -9.81))?;
    let body = plant.add_body(&mut system, RigidBody::with_equal_inertia(l(1.0), l(0.002))?);
    let design = ContactDesign::new(1.0, 0.05, 1e-3).with_points(4).with_friction(0.6, 0.5);
    let material = elastic_foundation::Material::for_contact(&design, l(0.01))?;
    let parameters = elastic_foundation::Parameters { clipped: true, ..Default::default() };
    let mut bed = ElasticFoundation::new(parameters)?.with_anchors();
    bed.add_springs(Frame::of(body), TriangleMesh::brick(vector(0.05, 0.05, 0.05), [2, 2, 2])?, material)?;
    bed.add_rigid(Frame::ground(Pose::identity()), HalfSpace::BelowZ)?;
    system.add(bed)?;
    plant.set_body_load(body, SpatialForce::new(Vector3::zeros(), vector(2.0, 0.0, 0.0)))?;
    let mut state = system.default_state();
    let V_GB = SpatialVelocity::new(vector(0.2, 0.0, 0.3), vector(0.5, 0.0, 0.0));
    state.set_body(body, Pose::translation(l(1.0), l(0.0), l(0.052)), V_GB)?;
    system.reset_memories(&mut state)?;
    let mut simulation = Simulation::new(&system, &plant, state)?;
    simulation.run(integrator, 0.1, |_| ())?;
    let p_GB = simulation.state().positions().pose(body).translation.vector;
    Ok((simulation.statistics(), p_GB.map(T::to_f64)))
}

#[test]
fn steps_keep_to_the_error_of_memory_that_is_dragged() -> Result<(), SimulationError> {
    let (_, expected) = dragged::<f64>(&mut DormandPrince::new(1e-9))?;
    for (accuracy, allowed) in [(1e-4, 2e-4), (1e-5, 1e-4), (1e-6, 4e-5)] {
        let (cost, p_GB) = dragged::<f64>(&mut DormandPrince::new(accuracy))?;
        assert!((p_GB - expected).norm() < allowed, "{accuracy}: {p_GB} for {expected}");
        assert!(5 * cost.rejected < cost.steps, "{accuracy}: {cost:?}");
        // Rounding shortens few steps.
        let (single, p_GB) = dragged::<f32>(&mut DormandPrince::new(accuracy))?;
        assert!((p_GB - expected).norm() < 2.0 * allowed, "{accuracy}: {p_GB} for {expected}");
        assert!(2 * single.evaluations < 3 * cost.evaluations, "{accuracy}: {single:?}, {cost:?}");
    }
    let (cost, p_GB) = dragged::<f64>(&mut Implicit::tr_bdf2(1e-2).with_accuracy(1e-5))?;
    assert!((p_GB - expected).norm() < 1e-4, "{p_GB} for {expected}");
    assert!(5 * cost.rejected < cost.steps, "{cost:?}");
    Ok(())
}
