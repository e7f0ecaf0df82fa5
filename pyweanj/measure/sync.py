"""Whether a sampler returns only when the device has finished."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

from pyweanj.measure.clock import Clock
from pyweanj.measure.sampling import Sampler

__all__ = ["SyncCheck", "check_sync"]

LEFT = 0.2


@dataclass(frozen=True)
class SyncCheck:
    """What a device still had to do after a sampler had returned."""

    reported_s: float
    """What the sampler said."""
    left_s: float
    """Extra seconds that the device then needed until it was idle."""

    @property
    def synchronised(self) -> bool:
        """Whether nothing that matters was left in flight: at most a fifth of the reported time.

        An asynchronous call that is not waited for returns within a small part of its true
        time, so what is left is many times what was reported.
        """
        return self.left_s <= LEFT * self.reported_s


def check_sync(
    sample: Sampler,
    settle: Callable[[], object],
    calls: int = 1,
    *,
    repeats: int = 5,
    clock: Clock = time.perf_counter,
) -> SyncCheck:
    """Look for work left in flight after `sample` returned.

    `settle` is timed right after a sample and again on the idle device; what it took longer
    the first time is what the sampler had not waited for.  The medians of `repeats` are
    compared, so one interruption does not decide.

    Parameters
    ----------
    sample
        ``sample(calls) -> seconds``.
    settle
        Returns only when everything given to the device before has finished: a tiny
        computation on the same queue with its result fetched (devices work in order), or
        the system's own barrier (`jax.effects_barrier` is not one; ``CUDA.synchronize`` is).
    calls
        Calls in one sample; one of at least a few milliseconds shows most.
    """
    sample(calls)
    settle()
    reported, after, idle = [], [], []
    for _ in range(repeats):
        reported.append(sample(calls))
        after.append(_timed(settle, clock))
        idle.append(_timed(settle, clock))
    left = statistics.median(after) - statistics.median(idle)
    return SyncCheck(statistics.median(reported), max(0.0, left))


def _timed(f: Callable[[], object], clock: Clock) -> float:
    start = clock()
    f()
    return clock() - start
