//! Claims about whole turns of bushings, and about the middle angle at ±90°.
#![allow(non_snake_case, reason = "monogram notation")]

mod memory;
mod spins;
mod turns;
