//! Typed access to the fields of a case.

use force_elements::nalgebra::{Matrix3, Point3, Rotation3, Translation3, Vector3};
use force_elements::{BodyIndex, Pose, SpatialForce, SpatialVelocity, Topology};
use serde_json::Value;

use super::Failure;

/// An object of the file.
#[derive(Clone, Copy)]
pub struct Fields<'a>(pub &'a Value);

impl<'a> Fields<'a> {
    fn field(self, name: &str) -> Result<&'a Value, Failure> {
        self.0.get(name).ok_or_else(|| format!("no field {name}").into())
    }

    pub fn has(self, name: &str) -> bool {
        self.0.get(name).is_some_and(|value| !value.is_null())
    }

    pub fn object(self, name: &str) -> Result<Fields<'a>, Failure> {
        Ok(Fields(self.field(name)?))
    }

    pub fn objects(self, name: &str) -> Result<Vec<Fields<'a>>, Failure> {
        Ok(self.list(name)?.iter().map(Fields).collect())
    }

    pub fn index(self, name: &str) -> Result<usize, Failure> {
        let index = self.field(name)?.as_u64().and_then(|index| usize::try_from(index).ok());
        Ok(index.ok_or_else(|| format!("{name} is not an index"))?)
    }

    pub fn body(self, name: &str, topology: &Topology) -> Result<BodyIndex, Failure> {
        Ok(topology.body(self.index(name)?).ok_or_else(|| format!("{name} does not exist"))?)
    }

    pub fn list(self, name: &str) -> Result<&'a [Value], Failure> {
        Ok(self.field(name)?.as_array().ok_or_else(|| format!("{name} is not a list"))?)
    }

    pub fn text(self, name: &str) -> Result<&'a str, Failure> {
        Ok(self.field(name)?.as_str().ok_or_else(|| format!("{name} is not a text"))?)
    }

    pub fn flag(self, name: &str) -> Result<bool, Failure> {
        Ok(self.field(name)?.as_bool().ok_or_else(|| format!("{name} is not true or false"))?)
    }

    pub fn number(self, name: &str) -> Result<f64, Failure> {
        Ok(self.field(name)?.as_f64().ok_or_else(|| format!("{name} is not a number"))?)
    }

    pub fn numbers(self, name: &str) -> Result<Vec<f64>, Failure> {
        let numbers: Option<Vec<f64>> = self.list(name)?.iter().map(Value::as_f64).collect();
        Ok(numbers.ok_or_else(|| format!("{name} is not a list of numbers"))?)
    }

    pub fn array<const N: usize>(self, name: &str) -> Result<[f64; N], Failure> {
        let numbers = self.numbers(name)?;
        Ok(numbers.try_into().map_err(|_| format!("{name} does not have {N} entries"))?)
    }

    pub fn vector(self, name: &str) -> Result<Vector3<f64>, Failure> {
        Ok(Vector3::from(self.array::<3>(name)?))
    }

    pub fn point(self, name: &str) -> Result<Point3<f64>, Failure> {
        Ok(Point3::from(self.vector(name)?))
    }

    pub fn pose(self, name: &str) -> Result<Pose<f64>, Failure> {
        let pose = self.object(name)?;
        let mut R = Matrix3::zeros();
        for (i, row) in pose.list("rotation")?.iter().enumerate().take(3) {
            for (j, entry) in row.as_array().into_iter().flatten().enumerate().take(3) {
                R[(i, j)] = entry.as_f64().ok_or_else(|| format!("{name}: an entry is not a number"))?;
            }
        }
        let p = Translation3::from(pose.vector("translation")?);
        Ok(Pose::from_parts(p, Rotation3::from_matrix_unchecked(R)))
    }

    pub fn velocity(self, name: &str) -> Result<SpatialVelocity<f64>, Failure> {
        let velocity = self.object(name)?;
        Ok(SpatialVelocity::new(velocity.vector("angular")?, velocity.vector("linear")?))
    }

    pub fn force(self, name: &str) -> Result<SpatialForce<f64>, Failure> {
        let force = self.object(name)?;
        Ok(SpatialForce::new(force.vector("torque")?, force.vector("force")?))
    }
}
