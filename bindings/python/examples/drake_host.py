"""Drake as the host: a block slides to rest on springs with friction, whose forces are applied to its plant in each step.

``Host`` is the whole binding; the rest is the scene.
"""

from typing import Any

import numpy as np
from pydrake.common.value import Value
from pydrake.math import RigidTransform
from pydrake.multibody.math import SpatialForce, SpatialVelocity
from pydrake.multibody.plant import ExternallyAppliedSpatialForce, MultibodyPlant
from pydrake.multibody.tree import SpatialInertia
from pydrake.systems.analysis import Simulator

import force_elements as fe

HALF, STEP, STEPS = 0.1, 0.001, 2000


class Host:
    """The elements of a system as forces from outside on the bodies of a plant that have the same names."""

    def __init__(self, plant: Any, context: Any, system: fe.System) -> None:
        self.plant, self.context, self.state = plant, context, system.state()
        if system.coordinates:
            raise ValueError("this host has elements on bodies, not on coordinates")
        self.bodies = [(body, plant.GetBodyByName(name)) for body, name in zip(system.bodies, system.body_names)]
        # As if each body were free, which joints only add to.
        of_bodies = [of_plant.CalcSpatialInertiaInBodyFrame(context) for _, of_plant in self.bodies]
        self.inertias = fe.Inertias(
            masses=[of_body.get_mass() for of_body in of_bodies],
            moments=[of_body.Shift(of_body.get_com()).CalcRotationalInertia().CopyToFullMatrix3() for of_body in of_bodies],
            mass_centers=[of_body.get_com() for of_body in of_bodies],
        )
        self.read()
        self.state.reset_memory()

    def read(self) -> None:
        """Reads the motion. Spatial vectors have the same order, rotation before translation, at the origin of the body."""
        self.state.time = self.context.get_time()
        for body, of_plant in self.bodies:
            pose = self.plant.EvalBodyPoseInWorld(self.context, of_plant).GetAsMatrix4()
            velocity = self.plant.EvalBodySpatialVelocityInWorld(self.context, of_plant)
            self.state.set_body(body, pose, np.concatenate([velocity.rotational(), velocity.translational()]))

    def apply(self) -> None:
        """Accepts the step that led here, and applies the forces of the elements for the next one, unless it is too long for them."""
        self.read()
        self.state.evaluate()
        self.state.accept()
        self.state.evaluate()
        self.state.check_step(self.plant.time_step(), self.inertias)
        forces = [ExternallyAppliedSpatialForce() for _ in self.bodies]
        wrenches = self.state.wrenches
        for force, (body, of_plant) in zip(forces, self.bodies):
            wrench = wrenches[body.index]
            force.body_index, force.F_Bq_W = of_plant.index(), SpatialForce(wrench[:3], wrench[3:])
        port = self.plant.get_applied_spatial_force_input_port()
        port.FixValue(self.context, Value[list[ExternallyAppliedSpatialForce]](forces))


def main() -> None:
    plant = MultibodyPlant(time_step=STEP)
    of_plant = plant.AddRigidBody("block", SpatialInertia.SolidBoxWithMass(10.0, 2 * HALF, 2 * HALF, 2 * HALF))
    plant.Finalize()

    system = fe.System()
    block = system.add_body("block")
    for x in (-HALF, HALF):
        for y in (-HALF, HALF):
            system.add_exponential_spring(fe.GROUND, block.station([x, y, -HALF]), mu_static=0.7, mu_kinetic=0.5, normal_viscosity=2.0)

    simulator = Simulator(plant)
    context = simulator.get_mutable_context()
    plant.SetFreeBodyPose(context, of_plant, RigidTransform([0.0, 0.0, HALF + 0.001]))
    plant.SetFreeBodySpatialVelocity(context, of_plant, SpatialVelocity([0, 0, 1.0], [1.6, 0.2, 0]))
    host = Host(plant, context, system)
    print("time [s]   x [mm]   height [mm]   speed [mm/s]")
    for step in range(STEPS + 1):
        host.apply()
        if step % 200 == 0:
            (x, _, z), speed = host.state.poses[0, :3, 3], np.linalg.norm(host.state.velocities[0, 3:])
            print(f"{step * STEP:8.1f} {1e3 * x:8.3f} {1e3 * (z - HALF):13.3f} {1e3 * speed:14.6f}")
        simulator.AdvanceTo((step + 1) * STEP)


if __name__ == "__main__":
    main()
