"""The faults themselves."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from pyweanj.verify.controls import problems, small
from pyweanj.verify.controls.changes import CHANGES, SPECIAL, Change, noise, sum_is, where
from pyweanj.verify.controls.model import Held, Implementation, Problem

__all__ = [
    "accumulating",
    "colour_missing",
    "colour_missing_too",
    "conjugate",
    "float32_inside",
    "float32_returned",
    "inputs_changed",
    "kink_one",
    "kink_zero",
    "one_sweep_more",
    "other_inputs",
    "other_order",
    "overwritten_once",
    "overwritten_thrice",
    "simple",
    "stochastic",
    "tf32_inside",
    "transposed_inputs",
    "unstructured",
    "wrong",
    "zero",
    "zero_too",
]

Built = tuple[Problem, Held]


def wrong(problem: Problem, change: Change, name: str = "") -> Built:
    """The right implementation with `change` applied to its gradient (of one array by name)."""
    return problem, problem.holding(_changed(problem, problem.first, change, name))


def simple() -> Iterator[tuple[str, Callable[[], Built], str, str]]:
    """Faults in the gradient alone: (name, build, diagnosis, what the text must say)."""
    for name, change, kind, text in CHANGES:
        yield name, lambda change=change: wrong(problems.sweeps(), change), kind, text
    for name, make, change, array, kind, text in SPECIAL:
        yield (
            name,
            lambda make=make, change=change, array=array: wrong(make(), change, array),
            kind,
            text,
        )
    for name, source, kind, text in (
        ("another order, gradient alone", "order", "order", "red-black"),
        ("K + 1 in the adjoint alone", "more", "sweeps", "K = 6"),
        ("K − 1 in the adjoint alone", "fewer", "sweeps", "K = 4"),
        ("gradient for uobs", "uobs", "argument", "uobs"),
        ("theta returned", "theta", "input", "theta itself"),
        ("shadow started at theta", "added", "input", "added to the input theta"),
        ("arrays exchanged", "exchanged", "argument", "x: the gradient with respect to y"),
    ):
        yield name, lambda source=source: _from(source), kind, text


def other_order() -> Built:
    """A red-black sweep where a lexicographic one was asked for."""
    problem = problems.sweeps()
    return problem, problem.holding(problems.sweeps(order="red-black").first)


def one_sweep_more() -> Built:
    """K + 1 sweeps, in loss and gradient."""
    problem = problems.sweeps()
    return problem, problem.holding(problems.sweeps(K=problem.K + 1).first)


def float32_inside() -> Built:
    """Everything in float32, widened at the end."""
    problem = problems.sweeps()
    narrow = problems.sweeps(dtype="float32").first
    down = lambda a: {k: v.astype(np.float32) for k, v in a.items()}  # noqa: E731
    implementation = Implementation(
        lambda a: float(narrow.loss(down(a))),
        lambda a: {k: v.astype(np.float64) for k, v in narrow.gradient(down(a)).items()},
    )
    return problem, problem.holding(implementation)


def float32_returned() -> Built:
    """The gradient is returned as float32."""
    return wrong(problems.sweeps(), lambda g: g.astype(np.float32))


def tf32_inside() -> Built:
    """Intermediate values keep 10 bits, as in TF32: the gradient moves like noise."""
    problem = problems.sweeps((24, 18), dtype="float32")
    rng = np.random.default_rng(4)

    def change(g: np.ndarray) -> np.ndarray:
        noise = rng.uniform(-1, 1, g.shape) * 2.0**-11
        return (g * (1 + noise)).astype(np.float32)

    found = {k: change(v) for k, v in problem.first.gradient(problem.arrays).items()}
    return problem, problem.holding(replace(problem.first, gradient=lambda _: found))


def transposed_inputs() -> Built:
    """Inputs read with exchanged axes; the loss is blind to it, red-black and square."""
    problem = problems.sweeps((7, 7), order="red-black")
    turned = lambda a: {k: v.T.copy() for k, v in a.items()}  # noqa: E731
    right = problem.first
    implementation = Implementation(
        lambda a: right.loss(turned(a)), lambda a: right.gradient(turned(a))
    )
    return problem, problem.holding(implementation)


class _Otherwise(Held):
    """Holds other inputs than the problem's, and says so by its hashes."""


def other_inputs() -> Built:
    """One input differs in its last bit; the gradient is right for what it loaded."""
    problem = problems.sweeps()
    arrays = {k: v.copy() for k, v in problem.arrays.items()}
    arrays["theta"][2, 2] = np.nextafter(arrays["theta"][2, 2], 10)
    return problem, Held(problem, problem.first, arrays)


def inputs_changed() -> Built:
    """The gradient is right, and one input is overwritten on the way."""
    problem = problems.sweeps()

    def gradient(a: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        found = problem.first.gradient(a)
        a["uobs"][0, 0] += 1
        return found

    return problem, problem.holding(replace(problem.first, gradient=gradient))


def stochastic() -> Built:
    """One call in twenty loses a contribution."""
    problem = problems.sweeps()
    calls = itertools.count(1)

    def gradient(a: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        found = problem.first.gradient(a)
        if next(calls) % 20 == 0:
            found["theta"][1, 1] *= 0.7
        return found

    return problem, problem.holding(replace(problem.first, gradient=gradient))


def accumulating() -> Built:
    """The shadow is never zeroed."""
    problem = problems.sweeps()
    shadow = np.zeros_like(problem.arrays["theta"])

    def gradient(a: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        shadow[...] += problem.first.gradient(a)["theta"]
        return {"theta": shadow.copy()}

    return problem, problem.holding(replace(problem.first, gradient=gradient))


def overwritten_once() -> Built:
    """Reverse mode reads u[i+1] after it was overwritten; loss and forward mode are right."""
    return _stale(1)


def overwritten_thrice() -> Built:
    """The same after three sweeps."""
    return _stale(3)


def unstructured() -> Built:
    """Noise of 1e-2, where there is no forward mode to ask."""
    problem, held = wrong(problems.sweeps(), noise(1e-2))
    return problem, replace(held, implementation=replace(held.implementation, tangent=None))


def _stale(K: int) -> Built:
    problem = problems.overwritten(K=K)
    return problem, problem.holding(
        replace(problem.first, gradient=lambda a: small.overwritten_gradient(a, K, stale=True))
    )


def colour_missing() -> Built:
    """One colour's adjoint is missing."""
    return wrong(problems.sweeps(), where(sum_is(1), 0))


def colour_missing_too(problem: Problem) -> Held:
    """The same fault in an implementation of the other kind."""
    change = where(sum_is(1), 0)
    return problem.holding(_changed(problem, problem.second, change, ""))


def zero() -> Built:
    """A gradient of zeros."""
    return wrong(problems.sweeps(), lambda g: 0 * g)


def zero_too(problem: Problem) -> Held:
    """The same in an implementation of the other kind."""
    return problem.holding(_changed(problem, problem.second, lambda g: 0 * g, ""))


def kink_zero() -> Built:
    """Slope 0 for max(x, 0) at 0 where the other takes ½."""
    return _kink(0.0)


def kink_one() -> Built:
    """Slope 1 for max(x, 0) at 0 where the other takes ½."""
    return _kink(1.0)


def _kink(at_zero: float) -> Built:
    problem = problems.kinked()
    gradient = lambda a: small.kink_gradient(a, at_zero)  # noqa: E731
    tangent = lambda a, v: float(np.sum(gradient(a)["x"] * v["x"]))  # noqa: E731
    return problem, problem.holding(Implementation(problem.first.loss, gradient, tangent))


def conjugate() -> Built:
    """The conjugate of the direction of steepest ascent."""
    return wrong(problems.phases(), np.conj)


def _from(source: str) -> Built:
    if source == "exchanged":
        return _exchanged()
    problem = problems.sweeps()
    right = problem.first
    gradients = {
        "order": next(iter(problem.orders.values())),
        "more": problem.sweeps[problem.K + 1],
        "fewer": problem.sweeps[problem.K - 1],
        "uobs": lambda a: {"theta": problem.arguments["uobs"](a)["uobs"]},
        "theta": lambda a: {"theta": a["theta"].copy()},
        "added": lambda a: {"theta": right.gradient(a)["theta"] + a["theta"]},
    }
    return problem, problem.holding(replace(right, gradient=gradients[source]))


def _exchanged() -> Built:
    """Gradients of two arrays of one shape, each under the other's name."""
    problem = problems.twins()
    right = problem.first

    def gradient(a: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        found = right.gradient(a)
        return {"x": found["y"], "y": found["x"]}

    return problem, problem.holding(replace(right, gradient=gradient))


def _changed(problem: Problem, right: Implementation, change: Change, name: str) -> Implementation:
    name = name or problem.differentiate[0]

    def gradient(a: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        found = right.gradient(a)
        return found | {name: change(found[name])}

    return replace(right, gradient=gradient)
