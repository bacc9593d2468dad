//! Cables: geodesics, paths over obstacles, and a body that swings on one.

mod allocation_cable;
mod cable_geodesics;
mod cable_paths;
mod distance_fields;
mod plain;
mod swinging_cable;
