"""Peak memory of this process around one call, and what the kinds of memory figures mean.

For use inside the worker.  On Linux the kernel's high-water mark of resident memory is
reset before the call (``5`` written to ``/proc/self/clear_refs``, proc(5)) and read after
it (``VmHWM`` in ``/proc/self/status``).  Elsewhere the mark of `getrusage` cannot be
reset: it tells the peak of a call only if that call raised it, which the first call in a
fresh process usually does.  Where neither tells, the answer is None and never a guess.

A peak tells what a call needs only if it cannot use what earlier calls freed: the worker
calls `share_heap` before it loads its system, and the heap is drained around each call
(`pyweanj.measure.heap`).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

from pyweanj.measure.clock import Clock
from pyweanj.measure.heap import drained, share_heap

__all__ = [
    "CUDA_ALLOCATED",
    "JULIA_ALLOCATED",
    "KINDS",
    "NOISE",
    "RSS_GROWTH",
    "RSS_PEAK",
    "XLA_PEAK_DEVICE",
    "XLA_TEMP",
    "PeakRss",
    "ResidentMemory",
    "rss_around",
    "share_heap",
]

RSS_PEAK = "rss_peak"
RSS_GROWTH = "rss_growth"
XLA_TEMP = "xla_temp"
JULIA_ALLOCATED = "julia_allocated"
CUDA_ALLOCATED = "cuda_allocated"
XLA_PEAK_DEVICE = "xla_peak_device"

KINDS: Mapping[str, str] = MappingProxyType(
    {
        RSS_PEAK: "highest resident memory of the whole worker process during one call, its "
        "runtime and inputs included; measured alike for every system on a CPU",
        RSS_GROWTH: "rss_peak less the resident memory just before the call: what the call "
        "itself needed; a lower bound where the system's own allocator kept memory and used it "
        "again",
        XLA_TEMP: "scratch memory of the compiled function as XLA plans it, without inputs and "
        "outputs",
        JULIA_ALLOCATED: "bytes that Julia allocated on the host in one call, freed ones "
        "included, so it can exceed the peak",
        CUDA_ALLOCATED: "bytes that CUDA.jl allocated on the device in one call, freed ones "
        "included",
        XLA_PEAK_DEVICE: "highest memory in use on the device since the process started, as "
        "XLA's allocator counts it, inputs included",
    }
)
"""Every kind of memory figure, with what it counts.  Kinds are never ranked together."""

NOISE: Mapping[str, int] = MappingProxyType({RSS_PEAK: 1 << 19, RSS_GROWTH: 1 << 19})
"""Bytes by which a figure of a kind moves on its own, from call to call; others: 0.

Allocators return memory in whole chunks, and their own threads' stacks come and go.
"""


class ResidentMemory(Protocol):
    """Where resident memory is read; one for each way that an operating system offers."""

    def current(self) -> int:
        """Resident bytes now."""
        ...

    def reset(self) -> None:
        """Bring the high-water mark down to the resident memory of now, where possible."""
        ...

    def mark(self) -> int:
        """The high-water mark in bytes."""
        ...


class LinuxMemory:
    """``/proc/self`` of Linux ≥ 4.0.  `folder` is another one in tests."""

    def __init__(self, folder: Path = Path("/proc/self")) -> None:
        self.folder = folder

    def current(self) -> int:
        """Resident bytes now (``VmRSS``)."""
        return self._field("VmRSS")

    def reset(self) -> None:
        """Reset the mark; raises OSError where the kernel or a sandbox refuses."""
        (self.folder / "clear_refs").write_text("5", encoding="ascii")

    def mark(self) -> int:
        """The mark in bytes (``VmHWM``)."""
        return self._field("VmHWM")

    def _field(self, name: str) -> int:
        text = (self.folder / "status").read_text(encoding="ascii", errors="replace")
        for line in text.splitlines():
            if line.startswith(f"{name}:"):
                return int(line.split()[1]) * 1024
        raise OSError(f"{self.folder / 'status'} has no {name}")


class RusageMemory:
    """`getrusage` and psutil, for systems without ``/proc``; the mark cannot be reset."""

    def current(self) -> int:
        """Resident bytes now."""
        import psutil

        return psutil.Process().memory_info().rss

    def reset(self) -> None:
        """Nothing: the mark only rises."""

    def mark(self) -> int:
        """The highest resident memory since the process started, in bytes."""
        try:
            import resource
        except ImportError as error:
            raise OSError("no high-water mark of memory on this system") from error
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024


@dataclass
class PeakRss:
    """Context that watches resident memory: ``with PeakRss() as m: call()``, then `m.peak`.

    Attributes
    ----------
    before
        Resident bytes on entry; None where it cannot be read.
    peak
        Highest resident bytes inside the context; None where it cannot be told.
    reason
        Why a figure is None; else empty.
    """

    source: ResidentMemory | None = None
    before: int | None = None
    peak: int | None = None
    reason: str = ""
    _mark: int = 0
    _heap: ExitStack = field(default_factory=ExitStack)

    @property
    def growth(self) -> int | None:
        """`peak` less `before`, at least 0; None where either is."""
        if self.peak is None or self.before is None:
            return None
        return max(0, self.peak - self.before)

    def __enter__(self) -> PeakRss:
        self.source = self.source or _source()
        self.before = self.peak = None
        self.reason = ""
        self._heap.enter_context(drained())
        try:
            self.source.reset()
            self._mark = self.source.mark()
            self.before = self.source.current()
        except OSError as error:
            self.reason = f"the high-water mark cannot be reset: {error}"
        return self

    def __exit__(self, *_: object) -> None:
        with self._heap:
            if self.source is not None and self.before is not None:
                self._finish(self.source, self.before)

    def _finish(self, source: ResidentMemory, before: int) -> None:
        try:
            peak = source.mark()
        except OSError as error:
            self.reason = f"the high-water mark cannot be read: {error}"
            return
        # A mark well above the memory of before is an old one, which hides a lower new peak.
        stale = self._mark > before + NOISE[RSS_PEAK]
        if stale and peak <= self._mark:
            self.reason = (
                "the process had a higher peak before, and this system cannot reset it: "
                "measure the call first in a fresh process"
            )
            return
        self.peak = peak


def rss_around(
    call: Callable[[], object],
    source: ResidentMemory | None = None,
    *,
    repeats: int = 3,
    patience_s: float = 1.0,
    clock: Clock = time.perf_counter,
) -> dict[str, int | None]:
    """Resident memory around one call, by kind: of several calls the one of median growth.

    A single call may be too high, where it allocates something for good, or too low, where a
    garbage collector cleans up meanwhile what was left of the call before.

    Parameters
    ----------
    call
        What it raises passes through.
    source
        Where memory is read; default: what this operating system offers.
    repeats
        Odd, so that there is a middle one.
    patience_s
        Seconds after which no further call is begun.

    Returns
    -------
    dict
        ``rss_peak`` and ``rss_growth`` in bytes; None where it cannot be told.
    """
    watches: list[PeakRss] = []
    start = clock()
    while not watches or (len(watches) < repeats and clock() - start <= patience_s):
        watch = PeakRss(source)
        with watch:
            call()
        watches.append(watch)
    told = [watch for watch in watches if watch.growth is not None]
    if not told:
        return {RSS_PEAK: None, RSS_GROWTH: None}
    middle = sorted(told, key=lambda watch: watch.growth or 0)[(len(told) - 1) // 2]
    return {RSS_PEAK: middle.peak, RSS_GROWTH: middle.growth}


def _source() -> ResidentMemory:
    return LinuxMemory() if sys.platform == "linux" else RusageMemory()
