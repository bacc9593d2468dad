//! A machine to be built from elements of all kinds.

use std::f64::consts::FRAC_PI_2;

use force_elements::cable::{CablePath, Obstacle};
use force_elements::elastic_foundation::Material;
use force_elements::nalgebra::{Point3, Rotation3, Translation3, Vector3, Vector6};
use force_elements::shapes::{Cylinder, HalfSpace, TriangleMesh};
use force_elements::simulation::{Plant, RigidBody};
use force_elements::{
    BodyIndex, CableSpring, CoordinatePair, CoordinateSpringDamperExt, DynamicsView, ElasticFoundation,
    ExponentialSpring, ForceElement, ForceSystem, Frame, Handle, LinearBushing, Pose, SpatialVelocity, State,
    Station, cable_spring, coordinate_spring_damper_ext, exponential_spring, linear_bushing,
};

use super::liar::Liar;

/// The ledger of some elements of one kind.
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    /// What is lost is known at every instant.
    pub(crate) is_instant: bool,
    /// Energy dissipated \[J\] and power being lost \[W\].
    pub(crate) read: Read,
}

type Read = Box<dyn Fn(&DynamicsView<'_, f64>) -> (f64, f64)>;

/// A machine under construction, and the state it starts in.
pub(crate) struct Scene {
    pub(crate) system: ForceSystem<f64>,
    pub(crate) plant: Plant<f64>,
    pub(crate) entries: Vec<Entry>,
    motions: Vec<(BodyIndex, Pose<f64>, SpatialVelocity<f64>)>,
    /// What is to be done to a new state once everything is in its place.
    preparations: Vec<Preparation>,
}

type Preparation = Box<dyn Fn(&ForceSystem<f64>, &mut State<f64>)>;

impl Scene {
    pub(crate) fn new() -> Self {
        let plant = Plant::new(Vector3::new(0.0, 0.0, -9.81)).expect("finite");
        Self {
            system: ForceSystem::new(),
            plant,
            entries: Vec::new(),
            motions: Vec::new(),
            preparations: Vec::new(),
        }
    }

    pub(crate) fn start(&self) -> State<f64> {
        let mut state = self.system.default_state();
        for &(body, X_GB, V_GB) in &self.motions {
            state.set_body(body, X_GB, V_GB).expect("finite");
        }
        for prepare in &self.preparations {
            prepare(&self.system, &mut state);
        }
        state
    }

    fn prepare(&mut self, prepare: impl Fn(&ForceSystem<f64>, &mut State<f64>) + 'static) {
        self.preparations.push(Box::new(prepare));
    }

    fn watch<E: ForceElement<f64>>(&mut self, name: &'static str, is_instant: bool, handle: Handle<E>) {
        let read = move |view: &DynamicsView<'_, f64>| {
            let lost = view.dissipated_energy_of(handle).expect("open");
            (lost, view.power_dissipated_of(handle))
        };
        self.entries.push(Entry { name, is_instant, read: Box::new(read) });
    }

    /// A body on its way.
    pub(crate) fn body(
        &mut self,
        mass: f64,
        inertia: f64,
        X_GB: Pose<f64>,
        V_GB: SpatialVelocity<f64>,
    ) -> BodyIndex {
        let properties = RigidBody::with_equal_inertia(mass, inertia).expect("positive");
        let body = self.plant.add_body(&mut self.system, properties);
        self.motions.push((body, X_GB, V_GB));
        body
    }

    /// A block of half side 0.1 m with a spring at each corner.
    pub(crate) fn block(
        &mut self,
        parameters: exponential_spring::Parameters<f64>,
    ) -> (BodyIndex, Vec<Handle<ExponentialSpring<f64>>>) {
        let X_GB =
            Pose::from_parts(Translation3::new(-1.0, 0.0, 0.3), Rotation3::from_euler_angles(0.1, 0.3, 0.2));
        let V_GB = SpatialVelocity::new(Vector3::new(0.5, 2.0, 1.0), Vector3::new(2.0, 0.5, 0.0));
        let block = self.body(10.0, 0.07, X_GB, V_GB);
        let mut springs = Vec::new();
        for i in 0..8 {
            let side = |bit: usize| if i >> bit & 1 == 0 { -0.1 } else { 0.1 };
            let corner = Point3::new(side(0), side(1), side(2));
            let spring = ExponentialSpring::new(
                Frame::ground(Pose::identity()),
                Station::on(block, corner),
                parameters,
            );
            let spring = self.system.add(spring.expect("valid")).expect("exists");
            self.prepare(move |system, state| system.reset_memory(state, spring).expect("regular"));
            self.watch("exponential spring", false, spring);
            springs.push(spring);
        }
        (block, springs)
    }

    /// A ball of 512 faces that is thrown on the ground, bounces and rolls.
    pub(crate) fn ball(&mut self) -> BodyIndex {
        self.ball_of(Material::new(1e7).with_dissipation(0.3).with_friction(0.7, 0.5, 0.1))
    }

    fn ball_of(&mut self, material: Material<f64>) -> BodyIndex {
        let V_GB = SpatialVelocity::new(Vector3::new(5.0, -8.0, 3.0), Vector3::new(1.0, 0.5, -3.0));
        let ball = self.body(1.0, 0.004, Pose::translation(1.0, 0.0, 0.25), V_GB);
        let mut foundation = ElasticFoundation::default();
        foundation.add_rigid(Frame::ground(Pose::identity()), HalfSpace::BelowZ).expect("valid");
        let mesh = TriangleMesh::sphere(0.1, 8).expect("valid");
        foundation.add_springs(Frame::of(ball), mesh, material).expect("valid");
        let foundation = self.system.add(foundation).expect("exists");
        self.watch("elastic foundation", true, foundation);
        ball
    }

    /// A body that an element drives which lies.
    pub(crate) fn liar(&mut self) {
        let body = self.body(1.0, 1.0, Pose::translation(1.0, 0.0, 0.0), SpatialVelocity::zero());
        let liar = self.system.add(Liar { body }).expect("exists");
        self.watch("liar", true, liar);
    }

    /// A block on springs that lose nothing.
    pub(crate) fn slippery_block(&mut self) {
        let undamped = exponential_spring::Parameters {
            normal_viscosity: 0.0,
            ..exponential_spring::Parameters::default()
        };
        let (_, springs) = self.block(undamped);
        for spring in springs {
            self.prepare(move |system, state| {
                let slippery = |parameters: &mut exponential_spring::Parameters<f64>| {
                    parameters.set_mu_static(0.0);
                };
                system.update_parameters(state, spring, slippery).expect("valid");
            });
        }
    }

    /// A ball that bounces without a loss.
    pub(crate) fn slippery_ball(&mut self) {
        self.ball_of(Material::new(1e7));
    }

    /// Two bodies on a bushing and a cable without damping.
    pub(crate) fn undamped_pair(&mut self) {
        let swing = SpatialVelocity::new(Vector3::new(0.5, 0.3, 0.2), Vector3::new(0.5, 2.0, 1.0));
        let left = self.body(1.0, 0.02, Pose::translation(-1.0, 0.0, 0.0), swing);
        let right = self.body(2.0, 0.02, Pose::translation(1.0, 0.0, 0.0), SpatialVelocity::zero());
        self.bushing_of(BodyIndex::GROUND, Vector3::new(-1.0, 0.0, 0.1), left, Vector6::zeros());
        self.cable_of(left, right, 4.0, 0.0);
    }

    /// A slider between stops that lose nothing.
    pub(crate) fn undamped_slider(&mut self) {
        let slider = self.plant.add_coordinate(&mut self.system, 2.0).expect("positive");
        let stops = coordinate_spring_damper_ext::Parameters {
            stiffness: 20.0,
            use_limit_stops: true,
            limit_stops_upper: 0.2,
            limit_stops_lower: -0.3,
            limit_stops_upper_stiffness: 1e4,
            limit_stops_lower_stiffness: 1e4,
            ..Default::default()
        };
        let stops = CoordinateSpringDamperExt::new(CoordinatePair::on(slider), stops).expect("valid");
        let stops = self.system.add(stops).expect("exists");
        self.watch("stops", false, stops);
        self.prepare(move |_, state| state.set_coordinate_rate(slider, 3.0).expect("finite"));
    }

    /// A bushing between points above the centers of two bodies.
    pub(crate) fn bushing(&mut self, body1: BodyIndex, p_B1F: Vector3<f64>, body2: BodyIndex) {
        self.bushing_of(body1, p_B1F, body2, Vector6::new(0.05, 0.04, 0.06, 3.0, 2.0, 4.0));
    }

    fn bushing_of(&mut self, body1: BodyIndex, p_B1F: Vector3<f64>, body2: BodyIndex, damping: Vector6<f64>) {
        let stiffness = Vector6::new(8.0, 9.0, 10.0, 900.0, 800.0, 700.0);
        let bushing = LinearBushing::new(
            Frame::on(body1, Pose::from(p_B1F)),
            Frame::on(body2, Pose::translation(0.0, 0.0, -0.1)),
            linear_bushing::Parameters { stiffness, damping },
        );
        let bushing = self.system.add(bushing.expect("valid")).expect("exists");
        self.watch("bushing", true, bushing);
    }

    /// A cable from one body to another over a bar along y, two metres up.
    pub(crate) fn cable(&mut self, body1: BodyIndex, body2: BodyIndex, slack_length: f64) {
        self.cable_of(body1, body2, slack_length, 0.2);
    }

    fn cable_of(&mut self, body1: BodyIndex, body2: BodyIndex, slack_length: f64, dissipation: f64) {
        let along_y = Rotation3::from_axis_angle(&Vector3::x_axis(), FRAC_PI_2);
        let X_GS = Pose::from_parts(Translation3::new(0.0, 0.0, 2.0), along_y);
        let bar = Obstacle::new(Frame::ground(X_GS), Cylinder::new(0.2).expect("positive"));
        // In the frame of the bar, up is along −y or y as it was turned; the cable lies on top.
        let up = X_GS.inverse_transform_vector(&Vector3::new(0.0, 0.0, 0.2));
        let bar = bar.and_then(|bar| bar.with_contact_hint(up.into())).expect("valid");
        let end = |body| Station { body, p_B: Point3::new(0.02, 0.03, 0.1) };
        let path = CablePath::new(end(body1), end(body2)).expect("valid").over(bar);
        let cable =
            CableSpring::new(path, cable_spring::Parameters { stiffness: 150.0, slack_length, dissipation })
                .expect("valid");
        let cable = self.system.add(cable).expect("exists");
        self.watch("cable", true, cable);
    }

    /// Two coordinates, one driving the other through bristles, into stops.
    pub(crate) fn sliders(&mut self) {
        let mut slider = |mass| self.plant.add_coordinate(&mut self.system, mass).expect("positive");
        let [c0, c1] = [slider(2.0), slider(0.5)];
        let friction = coordinate_spring_damper_ext::Parameters {
            dynamic_friction: 2.0,
            static_friction_offset: 1.0,
            exponential_decay_static: 0.1,
            viscous_friction: 0.5,
            sticking_stiffness: 1e4,
            sticking_damping: 10.0,
            factor1: 1.5,
            ..Default::default()
        };
        let stops = coordinate_spring_damper_ext::Parameters {
            stiffness: 20.0,
            use_limit_stops: true,
            limit_stops_upper: 0.2,
            limit_stops_lower: -0.3,
            limit_stops_upper_stiffness: 1e4,
            limit_stops_lower_stiffness: 1e4,
            limit_stops_upper_damping: 5.0,
            limit_stops_lower_damping: 5.0,
            limit_stops_only_push: true,
            ..Default::default()
        };
        let between =
            CoordinateSpringDamperExt::new(CoordinatePair::between(c0, c1), friction).expect("valid");
        let between = self.system.add(between).expect("exists");
        self.watch("bristles", false, between);
        let to_ground = CoordinateSpringDamperExt::new(CoordinatePair::on(c0), stops).expect("valid");
        let to_ground = self.system.add(to_ground).expect("exists");
        self.watch("stops", false, to_ground);
        self.prepare(move |system, state| {
            state.set_coordinate_rate(c0, 3.0).expect("finite");
            state.set_coordinate_rate(c1, -1.0).expect("finite");
            system.update_discrete(state, between, |discrete| discrete.friction_mode = -1.0).expect("valid");
        });
    }
}
