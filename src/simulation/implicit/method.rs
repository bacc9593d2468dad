//! The implicit methods, by their coefficients.

use crate::simulation::integrator::Sealed;

/// The coefficients of a method. Its first stage is the start of the step, the others are implicit with one weight,
/// and the last one is the end of the step.
///
/// Implemented by the methods of this module.
pub trait Method: Sealed {
    /// The weight of a stage's own rates, over the step.
    const WEIGHT: f64;
    /// For each implicit stage its time, as a fraction of the step, and the weights of the rates before.
    const STAGES: &'static [(f64, &'static [f64])];
    /// Weights of the rates in the error of a step; without them the error is estimated from the previous step.
    const ERROR: Option<[f64; 3]>;
}

/// The largest number of stages of a method, including the start.
pub(super) const MOST_STAGES: usize = 3;

/// The trapezoidal rule.
///
/// Of order 2, with the smallest error of all methods of that order without memory. It conserves the energy of linear
/// oscillations, including stiff ones: after an impact on something stiff, the vibration continues until a damper has
/// taken its energy.
#[derive(Debug, Clone, Copy)]
pub struct Trapezoidal;

impl Sealed for Trapezoidal {}

impl Method for Trapezoidal {
    const WEIGHT: f64 = 0.5;
    const STAGES: &'static [(f64, &'static [f64])] = &[(1.0, &[0.5])];
    const ERROR: Option<[f64; 3]> = None;
}

/// TR-BDF2: the trapezoidal rule to 0.586 of the step, the backward differentiation formula of order 2 for the rest.
///
/// Of order 2 and L-stable: oscillations that are much faster than the step vanish, and their energy with them.
/// Compared with other such methods: both parts have the same weight, so one factorisation serves both; the error is
/// estimated within the step, by a solution of order 3, so events and changes of the step do not disturb the estimate;
/// and it begins with the rates at the start, which are known.
///
/// Sources: R. E. Bank et al., *Transient simulation of silicon devices and circuits*, IEEE Transactions on Electron
/// Devices 32 (1985) 1992–2007; M. E. Hosea, L. F. Shampine, *Analysis and implementation of TR-BDF2*, Applied Numerical
/// Mathematics 20 (1996) 21–37.
#[derive(Debug, Clone, Copy)]
pub struct Bdf2;

/// √2.
const ROOT: f64 = core::f64::consts::SQRT_2;

impl Sealed for Bdf2 {}

impl Method for Bdf2 {
    const WEIGHT: f64 = 1.0 - 0.5 * ROOT;
    const STAGES: &'static [(f64, &'static [f64])] =
        &[(2.0 - ROOT, &[1.0 - 0.5 * ROOT]), (1.0, &[0.25 * ROOT, 0.25 * ROOT])];
    // The weights of the step less those of the solution of order 3.
    const ERROR: Option<[f64; 3]> = Some([(ROOT - 1.0) / 3.0, -1.0 / 3.0, (2.0 - ROOT) / 3.0]);
}
