//! A corpus of random cables in motion, wide enough to break what is claimed of them.

use core::ops::Range;
use std::sync::OnceLock;

use std::time::{Duration, Instant};

use force_elements::cable::{CablePath, PathError, PathResults, Settings, Tracking, Wrap, Wraps};
use force_elements::nalgebra::{Point3, Rotation3, Translation3, Vector3};
use force_elements::shapes::{DistanceField, ShapeError};
use force_elements::{BodyIndex, Error, ForceSystem, Pose, Positions, SpatialVelocity, State, Station};

use crate::bones::femur_mesh;
use crate::cables::{Dice, hill, hollows};
use crate::solids::Solid;
use crate::verifier::{Fault, Problem, verify};

/// A kind of scene.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// Obstacles of all kinds beside each other, and via points.
    Ordinary,
    /// Neighbours that overlap.
    Overlapping,
    /// With hints on the surfaces, in holes and anywhere.
    Hinted,
    /// One end or both on the surface of the obstacle next to it.
    Held,
    /// Ellipsoids of up to a thousand to one, and rings as thin.
    Extreme,
    /// Surfaces with hollows and holes, anyhow turned.
    Hollow,
    /// From micrometres to thousands of kilometres, and far from the origin.
    Scaled,
    /// Symmetric in everything: ends, middles and axes in one plane or on one line.
    Symmetric,
    /// Obstacles that a straight line just touches, or just does not.
    Grazing,
    /// Obstacles listed twice or more, at one place.
    Repeated,
}

impl Family {
    pub const ALL: [Self; 10] = [
        Self::Ordinary,
        Self::Overlapping,
        Self::Hinted,
        Self::Held,
        Self::Extreme,
        Self::Hollow,
        Self::Scaled,
        Self::Symmetric,
        Self::Grazing,
        Self::Repeated,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Ordinary => "ordinary",
            Self::Overlapping => "overlapping neighbours",
            Self::Hinted => "with hints",
            Self::Held => "ends on surfaces",
            Self::Extreme => "flat and thin",
            Self::Hollow => "hollows and holes",
            Self::Scaled => "any scale, far away",
            Self::Symmetric => "exactly symmetric",
            Self::Grazing => "grazed",
            Self::Repeated => "listed twice",
        }
    }
}

/// The pose at the start, the shift, the turn, and the phase of a swing.
type Motion = (Pose<f64>, Vector3<f64>, Vector3<f64>, f64);

/// A cable among moving bodies.
#[derive(Debug)]
pub struct Case {
    /// The bodies, and no element.
    pub system: ForceSystem<f64>,
    pub path: CablePath<f64>,
    pub solids: Vec<Solid>,
    state: State<f64>,
    bodies: Vec<BodyIndex>,
    motions: Vec<Motion>,
    spans: Vec<Range<usize>>,
    scale: f64,
    is_held: bool,
}

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
    fn hold(
        &mut self,
        ends: &mut [Station<f64>],
        waypoints: &[Result<(Solid, BodyIndex, Pose<f64>), Station<f64>>],
    ) -> bool {
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

/// A path found, and what it takes to find the next.
#[derive(Debug)]
struct Found {
    path: PathResults<f64>,
    wraps: Wraps<f64>,
    rate: f64,
}

impl Case {
    /// Pose and velocity of a body at a time of its motion.
    pub fn motion(&self, i: usize, time: f64) -> (Pose<f64>, SpatialVelocity<f64>) {
        let (base, shift, turn, phase) = &self.motions[i];
        let (wave, rate) = ((time + phase).sin() - phase.sin(), (time + phase).cos());
        let R = Rotation3::new(turn * wave) * base.rotation;
        let p = base.translation.vector + shift * wave;
        (Pose::from_parts(Translation3::from(p), R), SpatialVelocity::new(turn * rate, shift * rate))
    }

    /// Puts every body where it is at this time of its motion.
    pub fn move_to(&mut self, time: f64) -> Result<(), Error> {
        for (i, &body) in self.bodies.iter().enumerate() {
            let (X, V) = self.motion(i, time);
            self.state.set_body(body, X, V)?;
        }
        Ok(())
    }

    /// The problem where the bodies are now, for a path found without memory or with.
    pub fn problem(&self, is_cold: bool) -> Problem {
        let at = |station: Station<f64>| self.state.positions().pose(station.body) * station.p_B;
        let fixed: Vec<_> = core::iter::once(self.path.origin())
            .chain(self.path.via_points())
            .chain(core::iter::once(self.path.termination()))
            .map(at)
            .collect();
        let hint = |k: usize| self.path.obstacles()[k].contact_hint().copied().filter(|_| is_cold);
        Problem {
            solids: self.solids.clone(),
            spans: fixed
                .windows(2)
                .zip(&self.spans)
                .map(|(ends, span)| ([ends[0], ends[1]], span.clone()))
                .collect(),
            hints: (0..self.solids.len()).map(hint).collect(),
            smoothness: self.path.settings().smoothness,
            scale: self.scale,
            is_held: self.is_held,
        }
    }

    /// Where the bodies are now.
    pub fn positions(&self) -> &Positions<f64> {
        self.state.positions()
    }

    /// The state of the system of bodies.
    pub fn state(&self) -> &State<f64> {
        &self.state
    }

    /// By how much lengths of one path may differ: by some hundredths of the smoothness, as far as contact points are off
    /// the surfaces, and by roundoff.
    fn blur(&self, length: f64) -> f64 {
        (1e-9 + 0.05 * self.path.settings().smoothness) * self.scale + 1e-13 * length
    }

    fn solve(&self, wraps: &Wraps<f64>) -> Result<Found, PathError> {
        let mut path = PathResults::default();
        self.path.solve(self.state.positions(), wraps, &mut path)?;
        let mut next = Wraps::default();
        path.remember(&mut next);
        let rate = path.length_rate(self.state.positions(), self.state.velocities());
        Ok(Found { path, wraps: next, rate })
    }
}

/// Something wrong, and nothing said of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Wrong {
    /// A path found is not what it is said to be.
    Path { when: When, fault: Fault },
    /// The same problem has been solved to other bits, with buffers used before.
    Impure { when: When },
    /// The length jumps within one step of a motion that was tracked \[m\].
    Jump { time: f64, by: f64 },
    /// From a memory slightly off, another path of the class is found \[m\].
    Elsewhere { by: f64 },
    /// From the memory of the start, a path is tracked in one step that is not the one of many steps \[m\].
    Leap { by: f64 },
}

/// When a path was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum When {
    /// Without memory.
    Cold,
    /// At this time of a motion.
    Tracked(f64),
    /// At the end of a motion, in one step.
    Leapt,
    /// From a memory of nothing that is there.
    Misled,
}

/// What became of a scene.
#[derive(Debug, Default)]
pub struct Report {
    /// Why there was no path at the start, if there was none.
    pub refused: Option<PathError>,
    /// Why the motion ended early, if it did.
    pub stopped: Option<PathError>,
    pub wrong: Vec<Wrong>,
    /// Paths that follow the surface over a hollow in the middle of a contact, as documented.
    pub hollows: u32,
    pub steps: u32,
    pub touchdowns: u32,
    pub liftoffs: u32,
    /// How often a step was not tracked, and said so.
    pub declared: u32,
    /// Arcs too long to be integrated by the verifier.
    pub unchecked: usize,
    /// The most geodesics per obstacle of a search, and of a tracked step.
    pub iterations: [usize; 2],
    /// The most evaluations of a refused search.
    pub evaluations: usize,
    /// The slowest search, tracked step and refused search.
    pub slowest: [Duration; 3],
}

/// Searches a path, follows it for a while, and verifies what is found. One step lasts a fiftieth.
pub fn examine(family: Family, seed: u64, steps: u32) -> Result<Report, Error> {
    let mut case = Case::new(family, seed)?;
    let mut dice = Dice::new(!seed);
    let mut report = Report::default();
    let begin = Instant::now();
    let found = case.solve(&case.path.no_wraps());
    let took = begin.elapsed();
    let mut found = match found {
        Ok(found) => found,
        Err(error) => {
            report.slowest[2] = took;
            if let PathError::NotConverged { evaluations, .. } = error {
                report.evaluations = evaluations;
            }
            report.refused = Some(error);
            return Ok(report);
        }
    };
    report.slowest[0] = took;
    report.iterations[0] = found.path.iterations;
    report.verify(&case, &found.path, When::Cold, &mut dice);
    report.compare_bits(&case, &found, &case.path.no_wraps(), When::Cold);
    let mut results = PathResults::default();
    let start = found.wraps.clone();
    for step in 1..=steps {
        const STEP: f64 = 0.02;
        let (was, time) = (STEP * f64::from(step - 1), STEP * f64::from(step));
        case.move_to(time)?;
        let begin = Instant::now();
        let outcome = case.solve(&found.wraps);
        let took = begin.elapsed();
        let next = match outcome {
            Ok(next) => next,
            Err(error) => {
                report.slowest[2] = report.slowest[2].max(took);
                report.stopped = Some(error);
                break;
            }
        };
        report.steps += 1;
        if next.path.tracking == Tracking::Warm {
            report.slowest[1] = report.slowest[1].max(took);
            report.iterations[1] = report.iterations[1].max(next.path.iterations);
            let by = surprise(&found, &next, STEP);
            // A jump remains one however short the step.
            if by.abs() > 1e-3 * case.scale + case.blur(0.0)
                && let Some(by) = jump(&mut case, &found, [was, time])?
            {
                report.wrong.push(Wrong::Jump { time, by });
            }
        } else {
            report.declared += 1;
        }
        case.move_to(time)?;
        let contacts = |found: &Found| {
            let wraps = &found.wraps;
            wraps.obstacles.iter().chain(&wraps.further).copied().collect::<Vec<_>>()
        };
        for (before, now) in contacts(&found).iter().zip(&contacts(&next)) {
            report.touchdowns += u32::from(now.in_contact && !before.in_contact);
            report.liftoffs += u32::from(before.in_contact && !now.in_contact);
        }
        if step % 10 == 0 || step == steps {
            report.verify(&case, &next.path, When::Tracked(time), &mut dice);
            report.compare_bits(&case, &next, &found.wraps, When::Tracked(time));
        }
        found = next;
    }
    // From memories that are off: a little, and altogether.
    let smallest = case.solids.iter().map(|solid| solid.sizes()[0]).fold(case.scale, f64::min);
    let mut shaken = found.wraps.clone();
    for wrap in shaken.obstacles.iter_mut().chain(&mut shaken.further).filter(|wrap| wrap.in_contact) {
        wrap.point += dice.vector(0.02 * smallest);
        wrap.tangent += dice.vector(0.02);
        wrap.length *= dice.between(0.98, 1.02);
    }
    if report.stopped.is_none()
        && case.path.solve(case.state.positions(), &shaken, &mut results).is_ok()
        && results.tracking == Tracking::Warm
    {
        let by = results.length - found.path.length;
        if by.abs() > case.blur(results.length) {
            report.wrong.push(Wrong::Elsewhere { by });
        }
    }
    if report.stopped.is_none() && case.path.solve(case.state.positions(), &start, &mut results).is_ok() {
        report.verify(&case, &results, When::Leapt, &mut dice);
        let by = results.length - found.path.length;
        let is_tracked = results.tracking == Tracking::Warm && report.declared == 0;
        if is_tracked && by.abs() > case.blur(results.length) {
            report.wrong.push(Wrong::Leap { by });
        }
    }
    let mut misled = case.path.no_wraps();
    let solids = case.solids.iter().chain(case.solids.iter().cycle());
    for (wrap, solid) in misled.obstacles.iter_mut().chain(&mut misled.further).zip(solids) {
        let [_, large] = solid.sizes();
        *wrap = Wrap {
            known: dice.below(5) > 0,
            in_contact: dice.below(3) > 0,
            point: dice.vector(2.0 * large).into(),
            tangent: dice.vector(1.0) * if dice.below(2) == 0 { large } else { 1.0 },
            length: dice.between(0.0, 4.0) * large,
        };
    }
    if case.path.solve(case.state.positions(), &misled, &mut results).is_ok() {
        report.verify(&case, &results, When::Misled, &mut dice);
    }
    Ok(report)
}

/// How much the length changes beyond what its rates say.
fn surprise(before: &Found, after: &Found, step: f64) -> f64 {
    after.path.length - before.path.length - 0.5 * step * (before.rate + after.rate)
}

/// By how much the length jumps between two times, if it does: halves the step where it surprises more.
fn jump(case: &mut Case, before: &Found, [mut from, mut to]: [f64; 2]) -> Result<Option<f64>, Error> {
    let mut start = Found { path: before.path.clone(), wraps: before.wraps.clone(), rate: before.rate };
    for _ in 0..20 {
        let middle = 0.5 * (from + to);
        case.move_to(middle)?;
        let Ok(half) = case.solve(&start.wraps) else { return Ok(None) };
        case.move_to(to)?;
        let Ok(end) = case.solve(&half.wraps) else { return Ok(None) };
        if half.path.tracking != Tracking::Warm || end.path.tracking != Tracking::Warm {
            return Ok(None);
        }
        let [first, second] = [surprise(&start, &half, middle - from), surprise(&half, &end, to - middle)];
        if first.abs().max(second.abs()) < 1e-5 * case.scale + case.blur(0.0) {
            return Ok(None);
        }
        if first.abs() > second.abs() {
            to = middle;
        } else {
            (from, start) = (middle, half);
        }
    }
    case.move_to(to)?;
    Ok(case.solve(&start.wraps).ok().map(|end| surprise(&start, &end, to - from)))
}

impl Report {
    fn verify(&mut self, case: &Case, path: &PathResults<f64>, when: When, dice: &mut Dice) {
        let is_cold = when == When::Cold;
        let (faults, unchecked) = verify(&case.problem(is_cold), &case.path, path, dice, is_cold);
        self.unchecked += unchecked;
        let is_hollow = |fault: &Fault| matches!(fault, Fault::Hollow { .. });
        self.hollows += u32::from(faults.iter().any(is_hollow));
        let others = faults.into_iter().filter(|fault| !is_hollow(fault));
        self.wrong.extend(others.map(|fault| Wrong::Path { when, fault }));
    }

    /// Whether the same problem has the same solution, to the bit, in buffers that were used for another.
    fn compare_bits(&mut self, case: &Case, found: &Found, wraps: &Wraps<f64>, when: When) {
        let mut used = PathResults::default();
        let mut bits = Vec::new();
        for other in [&found.wraps, wraps] {
            bits = match case.path.solve(case.state.positions(), other, &mut used) {
                Ok(()) => bits_of(&used),
                Err(_) => Vec::new(),
            };
        }
        if bits != bits_of(&found.path) {
            self.wrong.push(Wrong::Impure { when });
        }
    }
}

fn bits_of(path: &PathResults<f64>) -> Vec<u64> {
    let ends = path.segments.iter().flat_map(|s| [s.from_G, s.to_G]);
    let wraps = path.contacts.iter().flat_map(|c| {
        let wrap = &c.wrap;
        wrap.point.iter().chain(&wrap.tangent).copied().chain([wrap.length]).collect::<Vec<_>>()
    });
    let numbers = ends.flat_map(|p| [p.x, p.y, p.z]).chain(wraps).chain([path.length, path.smoothness]);
    numbers.map(f64::to_bits).collect()
}
