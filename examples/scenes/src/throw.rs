//! A block that is thrown along a plane, turning, and comes to rest.

use force_elements::exponential_spring::Parameters;
use force_elements::nalgebra::{Point3, Vector3};
use force_elements::{
    Checkpoint, Error, ExponentialSpring, ForceSystem, Frame, Handle, Pose, Real, SpatialVelocity, State,
    Station,
};

use crate::rollout::{Change, Cube, Derivatives, GRAVITY, Host};

pub const MASS: f64 = 10.0;
pub const HALF_SIDE: f64 = 0.1;
pub const STEP: f64 = 1e-3;

/// How the block is thrown: its velocity along x and y \[m/s\], and about z \[rad/s\].
pub type Velocity<T> = [T; 3];

/// A cube on exponential springs at its lower corners, at the height at which they carry a block of [`MASS`].
pub struct Throw<T: Real> {
    pub system: ForceSystem<T>,
    pub corners: Vec<Handle<ExponentialSpring<T>>>,
    pub host: Host<T>,
    pub state: State<T>,
}

impl<T: Real> Throw<T> {
    pub fn new(velocity: Velocity<T>, mass: T, parameters: Parameters<T>) -> Result<Self, Error> {
        let mut system = ForceSystem::new();
        let body = system.add_body();
        let half = T::lit(HALF_SIDE);
        let mut corners = Vec::new();
        for (x, y) in [(-half, -half), (half, -half), (half, half), (-half, half)] {
            let corner = Station::on(body, Point3::new(x, y, -half));
            corners.push(system.add(ExponentialSpring::new(
                Frame::ground(Pose::identity()),
                corner,
                parameters,
            )?)?);
        }
        let gyration = T::lit(2.0 / 3.0) * half * half;
        let host = Host::new(&system, STEP, vec![Cube { body, mass, gyration }], Vec::new());
        let mut state = system.default_state();
        let z = half + Parameters::default().resting_height(T::lit(MASS * GRAVITY / 4.0))?;
        let [x_rate, y_rate, turn_rate] = velocity;
        let V_GB = SpatialVelocity::new(Vector3::z() * turn_rate, Vector3::new(x_rate, y_rate, T::zero()));
        state.set_body(body, Pose::translation(T::zero(), T::zero(), z), V_GB)?;
        system.reset_memories(&mut state)?;
        Ok(Self { system, corners, host, state })
    }

    pub fn advance(&mut self) -> Result<(), Error> {
        self.host.advance(&self.system, &mut self.state)
    }

    /// Where the block is along x and y \[m\], and where its x axis points to \[rad\].
    pub fn place(&self) -> [T; 3] {
        let X = self.state.positions().pose(self.host.cubes[0].body);
        let ahead = X.rotation * Vector3::x();
        [X.translation.x, X.translation.y, ahead.y.atan2(ahead.x)]
    }
}

/// The derivatives of one number of the final place: by all that the run starts from, and by the mass.
#[derive(Clone)]
pub struct Gradient {
    pub by_start: Change,
    pub by_mass: f64,
}

impl Throw<f64> {
    /// The derivatives of the [place](Self::place) by the present motion.
    pub fn gradients_of_place(&self) -> [Gradient; 3] {
        let body = self.host.cubes[0].body;
        let ahead = self.state.positions().pose(body).rotation * Vector3::x();
        let by_turn = Vector3::new(-ahead.x * ahead.z, -ahead.y * ahead.z, 0.0) / ahead.xy().norm_squared();
        let (none, x, y, z) = (Vector3::zeros(), Vector3::x(), Vector3::y(), Vector3::z());
        [(none, x), (none, y), (by_turn + z, none)].map(|(angular, linear)| {
            let mut by_start = Change::zeros(&self.state);
            *by_start.motion.body_mut(body) = SpatialVelocity::new(angular, linear);
            Gradient { by_start, by_mass: 0.0 }
        })
    }

    /// Carries gradients back through all steps that start from these checkpoints, and shows them before each.
    pub fn pull_back(
        &mut self,
        starts: &[Checkpoint<f64>],
        derivatives: &mut Derivatives,
        gradients: &mut [Gradient],
        mut show: impl FnMut(usize, &[Gradient], &Derivatives),
    ) -> Result<(), Error> {
        for (step, start) in starts.iter().enumerate().rev() {
            self.state.return_to(start)?;
            derivatives.linearize(&mut self.host, &self.system, &mut self.state)?;
            for Gradient { by_start, by_mass } in gradients.iter_mut() {
                let by_masses = core::slice::from_mut(by_mass);
                derivatives.adjoint(&self.host, &self.state, by_start, by_masses)?;
            }
            show(step, gradients, derivatives);
        }
        Ok(())
    }
}
