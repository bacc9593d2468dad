//! Derivatives of the foundation.

mod commit;
mod contact;
mod friction;
mod motion;
mod variables;
