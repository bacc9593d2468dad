//! Static friction of exponential springs: it holds up to its limit and lets go there, from rest and from sliding, in
//! steps of any length and under error control.

use force_elements::exponential_spring::Parameters;
use force_elements::nalgebra::{Point3, Rotation3, Vector3};
use force_elements::simulation::{DormandPrince, Plant, RigidBody, SemiImplicitEuler, Simulation};
use force_elements::{
    BodyIndex, CustomForce, ExponentialSpring, ForceSystem, Frame, Handle, Pose, SpatialForce,
    SpatialVelocity, Station,
};

const GRAVITY: f64 = 9.81;
const MU_STATIC: f64 = 0.7;
const MU_KINETIC: f64 = 0.5;

#[derive(Debug, Clone, Copy)]
enum Host {
    /// Semi-implicit Euler in steps of this length \[s\].
    Steps(f64),
    /// Dormand–Prince with this accuracy.
    Controlled(f64),
}

const HOSTS: [Host; 4] = [Host::Steps(1e-4), Host::Steps(1e-3), Host::Steps(5e-3), Host::Controlled(1e-6)];

impl Host {
    fn run(
        self,
        simulation: &mut Simulation<'_, f64>,
        end: f64,
        observe: impl FnMut(&mut Simulation<'_, f64>),
    ) {
        let outcome = match self {
            Self::Steps(step) => simulation.run(&mut SemiImplicitEuler::new(step), end, observe),
            Self::Controlled(accuracy) => simulation.run(&mut DormandPrince::new(accuracy), end, observe),
        };
        outcome.expect("regular");
    }

    /// The longest time by which a transition may be late \[s\].
    fn delay(self) -> f64 {
        if let Self::Steps(step) = self { step } else { 0.0 }
    }
}

/// A body on stations, without gravity of the plant.
struct Scene {
    system: ForceSystem<f64>,
    plant: Plant<f64>,
    body: BodyIndex,
    springs: Vec<Handle<ExponentialSpring<f64>>>,
}

fn along_x(speed: f64) -> SpatialVelocity<f64> {
    SpatialVelocity::new(Vector3::zeros(), Vector3::new(speed, 0.0, 0.0))
}

impl Scene {
    fn new(mass: f64, inertia: f64) -> Self {
        let mut system = ForceSystem::new();
        let mut plant = Plant::new(Vector3::zeros()).expect("finite");
        let rigid = RigidBody::with_equal_inertia(mass, inertia).expect("positive");
        let body = plant.add_body(&mut system, rigid);
        Self { system, plant, body, springs: Vec::new() }
    }

    fn add_spring(&mut self, plane: Frame<f64>, station: Point3<f64>, parameters: Parameters<f64>) {
        let station = Station::on(self.body, station);
        let spring = ExponentialSpring::new(plane, station, parameters).expect("valid");
        self.springs.push(self.system.add(spring).expect("exists"));
    }

    /// Pulls at the body's origin with a force that depends on time and on where it is.
    fn add_pull(&mut self, force: impl Fn(f64, Vector3<f64>) -> Vector3<f64> + Send + Sync + 'static) {
        let body = self.body;
        let pull = CustomForce::<f64>::new(move |motion, loads| {
            let p_GB = motion.pose(body).translation.vector;
            let force = force(motion.time(), p_GB);
            loads.apply_at_point(body, &Point3::from(p_GB), force);
            loads.apply_at_point(BodyIndex::GROUND, &Point3::from(p_GB), -force);
            0.0
        });
        self.system.add(pull).expect("exists");
    }

    fn start(&self, pose: Pose<f64>, velocity: SpatialVelocity<f64>) -> Simulation<'_, f64> {
        let mut state = self.system.default_state();
        state.set_body(self.body, pose, velocity).expect("finite");
        Simulation::new(&self.system, &self.plant, state).expect("regular")
    }

    fn position(&self, simulation: &Simulation<'_, f64>) -> Vector3<f64> {
        simulation.state().positions().pose(self.body).translation.vector
    }

    fn velocity(&self, simulation: &Simulation<'_, f64>) -> Vector3<f64> {
        simulation.state().velocities().velocity(self.body).linear
    }
}

fn default_parameters() -> Parameters<f64> {
    Parameters { mu_static: MU_STATIC, mu_kinetic: MU_KINETIC, ..Parameters::default() }
}

#[test]
fn a_load_that_rises_slowly_is_held_up_to_static_friction() {
    let (mass, rate, parameters) = (2.5, 2.0, default_parameters());
    let limit = MU_STATIC * mass * GRAVITY;
    // Below kinetic friction for a second, in which what slides comes to rest.
    let load = move |time: f64| 10.0 + rate * (time - 1.0).max(0.0);
    let mut scene = Scene::new(mass, 1.0);
    scene.add_spring(Frame::ground(Pose::identity()), Point3::origin(), parameters);
    scene.add_pull(move |time, _| Vector3::new(load(time), 0.0, -mass * GRAVITY));
    let height = parameters.resting_height(mass * GRAVITY).expect("a load");
    for host in HOSTS {
        for speed in [0.0, 0.3] {
            let mut simulation = scene.start(Pose::translation(0.0, 0.0, height), along_x(speed));
            host.run(&mut simulation, 1.5, |_| {});
            let foot = scene.position(&simulation).x - load(1.5) / parameters.friction_elasticity;
            let (mut let_go, mut most, mut last) = (None, 0.0_f64, simulation.time());
            host.run(&mut simulation, 6.0, |simulation| {
                let moved = scene.position(simulation).x - foot;
                let (time, velocity) = (simulation.time(), scene.velocity(simulation).x);
                let at = *simulation.dynamics().expect("regular").of(scene.springs[0]).dynamics;
                if let_go.is_none() {
                    most = most.max(-at.friction_force_P.x);
                    // It is drawn out in proportion: the load changes by 2 N a second, the oscillator follows in
                    // hundredths of a second.
                    let drawn = load(time) / parameters.friction_elasticity;
                    let (is_near, has_gone) = (load(time) > limit - 0.01, velocity > 0.01);
                    assert!(is_near || (moved - drawn).abs() < 2e-5, "{host:?}: {moved} m for {drawn} m");
                    let_go = has_gone.then(|| (load(last), load(time)));
                }
                last = time;
            });
            let (before, after) = let_go.expect("it lets go");
            // At 2 m/s² it has a hundredth of a metre a second after 5 ms; and it may go at the end of a step.
            let late = rate * (0.01 + host.delay());
            assert!(before < limit + late && after > limit, "{host:?}, {speed} m/s: {before} N to {after} N");
            assert!((most / limit - 1.0).abs() < 1e-3, "{host:?}, {speed} m/s: {most} N of {limit} N");
        }
    }
}

/// The angle \[°\] at which a body slips on a plane that is tilted slowly.
fn slips_at(
    corners: &[Point3<f64>],
    parameters: Parameters<f64>,
    inertia: f64,
    host: Host,
    speed: f64,
) -> f64 {
    let mass = 10.0;
    let angle = |time: f64| 22.0 + 2.0 * time;
    let mut scene = Scene::new(mass, inertia);
    for &corner in corners {
        scene.add_spring(Frame::ground(Pose::identity()), corner, parameters);
    }
    scene.add_pull(move |time, _| {
        let (sin, cos) = angle(time).to_radians().sin_cos();
        Vector3::new(sin, 0.0, -cos) * (mass * GRAVITY)
    });
    let load = mass * GRAVITY * angle(0.0).to_radians().cos()
        / f64::from(u32::try_from(corners.len()).expect("few"));
    let height = parameters.resting_height(load).expect("a load") - corners[0].z;
    let mut simulation = scene.start(Pose::translation(0.0, 0.0, height), along_x(speed));
    host.run(&mut simulation, 1.0, |_| {});
    let mut slipped = None;
    host.run(&mut simulation, 7.0, |simulation| {
        if slipped.is_none() && scene.velocity(simulation).x > 0.01 {
            slipped = Some(angle(simulation.time()));
        }
    });
    slipped.expect("it slips")
}

#[test]
fn a_plane_that_is_tilted_slowly_lets_go_at_the_angle_of_static_friction() {
    let expected = MU_STATIC.atan().to_degrees();
    let corners =
        |z: f64| [(-0.1, -0.1), (-0.1, 0.1), (0.1, -0.1), (0.1, 0.1)].map(|(x, y)| Point3::new(x, y, z));
    for host in HOSTS {
        for speed in [0.0, 0.2] {
            for (name, corners, inertia) in
                [("point", &[Point3::origin()][..], 1.0), ("sledge", &corners(0.0), 10.0 * 0.04 / 6.0)]
            {
                let angle = slips_at(corners, default_parameters(), inertia, host, speed);
                assert!((angle - expected).abs() < 0.1, "{name}, {host:?}, {speed} m/s: {angle}°");
            }
        }
    }
}

/// Where a cube of 0.2 m and 10 kg slips \[°\], from the law in the plane in steps so short that it does not matter when in
/// them an anchor moves: with two corners behind, two in front, and the motion as above.
fn cube_slips_at(speed: f64) -> f64 {
    let Parameters { d0, d1, d2, normal_viscosity: cz, settle_velocity, .. } = default_parameters();
    let Parameters { friction_elasticity: k, friction_viscosity: c, .. } = default_parameters();
    let (mass, inertia, half, h) = (10.0, 10.0 * 0.04 / 6.0, 0.1, 1e-5);
    let load = mass * GRAVITY * 22.0_f64.to_radians().cos() / 4.0;
    let (mut q, mut v) = ([0.0, half + d0 - (load / d1).ln() / d2, 0.0], [speed, 0.0, 0.0]);
    let mut anchors = [-half, half];
    let mut slides = [true; 2];
    for step in 0..700_000 {
        let time = h * f64::from(step);
        let (sin, cos) = (22.0 + 2.0 * time).to_radians().sin_cos();
        let mut rates = [GRAVITY * sin, -GRAVITY * cos, 0.0];
        for (i, x) in [-half, half].into_iter().enumerate() {
            let (s, c_) = q[2].sin_cos();
            let (rx, rz) = (x * c_ - half * s, -x * s - half * c_);
            let (px, pz, vx, vz) = (q[0] + rx, q[1] + rz, v[0] + v[2] * rz, v[1] - v[2] * rx);
            let normal = d1 * (-d2 * (pz - d0)).exp() * (1.0 - cz * vz);
            let (elastic, viscous) = (k * (px - anchors[i]), c * vx);
            slides[i] |= (elastic + viscous).abs() > MU_STATIC * normal;
            // The damper first, then as much of the spring as the limit leaves.
            let limit = if slides[i] { MU_KINETIC } else { MU_STATIC } * normal;
            let damping = viscous.clamp(-limit, limit);
            let left = elastic.clamp(-limit - damping, limit - damping);
            let friction = -left - damping;
            anchors[i] = px - left / k;
            let is_beyond = left != elastic || damping != viscous;
            slides[i] = is_beyond || (slides[i] && vx.abs() > settle_velocity);
            let (fx, fz) = (2.0 * friction, 2.0 * normal);
            rates[0] += fx / mass;
            rates[1] += fz / mass;
            rates[2] += (rz * fx - rx * fz) / inertia;
        }
        for i in 0..3 {
            v[i] += h * rates[i];
            q[i] += h * v[i];
        }
        if time > 1.0 && v[0] > 0.01 {
            return 22.0 + 2.0 * time;
        }
    }
    // It does not slip.
    f64::INFINITY
}

#[test]
fn a_cube_on_a_plane_that_is_tilted_slowly_slips_where_the_law_says() {
    let corners = [(-0.1, -0.1), (-0.1, 0.1), (0.1, -0.1), (0.1, 0.1)].map(|(x, y)| Point3::new(x, y, -0.1));
    for speed in [0.0, 0.2] {
        let by_law = cube_slips_at(speed);
        // It leans forward. The corners behind carry little and let go from 22° on, again and again as those in front
        // yield; when all let go, those behind carry something between kinetic and static friction.
        let at = |behind: f64| {
            let in_front = |tan: f64| 0.5 * (1.0 + tan);
            (0..50)
                .fold(0.6, |tan, _| MU_STATIC * in_front(tan) + behind * (1.0 - in_front(tan)))
                .atan()
                .to_degrees()
        };
        let between = at(MU_KINETIC)..at(MU_STATIC);
        assert!(between.contains(&by_law), "{by_law}°, {between:?}");
        for host in HOSTS {
            let angle = slips_at(&corners, default_parameters(), 10.0 * 0.04 / 6.0, host, speed);
            // Each time a corner lets go late by up to a step, which in steps of 5 ms decides on how it holds again.
            if host.delay() > 2e-3 {
                assert!((between.start - 0.1..between.end + 0.1).contains(&angle), "{host:?}: {angle}°");
            } else {
                assert!((angle - by_law).abs() < 0.1, "{host:?}, {speed} m/s: {angle}° for {by_law}°");
            }
        }
    }
}

#[test]
fn blocks_whose_corners_slip_slowly_hold_up_to_the_angle_of_static_friction() {
    let expected = MU_STATIC.atan().to_degrees();
    // While the plane tilts at 2° a second, corners behind slip at up to 0.15 mm/s.
    let parameters = Parameters { release_velocity: 2e-4, ..default_parameters() };
    for half_height in [0.01, 0.04, 0.1] {
        let corners = [(-0.1, -0.1), (-0.1, 0.1), (0.1, -0.1), (0.1, 0.1)]
            .map(|(x, y)| Point3::new(x, y, -half_height));
        let inertia = 10.0 * (0.1 * 0.1 + half_height * half_height) / 3.0;
        let for_mass = Parameters::for_mass(10.0, 4, 1.0, 1e-3).expect("positive");
        let hosts = HOSTS.map(|host| (host, parameters));
        for (host, parameters) in hosts.into_iter().chain([(Host::Steps(1e-3), for_mass)]) {
            for speed in [0.0, 0.2] {
                let angle = slips_at(&corners, parameters, inertia, host, speed);
                assert!((angle - expected).abs() < 0.1, "{half_height} m, {host:?}, {speed} m/s: {angle}°");
            }
        }
    }
}

#[test]
fn a_capsule_pinched_between_two_plates_does_not_creep() {
    let (mass, radius, half_length) = (0.5, 0.02, 0.05);
    // Stable in steps of 5 ms: a softer spring, and a lighter pinch, by twice the load that kinetic friction holds.
    let parameters = default_parameters().with_critical_damping(2000.0, mass / 4.0);
    let height = parameters.resting_height(4.0).expect("a load");
    let mut scene = Scene::new(mass, 5e-4);
    for side in [-1.0, 1.0] {
        let towards = Rotation3::from_axis_angle(&Vector3::y_axis(), -side * std::f64::consts::FRAC_PI_2);
        let plate = Pose::from_parts(Vector3::new(side * (radius + height), 0.0, 0.0).into(), towards);
        for end in [-1.0, 1.0] {
            let station = Point3::new(side * radius, 0.0, end * half_length);
            scene.add_spring(Frame::ground(plate), station, parameters);
        }
    }
    scene.add_pull(move |_, _| Vector3::new(0.0, 0.0, -mass * GRAVITY));
    for host in HOSTS {
        for speed in [0.0, -0.5] {
            let velocity = SpatialVelocity::new(Vector3::zeros(), Vector3::new(0.0, 0.0, speed));
            let mut simulation = scene.start(Pose::identity(), velocity);
            host.run(&mut simulation, 4.0, |_| {});
            let before = scene.position(&simulation);
            assert!(speed == 0.0 || before.z < -1e-3, "it has slid: {before}");
            host.run(&mut simulation, 8.0, |_| {});
            let creep = (scene.position(&simulation) - before).norm() / 4.0;
            // What is left of vibration, which error control keeps up by its accuracy.
            assert!(creep < 1e-10, "{host:?}, {speed} m/s: {creep} m/s");
        }
    }
}

/// A block on a belt, held by a spring to Ground.
#[derive(Debug, Clone, Copy)]
struct Belt {
    mass: f64,
    stiffness: f64,
    speed: f64,
    friction: Parameters<f64>,
}

/// Mean time between two turns of the block, and its largest displacement on average.
#[derive(Debug, Clone, Copy)]
struct Cycle {
    period: f64,
    peak: f64,
}

impl Cycle {
    /// Of the turns after the first two.
    fn of(turns: &[(f64, f64)]) -> Self {
        let turns = &turns[2..];
        let count = f64::from(u32::try_from(turns.len()).expect("few"));
        assert!(count > 4.0, "it sticks and slips: {turns:?}");
        let period = (turns[turns.len() - 1].0 - turns[0].0) / (count - 1.0);
        Self { period, peak: turns.iter().map(|turn| turn.1).sum::<f64>() / count }
    }

    fn deviation(self, other: Self) -> f64 {
        (self.period / other.period - 1.0).abs().max((self.peak / other.peak - 1.0).abs())
    }
}

impl Belt {
    /// A friction spring so many times as stiff as the spring.
    fn new(ratio: f64) -> Self {
        let (mass, stiffness) = (1.0, 20.0);
        let elasticity = ratio * stiffness;
        let friction = Parameters {
            friction_elasticity: elasticity,
            friction_viscosity: 0.6 * (elasticity * mass).sqrt(),
            ..default_parameters()
        };
        Self { mass, stiffness, speed: 0.1, friction }
    }

    fn limit(&self, mu: f64) -> f64 {
        mu * self.mass * GRAVITY
    }

    /// Of a block that sticks rigidly, in closed form.
    fn rigid(&self) -> Cycle {
        let omega = (self.stiffness / self.mass).sqrt();
        let amplitude = (self.limit(MU_STATIC) - self.limit(MU_KINETIC)) / self.stiffness;
        let slips = 2.0 / omega * (std::f64::consts::PI - (amplitude * omega / self.speed).atan());
        let peak = self.limit(MU_KINETIC) / self.stiffness + amplitude.hypot(self.speed / omega);
        Cycle { period: 2.0 * amplitude / self.speed + slips, peak }
    }

    /// Of the two-state law, with its events located: position, velocity, and stretch of the friction spring, which a
    /// block that slips draws out by what its damper leaves of kinetic friction.
    fn located(&self, start: f64, seconds: f64) -> Cycle {
        let Parameters { friction_elasticity: k, friction_viscosity: c, .. } = self.friction;
        let kinetic = self.limit(MU_KINETIC);
        let pull = |y: &Vector3<f64>| k * y.z + c * (y.y - self.speed);
        let acceleration = |y: &Vector3<f64>, slip: f64| {
            let friction = if slip == 0.0 { pull(y) } else { slip * kinetic };
            (-self.stiffness * y.x - friction) / self.mass
        };
        // Slips to one side, or sticks.
        let rates = |y: &Vector3<f64>, slip: f64| {
            let drawn = if slip == 0.0 { y.y - self.speed } else { 0.0 };
            Vector3::new(y.y, acceleration(y, slip), drawn)
        };
        let step = |y: &Vector3<f64>, slip: f64, h: f64| {
            let k1 = rates(y, slip);
            let k2 = rates(&(y + k1 * (0.5 * h)), slip);
            let k3 = rates(&(y + k2 * (0.5 * h)), slip);
            let k4 = rates(&(y + k3 * h), slip);
            y + (k1 + (k2 + k3) * 2.0 + k4) * (h / 6.0)
        };
        // Positive once the present state has ended.
        let ended = |y: &Vector3<f64>, slip: f64| {
            if slip == 0.0 {
                pull(y).abs() - self.limit(MU_STATIC)
            } else {
                // The spring is drawn out faster than the block moves.
                let faster = slip * (y.y - self.speed) + c / k * slip * acceleration(y, slip);
                (kinetic - c * slip * (y.y - self.speed)).min(-faster)
            }
        };
        let (mut time, mut y, mut turns) = (0.0, Vector3::new(0.0, start, 0.0), Vec::new());
        let mut slip = if start == self.speed { 0.0 } else { (start - self.speed).signum() };
        while time < seconds {
            let mut h = 2e-5;
            let mut next = step(&y, slip, h);
            let ends = ended(&next, slip) > 0.0;
            if ends {
                let mut low = 0.0;
                for _ in 0..50 {
                    let middle = 0.5 * (low + h);
                    if ended(&step(&y, slip, middle), slip) > 0.0 { h = middle } else { low = middle }
                }
                next = step(&y, slip, h);
            }
            if y.y > 0.0 && next.y <= 0.0 {
                let share = y.y / (y.y - next.y);
                turns.push((time + share * h, y.x + 0.5 * share * h * y.y));
            }
            (time, y) = (time + h, next);
            if ends {
                if slip == 0.0 {
                    slip = pull(&y).signum();
                } else {
                    y.z = slip * kinetic / k - c / k * (y.y - self.speed);
                    slip = 0.0;
                }
            }
        }
        Cycle::of(&turns)
    }

    fn simulated(&self, host: Host, start: f64, seconds: f64) -> Cycle {
        let mut scene = Scene::new(self.mass, 1.0);
        // So heavy that nothing slows it down.
        let heavy = RigidBody::with_equal_inertia(1e12, 1e12).expect("positive");
        let belt = scene.plant.add_body(&mut scene.system, heavy);
        scene.add_spring(Frame::of(belt), Point3::origin(), self.friction);
        let (stiffness, weight) = (self.stiffness, self.mass * GRAVITY);
        scene.add_pull(move |_, p| Vector3::new(-stiffness * p.x, 0.0, -weight));
        let mut state = scene.system.default_state();
        let height = self.friction.resting_height(weight).expect("a load");
        state.set_body(scene.body, Pose::translation(0.0, 0.0, height), along_x(start)).expect("finite");
        state.set_body(belt, Pose::identity(), along_x(self.speed)).expect("finite");
        let mut simulation = Simulation::new(&scene.system, &scene.plant, state).expect("regular");
        let (mut last, mut turns) = ((0.0, 0.0, start), Vec::new());
        host.run(&mut simulation, seconds, |simulation| {
            let (time, x, v) =
                (simulation.time(), scene.position(simulation).x, scene.velocity(simulation).x);
            if last.2 > 0.0 && v <= 0.0 {
                let share = last.2 / (last.2 - v);
                turns.push((last.0 + share * (time - last.0), x.max(last.1)));
            }
            last = (time, x, v);
        });
        Cycle::of(&turns)
    }
}

#[test]
fn a_block_on_a_belt_sticks_and_slips_as_the_two_state_law_does() {
    for ratio in [100.0, 2000.0] {
        let belt = Belt::new(ratio);
        // At rest on the belt, and sliding back over it.
        for start in [belt.speed, -0.4] {
            let expected = belt.located(start, 40.0);
            for host in HOSTS.into_iter().chain([Host::Controlled(1e-8)]) {
                let cycle = belt.simulated(host, start, 40.0);
                // The block lets go at the end of a step. Under error control steps go with the fifth root of the accuracy,
                // and the error of the anchor with their square.
                let allowed = match host {
                    Host::Steps(step) => step / expected.period + 1e-4,
                    Host::Controlled(accuracy) => 1e-3 * (accuracy / 1e-6).powf(0.4),
                };
                let deviation = cycle.deviation(expected);
                assert!(
                    deviation < allowed,
                    "{ratio}, {start}, {host:?}: {cycle:?}, {expected:?}: {deviation}"
                );
            }
        }
    }
}

#[test]
fn a_stiff_friction_spring_on_a_belt_comes_close_to_rigid_friction() {
    let deviation = |ratio: f64| {
        let belt = Belt::new(ratio);
        belt.simulated(Host::Controlled(1e-7), belt.speed, 40.0).deviation(belt.rigid())
    };
    let [soft, stiff] = [100.0, 2000.0].map(deviation);
    assert!(stiff < 1e-3 && soft > 3.0 * stiff, "{soft}, {stiff}");
}

#[test]
fn a_push_between_kinetic_and_static_friction_holds_what_came_to_rest() {
    // The load of half a second after the stop: 90 % of static friction, drawn out slowly.
    let (mass, parameters) = (2.5, default_parameters());
    let limit = MU_STATIC * mass * GRAVITY;
    let mut scene = Scene::new(mass, 1.0);
    scene.add_spring(Frame::ground(Pose::identity()), Point3::origin(), parameters);
    scene
        .plant
        .set_body_load(
            scene.body,
            SpatialForce::new(Vector3::zeros(), Vector3::new(0.0, 0.0, -mass * GRAVITY)),
        )
        .expect("finite");
    scene.add_pull(move |time, _| Vector3::new(0.9 * limit * (time - 0.5).clamp(0.0, 1.0), 0.0, 0.0));
    let height = parameters.resting_height(mass * GRAVITY).expect("a load");
    for host in HOSTS {
        let mut simulation = scene.start(Pose::translation(0.0, 0.0, height), along_x(0.5));
        host.run(&mut simulation, 3.0, |_| {});
        let before = scene.position(&simulation).x;
        host.run(&mut simulation, 6.0, |_| {});
        let creep = (scene.position(&simulation).x - before) / 3.0;
        // What is left of vibration.
        assert!(creep.abs() < 1e-10, "{host:?}: {creep} m/s");
    }
}
