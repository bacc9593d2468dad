//! Bushings, coordinate elements and exponential springs exactly at kinks.

use force_elements::coordinate_spring_damper_ext::{self as coordinate, CoordinateSpringDamperExt};
use force_elements::exponential_spring as exponential;
use force_elements::nalgebra::{Matrix6, Point3, Rotation3, Translation3, Vector2, Vector3, Vector6};
use force_elements::spatial_bushing::{Curve, Symmetric6};
use force_elements::{
    CoordinatePair, ExponentialSpring, ForceSystem, Frame, LinearBushing, Pose, SpatialBushing,
    SpatialVelocity, Station, linear_bushing, spatial_bushing,
};

use super::{Case, Freedoms, all_are_finite, all_are_one_sided};

#[test]
fn bushings_at_no_angle_at_half_turns_and_at_the_points_of_curves() {
    let linear = |angles: [f64; 3], constant: f64| -> Case {
        let mut system = ForceSystem::new();
        let body = system.add_body();
        let law = linear_bushing::Parameters {
            stiffness: Vector6::repeat(constant),
            damping: Vector6::repeat(constant),
        };
        let element =
            system.add(LinearBushing::new(Frame::ground(Pose::identity()), Frame::of(body), law)?)?;
        let mut state = system.default_state();
        let turn = angles.iter().zip([Vector3::x(), Vector3::y(), Vector3::z()]);
        let R = turn.fold(Rotation3::identity(), |R, (angle, axis)| R * Rotation3::new(axis * *angle));
        state.set_pose(body, Pose::from_parts(Translation3::identity(), R))?;
        Ok((system, state, element.id()))
    };
    let spatial = |turn: Vector3<f64>, shift: Vector3<f64>| -> Case {
        let mut system = ForceSystem::new();
        let body = system.add_body();
        let constant = Symmetric6::from_matrix(&Matrix6::from_diagonal_element(7.0))?;
        let law = spatial_bushing::Parameters { stiffness: constant, damping: constant };
        let curve = Curve::new(&[(-0.5, -30.0), (-0.1, -1.0), (0.1, 0.0), (0.4, 50.0)])?;
        let bushing = SpatialBushing::new(Frame::ground(Pose::identity()), Frame::of(body), law)?;
        let element = system.add(bushing.with_curve(3, curve.clone())?.with_curve(0, curve)?)?;
        let mut state = system.default_state();
        state.set_pose(body, Pose::from_parts(Translation3::from(shift), Rotation3::new(turn)))?;
        Ok((system, state, element.id()))
    };
    let quarter = core::f64::consts::FRAC_PI_2;
    let mut cases = Vec::new();
    for (angles, constant) in [([0.0; 3], 5.0), ([0.0; 3], 0.0), ([quarter, 0.0, -quarter], 5.0)] {
        cases.push((format!("linear bushing at {angles:?}"), linear(angles, constant)));
    }
    for turn in [0.0, 2.0 * quarter, 0.1, 0.4] {
        for shift in [0.0, -0.5, -0.1, 0.1, 0.4] {
            let name = format!("spatial bushing at {turn} and {shift}");
            cases.push((name, spatial(Vector3::x() * turn, Vector3::x() * shift)));
        }
    }
    all_are_one_sided(cases, Freedoms::All);
}

/// A coordinate element in a state.
fn on_a_coordinate(
    parameters: coordinate::Parameters<f64>,
    discrete: coordinate::Discrete<f64>,
    [q, u]: [f64; 2],
) -> Case {
    let mut system = ForceSystem::new();
    let c = system.add_coordinate();
    let element = system.add(CoordinateSpringDamperExt::new(CoordinatePair::on(c), parameters)?)?;
    let mut state = system.default_state();
    state.set_coordinate(c, q)?;
    state.set_coordinate_rate(c, u)?;
    system.set_discrete(&mut state, element, discrete)?;
    Ok((system, state, element.id()))
}

#[test]
fn a_coordinate_at_rest_at_the_limit_of_stick_and_at_its_stops() {
    let none = coordinate::Discrete::default();
    let rubbing = coordinate::Parameters {
        stiffness: 10.0,
        dynamic_friction: 2.0,
        static_friction_offset: 1.0,
        viscous_friction: 0.5,
        exponential_decay_static: 0.1,
        ..coordinate::Parameters::default()
    };
    let regularised = coordinate::Parameters { friction_proportional_zone: 0.25, ..rubbing };
    let bristles = coordinate::Parameters { sticking_stiffness: 100.0, sticking_damping: 4.0, ..rubbing };
    let soft = coordinate::Parameters { sticking_stiffness: 0.0, ..bristles };
    let loaded = coordinate::Parameters {
        dynamic_friction_coefficient: 0.5,
        static_friction_offset_coefficient: 0.25,
        ..bristles
    };
    let load_alone = coordinate::Parameters { dynamic_friction: 0.0, static_friction_offset: 0.0, ..loaded };
    let (mut cases, mut corners) = (Vec::new(), Vec::new());
    for u in [0.0, 0.25, -0.25] {
        cases.push((format!("regularised at {u}"), on_a_coordinate(regularised, none, [0.0, u])));
    }
    let slipping = |mode| coordinate::Discrete { friction_mode: mode, bristle_energy: 0.01, ..none };
    for (name, p) in [("bristles", bristles), ("soft", soft), ("loaded", loaded), ("load alone", load_alone)]
    {
        cases.push((format!("{name} unbent"), on_a_coordinate(p, none, [0.0, 0.0])));
        // 100 N/m · 0.03125 m − 4 N·s/m · 0.03125 m/s is the holding force of 3 N.
        cases.push((format!("{name} at the limit"), on_a_coordinate(p, none, [0.03125, -0.03125])));
        cases.push((format!("{name} at the limit by damping"), on_a_coordinate(p, none, [0.0, 0.75])));
        for mode in [2.0, -2.0] {
            if name == "load alone" {
                // Without a load any friction is another law.
                corners.push((
                    format!("{name} slips at rest, {mode}"),
                    on_a_coordinate(p, slipping(mode), [0.0, 0.0]),
                ));
                continue;
            }
            cases.push((
                format!("{name} slips at rest, {mode}"),
                on_a_coordinate(p, slipping(mode), [0.0, 0.0]),
            ));
        }
    }
    let stopped = coordinate::Parameters {
        stiffness: 10.0,
        use_limit_stops: true,
        limit_stops_upper: 0.5,
        limit_stops_lower: -0.25,
        limit_stops_upper_stiffness: 1e3,
        limit_stops_lower_stiffness: 2e3,
        limit_stops_upper_damping: 10.0,
        limit_stops_lower_damping: 20.0,
        ..coordinate::Parameters::default()
    };
    for only_push in [false, true] {
        for transition in [0.0, 0.125] {
            let p = coordinate::Parameters {
                limit_stops_only_push: only_push,
                limit_stops_transition: transition,
                ..stopped
            };
            // At the stops, at the end of the transition, and where the damper takes back all of the spring's force.
            for at in [
                [0.5, 0.0],
                [0.5, 1.0],
                [0.5, -1.0],
                [-0.25, 0.0],
                [-0.25, 1.0],
                [0.625, 0.0],
                [-0.375, 1.0],
                [0.625, -12.5],
            ] {
                for state in [0.0, 0.125, -0.125] {
                    let discrete = coordinate::Discrete { limit_stop_state: state, ..none };
                    let name = format!("stop at {at:?}, {only_push} {transition} {state}");
                    cases.push((name, on_a_coordinate(p, discrete, at)));
                }
            }
        }
    }
    all_are_finite(corners);
    all_are_one_sided(cases, Freedoms::All);
}

/// A spring over Ground at its own height, with a station and an anchor in the plane.
fn exponential_spring(
    parameters: exponential::Parameters<f64>,
    (position, velocity): (Vector3<f64>, Vector3<f64>),
    edit: impl Fn(&mut exponential::Discrete<f64>),
) -> Case {
    let mut system = ForceSystem::new();
    let body = system.add_body();
    let station = Station::on(body, Point3::new(0.5, 0.25, -0.125));
    let element =
        system.add(ExponentialSpring::new(Frame::ground(Pose::identity()), station, parameters)?)?;
    let mut state = system.default_state();
    state.set_time(0.25)?;
    let p = position - station.p_B.coords;
    state.set_body(
        body,
        Pose::translation(p.x, p.y, p.z),
        SpatialVelocity::new(Vector3::zeros(), velocity),
    )?;
    system.update_discrete(&mut state, element, |discrete| {
        discrete.sliding = 0.0;
        discrete.last_station = Some(position.into());
        edit(discrete);
    })?;
    Ok((system, state, element.id()))
}

#[test]
fn an_exponential_spring_at_rest_at_its_limits_and_at_the_clamp() {
    // One newton per d2 in a height of d0, and friction of half of that, all powers of two.
    let plain = exponential::Parameters {
        d0: 0.0,
        d1: 16.0,
        d2: 64.0,
        normal_viscosity: 0.5,
        friction_elasticity: 1024.0,
        friction_viscosity: 8.0,
        settle_velocity: 0.125,
        mu_static: 0.5,
        mu_kinetic: 0.25,
        ..exponential::Parameters::default()
    };
    let at_clamp = exponential::Parameters { max_normal_force: 16.0, ..plain };
    let undamped = exponential::Parameters { friction_viscosity: 0.0, ..plain };
    let released = exponential::Parameters { release_velocity: 0.125, ..plain };
    let slippery = exponential::Parameters { mu_static: 0.0, mu_kinetic: 0.0, ..plain };
    let (none, x, z) = (Vector3::zeros(), Vector3::x(), Vector3::z());
    // The limit is 8 N, the kinetic one 4 N.
    let motions = [
        ("at rest, unstretched", none, none),
        ("at rest, stretched", x / 512.0, none),
        ("at rest, at the limit", x / 128.0, none),
        ("at rest, at the kinetic limit", x / 256.0, none),
        ("unstretched, damper at the limit", none, x),
        ("unstretched, at the settle velocity", none, x / 8.0),
        ("unstretched, at a tenth of it", none, x / 80.0),
        ("thrown off", none, z * 2.0),
        ("thrown off, stretched", x / 256.0, z * 2.0 + x),
    ];
    let (mut cases, mut corners) = (Vec::new(), Vec::new());
    for (law, p) in [
        ("plain", plain),
        ("clamp", at_clamp),
        ("undamped", undamped),
        ("released", released),
        ("slippery", slippery),
    ] {
        for settling in [false, true] {
            let p = exponential::Parameters { settling, ..p };
            for (name, position, velocity) in motions {
                // The length of a velocity of zero, the damper's first claim on the limit, and limits at the clamp.
                let is_corner = law == "slippery"
                    || ["thrown off", "unstretched, damper at the limit"].contains(&name)
                    || (law == "clamp" && name.contains("limit"));
                for sliding in [0.0, 1.0] {
                    for overspeed in [0.0, 0.25] {
                        if settling && overspeed > 0.0 {
                            continue;
                        }
                        let name = format!(
                            "{law}, settling {settling}, {name}, sliding {sliding}, overspeed {overspeed}"
                        );
                        let case = exponential_spring(p, (position, velocity), |discrete| {
                            discrete.anchor_P = Vector2::zeros();
                            discrete.last_velocity_P = Vector2::x() * 0.5 * overspeed;
                            discrete.sliding = sliding;
                            discrete.overspeed = overspeed;
                        });
                        if is_corner { corners.push((name, case)) } else { cases.push((name, case)) }
                    }
                }
            }
            let first = exponential_spring(p, (none, none), |discrete| {
                (discrete.sliding, discrete.last_station) = (1.0, None);
            });
            let name = format!("{law}, settling {settling}, before the first commit");
            if law == "slippery" { corners.push((name, first)) } else { cases.push((name, first)) }
        }
    }
    all_are_finite(corners);
    all_are_one_sided(cases, Freedoms::All);
}

/// The station of the last commit is the anchor: just after `reset_memory`, and after a commit without friction.
#[test]
fn an_exponential_spring_that_was_slack_is_dragged() {
    let plain = exponential::Parameters::default();
    let undamped = exponential::Parameters { friction_viscosity: 0.0, ..plain };
    let (x, y, z) = (Vector3::x(), Vector3::y(), Vector3::z() * 0.005);
    let cases = [("damped", plain), ("undamped", undamped)].into_iter().flat_map(|(law, p)| {
        // By a multiple of what it can be drawn out by, which is 0.03 mm; straight, aslant, and back against the damper.
        [
            (x * 0.01, x * 0.004),
            (x * 0.01, y * 0.04),
            (x * 0.01 - y * 0.02, x * 0.04),
            (x * 0.005, x * -0.004),
        ]
        .map(|(shift, velocity)| {
            let case = exponential_spring(p, (shift + z, velocity), |discrete| {
                discrete.last_station = Some(z.into());
                discrete.anchor_P = Vector2::zeros();
            });
            (format!("{law}, {shift:?}, {velocity:?}"), case)
        })
    });
    all_are_one_sided(cases, Freedoms::All);
}
