//! The force elements, one to a file.

pub mod elastic_foundation;
pub mod linear_bushing;

pub use elastic_foundation::ElasticFoundation;
pub use linear_bushing::LinearBushing;
