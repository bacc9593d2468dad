"""Runs of the reference simulator against closed forms and against hosts of one's own."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from scipy.integrate import RK45

import force_elements as fe

MASS, SIDE = 1.0, 0.1
CUBE = MASS * SIDE**2 / 6


def sprung(stiffness: float, damping: float = 0.0) -> tuple[fe.State, fe.Inertias]:
    """A coordinate of 2 kg on a spring, 0.1 m from rest."""
    system = fe.System()
    system.add_coordinate_spring_damper_ext(system.add_coordinate("slider"), stiffness=stiffness, damping=damping, name="spring")
    state = system.state()
    state.coordinates = [0.1]
    return state, fe.Inertias(coordinate_masses=2.0)


@pytest.mark.parametrize("integrator", ["dormand_prince", "implicit_trapezoidal", "tr_bdf2"])
def test_an_oscillator_is_that_of_the_closed_form(integrator: str) -> None:
    state, inertias = sprung(8.0)
    run = state.simulate(3.0, inertias, integrator=integrator, accuracy=1e-9, every=0.25, names=["spring.force"])
    time = run["time"]
    assert np.array_equal(time, 0.25 * np.arange(13))
    assert np.abs(run["coordinates"][:, 0] - 0.1 * np.cos(2.0 * time)).max() < 1e-6
    assert np.abs(run["coordinate_rates"][:, 0] + 0.2 * np.sin(2.0 * time)).max() < 1e-6
    assert np.abs(run["spring.force"] - run["spring.force"][0] * np.cos(2.0 * time)).max() < 1e-5
    assert np.abs(run["energy"] - 0.04).max() < 1e-6
    assert state.time == 3.0 and state.coordinates[0] == run["coordinates"][-1, 0]
    assert run["poses"].shape == (13, 0, 4, 4) and run["velocities"].shape == (13, 0, 6)


def test_free_bodies_fall_turn_and_follow_loads() -> None:
    system = fe.System()
    one, two = system.add_body("one"), system.add_body("two")
    state = system.state()
    # The mass center is 0.5 m from the origin.
    inertias = fe.Inertias([2.0, 3.0], np.array([[1.0, 2.0, 2.5], [1.0, 1.0, 1.0]]), mass_centers=[[0.5, 0.0, 0.0], [0.0, 0.0, 0.0]])
    state.set_body(one, [0.0, 0.0, 0.0], [0.0, 0.0, 4.0, 0.0, 2.0, 0.0])
    state.set_body(two, [1.0, 0.0, 0.0])
    loads = np.zeros((2, 6))
    loads[1, 3], loads[1, 2] = 6.0, 2.0
    run = state.simulate(0.7, inertias, every=0.1, accuracy=1e-9, loads=loads)
    assert np.abs(run["time"] - 0.1 * np.arange(8)).max() < 1e-12
    for t, pose, velocity in zip(run["time"], run["poses"], run["velocities"]):
        # It turns about its mass center, a principal axis.
        turn, fall = 4.0 * t, -0.5 * 9.81 * t * t
        center = pose[0] @ [0.5, 0.0, 0.0, 1.0]
        assert np.abs(center[:3] - [0.5, 4.0 * t, fall]).max() < 1e-6
        assert np.abs(pose[0, :2, 0] - [np.cos(turn), np.sin(turn)]).max() < 1e-6
        assert np.abs(pose[1, :3, 3] - [1.0 + t * t, 0.0, fall]).max() < 1e-6
        assert np.abs(velocity[1] - [0.0, 0.0, 2.0 * t, 2.0 * t, 0.0, -9.81 * t]).max() < 1e-6


def test_moments_may_be_those_of_a_rotated_body() -> None:
    system = fe.System()
    body = system.add_body("body")
    angle = 0.7
    turn = np.array([[np.cos(angle), -np.sin(angle), 0.0], [np.sin(angle), np.cos(angle), 0.0], [0.0, 0.0, 1.0]])
    tilt = np.array([[1.0, 0.0, 0.0], [0.0, np.cos(1.1), -np.sin(1.1)], [0.0, np.sin(1.1), np.cos(1.1)]])
    rotation = turn @ tilt
    moments = rotation @ np.diag([0.3, 0.4, 0.6]) @ rotation.T
    moments[0, 1] += 1e-16                              # rounding leaves it asymmetric
    state = system.state()
    # It turns about a principal axis, and keeps to it.
    axis = rotation[:, 2]
    state.set_body(body, [0.0, 0.0, 0.0], [*(2.0 * axis), 0.0, 0.0, 0.0])
    run = state.simulate(1.0, fe.Inertias(2.0, moments[None]), gravity=[0.0, 0.0, 0.0], accuracy=1e-9)
    assert np.abs(run["velocities"][:, 0, :3] - 2.0 * axis).max() < 1e-7
    assert np.abs(run["poses"][-1, 0, :3, :3] @ axis - axis).max() < 1e-7


def cube(design: fe.ContactDesign) -> tuple[fe.State, fe.Inertias]:
    """A cube above a floor, on its corners, pushed."""
    system = fe.System()
    body = system.add_body("cube")
    for x in (-0.05, 0.05):
        for y in (-0.05, 0.05):
            system.add_exponential_spring(fe.GROUND, body.station([x, y, -0.05]), **design.exponential_spring())
    state = system.state()
    state.set_body(body, [0.0, 0.0, 0.07], [0.0, 0.0, 0.0, 0.3, 0.0, 0.0])
    state.reset_memory()
    return state, fe.Inertias(MASS, CUBE)


def test_a_cube_slides_to_rest_under_every_integrator_and_stays() -> None:
    step = 1e-3
    design = fe.ContactDesign(MASS, SIDE / 2, step, mu_static=0.5, mu_kinetic=0.4, speed=1.5)
    ends = []
    for integrator in ("dormand_prince", "implicit_trapezoidal", "tr_bdf2", "symplectic_euler"):
        state, inertias = cube(design)
        run = state.simulate(4.0, inertias, integrator=integrator, step=step, every=0.5)
        place = run["poses"][:, 0, :3, 3]
        assert np.abs(place[-1] - place[-3]).max() < 1e-7, integrator
        assert abs(place[-1, 2] - SIDE / 2) < 1e-6, integrator
        assert np.all(np.diff(run["energy"]) < 1e-9), integrator
        ends.append(place[-1, 0])
    # Steps of a millisecond are three of the five that a bounce takes.
    assert max(ends) - min(ends) < 0.05 * max(ends)


def test_default_bricks_stay_on_each_other() -> None:
    step = 2e-4
    design = fe.ContactDesign(MASS, 0.5 * SIDE, 2.5 * step)
    system = fe.System()
    cubes = [system.add_body("lower"), system.add_body("upper")]
    brick, area = fe.Mesh.brick([0.5 * SIDE] * 3), SIDE * SIDE
    surfaces = [fe.Surface(cube, brick, **design.material(area)) for cube in cubes]
    floor = fe.Surface(fe.GROUND, fe.Shape.half_space())
    system.add_elastic_foundation([floor, *surfaces], anchors=True, **design.elastic_foundation())
    state = system.state()
    for i, cube in enumerate(cubes):
        state.set_body(cube, [0.0, 0.0, (i + 0.5) * SIDE])
    inertias = fe.Inertias(MASS, CUBE)
    state.simulate(2.0, inertias, integrator="symplectic_euler", step=step)
    sink = MASS * 9.81 / (design.material(area)["stiffness"] * area)
    places = state.poses[:, :3, 3]
    assert np.abs(places[:, 2] - [0.5 * SIDE - 2 * sink, 1.5 * SIDE - 3 * sink]).max() < 0.2 * sink
    assert np.abs(places[:, :2]).max() < 0.1 * sink


def test_the_run_is_that_of_a_host_of_ones_own() -> None:
    state, inertias = sprung(50.0, 3.0)
    twin, _ = sprung(50.0, 3.0)
    h, q, u = 1e-3, 0.1, 0.0
    run = state.simulate(0.2, inertias, integrator="symplectic_euler", step=h)
    for row in range(len(run["time"])):
        assert abs(run["coordinates"][row, 0] - q) < 1e-12 and abs(run["time"][row] - h * row) < 1e-12
        twin.set_coordinate(twin.system.coordinates[0], q, u)
        twin.evaluate()
        u += h * float(twin.coordinate_forces[0]) / 2.0
        q += h * u
    assert len(run["time"]) == 201


def test_samples_are_those_of_the_times_asked_for_and_of_the_end() -> None:
    # In the first three the product rounds to less than the end, in the last one to more.
    for every, count, length in ((0.3, 3, 0.9), (0.6, 3, 1.8), (0.7, 3, 2.1), (0.1, 12, 1.2)):
        for start in (0.0, 1e6):
            state, inertias = sprung(8.0)
            state.time = start
            end = start + length
            time = state.simulate(end, inertias, every=every)["time"]
            assert len(time) == count + 1 and time[-1] == end
            assert np.abs(time - np.linspace(start, end, count + 1)).max() < 1e-9
    state, inertias = sprung(8.0)
    assert state.simulate(0.25, inertias, every=0.1)["time"].tolist() == [0.0, 0.1, 0.2, 0.25]


def test_runs_that_cannot_be_are_refused_and_change_nothing() -> None:
    state, inertias = sprung(8.0)
    state.time = 1.0
    for keywords, what in (
        ({"end": 0.5}, "end = .* not before"),
        ({"end": float("nan")}, "end = .* not before"),
        ({"every": 0.0}, "samples"),
        ({"every": float("nan")}, "samples"),
        ({"integrator": "euler"}, "integrator must be .*symplectic_euler., not .euler"),
        ({"integrator": "symplectic_euler"}, "needs a step"),
        ({"integrator": "symplectic_euler", "step": 0.1, "accuracy": 1e-9}, "accuracy has no effect"),
        ({"accuracy": 0.0}, "accuracy"),
        ({"scale": 0.0}, "scale"),
        ({"step": -1.0}, "step"),
        ({"gravity": -9.81}, r"gravity must be of shape \(3,\), not \(\)"),
        ({"gravity": [0.0, -9.81]}, r"gravity must be of shape \(3,\), not \(2,\)"),
        ({"gravity": [0.0, 0.0, float("nan")]}, "gravity must be finite"),
        ({"coordinate_loads": [1.0, 2.0]}, "coordinate_loads"),
        ({"inertias": fe.Inertias([], [], coordinate_masses=1e308)}, "mass"),
        ({"inertias": fe.Inertias([], [])}, "coordinate_masses"),
    ):
        with pytest.raises(fe.InvalidValueError, match=what):
            state.simulate(**({"end": 2.0, "inertias": inertias} | keywords))  # type: ignore[arg-type]
        assert state.time == 1.0 and state.coordinates[0] == 0.1 and state["spring.account_open"] == 0.0
    with pytest.raises(fe.NoSuchNameError):
        state.simulate(2.0, inertias, names=["spring.no_such"])
    with pytest.raises(fe.Error):
        state.simulate(2.0, inertias, coordinate_loads=[float("inf")])
    assert state.time == 1.0


def test_an_oscillation_of_a_nanometre_is_resolved_at_its_scale() -> None:
    amplitude, errors, steps = 1e-9, {}, {}
    for scale in (None, amplitude):
        state, inertias = sprung(8.0)
        state.coordinates = [amplitude]
        run = state.simulate(3.0, inertias, accuracy=1e-6, scale=scale)
        # 2 kg on 8 N/m.
        errors[scale] = abs(state.coordinates[0] / amplitude - np.cos(2.0 * 3.0))
        steps[scale] = len(run["time"])
    # By default nothing below a millimetre counts.
    assert errors[amplitude] < 1e-5 < 1e-3 < errors[None], errors
    assert steps[amplitude] > 2 * steps[None], steps


def test_a_step_that_is_too_long_is_refused_where_it_is() -> None:
    design = fe.ContactDesign(MASS, SIDE / 2, 1e-4)
    state, inertias = cube(design)
    with pytest.raises(fe.StepError, match="too long"):
        state.simulate(1.0, inertias, integrator="symplectic_euler", step=2e-3)
    # It has fallen until a corner touches, and stands there.
    assert 0.04 < state.time < 0.08
    stopped = state.time
    run = state.simulate(1.0, inertias)
    assert run["time"][0] == stopped and state.time == 1.0 and abs(state.poses[0, 2, 3] - SIDE / 2) < 1e-4


def test_a_run_can_be_interrupted_while_another_thread_waits_for_its_system() -> None:
    script = """
import os, signal, threading, time
import force_elements as fe
# What runs in the background may have been started with it ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
system = fe.System()
system.add_coordinate_spring_damper_ext(system.add_coordinate("slider"), stiffness=1e4)
state = system.state()
state.coordinates = [0.1]
def add():
    time.sleep(0.1)
    system.add_body("late")     # waits for the end of the run
def interrupt():
    time.sleep(0.4)
    os.kill(os.getpid(), signal.SIGINT)
threads = [threading.Thread(target=target) for target in (add, interrupt)]
try:
    for thread in threads:
        thread.start()
    state.simulate(1e6, fe.Inertias([], [], coordinate_masses=1.0), every=1e6)
except KeyboardInterrupt:
    for thread in threads:
        thread.join()
    print("interrupted", state.time > 0.0, len(system.bodies))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["interrupted", "True", "1"]


def test_a_system_from_which_a_body_was_removed_has_no_plant() -> None:
    system = fe.System()
    system.add_body("one")
    other = system.add_body("other")
    system.remove_body(other)
    with pytest.raises(fe.TopologyError):
        system.state().simulate(1.0, fe.Inertias(1.0, 1.0))


def test_a_state_from_before_a_body_was_added_is_told_to_carry_over() -> None:
    system = fe.System()
    system.add_body("one")
    state = system.state()
    system.add_body("other")
    with pytest.raises(fe.TopologyError, match="carry_over"):
        state.simulate(1.0, fe.Inertias(1.0, 1.0))


@pytest.mark.parametrize(("transition", "acts"), [(0.0, False), (1e-3, True)])
def test_stops_with_a_transition_act_without_accept_and_others_do_not(transition: float, acts: bool) -> None:
    system = fe.System()
    slider = system.add_coordinate()
    system.add_coordinate_spring_damper_ext(
        slider, use_limit_stops=True, limit_stops_upper=0.1, limit_stops_upper_stiffness=1e4, limit_stops_transition=transition
    )
    state = system.state()
    state.reset_memory()
    for value in (0.0, 0.11):
        state.set_coordinate(slider, value)
        state.evaluate()
    assert (state.coordinate_forces[0] < -90.0) == acts
    state.accept()
    state.evaluate()
    assert state.coordinate_forces[0] < -90.0


def test_a_solver_with_accept_after_each_step_bounces_as_the_closed_form() -> None:
    system = fe.System()
    slider = system.add_coordinate()
    system.add_coordinate_spring_damper_ext(
        slider,
        use_limit_stops=True,
        limit_stops_upper=0.1,
        limit_stops_lower=-0.1,
        limit_stops_upper_stiffness=1e4,
        limit_stops_lower_stiffness=1e4,
        limit_stops_transition=1e-3,
    )
    state = system.state()

    def rates(time: float, values: Any) -> Any:
        state.time = time
        state.set_coordinate(slider, values[0], values[1])
        state.evaluate()
        return np.array([values[1], state.coordinate_forces[0]])

    solver = RK45(rates, 0.0, [0.0, 1.0], 2.0, max_step=1e-3, rtol=1e-8, atol=1e-12)
    state.reset_memory()
    deepest = 0.0
    while solver.status == "running":
        solver.step()
        rates(solver.t, solver.y)
        state.accept()
        solver.f = rates(solver.t, solver.y)
        deepest = max(deepest, abs(solver.y[0]))
        # 1 kg at 1 m/s: what it has stored and how it moves add up to half a joule, but for the tolerance of so many steps.
        assert abs(state.energy + 0.5 * solver.y[1] ** 2 - 0.5) < 2000 * 1e-8
    # On 1e4 N/m it comes 1 cm deep, and by at most the half of the transition deeper; a step that ends beside the turn is off by 0.0125 mm.
    assert 0.11 - 1.25e-5 <= deepest <= 0.1105
