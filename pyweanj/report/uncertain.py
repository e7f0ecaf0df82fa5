"""The ratio of two medians that were not measured in the same rounds."""

from __future__ import annotations

import math
from typing import NamedTuple

__all__ = ["Quotient", "quotient"]

Measured = tuple[float | None, tuple[float, float] | None]
"""A median with its 95 % interval."""


class Quotient(NamedTuple):
    """After ÷ before, with its 95 % interval."""

    value: float
    low: float
    high: float


def quotient(before: Measured | None, after: Measured | None) -> Quotient | None:
    """Ratio of two independent medians; None where one is missing or has no interval.

    The interval follows from those of the two by the method of variance estimates recovery
    on the logarithms: distances from the estimates add in quadrature, each side with the
    side of the other that it depends on (G. Y. Zou and A. Donner, "Construction of
    confidence limits about effect measures: a general approach", Statistics in Medicine 27,
    2008).  It holds only what varied while each was measured, not what changed between.
    """
    if before is None or after is None:
        return None
    (a, interval_a), (b, interval_b) = before, after
    if not a or not b or interval_a is None or interval_b is None:
        return None
    # An interval that reaches 0 bounds nothing on the logarithmic scale.
    up_a, up_b = (math.log(i[1] / v) for v, i in ((a, interval_a), (b, interval_b)))
    down_a, down_b = (
        math.log(v / i[0]) if i[0] > 0 else math.inf for v, i in ((a, interval_a), (b, interval_b))
    )
    middle = math.log(b / a)
    return Quotient(
        math.exp(middle),
        math.exp(middle - math.hypot(down_b, up_a)),
        math.exp(min(middle + math.hypot(up_b, down_a), 700.0)),
    )
