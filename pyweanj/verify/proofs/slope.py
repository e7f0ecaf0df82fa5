"""A directional derivative from losses alone, with bounds of its error.

Rounding: the two losses of a central difference differ by rounding by at most the loss
tolerance, so the quotient by that much over 2h.  Truncation: none for a quadratic loss;
otherwise Romberg extrapolation over halved steps removes it, and the last change of the
extrapolated value, with a factor of safety, bounds what is left.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pyweanj.verify.evidence import Probe
from pyweanj.verify.tolerance import Tolerance

__all__ = ["Slope", "central_slope"]


_SAFETY = 4.0


@dataclass(frozen=True)
class Slope:
    """A directional derivative and how far it can be trusted."""

    value: float
    rounding: float
    truncation: float
    kink: float = 0.0
    """Gap between the one-sided slopes, where it does not close as the step shrinks."""

    @property
    def uncertainty(self) -> float:
        """Bound of the absolute error."""
        return self.rounding + self.truncation


def central_slope(
    probe: Probe, tolerance: Tolerance, *, quadratic: bool, loss: float | None = None
) -> Slope:
    """The derivative of the loss along a probe's direction, by central differences.

    Parameters
    ----------
    quadratic
        The loss is quadratic along any direction: one step is exact, and the largest is taken.
    loss
        At the unmoved inputs; with it and three step sizes a kink is recognised.

    Raises
    ------
    ValueError
        The probe has no step with its opposite.
    """
    at = probe.values
    sizes = sorted({t for t in probe.steps if t > 0 and -t in at}, reverse=True)
    if not sizes:
        raise ValueError("a central difference needs a step and its opposite")
    if quadratic:
        sizes = sizes[:1]
    slopes = [(at[h] - at[-h]) / (2 * h) for h in sizes]
    errors = [tolerance.loss_rounding * max(abs(at[h]), abs(at[-h])) / (2 * h) for h in sizes]
    if loss is not None and len(sizes) > 2:
        gaps = [(at[h] - 2 * loss + at[-h]) / h for h in sizes]
        if _has_kink(sizes, gaps, errors):
            up = _extrapolate(sizes, [(at[h] - loss) / h for h in sizes], errors, 1)
            down = _extrapolate(sizes, [(loss - at[-h]) / h for h in sizes], errors, 1)
            middle = (up[0] + down[0]) / 2
            return Slope(middle, 2 * up[1], max(up[2], down[2]), abs(up[0] - down[0]))
    value, rounding, last = _extrapolate(sizes, slopes, errors, 2)
    return Slope(value, rounding, 0.0 if quadratic else last)


def _extrapolate(
    sizes: Sequence[float], values: Sequence[float], errors: Sequence[float], power: int
) -> tuple[float, float, float]:
    """Romberg: the value at step 0, and bounds of the rounding and the truncation error in it.

    The error of the values is a series in h^power, h^(2 power), …: 2 for central differences of
    a smooth function, 1 for one-sided ones.
    """
    if not _converges(values, errors, power):
        return values[-1], errors[-1], math.inf
    column, noise, changes = list(values), list(errors), []
    for order in range(1, len(sizes)):
        ratios = [(sizes[k] / sizes[k + order]) ** power for k in range(len(column) - 1)]
        before = column[-1]
        noise = [(r * noise[k + 1] + noise[k]) / (r - 1) for k, r in enumerate(ratios)]
        column = [(r * column[k + 1] - column[k]) / (r - 1) for k, r in enumerate(ratios)]
        changes.append(abs(column[-1] - before))
    if not changes:
        return column[-1], noise[-1], math.inf
    # One change may be small by chance; the square of the one before is of its order.
    size = abs(column[-1])
    expected = changes[-2] ** 2 / size if len(changes) > 1 and size else 0.0
    return column[-1], noise[-1], _SAFETY * max(changes[-1], expected)


def _converges(values: Sequence[float], errors: Sequence[float], power: int) -> bool:
    """Whether the last change is smaller than the one before, as that of a series in h^power is.

    A step far beyond the bends of the loss gives values that drift apart as it is halved.
    """
    if len(values) < 3:
        return True
    before, last = abs(values[-2] - values[-3]), abs(values[-1] - values[-2])
    return last <= errors[-1] + errors[-2] or last <= before / 2 ** (power / 2)


def _has_kink(sizes: Sequence[float], gaps: Sequence[float], errors: Sequence[float]) -> bool:
    """Whether a gap between one-sided slopes is left at step 0.

    Where the loss is smooth the gap is h a + h³ b + …, so what is left after both terms are
    removed comes from a kink.
    """
    h = np.array(sizes[-3:])
    terms = np.stack([np.ones(3), h / h[0], (h / h[0]) ** 3])
    # Weights w with w · gaps = gap at 0 for every gap of that form.
    weights = np.linalg.solve(terms, np.array([1.0, 0.0, 0.0]))
    left = float(abs(weights @ np.array(gaps[-3:])))
    noise = float(np.abs(weights) @ (4 * np.array(errors[-3:])))
    return left > 2 * noise and left > 1e-3 * abs(gaps[-1])
