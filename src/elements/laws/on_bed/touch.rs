//! The motion of one spring of a bed, and its force.

use nalgebra::Vector3;

use crate::elements::laws::{LawMotion, length};
use crate::math::{Number, Real, dot};

// Numbers that laws take, lifted like variables but not stored.
crate::variables! { @struct [PartialEq]
    /// Position and motion of the base B of a displaced spring, in frame F of the other surface.
    #[derive(Copy, Lift)]
    pub struct Touch<T> {
        /// Time \[s\].
        pub time: T;
        /// The area of the face \[m²\].
        pub area: T;
        /// The depth of the base inside the other surface \[m\], greater than zero.
        pub depth: T;
        /// The rate of change of the depth \[m/s\].
        pub depth_rate: T;
        /// The position of the base in F \[m\].
        pub p_FB: Vector3<T>;
        /// The velocity of the base along the surface, in F \[m/s\].
        pub slip_F: Vector3<T>;
        /// The other surface's outward unit normal at the point nearest to the base, in F.
        pub n_F: Vector3<T>;
    }
}

impl<T: Real> LawMotion<T> for Touch<T> {
    type Force<S: Number<Scalar = T>> = Push<S>;
}

impl<S: Number> Touch<S> {
    /// The part of a vector along the surface.
    #[must_use]
    pub fn along(&self, v_F: Vector3<S>) -> Vector3<S> {
        let across = dot(&self.n_F, &v_F);
        v_F - self.n_F.map(|n| n * across)
    }

    /// The length of a vector; at zero it has no derivatives.
    #[must_use]
    pub fn norm(&self, v_F: Vector3<S>) -> S {
        length(&v_F)
    }
}

/// The force of a spring of a bed, with energy and powers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Push<S> {
    /// The force on the base, in F \[N\]. The other surface gets the opposite at the same point.
    pub force: Vector3<S>,
    /// The energy stored \[J\].
    pub potential_energy: S,
    /// The power dissipated \[W\], as far as it is known instantaneously.
    pub power_dissipated: S,
    /// The power that a drive within the law supplies \[W\].
    pub power_supplied: S,
}

impl<S: Number> Push<S> {
    /// No force, and no energy.
    pub fn zero() -> Self {
        let none = S::zero();
        Self {
            force: Vector3::from([none; 3]),
            potential_energy: none,
            power_dissipated: none,
            power_supplied: none,
        }
    }
}
