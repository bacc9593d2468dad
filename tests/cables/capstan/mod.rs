//! Cables with capstan friction.

mod damping;
mod law;
mod ledger;
mod machines;
mod memory;
mod scene;
mod twice;
