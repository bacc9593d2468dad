//! Random scenes of each family.

use std::sync::OnceLock;

use force_elements::cable::{CablePath, Settings};
use force_elements::nalgebra::{Point3, Rotation3, Translation3, Vector3};
use force_elements::shapes::{DistanceField, ShapeError};
use force_elements::{BodyIndex, Error, ForceSystem, Pose, Station};

use super::{Case, Family, Motion};
use crate::bones::femur_mesh;
use crate::cables::{Dice, hill, hollows};
use crate::solids::Solid;

/// A solid with its body and its pose there, or a via point.
type Waypoint = Result<(Solid, BodyIndex, Pose<f64>), Station<f64>>;

/// What a scene is made of.
struct Maker {
    dice: Dice,
    family: Family,
    system: ForceSystem<f64>,
    motions: Vec<Motion>,
    world: Pose<f64>,
    scale: f64,
}

fn below(dice: &mut Dice, count: u64) -> usize {
    usize::try_from(dice.below(count)).unwrap_or(0)
}

/// A thigh bone of some metres.
fn bone() -> Result<DistanceField, ShapeError> {
    const SCALE: f64 = 10.0;
    static BONE: OnceLock<Result<DistanceField, ShapeError>> = OnceLock::new();
    BONE.get_or_init(|| {
        let femur = femur_mesh(0.008)?;
        let vertices: Vec<_> = femur.vertices().map(|p| p * SCALE).collect();
        let mesh = force_elements::shapes::TriangleMesh::closed(&vertices, femur.faces())?;
        DistanceField::from_mesh(&mesh, 0.009 * SCALE)
    })
    .clone()
}

impl Maker {
    fn body(&mut self, p: Vector3<f64>) -> (BodyIndex, Pose<f64>) {
        let symmetric = self.family == Family::Symmetric;
        let R = if symmetric { Rotation3::identity() } else { self.dice.rotation(1.5) };
        let X = self.world * Pose::from_parts(Translation3::from(p * self.scale), R);
        // Grazed obstacles move so little that contact begins and ends often.
        let small =
            if self.family == Family::Grazing { 10_f64.powf(self.dice.between(-8.0, 0.0)) } else { 1.0 };
        let (shift, turn) = (self.dice.vector(0.35 * self.scale * small), self.dice.vector(0.25 * small));
        self.motions.push((X, shift, turn, self.dice.between(0.0, 6.3)));
        (self.system.add_body(), X)
    }

    fn solid(&mut self, kind: u64) -> Result<Solid, Error> {
        let dice = &mut self.dice;
        let is_small = self.family == Family::Grazing && dice.below(2) == 0;
        let scale = self.scale * if is_small { 10_f64.powf(dice.between(-4.0, 0.0)) } else { 1.0 };
        let radius = dice.between(0.4, 0.8) * scale;
        Ok(match (kind, self.family) {
            (0, _) => Solid::Ball(radius),
            (1, _) => Solid::Rod(radius),
            (2, Family::Extreme) => {
                let flat = 10_f64.powf(dice.between(-3.0, 0.0));
                let wide = 10_f64.powf(dice.between(-1.0, 0.0));
                let radii = [radius, radius * flat, radius * wide];
                let first = below(dice, 3);
                Solid::Egg(Vector3::from_fn(|i, _| radii[(first + i) % 3]))
            }
            (3, Family::Extreme) => {
                Solid::Ring(2.0 * radius, 2.0 * radius * 10_f64.powf(dice.between(-3.0, -0.05)))
            }
            (2, _) => Solid::Egg(Vector3::from_fn(|_, _| dice.between(0.4, 1.1) * scale)),
            (3, _) => Solid::Ring(dice.between(0.7, 2.3) * scale, dice.between(0.2, 0.6) * scale),
            (4, _) if scale == 1.0 => Solid::Land(hill(dice)),
            (5, _) => Solid::Pebble(radius),
            (6, _) => Solid::Peanut(radius),
            (7, _) => Solid::Land(hollows(dice, scale)),
            _ if scale == 1.0 => Solid::Bone(bone()?),
            _ => Solid::Pebble(radius),
        })
    }

    /// The pose of a solid on the way, moved so that a line along x would meet it.
    fn pose(&mut self, solid: &Solid, zigzag: f64) -> (Vector3<f64>, Rotation3<f64>) {
        let upright = Rotation3::from_axis_angle(
            &Vector3::x_axis(),
            if zigzag > 0.0 { 0.0 } else { core::f64::consts::PI },
        );
        let dice = &mut self.dice;
        if self.family == Family::Symmetric {
            let quarter = core::f64::consts::FRAC_PI_2;
            let turn = Vector3::from_fn(|_, _| quarter * f64::from(u8::try_from(dice.below(4)).unwrap_or(0)));
            let R = Rotation3::from_euler_angles(turn.x, turn.y, turn.z);
            return (Vector3::zeros(), R);
        }
        let (below, R) = match solid {
            Solid::Rod(_) => (0.0, dice.rotation(0.3)),
            Solid::Ring(ring, _) if self.family != Family::Hollow => {
                let turned = Rotation3::from_axis_angle(&Vector3::y_axis(), core::f64::consts::FRAC_PI_2);
                (-0.85 * ring / self.scale, dice.rotation(0.2) * turned)
            }
            Solid::Land(_) => {
                let turned = Rotation3::from_axis_angle(&Vector3::x_axis(), -core::f64::consts::FRAC_PI_2);
                (0.45, dice.rotation(0.15) * turned)
            }
            Solid::Bone(_) => (0.0, dice.rotation(0.5)),
            Solid::Ring(..) => (0.0, dice.rotation(3.0)),
            _ => (0.0, dice.rotation(1.5)),
        };
        let R = upright * R;
        let mut p = Vector3::new(0.0, -zigzag * below, 0.0);
        if matches!(solid, Solid::Bone(_)) {
            // Some place of the shaft or the joints.
            p -= R * Vector3::new(0.0, 0.0, dice.between(0.0, 4.0));
        }
        (p, R)
    }
}

impl Case {
    pub fn new(family: Family, seed: u64) -> Result<Self, Error> {
        let mut dice = Dice::new(seed ^ 0x00C0_2215);
        let scale = match family {
            Family::Scaled => 10_f64.powi(i32::try_from(dice.below(13)).unwrap_or(0) - 6),
            _ => 1.0,
        };
        let away = match family {
            Family::Symmetric => 0.0,
            Family::Scaled => scale * 10_f64.powf(dice.between(0.0, 3.0)),
            _ => 4.0,
        };
        let turned = if family == Family::Symmetric { Rotation3::identity() } else { dice.rotation(3.0) };
        let world = Pose::from_parts(Translation3::from(dice.vector(away)), turned);
        let mut maker = Maker { dice, family, system: ForceSystem::new(), motions: Vec::new(), world, scale };
        maker.case()
    }
}

impl Maker {
    #[allow(clippy::cast_precision_loss, reason = "at most eight")]
    fn case(&mut self) -> Result<Case, Error> {
        let (family, scale) = (self.family, self.scale);
        let symmetric = family == Family::Symmetric;
        let count = 1 + self.dice.below(if symmetric { 3 } else { 8 });
        let gap = if family == Family::Overlapping { self.dice.between(0.7, 1.4) } else { 2.0 };
        let deep = self.dice.between(0.0, 1.6);
        let is_straight = symmetric || family == Family::Grazing;
        // All in one plane, if not on one line.
        let is_planar = symmetric && self.dice.below(2) == 0;
        let is_collinear = is_straight && !is_planar;
        let level = |dice: &mut Dice| if is_collinear { 0.0 } else { dice.between(-deep, 0.4) };
        let aside = |dice: &mut Dice| if is_straight { 0.0 } else { dice.between(-0.3, 0.3) };
        let mut ends = Vec::new();
        for x in [-1.6, gap * (count as f64 - 1.0) + 1.6] {
            let p = Vector3::new(x, level(&mut self.dice), aside(&mut self.dice));
            let (body, _) = self.body(p);
            let offset = if is_straight { Vector3::zeros() } else { self.dice.vector(0.1 * scale) };
            ends.push(Station { body, p_B: offset.into() });
        }
        let kinds: &[u64] = match family {
            Family::Extreme => &[2, 3],
            Family::Hollow => &[3, 6, 7, 8],
            Family::Held => &[0, 1, 2, 3, 5, 6],
            _ => &[0, 1, 2, 3, 4, 5, 6, 8, 9],
        };
        let mut waypoints = Vec::new();
        for i in 0..count {
            let zigzag = if self.dice.below(3) == 0 && i % 2 == 1 { -1.0 } else { 1.0 };
            let y = if is_collinear { 0.0 } else { zigzag * self.dice.between(-0.55, -0.25) };
            let place = Vector3::new(
                gap * i as f64 + if is_collinear { 0.0 } else { self.dice.between(-0.15, 0.15) },
                y,
                if symmetric { 0.0 } else { self.dice.between(-0.15, 0.15) },
            );
            let kind = kinds[below(&mut self.dice, kinds.len() as u64)];
            if kind == 9 {
                let (body, _) =
                    self.body(place + if symmetric { Vector3::y() * 0.2 } else { Vector3::zeros() });
                let offset = if symmetric { Vector3::zeros() } else { self.dice.vector(0.1 * scale) };
                waypoints.push(Err(Station { body, p_B: offset.into() }));
                continue;
            }
            let solid = self.solid(kind)?;
            let (p, R) = if family == Family::Grazing {
                self.grazed(&solid, gap * i as f64, zigzag)
            } else {
                let (shift, R) = self.pose(&solid, zigzag);
                (place + shift, R)
            };
            let (body, X_GB) = self.body(p);
            let X_GS = self.world * Pose::from_parts(Translation3::from(p * scale), R);
            let times = if family == Family::Repeated { 1 + self.dice.below(3) } else { 1 };
            for _ in 0..times {
                waypoints.push(Ok((solid.clone(), body, X_GB.inverse() * X_GS)));
            }
        }
        let is_held = family == Family::Held && self.hold(&mut ends, &waypoints);
        let mut path = CablePath::new(ends[0], ends[1])?;
        let (mut solids, mut spans, mut first) = (Vec::new(), Vec::new(), 0);
        for waypoint in waypoints {
            match waypoint {
                Err(station) => {
                    path = path.through(station)?;
                    spans.push(first..solids.len());
                    first = solids.len();
                }
                Ok((solid, body, X_BS)) => {
                    let mut obstacle = solid.obstacle(body, X_BS)?;
                    if let Some(hint) = self.hint(&solid) {
                        obstacle = obstacle.with_contact_hint(hint)?;
                    }
                    path = path.over(obstacle);
                    solids.push(solid);
                }
            }
        }
        spans.push(first..solids.len());
        if self.dice.below(4) == 0 {
            let smoothness = 10_f64.powf(self.dice.between(-12.0, -2.0));
            path = path.with_settings(Settings { smoothness, ..Settings::default() })?;
        }
        let bodies = self.system.bodies().collect();
        let system = core::mem::take(&mut self.system);
        let mut case = Case {
            path,
            solids,
            state: system.default_state(),
            system,
            bodies,
            motions: core::mem::take(&mut self.motions),
            spans,
            scale,
            is_held,
        };
        case.move_to(0.0)?;
        Ok(case)
    }

    /// On the surface, in a hole or anywhere.
    fn hint(&mut self, solid: &Solid) -> Option<Point3<f64>> {
        if self.family != Family::Hinted || self.dice.below(4) == 0 {
            return None;
        }
        let [_, large] = solid.sizes();
        let hint = Point3::from(self.dice.vector(1.5 * large));
        Some(match (solid, self.dice.below(3)) {
            (Solid::Ring(ring, tube), 0) => {
                let [reach, angle] = [self.dice.between(0.0, ring - tube), self.dice.between(0.0, 6.3)];
                Point3::new(reach * angle.cos(), reach * angle.sin(), 0.0)
            }
            (_, 1) => solid.foot(&hint),
            _ => hint,
        })
    }

    /// A pose in which the line along x passes a solid at a tiny distance, or touches it as little.
    fn grazed(&mut self, solid: &Solid, x: f64, zigzag: f64) -> (Vector3<f64>, Rotation3<f64>) {
        let [_, large] = solid.sizes();
        let dice = &mut self.dice;
        let p = solid.foot(&solid.foot(&dice.vector(large).into()));
        let normal = solid.slope(&p).1.normalize();
        let along = normal.cross(&dice.vector(1.0)).normalize();
        let R = Rotation3::face_towards(&along, &normal).inverse();
        // To x and y from z and y.
        let R = Rotation3::from_axis_angle(&Vector3::y_axis(), core::f64::consts::FRAC_PI_2) * R;
        let sign = [-1.0, 0.0, 1.0][below(dice, 3)];
        let off = sign * 10_f64.powf(dice.between(-16.0, -1.0)) * large;
        let flip = if zigzag > 0.0 { 0.0 } else { core::f64::consts::PI };
        let R = Rotation3::from_axis_angle(&Vector3::x_axis(), flip) * R;
        (Vector3::new(x, off, 0.0) - R * p.coords, R)
    }

    /// Puts ends on the surfaces of the first or the last obstacle; whether any.
    fn hold(&mut self, ends: &mut [Station<f64>], waypoints: &[Waypoint]) -> bool {
        let mut is_held = false;
        let pairs = [(0, waypoints.first()), (1, waypoints.last())];
        for (end, waypoint) in pairs {
            let Some(Ok((solid, body, X_BS))) = waypoint else { continue };
            if self.dice.below(3) == 0 {
                continue;
            }
            let Ok(obstacle) = solid.obstacle(*body, *X_BS) else { continue };
            let [_, large] = solid.sizes();
            let p = obstacle.surface().retract(&self.dice.vector(large).into());
            if solid.height(p).abs() < 1e-12 {
                // Or a little above or below.
                let sign = [-1.0, 0.0, 0.0, 1.0][below(&mut self.dice, 4)];
                let off = sign * 10_f64.powf(self.dice.between(-16.0, -3.0));
                let p = p + solid.slope(&p).1.normalize() * off;
                ends[end] = Station { body: *body, p_B: X_BS * p };
                is_held = true;
            }
        }
        is_held
    }
}
