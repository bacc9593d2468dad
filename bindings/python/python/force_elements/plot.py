"""Plots with matplotlib: the energy account of a run, results over time, and cables over their obstacles.

A :class:`Recorder` is shown the evaluated state in each step of a run; ``energy`` and ``results`` plot what it has seen. Each
function draws on ``axes``, by default new ones, and returns them.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from mpl_toolkits.mplot3d import Axes3D
from numpy.typing import NDArray

from ._core import Element, Obstacle, State

__all__ = ["Recorder", "cable", "energy", "results"]

Floats = NDArray[np.float64]


class Recorder:
    """What is plotted of a run: the energies of all elements, and results by name.

    Dissipated energies are known in runs that begin with ``state.reset_dissipated_energy()`` and whose steps end with
    ``state.finish_step``.
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        if isinstance(names, str):
            raise TypeError("names are several, not one string")
        self.names = list(names)
        self.units: dict[str, str] = {}
        self._rows: list[list[float]] = []

    def record(self, state: State, host: float = np.nan) -> None:
        """Records an evaluated state, before ``accept`` or ``finish_step``; ``host`` is the energy of what the host owns, kinetic and by gravity [J]."""
        if self.names and not self.units:
            known = state.units()
            results = state.results()
            for name in self.names:
                own = name if name in results else _full_name(state, name)
                self.units[name] = known.get(own, "")
        dissipated = state.dissipated_energy
        energies = [state.time, host, state.energy, np.nan if dissipated is None else dissipated]
        self._rows.append(energies + [state.result(name) for name in self.names])

    @property
    def values(self) -> Floats:
        """Rows of time, energy of the host, stored and dissipated energy of the elements, and each result."""
        return np.array(self._rows).reshape(len(self._rows), 4 + len(self.names))


def _full_name(state: State, name: str) -> str:
    """The name under the kind and place of its element."""
    for dot in (place for place, letter in reversed(list(enumerate(name))) if letter == "."):
        try:
            return f"{state.system.element(name[:dot])}{name[dot:]}"
        except KeyError:
            continue
    return name


def energy(recorder: Recorder, axes: Any = None) -> Any:
    """The energy account of a run: what host and elements hold, what the elements have dissipated, and the sum of all.

    The sum is constant but for the errors of the host's steps and the work of others.
    """
    axes = plt.subplots(layout="constrained")[1] if axes is None else axes
    time, host, stored, dissipated = recorder.values[:, :4].T
    total = np.zeros_like(time)
    for name, part in (("host", host), ("stored by elements", stored), ("dissipated by elements", dissipated)):
        if not np.isnan(part).all():
            axes.plot(time, part, label=name)
            total = total + part
    axes.plot(time, total, "k--", label="sum")
    axes.set(xlabel="time [s]", ylabel="energy [J]")
    axes.legend()
    return axes


def results(recorder: Recorder, axes: Any = None) -> Any:
    """The results of a run over time, those of one unit together: as many axes, one below the other, as units."""
    by_unit: dict[str, list[int]] = {}
    for place, name in enumerate(recorder.names):
        by_unit.setdefault(recorder.units.get(name, ""), []).append(place)
    if axes is None:
        axes = plt.subplots(max(len(by_unit), 1), sharex=True, squeeze=False, layout="constrained")[1][:, 0]
    values = recorder.values
    of_each: Sequence[Any] = list(np.atleast_1d(axes))
    if by_unit and len(of_each) != len(by_unit):
        raise ValueError(f"the results have {len(by_unit)} units, and there are {len(of_each)} axes")
    for of, (unit, places) in zip(of_each, by_unit.items()):
        for place in places:
            of.plot(values[:, 0], values[:, 4 + place], label=recorder.names[place])
        of.set(ylabel="" if unit == "" else f"[{unit}]")
        of.legend()
    of_each[-1].set(xlabel="time [s]")
    return axes


def cable(state: State, element: Element, obstacles: Sequence[Obstacle] = (), axes: Any = None, spacing: float | None = None) -> Any:
    """The path of a cable in 3D, of an evaluated state, over its obstacles, as ``add_cable_spring`` was given them: where
    the parameters of the state have moved or scaled them, they are drawn as they were.

    ``spacing`` [m] is that of points on arcs, by default a thousandth of the length.
    """
    if axes is None:
        axes = plt.figure(layout="constrained").add_subplot(projection="3d")
    if not isinstance(axes, Axes3D):
        raise TypeError("a cable is drawn on axes with projection='3d'")
    spacing = state.result(f"{element}.path.length") / 1000.0 if spacing is None else spacing
    points = state.cable_points(element, spacing)
    low, high = points.min(0), points.max(0)
    reach = float(np.max(high - low))
    for obstacle in obstacles:
        mesh = _surface(obstacle.shape.kind, obstacle.shape.sizes, 0.25 * reach)
        frame = obstacle.frame
        body = np.eye(4) if frame.body.index < 0 else state.poses[frame.body.index]
        pose = body @ frame.pose
        x, y, z = np.moveaxis(mesh @ pose[:3, :3].T + pose[:3, 3], -1, 0)
        axes.plot_surface(x, y, z, alpha=0.35, color="tab:gray", linewidth=0)
    axes.plot(*points.T, color="tab:red", linewidth=2, label=str(element))
    axes.scatter(*points[[0, -1]].T, color="tab:red")
    axes.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]")
    axes.set_aspect("equal")
    return axes


def _surface(kind: str, sizes: Sequence[float], half_length: float) -> Floats:
    """Points (k, l, 3) of a shape in its own frame; of a cylinder without ends as much as is seen."""
    u, v = np.meshgrid(np.linspace(0.0, 2.0 * np.pi, 49), np.linspace(-0.5 * np.pi, 0.5 * np.pi, 25), indexing="ij")
    if kind in ("sphere", "ellipsoid"):
        radii = np.broadcast_to(sizes, 3)
        ball: Floats = np.stack([np.cos(v) * np.cos(u), np.cos(v) * np.sin(u), np.sin(v)], -1) * radii
        return ball
    if kind in ("cylinder", "finite_cylinder"):
        along = np.linspace(-1.0, 1.0, v.shape[1]) * (sizes[1] if kind == "finite_cylinder" else half_length)
        return np.stack([sizes[0] * np.cos(u), sizes[0] * np.sin(u), np.broadcast_to(along, u.shape)], -1)
    if kind == "torus":
        ring, tube = sizes
        return np.stack([(ring + tube * np.cos(2 * v)) * np.cos(u), (ring + tube * np.cos(2 * v)) * np.sin(u), tube * np.sin(2 * v)], -1)
    if kind == "height_map":
        x, y, dx, dy, columns, *heights = sizes
        grid = np.reshape(heights, (-1, int(columns)))
        i, j = np.meshgrid(np.arange(grid.shape[1]), np.arange(grid.shape[0]))
        return np.stack([x + dx * i, y + dy * j, grid], -1)
    raise ValueError(f"a {kind} is not drawn")
