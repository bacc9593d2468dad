"""A block dropped on a plane, on four springs with friction: prints where it is, and the energy that it has lost."""

import numpy as np

import force_elements as fe

MASS, SIZE, STEP, GRAVITY = 1.0, 0.1, 1e-3, 9.81
INERTIA = MASS * SIZE**2 / 6

design = fe.ContactDesign(MASS, SIZE / 2, STEP, mu_static=0.5, mu_kinetic=0.4)
system = fe.System()
block = system.add_body("block")
for x in (-0.5, 0.5):
    for y in (-0.5, 0.5):
        system.add_exponential_spring(fe.GROUND, block.station([x * SIZE, y * SIZE, -SIZE / 2]), **design.exponential_spring())

state = system.state()
inertias = fe.Inertias(MASS, INERTIA)
position, rotation = np.array([0.0, 0.0, 0.1]), np.eye(3)
angular, linear = np.zeros(3), np.array([0.5, 0.0, 0.0])


def place(state: fe.State) -> None:
    """Writes the motion of the block to the state."""
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = rotation, position
    state.set_body(block, pose, np.concatenate([angular, linear]))


def turned(rotation: np.ndarray, angle: np.ndarray) -> np.ndarray:
    """The rotation after a further turn, a vector in ground."""
    size = np.linalg.norm(angle)
    if size == 0.0:
        return rotation
    x, y, z = angle / size
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    turn = np.eye(3) + np.sin(size) * cross + (1.0 - np.cos(size)) * cross @ cross
    product: np.ndarray = turn @ rotation
    return product


place(state)
state.reset_memory()
start = 0.5 * MASS * linear @ linear + MASS * GRAVITY * position[2]
print("time [s]   x [mm]   height [mm]   speed [mm/s]   energy lost [mJ]")
for step in range(2001):
    state.time = step * STEP
    place(state)
    state.evaluate()
    state.accept()
    state.evaluate()
    if step % 200 == 0:
        energy = 0.5 * MASS * linear @ linear + 0.5 * INERTIA * angular @ angular + MASS * GRAVITY * position[2]
        speed, lost = np.linalg.norm(linear), start - energy - state.energy
        print(
            f"{state.time:8.1f} {position[0] * 1e3:8.3f} {(position[2] - SIZE / 2) * 1e3:13.3f}"
            f" {speed * 1e3:14.4f} {lost * 1e3:18.3f}"
        )
    wrench = state.body_force(block)
    state.check_step(STEP, inertias)
    # Semi-implicit Euler. The inertia of a cube is the same about every axis.
    angular = angular + STEP * wrench[:3] / INERTIA
    linear = linear + STEP * (wrench[3:] / MASS - [0.0, 0.0, GRAVITY])
    position = position + STEP * linear
    rotation = turned(rotation, STEP * angular)
