"""An evaluation and its commit as a function of arrays, with its products: what ``force_elements.jax`` and ``.torch`` share.

Of five inputs: variables (..., v) in the order of ``State.keys()``, time first; poses (..., b, 4, 4) or (..., b, 7); velocities
(..., b, 6); coordinates and their rates (..., c). Of three outputs: wrenches (..., b, 6) and forces on coordinates (..., c), both
before the commit, and the variables after it (..., v).
"""

import math
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._core import Batch, System
from ._errors import Error, TopologyError

Floats = NDArray[np.float64]


def _cross_matrix(v: Floats) -> Floats:
    x, y, z = np.moveaxis(v, -1, 0)
    zero = np.zeros_like(x)
    rows = [np.stack(row, -1) for row in ([zero, -z, y], [z, zero, -x], [-y, x, zero])]
    return np.stack(rows, -2)


def twists(poses: Floats, rates: Floats) -> Floats:
    """The twists in ground (..., 6) of rates of the entries of poses."""
    if poses.shape[-1] == 4:
        turning = rates[..., :3, :3] @ np.swapaxes(poses[..., :3, :3], -1, -2)
        angular = 0.5 * np.stack([turning[..., j, i] - turning[..., i, j] for i, j in ((1, 2), (2, 0), (0, 1))], -1)
        return np.concatenate([angular, rates[..., :3, 3]], -1)
    w, v, w_rate, v_rate = poses[..., 3:4], poses[..., 4:], rates[..., 3:4], rates[..., 4:]
    square = w * w + np.sum(v * v, -1, keepdims=True)
    angular = 2.0 * (w * v_rate - w_rate * v - np.cross(v_rate, v)) / square
    return np.concatenate([angular, rates[..., :3]], -1)


def by_entries(poses: Floats, by_twists: Floats) -> Floats:
    """Gradients by the entries of poses from those by twists: the transpose of ``twists``."""
    angular, linear = by_twists[..., :3], by_twists[..., 3:]
    by = np.zeros_like(poses)
    if poses.shape[-1] == 4:
        by[..., :3, :3] = 0.5 * _cross_matrix(angular) @ poses[..., :3, :3]
        by[..., :3, 3] = linear
        return by
    w, v = poses[..., 3:4], poses[..., 4:]
    square = w * w + np.sum(v * v, -1, keepdims=True)
    by[..., :3] = linear
    by[..., 3:4] = -2.0 * np.sum(v * angular, -1, keepdims=True) / square
    by[..., 4:] = 2.0 * (w * angular - np.cross(v, angular)) / square
    return by


class Function:
    """The function of one system. Batches are kept for as many worlds as were last asked for."""

    def __init__(self, system: System, threads: int | None = None) -> None:
        if threads is not None and threads < 1:
            raise ValueError("threads must be at least 1; None takes all cores")
        start = system.state()
        # A row stays after its body has been removed.
        self.bodies, self.coordinates = len(start.poses), len(start.coordinates)
        self.start = start.values()
        taken = {body.index for body in system.bodies}
        self._vacant = [row for row in range(self.bodies) if row not in taken]
        self._system, self._state, self._threads = system, start, threads
        self._batch: Batch | None = None
        self._lock = threading.Lock()

    @property
    def rows(self) -> int:
        """The number of components of a motion."""
        return 6 * self.bodies + self.coordinates

    def check_current(self) -> None:
        """Refuses a system that has changed."""
        try:
            self._state.__reduce__()
        except TopologyError:
            # Worlds could be carried over, but the arrays of the caller have the shapes of before.
            raise TopologyError(
                "a body, coordinate or element of the system was added or removed after this Step was made: make a new Step(system)"
            ) from None

    def reduced(self, step: Callable[..., Any]) -> tuple[Any, ...]:
        """How a pickle makes a step of this function anew."""
        self.check_current()
        return partial(step, threads=self._threads), (self._system,)

    def release(self) -> None:
        """Frees the worlds. The next call makes new ones."""
        self._batch = None

    def check(self, shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
        """Returns the shape of the worlds, common to all inputs."""
        variables, poses, velocities, values, rates = shapes
        wide = 1 if poses[-1:] == (7,) else 2
        worlds = variables[:-1]
        pose = (self.bodies, 7) if wide == 1 else (self.bodies, 4, 4)
        own = [(len(self.start),), pose, (self.bodies, 6), (self.coordinates,), (self.coordinates,)]
        names = ("variables", "poses", "velocities", "coordinates", "coordinate_rates")
        for name, shape, wanted in zip(names, (variables, poses, velocities, values, rates), own):
            if shape != worlds + wanted:
                raise ValueError(f"{name} must be of shape {worlds + wanted}, not {shape}")
        return worlds

    def outputs(self, worlds: tuple[int, ...]) -> list[tuple[int, ...]]:
        """The shapes of the outputs."""
        return [(*worlds, self.bodies, 6), (*worlds, self.coordinates), (*worlds, len(self.start))]

    def evaluate(self, inputs: Sequence[Any]) -> tuple[Floats, Floats, Floats]:
        """The outputs."""
        arrays, worlds = self._arrays(inputs)
        with self._lock:
            wrenches, forces, batch = self._evaluated(arrays, commits=True)
            after = batch.values()
        first, second, third = (array.reshape(shape) for array, shape in zip((wrenches, forces, after), self.outputs(worlds)))
        return first, second, third

    def jvp(self, inputs: Sequence[Any], rates: Sequence[Any]) -> tuple[Floats, Floats, Floats]:
        """The rates of the outputs from those of the inputs."""
        arrays, worlds = self._arrays(inputs)
        n = len(arrays[0])
        given = [np.asarray(rate, dtype=np.float64).reshape(array.shape) for rate, array in zip(rates, arrays)]
        moved = twists(arrays[1], given[1]).reshape(n, -1), given[2].reshape(n, -1)
        forces, after = np.empty((n, self.rows)), np.empty_like(arrays[0])
        with self._lock:
            *_, batch = self._evaluated(arrays, commits=False)
            batch.jvp(
                motion=np.concatenate([moved[0], given[3]], -1),
                velocity=np.concatenate([moved[1], given[4]], -1),
                variables=given[0],
                forces=forces,
                next=after,
            )
        split = 6 * self.bodies
        of_wrenches, of_forces, of_after = (
            array.reshape(shape) for array, shape in zip((forces[:, :split], forces[:, split:], after), self.outputs(worlds))
        )
        return of_wrenches, of_forces, of_after

    def vjp(self, inputs: Sequence[Any], gradients: Sequence[Any]) -> tuple[Floats, ...]:
        """Gradients by the inputs from those by the outputs."""
        arrays, _ = self._arrays(inputs)
        n = len(arrays[0])
        wrenches, forces, after = (np.asarray(gradient, dtype=np.float64).reshape(n, -1) for gradient in gradients)
        motion, velocity, variables = np.empty((n, self.rows)), np.empty((n, self.rows)), np.empty_like(arrays[0])
        with self._lock:
            *_, batch = self._evaluated(arrays, commits=False)
            batch.vjp(
                forces=np.concatenate([wrenches, forces], -1), next=after, motion=motion, velocity=velocity, variables=variables
            )
        split = 6 * self.bodies
        by_poses = by_entries(arrays[1], motion[:, :split].reshape(n, self.bodies, 6))
        by = (variables, by_poses, velocity[:, :split], motion[:, split:], velocity[:, split:])
        return tuple(gradient.reshape(np.shape(array)) for gradient, array in zip(by, inputs))

    def _arrays(self, inputs: Sequence[Any]) -> tuple[list[Floats], tuple[int, ...]]:
        arrays = [np.asarray(array, dtype=np.float64) for array in inputs]
        worlds = self.check([array.shape for array in arrays])
        n = math.prod(worlds)
        arrays = [np.ascontiguousarray(array.reshape(n, *array.shape[len(worlds) :])) for array in arrays]
        if self._vacant:
            # What stands there is not read, and need not be a pose.
            arrays[1] = arrays[1].copy()
            arrays[1][:, self._vacant] = np.eye(4) if arrays[1].shape[-1] == 4 else np.eye(7)[3]
        return arrays, worlds

    def _evaluated(self, arrays: Sequence[Floats], *, commits: bool) -> tuple[Floats, Floats, Batch]:
        variables, poses, velocities, coordinates, rates = arrays
        n = len(variables)
        # Another thread, or the collection of garbage in this one, may release it meanwhile.
        batch = self._batch
        if batch is None or len(batch) != n:
            batch = self._batch = Batch(self._system, n, state=self._state, threads=self._threads)
        batch.set_values(variables)
        wrenches, forces = np.empty((n, self.bodies, 6)), np.empty((n, self.coordinates))
        try:
            batch.evaluate(
                poses=poses,
                velocities=velocities,
                coordinates=coordinates,
                coordinate_rates=rates,
                wrenches=wrenches,
                coordinate_forces=forces,
            )
            if commits:
                batch.accept()
        except Error:
            self.check_current()
            raise
        return wrenches, forces, batch
