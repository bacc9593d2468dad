//! The grid of a distance field, sampled from a mesh.

use alloc::sync::Arc;
use alloc::vec::Vec;

use nalgebra::{ComplexField, Point3, Vector3, convert, convert_unchecked};

use super::DistanceField;
use crate::shapes::{ShapeError, Solid, TriangleMesh};

/// The number of cells around the mesh's box in which the spline is that of the distance: the surface lies within one
/// cell, and a value depends on coefficients two cells away.
const MARGIN: usize = 3;

/// The number of cells in which the distance is blended into the quadratic.
const BLEND: usize = 4;

impl DistanceField {
    /// The spline of the mesh's signed distance, before its accuracy is measured.
    pub(super) fn sampled(mesh: &TriangleMesh<f64>, spacing: f64) -> Result<Self, ShapeError> {
        let (center, half_extents) = mesh.bounds().unwrap_or((Point3::origin(), Vector3::zeros()));
        let across = half_extents.map(|half| ComplexField::ceil(2.0 * half / spacing).max(1.0));
        let added: f64 = convert(2 * (MARGIN + BLEND + 2) + 1);
        let nodes = across.map(|cells| cells + added).product();
        let most = Self::MAX_NODES;
        if nodes > convert(most) {
            return Err(ShapeError::GridTooLarge { nodes, most });
        }
        // Nodes are counted from the layer around the box.
        let nodes: [usize; 3] = across.map(|cells| convert_unchecked::<f64, usize>(cells + added)).into();
        let first = center - (across + Vector3::repeat(added - 1.0)) * (0.5 * spacing);
        // How many cells outside the mesh's box a node lies, along the axis where it is farthest.
        let depth_of = |node: [usize; 3]| {
            // The box around the spline ends a cell after the blend, and the layer around it is one more.
            let outside = MARGIN + BLEND + 2;
            let beyond = |axis: usize| outside.saturating_sub(node[axis].min(nodes[axis] - 1 - node[axis]));
            beyond(0).max(beyond(1)).max(beyond(2))
        };
        let point = |node: [usize; 3]| {
            let along: [f64; 3] = node.map(convert);
            first + Vector3::from(along) * spacing
        };
        // Every node, x running fastest.
        let [nx, ny, nz] = nodes;
        let every = || (0..nz).flat_map(|k| (0..ny).flat_map(move |j| (0..nx).map(move |i| [i, j, k])));

        let mut highest = 0.0_f64;
        let distances: Vec<f64> = every()
            .map(|node| {
                let depth = depth_of(node);
                if depth > MARGIN + BLEND {
                    return 0.0;
                }
                let distance = mesh.signed_distance(&point(node));
                if depth >= MARGIN {
                    highest = highest.max(distance);
                }
                distance
            })
            .collect();

        let margin: f64 = convert(MARGIN);
        let half_near = (across * 0.5 + Vector3::repeat(margin)) * spacing;
        // Above every distance in the blend, so that the blended values rise outwards, and with a slope of one at the
        // nearest sides.
        let height = 0.5 * half_near.min();
        let mut field = Self {
            corner: first + Vector3::repeat(spacing),
            spacing,
            cells: nodes.map(|nodes| nodes - 3),
            coefficients: Arc::default(),
            center,
            weights: half_near.map(|a| height / (a * a)),
            offset: highest - height,
            near: [center - half_near, center + half_near],
            steepest: 0.0,
            accuracy: 0.0,
            least_radius: spacing,
        };

        let strides = [1, nx, nx * ny];
        // The coefficients of a quadratic are its values minus a sixth of their second differences, which are constant.
        let bend = field.weights.sum() * spacing * spacing / 3.0;
        let blend: f64 = convert(BLEND);
        field.coefficients = every()
            .enumerate()
            .map(|(index, node)| {
                let depth = depth_of(node);
                let far = || field.around(&point(node)).value - bend;
                if depth >= MARGIN + BLEND {
                    return far();
                }
                let second_difference = |stride: usize| {
                    distances[index - stride] - 2.0 * distances[index] + distances[index + stride]
                };
                let near = distances[index] - strides.map(second_difference).iter().sum::<f64>() / 6.0;
                if depth <= MARGIN {
                    return near;
                }
                let t = (convert::<usize, f64>(depth) - margin) / blend;
                near + (far() - near) * (t * t * (3.0 - 2.0 * t))
            })
            .collect();

        // A slope of the spline is an average of differences of neighbouring coefficients. Differences from the end of a
        // row to the start of the next only increase the bound.
        let steepest = strides.map(|stride| {
            let pairs = field.coefficients.iter().zip(field.coefficients.iter().skip(stride));
            pairs.fold(0.0_f64, |most, (a, b)| most.max((b - a).abs())) / spacing
        });
        field.steepest = Vector3::from(steepest).norm();
        Ok(field)
    }
}
