//! Slow, simple oracles for the fast code, and odd meshes.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::f64::consts::PI;

use force_elements::Pose;
use force_elements::nalgebra::{Point3, Rotation3, Translation3, Vector3};
use force_elements::shapes::TriangleMesh;

/// The nearest point of a triangle by walking round its seven regions (C. Ericson, *Real-Time
/// Collision Detection*, 2005, section 5.1.5): another method than the library's.
pub fn nearest_on_triangle([a, b, c]: [Point3<f64>; 3], p: Point3<f64>) -> Point3<f64> {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let (d1, d2) = (ab.dot(&ap), ac.dot(&ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return a;
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(&bp), ac.dot(&bp));
    if d3 >= 0.0 && d4 <= d3 {
        return b;
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return a + ab * (d1 / (d1 - d3));
    }
    let cp = p - c;
    let (d5, d6) = (ab.dot(&cp), ac.dot(&cp));
    if d6 >= 0.0 && d5 <= d6 {
        return c;
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return a + ac * (d2 / (d2 - d6));
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0 {
        return b + (c - b) * ((d4 - d3) / ((d4 - d3) + (d5 - d6)));
    }
    let sum = va + vb + vc;
    a + ab * (vb / sum) + ac * (vc / sum)
}

/// The distance to the nearest of all triangles.
pub fn distance(mesh: &TriangleMesh<f64>, p: Point3<f64>) -> f64 {
    mesh.triangles().map(|t| (nearest_on_triangle(t, p) - p).norm()).fold(f64::INFINITY, f64::min)
}

/// How often the mesh winds around a point: 1 inside, 0 outside.
pub fn winding_number(mesh: &TriangleMesh<f64>, p: Point3<f64>) -> f64 {
    let solid_angle = |t: [Point3<f64>; 3]| {
        let [a, b, c] = t.map(|corner| corner - p);
        let (la, lb, lc) = (a.norm(), b.norm(), c.norm());
        let below = la * lb * lc + a.dot(&b) * lc + b.dot(&c) * la + c.dot(&a) * lb;
        2.0 * a.dot(&b.cross(&c)).atan2(below)
    };
    mesh.triangles().map(solid_angle).sum::<f64>() / (4.0 * PI)
}

/// A ball whose vertices lie by turns on it and far outside: sharp spikes and deep valleys.
pub fn star(frequency: u32) -> TriangleMesh<f64> {
    let ball = TriangleMesh::<f64>::sphere(1.0, frequency).unwrap();
    let vertices: Vec<_> = ball
        .vertices()
        .map(|v| {
            let wave = (5.0 * v.x).sin() * (4.0 * v.y).cos() + (6.0 * v.z + v.x).sin();
            v * (1.0 + 0.45 * wave)
        })
        .collect();
    TriangleMesh::closed(&vertices, ball.faces()).unwrap()
}

/// A long thin needle with a dent at its thick end: angles of a few degrees and a re-entrant corner.
pub fn needle() -> TriangleMesh<f64> {
    let mut vertices = vec![Point3::new(0.0, 0.0, 4.0), Point3::new(0.0, 0.0, 0.8)];
    for i in 0..5 {
        let (sine, cosine) = (2.0 * PI * f64::from(i) / 5.0).sin_cos();
        vertices.push(Point3::new(0.2 * cosine, 0.2 * sine, 0.0));
    }
    let mut faces = Vec::new();
    for i in 0..5 {
        let (a, b) = (2 + i, 2 + (i + 1) % 5);
        faces.push([a, b, 0]);
        faces.push([b, a, 1]);
    }
    TriangleMesh::closed(&vertices, &faces).unwrap()
}

/// A brick with a smaller brick-shaped cavity within.
pub fn hollow_brick() -> TriangleMesh<f64> {
    let outer = TriangleMesh::brick(Vector3::new(1.0, 0.8, 0.6), [4, 3, 2]).unwrap();
    let inner = TriangleMesh::brick(Vector3::new(0.6, 0.5, 0.3), [3, 2, 2]).unwrap();
    let shift = u32::try_from(outer.vertices().len()).unwrap();
    let vertices: Vec<_> = outer.vertices().chain(inner.vertices()).collect();
    let turned = inner.faces().iter().map(|&[a, b, c]| [a + shift, c + shift, b + shift]);
    let faces: Vec<_> = outer.faces().iter().copied().chain(turned).collect();
    TriangleMesh::closed(&vertices, &faces).unwrap()
}

/// Meshes smooth and sharp, convex and not, whole and hollow.
pub fn menagerie() -> Vec<(&'static str, TriangleMesh<f64>)> {
    vec![
        ("sphere", TriangleMesh::sphere(1.0, 6).unwrap()),
        ("octahedron", TriangleMesh::sphere(1.0, 1).unwrap()),
        ("brick", TriangleMesh::brick(Vector3::new(1.0, 0.7, 0.4), [5, 4, 3]).unwrap()),
        ("cylinder", TriangleMesh::cylinder(0.6, 0.9, 24, 5, 3).unwrap()),
        ("torus", TriangleMesh::torus(1.0, 0.35, 31, 17).unwrap()),
        ("star", star(9)),
        ("needle", needle()),
        ("hollow brick", hollow_brick()),
    ]
}

/// Numbers that look random and are the same everywhere (an additive sequence on each axis).
pub struct Sequence(u32);

impl Sequence {
    #[expect(clippy::new_without_default, reason = "it begins, and is not empty")]
    pub fn new() -> Self {
        Self(0)
    }

    /// A point of the cube from −1 to 1 (M. Roberts' R₃ sequence).
    pub fn next_point(&mut self) -> Point3<f64> {
        self.0 += 1;
        let ratio = 1.220_744_084_605_759_5_f64;
        Point3::from([1, 2, 3].map(|k| 2.0 * (f64::from(self.0) / ratio.powi(k)).fract() - 1.0))
    }

    /// A pose with an arbitrary rotation and a translation within a cube from −`range` to `range`.
    pub fn next_pose(&mut self, range: f64) -> Pose<f64> {
        let turn = Rotation3::new(self.next_point().coords * 3.0);
        Pose::from_parts(Translation3::from(self.next_point().coords * range), turn)
    }
}
