//! A capsule pinched between two plates, and a block on a plane that tilts: who holds them, by each friction.

use core::f64::consts::{FRAC_PI_2, PI};
use std::sync::Arc;

use force_elements::elastic_foundation::{self, Material};
use force_elements::exponential_spring;
use force_elements::nalgebra::{Point3, Rotation3, Translation3, Vector3};
use force_elements::shapes::{HalfSpace, ShapeError, TriangleMesh};
use force_elements::simulation::{DormandPrince, Plant, RigidBody, Simulation, SimulationError};
use force_elements::{
    BodyIndex, ElasticFoundation, Error, ExponentialSpring, ForceSystem, Frame, Handle, Pose, SpatialForce,
    SpatialVelocity, State, Station,
};

pub const MU_STATIC: f64 = 0.7;
pub const MU_KINETIC: f64 = 0.5;
const GRAVITY: f64 = 9.81;
const ACCURACY: f64 = 1e-7;

/// The friction that holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Friction {
    /// Of exponential springs.
    Springs { settling: bool },
    /// Of a foundation, after Hollars.
    Hollars,
    /// Of a foundation.
    Anchors,
}

impl Friction {
    pub const ALL: [Self; 4] =
        [Self::Springs { settling: true }, Self::Springs { settling: false }, Self::Hollars, Self::Anchors];

    pub fn name(self) -> &'static str {
        match self {
            Self::Springs { settling: true } => "exponential springs, settling",
            Self::Springs { settling: false } => "exponential springs, return mapping",
            Self::Hollars => "foundation, Hollars",
            Self::Anchors => "foundation, anchors",
        }
    }

    /// Whether it remembers a place in which it holds.
    pub fn holds(self) -> bool {
        matches!(self, Self::Springs { settling: false } | Self::Anchors)
    }
}

/// A place over time.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    pub time: f64,
    /// How far it has moved along the load \[m\].
    pub moved: f64,
    /// How fast it moves along the load \[m/s\].
    pub speed: f64,
}

/// The mean speed from one time on \[m/s\].
pub fn creep_after(samples: &[Sample], time: f64) -> f64 {
    let later = samples.iter().find(|sample| sample.time >= time).zip(samples.last());
    later.map_or(f64::NAN, |(from, to)| (to.moved - from.moved) / (to.time - from.time))
}

/// A body that touches planes: with stations for exponential springs, or a mesh for a foundation.
struct Touching<'a> {
    body: BodyIndex,
    mesh: &'a Arc<TriangleMesh<f64>>,
    planes: &'a [(Frame<f64>, &'a [Point3<f64>])],
    /// Of a foundation, and along the surface the same.
    stiffness: f64,
    /// Along the surface, of a foundation \[N·s/m³\].
    viscosity: f64,
}

/// Adds the contacts; returns exponential springs.
fn touch(
    system: &mut ForceSystem<f64>,
    friction: Friction,
    touching: &Touching<'_>,
) -> Result<Vec<Handle<ExponentialSpring<f64>>>, Error> {
    let mut springs = Vec::new();
    if let Friction::Springs { settling } = friction {
        let parameters = parameters(settling);
        for (plane, stations) in touching.planes {
            for &p_B in *stations {
                let station = Station::on(touching.body, p_B);
                springs.push(system.add(ExponentialSpring::new(*plane, station, parameters)?)?);
            }
        }
        return Ok(springs);
    }
    let parameters = elastic_foundation::Parameters { clipped: true, ..Default::default() };
    let mut foundation = ElasticFoundation::new(parameters)?;
    if friction == Friction::Anchors {
        foundation = foundation.with_anchors();
    }
    for (plane, _) in touching.planes {
        foundation.add_rigid(*plane, HalfSpace::BelowZ)?;
    }
    let material = Material::new(touching.stiffness)
        .with_dissipation(exponential_spring::Parameters::<f64>::default().normal_viscosity)
        .with_friction(MU_STATIC, MU_KINETIC, 0.0)
        .with_grip(touching.stiffness, touching.viscosity);
    foundation.add_springs(Frame::of(touching.body), Arc::clone(touching.mesh), material)?;
    system.add(foundation)?;
    Ok(springs)
}

fn parameters(settling: bool) -> exponential_spring::Parameters<f64> {
    exponential_spring::Parameters {
        mu_static: MU_STATIC,
        mu_kinetic: MU_KINETIC,
        settling,
        release_velocity: 2e-4,
        ..Default::default()
    }
}

/// The anchors of all springs where they are, with this Sliding.
fn anchor(
    system: &ForceSystem<f64>,
    state: &mut State<f64>,
    springs: &[Handle<ExponentialSpring<f64>>],
    sliding: f64,
) -> Result<(), Error> {
    system.reset_memories(state)?;
    springs
        .iter()
        .try_for_each(|&spring| system.update_discrete(state, spring, |discrete| discrete.sliding = sliding))
}

/// A capsule of 0.4 kg, lying, between two upright plates that press it from both sides.
pub struct Pinch {
    system: ForceSystem<f64>,
    plant: Plant<f64>,
    capsule: BodyIndex,
    springs: Vec<Handle<ExponentialSpring<f64>>>,
}

/// Of the capsule: mass \[kg\], radius and half the length of its straight part \[m\].
const CAPSULE: [f64; 3] = [0.4, 0.03, 0.05];
/// Weight over what static friction can hold.
pub const PINCH_SHARE: f64 = 0.5;
/// How hard each plate presses \[N\].
const PRESSED: f64 = CAPSULE[0] * GRAVITY / (2.0 * MU_STATIC * PINCH_SHARE);
/// By which a foundation is pressed in by 0.3 mm: `f = 8/3 k L δ √(2 R δ)` of a straight part that is 2 L long \[N/m³\].
const SOFTNESS: f64 = 3.3e7;

impl Pinch {
    pub fn new(friction: Friction) -> Result<Self, SimulationError> {
        let [_, radius, half_length] = CAPSULE;
        let mesh = Arc::new(capsule_mesh(radius, half_length)?);
        let squeeze = match friction {
            Friction::Springs { settling } => -parameters(settling).resting_height(PRESSED / 2.0)?,
            Friction::Hollars | Friction::Anchors => {
                let (mut low, mut high) = (0.0, 0.1 * radius);
                for _ in 0..50 {
                    let middle = 0.5 * (low + high);
                    let pinch = Self::squeezed(friction, &mesh, middle)?;
                    if pinch.pressure()? < PRESSED { low = middle } else { high = middle }
                }
                low
            }
        };
        Self::squeezed(friction, &mesh, squeeze)
    }

    /// Between plates this much nearer than its sides.
    fn squeezed(
        friction: Friction,
        mesh: &Arc<TriangleMesh<f64>>,
        squeeze: f64,
    ) -> Result<Self, SimulationError> {
        let [mass, radius, half_length] = CAPSULE;
        let mut system = ForceSystem::new();
        let mut plant = Plant::new(Vector3::new(0.0, 0.0, -GRAVITY))?;
        // About every axis that of a cylinder about its own.
        let inertia = RigidBody::with_equal_inertia(mass, 0.5 * mass * radius * radius)?;
        let capsule = plant.add_body(&mut system, inertia);
        let plate = |side: f64| {
            let R = Rotation3::from_axis_angle(&Vector3::y_axis(), -side * FRAC_PI_2);
            Frame::ground(Pose::from_parts(Translation3::new(side * (radius - squeeze), 0.0, 0.0), R))
        };
        let stations = |side: f64| [-1.0, 1.0].map(|end| Point3::new(side * radius, end * half_length, 0.0));
        let (left, right) = (stations(-1.0), stations(1.0));
        // The contacts are 8 mm wide; along the plates the capsule vibrates with 0.3 of critical damping.
        let area = 2.0 * 2.0 * half_length * 8.4e-3;
        let touching = Touching {
            body: capsule,
            mesh,
            planes: &[(plate(-1.0), &left), (plate(1.0), &right)],
            stiffness: SOFTNESS,
            viscosity: 0.6 * (SOFTNESS * mass / area).sqrt(),
        };
        let springs = touch(&mut system, friction, &touching)?;
        Ok(Self { system, plant, capsule, springs })
    }

    /// How hard a foundation presses on each plate \[N\].
    fn pressure(&self) -> Result<f64, Error> {
        let mut state = self.system.default_state();
        let view = self.system.realize_dynamics(&mut state)?;
        Ok(0.5 * view.result("elastic_foundation[0].normal_force")?)
    }

    /// From rest with its anchors in place, or falling at a speed.
    pub fn run(&self, falling: f64, end: f64) -> Result<Vec<Sample>, SimulationError> {
        let mut state = self.system.default_state();
        let V = SpatialVelocity::new(Vector3::zeros(), Vector3::new(0.0, 0.0, -falling));
        state.set_velocity(self.capsule, V)?;
        anchor(&self.system, &mut state, &self.springs, if falling > 0.0 { 1.0 } else { 0.0 })?;
        let mut simulation = Simulation::new(&self.system, &self.plant, state)?;
        let mut samples = Vec::new();
        simulation.run(&mut DormandPrince::new(ACCURACY), end, |simulation| {
            let state = simulation.state();
            samples.push(Sample {
                time: simulation.time(),
                moved: -state.positions().pose(self.capsule).translation.vector.z,
                speed: -state.velocities().velocity(self.capsule).linear.z,
            });
        })?;
        Ok(samples)
    }
}

/// A capsule about y, of rings of 96 vertices.
fn capsule_mesh(radius: f64, half_length: f64) -> Result<TriangleMesh<f64>, ShapeError> {
    const AROUND: u32 = 96;
    const CAP: u32 = 16;
    const ALONG: u32 = 8;
    // Height and radius of each ring.
    let cap = (1..=CAP).map(|j| {
        let (sine, cosine) = (FRAC_PI_2 * f64::from(j) / f64::from(CAP)).sin_cos();
        (half_length + radius * cosine, radius * sine)
    });
    let cap: Vec<(f64, f64)> = cap.collect();
    let straight = (1..ALONG).map(|j| (half_length * (1.0 - 2.0 * f64::from(j) / f64::from(ALONG)), radius));
    let lower = cap.iter().rev().map(|&(y, r)| (-y, r));
    let rings: Vec<(f64, f64)> = cap.iter().copied().chain(straight).chain(lower).collect();

    let mut vertices = vec![Point3::new(0.0, half_length + radius, 0.0)];
    for &(y, r) in &rings {
        vertices.extend((0..AROUND).map(|i| {
            let (sine, cosine) = (2.0 * PI * f64::from(i) / f64::from(AROUND)).sin_cos();
            Point3::new(r * cosine, y, r * sine)
        }));
    }
    vertices.push(Point3::new(0.0, -half_length - radius, 0.0));
    let count = u32::try_from(rings.len()).unwrap_or(0);
    let at = |ring: u32, i: u32| 1 + ring * AROUND + i % AROUND;
    let mut faces = Vec::new();
    for i in 0..AROUND {
        faces.push([0, at(0, i + 1), at(0, i)]);
        for ring in 0..count - 1 {
            let [a, b, c, d] = [at(ring, i), at(ring, i + 1), at(ring + 1, i + 1), at(ring + 1, i)];
            faces.push([a, b, c]);
            faces.push([a, c, d]);
        }
        faces.push([at(count - 1, i), at(count - 1, i + 1), 1 + count * AROUND]);
    }
    TriangleMesh::closed(&vertices, &faces)
}

/// A block of 10 kg on a plane that tilts.
pub struct Tilt {
    system: ForceSystem<f64>,
    plant: Plant<f64>,
    plane: BodyIndex,
    block: BodyIndex,
    springs: Vec<Handle<ExponentialSpring<f64>>>,
    /// Of the middle of the block over the plane.
    height: f64,
}

/// Half the height of a cube, and of a slab, of the same width \[m\].
pub const CUBE: f64 = BLOCK[1];
pub const SLAB: f64 = 0.01;
/// Mass \[kg\] and half the width \[m\] of the block.
const BLOCK: [f64; 2] = [10.0, 0.1];
/// So heavy that nothing pushes it \[kg\].
const PLANE: f64 = 1e12;
/// A millimetre of depth bears the weight \[N/m³\].
const BED: f64 = BLOCK[0] * GRAVITY / (4.0 * BLOCK[1] * BLOCK[1] * 1e-3);

impl Tilt {
    /// A block of half this height \[m\].
    pub fn new(friction: Friction, half_height: f64) -> Result<Self, SimulationError> {
        let [mass, half] = BLOCK;
        let mut system = ForceSystem::new();
        let mut plant = Plant::new(Vector3::new(0.0, 0.0, -GRAVITY))?;
        // It turns at a constant rate, and does not fall.
        let plane = plant.add_body(&mut system, RigidBody::with_equal_inertia(PLANE, PLANE)?);
        let hold = SpatialForce::new(Vector3::zeros(), Vector3::new(0.0, 0.0, PLANE * GRAVITY));
        plant.set_body_load(plane, hold)?;
        // It turns about y alone.
        let inertia = mass * (half * half + half_height * half_height) / 3.0;
        let block = plant.add_body(&mut system, RigidBody::with_equal_inertia(mass, inertia)?);
        let mesh = Arc::new(TriangleMesh::brick(Vector3::new(half, half, half_height), [4; 3])?);
        let corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
        let corners = corners.map(|(x, y)| Point3::new(x * half, y * half, -half_height));
        // Along the plane the block vibrates at 100 rad/s, with 0.3 of critical damping.
        let touching = Touching {
            body: block,
            mesh: &mesh,
            planes: &[(Frame::of(plane), &corners)],
            stiffness: BED,
            viscosity: 0.6 * (BED * mass / (4.0 * half * half)).sqrt(),
        };
        let springs = touch(&mut system, friction, &touching)?;
        let height = match friction {
            Friction::Springs { settling } => {
                half_height + parameters(settling).resting_height(mass * GRAVITY / 4.0)?
            }
            Friction::Hollars | Friction::Anchors => half_height - 1e-3,
        };
        Ok(Self { system, plant, plane, block, springs, height })
    }

    /// The block at rest on the plane, which is at an angle \[rad\] at first and turns at a rate \[rad/s\]. Ends where `is_over`.
    pub fn run(
        &self,
        angle: f64,
        rate: f64,
        end: f64,
        is_over: impl Fn(&Sample) -> bool,
    ) -> Result<Vec<Sample>, SimulationError> {
        let spin = SpatialVelocity::new(Vector3::y() * rate, Vector3::zeros());
        let X_GP =
            Pose::from_parts(Translation3::identity(), Rotation3::from_axis_angle(&Vector3::y_axis(), angle));
        let X_GB = X_GP * Pose::translation(0.0, 0.0, self.height);
        let mut state = self.system.default_state();
        state.set_body(self.plane, X_GP, spin)?;
        state.set_body(self.block, X_GB, spin.shifted(X_GB.translation.vector))?;
        anchor(&self.system, &mut state, &self.springs, 0.0)?;
        let mut simulation = Simulation::new(&self.system, &self.plant, state)?;
        let mut samples: Vec<Sample> = Vec::new();
        let mut time = 0.0;
        while time < end && !samples.last().is_some_and(&is_over) {
            time = (time + 0.05_f64).min(end);
            simulation.run(&mut DormandPrince::new(ACCURACY), time, |simulation| {
                let (positions, velocities) =
                    (simulation.state().positions(), simulation.state().velocities());
                let [X_GP, X_GB] = [self.plane, self.block].map(|body| *positions.pose(body));
                let [V_GP, V_GB] = [self.plane, self.block].map(|body| *velocities.velocity(body));
                let apart = X_GB.translation.vector - X_GP.translation.vector;
                let v_G = V_GB.linear - V_GP.shifted(apart).linear;
                samples.push(Sample {
                    time: simulation.time(),
                    moved: X_GP.rotation.inverse_transform_vector(&apart).x,
                    speed: X_GP.rotation.inverse_transform_vector(&v_G).x,
                });
            })?;
        }
        Ok(samples)
    }
}
