//! Bodies, coordinates and elements come and go while a state runs on.

use std::collections::{BTreeSet, HashSet};

use force_elements::nalgebra::Vector3;
use force_elements::{
    ElementId, Error, ForceSystem, KinematicsError, LinearBushing, Pose, SpatialVelocity, Stage,
    VariableVector,
};

use force_elements_scenes::machine::{Machine, bristles, bushing, cable, foundation, spring};

#[test]
fn what_still_exists_keeps_every_bit_while_others_come_and_go() -> Result<(), Error> {
    let (control, mut changing) = (Machine::<f64>::new()?, Machine::<f64>::new()?);
    let (mut state, mut carried) = (control.start()?, changing.start()?);
    let mut guests: Vec<(ElementId, Option<force_elements::BodyIndex>)> = Vec::new();
    let (mut stuck, mut slid, mut touched, mut changed) = (0, 0, 0, 0);
    for step in 0_u32..600 {
        let system = &mut changing.system;
        match step % 7 {
            1 | 2 | 4 => {
                let body = system.add_body();
                let id: ElementId = match step % 4 {
                    0 => system.add(spring(body)?)?.into(),
                    1 => system.add(bushing(body)?)?.into(),
                    2 => system.add(foundation(body)?)?.into(),
                    _ => system.add(cable(body)?)?.into(),
                };
                guests.push((id, Some(body)));
            }
            3 => {
                let slider = system.add_coordinate();
                guests.push((system.add(bristles(slider)?)?.into(), None));
            }
            _ => {
                // Not in the order in which they came.
                for _ in 0..2 {
                    if !guests.is_empty() {
                        let (id, body) = guests.swap_remove(step as usize * 31 % guests.len());
                        system.remove(id)?;
                        body.map_or(Ok(()), |body| system.remove_body(body))?;
                    }
                }
            }
        }
        if !system.owns(&carried) {
            changed += 1;
            assert_eq!(system.realize_dynamics(&mut carried).err(), Some(Error::TopologyMismatch));
        }
        system.carry_over(&mut carried)?;
        assert_eq!(system.element_count(), 5 + guests.len());
        // What has just come is put somewhere.
        for (id, body) in &guests {
            if let Some(body) = *body {
                let p = Pose::translation(0.0, 0.01 * f64::from(u8::from(id.place() % 2 == 0)), 0.3);
                carried.set_body(body, p, SpatialVelocity::new(Vector3::zeros(), Vector3::x()))?;
            }
        }
        assert_eq!(control.everything(&mut state)?, changing.everything(&mut carried)?, "{step}");
        control.run(&mut state, step..step + 1)?;
        changing.run(&mut carried, step..step + 1)?;
        let view = control.system.realize_dynamics(&mut state)?;
        let foot = view.of(control.spring).dynamics;
        slid += u32::from(foot.limit_reached);
        stuck += u32::from(!foot.limit_reached && foot.friction_force_limit > 0.1);
        touched += u32::from(view.of(control.foundation).position.contacts.len() == 1);
    }
    assert!(changed > 500, "{changed}");
    assert!(stuck.min(slid) > 5 && touched > 50, "the motion is trivial: {stuck} {slid} {touched}");
    // Places are used again: none was wasted on what has gone.
    assert!(changing.system.topology().body_places() < 80, "{}", changing.system.topology().body_places());
    Ok(())
}

#[test]
fn handles_and_indices_of_what_was_removed_say_so() -> Result<(), Error> {
    let mut machine = Machine::<f64>::new()?;
    let mut state = machine.start()?;
    let system = &mut machine.system;
    let guest = system.add_named_body("guest")?;
    let held = system.add_named("held", bushing(guest)?)?;
    let id = held.id();
    system.carry_over(&mut state)?;
    assert!(system.contains(held) && state.contains(held));
    assert_eq!(system.element_name(id).to_string(), "linear_bushing[1] \"held\"");

    let refused = system.remove_body(guest).expect_err("in use");
    assert_eq!(refused.to_string(), "linear_bushing[1] \"held\" acts on it: remove the element first");
    assert_eq!(
        system.remove_body(force_elements::BodyIndex::GROUND),
        Err(KinematicsError::GroundIsFixed.into())
    );
    system.remove(held)?;
    system.remove_body(guest)?;
    // Both places are taken again at once, by others.
    let next_guest = system.add_body();
    let next = system.add(bushing(next_guest)?)?;
    assert_eq!((next_guest.index(), next.place()), (guest.index(), held.place()));
    system.carry_over(&mut state)?;

    let gone = Error::NoSuchElement { element: id };
    assert_eq!(
        gone.to_string(),
        "linear_bushing[1] does not exist in this system: it was removed, or belongs to another"
    );
    assert!(!system.contains(held) && !state.contains(held));
    assert_eq!(system.remove(held), Err(gone.clone()));
    assert_eq!(system.try_element(held).err(), Some(gone.clone()));
    assert_eq!(system.handle::<LinearBushing<f64>>(id), None);
    assert_eq!(system.find_element("held"), None);
    assert_eq!(state.try_parameters(held).err(), Some(gone.clone()));
    assert_eq!(system.set_enabled(&mut state, held, false), Err(gone.clone()));
    assert_eq!(system.reset_memory(&mut state, id), Err(gone.clone()));
    assert_eq!(system.set_enabled_by_default(held, false), Err(gone.clone()));
    let no_body = KinematicsError::NoSuchBody { body: guest };
    assert_eq!(
        no_body.to_string(),
        "body 2 does not exist in this system: it was removed, or belongs to another"
    );
    assert_eq!(state.set_pose(guest, Pose::identity()), Err(no_body.into()));
    assert_eq!(system.remove_body(guest), Err(no_body.into()));
    let refused = system.add(bushing(guest)?).expect_err("removed");
    assert_eq!(refused.element_error(), Some(&no_body.into()));
    let view = system.realize_dynamics(&mut state)?;
    assert_eq!(view.try_of(held).err(), Some(gone));
    assert!(view.try_of(next).is_ok());
    Ok(())
}

#[test]
#[should_panic(expected = "body 2 does not exist in this system: it was removed, or belongs to another")]
fn reading_a_removed_body_whose_place_was_taken_panics() {
    let mut system = ForceSystem::<f64>::new();
    system.add_body();
    let gone = system.add_body();
    system.remove_body(gone).expect("not in use");
    system.add_body();
    let mut state = system.default_state();
    let view = system.realize_dynamics(&mut state).expect("no elements");
    let _ = view.body_force(gone);
}

#[test]
fn an_index_of_another_system_is_refused_wherever_it_is_used() -> Result<(), Error> {
    let (machine, other) = (Machine::<f64>::new()?, Machine::<f64>::new()?);
    // The place exists in both.
    assert_eq!(machine.body.index(), other.body.index());
    let mut system = machine.system;
    let missing = KinematicsError::NoSuchBody { body: other.body };
    assert_eq!(
        system.add(bushing(other.body)?).map_err(|e| e.element_error().cloned()),
        Err(Some(missing.into()))
    );
    let mut state = system.default_state();
    assert_eq!(state.set_velocity(other.body, SpatialVelocity::zero()), Err(missing.into()));
    let missing = KinematicsError::NoSuchCoordinate { coordinate: other.slider };
    assert_eq!(state.set_coordinate(other.slider, 0.0), Err(missing.into()));
    assert_eq!(
        system.add(bristles(other.slider)?).map_err(|e| e.element_error().cloned()),
        Err(Some(missing.into()))
    );
    Ok(())
}

#[test]
fn new_bodies_rest_at_the_origin_and_new_elements_have_their_defaults_and_closed_accounts()
-> Result<(), Error> {
    let mut machine = Machine::<f64>::new()?;
    let mut state = machine.start()?;
    machine.run(&mut state, 0..50)?;
    let body = machine.system.add_body();
    let guest = machine.system.add(bushing(body)?)?;
    machine.system.set_enabled_by_default(guest, false)?;
    machine.system.carry_over(&mut state)?;
    assert_eq!(state.stage(), Stage::Topology);
    assert_eq!(
        (*state.positions().pose(body), *state.velocities().velocity(body)),
        (Pose::identity(), SpatialVelocity::zero())
    );
    assert!(!state.is_enabled(guest));
    assert_eq!(state.parameters(guest), machine.system.default_parameters(guest));
    assert_eq!(state.time(), 0.1);
    let view = machine.system.realize_dynamics(&mut state)?;
    assert_eq!(view.dissipated_energy_of(guest), None);
    assert!(view.dissipated_energy_of(machine.bushing).is_some());
    assert_eq!(view.dissipated_energy(), None);
    machine.system.set_dissipated_energy(&mut state, guest, 0.0)?;
    assert!(machine.system.realize_dynamics(&mut state)?.dissipated_energy().is_some());
    // Up to date, nothing happens.
    let (stage, before) = (state.stage(), state.snapshot());
    machine.system.carry_over(&mut state)?;
    assert_eq!((state.stage(), state.snapshot()), (stage, before));
    let other = Machine::<f64>::new()?;
    assert_eq!(other.system.carry_over(&mut state), Err(Error::TopologyMismatch));
    Ok(())
}

#[test]
fn names_find_what_they_name() -> Result<(), Error> {
    let mut machine = Machine::<f64>::new()?;
    let system = &mut machine.system;
    assert_eq!(system.find_element("rope"), Some(machine.cable.id()));
    assert_eq!(system.find_element("ropes"), None);
    assert_eq!(system.handle(machine.cable.id()), Some(machine.cable));
    assert_eq!(system.handle::<LinearBushing<f64>>(machine.cable.id()), None);
    let topology = system.topology();
    assert_eq!(topology.find_body("wheel"), Some(machine.body));
    assert_eq!(topology.find_body("ground"), Some(force_elements::BodyIndex::GROUND));
    assert_eq!(topology.body_name(machine.body), Some("wheel"));
    assert_eq!(topology.find_coordinate("slider"), Some(machine.slider));
    assert_eq!(topology.coordinate_name(machine.slider), Some("slider"));
    let taken = |name: &str| Error::NameTaken { name: name.into() };
    assert_eq!(system.add_named_body("wheel"), Err(taken("wheel")));
    assert_eq!(system.add_named_body("ground"), Err(taken("ground")));
    assert_eq!(system.add_named_coordinate("slider"), Err(taken("slider")));
    assert_eq!(system.add_named("rope", bushing(machine.body)?), Err(taken("rope")));
    // A name is free again when what it named is gone.
    system.remove(machine.cable)?;
    assert!(system.add_named("rope", bushing(machine.body)?).is_ok());
    Ok(())
}

#[test]
fn variables_and_results_are_found_by_the_name_of_their_element() -> Result<(), Error> {
    let mut machine = Machine::<f64>::new()?;
    let corner = bushing(machine.body)?;
    let system = &mut machine.system;
    let named = system.add_named("front [left] (1)", corner.clone())?;
    system.add_named("arm.left", corner.clone())?;
    let of_name = format!("linear_bushing[{}]", named.place());

    let mut state = system.default_state();
    system.set_variable(&mut state, "front [left] (1).stiffness.px", 7.0)?;
    system.set_variable(&mut state, "arm.left.X_B1F.p.x", 0.5)?;
    assert_eq!(state.variable(&format!("{of_name}.stiffness.px"))?, 7.0);
    assert_eq!(state.variable("arm.left.X_B1F.p.x")?, 0.5);
    // Every variable and result has the same value under both names, and the same number in a vector.
    let with_name = |full: &str| full.strip_prefix(&of_name).map(|field| format!("front [left] (1){field}"));
    let mut count = 0;
    let mut vector = VariableVector::zeros(&state);
    (1_u8..).zip(vector.numbers_mut()).for_each(|(i, number)| *number = f64::from(i));
    for (full, value) in &state.snapshot() {
        if let Some(name) = with_name(full) {
            assert_eq!(state.variable(&name)?, *value, "{name}");
            let of_full_name = vector.number(&state, full).map_err(|_| no_variable(&name));
            assert_eq!(vector.number(&state, &name), of_full_name);
            count += 1;
        }
    }
    assert!(count > 12, "{count}");
    let dynamics = system.realize_dynamics(&mut state)?;
    let mut names = Vec::new();
    dynamics.visit_results(&mut |entry| names.extend(with_name(&entry.name.to_string())));
    assert!(names.len() > 12, "{}", names.len());
    for name in names {
        assert_eq!(dynamics.result(&name), dynamics.result(&name.replace("front [left] (1)", &of_name)));
    }
    assert_eq!(dynamics.result("arm.left.f.pw").ok(), None);
    assert_eq!(state.variable("arm.X_B1F.p.x"), Err(no_variable("arm.X_B1F.p.x")));
    assert_eq!(state.variable("front [left] (1)"), Err(no_variable("front [left] (1)")));

    // What was removed is not found, nor is what takes its place.
    system.remove(named)?;
    system.add(corner)?;
    system.carry_over(&mut state)?;
    let name = "front [left] (1).stiffness.px";
    assert_eq!(state.variable(name), Err(no_variable(name)));
    Ok(())
}

fn no_variable(name: &str) -> Error {
    Error::NoSuchVariable { name: name.into() }
}

#[test]
fn names_under_which_variables_could_not_be_told_apart_are_refused() -> Result<(), Error> {
    let mut machine = Machine::<f64>::new()?;
    let corner = bushing(machine.body)?;
    let system = &mut machine.system;
    system.add_named("arm.left", corner.clone())?;
    let of = |name: &str| name.to_string();
    let taken = Error::NameTaken { name: of("arm.left") };
    assert_eq!(system.add_named("arm.left", corner.clone()), Err(taken));
    for name in ["arm", "arm.left.X_B1F"] {
        let ambiguous = Error::AmbiguousName { name: of(name), other: of("arm.left") };
        assert_eq!(system.add_named(name, corner.clone()), Err(ambiguous));
    }
    for name in ["", "linear_bushing[0]", "no_such_kind[12]", "linear_bushing[0].k"] {
        let unfit = Error::UnfitName { name: of(name) };
        assert_eq!(system.add_named(name, corner.clone()), Err(unfit));
    }
    let unfit = Error::UnfitName { name: of("") };
    assert_eq!(system.add_named_body(""), Err(unfit.clone()));
    assert_eq!(system.add_named_coordinate(""), Err(unfit));
    for name in
        ["arm.right", "arms", "arm.lef", "linear_bushing[007]", "linear_bushing[-1]", "linear_bushing"]
    {
        system.add_named(name, corner.clone())?;
        let place = format!("{name}.X_B1F.p.x");
        let mut state = system.default_state();
        system.set_variable(&mut state, &place, 0.123_456)?;
        let changed = |variable: &&(String, f64)| variable.1 == 0.123_456;
        assert_eq!(state.snapshot().iter().filter(changed).count(), 1, "{name}");
    }
    Ok(())
}

#[test]
fn elements_are_listed_by_kind_and_place_and_handles_are_ordered_like_them() -> Result<(), Error> {
    let mut machine = Machine::<f64>::new()?;
    let system = &mut machine.system;
    let second = system.add(bushing(machine.body)?)?;
    system.add(bushing(machine.body)?)?;
    system.remove(second)?;
    let ids: Vec<_> = system.elements().collect();
    let names: Vec<_> = ids.iter().map(ToString::to_string).collect();
    assert_eq!(
        names,
        [
            "exponential_spring[0]",
            "linear_bushing[0]",
            "linear_bushing[2]",
            "elastic_foundation[0]",
            "cable_spring[0]",
            "coordinate_spring_damper_ext[0]"
        ]
    );
    assert!(ids.is_sorted());
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len());
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len());
    let mut state = system.default_state();
    for &id in &ids {
        system.set_enabled(&mut state, id, false)?;
        assert!(!state.is_enabled(id));
    }
    let absorbed: Vec<_> = state.absorbed_energy().to_vec();
    assert_eq!(absorbed.len(), ids.len() + 1, "one entry for the vacant place");
    Ok(())
}
