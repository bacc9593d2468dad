//! Every bad parameter is refused with a typed error, and nothing changes.

use force_elements::coordinate_spring_damper_ext as coordinate;
use force_elements::exponential_spring as exponential;
use force_elements::linear_bushing as bushing;
use force_elements::nalgebra::{Matrix3, Point3, Rotation3, Translation3, Vector6};
use force_elements::testing::refuses_parameter;
use force_elements::{
    BodyIndex, CoordinatePair, CoordinateSpringDamperExt, ElementError, Error, ExponentialSpring,
    ForceSystem, Frame, KinematicsError, LinearBushing, Pose, Requirement, Station, linear_bushing,
};

/// A body of some system.
fn any_body() -> BodyIndex {
    ForceSystem::<f64>::new().add_body()
}

/// A discrete variable of the exponential spring and how to spoil it.
type SpoiltDiscrete = (&'static str, fn(&mut exponential::Discrete<f64>));

#[test]
fn linear_bushing_refuses_bad_parameters() {
    let mut system = ForceSystem::new();
    let body = system.add_body();
    let element = LinearBushing::new(
        Frame::ground(Pose::identity()),
        Frame::of(body),
        linear_bushing::Parameters { stiffness: Vector6::zeros(), damping: Vector6::zeros() },
    );
    let handle = system.add(element.expect("valid")).expect("exists");
    let scaled = |p: &mut bushing::Framed<f64, bushing::Parameters<f64>>| {
        p.frames.X_B1F.rotation = Rotation3::from_matrix_unchecked(Matrix3::identity() * 1.1);
    };
    let mirrored = |p: &mut bushing::Framed<f64, bushing::Parameters<f64>>| {
        p.frames.X_B2M.rotation = Rotation3::from_matrix_unchecked(-Matrix3::identity());
    };
    let mut refused = |name, spoil: fn(&mut bushing::Framed<f64, bushing::Parameters<f64>>), must| {
        assert_eq!(refuses_parameter(&mut system, handle, name, spoil, must), Ok(()));
    };
    refused("stiffness", |p| p.law.stiffness[3] = -1.0, Requirement::NonNegative);
    refused("stiffness", |p| p.law.stiffness[0] = f64::NAN, Requirement::NonNegative);
    refused("damping", |p| p.law.damping[5] = f64::INFINITY, Requirement::NonNegative);
    refused("X_B1F", |p| p.frames.X_B1F.translation.x = f64::NAN, Requirement::Finite);
    refused("X_B1F", scaled, Requirement::Rotation);
    refused("X_B2M", mirrored, Requirement::Rotation);
}

#[test]
fn exponential_spring_refuses_bad_parameters() {
    let mut system = ForceSystem::new();
    let body = system.add_body();
    let element = ExponentialSpring::new(
        Frame::ground(Pose::identity()),
        Station::on(body, Point3::origin()),
        exponential::Parameters::default(),
    );
    let handle = system.add(element.expect("valid")).expect("exists");
    let mut refused = |name, spoil: fn(&mut exponential::Parameters<f64>), must| {
        assert_eq!(refuses_parameter(&mut system, handle, name, spoil, must), Ok(()));
    };
    refused("d0", |p| p.d0 = f64::NAN, Requirement::Finite);
    refused("d1", |p| p.d1 = 0.0, Requirement::Positive);
    refused("d2", |p| p.d2 = -1150.0, Requirement::Positive);
    refused("normal_viscosity", |p| p.normal_viscosity = -0.1, Requirement::NonNegative);
    refused("max_normal_force", |p| p.max_normal_force = 0.0, Requirement::Positive);
    refused("friction_elasticity", |p| p.friction_elasticity = 0.0, Requirement::Positive);
    refused("friction_viscosity", |p| p.friction_viscosity = f64::NAN, Requirement::NonNegative);
    refused("settle_velocity", |p| p.settle_velocity = 0.0, Requirement::Positive);
    refused("release_velocity", |p| p.release_velocity = -1e-4, Requirement::NonNegative);
    refused("mu_static", |p| p.mu_static = -0.1, Requirement::NonNegative);
    refused("mu_kinetic", |p| p.mu_kinetic = f64::NAN, Requirement::NonNegative);
    refused("mu_kinetic", |p| p.mu_kinetic = p.mu_static + 0.1, Requirement::AtMost("mu_static"));

    let mut state = system.default_state();
    let bad: [SpoiltDiscrete; 4] = [
        ("anchor_P", |d| d.anchor_P.x = f64::NAN),
        ("sliding", |d| d.sliding = 1.5),
        ("last_update", |d| d.last_update = f64::INFINITY),
        ("last_station", |d| d.last_station = Some(Point3::new(0.0, f64::NAN, 0.0))),
    ];
    for (name, spoil) in bad {
        let before = state.snapshot();
        let error = system.update_discrete(&mut state, handle, spoil).expect_err(name);
        assert_eq!(error.invalid_value().map(|v| v.name), Some(name), "{error}");
        assert_eq!(state.snapshot(), before);
    }
    // Setting one coefficient takes the other along rather than refusing.
    system.update_parameters(&mut state, handle, |p| p.set_mu_static(0.2)).expect("coupled");
    assert_eq!(state.parameters(handle).mu_kinetic, 0.2);
    system.update_parameters(&mut state, handle, |p| p.set_mu_kinetic(0.9)).expect("coupled");
    assert_eq!(state.parameters(handle).mu_static, 0.9);
}

#[test]
fn coordinate_spring_damper_ext_refuses_bad_parameters() {
    let mut system = ForceSystem::new();
    let c = system.add_coordinate();
    let element = CoordinateSpringDamperExt::new(CoordinatePair::on(c), coordinate::Parameters::default());
    let handle = system.add(element.expect("valid")).expect("exists");
    let mut refused = |name, spoil: fn(&mut coordinate::Parameters<f64>), must| {
        assert_eq!(refuses_parameter(&mut system, handle, name, spoil, must), Ok(()));
    };
    refused("stiffness", |p| p.stiffness = f64::NAN, Requirement::Finite);
    refused("damping", |p| p.damping = f64::INFINITY, Requirement::Finite);
    refused("offset", |p| p.offset = f64::NAN, Requirement::Finite);
    refused("velocity_offset", |p| p.velocity_offset = f64::NAN, Requirement::Finite);
    refused("factor0", |p| p.factor0 = f64::NAN, Requirement::Finite);
    refused("factor1", |p| p.factor1 = f64::NAN, Requirement::Finite);
    refused("dynamic_friction", |p| p.dynamic_friction = -1.0, Requirement::NonNegative);
    refused("static_friction_offset", |p| p.static_friction_offset = -1.0, Requirement::NonNegative);
    refused("sticking_stiffness", |p| p.sticking_stiffness = -1.0, Requirement::NonNegative);
    refused("sticking_damping", |p| p.sticking_damping = -1.0, Requirement::NonNegative);
    refused("exponential_decay_static", |p| p.exponential_decay_static = 0.0, Requirement::Positive);
    refused("viscous_friction", |p| p.viscous_friction = f64::NAN, Requirement::Finite);
    refused("friction_proportional_zone", |p| p.friction_proportional_zone = -1.0, Requirement::NonNegative);
    refused("limit_stops_upper", |p| p.limit_stops_upper = f64::NAN, Requirement::Finite);
    refused("limit_stops_lower", |p| p.limit_stops_lower = 1.0, Requirement::AtMost("limit_stops_upper"));
    refused(
        "limit_stops_upper_stiffness",
        |p| p.limit_stops_upper_stiffness = -1.0,
        Requirement::NonNegative,
    );
    refused(
        "limit_stops_lower_stiffness",
        |p| p.limit_stops_lower_stiffness = -1.0,
        Requirement::NonNegative,
    );
    refused("limit_stops_upper_damping", |p| p.limit_stops_upper_damping = -1.0, Requirement::NonNegative);
    refused("limit_stops_lower_damping", |p| p.limit_stops_lower_damping = -1.0, Requirement::NonNegative);
    refused("limit_stops_transition", |p| p.limit_stops_transition = -1.0, Requirement::NonNegative);
    refused("friction_load", |p| p.friction_load = f64::NAN, Requirement::Finite);
    refused(
        "dynamic_friction_coefficient",
        |p| p.dynamic_friction_coefficient = -1.0,
        Requirement::NonNegative,
    );
    refused(
        "static_friction_offset_coefficient",
        |p| p.static_friction_offset_coefficient = -1.0,
        Requirement::NonNegative,
    );
}

#[test]
fn constructors_refuse_bad_geometry() {
    let invalid = |name: &str, error: Error| {
        let value = error.element_error();
        assert!(matches!(value, Some(ElementError::InvalidValue(v)) if v.name == name), "{error}");
    };
    let same_ends =
        |error: Error| assert_eq!(error.element_error(), Some(&ElementError::SameEnds), "{error}");
    let nan = Pose::from_parts(Translation3::new(f64::NAN, 0.0, 0.0), Rotation3::identity());
    let parameters = exponential::Parameters::default();
    let there = Frame::of(any_body());
    let bushing = |frame1, frame2| LinearBushing::new(frame1, frame2, linear_bushing::Parameters::default());
    same_ends(bushing(there, there).expect_err("one body"));
    invalid("X_B1F", bushing(Frame::ground(nan), there).expect_err("not a number"));
    let scaled = Rotation3::from_matrix_unchecked(Matrix3::identity() * 1.1);
    let scaled = Frame::ground(Pose::from_parts(Translation3::identity(), scaled));
    invalid("X_B2M", bushing(there, scaled).expect_err("not a rotation"));
    let plane =
        ExponentialSpring::new(Frame::ground(nan), Station::on(any_body(), Point3::origin()), parameters);
    invalid("plane.X_BF", plane.expect_err("not a number"));
    let station = ExponentialSpring::new(
        Frame::ground(Pose::identity()),
        Station::on(any_body(), Point3::new(0.0, f64::NAN, 0.0)),
        parameters,
    );
    invalid("station.p_B", station.expect_err("not a number"));
    let on_itself = ExponentialSpring::new(
        Frame::ground(Pose::identity()),
        Station::on(BodyIndex::GROUND, Point3::origin()),
        parameters,
    );
    same_ends(on_itself.expect_err("Ground alone"));
    let slippery = exponential::Parameters { mu_static: 0.3, mu_kinetic: 0.4, ..parameters };
    let friction = ExponentialSpring::new(
        Frame::ground(Pose::identity()),
        Station::on(any_body(), Point3::origin()),
        slippery,
    );
    invalid("mu_kinetic", friction.expect_err("more than at rest"));
    let nowhere = CoordinateSpringDamperExt::<f64>::new(
        CoordinatePair { coordinate0: None, coordinate1: None },
        coordinate::Parameters::default(),
    );
    same_ends(nowhere.expect_err("no coordinate"));
}

#[test]
fn elements_on_missing_bodies_and_coordinates_are_refused() {
    let mut system = ForceSystem::<f64>::new();
    let body = system.add_body();
    let missing = any_body();
    let element = LinearBushing::new(
        Frame::of(body),
        Frame::of(missing),
        linear_bushing::Parameters { stiffness: Vector6::zeros(), damping: Vector6::zeros() },
    );
    let refused = system.add(element.expect("valid")).expect_err("no such body");
    let expected = KinematicsError::NoSuchBody { body: missing };
    assert_eq!(refused.element_error(), Some(&ElementError::Kinematics(expected)));
    assert_eq!(
        refused.to_string(),
        "linear_bushing[0]: body 1 does not exist in this system: it was removed, or belongs to another"
    );
    let coordinate = ForceSystem::<f64>::new().add_coordinate();
    let element = CoordinateSpringDamperExt::new(
        CoordinatePair { coordinate0: Some(coordinate), coordinate1: None },
        coordinate::Parameters::default(),
    );
    let refused = system.add(element.expect("valid")).expect_err("no such coordinate");
    let expected = KinematicsError::NoSuchCoordinate { coordinate };
    assert_eq!(refused.element_error(), Some(&ElementError::Kinematics(expected)));
    assert_eq!(system.element_count(), 0);
}
