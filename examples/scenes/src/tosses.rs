//! Measured tosses of a cube onto a board, and their simulation.
//!
//! The recording is `tests/golden/tosses`. The model is a cube on exponential springs at its corners, or on a clipped elastic
//! foundation, with seven unknown parameters; [`Model::predict`] carries the derivatives by them along.

use std::path::Path;

use force_elements::nalgebra::{Point3, Quaternion, Rotation3, Translation3, UnitQuaternion, Vector3};
use force_elements::shapes::{HalfSpace, TriangleMesh};
use force_elements::{
    ElasticFoundation, ElementId, Error, ExponentialSpring, ForceSystem, Frame, Pose, SpatialVelocity, State,
    Station, elastic_foundation, exponential_spring,
};

use crate::conformance::{Failure, Fields};
use crate::rollout::{Change, Cube, Derivatives, GRAVITY, Host};

/// Samples in a second.
pub const RATE: f64 = 148.0;
/// Steps in a sample.
const STEPS: u32 = 24;
/// Elements whose corners are all this high at a sample are left out until the next: none comes nearer than 2 cm, where an
/// exponential spring exerts less than a nanonewton \[m\].
const FAR: f64 = 0.05;
/// Faces of the mesh along an edge of the cube.
const SUBDIVISIONS: u32 = 1;

/// A toss as the cameras saw it: lengths in theirs, times by [`RATE`].
pub struct Toss {
    pub id: usize,
    pub poses: Vec<Pose<f64>>,
    /// At the first pose, from differences.
    pub velocity: SpatialVelocity<f64>,
}

/// All tosses.
pub struct Recording {
    /// Of the cube \[m\].
    pub side: f64,
    pub mass: f64,
    pub tosses: Vec<Toss>,
}

impl Recording {
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let file: serde_json::Value = serde_json::from_str(&text)?;
        let file = Fields(&file);
        let [unit, time_step] = [file.number("unit")?, file.number("time_step")?];
        let mut tosses = Vec::new();
        for toss in file.objects("tosses")? {
            let (mut numbers, mut poses) = ([0.0; 7], Vec::new());
            for step in toss.list("steps")? {
                let entries = step.as_array().ok_or("a step is not a list")?;
                for (number, entry) in numbers.iter_mut().zip(entries) {
                    *number += entry.as_f64().ok_or("a step has what is not a number")?;
                }
                let [x, y, z, w, i, j, k] = numbers;
                let rotation = UnitQuaternion::from_quaternion(Quaternion::new(w, i, j, k));
                poses.push(Pose::from_parts(
                    Translation3::new(unit * x, unit * y, unit * z),
                    rotation.to_rotation_matrix(),
                ));
            }
            let first = poses.first().ok_or("a toss has no poses")?;
            // Of the file, by its time step; the angular velocity in axes of the cube.
            let [x, y, z, p, q, r] = toss.array("velocity")?.map(|number| number * unit * time_step * RATE);
            let velocity =
                SpatialVelocity::new(first.rotation * Vector3::new(p, q, r), Vector3::new(x, y, z));
            tosses.push(Toss { id: toss.index("id")?, poses, velocity });
        }
        Ok(Self { side: file.number("side")?, mass: file.number("mass")?, tosses })
    }
}

/// The motion from which a prediction starts.
#[derive(Clone, Copy)]
pub struct Start {
    pub X_GB: Pose<f64>,
    pub V_GB: SpatialVelocity<f64>,
}

/// Sums of a straight line through samples.
struct Line {
    count: f64,
    first: f64,
    second: f64,
}

impl Line {
    fn through(count: usize) -> Self {
        let times = || (0..count).map(time);
        Self { count: times().map(|_| 1.0).sum(), first: times().sum(), second: times().map(|t| t * t).sum() }
    }

    /// The value at the first sample and the slope.
    fn fit(&self, samples: impl Iterator<Item = Vector3<f64>>) -> [Vector3<f64>; 2] {
        let (mut sum, mut moment) = (Vector3::zeros(), Vector3::zeros());
        for (i, sample) in samples.enumerate() {
            sum += sample;
            moment += sample * time(i);
        }
        let determinant = self.count * self.second - self.first * self.first;
        [
            (sum * self.second - moment * self.first) / determinant,
            (moment * self.count - sum * self.first) / determinant,
        ]
    }
}

/// The time of a sample \[s\].
pub fn time(sample: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "hundreds")]
    let sample = sample as f64;
    sample / RATE
}

impl Toss {
    /// The number of samples before the lowest corner is 8 mm above the board.
    pub fn flight(&self, side: f64) -> usize {
        let is_near = |X: &Pose<f64>| corners(0.5 * side).any(|corner| (X * corner).z < 0.008);
        self.poses.iter().position(is_near).unwrap_or(self.poses.len())
    }

    /// The first pose, with the velocities of differences.
    pub fn first_pose(&self) -> Start {
        Start { X_GB: self.poses[0], V_GB: self.velocity }
    }

    /// The beginning of a parabola with this gravity and a constant angular velocity through so many samples.
    pub fn free_flight(&self, samples: usize, gravity: f64) -> Start {
        let flight = &self.poses[..samples.clamp(2, self.poses.len())];
        let line = Line::through(flight.len());
        let [position, velocity] = line.fit(
            flight
                .iter()
                .enumerate()
                .map(|(i, X)| X.translation.vector + Vector3::z() * (0.5 * gravity * time(i).powi(2))),
        );
        let turns = flight.windows(2).map(|pair| turn(&pair[0].rotation, &pair[1].rotation));
        let mut angular_velocity = turns.sum::<Vector3<f64>>() / time(flight.len() - 1);
        let mut rotation = flight[0].rotation;
        // Gauss–Newton on turns of hundredths of a degree.
        for _ in 0..4 {
            let [turned, rate] =
                line.fit(flight.iter().enumerate().map(|(i, X)| {
                    turn(&(Rotation3::new(angular_velocity * time(i)) * rotation), &X.rotation)
                }));
            rotation = Rotation3::new(turned) * rotation;
            angular_velocity += rate;
        }
        Start {
            X_GB: Pose::from_parts(position.into(), rotation),
            V_GB: SpatialVelocity::new(angular_velocity, velocity),
        }
    }
}

/// How fast cubes fall in free flight as the cameras see it \[m/s²\]: all parabolas together.
pub fn fall(tosses: &[Toss], side: f64) -> f64 {
    let (mut product, mut square) = (0.0, 0.0);
    for toss in tosses {
        let count = toss.flight(side);
        if count < 3 {
            continue;
        }
        let line = Line::through(count);
        let falls = |i: usize| -0.5 * time(i).powi(2);
        // What of a fall is no straight line.
        let [start, slope] = line.fit((0..count).map(|i| Vector3::z() * falls(i)));
        for (i, X) in toss.poses[..count].iter().enumerate() {
            let bent = falls(i) - start.z - slope.z * time(i);
            product += bent * X.translation.z;
            square += bent * bent;
        }
    }
    product / square
}

/// What the cube meets the board with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contact {
    /// An exponential spring at each corner.
    Springs,
    /// A clipped elastic foundation over all faces, with anchors.
    Foundation,
}

/// The number of unknown parameters of a model.
pub const COUNT: usize = 7;

/// An unknown parameter.
pub struct Unknown {
    pub name: &'static str,
    pub unit: &'static str,
    /// Those of each element; none for one of the cube or of the board.
    variables: &'static [&'static str],
}

const GYRATION: Unknown = Unknown { name: "inertia / (m·side²/6)", unit: "1", variables: &[] };
const HEIGHT: Unknown = Unknown { name: "height of the board", unit: "m", variables: &[] };
/// Places of these two.
const OF_CUBE: usize = COUNT - 2;
const OF_BOARD: usize = COUNT - 1;

const OF_SPRINGS: [Unknown; COUNT] = [
    Unknown { name: "friction", unit: "1", variables: &["mu_static", "mu_kinetic"] },
    Unknown { name: "normal_viscosity", unit: "s/m", variables: &["normal_viscosity"] },
    Unknown { name: "d2", unit: "1/m", variables: &["d2"] },
    Unknown { name: "friction_elasticity", unit: "N/m", variables: &["friction_elasticity"] },
    Unknown { name: "friction_viscosity", unit: "N·s/m", variables: &["friction_viscosity"] },
    GYRATION,
    HEIGHT,
];

const OF_FOUNDATION: [Unknown; COUNT] = [
    Unknown {
        name: "friction",
        unit: "1",
        variables: &["materials[1].static_friction", "materials[1].dynamic_friction"],
    },
    Unknown { name: "dissipation", unit: "s/m", variables: &["materials[1].dissipation"] },
    Unknown { name: "stiffness", unit: "N/m³", variables: &["materials[1].stiffness"] },
    Unknown {
        name: "tangential_stiffness", unit: "N/m³", variables: &["materials[1].tangential_stiffness"]
    },
    Unknown {
        name: "tangential_viscosity",
        unit: "N·s/m³",
        variables: &["materials[1].tangential_viscosity"],
    },
    GYRATION,
    HEIGHT,
];

impl Contact {
    pub fn unknowns(self) -> &'static [Unknown; COUNT] {
        match self {
            Self::Springs => &OF_SPRINGS,
            Self::Foundation => &OF_FOUNDATION,
        }
    }
}

/// A cube, the board and the cameras.
#[derive(Debug, Clone, Copy)]
pub struct Model {
    pub contact: Contact,
    /// The values of the [unknowns](Contact::unknowns).
    pub values: [f64; COUNT],
    pub side: f64,
    pub mass: f64,
    /// Of lengths as the cameras see them.
    pub scale: f64,
}

/// An element, and the corners of the cube near which it acts.
struct Acting {
    id: ElementId,
    corners: Vec<Point3<f64>>,
}

type Scene = (ForceSystem<f64>, Vec<Acting>, Host<f64>);

/// A toss as it is simulated, sample by sample, in lengths of the cameras.
pub struct Prediction {
    pub poses: Vec<Pose<f64>>,
    /// The derivatives of each pose by each unknown, as twists; if they are asked for.
    pub slopes: Vec<[SpatialVelocity<f64>; COUNT]>,
}

impl Model {
    fn scene(&self) -> Result<Scene, Error> {
        let mut system = ForceSystem::new();
        let body = system.add_body();
        let half = 0.5 * self.side;
        let board = Frame::ground(Pose::identity());
        let mut elements = Vec::new();
        match self.contact {
            Contact::Springs => {
                let parameters =
                    exponential_spring::Parameters { d0: 0.0, settling: false, ..Default::default() };
                for corner in corners(half) {
                    let spring = ExponentialSpring::new(board, Station::on(body, corner), parameters)?;
                    elements.push(Acting { id: system.add(spring)?.id(), corners: vec![corner] });
                }
            }
            Contact::Foundation => {
                let parameters = elastic_foundation::Parameters { clipped: true, ..Default::default() };
                let mut foundation = ElasticFoundation::new(parameters)?.with_anchors();
                foundation.add_rigid(board, HalfSpace::BelowZ)?;
                let mesh = TriangleMesh::brick(Vector3::repeat(half), [SUBDIVISIONS; 3])?;
                foundation.add_springs(Frame::of(body), mesh, elastic_foundation::Material::new(1.0))?;
                elements.push(Acting { id: system.add(foundation)?.id(), corners: corners(half).collect() });
            }
        }
        let gyration = self.values[OF_CUBE] * self.side * self.side / 6.0;
        let cube = Cube { body, mass: self.mass, gyration };
        let step = 1.0 / (RATE * f64::from(STEPS));
        let host = Host::new(&system, step, vec![cube], Vec::new());
        Ok((system, elements, host))
    }

    /// Simulates so many samples.
    pub fn predict(&self, start: &Start, samples: usize, with_slopes: bool) -> Result<Prediction, Error> {
        let (system, elements, mut host) = self.scene()?;
        let body = host.cubes[0].body;
        let mut state = system.default_state();
        for (unknown, value) in self.contact.unknowns().iter().zip(self.values) {
            for element in elements.iter().map(|element| element.id) {
                let values: Vec<_> = unknown.variables.iter().map(|&variable| (variable, value)).collect();
                system.set_variables(&mut state, element, &values)?;
            }
        }
        let board = Vector3::z() * self.values[OF_BOARD];
        let position = (start.X_GB.translation.vector - board) / self.scale;
        let X_GB = Pose::from_parts(position.into(), start.X_GB.rotation);
        let V_GB = SpatialVelocity::new(start.V_GB.angular, start.V_GB.linear / self.scale);
        state.set_body(body, X_GB, V_GB)?;
        system.reset_memories(&mut state)?;
        let mut changes = if with_slopes { self.changes(&state, &elements)? } else { Vec::new() };
        let mut derivatives = Derivatives::new(&state);
        let mut prediction = Prediction { poses: Vec::new(), slopes: Vec::new() };
        for sample in 0..samples {
            for element in &elements {
                let X = *state.positions().pose(body);
                let is_near = element.corners.iter().any(|corner| (X * corner).z < FAR);
                if is_near != state.is_enabled(element.id) {
                    system.set_enabled(&mut state, element.id, is_near)?;
                    system.reset_memory(&mut state, element.id)?;
                }
            }
            for _ in 0..if sample > 0 { STEPS } else { 0 } {
                if with_slopes {
                    derivatives.linearize(&mut host, &system, &mut state)?;
                    for (unknown, change) in changes.iter_mut().enumerate() {
                        let of_gyration = if unknown == OF_CUBE { 1.0 / self.values[OF_CUBE] } else { 0.0 };
                        derivatives.tangent_with(&host, &state, change, of_gyration)?;
                    }
                }
                host.advance(&system, &mut state)?;
            }
            let X = state.positions().pose(body);
            let position = X.translation.vector * self.scale + board;
            prediction.poses.push(Pose::from_parts(position.into(), X.rotation));
            if with_slopes {
                let mut slopes = [SpatialVelocity::zero(); COUNT];
                for (slope, change) in slopes.iter_mut().zip(&changes) {
                    let moved = change.motion.body(body);
                    *slope = SpatialVelocity::new(moved.angular, moved.linear * self.scale);
                }
                slopes[OF_BOARD].linear.z += 1.0;
                prediction.slopes.push(slopes);
            }
        }
        Ok(prediction)
    }

    /// The changes at the start by each unknown.
    fn changes(&self, state: &State<f64>, elements: &[Acting]) -> Result<Vec<Change>, Error> {
        let mut changes = Vec::new();
        for unknown in self.contact.unknowns() {
            let mut change = Change::zeros(state);
            for element in elements.iter().map(|element| element.id) {
                for variable in unknown.variables {
                    *change.variables.number_mut(state, &format!("{element}.{variable}"))? = 1.0;
                }
            }
            changes.push(change);
        }
        for body in state.positions().topology().bodies() {
            changes[OF_BOARD].motion.body_mut(body).linear.z = -1.0 / self.scale;
        }
        Ok(changes)
    }

    /// Gravity as the cameras see it \[m/s²\].
    pub fn fall(&self) -> f64 {
        GRAVITY * self.scale
    }
}

/// The corners of a cube of this half side.
fn corners(half: f64) -> impl Iterator<Item = Point3<f64>> {
    (0..8).map(move |i| {
        let side = |bit: usize| if i >> bit & 1 == 0 { -half } else { half };
        Point3::new(side(0), side(1), side(2))
    })
}

/// The way from a measured pose to a predicted one: a turn and a shift.
pub fn error(predicted: &Pose<f64>, measured: &Pose<f64>) -> SpatialVelocity<f64> {
    let shift = predicted.translation.vector - measured.translation.vector;
    SpatialVelocity::new(turn(&measured.rotation, &predicted.rotation), shift)
}

/// The turn from one orientation to another; by quaternions, which know small angles to the last digit.
fn turn(from: &Rotation3<f64>, to: &Rotation3<f64>) -> Vector3<f64> {
    UnitQuaternion::from_rotation_matrix(&(to * from.inverse())).scaled_axis()
}
