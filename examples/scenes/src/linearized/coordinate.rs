//! Coordinate elements with every kind of friction and stops, sliding, sticking, or about to switch.

use force_elements::coordinate_spring_damper_ext::{Discrete, Parameters};
use force_elements::testing::{Numbers, Scene, Subject};
use force_elements::{CoordinatePair, CoordinateSpringDamperExt, Error, ForceSystem, Real};

use super::{Kind, or_zero, pick, spread, toss};

#[derive(Debug)]
pub struct AnyCoordinate;

impl Subject for AnyCoordinate {
    type Element<T: Real> = CoordinateSpringDamperExt<T>;

    fn scene<T: Real>(deal: &mut Numbers) -> Result<Scene<T, CoordinateSpringDamperExt<T>>, Error> {
        let mut system = ForceSystem::new();
        let sides = [system.add_coordinate(), system.add_coordinate()];
        let pair = if toss(deal, 0.3) {
            CoordinatePair::on(sides[1])
        } else {
            CoordinatePair::between(sides[0], sides[1])
        };
        let parameters = parameters(deal);
        let element = system.add(CoordinateSpringDamperExt::new(pair, parameters)?)?;
        let mut state = system.default_state();
        state.set_time(T::lit(0.3))?;
        let speed: f64 = spread(deal, 1e-3, 2.0);
        for side in sides {
            state.set_coordinate(side, deal.between(-0.3, 0.3))?;
            state.set_coordinate_rate(side, deal.between(-speed, speed))?;
        }
        let mode = pick(deal, 3);
        let (force, stop) = (deal.between::<T>(0.1, 5.0), deal.between(-0.1, 0.1));
        let view = system.realize_dynamics(&mut state)?;
        let (q, v) = (view.of(element).position.displacement, view.of(element).velocity.velocity);
        let (here, forwards) = (Real::to_f64(q), T::lit(Real::to_f64(v).signum()));
        let friction_mode = [T::zero(), forwards * force, -forwards * force][mode as usize];
        let bend: T = deal.between(-0.05, 0.05);
        let is_bent = toss(deal, 0.5);
        let discrete = Discrete {
            friction_mode,
            last_sticking_position: if is_bent { q + bend * T::lit(0.02) } else { q + bend },
            limit_stop_state: match pick(deal, 3) {
                0 => T::zero(),
                1 => stop,
                _ if here > 0.1 => q - T::lit(0.1),
                _ if here < -0.1 => q + T::lit(0.1),
                _ => T::zero(),
            },
            bristle_energy: if mode == 0 { T::zero() } else { deal.between(0.0, 0.1) },
        };
        system.set_discrete(&mut state, element, discrete)?;
        Ok(Scene { system, state, element })
    }
}

fn parameters<T: Real>(deal: &mut Numbers) -> Parameters<T> {
    let (friction, stops) = (pick(deal, 4), pick(deal, 3));
    let (loaded, only_push) = (toss(deal, 0.5), toss(deal, 0.5));
    let or_none = |is_there: bool, number: T| if is_there { number } else { T::zero() };
    let sticking_stiffness = deal.between(10.0, 1e4);
    Parameters {
        stiffness: or_zero(deal, 1.0, 500.0),
        damping: or_zero(deal, 0.1, 20.0),
        offset: deal.between(-0.3, 0.3),
        velocity_offset: or_zero(deal, 0.1, 0.3),
        factor0: deal.between(0.2, 2.0),
        factor1: deal.between(-2.0, -0.2),
        dynamic_friction: or_none(friction > 0, deal.between(0.1, 5.0)),
        static_friction_offset: or_none(friction > 0 && !loaded, deal.between(0.1, 5.0)),
        dynamic_friction_coefficient: or_none(friction > 0 && loaded, deal.between(0.1, 0.5)),
        static_friction_offset_coefficient: or_none(friction > 0 && loaded, deal.between(0.1, 0.5)),
        friction_load: or_none(loaded, deal.between(-50.0, 50.0)),
        sticking_stiffness: or_none(friction != 2, sticking_stiffness),
        sticking_damping: deal.between(1.0, 50.0),
        exponential_decay_static: deal.between(0.1, 1.0),
        viscous_friction: deal.between(-0.1, 1.0),
        friction_proportional_zone: or_none(friction == 1, spread(deal, 1e-2, 1.0)),
        limit_stops_upper: T::lit(0.1),
        limit_stops_lower: T::lit(-0.1),
        limit_stops_upper_stiffness: deal.between(1e3, 1e4),
        limit_stops_lower_stiffness: deal.between(1e3, 1e4),
        limit_stops_upper_damping: or_zero(deal, 1.0, 1e3),
        limit_stops_lower_damping: or_zero(deal, 1.0, 1e3),
        limit_stops_transition: or_none(stops == 2, deal.between(0.05, 0.6)),
        use_limit_stops: stops > 0,
        limit_stops_only_push: only_push,
    }
}

impl Kind for AnyCoordinate {
    const NAME: &'static str = "CoordinateSpringDamperExt";

    /// The energy of bristles.
    fn is_quiet(place: usize) -> bool {
        place == 3
    }

    fn marks(_: u64, scene: &Scene<f64, CoordinateSpringDamperExt<f64>>) -> Result<Vec<&'static str>, Error> {
        let at = scene.system.dynamics_view(&scene.state)?.of(scene.element);
        let p = at.parameters;
        let pair = scene.system.element(scene.element).coordinates();
        let mut marks = vec![if pair.coordinate0.is_none() { "one coordinate" } else { "two coordinates" }];
        marks.push(match p.friction_proportional_zone {
            _ if p.dynamic_friction == 0.0 => "no friction",
            zone if zone > 0.0 => "regularised friction",
            _ if p.sticking_stiffness == 0.0 => "bristles without stiffness",
            _ => "bristles",
        });
        if p.friction_load != 0.0 {
            marks.push("load");
        }
        if p.use_limit_stops {
            marks.push(if p.limit_stops_transition > 0.0 { "smooth stops" } else { "switched stops" });
            if p.limit_stops_only_push && at.dynamics.contact_force != 0.0 {
                marks.push("stop that only pushes");
            }
        }
        let v = at.velocity.velocity;
        if v * at.discrete.friction_mode < 0.0 {
            marks.push("about to stick");
        }
        Ok(marks)
    }
}
