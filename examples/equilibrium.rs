//! The rest position of an engine on mounts, a foot and a stay, by Newton's method with exact stiffnesses, and the
//! frequencies about it.
//!
//! Prints the residuals of the steps, with the linearization and with differences of all forces, and the frequencies of
//! small oscillations, and draws the residuals and the engine.
//!
//! ```text
//! cargo run --release --example equilibrium [-- PICTURE.svg]
//! ```

use std::error::Error;
use std::f64::consts::{FRAC_PI_2, TAU};
use std::process::ExitCode;

use force_elements::cable::{CablePath, Obstacle};
use force_elements::elastic_foundation::{self, Material};
use force_elements::nalgebra::{
    Matrix3, Matrix6, Point3, Rotation3, SymmetricEigen, Translation3, Vector3, Vector6,
};
use force_elements::shapes::{Cylinder, HalfSpace, TriangleMesh};
use force_elements::{
    BodyIndex, CableSpring, ElasticFoundation, ForceSystem, Frame, Handle, LinearBushing, Linearization,
    Pose, SpatialForce, State, Station, cable_spring, linear_bushing,
};
use force_elements_examples::picture::{self, Curve, Panel};
use force_elements_examples::{Argument, Arguments, Table, print, println};
// Linked so that the generic code compiled with it, for all tests, is not compiled again here.
use force_elements_scenes as _;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const MASS: f64 = 180.0;
/// Principal moments of inertia about the mass center \[kg·m²\].
const INERTIA: [f64; 3] = [6.0, 14.0, 12.0];
/// The reaction of the drive, about the axis of the engine \[N·m\].
const TORQUE: f64 = 400.0;
/// The rear mounts, the centre of the ball under the front and its radius, in the frame of the engine \[m\].
const MOUNTS: [(f64, f64); 2] = [(-0.3, -0.25), (-0.3, 0.25)];
const FOOT: [f64; 3] = [0.35, 0.0, 0.0];
const RADIUS: f64 = 0.12;
const FLOOR: f64 = -0.118;
/// Where the stay begins on the engine, the axis of the pulley and its radius, and where it ends on the floor \[m\].
const EYE: [f64; 3] = [0.0, 0.3, 0.3];
const PULLEY: [f64; 3] = [0.0, 0.75, 0.55];
const SHEAVE: f64 = 0.06;
const ANCHOR: [f64; 3] = [0.0, 0.9, FLOOR];
/// Steps of Newton's method.
const STEPS: usize = 8;
/// The residual due to rounding of forces of kilonewtons \[N, N·m\].
const ROUNDING: f64 = 1e-9;

struct Engine {
    system: ForceSystem<f64>,
    body: BodyIndex,
    stay: Handle<CableSpring<f64>>,
    state: State<f64>,
    linearization: Linearization<f64>,
}

/// The mass center of the engine, in its own frame.
fn mass_center() -> Point3<f64> {
    Point3::new(0.02, 0.01, 0.12)
}

impl Engine {
    /// An engine on two mounts that lean towards its axis and a rubber foot, held by a stay over a pulley.
    fn new() -> Result<Self> {
        let mut system = ForceSystem::new();
        let body = system.add_body();
        let stiffness = Vector6::new(40.0, 40.0, 40.0, 9e4, 9e4, 2.2e5);
        for (x, y) in MOUNTS {
            let lean = Rotation3::from_axis_angle(&Vector3::x_axis(), 0.6 * f64::signum(y));
            let place = Pose::from_parts(Translation3::new(x, y, 0.0), lean);
            let parameters = linear_bushing::Parameters { stiffness, damping: stiffness * 2e-3 };
            system.add(LinearBushing::new(Frame::ground(place), Frame::on(body, place), parameters)?)?;
        }
        let clipped = elastic_foundation::Parameters { clipped: true, ..Default::default() };
        let mut foot = ElasticFoundation::new(clipped)?;
        foot.add_rigid(Frame::ground(Pose::translation(0.0, 0.0, FLOOR)), HalfSpace::BelowZ)?;
        let [x, y, z] = FOOT;
        let ball = TriangleMesh::sphere(RADIUS, 24)?;
        foot.add_springs(Frame::on(body, Pose::translation(x, y, z)), ball, Material::new(2e7))?;
        system.add(foot)?;

        let [x, y, z] = PULLEY;
        let along_x = Rotation3::from_axis_angle(&Vector3::y_axis(), FRAC_PI_2);
        let frame = Frame::ground(Pose::from_parts(Translation3::new(x, y, z), along_x));
        // The top of the pulley, in its own frame.
        let top = Point3::new(-SHEAVE, 0.0, 0.0);
        let pulley = Obstacle::new(frame, Cylinder::new(SHEAVE)?)?.with_contact_hint(top)?;
        let path =
            CablePath::new(Station::on(body, EYE.into()), Station::ground(ANCHOR.into()))?.over(pulley);
        let parameters = cable_spring::Parameters { stiffness: 4e4, slack_length: 1.27, dissipation: 0.1 };
        let stay = system.add(CableSpring::new(path, parameters)?)?;
        let state = system.default_state();
        Ok(Self { system, body, stay, state, linearization: Linearization::new() })
    }

    fn place(&mut self, pose: Pose<f64>) -> Result<()> {
        Ok(self.state.set_pose(self.body, pose)?)
    }

    /// From the origin to the mass center, in Ground.
    fn lever(&self) -> Vector3<f64> {
        self.state.positions().pose(self.body) * mass_center().coords
    }

    /// Torque and force on the engine, which vanish at rest.
    fn residual(&mut self) -> Result<Vector6<f64>> {
        let weight = SpatialForce::new(Vector3::zeros(), Vector3::z() * (-9.81 * MASS));
        let drive = SpatialForce::new(Vector3::x() * TORQUE, Vector3::zeros());
        let loads = weight.shifted(-self.lever()) + drive;
        let F = self.system.realize_dynamics(&mut self.state)?.body_force(self.body) + loads;
        Ok(Vector6::new(F.torque.x, F.torque.y, F.torque.z, F.force.x, F.force.y, F.force.z))
    }

    /// The derivative of the residual by a twist of the engine. That of the weight belongs to the host: a rotation `θ`
    /// moves the mass center, and the torque of the weight changes by `(θ × r) × f`.
    fn stiffness(&mut self) -> Result<Matrix6<f64>> {
        self.system.realize_dynamics(&mut self.state)?;
        self.system.linearize(&self.state, &mut self.linearization)?;
        let [stiffness, _] = self.linearization.to_dense();
        let mut stiffness: Matrix6<f64> = stiffness.fixed_view::<6, 6>(0, 0).into_owned();
        let weight = Vector3::z() * (-9.81 * MASS);
        let mut turns = stiffness.fixed_view_mut::<3, 3>(0, 0);
        turns += weight.cross_matrix() * self.lever().cross_matrix();
        Ok(stiffness)
    }

    /// The same by forward differences of all forces.
    fn stiffness_by_differences(&mut self) -> Result<Matrix6<f64>> {
        let start = *self.state.positions().pose(self.body);
        let here = self.residual()?;
        let mut stiffness = Matrix6::zeros();
        for freedom in 0..6 {
            let step = 1e-6;
            self.place(moved(&start, &Vector6::ith(freedom, step)))?;
            stiffness.set_column(freedom, &((self.residual()? - here) / step));
        }
        self.place(start)?;
        Ok(stiffness)
    }

    /// The sizes of the residuals from step to step.
    fn settle(&mut self, stiffness: fn(&mut Self) -> Result<Matrix6<f64>>) -> Result<Vec<f64>> {
        let mut sizes = Vec::new();
        self.place(Pose::identity())?;
        for _ in 0..STEPS {
            let residual = self.residual()?;
            sizes.push(residual.norm());
            let correction = stiffness(self)?.lu().solve(&-residual).ok_or("the mounts leave a freedom")?;
            self.place(moved(&self.state.positions().pose(self.body).clone(), &correction))?;
        }
        Ok(sizes)
    }

    /// The frequencies of small undamped oscillations \[Hz\].
    fn frequencies(&mut self) -> Result<Vec<f64>> {
        let stiffness = self.stiffness()?;
        let R = *self.state.positions().pose(self.body).rotation.matrix();
        let (r, inertia) =
            (self.lever().cross_matrix(), R * Matrix3::from_diagonal(&INERTIA.into()) * R.transpose());
        let mut mass = Matrix6::identity() * MASS;
        mass.fixed_view_mut::<3, 3>(0, 0).copy_from(&(inertia - r * r * MASS));
        mass.fixed_view_mut::<3, 3>(0, 3).copy_from(&(r * MASS));
        mass.fixed_view_mut::<3, 3>(3, 0).copy_from(&(-r * MASS));
        // Without the torque of the drive, which has no potential, it would be symmetric.
        let stiffness = (stiffness + stiffness.transpose()) * 0.5;
        let root = mass.cholesky().ok_or("the mass is not positive")?.l();
        let inverse = root.try_inverse().ok_or("the mass is not positive")?;
        let squares = SymmetricEigen::new(-(inverse * stiffness * inverse.transpose())).eigenvalues;
        let mut frequencies: Vec<f64> = squares.iter().map(|w| w.sqrt() / TAU).collect();
        frequencies.sort_by(f64::total_cmp);
        Ok(frequencies)
    }

    /// The engine, its foot and the stay as seen from the front.
    fn outline(&mut self) -> Result<[Vec<(f64, f64)>; 4]> {
        let view = self.system.realize_dynamics(&mut self.state)?;
        let seen = |p_G: &Point3<f64>| (p_G.y, p_G.z);
        let X = view.positions().pose(self.body);
        let corners = [(-0.3, 0.0), (-0.3, 0.3), (0.3, 0.3), (0.3, 0.0), (-0.3, 0.0)];
        let engine = corners.map(|(y, z)| seen(&(X * Point3::new(0.0, y, z)))).to_vec();
        let [x, y, z] = FOOT;
        let foot = around().map(|t| seen(&(X * Point3::new(x, y + RADIUS * t.cos(), z + RADIUS * t.sin()))));
        let segments = &view.of(self.stay).position.path.segments;
        let mut straight = segments.iter().map(|segment| vec![seen(&segment.from_G), seen(&segment.to_G)]);
        let [before, after] = [(); 2].map(|()| straight.next().unwrap_or_default());
        Ok([engine, foot.collect(), before, after])
    }
}

/// Angles once around.
fn around() -> impl Iterator<Item = f64> {
    (0..=48).map(|i| f64::from(i) * TAU / 48.0)
}

/// A pose after a small twist.
fn moved(pose: &Pose<f64>, twist: &Vector6<f64>) -> Pose<f64> {
    let turn: Vector3<f64> = twist.fixed_rows::<3>(0).into();
    let shift: Vector3<f64> = twist.fixed_rows::<3>(3).into();
    Pose::from_parts(
        Translation3::from(pose.translation.vector + shift),
        Rotation3::new(turn) * pose.rotation,
    )
}

/// The residuals with both stiffnesses, and the engine at the start and at rest.
fn panels(engine: &mut Engine, exact: &[f64], differences: &[f64]) -> Result<Vec<Panel>> {
    let [body, foot, before, after] = engine.outline()?;
    engine.place(Pose::identity())?;
    let [start, ..] = engine.outline()?;
    let [_, y, z] = PULLEY;
    let pulley = around().map(|t| (y + SHEAVE * t.cos(), z + SHEAVE * t.sin())).collect();
    let floor = vec![(-0.4, FLOOR), (1.0, FLOOR)];
    let over_steps = |sizes: &[f64]| {
        (0_u32..).map(f64::from).zip(sizes.iter().map(|size| size.max(1e-14).log10())).collect()
    };
    Ok(vec![
        Panel::new(
            "Newton's method",
            "step",
            "residual [N, N·m]",
            vec![
                Curve::beneath("differences", over_steps(differences)),
                Curve::new("linearization", over_steps(exact)),
            ],
        )
        .logarithmic(),
        Panel::new(
            "The engine from the front",
            "y [m]",
            "z [m]",
            vec![
                Curve::beneath("start", start),
                Curve::new("foot", foot),
                Curve::new("at rest", body),
                Curve::new("stay and its pulley", before),
                Curve::new("", after),
                Curve::new("", pulley),
                Curve::new("floor", floor),
            ],
        )
        .after_colors(1)
        .to_scale(),
    ])
}

fn main() -> Result<ExitCode> {
    let arguments = Arguments::read(
        "The rest position of an engine on mounts, a foot and a stay: a table, and a picture.",
        [Argument::picture("target/equilibrium.svg")],
    );
    let mut engine = Engine::new()?;
    let differences = engine.settle(Engine::stiffness_by_differences)?;
    let exact = engine.settle(Engine::stiffness)?;
    let mut table = Table::new(["step", "residual, exact", "over previous square", "residual, differences"]);
    let mut most = 0.0_f64;
    for (step, (size, by_differences)) in exact.iter().zip(&differences).enumerate() {
        // What is below is rounding.
        let before = step.checked_sub(1).map(|before| exact[before]).filter(|_| *size > ROUNDING);
        let of_square = before.map(|before| size / (before * before));
        most = of_square.map_or(most, |of_square| most.max(of_square));
        let of_square = of_square.map_or(String::new(), |of_square| format!("{of_square:.1e}"));
        table.row([step.to_string(), format!("{size:.1e}"), of_square, format!("{by_differences:.1e}")]);
    }
    print!("{table}");
    let last = exact[STEPS - 1];
    let is_quadratic = most < 1e-3 && last < ROUNDING;
    println!(
        "\nResiduals converge quadratically, each at most {most:.1e} times the square of the previous one, to {last:.1e}: {}.",
        if is_quadratic { "pass" } else { "FAIL" }
    );
    let stiffness = engine.stiffness()?;
    let asymmetry = (stiffness - stiffness.transpose()).amax();
    println!(
        "Asymmetry of the stiffness at rest: {asymmetry:.6} N·m/rad, which equals the torque of the drive in N·m."
    );
    let frequencies: Vec<_> = engine.frequencies()?.iter().map(|f| format!("{f:.2}")).collect();
    println!("Frequencies: {} Hz.", frequencies.join(", "));
    let path = arguments.path(0);
    picture::draw(path, (1, 2), &panels(&mut engine, &exact, &differences)?)?;
    println!("\npicture: {}", path.display());
    Ok(if is_quadratic { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
