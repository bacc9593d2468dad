"""An ensemble on Dask: cubes drop and slide with parameters and starts of their own; how many rest, and how far they get.

Tasks of worlds go to the workers of a cluster, whose results do not depend on how many there are: every task has a random stream
of its own, and every world its own numbers. See docs/ensembles.md.
"""

import argparse
import os
import resource
import signal
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

import force_elements as fe

Floats = NDArray[np.float64]

MASS, HALF, GRAVITY, STEP, SECONDS = 1.0, 0.05, 9.81, 1e-3, 1.0
INERTIA = MASS * (2.0 * HALF) ** 2 / 6.0
RESTS = 1e-3
SEED = 2024
BATCH = 500
"""Worlds that step together. Their memory stays in the cache, where that of a task would not."""


def cube() -> fe.System:
    """A cube on springs at its corners, each of which the friction of the weight stretches by a few millimeters at most."""
    system = fe.System()
    body = system.add_body("cube")
    for corner in range(8):
        x, y, z = (HALF if corner >> axis & 1 else -HALF for axis in range(3))
        system.add_exponential_spring(
            fe.GROUND, body.station([x, y, z]), d2=800.0, friction_elasticity=2000.0, friction_viscosity=20.0, normal_viscosity=2.0
        )
    return system


def turned(rotation: Floats, angle: Floats) -> Floats:
    """Rotations (n, 3, 3) after further turns (n, 3), vectors in ground."""
    size = np.sqrt(np.sum(angle * angle, 1))[:, None, None]
    x, y, z = angle.T
    zero = np.zeros_like(x)
    cross = np.stack([zero, -z, y, z, zero, -x, -y, x, zero], 1).reshape(-1, 3, 3)
    first, half = np.sinc(size / np.pi), np.sinc(0.5 * size / np.pi)
    turn = np.eye(3) + first * cross + 0.5 * half * half * (cross @ cross)
    product: Floats = turn @ rotation
    return product


def starts(task: int, count: int) -> tuple[Floats, Floats, Floats]:
    """Of the worlds of a task: coefficients of kinetic friction (n,), poses (n, 1, 4, 4) and velocities (n, 1, 6)."""
    random = np.random.default_rng([SEED, task])
    kinetic = random.uniform(0.1, 0.6, count)
    poses, velocities = np.tile(np.eye(4), (count, 1, 1, 1)), np.zeros((count, 1, 6))
    poses[:, 0, :3, :3] = turned(poses[:, 0, :3, :3], random.normal(0.0, 0.3, (count, 3)))
    poses[:, 0, 2, 3] = random.uniform(0.1, 0.15, count)
    velocities[:, 0, :3] = random.normal(0.0, 2.0, (count, 3))
    velocities[:, 0, 3] = random.uniform(0.0, 2.0, count)
    return kinetic, poses, velocities


def run(task: int, count: int, seconds: float = SECONDS, threads: int = 1) -> Floats:
    """The worlds of a task (count, 2): how far each cube is from where it was dropped [m], and its speed [m/s] at the end."""
    kinetic, poses, velocities = starts(task, count)
    parts = [slice(first, first + BATCH) for first in range(0, count, BATCH)]
    return np.concatenate([run_batch(kinetic[part], poses[part], velocities[part], seconds, threads) for part in parts])


def run_batch(kinetic: Floats, poses: Floats, velocities: Floats, seconds: float, threads: int) -> Floats:
    """The results of worlds that step together; overwrites their poses and velocities."""
    count = len(kinetic)
    batch = fe.Batch(cube(), count, threads=threads)
    for spring in batch.system.elements:
        batch.update({f"{spring}.mu_static": 1.2 * kinetic, f"{spring}.mu_kinetic": kinetic})
    rotation, position = poses[:, 0, :3, :3], poses[:, 0, :3, 3]
    angular, linear = velocities[:, 0, :3], velocities[:, 0, 3:]
    wrenches = np.empty((count, 1, 6))
    for step in range(round(seconds / STEP)):
        batch.step(time=step * STEP, poses=poses, velocities=velocities, wrenches=wrenches)
        # The semi-implicit Euler method. The inertia of a cube is the same about every axis.
        angular += STEP / INERTIA * wrenches[:, 0, :3]
        linear += STEP / MASS * wrenches[:, 0, 3:]
        linear[:, 2] -= STEP * GRAVITY
        position += STEP * linear
        rotation[:] = turned(rotation, STEP * angular)
    speed = np.sqrt(np.sum(linear * linear, 1) + HALF * HALF * np.sum(angular * angular, 1))
    return np.stack([np.hypot(position[:, 0], position[:, 1]), speed], 1)


def tasks(worlds: int, size: int) -> list[tuple[int, int]]:
    """The numbers of tasks, and of the worlds of each."""
    return [(task, min(size, worlds - first)) for task, first in enumerate(range(0, worlds, size))]


def finished(client: Any, worlds: int, size: int, seconds: float = SECONDS) -> Iterator[tuple[int, Floats]]:
    """Tasks and their results as they come. What a worker that dies had is run again by another."""
    from distributed import as_completed

    futures = {
        client.submit(run, task, count, seconds, key=f"worlds-{worlds}-{size}-{seconds}-{task}"): task
        for task, count in tasks(worlds, size)
    }
    waiting = as_completed(futures)
    for future in waiting:
        yield futures[future], future.result()
        # The worker need not keep it.
        future.release()


def peak() -> int:
    """The most memory that this process has had [bytes], on Linux."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def kill_a_worker(client: Any) -> int:
    """Kills a worker that has tasks, one of this machine, and returns the number of its process."""
    (busy, *_) = (address for address, of_one in client.processing().items() if of_one)
    process: int = client.run(os.getpid, workers=[busy])[busy]
    os.kill(process, signal.SIGKILL)
    return process


def gathered(client: Any, worlds: int, size: int, seconds: float = SECONDS, kill: bool = False) -> Floats:
    """The results of all worlds, in order, with progress on standard error; halfway, a worker is killed if so told."""
    start, done = time.perf_counter(), 0
    results: list[Floats] = [np.empty((0, 2))] * len(tasks(worlds, size))
    for task, result in finished(client, worlds, size, seconds):
        results[task] = result
        done += len(result)
        if kill and 2 * done >= worlds:
            print(f"\nafter {done} worlds, process {kill_a_worker(client)} is killed", file=sys.stderr)
            kill = False
        rate = done / (time.perf_counter() - start)
        left = (worlds - done) / rate
        print(f"\r{done} of {worlds} worlds, {rate:.0f} a second, {left:.0f} s left ", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return np.concatenate(results)


def histogram(path: str, distance: Floats, rests: NDArray[np.bool_]) -> None:
    """The picture."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 4.5), layout="constrained")
    groups = [distance[rests], distance[~rests]]
    axes.hist(groups, bins=60, stacked=True, label=["at rest", "still moving"])
    axes.set(xlabel="distance [m]", ylabel="worlds", title=f"{len(distance)} cubes after {SECONDS:g} s")
    axes.legend()
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("picture", nargs="?")
    parser.add_argument("--worlds", type=int, default=4000, help="by default 4000; a million takes a quarter of an hour on two cores")
    parser.add_argument("--task", type=int, default=500, help="worlds of a task, by default 500; 10000 for a million")
    parser.add_argument("--scheduler", help="address of a cluster; by default one of two processes is started here")
    parser.add_argument("--kill", action="store_true", help="kill one of the two processes halfway: nothing is lost")
    arguments = parser.parse_args()
    from distributed import Client, LocalCluster

    start = time.perf_counter()
    if arguments.scheduler is None:
        with (
            LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None) as cluster,
            Client(cluster) as client,
        ):
            start = time.perf_counter()
            results = gathered(client, arguments.worlds, arguments.task, kill=arguments.kill)
            workers = list(client.run(peak).values())
    else:
        with Client(arguments.scheduler) as client:
            results = gathered(client, arguments.worlds, arguments.task)
            workers = list(client.run(peak).values())
    took = time.perf_counter() - start
    assert results.shape == (arguments.worlds, 2) and np.isfinite(results).all()
    distance, rests = results[:, 0], results[:, 1] < RESTS
    print(f"{len(distance)} worlds of {round(SECONDS / STEP)} steps in {took:.1f} s: {1e3 * took / len(distance):.2f} ms a world")
    print(f"at rest, slower than {1e3 * RESTS:g} mm/s: {100.0 * np.mean(rests):.2f} %")
    low, middle, high = np.percentile(distance, [5, 50, 95])
    print(f"distance: median {middle:.3f} m, 5 % below {low:.3f} m, 5 % above {high:.3f} m")
    print(f"memory at its peak: at most {max(workers) >> 20} MiB a worker, {peak() >> 20} MiB here")
    if arguments.picture:
        histogram(arguments.picture, distance, rests)


if __name__ == "__main__":
    main()
