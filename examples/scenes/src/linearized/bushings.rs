//! Bushings at any angle, on Ground and between bodies, with whole turns behind them.

use core::f64::consts::PI;

use force_elements::nalgebra::{Matrix6, Rotation3, Vector3, Vector6};
use force_elements::spatial_bushing::{Curve, Symmetric6};
use force_elements::testing::{Numbers, Scene, Subject};
use force_elements::{
    Error, ForceSystem, Frame, LinearBushing, Pose, Real, SpatialBushing, linear_bushing, spatial_bushing,
};

use super::{Kind, mark_ground, or_zero, place, pose, spread, toss, two_bodies};

#[derive(Debug)]
pub struct AnyLinearBushing;

impl Subject for AnyLinearBushing {
    type Element<T: Real> = LinearBushing<T>;

    fn scene<T: Real>(deal: &mut Numbers) -> Result<Scene<T, LinearBushing<T>>, Error> {
        let mut system = ForceSystem::new();
        let bodies = two_bodies(deal, &mut system);
        let stiffness = Vector6::from_fn(|_, _| or_zero(deal, 1.0, 1e4));
        let damping = Vector6::from_fn(|_, _| or_zero(deal, 0.1, 100.0));
        let damping = if toss(deal, 0.2) { Vector6::zeros() } else { damping };
        let X: [Pose<T>; 2] = [deal.pose(1.5, 0.4), deal.pose(1.5, 0.4)];
        let parameters = linear_bushing::Parameters { stiffness, damping };
        let bushing = LinearBushing::new(Frame::on(bodies[0], X[0]), Frame::on(bodies[1], X[1]), parameters)?;
        let element = system.add(bushing)?;

        let mut state = system.default_state();
        let steep = if toss(deal, 0.2) { 1.5 } else { 1.0 };
        let mut angles = Vector3::new(3.1 * deal.number(), steep * deal.number(), 3.1 * deal.number());
        let shift: Vector3<f64> = deal.vector(0.3);
        let turned = |angles: &Vector3<f64>| {
            let [x, y, z] = [(Vector3::x(), angles.x), (Vector3::y(), angles.y), (Vector3::z(), angles.z)]
                .map(|(axis, angle)| Rotation3::new(axis * angle));
            pose(x * y * z, shift)
        };
        for _ in 0..if toss(deal, 0.5) { 4 } else { 0 } {
            place(&mut state, bodies, X, turned(&angles), 2.0, deal)?;
            system.realize_dynamics(&mut state)?;
            system.accept_step(&mut state)?;
            angles.x += deal.number();
            angles.z += deal.number();
        }
        let speed = spread(deal, 1e-3, 5.0);
        place(&mut state, bodies, X, turned(&angles), speed, deal)?;
        Ok(Scene { system, state, element })
    }
}

impl Kind for AnyLinearBushing {
    const NAME: &'static str = "LinearBushing";

    fn marks(_: u64, scene: &Scene<f64, LinearBushing<f64>>) -> Result<Vec<&'static str>, Error> {
        let at = scene.system.dynamics_view(&scene.state)?.of(scene.element);
        let element = scene.system.element(scene.element);
        let mut marks = Vec::new();
        mark_ground(&mut marks, [element.body1(), element.body2()]);
        let [x, y, z] = [0, 1, 2].map(|axis| at.position.q[axis].abs());
        if y > 1.2 {
            marks.push("middle angle beyond 69°");
        }
        if x > PI || z > PI {
            marks.push("turned by more than a half");
        }
        let is_undamped = at.parameters.law.damping == Vector6::zeros();
        marks.push(if is_undamped { "undamped" } else { "damped" });
        Ok(marks)
    }
}

#[derive(Debug)]
pub struct AnySpatialBushing;

impl Subject for AnySpatialBushing {
    type Element<T: Real> = SpatialBushing<T>;

    fn scene<T: Real>(deal: &mut Numbers) -> Result<Scene<T, SpatialBushing<T>>, Error> {
        let mut system = ForceSystem::new();
        let bodies = two_bodies(deal, &mut system);
        let is_coupled = toss(deal, 0.7);
        let mut squares = |size: f64| {
            if is_coupled {
                let root = Matrix6::<T>::from_fn(|_, _| deal.between(-size, size));
                Symmetric6::from_matrix(&(root * root.transpose()))
            } else {
                Symmetric6::from_matrix(&Matrix6::from_diagonal(&Vector6::from_fn(|_, _| {
                    or_zero(deal, 0.1, size * size)
                })))
            }
        };
        let parameters = spatial_bushing::Parameters { stiffness: squares(30.0)?, damping: squares(3.0)? };
        let X: [Pose<T>; 2] = [deal.pose(1.5, 0.4), deal.pose(1.5, 0.4)];
        let mut bushing =
            SpatialBushing::new(Frame::on(bodies[0], X[0]), Frame::on(bodies[1], X[1]), parameters)?;
        let points =
            [(-0.5, -30.0), (-0.1, -1.0), (0.1, 0.0), (0.4, 50.0)].map(|(x, f)| (T::lit(x), T::lit(f)));
        let damper = [(-2.0, -9.0), (-0.5, -4.0), (0.0, 0.0), (0.3, 6.0), (1.0, 7.0)]
            .map(|(x, f)| (T::lit(x), T::lit(f)));
        for axis in 0..6 {
            if toss(deal, 0.2) {
                bushing = bushing.with_curve(axis, Curve::new(&points)?)?;
                bushing = bushing.with_damping_curve((axis + 2) % 6, Curve::new(&damper)?)?;
            }
        }
        let element = system.add(bushing)?;

        let mut state = system.default_state();
        let axis = deal.vector::<f64>(1.0).try_normalize(1e-3).unwrap_or_else(Vector3::x);
        let shift: Vector3<f64> = deal.vector(0.6);
        let turned = |angle: f64, aside: Vector3<f64>| {
            pose(Rotation3::new(axis * angle) * Rotation3::new(aside), shift)
        };
        let angle = match super::pick(deal, 3) {
            0 => spread(deal, 1e-9, 0.3),
            1 => deal.between(0.3, 3.1),
            _ => {
                for angle in [1.5, 2.9] {
                    place(&mut state, bodies, X, turned(angle, Vector3::zeros()), 1.0, deal)?;
                    system.realize_dynamics(&mut state)?;
                    system.accept_step(&mut state)?;
                }
                deal.between(3.2, 5.5)
            }
        };
        let speed = spread(deal, 1e-3, 5.0);
        let aside = deal.vector(0.02);
        place(&mut state, bodies, X, turned(angle, aside), speed, deal)?;
        Ok(Scene { system, state, element })
    }
}

impl Kind for AnySpatialBushing {
    const NAME: &'static str = "SpatialBushing";

    fn marks(_: u64, scene: &Scene<f64, SpatialBushing<f64>>) -> Result<Vec<&'static str>, Error> {
        let at = scene.system.dynamics_view(&scene.state)?.of(scene.element);
        let element = scene.system.element(scene.element);
        let mut marks = Vec::new();
        mark_ground(&mut marks, [element.body1(), element.body2()]);
        let turn = at.position.q.fixed_rows::<3>(0).norm();
        marks.push(match turn {
            turn if turn < 0.28 => "turned by less than 16°",
            turn if turn > PI => "turned by more than a half",
            _ => "turned by up to a half",
        });
        if (0..6).any(|axis| element.curve(axis).is_some()) {
            marks.push("with curves");
        }
        let stiffness = at.parameters.law.stiffness.matrix();
        let is_diagonal = stiffness == Matrix6::from_diagonal(&stiffness.diagonal());
        marks.push(if is_diagonal { "axes alone" } else { "coupled axes" });
        Ok(marks)
    }
}
