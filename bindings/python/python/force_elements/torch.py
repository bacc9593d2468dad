"""Forces and what elements remember as functions for PyTorch, with exact derivatives in both directions, under vmap.

A :class:`Step` is a pure function of tensors in main memory, of double precision.
"""

from typing import Any

import numpy as np
import torch

from ._core import System
from ._function import Function

__all__ = ["Step"]


class Step:
    """An evaluation and its commit: ``wrenches, coordinate_forces, after = step(variables, poses, velocities)``.

    ``variables`` (..., v) are those of ``State.values()``, time first, among them parameters and what elements remember, and
    ``after`` is what they are after the commit: the ``variables`` of the next step, once its time has been set. ``poses`` are
    (..., bodies, 4, 4) or (..., bodies, 7), ``velocities`` (..., bodies, 6), ``coordinates`` and ``coordinate_rates``
    (..., coordinates); leading axes are worlds, run on ``threads`` threads, by default on all cores. ``wrenches`` (..., bodies, 6)
    are torques and forces at the origins of bodies, in ground.

    It can be differentiated once by all of them, forwards and backwards; flags, energy accounts and the remembered path of a cable
    have derivatives of zero.
    Gradients by the entries of a pose are those along motions: of what moves it off the rotations there is none.

    A step can be pickled with its system, as long as nothing is added to that or removed.
    """

    def __init__(self, system: System, *, threads: int | None = None) -> None:
        self._function = Function(system, threads)

    def __reduce__(self) -> tuple[Any, ...]:
        return self._function.reduced(Step)

    def variables(self) -> torch.Tensor:
        """The variables of the default state of the system."""
        return torch.tensor(self._function.start)

    def __call__(
        self,
        variables: torch.Tensor,
        poses: torch.Tensor,
        velocities: torch.Tensor,
        coordinates: torch.Tensor | None = None,
        coordinate_rates: torch.Tensor | None = None,
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        given = {
            "variables": variables,
            "poses": poses,
            "velocities": velocities,
            "coordinates": coordinates,
            "coordinate_rates": coordinate_rates,
        }
        for name, tensor in given.items():
            if tensor is not None and not (isinstance(tensor, torch.Tensor) and tensor.dtype is torch.float64):
                raise TypeError(f"{name} must be a tensor of torch.float64, not {getattr(tensor, 'dtype', type(tensor).__name__)}")
        none = variables.new_zeros((*variables.shape[:-1], self._function.coordinates))
        coordinates = none if coordinates is None else coordinates
        coordinate_rates = none if coordinate_rates is None else coordinate_rates
        inputs = (variables, poses, velocities, coordinates, coordinate_rates)
        self._function.check([tuple(tensor.shape) for tensor in inputs])
        wrenches, forces, after = _Evaluate.apply(self._function, *inputs)
        return wrenches, forces, after


INPUTS = 5


def _arrays(tensors: Any) -> list[Any]:
    return [tensor.detach().numpy() for tensor in tensors]


def _tensors(arrays: Any) -> tuple[torch.Tensor, ...]:
    return tuple(torch.from_numpy(np.ascontiguousarray(array)) for array in arrays)


def _vmap(of: Any, info: Any, axes: Any, function: Function, tensors: Any) -> Any:
    moved = [
        tensor.expand(info.batch_size, *tensor.shape) if axis is None else tensor.movedim(axis, 0)
        for tensor, axis in zip(tensors, axes[1:])
    ]
    outputs = of.apply(function, *moved)
    return outputs, tuple(0 for _ in outputs)


class _Evaluate(torch.autograd.Function):
    @staticmethod
    def forward(function: Function, *inputs: torch.Tensor) -> Any:
        return _tensors(function.evaluate(_arrays(inputs)))

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.function, *tensors = inputs
        ctx.save_for_backward(*tensors)
        ctx.save_for_forward(*tensors)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return None, *_MultiplyTranspose.apply(ctx.function, *ctx.saved_tensors, *gradients)

    @staticmethod
    def jvp(ctx: Any, _: Any, *rates: Any) -> Any:
        inputs = ctx.saved_tensors
        given = (torch.zeros_like(of) if rate is None else rate for rate, of in zip(rates, inputs))
        return _Multiply.apply(ctx.function, *inputs, *given)

    @staticmethod
    def vmap(info: Any, axes: Any, function: Function, *inputs: Any) -> Any:
        return _vmap(_Evaluate, info, axes, function, inputs)


class _Product(torch.autograd.Function):
    """A product, which is not differentiated again."""

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        raise NotImplementedError("second derivatives are not known")

    @staticmethod
    def jvp(ctx: Any, *rates: Any) -> Any:
        raise NotImplementedError("second derivatives are not known")


class _Multiply(_Product):
    @staticmethod
    def forward(function: Function, *tensors: torch.Tensor) -> Any:
        arrays = _arrays(tensors)
        return _tensors(function.jvp(arrays[:INPUTS], arrays[INPUTS:]))

    @staticmethod
    def vmap(info: Any, axes: Any, function: Function, *tensors: Any) -> Any:
        return _vmap(_Multiply, info, axes, function, tensors)


class _MultiplyTranspose(_Product):
    @staticmethod
    def forward(function: Function, *tensors: torch.Tensor) -> Any:
        arrays = _arrays(tensors)
        return _tensors(function.vjp(arrays[:INPUTS], arrays[INPUTS:]))

    @staticmethod
    def vmap(info: Any, axes: Any, function: Function, *tensors: Any) -> Any:
        return _vmap(_MultiplyTranspose, info, axes, function, tensors)
