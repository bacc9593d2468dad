//! Random scenes and motions for cables, the same on every machine.

use core::ops::Range;

use force_elements::cable::{CablePath, PathError, Tracking, Wrappable};
use force_elements::nalgebra::{Matrix3, Point3, Rotation3, Translation3, Vector2, Vector3};
use force_elements::{
    BodyIndex, CableSpring, Error, ForceSystem, Handle, Pose, Real, SpatialVelocity, State, Station,
    cable_spring,
};

use crate::solids::{Dive, Land, Solid, dives};

/// SplitMix64: enough for choosing scenes, and reproducible.
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Between the two numbers.
    #[allow(clippy::cast_precision_loss, reason = "53 bits fit")]
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * ((self.next() >> 11) as f64 / (1_u64 << 53) as f64)
    }

    /// One of so many.
    pub fn below(&mut self, count: u64) -> u64 {
        self.next() % count
    }

    pub fn vector(&mut self, reach: f64) -> Vector3<f64> {
        Vector3::from_fn(|_, _| self.between(-reach, reach))
    }

    pub fn rotation(&mut self, reach: f64) -> Rotation3<f64> {
        Rotation3::new(self.vector(reach))
    }
}

/// A surface known only by its implicit function: |x|⁴ + |y|⁴ + |z|⁴ = r⁴ blended with a ball.
#[derive(Debug)]
pub struct Pebble {
    pub radius: f64,
}

impl<T: Real> Wrappable<T> for Pebble {
    fn value(&self, p: &Point3<T>) -> T {
        let q = p / T::lit(self.radius);
        let squares = q.coords.component_mul(&q.coords);
        squares.sum() + T::lit(0.3) * squares.dot(&squares) - T::one()
    }
    fn gradient(&self, p: &Point3<T>) -> Vector3<T> {
        let r = T::lit(self.radius);
        let q = p / r;
        q.coords.map(|x| (T::lit(2.0) * x + T::lit(1.2) * x * x * x) / r)
    }
    fn hessian(&self, p: &Point3<T>) -> Matrix3<T> {
        let r = T::lit(self.radius);
        let q = p / r;
        Matrix3::from_diagonal(&q.coords.map(|x| (T::lit(2.0) + T::lit(3.6) * x * x) / (r * r)))
    }
    fn size(&self) -> T {
        T::lit(0.5 * self.radius)
    }
}

/// A surface of two lobes with a waist between them, known only by its implicit function: an oval of Cassini turned about
/// its long axis, x.
#[derive(Debug)]
pub struct Peanut {
    /// The distance of a focus from the middle.
    pub reach: f64,
}

impl Peanut {
    /// The product of the distances from both foci, over the square of their distance from the middle: one piece with a
    /// waist between 1 and √2.
    pub const PRODUCT: f64 = 1.21;
}

impl<T: Real> Wrappable<T> for Peanut {
    fn value(&self, p: &Point3<T>) -> T {
        let q = p / T::lit(self.reach);
        let s = q.coords.norm_squared() + T::one();
        (s * s - T::lit(4.0) * q.x * q.x) / T::lit(Self::PRODUCT * Self::PRODUCT) - T::one()
    }
    fn gradient(&self, p: &Point3<T>) -> Vector3<T> {
        let q = p / T::lit(self.reach);
        let s = q.coords.norm_squared() + T::one();
        let scale = T::lit(4.0 / (Self::PRODUCT * Self::PRODUCT * self.reach));
        (q.coords * s - Vector3::x() * (T::lit(2.0) * q.x)) * scale
    }
    fn hessian(&self, p: &Point3<T>) -> Matrix3<T> {
        let q = p / T::lit(self.reach);
        let s = q.coords.norm_squared() + T::one();
        let scale = T::lit(4.0 / (Self::PRODUCT * self.reach).powi(2));
        let x = Vector3::x();
        let sum = q.coords * q.coords.transpose() - x * x.transpose();
        (Matrix3::identity() * s + sum * T::lit(2.0)) * scale
    }
    fn size(&self) -> T {
        T::lit(0.4 * self.reach)
    }
}

/// A dome of a spline, about as high as the other obstacles are thick, with a ripple.
pub fn hill(dice: &mut Dice) -> Land {
    let (height, width) = (dice.between(0.5, 0.8), dice.between(0.5, 0.8));
    let ripple = dice.between(0.0, 0.03);
    let at = |i: i32, j: i32| {
        let (x, y) = (0.15 * f64::from(i), 0.15 * f64::from(j));
        let dome = height - 0.5 * (x * x + 0.6 * y * y) / width;
        dome + ripple * (2.0 * x).sin() * (1.5 * y).cos()
    };
    let rows = (-16..=16).map(|j| (-16..=16).map(|i| at(i, j)).collect()).collect();
    Land::new(Vector2::new(-2.4, -2.4), Vector2::new(0.15, 0.15), rows)
}

/// A land of hills and hollows.
pub fn hollows(dice: &mut Dice, scale: f64) -> Land {
    let [a, b, c, d] = [0; 4].map(|_| dice.between(0.8, 3.0));
    let (swell, ripple) = (dice.between(0.1, 0.4), dice.between(0.0, 0.1));
    let phase = dice.vector(3.0);
    let at = |i: i32, j: i32| {
        let (x, y) = (0.2 * f64::from(i), 0.2 * f64::from(j));
        let swell = swell * (a * x + phase.x).sin() * (b * y + phase.y).cos();
        scale * (swell + ripple * (2.0 * c * x + phase.z).sin() + ripple * (2.0 * d * y).cos())
    };
    let rows = (-10..=10).map(|j| (-10..=10).map(|i| at(i, j)).collect()).collect();
    Land::new(Vector2::new(-2.0, -2.0) * scale, Vector2::new(0.2, 0.2) * scale, rows)
}

/// Where a body starts, how far it shifts and turns, and when in its swing it starts.
type Motion = (Pose<f64>, Vector3<f64>, Vector3<f64>, f64);

fn add_body(
    system: &mut ForceSystem<f64>,
    motions: &mut Vec<Motion>,
    dice: &mut Dice,
    p: Vector3<f64>,
) -> (BodyIndex, Rotation3<f64>) {
    let R = dice.rotation(1.5);
    let X = Pose::from_parts(Translation3::from(p), R);
    motions.push((X, dice.vector(0.35), dice.vector(0.25), dice.between(0.0, 6.3)));
    (system.add_body(), R)
}

/// A cable in a system whose bodies move along given curves.
pub struct Scene {
    pub system: ForceSystem<f64>,
    pub state: State<f64>,
    pub cable: Handle<CableSpring<f64>>,
    motions: Vec<Motion>,
    solids: Vec<Solid>,
    /// The obstacles of each span, between fixed points.
    spans: Vec<Range<usize>>,
    /// How deep a straight segment may run into a surface \[m\].
    grazed: f64,
}

impl Scene {
    /// A random scene of 1 to 6 waypoints of every kind.
    pub fn random(seed: u64) -> Result<Self, Error> {
        let mut dice = Dice::new(seed);
        let mut system = ForceSystem::new();
        let mut motions = Vec::new();
        let count = 1 + dice.below(6);
        let deep = dice.between(0.0, 1.6);
        let start = Vector3::new(-1.6, dice.between(-deep, 0.4), dice.between(-0.3, 0.3));
        let (first, _) = add_body(&mut system, &mut motions, &mut dice, start);
        #[allow(clippy::cast_precision_loss, reason = "at most 6")]
        let far = 2.0 * count as f64 - 0.4;
        let end = Vector3::new(far, dice.between(-deep, 0.4), dice.between(-0.3, 0.3));
        let (last, _) = add_body(&mut system, &mut motions, &mut dice, end);
        let station = |body, dice: &mut Dice| Station { body, p_B: dice.vector(0.1).into() };
        let mut path = CablePath::new(station(first, &mut dice), station(last, &mut dice))?;
        let mut solids = Vec::new();
        let mut spans = Vec::new();
        for i in 0..count {
            #[allow(clippy::cast_precision_loss, reason = "at most 5")]
            let x = 2.0 * i as f64 + dice.between(-0.15, 0.15);
            let zigzag = if dice.below(3) == 0 && i % 2 == 1 { -1.0 } else { 1.0 };
            let y = zigzag * dice.between(-0.55, -0.25);
            let z = dice.between(-0.15, 0.15);
            let kind = dice.below(7);
            let centre = match kind {
                6 => Vector3::new(x, zigzag * dice.between(0.0, 0.4), z),
                3 => Vector3::new(x, zigzag * dice.between(1.5, 1.9), z),
                4 => Vector3::new(x, y - 0.5 * zigzag, z),
                _ => Vector3::new(x, y, z),
            };
            let (on, R_GB) = add_body(&mut system, &mut motions, &mut dice, centre);
            // The pose of the surface in Ground at the start, seen from its body.
            let upright = Rotation3::from_axis_angle(
                &Vector3::x_axis(),
                if zigzag > 0.0 { 0.0 } else { core::f64::consts::PI },
            );
            let R_GS = upright
                * match kind {
                    3 => {
                        dice.rotation(0.2)
                            * Rotation3::from_axis_angle(&Vector3::y_axis(), core::f64::consts::FRAC_PI_2)
                    }
                    4 => {
                        dice.rotation(0.15)
                            * Rotation3::from_axis_angle(&Vector3::x_axis(), -core::f64::consts::FRAC_PI_2)
                    }
                    1 => dice.rotation(0.3),
                    _ => dice.rotation(1.5),
                };
            let X_BS = Pose::from_parts(Translation3::identity(), R_GB.inverse() * R_GS);
            let solid = match kind {
                0 => Solid::Ball(dice.between(0.4, 0.8)),
                1 => Solid::Rod(dice.between(0.4, 0.8)),
                2 => Solid::Egg(Vector3::from_fn(|_, _| dice.between(0.4, 1.1))),
                3 => Solid::Ring(dice.between(1.7, 2.3), dice.between(0.3, 0.6)),
                4 => Solid::Land(hill(&mut dice)),
                5 => Solid::Pebble(dice.between(0.5, 0.8)),
                _ => {
                    path = path.through(station(on, &mut dice))?;
                    spans.push(solids.len());
                    continue;
                }
            };
            let mut over = solid.obstacle(on, X_BS)?;
            if let Solid::Ring(ring, tube) = solid {
                let hint = R_GS.inverse() * Vector3::new(0.0, -zigzag * (ring - tube), 0.0);
                over = over.with_contact_hint(hint.into())?;
            }
            path = path.over(over);
            solids.push(solid);
        }
        spans.push(solids.len());
        let starts = core::iter::once(0).chain(spans.clone());
        let spans = starts.zip(spans).map(|(start, end)| start..end).collect();
        let cable = system.add(CableSpring::new(
            path,
            cable_spring::Parameters { stiffness: 100.0, slack_length: 0.0, dissipation: 0.1 },
        )?)?;
        let state = system.default_state();
        let mut scene = Self { system, state, cable, motions, solids, spans, grazed: GRAZED };
        scene.move_to(0.0)?;
        Ok(scene)
    }

    /// A random line across one ring or several, or over a land with hollows, of any size and anywhere, in
    /// slow motion.
    pub fn crossing(seed: u64) -> Result<Self, Error> {
        let mut dice = Dice::new(seed ^ 0x5EED);
        let scale = [1e-3, 1.0, 1e3][usize::try_from(dice.below(3)).unwrap_or(0)];
        let world = Pose::from_parts(Translation3::from(dice.vector(4.0 * scale)), dice.rotation(3.0));
        let mut system = ForceSystem::new();
        let mut motions: Vec<Motion> = Vec::new();
        let mut body = |p: Vector3<f64>, dice: &mut Dice| {
            let at = world * Pose::from_parts(Translation3::from(p * scale), dice.rotation(3.0));
            motions.push((at, dice.vector(0.15 * scale), dice.vector(0.2), dice.between(0.0, 6.3)));
            (system.add_body(), at.inverse() * world)
        };
        let across = dice.below(2) == 0;
        let count = if across { 1 + dice.below(3) } else { 1 };
        #[allow(clippy::cast_precision_loss, reason = "at most 3")]
        let far = 2.5 * count as f64;
        let (low, high) = if across { (-1.2, 1.2) } else { (-0.3, 0.8) };
        let mut station = |x: f64, dice: &mut Dice| {
            let p = Vector3::new(x, dice.between(-1.2, 1.2), dice.between(low, high));
            let (body, X_BW) = body(p, dice);
            // The body turns about some other point.
            (Station { body, p_B: Point3::from(dice.vector(0.1 * scale)) }, X_BW)
        };
        let (from, _) = station(-2.6, &mut dice);
        let (to, _) = station(far, &mut dice);
        let mut path = CablePath::new(from, to)?;
        let mut solids = Vec::new();
        for i in 0..count {
            #[allow(clippy::cast_precision_loss, reason = "at most 2")]
            let centre = Vector3::new(2.5 * i as f64, 0.0, 0.0);
            let turn = if across { dice.rotation(3.0) } else { dice.rotation(0.2) };
            let X_WS = Pose::from_parts(Translation3::from(centre * scale), turn);
            let (on, X_BW) = body(centre, &mut dice);
            let solid = if across {
                let ring = dice.between(0.6, 1.1);
                Solid::Ring(ring * scale, ring * dice.between(0.1, 0.6) * scale)
            } else {
                Solid::Land(hollows(&mut dice, scale))
            };
            path = path.over(solid.obstacle(on, X_BW * X_WS)?);
            solids.push(solid);
        }
        let spans = core::iter::once(0..solids.len()).collect();
        let cable = system.add(CableSpring::new(
            path,
            cable_spring::Parameters { stiffness: 100.0, slack_length: 0.0, dissipation: 0.1 },
        )?)?;
        let state = system.default_state();
        let mut scene = Self { system, state, cable, motions, solids, spans, grazed: GRAZED * scale };
        scene.move_to(0.0)?;
        Ok(scene)
    }

    /// Puts every body where it is at this time of its motion.
    pub fn move_to(&mut self, time: f64) -> Result<(), Error> {
        for (body, (base, shift, turn, phase)) in self.system.bodies().zip(&self.motions) {
            let wave = (time + phase).sin() - phase.sin();
            let rate = (time + phase).cos();
            let R = Rotation3::new(turn * wave) * base.rotation;
            let p = base.translation.vector + shift * wave;
            let V = SpatialVelocity::new(turn * rate, shift * rate);
            self.state.set_body(body, Pose::from_parts(Translation3::from(p), R), V)?;
        }
        Ok(())
    }
}

/// How many paths were found in each way, and what happened on the way.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counts {
    pub warm: usize,
    pub relaxed: usize,
    pub cold: usize,
    pub restarted: usize,
    pub touchdowns: usize,
    pub liftoffs: usize,
    pub iterations: usize,
}

impl Scene {
    /// Solves at a time; returns length and tracking.
    pub fn solve(&mut self, time: f64, counts: &mut Counts) -> Result<(f64, Tracking), Error> {
        let was: Vec<_> = self.state.discrete(self.cable).wraps.wraps.clone();
        self.move_to(time)?;
        let dynamics = self.system.realize_dynamics(&mut self.state)?;
        let path = &dynamics.of(self.cable).position.path;
        match path.tracking {
            Tracking::Warm => counts.warm += 1,
            Tracking::Followed | Tracking::Relaxed => counts.relaxed += 1,
            Tracking::Cold => counts.cold += 1,
            Tracking::Restarted => counts.restarted += 1,
        }
        counts.iterations += path.iterations;
        let of_obstacles = path.contacts.chunk_by(|a, b| a.obstacle == b.obstacle);
        for (before, now) in was.iter().zip(of_obstacles.map(|contacts| contacts[0].in_contact)) {
            if before.known && before.in_contact != now {
                *(if now { &mut counts.touchdowns } else { &mut counts.liftoffs }) += 1;
            }
        }
        Ok((path.length, path.tracking))
    }

    /// Where a straight segment of the path last found runs into an obstacle that it touches or passes,
    /// deeper than its kinks allow.
    pub fn dive(&mut self) -> Result<Option<Dive>, Error> {
        let view = self.system.realize_position(&mut self.state)?;
        let all = dives(&self.solids, &self.spans, &view.of(self.cable).position.path);
        Ok(all.into_iter().find(|dive| dive.depth > self.grazed))
    }

    pub fn accept(&mut self) -> Result<(), Error> {
        self.system.accept_step(&mut self.state)
    }
}

/// A straight segment may run this deep into a surface, in a scene of some metres \[m\]: it leaves it with a
/// kink of at most some 1e-9 rad.
pub const GRAZED: f64 = 2e-8;

/// Follows a cable across rings and hollows for a while; returns how many of its paths were found, and why the
/// next was not.
pub fn cross(seed: u64) -> Result<(u32, Option<Dive>, Option<PathError>), Error> {
    const STEPS: u32 = 20;
    let mut scene = Scene::crossing(seed)?;
    for step in 0..STEPS {
        let path = scene.solve(0.05 * f64::from(step), &mut Counts::default());
        if let Err(error) = path {
            let refused = error.own::<PathError>().cloned();
            return if refused.is_some() { Ok((step, None, refused)) } else { Err(error) };
        }
        if let Some(dive) = scene.dive()? {
            return Ok((step, Some(dive), None));
        }
        scene.accept()?;
    }
    Ok((STEPS, None, None))
}
