//! Cases of the exponential spring.

use force_elements::exponential_spring::{Discrete, Parameters};
use force_elements::nalgebra::Vector3;
use force_elements::{BodyIndex, ExponentialSpring, ForceSystem, Frame, Station};

use super::{Deviations, Failure, Fields};

const TOLERANCE: f64 = 1e-10;

pub(crate) fn check(case: Fields<'_>) -> Result<Deviations, Failure> {
    let (input, expected) = (case.object("input")?, case.object("expected")?);
    let label = case.text("label")?;
    let mut system = ForceSystem::new();
    let body = system.add_body();
    let parameters = Parameters {
        d0: input.number("d0")?,
        d1: input.number("d1")?,
        d2: input.number("d2")?,
        normal_viscosity: input.number("normal_viscosity")?,
        max_normal_force: input.number("max_normal_force")?,
        friction_elasticity: input.number("friction_elasticity")?,
        friction_viscosity: input.number("friction_viscosity")?,
        settle_velocity: input.number("settle_velocity")?,
        mu_static: input.number("mu_static")?,
        mu_kinetic: input.number("mu_kinetic")?,
        settling: true,
        ..Parameters::default()
    };
    let station = input.point("station_B")?;
    let spring = system.add(ExponentialSpring::new(
        Frame::ground(input.pose("X_GP")?),
        Station::on(body, station),
        parameters,
    )?)?;
    let mut state = system.default_state();
    state.set_body(body, input.pose("X_GB")?, input.velocity("V_GB")?)?;
    state.set_time(input.number("time")?)?;
    system.set_discrete(
        &mut state,
        spring,
        Discrete {
            anchor_P: input.vector("anchor_P")?.xy(),
            sliding: input.number("sliding")?,
            last_update: input.number("time_of_last_update")?,
            ..Discrete::default()
        },
    )?;
    let view = system.realize_dynamics(&mut state)?;
    let at = view.of(spring);
    let d = at.dynamics;

    let mut deviations = Deviations::default();
    let mut vector = |quantity, got: Vector3<f64>| -> Result<(), Failure> {
        deviations.relative(quantity, got.as_slice(), &expected.numbers(quantity)?, TOLERANCE);
        Ok(())
    };
    vector("station_position_P", at.position.p_PS.coords)?;
    vector("station_velocity_P", at.velocity.v_PS)?;
    vector("normal_P", Vector3::new(0.0, 0.0, d.normal_force))?;
    vector("friction_elastic_P", d.friction_force_elastic_P.push(0.0))?;
    vector("friction_damping_P", d.friction_force_damping_P.push(0.0))?;
    vector("friction_P", d.friction_force_P.push(0.0))?;
    vector("force_G", d.force_G())?;
    vector("anchor_next_P", d.next_anchor_P.push(0.0))?;
    // Where its clamp acts at the top, the incumbent's split and energy are not meaningful; where
    // damping has taken a force beyond the clamp down to zero, they are those of the unclamped
    // exponential, which is compared as such.
    let is_split_meaningful = label != "saturated";
    let (elastic, energy) = if d.normal_force_unclamped > parameters.max_normal_force {
        let friction_energy =
            d.friction_force_elastic_P.norm_squared() / (2.0 * parameters.friction_elasticity);
        (d.normal_force_unclamped, d.normal_force_unclamped / parameters.d2 + friction_energy)
    } else {
        (d.normal_force_elastic, view.potential_energy())
    };
    if is_split_meaningful {
        vector("normal_elastic_P", Vector3::new(0.0, 0.0, elastic))?;
        vector("normal_damping_P", Vector3::new(0.0, 0.0, d.normal_force - elastic))?;
    }
    let mut scalar = |quantity, got: f64| -> Result<(), Failure> {
        deviations.relative(quantity, &[got], &[expected.number(quantity)?], TOLERANCE);
        Ok(())
    };
    scalar("mu", d.mu)?;
    scalar("friction_limit", d.friction_force_limit)?;
    scalar("sliding_next", d.next_sliding)?;
    if is_split_meaningful {
        scalar("potential_energy", energy)?;
    }
    for (quantity, on) in [("force_on_body", body), ("force_on_ground", BodyIndex::GROUND)] {
        deviations.force(quantity, &view.body_force(on), &expected.force(quantity)?, TOLERANCE);
    }
    Ok(deviations)
}
