//! Two scenes for a page, with functions for JavaScript: numbers in, and marks to draw out.
//!
//! A mark is six numbers in a buffer: its kind, its value, and four coordinates in the plane of the picture \[m\].

mod cable;
mod slope;

use std::cell::RefCell;

use force_elements::nalgebra::{Point3, Vector3};
use force_elements::{Canvas, Error, Mark, Meaning, Pose};

use cable::Cable;
use slope::Slope;

/// A buffer of marks in the plane of the picture.
#[derive(Default)]
struct Buffer {
    marks: Vec<f32>,
}

impl Buffer {
    #[expect(clippy::cast_possible_truncation, reason = "pixels")]
    fn push(&mut self, mark: Mark, from: Point3<f64>, to: Point3<f64>, kind: Kind) {
        // Both scenes are seen along y.
        let numbers = [f64::from(kind as u8), mark.value, from.x, from.z, to.x, to.z];
        self.marks.extend(numbers.map(|number| number as f32));
    }
}

/// What a mark is drawn as.
#[derive(Clone, Copy)]
enum Kind {
    Cable,
    Attachment,
    Station,
    Anchor,
    AnchorLine,
    Force,
}

impl Canvas for Buffer {
    fn line(&mut self, mark: Mark, from: Point3<f64>, to: Point3<f64>) {
        match mark.meaning {
            Meaning::Cable => self.push(mark, from, to, Kind::Cable),
            Meaning::Anchor => self.push(mark, from, to, Kind::AnchorLine),
            _ => {}
        }
    }

    fn point(&mut self, mark: Mark, at: Point3<f64>) {
        match mark.meaning {
            Meaning::Attachment => self.push(mark, at, at, Kind::Attachment),
            Meaning::Station => self.push(mark, at, at, Kind::Station),
            Meaning::Anchor => self.push(mark, at, at, Kind::Anchor),
            _ => {}
        }
    }

    fn arrow(&mut self, mark: Mark, from: Point3<f64>, vector: Vector3<f64>) {
        // Forces on Ground are the opposite of those on bodies.
        if matches!(mark.meaning, Meaning::Force(body) if body != force_elements::BodyIndex::GROUND) {
            self.push(mark, from, from + vector, Kind::Force);
        }
    }

    fn frame(&mut self, _: Mark, _: &Pose<f64>) {}
}

/// Both scenes and the marks of the one drawn last.
struct Page {
    cable: Cable,
    slope: Slope,
    drawn: Buffer,
}

thread_local! {
    static PAGE: RefCell<Option<Page>> = const { RefCell::new(None) };
}

/// Calls `of` with the page, which is made at the first call; NaN if it cannot be made or evaluated.
fn with_page(of: impl FnOnce(&mut Page) -> Result<f64, Error>) -> f64 {
    PAGE.with_borrow_mut(|page| {
        if page.is_none() {
            let made = || {
                Ok::<_, Error>(Page { cable: Cable::new()?, slope: Slope::new()?, drawn: Buffer::default() })
            };
            *page = made().ok();
        }
        page.as_mut().map_or(f64::NAN, |page| of(page).unwrap_or(f64::NAN))
    })
}

/// Moves the end of the cable to a point, and draws it; returns the tension \[N\].
#[unsafe(no_mangle)]
pub extern "C" fn drag_cable(x: f64, z: f64) -> f64 {
    with_page(|page| {
        page.drawn.marks.clear();
        page.cable.drag(x, z, &mut page.drawn)
    })
}

/// The moment arm of the cable about the joint of the arm \[m\].
#[unsafe(no_mangle)]
pub extern "C" fn moment_arm() -> f64 {
    with_page(|page| Ok(page.cable.moment_arm))
}

/// The length of the cable \[m\].
#[unsafe(no_mangle)]
pub extern "C" fn cable_length() -> f64 {
    with_page(|page| Ok(page.cable.length))
}

/// Advances the block by this time \[s\] under a push up the slope \[N\], and draws it; returns how far up it is \[m\].
#[unsafe(no_mangle)]
pub extern "C" fn push_block(push: f64, duration: f64) -> f64 {
    with_page(|page| {
        page.drawn.marks.clear();
        page.slope.advance(push, duration, &mut page.drawn)
    })
}

/// The number of the block's two visible corners that slip.
#[unsafe(no_mangle)]
pub extern "C" fn slipping() -> f64 {
    with_page(|page| Ok(page.slope.slipping))
}

/// A number of the block's pose: x, z \[m\] and its angle \[rad\].
#[unsafe(no_mangle)]
pub extern "C" fn block_pose(which: u32) -> f64 {
    with_page(|page| Ok(page.slope.pose[which.min(2) as usize]))
}

/// Where the marks drawn last are.
#[unsafe(no_mangle)]
pub extern "C" fn marks() -> *const f32 {
    PAGE.with_borrow(|page| page.as_ref().map_or(std::ptr::null(), |page| page.drawn.marks.as_ptr()))
}

/// How many numbers they are.
#[unsafe(no_mangle)]
pub extern "C" fn mark_numbers() -> usize {
    PAGE.with_borrow(|page| page.as_ref().map_or(0, |page| page.drawn.marks.len()))
}
