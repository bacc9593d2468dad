//! Bodies that stop, tilt, drop, topple, spin, ride, stick and hang over a whole run, under every way of stepping, against
//! formulas that know nothing of the elements.

mod boxes;
mod machines;
mod rig;
mod watch;

use std::fmt;

use force_elements::simulation::SimulationError;
use force_elements::{Error, InvalidValue};

use boxes::Contact;
pub use boxes::with_default_springs;

const GRAVITY: f64 = 9.81;
const MU_STATIC: f64 = 0.7;
const MU_KINETIC: f64 = 0.5;
/// So heavy that nothing pushes it, over what it carries.
const HEAVY: f64 = 1e12;

/// How a run is stepped.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Method {
    /// [`SemiImplicitEuler`] with this step \[s\].
    Euler(f64),
    /// The classical method of order four over the public interface, as a host would drive it, with this step \[s\].
    RungeKutta(f64),
    /// [`DormandPrince`] of this accuracy.
    DormandPrince(f64),
    /// [`Implicit::trapezoidal`] with this step \[s\].
    Trapezoidal(f64),
    /// [`Implicit::tr_bdf2`] with this step \[s\].
    TrBdf2(f64),
    /// [`Implicit::tr_bdf2`] of this accuracy.
    TrBdf2To(f64),
}

impl Method {
    pub const ALL: [Self; 11] = [
        Self::Euler(1.0 / 60.0),
        Self::Euler(1.0 / 240.0),
        Self::Euler(1e-3),
        Self::Euler(1e-4),
        Self::RungeKutta(1e-3),
        Self::DormandPrince(1e-4),
        Self::DormandPrince(1e-6),
        Self::DormandPrince(1e-8),
        Self::Trapezoidal(1e-3),
        Self::TrBdf2(1e-3),
        Self::TrBdf2To(1e-6),
    ];

    /// The step for which contacts are designed \[s\]; of error control, a millisecond.
    pub fn design_step(self) -> f64 {
        match self {
            Self::Euler(step) | Self::RungeKutta(step) | Self::Trapezoidal(step) | Self::TrBdf2(step) => step,
            Self::DormandPrince(_) | Self::TrBdf2To(_) => 1e-3,
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let step = |f: &mut fmt::Formatter<'_>, name: &str, step: f64| {
            if step > 2e-3 {
                write!(f, "{name} 1/{:.0} s", 1.0 / step)
            } else {
                write!(f, "{name} {} ms", step * 1e3)
            }
        };
        match *self {
            Self::Euler(h) => step(f, "Euler", h),
            Self::RungeKutta(h) => step(f, "RK4", h),
            Self::DormandPrince(accuracy) => write!(f, "DP5 {accuracy:.0e}"),
            Self::Trapezoidal(h) => step(f, "trapezoidal", h),
            Self::TrBdf2(h) => step(f, "TR-BDF2", h),
            Self::TrBdf2To(accuracy) => write!(f, "TR-BDF2 {accuracy:.0e}"),
        }
    }
}

/// Why there is no run.
#[derive(Debug, Clone, PartialEq)]
pub enum Refused {
    /// No contact can be designed.
    Design(InvalidValue),
    /// A run was refused or failed.
    Run(SimulationError),
}

impl Refused {
    /// What was refused as too long a step: `step` in the design, otherwise the kind of the element; `None` for any other
    /// error.
    pub fn of_step(&self) -> Option<&'static str> {
        match self {
            Self::Design(error) => (error.name == "contact_design.step").then_some("step"),
            Self::Run(error) => match error.forces() {
                Some(Error::StepTooLong { element, .. }) => Some(element.kind),
                _ => None,
            },
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Design(error) => error.fmt(f),
            Self::Run(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Refused {}

impl From<InvalidValue> for Refused {
    fn from(error: InvalidValue) -> Self {
        Self::Design(error)
    }
}

impl From<SimulationError> for Refused {
    fn from(error: SimulationError) -> Self {
        Self::Run(error)
    }
}

macro_rules! refused_by_run {
    ($($error:ty),*) => {$(
        impl From<$error> for Refused {
            fn from(error: $error) -> Self {
                Self::Run(SimulationError::Forces(error.into()))
            }
        }
    )*};
}

refused_by_run!(
    Error,
    force_elements::shapes::ShapeError,
    force_elements::cable::PathError,
    force_elements::KinematicsError
);

/// What a run shows of a claim: a deviation, and how large it may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Finding {
    pub deviation: f64,
    pub allowed: f64,
}

impl Finding {
    fn new(deviation: f64, allowed: f64) -> Self {
        Self { deviation: deviation.abs(), allowed }
    }

    pub fn is_right(self) -> bool {
        self.deviation <= self.allowed
    }
}

/// A claim about a scene: what is compared, and how far off it may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim {
    pub what: &'static str,
    /// The formula of the deviation allowed, of the step `h` for which contacts are designed.
    pub allowed: &'static str,
}

const AT_REST: [Claim; 2] = [
    Claim { what: "speed at the end, m/s", allowed: "1e-6, or 10 a of error control" },
    Claim { what: "creep in the last second, m/s", allowed: "1e-7, or a/10" },
];

/// A scene: what happens, and what is claimed of it.
#[derive(Clone, Copy)]
pub struct Scene {
    pub name: &'static str,
    /// The claims that are its own; see [`claims`](Self::claims).
    own: &'static [Claim],
    comes_to_rest: bool,
    run: Run,
}

type Run = fn(Method, f64) -> Result<Vec<Finding>, Refused>;

impl Scene {
    const fn new(name: &'static str, own: &'static [Claim], run: Run) -> Self {
        Self { name, own, comes_to_rest: false, run }
    }

    /// One whose run ends at rest, which is claimed beside.
    const fn to_rest(name: &'static str, own: &'static [Claim], run: Run) -> Self {
        Self { name, own, comes_to_rest: true, run }
    }

    /// What is claimed, in the order of the findings.
    pub fn claims(&self) -> impl Iterator<Item = Claim> + '_ {
        let rest: &[Claim] = if self.comes_to_rest { &AT_REST } else { &[] };
        self.own.iter().chain(rest).copied()
    }

    /// Runs with a body of this mass \[kg\].
    pub fn run(&self, method: Method, mass: f64) -> Result<Vec<Finding>, Refused> {
        (self.run)(method, mass)
    }
}

const WAY: Claim =
    Claim { what: "stopping distance, relative to v²/2a", allowed: "(v·h + stretch + shift)/distance" };

pub const SCENES: [Scene; 19] = [
    Scene::to_rest("box stops on a plane, springs", &[WAY], |method, mass| {
        boxes::stops(method, mass, Contact::Springs, 0.1, 0.0)
    }),
    Scene::to_rest("box stops on a plane, foundation", &[WAY], |method, mass| {
        boxes::stops(method, mass, Contact::Bed, 0.1, 0.0)
    }),
    Scene::to_rest("crate of 1.4 m stops on a plane, springs", &[WAY], |method, mass| {
        boxes::stops(method, mass, Contact::Springs, 0.7, 0.0)
    }),
    Scene::to_rest("sledge stops on a slope of 0.48, bristles", &[WAY], machines::slides),
    Scene::to_rest("box stops on a slope of 0.48, springs", &[WAY], |method, mass| {
        boxes::stops(method, mass, Contact::Springs, 0.1, 0.48)
    }),
    Scene::new(
        "plane tilts until a box slips",
        &[Claim { what: "angle less atan μs, °", allowed: "0.2" }],
        boxes::tilts,
    ),
    Scene::to_rest(
        "box drops flat",
        &[
            Claim { what: "rebound less that of the law, relative to the impact speed", allowed: "0.05" },
            Claim { what: "height at rest, relative to half the side", allowed: "1e-6, or a" },
        ],
        boxes::drops_flat,
    ),
    Scene::to_rest(
        "turned box drops on a slope of 0.4",
        &[Claim { what: "lean at rest, relative to statics", allowed: "0.02" }],
        boxes::drops_on_a_slope,
    ),
    Scene::new(
        "tall box leans 0.3° beyond its corner",
        &[Claim { what: "time to fall by 10°, relative to a pendulum", allowed: "0.03" }],
        |method, mass| boxes::topples(method, mass, 0.3),
    ),
    Scene::new(
        "tall box leans 0.3° less",
        &[Claim { what: "time to fall back by 10°, relative to a pendulum", allowed: "0.03" }],
        |method, mass| boxes::topples(method, mass, -0.3),
    ),
    Scene::to_rest(
        "box spins to rest",
        &[Claim { what: "angle to the stop, relative to ω²/2α", allowed: "(v·h + stretch)/distance" }],
        boxes::spins,
    ),
    Scene::to_rest("box put on a belt", &[WAY], boxes::on_a_belt),
    Scene::new(
        "block sticks and slips, bristles",
        &[Claim { what: "period, relative to the formula", allowed: "2h/T + k/k_bristle + v_exp/v" }],
        machines::sticks_and_slips,
    ),
    Scene::to_rest(
        "box pinched between two walls",
        &[Claim { what: "sag, relative to m·g/k", allowed: "0.01" }],
        boxes::pinched,
    ),
    Scene::to_rest(
        "stack of three",
        &[Claim { what: "heights less those by ln(n)/d2, relative to the side", allowed: "1e-6" }],
        boxes::stack,
    ),
    Scene::to_rest(
        "askew cube comes to rest, foundation",
        &[
            Claim { what: "depth, relative to m·g/kA", allowed: "0.01" },
            Claim { what: "lean, °", allowed: "0.01" },
        ],
        boxes::settles,
    ),
    Scene::to_rest(
        "cart of four feet on a slope of 0.3, foundation",
        &[Claim { what: "lean, relative to statics", allowed: "0.005" }],
        machines::parks,
    ),
    Scene::to_rest("load held by a cable over two drums", &[], machines::held_by_a_cable),
    Scene::new(
        "load beyond what a cable over two drums holds",
        &[Claim { what: "acceleration, relative to the capstan equation", allowed: "0.01" }],
        machines::hauled_by_a_cable,
    ),
];
