//! The branches that the contacts of a foundation state.

use core::ops::Range;

use approx::assert_relative_eq;
use force_elements::elastic_foundation::{Anchor, Anchors};
use force_elements::testing::{Numbers, Scene, Subject};
use force_elements::{AtDynamics, Branch, ElasticFoundation, Error, Linearization};

use super::meshes::{SoftBrickAndBall, YieldingBrickInEllipsoid};

/// A branch of a contact: name, count and margin.
type Stated = (&'static str, usize, f64);

type At<'a> = AtDynamics<'a, f64, ElasticFoundation<f64>>;

/// The branches of each contact of a scene, and those expected of its springs.
fn branches<S: Subject<Element<f64> = ElasticFoundation<f64>>>(
    seed: u64,
    expected: impl Fn(&At<'_>, &Anchors<f64>, Range<usize>) -> Vec<Stated>,
) -> Result<[Vec<Vec<Stated>>; 2], Error> {
    let Scene { system, mut state, element } = S::scene::<f64>(&mut Numbers::new(seed))?;
    system.realize_dynamics(&mut state)?;
    let mut linearization = Linearization::new();
    system.linearize(&state, &mut linearization)?;
    let mut after = state.clone();
    system.accept_step(&mut after)?;
    let at = system.dynamics_view(&state)?.of(element);
    let mut all = [(); 2].map(|()| Vec::new());
    for (i, contact) in at.position.contacts.iter().enumerate() {
        let of_contact = linearization.element(element).branches().iter().filter(|b| b.index == Some(i));
        let is_of_normal = |b: &&Branch<f64>| ["pressing", "let go"].contains(&b.name);
        let (of_normal, others): (Vec<&Branch<f64>>, Vec<_>) = of_contact.partition(is_of_normal);
        assert_eq!(of_normal.iter().map(|b| b.count).sum::<usize>(), contact.springs.len(), "{seed}");
        assert!(of_normal.iter().all(|b| b.margin >= 0.0 && b.count > 0), "{of_normal:?}");
        all[0].push(others.into_iter().map(|b| (b.name, b.count, b.margin)).collect());
        let springs = contact.springs.clone();
        let deepest = at.position.springs[springs.clone()].iter().fold(0.0, |most: f64, s| most.max(s.depth));
        let mut branches = vec![("in contact", springs.len(), deepest)];
        branches.extend(expected(&at, after.discrete(element), springs));
        all[1].push(branches);
    }
    Ok(all)
}

#[test]
fn a_contact_states_how_many_springs_slide_and_how_far_the_nearest_switch_is() -> Result<(), Error> {
    let (mut creeping, mut sliding) = (0, 0);
    for seed in 0..50 {
        let [found, expected] = branches::<SoftBrickAndBall>(seed, |at, _, springs| {
            let transition = at.parameters.transition_velocity;
            let speeds: Vec<_> = at.velocity[springs].iter().map(|s| s.slip_G.norm() - transition).collect();
            let side = |name, sign: f64| {
                let beyond = speeds.iter().map(|x| sign * x).filter(|x| *x >= 0.0);
                let nearest = beyond.clone().reduce(f64::min);
                nearest.map(|nearest| (name, beyond.count(), nearest))
            };
            [side("creeping", -1.0), side("sliding", 1.0)].into_iter().flatten().collect()
        })?;
        for (found, expected) in found.iter().flatten().zip(expected.iter().flatten()) {
            assert_eq!((found.0, found.1), (expected.0, expected.1), "{seed}");
            // A square and a root of a speed.
            assert_relative_eq!(found.2, expected.2, epsilon = 1e-14);
            creeping += if found.0 == "creeping" { found.1 } else { 0 };
            sliding += if found.0 == "sliding" { found.1 } else { 0 };
        }
        assert_eq!(found.iter().flatten().count(), expected.iter().flatten().count());
    }
    assert!(creeping > 100 && sliding > 100, "{creeping} {sliding}");
    Ok(())
}

#[test]
fn a_contact_states_how_many_anchors_slip() -> Result<(), Error> {
    let (mut sticking, mut slipping) = (0, 0);
    for seed in 0..50 {
        let [found, expected] = branches::<YieldingBrickInEllipsoid>(seed, |at, next, _| {
            // One contact: anchors that are where they were, and those of springs that have just come, hold.
            let before: Vec<_> = at.discrete.iter().collect();
            let is_new = |next: &&&Anchor<f64>| {
                !before.iter().any(|a| (a.spring, a.other) == (next.spring, next.other))
            };
            let next: Vec<_> = next.iter().collect();
            let kept = next.iter().filter(|next| before.iter().any(|a| a == *next)).count();
            let new = next.iter().filter(is_new).count();
            let slip = next.len() - kept - new;
            let some = |name, count| (count > 0).then_some((name, count, 0.0));
            [some("sticking", kept + new), some("slipping", slip)].into_iter().flatten().collect()
        })?;
        for (found, expected) in found.iter().flatten().zip(expected.iter().flatten()) {
            assert_eq!((found.0, found.1), (expected.0, expected.1), "{seed}");
            assert!(found.2 >= 0.0);
            sticking += if found.0 == "sticking" { found.1 } else { 0 };
            slipping += if found.0 == "slipping" { found.1 } else { 0 };
        }
    }
    assert!(sticking > 50 && slipping > 50, "{sticking} {slipping}");
    Ok(())
}
