//! Casts of the elements of this crate to another scalar.

use crate::elements::{
    CableSpring, CoordinateSpringDamperExt, CustomForce, ElasticFoundation, ExponentialSpring, HertzContact,
    LinearBushing, SpatialBushing,
};
use crate::framework::{ElementError, Error, ForceElement, ForceSystem};
use crate::math::{Casts, Real};

impl<T: Real, U: Real> Casts<T, U> {
    /// The casts of the elements, shapes and curves of this crate.
    pub fn new() -> Self {
        let mut casts = Self::without_elements();
        casts.add(|element: &LinearBushing<T>, _| Ok(element.cast::<U>()));
        casts.add(|element: &SpatialBushing<T>, _| element.cast::<U>());
        casts.add(|element: &ExponentialSpring<T>, _| Ok(element.cast::<U>()));
        casts.add(|element: &CoordinateSpringDamperExt<T>, _| Ok(element.cast::<U>()));
        casts.add(|element: &ElasticFoundation<T>, casts| element.cast_with(casts));
        casts.add(|element: &HertzContact<T>, _| element.cast::<U>());
        casts.add(|element: &CableSpring<T>, casts| element.cast_with(casts));
        casts.add(|_: &CustomForce<T>, _| {
            let bound = Error::of_new(CustomForce::<T>::KIND, ElementError::BoundToScalar);
            Err::<CustomForce<U>, _>(bound)
        });
        casts
    }

    /// The casts of shapes and curves alone. To cast few types of elements, add only those: the others are then not
    /// compiled in the other scalar.
    pub fn without_elements() -> Self {
        Self::none().with_solids().with_paths()
    }
}

impl<T: Real, U: Real> Default for Casts<T, U> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Real> ForceSystem<T> {
    /// The same system in another scalar, if all its elements and shapes belong to this crate; see
    /// [`cast_with`](Self::cast_with).
    ///
    /// # Errors
    /// As [`cast_with`](Self::cast_with).
    ///
    /// # Example: the stiffness of a mount by a derivative
    ///
    /// ```
    /// use force_elements::linear_bushing::Parameters;
    /// use force_elements::nalgebra::Vector6;
    /// use force_elements::{ForceSystem, Frame, LinearBushing, Pose};
    /// use num_dual::Dual64;
    ///
    /// let mut system = ForceSystem::<f64>::new();
    /// let body = system.add_body();
    /// let parameters = Parameters { stiffness: Vector6::repeat(800.0), ..Parameters::default() };
    /// let mount = system.add(LinearBushing::new(Frame::ground(Pose::identity()), Frame::of(body), parameters)?)?;
    /// let mut state = system.default_state();
    /// state.set_pose(body, Pose::translation(0.01, 0.0, 0.0))?;
    ///
    /// let in_duals = system.cast::<Dual64>()?;
    /// let mut moving = in_duals.cast_state(&state)?;
    /// let mut pose = *moving.positions().pose(body);
    /// pose.translation.x.eps = 1.0;
    /// moving.set_pose(body, pose)?;
    /// let dynamics = in_duals.realize_dynamics(&mut moving)?;
    /// assert_eq!(dynamics.body_force(body).force.x.eps, -800.0);
    /// assert_eq!(dynamics.of(mount.cast::<LinearBushing<Dual64>>()).position.q[3].re, 0.01);
    /// # Ok::<(), force_elements::Error>(())
    /// ```
    pub fn cast<U: Real>(&self) -> Result<ForceSystem<U>, Error> {
        self.cast_with(&Casts::new())
    }
}
