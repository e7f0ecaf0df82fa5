"""What the next size of a sweep will cost, so that it is not started when it costs too much."""

from __future__ import annotations

from dataclasses import dataclass, field

from pyweanj.example import Size
from pyweanj.measure.statistics import growth_exponent

__all__ = ["Forecast", "SweepBudget", "predict"]

LEAST_EXPONENT = 2.0
"""A grid of n × n points: a time that grows less than n² has not reached its growth yet."""


def predict(sizes: list[Size], seconds: list[float], size: Size) -> float | None:
    """Seconds that one call at `size` will take, from medians at smaller sizes.

    The last of the measured sizes (by n) is scaled by (n'/n)^p and by K'/K.  p is fitted to
    the last three sizes, log–log and per step of K, and taken as at least 2: what small
    grids show is mostly the cost of a call, which would promise too much.  K = 0, of a problem
    without steps, counts as 1.

    Returns
    -------
    float or None
        None where nothing was measured.
    """
    if not sizes:
        return None
    measured = sorted(zip(sizes, seconds, strict=True))[-3:]
    growth = growth_exponent([s.n for s, _ in measured], [[t / max(s.K, 1)] for s, t in measured])
    exponent = max(LEAST_EXPONENT, growth.exponent if growth else 0.0)
    last, last_s = measured[-1]
    return last_s * (size.n / last.n) ** exponent * (max(size.K, 1) / max(last.K, 1))


@dataclass(frozen=True)
class Forecast:
    """Whether a size may run."""

    allowed: bool
    seconds: float | None
    """Predicted seconds of one gradient; None where nothing was measured."""
    reason: str
    """One line; empty where the size may run."""


@dataclass
class SweepBudget:
    """The budget of one implementation's sweep over n: seconds that one gradient may take."""

    budget_s: float
    sizes: list[Size] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def add(self, size: Size, gradient_s: float) -> None:
        """Tell the median seconds of one gradient at `size`."""
        self.sizes.append(size)
        self.seconds.append(gradient_s)

    def forecast(self, size: Size) -> Forecast:
        """Whether one gradient at `size` is predicted to stay within the budget."""
        expected = predict(self.sizes, self.seconds, size)
        if expected is None or expected <= self.budget_s:
            return Forecast(True, expected, "")
        reason = (
            f"one gradient at n = {size.n} is predicted to take {expected:.3g} s, "
            f"over the budget of {self.budget_s:g} s"
        )
        return Forecast(False, expected, reason)
