"""Drake as the host: a block slides to rest on springs with friction, whose forces are applied to its plant in each step."""

import numpy as np
from pydrake.common.value import Value
from pydrake.math import RigidTransform
from pydrake.multibody.math import SpatialForce, SpatialVelocity
from pydrake.multibody.plant import ExternallyAppliedSpatialForce, MultibodyPlant
from pydrake.multibody.tree import SpatialInertia
from pydrake.systems.analysis import Simulator

import force_elements as fe

HALF, STEP, STEPS = 0.1, 0.001, 2000

plant = MultibodyPlant(time_step=STEP)
body = plant.AddRigidBody("block", SpatialInertia.SolidBoxWithMass(10.0, 2 * HALF, 2 * HALF, 2 * HALF))
plant.Finalize()

system = fe.System()
block = system.add_body("block")
for x in (-HALF, HALF):
    for y in (-HALF, HALF):
        system.add_exponential_spring(fe.GROUND, block.station([x, y, -HALF]), mu_static=0.7, mu_kinetic=0.5, normal_viscosity=2.0)
state = system.state()

simulator = Simulator(plant)
context = simulator.get_mutable_context()
plant.SetFreeBodyPose(context, body, RigidTransform([0.0, 0.0, HALF + 0.001]))
plant.SetFreeBodySpatialVelocity(context, body, SpatialVelocity([0, 0, 1.0], [1.6, 0.2, 0]))
port = plant.get_applied_spatial_force_input_port()


def read() -> None:
    """Reads the motion. Spatial vectors have the same order, rotation before translation, at the origin of the body."""
    velocity = plant.EvalBodySpatialVelocityInWorld(context, body)
    pose = plant.EvalBodyPoseInWorld(context, body).GetAsMatrix4()
    state.set_body(block, pose, np.concatenate([velocity.rotational(), velocity.translational()]))
    state.time = context.get_time()


read()
state.reset_memory()
print("time [s]   x [mm]   height [mm]   speed [mm/s]")
for step in range(STEPS + 1):
    read()
    state.evaluate()
    if step % 200 == 0:
        (x, _, z), speed = state.poses[0, :3, 3], np.linalg.norm(state.velocities[0, 3:])
        print(f"{step * STEP:8.1f} {1e3 * x:8.3f} {1e3 * (z - HALF):13.3f} {1e3 * speed:14.6f}")
    applied = ExternallyAppliedSpatialForce()
    applied.body_index = body.index()
    wrench = state.body_force(block)
    applied.F_Bq_W = SpatialForce(wrench[:3], wrench[3:])
    port.FixValue(context, Value[list[ExternallyAppliedSpatialForce]]([applied]))
    state.accept()
    simulator.AdvanceTo((step + 1) * STEP)
