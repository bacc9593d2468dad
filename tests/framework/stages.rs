//! The stage of each variable: what is evaluated again after a write, and what is not.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use force_elements::nalgebra::Vector3;
use force_elements::{
    AtDynamics, AtPosition, AtVelocity, BodyIndex, ElementError, Error, ForceAccumulator, ForceElement,
    ForceSystem, Given, Handle, Pose, Real, SpatialForce, Stage, State, Topology, Variables, results,
    variables,
};
use num_dual::Dual64;

/// Pulls a body to the origin with a force that it sums up stage by stage; counts the evaluations of each.
#[derive(Debug, Clone)]
struct Counted {
    body: BodyIndex,
    counts: Arc<[AtomicU32; 3]>,
}

variables! {
    /// One of each stage.
    #[derive(Copy)]
    struct Parts<T> {
        /// Says nothing.
        cautious: T ["N"] = 1.0, finite;
        /// Read at Position stage.
        at_position: T ["N"] = 2.0, finite => Position;
        /// Read at Velocity stage.
        at_velocity: T ["N"] = 4.0, finite => Velocity;
        /// Read at Dynamics stage.
        at_dynamics: T ["N"] = 8.0, finite => Dynamics;
    }
}

variables! {
    /// Two stages.
    struct Memory<T> {
        /// Read at Velocity stage.
        early: Vector3<T> ["N"], finite => Velocity;
        /// Read at Dynamics stage.
        late: Option<Vector3<T>> ["N"], finite => Dynamics;
    }
}

results! {
    /// The force so far.
    #[derive(Copy)]
    struct Sum<T> {
        /// Along x; not listed, since all stages have it.
        sum: T = 0.0;
    }
}

impl<T: Real> ForceElement<T> for Counted {
    const KIND: &'static str = "counted";
    type Parameters = Parts<T>;
    type Discrete = Memory<T>;
    type Continuous = ();
    type Position = Sum<T>;
    type Velocity = Sum<T>;
    type Dynamics = Sum<T>;

    fn check_topology(&self, _: &Topology) -> Result<(), ElementError> {
        Ok(())
    }
    fn calc_position(&self, given: &Given<'_, T, Self>, cache: &mut Sum<T>) -> Result<(), ElementError> {
        self.counts[0].fetch_add(1, Ordering::Relaxed);
        cache.sum = given.parameters.cautious + given.parameters.at_position;
        Ok(())
    }
    fn calc_velocity(&self, at: &AtPosition<'_, T, Self>, cache: &mut Sum<T>) -> Result<(), ElementError> {
        self.counts[1].fetch_add(1, Ordering::Relaxed);
        cache.sum = at.position.sum + at.parameters.at_velocity + at.discrete.early.x;
        Ok(())
    }
    fn calc_dynamics(&self, at: &AtVelocity<'_, T, Self>, cache: &mut Sum<T>) -> Result<(), ElementError> {
        self.counts[2].fetch_add(1, Ordering::Relaxed);
        let late = at.discrete.late.map_or(T::zero(), |late| late.x);
        cache.sum = at.velocity.sum + at.parameters.at_dynamics + late;
        Ok(())
    }
    fn add_forces(&self, at: &AtDynamics<'_, T, Self>, forces: &mut ForceAccumulator<'_, T>) {
        let f = Vector3::x() * at.dynamics.sum;
        forces.apply_to_body(self.body, SpatialForce::new(Vector3::zeros(), f));
        forces.apply_to_body(BodyIndex::GROUND, SpatialForce::new(Vector3::zeros(), -f));
    }
}

struct Scene<T: Real> {
    system: ForceSystem<T>,
    state: State<T>,
    body: BodyIndex,
    element: Handle<Counted>,
    counts: Arc<[AtomicU32; 3]>,
}

impl<T: Real> Scene<T> {
    fn new() -> Self {
        let mut system = ForceSystem::new();
        let body = system.add_body();
        let counts = Arc::<[AtomicU32; 3]>::default();
        let element = system.add(Counted { body, counts: Arc::clone(&counts) }).expect("exists");
        let state = system.default_state();
        Self { system, state, body, element, counts }
    }

    /// The stage to which a write drops the realized state, the force then, and how often each stage was evaluated.
    fn after(
        &mut self,
        write: impl FnOnce(&ForceSystem<T>, &mut State<T>, Handle<Counted>) -> Result<(), Error>,
    ) -> (Stage, T, [u32; 3]) {
        let Self { system, state, body, element, counts } = self;
        system.realize_dynamics(state).expect("regular");
        for count in counts.iter() {
            count.store(0, Ordering::Relaxed);
        }
        write(system, state, *element).expect("valid");
        let stage = state.stage();
        let force = system.realize_dynamics(state).expect("regular").body_force(*body).force.x;
        (stage, force, [0, 1, 2].map(|stage| counts[stage].load(Ordering::Relaxed)))
    }
}

#[test]
fn a_write_evaluates_again_what_reads_the_variable_and_nothing_before() {
    let mut scene = Scene::<f64>::new();
    let mut update =
        |change: fn(&mut Parts<f64>)| scene.after(|s, state, h| s.update_parameters(state, h, change));
    assert_eq!(update(|p| p.at_dynamics = 9.0), (Stage::Velocity, 16.0, [0, 0, 1]));
    assert_eq!(update(|p| p.at_velocity = 5.0), (Stage::Position, 17.0, [0, 1, 1]));
    assert_eq!(update(|p| p.at_position = 3.0), (Stage::Time, 18.0, [1, 1, 1]));
    assert_eq!(update(|p| p.cautious = 2.0), (Stage::Topology, 19.0, [1, 1, 1]));
    // The earliest of several.
    let both = |p: &mut Parts<f64>| (p.at_velocity, p.at_dynamics) = (4.0, 8.0);
    assert_eq!(update(both), (Stage::Position, 17.0, [0, 1, 1]));
    // As it was, all of it or the rest of it.
    assert_eq!(update(|_| ()), (Stage::Dynamics, 17.0, [0; 3]));
    assert_eq!(update(|p| *p = Parts { at_dynamics: 7.0, ..*p }), (Stage::Velocity, 16.0, [0, 0, 1]));

    let mut set = |name: &str, value| scene.after(|s, state, _| s.set_variable(state, name, value));
    assert_eq!(set("counted[0].at_dynamics", 8.0), (Stage::Velocity, 17.0, [0, 0, 1]));
    assert_eq!(set("counted[0].at_dynamics", 8.0), (Stage::Dynamics, 17.0, [0; 3]));
    assert_eq!(set("counted[0].at_position", 2.0), (Stage::Time, 16.0, [1, 1, 1]));
    assert_eq!(set("counted[0].early.x", 1.0), (Stage::Position, 17.0, [0, 1, 1]));
    assert_eq!(set("counted[0].late.known", 1.0), (Stage::Velocity, 17.0, [0, 0, 1]));
    assert_eq!(set("counted[0].late.x", 1.0), (Stage::Velocity, 18.0, [0, 0, 1]));
    assert_eq!(set("counted[0].enabled", 1.0), (Stage::Dynamics, 18.0, [0; 3]));

    let late = |d: &mut Memory<f64>| d.late = None;
    assert_eq!(
        scene.after(|s, state, h| s.update_discrete(state, h, late)),
        (Stage::Velocity, 17.0, [0, 0, 1])
    );
    // A commit does not compare: it drops to the earliest of all.
    assert_eq!(scene.after(|s, state, _| s.accept_step(state)), (Stage::Position, 17.0, [0, 1, 1]));
}

#[test]
fn a_zero_of_the_other_sign_is_a_change() {
    let mut scene = Scene::<f64>::new();
    scene.after(|s, state, h| s.update_parameters(state, h, |p| p.at_dynamics = 0.0));
    let (stage, ..) = scene.after(|s, state, h| s.update_parameters(state, h, |p| p.at_dynamics = -0.0));
    assert_eq!(stage, Stage::Velocity);
    let (stage, ..) = scene.after(|s, state, h| s.update_parameters(state, h, |p| p.at_dynamics = -0.0));
    assert_eq!(stage, Stage::Dynamics);
}

#[test]
fn a_derivative_that_changes_alone_reaches_the_force() {
    let mut scene = Scene::<Dual64>::new();
    let one = Dual64::new(8.0, 1.0);
    assert_eq!(one, Dual64::from(8.0), "comparisons do not look at derivatives");
    let (_, force, _) = scene.after(|s, state, h| s.update_parameters(state, h, |p| p.at_dynamics = one));
    assert_eq!(force.eps, 1.0);
    // By name the stage is known whatever the scalar.
    let two = Dual64::new(8.0, 2.0);
    let (stage, force, counts) =
        scene.after(|s, state, _| s.set_variable(state, "counted[0].at_dynamics", two));
    assert_eq!((stage, force.eps, counts), (Stage::Velocity, 2.0, [0, 0, 1]));
}

#[test]
fn the_earliest_stage_of_a_struct_is_that_of_its_fields() {
    assert_eq!(<Parts<f64> as Variables<f64>>::FIRST_STAGE, Some(Stage::Instance));
    assert_eq!(<Memory<f32> as Variables<f32>>::FIRST_STAGE, Some(Stage::Velocity));
    assert_eq!(<() as Variables<f64>>::FIRST_STAGE, None);
}

variables! {
    /// A number that is read at Position stage.
    #[derive(Copy)]
    pub struct Early<T> {
        /// The number.
        pub number: T => Position;
    }
}

variables! {
    /// One that states a later stage.
    pub struct One<T> {
        /// The number.
        pub early: Early<T> => Dynamics;
    }
}

variables! {
    /// Perhaps one.
    pub struct Perhaps<T> {
        /// The number.
        pub early: Option<Early<T>> => Dynamics;
    }
}

variables! {
    /// Several.
    pub struct Several<T> {
        /// The numbers.
        pub early: Vec<Early<T>> => Dynamics;
    }
}

#[test]
fn a_declared_struct_is_read_at_its_own_stages_even_if_its_field_states_a_later_one() {
    let stages = [One::<f64>::FIRST_STAGE, Perhaps::<f64>::FIRST_STAGE, Several::<f64>::FIRST_STAGE];
    assert_eq!(stages, [Some(Stage::Position); 3]);
    let early = Early { number: 1.0 };
    let changes = [
        One::default().first_stage_changed(&One { early }),
        // Numbers that come and go are as good as numbers that change.
        Perhaps::default().first_stage_changed(&Perhaps { early: Some(early) }),
        Several::default().first_stage_changed(&Several { early: vec![early] }),
    ];
    assert_eq!(changes, [Some(Stage::Position); 3]);
    let mut listed = Vec::new();
    Perhaps::<f64>::default().visit(&mut |entry| listed.push(entry.stage));
    assert_eq!(listed, [Stage::Position; 2]);
}

#[test]
fn an_open_account_is_booked_for_what_changes_and_stays_as_it_is_for_what_does_not() {
    let mut scene = Scene::<f64>::new();
    scene.system.reset_dissipated_energy(&mut scene.state).expect("regular");
    let before = scene.state.snapshot();
    scene.state.set_pose(scene.body, Pose::translation(1.0, 0.0, 0.0)).expect("finite");
    scene.system.update_parameters(&mut scene.state, scene.element, |_| ()).expect("valid");
    assert_eq!((scene.state.stage(), scene.state.snapshot()), (Stage::Time, before));
}
