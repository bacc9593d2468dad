//! A sledge and a block on coordinates, a cart on four feet, and loads on a cable over two drums.

use core::f64::consts::PI;

use force_elements::cable::{CablePath, Obstacle};
use force_elements::elastic_foundation::{self, Material};
use force_elements::nalgebra::{Point3, Vector3};
use force_elements::shapes::{Cylinder, HalfSpace, TriangleMesh};
use force_elements::{
    BodyIndex, CableSpring, CoordinatePair, CoordinateSpringDamperExt, CustomForce, ElasticFoundation, Frame,
    Pose, State, Station, cable_spring, coordinate_spring_damper_ext,
};

use super::rig::{Rig, corners, design, ground, on_slope};
use super::watch::{At, Rest, lean_of, place, relative, speed, way};
use super::{Finding, GRAVITY, HEAVY, MU_KINETIC, MU_STATIC, Method, Refused};

/// A sledge on a coordinate.
pub(super) fn slides(method: Method, mass: f64) -> Result<Vec<Finding>, Refused> {
    let angle = 0.48_f64.atan();
    // Along the slope it carries what presses on the slope.
    let design = design(mass, 0.1, method, 1.0).with_gravity(GRAVITY * angle.cos());
    let mut rig = Rig::under(Vector3::zeros())?;
    let sledge = rig.add_coordinate(mass)?;
    let pull = mass * GRAVITY * angle.sin();
    rig.system.add(CustomForce::<f64>::new(move |motion, loads| {
        loads.apply_to_coordinate(sledge, pull);
        -pull * motion.coordinate(sledge)
    }))?;
    let parameters = coordinate_spring_damper_ext::Parameters::for_contact(&design)?;
    rig.system.add(CoordinateSpringDamperExt::new(CoordinatePair::on(sledge), parameters)?)?;
    let mut state = rig.system.default_state();
    let (start, deceleration) = (0.5, GRAVITY * angle.cos() * 0.02);
    state.set_coordinate_rate(sledge, start)?;
    let end = start / deceleration + 3.0;
    let (mut from, mut rest) = (At::new(0.5 * start / deceleration), Rest::until(end, method));
    rig.run(method, state, &[from.time, end - 1.0, end], |time, state| {
        let (q, u) = (state.positions().coordinate(sledge), state.velocities().coordinate_rate(sledge));
        from.see(time, (q, u));
        rest.see(time, Vector3::x() * q, u.abs());
    })?;
    // Below a few times the velocity at which the static excess decays, friction is more than kinetic.
    let shift = (5.0 * parameters.exponential_decay_static).powi(2) / (2.0 * deceleration);
    let mut findings = vec![way(from, rest.place.x, deceleration, shift, &design)];
    findings.extend(rest.findings());
    Ok(findings)
}

/// A block on a belt of 0.1 m/s behind a spring of 10 rad/s: coordinates.
pub(super) fn sticks_and_slips(method: Method, mass: f64) -> Result<Vec<Finding>, Refused> {
    const BELT: f64 = 0.1;
    const FREQUENCY: f64 = 10.0;
    let design = design(mass, 0.1, method, 1.0);
    let mut rig = Rig::under(Vector3::zeros())?;
    let [belt, block] = [rig.add_coordinate(mass * HEAVY)?, rig.add_coordinate(mass)?];
    let bristles = coordinate_spring_damper_ext::Parameters::for_contact(&design)?;
    let soft = mass * FREQUENCY * FREQUENCY;
    let spring = coordinate_spring_damper_ext::Parameters { stiffness: soft, ..Default::default() };
    rig.system.add(CoordinateSpringDamperExt::new(CoordinatePair::between(belt, block), bristles)?)?;
    rig.system.add(CoordinateSpringDamperExt::new(CoordinatePair::on(block), spring)?)?;
    let mut state = rig.system.default_state();
    state.set_coordinate_rate(belt, BELT)?;
    state.set_coordinate_rate(block, BELT)?;
    let mut lets_go = Vec::new();
    let mut before = (0.0, BELT);
    rig.run(method, state, &[7.0], |time, state| {
        let rate = state.velocities().coordinate_rate(block);
        if before.1 > 0.0 && rate <= 0.0 {
            lets_go.push(before.0 + (time - before.0) * before.1 / (before.1 - rate));
        }
        before = (time, rate);
    })?;
    // While it slips it swings about where kinetic friction holds the spring.
    let apart = (MU_STATIC - MU_KINETIC) * GRAVITY / (FREQUENCY * FREQUENCY);
    let slips = (PI + 2.0 * (BELT / (FREQUENCY * apart)).atan()) / FREQUENCY;
    let expected = slips + 2.0 * apart / BELT;
    // The first is from the relaxed spring.
    let [first, last] = [lets_go.get(1), lets_go.last()].map(|time| time.copied().unwrap_or(f64::NAN));
    let count = u32::try_from(lets_go.len()).map_or(f64::NAN, f64::from) - 2.0;
    let period = (last - first) / count;
    let allowed = 2.0 * method.design_step() / expected
        + soft / bristles.sticking_stiffness
        + bristles.exponential_decay_static / BELT;
    Ok(vec![Finding::new(relative(period, expected), allowed)])
}

/// A cart on four square feet, 2 m long and 1.2 m wide, its center 0.7 m high.
pub(super) fn parks(method: Method, mass: f64) -> Result<Vec<Finding>, Refused> {
    const SLOPE: f64 = 0.3;
    const FOOT: f64 = 0.1;
    /// Thin: with clipped faces, grip at an edge counts the faces on both sides.
    const PAD: f64 = 0.01;
    let (half, height) = (Vector3::new(1.0, 0.6, 0.4), 0.7);
    let design = design(mass, height, method, 2.0);
    let mut rig = Rig::under(on_slope(SLOPE.atan()))?;
    let body = rig.add_box(mass, half)?;
    let mut bed =
        ElasticFoundation::new(elastic_foundation::Parameters::for_contact(&design)?)?.with_anchors();
    bed.add_rigid(ground(), HalfSpace::BelowZ)?;
    let foot = 4.0 * FOOT * FOOT;
    let material = Material::<f64>::for_contact(&design, 4.0 * foot)?;
    for corner in corners(half).take(4) {
        let mesh = TriangleMesh::brick(Vector3::new(FOOT, FOOT, PAD), [1; 3])?;
        let foot = Frame::on(body, Pose::translation(corner.x, corner.y, PAD - height));
        bed.add_springs(foot, mesh, material)?;
    }
    rig.system.add(bed)?;
    let mut state = rig.system.default_state();
    let depth = mass * GRAVITY / (material.stiffness * 4.0 * foot);
    state.set_pose(body, Pose::translation(0.0, 0.0, height - depth))?;
    let end = 8.0;
    let (mut rest, mut lean) = (Rest::until(end, method), f64::NAN);
    rig.run(method, state, &[end - 1.0, end], |time, state| {
        rest.see(time, place(state, body), speed(state, body, half.x));
        lean = lean_of(state, body);
    })?;
    // Friction at the height of the plane, the center that the lean moves forward, and feet that are pressed in evenly across and
    // more in front. A foot bears on its sole and, half as deep, on the sides that are below the plane.
    let (sin, cos) = SLOPE.atan().sin_cos();
    let edge = 4.0 * 8.0 * FOOT;
    let pressed = mass * GRAVITY * cos / material.stiffness;
    let soles = 4.0 * foot;
    let depth = ((soles * soles + 2.0 * edge * pressed).sqrt() - soles) / edge;
    let area = soles + edge * depth;
    let load =
        mass * GRAVITY * rest.place.z / (material.stiffness * area * (half.x * half.x + FOOT * FOOT / 3.0));
    let expected = load * sin / (1.0 - load * cos);
    let mut findings = vec![Finding::new(relative(lean, expected), 0.005)];
    findings.extend(rest.findings());
    Ok(findings)
}

/// A load and a lighter one on a cable over two fixed drums, a quarter of a turn on each.
struct Winch {
    rig: Rig,
    load: BodyIndex,
    start: State<f64>,
}

const CABLE_FRICTION: f64 = 0.3;

impl Winch {
    /// With a second load of this share of the mass.
    fn new(method: Method, mass: f64, share: f64) -> Result<Self, Refused> {
        const RADIUS: f64 = 0.1;
        let mut rig = Rig::under(Vector3::y() * -GRAVITY)?;
        let [load, tail] = [mass, mass * share].map(|mass| rig.add_box(mass, Vector3::repeat(0.05)));
        let (load, tail) = (load?, tail?);
        let mut path =
            CablePath::new(Station::on(tail, Point3::origin()), Station::on(load, Point3::origin()))?;
        for x in [0.0, 1.0] {
            let drum = Obstacle::new(Frame::ground(Pose::translation(x, 0.0, 0.0)), Cylinder::new(RADIUS)?)?;
            path = path.over(drum.with_contact_hint(Point3::new(0.0, RADIUS, 0.0))?);
        }
        // The load swings by 0.2 rad in a step, with 0.3 of critical damping.
        let frequency = 0.2 / method.design_step();
        let length = 4.5 + PI * RADIUS;
        let stretch = GRAVITY * 0.5 * (1.0 + share) / (frequency * frequency);
        let elastic = cable_spring::Parameters {
            stiffness: mass * frequency * frequency,
            slack_length: length - stretch,
            dissipation: 0.6 * frequency / GRAVITY,
        };
        rig.system.add(CableSpring::new(path, elastic)?.with_friction(vec![CABLE_FRICTION; 2])?)?;
        let mut start = rig.system.default_state();
        start.set_pose(tail, Pose::translation(-RADIUS, -2.5, 0.0))?;
        start.set_pose(load, Pose::translation(1.0 + RADIUS, -1.0, 0.0))?;
        Ok(Self { rig, load, start })
    }
}

/// Half of the load at the other end, where friction could hold it with 0.39 of it.
pub(super) fn held_by_a_cable(method: Method, mass: f64) -> Result<Vec<Finding>, Refused> {
    let Winch { rig, load, start } = Winch::new(method, mass, 0.5)?;
    let end = 5.0;
    let mut rest = Rest::until(end, method);
    rig.run(method, start, &[end - 1.0, end], |time, state| {
        rest.see(time, place(state, load), speed(state, load, 0.0));
    })?;
    Ok(rest.findings().to_vec())
}

/// A quarter of the load at the other end.
pub(super) fn hauled_by_a_cable(method: Method, mass: f64) -> Result<Vec<Finding>, Refused> {
    const SHARE: f64 = 0.25;
    let Winch { rig, load, start } = Winch::new(method, mass, SHARE)?;
    let [mut from, mut to] = [0.7, 1.1].map(At::new);
    rig.run(method, start, &[0.7, 1.1], |time, state| {
        let seen = (time, state.velocities().velocity(load).linear.y);
        from.see(time, seen);
        to.see(time, seen);
    })?;
    let [from, to] = [from, to].map(|at| at.get_or((f64::NAN, f64::NAN)));
    let ratio = (CABLE_FRICTION * PI).exp();
    let expected = GRAVITY * (1.0 - SHARE * ratio) / (1.0 + SHARE * ratio);
    Ok(vec![Finding::new(relative((from.1 - to.1) / (to.0 - from.0), expected), 0.01)])
}
