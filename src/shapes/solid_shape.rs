//! A solid of any shape, by value.

use alloc::sync::Arc;
use core::any::Any;
use core::ops::Deref;

use crate::math::{Casts, Real};
use crate::shapes::{Ellipsoid, HalfSpace, MeshFault, ShapeError, Solid, Sphere, TriangleMesh};

/// A shape that contacts are made with, by value. Meshes, and other solids such as a
/// [`FiniteCylinder`](crate::shapes::FiniteCylinder), are shared, not copied.
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

    /// The first fault by which it encloses nothing, if it is a mesh.
    pub(crate) fn opening(&self) -> Option<MeshFault> {
        match self {
            Self::Mesh(mesh) => mesh.opening(),
            Self::Custom(shape) => {
                let shape: &dyn Any = shape.as_ref();
                shape.downcast_ref::<TriangleMesh<T>>().and_then(TriangleMesh::opening)
            }
            Self::HalfSpace(_) | Self::Sphere(_) | Self::Ellipsoid(_) => None,
        }
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
            Self::Custom(shape) => casts.cast_solid(shape.as_ref())?,
        })
    }
}

/// Its surface, whatever the shape.
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
