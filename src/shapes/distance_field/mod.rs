//! A distance field: a smooth surface around a triangle mesh.

mod grid;
mod measure;
mod sample;

use alloc::sync::Arc;
use core::fmt;

use nalgebra::{Point3, Vector3, convert};

use crate::math::{Real, check};
use crate::shapes::{ShapeError, TriangleMesh};

/// A smooth surface around a closed [`TriangleMesh`], such as a bone, for cables to wrap.
///
/// The signed distance of the mesh is sampled on a grid and approximated by a tricubic spline `f`, negative inside;
/// the surface is `f = 0`. Value, gradient and Hessian are continuous, so that contact points and lengths of cables
/// are continuous as bodies move. Edges and corners of the mesh are rounded at the scale of the grid.
///
/// # Law
///
/// With the signed distances `d` at the nodes of a grid of spacing `h` \[m\] and the second differences δ² along the
/// three axes,
///
/// ```text
/// f(x, y, z) = Σ c[i,j,k] · B(x/h − i) · B(y/h − j) · B(z/h − k),     c = d − (δx² + δy² + δz²) d / 6
/// ```
///
/// where B is the cubic B-spline. This quasi-interpolant is local, reproduces cubic polynomials, and damps values that
/// alternate from node to node, such as the facets of a mesh as fine as the grid.
///
/// Beyond three cells around the mesh the coefficients are blended, over four cells, into those of a quadratic whose
/// level sets are ellipsoids; farther away the quadratic itself is evaluated. `f` is therefore defined everywhere, twice
/// continuously differentiable, positive outside, and rises along each axis beyond the box around the mesh. It is close
/// to a distance only within the three cells.
///
/// # Accuracy
///
/// [`accuracy`](Self::accuracy) is the largest distance found between the surface and the mesh, in both directions. It is
/// measured when the field is built, at eight points per cell of the surface, at every vertex and centroid of the mesh,
/// and on its faces at half the spacing. If the mesh is a fine approximation of a surface with radii of curvature of at
/// least R, the spline deviates from that surface by about `h (h/R)³ / 6`, and the mesh itself by `e² / (6 R)` for edges
/// of length e. Lengths of cables converge to the same order, and contact points one order more slowly. At the corner of
/// a cube the surface deviates by about a quarter of the spacing.
///
/// Choose a spacing of at most a quarter of the least radius of curvature that matters, and edges no longer than the
/// spacing. Over longer edges the surface is that of the facets with rounded edges, with tiny hollows beside them.
///
/// # Refused
///
/// Refused are a mesh that is not closed; a grid of more than [`MAX_NODES`](Self::MAX_NODES); and a spacing that does not
/// resolve the mesh ([`ShapeError::GridTooCoarse`]). That is the case if the surface deviates from the mesh by more than
/// the spacing, or if the slope of `f` at either is below a fifth, as on a plate thinner than about half the spacing.
///
/// # Limits
///
/// - Memory is 8 bytes per node, shared by all copies. There are as many nodes as cells in the box around the mesh with
///   ten more at each side. Building takes one search in the mesh per node.
/// - The spline is piecewise: geodesics are integrated from cell to cell, and their cost grows as the inverse of the
///   spacing.
/// - The grid consists of plain numbers: derivatives of the mesh's vertices are lost. In single precision it is evaluated
///   in single precision.
/// - Contact of solids ([`Solid`](crate::shapes::Solid)) uses the mesh itself.
///
/// # Source
///
/// C. de Boor, G. Fix, *Spline approximation by quasiinterpolants*, J. Approx. Theory 8 (1973) 19–45. M. W. Jones,
/// J. A. Bærentzen, M. Sramek, *3D distance fields: a survey of techniques and applications*, IEEE Trans. Vis. Comput.
/// Graph. 12 (2006) 581–599.
///
/// # Example: a cable over a ball's mesh
///
/// ```
/// use force_elements::cable::Wrappable;
/// use force_elements::nalgebra::Point3;
/// use force_elements::shapes::{DistanceField, TriangleMesh};
///
/// let mesh = TriangleMesh::sphere(0.02_f64, 24)?;
/// let field = DistanceField::from_mesh(&mesh, 0.004)?;
/// assert!(field.accuracy() < 3e-5);
/// // A quarter of a great circle.
/// let quarter = 0.01 * core::f64::consts::PI;
/// let geodesic = field.geodesic(&Point3::new(0.02, 0.0, 0.0), &[0.0, 1.0, 0.0].into(), quarter, 1e-9, usize::MAX);
/// assert!((geodesic.end.point - Point3::new(0.0, 0.02, 0.0)).norm() < 1e-4);
/// # Ok::<(), force_elements::shapes::ShapeError>(())
/// ```
#[derive(Clone)]
pub struct DistanceField {
    /// The lowest corner of the box of the spline \[m\].
    corner: Point3<f64>,
    spacing: f64,
    cells: [usize; 3],
    /// The coefficients of the nodes of the box and of one layer around it; x runs fastest.
    coefficients: Arc<[f64]>,
    /// The quadratic around the box: `Σ weightᵢ · (pᵢ − centerᵢ)² + offset`.
    center: Point3<f64>,
    weights: Vector3<f64>,
    offset: f64,
    /// The box in which the spline is that of the distance, without the blend.
    near: [Point3<f64>; 2],
    /// A bound of the slope of the spline.
    pub(crate) steepest: f64,
    accuracy: f64,
    /// The least radius of curvature found on the surface, but no less than the spacing.
    pub(crate) least_radius: f64,
}

/// Leaves out the coefficients.
impl fmt::Debug for DistanceField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { corner, spacing, cells, accuracy, least_radius, .. } = self;
        f.debug_struct("DistanceField")
            .field("corner", corner)
            .field("spacing", spacing)
            .field("cells", cells)
            .field("accuracy", accuracy)
            .field("least_radius", least_radius)
            .finish_non_exhaustive()
    }
}

impl DistanceField {
    /// The largest number of nodes of a grid: 16,777,216, which take 134 MB.
    pub const MAX_NODES: usize = 1 << 24;

    /// The surface of a closed mesh, on a grid of this spacing \[m\].
    ///
    /// # Errors
    /// [`ShapeError::InvalidValue`] unless the spacing is of a [`Size`](crate::Requirement::Size) in single precision;
    /// [`ShapeError::Mesh`] if the mesh is open; [`ShapeError::GridTooLarge`] for more than
    /// [`MAX_NODES`](Self::MAX_NODES) nodes; [`ShapeError::GridTooCoarse`] if the spacing does not resolve the mesh.
    pub fn from_mesh<T: Real>(mesh: &TriangleMesh<T>, spacing: T) -> Result<Self, ShapeError> {
        check::size("distance_field.spacing", spacing.cast::<f32>())?;
        if let Some(fault) = mesh.opening() {
            return Err(ShapeError::Mesh { fault });
        }
        let mesh: TriangleMesh<f64> = mesh.cast()?;
        let mut field = Self::sampled(&mesh, spacing.to_f64())?;
        field.measure(&mesh)?;
        Ok(field)
    }

    /// The spacing of the grid \[m\].
    pub fn spacing(&self) -> f64 {
        self.spacing
    }

    /// The largest distance found between the surface and the mesh \[m\]; see [`DistanceField`].
    pub fn accuracy(&self) -> f64 {
        self.accuracy
    }

    /// The box around the surface with three cells at each side: its lowest and highest corner. Inside it the implicit
    /// function is close to the distance.
    pub fn bounds(&self) -> [Point3<f64>; 2] {
        self.near
    }

    /// The box of the spline: its lowest and highest corner.
    pub(crate) fn spline_bounds(&self) -> [Point3<f64>; 2] {
        let along: [f64; 3] = self.cells.map(convert);
        [self.corner, self.corner + Vector3::from(along) * self.spacing]
    }

    /// The position, on the line through `a` along a vector and in multiples of it, at which the surrounding quadratic is
    /// lowest.
    pub(crate) fn low_place<T: Real>(&self, a: &Point3<T>, along: &Vector3<T>) -> T {
        let weighted = self.weights.map(T::lit).component_mul(along);
        -weighted.dot(&(a - self.center.map(T::lit))) / weighted.dot(along)
    }
}
