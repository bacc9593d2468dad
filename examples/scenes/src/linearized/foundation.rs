//! Foundations in solids of every kind, with all ways to count faces, with and without anchors.

use force_elements::elastic_foundation::{Material, Parameters};
use force_elements::nalgebra::{Rotation3, Vector3};
use force_elements::shapes::{Ellipsoid, FiniteCylinder, HalfSpace, SolidShape, Sphere, TriangleMesh};
use force_elements::testing::{Numbers, Scene, Subject};
use force_elements::{ElasticFoundation, Error, ForceSystem, Frame, Pose, Real};

use super::{Kind, mark_ground, or_zero, pick, place, pose, spread, toss, two_bodies};

#[derive(Debug)]
pub struct AnyFoundation;

/// What springs may enter.
#[derive(Debug, Clone, Copy)]
enum Other {
    HalfSpace,
    Ball,
    Ellipsoid,
    Cylinder,
    Mesh,
    Springs,
}

/// What is drawn first.
struct Plan {
    other: Other,
    has_anchors: bool,
    has_third: bool,
}

impl Plan {
    fn draw(deal: &mut Numbers) -> Self {
        let all =
            [Other::HalfSpace, Other::Ball, Other::Ellipsoid, Other::Cylinder, Other::Mesh, Other::Springs];
        Self { other: all[pick(deal, 6) as usize], has_anchors: toss(deal, 0.4), has_third: toss(deal, 0.2) }
    }
}

fn rubber<T: Real>(deal: &mut Numbers) -> Material<T> {
    let dynamic: f64 = if toss(deal, 0.2) { 0.0 } else { deal.between(0.1, 0.8) };
    let excess = if toss(deal, 0.2) { 0.0 } else { deal.between(0.0, 0.5) };
    Material::new(spread(deal, 1e3, 1e5))
        .with_dissipation(or_zero(deal, 0.1, 2.0))
        .with_friction(T::lit(dynamic + excess), T::lit(dynamic), or_zero(deal, 0.01, 0.3))
        .with_grip(or_zero(deal, 1e3, 1e5), or_zero(deal, 1.0, 1e3))
}

fn mesh<T: Real>(has_anchors: bool, deal: &mut Numbers) -> Result<TriangleMesh<T>, Error> {
    let brick = |subdivisions| TriangleMesh::brick(Vector3::new(0.5, 0.4, 0.3).map(T::lit), subdivisions);
    Ok(match pick(deal, 3) {
        0 if !has_anchors => TriangleMesh::torus(T::lit(0.4), T::lit(0.15), 9, 5)?,
        1 if !has_anchors => TriangleMesh::sphere(T::lit(0.4), 2)?,
        2 => brick([2, 1, 1])?,
        _ => brick([1; 3])?,
    })
}

impl Subject for AnyFoundation {
    type Element<T: Real> = ElasticFoundation<T>;

    fn scene<T: Real>(deal: &mut Numbers) -> Result<Scene<T, ElasticFoundation<T>>, Error> {
        let Plan { other, has_anchors, has_third } = Plan::draw(deal);
        let mut system = ForceSystem::new();
        let bodies = two_bodies(deal, &mut system);
        let X: [Pose<T>; 2] = [deal.pose(1.5, 0.3), deal.pose(1.5, 0.3)];
        let foundation = ElasticFoundation::new(Parameters {
            transition_velocity: spread(deal, 0.01, 0.5),
            clipped: toss(deal, 0.5),
            ..Parameters::default()
        })?;
        let mut foundation = if has_anchors { foundation.with_anchors() } else { foundation };
        let on = Frame::on(bodies[0], X[0]);
        let radii = Vector3::new(0.5, 0.6, 0.7).map(T::lit);
        match other {
            Other::HalfSpace => foundation.add_rigid(on, HalfSpace::BelowZ)?,
            Other::Ball => foundation.add_rigid(on, Sphere::new(T::lit(0.6))?)?,
            Other::Ellipsoid => foundation.add_rigid(on, Ellipsoid::new(radii)?)?,
            Other::Cylinder => {
                let cylinder = FiniteCylinder::new(T::lit(0.6), T::lit(0.5), T::lit(0.2))?;
                foundation.add_rigid(on, SolidShape::custom(cylinder))?
            }
            Other::Mesh => foundation.add_rigid(on, mesh(has_anchors, deal)?)?,
            Other::Springs => {
                let mesh = mesh(has_anchors, deal)?;
                // Against this one, with clipped faces, no other has springs.
                let mesh = if toss(deal, 0.3) { mesh.refined(T::lit(0.12))? } else { mesh };
                foundation.add_springs(on, mesh, rubber(deal))?
            }
        };
        foundation.add_springs(Frame::on(bodies[1], X[1]), mesh(has_anchors, deal)?, rubber(deal))?;
        if has_third {
            // On the first body, where the mesh may reach it as well.
            let shift = Pose::translation(T::lit(0.7), T::zero(), T::lit(0.2));
            foundation.add_rigid(Frame::on(bodies[0], X[0] * shift), Sphere::new(T::lit(0.5))?)?;
        }
        let element = system.add(foundation)?;

        let gap = deal.between::<f64>(0.2, 0.8);
        let away = deal.vector::<f64>(1.0).try_normalize(1e-3).unwrap_or_else(Vector3::x) * gap;
        let away = if matches!(other, Other::HalfSpace) { Vector3::z() * (gap - 0.3) } else { away };
        let turn: Vector3<f64> = deal.vector(1.5);
        let speed = spread(deal, 1e-3, 2.0);
        let mut state = system.default_state();
        if has_anchors {
            place(&mut state, bodies, X, pose(Rotation3::new(turn), away), speed, deal)?;
            system.realize_dynamics(&mut state)?;
            system.accept_step(&mut state)?;
        }
        // Some springs come into contact, others leave; or all hold.
        let nudge = spread::<f64>(deal, 1e-5, 0.1);
        let (turn, away) = (turn + deal.vector(nudge), away + deal.vector(nudge));
        place(&mut state, bodies, X, pose(Rotation3::new(turn), away), speed, deal)?;
        Ok(Scene { system, state, element })
    }
}

impl Kind for AnyFoundation {
    const NAME: &'static str = "ElasticFoundation";
    const HAS_PARTS: bool = true;

    fn marks(seed: u64, scene: &Scene<f64, ElasticFoundation<f64>>) -> Result<Vec<&'static str>, Error> {
        let Plan { other, has_anchors, has_third } = Plan::draw(&mut Numbers::new(seed));
        let at = scene.system.dynamics_view(&scene.state)?.of(scene.element);
        let mut marks = vec![match other {
            Other::HalfSpace => "in a half-space",
            Other::Ball => "in a ball",
            Other::Ellipsoid => "in an ellipsoid",
            Other::Cylinder => "in a cylinder",
            Other::Mesh => "in a mesh",
            Other::Springs => "springs on springs",
        }];
        if has_third {
            marks.push("a third surface");
        }
        marks.push(if has_anchors { "with anchors" } else { "without anchors" });
        if at.parameters.clipped {
            marks.push("clipped");
        }
        let element = scene.system.element(scene.element);
        let bodies = |contact: usize| {
            let contact = at.position.contacts.get(contact)?;
            Some([element.body(contact.other)?, element.body(contact.mesh)?])
        };
        match bodies(0) {
            Some(bodies) => mark_ground(&mut marks, bodies),
            None => marks.push("free"),
        }
        Ok(marks)
    }
}
