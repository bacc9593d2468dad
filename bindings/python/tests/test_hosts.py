"""MuJoCo and Drake as hosts."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
sys.path.insert(0, str(EXAMPLES))

import mujoco_host

import force_elements as fe


def test_elements_hold_what_the_contact_of_mujoco_lets_creep() -> None:
    for scene, since, least in ((mujoco_host.block, 5.0, 1e-3), (mujoco_host.pinch, 2.0, 1e-3)):
        _, times, way = scene(False)
        assert mujoco_host.creep(times, way, since) > least
        _, times, way = scene(True)
        # A nanometer a second; and it has been loaded, so that its springs have given way.
        assert abs(mujoco_host.creep(times, way, since)) < 1e-9
        assert 1e-4 < way[-1] - way[0] < 2e-3


def test_a_cable_without_friction_is_the_tendon_and_with_it_a_capstan() -> None:
    (_, _, tendon), _ = mujoco_host.finger(None)
    (_, _, free), _ = mujoco_host.finger(0.0)
    # Two programs with the same step, whose paths agree to roundoff that the dynamics damps.
    assert np.abs(tendon - free).max() < 1e-3
    (_, _, bend), row = mujoco_host.finger(0.3)
    assert np.ptp(bend) > 30.0
    # Hysteresis: at half of the pull the finger is bent further on the way there than on the way back.
    assert float(row[1]) - float(row[3]) > 2.0
    # Both pulleys slip, and the ends of the cable lie along it: Euler and Eytelwein, of all of the bend.
    for ratio, capstan in ((row[4], row[5]), (row[6], row[7])):
        assert float(ratio) == pytest.approx(float(capstan), rel=1e-3)


def test_with_stiffness_and_damping_a_bushing_takes_steps_of_twenty_limits() -> None:
    _, rows = mujoco_host.bushing()
    assert [row[-1] for row in rows] == ["yes", "", "yes", "yes"]
    assert float(rows[-1][1]) == 20.0
    # The host refuses the step beyond the limit.
    assert "refused: a step of 8.800e-4 s is too long" in rows[1][3]


def test_steps_that_are_too_long_for_the_elements_are_refused() -> None:
    def steps(mass: float, offset: float) -> int:
        model, data = mujoco_host.load(f"""<worldbody><body name="block"><freejoint/>
            <geom type="box" size="0.1 0.1 0.1" pos="{offset} 0 0" mass="{mass}" contype="0"/></body></worldbody>""")
        system = fe.System()
        block = system.add_body("block")
        for x in (-0.1, 0.1):
            system.add_exponential_spring(fe.GROUND, block.station([offset + x, 0, 0]))
        host = mujoco_host.Host(model, data, system)
        for step in range(100):
            try:
                host.step()
            except fe.StepError:
                return step
        return 100

    # The friction damper of 283 N·s/m is too strong for a kilogram in 2 ms, wherever the origin of the body is.
    assert [steps(1.0, 0.0), steps(1.0, 0.5), steps(10.0, 0.0), steps(10.0, 0.5)] == [0, 0, 100, 100]


def hanging(links: int) -> str:
    """A chain of links on hinges, of 1 kg each."""
    link = """<body name="link{0}" pos="{1} 0 0"><joint name="joint{0}" axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 0.2 0 0" size="0.01" mass="1" contype="0" conaffinity="0"/>"""
    return "<worldbody>" + "".join(link.format(i, 0.2 * min(i, 1)) for i in range(links)) + "</body>" * links + "</worldbody>"


@pytest.mark.parametrize("links", [1, 2, 3, 6])
@pytest.mark.parametrize(("on_bodies", "on_joints"), [(True, False), (False, True), (True, True)])
def test_the_bound_of_a_step_is_that_of_the_mechanism_or_less(links: int, on_bodies: bool, on_joints: bool) -> None:
    model, data = mujoco_host.load(hanging(links))
    data.qpos[:] = 0.3 * np.arange(links)
    system = fe.System()
    for i in range(links):
        if on_bodies:
            system.add_linear_bushing(fe.GROUND, system.add_body(f"link{i}"), stiffness=[0, 50.0, 0, 1e3, 0, 0])
        if on_joints:
            system.add_coordinate_spring_damper_ext(system.add_coordinate(f"joint{i}"), stiffness=50.0)
    host = mujoco_host.Host(model, data, system)
    host.state.evaluate()
    bound = host.state.stable_step(host.inertias()).length
    # Of symplectic Euler, from the mass matrix and the stiffness on the joints.
    by_position, _ = host.stiffness_and_damping()
    exact = 2.0 / np.sqrt(np.linalg.eigvals(np.linalg.solve(host.mass(), -by_position)).real.max())
    # Bodies are stated as if they were free, on which a bushing at an end has more effect than where a joint holds it.
    assert (0.0 if on_bodies else 0.75 * exact) < bound < (1.0 + 1e-9) * exact


def test_a_joint_limit_carries_what_elements_push_in_either_step() -> None:
    slide = """<compiler autolimits="true"/><worldbody><body name="slider">
        <joint type="slide" axis="1 0 0" range="-1 0"/><geom type="sphere" size="0.1" mass="1"/></body></worldbody>"""
    past = {}
    for step in (mujoco_host.Host.step, mujoco_host.Host.implicit_step):
        model, data = mujoco_host.load(slide)
        system = fe.System()
        # It pulls with 100 N beyond the limit.
        beyond, slider = fe.GROUND.frame([0.1, 0, 0]), system.add_body("slider")
        system.add_linear_bushing(beyond, slider, stiffness=[0, 0, 0, 1000.0, 0, 0], damping=[0, 0, 0, 20.0, 0, 0])
        host = mujoco_host.Host(model, data, system)
        for _ in range(2000):
            step(host)
        past[step] = data.qpos[0]
    explicit, implicit = past.values()
    # At rest both are the same equilibrium of the bushing and MuJoCo's soft limit.
    assert 0.0 < explicit < 5e-3 and implicit == pytest.approx(explicit, rel=1e-6)


def test_a_body_without_a_counterpart_is_refused() -> None:
    model, data = mujoco_host.load('<worldbody><body name="one"/></worldbody>')
    system = fe.System()
    system.add_body("other")
    with pytest.raises(ValueError, match="no body of the name 'other'"):
        mujoco_host.Host(model, data, system)


def test_joints_and_systems_that_the_host_cannot_serve_are_refused() -> None:
    model, data = mujoco_host.load(
        """<worldbody><body name="free"><freejoint name="free"/><geom size="0.1"/></body>
        <body name="ball"><joint name="ball" type="ball"/><geom size="0.1"/></body>
        <body name="hinge"><joint name="hinge"/><geom size="0.1"/></body></worldbody>"""
    )
    for name in ("free", "ball"):
        system = fe.System()
        system.add_coordinate(name)
        with pytest.raises(ValueError, match=f"{name}.* must be a hinge or a slide"):
            mujoco_host.Host(model, data, system)
    system = fe.System()
    system.add_coordinate("hinge")
    mujoco_host.Host(model, data, system)
    system.remove_body(system.add_body())
    with pytest.raises(ValueError, match="build it anew"):
        mujoco_host.Host(model, data, system)


def test_drake_carries_a_block_to_rest() -> None:
    pytest.importorskip("pydrake")
    done = subprocess.run([sys.executable, str(EXAMPLES / "drake_host.py")], capture_output=True, text=True, check=True)
    _, *rows = (line.split() for line in done.stdout.splitlines())
    x, speed = [float(row[1]) for row in rows], [float(row[3]) for row in rows]
    assert speed[0] > 1000.0 and speed[-1] < 1e-3 and x[-1] == x[-2] > 200.0
    system = fe.System()
    system.add_coordinate("joint")
    drake_host = pytest.importorskip("drake_host")
    with pytest.raises(ValueError, match="not on coordinates"):
        drake_host.Host(None, None, system)


def test_pinocchio_refuses_what_it_would_leave_out() -> None:
    host = pytest.importorskip("pinocchio_host")
    model, q = host.robot(), host.pin.neutral(host.robot())
    with_coordinate, with_other, without_name = fe.System(), fe.System(), fe.System()
    with_coordinate.add_coordinate("joint")
    with_other.add_body("tail")
    without_name.add_body()
    for system, message in (
        (with_coordinate, "not on coordinates"),
        (with_other, "no link of the name 'tail'"),
        (without_name, "no link of the name None"),
    ):
        with pytest.raises(ValueError, match=message):
            host.Host(model, system, q)


def test_links_that_pinocchio_joins_share_their_inertia() -> None:
    host = pytest.importorskip("pinocchio_host")
    links = "".join(
        f"""<link name="link{i}"><inertial><mass value="{mass}"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
        for i, mass in enumerate((1.0, 3.0))
    )
    fixed = '<joint name="weld" type="fixed"><parent link="link0"/><child link="link1"/></joint>'
    model = host.pin.buildModelFromXML(f'<robot name="two">{links}{fixed}</robot>', host.pin.JointModelFreeFlyer())
    system = fe.System()
    for i in range(2):
        system.add_linear_bushing(fe.GROUND, system.add_body(f"link{i}"), stiffness=[0, 0, 0, 0, 0, 1e4])
    of_both = host.Host(model, system, host.pin.neutral(model))
    of_both.state.evaluate()
    # Two springs on one body of 4 kg.
    assert of_both.state.stable_step(of_both.inertias).length == pytest.approx(2.0 / np.sqrt(2e4 / 4.0), rel=1e-9)
