//! Bounds on the step: below them a simulation stays bounded, and where they are sharp, above them it does not.

use force_elements::coordinate_spring_damper_ext as coordinate;
use force_elements::nalgebra::{Matrix3, Point3, Vector3};
use force_elements::simulation::{Plant, RigidBody, SemiImplicitEuler, Simulation};
use force_elements::testing::Numbers;
use force_elements::{
    BodyIndex, CoordinateIndex, CoordinatePair, CoordinateSpringDamperExt, CustomForce, Error, ForceSystem,
    Inertias, StableStep, State, StepMethod,
};

mod bushings;
mod contacts;
mod mechanisms;

/// Growth of energy below which a motion counts as bounded. At 0.9 of the bound an undamped oscillation under symplectic
/// Euler conserves `E·(1 ∓ 0.9)`, so that its energy varies by up to 19 times.
const BOUNDED: f64 = 100.0;

/// Steps of a run. An oscillation at 1.3 times the bound grows at least 1.2-fold in each (symplectic Euler: 4.5-fold).
const STEPS: u32 = 400;

struct Host {
    system: ForceSystem<f64>,
    plant: Plant<f64>,
}

impl Host {
    fn new(gravity: f64) -> Self {
        let plant = Plant::new(Vector3::new(0.0, 0.0, -gravity)).expect("finite");
        Self { system: ForceSystem::new(), plant }
    }

    fn add_coordinate(&mut self, mass: f64) -> CoordinateIndex {
        self.plant.add_coordinate(&mut self.system, mass).expect("positive")
    }

    fn add_body(&mut self, body: RigidBody<f64>) -> BodyIndex {
        self.plant.add_body(&mut self.system, body)
    }

    fn add_slider(&mut self, pair: CoordinatePair, parameters: coordinate::Parameters<f64>) {
        let element = CoordinateSpringDamperExt::new(pair, parameters).expect("valid");
        self.system.add(element).expect("exists");
    }

    fn stable(&self, state: &State<f64>, impact_speed: f64) -> StableStep {
        self.stable_by(StepMethod::SymplecticEuler, state, impact_speed)
    }

    fn stable_by(&self, method: StepMethod, state: &State<f64>, impact_speed: f64) -> StableStep {
        let mut state = state.clone();
        self.system.realize_dynamics(&mut state).expect("regular");
        self.system.stable_step(&state, &self.plant, method, impact_speed).expect("positive masses")
    }

    /// The growth of energy under symplectic Euler; infinite if the motion left what the elements can follow.
    fn euler(&self, state: &State<f64>, step: f64, steps: u32) -> f64 {
        let mut simulation = Simulation::new(&self.system, &self.plant, state.clone()).expect("regular");
        let energy = |simulation: &mut Simulation<'_, f64>| {
            simulation.kinetic_energy()
                + simulation.dynamics().map_or(f64::INFINITY, |d| d.potential_energy())
        };
        let (first, mut most) = (energy(&mut simulation), 0.0_f64);
        let mut euler = SemiImplicitEuler::new(step).unchecked();
        let end = step * f64::from(steps);
        match simulation.run(&mut euler, end, |simulation| most = most.max(energy(simulation) / first)) {
            Ok(()) => most,
            Err(_) => f64::INFINITY,
        }
    }

    /// The same under the classical Runge–Kutta method, of coordinates.
    fn runge_kutta(&self, state: &State<f64>, step: f64, masses: &[f64]) -> f64 {
        let mut state = state.clone();
        let coordinates: Vec<CoordinateIndex> = self.system.coordinates().collect();
        let rates = |state: &mut State<f64>, y: &[f64]| -> Vec<f64> {
            let count = coordinates.len();
            for (i, &c) in coordinates.iter().enumerate() {
                state.set_coordinate(c, y[i]).expect("finite");
                state.set_coordinate_rate(c, y[count + i]).expect("finite");
            }
            let view = self.system.realize_dynamics(state).expect("regular");
            let forces = coordinates.iter().zip(masses).map(|(&c, mass)| view.coordinate_force(c) / mass);
            y[count..].iter().copied().chain(forces).collect()
        };
        let moved = |y: &[f64], rate: &[f64], h: f64| -> Vec<f64> {
            y.iter().zip(rate).map(|(y, rate)| y + h * rate).collect()
        };
        let of = |c: &CoordinateIndex| state.positions().coordinate(*c);
        let rate_of = |c: &CoordinateIndex| state.velocities().coordinate_rate(*c);
        let mut y: Vec<f64> = coordinates.iter().map(of).chain(coordinates.iter().map(rate_of)).collect();
        let mut energy = |y: &[f64]| {
            rates(&mut state, y);
            let stored = self.system.dynamics_view(&state).expect("realized").potential_energy();
            let kinetic = y[coordinates.len()..].iter().zip(masses).map(|(u, mass)| 0.5 * mass * u * u);
            stored + kinetic.sum::<f64>()
        };
        let (first, mut most) = (energy(&y), 0.0_f64);
        let mut scratch = self.system.default_state();
        for _ in 0..STEPS {
            let a = rates(&mut scratch, &y);
            let b = rates(&mut scratch, &moved(&y, &a, 0.5 * step));
            let c = rates(&mut scratch, &moved(&y, &b, 0.5 * step));
            let d = rates(&mut scratch, &moved(&y, &c, step));
            for (i, y) in y.iter_mut().enumerate() {
                *y += step / 6.0 * (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]);
            }
            most = most.max(energy(&y) / first);
            if most > 1e100 {
                break;
            }
        }
        most
    }
}

#[test]
fn the_bound_of_one_slider_is_sharp() {
    let deal = &mut Numbers::new(3);
    for case in 0..60 {
        let mass: f64 = deal.between(0.1, 10.0);
        let stiffness = if case % 3 == 1 { 0.0 } else { deal.between(10.0, 1e4) };
        // Undamped, damper alone, both.
        let damping: f64 = if case % 3 == 0 { 0.0 } else { deal.between(1.0, 50.0) };
        let mut host = Host::new(0.0);
        let slider = host.add_coordinate(mass);
        let count = 1 + case % 4;
        for _ in 0..count {
            let parameters =
                coordinate::Parameters { stiffness, damping, ..coordinate::Parameters::default() };
            host.add_slider(CoordinatePair::on(slider), parameters);
        }
        let mut state = host.system.default_state();
        state.set_coordinate(slider, 0.1).expect("finite");
        state.set_coordinate_rate(slider, 0.2).expect("finite");
        let (k, d) = (stiffness * f64::from(count) / mass, damping * f64::from(count) / mass);

        let bound = host.stable(&state, 0.0).length;
        let expected = 4.0 / (d + (d * d + 4.0 * k).sqrt());
        assert!((bound / expected - 1.0).abs() < 1e-12, "{bound} s, {expected} s");
        assert!(host.euler(&state, 0.9 * bound, STEPS) < BOUNDED, "case {case}");
        assert!(host.euler(&state, 1.3 * bound, STEPS) > BOUNDED, "case {case}");

        let bound = host.stable_by(StepMethod::RungeKutta4, &state, 0.0).length;
        assert!(host.runge_kutta(&state, 0.9 * bound, &[mass]) < BOUNDED, "case {case}");
        // Sharp unless the slider is damped more than it swings.
        if d < k.sqrt() || k == 0.0 {
            assert!(host.runge_kutta(&state, 1.3 * bound, &[mass]) > BOUNDED, "case {case}");
        }
    }
}

#[test]
fn chains_of_sliders_stay_bounded() {
    let deal = &mut Numbers::new(5);
    for case in 0..40 {
        let mut host = Host::new(0.0);
        let masses: Vec<f64> = (0..5).map(|_| 10.0_f64.powf(deal.between(-1.0, 1.0))).collect();
        let sliders: Vec<CoordinateIndex> = masses.iter().map(|&mass| host.add_coordinate(mass)).collect();
        for i in 0..sliders.len() {
            for j in 0..i {
                let parameters = coordinate::Parameters {
                    stiffness: 10.0_f64.powf(deal.between(0.0, 4.0)),
                    damping: if case % 2 == 0 { 0.0 } else { deal.between(0.0, 20.0) },
                    factor0: deal.between(-2.0, 2.0),
                    factor1: deal.between(-2.0, 2.0),
                    ..coordinate::Parameters::default()
                };
                host.add_slider(CoordinatePair::between(sliders[i], sliders[j]), parameters);
            }
        }
        let mut state = host.system.default_state();
        for &slider in &sliders {
            state.set_coordinate(slider, deal.between(-0.1, 0.1)).expect("finite");
            state.set_coordinate_rate(slider, deal.between(-1.0, 1.0)).expect("finite");
        }
        let bound = host.stable(&state, 0.0).length;
        assert!(host.euler(&state, 0.9 * bound, STEPS) < BOUNDED, "case {case}");
        // Not so cautious that it would be of no use.
        assert!(host.euler(&state, 2.0 * bound, STEPS) > BOUNDED, "case {case}");
        let bound = host.stable_by(StepMethod::RungeKutta4, &state, 0.0).length;
        assert!(host.runge_kutta(&state, 0.9 * bound, &masses) < BOUNDED, "case {case}");
    }
}

#[test]
fn dampers_of_regularised_friction_share_a_slider() {
    for count in 1..=8_u32 {
        let (mass, zone, holding) = (1.5, 1e-3, 2.0);
        let mut host = Host::new(0.0);
        let slider = host.add_coordinate(mass);
        for _ in 0..count {
            let parameters = coordinate::Parameters {
                dynamic_friction_coefficient: 0.2,
                friction_load: holding / 0.2,
                friction_proportional_zone: zone,
                ..coordinate::Parameters::default()
            };
            host.add_slider(CoordinatePair::on(slider), parameters);
        }
        let mut state = host.system.default_state();
        state.set_coordinate_rate(slider, 1e-9).expect("finite");
        let step = host.stable(&state, 0.0);
        let damping = holding / zone;
        assert!((step.length - 2.0 * mass / (f64::from(count) * damping)).abs() < 1e-12 * step.length);
        assert!(host.euler(&state, 0.9 * step.length, STEPS) <= 1.0);
        assert!(host.euler(&state, 1.3 * step.length, STEPS) > BOUNDED);
        // The bound follows the load.
        let halve = |p: &mut coordinate::Parameters<f64>| p.friction_load *= 0.5;
        let first = host.system.elements().next().expect("there");
        let first = host.system.handle::<CoordinateSpringDamperExt<f64>>(first).expect("of this type");
        host.system.update_parameters(&mut state, first, halve).expect("finite");
        assert!(host.stable(&state, 0.0).length > step.length);
    }
}

/// A body with its mass center off its origin.
fn any_body(deal: &mut Numbers) -> RigidBody<f64> {
    let mass: f64 = 10.0_f64.powf(deal.between(-1.0, 1.0));
    let radii: Vector3<f64> =
        Vector3::new(deal.between(0.1, 0.3), deal.between(0.1, 0.3), deal.between(0.1, 0.3));
    let squares = radii.component_mul(&radii);
    let inertia = Matrix3::from_diagonal(&Vector3::new(
        squares.y + squares.z,
        squares.z + squares.x,
        squares.x + squares.y,
    ));
    RigidBody::new(mass, Point3::from(deal.vector::<f64>(0.2)), inertia * (mass / 5.0)).expect("a body")
}

#[test]
fn of_a_users_force_no_step_is_known() {
    let mut host = Host::new(0.0);
    let custom = host.system.add(CustomForce::<f64>::new(|_, _| 0.0)).expect("valid");
    let state = host.system.default_state();
    let step = host.stable(&state, 0.0);
    assert_eq!((step.element, step.unknown, step.length), (None, Some(custom.id()), f64::INFINITY));
}

#[test]
fn masses_and_stages_that_make_no_sense_are_refused() {
    struct Massless;
    impl Inertias for Massless {
        fn mass(&self, _: BodyIndex) -> f64 {
            0.0
        }
        fn inertia(&self, _: BodyIndex) -> Matrix3<f64> {
            Matrix3::from_diagonal_element(1.0)
        }
        fn coordinate_mass(&self, _: CoordinateIndex) -> f64 {
            1.0
        }
    }
    let mut system = ForceSystem::<f64>::new();
    system.add_body();
    let mut state = system.default_state();
    let early = system.stable_step(&state, &Massless, StepMethod::SymplecticEuler, 0.0);
    assert!(matches!(early, Err(Error::StageTooLow { .. })), "{early:?}");
    system.realize_dynamics(&mut state).expect("regular");
    let massless = system.stable_step(&state, &Massless, StepMethod::SymplecticEuler, 0.0);
    assert!(matches!(massless, Err(Error::InvalidValue(value)) if value.name == "mass"), "{massless:?}");
}
