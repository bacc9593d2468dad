"""Derivatives of batches, and of whole runs through stick and slip."""

import gc
import pickle
from typing import Any

import numpy as np
import pytest
import throw as scene
from scenes import everything, motion
from throw import INPUTS, STEP, STEPS

import force_elements as fe

WORLDS = 40
# The adjoint and this oracle round differently in each of a thousand steps: of the sums of roundings 1e-16 that a run of contact
# amplifies about a thousandfold.
TOLERANCE = 1e-9
# Of records, which have ten digits.
DIGITS = 1e-9


@pytest.fixture(scope="module")
def expected() -> dict[str, float]:
    """The derivatives step by step, which are those of the library's own rollout."""
    expected, record = scene.by_steps(scene.throw()), scene.record()
    assert record.keys() == set(INPUTS)
    assert_close(expected, record, DIGITS)
    return expected


def assert_close(derivatives: dict[str, float], expected: dict[str, float], tolerance: float) -> None:
    for name in INPUTS:
        assert abs(derivatives[name] - expected[name]) <= tolerance * abs(expected[name]), name


def test_products_of_batches_have_the_bits_of_single_states() -> None:
    system = everything()
    moved, batch = motion(system, WORLDS), fe.Batch(system, WORLDS)
    batch.evaluate(**moved)
    states = []
    for world in range(WORLDS):
        state = batch.state(world)
        state.evaluate()
        states.append(state.linearize(variables=True, commit=True))
    m, v = len(states[0].names), len(batch.keys())
    assert batch.keys() == states[0].variable_names
    random = np.random.default_rng(7)
    dX, dV, dF = (random.normal(size=(WORLDS, m)) for _ in range(3))
    dp, after = (random.normal(size=(WORLDS, v)) for _ in range(2))
    forces, following = np.full((WORLDS, m), np.nan), np.full((WORLDS, v), np.nan)
    by_X, by_V, by_p = (np.full((WORLDS, width), np.nan) for width in (m, m, v))
    for threads_of in (batch, fe.Batch(system, WORLDS, threads=3)):
        threads_of.evaluate(**moved)
        threads_of.jvp(motion=dX, velocity=dV, variables=dp, forces=forces, next=following)
        threads_of.vjp(forces=dF, next=after, motion=by_X, velocity=by_V, variables=by_p)
        for world, single in enumerate(states):
            one = single.jvp(dX[world], dV[world], dp[world])
            assert one[1] is not None
            assert np.array_equal(forces[world], one[0]) and np.array_equal(following[world], one[1])
            (of_X, of_V), of_p = single.vjp(dF[world], after[world])
            assert of_p is not None
            assert np.array_equal(by_X[world], of_X) and np.array_equal(by_V[world], of_V) and np.array_equal(by_p[world], of_p)
    # Some variables by name, and without the commit.
    one_stiffer = np.zeros(v)
    one_stiffer[batch.keys().index("linear_bushing[0].stiffness.pz")] = 2.0
    batch.jvp(variables={"mount.stiffness.pz": 2.0}, forces=forces)
    assert all(np.array_equal(forces[world], single.jvp(variables=one_stiffer)[0]) for world, single in enumerate(states))
    by_name = states[0].jvp(variables={"mount.stiffness.pz": 2.0})[0]
    assert np.array_equal(forces[0], by_name)
    batch.jvp(motion=dX, velocity=dV, forces=forces)
    assert all(np.allclose(forces[world], single.jvp(dX[world], dV[world])[0], rtol=1e-12) for world, single in enumerate(states))
    with pytest.raises(fe.NoSuchNameError, match="stif"):
        batch.jvp(variables={"mount.stif": 2.0}, forces=forces)
    with pytest.raises(fe.InvalidValueError, match="motion"):
        batch.jvp(motion=dX[:, 1:], forces=forces)
    with pytest.raises(fe.StageError):
        fe.Batch(system, 2).jvp(forces=forces[:2])
    with pytest.raises(fe.InvalidValueError, match="variables=True"):
        system_state = batch.state(0)
        system_state.evaluate()
        system_state.linearize().jvp(variables=dp[0])


@pytest.mark.parametrize("renew", ["carry_over", "reset", "set_state"])
def test_products_follow_a_change_of_the_system_with_as_many_variables(renew: str) -> None:
    system = fe.System()
    body = system.add_body()
    springs = [system.add_exponential_spring(fe.GROUND, body.station([x, 0, 0])) for x in (-0.1, 0.1)]
    batch, forces = fe.Batch(system, 2), np.empty((2, 6))
    following = np.empty((2, len(batch.keys())))
    batch.evaluate()
    batch.jvp(motion=np.ones((2, 6)), forces=forces, next=following)
    for spring in springs:
        system.remove_element(spring)
    system.add_linear_bushing(fe.GROUND, body, stiffness=[0, 0, 0, 1.0, 2.0, 3.0])
    system.add_hertz_contact(fe.GROUND, body.station([0, 0, 1.0]), 0.5, effective_modulus=1e6)
    if renew == "carry_over":
        batch.carry_over()
    elif renew == "reset":
        batch.reset([True, True])
    else:
        for world in range(2):
            batch.set_state(world, system.state())
    assert following.shape == (2, len(batch.keys()))
    batch.evaluate()
    batch.jvp(motion=np.eye(6)[[3, 5]], forces=forces, next=following)
    assert np.allclose(forces, [[0, 0, 0, -1.0, 0, 0], [0, 0, 0, 0, 0, -3.0]])


def test_products_are_those_of_the_forces_returned_where_a_commit_switches() -> None:
    from force_elements._function import Function

    system = fe.System()
    slider, brake, body = system.add_coordinate(), system.add_coordinate(), system.add_body()
    system.add_coordinate_spring_damper_ext(
        slider, stiffness=300.0, use_limit_stops=True, limit_stops_upper=0.05, limit_stops_lower=-1.0, limit_stops_upper_stiffness=1e4
    )
    system.add_coordinate_spring_damper_ext(brake, sticking_stiffness=1e4, dynamic_friction_coefficient=0.4, friction_load=5.0)
    system.add_exponential_spring(fe.GROUND, body.station([0, 0, 0]), mu_static=0.6, mu_kinetic=0.5)
    function = Function(system)
    # The stop is struck, the bristles slip, and the anchor lets go.
    poses, velocities = np.array([[0.04, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]]), np.array([[0.0, 0.0, 0.0, 5e-4, 0.0, 0.0]])
    inputs = [function.start, poses, velocities, np.array([0.06, 1e-3]), np.array([0.2, 0.1])]
    state = system.state()
    state.poses = np.array([[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]])
    state.evaluate()
    state.reset_memory()
    inputs[0] = state.values()
    *_, after = function.evaluate(inputs)
    assert np.count_nonzero(after != inputs[0]) >= 3
    for place, numbers in ((1, 3), (3, 2), (4, 2)):
        for number in range(numbers):
            rates = [np.zeros_like(array) for array in inputs]
            rates[place].reshape(-1)[number] = 1.0
            there, here = (function.evaluate([a + s * r for a, r in zip(inputs, rates)])[:2] for s in (1e-7, -1e-7))
            for product, a, b in zip(function.jvp(inputs, rates), there, here):
                # Differences over 2e-7 of forces of up to some kilonewtons.
                assert np.abs(product - (a - b) / 2e-7).max() < 1e-4 * (1.0 + np.abs(product).max())


def test_values_restore_all_worlds() -> None:
    system = everything()
    batch = fe.Batch(system, 3)
    batch.step(time=0.5, **motion(system, 3))
    values = batch.values()
    assert np.array_equal(values[1], batch.state(1).values())
    again = fe.Batch(system, 3)
    again.set_values(values)
    assert [again.state(world).to_bytes() for world in range(3)] == [batch.state(world).to_bytes() for world in range(3)]
    with pytest.raises(fe.InvalidValueError, match="values"):
        again.set_values(values[:, 1:])
    with pytest.raises(fe.InvalidValueError, match="values"):
        system.state().set_values(values[0, 1:])
    flag = batch.keys().index("exponential_spring[0].account_open")
    for no_flag in (0.5, np.nan):
        values[:, flag] = no_flag
        with pytest.raises(fe.InvalidValueError, match=r"world 0: the flag .*account_open.* must be 0 or 1"):
            again.set_values(values)
        with pytest.raises(fe.InvalidValueError, match="the flag .*account_open"):
            again.state(0).set_values(values[0])


def test_the_gradient_of_a_throw_is_that_of_differences(expected: dict[str, float]) -> None:
    # Of the way a run branches: steps so small that no branch changes, and a roundoff of 1e-15 m beside them.
    thrown = scene.throw()
    for name, step in (("velocity along x", 1e-6), ("mu_kinetic", 1e-6)):
        ends = []
        for sign in (-1.0, 1.0):
            velocity, variables = thrown.velocity.copy(), thrown.variables.copy()
            if name == "mu_kinetic":
                variables[thrown.places(name)] += sign * step
            else:
                velocity[3] += sign * step
            ends.append(scene.final_x(thrown, velocity, scene.MASS, variables))
        assert abs((ends[1] - ends[0]) / (2.0 * step) - expected[name]) < 1e-6 * abs(expected[name])


def test_a_throw_in_jax(expected: dict[str, float]) -> None:
    import jax
    import jax.numpy as jnp

    from force_elements.jax import Step

    jax.config.update("jax_enable_x64", True)
    thrown = scene.throw()
    step = Step(thrown.system)

    def after(pose: Any, velocity: Any, wrench: Any, mass: Any) -> Any:
        change = jnp.concatenate([wrench[:3] / (mass * scene.GYRATION), wrench[3:] / mass - jnp.array([0.0, 0.0, scene.GRAVITY])])
        velocity = velocity + STEP * change
        x, y, z = STEP * velocity[:3]
        first, second = scene.turn_factors(jnp, x * x + y * y + z * z)
        cross = jnp.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        rotation = (jnp.eye(3) + first * cross + second * cross @ cross) @ pose[:3, :3]
        top = jnp.concatenate([rotation, (pose[:3, 3] + STEP * velocity[3:])[:, None]], 1)
        return jnp.concatenate([top, pose[3:]]), velocity

    def final_x(velocity: Any, mass: Any, variables: Any) -> Any:
        def one(carried: Any, time: Any) -> Any:
            pose, velocity, variables = carried
            wrenches, _, following = step(variables.at[0].set(time), pose[None], velocity[None])
            return (*after(pose, velocity, wrenches[0], mass), following), None

        start = (jnp.array(thrown.pose), velocity, variables)
        (pose, _, _), _ = jax.lax.scan(one, start, STEP * jnp.arange(STEPS))
        return pose[0, 3]

    at = (jnp.array(thrown.velocity), scene.MASS, jnp.array(thrown.variables))
    assert float(jax.jit(final_x)(*at)) == pytest.approx(scene.final_x(thrown, thrown.velocity, scene.MASS, thrown.variables), abs=1e-12)
    gradient = jax.jit(jax.grad(final_x, argnums=(0, 1, 2)))(*at)
    assert_close(scene.named(thrown, *gradient), expected, TOLERANCE)
    # Forwards, of two worlds at once, along the velocities in x and y.
    along = jnp.zeros((2, 6)).at[0, 3].set(1.0).at[1, 4].set(1.0)
    none = jnp.zeros(len(thrown.variables))
    forwards = jax.jit(jax.vmap(lambda rate: jax.jvp(final_x, at, (rate, 0.0, none))[1]))(along)
    for rate, name in zip(forwards, INPUTS):
        assert abs(float(rate) - expected[name]) < TOLERANCE * abs(expected[name])


def test_jax_maps_worlds_and_transforms() -> None:
    import jax
    import jax.numpy as jnp

    from force_elements.jax import Step

    jax.config.update("jax_enable_x64", True)
    system = everything()
    step, moved = Step(system, threads=2), motion(system, WORLDS)
    variables = jnp.tile(step.variables(), (WORLDS, 1))
    inputs = [variables, *(jnp.array(moved[name]) for name in ("poses", "velocities", "coordinates", "coordinate_rates"))]

    def size(*inputs: Any) -> Any:
        wrenches, forces, after = step(*inputs)
        return jnp.sum(wrenches**2) + jnp.sum(forces**2) + jnp.sum(jnp.sin(after))

    # By worlds of a batch, mapped, and one by one.
    every = tuple(range(5))
    together = jax.jit(jax.grad(size, argnums=every))(*inputs)
    mapped = jax.vmap(jax.jit(jax.grad(size, argnums=every)))(*inputs)
    shared = jax.vmap(jax.grad(size, argnums=every), in_axes=(None, 0, 0, 0, 0))(inputs[0][0], *inputs[1:])
    single = jax.grad(size, argnums=every)(*(array[3] for array in inputs))
    for a, b, c, d in zip(together, mapped, shared, single):
        assert np.array_equal(a, b) and np.array_equal(a, c) and np.array_equal(a[3], d)
    # Quaternions: differences along each number, of which those along the quaternion itself change nothing.
    rate = np.random.default_rng(1).normal(size=(1, 7))
    poses, distance = inputs[1][3], 1e-7
    either = [size(inputs[0][3], poses + sign * distance * rate, *(array[3] for array in inputs[2:])) for sign in (-1.0, 1.0)]
    along = float(jnp.sum(single[1] * rate))
    assert abs(float(either[1] - either[0]) / (2.0 * distance) - along) < 1e-5 * abs(along)
    with pytest.raises(ValueError, match="velocities"):
        step(variables[0], poses, jnp.zeros((2, 6)))
    # The rows of what was removed stay.
    before = step(*inputs)
    system.remove_body(system.add_body())
    system.remove_coordinate(system.add_coordinate())
    padded = [inputs[0], *(jnp.concatenate([array, array[:, :1]], 1) for array in inputs[1:])]
    after = Step(system)(*padded)
    assert all(np.array_equal(a[:, : b.shape[1]], b) for a, b in zip(after, before))
    assert not after[0][:, -1].any() and not after[1][:, -1].any()


def test_the_worlds_of_a_step_in_jax_are_freed_with_it() -> None:
    import jax
    import jax.numpy as jnp

    from force_elements.jax import Step

    def used(transform: Any) -> Any:
        step, moved = Step(system), motion(system, 3)
        inputs = [jnp.tile(step.variables(), (3, 1)), *(jnp.array(of) for of in moved.values())]
        transform(lambda *inputs: jnp.sum(step(*inputs)[0]))(*inputs)
        function = step._function
        assert function._batch is not None
        return function

    system = everything()
    for transform in (lambda of: of, jax.grad, jax.jit, lambda of: jax.jit(jax.grad(of))):
        function = used(transform)
        gc.collect()
        assert function._batch is None
    # What was compiled works after its step is gone.
    outlived = []

    def late(variables: Any, *moved: Any) -> Any:
        outlived.append(step := Step(system))
        return step(variables, *moved)[0]

    moved = motion(system, 1)
    inputs = [system.state().values()[None], *moved.values()]
    compiled = jax.jit(late)
    before = compiled(*inputs)
    outlived.clear()
    gc.collect()
    assert np.array_equal(compiled(*inputs), before)


@pytest.mark.parametrize("package", ["jax", "torch"])
@pytest.mark.parametrize("is_used", [True, False])
def test_a_step_of_a_system_that_was_changed_is_to_be_made_anew(package: str, is_used: bool) -> None:
    module = pytest.importorskip(f"force_elements.{package}")
    system = everything()
    step, moved = module.Step(system), motion(system, 1)
    if package == "torch":
        import torch

        inputs = [step.variables(), *(torch.tensor(of[0]) for of in moved.values())]
    else:
        inputs = [step.variables(), *(of[0] for of in moved.values())]
    if is_used:
        step(*inputs)
    # A pickle is a step of an equal system.
    there = pickle.loads(pickle.dumps(step))
    assert all(np.array_equal(a, b) for a, b in zip(step(*inputs), there(*inputs)))
    # In the place of another, with the same variables; and with other shapes.
    system.remove_element(system.element("mount"))
    for change in (lambda: system.add_linear_bushing(fe.GROUND, system.body("cube")), system.add_body):
        change()
        for refused in (lambda: step(*inputs), lambda: pickle.dumps(step)):
            with pytest.raises(fe.TopologyError, match=r"make a new Step\(system\)"):
                refused()


def test_errors_of_a_step_in_jax_are_those_of_the_package() -> None:
    import jax
    import jax.numpy as jnp

    from force_elements.jax import Step

    system = everything()
    step, moved = Step(system), motion(system, 2)
    inputs = [jnp.tile(step.variables(), (2, 1)), *(jnp.array(of) for of in moved.values())]
    inputs[1] = inputs[1].at[1, 0, 0].set(jnp.nan)

    def size(*inputs: Any) -> Any:
        return jnp.sum(step(*inputs)[0])

    for of in (size, jax.grad(size), jax.vmap(lambda *inputs: jnp.sum(step(*inputs)[0]))):
        with pytest.raises(fe.InvalidValueError, match="world 1: pose") as caught:
            of(*inputs)
        assert caught.value.worlds == [1]
    with pytest.raises(jax.errors.JaxRuntimeError, match="InvalidValueError: world 1: pose"):
        jax.jit(size)(*inputs)


@pytest.mark.parametrize("filling", [0.0, np.nan])
@pytest.mark.parametrize("pose", [np.eye(7)[3], np.eye(4)])
def test_what_stands_in_the_row_of_a_removed_body_has_no_gradient(filling: float, pose: Any) -> None:
    import jax
    import jax.numpy as jnp

    from force_elements.jax import Step

    system = fe.System()
    removed, body = system.add_body(), system.add_body()
    system.add_linear_bushing(fe.GROUND, body.frame([0.1, 0, 0]), stiffness=100.0)
    system.remove_body(removed)
    step = Step(system)
    poses = jnp.array([np.full_like(pose, filling), pose])
    rest = jnp.zeros((2, 6))
    gradient = jax.grad(lambda poses: jnp.sum(step(step.variables(), poses, rest)[0]))(poses)
    assert np.isfinite(gradient).all() and not gradient[0].any() and gradient[1].any()
    _, rates = jax.jvp(lambda poses: step(step.variables(), poses, rest)[0], (poses,), (jnp.ones_like(poses),))
    assert np.isfinite(rates).all() and not rates[0].any() and rates[1].any()


def test_second_derivatives_in_jax_are_refused() -> None:
    import jax
    import jax.numpy as jnp

    from force_elements.jax import Step

    system = everything()
    step, moved = Step(system), motion(system, 1)
    inputs = [step.variables(), *(jnp.array(of[0]) for of in moved.values())]

    def size(*inputs: Any) -> Any:
        return jnp.sum(step(*inputs)[0] ** 2)

    for twice in (jax.hessian(size), jax.jacfwd(jax.grad(size)), jax.jit(jax.hessian(size))):
        with pytest.raises(NotImplementedError, match="second derivatives are not known"):
            twice(*inputs)


def test_a_throw_in_torch(expected: dict[str, float]) -> None:
    torch: Any = pytest.importorskip("torch")
    from force_elements.torch import Step

    thrown = scene.throw()
    step = Step(thrown.system)

    def after(pose: Any, velocity: Any, wrench: Any, mass: Any) -> Any:
        change = torch.cat([wrench[:3] / (mass * scene.GYRATION), wrench[3:] / mass - torch.tensor([0.0, 0.0, scene.GRAVITY])])
        velocity = velocity + STEP * change
        x, y, z = STEP * velocity[:3]
        zero = torch.zeros_like(x)
        first, second = scene.turn_factors(torch, x * x + y * y + z * z)
        cross = torch.stack([zero, -z, y, z, zero, -x, -y, x, zero]).reshape(3, 3)
        rotation = (torch.eye(3) + first * cross + second * cross @ cross) @ pose[:3, :3]
        top = torch.cat([rotation, (pose[:3, 3] + STEP * velocity[3:])[:, None]], 1)
        return torch.cat([top, pose[3:]]), velocity

    def final_x(velocity: Any, mass: Any, variables: Any) -> Any:
        pose = torch.tensor(thrown.pose)
        for number in range(STEPS):
            time = torch.tensor([number * STEP])
            wrenches, _, variables = step(torch.cat([time, variables[1:]]), pose[None], velocity[None])
            pose, velocity = after(pose, velocity, wrenches[0], mass)
        return pose[0, 3]

    torch.set_default_dtype(torch.float64)
    at = [torch.tensor(value, requires_grad=True) for value in (thrown.velocity, scene.MASS, thrown.variables)]
    final_x(*at).backward()
    assert_close(scene.named(thrown, *(of.grad for of in at)), expected, TOLERANCE)


def test_torch_maps_worlds_and_transforms() -> None:
    torch: Any = pytest.importorskip("torch")
    from force_elements.torch import Step

    torch.set_default_dtype(torch.float64)
    system = everything()
    step, moved = Step(system), motion(system, WORLDS)
    variables = step.variables().repeat(WORLDS, 1)
    inputs = [variables, *(torch.tensor(moved[name]) for name in ("poses", "velocities", "coordinates", "coordinate_rates"))]

    def size(*inputs: Any) -> Any:
        wrenches, forces, after = step(*inputs)
        return (wrenches**2).sum() + (forces**2).sum() + after.sin().sum()

    every = tuple(range(5))
    for wrong in (inputs[1].float(), inputs[1].numpy()):
        with pytest.raises(TypeError, match="poses must be a tensor of torch.float64, not "):
            step(inputs[0], wrong, *inputs[2:])
    together = torch.func.grad(size, argnums=every)(*inputs)
    mapped = torch.func.vmap(torch.func.grad(size, argnums=every))(*inputs)
    for a, b in zip(together, mapped):
        assert torch.equal(a, b)
    rates = [torch.randn(of.shape, generator=torch.Generator().manual_seed(5)) for of in inputs]
    _, forwards = torch.func.jvp(size, tuple(inputs), tuple(rates))
    backwards = sum((by * rate).sum() for by, rate in zip(together, rates))
    assert abs(forwards - backwards) < 1e-9 * abs(forwards)
