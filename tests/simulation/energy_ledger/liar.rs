//! An element whose energy has nothing to do with its force, and whose force has no reaction.

use force_elements::nalgebra::Vector3;
use force_elements::{
    AtDynamics, BodyIndex, ElementError, ForceAccumulator, ForceElement, Given, SpatialForce, Topology,
};

/// Drives a body round Ground's z axis, out of nothing, and claims to store 1000 J times the sine of time.
#[derive(Debug)]
pub(crate) struct Liar {
    pub(crate) body: BodyIndex,
}

impl ForceElement<f64> for Liar {
    const KIND: &'static str = "liar";
    type Parameters = ();
    type Discrete = ();
    type Continuous = ();
    type Position = f64;
    type Velocity = ();
    type Dynamics = ();

    fn check_topology(&self, topology: &Topology) -> Result<(), ElementError> {
        Ok(topology.check_body(self.body)?)
    }
    fn calc_position(&self, given: &Given<'_, f64, Self>, stored: &mut f64) -> Result<(), ElementError> {
        *stored = 1000.0 * given.time.sin();
        Ok(())
    }
    fn add_forces(&self, at: &AtDynamics<'_, f64, Self>, forces: &mut ForceAccumulator<'_, f64>) {
        let p = at.positions.pose(self.body).translation.vector;
        let around = Vector3::new(-p.y, p.x, 0.0);
        forces.apply_to_body(self.body, SpatialForce::new(Vector3::zeros(), around));
    }
    fn potential_energy(&self, at: &AtDynamics<'_, f64, Self>) -> f64 {
        *at.position
    }
}
