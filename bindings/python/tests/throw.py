"""The throw of ``examples/throw.rs``: a block that slides, turns, slows down and sticks, in 1000 steps of 1 ms.

The host is the semi-implicit Euler method; its pose is a rotation matrix and a position. ``by_steps`` is the oracle of the
functions of other packages: products with the linearization of each single state, and the derivative of the host by hand.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import force_elements as fe

MASS, HALF, STEP, STEPS, GRAVITY = 10.0, 0.1, 1e-3, 1000, 9.81
GYRATION = 2.0 / 3.0 * HALF * HALF
PARAMETERS = ("mu_kinetic", "friction_elasticity", "friction_viscosity", "normal_viscosity", "d2")
INPUTS = ("velocity along x", "velocity along y", "velocity about z", "mass", *PARAMETERS)

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Throw:
    """A start of a run."""

    system: fe.System
    pose: Floats
    velocity: Floats
    variables: Floats
    names: list[str]

    def places(self, parameter: str) -> list[int]:
        """Where the variables of all corners with this name are."""
        return [self.names.index(f"exponential_spring[{corner}].{parameter}") for corner in range(4)]


def throw() -> Throw:
    system = fe.System()
    body = system.add_body("block")
    for x, y in ((-HALF, -HALF), (HALF, -HALF), (HALF, HALF), (-HALF, HALF)):
        system.add_exponential_spring(fe.GROUND, body.station([x, y, -HALF]), normal_viscosity=2.0)
    state = system.state()
    d0, d1, d2 = (state[f"exponential_spring[0].{name}"] for name in ("d0", "d1", "d2"))
    pose, velocity = np.eye(4), np.array([0.0, 0.0, 1.0, 1.6, 0.2, 0.0])
    # Where the springs carry the block: d1 exp(-d2 (z - d0)) is a quarter of its weight.
    pose[2, 3] = HALF + d0 - np.log(MASS * GRAVITY / 4.0 / d1) / d2
    state.set_body(body, pose, velocity)
    state.reset_memory()
    return Throw(system, pose, velocity, state.values(), state.keys())


def record() -> dict[str, float]:
    """The derivatives of the final x by the adjoint of the library, from the record of its example."""
    text = (Path(__file__).parents[3] / "benches/record/throw.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (.*?) +\| .*? +\| +(-?\d\.\d{9}e-?\d+) ", text, re.MULTILINE)
    return {name: float(number) for name, number in rows}


def turn_factors(np: Any, square: Any) -> tuple[Any, Any]:
    """sin θ / θ and (1 - cos θ) / θ² of θ² below 1e-4, with either package's arrays: the next terms are below 1e-16."""
    return 1 - square / 6 + square**2 / 120 - square**3 / 5040, 0.5 - square / 24 + square**2 / 720


def cross_matrix(v: Floats) -> Floats:
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def turn(theta: Floats) -> Floats:
    first, second = turn_factors(np, theta @ theta)
    cross = cross_matrix(theta)
    rotation: Floats = np.eye(3) + first * cross + second * cross @ cross
    return rotation


def left_jacobian(theta: Floats) -> Floats:
    square, cross = theta @ theta, cross_matrix(theta)
    _, second = turn_factors(np, square)
    third = 1.0 / 6.0 - square / 120.0 + square**2 / 5040.0
    jacobian: Floats = np.eye(3) + second * cross + third * cross @ cross
    return jacobian


def after(pose: Floats, velocity: Floats, wrench: Floats, mass: float) -> tuple[Floats, Floats]:
    """The motion after a step."""
    change = np.concatenate([wrench[:3] / (mass * GYRATION), wrench[3:] / mass - [0.0, 0.0, GRAVITY]])
    velocity = velocity + STEP * change
    moved = np.eye(4)
    moved[:3, :3] = turn(STEP * velocity[:3]) @ pose[:3, :3]
    moved[:3, 3] = pose[:3, 3] + STEP * velocity[3:]
    return moved, velocity


def final_x(thrown: Throw, velocity: Floats, mass: float, variables: Floats) -> float:
    """Of one run by single states."""
    state, pose = thrown.system.state(), thrown.pose
    state.set_values(variables)
    for step in range(STEPS):
        state.time = step * STEP
        state.poses, state.velocities = pose[None], velocity[None]
        state.evaluate()
        wrench = state.wrenches[0]
        state.accept()
        pose, velocity = after(pose, velocity, wrench, mass)
    return float(pose[0, 3])


def by_steps(thrown: Throw) -> dict[str, float]:
    """The derivatives of the final x by all inputs, step by step from the last to the first."""
    state, pose, velocity, starts = thrown.system.state(), thrown.pose, thrown.velocity, []
    state.set_values(thrown.variables)
    for step in range(STEPS):
        state.time = step * STEP
        state.poses, state.velocities = pose[None], velocity[None]
        state.evaluate()
        starts.append(state.copy())
        pose, velocity = after(pose, velocity, state.wrenches[0], MASS)
        state.accept()
    by_pose, by_velocity = np.array([0.0, 0, 0, 1, 0, 0]), np.zeros(6)
    by_variables, by_mass = np.zeros(len(thrown.names)), 0.0
    for start in reversed(starts):
        wrench = start.wrenches[0]
        _, following = after(start.poses[0], start.velocities[0], wrench, MASS)
        theta = STEP * following[:3]
        by_velocity[:3] += STEP * left_jacobian(theta).T @ by_pose[:3]
        by_velocity[3:] += STEP * by_pose[3:]
        by_pose[:3] = turn(-theta) @ by_pose[:3]
        by_wrench = by_velocity * STEP / MASS / np.array([GYRATION] * 3 + [1.0] * 3)
        by_mass -= by_wrench @ wrench / MASS
        linearization = start.linearize(variables=True, commit=True)
        # The host sets the time anew in each step.
        by_variables[0] = 0.0
        (of_pose, of_velocity), of_variables = linearization.vjp(by_wrench, by_variables)
        assert of_variables is not None
        by_pose, by_velocity, by_variables = by_pose + of_pose, by_velocity + of_velocity, of_variables
    return named(thrown, by_velocity, by_mass, by_variables)


def named(thrown: Throw, by_velocity: Any, by_mass: Any, by_variables: Any) -> dict[str, float]:
    """The derivatives by the inputs of the record."""
    by = {"velocity along x": by_velocity[3], "velocity along y": by_velocity[4], "velocity about z": by_velocity[2], "mass": by_mass}
    for parameter in PARAMETERS:
        by[parameter] = sum(float(by_variables[place]) for place in thrown.places(parameter))
    return {name: float(number) for name, number in by.items()}
