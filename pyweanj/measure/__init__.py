"""Time and memory: one method for all systems.

The engine decides which worker to ask; this package decides what to ask for and what the
answers mean.  Nothing here knows of systems, processes or files, and everything takes an
injected clock or sampler.
"""

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
