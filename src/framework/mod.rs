//! Systems of elements, their states, and the views through which results are read.

mod account;
pub(crate) mod casts;
mod checkpoint;
mod composites;
mod continuous;
mod draw;
pub(crate) mod element;
pub(crate) mod element_variables;
pub(crate) mod error;
mod gaps;
pub(crate) mod handle;
mod kinds;
mod linearize;
mod loops;
mod membership;
mod part;
pub(crate) mod results;
mod slots;
mod snapshot;
mod springs;
mod stable_step;
pub(crate) mod stage;
pub(crate) mod state;
mod stiffnesses;
pub(crate) mod system;
mod threads;
pub mod variables;
mod view;
mod worlds;
mod writes;

pub use checkpoint::Checkpoint;
pub use continuous::{Progress, StepRule};
pub use draw::{Canvas, Mark, Meaning, Pen};
pub use element::{AtDynamics, AtPosition, AtVelocity, ForceElement, Given};
pub use error::{ElementError, ElementName, ElementResult, Error, OwnError};
pub use gaps::Gap;
pub use handle::{ElementId, Handle};
pub(crate) use linearize::Quarters;
pub use linearize::{
    Between, Blocks, Branch, Column, ElementLinearization, End, Freedoms, Linearization, Row, Scope, Slopes,
    VariableVector,
};
pub use results::Cache;
#[cfg(feature = "testing")]
pub(crate) use slots::Group;
pub use stable_step::StableStep;
pub use stage::Stage;
pub use state::State;
pub use stiffnesses::{StepMethod, Stiffnesses};
pub use system::ForceSystem;
pub use variables::Variables;
pub(crate) use variables::stored_variables;
pub use view::{DynamicsView, PositionView, VelocityView};
pub use worlds::Worlds;
