"""A directional derivative from losses alone, with bounds of its error.

Rounding: the two losses of a central difference differ by rounding by at most the loss
tolerance, so the quotient by that much over 2h; and the moved points themselves are rounded, by
u |θ|, which the curvature carries into the slope.  Truncation: none for a quadratic loss;
otherwise Romberg extrapolation over halved steps removes it, and the last change of the
extrapolated value, with a factor of safety, bounds what is left.  That is true of smooth losses:
where the changes do not fall as h², the last change itself is the bound.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from pyweanj.verify.evidence import Probe
from pyweanj.verify.tolerance import Tolerance

__all__ = ["Slope", "central_slope"]


#: The last change of a Romberg table over three halved steps is a fifteenth of the one before.
_SAFETY = 15.0
#: Steps that one extrapolation is made of; of more steps the sharpest three neighbours count.
_STEPS = 3
#: Regular extrapolations in a row, down to the smallest steps, that make a loss smooth.
_RUN = 3


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
    probe: Probe,
    tolerance: Tolerance,
    *,
    quadratic: bool,
    loss: float | None = None,
    magnitude: float = 0.0,
) -> Slope:
    """The derivative of the loss along a probe's direction, by central differences.

    Parameters
    ----------
    quadratic
        The loss is quadratic along any direction: one step is exact, and the largest is taken.
    loss
        At the unmoved inputs; with it and three step sizes a kink is recognised.
    magnitude
        Largest |θ|: how coarsely the moved points are rounded.

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
    if loss is not None:
        bent = [abs(at[h] - 2 * loss + at[-h]) / h**2 for h in sizes]
        errors = [e + tolerance.roundoff * magnitude * b for e, b in zip(errors, bent, strict=True)]
    if quadratic:
        return Slope(slopes[0], errors[0], 0.0)
    if len(sizes) < _STEPS:
        value, rounding, last = _extrapolate(sizes, slopes, errors, 2)
        return Slope(value, rounding, last)
    windows = [slice(k, k + _STEPS) for k in range(len(sizes) - _STEPS + 1)]
    regular = [_falls_as_h2(slopes[w], errors[w]) for w in windows]
    last = next((k for k in range(len(windows), 0, -1) if not regular[k - 1]), 0)
    changes = [abs(b - a) for a, b in itertools.pairwise(slopes)]
    found = []
    for k, w in enumerate(windows):
        # By chance the changes of a loss that is not smooth fall so too, but not at many steps.
        smooth = k >= last and (last == 0 or len(windows) - last >= _RUN)
        # What falls as h, where it falls as fast as that: no change is small by chance.
        change = max(c / 2 ** (k + 1 - j) for j, c in enumerate(changes[: k + 2]))
        found.append(_over(probe, sizes[w], slopes[w], errors[w], loss, change, smooth=smooth))
    return min(_checked(found), key=lambda slope: slope.uncertainty)


def _over(
    probe: Probe,
    sizes: list[float],
    slopes: list[float],
    errors: list[float],
    loss: float | None,
    change: float,
    *,
    smooth: bool,
) -> Slope:
    """The derivative from three halved steps, between whose slopes is a `change`."""
    at = probe.values
    if loss is not None:
        gaps = [(at[h] - 2 * loss + at[-h]) / h for h in sizes]
        if _has_kink(sizes, gaps, errors):
            sides = [(at[h] - loss) / h for h in sizes], [(loss - at[-h]) / h for h in sizes]
            up, down = (_extrapolate(sizes, side, errors, 1) for side in sides)
            middle, gap = (up[0] + down[0]) / 2, abs(up[0] - down[0])
            # A bend within the steps looks like a kink, but its one-sided slopes never settle.
            drift = max(abs(side[-1] - side[-2]) for side in sides)
            truncation = math.inf if drift > 0.1 * gap else max(up[2], down[2])
            return Slope(middle, 2 * up[1], truncation, gap)
    before, last = abs(slopes[-2] - slopes[-3]), abs(slopes[-1] - slopes[-2])
    if not smooth and max(before, last) > errors[-1] + errors[-2]:
        # A step beyond the bends of the loss gives slopes that drift apart as it is halved.
        return Slope(slopes[-1], errors[-1], 4.0 * change if before > last else math.inf)
    value, rounding, truncation = _extrapolate(sizes, slopes, errors, 2)
    return Slope(value, rounding, max(truncation, change / 4.0))


def _falls_as_h2(slopes: list[float], errors: list[float]) -> bool:
    """Whether the last change is a quarter of the one before, or not above rounding."""
    before, last = abs(slopes[-2] - slopes[-3]), abs(slopes[-1] - slopes[-2])
    noise = errors[-1] + errors[-2]
    return max(last, before / 6) <= noise or 3.0 * last <= before <= 5.5 * last


def _checked(found: list[Slope]) -> list[Slope]:
    """Each slope with a truncation of at least four times what smaller steps contradict it by.

    Changes may fall as h² by chance, where a loss has bends between the steps.  The smallest steps
    are held against those before.
    """
    checked = []
    for k, slope in enumerate(found):
        others = found[k + 1 :] or found[k - 1 : k]
        gaps = [abs(slope.value - o.value) - slope.rounding - o.rounding for o in others]
        if any(2 * abs(slope.kink - o.kink) > max(slope.kink, o.kink) for o in others):
            gaps.append(math.inf)  # a kink is as sharp at every step
        checked.append(replace(slope, truncation=max([slope.truncation, *(4 * g for g in gaps)])))
    return checked


def _extrapolate(
    sizes: Sequence[float], values: Sequence[float], errors: Sequence[float], power: int
) -> tuple[float, float, float]:
    """Romberg: the value at step 0, and bounds of the rounding and the truncation error in it.

    The error of the values is a series in h^power, h^(2 power), …: 2 for central differences of
    a smooth function, 1 for one-sided ones.
    """
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
