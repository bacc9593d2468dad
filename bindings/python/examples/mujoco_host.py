"""MuJoCo as the host of elements: what its own contact lets creep, holds; what needs small steps, takes large ones.

Prints four tables, and draws a picture: ``python examples/mujoco_host.py [PICTURE]``.
"""

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

import force_elements as fe

Floats = NDArray[np.float64]
Curve = tuple[str, Floats, Floats]

GRAVITY = 9.81
FRICTION = 0.7
AXIS_Y = [0.0, 0.0, 0.0, np.sqrt(0.5), -np.sqrt(0.5), 0.0, 0.0]  # z of the frame is y of its body


class Host:
    """The elements of a system as passive forces of a MuJoCo model, whose bodies, each with a mass, and joints have the same names.

    Joints of coordinates are hinges or slides. Where an element stands for a contact, the model excludes the pair: ``<contact><exclude body1= body2=/></contact>``. Steps are
    those of the Euler and the implicit integrators of MuJoCo. ``step`` raises a ``StepError`` where they are too long for the elements.
    """

    def __init__(self, model: Any, data: Any, system: fe.System) -> None:
        self.model, self.data, self.system = model, data, system
        if model.opt.integrator == mujoco.mjtIntegrator.mjINT_RK4:
            raise ValueError("elements that remember need one evaluation for each step, and RK4 has four")
        self._bodies = [self._find(mujoco.mjtObj.mjOBJ_BODY, name) for name in system.body_names]
        joints = [self._find(mujoco.mjtObj.mjOBJ_JOINT, name) for name in system.coordinate_names]
        for joint, name in zip(joints, system.coordinate_names):
            if mujoco.mjtJoint(model.jnt_type[joint]) not in (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE):
                raise ValueError(f"the joint {name!r} of a coordinate must be a hinge or a slide")
        self._q, self._u = model.jnt_qposadr[joints], model.jnt_dofadr[joints]
        self.state = system.state()
        if (len(self.state.poses), len(self.state.coordinates)) != (len(self._bodies), len(joints)):
            raise ValueError("the host needs a system from which no body or coordinate was removed: build it anew")
        mujoco.mj_forward(model, data)
        self._read()
        self.state.reset_memory()

    def _find(self, kind: Any, name: str | None) -> int:
        found = -1 if name is None else mujoco.mj_name2id(self.model, kind, name)
        if found < 0:
            raise ValueError(f"the model has no {kind.name.removeprefix('mjOBJ_').lower()} of the name {name!r}")
        return int(found)

    def inertias(self) -> fe.Inertias:
        """Those of each body as if it were free, which joints only add to; of coordinates what leaves no motion more kinetic energy than
        the model has. Where there are both, each have half.
        """
        model, bodies = self.model, self._bodies
        share = 0.5 if len(bodies) and len(self._u) else 1.0
        moves = model.body_weldid[bodies] != 0
        turn = np.empty((len(bodies), 9))
        for row, body in zip(turn, bodies):
            mujoco.mju_quat2Mat(row, model.body_iquat[body])
        axes = turn.reshape(-1, 3, 3)
        moments = np.einsum("bij,bj,bkj->bik", axes, model.body_inertia[bodies], axes)
        compliance = np.linalg.inv(self.mass())[np.ix_(self._u, self._u)] if len(self._u) else np.zeros((0, 0))
        # What each coordinate has where the others are free to move; together they need less.
        alone = 1.0 / np.diag(compliance)
        together = max(np.linalg.eigvalsh(np.sqrt(alone)[:, None] * compliance * np.sqrt(alone)), default=1.0)
        return fe.Inertias(
            masses=np.where(moves, share * model.body_mass[bodies], np.inf),
            moments=np.where(moves[:, None, None], share * moments, np.diag([np.inf] * 3)),
            mass_centers=model.body_ipos[bodies],
            coordinate_masses=share / together * alone,
        )

    def _read(self) -> None:
        data, state = self.data, self.state
        velocity = np.empty((len(self._bodies), 6))
        for row, body in zip(velocity, self._bodies):
            mujoco.mj_objectVelocity(self.model, data, mujoco.mjtObj.mjOBJ_XBODY, body, row, 0)
        state.time = data.time
        state.poses = np.concatenate([data.xpos[self._bodies], data.xquat[self._bodies]], 1)
        state.velocities = velocity
        state.coordinates, state.coordinate_rates = data.qpos[self._q], data.qvel[self._u]

    def _apply(self, to: Floats) -> None:
        self._read()
        self.state.evaluate()
        self.state.accept()
        self.state.evaluate()
        for body, wrench in zip(self._bodies, self.state.wrenches):
            mujoco.mj_applyFT(self.model, self.data, wrench[3:], wrench[:3], self.data.xpos[body], body, to)
        to[self._u] += self.state.coordinate_forces

    def step(self, look: Callable[[fe.State], None] = lambda state: None) -> None:
        """A step of MuJoCo. ``look`` is shown the forces and results with which it begins."""
        mujoco.mj_step1(self.model, self.data)
        self._apply(self.data.qfrc_passive)
        self.state.check_step(self.model.opt.timestep, self.inertias())
        look(self.state)
        mujoco.mj_step2(self.model, self.data)

    def stiffness_and_damping(self) -> tuple[Floats, Floats]:
        """The derivatives of the forces on all joints by their positions and velocities, of an evaluated state.

        Without those of the Jacobian, which are the forces themselves over lengths of the mechanism.
        """
        model, data = self.model, self.data
        jacobian = np.zeros((6 * len(self._bodies) + len(self._u), model.nv))
        for place, body in enumerate(self._bodies):
            of_body = jacobian[6 * place : 6 * place + 6]
            mujoco.mj_jacBody(model, data, of_body[3:], of_body[:3], body)
        jacobian[6 * len(self._bodies) + np.arange(len(self._u)), self._u] = 1.0
        linearization = self.state.linearize()
        return jacobian.T @ linearization.stiffness @ jacobian, jacobian.T @ linearization.damping @ jacobian

    def mass(self) -> Floats:
        """The mass matrix."""
        columns = np.eye(self.model.nv)
        for column in columns:
            mujoco.mj_mulM(self.model, self.data, column, column.copy())
        return columns

    def implicit_step(self) -> None:
        """A step of the linearly implicit Euler method: (M - h D - h² K) a = f + h K v.

        K and D are the derivatives of the forces of the elements. Forces of MuJoCo's own, its constraints among them, are those
        at the beginning of the step, where the constraints carry the forces of the elements.
        """
        model, data, h = self.model, self.data, self.model.opt.timestep
        mujoco.mj_step1(model, data)
        self._apply(data.qfrc_passive)
        # What is left of mj_step2 before it integrates.
        mujoco.mj_fwdActuation(model, data)
        mujoco.mj_fwdAcceleration(model, data)
        mujoco.mj_fwdConstraint(model, data)
        force = data.qfrc_smooth + data.qfrc_constraint
        mass = self.mass()
        by_position, by_velocity = self.stiffness_and_damping()
        acceleration = np.linalg.solve(mass - h * by_velocity - h * h * by_position, force + h * by_position @ data.qvel)
        data.qvel += h * acceleration
        mujoco.mj_integratePos(model, data.qpos, data.qvel, h)
        data.time += h


def load(xml: str, step: float = 0.002) -> tuple[Any, Any]:
    """A model and its data."""
    head = f'<option timestep="{step}" gravity="0 0 -{GRAVITY}"><flag autoreset="disable"/></option>'
    model = mujoco.MjModel.from_xml_string(f"<mujoco>{head}{xml}</mujoco>")
    return model, mujoco.MjData(model)


def own_step(model: Any, data: Any) -> Callable[[], None]:
    """A step of MuJoCo with its own contacts and tendons."""
    return partial(mujoco.mj_step, model, data)


def run(advance: Callable[[], None], read: Callable[[], float], data: Any, until: float, every: int = 20) -> tuple[Floats, Floats]:
    """Times and what is read."""
    times, values, step = [], [], 0
    while data.time < until:
        if step % every == 0:
            times.append(data.time)
            values.append(read())
        advance()
        step += 1
    return np.array(times), np.array(values)


def creep(times: Floats, values: Floats, since: float) -> float:
    """The mean speed from a time on."""
    first = int(np.searchsorted(times, since))
    return float((values[-1] - values[first]) / (times[-1] - times[first]))


def table(head: list[str], rows: list[list[str]]) -> None:
    """Prints a table in Markdown."""
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def rows_and_curves(runs: list[Curve], since: float) -> list[list[str]]:
    return [
        [name, f"{1e6 * creep(times, values, since):.3f}", f"{1e3 * (values[-1] - values[0]):.3f}"] for name, times, values in runs
    ]


SLOPE = np.radians(20.0)


def block(elements: bool) -> Curve:
    """A cube of 10 kg on a slope of 20°, whose friction could hold on one of 35°: its way down."""
    exclude = '<contact><exclude body1="world" body2="block"/></contact>' if elements else ""
    down, up = np.array([np.cos(SLOPE), 0.0, -np.sin(SLOPE)]), np.array([np.sin(SLOPE), 0.0, np.cos(SLOPE)])
    x, y, z = (0.1 + (fe.resting_height(10.0 * GRAVITY * np.cos(SLOPE) / 4.0) if elements else 0.0)) * up
    model, data = load(
        f"""<worldbody><geom type="plane" size="2 2 0.1" euler="0 {np.degrees(SLOPE)} 0" friction="{FRICTION}"/>
        <body name="block" pos="{x} {y} {z}" euler="0 {np.degrees(SLOPE)} 0"><freejoint/>
        <geom type="box" size="0.1 0.1 0.1" mass="10" friction="{FRICTION}"/></body></worldbody>{exclude}"""
    )
    if elements:
        system = fe.System()
        cube = system.add_body("block")
        slope = fe.GROUND.frame([0, 0, 0, np.cos(SLOPE / 2), 0, np.sin(SLOPE / 2), 0])
        for a in (-0.1, 0.1):
            for b in (-0.1, 0.1):
                system.add_exponential_spring(slope, cube.station([a, b, -0.1]), mu_static=FRICTION, mu_kinetic=FRICTION)
        advance: Callable[[], None] = Host(model, data, system).step
    else:
        advance = own_step(model, data)
    times, way = run(advance, lambda: float(data.xpos[1] @ down), data, 10.0)
    return ("elements" if elements else "MuJoCo's contact"), times, way


def pinch(elements: bool) -> Curve:
    """A capsule of 0.4 kg between two fingers that press with 8 N each, and could hold twice its weight: how far it falls."""
    pairs = "".join(f'<exclude body1="{finger}" body2="capsule"/>' for finger in ("left", "right"))
    gap = fe.resting_height(8.0 / 2.0) if elements else 0.0
    fingers = "".join(
        f"""<body name="{name}" pos="{sign * (0.04 + gap)} 0 0"><joint name="{name}" type="slide" axis="1 0 0" damping="5"/>
        <geom type="box" size="0.01 0.03 0.1" mass="0.2" friction="{FRICTION}"/></body>"""
        for name, sign in (("left", -1), ("right", 1))
    )
    model, data = load(
        f"""<worldbody>{fingers}<body name="capsule"><freejoint/>
        <geom type="capsule" size="0.03 0.05" mass="0.4" friction="{FRICTION}"/></body></worldbody>
        <actuator><motor joint="left"/><motor joint="right"/></actuator><contact>{pairs if elements else ""}</contact>"""
    )
    data.ctrl[:] = 8.0, -8.0
    if elements:
        system = fe.System()
        capsule = system.add_body("capsule")
        turn = np.sqrt(0.5)
        for name, sign in (("left", 1.0), ("right", -1.0)):
            finger = system.add_body(name)
            # Its z axis points to the capsule.
            face = finger.frame([0.01 * sign, 0, 0, turn, 0, sign * turn, 0])
            for z in (-0.05, 0.05):
                system.add_exponential_spring(
                    face,
                    capsule.station([-0.03 * sign, 0, z]),
                    mu_static=FRICTION,
                    mu_kinetic=FRICTION,
                    friction_elasticity=2000.0,
                    friction_viscosity=10.0,
                )
        advance: Callable[[], None] = Host(model, data, system).step
    else:
        advance = own_step(model, data)
    times, fallen = run(advance, lambda: -float(data.body("capsule").xpos[2]), data, 6.0)
    return ("elements" if elements else "MuJoCo's contact"), times, fallen


RADIUS, PULL, HALF_TIME = 0.008, 0.012, 3.0
CABLE_STIFFNESS, SLACK_LENGTH = 5000.0, 0.137


def finger(friction: float | None) -> tuple[Curve, list[str]]:
    """A finger of two links, pulled straight by a cable over a pulley at each knuckle, and let go: its bend over the pull.

    Without a coefficient the cable is a tendon of MuJoCo, which slides freely.
    """
    links = """<body name="first"><joint name="first" axis="0 1 0" stiffness="0.1" springref="63" damping="0.004"/>
        <geom type="capsule" fromto="0 0 0 0.04 0 0" size="0.005" mass="0.02"/>{0}<site name="between" pos="0.02 0 {1}"/>
        <body name="second" pos="0.04 0 0"><joint name="second" axis="0 1 0" stiffness="0.1" springref="63" damping="0.004"/>
        <geom type="capsule" fromto="0 0 0 0.03 0 0" size="0.005" mass="0.01"/><site name="end" pos="0.03 0 {1}"/></body></body>"""
    pulley = '<geom name="pulley{0}" type="cylinder" size="{1} 0.01" pos="{2} 0 0" zaxis="0 1 0" mass="0"/>'
    xml = f"""<compiler autolimits="true"/><default><geom contype="0" conaffinity="0"/></default><worldbody>
        <body name="motor" pos="-0.05 0 {RADIUS}"><joint name="motor" type="slide" axis="1 0 0" damping="20"/>
        <geom type="sphere" size="0.004" mass="0.1"/><site name="start"/></body>
        {pulley.format(1, RADIUS, 0)}<site name="above1" pos="0 0 0.02"/>
        {links.format(pulley.format(2, RADIUS, 0.04) + '<site name="above2" pos="0.04 0 0.02"/>', RADIUS)}</worldbody>
        <actuator><position joint="motor" kp="20000" kv="100"/></actuator>"""
    if friction is None:
        xml += f"""<tendon><spatial stiffness="{CABLE_STIFFNESS}" springlength="0 {SLACK_LENGTH}">
            <site site="start"/><geom geom="pulley1" sidesite="above1"/><site site="between"/>
            <geom geom="pulley2" sidesite="above2"/><site site="end"/></spatial></tendon>"""
    model, data = load(xml, step=0.0005)
    data.qpos[1:] = 1.1
    tensions: list[Floats] = []
    advance: Callable[[], None]
    if friction is not None:
        system = fe.System()
        motor, first, second = (system.add_body(name) for name in ("motor", "first", "second"))
        over = [
            fe.Obstacle(frame, fe.Shape.cylinder(RADIUS), hint=[0.0, -RADIUS, 0.0], friction=friction)
            for frame in (fe.GROUND.frame(AXIS_Y), first.frame([0.04, *AXIS_Y[1:]]))
        ]
        system.add_cable_spring(motor.station([0, 0, 0]), second.station([0.03, 0, RADIUS]), over, name="cable", stiffness=CABLE_STIFFNESS, slack_length=SLACK_LENGTH)
        host = Host(model, data, system)

        def look(state: fe.State) -> None:
            tensions.append(np.array([state.result(f"cable.{end}_tension") for end in ("first", "last")]))

        advance = partial(host.step, look)
    else:
        advance = own_step(model, data)

    def pulled() -> None:
        phase = min(data.time / HALF_TIME, 2.0 - data.time / HALF_TIME)
        data.ctrl[0] = -PULL * phase
        advance()

    times, bend = run(pulled, lambda: np.degrees(data.qpos[1] + data.qpos[2]), data, 2.0 * HALF_TIME, every=1)
    half = [int(np.searchsorted(times, t * HALF_TIME)) for t in (0.5, 1.0, 1.5)]
    name = "MuJoCo's tendon" if friction is None else f"cable, friction {friction}"
    row = [name, *(f"{bend[i]:.2f}" for i in half)]
    for i in (half[0], half[2]):
        ratio = "" if not tensions else f"{tensions[i][1] / tensions[i][0]:.4f}"
        wrapped = "" if friction is None else f"{np.exp((-1.0 if i == half[0] else 1.0) * friction * np.radians(bend[i])):.4f}"
        row += [ratio, wrapped]
    pull = PULL * np.minimum(times / HALF_TIME, 2.0 - times / HALF_TIME)
    return (name, 1e3 * pull, bend), row


STIFFNESS, DAMPING = [2e4] * 3 + [1e7] * 3, [2.0] * 3 + [1e3] * 3
EXPLICIT_TIMES = 20.0


def mounted(step: float, implicit: bool, until: float) -> tuple[Floats, Floats]:
    """A body of 2 kg on a stiff bushing, knocked at 0.1 m/s and 1 rad/s: how far it sags [m]."""
    model, data = load('<worldbody><body name="engine"><freejoint/><geom type="box" size="0.1 0.1 0.1" mass="2"/></body></worldbody>', step)
    system = fe.System()
    system.add_linear_bushing(fe.GROUND, system.add_body("engine"), name="mount", stiffness=STIFFNESS, damping=DAMPING)
    data.qvel[:] = [0, 0, 0.1, 1, 0, 0]
    host = Host(model, data, system)
    return run(host.implicit_step if implicit else host.step, lambda: -float(data.xpos[1, 2]), data, until, every=1)


def explicit_limit() -> float:
    """The longest step at which the semi-implicit Euler method is stable about rest, of mass, stiffness and damping."""
    model, data = load('<worldbody><body name="engine"><freejoint/><geom type="box" size="0.1 0.1 0.1" mass="2"/></body></worldbody>')
    system = fe.System()
    system.add_linear_bushing(fe.GROUND, system.add_body("engine"), stiffness=STIFFNESS, damping=DAMPING)
    host = Host(model, data, system)
    host.state.evaluate()
    by_position, by_velocity = host.stiffness_and_damping()
    mass = host.mass()
    one, zero = np.eye(6), np.zeros((6, 6))

    def radius(h: float) -> float:
        velocity = np.hstack([h * np.linalg.solve(mass, by_position), one + h * np.linalg.solve(mass, by_velocity)])
        step = np.vstack([np.hstack([one, zero]) + h * velocity, velocity])
        return float(np.abs(np.linalg.eigvals(step)).max())

    low, high = 1e-7, 1.0
    while high / low > 1.0 + 1e-6:
        middle = np.sqrt(low * high)
        low, high = (middle, high) if radius(middle) <= 1.0 + 1e-9 else (low, middle)
    return float(low)


def bushing() -> tuple[list[Curve], list[list[str]]]:
    limit = explicit_limit()
    sag = 2.0 * GRAVITY / STIFFNESS[5]
    rows, curves = [], []
    for name, factor, implicit in (
        ("explicit", 0.9, False),
        ("explicit", 1.1, False),
        ("implicit", 0.9, True),
        ("implicit", EXPLICIT_TIMES, True),
    ):
        step = factor * limit
        row = [name, f"{factor:g}", f"{1e6 * step:.1f}"]
        try:
            times, sagged = mounted(step, implicit, 0.3 if implicit else 0.1)
        except fe.StepError as error:
            rows.append([*row, f"refused: {error}", ""])
            continue
        rests = float(np.abs(sagged[-5:] - sag).max()) < 1e-3 * sag
        rows.append([*row, f"{1e6 * sagged[-1]:.3g}", "yes" if rests else "no"])
        if implicit:
            curves.append((f"{name}, step {1e6 * step:.0f} µs", 1e3 * times, 1e6 * sagged))
    return curves, rows


def draw(path: str, panels: list[tuple[str, str, str, list[Curve]]]) -> None:
    """Four panels."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(10, 7), layout="constrained")
    for of, (title, x, y, curves) in zip(axes.flat, panels):
        for name, xs, ys in curves:
            of.plot(xs, ys, label=name)
        of.set(title=title, xlabel=x, ylabel=y)
        of.legend()
    figure.savefig(path)


def main() -> None:
    print("# MuJoCo as the host\n")
    print(f"MuJoCo {mujoco.mj_versionString()}, steps of 2 ms with its default contact parameters; the finger 0.5 ms.\n")
    blocks = [block(False), block(True)]
    print("A cube of 10 kg on a slope of 20°, friction 0.7; creep from 5 s to 10 s:\n")
    table(["contact", "creep, µm/s", "way in 10 s, mm"], rows_and_curves(blocks, 5.0))
    pinches = [pinch(False), pinch(True)]
    print("A capsule of 0.4 kg between two fingers that press with 8 N each, friction 0.7; creep from 2 s to 6 s:\n")
    table(["contact", "creep, µm/s", "fallen in 6 s, mm"], rows_and_curves(pinches, 2.0))
    fingers = [finger(None), finger(0.0), finger(0.15), finger(0.3)]
    print(f"A finger of two links, pulled by {1e3 * PULL:g} mm in {HALF_TIME:g} s and let go; bend of both knuckles together:\n")
    head = ["", "bend pulled half, °", "pulled, °", "let go half, °"]
    head += ["tension behind over before, pulled half", "exp(-μ bend)", "the same, let go half", "exp(μ bend)"]
    table(head, [row for _, row in fingers])
    curves, rows = bushing()
    print(f"A body of 2 kg on a bushing of 10⁷ N/m, knocked; its weight makes it sag by {2e6 * GRAVITY / STIFFNESS[5]:.3g} µm:\n")
    table(["method", "steps, of the explicit limit", "µs", "sag at the end, µm", "there at rest"], rows)
    if len(sys.argv) > 1:
        micro = [(name, times, 1e3 * (values - values[0])) for name, times, values in blocks]
        falls = [(name, times, 1e3 * (values - values[0])) for name, times, values in pinches]
        (_, _, tendon), _ = fingers[0]
        # Without the fall of the first tenth of a second.
        apart = [(name, pull[200:], (bend - tendon)[200:]) for (name, pull, bend), _ in fingers[1:]]
        draw(
            sys.argv[1],
            [
                ("A block on 20°", "time [s]", "way [mm]", micro),
                ("A capsule between two fingers", "time [s]", "fallen [mm]", falls),
                ("A finger pulled and let go, against MuJoCo's tendon", "pull [mm]", "further bend [°]", apart),
                ("A knocked body on a bushing", "time [ms]", "sag [µm]", curves),
            ],
        )


if __name__ == "__main__":
    main()
