"""What samples say: intervals of medians, ratios with a verdict, growth, suspicious samples.

Every interval is meant to hold with probability 95 %.  With six samples or more it is the
percentile bootstrap of the median (Efron & Tibshirani, *An Introduction to the Bootstrap*,
1993, chapter 13).  Below six not even the range of the samples covers the median with 95 %
(it does with 1 − 2^(1−m) for m samples), so there Student's t on the logarithms is used
instead; it needs the logarithms to be roughly normal and gives wide intervals, which is
honest.  One sample alone has no interval.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "MARGIN",
    "Growth",
    "Interval",
    "MemoryGrowth",
    "MemoryVerdict",
    "Ratio",
    "Verdict",
    "growth_exponent",
    "median_interval",
    "memory_growth",
    "ratio",
]

Verdict = Literal["faster", "slower", "same", "unclear"]
MemoryVerdict = Literal["flat", "linear", "other"]

LEVEL = 0.95
RESAMPLES = 2000
MARGIN = 0.02
"""Two times that differ by less than this factor, either way, count as the same."""

# Student's t, two-sided 95 %, for 1 to 4 degrees of freedom.
_STUDENT = {1: 12.7062047, 2: 4.3026527, 3: 3.1824463, 4: 2.7764451}
_FEW = 6


@dataclass(frozen=True)
class Interval:
    """A median with its 95 % interval.  With one sample alone the interval is (0, ∞)."""

    value: float
    low: float
    high: float
    count: int
    """Number of samples that it rests on."""

    @property
    def half_width(self) -> float:
        """Half the interval's width relative to the median; ∞ where there is no interval."""
        return (self.high - self.low) / (2 * self.value)

    @property
    def bounds(self) -> tuple[float, float] | None:
        """(low, high), or None where one sample alone gives no interval."""
        return (self.low, self.high) if math.isfinite(self.high) else None


@dataclass(frozen=True)
class Ratio(Interval):
    """Left time ÷ right time over paired rounds; below 1 the left one is faster."""

    verdict: Verdict
    """What the left one is, seen from the right one."""


@dataclass(frozen=True)
class Growth:
    """How a time grows with n: t ≈ c n^exponent over the sizes measured."""

    exponent: float
    low: float
    high: float
    misfit: float
    """Largest factor by which one size's median is off the fitted line, less 1."""
    sizes: tuple[int, ...]


@dataclass(frozen=True)
class MemoryGrowth:
    """How memory grows with K."""

    verdict: MemoryVerdict
    per_step: float
    """Bytes that one more step of K adds, from the fit of a + b K (0 or noise where flat)."""
    factor: float
    """Largest figure ÷ smallest figure; ∞ where the smallest is 0."""
    Ks: tuple[int, ...]


def median_interval(samples: ArrayLike, seed: int = 0) -> Interval:
    """Median of `samples` with its 95 % interval (see the module on the method).

    Parameters
    ----------
    samples
        Shape (m,), m ≥ 1: positive and finite, any unit.
    seed
        Of the resampling; the same samples and seed give the same interval.

    Raises
    ------
    ValueError
        No samples, or one that is not positive and finite.
    """
    x = _checked(samples)
    return Interval(*_interval(x, seed), count=x.size)


def ratio(left: ArrayLike, right: ArrayLike, *, margin: float = MARGIN, seed: int = 0) -> Ratio:
    """Median of left ÷ right over paired rounds, its 95 % interval, and a verdict.

    `left[i]` and `right[i]` must be of the same round: a slow phase of the machine then
    slows both and drops out of their ratio.

    The verdict compares the whole interval with the range [1/(1 + margin), 1 + margin]:
    inside it is ``same``, wholly below ``faster``, wholly above ``slower``, and an interval
    that crosses an end is ``unclear`` (the decision rule of Kruschke, "Rejecting or
    accepting parameter values in Bayesian estimation", 2018, for a region of practical
    equivalence).

    Parameters
    ----------
    left, right
        Shape (m,) each, m ≥ 1: seconds per call.

    Raises
    ------
    ValueError
        Different lengths; or as `median_interval`.
    """
    a, b = _checked(left), _checked(right)
    if a.shape != b.shape:
        raise ValueError(f"paired samples must have one length, not {a.size} and {b.size}")
    value, low, high = _interval(a / b, seed)
    return Ratio(value, low, high, a.size, _verdict(low, high, margin))


def growth_exponent(
    sizes: Sequence[int], seconds: Sequence[ArrayLike], seed: int = 0
) -> Growth | None:
    """Exponent p of t ≈ c n^p: least squares through (log n, log median).

    The interval is the percentile bootstrap with samples redrawn within each size
    (stratified; Davison & Hinkley, *Bootstrap Methods and their Application*, 1997,
    section 3.2).  It tells the noise of the samples; how well one power fits all sizes is
    `Growth.misfit`.

    Parameters
    ----------
    sizes
        n of each entry of `seconds`, in any order.
    seconds
        Samples of each size, shape (m,) with m ≥ 1 that may differ; or one median each.

    Returns
    -------
    Growth or None
        None with fewer than two different sizes.

    Raises
    ------
    ValueError
        Different lengths; or as `median_interval`.
    """
    if len(sizes) != len(seconds):
        raise ValueError(f"{len(sizes)} sizes but {len(seconds)} lists of samples")
    if len(set(sizes)) < 2:
        return None
    samples = [_checked(s) for s in seconds]
    x = np.log(np.asarray(sizes, dtype=float))
    x = x - x.mean()
    y = np.log([np.median(s) for s in samples])
    weights = x / np.sum(x * x)
    exponent = float(weights @ y)
    # One row a size; sizes with equal counts must still be drawn independently.
    draws = np.stack([np.log(_medians(s, seed + k)) for k, s in enumerate(samples)])
    low, high = np.quantile(weights @ draws, _tails())
    residual = y - y.mean() - exponent * x
    misfit = math.expm1(float(np.max(np.abs(residual))))
    return Growth(exponent, float(low), float(high), misfit, tuple(sizes))


def memory_growth(
    Ks: Sequence[int],
    figures: Sequence[int],
    *,
    noise: int = 0,
    flat: float = 0.1,
    misfit: float = 0.15,
) -> MemoryGrowth | None:
    """Whether memory is flat in K, grows linearly, or neither.

    ``flat``: the largest figure exceeds the smallest by no more than `noise` bytes or the
    fraction `flat`.  ``linear``: a + b K, fitted by least squares of the relative errors,
    misses no figure by more than `noise` bytes or the fraction `misfit`.  √K, as
    checkpointing gives, and K² are ``other``: over K = 10, 100, 1000 each misses by more
    than 20 %.

    Parameters
    ----------
    Ks
        Steps, at least three different ones, in any order.
    figures
        Bytes of one kind, one for each K.
    noise
        Bytes by which a figure of this kind moves on its own (`pyweanj.measure.memory`).

    Returns
    -------
    MemoryGrowth or None
        None with fewer than three different K: two points cannot tell a line from a curve.

    Raises
    ------
    ValueError
        Different lengths, or a negative figure.
    """
    if len(Ks) != len(figures):
        raise ValueError(f"{len(Ks)} values of K but {len(figures)} figures")
    if len(set(Ks)) < 3:
        return None
    K, y = np.asarray(Ks, dtype=float), np.asarray(figures, dtype=float)
    if np.any(y < 0):
        raise ValueError(f"a figure in bytes is negative: {min(figures)}")
    scale = np.maximum(y, max(noise, 1))
    matrix = np.stack([np.ones_like(K), K], axis=1)
    (base, slope), *_ = np.linalg.lstsq(matrix / scale[:, None], y / scale, rcond=None)
    off = np.abs(base + slope * K - y)
    rise = float(y.max() - y.min())
    factor = float(y.max() / y.min()) if y.min() > 0 else (1.0 if rise == 0 else math.inf)
    if rise <= max(noise, flat * y.min()):
        verdict = "flat"
    elif slope > 0 and np.all(off <= np.maximum(noise, misfit * y)):
        verdict = "linear"
    else:
        verdict = "other"
    return MemoryGrowth(verdict, float(slope), factor, tuple(Ks))


def _checked(samples: ArrayLike) -> NDArray[np.float64]:
    x = np.atleast_1d(np.asarray(samples, dtype=float))
    if x.ndim != 1 or x.size == 0:
        raise ValueError(f"samples must be a list of at least one figure, not of shape {x.shape}")
    if not np.all((x > 0) & np.isfinite(x)):
        raise ValueError(
            f"samples must be positive and finite, not {x[~((x > 0) & np.isfinite(x))][0]}"
        )
    return x


def _tails() -> tuple[float, float]:
    return (1 - LEVEL) / 2, (1 + LEVEL) / 2


def _interval(x: NDArray[np.float64], seed: int) -> tuple[float, float, float]:
    value = float(np.median(x))
    if x.size == 1:
        return value, 0.0, math.inf
    if x.size < _FEW:
        logs = np.log(x)
        spread = _STUDENT[x.size - 1] * float(np.std(logs, ddof=1)) / math.sqrt(x.size)
        centre = float(np.mean(logs))
        return value, math.exp(centre - spread), math.exp(centre + spread)
    low, high = np.quantile(_medians(x, seed), _tails())
    return value, float(low), float(high)


@lru_cache(maxsize=32)
def _indices(count: int, seed: int) -> NDArray[np.intp]:
    return np.random.default_rng(seed).integers(count, size=(RESAMPLES, count))


def _medians(x: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    return np.median(x[_indices(x.size, seed)], axis=1)


def _verdict(low: float, high: float, margin: float) -> Verdict:
    least, most = 1 / (1 + margin), 1 + margin
    if least <= low and high <= most:
        return "same"
    if high < least:
        return "faster"
    if low > most:
        return "slower"
    return "unclear"
