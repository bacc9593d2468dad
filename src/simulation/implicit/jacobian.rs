//! The Jacobian of the rates, kept from step to step.

use alloc::vec::Vec;

use nalgebra::{DMatrix, DVectorViewMut, Dyn, LU};

use crate::math::{InvalidValue, Real, check};
use crate::simulation::implicit::newton::Stage;
use crate::simulation::{Simulation, SimulationError};

/// A Jacobian of the rates, and the factors of `1 − w·J` for the weight of the present stage.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Jacobian<T: Real> {
    /// The weight of the stage at which it was calculated \[s\].
    weight: f64,
    entries: Vec<T>,
    /// The factors, with their weight \[s\].
    #[cfg_attr(feature = "serde", serde(skip))]
    factors: Option<(f64, LU<T, Dyn, Dyn>)>,
}

/// The largest ratio between the weight of a stage and that of the Jacobian. The Jacobian contains the dependence of
/// positions on velocities, so with another weight it is wrong by at most this factor.
const REACH: f64 = 3.0;

impl<T: Real> Jacobian<T> {
    /// The derivatives of the rates of the unknowns by the unknowns, column by column, where positions follow the
    /// velocities as in a stage. The rates must have been calculated last at `y`.
    ///
    /// They are plain numbers: the solution of a stage does not depend on them.
    pub(super) fn new(
        simulation: &mut Simulation<'_, T>,
        stage: &Stage<'_, T>,
        unknowns: &[usize],
        y: &[T],
    ) -> Result<Self, SimulationError> {
        let entries = simulation.linearized_rates(y, stage.displacement, stage.weight, unknowns)?;
        Ok(Self { weight: stage.weight, entries: entries.into_iter().map(plain).collect(), factors: None })
    }

    /// Whether it can be used for a stage of this weight with this number of unknowns.
    pub(super) fn serves(&self, weight: f64, unknowns: usize) -> bool {
        let ratio = weight / self.weight;
        (1.0 / REACH..=REACH).contains(&ratio) && self.entries.len() == unknowns * unknowns
    }

    /// Solves `(1 − w·J) x = right` in place; returns whether the solution is finite.
    pub(super) fn solve(&mut self, weight: f64, right: &mut [T]) -> bool {
        let count = right.len();
        let kept = self.factors.take().filter(|(of_weight, _)| *of_weight == weight);
        let (_, factors) = self.factors.insert(kept.unwrap_or_else(|| {
            let scaled = DMatrix::from_column_slice(count, count, &self.entries) * T::lit(-weight);
            (weight, (scaled + DMatrix::identity(count, count)).lu())
        }));
        factors.solve_mut(&mut DVectorViewMut::from_slice(right, count)) && right.iter().all(T::is_finite)
    }

    /// # Errors
    /// [`InvalidValue`] if it was deserialized and spoilt.
    pub(super) fn validate(&self) -> Result<(), InvalidValue> {
        check::positive("implicit.jacobian_weight", self.weight)?;
        self.entries.iter().try_for_each(|&entry| check::finite("implicit.jacobian", entry))
    }
}

/// The value without derivatives.
pub(super) fn plain<T: Real>(x: T) -> T {
    T::lit(x.to_f64())
}

#[cfg(test)]
#[expect(dead_code, unreachable_pub, reason = "variables have casts, and are public")]
mod tests {
    use alloc::vec;

    use nalgebra::{Matrix3, Point3, Vector3, Vector6};

    use super::*;
    use crate::linear_bushing::Parameters;
    use crate::mechanics::{CoordinateIndex, ForceAccumulator, Topology};
    use crate::simulation::layout::Role;
    use crate::simulation::{Plant, RigidBody};
    use crate::testing::Numbers;
    use crate::{
        AtDynamics, CoordinatePair, CoordinateSpringDamperExt, ElementResult, Error, ForceElement,
        ForceSystem, Frame, LinearBushing, SpatialForce,
    };

    /// The slow oracle.
    fn differences<T: Real>(
        simulation: &mut Simulation<'_, T>,
        stage: &Stage<'_, T>,
        unknowns: &[usize],
        y: &mut [T],
        rates: &[T],
    ) -> Result<Vec<T>, SimulationError> {
        let mut entries = Vec::with_capacity(unknowns.len() * unknowns.len());
        let mut shifted = rates.to_vec();
        for &i in unknowns {
            let kept = y[i];
            let delta = plain(T::default_epsilon().sqrt() * (T::one() + kept.abs()));
            y[i] = kept + delta;
            let evaluated = stage.calc_rates(simulation, y, &mut shifted);
            y[i] = kept;
            evaluated?;
            entries.extend(unknowns.iter().map(|&j| plain((shifted[j] - rates[j]) / delta)));
        }
        Ok(entries)
    }

    crate::variables! {
        /// Where a spring and a damper in series meet.
        #[derive(Copy)]
        pub struct Joint<T> {
            /// Place of the joint.
            pub place: T ["m"], finite => Dynamics;
        }
    }

    /// A spring on a coordinate, and a damper between it and Ground.
    #[derive(Debug)]
    struct Series(CoordinateIndex);

    impl ForceElement<f64> for Series {
        const KIND: &'static str = "series";
        type Parameters = ();
        type Discrete = ();
        type Continuous = Joint<f64>;
        type Position = ();
        type Velocity = ();
        type Dynamics = ();

        fn check_topology(&self, topology: &Topology) -> ElementResult {
            Ok(topology.check_coordinate(self.0)?)
        }

        fn add_forces(&self, at: &AtDynamics<'_, f64, Self>, forces: &mut ForceAccumulator<'_, f64>) {
            let stretch = at.positions.coordinate(self.0) - at.continuous.place;
            forces.apply_to_coordinate(self.0, -40.0 * stretch);
        }

        fn calc_rates(&self, at: &AtDynamics<'_, f64, Self>, rates: &mut Joint<f64>) -> ElementResult {
            let stretch = at.positions.coordinate(self.0) - at.continuous.place;
            rates.place = 8.0 * stretch + 0.2 * at.velocities.coordinate_rate(self.0);
            Ok(())
        }
    }

    /// Two bodies with centers away from their origins, bushings and loads, and a slider with variables of elements.
    #[test]
    fn the_jacobian_from_the_linearization_is_that_of_differences() -> Result<(), Error> {
        for seed in 0..20 {
            let mut deal = Numbers::new(seed);
            let mut system = ForceSystem::new();
            let mut plant = Plant::new(Vector3::new(0.0, 0.0, -9.81)).expect("finite");
            let bodies = [0, 1].map(|_| {
                let inertia = Matrix3::new(0.5, 0.01, 0.0, 0.01, 0.6, 0.02, 0.0, 0.02, 0.7);
                let center = Point3::from(deal.vector::<f64>(0.3));
                plant.add_body(&mut system, RigidBody::new(2.0, center, inertia).expect("a body"))
            });
            let slider = plant.add_coordinate(&mut system, 1.5).expect("positive");
            let parameters = Parameters {
                stiffness: Vector6::from_fn(|_, _| deal.between(50.0, 100.0)),
                damping: Vector6::from_fn(|_, _| deal.between(1.0, 5.0)),
            };
            for ends in [[bodies[0], bodies[1]], [crate::BodyIndex::GROUND, bodies[0]]] {
                let [F, M] = ends.map(|body| Frame::on(body, deal.pose(0.3, 0.3)));
                system.add(LinearBushing::new(F, M, parameters)?)?;
            }
            let law = crate::coordinate_spring_damper_ext::Parameters {
                stiffness: 30.0,
                damping: 2.0,
                ..Default::default()
            };
            system.add(CoordinateSpringDamperExt::new(CoordinatePair::on(slider), law)?)?;
            for _ in 0..2 {
                system.add(Series(slider))?;
            }
            for body in bodies {
                let load = SpatialForce::new(deal.vector(3.0), deal.vector(5.0));
                plant.set_body_load(body, load).expect("finite");
            }
            let mut state = system.default_state();
            for body in bodies {
                state.set_body(body, deal.pose(0.3, 0.3), deal.velocity(2.0))?;
            }
            state.set_coordinate(slider, 0.2)?;
            let mut simulation = Simulation::new(&system, &plant, state).expect("regular");
            let start = simulation.y.clone();
            let mut y = start.clone();
            let displacement: Vec<f64> = start.iter().map(|_| deal.between(-0.01, 0.01)).collect();
            let base = vec![0.0; y.len()];
            let stage = Stage {
                step: (0.0, 0.02),
                time: 0.0,
                weight: 0.02,
                start: &start,
                base: &base,
                displacement: &displacement,
            };
            let mut rates = vec![0.0; y.len()];
            stage.calc_rates(&mut simulation, &mut y, &mut rates).expect("regular");
            let unknowns: Vec<usize> = (0..y.len())
                .filter(|&i| matches!(simulation.role(i), Role::Velocity | Role::Element))
                .collect();
            assert_eq!(unknowns.len(), 15);
            let exact = simulation.linearized_rates(&y, &displacement, 0.02, &unknowns);
            let exact = exact.expect("regular");
            let oracle = differences(&mut simulation, &stage, &unknowns, &mut y, &rates).expect("regular");
            let size = oracle.iter().fold(0.0_f64, |size, x| size.max(x.abs()));
            for (i, (exact, oracle)) in exact.iter().zip(&oracle).enumerate() {
                // The root of the rounding, by which differences err.
                assert!((exact - oracle).abs() < 1e-6 * size, "{seed} {i}: {exact} {oracle} of {size}");
            }
        }
        Ok(())
    }
}
