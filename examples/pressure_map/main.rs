//! A tyre is pressed on the ground, cornering and braking: where it presses and where it slips.
//!
//! ```text
//! cargo run --release -p force-elements-pressure-map --example pressure_map [-- FOLDER]
//! ```
//!
//! Prints the resultant at several slip speeds and writes `pressure_map.svg`, `cap_convergence.svg`
//! (how the force of a ball approaches that of the exact cap as its mesh is refined) and
//! `pressure_map.vtk`, which ParaView and its like open: the mesh with pressure and friction per face.

mod export;
mod picture;

use std::error::Error;
use std::f64::consts::{FRAC_PI_2, PI};
use std::sync::Arc;

use force_elements::elastic_foundation::{Dynamics, Material, Parameters, Position};
use force_elements::nalgebra::{Rotation3, Translation3, Vector3};
use force_elements::shapes::{HalfSpace, TriangleMesh};
use force_elements::{
    BodyIndex, DynamicsView, ElasticFoundation, ForceSystem, Frame, Handle, Pose, SpatialVelocity, State,
};
use force_elements_examples::{Argument, Arguments, Table, println};

const RING: f64 = 0.24;
const TUBE: f64 = 0.08;
const CAMBER: f64 = 0.12;
const LOAD: f64 = 3000.0;

/// A tyre over a floor.
struct Tyre {
    system: ForceSystem<f64>,
    state: State<f64>,
    foundation: Handle<ElasticFoundation<f64>>,
    body: BodyIndex,
    mesh: Arc<TriangleMesh<f64>>,
}

/// What there is to see of the tyre in contact.
struct Snapshot<'a> {
    mesh: &'a TriangleMesh<f64>,
    X_GS: Pose<f64>,
    view: DynamicsView<'a, f64>,
    position: &'a Position<f64>,
    dynamics: &'a Dynamics<f64>,
}

impl Tyre {
    fn new() -> Result<Self, Box<dyn Error>> {
        let mut system = ForceSystem::new();
        let body = system.add_body();
        let mesh = Arc::new(TriangleMesh::torus(RING, TUBE, 180, 72)?);
        let rubber = Material::from_elastic_layer(6e5, 0.4, 0.03)?.with_dissipation(0.2);
        let mut foundation = ElasticFoundation::default();
        foundation.add_rigid(Frame::ground(Pose::identity()), HalfSpace::BelowZ)?;
        // The torus turns about z of its mesh, the tyre about y, leaning over a little.
        let upright = Rotation3::from_axis_angle(&Vector3::x_axis(), FRAC_PI_2 + CAMBER);
        let X_BS = Pose::from_parts(Translation3::identity(), upright);
        let friction = rubber.with_friction(1.0, 0.8, 0.0);
        foundation.add_springs(Frame::on(body, X_BS), Arc::clone(&mesh), friction)?;
        let foundation = system.add(foundation)?;
        let state = system.default_state();
        Ok(Self { system, state, foundation, body, mesh })
    }

    /// The height at which the springs carry the load, by bisection.
    fn settle(&mut self) -> Result<f64, force_elements::Error> {
        let (mut low, mut high) = (0.8 * RING, 1.1 * (RING + TUBE));
        while high - low > 1e-9 {
            let middle = 0.5 * (low + high);
            self.state.set_pose(self.body, Pose::translation(0.0, 0.0, middle))?;
            let force = self.system.realize_dynamics(&mut self.state)?.body_force(self.body).force.z;
            if force > LOAD { low = middle } else { high = middle }
        }
        Ok(0.5 * (low + high))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::read_of(
        "force-elements-pressure-map",
        "A tyre is pressed on the ground, cornering and braking: a table, two pictures, and a VTK file.",
        [Argument { name: "FOLDER", help: "where the files are written", default: "target" }],
    );
    let folder = arguments.path(0);
    std::fs::create_dir_all(folder)?;

    let mut tyre = Tyre::new()?;
    let height = tyre.settle()?;
    println!(
        "a tyre of {} faces carries {LOAD} N at a deflection of {:.1} mm\n",
        tyre.mesh.face_count(),
        1e3 * (RING * CAMBER.cos() + TUBE - height),
    );
    let mut table = Table::new([
        "slip [m/s]",
        "Fx [N]",
        "Fy [N]",
        "Fz [N]",
        "friction",
        "faces",
        "area [cm²]",
        "centre x [mm]",
        "centre y [mm]",
    ]);
    for slip in [0.0, 0.002, 0.005, 0.01, 0.02, 0.1, 1.0] {
        // A locked wheel that yaws a little: slip differs from place to place.
        let linear = Vector3::new(slip, 0.5 * slip, 0.0);
        let yaw = Vector3::new(0.0, 0.0, 6.0 * slip);
        tyre.state.set_pose(tyre.body, Pose::translation(0.0, 0.0, height))?;
        tyre.state.set_velocity(tyre.body, SpatialVelocity::new(yaw, linear))?;
        let dynamics = tyre.system.realize_dynamics(&mut tyre.state)?;
        let force = dynamics.body_force(tyre.body).force;
        let at = dynamics.of(tyre.foundation);
        let resultant = &at.dynamics.resultants[0];
        let center = resultant.center_of_pressure_G.ok_or("the tyre hangs in the air")?;
        table.row([
            slip.to_string(),
            format!("{:.1}", force.x),
            format!("{:.1}", force.y),
            format!("{:.1}", force.z),
            format!("{:.3}", force.xy().norm() / force.z),
            at.position.springs.len().to_string(),
            format!("{:.1}", 1e4 * resultant.area),
            format!("{:.2}", 1e3 * center.x),
            format!("{:.2}", 1e3 * center.y),
        ]);
    }
    println!("{table}");

    let view = tyre.system.dynamics_view(&tyre.state)?;
    let at = view.of(tyre.foundation);
    let mesh_surface = at.position.contacts[0].mesh;
    let snapshot = Snapshot {
        mesh: &tyre.mesh,
        X_GS: at.position.X_GS[mesh_surface],
        position: at.position,
        dynamics: at.dynamics,
        view,
    };
    let written = [
        picture::draw(&folder.join("pressure_map.svg"), &snapshot)?,
        picture::draw_convergence(&folder.join("cap_convergence.svg"), &cap_errors()?)?,
        export::write(&folder.join("pressure_map.vtk"), &snapshot)?,
    ];
    for path in written {
        println!("wrote {}", path.display());
    }
    Ok(())
}

/// How far a ball's force is from that of its exact cap, by number of faces, by centroids and with clipped
/// faces.
fn cap_errors() -> Result<Vec<(f64, [f64; 2])>, force_elements::Error> {
    let (depth, stiffness) = (0.2, 1e5);
    // ∫ x dA over the cap.
    let exact = stiffness * PI * depth * depth;
    let mut errors = Vec::new();
    for frequency in [4, 6, 8, 11, 16, 23, 32, 45, 64, 90, 128] {
        let mesh = Arc::new(TriangleMesh::sphere(1.0, frequency)?);
        let mut error = [0.0; 2];
        for (i, clipped) in [false, true].into_iter().enumerate() {
            let mut system = ForceSystem::<f64>::new();
            let body = system.add_body();
            let mut foundation = ElasticFoundation::new(Parameters { clipped, ..Parameters::default() })?;
            foundation.add_rigid(Frame::ground(Pose::identity()), HalfSpace::BelowZ)?;
            let springs = Material::new(stiffness);
            foundation.add_springs(Frame::of(body), Arc::clone(&mesh), springs)?;
            system.add(foundation)?;
            let mut state = system.default_state();
            let turn = Rotation3::new(Vector3::new(0.3, 0.4, 0.2));
            let height = Translation3::new(0.0, 0.0, 1.0 - depth);
            state.set_pose(body, Pose::from_parts(height, turn))?;
            let force = system.realize_dynamics(&mut state)?.body_force(body).force.z;
            error[i] = (force / exact - 1.0).abs();
        }
        errors.push((f64::from(8 * frequency * frequency), error));
    }
    Ok(errors)
}
