//! Measured tosses of a cube, predicted by models that the example `tosses` has fitted to others.

use std::path::Path;

use force_elements_scenes::rollout::GRAVITY;
use force_elements_scenes::tosses::{COUNT, Contact, Model, Recording, error, fall};

/// The tosses to which the example fits.
const FITTED: usize = 60;

fn recording() -> Result<Recording, String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/tosses/tosses.json");
    Recording::read(&path).map_err(|error| error.to_string())
}

/// As fitted, rounded to three digits.
fn models(recording: &Recording) -> [Model; 2] {
    let values: [(Contact, [f64; COUNT]); 2] = [
        (Contact::Springs, [0.185, 3.8, 1930.0, 41_700.0, 36.6, 1.73, -6e-4]),
        (Contact::Foundation, [0.184, 2.5, 6.93e7, 1.72e8, 1820.0, 1.69, -2.5e-3]),
    ];
    let scale = fall(&recording.tosses[..FITTED], recording.side) / GRAVITY;
    let Recording { side, mass, .. } = *recording;
    values.map(|(contact, values)| Model { contact, values, side, mass, scale })
}

#[test]
fn cameras_see_gravity_and_cubes_at_rest_in_the_same_short_lengths() -> Result<(), String> {
    let recording = recording()?;
    let scale = fall(&recording.tosses, recording.side) / GRAVITY;
    let (mut sum, mut count) = (0.0, 0.0);
    for toss in &recording.tosses {
        sum += toss.poses.last().map_or(0.0, |X| X.translation.z);
        count += 1.0;
    }
    let resting = sum / count / (0.5 * recording.side);
    assert_eq!(count, 150.0);
    // Cubes sink by some 0.1 mm, 0.002 of half a side.
    assert!((scale - resting).abs() < 3e-3 && (scale - 0.979).abs() < 1e-3, "{scale} {resting}");
    Ok(())
}

/// In the median they are nearer than MuJoCo, which is off by 10.4 % of a side and 10.1°.
#[test]
fn fitted_models_predict_tosses_that_they_have_not_seen() -> Result<(), Box<dyn std::error::Error>> {
    let recording = recording()?;
    for model in models(&recording) {
        let mut errors = Vec::new();
        for toss in &recording.tosses[FITTED..] {
            let start = toss.free_flight(toss.flight(model.side), model.fall());
            let predicted = model.predict(&start, toss.poses.len(), false)?.poses;
            let mut off = [0.0, 0.0];
            for (predicted, measured) in predicted.iter().zip(&toss.poses) {
                let error = error(predicted, measured);
                off[0] += error.linear.norm() / model.side;
                off[1] += error.angular.norm().to_degrees();
            }
            let count: f64 = predicted.iter().map(|_| 1.0).sum();
            errors.push(off.map(|off| off / count));
        }
        let medians = [0, 1].map(|part| {
            let mut part: Vec<f64> = errors.iter().map(|error| error[part]).collect();
            part.sort_by(f64::total_cmp);
            part[part.len() / 2]
        });
        assert!(medians[0] < 0.104 && medians[1] < 10.1, "{:?}: {medians:?}", model.contact);
    }
    Ok(())
}

/// Through the first impacts, and some sliding.
#[test]
fn slopes_of_predicted_tosses_are_those_of_differences() -> Result<(), Box<dyn std::error::Error>> {
    const SAMPLES: usize = 30;
    let recording = recording()?;
    let toss = &recording.tosses[0];
    for model in models(&recording) {
        let start = toss.free_flight(toss.flight(model.side), model.fall());
        let predicted = model.predict(&start, SAMPLES, true)?;
        for (i, unknown) in model.contact.unknowns().iter().enumerate() {
            // Of the height of the board by a millimetre.
            let value = if model.values[i] < 0.0 { 1e-3 } else { model.values[i] };
            let distance = 1e-6 * value;
            let [above, below] = [distance, -distance].map(|distance| {
                let mut moved = model;
                moved.values[i] += distance;
                moved.predict(&start, SAMPLES, false)
            });
            let (above, below) = (above?.poses, below?.poses);
            let (mut off, mut size) = (0.0_f64, 0.0_f64);
            for (sample, slopes) in predicted.slopes.iter().enumerate() {
                let (moved, exact) = (error(&above[sample], &below[sample]), slopes[i]);
                let per = 0.5 / distance;
                off = off.max((moved.angular * per - exact.angular).norm());
                off = off.max((moved.linear * per - exact.linear).norm() / model.side);
                size = size.max(exact.angular.norm()).max(exact.linear.norm() / model.side);
            }
            // Of a tumbling cube, 1e-14 of thousands of roundings over the distance.
            let rounding = 1e-14 / distance;
            assert!(
                off < 1e-5 * size + rounding,
                "{:?} {}: {off:.1e} of {size:.1e}",
                model.contact,
                unknown.name
            );
        }
    }
    Ok(())
}
