//! Balls on balls and half-spaces, from apart to through each other, creeping and sliding, pressing and letting go.

use force_elements::hertz_contact::Parameters;
use force_elements::nalgebra::{Point3, Rotation3, Vector3};
use force_elements::testing::{Numbers, Scene, Subject};
use force_elements::{Error, ForceSystem, Frame, HertzContact, Pose, Real, Station};

use super::{Kind, mark_ground, or_zero, pick, place, pose, spread, toss, two_bodies};

#[derive(Debug)]
pub struct AnyHertz;

impl Subject for AnyHertz {
    type Element<T: Real> = HertzContact<T>;

    fn scene<T: Real>(deal: &mut Numbers) -> Result<Scene<T, HertzContact<T>>, Error> {
        let mut system = ForceSystem::new();
        let bodies = two_bodies(deal, &mut system);
        let dynamic = if toss(deal, 0.2) { 0.0 } else { deal.between(0.05, 0.9) };
        let excess = if toss(deal, 0.2) { 0.0 } else { deal.between(0.0, 0.5) };
        let parameters = Parameters {
            effective_modulus: if toss(deal, 0.02) { T::zero() } else { spread(deal, 1e3, 1e11) },
            transition_velocity: spread(deal, 1e-3, 1.0),
            ..Parameters::default()
        }
        .with_dissipation(or_zero(deal, 0.01, 10.0))
        .with_friction(T::lit(dynamic + excess), T::lit(dynamic), or_zero(deal, 0.01, 0.3));
        let X_AF: Pose<T> = deal.pose(1.5, 0.4);
        let center = Point3::from(deal.vector(0.3));
        let [radius, other] = [spread::<f64>(deal, 0.01, 1.0), spread::<f64>(deal, 0.01, 1.0)];
        let on_ball = toss(deal, 0.5);
        let ball = (Station::on(bodies[1], center), T::lit(radius));
        let element = if on_ball {
            let other = (Station::on(bodies[0], X_AF.translation.vector.into()), T::lit(other));
            HertzContact::on_ball(other, ball, parameters)?
        } else {
            HertzContact::on_half_space(Frame::on(bodies[0], X_AF), ball, parameters)?
        };
        let element = system.add(element)?;

        let reach = if on_ball { radius + other } else { radius };
        let least = if on_ball { radius.min(other) } else { radius };
        let depth = match pick(deal, 8) {
            0 => -spread::<f64>(deal, 1e-6, 1.0),
            1 => reach * deal.between::<f64>(0.3, 0.99),
            _ => least * spread::<f64>(deal, 1e-5, 0.3),
        };
        let p_FC = if on_ball {
            deal.vector::<f64>(1.0).try_normalize(1e-3).unwrap_or_else(Vector3::z) * (reach - depth)
        } else {
            Vector3::new(deal.between(-0.5, 0.5), deal.between(-0.5, 0.5), reach - depth)
        };
        let turn: Vector3<f64> = deal.vector(1.5);
        let X_BC = Pose::translation(center.x, center.y, center.z);
        let speed = spread(deal, 1e-3, 5.0);
        let mut state = system.default_state();
        place(&mut state, bodies, [X_AF, X_BC], pose(Rotation3::new(turn), p_FC), speed, deal)?;
        Ok(Scene { system, state, element })
    }
}

impl Kind for AnyHertz {
    const NAME: &'static str = "HertzContact";

    fn marks(_: u64, scene: &Scene<f64, HertzContact<f64>>) -> Result<Vec<&'static str>, Error> {
        let at = scene.system.dynamics_view(&scene.state)?.of(scene.element);
        let element = scene.system.element(scene.element);
        let mut marks = Vec::new();
        let ((frame, other), (center, radius)) = (element.surface(), element.ball());
        mark_ground(&mut marks, [frame.body, center.body]);
        marks.push(if other.is_some() { "in a ball" } else { "in a half-space" });
        let reach = radius + other.unwrap_or(0.0);
        marks.push(if at.parameters.dissipation > 0.0 { "damped" } else { "undamped" });
        let has_friction = at.parameters.static_friction > 0.0 || at.parameters.viscous_friction > 0.0;
        marks.push(if has_friction { "with friction" } else { "without friction" });
        if at.position.depth > 0.3 * reach {
            marks.push("deep");
        } else if at.position.depth > 0.0 && at.position.depth < 1e-4 * radius {
            marks.push("barely touching");
        }
        Ok(marks)
    }
}
