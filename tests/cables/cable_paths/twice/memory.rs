//! Memory of further contacts, and other scalars.

use force_elements::nalgebra::{Translation3, Vector3};
use force_elements::shapes::Torus;
use force_elements::{CableSpring, Casts, Error, Pose, Real, State, cable_spring};
use num_dual::{Dual3_64, Dual64};

use super::{Rig, touches};
use crate::cable_paths::on_ground;
use force_elements_scenes::humps::{Peanut, Ridges};

fn ridges() -> Ridges {
    Ridges(vec![[0.0, 0.5, 0.4], [1.3, 0.6, 0.4]])
}

/// Both ends in a swing of 2π over the ridges, with one, two or no contact.
fn place<T: Real>(
    state: &mut State<T>,
    ends: [force_elements::BodyIndex; 2],
    time: f64,
) -> Result<(), Error> {
    let high = 0.65 + 0.5 * time.cos();
    for (body, x, z) in [(ends[0], -1.7, high), (ends[1], 3.0, high + 0.1 * (2.0 * time).sin().abs())] {
        let p = Vector3::new(x, 0.1 * x * time.sin(), z).map(T::lit);
        state.set_pose(body, Pose::from(Translation3::from(p)))?;
    }
    Ok(())
}

/// Steps through the swing; returns how often it has touched so many times.
fn swing(rig: &Rig, state: &mut State<f64>, steps: core::ops::Range<u32>) -> Result<[usize; 3], Error> {
    let mut counts = [0; 3];
    for i in steps {
        place(state, rig.ends, 0.02 * f64::from(i))?;
        let view = rig.system.realize_dynamics(state)?;
        counts[touches(&view.of(rig.cable).position.path)] += 1;
        rig.system.accept_step(state)?;
    }
    Ok(counts)
}

#[test]
fn a_saved_memory_of_two_contacts_goes_on_to_the_same_bits() -> Result<(), Error> {
    let mut rig = Rig::over(on_ground(ridges())?)?;
    let mut state = rig.system.default_state();
    swing(&rig, &mut state, 0..160)?;
    let memory = &state.discrete(rig.cable).wraps;
    assert!(
        memory.wraps[0].in_contact && memory.further_wraps[0].in_contact && !memory.further_wraps[1].known
    );
    assert_eq!(state.variable("cable_spring[0].further_wraps[0].in_contact")?, 1.0);
    let [mut named, mut from_bytes] = [rig.system.default_state(), rig.system.default_state()];
    named.restore(&state.snapshot())?;
    from_bytes.restore_bytes(&state.to_bytes())?;
    let mut carried = state.clone();
    swing(&rig, &mut state, 160..500)?;
    for restored in [&mut named, &mut from_bytes] {
        swing(&rig, restored, 160..500)?;
        assert_eq!(restored.snapshot(), state.snapshot());
    }
    rig.system.add_body();
    rig.system.carry_over(&mut carried)?;
    swing(&rig, &mut carried, 160..500)?;
    assert_eq!(carried.discrete(rig.cable), state.try_discrete(rig.cable)?);

    // A memory of another number of places is refused.
    let mut foreign = carried.discrete(rig.cable).clone();
    foreign.wraps.further_wraps.pop();
    assert!(rig.system.set_discrete(&mut carried, rig.cable, foreign).is_err());
    Ok(())
}

#[test]
fn tracking_through_further_contacts_does_not_allocate() -> Result<(), Error> {
    let obstacles = [on_ground(ridges())?, on_ground(Torus::new(1.0, 0.45)?)?, on_ground(Peanut)?];
    for obstacle in obstacles {
        let rig = Rig::over(obstacle)?;
        let mut state = rig.system.default_state();
        // One evaluation makes room for all contacts.
        swing(&rig, &mut state, 0..2)?;
        let mut outcome = Ok([0; 3]);
        let counted = allocation_counter::measure(|| outcome = swing(&rig, &mut state, 2..630));
        let counts = outcome?;
        assert_eq!(counted.count_total, 0, "{counts:?}");
        assert!(counts[2] > 50, "{counts:?}");
    }
    Ok(())
}

#[test]
fn a_memory_of_two_contacts_is_cast_to_other_scalars() -> Result<(), Error> {
    let rig = Rig::over(on_ground(ridges())?)?;
    let mut state = rig.system.default_state();
    swing(&rig, &mut state, 0..160)?;
    let length = rig.system.realize_position(&mut state)?.of(rig.cable).position.path.length;

    let mut casts = Casts::<f64, f32>::new();
    casts.add_surface(|ridges: &Ridges| Ok(ridges.clone()));
    let single = rig.system.cast_with(&casts)?;
    let cable = rig.cable.cast::<CableSpring<f32>>();
    let mut in_f32 = single.cast_state(&state)?;
    for i in 160..400 {
        let mut plain = state.clone();
        place(&mut in_f32, rig.ends, 0.02 * f64::from(i))?;
        place(&mut plain, rig.ends, 0.02 * f64::from(i))?;
        let path = &single.realize_dynamics(&mut in_f32)?.of(cable).position.path.length;
        let expected = rig.system.realize_dynamics(&mut plain)?.of(rig.cable).position.path.length;
        // A few units of roundoff of five metres.
        assert!((f64::from(*path) - expected).abs() < 1e-5, "{path} {expected}");
        single.accept_step(&mut in_f32)?;
    }
    assert!(length > 4.0);
    Ok(())
}

#[test]
fn derivatives_with_two_contacts_are_those_of_differences() -> Result<(), Error> {
    const H: f64 = 1e-3;
    let obstacles = [on_ground(ridges())?, on_ground(Torus::new(1.0, 0.45)?)?, on_ground(Peanut)?];
    for obstacle in obstacles {
        let rig = Rig::over(obstacle)?;
        let mut state = rig.system.default_state();
        swing(&rig, &mut state, 0..150)?;
        let along = Vector3::new(0.3, 0.5, -0.8);
        let mut moved = |step: f64| -> Result<(f64, usize), Error> {
            place(&mut state, rig.ends, 2.98)?;
            let mut X = *state.positions().pose(rig.ends[1]);
            X.translation.vector += along * step;
            state.set_pose(rig.ends[1], X)?;
            let path = &rig.system.realize_position(&mut state)?.of(rig.cable).position.path;
            Ok((path.length, touches(path)))
        };
        let [(before, _), (here, count), (after, _)] = [moved(-H)?, moved(0.0)?, moved(H)?];
        assert_eq!(count, 2);

        // By a cast that searches on plain numbers, and by one that cannot.
        let mut casts = Casts::<f64, Dual3_64>::without_elements();
        casts.add(|cable: &CableSpring<f64>, casts| cable.cast_with::<Dual3_64>(casts));
        casts.add_surface(|ridges: &Ridges| Ok(ridges.clone()));
        casts.add_surface(|peanut: &Peanut| Ok(*peanut));
        let duals = rig.system.cast_with(&casts)?;
        let mut in_duals = duals.cast_state(&state)?;
        place(&mut in_duals, rig.ends, 2.98)?;
        let mut X = *in_duals.positions().pose(rig.ends[1]);
        for (x, along) in X.translation.vector.iter_mut().zip(&along) {
            x.v1 = *along;
        }
        in_duals.set_pose(rig.ends[1], X)?;
        let view = duals.realize_position(&mut in_duals)?;
        let path = &view.of(rig.cable.cast::<CableSpring<Dual3_64>>()).position.path;
        assert_eq!(path.contacts.iter().filter(|contact| contact.in_contact).count(), 2);
        let length = path.length;
        assert!((length.re - here).abs() < 1e-12);
        // Differences over a millimetre: third and fourth derivatives are of order ten.
        assert!((length.v1 - (after - before) / (2.0 * H)).abs() < 1e-5, "{length:?}");
        let second = (after - here - here + before) / (H * H);
        assert!((length.v2 - second).abs() < 1e-4 * (1.0 + second.abs()), "{length:?} {second}");
    }
    Ok(())
}

/// A surface whose cast is not known is searched in the scalar itself.
#[test]
fn a_search_in_duals_finds_two_contacts() -> Result<(), Error> {
    let mut system = force_elements::ForceSystem::<Dual64>::new();
    let ends = [system.add_body(), system.add_body()];
    let [from, to] =
        ends.map(|body| force_elements::Station { body, p_B: force_elements::nalgebra::Point3::origin() });
    let path = force_elements::cable::CablePath::new(from, to)?.over(on_ground(ridges())?);
    let cable = system.add(CableSpring::new(path, cable_spring::Parameters::default())?)?;
    let mut state = system.default_state();
    place(&mut state, ends, 2.98)?;
    let found = system.realize_position(&mut state)?.of(cable).position.path.clone();
    let rig = Rig::over(on_ground(ridges())?)?;
    let mut plain = rig.system.default_state();
    place(&mut plain, rig.ends, 2.98)?;
    let expected = rig.system.realize_position(&mut plain)?.of(rig.cable).position.path.length;
    assert_eq!(found.contacts.iter().filter(|contact| contact.in_contact).count(), 2);
    assert!((found.length.re - expected).abs() < 1e-12);
    Ok(())
}
