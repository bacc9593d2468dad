//! Imports of this crate and of nalgebra as a whole, beside each other and the prelude.

use force_elements::*;
use nalgebra::*;

#[test]
fn both_crates_can_be_imported_whole() -> Result<(), Error> {
    let mut system = ForceSystem::<f64>::new();
    let body = system.add_body();
    let stiffness = Vector6::repeat(2.0);
    let parameters = linear_bushing::Parameters { stiffness, ..Default::default() };
    system.add(LinearBushing::new(Frame::ground(Pose::identity()), Frame::of(body), parameters)?)?;
    let mut state = system.default_state();
    let pose: Pose<f64> = Pose::from_parts(Translation3::new(0.5, 0.0, 0.0), Rotation3::identity());
    state.set_pose(body, pose)?;
    let force: SpatialForce<f64> = system.realize_dynamics(&mut state)?.body_force(body);
    assert_eq!(force.force, Vector3::new(-1.0, 0.0, 0.0));
    Ok(())
}
