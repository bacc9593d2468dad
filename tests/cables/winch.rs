//! Winches: cables that wind on a drum on which they end, without friction and with it.

use core::f64::consts::{FRAC_PI_4, PI, TAU};
use std::sync::Arc;

use force_elements::cable::{CablePath, Obstacle, Strand, Tracking, Wrappable};
use force_elements::cable_spring::Parameters;
use force_elements::nalgebra::{Point3, Rotation3, Vector3};
use force_elements::shapes::{Cylinder, Ellipsoid, FiniteCylinder};
use force_elements::simulation::{
    DormandPrince, Implicit, Integrator, Plant, RigidBody, SemiImplicitEuler, Simulation, SimulationError,
};
use force_elements::{
    BodyIndex, CableSpring, Column, End, Error, ForceSystem, Frame, Handle, Linearization, Pose, Row, Scope,
    SpatialVelocity, State, Station,
};

use crate::allocation_cable::check_step;

const RADIUS: f64 = 0.2;

fn elastic(stiffness: f64, slack_length: f64) -> Parameters<f64> {
    Parameters { stiffness, slack_length, dissipation: 0.0 }
}

/// A system, drum and load, and the path of the cable.
type Rig = (ForceSystem<f64>, [BodyIndex; 2], CablePath<f64>);

/// A drum at the origin that turns about z, and a load to its right, level with its highest point, where the cable is
/// fixed: it winds as the drum turns.
fn rig() -> Result<Rig, Error> {
    let mut system = ForceSystem::new();
    let [drum, load] = [system.add_body(), system.add_body()];
    let surface = Obstacle::new(Frame::of(drum), Cylinder::new(RADIUS)?)?;
    let fixed = Station::on(drum, Point3::new(0.0, RADIUS, 0.0));
    let path = CablePath::new(fixed, Station::on(load, Point3::origin()))?.over(surface);
    Ok((system, [drum, load], path))
}

fn place(state: &mut State<f64>, [drum, load]: [BodyIndex; 2], angle: f64, x: f64) -> Result<(), Error> {
    state.set_pose(drum, Pose::rotation(Vector3::z() * angle))?;
    state.set_pose(load, Pose::translation(x, RADIUS, 0.0))
}

/// The length on the drum and the free length: the drum may wind either way.
fn wound_and_free(angle: f64, x: f64) -> [f64; 2] {
    if angle >= 0.0 {
        return [RADIUS * angle, x];
    }
    // The other way round the cable leaves the drum below, where the load is level with the top.
    let bearing = PI - 2.0 * RADIUS.atan2(x);
    let wound = -angle - bearing;
    if wound > 0.0 {
        return [RADIUS * wound, x];
    }
    let from = Vector3::new(-RADIUS * angle.sin(), RADIUS * angle.cos(), 0.0);
    [0.0, (Vector3::new(x, RADIUS, 0.0) - from).norm()]
}

#[test]
fn turns_are_counted_in_steps_of_up_to_half_a_turn() -> Result<(), Error> {
    let surfaces: [Arc<dyn Wrappable<f64>>; 2] =
        [Arc::new(Cylinder::new(RADIUS)?), Arc::new(FiniteCylinder::new(RADIUS, 0.1, 0.01)?)];
    for (surface, friction) in surfaces.iter().flat_map(|surface| [None, Some([0.2])].map(|mu| (surface, mu)))
    {
        for degrees in [91.0_f64, 120.0, 150.0, 179.0] {
            let mut system = ForceSystem::new();
            let bodies @ [drum, load] = [system.add_body(), system.add_body()];
            let fixed = Station::on(drum, Point3::new(0.0, RADIUS, 0.0));
            let over = Obstacle::shared(Frame::of(drum), Arc::clone(surface))?;
            let path = CablePath::new(fixed, Station::on(load, Point3::origin()))?.over(over);
            let cable = CableSpring::new(path, elastic(100.0, 0.5))?;
            let cable = system.add(match friction {
                Some(mu) => cable.with_friction(mu)?,
                None => cable,
            })?;
            let mut state = system.default_state();
            // Three quarters of a turn in small steps, then large ones, there and back.
            let far = (0..12).map(|i| 270.0 + degrees * f64::from(i));
            let angles = (0..27).map(|i| 10.0 * f64::from(i)).chain(far.clone()).chain(far.rev());
            for angle in angles.map(f64::to_radians) {
                place(&mut state, bodies, angle, 2.0)?;
                let dynamics = system.realize_dynamics(&mut state)?;
                let path = &dynamics.of(cable).position.path;
                let expected: f64 = wound_and_free(angle, 2.0).iter().sum();
                assert!((path.length - expected).abs() < 1e-12, "{degrees}: {} {expected}", path.length);
                system.accept_step(&mut state)?;
            }
        }
    }
    Ok(())
}

/// A drum of 0.1 m that spins at 30 rad/s winds a slack rope, until it is taut.
fn reel(integrator: &mut impl Integrator<f64>) -> Result<(f64, f64), SimulationError> {
    const SPEED: f64 = 30.0;
    let radius = 0.1;
    let mut system = ForceSystem::new();
    let mut plant = Plant::new(Vector3::zeros())?;
    let drum = plant.add_body(&mut system, RigidBody::with_equal_inertia(1e3, 0.5)?);
    let fixed = Station::on(drum, Point3::new(0.0, radius, 0.0));
    let path = CablePath::new(Station::ground(Point3::new(-2.0, radius, 0.0)), fixed)?
        .over(Obstacle::new(Frame::of(drum), Cylinder::new(radius)?)?);
    let rope = system.add(CableSpring::new(path, elastic(1e3, 2.0 + 10.0 * TAU * radius))?)?;
    let mut state = system.default_state();
    let spin = SpatialVelocity::new(Vector3::z() * -SPEED, Vector3::zeros());
    state.set_body(drum, Pose::identity(), spin)?;
    let mut simulation = Simulation::new(&system, &plant, state)?;
    let (mut taut, mut greatest) = (f64::INFINITY, 0.0_f64);
    simulation.run(integrator, 1.2 * 10.0 * TAU / SPEED, |simulation| {
        let tension = simulation.dynamics().map_or(f64::NAN, |view| view.of(rope).dynamics.tension);
        if tension > 0.0 {
            taut = taut.min(simulation.time());
        }
        greatest = greatest.max(tension);
    })?;
    Ok((taut * SPEED / TAU, greatest))
}

#[test]
fn a_rope_that_is_wound_while_it_is_slack_gets_taut_after_as_many_turns() -> Result<(), SimulationError> {
    for (turns, greatest) in [
        reel(&mut DormandPrince::new(1e-2))?,
        reel(&mut DormandPrince::new(1e-5))?,
        reel(&mut Implicit::tr_bdf2(0.1))?,
        reel(&mut Implicit::trapezoidal(0.1))?,
        reel(&mut SemiImplicitEuler::new(1e-3))?,
    ] {
        // Seen at the end of a step, of a third of a turn at most.
        assert!((10.0..10.35).contains(&turns), "{turns}");
        assert!(greatest > 0.0);
    }
    // More than a third of a turn.
    let refused = reel(&mut SemiImplicitEuler::new(0.07));
    assert!(matches!(refused, Err(SimulationError::Forces(Error::StepTooLong { .. }))), "{refused:?}");
    Ok(())
}

#[test]
fn a_drum_winds_twenty_turns_unwinds_and_winds_the_other_way() -> Result<(), Error> {
    let (mut system, bodies, path) = rig()?;
    let cable = system.add(CableSpring::new(path, elastic(100.0, 0.5))?)?;
    let mut state = system.default_state();
    let mut mirrored = 0;
    for i in (0..=200).chain((-100..200).rev()) {
        let angle = 0.1 * TAU * f64::from(i);
        place(&mut state, bodies, angle, 1.0)?;
        // Unwinding and the same again the other way: the rate is that of the drum.
        let spin = SpatialVelocity::new(Vector3::z(), Vector3::zeros());
        state.set_body(bodies[0], Pose::rotation(Vector3::z() * angle), spin)?;
        let view = system.realize_dynamics(&mut state)?;
        let at = view.of(cable);
        let path = &at.position.path;
        assert!(state_is_tracked(path.tracking, i), "{i}: {:?}", path.tracking);
        let [wound, free] = wound_and_free(angle, 1.0);
        assert!((path.length - wound - free).abs() < 1e-12, "{i}: {} {wound} {free}", path.length);
        let contact = &path.contacts[0];
        let turned = if contact.in_contact { contact.geodesic.length } else { 0.0 };
        assert!((turned - wound).abs() < 1e-12, "{i}: {turned} {wound}");
        let torque = view.body_force(bodies[0]).torque.z;
        if angle.abs() > 4.0 {
            let expected = -at.dynamics.tension * RADIUS * angle.signum();
            assert!((torque - expected).abs() < 1e-9 * expected.abs(), "{i}: {torque} {expected}");
            mirrored += u32::from(angle < 0.0);
        }
        // Power: the drum gives what the tension takes.
        let power = at.dynamics.tension * at.velocity.length_rate;
        assert!((power + torque).abs() < 1e-9 * torque.abs().max(1.0), "{i}");
        system.accept_step(&mut state)?;
    }
    assert!(mirrored > 90);
    Ok(())
}

fn state_is_tracked(tracking: Tracking, i: i32) -> bool {
    tracking <= Tracking::Followed || i == 0 && tracking == Tracking::Cold
}

/// A winch with friction.
struct Winch {
    system: ForceSystem<f64>,
    state: State<f64>,
    bodies: [BodyIndex; 2],
    cable: Handle<CableSpring<f64>>,
}

/// What it shows after an evaluation.
struct Shown {
    strands: Vec<Strand<f64>>,
    /// From the fixed end to the load.
    tensions: Vec<f64>,
    stored: f64,
    torque: f64,
}

impl Winch {
    fn new(friction: f64, elastic: Parameters<f64>) -> Result<Self, Error> {
        let (system, bodies, path) = rig()?;
        Self::along(system, bodies, path, friction, elastic)
    }

    /// The same with the cable from the load to the drum.
    fn reversed(friction: f64, elastic: Parameters<f64>) -> Result<Self, Error> {
        let (system, bodies, path) = rig()?;
        let reversed = CablePath::new(path.termination(), path.origin())?.over(path.obstacles()[0].clone());
        Self::along(system, bodies, reversed, friction, elastic)
    }

    fn along(
        mut system: ForceSystem<f64>,
        bodies: [BodyIndex; 2],
        path: CablePath<f64>,
        friction: f64,
        elastic: Parameters<f64>,
    ) -> Result<Self, Error> {
        let cable = system.add(CableSpring::new(path, elastic)?.with_friction(vec![friction])?)?;
        Ok(Self { state: system.default_state(), system, bodies, cable })
    }

    fn evaluate(&mut self) -> Result<Shown, Error> {
        let view = self.system.realize_dynamics(&mut self.state)?;
        let at = view.of(self.cable);
        Ok(Shown {
            strands: at.position.strands.all.clone(),
            tensions: at.dynamics.tensions.clone(),
            stored: at.dynamics.potential_energy,
            torque: view.body_force(self.bodies[0]).torque.z,
        })
    }

    /// Moves, commits, and evaluates again.
    fn step(&mut self, angle: f64, x: f64) -> Result<Shown, Error> {
        place(&mut self.state, self.bodies, angle, x)?;
        self.evaluate()?;
        self.system.accept_step(&mut self.state)?;
        self.evaluate()
    }
}

#[test]
fn what_is_wound_at_one_tension_has_it_on_the_drum() -> Result<(), Error> {
    const TURNS: i32 = 20;
    for friction in [0.0, 0.3] {
        let mut winch = Winch::new(friction, elastic(1000.0, 29.9))?;
        let stored = 0.5 * 1000.0 * 0.01;
        for i in (0..=10 * TURNS).chain((0..10 * TURNS).rev()) {
            let angle = 0.1 * TAU * f64::from(i);
            // The load comes nearer by what is wound.
            let shown = winch.step(angle, 30.0 - RADIUS * angle)?;
            for tension in &shown.tensions {
                assert!((tension - 100.0).abs() < 1e-6, "{friction} {i}: {tension}");
            }
            assert!((shown.torque + 100.0 * RADIUS).abs() < 1e-6, "{friction} {i}: {}", shown.torque);
            assert!((shown.stored - stored).abs() < 1e-9, "{friction} {i}: {}", shown.stored);
            let wound: f64 =
                shown.strands.iter().filter(|strand| strand.is_wound).map(|strand| strand.length).sum();
            let expected = if friction > 0.0 { RADIUS * angle } else { 0.0 };
            assert!((wound - expected).abs() < 1e-9, "{friction} {i}: {wound} {expected}");
        }
    }
    Ok(())
}

/// The tension and the energy on the drum after an angle, and those at the end after unwinding, in steps of this size.
fn wind_against_a_wall(step: f64) -> Result<[f64; 4], Error> {
    let mut winch = Winch::new(1000.0, elastic(1000.0, 1.9))?;
    let count = (2.0 / step).round();
    let mut i = 0.0;
    let mut shown = winch.step(0.0, 2.0)?;
    while i < count {
        i += 1.0;
        shown = winch.step(i * step, 2.0)?;
    }
    let last = shown.tensions[shown.tensions.len() - 1];
    let wound = shown.strands.iter().filter(|strand| strand.is_wound);
    let stored = wound.fold(0.0, |sum, strand| sum + 500.0 * strand.share * strand.elongation.powi(2));
    while i > 0.0 {
        i -= 1.0;
        shown = winch.step(i * step, 2.0)?;
    }
    Ok([last, stored, shown.tensions[shown.tensions.len() - 1], shown.stored])
}

#[test]
fn what_is_wound_keeps_its_tension_and_gives_its_energy_back() -> Result<(), Error> {
    // With no slip, material leaves the free cable with the strain that it has: φ' = −φ r / D.
    let (stiffness, slack, distance, u) = (1000.0, 1.9, 2.0, RADIUS * 2.0 / 2.0);
    let tension = stiffness * (distance * f64::exp(u) - slack);
    let stored = 0.5
        * stiffness
        * (distance * distance * u.exp_m1() - 2.0 * distance * slack * u - slack * slack * (-u).exp_m1());
    let [coarse, fine] = [wind_against_a_wall(0.01)?, wind_against_a_wall(0.0025)?];
    let exact =
        [tension, stored, stiffness * (distance - slack), 0.5 * stiffness * (distance - slack).powi(2)];
    let errors = |found: [f64; 4]| [0, 1, 2, 3].map(|k| (found[k] / exact[k] - 1.0).abs());
    let [coarse, fine] = [errors(coarse), errors(fine)];
    // Of first order in the step.
    assert!(coarse[0] < 5e-4 && fine[0] < 0.26 * coarse[0], "{coarse:?} {fine:?}");
    // Two laps and a half average an elongation that grows fivefold: a twelfth of the square of its relative growth.
    assert!(coarse[1] < 0.02 && fine[1] < 0.02, "{coarse:?} {fine:?}");
    assert!(fine[2] < 1e-9 && fine[3] < 1e-9, "{fine:?}");
    Ok(())
}

/// Winds two turns at 100 N, and then moves the load in small steps until the free tension is this.
fn wound_then(friction: f64, turns: f64, tensions: &[f64]) -> Result<Shown, Error> {
    let whole = RADIUS * TAU * turns + 1.0;
    let slack = whole - 0.05;
    let mut winch = Winch::new(friction, elastic(2000.0, slack))?;
    let angle = TAU * turns;
    for i in 0..=100 {
        let angle = angle * 0.01 * f64::from(i);
        winch.step(angle, whole - RADIUS * angle)?;
    }
    let mut x = 1.0;
    let mut shown = winch.step(angle, x)?;
    for &wanted in tensions {
        let rising = wanted > shown.tensions[shown.tensions.len() - 1];
        while rising == (wanted > shown.tensions[shown.tensions.len() - 1]) {
            x += if rising { 2e-5 } else { -2e-5 };
            shown = winch.step(angle, x)?;
        }
    }
    Ok(shown)
}

#[test]
fn the_drum_holds_by_the_capstan_equation() -> Result<(), Error> {
    const FRICTION: f64 = 0.2;
    let shown = wound_then(FRICTION, 3.0, &[200.0])?;
    let last = shown.tensions.len() - 1;
    let free = shown.tensions[last];
    // The turning from the free cable to the middle of each lap.
    let mut depth = 0.0;
    let mut checked = 0;
    for k in (0..last).rev() {
        let turning = shown.strands[k].length / RADIUS;
        depth += 0.5 * turning;
        let expected = (free * (-FRICTION * depth).exp()).max(100.0);
        depth += 0.5 * turning;
        let tension = shown.tensions[k];
        // In steps of 0.04 N, the last lap that slips has its limit from the step before.
        assert!((tension - expected).abs() < 0.05, "{k}: {tension} {expected}");
        checked += usize::from(expected > 100.0);
    }
    assert!(checked > 4);
    Ok(())
}

#[test]
fn a_drum_that_does_not_hold_slips_to_its_fixed_end() -> Result<(), Error> {
    const FRICTION: f64 = 0.1;
    let shown = wound_then(FRICTION, 1.0, &[400.0])?;
    let turning = TAU - 0.5 * shown.strands[0].length / RADIUS;
    let ratio = shown.tensions[shown.tensions.len() - 1] / shown.tensions[0];
    assert!((ratio / (FRICTION * turning).exp() - 1.0).abs() < 1e-6, "{ratio}");
    Ok(())
}

/// The ratio of tensions at which a cable slips over half a turn of a drum, near which or on which it ends: tied this far
/// from the axis as made, and as written into the state.
fn slipping_ratio(made: f64, written: f64, friction: f64) -> Result<f64, Error> {
    let mut system = ForceSystem::new();
    let bodies @ [drum, load] = [system.add_body(), system.add_body()];
    let surface = Obstacle::new(Frame::of(drum), Cylinder::new(RADIUS)?)?;
    let fixed = Station::on(drum, Point3::new(0.0, made, 0.0));
    let path = CablePath::new(fixed, Station::on(load, Point3::origin()))?.over(surface);
    let whole = RADIUS * PI + 1.0;
    let cable = CableSpring::new(path, elastic(2000.0, whole - 0.02))?.with_friction([friction])?;
    let cable = system.add(cable)?;
    let mut state = system.default_state();
    let mut parameters = state.parameters(cable).clone();
    parameters.places.origin.y = written;
    system.set_parameters(&mut state, cable, parameters)?;
    let mut ratio = 0.0_f64;
    for i in 0..1000 {
        let (wound, pulled) = (f64::from(i.min(50)) / 50.0, 1e-4 * f64::from((i - 50).max(0)));
        place(&mut state, bodies, PI * wound, 1.0 + RADIUS * PI * (1.0 - wound) + pulled)?;
        let dynamics = system.realize_dynamics(&mut state)?.of(cable).dynamics;
        if i >= 50 {
            ratio = ratio.max(dynamics.last_tension / dynamics.first_tension);
        }
        system.accept_step(&mut state)?;
    }
    Ok(ratio)
}

#[test]
fn a_cable_that_ends_a_little_off_a_drum_is_held_by_friction() -> Result<(), Error> {
    const FRICTION: f64 = 0.3;
    let on = RADIUS;
    for off in [RADIUS * (1.0 + 3e-9), RADIUS * (1.0 + 5e-7), 1.2 * RADIUS] {
        // Where the cable comes to the drum.
        let turning = PI - (RADIUS / off).min(1.0).acos();
        for (made, written) in [(off, off), (on, off)] {
            let ratio = slipping_ratio(made, written, FRICTION)?;
            assert!((ratio / (FRICTION * turning).exp() - 1.0).abs() < 1e-6, "{off} {made}: {ratio}");
        }
    }
    // Wound, it ends before the middle of its first lap of an eighth of a turn.
    for (made, written) in [(on, on), (1.2 * RADIUS, on)] {
        let ratio = slipping_ratio(made, written, FRICTION)?;
        let [least, most] = [PI - 0.5 * FRAC_PI_4, PI].map(|turning| (FRICTION * turning).exp() - 1e-6);
        assert!(least <= ratio && ratio <= most + 2e-6, "{made}: {ratio} {least} {most}");
    }
    Ok(())
}

#[test]
fn the_power_of_drum_and_load_is_the_rate_of_the_energy_stored() -> Result<(), Error> {
    const STEP: f64 = 1e-5;
    // Nothing slips.
    let mut winch = Winch::new(1000.0, elastic(1000.0, 2.9))?;
    for i in 0..40 {
        winch.step(0.1 * f64::from(i), 3.0 - 0.1 * RADIUS * f64::from(i) + 0.05 * f64::from(i).sin())?;
    }
    // From the last commit on, some way along.
    let (angle, x, [spin, speed]) = (3.95, 2.3, [0.7, -0.4]);
    let mut at = |time: f64| -> Result<[f64; 2], Error> {
        place(&mut winch.state, winch.bodies, angle + spin * time, x + speed * time)?;
        let view = winch.system.realize_dynamics(&mut winch.state)?;
        let [torque, pull] =
            [view.body_force(winch.bodies[0]).torque.z, view.body_force(winch.bodies[1]).force.x];
        Ok([torque * spin + pull * speed, view.of(winch.cable).dynamics.potential_energy])
    };
    let [power, _] = at(0.0)?;
    let rate = (at(STEP)?[1] - at(-STEP)?[1]) / (2.0 * STEP);
    assert!((power + rate).abs() < 1e-6 * rate.abs() && rate.abs() > 1.0, "{power} {rate}");
    Ok(())
}

/// A load of 2 kg that falls along x while the drum hauls it in, turns and lets it out. Returns the energy that has got
/// lost, and the largest tension.
fn haul(friction: f64, dt: f64) -> Result<[f64; 2], Error> {
    const MASS: f64 = 2.0;
    const WEIGHT: f64 = 20.0;
    let mut winch = Winch::new(friction, elastic(4000.0, 4.0))?;
    let (mut x, mut speed, mut angle) = (4.0 + WEIGHT / 4000.0, 0.0, 0.0);
    let mut shown = winch.step(angle, x)?;
    let energy = |x: f64, speed: f64, shown: &Shown| 0.5 * MASS * speed * speed - WEIGHT * x + shown.stored;
    let first = energy(x, speed, &shown);
    let (mut work, mut most, mut time) = (0.0, 0.0_f64, 0.0);
    while time < 4.0 {
        let pull = |shown: &Shown| -shown.tensions[shown.tensions.len() - 1];
        // Velocity Verlet: half of the kick before the step, half after.
        speed += 0.5 * dt * (pull(&shown) + WEIGHT) / MASS;
        x += dt * speed;
        let turned = 6.0 * (0.5 - 0.5 * (0.25 * TAU * (time + dt)).cos()) - angle;
        angle += turned;
        time += dt;
        let before = shown.torque;
        place(&mut winch.state, winch.bodies, angle, x)?;
        shown = winch.evaluate()?;
        work -= 0.5 * (before + shown.torque) * turned;
        speed += 0.5 * dt * (pull(&shown) + WEIGHT) / MASS;
        winch.system.accept_step(&mut winch.state)?;
        shown = winch.evaluate()?;
        most = most.max(-pull(&shown));
    }
    Ok([first + work - energy(x, speed, &shown), most])
}

#[test]
fn the_work_of_a_winch_is_the_energy_of_its_load_and_cable() -> Result<(), Error> {
    for friction in [0.0, 0.3] {
        let [coarse, most] = haul(friction, 2e-3)?;
        let [fine, _] = haul(friction, 5e-4)?;
        if friction > 0.0 {
            // Material slips a little on the drum while the load swings.
            assert!(fine > 0.0 && (coarse - fine).abs() < 0.02 * fine && fine < 1e-3, "{coarse} {fine}");
        } else {
            // Of second order in the step.
            assert!(coarse.abs() < 1e-4 && fine.abs() < 0.07 * coarse.abs(), "{coarse} {fine}");
        }
        assert!(most > 1.2 * 20.0, "{most}");
    }
    Ok(())
}

#[test]
fn a_drum_at_the_end_is_one_at_the_beginning_and_one_that_is_empty_winds_the_other_way() -> Result<(), Error>
{
    let elastic = elastic(1000.0, 2.9);
    let mut winches = [Winch::new(0.3, elastic)?, Winch::reversed(0.3, elastic)?];
    let mut other_way = 0;
    for i in (0..60).chain((-90..60).rev()) {
        let angle = 0.1 * f64::from(i);
        let [wound, _] = wound_and_free(angle, 3.0);
        let x = 3.0 - wound + 0.02 * angle.sin();
        let mut shown = winches.each_mut().map(|winch| winch.step(angle, x));
        let [Ok(begins), Ok(ends)] = &mut shown else {
            return Err(shown.map(Result::err).into_iter().flatten().next().expect("one"));
        };
        ends.tensions.reverse();
        assert_eq!(begins.tensions.len(), ends.tensions.len(), "{i}");
        for (a, b) in begins.tensions.iter().zip(&ends.tensions) {
            assert!((a - b).abs() < 1e-7, "{i}: {a} {b}");
        }
        assert!((begins.torque - ends.torque).abs() < 1e-7, "{i}");
        let shares: f64 = begins.strands.iter().map(|strand| strand.share).sum();
        assert!((shares - 1.0).abs() < 1e-12, "{i}: {shares}");
        if angle.abs() > 4.0 {
            let free = begins.tensions[begins.tensions.len() - 1];
            assert!((begins.torque + free * RADIUS * angle.signum()).abs() < 1e-6 * free, "{i}");
            other_way += u32::from(angle < 0.0);
        }
    }
    assert!(other_way > 30);
    Ok(())
}

/// Of an ellipsoid, which is curved differently at both ends of what is wound.
#[test]
fn an_uneven_drum_winds_alike_at_the_end_and_at_the_beginning() -> Result<(), Error> {
    let semi_axes = Vector3::new(0.2, 0.35, 0.25);
    let torque = |is_reversed: bool| -> Result<Vec<f64>, Error> {
        let mut system = ForceSystem::new();
        let drum = system.add_body();
        let ends = [
            Station::on(drum, Point3::new(0.0, semi_axes.y, 0.0)),
            Station::ground(Point3::new(2.0, 0.3, 0.0)),
        ];
        let [from, to] = if is_reversed { [ends[1], ends[0]] } else { ends };
        let path =
            CablePath::new(from, to)?.over(Obstacle::new(Frame::of(drum), Ellipsoid::new(semi_axes)?)?);
        system.add(CableSpring::new(path, elastic(1000.0, 1.9))?.with_friction([0.3])?)?;
        let mut state = system.default_state();
        let mut torques = Vec::new();
        for i in (0..150).chain((100..150).rev()) {
            state.set_pose(drum, Pose::rotation(Vector3::z() * (0.01 * f64::from(i))))?;
            torques.push(system.realize_dynamics(&mut state)?.body_force(drum).torque.z);
            system.accept_step(&mut state)?;
        }
        Ok(torques)
    };
    let [begins, ends] = [torque(false)?, torque(true)?];
    assert!(begins.iter().any(|torque| torque.abs() > 20.0), "{begins:?}");
    for (i, (a, b)) in begins.iter().zip(&ends).enumerate() {
        // Paths are smooth to 1e-9.
        assert!((a - b).abs() < 1e-7, "{i}: {a} {b}");
    }
    Ok(())
}

#[test]
fn a_saved_winch_goes_on_to_the_same_bits() -> Result<(), Error> {
    let mut winch = Winch::new(0.3, elastic(1000.0, 2.9))?;
    let go_on = |winch: &mut Winch, from: i32| -> Result<Shown, Error> {
        (from..from + 30)
            .map(|i| winch.step(0.2 * f64::from(i), 3.0 - 0.03 * f64::from(i)))
            .last()
            .expect("steps")
    };
    go_on(&mut winch, 0)?;
    let saved = winch.state.snapshot();
    let expected = go_on(&mut winch, 30)?;
    winch.state.restore(&saved)?;
    let found = go_on(&mut winch, 30)?;
    assert!(found.tensions.len() > 5);
    assert_eq!(found.tensions, expected.tensions);
    Ok(())
}

#[test]
fn winding_and_unwinding_do_not_allocate_after_the_first_time() -> Result<(), Error> {
    // With checks of steps the number of reported springs grows once more, as winding begins with the memory of the end.
    for (is_checked, rounds_before) in [(false, 1), (true, 2)] {
        let mut winch = Winch::new(0.3, elastic(1000.0, 9.9))?;
        let once = |state: &mut State<f64>| -> Result<(), Error> {
            for i in (0..120).chain((0..120).rev()) {
                let angle = 0.2 * f64::from(i);
                place(state, winch.bodies, angle, 10.0 - RADIUS * angle)?;
                winch.system.realize_dynamics(state)?;
                if is_checked {
                    check_step(&winch.system, state)?;
                }
                winch.system.accept_step(state)?;
            }
            Ok(())
        };
        (0..rounds_before).try_for_each(|_| once(&mut winch.state))?;
        let mut outcome = Ok(());
        let counted = allocation_counter::measure(|| outcome = once(&mut winch.state));
        outcome?;
        assert_eq!(counted.count_total, 0, "{is_checked}");
    }
    Ok(())
}

#[test]
fn the_next_lap_of_a_winch_at_rest_has_the_derivative_of_winding() -> Result<(), Error> {
    for i in 1..=200 {
        let angle = 0.01 * f64::from(i);
        let mut system = ForceSystem::new();
        let [drum, load] = [system.add_body(), system.add_body()];
        let surface = Obstacle::new(Frame::of(drum), Cylinder::new(RADIUS)?)?;
        let fixed = Station::on(drum, Point3::new(RADIUS, 0.0, 0.0));
        let mut ends = [fixed, Station::on(load, Point3::origin())];
        if i % 2 == 0 {
            ends.reverse();
        }
        let path = CablePath::new(ends[0], ends[1])?.over(surface);
        let winch = system.add(CableSpring::new(path, elastic(1e4, 9.99))?.with_friction(vec![0.2])?)?;
        let mut state = system.default_state();
        for turned in [0.0, 0.25, 0.5, 0.75, 1.0, 1.0, 1.0].map(|part| part * angle) {
            state.set_pose(drum, Pose::rotation(Vector3::z() * turned))?;
            state.set_pose(load, Pose::translation(RADIUS, -9.69, 0.0))?;
            system.realize_dynamics(&mut state)?;
            system.accept_step(&mut state)?;
        }
        system.realize_dynamics(&mut state)?;
        let mut linearization = Linearization::of(Scope { variables: true, commit: true });
        system.linearize(&state, &mut linearization)?;

        let laps = &state.discrete(winch).grips.laps;
        let outermost = laps.iter().rposition(|lap| lap.share > 0.0).expect("wound");
        let names = state.linearized_variables(winch)?;
        let place_of = |name: &str| names.iter().position(|known| known.ends_with(name)).expect("exists");
        let row = place_of(&format!("laps[{outermost}].length")) - place_of("wraps[0].point.x");
        let by_turn = Column::Motion(End::Body(drum));
        let blocks = linearization.element(winch).blocks();
        let of_lap = blocks.filter(|&(of, by, _)| (of, by) == (Row::Next(row), by_turn));
        let derivative: f64 = of_lap.map(|(_, _, numbers)| numbers[2]).sum();
        // The drum winds its radius times its turn.
        assert!((derivative.abs() - RADIUS).abs() < 1e-9, "{angle}: {derivative}");
    }
    Ok(())
}

/// A winch whose place is rounded as coarsely as its surface is fine.
#[test]
fn winches_wind_in_single_precision_far_from_the_origin() -> Result<(), Error> {
    for (height, radius) in [(0.0, 0.2_f32), (10.0, 0.2), (1.0, 0.02)] {
        let mut system = ForceSystem::<f32>::new();
        let [drum, load] = [system.add_body(), system.add_body()];
        let fixed = Station::on(drum, Point3::new(radius, 0.0, 0.0));
        let around = Obstacle::new(Frame::of(drum), Cylinder::new(radius)?)?;
        let path = CablePath::new(fixed, Station::on(load, Point3::origin()))?.over(around);
        let elastic = Parameters { stiffness: 1e4, slack_length: 9.99, dissipation: 0.0 };
        let cable = system.add(CableSpring::new(path, elastic)?.with_friction([0.2])?)?;
        let mut state = system.default_state();
        for step in 0..400_u16 {
            let angle = 0.05 * f32::from(step);
            let turned = Pose::rotation(Vector3::z() * angle);
            state.set_pose(drum, Pose::translation(0.0, height, 0.0) * turned)?;
            state.set_pose(load, Pose::translation(radius, height + radius * angle - 10.0, 0.0))?;
            let dynamics = system.realize_dynamics(&mut state)?;
            let position = &dynamics.of(cable).position;
            assert!((position.path.length - 10.0).abs() < 1e-3, "{step}: {}", position.path.length);
            assert!(step < 3 || position.strands.all.iter().any(|strand| strand.is_wound), "{step}");
            system.accept_step(&mut state)?;
        }
    }
    Ok(())
}

#[test]
fn a_load_that_is_hauled_onto_the_drum_leaves_a_memory_that_is_valid() -> Result<(), Error> {
    for ends_on_drum in [false, true] {
        let mut system = ForceSystem::new();
        let bodies @ [drum, load] = [system.add_body(), system.add_body()];
        let ends = [Station::on(drum, Point3::new(0.0, RADIUS, 0.0)), Station::on(load, Point3::origin())];
        let [from, to] = if ends_on_drum { [ends[1], ends[0]] } else { ends };
        let surface = Obstacle::new(Frame::of(drum), Cylinder::new(RADIUS)?)?;
        let cable = CableSpring::new(CablePath::new(from, to)?.over(surface), elastic(100.0, 0.1))?;
        let cable = system.add(cable.with_friction([0.2])?)?;
        let mut state = system.default_state();
        for i in 0..=20 {
            place(&mut state, bodies, 0.1 * f64::from(i), 1.0 - 0.05 * f64::from(i))?;
            let dynamics = system.realize_dynamics(&mut state)?;
            if i == 20 {
                let segments = &dynamics.of(cable).position.path.segments;
                assert!(segments.iter().all(|segment| segment.length == 0.0), "none of the cable is free");
            }
            let stored = dynamics.potential_energy();
            system.accept_step(&mut state)?;
            let after = system.realize_dynamics(&mut state)?.potential_energy();
            assert!(after <= stored * (1.0 + 1e-9), "{i}: {stored} J, {after} J after the commit");
        }
        // And off again.
        place(&mut state, bodies, 2.0, 0.1)?;
        system.realize_dynamics(&mut state)?;
        system.accept_step(&mut state)?;
    }
    Ok(())
}

/// A drum between the ends, and one on which the cable ends, turned as by a host in single precision: of its body, and of the
/// drum within the body.
#[test]
fn cables_pass_drums_whose_rotations_are_in_single_precision() {
    #[expect(clippy::cast_possible_truncation, reason = "it is what single precision does")]
    let single = |R: Rotation3<f64>| {
        let entries = R.matrix().map(|entry| f64::from(entry as f32));
        Pose::from_parts(Vector3::zeros().into(), Rotation3::from_matrix_unchecked(entries))
    };
    for seed in 0..200_u32 {
        let turn = |k: u32| {
            let angle = |axis: u32| 0.5 * f64::from(seed * 11 + k + axis * axis).sin();
            single(Rotation3::new(Vector3::new(angle(1), angle(2), angle(3))))
        };
        for ends_on_drum in [false, true] {
            for of_body in [false, true] {
                let length = |round: fn(Pose<f64>) -> Pose<f64>| -> Result<f64, Error> {
                    let [X_GB, X_BS] =
                        if of_body { [turn(0), Pose::identity()] } else { [Pose::identity(), turn(0)] };
                    let (X_GB, X_BS) = (round(X_GB), round(X_BS));
                    let mut system = ForceSystem::new();
                    let drum = system.add_body();
                    let surface = Obstacle::new(Frame::on(drum, X_BS), Cylinder::new(RADIUS)?)?;
                    let end = Station::ground(Point3::new(1.0, 0.02, 0.05));
                    let path = if ends_on_drum {
                        // On the drum to rounding.
                        let exact = if of_body { X_BS } else { exact(X_BS) };
                        CablePath::new(Station::on(drum, exact * Point3::new(0.0, RADIUS, 0.0)), end)?
                            .over(surface)
                    } else {
                        let hinted = surface.with_contact_hint(Point3::new(0.0, RADIUS, 0.0))?;
                        CablePath::new(Station::ground(Point3::new(-1.0, 0.1, 0.0)), end)?.over(hinted)
                    };
                    let cable = system.add(CableSpring::new(path, elastic(1e3, 1.0))?)?;
                    let mut state = system.default_state();
                    state.set_pose(drum, X_GB)?;
                    Ok(system.realize_position(&mut state)?.of(cable).position.path.length)
                };
                let [rounded, exact] = [length(|X| X), length(exact)].map(|found| found.expect("a path"));
                // Entries of a rotation in single precision err by 6e-8.
                assert!((rounded - exact).abs() < 2e-7, "{seed} {ends_on_drum} {of_body}: {rounded} {exact}");
            }
        }
    }
}

fn exact(X: Pose<f64>) -> Pose<f64> {
    let mut R = X.rotation;
    R.renormalize();
    Pose::from_parts(X.translation, R)
}
