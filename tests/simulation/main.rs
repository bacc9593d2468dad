//! The reference host: integrators, their limits and derivatives, and the ledger of energies.

mod energy_ledger;
mod explosions;
mod implicit_cost;
mod reversals;
mod runs;
mod scales;
mod simulation_derivatives;
mod simulation_limits;
mod simulation_refused_steps;
mod stable_steps;
mod stacks;
mod stiff_contacts;
mod unseen_contacts;
