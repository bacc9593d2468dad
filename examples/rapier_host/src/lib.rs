//! Scenes of free bodies and force elements that run in rapier and in the reference host.
#![allow(missing_docs, reason = "its users are the example and the test beside it")]
#![allow(missing_debug_implementations, reason = "its users are the example and the test beside it")]
#![allow(clippy::missing_errors_doc, reason = "its users are the example and the test beside it")]
#![allow(clippy::missing_panics_doc, reason = "its users are the example and the test beside it")]

mod glue;
mod host;
mod scene;
pub mod scenes;

pub use glue::RapierHost;
pub use host::{Host, Steps};
pub use scene::{Energies, Sample, Scene, closing_error};
