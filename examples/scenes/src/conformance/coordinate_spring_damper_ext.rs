//! Cases of the extended coordinate spring-damper.

use force_elements::coordinate_spring_damper_ext::{Discrete, Parameters};
use force_elements::nalgebra::Vector3;
use force_elements::simulation::{Implicit, Integrator, Plant, Simulation};
use force_elements::{
    CoordinateIndex, CoordinatePair, CoordinateSpringDamperExt, ForceSystem, Handle, State,
};

use super::{Deviations, Failure, Fields};

const TOLERANCE: f64 = 1e-12;

pub fn check(case: Fields<'_>) -> Result<Deviations, Failure> {
    let (input, expected) = (case.object("input")?, case.object("expected")?);
    let mut system = ForceSystem::new();
    let (c0, c1) = (system.add_coordinate(), system.add_coordinate());
    let parameters = parameters(input)?;
    let element = system.add(CoordinateSpringDamperExt::new(CoordinatePair::between(c0, c1), parameters)?)?;
    let mut state = system.default_state();
    for (coordinate, q, u) in [(c0, "q0", "v0"), (c1, "q1", "v1")] {
        state.set_coordinate(coordinate, input.number(q)?)?;
        state.set_coordinate_rate(coordinate, input.number(u)?)?;
    }
    system.set_discrete(&mut state, element, discrete(input)?)?;
    let view = system.realize_dynamics(&mut state)?;
    let at = view.of(element);

    let mut deviations = Deviations::default();
    for (quantity, got) in [
        ("displacement", at.position.displacement),
        ("velocity", at.velocity.velocity),
        ("force", at.dynamics.force),
        ("generalized_force0", view.coordinate_force(c0)),
        ("generalized_force1", view.coordinate_force(c1)),
    ] {
        deviations.relative(quantity, &[got], &[expected.number(quantity)?], TOLERANCE);
    }
    Ok(deviations)
}

/// Integrates a trajectory the way it was computed, implicitly, in steps of the same length.
pub fn check_trajectory(case: Fields<'_>) -> Result<Deviations, Failure> {
    let trajectory = Trajectory::new(case)?;
    let mut simulation = trajectory.simulation()?;
    trajectory.follow(&mut simulation, &mut Implicit::trapezoidal(trajectory.step), |_, _| {})
}

/// A mass on the element, with where it must be and how fast at which times.
pub struct Trajectory {
    /// The step it was computed with \[s\].
    pub step: f64,
    element: Handle<CoordinateSpringDamperExt<f64>>,
    slider: CoordinateIndex,
    system: ForceSystem<f64>,
    plant: Plant<f64>,
    start: State<f64>,
    time: Vec<f64>,
    q: Vec<f64>,
    u: Vec<f64>,
    tolerance: f64,
}

impl Trajectory {
    pub fn new(case: Fields<'_>) -> Result<Self, Failure> {
        let input = case.object("input")?;
        let mut system = ForceSystem::new();
        let mut plant = Plant::new(Vector3::zeros())?;
        let slider = plant.add_coordinate(&mut system, input.number("mass")?)?;
        let element = CoordinateSpringDamperExt::new(CoordinatePair::on(slider), parameters(input)?)?;
        let element = system.add(element)?;
        let mut start = system.default_state();
        start.set_coordinate(slider, input.number("q")?)?;
        start.set_coordinate_rate(slider, input.number("u")?)?;
        system.set_discrete(&mut start, element, discrete(input)?)?;
        Ok(Self {
            step: case.number("step")?,
            element,
            slider,
            system,
            plant,
            start,
            time: case.numbers("time")?,
            q: case.numbers("q")?,
            u: case.numbers("u")?,
            tolerance: 10.0 * case.number("max_change_on_doubling_step")?,
        })
    }

    pub fn simulation(&self) -> Result<Simulation<'_, f64>, Failure> {
        Ok(Simulation::new(&self.system, &self.plant, self.start.clone())?)
    }

    /// Integrates to the end and compares. Calls `observe`, with what the element remembers, at the start and
    /// after each accepted step.
    pub fn follow(
        &self,
        simulation: &mut Simulation<'_, f64>,
        integrator: &mut impl Integrator<f64>,
        mut observe: impl FnMut(&Simulation<'_, f64>, &Discrete<f64>),
    ) -> Result<Deviations, Failure> {
        let mut observe = |simulation: &Simulation<'_, f64>| {
            observe(simulation, simulation.state().discrete(self.element));
        };
        observe(simulation);
        let (mut q, mut u) = (Vec::new(), Vec::new());
        for &time in &self.time {
            simulation.run(integrator, time, |simulation| observe(simulation))?;
            q.push(simulation.state().positions().coordinate(self.slider));
            u.push(simulation.state().velocities().coordinate_rate(self.slider));
        }
        // The tolerance is one of q. A shift in time that moves q by as much moves u by more, the more
        // abruptly u changes.
        let u_per_q = largest_change(&self.u) / largest_change(&self.q);
        let mut deviations = Deviations::default();
        deviations.worst("q", &q, &self.q, self.tolerance);
        deviations.worst("u", &u, &self.u, self.tolerance * u_per_q.max(1.0));
        Ok(deviations)
    }
}

/// The largest change from one sample to the next.
fn largest_change(samples: &[f64]) -> f64 {
    samples.windows(2).map(|pair| (pair[1] - pair[0]).abs()).fold(0.0, f64::max)
}

fn discrete(input: Fields<'_>) -> Result<Discrete<f64>, Failure> {
    Ok(Discrete {
        friction_mode: input.number("friction_mode")?,
        last_sticking_position: input.number("last_sticking_position")?,
        limit_stop_state: input.number("limit_stop_state")?,
        ..Discrete::default()
    })
}

/// The parameters of a case; those it does not name keep their defaults.
pub fn parameters(input: Fields<'_>) -> Result<Parameters<f64>, Failure> {
    let default = Parameters::default();
    let number = |name, default| if input.has(name) { input.number(name) } else { Ok(default) };
    Ok(Parameters {
        stiffness: number("stiffness", default.stiffness)?,
        damping: number("damping", default.damping)?,
        offset: number("offset", default.offset)?,
        velocity_offset: number("velocity_offset", default.velocity_offset)?,
        factor0: number("factor0", default.factor0)?,
        factor1: number("factor1", default.factor1)?,
        dynamic_friction: number("dynamic_friction", default.dynamic_friction)?,
        static_friction_offset: number("static_friction_offset", default.static_friction_offset)?,
        sticking_stiffness: number("sticking_stiffness", default.sticking_stiffness)?,
        sticking_damping: number("sticking_damping", default.sticking_damping)?,
        exponential_decay_static: number("exponential_decay_static", default.exponential_decay_static)?,
        viscous_friction: number("viscous_friction", default.viscous_friction)?,
        friction_proportional_zone: number("friction_proportional_zone", default.friction_proportional_zone)?,
        limit_stops_upper: number("limit_stops_upper", default.limit_stops_upper)?,
        limit_stops_lower: number("limit_stops_lower", default.limit_stops_lower)?,
        limit_stops_upper_stiffness: number("limit_stops_stiffness", default.limit_stops_upper_stiffness)?,
        limit_stops_lower_stiffness: number("limit_stops_stiffness", default.limit_stops_lower_stiffness)?,
        limit_stops_upper_damping: number("limit_stops_damping", default.limit_stops_upper_damping)?,
        limit_stops_lower_damping: number("limit_stops_damping", default.limit_stops_lower_damping)?,
        use_limit_stops: input.has("use_limit_stops") && input.flag("use_limit_stops")?,
        ..default
    })
}
