//! After inputs of any size, elements with friction remember only what they accept.

use force_elements::coordinate_spring_damper_ext as coordinate;
use force_elements::exponential_spring as exponential;
use force_elements::nalgebra::{Point3, Rotation3, Translation3, Vector3};
use force_elements::{
    CoordinatePair, CoordinateSpringDamperExt, ExponentialSpring, ForceElement, ForceSystem, Frame, Handle,
    Pose, Real, SpatialVelocity, State, Station, Variables,
};
use num_dual::Dual64;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// The same cases in every run.
fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 2000,
        rng_seed: RngSeed::Fixed(7),
        failure_persistence: None,
        ..Default::default()
    }
}

/// A number of any size, either sign, or zero; half of them of a size that happens.
fn wild() -> impl Strategy<Value = f64> {
    let sized = |most: f64| {
        (-most..most, any::<bool>())
            .prop_map(|(exponent, up)| if up { 10.0_f64.powf(exponent) } else { -10.0_f64.powf(exponent) })
    };
    prop_oneof![1 => Just(0.0), 4 => sized(4.0), 2 => sized(40.0), 2 => sized(307.0)]
}

/// Hands out the numbers one after the other, in the scalar at hand and within its range.
struct Deal<'a>(std::slice::Iter<'a, f64>);

impl Deal<'_> {
    fn any<T: Real>(&mut self) -> T {
        let x = *self.0.next().expect("enough numbers");
        let most = T::max_value().map_or(f64::MAX, T::to_f64);
        T::lit(x.clamp(-most, most))
    }

    fn nonnegative<T: Real>(&mut self) -> T {
        self.any::<T>().abs()
    }

    fn vector<T: Real>(&mut self) -> Vector3<T> {
        Vector3::new(self.any(), self.any(), self.any())
    }
}

/// How many steps were accepted, and in how many discrete variables changed.
#[derive(Default)]
struct Tally {
    accepted: usize,
    changed: usize,
}

/// Accepts a step, if it can be, and checks what the element has written.
fn accept<T: Real, E: ForceElement<T>>(
    system: &ForceSystem<T>,
    state: &mut State<T>,
    handle: Handle<E>,
    tally: &mut Tally,
) {
    if system.realize_dynamics(state).is_err() {
        return;
    }
    let before = state.discrete(handle).clone();
    if system.accept_step(state).is_ok() {
        let after = state.discrete(handle);
        tally.accepted += 1;
        tally.changed += usize::from(*after != before);
        let valid = after.validate();
        assert!(valid.is_ok(), "{valid:?}\nafter {before:?}");
    }
}

fn spring<T: Real>(numbers: &[f64], settling: bool, tally: &mut Tally) {
    let deal = &mut Deal(numbers.iter());
    let parameters = exponential::Parameters {
        d0: deal.any(),
        d1: deal.nonnegative(),
        d2: deal.nonnegative(),
        normal_viscosity: deal.nonnegative(),
        max_normal_force: deal.nonnegative(),
        friction_elasticity: deal.nonnegative(),
        friction_viscosity: deal.nonnegative(),
        settle_velocity: deal.nonnegative(),
        release_velocity: deal.nonnegative(),
        settling,
        ..exponential::Parameters::default()
    };
    // What is not wild happens more often.
    let parameters = if deal.any::<f64>() > 0.0 {
        exponential::Parameters { settling, ..Default::default() }
    } else {
        parameters
    };
    let mut system = ForceSystem::<T>::new();
    let body = system.add_body();
    let Ok(spring) = ExponentialSpring::new(
        Frame::ground(Pose::identity()),
        Station::on(body, Point3::origin()),
        parameters,
    ) else {
        return;
    };
    let handle = system.add(spring).expect("exists");
    let mut state = system.default_state();
    let mut time = T::zero();
    let (mu_kinetic, more): (T, T) = (deal.nonnegative(), deal.nonnegative());
    let sliding = T::one().min(deal.nonnegative());
    let anchor_P = deal.vector().xy();
    let _ = system.update_parameters(&mut state, handle, |p| {
        (p.mu_static, p.mu_kinetic) = (mu_kinetic + more, mu_kinetic);
    });
    let _ = system.update_discrete(&mut state, handle, |d| {
        *d = exponential::Discrete { anchor_P, sliding, ..*d };
    });
    for _ in 0..3 {
        time += deal.nonnegative();
        let pose = Pose::from_parts(Translation3::from(deal.vector()), Rotation3::identity());
        let velocity = SpatialVelocity::new(deal.vector(), deal.vector());
        if state.set_time(time).and_then(|()| state.set_body(body, pose, velocity)).is_ok() {
            accept(&system, &mut state, handle, tally);
        }
    }
}

fn slider<T: Real>(numbers: &[f64], tally: &mut Tally) {
    let deal = &mut Deal(numbers.iter());
    let (lower, range): (T, T) = (deal.any(), deal.nonnegative());
    let parameters = coordinate::Parameters {
        stiffness: deal.any(),
        damping: deal.any(),
        offset: deal.any(),
        velocity_offset: deal.any(),
        factor0: T::one(),
        factor1: deal.any(),
        dynamic_friction: deal.nonnegative(),
        static_friction_offset: deal.nonnegative(),
        sticking_stiffness: deal.nonnegative(),
        sticking_damping: deal.nonnegative(),
        exponential_decay_static: deal.nonnegative(),
        viscous_friction: deal.any(),
        friction_proportional_zone: T::zero(),
        limit_stops_upper: lower + range,
        limit_stops_lower: lower,
        limit_stops_upper_stiffness: deal.nonnegative(),
        limit_stops_lower_stiffness: deal.nonnegative(),
        limit_stops_upper_damping: deal.nonnegative(),
        limit_stops_lower_damping: deal.nonnegative(),
        use_limit_stops: deal.any::<f64>() > 0.0,
        limit_stops_only_push: deal.any::<f64>() > 0.0,
        dynamic_friction_coefficient: deal.nonnegative(),
        static_friction_offset_coefficient: deal.nonnegative(),
        friction_load: deal.any(),
        limit_stops_transition: if deal.any::<f64>() > 0.0 { deal.nonnegative() } else { T::zero() },
    };
    let mut system = ForceSystem::<T>::new();
    let coordinate = system.add_coordinate();
    let Ok(element) = CoordinateSpringDamperExt::new(CoordinatePair::on(coordinate), parameters) else {
        return;
    };
    let handle = system.add(element).expect("exists");
    let mut state = system.default_state();
    let start = coordinate::Discrete {
        friction_mode: deal.any(),
        last_sticking_position: deal.any(),
        limit_stop_state: deal.any(),
        bristle_energy: deal.nonnegative(),
    };
    let _ = system.set_discrete(&mut state, handle, start);
    for _ in 0..3 {
        let set = state.set_coordinate(coordinate, deal.any());
        if set.and_then(|()| state.set_coordinate_rate(coordinate, deal.any())).is_ok() {
            accept(&system, &mut state, handle, tally);
        }
    }
}

/// Runs every case in every scalar, and requires that a good share of the steps is accepted and does something.
fn in_every_scalar(numbers: usize, check: impl Fn(&[f64], &mut [Tally; 3])) {
    let tallies = std::cell::RefCell::new([(); 3].map(|()| Tally::default()));
    proptest!(config(), |(numbers in proptest::collection::vec(wild(), numbers))| {
        check(&numbers, &mut tallies.borrow_mut());
    });
    for Tally { accepted, changed } in tallies.into_inner() {
        assert!(accepted > 500 && changed > 200, "{accepted} steps accepted, {changed} with a change");
    }
}

#[test]
fn what_an_exponential_spring_remembers_is_what_it_accepts() {
    for settling in [true, false] {
        in_every_scalar(50, |numbers, [f64s, f32s, duals]| {
            spring::<f64>(numbers, settling, f64s);
            spring::<f32>(numbers, settling, f32s);
            spring::<Dual64>(numbers, settling, duals);
        });
    }
}

#[test]
fn what_a_coordinate_element_remembers_is_what_it_accepts() {
    in_every_scalar(50, |numbers, [f64s, f32s, duals]| {
        slider::<f64>(numbers, f64s);
        slider::<f32>(numbers, f32s);
        slider::<Dual64>(numbers, duals);
    });
}

#[test]
fn a_station_that_settles_can_be_saved_and_restored_at_every_speed() {
    // Within a few roundoffs below the settle velocity Sliding is as close to 1 as a number comes.
    let mut system = ForceSystem::<f64>::new();
    let body = system.add_body();
    let parameters = exponential::Parameters { settling: false, ..exponential::Parameters::default() };
    let spring = ExponentialSpring::new(
        Frame::ground(Pose::identity()),
        Station::on(body, Point3::origin()),
        parameters,
    )
    .expect("valid");
    system.add(spring).expect("exists");
    let mut state = system.default_state();
    for i in 0..20_000_u32 {
        let speed = parameters.settle_velocity * (1.0 - f64::from(i) * 1e-9);
        let velocity = SpatialVelocity::new(Vector3::zeros(), Vector3::new(speed, 0.0, 0.0));
        state.set_time(f64::from(i)).expect("finite");
        state.set_body(body, Pose::identity(), velocity).expect("finite");
        system.realize_dynamics(&mut state).expect("regular");
        system.accept_step(&mut state).expect("in range");
        let snapshot = state.snapshot();
        state.restore(&snapshot).expect("its own snapshot");
    }
}

/// What a station on its way shows in units of length and force so many times as small as metre and newton.
fn in_units(length: f64, force: f64, settling: bool) -> Vec<[f64; 6]> {
    let si = exponential::Parameters::<f64>::default();
    // Far enough to slip at first, and to hold as the station sinks.
    let far = if settling { 1.0 } else { 100.0 };
    let parameters = exponential::Parameters {
        d0: si.d0 * length,
        d1: si.d1 * force,
        d2: si.d2 / length,
        normal_viscosity: si.normal_viscosity / length,
        max_normal_force: si.max_normal_force * force,
        friction_elasticity: si.friction_elasticity * force / length,
        friction_viscosity: si.friction_viscosity * force / length,
        settle_velocity: si.settle_velocity * length * far,
        settling,
        ..exponential::Parameters::default()
    };
    let mut system = ForceSystem::new();
    let body = system.add_body();
    let spring = ExponentialSpring::new(
        Frame::ground(Pose::identity()),
        Station::on(body, Point3::origin()),
        parameters,
    )
    .expect("valid");
    let spring = system.add(spring).expect("exists");
    let mut state = system.default_state();
    let mut seen = Vec::new();
    for step in 0..40_u32 {
        let t = 1e-3 * f64::from(step + 1);
        let way = Vector3::new(1e-4 * (30.0 * t).sin(), 2e-4 * (50.0 * t).cos(), 0.0) * far;
        let speed = Vector3::new(3e-3 * (30.0 * t).cos(), -1e-2 * (50.0 * t).sin(), 0.0) * far;
        let p = (way + Vector3::z() * (0.003 - 0.1 * t)) * length;
        let v = (speed - Vector3::z() * 0.1) * length;
        state.set_time(t).expect("finite");
        let pose = Pose::from_parts(Translation3::from(p), Rotation3::identity());
        state.set_body(body, pose, SpatialVelocity::new(Vector3::zeros(), v)).expect("finite");
        let view = system.realize_dynamics(&mut state).expect("regular");
        let at = view.of(spring).dynamics;
        let (f, e) = (at.force_P() / force, at.potential_energy / (force * length));
        seen.push([f.x, f.y, f.z, e, at.next_sliding, at.next_anchor_P.x / length]);
        system.accept_step(&mut state).expect("realized");
    }
    seen
}

#[test]
fn other_units_than_si_give_the_same_forces() {
    for settling in [true, false] {
        let expected = in_units(1.0, 1.0, settling);
        let slid = expected.iter().filter(|seen| seen[4] > 0.0).count();
        assert!(slid > 5 && slid < 35, "Sliding is put to the test in {slid} steps");
        for (length, force) in [(1e3, 1e-3), (1e-12, 1e-25), (1e-90, 1.0), (1.0, 1e-150), (1e90, 1e150)] {
            for (seen, expected) in in_units(length, force, settling).iter().zip(&expected) {
                for (seen, expected) in seen.iter().zip(expected) {
                    // Relative to forces of up to 2000 N; an exponent of up to 12 rounds, and so does Sliding, which the
                    // next steps take up.
                    let size = expected.abs().max(1e-3);
                    assert!((seen - expected).abs() < 1e-10 * size, "{length}, {force}: {seen}, {expected}");
                }
            }
        }
    }
}
