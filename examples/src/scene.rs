//! Pictures of scenes: the shapes of a host's bodies and what the elements draw, painted from far to near.

use core::f64::consts::TAU;
use std::error::Error;

use force_elements::nalgebra::{Point3, Vector3};
use force_elements::{Canvas, DynamicsView, Mark, Pose};
use plotters::coord::CoordTranslate;
use plotters::prelude::*;

/// A flat piece of a scene.
#[derive(Debug)]
struct Piece {
    depth: f64,
    corners: Vec<(f64, f64)>,
    color: RGBAColor,
    /// Of a line \[pixels\]; a face has none.
    width: Option<u32>,
}

/// A scene, seen from far away.
#[derive(Debug)]
pub struct Scene {
    right: Vector3<f64>,
    up: Vector3<f64>,
    toward_eye: Vector3<f64>,
    light: Vector3<f64>,
    pieces: Vec<Piece>,
}

/// The color and width \[pixels\] of what an element draws, if it is shown.
pub type Style = Option<(RGBAColor, u32)>;

/// What elements draw into a scene, and by how much it is nearer to the eye than it is \[m\].
struct Strokes<'a> {
    scene: &'a mut Scene,
    style: &'a dyn Fn(Mark) -> Style,
    ahead: f64,
}

impl Scene {
    /// A scene that is seen from this direction, with this one up the picture and the light from a third.
    pub fn new(toward_eye: Vector3<f64>, upwards: Vector3<f64>, light: Vector3<f64>) -> Self {
        let toward_eye = toward_eye.normalize();
        let right = upwards.cross(&toward_eye).normalize();
        let (up, light) = (toward_eye.cross(&right), light.normalize());
        Self { right, up, toward_eye, light, pieces: Vec::new() }
    }

    /// The place of a point in the picture: to the right, and up \[m\].
    pub fn see(&self, p: &Point3<f64>) -> (f64, f64) {
        (p.coords.dot(&self.right), p.coords.dot(&self.up))
    }

    /// Adds a face with this outward normal, if it is turned towards the eye.
    pub fn add_face(
        &mut self,
        corners: &[Point3<f64>],
        normal: &Vector3<f64>,
        color: RGBColor,
        opacity: f64,
    ) {
        if normal.dot(&self.toward_eye) > 0.0 {
            let color = shaded(color, 0.65 + 0.35 * normal.normalize().dot(&self.light).max(-0.6));
            self.add_polygon(corners, color.mix(opacity), 0.0);
        }
    }

    fn add_polygon(&mut self, corners: &[Point3<f64>], color: RGBAColor, ahead: f64) {
        let depths = corners.iter().map(|p| p.coords.dot(&self.toward_eye));
        let depth = depths.sum::<f64>() / corners.iter().map(|_| 1.0).sum::<f64>() + ahead;
        let corners = corners.iter().map(|p| self.see(p)).collect();
        self.pieces.push(Piece { depth, corners, color, width: None });
    }

    /// Adds a line that is by so much nearer to the eye than it is \[m\], in pieces short enough to be sorted.
    pub fn add_line(&mut self, line: &[Point3<f64>], color: RGBAColor, width: u32, ahead: f64) {
        for pair in line.windows(2) {
            let parts = ((pair[1] - pair[0]).norm() / 0.05).ceil().max(1.0);
            let mut part = 0.0;
            while part < parts {
                let ends = [part / parts, (part + 1.0) / parts].map(|u| pair[0].lerp(&pair[1], u));
                let depth = ends[0].coords.dot(&self.toward_eye) + ahead;
                let corners = ends.iter().map(|p| self.see(p)).collect();
                self.pieces.push(Piece { depth, corners, color, width: Some(width) });
                part += 1.0;
            }
        }
    }

    /// Adds a surface given by two parameters in [0, 1], as so many patches each way.
    pub fn add_surface(
        &mut self,
        X_GS: &Pose<f64>,
        color: RGBColor,
        parts: [u32; 2],
        at: impl Fn(f64, f64) -> Vector3<f64>,
    ) {
        let place = |i: u32, j: u32| {
            X_GS * Point3::from(at(f64::from(i) / f64::from(parts[0]), f64::from(j) / f64::from(parts[1])))
        };
        for i in 0..parts[0] {
            for j in 0..parts[1] {
                let corners = [place(i, j), place(i + 1, j), place(i + 1, j + 1), place(i, j + 1)];
                let normal = (corners[2] - corners[0]).cross(&(corners[3] - corners[1]));
                self.add_face(&corners, &normal, color, 1.0);
            }
        }
    }

    /// Adds a cylinder about z with ends, of this radius and half length \[m\].
    pub fn add_column(&mut self, X_GS: &Pose<f64>, color: RGBColor, [radius, half]: [f64; 2]) {
        let around = |u: f64, r: f64, z: f64| {
            let (sine, cosine) = (TAU * u).sin_cos();
            Vector3::new(r * cosine, r * sine, z)
        };
        self.add_surface(X_GS, color, [72, 12], |u, v| around(u, radius, half * (2.0 * v - 1.0)));
        self.add_surface(X_GS, color, [72, 1], |u, v| around(u, radius * (1.0 - v), half));
        self.add_surface(X_GS, color, [72, 1], |u, v| around(u, radius * v, -half));
    }

    /// Adds a box with these halves of its sides \[m\].
    pub fn add_box(&mut self, X_GB: &Pose<f64>, half_sides: [f64; 3], color: RGBColor, opacity: f64) {
        for axis in 0..3 {
            for side in [-1.0, 1.0] {
                let corner = |u: f64, v: f64| {
                    let mut p = Vector3::zeros();
                    (p[axis], p[(axis + 1) % 3], p[(axis + 2) % 3]) = (side, u, v);
                    X_GB * Point3::from(p.component_mul(&Vector3::from(half_sides)))
                };
                let corners = [corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
                self.add_face(&corners, &(X_GB.rotation * Vector3::ith(axis, side)), color, opacity);
            }
        }
    }

    /// Adds what the elements draw in a style that depends on what it means, by so much nearer to the eye than it is \[m\]: it
    /// lies on surfaces.
    pub fn add_elements(
        &mut self,
        dynamics: &DynamicsView<'_, f64>,
        style: &dyn Fn(Mark) -> Style,
        ahead: f64,
    ) {
        dynamics.draw(&mut Strokes { scene: self, style, ahead });
    }

    /// Paints the scene onto an area whose coordinates are those of [`see`](Self::see).
    ///
    /// # Errors
    /// If the area cannot be drawn on.
    pub fn paint<C: CoordTranslate<From = (f64, f64)>>(
        &mut self,
        area: &DrawingArea<SVGBackend<'_>, C>,
    ) -> Result<(), Box<dyn Error>> {
        self.pieces.sort_by(|a, b| a.depth.total_cmp(&b.depth));
        for Piece { corners, color, width, .. } in &self.pieces {
            if let Some(width) = width {
                area.draw(&PathElement::new(corners.clone(), color.stroke_width(*width)))?;
            } else {
                area.draw(&Polygon::new(corners.clone(), color.filled()))?;
                // An edge of its own color, so that no seams show.
                let outline: Vec<_> = corners.iter().chain(corners.first()).copied().collect();
                area.draw(&PathElement::new(outline, color.stroke_width(1)))?;
            }
        }
        Ok(())
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to a byte")]
fn shaded(RGBColor(r, g, b): RGBColor, shade: f64) -> RGBColor {
    let dim = |x: u8| (f64::from(x) * shade).clamp(0.0, 255.0) as u8;
    RGBColor(dim(r), dim(g), dim(b))
}

impl Canvas for Strokes<'_> {
    fn line(&mut self, mark: Mark, from: Point3<f64>, to: Point3<f64>) {
        if let Some((color, width)) = (self.style)(mark) {
            self.scene.add_line(&[from, to], color, width, self.ahead);
        }
    }

    fn face(&mut self, mark: Mark, corners: [Point3<f64>; 3]) {
        if let Some((color, _)) = (self.style)(mark) {
            self.scene.add_polygon(&corners, color, self.ahead);
        }
    }
}
