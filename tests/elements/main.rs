//! The elements: their laws, their claims, and the numbers of the programs they follow.

mod block;
mod bushing_chain;
mod bushing_turns;
mod contact_design;
mod coordinate_friction;
mod coordinate_load_and_stops;
mod coordinate_user_law;
mod custom_force;
mod element_contract;
mod friction_claims;
mod friction_trajectories;
mod friction_wild_inputs;
mod golden;
mod linearized_columns;
mod linearized_kinks;
mod linearized_scopes;
mod located_stops;
mod matrix_of_runs;
mod overflow;
mod own_bed;
mod own_laws;
mod reported_stiffness;
mod sledge_on_a_slope;
mod spatial_bushing;
mod static_friction;
#[cfg(feature = "serde")]
mod values_that_are_read;
