from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, SupportsFloat, SupportsIndex, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from typing_extensions import Self, disjoint_base

__all__ = [
    "System",
    "State",
    "Batch",
    "Linearization",
    "ContactDesign",
    "Inertias",
    "StableStep",
    "Body",
    "Coordinate",
    "Element",
    "Frame",
    "Station",
    "Shape",
    "Mesh",
    "Surface",
    "Obstacle",
    "ViaPoint",
    "parameters",
    "resting_height",
    "_state_of",
    "_batch_of",
    "GROUND",
    "__version__",
]

_Floats = NDArray[np.float64]
_Row = Sequence[float] | NDArray[np.floating[Any]]
_Number = SupportsFloat | SupportsIndex

__version__: str
GROUND: Body

def parameters(kind: str) -> dict[str, tuple[float | bool, str]]:
    """The parameters of a kind of element by name, each with its default and unit. Kinds are those of ``System.add_...``, and
    ``elastic_foundation.material``.
    """
def resting_height(load: float, **parameters: Any) -> float:
    """The height at which an exponential spring with these parameters carries a load [N] at rest, above its plane [m]: where to place a
    body that is to rest. If several springs share a weight evenly, each carries its part.
    """
def _state_of(system: System, saved: tuple[Any, ...]) -> State: ...
def _batch_of(system: System, threads: int | None, saved: tuple[Any, ...]) -> Batch: ...
@final
class Body:
    """A body of a system, made by ``System.add_body``. ``index`` is its row in arrays of poses, velocities and wrenches; that of ground is
    -1. After the body has been removed the row stays, with zero forces, until another body takes it. A system refuses bodies that were
    removed, and those of systems of which it is no copy.
    """
    def __new__(cls, index: int, key: int) -> Body: ...
    @property
    def index(self) -> int:
        """Its row in arrays of bodies; -1 of ground."""
    def frame(self, pose: ArrayLike) -> Frame:
        """A frame on this body. ``pose`` [m]: 4 x 4 matrix, or position and quaternion (x, y, z, w, i, j, k), w first, or position."""
    def station(self, point: ArrayLike) -> Station:
        """A point [m] of this body, in its own frame."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __getnewargs__(self) -> tuple[int, int]: ...

@final
class Coordinate:
    """A scalar coordinate of a system. ``index`` is its place in arrays of coordinates, rates and forces, which stays when the
    coordinate is removed, until another takes it.
    """
    def __new__(cls, index: int, key: int) -> Coordinate: ...
    @property
    def index(self) -> int:
        """Its place in arrays of coordinates."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __getnewargs__(self) -> tuple[int, int]: ...

@final
class Element:
    """An element of a system. ``id`` is the prefix of the names of its variables and results, such as ``linear_bushing[0]``."""
    def __new__(cls, id: str, key: int) -> Element: ...
    @property
    def id(self) -> str:
        """The prefix of the names of its variables and results."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __getnewargs__(self) -> tuple[str, int]: ...

@final
class Frame:
    """A frame on a body, at a pose [m] in the body's frame: 4 x 4 matrix, or position and quaternion (x, y, z, w, i, j, k), or
    position; without one the body's frame itself.
    """
    def __new__(cls, body: Body, pose: ArrayLike | None = None) -> Frame: ...
    @property
    def body(self) -> Body:
        """Its body."""
    @property
    def pose(self) -> _Floats:
        """The pose [m] as a 4 x 4 matrix."""
    def __getnewargs__(self) -> tuple[Body, _Floats]: ...

@final
class Station:
    """A point [m] of a body, in the body's frame."""
    def __new__(cls, body: Body, point: ArrayLike) -> Station: ...
    @property
    def body(self) -> Body:
        """Its body."""
    @property
    def point(self) -> list[float]:
        """The point [m]."""
    def __getnewargs__(self) -> tuple[Body, list[float]]: ...

@final
class Shape:
    """A shape in its own frame, made by one of the methods of this class."""
    def __new__(cls, kind: str, sizes: Sequence[float], mesh: Mesh | None = None) -> Shape: ...
    @property
    def kind(self) -> str:
        """Its kind, as the method that made it."""
    @property
    def sizes(self) -> list[float]:
        """The numbers that it was made with [m]."""
    @staticmethod
    def half_space() -> Shape:
        """What lies below the x-y plane of its frame."""
    @staticmethod
    def sphere(radius: float) -> Shape:
        """A ball of this radius [m] about the origin of its frame."""
    @staticmethod
    def ellipsoid(radii: _Row) -> Shape:
        """An ellipsoid with these three radii [m] along the axes of its frame."""
    @staticmethod
    def cylinder(radius: float) -> Shape:
        """A column of this radius [m] about the z axis, without ends; for cables."""
    @staticmethod
    def finite_cylinder(radius: float, half_length: float, rim_radius: float) -> Shape:
        """A column about the z axis with flat ends and rounded rims: radius, half the length and radius of the rims [m]."""
    @staticmethod
    def torus(ring_radius: float, tube_radius: float) -> Shape:
        """A ring about the z axis, with the radius of its center line and that of its tube [m]; for cables."""
    @staticmethod
    def height_map(corner: _Row, spacing: _Row, heights: ArrayLike) -> Shape:
        """What lies below a smooth surface through ``heights`` (rows, columns) [m], columns along x, rows along y. ``corner`` (x, y)
        [m] is where the first is, ``spacing`` (along x, along y) [m] the distance of neighbours. For cables.
        """
    @staticmethod
    def distance_field(mesh: Mesh, spacing: float) -> Shape:
        """What a closed mesh encloses, its edges rounded at the scale of a grid of this ``spacing`` [m]; for cables."""
    def __getnewargs__(self) -> tuple[str, list[float], Mesh | None]: ...

@final
class Mesh:
    """Triangles: vertices (n, 3) [m] and faces (m, 3) of indices, counterclockwise seen from outside. Faces with more corners must be
    divided into triangles first. ``closed`` requires that they enclose a volume.
    """
    def __new__(cls, vertices: ArrayLike, faces: ArrayLike, *, closed: bool = True) -> Mesh: ...
    @staticmethod
    def load(path: str | PathLike[str], *, closed: bool = True) -> Mesh:
        """A mesh from a file whose name ends in .obj or .stl: all its objects together. Polygons of .obj files are cut into triangles;
        lines that are continued by a backslash are refused.
        """
    @staticmethod
    def brick(half_extents: _Row, subdivisions: Sequence[int] | NDArray[np.integer[Any]] = ...) -> Mesh:
        """A block with these half extents [m], its faces divided into so many squares of two triangles along each axis."""
    @staticmethod
    def sphere(radius: float, frequency: int) -> Mesh:
        """A ball of this radius [m], with each edge of an octahedron divided into ``frequency`` parts."""
    @property
    def vertices(self) -> _Floats:
        """The vertices (n, 3) [m]."""
    def refined(self, longest_edge: float) -> Mesh:
        """The same surface with no edge longer than ``longest_edge`` [m]: longer ones are halved."""
    @property
    def faces(self) -> NDArray[np.uint32]:
        """The faces (m, 3)."""
    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]: ...

@final
class Surface:
    """A surface of an elastic foundation on a frame or body: rigid, or, with parameters of its material, a mesh with a spring on
    each face. The parameters are those of ``force_elements.parameters("elastic_foundation.material")``.
    """
    def __new__(cls, frame: Frame | Body, shape: Shape | Mesh, **material: float) -> Surface: ...
    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]: ...

@final
class Obstacle:
    """A shape in a frame or on a body, over which a cable is laid. ``hint`` is a point [m] in the frame of the shape past which
    the cable runs at first, on the same side of a cylinder and through the same hole; over a ball it slides to the shortest
    path. With ``ignored_around_ends`` the shape is ignored while it contains an end of the cable. ``friction`` is the
    coefficient of friction; without one on any of its obstacles a cable slides freely. ``confined_to`` is a direction in the frame
    of the shape, on the side of which the cable stays whatever it remembers: in front of the axis of a cylinder. ``most_contacts``
    is the largest number of its contacts with the cable, by default 8, or 1 of a convex shape.
    """
    def __new__(
        cls,
        frame: Frame | Body,
        shape: Shape,
        hint: ArrayLike | None = None,
        ignored_around_ends: bool = False,
        friction: float | None = None,
        confined_to: ArrayLike | None = None,
        most_contacts: int | None = None,
    ) -> Obstacle: ...
    @property
    def frame(self) -> Frame:
        """The frame of its shape."""
    @property
    def shape(self) -> Shape:
        """Its shape."""
    def __getnewargs__(self) -> tuple[Any, ...]: ...

@final
class ViaPoint:
    """A point that a cable runs through. With ``moving``, a coordinate, its values and a point [m] in the frame of the body at each,
    it moves along a natural cubic spline, straight beyond the first and the last of them, and ``station`` gives the body only. With
    ``within``, a coordinate and the ends of a range, it is there only in this range.
    """
    def __new__(
        cls,
        station: Station,
        moving: tuple[Coordinate, _Row, Sequence[_Row] | NDArray[np.floating[Any]]] | None = None,
        within: tuple[Coordinate, float, float] | None = None,
    ) -> ViaPoint: ...
    def __getnewargs__(self) -> tuple[Any, ...]: ...

@disjoint_base
class System:
    """Bodies, coordinates and elements."""
    def __new__(cls) -> System: ...
    def add_body(self, name: str | None = None) -> Body:
        """Adds a body of the host."""
    def add_coordinate(self, name: str | None = None) -> Coordinate:
        """Adds a scalar coordinate of the host."""
    def remove_body(self, body: Body) -> None:
        """Removes a body, on which no element may act. Its row stays, until the next body that is added takes it."""
    def remove_coordinate(self, coordinate: Coordinate) -> None:
        """Removes a coordinate, on which no element may act. Its place stays, until the next coordinate that is added takes it."""
    def remove_element(self, element: Element) -> None:
        """Removes an element. The next one of its kind that is added takes its ``id``."""
    def add_linear_bushing(
        self, frame_f: Frame | Body, frame_m: Frame | Body, *, name: str | None = None, **parameters: Any
    ) -> Element:
        """Adds a spring-damper with six axes between frame F on one body and frame M on another, by gimbal angles."""
    def add_spatial_bushing(
        self,
        frame_f: Frame | Body,
        frame_m: Frame | Body,
        *,
        curves: Mapping[str, ArrayLike] | None = None,
        damping_curves: Mapping[str, ArrayLike] | None = None,
        name: str | None = None,
        **parameters: Any,
    ) -> Element:
        """Adds a bushing between frame F on one body and frame M on another, by rotation vector, with two 6 x 6 matrices. The
        displacement is that of M's origin from F's, expressed in the frame half-way between the two. ``curves`` has tables (n, 2)
        of displacement [rad, m] and force [N m, N] by axis, ``"qx"`` to ``"pz"``, in addition to the stiffness, with a smooth
        curve between their points, and a line beyond them; ``damping_curves`` of rate [rad/s, m/s] and force in addition to the damping.

        A matrix is given as one number for its whole diagonal, the six numbers of its diagonal, rotations first, an array (6, 6),
        the 21 numbers of its upper triangle by rows, or a dictionary of some of them, such as ``{"qx": 5.0, "py": 200.0, "qx_py": 0.1}``.
        """
    def add_exponential_spring(
        self, plane: Frame | Body, station: Station, *, name: str | None = None, **parameters: Any
    ) -> Element:
        """Adds the contact of a point of a body with the x-y plane of a frame, with friction that holds. The force grows by a factor
        of e in each 1/``d2`` and is 1 kN in the plane by default: a lighter body rests above it, and rests in it with the
        parameters of a ``ContactDesign``. With ``settling`` friction follows the law of the source, below, instead.
        """
    def add_hertz_contact(
        self,
        surface: Frame | Body | tuple[Station, float],
        center: Station,
        radius: float,
        *,
        name: str | None = None,
        **parameters: Any,
    ) -> Element:
        """Adds the contact of a ball, given by its center and radius [m], with the half-space below the x-y plane of a frame, or
        with another ball, a tuple of its center and radius.
        """
    def add_coordinate_spring_damper_ext(
        self,
        coordinate: Coordinate,
        coordinate0: Coordinate | None = None,
        *,
        name: str | None = None,
        **parameters: Any,
    ) -> Element:
        """Adds a spring-damper with friction and stops on a coordinate, or between two: on ``factor1 * coordinate - factor0 *
        coordinate0``. Of an angle, m and N stand for rad and N m. A stop without a transition acts from the ``accept`` after it
        was passed to the ``accept`` after it was left, or from ``reset_memory``; one with a transition acts at once.
        """
    def add_elastic_foundation(
        self, surfaces: Sequence[Surface], *, anchors: bool | None = None, name: str | None = None, **parameters: Any
    ) -> Element:
        """Adds the contact of surfaces, of which at least one has springs. With ``anchors`` its friction holds; without, which is to be
        stated if a surface has a ``tangential_stiffness`` or ``tangential_viscosity``, it creeps. ``clipped`` faces
        press with the part that is inside; otherwise, and between meshes, a face counts fully or not at all.
        """
    def add_cable_spring(
        self,
        origin: Station,
        termination: Station,
        route: Sequence[Obstacle | ViaPoint | Station] = ...,
        *,
        name: str | None = None,
        smoothness: float | None = None,
        max_iterations: int | None = None,
        max_evaluations: int | None = None,
        **parameters: Any,
    ) -> Element:
        """Adds an elastic cable from one station to another, over obstacles and through points (stations or via points) in order.
        With friction its result ``elongation`` is that of the most elongated part. ``smoothness`` [rad] is the largest kink of the
        path, by default 1e-9; ``max_iterations``, by default 60, and ``max_evaluations``, by default 150000, bound the work for
        each obstacle.
        """
    @property
    def bodies(self) -> list[Body]:
        """The bodies, without ground."""
    @property
    def coordinates(self) -> list[Coordinate]:
        """The coordinates."""
    @property
    def body_names(self) -> list[str | None]:
        """The names of the bodies, ``None`` of those without one."""
    @property
    def coordinate_names(self) -> list[str | None]:
        """The names of the coordinates, ``None`` of those without one."""
    @property
    def element_names(self) -> list[str | None]:
        """The names of the elements, ``None`` of those without one."""
    @property
    def elements(self) -> list[Element]:
        """The elements, by kind."""
    def body(self, name: str) -> Body:
        """The body of this name."""
    def coordinate(self, name: str) -> Coordinate:
        """The coordinate of this name."""
    def element(self, name: str) -> Element:
        """The element of this name."""
    def state(self) -> State:
        """A state with default variables, at time zero, with all bodies at rest at the ground origin."""
    def __getstate__(self) -> tuple[list[Body | Coordinate | Element], list[tuple[str, tuple[Any, ...], dict[str, Any]]]]: ...
    def __setstate__(
        self, saved: tuple[list[Body | Coordinate | Element], list[tuple[str, tuple[Any, ...], dict[str, Any]]]]
    ) -> None: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class State:
    """Time, motion, variables and results of one system. Made by ``System.state``.

    ``state[name]`` reads and writes a variable, such as ``state["linear_bushing[0].stiffness.qx"]``, also under the name of the
    element: ``state["mount.stiffness.qx"]``. Setting ``time``, a variable, or a pose or another part of the motion, requires a new
    ``evaluate`` before forces and results can be read.
    """
    @property
    def system(self) -> System:
        """Its system."""
    @property
    def time(self) -> float:
        """Time [s]."""
    @time.setter
    def time(self, value: float) -> None: ...
    @property
    def poses(self) -> _Floats:
        """The poses (bodies, 4, 4) [m] of all bodies in ground; (bodies, 7) numbers (x, y, z, and the quaternion w, i, j, k) can
        be set too.
        """
    @poses.setter
    def poses(self, value: ArrayLike) -> None: ...
    @property
    def velocities(self) -> _Floats:
        """The velocities (bodies, 6) of the origins of all bodies, in ground: angular [rad/s], linear [m/s]."""
    @velocities.setter
    def velocities(self, value: ArrayLike) -> None: ...
    @property
    def coordinates(self) -> _Floats:
        """The values of all coordinates [m or rad]."""
    @coordinates.setter
    def coordinates(self, value: ArrayLike) -> None: ...
    @property
    def coordinate_rates(self) -> _Floats:
        """The rates of all coordinates [m/s or rad/s]."""
    @coordinate_rates.setter
    def coordinate_rates(self, value: ArrayLike) -> None: ...
    def set_body(self, body: Body, pose: ArrayLike, velocity: ArrayLike | None = None) -> None:
        """Sets pose [m] and, if given, velocity of a body: a 4 x 4 matrix, or 7 numbers (x, y, z, w, i, j, k), or a position, which is
        a pose that is not turned; and 6 numbers, angular [rad/s] and linear [m/s], which otherwise stay as they are.
        """
    def set_coordinate(self, coordinate: Coordinate, value: float, rate: float | None = None) -> None:
        """Sets value [m or rad] and, if given, rate [m/s or rad/s] of a coordinate."""
    def evaluate(self) -> None:
        """Evaluates all elements."""
    def accept(self) -> None:
        """Commits what elements remember, when the host accepts a step: anchors, sliding, bristles, stops, turns, cable paths.
        Requires an evaluated state.
        """
    def check_step(self, length: float, inertias: Inertias, *, method: str = "symplectic_euler") -> None:
        """Raises a ``StepError`` if a step of ``length`` [s] is longer than is known to be stable for the present forces, or if bodies
        could pass through each other in it. For a host with fixed steps, in each of them, after ``evaluate`` and before the motion
        is integrated. ``method``: ``"symplectic_euler"`` or ``"runge_kutta_4"``. A check at a later time, with no ``accept`` in between,
        is a ``StageError`` where elements on coordinates, anchors, or friction on a cable would not follow the motion.
        """
    def stable_step(self, inertias: Inertias, *, method: str = "symplectic_euler", impact_speed: float = 0.0) -> StableStep:
        """The longest step for which the present forces are stable, and the element that limits it; half of it is a good step.
        ``impact_speed`` [m/s] is the largest speed at which bodies may meet: contacts become stiffer the deeper they are. Requires
        an evaluated state.
        """
    def simulate(
        self,
        end: float,
        inertias: Inertias,
        *,
        gravity: _Row = ...,
        integrator: str = "dormand_prince",
        accuracy: float | None = None,
        scale: float | None = None,
        step: float | None = None,
        every: float | None = None,
        loads: ArrayLike | None = None,
        coordinate_loads: ArrayLike | None = None,
        names: Sequence[str] = ...,
    ) -> dict[str, _Floats]:
        """Moves the state to ``end`` [s] as free bodies and coordinates of these inertias, by the reference simulator of the library,
        and returns samples: ``time`` (k,), ``poses`` (k, bodies, 4, 4), ``velocities`` (k, bodies, 6), ``coordinates`` and
        ``coordinate_rates`` (k, coordinates), ``energy`` (k,), kinetic, by gravity and stored [J], and (k,) for each of the results
        in ``names``. The first is the start, the last the end; between them one follows every ``every`` [s], or each step.

        ``integrator``: ``"dormand_prince"``, explicit, ``"implicit_trapezoidal"`` or ``"tr_bdf2"``, for stiff elements, all with
        error control to ``accuracy``, by default 1e-6, in steps of at most ``step``; or ``"symplectic_euler"`` in steps of ``step``, or less before a
        sample, which are refused if they are too long. The error of a number may be ``accuracy`` times the sum of its magnitude
        and ``scale`` [SI unit], by default the largest magnitude so far between 1e-3 and 1: give the scale of what is smaller or
        larger. ``gravity`` [m/s2] acts on bodies, by default 9.81 against z; ``loads`` (bodies, 6), torque [N m] and force [N] at the origins in
        ground, and ``coordinate_loads`` are constant. A controller acts between runs: it writes variables, as
        ``state["spring.offset"]``, or gives other loads, and the next call continues from there. Elements keep what they remember; energy accounts begin anew, at zero. After an error
        the state is that of the last step.

        A system from which a body or coordinate was removed is refused.
        """
    def finish_step(
        self,
        *,
        time: float,
        poses: ArrayLike | None = None,
        velocities: ArrayLike | None = None,
        coordinates: ArrayLike | None = None,
        coordinate_rates: ArrayLike | None = None,
        rule: str = "held_forces",
    ) -> None:
        """In place of ``accept``, with energy accounts: moves the state to the end of a step, given by ``time`` and what moves,
        integrates the energies that elements absorb over it, and accepts the step. The state must have been evaluated at its
        start, and keep the motion of it. ``rule`` fits the method of the host: ``"held_forces"`` symplectic Euler, with forces
        held over the step, ``"trapezoid"`` methods of second order, ``"left_endpoint"`` prescribed motion. An element that has
        returned more than half of the most that it stored without having received it raises a ``StepError``: steps are too long.
        With held forces so does friction that reverses the slip in every step, as under a load of several times that of its design.
        A motion in which ``time`` does not advance is accepted, and not checked.
        """
    def passing_time(self, within: float = ...) -> float:
        """Time [s] in which bodies could pass through each other unnoticed at the present velocities: for two surfaces apart, that in
        which they meet and dip into each other by half the sum of their least half widths; for a bushing and a cable, that in which
        they turn farther than can be told after one step. ``inf`` if there is none. A host with
        error control takes at most half of it as its next step. A time longer than ``within`` may be any other one that is
        longer. Requires an evaluated state.
        """
    def gaps(self) -> _Floats:
        """Gaps [m or rad] and their rates of change, a row for each: of exponential springs, meshes with springs above
        half-spaces, Hertz contacts, limit stops and slack cables, element by element; those of elements that are disabled are
        missing. A gap is closed where it is not greater than zero; that of an exponential spring, which acts above its plane too,
        where its force reaches a thousandth of ``d1``. One that narrows at the start of a step and widens at its end may have been closed in between; so an
        integrator of one's own can detect contacts that it would step over, for example as events. Requires an evaluated
        state.
        """
    def switching_error(self) -> float:
        """The largest force error [N, or N m on an angle] of what the elements remember, at the end of a trial step of a host with
        error control. If it is large, an element has switched within the step, as from sticking to sliding: reject the step and try a
        shorter one. It covers exponential springs and elements on coordinates, and changes nothing. Requires an evaluated state.
        """
    def reset_memory(self, element: Element | None = None) -> None:
        """Lets elements forget the past, as though the bodies had always been where they are; of one element, if given. Call it
        after setting the initial motion, and wherever bodies are put elsewhere: otherwise bristles of a new state stick at a
        displacement of zero, and a stop that is surpassed acts after the first step.
        """
    def reset_dissipated_energy(self) -> None:
        """Opens the energy accounts of all elements with zero dissipated energy, at the initial motion. They stay open in steps
        that end with ``finish_step``; an ``accept`` after a motion closes them.
        """
    def set_enabled(self, element: Element, enabled: bool) -> None:
        """Enables or disables an element. Results of a disabled element are its defaults, such as a height of zero. It keeps what it
        remembers: call ``reset_memory`` if bodies have moved meanwhile.
        """
    def carry_over(self) -> None:
        """Brings the state up to date after something was added to its system or removed. What is still there keeps its values to
        the last bit; new bodies are at rest at the ground origin, new elements have their defaults.
        """
    def body_force(self, body: Body) -> _Floats:
        """Torque [N m] and force [N] of all elements on a body, at its origin, in ground."""
    @property
    def wrenches(self) -> _Floats:
        """The forces (bodies, 6) on all bodies at their origins, in ground: torque [N m], force [N]."""
    @property
    def coordinate_forces(self) -> _Floats:
        """The forces [N or N m] on all coordinates."""
    @property
    def energy(self) -> float:
        """The energy stored in all elements [J]."""
    @property
    def power_dissipated(self) -> float:
        """The power dissipated by all elements [W], as far as it is known instantaneously."""
    @property
    def dissipated_energy(self) -> float | None:
        """The energy dissipated by all elements [J]; ``None`` while an account is closed."""
    def cable_points(self, cable: Element, spacing: float) -> _Floats:
        """Points (n, 3) along the path of a cable, in ground: for drawings, on arcs at most ``spacing`` [m] apart."""
    def moment_arms(self, cable: Element, motions: ArrayLike, rates: ArrayLike | None = None) -> _Floats:
        """The moment arms (k,) of a cable about ``k`` coordinates of the host, such as joint angles: m for an angle, without dimension
        for a displacement. ``motions`` (k, bodies, 6) are the velocities of all bodies per unit rate of each, angular and linear at
        their origins in ground: the columns of the host's Jacobian. ``rates`` (k, coordinates) are those of coordinates of the system,
        needed if via points move with one. A tension f drives a coordinate with f times the moment arm, which is minus the derivative
        of the length: it is positive if a taut cable increases the coordinate. Requires an evaluated state.
        """
    def result(self, name: str) -> float:
        """The result of this name, such as ``exponential_spring[3].friction_force_P.x``; of a flag 1 or 0."""
    def results(self) -> dict[str, float]:
        """All results, under the kinds and places of their elements, such as ``linear_bushing[0].f.px``. ``result`` takes the name
        that was given to an element in their place too. The documentation of ``System.add_linear_bushing`` and of the other elements
        says what each is; ``units`` returns their units.
        """
    def units(self) -> dict[str, str]:
        """The units of all variables and, in an evaluated state, of all results, under the names of ``keys()`` and ``results()``:
        ``1`` of a number without dimension, empty of a flag.
        """
    def keys(self) -> list[str]:
        """The names of all variables, under the kinds and places of their elements, such as ``linear_bushing[0].stiffness.px``: each
        variable once, as ``restore`` takes them. The name that was given to an element serves in their place, in ``state[name]``,
        ``in`` and ``update``, but is not listed: ``"mount.stiffness.px" in state`` holds where it is not in ``state.keys()``.
        """
    def _ipython_key_completions_(self) -> list[str]: ...
    def variables(self) -> list[tuple[str, float]]:
        """All variables with their names, those of ``keys()``."""
    def values(self) -> _Floats:
        """All variables as an array, in the order of ``keys()``; flags are 1 or 0."""
    def set_values(self, values: ArrayLike) -> None:
        """Sets all variables, as ``values`` returns them, accounts of energy and what elements remember among them: a changed
        stiffness appears as dissipated energy, where ``state[name]`` and ``update`` count it as supplied; bristles that are switched
        on are bent from where they last stuck, and a stop that is moved past its coordinate acts after the next ``accept``, where
        ``state[name]`` and ``update`` let both begin at once.
        """
    def __getitem__(self, name: str, /) -> float: ...
    def __setitem__(self, name: str, value: _Number, /) -> None: ...
    def update(self, values: Mapping[str, _Number]) -> None:
        """Sets variables from a dictionary, those of an element together: for those that bound each other, as ``mu_static`` and
        ``mu_kinetic`` do.
        """
    def __contains__(self, name: str, /) -> bool: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[str]: ...
    def linearize(self, *, variables: bool = False, commit: bool = False) -> Linearization:
        """The derivatives of all forces about this state, which must have been evaluated; with ``variables`` also by time and
        variables, with ``commit`` also those of what elements remember after ``accept``.
        """
    def to_bytes(self) -> bytes:
        """All variables as bytes, for ``restore_bytes``. The motion is not among them."""
    def restore_bytes(self, bytes: bytes) -> None:
        """Restores all variables from the bytes of a state of an equal system; refuses those of one with other kinds, numbers or ids of
        elements. What elements connect, and the names of yours, are not compared.
        """
    def restore(self, variables: Sequence[tuple[str, float]]) -> None:
        """Restores all variables, what elements remember among them, from pairs of names and values, as ``variables`` returns them;
        refuses those of a system with other variables, naming the first.
        """
    def copy(self) -> State:
        """A copy, of the same system."""
    def __copy__(self) -> State: ...
    def __deepcopy__(self, memo: Any) -> State: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Batch:
    """``count`` worlds: states of one system, evaluated together on ``threads`` threads, by default on all cores. Each starts as a
    copy of ``state``, by default the default state. Results do not depend on the number of threads.

    ``batch[name]`` reads and writes a variable of all worlds, and ``in`` and iteration are those of its names, as of a ``State``;
    ``len(batch)`` is the number of worlds. A world takes the memory of a ``State``.
    """
    def __new__(
        cls, system: System, count: int, *, state: State | None = None, threads: int | None = None
    ) -> Batch: ...
    @property
    def system(self) -> System:
        """Its system."""
    def __len__(self) -> int: ...
    def evaluate(
        self,
        *,
        time: ArrayLike | None = None,
        poses: ArrayLike | None = None,
        velocities: ArrayLike | None = None,
        coordinates: ArrayLike | None = None,
        coordinate_rates: ArrayLike | None = None,
        wrenches: _Floats | None = None,
        coordinate_forces: _Floats | None = None,
        energies: _Floats | None = None,
        names: Sequence[str] = ...,
        results: _Floats | None = None,
    ) -> None:
        """Sets the motion of all worlds, as far as it is given, evaluates them, and writes forces and results to the arrays that
        are given.

        In: ``time`` (n,) or one number [s]; ``poses`` (n, bodies, 4, 4) or (n, bodies, 7) as x, y, z and the quaternion
        w, i, j, k [m]; ``velocities`` (n, bodies, 6), angular [rad/s] and linear [m/s]; ``coordinates`` and ``coordinate_rates``
        (n, coordinates). Out, written in place: ``wrenches`` (n, bodies, 6), torque [N m] and force [N] at the origins in
        ground; ``coordinate_forces`` (n, coordinates); ``energies`` (n,) [J]; ``results`` (n, k) for k ``names`` of results.
        Without worlds the names of results are not checked.

        A world whose motion is refused, because a pose is none or a number is not finite, stays as it was. One that cannot be
        evaluated with its new motion has that motion. Rows of worlds that fail before they have been evaluated keep what they held,
        and so do all rows where there is no result of a name.
        """
    def step(
        self,
        *,
        time: ArrayLike | None = None,
        poses: ArrayLike | None = None,
        velocities: ArrayLike | None = None,
        coordinates: ArrayLike | None = None,
        coordinate_rates: ArrayLike | None = None,
        wrenches: _Floats | None = None,
        coordinate_forces: _Floats | None = None,
        energies: _Floats | None = None,
        names: Sequence[str] = ...,
        results: _Floats | None = None,
        length: float | None = None,
        inertias: Inertias | Sequence[Inertias] | None = None,
        method: str | None = None,
    ) -> None:
        """``evaluate`` and ``accept``, each world in one go; forces and results are those after it, for the next step of the host. With
        ``length`` [s] of the host's steps and its ``inertias``, one for all worlds or a list of one for each, it raises a ``StepError``
        for worlds in which the steps are too long, as ``State.check_step``; those are evaluated, but not accepted.
        """
    def accept(self) -> None:
        """Commits what elements remember, in all worlds. Requires that they have been evaluated."""
    def jvp(
        self,
        *,
        motion: ArrayLike | None = None,
        velocity: ArrayLike | None = None,
        variables: ArrayLike | Mapping[str, ArrayLike] | None = None,
        forces: _Floats | None = None,
        next: _Floats | None = None,
    ) -> None:
        """The changes of forces and of what elements remember, for changes of motion and variables, in all worlds, which must have
        been evaluated and not yet accepted.

        In: ``motion`` and ``velocity`` (n, rows), in the order of the names of a ``Linearization``: six for each body, one for
        each coordinate; ``variables`` (n, variables), in the order of ``keys()``, or some by name, each a number or (n,). Out,
        written in place: ``forces`` (n, rows); ``next`` (n, variables), the changes of all variables after the next ``accept``.
        """
    def vjp(
        self,
        *,
        forces: ArrayLike | None = None,
        next: ArrayLike | Mapping[str, ArrayLike] | None = None,
        motion: _Floats | None = None,
        velocity: _Floats | None = None,
        variables: _Floats | None = None,
    ) -> None:
        """The transpose of ``jvp``: gradients by motion, velocity and variables, written in place, from those by ``forces`` and by
        the variables after the next ``accept``, ``next``.
        """
    def moment_arms(self, cable: Element, motions: ArrayLike, rates: ArrayLike | None = None) -> _Floats:
        """The moment arms (n, k) of a cable about ``k`` coordinates of the host in all worlds, which must have been evaluated, from
        ``motions`` (n, k, bodies, 6) and, if via points move with a coordinate, ``rates`` (n, k, coordinates): see
        ``State.moment_arms``.
        """
    def keys(self) -> list[str]:
        """The names of all variables, under the kinds and places of their elements, as those of a ``State``."""
    def values(self) -> _Floats:
        """All variables of all worlds (n, variables), in the order of ``keys()``; flags are 1 or 0."""
    def set_values(self, values: ArrayLike) -> None:
        """Sets all variables of all worlds, as ``values`` returns them, what elements remember among them: see
        ``State.set_values``.
        """
    def reset(self, mask: Sequence[bool] | NDArray[np.bool_], state: State | None = None) -> None:
        """Replaces the worlds where ``mask`` (n,) of bool is true by copies of ``state``, by default of the default state of the system,
        with its parameters: those that differ between worlds are to be written again.
        """
    def reset_memory(self, mask: Sequence[bool] | NDArray[np.bool_] | None = None) -> None:
        """Lets the elements of all worlds, or of those where ``mask`` (n,) is true, forget the past, as though the bodies had always
        been where they are: see ``State.reset_memory``.
        """
    def carry_over(self) -> None:
        """Brings all worlds up to date after something was added to their system or removed, as ``State.carry_over``."""
    def _ipython_key_completions_(self) -> list[str]: ...
    def state(self, world: int) -> State:
        """A copy of one world."""
    def set_state(self, world: int, state: State) -> None:
        """Replaces one world by a copy of a state, of this system or an equal one."""
    def __getitem__(self, name: str, /) -> _Floats: ...
    def __setitem__(self, name: str, value: ArrayLike, /) -> None: ...
    def update(self, values: Mapping[str, ArrayLike]) -> None:
        """Sets variables of all worlds from a dictionary of arrays (n,) or numbers, those of an element together: for those that
        bound each other, as ``mu_static`` and ``mu_kinetic`` do. A world of which one is refused stays as it was.
        """
    def __contains__(self, name: str, /) -> bool: ...
    def __iter__(self) -> Iterator[str]: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class ContactDesign:
    """The requirements on a contact, from which keyword arguments of exponential springs, Hertz contacts, elastic foundations and
    coordinates with bristles are computed:
    ``system.add_exponential_spring(plane, station, **design.exponential_spring())``.

    ``mass`` that the contact carries [kg], less if both bodies move: ``check_step`` takes the lighter one and all its contacts into
    account; ``extent``, the distance of its mass center from the contact at rest [m], half the height of a box;
    ``step`` of the host [s], by symplectic Euler; ``base``, half the width on which the body stands [m], by default the extent: a
    body that is taller than wide needs it, or it may fall over; ``points`` that share the weight; ``speed``, the highest at which they strike
    [m/s], for the corners of a cube up to 2.3 times that of its fall; ``restitution``, the ratio of the rebound speed to it, greater
    than zero, and refused if it is so large that the body would rock on; ``gravity`` [m/s2].

    For a contact between two bodies state the lighter one and twice the step of the host. The contact is stable and damped at this
    step. Bodies come to rest, and hold on exponential springs, foundations with anchors and bristles; on Hertz contacts and
    foundations without anchors they creep, and their friction may alternate from step to step in impacts. A step that is too long
    for the body is refused with an ``InvalidValueError``.
    """
    def __new__(
        cls,
        mass: float,
        extent: float,
        step: float,
        *,
        base: float | None = None,
        points: int = 4,
        speed: float = 1.0,
        restitution: float = 0.2,
        mu_static: float = 0.7,
        mu_kinetic: float = 0.5,
        gravity: float = 9.81,
    ) -> Self: ...
    @property
    def longest_step(self) -> float:
        """The longest step for which there is a contact [s], with this extent, impact and friction. A gentle impact may shorten it: with a
        restitution of 0.2 it is at most 5.2 ms at 1 m/s, and 1.3 ms at 0.25 m/s, on Earth, however large the body is.
        """
    def exponential_spring(self) -> dict[str, Any]:
        """Parameters of an exponential spring at each of the points. Under its weight the body rests with the points at height zero."""
    def hertz_contact(self, effective_radius: float) -> dict[str, Any]:
        """Parameters of a Hertz contact at each of the points, of a ball of this effective radius [m]: on a half-space the radius of
        the ball, on another ball the inverse of the sum of the inverse radii.
        """
    def material(self, area: float) -> dict[str, Any]:
        """Parameters of the ``Surface`` of a body that rests on this area of its mesh [m2]."""
    def elastic_foundation(self) -> dict[str, Any]:
        """Parameters of an elastic foundation with such surfaces."""
    def coordinate_spring_damper_ext(self) -> dict[str, Any]:
        """Parameters of a coordinate element whose bristles carry the friction of the weight."""
    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]: ...

@final
class Inertias:
    """Masses and moments of inertia of a host, with which ``check_step`` and ``stable_step`` bound its steps, and with which
    ``simulate`` moves free bodies. Each is an array in the order of ``state.poses`` or ``state.coordinates``, with as many rows, or a
    number for all.

    ``masses`` [kg] and ``moments`` [kg m2], needed if there are bodies: moments about the mass center in the frame of the body,
    (bodies, 3, 3), or (bodies, 3) along its axes, or one for each body whose moments are alike (three different numbers, and a
    symmetric matrix of three rows, could be either, and are refused); ``mass_centers`` (bodies, 3) [m] in the frame of the body, by
    default its origin; ``coordinate_masses`` [kg, or kg m2 of an angle], needed if there are coordinates.

    What does not move has infinite masses and moments. In a mechanism, the kinetic energy of everything that is stated must not exceed
    that of the mechanism, in any of its motions: links are stated as if each were free; those that move as one divide their inertia;
    coordinates alone have ``m_i / λ``, where ``m_i = 1 / inv(M)_ii`` and ``λ`` is the largest eigenvalue of
    ``sqrt(m_i m_j) inv(M)_ij`` with the mass matrix ``M``; where both have elements, each is stated with a part, such as half
    (``examples/mujoco_host.py``). What no host can have, such as a mass of zero, is refused here, also in the row of a body that was removed.
    ``simulate`` moves all bodies: theirs must be finite, neither tiny nor huge, and no moment may exceed the sum of the other two.
    """
    def __new__(
        cls,
        masses: ArrayLike | None = None,
        moments: ArrayLike | None = None,
        mass_centers: ArrayLike | None = None,
        coordinate_masses: ArrayLike | None = None,
    ) -> Self: ...
    def __getnewargs__(self) -> tuple[Any, ...]: ...

@final
class StableStep:
    """The longest stable step, and the element that limits it."""
    @property
    def length(self) -> float:
        """The step [s]; ``inf`` if no known element limits it."""
    @property
    def element(self) -> Element | None:
        """The element that limits it, the first of several."""
    @property
    def frequency(self) -> float:
        """The bound on the angular frequency of the motion that limits it [rad/s]."""
    @property
    def damping_rate(self) -> float:
        """The bound on the damping over mass of that motion [1/s]."""
    @property
    def unknown(self) -> Element | None:
        """An element whose stable step is not known, the first of several."""

@final
class Linearization:
    """The derivatives of all forces about one state.

    Rows and columns are six for each body and one for each coordinate; ``names`` lists them. The motion of a body is measured
    by a twist in ground at its origin: rotation [rad], displacement [m]. Forces change by
    ``stiffness @ motion + damping @ velocity``; a spring has a negative stiffness.
    """
    @property
    def names(self) -> list[str]:
        """The names of rows and columns: of body ``b`` ``b.qx`` to ``b.pz``, then those of coordinates."""
    @property
    def variable_names(self) -> list[str]:
        """The names of all variables, in the order of vectors of variables: the keys of the state. Flags, energy accounts
        and the remembered path of a cable have derivatives of zero. Those by the entries of a rotation matrix ``R`` are meaningful
        only together: a turn of the frame changes ``R`` by the cross product matrix of the turn times ``R``.
        """
    @property
    def stiffness(self) -> _Floats:
        """The derivatives of forces by position [N/m, N/rad, N m/m, N m/rad]."""
    @property
    def damping(self) -> _Floats:
        """The derivatives of forces by velocity [N s/m, N s/rad, N m s/m, N m s/rad]."""
    def triplets(self) -> tuple[NDArray[np.uintp], NDArray[np.uintp], _Floats, _Floats]:
        """Rows, columns, and the numbers of stiffness and damping in these places, element by element; those in one place add up."""
    def row_of(self, body: Body) -> int | None:
        """The first row of a body, or ``None`` for ground."""
    def jvp(
        self,
        motion: ArrayLike | None = None,
        velocity: ArrayLike | None = None,
        variables: ArrayLike | Mapping[str, _Number] | None = None,
    ) -> tuple[_Floats, _Floats | None]:
        """The change of all forces for a change of positions, velocities and variables (an array, or some by name), and with
        ``variables`` that of all variables after the next ``accept``; in place of continuous variables that of their rates.
        """
    def vjp(
        self, forces: ArrayLike | None = None, next: ArrayLike | Mapping[str, _Number] | None = None
    ) -> tuple[list[_Floats], _Floats | None]:
        """The transpose of ``jvp``: gradients by positions, velocities and, with ``variables``, by variables, from those by forces
        and by the variables after the next ``accept``.
        """
