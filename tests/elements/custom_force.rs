//! Forces of one's own, a spring from a closure and a contact from a struct, get all that built-in elements get.

use force_elements::custom_force::Load;
use force_elements::nalgebra::{Point3, Vector3};
use force_elements::simulation::{DormandPrince, Plant, RigidBody, Simulation};
use force_elements::testing::{self, Numbers, Scene, Subject};
use force_elements::{
    AtDynamics, AtVelocity, BodyIndex, CustomForce, ElementError, Error, ForceAccumulator, ForceElement,
    ForceSystem, Handle, KinematicsError, Pose, Real, SpatialForce, SpatialVelocity, Topology, results,
    variables,
};
use force_elements_scenes::linearized::Exact;

/// A spring that hardens: f = k·d + c·d³ between a point of a wall and the origin of a body.
#[rustfmt::skip]
fn hardening<T: Real>(wall: BodyIndex, p_WA: Point3<T>, body: BodyIndex, [k, c]: [T; 2]) -> CustomForce<T> {
    CustomForce::new(move |motion, loads| {
        let (p_GA, p_GB) = (motion.point(wall, &p_WA), motion.point(body, &Point3::origin()));
        let along = p_GB - p_GA;
        let squared = along.norm_squared();
        loads.apply_at_point(wall, &p_GA, along * (k + c * squared));
        loads.apply_at_point(body, &p_GB, -along * (k + c * squared));
        (k + c * squared * T::lit(0.5)) * squared * T::lit(0.5)
    })
}

variables! {
    /// A sphere on the floor.
    #[derive(Copy)]
    struct Ball<T> {
        /// Stiffness.
        stiffness: T ["N/m^(3/2)"] = 1e5, nonnegative => Dynamics;
        /// Dissipation.
        dissipation: T ["s/m"] = 0.2, nonnegative => Dynamics;
        /// Radius.
        radius: T ["m"] = 0.1, positive => Dynamics;
    }
}

results! {
    /// The contact.
    #[derive(Copy)]
    struct Touch<T> {
        /// The lowest point of the sphere, in Ground.
        p_GC: Point3<T> ["m"];
        /// The force on the sphere, in Ground.
        f_G: Vector3<T> ["N"];
        /// The energy stored.
        potential_energy: T ["J"];
        /// The power dissipated.
        power_dissipated: T ["W"];
    }
}

/// Hunt and Crossley's contact of a sphere at a body's origin with the plane z = 0 of another body:
/// f = k·x^(3/2)·(1 + (3/2)·c·ẋ), pushing only.
#[derive(Debug)]
struct HuntCrossley {
    floor: BodyIndex,
    body: BodyIndex,
}

impl<T: Real> ForceElement<T> for HuntCrossley {
    const KIND: &'static str = "hunt_crossley";
    type Parameters = Ball<T>;
    type Discrete = ();
    type Continuous = ();
    type Position = ();
    type Velocity = ();
    type Dynamics = Touch<T>;

    fn check_topology(&self, topology: &Topology) -> Result<(), ElementError> {
        Ok([self.floor, self.body].iter().try_for_each(|&body| topology.check_body(body))?)
    }
    fn calc_dynamics(&self, at: &AtVelocity<'_, T, Self>, touch: &mut Touch<T>) -> Result<(), ElementError> {
        let Ball { stiffness, dissipation, radius } = *at.parameters;
        let [X_GF, X_GB] = [self.floor, self.body].map(|body| at.positions.pose(body));
        let normal_G = X_GF.rotation * Vector3::z();
        let p_GC = Point3::from(X_GB.translation.vector - normal_G * radius);
        let depth = -X_GF.inverse_transform_point(&p_GC).z;
        let [v_F, v_B] =
            [self.floor, self.body].map(|body| at.velocities.velocity_of_point(at.positions, body, &p_GC));
        let rate = (v_F - v_B).dot(&normal_G);
        let elastic = if depth > T::zero() { stiffness * depth * depth.sqrt() } else { T::zero() };
        let force = elastic * (T::one() + T::lit(1.5) * dissipation * rate).max(T::zero());
        let (potential_energy, power_dissipated) = (elastic * depth * T::lit(0.4), (force - elastic) * rate);
        *touch = Touch { p_GC, f_G: normal_G * force, potential_energy, power_dissipated };
        Ok(())
    }
    fn add_forces(&self, at: &AtDynamics<'_, T, Self>, forces: &mut ForceAccumulator<'_, T>) {
        forces.apply_at_point(self.body, &at.dynamics.p_GC, at.dynamics.f_G);
        forces.apply_at_point(self.floor, &at.dynamics.p_GC, -at.dynamics.f_G);
    }
}

struct SpringScene;

impl Subject for SpringScene {
    type Element<T: Real> = CustomForce<T>;

    fn scene<T: Real>(numbers: &mut Numbers) -> Result<Scene<T, CustomForce<T>>, Error> {
        let mut system = ForceSystem::new();
        let [wall, body] = [system.add_body(), system.add_body()];
        let law = [numbers.between(10.0, 100.0), numbers.between(10.0, 100.0)];
        let element = system.add(hardening(wall, numbers.vector(0.5).into(), body, law))?;
        let mut state = system.default_state();
        for body in [wall, body] {
            state.set_body(body, numbers.pose(1.5, 1.0), numbers.velocity(2.0))?;
        }
        Ok(Scene { system, state, element })
    }
}

struct ContactScene;

impl Subject for ContactScene {
    type Element<T: Real> = HuntCrossley;

    /// A ball that is one to twenty millimetres deep in a floor.
    fn scene<T: Real>(numbers: &mut Numbers) -> Result<Scene<T, HuntCrossley>, Error> {
        let mut system = ForceSystem::new();
        let [floor, body] = [system.add_body(), system.add_body()];
        let element = system.add(HuntCrossley { floor, body })?;
        let X_GF: Pose<T> = numbers.pose(1.5, 1.0);
        let p_FB = Vector3::new(
            numbers.between(-0.5, 0.5),
            numbers.between(-0.5, 0.5),
            numbers.between(0.08, 0.099),
        );
        let mut state = system.default_state();
        state.set_body(floor, X_GF, numbers.velocity(0.3))?;
        state.set_body(body, X_GF * Pose::from(p_FB), numbers.velocity(0.3))?;
        Ok(Scene { system, state, element })
    }
}

#[test]
fn both_keep_the_contract_of_an_element() {
    assert_eq!(testing::contract::<Exact<SpringScene>>(0..100), Ok(()));
    assert_eq!(testing::contract::<Exact<ContactScene>>(0..100), Ok(()));
    for seed in 0..100 {
        let [stored, dissipated] = testing::power_balance::<Exact<ContactScene>>(seed).expect("balanced");
        assert!(stored != 0.0 && dissipated > 0.0, "{stored} W, {dissipated} W");
    }
}

/// A body on two springs that harden.
struct Swing {
    system: ForceSystem<f64>,
    plant: Plant<f64>,
    body: BodyIndex,
    springs: [Handle<CustomForce<f64>>; 2],
}

fn swing() -> Swing {
    let mut system = ForceSystem::new();
    let mut plant = Plant::new(Vector3::zeros()).expect("finite");
    let body = plant.add_body(&mut system, RigidBody::with_equal_inertia(1.0, 0.1).expect("positive"));
    let springs = [("left spring", -1.0), ("right spring", 1.0)].map(|(name, x)| {
        let spring = hardening(BodyIndex::GROUND, Point3::new(x, 0.0, 0.0), body, [20.0, 300.0]);
        system.add_named(name, spring).expect("a new name")
    });
    Swing { system, plant, body, springs }
}

fn thrown<'a>(system: &'a ForceSystem<f64>, plant: &'a Plant<f64>, body: BodyIndex) -> Simulation<'a, f64> {
    let mut state = system.default_state();
    let velocity = SpatialVelocity::new(Vector3::zeros(), Vector3::new(4.0, 2.0, 1.0));
    state.set_body(body, Pose::identity(), velocity).expect("finite");
    Simulation::new(system, plant, state).expect("regular")
}

#[test]
fn springs_from_a_closure_keep_the_energy_and_dissipate_nothing() {
    let Swing { system, plant, body, springs } = swing();
    let mut simulation = thrown(&system, &plant, body);
    let start = simulation.mechanical_energy().expect("regular");
    let (mut farthest, mut most) = (0.0_f64, 0.0_f64);
    let mut observe = |simulation: &mut Simulation<'_, f64>| {
        farthest = farthest.max(simulation.state().positions().pose(body).translation.vector.norm());
        let view = simulation.dynamics().expect("regular");
        for spring in springs {
            let lost = view.dissipated_energy_of(spring).expect("open");
            most = most.max(lost.abs());
        }
    };
    simulation.run(&mut DormandPrince::new(1e-10), 5.0, &mut observe).expect("runs");
    assert!(farthest > 0.1, "it has not swung: {farthest} m");
    // 1e-10 per step in velocities of 5 m/s and positions under 1000 N, for thousands of steps.
    assert!(
        (simulation.mechanical_energy().expect("regular") - start).abs() < 1e-4 && most < 1e-4,
        "{most} J"
    );
}

#[test]
fn the_ledger_of_a_contact_is_the_integral_of_its_power() {
    let mut system = ForceSystem::new();
    let mut plant = Plant::new(Vector3::new(0.0, 0.0, -9.81)).expect("finite");
    let body = plant.add_body(&mut system, RigidBody::with_equal_inertia(1.0, 0.1).expect("positive"));
    let contact =
        system.add_named("bounce", HuntCrossley { floor: BodyIndex::GROUND, body }).expect("exists");
    let mut state = system.default_state();
    state.set_pose(body, Pose::translation(0.0, 0.0, 0.5)).expect("finite");
    let mut simulation = Simulation::new(&system, &plant, state).expect("regular");
    let (mut time, mut power, mut integral, mut lost) = (0.0, 0.0, 0.0, 0.0);
    let mut observe = |simulation: &mut Simulation<'_, f64>| {
        let now = simulation.state().time();
        let view = simulation.dynamics().expect("regular");
        let lost_power = view.power_dissipated_of(contact);
        integral += 0.5 * (power + lost_power) * (now - time);
        lost = view.dissipated_energy_of(contact).expect("open");
        (time, power) = (now, lost_power);
    };
    let mut integrator = DormandPrince::new(1e-10).with_max_step(2e-5);
    simulation.run(&mut integrator, 0.6, &mut observe).expect("runs");
    assert!(lost > 0.3, "it has not bounced: {lost} J");
    // The trapezoidal rule over a bounce of 10 ms in steps of 20 µs: (1/500)²/12 of it and of its kinks.
    assert!((lost - integral).abs() < 1e-5 * lost, "{lost} J, {integral} J");
}

#[test]
fn they_are_saved_and_restored_by_name() {
    let Swing { system, plant, body, springs } = swing();
    let mut simulation = thrown(&system, &plant, body);
    simulation.run(&mut DormandPrince::new(1e-8), 0.5, |_| {}).expect("runs");
    let saved = simulation.state().snapshot();
    let names: Vec<_> = saved.iter().map(|(name, _)| name).collect();
    assert_eq!(
        names[1..4],
        ["custom_force[0].enabled", "custom_force[0].absorbed_energy", "custom_force[0].account_open"]
    );
    assert_eq!(names.len(), 7);
    let mut resumed = system.default_state();
    resumed.restore(&saved).expect("its own");
    let state = simulation.state();
    resumed
        .set_body(body, *state.positions().pose(body), *state.velocities().velocity(body))
        .expect("finite");
    let there = system.realize_dynamics(&mut resumed).expect("regular");
    let mut same = simulation.state().clone();
    let here = system.realize_dynamics(&mut same).expect("regular");
    assert_eq!(here.forces(), there.forces());
    for spring in springs {
        assert_eq!(here.dissipated_energy_of(spring), there.dissipated_energy_of(spring));
    }

    let mut system = ForceSystem::<f64>::new();
    let body = system.add_body();
    let contact =
        system.add_named("bounce", HuntCrossley { floor: BodyIndex::GROUND, body }).expect("exists");
    let mut state = system.default_state();
    system.set_variable(&mut state, "hunt_crossley[0].radius", 0.3).expect("valid");
    let mut restored = system.default_state();
    restored.restore(&state.snapshot()).expect("its own");
    assert_eq!(restored.parameters(contact).radius, 0.3);
    let refused = system.set_variable(&mut state, "hunt_crossley[0].radius", 0.0).expect_err("zero");
    assert_eq!(
        refused.to_string(),
        "hunt_crossley[0] \"bounce\": radius = 0, but it must be finite and greater than 0"
    );
}

#[test]
fn the_results_of_a_contact_of_ones_own_are_read_by_name() {
    let Scene { system, mut state, element } = ContactScene::scene(&mut Numbers::new(3)).expect("valid");
    let view = system.realize_dynamics(&mut state).expect("regular");
    let touch = view.of(element).dynamics;
    let result = |name: &str| view.result(&format!("hunt_crossley[0].{name}")).expect("there");
    assert_eq!(["f_G.x", "f_G.y", "f_G.z"].map(result), <[f64; 3]>::from(touch.f_G));
    assert_eq!(result("p_GC.z"), touch.p_GC.z);
    let declared = [touch.potential_energy, touch.power_dissipated];
    assert_eq!(["potential_energy", "power_dissipated"].map(result), declared);
    assert_eq!([view.potential_energy_of(element), view.power_dissipated_of(element)], declared);
    assert!(declared.iter().all(|&energy| energy > 0.0), "{touch:?}");
    let mut units = Vec::new();
    view.visit_results(&mut |entry| units.push(entry.unit));
    assert_eq!(units, ["m", "m", "m", "N", "N", "N", "J", "W", "W"]);
}

#[test]
fn what_a_closure_recorded_can_be_read() {
    let Swing { system, body, springs: [left, _], .. } = swing();
    let mut state = system.default_state();
    state.set_pose(body, Pose::translation(0.0, 0.5, 0.0)).expect("finite");
    let view = system.realize_dynamics(&mut state).expect("regular");
    let at = view.of(left);
    let squared = 1.25;
    let along = Vector3::new(1.0, 0.5, 0.0);
    let [on_wall, on_body] = at.dynamics.all() else { panic!("two loads") };
    let Load::AtPoint { p_G, f_G, .. } = on_wall else { panic!("at a point") };
    assert_eq!((*p_G, *f_G), (Point3::new(-1.0, 0.0, 0.0), along * (20.0 + 300.0 * squared)));
    assert!(matches!(on_body, Load::AtPoint { body: on, .. } if *on == body));
    let stored = 10.0 * squared + 75.0 * squared * squared;
    assert_eq!(view.potential_energy_of(left), stored);
}

/// What a system says to one closure.
fn refusal(
    law: impl Fn(
        &force_elements::custom_force::Motion<'_, f64>,
        &mut force_elements::custom_force::Loads<f64>,
    ) -> f64
    + Send
    + Sync
    + 'static,
) -> Error {
    let mut system = ForceSystem::new();
    system.add_body();
    system.add_coordinate();
    system.add_named("left spring", CustomForce::new(law)).expect("a new name");
    let mut state = system.default_state();
    system.realize_dynamics(&mut state).expect_err("refused")
}

#[test]
fn a_closure_that_names_what_does_not_exist_is_refused_by_name() {
    let mut elsewhere = ForceSystem::<f64>::new();
    let (body, coordinate) = (elsewhere.add_body(), elsewhere.add_coordinate());
    let no_body = ElementError::Kinematics(KinematicsError::NoSuchBody { body });
    let no_coordinate = ElementError::Kinematics(KinematicsError::NoSuchCoordinate { coordinate });
    let origin = Point3::origin();
    let refused = refusal(move |motion, _| motion.point(body, &origin).x);
    assert_eq!(
        refused.to_string(),
        "custom_force[0] \"left spring\": body 1 does not exist in this system: it was removed, or belongs to another"
    );
    assert_eq!(refused.element_error(), Some(&no_body));
    let of_bodies = [
        refusal(move |motion, _| motion.pose(body).translation.x),
        refusal(move |motion, _| motion.velocity(body).linear.x),
        refusal(move |motion, _| motion.velocity_of_point(body, &origin).x),
        refusal(move |_, loads| {
            loads.apply_at_point(body, &origin, Vector3::x());
            0.0
        }),
        refusal(move |_, loads| {
            loads.apply_to_body(body, SpatialForce::zero());
            0.0
        }),
    ];
    assert!(of_bodies.iter().all(|error| error.element_error() == Some(&no_body)), "{of_bodies:?}");
    let of_coordinates = [
        refusal(move |motion, _| motion.coordinate(coordinate)),
        refusal(move |motion, _| motion.coordinate_rate(coordinate)),
        refusal(move |_, loads| {
            loads.apply_to_coordinate(coordinate, 1.0);
            0.0
        }),
    ];
    assert!(of_coordinates.iter().all(|error| error.element_error() == Some(&no_coordinate)));
    let not_finite = refusal(|_, _| f64::NAN);
    assert_eq!(not_finite.element_error(), Some(&ElementError::NonFiniteForce));
    let lost = refusal(|_, loads| {
        loads.dissipate(f64::NAN);
        0.0
    });
    assert_eq!(lost.element_error(), Some(&ElementError::NonFiniteForce));
}

#[test]
fn loads_on_coordinates_and_stated_losses_are_booked() {
    let mut system = ForceSystem::new();
    let slider = system.add_coordinate();
    let damper = CustomForce::<f64>::new(move |motion, loads| {
        let f = motion.coordinate_rate(slider) * -3.0;
        loads.apply_to_coordinate(slider, f);
        loads.dissipate(-f * motion.coordinate_rate(slider));
        0.0
    });
    let damper = system.add(damper).expect("valid");
    let mut state = system.default_state();
    state.set_coordinate_rate(slider, 2.0).expect("finite");
    let view = system.realize_dynamics(&mut state).expect("regular");
    assert_eq!(view.coordinate_force(slider), -6.0);
    assert_eq!((view.power_dissipated_of(damper), view.power_absorbed()), (12.0, &[12.0][..]));
}

#[test]
fn after_the_first_evaluation_nothing_is_allocated() {
    let Swing { system, body, springs: [left, _], .. } = swing();
    let mut state = system.default_state();
    system.realize_dynamics(&mut state).expect("regular");
    let measured = allocation_counter::measure(|| {
        for step in 1..=100 {
            // Disabled and enabled again, its buffer stays.
            system.set_enabled(&mut state, left, step % 10 != 0).expect("own handle");
            state.set_pose(body, Pose::translation(0.01 * f64::from(step), 0.0, 0.0)).expect("finite");
            system.realize_dynamics(&mut state).expect("regular");
            system.accept_step(&mut state).expect("realized");
        }
    });
    assert_eq!(measured.count_total, 0);
}
