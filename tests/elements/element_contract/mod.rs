//! The contract of every element, whatever its law.

use std::collections::BTreeSet;

use approx::assert_relative_eq;
use force_elements::spatial_bushing::{Curve as AxisCurve, CurvePoint};
use force_elements::testing::{self, Numbers, Scene, Subject, Violation};
use force_elements::{Error, Linearization, Real, Scope, SpatialBushing};
use force_elements_scenes::linearized::Exact;
use force_elements_scenes::seeds;
use num_dual::Dual64;

mod branches;
mod by_name;
mod cables;
mod corpus;
mod faults;
pub(crate) mod hertz;
pub(crate) mod meshes;
mod refusals;
pub(crate) mod scene;
mod symmetry;
mod units;

use hertz::{AnyBall, BallOnBall, BallOnPlane};
use meshes::{
    AnchoredBrick, AnchoredClippedBrick, Brick, ClippedBrick, ClippedBrickAndBall, ClippedTorus,
    SoftBrickAndBall, SoftTorus, TorusInBall, TorusInCylinder, YieldingBrickInEllipsoid,
    YieldingClippedBrick,
};
use scene::{
    AnyCoordinate, Bushing, Cable, Capstan, Coordinate, CoupledBushing, DisplacedCapstan, HardeningBushing,
    LoadedCoordinate, MovingCable, ReturnMappedSpring, SmoothlyStopped, SparseBushing, Spring,
};

/// A check in the scenes of two hundred seeds, if at length.
fn holds<R>(check: impl Fn(u64) -> Result<R, Violation>) {
    holds_for(seeds(200), check);
}

fn holds_for<R>(seeds: u64, check: impl Fn(u64) -> Result<R, Violation>) {
    assert_eq!((0..seeds).try_for_each(|seed| check(seed).map(drop)), Ok(()));
}

/// The balance of an element that stores and loses energy.
fn balanced<S: Subject>(seed: u64) -> Result<(), Violation> {
    let [stored, dissipated] = testing::power_balance::<Exact<S>>(seed)?;
    assert!(stored.abs() > 1e-9 && dissipated > 1e-9, "the motion is trivial: {stored} W, {dissipated} W");
    Ok(())
}

/// The claims that hold for every element; and those that hold for one between two bodies.
macro_rules! claims {
    ($module:ident, $kind:ty, single precision to $tolerance:expr) => {
        mod $module {
            use super::*;
            claims!(@all $kind, $tolerance);
        }
    };
    ($module:ident, $kind:ty) => {
        mod $module {
            use super::*;
            claims!(@all $kind, 1e-3);
            #[test]
            fn third_law() {
                holds(testing::third_law::<$kind>);
            }
            #[test]
            fn frame_invariance() {
                holds(testing::frame_invariance::<$kind>);
            }
            #[test]
            fn conservative_at_rest() {
                holds(testing::gradient::<Exact<$kind>>);
            }
        }
    };
    (@all $kind:ty, $tolerance:expr) => {
        #[test]
        fn power_balance() {
            holds(balanced::<$kind>);
        }
        #[test]
        fn single_precision() {
            holds(|seed| testing::single_precision::<$kind>(seed, $tolerance));
        }
        #[test]
        fn exact_derivatives() {
            holds(testing::derivatives::<Exact<$kind>>);
        }
        #[test]
        fn purity() {
            holds(testing::no_trace::<$kind>);
        }
        #[test]
        fn reset_forgets() {
            holds(testing::reset_forgets::<$kind>);
        }
        #[test]
        fn as_in_a_fresh_state() {
            // Each seed writes every variable alone, one after the other.
            assert_eq!((0..seeds(40)).try_for_each(testing::as_in_a_fresh_state::<$kind>), Ok(()));
        }
        #[test]
        fn what_is_not_a_number_is_refused() {
            holds(testing::refuses_what_is_not_a_number::<$kind>);
        }
    };
}

claims!(linear_bushing, Bushing);
claims!(spatial_bushing, CoupledBushing);
claims!(spatial_bushing_with_functions, HardeningBushing);
claims!(cable_spring, Cable);
claims!(cable_that_sticks_twice, Capstan<true>);
claims!(cable_that_sticks_once, Capstan<false>);
claims!(exponential_spring, Spring);
claims!(return_mapped_exponential_spring, ReturnMappedSpring);
claims!(elastic_foundation_in_ellipsoid, SoftTorus);
claims!(elastic_foundation_on_its_like, SoftBrickAndBall);
claims!(clipped_foundation_in_ellipsoid, ClippedTorus);
claims!(clipped_foundation_on_its_like, ClippedBrickAndBall);
claims!(clipped_foundation_in_half_space, ClippedBrick);
claims!(anchored_foundation, AnchoredBrick);
claims!(anchored_foundation_with_clipped_faces, AnchoredClippedBrick);
claims!(hertz_contact_of_balls, BallOnBall);
claims!(hertz_contact_on_a_plane, BallOnPlane);
// Stiffnesses of 1e4 N/m times 1e-7 m of rounding, of forces of 10 N at least.
claims!(sticking_coordinate, Coordinate<false>, single precision to 1e-4);
claims!(slipping_coordinate, Coordinate<true>, single precision to 1e-4);
claims!(sticking_coordinate_under_load, LoadedCoordinate<false>, single precision to 1e-4);
claims!(slipping_coordinate_under_load, LoadedCoordinate<true>, single precision to 1e-4);
claims!(coordinate_in_smooth_stops, SmoothlyStopped, single precision to 1e-4);

/// Linearizations against dual numbers.
///
/// Not of elements without one of their own that take other branches where a parameter or a mode is exactly zero:
/// differences see another law on its other side.
macro_rules! linearized {
    ($($name:ident: $kind:ty;)*) => {
        mod linearized {
            use super::*;
            $(
                #[test]
                fn $name() {
                    holds(testing::linearization::<Exact<$kind>>);
                }
            )*
        }
    };
}

linearized! {
    linear_bushing: Bushing;
    spatial_bushing: CoupledBushing;
    spatial_bushing_of_which_two_axes_are_coupled: SparseBushing;
    spatial_bushing_with_functions: HardeningBushing;
    cable_spring: Cable;
    cable_that_sticks_twice: Capstan<true>;
    cable_that_sticks_once: Capstan<false>;
    hertz_contact_of_balls: BallOnBall;
    hertz_contact_on_a_plane: BallOnPlane;
    exponential_spring: Spring;
    return_mapped_exponential_spring: ReturnMappedSpring;
    elastic_foundation_in_ellipsoid: SoftTorus;
    elastic_foundation_on_its_like: SoftBrickAndBall;
    clipped_foundation_in_ellipsoid: ClippedTorus;
    clipped_foundation_on_its_like: ClippedBrickAndBall;
    clipped_foundation_in_half_space: ClippedBrick;
    sticking_coordinate: Coordinate<false>;
    slipping_coordinate: Coordinate<true>;
    sticking_coordinate_under_load: LoadedCoordinate<false>;
    slipping_coordinate_under_load: LoadedCoordinate<true>;
    coordinate_in_smooth_stops: SmoothlyStopped;
    foundation_in_half_space: Brick;
    foundation_in_sphere: TorusInBall;
    foundation_in_cylinder: TorusInCylinder;
    anchored_foundation: AnchoredBrick;
    anchored_foundation_with_clipped_faces: AnchoredClippedBrick;
    yielding_foundation_in_ellipsoid: YieldingBrickInEllipsoid;
    yielding_foundation_with_clipped_faces: YieldingClippedBrick;
}

/// A function whose slope, or energy, is a tenth too large.
struct WrongFunction<const OF_ENERGY: bool>;

impl<const OF_ENERGY: bool> Subject for WrongFunction<OF_ENERGY> {
    type Element<T: Real> = SpatialBushing<T>;

    fn scene<T: Real>(deal: &mut Numbers) -> Result<Scene<T, SpatialBushing<T>>, Error> {
        let curve = if OF_ENERGY {
            let right = scene::hardening::<T>(200.0, 1.0);
            AxisCurve::function(move |x| {
                let at = right.at(x);
                CurvePoint { energy: at.energy * T::lit(1.1), ..at }
            })
        } else {
            scene::hardening(200.0, 1.1)
        };
        scene::coupled_bushing(deal, [(4, curve)])
    }
}

#[test]
fn a_function_that_does_not_fit_its_energy_or_slope_is_detected() {
    for seed in 0..20 {
        assert!(testing::gradient::<Exact<WrongFunction<true>>>(seed).is_err());
        assert!(testing::linearization::<Exact<WrongFunction<false>>>(seed).is_err());
        assert_eq!(testing::gradient::<Exact<WrongFunction<false>>>(seed), Ok(()));
        assert!(testing::linearization::<Exact<WrongFunction<true>>>(seed).is_ok());
    }
}

#[test]
fn a_hertz_contact_is_linearized_in_every_branch() {
    holds_for(2000, testing::linearization::<Exact<AnyBall>>);
    let mut taken = BTreeSet::new();
    for seed in 0..2000 {
        let Scene { system, mut state, element } =
            AnyBall::scene::<f64>(&mut Numbers::new(seed)).expect("valid");
        system.realize_dynamics(&mut state).expect("regular");
        let mut linearization = Linearization::of(Scope { variables: true, commit: true });
        system.linearize(&state, &mut linearization).expect("finite");
        let of_contact = linearization.element(element);
        let are_exact =
            [of_contact.is_exact(), of_contact.is_exact_by_variables(), of_contact.is_exact_at_commit()];
        assert_eq!(are_exact, [true; 3]);
        let names: Vec<_> = of_contact.branches().iter().map(|branch| branch.name).collect();
        assert!(of_contact.branches().iter().all(|branch| branch.margin > 0.0));
        taken.insert(names);
    }
    let all = [
        vec!["apart"],
        vec!["in contact", "let go", "below transition"],
        vec!["in contact", "let go", "beyond transition"],
        vec!["in contact", "pressing", "below transition"],
        vec!["in contact", "pressing", "beyond transition"],
    ];
    // None lets go while it creeps: with c below 1 s/m it parts faster than half a metre a second.
    assert!(taken.iter().all(|names| all.contains(names)) && taken.len() >= 4, "{taken:?}");
}

#[test]
fn a_coordinate_element_is_linearized_in_every_branch() {
    holds_for(seeds(20_000), testing::linearization::<Exact<AnyCoordinate>>);
}

/// The claims in fewer scenes: they repeat those above but for the point and the places.
fn keeps_the_contract_in_places_of_a_state<S: Subject>() {
    for seed in 0..10 {
        let claims: [fn(u64) -> Result<(), Violation>; 7] = [
            balanced::<S>,
            testing::third_law::<S>,
            testing::frame_invariance::<S>,
            testing::gradient::<Exact<S>>,
            testing::derivatives::<Exact<S>>,
            testing::no_trace::<S>,
            |seed| testing::single_precision::<S>(seed, 1e-3),
        ];
        for claim in claims {
            assert_eq!(claim(seed), Ok(()));
        }
    }
}

#[test]
fn a_cable_through_a_moving_point_keeps_the_contract() {
    keeps_the_contract_in_places_of_a_state::<MovingCable>();
}

#[test]
fn a_sticking_cable_through_a_point_keeps_the_contract() {
    keeps_the_contract_in_places_of_a_state::<DisplacedCapstan>();
}

fn forces_are_those_of_the_virtual_work<const SLIPS: bool>() {
    for seed in 0..200 {
        let scene = Coordinate::<SLIPS>::scene::<f64>(&mut Numbers::new(seed));
        let Scene { system, mut state, element } = scene.expect("valid");
        let view = system.realize_dynamics(&mut state).expect("regular");
        let at = view.of(element);
        let power: f64 =
            system.coordinates().map(|c| view.coordinate_force(c) * view.coordinate_rate(c)).sum();
        let scale = at.dynamics.force.abs() * 4.0;
        assert_relative_eq!(power, -at.dynamics.force * at.velocity.velocity, epsilon = 1e-13 * scale);
    }
}

#[test]
fn forces_of_a_coordinate_element_are_those_of_the_virtual_work() {
    forces_are_those_of_the_virtual_work::<false>();
    forces_are_those_of_the_virtual_work::<true>();
}

#[test]
fn a_sticking_coordinate_element_in_a_stop_is_as_stiff_as_its_three_springs() {
    for seed in 0..200 {
        let scene = Coordinate::<false>::scene::<Dual64>(&mut Numbers::new(seed));
        let Scene { system, mut state, element } = scene.expect("valid");
        for c in system.coordinates() {
            let (q, u) = (state.positions().coordinate(c), state.velocities().coordinate_rate(c));
            state.set_coordinate(c, q + u * Dual64::new(0.0, 1.0)).expect("finite");
        }
        let view = system.realize_dynamics(&mut state).expect("regular");
        let at = view.of(element);
        let p = at.parameters;
        let is_upper = at.discrete.limit_stop_state.re > 0.0;
        let stop = if is_upper { p.limit_stops_upper_stiffness } else { p.limit_stops_lower_stiffness };
        let stiffness = p.stiffness + p.sticking_stiffness + stop;
        // In stick and contact the law is linear, so the slope is known by hand.
        assert_relative_eq!(
            at.dynamics.force.eps,
            (stiffness * at.velocity.velocity).re,
            max_relative = 1e-12
        );
    }
}

/// Whether friction depends on the displacement, and whether the stop pushes, in a scalar.
fn branches<const SLIPS: bool, T: Real>(seed: u64) -> [bool; 2] {
    let friction_and_contact_at = |shift: f64| {
        let Scene { system, mut state, element } =
            Coordinate::<SLIPS>::scene::<T>(&mut Numbers::new(seed)).expect("valid");
        let side = system.coordinates().next().expect("two of them");
        let q = state.positions().coordinate(side);
        state.set_coordinate(side, q + T::lit(shift)).expect("finite");
        let view = system.realize_dynamics(&mut state).expect("regular");
        let at = view.of(element).dynamics;
        [at.friction_force, at.contact_force].map(Real::to_f64)
    };
    let [friction, contact] = friction_and_contact_at(0.0);
    [friction_and_contact_at(1e-3)[0] != friction, contact != 0.0]
}

#[test]
fn the_coordinate_element_sticks_slips_and_is_stopped_in_every_scalar() {
    for seed in 0..200 {
        let sticking =
            [branches::<false, f64>(seed), branches::<false, f32>(seed), branches::<false, Dual64>(seed)];
        assert_eq!(sticking, [[true; 2]; 3]);
        let slipping =
            [branches::<true, f64>(seed), branches::<true, f32>(seed), branches::<true, Dual64>(seed)];
        assert_eq!(slipping, [[false, true]; 3]);
    }
}
