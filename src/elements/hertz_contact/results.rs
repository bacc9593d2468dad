//! Results of the contact, stage by stage.

use nalgebra::{Point3, Vector3};

use crate::results;

results! {
    /// Results at Position stage.
    #[derive(Copy)]
    pub struct Position<T> {
        /// The outward normal of the surface, towards the ball, in Ground.
        pub normal_G: Vector3<T> ["1"];
        /// The contact point: half-way between the undeformed surfaces, in Ground.
        pub point_G: Point3<T> ["m"];
        /// The depth `δ`: how deep the undeformed surfaces reach into each other; negative, the gap between them.
        pub depth: T ["m"];
        /// The radius `a` of the contact; zero without one.
        pub contact_radius: T ["m"];
        /// The elastic force `f_e`.
        pub elastic_force: T ["N"];
        /// The energy stored.
        pub potential_energy: T ["J"];
    }
}

results! {
    /// Results at Velocity stage.
    #[derive(Copy)]
    pub struct Velocity<T> {
        /// The rate of the depth `v = dδ/dt`.
        pub depth_rate: T ["m/s"];
        /// The slip velocity of the ball over the surface at the contact point, in Ground.
        pub slip_G: Vector3<T> ["m/s"];
    }
}

results! {
    /// Results at Dynamics stage.
    #[derive(Copy)]
    pub struct Dynamics<T> {
        /// The force along the normal `f_n`.
        pub normal_force: T ["N"];
        /// The friction force on the ball, in Ground.
        pub friction_force_G: Vector3<T> ["N"];
        /// The pressure in the middle of the contact.
        pub peak_pressure: T ["Pa"];
        /// The power dissipated.
        pub power_dissipated: T ["W"];
    }
}
