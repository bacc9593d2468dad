//! Bodies that stop, tilt, drop, topple, spin, ride, stick and hang over a whole run, under every way of stepping, against
//! formulas that know nothing of the elements.

use core::f64::consts::{FRAC_PI_2, PI, SQRT_2};
use std::fmt;

use force_elements::cable::{CablePath, Obstacle};
use force_elements::elastic_foundation::{self, Material};
use force_elements::exponential_spring::Parameters;
use force_elements::nalgebra::{Matrix3, Point3, Quaternion, Rotation3, UnitQuaternion, Vector3};
use force_elements::shapes::{Cylinder, HalfSpace, TriangleMesh};
use force_elements::simulation::{
    DormandPrince, ImplicitTrapezoidal, Integrator, Plant, RigidBody, SemiImplicitEuler, Simulation,
    SimulationError, TrBdf2,
};
use force_elements::{
    BodyIndex, CapstanCable, ContactDesign, CoordinateIndex, CoordinatePair, CoordinateSpringDamperExt,
    CustomForce, ElasticFoundation, Error, ExponentialSpring, ForceSystem, Frame, InvalidValue,
    KinematicsSource, Pose, SpatialVelocity, State, Station, StepMethod, cable_spring, capstan_cable,
    coordinate_spring_damper_ext,
};

const GRAVITY: f64 = 9.81;
const MU_STATIC: f64 = 0.7;
const MU_KINETIC: f64 = 0.5;
/// So heavy that nothing pushes it, over what it carries.
const HEAVY: f64 = 1e12;

/// How a run is stepped.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Method {
    /// [`SemiImplicitEuler`] with this step \[s\].
    Euler(f64),
    /// The classical method of order four over the public interface, as a host would drive it, with this step \[s\].
    RungeKutta(f64),
    /// [`DormandPrince`] of this accuracy.
    DormandPrince(f64),
    /// [`ImplicitTrapezoidal`] with this step \[s\].
    Trapezoidal(f64),
    /// [`TrBdf2`] with this step \[s\].
    TrBdf2(f64),
    /// [`TrBdf2`] of this accuracy.
    TrBdf2To(f64),
}

impl Method {
    pub const ALL: [Self; 11] = [
        Self::Euler(1.0 / 60.0),
        Self::Euler(1.0 / 240.0),
        Self::Euler(1e-3),
        Self::Euler(1e-4),
        Self::RungeKutta(1e-3),
        Self::DormandPrince(1e-4),
        Self::DormandPrince(1e-6),
        Self::DormandPrince(1e-8),
        Self::Trapezoidal(1e-3),
        Self::TrBdf2(1e-3),
        Self::TrBdf2To(1e-6),
    ];

    /// The step for which contacts are designed \[s\]; of error control, a millisecond.
    pub fn design_step(self) -> f64 {
        match self {
            Self::Euler(step) | Self::RungeKutta(step) | Self::Trapezoidal(step) | Self::TrBdf2(step) => step,
            Self::DormandPrince(_) | Self::TrBdf2To(_) => 1e-3,
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let step = |f: &mut fmt::Formatter<'_>, name: &str, step: f64| {
            if step > 2e-3 {
                write!(f, "{name} 1/{:.0} s", 1.0 / step)
            } else {
                write!(f, "{name} {} ms", step * 1e3)
            }
        };
        match *self {
            Self::Euler(h) => step(f, "Euler", h),
            Self::RungeKutta(h) => step(f, "RK4", h),
            Self::DormandPrince(accuracy) => write!(f, "DP5 {accuracy:.0e}"),
            Self::Trapezoidal(h) => step(f, "trapezoidal", h),
            Self::TrBdf2(h) => step(f, "TR-BDF2", h),
            Self::TrBdf2To(accuracy) => write!(f, "TR-BDF2 {accuracy:.0e}"),
        }
    }
}

/// Why there is no run.
#[derive(Debug, Clone, PartialEq)]
pub enum Refused {
    /// No contact can be designed.
    Design(InvalidValue),
    /// A run was refused or failed.
    Run(SimulationError),
}

impl Refused {
    /// What was refused as too long a step: `step` in the design, otherwise the kind of the element; `None` for any other
    /// error.
    pub fn of_step(&self) -> Option<&'static str> {
        match self {
            Self::Design(error) => (error.name == "contact_design.step").then_some("step"),
            Self::Run(error) => match error.forces() {
                Some(Error::StepTooLong { element, .. }) => Some(element.kind),
                _ => None,
            },
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Design(error) => error.fmt(f),
            Self::Run(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Refused {}

impl From<InvalidValue> for Refused {
    fn from(error: InvalidValue) -> Self {
        Self::Design(error)
    }
}

impl From<SimulationError> for Refused {
    fn from(error: SimulationError) -> Self {
        Self::Run(error)
    }
}

macro_rules! refused_by_run {
    ($($error:ty),*) => {$(
        impl From<$error> for Refused {
            fn from(error: $error) -> Self {
                Self::Run(SimulationError::Forces(error.into()))
            }
        }
    )*};
}

refused_by_run!(
    Error,
    force_elements::shapes::ShapeError,
    force_elements::cable::PathError,
    force_elements::KinematicsError
);

/// What a run shows of a claim: a deviation, and how large it may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Finding {
    pub deviation: f64,
    pub allowed: f64,
}

impl Finding {
    fn new(deviation: f64, allowed: f64) -> Self {
        Self { deviation: deviation.abs(), allowed }
    }

    pub fn is_right(self) -> bool {
        self.deviation <= self.allowed
    }
}

/// A system, and its masses for both kinds of host.
struct Rig {
    system: ForceSystem<f64>,
    plant: Plant<f64>,
    gravity: Vector3<f64>,
    bodies: Vec<(BodyIndex, RigidBody<f64>)>,
    coordinates: Vec<(CoordinateIndex, f64)>,
}

impl Rig {
    fn under(gravity: Vector3<f64>) -> Result<Self, Refused> {
        let (system, plant) = (ForceSystem::new(), Plant::new(gravity)?);
        Ok(Self { system, plant, gravity, bodies: Vec::new(), coordinates: Vec::new() })
    }

    /// A box of this mass and these half sides.
    fn add_box(&mut self, mass: f64, half: Vector3<f64>) -> Result<BodyIndex, Refused> {
        let squares = half.component_mul(&half);
        let moments = (Vector3::repeat(squares.sum()) - squares) * mass / 3.0;
        let rigid = RigidBody::new(mass, Point3::origin(), Matrix3::from_diagonal(&moments))?;
        let body = self.plant.add_body(&mut self.system, rigid);
        self.bodies.push((body, rigid));
        Ok(body)
    }

    fn add_coordinate(&mut self, mass: f64) -> Result<CoordinateIndex, Refused> {
        let coordinate = self.plant.add_coordinate(&mut self.system, mass)?;
        self.coordinates.push((coordinate, mass));
        Ok(coordinate)
    }

    /// An exponential spring at each of these points of a body.
    fn add_springs(
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
    fn run(
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
            Method::Trapezoidal(step) => self.simulate(ImplicitTrapezoidal::new(step), state, ends, observe),
            Method::TrBdf2(step) => self.simulate(TrBdf2::new(step), state, ends, observe),
            Method::TrBdf2To(accuracy) => {
                self.simulate(TrBdf2::new(0.1).with_accuracy(accuracy), state, ends, observe)
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
fn on_slope(angle: f64) -> Vector3<f64> {
    Vector3::new(angle.sin(), 0.0, -angle.cos()) * GRAVITY
}

fn ground() -> Frame<f64> {
    Frame::ground(Pose::identity())
}

/// The corners of a box, the lower ones first.
fn corners(half: Vector3<f64>) -> impl Iterator<Item = Point3<f64>> {
    (0..8_u8).map(move |corner| {
        let sign = |bit: u8| if corner >> bit & 1 == 0 { -1.0 } else { 1.0 };
        Point3::new(sign(0) * half.x, sign(1) * half.y, sign(2) * half.z)
    })
}

/// For this many times the step of a method.
fn design(mass: f64, extent: f64, method: Method, reserve: f64) -> ContactDesign {
    ContactDesign::new(mass, extent, reserve * method.design_step()).with_friction(MU_STATIC, MU_KINETIC)
}

/// How far friction springs of a body are drawn out by this acceleration \[m\].
fn drawn_out(acceleration: f64, design: &ContactDesign) -> f64 {
    acceleration * (design.step / 0.18).powi(2)
}

fn place(state: &State<f64>, body: BodyIndex) -> Vector3<f64> {
    state.positions().pose(body).translation.vector
}

/// The place and velocity of the middle of a box's lower side, which is this far from its center: what slides, while the box
/// above it leans.
fn sole(state: &State<f64>, body: BodyIndex, below: f64) -> (Vector3<f64>, Vector3<f64>) {
    let (X_GB, V_GB) = (state.positions().pose(body), state.velocities().velocity(body));
    let lever = X_GB.rotation * Vector3::new(0.0, 0.0, -below);
    (X_GB.translation.vector + lever, V_GB.linear + V_GB.angular.cross(&lever))
}

/// The speed of a body, with that of a point on it at this distance from its origin as it turns.
fn speed(state: &State<f64>, body: BodyIndex, radius: f64) -> f64 {
    let velocity = state.velocities().velocity(body);
    velocity.linear.norm() + radius * velocity.angular.norm()
}

/// The value where a run first is at a time or later.
#[derive(Debug, Clone, Copy)]
struct At<V> {
    time: f64,
    value: Option<V>,
}

impl<V: Copy> At<V> {
    fn new(time: f64) -> Self {
        Self { time, value: None }
    }

    fn see(&mut self, time: f64, value: V) {
        if self.value.is_none() && time >= self.time - 1e-9 {
            self.value = Some(value);
        }
    }

    fn get_or(&self, otherwise: V) -> V {
        self.value.unwrap_or(otherwise)
    }
}

/// The part of an end of a run that must be at rest: speed at the end, and displacement in the last second \[m/s\].
const REST: f64 = 1e-6;
const CREEP: f64 = 1e-7;

/// Sees whether a body is at rest, up to the accuracy of explicit error control, which lets stiff springs jitter.
struct Rest {
    accuracy: f64,
    second: At<Vector3<f64>>,
    place: Vector3<f64>,
    speed: f64,
}

impl Rest {
    fn until(end: f64, method: Method) -> Self {
        let accuracy = if let Method::DormandPrince(accuracy) = method { accuracy } else { 0.0 };
        Self { accuracy, second: At::new(end - 1.0), place: Vector3::repeat(f64::NAN), speed: f64::NAN }
    }

    fn see(&mut self, time: f64, place: Vector3<f64>, speed: f64) {
        self.second.see(time, place);
        (self.place, self.speed) = (place, speed);
    }

    fn findings(&self) -> [Finding; 2] {
        let creep = (self.place - self.second.get_or(Vector3::repeat(f64::NAN))).norm();
        [
            Finding::new(self.speed, REST.max(10.0 * self.accuracy)),
            Finding::new(creep, CREEP.max(0.1 * self.accuracy)),
        ]
    }
}

/// By how much a value is off, of what is expected.
fn relative(value: f64, expected: f64) -> f64 {
    value / expected - 1.0
}

/// A claim about a scene: what is compared, and how far off it may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim {
    pub what: &'static str,
    /// The formula of the deviation allowed, of the step `h` for which contacts are designed.
    pub allowed: &'static str,
}

const AT_REST: [Claim; 2] = [
    Claim { what: "speed at the end, m/s", allowed: "1e-6, or 10 a of error control" },
    Claim { what: "creep in the last second, m/s", allowed: "1e-7, or a/10" },
];

/// A scene: what happens, and what is claimed of it.
#[derive(Clone, Copy)]
pub struct Scene {
    pub name: &'static str,
    /// The claims that are its own; see [`claims`](Self::claims).
    own: &'static [Claim],
    comes_to_rest: bool,
    run: fn(Method, f64) -> Result<Vec<Finding>, Refused>,
}

impl Scene {
    /// What is claimed, in the order of the findings.
    pub fn claims(&self) -> impl Iterator<Item = Claim> + '_ {
        let rest: &[Claim] = if self.comes_to_rest { &AT_REST } else { &[] };
        self.own.iter().chain(rest).copied()
    }

    /// Runs with a body of this mass \[kg\].
    pub fn run(&self, method: Method, mass: f64) -> Result<Vec<Finding>, Refused> {
        (self.run)(method, mass)
    }
}

const WAY: Claim = Claim { what: "way to the stop, of v²/2a", allowed: "(v·h + drawn out + shift)/way" };

pub const SCENES: [Scene; 19] = [
    Scene {
        name: "box stops on a plane, springs",
        own: &[WAY],
        comes_to_rest: true,
        run: |method, mass| stops(method, mass, Contact::Springs, 0.1, 0.0),
    },
    Scene {
        name: "box stops on a plane, foundation",
        own: &[WAY],
        comes_to_rest: true,
        run: |method, mass| stops(method, mass, Contact::Bed, 0.1, 0.0),
    },
    Scene {
        name: "crate of 1.4 m stops on a plane, springs",
        own: &[WAY],
        comes_to_rest: true,
        run: |method, mass| stops(method, mass, Contact::Springs, 0.7, 0.0),
    },
    Scene {
        name: "sledge stops on a slope of 0.48, bristles",
        own: &[WAY],
        comes_to_rest: true,
        run: slides,
    },
    Scene {
        name: "box stops on a slope of 0.48, springs",
        own: &[WAY],
        comes_to_rest: true,
        run: |method, mass| stops(method, mass, Contact::Springs, 0.1, 0.48),
    },
    Scene {
        name: "plane tilts until a box slips",
        own: &[Claim { what: "angle, of atan μs, °", allowed: "0.2" }],
        comes_to_rest: false,
        run: tilts,
    },
    Scene {
        name: "box drops flat",
        own: &[
            Claim { what: "rebound less that of the law, of the impact speed", allowed: "0.05" },
            Claim { what: "height at rest, of half the side", allowed: "1e-6, or a" },
        ],
        comes_to_rest: true,
        run: drops_flat,
    },
    Scene {
        name: "turned box drops on a slope of 0.4",
        own: &[Claim { what: "lean at rest, of statics", allowed: "0.02" }],
        comes_to_rest: true,
        run: drops_on_a_slope,
    },
    Scene {
        name: "tall box leans 0.3° beyond its corner",
        own: &[Claim { what: "time until it has fallen by 10°, of a pendulum's", allowed: "0.03" }],
        comes_to_rest: false,
        run: |method, mass| topples(method, mass, 0.3),
    },
    Scene {
        name: "tall box leans 0.3° less",
        own: &[Claim { what: "time until it has fallen back by 10°, of a pendulum's", allowed: "0.03" }],
        comes_to_rest: false,
        run: |method, mass| topples(method, mass, -0.3),
    },
    Scene {
        name: "box spins to rest",
        own: &[Claim { what: "angle to the stop, of ω²/2α", allowed: "(v·h + drawn out)/way" }],
        comes_to_rest: true,
        run: spins,
    },
    Scene { name: "box put on a belt", own: &[WAY], comes_to_rest: true, run: on_a_belt },
    Scene {
        name: "block sticks and slips, bristles",
        own: &[Claim { what: "period, of the formula", allowed: "2h/T + k/k_bristle + v_exp/v" }],
        comes_to_rest: false,
        run: sticks_and_slips,
    },
    Scene {
        name: "box pinched between two walls",
        own: &[Claim { what: "sag, of m·g/k", allowed: "0.01" }],
        comes_to_rest: true,
        run: pinched,
    },
    Scene {
        name: "stack of three",
        own: &[Claim { what: "heights, of ln(n)/d2, of the side", allowed: "1e-6" }],
        comes_to_rest: true,
        run: stack,
    },
    Scene {
        name: "askew cube comes to rest, foundation",
        own: &[
            Claim { what: "depth, of m·g/kA", allowed: "0.01" },
            Claim { what: "lean, °", allowed: "0.01" },
        ],
        comes_to_rest: true,
        run: settles,
    },
    Scene {
        name: "cart of four feet on a slope of 0.3, foundation",
        own: &[Claim { what: "lean, of statics", allowed: "0.02" }],
        comes_to_rest: true,
        run: parks,
    },
    Scene {
        name: "load held by a cable over two drums",
        own: &[],
        comes_to_rest: true,
        run: held_by_a_cable,
    },
    Scene {
        name: "load beyond what a cable over two drums holds",
        own: &[Claim { what: "acceleration, of the capstan equation's", allowed: "0.01" }],
        comes_to_rest: false,
        run: hauled_by_a_cable,
    },
];

/// The contact of a box with the plane.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Contact {
    Springs,
    Bed,
}

/// A box with its lower corners or all of it in contact with the ground.
fn on_ground(
    design: &ContactDesign,
    contact: Contact,
    half: Vector3<f64>,
    gravity: Vector3<f64>,
    points: usize,
) -> Result<(Rig, BodyIndex), Refused> {
    let mut rig = Rig::under(gravity)?;
    let body = rig.add_box(design.mass, half)?;
    match contact {
        Contact::Springs => {
            rig.add_springs(ground(), body, corners(half).take(points), Parameters::for_contact(design)?)?;
        }
        Contact::Bed => {
            let mut bed =
                ElasticFoundation::new(elastic_foundation::Parameters::for_contact(design)?)?.with_anchors();
            bed.add_rigid(ground(), HalfSpace::BelowZ)?;
            let mesh = TriangleMesh::brick(half, [2; 3])?;
            bed.add_springs(Frame::of(body), mesh, Material::for_contact(design, 4.0 * half.x * half.y)?)?;
            rig.system.add(bed)?;
        }
    }
    Ok((rig, body))
}

/// The way to a stop from the place and speed at the time from which it is measured; it may be off by this shift, beside what a
/// step and the springs make.
fn way(from: At<(f64, f64)>, to: f64, deceleration: f64, shift: f64, design: &ContactDesign) -> Finding {
    let (start, speed) = from.get_or((f64::NAN, f64::NAN));
    let expected = speed * speed / (2.0 * deceleration);
    let allowed = speed * design.step + drawn_out(MU_STATIC * GRAVITY, design) + shift;
    Finding::new(relative(to - start, expected), allowed / expected)
}

/// A box slides down a slope until friction has stopped it.
fn stops(
    method: Method,
    mass: f64,
    contact: Contact,
    half: f64,
    slope: f64,
) -> Result<Vec<Finding>, Refused> {
    let cube = Vector3::repeat(half);
    let design = design(mass, half, method, 1.0);
    let (rig, body) = on_ground(&design, contact, cube, on_slope(slope.atan()), 4)?;
    let mut state = rig.system.default_state();
    let depth = match contact {
        Contact::Springs => 0.0,
        Contact::Bed => mass * GRAVITY / Material::<f64>::for_contact(&design, 1.0)?.stiffness,
    };
    let deceleration = GRAVITY * slope.atan().cos() * (MU_KINETIC - slope);
    let start = if slope > 0.0 { 0.3 } else { 3.0 };
    let along = SpatialVelocity::new(Vector3::zeros(), Vector3::new(start, 0.0, 0.0));
    state.set_body(body, Pose::translation(0.0, 0.0, half - depth), along)?;
    let end = start / deceleration + 4.0;
    // From half of the time on: friction has been drawn out, and the load has shifted to the front.
    let (mut from, mut rest) = (At::new(0.5 * start / deceleration), Rest::until(end, method));
    rig.run(method, state, &[from.time, end - 1.0, end], |time, state| {
        let (p, v) = sole(state, body, half);
        from.see(time, (p.x, v.x));
        rest.see(time, p, speed(state, body, half));
    })?;
    // As it stops the box rights itself, by as far as it leans: its center goes back, and its sole on.
    let shift = match contact {
        Contact::Springs => MU_KINETIC.atanh() / Parameters::<f64>::for_contact(&design)?.d2,
        Contact::Bed => 3.0 * MU_KINETIC * depth,
    };
    let mut findings = vec![way(from, rest.place.x, deceleration, shift, &design)];
    findings.extend(rest.findings());
    Ok(findings)
}

/// A sledge on a coordinate.
fn slides(method: Method, mass: f64) -> Result<Vec<Finding>, Refused> {
    let angle = 0.48_f64.atan();
    // Along the slope it carries what presses on the slope.
    let design = design(mass, 0.1, method, 1.0).with_gravity(GRAVITY * angle.cos());
    let mut rig = Rig::under(Vector3::zeros())?;
    let sledge = rig.add_coordinate(mass)?;
    let pull = mass * GRAVITY * angle.sin();
    rig.system.add(CustomForce::<f64>::new(move |motion, loads| {
        loads.apply_to_coordinate(sledge, pull);
        -pull * motion.coordinate(sledge)
    }))?;
    let parameters = coordinate_spring_damper_ext::Parameters::for_contact(&design)?;
    rig.system.add(CoordinateSpringDamperExt::new(CoordinatePair::on(sledge), parameters)?)?;
    let mut state = rig.system.default_state();
    let (start, deceleration) = (0.5, GRAVITY * angle.cos() * 0.02);
    state.set_coordinate_rate(sledge, start)?;
    let end = start / deceleration + 3.0;
    let (mut from, mut rest) = (At::new(0.5 * start / deceleration), Rest::until(end, method));
    rig.run(method, state, &[from.time, end - 1.0, end], |time, state| {
        let (q, u) = (state.positions().coordinate(sledge), state.velocities().coordinate_rate(sledge));
        from.see(time, (q, u));
        rest.see(time, Vector3::x() * q, u.abs());
    })?;
    // Below a few times the velocity at which the static excess decays, friction is more than kinetic.
    let shift = (5.0 * parameters.exponential_decay_static).powi(2) / (2.0 * deceleration);
    let mut findings = vec![way(from, rest.place.x, deceleration, shift, &design)];
    findings.extend(rest.findings());
    Ok(findings)
}

/// From zero to one, smoothly, over a time.
fn eased(time: f64) -> f64 {
    let x = time.clamp(0.0, 1.0);
    x * x * (3.0 - 2.0 * x)
}

/// A plane that turns, at less than a degree a second in the end: in its frame, gravity turns.
fn tilts(method: Method, mass: f64) -> Result<Vec<Finding>, Refused> {
    // The first corners slip at 22°.
    const FROM: f64 = 20.0;
    // So slowly that corners that slip first are drawn at less than the release velocity.
    let rate = 0.8 * (1.5e-3 / method.design_step()).powi(2).min(1.0);
    let half = Vector3::repeat(0.1);
    let design = design(mass, half.z, method, 1.0);
    let (mut rig, body) = on_ground(&design, Contact::Springs, half, Vector3::zeros(), 4)?;
    let angle = move |time: f64| FROM * eased(time) + rate * (time - 1.0).max(0.0);
    rig.system.add(CustomForce::<f64>::new(move |motion, loads| {
        let weight = on_slope(angle(motion.time()).to_radians()) * mass;
        let center = motion.point(body, &Point3::origin());
        loads.apply_at_point(body, &center, weight);
        loads.apply_at_point(BodyIndex::GROUND, &center, -weight);
        0.0
    }))?;
    let mut state = rig.system.default_state();
    state.set_pose(body, Pose::translation(0.0, 0.0, half.z))?;
    let mut slipped = None;
    rig.run(method, state, &[1.0 + 16.5 / rate], |time, state| {
        if slipped.is_none() && state.velocities().velocity(body).linear.x > 0.05 {
            slipped = Some(angle(time));
        }
    })?;
    let expected = MU_STATIC.atan().to_degrees();
    Ok(vec![Finding::new(slipped.unwrap_or(f64::NAN) - expected, 0.2)])
}

/// How fast a mass rises after it has fallen from a height of which the speed is 1 m/s, on springs of these parameters: by
/// the law alone, in steps of a two-hundredth.
fn rebound(parameters: &Parameters<f64>, mass: f64, from: f64, step: f64) -> f64 {
    let Parameters { d1, d2, normal_viscosity, .. } = *parameters;
    let acceleration =
        |z: f64, v: f64| 4.0 * d1 / mass * (-d2 * z).exp() * (1.0 - normal_viscosity * v).max(0.0) - GRAVITY;
    let h = step / 200.0;
    let (mut z, mut v, mut most) = (from, 0.0, 0.0_f64);
    let mut time = 0.0;
    while time < 2.0 * (2.0 * from / GRAVITY).sqrt() {
        let (z1, v1) = (z + 0.5 * h * v, v + 0.5 * h * acceleration(z, v));
        (z, v) = (z + h * v1, v + h * acceleration(z1, v1));
        most = most.max(v);
        time += h;
    }
    most
}

fn drops_flat(method: Method, mass: f64) -> Result<Vec<Finding>, Refused> {
    let half = Vector3::repeat(0.1);
    let design = design(mass, half.z, method, 1.0).with_impact(2.3, 0.2);
    let parameters = Parameters::for_contact(&design)?;
    let (rig, body) = on_ground(&design, Contact::Springs, half, on_slope(0.0), 4)?;
    // It strikes at the speed of the design over 2.3, as the corners of a turned cube would at that speed.
    let from = 0.5 / GRAVITY;
    let mut state = rig.system.default_state();
    state.set_pose(body, Pose::translation(0.0, 0.0, half.z + from))?;
    let end = 3.0;
    let (mut most, mut rest) = (0.0_f64, Rest::until(end, method));
    rig.run(method, state, &[end - 1.0, end], |time, state| {
        most = most.max(state.velocities().velocity(body).linear.z);
        rest.see(time, place(state, body), speed(state, body, half.z));
    })?;
    let expected = rebound(&parameters, mass, from, design.step);
    let mut findings = vec![
        Finding::new(most - expected, 0.05),
        Finding::new(relative(rest.place.z, half.z), rest.accuracy.max(1e-6)),
    ];
    findings.extend(rest.findings());
    Ok(findings)
}

fn drops_on_a_slope(method: Method, mass: f64) -> Result<Vec<Finding>, Refused> {
    const SLOPE: f64 = 0.4;
    let half = Vector3::repeat(0.1);
    let design = design(mass, half.z, method, 1.0).with_impact(1.7, 0.2);
    let (rig, body) = on_ground(&design, Contact::Springs, half, on_slope(SLOPE.atan()), 8)?;
    let turn = Rotation3::from_euler_angles(0.6, 0.42, 0.18);
    let mut state = rig.system.default_state();
    state.set_pose(body, Pose::from_parts(Vector3::new(0.0, 0.0, 0.2).into(), turn))?;
    let end = 7.0;
    let (mut rest, mut R) = (Rest::until(end, method), turn);
    rig.run(method, state, &[end - 1.0, end], |time, state| {
        rest.see(time, place(state, body), speed(state, body, half.z));
        R = state.positions().pose(body).rotation;
    })?;
    // The axis that is upright now, and the sine by which it leans.
    let axes = [0, 1, 2].map(|i| R.matrix().column(i).into_owned());
    let up = axes.iter().copied().max_by(|a, b| a.z.abs().total_cmp(&b.z.abs())).unwrap_or(axes[2]);
    let lean = up.xy().norm();
    // The exponential of a sum is a product: along each side of its face, the loads of the corners in front and behind
    // are as e^(±d2·a·half), whose moment is that of friction, at the height of the plane.
    let d2 = Parameters::<f64>::for_contact(&design)?.d2;
    let sides = axes.iter().filter(|axis| axis.z.abs() < 0.5);
    // The lean moves the center forward.
    let leans = sides
        .map(|axis| (0..50).fold(0.0, |lean: f64, _| (axis.x.abs() * SLOPE + lean).atanh() / (d2 * half.x)));
    let expected = leans.map(|lean| lean * lean).sum::<f64>().sqrt();
    let mut findings = vec![Finding::new(relative(lean, expected), 0.02)];
    findings.extend(rest.findings());
    Ok(findings)
}

/// A box higher than it is wide, on two corners, at this lean beyond that at which its center is over them \[°\].
struct Leaning {
    half: Vector3<f64>,
    /// From the corners to the center \[m\].
    radius: f64,
    balance: f64,
    rig: Rig,
    body: BodyIndex,
    start: State<f64>,
}

fn leaning(method: Method, mass: f64, beyond: f64) -> Result<Leaning, Refused> {
    let half = Vector3::new(0.35, 0.35, 0.5);
    // It is as soft as for its width, since it is to stand.
    let design = design(mass, half.x, method, 2.0);
    let (rig, body) = on_ground(&design, Contact::Springs, half, on_slope(0.0), 8)?;
    let balance = (half.x / half.z).atan();
    let lean = balance + beyond.to_radians();
    let R = Rotation3::from_axis_angle(&Vector3::y_axis(), lean);
    // Two corners bear what four were designed for.
    let depth = 2.0_f64.ln() / Parameters::<f64>::for_contact(&design)?.d2;
    let corner = R * Vector3::new(half.x, 0.0, -half.z);
    let mut start = rig.system.default_state();
    start.set_pose(body, Pose::from_parts((-corner - Vector3::z() * depth).into(), R))?;
    Ok(Leaning { half, radius: half.x.hypot(half.z), balance, rig, body, start })
}

fn lean_of(state: &State<f64>, body: BodyIndex) -> f64 {
    let z = state.positions().pose(body).rotation * Vector3::z();
    z.x.atan2(z.z)
}

fn topples(method: Method, mass: f64, beyond: f64) -> Result<Vec<Finding>, Refused> {
    const FALLEN: f64 = 10.0;
    let Leaning { half, radius, balance, rig, body, start } = leaning(method, mass, beyond)?;
    // A pendulum on its edge, in tiny steps of the midpoint rule.
    let inertia = (half.x * half.x + half.z * half.z) / 3.0 + radius * radius;
    let (mut lean, mut rate, mut fall, h) = (beyond.abs().to_radians(), 0.0, 0.0, 1e-5);
    while lean < FALLEN.to_radians() {
        let middle = rate + 0.5 * h * GRAVITY * radius * lean.sin() / inertia;
        let at_middle = lean + 0.5 * h * rate;
        lean += h * middle;
        rate += h * GRAVITY * radius * at_middle.sin() / inertia;
        fall += h;
    }
    let (mut reached, mut before) = (f64::NAN, (0.0, 0.0));
    rig.run(method, start, &[1.1 * fall], |time, state| {
        let fallen = (lean_of(state, body) - balance) * beyond.signum();
        let goal = FALLEN.to_radians();
        if reached.is_nan() && fallen > goal {
            reached = before.0 + (time - before.0) * (goal - before.1) / (fallen - before.1);
        }
        before = (time, fallen);
    })?;
    Ok(vec![Finding::new(relative(reached, fall), 0.03)])
}

fn spins(method: Method, mass: f64) -> Result<Vec<Finding>, Refused> {
    let half = Vector3::repeat(0.1);
    let design = design(mass, half.z, method, 1.0);
    let (rig, body) = on_ground(&design, Contact::Springs, half, on_slope(0.0), 4)?;
    let mut state = rig.system.default_state();
    let (radius, start) = (SQRT_2 * half.x, 15.0);
    let inertia = 2.0 / 3.0 * half.x * half.x;
    let deceleration = MU_KINETIC * GRAVITY * radius / inertia;
    let spin = SpatialVelocity::new(Vector3::z() * start, Vector3::zeros());
    state.set_body(body, Pose::translation(0.0, 0.0, half.z), spin)?;
    let end = 3.0;
    let (mut from, mut rest) = (At::new(0.5 * start / deceleration), Rest::until(end, method));
    let mut turned = 0.0_f64;
    rig.run(method, state, &[from.time, end - 1.0, end], |time, state| {
        let x = state.positions().pose(body).rotation * Vector3::x();
        // By less than half a turn in a step.
        let angle = x.y.atan2(x.x);
        turned += ((angle - turned + PI).rem_euclid(2.0 * PI)) - PI;
        from.see(time, (turned, state.velocities().velocity(body).angular.z));
        rest.see(time, place(state, body), speed(state, body, half.z));
    })?;
    let (first, rate) = from.get_or((f64::NAN, f64::NAN));
    let expected = rate * rate / (2.0 * deceleration);
    let way = rate * radius * method.design_step() + drawn_out(MU_STATIC * GRAVITY, &design);
    let mut findings = vec![Finding::new(relative(turned - first, expected), way / (radius * expected))];
    findings.extend(rest.findings());
    Ok(findings)
}

/// A box put on a belt of 1 m/s.
fn on_a_belt(method: Method, mass: f64) -> Result<Vec<Finding>, Refused> {
    const BELT: f64 = 1.0;
    let half = Vector3::new(0.1, 0.1, 0.05);
    let design = design(mass, half.z, method, 1.0);
    let mut rig = Rig::under(Vector3::zeros())?;
    let belt = rig.add_box(mass * HEAVY, half * 10.0)?;
    let body = rig.add_box(mass, half)?;
    rig.add_springs(Frame::of(belt), body, corners(half).take(4), Parameters::for_contact(&design)?)?;
    // The box alone has weight.
    let weight = Vector3::z() * (-mass * GRAVITY);
    rig.system.add(CustomForce::<f64>::new(move |motion, loads| {
        let center = motion.point(body, &Point3::origin());
        loads.apply_at_point(body, &center, weight);
        loads.apply_at_point(BodyIndex::GROUND, &center, -weight);
        -weight.dot(&center.coords)
    }))?;
    let mut state = rig.system.default_state();
    state.set_velocity(belt, SpatialVelocity::new(Vector3::zeros(), Vector3::x() * BELT))?;
    state.set_pose(body, Pose::translation(0.0, 0.0, half.z))?;
    let deceleration = MU_KINETIC * GRAVITY;
    let end = 4.0;
    let (mut from, mut rest) = (At::new(0.5 * BELT / deceleration), Rest::until(end, method));
    rig.run(method, state, &[from.time, end - 1.0, end], |time, state| {
        let (p, v) = sole(state, body, half.z);
        let (apart, slip) = (place(state, belt) - p, state.velocities().velocity(belt).linear - v);
        from.see(time, (apart.x, slip.x));
        rest.see(time, apart, slip.norm());
    })?;
    let shift = (MU_KINETIC * half.z / half.x).atanh() * half.z
        / half.x
        / Parameters::<f64>::for_contact(&design)?.d2;
    let mut findings = vec![way(from, rest.place.x, deceleration, shift, &design)];
    findings.extend(rest.findings());
    Ok(findings)
}

/// A block on a belt of 0.1 m/s behind a spring of 10 rad/s: coordinates.
fn sticks_and_slips(method: Method, mass: f64) -> Result<Vec<Finding>, Refused> {
    const BELT: f64 = 0.1;
    const FREQUENCY: f64 = 10.0;
    let design = design(mass, 0.1, method, 1.0);
    let mut rig = Rig::under(Vector3::zeros())?;
    let [belt, block] = [rig.add_coordinate(mass * HEAVY)?, rig.add_coordinate(mass)?];
    let bristles = coordinate_spring_damper_ext::Parameters::for_contact(&design)?;
    let soft = mass * FREQUENCY * FREQUENCY;
    let spring = coordinate_spring_damper_ext::Parameters { stiffness: soft, ..Default::default() };
    rig.system.add(CoordinateSpringDamperExt::new(CoordinatePair::between(belt, block), bristles)?)?;
    rig.system.add(CoordinateSpringDamperExt::new(CoordinatePair::on(block), spring)?)?;
    let mut state = rig.system.default_state();
    state.set_coordinate_rate(belt, BELT)?;
    state.set_coordinate_rate(block, BELT)?;
    let mut lets_go = Vec::new();
    let mut before = (0.0, BELT);
    rig.run(method, state, &[7.0], |time, state| {
        let rate = state.velocities().coordinate_rate(block);
        if before.1 > 0.0 && rate <= 0.0 {
            lets_go.push(before.0 + (time - before.0) * before.1 / (before.1 - rate));
        }
        before = (time, rate);
    })?;
    // While it slips it swings about where kinetic friction holds the spring.
    let apart = (MU_STATIC - MU_KINETIC) * GRAVITY / (FREQUENCY * FREQUENCY);
    let slips = (PI + 2.0 * (BELT / (FREQUENCY * apart)).atan()) / FREQUENCY;
    let expected = slips + 2.0 * apart / BELT;
    // The first is from the relaxed spring.
    let [first, last] = [lets_go.get(1), lets_go.last()].map(|time| time.copied().unwrap_or(f64::NAN));
    let count = u32::try_from(lets_go.len()).map_or(f64::NAN, f64::from) - 2.0;
    let period = (last - first) / count;
    let allowed = 2.0 * method.design_step() / expected
        + soft / bristles.sticking_stiffness
        + bristles.exponential_decay_static / BELT;
    Ok(vec![Finding::new(relative(period, expected), allowed)])
}

/// A box between two upright walls, so near that static friction could hold twice its weight.
fn pinched(method: Method, mass: f64) -> Result<Vec<Finding>, Refused> {
    let half = Vector3::repeat(0.1);
    let design = design(mass, half.z, method, 1.0).with_points(8);
    let parameters = Parameters::for_contact(&design)?;
    let mut rig = Rig::under(Vector3::z() * -GRAVITY)?;
    let body = rig.add_box(mass, half)?;
    // At the design's load a corner is at height zero; here each carries this many times as much.
    let times = 2.0 / MU_STATIC;
    let near = half.x - times.ln() / parameters.d2;
    for side in [-1.0, 1.0] {
        let R = Rotation3::from_axis_angle(&Vector3::y_axis(), -side * FRAC_PI_2);
        let wall = Frame::ground(Pose::from_parts(Vector3::new(side * near, 0.0, 0.0).into(), R));
        rig.add_springs(wall, body, corners(half).filter(|corner| corner.x * side > 0.0), parameters)?;
    }
    let end = 4.0;
    let mut rest = Rest::until(end, method);
    rig.run(method, rig.system.default_state(), &[end - 1.0, end], |time, state| {
        rest.see(time, place(state, body), speed(state, body, half.z));
    })?;
    let sag = drawn_out(GRAVITY, &design);
    let mut findings = vec![Finding::new(relative(-rest.place.z, sag), 0.01)];
    findings.extend(rest.findings());
    Ok(findings)
}

fn stack(method: Method, mass: f64) -> Result<Vec<Finding>, Refused> {
    const COUNT: u8 = 3;
    let half = Vector3::repeat(0.1);
    let design = design(mass, half.z, method, 2.0);
    let parameters = Parameters::for_contact(&design)?;
    let mut rig = Rig::under(on_slope(0.0))?;
    let mut below = ground();
    let mut bodies = Vec::new();
    for _ in 0..COUNT {
        let body = rig.add_box(mass, half)?;
        rig.add_springs(below, body, corners(half).take(4), parameters)?;
        below = Frame::on(body, Pose::translation(0.0, 0.0, half.z));
        bodies.push(body);
    }
    let mut state = rig.system.default_state();
    for (i, &body) in (0..COUNT).zip(&bodies) {
        // Each falls by a tenth of a millimetre more, and is askew.
        let i = f64::from(i);
        let askew = 1e-3 * (3.0 * i).sin();
        state
            .set_pose(body, Pose::translation(askew, -askew, (2.0 * i + 1.0) * half.z + 1e-4 * (i + 1.0)))?;
    }
    let end = 10.0;
    let mut rests = [(); COUNT as usize].map(|()| Rest::until(end, method));
    rig.run(method, state, &[end - 1.0, end], |time, state| {
        for (rest, &body) in rests.iter_mut().zip(&bodies) {
            rest.see(time, place(state, body), speed(state, body, half.z));
        }
    })?;
    let (mut height, mut worst) = (-half.z, 0.0_f64);
    for (i, rest) in (0..COUNT).zip(&rests) {
        height += 2.0 * half.z - f64::from(COUNT - i).ln() / parameters.d2;
        let off = (rest.place.z - height) / (2.0 * half.z);
        worst = if off.is_nan() { f64::NAN } else { worst.max(off.abs()) };
    }
    let mut findings = vec![Finding::new(worst, 1e-6)];
    let worst = |i: usize| {
        rests.iter().map(|rest| rest.findings()[i]).max_by(|a, b| a.deviation.total_cmp(&b.deviation))
    };
    findings.extend([worst(0), worst(1)].into_iter().flatten());
    Ok(findings)
}

/// A cube is let go just above the plane, a little askew and moving.
fn settles(method: Method, mass: f64) -> Result<Vec<Finding>, Refused> {
    let half = Vector3::repeat(0.1);
    let design = design(mass, half.z, method, 1.25);
    let (rig, body) = on_ground(&design, Contact::Bed, half, on_slope(0.0), 0)?;
    let R = Rotation3::from_euler_angles(0.005, 0.003, 0.0);
    let along = SpatialVelocity::new(Vector3::zeros(), Vector3::new(0.01, 0.02, 0.0));
    let mut state = rig.system.default_state();
    state.set_body(body, Pose::from_parts(Vector3::new(0.0, 0.0, half.z + 1e-3).into(), R), along)?;
    let end = 5.0;
    let (mut rest, mut lean) = (Rest::until(end, method), f64::NAN);
    rig.run(method, state, &[end - 1.0, end], |time, state| {
        rest.see(time, place(state, body), speed(state, body, half.z));
        let up = state.positions().pose(body).rotation * Vector3::z();
        lean = up.xy().norm().atan2(up.z).to_degrees();
    })?;
    let area = 4.0 * half.x * half.y;
    let depth = mass * GRAVITY / (Material::<f64>::for_contact(&design, area)?.stiffness * area);
    let mut findings =
        vec![Finding::new(relative(half.z - rest.place.z, depth), 0.01), Finding::new(lean, 0.01)];
    findings.extend(rest.findings());
    Ok(findings)
}

/// A cart on four square feet, 2 m long and 1.2 m wide, its center 0.7 m high.
fn parks(method: Method, mass: f64) -> Result<Vec<Finding>, Refused> {
    const SLOPE: f64 = 0.3;
    const FOOT: f64 = 0.1;
    /// Thin: with clipped faces, grip at an edge counts the faces on both sides.
    const PAD: f64 = 0.01;
    let (half, height) = (Vector3::new(1.0, 0.6, 0.4), 0.7);
    let design = design(mass, height, method, 2.0);
    let mut rig = Rig::under(on_slope(SLOPE.atan()))?;
    let body = rig.add_box(mass, half)?;
    let mut bed =
        ElasticFoundation::new(elastic_foundation::Parameters::for_contact(&design)?)?.with_anchors();
    bed.add_rigid(ground(), HalfSpace::BelowZ)?;
    let foot = 4.0 * FOOT * FOOT;
    let material = Material::<f64>::for_contact(&design, 4.0 * foot)?;
    for corner in corners(half).take(4) {
        let mesh = TriangleMesh::brick(Vector3::new(FOOT, FOOT, PAD), [1; 3])?;
        let foot = Frame::on(body, Pose::translation(corner.x, corner.y, PAD - height));
        bed.add_springs(foot, mesh, material)?;
    }
    rig.system.add(bed)?;
    let mut state = rig.system.default_state();
    let depth = mass * GRAVITY / (material.stiffness * 4.0 * foot);
    state.set_pose(body, Pose::translation(0.0, 0.0, height - depth))?;
    let end = 8.0;
    let (mut rest, mut lean) = (Rest::until(end, method), f64::NAN);
    rig.run(method, state, &[end - 1.0, end], |time, state| {
        rest.see(time, place(state, body), speed(state, body, half.x));
        lean = lean_of(state, body);
    })?;
    // Friction at the height of the plane, the center that the lean moves forward, and feet that are pressed in evenly across and
    // more in front.
    let load = mass * GRAVITY * rest.place.z
        / (material.stiffness * 4.0 * foot * (half.x * half.x + FOOT * FOOT / 3.0));
    let (sin, cos) = SLOPE.atan().sin_cos();
    let expected = load * sin / (1.0 - load * cos);
    let mut findings = vec![Finding::new(relative(lean, expected), 0.02)];
    findings.extend(rest.findings());
    Ok(findings)
}

/// A load and a lighter one on a cable over two fixed drums, a quarter of a turn on each.
struct Winch {
    rig: Rig,
    load: BodyIndex,
    start: State<f64>,
}

const CABLE_FRICTION: f64 = 0.3;

impl Winch {
    /// With a second load of this share of the mass.
    fn new(method: Method, mass: f64, share: f64) -> Result<Self, Refused> {
        const RADIUS: f64 = 0.1;
        let mut rig = Rig::under(Vector3::y() * -GRAVITY)?;
        let [load, tail] = [mass, mass * share].map(|mass| rig.add_box(mass, Vector3::repeat(0.05)));
        let (load, tail) = (load?, tail?);
        let mut path =
            CablePath::new(Station::on(tail, Point3::origin()), Station::on(load, Point3::origin()))?;
        for x in [0.0, 1.0] {
            let drum = Obstacle::new(Frame::ground(Pose::translation(x, 0.0, 0.0)), Cylinder::new(RADIUS)?)?;
            path = path.over(drum.with_contact_hint(Point3::new(0.0, RADIUS, 0.0))?);
        }
        // The load swings by 0.2 rad in a step, with 0.3 of critical damping.
        let frequency = 0.2 / method.design_step();
        let length = 4.5 + PI * RADIUS;
        let stretch = GRAVITY * 0.5 * (1.0 + share) / (frequency * frequency);
        let elastic = cable_spring::Parameters {
            stiffness: mass * frequency * frequency,
            slack_length: length - stretch,
            dissipation: 0.6 * frequency / GRAVITY,
        };
        let parameters = capstan_cable::Parameters { elastic, friction: vec![CABLE_FRICTION; 2] };
        rig.system.add(CapstanCable::new(path, parameters)?)?;
        let mut start = rig.system.default_state();
        start.set_pose(tail, Pose::translation(-RADIUS, -2.5, 0.0))?;
        start.set_pose(load, Pose::translation(1.0 + RADIUS, -1.0, 0.0))?;
        Ok(Self { rig, load, start })
    }
}

/// Half of the load at the other end, where friction could hold it with 0.39 of it.
fn held_by_a_cable(method: Method, mass: f64) -> Result<Vec<Finding>, Refused> {
    let Winch { rig, load, start } = Winch::new(method, mass, 0.5)?;
    let end = 5.0;
    let mut rest = Rest::until(end, method);
    rig.run(method, start, &[end - 1.0, end], |time, state| {
        rest.see(time, place(state, load), speed(state, load, 0.0));
    })?;
    Ok(rest.findings().to_vec())
}

/// A quarter of the load at the other end.
fn hauled_by_a_cable(method: Method, mass: f64) -> Result<Vec<Finding>, Refused> {
    const SHARE: f64 = 0.25;
    let Winch { rig, load, start } = Winch::new(method, mass, SHARE)?;
    let [mut from, mut to] = [0.7, 1.1].map(At::new);
    rig.run(method, start, &[0.7, 1.1], |time, state| {
        let seen = (time, state.velocities().velocity(load).linear.y);
        from.see(time, seen);
        to.see(time, seen);
    })?;
    let [from, to] = [from, to].map(|at| at.get_or((f64::NAN, f64::NAN)));
    let ratio = (CABLE_FRICTION * PI).exp();
    let expected = GRAVITY * (1.0 - SHARE * ratio) / (1.0 + SHARE * ratio);
    Ok(vec![Finding::new(relative((from.1 - to.1) / (to.0 - from.0), expected), 0.01)])
}

/// A box on eight springs of default parameters, under symplectic Euler of this step: the kind of the element that refuses the
/// step, if one does, and the highest that the box has come, over where it started \[m\].
pub fn with_default_springs(mass: f64, step: f64) -> Result<(Option<&'static str>, f64), Refused> {
    let half = Vector3::repeat(0.1);
    let mut rig = Rig::under(on_slope(0.0))?;
    let body = rig.add_box(mass, half)?;
    rig.add_springs(ground(), body, corners(half), Parameters::default())?;
    let mut state = rig.system.default_state();
    state.set_pose(body, Pose::translation(0.0, 0.0, half.z + 0.01))?;
    let mut highest = 0.0_f64;
    let ran = rig.run(Method::Euler(step), state, &[4.0], |_, state| {
        highest = highest.max(place(state, body).z - half.z - 0.01);
    });
    match ran {
        Ok(()) => Ok((None, highest)),
        Err(refused) => refused.of_step().map(|kind| (Some(kind), highest)).ok_or(refused),
    }
}
