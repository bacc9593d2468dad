//! Contact: surfaces, meshes and their queries, and the foundation that uses them.

mod anchored_friction;
mod clipped_faces;
mod contact_limits;
mod contact_mesh;
mod contact_scalars;
mod dropped_brick;
mod elastic_foundation;
mod hertz;
#[cfg(feature = "mesh-files")]
mod mesh_files;
mod meshes_on_meshes;
mod passing;
mod restitution;
mod tosses;
