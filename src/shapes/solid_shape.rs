//! A solid of any shape, by value.

use alloc::sync::Arc;
use core::any::Any;
use core::ops::Deref;

use crate::math::{Casts, Real};
use crate::shapes::{
    Ellipsoid, FiniteCylinder, HalfSpace, MeshFault, ShapeError, Solid, Sphere, TriangleMesh,
};

/// A shape of a contact, by value. Meshes, and other solids such as a [`FiniteCylinder`](crate::shapes::FiniteCylinder),
/// are shared, not copied.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum SolidShape<T: Real> {
    /// A half-space.
    HalfSpace(HalfSpace),
    /// A ball.
    Sphere(Sphere<T>),
    /// An ellipsoid.
    Ellipsoid(Ellipsoid<T>),
    /// A triangle mesh.
    Mesh(Arc<TriangleMesh<T>>),
    /// A user's own solid.
    Custom(Arc<dyn Solid<T>>),
}

impl<T: Real> SolidShape<T> {
    /// A user's own solid.
    pub fn custom(shape: impl Solid<T>) -> Self {
        Self::Custom(Arc::new(shape))
    }

    /// The first fault of a mesh that encloses nothing.
    pub(crate) fn opening(&self) -> Option<MeshFault> {
        let shape: &dyn Any = &**self;
        shape.downcast_ref::<TriangleMesh<T>>().and_then(TriangleMesh::opening)
    }

    /// The same solid in another scalar. A mesh is shared.
    ///
    /// # Errors
    /// [`ShapeError::NoCast`] for a user's own solid, or the error of the shape's cast.
    pub fn cast<U: Real>(&self) -> Result<SolidShape<U>, ShapeError> {
        self.cast_with(&Casts::none().with_solids())
    }

    /// The same solid in another scalar, with casts of a user's own solids. A mesh is shared.
    ///
    /// # Errors
    /// [`ShapeError::NoCast`] for a user's own solid without a cast, or the error of the shape's cast.
    pub fn cast_with<U: Real>(&self, casts: &Casts<T, U>) -> Result<SolidShape<U>, ShapeError> {
        Ok(match self {
            Self::HalfSpace(shape) => (*shape).into(),
            Self::Sphere(shape) => shape.cast()?.into(),
            Self::Ellipsoid(shape) => shape.cast()?.into(),
            Self::Mesh(mesh) => mesh.cast()?.into(),
            // A solid of a type of this crate stays custom too: the force of a clipped bed on a solid differs from that
            // on a mesh.
            Self::Custom(shape) => {
                let any: &dyn Any = shape.as_ref();
                let known = casts.find(any);
                known.unwrap_or_else(|| Err(ShapeError::NoCast { shape: shape.type_name() }))?
            }
        })
    }
}

/// The surface of the shape.
impl<T: Real> Deref for SolidShape<T> {
    type Target = dyn Solid<T>;
    fn deref(&self) -> &Self::Target {
        match self {
            Self::HalfSpace(shape) => shape,
            Self::Sphere(shape) => shape,
            Self::Ellipsoid(shape) => shape,
            Self::Mesh(shape) => shape.as_ref(),
            Self::Custom(shape) => shape.as_ref(),
        }
    }
}

macro_rules! from_shapes {
    ($($shape:ident: $Shape:ty => $solid:expr),* $(,)?) => {
        $(impl<T: Real> From<$Shape> for SolidShape<T> {
            fn from($shape: $Shape) -> Self {
                $solid
            }
        })*
    };
}

from_shapes! {
    shape: HalfSpace => Self::HalfSpace(shape),
    shape: Sphere<T> => Self::Sphere(shape),
    shape: Ellipsoid<T> => Self::Ellipsoid(shape),
    mesh: TriangleMesh<T> => Self::Mesh(Arc::new(mesh)),
    mesh: Arc<TriangleMesh<T>> => Self::Mesh(mesh),
    shape: Arc<dyn Solid<T>> => Self::Custom(shape),
}

impl<T: Real, U: Real> Casts<T, U> {
    /// With the casts of the solids of this crate.
    pub(crate) fn with_solids(mut self) -> Self {
        self.add_solid(|shape: &HalfSpace| Ok(*shape));
        self.add_solid(|shape: &Sphere<T>| shape.cast::<U>());
        self.add_solid(|shape: &Ellipsoid<T>| shape.cast::<U>());
        self.add_solid(|shape: &FiniteCylinder<T>| shape.cast::<U>());
        self.add_solid(|shape: &TriangleMesh<T>| shape.cast::<U>());
        self
    }

    /// Adds the cast of a user's own solid.
    ///
    /// ```
    /// use force_elements::nalgebra::{Point3, Vector3};
    /// use force_elements::shapes::{Solid, SolidShape, SurfacePoint};
    /// use force_elements::{Casts, Real};
    ///
    /// /// Fills x < edge.
    /// #[derive(Debug)]
    /// struct Wall<T> { edge: T }
    ///
    /// impl<T: Real> Solid<T> for Wall<T> {
    ///     fn nearest(&self, p_S: &Point3<T>) -> SurfacePoint<T> {
    ///         let point = Point3::new(self.edge, p_S.y, p_S.z);
    ///         SurfacePoint { point, normal: Vector3::x(), signed_distance: p_S.x - self.edge }
    ///     }
    /// }
    ///
    /// let wall = SolidShape::custom(Wall { edge: 0.5_f64 });
    /// assert!(wall.cast::<f32>().is_err());
    ///
    /// let mut casts = Casts::<f64, f32>::without_elements();
    /// casts.add_solid(|wall: &Wall<f64>| Ok(Wall { edge: wall.edge.cast::<f32>() }));
    /// assert_eq!(wall.cast_with(&casts)?.signed_distance(&Point3::new(2.0, 0.0, 0.0)), 1.5);
    /// # Ok::<(), force_elements::Error>(())
    /// ```
    pub fn add_solid<S: Solid<T>, R: Solid<U>>(
        &mut self,
        cast: impl Fn(&S) -> Result<R, ShapeError> + Send + Sync + 'static,
    ) {
        self.add_from(move |shape: &S, _| cast(shape).map(SolidShape::custom));
    }
}
