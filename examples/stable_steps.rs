//! Stable step lengths: the bound returned by a system, compared with the longest step at which a simulation stays
//! bounded.
//!
//! Prints three tables: for several scenes, the bound, the element that limits it and the longest step found to be
//! stable; the energy after an impact on an exponential spring, by length of the step; and the energy gained by hosts
//! that hold a force over several substeps.
//!
//! ```text
//! cargo run --release --example stable_steps
//! ```

use std::error::Error;

use force_elements::cable::CablePath;
use force_elements::elastic_foundation::Material;
use force_elements::nalgebra::{Point3, Vector3, Vector6};
use force_elements::shapes::{HalfSpace, TriangleMesh};
use force_elements::simulation::{Plant, RigidBody, SemiImplicitEuler, Simulation};
use force_elements::{
    BodyIndex, CableSpring, CoordinatePair, CoordinateSpringDamperExt, ElasticFoundation, ExponentialSpring,
    ForceSystem, Frame, LinearBushing, Pose, SpatialVelocity, State, Station, StepMethod, cable_spring,
    coordinate_spring_damper_ext as coordinate, exponential_spring, linear_bushing,
};
use force_elements_examples::{Arguments, Table, print, println};
// Linked so that the generic code compiled with it, for all tests, is not compiled again here.
use force_elements_scenes as _;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const SPRINGS: &str = "\
*Bound*: what `ForceSystem::stable_step` returns, for symplectic Euler and for the Runge–Kutta method of order four.
*Measured*: the longest step in which 400 steps of symplectic Euler raise the energy less than 100-fold.";

const IMPACTS: &str = "\
A mass strikes an exponential spring without damping at 1 m/s, with ω = d2·v/√2; the worst of 40 starts. Energy after the
impact, less that before, over that before.";

const HELD: &str = "\
An oscillation at ω whose force is held over n substeps of symplectic Euler: the share of its energy that it gains in each
step, by the formula (n − 1)/2n·ω²h² and measured.";

/// A plant on elements, and where it starts.
struct Scene {
    name: &'static str,
    system: ForceSystem<f64>,
    plant: Plant<f64>,
    state: State<f64>,
}

impl Scene {
    fn new(
        name: &'static str,
        gravity: f64,
        build: impl FnOnce(&mut ForceSystem<f64>, &mut Plant<f64>) -> Result<Option<(BodyIndex, Pose<f64>)>>,
    ) -> Result<Self> {
        let mut plant = Plant::new(Vector3::z() * -gravity)?;
        let mut system = ForceSystem::new();
        let placed = build(&mut system, &mut plant)?;
        let mut state = system.default_state();
        // Far less than anything bends by.
        for coordinate in system.coordinates() {
            state.set_coordinate_rate(coordinate, 1e-7)?;
        }
        for body in system.bodies() {
            let velocity = SpatialVelocity::new(Vector3::repeat(1e-6), Vector3::repeat(-1e-6));
            state.set_body(body, Pose::identity(), velocity)?;
        }
        if let Some((body, pose)) = placed {
            state.set_pose(body, pose)?;
        }
        system.realize_dynamics(&mut state)?;
        Ok(Self { name, system, plant, state })
    }

    fn is_bounded(&self, step: f64) -> Result<bool> {
        let mut simulation = Simulation::new(&self.system, &self.plant, self.state.clone())?;
        let energy = |simulation: &mut Simulation<'_, f64>| {
            let stored = simulation.dynamics().map_or(f64::INFINITY, |view| view.potential_energy());
            simulation.kinetic_energy() + stored
        };
        let (first, mut most) = (energy(&mut simulation), 0.0_f64);
        let mut euler = SemiImplicitEuler::new(step).unchecked();
        let run = simulation.run(&mut euler, 400.0 * step, |simulation| most = most.max(energy(simulation)));
        Ok(run.is_ok() && most < 100.0 * first)
    }

    /// The longest step that stays bounded, to a hundredth.
    fn longest_step(&self, bound: f64) -> Result<f64> {
        let (mut short, mut long) = (0.5 * bound, 8.0 * bound);
        while long / short > 1.01 {
            let middle = (short * long).sqrt();
            if self.is_bounded(middle)? {
                short = middle;
            } else {
                long = middle;
            }
        }
        Ok(short)
    }
}

fn slider(name: &'static str, count: usize, parameters: coordinate::Parameters<f64>) -> Result<Scene> {
    Scene::new(name, 0.0, |system, plant| {
        let slider = plant.add_coordinate(system, 1.0)?;
        for _ in 0..count {
            system.add(CoordinateSpringDamperExt::new(CoordinatePair::on(slider), parameters)?)?;
        }
        Ok(None)
    })
}

fn scenes() -> Result<Vec<Scene>> {
    let none = coordinate::Parameters::default();
    let spring = coordinate::Parameters { stiffness: 1e4, ..none };
    let damped = coordinate::Parameters { damping: 150.0, ..spring };
    let friction = coordinate::Parameters {
        dynamic_friction_coefficient: 0.3,
        friction_load: 10.0,
        friction_proportional_zone: 0.01,
        ..none
    };
    let stiffness = Vector6::new(50.0, 50.0, 50.0, 1e4, 1e4, 1e4);
    let bushing = linear_bushing::Parameters { stiffness, damping: stiffness * 1e-4 };
    let body = |system: &mut ForceSystem<f64>, plant: &mut Plant<f64>| -> Result<BodyIndex> {
        Ok(plant.add_body(system, RigidBody::with_equal_inertia(1.0, 0.004)?))
    };
    Ok(vec![
        slider("slider on a spring of 1e4 N/m", 1, spring)?,
        slider("the same with a damper of 150 N·s/m", 1, damped)?,
        slider("slider with 3 N of friction over 1 cm/s", 1, friction)?,
        slider("the same on four guides", 4, friction)?,
        Scene::new("body on a bushing in its mass center", 0.0, |system, plant| {
            let body = body(system, plant)?;
            let frame = Frame::ground(Pose::identity());
            system.add(LinearBushing::new(frame, Frame::of(body), bushing)?)?;
            Ok(None)
        })?,
        Scene::new("body on a bushing 10 cm off it", 0.0, |system, plant| {
            let body = body(system, plant)?;
            let X = Pose::translation(0.1, 0.0, 0.0);
            system.add(LinearBushing::new(Frame::ground(X), Frame::on(body, X), bushing)?)?;
            Ok(None)
        })?,
        Scene::new("two bodies on one bushing", 0.0, |system, plant| {
            let bodies = [body(system, plant)?, body(system, plant)?];
            system.add(LinearBushing::new(Frame::of(bodies[0]), Frame::of(bodies[1]), bushing)?)?;
            Ok(None)
        })?,
        Scene::new("weight on a cable of 1e4 N/m", 9.81, |system, plant| {
            let body = body(system, plant)?;
            let path = CablePath::new(
                Station::ground(Point3::new(0.0, 0.0, 1.05)),
                Station::on(body, Point3::new(0.0, 0.0, 0.05)),
            )?;
            let elastic = cable_spring::Parameters {
                stiffness: 1e4,
                slack_length: 1.0 - 9.81 / 1e4,
                ..cable_spring::Parameters::default()
            };
            system.add(CableSpring::new(path, elastic)?)?;
            Ok(None)
        })?,
        Scene::new("cube of 0.1 m on a foundation of 1e7 N/m³", 9.81, |system, plant| {
            let body = body(system, plant)?;
            let mut foundation = ElasticFoundation::default();
            foundation.add_rigid(Frame::ground(Pose::identity()), HalfSpace::BelowZ)?;
            let mesh = TriangleMesh::brick(Vector3::repeat(0.05), [4; 3])?;
            foundation.add_springs(Frame::of(body), mesh, Material::new(1e7))?;
            system.add(foundation)?;
            let depth = 9.81 / (1e7 * 0.01);
            Ok(Some((body, Pose::translation(0.0, 0.0, 0.05 - depth))))
        })?,
    ])
}

fn springs() -> Result<Table<7>> {
    let mut table =
        Table::new(["bound, ms", "measured, ms", "ratio", "Runge–Kutta, ms", "ω, 1/s", "γ, 1/s", "scene"]);
    for scene in scenes()? {
        let bound = |method| scene.system.stable_step(&scene.state, &scene.plant, method, 0.0);
        let euler = bound(StepMethod::SymplecticEuler)?;
        let longest = scene.longest_step(euler.length)?;
        table.row([
            format!("{:.3}", euler.length * 1e3),
            format!("{:.3}", longest * 1e3),
            format!("{:.2}", longest / euler.length),
            format!("{:.3}", bound(StepMethod::RungeKutta4)?.length * 1e3),
            format!("{:.1}", euler.frequency),
            format!("{:.1}", euler.damping_rate),
            scene.name.to_string(),
        ]);
    }
    Ok(table)
}

/// One coordinate of motion on a system of one body: the height over a plane.
struct Striker {
    system: ForceSystem<f64>,
    state: State<f64>,
    body: BodyIndex,
}

impl Striker {
    fn new() -> Result<Self> {
        let mut system = ForceSystem::new();
        let body = system.add_body();
        let parameters = exponential_spring::Parameters {
            normal_viscosity: 0.0,
            ..exponential_spring::Parameters::default()
        };
        let station = Station::on(body, Point3::origin());
        system.add(ExponentialSpring::new(Frame::ground(Pose::identity()), station, parameters)?)?;
        let state = system.default_state();
        Ok(Self { system, state, body })
    }

    fn acceleration(&mut self, z: f64) -> Result<f64> {
        self.state.set_pose(self.body, Pose::translation(0.0, 0.0, z))?;
        Ok(self.system.realize_dynamics(&mut self.state)?.body_force(self.body).force.z)
    }

    /// The energy gained by striking at 1 m/s, from a height where nothing is felt, over that before.
    fn gain(&mut self, method: StepMethod, h: f64, phase: f64) -> Result<f64> {
        const FREE: f64 = 0.05;
        let (mut z, mut v) = (FREE - phase * h, -1.0);
        while z < FREE {
            match method {
                StepMethod::SymplecticEuler => {
                    v += h * self.acceleration(z)?;
                    z += h * v;
                }
                StepMethod::RungeKutta4 => {
                    let a = [v, self.acceleration(z)?];
                    let b = [v + 0.5 * h * a[1], self.acceleration(z + 0.5 * h * a[0])?];
                    let c = [v + 0.5 * h * b[1], self.acceleration(z + 0.5 * h * b[0])?];
                    let d = [v + h * c[1], self.acceleration(z + h * c[0])?];
                    z += h / 6.0 * (a[0] + 2.0 * b[0] + 2.0 * c[0] + d[0]);
                    v += h / 6.0 * (a[1] + 2.0 * b[1] + 2.0 * c[1] + d[1]);
                }
            }
        }
        Ok(v * v - 1.0)
    }
}

fn impacts() -> Result<Table<3>> {
    let mut table = Table::new(["ωh", "symplectic Euler", "Runge–Kutta"]);
    let mut striker = Striker::new()?;
    let frequency = exponential_spring::Parameters::<f64>::default().d2 / 2.0_f64.sqrt();
    for share in [0.3, 0.6, 1.0, 1.3, 1.6, 2.0] {
        let mut worst = |method| -> Result<f64> {
            let mut worst = 0.0_f64;
            for i in 0..40 {
                let gain = striker.gain(method, share / frequency, f64::from(i) / 40.0)?;
                worst = if gain.abs() > worst.abs() { gain } else { worst };
            }
            Ok(worst)
        };
        let [euler, runge_kutta] = [worst(StepMethod::SymplecticEuler)?, worst(StepMethod::RungeKutta4)?];
        table.row([format!("{share:.1}"), format!("{euler:+.1e}"), format!("{runge_kutta:+.1e}")]);
    }
    Ok(table)
}

fn held_forces() -> Table<4> {
    let mut table = Table::new(["ωh", "n", "formula", "measured"]);
    for share in [0.1, 0.3] {
        for n in [1, 2, 4, 8] {
            let parts = f64::from(n);
            // The map of one step on (q, v/ω) is linear; the square root of its determinant is the growth of amplitude.
            let step = |mut q: f64, mut u: f64| {
                let force = -q;
                for _ in 0..n {
                    u += share / parts * force;
                    q += share / parts * u;
                }
                [q, u]
            };
            let [[a, b], [c, d]] = [step(1.0, 0.0), step(0.0, 1.0)];
            let formula = (parts - 1.0) / (2.0 * parts) * share * share;
            let measured = a * d - b * c - 1.0;
            table.row([
                format!("{share:.1}"),
                n.to_string(),
                format!("{formula:.5}"),
                format!("{:.5}", measured.max(0.0)),
            ]);
        }
    }
    table
}

fn main() -> Result<()> {
    Arguments::read("How long a step may be: bounds, and steps that simulations bear.", []);
    println!("{SPRINGS}\n");
    print!("{}", springs()?);
    println!("\n{IMPACTS}\n");
    print!("{}", impacts()?);
    println!("\n{HELD}\n");
    print!("{}", held_forces());
    Ok(())
}
