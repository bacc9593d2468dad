//! Cables with capstan friction.

mod law;
mod ledger;
mod machines;
mod memory;
mod scene;
mod twice;
