//! A cable from a wall over two rollers to an end that is dragged.

use force_elements::cable::{CablePath, Obstacle};
use force_elements::cable_spring::Parameters;
use force_elements::nalgebra::{Point3, Rotation3, Translation3, Vector3};
use force_elements::shapes::Cylinder;
use force_elements::{
    BodyIndex, CableSpring, Canvas, Error, ForceSystem, Frame, Handle, Pose, State, Station,
};

/// Where the page draws the rollers: x, z and radius \[m\].
const ROLLERS: [[f64; 3]; 2] = [[-0.25, 0.1, 0.18], [0.35, 0.3, 0.12]];
/// The joint about which the moment arm is taken: the middle of the second roller.
const JOINT: [f64; 2] = [ROLLERS[1][0], ROLLERS[1][1]];

pub(crate) struct Cable {
    system: ForceSystem<f64>,
    state: State<f64>,
    spring: Handle<CableSpring<f64>>,
    end: BodyIndex,
    pub(crate) moment_arm: f64,
    pub(crate) length: f64,
}

impl Cable {
    pub(crate) fn new() -> Result<Self, Error> {
        let mut system = ForceSystem::new();
        let end = system.add_body();
        let mut path =
            CablePath::new(Station::ground(Point3::new(-0.9, 0.0, 0.0)), Station::on(end, Point3::origin()))?;
        // The axes of the rollers are along y, and so is the view.
        let axis = Rotation3::from_axis_angle(&Vector3::x_axis(), std::f64::consts::FRAC_PI_2);
        for [x, z, radius] in ROLLERS {
            let pose = Pose::from_parts(Translation3::new(x, 0.0, z), axis);
            let roller = Obstacle::new(Frame::ground(pose), Cylinder::new(radius)?)?;
            // Over the top, to begin with.
            path = path.over(roller.with_contact_hint(Point3::new(0.0, radius, 0.0))?);
        }
        let elastic = Parameters { stiffness: 200.0, slack_length: 1.5, dissipation: 0.0 };
        let spring = system.add(CableSpring::new(path, elastic)?)?;
        let state = system.default_state();
        Ok(Self { system, state, spring, end, moment_arm: 0.0, length: 0.0 })
    }

    pub(crate) fn drag(&mut self, x: f64, z: f64, canvas: &mut dyn Canvas) -> Result<f64, Error> {
        self.state.set_pose(self.end, Pose::translation(x, 0.0, z))?;
        self.system.realize_dynamics(&mut self.state)?;
        self.system.accept_step(&mut self.state)?;
        let dynamics = self.system.realize_dynamics(&mut self.state)?;
        dynamics.draw(canvas);
        let at = dynamics.of(self.spring);
        let path = &at.position.path;
        self.length = path.length;
        let from_joint = Vector3::new(x - JOINT[0], 0.0, z - JOINT[1]);
        let pull = path.unit_force_on(self.end, dynamics.positions()).force;
        // Counterclockwise in the picture, into which y points.
        self.moment_arm = -from_joint.cross(&pull).y;
        Ok(at.dynamics.tension)
    }
}
