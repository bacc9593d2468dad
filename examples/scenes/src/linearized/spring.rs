//! Exponential springs from far above the plane to below the clamp, holding, yielding and sliding.

use force_elements::exponential_spring::Parameters;
use force_elements::nalgebra::{Point3, Rotation3, Vector2, Vector3};
use force_elements::testing::{Numbers, Scene, Subject};
use force_elements::{Error, ExponentialSpring, ForceSystem, Frame, Pose, Real, Station};

use super::{Kind, mark_ground, or_zero, pick, place, pose, spread, toss, two_bodies};

#[derive(Debug)]
pub struct AnySpring;

/// The time at present, and that of the last commit if it was before.
const NOW: f64 = 0.1;
const BEFORE: f64 = 0.099;

impl Subject for AnySpring {
    type Element<T: Real> = ExponentialSpring<T>;

    fn scene<T: Real>(deal: &mut Numbers) -> Result<Scene<T, ExponentialSpring<T>>, Error> {
        let mut system = ForceSystem::new();
        let bodies = two_bodies(deal, &mut system);
        let mu_kinetic = if toss(deal, 0.1) { 0.0 } else { deal.between(0.1, 0.9) };
        let mu_static = mu_kinetic + if toss(deal, 0.2) { 0.0 } else { deal.between(0.0, 0.5) };
        let is_mapped = toss(deal, 0.5);
        let parameters = Parameters {
            normal_viscosity: or_zero(deal, 0.1, 1.0),
            friction_elasticity: spread(deal, 1e3, 1e5),
            friction_viscosity: or_zero(deal, 1.0, 1e3),
            settle_velocity: spread(deal, 1e-3, 0.1),
            release_velocity: if toss(deal, 0.5) { T::zero() } else { spread(deal, 1e-4, 1.0) },
            mu_static: T::lit(mu_static),
            mu_kinetic: T::lit(mu_kinetic),
            settling: !is_mapped,
            ..Parameters::default()
        };
        let X_AP: Pose<T> = deal.pose(1.5, 0.4);
        let station = Point3::from(deal.vector(0.3));
        let spring =
            ExponentialSpring::new(Frame::on(bodies[0], X_AP), Station::on(bodies[1], station), parameters)?;
        let element = system.add(spring)?;

        let height = match pick(deal, 6) {
            0 => deal.between(-0.02, -0.004),
            1 => deal.between(0.005, 0.02),
            2 => deal.between(0.04, 0.2),
            _ => deal.between(-0.004, 0.002),
        };
        let p_PS = Vector3::new(deal.between(-0.5, 0.5), deal.between(-0.5, 0.5), height);
        let turn: Vector3<f64> = deal.vector(1.5);
        let X_BS = Pose::translation(station.x, station.y, station.z);
        let speed = spread(deal, 1e-3, 5.0);
        let mut state = system.default_state();
        state.set_time(T::lit(NOW))?;
        place(&mut state, bodies, [X_AP, X_BS], pose(Rotation3::new(turn), p_PS), speed, deal)?;

        let stretch: T = spread(deal, 1e-6, 1e-1);
        let direction = Vector2::new(deal.number(), deal.number()).map(T::lit);
        let sliding =
            [T::zero(), T::one(), deal.between(0.0, 1.0)][pick(deal, if is_mapped { 2 } else { 3 }) as usize];
        let last_velocity = Vector2::new(deal.number(), deal.number()).map(T::lit) * T::lit(speed);
        let overspeed = or_zero(deal, 1e-3, 1.0);
        let went = Vector3::new(deal.number(), deal.number(), deal.number()) * 1e-3;
        let (is_first, is_late) = (toss(deal, 0.2), toss(deal, 0.15));
        let view = system.realize_dynamics(&mut state)?;
        let present = view.of(element).position.p_PS;
        system.update_discrete(&mut state, element, |discrete| {
            discrete.anchor_P = present.xy().coords + direction * stretch;
            discrete.sliding = sliding;
            // Late: nothing has moved since the last commit, at this time; or it moved, which needs no time to yield.
            discrete.last_update = T::lit(if is_late { NOW } else { BEFORE });
            let moves = is_mapped || !is_late;
            let last = if moves { present - went.map(T::lit) } else { present };
            discrete.last_station = (!is_first).then_some(last);
            if is_mapped {
                discrete.last_velocity_P = last_velocity;
                discrete.overspeed = overspeed;
            }
        })?;
        Ok(Scene { system, state, element })
    }
}

impl Kind for AnySpring {
    const NAME: &'static str = "ExponentialSpring";

    fn is_resolved(scene: &Scene<f64, ExponentialSpring<f64>>) -> Result<bool, Error> {
        Ok(scene.system.dynamics_view(&scene.state)?.of(scene.element).dynamics.friction_force_limit > 1e-3)
    }

    fn marks(_: u64, scene: &Scene<f64, ExponentialSpring<f64>>) -> Result<Vec<&'static str>, Error> {
        let at = scene.system.dynamics_view(&scene.state)?.of(scene.element);
        let element = scene.system.element(scene.element);
        let mut marks = Vec::new();
        mark_ground(&mut marks, [element.plane().body, element.station().body]);
        let is_mapped = !at.parameters.settling;
        marks.push(if is_mapped { "return mapping" } else { "settling" });
        if at.dynamics.friction_force_limit < 1e-13 {
            marks.push("far above");
        }
        if let Some(last) = at.discrete.last_station
            && is_mapped
            && at.parameters.release_velocity > 0.0
            && at.discrete.last_update < NOW
        {
            let travel = (at.position.p_PS - last).xy().norm();
            let is_slow = travel < at.parameters.release_velocity * (NOW - at.discrete.last_update);
            marks.push(if is_slow { "slower than released" } else { "faster than released" });
        }
        if at.discrete.last_station.is_none() {
            marks.push("before the first commit");
        }
        if at.discrete.overspeed > 0.0 {
            marks.push("was dragged along");
        }
        if at.discrete.sliding > 0.0 && at.discrete.sliding < 1.0 {
            marks.push("between sliding and fixed");
        }
        Ok(marks)
    }
}
