//! Every scene with every integration method is right to the accuracy that it states, or refused by name.

use force_elements_scenes::runs::{Method, SCENES, with_default_springs};
use force_elements_scenes::{is_at_length, one_in};

const METHODS: [Method; 5] = [
    Method::Euler(1.0 / 60.0),
    Method::Euler(1.0 / 240.0),
    Method::Euler(1e-3),
    Method::DormandPrince(1e-6),
    Method::TrBdf2(1e-3),
];

#[test]
fn every_run_is_right_or_refused() {
    let (mut right, mut refused, mut wrong) = (0, 0, Vec::new());
    let mut is_drawn = one_in(7);
    for scene in SCENES {
        for method in METHODS {
            if !is_drawn() {
                continue;
            }
            match scene.run(method, 1.0) {
                Ok(findings) => {
                    assert_eq!(findings.len(), scene.claims().count(), "{}", scene.name);
                    right += 1;
                    for (finding, claim) in findings.iter().zip(scene.claims()) {
                        if !finding.is_right() {
                            wrong.push(format!("{}, {method}: {}: {finding:?}", scene.name, claim.what));
                        }
                    }
                }
                Err(error) if error.of_step().is_some() => refused += 1,
                Err(error) => wrong.push(format!("{}, {method}: {error}", scene.name)),
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    // Error control and implicit methods are never refused, nor is a millisecond in most scenes.
    let enough = right > 2 * SCENES.len() + 12 && refused > 12;
    assert!(
        enough || !is_at_length() && right > SCENES.len() / 3 && refused > 0,
        "{right} right, {refused} refused"
    );
}

#[test]
fn what_is_designed_for_a_mass_runs_alike_at_every_mass() {
    let mut is_drawn = one_in(9);
    for scene in SCENES {
        for method in [Method::Euler(1.0 / 240.0), Method::Euler(1e-3)] {
            if !is_drawn() {
                continue;
            }
            let [light, heavy] = [0.25, 1024.0].map(|mass| scene.run(method, mass));
            match (light, heavy) {
                (Ok(light), Ok(heavy)) => {
                    for (light, heavy) in light.iter().zip(&heavy) {
                        // Powers of two scale to the bit but where an element compares with a number of its own.
                        assert!(
                            (light.deviation - heavy.deviation).abs() <= 1e-3 * light.allowed,
                            "{}, {method}: {light:?} {heavy:?}",
                            scene.name
                        );
                    }
                }
                (Err(light), Err(heavy)) => assert_eq!(light.of_step(), heavy.of_step(), "{}", scene.name),
                (light, heavy) => panic!("{}, {method}: {light:?} {heavy:?}", scene.name),
            }
        }
    }
}

#[test]
fn default_springs_launch_no_box_at_the_rates_of_games() {
    for mass in [0.1, 1.0, 10.0, 1000.0] {
        for step in [1.0 / 60.0, 1.0 / 240.0] {
            let (refused, highest) = with_default_springs(mass, step).expect("refused by name or not");
            assert!(highest < 1e-6, "{mass} kg, {step} s, {refused:?}: {highest}");
            assert_eq!(refused, Some("exponential_spring"), "{mass} kg, {step} s");
        }
    }
}
