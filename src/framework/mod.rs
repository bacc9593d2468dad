//! Systems of elements, their states, and the views through which results are read.

mod casts;
mod checkpoint;
mod continuous;
pub(crate) mod element;
mod element_variables;
pub(crate) mod error;
pub(crate) mod handle;
mod kinds;
mod loops;
mod membership;
mod part;
pub(crate) mod results;
mod roster;
mod slots;
mod snapshot;
pub(crate) mod stage;
pub(crate) mod state;
pub(crate) mod system;
pub mod variables;
mod view;
mod worlds;
mod writes;

pub use casts::Casts;
pub use checkpoint::Checkpoint;
pub use continuous::StepRule;
pub use element::{AtDynamics, AtPosition, AtVelocity, ForceElement, Given};
pub use error::{ElementError, ElementName, Error, OwnError};
pub use handle::{ElementId, Handle};
pub use results::Cache;
pub use snapshot::{BinarySnapshot, Snapshot};
pub use stage::Stage;
pub use state::State;
pub use system::ForceSystem;
pub use variables::Variables;
pub use view::{DynamicsView, PositionView, VelocityView};
