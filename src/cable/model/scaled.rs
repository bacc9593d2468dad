//! Surfaces scaled uniformly in all directions.

use alloc::sync::Arc;

use nalgebra::{Matrix3, Point3, Vector3};

use crate::cable::geodesics::geodesic::{Geodesic, GeodesicEnd, Jacobi};
use crate::cable::geodesics::wrappable::Wrappable;
use crate::math::{Real, is_plain};

/// A surface with all lengths multiplied by a scale, about the origin of its frame.
///
/// A scaled geodesic is a geodesic of the scaled surface, so closed forms hold at every scale. Each method of
/// [`Wrappable`] is that of the surface, with lengths converted.
#[derive(Debug)]
pub(crate) struct Scaled<T: Real> {
    surface: Arc<dyn Wrappable<T>>,
    scale: T,
    /// Whether lengths need no conversion: a scale of 1 may carry a derivative if the scalar is not a plain float.
    is_to_scale: bool,
}

impl<T: Real> Clone for Scaled<T> {
    fn clone(&self) -> Self {
        Self { surface: Arc::clone(&self.surface), ..*self }
    }

    fn clone_from(&mut self, source: &Self) {
        if !Arc::ptr_eq(&self.surface, &source.surface) {
            self.surface = Arc::clone(&source.surface);
        }
        (self.scale, self.is_to_scale) = (source.scale, source.is_to_scale);
    }
}

impl<T: Real> Scaled<T> {
    /// The surface as it was made.
    pub(crate) fn new(surface: Arc<dyn Wrappable<T>>) -> Self {
        Self { surface, scale: T::one(), is_to_scale: true }
    }

    #[must_use]
    pub(crate) fn at_scale(mut self, scale: T) -> Self {
        self.set_scale(scale);
        self
    }

    pub(crate) fn set_scale(&mut self, scale: T) {
        self.scale = scale;
        self.is_to_scale = is_plain::<T>() && scale == T::one();
    }

    pub(crate) fn scale(&self) -> T {
        self.scale
    }

    /// The surface before scaling.
    pub(crate) fn unscaled(&self) -> &Arc<dyn Wrappable<T>> {
        &self.surface
    }

    #[inline]
    pub(crate) fn as_surface(&self) -> &dyn Wrappable<T> {
        if self.is_to_scale { self.surface.as_ref() } else { self }
    }

    fn shrunk(&self, p: &Point3<T>) -> Point3<T> {
        p / self.scale
    }

    fn enlarged_end(&self, end: &GeodesicEnd<T>) -> GeodesicEnd<T> {
        GeodesicEnd {
            point: end.point * self.scale,
            curvature: end.curvature / self.scale,
            torsion: end.torsion / self.scale,
            transverse_curvature: end.transverse_curvature / self.scale,
            ..*end
        }
    }
}

#[deny(clippy::missing_trait_methods, reason = "a default would not know the closed form of the surface")]
impl<T: Real> Wrappable<T> for Scaled<T> {
    fn value(&self, p: &Point3<T>) -> T {
        self.surface.value(&self.shrunk(p)) * self.scale
    }

    fn gradient(&self, p: &Point3<T>) -> Vector3<T> {
        self.surface.gradient(&self.shrunk(p))
    }

    fn hessian(&self, p: &Point3<T>) -> Matrix3<T> {
        self.surface.hessian(&self.shrunk(p)) / self.scale
    }

    fn value_and_gradient(&self, p: &Point3<T>) -> (T, Vector3<T>) {
        let (value, gradient) = self.surface.value_and_gradient(&self.shrunk(p));
        (value * self.scale, gradient)
    }

    fn gradient_and_hessian(&self, p: &Point3<T>) -> (Vector3<T>, Matrix3<T>) {
        let (gradient, hessian) = self.surface.gradient_and_hessian(&self.shrunk(p));
        (gradient, hessian / self.scale)
    }

    fn size(&self) -> T {
        self.surface.size() * self.scale
    }

    fn has_flats(&self) -> bool {
        self.surface.has_flats()
    }

    fn axis(&self) -> Option<Vector3<T>> {
        self.surface.axis()
    }

    fn is_convex(&self) -> bool {
        self.surface.is_convex()
    }

    fn may_reenter(&self, touch: &Point3<T>, to: &Point3<T>) -> bool {
        self.surface.may_reenter(&self.shrunk(touch), &self.shrunk(to))
    }

    fn may_be_hollow(&self, start: &GeodesicEnd<T>, length: T) -> bool {
        let shrunk = GeodesicEnd {
            point: self.shrunk(&start.point),
            curvature: start.curvature * self.scale,
            torsion: start.torsion * self.scale,
            transverse_curvature: start.transverse_curvature * self.scale,
            ..*start
        };
        self.surface.may_be_hollow(&shrunk, length / self.scale)
    }

    fn winding(&self, a: &Point3<T>, b: &Point3<T>) -> Option<T> {
        self.surface.winding(&self.shrunk(a), &self.shrunk(b))
    }

    fn passages(&self, a: &Point3<T>, b: &Point3<T>, closest: &Point3<T>) -> [Option<Point3<T>>; 8] {
        let passages = self.surface.passages(&self.shrunk(a), &self.shrunk(b), &self.shrunk(closest));
        passages.map(|passage| passage.map(|p| p * self.scale))
    }

    fn covers(&self, p: &Point3<T>) -> bool {
        self.surface.covers(&self.shrunk(p))
    }

    fn smooth_reach(&self, p: &Point3<T>, velocity: &Vector3<T>, acceleration: &Vector3<T>) -> T {
        let acceleration = acceleration * self.scale;
        self.surface.smooth_reach(&self.shrunk(p), velocity, &acceleration) * self.scale
    }

    fn height(&self, p: &Point3<T>) -> T {
        self.surface.height(&self.shrunk(p)) * self.scale
    }

    fn retract(&self, p: &Point3<T>) -> Point3<T> {
        self.surface.retract(&self.shrunk(p)) * self.scale
    }

    fn end(&self, p: &Point3<T>, direction: &Vector3<T>) -> GeodesicEnd<T> {
        self.enlarged_end(&self.surface.end(&self.shrunk(p), direction))
    }

    fn geodesic(
        &self,
        p: &Point3<T>,
        direction: &Vector3<T>,
        length: T,
        accuracy: T,
        most: usize,
    ) -> Geodesic<T> {
        let geodesic = self.surface.geodesic(&self.shrunk(p), direction, length / self.scale, accuracy, most);
        let Jacobi { shift, shift_rate, turn, turn_rate } = geodesic.jacobi;
        Geodesic {
            start: self.enlarged_end(&geodesic.start),
            end: self.enlarged_end(&geodesic.end),
            length: geodesic.length * self.scale,
            jacobi: Jacobi { shift, shift_rate: shift_rate / self.scale, turn: turn * self.scale, turn_rate },
            ..geodesic
        }
    }

    fn normal_curvature_integral(&self, p: &Point3<T>, direction: &Vector3<T>, length: T, accuracy: T) -> T {
        self.surface.normal_curvature_integral(&self.shrunk(p), direction, length / self.scale, accuracy)
    }

    fn turning_by_start(&self, p: &Point3<T>, direction: &Vector3<T>, length: T, accuracy: T) -> [T; 2] {
        let [by_shift, by_turn] =
            self.surface.turning_by_start(&self.shrunk(p), direction, length / self.scale, accuracy);
        [by_shift / self.scale, by_turn]
    }

    fn clearance(&self, p: &Point3<T>) -> T {
        self.surface.clearance(&self.shrunk(p)) * self.scale
    }

    fn clears(&self, a: &Point3<T>, b: &Point3<T>) -> bool {
        self.surface.clears(&self.shrunk(a), &self.shrunk(b))
    }

    fn closest_on_segment(&self, a: &Point3<T>, b: &Point3<T>) -> (Point3<T>, T) {
        let (point, height) = self.surface.closest_on_segment(&self.shrunk(a), &self.shrunk(b));
        (point * self.scale, height * self.scale)
    }

    fn type_name(&self) -> &'static str {
        self.surface.type_name()
    }
}
