//! Wrapping of each shape.

mod cylinder;
mod ellipsoid;
mod height_map;
mod sphere;
mod torus;
