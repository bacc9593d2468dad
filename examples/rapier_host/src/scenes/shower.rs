//! Boxes that are dropped on a slope one after the other, and removed at its foot.

use force_elements::nalgebra::Vector3;
use force_elements::simulation::SimulationError;
use force_elements::{
    BodyIndex, Error, ExponentialSpring, ForceSystem, Handle, Pose, SpatialVelocity, State,
};

use super::GRAVITY;
use super::slope::{HALF, add_corners, body, slope};
use crate::host::{Host, Steps};
use crate::scene::{Energies, Placed, Scene};

/// Time from one box to the next \[s\].
pub const INTERVAL: f64 = 0.5;
/// Angle of the slope, too steep for friction to hold a box \[rad\].
const ANGLE: f64 = 0.6;
/// Length of the slope \[m\].
pub const LENGTH: f64 = 2.0;

/// Boxes on a slope, in rapier.
pub struct Shower {
    system: ForceSystem<f64>,
    state: State<f64>,
    host: Host,
    /// The slope.
    pub X_GP: Pose<f64>,
    /// Those on the slope, the oldest first.
    pub boxes: Vec<Dropped>,
    /// The energy that boxes have brought less what they have taken away, with what their springs had dissipated \[J\].
    pub exchanged: f64,
    /// What those springs had dissipated \[J\].
    pub carried_off: f64,
}

/// A box on its way.
pub struct Dropped {
    pub body: BodyIndex,
    corners: Vec<Handle<ExponentialSpring<f64>>>,
}

/// Where a box starts: above the head of the slope, at rest.
pub fn start(X_GP: &Pose<f64>) -> Pose<f64> {
    X_GP * Pose::translation(0.0, 0.0, HALF.z + 0.03)
}

/// A scene of one box.
pub fn lone() -> Result<(Scene, BodyIndex, Pose<f64>), SimulationError> {
    let X_GP = slope(ANGLE);
    let mut scene = Scene::new(Vector3::new(0.0, 0.0, -GRAVITY))?;
    let body = scene.add_body(body()?, start(&X_GP), SpatialVelocity::zero());
    add_corners(&mut scene.system, body, &X_GP)?;
    Ok((scene, body, X_GP))
}

impl Shower {
    pub fn new(steps: Steps) -> Self {
        let system = ForceSystem::new();
        let state = system.default_state();
        let host = Host::new(Vector3::new(0.0, 0.0, -GRAVITY), steps);
        Self { system, state, host, X_GP: slope(ANGLE), boxes: Vec::new(), exchanged: 0.0, carried_off: 0.0 }
    }

    pub fn advance(&mut self) -> Result<(), Error> {
        self.host.advance(&self.system, &mut self.state)
    }

    pub fn energies(&mut self) -> Result<Energies, Error> {
        Ok(self.host.energies(&self.system.realize_dynamics(&mut self.state)?))
    }

    /// The pose of a box on the slope.
    pub fn place(&self, dropped: &Dropped) -> Pose<f64> {
        self.X_GP.inverse() * self.state.positions().pose(dropped.body)
    }

    /// Drops a box: a body and its springs, in the system, in the state and in rapier.
    pub fn drop_box(&mut self) -> Result<(), SimulationError> {
        let before = self.energies()?;
        let (X_GB, V_GB) = (start(&self.X_GP), SpatialVelocity::zero());
        let index = self.system.add_body();
        let corners = add_corners(&mut self.system, index, &self.X_GP)?;
        self.system.carry_over(&mut self.state)?;
        self.state.set_body(index, X_GB, V_GB)?;
        for &corner in &corners {
            self.system.reset_memory(&mut self.state, corner)?;
            self.system.set_dissipated_energy(&mut self.state, corner, 0.0)?;
        }
        self.host.insert(&Placed { index, body: body()?, X_GB, V_GB });
        self.boxes.push(Dropped { body: index, corners });
        self.exchanged += self.energies()?.total() - before.total();
        Ok(())
    }

    /// Removes the oldest box if it has reached the foot of the slope.
    pub fn remove_fallen(&mut self) -> Result<bool, Error> {
        let has_fallen = self.boxes.first().is_some_and(|oldest| self.place(oldest).translation.x > LENGTH);
        if has_fallen {
            let before = self.energies()?;
            let Dropped { body, corners } = self.boxes.remove(0);
            corners.into_iter().try_for_each(|corner| self.system.remove(corner))?;
            self.system.remove_body(body)?;
            self.system.carry_over(&mut self.state)?;
            self.host.remove(body);
            let after = self.energies()?;
            self.exchanged += after.total() - before.total();
            self.carried_off += before.dissipated - after.dissipated;
        }
        Ok(has_fallen)
    }
}
