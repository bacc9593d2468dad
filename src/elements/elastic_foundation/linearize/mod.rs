//! Derivatives of the foundation.

mod contact;
mod friction;
mod motion;
mod variables;
