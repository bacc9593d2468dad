"""Plots have what they say."""

from typing import Any

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pytest

import force_elements as fe
from force_elements import plot

STEP, MASS = 1e-3, 2.0


def swing() -> tuple[fe.State, plot.Recorder, list[fe.Obstacle]]:
    """A weight on a cable over a drum."""
    system = fe.System()
    weight = system.add_body("weight")
    over = [
        fe.Obstacle(fe.GROUND.frame([0, 0, 1.0, np.sqrt(0.5), -np.sqrt(0.5), 0, 0]), fe.Shape.cylinder(0.1), hint=[0, -0.1, 0]),
    ]
    system.add_cable_spring(
        fe.GROUND.station([-0.3, 0.1, 0.8]), weight.station([0, 0, 0]), over, name="cable", stiffness=2000.0, slack_length=1.45, dissipation=0.5
    )
    state, recorder = system.state(), plot.Recorder(["cable.tension", "cable.elongation", "cable_spring[0].length_rate"])
    position, velocity = np.array([0.1, 0.05, 0.35]), np.zeros(3)
    state.set_body(weight, position, np.zeros(6))
    state.evaluate()
    # Stretched by about twice as much as the weight does.
    state["cable.slack_length"] = state.result("cable.path.length") - 0.02
    state.reset_dissipated_energy()
    for step in range(1, 301):
        state.evaluate()
        recorder.record(state, 0.5 * MASS * velocity @ velocity + MASS * 9.81 * position[2])
        velocity = velocity + STEP * (state.wrenches[0, 3:] / MASS - [0.0, 0.0, 9.81])
        position = position + STEP * velocity
        pose = np.eye(4)
        pose[:3, 3] = position
        state.finish_step(time=step * STEP, poses=pose[None], velocities=[[0.0, 0.0, 0.0, *velocity]])
    state.evaluate()
    return state, recorder, over


def test_plots(tmp_path: Any) -> None:
    state, recorder, over = swing()
    account = plot.energy(recorder)
    lines = {line.get_label(): np.asarray(line.get_ydata()) for line in account.get_lines()}
    assert list(lines) == ["host", "stored by elements", "dissipated by elements", "sum"]
    # The account closes as well as the steps of the host: a hundredth of what is exchanged.
    assert np.ptp(lines["sum"]) < 0.02 * np.ptp(lines["host"]) and lines["dissipated by elements"][-1] > 0.0
    with pytest.raises(TypeError, match="several"):
        plot.Recorder("cable.tension")
    assert len(plot.results(plot.Recorder())) == 1
    of_units = plot.results(recorder)
    assert [of.get_ylabel() for of in of_units] == ["[N]", "[m]", "[m/s]"]
    assert np.array_equal(of_units[0].get_lines()[0].get_ydata(), recorder.values[:, 4])
    drawn = plot.cable(state, state.system.element("cable"), over)
    x, y, z = (np.asarray(of) for of in drawn.get_lines()[0].get_data_3d())
    points = np.stack([x, y, z], -1)
    length = state.result("cable.path.length")
    # The chords of arcs of 0.2 m, a thousandth of the length apart.
    assert 0.0 <= length - np.linalg.norm(np.diff(points, axis=0), axis=1).sum() < 1e-4 * length
    # Over the drum, whose axis is y.
    assert np.hypot(x, z - 1.0).min() == pytest.approx(0.1, abs=1e-9)
    for name, axes in (("energy", account), ("results", of_units[0]), ("cable", drawn)):
        axes.figure.savefig(tmp_path / f"{name}.png")
    with pytest.raises(TypeError, match="3d"):
        plot.cable(state, state.system.element("cable"), over, axes=account)
