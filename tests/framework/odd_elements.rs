//! Elements whose variables and results are unlike those of this crate: vectors of any length, names that others have,
//! continuous variables without a range.

use force_elements::nalgebra::{SVector, Vector3, Vector4};
use force_elements::{
    AtDynamics, ElementError, Error, ForceAccumulator, ForceElement, ForceSystem, Real, Topology, results,
    variables,
};

variables! {
    /// Vectors of four and more.
    #[derive(Copy)]
    pub(crate) struct Long<T> {
        /// Four.
        pub(crate) four: Vector4<T> ["m", "rad"];
        /// Five.
        pub(crate) five: SVector<T, 5>;
    }
}

variables! {
    /// A level.
    #[derive(Copy)]
    pub(crate) struct Level<T> {
        /// Without a range.
        pub(crate) level: T = 2.0 => Dynamics;
    }
}

results! {
    /// A result.
    #[derive(Copy)]
    pub(crate) struct Reading<T> {
        /// A number.
        pub(crate) reading: T ["1"];
    }
}

/// An element without forces, of these parameters, discrete and continuous variables and results.
macro_rules! element {
    ($name:ident, $kind:literal, $P:ty, $D:ty, $C:ty, $R:ty, $S:ty) => {
        #[derive(Debug)]
        struct $name;
        impl<T: Real> ForceElement<T> for $name {
            const KIND: &'static str = $kind;
            type Parameters = $P;
            type Discrete = $D;
            type Continuous = $C;
            type Position = $R;
            type Velocity = ();
            type Dynamics = $S;
            fn check_topology(&self, _: &Topology) -> Result<(), ElementError> {
                Ok(())
            }
            fn add_forces(&self, _: &AtDynamics<'_, T, Self>, _: &mut ForceAccumulator<'_, T>) {}
        }
    };
}

element!(Wide, "wide", Long<T>, (), Long<T>, SVector<T, 7>, ());

#[test]
fn a_vector_of_any_length_is_listed_saved_and_restored() -> Result<(), Error> {
    let mut system = ForceSystem::<f64>::new();
    assert_eq!(
        system.add(Wide).err(),
        Some(Error::NameTaken { name: "wide[0].five.0".into() }),
        "the same struct twice"
    );
    element!(Widest, "widest", Long<T>, (), (), SVector<T, 7>, ());
    let wide = system.add(Widest)?;
    let mut state = system.default_state();
    let names = "four.x four.y four.z four.w five.0 five.1 five.2 five.3 five.4".split(' ');
    for (i, name) in (1_u8..).zip(names.clone()) {
        system.set_variable(&mut state, &format!("widest[0].{name}"), f64::from(i))?;
    }
    let expected = (Vector4::new(1.0, 2.0, 3.0, 4.0), SVector::from([5.0, 6.0, 7.0, 8.0, 9.0]));
    let mut restored = system.default_state();
    restored.restore(&state.snapshot())?;
    let Long { four, five } = *restored.parameters(wide);
    assert_eq!((four, five), expected);
    let mut units = Vec::new();
    state.visit_variables(&mut |entry| units.push(entry.unit));
    assert_eq!(units[2..6], ["m", "m", "rad", "rad"]);
    let mut results = Vec::new();
    system.realize_dynamics(&mut state)?.visit_results(&mut |entry| results.push(entry.name.to_string()));
    assert_eq!(results[..7], [0, 1, 2, 3, 4, 5, 6].map(|i| format!("widest[0].position.{i}")));
    Ok(())
}

#[test]
fn a_name_that_two_variables_or_results_have_is_refused() {
    variables! {
        /// An account of its own.
        #[derive(Copy)]
        struct Account<T> {
            /// Taken by the system.
            absorbed_energy: T;
        }
    }
    element!(Twice, "twice", Level<T>, (), Level<T>, (), ());
    element!(Energetic, "energetic", (), Account<T>, (), (), ());
    element!(TwoReadings, "two_readings", (), (), (), Reading<T>, Reading<T>);
    let mut system = ForceSystem::<f32>::new();
    let taken = |name: &str| Some(Error::NameTaken { name: name.into() });
    assert_eq!(system.add(Twice).err(), taken("twice[0].level"));
    assert_eq!(system.add(Energetic).err(), taken("energetic[0].absorbed_energy"));
    assert_eq!(system.add(TwoReadings).err(), taken("two_readings[0].reading"));
    // Nothing was left behind.
    assert_eq!((system.element_count(), system.default_state().variable_names().len()), (0, 1));
}

#[test]
fn a_continuous_variable_is_finite_however_it_is_written() -> Result<(), Error> {
    element!(Levelled, "levelled", (), (), Level<T>, (), ());
    let mut system = ForceSystem::<f64>::new();
    let element = system.add(Levelled)?;
    let mut state = system.default_state();
    let name = "levelled[0].level";
    for value in [f64::NAN, f64::INFINITY] {
        let by_name = system.set_variable(&mut state, name, value);
        let typed = system.update_continuous(&mut state, element, |c| c.level = value);
        for refused in [by_name, typed] {
            let error = refused.expect_err("not finite");
            assert!(error.invalid_value().is_some(), "{error}");
        }
        assert_eq!(state.set_continuous(&[0.0, value]), Err(Error::NonFiniteEnergy));
        let mut saved = state.snapshot();
        let place = saved.iter().position(|(listed, _)| listed == name).expect("listed");
        saved[place].1 = value;
        assert!(state.restore(&saved).is_err());
    }
    assert_eq!((state.continuous(), state.continuous_of(element).level), (&[0.0, 2.0][..], 2.0));
    Ok(())
}

#[test]
fn memory_that_changes_its_length_is_refused() -> Result<(), Error> {
    variables! {
        /// Marks.
        struct Marks<T> {
            /// Where.
            marks: Vec<T>;
        }
    }
    #[derive(Debug)]
    struct Growing;
    impl ForceElement<f64> for Growing {
        const KIND: &'static str = "growing";
        force_elements::element_types! { Discrete = Marks<f64>; }
        fn check_topology(&self, _: &Topology) -> Result<(), ElementError> {
            Ok(())
        }
        fn add_forces(&self, _: &AtDynamics<'_, f64, Self>, _: &mut ForceAccumulator<'_, f64>) {}
        fn accept_step(
            &self,
            at: &AtDynamics<'_, f64, Self>,
            next: &mut Marks<f64>,
        ) -> Result<(), ElementError> {
            if at.time > 0.0 {
                next.marks.push(at.time);
            }
            Ok(())
        }
        fn reset_memory(
            &self,
            _: &force_elements::Given<'_, f64, Self>,
            _: &force_elements::Velocities<f64>,
            next: &mut Marks<f64>,
        ) -> Result<(), ElementError> {
            next.marks.push(0.0);
            Ok(())
        }
    }
    let mut system = ForceSystem::new();
    let growing = system.add(Growing)?;
    let mut state = system.default_state();
    system.realize_dynamics(&mut state)?;
    system.accept_step(&mut state)?;
    state.set_time(1.0)?;
    system.realize_dynamics(&mut state)?;
    let before = state.to_bytes();
    for refused in [system.accept_step(&mut state), system.reset_memory(&mut state, growing)] {
        let error = refused.expect_err("another length");
        assert!(matches!(&error, Error::Element { source: ElementError::ForeignVariables, .. }), "{error:?}");
    }
    assert_eq!(state.to_bytes(), before);
    Ok(())
}

#[test]
fn a_number_of_an_option_is_written_by_name_once_it_is_known() -> Result<(), Error> {
    variables! {
        /// An anchor.
        struct Anchor<T> {
            /// If it has one.
            anchor: Option<Vector3<T>> ["m"], finite;
            /// The greatest length, if there is one.
            reach: Option<T> ["m"], positive;
        }
    }
    element!(Anchored, "anchored", (), Anchor<T>, (), (), ());
    let mut system = ForceSystem::<f64>::new();
    let element = system.add(Anchored)?;
    let mut state = system.default_state();
    let mut write =
        |field: &str, value| system.set_variable(&mut state, &format!("anchored[0].anchor.{field}"), value);
    let refused = write("y", 3.0).expect_err("there is no anchor");
    assert_eq!(
        refused.to_string(),
        "anchored[0]: number = 3, but it must be of something known: set its flag `known` first"
    );
    write("known", 1.0)?;
    write("y", 3.0)?;
    assert!(write("y", f64::NAN).is_err());
    assert_eq!(state.discrete(element).anchor, Some(Vector3::new(0.0, 3.0, 0.0)));

    assert_eq!(state.discrete(element).reach, None);
    assert!(system.set_variable(&mut state, "anchored[0].reach", 0.7).is_err());
    system.update_discrete(&mut state, element, |memory| memory.reach = Some(0.5))?;
    system.set_variable(&mut state, "anchored[0].reach", 0.7)?;
    assert!(system.set_variable(&mut state, "anchored[0].reach", -0.7).is_err());
    assert_eq!(state.variable("anchored[0].reach")?, 0.7);
    assert_eq!(state.discrete(element).reach, Some(0.7));
    Ok(())
}
