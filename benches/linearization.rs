//! Cost of a linearization in units of an evaluation, beside that of what a user has instead.
//!
//! `linearize` is without the evaluation that comes before it. For as many directions as one element has freedoms of position
//! and of velocity there are `Dual64`, an evaluation for each, `DualSVec64`, one for twelve, and central differences, two for
//! each and the difference of the forces. A whole system takes as many times more of each as it has bodies, unless its pattern
//! is coloured.
//!
//! The columns of a row are measured in turns, and each is the least of many short samples: on a busy machine the ratios stay
//! what they are on a quiet one.
//!
//! ```text
//! cargo bench --bench linearization [part of the name of a scene]
//! ```

use std::hint::black_box;
use std::time::{Duration, Instant};

use force_elements::cable::{CablePath, Obstacle};
use force_elements::elastic_foundation::{Material, Parameters};
use force_elements::nalgebra::{Point3, Rotation3, SVector, Translation3, Vector3};
use force_elements::shapes::{Ellipsoid, HalfSpace, SolidShape, Sphere, TriangleMesh};
use force_elements::{
    BodyIndex, CableSpring, ElasticFoundation, ForceElement, ForceSystem, Forces, Frame, Handle,
    Linearization, Pose, Real, Scope, SpatialForce, SpatialVelocity, State, Station, cable_spring,
};
use num_dual::{Derivative, Dual64, DualSVec64};

#[allow(dead_code, reason = "another bench takes the others")]
mod scenes;

use scenes::{coordinates, gimbals, gimbals_over_numbers, hertz_contacts, spatial_bushings, springs};

/// The length of a sample: shorter than a time slice, so that many are not interrupted.
const SAMPLE: Duration = Duration::from_micros(100);
/// The time for a scene.
const BUDGET: Duration = Duration::from_secs(4);

/// A system in motion.
struct Scene<T: Real> {
    system: ForceSystem<T>,
    state: State<T>,
    is_moved: bool,
}

/// A scalar whose derivatives are calculated.
trait Varied: Real {
    /// Zero, with the derivative 1 in one of twelve directions, or in the only one.
    fn variation(direction: usize) -> Self;
}

impl Varied for f64 {
    fn variation(_: usize) -> Self {
        0.0
    }
}

impl Varied for Dual64 {
    fn variation(_: usize) -> Self {
        Self::new(0.0, 1.0)
    }
}

impl<const N: usize> Varied for DualSVec64<N> {
    fn variation(direction: usize) -> Self {
        Self::new(0.0, Derivative::some(SVector::from_fn(|i, _| if i == direction { 1.0 } else { 0.0 })))
    }
}

impl<T: Varied> Scene<T> {
    /// All bodies and coordinates vary in all directions. Dual numbers without derivatives would be another, cheaper or, where
    /// the compiler calculates derivatives that are not there, slower program.
    fn new((system, mut state): (ForceSystem<T>, State<T>)) -> Self {
        let varied = |first| Vector3::from_fn(|axis, _| T::variation(first + axis));
        for body in system.topology().bodies() {
            let mut pose = *state.positions().pose(body);
            let turned = pose.rotation.matrix() + varied(0).cross_matrix() * pose.rotation.matrix();
            pose.rotation = Rotation3::from_matrix_unchecked(turned);
            pose.translation.vector += varied(3);
            let SpatialVelocity { angular, linear } = *state.velocities().velocity(body);
            let velocity = SpatialVelocity::new(angular + varied(6), linear + varied(9));
            state.set_body(body, pose, velocity).expect("finite");
        }
        for coordinate in system.topology().coordinates() {
            let q = state.positions().coordinate(coordinate) + T::variation(0);
            let u = state.velocities().coordinate_rate(coordinate) + T::variation(1);
            state.set_coordinate(coordinate, q).expect("finite");
            state.set_coordinate_rate(coordinate, u).expect("finite");
        }
        Self { system, state, is_moved: false }
    }

    /// Moves one body or coordinate by a nanometre, forth and back, and evaluates all.
    fn evaluate(&mut self) {
        self.is_moved = !self.is_moved;
        self.evaluate_shifted(T::lit(if self.is_moved { 1e-9 } else { -1e-9 }));
    }

    fn evaluate_shifted(&mut self, shift: T) -> &Forces<T> {
        if let Some(body) = self.system.topology().bodies().last() {
            let mut pose = *self.state.positions().pose(body);
            pose.translation.x += shift;
            self.state.set_pose(body, pose).expect("finite");
        } else if let Some(coordinate) = self.system.topology().coordinates().next() {
            let q = self.state.positions().coordinate(coordinate) + shift;
            self.state.set_coordinate(coordinate, q).expect("finite");
        }
        let view = self.system.realize_dynamics(&mut self.state).expect("regular");
        black_box(view.potential_energy());
        view.forces()
    }

    /// Writes the slopes of all forces by one body or coordinate, from two evaluations.
    fn difference(&mut self, Slopes { bodies, coordinates }: &mut Slopes<T>) {
        let width = T::lit(2.0 * STEP);
        bodies.clear();
        coordinates.clear();
        let above = self.evaluate_shifted(width);
        bodies.extend_from_slice(above.bodies());
        coordinates.extend_from_slice(above.coordinates());
        let below = self.evaluate_shifted(-width);
        for (slope, F) in bodies.iter_mut().zip(below.bodies()) {
            slope.torque = (slope.torque - F.torque) / width;
            slope.force = (slope.force - F.force) / width;
        }
        for (slope, f) in coordinates.iter_mut().zip(below.coordinates()) {
            *slope = (*slope - *f) / width;
        }
    }
}

/// The step of differences, half of their width.
const STEP: f64 = 6e-7;

/// Slopes of the forces on all bodies and coordinates.
struct Slopes<T: Real> {
    bodies: Vec<SpatialForce<T>>,
    coordinates: Vec<T>,
}

/// The least time of one call in samples of each in turn.
fn least_times<const N: usize>(mut tasks: [&mut dyn FnMut(); N]) -> [f64; N] {
    let time = |task: &mut dyn FnMut(), calls: u32| {
        let start = Instant::now();
        (0..calls).for_each(|_| task());
        start.elapsed().as_secs_f64() / f64::from(calls)
    };
    let mut least = [f64::INFINITY; N];
    let mut calls = [1_u32; N];
    let start = Instant::now();
    while start.elapsed() < BUDGET {
        for ((task, least), calls) in tasks.iter_mut().zip(&mut least).zip(&mut calls) {
            *least = least.min(time(task, *calls));
            while *calls < 1000 && *least * f64::from(*calls) < SAMPLE.as_secs_f64() {
                *calls += 1;
            }
        }
    }
    least
}

/// Prints one row, for elements with so many directions.
fn compare<const N: usize>(
    name: &str,
    directions: u32,
    [mut plain, mut still, mut shifted]: [Scene<f64>; 3],
    mut dual: Scene<Dual64>,
    mut vector: Scene<DualSVec64<N>>,
) {
    still.evaluate();
    let Scene { system, state, .. } = &still;
    let linearize = |scope: Scope| {
        let mut linearization = Linearization::of(scope);
        move || {
            system.linearize(black_box(state), &mut linearization).expect("regular");
            black_box(&mut linearization);
        }
    };
    let all = Scope { variables: true, commit: true };
    let mut slopes = Slopes { bodies: Vec::new(), coordinates: Vec::new() };
    let [evaluation, by_motion, by_all, one, many, difference] = least_times([
        &mut || plain.evaluate(),
        &mut linearize(Scope::default()),
        &mut linearize(all),
        &mut || dual.evaluate(),
        &mut || vector.evaluate(),
        &mut || shifted.difference(black_box(&mut slopes)),
    ]);
    let [directions, at_once] = [directions, u32::try_from(N).expect("few")].map(f64::from);
    let count = u32::try_from(system.element_count()).map(f64::from).expect("few");
    println!(
        "| {name} | {:.3} | {directions} | {:.2} | {:.1} | {:.1} | {:.1} | {:.1} |",
        evaluation / count * 1e6,
        by_motion / evaluation,
        by_all / evaluation,
        one / evaluation * directions,
        many / evaluation * (directions / at_once),
        difference / evaluation * directions,
    );
}

/// A row for scenes of this kind, if it is asked for.
macro_rules! row {
    ($name:literal, $directions:literal, $at_once:literal, $scene:expr) => {{
        fn scene<T: Varied>() -> Scene<T> {
            let scene: fn() -> (ForceSystem<T>, State<T>) = $scene;
            Scene::new(scene())
        }
        let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
        if wanted.is_none_or(|part| $name.contains(&part)) {
            compare::<$at_once>($name, $directions, [scene(), scene(), scene()], scene(), scene());
        }
    }};
}

/// A sphere of 8192 faces, turned so that no axis of the mesh is along the normal, a hundredth of its radius deep in another
/// surface.
fn foundation<T: Real>(
    mut foundation: ElasticFoundation<f64>,
    other: impl FnOnce(&mut ElasticFoundation<f64>, BodyIndex, &TriangleMesh<f64>),
) -> (ForceSystem<T>, State<T>) {
    let mut system = ForceSystem::new();
    let (below, body) = (system.add_body(), system.add_body());
    let mesh = TriangleMesh::sphere(1.0, 32).expect("valid");
    other(&mut foundation, below, &mesh);
    foundation.add_springs(Frame::of(body), mesh, rubber()).expect("valid");
    system.add(foundation).expect("valid");
    let mut state = system.default_state();
    let turn = Rotation3::new(Vector3::new(0.3, 0.4, 0.2));
    let velocity = SpatialVelocity::new(Vector3::new(0.1, 0.2, -0.3), Vector3::new(0.05, -0.02, -0.1));
    for z in [1.989, 1.99] {
        let pose = Pose::from_parts(Translation3::new(1e-4, 0.0, z), turn);
        state.set_body(body, pose, velocity).expect("finite");
        system.realize_dynamics(&mut state).expect("regular");
        if z < 1.99 {
            system.accept_step(&mut state).expect("regular");
        }
    }
    let cast = system.cast::<T>().expect("fits");
    let state = cast.cast_state(&state).expect("fits");
    (cast, state)
}

fn rubber() -> Material<f64> {
    Material::new(1e6).with_dissipation(0.1).with_friction(0.9, 0.7, 0.01).with_grip(1e6, 1e3)
}

fn rigid(foundation: &mut ElasticFoundation<f64>, frame: Frame<f64>, shape: impl Into<SolidShape<f64>>) {
    foundation.add_rigid(frame, shape).expect("closed");
}

/// On a half-space of a body, or of Ground.
fn half_space<T: Real>(
    on: Option<BodyIndex>,
    parameters: Parameters<f64>,
    has_anchors: bool,
) -> (ForceSystem<T>, State<T>) {
    let bed = ElasticFoundation::new(parameters).expect("valid");
    foundation(if has_anchors { bed.with_anchors() } else { bed }, |bed, body, _| {
        rigid(bed, Frame::on(on.unwrap_or(body), Pose::translation(0.0, 0.0, 1.0)), HalfSpace::BelowZ);
    })
}

fn clipped() -> Parameters<f64> {
    Parameters { clipped: true, ..Parameters::default() }
}

fn contacts() {
    row!("ExponentialSpring, 200 on Ground", 12, 12, || springs(200));
    row!("HertzContact, 200 of balls on balls", 24, 12, || hertz_contacts(200, true));
    row!("foundation on Ground", 12, 12, || {
        half_space(Some(BodyIndex::GROUND), Parameters::default(), false)
    });
    row!("foundation on a half-space", 24, 12, || half_space(None, Parameters::default(), false));
    row!("clipped foundation on a half-space", 24, 12, || half_space(None, clipped(), false));
    row!("foundation with anchors on a half-space", 24, 12, || {
        half_space(None, Parameters::default(), true)
    });
    row!("foundation on an ellipsoid", 24, 12, || {
        foundation(ElasticFoundation::default(), |bed, body, _| {
            let radii = Vector3::new(1.3, 1.2, 1.0);
            rigid(bed, Frame::of(body), Ellipsoid::new(radii).expect("valid"));
        })
    });
    row!("foundation on its like", 24, 12, || {
        foundation(ElasticFoundation::default(), |bed, body, mesh| {
            bed.add_springs(Frame::of(body), mesh.clone(), rubber()).expect("closed");
        })
    });
}

/// The elastic law of all cables.
fn elastic<T: Real>() -> cable_spring::Parameters<T> {
    cable_spring::Parameters { stiffness: T::lit(100.0), slack_length: T::one(), dissipation: T::lit(0.1) }
}

/// A cable over so many spheres or ellipsoids, on Ground or each on its own body, one millimetre from where it is
/// remembered.
fn cable<T: Real>(count: u32, is_round: bool, moves: bool) -> (ForceSystem<T>, State<T>) {
    let element = |path| CableSpring::new(path, elastic()).expect("valid");
    let (system, mut state, cable) = cable_with(count, is_round, moves, element);
    let view = system.realize_dynamics(&mut state).expect("regular");
    assert!(view.of(cable).position.path.contacts.iter().all(|contact| contact.in_contact));
    (system, state)
}

/// The same with friction, between sticking and slipping.
fn capstan<T: Real>(count: u32, is_round: bool) -> (ForceSystem<T>, State<T>) {
    let element = |path| {
        let friction: Vec<_> = (0..count).map(|_| T::lit(0.3)).collect();
        CableSpring::new(path, elastic()).and_then(|cable| cable.with_friction(friction)).expect("valid")
    };
    let (system, mut state, cable) = cable_with(count, is_round, false, element);
    let view = system.realize_dynamics(&mut state).expect("regular");
    assert!(view.of(cable).position.path.contacts.iter().all(|contact| contact.in_contact));
    (system, state)
}

fn cable_with<T: Real, E: ForceElement<T>>(
    count: u32,
    is_round: bool,
    moves: bool,
    element: impl FnOnce(CablePath<T>) -> E,
) -> (ForceSystem<T>, State<T>, Handle<E>) {
    let mut system = ForceSystem::new();
    let end = system.add_body();
    let p = |x: f64, y: f64, z: f64| Point3::new(x, y, z).map(T::lit);
    let mut path = CablePath::new(Station::ground(p(-1.5, -0.2, 0.0)), Station::on(end, p(0.0, 0.0, 0.0)))
        .expect("finite");
    let radii = Vector3::new(0.7, 0.6, 1.0).map(T::lit);
    for i in 0..count {
        // In an arch, so that all are touched.
        let (x, y) = (2.0 * f64::from(i), 0.12 * f64::from(i * (count - 1 - i)) - 0.4);
        let body = if moves { system.add_body() } else { BodyIndex::GROUND };
        let frame = Frame::on(body, Pose::translation(T::lit(x), T::lit(y), T::lit(0.0)));
        let obstacle = if is_round {
            Obstacle::new(frame, Sphere::new(T::lit(0.7)).expect("positive"))
        } else {
            Obstacle::new(frame, Ellipsoid::new(radii).expect("positive"))
        };
        path = path.over(obstacle.expect("a rotation"));
    }
    let cable = system.add(element(path)).expect("exists");
    let mut state = system.default_state();
    for shift in [0.0, 1e-3] {
        let X = Pose::translation(
            T::lit(2.0 * f64::from(count) - 0.5 + shift),
            T::lit(-0.2),
            T::lit(0.2 + shift),
        );
        let V = SpatialVelocity::new(Vector3::zeros(), Vector3::new(0.1, 0.2, 0.3).map(T::lit));
        state.set_body(end, X, V).expect("finite");
        system.realize_dynamics(&mut state).expect("regular");
        if shift == 0.0 {
            system.accept_step(&mut state).expect("regular");
        }
    }
    (system, state, cable)
}

fn bushings_and_coordinates() {
    row!("LinearBushing, 200 in a chain", 24, 12, || gimbals(200));
    row!("its law over numbers, 200 in a chain", 24, 12, || gimbals_over_numbers(200));
    row!("SpatialBushing, 200 in a chain", 24, 12, || spatial_bushings(200, 1, 0));
    row!("SpatialBushing, coupled, with two curves", 24, 12, || spatial_bushings(200, 6, 2));
    row!("coordinate element, bristles, 1000", 2, 2, || coordinates(1000, |_| {}));
    row!("coordinate element, regularised, 1000", 2, 2, || {
        coordinates(1000, |p| p.friction_proportional_zone = T::lit(0.01))
    });
}

fn cables() {
    row!("cable over 1 ellipsoid", 12, 12, || cable(1, false, false));
    row!("cable over 5 ellipsoids", 12, 12, || cable(5, false, false));
    row!("cable over 1 sphere", 12, 12, || cable(1, true, false));
    row!("cable over 5 spheres", 12, 12, || cable(5, true, false));
    row!("cable with friction over 1 sphere", 12, 12, || capstan(1, true));
    row!("cable with friction over 5 ellipsoids", 12, 12, || capstan(5, false));
    row!("cable over 5 moving ellipsoids", 72, 12, || cable(5, false, true));
}

fn main() {
    println!(
        "| scene | evaluation, µs | directions | `linearize` | with variables and commit | `Dual64` | `DualSVec64` | differences |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    bushings_and_coordinates();
    contacts();
    cables();
}
