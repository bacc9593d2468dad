//! Cables of many kinds on bodies in motion.

use core::f64::consts::FRAC_PI_2;

use force_elements::cable::{CablePath, Obstacle, Settings, SplineCurve, ViaPoint};
use force_elements::cable_spring::Parameters;
use force_elements::nalgebra::{Point3, Rotation3, Translation3, Vector3};
use force_elements::shapes::{Cylinder, Ellipsoid, Sphere, Torus};
use force_elements::testing::{Numbers, Scene, Subject};
use force_elements::{BodyIndex, CableSpring, Error, ForceSystem, Frame, Pose, Real, Station};

/// Over four obstacles on three bodies and Ground, and through a point between them.
pub(in super::super) struct Chain;

/// Over a ring that is touched on both sides, and a ball.
pub(in super::super) struct Ring;

/// From one drum to another.
pub(super) struct Drums;

fn point<T: Real>(x: f64, y: f64, z: f64) -> Point3<T> {
    Point3::new(x, y, z).map(T::lit)
}

/// Bodies in about these poses in Ground, in motion.
struct Places<T: Real> {
    system: ForceSystem<T>,
    bodies: Vec<BodyIndex>,
    poses: Vec<Pose<T>>,
}

impl<T: Real> Places<T> {
    fn new(deal: &mut Numbers, bodies: usize) -> Self {
        let mut system = ForceSystem::new();
        let bodies: Vec<_> = (0..bodies).map(|_| system.add_body()).collect();
        let poses = bodies.iter().map(|_| deal.pose(1.5, 1.0)).collect();
        Self { system, bodies, poses }
    }

    /// What is fixed on a body where it is in Ground.
    fn frame(&self, body: usize, X_GF: Pose<T>) -> Frame<T> {
        Frame::on(self.bodies[body], self.poses[body].inverse() * X_GF)
    }

    fn station(&self, body: usize, p_G: Point3<T>) -> Station<T> {
        Station::on(self.bodies[body], self.poses[body].inverse_transform_point(&p_G))
    }

    fn scene(
        mut self,
        deal: &mut Numbers,
        path: CablePath<T>,
        slack_length: f64,
        smoothness: f64,
    ) -> Result<Scene<T, CableSpring<T>>, Error> {
        let smoothness = T::lit(smoothness).max(T::default_epsilon() * T::lit(100.0));
        let path = path.with_settings(Settings { smoothness, ..Settings::default() })?;
        let law = Parameters {
            stiffness: deal.between(50.0, 500.0),
            slack_length: T::lit(slack_length),
            dissipation: deal.between(0.01, 0.1),
        };
        let element = self.system.add(CableSpring::new(path, law)?)?;
        let mut state = self.system.default_state();
        for (&body, &X_GB) in self.bodies.iter().zip(&self.poses) {
            state.set_body(body, X_GB * deal.pose(0.005, 0.02), deal.velocity(1.0))?;
        }
        Ok(Scene { system: self.system, state, element })
    }

    /// A cable with friction that has been accepted in one place, and moved on.
    fn accepted(
        mut self,
        deal: &mut Numbers,
        path: CablePath<T>,
        friction: Vec<T>,
        slack_length: f64,
    ) -> Result<Scene<T, CableSpring<T>>, Error> {
        let smoothness = T::lit(1e-13).max(T::default_epsilon() * T::lit(100.0));
        let path = path.with_settings(Settings { smoothness, ..Settings::default() })?;
        let elastic = Parameters {
            stiffness: deal.between(50.0, 500.0),
            slack_length: T::lit(slack_length),
            dissipation: deal.between(0.01, 1.0),
        };
        let element = self.system.add(CableSpring::new(path, elastic)?.with_friction(friction)?)?;
        let mut state = self.system.default_state();
        for _ in 0..2 {
            for (&body, &X_GB) in self.bodies.iter().zip(&self.poses) {
                state.set_body(body, X_GB * deal.pose(0.02, 0.03), deal.velocity(1.0))?;
            }
            self.system.realize_dynamics(&mut state)?;
            self.system.accept_step(&mut state)?;
        }
        for (&body, &X_GB) in self.bodies.iter().zip(&self.poses) {
            state.set_body(body, X_GB * deal.pose(0.02, 0.03), deal.velocity(1.0))?;
        }
        Ok(Scene { system: self.system, state, element })
    }
}

/// Coefficients of friction of four obstacles: some slip, some stick, some are without.
fn any_friction<T: Real>(deal: &mut Numbers) -> Vec<T> {
    let mut coefficient = || deal.between::<T>(-0.05, 0.4).max(T::zero());
    (0..4).map(|_| coefficient()).collect()
}

/// The chain with friction.
pub(super) struct SlidingChain;

impl Subject for SlidingChain {
    type Element<T: Real> = CableSpring<T>;

    fn scene<T: Real>(deal: &mut Numbers) -> Result<Scene<T, CableSpring<T>>, Error> {
        let places = Places::<T>::new(deal, 3);
        let path = chain_path(&places)?;
        let friction = any_friction(deal);
        let slack_length = if deal.number() > 0.8 { 12.0 } else { 9.0 };
        places.accepted(deal, path, friction, slack_length)
    }
}

/// The ring that is touched twice, and the ball, with friction.
pub(super) struct SlidingRing;

impl Subject for SlidingRing {
    type Element<T: Real> = CableSpring<T>;

    fn scene<T: Real>(deal: &mut Numbers) -> Result<Scene<T, CableSpring<T>>, Error> {
        let places = Places::<T>::new(deal, 3);
        let path = ring_path(&places)?;
        let friction = any_friction(deal).into_iter().take(2).collect();
        places.accepted(deal, path, friction, 4.0)
    }
}

/// Two drums with friction.
pub(super) struct SlidingDrums;

impl Subject for SlidingDrums {
    type Element<T: Real> = CableSpring<T>;

    fn scene<T: Real>(deal: &mut Numbers) -> Result<Scene<T, CableSpring<T>>, Error> {
        let places = Places::<T>::new(deal, 3);
        let path = drums_path(&places)?;
        let friction = any_friction(deal).into_iter().take(3).collect();
        let drum = places.bodies[0];
        let Scene { system, mut state, element } = places.accepted(deal, path, friction, 2.0)?;
        // Up to four turns on it.
        let mut steps = deal.between::<f64>(-10.0, 40.0);
        while steps > 0.0 {
            let turn = Pose::rotation(Vector3::z() * deal.between::<T>(0.4, 0.8));
            let X_GB = turn * *state.positions().pose(drum);
            state.set_pose(drum, X_GB)?;
            system.realize_dynamics(&mut state)?;
            if steps > 1.0 {
                system.accept_step(&mut state)?;
            }
            steps -= 1.0;
        }
        Ok(Scene { system, state, element })
    }
}

fn at<T: Real>(x: f64, y: f64, z: f64) -> Pose<T> {
    Pose::translation(T::lit(x), T::lit(y), T::lit(z))
}

fn about<T: Real>(axis: Vector3<T>, angle: f64, p: Point3<T>) -> Pose<T> {
    Pose::from_parts(Translation3::from(p.coords), Rotation3::new(axis * T::lit(angle)))
}

impl Subject for Chain {
    type Element<T: Real> = CableSpring<T>;

    fn scene<T: Real>(deal: &mut Numbers) -> Result<Scene<T, CableSpring<T>>, Error> {
        chain(deal, 1e-13)
    }
}

pub(super) fn chain<T: Real>(deal: &mut Numbers, smoothness: f64) -> Result<Scene<T, CableSpring<T>>, Error> {
    let places = Places::<T>::new(deal, 3);
    let path = chain_path(&places)?;
    places.scene(deal, path, 9.0, smoothness)
}

fn chain_path<T: Real>(places: &Places<T>) -> Result<CablePath<T>, Error> {
    let origin = Station::ground(point(-1.5, 0.0, 0.0));
    let radii = Vector3::new(0.7, 0.6, 1.0).map(T::lit);
    let path = CablePath::new(origin, places.station(2, point(9.0, 0.1, 0.2)))?
        .over(Obstacle::new(places.frame(0, at(0.0, -0.4, 0.0)), Ellipsoid::new(radii)?)?)
        .over(Obstacle::new(places.frame(0, at(2.0, -0.3, 0.0)), Cylinder::new(T::lit(0.7))?)?)
        .through(places.station(1, point(3.2, 0.3, 0.1)))?
        .over(
            Obstacle::new(
                places.frame(1, about(Vector3::y(), FRAC_PI_2, point(5.0, 2.1, 0.0))),
                Torus::new(T::lit(2.0), T::lit(0.5))?,
            )?
            .with_contact_hint(point(0.0, -1.5, 0.0))?,
        )
        .over(Obstacle::new(Frame::ground(at(7.0, -0.2, 0.0)), Sphere::new(T::lit(0.7))?)?);
    Ok(path)
}

impl Subject for Ring {
    type Element<T: Real> = CableSpring<T>;

    fn scene<T: Real>(deal: &mut Numbers) -> Result<Scene<T, CableSpring<T>>, Error> {
        let places = Places::<T>::new(deal, 3);
        let path = ring_path(&places)?;
        places.scene(deal, path, 4.0, 1e-13)
    }
}

/// With its end held on the surface of an obstacle on another body, and through a point held on one that moves with a
/// coordinate.
pub(super) struct HeldElsewhere;

impl Subject for HeldElsewhere {
    type Element<T: Real> = CableSpring<T>;

    fn scene<T: Real>(deal: &mut Numbers) -> Result<Scene<T, CableSpring<T>>, Error> {
        let mut places = Places::<T>::new(deal, 3);
        let coordinate = places.system.add_coordinate();
        let drum = |body: usize, x: f64| {
            let drum = Obstacle::new(places.frame(body, at(x, 0.0, 0.1)), Cylinder::new(T::lit(0.3))?)?;
            drum.with_contact_hint(point(0.0, 0.3, 0.0))
        };
        let angle = deal.between(-0.2, 0.2);
        let rim = |x: f64, angle: T, z: f64| {
            point::<T>(x, 0.0, z) + Vector3::new(angle.cos(), angle.sin(), T::zero()) * T::lit(0.3)
        };
        let knots = [-1.0, 0.0, 1.0, 2.0].map(|q| {
            let p = places.station(2, rim(0.0, angle + T::lit(0.1 * q), 0.05 + 0.1 * q)).p_B;
            (T::lit(q), p)
        });
        let held = ViaPoint::moving(places.bodies[2], coordinate, SplineCurve::new(knots)?);
        let end = places.station(2, rim(2.0, angle, 0.2));
        let path = CablePath::new(Station::ground(point(-1.5, 0.2, 0.0)), end)?
            .over(drum(0, 0.0)?)
            .through(held)?
            .over(drum(1, 2.0)?);
        let path = path.with_settings(Settings {
            smoothness: T::lit(1e-13).max(T::default_epsilon() * T::lit(100.0)),
            ..Settings::default()
        })?;
        let law = Parameters {
            stiffness: deal.between(50.0, 500.0),
            slack_length: T::lit(3.0),
            dissipation: deal.between(0.01, 0.1),
        };
        let element = places.system.add(CableSpring::new(path, law)?)?;
        let mut state = places.system.default_state();
        for (&body, &X_GB) in places.bodies.iter().zip(&places.poses) {
            state.set_body(body, X_GB, deal.velocity(1.0))?;
        }
        state.set_coordinate(coordinate, T::zero())?;
        state.set_coordinate_rate(coordinate, deal.between(-1.0, 1.0))?;
        Ok(Scene { system: places.system, state, element })
    }
}

fn ring_path<T: Real>(places: &Places<T>) -> Result<CablePath<T>, Error> {
    let ring = places.frame(0, about(Vector3::x(), FRAC_PI_2, point(0.0, -0.1, 0.0)));
    let path =
        CablePath::new(Station::ground(point(-1.5, 0.0, 0.0)), places.station(2, point(4.0, -0.2, 0.1)))?
            .over(Obstacle::new(ring, Torus::new(T::lit(0.6), T::lit(0.2))?)?)
            .over(Obstacle::new(places.frame(1, at(2.3, -0.7, 0.0)), Sphere::new(T::lit(0.7))?)?);
    Ok(path)
}

impl Subject for Drums {
    type Element<T: Real> = CableSpring<T>;

    fn scene<T: Real>(deal: &mut Numbers) -> Result<Scene<T, CableSpring<T>>, Error> {
        let places = Places::<T>::new(deal, 3);
        let path = drums_path(&places)?;
        places.scene(deal, path, 2.0, 1e-13)
    }
}

fn drums_path<T: Real>(places: &Places<T>) -> Result<CablePath<T>, Error> {
    let top = point(0.0, 0.2, 0.0);
    let drum = |body: usize, x: f64| {
        let X_GD: Pose<T> = at(x, 0.0, 0.1 * x);
        let drum = Obstacle::new(places.frame(body, X_GD), Cylinder::new(T::lit(0.2))?)?;
        Ok::<_, Error>((places.frame(body, X_GD).X_BF, drum.with_contact_hint(top)?))
    };
    let ((X_first, first), (X_last, last)) = (drum(0, 0.0)?, drum(1, 2.0)?);
    let path = CablePath::new(
        Station::on(places.bodies[0], X_first * point(-0.2, 0.0, 0.0)),
        Station::on(places.bodies[1], X_last * point(0.2, 0.0, 0.0)),
    )?
    .over(first)
    .over(Obstacle::new(places.frame(2, at(1.0, -0.1, 0.1)), Sphere::new(T::lit(0.4))?)?)
    .over(last);
    Ok(path)
}
