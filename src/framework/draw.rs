//! Drawing of elements and their forces.

use nalgebra::{Point3, Vector3};

use crate::framework::{DynamicsView, ElementId};
use crate::math::{Pose, Real, cast_pose};
use crate::mechanics::BodyIndex;

/// What a line, face, point, arrow or frame of a drawing shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Meaning {
    /// A point that touches; its value is the height above the other surface \[m\].
    Station,
    /// The point where friction holds another point, and the line between both; its value is the stretch between them
    /// \[m\].
    Anchor,
    /// A point at which a cable is fixed or guided; its value is the tension \[N\].
    Attachment,
    /// A piece of a cable; its value is the tension \[N\].
    Cable,
    /// A face or a vertex of a pressed surface; its value is the pressure \[Pa\].
    Face,
    /// A frame that an element connects, and the line between two frames; its value is the distance between both origins,
    /// or from a plane \[m\].
    Frame,
    /// A force on a body, in Ground; its value is the magnitude \[N\].
    Force(BodyIndex),
    /// A torque on a body, in Ground; its value is the magnitude \[N·m\].
    Torque(BodyIndex),
    /// An addition of a user's element.
    Other {
        /// The name of what is drawn.
        name: &'static str,
        /// The unit of its value.
        unit: &'static str,
    },
}

impl Meaning {
    /// The unit of the value.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Station | Self::Anchor | Self::Frame => "m",
            Self::Attachment | Self::Cable | Self::Force(_) => "N",
            Self::Face => "Pa",
            Self::Torque(_) => "N·m",
            Self::Other { unit, .. } => unit,
        }
    }
}

/// A line, face, point, arrow or frame of a drawing: its element, its meaning, and its value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mark {
    /// The element.
    pub element: ElementId,
    /// The meaning.
    pub meaning: Meaning,
    /// The value, in [`Meaning::unit`].
    pub value: f64,
}

/// A canvas for drawings. Everything is in Ground, in metres; only [`line`](Self::line) is required.
///
/// # Example: the lines of a bushing
///
/// ```
/// use force_elements::nalgebra::{Point3, Vector6};
/// use force_elements::{Canvas, ForceSystem, Frame, LinearBushing, Mark, Pose, linear_bushing::Parameters};
///
/// struct Lines(Vec<(Mark, Point3<f64>, Point3<f64>)>);
///
/// impl Canvas for Lines {
///     fn line(&mut self, mark: Mark, from: Point3<f64>, to: Point3<f64>) {
///         self.0.push((mark, from, to));
///     }
/// }
///
/// let mut system = ForceSystem::<f64>::new();
/// let body = system.add_body();
/// let stiff = Parameters { stiffness: Vector6::repeat(500.0), ..Parameters::default() };
/// system.add(LinearBushing::new(Frame::ground(Pose::identity()), Frame::of(body), stiff)?)?;
/// let mut state = system.default_state();
/// state.set_pose(body, Pose::translation(0.2, 0.0, 0.0))?;
///
/// let mut lines = Lines(Vec::new());
/// system.realize_dynamics(&mut state)?.draw(&mut lines);
/// for (mark, from, to) in lines.0 {
///     println!("{} {:?} {} {}: {from} {to}", mark.element, mark.meaning, mark.value, mark.meaning.unit());
/// }
/// # Ok::<(), force_elements::Error>(())
/// ```
pub trait Canvas {
    /// Draws a line.
    fn line(&mut self, mark: Mark, from: Point3<f64>, to: Point3<f64>);

    /// Draws a triangle; by default its three edges.
    fn face(&mut self, mark: Mark, corners: [Point3<f64>; 3]) {
        for i in 0..3 {
            self.line(mark, corners[i], corners[(i + 1) % 3]);
        }
    }

    /// Draws a point; by default a cross of three lines.
    fn point(&mut self, mark: Mark, at: Point3<f64>) {
        for axis in 0..3 {
            let arm = Vector3::ith(axis, 0.5 * self.size(mark));
            self.line(mark, at - arm, at + arm);
        }
    }

    /// Draws a force or torque, a vector in [`Meaning::unit`], from its point of action; by default a line with a head.
    fn arrow(&mut self, mark: Mark, from: Point3<f64>, vector: Vector3<f64>) {
        let along = vector * (self.size(mark) / vector.norm());
        let to = from + along;
        self.line(mark, from, to);
        // The axis most nearly perpendicular to the arrow gives the largest product.
        let across = along.cross(&Vector3::ith(along.iamin(), 1.0)) * 0.1;
        for side in [across, -across] {
            self.line(mark, to, to - along * 0.2 + side);
        }
    }

    /// Draws a frame; by default its three axes as lines.
    fn frame(&mut self, mark: Mark, X_GF: &Pose<f64>) {
        let origin = Point3::from(X_GF.translation.vector);
        for axis in 0..3 {
            self.line(mark, origin, X_GF * Point3::from(Vector3::ith(axis, self.size(mark))));
        }
    }

    /// The length of the lines with which points, frames and arrows are drawn by default \[m\]: 1 cm, 5 cm, and 1 mm
    /// for each newton or newton metre.
    fn size(&self, mark: Mark) -> f64 {
        match mark.meaning {
            Meaning::Force(_) | Meaning::Torque(_) => 1e-3 * mark.value,
            Meaning::Frame => 0.05,
            _ => 0.01,
        }
    }
}

/// Draws for one element, in any scalar. Points and vectors that are not finite, and forces of zero, are left out.
pub struct Pen<'a> {
    canvas: &'a mut dyn Canvas,
    element: ElementId,
}

impl core::fmt::Debug for Pen<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Pen").field("element", &self.element).finish_non_exhaustive()
    }
}

impl Pen<'_> {
    fn mark<T: Real>(&self, meaning: Meaning, value: T) -> Mark {
        Mark { element: self.element, meaning, value: value.to_f64() }
    }

    /// Draws a line between two points in Ground \[m\].
    pub fn line<T: Real>(&mut self, meaning: Meaning, value: T, from: &Point3<T>, to: &Point3<T>) {
        let [from, to] = [from, to].map(|p| p.map(Real::to_f64));
        if from.iter().chain(to.iter()).all(|x| x.is_finite()) {
            self.canvas.line(self.mark(meaning, value), from, to);
        }
    }

    /// Draws a triangle with corners in Ground \[m\].
    pub fn face<T: Real>(&mut self, meaning: Meaning, value: T, corners: &[Point3<T>; 3]) {
        let corners = corners.map(|p| p.map(Real::to_f64));
        if corners.iter().flat_map(|p| p.iter()).all(|x| x.is_finite()) {
            self.canvas.face(self.mark(meaning, value), corners);
        }
    }

    /// Draws a point in Ground \[m\].
    pub fn point<T: Real>(&mut self, meaning: Meaning, value: T, at: &Point3<T>) {
        let at = at.map(Real::to_f64);
        if at.iter().all(|x| x.is_finite()) {
            self.canvas.point(self.mark(meaning, value), at);
        }
    }

    /// Draws a frame.
    pub fn frame<T: Real>(&mut self, value: T, X_GF: &Pose<T>) {
        self.canvas.frame(self.mark(Meaning::Frame, value), &cast_pose(X_GF));
    }

    /// Draws a force \[N\] on the point of a body that is at `p_G` \[m\], both in Ground.
    pub fn force<T: Real>(&mut self, body: BodyIndex, p_G: &Point3<T>, f_G: &Vector3<T>) {
        self.arrow(Meaning::Force(body), p_G, f_G);
    }

    /// Draws a torque \[N·m\] on a body at a point in Ground \[m\].
    pub fn torque<T: Real>(&mut self, body: BodyIndex, p_G: &Point3<T>, t_G: &Vector3<T>) {
        self.arrow(Meaning::Torque(body), p_G, t_G);
    }

    fn arrow<T: Real>(&mut self, meaning: Meaning, at: &Point3<T>, vector: &Vector3<T>) {
        let (at, vector) = (at.map(Real::to_f64), vector.map(Real::to_f64));
        let value = vector.norm();
        if value > 0.0 && value.is_finite() && at.iter().all(|x| x.is_finite()) {
            self.canvas.arrow(self.mark(meaning, value), at, vector);
        }
    }
}

impl<T: Real> DynamicsView<'_, T> {
    /// Draws all elements that are enabled. Nothing is allocated.
    ///
    /// | element | lines, points, frames and arrows |
    /// |---|---|
    /// | [`ExponentialSpring`](crate::ExponentialSpring) | the plane's frame, station and anchor, the force |
    /// | [`HertzContact`](crate::HertzContact) | the rim of the contact, the force |
    /// | [`ElasticFoundation`](crate::ElasticFoundation) | pressed faces, or vertices if faces are clipped; anchors; force and torque of each contact at the center of pressure |
    /// | [`LinearBushing`](crate::LinearBushing), [`SpatialBushing`](crate::SpatialBushing), [laws between frames](crate::laws) | both frames and the line between them; forces and torques at their origins |
    /// | [laws on beds](crate::laws::OnBed) | pressed faces; the force of each spring |
    /// | [`CableSpring`](crate::CableSpring) | the path, in pieces that turn by a tenth of a radian; ends and via points; the forces on bodies |
    /// | [`CustomForce`](crate::CustomForce) | the forces on bodies |
    /// | a user's | as its [`draw`](crate::ForceElement::draw) defines |
    ///
    /// Arrows are drawn on each body on which a force acts, Ground included: the forces on one body add up to
    /// [`body_force`](Self::body_force). Forces on coordinates are not drawn, since a coordinate has no place in space.
    pub fn draw(&self, canvas: &mut dyn Canvas) {
        // The state belongs to this system.
        let _ = self.system.for_each_enabled(self.state, |id, element| {
            element.draw(&mut Pen { canvas: &mut *canvas, element: id });
        });
    }
}
