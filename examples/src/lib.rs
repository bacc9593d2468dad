//! Command line, output, tables, pictures, progress and differences of the examples.

mod arguments;
mod differences;
mod output;
pub mod picture;
mod progress;
mod table;

pub use arguments::{Argument, Arguments};
pub use differences::differences;
pub use output::write;
pub use progress::Progress;
pub use table::Table;
