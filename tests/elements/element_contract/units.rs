//! Laws have no units of their own: in other units of length, mass and time all variables and results are other numbers of the
//! same quantities.
//!
//! The declared units tell by what. Not of meshes and cables, whose surfaces are no variables: a test of cables has scenes of any
//! size.

use core::ops::Range;

use force_elements::nalgebra::Translation3;
use force_elements::testing::{Numbers, Scene, Subject};
use force_elements::variables::Value;
use force_elements::{Error, ForceSystem, Pose, SpatialVelocity, State};
use force_elements_scenes::seeds;

use super::hertz::{BallOnBall, BallOnPlane};
use super::scene::{Bushing, Coordinate, LoadedCoordinate, ReturnMappedSpring, SmoothlyStopped, Spring};

/// Powers of metre, kilogram and second.
type Dimension = [i32; 3];

fn dimension_of_symbol(symbol: &str) -> Dimension {
    match symbol {
        "1" | "rad" => [0, 0, 0],
        "m" => [1, 0, 0],
        "s" => [0, 0, 1],
        "kg" => [0, 1, 0],
        "N" => [1, 1, -2],
        "J" => [2, 1, -2],
        "W" => [2, 1, -3],
        "Pa" => [-1, 1, -2],
        other => unreachable!("{other}"),
    }
}

/// That of a unit such as `N·s/m³`.
fn dimension(unit: &str) -> Dimension {
    let mut dimension = [0; 3];
    for (place, side) in unit.split('/').enumerate() {
        for factor in side.split('·') {
            let symbol = factor.trim_end_matches(['²', '³']);
            let power = match &factor[symbol.len()..] {
                "²" => 2,
                "³" => 3,
                _ => 1,
            };
            let sign = if place == 0 { power } else { -power };
            let of_symbol = dimension_of_symbol(symbol);
            (0..3).for_each(|i| dimension[i] += sign * of_symbol[i]);
        }
    }
    dimension
}

/// New units: by which powers of two the numbers of metre, kilogram and second are multiplied.
#[derive(Debug, Clone, Copy)]
struct Units([i32; 3]);

impl Units {
    fn factor(self, unit: &str) -> f64 {
        let power: i32 = dimension(unit).into_iter().zip(self.0).map(|(a, b)| a * b).sum();
        2.0_f64.powi(power)
    }

    fn convert(self, unit: &str, value: Value<f64>) -> f64 {
        match value {
            Value::Number(number) => number * self.factor(unit),
            flag @ Value::Flag(_) => flag.number(),
        }
    }

    /// The same state.
    fn state(self, system: &ForceSystem<f64>, of: &State<f64>) -> Result<State<f64>, Error> {
        let mut values = Vec::new();
        of.visit_variables(&mut |entry| values.push(self.convert(entry.unit, entry.value)));
        let mut state = system.default_state();
        state.restore_values(&values)?;
        for body in system.bodies() {
            let (X, V) = (of.positions().pose(body), of.velocities().velocity(body));
            let p = X.translation.vector * self.factor("m");
            let V = SpatialVelocity::new(V.angular * self.factor("1/s"), V.linear * self.factor("m/s"));
            state.set_body(body, Pose::from_parts(Translation3::from(p), X.rotation), V)?;
        }
        for coordinate in system.coordinates() {
            let (q, u) = (of.positions().coordinate(coordinate), of.velocities().coordinate_rate(coordinate));
            state.set_coordinate(coordinate, q * self.factor("m"))?;
            state.set_coordinate_rate(coordinate, u * self.factor("m/s"))?;
        }
        Ok(state)
    }
}

/// Names, units and values of variables and results, in these units.
fn quantities(
    system: &ForceSystem<f64>,
    state: &mut State<f64>,
    units: Units,
) -> Result<Vec<(String, &'static str, f64)>, Error> {
    let mut rows = Vec::new();
    system.realize_dynamics(state)?.visit_results(&mut |entry| {
        rows.push((entry.name.to_string(), entry.unit, units.convert(entry.unit, entry.value)));
    });
    state.visit_variables(&mut |entry| {
        rows.push((entry.name.to_string(), entry.unit, units.convert(entry.unit, entry.value)));
    });
    Ok(rows)
}

/// Moves all for a while at the present velocities, which are halved and turned back.
fn advance(system: &ForceSystem<f64>, state: &mut State<f64>) -> Result<(), Error> {
    const STEP: f64 = 1.0 / 256.0;
    state.set_time(state.time() + STEP)?;
    for body in system.bodies() {
        let (X, V) = (*state.positions().pose(body), *state.velocities().velocity(body));
        let p = X.translation.vector + V.linear * STEP;
        let back = SpatialVelocity::new(V.angular * -0.5, V.linear * -0.5);
        state.set_body(body, Pose::from_parts(Translation3::from(p), X.rotation), back)?;
    }
    for coordinate in system.coordinates() {
        let (q, u) =
            (state.positions().coordinate(coordinate), state.velocities().coordinate_rate(coordinate));
        state.set_coordinate(coordinate, q + u * STEP)?;
        state.set_coordinate_rate(coordinate, -0.5 * u)?;
    }
    Ok(())
}

/// Metre, kilogram and second.
const ALL: Range<usize> = 0..3;
/// Without the metre, for elements of which places on bodies are no variables.
const OTHERS: Range<usize> = 1..3;

/// Requires that over some commits all quantities are the same in other units, to the bit.
fn has_no_units_of_its_own<S: Subject>(of: Range<usize>) -> Result<(), Error> {
    for seed in 0..seeds(200) {
        // Even powers, of which a root is exact too.
        let sizes = [20, -20].into_iter().flat_map(|size| of.clone().map(move |unit| (unit, size)));
        for units in sizes.map(|(unit, size)| Units([0, 1, 2].map(|i| if i == unit { size } else { 0 }))) {
            let Scene { system, state: mut known, .. } = S::scene::<f64>(&mut Numbers::new(seed))?;
            let mut other = units.state(&system, &known)?;
            for step in 0..4 {
                let expected = quantities(&system, &mut known, units)?;
                let found = quantities(&system, &mut other, Units([0; 3]))?;
                for ((name, unit, expected), (_, _, found)) in expected.into_iter().zip(found) {
                    assert_eq!(found, expected, "{seed}, {units:?}, {step}: {name} in {unit}");
                }
                system.accept_step(&mut known)?;
                system.accept_step(&mut other)?;
                advance(&system, &mut known)?;
                let moved = units.state(&system, &known)?;
                // Its own memory, where the other has moved to.
                other.set_time(moved.time())?;
                for body in system.bodies() {
                    other.set_body(
                        body,
                        *moved.positions().pose(body),
                        *moved.velocities().velocity(body),
                    )?;
                }
                for coordinate in system.coordinates() {
                    other.set_coordinate(coordinate, moved.positions().coordinate(coordinate))?;
                    other.set_coordinate_rate(coordinate, moved.velocities().coordinate_rate(coordinate))?;
                }
            }
        }
    }
    Ok(())
}

#[test]
fn bushings_have_no_units_of_their_own() -> Result<(), Error> {
    has_no_units_of_its_own::<Bushing>(ALL)
}

#[test]
fn exponential_springs_have_no_units_of_their_own() -> Result<(), Error> {
    has_no_units_of_its_own::<Spring>(OTHERS)?;
    has_no_units_of_its_own::<ReturnMappedSpring>(OTHERS)
}

#[test]
fn coordinate_elements_have_no_units_of_their_own() -> Result<(), Error> {
    has_no_units_of_its_own::<Coordinate<false>>(ALL)?;
    has_no_units_of_its_own::<Coordinate<true>>(ALL)?;
    has_no_units_of_its_own::<LoadedCoordinate<false>>(ALL)?;
    has_no_units_of_its_own::<LoadedCoordinate<true>>(ALL)?;
    has_no_units_of_its_own::<SmoothlyStopped>(ALL)
}

#[test]
fn contacts_of_balls_have_no_units_of_their_own() -> Result<(), Error> {
    has_no_units_of_its_own::<BallOnBall>(OTHERS)?;
    has_no_units_of_its_own::<BallOnPlane>(OTHERS)
}
