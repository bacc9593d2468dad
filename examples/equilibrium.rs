//! The rest position of an engine on four mounts, by Newton's method with exact stiffnesses, and the frequencies about it.
//!
//! Prints the residual from step to step, once with the linearization and once with differences of all forces, and the
//! frequencies of small oscillations.
//!
//! ```text
//! cargo run --release --example equilibrium
//! ```

use std::error::Error;

use force_elements::linear_bushing::Parameters;
use force_elements::nalgebra::{
    Matrix3, Matrix6, Point3, Rotation3, SymmetricEigen, Translation3, Vector3, Vector6,
};
use force_elements::{
    BodyIndex, ForceSystem, Frame, LinearBushing, Linearization, Pose, SpatialForce, State,
};
use force_elements_examples::{Arguments, Table, print, println};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const MASS: f64 = 180.0;
/// Principal moments of inertia about the mass center \[kg·m²\].
const INERTIA: [f64; 3] = [6.0, 14.0, 12.0];
/// The reaction of the drive, about the axis of the engine \[N·m\].
const TORQUE: f64 = 900.0;

struct Engine {
    system: ForceSystem<f64>,
    body: BodyIndex,
    state: State<f64>,
    linearization: Linearization<f64>,
}

/// The mass center of the engine, in its own frame.
fn mass_center() -> Point3<f64> {
    Point3::new(0.02, 0.01, 0.12)
}

impl Engine {
    /// An engine on four mounts that lean towards its axis.
    fn new() -> Result<Self> {
        let mut system = ForceSystem::new();
        let body = system.add_body();
        let stiffness = Vector6::new(40.0, 40.0, 40.0, 9e4, 9e4, 2.2e5);
        for (x, y) in [(-0.3, -0.25), (-0.3, 0.25), (0.35, -0.2), (0.35, 0.2)] {
            let lean = Rotation3::from_axis_angle(&Vector3::x_axis(), 0.6 * f64::signum(y));
            let place = Pose::from_parts(Translation3::new(x, y, 0.0), lean);
            let parameters = Parameters { stiffness, damping: stiffness * 2e-3 };
            system.add(LinearBushing::new(Frame::ground(place), Frame::on(body, place), parameters)?)?;
        }
        let state = system.default_state();
        Ok(Self { system, body, state, linearization: Linearization::new() })
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

    /// The derivative of the residual by a twist of the engine. That of the weight is the host's: a turn `θ` carries the
    /// mass center, and the torque of the weight changes by `(θ × r) × f`.
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
        for _ in 0..7 {
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
        let mut frequencies: Vec<f64> = squares.iter().map(|w| w.sqrt() / std::f64::consts::TAU).collect();
        frequencies.sort_by(f64::total_cmp);
        Ok(frequencies)
    }
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

fn main() -> Result<()> {
    Arguments::read("The rest position of an engine on four mounts, and the frequencies about it.", []);
    let mut engine = Engine::new()?;
    let differences = engine.settle(Engine::stiffness_by_differences)?;
    let exact = engine.settle(Engine::stiffness)?;
    let mut table = Table::new(["step", "residual, exact", "residual, differences"]);
    for (step, (exact, differences)) in exact.iter().zip(&differences).enumerate() {
        table.row([step.to_string(), format!("{exact:.1e}"), format!("{differences:.1e}")]);
    }
    print!("{table}");
    let stiffness = engine.stiffness()?;
    let asymmetry = (stiffness - stiffness.transpose()).amax();
    println!("\nAsymmetry of the stiffness at rest: {asymmetry:.6} N·m/rad, the torque of the drive in N·m.");
    let frequencies: Vec<_> = engine.frequencies()?.iter().map(|f| format!("{f:.2}")).collect();
    println!("Frequencies: {} Hz.", frequencies.join(", "));
    Ok(())
}
