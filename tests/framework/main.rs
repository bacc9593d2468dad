//! The framework: state, stages, commits, allocations, a user's own element, and what the docs cover.

mod allocation;
mod commits;
mod coverage;
mod state;
mod user_element;
