"""An ensemble on a cluster of two processes, one of which is killed."""

import os
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "examples"))

import ensemble

WORLDS, SIZE, SECONDS = 600, 50, 0.3


def test_an_ensemble_survives_a_worker_and_has_the_bits_of_one_process() -> None:
    from distributed import Client, LocalCluster

    alone = np.concatenate([ensemble.run(task, count, SECONDS, threads=2) for task, count in ensemble.tasks(WORLDS, SIZE)])
    results, killed = {}, None
    with LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None) as cluster, Client(cluster) as client:
        first = list(client.run(os.getpid).values())
        assert len(set(first)) == 2
        for task, result in ensemble.finished(client, WORLDS, SIZE, SECONDS):
            assert task not in results
            results[task] = result
            if killed is None:
                killed = ensemble.kill_a_worker(client)
        assert killed in first and killed not in client.run(os.getpid).values()
    assert sorted(results) == list(range(len(ensemble.tasks(WORLDS, SIZE))))
    assert np.array_equal(np.concatenate([results[task] for task in sorted(results)]), alone)
    # Something has happened: cubes have landed, slid, and differ.
    assert np.isfinite(alone).all() and len(np.unique(alone[:, 0])) == WORLDS
    assert 0.05 < np.median(alone[:, 0]) < 1.0
