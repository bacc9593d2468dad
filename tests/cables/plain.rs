//! A surface that offers its implicit function and nothing else.

use force_elements::Real;
use force_elements::cable::Wrappable;
use force_elements::nalgebra::{Matrix3, Point3, Vector3};

/// A surface of which nothing is known but its implicit function.
#[derive(Debug)]
pub(crate) struct Plain<S>(pub S);

impl<T: Real, S: Wrappable<T>> Wrappable<T> for Plain<S> {
    fn value(&self, p: &Point3<T>) -> T {
        self.0.value(p)
    }
    fn gradient(&self, p: &Point3<T>) -> Vector3<T> {
        self.0.gradient(p)
    }
    fn hessian(&self, p: &Point3<T>) -> Matrix3<T> {
        self.0.hessian(p)
    }
    fn size(&self) -> T {
        self.0.size()
    }
}
