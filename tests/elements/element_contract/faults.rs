//! Elements that break one promise each: the check of that promise must find it.

use std::sync::atomic::{AtomicU32, Ordering};

use force_elements::nalgebra::Point3;
use force_elements::testing::{self, Finding, Numbers, Scene, Subject, Violation};
use force_elements::{
    AtDynamics, CustomForce, ElementError, Error, ForceAccumulator, ForceElement, ForceSystem, Given, Real,
    Requirement, Topology, Velocities, variables,
};
use force_elements_scenes::linearized::Exact;

/// A damped spring between two bodies that has no fault, or one of these.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    None,
    NoReaction,
    DependsOnPlace,
    WrongEnergy,
    NegativeEnergy,
    UnstatedLoss,
    Counts,
    DropsDerivatives,
    DependsOnPrecision,
    Dead,
}

/// The spring with the fault of this number.
struct Faulty<const FAULT: usize>;

const FAULTS: [Fault; 10] = [
    Fault::None,
    Fault::NoReaction,
    Fault::DependsOnPlace,
    Fault::WrongEnergy,
    Fault::NegativeEnergy,
    Fault::UnstatedLoss,
    Fault::Counts,
    Fault::DropsDerivatives,
    Fault::DependsOnPrecision,
    Fault::Dead,
];

impl<const FAULT: usize> Subject for Faulty<FAULT> {
    type Element<T: Real> = CustomForce<T>;

    fn scene<T: Real>(numbers: &mut Numbers) -> Result<Scene<T, CustomForce<T>>, Error> {
        let fault = FAULTS[FAULT];
        let calls = AtomicU32::new(0);
        let mut system = ForceSystem::new();
        let bodies = [system.add_body(), system.add_body()];
        let element = system.add(CustomForce::<T>::new(move |motion, loads| {
            let [p_GA, p_GB] = bodies.map(|body| motion.point(body, &Point3::origin()));
            let mut along = p_GB - p_GA;
            if fault == Fault::DropsDerivatives {
                along = along.map(|x| T::lit(x.to_f64()));
            }
            let stretch = along.norm();
            let axis = along / stretch;
            let [v_A, v_B] =
                [(bodies[0], p_GA), (bodies[1], p_GB)].map(|(b, p)| motion.velocity_of_point(b, &p));
            let rate = (v_B - v_A).dot(&axis);
            let mut pull = stretch * T::lit(20.0) + rate;
            match fault {
                Fault::DependsOnPlace => pull *= T::one() + p_GA.x * p_GA.x,
                Fault::DependsOnPrecision => pull *= T::one() + T::default_epsilon() * T::lit(1e5),
                Fault::Counts => pull += T::lit(1e-9 * f64::from(calls.fetch_add(1, Ordering::Relaxed))),
                Fault::Dead => pull = T::zero(),
                _ => {}
            }
            if fault != Fault::NoReaction {
                loads.apply_at_point(bodies[0], &p_GA, axis * pull);
            }
            loads.apply_at_point(bodies[1], &p_GB, -axis * pull);
            if fault != Fault::UnstatedLoss {
                loads.dissipate(rate * rate);
            }
            let stored = T::lit(10.0) * stretch * stretch;
            match fault {
                Fault::WrongEnergy => stored * T::lit(1.001),
                Fault::NegativeEnergy => stored - T::lit(1e4),
                _ => stored,
            }
        }))?;
        let mut state = system.default_state();
        for body in bodies {
            state.set_body(body, numbers.pose(1.5, 1.0), numbers.velocity(2.0))?;
        }
        Ok(Scene { system, state, element })
    }
}

/// A scene of nothing but an element.
fn alone<T: Real, E: ForceElement<T>>(element: E) -> Result<Scene<T, E>, Error> {
    let mut system = ForceSystem::new();
    let element = system.add(element)?;
    Ok(Scene { state: system.default_state(), system, element })
}

/// The claims that an element breaks in any of ten scenes.
fn broken<const FAULT: usize>() -> Vec<&'static str> {
    let checks: [fn(u64) -> Result<(), Violation>; 9] = [
        testing::third_law::<Faulty<FAULT>>,
        testing::frame_invariance::<Faulty<FAULT>>,
        |seed| testing::power_balance::<Exact<Faulty<FAULT>>>(seed).map(drop),
        testing::gradient::<Exact<Faulty<FAULT>>>,
        testing::derivatives::<Exact<Faulty<FAULT>>>,
        |seed| testing::single_precision::<Faulty<FAULT>>(seed, 1e-3),
        testing::no_trace::<Faulty<FAULT>>,
        testing::as_in_a_fresh_state::<Faulty<FAULT>>,
        testing::refuses_what_is_not_a_number::<Faulty<FAULT>>,
    ];
    let mut claims: Vec<&'static str> = checks
        .iter()
        .filter_map(|check| (0..10).find_map(|seed| check(seed).err()))
        .map(|violation| violation.claim)
        .collect();
    claims.dedup();
    claims
}

#[test]
fn each_fault_is_found_by_the_checks_of_the_promises_it_breaks() {
    let (balance, gradient) = ("the power balance", "the gradient of the energy");
    assert!(broken::<0>().is_empty(), "no fault");
    // What pulls one body only stays away from its energy when the other is moved.
    assert_eq!(broken::<1>(), ["the third law", balance, gradient]);
    assert_eq!(broken::<2>(), ["frame invariance", balance, gradient]);
    assert_eq!(broken::<3>(), [balance, gradient]);
    assert_eq!(broken::<4>(), [balance]);
    assert_eq!(broken::<5>(), [balance]);
    assert!(broken::<6>().contains(&"purity"));
    assert_eq!(broken::<7>(), [balance, gradient, "derivatives"]);
    // In double precision it is off by 2e-11.
    assert_eq!(broken::<8>(), [gradient, "single precision"]);
    assert!(broken::<9>().contains(&"the third law"), "nothing to check");
}

#[test]
fn a_violation_says_what_is_off_by_how_much_and_where() {
    let violation = testing::power_balance::<Faulty<3>>(7).expect_err("wrong energy");
    let Finding::Off { by, tolerance, .. } = violation.finding else { panic!("{violation}") };
    assert!(by > tolerance && tolerance > 0.0);
    assert_eq!((violation.claim, violation.seed), ("the power balance", 7));
    let said = violation.to_string();
    assert!(
        said.starts_with("the power balance, in the scene of seed 7: the power balance is off by "),
        "{said}"
    );
    let dead = testing::third_law::<Faulty<9>>(0).expect_err("dead");
    assert!(matches!(dead.finding, Finding::Trivial { value: 0.0, .. }), "{dead}");
}

#[test]
fn differences_serve_where_there_is_no_dual() {
    assert_eq!(testing::contract::<Faulty<0>>(0..20), Ok(()));
}

variables! {
    /// One has a range, one has none.
    struct Loose<T> {
        /// Checked.
        tight: T ["1"], finite;
        /// Not checked.
        loose: T;
    }
}

#[derive(Debug)]
struct Careless;

impl<T: Real> ForceElement<T> for Careless {
    const KIND: &'static str = "careless";
    type Parameters = Loose<T>;
    type Discrete = ();
    type Continuous = ();
    type Position = ();
    type Velocity = ();
    type Dynamics = ();

    fn check_topology(&self, _: &Topology) -> Result<(), ElementError> {
        Ok(())
    }
    fn add_forces(&self, _: &AtDynamics<'_, T, Self>, _: &mut ForceAccumulator<'_, T>) {}
}

impl Subject for Careless {
    type Element<T: Real> = Self;

    fn scene<T: Real>(_: &mut Numbers) -> Result<Scene<T, Self>, Error> {
        alone(Self)
    }
}

#[test]
fn a_parameter_that_takes_anything_is_found() {
    let found = testing::refuses_what_is_not_a_number::<Careless>(0).expect_err("taken").finding;
    assert!(matches!(&found, Finding::Accepted { name, .. } if name == "careless[0].loose"), "{found}");

    let Scene { mut system, element, .. } = Careless::scene::<f64>(&mut Numbers::new(0)).expect("valid");
    let mut checked = |name, spoil: fn(&mut Loose<f64>), requirement| {
        testing::refuses_parameter(&mut system, element, name, spoil, requirement)
    };
    assert_eq!(checked("tight", |p| p.tight = f64::NAN, Requirement::Finite), Ok(()));
    for outcome in [
        checked("loose", |p| p.loose = f64::INFINITY, Requirement::Finite),
        checked("loose", |p| p.tight = f64::NAN, Requirement::Finite),
        checked("tight", |p| p.tight = f64::NAN, Requirement::Positive),
    ] {
        let found = outcome.expect_err("not as it should be");
        assert!(matches!(found.finding, Finding::Accepted { .. }), "{found}");
        assert_eq!(found.claim, "refusal");
    }
}

variables! {
    /// One that says the wrong stage.
    struct Late<T> {
        /// Read at Position stage.
        stiffness: T ["N/m"] = 3.0, finite => Dynamics;
    }
}

#[derive(Debug)]
struct Hasty;

impl<T: Real> ForceElement<T> for Hasty {
    const KIND: &'static str = "hasty";
    type Parameters = Late<T>;
    type Discrete = ();
    type Continuous = ();
    type Position = Point3<T>;
    type Velocity = ();
    type Dynamics = ();

    fn check_topology(&self, _: &Topology) -> Result<(), ElementError> {
        Ok(())
    }
    fn calc_position(&self, given: &Given<'_, T, Self>, cache: &mut Point3<T>) -> Result<(), ElementError> {
        cache.x = given.parameters.stiffness;
        Ok(())
    }
    fn add_forces(&self, _: &AtDynamics<'_, T, Self>, _: &mut ForceAccumulator<'_, T>) {}
}

impl Subject for Hasty {
    type Element<T: Real> = Self;

    fn scene<T: Real>(_: &mut Numbers) -> Result<Scene<T, Self>, Error> {
        alone(Self)
    }
}

#[test]
fn a_parameter_that_says_a_stage_after_the_one_that_reads_it_is_found() {
    let found = testing::as_in_a_fresh_state::<Hasty>(0).expect_err("a stale result");
    assert_eq!(
        (found.claim, found.finding),
        ("purity", Finding::OtherBits { after: "a write of one variable" })
    );
}

variables! {
    /// What a commit counts.
    struct Count<T> {
        /// Steps.
        steps: T ["1"], finite;
    }
}

/// An element that counts steps, and goes on counting after a reset.
#[derive(Debug)]
struct Counting;

impl<T: Real> ForceElement<T> for Counting {
    const KIND: &'static str = "counting";
    type Parameters = ();
    type Discrete = Count<T>;
    type Continuous = ();
    type Position = ();
    type Velocity = ();
    type Dynamics = ();

    fn check_topology(&self, _: &Topology) -> Result<(), ElementError> {
        Ok(())
    }
    fn add_forces(&self, _: &AtDynamics<'_, T, Self>, _: &mut ForceAccumulator<'_, T>) {}
    fn accept_step(&self, _: &AtDynamics<'_, T, Self>, next: &mut Count<T>) -> Result<(), ElementError> {
        next.steps += T::one();
        Ok(())
    }
    fn reset_memory(
        &self,
        _: &Given<'_, T, Self>,
        _: &Velocities<T>,
        _: &mut Count<T>,
    ) -> Result<(), ElementError> {
        Ok(())
    }
}

impl Subject for Counting {
    type Element<T: Real> = Self;

    fn scene<T: Real>(_: &mut Numbers) -> Result<Scene<T, Self>, Error> {
        alone(Self)
    }
}

#[test]
fn a_memory_that_is_not_reset_is_found() {
    let found = testing::reset_forgets::<Counting>(0).expect_err("the count stays");
    let after = "a reset of the memory that has another past";
    assert_eq!((found.claim, found.finding), ("purity", Finding::OtherBits { after }));
}

#[test]
fn a_scene_that_cannot_be_made_is_a_violation_too() {
    struct Nowhere;
    impl Subject for Nowhere {
        type Element<T: Real> = CustomForce<T>;
        fn scene<T: Real>(_: &mut Numbers) -> Result<Scene<T, CustomForce<T>>, Error> {
            let mut system = ForceSystem::new();
            let elsewhere = ForceSystem::<T>::new().add_body();
            let law = move |motion: &force_elements::custom_force::Motion<'_, T>, _: &mut _| {
                motion.pose(elsewhere).translation.x
            };
            let element = system.add(CustomForce::new(law))?;
            Ok(Scene { state: system.default_state(), system, element })
        }
    }
    let found = testing::contract::<Nowhere>([5]).expect_err("no such body");
    assert!(
        matches!(&found.finding, Finding::Failed(error) if matches!(**error, Error::Element { .. })),
        "{found}"
    );
}
