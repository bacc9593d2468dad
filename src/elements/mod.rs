//! The force elements, one to a file.

pub mod linear_bushing;

pub use linear_bushing::LinearBushing;
