//! Meshes of the same surface with shorter edges.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use nalgebra::ComplexField;

use crate::math::{Real, check};
use crate::shapes::mesh::topology::check_counts;
use crate::shapes::mesh::tree::number;
use crate::shapes::{ShapeError, TriangleMesh};

impl<T: Real> TriangleMesh<T> {
    /// The longest edge \[m\].
    pub(crate) fn longest_edge(&self) -> f64 {
        let [_, (_, fourth_power)] = self.plain.scales;
        ComplexField::sqrt(ComplexField::sqrt(fourth_power))
    }

    /// The longest side of the box around the mesh \[m\].
    pub(crate) fn length(&self) -> f64 {
        self.plain.half_extents.max() * 2.0
    }

    /// The same surface with no edge longer than this \[m\]. Longer edges are halved, the longest of a face first.
    ///
    /// # Errors
    /// [`ShapeError::InvalidValue`] unless the length is of a [`Size`](crate::Requirement::Size); [`ShapeError::Mesh`] for more
    /// than [`MAX_FACES`](Self::MAX_FACES) faces, or faces that are too small.
    ///
    /// ```
    /// # use force_elements::shapes::TriangleMesh;
    /// # use force_elements::nalgebra::Vector3;
    /// let cube = TriangleMesh::<f64>::brick(Vector3::repeat(0.5), [1; 3])?;
    /// assert_eq!(cube.refined(0.4)?.face_count(), 192);
    /// # Ok::<(), force_elements::shapes::ShapeError>(())
    /// ```
    pub fn refined(&self, longest_edge: T) -> Result<Self, ShapeError> {
        check::size("longest_edge", longest_edge)?;
        let limit = longest_edge * longest_edge;
        let mut vertices: Vec<_> = self.vertices().collect();
        let mut remaining = self.faces().to_vec();
        let mut faces = Vec::new();
        // Both faces at an edge halve it at the same vertex.
        let mut middles = BTreeMap::new();
        while let Some(face) = remaining.pop() {
            let squares = [0, 1, 2].map(|k| {
                let [from, to] = [face[k], face[(k + 1) % 3]].map(|corner| vertices[corner as usize]);
                (to - from).norm_squared()
            });
            // Of edges that differ only by rounding the first is taken, in every scalar; but not an edge within the
            // limit, which the face on its other side does not halve.
            let longer = |a: usize, b: usize| if squares[b] > squares[a] * T::lit(1.001) { b } else { a };
            let Some(k) = (0..3).filter(|&k| squares[k] > limit).reduce(longer) else {
                faces.push(face);
                continue;
            };
            let [a, b, c] = [0, 1, 2].map(|i| face[(k + i) % 3]);
            let middle = *middles.entry([a.min(b), a.max(b)]).or_insert_with(|| {
                let [a, b] = [a, b].map(|corner| vertices[corner as usize].coords);
                vertices.push(((a + b) * T::lit(0.5)).into());
                number(vertices.len() - 1)
            });
            remaining.extend([[a, middle, c], [middle, b, c]]);
            let count = faces.len() + remaining.len();
            check_counts(vertices.len(), count as u64).map_err(|fault| ShapeError::Mesh { fault })?;
        }
        Self::open(&vertices, &faces)
    }
}
