"""Whether the machine is quiet enough to be timed on, and what to do where it is not.

The points are those that pyperf explains in its chapter on stable benchmarks and in
``pyperf system``: other load, frequency scaling, turbo, and what a virtual machine loses
to its neighbours; and, since none of these can be read everywhere, the spread of a loop
whose work never changes.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pyweanj.measure import machine
from pyweanj.measure.clock import Clock

__all__ = [
    "Readings",
    "calibration_loop",
    "loop_spread",
    "read",
    "sample_warnings",
    "warnings",
]

LOOP_SPREAD = 0.05
BUSY = 0.1
STEAL = 0.02
LEAK = 1.25
"""A first sample more than this times the median of the others is flagged …"""
DEVIATIONS = 6.0
"""… if it also lies this many of their deviations above."""
DRIFT = 0.05
"""A change between the halves of the samples by more than this is flagged …"""
SCORE = 2.8
"""… if chance alone gives it less than once in 200 times (standard score)."""


@dataclass(frozen=True)
class Readings:
    """What the machine said at one moment; None where it does not tell."""

    cores: list[int] | None = None
    """The cores that the workers will use."""
    cpu_count: int = 1
    load: float | None = None
    """Load average over one minute."""
    busy: dict[int, float] = field(default_factory=dict)
    """By core, the fraction of time spent on anything."""
    steal: float | None = None
    """Fraction of time that the hypervisor gave to others."""
    programs: dict[int, list[str]] = field(default_factory=dict)
    """By core, other programs seen using it."""
    governor: str | None = None
    turbo: bool | None = None
    on_battery: bool | None = None
    loop: tuple[float, ...] = ()
    """Seconds of repetitions of `calibration_loop`."""


def read(cores: list[int] | None, interval_s: float = 0.3) -> Readings:
    """Look at the machine for about `interval_s` seconds, then time the calibration loop."""
    import psutil

    before = _processor_seconds()
    # As shares of what was seen: below a second psutil's percentages do not add up to 100.
    shares = [_shares(p) for p in psutil.cpu_times_percent(interval=interval_s, percpu=True)]
    programs = _programs(before, _processor_seconds(), interval_s)
    battery = psutil.sensors_battery() if hasattr(psutil, "sensors_battery") else None
    steals = [share.get("steal") for share in shares]
    watched = range(len(shares)) if cores is None else [c for c in cores if c < len(shares)]
    steal = [s for c in watched if (s := steals[c]) is not None]
    return Readings(
        cores=cores,
        cpu_count=len(shares),
        load=os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        busy={
            core: max(0.0, 1 - share.get("idle", 1.0) - share.get("iowait", 0.0))
            for core, share in enumerate(shares)
        },
        steal=max(steal) if steal else None,
        programs=programs,
        governor=machine.governor(),
        turbo=machine.turbo(),
        on_battery=None if battery is None else not battery.power_plugged,
        loop=tuple(calibration_loop(cores)),
    )


def _shares(percents: Any) -> dict[str, float]:
    """Shares of the seen time by kind; guests are part of user time and left out."""
    found = {k: v for k, v in percents._asdict().items() if not k.startswith("guest")}
    total = sum(found.values())
    return {kind: value / total for kind, value in found.items()} if total else {}


def warnings(readings: Readings) -> list[str]:
    """What makes times from this machine unsure, a line each: what it is and what to do."""
    r = readings
    found = []
    busy = [c for c, part in r.busy.items() if part > BUSY and (r.cores is None or c in r.cores)]
    for core in busy if r.cores is not None else []:
        who = ", ".join(r.programs.get(core, [])[:3])
        found.append(
            f"core {core}, on which the workers run, is {r.busy[core]:.0%} busy with other work"
            f"{f' ({who})' if who else ''}: stop it or let it end"
        )
    if r.load is not None and not (r.cores is not None and busy) and r.load > 0.75 * r.cpu_count:
        found.append(
            f"the load average is {r.load:.1f} on {r.cpu_count} cores: other programs compete for "
            "the processor; stop them or let them end"
        )
    if r.steal is not None and r.steal > STEAL:
        found.append(
            f"the hypervisor gives {r.steal:.0%} of this machine's time to others: trust ratios of "
            "one run, not its seconds, or use a machine of your own"
        )
    if r.governor is not None and r.governor not in ("performance", "schedutil"):
        found.append(
            f"the frequency governor is {r.governor}: the clock rises and falls with the load; "
            "set it with `cpupower frequency-set -g performance`"
        )
    if r.turbo:
        found.append(
            "turbo is on: the clock depends on temperature and on the other cores; switch it off "
            "(`python -m pyperf system tune`) where seconds must be repeatable"
        )
    if r.on_battery:
        found.append("this machine runs on its battery, which lowers the clock: plug it in")
    spread = loop_spread(r.loop)
    if spread is not None and spread > LOOP_SPREAD:
        found.append(
            f"a loop of constant work varied by {spread:.0%}: the clock or the load of the machine "
            "is unstable; wait for it to calm down, or read the intervals rather than the medians"
        )
    return found


def calibration_loop(
    cores: list[int] | None, samples: int = 20, *, clock: Clock = time.perf_counter
) -> list[float]:
    """Seconds of `samples` repetitions of the same work, about 2 ms each, on the first core.

    The calling thread is bound to that core meanwhile and set free again after.
    """
    before = machine.affinity()
    if cores and before is not None:
        machine.pin(cores[:1])
    try:
        found = []
        for _ in range(samples):
            start = clock()
            sum(range(100_000))
            found.append(clock() - start)
        return found
    finally:
        if cores and before is not None:
            machine.pin(before)


def loop_spread(loop: Sequence[float]) -> float | None:
    """Interquartile range ÷ median of the loop's times; None with fewer than four."""
    if len(loop) < 4:
        return None
    low, middle, high = np.quantile(loop, (0.25, 0.5, 0.75))
    return float((high - low) / middle)


def sample_warnings(seconds: ArrayLike) -> list[str]:
    """What is suspicious about the samples of one implementation, a line each.

    A first sample far above the others is a compile or a cold start that leaked into the
    steady state; the median hardly moves, but the mean would.  A change between the halves is
    a drift of the machine, which only ratios of the same rounds survive.

    Parameters
    ----------
    seconds
        Per call, in the order of rounds; fewer than three tell nothing.
    """
    x = np.asarray(seconds, dtype=float)
    if x.size < 3:
        return []
    found = []
    rest = x[1:]
    middle = float(np.median(rest))
    # 1.4826: the median absolute deviation of a normal distribution in standard deviations.
    deviation = 1.4826 * float(np.median(np.abs(rest - middle)))
    if x[0] > LEAK * middle and x[0] > middle + DEVIATIONS * deviation and x[0] > np.max(rest):
        found.append(
            f"the first sample took {x[0] / middle:.3g} times the median of the others: a compile "
            "or a cold start leaked into it; warm up with one more call"
        )
    if rest.size > 1:
        first, second = np.array_split(rest, 2)
        change = float(np.median(second) / np.median(first))
        if _rank_score(first, second) > SCORE and not 1 / (1 + DRIFT) <= change <= 1 + DRIFT:
            found.append(
                f"the second half of the samples took {change:.3g} times the first: the machine "
                "drifted; compare by ratios of the same rounds, not by seconds"
            )
    return found


def _rank_score(first: np.ndarray, second: np.ndarray) -> float:
    """Standard score of the U of Mann and Whitney (1947), without its sign."""
    m, n = first.size, second.size
    later = np.sum(second[:, None] > first[None, :])
    return float(abs(later - m * n / 2) / np.sqrt(m * n * (m + n + 1) / 12))


def _processor_seconds() -> dict[int, tuple[str, int, float]]:
    """By process: name, core, and processor seconds so far, of all but this process."""
    import psutil

    found = {}
    for process in psutil.process_iter(["name", "cpu_num", "cpu_times"]):
        info = process.info
        times, core = info.get("cpu_times"), info.get("cpu_num")
        if process.pid != os.getpid() and times is not None and core is not None:
            found[process.pid] = (info["name"] or "?", core, times.user + times.system)
    return found


def _programs(
    before: dict[int, tuple[str, int, float]],
    after: dict[int, tuple[str, int, float]],
    interval_s: float,
) -> dict[int, list[str]]:
    """By core, the programs that used more than a tenth of `interval_s`, the busiest first."""
    used = [
        (seconds - before[pid][2], core, f"{name} {pid}")
        for pid, (name, core, seconds) in after.items()
        if pid in before and seconds - before[pid][2] > 0.1 * interval_s
    ]
    found: dict[int, list[str]] = {}
    for _, core, name in sorted(used, reverse=True):
        found.setdefault(core, []).append(name)
    return found
