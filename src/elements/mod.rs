//! The force elements, one to a file.

pub mod cable_spring;
pub mod linear_bushing;

pub use cable_spring::CableSpring;
pub use linear_bushing::LinearBushing;
