"""Mechanical force elements: springs, contacts with friction that holds, bushings and cables.

A :class:`System` holds bodies, coordinates and elements; a :class:`State` or, for many worlds, a :class:`Batch` holds all that
varies. The host writes poses and velocities, calls ``evaluate``, reads forces, integrates, and calls ``accept`` for each step
that it accepts.

Units are those of SI. Spatial vectors have six numbers, rotation before translation: angular and linear velocity, torque and
force. A pose is a 4 x 4 matrix, or x, y, z and the quaternion w, i, j, k.
"""

from ._core import (
    GROUND,
    Batch,
    Body,
    ContactDesign,
    Coordinate,
    Element,
    Frame,
    Inertias,
    Linearization,
    Mesh,
    Obstacle,
    Shape,
    StableStep,
    State,
    Station,
    Surface,
    ViaPoint,
    __version__,
    parameters,
    resting_height,
)
from ._errors import (
    ElementError,
    Error,
    InvalidValueError,
    LayoutError,
    NoSuchNameError,
    StageError,
    StepError,
    TopologyError,
)
from ._system import System

__all__ = [
    "GROUND",
    "Batch",
    "Body",
    "ContactDesign",
    "Coordinate",
    "Element",
    "ElementError",
    "Error",
    "Frame",
    "Inertias",
    "InvalidValueError",
    "LayoutError",
    "Linearization",
    "Mesh",
    "NoSuchNameError",
    "Obstacle",
    "Shape",
    "StableStep",
    "StageError",
    "State",
    "Station",
    "StepError",
    "Surface",
    "System",
    "TopologyError",
    "ViaPoint",
    "__version__",
    "parameters",
    "resting_height",
]
