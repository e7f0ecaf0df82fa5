"""The faults themselves."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from pyweanj.verify.controls import problems, small
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
Change = Callable[[np.ndarray], np.ndarray]


def wrong(problem: Problem, change: Change, name: str = "") -> Built:
    """The right implementation with `change` applied to its gradient (of one array by name)."""
    return problem, problem.holding(_changed(problem, problem.first, change, name))


def simple() -> Iterator[tuple[str, Callable[[], Built], str, str]]:
    """Faults in the gradient alone: (name, build, diagnosis, what the text must say)."""
    for name, change, kind, text in _CHANGES:
        yield name, lambda change=change: wrong(problems.sweeps(), change), kind, text
    for name, make, change, array, kind, text in _SPECIAL:
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


def _set(index: object, value: float | Change) -> Change:
    def change(g: np.ndarray) -> np.ndarray:
        g = g.copy()
        g[index] = value(g[index]) if callable(value) else value  # type: ignore[index]
        return g

    return change


def _where(mask: Callable[[tuple[int, ...]], np.ndarray], value: float | Change) -> Change:
    return lambda g: _set(mask(g.shape), value)(g)


def _sum_is(parity: int) -> Callable[[tuple[int, ...]], np.ndarray]:
    return lambda shape: np.sum(np.indices(shape), axis=0) % 2 == parity


def _edge(shape: tuple[int, ...]) -> np.ndarray:
    inside = np.zeros(shape, dtype=bool)
    inside[1:-1, 1:-1] = True
    return ~inside


def _lost(g: np.ndarray) -> np.ndarray:
    g = g.copy()
    rng = np.random.default_rng(1)
    g.ravel()[rng.choice(g.size, 9, replace=False)] *= 0.5
    return g


def _noise(size: float) -> Change:
    def change(g: np.ndarray) -> np.ndarray:
        rng = np.random.default_rng(2)
        return g + (size * np.max(np.abs(g)) * rng.standard_normal(g.shape)).astype(g.dtype)

    return change


def _halo(g: np.ndarray) -> np.ndarray:
    return np.pad(g, 1)


def _moved(g: np.ndarray) -> np.ndarray:
    return np.random.default_rng(3).permutation(g.ravel()).reshape(g.shape)


def _shifted(axis: int, by: int) -> Change:
    def change(g: np.ndarray) -> np.ndarray:
        moved = np.roll(g, by, axis)
        edge = slice(0, by) if by > 0 else slice(by, None)
        moved[(slice(None),) * axis + (edge,)] = 0
        return moved

    return change


H2 = 1 / 10**2  # n = 9

#: Changes of the gradient of `problems.sweeps`: 9 × 7, n = 9, K = 5.
_CHANGES: tuple[tuple[str, Change, str, str], ...] = (
    ("NaN everywhere", lambda g: g * np.nan, "not finite", "NaN in every entry"),
    ("NaN in one entry", _set((3, 4), np.nan), "not finite", "NaN in entry (3, 4)"),
    ("NaN in one colour", _where(_sum_is(0), np.nan), "not finite", "NaN in colour 0"),
    ("Inf in the last row", _set((-1,), np.inf), "not finite", "Inf in the last row"),
    ("all zero", lambda g: 0 * g, "zero", "exactly zero"),
    ("factor 2", lambda g: 2 * g, "factor", "factor 2: accumulated 2 times"),
    ("factor ½", lambda g: g / 2, "factor", "½"),
    ("wrong sign", lambda g: -g, "factor", "sign reversed"),
    ("factor −2", lambda g: -2 * g, "factor", "factor −2"),
    ("h² missing", lambda g: g / H2, "factor", "1/h²"),
    ("h² twice", lambda g: g * H2, "factor", "h²"),
    ("factor n", lambda g: 9 * g, "factor", "n"),
    ("factor n²", lambda g: 81 * g, "factor", "n²"),
    ("mean for sum", lambda g: g / 63, "factor", "1/the number of entries"),
    ("accumulated 3 times", lambda g: 3 * g, "factor", "accumulated 3 times"),
    ("accumulated K times", lambda g: 5 * g, "factor", "K or accumulated 5 times"),
    ("factor 1.3", lambda g: 1.3 * g, "factor", "factor 1.3"),
    ("factor 1 + 1e-9", lambda g: (1 + 1e-9) * g, "factor", "factor 1"),
    ("transposed", lambda g: g.T.copy(), "axes", "transposed (shape (7, 9) instead of (9, 7))"),
    ("axis 0 reversed", lambda g: g[::-1].copy(), "axes", "axis 0 reversed"),
    ("axis 1 reversed", lambda g: g[:, ::-1].copy(), "axes", "axis 1 reversed"),
    ("both axes reversed", lambda g: g[::-1, ::-1].copy(), "axes", "axes 0, 1 reversed"),
    (
        "reversed, wrong sign",
        lambda g: -g[::-1],
        "axes",
        "axis 0 reversed, and sign reversed",
    ),
    (
        "column-major as row-major",
        lambda g: g.ravel("F").reshape(g.shape),
        "axes",
        "column-major values",
    ),
    ("flattened", lambda g: g.ravel(), "shape", "flattened in row-major order"),
    ("with halo", _halo, "shape", "with a halo"),
    ("an axis too many", lambda g: g[..., None], "shape", "an axis of length 1"),
    ("shifted down", _shifted(0, 1), "shift", "+1 along axis 0, zero at the edge"),
    ("shifted left", _shifted(1, -1), "shift", "-1 along axis 1, zero at the edge"),
    ("rolled", lambda g: np.roll(g, 1, 1), "shift", "+1 along axis 1, wrapped around"),
    ("colour 1 zero", _where(_sum_is(1), 0), "part", "colour 1: zero"),
    ("colour 0 doubled", _where(_sum_is(0), lambda x: 2 * x), "part", "colour 0: factor 2"),
    ("boundary zero", _where(_edge, 0), "part", "the boundary: zero"),
    ("boundary halved", _where(_edge, lambda x: x / 2), "part", "the boundary: factor 0.5"),
    ("first row zero", _set((0,), 0), "part", "the first row: zero"),
    ("last column zero", _set((slice(None), -1), 0), "part", "the last column: zero"),
    ("every second row zero", _set((slice(1, None, 2),), 0), "part", "every second row, from 1"),
    ("a block zero", _set((slice(2, 5), slice(1, 4)), 0), "part", "block [2:5, 1:4]: zero"),
    ("one entry 30 % off", _set((4, 5), lambda x: 1.3 * x), "part", "entry (4, 5): factor 1.3"),
    ("contributions lost", _lost, "scattered", "9 of 63 entries"),
    ("absolute value", np.abs, "absolute value", "absolute value"),
    ("a constant added", lambda g: g + 1e-3, "offset", "0.001 added"),
    ("values elsewhere", _moved, "permuted", "other places"),
)


def _tiny() -> Problem:
    """Largest gradient entry 8e-6, as where an absolute tolerance lets zeros pass."""
    return _scaled(8e-6)


def _small() -> Problem:
    return _scaled(4e-5)


def _scaled(largest: float) -> Problem:
    plain = problems.sweeps()
    size = float(np.max(np.abs(plain.reference().gradient["theta"])))
    return problems.sweeps(scale=largest / size)


def _wide() -> Problem:
    """1e5 entries in w."""
    return problems.recurrent(50_000)


def _square() -> Problem:
    return problems.sweeps((7, 7))


def _column() -> Problem:
    return problems.sweeps((3, 1))


_SPECIAL: tuple[tuple[str, Callable[[], Problem], Change, str, str, str], ...] = (
    ("all zeros against 8e-6", _tiny, lambda g: 0 * g, "theta", "zero", "exactly zero"),
    ("wrong sign at 4e-5", _small, lambda g: -g, "theta", "factor", "sign reversed"),
    ("(3,) against (3, 1)", _column, lambda g: g[:, 0], "theta", "shape", "shape (3,)"),
    ("transposed, square", _square, lambda g: g.T.copy(), "theta", "axes", "transposed"),
    ("30 % off in 1e5 entries", _wide, lambda g: 1.3 * g, "w", "factor", "factor 1.3"),
    (
        "one entry of 1e5 30 % off",
        _wide,
        _set((1, 31_415), lambda x: 1.3 * x),
        "w",
        "part",
        "entry (1, 31415): factor 1.3",
    ),
    (
        "one entry of 1e5 zero",
        _wide,
        _set((0, 27_182), 0.0),
        "w",
        "part",
        "entry (0, 27182): zero",
    ),
    (
        "second array wrong sign",
        problems.recurrent,
        lambda g: -g,
        "x",
        "factor",
        "x: sign reversed",
    ),
    ("second row zero", problems.recurrent, _set((1,), 0), "w", "part", "the last row: zero"),
    (
        "float32, factor 2",
        lambda: problems.sweeps(dtype="float32"),
        lambda g: 2 * g,
        "theta",
        "factor",
        "factor 2: accumulated 2 times",
    ),
    (
        "float32, colour 1 zero",
        lambda: problems.sweeps(dtype="float32"),
        _where(_sum_is(1), 0),
        "theta",
        "part",
        "colour 1: zero",
    ),
)


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
    problem, held = wrong(problems.sweeps(), _noise(1e-2))
    return problem, replace(held, implementation=replace(held.implementation, tangent=None))


def _stale(K: int) -> Built:
    problem = problems.overwritten(K=K)
    return problem, problem.holding(
        replace(problem.first, gradient=lambda a: small.overwritten_gradient(a, K, stale=True))
    )


def colour_missing() -> Built:
    """One colour's adjoint is missing."""
    return wrong(problems.sweeps(), _where(_sum_is(1), 0))


def colour_missing_too(problem: Problem) -> Held:
    """The same fault in an implementation of the other kind."""
    change = _where(_sum_is(1), 0)
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
