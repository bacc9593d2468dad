//! Friction on an obstacle that is touched several times: a mark for each contact.

use force_elements::cable::{CablePath, Obstacle, Wrappable};
use force_elements::nalgebra::Point3;
use force_elements::{BodyIndex, CableSpring, Error, ForceSystem, Frame, Handle, Pose, State, Station};

use super::scene::elastic;
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
        assert!(after <= before + 1e-12 * (1.0 + before), "step {i}: {before} J, {after} J");
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
