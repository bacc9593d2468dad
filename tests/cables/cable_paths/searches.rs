//! Searches without memory: the classes of hints by a count of their own, and no shorter path from many other starts.

use core::f64::consts::TAU;

use force_elements::cable::{CablePath, Obstacle, PathError, PathResults, Tracking};
use force_elements::nalgebra::{Point3, Translation3, Vector3};
use force_elements::{Error, ForceSystem, Frame, Pose, Station};
use force_elements_scenes::cables::Dice;
use force_elements_scenes::solids::{Solid, dives};

use super::GROUND;
use force_elements_scenes::seeds;

/// Obstacles along x, their hints in their frames, and the ends of the cable.
struct Row {
    solids: Vec<(Solid, Pose<f64>, Option<Vector3<f64>>)>,
    ends: [Vector3<f64>; 2],
}

impl Row {
    /// Up to four obstacles of a kind that the dice choose, at this distance from each other.
    fn random(
        dice: &mut Dice,
        spacing: f64,
        mut solid: impl FnMut(&mut Dice) -> (Solid, Option<Vector3<f64>>),
    ) -> Self {
        let mut solids = Vec::new();
        let mut x = 0.0;
        for _ in 0..=dice.below(4) {
            let at =
                Vector3::new(x + dice.between(-0.15, 0.15), dice.between(-0.6, 0.6), dice.between(-0.3, 0.3));
            let (solid, hint) = solid(dice);
            let reach = if matches!(solid, Solid::Rod(_)) { 0.7 } else { 3.0 };
            solids.push((solid, Pose::from_parts(Translation3::from(at), dice.rotation(reach)), hint));
            x += spacing;
        }
        let ends = [-1.5, x - spacing + 1.5].map(|x| {
            loop {
                let p = Vector3::new(x, dice.between(-1.0, 1.0), dice.between(-0.6, 0.6));
                if solids.iter().all(|(solid, X, _)| solid.height(X.inverse() * Point3::from(p)) > 0.02) {
                    break p;
                }
            }
        });
        Self { solids, ends }
    }

    fn path(&self) -> Result<CablePath<f64>, PathError> {
        let [from, to] = self.ends.map(|p| Station::ground(p.into()));
        let mut path = CablePath::new(from, to)?;
        for (solid, X, hint) in &self.solids {
            let obstacle: Obstacle<f64> = solid.obstacle(GROUND, *X)?;
            path = path.over(match hint {
                Some(hint) => obstacle.with_contact_hint((*hint).into())?,
                None => obstacle,
            });
        }
        Ok(path)
    }

    /// How deep a straight segment runs into an obstacle that it touches or passes.
    fn depth(&self, results: &PathResults<f64>) -> f64 {
        let solids: Vec<Solid> = self.solids.iter().map(|(solid, ..)| solid.clone()).collect();
        let whole = core::iter::once(0..solids.len()).collect::<Vec<_>>();
        let all = dives(&solids, &whole, results);
        all.iter().fold(0.0, |depth, dive| depth.max(dive.depth))
    }

    /// The part of the path past an obstacle, from the point before it to the point after it, in its frame.
    fn past(&self, k: usize, path: &CablePath<f64>, results: &PathResults<f64>) -> Vec<Vector3<f64>> {
        let X_SG = self.solids[k].1.inverse();
        let obstacle_after = |i: usize| results.segments[i].to_contact.map(|c| results.contacts[c].obstacle);
        let mut points = Vec::new();
        for (i, segment) in results.segments.iter().enumerate() {
            let (before, after) = (i.checked_sub(1).and_then(obstacle_after), obstacle_after(i));
            if before.is_some_and(|before| before > k) || after.is_some_and(|after| after < k) {
                continue;
            }
            points.extend([segment.from_G, segment.to_G]);
            if let Some(contact) =
                segment.to_contact.map(|c| &results.contacts[c]).filter(|c| c.obstacle == k)
            {
                let surface = path.obstacles()[k].surface();
                let start = contact.geodesic.start.transformed(&contact.X_GS.inverse());
                points.extend((0..=60).map(|part| {
                    let reach = contact.geodesic.length * f64::from(part) / 60.0;
                    contact.X_GS
                        * surface.geodesic(&start.point, &start.tangent, reach, 1e-9, usize::MAX).end.point
                }));
            }
        }
        points.into_iter().map(|p| (X_SG * p).coords).collect()
    }
}

/// The class of a curve past a solid, in whole turns up to a part that its ends determine: angles about the axis of a
/// rod, passages downwards through the disc in a ring.
fn class(solid: &Solid, points: &[Vector3<f64>]) -> f64 {
    let pairs = points.windows(2).map(|pair| (pair[0], pair[1]));
    match *solid {
        Solid::Rod(_) => pairs.map(|(a, b)| (a.x * b.y - a.y * b.x).atan2(a.x * b.x + a.y * b.y) / TAU).sum(),
        Solid::Ring(ring, _) => pairs
            .map(|(a, b)| {
                let at = a + (b - a) * (a.z / (a.z - b.z));
                match (a.z >= 0.0, b.z >= 0.0) {
                    (true, false) if at.x.hypot(at.y) < ring => 1.0,
                    (false, true) if at.x.hypot(at.y) < ring => -1.0,
                    _ => 0.0,
                }
            })
            .sum(),
        _ => 0.0,
    }
}

/// The point of the surface nearest to one inside.
fn outwards(solid: &Solid, p: Vector3<f64>) -> Vector3<f64> {
    let rim = |radius: f64| Vector3::new(p.x, p.y, 0.0).normalize() * radius;
    match *solid {
        Solid::Rod(radius) => rim(radius) + Vector3::z() * p.z,
        Solid::Ring(ring, tube) => rim(ring) + (p - rim(ring)).normalize() * tube,
        _ => p,
    }
}

/// A rod or a ring with a hint on it, within it, in the hole or anywhere; now and then a ball.
fn hinted(dice: &mut Dice) -> (Solid, Option<Vector3<f64>>) {
    let (turn, lean, part) = (dice.between(0.0, TAU), dice.between(0.0, TAU), dice.between(0.01, 1.0));
    let around = Vector3::new(turn.cos(), turn.sin(), 0.0);
    let anywhere = dice.vector(1.5);
    let place = usize::try_from(dice.below(4)).unwrap_or(0);
    match dice.below(5) {
        0 | 1 => {
            let radius = dice.between(0.3, 0.8);
            let on = around * radius + Vector3::z() * dice.between(-0.5, 0.5);
            let within = Vector3::new(on.x * part, on.y * part, on.z);
            (Solid::Rod(radius), Some([on, within, anywhere, anywhere][place]))
        }
        2 | 3 => {
            let ring = dice.between(0.5, 0.7);
            let tube = ring * dice.between(0.15, 0.6);
            let out = (around * lean.cos() + Vector3::z() * lean.sin()) * tube;
            let hole = around * (part * (ring - tube));
            let hints = [hole, around * ring + out, around * ring + out * part, anywhere];
            (Solid::Ring(ring, tube), Some(hints[place]))
        }
        _ => (Solid::Ball(dice.between(0.4, 0.8)), None),
    }
}

#[test]
fn hinted_obstacles_in_a_row_are_passed_in_the_classes_of_their_hints() -> Result<(), Error> {
    let (mut dice, mut kept, mut led) = (Dice::new(41), 0, 0);
    let state = ForceSystem::new().default_state();
    let mut results = PathResults::default();
    for i in 0..300 {
        let row = Row::random(&mut dice, 2.0, hinted);
        let path = row.path()?;
        if let Err(error) = path.solve(state.positions(), &path.no_wraps(), &mut results) {
            let typed = matches!(error, PathError::HintNotKept { .. } | PathError::Penetrates { .. });
            assert!(typed, "{i}: {error}");
            continue;
        }
        kept += 1;
        assert!(row.depth(&results) < 1e-7, "{i}");
        for (k, (solid, _, hint)) in row.solids.iter().enumerate() {
            let Some(hint) = *hint else { continue };
            let points = row.past(k, &path, &results);
            let hint = if solid.height(hint.into()) < 0.0 { outwards(solid, hint) } else { hint };
            let (first, last) = (points[0], points[points.len() - 1]);
            let (found, wanted) = (class(solid, &points), class(solid, &[first, hint, last]));
            assert!((found - wanted).abs() < 0.1, "{i} {k}: {found} {wanted}");
            led += u32::from((wanted - class(solid, &[first, last])).abs() > 0.1);
        }
    }
    // Where the straight line would be of another class.
    assert!(kept >= 285 && led > 50, "{kept} {led}");
    Ok(())
}

/// Whether one of many other starts leads to a path shorter than the one found without memory.
fn is_beaten(row: &Row, dice: &mut Dice, starts: u32) -> Result<bool, Error> {
    let path = row.path()?;
    let state = ForceSystem::new().default_state();
    let mut results = PathResults::default();
    path.solve(state.positions(), &path.no_wraps(), &mut results)?;
    assert_eq!(results.tracking, Tracking::Cold);
    assert!(row.depth(&results) < 1e-7);
    let length = results.length;
    let mut is_beaten = false;
    for _ in 0..starts {
        let mut wraps = path.no_wraps();
        for (wrap, obstacle) in wraps.wraps.iter_mut().zip(path.obstacles()) {
            let Frame { X_BF, .. } = obstacle.frame();
            wrap.known = true;
            wrap.in_contact = dice.below(4) > 0;
            wrap.point = obstacle.surface().retract(&dice.vector(0.9).into());
            wrap.tangent = X_BF.rotation.inverse() * (row.ends[1] - row.ends[0]);
            wrap.length = dice.between(0.0, 1.0);
        }
        let outcome = path.solve(state.positions(), &wraps, &mut results);
        is_beaten |= outcome.is_ok() && results.length < length * (1.0 - 1e-9);
    }
    Ok(is_beaten)
}

#[test]
fn from_many_other_starts_hardly_ever_comes_a_shorter_path() -> Result<(), Error> {
    let mut dice = Dice::new(42);
    let mut beaten = 0;
    // Neighbours apart, and overlapping.
    for spacing in [2.0, 1.1] {
        for _ in 0..seeds(50) {
            let row = Row::random(&mut dice, spacing, |dice| match dice.below(3) {
                0 => (Solid::Ball(dice.between(0.4, 0.8)), None),
                1 => (Solid::Rod(dice.between(0.3, 0.8)), None),
                _ => (Solid::Egg(Vector3::from_fn(|_, _| dice.between(0.35, 0.95))), None),
            });
            beaten += u32::from(is_beaten(&row, &mut dice, 8)?);
        }
    }
    // Four in a thousand of such scenes, with sixty starts each.
    assert!(beaten <= 1, "{beaten}");
    Ok(())
}

#[test]
fn a_cable_held_within_a_ring_touches_it_where_it_is_nearest_as_the_tube_gets_thin() -> Result<(), Error> {
    // MuJoCo's cable inside a cylinder or a ball, drawn in the plane of the ends and the centre, touches its circle in
    // one point, at equal angles to the radius there. A ring through that point holds it likewise.
    const RADIUS: f64 = 0.5;
    let (mut dice, mut count) = (Dice::new(43), 0);
    let state = ForceSystem::new().default_state();
    let mut results = PathResults::default();
    for _ in 0..60 {
        let [reach_a, reach_b] = [0; 2].map(|_| dice.between(0.7, 2.0));
        let angle = dice.between(0.3, 2.6);
        let ends = [Vector3::x() * reach_a, Vector3::new(angle.cos(), angle.sin(), 0.0) * reach_b];
        // The straight line misses the circle, else it is the path.
        if ends[0].cross(&ends[1]).norm() < 1.05 * RADIUS * (ends[1] - ends[0]).norm() {
            continue;
        }
        count += 1;
        // The angle at the point of contact between the cable and the radius beyond, by the law of sines.
        let at_centre = |slant: f64, reach: f64| slant - (RADIUS / reach * slant.sin()).asin();
        let (mut low, mut high) = (0.0, TAU / 4.0);
        for _ in 0..60 {
            let slant = 0.5 * (low + high);
            let sum = at_centre(slant, reach_a) + at_centre(slant, reach_b);
            if sum < angle { low = slant } else { high = slant }
        }
        let turn = at_centre(low, reach_a);
        let radial = Vector3::new(turn.cos(), turn.sin(), 0.0);
        let length = ends.iter().map(|end| (end - radial * RADIUS).norm()).sum::<f64>();
        // The ring's plane is that of the radius and the normal of the drawing.
        let axes = [radial, Vector3::z(), radial.cross(&Vector3::z())];
        let R = force_elements::nalgebra::Matrix3::from_columns(&axes);
        let R = force_elements::nalgebra::Rotation3::from_matrix_unchecked(R);
        for tube in [0.05, 5e-3, 5e-4] {
            let X = Pose::from_parts(Translation3::identity(), R);
            let ring = (Solid::Ring(RADIUS + tube, tube), X, Some(Vector3::zeros()));
            let path = Row { solids: vec![ring], ends }.path()?;
            path.solve(state.positions(), &path.no_wraps(), &mut results)?;
            assert!(results.contacts[0].in_contact);
            // The cable bends on the tube: it goes round by less than the tube's half turn.
            let excess = results.length - length;
            assert!(excess > 0.0 && excess < 4.0 * tube, "{tube}: {excess}");
        }
    }
    assert!(count > 20, "{count}");
    Ok(())
}
