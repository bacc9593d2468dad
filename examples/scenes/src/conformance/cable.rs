//! Cases of the cable: paths over obstacles, and springs along them.

use force_elements::cable::{CablePath, Obstacle, Settings, Wrap, Wraps};
use force_elements::nalgebra::Point3;
use force_elements::shapes::{Cylinder, Ellipsoid, Sphere, Torus};
use force_elements::{BodyIndex, CableSpring, ForceSystem, Frame, Station, Topology, cable_spring};

use super::{Deviations, Failure, Fields};

/// The reference's own smoothness is 1e-9 rad. A kink of that size moves points and tangents by it times
/// the distances and radii (below 10) and the conditioning of shallow contacts (below 100), and the length
/// by its square.
const POINTS: f64 = 1e-6;
const LENGTH: f64 = 1e-8;
const SPRING: f64 = 1e-10;

/// Compares a path.
///
/// The reference slides from its hints into some local minimum. Where the cold solve finds a shorter
/// path, that is as it should be, and the comparison is made in the reference's class.
pub(crate) fn check_path(case: Fields<'_>) -> Result<Deviations, Failure> {
    let (input, expected) = (case.object("input")?, case.object("expected")?);
    let mut system = ForceSystem::new();
    let bodies = input.objects("bodies")?;
    let indices: Vec<_> =
        core::iter::once(BodyIndex::GROUND).chain(bodies.iter().skip(1).map(|_| system.add_body())).collect();
    let cable = system.add(CableSpring::new(
        path(input, system.topology())?,
        cable_spring::Parameters { stiffness: 1.0, slack_length: 0.0, dissipation: 0.0 },
    )?)?;
    let mut state = system.default_state();
    for (&index, body) in indices.iter().zip(&bodies).skip(1) {
        state.set_body(index, body.pose("X_GB")?, body.velocity("V_GB")?)?;
    }
    let length = expected.number("length")?;
    let cold = system.realize_position(&mut state)?.of(cable).position.path.length;
    let is_shorter = cold < length - 1e-6;
    if is_shorter {
        let nothing = system.element(cable).path().no_wraps();
        system.set_discrete(&mut state, cable, remembered(input, expected, nothing)?.into())?;
    }
    let view = system.realize_velocity(&mut state)?;
    let at = view.of(cable);
    let path = &at.position.path;

    let mut deviations = Deviations { detour: is_shorter.then_some([length, cold]), ..Deviations::default() };
    deviations.worst("length", &[path.length], &[length], LENGTH);
    deviations.worst("length_dot", &[at.velocity.length_rate], &[expected.number("length_dot")?], POINTS);
    let of_obstacles = path.contacts.chunk_by(|a, b| a.obstacle == b.obstacle);
    for (contacts, want) in of_obstacles.zip(expected.objects("obstacles")?) {
        let (contact, last) = (&contacts[0], &contacts[contacts.len() - 1]);
        let is_touching = want.flag("in_contact")?;
        let flag = |yes: bool| f64::from(u8::from(yes));
        deviations.worst("in_contact", &[flag(contact.in_contact)], &[flag(is_touching)], 0.0);
        if is_touching && contact.in_contact {
            let (start, end) = (&contact.geodesic.start, &last.geodesic.end);
            for (quantity, got) in [
                ("initial_point_G", start.point),
                ("final_point_G", end.point),
                ("initial_tangent_G", start.tangent.into()),
                ("final_tangent_G", end.tangent.into()),
            ] {
                deviations.worst(quantity, got.coords.as_slice(), &want.numbers(quantity)?, POINTS);
            }
            let arcs: f64 = contacts.iter().map(|contact| contact.geodesic.length).sum();
            deviations.worst("arc_length", &[arcs], &[want.number("arc_length")?], POINTS);
        }
    }
    for (&index, want) in indices.iter().zip(expected.objects("unit_tension_body_forces")?) {
        let got = path.unit_force_on(index, at.positions);
        deviations.worst("unit_force", got.force.as_slice(), &want.numbers("force")?, POINTS);
        deviations.worst("unit_torque", got.torque.as_slice(), &want.numbers("torque")?, POINTS);
    }
    Ok(deviations)
}

/// Compares a spring along a path without obstacles.
pub(crate) fn check_spring(case: Fields<'_>) -> Result<Deviations, Failure> {
    let (input, expected) = (case.object("input")?, case.object("expected")?);
    let mut system = ForceSystem::new();
    let (body1, body2) = (system.add_body(), system.add_body());
    let origin = Station { body: body1, p_B: Point3::from(input.vector("origin_B1")?) };
    let termination = Station { body: body2, p_B: Point3::from(input.vector("termination_B2")?) };
    let mut path = CablePath::new(origin, termination)?;
    if input.has("via_point_G") {
        path = path
            .through(Station { body: BodyIndex::GROUND, p_B: Point3::from(input.vector("via_point_G")?) })?;
    }
    let stiffness = input.number("stiffness")?;
    let (slack_length, dissipation) = (input.number("slack_length")?, input.number("dissipation")?);
    let cable = system
        .add(CableSpring::new(path, cable_spring::Parameters { stiffness, slack_length, dissipation })?)?;
    let mut state = system.default_state();
    state.set_body(body1, input.pose("X_GB1")?, input.velocity("V_GB1")?)?;
    state.set_body(body2, input.pose("X_GB2")?, input.velocity("V_GB2")?)?;
    let view = system.realize_dynamics(&mut state)?;
    let at = view.of(cable);

    // The elongation is a difference of lengths, and energy and tension inherit its roundoff.
    let least = stiffness * 1e-4;
    let mut deviations = Deviations::default();
    for (quantity, got, least) in [
        ("length", at.position.path.length, 1e-3),
        ("length_dot", at.velocity.length_rate, 1e-3),
        ("tension", at.dynamics.tension, least),
        ("potential_energy", view.potential_energy(), least),
        ("power_dissipation", view.power_dissipated(), least),
    ] {
        let want = expected.number(quantity)?;
        deviations.scaled(quantity, &[got], &[want], want.abs().max(least), SPRING);
    }
    for (quantity, body) in
        [("force_on_body1", body1), ("force_on_body2", body2), ("force_on_ground", BodyIndex::GROUND)]
    {
        let (got, want) = (view.body_force(body), expected.force(quantity)?);
        let scale = expected.number("tension")?.max(least);
        deviations.scaled(quantity, got.force.as_slice(), want.force.as_slice(), scale, SPRING);
        let scale = want.torque.norm().max(scale);
        deviations.scaled(quantity, got.torque.as_slice(), want.torque.as_slice(), scale, SPRING);
    }
    Ok(deviations)
}

fn station(fields: Fields<'_>, topology: &Topology) -> Result<Station<f64>, Failure> {
    Ok(Station { body: fields.body("body", topology)?, p_B: Point3::from(fields.vector("station_B")?) })
}

fn path(input: Fields<'_>, topology: &Topology) -> Result<CablePath<f64>, Failure> {
    let end = |name| station(input.object(name)?, topology);
    let mut path = CablePath::new(end("origin")?, end("termination")?)?;
    for waypoint in input.objects("waypoints")? {
        let kind = waypoint.text("type")?;
        if kind == "via_point" {
            path = path.through(station(waypoint, topology)?)?;
            continue;
        }
        let (body, X_BS) = (waypoint.body("body", topology)?, waypoint.pose("X_BS")?);
        let mut obstacle = match kind {
            "sphere" => Obstacle::new(Frame::on(body, X_BS), Sphere::new(waypoint.number("radius")?)?)?,
            "cylinder" => Obstacle::new(Frame::on(body, X_BS), Cylinder::new(waypoint.number("radius")?)?)?,
            "ellipsoid" => Obstacle::new(Frame::on(body, X_BS), Ellipsoid::new(waypoint.vector("radii")?)?)?,
            "torus" => {
                let (ring, tube) = (waypoint.number("torus_radius")?, waypoint.number("tube_radius")?);
                Obstacle::new(Frame::on(body, X_BS), Torus::new(ring, tube)?)?
            }
            other => return Err(format!("unknown surface {other}").into()),
        };
        if waypoint.has("contact_hint_S") {
            obstacle = obstacle.with_contact_hint(Point3::from(waypoint.vector("contact_hint_S")?))?;
        }
        path = path.over(obstacle);
    }
    Ok(path.with_settings(Settings { smoothness: 1e-9, ..Settings::default() })?)
}

/// What the reference found, as memory: a solve from it tracks the reference's class of path.
fn remembered(input: Fields<'_>, expected: Fields<'_>, nothing: Wraps<f64>) -> Result<Wraps<f64>, Failure> {
    let bodies = input.objects("bodies")?;
    let mut found = expected.objects("obstacles")?.into_iter();
    let mut obstacles = Vec::new();
    for waypoint in input.objects("waypoints")? {
        if waypoint.text("type")? == "via_point" {
            continue;
        }
        let found = found.next().ok_or("fewer obstacles found than given")?;
        if !found.flag("in_contact")? {
            obstacles.push(Wrap { known: true, ..Wrap::default() });
            continue;
        }
        let body = bodies.get(waypoint.index("body")?).ok_or("an obstacle is on no body")?;
        let X_SG = (body.pose("X_GB")? * waypoint.pose("X_BS")?).inverse();
        obstacles.push(Wrap {
            known: true,
            in_contact: true,
            point: X_SG * Point3::from(found.vector("initial_point_G")?),
            tangent: X_SG.rotation * found.vector("initial_tangent_G")?,
            length: found.number("arc_length")?,
        });
    }
    Ok(Wraps { wraps: obstacles, ..nothing })
}
