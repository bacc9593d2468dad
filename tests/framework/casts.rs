//! Casts of systems and states to another scalar.
#![allow(clippy::panic, non_snake_case, reason = "a test stops at the first surprise; monogram notation")]

use force_elements::cable::{CablePath, Obstacle, Wrappable};
use force_elements::elastic_foundation::Material;
use force_elements::nalgebra::{Matrix3, Point3, Vector3};
use force_elements::shapes::{HalfSpace, ShapeError, Solid, SolidShape, SurfacePoint, TriangleMesh};
use force_elements::{
    CableSpring, Casts, CustomForce, ElasticFoundation, ElementError, Error, ForceElement, ForceSystem,
    Frame, LinearBushing, Pose, Quantity, Real, State, Station, Topology, cable_spring,
    coordinate_spring_damper_ext, linear_bushing, variables,
};
use num_dual::Dual64;

use force_elements_scenes::machine::Machine;
use force_elements_scenes::tension::tension;

fn cast<T: Real, U: Real>(machine: &Machine<T>) -> Result<Machine<U>, Error> {
    Ok(Machine {
        system: machine.system.cast()?,
        body: machine.body,
        slider: machine.slider,
        spring: machine.spring.cast(),
        bushing: machine.bushing.cast(),
        foundation: machine.foundation.cast(),
        cable: machine.cable.cast(),
        bristles: machine.bristles.cast(),
    })
}

/// A machine whose ball is a brick: all its numbers are the same in single and in double precision, but for the
/// rounding of literals.
fn with_a_brick<T: Real>() -> Result<Machine<T>, Error> {
    let mut machine = Machine::<T>::new()?;
    let mut foundation = ElasticFoundation::default();
    foundation.add_rigid(Frame::ground(Pose::identity()), HalfSpace::BelowZ)?;
    let brick = TriangleMesh::brick(Vector3::repeat(T::lit(0.25)), [4; 3])?;
    foundation.add_springs(Frame::of(machine.body), brick, Material::new(T::lit(1e5)))?;
    machine.system.remove(machine.foundation)?;
    machine.system.remove(machine.bristles)?;
    machine.foundation = machine.system.add(foundation)?;
    machine.bristles = machine.system.add(force_elements_scenes::machine::bristles(machine.slider)?)?;
    Ok(machine)
}

/// What goes on in a state: the spring slides, springs of the mesh are displaced, the cable touches, bristles slip.
fn events<T: Real>(machine: &Machine<T>, state: &mut State<T>) -> Result<[bool; 4], Error> {
    let view = machine.system.realize_dynamics(state)?;
    let displaced = !view.of(machine.foundation).position.springs.is_empty();
    let touches = view.of(machine.cable).position.path.contacts[0].in_contact;
    let sliding = state.discrete(machine.spring).sliding > T::lit(0.5);
    let slipping = state.discrete(machine.bristles).friction_mode != T::zero();
    Ok([sliding, displaced, touches, slipping])
}

#[test]
fn a_cast_to_the_same_scalar_is_the_system_bit_for_bit_and_runs_on_alike() -> Result<(), Error> {
    let machine = Machine::<f64>::new()?;
    let twin: Machine<f64> = cast(&machine)?;
    let mut state = machine.start()?;
    let mut seen = [[0; 2]; 4];
    for start in (0..600).step_by(40) {
        machine.run(&mut state, start..start + 40)?;
        machine.system.update_parameters(&mut state, machine.cable, |p| p.law.stiffness += 1.0)?;
        machine.system.set_enabled(&mut state, machine.foundation, start % 80 == 0)?;
        let mut copy = twin.system.cast_state(&state)?;
        assert_eq!(copy.snapshot(), state.snapshot());
        assert_eq!(twin.everything(&mut copy)?, machine.everything(&mut state)?);
        for (seen, happens) in seen.iter_mut().zip(events(&machine, &mut state)?) {
            seen[usize::from(happens)] += 1;
        }
        let mut onward = state.clone();
        machine.run(&mut onward, start + 40..start + 60)?;
        twin.run(&mut copy, start + 40..start + 60)?;
        assert_eq!(twin.everything(&mut copy)?, machine.everything(&mut onward)?);
    }
    let [[_, sliding], [free, displaced], [_, touches], [sticking, slipping]] = seen;
    assert!(
        [sliding, free, displaced, touches, sticking, slipping].iter().all(|&count| count > 0),
        "{seen:?}"
    );
    Ok(())
}

#[test]
fn in_single_precision_a_cast_is_what_was_built_there_bit_for_bit() -> Result<(), Error> {
    let double = with_a_brick::<f64>()?;
    let single: Machine<f32> = cast(&double)?;
    let anew = with_a_brick::<f32>()?;
    let (mut state, mut built) = (single.start()?, anew.start()?);
    for start in (0..300).step_by(30) {
        single.run(&mut state, start..start + 30)?;
        anew.run(&mut built, start..start + 30)?;
        assert_eq!(single.everything(&mut state)?, anew.everything(&mut built)?);
    }
    Ok(())
}

#[test]
fn in_single_precision_a_cast_state_is_as_accurate_as_that() -> Result<(), Error> {
    let machine = Machine::<f64>::new()?;
    let single: Machine<f32> = cast(&machine)?;
    let mut state = machine.start()?;
    for start in (0..300).step_by(30) {
        machine.run(&mut state, start..start + 30)?;
        let mut rounded = single.system.cast_state(&state)?;
        let view = machine.system.realize_dynamics(&mut state)?;
        let in_single = single.system.realize_dynamics(&mut rounded)?;
        let (force, rounded) = (view.body_force(machine.body), in_single.body_force(machine.body));
        let off = force.force - rounded.force.map(f64::from);
        // Places of order one are rounded to 6e-8; the stiffest part, the bristles of the exponential spring, has
        // 20 kN/m, the ball's surface 1e5 N/m³ over 0.1 m².
        assert!(off.norm() < 1e-4 * (1.0 + force.force.norm()), "{off} of {}", force.force);
        let energy = view.potential_energy();
        assert!((energy - f64::from(in_single.potential_energy())).abs() < 1e-5 * (1.0 + energy));
    }
    Ok(())
}

/// The same numbers in duals, without derivatives.
fn lifted(snapshot: Vec<(String, f64)>) -> Vec<(String, Dual64)> {
    snapshot.into_iter().map(|(name, value)| (name, Dual64::from_re(value))).collect()
}

#[test]
fn derivatives_of_a_cast_are_those_of_a_system_built_anew() -> Result<(), Error> {
    let machine = Machine::<f64>::new()?;
    let (duals, anew) = (cast::<_, Dual64>(&machine)?, Machine::<Dual64>::new()?);
    let mut state = machine.start()?;
    for start in (0..300).step_by(30) {
        machine.run(&mut state, start..start + 30)?;
        machine.move_to(&mut state, 0.002 * f64::from(start + 31))?;
        let mut built = anew.system.default_state();
        built.restore(&lifted(state.snapshot()))?;
        let mut moving = duals.system.cast_state(&state)?;
        anew.move_to(&mut built, 0.002 * f64::from(start + 31))?;
        for axis in 0..6 {
            let seed = |machine: &Machine<Dual64>, state: &mut State<Dual64>| -> Result<Vec<Dual64>, Error> {
                let mut X = *state.positions().pose(machine.body);
                X.translation.vector.iter_mut().for_each(|x| x.eps = 0.0);
                let mut V = *state.velocities().velocity(machine.body);
                V.angular.iter_mut().for_each(|x| x.eps = 0.0);
                if axis < 3 {
                    X.translation.vector[axis].eps = 1.0;
                } else {
                    V.angular[axis - 3].eps = 1.0;
                }
                state.set_body(machine.body, X, V)?;
                let view = machine.system.realize_dynamics(state)?;
                let force = view.body_force(machine.body);
                let energies = [view.potential_energy(), view.power_dissipated()];
                Ok(force.torque.iter().chain(&force.force).chain(&energies).copied().collect())
            };
            let (cast, built) = (seed(&duals, &mut moving)?, seed(&anew, &mut built)?);
            for (cast, built) in cast.iter().zip(&built) {
                // Rotations are computed in duals there and copied here; roundoff of forces of kilonewtons.
                assert!((cast.re - built.re).abs() < 1e-9 * (1.0 + built.re.abs()), "{cast} {built}");
                assert!((cast.eps - built.eps).abs() < 1e-8 * (1.0 + built.eps.abs()), "{cast} {built}");
            }
            assert!(cast.iter().any(|x| x.eps.abs() > 1.0));
        }
    }
    Ok(())
}

#[test]
fn places_names_defaults_and_handles_are_valid_in_a_cast() -> Result<(), Error> {
    let mut machine = with_a_brick::<f64>()?;
    let vacant = machine.system.add_body();
    let last = machine.system.add_named_body("last")?;
    machine.system.remove_body(vacant)?;
    let parameters = coordinate_spring_damper_ext::Parameters {
        stiffness: 7.0,
        ..*machine.system.default_parameters(machine.bristles)
    };
    machine.system.set_default_parameters(machine.bristles, parameters)?;
    let mut memory = *machine.system.default_discrete(machine.bristles);
    memory.last_sticking_position = 0.125;
    machine.system.set_default_discrete(machine.bristles, memory)?;
    machine.system.set_enabled_by_default(machine.cable, false)?;

    let mut duals: Machine<Dual64> = cast(&machine)?;
    assert!(duals.system.bodies().eq(machine.system.bodies()));
    assert_eq!(duals.system.topology().find_body("last"), Some(last));
    assert!(duals.system.elements().eq(machine.system.elements()));
    assert_eq!(duals.system.find_element("rope"), Some(machine.cable.id()));
    assert_eq!(duals.system.element_name(duals.spring), machine.system.element_name(machine.spring));
    assert_eq!(duals.system.default_parameters(duals.bristles).stiffness.re, 7.0);
    assert_eq!(duals.system.default_discrete(duals.bristles).last_sticking_position.re, 0.125);
    assert!(!duals.system.is_enabled_by_default(machine.cable));
    // By the wrong type, the handle is refused; so is what was added to one of the two later.
    assert!(duals.system.try_element(machine.spring.cast::<CableSpring<Dual64>>()).is_err());
    let later = machine.system.add(force_elements_scenes::machine::bristles(machine.slider)?)?;
    assert!(!duals.system.contains(later));
    let own = duals.system.add_body();
    assert!(!machine.system.topology().has_body(own) && duals.system.topology().has_body(last));
    Ok(())
}

#[test]
fn states_of_other_systems_or_out_of_range_are_refused() -> Result<(), Error> {
    let mut machine = Machine::<f64>::new()?;
    let single: Machine<f32> = cast(&machine)?;
    let mut state = machine.start()?;
    assert!(single.system.cast_state(&state).is_ok());
    assert_eq!(
        single.system.cast_state(&Machine::<f64>::new()?.start()?).err(),
        Some(Error::TopologyMismatch)
    );

    // Too large for single precision.
    state.set_pose(machine.body, Pose::translation(1e60, 0.0, 0.0))?;
    let Some(Error::Kinematics(refused)) = single.system.cast_state(&state).err() else { panic!("1e60 m") };
    assert_eq!(
        refused,
        force_elements::KinematicsError::NonFinite { quantity: Quantity::Pose(machine.body) }
    );
    machine.move_to(&mut state, 0.0)?;
    machine.system.update_parameters(&mut state, machine.cable, |p| p.law.dissipation = 1e60)?;
    let refused = single.system.cast_state(&state).err().map(|error| error.to_string());
    assert_eq!(
        refused.as_deref(),
        Some("cable_spring[0] \"rope\": dissipation = inf, but it must be finite and at least 0")
    );
    let mut stiff = machine.system.default_parameters(machine.cable).to_owned();
    stiff.law.stiffness = 1e60;
    machine.system.set_default_parameters(machine.cable, stiff)?;
    assert!(matches!(
        machine.system.cast::<f32>().err().as_ref().and_then(Error::element_error),
        Some(ElementError::InvalidValue(_))
    ));

    // What was added or removed since.
    machine.system.update_parameters(&mut state, machine.cable, |p| p.law.dissipation = 0.1)?;
    machine.system.remove(machine.bristles)?;
    machine.system.carry_over(&mut state)?;
    assert_eq!(single.system.cast_state(&state).err(), Some(Error::TopologyMismatch));
    Ok(())
}

#[test]
fn a_function_of_one_scalar_is_refused_by_name() -> Result<(), Error> {
    let mut system = ForceSystem::<f64>::new();
    let slider = system.add_coordinate();
    let law = system.add_named("law", tension(slider, |_, q, _| 3.0 * q))?;
    let refused = system.cast::<f32>().err();
    assert_eq!(
        refused,
        Some(Error::Element { element: system.element_name(law), source: ElementError::BoundToScalar })
    );
    // A cast of one's own overrides that of this crate.
    let mut casts = Casts::<f64, f32>::new();
    casts.add(move |_: &CustomForce<f64>, _| {
        Ok(CustomForce::<f32>::new(move |motion, loads| {
            loads.apply_to_coordinate(slider, -3.0 * motion.coordinate(slider));
            0.0
        }))
    });
    let single = system.cast_with(&casts)?;
    let mut state = single.default_state();
    state.set_coordinate(slider, 0.5)?;
    assert_eq!(single.realize_dynamics(&mut state)?.coordinate_force(slider), -1.5);
    Ok(())
}

variables! {
    /// Of the element below.
    pub(crate) struct One<T> {
        /// Some number.
        pub(crate) number: T = 1.0, positive;
        /// A flag.
        pub(crate) flag: bool;
    }
}

variables! {
    /// Of a cast with other variables.
    pub(crate) struct Another<T> {
        /// Some number.
        pub(crate) other: T = 1.0, positive;
        /// A flag.
        pub(crate) flag: bool;
    }
}

variables! {
    /// The continuous variable of both.
    pub(crate) struct Level<T> {
        /// Some number.
        pub(crate) level: T = 0.25;
    }
}

macro_rules! idle {
    ($Name:ident, $Parameters:ident) => {
        #[derive(Debug)]
        struct $Name;

        impl<T: Real> ForceElement<T> for $Name {
            const KIND: &'static str = "idle";
            force_elements::element_types! { Parameters = $Parameters<T>; Continuous = Level<T>; }

            fn check_topology(&self, _: &Topology) -> Result<(), ElementError> {
                Ok(())
            }
            fn add_forces(
                &self,
                _: &force_elements::AtDynamics<'_, T, Self>,
                _: &mut force_elements::ForceAccumulator<'_, T>,
            ) {
            }
        }
    };
}

idle!(Idle, One);
idle!(Changed, Another);

#[test]
fn a_users_element_is_cast_by_its_function_and_keeps_its_variables() -> Result<(), Error> {
    let mut system = ForceSystem::<f64>::new();
    let idle = system.add_named("idler", Idle)?;
    assert_eq!(system.cast::<Dual64>().err(), Some(Error::NoCast { kind: "idle" }));

    let mut casts = Casts::<f64, Dual64>::new();
    casts.add(|_: &Idle, _| Ok(Idle));
    let duals = system.cast_with(&casts)?;
    let mut state = system.default_state();
    system.update_parameters(&mut state, idle, |p| (p.number, p.flag) = (2.5, true))?;
    state.set_continuous(&[3.0, 0.75])?;
    let moved = duals.cast_state(&state)?;
    assert_eq!(moved.continuous(), [3.0, 0.75].map(Dual64::from_re));
    let parameters = moved.parameters::<Idle>(idle);
    assert_eq!((parameters.number, parameters.flag), (Dual64::from_re(2.5), true));

    // Other names are not the same element; of several casts the last one counts.
    casts.add(|_: &Idle, _| Ok(Changed));
    assert_eq!(
        system.cast_with(&casts).err(),
        Some(Error::Element { element: system.element_name(idle), source: ElementError::ForeignVariables })
    );
    casts.add(|_: &Idle, _| Err::<Idle, _>(Error::TopologyMismatch));
    assert_eq!(system.cast_with(&casts).err(), Some(Error::TopologyMismatch));
    Ok(())
}

/// The solid below `z = depth − (x² + y²) / 2`, for a cable and for contact alike.
#[derive(Debug)]
struct Mound<T> {
    depth: T,
}

impl<T: Real> Wrappable<T> for Mound<T> {
    fn value(&self, p: &Point3<T>) -> T {
        p.z - self.depth + T::lit(0.5) * (p.x * p.x + p.y * p.y)
    }
    fn gradient(&self, p: &Point3<T>) -> Vector3<T> {
        Vector3::new(p.x, p.y, T::one())
    }
    fn hessian(&self, _: &Point3<T>) -> Matrix3<T> {
        Matrix3::from_diagonal(&Vector3::new(T::one(), T::one(), T::zero()))
    }
    fn size(&self) -> T {
        T::one()
    }
    fn is_convex(&self) -> bool {
        true
    }
}

/// A flat roof at the depth.
impl<T: Real> Solid<T> for Mound<T> {
    fn nearest(&self, p_S: &Point3<T>) -> SurfacePoint<T> {
        let point = Point3::new(p_S.x, p_S.y, self.depth);
        SurfacePoint { point, normal: Vector3::z(), signed_distance: p_S.z - self.depth }
    }
}

fn mound_casts<U: Real>() -> Casts<f64, U> {
    let mut casts = Casts::new();
    casts.add_solid(|mound: &Mound<f64>| Ok(Mound { depth: mound.depth.cast::<U>() }));
    casts.add_surface(|mound: &Mound<f64>| Ok(Mound { depth: mound.depth.cast::<U>() }));
    casts
}

#[test]
fn a_users_shape_is_cast_by_its_function_and_missed_by_its_type() -> Result<(), Error> {
    let mut system = ForceSystem::<f64>::new();
    let body = system.add_body();
    let mut foundation = ElasticFoundation::default();
    foundation.add_rigid(Frame::ground(Pose::identity()), SolidShape::custom(Mound { depth: 0.1 }))?;
    let ball = TriangleMesh::sphere(0.5, 8)?;
    foundation.add_springs(Frame::of(body), ball, Material::new(1e4))?;
    let foundation = system.add(foundation)?;
    let missing = |error: Option<Error>| match error.as_ref().and_then(Error::own::<ShapeError>) {
        Some(ShapeError::NoCast { shape }) => shape.contains("Mound<f64>"),
        _ => false,
    };
    assert!(missing(system.cast::<Dual64>().err()));
    system.remove(foundation)?;

    let mound = Obstacle::new(Frame::ground(Pose::identity()), Mound { depth: 0.1 })?;
    let path =
        CablePath::new(Station::ground(Point3::new(-2.0, 0.0, 0.0)), Station::on(body, Point3::origin()))?;
    let elastic = cable_spring::Parameters { stiffness: 100.0, slack_length: 1.0, dissipation: 0.0 };
    let cable = system.add(CableSpring::new(path.over(mound), elastic)?)?;
    let refused = system.cast::<Dual64>().err();
    assert!(refused.is_some_and(|error| error.to_string().contains("Mound<f64>")));

    let mut foundation = ElasticFoundation::default();
    foundation.add_rigid(Frame::ground(Pose::identity()), SolidShape::custom(Mound { depth: 0.1 }))?;
    foundation.add_springs(Frame::of(body), TriangleMesh::sphere(0.5, 8)?, Material::new(1e4))?;
    system.add(foundation)?;
    let duals = system.cast_with(&mound_casts::<Dual64>())?;
    let mut state = system.default_state();
    state.set_pose(body, Pose::translation(2.0, 0.3, 0.15))?;
    let mut moving = duals.cast_state(&state)?;
    let mut X = *moving.positions().pose(body);
    X.translation.z.eps = 1.0;
    moving.set_pose(body, X)?;
    let in_duals = duals.realize_dynamics(&mut moving)?;
    assert!(in_duals.of(cable.cast::<CableSpring<Dual64>>()).position.path.contacts[0].in_contact);
    let slope = in_duals.body_force(body).force.z.eps;
    let value = in_duals.body_force(body).force.z.re;
    let mut force_at = |z: f64| -> Result<f64, Error> {
        state.set_pose(body, Pose::translation(2.0, 0.3, z))?;
        Ok(system.realize_dynamics(&mut state)?.body_force(body).force.z)
    };
    assert!((force_at(0.15)? - value).abs() < 1e-7);
    // The springs in contact are the same within this step.
    let difference = (force_at(0.15 + 1e-5)? - force_at(0.15 - 1e-5)?) / 2e-5;
    assert!(slope < -100.0 && (slope - difference).abs() < 1e-4 * slope.abs(), "{slope} {difference}");
    Ok(())
}

#[test]
fn casts_without_elements_know_none_of_the_crate() -> Result<(), Error> {
    let mut system = ForceSystem::<f64>::new();
    let frame = Frame::of(system.add_body());
    system.add(LinearBushing::new(
        Frame::ground(Pose::identity()),
        frame,
        linear_bushing::Parameters::default(),
    )?)?;
    let casts = Casts::<f64, Dual64>::without_elements();
    assert_eq!(system.cast_with(&casts).err(), Some(Error::NoCast { kind: "linear_bushing" }));
    Ok(())
}
