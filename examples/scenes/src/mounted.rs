//! A payload on a bushing on a carriage, which a spring pulls along a guide with friction.

use force_elements::nalgebra::{Point3, Rotation3, Translation3, Vector3, Vector6};
use force_elements::{
    BodyIndex, CoordinateIndex, CoordinatePair, CoordinateSpringDamperExt, Error, ForceSystem, Frame, Handle,
    LinearBushing, Pose, Real, SpatialVelocity, State, coordinate_spring_damper_ext, linear_bushing,
};

use crate::rollout::{Carriage, Cube, Host, set_carriage};

/// So short that it hardly matters where in a step bristles let go: by then they pull by `k·v·h` too much, for half of a step.
pub const STEP: f64 = 2.5e-4;

/// On the payload, in its frame \[m\].
pub const MARKERS: [[f64; 3]; 3] = [[0.06, 0.0, 0.05], [-0.03, 0.05, 0.05], [-0.03, -0.05, 0.05]];

pub struct Mounted<T: Real> {
    pub system: ForceSystem<T>,
    pub mount: Handle<LinearBushing<T>>,
    pub guide: Handle<CoordinateSpringDamperExt<T>>,
    pub host: Host<T>,
    pub state: State<T>,
}

impl<T: Real> Mounted<T> {
    /// The payload is flung, the carriage held away from where its spring is at rest, and let go.
    pub fn new() -> Result<Self, Error> {
        let mut system = ForceSystem::new();
        let (carriage, payload) = (system.add_body(), system.add_body());
        let coordinate = system.add_coordinate();
        let vector = |values: [f64; 6]| Vector6::from(values.map(T::lit));
        let law = linear_bushing::Parameters {
            stiffness: vector([16.0, 20.0, 14.0, 7000.0, 9000.0, 12000.0]),
            damping: vector([0.08, 0.1, 0.06, 30.0, 40.0, 50.0]),
        };
        let foot = Pose::translation(T::zero(), T::zero(), T::lit(-0.04));
        let mount = LinearBushing::new(Frame::of(carriage), Frame::on(payload, foot), law)?;
        let mount = system.add(mount)?;
        let guide = coordinate_spring_damper_ext::Parameters {
            stiffness: T::lit(300.0),
            damping: T::lit(4.0),
            dynamic_friction: T::lit(6.0),
            sticking_stiffness: T::lit(2e4),
            sticking_damping: T::lit(20.0),
            ..Default::default()
        };
        let guide = system.add(CoordinateSpringDamperExt::new(CoordinatePair::on(coordinate), guide)?)?;
        let cube = Cube { body: payload, mass: T::lit(2.0), gyration: T::lit(0.002) };
        let carriages = vec![Carriage { coordinate, body: carriage, mass: T::lit(4.0) }];
        let host = Host::new(&system, STEP, vec![cube], carriages);

        let mut state = system.default_state();
        set_carriage(&mut state, (coordinate, carriage), T::lit(0.15), T::zero())?;
        let shift = Vector3::new(T::lit(0.152), T::lit(0.003), T::lit(0.038));
        let turn = Rotation3::new(Vector3::new(T::lit(0.1), T::lit(-0.08), T::lit(0.12)));
        let flung = SpatialVelocity::new(
            Vector3::new(T::lit(4.0), T::lit(3.0), T::lit(-5.0)),
            Vector3::new(T::lit(0.2), T::lit(-0.4), T::lit(0.3)),
        );
        state.set_body(payload, Pose::from_parts(Translation3::from(shift), turn), flung)?;
        system.reset_memories(&mut state)?;
        Ok(Self { system, mount, guide, host, state })
    }

    pub fn advance(&mut self) -> Result<(), Error> {
        self.host.advance(&self.system, &mut self.state)
    }

    pub fn coordinate(&self) -> CoordinateIndex {
        self.host.carriages[0].coordinate
    }

    pub fn payload(&self) -> BodyIndex {
        self.host.cubes[0].body
    }

    /// The position of the carriage, and those of the markers, one after the other \[m\].
    pub fn positions(&self) -> [T; 10] {
        let X = self.state.positions().pose(self.payload());
        let mut positions = [self.state.positions().coordinate(self.coordinate()); 10];
        for (at, marker) in positions[1..].chunks_exact_mut(3).zip(MARKERS) {
            at.copy_from_slice((X * Point3::from(marker.map(T::lit))).coords.as_slice());
        }
        positions
    }
}

impl Mounted<f64> {
    /// The change of the [positions](Self::positions) by a motion.
    pub fn change_of_positions(&self, motion: &force_elements::Variation<f64>) -> [f64; 10] {
        let R = self.state.positions().pose(self.payload()).rotation;
        let twist = motion.body(self.payload());
        let mut changes = [motion.coordinate(self.coordinate()); 10];
        for (change, marker) in changes[1..].chunks_exact_mut(3).zip(MARKERS) {
            let shift = twist.linear + twist.angular.cross(&(R * Vector3::from(marker)));
            change.copy_from_slice(shift.as_slice());
        }
        changes
    }
}
