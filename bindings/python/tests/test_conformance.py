"""The golden cases of the library, through the package."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import force_elements as fe

GOLDEN = Path(__file__).parents[3] / "tests" / "golden"
TOLERANCE = 1e-10


def cases(element: str) -> list[Any]:
    loaded: list[Any] = json.loads((GOLDEN / f"{element}.json").read_text())["cases"]
    return [pytest.param(case, id=f"{case['label']}-{place}") for place, case in enumerate(loaded)]


def pose(of: dict[str, Any]) -> np.ndarray:
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = of["rotation"], of["translation"]
    return X


def velocity(of: dict[str, Any]) -> np.ndarray:
    return np.array([*of["angular"], *of["linear"]])


def agree(got: Any, want: Any, scale: Any = None) -> None:
    got, want = np.atleast_1d(got), np.atleast_1d(want)
    off = float(np.linalg.norm(got - want))
    assert off <= TOLERANCE * (np.linalg.norm(want) if scale is None else scale), (got, want)


def forces_agree(got: np.ndarray, want: dict[str, Any], least: float = 0.0) -> None:
    scale = max(np.linalg.norm(want["torque"]), np.linalg.norm(want["force"]), least)
    agree(got[:3], want["torque"], scale)
    agree(got[3:], want["force"], scale)


def two_bodies(given: dict[str, Any], first_is_ground: bool, second_is_ground: bool) -> tuple[Any, ...]:
    system = fe.System()
    bodies = [fe.GROUND if is_ground else system.add_body() for is_ground in (first_is_ground, second_is_ground)]

    def placed() -> fe.State:
        state = system.state()
        for body, number in zip(bodies, "12", strict=True):
            if body != fe.GROUND:
                state.set_body(body, pose(given[f"X_GB{number}"]), velocity(given[f"V_GB{number}"]))
        return state

    return system, *bodies, placed


@pytest.mark.parametrize("case", cases("linear_bushing"))
def test_linear_bushing(case: dict[str, Any]) -> None:
    given, want = case["input"], case["expected"]
    system, body1, body2, placed = two_bodies(given, given["body1_is_ground"], False)
    system.add_linear_bushing(
        body1.frame(pose(given["X_B1F"])),
        body2.frame(pose(given["X_B2M"])),
        name="mount",
        stiffness=given["stiffness"],
        damping=given["damping"],
    )
    state = placed()
    state.evaluate()
    axes = ["qx", "qy", "qz", "px", "py", "pz"]
    agree([state.result(f"mount.q.{axis}") for axis in axes], want["q"])
    agree([state.result(f"mount.f.{axis}") for axis in axes], want["f"])
    forces_agree(state.body_force(body1), want["force_on_body1"])
    forces_agree(state.body_force(body2), want["force_on_body2"])
    agree(state.energy, want["potential_energy"])
    agree(state.power_dissipated, want["power_dissipation"])


@pytest.mark.parametrize("case", cases("exponential_spring"))
def test_exponential_spring(case: dict[str, Any]) -> None:
    given, want = case["input"], case["expected"]
    system = fe.System()
    body = system.add_body()
    known = {key: given[key] for key in given if key in {name.split(".")[0] for name in fe.parameters("exponential_spring")}}
    system.add_exponential_spring(
        fe.GROUND.frame(pose(given["X_GP"])),
        body.station(given["station_B"]),
        name="corner",
        settling=True,
        **known,
    )
    state = system.state()
    state.time = given["time"]
    state.set_body(body, pose(given["X_GB"]), velocity(given["V_GB"]))
    state["corner.anchor_P.x"], state["corner.anchor_P.y"] = given["anchor_P"][:2]
    state["corner.sliding"] = given["sliding"]
    state["corner.last_update"] = given["time_of_last_update"]
    state.evaluate()
    forces_agree(state.body_force(body), want["force_on_body"])
    forces_agree(state.body_force(fe.GROUND), want["force_on_ground"])
    agree(state.result("corner.mu"), want["mu"])
    state.accept()
    agree([state["corner.anchor_P.x"], state["corner.anchor_P.y"]], want["anchor_next_P"][:2])
    agree(state["corner.sliding"], want["sliding_next"])


@pytest.mark.parametrize("case", cases("coordinate_spring_damper_ext"))
def test_coordinate_spring_damper_ext(case: dict[str, Any]) -> None:
    given, want = case["input"], case["expected"]
    system = fe.System()
    first, second = system.add_coordinate(), system.add_coordinate()
    known = {key: given[key] for key in given if key in fe.parameters("coordinate_spring_damper_ext")}
    for side in ("upper", "lower"):
        for constant in ("stiffness", "damping"):
            known[f"limit_stops_{side}_{constant}"] = given[f"limit_stops_{constant}"]
    system.add_coordinate_spring_damper_ext(second, first, name="joint", **known)
    state = system.state()
    state.coordinates, state.coordinate_rates = [given["q0"], given["q1"]], [given["v0"], given["v1"]]
    for name in ("friction_mode", "last_sticking_position", "limit_stop_state"):
        state[f"joint.{name}"] = given[name]
    state.evaluate()
    agree(state.result("joint.force"), want["force"])
    agree(state.coordinate_forces[0], want["generalized_force0"])
    agree(state.coordinate_forces[1], want["generalized_force1"])


@pytest.mark.parametrize("case", cases("elastic_foundation"))
def test_elastic_foundation(case: dict[str, Any]) -> None:
    given, want = case["input"], case["expected"]
    system, body1, body2, placed = two_bodies(given, False, given["body2_is_ground"])

    def mesh(name: str) -> fe.Mesh:
        return fe.Mesh.load(GOLDEN / "meshes" / f"{name}.obj")

    on_second, second = pose(given["X_B2S"]), given["surface2"]
    shape: fe.Shape | fe.Mesh
    match second["type"]:
        case "half_space":
            # The case fills what is beyond x, the package what is below z.
            on_second = on_second @ pose({"rotation": [[0, 0, -1], [0, 1, 0], [1, 0, 0]], "translation": [0, 0, 0]})
            shape = fe.Shape.half_space()
        case "sphere":
            shape = fe.Shape.sphere(second["radius"])
        case _:
            shape = mesh(second["mesh"])
    system.add_elastic_foundation(
        [
            fe.Surface(body1.frame(pose(given["X_B1S"])), mesh(given["mesh1"]), **given["parameters1"]),
            fe.Surface(body2.frame(on_second), shape, **(given["parameters2"] or {})),
        ],
        transition_velocity=given["transition_velocity"],
    )
    state = placed()
    state.evaluate()
    forces_agree(state.body_force(body1), want["force_on_body1"], least=1.0)
    forces_agree(state.body_force(body2), want["force_on_body2"], least=1.0)
    agree(state.energy, want["potential_energy"], max(abs(want["potential_energy"]), 1e-3))


@pytest.mark.parametrize("case", cases("cable_spring"))
def test_cable_spring(case: dict[str, Any]) -> None:
    given, want = case["input"], case["expected"]
    system, body1, body2, placed = two_bodies(given, False, False)
    via = given.get("via_point_G")
    system.add_cable_spring(
        body1.station(given["origin_B1"]),
        body2.station(given["termination_B2"]),
        [] if via is None else [fe.GROUND.station(via)],
        name="rope",
        **{name: given[name] for name in ("stiffness", "slack_length", "dissipation")},
    )
    state = placed()
    state.evaluate()
    agree(state.result("rope.length_rate"), want["length_dot"])
    agree(state.result("rope.tension"), want["tension"], max(want["tension"], 1.0))
    forces_agree(state.body_force(body1), want["force_on_body1"], least=1.0)
    forces_agree(state.body_force(body2), want["force_on_body2"], least=1.0)
