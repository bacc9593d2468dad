//! Effects of changes of parameters, memory and flags on the energy account.

use approx::assert_relative_eq;
use force_elements::coordinate_spring_damper_ext as coordinate;
use force_elements::exponential_spring::Parameters;
use force_elements::nalgebra::{Point3, Rotation3, Translation3, Vector3, Vector6};
use force_elements::simulation::{
    DormandPrince, Implicit, Plant, RigidBody, SemiImplicitEuler, Simulation, SimulationError,
};
use force_elements::{
    BodyIndex, CoordinatePair, CoordinateSpringDamperExt, Error, ExponentialSpring, ForceSystem, Frame,
    Handle, LinearBushing, Pose, State, Station, linear_bushing,
};

struct Bushed {
    system: ForceSystem<f64>,
    body: BodyIndex,
    bushing: Handle<LinearBushing<f64>>,
    state: State<f64>,
}

/// A body on a bushing that stores 3.25 J, its account opened.
fn bushed() -> Bushed {
    let mut system = ForceSystem::new();
    let body = system.add_body();
    let stiffness = Vector6::new(2.0, 2.0, 2.0, 100.0, 200.0, 300.0);
    let bushing = LinearBushing::new(
        Frame::ground(Pose::identity()),
        Frame::of(body),
        linear_bushing::Parameters { stiffness, damping: Vector6::zeros() },
    );
    let bushing = system.add(bushing.expect("valid")).expect("exists");
    let mut state = system.default_state();
    let turn = Rotation3::from_axis_angle(&Vector3::x_axis(), 0.5);
    let pose = Pose::from_parts(Translation3::new(0.2, 0.1, 0.0), turn);
    state.set_pose(body, pose).expect("finite");
    system.reset_dissipated_energy(&mut state).expect("regular");
    Bushed { system, body, bushing, state }
}

fn dissipated(
    system: &ForceSystem<f64>,
    state: &mut State<f64>,
    bushing: Handle<LinearBushing<f64>>,
) -> Option<f64> {
    let view = system.realize_dynamics(state).expect("regular");
    assert_eq!(view.dissipated_energy_of(bushing), view.dissipated_energy());
    view.dissipated_energy()
}

#[test]
fn nobody_knows_what_was_dissipated_before_an_account_is_opened() -> Result<(), Error> {
    let Bushed { system, body, bushing, .. } = bushed();
    let mut state = system.default_state();
    state.set_pose(body, Pose::translation(0.1, 0.0, 0.0))?;
    assert_eq!(dissipated(&system, &mut state, bushing), None);
    system.update_parameters(&mut state, bushing, |p| p.law.stiffness *= 2.0)?;
    assert_eq!(dissipated(&system, &mut state, bushing), None, "a change opens nothing");
    state.set_absorbed_energy(&[3.0])?;
    assert_eq!(dissipated(&system, &mut state, bushing), None, "nor does integration");
    system.set_dissipated_energy(&mut state, bushing, 2.0)?;
    // Of 200 N/m at 0.1 m one joule is stored.
    assert_relative_eq!(state.absorbed_energy()[0], 3.0, max_relative = 1e-15);
    assert_relative_eq!(dissipated(&system, &mut state, bushing).expect("open"), 2.0, max_relative = 1e-15);
    let mut resumed = system.default_state();
    resumed.set_pose(body, Pose::translation(0.1, 0.0, 0.0))?;
    resumed.restore(&state.snapshot())?;
    assert_eq!(dissipated(&system, &mut resumed, bushing), dissipated(&system, &mut state, bushing));
    Ok(())
}

#[test]
fn a_change_at_rest_dissipates_nothing() -> Result<(), Error> {
    type Change = fn(&ForceSystem<f64>, &mut State<f64>, Handle<LinearBushing<f64>>) -> Result<(), Error>;
    let changes: [(&str, Change); 5] = [
        ("doubled", |system, state, bushing| {
            system.update_parameters(state, bushing, |p| p.law.stiffness *= 2.0)
        }),
        ("by name", |system, state, _| system.set_variable(state, "linear_bushing[0].stiffness.py", 1e4)),
        ("moved", |system, state, bushing| {
            system.update_parameters(state, bushing, |p| p.frames.X_B1F.translation.vector.x += 3.0)
        }),
        ("disabled", |system, state, bushing| system.set_enabled(state, bushing, false)),
        ("disabled by name", |system, state, _| system.set_variable(state, "linear_bushing[0].enabled", 0.0)),
    ];
    for (what, change) in changes {
        for realized in [true, false] {
            let Bushed { system, body, bushing, mut state } = bushed();
            let absorbed = state.absorbed_energy()[0];
            if !realized {
                let pose = *state.positions().pose(body);
                state.set_pose(body, pose)?;
            }
            change(&system, &mut state, bushing)?;
            assert!((state.absorbed_energy()[0] - absorbed).abs() > 0.5, "{what}: the change is to matter");
            // Sums and differences of energies of up to 1e3 J.
            let lost = dissipated(&system, &mut state, bushing).expect("open");
            assert!(lost.abs() < 1e-12, "{what}: {lost} J");
            system.set_enabled(&mut state, bushing, false)?;
            state.set_pose(body, Pose::translation(0.7, 0.0, 0.0))?;
            system.set_enabled(&mut state, bushing, true)?;
            let lost = dissipated(&system, &mut state, bushing).expect("open");
            assert!(lost.abs() < 1e-12, "{what}, and enabled elsewhere: {lost} J");
        }
    }
    Ok(())
}

#[test]
fn an_anchor_put_elsewhere_is_booked() -> Result<(), Error> {
    let mut system = ForceSystem::<f64>::new();
    let body = system.add_body();
    let spring = ExponentialSpring::new(
        Frame::ground(Pose::identity()),
        Station::on(body, Point3::origin()),
        Parameters::default(),
    )?;
    let spring = system.add(spring)?;
    let mut state = system.default_state();
    state.set_time(0.1)?;
    state.set_pose(body, Pose::translation(1e-3, 0.0, -5e-3))?;
    system.update_discrete(&mut state, spring, |discrete| discrete.sliding = 0.0)?;
    system.reset_dissipated_energy(&mut state)?;
    let stored = system.realize_dynamics(&mut state)?.potential_energy();
    system.reset_memory(&mut state, spring)?;
    let view = system.realize_dynamics(&mut state)?;
    // 20 kN/m at 1 mm is 10 mJ.
    assert_relative_eq!(stored - view.potential_energy(), 0.01, max_relative = 1e-12);
    assert!(view.dissipated_energy_of(spring).expect("open").abs() < 1e-15);
    Ok(())
}

#[test]
fn an_element_that_cannot_be_evaluated_can_still_be_changed_and_its_account_is_closed() -> Result<(), Error> {
    let Bushed { system, body, bushing, mut state } = bushed();
    let upright = Rotation3::from_axis_angle(&Vector3::y_axis(), std::f64::consts::FRAC_PI_2);
    state.set_pose(body, Pose::from_parts(Translation3::identity(), upright))?;
    assert!(system.realize_dynamics(&mut state).is_err(), "singular");
    system.set_enabled(&mut state, bushing, false)?;
    assert_eq!(dissipated(&system, &mut state, bushing), None);
    system.reset_dissipated_energy(&mut state)?;
    assert_eq!(dissipated(&system, &mut state, bushing), Some(0.0));
    Ok(())
}

#[test]
fn a_closed_account_stays_closed_while_a_simulation_goes_on_and_is_resumed() -> Result<(), SimulationError> {
    let mut system = ForceSystem::new();
    let mut plant = Plant::new(Vector3::zeros())?;
    let body = plant.add_body(&mut system, RigidBody::with_equal_inertia(2.0, 0.3)?);
    let stiffness = Vector6::new(2.0, 2.0, 2.0, 100.0, 200.0, 300.0);
    let bushing = LinearBushing::new(
        Frame::ground(Pose::identity()),
        Frame::of(body),
        linear_bushing::Parameters { stiffness, damping: Vector6::zeros() },
    )?;
    let bushing = system.add(bushing)?;
    let mut state = system.default_state();
    state.set_pose(body, Pose::translation(0.2, 0.1, 0.0))?;
    let mut simulation = Simulation::new(&system, &plant, state)?;
    let ledger = |simulation: &mut Simulation<'_, f64>| -> Result<_, Error> {
        Ok(simulation.dynamics()?.dissipated_energy_of(bushing))
    };
    simulation.update_state(|state| {
        let upright = Rotation3::from_axis_angle(&Vector3::y_axis(), std::f64::consts::FRAC_PI_2);
        // It cannot be evaluated so; what the two changes add to the energy it stores is not known.
        system.update_parameters(state, bushing, |p| p.frames.X_B2M.rotation = upright)?;
        system.update_parameters(state, bushing, |p| {
            p.frames.X_B2M.rotation = Rotation3::identity();
            p.law.stiffness *= 100.0;
        })
    })?;
    assert_eq!(ledger(&mut simulation)?, None);
    simulation.run(&mut DormandPrince::new(1e-6), 0.01, |_| {})?;
    simulation.run(&mut Implicit::trapezoidal(1e-3), 0.02, |_| {})?;
    simulation.run(&mut SemiImplicitEuler::new(1e-3), 0.03, |_| {})?;
    assert_eq!(ledger(&mut simulation)?, None);
    let mut resumed = Simulation::resume(&system, &plant, &simulation.save())?;
    resumed.run(&mut SemiImplicitEuler::new(1e-3), 0.04, |_| {})?;
    assert_eq!(ledger(&mut resumed)?, None);
    resumed.update_state(|state| system.reset_dissipated_energy(state))?;
    resumed.run(&mut DormandPrince::new(1e-9), 0.05, |_| {})?;
    // It has no dampers, and stores some 400 J; the integrator keeps 1e-9 a step of that.
    let lost = ledger(&mut resumed)?.expect("opened anew");
    assert!(lost.abs() < 1e-4, "{lost} J");
    Ok(())
}

#[test]
fn an_energy_written_by_name_opens_no_account() -> Result<(), Error> {
    let Bushed { system, body, bushing, mut state } = bushed();
    system.set_variable(&mut state, "linear_bushing[0].absorbed_energy", 5.0)?;
    let dynamics = system.realize_dynamics(&mut state)?;
    let lost = dynamics.dissipated_energy_of(bushing).expect("open as before");
    assert_relative_eq!(lost, 5.0 - dynamics.potential_energy(), max_relative = 1e-14);
    let mut new = system.default_state();
    new.set_pose(body, Pose::translation(0.1, 0.0, 0.0))?;
    system.set_variable(&mut new, "linear_bushing[0].absorbed_energy", 5.0)?;
    assert_eq!(system.realize_dynamics(&mut new)?.dissipated_energy_of(bushing), None);
    Ok(())
}

#[test]
fn accounts_stay_open_where_an_update_lets_memory_follow() -> Result<(), SimulationError> {
    let mut system = ForceSystem::new();
    let mut plant = Plant::new(Vector3::zeros())?;
    let slider = plant.add_coordinate(&mut system, 0.5)?;
    let parameters = coordinate::Parameters { stiffness: 50.0, damping: 3.0, ..Default::default() };
    system.add(CoordinateSpringDamperExt::new(CoordinatePair::on(slider), parameters)?)?;
    let mut state = system.default_state();
    state.set_coordinate(slider, 0.1)?;
    let mut simulation = Simulation::new(&system, &plant, state)?;
    simulation.run(&mut SemiImplicitEuler::new(1e-3), 0.02, |_| {})?;
    let lost = simulation.dynamics()?.dissipated_energy();
    assert!(lost.is_some_and(|lost| lost > 0.0));
    simulation.update_state(|_| Ok(()))?;
    simulation.update_state(|state| {
        system.realize_dynamics(state)?;
        system.accept_step(state)
    })?;
    assert_eq!(simulation.dynamics()?.dissipated_energy(), lost);
    Ok(())
}

/// A mass on an axis whose spring is pulled along in steps by its offset, as a controller does.
#[test]
fn an_axis_driven_by_its_offset_loses_what_its_damper_takes() -> Result<(), SimulationError> {
    let mut system = ForceSystem::new();
    let mut plant = Plant::new(Vector3::zeros())?;
    let slider = plant.add_coordinate(&mut system, 0.5)?;
    let parameters = coordinate::Parameters { stiffness: 50.0, damping: 3.0, ..Default::default() };
    let axis = system.add(CoordinateSpringDamperExt::new(CoordinatePair::on(slider), parameters)?)?;
    let mut simulation = Simulation::new(&system, &plant, system.default_state())?;
    let mut integrator = DormandPrince::new(1e-10);
    // The loss by hand: damping times speed squared, by Simpson's rule over each millisecond, through the
    // start, the middle and the end. The speed does not jump when the offset does.
    let mut by_hand = 0.0;
    let rate = |simulation: &Simulation<'_, f64>| simulation.state().velocities().coordinate_rate(slider);
    for step in 0..2000 {
        let start = 1e-3 * f64::from(step);
        let offset = 0.2 * (3.0 * start).sin();
        simulation.update_state(|state| system.update_parameters(state, axis, |p| p.offset = offset))?;
        let mut rates = [rate(&simulation), 0.0, 0.0];
        for (later, after) in rates[1..].iter_mut().zip([5e-4, 1e-3]) {
            simulation.run(&mut integrator, start + after, |_| {})?;
            *later = rate(&simulation);
        }
        let [before, middle, end] = rates.map(|v| 3.0 * v * v);
        by_hand += 1e-3 / 6.0 * (before + 4.0 * middle + end);
    }
    let ledger = simulation.dynamics()?.dissipated_energy_of(axis).expect("open");
    assert!(by_hand > 0.5, "{by_hand} J");
    // Simpson's rule is off by (1e-3·20/s)⁵/2880 of each step's share; the integrator by 1e-10 a step.
    assert_relative_eq!(ledger, by_hand, epsilon = 1e-6);
    Ok(())
}
