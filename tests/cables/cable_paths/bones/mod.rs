//! Cables over the smooth surfaces of meshes.

mod field;

use std::sync::LazyLock;

use force_elements::cable::{CablePath, Obstacle, PathError, Tracking, Wrappable};
use force_elements::nalgebra::{Point3, Translation3, Vector3};
use force_elements::shapes::{DistanceField, Solid, Sphere, Torus, TriangleMesh};
use force_elements::{
    BodyIndex, CableSpring, Error, ForceSystem, Frame, Handle, Pose, Real, SpatialForce, SpatialVelocity,
    State, Station, cable_spring,
};
use force_elements_scenes::bones::femur_mesh;
use force_elements_scenes::cables::Dice;
use force_elements_scenes::{is_at_length, seeds};
use num_dual::Dual64;

use super::{fixed, on_ground, one_end_free};

/// A length, and both ends of the contact.
type Touch = (f64, [Point3<f64>; 2]);

/// The length of the cable from one point to another, and its points of contact; `None` if it does not touch.
fn contact(obstacle: Obstacle<f64>, from: Point3<f64>, to: Point3<f64>) -> Result<Option<Touch>, Error> {
    let (system, body, cable) = one_end_free(Station::ground(from), [obstacle])?;
    let mut state = system.default_state();
    state.set_pose(body, Pose::from(Translation3::from(to)))?;
    let view = system.realize_position(&mut state)?;
    let path = &view.of(cable).position.path;
    let touched = path.contacts[0].in_contact.then_some(path.contacts[0].geodesic);
    Ok(touched.map(|arc| (path.length, [arc.start.point, arc.end.point])))
}

/// The largest errors in length and contact points of paths over the mesh of a surface, on ever finer grids and
/// meshes, and the accuracy that each field states.
fn errors_over(
    exact: &dyn Fn() -> Result<Obstacle<f64>, Error>,
    fields: &[DistanceField],
    ends: &dyn Fn(&mut Dice) -> [Point3<f64>; 2],
    hint: Option<Point3<f64>>,
) -> Result<Vec<[f64; 3]>, Error> {
    let mut errors = Vec::new();
    for field in fields {
        let mut dice = Dice::new(3);
        let mut worst = [0.0_f64, 0.0, field.accuracy()];
        let mut compared = 0;
        for _ in 0..40 {
            let [from, to] = ends(&mut dice);
            let mut obstacle = on_ground(field.clone())?;
            if let Some(hint) = hint {
                obstacle = obstacle.with_contact_hint(hint)?;
            }
            let Some((length, points)) = contact(exact()?, from, to)? else { continue };
            let Some((ours, our_points)) = contact(obstacle, from, to)? else { continue };
            // A contact that is about to leave moves as the root of the shift of the surface.
            if (points[1] - points[0]).norm() < 0.2 {
                continue;
            }
            compared += 1;
            worst[0] = worst[0].max((ours - length).abs());
            for (ours, exact) in our_points.iter().zip(&points) {
                worst[1] = worst[1].max((ours - exact).norm());
            }
        }
        assert!(compared > 20, "{compared}");
        errors.push(worst);
    }
    Ok(errors)
}

/// Requires an order of convergence, measured from the coarsest to the finest grid, which is half as wide.
fn assert_order(errors: &[[f64; 3]], name: &str) {
    let (first, last) = (errors[0], errors[errors.len() - 1]);
    // Four in the limit, but three for points, which depend on normals: the first derivatives of an error of order
    // four. The coarsest spacing is two fifths of the radius of curvature, not yet in the limit.
    for (i, (quantity, least)) in
        [("length", 3.5), ("points", 2.5), ("accuracy", 3.5)].into_iter().enumerate()
    {
        let order = (first[i] / last[i]).log2();
        assert!(order > least, "{name}, {quantity}: order {order}, {errors:?}");
    }
}

#[test]
fn over_the_mesh_of_a_ball_paths_converge_with_the_fourth_power_of_the_spacing() -> Result<(), Error> {
    // Edges as the square of the spacing, so that the mesh follows the ball to the same order.
    let fields = [(0.4, 16), (0.283, 32), (0.2, 64)]
        .map(|(spacing, frequency)| DistanceField::from_mesh(&TriangleMesh::sphere(1.0, frequency)?, spacing))
        .into_iter()
        .collect::<Result<Vec<_>, _>>()?;
    let ends = |dice: &mut Dice| {
        // Not opposite each other, where every way around the ball is as short.
        let out = dice.vector(1.0).normalize();
        let aside = out.cross(&dice.vector(1.0)).normalize() * dice.between(0.5, 1.0);
        [out, (aside - out).normalize()].map(|along| Point3::from(along * dice.between(1.3, 3.0)))
    };
    let errors = errors_over(&|| Ok(on_ground(Sphere::new(1.0)?)?), &fields, &ends, None)?;
    assert_order(&errors, "ball");
    Ok(())
}

#[test]
fn over_the_mesh_of_a_ring_paths_converge_with_the_fourth_power_of_the_spacing() -> Result<(), Error> {
    let fields = [(0.16, 24), (0.113, 48), (0.08, 96)]
        .map(|(spacing, count)| {
            DistanceField::from_mesh(&TriangleMesh::torus(1.0, 0.4, 2 * count, count)?, spacing)
        })
        .into_iter()
        .collect::<Result<Vec<_>, _>>()?;
    let hint = Point3::new(0.6, 0.0, 0.0);
    // Through the hole, from above to below, bent towards the ring at +x.
    let ends = |dice: &mut Dice| {
        let [from, to] = [1.0, -1.0].map(|side| {
            Point3::new(dice.between(0.7, 1.6), dice.between(-0.4, 0.4), side * dice.between(0.6, 1.2))
        });
        [from, to]
    };
    let exact = || Ok(on_ground(Torus::new(1.0, 0.4)?)?.with_contact_hint(hint)?);
    let errors = errors_over(&exact, &fields, &ends, Some(hint))?;
    assert_order(&errors, "ring");
    Ok(())
}

/// A thigh bone with faces of 3 mm on a grid of 4 mm.
static FEMUR: LazyLock<(TriangleMesh<f64>, DistanceField)> = LazyLock::new(|| {
    let mesh = femur_mesh(0.003).expect("a closed mesh");
    let field = DistanceField::from_mesh(&mesh, 0.004).expect("fine enough");
    (mesh, field)
});

/// A bone on a body of its own, and a cable around it to a second body.
struct Limb {
    system: ForceSystem<f64>,
    state: State<f64>,
    bone: BodyIndex,
    end: BodyIndex,
    cable: Handle<CableSpring<f64>>,
    to: Point3<f64>,
}

impl Limb {
    /// A random cable that touches the bone from the side, or from end to end.
    fn random(field: &DistanceField, seed: u64) -> Result<Option<Self>, Error> {
        let mut dice = Dice::new(seed);
        let mut system = ForceSystem::new();
        let (bone, end) = (system.add_body(), system.add_body());
        let (angle, turn, z) = (dice.between(0.0, 6.3), dice.between(2.0, 3.1), dice.between(-0.02, 0.42));
        let mut around =
            |angle: f64| Point3::new(0.07 * angle.cos(), 0.07 * angle.sin(), z + dice.between(-0.1, 0.1));
        let (from, to) = (around(angle), around(angle + turn));
        let path = CablePath::new(Station::ground(from), Station { body: end, p_B: Point3::origin() })?
            .over(Obstacle::new(Frame::on(bone, Pose::identity()), field.clone())?);
        let cable = system.add(CableSpring::new(
            path,
            cable_spring::Parameters { stiffness: 100.0, slack_length: 0.05, dissipation: 0.1 },
        )?)?;
        let state = system.default_state();
        let mut limb = Self { system, state, bone, end, cable, to };
        limb.move_to(Vector3::zeros(), Vector3::zeros())?;
        let touches = match limb.system.realize_position(&mut limb.state) {
            Ok(view) => view.of(cable).position.path.contacts[0].in_contact,
            // Refused.
            Err(_) => false,
        };
        Ok(touches.then_some(limb))
    }

    /// The end shifted, and the bone turned.
    fn move_to(&mut self, shift: Vector3<f64>, turn: Vector3<f64>) -> Result<(), Error> {
        let p = self.to + shift;
        self.state.set_pose(self.end, Pose::from(Translation3::from(p)))?;
        let R = force_elements::nalgebra::Rotation3::new(turn);
        self.state.set_pose(self.bone, Pose::from_parts(Translation3::identity(), R))?;
        Ok(())
    }

    fn every(field: &DistanceField, count: u64) -> Result<Vec<Self>, Error> {
        let limbs = (0..count).map(|seed| Self::random(field, seed));
        limbs.filter_map(Result::transpose).collect()
    }
}

#[test]
fn the_length_is_continuous_as_the_end_moves_and_no_cable_enters_the_mesh() -> Result<(), Error> {
    let (mesh, field) = &*FEMUR;
    let (mut steps, mut lost, mut touchdowns, mut refused) = (0, 0, 0, 0);
    let limbs = if is_at_length() { 60 } else { 3 };
    for (case, mut limb) in Limb::every(field, limbs)?.into_iter().enumerate() {
        let direction = Dice::new(case as u64 + 1000).vector(1.0).normalize();
        let mut before: Option<(f64, f64, f64, bool)> = None;
        for i in 0..2000 {
            let shift = 0.05 * (0.002 * f64::from(i)).sin();
            limb.move_to(direction * shift, Vector3::zeros())?;
            let Ok(view) = limb.system.realize_dynamics(&mut limb.state) else {
                // The path has ceased to exist.
                refused += 1;
                break;
            };
            let path = &view.of(limb.cable).position.path;
            let along = path.segments[path.segments.len() - 1].direction_G.dot(&direction);
            let touches = path.contacts[0].in_contact;
            if let Some((length, slope, shifted, touched)) =
                before.filter(|_| path.tracking == Tracking::Warm)
            {
                let moved = shift - shifted;
                // The length follows its slope: what is left is the square of the step over the length of the last
                // segment, more than 2 cm, and kinks of 1e-9.
                let change = path.length - length;
                let allowed = moved * moved * 50.0 + 1e-9;
                assert!(
                    (change - 0.5 * (along + slope) * moved).abs() < allowed,
                    "{case} {i}: {change} {moved}"
                );
                steps += 1;
                touchdowns += u64::from(touches != touched);
            } else if before.is_some() {
                lost += 1;
            }
            before = Some((path.length, along, shift, touches));
            if i % 20 == 0 {
                for segment in &path.segments {
                    for part in 0..=60 {
                        let p = segment.from_G + (segment.to_G - segment.from_G) * (f64::from(part) / 60.0);
                        assert!(mesh.signed_distance(&p) > -1.1 * field.accuracy(), "{case} {i}: {p}");
                    }
                }
                let arc = path.contacts[0].geodesic;
                for part in 0..=20 {
                    let reach = arc.length * (f64::from(part) / 20.0);
                    let p = field
                        .geodesic(&arc.start.point, &arc.start.tangent, reach, 1e-9, usize::MAX)
                        .end
                        .point;
                    assert!(!touches || mesh.signed_distance(&p).abs() < 1.1 * field.accuracy(), "{p}");
                }
            }
            limb.system.accept_step(&mut limb.state)?;
        }
    }
    assert!(
        steps > 500 * limbs && touchdowns > limbs / 6 && lost < 10 && refused < 10,
        "{steps} {lost} {touchdowns} {refused}"
    );
    Ok(())
}

#[test]
fn forces_on_bone_and_end_balance_and_are_the_slope_of_the_length() -> Result<(), Error> {
    const H: f64 = 1e-5;
    let (_, field) = &*FEMUR;
    let limbs = Limb::every(field, seeds(60))?;
    assert!(limbs.len() as u64 > seeds(60) / 4, "{}", limbs.len());
    for (case, mut limb) in limbs.into_iter().enumerate() {
        let mut dice = Dice::new(case as u64 + 500);
        let (shift, turn) = (dice.vector(1.0), dice.vector(1.0));
        let V = |of: Vector3<f64>, w: Vector3<f64>| SpatialVelocity::new(w, of);
        limb.move_to(Vector3::zeros(), Vector3::zeros())?;
        limb.system.realize_dynamics(&mut limb.state)?;
        limb.system.accept_step(&mut limb.state)?;
        let mut lengths = [0.0; 2];
        for (length, h) in lengths.iter_mut().zip([H, -H]) {
            limb.move_to(shift * h, turn * h)?;
            let view = limb.system.realize_position(&mut limb.state)?;
            *length = view.of(limb.cable).position.path.length;
        }
        limb.move_to(Vector3::zeros(), Vector3::zeros())?;
        let dynamics = limb.system.realize_dynamics(&mut limb.state)?;
        let tension = dynamics.of(limb.cable).dynamics.tension;
        assert!(tension > 0.0);
        let power = V(shift, Vector3::zeros()).power(&dynamics.body_force(limb.end))
            + V(Vector3::zeros(), turn).power(&dynamics.body_force(limb.bone));
        let slope = (lengths[0] - lengths[1]) / (2.0 * H);
        // H² times third derivatives, which are below 1/(2 cm)² for speeds of 1 m/s.
        assert!((power / tension + slope).abs() < 1e-6, "{case}: {} {slope}", power / tension);
        let mut sum = SpatialForce::zero();
        for body in limb.system.bodies().chain([BodyIndex::GROUND]) {
            sum += dynamics.body_force(body).shifted(-dynamics.pose(body).translation.vector);
        }
        // Roundoff, and the geodesic's ends to 1e-9.
        assert!(sum.force.norm() < 1e-12 * tension && sum.torque.norm() < 1e-9 * tension, "{sum:?}");
    }
    Ok(())
}

#[test]
fn a_field_is_shared_by_casts_and_carries_derivatives_or_single_precision() -> Result<(), Error> {
    const H: f64 = 1e-5;
    fn solve<T: Real>(field: &DistanceField, x: T) -> Result<T, Error> {
        let obstacle = on_ground::<f64>(field.clone())?.cast::<T>()?;
        let (system, body, cable) = one_end_free(fixed(-1.8, 0.2, 0.1), [obstacle])?;
        let mut state = system.default_state();
        state.set_pose(body, Pose::translation(T::lit(1.9), x, T::lit(0.3)))?;
        let view = system.realize_position(&mut state)?;
        assert!(view.of(cable).position.path.contacts[0].in_contact);
        Ok(view.of(cable).position.path.length)
    }
    let field = DistanceField::from_mesh(&TriangleMesh::sphere(1.0_f32, 24)?, 0.2)?;
    let length = solve(&field, 0.1)?;
    let in_duals = solve(&field, Dual64::new(0.1, 1.0))?;
    let slope = (solve(&field, 0.1 + H)? - solve(&field, 0.1 - H)?) / (2.0 * H);
    // Kinks of up to 1e-9; the difference has errors of H² and roundoff over H.
    assert!((in_duals.re - length).abs() < 1e-12, "{length} {in_duals}");
    assert!((in_duals.eps - slope).abs() < 1e-8, "{slope} {in_duals}");
    // Some hundred operations with a roundoff of 6e-8 on lengths of 4.
    let single: f32 = solve(&field, 0.1_f32)?;
    assert!((f64::from(single) - length).abs() < 1e-5, "{single} {length}");
    Ok(())
}

#[test]
fn an_end_inside_the_bone_is_refused() -> Result<(), Error> {
    let field = DistanceField::from_mesh(&TriangleMesh::sphere(1.0, 24)?, 0.25)?;
    let (system, body, _) = one_end_free(fixed(0.2, 0.1, 0.0), [on_ground(field)?])?;
    let mut state = system.default_state();
    state.set_pose(body, Pose::translation(2.0, 0.0, 0.0))?;
    let refusal = system.realize_position(&mut state).err();
    let refusal = refusal.as_ref().and_then(Error::own);
    assert_eq!(refusal, Some(&PathError::PointInsideObstacle { obstacle: 0 }));
    Ok(())
}
