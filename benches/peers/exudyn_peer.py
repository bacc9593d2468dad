#!/usr/bin/env python3
"""Exudyn's side of the comparison: the least time of a step with the elements less that without, by scene, in nanoseconds an
element. A step of explicit Euler is one evaluation; the post-Newton step that commits friction belongs to it."""

import math
import sys
import time

import exudyn
from exudyn.itemInterface import (
    CoordinateSpringDamperExt,
    MarkerNodeCoordinate,
    Mass1D,
    Node1D,
    NodeGenericData,
    NodePointGround,
)

COUNT = 1000
STEPS = 2000


def wave(i):
    return math.sin((i % 100_000) * 1.618034)


def steps(scene, with_elements):
    container = exudyn.SystemContainer()
    mbs = container.AddSystem()
    ground = mbs.AddMarker(MarkerNodeCoordinate(nodeNumber=mbs.AddNode(NodePointGround()), coordinate=0))
    for i in range(COUNT):
        node = mbs.AddNode(
            Node1D(referenceCoordinates=[0], initialCoordinates=[wave(2 * i)], initialVelocities=[wave(2 * i + 1)])
        )
        mbs.AddObject(Mass1D(nodeNumber=node, physicsMass=1e6))
        if with_elements:
            mbs.AddObject(
                CoordinateSpringDamperExt(
                    markerNumbers=[ground, mbs.AddMarker(MarkerNodeCoordinate(nodeNumber=node, coordinate=0))],
                    stiffness=100,
                    damping=1,
                    fDynamicFriction=2,
                    fStaticFrictionOffset=1,
                    exponentialDecayStatic=0.1,
                    fViscousFriction=0.1,
                    **(
                        {"frictionProportionalZone": 0.01}
                        if scene == "regularised"
                        else {
                            "stickingStiffness": 1e4,
                            "stickingDamping": 10,
                            "nodeNumber": mbs.AddNode(
                                NodeGenericData(initialCoordinates=[0, 0, 0], numberOfDataCoordinates=3)
                            ),
                        }
                    ),
                )
            )
    mbs.Assemble()
    settings = exudyn.SimulationSettings()
    settings.timeIntegration.numberOfSteps = STEPS
    settings.timeIntegration.endTime = 1e-6 * STEPS
    settings.timeIntegration.verboseMode = 0
    settings.solutionSettings.writeSolutionToFile = False
    settings.timeIntegration.explicitIntegration.computeMassMatrixInversePerBody = True
    settings.linearSolver.solverType = exudyn.LinearSolverType.EigenSparse
    least = math.inf
    for _ in range(5):
        start = time.perf_counter()
        mbs.SolveDynamic(settings, solverType=exudyn.DynamicSolverType.ExplicitEuler)
        least = min(least, time.perf_counter() - start)
    return least / STEPS


if len(sys.argv) != 2 or sys.argv[1] not in ("regularised", "bristles"):
    sys.exit("expected regularised or bristles")
print(f"{1e9 * (steps(sys.argv[1], True) - steps(sys.argv[1], False)) / COUNT:.2f}")
