//! Command line, output, tables, pictures of curves and scenes, progress and differences of the examples.

mod arguments;
mod differences;
mod output;
pub mod picture;
mod progress;
pub mod scene;
mod table;

pub use arguments::{Argument, Arguments};
pub use differences::differences;
pub use output::write;
pub use progress::Progress;
pub use table::Table;
