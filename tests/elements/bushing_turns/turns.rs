//! Whole turns: the angles, the energy and the force, against integrated rates.

use core::f64::consts::{FRAC_PI_2, PI, TAU};

use force_elements::nalgebra::{Rotation3, Translation3, Vector3, Vector6};
use force_elements::{
    BodyIndex, Error, ForceSystem, Frame, Handle, LinearBushing, Pose, Refusal, SpatialVelocity, State,
    linear_bushing,
};

use force_elements_scenes::seeds;
use force_elements_scenes::turning::{Random, Turning, orientation, rates};

/// A bushing from Ground to one body, that is put where the host wants it.
pub(crate) struct Mount {
    pub(crate) system: ForceSystem<f64>,
    pub(crate) body: BodyIndex,
    pub(crate) bushing: Handle<LinearBushing<f64>>,
    pub(crate) stiffness: Vector6<f64>,
    pub(crate) damping: Vector6<f64>,
}

impl Mount {
    pub(crate) fn new() -> Self {
        let mut system = ForceSystem::new();
        let body = system.add_body();
        let stiffness = Vector6::new(2.0, 3.0, 1.5, 100.0, 150.0, 200.0);
        let damping = Vector6::new(0.2, 0.1, 0.3, 1.0, 2.0, 3.0);
        let bushing = LinearBushing::new(
            Frame::ground(Pose::identity()),
            Frame::of(body),
            linear_bushing::Parameters { stiffness, damping },
        );
        let bushing = system.add(bushing.expect("valid")).expect("exists");
        Self { system, body, bushing, stiffness, damping }
    }

    /// A state in which the body has been turned so, with its turns forgotten.
    pub(crate) fn start(&self, q: &Vector3<f64>) -> State<f64> {
        let mut state = self.system.default_state();
        self.turn(&mut state, &orientation(q));
        self.system.reset_memory(&mut state, self.bushing).expect("regular");
        state
    }

    pub(crate) fn turn(&self, state: &mut State<f64>, R_GB: &Rotation3<f64>) {
        let X_GB = Pose::from_parts(Translation3::identity(), *R_GB);
        state.set_pose(self.body, X_GB).expect("finite");
    }

    /// The three angles where the state is now.
    pub(crate) fn angles(&self, state: &mut State<f64>) -> Result<Vector3<f64>, Error> {
        let view = self.system.realize_position(state)?;
        Ok(view.of(self.bushing).position.q.fixed_rows::<3>(0).into_owned())
    }

    /// Turns the body and accepts a step there.
    pub(crate) fn step_to(&self, state: &mut State<f64>, q: &Vector3<f64>) -> Result<Vector3<f64>, Error> {
        self.turn(state, &orientation(q));
        self.system.realize_dynamics(state)?;
        self.system.accept_step(state)?;
        self.angles(state)
    }
}

/// Whether a bushing refused an orientation or a step that its angles do not cover.
pub(crate) fn is_turn(error: &Error) -> bool {
    matches!(error.own(), Some(Refusal::Singular { .. } | Refusal::AmbiguousAngles { .. }))
}

#[test]
fn angles_energy_and_force_over_many_turns_are_those_of_integrated_rates() {
    let mount = Mount::new();
    let mut random = Random::new(1);
    let mut turns = Vector3::zeros();
    for _ in 0..seeds(60) / 3 {
        // Turns about x and about M's own z, and noise on all axes that keeps the middle angle on the move.
        let (about_x, about_z) = (random.between(-8.0, 8.0), random.between(-8.0, 8.0));
        let noise: Vec<_> = (0..4).map(|_| (random.vector(0.4), random.between(1.0, 6.0))).collect();
        let w_F = |time: f64, R_FM: &force_elements::nalgebra::UnitQuaternion<f64>| {
            let waves = noise.iter().map(|(size, rate)| size * (rate * time).cos());
            Vector3::x() * about_x + R_FM * Vector3::z() * about_z + waves.sum::<Vector3<f64>>()
        };
        let mut turning = Turning::new(random.vector(0.5));
        let mut state = mount.start(&turning.q);
        let (mut time, mut work) = (0.0, 0.0);
        let stored = |q: &Vector3<f64>| 0.5 * mount.stiffness.fixed_rows::<3>(0).dot(&q.component_mul(q));
        let energy_at_start = stored(&turning.q);
        for step in 0..3000 {
            // Steps of different lengths, each in four pieces: at half of it the work is sampled too.
            let h = random.between(0.003, 0.007);
            let mut power = [0.0; 3];
            for (quarter, power) in [0, 2, 2].into_iter().zip(&mut power) {
                for piece in 0..quarter {
                    turning.advance(time + f64::from(piece) * h / 4.0, h / 4.0, &w_F);
                }
                time += f64::from(quarter) * h / 4.0;
                let R_FM = turning.R_FM();
                let w = w_F(time, &R_FM.into());
                mount.turn(&mut state, &R_FM);
                state.set_velocity(mount.body, SpatialVelocity::new(w, Vector3::zeros())).expect("finite");
                let view = mount.system.realize_dynamics(&mut state).expect("regular");
                let at = view.of(mount.bushing);
                let q = at.position.q.fixed_rows::<3>(0).into_owned();
                // The method's error is (h/4·w)⁵/120 a piece, 1e-11, whose signs vary over 12000 pieces; the gimbal
                // amplifies it by 1/cos q_y.
                let amplified = 1e-6 / turning.q.y.cos().powi(2);
                assert!((q - turning.q).amax() < amplified, "{q} {} in step {step}", turning.q);
                let qdot = rates(&turning.q, &w);
                let f = -(mount.stiffness.fixed_rows::<3>(0).component_mul(&turning.q)
                    + mount.damping.fixed_rows::<3>(0).component_mul(&qdot));
                let f_off = (at.dynamics.f.fixed_rows::<3>(0) - f).amax();
                assert!(f_off < 100.0 * amplified, "{f_off:e} in step {step}");
                let energy_off = view.potential_energy() - stored(&turning.q);
                assert!(energy_off.abs() < 1000.0 * amplified, "{energy_off:e} in step {step}");
                *power = view.body_force(mount.body).torque.dot(&w) + at.dynamics.power_dissipated;
            }
            work += (power[0] + 4.0 * power[1] + power[2]) * h / 6.0;
            mount.system.accept_step(&mut state).expect("realized");
            // Closer to the right angle such steps are too long.
            if turning.q.y.cos() < 0.3 {
                break;
            }
        }
        // What the spring has done is what it no longer stores; Simpson's rule errs by (h·w)⁴/2880 of it.
        let lost = energy_at_start - stored(&turning.q);
        assert!((work - lost).abs() < 1e-4 * (1.0 + lost.abs()), "{work} J of work, {lost} J given");
        turns = turns.sup(&(turning.q / TAU).abs());
    }
    assert!(turns.x > 10.0 && turns.z > 10.0, "the motion is trivial: {turns} turns");
}

#[test]
fn a_turn_of_up_to_3_rad_about_a_fixed_axis_is_followed_and_refused_only_near_the_singular_case() {
    let mount = Mount::new();
    let mut random = Random::new(2);
    let (mut followed, mut refused, mut beyond_half_a_turn) = (0_u64, 0_u64, 0_u64);
    for i in 0..usize::try_from(seeds(30_000)).expect("few") {
        // A third of them start anywhere, a third within a few degrees of the right angle.
        let (least, most) = [(0.01, 0.2), (0.2, 1.0), (0.0, 1.0)][i % 3];
        let lean = (1.0 - random.between(least, most)) * [-1.0, 1.0][i / 3 % 2];
        let q_y = if i % 3 == 2 { lean.asin() } else { lean * FRAC_PI_2 };
        let q = Vector3::new(random.between(-PI, PI), q_y, random.between(-PI, PI));
        let axis = random.vector(1.0).normalize();
        // Half of the turns are large.
        let angle = random.between(0.0, 1.0).powi([1, 4][i / 6 % 2]) * 3.0;
        let mut turning = Turning::new(q);
        let mut nearest = turning.q.y.cos();
        let mut passed = 0.0;
        // In pieces short enough for the angles, which turn by 1/cos q_y times as much.
        while passed < 1.0 && nearest > 1e-3 {
            let piece = (turning.q.y.cos() * 0.05 / angle).clamp(1e-6, 0.05).min(1.0 - passed);
            turning.advance(0.0, piece, &|_, _| axis * angle);
            nearest = nearest.min(turning.q.y.cos());
            passed += piece;
        }
        // Beyond, the oracle loses its accuracy, or the ends are singular.
        if nearest <= 1e-3 || q.y.cos() < 0.008 || turning.q.y.cos() < 0.008 {
            continue;
        }
        let mut state = mount.start(&q);
        mount.turn(&mut state, &turning.R_FM());
        let changes = (turning.q - q).abs();
        let less = changes.x.min(changes.z);
        match mount.angles(&mut state) {
            Ok(angles) => {
                let off = (angles - turning.q).amax();
                assert!(off < 1e-3, "{angles} {} from {q} by {angle} about {axis}", turning.q);
                // The pieces pass the least cosine by up to half the square of their length.
                assert!(nearest > 0.499 || less < 0.101, "{changes} at a cosine of {nearest}");
                followed += 1;
                beyond_half_a_turn += u64::from(changes.x.max(changes.z) > PI);
            }
            Err(error) => {
                assert!(matches!(error.own(), Some(Refusal::AmbiguousAngles { .. })), "{error:?}");
                assert!(nearest < 0.501 && less > 0.099, "{changes} by {angle} at a cosine of {nearest}");
                refused += 1;
            }
        }
    }
    let least = seeds(8000);
    assert!(followed > least && refused > least && beyond_half_a_turn > least / 400);
}
