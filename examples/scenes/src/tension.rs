//! A tension on a coordinate by a closure.

use force_elements::{CoordinateIndex, CustomForce};

/// A tension that depends on time, displacement and velocity and stores no energy: all that it takes counts as dissipated.
pub fn tension(
    slider: CoordinateIndex,
    law: impl Fn(f64, f64, f64) -> f64 + Send + Sync + 'static,
) -> CustomForce<f64> {
    CustomForce::new(move |motion, loads| {
        let (q, v) = (motion.coordinate(slider), motion.coordinate_rate(slider));
        let tension = law(motion.time(), q, v);
        loads.apply_to_coordinate(slider, -tension);
        loads.dissipate(tension * v);
        0.0
    })
}
