//! Derivatives of the force and of the memory by parameters and memory.

use nalgebra::Vector1;

use super::derivatives::At;
use super::{CoordinateSpringDamperExt, Discrete, Parameters};
use crate::framework::variables::Numbers as _;
use crate::framework::{Blocks, Columns, Row};
use crate::math::{Algebraic, Dual, Number, Real};

/// How many variables vary at once.
const DIRECTIONS: usize = 7;

/// Displacement and velocity, with the law and the memory.
struct Varied<S: Algebraic> {
    q: S,
    v: S,
    parameters: Parameters<S>,
    discrete: Discrete<S>,
}

impl<T: Real> CoordinateSpringDamperExt<T> {
    fn varied<const N: usize>(&self, at: &At<'_, T>, columns: &mut Columns<N>) -> Varied<Dual<T, N>> {
        columns.number(at.time);
        let of = &mut |number| columns.number(number);
        let (parameters, discrete) = (at.parameters.lift(of), at.discrete.lift(of));
        let q = self.relative(&parameters, |side| Dual::of(at.positions.coordinate(side)));
        let v = self.relative(&parameters, |side| Dual::of(at.velocities.coordinate_rate(side)));
        Varied { q, v, parameters, discrete }
    }

    pub(super) fn linearize_force_by_variables(&self, at: &At<'_, T>, blocks: &mut Blocks<'_, T>) {
        blocks.in_columns::<DIRECTIONS>(|blocks, columns| {
            let Varied { q, v, parameters, discrete } = self.varied(at, columns);
            let force = parameters.evaluate(q, v, &discrete).force;
            for (side, factor) in self.sides().into_iter().zip(parameters.factors()) {
                let Some(on) = side else { continue };
                blocks.add_in_columns(columns, on, &Vector1::new(-(force * factor)));
            }
        });
    }

    pub(super) fn linearize_memory(&self, at: &At<'_, T>, blocks: &mut Blocks<'_, T>) {
        let [q, v] = [(at.position.displacement, 0), (at.velocity.velocity, 1)]
            .map(|(value, direction)| Dual::<T, 2>::variable(value, direction));
        let (parameters, discrete) = (at.parameters.lift(&mut Dual::of), at.discrete.lift(&mut Dual::of));
        self.committed(&Varied { q, v, parameters, discrete }).for_each(|row, next| {
            for (side, factor) in self.sides().into_iter().zip(at.parameters.factors()) {
                let Some(by) = side else { continue };
                let [by_position, by_velocity] = next.slopes.map(|slope| Vector1::new(slope * factor));
                blocks.add_to(Row::Next(row), by, &by_position, &by_velocity);
            }
        });
        blocks.in_columns::<DIRECTIONS>(|blocks, columns| {
            let next = self.committed(&self.varied(at, columns));
            next.for_each(|row, next| blocks.add_to_in_columns(columns, Row::Next(row), next));
        });
    }

    /// The memory after a commit. A user's law has none: what is there is kept.
    fn committed<S: Algebraic>(&self, varied: &Varied<S>) -> Discrete<S> {
        let Varied { q, v, parameters, discrete } = varied;
        if self.has_force_law() {
            *discrete
        } else {
            parameters.switched(*q, *v, discrete, discrete).discrete
        }
    }
}
