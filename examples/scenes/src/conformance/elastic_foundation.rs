//! Cases of the elastic foundation.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use force_elements::elastic_foundation::{Material, Parameters};
use force_elements::nalgebra::Point3;
use force_elements::shapes::{Ellipsoid, HalfSpace, SolidShape, Sphere, TriangleMesh};
use force_elements::{BodyIndex, ElasticFoundation, ForceSystem, Frame};

use super::{Deviations, Failure, Fields};

const TOLERANCE: f64 = 1e-10;

/// The meshes that cases name: the files under `meshes/` beside the cases, each read once.
pub(crate) struct Meshes {
    folder: PathBuf,
    read: RefCell<BTreeMap<String, Arc<TriangleMesh<f64>>>>,
}

impl Meshes {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder, read: RefCell::default() }
    }

    fn mesh(&self, name: &str) -> Result<Arc<TriangleMesh<f64>>, Failure> {
        if let Some(mesh) = self.read.borrow().get(name) {
            return Ok(Arc::clone(mesh));
        }
        let path = self.folder.join(format!("{}.obj", name.trim_end_matches(".obj")));
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let mesh = Arc::new(read_obj(&text)?);
        self.read.borrow_mut().insert(name.to_string(), Arc::clone(&mesh));
        Ok(mesh)
    }
}

/// The lines that these files consist of: `v x y z` and `f i j k`.
fn read_obj(text: &str) -> Result<TriangleMesh<f64>, Failure> {
    let (mut vertices, mut faces) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("v") => {
                let mut number = || words.next().unwrap_or_default().parse();
                vertices.push(Point3::new(number()?, number()?, number()?));
            }
            Some("f") => {
                let mut corner = || -> Result<u32, Failure> {
                    let index = words.next().and_then(|word| word.split('/').next());
                    let index: u32 = index.unwrap_or_default().parse()?;
                    Ok(index.checked_sub(1).ok_or("corners count from 1")?)
                };
                faces.push([corner()?, corner()?, corner()?]);
            }
            _ => {}
        }
    }
    Ok(TriangleMesh::closed(&vertices, &faces)?)
}

pub(crate) fn check(meshes: &Meshes, case: Fields<'_>) -> Result<Deviations, Failure> {
    let (input, expected) = (case.object("input")?, case.object("expected")?);
    let mut system = ForceSystem::new();
    let body1 = system.add_body();
    let is_ground = input.flag("body2_is_ground")?;
    let body2 = if is_ground { BodyIndex::GROUND } else { system.add_body() };

    let vt = input.number("transition_velocity")?;
    let mut foundation =
        ElasticFoundation::new(Parameters { transition_velocity: vt, ..Parameters::default() })?;
    let mesh1 = meshes.mesh(input.text("mesh1")?)?;
    foundation.add_springs(
        Frame::on(body1, input.pose("X_B1S")?),
        mesh1,
        material(input.object("parameters1")?)?,
    )?;

    let surface2 = input.object("surface2")?;
    let X_B2S = input.pose("X_B2S")?;
    let shape: SolidShape<f64> = match surface2.text("type")? {
        "half_space" => HalfSpace::BeyondX.into(),
        "sphere" => Sphere::new(surface2.number("radius")?)?.into(),
        "ellipsoid" => Ellipsoid::new(surface2.vector("radii")?)?.into(),
        "mesh" => meshes.mesh(surface2.text("mesh")?)?.into(),
        other => return Err(format!("no surface is called {other}").into()),
    };
    let parameters2 = input.object("parameters2")?;
    match shape {
        SolidShape::Mesh(mesh) if !parameters2.0.is_null() => {
            foundation.add_springs(Frame::on(body2, X_B2S), mesh, material(parameters2)?)?
        }
        shape => foundation.add_rigid(Frame::on(body2, X_B2S), shape)?,
    };
    system.add(foundation)?;

    let mut state = system.default_state();
    state.set_body(body1, input.pose("X_GB1")?, input.velocity("V_GB1")?)?;
    if !is_ground {
        state.set_body(body2, input.pose("X_GB2")?, input.velocity("V_GB2")?)?;
    }
    let view = system.realize_dynamics(&mut state)?;

    let mut deviations = Deviations::default();
    for (body, force_name, torque_name) in
        [(body1, "force_on_body1", "torque_on_body1"), (body2, "force_on_body2", "torque_on_body2")]
    {
        let (got, want) = (view.body_force(body), expected.force(force_name)?);
        // Relative to the force, acting a metre or so away. Where springs push against each other
        // little is left of many newtons; one newton is what agreement can be asked of there.
        let scale = want.force.norm().max(want.torque.norm()).max(1.0);
        deviations.scaled(force_name, got.force.as_slice(), want.force.as_slice(), scale, TOLERANCE);
        deviations.scaled(torque_name, got.torque.as_slice(), want.torque.as_slice(), scale, TOLERANCE);
    }
    let want = expected.number("potential_energy")?;
    deviations.scaled(
        "potential_energy",
        &[view.potential_energy()],
        &[want],
        want.abs().max(1e-3),
        TOLERANCE,
    );
    Ok(deviations)
}

fn material(fields: Fields<'_>) -> Result<Material<f64>, Failure> {
    let stiffness = fields.number("stiffness")?;
    Ok(Material::new(stiffness).with_dissipation(fields.number("dissipation")?).with_friction(
        fields.number("static_friction")?,
        fields.number("dynamic_friction")?,
        fields.number("viscous_friction")?,
    ))
}
