"""The ratio of two times that were sampled in the same rounds."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from pyweanj.measure import Ratio, ratio

__all__ = ["paired"]

# The report is built once for each layout; the bootstrap is what takes time.
_ratio = lru_cache(maxsize=4096)(ratio)


def paired(left: Sequence[float] | None, right: Sequence[float] | None) -> Ratio | None:
    """Left ÷ right over the rounds that both were sampled in.

    Who is slow rests from some round on, so what the two share are their first samples.
    None where they share none, or where a sample is no time.
    """
    rounds = min(len(left or ()), len(right or ()))
    a, b = tuple((left or ())[:rounds]), tuple((right or ())[:rounds])
    return _ratio(a, b) if rounds and min(*a, *b) > 0 else None
