"""A muscle at an elbow: its moment arm over the angle, the angle at which it holds the forearm, and the swing to that angle.

The cable has no stiffness and so no force: it finds the path over the elbow, with its length, rate and moment arm. The law of the
muscle, a Hill law on a stiff tendon, is a function of this program, and so is the joint: forces on an angle are those on its host.
"""

import numpy as np
from numpy.typing import NDArray

import force_elements as fe

Floats = NDArray[np.float64]

WEIGHT, CENTER, INERTIA = 1.5 * 9.81, 0.16, 0.06
"""Of forearm and hand: N, m from the elbow, kg m2 about it."""
STRONGEST, FIBER, TENDON, FASTEST = 600.0, 0.14, 0.17, 1.4
"""Of the muscle: N, lengths of fiber and tendon in m, and m/s."""
STEP, SECONDS = 1e-3, 4.0

system = fe.System()
forearm = system.add_body("forearm")
# A cylinder has its axis along z: turned to y, the axis of the elbow. The cable runs in front of it, where x is positive.
elbow = fe.Obstacle(fe.GROUND.frame([0, 0, 0, np.sqrt(0.5), np.sqrt(0.5), 0, 0]), fe.Shape.cylinder(0.02), hint=[0.02, 0, 0])
biceps = system.add_cable_spring(
    fe.GROUND.station([0.02, 0, 0.28]), forearm.station([0.015, 0, -0.05]), [elbow], name="biceps", stiffness=0.0
)
PER_FLEXION = np.array([[[0.0, -1.0, 0.0, 0.0, 0.0, 0.0]]])
"""Velocities (1, bodies, 6) per unit rate of the one joint: the forearm, which hangs along -z, turns about -y and its origin."""


def poses(flexion: Floats) -> Floats:
    """Of the forearm (n, 1, 7) at these angles (n,)."""
    rows = np.zeros((len(flexion), 1, 7))
    rows[:, 0, 3], rows[:, 0, 5] = np.cos(0.5 * flexion), -np.sin(0.5 * flexion)
    return rows


def tension(activation: float, length: Floats, rate: Floats) -> Floats:
    """Of the muscle, for the length [m] of its path and its rate [m/s]."""
    of_fiber, speed = (length - TENDON) / FIBER, rate / FASTEST
    by_length = np.exp(-(((of_fiber - 1.0) / 0.45) ** 2))
    shortening, lengthening = np.clip(speed, -1.0, 0.0), np.maximum(speed, 0.0)
    by_speed = (1.0 + shortening) / (1.0 - 4.0 * shortening) + 0.4 * lengthening / (lengthening + 0.08)
    force: Floats = STRONGEST * activation * by_length * by_speed
    return force


def curves(flexion: Floats) -> tuple[Floats, Floats]:
    """Lengths of the path and moment arms (n,) at these angles: all in one batch."""
    batch, length = fe.Batch(system, len(flexion)), np.empty((len(flexion), 1))
    batch.evaluate(poses=poses(flexion), names=["biceps.path.length"], results=length)
    arms = batch.moment_arms(biceps, np.tile(PER_FLEXION, (len(flexion), 1, 1, 1)))
    return length[:, 0], arms[:, 0]


def equilibrium(activation: float) -> float:
    """The angle at which the muscle holds the weight."""
    low, high = 0.0, np.radians(130.0)
    while high - low > 1e-10:
        middle = 0.5 * (low + high)
        length, arm = curves(np.array([middle]))
        lifts = tension(activation, length, np.zeros(1)) * arm > WEIGHT * CENTER * np.sin(middle)
        low, high = (middle, high) if lifts[0] else (low, middle)
    return low


def swing(activation: float) -> Floats:
    """The angles of a forearm that hangs at first, step by step."""
    state, flexion, rate, angles = system.state(), 0.0, 0.0, []
    for step in range(round(SECONDS / STEP)):
        state.time = step * STEP
        state.set_body(forearm, poses(np.array([flexion]))[0, 0], rate * PER_FLEXION[0, 0])
        state.evaluate()
        length, length_rate = (np.array([state.result(f"biceps.{name}")]) for name in ("path.length", "length_rate"))
        force = tension(activation, length, length_rate)[0]
        torque = force * state.moment_arms(biceps, PER_FLEXION)[0] - WEIGHT * CENTER * np.sin(flexion)
        state.accept()
        # The semi-implicit Euler method.
        rate += STEP / INERTIA * torque
        flexion += STEP * rate
        angles.append(flexion)
    return np.array(angles)


def main() -> None:
    flexion = np.radians(np.linspace(0.0, 130.0, 131))
    length, arm = curves(flexion)
    print("flexion [deg]  length [mm]  moment arm [mm]  tension at full activation [N]")
    for row in range(0, 131, 26):
        force = tension(1.0, length[row : row + 1], np.zeros(1))[0]
        print(f"{np.degrees(flexion[row]):13.0f} {1e3 * length[row]:12.1f} {1e3 * arm[row]:16.2f} {force:31.1f}")
    # A moment arm is minus the derivative of the length. The bound is what differences miss where the cable leaves the elbow.
    shorter, longer = (curves(flexion + side)[0] for side in (1e-5, -1e-5))
    assert np.abs(arm - (longer - shorter) / 2e-5).max() < 1e-6
    for activation in (0.1, 0.15, 0.2):
        held, angles = equilibrium(activation), swing(activation)
        print(
            f"activation {activation:.2f}: holds at {np.degrees(held):.2f} deg; "
            f"swings up to {np.degrees(angles.max()):.1f} deg and is at {np.degrees(angles[-1]):.2f} deg after {SECONDS:g} s"
        )
        assert abs(angles[-1] - held) < np.radians(0.1)


if __name__ == "__main__":
    main()
