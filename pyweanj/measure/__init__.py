"""Time and memory: one method for all systems.

The engine decides which worker to ask; this package decides what to ask for and what the
answers mean.  Nothing here knows of systems, processes or files, and everything takes an
injected clock or sampler.

The names below are loaded when they are first used: a worker takes from here without NumPy.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyweanj.measure.budget import Forecast, SweepBudget, predict
    from pyweanj.measure.clock import resolution, time_calls, time_median
    from pyweanj.measure.sampling import (
        Rule,
        Sample,
        Sampler,
        Samples,
        calibrate,
        interleave,
        seeds_rule,
    )
    from pyweanj.measure.statistics import (
        MARGIN,
        Growth,
        Interval,
        MemoryGrowth,
        Ratio,
        growth_exponent,
        median_interval,
        memory_growth,
        ratio,
    )

_HOME = {
    "Forecast": "budget",
    "Growth": "statistics",
    "Interval": "statistics",
    "MARGIN": "statistics",
    "MemoryGrowth": "statistics",
    "Ratio": "statistics",
    "Rule": "sampling",
    "Sample": "sampling",
    "Sampler": "sampling",
    "Samples": "sampling",
    "SweepBudget": "budget",
    "calibrate": "sampling",
    "growth_exponent": "statistics",
    "interleave": "sampling",
    "median_interval": "statistics",
    "memory_growth": "statistics",
    "predict": "budget",
    "ratio": "statistics",
    "resolution": "clock",
    "seeds_rule": "sampling",
    "time_calls": "clock",
    "time_median": "clock",
}

__all__ = [
    "MARGIN",
    "Forecast",
    "Growth",
    "Interval",
    "MemoryGrowth",
    "Ratio",
    "Rule",
    "Sample",
    "Sampler",
    "Samples",
    "SweepBudget",
    "calibrate",
    "growth_exponent",
    "interleave",
    "median_interval",
    "memory_growth",
    "predict",
    "ratio",
    "resolution",
    "seeds_rule",
    "time_calls",
    "time_median",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(f"pyweanj.measure.{_HOME[name]}"), name)
    raise AttributeError(f"module 'pyweanj.measure' has no attribute {name!r}")
