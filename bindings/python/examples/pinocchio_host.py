"""Pinocchio as the host: a robot on four legs of two links stands on ice, then is pushed on ground, slides to rest and stays.

``Host`` is the whole binding; the rest is the scene, and what must come out of it by other equations.
"""

from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

import force_elements as fe

TRUNK, LINK, LENGTH, BEND, STEP, GRAVITY = 8.0, 0.8, 0.2, 0.5, 1e-3, 9.81
STIFFNESS, DAMPING, MU, PUSH = 100.0, 0.8, 0.3, 1.0
OUT, DOWN = LENGTH * np.sin(BEND), LENGTH * np.cos(BEND)
HIPS = {"fl": (0.3, 0.15), "fr": (0.3, -0.15), "rl": (-0.3, 0.15), "rr": (-0.3, -0.15)}


class Host:
    """The elements of a system as external forces on the links of a Pinocchio model that have the same names.

    Steps are those of symplectic Euler. ``step`` raises a ``StepError`` where they are too long, as if each link were free,
    which joints only add to. Links without a moving joint between them share the inertia of all, since the inertias of all links
    together must not be more than those of the model; those that are fixed to the world do not move. Orientations in ``q`` have w
    last: poses are those of frames.
    """

    def __init__(self, model: Any, system: fe.System, q: ArrayLike) -> None:
        self.model, self.data, self.state = model, model.createData(), system.state()
        self.q, self.v, self.time = np.array(q, float), np.zeros(model.nv), 0.0
        if system.coordinates:
            raise ValueError("this host has elements on links, not on coordinates")
        for name in system.body_names:
            if name is None or not model.existFrame(name, pin.BODY):
                raise ValueError(f"the model has no link of the name {name!r}")
        self.links = [model.getFrameId(name, pin.BODY) for name in system.body_names]
        self.joints = [model.frames[link].parentJoint for link in self.links]
        # Pinocchio has the inertia of all links on a joint, in its frame: here each link has its share, in its own frame.
        of_links = [model.frames[link].placement.actInv(model.inertias[joint]) for link, joint in zip(self.links, self.joints)]
        share = np.array([1.0 / self.joints.count(joint) for joint in self.joints])
        moves = np.array(self.joints) > 0
        self.inertias = fe.Inertias(
            masses=np.where(moves, share * [of_link.mass for of_link in of_links], np.inf),
            moments=np.where(moves[:, None, None], share[:, None, None] * [of_link.inertia for of_link in of_links], np.diag([np.inf] * 3)),
            mass_centers=[of_link.lever for of_link in of_links],
        )
        self.read()
        self.state.reset_memory()

    def read(self) -> None:
        """Writes the motion to the state: axes of ground at the origins of links, rotation first. Pinocchio has translation first."""
        pin.forwardKinematics(self.model, self.data, self.q, self.v)
        pin.updateFramePlacements(self.model, self.data)
        motions = [pin.getFrameVelocity(self.model, self.data, link, pin.LOCAL_WORLD_ALIGNED) for link in self.links]
        self.state.time = self.time
        self.state.poses = [self.data.oMf[link].homogeneous for link in self.links]
        self.state.velocities = [np.concatenate([motion.angular, motion.linear]) for motion in motions]

    def forces(self) -> Any:
        """Accepts the step that led here; the forces of the next one, in the frames of joints, as ``aba`` and ``rnea`` take them."""
        self.read()
        self.state.evaluate()
        self.state.accept()
        self.state.evaluate()
        forces = [pin.Force.Zero() for _ in range(self.model.njoints)]
        for link, joint, wrench in zip(self.links, self.joints, self.state.wrenches):
            at = self.data.oMi[joint].actInv(pin.SE3(np.eye(3), self.data.oMf[link].translation))
            forces[joint] += at.act(pin.Force(wrench[3:], wrench[:3]))
        return pin.StdVec_Force(forces)

    def step(self, length: float = STEP) -> None:
        forces = self.forces()
        self.state.check_step(length, self.inertias)
        self.v += length * pin.aba(self.model, self.data, self.q, self.v, np.zeros(self.model.nv), forces)
        self.q = pin.integrate(self.model, self.q, length * self.v)
        self.time += length


def robot() -> Any:
    """A trunk on four legs, whose knees point inwards and whose feet are below the hips where all joint angles are zero."""
    urdf = f"""<robot name="robot"><link name="trunk"><inertial><mass value="{TRUNK}"/>
        <inertia ixx="0.08" iyy="0.3" izz="0.35" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
    moment = LINK * LENGTH**2 / 12
    for leg, (x, y) in HIPS.items():
        out = -np.sign(x) * OUT
        for link, parent, at, to in (("thigh", "trunk", (x, y, 0), out), ("shank", f"thigh_{leg}", (out, 0, -DOWN), -out)):
            urdf += f"""<link name="{link}_{leg}"><inertial><mass value="{LINK}"/>
                <origin xyz="{to / 2} 0 {-DOWN / 2}" rpy="0 {np.arctan2(-to, DOWN)} 0"/>
                <inertia ixx="{moment}" iyy="{moment}" izz="{moment / 50}" ixy="0" ixz="0" iyz="0"/></inertial></link>
                <joint name="to_{link}_{leg}" type="continuous"><parent link="{parent}"/><child link="{link}_{leg}"/>
                <origin xyz="{at[0]} {at[1]} {at[2]}"/><axis xyz="0 1 0"/></joint>"""
    return pin.buildModelFromXML(urdf + "</robot>", pin.JointModelFreeFlyer())


def elements() -> fe.System:
    """A bushing with a torsional spring at each hip and knee, and a contact at each foot, which is designed for the lightest body."""
    contact = fe.ContactDesign(LINK, DOWN / 2, 1.5 * STEP, points=1, mu_static=0.0, mu_kinetic=0.0).exponential_spring()
    spring: dict[str, Any] = {"stiffness": [0, STIFFNESS, 0, 0, 0, 0], "damping": [0, DAMPING, 0, 0, 0, 0]}
    system = fe.System()
    trunk = system.add_body("trunk")
    for leg, (x, y) in HIPS.items():
        out = -np.sign(x) * OUT
        thigh, shank = system.add_body(f"thigh_{leg}"), system.add_body(f"shank_{leg}")
        system.add_linear_bushing(trunk.frame([x, y, 0]), thigh.frame([0, 0, 0]), name=f"hip_{leg}", **spring)
        system.add_linear_bushing(thigh.frame([out, 0, -DOWN]), shank.frame([0, 0, 0]), name=f"knee_{leg}", **spring)
        system.add_exponential_spring(fe.GROUND, shank.station([-out, 0, -DOWN]), name=f"foot_{leg}", **contact)
    return system


def standing_height(contact: fe.State) -> float:
    """The height of the trunk on ice, from the balance of moments about knees and hips."""
    hip = knee = 0.0
    for _ in range(100):
        x1, x2 = OUT * np.cos(hip) - DOWN * np.sin(hip), -OUT * np.cos(hip + knee) - DOWN * np.sin(hip + knee)
        of_thigh, of_shank = (TRUNK / 4 + LINK / 2) * GRAVITY * x1, (TRUNK / 4 + 1.5 * LINK) * GRAVITY * x2
        hip, knee = -(of_thigh + of_shank) / STIFFNESS, -of_shank / STIFFNESS
    z1, z2 = -OUT * np.sin(hip) - DOWN * np.cos(hip), OUT * np.sin(hip + knee) - DOWN * np.cos(hip + knee)
    d0, d1, d2 = (contact[f"foot_rl.{name}"] for name in ("d0", "d1", "d2"))
    return float(d0 - np.log((TRUNK / 4 + 2 * LINK) * GRAVITY / d1) / d2 - z1 - z2)


def main() -> None:
    model = robot()
    q = pin.neutral(model)
    q[2] = 2 * DOWN
    host = Host(model, elements(), q)
    state, weight = host.state, (TRUNK + 8 * LINK) * GRAVITY

    for _ in range(6000):
        host.step()
    print(f"on ice: stands at {1e3 * host.q[2]:.6f} mm, by the balance of moments {1e3 * standing_height(state):.6f} mm")
    assert abs(host.q[2] - standing_height(state)) < 1e-8 and np.abs(host.v).max() < 1e-6

    for leg in HIPS:
        state.update({f"foot_{leg}.mu_static": 1.4 * MU, f"foot_{leg}.mu_kinetic": MU})
    host.v[0] = PUSH
    start = pin.centerOfMass(model, host.data, host.q)[0]
    positions = []
    for _ in range(8000):
        host.step()
        positions.append(pin.centerOfMass(model, host.data, host.q)[0])
    # Its mass center sways back a little once the feet hold.
    slid, coulomb = max(positions) - start, PUSH**2 / (2 * MU * GRAVITY)
    sway = max(positions[-1000:]) - min(positions[-1000:])
    print(f"on ground: slides {1e3 * slid:.2f} mm, by Coulomb {1e3 * coulomb:.2f} mm; moves {1e3 * sway:.4f} mm in the last second")
    assert abs(slid - coulomb) < 0.02 * coulomb and sway < 1e-5

    forces = host.forces()
    normal = sum(state.result(f"foot_{leg}.normal_force") for leg in HIPS)
    rest = pin.rnea(model, host.data, host.q, np.zeros(model.nv), np.zeros(model.nv), forces)
    print(f"at rest: feet carry {normal:.6f} N of {weight:.6f} N; what rnea misses {np.abs(rest).max():.1e}")
    assert abs(normal - weight) < 1e-6 * weight and np.abs(rest).max() < 1e-2


if __name__ == "__main__":
    main()
