//! Names of variables: one spelling each.

use force_elements::Error;

use super::{moving_state, world};

#[test]
fn a_variable_has_one_name() {
    let world = world();
    let mut state = moving_state(&world);
    let before = state.snapshot();
    for name in [
        "exponential_spring[+0].d0",
        "exponential_spring[00].d0",
        "exponential_spring[-0].d0",
        "exponential_spring[ 0].d0",
        "exponential_spring[].d0",
        "exponential_spring[2].d0",
        "exponential_spring[18446744073709551616].d0",
        "exponential_spring[0].d",
        "exponential_spring[0].d00",
        "exponential_spring[0].d0 ",
        "exponential_spring[0]d0",
        "Exponential_spring[0].d0",
        "exponential_spring[0].",
        "exponential_spring",
        "time ",
        "",
    ] {
        let missing = Error::NoSuchVariable { name: name.into() };
        assert_eq!(state.variable(name), Err(missing.clone()));
        assert_eq!(world.system.set_variable(&mut state, name, 1.0), Err(missing));
    }
    assert_eq!(state.snapshot(), before);
}

#[test]
fn every_variable_can_be_read_and_what_is_free_written_under_its_name() {
    let world = world();
    let mut state = moving_state(&world);
    let listed = state.snapshot();
    let mut refused = Vec::new();
    for (name, value) in &listed {
        assert_eq!(state.variable(name), Ok(*value), "{name}");
    }
    for (name, value) in &listed {
        if world.system.set_variable(&mut state, name, *value).is_err() {
            refused.push(name);
        }
    }
    assert_eq!(refused, Vec::<&String>::new(), "what a state holds can be set again");
    assert_eq!(state.snapshot(), listed);
}
