"""What is done to a right gradient: (name, change, diagnosis, what the text must say)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pyweanj.verify.controls import problems
from pyweanj.verify.controls.model import Problem

__all__ = ["CHANGES", "SPECIAL", "Change", "noise", "sum_is", "where"]

Change = Callable[[np.ndarray], np.ndarray]


def _set(index: object, value: float | Change) -> Change:
    def change(g: np.ndarray) -> np.ndarray:
        g = g.copy()
        g[index] = value(g[index]) if callable(value) else value  # type: ignore[index]
        return g

    return change


def where(mask: Callable[[tuple[int, ...]], np.ndarray], value: float | Change) -> Change:
    """Entries of a mask set to a value, or changed."""
    return lambda g: _set(mask(g.shape), value)(g)


def sum_is(parity: int) -> Callable[[tuple[int, ...]], np.ndarray]:
    """The mask of one colour."""
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


def noise(size: float) -> Change:
    """Normal noise of `size` times the largest entry."""

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
CHANGES: tuple[tuple[str, Change, str, str], ...] = (
    ("NaN everywhere", lambda g: g * np.nan, "not finite", "NaN in every entry"),
    ("NaN in one entry", _set((3, 4), np.nan), "not finite", "NaN in entry (3, 4)"),
    ("NaN in one colour", where(sum_is(0), np.nan), "not finite", "NaN in colour 0"),
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
    ("colour 1 zero", where(sum_is(1), 0), "part", "colour 1: zero"),
    ("colour 0 doubled", where(sum_is(0), lambda x: 2 * x), "part", "colour 0: factor 2"),
    ("boundary zero", where(_edge, 0), "part", "the boundary: zero"),
    ("boundary halved", where(_edge, lambda x: x / 2), "part", "the boundary: factor 0.5"),
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


SPECIAL: tuple[tuple[str, Callable[[], Problem], Change, str, str, str], ...] = (
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
        where(sum_is(1), 0),
        "theta",
        "part",
        "colour 1: zero",
    ),
)
