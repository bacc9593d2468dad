//! What bushings claim of whole turns, and of the right angle that their middle angle must not reach.
#![allow(non_snake_case, reason = "monogram notation")]

mod memory;
mod oracle;
mod spins;
mod turns;
