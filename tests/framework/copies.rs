//! Copies of states: into memory that is there already, checkpoints, and many worlds.

use force_elements::{
    AtDynamics, ElementError, Error, ForceAccumulator, ForceElement, ForceSystem, Real, SpatialVelocity,
    Stage, Topology, Worlds, variables,
};

use force_elements_scenes::machine::{Machine, bushing};

#[test]
fn a_state_copied_into_another_is_that_state() -> Result<(), Error> {
    let machine = Machine::<f64>::new()?;
    let mut state = machine.start()?;
    machine.run(&mut state, 0..100)?;
    let mut copy = machine.start()?;
    machine.system.realize_dynamics(&mut state)?;
    copy.clone_from(&state);
    assert_eq!(machine.everything(&mut copy)?, machine.everything(&mut state)?);
    machine.run(&mut state, 100..150)?;
    machine.run(&mut copy, 100..150)?;
    machine.system.realize_dynamics(&mut state)?;
    machine.system.realize_dynamics(&mut copy)?;
    assert_eq!(machine.everything(&mut copy)?, machine.everything(&mut state)?);
    // Into a state of a system that is not alike.
    let mut other = Machine::<f64>::new()?;
    let mut copy = other.start()?;
    copy.clone_from(&state);
    assert_eq!(machine.everything(&mut copy)?, machine.everything(&mut state)?);
    other.system.remove(other.spring)?;
    copy = other.system.default_state();
    copy.clone_from(&state);
    assert_eq!(machine.everything(&mut copy)?, machine.everything(&mut state)?);
    Ok(())
}

#[test]
fn a_commit_from_a_copy_is_that_of_the_original() -> Result<(), Error> {
    let machine = Machine::<f64>::new()?;
    let mut state = machine.start()?;
    // Elsewhere, so that what it keeps is not that of the state.
    let mut copy = machine.start()?;
    machine.run(&mut copy, 0..3)?;
    machine.system.realize_dynamics(&mut copy)?;
    machine.run(&mut state, 0..50)?;
    machine.system.realize_dynamics(&mut state)?;
    copy.clone_from(&state);
    for mut copy in [state.clone(), copy] {
        let mut state = state.clone();
        for state in [&mut state, &mut copy] {
            assert_eq!(state.stage(), Stage::Dynamics);
            machine.system.accept_step(state)?;
        }
        assert_eq!(copy.snapshot(), state.snapshot());
    }
    let known = state.discrete(machine.cable).wraps.past_bodies.iter().map(|past| past.known);
    assert_eq!(known.collect::<Vec<_>>(), [true]);
    Ok(())
}

#[test]
fn a_state_returns_to_a_checkpoint_and_runs_on_bit_for_bit() -> Result<(), Error> {
    let machine = Machine::<f64>::new()?;
    let mut state = machine.start()?;
    let mut checkpoint = state.checkpoint();
    for start in [0, 30, 60, 90, 120] {
        machine.run(&mut state, start..start + 10)?;
        state.save_to(&mut checkpoint);
        let saved = state.snapshot();
        machine.run(&mut state, start + 10..start + 30)?;
        let after = state.snapshot();
        assert_ne!(saved, after);
        // Elsewhere, with other parameters, and off.
        machine.system.set_enabled(&mut state, machine.bushing, false)?;
        machine.system.update_parameters(&mut state, machine.cable, |p| p.law.stiffness = 3.0)?;
        state.set_velocity(machine.body, SpatialVelocity::zero())?;
        state.return_to(&checkpoint)?;
        assert_eq!((state.stage(), state.snapshot()), (Stage::Topology, saved));
        machine.run(&mut state, start + 10..start + 30)?;
        assert_eq!(state.snapshot(), after);
    }
    Ok(())
}

#[test]
fn a_checkpoint_of_another_system_or_of_before_a_change_is_refused() -> Result<(), Error> {
    let (mut machine, other) = (Machine::<f64>::new()?, Machine::<f64>::new()?);
    let mut state = machine.start()?;
    let foreign = other.start()?.checkpoint();
    let before = state.snapshot();
    assert_eq!(state.return_to(&foreign), Err(Error::TopologyMismatch));
    let mut old = state.checkpoint();
    machine.system.remove(machine.spring)?;
    machine.system.carry_over(&mut state)?;
    assert_eq!(state.return_to(&old), Err(Error::TopologyMismatch));
    assert_ne!(state.snapshot(), before);
    // It takes a state of any system.
    state.save_to(&mut old);
    assert_eq!(state.return_to(&old), Ok(()));
    Ok(())
}

#[test]
fn copies_into_memory_that_is_there_allocate_nothing() -> Result<(), Error> {
    let machine = Machine::<f64>::new()?;
    let mut state = machine.start()?;
    machine.run(&mut state, 0..10)?;
    machine.system.realize_dynamics(&mut state)?;
    let (mut copy, mut checkpoint) = (state.clone(), state.checkpoint());
    machine.run(&mut state, 10..12)?;
    let counted = allocation_counter::measure(|| {
        for _ in 0..3 {
            copy.clone_from(&state);
            state.save_to(&mut checkpoint);
            copy.return_to(&checkpoint).expect("the same system");
        }
    });
    assert_eq!(counted.count_total, 0);
    Ok(())
}

#[test]
fn many_worlds_are_each_as_they_would_be_alone() -> Result<(), Error> {
    let machine = Machine::<f64>::new()?;
    // A block for each, and blocks of which the last is shorter.
    for count in [1, 40, 130] {
        let mut alone = vec![machine.start()?; count];
        let mut together = Worlds::new(&machine.start()?, count);
        assert_eq!((together.len(), together.is_empty()), (count, false));
        for step in 0..25 {
            // Each at a time of its own.
            let time = |i| 0.002 * f64::from(step + 1) * (1.0 + 0.02 * f64::from(i));
            let times: Vec<_> = (0..).take(count).map(time).collect();
            let mut energies = vec![0.0; 2 * count];
            together.visit(&times, &mut energies, |state, time, energies| {
                machine.move_to(state, time[0])?;
                energies[0] = machine.system.realize_dynamics(state)?.potential_energy();
                machine.system.accept_step(state)?;
                energies[1] = machine.system.realize_dynamics(state)?.potential_energy();
                Ok(())
            })?;
            for ((state, time), energies) in alone.iter_mut().zip(times).zip(energies.chunks(2)) {
                machine.move_to(state, time)?;
                assert_eq!(machine.system.realize_dynamics(state)?.potential_energy(), energies[0]);
                machine.system.accept_step(state)?;
                assert_eq!(machine.system.realize_dynamics(state)?.potential_energy(), energies[1]);
            }
        }
        let mut state = machine.start()?;
        for (world, other) in alone.iter_mut().enumerate() {
            together.read(world, &mut state)?;
            assert_eq!(state.stage(), Stage::Topology);
            machine.system.realize_dynamics(&mut state)?;
            assert_eq!(machine.everything(&mut state)?, machine.everything(other)?);
        }
    }
    Ok(())
}

#[test]
fn worlds_that_are_written_begin_anew() -> Result<(), Error> {
    let machine = Machine::<f64>::new()?;
    let mut worlds = Worlds::new(&machine.start()?, 5);
    worlds.visit::<(), ()>(&[], &mut [], |state, _, _| machine.move_to(state, 0.01))?;
    worlds.write(3, &machine.start()?)?;
    let mut times = [0.0; 5];
    worlds.visit::<(), _>(&[], &mut times, |state, _, time| {
        time[0] = state.time();
        Ok(())
    })?;
    assert_eq!(times, [0.01, 0.01, 0.01, 0.0, 0.01]);

    let mut state = machine.start()?;
    assert_eq!(worlds.read(5, &mut state), Err(Error::TopologyMismatch));
    assert_eq!(worlds.write(5, &state), Err(Error::TopologyMismatch));
    let foreign = Machine::<f64>::new()?.start()?;
    assert_eq!(worlds.write(0, &foreign), Err(Error::TopologyMismatch));
    let visited = worlds.visit::<_, ()>(&[0; 7], &mut [], |_, _, _| Ok(()));
    assert_eq!(visited, Err(Error::UnequalParts { items: 7, worlds: 5 }));
    let mut none = Worlds::new(&state, 0);
    assert!(none.is_empty());
    assert_eq!(none.visit::<(), ()>(&[], &mut [], |_, _, _| Err(Error::TopologyMismatch)), Ok(()));
    Ok(())
}

#[test]
fn the_first_of_many_worlds_that_fails_is_named_and_the_others_go_on() -> Result<(), Error> {
    let machine = Machine::<f64>::new()?;
    let mut worlds = Worlds::new(&machine.start()?, 200);
    // A failure leaves its world as it was, though time was set before.
    let refused = worlds.visit::<(), _>(&[], &mut [0.0; 200], |state, _, _| {
        state.set_time(0.01)?;
        machine.system.accept_step(state)
    });
    let too_low = Error::StageTooLow { required: Stage::Dynamics, actual: Stage::Topology };
    let refused = refused.expect_err("not realized");
    assert_eq!(refused, Error::World { index: 0, source: Box::new(too_low) });
    assert_eq!(
        refused.to_string(),
        "world 0: stage Dynamics is required, but the state is realized to Topology: evaluate it first"
    );
    let fails: Vec<_> = (0..200).map(|world| world == 70 || world > 150).collect();
    let mut times = vec![f64::NAN; 200];
    let refused = worlds.visit(&fails, &mut times, |state, fails, time| {
        time[0] = state.time();
        state.set_time(0.02)?;
        if fails[0] { Err(Error::NoVariables) } else { Ok(()) }
    });
    assert_eq!(refused, Err(Error::World { index: 70, source: Box::new(Error::NoVariables) }));
    assert!(times.iter().all(|&time| time == 0.0));
    // One leaves a state of another system behind.
    let foreign = Machine::<f64>::new()?.start()?;
    let refused = worlds.visit(&fails, &mut times, |state, fails, time| {
        time[0] = state.time();
        if fails[0] {
            *state = foreign.clone();
        }
        Ok(())
    });
    assert_eq!(refused, Err(Error::World { index: 70, source: Box::new(Error::TopologyMismatch) }));
    let mut state = machine.start()?;
    for (world, fails) in fails.into_iter().enumerate() {
        assert_eq!(times[world], if fails { 0.0 } else { 0.02 });
        worlds.read(world, &mut state)?;
        assert_eq!(state.time(), if fails { 0.0 } else { 0.02 });
    }
    Ok(())
}

/// The values in the bytes of a state.
fn values_in(bytes: &[u8]) -> Vec<f64> {
    let (words, _) = bytes.as_chunks::<8>();
    words[1..words.len() - 1].iter().map(|&word| f64::from_le_bytes(word)).collect()
}

/// The bytes of a state with other values, under their checksum: of every fourth word, and of the remainders.
pub(crate) fn with_values(bytes: &[u8], values: &[f64]) -> Vec<u8> {
    let mut bytes = bytes[..8].to_vec();
    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    let words: Vec<_> = bytes.as_chunks::<8>().0.iter().map(|&word| u64::from_le_bytes(word)).collect();
    let link = |sum: u64, word: &u64| {
        let upper = (sum ^ word) / (1 << 32);
        (sum ^ word ^ upper).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
    };
    let (fours, rest) = words.split_at(words.len() / 4 * 4);
    let chain = |i: u8| fours.iter().skip(usize::from(i)).step_by(4).fold(u64::from(i) + 1, link);
    let sum = rest.iter().chain(&[0, 1, 2, 3].map(chain)).fold(words.len() as u64, link);
    bytes.extend(sum.to_le_bytes());
    bytes
}

#[test]
fn the_bytes_of_a_state_are_its_snapshot_without_names() -> Result<(), Error> {
    let machine = Machine::<f64>::new()?;
    let mut state = machine.start()?;
    machine.run(&mut state, 0..60)?;
    let (named, bytes) = (state.snapshot(), state.to_bytes());
    let values: Vec<f64> = named.iter().map(|(_, value)| *value).collect();
    assert_eq!(values_in(&bytes), values);
    assert_eq!(with_values(&bytes, &values), bytes);
    // Into a state of a system built alike, in which others came and went in the meantime.
    let mut alike = Machine::<f64>::new()?;
    let guest = alike.system.add(bushing(alike.body)?)?;
    alike.system.remove(guest)?;
    let mut restored = alike.start()?;
    restored.restore_bytes(&bytes)?;
    assert_eq!(restored.snapshot(), named);
    machine.run(&mut state, 60..90)?;
    alike.run(&mut restored, 60..90)?;
    assert_eq!(machine.everything(&mut state)?, alike.everything(&mut restored)?);
    let mut written = bytes;
    let counted = allocation_counter::measure(|| state.save_bytes(&mut written));
    assert_eq!((counted.count_total, written), (0, state.to_bytes()));
    Ok(())
}

#[test]
fn bytes_that_do_not_fit_are_refused_and_change_nothing() -> Result<(), Error> {
    let mut machine = Machine::<f64>::new()?;
    let mut state = machine.start()?;
    let fitting = state.to_bytes();
    let values = values_in(&fitting);
    let before = machine.everything(&mut state)?;
    let names = state.variable_names();
    let index = |name: &str| names.iter().position(|n| n == name).expect("listed");
    let (enabled, stiffness, time) =
        (index("linear_bushing[0].enabled"), index("cable_spring[0].stiffness"), index("time"));
    let short = with_values(&fitting, &values[1..]);
    assert_eq!(state.restore_bytes(&short), Err(Error::LayoutMismatch));
    let refused = |place: usize, value: f64| {
        let mut spoilt = values.clone();
        spoilt[place] = value;
        state.clone().restore_bytes(&with_values(&fitting, &spoilt))
    };
    assert_eq!(refused(enabled, 0.5), Err(Error::NotAFlag { name: "linear_bushing[0].enabled".into() }));
    let value =
        refused(stiffness, -1.0).err().and_then(|error| error.invalid_value().map(|value| value.name));
    assert_eq!(value, Some("stiffness"));
    assert!(matches!(refused(time, f64::NAN), Err(Error::Kinematics(_))));
    let absorbed = index("cable_spring[0].absorbed_energy");
    assert_eq!(refused(absorbed, f64::INFINITY), Err(Error::NonFiniteEnergy));
    assert_eq!(machine.everything(&mut state)?, before);

    // The same number of variables under other names: one bushing goes, and one comes at another place.
    let second = machine.system.add(bushing(machine.body)?)?;
    machine.system.remove(machine.bushing)?;
    assert_eq!(second.place(), 1);
    machine.system.carry_over(&mut state)?;
    assert_eq!(state.to_bytes().len(), fitting.len());
    assert_eq!(state.restore_bytes(&fitting), Err(Error::LayoutMismatch));
    Ok(())
}

#[test]
fn bytes_of_a_state_with_any_flipped_bit_are_refused() -> Result<(), Error> {
    let machine = Machine::<f64>::new()?;
    let mut state = machine.start()?;
    machine.run(&mut state, 0..10)?;
    let mut bytes = state.to_bytes();
    let mut read = |bytes: &[u8]| state.restore_bytes(bytes);
    assert_eq!(read(&bytes), Ok(()));
    let damaged = Err(Error::DamagedBytes);
    for bit in 0..8 * bytes.len() {
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(read(&bytes), damaged, "bit {bit}");
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
    // Two upper bits, which a multiplication of each word would leave where they are, four words apart.
    for word in 0..bytes.len() / 8 - 4 {
        for bit in 0..64 {
            let pair = [64 * word + 63, 64 * (word + 4) + bit];
            let mut damage = bytes.clone();
            for bit in pair {
                damage[bit / 8] ^= 1 << (bit % 8);
            }
            assert_eq!(read(&damage), damaged, "{pair:?}");
        }
    }
    for length in 0..bytes.len() {
        assert_eq!(read(&bytes[..length]), damaged, "{length} bytes");
    }
    // Nothing else passes for a state either.
    assert_eq!(read(&[0; 8]), damaged);
    assert_eq!(read(&[0; 64]), damaged);
    Ok(())
}

#[test]
fn bytes_in_another_order_of_kinds_are_refused_and_an_equal_system_may_have_had_other_kinds()
-> Result<(), Error> {
    // Two kinds with the same number of variables, so that each value would pass as that of the other.
    let system = |first: usize, guest: bool| -> Result<ForceSystem<f64>, Error> {
        let mut system = ForceSystem::new();
        if guest {
            let body = system.add_body();
            let id = system.add(bushing(body)?)?;
            system.remove(id)?;
        }
        for i in [first, 1 - first] {
            if i == 0 {
                system.add(Heat)?.id()
            } else {
                system.add(Light)?.id()
            };
        }
        Ok(system)
    };
    let mut state = system(0, false)?.default_state();
    let saved = system(1, false)?.default_state().to_bytes();
    assert_eq!(saved.len(), state.to_bytes().len());
    assert_eq!(state.restore_bytes(&saved), Err(Error::LayoutMismatch));
    let saved = system(0, true)?.default_state().to_bytes();
    assert_eq!(saved, state.to_bytes());
    state.restore_bytes(&saved)
}

variables! {
    /// A number.
    #[derive(Copy)]
    struct Number<T> {
        /// It.
        number: T;
    }
}

/// Two elements that differ in their names alone.
macro_rules! named {
    ($Name:ident, $kind:literal) => {
        #[derive(Debug)]
        struct $Name;
        impl<T: Real> ForceElement<T> for $Name {
            const KIND: &'static str = $kind;
            force_elements::element_types! { Parameters = Number<T>; }
            fn check_topology(&self, _: &Topology) -> Result<(), ElementError> {
                Ok(())
            }
            fn add_forces(&self, _: &AtDynamics<'_, T, Self>, _: &mut ForceAccumulator<'_, T>) {}
        }
    };
}

named!(Heat, "heat");
named!(Light, "light");
