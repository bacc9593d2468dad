//! The six muscles of an arm, and what OpenSim finds for them.
//!
//! The model is arm26 by The OpenSim Development Team (CC BY 3.0), after K. R. S. Holzbaur, W. M. Murray, S. L. Delp,
//! *A model of the upper extremity for simulating musculoskeletal surgery and analyzing neuromuscular control*, Annals of
//! Biomedical Engineering 33 (2005) 829–840.

use std::path::Path;

use force_elements::cable::{CablePath, Obstacle, PathError, PathResults};
use force_elements::nalgebra::Vector3;
use force_elements::shapes::{Ellipsoid, FiniteCylinder};
use force_elements::{
    BodyIndex, Error, ForceSystem, Frame, Pose, Positions, SpatialVelocity, State, Station,
};

use crate::conformance::{Failure, Fields};

/// The shape of a surface.
#[derive(Clone, Copy)]
pub enum Shape {
    Cylinder { radius: f64, length: f64 },
    Ellipsoid { radii: Vector3<f64> },
}

/// A surface that a muscle may wrap.
#[derive(Clone)]
pub struct Surface {
    pub name: String,
    pub shape: Shape,
    pub frame: Frame<f64>,
    /// The side of the surface that the muscle may use, in the surface's frame; zero for all.
    pub side_S: Vector3<f64>,
    /// The point of the muscle before the surface.
    pub after: usize,
}

/// A muscle, with what OpenSim finds at each pose.
pub struct Muscle {
    pub name: String,
    pub points: Vec<Station<f64>>,
    pub surfaces: Vec<Surface>,
    pub lengths: Vec<f64>,
    /// About shoulder and elbow.
    pub moment_arms: [Vec<f64>; 2],
    /// The number of surfaces touched.
    pub touched: Vec<f64>,
}

/// A pose of the arm.
pub struct ArmPose {
    /// Shoulder and elbow \[degrees\].
    pub angles: [f64; 2],
    poses: [Pose<f64>; 3],
}

/// The arm: base, humerus and forearm.
pub struct Arm {
    system: ForceSystem<f64>,
    pub bodies: [BodyIndex; 3],
    /// The axis of the shoulder in the base, and of the elbow in the humerus. Both pass through the origin of the body
    /// that they turn.
    axes: [Vector3<f64>; 2],
    pub poses: Vec<ArmPose>,
    pub muscles: Vec<Muscle>,
}

/// What is found for a muscle at a pose.
pub struct Found {
    pub path: PathResults<f64>,
    /// About shoulder and elbow \[m\].
    pub moment_arms: [f64; 2],
}

/// The radius of the rims of cylinders, which are sharp in the model, relative to the cylinder's.
pub const RIM: f64 = 0.1;

const BODIES: [&str; 3] = ["base", "r_humerus", "r_ulna_radius_hand"];

impl Arm {
    /// Reads the model.
    pub fn read(file: &Path) -> Result<Self, Failure> {
        let text = std::fs::read_to_string(file)?;
        let value = serde_json::from_str(&text)?;
        let fields = Fields(&value);
        let mut system = ForceSystem::new();
        let bodies = BODIES.map(|_| system.add_body());
        let axes = fields.object("axes")?;
        let axis = |name| Ok::<_, Failure>(axes.vector(name)?.normalize());
        let mut poses = Vec::new();
        for fields in fields.objects("poses")? {
            let of = fields.object("bodies")?;
            let [base, humerus, forearm] = BODIES.map(|body| of.pose(body));
            let angles = [fields.number("shoulder_deg")?, fields.number("elbow_deg")?];
            poses.push(ArmPose { angles, poses: [base?, humerus?, forearm?] });
        }
        let muscles = fields.objects("muscles")?.into_iter().map(|fields| Muscle::read(fields, bodies));
        let muscles = muscles.collect::<Result<_, _>>()?;
        Ok(Self { system, bodies, axes: [axis("shoulder")?, axis("elbow")?], poses, muscles })
    }

    /// The arm at a pose.
    pub fn state(&self, pose: &ArmPose) -> Result<State<f64>, Error> {
        let mut state = self.system.default_state();
        for (body, X) in self.bodies.iter().zip(pose.poses) {
            state.set_pose(*body, X)?;
        }
        Ok(state)
    }

    /// The velocity of a body per unit rate of shoulder (0) or elbow (1).
    pub fn motion(&self, positions: &Positions<f64>, joint: usize, body: BodyIndex) -> SpatialVelocity<f64> {
        let [base, humerus, forearm] = self.bodies;
        let (parent, child) = if joint == 0 { (base, humerus) } else { (humerus, forearm) };
        if body != child && body != forearm {
            return SpatialVelocity::zero();
        }
        let axis_G = positions.pose(parent) * self.axes[joint];
        let arm = positions.pose(body).translation.vector - positions.pose(child).translation.vector;
        SpatialVelocity::new(axis_G, axis_G.cross(&arm))
    }

    /// The shortest path of a muscle without memory.
    pub fn solve(&self, muscle: &Muscle, positions: &Positions<f64>) -> Result<Found, PathError> {
        let cable = muscle.path()?;
        let mut path = PathResults::default();
        cable.solve(positions, &cable.no_wraps(), &mut path)?;
        let mut moment_arms = [0.0; 2];
        path.moment_arms(
            positions,
            |joint, body| self.motion(positions, joint, body),
            |_, _| 0.0,
            &mut moment_arms,
        );
        Ok(Found { path, moment_arms })
    }
}

impl Muscle {
    fn read(fields: Fields<'_>, bodies: [BodyIndex; 3]) -> Result<Self, Failure> {
        let body = |fields: Fields<'_>| {
            let name = fields.text("body")?;
            let index = BODIES.iter().position(|body| *body == name).ok_or("an unknown body")?;
            Ok::<_, Failure>(bodies[index])
        };
        let name = fields.text("muscle")?.to_string();
        let mut points = Vec::new();
        for point in fields.objects("points")? {
            points.push(Station { body: body(point)?, p_B: point.point("p_B")? });
        }
        let mut surfaces = Vec::new();
        for wrap in fields.objects("wraps")? {
            let shape = match wrap.text("kind")? {
                "cylinder" => {
                    Shape::Cylinder { radius: wrap.number("radius")?, length: wrap.number("length")? }
                }
                _ => Shape::Ellipsoid { radii: wrap.vector("radii")? },
            };
            let side_S = match wrap.text("quadrant")? {
                "x" => Vector3::x(),
                "-y" => -Vector3::y(),
                "z" => Vector3::z(),
                "all" => Vector3::zeros(),
                other => return Err(format!("an unknown quadrant {other}").into()),
            };
            let surface = wrap.text("name")?.to_string();
            // OpenSim wraps between these points at every pose.
            let after = match (name.as_str(), surface.as_str()) {
                ("BRA", _) | (_, "TRIlonghh" | "TRIlongglen") => 0,
                (_, "BIClonghh") => 1,
                _ => 3,
            };
            let frame = Frame::on(body(wrap)?, wrap.pose("X_BS")?);
            surfaces.push(Surface { name: surface, shape, frame, side_S, after });
        }
        // From the shoulder blade to the humerus; the model lists them in another order.
        surfaces.sort_by_key(|surface| (surface.after, surface.frame.body != bodies[0]));
        Ok(Self {
            name,
            points,
            surfaces,
            lengths: fields.numbers("length")?,
            moment_arms: [fields.numbers("moment_arm_shoulder")?, fields.numbers("moment_arm_elbow")?],
            touched: fields.numbers("touched")?,
        })
    }

    /// The cable through all points over all surfaces.
    pub fn path(&self) -> Result<CablePath<f64>, PathError> {
        let last = self.points.len() - 1;
        let mut path = CablePath::new(self.points[0], self.points[last])?;
        for (i, point) in self.points.iter().enumerate().take(last) {
            if i > 0 {
                path = path.through(*point)?;
            }
            for surface in self.surfaces.iter().filter(|surface| surface.after == i) {
                path = path.over(surface.obstacle()?);
            }
        }
        Ok(path)
    }
}

impl Surface {
    /// The surface as it is given: cylinders with ends, confined to its side, and left out while it contains a point of
    /// the muscle.
    fn obstacle(&self) -> Result<Obstacle<f64>, PathError> {
        let obstacle = match self.shape {
            Shape::Cylinder { radius, length } => {
                Obstacle::new(self.frame, FiniteCylinder::new(radius, 0.5 * length, RIM * radius)?)?
            }
            Shape::Ellipsoid { radii } => Obstacle::new(self.frame, Ellipsoid::new(radii)?)?,
        };
        let obstacle = obstacle.ignored_around_ends();
        if self.side_S == Vector3::zeros() { Ok(obstacle) } else { obstacle.confined_to(self.side_S) }
    }
}
