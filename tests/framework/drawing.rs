//! Drawings of elements: frames at their poses, arrows that add up to the forces, cables on their surfaces.

use force_elements::cable::{CablePath, Obstacle};
use force_elements::elastic_foundation::Material;
use force_elements::laws::{AlongLine, BetweenFrames, Law, Pull, Stretch};
use force_elements::nalgebra::{Point3, Rotation3, Translation3, Vector3, Vector6};
use force_elements::shapes::{Cylinder, HalfSpace, Sphere, TriangleMesh};
use force_elements::{
    BodyIndex, CableSpring, Canvas, CustomForce, DynamicsView, ElasticFoundation, ElementError, ElementId,
    ExponentialSpring, ForceSystem, Forces, Frame, HertzContact, LinearBushing, Mark, Meaning, Number, Pose,
    Real, SpatialBushing, SpatialForce, SpatialVelocity, State, Station, cable_spring, exponential_spring,
    hertz_contact, linear_bushing, spatial_bushing,
};

/// Everything that is drawn, in order.
#[derive(Debug, Default)]
struct Drawn {
    lines: Vec<(Mark, Point3<f64>, Point3<f64>)>,
    points: Vec<(Mark, Point3<f64>)>,
    arrows: Vec<(Mark, Point3<f64>, Vector3<f64>)>,
    frames: Vec<(Mark, Pose<f64>)>,
}

impl Canvas for Drawn {
    fn line(&mut self, mark: Mark, from: Point3<f64>, to: Point3<f64>) {
        self.lines.push((mark, from, to));
    }
    fn point(&mut self, mark: Mark, at: Point3<f64>) {
        self.points.push((mark, at));
    }
    fn arrow(&mut self, mark: Mark, from: Point3<f64>, vector: Vector3<f64>) {
        self.arrows.push((mark, from, vector));
    }
    fn frame(&mut self, mark: Mark, X_GF: &Pose<f64>) {
        self.frames.push((mark, *X_GF));
    }
}

impl Drawn {
    fn of(dynamics: &DynamicsView<'_, f64>) -> Self {
        let mut drawn = Self::default();
        dynamics.draw(&mut drawn);
        drawn
    }

    /// The sum of the arrows of an element on a body, at a point.
    fn sum(&self, element: ElementId, body: BodyIndex, about: &Point3<f64>) -> SpatialForce<f64> {
        let own = self.arrows.iter().filter(|(mark, ..)| mark.element == element);
        own.fold(SpatialForce::zero(), |sum, (mark, from, vector)| match mark.meaning {
            Meaning::Force(on) if on == body => {
                sum + SpatialForce::new((from - about).cross(vector), *vector)
            }
            Meaning::Torque(on) if on == body => sum + SpatialForce::new(*vector, Vector3::zeros()),
            _ => sum,
        })
    }

    fn cable(&self) -> impl Iterator<Item = &(Mark, Point3<f64>, Point3<f64>)> {
        self.lines.iter().filter(|(mark, ..)| mark.meaning == Meaning::Cable)
    }
}

fn turned(axis: [f64; 3], place: [f64; 3]) -> Pose<f64> {
    Pose::from_parts(Translation3::from(Vector3::from(place)), Rotation3::new(Vector3::from(axis)))
}

#[derive(Debug)]
struct Rubber;

impl<T: Real> Law<T, Stretch<T>> for Rubber {
    const KIND: &'static str = "rubber";
    type Parameters = ();
    type Memory = ();
    fn evaluate<S: Number<Scalar = T>>(
        &self,
        (): &(),
        (): &(),
        at: &Stretch<S>,
    ) -> Result<Pull<S>, ElementError> {
        Ok(Pull { tension: at.length * S::lit(30.0), ..Pull::zero() })
    }
}

/// A system with every element that acts on bodies, two of them in general position and motion, after two steps.
fn everything() -> (ForceSystem<f64>, State<f64>) {
    let mut system = ForceSystem::new();
    let [a, b] = [system.add_body(), system.add_body()];
    let (on_a, on_b) =
        (Frame::on(a, turned([0.2, 0.1, 0.0], [0.1, 0.0, -0.1])), Frame::on(b, Pose::identity()));
    let floor = Frame::ground(turned([0.1, 0.0, 0.0], [0.0; 3]));

    let corner = Station::on(a, Point3::new(0.0, 0.1, -0.1));
    let spring = ExponentialSpring::new(floor, corner, exponential_spring::Parameters::default());
    system.add(spring.expect("valid")).expect("fits");

    let soft = hertz_contact::Parameters { effective_modulus: 1e6, ..Default::default() };
    let ball = (Station::on(b, Point3::new(0.0, 0.0, -0.05)), 0.1);
    let contact = HertzContact::on_half_space(
        Frame::on(a, Pose::translation(0.1, 0.0, 0.05)),
        ball,
        soft.with_friction(0.5, 0.4, 0.0),
    );
    system.add(contact.expect("valid")).expect("fits");

    let mut foundation = ElasticFoundation::default().with_anchors();
    foundation.add_rigid(Frame::on(a, Pose::translation(0.0, 0.0, 0.05)), HalfSpace::BelowZ).expect("valid");
    let sphere = TriangleMesh::sphere(0.15, 8).expect("closed");
    let rubber = Material::new(1e6).with_friction(0.6, 0.5, 0.0).with_grip(1e6, 10.0);
    foundation.add_springs(on_b, sphere, rubber).expect("valid");
    system.add(foundation).expect("fits");

    let each = Vector6::new(3.0, 4.0, 5.0, 60.0, 70.0, 80.0);
    let law = linear_bushing::Parameters { stiffness: each, damping: each * 0.1 };
    system.add(LinearBushing::new(on_a, on_b, law).expect("valid")).expect("fits");
    let law = spatial_bushing::Parameters {
        stiffness: spatial_bushing::Symmetric6::from_diagonal(&each),
        ..spatial_bushing::Parameters::default()
    };
    system.add(SpatialBushing::new(Frame::of(a), on_b, law).expect("valid")).expect("fits");
    system.add(BetweenFrames::new(AlongLine(Rubber), on_a, on_b, ()).expect("valid")).expect("fits");
    let push = CustomForce::new(move |motion, loads| {
        let p_GB = motion.point(b, &Point3::new(0.1, 0.0, 0.0));
        loads.apply_at_point(b, &p_GB, Vector3::new(1.0, 2.0, 3.0));
        loads.apply_to_body(a, SpatialForce::new(Vector3::x(), -Vector3::y()));
        0.0
    });
    system.add(push).expect("fits");

    let drum =
        Obstacle::new(Frame::on(a, Pose::translation(0.0, 0.0, 0.3)), Sphere::new(0.1).expect("valid"));
    let guide = Station::on(b, Point3::new(0.2, 0.0, 0.2));
    let path = CablePath::new(
        Station::ground(Point3::new(-1.0, 0.0, 0.4)),
        Station::on(b, Point3::new(1.0, 0.0, -0.2)),
    )
    .expect("apart")
    .over(drum.expect("valid"))
    .through(guide)
    .expect("apart");
    let elastic = cable_spring::Parameters { stiffness: 200.0, slack_length: 1.5, dissipation: 0.1 };
    let cable = CableSpring::new(path, elastic).expect("valid");
    system.add(cable.clone()).expect("fits");
    system.add(cable.with_friction(vec![0.4]).expect("valid")).expect("fits");

    let mut state = system.default_state();
    for step in 0..3 {
        let t = 0.01 * f64::from(step);
        let velocity = |x| SpatialVelocity::new(Vector3::new(0.3, 0.1, x), Vector3::new(x, 0.2, -0.1));
        state.set_time(t).expect("finite");
        state.set_body(a, turned([0.1, 0.2, t], [t, 0.0, 0.1]), velocity(0.1)).expect("finite");
        state.set_body(b, turned([0.0, -0.1, 0.2], [0.1, t, 0.27]), velocity(-0.2)).expect("finite");
        system.realize_dynamics(&mut state).expect("regular");
        if step < 2 {
            system.accept_step(&mut state).expect("realized");
        }
    }
    (system, state)
}

#[test]
fn arrows_of_each_element_add_up_to_its_forces_on_each_body() {
    let (system, state) = everything();
    let dynamics = system.dynamics_view(&state).expect("realized");
    let drawn = Drawn::of(&dynamics);
    for element in system.elements() {
        let mut forces = Forces::zeros(system.topology());
        dynamics.add_contribution(element, &mut forces).expect("exists");
        let bodies = || system.topology().bodies().chain([BodyIndex::GROUND]);
        assert!(
            bodies().any(|body| forces.body(body).force.norm() > 0.5),
            "{element} exerts next to nothing"
        );
        for body in bodies() {
            let (sum, all) = (
                drawn.sum(element, body, &Point3::from(dynamics.pose(body).translation.vector)),
                forces.body(body),
            );
            // Some tens of additions of numbers as large as the largest arrow.
            let scale = 1.0 + drawn.arrows.iter().map(|(mark, ..)| mark.value).fold(0.0, f64::max);
            let off = (sum.force - all.force).norm().max((sum.torque - all.torque).norm());
            assert!(off < 1e-13 * scale, "{element} on {body:?}: {sum:?} drawn of {all:?}");
        }
    }
}

#[test]
fn marks_have_the_magnitude_of_what_they_show() {
    let (system, state) = everything();
    let drawn = Drawn::of(&system.dynamics_view(&state).expect("realized"));
    assert!(drawn.arrows.iter().all(|(mark, _, vector)| mark.value == vector.norm() && mark.value > 0.0));
    let anchors = drawn.lines.iter().filter(|(mark, ..)| mark.meaning == Meaning::Anchor);
    let mut kinds: Vec<_> = anchors
        .map(|(mark, from, to)| {
            // Of the exponential spring it is the stretch along the plane, which the station is a little above or below.
            let along = if mark.element.kind_name() == "exponential_spring" {
                let normal = Rotation3::new(Vector3::new(0.1, 0.0, 0.0)) * Vector3::z();
                (to - from) - normal * normal.dot(&(to - from))
            } else {
                to - from
            };
            assert!((mark.value - along.norm()).abs() < 1e-15, "{mark:?}");
            mark.element.kind_name()
        })
        .collect();
    kinds.dedup();
    assert_eq!(kinds, ["exponential_spring", "elastic_foundation"]);
}

#[test]
fn frames_are_where_the_poses_of_their_bodies_say() {
    let mut system = ForceSystem::<f64>::new();
    let body = system.add_body();
    let quarter = turned([0.0, 0.0, core::f64::consts::FRAC_PI_2], [0.0, 0.0, 0.5]);
    let law = linear_bushing::Parameters { stiffness: Vector6::repeat(10.0), damping: Vector6::zeros() };
    let bushing =
        LinearBushing::new(Frame::ground(Pose::translation(1.0, 0.0, 0.5)), Frame::on(body, quarter), law);
    system.add(bushing.expect("valid")).expect("fits");
    let mut state = system.default_state();
    state.set_pose(body, turned([0.0, 0.0, core::f64::consts::FRAC_PI_2], [1.0, 0.2, 0.0])).expect("finite");
    let drawn = Drawn::of(&system.realize_dynamics(&mut state).expect("regular"));

    // Two quarter turns about z, and half a metre up.
    let [(_, X_GF), (mark, X_GM)] = drawn.frames[..] else { panic!("{:?}", drawn.frames) };
    assert_eq!(X_GF.translation.vector, Vector3::new(1.0, 0.0, 0.5));
    assert!((X_GM.translation.vector - Vector3::new(1.0, 0.2, 0.5)).norm() < 1e-15);
    assert!((X_GM.rotation * Vector3::x() + Vector3::x()).norm() < 1e-15);
    assert_eq!((mark.value, mark.meaning.unit()), (0.2, "m"));
}

#[test]
fn lines_of_a_winch_lie_on_the_drum_and_sum_to_its_length() {
    let mut system = ForceSystem::<f64>::new();
    let weight = system.add_body();
    let drum =
        Obstacle::new(Frame::ground(Pose::translation(0.0, 0.0, 1.0)), Cylinder::new(0.2).expect("valid"));
    let hook = Station::ground(Point3::new(0.0, 0.2, 1.0));
    let path = CablePath::new(hook, Station::on(weight, Point3::origin()))
        .expect("apart")
        .over(drum.expect("valid"));
    let elastic = cable_spring::Parameters { stiffness: 50.0, slack_length: 0.5, dissipation: 0.0 };
    let winch = system.add(CableSpring::new(path, elastic).expect("valid")).expect("fits");
    let mut state = system.default_state();
    // The weight circles the drum twice, and takes the cable along.
    for step in 0..=40 {
        let angle = 0.1 * core::f64::consts::PI * f64::from(step);
        let place = Pose::translation(2.0 * angle.sin(), 2.0 * angle.cos(), 1.0 + 0.01 * f64::from(step));
        state.set_pose(weight, place).expect("finite");
        system.realize_dynamics(&mut state).expect("regular");
        system.accept_step(&mut state).expect("realized");
    }
    let dynamics = system.realize_dynamics(&mut state).expect("regular");
    let at = dynamics.of(winch);
    let drawn = Drawn::of(&dynamics);
    let on_drum = |p: &Point3<f64>| (p.x.hypot(p.y) - 0.2).abs() < 1e-9;
    let (mut length, mut pieces) = (0.0, 0);
    for (mark, from, to) in drawn.cable().filter(|(_, from, to)| from != to) {
        assert_eq!(mark.value, at.dynamics.tension);
        length += (to - from).norm();
        pieces += usize::from(on_drum(from) && on_drum(to));
    }
    // Two turns less what is before the tangent point, every tenth of a radian: 10·(4π − arccos 0.1) is 110.96. A chord over
    // an angle θ is short of its arc by θ²/24 of it.
    assert_eq!(pieces, 111);
    let short = 1.0 - length / at.position.path.length;
    assert!(short > 0.0 && short < 0.01 / 24.0, "short by {short}");
}

#[test]
fn tensions_of_a_rope_around_a_bollard_differ_by_the_capstan_equation() {
    let mut system = ForceSystem::<f64>::new();
    let boat = system.add_body();
    let bollard = Obstacle::new(Frame::ground(Pose::identity()), Cylinder::new(0.2).expect("valid"))
        .and_then(|bollard| bollard.with_contact_hint(Point3::new(0.0, 0.2, 0.0)));
    let cleat = Station::ground(Point3::new(-0.2, -1.0, 0.0));
    let path = CablePath::new(cleat, Station::on(boat, Point3::origin()))
        .expect("apart")
        .over(bollard.expect("valid"));
    let elastic = cable_spring::Parameters { stiffness: 2e4, slack_length: 2.62, dissipation: 0.0 };
    let rope = CableSpring::new(path, elastic).and_then(|rope| rope.with_friction(vec![0.3]));
    system.add(rope.expect("valid")).expect("fits");
    let mut state = system.default_state();
    for step in 0..20 {
        state.set_pose(boat, Pose::translation(0.2, -1.0 - 0.002 * f64::from(step), 0.0)).expect("finite");
        system.realize_dynamics(&mut state).expect("regular");
        system.accept_step(&mut state).expect("realized");
    }
    let drawn = Drawn::of(&system.realize_dynamics(&mut state).expect("regular"));
    let straight: Vec<f64> =
        drawn.cable().filter(|(_, from, to)| (to - from).norm() > 0.5).map(|(mark, ..)| mark.value).collect();
    let [before, after] = straight[..] else { panic!("{straight:?}") };
    assert!((after / before - (0.3 * core::f64::consts::PI).exp()).abs() < 1e-9);
    let on_arc: Vec<f64> = drawn.cable().map(|(mark, ..)| mark.value).skip(2).collect();
    assert!(on_arc.len() > 30 && on_arc.is_sorted() && on_arc.iter().all(|f| (before..=after).contains(f)));
}

#[test]
fn a_canvas_that_draws_only_lines_shows_points_arrows_and_frames() {
    struct Lines(Vec<(Mark, Point3<f64>, Point3<f64>)>);
    impl Canvas for Lines {
        fn line(&mut self, mark: Mark, from: Point3<f64>, to: Point3<f64>) {
            self.0.push((mark, from, to));
        }
    }
    let mut system = ForceSystem::<f64>::new();
    let body = system.add_body();
    let push = CustomForce::new(move |motion, loads| {
        loads.apply_at_point(body, &motion.point(body, &Point3::origin()), Vector3::new(0.0, 0.0, -200.0));
        0.0
    });
    let push = system.add(push).expect("fits");
    let mut state = system.default_state();
    state.set_pose(body, Pose::translation(1.0, 2.0, 3.0)).expect("finite");
    let mut lines = Lines(Vec::new());
    system.realize_dynamics(&mut state).expect("regular").draw(&mut lines);
    // A shaft of a millimetre for each newton, and two halves of its head.
    let [(mark, from, tip), (_, head, left), (_, other, right)] = lines.0[..] else {
        panic!("{:?}", lines.0)
    };
    assert_eq!((from, tip), (Point3::new(1.0, 2.0, 3.0), Point3::new(1.0, 2.0, 2.8)));
    assert_eq!((head, other), (tip, tip));
    assert!((left.z - 2.84).abs() < 1e-15 && (left - right).norm() > 0.03);
    assert_eq!(mark, Mark { element: push.id(), meaning: Meaning::Force(body), value: 200.0 });

    system.set_enabled(&mut state, push, false).expect("exists");
    let mut none = Lines(Vec::new());
    system.realize_dynamics(&mut state).expect("regular").draw(&mut none);
    assert!(none.0.is_empty());

    let mark = Mark { meaning: Meaning::Station, ..mark };
    let mut lines = Lines(Vec::new());
    lines.point(mark, Point3::origin());
    lines.frame(Mark { meaning: Meaning::Frame, ..mark }, &Pose::identity());
    let lengths: Vec<f64> = lines.0.iter().map(|(_, from, to)| (to - from).norm()).collect();
    assert_eq!(lengths, [0.01, 0.01, 0.01, 0.05, 0.05, 0.05]);
}

#[test]
fn drawing_does_not_allocate() {
    /// Counts what is drawn.
    struct Count(usize);
    impl Canvas for Count {
        fn line(&mut self, _: Mark, _: Point3<f64>, _: Point3<f64>) {
            self.0 += 1;
        }
    }
    let (system, state) = everything();
    let dynamics = system.dynamics_view(&state).expect("realized");
    let mut count = Count(0);
    let counted = allocation_counter::measure(|| dynamics.draw(&mut count));
    assert_eq!(counted.count_total, 0);
    assert!(count.0 > 200);
}
