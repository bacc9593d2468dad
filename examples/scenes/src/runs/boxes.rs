//! Boxes that slide, drop, topple, spin, ride, are pinched and stacked, on springs at their corners or a bed on their faces.

use core::f64::consts::{FRAC_PI_2, PI, SQRT_2};

use force_elements::elastic_foundation::{self, Material};
use force_elements::exponential_spring::Parameters;
use force_elements::nalgebra::{Point3, Rotation3, Vector3};
use force_elements::shapes::{HalfSpace, TriangleMesh};
use force_elements::{
    BodyIndex, ContactDesign, CustomForce, ElasticFoundation, Frame, Pose, SpatialVelocity, State,
};

use super::rig::{Rig, corners, design, ground, on_slope};
use super::watch::{At, Rest, drawn_out, lean_of, place, relative, sole, speed, way};
use super::{Finding, GRAVITY, HEAVY, MU_KINETIC, MU_STATIC, Method, Refused};

/// The contact of a box with the plane.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Contact {
    Springs,
    Bed,
}

/// A box with its lower corners or all of it in contact with the ground.
fn on_ground(
    design: &ContactDesign,
    contact: Contact,
    half: Vector3<f64>,
    gravity: Vector3<f64>,
    points: usize,
) -> Result<(Rig, BodyIndex), Refused> {
    let mut rig = Rig::under(gravity)?;
    let body = rig.add_box(design.mass, half)?;
    match contact {
        Contact::Springs => {
            rig.add_springs(ground(), body, corners(half).take(points), Parameters::for_contact(design)?)?;
        }
        Contact::Bed => {
            let mut bed =
                ElasticFoundation::new(elastic_foundation::Parameters::for_contact(design)?)?.with_anchors();
            bed.add_rigid(ground(), HalfSpace::BelowZ)?;
            let mesh = TriangleMesh::brick(half, [2; 3])?;
            bed.add_springs(Frame::of(body), mesh, Material::for_contact(design, 4.0 * half.x * half.y)?)?;
            rig.system.add(bed)?;
        }
    }
    Ok((rig, body))
}

/// A box slides down a slope until friction has stopped it.
pub(super) fn stops(
    method: Method,
    mass: f64,
    contact: Contact,
    half: f64,
    slope: f64,
) -> Result<Vec<Finding>, Refused> {
    let cube = Vector3::repeat(half);
    let design = design(mass, half, method, 1.0);
    let (rig, body) = on_ground(&design, contact, cube, on_slope(slope.atan()), 4)?;
    let mut state = rig.system.default_state();
    let depth = match contact {
        Contact::Springs => 0.0,
        Contact::Bed => mass * GRAVITY / Material::<f64>::for_contact(&design, 1.0)?.stiffness,
    };
    let deceleration = GRAVITY * slope.atan().cos() * (MU_KINETIC - slope);
    let start = if slope > 0.0 { 0.3 } else { 3.0 };
    let along = SpatialVelocity::new(Vector3::zeros(), Vector3::new(start, 0.0, 0.0));
    state.set_body(body, Pose::translation(0.0, 0.0, half - depth), along)?;
    let end = start / deceleration + 4.0;
    // From half of the time on: friction has been drawn out, and the load has shifted to the front.
    let (mut from, mut rest) = (At::new(0.5 * start / deceleration), Rest::until(end, method));
    rig.run(method, state, &[from.time, end - 1.0, end], |time, state| {
        let (p, v) = sole(state, body, half);
        from.see(time, (p.x, v.x));
        rest.see(time, p, speed(state, body, half));
    })?;
    // As it stops the box rights itself, by as far as it leans: its center goes back, and its sole on.
    let shift = match contact {
        Contact::Springs => MU_KINETIC.atanh() / Parameters::<f64>::for_contact(&design)?.d2,
        Contact::Bed => 3.0 * MU_KINETIC * depth,
    };
    let mut findings = vec![way(from, rest.place.x, deceleration, shift, &design)];
    findings.extend(rest.findings());
    Ok(findings)
}

/// From zero to one, smoothly, over a time.
fn eased(time: f64) -> f64 {
    let x = time.clamp(0.0, 1.0);
    x * x * (3.0 - 2.0 * x)
}

/// A plane that turns, at less than a degree a second in the end: in its frame, gravity turns.
pub(super) fn tilts(method: Method, mass: f64) -> Result<Vec<Finding>, Refused> {
    // The first corners slip at 22°.
    const FROM: f64 = 20.0;
    // So slowly that corners that slip first are drawn at less than the release velocity.
    let rate = 0.8 * (1.5e-3 / method.design_step()).powi(2).min(1.0);
    let half = Vector3::repeat(0.1);
    let design = design(mass, half.z, method, 1.0);
    let (mut rig, body) = on_ground(&design, Contact::Springs, half, Vector3::zeros(), 4)?;
    let angle = move |time: f64| FROM * eased(time) + rate * (time - 1.0).max(0.0);
    rig.system.add(CustomForce::<f64>::new(move |motion, loads| {
        let weight = on_slope(angle(motion.time()).to_radians()) * mass;
        let center = motion.point(body, &Point3::origin());
        loads.apply_at_point(body, &center, weight);
        loads.apply_at_point(BodyIndex::GROUND, &center, -weight);
        0.0
    }))?;
    let mut state = rig.system.default_state();
    state.set_pose(body, Pose::translation(0.0, 0.0, half.z))?;
    let mut slipped = None;
    rig.run(method, state, &[1.0 + 16.5 / rate], |time, state| {
        if slipped.is_none() && state.velocities().velocity(body).linear.x > 0.05 {
            slipped = Some(angle(time));
        }
    })?;
    let expected = MU_STATIC.atan().to_degrees();
    Ok(vec![Finding::new(slipped.unwrap_or(f64::NAN) - expected, 0.2)])
}

/// How fast a mass rises after it has fallen from a height of which the speed is 1 m/s, on springs of these parameters: by
/// the law alone, in steps of a two-hundredth.
fn rebound(parameters: &Parameters<f64>, mass: f64, from: f64, step: f64) -> f64 {
    let Parameters { d1, d2, normal_viscosity, .. } = *parameters;
    let acceleration =
        |z: f64, v: f64| 4.0 * d1 / mass * (-d2 * z).exp() * (1.0 - normal_viscosity * v).max(0.0) - GRAVITY;
    let h = step / 200.0;
    let (mut z, mut v, mut most) = (from, 0.0, 0.0_f64);
    let mut time = 0.0;
    while time < 2.0 * (2.0 * from / GRAVITY).sqrt() {
        let (z1, v1) = (z + 0.5 * h * v, v + 0.5 * h * acceleration(z, v));
        (z, v) = (z + h * v1, v + h * acceleration(z1, v1));
        most = most.max(v);
        time += h;
    }
    most
}

pub(super) fn drops_flat(method: Method, mass: f64) -> Result<Vec<Finding>, Refused> {
    let half = Vector3::repeat(0.1);
    let design = design(mass, half.z, method, 1.0).with_impact(2.3, 0.2);
    let parameters = Parameters::for_contact(&design)?;
    let (rig, body) = on_ground(&design, Contact::Springs, half, on_slope(0.0), 4)?;
    // It strikes at the speed of the design over 2.3, as the corners of a turned cube would at that speed.
    let from = 0.5 / GRAVITY;
    let mut state = rig.system.default_state();
    state.set_pose(body, Pose::translation(0.0, 0.0, half.z + from))?;
    let end = 3.0;
    let (mut most, mut rest) = (0.0_f64, Rest::until(end, method));
    rig.run(method, state, &[end - 1.0, end], |time, state| {
        most = most.max(state.velocities().velocity(body).linear.z);
        rest.see(time, place(state, body), speed(state, body, half.z));
    })?;
    let expected = rebound(&parameters, mass, from, design.step);
    let mut findings = vec![
        Finding::new(most - expected, 0.05),
        Finding::new(relative(rest.place.z, half.z), rest.accuracy.max(1e-6)),
    ];
    findings.extend(rest.findings());
    Ok(findings)
}

pub(super) fn drops_on_a_slope(method: Method, mass: f64) -> Result<Vec<Finding>, Refused> {
    const SLOPE: f64 = 0.4;
    let half = Vector3::repeat(0.1);
    let design = design(mass, half.z, method, 1.0).with_impact(1.7, 0.2);
    let (rig, body) = on_ground(&design, Contact::Springs, half, on_slope(SLOPE.atan()), 8)?;
    let turn = Rotation3::from_euler_angles(0.6, 0.42, 0.18);
    let mut state = rig.system.default_state();
    state.set_pose(body, Pose::from_parts(Vector3::new(0.0, 0.0, 0.2).into(), turn))?;
    let end = 7.0;
    let (mut rest, mut R) = (Rest::until(end, method), turn);
    rig.run(method, state, &[end - 1.0, end], |time, state| {
        rest.see(time, place(state, body), speed(state, body, half.z));
        R = state.positions().pose(body).rotation;
    })?;
    // The axis that is upright now, and the sine by which it leans.
    let axes = [0, 1, 2].map(|i| R.matrix().column(i).into_owned());
    let up = axes.iter().copied().max_by(|a, b| a.z.abs().total_cmp(&b.z.abs())).unwrap_or(axes[2]);
    let lean = up.xy().norm();
    // The exponential of a sum is a product: along each side of its face, the loads of the corners in front and behind
    // are as e^(±d2·a·half), whose moment is that of friction, at the height of the plane.
    let d2 = Parameters::<f64>::for_contact(&design)?.d2;
    let sides = axes.iter().filter(|axis| axis.z.abs() < 0.5);
    // The lean moves the center forward.
    let leans = sides
        .map(|axis| (0..50).fold(0.0, |lean: f64, _| (axis.x.abs() * SLOPE + lean).atanh() / (d2 * half.x)));
    let expected = leans.map(|lean| lean * lean).sum::<f64>().sqrt();
    let mut findings = vec![Finding::new(relative(lean, expected), 0.02)];
    findings.extend(rest.findings());
    Ok(findings)
}

/// A box higher than it is wide, on two corners, at this lean beyond that at which its center is over them \[°\].
struct Leaning {
    half: Vector3<f64>,
    /// From the corners to the center \[m\].
    radius: f64,
    balance: f64,
    rig: Rig,
    body: BodyIndex,
    start: State<f64>,
}

fn leaning(method: Method, mass: f64, beyond: f64) -> Result<Leaning, Refused> {
    let half = Vector3::new(0.35, 0.35, 0.5);
    // It is as soft as for its width, since it is to stand.
    let design = design(mass, half.x, method, 2.0);
    let (rig, body) = on_ground(&design, Contact::Springs, half, on_slope(0.0), 8)?;
    let balance = (half.x / half.z).atan();
    let lean = balance + beyond.to_radians();
    let R = Rotation3::from_axis_angle(&Vector3::y_axis(), lean);
    // Two corners bear what four were designed for.
    let depth = 2.0_f64.ln() / Parameters::<f64>::for_contact(&design)?.d2;
    let corner = R * Vector3::new(half.x, 0.0, -half.z);
    let mut start = rig.system.default_state();
    start.set_pose(body, Pose::from_parts((-corner - Vector3::z() * depth).into(), R))?;
    Ok(Leaning { half, radius: half.x.hypot(half.z), balance, rig, body, start })
}

pub(super) fn topples(method: Method, mass: f64, beyond: f64) -> Result<Vec<Finding>, Refused> {
    const FALLEN: f64 = 10.0;
    let Leaning { half, radius, balance, rig, body, start } = leaning(method, mass, beyond)?;
    // A pendulum on its edge, in tiny steps of the midpoint rule.
    let inertia = (half.x * half.x + half.z * half.z) / 3.0 + radius * radius;
    let (mut lean, mut rate, mut fall, h) = (beyond.abs().to_radians(), 0.0, 0.0, 1e-5);
    while lean < FALLEN.to_radians() {
        let middle = rate + 0.5 * h * GRAVITY * radius * lean.sin() / inertia;
        let at_middle = lean + 0.5 * h * rate;
        lean += h * middle;
        rate += h * GRAVITY * radius * at_middle.sin() / inertia;
        fall += h;
    }
    let (mut reached, mut before) = (f64::NAN, (0.0, 0.0));
    rig.run(method, start, &[1.1 * fall], |time, state| {
        let fallen = (lean_of(state, body) - balance) * beyond.signum();
        let goal = FALLEN.to_radians();
        if reached.is_nan() && fallen > goal {
            reached = before.0 + (time - before.0) * (goal - before.1) / (fallen - before.1);
        }
        before = (time, fallen);
    })?;
    Ok(vec![Finding::new(relative(reached, fall), 0.03)])
}

pub(super) fn spins(method: Method, mass: f64) -> Result<Vec<Finding>, Refused> {
    let half = Vector3::repeat(0.1);
    let design = design(mass, half.z, method, 1.0);
    let (rig, body) = on_ground(&design, Contact::Springs, half, on_slope(0.0), 4)?;
    let mut state = rig.system.default_state();
    let (radius, start) = (SQRT_2 * half.x, 15.0);
    let inertia = 2.0 / 3.0 * half.x * half.x;
    let deceleration = MU_KINETIC * GRAVITY * radius / inertia;
    let spin = SpatialVelocity::new(Vector3::z() * start, Vector3::zeros());
    state.set_body(body, Pose::translation(0.0, 0.0, half.z), spin)?;
    let end = 3.0;
    let (mut from, mut rest) = (At::new(0.5 * start / deceleration), Rest::until(end, method));
    let mut turned = 0.0_f64;
    rig.run(method, state, &[from.time, end - 1.0, end], |time, state| {
        let x = state.positions().pose(body).rotation * Vector3::x();
        // By less than half a turn in a step.
        let angle = x.y.atan2(x.x);
        turned += ((angle - turned + PI).rem_euclid(2.0 * PI)) - PI;
        from.see(time, (turned, state.velocities().velocity(body).angular.z));
        rest.see(time, place(state, body), speed(state, body, half.z));
    })?;
    let (first, rate) = from.get_or((f64::NAN, f64::NAN));
    let expected = rate * rate / (2.0 * deceleration);
    let way = rate * radius * method.design_step() + drawn_out(MU_STATIC * GRAVITY, &design);
    let mut findings = vec![Finding::new(relative(turned - first, expected), way / (radius * expected))];
    findings.extend(rest.findings());
    Ok(findings)
}

/// A box put on a belt of 1 m/s.
pub(super) fn on_a_belt(method: Method, mass: f64) -> Result<Vec<Finding>, Refused> {
    const BELT: f64 = 1.0;
    let half = Vector3::new(0.1, 0.1, 0.05);
    let design = design(mass, half.z, method, 1.0);
    let mut rig = Rig::under(Vector3::zeros())?;
    let belt = rig.add_box(mass * HEAVY, half * 10.0)?;
    let body = rig.add_box(mass, half)?;
    rig.add_springs(Frame::of(belt), body, corners(half).take(4), Parameters::for_contact(&design)?)?;
    // The box alone has weight.
    let weight = Vector3::z() * (-mass * GRAVITY);
    rig.system.add(CustomForce::<f64>::new(move |motion, loads| {
        let center = motion.point(body, &Point3::origin());
        loads.apply_at_point(body, &center, weight);
        loads.apply_at_point(BodyIndex::GROUND, &center, -weight);
        -weight.dot(&center.coords)
    }))?;
    let mut state = rig.system.default_state();
    state.set_velocity(belt, SpatialVelocity::new(Vector3::zeros(), Vector3::x() * BELT))?;
    state.set_pose(body, Pose::translation(0.0, 0.0, half.z))?;
    let deceleration = MU_KINETIC * GRAVITY;
    let end = 4.0;
    let (mut from, mut rest) = (At::new(0.5 * BELT / deceleration), Rest::until(end, method));
    rig.run(method, state, &[from.time, end - 1.0, end], |time, state| {
        let (p, v) = sole(state, body, half.z);
        let (apart, slip) = (place(state, belt) - p, state.velocities().velocity(belt).linear - v);
        from.see(time, (apart.x, slip.x));
        rest.see(time, apart, slip.norm());
    })?;
    let shift = (MU_KINETIC * half.z / half.x).atanh() * half.z
        / half.x
        / Parameters::<f64>::for_contact(&design)?.d2;
    let mut findings = vec![way(from, rest.place.x, deceleration, shift, &design)];
    findings.extend(rest.findings());
    Ok(findings)
}

/// A box between two upright walls, so near that static friction could hold twice its weight.
pub(super) fn pinched(method: Method, mass: f64) -> Result<Vec<Finding>, Refused> {
    let half = Vector3::repeat(0.1);
    let design = design(mass, half.z, method, 1.0).with_points(8);
    let parameters = Parameters::for_contact(&design)?;
    let mut rig = Rig::under(Vector3::z() * -GRAVITY)?;
    let body = rig.add_box(mass, half)?;
    // At the design's load a corner is at height zero; here each carries this many times as much.
    let times = 2.0 / MU_STATIC;
    let near = half.x - times.ln() / parameters.d2;
    for side in [-1.0, 1.0] {
        let R = Rotation3::from_axis_angle(&Vector3::y_axis(), -side * FRAC_PI_2);
        let wall = Frame::ground(Pose::from_parts(Vector3::new(side * near, 0.0, 0.0).into(), R));
        rig.add_springs(wall, body, corners(half).filter(|corner| corner.x * side > 0.0), parameters)?;
    }
    let end = 4.0;
    let mut rest = Rest::until(end, method);
    rig.run(method, rig.system.default_state(), &[end - 1.0, end], |time, state| {
        rest.see(time, place(state, body), speed(state, body, half.z));
    })?;
    let sag = drawn_out(GRAVITY, &design);
    let mut findings = vec![Finding::new(relative(-rest.place.z, sag), 0.01)];
    findings.extend(rest.findings());
    Ok(findings)
}

pub(super) fn stack(method: Method, mass: f64) -> Result<Vec<Finding>, Refused> {
    const COUNT: u8 = 3;
    let half = Vector3::repeat(0.1);
    let design = design(mass, half.z, method, 2.0);
    let parameters = Parameters::for_contact(&design)?;
    let mut rig = Rig::under(on_slope(0.0))?;
    let mut below = ground();
    let mut bodies = Vec::new();
    for _ in 0..COUNT {
        let body = rig.add_box(mass, half)?;
        rig.add_springs(below, body, corners(half).take(4), parameters)?;
        below = Frame::on(body, Pose::translation(0.0, 0.0, half.z));
        bodies.push(body);
    }
    let mut state = rig.system.default_state();
    for (i, &body) in (0..COUNT).zip(&bodies) {
        // Each falls by a tenth of a millimetre more, and is askew.
        let i = f64::from(i);
        let askew = 1e-3 * (3.0 * i).sin();
        state
            .set_pose(body, Pose::translation(askew, -askew, (2.0 * i + 1.0) * half.z + 1e-4 * (i + 1.0)))?;
    }
    let end = 10.0;
    let mut rests = [(); COUNT as usize].map(|()| Rest::until(end, method));
    rig.run(method, state, &[end - 1.0, end], |time, state| {
        for (rest, &body) in rests.iter_mut().zip(&bodies) {
            rest.see(time, place(state, body), speed(state, body, half.z));
        }
    })?;
    let (mut height, mut worst) = (-half.z, 0.0_f64);
    for (i, rest) in (0..COUNT).zip(&rests) {
        height += 2.0 * half.z - f64::from(COUNT - i).ln() / parameters.d2;
        let off = (rest.place.z - height) / (2.0 * half.z);
        worst = if off.is_nan() { f64::NAN } else { worst.max(off.abs()) };
    }
    let mut findings = vec![Finding::new(worst, 1e-6)];
    let worst = |i: usize| {
        rests.iter().map(|rest| rest.findings()[i]).max_by(|a, b| a.deviation.total_cmp(&b.deviation))
    };
    findings.extend([worst(0), worst(1)].into_iter().flatten());
    Ok(findings)
}

/// A cube is let go just above the plane, a little askew and moving.
pub(super) fn settles(method: Method, mass: f64) -> Result<Vec<Finding>, Refused> {
    let half = Vector3::repeat(0.1);
    let design = design(mass, half.z, method, 1.25);
    let (rig, body) = on_ground(&design, Contact::Bed, half, on_slope(0.0), 0)?;
    let R = Rotation3::from_euler_angles(0.005, 0.003, 0.0);
    let along = SpatialVelocity::new(Vector3::zeros(), Vector3::new(0.01, 0.02, 0.0));
    let mut state = rig.system.default_state();
    state.set_body(body, Pose::from_parts(Vector3::new(0.0, 0.0, half.z + 1e-3).into(), R), along)?;
    let end = 5.0;
    let (mut rest, mut lean) = (Rest::until(end, method), f64::NAN);
    rig.run(method, state, &[end - 1.0, end], |time, state| {
        rest.see(time, place(state, body), speed(state, body, half.z));
        let up = state.positions().pose(body).rotation * Vector3::z();
        lean = up.xy().norm().atan2(up.z).to_degrees();
    })?;
    let area = 4.0 * half.x * half.y;
    let depth = mass * GRAVITY / (Material::<f64>::for_contact(&design, area)?.stiffness * area);
    let mut findings =
        vec![Finding::new(relative(half.z - rest.place.z, depth), 0.01), Finding::new(lean, 0.01)];
    findings.extend(rest.findings());
    Ok(findings)
}

/// A box on eight springs of default parameters, under symplectic Euler of this step: the kind of the element that refuses the
/// step, if one does, and the highest that the box has come, over where it started \[m\].
pub fn with_default_springs(mass: f64, step: f64) -> Result<(Option<&'static str>, f64), Refused> {
    let half = Vector3::repeat(0.1);
    let mut rig = Rig::under(on_slope(0.0))?;
    let body = rig.add_box(mass, half)?;
    rig.add_springs(ground(), body, corners(half), Parameters::default())?;
    let mut state = rig.system.default_state();
    state.set_pose(body, Pose::translation(0.0, 0.0, half.z + 0.01))?;
    let mut highest = 0.0_f64;
    let ran = rig.run(Method::Euler(step), state, &[4.0], |_, state| {
        highest = highest.max(place(state, body).z - half.z - 0.01);
    });
    match ran {
        Ok(()) => Ok((None, highest)),
        Err(refused) => refused.of_step().map(|kind| (Some(kind), highest)).ok_or(refused),
    }
}
