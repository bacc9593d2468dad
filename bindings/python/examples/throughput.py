"""What a world costs, and how many worlds a second there are beside those of MuJoCo: ``python examples/throughput.py [WORLDS]``.

Prints two tables, all of one run on two threads. The scene is that of ensemble.py: a cube that drops and slides.
"""

import os
import sys
import time
from collections.abc import Callable

import ensemble
import mjbatch
import mujoco
import mujoco.rollout
import numpy as np

import force_elements as fe

THREADS, STEPS = 2, 500
GEOM = f'type="box" size="{ensemble.HALF} {ensemble.HALF} {ensemble.HALF}" mass="{ensemble.MASS}"'
MODEL = f"""<mujoco><option timestep="{ensemble.STEP}" gravity="0 0 -{ensemble.GRAVITY}"/><worldbody>
<geom type="plane" size="5 5 0.1"/><body><freejoint/><geom {GEOM}/></body></worldbody></mujoco>"""


def least(work: Callable[[], object], repeats: int) -> float:
    """The least time of some runs [s]."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def memory() -> int:
    """Bytes of this process in main memory, on Linux."""
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def four_springs() -> fe.System:
    system = fe.System()
    body = system.add_body()
    for x in (-0.05, 0.05):
        for y in (-0.05, 0.05):
            system.add_exponential_spring(fe.GROUND, body.station([x, y, -0.05]))
    return system


KEPT: list[fe.Batch] = []
"""So that memory of one is not taken for another."""


def a_step(system: fe.System, height: float, threads: int, worlds: int = 10_000) -> tuple[float, float]:
    """What a step of a world takes [µs], and a world [bytes]."""
    before = memory()
    batch = fe.Batch(system, worlds, threads=threads)
    KEPT.append(batch)
    poses, velocities, wrenches = np.tile(np.eye(4), (worlds, 1, 1, 1)), np.zeros((worlds, 1, 6)), np.zeros((worlds, 1, 6))
    poses[:, 0, 2, 3] = height
    velocities[:, 0, 3] = np.linspace(0.0, 1.0, worlds)
    batch.step(time=0.0, poses=poses, velocities=velocities, wrenches=wrenches)
    grown = memory() - before - poses.nbytes - velocities.nbytes - wrenches.nbytes
    took = least(lambda: batch.step(time=0.001, poses=poses, velocities=velocities, wrenches=wrenches), 50)
    return 1e6 * took / worlds, grown / worlds


def initial(worlds: int) -> tuple[ensemble.Floats, ensemble.Floats]:
    """Positions and velocities as MuJoCo has them: quaternions, angular velocities in the frame of the body."""
    _, poses, velocities = ensemble.starts(0, worlds)
    qpos, qvel = np.empty((worlds, 7)), np.empty((worlds, 6))
    for place, (pose, velocity) in enumerate(zip(poses[:, 0], velocities[:, 0])):
        qpos[place, :3] = pose[:3, 3]
        mujoco.mju_mat2Quat(qpos[place, 3:], pose[:3, :3].ravel())
        qvel[place] = np.concatenate([velocity[3:], pose[:3, :3].T @ velocity[:3]])
    return qpos, qvel


def main() -> None:
    worlds = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    print("A step of a world, in a batch of 10,000:\n\n| scene | one thread, µs | two threads, µs | bytes of a world |\n|---|---|---|---|")
    for name, system, height in (("a cube on four springs", four_springs(), 0.052), ("on eight, as below", ensemble.cube(), 0.052)):
        (one, size), (two, _) = a_step(system, height, 1), a_step(system, height, THREADS)
        print(f"| {name} | {one:.2f} | {two:.2f} | {size:.0f} |")

    qpos, qvel = initial(worlds)
    model = mujoco.MjModel.from_xml_string(MODEL)
    datas = [mujoco.MjData(model) for _ in range(THREADS)]
    state = np.concatenate([np.zeros((worlds, 1)), qpos, qvel], 1)
    batch = mjbatch.Batch(model, worlds, THREADS)

    def by_mjbatch() -> None:
        batch.reset()
        batch.bind("qpos")[:], batch.bind("qvel")[:] = qpos, qvel
        for _ in range(STEPS):
            batch.step()

    runs: list[tuple[str, Callable[[], object]]] = [
        ("force_elements.Batch, its host in numpy", lambda: ensemble.run(0, worlds, STEPS * ensemble.STEP, THREADS)),
        ("mjbatch, MuJoCo's contact", by_mjbatch),
        ("mujoco.rollout, MuJoCo's contact", lambda: mujoco.rollout.rollout(model, datas, state, nstep=STEPS)),
    ]
    print(f"\n{worlds} worlds of {STEPS} steps on {THREADS} threads, MuJoCo {mujoco.mj_versionString()}:\n")
    print("| | worlds a second | µs a step of a world |\n|---|---|---|")
    for name, work in runs:
        took = least(work, 5)
        print(f"| {name} | {worlds / took:.0f} | {1e6 * took / (worlds * STEPS):.2f} |")


if __name__ == "__main__":
    main()
