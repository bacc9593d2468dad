//! Linearizations of cables of many kinds, against dual numbers.

mod scenes;

use std::collections::BTreeMap;

pub(super) use scenes::{Chain, Ring};
use scenes::{Drums, HeldElsewhere, SlidingChain, SlidingDrums, SlidingRing, chain};

use super::{DisplacedCapstan, Exact, MovingCable, holds, holds_for};
use force_elements::cable::{CablePath, Obstacle, PathDerivatives, PathMotion};
use force_elements::nalgebra::{Matrix6, Point3, Translation3, Vector3};
use force_elements::shapes::Sphere;
use force_elements::testing::{self, Numbers, Scene, Subject};
use force_elements::{
    CableSpring, Error, ForceSystem, Frame, Handle, Linearization, Pose, Scope, Station, cable_spring,
};

#[test]
fn a_cable_with_friction_over_many_bodies() -> Result<(), Error> {
    holds(testing::linearization::<Exact<SlidingChain>>);
    let mut taken = BTreeMap::new();
    for seed in 0..200 {
        let Scene { system, mut state, element } = SlidingChain::scene::<f64>(&mut Numbers::new(seed))?;
        system.realize_dynamics(&mut state)?;
        let mut linearization = Linearization::of(Scope { variables: true, commit: true });
        system.linearize(&state, &mut linearization)?;
        let cable = linearization.element(element);
        assert_eq!([cable.is_exact(), cable.is_exact_by_variables(), cable.is_exact_at_commit()], [true; 3]);
        for branch in cable.branches() {
            assert!(branch.margin >= 0.0 && branch.margin.is_finite());
            *taken.entry(branch.name).or_insert(0) += 1;
        }
    }
    for branch in ["taut", "slack", "pulling", "limp", "in contact", "free", "sticking", "slipping"] {
        assert!(taken.get(branch).is_some_and(|&count| count >= 3), "{branch}: {taken:?}");
    }
    Ok(())
}

#[test]
fn a_cable_with_friction_slips_and_sticks_as_its_branches_say() -> Result<(), Error> {
    let mut marked = 0;
    for seed in 0..40 {
        let Scene { system, mut state, element } = SlidingChain::scene::<f64>(&mut Numbers::new(seed))?;
        let view = system.realize_dynamics(&mut state)?;
        let (strands, parameters) =
            (view.of(element).position.strands.all.clone(), view.of(element).parameters);
        let (stiffness, mu) = (parameters.law.stiffness, parameters.friction.clone());
        let turnings: Vec<f64> = (view.of(element).position.path.contacts.iter())
            .map(|contact| {
                let obstacle = &system.element(element).path().obstacles()[contact.obstacle];
                contact.turning(obstacle.surface(), 1e-12)
            })
            .collect();
        // Otherwise there is an obstacle without a mark.
        if strands.len() != 6 {
            continue;
        }
        marked += 1;
        let mut linearization = Linearization::new();
        system.linearize(&state, &mut linearization)?;
        for branch in linearization.element(element).branches() {
            let Some(obstacle) = branch.index else { continue };
            // The second strand ends at the point between the second obstacle and the third.
            let before = [0, 1, 3, 4][obstacle];
            let [a, b] = [strands[before].elongation, strands[before + 1].elongation];
            let ratio = (mu[obstacle] * turnings[obstacle]).exp();
            let (more, less) = (a.max(b), a.min(b));
            match branch.name {
                // Elongations of centimetres, solved for to roundoff of lengths of metres.
                "slipping" => assert!((more - ratio * less).abs() < 1e-12, "{seed}: {more} {less} {ratio}"),
                "sticking" => {
                    let margin = stiffness * (ratio * less - more);
                    assert!((branch.margin - margin).abs() < 1e-12 * stiffness, "{seed}: {margin}");
                }
                _ => {}
            }
        }
    }
    assert!(marked > 30);
    Ok(())
}

#[test]
fn a_cable_with_friction_that_touches_one_obstacle_twice() {
    holds(testing::linearization::<Exact<SlidingRing>>);
}

#[test]
fn a_cable_with_friction_through_a_point_in_other_places() {
    holds_for(40, testing::linearization::<Exact<DisplacedCapstan>>);
}

#[test]
fn a_cable_over_many_bodies() {
    holds(testing::linearization::<Exact<Chain>>);
}

#[test]
fn a_cable_that_touches_one_obstacle_twice() {
    holds(testing::linearization::<Exact<Ring>>);
    let Scene { system, mut state, element } = Ring::scene::<f64>(&mut Numbers::new(1)).expect("valid");
    let view = system.realize_dynamics(&mut state).expect("regular");
    assert_eq!(
        view.of(element).position.path.contacts.iter().filter(|contact| contact.in_contact).count(),
        3
    );
}

#[test]
fn a_cable_through_a_moving_point_in_other_places() {
    // Beyond, some scenes are of a point within an obstacle.
    holds_for(40, testing::linearization::<Exact<MovingCable>>);
}

#[test]
fn a_cable_held_on_surfaces_of_other_bodies() -> Result<(), Error> {
    holds(testing::linearization::<Exact<HeldElsewhere>>);
    let Scene { system, mut state, element } = HeldElsewhere::scene::<f64>(&mut Numbers::new(1))?;
    let path = &system.realize_dynamics(&mut state)?.of(element).position.path;
    assert_eq!(path.segments.iter().filter(|segment| segment.length == 0.0).count(), 2);
    Ok(())
}

#[test]
fn a_cable_with_friction_on_drums_at_both_ends() -> Result<(), Error> {
    holds(testing::linearization::<Exact<SlidingDrums>>);
    let mut most = 0;
    for seed in 0..200 {
        let Scene { system, mut state, element } = SlidingDrums::scene::<f64>(&mut Numbers::new(seed))?;
        let strands = &system.realize_dynamics(&mut state)?.of(element).position.strands.all;
        most = most.max(strands.iter().filter(|strand| strand.is_wound).count());
    }
    assert!(most > 24, "{most}");
    Ok(())
}

#[test]
fn a_cable_on_drums_at_both_ends() -> Result<(), Error> {
    holds(testing::linearization::<Exact<Drums>>);
    let Scene { system, mut state, element } = Drums::scene::<f64>(&mut Numbers::new(1))?;
    let path = &system.realize_dynamics(&mut state)?.of(element).position.path;
    let held = path.segments.iter().filter(|segment| segment.length == 0.0).count();
    assert_eq!((held, path.contacts.iter().filter(|contact| contact.in_contact).count()), (2, 3));
    Ok(())
}

#[test]
fn the_second_derivative_of_length_is_symmetric_but_for_the_torque_of_each_body() -> Result<(), Error> {
    for seed in 0..20 {
        let Scene { system, mut state, element } = Chain::scene::<f64>(&mut Numbers::new(seed))?;
        let view = system.realize_dynamics(&mut state)?;
        let path = system.element(element).path();
        let mut derivatives = PathDerivatives::default();
        assert!(derivatives.find(path, view.positions(), &view.of(element).position.path));
        let bodies: Vec<_> = derivatives.forces().iter().map(|force| force.body).collect();
        let columns: Vec<Vec<Matrix6<f64>>> = bodies
            .iter()
            .map(|&body| {
                assert!(derivatives.along(PathMotion::Body(body)).is_some());
                derivatives.forces().iter().map(|force| force.change).collect()
            })
            .collect();
        for (i, by_i) in columns.iter().enumerate() {
            for (j, by_j) in columns.iter().enumerate() {
                let mut expected = by_i[j].transpose();
                if i == j {
                    let torque = derivatives.forces()[i].force.torque;
                    let mut turns = expected.fixed_view_mut::<3, 3>(0, 0);
                    turns -= torque.cross_matrix();
                }
                // Levers of ten metres square to a hundred, over segments of a metre.
                assert!((by_j[i] - expected).norm() < 1e-12 * 100.0, "{seed} {i} {j}");
            }
        }
    }
    Ok(())
}

/// The linearization of a chain with this slack length, by the length of the path, and smoothness.
fn chain_with(
    slack_length: impl Fn(f64) -> f64,
    smoothness: f64,
) -> Result<(Linearization<f64>, Handle<CableSpring<f64>>), Error> {
    let Scene { system, mut state, element } = chain(&mut Numbers::new(3), smoothness)?;
    let length = system.realize_position(&mut state)?.of(element).position.path.length;
    system.update_parameters(&mut state, element, |p| p.law.slack_length = slack_length(length))?;
    system.realize_dynamics(&mut state)?;
    let mut linearization = Linearization::of(Scope { variables: true, commit: true });
    system.linearize(&state, &mut linearization)?;
    Ok((linearization, element))
}

#[test]
fn a_cable_states_its_branches_and_is_slack_at_zero_stretch() -> Result<(), Error> {
    let (slack, cable) = chain_with(|length| length, 1e-13)?;
    let of_slack = slack.element(cable);
    assert_eq!((of_slack.is_exact(), of_slack.blocks().count()), (true, 0));
    assert_eq!((of_slack.branches()[0].name, of_slack.branches()[0].margin), ("slack", 0.0));

    let (taut, cable) = chain_with(|length| length - 0.25, 1e-13)?;
    let branches = taut.element(cable).branches();
    assert!(branches[0].name == "taut" && (branches[0].margin - 0.25).abs() < 1e-12);
    assert_eq!((branches[1].name, branches[1].unit), ("pulling", "m/s"));
    let touched: Vec<_> = branches[2..].iter().map(|branch| (branch.name, branch.index)).collect();
    assert_eq!(touched, [0, 1, 2, 3].map(|obstacle| ("in contact", Some(obstacle))));
    assert!(branches.iter().all(|branch| branch.margin > 0.01));
    Ok(())
}

#[test]
fn a_cable_off_its_drum_is_as_far_from_it_as_its_other_end_is_above_the_tangent() -> Result<(), Error> {
    let radius: f64 = 0.3;
    let [top, beside] = [Point3::new(0.0, 0.0, radius), Point3::new(2.0, 0.5, radius)];
    for (is_last, rise) in
        [false, true].into_iter().flat_map(|is_last| [0.2, 1e-4, -1e-4].map(|z| (is_last, z)))
    {
        let mut system = ForceSystem::new();
        let hook = system.add_body();
        let mut stations = [Station::ground(top), Station::on(hook, Point3::origin())];
        if is_last {
            stations.reverse();
        }
        let [origin, termination] = stations;
        let drum = Obstacle::new(Frame::ground(Pose::identity()), Sphere::new(radius)?)?;
        let path = CablePath::new(origin, termination)?.over(drum);
        let parameters = cable_spring::Parameters { stiffness: 10.0, slack_length: 1.0, dissipation: 0.0 };
        let cable = system.add(CableSpring::new(path, parameters)?)?;
        let mut state = system.default_state();
        state.set_pose(hook, Pose::from(Translation3::from(beside + Vector3::z() * rise)))?;
        system.realize_dynamics(&mut state)?;
        let mut linearization = Linearization::new();
        system.linearize(&state, &mut linearization)?;
        let of_drum = linearization.element(cable).branches().iter().find(|branch| branch.index == Some(0));
        let stated = of_drum.map(|branch| (branch.name, branch.margin));
        let (name, margin) = stated.expect("a branch of the drum");
        if rise > 0.0 {
            assert_eq!(name, "free");
            // Of a coordinate of half a metre.
            assert!((margin - rise).abs() < 1e-15, "{margin}");
        } else {
            assert_eq!(name, "in contact");
            assert!(margin > 0.0);
        }
    }
    Ok(())
}

#[test]
fn a_linearization_is_as_exact_as_the_path_is_smooth() -> Result<(), Error> {
    let [exact, coarse] = [1e-13, 1e-6].map(|smoothness| {
        let (linearization, _) = chain_with(|length| length - 0.25, smoothness)?;
        Ok::<_, Error>(linearization.to_dense())
    });
    for (exact, coarse) in exact?.iter().zip(&coarse?) {
        // Of curvatures of order one, some tenfold in a chain of segments.
        assert!((exact - coarse).norm() < 1e-5 * exact.norm());
    }
    Ok(())
}
