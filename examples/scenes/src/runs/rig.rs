//! A system with its masses, stepped by an integrator of the crate or by a host of the classical Runge–Kutta method.

use force_elements::exponential_spring::Parameters;
use force_elements::nalgebra::{Matrix3, Point3, Quaternion, UnitQuaternion, Vector3};
use force_elements::simulation::{
    DormandPrince, Implicit, Integrator, Plant, RigidBody, SemiImplicitEuler, Simulation,
};
use force_elements::{
    BodyIndex, ContactDesign, CoordinateIndex, ExponentialSpring, ForceSystem, Frame, KinematicsSource, Pose,
    SpatialVelocity, State, Station, StepMethod,
};

use super::{GRAVITY, MU_KINETIC, MU_STATIC, Method, Refused};

/// A system, and its masses for both kinds of host.
pub(super) struct Rig {
    pub(super) system: ForceSystem<f64>,
    pub(super) plant: Plant<f64>,
    gravity: Vector3<f64>,
    bodies: Vec<(BodyIndex, RigidBody<f64>)>,
    coordinates: Vec<(CoordinateIndex, f64)>,
}

impl Rig {
    pub(super) fn under(gravity: Vector3<f64>) -> Result<Self, Refused> {
        let (system, plant) = (ForceSystem::new(), Plant::new(gravity)?);
        Ok(Self { system, plant, gravity, bodies: Vec::new(), coordinates: Vec::new() })
    }

    /// A box of this mass and these half sides.
    pub(super) fn add_box(&mut self, mass: f64, half: Vector3<f64>) -> Result<BodyIndex, Refused> {
        let squares = half.component_mul(&half);
        let moments = (Vector3::repeat(squares.sum()) - squares) * mass / 3.0;
        let rigid = RigidBody::new(mass, Point3::origin(), Matrix3::from_diagonal(&moments))?;
        let body = self.plant.add_body(&mut self.system, rigid);
        self.bodies.push((body, rigid));
        Ok(body)
    }

    pub(super) fn add_coordinate(&mut self, mass: f64) -> Result<CoordinateIndex, Refused> {
        let coordinate = self.plant.add_coordinate(&mut self.system, mass)?;
        self.coordinates.push((coordinate, mass));
        Ok(coordinate)
    }

    /// An exponential spring at each of these points of a body.
    pub(super) fn add_springs(
        &mut self,
        plane: Frame<f64>,
        body: BodyIndex,
        points: impl IntoIterator<Item = Point3<f64>>,
        parameters: Parameters<f64>,
    ) -> Result<(), Refused> {
        for p_B in points {
            let spring = ExponentialSpring::new(plane, Station::on(body, p_B), parameters)?;
            self.system.add(spring)?;
        }
        Ok(())
    }

    /// Runs to one time after the other, and shows time and state after each step.
    pub(super) fn run(
        &self,
        method: Method,
        mut state: State<f64>,
        ends: &[f64],
        mut observe: impl FnMut(f64, &State<f64>),
    ) -> Result<(), Refused> {
        self.system.reset_memories(&mut state)?;
        match method {
            Method::Euler(step) => self.simulate(SemiImplicitEuler::new(step), state, ends, observe),
            Method::DormandPrince(accuracy) => {
                self.simulate(DormandPrince::new(accuracy), state, ends, observe)
            }
            Method::Trapezoidal(step) => self.simulate(Implicit::trapezoidal(step), state, ends, observe),
            Method::TrBdf2(step) => self.simulate(Implicit::tr_bdf2(step), state, ends, observe),
            Method::TrBdf2To(accuracy) => {
                self.simulate(Implicit::tr_bdf2(0.1).with_accuracy(accuracy), state, ends, observe)
            }
            Method::RungeKutta(step) => {
                let mut host = Host::at(self, &state);
                for &end in ends {
                    // A remainder of less than half a step is rounding.
                    while host.time < end - 0.5 * step {
                        host.step(&mut state, step)?;
                        observe(host.time, &state);
                    }
                }
                Ok(())
            }
        }
    }

    fn simulate(
        &self,
        mut integrator: impl Integrator<f64>,
        state: State<f64>,
        ends: &[f64],
        mut observe: impl FnMut(f64, &State<f64>),
    ) -> Result<(), Refused> {
        let mut simulation = Simulation::new(&self.system, &self.plant, state)?;
        for &end in ends {
            simulation
                .run(&mut integrator, end, |simulation| observe(simulation.time(), simulation.state()))?;
        }
        Ok(())
    }
}

/// Position, quaternion, velocity and angular velocity of a body in Ground, or position and rate of a coordinate and zeros.
type Motion = [f64; 13];

/// A host of the classical Runge–Kutta method.
struct Host<'a> {
    rig: &'a Rig,
    time: f64,
    /// Of bodies, then of coordinates.
    motions: Vec<Motion>,
}

impl<'a> Host<'a> {
    fn at(rig: &'a Rig, state: &State<f64>) -> Self {
        let (positions, velocities) = (state.positions(), state.velocities());
        let mut motions = Vec::new();
        for &(body, _) in &rig.bodies {
            let (X_GB, V_GB) = (positions.pose(body), velocities.velocity(body));
            let turned = UnitQuaternion::from_rotation_matrix(&X_GB.rotation);
            let mut motion = [0.0; 13];
            motion[..3].copy_from_slice(X_GB.translation.vector.as_slice());
            motion[3..7].copy_from_slice(turned.coords.as_slice());
            motion[7..10].copy_from_slice(V_GB.linear.as_slice());
            motion[10..].copy_from_slice(V_GB.angular.as_slice());
            motions.push(motion);
        }
        for &(coordinate, _) in &rig.coordinates {
            let mut motion = [0.0; 13];
            motion[0] = positions.coordinate(coordinate);
            motion[1] = velocities.coordinate_rate(coordinate);
            motions.push(motion);
        }
        Self { rig, time: state.time(), motions }
    }

    fn rates(&self, state: &mut State<f64>) -> Result<Vec<Motion>, Refused> {
        state.set_kinematics(self)?;
        let view = self.rig.system.realize_dynamics(state)?;
        let mut rates = Vec::new();
        for (motion, &(body, rigid)) in self.motions.iter().zip(&self.rig.bodies) {
            let R = self.pose(body).rotation;
            let w = vector(&motion[10..]);
            let F = view.body_force(body);
            let spin = R.inverse() * w;
            let torque = R.inverse() * F.torque - spin.cross(&(rigid.inertia() * spin));
            let inverse = rigid.inertia().try_inverse().unwrap_or_else(Matrix3::zeros);
            let turning = Quaternion::from_imag(w * 0.5) * quaternion(motion);
            let mut rate = [0.0; 13];
            rate[..3].copy_from_slice(&motion[7..10]);
            rate[3..7].copy_from_slice(turning.coords.as_slice());
            rate[7..10].copy_from_slice((self.rig.gravity + F.force / rigid.mass()).as_slice());
            rate[10..].copy_from_slice((R * (inverse * torque)).as_slice());
            rates.push(rate);
        }
        for (motion, &(coordinate, mass)) in
            self.motions[self.rig.bodies.len()..].iter().zip(&self.rig.coordinates)
        {
            let mut rate = [0.0; 13];
            rate[..2].copy_from_slice(&[motion[1], view.coordinate_force(coordinate) / mass]);
            rates.push(rate);
        }
        Ok(rates)
    }

    fn step(&mut self, state: &mut State<f64>, h: f64) -> Result<(), Refused> {
        let (start, before) = (self.time, self.motions.clone());
        let mut sum: Vec<Motion> = vec![[0.0; 13]; before.len()];
        // Each stage is reached with the slope of the one before.
        let mut slope = sum.clone();
        for (i, (reach, weight)) in [(0.0, 1.0), (0.5, 2.0), (0.5, 2.0), (1.0, 1.0)].into_iter().enumerate() {
            self.move_along(&before, &slope, reach * h);
            self.time = start + reach * h;
            slope = self.rates(state)?;
            if i == 0 {
                self.rig.system.check_step(state, &self.rig.plant, StepMethod::RungeKutta4, h)?;
            }
            for (sum, slope) in sum.iter_mut().zip(&slope) {
                sum.iter_mut().zip(slope).for_each(|(sum, slope)| *sum += weight / 6.0 * slope);
            }
        }
        self.move_along(&before, &sum, h);
        self.time = start + h;
        for motion in &mut self.motions[..self.rig.bodies.len()] {
            let unit = quaternion(motion).normalize();
            motion[3..7].copy_from_slice(unit.coords.as_slice());
        }
        self.rates(state)?;
        Ok(self.rig.system.accept_step(state)?)
    }

    fn move_along(&mut self, before: &[Motion], slope: &[Motion], h: f64) {
        for ((motion, before), slope) in self.motions.iter_mut().zip(before).zip(slope) {
            for (x, (before, slope)) in motion.iter_mut().zip(before.iter().zip(slope)) {
                *x = before + h * slope;
            }
        }
    }

    fn motion(&self, body: BodyIndex) -> &Motion {
        let place = self.rig.bodies.iter().position(|&(index, _)| index == body);
        &self.motions[place.unwrap_or(0)]
    }

    fn of_coordinate(&self, coordinate: CoordinateIndex) -> &Motion {
        let place = self.rig.coordinates.iter().position(|&(index, _)| index == coordinate);
        &self.motions[self.rig.bodies.len() + place.unwrap_or(0)]
    }
}

impl KinematicsSource<f64> for Host<'_> {
    fn time(&self) -> f64 {
        self.time
    }
    fn pose(&self, body: BodyIndex) -> Pose<f64> {
        let motion = self.motion(body);
        let turned = UnitQuaternion::from_quaternion(quaternion(motion));
        Pose::from_parts(vector(motion).into(), turned.to_rotation_matrix())
    }
    fn velocity(&self, body: BodyIndex) -> SpatialVelocity<f64> {
        let motion = self.motion(body);
        SpatialVelocity::new(vector(&motion[10..]), vector(&motion[7..]))
    }
    fn coordinate(&self, coordinate: CoordinateIndex) -> f64 {
        self.of_coordinate(coordinate)[0]
    }
    fn coordinate_rate(&self, coordinate: CoordinateIndex) -> f64 {
        self.of_coordinate(coordinate)[1]
    }
}

fn vector(y: &[f64]) -> Vector3<f64> {
    Vector3::new(y[0], y[1], y[2])
}

fn quaternion(motion: &Motion) -> Quaternion<f64> {
    Quaternion::from_vector([motion[3], motion[4], motion[5], motion[6]].into())
}

/// Gravity on a slope of this angle, down along x, in the frame of the slope.
pub(super) fn on_slope(angle: f64) -> Vector3<f64> {
    Vector3::new(angle.sin(), 0.0, -angle.cos()) * GRAVITY
}

pub(super) fn ground() -> Frame<f64> {
    Frame::ground(Pose::identity())
}

/// The corners of a box, the lower ones first.
pub(super) fn corners(half: Vector3<f64>) -> impl Iterator<Item = Point3<f64>> {
    (0..8_u8).map(move |corner| {
        let sign = |bit: u8| if corner >> bit & 1 == 0 { -1.0 } else { 1.0 };
        Point3::new(sign(0) * half.x, sign(1) * half.y, sign(2) * half.z)
    })
}

/// For this many times the step of a method.
pub(super) fn design(mass: f64, extent: f64, method: Method, reserve: f64) -> ContactDesign {
    ContactDesign::new(mass, extent, reserve * method.design_step()).with_friction(MU_STATIC, MU_KINETIC)
}
