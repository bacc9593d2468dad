//! Cases of the linear bushing.

use force_elements::nalgebra::Vector6;
use force_elements::{BodyIndex, ForceSystem, Frame, LinearBushing, Pose, SpatialVelocity, linear_bushing};

use super::{Deviations, Failure, Fields};

const TOLERANCE: f64 = 1e-10;

pub(crate) fn check(case: Fields<'_>) -> Result<Deviations, Failure> {
    let (input, expected) = (case.object("input")?, case.object("expected")?);
    let mut system = ForceSystem::new();
    let body1_is_ground = input.flag("body1_is_ground")?;
    let body1 = if body1_is_ground { BodyIndex::GROUND } else { system.add_body() };
    let body2 = system.add_body();
    let bushing = system.add(LinearBushing::new(
        Frame::on(body1, input.pose("X_B1F")?),
        Frame::on(body2, input.pose("X_B2M")?),
        linear_bushing::Parameters {
            stiffness: Vector6::from(input.array::<6>("stiffness")?),
            damping: Vector6::from(input.array::<6>("damping")?),
        },
    )?)?;
    let mut state = system.default_state();
    if !body1_is_ground {
        state.set_body(body1, input.pose("X_GB1")?, input.velocity("V_GB1")?)?;
    }
    state.set_body(body2, input.pose("X_GB2")?, input.velocity("V_GB2")?)?;
    let view = system.realize_dynamics(&mut state)?;
    let at = view.of(bushing);

    let mut deviations = Deviations::default();
    let mut compare = |quantity, got: &[f64], want: &[f64]| {
        deviations.relative(quantity, got, want, TOLERANCE);
    };
    compare("q", at.position.q.as_slice(), &expected.numbers("q")?);
    compare("qdot", at.velocity.qdot.as_slice(), &expected.numbers("qdot")?);
    compare("f", at.dynamics.f.as_slice(), &expected.numbers("f")?);
    for (name, X) in [("X_GF", &at.position.X_GF), ("X_GM", &at.position.X_GM), ("X_FM", &at.position.X_FM)] {
        compare(name, &entries(X), &entries(&expected.pose(name)?));
    }
    for (name, V) in [("V_GF", &at.velocity.V_GF), ("V_GM", &at.velocity.V_GM), ("V_FM", &at.velocity.V_FM)] {
        compare(name, &velocity(V), &velocity(&expected.velocity(name)?));
    }
    compare("potential_energy", &[view.potential_energy()], &[expected.number("potential_energy")?]);
    compare("power_dissipation", &[view.power_dissipated()], &[expected.number("power_dissipation")?]);
    for (name, F) in [
        ("F_GF", at.dynamics.F_GF),
        ("F_GM", at.dynamics.F_GM),
        ("force_on_body1", view.body_force(body1)),
        ("force_on_body2", view.body_force(body2)),
    ] {
        deviations.force(name, &F, &expected.force(name)?, TOLERANCE);
    }
    Ok(deviations)
}

fn entries(X: &Pose<f64>) -> Vec<f64> {
    X.rotation.matrix().iter().chain(&X.translation.vector).copied().collect()
}

fn velocity(V: &SpatialVelocity<f64>) -> Vec<f64> {
    V.angular.iter().chain(&V.linear).copied().collect()
}
