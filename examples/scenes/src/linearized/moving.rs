//! `dF/dt = K·V + D·A` against differences of the forces in motion.

use force_elements::nalgebra::{Rotation3, Translation3};
use force_elements::testing::{Finding, Numbers};
use force_elements::{Error, ForceSystem, Forces, Linearization, Pose, SpatialVelocity, State, Variation};

/// How a linearization compares with differences.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Moving {
    /// By how much it differs, relative to the largest force or rate of a force.
    Smooth(f64),
    /// There is a kink between: it is that of one side.
    Kink,
    /// There is an end to where the element can be evaluated between.
    Edge,
    /// Tensions cancel on each body: what is left is their rounding.
    Cancelled,
}

/// The times over which differences are taken \[s\]: a friction spring of 1e5 N/m under a load of 0.01 N turns within a
/// microsecond; a ball that is pressed in by 1e-5 m at 1e-5 m/s moves by no more than some roundings in a hundred.
const TIMES: [f64; 9] = [1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 3e-6, 1e-5, 2e-5, 1e-4];

/// Rounding leaves 1e-16/1e-6 of some dozens of terms, or 1e-16/1e-10 of a rate of some m/s, and kinks of a cable within 1e-13
/// rad leave 1e-7.
const PRECISION: f64 = 1e-6;

/// How much of the tension rounding leaves on a body: 1e-16 of some dozens of terms with levers of ten metres, and of their rates,
/// some tens of their size a second.
const REST: f64 = 1e-12;

/// Compares along the motion of a state with accelerations that are drawn. The forces on each body are sums of tensions no
/// greater than this, if there are any.
pub(super) fn compare(
    system: &ForceSystem<f64>,
    state: &State<f64>,
    linearization: &Linearization<f64>,
    tension: f64,
    deal: &mut Numbers,
) -> Result<Moving, Finding> {
    let motion = state.velocities().clone();
    let mut acceleration = Variation::zeros(system.topology());
    for body in system.bodies() {
        *acceleration.body_mut(body) = deal.velocity(3.0);
    }
    for coordinate in system.coordinates() {
        *acceleration.coordinate_mut(coordinate) = 3.0 * deal.number();
    }
    let mut rates = Forces::zeros(system.topology());
    linearization.apply(&motion, &acceleration, &mut rates, None)?;
    let rates = components(&rates);

    let at = |time: f64| -> Result<Vec<f64>, Error> {
        let mut moved = state.clone();
        for body in system.bodies() {
            let (X, V, A) = (state.positions().pose(body), motion.body(body), acceleration.body(body));
            let R = Rotation3::new(V.angular * time) * X.rotation;
            let p = X.translation.vector + V.linear * time;
            let V = SpatialVelocity::new(V.angular + A.angular * time, V.linear + A.linear * time);
            moved.set_body(body, Pose::from_parts(Translation3::from(p), R), V)?;
        }
        for coordinate in system.coordinates() {
            let (q, u) = (state.positions().coordinate(coordinate), motion.coordinate(coordinate));
            moved.set_coordinate(coordinate, q + u * time)?;
            moved.set_coordinate_rate(coordinate, u + acceleration.coordinate(coordinate) * time)?;
        }
        system.realize_dynamics(&mut moved)?;
        Ok(components(system.dynamics_view(&moved)?.forces()))
    };
    let here = at(0.0)?;
    let scale = largest(&here).max(largest(&rates)) + f64::MIN_POSITIVE;
    let mut least = f64::INFINITY;
    let mut sides = f64::INFINITY;
    for time in TIMES {
        let steps = [-2.0, -1.0, 1.0, 2.0].map(|steps| at(steps * time));
        let [Ok(f), Ok(e), Ok(g), Ok(h)] = steps else {
            if time > TIMES[0] {
                continue;
            }
            return Ok(Moving::Edge);
        };
        let off = |slope: &dyn Fn(usize) -> f64| {
            (0..rates.len()).fold(0.0_f64, |most, i| most.max((slope(i) / time - rates[i]).abs())) / scale
        };
        // Of order four: a force that changes by 2300 times its size a second leaves 1e-12 over a microsecond.
        least = least.min(off(&|i| (8.0 * (g[i] - e[i]) - (h[i] - f[i])) / 12.0));
        if least < PRECISION {
            return Ok(Moving::Smooth(least));
        }
        sides = sides.min(off(&|i| g[i] - here[i])).min(off(&|i| here[i] - e[i]));
    }
    // Of order one, seen from one side: such a force leaves half of 2300·1e-6 of its rate.
    if sides < 1.2e-3 {
        return Ok(Moving::Kink);
    }
    if scale < REST * tension {
        return Ok(Moving::Cancelled);
    }
    let quantity = "the rate of the forces in motion";
    Err(Finding::Off { quantity, by: least * scale, tolerance: PRECISION * scale })
}

fn largest(numbers: &[f64]) -> f64 {
    numbers.iter().fold(0.0, |most, number| most.max(number.abs()))
}

fn components(forces: &Forces<f64>) -> Vec<f64> {
    let of_bodies =
        forces.bodies().iter().flat_map(|F| F.torque.iter().chain(&F.force).copied().collect::<Vec<_>>());
    of_bodies.chain(forces.coordinates().iter().copied()).collect()
}
