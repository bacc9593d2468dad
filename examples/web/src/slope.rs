//! A block on a slope, pushed along it, in the plane of the picture.

use force_elements::exponential_spring::Parameters;
use force_elements::nalgebra::{Point3, Rotation3, Translation3, Vector3};
use force_elements::{
    BodyIndex, Canvas, ContactDesign, Error, ExponentialSpring, ForceSystem, Frame, Handle, Pose,
    SpatialVelocity, State, Station,
};

/// Inclination of the slope, 20° \[rad\].
const INCLINE: f64 = 20.0 * std::f64::consts::PI / 180.0;
/// Half the sides of the block \[m\].
const HALF: [f64; 2] = [0.12, 0.08];
const MASS: f64 = 10.0;
const GRAVITY: f64 = 9.81;
const STEP: f64 = 2.5e-4;
/// How far the block goes before it is put back \[m\].
const REACH: f64 = 0.75;

pub(crate) struct Slope {
    system: ForceSystem<f64>,
    state: State<f64>,
    corners: [Handle<ExponentialSpring<f64>>; 2],
    block: BodyIndex,
    /// Place in the plane, angle about y, and their rates.
    q: Vector3<f64>,
    v: Vector3<f64>,
    pub(crate) pose: [f64; 3],
    pub(crate) slipping: f64,
}

/// Up the slope, and away from it.
fn axes() -> [Vector3<f64>; 2] {
    let (sine, cosine) = INCLINE.sin_cos();
    [Vector3::new(cosine, 0.0, sine), Vector3::new(-sine, 0.0, cosine)]
}

/// The orientation of a body at this angle about y.
fn about_y(angle: f64) -> Rotation3<f64> {
    Rotation3::from_axis_angle(&Vector3::y_axis(), angle)
}

impl Slope {
    pub(crate) fn new() -> Result<Self, Error> {
        let mut system = ForceSystem::new();
        let block = system.add_body();
        let design = ContactDesign::new(MASS, 2.0 * HALF[0], STEP).with_points(2).with_friction(0.7, 0.5);
        let parameters = Parameters::for_contact(&design)?;
        let plane = Frame::ground(Pose::from_parts(Translation3::identity(), about_y(-INCLINE)));
        let mut corner = |x| {
            let station = Station::on(block, Point3::new(x, 0.0, -HALF[1]));
            system.add(ExponentialSpring::new(plane, station, parameters)?)
        };
        let corners = [corner(-HALF[0])?, corner(HALF[0])?];
        let state = system.default_state();
        let zeros = Vector3::zeros();
        let mut slope =
            Self { system, state, corners, block, q: zeros, v: zeros, pose: [0.0; 3], slipping: 0.0 };
        slope.put_back()?;
        Ok(slope)
    }

    /// At rest in the middle of the slope, held.
    fn put_back(&mut self) -> Result<(), Error> {
        let place = axes()[1] * HALF[1];
        (self.q, self.v) = (Vector3::new(place.x, place.z, -INCLINE), Vector3::zeros());
        self.write()?;
        for corner in self.corners {
            self.system.update_discrete(&mut self.state, corner, |memory| memory.sliding = 0.0)?;
            self.system.reset_memory(&mut self.state, corner)?;
        }
        Ok(())
    }

    fn write(&mut self) -> Result<(), Error> {
        let place = Translation3::new(self.q.x, 0.0, self.q.y);
        let velocity =
            SpatialVelocity::new(Vector3::new(0.0, self.v.z, 0.0), Vector3::new(self.v.x, 0.0, self.v.y));
        self.state.set_body(self.block, Pose::from_parts(place, about_y(self.q.z)), velocity)
    }

    /// How far up the slope the block is.
    fn way(&self) -> f64 {
        axes()[0].dot(&Vector3::new(self.q.x, 0.0, self.q.y))
    }

    /// Symplectic Euler, with a push along the slope through the foot of the block.
    pub(crate) fn advance(
        &mut self,
        push: f64,
        duration: f64,
        canvas: &mut dyn Canvas,
    ) -> Result<f64, Error> {
        if self.way().abs() > REACH {
            self.put_back()?;
        }
        let [up, away] = axes();
        let (pushed, lever) = (up * push, away * -HALF[1]);
        let inertia = MASS / 3.0 * (HALF[0] * HALF[0] + HALF[1] * HALF[1]);
        let mut left = duration.clamp(0.0, 0.1);
        while left > 0.5 * STEP {
            let acting = self.system.realize_dynamics(&mut self.state)?.body_force(self.block);
            let force = acting.force + pushed - Vector3::z() * (MASS * GRAVITY);
            let torque = acting.torque + lever.cross(&pushed);
            self.v += Vector3::new(force.x / MASS, force.z / MASS, torque.y / inertia) * STEP;
            self.q += self.v * STEP;
            self.write()?;
            self.state.set_time(self.state.time() + STEP)?;
            self.system.realize_dynamics(&mut self.state)?;
            self.system.accept_step(&mut self.state)?;
            left -= STEP;
        }
        let dynamics = self.system.realize_dynamics(&mut self.state)?;
        dynamics.draw(canvas);
        self.slipping = self.corners.iter().map(|corner| dynamics.of(*corner).discrete.sliding).sum();
        self.pose = [self.q.x, self.q.y, self.q.z];
        Ok(self.way())
    }
}
