//! Cables: geodesics, paths over obstacles, and a body that swings on one.

mod allocation_cable;
mod arm_muscles;
mod cable_geodesics;
mod cable_paths;
mod capstan;
mod corpus;
mod finite_cylinder;
mod moment_arm;
mod places;
mod plain;
mod sides;
mod swinging_cable;
mod winch;
