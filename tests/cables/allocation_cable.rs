//! A cable's evaluation does not allocate after the first, whatever it lies on and however it is found.
#![allow(non_snake_case, reason = "monogram notation")]

use core::f64::consts::{FRAC_PI_2, TAU};

use force_elements::cable::{CablePath, Obstacle, Tracking, Wrappable};
use force_elements::nalgebra::{Point3, Rotation3, Translation3, Vector3};
use force_elements::shapes::{Cylinder, DistanceField, Ellipsoid, Sphere, Torus, TriangleMesh};
use force_elements::{
    BodyIndex, CableSpring, Error, ForceSystem, Frame, Handle, Pose, State, Station, StepMethod, cable_spring,
};
use force_elements_scenes::cables::{Dice, Pebble, hill};
use force_elements_scenes::kilograms::Kilograms;

/// Checks a step that is short enough for all forces here.
pub(crate) fn check_step(system: &ForceSystem<f64>, state: &mut State<f64>) -> Result<(), Error> {
    system.check_step(state, &Kilograms, StepMethod::SymplecticEuler, 1e-9)
}

/// A cable between two bodies that rise and sink together over two obstacles of one kind.
struct Scene {
    system: ForceSystem<f64>,
    state: State<f64>,
    cable: Handle<CableSpring<f64>>,
    ends: [BodyIndex; 2],
}

impl Scene {
    fn over(
        make: &dyn Fn() -> Result<Box<dyn Wrappable<f64>>, Error>,
        R_GS: Rotation3<f64>,
        depth: f64,
    ) -> Result<Self, Error> {
        let mut system = ForceSystem::new();
        let ends = [system.add_body(), system.add_body()];
        let [from, to] = ends.map(|body| Station { body, p_B: Point3::origin() });
        let mut path = CablePath::new(from, to)?;
        for x in [0.0, 4.0] {
            let X = Pose::from_parts(Translation3::new(x, -depth, 0.0), R_GS);
            path = path.over(Obstacle::shared(Frame::ground(X), make()?.into())?);
        }
        let cable = system.add(CableSpring::new(
            path,
            cable_spring::Parameters { stiffness: 100.0, slack_length: 1.0, dissipation: 0.1 },
        )?)?;
        let state = system.default_state();
        Ok(Self { system, state, cable, ends })
    }

    /// Every kind of surface, its top at the height of Ground's origin.
    fn every() -> Result<Vec<(&'static str, Self)>, Error> {
        let upright = Rotation3::identity();
        let turned = Rotation3::from_axis_angle(&Vector3::y_axis(), FRAC_PI_2);
        // The z axis of the map up.
        let lying = Rotation3::from_axis_angle(&Vector3::x_axis(), -FRAC_PI_2);
        let map = hill(&mut Dice::new(7)).map()?;
        let top = map.height_at(0.0, 0.0)?;
        let field = DistanceField::from_mesh(&TriangleMesh::sphere(0.6, 24)?, 0.15)?;
        Ok(vec![
            ("sphere", Self::over(&|| Ok(Box::new(Sphere::new(0.6)?)), upright, 0.6)?),
            ("cylinder", Self::over(&|| Ok(Box::new(Cylinder::new(0.6)?)), upright, 0.6)?),
            (
                "ellipsoid",
                Self::over(&|| Ok(Box::new(Ellipsoid::new(Vector3::new(0.5, 0.6, 0.7))?)), upright, 0.6)?,
            ),
            ("torus", Self::over(&|| Ok(Box::new(Torus::new(1.0, 0.3)?)), turned, 1.3)?),
            ("height map", Self::over(&|| Ok(Box::new(hill(&mut Dice::new(7)).map()?)), lying, top)?),
            ("distance field", Self::over(&|| Ok(Box::new(field.clone())), upright, 0.6)?),
            ("the user's own", Self::over(&|| Ok(Box::new(Pebble { radius: 0.7 })), upright, 0.6)?),
        ])
    }

    /// Puts the ends at this height and evaluates; returns how the path was found and how often it touches.
    fn evaluate(&mut self, time: f64, height: f64, aside: f64) -> Result<(Tracking, usize), Error> {
        self.state.set_time(time)?;
        self.state.set_pose(self.ends[0], Pose::translation(-2.0, height, 0.1 + aside))?;
        self.state.set_pose(self.ends[1], Pose::translation(6.0, height, -0.1 - aside))?;
        let view = self.system.realize_dynamics(&mut self.state)?;
        let path = &view.of(self.cable).position.path;
        let contacts = path.contacts.iter().filter(|contact| contact.in_contact).count();
        let found = path.tracking;
        self.system.switching_error(&mut self.state)?;
        check_step(&self.system, &mut self.state)?;
        Ok((found, contacts))
    }
}

fn swing(scene: &mut Scene, steps: core::ops::Range<u32>) -> Result<[usize; 3], Error> {
    let mut contacts = [0; 3];
    for step in steps {
        let time = 0.01 * f64::from(step);
        let (_, touching) = scene.evaluate(time, 0.25 * time.sin(), 0.1 * (0.5 * time).sin())?;
        contacts[touching] += 1;
        scene.system.accept_step(&mut scene.state)?;
    }
    Ok(contacts)
}

#[test]
fn tracking_does_not_allocate_through_touchdown_and_liftoff_on_any_surface() -> Result<(), Error> {
    for (name, mut scene) in Scene::every()? {
        // One swing to warm up: every buffer has been as large as it gets.
        swing(&mut scene, 0..1260)?;
        let mut outcome = Ok([0; 3]);
        let counted = allocation_counter::measure(|| outcome = swing(&mut scene, 1260..2520));
        let contacts = outcome?;
        assert_eq!(counted.count_total, 0, "{name}");
        assert!(
            contacts.iter().filter(|&&count| count > 100).count() >= 2,
            "{name}: no touchdown: {contacts:?}"
        );
    }
    Ok(())
}

#[test]
fn a_search_from_nothing_does_not_allocate_after_the_first() -> Result<(), Error> {
    for (name, mut scene) in Scene::every()? {
        // Never accepted, so that each evaluation searches afresh; the first is the deepest.
        scene.evaluate(0.0, -0.3, 0.05)?;
        let mut found = Vec::with_capacity(40);
        let mut outcome = Ok::<_, Error>(());
        let counted = allocation_counter::measure(|| {
            outcome = (0..40).map(f64::from).try_for_each(|i| {
                found.push(scene.evaluate(0.01 * i, -0.3 + 0.015 * i, 0.05)?);
                Ok(())
            });
        });
        outcome?;
        assert_eq!(counted.count_total, 0, "{name}");
        assert!(found.iter().all(|(tracking, _)| *tracking == Tracking::Cold));
        assert!(found.iter().any(|(_, touching)| *touching == 2), "{name}: {found:?}");
    }
    Ok(())
}

/// Leaps of the ends that Newton's method does not always follow.
#[test]
fn leaps_do_not_allocate_after_the_first() -> Result<(), Error> {
    let mut followed = 0;
    for (name, mut scene) in Scene::every()? {
        let mut leap = |i: u32| -> Result<Tracking, Error> {
            let angle = f64::from(i % 7) / 7.0 * TAU;
            let time = 0.01 * f64::from(i);
            let (found, _) = scene.evaluate(time, -0.1 + 0.5 * angle.sin(), 0.8 * angle.cos() - 0.1)?;
            if i.is_multiple_of(3) {
                scene.system.accept_step(&mut scene.state)?;
            }
            Ok(found)
        };
        (0..42).try_for_each(|i| leap(i).map(|_| ()))?;
        let mut outcome = Ok::<_, Error>(());
        let counted = allocation_counter::measure(|| {
            outcome = (42..84).try_for_each(|i| {
                followed += usize::from(leap(i)? > Tracking::Warm);
                Ok(())
            });
        });
        outcome?;
        assert_eq!(counted.count_total, 0, "{name}");
    }
    assert!(followed > 5, "{followed}");
    Ok(())
}

/// In the plane of symmetry the path over the longer axis is longest sideways, and is pushed off.
#[test]
fn a_path_pushed_off_a_saddle_does_not_allocate_after_the_first() -> Result<(), Error> {
    let flat = || -> Result<Box<dyn Wrappable<f64>>, Error> {
        Ok(Box::new(Ellipsoid::new(Vector3::new(1.0, 0.9, 0.6))?))
    };
    let mut scene = Scene::over(&flat, Rotation3::identity(), 0.9)?;
    let mut push = || -> Result<(), Error> {
        for i in 1..10 {
            scene.evaluate(0.0, -0.9 + 0.01 * f64::from(i), -0.1)?;
            let view = scene.system.realize_position(&mut scene.state)?;
            let contact = &view.of(scene.cable).position.path.contacts[0];
            assert!(contact.geodesic.start.point.z.abs() > 0.1, "not pushed off: {contact:?}");
        }
        Ok(())
    };
    push()?;
    let mut outcome = Ok(());
    let counted = allocation_counter::measure(|| outcome = push());
    outcome?;
    assert_eq!(counted.count_total, 0);
    Ok(())
}

#[test]
fn a_cable_that_is_enabled_again_does_not_allocate() -> Result<(), Error> {
    for (name, mut scene) in Scene::every()? {
        swing(&mut scene, 0..10)?;
        let mut toggle = || -> Result<(), Error> {
            for enabled in [false, true] {
                scene.system.set_enabled(&mut scene.state, scene.cable, enabled)?;
                scene.evaluate(0.1, -0.05, 0.0)?;
            }
            Ok(())
        };
        toggle()?;
        let mut outcome = Ok(());
        let counted = allocation_counter::measure(|| outcome = toggle());
        outcome?;
        assert_eq!(counted.count_total, 0, "{name}");
    }
    Ok(())
}

/// The memory of checks is that of the bodies before.
#[test]
fn a_copy_of_a_state_of_another_system_is_checked_with_the_bodies_of_that() -> Result<(), Error> {
    let scene = |count: usize| -> Result<(ForceSystem<f64>, State<f64>), Error> {
        let mut system = ForceSystem::new();
        let bodies: Vec<BodyIndex> = (0..count).map(|_| system.add_body()).collect();
        let end = Station { body: bodies[count - 1], p_B: Point3::origin() };
        let path = CablePath::new(Station::ground(Point3::new(0.0, 0.0, 1.0)), end)?;
        let elastic = cable_spring::Parameters { stiffness: 100.0, slack_length: 0.5, dissipation: 0.1 };
        system.add(CableSpring::new(path, elastic)?)?;
        let mut state = system.default_state();
        system.realize_dynamics(&mut state)?;
        check_step(&system, &mut state)?;
        Ok((system, state))
    };
    for counts in [[1, 3], [3, 1]] {
        let [(_, mut state), (system, other)] = [scene(counts[0])?, scene(counts[1])?];
        state.clone_from(&other);
        check_step(&system, &mut state)?;
    }
    Ok(())
}
