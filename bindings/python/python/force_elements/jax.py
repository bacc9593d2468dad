"""Forces and what elements remember as functions for JAX, with exact derivatives in both directions, under jit and vmap.

A :class:`Step` is a pure function of arrays. It runs on the host, under ``jit`` by a callback. With ``jax.config.update("jax_enable_x64", True)``
it has the numbers of the library; without, JAX rounds them to single precision, in which products of rotation matrices are no poses
after some steps: normalise them, or keep quaternions.
"""

import weakref
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir
from jax.typing import ArrayLike

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

    In JAX's default precision inputs are rounded to seven digits: cables find their paths to a smoothness of 1e-7 at best, not to the
    default of 1e-9, and may be refused. ``jax.config.update("jax_enable_x64", True)`` avoids that.

    Errors are those of the package. Under ``jit``, ``scan`` and the like JAX raises a ``jax.errors.JaxRuntimeError`` in their place, whose
    text ends with theirs: call the step without ``jit`` to have the error itself.

    A step can be pickled with its system, as long as nothing is added to that or removed. JAX's caches keep the system of a step
    that was compiled, until ``jax.clear_caches()``; its worlds are freed with the step.
    """

    def __init__(self, system: System, *, threads: int | None = None) -> None:
        self._function = Function(system, threads)
        # JAX's caches keep what was compiled, and the function with it, but not the step.
        weakref.finalize(self, self._function.release)
        self._call = jax.custom_jvp(partial(_primal, self._function))
        self._call.defjvp(partial(_jvp, self._function))

    def __reduce__(self) -> tuple[Any, ...]:
        return self._function.reduced(Step)

    def variables(self) -> jax.Array:
        """The variables of the default state of the system."""
        return jnp.asarray(self._function.start)

    def __call__(
        self,
        variables: ArrayLike,
        poses: ArrayLike,
        velocities: ArrayLike,
        coordinates: ArrayLike | None = None,
        coordinate_rates: ArrayLike | None = None,
    ) -> tuple[jax.Array, jax.Array, jax.Array]:
        worlds = jnp.shape(variables)[:-1]
        none = jnp.zeros((*worlds, self._function.coordinates))
        coordinates = none if coordinates is None else coordinates
        coordinate_rates = none if coordinate_rates is None else coordinate_rates
        inputs = [jnp.asarray(array, dtype=float) for array in (variables, poses, velocities, coordinates, coordinate_rates)]
        self._function.check([array.shape for array in inputs])
        wrenches, forces, after = self._call(*inputs)
        return wrenches, forces, after


def _primal(function: Function, *inputs: Any) -> tuple[Any, ...]:
    return tuple(_evaluate.bind(*inputs, function=function))


def _jvp(function: Function, inputs: tuple[Any, ...], rates: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    return _primal(function, *inputs), tuple(_multiply.bind(*inputs, *rates, function=function))


INPUTS = 5


def _primitive(name: str, run: Any, shapes: Any) -> Primitive:
    """A primitive that calls the host with arrays whose leading axes are worlds."""
    primitive = Primitive(name)
    primitive.multiple_results = True

    def host(*arrays: Any, function: Function) -> tuple[Any, ...]:
        return tuple(np.asarray(array, dtype=arrays[0].dtype) for array in run(function, arrays))

    def direct(*arrays: Any, function: Function) -> list[Any]:
        # Its errors are those of the library, where XLA raises another one for those of a callback.
        return [jnp.asarray(array) for array in host(*arrays, function=function)]

    def call(*arrays: Any, function: Function) -> Any:
        types = [jax.ShapeDtypeStruct(shape, arrays[0].dtype) for shape in shapes(function, arrays)]
        return jax.pure_callback(partial(host, function=function), types, *arrays)

    def abstract(*arrays: Any, function: Function) -> Any:
        return [jax.core.ShapedArray(shape, arrays[0].dtype) for shape in shapes(function, arrays)]

    def batch(arrays: Any, axes: Any, *, function: Function) -> Any:
        [count] = {array.shape[axis] for array, axis in zip(arrays, axes) if axis is not None}
        moved = [
            jnp.broadcast_to(array, (count, *array.shape)) if axis is None else jnp.moveaxis(array, axis, 0)
            for array, axis in zip(arrays, axes)
        ]
        results = primitive.bind(*moved, function=function)
        return results, [0] * len(results)

    def twice(*_: Any, **__: Any) -> Any:
        raise NotImplementedError("second derivatives are not known")

    primitive.def_impl(direct)
    primitive.def_abstract_eval(abstract)
    ad.primitive_jvps[primitive] = twice
    mlir.register_lowering(primitive, mlir.lower_fun(call, multiple_results=True))
    batching.primitive_batchers[primitive] = batch
    return primitive


def _output_shapes(function: Function, arrays: Any) -> Any:
    return function.outputs(arrays[0].shape[:-1])


_evaluate = _primitive("force_elements_evaluate", Function.evaluate, _output_shapes)
_multiply = _primitive(
    "force_elements_multiply",
    lambda function, arrays: function.jvp(arrays[:INPUTS], arrays[INPUTS:]),
    _output_shapes,
)
_multiply_transpose = _primitive(
    "force_elements_multiply_transpose",
    lambda function, arrays: function.vjp(arrays[:INPUTS], arrays[INPUTS:]),
    lambda function, arrays: [array.shape for array in arrays[:INPUTS]],
)


def _transpose(gradients: Any, *arrays: Any, function: Function) -> Any:
    inputs = arrays[:INPUTS]
    shapes = function.outputs(inputs[0].shape[:-1])
    given = [
        jnp.zeros(shape, inputs[0].dtype) if isinstance(gradient, ad.Zero) else gradient
        for gradient, shape in zip(gradients, shapes)
    ]
    by = _multiply_transpose.bind(*inputs, *given, function=function)
    wanted = [gradient if ad.is_undefined_primal(rate) else None for gradient, rate in zip(by, arrays[INPUTS:])]
    return [None] * INPUTS + wanted


ad.primitive_transposes[_multiply] = _transpose
