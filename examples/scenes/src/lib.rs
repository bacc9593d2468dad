//! Scenes and conformance cases that tests and examples share.
#![allow(missing_docs, reason = "its users are the tests and examples of this repository")]
#![allow(missing_debug_implementations, reason = "its users are the tests and examples of this repository")]
#![allow(clippy::missing_errors_doc, reason = "its users are the tests and examples of this repository")]
#![allow(clippy::missing_panics_doc, reason = "its users are the tests and examples of this repository")]

pub mod absurd;
mod arc;
pub mod arm;
pub mod between_stops;
pub mod block;
pub mod bones;
pub mod bushing_chain;
pub mod cables;
pub mod conformance;
pub mod corpus;
pub mod creep;
pub mod gimbal;
pub mod humps;
pub mod implicit;
pub mod kilograms;
pub mod linearized;
pub mod machine;
pub mod meshes;
pub mod mounted;
pub mod pinch;
mod quadrature;
pub mod race;
pub mod rollout;
pub mod runs;
pub mod solids;
pub mod spinning;
mod string;
pub mod swinging_cable;
pub mod taut;
pub mod tension;
pub mod throw;
pub mod tosses;
pub mod turning;
pub mod verifier;

/// How many of so many random scenes a test draws: a tenth, or all where the environment variable `AT_LENGTH` is set.
pub fn seeds(all: u64) -> u64 {
    if is_at_length() { all } else { all.div_ceil(10) }
}

/// Tells of each case in turn whether a test runs it: the first of every so many, or all at length.
pub fn one_in(count: u32) -> impl FnMut() -> bool {
    let mut cases = (0..if is_at_length() { 1 } else { count }).cycle();
    move || cases.next() == Some(0)
}

/// Whether tests draw all of their random scenes.
pub fn is_at_length() -> bool {
    std::env::var_os("AT_LENGTH").is_some()
}
