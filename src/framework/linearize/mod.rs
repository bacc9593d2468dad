//! The linearization of forces, rates and commits about a state: the derivatives of elements, and products with them.

mod between;
mod blocks;
mod derivatives;
mod differences;
mod ends;
mod linearization;
mod moved;
mod products;
mod sides;
mod variable_vector;

pub(crate) use between::Quarters;
pub use between::{Between, Slopes};
pub use blocks::{Blocks, Branch, Column, Row};
pub use ends::{End, Freedoms};
pub use linearization::{ElementLinearization, Linearization, Scope};
pub use variable_vector::VariableVector;
