"""Repeatability: the same call again must give the same gradient."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from pyweanj.records import Figure
from pyweanj.verify.evidence import Arrays, Colours, describe
from pyweanj.verify.measures import array_difference, relative
from pyweanj.verify.proofs.names import Proof
from pyweanj.verify.tolerance import Tolerance

__all__ = ["calls_needed", "repeatability"]


def calls_needed(fault: float, confidence: float = 0.99) -> int:
    """Calls that show a fault of probability `fault` a call with the given confidence."""
    return math.ceil(math.log1p(-confidence) / math.log1p(-fault))


def repeatability(
    gradients: Sequence[Arrays],
    losses: Sequence[float],
    tolerance: Tolerance,
    *,
    colours: Colours | None = None,
) -> Figure:
    """Every call against the first.

    Parameters
    ----------
    gradients, losses
        Of each call, in order; at least two, else the figure decides nothing.

    Returns
    -------
    Figure
        `value` is the noise floor: the largest relative difference from the first call (max-norm
        of each gradient array, or the loss).  It passes up to the tolerance of rounding alone, as
        sums in threads may be taken in another order.  The text says how rare a fault these
        calls could have missed.
    """
    calls = len(gradients)
    if calls < 2:
        return Figure(name=Proof.REPEATABLE, passed=None, detail=f"{calls} call only")
    first = gradients[0]
    if not all(np.isfinite(array).all() for array in first.values()):
        return Figure(name=Proof.REPEATABLE, passed=None, detail="the gradient is not finite")
    noise, where, other = 0.0, "", []
    for k in range(1, calls):
        moved = relative(losses[0], losses[k]), ""
        for name, array in gradients[k].items():
            a, b = np.asarray(first[name]), np.asarray(array)
            if np.array_equal(a, b):
                continue
            if a.shape != b.shape or not np.isfinite(b).all():
                moved = math.inf, name
                break
            difference = array_difference(a, b, tolerance.dtype)
            if not (difference.maximum <= moved[0]):
                moved = difference.maximum, describe(name, difference.index, a.shape, colours)
        if not (moved[0] <= tolerance.floor):
            other.append(k + 1)
        if not (moved[0] <= noise):
            noise, where = moved
    passed = noise <= tolerance.floor
    detail = f"{calls} calls"
    if not passed:
        numbers = ", ".join(str(k) for k in other[:5]) + (", …" if len(other) > 5 else "")
        detail += f"; {len(other)} differ from the first: number {numbers}"
    else:
        detail += ", the same to the last bit" if noise == 0 else ", the same up to rounding"
        rare = 1 - 0.01 ** (1 / calls)
        detail += f"; a fault in fewer than {rare:.0%} of calls may go unseen"
    return Figure(
        name=Proof.REPEATABLE,
        value=noise,
        tolerance=tolerance.floor,
        passed=passed,
        detail=detail,
        where=where,
    )
