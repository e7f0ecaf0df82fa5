"""A machine whose time is computed: clocks and samplers for tests, without waiting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Machine:
    """Time passes only through work; `slowness(t)` tells how much slower the machine is at t."""

    slowness: Callable[[float], float] = lambda _: 1.0
    seed: int = 0
    now: float = 100.0
    log: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)

    def clock(self) -> float:
        return self.now

    def work(self, seconds: float, noise: float = 0.0) -> float:
        """Do work that takes `seconds` on the quiet machine; returns what it really took."""
        factor = self.slowness(self.now) * float(np.exp(noise * self.rng.standard_normal()))
        self.now += seconds * factor
        return seconds * factor

    def sampler(
        self, seconds: float, noise: float = 0.0, name: str = "", first: float = 0.0
    ) -> Callable[[int], float]:
        """A sampler of a call that takes `seconds`; its very first call takes `first` more."""
        extra = [first]

        def sample(calls: int) -> float:
            self.log.append(name)
            return self.work(seconds * calls + extra.pop() if extra else seconds * calls, noise)

        return sample


@dataclass
class AsyncDevice:
    """A device that works through a queue on its own, as XLA's and CUDA's do."""

    machine: Machine
    busy_until: float = 0.0

    def dispatch(self, seconds: float) -> float:
        """Queue work; returns at once (10 µs). The result is when it will be finished."""
        self.machine.now += 1e-5
        self.busy_until = max(self.busy_until, self.machine.now) + seconds
        return self.busy_until

    def wait(self, until: float | None = None) -> None:
        """Block until all work, or that of one result, is finished."""
        until = self.busy_until if until is None else until
        self.machine.now = max(self.machine.now, until) + 1e-6
