//! The force elements, one to a file or folder.

pub mod bushing;
pub mod cable_spring;
mod casts;
mod contact_design;
mod contact_law;
pub mod coordinate_spring_damper_ext;
pub mod custom_force;
pub mod elastic_foundation;
mod errors;
pub mod exponential_spring;
mod frames;
pub mod hertz_contact;
pub mod laws;
pub mod linear_bushing;
mod meshes;
mod sides;
pub mod spatial_bushing;

/// The angle \[rad\] by which bodies may turn in one step if an element counts turns. Beyond half a turn the direction is
/// unknown.
const LARGEST_TURN: f64 = 2.0;

pub use cable_spring::CableSpring;
pub use contact_design::ContactDesign;
pub use coordinate_spring_damper_ext::CoordinateSpringDamperExt;
pub use custom_force::CustomForce;
pub use elastic_foundation::ElasticFoundation;
pub use errors::Refusal;
pub use exponential_spring::ExponentialSpring;
pub use hertz_contact::HertzContact;
pub use linear_bushing::LinearBushing;
pub use spatial_bushing::SpatialBushing;
