//! Continuous variables of elements that come and go, against a list that is kept beside them, through random calls.

use force_elements::nalgebra::Vector3;
use force_elements::{
    AtDynamics, BodyIndex, Casts, Checkpoint, CoordinateIndex, ElementError, ElementId, Error,
    ForceAccumulator, ForceElement, ForceSystem, KinematicsSource, Pose, Real, SpatialForce, SpatialVelocity,
    StepRule, Topology, variables,
};

variables! {
    /// A number that decays.
    #[derive(Copy)]
    struct Level<T> {
        /// It.
        level: T ["N"] => Velocity;
    }
}

variables! {
    /// A count.
    #[derive(Copy)]
    struct Count<T> {
        /// Accepted steps.
        steps: T ["1"] => Dynamics;
    }
}

/// A force of its level plus the number of steps, of two kinds. It refuses steps at a huge level.
macro_rules! pusher {
    ($Name:ident, $kind:literal) => {
        #[derive(Debug, Clone, Copy)]
        struct $Name(BodyIndex, f64);
        impl<T: Real> ForceElement<T> for $Name {
            const KIND: &'static str = $kind;
            force_elements::element_types! { Discrete = Count<T>; Continuous = Level<T>; }
            fn check_topology(&self, topology: &Topology) -> Result<(), ElementError> {
                Ok(topology.check_body(self.0)?)
            }
            fn default_continuous(&self) -> Level<T> {
                Level { level: T::lit(self.1) }
            }
            fn add_forces(&self, at: &AtDynamics<'_, T, Self>, forces: &mut ForceAccumulator<'_, T>) {
                let f = Vector3::x() * (at.continuous.level + at.discrete.steps);
                forces.apply_to_body(self.0, SpatialForce::new(Vector3::zeros(), f));
                forces.apply_to_body(BodyIndex::GROUND, SpatialForce::new(Vector3::zeros(), -f));
            }
            fn calc_rates(
                &self,
                at: &AtDynamics<'_, T, Self>,
                rates: &mut Level<T>,
            ) -> Result<(), ElementError> {
                rates.level = -at.continuous.level;
                Ok(())
            }
            fn accept_step(
                &self,
                at: &AtDynamics<'_, T, Self>,
                next: &mut Count<T>,
            ) -> Result<(), ElementError> {
                next.steps += T::one();
                if at.continuous.level > T::lit(1e6) { Err(ElementError::NonFiniteForce) } else { Ok(()) }
            }
        }
    };
}

pusher!(Left, "left");
pusher!(Right, "right");

/// Time alone goes on.
struct Clock(f64);

impl KinematicsSource<f64> for Clock {
    fn time(&self) -> f64 {
        self.0
    }
    fn pose(&self, _: BodyIndex) -> Pose<f64> {
        Pose::identity()
    }
    fn velocity(&self, _: BodyIndex) -> SpatialVelocity<f64> {
        SpatialVelocity::zero()
    }
    fn coordinate(&self, _: CoordinateIndex) -> f64 {
        0.0
    }
    fn coordinate_rate(&self, _: CoordinateIndex) -> f64 {
        0.0
    }
}

#[derive(Debug, Clone, Copy)]
struct Expected {
    id: ElementId,
    body: BodyIndex,
    level: f64,
    steps: f64,
    enabled: bool,
}

struct Saved {
    checkpoint: Checkpoint<f64>,
    named: Vec<(String, f64)>,
    bytes: Vec<u8>,
    expected: Vec<Expected>,
}

/// Numbers below `n`, by Marsaglia's xorshift.
fn random(seed: u64) -> impl FnMut(usize) -> usize {
    let mut x = seed;
    move |n| {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        usize::try_from(x % n as u64).expect("small")
    }
}

#[test]
fn continuous_variables_follow_their_elements_through_every_call() -> Result<(), Error> {
    let casts = || {
        let mut casts = Casts::<f64, f64>::new();
        casts.add(|left: &Left, _| Ok(*left));
        casts.add(|right: &Right, _| Ok(*right));
        casts
    };
    let mut restored = [0; 4];
    for seed in 1..40 {
        let mut random = random(seed * 0x9e37_79b9);
        let mut system = ForceSystem::<f64>::new();
        let mut state = system.default_state();
        let mut all: Vec<Expected> = Vec::new();
        let mut saves: Vec<Saved> = Vec::new();
        for call in 0..300 {
            match (random(9), all.len()) {
                (0 | 1, _) => {
                    let (body, level) = (system.add_body(), f64::from(call));
                    let id = if random(2) == 0 {
                        system.add(Left(body, level))?.id()
                    } else {
                        system.add(Right(body, level))?.id()
                    };
                    system.carry_over(&mut state)?;
                    all.push(Expected { id, body, level, steps: 0.0, enabled: true });
                    saves.clear();
                }
                (2, 1..) => {
                    let gone = all.swap_remove(random(all.len()));
                    system.remove(gone.id)?;
                    if random(2) == 0 {
                        system.carry_over(&mut state)?;
                    }
                    system.remove_body(gone.body)?;
                    system.carry_over(&mut state)?;
                    saves.clear();
                }
                (3, 1..) => {
                    let i = random(all.len());
                    all[i].level = f64::from(call) * 0.5;
                    system.set_variable(&mut state, &format!("{}.level", all[i].id), all[i].level)?;
                    all[i].enabled = random(2) == 0;
                    system.set_enabled(&mut state, all[i].id, all[i].enabled)?;
                }
                (4 | 5, _) => {
                    let before = state.time();
                    let end = before + 0.001 * f64::from(call % 3 + 1);
                    system.realize_dynamics(&mut state)?;
                    system.finish_step(&mut state, &Clock(end), StepRule::LeftEndpoint)?;
                    for element in all.iter_mut().filter(|element| element.enabled) {
                        element.level += -element.level * (end - before);
                        element.steps += 1.0;
                    }
                }
                (6, _) => saves.push(Saved {
                    checkpoint: state.checkpoint(),
                    named: state.snapshot(),
                    bytes: state.to_bytes(),
                    expected: all.clone(),
                }),
                (7, _) if !saves.is_empty() => {
                    let saved = &saves[random(saves.len())];
                    let way = random(4);
                    restored[way] += 1;
                    match way {
                        0 => state.return_to(&saved.checkpoint)?,
                        1 => state.restore(&saved.named)?,
                        2 => state.restore_bytes(&saved.bytes)?,
                        _ => {
                            state.return_to(&saved.checkpoint)?;
                            state = system.cast_with(&casts())?.cast_state(&state)?;
                            state = system.cast_state(&state)?;
                        }
                    }
                    all.clone_from(&saved.expected);
                }
                (8, 1..) => {
                    let Expected { id, level, enabled, .. } = all[random(all.len())];
                    let name = format!("{id}.level");
                    system.set_variable(&mut state, &name, 1e9)?;
                    let before = (state.snapshot(), state.continuous().to_vec());
                    let rules = [StepRule::LeftEndpoint, StepRule::Trapezoid, StepRule::HeldForces];
                    if enabled {
                        let end = Clock(state.time() + 0.001);
                        assert!(system.finish_step(&mut state, &end, rules[random(3)]).is_err());
                    }
                    assert_eq!((state.snapshot(), state.continuous().to_vec()), before);
                    system.set_variable(&mut state, &name, level)?;
                }
                _ => state = state.clone(),
            }
            let names = state.continuous_names();
            let view = system.realize_dynamics(&mut state)?;
            let (forces, rates) = (view.forces().clone(), view.continuous_rates().to_vec());
            assert_eq!((names.len(), system.element_count()), (rates.len(), all.len()));
            for Expected { id, body, level, steps, enabled } in &all {
                let name = format!("{id}.level");
                let place = names.iter().position(|n| *n == name).expect("listed");
                let on = if *enabled { 1.0 } else { 0.0 };
                assert_eq!(
                    [
                        state.continuous()[place],
                        state.variable(&name)?,
                        rates[place],
                        forces.body(*body).force.x
                    ],
                    [*level, *level, -level * on, (level + steps) * on],
                    "seed {seed}, call {call}"
                );
            }
        }
    }
    assert!(restored.iter().all(|&count| count > 50), "{restored:?}");
    Ok(())
}
