//! Command line, output, tables, pictures and progress of the examples.

mod arguments;
mod output;
pub mod picture;
mod progress;
mod table;

pub use arguments::{Argument, Arguments};
pub use output::write;
pub use progress::Progress;
pub use table::Table;
