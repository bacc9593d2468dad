"""Batches, derivatives, pickles, names and errors."""

import copy
import pickle
import pydoc
import runpy
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

import numpy as np
import pytest
from scenes import everything, motion

import force_elements as fe

WORLDS = 70
NAMES = ["mount.f.px", "exponential_spring[0].normal_force", "cable_spring[0].tension"]


def single(system: fe.System, moved: dict[str, Any], world: int) -> fe.State:
    state = system.state()
    for name, values in moved.items():
        setattr(state, name, values[world])
    return state


def outputs(system: fe.System) -> dict[str, Any]:
    bodies, coordinates = len(system.bodies), len(system.coordinates)
    return {
        "wrenches": np.full((WORLDS, bodies, 6), np.nan),
        "coordinate_forces": np.full((WORLDS, coordinates), np.nan),
        "energies": np.full(WORLDS, np.nan),
        "names": NAMES,
        "results": np.full((WORLDS, len(NAMES)), np.nan),
    }


@pytest.mark.parametrize("threads", [None, 1, 2, 7])
def test_a_batch_has_the_bits_of_single_states(threads: int | None) -> None:
    system = everything()
    batch = fe.Batch(system, WORLDS, threads=threads)
    stiffness = np.linspace(1.0, 1000.0, WORLDS)
    batch["mount.stiffness.pz"] = stiffness
    states = [system.state() for _ in range(WORLDS)]
    for step in range(3):
        moved, out = motion(system, WORLDS, seed=step), outputs(system)
        is_accepted = step != 1
        run = batch.step if is_accepted else batch.evaluate
        run(time=0.001 * step, **moved, **out)
        for world, state in enumerate(states):
            state["mount.stiffness.pz"] = stiffness[world]
            state.time = 0.001 * step
            for name, values in moved.items():
                setattr(state, name, values[world])
            state.evaluate()
            if is_accepted:
                state.accept()
                state.evaluate()
            assert np.array_equal(out["wrenches"][world], state.wrenches)
            assert np.array_equal(out["coordinate_forces"][world], state.coordinate_forces)
            assert out["energies"][world] == state.energy
            assert np.array_equal(out["results"][world], [state.result(name) for name in NAMES])
            assert batch.state(world).to_bytes() == state.to_bytes()
    assert np.array_equal(batch["mount.stiffness.pz"], stiffness)


def test_undamped_stops_return_the_speed_with_which_they_are_struck() -> None:
    system = fe.System()
    slider = system.add_coordinate()
    system.add_coordinate_spring_damper_ext(
        slider, use_limit_stops=True, limit_stops_lower=0.0, limit_stops_upper=10.0, limit_stops_lower_stiffness=1e4
    )
    worlds, mass, h = 50, 50.0, 0.01
    batch = fe.Batch(system, worlds)
    q, v, forces = np.linspace(0.3, 0.31, worlds)[:, None], np.full((worlds, 1), -1.0), np.zeros((worlds, 1))
    for step in range(70):
        batch.step(time=h * step, coordinates=q, coordinate_rates=v, coordinate_forces=forces)
        v += h / mass * forces
        q += h * v
    # The stop is first seen at a depth of up to v h: its energy is a fraction (ω h)² of the kinetic energy, of which half is in
    # the mean and half of that in the speed. Forces before the commit, a step later, miss eighteen thousandths of the speed.
    assert np.all(q > 0.1) and np.abs(v - 1.0).max() < 0.25 * h * h * 1e4 / mass


def test_matrices_and_quaternions_are_one() -> None:
    system = everything()
    moved = motion(system, WORLDS)
    matrices = np.array([single(system, moved, world).poses for world in range(WORLDS)])
    first, second = outputs(system), outputs(system)
    fe.Batch(system, WORLDS).evaluate(**moved, **first)
    fe.Batch(system, WORLDS).evaluate(**{**moved, "poses": matrices}, **second)
    assert np.array_equal(first["wrenches"], second["wrenches"])


def test_masked_worlds_begin_anew() -> None:
    system = everything()
    batch = fe.Batch(system, 4)
    batch.step(time=0.5, **motion(system, 4))
    changed = [batch.state(world).to_bytes() for world in range(4)]
    batch.reset([False, True, False, True])
    fresh = system.state().to_bytes()
    assert [batch.state(world).to_bytes() for world in range(4)] == [changed[0], fresh, changed[2], fresh]


def test_a_failing_world_is_named_and_the_others_are_done() -> None:
    system = everything()
    moved, out = motion(system, WORLDS), outputs(system)
    moved["poses"][[41, 3], 0, 1] = np.nan
    with pytest.raises(fe.InvalidValueError, match="world 3: .*pose") as raised:
        fe.Batch(system, WORLDS).evaluate(**moved, **out)
    assert raised.value.world == 3
    # Their rows keep what they held.
    assert raised.value.worlds == np.flatnonzero(np.isnan(out["energies"])).tolist() == [3, 41]
    again = pickle.loads(pickle.dumps(raised.value))
    assert (type(again), again.world, again.worlds, str(again)) == (fe.InvalidValueError, 3, [3, 41], str(raised.value))
    assert (fe.Error("none").world, fe.Error("none").worlds) == (None, [])


def test_what_is_refused_a_motion_stays_as_it_was() -> None:
    system = everything()
    batch = fe.Batch(system, 2)
    batch.step(time=1.0, **motion(system, 2, seed=1))
    before = pickle.dumps([batch.state(world) for world in range(2)])
    for name, values in motion(system, 2, seed=2).items():
        wrong = values.copy()
        wrong.reshape(2, -1)[:, -1] = np.nan
        with pytest.raises(fe.InvalidValueError):
            batch.step(time=2.0, **{**motion(system, 2, seed=2), name: wrong})
        assert pickle.dumps([batch.state(world) for world in range(2)]) == before
        state = batch.state(0)
        state.evaluate()
        with pytest.raises(fe.InvalidValueError):
            setattr(state, name, wrong[0])
        assert np.isfinite(state.energy)
        assert pickle.dumps([state, batch.state(1)]) == before
    with pytest.raises(fe.InvalidValueError):
        batch.step(time=[2.0, np.nan])
    assert batch["time"].tolist() == [2.0, 1.0]
    state = batch.state(1)
    with pytest.raises(fe.InvalidValueError, match="rate"):
        state.set_coordinate(system.coordinates[0], 7.0, np.nan)
    assert state.coordinates[0] != 7.0


def test_a_batch_in_use_is_no_error_of_the_package() -> None:
    class Reading(dict[str, float]):
        def items(self) -> Any:
            return [("time", float(len(batch)))]

    batch = fe.Batch(everything(), 2)
    with pytest.raises(RuntimeError, match="Already mutably borrowed") as raised:
        batch.update(Reading())
    assert not isinstance(raised.value, fe.Error)
    assert not batch["time"].any()


def test_names_that_cannot_be_given_are_refused_with_the_reason() -> None:
    system = everything()
    cube = system.body("cube")
    for name, reason in (
        ("", "a name is not empty"),
        ("a[0]", r'that of an element does not begin like "kind\[3\]"'),
        ("mount.stiffness", 'beside "mount" of another element'),
        ("mount", "is taken"),
    ):
        with pytest.raises(fe.Error, match=reason):
            system.add_linear_bushing(fe.GROUND, cube, name=name)
    for add in (system.add_body, system.add_coordinate):
        with pytest.raises(fe.Error, match="a name is not empty"):
            add("")


def test_arrays_are_written_in_place_or_refused() -> None:
    system = everything()
    batch, moved = fe.Batch(system, WORLDS), motion(system, WORLDS)
    frozen: Any = np.empty((WORLDS, 1, 6))
    wrenches: Any
    frozen.flags.writeable = False
    for wrenches in (frozen, np.empty((WORLDS, 1, 6), dtype=np.float32), np.empty((WORLDS, 1, 12))[..., ::2]):
        with pytest.raises(TypeError, match="wrenches"):
            batch.evaluate(**moved, wrenches=wrenches)
    with pytest.raises(fe.InvalidValueError, match="shape"):
        batch.evaluate(poses=moved["poses"][:-1])


def test_outputs_that_are_not_in_c_order_are_refused() -> None:
    system = fe.System()
    for _ in range(2):
        system.add_linear_bushing(fe.GROUND, system.add_body(), stiffness=100.0)
        system.add_coordinate_spring_damper_ext(system.add_coordinate(), stiffness=10.0)
    batch = fe.Batch(system, 3)
    rows, width = 14, len(batch.keys())
    moved = motion(system, 3)
    evaluated = {"wrenches": (3, 2, 6), "coordinate_forces": (3, 2), "results": (3, 2)}
    calls: list[tuple[Callable[..., None], dict[str, tuple[int, ...]]]] = [
        (batch.evaluate, evaluated),
        (batch.step, evaluated),
        (batch.jvp, {"forces": (3, rows), "next": (3, width)}),
        (batch.vjp, {"motion": (3, rows), "velocity": (3, rows), "variables": (3, width)}),
    ]
    for call, shapes in calls:
        for name, shape in shapes.items():
            names = {"names": [f"linear_bushing[{place}].f.px" for place in range(2)]} if name == "results" else {}
            for array in (np.full(shape, 7.0, order="F"), np.full(shape[::-1], 7.0).T):
                batch.evaluate(**moved)
                with pytest.raises(TypeError, match=f"{name} must be contiguous, in C order"):
                    call(**{name: array}, **names)
                assert (array == 7.0).all()


def test_arrays_that_share_memory_are_refused_or_copied() -> None:
    system = everything()
    batch, moved = fe.Batch(system, WORLDS), motion(system, WORLDS)
    # Of two objects, which have no array in common.
    buffer = bytearray((WORLDS + 1) * 48 + 1)

    def shared(offset: int) -> Any:
        return np.frombuffer(buffer, count=6 * WORLDS, offset=offset).reshape(WORLDS, 1, 6)

    shared(0)[:] = moved["velocities"]
    with pytest.raises(TypeError, match="wrenches .* used once"):
        batch.evaluate(**{**moved, "velocities": shared(0)}, wrenches=shared(48))
    energies: Any = np.frombuffer(buffer, count=WORLDS)
    with pytest.raises(TypeError, match="energies .* used once"):
        batch.evaluate(**moved, wrenches=shared(0), energies=energies)
    batch.evaluate(**moved, wrenches=shared(0))
    gradient: Any = np.frombuffer(buffer, count=7 * 6).reshape(6, 7)
    few = fe.Batch(system, 6)
    few.evaluate(**motion(system, 6))
    with pytest.raises(TypeError, match="motion .* used once"):
        few.vjp(forces=gradient, motion=np.frombuffer(buffer, count=7 * 6, offset=8).reshape(6, 7))
    with pytest.raises(TypeError, match="forces .* used once"):
        few.jvp(motion=gradient, forces=np.frombuffer(buffer, count=7 * 6, offset=8).reshape(6, 7))
    # What is not aligned is copied, or refused by its name where it is written to.
    shared(1)[:] = moved["velocities"]
    expected, got = np.empty((WORLDS, 1, 6)), np.empty((WORLDS, 1, 6))
    batch.evaluate(**moved, wrenches=expected)
    batch.evaluate(**{**moved, "velocities": shared(1)}, wrenches=got)
    assert np.array_equal(got, expected)
    with pytest.raises(TypeError, match="wrenches .* aligned"):
        batch.evaluate(**moved, wrenches=shared(1))


def test_poses_that_are_none_are_refused() -> None:
    system = everything()
    state, batch = system.state(), fe.Batch(system, 1)
    body, count = system.bodies[0], len(system.bodies)
    turned = np.eye(4)
    turned[:3, :3] = [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    turned[:3, 3] = [0.1, 0.2, 0.3]
    state.set_body(body, turned.astype(np.float32))
    state.set_body(body, np.linalg.inv(turned))
    state.set_body(body, [0.0, 0.0, 0.0, 1.0002, 0.0, 0.0, 0.0])
    mirrored, scaled = turned * [-1.0, 1.0, 1.0, 1.0], turned * [1.01, 1.01, 1.01, 1.0]
    for wrong in [turned.T, mirrored, scaled, turned * np.nan]:
        with pytest.raises(fe.InvalidValueError, match="pose"):
            state.set_body(body, wrong)
        with pytest.raises(fe.InvalidValueError, match="world 0: .*pose"):
            batch.evaluate(poses=np.tile(wrong, (1, count, 1, 1)))
    for numbers in [[0.0] * 7, [0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0]]:
        with pytest.raises(fe.InvalidValueError, match="quaternion"):
            state.set_body(body, numbers)
    for number in (np.nan, np.inf):
        with pytest.raises(fe.InvalidValueError, match="pose = .* must be finite"):
            fe.Frame(body, [number, 0.0, 0.0])
        for point in (body.station, lambda at: fe.Station(body, at), lambda at: fe.Obstacle(body, fe.Shape.sphere(0.1), hint=at)):
            with pytest.raises(fe.InvalidValueError, match="point = .* must be finite"):
                point([0.0, number, 0.0])
    with pytest.raises(TypeError, match="belong together"):
        batch.evaluate(names=NAMES)
    with pytest.raises(TypeError, match="belong together"):
        batch.evaluate(results=np.empty((1, 3)))


def test_products_with_a_linearization_are_its_matrices_and_transpose() -> None:
    system = everything()
    state = single(system, motion(system, 1), 0)
    state.evaluate()
    linearization = state.linearize(variables=True, commit=True)
    size, count = len(linearization.names), len(linearization.variable_names)
    stiffness, damping = np.zeros((size, size)), np.zeros((size, size))
    rows, columns, by_position, by_velocity = linearization.triplets()
    np.add.at(stiffness, (rows, columns), by_position)
    np.add.at(damping, (rows, columns), by_velocity)
    assert np.array_equal(stiffness, linearization.stiffness)
    assert np.array_equal(damping, linearization.damping)

    random = np.random.default_rng(1)
    dX, dV, dp, forces, after = (random.normal(size=n) for n in (size, size, count, size, count))
    change, following = linearization.jvp(dX, dV, dp)
    assert following is not None
    (by_X, by_V), by_p = linearization.vjp(forces, after)
    assert by_p is not None
    one, other = forces @ change + after @ following, by_X @ dX + by_V @ dV + by_p @ dp
    assert abs(one - other) < 1e-9 * float(np.linalg.norm(following) * np.linalg.norm(after))
    only, _ = linearization.jvp(dX, dV)
    assert np.allclose(only, stiffness @ dX + damping @ dV, rtol=1e-12, atol=1e-9)


def test_a_linearization_has_the_names_of_its_state() -> None:
    system = fe.System()
    cube = system.add_body()
    old = system.add_linear_bushing(fe.GROUND, cube, name="old", stiffness=100.0)
    state = system.state()
    state.set_body(cube, [0.5, 0.0, 0.0])
    state.evaluate()
    linearization = state.linearize(variables=True)
    system.remove_element(old)
    system.add_linear_bushing(cube, fe.GROUND, name="new")
    for name in ("old.stiffness.px", "linear_bushing[0].stiffness.px"):
        assert linearization.jvp(variables={name: 1.0})[0][3] == -0.5
    with pytest.raises(fe.NoSuchNameError, match="new.stiffness.px"):
        linearization.jvp(variables={"new.stiffness.px": 1.0})


def test_a_linearization_is_the_limit_of_differences() -> None:
    system = everything()
    moved = motion(system, 1)
    state = single(system, moved, 0)
    state.evaluate()
    name = "linear_bushing[0].stiffness.px"
    slope, _ = state.linearize(variables=True).jvp(variables={name: 1.0})
    forces = []
    for stiffness in (799.0, 801.0):
        state["mount.stiffness.px"] = stiffness
        state.evaluate()
        forces.append(np.append(state.wrenches.ravel(), state.coordinate_forces))
    assert np.allclose((forces[1] - forces[0]) / 2.0, slope, atol=1e-8)


def test_pickles_and_copies_continue_bit_for_bit() -> None:
    system = everything()
    state = single(system, motion(system, 1), 0)
    state.evaluate()
    state.accept()
    program = (
        "import pickle, sys; state = pickle.load(sys.stdin.buffer); state.evaluate(); "
        "sys.stdout.buffer.write(pickle.dumps((state, state.wrenches)))"
    )
    done = subprocess.run([sys.executable, "-c", program], input=pickle.dumps(state), stdout=subprocess.PIPE, check=True)
    there, wrenches = pickle.loads(done.stdout)
    here = copy.deepcopy(state)
    for again in (there, here):
        again.evaluate()
        assert np.array_equal(again.wrenches, wrenches)
        again.accept()
    assert there.to_bytes() == here.to_bytes()
    assert repr(there.system) == repr(system)
    batch = fe.Batch(system, 3, state=state)
    assert pickle.loads(pickle.dumps(batch)).state(2).to_bytes() == state.to_bytes()


def test_a_pickle_of_another_layout_is_refused_by_name() -> None:
    system = everything()
    batch = fe.Batch(system, 2, threads=1)
    for of in (system.state(), batch):
        make, (*before, (names, progress, numbers)) = of.__reduce__()
        for other in ([name.replace("mu_kinetic", "mu_dynamic") for name in names], names[::-1]):
            with pytest.raises(fe.LayoutError):
                make(*before, (other, progress, numbers))
        with pytest.raises(fe.TopologyError):
            make(*before, (names[:-1], progress, numbers))
        with pytest.raises(fe.LayoutError, match="mu_kinetic"):
            make(*before, ([name.replace("mu_kinetic", "mu_dynamic") for name in names], progress, numbers))
    # The number of threads is kept too.
    assert pickle.loads(pickle.dumps(batch)).__reduce__()[1][1] == 1


def a_slider() -> fe.System:
    """A spring with bristles and a stop, for which a motion is more than its numbers."""
    system = fe.System()
    slider = system.add_coordinate("slider")
    bristles: dict[str, Any] = {"sticking_stiffness": 100.0, "stiffness": 7.0}
    stop: dict[str, Any] = {"use_limit_stops": True, "limit_stops_upper": 1.0, "limit_stops_lower": -1.0, "limit_stops_upper_stiffness": 1000.0}
    system.add_coordinate_spring_damper_ext(slider, name="slide", **bristles, **stop)
    return system


def place(state: fe.State) -> None:
    state.set_coordinate(state.system.coordinate("slider"), 0.5, 0.1)


def evaluate(state: fe.State) -> None:
    place(state)
    state.evaluate()


def account(state: fe.State) -> None:
    place(state)
    state.reset_dissipated_energy()
    state.finish_step(time=0.001, coordinates=[0.5], coordinate_rates=[0.1])


def leave(state: fe.State) -> None:
    account(state)
    state.set_coordinate(state.system.coordinate("slider"), 0.6, 0.1)


def restore(state: fe.State) -> None:
    account(state)
    state.restore(state.variables())


@pytest.mark.parametrize("begin", [lambda state: None, place, evaluate, fe.State.reset_memory, account, leave, restore])
@pytest.mark.parametrize("change", [{}, {"slide.dynamic_friction": 5.0}, {"slide.limit_stops_upper": -0.1}, {"slide.stiffness": 9.0}])
@pytest.mark.parametrize("moves", [False, True])
def test_every_copy_continues_as_its_state(begin: Callable[[fe.State], None], change: dict[str, float], moves: bool) -> None:
    system, equal = a_slider(), a_slider()
    state = system.state()
    begin(state)
    batch, by_set_state, by_reset = fe.Batch(system, 2, state=state), fe.Batch(equal, 1), fe.Batch(equal, 1)
    by_set_state.set_state(0, state)
    by_reset.reset([True], state)
    copies = [
        pickle.loads(pickle.dumps(state)),
        copy.deepcopy(state),
        fe.Batch(equal, 1, state=state).state(0),
        by_set_state.state(0),
        by_reset.state(0),
        pickle.loads(pickle.dumps(batch)).state(1),
        pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(state)))),
    ]

    def run(of: fe.State) -> list[Any]:
        of.update(change)
        seen: list[Any] = []
        for step in range(2):
            if moves:
                of.set_coordinate(of.system.coordinate("slider"), 0.7 + 0.1 * step, 0.2)
            of.evaluate()
            seen.append((of.energy, of.dissipated_energy, of.coordinate_forces.tobytes()))
            of.accept()
            seen.append(of.values().tobytes())
        return seen

    expected = run(state)
    assert [run(of) for of in copies] == [expected] * len(copies)


def test_a_state_from_before_a_change_is_not_pickled() -> None:
    system = fe.System()
    a, b = system.add_body(), system.add_body()
    soft = system.add_linear_bushing(fe.GROUND, a, stiffness=5.0)
    state, batch = system.state(), fe.Batch(system, 2)
    system.remove_element(soft)
    system.add_linear_bushing(fe.GROUND, b, stiffness=1000.0)
    for outdated in (state, batch):
        with pytest.raises(fe.TopologyError):
            pickle.dumps(outdated)
        outdated.carry_over()
    mixed = fe.Batch(system, 2)
    system.add_body()
    mixed.reset([True, False])
    for refused in (lambda: pickle.dumps(mixed), lambda: mixed.update({"time": 1.0}), lambda: mixed.evaluate()):
        with pytest.raises(fe.TopologyError):
            refused()
    # Arrays of the shapes that were right before are not blamed.
    late: list[Callable[[], None]] = [
        lambda: batch.step(poses=np.zeros((2, 2, 7))),
        lambda: batch.evaluate(wrenches=np.zeros((2, 2, 6))),
        lambda: batch.jvp(motion=np.zeros((2, 12))),
        lambda: batch.vjp(forces=np.zeros((2, 12))),
    ]
    for call in late:
        with pytest.raises(fe.TopologyError, match="carry_over") as all_late:
            call()
        assert all_late.value.worlds == [0, 1]
    system.add_linear_bushing(fe.GROUND, a, stiffness=1.0)
    mixed.reset([True, False])
    with pytest.raises(fe.TopologyError):
        mixed.values()
    state.carry_over()
    batch.carry_over()
    assert pickle.loads(pickle.dumps(state))["linear_bushing[0].stiffness.px"] == 1000.0
    assert pickle.loads(pickle.dumps(batch)).state(1)["linear_bushing[0].stiffness.px"] == 1000.0


def test_simulate_says_that_it_needs_a_system_from_which_no_body_was_removed() -> None:
    system = fe.System()
    system.add_linear_bushing(fe.GROUND, system.add_body(), stiffness=5.0)
    system.remove_body(system.add_body())
    with pytest.raises(fe.TopologyError, match="build it anew"):
        system.state().simulate(0.1, fe.Inertias(1.0, 1.0))


def test_a_pickled_batch_continues_bit_for_bit() -> None:
    system = everything()
    batch = fe.Batch(system, 5)
    batch.step(time=0.5, **motion(system, 5))
    there = pickle.loads(pickle.dumps(batch))
    # The motion is kept too: it is not set again.
    forces = [np.empty((5, 1, 6)), np.empty((5, 1, 6))]
    for of, wrenches in zip((batch, there), forces):
        of.step(time=0.501, wrenches=wrenches)
    assert np.array_equal(forces[0], forces[1])
    assert np.array_equal(batch.values(), there.values())


def test_a_state_whose_motion_cannot_be_evaluated_can_be_pickled() -> None:
    system = fe.System()
    body = system.add_body()
    system.add_linear_bushing(fe.GROUND, body, stiffness=100.0)
    state = system.state()
    state.set_body(body, [0.1, 0.0, 0.0])
    state.evaluate()
    state.accept()
    state.set_body(body, [0.1, 0.0, 0.0, np.cos(1.55), np.sin(1.55), 0.0, 0.0])   # which way, by 3.1 rad?
    with pytest.raises(fe.ElementError):
        state.evaluate()
    there = pickle.loads(pickle.dumps(state))
    assert np.array_equal(there.poses, state.poses) and there.to_bytes() == state.to_bytes()
    for moved in (state, there):
        moved.set_body(body, [0.2, 0.0, 0.0])
        moved.evaluate()
    assert np.array_equal(there.wrenches, state.wrenches)


def test_a_mesh_of_another_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "part.ply"
    path.write_text("ply\n")
    with pytest.raises(ValueError, match="part.ply: only .obj and .stl"):
        fe.Mesh.load(path)


def test_what_a_design_and_a_passing_time_are_asked_is_checked() -> None:
    with pytest.raises(fe.InvalidValueError, match="extent"):
        fe.ContactDesign(1.0, np.nan, 1e-3)
    system = fe.System()
    system.add_hertz_contact(fe.GROUND, system.add_body().station([0, 0, 0]), 0.1, effective_modulus=1e6)
    state = system.state()
    state.evaluate()
    for within in (np.nan, -1.0):
        with pytest.raises(fe.InvalidValueError, match="within"):
            state.passing_time(within)


@pytest.mark.parametrize("friction", [None, 0.2])
def test_moment_arms_are_derivatives_of_the_length_by_joints(friction: float | None) -> None:
    system = fe.System()
    arm, forearm, glide = system.add_body("arm"), system.add_body("forearm"), system.add_coordinate("glide")
    turned = [0, 0, 0, 1, 0, 0, 0]
    elbow = fe.Obstacle(forearm.frame(turned), fe.Shape.cylinder(0.03), hint=[0, 0.03, 0], friction=friction)
    knots = [[0.1, 0.05, 0], [0.15, 0.06, 0.0], [0.2, 0.05, 0]]
    guide = fe.ViaPoint(arm.station([0, 0, 0]), moving=(glide, [-1.0, 0.0, 1.0], knots)) if friction is None else arm.station(knots[1])
    cable = system.add_cable_spring(
        fe.GROUND.station([0, 0.1, 0]), forearm.station([0.2, 0.02, 0.01]), [guide, elbow], stiffness=100.0, slack_length=0.1
    )
    other = system.add_linear_bushing(fe.GROUND, arm)
    state = system.state()

    def turn(angle: float) -> Any:
        return np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1.0]])

    def length(q: Any) -> float:
        shoulder, both, p = turn(q[0]), turn(q[0] + q[1]), np.zeros((2, 4, 4))
        p[:, 3, 3], p[0, :3, :3], p[1, :3, :3], p[1, :3, 3] = 1.0, shoulder, both, shoulder @ [0.3, 0, 0]
        state.poses, state.coordinates = p, [q[2]]
        state.evaluate()
        return state.result("cable_spring[0].path.length")

    z, q, step = np.array([0, 0, 1.0]), np.array([0.2, -0.7, 0.3]), 1e-6
    expected = [-(length(q + step * e) - length(q - step * e)) / (2 * step) for e in np.eye(3)]
    length(q)
    at_elbow = state.poses[1, :3, 3]
    motions = np.zeros((3, 2, 6))
    motions[0, 0, 2] = motions[0, 1, 2] = motions[1, 1, 2] = 1.0
    motions[0, 1, 3:] = np.cross(z, at_elbow)
    arms = state.moment_arms(cable, motions, [[0.0], [0.0], [1.0]])
    # Differences of lengths of 0.5 m, of which roundoff leaves 1e-10.
    moving = 3 if friction is None else 2
    assert np.abs(arms - expected).max() < 1e-9 and np.abs(arms[:moving]).min() > 1e-4
    # A motor at the elbow gains what the tension does there.
    tension = state.result("cable_spring[0].tension")
    power = np.einsum("kbi,bi->k", motions, state.wrenches)
    if friction is None:
        assert np.allclose(power[:2], tension * arms[:2], rtol=1e-12)
    if friction is None:
        with pytest.raises(fe.InvalidValueError, match="rates are needed"):
            state.moment_arms(cable, motions)
    else:
        assert np.array_equal(state.moment_arms(cable, motions)[:2], arms[:2]) and state.moment_arms(cable, motions[:0]).shape == (0,)
    for wrong in ((other, motions), (cable, motions[:, :1]), (cable, motions, [[0.0]])):
        with pytest.raises(fe.Error):
            state.moment_arms(*wrong)

    # In a batch every world has its own posture, and motions in its own rows.
    batch, rates = fe.Batch(system, WORLDS), np.zeros((WORLDS, 3, 1))
    of_worlds, single_arms = np.empty((WORLDS, 3, 2, 6)), np.empty((WORLDS, 3))
    for world, angle in enumerate(np.linspace(-0.9, -0.3, WORLDS)):
        length([0.2, angle, 0.3])
        of_worlds[world], rates[world, 2] = motions * (1.0 + world), 1.0 + world
        single_arms[world] = state.moment_arms(cable, of_worlds[world], rates[world])
        batch.set_state(world, state)
    assert np.array_equal(batch.moment_arms(cable, of_worlds, rates), single_arms)
    assert batch.moment_arms(cable, of_worlds[:, :0], rates[:, :0]).shape == (WORLDS, 0)
    with pytest.raises(fe.InvalidValueError, match=rf"motions must be of shape \({WORLDS}, k, 2, 6\), not \(3, 2, 6\)"):
        batch.moment_arms(cable, motions)
    batch.reset(np.arange(WORLDS) >= 68)
    with pytest.raises(fe.StageError, match="world 68") as refused:
        batch.moment_arms(cable, of_worlds, rates)
    assert refused.value.worlds == [68, 69]


def test_a_cable_stays_on_the_side_to_which_it_is_confined() -> None:
    lengths = []
    choices: list[dict[str, Any]] = [{}, {"confined_to": [0, 1, 0]}, {"confined_to": [0, -1, 0]}]
    for sides in choices:
        system = fe.System()
        load, drum = system.add_body("load"), fe.Shape.cylinder(0.1)
        over = fe.Obstacle(fe.GROUND, drum, friction=0.1, most_contacts=2, **sides)
        system.add_cable_spring(
            fe.GROUND.station([-0.3, 0.02, 0]), load.station([0, 0, 0]), [over], name="cable", slack_length=0.1, smoothness=1e-7, max_evaluations=20_000
        )
        state = pickle.loads(pickle.dumps(system)).state()
        state.set_body(state.system.body("load"), [0.3, 0.02, 0])
        state.evaluate()
        assert state.result("cable.path.smoothness") <= 1e-7
        lengths.append(state.result("cable.path.length"))
    # Over the top it is the shortest.
    assert lengths[0] == lengths[1] < lengths[2] - 0.02
    refused: list[tuple[dict[str, Any], str]] = [({"confined_to": [0, 0, 1]}, "side"), ({"most_contacts": 0}, "most_contacts")]
    for wrong, message in refused:
        with pytest.raises(fe.InvalidValueError, match=message):
            system.add_cable_spring(fe.GROUND.station([1, 0, 0]), load.station([0, 0, 0]), [fe.Obstacle(fe.GROUND, drum, **wrong)])
    with pytest.raises(fe.InvalidValueError, match="max_evaluations"):
        system.add_cable_spring(fe.GROUND.station([1, 0, 0]), load.station([0, 0, 0]), max_evaluations=0)
    # So little work that a path over a torus is not found, and the message says how to go on.
    ring = fe.Obstacle(fe.GROUND, fe.Shape.torus(0.2, 0.05), hint=[0.1, 0.05, 0.02])
    system.add_cable_spring(fe.GROUND.station([0.1, 0.02, 0.3]), load.station([0, 0, 0]), [ring], slack_length=0.1, max_evaluations=10)
    state = system.state()
    state.set_body(load, [0.25, 0.1, -0.3])
    with pytest.raises(fe.ElementError, match="max_evaluations"):
        state.evaluate()


def test_curves_height_maps_and_distance_fields() -> None:
    system = fe.System()
    body = system.add_body("body")
    # The same as a stiffness of 300 N/m.
    curve = [[-0.02, -6.0], [-0.01, -3.0], [0.0, 0.0], [0.01, 3.0], [0.02, 6.0]]
    damper = [[-0.5, -60.0], [0.0, 0.0], [0.5, 20.0]]
    system.add_spatial_bushing(fe.GROUND, body, curves={"px": curve}, damping_curves={"px": damper}, name="table")
    system.add_spatial_bushing(fe.GROUND, body, stiffness=[0, 0, 0, 300.0, 0, 0], name="line")
    # A cylinder as a height map, a sphere as a distance field, and both as themselves.
    y = np.linspace(-0.06, 0.06, 49)
    heights = np.repeat(np.sqrt(0.01 - y * y)[:, None], 5, 1) - 0.1
    hill = fe.Shape.height_map([-0.1, -0.06], [0.05, 0.0025], heights)
    ball = fe.Shape.distance_field(fe.Mesh.sphere(0.05, 12), 0.005)
    ends = [fe.GROUND.station([0, -0.3, -0.02]), fe.GROUND.station([0, 0.3, -0.02])]
    round_one = fe.Obstacle(fe.GROUND.frame([0, 0, -0.1, np.sqrt(0.5), 0, np.sqrt(0.5), 0]), fe.Shape.cylinder(0.1), hint=[-0.1, 0, 0])
    for name, obstacle in (
        ("over the map", fe.Obstacle(fe.GROUND, hill, hint=[0, 0, 0])),
        ("over the cylinder", round_one),
        ("over the field", fe.Obstacle(fe.GROUND.frame([0, 0, -0.05]), ball, hint=[0.001, 0, 0.05])),
        ("over the sphere", fe.Obstacle(fe.GROUND.frame([0, 0, -0.05]), fe.Shape.sphere(0.05), hint=[0.001, 0, 0.05])),
    ):
        system.add_cable_spring(ends[0], ends[1], [obstacle], stiffness=100.0, slack_length=0.5, name=name)
    state = pickle.loads(pickle.dumps(system)).state()
    state.set_body(state.system.body("body"), [0.005, 0, 0])
    state.evaluate()
    of_curve, of_line = (state.result(f"{name}.potential_energy") for name in ("table", "line"))
    assert of_line == pytest.approx(0.5 * 300.0 * 0.005**2) and of_curve == pytest.approx(of_line)
    shapes = ("map", "cylinder", "field", "sphere")
    of_map, of_cylinder, of_field, of_sphere = (state.result(f"over the {shape}.path.length") for shape in shapes)
    # The spline leaves the circle by less than a hundredth of its sagitta over a spacing.
    assert of_map == pytest.approx(of_cylinder, abs=1e-6) and of_cylinder > 0.6
    # The faces of the mesh are within 0.2 mm of the sphere: its edges are an octahedron's, of 71 mm, in twelve parts.
    assert of_field == pytest.approx(of_sphere, abs=1e-4) and of_sphere > 0.6
    # At a point of the damper's table, beside the curve.
    state.set_body(state.system.body("body"), [0.005, 0, 0], [0, 0, 0, 0.5, 0, 0])
    state.evaluate()
    assert state.result("table.f.px") == pytest.approx(-300.0 * 0.005 - 20.0)
    assert state.result("table.power_dissipated") == pytest.approx(20.0 * 0.5)
    with pytest.raises(fe.InvalidValueError, match="damping_curve"):
        system.add_spatial_bushing(fe.GROUND, body, damping_curves={"px": [[-1.0, 1.0], [0.0, 0.0], [1.0, 1.0]]})
    with pytest.raises(fe.InvalidValueError, match="axis"):
        system.add_spatial_bushing(fe.GROUND, body, curves={"x": curve})
    with pytest.raises(fe.InvalidValueError, match="shape"):
        system.add_spatial_bushing(fe.GROUND, body, curves={"px": [1.0, 2.0]})
    with pytest.raises(fe.ElementError, match="with a half_space, .* or with a Mesh, not with a height_map"):
        fe.Surface(fe.GROUND, hill)
    assert fe.Shape("height_map", hill.sizes).sizes == hill.sizes
    for columns in (5.5, -5.0, np.nan, np.inf):
        with pytest.raises(fe.InvalidValueError, match="no shape height_map"):
            fe.Shape("height_map", [*hill.sizes[:4], columns, *hill.sizes[5:]])


def test_a_step_in_which_bodies_pass_through_each_other_is_refused() -> None:
    system = fe.System()
    a, b = (system.add_body(name).station([0.0, 0.0, 0.0]) for name in ("a", "b"))
    system.add_hertz_contact((a, 0.1), b, 0.1, effective_modulus=1e6)
    state = system.state()
    poses = np.tile(np.eye(4), (2, 1, 1))
    poses[:, 0, 3] = [-0.3, 0.3]
    state.poses = poses
    state.velocities = [[0.0, 0.0, 0.0, 5.0, 0.0, 0.0], [0.0, 0.0, 0.0, -5.0, 0.0, 0.0]]
    state.evaluate()
    # They meet after 0.4 m, and have dipped into each other by half of their radii after 0.1 m more.
    assert abs(state.passing_time() - 0.05) < 1e-12
    poses[:, 0, 3] = [0.3, -0.3]
    with pytest.raises(fe.Error, match="too long"):
        state.finish_step(time=0.12, poses=poses, velocities=state.velocities)
    poses[:, 0, 3] = [-0.1, 0.1]
    state.finish_step(time=0.04, poses=poses, velocities=state.velocities)


def test_the_switching_error_is_what_accept_changes_a_force_by() -> None:
    system = fe.System()
    slider = system.add_coordinate("slider")
    system.add_coordinate_spring_damper_ext(
        slider, dynamic_friction=6.0, static_friction_offset=4.0, sticking_stiffness=1e4
    )
    state = system.state()
    with pytest.raises(fe.StageError):
        state.switching_error()
    found = []
    # Held by 5 N; and past 10 N, from where it slips at 6 N.
    for place in (0.0005, 0.002):
        state.time += 0.001
        state.set_coordinate(slider, place, 0.1)
        state.evaluate()
        (before,) = state.coordinate_forces
        error = state.switching_error()
        assert state.switching_error() == error
        state.accept()
        state.evaluate()
        (after,) = state.coordinate_forces
        assert abs(after - before) == pytest.approx(error, rel=1e-12)
        found.append((before, after))
    assert np.allclose(found, [(-5.0, -5.0), (-20.0, -6.0)])


@pytest.mark.parametrize("integrator", ["dormand_prince", "implicit_trapezoidal", "tr_bdf2"])
def test_a_ceiling_that_is_touched_within_a_step_is_seen(integrator: str) -> None:
    apex = 8.0**2 / (2.0 * 9.81)
    system = fe.System()
    body = system.add_body()
    ceiling = np.diag([1.0, -1.0, -1.0, 1.0])
    ceiling[2, 3] = apex - 0.3
    system.add_exponential_spring(
        fe.GROUND.frame(ceiling), body.station([0.0, 0.0, 0.0]), d0=0.0, d1=1.0, d2=1e4, normal_viscosity=0.0
    )
    state = system.state()
    state.velocities = [[0.0, 0.0, 0.0, 0.0, 0.0, 8.0]]
    state.evaluate()
    # The force is a thousandth of d1 this far below the ceiling.
    assert np.allclose(state.gaps(), [[apex - 0.3 - np.log(1e3) / 1e4, -8.0]], rtol=1e-12)
    seen = state.simulate(2.0, fe.Inertias(1.0, 0.004), integrator=integrator)
    impact = np.sqrt(2.0 * 9.81 * 0.3)
    falls = 2.0 - (8.0 - impact) / 9.81
    expected = apex - 0.3 - impact * falls - 0.5 * 9.81 * falls**2
    # The impact takes a few milliseconds; unseen it ends 7 m higher.
    assert abs(seen["poses"][-1, 0, 2, 3] - expected) < 0.05


def on_a_spring(stiffness: float) -> tuple[fe.System, fe.State]:
    """A body and a coordinate, each on a spring to ground."""
    system = fe.System()
    body, slider = system.add_body("body"), system.add_coordinate("slider")
    system.add_linear_bushing(fe.GROUND, body.frame([0, 0, 0]), stiffness=[0, 0, 0, stiffness, 0, 0], name="mount")
    system.add_coordinate_spring_damper_ext(slider, stiffness=stiffness / 4)
    return system, system.state()


def test_the_longest_step_is_that_of_the_oscillator() -> None:
    _, state = on_a_spring(5000.0)
    inertias = fe.Inertias(2.0, 0.1, coordinate_masses=2.0)
    with pytest.raises(fe.StageError):
        state.stable_step(inertias)
    state.evaluate()
    step = state.stable_step(inertias)
    # Symplectic Euler: 2/omega.
    assert abs(step.length - 2.0 / 50.0) < 1e-12 and abs(step.frequency - 50.0) < 1e-9 and step.damping_rate == 0.0
    assert str(step.element) == "linear_bushing[0]" and step.unknown is None
    assert 2.0 / 50.0 < state.stable_step(inertias, method="runge_kutta_4").length < 2.83 / 50.0
    state.check_step(0.0399, inertias)
    with pytest.raises(fe.StepError, match="mount"):
        state.check_step(0.0401, inertias)
    # Of a light coordinate it is that of the coordinate; of a mass that is elsewhere that of the lever.
    light = state.stable_step(fe.Inertias([2.0], [0.1], coordinate_masses=[0.02]))
    assert str(light.element) == "coordinate_spring_damper_ext[0]" and abs(light.length - 2.0 / 250.0) < 1e-12
    lever = state.stable_step(fe.Inertias(2.0, 0.1, mass_centers=[[0.0, 0.3, 0.0]], coordinate_masses=np.inf))
    assert abs(lever.frequency - np.sqrt(5000.0 * (1.0 / 2.0 + 0.3**2 / 0.1))) < 0.03 * lever.frequency


def test_one_row_of_inertias_is_that_of_one_body() -> None:
    system, coordinates = fe.System(), fe.System()
    system.add_linear_bushing(system.add_body(), system.add_body(), stiffness=1e4)
    coordinates.add_coordinate()
    coordinates.add_coordinate_spring_damper_ext(coordinates.add_coordinate(), stiffness=1e4)
    for of, rows, for_all in (
        (system, {"masses": [80.0], "moments": 1.0}, {"masses": 80.0, "moments": 1.0}),
        (system, {"masses": 80.0, "moments": [[1.0, 2.0, 3.0]]}, {"masses": 80.0, "moments": 2.0}),
        (coordinates, {"masses": [], "moments": [], "coordinate_masses": [3.0]}, {"masses": 1.0, "moments": 1.0, "coordinate_masses": 3.0}),
    ):
        state = of.state()
        state.evaluate()
        for copied in (fe.Inertias(**rows), copy.copy(fe.Inertias(**rows))):
            with pytest.raises(fe.InvalidValueError, match="must have 2 rows, not 1"):
                state.stable_step(copied)
        for copied in (fe.Inertias(**for_all), pickle.loads(pickle.dumps(fe.Inertias(**for_all)))):
            assert state.stable_step(copied).length < 1.0


def test_keywords_that_mean_little_alone_are_refused() -> None:
    system = fe.System()
    body, angle = system.add_body(), system.add_coordinate()
    with pytest.raises(ValueError, match="limit_stops_upper needs use_limit_stops"):
        system.add_coordinate_spring_damper_ext(angle, limit_stops_upper=1.0)
    with pytest.raises(ValueError, match="static_friction needs dynamic_friction"):
        system.add_hertz_contact(fe.GROUND, body.station([0.0, 0.0, 0.0]), 0.1, effective_modulus=1e6, static_friction=0.8)
    with pytest.raises(ValueError, match="static_friction needs dynamic_friction"):
        fe.Surface(body, fe.Mesh.brick([0.1, 0.1, 0.1], [1, 1, 1]), stiffness=1e6, static_friction=0.8)
    alone: list[tuple[str, Any, str]] = [
        ("factor0", 2.0, "coordinate0"),
        ("offset", 0.1, "stiffness"),
        ("velocity_offset", 0.1, "damping"),
        ("friction_load", 5.0, "dynamic_friction_coefficient or static_friction_offset_coefficient"),
        ("exponential_decay_static", 0.1, "static_friction_offset or"),
        ("static_friction_offset", 1.0, "dynamic_friction"),
        ("static_friction_offset_coefficient", 1.0, "dynamic_friction_coefficient"),
        ("viscous_friction", 3.0, "dynamic_friction or .* friction_proportional_zone"),
        ("friction_proportional_zone", 0.1, "dynamic_friction or .* viscous_friction"),
    ]
    for keyword, value, needed in alone:
        given: dict[str, Any] = {keyword: value}
        with pytest.raises(fe.InvalidValueError, match=f"^{keyword} needs {needed}"):
            system.add_coordinate_spring_damper_ext(angle, **given)
    with pytest.raises(fe.InvalidValueError, match="transition_velocity needs static_friction"):
        system.add_hertz_contact(fe.GROUND, body.station([0.0, 0.0, 0.0]), 0.1, effective_modulus=1e6, transition_velocity=0.1)
    with pytest.raises(fe.InvalidValueError, match="dissipation needs stiffness"):
        system.add_cable_spring(fe.GROUND.station([0, 0, 1]), body.station([0, 0, 0]), dissipation=1.0)
    surfaces = [
        fe.Surface(fe.GROUND, fe.Shape.half_space()),
        fe.Surface(body, fe.Mesh.sphere(0.1, 2), stiffness=1e6, static_friction=0.5, dynamic_friction=0.4, tangential_stiffness=1e6),
    ]
    with pytest.raises(fe.InvalidValueError, match="anchors=True only"):
        system.add_elastic_foundation(surfaces)
    with pytest.raises(TypeError, match="length, inertias and method"):
        fe.Batch(system, 1).step(method="runge_kutta_4")
    # What is stated is meant; friction per load alone is friction.
    system.add_elastic_foundation(surfaces, anchors=False)
    system.add_coordinate_spring_damper_ext(angle, limit_stops_upper=0.0, limit_stops_lower=0.0)
    system.add_coordinate_spring_damper_ext(angle, offset=0.1, stiffness=0.0)
    design = fe.ContactDesign(1.0, 0.1, 1e-3).coordinate_spring_damper_ext()
    system.add_coordinate_spring_damper_ext(angle, **design)
    system.add_coordinate_spring_damper_ext(
        angle, sticking_stiffness=1e4, dynamic_friction_coefficient=0.1, static_friction_offset_coefficient=0.1
    )
    assert len(list(system.elements)) == 5


def test_what_is_masked_is_refused() -> None:
    system = everything()
    state, batch = system.state(), fe.Batch(system, 2)
    poses = np.ma.masked_array(np.tile([0.0, 0, 0, 1, 0, 0, 0], (1, 1)), mask=True)
    before = state.poses.copy()
    for refused in (
        lambda: setattr(state, "poses", poses),
        lambda: batch.evaluate(poses=np.ma.stack([poses, poses])),
        lambda: batch.evaluate(wrenches=np.ma.masked_array(np.zeros((2, 1, 6)), mask=True)),
        lambda: batch.reset(np.ma.masked_array([True, True], mask=[True, False])),
        lambda: batch.update({"mount.stiffness.px": np.ma.masked_array([1.0, 2.0], mask=[True, False])}),
        lambda: fe.Mesh(np.eye(3), np.ma.masked_array([[0, 1, 2]]), closed=False),
        lambda: batch.evaluate(poses=[poses, poses]),
        lambda: batch.evaluate(poses=([poses[0]], (poses[0],))),
        lambda: state.__setitem__("mount.stiffness.px", np.ma.masked),
        lambda: system.body("cube").station([1.0, cast(Any, np.ma.masked), 0.0]),
    ):
        with pytest.raises(fe.InvalidValueError, match="is or has a masked array"):
            refused()
    assert np.array_equal(state.poses, before)
    # Other kinds of arrays are arrays.
    state.coordinates = np.array([0.5]).view(np.recarray)
    assert state.coordinates[0] == 0.5


def test_messages_name_the_argument_and_what_it_must_be(tmp_path: Path) -> None:
    system = everything()
    cube, state, batch = system.body("cube"), system.state(), fe.Batch(system, 2)
    ground, S = fe.GROUND, fe.GROUND.station([0, 0, 0])
    inertias = fe.Inertias(1.0, 1.0, coordinate_masses=1.0)
    state.evaluate()
    text = tmp_path / "cut.stl"
    text.write_bytes(80 * b" " + bytes([12, 0, 0, 0]) + 30 * b" ")
    a: Any = "a"
    calls: list[tuple[Callable[[], Any], type[Exception], str]] = [
        (lambda: cube.station(a), ValueError, "point must be real numbers, not str"),
        (lambda: cube.station([a, 1, 2]), ValueError, "point must be real numbers, not list of <U"),
        (lambda: cube.station([1, 2]), ValueError, r"point must be of shape \(3,\), not \(2,\)"),
        (lambda: cube.frame([1, 2]), ValueError, r"pose must be of shape \(4, 4\).* not \(2,\)"),
        (lambda: cube.frame([[1], [2, 3]]), fe.InvalidValueError, "pose must be an array of numbers: .*inhomogeneous"),
        (lambda: system.add_linear_bushing(a, cube), TypeError, "^a Frame or a Body is required, not str"),
        (lambda: system.add_hertz_contact(a, S, 1.0), TypeError, "^a Frame, a Body, or a tuple .* is required, not str"),
        (lambda: system.add_cable_spring(S, S, [a]), TypeError, "^a route consists of .*, not str"),
        (lambda: fe.Surface(cube, a), TypeError, "^a Shape or a Mesh is required, not str"),
        (lambda: system.add_linear_bushing(ground, cube, stiffness=[1, 2]), ValueError, r"stiffness must be of shape \(\) or \(6,\)"),
        (lambda: system.add_linear_bushing(ground, cube, stiffness={"px": a}), TypeError, "stiffness.px must be a real number, not str"),
        (lambda: system.add_linear_bushing(ground, cube, stiffness={"x": 1}), TypeError, "stiffness has qx, qy"),
        (lambda: system.add_exponential_spring(ground, S, d0=cast(Any, {"x": 1})), TypeError, "d0 must be a number, not dict"),
        (lambda: system.add_exponential_spring(ground, S, settling=cast(Any, 2)), ValueError, "settling must be a bool, not 2"),
        (lambda: system.add_spatial_bushing(ground, cube, curves={"px": [1.0]}), ValueError, r'curves\["px"\] must be of shape \(n, 2\)'),
        (lambda: fe.Obstacle(cube, fe.Shape.sphere(1.0), hint=[1]), ValueError, "hint must be of shape"),
        (lambda: fe.Mesh([1.0], [[0, 1, 2]]), ValueError, r"vertices must be of shape \(n, 3\), not \(1,\)"),
        (lambda: fe.Mesh(np.eye(3), np.eye(3)), ValueError, "faces must be an array of integers, not of float64"),
        (lambda: fe.Mesh.load(text), fe.ElementError, "cut.stl: .*ends after 114 bytes of at least 684"),
        (lambda: state.__setitem__("mount.stiffness.px", a), TypeError, "mount.stiffness.px must be a real number, not str"),
        (lambda: state.update({"mount.stiffness.px": a}), TypeError, "mount.stiffness.px must be a real number, not str"),
        (lambda: batch.update({"mount.stiffness.px": a}), ValueError, "mount.stiffness.px must be real numbers, not str"),
        (lambda: state.__setitem__("mount.stiffness", cast(Any, np.ones(6))), KeyError, 'no variable is named "mount.stiffness"; there are mount.s'),
        (lambda: state.update({"mount.stiffness": cast(Any, [1.0] * 6)}), KeyError, 'no variable is named "mount.stiffness"; there are mount.s'),
        (lambda: batch.update({"mount.stiffness": np.ones((2, 6))}), KeyError, 'no variable is named "mount.stiffness"; there are mount.s'),
        (lambda: state.__setitem__("exponential_spring[0].settling", 2), ValueError, r"exponential_spring\[0\].*: settling = 2, but it must be 0 or 1"),
        (lambda: state.set_values([1.0]), ValueError, rf"values must be of shape \({len(state)},\), not \(1,\)"),
        (lambda: state.moment_arms(system.elements[-1], [1.0]), ValueError, r"motions must be of shape \(k, 1, 6\), not \(1,\)"),
        (lambda: state.cable_points(system.element("mount"), 0.1), KeyError, r"linear_bushing\[0\] is no cable"),
        (lambda: state.check_step(1.0, inertias, method="rk4"), ValueError, 'method must be .*runge_kutta_4", not "rk4"'),
        (lambda: state.simulate(-1.0, inertias), ValueError, "end = -1 s, but it must be finite and not before 0 s"),
        (lambda: state.simulate(1.0, inertias, gravity=[0.0, 0.0, np.nan]), ValueError, "gravity must be finite"),
        (lambda: state.simulate(1.0, inertias, loads=np.full((1, 6), np.inf)), ValueError, "^loads must be finite"),
        (lambda: state.simulate(1.0, inertias, coordinate_loads=[np.nan]), ValueError, "coordinate_loads must be finite"),
        (lambda: state.finish_step(time=1.0, rule="euler"), ValueError, 'rule must be "held_forces".*, not "euler"'),
        (lambda: state.result("mount.f"), KeyError, r'no result is named "mount.f".*; there are mount.f.qx, mount.f.qy'),
        (lambda: state.result("mount.g"), KeyError, r'no result is named "mount.g".*; linear_bushing\[0\] has .*, f, '),
        (lambda: state["mount.stifness.px"], KeyError, r'"mount.stifness.px"; keys.*; linear_bushing\[0\] has .*stiffness, damping'),
        (lambda: state.simulate(1.0, inertias, names=["mount.g"]), KeyError, 'no result is named "mount.g".*results\\(\\) lists all'),
        (lambda: batch.evaluate(names=["mount.g"], results=np.empty((2, 1))), KeyError, "world 0: no result .*results\\(\\) lists all"),
        (lambda: state.simulate(1.0, inertias, names="mount.f.px"), TypeError, r"names must be a list of names, as \['mount.f.px'\], not one"),
        (lambda: batch.evaluate(names="mount.f.px", results=np.empty((2, 1))), TypeError, "names must be a list of names"),
        (lambda: fe.Surface(cube, fe.Shape.sphere(1.0), stiffness=1e6), fe.ElementError, "a material is that of a Mesh"),
        (lambda: state.linearize(variables=True).jvp(variables={"time": a}), TypeError, "time must be a real number, not str"),
    ]
    for call, error, message in calls:
        with pytest.raises(error, match=message):
            call()


def test_a_host_that_checks_its_steps_but_accepts_none_is_told() -> None:
    system = fe.System()
    system.add_exponential_spring(fe.GROUND, system.add_body("block").station([0, 0, 0]), name="foot")
    assert system.element_names == ["foot"]
    state = system.state()
    state.reset_memory()
    for time in (0.0, 0.0, 0.001):
        state.time = time
        state.evaluate()
        if time:
            with pytest.raises(fe.StageError, match="checked at 0 s, and none has been accepted up to 0.001 s"):
                state.check_step(1e-4, fe.Inertias(10.0, 1.0))
            state.accept()
            state.evaluate()
        state.check_step(1e-4, fe.Inertias(10.0, 1.0))


def test_a_state_that_was_moved_is_not_finished() -> None:
    _, state = on_a_spring(5000.0)
    state.reset_dissipated_energy()
    state.evaluate()
    state.coordinates = [0.5]
    with pytest.raises(fe.StageError, match="evaluate it first"):
        state.finish_step(time=0.001)


def test_what_bounds_a_step_is_checked() -> None:
    system, state = on_a_spring(5000.0)
    state.evaluate()
    good = fe.Inertias(2.0, 0.1, coordinate_masses=2.0)
    for length in (float("nan"), float("inf"), -1e-3):
        with pytest.raises(fe.InvalidValueError, match="step"):
            state.check_step(length, good)
    for given, what in (
        ((-1.0, 1.0), "masses must be greater than 0, not -1"),
        ((np.nan, 1.0), "masses must be greater than 0, not NaN"),
        (([1.0, 0.0], 1.0), "masses must be greater than 0, not 0"),
        ((1.0, 0.0), "moments must be greater than 0"),
        ((1.0, -1.0), "moments must be greater than 0"),
        ((1.0, [[1.0, 2.0, -1.0]]), "moments must be greater than 0"),
        ((1.0, [1.0, 2.0, 2.5]), "three moments may be those of one body or of three"),
        ((1.0, [[[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]]]), "positive definite"),
        ((1.0, 1.0, [[0.0, np.nan, 0.0]]), "mass_centers must be finite"),
        ((1.0, 1.0, None, 0.0), "coordinate_masses must be greater than 0, not 0"),
    ):
        with pytest.raises(fe.InvalidValueError, match=what):
            fe.Inertias(*given)
    for wrong, what in (
        (fe.Inertias([1.0, 1.0], 0.1, coordinate_masses=1.0), "masses must have 1 rows, not 2"),
        (fe.Inertias(1.0, [], coordinate_masses=1.0), "moments must have 1 rows, not 0"),
        (pickle.loads(pickle.dumps(fe.Inertias(1.0, 0.1, coordinate_masses=[1.0, 1.0]))), "coordinate_masses must have 1 rows, not 2"),
        (fe.Inertias(1.0, 0.1, np.zeros((2, 3)), 1.0), "mass_centers"),
        (fe.Inertias(1.0, 0.1, np.zeros((0, 3)), 1.0), "mass_centers must have 1 rows, not 0"),
        (pickle.loads(pickle.dumps(fe.Inertias(1.0, 0.1, np.zeros((0, 3)), 1.0))), "mass_centers must have 1 rows, not 0"),
        (fe.Inertias(1.0, 0.1), "coordinate_masses must have 1 rows, not 0"),
        (fe.Inertias(coordinate_masses=2.0), "masses must have 1 rows, not 0"),
    ):
        with pytest.raises(fe.InvalidValueError, match=what):
            state.check_step(1e-3, wrong)
        with pytest.raises(fe.InvalidValueError, match=what):
            fe.Batch(system, 2).step(length=1e-3, inertias=wrong)
    with pytest.raises(fe.InvalidValueError, match="method"):
        state.check_step(1e-3, good, method="euler")
    with pytest.raises(fe.InvalidValueError, match="masses must be of shape .*one for each, not .1, 1."):
        fe.Inertias([[1.0]], 0.1)
    with pytest.raises(fe.InvalidValueError, match="bodies, 3"):
        fe.Inertias(1.0, 0.1, [0.0, 0.0, 0.0])
    for wrong_moments in (float("nan"), [[1.0, np.nan, 1.0]], [[1.0, np.inf, 1.0]], [[[1.0, 0.0, 0.0], [0.1, 1.0, 0.0], [0.0, 0.0, 1.0]]]):
        with pytest.raises(fe.InvalidValueError, match="moments must be symmetric"):
            fe.Inertias(1.0, np.array(wrong_moments))
    with pytest.raises(fe.InvalidValueError, match="one matrix or the rows of three bodies: give matrices"):
        fe.Inertias(1.0, [[2.0, 0.1, 0.1], [0.1, 3.0, 0.1], [0.1, 0.1, 4.0]])
    for of_three in (np.full((3, 3), 0.4), [[1.0, 2.0, 3.0]] * 3, np.full((3, 3), np.inf)):
        fe.Inertias(1.0, of_three)
    # What does not move limits nothing.
    fixed = fe.Inertias(np.inf, np.inf, coordinate_masses=np.inf)
    assert state.stable_step(fixed).length == np.inf
    # Of a full matrix only the moment about z counts, about which the spring turns the lever.
    slanted = np.array([[[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 3.0]]])
    lever = np.array([[0.0, 0.3, 0.0]])
    bounds = [state.stable_step(fe.Inertias(2.0, m, lever, np.inf)).length for m in (1.0, slanted, 3.0)]
    assert bounds[0] < bounds[1] == pytest.approx(bounds[2], rel=1e-12)
    with pytest.raises(TypeError, match="together"):
        fe.Batch(system, 2).step(length=1e-3)


def dropped(design: fe.ContactDesign, step: float, seconds: float) -> tuple[fe.State, float, float]:
    """A cube of 1 kg and 0.1 m that was dropped from 2 cm and pushed: its state, place and height."""
    system = fe.System()
    cube = system.add_body("cube")
    for x in (-0.05, 0.05):
        for y in (-0.05, 0.05):
            system.add_exponential_spring(fe.GROUND, cube.station([x, y, -0.05]), **design.exponential_spring())
    state, inertias, inertia = system.state(), fe.Inertias(1.0, 1.0 / 600.0), 1.0 / 600.0
    position, velocity, angle, rate = np.array([0.0, 0.0, 0.07]), np.array([0.3, 0.0, 0.0]), 0.0, 0.0
    for count in range(round(seconds / step)):
        turn = [np.cos(angle / 2), 0.0, np.sin(angle / 2), 0.0]
        state.time = step * count
        state.set_body(cube, [*position, *turn], [0.0, rate, 0.0, *velocity])
        state.evaluate()
        wrench = state.body_force(cube)
        state.check_step(step, inertias)
        state.accept()
        velocity = velocity + step * (wrench[3:] - [0.0, 0.0, 9.81])
        position = position + step * velocity
        rate += step * wrench[1] / inertia
        angle += step * rate
    return state, float(position[0]), float(position[2])


def test_a_contact_fits_the_step_for_which_it_is_designed() -> None:
    step = 1.0 / 1000.0
    design = fe.ContactDesign(1.0, 0.05, step, mu_static=0.5, mu_kinetic=0.4, speed=1.5)
    assert step < design.longest_step
    _, rest, height = dropped(design, step, 2.0)
    _, later, _ = dropped(design, step, 4.0)
    # It slides to rest after about v^2/(2 mu g) = 11 mm from where it lands, with its corners at height zero, and stays.
    assert 0.01 < rest < 0.05 and abs(height - 0.05) < 1e-6 and abs(later - rest) < 1e-9
    # What is stable by default is so at shorter steps only.
    system, inertias = fe.System(), fe.Inertias(1.0, 1.0 / 600.0)
    cube = system.add_body()
    system.add_exponential_spring(fe.GROUND, cube.station([0.05, 0.05, -0.05]))
    state = system.state()
    state.set_body(cube, [0.0, 0.0, 0.05])
    state.evaluate()
    with pytest.raises(fe.StepError):
        state.check_step(step, inertias)


def test_every_contact_can_be_designed() -> None:
    design = fe.ContactDesign(1.0, 0.05, 1e-3)
    system = fe.System()
    ball, slider = system.add_body("ball"), system.add_coordinate("slider")
    floor = fe.Surface(fe.GROUND, fe.Shape.half_space())
    box = fe.Surface(ball, fe.Mesh.brick([0.05, 0.05, 0.05], [4, 4, 4]), **design.material(area=0.01))
    foundation = system.add_elastic_foundation([floor, box], anchors=True, **design.elastic_foundation())
    hertz = system.add_hertz_contact(fe.GROUND, ball.station([0, 0, 0]), 0.05, **design.hertz_contact(0.05))
    bristles = system.add_coordinate_spring_damper_ext(slider, **design.coordinate_spring_damper_ext())
    state = system.state()
    assert state[f"{foundation}.clipped"] == 1.0 and state[f"{hertz}.dynamic_friction"] == 0.5
    assert abs(state[f"{bristles}.dynamic_friction"] - 0.5 * 9.81) < 1e-12
    with pytest.raises(fe.InvalidValueError, match="effective_modulus"):
        system.add_hertz_contact(fe.GROUND, ball.station([0, 0, 0]), 0.05)
    longer = fe.ContactDesign(1.0, 0.05, 1.001 * design.longest_step)
    with pytest.raises(fe.InvalidValueError, match="contact_design.step"):
        longer.exponential_spring()
    with pytest.raises(fe.InvalidValueError, match="area"):
        design.material(0.0)


def test_what_is_no_mesh_and_what_does_not_fit_is_refused() -> None:
    brick = fe.Mesh.brick([0.1, 0.1, 0.1])
    assert len(brick.refined(0.08).faces) == 192
    vertices, faces = brick.vertices, brick.faces
    with pytest.raises(fe.InvalidValueError, match="integers"):
        fe.Mesh(vertices, faces + 0.5)
    with pytest.raises(fe.InvalidValueError, match="no corner -1"):
        fe.Mesh(vertices, faces.astype(int) - 1)
    quads = [[0, 1, 2, 3], [4, 5, 6, 7], [0, 1, 5, 4], [1, 2, 6, 5], [2, 3, 7, 6], [3, 0, 4, 7]]
    for wrong in (quads, faces.T, faces.ravel(), faces[None]):
        with pytest.raises(fe.InvalidValueError, match=r"faces must be of shape \(m, 3\), triangles, not \("):
            fe.Mesh(vertices, wrong, closed=False)
    with pytest.raises(fe.InvalidValueError):
        brick.refined(0.0)
    system = fe.System()
    system.add_body("body")
    for count in (10**15, 10**19):
        with pytest.raises(MemoryError, match="worlds"):
            fe.Batch(system, count)


def test_worlds_whose_step_is_too_long_are_not_accepted() -> None:
    system = fe.System()
    cube = system.add_body("cube")
    system.add_exponential_spring(fe.GROUND, cube.station([0, 0, 0]), mu_static=0.6, mu_kinetic=0.5)
    batch, inertias = fe.Batch(system, 3, threads=2), fe.Inertias(0.1, 0.1)
    batch.evaluate()
    batch.reset_memory()
    velocities = np.zeros((3, 1, 6))
    velocities[:, 0, 3] = 0.4                           # the anchors are pulled along
    poses = np.tile([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], (3, 1, 1))
    poses[:, 0, 2] = [0.1, 0.0, 0.1]                    # the second is on the floor, where the spring is stiffest
    anchors = batch["exponential_spring[0].anchor_P.x"]
    poses[:, 0, 0] = 0.2
    with pytest.raises(fe.StepError, match="exponential_spring") as refused:
        batch.step(time=0.01, poses=poses, velocities=velocities, length=0.01, inertias=inertias)
    assert refused.value.world == 1
    moved = batch["exponential_spring[0].anchor_P.x"] != anchors
    assert list(moved) == [True, False, True]
    batch.step(length=1e-6, inertias=inertias)
    assert list(batch["exponential_spring[0].anchor_P.x"] != anchors) == [True, True, True]


def test_the_steps_of_a_world_are_checked_with_its_own_inertias() -> None:
    system = fe.System()
    cube = system.add_body("cube")
    system.add_linear_bushing(fe.GROUND, cube, stiffness=[0, 0, 0, 100.0, 100.0, 100.0])
    # Stable up to 2 / sqrt(k / m) of symplectic Euler: 20 ms, 200 ms and 2 s.
    each = [fe.Inertias(mass, mass) for mass in (0.01, 1.0, 100.0)]
    batch = fe.Batch(system, 3)
    for length, failing in ((0.019, []), (0.021, [0]), (0.19, [0]), (0.21, [0, 1]), (2.1, [0, 1, 2])):
        worlds = []
        try:
            batch.step(length=length, inertias=each)
        except fe.StepError as too_long:
            worlds = too_long.worlds
        assert worlds == failing
    for wrong, error, message in (
        (each[:2], fe.InvalidValueError, "one for all, or a list of one for each of 3 worlds, not of 2"),
        ([each[0], each[1], fe.Inertias([1.0, 1.0], 1.0)], fe.InvalidValueError, "masses must have 1 rows, not 2"),
        (1.0, TypeError, "inertias must be Inertias, or a list of those of each world, not float"),
    ):
        with pytest.raises(error, match=message):
            batch.step(length=1e-3, inertias=cast(Any, wrong))


def test_an_energy_account_stays_open_with_finish_step() -> None:
    system = fe.System()
    slider = system.add_coordinate("slider")
    system.add_coordinate_spring_damper_ext(slider, stiffness=100.0, damping=3.0)
    state, h, mass, q, u = system.state(), 1e-3, 1.0, 0.1, 0.0
    state.set_coordinate(slider, q, u)
    state.reset_dissipated_energy()
    for step in range(1, 501):
        state.evaluate()
        u = u + h * float(state.coordinate_forces[0]) / mass
        q = q + h * u
        state.finish_step(time=h * step, coordinates=[q], coordinate_rates=[u])
    state.evaluate()
    lost = state.dissipated_energy
    # Held forces balance the kinetic energy to roundoff.
    assert lost is not None and lost > 0.1
    assert abs(lost + state.energy + 0.5 * mass * u * u - 0.5 * 100.0 * 0.1**2) < 1e-3
    with pytest.raises(fe.InvalidValueError, match="rule"):
        state.finish_step(time=1.0, rule="simpson")
    state.time = 1.0
    state.set_coordinate(slider, 2.0 * q, u)
    state.evaluate()
    state.accept()
    state.evaluate()
    assert state.dissipated_energy is None


def test_what_another_system_saved_is_refused() -> None:
    state = everything().state()
    other = fe.System()
    other.add_body()
    with pytest.raises(fe.LayoutError):
        other.state().restore_bytes(state.to_bytes())
    with pytest.raises(fe.LayoutError, match="linear_bushing"):
        other.state().restore(state.variables())
    with pytest.raises(fe.LayoutError, match="damaged"):
        state.restore_bytes(state.to_bytes()[:-1])
    with pytest.raises(fe.TopologyError):
        fe.Batch(other, 2, state=state)


def test_variables_and_results_have_names_and_units() -> None:
    system = everything()
    state = system.state()
    assert state["mount.stiffness.qx"] == state["linear_bushing[0].stiffness.qx"] == 800.0
    state["mount.stiffness.qx"] = 7.0
    assert dict(state.variables())["linear_bushing[0].stiffness.qx"] == 7.0
    assert list(state) == state.keys() and len(state) == len(state.keys()) and "time" in state
    state.evaluate()
    units = state.units()
    assert units["linear_bushing[0].stiffness.qx"] == "N·m/rad" and units["linear_bushing[0].f.px"] == "N"
    assert state.results()["linear_bushing[0].f.px"] == state.result("mount.f.px")
    # The name of an element serves where one is asked for; lists have each variable once.
    assert "mount.stiffness.qx" in state and "mount.stiffness.qx" not in state.keys()
    with pytest.raises(fe.NoSuchNameError, match=r"keys\(\) lists all, under the kinds and places .* a name given to an element serves"):
        state["mont.stiffness.qx"]


def test_parameters_have_the_defaults_of_the_library() -> None:
    system = fe.System()
    body, coordinate = system.add_body(), system.add_coordinate()
    system.add_exponential_spring(fe.GROUND, body.station([0, 0, 0]))
    system.add_coordinate_spring_damper_ext(coordinate)
    system.add_linear_bushing(fe.GROUND, body)
    state = system.state()
    for kind in ("exponential_spring", "coordinate_spring_damper_ext", "linear_bushing"):
        for name, (default, unit) in fe.parameters(kind).items():
            assert state[f"{kind}[0].{name}"] == default
            assert state.units()[f"{kind}[0].{name}"] == unit
    assert "mu_static, by default 0.7" in (fe.System.add_exponential_spring.__doc__ or "")


def test_a_spring_at_its_resting_height_carries_the_load() -> None:
    own: Any = {"d2": 300.0, "d1": 0.2}
    height = fe.resting_height(120.0, **own)
    assert height < fe.resting_height(60.0, **own) and height != fe.resting_height(120.0)
    system = fe.System()
    foot = system.add_body()
    system.add_exponential_spring(fe.GROUND, foot.station([0, 0, -0.1]), **own)
    state = system.state()
    state.set_body(foot, [0, 0, height + 0.1, 1, 0, 0, 0])
    state.evaluate()
    assert state.body_force(foot)[5] == pytest.approx(120.0, rel=1e-9)
    with pytest.raises(fe.InvalidValueError, match="load"):
        fe.resting_height(0.0)


def test_errors_have_the_texts_of_the_library() -> None:
    system = everything()
    cube, state = system.body("cube"), system.state()
    with pytest.raises(fe.ElementError, match="both ends"):
        system.add_linear_bushing(cube, cube)
    with pytest.raises(fe.InvalidValueError, match="stiffness"):
        system.add_linear_bushing(fe.GROUND, cube, stiffness=-1.0)
    with pytest.raises(TypeError, match="it has stiffness, damping"):
        system.add_linear_bushing(fe.GROUND, cube, stifness=1.0)  # type: ignore[call-arg, unused-ignore]
    corner = cube.station([0, 0, 0])
    with pytest.raises(fe.InvalidValueError, match="stiffness takes numbers by name, not an empty dictionary"):
        system.add_linear_bushing(fe.GROUND, cube, stiffness={})
    with pytest.raises(fe.Error, match="is taken"):
        system.add_body("cube")
    with pytest.raises(KeyError, match=r"mount\.stiff"):
        state["mount.stiff"]
    with pytest.raises(ValueError, match="must be"):
        state["mount.stiffness.qx"] = -1.0
    with pytest.raises(fe.StageError):
        _ = state.wrenches
    with pytest.raises(fe.InvalidValueError, match="radius"):
        fe.Shape.sphere(-1.0)
    with pytest.raises(fe.InvalidValueError, match="pose"):
        state.set_body(cube, [1.0, 2.0])
    assert len(system.elements) == 9
    system.add_body("late")
    with pytest.raises(fe.TopologyError, match="carry_over"):
        state.evaluate()
    state.carry_over()
    state.evaluate()
    assert state.poses.shape == (2, 4, 4)


def test_bodies_come_and_go_in_a_run() -> None:
    system = fe.System()
    bodies = [system.add_body(name) for name in "abc"]
    coordinates = [system.add_coordinate(name) for name in "uv"]
    mounts = [system.add_linear_bushing(fe.GROUND, body, stiffness=100.0, name=f"of {name}") for body, name in zip(bodies, "abc")]
    system.add_coordinate_spring_damper_ext(coordinates[1], stiffness=10.0)
    state, batch = system.state(), fe.Batch(system, 2)
    state["of c.stiffness.px"] = 300.0
    batch["of c.stiffness.px"] = [300.0, 500.0]
    state.set_body(bodies[2], [0.01, 0.0, 0.0])
    state.coordinates = [0.0, 0.1]
    with pytest.raises(fe.Error, match="of b"):
        system.remove_body(bodies[1])
    system.remove_element(mounts[1])
    system.remove_body(bodies[1])
    system.remove_coordinate(coordinates[0])
    with pytest.raises(fe.NoSuchNameError):
        system.remove_body(bodies[1])
    with pytest.raises(fe.TopologyError, match="carry_over"):
        state.evaluate()
    state.carry_over()
    batch.carry_over()
    assert system.bodies == [bodies[0], bodies[2]] and [body.index for body in system.bodies] == [0, 2]
    # Rows stay, and what is written to an empty one is not read.
    moved = np.full((2, 3, 7), np.nan)
    moved[:, [0, 2]] = [[0, 0, 0, 1, 0, 0, 0], [0.01, 0, 0, 1, 0, 0, 0]]
    wrenches, forces = np.full((2, 3, 6), np.nan), np.full((2, 2), np.nan)
    batch.evaluate(poses=moved, coordinates=[[np.nan, 0.1]] * 2, wrenches=wrenches, coordinate_forces=forces)
    state.evaluate()
    assert np.array_equal(wrenches[0], state.wrenches) and np.array_equal(forces[0], state.coordinate_forces)
    assert np.allclose(wrenches[:, :, 3], [[0, 0, -3.0], [0, 0, -5.0]]) and np.allclose(forces, [[0, -1.0]] * 2)
    # Rows of derivatives are those of forces.
    linearization = state.linearize()
    with pytest.raises(fe.NoSuchNameError):
        linearization.row_of(bodies[1])
    assert linearization.row_of(fe.GROUND) is None
    assert linearization.row_of(bodies[2]) == 12 and linearization.names[12:18:5] == ["c.qx", "c.pz"]
    assert np.isclose(linearization.stiffness[15, 15], -300.0) and np.isclose(linearization.stiffness[19, 19], -10.0)
    assert not linearization.stiffness[6:12].any() and not linearization.stiffness[18].any()
    motion = np.zeros(20)
    motion[[15, 19]] = 1.0
    assert np.array_equal(linearization.jvp(motion)[0], linearization.stiffness @ motion)
    assert np.array_equal(linearization.vjp(motion)[0][0], linearization.stiffness.T @ motion)
    products = np.empty((2, 20))
    batch.jvp(motion=np.tile(motion, (2, 1)), forces=products)
    assert np.array_equal(products[0], linearization.stiffness @ motion) and np.isclose(products[1, 15], -500.0)
    # With its vacant places a pickle continues; what is added takes them.
    there, several = pickle.loads(pickle.dumps((state, batch)))
    there.evaluate()
    assert np.array_equal(there.wrenches, state.wrenches) and np.array_equal(several.values(), batch.values())
    late = there.system.add_body("d")
    with pytest.raises(fe.NoSuchNameError):
        state.set_body(late, [0.0, 0.0, 0.0])
    late = system.add_body("d")
    assert late.index == bodies[1].index and late != bodies[1]
    mount = system.add_linear_bushing(fe.GROUND, late)
    assert mount.id == mounts[1].id and mount != mounts[1]
    state.carry_over()
    assert state["of c.stiffness.px"] == 300.0 and state["linear_bushing[1].stiffness.px"] == 0.0
    assert np.array_equal(state.poses[:, 0, 3], [0.0, 0.0, 0.01])
    # What was removed does not mean what has its place.
    again = system.add_coordinate("w")
    state.carry_over()
    for refused in (
        lambda: state.set_body(bodies[1], [1.0, 0.0, 0.0]),
        lambda: state.body_force(bodies[1]),
        lambda: system.add_linear_bushing(fe.GROUND, bodies[1]),
        lambda: state.set_enabled(mounts[1], False),
        lambda: system.remove_element(mounts[1]),
        lambda: state.set_coordinate(coordinates[0], 1.0),
        lambda: state.linearize().row_of(bodies[1]),
    ):
        state.evaluate()
        with pytest.raises(fe.NoSuchNameError, match="does not have|did not have"):
            refused()
    assert [system.body("d"), system.coordinate("w")] == [late, again] and mount in system.elements
    copied = pickle.loads(pickle.dumps(system))
    assert copied.bodies == system.bodies and copied.elements == system.elements
    assert [pickle.loads(pickle.dumps(of)) for of in (late, again, mount)] == [late, again, mount]


def test_what_belongs_to_another_system_is_refused() -> None:
    system, other = everything(), everything()
    cube, hinge, mount = system.body("cube"), system.coordinate("hinge"), system.element("mount")
    rope = next(of for of in system.elements if of.id == "cable_spring[0]")
    surfaces = [fe.Surface(fe.GROUND, fe.Shape.half_space()), fe.Surface(cube, fe.Mesh.sphere(0.1, 2), stiffness=1e6)]
    assert (cube, hinge, mount) != (other.body("cube"), other.coordinate("hinge"), other.element("mount"))
    state = other.state()
    state.evaluate()
    for refused in (
        lambda: state.set_body(cube, [0.0, 0.0, 1.0]),
        lambda: state.set_coordinate(hinge, 1.0),
        lambda: state.body_force(cube),
        lambda: state.reset_memory(mount),
        lambda: state.set_enabled(mount, False),
        lambda: state.cable_points(rope, 0.1),
        lambda: state.linearize().row_of(cube),
        lambda: other.remove_element(mount),
        lambda: other.add_linear_bushing(fe.GROUND, cube),
        lambda: other.add_exponential_spring(fe.GROUND, cube.station([0, 0, 0])),
        lambda: other.add_coordinate_spring_damper_ext(hinge),
        lambda: other.add_elastic_foundation(surfaces),
    ):
        with pytest.raises(fe.NoSuchNameError, match="another system|did not have"):
            refused()
    # A copy has what its system had.
    for copied in (copy.deepcopy(system), pickle.loads(pickle.dumps(system))):
        there = copied.state()
        there.set_body(cube, [0.5, 0.0, 0.05])
        there.set_enabled(mount, False)
        assert copied.bodies == system.bodies[:1] and copied.elements == system.elements
        with pytest.raises(fe.NoSuchNameError, match="another system"):
            there.set_body(system.add_body(), [0.0, 0.0, 0.0])


def test_what_is_removed_leaves_nothing_in_a_pickle() -> None:
    def put(system: fe.System, body: fe.Body) -> fe.Element:
        ball = fe.Surface(body, fe.Mesh.sphere(0.1, 8), stiffness=1e6)
        return system.add_elastic_foundation([fe.Surface(fe.GROUND, fe.Shape.half_space()), ball])

    system = fe.System()
    body = system.add_body()
    sizes = []
    for _ in range(3):
        for _ in range(5):
            system.remove_element(put(system, body))
            system.remove_body(system.add_body())
            system.remove_coordinate(system.add_coordinate())
        sizes.append(len(pickle.dumps(system)))
    # But for the digits of a key.
    assert abs(sizes[0] - sizes[2]) < 10 and sizes[0] < 1000
    for of in (system, copy.deepcopy(system)):
        assert put(of, body).id == "elastic_foundation[0]"
        assert of.add_body().index == 1 and of.add_coordinate().index == 0


def test_a_copy_has_the_order_and_the_vacant_places_of_its_system() -> None:
    system = fe.System()
    bodies = [system.add_body(name) for name in "abcd"]
    mounts = [system.add_linear_bushing(fe.GROUND, body, stiffness=10.0, name=f"of {name}") for body, name in zip(bodies, "abcd")]
    system.add_spatial_bushing(fe.GROUND, bodies[1], stiffness=3.0)
    for place in (0, 2):
        system.remove_element(mounts[place])
        system.remove_body(bodies[place])
    # The first kind is now younger than the second one.
    for place in (1, 3):
        system.remove_element(mounts[place])
    system.add_linear_bushing(fe.GROUND, bodies[3], stiffness=20.0, name="late")
    system.remove_element(system.add_linear_bushing(fe.GROUND, bodies[3]))
    kept = system.add_linear_bushing(fe.GROUND, bodies[1], stiffness=30.0)
    system.add_linear_bushing(fe.GROUND, bodies[1], stiffness=40.0, name="last")
    system.remove_element(kept)
    state = system.state()
    copied = pickle.loads(pickle.dumps(state))
    assert (copied.keys(), copied.to_bytes()) == (state.keys(), state.to_bytes()) and copied["last.stiffness.px"] == 40.0
    assert copied.system.bodies == system.bodies and copied.system.elements == system.elements
    assert copied.poses.shape == state.poses.shape == (4, 4, 4)
    again = copy.deepcopy(copied.system)
    adds: list[Callable[[fe.System], Any]] = [
        lambda of: of.add_body(),
        lambda of: of.add_linear_bushing(fe.GROUND, bodies[1]),
        lambda of: of.add_body(),
    ]
    for add in adds:
        assert repr(add(system)) == repr(add(copied.system)) == repr(add(again))
    with pytest.raises(fe.Error, match="built already"):
        again.__setstate__(system.__getstate__())


def test_parameters_of_contacts_and_steps_are_copied() -> None:
    turned = np.array([[2.0, 0.5, 0.0], [0.5, 3.0, 0.0], [0.0, 0.0, 4.0]])
    system = fe.System()
    system.add_linear_bushing(fe.GROUND, system.add_body(), stiffness=100.0)
    system.add_coordinate_spring_damper_ext(system.add_coordinate(), stiffness=1.0)
    state = system.state()
    state.evaluate()
    for inertias in (
        fe.Inertias(2.0, 0.1, coordinate_masses=1.0),
        fe.Inertias([2.0], turned[None], [[0.0, 0.1, 0.0]], [3.0]),
        fe.Inertias(np.inf, np.inf, coordinate_masses=0.5),
    ):
        expected = state.stable_step(inertias).length
        for copied in (copy.copy(inertias), copy.deepcopy(inertias), pickle.loads(pickle.dumps(inertias))):
            assert state.stable_step(copied).length == expected and repr(copied) == repr(inertias)
    design = fe.ContactDesign(1.0, 0.05, 1e-3, points=3, speed=0.9, restitution=0.1, mu_static=0.6, mu_kinetic=0.4, gravity=9.0)
    for same in (copy.copy(design), copy.deepcopy(design), pickle.loads(pickle.dumps(design))):
        assert same.exponential_spring() == design.exponential_spring() and same.longest_step == design.longest_step


def test_a_system_takes_nothing_that_a_copy_would_lose() -> None:
    with pytest.raises(TypeError, match="attribute of your class"):
        type("Arm", (fe.System,), {})
    with pytest.raises(AttributeError):
        setattr(fe.System(), "tip", 1)


def test_shapes_and_types_of_numbers_are_checked() -> None:
    system = fe.System()
    body = system.add_body("body")
    system.add_linear_bushing(fe.GROUND, body, name="mount")
    state, batch = system.state(), fe.Batch(system, 2)
    state.evaluate()
    batch.evaluate()
    linearization = state.linearize(variables=True)
    forces, wrong_type, flat = np.empty((2, 6)), ["1", "2", "3"], np.zeros((1, 6))
    refused: list[Callable[[], Any]] = [
        lambda: state.set_values(state.values()[None]),
        lambda: state.set_body(body, [0, 0, 0], np.zeros((2, 3))),
        lambda: body.station(np.zeros((3, 1))),
        lambda: linearization.jvp(motion=flat),
        lambda: linearization.vjp(forces=flat),
        lambda: linearization.jvp(variables=state.values()[None]),
        lambda: batch.jvp(variables={"mount.stiffness.px": np.zeros((2, 1))}, forces=forces),
        lambda: body.station(wrong_type),
        lambda: body.station([1.0, 2.0, 3.0j]),
        lambda: batch.jvp(variables={"mount.stiffness.px": "2"}, forces=forces),
        lambda: system.add_linear_bushing(fe.GROUND, body, stiffness=["1"] * 6),
    ]
    for call in refused:
        with pytest.raises(fe.InvalidValueError, match="shape|real numbers"):
            call()
    state.set_body(body, np.array([0, 0, 1]), [False] * 6)


def test_any_mapping_gives_numbers_by_name() -> None:
    system = fe.System()
    body = system.add_body()
    system.add_linear_bushing(fe.GROUND, body, name="mount", stiffness=100.0)
    curves = MappingProxyType({"px": [[-1.0, -1.0], [0.0, 0.0], [1.0, 1.0]]})
    system.add_spatial_bushing(fe.GROUND, body, curves=curves, damping_curves=curves)
    state, batch = system.state(), fe.Batch(system, 2)
    state.set_body(body, [0.1, 0.0, 0.0])
    by_name = MappingProxyType({"mount.stiffness.px": 1.0})
    state.evaluate()
    linearization = state.linearize(variables=True, commit=True)
    assert linearization.jvp(variables=by_name)[0][3] == pytest.approx(-0.1)
    (by_position, _), _ = linearization.vjp(next=by_name)
    batch.evaluate(poses=np.tile(state.poses, (2, 1, 1, 1)))
    forces, motion = np.empty((2, 6)), np.empty((2, 6))
    batch.jvp(variables=by_name, forces=forces)
    batch.vjp(next=by_name, motion=motion)
    assert np.allclose(forces[:, 3], -0.1) and np.array_equal(motion[1], by_position)


def test_a_batch_has_the_names_of_its_states() -> None:
    system = everything()
    batch, empty = fe.Batch(system, 2), fe.Batch(system, 0)
    assert list(batch) == list(empty) == batch.keys() == list(system.state())
    assert "mount.stiffness.px" in batch and "time" in empty and "mount.stiffness" not in batch
    for world in (-1, 2):
        with pytest.raises(IndexError, match=f"no world {world}"):
            batch.state(world)
        with pytest.raises(IndexError, match=f"no world {world}"):
            batch.set_state(world, system.state())
    names: Any = ("mount.stif", "foo")
    for name in names:
        for of in (batch, empty):
            with pytest.raises(fe.NoSuchNameError, match=name):
                of[name]
            # Nothing is written.
            with pytest.raises(fe.NoSuchNameError, match=name):
                of.update({"time": 3.0, name: 1.0})
            assert not batch["time"].any()


def test_messages_say_what_to_do() -> None:
    system = everything()
    state, batch = system.state(), fe.Batch(system, 3)
    for call in (
        lambda: state["mount.stiffness"],
        lambda: state.update({"mount.stiffness": 1.0}),
        lambda: batch["mount.stiffness"],
        lambda: batch.update({"mount.stiffness": 1.0}),
        lambda: batch.jvp(variables={"mount.stiffness": 1.0}),
    ):
        with pytest.raises(fe.NoSuchNameError, match=r'"mount\.stiffness"; there are mount\.stiffness\.qx, '):
            call()
    # The name of an element is the begin of those of its variables; a force is none.
    for holder in (state, batch):
        with pytest.raises(fe.NoSuchNameError, match=r'"mount"; there are mount\.enabled, '):
            holder["mount"]
        with pytest.raises(fe.NoSuchNameError, match=r'"mount\.f\.px"; keys\(\) lists all, .* results\(\) lists'):
            holder["mount.f.px"]
    evaluated = single(system, motion(system, 1), 0)
    evaluated.evaluate()
    with pytest.raises(fe.NoSuchNameError, match=r"mount\.length.*; results\(\) lists all"):
        evaluated.result("mount.length")
    for threads in (0, -1):
        with pytest.raises(fe.InvalidValueError, match="threads must be at least 1"):
            fe.Batch(system, 3, threads=threads)
    for indices in (np.array([0, 2, 1]), [2], 1):
        for reset in (batch.reset, batch.reset_memory):
            with pytest.raises(fe.InvalidValueError, match="mask must be an array of bool"):
                reset(cast(Any, indices))
    state.time = 1.0
    inertias = fe.Inertias(1.0, 1.0, coordinate_masses=1.0)
    with pytest.raises(fe.InvalidValueError, match="every = 1e-17 s"):
        state.simulate(2.0, inertias, every=1e-17)
    with pytest.raises(fe.NoSuchNameError, match="there are cable_spring, ") as refused:
        fe.parameters("bushing")
    kinds = str(refused.value).split("there are ")[1].split(", ")
    listed = {name.removeprefix("add_") for name in dir(fe.System) if name.startswith("add_")} - {"body", "coordinate"}
    assert set(kinds) == listed | {"elastic_foundation.material"} and all(map(fe.parameters, kinds))
    cube = system.body("cube")
    shown = [
        (fe.Obstacle(cube, fe.Shape.sphere(0.1)), 'Obstacle(Frame(Body(0)), Shape("sphere", [0.1]))'),
        (fe.ViaPoint(cube.station([0, 0, 1])), "ViaPoint(Station(Body(0), [0.0, 0.0, 1.0]))"),
        (fe.Surface(cube, fe.Shape.half_space()), 'Surface(Frame(Body(0)), Shape("half_space", []))'),
        (
            fe.Surface(cube, fe.Mesh.brick([1, 1, 1]), stiffness=1e6),
            "Surface(Frame(Body(0)), Mesh of 24 vertices and 12 faces, {'stiffness': [1000000.0]})",
        ),
        (fe.Shape.ellipsoid(np.array([0.1, 0.2, 0.3])), 'Shape("ellipsoid", [0.1, 0.2, 0.3])'),
        (inertias, "Inertias(masses=1.0, coordinate_masses=1.0)"),
    ]
    for of, text in shown:
        assert repr(of) == text


def test_arrays_that_are_copies_cannot_be_written_to() -> None:
    system = everything()
    state, batch = system.state(), fe.Batch(system, 3)
    state.evaluate()
    arrays = [state.poses, state.velocities, state.coordinates, state.coordinate_rates, state.wrenches, state.coordinate_forces]
    for array in [*arrays, batch["mount.stiffness.px"], fe.Frame(fe.GROUND).pose, fe.Mesh.sphere(1.0, 1).vertices]:
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.0
    with pytest.raises(ValueError, match="read-only"):
        fe.Mesh.sphere(1.0, 1).faces[0, 0] = 1
    state.velocities = state.velocities + 1.0
    assert np.all(state.velocities == 1.0)


def test_variables_that_bound_each_other_are_set_together() -> None:
    system = fe.System()
    spring = system.add_exponential_spring(fe.GROUND, system.add_body().station([0, 0, 0]), name="spring")
    state, batch = system.state(), fe.Batch(system, 4)
    assert (state["spring.mu_static"], state["spring.mu_kinetic"]) == (0.7, 0.5)
    for name, value in (("mu_static", 0.3), ("mu_kinetic", 0.9)):
        for of in (state, batch):
            with pytest.raises(fe.InvalidValueError, match="mu_kinetic"):
                of[f"spring.{name}"] = value
    with pytest.raises(fe.InvalidValueError, match="mu_kinetic"):
        system.add_exponential_spring(fe.GROUND, system.bodies[0].station([0, 0, 0]), mu_static=0.3)
    limits, coefficients = np.array([0.1, 0.4, 0.8, 1.2]), np.array([0.1, 0.3, 0.75, 1.1])
    batch.update({f"{spring}.mu_kinetic": coefficients, "time": 2.0, "spring.mu_static": limits})
    assert np.array_equal(batch["spring.mu_static"], limits) and np.array_equal(batch["spring.mu_kinetic"], coefficients)
    assert np.all(batch["time"] == 2.0)
    state.update({"spring.mu_static": 0.2, "spring.mu_kinetic": 0.1, "spring.account_open": True})
    assert (state["spring.mu_static"], state["spring.mu_kinetic"]) == (0.2, 0.1)
    before = state.values()
    for wrong, error in (({"time": 9.0, "spring.mu_static": 0.05}, fe.InvalidValueError), ({"spring.mu": 1.0}, fe.NoSuchNameError)):
        with pytest.raises(error):
            state.update(wrong)
        assert np.array_equal(state.values(), before)
    before = batch.values()
    changes: dict[str, Any] = {"time": 7.0, "spring.mu_static": [0.9, 0.05, 0.95, 0.06]}
    with pytest.raises(fe.InvalidValueError, match="mu_kinetic") as raised:
        batch.update({**changes, "spring.mu_kinetic": [0.1, 0.5, 0.2, 0.5]})
    assert raised.value.worlds == [1, 3]
    assert np.array_equal(batch.values()[1::2], before[1::2]) and batch["time"].tolist() == [7.0, 2.0, 7.0, 2.0]
    twice = {"spring.mu_static": 0.8, f"{spring}.mu_static": 0.9}
    unchanged = (state.values().tobytes(), batch.values().tobytes())
    state.evaluate()
    batch.evaluate()
    linearization = state.linearize(variables=True)
    for refused in (
        lambda: state.update(twice),
        lambda: batch.update(twice),
        lambda: batch.jvp(variables=twice),
        lambda: linearization.jvp(variables=twice),
    ):
        with pytest.raises(fe.InvalidValueError, match=r"exponential_spring\[0\].mu_static .* twice"):
            refused()
    assert (state.values().tobytes(), batch.values().tobytes()) == unchanged


@pytest.mark.parametrize("is_named", [True, False])
def test_as_many_variables_as_there_are_take_a_time_in_proportion(is_named: bool) -> None:
    def cost(count: int) -> float:
        system = fe.System()
        body = system.add_body()
        for i in range(count):
            system.add_linear_bushing(fe.GROUND, body, name=f"mount {i}" if is_named else None)
        state, batch = system.state(), fe.Batch(system, 1)
        name = "mount {}.damping.px" if is_named else "linear_bushing[{}].damping.px"
        values = {name.format(i): float(i) for i in range(count)}
        state.evaluate()
        products = state.linearize(variables=True)
        batch.evaluate()
        begin = time.process_time()
        state.update(values)
        products.jvp(variables=values)
        batch.jvp(variables=values)
        batch.update(values)
        return time.process_time() - begin

    # Four times as many: the time is four times as long, where it was quadratic sixteen times.
    assert min(cost(2000) for _ in range(3)) < 8.0 * min(cost(500) for _ in range(3))


def test_a_matrix_that_is_symmetric_to_rounding_is_a_stiffness() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        K = np.zeros((6, 6))
        K[:3, :3] = R @ np.diag(rng.uniform(1.0, 9.0, 3)) @ R.T
        K[3:, 3:] = R @ np.diag(rng.uniform(1e3, 9e3, 3)) @ R.T
        system = fe.System()
        body = system.add_body()
        system.add_spatial_bushing(fe.GROUND, body, stiffness=K)
        state = system.state()
        state.set_body(body, [1e-3, 2e-3, -1e-3])
        state.evaluate()
        np.testing.assert_allclose(state.body_force(body)[3:], -K[3:, 3:] @ [1e-3, 2e-3, -1e-3], rtol=1e-12)
        K[3, 4] *= 1.0 + 1e-3
        with pytest.raises(fe.InvalidValueError, match="symmetric"):
            system.add_spatial_bushing(fe.GROUND, body, stiffness=K)


def test_messages_name_the_rows_of_bodies() -> None:
    system = fe.System()
    bodies = [system.add_body() for _ in range(3)]
    state = system.state()
    velocities = np.zeros((3, 6))
    velocities[2, 0] = np.nan
    with pytest.raises(fe.InvalidValueError, match=r"Body\(2\)"):
        state.velocities = velocities
    assert repr(bodies[2]).startswith("Body(2")
    poses = state.poses.copy()
    poses[2, 0, 3] = np.nan
    with pytest.raises(fe.InvalidValueError, match="row 2 of poses"):
        state.poses = poses
    with pytest.raises(fe.InvalidValueError, match=r"world 1.*Body\(2\)"):
        fe.Batch(system, 2).evaluate(velocities=np.stack([np.zeros((3, 6)), velocities]))


def test_worlds_begin_where_their_memory_is_reset() -> None:
    system = fe.System()
    slider = system.add_coordinate()
    system.add_coordinate_spring_damper_ext(slider, dynamic_friction=4.0, sticking_stiffness=1e4)
    batch = fe.Batch(system, 3)
    places, forces = np.array([[1e-4], [2e-4], [3e-4]]), np.empty((3, 1))
    batch.evaluate(coordinates=places, coordinate_forces=forces)
    np.testing.assert_allclose(forces, -1e4 * places, rtol=1e-12)
    batch.reset_memory([True, False, True])
    batch.evaluate(coordinates=places, coordinate_forces=forces)
    np.testing.assert_allclose(forces[:, 0], [0.0, -2.0, 0.0], rtol=1e-12)
    batch.reset_memory()
    batch.evaluate(coordinates=places, coordinate_forces=forces)
    assert (forces == 0.0).all()
    with pytest.raises(fe.InvalidValueError, match="mask"):
        batch.reset_memory([True])


def test_a_damper_below_zero_is_a_drive() -> None:
    system = fe.System()
    slider = system.add_coordinate()
    system.add_coordinate_spring_damper_ext(slider, stiffness=100.0, damping=-0.2)
    state = system.state()
    q, u, h = 0.01, 0.0, 1e-3
    state.set_coordinate(slider, q)
    state.reset_dissipated_energy()
    for step in range(5000):
        state.evaluate()
        u += h * state.coordinate_forces[0]
        q += h * u
        state.finish_step(time=h * (step + 1), coordinates=[q], coordinate_rates=[u])
    state.evaluate()
    assert 0.5 * u * u + state.energy > 0.012


def test_deep_copies_keep_a_state_with_its_system() -> None:
    system = everything()
    state = single(system, motion(system, 1), 0)
    state.evaluate()
    state.accept()
    for there, its in (copy.deepcopy((system, state)), copy.deepcopy((state, system))[::-1]):
        assert isinstance(there, fe.System) and isinstance(its, fe.State)
        assert its.system is there is not system
        assert its.to_bytes() == state.to_bytes() and np.array_equal(its.poses, state.poses)
        # Of an equal system, as that of another process.
        batch = fe.Batch(system, 3, state=its)
        batch.set_state(1, its)
        batch.reset([False, False, True], its)
        batch.evaluate()
        assert all(batch.state(world).to_bytes() == state.to_bytes() for world in range(3))
    other = fe.System()
    other.add_body()
    for refused in (lambda: batch.set_state(0, other.state()), lambda: fe.Batch(system, 2, state=other.state())):
        with pytest.raises(fe.Error):
            refused()
    assert state.copy().system is copy.copy(state).system is system
    assert fe.Batch(system, 0).values().shape == (0, len(state))


def test_completion_and_help_read_well() -> None:
    system = everything()
    state = system.state()
    completions = state._ipython_key_completions_()
    assert completions == fe.Batch(system, 1)._ipython_key_completions_()
    assert {"time", "mount.stiffness.qx", "linear_bushing[0].stiffness.qx"} <= set(completions)
    for name in completions:
        state[name]
    page = pydoc.plain(pydoc.render_doc(fe.System))
    assert "stiffness of 6 numbers [N·m/rad, N/m]" in page and "add_cable_spring(" in page
    for of in (getattr(fe, name) for name in fe.__all__ if name not in ("GROUND", "__version__")):
        assert of.__doc__, of
        if isinstance(of, type) and not issubclass(of, fe.Error):
            assert [name for name, member in vars(of).items() if not name.startswith("_") and not member.__doc__] == []


def test_threads_evaluate_states_at_once() -> None:
    # With the interpreter's lock or, in a free-threaded one, without.
    system, n = everything(), 8
    moved = motion(system, n)

    def run(world: int) -> tuple[Any, bytes]:
        state = single(system, moved, world)
        forces = []
        for step in range(200):
            state["mount.stiffness.px"] = 800.0 + step
            state.evaluate()
            forces.append(state.wrenches)
            state.accept()
        return np.array(forces), state.to_bytes()

    expected = [run(world) for world in range(n)]
    with ThreadPoolExecutor(4) as pool:
        for (forces, kept), (of_one, kept_of_one) in zip(pool.map(run, range(n)), expected):
            assert np.array_equal(forces, of_one) and kept == kept_of_one


@pytest.mark.parametrize(
    "finalizer, work",
    [
        ("system.coordinates", "system.add_body()"),
        ("time.sleep(1e-4)", "system.add_body()"),
        ("system.add_coordinate()", "system.__getstate__()"),
    ],
)
def test_finalizers_find_no_system_locked(finalizer: str, work: str) -> None:
    # Up to Python 3.11 the collector runs where an object is made; a deadlock ends by the timer.
    program = f"""if True:
        import faulthandler, gc, threading, time, force_elements as fe
        faulthandler.dump_traceback_later(20, exit=True)
        system = fe.System()
        for _ in range(8):
            system.add_linear_bushing(fe.GROUND, system.add_body())

        class Finalized:
            def __init__(self):
                self.me = self
            def __del__(self):
                {finalizer}

        def reader():
            while True:
                system.coordinates
                time.sleep(1e-5)

        threading.Thread(target=reader, daemon=True).start()
        for threshold in range(5, 45):
            gc.set_threshold(threshold, 2, 2)
            for i in range(10):
                Finalized()
                kept = [[] for _ in range(i)]
                {work}
        gc.disable()
        print("done")
        """
    done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert done.stdout == "done\n", done.stderr


def test_the_lock_of_the_interpreter_is_not_needed() -> None:
    enabled = getattr(sys, "_is_gil_enabled", lambda: True)
    if not sysconfig.get_config_var("Py_GIL_DISABLED"):
        pytest.skip("this interpreter has the lock")
    assert not enabled()


def test_the_laws_are_those_of_the_library() -> None:
    described = runpy.run_path(str(Path(__file__).parent.parent / "describe.py"))["written"]()
    assert len(described) == 2
    for path, text in described.items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name} is outdated: run describe.py"
    for kind in ("exponential_spring", "spatial_bushing"):
        listed = getattr(fe.System, f"add_{kind}").__doc__
        assert "Law:" in listed and "Parameters:" in listed
    assert "fxy   = fd + fe" in (fe.System.add_exponential_spring.__doc__ or "")


def test_the_results_that_are_described_are_those_that_there_are() -> None:
    from force_elements._described import DESCRIBED

    system = everything()
    state = system.state()
    state.evaluate()
    units = state.units()
    for element in system.elements:
        kind = element.id.split("[")[0]
        names = [name.removeprefix(f"{element.id}.") for name in state.results() if name.startswith(f"{element.id}.")]
        for described, (parts, unit, text) in DESCRIBED[kind][2].items():
            own = [name for name in names if name == described or name.startswith(f"{described}.")]
            names = [name for name in names if name not in own]
            ends = parts.split(" … ") if parts else [""]
            assert [own[0], own[-1]] == [described + ends[0], described + ends[-1]]
            of_numbers = [units[f"{element.id}.{name}"] for name in own]
            assert ", ".join(dict.fromkeys(of_numbers)) == unit and text.endswith(".")
            line = f"    {described}{f': {parts}' if parts else ''}{f' [{unit}]' if unit else ''}\n"
            assert line in (getattr(fe.System, f"add_{kind}").__doc__ or "")
        assert names == []


def test_stubs_are_those_of_the_library() -> None:
    from force_elements._stubs import written

    for path, text in written().items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name} is outdated: run force_elements._stubs"
    core = (Path(fe.__file__).parent / "_core.pyi").read_text(encoding="utf-8")
    for text in ("Time, motion, variables and results of one system.", "Moves the state to ``end`` [s]", "The velocities (bodies, 6)"):
        assert core.count(f'"""{text}') == 1


def test_a_design_knows_the_base_of_a_tall_body() -> None:
    usual, narrow = fe.ContactDesign(1.0, 0.12, 1 / 240), fe.ContactDesign(1.0, 0.12, 1 / 240, base=0.03)
    assert narrow.longest_step < 0.5 * usual.longest_step
    for made in (narrow, pickle.loads(pickle.dumps(narrow))):
        with pytest.raises(fe.InvalidValueError, match="wider body"):
            made.exponential_spring()
    usual.exponential_spring()


def test_a_mesh_file_that_does_not_exist_is_named() -> None:
    with pytest.raises(FileNotFoundError, match="nowhere.obj") as raised:
        fe.Mesh.load("nowhere.obj")
    assert raised.value.filename == "nowhere.obj"
