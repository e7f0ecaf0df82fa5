"""Taylor remainder: |L(θ + t v) − L(θ) − t g·v| must shrink with t², not with t."""

from __future__ import annotations

import math

import numpy as np

from pyweanj.records import Figure
from pyweanj.verify.evidence import Arrays, Probe, conventions, derivative
from pyweanj.verify.proofs.differences import DECISIVE
from pyweanj.verify.proofs.names import Proof, best
from pyweanj.verify.tolerance import Tolerance

__all__ = ["RATE", "taylor"]

#: A right gradient leaves a remainder of second order, a wrong one of first.
RATE = 1.8
_WRONG = 1.5
#: A remainder this much above its noise gives a rate that is right to about 0.1.
_CLEAR = 20.0
#: The rate supports a gradient only if a fault of this share of Σ |gᵢ vᵢ| would have lowered it:
#: where g is small against the curvature any gradient leaves a remainder of second order.
_SHARP = 0.01


def taylor(
    probe: Probe,
    loss: float,
    gradient: Arrays,
    tolerance: Tolerance,
    *,
    quadratic: bool,
    name: str = Proof.TAYLOR,
) -> Figure:
    """The order of the Taylor remainder along one direction.

    Parameters
    ----------
    probe
        Losses at steps along a direction; the positive ones are used, and should shrink by the
        same factor.  With their opposites a kink along the direction is told from a wrong gradient.
    loss
        At the unmoved inputs.
    quadratic
        The loss is quadratic: the rate is then exactly 2, as far as rounding shows it.

    Returns
    -------
    Figure
        `value` is the rate between the two smallest steps whose remainder stands above rounding.
        Where fewer than two do, the loss is linear along the direction to rounding: there is no
        rate (`value` is None), and the figure passes if that first-order fit is sharp enough.
    """
    forward = [t for t in probe.steps if t > 0]
    # A step may leave the loss's domain; that says nothing about the gradient where it is taken.
    steps = sorted((t for t in forward if math.isfinite(probe.values[t])), reverse=True)
    if forward and not steps:
        return Figure(name=name, passed=None, detail="no step leads to where the loss is finite")
    figures = []
    for holomorphic in conventions(gradient):
        claimed, size = derivative(gradient, probe.direction, holomorphic=holomorphic)
        remainders = [probe.values[t] - loss - t * claimed for t in steps]
        noise = [
            tolerance.loss_rounding * max(abs(probe.values[t]), abs(loss))
            + (tolerance.relative + tolerance.roundoff) * t * size
            for t in steps
        ]
        # How sharp the first-order fit is where no remainder is seen.
        sharp = _CLEAR * noise[0] / (steps[0] * size) if steps and size else math.inf
        figure = _rate(steps, remainders, noise, sharp)
        seen = (
            min(
                (
                    (abs(r) + n) / (t * size)
                    for r, n, t in zip(remainders, noise, steps, strict=True)
                ),
                default=math.inf,
            )
            if size
            else math.inf
        )
        if figure.passed is True and figure.value is not None and seen > _SHARP:
            figure.passed = None
            figure.detail += f"; a fault below {seen:.1e} of the gradient would leave the same rate"
        elif figure.passed is False and _kinked(probe, steps, loss, noise):
            figure.passed = None
            figure.detail += (
                "; the loss has a kink along the direction, which is of first order too"
            )
        elif figure.passed is False and not _has_first_order(
            probe, steps, claimed, remainders, noise, tolerance.loss_rounding * abs(loss)
        ):
            figure.passed = None
            figure.detail += "; terms of higher order cancel there, and none of first order is seen"
        figure.name = name
        if quadratic and figure.value is not None:
            figure.detail += "; 2 exactly for a quadratic loss"
        figures.append(figure)
    return best(figures)


def _rate(steps: list[float], signed: list[float], noise: list[float], sharp: float) -> Figure:
    name = Proof.TAYLOR
    if not all(math.isfinite(r) for r in signed):
        return Figure(name=name, passed=False, detail="a loss or the gradient is not finite")
    remainders = [abs(r) for r in signed]
    clear = [k for k in range(len(steps)) if remainders[k] > _CLEAR * noise[k]]
    finest = _finest_pair(clear)
    if finest is None:
        detail = "degenerate: the remainder does not stand above rounding, so there is no rate"
        passed = True if 0 not in clear and sharp <= DECISIVE else None
        if passed:
            detail += f"; the first-order fit is good to {sharp:.1e}"
        return Figure(name=name, tolerance=RATE, passed=passed, detail=detail)
    k = finest
    rate = _order(steps, remainders, k)
    detail = f"between steps {steps[k]:.1e} and {steps[k + 1]:.1e}"
    passed = True if rate >= RATE else (False if rate < _WRONG else None)
    if passed is None:
        detail += "; neither first nor second order"
    return Figure(name=name, value=rate, tolerance=RATE, passed=passed, detail=detail)


def _finest_pair(clear: list[int]) -> int | None:
    """The first of the last two neighbouring steps that are both clear of noise."""
    return max((k for k in clear if k + 1 in clear), default=None)


def _order(steps: list[float], sizes: list[float], k: int) -> float:
    return math.log(sizes[k] / sizes[k + 1]) / math.log(steps[k] / steps[k + 1])


def _has_first_order(
    probe: Probe,
    steps: list[float],
    claimed: float,
    signed: list[float],
    noise: list[float],
    rounding: float,
) -> bool:
    """Whether a part of the remainder really shrinks with t, as one of a wrong gradient does.

    Where the loss is known both ways that is (L(t) − L(−t)) / 2 − t g·v, which shrinks with t³
    for a right gradient; no smaller step may contradict it, and the slope must settle.  Otherwise
    the remainder is fitted by e t + c t² + d t³.
    """
    if all(-t in probe.values for t in steps):
        both = [k for k, t in enumerate(steps) if math.isfinite(probe.values[-t])]
        steps, noise = [steps[k] for k in both], [noise[k] for k in both]
        slopes = [(probe.values[t] - probe.values[-t]) / (2 * t) for t in steps]
        odd = [t * abs(slope - claimed) for t, slope in zip(steps, slopes, strict=True)]
        k = _finest_pair([k for k in range(len(steps)) if odd[k] > _CLEAR * noise[k]])
        if k is None or _order(steps, odd, k) >= 2.0:
            return False
        slope = odd[k + 1] / steps[k + 1]
        finer = range(k + 1, len(steps))
        if min((odd[j] + noise[j]) / steps[j] for j in finer) <= slope / 2:
            return False
        # Steps beyond the bends of the loss show no slope that settles.
        change = max(abs(slopes[-1] - slope) for slope in slopes[-3:])
        return change <= max(abs(slopes[-1]) / 4, 2 * rounding / steps[-1])
    size = np.abs(signed)
    k = _finest_pair([k for k in range(len(steps)) if size[k] > _CLEAR * noise[k]])
    assert k is not None  # there was a rate
    t = np.array(steps[: k + 2][-3:])
    powers = np.stack([(t / t[0]) ** (p + 1) for p in range(len(t))], axis=1)
    first = np.linalg.solve(powers, np.array(signed[: k + 2][-3:]))[0]
    return abs(float(first)) > 0.05 * float(np.max(size[: k + 2][-3:]))


def _kinked(probe: Probe, steps: list[float], loss: float, noise: list[float]) -> bool:
    """Whether L(t) + L(−t) − 2 L(0), which no gradient enters, is of first order as well."""
    if not all(-t in probe.values for t in steps):
        return False
    even = [abs(probe.values[t] + probe.values[-t] - 2 * loss) for t in steps]
    clear = [k for k in range(len(steps)) if even[k] > _CLEAR * noise[k]]
    k = _finest_pair(clear)
    return k is not None and _order(steps, even, k) < _WRONG
