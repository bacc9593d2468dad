//! Meshes of bones, made from implicit functions.

use std::collections::HashMap;

use force_elements::nalgebra::{Point3, Vector3};
use force_elements::shapes::{ShapeError, TriangleMesh};

/// Like the lower end, shaft and head of a thigh bone, in metres: the shaft along z, the condyles beside each other
/// along x, bulging backwards along −y. Negative inside.
pub fn femur(p: &Point3<f64>) -> f64 {
    /// The width over which parts blend.
    const BLEND: f64 = 0.005;
    let parts = [
        capsule(p, [0.0, 0.0, 0.03], [0.0, 0.006, 0.2], 0.018, 0.0135),
        capsule(p, [0.0, 0.006, 0.2], [0.0, 0.0, 0.38], 0.0135, 0.017),
        capsule(p, [0.0, 0.0, 0.37], [0.045, 0.0, 0.41], 0.014, 0.013),
        ellipsoid(p, [0.045, 0.0, 0.41], [0.024, 0.024, 0.024]),
        ellipsoid(p, [-0.024, -0.01, 0.0], [0.018, 0.03, 0.022]),
        ellipsoid(p, [0.024, -0.01, 0.0], [0.018, 0.032, 0.022]),
    ];
    let least = parts.iter().fold(f64::INFINITY, |least, &part| least.min(part));
    least - BLEND * parts.iter().map(|part| ((least - part) / BLEND).exp()).sum::<f64>().ln()
}

/// The distance from a rod with hemispherical ends whose radius changes along it; nearly.
fn capsule(p: &Point3<f64>, from: [f64; 3], to: [f64; 3], start: f64, end: f64) -> f64 {
    let (from, to) = (Point3::from(from), Point3::from(to));
    let along = to - from;
    let u = ((p - from).dot(&along) / along.norm_squared()).clamp(0.0, 1.0);
    (p - (from + along * u)).norm() - (start + (end - start) * u * u * (3.0 - 2.0 * u))
}

/// The distance from an ellipsoid, near its surface to first order.
fn ellipsoid(p: &Point3<f64>, center: [f64; 3], radii: [f64; 3]) -> f64 {
    let (q, radii) = (p - Point3::from(center), Vector3::from(radii));
    let k0 = q.component_div(&radii).norm();
    let k1 = q.component_div(&radii.component_mul(&radii)).norm();
    if k1 > 0.0 { k0 * (k0 - 1.0) / k1 } else { -radii.min() }
}

/// The closed mesh of where a function vanishes, by marching tetrahedra over a box, with vertices on the surface.
pub fn marched(
    f: &dyn Fn(&Point3<f64>) -> f64,
    [low, high]: [Point3<f64>; 2],
    spacing: f64,
) -> Result<TriangleMesh<f64>, ShapeError> {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few hundred")]
    let counts: [u32; 3] = ((high - low) / spacing).map(|x| x.ceil() as u32).into();
    let point = |node: [u32; 3]| low + Vector3::from(node.map(f64::from)) * spacing;
    let index = |[i, j, k]: [u32; 3]| i + (counts[0] + 1) * (j + (counts[1] + 1) * k);
    let nodes = || {
        (0..=counts[2])
            .flat_map(move |k| (0..=counts[1]).flat_map(move |j| (0..=counts[0]).map(move |i| [i, j, k])))
    };
    // Never so near to a node that a face would shrink to nothing.
    let least = 1e-3 * spacing;
    let values: Vec<f64> =
        nodes().map(|node| f(&point(node))).map(|x| if x.abs() < least { least } else { x }).collect();
    let at = |node: [u32; 3]| values[index(node) as usize];

    let mut vertices = Vec::new();
    let mut faces = Vec::new();
    let mut known = HashMap::new();
    let mut crossing = |inside: [u32; 3], outside: [u32; 3]| -> u32 {
        *known.entry((index(inside), index(outside))).or_insert_with(|| {
            let (mut a, mut b) = (point(inside), point(outside));
            for _ in 0..50 {
                let middle = a + (b - a) * 0.5;
                if f(&middle) < 0.0 { a = middle } else { b = middle }
            }
            // At most as near to a node as the values were kept from zero.
            let (from, to) = (point(inside), point(outside));
            let share = ((a - from).norm() / (to - from).norm()).clamp(1e-3, 1.0 - 1e-3);
            vertices.push(from + (to - from) * share);
            u32::try_from(vertices.len() - 1).unwrap_or(u32::MAX)
        })
    };
    // Six tetrahedra around the diagonal of each cell, along the six ways from corner to corner.
    let ways = [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [2, 1, 0], [1, 0, 2]];
    let cells = nodes().filter(|node| (0..3).all(|axis| node[axis] < counts[axis]));
    for cell in cells {
        for (way, axes) in ways.iter().enumerate() {
            let mut corners = [cell; 4];
            for step in 0..3 {
                corners[step + 1] = corners[step];
                corners[step + 1][axes[step]] += 1;
            }
            // The last three ways are mirrored.
            if way >= 3 {
                corners.swap(0, 1);
            }
            let is_inside = corners.map(|corner| at(corner) < 0.0);
            let [inside, outside] =
                [true, false].map(|side| (0..4).filter(|&c| is_inside[c] == side).collect::<Vec<_>>());
            let mut cut = |a: usize, b: usize| crossing(corners[a], corners[b]);
            // The tetrahedron is right-handed; an even permutation of its corners leaves it so.
            let is_even = |order: [usize; 4]| {
                (0..4).flat_map(|i| (0..i).map(move |j| (i, j))).filter(|&(i, j)| order[j] > order[i]).count()
                    % 2
                    == 0
            };
            let mut add = |face: [u32; 3], outwards: bool| {
                faces.push(if outwards { face } else { [face[0], face[2], face[1]] });
            };
            match (&inside[..], &outside[..]) {
                (&[a], &[b, c, d]) => {
                    let face = [cut(a, b), cut(a, c), cut(a, d)];
                    add(face, is_even([a, b, c, d]));
                }
                (&[a, b, c], &[d]) => {
                    let face = [cut(a, d), cut(b, d), cut(c, d)];
                    add(face, is_even([a, b, c, d]));
                }
                (&[a, b], &[c, d]) => {
                    let [ac, ad, bd, bc] = [cut(a, c), cut(a, d), cut(b, d), cut(b, c)];
                    let outwards = is_even([a, b, c, d]);
                    add([ac, ad, bd], outwards);
                    add([ac, bd, bc], outwards);
                }
                _ => {}
            }
        }
    }
    TriangleMesh::closed(&vertices, &faces)
}

/// The mesh of the [`femur`], with edges of about this length.
pub fn femur_mesh(spacing: f64) -> Result<TriangleMesh<f64>, ShapeError> {
    marched(&femur, [Point3::new(-0.06, -0.06, -0.04), Point3::new(0.09, 0.05, 0.45)], spacing)
}
