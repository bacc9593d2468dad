//! Results by name, spelled out for every element beside the typed access to the same.

use std::collections::BTreeSet;

use force_elements::cable::Tracking;
use force_elements::nalgebra::{Point3, SVector, Vector3};
use force_elements::testing::{Numbers, Scene, Subject};
use force_elements::{
    BodyIndex, CustomForce, Error, ForceElement, ForceSystem, Handle, Pose, Real, SpatialForce,
    SpatialVelocity, Stage, State,
};

use super::hertz::BallOnBall;
use super::meshes::SoftTorus;
use super::scene::{Bushing, Cable, Coordinate, Spring};

type Row = (String, f64, &'static str, Stage);

/// The rows that are expected of one element.
struct Rows {
    element: String,
    rows: Vec<Row>,
}

impl Rows {
    fn number(&mut self, stage: Stage, name: &str, unit: &'static str, value: f64) {
        self.rows.push((format!("{}.{name}", self.element), value, unit, stage));
    }

    fn vector<const N: usize>(&mut self, stage: Stage, name: &str, unit: &'static str, v: &SVector<f64, N>) {
        for (value, axis) in v.iter().zip(["x", "y", "z"]) {
            self.number(stage, &format!("{name}.{axis}"), unit, *value);
        }
    }

    fn six(&mut self, stage: Stage, name: &str, units: [&'static str; 2], v: &SVector<f64, 6>) {
        for (i, axis) in ["qx", "qy", "qz", "px", "py", "pz"].iter().enumerate() {
            self.number(stage, &format!("{name}.{axis}"), units[i / 3], v[i]);
        }
    }

    fn pose(&mut self, stage: Stage, name: &str, X: &Pose<f64>) {
        for (i, row) in ["x", "y", "z"].iter().enumerate() {
            for (j, column) in ["x", "y", "z"].iter().enumerate() {
                self.number(stage, &format!("{name}.R.{row}{column}"), "1", X.rotation[(i, j)]);
            }
        }
        self.vector(stage, &format!("{name}.p"), "m", &X.translation.vector);
    }

    fn velocity(&mut self, name: &str, V: &SpatialVelocity<f64>) {
        self.vector(Stage::Velocity, &format!("{name}.angular"), "rad/s", &V.angular);
        self.vector(Stage::Velocity, &format!("{name}.linear"), "m/s", &V.linear);
    }

    fn force(&mut self, name: &str, F: &SpatialForce<f64>) {
        self.vector(Stage::Dynamics, &format!("{name}.torque"), "N·m", &F.torque);
        self.vector(Stage::Dynamics, &format!("{name}.force"), "N", &F.force);
    }
}

/// Checks listing, names, units, stages and values at each stage against those that `expected` spells out; the powers
/// that every element has at the end are those of the view.
fn agrees<E: ForceElement<f64>>(
    Scene { system, mut state, element }: Scene<f64, E>,
    expected: impl Fn(&ForceSystem<f64>, &State<f64>, Handle<E>, &mut Rows),
) {
    let of_every_element = |system: &ForceSystem<f64>, state: &State<f64>, rows: &mut Rows| {
        let view = system.dynamics_view(state).expect("realized");
        let own: BTreeSet<String> = rows.rows.iter().map(|(name, ..)| name.clone()).collect();
        for (name, unit, value) in [
            ("potential_energy", "J", view.potential_energy_of(element)),
            ("power_dissipated", "W", view.power_dissipated_of(element)),
            ("power_absorbed", "W", view.power_absorbed()[0]),
        ] {
            if own.contains(&format!("{}.{name}", rows.element)) {
                assert_eq!(view.result(&format!("{}.{name}", rows.element)), Ok(value), "{name}");
            } else {
                rows.number(Stage::Dynamics, name, unit, value);
            }
        }
    };
    for enabled in [true, false] {
        system.set_enabled(&mut state, element, enabled).expect("own");
        system.realize_dynamics(&mut state).expect("regular");
        let mut rows = Rows { element: format!("{}[0]", E::KIND), rows: Vec::new() };
        expected(&system, &state, element, &mut rows);
        of_every_element(&system, &state, &mut rows);
        let rows = rows.rows;
        let names: BTreeSet<&String> = rows.iter().map(|(name, ..)| name).collect();
        assert_eq!(names.len(), rows.len(), "a name is there twice");
        let variables = state.variable_names();
        assert!(variables.iter().all(|variable| !names.contains(variable)), "{variables:?}");

        let up_to = |stage| rows.iter().filter(move |row| row.3 <= stage).cloned().collect::<Vec<_>>();
        macro_rules! check {
            ($view:expr, $stage:expr) => {
                let (view, stage) = ($view.expect("realized"), $stage);
                let mut listed: Vec<Row> = Vec::new();
                view.visit_results(&mut |entry| {
                    listed.push((entry.name.to_string(), entry.value.number(), entry.unit, entry.stage));
                });
                assert_eq!(listed, up_to(stage));
                for (name, value, _, own_stage) in &rows {
                    let found = view.result(name);
                    if *own_stage <= stage {
                        assert_eq!(found, Ok(*value), "{name}");
                        let (id, place) = view.place_of_result(name).expect("there is one");
                        let mut of_element = Vec::new();
                        view.visit_results_of(id, &mut |entry| {
                            of_element.push((format!("{id}.{}", entry.name), entry.value.number()));
                        })
                        .expect("own");
                        assert_eq!(of_element[place], (name.clone(), *value));
                    } else {
                        assert_eq!(view.place_of_result(name).err(), found.clone().err());
                        let stage = Some(*own_stage);
                        assert_eq!(found, Err(Error::NoSuchResult { name: name.clone(), stage }));
                    }
                }
            };
        }
        check!(system.position_view(&state), Stage::Position);
        check!(system.velocity_view(&state), Stage::Velocity);
        check!(system.dynamics_view(&state), Stage::Dynamics);
        let values: f64 = rows.iter().map(|row| row.1.abs()).sum();
        assert!(!enabled || values > 1e-3, "the scene is trivial");
    }
}

fn scene<S: Subject>() -> Scene<f64, S::Element<f64>> {
    S::scene(&mut Numbers::new(7)).expect("valid")
}

#[test]
fn a_bushing_lists_all_its_results() {
    agrees(scene::<Bushing>(), |system, state, element, rows| {
        let at = system.dynamics_view(state).expect("realized").of(element);
        let (position, velocity, dynamics) = (at.position, at.velocity, at.dynamics);
        rows.pose(Stage::Position, "X_GF", &position.X_GF);
        rows.pose(Stage::Position, "X_GM", &position.X_GM);
        rows.pose(Stage::Position, "X_FM", &position.X_FM);
        rows.six(Stage::Position, "q", ["rad", "m"], &position.q);
        rows.number(Stage::Position, "potential_energy", "J", position.potential_energy);
        rows.velocity("V_GF", &velocity.V_GF);
        rows.velocity("V_GM", &velocity.V_GM);
        rows.velocity("V_FM", &velocity.V_FM);
        rows.six(Stage::Velocity, "qdot", ["rad/s", "m/s"], &velocity.qdot);
        rows.six(Stage::Dynamics, "f", ["N·m", "N"], &dynamics.f);
        rows.force("F_GF", &dynamics.F_GF);
        rows.force("F_GM", &dynamics.F_GM);
        rows.number(Stage::Dynamics, "power_dissipated", "W", dynamics.power_dissipated);
    });
}

#[test]
fn an_exponential_spring_lists_all_its_results() {
    agrees(scene::<Spring>(), |system, state, element, rows| {
        let at = system.dynamics_view(state).expect("realized").of(element);
        let (position, velocity, dynamics) = (at.position, at.velocity, at.dynamics);
        rows.pose(Stage::Position, "X_GP", &position.X_GP);
        rows.vector(Stage::Position, "p_GS", "m", &position.p_GS.coords);
        rows.vector(Stage::Position, "p_PS", "m", &position.p_PS.coords);
        rows.number(Stage::Position, "height", "m", position.height);
        rows.vector(Stage::Velocity, "v_GS", "m/s", &velocity.v_GS);
        rows.vector(Stage::Velocity, "v_PS", "m/s", &velocity.v_PS);
        let mut at_dynamics = |name, unit, value| rows.number(Stage::Dynamics, name, unit, value);
        at_dynamics("normal_force_unclamped", "N", dynamics.normal_force_unclamped);
        at_dynamics("normal_force_elastic", "N", dynamics.normal_force_elastic);
        at_dynamics("normal_force_damping", "N", dynamics.normal_force_damping);
        at_dynamics("normal_force", "N", dynamics.normal_force);
        at_dynamics("mu", "1", dynamics.mu);
        at_dynamics("friction_force_limit", "N", dynamics.friction_force_limit);
        at_dynamics("limit_reached", "", f64::from(u8::from(dynamics.limit_reached)));
        let mut vector = |name, unit, value| rows.vector(Stage::Dynamics, name, unit, value);
        vector("friction_force_elastic_P", "N", &dynamics.friction_force_elastic_P);
        vector("friction_force_damping_P", "N", &dynamics.friction_force_damping_P);
        vector("friction_force_P", "N", &dynamics.friction_force_P);
        vector("next_anchor_P", "m", &dynamics.next_anchor_P);
        rows.number(Stage::Dynamics, "next_sliding", "1", dynamics.next_sliding);
        rows.number(Stage::Dynamics, "next_overspeed", "m/s", dynamics.next_overspeed);
        rows.number(Stage::Dynamics, "switching_error", "N", dynamics.switching_error);
        rows.number(Stage::Dynamics, "potential_energy", "J", dynamics.potential_energy);
        rows.number(Stage::Dynamics, "power_dissipated", "W", dynamics.power_dissipated);
    });
}

#[test]
fn a_coordinate_element_lists_all_its_results() {
    agrees(scene::<Coordinate<true>>(), |system, state, element, rows| {
        let at = system.dynamics_view(state).expect("realized").of(element);
        let dynamics = at.dynamics;
        rows.number(Stage::Position, "displacement", "m", at.position.displacement);
        rows.number(Stage::Velocity, "velocity", "m/s", at.velocity.velocity);
        let mut at_dynamics = |name, unit, value| rows.number(Stage::Dynamics, name, unit, value);
        at_dynamics("force", "N", dynamics.force);
        at_dynamics("friction_force", "N", dynamics.friction_force);
        at_dynamics("contact_force", "N", dynamics.contact_force);
        at_dynamics("generalized_force0", "N", dynamics.generalized_force0);
        at_dynamics("generalized_force1", "N", dynamics.generalized_force1);
        at_dynamics("potential_energy", "J", dynamics.potential_energy);
        at_dynamics("power_dissipated", "W", dynamics.power_dissipated);
        at_dynamics("power_supplied", "W", dynamics.power_supplied);
    });
}

#[test]
fn a_hertz_contact_lists_all_its_results() {
    agrees(scene::<BallOnBall>(), |system, state, element, rows| {
        let at = system.dynamics_view(state).expect("realized").of(element);
        let (position, velocity, dynamics) = (at.position, at.velocity, at.dynamics);
        rows.vector(Stage::Position, "normal_G", "1", &position.normal_G);
        rows.vector(Stage::Position, "point_G", "m", &position.point_G.coords);
        rows.number(Stage::Position, "depth", "m", position.depth);
        rows.number(Stage::Position, "contact_radius", "m", position.contact_radius);
        rows.number(Stage::Position, "elastic_force", "N", position.elastic_force);
        rows.number(Stage::Position, "potential_energy", "J", position.potential_energy);
        rows.number(Stage::Velocity, "depth_rate", "m/s", velocity.depth_rate);
        rows.vector(Stage::Velocity, "slip_G", "m/s", &velocity.slip_G);
        rows.number(Stage::Dynamics, "normal_force", "N", dynamics.normal_force);
        rows.vector(Stage::Dynamics, "friction_force_G", "N", &dynamics.friction_force_G);
        rows.number(Stage::Dynamics, "peak_pressure", "Pa", dynamics.peak_pressure);
        rows.number(Stage::Dynamics, "power_dissipated", "W", dynamics.power_dissipated);
    });
}

#[test]
fn a_foundation_lists_its_sums_over_all_contacts() {
    agrees(scene::<SoftTorus>(), |system, state, element, rows| {
        let at = system.dynamics_view(state).expect("realized").of(element);
        rows.number(Stage::Position, "potential_energy", "J", at.position.potential_energy);
        let resultants = &at.dynamics.resultants;
        rows.number(Stage::Dynamics, "normal_force", "N", resultants.iter().map(|r| r.normal_force).sum());
        rows.number(Stage::Dynamics, "area", "m²", resultants.iter().map(|r| r.area).sum());
        rows.number(Stage::Dynamics, "power_dissipated", "W", at.dynamics.power_dissipated);
        rows.number(Stage::Dynamics, "friction_energy", "J", at.dynamics.friction_energy);
        rows.number(Stage::Dynamics, "held_energy", "J", at.dynamics.held_energy);
    });
}

#[test]
fn a_cable_lists_the_measures_of_its_path_and_its_tension() {
    agrees(scene::<Cable>(), |system, state, element, rows| {
        let at = system.dynamics_view(state).expect("realized").of(element);
        let position = at.position;
        rows.number(Stage::Position, "path.length", "m", position.path.length);
        rows.number(Stage::Position, "path.smoothness", "rad", position.path.smoothness);
        let iterations = u32::try_from(position.path.iterations).expect("few");
        rows.number(Stage::Position, "path.iterations", "1", f64::from(iterations));
        // Found without memory, or not evaluated.
        let tracking = if position.path.tracking == Tracking::Cold { 3.0 } else { 0.0 };
        rows.number(Stage::Position, "path.tracking", "1", tracking);
        rows.number(Stage::Position, "elongation", "m", position.elongation);
        rows.number(Stage::Velocity, "length_rate", "m/s", at.velocity.length_rate);
        rows.number(Stage::Dynamics, "tension", "N", at.dynamics.tension);
        rows.number(Stage::Dynamics, "first_tension", "N", at.dynamics.first_tension);
        rows.number(Stage::Dynamics, "last_tension", "N", at.dynamics.last_tension);
        rows.number(Stage::Dynamics, "potential_energy", "J", at.dynamics.potential_energy);
        rows.number(Stage::Dynamics, "power_dissipated", "W", at.dynamics.power_dissipated);
    });
}

/// A damped pull between the origins of two bodies.
fn custom<T: Real>() -> Scene<T, CustomForce<T>> {
    let mut system = ForceSystem::new();
    let body = system.add_body();
    let element = system.add(CustomForce::<T>::new(move |motion, loads| {
        let p_GB = motion.point(body, &Point3::origin());
        let v_GB = motion.velocity(body).linear;
        loads.apply_at_point(body, &p_GB, -p_GB.coords - v_GB);
        loads.apply_at_point(BodyIndex::GROUND, &p_GB, p_GB.coords + v_GB);
        loads.dissipate(v_GB.norm_squared());
        p_GB.coords.norm_squared() * T::lit(0.5)
    }));
    let mut state = system.default_state();
    let velocity = SpatialVelocity::new(Vector3::zeros(), Vector3::x() * T::lit(3.0));
    state.set_body(body, Pose::translation(T::one(), T::zero(), T::zero()), velocity).expect("finite");
    Scene { system, state, element: element.expect("exists") }
}

#[test]
fn a_force_from_a_closure_lists_what_every_element_has() {
    agrees(custom(), |system, state, element, rows| {
        let at = system.dynamics_view(state).expect("realized").of(element);
        rows.number(Stage::Dynamics, "potential_energy", "J", at.dynamics.potential_energy);
    });
    let Scene { system, mut state, .. } = custom::<f64>();
    let view = system.realize_dynamics(&mut state).expect("regular");
    assert_eq!(view.result("custom_force[0].power_dissipated"), Ok(9.0));
    // It takes 1 N over 3 m/s from the body, and 9 W more are lost.
    assert_eq!(view.result("custom_force[0].power_absorbed"), Ok(12.0));
}

/// The units of all variables and results: those of numbers are there, those of flags are not.
fn has_units<S: Subject>() {
    let Scene { system, mut state, .. } = scene::<S>();
    system.realize_dynamics(&mut state).expect("regular");
    let mut check = |entry: force_elements::variables::Entry<'_, force_elements::variables::Value<f64>>| {
        let is_number = matches!(entry.value, force_elements::variables::Value::Number(_));
        assert_eq!(is_number, !entry.unit.is_empty(), "{}", entry.name);
    };
    state.visit_variables(&mut check);
    system.dynamics_view(&state).expect("realized").visit_results(&mut check);
}

#[test]
fn every_number_has_a_unit_and_no_flag_has() {
    has_units::<Bushing>();
    has_units::<Spring>();
    has_units::<Coordinate<true>>();
    has_units::<SoftTorus>();
    has_units::<Cable>();
}

/// Name, unit and stage of the variables of one element.
fn variables_of<S: Subject>() -> Vec<(String, &'static str, Stage)> {
    let Scene { state, .. } = scene::<S>();
    let mut rows = Vec::new();
    state.visit_variables(&mut |entry| {
        assert_eq!(state.variable(&entry.name.to_string()), Ok(entry.value.number()));
        rows.push((entry.name.to_string(), entry.unit, entry.stage));
    });
    let names: Vec<String> = rows.iter().map(|row| row.0.clone()).collect();
    assert_eq!(state.variable_names(), names);
    rows
}

#[test]
fn variables_have_the_units_and_stages_of_their_declaration() {
    let has = |rows: &[(String, &'static str, Stage)], name: &str, unit, stage| {
        assert!(rows.contains(&(name.into(), unit, stage)), "{name} [{unit}] of {stage}: {rows:?}");
    };
    let rows = variables_of::<Bushing>();
    assert_eq!(rows[0], ("time".into(), "s", Stage::Time));
    has(&rows, "linear_bushing[0].enabled", "", Stage::Instance);
    has(&rows, "linear_bushing[0].X_B1F.R.xy", "1", Stage::Position);
    has(&rows, "linear_bushing[0].X_B2M.p.y", "m", Stage::Position);
    has(&rows, "linear_bushing[0].stiffness.qz", "N·m/rad", Stage::Position);
    has(&rows, "linear_bushing[0].damping.px", "N·s/m", Stage::Dynamics);
    has(&rows, "linear_bushing[0].accepted_qx", "rad", Stage::Position);
    has(&rows, "linear_bushing[0].absorbed_energy", "J", Stage::Dynamics);
    let rows = variables_of::<Spring>();
    has(&rows, "exponential_spring[0].mu_static", "1", Stage::Dynamics);
    has(&rows, "exponential_spring[0].settling", "", Stage::Dynamics);
    has(&rows, "exponential_spring[0].last_station.known", "", Stage::Dynamics);
    has(&rows, "exponential_spring[0].last_station.z", "m", Stage::Dynamics);
    let rows = variables_of::<SoftTorus>();
    has(&rows, "elastic_foundation[0].materials[1].stiffness", "N/m³", Stage::Position);
    has(&rows, "elastic_foundation[0].materials[1].viscous_friction", "s/m", Stage::Dynamics);
    let rows = variables_of::<Cable>();
    has(&rows, "cable_spring[0].dissipation", "s/m", Stage::Dynamics);
    has(&rows, "cable_spring[0].wraps[1].tangent.x", "1", Stage::Position);
}

#[test]
fn results_that_do_not_exist_are_refused_by_name() {
    let Scene { system, mut state, .. } = scene::<Bushing>();
    let view = system.realize_dynamics(&mut state).expect("regular");
    for name in [
        "linear_bushing[1].f.qx",
        "linear_bushing[00].f.qx",
        "linear_bushing[0].f",
        "linear_bushing[0].f.x",
        "linear_bushing[0].gimbal",
        "linear_bushing[0].stiffness.qx",
        "exponential_spring[0].mu",
        "time",
        "",
    ] {
        assert_eq!(view.result(name), Err(Error::NoSuchResult { name: name.into(), stage: None }));
    }
    let early = system.position_view(&state).expect("realized").result("linear_bushing[0].f.qx");
    let said = early.expect_err("of a later stage").to_string();
    assert_eq!(
        said,
        "no result is named \"linear_bushing[0].f.qx\" at this stage; it is known at Dynamics stage"
    );
}

#[test]
fn results_are_read_by_name_without_allocation() {
    let Scene { system, mut state, .. } = scene::<Cable>();
    let view = system.realize_dynamics(&mut state).expect("regular");
    let mut sum = 0.0;
    let counted = allocation_counter::measure(|| {
        view.visit_results(&mut |entry| sum += entry.value.number());
        sum += view.result("cable_spring[0].tension").expect("there");
        sum += view.result("cable_spring[0].power_absorbed").expect("there");
    });
    assert!(sum > 0.0);
    assert_eq!(counted.count_total, 0);
}
