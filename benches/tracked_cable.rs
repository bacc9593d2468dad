//! A cable whose end moves a little at each evaluation, over obstacles in a row.

use core::f64::consts::FRAC_PI_2;

use force_elements::cable::{CablePath, Obstacle, PathError, Settings};
use force_elements::nalgebra::{Point3, Rotation3, Translation3, Vector2, Vector3};
use force_elements::shapes::{
    Cylinder, DistanceField, Ellipsoid, HeightMap, ShapeError, Sphere, Torus, TriangleMesh,
};
use force_elements::{
    BodyIndex, CableSpring, Error, ForceSystem, Frame, Handle, Pose, SpatialVelocity, State, Station,
    cable_spring,
};
use force_elements_scenes::bones::femur_mesh;

pub(crate) const KINDS: [&str; 7] = ["sphere", "cylinder", "ellipsoid", "torus", FLAT, COARSE, FINE];
/// Touched on both sides.
const FLAT: &str = "torus laid flat";
const COARSE: &str = "height map of 20 x 20 cells";
const FINE: &str = "height map of 160 x 160 cells";

/// A dome as high and wide as the ellipsoid.
fn dome(cells: u32) -> Result<HeightMap<f64>, ShapeError> {
    let spacing = 1.8 / f64::from(cells);
    let line = |i: u32| spacing * f64::from(i) - 0.9;
    let height = |i: u32, j: u32| 0.2 * (1.0 - (1.2 * line(i)).cosh() - 0.5 * line(j).sin().powi(2)) + 0.2;
    let heights: Vec<f64> = (0..=cells).flat_map(|j| (0..=cells).map(move |i| height(i, j))).collect();
    HeightMap::new(Vector2::repeat(-0.9), Vector2::repeat(spacing), cells as usize + 1, &heights)
}

fn obstacle(kind: &str, i: u32) -> Result<Obstacle<f64>, PathError> {
    let (x, raised) = (2.0 * f64::from(i), 0.25 * f64::from(i % 2));
    let at = |y: f64| Pose::translation(x, y + raised, 0.0);
    match kind {
        "sphere" => Obstacle::new(Frame::ground(at(-0.4)), Sphere::new(0.7)?),
        "cylinder" => Obstacle::new(Frame::ground(at(-0.4)), Cylinder::new(0.7)?),
        "ellipsoid" => Obstacle::new(Frame::ground(at(-0.4)), Ellipsoid::new(Vector3::new(0.7, 0.6, 1.0))?),
        FLAT => {
            let turned = Rotation3::from_axis_angle(&Vector3::x_axis(), FRAC_PI_2);
            let X = Pose::from_parts(Translation3::new(x, raised - 0.1, 0.0), turned);
            Obstacle::new(Frame::ground(X), Torus::new(0.6, 0.2)?)
        }
        COARSE | FINE => {
            // The map's z axis points up, along y.
            let turned = Rotation3::from_axis_angle(&Vector3::x_axis(), -FRAC_PI_2);
            let X = Pose::from_parts(Translation3::new(x, raised, 0.0), turned);
            Obstacle::new(Frame::ground(X), dome(if kind == COARSE { 20 } else { 160 })?)
        }
        _ => {
            let turned = Rotation3::from_axis_angle(&Vector3::y_axis(), FRAC_PI_2);
            let X = Pose::from_parts(Translation3::new(x, 1.6 + raised, 0.0), turned);
            // The cable runs through the hole: over the lowest part of the ring.
            Obstacle::new(Frame::ground(X), Torus::new(2.0, 0.5)?)?
                .with_contact_hint(Point3::new(0.0, -1.5, 0.0))
        }
    }
}

/// The shaft of a bone as thick as the other obstacles, on a grid of a quarter of its radius: 4 mm on a thigh bone.
pub(crate) fn bone() -> Result<Obstacle<f64>, Error> {
    const SCALE: f64 = 40.0;
    let femur = femur_mesh(0.004)?;
    let vertices: Vec<_> = femur.vertices().map(|p| p * SCALE).collect();
    let field = DistanceField::from_mesh(&TriangleMesh::closed(&vertices, femur.faces())?, 0.004 * SCALE)?;
    Ok(Obstacle::new(Frame::ground(Pose::translation(0.0, -0.4, -0.2 * SCALE)), field)?)
}

pub(crate) struct Scene {
    pub(crate) system: ForceSystem<f64>,
    pub(crate) state: State<f64>,
    pub(crate) cable: Handle<CableSpring<f64>>,
    end: BodyIndex,
    count: u32,
    angle: f64,
}

const ELASTIC: cable_spring::Parameters<f64> =
    cable_spring::Parameters { stiffness: 100.0, slack_length: 1.0, dissipation: 0.1 };

impl Scene {
    pub(crate) fn new(kind: &str, count: u32) -> Result<Self, Error> {
        let obstacles = (0..count).map(|i| Ok(obstacle(kind, i)?)).collect::<Result<Vec<_>, Error>>()?;
        Self::over(obstacles, count)
    }

    pub(crate) fn over(obstacles: Vec<Obstacle<f64>>, count: u32) -> Result<Self, Error> {
        Self::with(obstacles, count, |path| CableSpring::new(path, ELASTIC))
    }

    /// Sticks and slips as its end swings.
    pub(crate) fn with_friction(kind: &str, count: u32) -> Result<Self, Error> {
        let slack_length = 2.0 * f64::from(count);
        let elastic = cable_spring::Parameters { slack_length, ..ELASTIC };
        let friction = vec![0.3; count as usize];
        let obstacles = (0..count).map(|i| Ok(obstacle(kind, i)?)).collect::<Result<Vec<_>, Error>>()?;
        Self::with(obstacles, count, |path| CableSpring::new(path, elastic)?.with_friction(friction))
    }

    fn with(
        obstacles: Vec<Obstacle<f64>>,
        count: u32,
        make: impl FnOnce(CablePath<f64>) -> Result<CableSpring<f64>, Error>,
    ) -> Result<Self, Error> {
        let mut system = ForceSystem::new();
        let end = system.add_body();
        let origin = Station { body: BodyIndex::GROUND, p_B: Point3::new(-1.5, 0.0, 0.0) };
        let mut path = CablePath::new(origin, Station { body: end, p_B: Point3::origin() })?;
        for obstacle in obstacles {
            path = path.over(obstacle);
        }
        let path = path.with_settings(Settings { smoothness: 1e-9, ..Settings::default() })?;
        let cable = system.add(make(path)?)?;
        let state = system.default_state();
        let mut scene = Self { system, state, cable, end, count, angle: 0.0 };
        scene.step()?;
        Ok(scene)
    }

    pub(crate) fn step(&mut self) -> Result<f64, Error> {
        let (a, n) = (self.angle, f64::from(self.count));
        let X =
            Pose::translation(2.0 * n + 1.0 + 0.1 * a.sin(), 0.2 * (1.3 * a).sin(), 0.3 * (0.7 * a).sin());
        let V = SpatialVelocity::new(Vector3::zeros(), Vector3::new(0.1, 0.2, 0.3));
        self.state.set_body(self.end, X, V)?;
        let energy = self.system.realize_dynamics(&mut self.state)?.potential_energy();
        self.system.accept_step(&mut self.state)?;
        self.angle += 0.01;
        Ok(energy)
    }
}
