//! Many worlds: the varying parts of many states of one system, visited one by one.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::framework::{Checkpoint, Error, State, threads};
use crate::math::Real;

/// Everything that varies in many states of one system: motion, variables, energy accounts.
///
/// Use it for ensembles, batches of reinforcement learning, and searches. A world needs the memory of its variables, not
/// that of a [`State`] with its results. [`visit`](Self::visit) sets, evaluates, accepts and reads all worlds in one
/// pass.
///
/// # Example: 1000 cubes, each with a force of its own
///
/// ```
/// # use force_elements::*;
/// # use force_elements::nalgebra::{Point3, Vector3};
/// # let mut system = ForceSystem::<f64>::new();
/// # let body = system.add_body();
/// # let spring = exponential_spring::Parameters::default();
/// # let (floor, station) = (Frame::ground(Pose::identity()), Station::on(body, Point3::origin()));
/// # system.add(ExponentialSpring::new(floor, station, spring)?)?;
/// let mut worlds = Worlds::new(&system.default_state(), 1000);
/// let heights: Vec<f64> = (0..1000).map(|world| 1e-4 * f64::from(world)).collect();
/// let mut forces = vec![Vector3::zeros(); 1000];
/// for step in 1..=3 {
///     worlds.visit(&heights, &mut forces, |state, height, force| {
///         state.set_time(1e-3 * f64::from(step))?;
///         state.set_pose(body, Pose::translation(0.0, 0.0, height[0]))?;
///         system.realize_dynamics(state)?;
///         system.accept_step(state)?;
///         // After the commit: for the next step.
///         force[0] = system.realize_dynamics(state)?.body_force(body).force;
///         Ok(())
///     })?;
/// }
/// assert!(forces[0].z > forces[999].z);
///
/// // Worlds 10 and 20 begin anew.
/// let start = system.default_state();
/// worlds.write(10, &start)?;
/// worlds.write(20, &start)?;
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Worlds<T: Real> {
    count: usize,
    /// A state of the system, which replaces a state that a visit has exchanged.
    spare: State<T>,
    /// Worlds that are visited by one thread, and the state in which each of them is visited. All blocks but the last
    /// have the same length.
    blocks: Vec<(Checkpoint<T>, State<T>)>,
}

/// The largest number of worlds in a block, large enough to make the memory of its state negligible.
const BLOCK: usize = 64;

impl<T: Real> Worlds<T> {
    /// A number of worlds that all begin with this state.
    pub fn new(state: &State<T>, count: usize) -> Self {
        let length = length_of_block(count);
        let lengths = (0..count).step_by(length).map(|first| length.min(count - first));
        let block = |worlds| (Checkpoint::repeat(state, worlds), state.clone());
        Self { count, spare: state.clone(), blocks: lengths.map(block).collect() }
    }

    /// The number of worlds.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are no worlds.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Replaces a world by a state.
    ///
    /// # Errors
    /// [`Error::TopologyMismatch`] if the state is of another system, or there is no such world.
    pub fn write(&mut self, world: usize, state: &State<T>) -> Result<(), Error> {
        let (block, index) = self.place(world)?;
        self.blocks[block].0.write(index, state)
    }

    /// Copies a world to a state, which drops below Instance stage.
    ///
    /// # Errors
    /// [`Error::TopologyMismatch`] if the state is of another system, or there is no such world.
    pub fn read(&self, world: usize, state: &mut State<T>) -> Result<(), Error> {
        let (block, index) = self.place(world)?;
        self.blocks[block].0.read(index, state)
    }

    fn place(&self, world: usize) -> Result<(usize, usize), Error> {
        let length = length_of_block(self.count);
        if world < self.count { Ok((world / length, world % length)) } else { Err(Error::TopologyMismatch) }
    }

    /// Calls `visit` for each world with its state, its part of `inputs` and its part of `outputs`, and keeps the state
    /// that `visit` leaves. The parts have the same length for all worlds and may be empty. With the feature `rayon` the
    /// worlds are visited on all cores; results do not depend on the number of cores.
    ///
    /// The state is below Instance stage at the beginning of a visit. To skip some worlds, pass flags among the inputs.
    ///
    /// # Errors
    /// [`Error::World`] with the error of the first world for which `visit` fails, or with [`Error::TopologyMismatch`] if
    /// `visit` leaves a state of another system; the failed world keeps its old content, and the others are still
    /// visited. [`Error::UnequalParts`], before any visit, if the inputs or outputs do not split into equal parts.
    pub fn visit<I: Sync, O: Send>(
        &mut self,
        inputs: &[I],
        outputs: &mut [O],
        visit: impl Fn(&mut State<T>, &[I], &mut [O]) -> Result<(), Error> + Sync,
    ) -> Result<(), Error> {
        let (count, length) = (self.count, length_of_block(self.count));
        let part = |items: usize| match items.checked_div(count).unwrap_or_default() {
            part if part * count == items => Ok(part),
            _ => Err(Error::UnequalParts { items, worlds: count }),
        };
        let (input, output) = (part(inputs.len())?, part(outputs.len())?);
        let spare = &self.spare;
        let visit_block =
            |(first, block, outputs): &mut (usize, &mut (Checkpoint<T>, State<T>), &mut [O])| {
                let ((copies, state), mut failed) = (&mut **block, None::<(usize, Box<Error>)>);
                for world in *first..count.min(*first + length) {
                    let inputs = &inputs[world * input..][..input];
                    let outputs = &mut outputs[(world - *first) * output..][..output];
                    let visited =
                        copies.read(world - *first, state).and_then(|()| visit(state, inputs, outputs));
                    if let Err(error) = visited.and_then(|()| copies.write(world - *first, state)) {
                        failed.get_or_insert_with(|| (world, Box::new(error)));
                        state.clone_from(spare);
                    }
                }
                failed
            };
        let mut rest = outputs;
        let blocks = self.blocks.iter_mut().zip((0..count).step_by(length)).map(|(block, first)| {
            let (outputs, others) =
                core::mem::take(&mut rest).split_at_mut(output * length.min(count - first));
            rest = others;
            (first, block, outputs)
        });
        let mut blocks: Vec<_> = blocks.collect();
        let (parts, visit) = (blocks.len(), |_, blocks: &mut [_]| blocks.first_mut().and_then(visit_block));
        let failed = threads::halve(0, &mut blocks, parts, &visit, Option::or);
        failed.map_or(Ok(()), |(index, source)| Err(Error::World { index, source }))
    }
}

/// The number of worlds in a block: small enough that all cores take part.
fn length_of_block(count: usize) -> usize {
    (count / 64).clamp(1, BLOCK)
}
