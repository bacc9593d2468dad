//! Balls in contact in a random place, for any scalar.

use force_elements::hertz_contact::Parameters;
use force_elements::nalgebra::{Point3, Translation3, Vector3};
use force_elements::testing::{Numbers, Scene, Subject};
use force_elements::{
    BodyIndex, Error, ForceSystem, Frame, HertzContact, Pose, Real, SpatialVelocity, Station,
};

/// A ball on one body, somewhat inside what another body carries, both moving at decimetres a second against each other.
fn pressed<T: Real>(is_ball: bool, deal: &mut Numbers) -> Result<Scene<T, HertzContact<T>>, Error> {
    let depth = deal.between(0.02, 0.1);
    placed(is_ball, depth, 0.3, false, deal)
}

/// A ball on one body, and what another body or Ground carries, at a depth and with a relative speed of this size.
fn placed<T: Real>(
    is_ball: bool,
    depth: T,
    speed: f64,
    on_ground: bool,
    deal: &mut Numbers,
) -> Result<Scene<T, HertzContact<T>>, Error> {
    let mut system = ForceSystem::new();
    let below = if on_ground { BodyIndex::GROUND } else { system.add_body() };
    let above = system.add_body();
    let X_BF: Pose<T> = deal.pose(1.5, 0.3);
    let (other, radius): (T, T) = (deal.between(0.3, 0.6), deal.between(0.3, 0.6));
    let center = Point3::from(deal.vector(0.3));
    let ball = (Station::on(above, center), radius);
    let dynamic_friction = deal.between(0.1, 0.5);
    let parameters = Parameters {
        effective_modulus: deal.between(1e4, 1e5),
        transition_velocity: deal.between(0.1, 0.5),
        ..Parameters::default()
    }
    .with_dissipation(deal.between(0.1, 1.0))
    .with_friction(dynamic_friction + deal.between(0.0, 0.5), dynamic_friction, deal.between(0.0, 0.1));
    let element = if is_ball {
        let other = (Station::on(below, X_BF.translation.vector.into()), other);
        HertzContact::on_ball(other, ball, parameters)?
    } else {
        HertzContact::on_half_space(Frame::on(below, X_BF), ball, parameters)?
    };
    let element = system.add(element)?;

    let X_GB: Pose<T> = if on_ground { Pose::identity() } else { deal.pose(1.5, 1.0) };
    let X_GF = X_GB * X_BF;
    let p_FC = if is_ball {
        let away = deal.vector::<T>(1.0);
        away / (away.norm() + T::lit(1e-3)) * (other + radius - depth)
    } else {
        Vector3::new(deal.between(-0.5, 0.5), deal.between(-0.5, 0.5), radius - depth)
    };
    let R_GB = deal.pose::<T>(1.5, 0.0).rotation;
    let p_GB = (X_GF * Point3::from(p_FC)).coords - R_GB * center.coords;
    let V_GB: SpatialVelocity<T> = if on_ground { SpatialVelocity::zero() } else { deal.velocity(1.0) };
    let along = V_GB.shifted(p_GB - X_GB.translation.vector);
    let V = SpatialVelocity::new(along.angular + deal.vector(speed), along.linear + deal.vector(speed));
    let mut state = system.default_state();
    if !on_ground {
        state.set_body(below, X_GB, V_GB)?;
    }
    state.set_body(above, Pose::from_parts(Translation3::from(p_GB), R_GB), V)?;
    Ok(Scene { system, state, element })
}

pub(crate) struct BallOnBall;

impl Subject for BallOnBall {
    type Element<T: Real> = HertzContact<T>;

    fn scene<T: Real>(deal: &mut Numbers) -> Result<Scene<T, HertzContact<T>>, Error> {
        pressed(true, deal)
    }
}

pub(crate) struct BallOnPlane;

impl Subject for BallOnPlane {
    type Element<T: Real> = HertzContact<T>;

    fn scene<T: Real>(deal: &mut Numbers) -> Result<Scene<T, HertzContact<T>>, Error> {
        pressed(false, deal)
    }
}

/// In contact or apart, on a body or on Ground, pressing or letting go, from creeping to sliding.
pub(crate) struct AnyBall;

impl Subject for AnyBall {
    type Element<T: Real> = HertzContact<T>;

    fn scene<T: Real>(deal: &mut Numbers) -> Result<Scene<T, HertzContact<T>>, Error> {
        let [is_ball, on_ground] = [(); 2].map(|()| deal.number() > 0.0);
        let depth = deal.between(-0.03, 0.1);
        let speed = [0.01, 0.3, 30.0][[-0.3, 0.3].iter().filter(|&&least| deal.number() > least).count()];
        placed(is_ball, depth, speed, on_ground, deal)
    }
}
