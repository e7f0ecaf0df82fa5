"""Random right implementations, none of which may be flagged, and broken ones, all of which must.

The detection limit is twice the derived tolerance, relative in the max-norm (for the loss,
twice the loss's): one tolerance that the fault must stand above, and one that the rounding of
the right side may take away.  `random_broken` draws effects from just above it up to 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from pyweanj.verify.controls import problems
from pyweanj.verify.controls.judging import judge_pair
from pyweanj.verify.controls.model import Implementation, Problem

__all__ = ["LIMIT", "RandomResult", "random_broken", "random_problem", "random_right"]

#: Detection limit in units of the derived tolerance.
LIMIT = 2.0


@dataclass
class RandomResult:
    """How many cases were judged, and which of them wrongly."""

    cases: int = 0
    wrong: list[str] = field(default_factory=list)
    """Description of every false alarm or miss."""
    limits: dict[str, float] = field(default_factory=dict)
    """Largest detection limit that occurred, by dtype."""
    smallest: dict[str, float] = field(default_factory=dict)
    """Smallest effect that was drawn and detected, by dtype."""
    unproven: int = 0
    """Right cases in which no proof was sharp enough: no alarm, and no proof either."""


def random_right(cases: int = 1000, seed: int = 0) -> RandomResult:
    """Two right implementations that round differently, in random sizes, dtypes and scales.

    Every second case has no oracle.  A mismatch or a verdict of wrong is a false alarm, and so
    is anything but right where there is an oracle.
    """
    result = RandomResult()
    for k in range(cases):
        rng = np.random.default_rng([seed, 1, k])
        problem = random_problem(rng)
        oracle = k % 2 == 0
        left, right, found, pair = judge_pair(
            problem,
            problem.holding(problem.first),
            problem.holding(problem.second),
            oracle=oracle,
            calls=2,
        )
        words = {left.verdict.word, right.verdict.word}
        result.cases += 1
        result.unproven += "unproven" in words
        if not found.ok or "wrong" in words or pair.wrong != "neither":
            result.wrong.append(
                f"{k}: {_describe(problem)}: {words}, {found.reason} {found.detail}"
            )
        elif oracle and words != {"right"}:
            result.wrong.append(f"{k}: {_describe(problem)}: {words} beside an oracle")
    return result


def random_broken(cases: int = 1000, seed: int = 0) -> RandomResult:
    """A right implementation with one random fault, beside a right one and the oracle.

    It is missed unless the pair is a mismatch, the broken one is wrong, the right one is not, and
    the pair's verdict names the broken side.
    """
    result = RandomResult()
    for k in range(cases):
        rng = np.random.default_rng([seed, 2, k])
        problem, name, effect, implementation = _random_fault(rng)
        tolerance = problem.setting.tolerance
        held = [problem.holding(implementation), problem.holding(problem.second)]
        side = int(rng.integers(2))
        left, right, found, pair = judge_pair(
            problem, *(held if side == 0 else held[::-1]), calls=2
        )
        broken, good = (left, right) if side == 0 else (right, left)
        result.cases += 1
        limit = LIMIT * (tolerance.loss if name == "loss" else tolerance.relative)
        result.limits[problem.dtype] = max(result.limits.get(problem.dtype, 0.0), limit)
        named = pair.wrong == ("left", "right")[side]
        if found.ok or broken.verdict.word != "wrong" or good.verdict.word != "right" or not named:
            words = f"{broken.verdict.word}, right side {good.verdict.word}, pair {pair.wrong}"
            result.wrong.append(f"{k}: {_describe(problem)}: {name} {effect:.2e}: {words}")
        else:
            least = result.smallest.get(problem.dtype, np.inf)
            result.smallest[problem.dtype] = min(least, effect)
    return result


def random_problem(rng: np.random.Generator) -> Problem:
    """One of the controls' problems with random size, dtype, scale and numbers."""
    dtype = "float64" if rng.random() < 0.6 else "float32"
    scale = 10.0 ** rng.uniform(-12, 12) if rng.random() < 0.5 else 1.0
    seed = int(rng.integers(1 << 30))
    kind = rng.choice(
        ["red-black", "lexicographic", "recurrent", "overwritten"], p=[0.4, 0.2, 0.3, 0.1]
    )
    if kind == "overwritten":
        n, K = int(rng.integers(2, 9)), int(rng.integers(1, 4))
        return problems.overwritten(n, K, "float64", seed)
    if kind == "recurrent":
        length, K = int(rng.integers(1, 60)), int(rng.integers(1, 5))
        return problems.recurrent(length, K, dtype, scale=scale, seed=seed)
    shape = int(rng.integers(1, 7)), int(rng.integers(1, 7))
    K = int(rng.integers(0, 5))
    return problems.sweeps(shape, K, dtype, order=str(kind), scale=scale, seed=seed)


Fault = Callable[[np.ndarray, float, np.random.Generator], np.ndarray]


def _one(g: np.ndarray, size: float, rng: np.random.Generator) -> np.ndarray:
    g = g.copy()
    g.ravel()[rng.integers(g.size)] += size * rng.choice([-1, 1])
    return g


def _some(g: np.ndarray, size: float, rng: np.random.Generator) -> np.ndarray:
    return g + np.where(rng.random(g.shape) < 0.3, size, 0) * rng.choice([-1, 1], g.shape)


def _line(g: np.ndarray, size: float, rng: np.random.Generator) -> np.ndarray:
    g = g.copy()
    axis = int(rng.integers(g.ndim))
    g[(slice(None),) * axis + (int(rng.integers(g.shape[axis])),)] += size
    return g


#: Faults of a given size, relative to nothing: the caller scales by the max-norm.
_FAULTS: dict[str, Fault] = {
    "one entry": _one,
    "some entries": _some,
    "one line": _line,
    "offset": lambda g, size, _: g + size,
    "factor": lambda g, size, _: g * (1 + size / np.max(np.abs(g))),
    "noise": lambda g, size, rng: g + size * rng.uniform(-1, 1, g.shape),
    "reversed": lambda g, _, rng: np.flip(g, int(rng.integers(g.ndim))),
    "rolled": lambda g, _, rng: np.roll(g, 1, int(rng.integers(g.ndim))),
    "sign": lambda g, *_: -g,
    "zero": lambda g, *_: 0 * g,
    "NaN": lambda g, _, rng: np.where(
        np.arange(g.size).reshape(g.shape) == rng.integers(g.size), np.nan, g
    ),
}


def _random_fault(rng: np.random.Generator) -> tuple[Problem, str, float, Implementation]:
    """A problem, a fault's name, its effect in the max-norm, and the implementation with it."""
    for problem in _problems(rng):
        right = problem.first
        tolerance = problem.setting.tolerance
        if rng.random() < 0.05:
            effect = _size(rng, LIMIT * tolerance.loss)
            loss = lambda a, r=right, e=effect: float(r.loss(a)) * (1 + e)  # noqa: E731
            return problem, "loss", effect, replace(right, loss=loss)
        plain = right.gradient(problem.arrays)
        array = str(rng.choice(list(plain)))
        g = plain[array]
        if not np.any(g):
            continue
        name = str(rng.choice(list(_FAULTS)))
        scale = float(np.max(np.abs(g)))
        size = _size(rng, LIMIT * tolerance.relative) * scale
        wrong = np.asarray(_FAULTS[name](g, size, rng)).astype(g.dtype)
        # In double precision: a float32 difference would itself be rounded.
        wide = wrong.astype(np.float64) - g.astype(np.float64)
        effect = float(np.max(np.abs(wide))) / max(scale, float(np.max(np.abs(wrong))))
        if np.isnan(effect) or effect > 1.01 * LIMIT * tolerance.relative:
            answer = plain | {array: wrong}
            gradient = lambda _, answer=answer: {k: v.copy() for k, v in answer.items()}  # noqa: E731
            return problem, name, effect, replace(right, gradient=gradient)
    raise AssertionError("unreachable: problems never end")


def _problems(rng: np.random.Generator) -> Iterator[Problem]:
    while True:
        yield random_problem(rng)


def _size(rng: np.random.Generator, limit: float) -> float:
    """Log-uniform from just above `limit` to 1."""
    return float(np.exp(rng.uniform(np.log(1.05 * limit), 0)))


def _describe(problem: Problem) -> str:
    return f"{problem.name} {problem.dtype} K={problem.K}"
