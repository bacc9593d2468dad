//! Friction on an obstacle that is touched several times: a mark for each contact.

use force_elements::cable::{CablePath, Obstacle, Wrappable};
use force_elements::nalgebra::Point3;
use force_elements::{
    BodyIndex, CableSpring, Error, ForceSystem, Forces, Frame, Handle, Linearization, Pose, Scope, State,
    Station, VariableVector, Variation,
};

use super::scene::elastic;
use force_elements::shapes::{Cylinder, Torus};
use force_elements_scenes::humps::Ridges;

/// A cable over two ridges.
struct Ridged {
    system: ForceSystem<f64>,
    cable: Handle<CableSpring<f64>>,
    ends: [BodyIndex; 2],
    ridges: Ridges,
}

impl Ridged {
    fn new(friction: f64, slack_length: f64) -> Result<Self, Error> {
        let ridges = Ridges(vec![[0.0, 0.5, 0.4], [1.3, 0.6, 0.4]]);
        let mut system = ForceSystem::new();
        let ends = [system.add_body(), system.add_body()];
        let [from, to] = ends.map(|body| Station { body, p_B: Point3::origin() });
        let over = Obstacle::new(Frame::ground(Pose::identity()), ridges.clone())?;
        let path = CablePath::new(from, to)?.over(over);
        let cable = system
            .add(CableSpring::new(path, elastic(300.0, slack_length, 0.0))?.with_friction(vec![friction])?)?;
        Ok(Self { system, cable, ends, ridges })
    }

    fn place(&self, state: &mut State<f64>, places: [[f64; 2]; 2]) -> Result<(), Error> {
        for (body, [x, z]) in self.ends.into_iter().zip(places) {
            state.set_pose(body, Pose::translation(x, 0.0, z))?;
        }
        Ok(())
    }
}

#[test]
fn a_cable_that_slips_over_two_contacts_obeys_the_capstan_equation_at_each() -> Result<(), Error> {
    let ridged = Ridged::new(0.4, 4.0)?;
    let mut state = ridged.system.default_state();
    let mut tensions = Vec::new();
    // Pulled on at one end, until everything slips.
    for i in 0..200 {
        ridged.place(&mut state, [[-1.5, 0.1], [2.5 + 0.002 * f64::from(i), 0.1]])?;
        let view = ridged.system.realize_dynamics(&mut state)?;
        tensions.clone_from(&view.of(ridged.cable).dynamics.tensions);
        ridged.system.accept_step(&mut state)?;
    }
    let (_, count, turned) = ridged.ridges.taut([-1.5, 0.1], [2.5 + 0.002 * 199.0, 0.1]);
    assert_eq!((count, tensions.len()), (2, 3));
    let ratio = tensions[2] / tensions[0];
    // The angle is that of chords of the hull 2e-5 m long.
    assert!((ratio - (0.4 * turned).exp()).abs() < 1e-4, "{tensions:?} {turned}");
    assert!(tensions[1] > 1.02 * tensions[0] && tensions[2] > 1.02 * tensions[1], "{tensions:?}");
    Ok(())
}

/// Moves the ends in steps of 10 ms, and checks after each that no energy was made and no material lost. Returns how many
/// steps ended with each number of contacts, and how often that number changed. `expected_free` is the
/// number of strands not wound on a drum, by that of the contacts.
fn come_and_go(
    ridged: &Ridged,
    steps: u32,
    places: impl Fn(f64) -> [[f64; 2]; 2],
    expected_free: fn(usize) -> usize,
) -> Result<([usize; 3], usize), Error> {
    let mut state = ridged.system.default_state();
    let mut counts = [0; 3];
    let (mut changes, mut was) = (0, 0);
    for i in 0..steps {
        ridged.place(&mut state, places(0.01 * f64::from(i)))?;
        let before = ridged.system.realize_dynamics(&mut state)?.potential_energy();
        ridged.system.accept_step(&mut state)?;
        let view = ridged.system.realize_dynamics(&mut state)?;
        let after = view.potential_energy();
        // In a plane, the lines between the points of two commits change alike in third order.
        assert!(after <= before + 1e-10 * (1.0 + before), "step {i}: {before} J, {after} J");
        let at = view.of(ridged.cable);
        let count = at.position.path.contacts.iter().filter(|contact| contact.in_contact).count();
        let strands = &at.position.strands.all;
        let free = strands.iter().filter(|strand| !strand.is_wound).count();
        assert_eq!(free, expected_free(count), "step {i}: {count} contacts");
        let material: f64 = strands.iter().map(|strand| strand.share).sum();
        let length: f64 = strands.iter().map(|strand| strand.length).sum();
        assert!((material - 1.0).abs() < 1e-14, "{material}");
        assert!((length - at.position.path.length).abs() < 1e-13, "{length}");
        counts[count] += 1;
        changes += usize::from(count != was);
        was = count;
    }
    Ok((counts, changes))
}

#[test]
fn contacts_that_come_and_go_conserve_material_and_make_no_energy() -> Result<(), Error> {
    let places = |t: f64| {
        let high = 0.55 + 0.5 * t.cos();
        [[-1.5, high], [2.9 + 0.1 * (1.7 * t).sin(), high + 0.3 * t.sin().powi(2)]]
    };
    let (counts, changes) = come_and_go(&Ridged::new(0.6, 3.9)?, 2500, places, |count| count + 1)?;
    assert!(counts.iter().all(|&count| count > 40) && changes > 10, "{counts:?} {changes}");
    Ok(())
}

#[test]
fn without_friction_the_forces_are_those_of_an_elastic_cable() -> Result<(), Error> {
    let ridged = Ridged::new(0.0, 3.9)?;
    let mut state = ridged.system.default_state();
    for i in 0..50 {
        ridged.place(&mut state, [[-1.5, 0.1], [2.9, 0.1 + 0.01 * f64::from(i)]])?;
        let view = ridged.system.realize_dynamics(&mut state)?;
        let at = view.of(ridged.cable);
        let tension = 300.0 * (at.position.path.length - 3.9);
        assert!(at.dynamics.tensions.iter().all(|f| (f - tension).abs() < 1e-9 * tension));
        ridged.system.accept_step(&mut state)?;
    }
    Ok(())
}

/// A cable over two ridges, fixed on top of the first; the other end is on a body.
fn fixed_on_ridge(friction: f64, reversed: bool) -> Result<Ridged, Error> {
    let ridges = Ridges(vec![[0.0, 0.5, 0.4], [1.3, 0.6, 0.4]]);
    let mut system = ForceSystem::new();
    let body = system.add_body();
    let fixed = Station::ground(Point3::new(-0.1, 0.0, ridges.profile::<f64>(-0.1)[0]));
    let mut ends = [fixed, Station { body, p_B: Point3::origin() }];
    if reversed {
        ends.reverse();
    }
    let over = Obstacle::new(Frame::ground(Pose::identity()), ridges.clone())?;
    let path = CablePath::new(ends[0], ends[1])?.over(over);
    let cable =
        system.add(CableSpring::new(path, elastic(300.0, 2.6, 0.0))?.with_friction(vec![friction])?)?;
    Ok(Ridged { system, cable, ends: [body; 2], ridges })
}

#[test]
fn on_a_drum_that_is_touched_again_what_is_wound_and_the_further_contact_hold() -> Result<(), Error> {
    const FRICTION: f64 = 0.4;
    for reversed in [false, true] {
        let ridged = fixed_on_ridge(FRICTION, reversed)?;
        let mut state = ridged.system.default_state();
        // Pulled on until everything slips.
        for i in 0..200 {
            ridged.place(&mut state, [[2.5 + 0.002 * f64::from(i), 0.1]; 2])?;
            ridged.system.realize_dynamics(&mut state)?;
            ridged.system.accept_step(&mut state)?;
        }
        // Where nothing moves on, the present contacts are those of the last commit.
        let view = ridged.system.realize_dynamics(&mut state)?;
        let at = view.of(ridged.cable);
        let mut contacts = at.position.path.contacts.clone();
        let mut strands = at.position.strands.all.clone();
        let mut tensions = at.dynamics.tensions.clone();
        if reversed {
            contacts.reverse();
            strands.reverse();
            tensions.reverse();
        }
        assert_eq!(contacts.len(), 2);
        let surface: &dyn Wrappable<f64> = &ridged.ridges;
        let turned = [0, 1].map(|k| contacts[k].turning(surface, 1e-12));
        let laps = strands.iter().take_while(|strand| strand.is_wound).count();
        assert!(laps > 0 && strands.len() == laps + 2, "{laps} {}", strands.len());
        let wound: f64 = strands[..laps].iter().map(|lap| lap.length).sum();
        assert!((wound - contacts[0].geodesic.length).abs() < 1e-12);
        // Friction acts up to the middle of the innermost lap.
        let passed = turned[0] * (1.0 - 0.5 * strands[0].length / wound);
        let [on_drum, over_second] = [passed, turned[1]].map(|angle| (FRICTION * angle).exp());
        let [held, between, pulled] = [tensions[0], tensions[laps], tensions[laps + 1]];
        assert!((between / held - on_drum).abs() < 1e-9, "{tensions:?} {on_drum}");
        assert!((pulled / between - over_second).abs() < 1e-9, "{tensions:?} {over_second}");
        assert!(on_drum > 1.05 && over_second > 1.05);
    }
    Ok(())
}

#[test]
fn where_a_drum_is_no_longer_touched_again_its_turning_counts_once() -> Result<(), Error> {
    const FRICTION: f64 = 0.4;
    for reversed in [false, true] {
        let ridged = fixed_on_ridge(FRICTION, reversed)?;
        let mut state = ridged.system.default_state();
        for i in 0..200 {
            ridged.place(&mut state, [[2.5 + 0.002 * f64::from(i), 0.1]; 2])?;
            ridged.system.realize_dynamics(&mut state)?;
            ridged.system.accept_step(&mut state)?;
        }
        // Pulled so far in one step that everything slips, and lifted off the second ridge.
        ridged.place(&mut state, [[5.0, 1.2]; 2])?;
        let view = ridged.system.realize_dynamics(&mut state)?;
        let at = view.of(ridged.cable);
        let contacts = &at.position.path.contacts;
        assert_eq!(contacts.len(), 1);
        let turned = contacts[0].turning(&ridged.ridges, 1e-12);
        let wound: Vec<f64> =
            at.position.strands.all.iter().filter(|lap| lap.is_wound).map(|lap| lap.length).collect();
        let tensions = &at.dynamics.tensions;
        let [first, last] = [0, tensions.len() - 1].map(|k| tensions[k]);
        let (ratio, innermost) =
            if reversed { (first / last, wound[wound.len() - 1]) } else { (last / first, wound[0]) };
        // Friction acts up to the middle of the innermost lap.
        let least = 1.0 - 0.5 * innermost / wound.iter().sum::<f64>();
        let counted = ratio.ln() / (FRICTION * turned);
        assert!(counted > least && counted < 1.0, "{counted} {least}: {tensions:?}");
    }
    Ok(())
}

#[test]
fn on_a_drum_contacts_that_come_and_go_conserve_material_and_make_no_energy() -> Result<(), Error> {
    for reversed in [false, true] {
        let places = |t: f64| [[2.6 + 0.1 * (1.7 * t).sin(), 1.3 + 1.2 * t.cos()]; 2];
        let ridged = fixed_on_ridge(0.6, reversed)?;
        // Without a contact the whole cable is one strand, with one the drum's laps are not counted.
        let (counts, changes) = come_and_go(&ridged, 1500, places, |count| count.max(1))?;
        assert!(counts.iter().all(|&count| count > 40) && changes > 5, "{counts:?} {changes}");
    }
    Ok(())
}

/// The first end passes from above the ring to below it, around its outside, and on.
fn place_ends(state: &mut State<f64>, bodies: [BodyIndex; 2], t: f64) -> Result<(), Error> {
    let ways = [
        [[0.96, -0.3, 0.5], [0.96, 0.105, -0.975], [0.66, -0.133, -0.619]],
        [[-1.057, -0.395, -0.514], [-1.057, -0.395, -0.514], [-1.063, -0.429, -0.556]],
    ];
    for (body, way) in bodies.into_iter().zip(ways) {
        let (from, part) = if t < 1.0 { (0, t) } else { (1, t - 1.0) };
        let [x, y, z] = [0, 1, 2].map(|axis| way[from][axis] * (1.0 - part) + way[from + 1][axis] * part);
        state.set_pose(body, Pose::translation(x, y, z))?;
    }
    Ok(())
}

/// The step of 2000 in which the contacts become one.
const JOINED: u32 = 1730;

/// Moves a cable over two places of one torus that become one up to a step; calls `visit` before each commit. `reversed` lists
/// its ends the other way round.
fn run_over_ring(
    reversed: bool,
    last: u32,
    mut visit: impl FnMut(&ForceSystem<f64>, Handle<CableSpring<f64>>, &State<f64>) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut system = ForceSystem::new();
    let bodies = [system.add_body(), system.add_body()];
    let mut ends = bodies.map(|body| Station::on(body, Point3::origin()));
    if reversed {
        ends.reverse();
    }
    let (ring, inside) = (Torus::new(0.43, 0.11)?, Point3::new(0.25, -0.3, 0.1));
    let over = Obstacle::new(Frame::ground(Pose::identity()), ring)?.with_contact_hint(inside)?;
    let path = CablePath::new(ends[0], ends[1])?.over(over);
    let cable = CableSpring::new(path, elastic(1000.0, 1.8, 0.0))?.with_friction(vec![0.15])?;
    let cable = system.add_named("cable", cable)?;
    let mut state = system.default_state();
    for i in 0..=last {
        place_ends(&mut state, bodies, f64::from(i) / 1000.0)?;
        system.realize_dynamics(&mut state)?;
        visit(&system, cable, &state)?;
        system.accept_step(&mut state)?;
    }
    Ok(())
}

#[test]
fn contacts_that_become_one_keep_their_friction_in_either_direction() -> Result<(), Error> {
    let run = |reversed: bool| {
        let mut tensions = Vec::new();
        run_over_ring(reversed, JOINED + 200, |system, cable, state| {
            let view = system.dynamics_view(state)?;
            let contacts = view.of(cable).position.path.contacts.iter();
            let count = contacts.filter(|contact| contact.in_contact).count();
            let mut now = view.of(cable).dynamics.tensions.clone();
            if reversed {
                now.reverse();
            }
            tensions.push((count, now));
            Ok(())
        })?;
        Ok::<_, Error>(tensions)
    };
    let [onward, back] = [run(false)?, run(true)?];
    for (i, ((_, onward), (_, back))) in onward.iter().zip(&back).enumerate() {
        // Paths are solved to 1e-9.
        let is_alike = onward.iter().zip(back).all(|(a, b)| (a - b).abs() < 1e-7 * (1.0 + b));
        assert!(onward.len() == back.len() && is_alike, "step {i}: {onward:?} {back:?}");
    }
    let at = JOINED as usize;
    let [(2, before), (1, joined), (1, after)] = &onward[at - 1..=at + 1] else {
        panic!("{:?}", &onward[at - 1..=at + 1])
    };
    // Tensions change by up to 1.3 N in steps like this one, and by 68 N if the marks share the turning equally.
    assert!(before.iter().zip(joined).all(|(a, b)| (a - b).abs() < 1.5), "{before:?} {joined:?}");
    // At the commit, the strand between them, whose tension differs by 14 N from that beyond the weaker one, goes over to its
    // neighbours.
    assert!(
        (after[0] - joined[0]).abs() < 5.0 && (after[1] - joined[2]).abs() < 15.0,
        "{joined:?} {after:?}"
    );
    Ok(())
}

/// The force on a body, and the numbers of the memory after the next commit.
fn outcome(system: &ForceSystem<f64>, mut state: State<f64>, body: BodyIndex) -> Result<Vec<f64>, Error> {
    let force = system.realize_dynamics(&mut state)?.body_force(body).force;
    system.accept_step(&mut state)?;
    let mut numbers = force.as_slice().to_vec();
    for number in ["before", "after", "share", "turning"] {
        numbers.push(state.variable(&format!("cable.grips[0].{number}"))?);
    }
    Ok(numbers)
}

#[test]
fn where_contacts_become_one_derivatives_are_those_of_differences() -> Result<(), Error> {
    const H: f64 = 1e-6;
    let mut changed = Vec::new();
    run_over_ring(false, JOINED, |system, cable, state| {
        let view = system.dynamics_view(state)?;
        let body = view.of(cable).position.path.segments[0].from_body;
        if (state.variable("cable.grips[1].share")? == 0.0)
            || view.of(cable).position.path.contacts.iter().filter(|contact| contact.in_contact).count() == 2
        {
            return Ok(());
        }
        let mut linearization = Linearization::of(Scope { variables: true, commit: true });
        system.linearize(state, &mut linearization)?;
        let compare = |motion: &Variation<f64>, change: &VariableVector<f64>, sides: [State<f64>; 2]| {
            let (mut forces, mut next) = (Forces::zeros(system.topology()), VariableVector::zeros(state));
            let still = Variation::zeros(system.topology());
            linearization.apply(motion, &still, &mut forces, Some((change, &mut next)))?;
            let mut slopes = forces.body(body).force.as_slice().to_vec();
            for number in ["before", "after", "share", "turning"] {
                slopes.push(next.number(state, &format!("cable.grips[0].{number}"))?);
            }
            let [more, less] = sides.map(|side| outcome(system, side, body));
            let differences: Vec<f64> =
                more?.iter().zip(less?).map(|(more, less)| (more - less) / (2.0 * H)).collect();
            let has_changed = differences.iter().any(|slope| slope.abs() > 0.01);
            for (slope, difference) in slopes.iter().zip(&differences) {
                // Forces of 800 N are right to 1e-9 of them, as paths are.
                let error = (slope - difference).abs();
                assert!(error < 1e-6 * (1e3 + difference.abs()), "{slopes:?} {differences:?}");
            }
            Ok::<_, Error>(has_changed)
        };
        let none = VariableVector::zeros(state);
        for axis in 0..3 {
            let mut motion = Variation::zeros(system.topology());
            motion.body_mut(body).linear[axis] = 1.0;
            let mut sides = [state.clone(), state.clone()];
            for (side, sense) in sides.iter_mut().zip([H, -H]) {
                let mut pose = *view.pose(body);
                pose.translation.vector[axis] += sense;
                side.set_pose(body, pose)?;
            }
            changed.extend(compare(&motion, &none, sides)?.then(|| "motion".into()));
        }
        let of_marks = ["share", "turning"].map(|number| [0, 1].map(|i| format!("grips[{i}].{number}")));
        for name in of_marks.into_iter().flatten().chain(["friction[0]".into(), "slack_length".into()]) {
            let full = &format!("cable.{name}");
            let mut change = none.clone();
            *change.number_mut(state, full)? = 1.0;
            let mut sides = [state.clone(), state.clone()];
            for (side, sense) in sides.iter_mut().zip([H, -H]) {
                system.set_variable(side, full, state.variable(full)? + sense)?;
            }
            let still = Variation::zeros(system.topology());
            changed.extend(compare(&still, &change, sides)?.then_some(name));
        }
        Ok(())
    })?;
    let seen = |name: &str| changed.iter().any(|changed: &String| changed == name);
    let all =
        ["motion", "grips[0].share", "grips[0].turning", "grips[1].turning", "friction[0]", "slack_length"];
    assert!(all.into_iter().all(seen), "{changed:?}");
    Ok(())
}

#[test]
fn marks_of_two_via_points_at_one_place_change_with_their_own_segments() -> Result<(), Error> {
    const H: f64 = 1e-6;
    let mut system = ForceSystem::<f64>::new();
    let drum = system.add_body();
    let ground = |x, y, z| Station::ground(Point3::new(x, y, z));
    let eye = ground(0.0, 0.1, 0.05);
    let path = CablePath::new(ground(-1.0, 0.4, 0.0), ground(-1.0, -0.3, 0.2))?
        .through(eye)?
        .over(Obstacle::new(Frame::of(drum), Cylinder::new(0.3)?)?)
        .through(Station::on(drum, Point3::new(0.6, -0.4, 0.1)))?
        .through(eye)?;
    system.add_named("cable", CableSpring::new(path, elastic(300.0, 4.0, 0.0))?.with_friction([0.3])?)?;
    let mut state = system.default_state();
    let at = |x: f64, y: f64| Pose::translation(1.0 + x, y, 0.0);
    state.set_pose(drum, at(0.0, 0.0))?;
    system.realize_dynamics(&mut state)?;
    system.accept_step(&mut state)?;
    state.set_pose(drum, at(0.01, 0.02))?;
    system.realize_dynamics(&mut state)?;
    let mut linearization = Linearization::of(Scope { variables: true, commit: true });
    system.linearize(&state, &mut linearization)?;
    let (mut motion, still) = (Variation::zeros(system.topology()), Variation::zeros(system.topology()));
    motion.body_mut(drum).linear.y = 1.0;
    let (mut forces, mut next) = (Forces::zeros(system.topology()), VariableVector::zeros(&state));
    let none = VariableVector::zeros(&state);
    linearization.apply(&motion, &still, &mut forces, Some((&none, &mut next)))?;
    let committed = |y: f64| {
        let mut state = state.clone();
        state.set_pose(drum, at(0.01, y))?;
        system.realize_dynamics(&mut state)?;
        system.accept_step(&mut state)?;
        Ok::<_, Error>(state)
    };
    let [more, less] = [committed(0.02 + H)?, committed(0.02 - H)?];
    let mut greatest = [0.0_f64; 4];
    for (place, greatest) in greatest.iter_mut().enumerate() {
        for axis in ["arriving.x", "arriving.y", "leaving.x", "leaving.y"] {
            let name = format!("cable.grips[{place}].{axis}");
            let difference = (more.variable(&name)? - less.variable(&name)?) / (2.0 * H);
            let slope = next.number(&state, &name)?;
            // Directions are right to the smoothness, 1e-9.
            assert!((slope - difference).abs() < 1e-3, "{name}: {slope} {difference}");
            *greatest = greatest.max(difference.abs());
        }
    }
    assert!(greatest.iter().all(|slope| *slope > 0.1), "{greatest:?}");
    Ok(())
}
