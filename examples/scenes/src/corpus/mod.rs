//! A corpus of random cables in motion, wide enough to break what is claimed of them.

mod examine;
mod maker;

use core::ops::Range;

use force_elements::cable::{CablePath, ViaPoint};
use force_elements::nalgebra::{Rotation3, Translation3, Vector3};
use force_elements::{BodyIndex, Error, ForceSystem, Pose, Positions, SpatialVelocity, State, Station};

use crate::solids::Solid;
use crate::verifier::Problem;

pub use examine::{Report, When, Wrong, examine};

/// A kind of scene.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// Obstacles of all kinds beside each other, and via points.
    Ordinary,
    /// Neighbours that overlap.
    Overlapping,
    /// With hints on the surfaces, in holes and anywhere.
    Hinted,
    /// One end or both on the surface of the obstacle next to it.
    Held,
    /// Ellipsoids of up to a thousand to one, and rings as thin.
    Extreme,
    /// Surfaces with hollows and holes, anyhow turned.
    Hollow,
    /// From micrometres to thousands of kilometres, and far from the origin.
    Scaled,
    /// Symmetric in everything: ends, middles and axes in one plane or on one line.
    Symmetric,
    /// Obstacles that a straight line just touches, or just does not.
    Grazing,
    /// Obstacles listed twice or more, at one place.
    Repeated,
}

impl Family {
    pub const ALL: [Self; 10] = [
        Self::Ordinary,
        Self::Overlapping,
        Self::Hinted,
        Self::Held,
        Self::Extreme,
        Self::Hollow,
        Self::Scaled,
        Self::Symmetric,
        Self::Grazing,
        Self::Repeated,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Ordinary => "ordinary",
            Self::Overlapping => "overlapping neighbours",
            Self::Hinted => "with hints",
            Self::Held => "ends on surfaces",
            Self::Extreme => "flat and thin",
            Self::Hollow => "hollows and holes",
            Self::Scaled => "any scale, far away",
            Self::Symmetric => "exactly symmetric",
            Self::Grazing => "grazed",
            Self::Repeated => "listed twice",
        }
    }
}

/// The pose at the start, the shift, the turn, and the phase of a swing.
type Motion = (Pose<f64>, Vector3<f64>, Vector3<f64>, f64);

/// A cable among moving bodies.
#[derive(Debug)]
pub struct Case {
    /// The bodies, and no element.
    pub system: ForceSystem<f64>,
    pub path: CablePath<f64>,
    pub solids: Vec<Solid>,
    state: State<f64>,
    bodies: Vec<BodyIndex>,
    motions: Vec<Motion>,
    spans: Vec<Range<usize>>,
    scale: f64,
    is_held: bool,
}

impl Case {
    /// Pose and velocity of a body at a time of its motion.
    pub fn motion(&self, i: usize, time: f64) -> (Pose<f64>, SpatialVelocity<f64>) {
        let (base, shift, turn, phase) = &self.motions[i];
        let (wave, rate) = ((time + phase).sin() - phase.sin(), (time + phase).cos());
        let R = Rotation3::new(turn * wave) * base.rotation;
        let p = base.translation.vector + shift * wave;
        (Pose::from_parts(Translation3::from(p), R), SpatialVelocity::new(turn * rate, shift * rate))
    }

    /// Puts every body where it is at this time of its motion.
    pub fn move_to(&mut self, time: f64) -> Result<(), Error> {
        for (i, &body) in self.bodies.iter().enumerate() {
            let (X, V) = self.motion(i, time);
            self.state.set_body(body, X, V)?;
        }
        Ok(())
    }

    /// The problem where the bodies are now, for a path found without memory or with.
    pub fn problem(&self, is_cold: bool) -> Problem {
        let at = |station: Station<f64>| self.state.positions().pose(station.body) * station.p_B;
        let fixed: Vec<_> = core::iter::once(self.path.origin())
            .chain(self.path.via_points().map(ViaPoint::station))
            .chain(core::iter::once(self.path.termination()))
            .map(at)
            .collect();
        let hint = |k: usize| self.path.obstacles()[k].contact_hint().copied().filter(|_| is_cold);
        Problem {
            solids: self.solids.clone(),
            spans: fixed
                .windows(2)
                .zip(&self.spans)
                .map(|(ends, span)| ([ends[0], ends[1]], span.clone()))
                .collect(),
            hints: (0..self.solids.len()).map(hint).collect(),
            smoothness: self.path.settings().smoothness,
            scale: self.scale,
            is_held: self.is_held,
        }
    }

    /// Where the bodies are now.
    pub fn positions(&self) -> &Positions<f64> {
        self.state.positions()
    }

    /// The state of the system of bodies.
    pub fn state(&self) -> &State<f64> {
        &self.state
    }

    /// By how much lengths of one path may differ: by some hundredths of the smoothness, as far as contact points are off
    /// the surfaces, and by roundoff.
    pub(crate) fn blur(&self, length: f64) -> f64 {
        (1e-9 + 0.05 * self.path.settings().smoothness) * self.scale + 1e-13 * length
    }
}
