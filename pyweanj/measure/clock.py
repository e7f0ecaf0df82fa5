"""Timing one function in this process, and how finely the clock ticks."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import TypeVar

__all__ = ["Clock", "resolution", "time_calls", "time_median"]

T = TypeVar("T")

Clock = Callable[[], float]
"""A monotonic clock in seconds, e.g. `time.perf_counter`."""


def time_median(
    f: Callable[[], T],
    sync: Callable[[T], object] | None = None,
    samples: int = 10,
    warmup: int = 1,
    *,
    clock: Clock = time.perf_counter,
) -> float:
    """Median seconds of one call of `f`, as both seed notebooks mean it.

    Every sample is one call, and the synchronisation of its result lies inside the timed
    region.  The `warmup` calls before are synchronised as well, so that none of their work
    runs on into the first sample.

    Parameters
    ----------
    f
        Called with no arguments.
    sync
        Called with the result of `f`; must return only when the device has finished
        (`jax.block_until_ready`).  None where `f` itself returns only then.
    samples
        Number of timed calls, at least 1.
    warmup
        Number of untimed calls before, at least 0.
    clock
        Monotonic, in seconds.

    Returns
    -------
    float
        Seconds.

    Raises
    ------
    ValueError
        `samples` is below 1 or `warmup` below 0.
    """
    if samples < 1 or warmup < 0:
        raise ValueError(f"samples must be ≥ 1 and warmup ≥ 0, not {samples} and {warmup}")
    for _ in range(warmup):
        _finish(f(), sync)
    return statistics.median(time_calls(f, sync, clock=clock) for _ in range(samples))


def time_calls(
    f: Callable[[], T],
    sync: Callable[[T], object] | None = None,
    calls: int = 1,
    *,
    clock: Clock = time.perf_counter,
) -> float:
    """Seconds that `calls` calls of `f` took together, each one synchronised.

    Synchronising each call, and not only the last, keeps an asynchronous system from
    overlapping its calls: the figure is the latency of one call and not the throughput.
    """
    start = clock()
    for _ in range(calls):
        _finish(f(), sync)
    return clock() - start


def resolution(clock: Clock = time.perf_counter, steps: int = 200) -> float:
    """Smallest step between two different readings of `clock`, in seconds.

    This bounds from above both the tick and the cost of one reading, whichever is larger.
    The smallest of `steps` steps is taken: an interrupt can only lengthen a step.

    Raises
    ------
    ValueError
        The clock did not move in a million readings, or ran backwards.
    """
    smallest = float("inf")
    last = clock()
    found = 0
    for _ in range(1_000_000):
        now = clock()
        if now < last:
            raise ValueError(f"the clock ran backwards by {last - now:g} s: use a monotonic clock")
        if now > last:
            smallest = min(smallest, now - last)
            found += 1
            if found == steps:
                break
            last = clock()
    if not found:
        raise ValueError("the clock did not move in a million readings")
    return smallest


def _finish(result: T, sync: Callable[[T], object] | None) -> None:
    if sync is not None:
        sync(result)
