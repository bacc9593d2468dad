//! Places as parameters of a state.

use force_elements::cable::{CablePath, Obstacle, PathError, PathResults, Places};
use force_elements::cable_spring::Parameters;
use force_elements::nalgebra::{Point3, Rotation3, Vector3};
use force_elements::shapes::{Cylinder, Sphere};
use force_elements::{CableSpring, Error, ForceSystem, Frame, Handle, Pose, Stage, State, Station};

use super::{fixed, found, nowhere};

struct Rig {
    system: ForceSystem<f64>,
    state: State<f64>,
    cable: Handle<CableSpring<f64>>,
    rope: Handle<CableSpring<f64>>,
}

/// Two cables along one path, from Ground over two surfaces and through a point to a body.
fn rig() -> Result<Rig, Error> {
    let mut system = ForceSystem::new();
    let body = system.add_body();
    let ball = Obstacle::new(Frame::ground(Pose::translation(0.0, -0.3, 0.0)), Sphere::new(0.5)?)?;
    let drum = Obstacle::new(Frame::on(body, Pose::translation(0.0, -0.4, 0.0)), Cylinder::new(0.5)?)?;
    let path = CablePath::new(fixed(-2.0, 0.0, 0.1), Station::on(body, Point3::new(1.5, 0.0, 0.0)))?
        .over(ball)
        .through(fixed(1.5, 0.1, 0.0))?
        .over(drum);
    let law = Parameters { stiffness: 100.0, slack_length: 3.0, dissipation: 0.1 };
    let cable = system.add(CableSpring::new(path.clone(), law)?)?;
    let rope = system.add(CableSpring::new(path, law)?.with_friction(vec![0.3, 0.2])?)?;
    let mut state = system.default_state();
    state.set_pose(body, Pose::translation(3.5, 0.0, 0.0))?;
    Ok(Rig { system, state, cable, rope })
}

type Spoil<'a> = &'a dyn Fn(&mut Places<f64>);

/// All that a place is made of, changed.
const CHANGES: [(&str, f64); 8] = [
    ("origin.y", 0.05),
    ("termination.z", -0.1),
    ("via_points[0].p_B.y", 0.2),
    ("via_points[0].active", 0.0),
    ("obstacles[0].X_BS.p.y", -0.35),
    ("obstacles[1].X_BS.p.x", 0.1),
    ("obstacles[1].active", 0.0),
    ("obstacles[0].scale", 1.1),
];

#[test]
fn places_are_variables_that_the_position_stage_reads() -> Result<(), Error> {
    let Rig { system, mut state, cable, .. } = rig()?;
    for element in ["cable_spring[0]", "cable_spring[1]"] {
        for (name, value) in CHANGES {
            let name = format!("{element}.{name}");
            system.realize_dynamics(&mut state)?;
            let before = system.realize_position(&mut state)?.result(&format!("{element}.path.length"))?;
            system.set_variable(&mut state, &name, value)?;
            assert_eq!(state.stage(), Stage::Time, "{name}");
            assert_eq!(state.variable(&name)?, value);
            let after = system.realize_position(&mut state)?.result(&format!("{element}.path.length"))?;
            // An obstacle moved along the cable need not change its length by much.
            assert!((after - before).abs() > 1e-6, "{name}: {before} {after}");
        }
    }
    // The same value again changes nothing, and neither does the law the path.
    system.realize_dynamics(&mut state)?;
    system.update_parameters(&mut state, cable, |p| p.places.obstacles[0].scale = 1.1)?;
    assert_eq!(state.stage(), Stage::Dynamics);
    system.update_parameters(&mut state, cable, |p| p.law.stiffness = 50.0)?;
    assert_eq!(state.stage(), Stage::Velocity);
    Ok(())
}

#[test]
fn places_are_saved_and_restored() -> Result<(), Error> {
    let Rig { system, mut state, cable, rope } = rig()?;
    for (name, value) in CHANGES {
        system.set_variable(&mut state, &format!("cable_spring[0].{name}"), value)?;
        system.set_variable(&mut state, &format!("cable_spring[1].{name}"), value)?;
    }
    let snapshot = state.snapshot();
    let mut restored = system.default_state();
    restored.restore(&snapshot)?;
    assert_eq!(restored.parameters(cable), state.parameters(cable));
    assert_eq!(restored.parameters(rope), state.parameters(rope));
    let in_single = system.cast::<f32>()?;
    let cast = in_single.cast_state(&state)?;
    let places = &cast.parameters(cable.cast::<CableSpring<f32>>()).places;
    assert_eq!(*places, state.parameters(cable).places.cast::<f32>());
    Ok(())
}

#[test]
fn places_out_of_range_are_refused_and_change_nothing() -> Result<(), Error> {
    let Rig { system, mut state, cable, rope } = rig()?;
    let before = state.parameters(cable).clone();
    let sheared = Rotation3::from_matrix_unchecked(force_elements::nalgebra::Matrix3::from_diagonal(
        &Vector3::new(1.0, 1.0, 2.0),
    ));
    let nan = f64::NAN;
    let spoil: [(&str, Spoil<'_>); 8] = [
        ("origin", &|p| p.origin.x = nan),
        ("termination", &|p| p.termination.y = f64::INFINITY),
        ("via_points.p_B", &|p| p.via_points[0].p_B.z = nan),
        ("obstacles.X_BS", &|p| p.obstacles[0].X_BS.rotation = sheared),
        ("obstacles.X_BS", &|p| p.obstacles[1].X_BS.translation.x = nan),
        ("obstacles.scale", &|p| p.obstacles[0].scale = 0.0),
        ("obstacles.scale", &|p| p.obstacles[1].scale = -1.0),
        ("obstacles.scale", &|p| p.obstacles[1].scale = nan),
    ];
    for (name, spoil) in spoil {
        let refused = system.update_parameters(&mut state, cable, |p| spoil(&mut p.places)).err();
        assert_eq!(refused.as_ref().and_then(Error::invalid_value).map(|v| v.name), Some(name));
        let refused = system.update_parameters(&mut state, rope, |p| spoil(&mut p.places)).err();
        assert_eq!(refused.as_ref().and_then(Error::invalid_value).map(|v| v.name), Some(name));
    }
    assert_eq!(*state.parameters(cable), before);
    assert!(system.update_parameters(&mut state, cable, |p| p.places.obstacles.clear()).is_err());
    assert_eq!(*state.parameters(cable), before);
    Ok(())
}

#[test]
fn foreign_places_and_scales_that_are_none_are_refused() -> Result<(), Error> {
    let ball = Obstacle::new(Frame::ground(Pose::identity()), Sphere::new(0.5)?)?;
    let path = CablePath::new(fixed(-1.0, 0.1, 0.0), fixed(1.0, 0.1, 0.0))?.over(ball);
    let mut results = PathResults::default();
    path.solve(&nowhere(), &path.no_wraps(), &mut results)?;
    let outcome = path.solve_at(&Places::default(), &nowhere(), &path.no_wraps(), &mut results);
    assert_eq!(outcome, Err(PathError::Foreign { what: "places of obstacles", expected: 1, given: 0 }));
    assert!(results.segments.is_empty() && results.contacts.is_empty());
    for scale in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let mut places = path.places().clone();
        places.obstacles[0].scale = scale;
        let refused = found(&path, &places).err();
        assert_eq!(refused.as_ref().and_then(Error::invalid_value).map(|v| v.name), Some("obstacles.scale"));
    }
    Ok(())
}

#[test]
fn both_cables_are_those_of_a_path_made_at_the_places() -> Result<(), Error> {
    let Rig { system, mut state, cable, rope } = rig()?;
    let places = {
        let mut places = state.parameters(cable).places.clone();
        places.origin.y = 0.05;
        places.termination.z = -0.1;
        places.via_points[0].p_B.y = 0.2;
        places.obstacles[0].X_BS = Pose::translation(0.1, -0.3, 0.0);
        places.obstacles[1].X_BS = Pose::translation(0.1, -0.3, 0.2);
        places
    };
    system.update_parameters(&mut state, cable, |p| p.places.clone_from(&places))?;
    system.update_parameters(&mut state, rope, |p| p.places.clone_from(&places))?;

    let mut other = ForceSystem::new();
    let body = other.add_body();
    let ball = Obstacle::new(Frame::ground(Pose::translation(0.1, -0.3, 0.0)), Sphere::new(0.5)?)?;
    let drum = Obstacle::new(Frame::on(body, Pose::translation(0.1, -0.3, 0.2)), Cylinder::new(0.5)?)?;
    let path = CablePath::new(fixed(-2.0, 0.05, 0.1), Station::on(body, Point3::new(1.5, 0.0, -0.1)))?
        .over(ball)
        .through(fixed(1.5, 0.2, 0.0))?
        .over(drum);
    let law = state.parameters(cable).law;
    let rebuilt = other.add(CableSpring::new(path.clone(), law)?)?;
    let friction = state.parameters(rope).friction.clone();
    let rebuilt_rope = other.add(CableSpring::new(path, law)?.with_friction(friction)?)?;
    let mut rebuilt_state = other.default_state();
    for x in [3.5, 3.55, 3.6] {
        let X = Pose::translation(x, 0.1 * (x - 3.5), 0.0);
        let own = system.bodies().next().expect("one");
        state.set_pose(own, X)?;
        rebuilt_state.set_pose(body, X)?;
        let (a, b) = (system.realize_dynamics(&mut state)?, other.realize_dynamics(&mut rebuilt_state)?);
        assert_eq!(a.of(cable).position.path.length, b.of(rebuilt).position.path.length);
        assert_eq!(a.of(rope).dynamics.tensions, b.of(rebuilt_rope).dynamics.tensions);
        assert_eq!(a.body_force(own), b.body_force(body));
        assert_eq!(a.potential_energy(), b.potential_energy());
        system.accept_step(&mut state)?;
        other.accept_step(&mut rebuilt_state)?;
    }
    assert!(rebuilt_state.discrete(rebuilt_rope).grips.grips.iter().all(|grip| grip.in_contact));
    Ok(())
}

#[test]
fn changes_of_places_do_not_allocate_after_the_first() -> Result<(), Error> {
    let Rig { system, mut state, cable, rope } = rig()?;
    let mut round = |rounds: u32| -> Result<(), Error> {
        for i in 0..rounds {
            for k in 0..3 {
                let flip = |places: &mut Places<f64>| {
                    let active = i.is_multiple_of(2);
                    match k {
                        0 => places.obstacles[0].active = active,
                        1 => places.via_points[0].active = active,
                        _ => places.obstacles[1].active = active,
                    }
                    places.obstacles[k % 2].scale = if active { 1.1 } else { 1.0 };
                };
                system.update_parameters(&mut state, cable, |p| flip(&mut p.places))?;
                system.update_parameters(&mut state, rope, |p| flip(&mut p.places))?;
                system.realize_dynamics(&mut state)?;
                system.accept_step(&mut state)?;
            }
        }
        Ok(())
    };
    round(4)?;
    let mut outcome = Ok(());
    let counted = allocation_counter::measure(|| outcome = round(6));
    outcome?;
    assert_eq!(counted.count_total, 0);
    Ok(())
}
