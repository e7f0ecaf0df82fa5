"""The machine: what it is, and which cores the workers get."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = [
    "affinity",
    "affinity_warnings",
    "choose_cores",
    "describe",
    "memory_bytes",
    "parse_cores",
    "pin",
]

CPUS = Path("/sys/devices/system/cpu")
BUSY = 0.3
"""A core that others keep busy for more than this fraction is chosen last."""


def affinity() -> list[int] | None:
    """The cores that this process may run on, sorted; None where the system does not tell."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None


def pin(cores: Iterable[int]) -> list[int] | None:
    """Bind this process to `cores` and return what the system then says; None where it cannot.

    Call it before any library is loaded: thread pools take their size and their threads
    their affinity from it.

    Raises
    ------
    ValueError
        No cores, one that does not exist or is not allowed, or the system bound the process
        to others.
    """
    wanted = sorted(set(cores))
    if not hasattr(os, "sched_setaffinity"):
        return None
    text = ", ".join(map(str, wanted)) or "none"
    try:
        os.sched_setaffinity(0, wanted)
    except (OSError, ValueError) as error:
        allowed = ", ".join(map(str, affinity() or []))
        raise ValueError(f"cannot pin to cores {text} (allowed: {allowed}): {error}") from error
    found = affinity()
    if found != wanted:
        raise ValueError(f"pinned to cores {text}, but the system reports {found}")
    return found


@dataclass(frozen=True)
class _Core:
    number: int
    siblings: frozenset[int]
    isolated: bool


def choose_cores(
    threads: int, busy: Mapping[int, float] | None = None, folder: Path = CPUS
) -> list[int] | None:
    """One core for each thread, out of those that this process may use.

    Isolated cores come first (kernel option ``isolcpus``), then idle ones, then one hardware
    thread of each physical core; of equals the highest number, since low ones serve most
    interrupts.

    Parameters
    ----------
    threads
        At least 1.
    busy
        Fraction of time that each core is busy with other work (`stability.read`).
    folder
        Where the system describes its cores.

    Returns
    -------
    list of int or None
        Sorted; None where the system cannot bind a process to cores.

    Raises
    ------
    ValueError
        Fewer cores than `threads` may be used.
    """
    allowed = affinity()
    if allowed is None:
        return None
    if not 1 <= threads <= len(allowed):
        raise ValueError(
            f"{threads} threads were asked for, but this process may use {len(allowed)} cores: "
            f"choose --threads between 1 and {len(allowed)}"
        )
    isolated = parse_cores(_read(folder / "isolated") or "")
    cores = [_Core(c, _siblings(c, folder), c in isolated) for c in allowed]
    chosen: list[_Core] = []
    while len(chosen) < threads:
        taken = frozenset[int]().union(*(c.siblings for c in chosen))

        def rank(core: _Core, taken: frozenset[int] = taken) -> tuple[bool, bool, bool, int]:
            is_busy = (busy or {}).get(core.number, 0.0) > BUSY
            return (not core.isolated, is_busy, core.number in taken, -core.number)

        chosen.append(min((c for c in cores if c not in chosen), key=rank))
    return sorted(c.number for c in chosen)


def memory_bytes() -> int:
    """Physical memory."""
    import psutil

    return psutil.virtual_memory().total


def affinity_warnings(
    expected: list[int] | None, reported: Mapping[str, list[int] | None]
) -> list[str]:
    """One line for each worker that does not run on the cores that all were given.

    Parameters
    ----------
    expected
        The cores asked for; None where the system cannot bind.
    reported
        By worker, what it read back itself.
    """
    if expected is None:
        return []
    return [
        f"{name} runs on {_name_cores(found)} instead of {_name_cores(expected)}: its times are "
        "not comparable with the others'; start it through pyweanj's worker, unpinned by others"
        for name, found in reported.items()
        if found is not None and sorted(found) != sorted(expected)
    ]


def parse_cores(text: str) -> set[int]:
    """The kernel's list of cores (``0-3,8``) as a set."""
    cores: set[int] = set()
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        if first:
            cores.update(range(int(first), int(last or first) + 1))
    return cores


def describe() -> dict[str, Any]:
    """Plain data about this machine, for the environment of a run; None where unknown.

    No host or user name is in it, so that it can be published.
    """
    import psutil

    from pyweanj.measure.clock import resolution

    return {
        "cpu": _cpu_model(),
        "architecture": platform.machine(),
        "cores": os.cpu_count(),
        "physical_cores": psutil.cpu_count(logical=False),
        "affinity": affinity(),
        "memory_bytes": memory_bytes(),
        "caches": _caches(),
        "kernel": f"{platform.system()} {platform.release()}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "libc": " ".join(platform.libc_ver()).strip() or None,
        "governor": governor(),
        "turbo": turbo(),
        "virtual": _virtual(),
        "clock_source": _read(
            Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
        ),
        "clock_resolution_s": resolution(),
    }


def governor(folder: Path = CPUS) -> str | None:
    """The frequency scaling governor of the first core; None where it cannot be read."""
    return _read(folder / "cpu0/cpufreq/scaling_governor")


def turbo(folder: Path = CPUS) -> bool | None:
    """Whether the clock may rise above its nominal rate; None where it cannot be read."""
    intel = _read(folder / "intel_pstate/no_turbo")
    if intel is not None:
        return intel == "0"
    boost = _read(folder / "cpufreq/boost")
    return None if boost is None else boost == "1"


def _cpu_model() -> str | None:
    if sys.platform == "darwin":
        import subprocess

        command = ["sysctl", "-n", "machdep.cpu.brand_string"]
        found = subprocess.run(command, capture_output=True, text=True, check=False)
        return found.stdout.strip() or None
    return _cpuinfo("model name") or platform.processor() or None


def _cpuinfo(field: str) -> str | None:
    for line in (_read(Path("/proc/cpuinfo")) or "").splitlines():
        name, _, value = line.partition(":")
        if name.strip() == field:
            return value.strip()
    return None


def _virtual() -> bool | None:
    flags = _cpuinfo("flags")
    return None if flags is None else "hypervisor" in flags.split()


def _caches() -> dict[str, str]:
    caches = {}
    for index in sorted((CPUS / "cpu0/cache").glob("index*")):
        level, kind, size = (_read(index / name) for name in ("level", "type", "size"))
        if level and size:
            caches[f"L{level} {(kind or '').lower()}".strip()] = size
    return caches


def _siblings(core: int, folder: Path) -> frozenset[int]:
    text = _read(folder / f"cpu{core}/topology/thread_siblings_list")
    return frozenset(parse_cores(text)) if text else frozenset({core})


def _name_cores(cores: list[int]) -> str:
    return ("core " if len(cores) == 1 else "cores ") + ", ".join(map(str, sorted(cores)))


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None
