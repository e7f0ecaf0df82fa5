"""Central differences: the seeds' `fd_check`, and where and how far to step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pyweanj.verify.evidence import Entry
from pyweanj.verify.tolerance import unit_roundoff

__all__ = ["fd_check", "random_entries", "steps"]


def fd_check(
    loss: Callable[[np.ndarray], Any],
    theta: np.ndarray,
    gradient: np.ndarray,
    n: int = 10,
    h: float = 1e-2,
    seed: int = 0,
) -> float:
    """Largest error of `gradient` at random entries, by central differences of `loss`.

    Parameters
    ----------
    loss
        Takes an array like `theta` and returns a number.
    theta
        Where the gradient was taken, any shape, real floating point.  It is not changed.
    gradient
        The gradient to check, in the shape of `theta`.
    n
        How many entries, without repetition; all of them where there are no more.
    h
        Step.  A quadratic loss has no truncation error, so a large step is exact up to rounding.
    seed
        Of the choice of entries.

    Returns
    -------
    float
        max |(loss(θ + h eᵢ) − loss(θ − h eᵢ)) / 2h − gᵢ| / max |g|.  NaN where a loss or the
        gradient is NaN; where the gradient is zero everywhere, 0 if every difference is
        exactly 0 and Inf otherwise.

    Raises
    ------
    ValueError
        Shapes differ, `theta` is empty or not real floating point, or `n` or `h` is not positive.
    """
    theta, gradient = np.asarray(theta), np.asarray(gradient)
    if theta.shape != gradient.shape:
        raise ValueError(f"theta is {theta.shape} but its gradient is {gradient.shape}")
    if theta.dtype.kind != "f" or theta.size == 0:
        raise ValueError(f"theta must hold real numbers, not {theta.size} × {theta.dtype}")
    if n < 1 or not (0 < h < np.inf):
        raise ValueError(f"n and h must be positive, not {n} and {h}")
    errors = []
    for _, index in random_entries({"theta": theta.shape}, n, seed):
        ends = []
        for step in (h, -h):
            moved = theta.copy()
            moved[index] += step
            ends.append(float(loss(moved)))
        errors.append(abs((ends[0] - ends[1]) / (2 * h) - float(gradient[index])))
    scale = float(np.max(np.abs(gradient)))
    if scale == 0.0:
        return 0.0 if not any(errors) else float("inf")
    return float(np.max(errors)) / scale


def random_entries(shapes: dict[str, tuple[int, ...]], n: int, seed: int = 0) -> list[Entry]:
    """`n` different entries of arrays of these shapes, drawn uniformly; all if there are fewer."""
    names = list(shapes)
    sizes = [int(np.prod(shapes[name], dtype=np.int64)) for name in names]
    total = sum(sizes)
    rng = np.random.default_rng(seed)
    flat = rng.choice(total, n, replace=False, shuffle=False) if n < total else np.arange(total)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    entries: list[Entry] = []
    for position in np.sort(flat):
        k = int(np.searchsorted(starts, position, side="right")) - 1
        index = np.unravel_index(int(position - starts[k]), shapes[names[k]])
        entries.append((names[k], tuple(int(i) for i in index)))
    return entries


def steps(h: float, dtype: str, quadratic: bool) -> tuple[float, ...]:
    """Steps of one probe, both ways.

    A quadratic loss needs one step size, and a larger one in a lower precision: it grows with
    u^(1/3) from `h` in float64.  Otherwise the step is halved seven times, so that the truncation
    error can be extrapolated away, what is left of it estimated, and three steps chosen that
    suit the loss.
    """
    if quadratic:
        h *= (unit_roundoff(dtype) / unit_roundoff("float64")) ** (1 / 3)
        return (-h, h)
    sizes = [h * 0.5**k for k in range(8)]
    return (*(-size for size in sizes), *reversed(sizes))
