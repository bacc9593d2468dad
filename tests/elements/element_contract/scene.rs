//! An element of each kind in a random place, for any scalar.

use force_elements::cable::{CablePath, Obstacle, Places, Settings, SplineCurve, ViaPoint};
use force_elements::coordinate_spring_damper_ext as coordinate;
use force_elements::exponential_spring as exponential;
use force_elements::nalgebra::{Matrix6, Point3, Translation3, Vector2, Vector3, Vector6};
use force_elements::shapes::{Ellipsoid, Sphere};
use force_elements::spatial_bushing::{Curve, CurvePoint, Symmetric6};
use force_elements::testing::{Numbers, Scene, Subject};
use force_elements::{
    BodyIndex, CableSpring, CoordinateIndex, CoordinatePair, CoordinateSpringDamperExt, Error,
    ExponentialSpring, ForceSystem, Frame, LinearBushing, Pose, Real, SpatialBushing, SpatialVelocity,
    Station, cable_spring, linear_bushing, spatial_bushing,
};

pub(crate) struct Bushing;

impl Subject for Bushing {
    type Element<T: Real> = LinearBushing<T>;

    fn scene<T: Real>(deal: &mut Numbers) -> Result<Scene<T, LinearBushing<T>>, Error> {
        let mut system = ForceSystem::new();
        let (body1, body2) = (system.add_body(), system.add_body());
        let stiffness = Vector6::from_fn(|_, _| deal.between(1.0, 500.0));
        let damping = Vector6::from_fn(|_, _| deal.between(0.1, 20.0));
        let (X_B1F, X_B2M) = (deal.pose(1.5, 0.4), deal.pose(1.5, 0.4));
        let bushing = LinearBushing::new(
            Frame::on(body1, X_B1F),
            Frame::on(body2, X_B2M),
            linear_bushing::Parameters { stiffness, damping },
        )?;
        let element = system.add(bushing)?;

        let X_GB1: Pose<T> = deal.pose(1.5, 1.0);
        // Far from the singular middle angle: the rotation vector is at most 0.6·√3 rad long.
        let X_FM = deal.pose(0.6, 0.3);
        let mut state = system.default_state();
        state.set_body(body1, X_GB1, deal.velocity(2.0))?;
        let X_GB2 = X_GB1 * X_B1F * X_FM * X_B2M.inverse();
        state.set_body(body2, X_GB2, deal.velocity(2.0))?;
        Ok(Scene { system, state, element })
    }
}

/// Coupled axes, two of them with curves, one of which falls in parts, turned by up to 2.9 rad.
pub(crate) struct CoupledBushing;

impl Subject for CoupledBushing {
    type Element<T: Real> = SpatialBushing<T>;

    fn scene<T: Real>(deal: &mut Numbers) -> Result<Scene<T, SpatialBushing<T>>, Error> {
        let rising = [(-0.5, -30.0), (-0.1, -1.0), (0.1, 0.0), (0.4, 50.0)];
        // With the sign of the displacement, so that its energy is not negative.
        let falling = [(-0.6, -30.0), (-0.4, -8.0), (-0.1, -12.0), (0.0, 0.0), (0.1, 12.0), (0.4, 8.0)];
        let [rising, falling] = [&rising[..], &falling]
            .map(|points| points.iter().map(|&(x, f)| (T::lit(x), T::lit(f))).collect());
        let of = |points: Vec<(T, T)>| Curve::new(&points);
        coupled_bushing(deal, [(1, of(rising)?), (3, of(falling)?)])
    }
}

/// Two axes coupled by stiffness, and two by damping; the others separate.
pub(crate) struct SparseBushing;

impl Subject for SparseBushing {
    type Element<T: Real> = SpatialBushing<T>;

    fn scene<T: Real>(deal: &mut Numbers) -> Result<Scene<T, SpatialBushing<T>>, Error> {
        let mut coupled = || {
            let axes = (0..6).flat_map(|i| (0..i).map(move |j| (i, j)));
            let drawn = axes.map(|pair| (deal.number(), pair)).max_by(|(x, _), (y, _)| x.total_cmp(y));
            let mut matrix = Matrix6::from_diagonal_element(T::lit(5.0));
            if let Some((_, (i, j))) = drawn {
                (matrix[(i, j)], matrix[(j, i)]) = (T::lit(3.0), T::lit(3.0));
            }
            Symmetric6::from_matrix(&matrix)
        };
        let (stiffness, damping) = (coupled()?, coupled()?);
        let mut scene = coupled_bushing(deal, [])?;
        let Scene { system, state, element } = &mut scene;
        system.update_parameters(state, *element, |p| {
            (p.law.stiffness, p.law.damping) = (stiffness, damping);
        })?;
        Ok(scene)
    }
}

/// Coupled axes, two of them with functions.
pub(crate) struct HardeningBushing;

impl Subject for HardeningBushing {
    type Element<T: Real> = SpatialBushing<T>;

    fn scene<T: Real>(deal: &mut Numbers) -> Result<Scene<T, SpatialBushing<T>>, Error> {
        coupled_bushing(deal, [(0, hardening(50.0, 1.0)), (5, hardening(200.0, 1.0))])
    }
}

/// `kx + 4kx³`, with the slope times a factor.
pub(crate) fn hardening<T: Real>(stiffness: f64, wrong: f64) -> Curve<T> {
    Curve::function(move |x: T| {
        let (k, square) = (T::lit(stiffness), x * x);
        CurvePoint {
            energy: k * square * (T::lit(0.5) + square),
            force: k * x * (T::one() + T::lit(4.0) * square),
            slope: k * (T::one() + T::lit(12.0) * square) * T::lit(wrong),
        }
    })
}

pub(crate) fn coupled_bushing<T: Real>(
    deal: &mut Numbers,
    curves: impl IntoIterator<Item = (usize, Curve<T>)>,
) -> Result<Scene<T, SpatialBushing<T>>, Error> {
    let mut system = ForceSystem::new();
    let (body1, body2) = (system.add_body(), system.add_body());
    let mut squares = |size: f64| {
        let root = Matrix6::<T>::from_fn(|_, _| deal.between(-size, size));
        Symmetric6::from_matrix(&(root * root.transpose()))
    };
    let parameters = spatial_bushing::Parameters { stiffness: squares(10.0)?, damping: squares(2.0)? };
    let (X_B1F, X_B2M) = (deal.pose(1.5, 0.4), deal.pose(1.5, 0.4));
    let mut bushing = SpatialBushing::new(Frame::on(body1, X_B1F), Frame::on(body2, X_B2M), parameters)?;
    let damper = [(-1.0, -8.0), (0.0, 0.0), (0.2, 1.0), (1.0, 3.0)].map(|(x, f)| (T::lit(x), T::lit(f)));
    for (axis, curve) in curves {
        bushing = bushing.with_curve(axis, curve)?.with_damping_curve(5 - axis, Curve::new(&damper)?)?;
    }
    let element = system.add(bushing)?;

    let X_GB1: Pose<T> = deal.pose(1.5, 1.0);
    // The rotation vector is at most 1.67·√3 rad long.
    let X_FM = deal.pose(1.67, 0.3);
    let mut state = system.default_state();
    state.set_body(body1, X_GB1, deal.velocity(2.0))?;
    let X_GB2 = X_GB1 * X_B1F * X_FM * X_B2M.inverse();
    state.set_body(body2, X_GB2, deal.velocity(2.0))?;
    Ok(Scene { system, state, element })
}

pub(crate) struct Spring;

impl Subject for Spring {
    type Element<T: Real> = ExponentialSpring<T>;

    fn scene<T: Real>(deal: &mut Numbers) -> Result<Scene<T, ExponentialSpring<T>>, Error> {
        spring_scene(deal, true)
    }
}

pub(crate) struct ReturnMappedSpring;

impl Subject for ReturnMappedSpring {
    type Element<T: Real> = ExponentialSpring<T>;

    fn scene<T: Real>(deal: &mut Numbers) -> Result<Scene<T, ExponentialSpring<T>>, Error> {
        spring_scene(deal, false)
    }
}

/// Anchored well below the friction limit: the anchor stays where it is.
fn spring_scene<T: Real>(
    deal: &mut Numbers,
    settling: bool,
) -> Result<Scene<T, ExponentialSpring<T>>, Error> {
    let mut system = ForceSystem::new();
    let (plane_body, body) = (system.add_body(), system.add_body());
    let parameters = exponential::Parameters {
        friction_elasticity: deal.between(5e3, 5e4),
        friction_viscosity: deal.between(1.0, 50.0),
        normal_viscosity: deal.between(0.0, 1.0),
        settling,
        ..exponential::Parameters::default()
    };
    let X_AP: Pose<T> = deal.pose(1.5, 0.4);
    let station = Point3::from(deal.vector(0.3));
    let spring = ExponentialSpring::new(Frame::on(plane_body, X_AP), Station::on(body, station), parameters)?;
    let element = system.add(spring)?;

    let X_GA: Pose<T> = deal.pose(1.5, 1.0);
    let R_GB = deal.pose::<T>(1.5, 0.0).rotation;
    // Between 300 N and 30 kN, and relative velocities of centimetres a second.
    let height = deal.between(-0.003, 0.001);
    let p_PS = Point3::new(deal.between(-0.5, 0.5), deal.between(-0.5, 0.5), height);
    let p_GS = X_GA * X_AP * p_PS;
    let p_GB = p_GS.coords - R_GB * station.coords;
    let V_GA = deal.velocity::<T>(2.0);
    let along = V_GA.shifted(p_GB - X_GA.translation.vector);
    let V_GB = SpatialVelocity::new(along.angular + deal.vector(0.1), along.linear + deal.vector(0.1));
    let mut state = system.default_state();
    state.set_time(T::lit(0.1))?;
    state.set_body(plane_body, X_GA, V_GA)?;
    state.set_body(body, Pose::from_parts(Translation3::from(p_GB), R_GB), V_GB)?;
    let offset = Vector2::new(deal.between(-5e-4, 5e-4), deal.between(-5e-4, 5e-4));
    system.update_discrete(&mut state, element, |discrete| {
        discrete.anchor_P = p_PS.xy().coords + offset;
        discrete.sliding = T::zero();
    })?;
    system.update_parameters(&mut state, element, |p| p.set_mu_static(T::lit(5.0)))?;
    Ok(Scene { system, state, element })
}

/// A via point on the first body, which may move with a coordinate.
enum Middle {
    None,
    Stays,
    Moves(CoordinateIndex),
}

/// Two bodies, and a path from one over an ellipsoid on it and a sphere on the other to its end.
fn wrapped_path<T: Real>(
    deal: &mut Numbers,
    [body1, body2]: [BodyIndex; 2],
    through: Middle,
) -> Result<CablePath<T>, Error> {
    let origin = Station::on(body1, Point3::new(T::lit(-2.0), T::lit(0.0), T::lit(0.0)) + deal.vector(0.1));
    let termination =
        Station::on(body2, Point3::new(T::lit(2.0), T::lit(0.0), T::lit(0.0)) + deal.vector(0.1));
    let radii = Vector3::from_fn(|_, _| deal.between(0.6, 0.8));
    let ellipsoid = Obstacle::new(Frame::on(body1, place(0.0, -0.3, 0.0)), Ellipsoid::new(radii)?)?;
    let sphere = Sphere::new(deal.between(0.6, 0.8))?;
    let sphere = Obstacle::new(Frame::on(body2, place(0.0, -0.3, 0.0)), sphere)?;
    // The forces of a path with a kink are off by it; the claims here are about the law.
    let smoothness = T::lit(1e-13).max(T::default_epsilon() * T::lit(100.0));
    let mut path = CablePath::new(origin, termination)?.over(ellipsoid);
    let middle = Point3::new(1.1, 0.0, 0.0).map(T::lit);
    match through {
        Middle::Moves(coordinate) => {
            let knots = [-1.0, -0.3, 0.2, 1.0].map(|q| (T::lit(q), middle + deal.vector(0.1)));
            path = path.through(ViaPoint::moving(body1, coordinate, SplineCurve::new(knots)?))?;
        }
        Middle::Stays => path = path.through(Station::on(body1, middle + deal.vector(0.1)))?,
        Middle::None => {}
    }
    let path = path.over(sphere);
    Ok(path.with_settings(Settings { smoothness, ..Settings::default() })?)
}

fn place<T: Real>(x: f64, y: f64, z: f64) -> Pose<T> {
    Pose::translation(T::lit(x), T::lit(y), T::lit(z))
}

fn elastic<T: Real>(deal: &mut Numbers) -> cable_spring::Parameters<T> {
    cable_spring::Parameters {
        stiffness: deal.between(50.0, 500.0),
        slack_length: T::lit(3.0),
        dissipation: deal.between(0.01, 0.1),
    }
}

pub(crate) struct Cable;

impl Subject for Cable {
    type Element<T: Real> = CableSpring<T>;

    /// A taut cable, in contact with both obstacles.
    fn scene<T: Real>(deal: &mut Numbers) -> Result<Scene<T, CableSpring<T>>, Error> {
        let mut system = ForceSystem::new();
        let bodies = [system.add_body(), system.add_body()];
        let path = wrapped_path(deal, bodies, Middle::None)?;
        let element = system.add(CableSpring::new(path, elastic(deal))?)?;

        let X_GB1: Pose<T> = deal.pose(1.5, 1.0);
        let X_B1B2 = place(2.2, 0.0, 0.0) * deal.pose(0.2, 0.1);
        let mut state = system.default_state();
        state.set_body(bodies[0], X_GB1, deal.velocity(1.0))?;
        state.set_body(bodies[1], X_GB1 * X_B1B2, deal.velocity(1.0))?;
        Ok(Scene { system, state, element })
    }
}

/// A cable with friction that sticks to the ellipsoid, and to the sphere if `STICKS_TWICE`; else that is frictionless.
pub(crate) struct Capstan<const STICKS_TWICE: bool>;

impl<const STICKS_TWICE: bool> Subject for Capstan<STICKS_TWICE> {
    type Element<T: Real> = CableSpring<T>;

    /// A taut cable, in contact with both obstacles, that has been stretched since the last commit.
    fn scene<T: Real>(deal: &mut Numbers) -> Result<Scene<T, CableSpring<T>>, Error> {
        let mut system = ForceSystem::new();
        let bodies = [system.add_body(), system.add_body()];
        let path = wrapped_path(deal, bodies, Middle::None)?;
        let friction =
            vec![deal.between(2.0, 3.0), if STICKS_TWICE { deal.between(2.0, 3.0) } else { T::zero() }];
        let element = system.add(CableSpring::new(path, elastic(deal))?.with_friction(friction)?)?;

        let X_GB1: Pose<T> = deal.pose(1.5, 1.0);
        let X_B1B2 = place(2.2, 0.0, 0.0) * deal.pose(0.2, 0.1);
        let mut state = system.default_state();
        state.set_body(bodies[0], X_GB1, deal.velocity(1.0))?;
        state.set_body(bodies[1], X_GB1 * X_B1B2, deal.velocity(1.0))?;
        system.realize_dynamics(&mut state)?;
        system.accept_step(&mut state)?;
        state.set_pose(bodies[1], X_GB1 * X_B1B2 * deal.pose(0.03, 0.03))?;
        Ok(Scene { system, state, element })
    }
}

/// Places that differ from those that a path was made with.
fn displace<T: Real>(places: &mut Places<T>, deal: &mut Numbers) {
    for p in [&mut places.origin, &mut places.termination, &mut places.via_points[0].p_B] {
        *p += deal.vector(0.05);
    }
    for place in &mut places.obstacles {
        place.X_BS *= deal.pose(0.5, 0.03);
        place.scale = deal.between(0.9, 1.1);
    }
}

/// A cable through a point that moves with a coordinate, with parts at other places than it was made with.
pub(crate) struct MovingCable;

impl Subject for MovingCable {
    type Element<T: Real> = CableSpring<T>;

    fn scene<T: Real>(deal: &mut Numbers) -> Result<Scene<T, CableSpring<T>>, Error> {
        let mut system = ForceSystem::new();
        let bodies = [system.add_body(), system.add_body()];
        let coordinate = system.add_coordinate();
        let path = wrapped_path(deal, bodies, Middle::Moves(coordinate))?;
        let element = system.add(CableSpring::new(path, elastic(deal))?)?;

        let X_GB1: Pose<T> = deal.pose(1.5, 1.0);
        let X_B1B2 = place(2.2, 0.0, 0.0) * deal.pose(0.2, 0.1);
        let mut state = system.default_state();
        state.set_body(bodies[0], X_GB1, deal.velocity(1.0))?;
        state.set_body(bodies[1], X_GB1 * X_B1B2, deal.velocity(1.0))?;
        state.set_coordinate(coordinate, deal.between(-1.5, 1.5))?;
        state.set_coordinate_rate(coordinate, deal.between(-1.0, 1.0))?;
        system.update_parameters(&mut state, element, |p| displace(&mut p.places, deal))?;
        Ok(Scene { system, state, element })
    }
}

/// A cable that sticks to both obstacles and runs through a point, with parts at other places than it was made with.
pub(crate) struct DisplacedCapstan;

impl Subject for DisplacedCapstan {
    type Element<T: Real> = CableSpring<T>;

    fn scene<T: Real>(deal: &mut Numbers) -> Result<Scene<T, CableSpring<T>>, Error> {
        let mut system = ForceSystem::new();
        let bodies = [system.add_body(), system.add_body()];
        let path = wrapped_path(deal, bodies, Middle::Stays)?;
        let friction = vec![deal.between(2.0, 3.0), deal.between(2.0, 3.0)];
        let element = system.add(CableSpring::new(path, elastic(deal))?.with_friction(friction)?)?;

        let X_GB1: Pose<T> = deal.pose(1.5, 1.0);
        let X_B1B2 = place(2.2, 0.0, 0.0) * deal.pose(0.2, 0.1);
        let mut state = system.default_state();
        state.set_body(bodies[0], X_GB1, deal.velocity(1.0))?;
        state.set_body(bodies[1], X_GB1 * X_B1B2, deal.velocity(1.0))?;
        system.update_parameters(&mut state, element, |p| displace(&mut p.places, deal))?;
        system.realize_dynamics(&mut state)?;
        system.accept_step(&mut state)?;
        state.set_pose(bodies[1], X_GB1 * X_B1B2 * deal.pose(0.03, 0.03))?;
        Ok(Scene { system, state, element })
    }
}

/// A coordinate element whose bristles stick or slip, in contact with a stop, between two coordinates.
pub(crate) struct Coordinate<const SLIPS: bool>;

impl<const SLIPS: bool> Subject for Coordinate<SLIPS> {
    type Element<T: Real> = CoordinateSpringDamperExt<T>;

    fn scene<T: Real>(deal: &mut Numbers) -> Result<Scene<T, CoordinateSpringDamperExt<T>>, Error> {
        coordinate_scene(SLIPS, |_, _| {}, deal)
    }
}

/// Friction of the load alone.
pub(crate) struct LoadedCoordinate<const SLIPS: bool>;

impl<const SLIPS: bool> Subject for LoadedCoordinate<SLIPS> {
    type Element<T: Real> = CoordinateSpringDamperExt<T>;

    fn scene<T: Real>(deal: &mut Numbers) -> Result<Scene<T, CoordinateSpringDamperExt<T>>, Error> {
        let load = |p: &mut coordinate::Parameters<T>, deal: &mut Numbers| {
            *p = coordinate::Parameters {
                dynamic_friction: T::zero(),
                static_friction_offset: T::zero(),
                dynamic_friction_coefficient: deal.between(0.1, 0.5),
                static_friction_offset_coefficient: deal.between(0.0, 0.2),
                friction_load: deal.between(-50.0, 50.0),
                ..*p
            };
        };
        coordinate_scene(SLIPS, load, deal)
    }
}

/// Stops of which half the depths are within the transition, and regularised friction under load.
pub(crate) struct SmoothlyStopped;

impl Subject for SmoothlyStopped {
    type Element<T: Real> = CoordinateSpringDamperExt<T>;

    fn scene<T: Real>(deal: &mut Numbers) -> Result<Scene<T, CoordinateSpringDamperExt<T>>, Error> {
        let smooth = |p: &mut coordinate::Parameters<T>, deal: &mut Numbers| {
            *p = coordinate::Parameters {
                limit_stops_transition: deal.between(0.1, 0.6),
                limit_stops_only_push: deal.between::<f64>(-1.0, 1.0) > 0.0,
                friction_proportional_zone: deal.between(0.1, 1.0),
                exponential_decay_static: T::one(),
                dynamic_friction_coefficient: deal.between(0.1, 0.5),
                friction_load: deal.between(-50.0, 50.0),
                ..*p
            };
        };
        coordinate_scene(false, smooth, deal)
    }
}

/// Friction and stops of every kind, sliding, sticking, or about to switch.
pub(crate) struct AnyCoordinate;

impl Subject for AnyCoordinate {
    type Element<T: Real> = CoordinateSpringDamperExt<T>;

    fn scene<T: Real>(deal: &mut Numbers) -> Result<Scene<T, CoordinateSpringDamperExt<T>>, Error> {
        let toss = |deal: &mut Numbers| deal.number() > 0.0;
        let alter = |p: &mut coordinate::Parameters<T>, deal: &mut Numbers| {
            let (regularised, loaded, smooth) = (toss(deal), toss(deal), toss(deal));
            *p = coordinate::Parameters {
                friction_proportional_zone: if regularised { deal.between(0.1, 1.0) } else { T::zero() },
                dynamic_friction: if loaded { T::zero() } else { p.dynamic_friction },
                static_friction_offset: if loaded { T::zero() } else { p.static_friction_offset },
                dynamic_friction_coefficient: deal.between(0.1, 0.5),
                static_friction_offset_coefficient: deal.between(0.1, 0.5),
                friction_load: if toss(deal) { deal.between(-50.0, 50.0) } else { T::zero() },
                exponential_decay_static: T::one(),
                sticking_stiffness: if toss(deal) { deal.between(1.0, 10.0) } else { T::zero() },
                limit_stops_transition: if smooth { deal.between(0.1, 0.6) } else { T::zero() },
                limit_stops_only_push: toss(deal),
                ..*p
            };
        };
        let slips = deal.number() > 0.0;
        let Scene { system, mut state, element } = coordinate_scene(slips, alter, deal)?;
        if slips && deal.number() > 0.0 {
            // They are to stick.
            system.update_discrete(&mut state, element, |d| d.friction_mode = -d.friction_mode)?;
        }
        if deal.number() > 0.0 {
            system.update_discrete(&mut state, element, |d| d.limit_stop_state = T::zero())?;
        }
        Ok(Scene { system, state, element })
    }
}

/// An element with all its parts, altered, between two moving coordinates.
fn coordinate_scene<T: Real>(
    slips: bool,
    alter: impl FnOnce(&mut coordinate::Parameters<T>, &mut Numbers),
    deal: &mut Numbers,
) -> Result<Scene<T, CoordinateSpringDamperExt<T>>, Error> {
    let mut system = ForceSystem::new();
    let (c0, c1) = (system.add_coordinate(), system.add_coordinate());
    let mut parameters = coordinate::Parameters {
        stiffness: deal.between(1.0, 500.0),
        damping: deal.between(0.1, 20.0),
        offset: deal.between(-0.3, 0.3),
        velocity_offset: deal.between(-0.3, 0.3),
        factor0: deal.between(0.2, 2.0),
        factor1: deal.between(-2.0, -0.2),
        dynamic_friction: deal.between(0.1, 5.0),
        static_friction_offset: deal.between(0.1, 5.0),
        sticking_stiffness: deal.between(1e3, 1e4),
        sticking_damping: deal.between(1.0, 50.0),
        viscous_friction: deal.between(0.0, 1.0),
        limit_stops_upper: T::lit(0.1),
        limit_stops_lower: T::lit(-0.1),
        limit_stops_upper_stiffness: deal.between(1e3, 1e4),
        limit_stops_lower_stiffness: deal.between(1e3, 1e4),
        limit_stops_upper_damping: deal.between(1.0, 50.0),
        limit_stops_lower_damping: deal.between(1.0, 50.0),
        use_limit_stops: true,
        ..coordinate::Parameters::default()
    };
    alter(&mut parameters, deal);
    let element = CoordinateSpringDamperExt::new(CoordinatePair::between(c0, c1), parameters)?;
    let element = system.add(element)?;
    let mut state = system.default_state();
    for coordinate in [c0, c1] {
        state.set_coordinate(coordinate, deal.between(-0.5, 0.5))?;
        state.set_coordinate_rate(coordinate, deal.between(-2.0, 2.0))?;
    }
    let limit_stop_state = deal.between(-0.1, 0.1);
    let last_sticking_position = deal.between(-0.5, 0.5);
    let [u0, u1] = [c0, c1].map(|c| state.velocities().coordinate_rate(c));
    let v = parameters.factor1 * u1 - parameters.factor0 * u0;
    let friction_mode = if slips { v.signum() } else { T::zero() };
    let bristle_energy = if slips { deal.between(0.0, 0.1) } else { T::zero() };
    let discrete =
        coordinate::Discrete { friction_mode, last_sticking_position, limit_stop_state, bristle_energy };
    system.set_discrete(&mut state, element, discrete)?;
    Ok(Scene { system, state, element })
}
