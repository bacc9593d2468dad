//! Two bodies on soft springs, joined by an elastic cable over a cylinder, thrown so that they swing and rock
//! in all directions while the cable goes slack and taut, leaves the cylinder and lands on it again.

use core::f64::consts::FRAC_PI_2;

use force_elements::cable::{CablePath, Obstacle};
use force_elements::nalgebra::{Matrix3, Point3, Rotation3, Translation3, Vector3, Vector6};
use force_elements::shapes::Cylinder;
use force_elements::simulation::{Integrator, Plant, RigidBody, Simulation, SimulationError, Statistics};
use force_elements::{
    BodyIndex, CableSpring, DynamicsView, ForceSystem, Frame, Handle, LinearBushing, Pose, SpatialVelocity,
    State, Station, cable_spring, linear_bushing,
};

/// How long it swings \[s\].
pub const SECONDS: u32 = 20;
/// Radius of the cylinder \[m\].
pub const RADIUS: f64 = 0.3;
/// Where the cable is tied to either body \[m\]: away from the mass center, so that it rocks the body.
pub const EYES: [[f64; 3]; 2] = [[0.12, 0.03, 0.06], [-0.1, -0.04, 0.08]];

/// Masses of the bodies \[kg\].
pub const MASSES: [f64; 2] = [1.0, 1.3];
/// Stiffness of the supports about and along x, y and z \[N·m/rad, N/m\].
pub const SUPPORT: [f64; 6] = [6.0, 6.0, 6.0, 45.0, 30.0, 40.0];
/// Stiffness of the cable \[N/m\].
pub const STIFFNESS: f64 = 120.0;
/// Slack length of the cable \[m\].
pub const SLACK_LENGTH: f64 = 2.15;

/// Half the sides of the bodies, as far as they are drawn \[m\].
pub const HALF_SIDES: [f64; 3] = [0.12, 0.1, 0.08];

pub struct SwingingCable {
    pub system: ForceSystem<f64>,
    pub plant: Plant<f64>,
    pub bodies: [BodyIndex; 2],
    pub supports: [Handle<LinearBushing<f64>>; 2],
    pub cable: Handle<CableSpring<f64>>,
    pub start: State<f64>,
}

impl SwingingCable {
    /// With this dissipation of the cable \[s/m\]; nothing else loses energy.
    pub fn new(dissipation: f64) -> Result<Self, SimulationError> {
        let mut system = ForceSystem::new();
        let mut plant = Plant::new(Vector3::new(0.0, 0.0, -9.81))?;
        let inertia = Matrix3::from_diagonal(&Vector3::new(0.012, 0.016, 0.020));
        let mut body = |mass: f64| {
            let body = RigidBody::new(mass, Point3::origin(), inertia * mass)?;
            Ok::<_, SimulationError>(plant.add_body(&mut system, body))
        };
        let (left, right) = (body(MASSES[0])?, body(MASSES[1])?);

        let stiffness = Vector6::from(SUPPORT);
        let support = |body, x| {
            let X_GF = Pose::translation(x, 0.0, 0.42);
            LinearBushing::new(
                Frame::ground(X_GF),
                Frame::of(body),
                linear_bushing::Parameters { stiffness, damping: Vector6::zeros() },
            )
        };
        let supports = [system.add(support(left, -1.3)?)?, system.add(support(right, 1.25)?)?];

        let [origin, termination] =
            [(left, EYES[0]), (right, EYES[1])].map(|(body, eye)| Station { body, p_B: Point3::from(eye) });
        // Its axis lies along y, a little askew.
        let X_GS =
            Pose::from_parts(Translation3::identity(), Rotation3::from_euler_angles(FRAC_PI_2, 0.0, 0.12));
        let cylinder = Obstacle::new(Frame::ground(X_GS), Cylinder::new(RADIUS)?)?;
        let path = CablePath::new(origin, termination)?.over(cylinder);
        let cable = system.add(CableSpring::new(
            path,
            cable_spring::Parameters { stiffness: STIFFNESS, slack_length: SLACK_LENGTH, dissipation },
        )?)?;

        let mut start = system.default_state();
        for (body, p, w, v) in [
            (left, [-1.35, -0.15, 0.1], [1.0, -2.0, 1.5], [0.8, 2.6, 2.0]),
            (right, [1.3, 0.2, 0.15], [-1.5, 1.0, 2.0], [-0.9, -2.2, 1.6]),
        ] {
            let V_GB = SpatialVelocity::new(Vector3::from(w), Vector3::from(v));
            let X_GB = Pose::translation(p[0], p[1], p[2]);
            start.set_body(body, X_GB, V_GB)?;
        }
        Ok(Self { system, plant, bodies: [left, right], supports, cable, start })
    }

    pub fn is_damped(&self) -> bool {
        self.start.parameters(self.cable).law.dissipation > 0.0
    }

    pub fn simulation(&self) -> Result<Simulation<'_, f64>, SimulationError> {
        Simulation::new(&self.system, &self.plant, self.start.clone())
    }

    /// Swings to the end, looking at every accepted step.
    pub fn run(
        &self,
        integrator: &mut impl Integrator<f64>,
        mut look: impl FnMut(&DynamicsView<'_, f64>),
    ) -> Result<Run, SimulationError> {
        let mut simulation = self.simulation()?;
        let mut samples = vec![self.sample(&mut simulation, &mut look)?];
        for second in 1..=SECONDS {
            // Whole seconds are met exactly.
            while simulation.time() < f64::from(second) {
                integrator.step(&mut simulation, f64::from(second))?;
                samples.push(self.sample(&mut simulation, &mut look)?);
            }
        }
        Ok(Run { statistics: simulation.statistics(), samples })
    }

    fn sample(
        &self,
        simulation: &mut Simulation<'_, f64>,
        look: &mut impl FnMut(&DynamicsView<'_, f64>),
    ) -> Result<Sample, SimulationError> {
        let (kinetic, gravitational) = (simulation.kinetic_energy(), simulation.gravitational_energy());
        let view = simulation.dynamics()?;
        let mut in_supports = 0.0;
        for support in self.supports {
            in_supports += view.potential_energy_of(support);
        }
        let at = view.of(self.cable);
        let contact = &at.position.path.contacts[0];
        look(&view);
        Ok(Sample {
            time: view.time(),
            poses: self.bodies.map(|body| *view.pose(body)),
            in_contact: contact.in_contact,
            touch: contact.wrap.point.z,
            length_rate: at.velocity.length_rate,
            tension: at.dynamics.tension,
            elongation: at.position.elongation,
            kinetic,
            gravitational,
            in_supports,
            in_cable: view.potential_energy_of(self.cable),
            dissipated: view.dissipated_energy_of(self.cable).unwrap_or(f64::NAN),
            power_dissipated: view.power_dissipated_of(self.cable),
            ledger: view.dissipated_energy().unwrap_or(f64::NAN),
        })
    }
}

/// What is kept of an accepted step.
pub struct Sample {
    pub time: f64,
    pub poses: [Pose<f64>; 2],
    pub in_contact: bool,
    /// Where the cable touches or passes the cylinder, along its axis \[m\].
    pub touch: f64,
    /// Of the cable \[m/s\].
    pub length_rate: f64,
    pub tension: f64,
    pub elongation: f64,
    pub kinetic: f64,
    pub gravitational: f64,
    pub in_supports: f64,
    pub in_cable: f64,
    /// By the cable.
    pub dissipated: f64,
    pub power_dissipated: f64,
    /// What the ledger of all elements says is dissipated.
    pub ledger: f64,
}

impl Sample {
    /// Kinetic, gravitational and stored energy \[J\].
    pub fn mechanical(&self) -> f64 {
        self.kinetic + self.gravitational + self.in_supports + self.in_cable
    }

    /// All of the energy \[J\].
    pub fn total(&self) -> f64 {
        self.mechanical() + self.ledger
    }

    /// The places in Ground where the cable is tied.
    pub fn eyes(&self) -> [Point3<f64>; 2] {
        [0, 1].map(|i| self.poses[i] * Point3::from(EYES[i]))
    }
}

/// What came of a run.
pub struct Run {
    pub statistics: Statistics,
    pub samples: Vec<Sample>,
}

impl Run {
    /// How often something became so from one step to the next.
    pub fn count(&self, is_so: impl Fn(&Sample) -> bool) -> usize {
        self.samples.windows(2).filter(|pair| !is_so(&pair[0]) && is_so(&pair[1])).count()
    }

    /// The largest change of an energy since the start \[J\].
    pub fn change(&self, energy: impl Fn(&Sample) -> f64) -> f64 {
        let start = energy(&self.samples[0]);
        self.samples.iter().map(|sample| (energy(sample) - start).abs()).fold(0.0, f64::max)
    }

    /// All that kinetic energy ever gained \[J\].
    pub fn turned_over(&self) -> f64 {
        self.samples.windows(2).map(|pair| (pair[1].kinetic - pair[0].kinetic).max(0.0)).sum()
    }

    /// The integral of the power the cable dissipates, by trapezoids \[J\]: its kinks would spoil polynomials.
    pub fn loss(&self) -> f64 {
        let pairs = self.samples.windows(2);
        pairs.map(|s| 0.5 * (s[1].power_dissipated + s[0].power_dissipated) * (s[1].time - s[0].time)).sum()
    }
}
