//! A block on a plane, carried by exponential springs at its corners or by a bed of springs over its faces.

use force_elements::elastic_foundation::Material;
use force_elements::exponential_spring::Parameters;
use force_elements::nalgebra::{Point3, Vector3};
use force_elements::shapes::{HalfSpace, TriangleMesh};
use force_elements::simulation::{Plant, RigidBody, Simulation, SimulationError};
use force_elements::{
    BodyIndex, ElasticFoundation, ExponentialSpring, ForceSystem, Frame, Handle, Pose, SpatialForce,
    SpatialVelocity, Station,
};

pub const MASS: f64 = 10.0;
pub const GRAVITY: f64 = 9.81;
pub const HALF_SIDE: f64 = 0.1;

/// Faces along an edge of the brick mesh: 32 springs under the block, of 192. Four are the fewest that show how
/// pressure varies over a face; each more costs the foundation time but no steps, so that few of
/// them favour it in a comparison.
const SUBDIVISIONS: u32 = 4;

/// What the block stands on, and how gravity acts.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// Moment of inertia about every axis \[kg·m²\].
    pub inertia: f64,
    pub gravity_G: Vector3<f64>,
    /// The plane: it fills what is below x and y.
    pub X_GP: Pose<f64>,
    pub mu_static: f64,
    pub mu_kinetic: f64,
}

impl Default for Setting {
    fn default() -> Self {
        Self {
            inertia: 1.0,
            gravity_G: Vector3::new(0.0, 0.0, -GRAVITY),
            X_GP: Pose::identity(),
            mu_static: 0.7,
            mu_kinetic: 0.5,
        }
    }
}

impl Setting {
    /// The weight that presses on the plane \[N\].
    pub fn normal_load(&self) -> f64 {
        -MASS * self.X_GP.rotation.inverse_transform_vector(&self.gravity_G).z
    }
}

/// What carries the block.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Contact {
    /// An exponential spring at each of the eight corners.
    Springs(Parameters<f64>),
    /// A spring on each face of a brick mesh, together as stiff under the weight of the block, and as
    /// dissipative, as exponential springs with default parameters.
    Foundation { transition_velocity: f64 },
}

impl Contact {
    /// Exponential springs with default parameters, with settling friction or return mapping.
    pub fn springs(settling: bool) -> Self {
        Self::Springs(Parameters { settling, ..Parameters::default() })
    }
}

/// A block of 10 kg with half a side of 0.1 m.
#[derive(Debug)]
pub struct Block {
    pub system: ForceSystem<f64>,
    pub plant: Plant<f64>,
    pub body: BodyIndex,
    /// The first four are those at the bottom; none on a foundation.
    pub springs: Vec<Handle<ExponentialSpring<f64>>>,
    setting: Setting,
    height: f64,
}

impl Block {
    pub fn new(setting: Setting, contact: Contact) -> Result<Self, SimulationError> {
        let mut system = ForceSystem::new();
        let mut plant = Plant::new(setting.gravity_G)?;
        let body = plant.add_body(&mut system, RigidBody::with_equal_inertia(MASS, setting.inertia)?);
        let mut springs = Vec::new();
        let height = match contact {
            Contact::Springs(parameters) => {
                let Setting { mu_static, mu_kinetic, .. } = setting;
                let parameters = Parameters { mu_static, mu_kinetic, ..parameters };
                for corner in corners() {
                    springs.push(system.add(ExponentialSpring::new(
                        Frame::ground(setting.X_GP),
                        Station::on(body, corner),
                        parameters,
                    )?)?);
                }
                HALF_SIDE + parameters.resting_height(setting.normal_load() / 4.0)?
            }
            Contact::Foundation { transition_velocity } => {
                let stiffness = tangent_stiffness();
                let area = (2.0 * HALF_SIDE).powi(2);
                let material = Material::new(stiffness / area)
                    .with_dissipation(Parameters::<f64>::default().normal_viscosity)
                    .with_friction(setting.mu_static, setting.mu_kinetic, 0.0);
                let mesh = TriangleMesh::brick(Vector3::repeat(HALF_SIDE), [SUBDIVISIONS; 3])?;
                let mut foundation =
                    ElasticFoundation::new(force_elements::elastic_foundation::Parameters {
                        transition_velocity,
                        ..Default::default()
                    })?;
                foundation.add_rigid(Frame::ground(setting.X_GP), HalfSpace::BelowZ)?;
                foundation.add_springs(Frame::of(body), mesh, material)?;
                system.add(foundation)?;
                HALF_SIDE - setting.normal_load() / stiffness
            }
        };
        Ok(Self { system, plant, body, springs, setting, height })
    }

    /// At rest on the middle of the plane, where it neither rises nor sinks.
    pub fn resting_pose(&self) -> Pose<f64> {
        self.setting.X_GP * Pose::translation(0.0, 0.0, self.height)
    }

    /// Pushes steadily along x of the plane, at the height of the plane, so that the block does not tip.
    pub fn push(&mut self, force: f64) -> Result<(), SimulationError> {
        let R_GP = self.setting.X_GP.rotation;
        let torque_P = Vector3::new(0.0, -self.height * force, 0.0);
        let push_P = Vector3::new(force, 0.0, 0.0);
        self.plant.set_body_load(self.body, SpatialForce::new(R_GP * torque_P, R_GP * push_P))
    }

    /// A simulation from the default start: anchors at the origin of the plane, Sliding 1.
    pub fn default_start(
        &self,
        X_GB: Pose<f64>,
        V_GB: SpatialVelocity<f64>,
    ) -> Result<Simulation<'_, f64>, SimulationError> {
        let mut state = self.system.default_state();
        state.set_body(self.body, X_GB, V_GB)?;
        Simulation::new(&self.system, &self.plant, state)
    }

    /// A simulation that starts with the anchors under the corners and this Sliding.
    pub fn start(
        &self,
        X_GB: Pose<f64>,
        V_GB: SpatialVelocity<f64>,
        sliding: f64,
    ) -> Result<Simulation<'_, f64>, SimulationError> {
        let mut state = self.system.default_state();
        state.set_body(self.body, X_GB, V_GB)?;
        for &spring in &self.springs {
            self.system.reset_memory(&mut state, spring)?;
            self.system.update_discrete(&mut state, spring, |discrete| discrete.sliding = sliding)?;
        }
        Simulation::new(&self.system, &self.plant, state)
    }

    /// Where the middle of the block is, in Ground.
    pub fn position(&self, simulation: &Simulation<'_, f64>) -> Vector3<f64> {
        simulation.state().positions().pose(self.body).translation.vector
    }

    /// How fast the middle of the block moves, in Ground.
    pub fn velocity(&self, simulation: &Simulation<'_, f64>) -> Vector3<f64> {
        simulation.state().velocities().velocity(self.body).linear
    }
}

/// A cube of the block's size and mass \[kg·m²\].
pub fn cube_inertia() -> f64 {
    MASS * (2.0 * HALF_SIDE).powi(2) / 6.0
}

/// Of four default springs under the weight of the block, `4·d2·F` \[N/m\].
fn tangent_stiffness() -> f64 {
    Parameters::<f64>::default().d2 * MASS * GRAVITY
}

/// The corners of the block, the lower ones first.
fn corners() -> impl Iterator<Item = Point3<f64>> {
    (0..8).map(|i| {
        let side = |bit: usize| if i >> bit & 1 == 0 { -HALF_SIDE } else { HALF_SIDE };
        Point3::new(side(0), side(1), side(2))
    })
}
