//! Python bindings of the crate `force-elements`.

mod arrays;
mod batch;
mod cables;
mod convert;
mod design;
mod errors;
mod inertias;
mod keywords;
mod linearization;
mod motion;
mod outputs;
mod parallel;
mod parts;
mod saved;
mod shapes;
mod simulate;
mod state;
mod system;
mod variables;

use pyo3::prelude::*;

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<system::System>()?;
    module.add_class::<state::State>()?;
    module.add_class::<batch::Batch>()?;
    module.add_class::<linearization::Linearization>()?;
    module.add_class::<design::ContactDesign>()?;
    module.add_class::<inertias::Inertias>()?;
    module.add_class::<inertias::StableStep>()?;
    module.add_class::<parts::Body>()?;
    module.add_class::<parts::Coordinate>()?;
    module.add_class::<parts::Element>()?;
    module.add_class::<parts::Frame>()?;
    module.add_class::<parts::Station>()?;
    module.add_class::<shapes::Shape>()?;
    module.add_class::<shapes::Mesh>()?;
    module.add_class::<shapes::Surface>()?;
    module.add_class::<cables::Obstacle>()?;
    module.add_class::<cables::ViaPoint>()?;
    module.add_function(wrap_pyfunction!(system::parameters, module)?)?;
    module.add_function(wrap_pyfunction!(system::resting_height, module)?)?;
    module.add_function(wrap_pyfunction!(state::_state_of, module)?)?;
    module.add_function(wrap_pyfunction!(batch::_batch_of, module)?)?;
    module.add("GROUND", parts::Body::GROUND)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}
