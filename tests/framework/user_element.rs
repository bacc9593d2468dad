//! An element written outside the crate gets everything the built-in ones get.

use std::marker::PhantomData;

use force_elements::nalgebra::{Point3, Vector3};
use force_elements::simulation::{DormandPrince, Plant, RigidBody, Simulation};
use force_elements::{
    AtDynamics, AtPosition, BodyIndex, Cache, ElementError, Error, ForceAccumulator, ForceElement,
    ForceSystem, Given, Pose, Real, SpatialForce, SpatialVelocity, Stage, Topology, results, variables,
};
use num_dual::Dual64;

/// A spring with dry slack: pulls a body's origin towards a point that is dragged along when the
/// spring is longer than `reach`.
#[derive(Debug)]
struct Leash {
    body: BodyIndex,
}

variables! {
    /// The spring of the leash.
    struct Parameters<T> {
        /// Stiffness.
        stiffness: T ["N/m"] = 100.0, nonnegative => Dynamics;
        /// Length up to which it is slack.
        reach: T ["m"] = 0.5, positive => Position;
    }
}

variables! {
    /// Where the leash is pegged down.
    struct Peg<T> {
        /// The place in Ground.
        peg: Vector3<T> ["m"], finite => Position;
    }
}

results! {
    /// The pull of the leash.
    #[derive(Copy)]
    struct Pull<T> {
        /// Where an accepted step pegs it down.
        next_peg: Vector3<T> ["m"];
        /// From there to the body.
        stretch: Vector3<T> ["m"];
    }
}

impl<T: Real> ForceElement<T> for Leash {
    const KIND: &'static str = "leash";
    force_elements::element_types! { Parameters = Parameters<T>; Discrete = Peg<T>; Position = Pull<T>; }

    fn check_topology(&self, topology: &Topology) -> Result<(), ElementError> {
        Ok(topology.check_body(self.body)?)
    }
    fn default_parameters(&self) -> Parameters<T> {
        Parameters { stiffness: T::lit(100.0), reach: T::lit(0.1) }
    }
    fn calc_position(&self, given: &Given<'_, T, Self>, cache: &mut Pull<T>) -> Result<(), ElementError> {
        let p = given.positions.pose(self.body).translation.vector;
        let stretch = p - given.discrete.peg;
        let length = stretch.norm();
        let excess = (T::one() - given.parameters.reach / length).max(T::zero());
        cache.next_peg = given.discrete.peg + stretch * excess;
        cache.stretch = p - cache.next_peg;
        Ok(())
    }
    fn add_forces(&self, at: &AtDynamics<'_, T, Self>, forces: &mut ForceAccumulator<'_, T>) {
        let f = at.position.stretch * -at.parameters.stiffness;
        forces.apply_to_body(self.body, SpatialForce::new(Vector3::zeros(), f));
        let p_GB = Point3::from(at.positions.pose(self.body).translation.vector);
        forces.apply_at_point(BodyIndex::GROUND, &p_GB, -f);
    }
    fn potential_energy(&self, at: &AtDynamics<'_, T, Self>) -> T {
        T::lit(0.5) * at.parameters.stiffness * at.position.stretch.norm_squared()
    }
    fn accept_step(&self, at: &AtDynamics<'_, T, Self>, next: &mut Peg<T>) -> Result<(), ElementError> {
        next.peg = at.position.next_peg;
        Ok(())
    }
}

#[test]
fn it_has_handles_views_stages_parameters_and_names() {
    let mut system = ForceSystem::<f64>::new();
    let body = system.add_body();
    let leash = system.add(Leash { body }).expect("exists");
    let mut state = system.default_state();
    state.set_pose(body, Pose::translation(0.3, 0.0, 0.0)).expect("finite");
    let view = system.realize_dynamics(&mut state).expect("regular");
    assert!((view.body_force(body).force.x + 10.0).abs() < 1e-12);
    assert!((view.body_force(BodyIndex::GROUND).force.x - 10.0).abs() < 1e-12);
    assert!((view.of(leash).position.stretch.x - 0.1).abs() < 1e-15);

    assert_eq!(view.result("leash[0].stretch.x"), Ok(view.of(leash).position.stretch.x));
    assert_eq!(view.result("leash[0].potential_energy"), Ok(view.potential_energy_of(leash)));

    system.accept_step(&mut state).expect("realized");
    assert_eq!(state.stage(), Stage::Time, "the peg feeds the Position stage");
    assert!((state.variable("leash[0].peg.x").expect("named") - 0.2).abs() < 1e-15);
    system.set_variable(&mut state, "leash[0].stiffness", 50.0).expect("valid");
    assert_eq!((state.parameters(leash).stiffness, state.stage()), (50.0, Stage::Time));
    let refused = system.update_parameters(&mut state, leash, |p| p.reach = 0.0).expect_err("zero");
    assert_eq!(refused.invalid_value().map(|v| v.name), Some("reach"), "{refused}");
}

#[test]
fn what_it_has_lost_never_comes_back_and_its_work_is_integrated() {
    let mut system = ForceSystem::<f64>::new();
    let mut plant = Plant::new(Vector3::zeros()).expect("finite");
    let body = plant.add_body(&mut system, RigidBody::with_equal_inertia(1.0, 1.0).expect("positive"));
    let leash = system.add(Leash { body }).expect("exists");
    let mut state = system.default_state();
    let velocity = SpatialVelocity::new(Vector3::zeros(), Vector3::new(3.0, 1.0, 0.0));
    state.set_body(body, Pose::translation(0.01, 0.0, 0.0), velocity).expect("finite");
    let mut simulation = Simulation::new(&system, &plant, state).expect("regular");
    let total = simulation.work_balance();
    let mut lost = 0.0_f64;
    let mut observe = |simulation: &mut Simulation<'_, f64>| {
        let now = simulation.dynamics().expect("regular").dissipated_energy_of(leash).expect("open");
        // The integrator's accuracy, per step.
        assert!(now > lost - 1e-7, "{lost} J fell to {now} J");
        lost = lost.max(now);
    };
    simulation.run(&mut DormandPrince::new(1e-8), 3.0, &mut observe).expect("runs");
    assert!(lost > 3.0, "the motion is trivial: {lost} J");
    // 1e-8 per step, some hundreds of steps.
    assert!((simulation.work_balance() - total).abs() < 1e-5);
}

#[test]
fn it_works_with_dual_numbers() {
    let mut system = ForceSystem::<Dual64>::new();
    let body = system.add_body();
    system.add(Leash { body }).expect("exists");
    let mut state = system.default_state();
    let x = Dual64::new(0.05, 1.0);
    state.set_pose(body, Pose::translation(x, Dual64::lit(0.0), Dual64::lit(0.0))).expect("finite");
    let view = system.realize_dynamics(&mut state).expect("regular");
    assert_eq!((view.body_force(body).force.x.re, view.body_force(body).force.x.eps), (-5.0, -100.0));
}

#[test]
fn two_kinds_may_not_share_a_name() {
    #[derive(Debug)]
    struct Impostor;
    impl ForceElement<f64> for Impostor {
        const KIND: &'static str = "leash";
        force_elements::element_types! {}
        fn check_topology(&self, _: &Topology) -> Result<(), ElementError> {
            Ok(())
        }
        fn add_forces(&self, _: &AtDynamics<'_, f64, Self>, _: &mut ForceAccumulator<'_, f64>) {}
    }
    let mut system = ForceSystem::<f64>::new();
    let body = system.add_body();
    system.add(Leash { body }).expect("exists");
    assert_eq!(system.add(Impostor), Err(Error::KindNameTaken { kind: "leash" }));
}

/// An element whose only result at Position stage is of this type.
#[derive(Debug)]
struct Bare<C>(PhantomData<fn() -> C>);

impl<C: Cache<f64>> ForceElement<f64> for Bare<C> {
    const KIND: &'static str = "bare";
    force_elements::element_types! { Position = C; Velocity = f64; }
    fn check_topology(&self, _: &Topology) -> Result<(), ElementError> {
        Ok(())
    }
    fn calc_velocity(&self, _: &AtPosition<'_, f64, Self>, rate: &mut f64) -> Result<(), ElementError> {
        *rate = 2.5;
        Ok(())
    }
    fn add_forces(&self, _: &AtDynamics<'_, f64, Self>, _: &mut ForceAccumulator<'_, f64>) {}
}

/// Names at Position stage after `bare[0].`, with their units.
fn listed<C: Cache<f64>>() -> Vec<String> {
    let mut system = ForceSystem::<f64>::new();
    system.add(Bare::<C>(PhantomData)).expect("exists");
    let mut state = system.default_state();
    let view = system.realize_velocity(&mut state).expect("regular");
    assert_eq!(view.result("bare[0].velocity"), Ok(2.5));
    let mut names = Vec::new();
    let position = system.position_view(&state).expect("realized");
    position.visit_results(&mut |entry| names.push(format!("{} [{}]", entry.name, entry.unit)));
    names.iter().map(|name| name.strip_prefix("bare[0].").expect("the prefix").to_string()).collect()
}

#[test]
fn a_number_or_vector_may_be_all_that_an_element_keeps_at_a_stage() {
    assert_eq!(listed::<f64>(), ["position []"]);
    assert_eq!(listed::<Vector3<f64>>(), ["position.x []", "position.y []", "position.z []"]);
    assert_eq!(listed::<Point3<f64>>(), ["position.x [m]", "position.y [m]", "position.z [m]"]);
    let pose = listed::<Pose<f64>>();
    assert_eq!((pose[0].as_str(), pose[9].as_str()), ("position.R.xx [1]", "position.p.x [m]"));
    let force = listed::<SpatialForce<f64>>();
    assert_eq!((force[0].as_str(), force[5].as_str()), ("position.torque.x [N·m]", "position.force.z [N]"));
    let velocity = listed::<SpatialVelocity<f64>>();
    assert_eq!((&*velocity[2], &*velocity[3]), ("position.angular.z [rad/s]", "position.linear.x [m/s]"));
    for nothing in [listed::<()>(), listed::<Option<String>>(), listed::<Vec<Pose<f64>>>()] {
        assert_eq!(nothing, Vec::<String>::new());
    }
}
