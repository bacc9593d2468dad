//! The stages of the realization of a state.

/// The stage to which a state is realized; each stage needs all earlier ones.
///
/// Writing a variable drops the state to just below the stage that depends on it; reading a
/// result needs its stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// Bodies, coordinates and elements are fixed.
    Topology,
    /// Parameters and enabled flags are known.
    Instance,
    /// Time is known.
    Time,
    /// Poses and coordinates are known.
    Position,
    /// Velocities and coordinate rates are known.
    Velocity,
    /// Forces, energies and powers are known.
    Dynamics,
}

impl Stage {
    /// The stage just below this one; `Topology` returns itself.
    #[must_use]
    pub fn previous(self) -> Self {
        match self {
            Self::Topology | Self::Instance => Self::Topology,
            Self::Time => Self::Instance,
            Self::Position => Self::Time,
            Self::Velocity => Self::Position,
            Self::Dynamics => Self::Velocity,
        }
    }
}

impl core::fmt::Display for Stage {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        core::fmt::Debug::fmt(self, f)
    }
}
