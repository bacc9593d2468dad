//! Cables over surfaces of every kind on up to three bodies and Ground, through points that stay, move and come and go.

use core::f64::consts::{FRAC_PI_2, PI};

use force_elements::cable::{self, CablePath, Obstacle, PathResults, Settings, SplineCurve, ViaPoint};
use force_elements::cable_spring::Parameters;
use force_elements::nalgebra::{Point3, Rotation3, Vector3};
use force_elements::shapes::{Cylinder, Ellipsoid, FiniteCylinder, Sphere, Torus};
use force_elements::testing::{Numbers, Scene, Subject};
use force_elements::{
    BodyIndex, CableSpring, CoordinateIndex, Error, ForceSystem, Frame, Pose, Real, State, Station,
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

/// What is drawn first: the surfaces, the point after each, on which ends there are drums, and whether parts are at other
/// places than they were made.
pub(super) struct Plan {
    parts: Vec<(Surface, Point)>,
    drums: [bool; 2],
    is_displaced: bool,
}

impl Plan {
    pub(super) fn draw(deal: &mut Numbers) -> Self {
        let surfaces = [Surface::Ball, Surface::Ellipsoid, Surface::Cylinder, Surface::Torus, Surface::Can];
        let count = pick(deal, 4);
        let part = |deal: &mut Numbers| {
            let surface = surfaces[pick(deal, 5) as usize];
            let points = [Point::Fixed, Point::Moving, Point::Passing];
            let point = if toss(deal, 0.6) { Point::None } else { points[pick(deal, 3) as usize] };
            (surface, point)
        };
        let parts = (0..count).map(|_| part(deal)).collect();
        Self { parts, is_displaced: toss(deal, 0.4), drums: [(); 2].map(|()| toss(deal, 0.25)) }
    }

    /// The same with points that stay on their bodies, as friction requires.
    pub(super) fn with_fixed_points(mut self) -> Self {
        for (_, point) in &mut self.parts {
            if matches!(point, Point::Moving | Point::Passing) {
                *point = Point::Fixed;
            }
        }
        self
    }

    /// The options of the path.
    pub(super) fn marks(&self, path: &PathResults<f64>) -> Vec<&'static str> {
        let mut marks: Vec<_> = self
            .parts
            .iter()
            .map(|(surface, _)| match surface {
                Surface::Ball => "over a ball",
                Surface::Ellipsoid => "over an ellipsoid",
                Surface::Cylinder => "over a cylinder",
                Surface::Torus => "over a torus",
                Surface::Can => "over a can",
            })
            .collect();
        if path.contacts.is_empty() {
            marks.push("straight");
        }
        marks.extend(self.parts.iter().filter_map(|(_, point)| match point {
            Point::None => None,
            Point::Fixed => Some("through a point"),
            Point::Moving => Some("through a moving point"),
            Point::Passing => Some("through a point at times"),
        }));
        if self.is_displaced {
            marks.push("in other places");
        }
        if self.drums != [false; 2] {
            marks.push("held on a drum");
        }
        if path.contacts.iter().filter(|contact| contact.in_contact).count() > 2 {
            marks.push("touching three or more");
        }
        marks
    }

    /// Moves the parts of a path on their bodies, but drums, on which its ends are held.
    pub(super) fn displace<T: Real>(&self, places: &mut cable::Places<T>, deal: &mut Numbers) {
        if self.is_displaced {
            for (end, drum) in [&mut places.origin, &mut places.termination].into_iter().zip(self.drums) {
                *end += deal.vector(if drum { 0.0 } else { 0.02 });
            }
            for via in &mut places.via_points {
                via.p_B += deal.vector(0.02);
            }
            let drums = usize::from(self.drums[0]);
            for place in places.obstacles.iter_mut().skip(drums).take(self.parts.len()) {
                place.X_BS *= deal.pose(0.1, 0.02);
                place.scale = deal.between(0.95, 1.05);
            }
        }
    }
}

/// Bodies in these poses.
struct Places<T: Real> {
    bodies: Vec<(BodyIndex, Pose<T>)>,
}

impl<T: Real> Places<T> {
    /// One of Ground and the first three bodies.
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

/// A drum at an end of a cable, which winds it up as it turns forwards about z.
pub(super) struct Drum<T: Real> {
    body: BodyIndex,
    X_BD: Pose<T>,
    forwards: f64,
}

/// A drum, its surface, and the end of the cable on it.
type HeldEnd<T> = (Drum<T>, Obstacle<T>, Station<T>);

/// A path with its bodies.
pub(super) struct Laid<T: Real> {
    pub(super) system: ForceSystem<T>,
    pub(super) path: CablePath<T>,
    pub(super) drums: Vec<Drum<T>>,
    places: Places<T>,
    coordinate: CoordinateIndex,
    /// About its length.
    length: f64,
}

impl<T: Real> Laid<T> {
    pub(super) fn draw(plan: &Plan, deal: &mut Numbers) -> Result<Self, Error> {
        let mut system = ForceSystem::new();
        let mut bodies = vec![(BodyIndex::GROUND, Pose::identity())];
        for _ in 0..3 {
            bodies.push((system.add_body(), deal.pose(1.5, 1.0)));
        }
        let coordinate = system.add_coordinate();
        let mut places = Places { bodies };
        let last = 2.5 * f64::from(u32::try_from(plan.parts.len()).unwrap_or(0));
        let points = [Vector3::new(-1.7, 0.0, 0.0), Vector3::new(last - 0.8, 0.0, 0.0)];
        // On different bodies: on one the forces would cancel.
        let (from, on) = (pick(deal, 4), 1 + pick(deal, 3));
        let mut drums = [None, None];
        let mut ends = [Station::ground(Point3::origin()); 2];
        for (end, body) in [from, (from + on) % 4].into_iter().enumerate() {
            let p = points[end] + deal.vector::<f64>(0.1);
            if plan.drums[end] {
                let body = (system.add_body(), deal.pose(1.5, 1.0));
                places.bodies.push(body);
                let (drum, obstacle, station) = drum(body, end, p, deal)?;
                drums[end] = Some((drum, obstacle));
                ends[end] = station;
            } else {
                let (body, X_GB) = places.bodies[body as usize];
                ends[end] = Station::on(body, X_GB.inverse_transform_point(&p.map(T::lit).into()));
            }
        }
        let mut path = CablePath::new(ends[0], ends[1])?;
        let [first, end] = drums.map(Option::unzip);
        path = first.1.into_iter().fold(path, CablePath::over);
        let mut x = 0.0;
        for &(surface, point) in &plan.parts {
            path = path.over(obstacle(surface, &places, x, deal)?);
            if let Some(point) = via_point(point, &places, x + 1.25, coordinate, deal)? {
                path = path.through(point)?;
            }
            x += 2.5;
        }
        path = end.1.into_iter().fold(path, CablePath::over);
        // The forces of a path with a kink are off by it.
        let smoothness = T::lit(1e-13).max(T::default_epsilon() * T::lit(100.0));
        let path = path.with_settings(Settings { smoothness, ..Settings::default() })?;
        let drums = first.0.into_iter().chain(end.0).collect();
        Ok(Self { system, path, drums, places, coordinate, length: last + 0.9 })
    }

    pub(super) fn law(&self, deal: &mut Numbers) -> Parameters<T> {
        Parameters {
            stiffness: spread(deal, 50.0, 5e3),
            slack_length: T::lit(self.length * deal.between::<f64>(0.8, 1.1)),
            dissipation: if toss(deal, 0.2) { T::zero() } else { spread(deal, 0.01, 3.0) },
        }
    }

    /// Moves everything somewhat from where it was laid: turns by this angle, shifts by four times that.
    pub(super) fn scatter(
        &self,
        state: &mut State<T>,
        turn: f64,
        speed: f64,
        deal: &mut Numbers,
    ) -> Result<(), Error> {
        for &(body, X_GB) in &self.places.bodies[1..] {
            state.set_body(body, X_GB * deal.pose(turn, 4.0 * turn), deal.velocity(speed))?;
        }
        state.set_coordinate_rate(self.coordinate, deal.between(-speed, speed))
    }

    pub(super) fn set_coordinate(&self, state: &mut State<T>, deal: &mut Numbers) -> Result<(), Error> {
        state.set_coordinate(self.coordinate, deal.between(-1.5, 1.5))
    }

    /// Turns the drums so far.
    pub(super) fn wind(&self, state: &mut State<T>, angle: f64) -> Result<(), Error> {
        for Drum { body, X_BD, forwards } in &self.drums {
            let turn = pose(Rotation3::new(Vector3::z() * (angle * forwards)), Vector3::zeros());
            let X_GB = *state.positions().pose(*body) * *X_BD * turn * X_BD.inverse();
            state.set_pose(*body, X_GB)?;
        }
        Ok(())
    }
}

/// A drum about this point at the first or last end, from or to whose far side the cable runs over the top.
fn drum<T: Real>(
    (body, X_GB): (BodyIndex, Pose<T>),
    end: usize,
    p: Vector3<f64>,
    deal: &mut Numbers,
) -> Result<HeldEnd<T>, Error> {
    let radius = deal.between::<f64>(0.2, 0.3);
    let X_BD = X_GB.inverse() * pose(Rotation3::new(deal.vector::<f64>(0.1)), p);
    let (far, forwards) = [(PI, 1.0), (0.0, -1.0)][end];
    let angle = far + deal.between::<f64>(-0.5, 0.5);
    let rim = Point3::new(radius * angle.cos(), radius * angle.sin(), 0.0).map(T::lit);
    let frame = Frame::on(body, X_BD);
    let drum = match pick(deal, 2) {
        0 => Obstacle::new(frame, Cylinder::new(T::lit(radius))?)?,
        _ => Obstacle::new(frame, Sphere::new(T::lit(radius))?)?,
    };
    let drum = drum.with_contact_hint(Point3::new(0.0, radius, 0.0).map(T::lit))?;
    Ok((Drum { body, X_BD, forwards }, drum, Station::on(body, X_BD * rim)))
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
        let plan = Plan::draw(deal);
        let mut laid = Laid::draw(&plan, deal)?;
        let law = laid.law(deal);
        let element = laid.system.add(CableSpring::new(laid.path.clone(), law)?)?;
        let mut state = laid.system.default_state();
        let speed = spread(deal, 1e-2, 2.0);
        laid.scatter(&mut state, 0.005, speed, deal)?;
        laid.set_coordinate(&mut state, deal)?;
        laid.system.update_parameters(&mut state, element, |p| plan.displace(&mut p.places, deal))?;
        Ok(Scene { system: laid.system, state, element })
    }
}

impl Kind for AnyCable {
    const NAME: &'static str = "CableSpring";

    /// Where the next search starts.
    fn is_quiet(_: usize) -> bool {
        true
    }

    fn marks(seed: u64, scene: &Scene<f64, CableSpring<f64>>) -> Result<Vec<&'static str>, Error> {
        let path = &scene.system.dynamics_view(&scene.state)?.of(scene.element).position.path;
        Ok(Plan::draw(&mut Numbers::new(seed)).marks(path))
    }
}
