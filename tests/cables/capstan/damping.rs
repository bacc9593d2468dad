//! Damping beside friction: one motion for all integrators, and tensions without jumps.

use core::f64::consts::PI;
use std::sync::Arc;

use force_elements::cable::{CablePath, Obstacle};
use force_elements::nalgebra::{Matrix3, Point3, Vector3};
use force_elements::shapes::Cylinder;
use force_elements::simulation::{
    DormandPrince, Integrator, Plant, RigidBody, SemiImplicitEuler, Simulation, SimulationError,
};
use force_elements::{
    BodyIndex, CableSpring, CoordinateIndex, Error, ForceSystem, Frame, Handle, Inertias, Linearization,
    Pose, SpatialVelocity, State, Station, StepMethod, cable_spring,
};

use super::scene::{Hoist, elastic};

const RADIUS: f64 = 0.2;

/// Bollards 1 m apart with a cable over them, tied 1 m below the first one, and a load on it, 1 m below the last one when
/// the cable is just taut.
struct Bollards {
    system: ForceSystem<f64>,
    plant: Plant<f64>,
    load: BodyIndex,
    cable: Handle<CableSpring<f64>>,
    x: f64,
}

impl Bollards {
    fn new(friction: &[f64], stiffness: f64, dissipation: f64) -> Result<Self, SimulationError> {
        let mut system = ForceSystem::new();
        let mut plant = Plant::new(Vector3::new(0.0, -9.81, 0.0))?;
        let load = plant.add_body(&mut system, RigidBody::with_equal_inertia(40.0, 1.0)?);
        let tied = Station::ground(Point3::new(-RADIUS, -1.0, 0.0));
        let mut path = CablePath::new(tied, Station::on(load, Point3::origin()))?;
        let mut x = -1.0;
        for _ in friction {
            x += 1.0;
            let at = Frame::ground(Pose::translation(x, 0.0, 0.0));
            let top = Point3::new(0.0, RADIUS, 0.0);
            path = path.over(Obstacle::new(at, Cylinder::new(RADIUS)?)?.with_contact_hint(top)?);
        }
        let elastic =
            cable_spring::Parameters { stiffness, slack_length: 2.0 + PI * RADIUS + x, dissipation };
        let cable = system.add(CableSpring::new(path, elastic)?.with_friction(friction.to_vec())?)?;
        Ok(Self { system, plant, load, cable, x: x + RADIUS })
    }

    /// The heights of the load every twentieth of a second after it is let go.
    fn fall(&self, integrator: &mut impl Integrator<f64>) -> Result<Vec<f64>, SimulationError> {
        let mut start = self.system.default_state();
        start.set_pose(self.load, Pose::translation(self.x, -1.0, 0.0))?;
        let mut simulation = Simulation::new(&self.system, &self.plant, start)?;
        let mut heights = Vec::new();
        for i in 1..=10 {
            simulation.run(integrator, 0.05 * f64::from(i), |_| {})?;
            heights.push(simulation.state().positions().pose(self.load).translation.y);
        }
        Ok(heights)
    }

    /// Moves the load up and down, at up to 1 m/s.
    fn place(&self, state: &mut State<f64>, time: f64) -> Result<[f64; 2], Error> {
        let (height, rate) = (0.1 * (10.0 * time).cos() - 1.3, -(10.0 * time).sin());
        self.put(state, [height, rate])?;
        Ok([height, rate])
    }

    fn put(&self, state: &mut State<f64>, [height, rate]: [f64; 2]) -> Result<(), Error> {
        let V = SpatialVelocity::new(Vector3::zeros(), Vector3::y() * rate);
        state.set_body(self.load, Pose::translation(self.x, height, 0.0), V)
    }

    /// By how much tensions jump at most from one step to the next, and at a commit, relative to the greatest.
    fn jumps(&self, dt: f64) -> Result<[f64; 2], Error> {
        let mut state = self.system.default_state();
        let mut last: Vec<f64> = Vec::new();
        let mut most = [0.0_f64; 2];
        let (mut time, mut slipped) = (0.0, 0);
        while time < 0.7 {
            self.place(&mut state, time)?;
            for (i, jump) in most.iter_mut().enumerate() {
                let at = self.system.realize_dynamics(&mut state)?.of(self.cable);
                let (tensions, strands) = (&at.dynamics.tensions, &at.position.strands.all);
                // Before the first commit there is a single strand.
                if tensions.len() == last.len() {
                    let greatest = tensions.iter().fold(0.0, |most: f64, &f| most.max(f));
                    for (now, then) in tensions.iter().zip(&last) {
                        *jump = jump.max((now - then).abs() / greatest);
                    }
                }
                last.clone_from(tensions);
                slipped += u32::from(strands.iter().any(|strand| strand.share != strand.committed_share));
                if i == 0 {
                    self.system.accept_step(&mut state)?;
                }
            }
            time += dt;
        }
        assert!(slipped > 100, "{slipped}");
        Ok(most)
    }

    /// The vertical force on the load.
    fn pull(&self, state: &mut State<f64>, motion: [f64; 2]) -> Result<f64, Error> {
        self.put(state, motion)?;
        Ok(self.system.realize_dynamics(state)?.body_force(self.load).force.y)
    }

    /// Compares a linearization with differences to either side; returns whether there is a kink.
    fn check_derivatives(&self, state: &State<f64>, motion: [f64; 2]) -> Result<bool, Error> {
        let mut state = state.clone();
        self.pull(&mut state, motion)?;
        let mut linearization = Linearization::new();
        self.system.linearize(&state, &mut linearization)?;
        // Where two contacts have just slipped, rounding tells for each whether it sticks: then it is of no one side.
        let branches = linearization.element(self.cable).branches();
        let is_at = |name: &str| branches.iter().any(|branch| branch.name == name && branch.margin < 1e-9);
        if is_at("sticking") && is_at("slipping") {
            return Ok(true);
        }
        let matrices = linearization.to_dense();
        let mut is_kink = false;
        for (i, matrix) in matrices.iter().enumerate() {
            let mut slopes = [0.0; 2];
            for (slope, h) in slopes.iter_mut().zip([1e-5, -1e-5]) {
                let mut at = |steps: f64| {
                    let mut moved = motion;
                    moved[i] += steps * h;
                    self.pull(&mut state, moved)
                };
                // To second order.
                *slope = (4.0 * at(1.0)? - 3.0 * at(0.0)? - at(2.0)?) / (2.0 * h);
            }
            // Of 1e5 N/m, with lengths that are smooth over 0.1 m, and known to 1e-13 m.
            let off = slopes.map(|slope| (matrix[(4, 4)] - slope).abs());
            assert!(off[0].min(off[1]) < 1e-1, "{motion:?}, {i}: {} {slopes:?}", matrix[(4, 4)]);
            is_kink |= off[0].max(off[1]) > 10.0;
        }
        Ok(is_kink)
    }
}

#[test]
fn all_integrators_converge_to_one_motion_at_first_order_in_the_step() -> Result<(), SimulationError> {
    for friction in [vec![0.5], vec![0.3, 0.05]] {
        let bollards = Bollards::new(&friction, 2e4, 0.1)?;
        let accurate = bollards.fall(&mut DormandPrince::new(1e-9).with_max_step(1e-3))?;
        let mut last = f64::INFINITY;
        for step in [4e-4, 2e-4, 1e-4, 5e-5] {
            let heights = bollards.fall(&mut SemiImplicitEuler::new(step))?;
            let off = heights.iter().zip(&accurate).fold(0.0, |most: f64, (a, b)| most.max((a - b).abs()));
            // First order halves it.
            assert!(off < 0.6 * last, "{friction:?}, {step} s: {off:e} m after {last:e} m");
            last = off;
        }
    }
    Ok(())
}

#[test]
fn a_rope_that_slips_is_damped_by_the_rate_at_which_it_stretches() -> Result<(), Error> {
    let (stiffness, dissipation, dt) = (1e5, 0.6, 1e-4);
    for speed in [-3.0, -0.3, 0.3, 3.0] {
        // Material passes much faster than the rope stretches.
        for stretching in [0.0, 0.05, -0.05] {
            let slack_length = 4.0 + PI - 0.02;
            let law = elastic(stiffness, slack_length, dissipation);
            let mut hoist = Hoist::over(Arc::new(Cylinder::new(1.0)?), 1.0, 0.3, law)?;
            let mut last: Vec<[[f64; 3]; 2]> = Vec::new();
            for i in 0..1000 {
                let time = dt * f64::from(i);
                hoist.speeds = [speed, -speed - stretching];
                hoist.heights = hoist.speeds.map(|speed| speed * time - 2.0);
                let shown = hoist.evaluate()?;
                hoist.accept()?;
                if i < 300 {
                    continue;
                }
                last.push([0, 1].map(|k| {
                    let x = shown.strands[k].elongation;
                    [x, shown.tensions[k] / (stiffness * x) - 1.0, shown.strands[k].share]
                }));
            }
            for three in last.windows(3) {
                // Both tensions rise as one, since the limit holds their ratio.
                let rates = [0, 1].map(|k| (three[2][k][0] - three[0][k][0]) / (2.0 * dt));
                let weights = three[1].map(|[x, _, share]| share / (slack_length + x));
                let mean = (weights[0] * rates[0] + weights[1] * rates[1]) / (weights[0] + weights[1]);
                for [_, rise, _] in three[1] {
                    // Differences of second order in a step of 1e-4.
                    assert!((rise - dissipation * mean).abs() < 1e-6, "{speed}: {rise} {mean}");
                }
            }
        }
    }
    Ok(())
}

/// The energies lost in three cycles: from rest positions along a curve in one time, and back in another.
fn cycle(draw: &mut impl FnMut() -> f64) -> Result<[f64; 3], Error> {
    const STEPS: u32 = 40;
    let mut between = |least: f64, most: f64| least + (most - least) * draw();
    let dissipation = between(0.1, 1.0);
    let law = elastic(1e5, 4.0 + PI - 0.02, dissipation);
    let mut hoist = Hoist::over(Arc::new(Cylinder::new(1.0)?), 1.0, between(0.05, 0.65), law)?;
    let [a, b] = [0; 2].map(|_| between(-0.002, 0.002));
    let (off, bend) = (between(-0.005, 0.005), between(-1.0, 1.0));
    let times = [between(0.002, 0.022), between(0.002, 1.0)];
    let at = |s: f64| {
        let bulge = bend * s * (1.0 - s);
        [off - 2.0 + a * s + b * bulge, -off - 2.0 + b * s - a * bulge]
    };
    hoist.heights = at(0.0);
    hoist.step()?;
    let mut lost = [0.0; 3];
    for lost in &mut lost {
        hoist.heights = at(0.0);
        let before = hoist.evaluate()?.stored;
        let mut work = 0.0;
        for (sign, time) in [1.0, -1.0].into_iter().zip(times) {
            for step in 0..STEPS {
                let [start, middle, end] = [0.0, 0.5, 1.0].map(|part| {
                    let s = (f64::from(step) + part) / f64::from(STEPS);
                    at(if sign > 0.0 { s } else { 1.0 - s })
                });
                hoist.heights = middle;
                let moved = [0, 1].map(|k| end[k] - start[k]);
                hoist.speeds = moved.map(|moved| moved * f64::from(STEPS) / time);
                let shown = hoist.evaluate()?;
                work -= shown.pulls[0] * moved[0] + shown.pulls[1] * moved[1];
                hoist.accept()?;
            }
        }
        hoist.heights = at(0.0);
        *lost = work - (hoist.evaluate()?.stored - before);
    }
    Ok(lost)
}

#[test]
fn cycles_of_unequal_speeds_dissipate() -> Result<(), Error> {
    let mut seed = 1_u64;
    let mut draw = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        f64::from(u32::try_from(seed >> 32).unwrap_or(0)) / f64::from(u32::MAX)
    };
    for i in 0..400 {
        let lost = cycle(&mut draw)?;
        assert!(lost.iter().all(|lost| *lost > 0.0), "{i}: {lost:?}");
    }
    Ok(())
}

#[test]
fn tensions_are_continuous_as_slip_begins_and_at_commits() -> Result<(), SimulationError> {
    for friction in [vec![0.3, 0.3], vec![5.0, 0.05], vec![0.2]] {
        let bollards = Bollards::new(&friction, 2e4, 0.3)?;
        let [coarse, fine] = [bollards.jumps(2e-4)?, bollards.jumps(2e-5)?];
        for (fine, coarse) in fine.iter().zip(coarse) {
            // A tenth of the step, a tenth of the changes.
            assert!(*fine < 0.15 * coarse || *fine < 1e-9, "{friction:?}: {fine:e} {coarse:e}");
        }
    }
    Ok(())
}

#[test]
fn derivatives_are_those_of_differences_just_committed_just_reset_and_between() -> Result<(), SimulationError>
{
    for friction in [vec![0.3, 0.3], vec![5.0, 0.05]] {
        let bollards = Bollards::new(&friction, 2e4, 0.3)?;
        let mut state = bollards.system.default_state();
        let mut kinks = [0; 2];
        for i in 0..160 {
            if i == 77 {
                bollards.system.reset_memory(&mut state, bollards.cable)?;
            }
            let motion = bollards.place(&mut state, 0.005 * f64::from(i))?;
            for (k, kinks) in kinks.iter_mut().enumerate() {
                *kinks += u32::from(bollards.check_derivatives(&state, motion)?);
                if k == 0 {
                    bollards.system.realize_dynamics(&mut state)?;
                    bollards.system.accept_step(&mut state)?;
                }
            }
        }
        // What has just slipped sticks to one side, and slips on to the other.
        assert!(kinks[0] < 10 && kinks[1] > 20, "{kinks:?}");
    }
    Ok(())
}

/// Equal loads that do not turn.
struct Loads {
    mass: f64,
}

impl Inertias for Loads {
    fn mass(&self, _: BodyIndex) -> f64 {
        self.mass
    }
    fn inertia(&self, _: BodyIndex) -> Matrix3<f64> {
        Matrix3::from_diagonal_element(f64::INFINITY)
    }
    fn coordinate_mass(&self, _: CoordinateIndex) -> f64 {
        self.mass
    }
}

/// Its gap is that of the strand that is stretched most, and it is stiffer while that is stretched further.
#[test]
fn the_gap_and_the_stiffness_are_those_of_the_most_stretched_strand() -> Result<(), Error> {
    let (stiffness, dissipation) = (1000.0, 0.5);
    let slack_length = 4.0 + PI;
    let mut hoist =
        Hoist::over(Arc::new(Cylinder::new(1.0)?), 1.0, 0.5, elastic(stiffness, slack_length, dissipation))?;
    hoist.heights = [-2.005; 2];
    hoist.step()?;
    let reported = |hoist: &mut Hoist| -> Result<_, Error> {
        let shown = hoist.evaluate()?;
        let mut gaps = Vec::new();
        hoist.system.write_gaps(&hoist.state, &mut gaps)?;
        let step =
            hoist.system.stable_step(&hoist.state, &Loads { mass: 2.0 }, StepMethod::SymplecticEuler, 0.0)?;
        Ok((shown, gaps[0], step.frequency * step.frequency * 2.0))
    };
    hoist.heights = [-1.995, -2.055];
    let (shown, gap, _) = reported(&mut hoist)?;
    let greatest = shown.tensions.iter().fold(0.0, |most: f64, tension| most.max(*tension));
    // Friction of exp(0.5π) = 4.8 holds the difference only in part.
    assert!(shown.pulls[0] > 1.0 && shown.pulls[1] > 2.0 * shown.pulls[0], "{shown:?}");
    assert!((gap.distance + greatest / stiffness).abs() < 1e-12, "{gap:?} {greatest}");
    for speed in [0.0, -1.0, -10.0] {
        hoist.speeds = [0.0, speed];
        let (_, _, found) = reported(&mut hoist)?;
        let mut pull = |by: f64| -> Result<f64, Error> {
            hoist.heights[1] += by;
            let pull = hoist.evaluate()?.pulls[1];
            hoist.heights[1] -= by;
            Ok(pull)
        };
        let slope = (pull(-1e-6)? - pull(1e-6)?) / 2e-6;
        // Strands are counted as if none yielded.
        assert!(found > slope && found < 4.0 * slope, "{speed}: {found} {slope}");
    }
    Ok(())
}
