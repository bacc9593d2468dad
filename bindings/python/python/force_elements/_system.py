"""``System``, whose methods list the parameters of the elements from the library's own table."""

import functools
import inspect
import textwrap
from collections.abc import Callable
from typing import Any, final

from . import _core
from ._described import DESCRIBED


@final
class System(_core.System):
    """Bodies, coordinates and elements.

    A system is pickled as the calls that add what it has. It takes no attributes and has no subclasses, since these would not be
    pickled: keep it in an object of your own. After something has been added or removed, earlier states are not evaluated until
    ``State.carry_over`` brings them up to date. What is added takes the first place that is free. A ``Body``,
    ``Coordinate`` or ``Element`` that was removed, or belongs to another system, is refused by the system and its states.
    """

    __slots__ = ("__weakref__",)

    def __init_subclass__(cls) -> None:
        raise TypeError("System has no subclasses: keep a system as an attribute of your class")


def fields(kind: str) -> dict[str, list[tuple[str, Any, str]]]:
    """The parameters of a kind of element, each with its components: name, default and unit."""
    fields: dict[str, list[tuple[str, Any, str]]] = {}
    for name, (default, unit) in _core.parameters(kind).items():
        fields.setdefault(name.split(".")[0], []).append((name, default, unit))
    return fields


def documentation(kind: str) -> str:
    """The law of a kind of element, and a line for each parameter and result."""
    lines = []
    law, described, results = DESCRIBED[kind]
    for field, components in fields(kind).items():
        units = dict.fromkeys(unit for _, _, unit in components if unit not in ("", "1"))
        defaults = dict.fromkeys(default for _, default, _ in components)
        of = "" if len(components) == 1 else f" of {len(components)} numbers"
        unit = f" [{', '.join(units)}]" if units else ""
        text, bounds = described[field]
        bounded = f", {bounds}" if bounds else ""
        lines.append(f"    {field}{of}{unit}, by default {', '.join(map(str, defaults))}{bounded}")
        lines += _wrapped(text)
    lines += ["", "Results, of an evaluated state:", ""]
    for field, (parts, unit, text) in results.items():
        lines.append(f"    {field}{f': {parts}' if parts else ''}{f' [{unit}]' if unit else ''}")
        lines += _wrapped(text)
    return f"Law:\n\n{law}\n\nParameters:\n\n" + "\n".join(lines)


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, 120, initial_indent=8 * " ", subsequent_indent=8 * " ", break_on_hyphens=False)


def _listing(kind: str) -> Callable[..., Any]:
    method = getattr(_core.System, f"add_{kind}")
    signature = inspect.signature(method)
    own = [parameter for parameter in signature.parameters.values() if parameter.kind is not parameter.VAR_KEYWORD]
    given = [
        inspect.Parameter(field, inspect.Parameter.KEYWORD_ONLY, default=components[0][1])
        for field, components in fields(kind).items()
    ]

    @functools.wraps(method)
    def add(self: System, *arguments: Any, **keywords: Any) -> _core.Element:
        element: _core.Element = method(self, *arguments, **keywords)
        return element

    setattr(add, "__signature__", signature.replace(parameters=own + given))
    add.__doc__ = f"{method.__doc__}\n\n{documentation(kind)}"
    return add


KINDS = tuple(name.removeprefix("add_") for name in vars(_core.System) if name.startswith("add_"))

for _kind in KINDS:
    if _kind not in ("body", "coordinate"):
        setattr(System, f"add_{_kind}", _listing(_kind))
System.__module__ = "force_elements"
