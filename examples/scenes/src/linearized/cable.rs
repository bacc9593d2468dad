//! Cables over surfaces of every kind on up to three bodies and Ground, through points that stay, move and come and go.

use core::f64::consts::FRAC_PI_2;

use force_elements::cable::{CablePath, Obstacle, Settings, SplineCurve, ViaPoint};
use force_elements::cable_spring::Parameters;
use force_elements::nalgebra::{Point3, Rotation3, Vector3};
use force_elements::shapes::{Cylinder, Ellipsoid, FiniteCylinder, Sphere, Torus};
use force_elements::testing::{Numbers, Scene, Subject};
use force_elements::{
    BodyIndex, CableSpring, CoordinateIndex, Error, ForceSystem, Frame, Pose, Real, Station,
};

use super::{Kind, pick, pose, spread, toss};

#[derive(Debug)]
pub struct AnyCable;

#[derive(Debug, Clone, Copy)]
enum Surface {
    Ball,
    Ellipsoid,
    Cylinder,
    Torus,
    Can,
}

#[derive(Debug, Clone, Copy)]
enum Point {
    None,
    Fixed,
    Moving,
    Passing,
}

/// What is drawn first: the surfaces, the point after each, and whether parts are at other places than they were made.
struct Plan {
    parts: Vec<(Surface, Point)>,
    is_displaced: bool,
}

impl Plan {
    fn draw(deal: &mut Numbers) -> Self {
        let surfaces = [Surface::Ball, Surface::Ellipsoid, Surface::Cylinder, Surface::Torus, Surface::Can];
        let count = pick(deal, 4);
        let part = |deal: &mut Numbers| {
            let surface = surfaces[pick(deal, 5) as usize];
            let points = [Point::Fixed, Point::Moving, Point::Passing];
            let point = if toss(deal, 0.6) { Point::None } else { points[pick(deal, 3) as usize] };
            (surface, point)
        };
        let parts = (0..count).map(|_| part(deal)).collect();
        Self { parts, is_displaced: toss(deal, 0.4) }
    }
}

/// Bodies in these poses.
struct Places<T: Real> {
    bodies: Vec<(BodyIndex, Pose<T>)>,
}

impl<T: Real> Places<T> {
    fn body(&self, deal: &mut Numbers) -> (BodyIndex, Pose<T>) {
        self.bodies[pick(deal, 4) as usize]
    }

    fn frame(&self, deal: &mut Numbers, R: Rotation3<f64>, p: Vector3<f64>) -> Frame<T> {
        let (body, X_GB) = self.body(deal);
        Frame::on(body, X_GB.inverse() * pose(R, p))
    }

    fn station(&self, deal: &mut Numbers, p: Vector3<f64>) -> Station<T> {
        let (body, X_GB) = self.body(deal);
        Station::on(body, X_GB.inverse_transform_point(&p.map(T::lit).into()))
    }
}

fn obstacle<T: Real>(
    surface: Surface,
    places: &Places<T>,
    x: f64,
    deal: &mut Numbers,
) -> Result<Obstacle<T>, Error> {
    // From deep in the cable's way to out of it.
    let y = deal.between(-1.0, -0.2);
    let tilt = Rotation3::new(deal.vector::<f64>(0.3));
    let at = Vector3::new(x, y, 0.1 * deal.number());
    let sizes = Vector3::from_fn(|_, _| deal.between(0.6, 0.8));
    let lit = |number: f64| T::lit(number);
    Ok(match surface {
        Surface::Ball => Obstacle::new(places.frame(deal, tilt, at), Sphere::new(lit(sizes.x))?)?,
        Surface::Ellipsoid => {
            Obstacle::new(places.frame(deal, tilt, at), Ellipsoid::new(sizes.map(T::lit))?)?
        }
        Surface::Cylinder => Obstacle::new(places.frame(deal, tilt, at), Cylinder::new(lit(sizes.x))?)?,
        Surface::Can => {
            let can = FiniteCylinder::new(lit(sizes.x), lit(1.5), lit(0.2))?;
            Obstacle::new(places.frame(deal, tilt, at), can)?
        }
        Surface::Torus => {
            let R = Rotation3::new(Vector3::y() * FRAC_PI_2);
            let ring = Torus::new(lit(2.0), lit(0.5))?;
            let frame = places.frame(deal, R, Vector3::new(x, 2.1 - 0.3 * sizes.x, 0.0));
            Obstacle::new(frame, ring)?.with_contact_hint(Point3::new(0.0, -1.5, 0.0).map(T::lit))?
        }
    })
}

fn via_point<T: Real>(
    point: Point,
    places: &Places<T>,
    x: f64,
    coordinate: CoordinateIndex,
    deal: &mut Numbers,
) -> Result<Option<ViaPoint<T>>, Error> {
    let at = Vector3::new(x, 0.25, 0.0) + deal.vector::<f64>(0.1);
    Ok(match point {
        Point::None => None,
        Point::Fixed => Some(places.station(deal, at).into()),
        Point::Passing => {
            // The coordinate is in either range.
            let range = [-2.0..=2.0, 5.0..=6.0][pick(deal, 2) as usize].clone();
            let range = T::lit(*range.start())..=T::lit(*range.end());
            Some(ViaPoint::from(places.station(deal, at)).only_within(coordinate, range)?)
        }
        Point::Moving => {
            let (body, X_GB) = places.body(deal);
            let knots = [-1.0, -0.3, 0.2, 1.0].map(|q| {
                let p = X_GB.inverse_transform_point(&(at + deal.vector::<f64>(0.1)).map(T::lit).into());
                (T::lit(q), p)
            });
            Some(ViaPoint::moving(body, coordinate, SplineCurve::new(knots)?))
        }
    })
}

impl Subject for AnyCable {
    type Element<T: Real> = CableSpring<T>;

    fn scene<T: Real>(deal: &mut Numbers) -> Result<Scene<T, CableSpring<T>>, Error> {
        let Plan { parts, is_displaced } = Plan::draw(deal);
        let mut system = ForceSystem::new();
        let mut bodies = vec![(BodyIndex::GROUND, Pose::identity())];
        for _ in 0..3 {
            bodies.push((system.add_body(), deal.pose(1.5, 1.0)));
        }
        let coordinate = system.add_coordinate();
        let places = Places { bodies };
        let last = 2.5 * f64::from(u32::try_from(parts.len()).unwrap_or(0));
        let ends = [Vector3::new(-1.7, 0.0, 0.0), Vector3::new(last - 0.8, 0.0, 0.0)];
        // On different bodies: on one the forces would cancel.
        let (from, on) = (pick(deal, 4), 1 + pick(deal, 3));
        let mut end = |p: Vector3<f64>, body: u32| {
            let (body, X_GB) = places.bodies[body as usize];
            Station::on(body, X_GB.inverse_transform_point(&(p + deal.vector::<f64>(0.1)).map(T::lit).into()))
        };
        let (origin, termination) = (end(ends[0], from), end(ends[1], (from + on) % 4));
        let mut path = CablePath::new(origin, termination)?;
        let mut x = 0.0;
        for (surface, point) in parts {
            path = path.over(obstacle(surface, &places, x, deal)?);
            if let Some(point) = via_point(point, &places, x + 1.25, coordinate, deal)? {
                path = path.through(point)?;
            }
            x += 2.5;
        }
        // The forces of a path with a kink are off by it.
        let smoothness = T::lit(1e-13).max(T::default_epsilon() * T::lit(100.0));
        let path = path.with_settings(Settings { smoothness, ..Settings::default() })?;
        let law = Parameters {
            stiffness: spread(deal, 50.0, 5e3),
            slack_length: T::lit((last + 0.9) * deal.between::<f64>(0.8, 1.1)),
            dissipation: if toss(deal, 0.2) { T::zero() } else { spread(deal, 0.01, 3.0) },
        };
        let element = system.add(CableSpring::new(path, law)?)?;
        let mut state = system.default_state();
        let speed = spread(deal, 1e-2, 2.0);
        for &(body, X_GB) in &places.bodies[1..] {
            state.set_body(body, X_GB * deal.pose(0.005, 0.02), deal.velocity(speed))?;
        }
        state.set_coordinate(coordinate, deal.between(-1.5, 1.5))?;
        state.set_coordinate_rate(coordinate, deal.between(-speed, speed))?;
        if is_displaced {
            system.update_parameters(&mut state, element, |p| {
                p.places.origin += deal.vector(0.02);
                p.places.termination += deal.vector(0.02);
                for via in &mut p.places.via_points {
                    via.p_B += deal.vector(0.02);
                }
                for place in &mut p.places.obstacles {
                    place.X_BS *= deal.pose(0.1, 0.02);
                    place.scale = deal.between(0.95, 1.05);
                }
            })?;
        }
        Ok(Scene { system, state, element })
    }
}

impl Kind for AnyCable {
    const NAME: &'static str = "CableSpring";

    fn marks(seed: u64, scene: &Scene<f64, CableSpring<f64>>) -> Result<Vec<&'static str>, Error> {
        let Plan { parts, is_displaced } = Plan::draw(&mut Numbers::new(seed));
        let mut marks: Vec<_> = parts
            .iter()
            .map(|(surface, _)| match surface {
                Surface::Ball => "over a ball",
                Surface::Ellipsoid => "over an ellipsoid",
                Surface::Cylinder => "over a cylinder",
                Surface::Torus => "over a torus",
                Surface::Can => "over a can",
            })
            .collect();
        if parts.is_empty() {
            marks.push("straight");
        }
        marks.extend(parts.iter().filter_map(|(_, point)| match point {
            Point::None => None,
            Point::Fixed => Some("through a point"),
            Point::Moving => Some("through a moving point"),
            Point::Passing => Some("through a point at times"),
        }));
        if is_displaced {
            marks.push("in other places");
        }
        let path = &scene.system.dynamics_view(&scene.state)?.of(scene.element).position.path;
        if path.contacts.iter().filter(|contact| contact.in_contact).count() > 2 {
            marks.push("touching three or more");
        }
        Ok(marks)
    }
}
