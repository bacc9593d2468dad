//! Paths of cables: which is found, what is remembered of it, the forces along it, and refusals.
#![allow(non_snake_case, reason = "monogram notation")]

mod bones;
mod crossings;
mod derivatives;
mod ends;
mod forces;
mod free;
mod height_maps;
mod hints;
mod long_steps;
mod memory;
mod middles;
mod nasty;
mod paths;
mod refusals;
mod scalars;
mod searches;
mod turning;
mod twice;
mod windings;

use force_elements::cable::{CablePath, Obstacle, PathError, Wrappable};
use force_elements::nalgebra::{Point3, Vector3};
use force_elements::{
    BodyIndex, CableSpring, Error, ForceSystem, Frame, Handle, Pose, Real, Station, cable_spring,
};
use force_elements_scenes::cables::{Counts, Scene};

const GROUND: BodyIndex = BodyIndex::GROUND;

fn fixed<T: Real>(x: f64, y: f64, z: f64) -> Station<T> {
    Station { body: GROUND, p_B: Point3::new(x, y, z).map(T::lit) }
}

fn on_ground<T: Real>(surface: impl Wrappable<T>) -> Result<Obstacle<T>, PathError> {
    Obstacle::new(Frame::ground(Pose::identity()), surface)
}

/// A system, its body and its cable.
type Rig<T> = (ForceSystem<T>, BodyIndex, Handle<CableSpring<T>>);

/// A cable from a fixed point over obstacles to the origin of a body.
fn one_end_free<T: Real>(
    from: Station<T>,
    obstacles: impl IntoIterator<Item = Obstacle<T>>,
) -> Result<Rig<T>, Error> {
    let mut system = ForceSystem::new();
    let body = system.add_body();
    let mut path = CablePath::new(from, Station { body, p_B: Point3::origin() })?;
    for obstacle in obstacles {
        path = path.over(obstacle);
    }
    let cable = system.add(CableSpring::new(
        path,
        cable_spring::Parameters {
            stiffness: T::lit(100.0),
            slack_length: T::lit(1.0),
            dissipation: T::lit(0.3),
        },
    )?)?;
    Ok((system, body, cable))
}

/// The shortest way between two points past a ball: two tangents and an arc.
fn past_ball<T: Real>(a: Vector3<T>, b: Vector3<T>, r: f64) -> T {
    let r = T::lit(r);
    // The arc cosine of a product would lose half the digits where the two are opposite.
    let angle = a.cross(&b).norm().atan2(a.dot(&b)) - (r / a.norm()).acos() - (r / b.norm()).acos();
    (a.norm_squared() - r * r).sqrt() + (b.norm_squared() - r * r).sqrt() + r * angle
}

/// Scenes of two obstacles or more, moved some way along.
fn moving_scenes(count: usize) -> impl Iterator<Item = (Scene, f64)> {
    (0..)
        .filter_map(|seed| {
            let mut scene = Scene::random(seed).ok()?;
            let time = 0.02 * f64::from(u32::try_from(seed % 10).ok()?);
            scene.solve(time, &mut Counts::default()).ok()?;
            let is_long = scene.state.discrete(scene.cable).wraps.wraps.len() > 1;
            is_long.then_some((scene, time))
        })
        .take(count)
}
