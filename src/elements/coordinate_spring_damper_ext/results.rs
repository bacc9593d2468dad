//! Results of the element, stage by stage.

use crate::results;

results! {
    /// Results at Position stage.
    #[derive(Copy)]
    pub struct Position<T> {
        /// Displacement `q`.
        pub displacement: T ["m"];
    }
}

results! {
    /// Results at Velocity stage.
    #[derive(Copy)]
    pub struct Velocity<T> {
        /// Velocity `v`.
        pub velocity: T ["m/s"];
    }
}

results! {
    /// Results at Dynamics stage.
    #[derive(Copy)]
    pub struct Dynamics<T> {
        /// The force `f`.
        pub force: T ["N"];
        /// Its friction part.
        pub friction_force: T ["N"];
        /// Its limit-stop part.
        pub contact_force: T ["N"];
        /// Generalized force on coordinate 0.
        pub generalized_force0: T ["N"];
        /// Generalized force on coordinate 1.
        pub generalized_force1: T ["N"];
        /// The energy stored.
        pub potential_energy: T ["J"];
        /// The power dissipated.
        pub power_dissipated: T ["W"];
        /// The power supplied by the drive that a velocity offset represents.
        pub power_supplied: T ["W"];
    }
}
