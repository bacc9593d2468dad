"""Systems that several tests use."""

from typing import Any

import numpy as np

import force_elements as fe


def everything() -> fe.System:
    """One element of every kind on a body and a coordinate."""
    system = fe.System()
    cube, hinge = system.add_body("cube"), system.add_coordinate("hinge")
    ground = fe.GROUND
    system.add_linear_bushing(ground, cube.frame([0.0, 0.01, 0.0]), name="mount", stiffness=800.0, damping=[1, 2, 3, 4, 5, 6])
    system.add_spatial_bushing(ground, cube, stiffness=np.diag([1.0, 2, 3, 40, 50, 60]))
    system.add_exponential_spring(ground, cube.station([0.05, 0, -0.05]), name="corner", mu_static=0.3, mu_kinetic=0.2)
    system.add_coordinate_spring_damper_ext(hinge, stiffness=30.0, dynamic_friction=0.1, sticking_stiffness=1e3)
    system.add_hertz_contact(ground, cube.station([0, 0, 0]), 0.06, effective_modulus=1e6, dissipation=0.1)
    system.add_hertz_contact((ground.station([0, 0, 0.3]), 0.1), cube.station([0, 0, 0.1]), 0.06, effective_modulus=1e6)
    system.add_elastic_foundation(
        [
            fe.Surface(ground, fe.Shape.half_space()),
            fe.Surface(cube, fe.Mesh.brick([0.05, 0.05, 0.05], [2, 2, 2]), stiffness=1e6, static_friction=0.5, dynamic_friction=0.0, tangential_stiffness=1e6),
        ],
        anchors=True,
        clipped=True,
    )
    pulley = fe.Obstacle(ground.frame([0, 0, 1.0]), fe.Shape.cylinder(0.1), hint=[0, 0, 0.1])
    rough = fe.Obstacle(ground.frame([0, 0, 1.0]), fe.Shape.sphere(0.1), hint=[0, 0, 0.1], friction=0.2)
    for obstacle in (pulley, rough):
        system.add_cable_spring(
            ground.station([-1, 0, 0.5]), cube.station([0.2, 0, 0.1]), [obstacle], stiffness=100.0, slack_length=1.5
        )
    return system


def motion(system: fe.System, count: int, seed: int = 0) -> dict[str, Any]:
    """Random motions near rest of as many worlds."""
    random = np.random.default_rng(seed)
    bodies, coordinates = len(system.bodies), len(system.coordinates)
    poses = np.zeros((count, bodies, 7))
    poses[..., :3] = [0.5, 0.0, 0.048]
    poses[..., :3] += random.uniform(-0.002, 0.002, (count, bodies, 3))
    poses[..., 3] = 1.0
    poses[..., 4:] = random.uniform(-0.02, 0.02, (count, bodies, 3))
    return {
        "poses": poses,
        "velocities": random.uniform(-0.1, 0.1, (count, bodies, 6)),
        "coordinates": random.uniform(-0.1, 0.1, (count, coordinates)),
        "coordinate_rates": random.uniform(-0.1, 0.1, (count, coordinates)),
    }
