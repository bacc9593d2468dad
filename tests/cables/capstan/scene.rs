//! Two loads on a cable over a wheel, in one plane.

use std::sync::Arc;

use force_elements::cable::{CablePath, Obstacle, Strand, Wrappable};
use force_elements::cable_spring;
use force_elements::nalgebra::{Point3, Vector3};
use force_elements::{
    BodyIndex, CableSpring, Error, ForceSystem, Frame, Handle, Pose, SpatialVelocity, State, Station,
};

/// Loads that move up and down, and a wheel at the origin that turns about z.
pub(crate) struct Hoist {
    pub(crate) system: ForceSystem<f64>,
    pub(crate) state: State<f64>,
    pub(crate) cable: Handle<CableSpring<f64>>,
    pub(crate) loads: [BodyIndex; 2],
    pub(crate) wheel: BodyIndex,
    /// Half the distance between the loads.
    pub(crate) span: f64,
    pub(crate) heights: [f64; 2],
    pub(crate) speeds: [f64; 2],
    pub(crate) angle: f64,
    pub(crate) spin: f64,
    pub(crate) time: f64,
}

/// What a hoist shows after an evaluation.
#[derive(Debug, Clone)]
pub(crate) struct Shown {
    pub(crate) tensions: Vec<f64>,
    pub(crate) strands: Vec<Strand<f64>>,
    /// Upward on the loads.
    pub(crate) pulls: [f64; 2],
    /// On the wheel, about z.
    pub(crate) torque: f64,
    pub(crate) stored: f64,
    /// The angle between the straight pieces at both ends.
    pub(crate) bend: f64,
}

pub(crate) fn elastic(stiffness: f64, slack_length: f64, dissipation: f64) -> cable_spring::Parameters<f64> {
    cable_spring::Parameters { stiffness, slack_length, dissipation }
}

impl Hoist {
    /// Over one surface whose highest point is (0, 1, 0), by hint.
    pub(crate) fn over(
        surface: Arc<dyn Wrappable<f64>>,
        span: f64,
        friction: f64,
        elastic: cable_spring::Parameters<f64>,
    ) -> Result<Self, Error> {
        let mut system = ForceSystem::new();
        let loads = [system.add_body(), system.add_body()];
        let wheel = system.add_body();
        let [from, to] = loads.map(|load| Station::on(load, Point3::origin()));
        let over =
            Obstacle::shared(Frame::of(wheel), surface)?.with_contact_hint(Point3::new(0.0, 1.0, 0.0))?;
        let path = CablePath::new(from, to)?.over(over);
        let cable = system.add(CableSpring::new(path, elastic)?.with_friction(vec![friction])?)?;
        let state = system.default_state();
        let heights = [-2.0; 2];
        let speeds = [0.0; 2];
        Ok(Self {
            system,
            state,
            cable,
            loads,
            wheel,
            span,
            heights,
            speeds,
            angle: 0.0,
            spin: 0.0,
            time: 0.0,
        })
    }

    pub(crate) fn evaluate(&mut self) -> Result<Shown, Error> {
        self.state.set_time(self.time)?;
        for (i, x) in [-self.span, self.span].into_iter().enumerate() {
            let X = Pose::translation(x, self.heights[i], 0.0);
            let V = SpatialVelocity::new(Vector3::zeros(), Vector3::y() * self.speeds[i]);
            self.state.set_body(self.loads[i], X, V)?;
        }
        let turned = Pose::rotation(Vector3::z() * self.angle);
        let V = SpatialVelocity::new(Vector3::z() * self.spin, Vector3::zeros());
        self.state.set_body(self.wheel, turned, V)?;
        let view = self.system.realize_dynamics(&mut self.state)?;
        let at = view.of(self.cable);
        let segments = &at.position.path.segments;
        let (first, last) = (segments[0].direction_G, segments[segments.len() - 1].direction_G);
        Ok(Shown {
            tensions: at.dynamics.tensions.clone(),
            strands: at.position.strands.all.clone(),
            pulls: self.loads.map(|load| view.body_force(load).force.y),
            torque: view.body_force(self.wheel).torque.z,
            stored: at.dynamics.potential_energy,
            bend: first.cross(&last).norm().atan2(first.dot(&last)),
        })
    }

    pub(crate) fn accept(&mut self) -> Result<(), Error> {
        self.system.accept_step(&mut self.state)
    }

    /// Evaluates, accepts, and evaluates again.
    pub(crate) fn step(&mut self) -> Result<Shown, Error> {
        self.evaluate()?;
        self.accept()?;
        self.evaluate()
    }

    /// A step of semi-implicit Euler with these masses of the loads.
    pub(crate) fn advance(&mut self, dt: f64, masses: [f64; 2], wheel: Wheel) -> Result<Shown, Error> {
        let shown = self.evaluate()?;
        for (i, mass) in masses.into_iter().enumerate() {
            self.speeds[i] += dt * (shown.pulls[i] / mass - GRAVITY);
            self.heights[i] += dt * self.speeds[i];
        }
        match wheel {
            Wheel::Held => {}
            Wheel::Free { inertia } => self.spin += dt * shown.torque / inertia,
            Wheel::Driven { spin } => self.spin = spin,
        }
        self.angle += dt * self.spin;
        self.time += dt;
        let shown = self.evaluate()?;
        self.accept()?;
        Ok(shown)
    }
}

/// What moves the wheel.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Wheel {
    Held,
    Free { inertia: f64 },
    Driven { spin: f64 },
}

pub(crate) const GRAVITY: f64 = 9.81;
