//! Elastic foundations in a random place, for any scalar.

use force_elements::elastic_foundation::{Material, Parameters};
use force_elements::nalgebra::{Rotation3, Translation3, Vector3};
use force_elements::shapes::{Ellipsoid, FiniteCylinder, HalfSpace, SolidShape, Sphere, TriangleMesh};
use force_elements::testing::{Numbers, Scene, Subject};
use force_elements::{BodyIndex, ElasticFoundation, Error, ForceSystem, Frame, Pose, Real};

/// A material that rubs and dampens.
fn rubber<T: Real>(deal: &mut Numbers) -> Material<T> {
    let dynamic_friction = deal.between(0.1, 0.5);
    Material::new(deal.between(1e3, 1e4)).with_dissipation(deal.between(0.1, 1.0)).with_friction(
        dynamic_friction + deal.between(0.0, 0.5),
        dynamic_friction,
        deal.between(0.0, 0.1),
    )
}

/// A foundation without surfaces, with a transition velocity of its own.
fn rubbing<T: Real>(parameters: Parameters<T>, deal: &mut Numbers) -> ElasticFoundation<T> {
    let transition_velocity = deal.between(0.1, 0.5);
    ElasticFoundation::new(Parameters { transition_velocity, ..parameters }).expect("valid")
}

fn brick<T: Real>() -> TriangleMesh<T> {
    TriangleMesh::brick(Vector3::new(0.5, 0.4, 0.3).map(T::lit), [4, 3, 2]).expect("valid")
}

/// Two surfaces that reach about `gap` from their origins, deep in each other and moving.
fn surfaces<T: Real>(
    foundation: impl FnOnce(&mut Numbers, [BodyIndex; 2], [Pose<T>; 2]) -> ElasticFoundation<T>,
    gap: f64,
    deal: &mut Numbers,
) -> Result<Scene<T, ElasticFoundation<T>>, Error> {
    let mut system = ForceSystem::new();
    let bodies = [system.add_body(), system.add_body()];
    let X_BS: [Pose<T>; 2] = [deal.pose(1.5, 0.3), deal.pose(1.5, 0.3)];
    let foundation = foundation(deal, bodies, X_BS);
    let element = system.add(foundation)?;

    let X_GB1: Pose<T> = deal.pose(1.5, 0.5);
    let away = deal.vector::<f64>(1.0).try_normalize(1e-3).unwrap_or_else(Vector3::x) * gap;
    let turn = deal.pose::<T>(1.5, 0.0).rotation;
    let X_SS = Pose::from_parts(Translation3::from(away.map(T::lit)), turn);
    let mut state = system.default_state();
    state.set_body(bodies[0], X_GB1, deal.velocity(0.5))?;
    let X_GB2 = X_GB1 * X_BS[0] * X_SS * X_BS[1].inverse();
    state.set_body(bodies[1], X_GB2, deal.velocity(0.5))?;
    Ok(Scene { system, state, element })
}

/// A torus of springs in a rigid ellipsoid.
fn torus_in_ellipsoid<T: Real>(
    parameters: Parameters<T>,
    deal: &mut Numbers,
) -> Result<Scene<T, ElasticFoundation<T>>, Error> {
    let radii = Vector3::new(0.5, 0.6, 0.7).map(T::lit);
    torus_in(Ellipsoid::new(radii)?.into(), parameters, deal)
}

fn torus_in_ball<T: Real>(
    parameters: Parameters<T>,
    deal: &mut Numbers,
) -> Result<Scene<T, ElasticFoundation<T>>, Error> {
    torus_in(Sphere::new(T::lit(0.6))?.into(), parameters, deal)
}

fn torus_in_cylinder<T: Real>(
    parameters: Parameters<T>,
    deal: &mut Numbers,
) -> Result<Scene<T, ElasticFoundation<T>>, Error> {
    let cylinder = FiniteCylinder::new(T::lit(0.6), T::lit(0.5), T::lit(0.2))?;
    torus_in(SolidShape::custom(cylinder), parameters, deal)
}

fn torus_in<T: Real>(
    shape: SolidShape<T>,
    parameters: Parameters<T>,
    deal: &mut Numbers,
) -> Result<Scene<T, ElasticFoundation<T>>, Error> {
    let build = |deal: &mut Numbers, [body1, body2]: [BodyIndex; 2], X: [Pose<T>; 2]| {
        let mut foundation = rubbing(parameters, deal);
        let torus = TriangleMesh::torus(T::lit(0.5), T::lit(0.2), 12, 8).expect("valid");
        foundation.add_rigid(Frame::on(body1, X[0]), shape).expect("closed");
        foundation.add_springs(Frame::on(body2, X[1]), torus, rubber(deal)).expect("valid");
        foundation
    };
    surfaces(build, 0.6, deal)
}

/// Two meshes that both carry springs.
fn brick_and_ball<T: Real>(
    parameters: Parameters<T>,
    deal: &mut Numbers,
) -> Result<Scene<T, ElasticFoundation<T>>, Error> {
    let build = |deal: &mut Numbers, [body1, body2]: [BodyIndex; 2], X: [Pose<T>; 2]| {
        let mut foundation = rubbing(parameters, deal);
        let ball = TriangleMesh::sphere(T::lit(0.4), 4).expect("valid");
        foundation.add_springs(Frame::on(body1, X[0]), brick(), rubber(deal)).expect("valid");
        foundation.add_springs(Frame::on(body2, X[1]), ball, rubber(deal)).expect("closed");
        foundation
    };
    surfaces(build, 0.55, deal)
}

/// A brick of springs in a half-space, whose surface is about as far from the brick's middle as its corners.
fn brick_in_half_space<T: Real>(
    parameters: Parameters<T>,
    deal: &mut Numbers,
) -> Result<Scene<T, ElasticFoundation<T>>, Error> {
    let build = |deal: &mut Numbers, [body1, body2]: [BodyIndex; 2], X: [Pose<T>; 2]| {
        let mut foundation = rubbing(parameters, deal);
        // The surface moves away from the origin about which bricks are placed, which the brick always reaches.
        let below = X[0] * Pose::translation(T::zero(), T::zero(), T::lit(0.4));
        foundation.add_rigid(Frame::on(body1, below), HalfSpace::BelowZ).expect("closed");
        foundation.add_springs(Frame::on(body2, X[1]), brick(), rubber(deal)).expect("valid");
        foundation
    };
    surfaces(build, 0.55, deal)
}

/// A brick in a half-space whose anchors are where it was a millimetre before, all springs well below the limit.
fn anchored_brick<T: Real>(
    parameters: Parameters<T>,
    deal: &mut Numbers,
) -> Result<Scene<T, ElasticFoundation<T>>, Error> {
    let mut system = ForceSystem::new();
    let bodies = [system.add_body(), system.add_body()];
    let X_BS: [Pose<T>; 2] = [deal.pose(1.5, 0.3), deal.pose(1.5, 0.3)];
    let mut foundation = ElasticFoundation::new(parameters)?.with_anchors();
    // Few faces, as every anchor is a variable.
    let brick = TriangleMesh::brick(Vector3::new(0.5, 0.4, 0.3).map(T::lit), [1; 3])?;
    foundation.add_rigid(Frame::on(bodies[0], X_BS[0]), HalfSpace::BelowZ)?;
    let (stiffness, high) = (deal.between(1e3, 1e4), T::lit(5.0));
    let rubber = Material::new(stiffness)
        .with_dissipation(deal.between(0.1, 1.0))
        .with_friction(high, high, deal.between(0.0, 0.1))
        .with_grip(stiffness * T::lit(1e-2), deal.between(0.1, 1.0));
    foundation.add_springs(Frame::on(bodies[1], X_BS[1]), brick, rubber)?;
    let element = system.add(foundation)?;

    let X_GB1: Pose<T> = deal.pose(1.5, 0.5);
    // All of it within: at the surface springs have next to no load, and yield.
    let X_SS = Pose::translation(T::zero(), T::zero(), T::lit(-1.0)) * deal.pose::<T>(1.5, 0.2);
    let mut state = system.default_state();
    state.set_body(bodies[0], X_GB1, deal.velocity(0.5))?;
    for shift in [T::zero(), T::lit(1e-3)] {
        let nudge = Pose::from_parts(Translation3::from(deal.vector(1.0) * shift), Rotation3::identity());
        let X_GB2 = X_GB1 * X_BS[0] * nudge * X_SS * X_BS[1].inverse();
        state.set_body(bodies[1], X_GB2, deal.velocity(0.5))?;
        system.realize_dynamics(&mut state)?;
        if shift == T::zero() {
            system.accept_step(&mut state)?;
        }
    }
    Ok(Scene { system, state, element })
}

/// Springs with little grip and less friction, of which some yield; the other surface is an ellipsoid or a half-space.
fn yielding<T: Real>(
    in_ellipsoid: bool,
    parameters: Parameters<T>,
    deal: &mut Numbers,
) -> Result<Scene<T, ElasticFoundation<T>>, Error> {
    let build = |deal: &mut Numbers, [body1, body2]: [BodyIndex; 2], X: [Pose<T>; 2]| {
        let mut foundation = rubbing(parameters, deal).with_anchors();
        let (shape, below) = if in_ellipsoid {
            let radii = Vector3::new(0.5, 0.6, 0.7).map(T::lit);
            (SolidShape::from(Ellipsoid::new(radii).expect("valid")), T::zero())
        } else {
            (SolidShape::from(HalfSpace::BelowZ), T::lit(0.4))
        };
        let X_BO = X[0] * Pose::translation(T::zero(), T::zero(), below);
        foundation.add_rigid(Frame::on(body1, X_BO), shape).expect("closed");
        let brick = TriangleMesh::brick(Vector3::new(0.5, 0.4, 0.3).map(T::lit), [2, 1, 1]).expect("valid");
        let rubber = rubber(deal).with_grip(deal.between(1e3, 1e4), deal.between(1.0, 1e3));
        foundation.add_springs(Frame::on(body2, X[1]), brick, rubber).expect("valid");
        foundation
    };
    let Scene { system, mut state, element } = surfaces(build, 0.45, deal)?;
    system.realize_dynamics(&mut state)?;
    system.accept_step(&mut state)?;
    // Some springs have come into contact since then, others have left.
    let body = system.bodies().last().unwrap_or(BodyIndex::GROUND);
    let nudge =
        Pose::translation(deal.between(-0.05, 0.05), deal.between(-0.05, 0.05), deal.between(-0.05, 0.05));
    let X_GB = nudge * *state.positions().pose(body);
    state.set_pose(body, X_GB)?;
    Ok(Scene { system, state, element })
}

fn yielding_in_ellipsoid<T: Real>(
    parameters: Parameters<T>,
    deal: &mut Numbers,
) -> Result<Scene<T, ElasticFoundation<T>>, Error> {
    yielding(true, parameters, deal)
}

fn yielding_in_half_space<T: Real>(
    parameters: Parameters<T>,
    deal: &mut Numbers,
) -> Result<Scene<T, ElasticFoundation<T>>, Error> {
    yielding(false, parameters, deal)
}

/// Subjects, each a scene with parameters.
macro_rules! subjects {
    ($($(#[$doc:meta])* $name:ident: $scene:ident with { $($field:ident),* };)*) => {
        $(
            $(#[$doc])*
            pub(crate) struct $name;

            impl Subject for $name {
                type Element<T: Real> = ElasticFoundation<T>;

                fn scene<T: Real>(deal: &mut Numbers) -> Result<Scene<T, ElasticFoundation<T>>, Error> {
                    $scene(Parameters { $($field: true,)* ..Parameters::default() }, deal)
                }
            }
        )*
    };
}

subjects! {
    SoftTorus: torus_in_ellipsoid with {};
    SoftBrickAndBall: brick_and_ball with {};
    ClippedTorus: torus_in_ellipsoid with { clipped };
    ClippedBrickAndBall: brick_and_ball with { clipped };
    ClippedBrick: brick_in_half_space with { clipped };
    Brick: brick_in_half_space with {};
    TorusInBall: torus_in_ball with {};
    TorusInCylinder: torus_in_cylinder with { clipped };
    YieldingBrickInEllipsoid: yielding_in_ellipsoid with {};
    YieldingClippedBrick: yielding_in_half_space with { clipped };
    AnchoredBrick: anchored_brick with {};
    AnchoredClippedBrick: anchored_brick with { clipped };
}
