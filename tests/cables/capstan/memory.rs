//! Memory: material is conserved through touchdown and liftoff, saved and carried over.

use std::sync::Arc;

use approx::assert_relative_eq;
use force_elements::cable::{CablePath, Obstacle, SplineCurve, ViaPoint};
use force_elements::cable_spring::Parameters;
use force_elements::nalgebra::{Point3, Vector3};
use force_elements::shapes::{Cylinder, Ellipsoid, Sphere};
use force_elements::{
    BodyIndex, CableSpring, Error, ForceSystem, Forces, Frame, Handle, Linearization, Pose, Refusal, Scope,
    State, Station, VariableVector, Variation,
};

use super::scene::{Hoist, elastic};

struct Swing {
    system: ForceSystem<f64>,
    cable: Handle<CableSpring<f64>>,
    bodies: [BodyIndex; 2],
}

impl Swing {
    fn new() -> Result<Self, Error> {
        let mut system = ForceSystem::new();
        let bodies = [system.add_body(), system.add_body()];
        let at = |x| Frame::ground(Pose::translation(x, -0.6, 0.0));
        let path = CablePath::new(
            Station::on(bodies[0], Point3::origin()),
            Station::on(bodies[1], Point3::origin()),
        )?
        .over(Obstacle::new(at(0.0), Ellipsoid::new(Vector3::new(0.7, 0.6, 1.0))?)?)
        .over(Obstacle::new(at(2.0), Sphere::new(0.6)?)?)
        .through(Station::ground(Point3::new(3.5, 0.1, 0.0)))?
        .over(Obstacle::new(at(5.0), Cylinder::new(0.6)?)?);
        let cable = system
            .add(CableSpring::new(path, elastic(300.0, 8.8, 0.0))?.with_friction(vec![0.7, 0.9, 0.8])?)?;
        Ok(Self { system, cable, bodies })
    }

    /// Evaluates and accepts; returns the number of contacts, and the energies before and after the commit.
    fn step(&self, state: &mut State<f64>, i: u32) -> Result<(usize, [f64; 2]), Error> {
        self.step_to(state, 0.01 * f64::from(i))
    }

    fn step_to(&self, state: &mut State<f64>, t: f64) -> Result<(usize, [f64; 2]), Error> {
        state.set_time(t)?;
        let [a, b] = self.bodies;
        state.set_pose(a, Pose::translation(-2.0, 0.6 * t.sin(), 0.3 * (0.7 * t).sin()))?;
        state.set_pose(b, Pose::translation(7.0, -0.5 * (1.1 * t).sin(), 0.2 * (1.3 * t).cos()))?;
        let before = self.system.realize_dynamics(state)?.potential_energy();
        self.system.accept_step(state)?;
        let view = self.system.realize_dynamics(state)?;
        let at = view.of(self.cable);
        let count = at.position.path.contacts.iter().filter(|contact| contact.in_contact).count();
        Ok((count, [before, view.potential_energy()]))
    }
}

#[test]
fn material_and_length_are_conserved() -> Result<(), Error> {
    let swing = Swing::new()?;
    let mut state = swing.system.default_state();
    let mut counts = [0; 4];
    let mut tensions_differ = 0;
    for i in 0..3000 {
        let (count, _) = swing.step(&mut state, i)?;
        counts[count] += 1;
        let view = swing.system.realize_dynamics(&mut state)?;
        let at = view.of(swing.cable);
        let strands = &at.position.strands.all;
        assert_eq!(strands.len(), count + 2, "a via point has a mark too");
        let material: f64 = strands.iter().map(|strand| strand.share).sum();
        let length: f64 = strands.iter().map(|strand| strand.length).sum();
        assert!((material - 1.0).abs() < 1e-14, "{material}");
        assert!((length - at.position.path.length).abs() < 1e-13);
        let [least, most] = at
            .dynamics
            .tensions
            .iter()
            .fold([f64::INFINITY, 0.0], |[least, most], &f| [f64::min(least, f), f64::max(most, f)]);
        tensions_differ += usize::from(most > 1.1 * least);
    }
    assert!(counts.iter().filter(|&&count| count > 100).count() >= 3, "{counts:?}");
    assert!(tensions_differ > 1000, "{tensions_differ}");
    Ok(())
}

#[test]
fn a_saved_cable_goes_on_to_the_same_bits_and_so_does_one_carried_over() -> Result<(), Error> {
    let mut swing = Swing::new()?;
    let mut state = swing.system.default_state();
    for i in 0..300 {
        swing.step(&mut state, i)?;
    }
    let mut restored = swing.system.default_state();
    restored.restore(&state.snapshot())?;
    let mut carried = state.clone();
    for i in 300..900 {
        assert_eq!(swing.step(&mut state, i)?, swing.step(&mut restored, i)?);
    }
    assert_eq!(state.snapshot(), restored.snapshot());

    swing.system.add_body();
    swing.system.carry_over(&mut carried)?;
    for i in 300..900 {
        swing.step(&mut carried, i)?;
    }
    assert_eq!(carried.discrete(swing.cable), state_of(&swing, &state)?);
    Ok(())
}

/// The memory of a state from before a body was added.
/// A commit changes the lengths of strands by what the lines between the points of the last one are off, of second order in the
/// step, and with them the energy; the sum over all steps is of first order.
#[test]
fn the_energy_that_commits_make_vanishes_with_the_step() -> Result<(), Error> {
    let swing = Swing::new()?;
    let made = |steps: u32| {
        let (mut state, mut sum) = (swing.system.default_state(), 0.0);
        for i in 0..steps {
            let (_, [before, after]) = swing.step_to(&mut state, 30.0 / f64::from(steps) * f64::from(i))?;
            sum += f64::max(after - before, 0.0);
        }
        Ok::<_, Error>(sum)
    };
    let [coarse, fine] = [made(3000)?, made(12_000)?];
    // A store of up to 12 J.
    assert!(coarse < 1e-3 && fine < 0.3 * coarse, "{coarse} {fine}");
    Ok(())
}

fn state_of<'a>(
    swing: &Swing,
    state: &'a State<f64>,
) -> Result<&'a force_elements::cable_spring::Discrete<f64>, Error> {
    state.try_discrete(swing.cable)
}

#[test]
fn an_evaluation_does_not_allocate_after_the_first_swing() -> Result<(), Error> {
    let swing = Swing::new()?;
    let mut state = swing.system.default_state();
    for i in 0..1500 {
        swing.step(&mut state, i)?;
    }
    let mut outcome = Ok(());
    let counted = allocation_counter::measure(|| {
        outcome = (1500..3000).try_for_each(|i| swing.step(&mut state, i).map(|_| ()));
    });
    outcome?;
    assert_eq!(counted.count_total, 0);
    Ok(())
}

#[test]
fn reset_memory_makes_the_tension_uniform() -> Result<(), Error> {
    let swing = Swing::new()?;
    let mut state = swing.system.default_state();
    for i in 0..200 {
        swing.step(&mut state, i)?;
    }
    swing.system.reset_memory(&mut state, swing.cable)?;
    for _ in 0..2 {
        let view = swing.system.realize_dynamics(&mut state)?;
        let tensions = &view.of(swing.cable).dynamics.tensions;
        assert!(tensions.len() > 2 && tensions.iter().all(|f| (f - tensions[0]).abs() < 1e-10 * f));
        swing.system.accept_step(&mut state)?;
    }
    Ok(())
}

/// Without friction there are no marks on the surface; friction that is switched on makes them where the cable is.
/// The strands before and after such a point would share what its motion adds, past contacts that hold.
#[test]
fn friction_is_refused_where_via_points_move_or_come_and_go() -> Result<(), Error> {
    let mut system = ForceSystem::<f64>::new();
    let (body, slider) = (system.add_body(), system.add_coordinate());
    let knots = [-1.0, 0.0, 1.0].map(|x| (x, Point3::new(x, 0.3, 0.0)));
    let moving = ViaPoint::moving(body, slider, SplineCurve::new(knots)?);
    let passing =
        ViaPoint::from(Station::on(body, Point3::new(0.0, 0.3, 0.0))).only_within(slider, 0.0..=1.0)?;
    for point in [moving, passing] {
        let path = CablePath::new(
            Station::ground(Point3::new(-1.0, 0.0, 0.0)),
            Station::on(body, Point3::origin()),
        )?;
        let cable = CableSpring::new(path.through(point)?, elastic(1e3, 1.5, 0.0))?;
        let refused = cable.with_friction([]).err();
        let refusal = refused.as_ref().and_then(|error| error.own::<Refusal>());
        assert_eq!(refusal, Some(&Refusal::ViaPointMoves), "{refused:?}");
    }
    Ok(())
}

#[test]
fn friction_that_is_switched_on_acts_in_the_next_step() -> Result<(), Error> {
    let mut hoist = Hoist::over(Arc::new(Cylinder::new(1.0)?), 1.5, 0.0, elastic(1e4, 5.0, 0.0))?;
    for _ in 0..10 {
        hoist.heights = [hoist.heights[0] + 0.02, hoist.heights[1] - 0.02];
        let shown = hoist.step()?;
        assert!((shown.tensions[0] - shown.tensions[shown.tensions.len() - 1]).abs() < 1e-9);
    }
    hoist.system.update_parameters(&mut hoist.state, hoist.cable, |p| p.friction[0] = 0.1)?;
    let shown = hoist.evaluate()?;
    assert!((shown.tensions[0] - shown.tensions[1]).abs() < 1e-9 * shown.tensions[0], "{:?}", shown.tensions);
    hoist.heights[1] -= 0.5;
    let shown = hoist.evaluate()?;
    let limit = (0.1 * shown.bend).exp();
    assert!((shown.tensions[1] / shown.tensions[0] - limit).abs() < 1e-9 * limit, "{:?}", shown.tensions);
    Ok(())
}

/// Parameters that are written before the initial motion lay no cable where bodies are not yet.
#[test]
fn friction_that_is_switched_on_before_a_motion_leaves_the_side_to_the_hint() -> Result<(), Error> {
    let lengths = [[0.0, 0.3], [0.3, 0.3]].map(|[built, set]| -> Result<f64, Error> {
        let mut system = ForceSystem::new();
        let body = system.add_body();
        let drum = Obstacle::new(Frame::ground(Pose::translation(5.0, 0.0, 0.0)), Cylinder::new(1.0)?)?
            .with_contact_hint(Point3::new(0.0, 1.0, 0.0))?;
        let from = Station::ground(Point3::new(-2.0, 0.0, 0.0));
        let path = CablePath::new(from, Station::on(body, Point3::origin()))?.over(drum);
        let cable = CableSpring::new(path, elastic(100.0, 1.0, 0.0))?.with_friction(vec![built])?;
        let cable = system.add(cable)?;
        let mut state = system.default_state();
        system.update_parameters(&mut state, cable, |p| p.friction[0] = set)?;
        state.set_pose(body, Pose::translation(10.0, -0.3, 0.0))?;
        Ok(system.realize_dynamics(&mut state)?.of(cable).position.path.length)
    });
    let [switched, given] = lengths;
    assert_eq!(switched?, given?);
    Ok(())
}

#[test]
fn a_cast_cable_has_the_memory_of_the_original() -> Result<(), Error> {
    let swing = Swing::new()?;
    let mut state = swing.system.default_state();
    for i in 0..200 {
        swing.step(&mut state, i)?;
    }
    let tensions = swing.system.realize_dynamics(&mut state)?.of(swing.cable).dynamics.tensions.clone();
    let same = swing.system.cast::<f64>()?;
    let mut cast = same.cast_state(&state)?;
    let handle = swing.cable.cast::<CableSpring<f64>>();
    assert_eq!(same.realize_dynamics(&mut cast)?.of(handle).dynamics.tensions, tensions);
    let single = swing.system.cast::<f32>()?;
    let mut cast = single.cast_state(&state)?;
    let view = single.realize_dynamics(&mut cast)?;
    let singles = &view.of(swing.cable.cast::<CableSpring<f32>>()).dynamics.tensions;
    assert_eq!(singles.len(), tensions.len());
    for (&f32, f64) in singles.iter().zip(tensions) {
        // Elongations of 1e-2 m are differences of lengths of 9 m.
        assert!((f64::from(f32) - f64).abs() < 1e-3 * f64, "{f32} {f64}");
    }
    Ok(())
}

/// The share of material before a via point follows the point at the next commit, though rounding alone moves none through it.
#[test]
fn the_share_before_a_via_point_has_the_derivatives_of_its_differences() -> Result<(), Error> {
    const H: f64 = 1e-5;
    let mut system = ForceSystem::<f64>::new();
    let body = system.add_body();
    let untouched = Obstacle::new(Frame::ground(Pose::translation(0.0, 9.0, 0.0)), Sphere::new(0.3)?)?;
    let ends = [Point3::new(-1.0, 0.0, 0.0), Point3::new(1.0, 0.5, 0.0)].map(Station::ground);
    let path = CablePath::new(ends[0], ends[1])?
        .through(Station::on(body, Point3::new(0.0, 0.3, 0.0)))?
        .over(untouched);
    let law = Parameters { stiffness: 1e3, slack_length: 1.5, dissipation: 0.0 };
    system.add_named("cable", CableSpring::new(path, law)?.with_friction([0.3])?)?;
    let mut state = system.default_state();
    system.reset_memories(&mut state)?;
    system.realize_dynamics(&mut state)?;
    system.accept_step(&mut state)?;
    system.realize_dynamics(&mut state)?;
    let mut linearization = Linearization::of(Scope { variables: true, commit: true });
    system.linearize(&state, &mut linearization)?;
    let share = "cable.grips[0].share";
    let next = |mut state: State<f64>| -> Result<f64, Error> {
        system.realize_dynamics(&mut state)?;
        system.accept_step(&mut state)?;
        state.variable(share)
    };
    let zero = Variation::zeros(system.topology());
    let slope = |change: &VariableVector<f64>| -> Result<f64, Error> {
        let (mut forces, mut next) = (Forces::zeros(system.topology()), VariableVector::zeros(&state));
        linearization.apply(&zero, &zero, &mut forces, Some((change, &mut next)))?;
        next.number(&state, share)
    };
    let none = VariableVector::zeros(&state);
    let mut sides = [0.0; 2];
    for (name, least) in [("via_points[0].p_B.x", 0.1), ("grips[0].start.x", 0.0), ("grips[0].end.x", 0.0)] {
        let name = &format!("cable.{name}");
        let mut change = none.clone();
        *change.number_mut(&state, name)? = 1.0;
        let at = state.variable(name)?;
        for (side, sense) in sides.iter_mut().zip([H, -H]) {
            let mut moved = state.clone();
            system.set_variable(&mut moved, name, at + sense)?;
            *side = next(moved)?;
        }
        let difference = (sides[0] - sides[1]) / (2.0 * H);
        assert!(difference.abs() >= least, "{name}: {difference}");
        // Central differences, whose error is of the order of H².
        assert_relative_eq!(slope(&change)?, difference, epsilon = 1e-7);
    }
    Ok(())
}
