"""Exceptions of the package, with the texts of the library."""

from collections.abc import Sequence


class Error(Exception):
    """Base of all exceptions of this package.

    In an operation on a batch, ``worlds`` are the indices of all worlds that failed, in order, and ``world`` is the first of them,
    whose error this is.
    """

    def __init__(self, text: str, worlds: Sequence[int] = ()) -> None:
        super().__init__(text)
        self.worlds = list(worlds)

    @property
    def world(self) -> int | None:
        return self.worlds[0] if self.worlds else None


class InvalidValueError(Error, ValueError):
    """A number is out of its range."""


class NoSuchNameError(Error, KeyError):
    """There is no variable, result, body, coordinate or element of this name."""

    __str__ = Exception.__str__


class ElementError(Error):
    """An element, a shape or the path of a cable was refused, or could not be evaluated."""


class StageError(Error):
    """The state has not been evaluated since something changed."""


class StepError(Error):
    """A step of the host is too long for the forces; it was not accepted."""


class TopologyError(Error):
    """A state is not up to date with its system, or belongs to another."""


class LayoutError(Error):
    """What was saved is damaged, or of a system with other variables."""
