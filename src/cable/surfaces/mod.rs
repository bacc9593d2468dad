//! What a cable must know of each shape that it can be wrapped around.

mod cylinder;
mod ellipsoid;
mod height_map;
mod sphere;
mod torus;
