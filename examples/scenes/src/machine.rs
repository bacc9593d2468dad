//! A machine with one of each element, moved along given curves, in every scalar of the tests.

use force_elements::cable::{CablePath, Obstacle};
use force_elements::elastic_foundation::Material;
use force_elements::nalgebra::{Point3, Rotation3, Translation3, Vector3, Vector6};
use force_elements::shapes::{HalfSpace, Sphere, TriangleMesh};
use force_elements::{
    BodyIndex, CableSpring, CoordinateIndex, CoordinatePair, CoordinateSpringDamperExt, ElasticFoundation,
    ElementId, Error, ExponentialSpring, ForceSystem, Forces, Frame, Handle, LinearBushing, Pose, Real,
    SpatialVelocity, State, Station, cable_spring, coordinate_spring_damper_ext, exponential_spring,
    linear_bushing,
};
#[cfg(debug_assertions)]
use {
    crate::absurd,
    crate::cables::Dice,
    crate::humps::{Peanut, Pipe, Ridges},
    force_elements::cable::Wrappable,
    force_elements::simulation::{
        DormandPrince, Implicit, Integrator as _, Plant, SemiImplicitEuler, Simulation, SimulationError,
    },
    num_dual::Dual64,
};

fn sums<T: Real>(energies: &[T], increments: &[T]) -> Vec<T> {
    energies.iter().zip(increments).map(|(&energy, &increment)| energy + increment).collect()
}

/// A machine: a body that slides on the ground by an exponential spring and rolls on it by a foundation, hangs in a
/// bushing, and carries the ball that a cable runs over; and a slider with bristles.
pub struct Machine<T: Real> {
    pub system: ForceSystem<T>,
    pub body: BodyIndex,
    pub slider: CoordinateIndex,
    pub spring: Handle<ExponentialSpring<T>>,
    pub bushing: Handle<LinearBushing<T>>,
    pub foundation: Handle<ElasticFoundation<T>>,
    pub cable: Handle<CableSpring<T>>,
    pub bristles: Handle<CoordinateSpringDamperExt<T>>,
}

fn point<T: Real>(x: f64, y: f64, z: f64) -> Point3<T> {
    Point3::new(T::lit(x), T::lit(y), T::lit(z))
}

pub fn spring<T: Real>(body: BodyIndex) -> Result<ExponentialSpring<T>, Error> {
    let parameters = exponential_spring::Parameters::<T> {
        d2: T::lit(200.0),
        friction_elasticity: T::lit(50.0),
        friction_viscosity: T::lit(1.0),
        settling: false,
        ..Default::default()
    };
    ExponentialSpring::new(
        Frame::ground(Pose::identity()),
        Station::on(body, point(0.0, 0.0, -0.31)),
        parameters,
    )
}

pub fn bushing<T: Real>(body: BodyIndex) -> Result<LinearBushing<T>, Error> {
    let stiffness = Vector6::repeat(T::lit(40.0));
    let parameters = linear_bushing::Parameters { stiffness, damping: stiffness * T::lit(0.1) };
    LinearBushing::new(Frame::ground(Pose::identity()), Frame::of(body), parameters)
}

pub fn foundation<T: Real>(body: BodyIndex) -> Result<ElasticFoundation<T>, Error> {
    let mut foundation = ElasticFoundation::default();
    foundation.add_rigid(Frame::ground(Pose::identity()), HalfSpace::BelowZ)?;
    let rubber = Material::new(T::lit(1e5)).with_dissipation(T::lit(0.1));
    let ball = TriangleMesh::sphere(T::lit(0.31), 10)?;
    foundation.add_springs(
        Frame::of(body),
        ball,
        rubber.with_friction(T::lit(0.5), T::lit(0.4), T::lit(0.1)),
    )?;
    Ok(foundation)
}

pub fn cable<T: Real>(body: BodyIndex) -> Result<CableSpring<T>, Error> {
    let ball = Obstacle::new(Frame::of(body), Sphere::new(T::lit(0.25))?)?;
    let path =
        CablePath::new(Station::ground(point(-1.0, 0.1, 0.2)), Station::ground(point(1.0, 0.0, 0.25)))?;
    let parameters = cable_spring::Parameters {
        stiffness: T::lit(100.0),
        slack_length: T::lit(1.5),
        dissipation: T::lit(0.1),
    };
    CableSpring::new(path.over(ball), parameters)
}

pub fn bristles<T: Real>(slider: CoordinateIndex) -> Result<CoordinateSpringDamperExt<T>, Error> {
    let parameters = coordinate_spring_damper_ext::Parameters::<T> {
        dynamic_friction: T::lit(2.0),
        static_friction_offset: T::lit(1.0),
        sticking_stiffness: T::lit(1e3),
        sticking_damping: T::lit(5.0),
        ..Default::default()
    };
    CoordinateSpringDamperExt::new(CoordinatePair::on(slider), parameters)
}

impl<T: Real> Machine<T> {
    pub fn new() -> Result<Self, Error> {
        let mut system = ForceSystem::new();
        let (body, slider) = (system.add_named_body("wheel")?, system.add_named_coordinate("slider")?);
        Ok(Self {
            body,
            slider,
            spring: system.add_named("foot", spring(body)?)?,
            bushing: system.add(bushing(body)?)?,
            foundation: system.add(foundation(body)?)?,
            cable: system.add_named("rope", cable(body)?)?,
            bristles: system.add(bristles(slider)?)?,
            system,
        })
    }

    /// Moves everything to where it is at a time; with it the anchor is dragged and holds by turns, the bristles
    /// slip and stick, the cable winds on and off, and the wheel presses its ball into the ground and leaves it.
    pub fn move_to(&self, state: &mut State<T>, time: f64) -> Result<(), Error> {
        let (s, c) = ((3.0 * time).sin(), (3.0 * time).cos());
        let R = Rotation3::new(Vector3::new(0.4 * s, 0.3 * c, 0.5 * s).map(T::lit));
        let p = Vector3::new(0.1 * s, 0.05 * c, 0.3 + 0.02 * (7.0 * time).sin()).map(T::lit);
        let V = SpatialVelocity::new(
            Vector3::new(1.2 * c, -0.9 * s, 1.5 * c).map(T::lit),
            Vector3::new(0.3 * c, -0.15 * s, 0.14 * (7.0 * time).cos()).map(T::lit),
        );
        state.set_time(T::lit(time))?;
        state.set_body(self.body, Pose::from_parts(Translation3::from(p), R), V)?;
        state.set_coordinate(self.slider, T::lit(0.01 * s))?;
        state.set_coordinate_rate(self.slider, T::lit(0.03 * c))
    }

    /// A state at time zero, where everything remembers its present position and the accounts are open.
    pub fn start(&self) -> Result<State<T>, Error> {
        let mut state = self.system.default_state();
        self.move_to(&mut state, 0.0)?;
        self.system.reset_memories(&mut state)?;
        self.system.reset_dissipated_energy(&mut state)?;
        Ok(state)
    }

    /// Steps of 2 ms from one time to another, each integrated and committed.
    pub fn run(&self, state: &mut State<T>, steps: std::ops::Range<u32>) -> Result<(), Error> {
        for step in steps {
            self.move_to(state, 0.002 * f64::from(step + 1))?;
            let rates = self.system.realize_dynamics(state)?.continuous_rates();
            let increments: Vec<_> = rates.iter().map(|&rate| rate * T::lit(0.002)).collect();
            state.set_absorbed_energy(&sums(state.absorbed_energy(), &increments))?;
            self.system.accept_step(state)?;
        }
        Ok(())
    }

    /// Forces, energies, powers, results and variables of its elements, however many others there are.
    pub fn everything(&self, state: &mut State<T>) -> Result<Vec<String>, Error> {
        let ids: [ElementId; 5] = [
            self.spring.into(),
            self.bushing.into(),
            self.foundation.into(),
            self.cable.into(),
            self.bristles.into(),
        ];
        let view = self.system.realize_dynamics(state)?;
        let mut all = vec![
            format!("{:?}", view.body_force(self.body)),
            format!("{:?}", view.coordinate_force(self.slider)),
        ];
        for id in ids {
            let mut forces = Forces::zeros(self.system.topology());
            view.add_contribution(id, &mut forces)?;
            all.push(format!("{id} {:?} {:?}", forces.body(self.body), forces.coordinate(self.slider)));
            all.push(format!("{:?} {:?}", view.potential_energy_of(id), view.power_dissipated_of(id)));
            all.push(format!(
                "{:?} {:?}",
                view.result(&format!("{id}.power_absorbed"))?,
                view.dissipated_energy_of(id)
            ));
        }
        all.push(format!("{:?}", view.of(self.spring).dynamics));
        all.push(format!("{:?}", view.of(self.bushing).position));
        all.push(format!("{:?}", view.of(self.foundation).dynamics));
        all.push(format!("{:?}", view.of(self.cable).position.path.contacts));
        all.push(format!("{:?}", view.of(self.bristles).dynamics));
        for id in ids {
            let prefix = format!("{id}.");
            let snapshot = state.snapshot();
            all.extend(
                snapshot.iter().filter(|(name, _)| name.starts_with(&prefix)).map(|v| format!("{v:?}")),
            );
        }
        Ok(all)
    }
}

/// Runs the machine in a scalar, and casts it to another.
#[cfg(debug_assertions)]
fn exercise<T: Real, U: Real>() -> Result<(), Error> {
    let machine = Machine::<T>::new()?;
    let mut state = machine.start()?;
    machine.run(&mut state, 0..2)?;
    machine.everything(&mut state)?;
    let snapshot = state.snapshot();
    state.restore(&snapshot)?;
    let _ = state.checkpoint();
    let cast = machine.system.cast::<U>()?;
    let mut state = cast.cast_state(&state)?;
    cast.realize_dynamics(&mut state)?;
    Ok(())
}

/// Takes a step of each integrator.
#[cfg(debug_assertions)]
fn exercise_integrators<T: Real>() -> Result<(), SimulationError> {
    let system = ForceSystem::<T>::new();
    let plant = Plant::new(Vector3::zeros())?;
    let mut simulation = Simulation::new(&system, &plant, system.default_state())?;
    DormandPrince::new(1e-3).step(&mut simulation, 1.0)?;
    Implicit::trapezoidal(1e-3).step(&mut simulation, 1.0)?;
    Implicit::tr_bdf2(1e-3).step(&mut simulation, 1.0)?;
    SemiImplicitEuler::new(1e-3).step(&mut simulation, 1.0)
}

/// Surfaces that are not the library's, in a scalar.
#[cfg(debug_assertions)]
fn foreign_surfaces<T: Real>() -> Vec<Box<dyn Wrappable<T>>> {
    let mut surfaces: Vec<Box<dyn Wrappable<T>>> =
        vec![Box::new(Pipe { radius: 1.0 }), Box::new(Peanut), Box::new(Ridges(Vec::new()))];
    surfaces.extend(absurd::surface(&mut Dice::new(0)));
    surfaces
}

/// Exercises the machine in all scalars of the tests. The code for them is generated here, once for all tests; code that is
/// optimised for speed is not shared between crates.
#[cfg(debug_assertions)]
pub fn exercise_all() -> Result<(), Error> {
    exercise::<f64, f32>()?;
    exercise::<f64, Dual64>()?;
    exercise::<f64, f64>()?;
    exercise::<f32, f64>()?;
    exercise::<Dual64, f64>()?;
    let surfaces = (foreign_surfaces::<f64>(), foreign_surfaces::<f32>());
    drop(surfaces);
    Ok(())
}

/// The same with the integrators.
#[cfg(debug_assertions)]
pub fn exercise_all_integrators() -> Result<(), SimulationError> {
    exercise_integrators::<f64>()?;
    exercise_integrators::<Dual64>()
}
