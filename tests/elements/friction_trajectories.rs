//! Trajectories with friction and stops: under error control too they keep to the numbers of another program,
//! the integrator accounts for the work of their forces, and where there is a closed form they converge to it.

use std::path::Path;

use force_elements::coordinate_spring_damper_ext::Parameters;
use force_elements::nalgebra::Vector3;
use force_elements::simulation::{DormandPrince, Plant, Simulation};
use force_elements::{CoordinatePair, CoordinateSpringDamperExt, ForceSystem};
use force_elements_scenes::between_stops::BetweenStops;
use force_elements_scenes::conformance::Fields;
use force_elements_scenes::conformance::coordinate_spring_damper_ext::Trajectory;

#[test]
fn trajectories_under_error_control_agree_with_exudyn_and_keep_the_balance_of_work() {
    let path = "golden/coordinate_spring_damper_ext_trajectories.json";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let content = std::fs::read_to_string(path).expect("a readable file");
    let content: serde_json::Value = serde_json::from_str(&content).expect("JSON");
    let cases = Fields(&content).objects("trajectories").expect("trajectories");
    assert_eq!(cases.len(), 3);
    // Bristles that stick or slip, and stops that are entered or left, of each trajectory.
    for (case, switches) in cases.into_iter().zip([[0, 0], [9, 0], [0, 10]]) {
        let trajectory = Trajectory::new(case).expect("a trajectory");
        let mut simulation = trajectory.simulation().expect("regular");
        let start = simulation.work_balance();
        let mut before = None;
        let mut counts = [0; 2];
        let mut open = 0.0_f64;
        let deviations =
            trajectory.follow(&mut simulation, &mut DormandPrince::new(1e-10), |simulation, discrete| {
                let now = [discrete.friction_mode == 0.0, discrete.limit_stop_state == 0.0];
                let last = before.replace(now).unwrap_or(now);
                for i in 0..2 {
                    counts[i] += usize::from(now[i] != last[i]);
                }
                open = open.max((simulation.work_balance() - start).abs());
            });
        for (quantity, deviation, tolerance) in deviations.expect("regular").quantities {
            assert!(deviation <= tolerance, "{quantity}: off by {deviation:e}, tolerance {tolerance:e}");
        }
        assert_eq!(counts, switches);
        // Each of up to 2000 steps errs by up to the accuracy in an energy of 25 J and in a momentum of 5 kg·m/s;
        // with different signs, some fifty times one.
        assert!(open < 50.0 * 30.0 * 1e-10, "{open:e} J");
        let lost = simulation.dynamics().expect("regular").dissipated_energy().expect("open");
        assert!(lost > 20.0, "{lost} J of 25 J");
    }
}

#[test]
fn a_mass_between_stops_converges_to_its_closed_form_as_events_are_located() {
    let exact = BetweenStops { mass: 0.5, stop: 0.95, stiffness: 1e4, damping: 10.0, speed: 10.0 };
    let mut last = f64::INFINITY;
    for late in [1e-6, 1e-7, 1e-8, 1e-9] {
        let mut system = ForceSystem::new();
        let mut plant = Plant::new(Vector3::zeros()).expect("finite");
        let slider = plant.add_coordinate(&mut system, exact.mass).expect("positive");
        // Where steps meet a stop depends on the scales: those that bounds were found with.
        plant.set_scale(1.0).expect("positive");
        let parameters = Parameters {
            limit_stops_upper: exact.stop,
            limit_stops_lower: -exact.stop,
            limit_stops_upper_stiffness: exact.stiffness,
            limit_stops_lower_stiffness: exact.stiffness,
            limit_stops_upper_damping: exact.damping,
            limit_stops_lower_damping: exact.damping,
            use_limit_stops: true,
            ..Parameters::default()
        };
        let element = CoordinateSpringDamperExt::new(CoordinatePair::on(slider), parameters).expect("valid");
        system.add(element).expect("exists");
        let mut state = system.default_state();
        state.set_coordinate_rate(slider, exact.speed).expect("finite");
        let mut simulation = Simulation::new(&system, &plant, state).expect("regular");
        // To the event step, or to that depth at 0.1 m/s, which is never reached.
        let force_tolerance = exact.stiffness * 0.1 * late;
        let mut integrator =
            DormandPrince::new(1e-11).with_event_step(late).with_force_tolerance(force_tolerance);
        let mut off = 0.0_f64;
        simulation
            .run(&mut integrator, 2.0, |simulation| {
                let q = simulation.state().positions().coordinate(slider);
                off = off.max((q - exact.at(simulation.time()).0).abs());
            })
            .expect("regular");
        // A stop that switches late by this time misses an impulse d·u·late, at each of ten events of up to
        // 10 m/s, and its error lasts for up to 2 s.
        let allowed = 10.0 * exact.damping * exact.speed * late / exact.mass * 2.0;
        assert!(off < allowed, "{off:e} m, {allowed:e} m allowed, events to {late:e} s");
        assert!(off < last / 3.0, "{off:e} m, {last:e} m before");
        last = off;
    }
}
