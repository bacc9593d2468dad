//! Promises of the parameters for a mass, a size and a step: impacts gain no energy and rebound as stated, bodies come to
//! rest and stay, friction holds; and what is too long a step for other parameters is refused.

use force_elements::elastic_foundation::{self, Material};
use force_elements::exponential_spring::Parameters;
use force_elements::hertz_contact;
use force_elements::nalgebra::{Matrix3, Point3, Rotation3, Vector3};
use force_elements::shapes::{HalfSpace, TriangleMesh};
use force_elements::simulation::{Plant, RigidBody, SemiImplicitEuler, Simulation};
use force_elements::testing::Numbers;
use force_elements::{
    BodyIndex, ContactDesign, CoordinatePair, CoordinateSpringDamperExt, ElasticFoundation, Error,
    ExponentialSpring, ForceSystem, Frame, HertzContact, KinematicsSource, Pose, SpatialVelocity, State,
    Station, StepMethod, StepRule, Variables, coordinate_spring_damper_ext,
};
use force_elements_scenes::{is_at_length, one_in, seeds};

const GRAVITY: f64 = 9.81;

/// A cube on a slope.
struct Cube {
    system: ForceSystem<f64>,
    plant: Plant<f64>,
    body: BodyIndex,
    half: f64,
}

impl Cube {
    /// On a slope of this angle.
    fn on(slope: f64, mass: f64, half: f64) -> Self {
        let (sin, cos) = slope.sin_cos();
        Self::under(Vector3::new(sin, 0.0, -cos) * GRAVITY, mass, half)
    }

    fn under(gravity: Vector3<f64>, mass: f64, half: f64) -> Self {
        let mut system = ForceSystem::new();
        let mut plant = Plant::new(gravity).expect("finite");
        let inertia = mass * half * half * 2.0 / 3.0;
        let rigid = RigidBody::with_equal_inertia(mass, inertia).expect("positive");
        let body = plant.add_body(&mut system, rigid);
        Self { system, plant, body, half }
    }

    /// With springs at its corners.
    fn with_springs(mut self, corners: u32, parameters: Parameters<f64>) -> Self {
        for corner in 0..corners {
            let sign = |bit: u32| if corner >> bit & 1 == 0 { -self.half } else { self.half };
            let station = Station::on(self.body, Point3::new(sign(0), sign(1), sign(2)));
            let spring = ExponentialSpring::new(Frame::ground(Pose::identity()), station, parameters);
            self.system.add(spring.expect("valid")).expect("exists");
        }
        self
    }

    /// On a bed of springs over its faces.
    fn with_bed(mut self, design: &ContactDesign) -> Self {
        let parameters = elastic_foundation::Parameters::for_contact(design).expect("in range");
        let material = Material::for_contact(design, 4.0 * self.half * self.half).expect("in range");
        let mut bed = ElasticFoundation::new(parameters).expect("in range").with_anchors();
        let mesh = TriangleMesh::brick(Vector3::repeat(self.half), [2; 3]).expect("positive");
        bed.add_rigid(Frame::ground(Pose::identity()), HalfSpace::BelowZ).expect("a half-space");
        bed.add_springs(Frame::of(self.body), mesh, material).expect("closed");
        self.system.add(bed).expect("exists");
        self
    }

    fn start(&self, pose: Pose<f64>, velocity: SpatialVelocity<f64>) -> Simulation<'_, f64> {
        let mut state: State<f64> = self.system.default_state();
        state.set_body(self.body, pose, velocity).expect("finite");
        Simulation::new(&self.system, &self.plant, state).expect("regular")
    }

    fn place(&self, simulation: &Simulation<'_, f64>) -> Vector3<f64> {
        simulation.state().positions().pose(self.body).translation.vector
    }

    fn speed(&self, simulation: &Simulation<'_, f64>) -> f64 {
        let velocity = simulation.state().velocities().velocity(self.body);
        velocity.linear.norm() + self.half * velocity.angular.norm()
    }
}

/// Masses, sizes, speeds and steps that are not too long for them, with the masses of a coin and a car.
fn designs() -> Vec<ContactDesign> {
    let mut designs = Vec::new();
    for (mass, extent) in [(0.005, 0.01), (1.0, 0.1), (1500.0, 0.8)] {
        for speed in [0.3, 1.0, 4.0] {
            for step in [1e-4, 1e-3, 4e-3, 1.0 / 60.0] {
                let design = ContactDesign::new(mass, extent, step).with_impact(speed, 0.2);
                designs.extend(design.validate().is_ok().then_some(design));
            }
        }
    }
    assert!(designs.len() > 15, "{}", designs.len());
    designs
}

/// A box that rests on its largest side is held as stiffly as its design asks, whole or divided into squares, and by up to a
/// third more where all of both triangles at a corner is counted with it. Its step is short enough.
#[test]
fn a_bed_holds_as_stiffly_as_designed_however_it_is_divided() {
    let design = ContactDesign::new(2.0, 0.1, 1e-3);
    let designed = design.mass * (0.18 / design.step).powi(2);
    let boxes = [
        (Vector3::new(0.1, 0.1, 0.1), [[1, 1, 1], [2, 2, 2], [6, 6, 6]]),
        (Vector3::new(0.2, 0.15, 0.1), [[1, 1, 1], [4, 3, 2], [8, 6, 4]]),
        (Vector3::new(0.3, 0.1, 0.05), [[1, 1, 1], [6, 2, 1], [12, 4, 2]]),
        (Vector3::new(0.03, 0.03, 0.1), [[1, 1, 1], [4, 4, 2], [2, 2, 6]]),
    ];
    for (half, divisions) in boxes {
        let area = 4.0 * half.x * half.y;
        for parts in divisions {
            let mut system = ForceSystem::<f64>::new();
            let mut plant = Plant::new(Vector3::zeros()).expect("finite");
            let squares = half.map(|h| h * h);
            let inertia = (Vector3::repeat(squares.sum()) - squares) * (design.mass / 3.0);
            let body = RigidBody::new(design.mass, Point3::origin(), Matrix3::from_diagonal(&inertia));
            let body = plant.add_body(&mut system, body.expect("physical"));
            let material = Material::for_contact(&design, area).expect("in range");
            let parameters = elastic_foundation::Parameters::for_contact(&design).expect("in range");
            let mut bed = ElasticFoundation::new(parameters).expect("in range").with_anchors();
            bed.add_rigid(Frame::ground(Pose::identity()), HalfSpace::BelowZ).expect("a half-space");
            let mesh = TriangleMesh::brick(half, parts).expect("positive");
            bed.add_springs(Frame::of(body), mesh, material).expect("closed");
            system.add(bed).expect("exists");
            let mut state = system.default_state();
            let depth = design.mass * GRAVITY / (material.stiffness * area);
            let mut force_at = |x: f64| {
                state.set_pose(body, Pose::translation(x, 0.0, half.z - depth)).expect("finite");
                let force = system.realize_dynamics(&mut state).expect("regular").body_force(body).force;
                let checked = system.check_step(&mut state, &plant, StepMethod::SymplecticEuler, design.step);
                assert!(checked.is_ok(), "{half:?} {parts:?}: {checked:?}");
                system.accept_step(&mut state).expect("regular");
                force
            };
            assert_eq!(force_at(0.0).x, 0.0);
            let ratio = -force_at(1e-6).x / 1e-6 / designed;
            // Up to a thousandth of the pressure is on vertices of upright faces, where nothing is held.
            assert!((ratio - 1.0).abs() < 1e-3, "{half:?} {parts:?}: {ratio}");
        }
    }
}

fn springs(design: &ContactDesign) -> Parameters<f64> {
    Parameters::for_contact(design).expect("in range")
}

/// The factor on numbers of this unit, such as `N·s/m³`, in a system with these units of length, mass and time, in SI units.
fn factor(unit: &str, [length, mass, time]: [f64; 3]) -> f64 {
    let newton = mass * length / (time * time);
    let of = |part: &str| {
        let (base, power) = part.strip_suffix('³').map_or((part, 1), |base| (base, 3));
        let size: f64 = match base {
            "m" => length,
            "s" => time,
            "kg" => mass,
            "N" => newton,
            "Pa" => newton / (length * length),
            "1" | "" => 1.0,
            // Unknown: no comparison with it holds.
            _ => f64::NAN,
        };
        size.powi(power).recip()
    };
    let (above, below) = unit.split_once('/').unwrap_or((unit, "1"));
    above.split('·').map(of).product::<f64>() / of(below)
}

#[test]
fn a_design_is_the_same_in_all_units() {
    fn numbers(parameters: &impl Variables<f64>) -> Vec<(String, String, f64)> {
        let mut numbers = Vec::new();
        parameters.visit(&mut |entry| {
            numbers.push((entry.name.to_string(), entry.unit.to_string(), entry.value.number()));
        });
        numbers
    }
    // Millimetres and tonnes; feet, slugs and minutes; centimetres and grams.
    for units in [[1e-3, 1e3, 1.0], [0.3048, 14.5939, 60.0], [1e-2, 1e-3, 1.0]] {
        let mut compared = 0;
        for design in designs() {
            let of = |unit: &str| factor(unit, units);
            let other = ContactDesign {
                mass: design.mass * of("kg"),
                extent: design.extent * of("m"),
                step: design.step * of("s"),
                speed: design.speed * of("m/s"),
                gravity: design.gravity * of("m/s") / of("s"),
                ..design
            };
            let laws = |design: &ContactDesign, length: f64| {
                let hertz = hertz_contact::Parameters::<f64>::for_contact(design, 0.05 * length);
                let material = Material::<f64>::for_contact(design, 0.01 * length * length);
                let bristles = coordinate_spring_damper_ext::Parameters::<f64>::for_contact(design);
                [
                    Some(numbers(&springs(design))),
                    hertz.ok().map(|law| numbers(&law)),
                    material.ok().map(|law| numbers(&law)),
                    Some(numbers(
                        &elastic_foundation::Parameters::<f64>::for_contact(design).expect("in range"),
                    )),
                    Some(numbers(&bristles.expect("in range"))),
                ]
            };
            for (law, same) in laws(&design, 1.0).into_iter().zip(laws(&other, of("m"))) {
                assert_eq!(law.is_some(), same.is_some());
                for ((name, unit, value), (.., other)) in law.iter().flatten().zip(same.iter().flatten()) {
                    let expected = value * of(unit);
                    // A few dozen roundings, and powers up to 2.5.
                    assert!(
                        (other - expected).abs() <= 1e-12 * expected.abs(),
                        "{name}: {other} {unit} for {expected}"
                    );
                    compared += 1;
                }
            }
        }
        assert!(compared > 500, "{compared}");
    }
}

#[test]
fn after_an_impact_there_is_no_more_energy_than_before() {
    let (mut deal, mut all, mut is_drawn) = (Numbers::new(7), 0, one_in(3));
    for design in designs().into_iter().filter(|_| is_drawn()) {
        let ContactDesign { mass, extent: half, speed, step, .. } = design;
        // The last corners of a cube strike at up to 2.3 times the speed of its fall.
        let fall = speed / 2.3;
        let parameters = springs(&design);
        let cube = Cube::on(0.0, mass, half).with_springs(8, parameters);
        let height = 3.0_f64.sqrt() * half + 8.0 / parameters.d2;
        for _ in 0..seeds(4) {
            let pose =
                Pose::from_parts(Vector3::new(0.0, 0.0, height).into(), deal.pose::<f64>(3.0, 0.0).rotation);
            let along = Vector3::new(deal.between(-0.3, 0.3), deal.between(-0.3, 0.3), -0.8) * fall;
            let mut simulation = cube.start(pose, SpatialVelocity::new(Vector3::zeros(), along));
            let free = 0.5 * mass * along.norm_squared() + mass * GRAVITY * (height - half);
            let (mut flies, mut last) = (true, f64::INFINITY);
            let mut gain = 0.0_f64;
            let observe = |simulation: &mut Simulation<'_, f64>| {
                let stored = simulation.dynamics().expect("regular").potential_energy();
                let energy = simulation.kinetic_energy() + mass * GRAVITY * cube.place(simulation).z + stored;
                if stored < 1e-3 * free {
                    if !flies {
                        all += 1;
                        gain = gain.max((energy - last) / free);
                    }
                    last = energy;
                }
                flies = stored < 1e-3 * free;
            };
            // A fall from this height may strike faster than stated; then the step is refused, and nothing gains energy.
            let end = 1.0 + 6.0 * half / speed;
            match simulation.run(&mut SemiImplicitEuler::new(step), end, observe) {
                Ok(()) => {}
                Err(refused) => assert!(
                    matches!(refused.forces(), Some(Error::StepTooLong { .. }))
                        && (2.0 * GRAVITY * height).sqrt() > 0.5 * fall,
                    "{design:?}: {refused}"
                ),
            }
            assert!(gain < 0.01, "{design:?}: {gain} of the energy before");
        }
    }
    assert!(all > if is_at_length() { 20 } else { 2 }, "{all} impacts");
}

/// Without its own weight, under which it would fall on: where it rebounds with this share of the speed.
fn rebound(cube: &Cube, design: &ContactDesign, height: f64) -> f64 {
    let fall = SpatialVelocity::new(Vector3::zeros(), Vector3::new(0.0, 0.0, -design.speed));
    let mut simulation = cube.start(Pose::translation(0.0, 0.0, height), fall);
    simulation.run(&mut SemiImplicitEuler::new(design.step), 0.3, |_| {}).expect("resolved");
    simulation.state().velocities().velocity(cube.body).linear.z / design.speed
}

#[test]
fn a_body_that_strikes_flat_rebounds_at_the_stated_restitution() {
    let mut struck = 0;
    for restitution in [0.1, 0.3, 0.6] {
        for step in [1e-4, 1e-3] {
            let design = ContactDesign::new(2.0, 0.1, step).with_impact(2.0, restitution);
            if design.validate().is_err() {
                continue;
            }
            let weightless = || Cube::under(Vector3::zeros(), 2.0, 0.1);
            let parameters = springs(&design);
            let on_springs = weightless().with_springs(4, parameters);
            // From where the exponential is far below what counts.
            let from = 0.1 + 20.0 / parameters.d2;
            let is_bed = Material::<f64>::for_contact(&design, 0.04).is_ok();
            let on_bed = is_bed.then(|| (weightless().with_bed(&design), 0.101));
            for (cube, height) in on_bed.into_iter().chain([(on_springs, from)]) {
                struck += 1;
                let rebound = rebound(&cube, &design, height);
                // Of the first order in a step, which an impact of a few dozen steps leaves.
                assert!((rebound - restitution).abs() < 0.05, "{design:?}: {rebound}");
            }
        }
    }
    assert!(struck > 5, "{struck}");
}

#[test]
fn a_ball_of_hertz_rebounds_at_the_stated_restitution() {
    let mut struck = 0;
    for restitution in [0.01, 0.02, 0.05, 0.1, 0.3, 0.5] {
        for speed in [0.2, 1.0, 2.0] {
            let any_step = ContactDesign::new(0.5, 0.05, 1e-6).with_points(1).with_impact(speed, restitution);
            for share in [0.95, 0.5, 0.2] {
                let design =
                    ContactDesign { step: share * any_step.longest_step().expect("valid"), ..any_step };
                let Ok(parameters) = hertz_contact::Parameters::for_contact(&design, 0.05) else { continue };
                struck += 1;
                let mut cube = Cube::under(Vector3::zeros(), 0.5, 0.05);
                let ball = (Station::on(cube.body, Point3::origin()), 0.05);
                let plane = Frame::ground(Pose::identity());
                cube.system
                    .add(HertzContact::on_half_space(plane, ball, parameters).expect("valid"))
                    .expect("exists");
                for phase in 0..4 {
                    let height = 0.05 + design.step * speed * (2.0 + 0.25 * f64::from(phase));
                    let rebound = rebound(&cube, &design, height);
                    assert!((rebound - restitution).abs() < 0.05, "{design:?}, {phase}: {rebound}");
                }
            }
        }
    }
    assert!(struck > 20, "{struck}");
}

/// A body that pitches faster than it bounces.
#[test]
fn a_cube_on_four_balls_of_hertz_strikes_flat_at_the_step_of_its_design() {
    for (speed, restitution, share) in [(0.5, 0.2, 0.9), (1.0, 0.1, 0.5), (2.0, 0.4, 0.95), (1.0, 0.3, 0.3)] {
        for radius in [0.02, 0.2] {
            let any_step = ContactDesign::new(3.0, 0.1, 1e-6).with_impact(speed, restitution);
            let design = ContactDesign { step: share * any_step.longest_step().expect("valid"), ..any_step };
            let parameters = hertz_contact::Parameters::for_contact(&design, radius).expect("in range");
            let mut cube = Cube::under(Vector3::zeros(), 3.0, 0.1);
            for (x, y) in [(-0.1, -0.1), (-0.1, 0.1), (0.1, -0.1), (0.1, 0.1)] {
                let ball = (Station::on(cube.body, Point3::new(x, y, radius - 0.1)), radius);
                let plane = Frame::ground(Pose::identity());
                let contact = HertzContact::on_half_space(plane, ball, parameters).expect("valid");
                cube.system.add(contact).expect("exists");
            }
            let rebound = rebound(&cube, &design, 0.1 + 2.5 * design.step * speed);
            // Of the first order in a step.
            assert!((rebound - restitution).abs() < 0.05, "{design:?}: {rebound}");
        }
    }
}

#[test]
fn a_dropped_cube_comes_to_rest_on_a_slope_below_kinetic_friction_and_stays() {
    let mut is_drawn = one_in(4);
    let mut rested = 0;
    for step in [1e-4, 1e-3, 1.0 / 240.0] {
        for (turned, slope) in [(0.0, 0.45_f64), (0.6, 0.4)] {
            // A cube that lands turned strikes faster with its last corners.
            let speed = if turned > 0.0 { 1.7 } else { 1.15 };
            let design = ContactDesign::new(1.0, 0.1, step).with_impact(speed, 0.2);
            if design.validate().is_err() {
                continue;
            }
            for on_bed in [false, true] {
                if on_bed && Material::<f64>::for_contact(&design, 0.04).is_err() {
                    continue;
                }
                if !is_drawn() {
                    continue;
                }
                // Edges sink into a bed so deep that a cube which lands turned tumbles on down a steeper slope.
                let slope = if on_bed && turned > 0.0 { 0.2 } else { slope };
                let cube = Cube::on(f64::atan(slope), 1.0, 0.1);
                let cube =
                    if on_bed { cube.with_bed(&design) } else { cube.with_springs(8, springs(&design)) };
                let turn = Rotation3::from_euler_angles(turned, 0.7 * turned, 0.3 * turned);
                // A turned cube reaches lower.
                let height = if turned > 0.0 { 0.2 } else { 0.15 };
                let pose = Pose::from_parts(Vector3::new(0.0, 0.0, height).into(), turn);
                let mut simulation = cube.start(pose, SpatialVelocity::zero());
                let mut euler = SemiImplicitEuler::new(step);
                simulation.run(&mut euler, 6.0, |_| {}).expect("resolved");
                let before = cube.place(&simulation);
                let speed = cube.speed(&simulation);
                simulation.run(&mut euler, 7.0, |_| {}).expect("resolved");
                let creep = (cube.place(&simulation) - before).norm();
                // What is left of rocking, which decays.
                assert!(
                    speed < 1e-6 && creep < 1e-7,
                    "{step} s, {slope}, bed {on_bed}: {speed} m/s, {creep} m in a second"
                );
                rested += 1;
            }
        }
    }
    assert!(rested > if is_at_length() { 8 } else { 1 }, "{rested}");
}

#[test]
fn a_body_rests_at_height_zero_and_is_drawn_out_no_further_than_promised() {
    for design in designs() {
        let ContactDesign { mass, extent: half, step, .. } = design;
        let parameters = springs(&design);
        let load = mass * GRAVITY / 4.0;
        let most = parameters.mu_static * load / parameters.friction_elasticity;
        assert!(most < parameters.mu_static * GRAVITY * (5.6 * step).powi(2), "{design:?}: {most}");
        let cube = Cube::on(0.0, mass, half).with_springs(4, parameters);
        let mut simulation = cube.start(Pose::translation(0.0, 0.0, half), SpatialVelocity::zero());
        simulation.run(&mut SemiImplicitEuler::new(step), 1.0, |_| {}).expect("regular");
        let off = cube.place(&simulation).z - half;
        assert!(off.abs() < 1e-12, "{design:?}: {off}");
    }
}

/// A box of 6 × 6 × 24 cm that leans by half a degree, on exponential springs or balls of Hertz contacts at its lower corners: its
/// largest lean in ten seconds.
fn largest_lean(design: &ContactDesign, on_springs: bool) -> Result<f64, Error> {
    let (base, height) = (0.03, 0.12);
    let mut system = ForceSystem::new();
    let mut plant = Plant::new(Vector3::z() * -GRAVITY).expect("finite");
    let moments =
        Vector3::new(base * base + height * height, base * base + height * height, 2.0 * base * base);
    let inertia = Matrix3::from_diagonal(&(moments * (design.mass / 3.0)));
    let rigid = RigidBody::new(design.mass, Point3::origin(), inertia).expect("positive");
    let body = plant.add_body(&mut system, rigid);
    let ground = Frame::ground(Pose::identity());
    for (x, y) in [(-base, -base), (base, -base), (base, base), (-base, base)] {
        if on_springs {
            let corner = Station::on(body, Point3::new(x, y, -height));
            let spring = ExponentialSpring::new(ground, corner, Parameters::for_contact(design)?)?;
            system.add(spring)?;
        } else {
            let radius = 0.01;
            let parameters = hertz_contact::Parameters::for_contact(design, radius)?;
            let center = Station::on(body, Point3::new(x, y, radius - height));
            system.add(HertzContact::on_half_space(ground, (center, radius), parameters)?)?;
        }
    }
    let lean = Rotation3::from_axis_angle(&Vector3::y_axis(), 0.5_f64.to_radians());
    let mut state = system.default_state();
    state.set_pose(body, Pose::from_parts(Vector3::new(0.0, 0.0, height).into(), lean))?;
    let mut simulation = Simulation::new(&system, &plant, state).expect("regular");
    let mut most = 0.0_f64;
    let mut euler = SemiImplicitEuler::new(design.step);
    let outcome = simulation.run(&mut euler, 10.0, |simulation| {
        let upright = simulation.state().positions().pose(body).rotation[(2, 2)];
        most = most.max(upright.min(1.0).acos());
    });
    outcome.expect("not too long");
    Ok(most.to_degrees())
}

#[test]
fn a_tall_box_stands_if_its_design_states_the_base() {
    for on_springs in [true, false] {
        let cubic = ContactDesign::new(1.0, 0.12, 1e-6);
        let narrow = cubic.with_base(0.03);
        let [step, longer] = [narrow, cubic].map(|design| 0.8 * design.longest_step().expect("valid"));
        assert!(step < 0.8 * longer, "{step} {longer}");
        let lean = largest_lean(&ContactDesign { step, ..narrow }, on_springs).expect("short enough");
        assert!(lean < 2.0, "{on_springs}: {lean}");
        let too_long = largest_lean(&ContactDesign { step: longer, ..narrow }, on_springs);
        assert!(too_long.is_err(), "{on_springs}: {too_long:?}");
        // Hertz contacts stiffen as they lean.
        let lean = largest_lean(&ContactDesign { step: longer, ..cubic }, on_springs).expect("of a cube");
        assert!(!on_springs || lean > 80.0, "{lean}");
    }
}

#[test]
fn a_sledge_with_bristles_stops_and_holds_at_the_step() {
    for step in [1e-4, 1e-3, 1.0 / 240.0] {
        let design = ContactDesign::new(3.0, 0.1, step);
        let parameters = coordinate_spring_damper_ext::Parameters::for_contact(&design).expect("in range");
        let mut system = ForceSystem::<f64>::new();
        let mut plant = Plant::new(Vector3::zeros()).expect("finite");
        let slider = plant.add_coordinate(&mut system, 3.0).expect("positive");
        plant.set_coordinate_load(slider, 0.3 * 3.0 * GRAVITY).expect("finite");
        let friction =
            CoordinateSpringDamperExt::new(CoordinatePair::on(slider), parameters).expect("in range");
        let friction = system.add(friction).expect("exists");
        let mut state = system.default_state();
        // It slips from the start.
        system.update_discrete(&mut state, friction, |memory| memory.friction_mode = 1.0).expect("in range");
        state.set_coordinate_rate(slider, 1.0).expect("finite");
        let mut simulation = Simulation::new(&system, &plant, state).expect("regular");
        let mut euler = SemiImplicitEuler::new(step);
        simulation.run(&mut euler, 2.0, |_| {}).expect("resolved");
        let way = simulation.state().positions().coordinate(slider);
        let expected = 1.0 / (2.0 * (design.mu_kinetic - 0.3) * GRAVITY);
        // Late by up to a step at both ends, and drawn out.
        assert!(
            (way - expected).abs() < 2.0 * step + 7.0 * (5.6 * step).powi(2),
            "{step}: {way} for {expected}"
        );
        simulation.run(&mut euler, 3.0, |_| {}).expect("resolved");
        let creep = simulation.state().positions().coordinate(slider) - way;
        assert!(creep.abs() < 1e-9, "{step}: {creep}");
    }
}

#[test]
fn its_step_is_below_the_longest_stable_one() {
    for design in designs() {
        let ContactDesign { mass, extent: half, speed, step, .. } = design;
        let cube = Cube::on(0.0, mass, half).with_springs(4, springs(&design));
        let mut state = cube.system.default_state();
        state.set_pose(cube.body, Pose::translation(0.0, 0.0, half)).expect("finite");
        cube.system.realize_dynamics(&mut state).expect("regular");
        let method = StepMethod::SymplecticEuler;
        let stable = cube.system.stable_step(&state, &cube.plant, method, speed).expect("positive");
        assert!(stable.length > step, "{design:?}: {stable:?}");
    }
}

#[test]
fn default_springs_at_the_rates_of_games_are_refused_before_they_launch_the_box() {
    for step in [1.0 / 60.0, 1.0 / 240.0] {
        let cube = Cube::on(0.0, 4.0, 0.1).with_springs(8, Parameters::default());
        let mut simulation = cube.start(Pose::translation(0.0, 0.0, 0.1), SpatialVelocity::zero());
        let mut highest = 0.0_f64;
        let observe = |simulation: &mut Simulation<'_, f64>| {
            highest = highest.max(cube.place(simulation).z);
        };
        let refused = simulation.run(&mut SemiImplicitEuler::new(step), 4.0, observe).expect_err("too long");
        let Some(Error::StepTooLong { element, step: told, longest }) = refused.forces() else {
            panic!("{refused}");
        };
        assert_eq!((element.kind, *told), ("exponential_spring", step));
        assert!(*longest < step && *longest > 1e-5, "{longest}");
        // It has not been launched: a spring pressed by the weight stores far less than a millimetre of height.
        assert!(highest < 0.101, "{highest}");
    }
}

/// A host of symplectic Euler that states no masses: a ball that falls on one station.
struct Blind {
    time: f64,
    height: f64,
    speed: f64,
}

impl KinematicsSource<f64> for Blind {
    fn time(&self) -> f64 {
        self.time
    }
    fn pose(&self, _: BodyIndex) -> Pose<f64> {
        Pose::translation(0.0, 0.0, self.height)
    }
    fn velocity(&self, _: BodyIndex) -> SpatialVelocity<f64> {
        SpatialVelocity::new(Vector3::zeros(), Vector3::new(0.0, 0.0, self.speed))
    }
}

#[test]
fn the_ledger_tells_a_host_without_masses_that_its_steps_are_too_long() {
    // The phase d2·v·h of an impact at 2 m/s: resolved, and not.
    for (phase, is_resolved) in [(0.3, true), (0.7, true), (4.0, false), (10.0, false)] {
        let parameters = Parameters::<f64>::default();
        let step = phase / (parameters.d2 * 2.0);
        let mut system = ForceSystem::<f64>::new();
        let body = system.add_body();
        let station = Station::on(body, Point3::origin());
        let spring = ExponentialSpring::new(Frame::ground(Pose::identity()), station, parameters);
        system.add(spring.expect("valid")).expect("exists");
        let mut host = Blind { time: 0.0, height: 0.2, speed: 0.0 };
        let mut state = system.default_state();
        state.set_kinematics(&host).expect("finite");
        system.reset_memories(&mut state).expect("regular");
        system.reset_dissipated_energy(&mut state).expect("regular");
        let (mut refused, mut highest) = (None, 0.0_f64);
        while host.time < 4.0 && refused.is_none() {
            let force = system.realize_dynamics(&mut state).expect("regular").body_force(body).force.z;
            host.speed += step * (force / 2.0 - GRAVITY);
            host.height += step * host.speed;
            host.time += step;
            refused = system.finish_step(&mut state, &host, StepRule::HeldForces).err();
            highest = highest.max(host.height);
        }
        if is_resolved {
            assert_eq!(refused, None, "{phase}");
            assert!(highest < 0.2, "{phase}: {highest}");
        } else {
            let Some(Error::EnergyGained { element, gained, stored }) = refused else {
                panic!("{phase}: {refused:?}, {highest} m");
            };
            assert_eq!(element.kind, "exponential_spring");
            assert!(gained > 0.5 * stored && stored > 0.0, "{phase}: {gained} J of {stored} J");
        }
    }
}

#[test]
fn a_gain_is_forgotten_where_an_account_is_set_or_restored() {
    // What a host sets is no gain: dissipated energy that falls because the host says so.
    let mut system = ForceSystem::<f64>::new();
    let body = system.add_body();
    let parameters = Parameters::<f64>::default();
    let station = Station::on(body, Point3::origin());
    let spring = ExponentialSpring::new(Frame::ground(Pose::identity()), station, parameters);
    let spring = system.add(spring.expect("valid")).expect("exists");
    let mut host = Blind { time: 0.0, height: 0.0, speed: 0.0 };
    let mut state = system.default_state();
    state.set_kinematics(&host).expect("finite");
    system.set_dissipated_energy(&mut state, spring, 5.0).expect("open");
    let mut step = |state: &mut State<f64>, height: f64| {
        host.time += 1e-3;
        host.speed = (height - host.height) / 1e-3;
        host.height = height;
        system.finish_step(state, &host, StepRule::Trapezoid)
    };
    assert_eq!(step(&mut state, 0.1), Ok(()));
    let saved = state.to_bytes();
    system.set_dissipated_energy(&mut state, spring, 1.0).expect("open");
    assert_eq!(step(&mut state, 0.2), Ok(()));
    state.restore_bytes(&saved).expect("of this system");
}

#[test]
fn a_ball_on_a_bed_rests_as_deep_as_the_area_of_its_design_says() {
    let (mass, radius) = (2.0, 0.1);
    let design = ContactDesign::new(mass, radius, 2e-3).with_points(1).with_impact(0.5, 0.5);
    let any_area = 0.01;
    let stiffness = Material::<f64>::for_contact(&design, any_area).expect("in range").stiffness;
    let depth = 2.0 * mass * GRAVITY / (stiffness * any_area);
    let area = 2.0 * core::f64::consts::PI * radius * depth;
    let material = Material::<f64>::for_contact(&design, area).expect("in range");
    let parameters = elastic_foundation::Parameters::for_contact(&design).expect("in range");
    let mut bed = ElasticFoundation::new(parameters).expect("in range");
    bed.add_rigid(Frame::ground(Pose::identity()), HalfSpace::BelowZ).expect("a plane");
    let mut system = ForceSystem::<f64>::new();
    let body = system.add_body();
    let ball = TriangleMesh::sphere(radius, 40).expect("a ball");
    bed.add_springs(Frame::of(body), ball, material).expect("in range");
    system.add(bed).expect("valid");
    let mut state = system.default_state();
    state.set_pose(body, Pose::translation(0.0, 0.0, radius - depth)).expect("finite");
    let force = system.realize_dynamics(&mut state).expect("regular").body_force(body).force.z;
    // The faces lie within the ball, by up to 0.04 of the depth.
    assert!((force / (mass * GRAVITY) - 1.0).abs() < 0.1, "{force} N at {depth} m");
}
