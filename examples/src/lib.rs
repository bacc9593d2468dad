//! Command line, output, tables and progress of the examples.

mod arguments;
mod output;
mod progress;
mod table;

pub use arguments::{Argument, Arguments};
pub use output::write;
pub use progress::Progress;
pub use table::Table;
