//! Derivatives of the foundation.

mod branches;
mod commit;
mod contact;
mod friction;
mod motion;
mod variables;
