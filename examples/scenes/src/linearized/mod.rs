//! A corpus of random states, in all options and branches of the elements that write their derivatives, and what is
//! required of their linearization.

mod bushings;
mod cable;
mod capstan;
mod columns;
mod coordinate;
mod foundation;
mod hertz;
mod kinks;
mod moving;
mod spring;

use force_elements::nalgebra::{Rotation3, Translation3, Vector3};
use force_elements::testing::{self, Agreement, Curve, Finding, Numbers, Scene, Subject, Violation};
use force_elements::{BodyIndex, Error, ForceSystem, Linearization, Pose, Real, SpatialVelocity, State};
use num_dual::Dual64;

pub use bushings::{AnyLinearBushing, AnySpatialBushing};
pub use cable::AnyCable;
pub use capstan::AnyCapstan;
pub use columns::{Columns, Course, Instant, columns};
pub use coordinate::AnyCoordinate;
pub use foundation::AnyFoundation;
pub use hertz::AnyHertz;
pub use kinks::{Kinks, walk};
pub use moving::Moving;
pub use spring::AnySpring;

/// An element in scenes of all its options.
pub trait Kind: Subject {
    const NAME: &'static str;
    /// Whether it is made of many parts with kinks of their own.
    const HAS_PARTS: bool = false;
    /// Whether no branch announces the kinks of a number of the memory, by its place.
    fn is_quiet(_: usize) -> bool {
        false
    }

    /// The greatest tension in a scene at Dynamics stage, which may cancel in the forces on bodies; zero if there is none.
    fn tension(_: &Scene<f64, Self::Element<f64>>) -> Result<f64, Error> {
        Ok(0.0)
    }

    /// Whether the forces of a scene at Dynamics stage are more than rounding leaves of differences.
    fn is_resolved(_: &Scene<f64, Self::Element<f64>>) -> Result<bool, Error> {
        Ok(true)
    }

    /// The options and branches of a scene at Dynamics stage that its linearization does not state.
    fn marks(seed: u64, scene: &Scene<f64, Self::Element<f64>>) -> Result<Vec<&'static str>, Error>;
}

/// What became of a state.
#[derive(Debug)]
pub enum Outcome {
    /// The element cannot be evaluated there.
    Refused(Error),
    /// The linearization is right.
    Right(Report),
}

#[derive(Debug)]
pub struct Report {
    /// Options and branches, each once.
    pub marks: Vec<&'static str>,
    /// With dual numbers.
    pub agreement: Agreement,
    /// With differences of a moving scene.
    pub moving: Moving,
}

/// A subject with exact derivatives.
#[derive(Debug)]
pub struct Exact<S>(S);

impl<S: Subject> Subject for Exact<S> {
    type Element<T: Real> = S::Element<T>;
    const PRECISION: f64 = f64::EPSILON;

    fn scene<T: Real>(numbers: &mut Numbers) -> Result<Scene<T, S::Element<T>>, Error> {
        S::scene(numbers)
    }

    fn rate(curve: &Curve<'_, Self>) -> Result<f64, Error> {
        Ok(curve.at(Dual64::new(0.0, 1.0))?.eps)
    }
}

/// Checks the linearization of the state of a seed: against dual numbers, its transpose, its matrices, and against
/// differences of the forces in motion.
pub fn examine<K: Kind>(seed: u64) -> Result<Outcome, Violation> {
    let mut scene = match K::scene::<f64>(&mut Numbers::new(seed)) {
        Ok(scene) => scene,
        Err(error) => return Ok(Outcome::Refused(error)),
    };
    if let Err(error) = scene.system.realize_dynamics(&mut scene.state) {
        return Ok(Outcome::Refused(error));
    }
    let agreement = testing::linearization::<Exact<K>>(seed)?;
    let check = || {
        let mut linearization = Linearization::new();
        scene.system.linearize(&scene.state, &mut linearization)?;
        let mut marks = K::marks(seed, &scene)?;
        let branches = linearization.element(scene.element).branches();
        marks.extend(branches.iter().map(|branch| branch.name));
        marks.sort_unstable();
        marks.dedup();
        let tension = K::tension(&scene)?;
        let deal = &mut Numbers::new(!seed);
        let moving = moving::compare(&scene.system, &scene.state, &linearization, tension, deal)?;
        Ok(Outcome::Right(Report { marks, agreement, moving }))
    };
    check().map_err(|finding: Finding| Violation { claim: "the linearization", seed, finding })
}

/// Whether something with this chance happens.
fn toss(deal: &mut Numbers, chance: f64) -> bool {
    deal.between::<f64>(0.0, 1.0) < chance
}

/// One of so many.
fn pick(deal: &mut Numbers, count: u32) -> u32 {
    let dice = deal.between::<f64>(0.0, f64::from(count));
    (1..count).take_while(|&side| f64::from(side) <= dice).count().try_into().unwrap_or(0)
}

/// A number between these of any order of magnitude.
fn spread<T: Real>(deal: &mut Numbers, low: f64, high: f64) -> T {
    let exponent = deal.between::<f64>(low.ln(), high.ln());
    T::lit(exponent.exp())
}

/// A number or zero.
fn or_zero<T: Real>(deal: &mut Numbers, low: f64, high: f64) -> T {
    let number = spread(deal, low, high);
    if toss(deal, 0.25) { T::zero() } else { number }
}

/// Two bodies, of which one may be Ground.
fn two_bodies<T: Real>(deal: &mut Numbers, system: &mut ForceSystem<T>) -> [BodyIndex; 2] {
    match pick(deal, 4) {
        0 => [BodyIndex::GROUND, system.add_body()],
        1 => [system.add_body(), BodyIndex::GROUND],
        _ => [system.add_body(), system.add_body()],
    }
}

/// Two bodies whose frames are at `X_FM` to each other, and move so fast relative to each other at M.
fn place<T: Real>(
    state: &mut State<T>,
    bodies: [BodyIndex; 2],
    [X_AF, X_BM]: [Pose<T>; 2],
    X_FM: Pose<T>,
    speed: f64,
    deal: &mut Numbers,
) -> Result<(), Error> {
    let X_AB = X_AF * X_FM * X_BM.inverse();
    let mut X_GA: Pose<T> = deal.pose(1.5, 1.0);
    let mut V_GA: SpatialVelocity<T> = deal.velocity(1.0);
    let (turning, sliding) = (deal.vector::<T>(speed), deal.vector::<T>(speed));
    if bodies[0] == BodyIndex::GROUND {
        (X_GA, V_GA) = (Pose::identity(), SpatialVelocity::zero());
    } else if bodies[1] == BodyIndex::GROUND {
        X_GA = X_AB.inverse();
    }
    let X_GB = X_GA * X_AB;
    let p_GM = (X_GB * X_BM).translation.vector;
    // A moves such that B is at rest, or B as A does, each with the relative velocity at M.
    let r_A = X_GA.translation.vector;
    let r_B = X_GB.translation.vector;
    if bodies[1] == BodyIndex::GROUND {
        V_GA = SpatialVelocity::new(turning, sliding).shifted(r_A - p_GM);
    }
    if bodies[0] != BodyIndex::GROUND {
        state.set_body(bodies[0], X_GA, V_GA)?;
    }
    if bodies[1] != BodyIndex::GROUND {
        let at_M = V_GA.shifted(p_GM - r_A);
        let V = SpatialVelocity::new(at_M.angular + turning, at_M.linear + sliding).shifted(r_B - p_GM);
        state.set_body(bodies[1], X_GB, V)?;
    }
    Ok(())
}

/// A pose of plain numbers.
fn pose<T: Real>(R: Rotation3<f64>, p: Vector3<f64>) -> Pose<T> {
    let R = Rotation3::from_matrix_unchecked(R.matrix().map(T::lit));
    Pose::from_parts(Translation3::from(p.map(T::lit)), R)
}

/// Which of the bodies of a pair is Ground.
fn mark_ground(marks: &mut Vec<&'static str>, bodies: [BodyIndex; 2]) {
    match bodies.map(|body| body == BodyIndex::GROUND) {
        [true, _] => marks.push("first body Ground"),
        [_, true] => marks.push("second body Ground"),
        _ => marks.push("two bodies"),
    }
}
