//! The framework: state, stages of variables, commits, allocations, a user's own element, and what the docs cover.

mod allocation;
mod casts;
mod commits;
mod copies;
mod coverage;
mod difference_scales;
mod drawing;
mod joint_coordinates;
mod ledger;
mod linearization;
mod linearized_variables;
mod membership;
mod muscle;
mod odd_elements;
mod random_calls;
mod refused_derivatives;
mod resistance;
mod rollout;
mod stages;
mod state;
mod threads;
mod user_element;
