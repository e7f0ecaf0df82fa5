"""The plan of a run: plain data, a list of cases with everything a worker needs to know."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from pyweanj import systems
from pyweanj.errors import UsageError, unknown
from pyweanj.example import DTYPES, Example, Size
from pyweanj.records import Case

__all__ = ["DEVICES", "GroupKey", "Options", "Planned", "Task", "group_key", "groups", "plan"]

Task = Literal["check", "time", "memory"]
DEVICES = ("cpu", "gpu")


@dataclass(frozen=True)
class Options:
    """What `compare` was asked for; an empty tuple means all that there are."""

    systems: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = ("float64",)
    sizes: tuple[int, ...] = ()
    sweeps: tuple[int, ...] = ()
    threads: int = 1
    budget_s: float = 2.5
    timeout_s: float = 600.0
    preset: Literal["default", "quick", "seeds"] = "default"
    tasks: tuple[Task, ...] = ("check", "time", "memory")
    require: tuple[str, ...] = ()
    seed: int | None = None
    tolerance: float | None = None
    """Relative, instead of the derived one."""

    def to_json(self) -> dict[str, Any]:
        """Plain data, as stored with a run."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Options:
        """The inverse of `to_json`."""
        values: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in data.items()
        }
        return cls(**values)


@dataclass(frozen=True)
class Planned:
    """One case and what is to be found out about it."""

    case: Case
    computes: str
    tasks: tuple[Task, ...] = field(default=())


def plan(example: Example, options: Options, devices: Sequence[str]) -> list[Planned]:
    """Every case of the run, in the order in which they are run: sizes small to large.

    Parameters
    ----------
    devices
        The devices to plan for where `options` names none.

    Raises
    ------
    UsageError
        A system, variant, device or dtype that does not exist, or a size that makes no sense.
    """
    chosen_systems = _choose("system", options.systems, systems.SYSTEMS)
    chosen_variants = _choose("variant", options.variants, [v.name for v in example.variants])
    chosen_devices = _choose("device", options.devices, DEVICES) if options.devices else devices
    chosen_dtypes = _choose("dtype", options.dtypes, DTYPES)
    for name in options.require:
        if name not in systems.SYSTEMS:
            raise unknown("system", name, systems.SYSTEMS)
    _numbers(options)
    sizes = _sizes(example, options)

    planned = []
    for dtype in chosen_dtypes:
        for size, tasks in sizes.items():
            for name in chosen_variants:
                variant = example.variant(name)
                for system in chosen_systems:
                    if system not in variant.systems:
                        continue
                    for device in chosen_devices:
                        if device not in systems.load(system).devices:
                            continue
                        case = Case(system, name, device, dtype, size.n, size.K)
                        wanted = _wanted(system, tasks, options.tasks)
                        if wanted:
                            planned.append(Planned(case, variant.computes, wanted))
    if not planned:
        raise UsageError(
            "nothing to run: no system of "
            f"{', '.join(chosen_systems)} has {', '.join(chosen_variants)} on "
            f"{', '.join(chosen_devices)}"
        )
    return planned


GroupKey = tuple[str, int, int, str]
"""What the cases of a group share: dtype, n, K, computes."""


def group_key(computes: str, dtype: str, n: int, K: int) -> GroupKey:
    """The group of a case, record or pair with these fields."""
    return dtype, n, K, computes


def groups(planned: Sequence[Planned]) -> dict[GroupKey, list[Planned]]:
    """The plan's cases by what is held against each other, in the order of their first."""
    found: dict[GroupKey, list[Planned]] = {}
    for p in planned:
        found.setdefault(group_key(p.computes, p.case.dtype, p.case.n, p.case.K), []).append(p)
    return found


def _numbers(options: Options) -> None:
    """Whether the numbers in `options` make sense."""
    if options.tolerance is not None and not 0 < options.tolerance < math.inf:
        raise UsageError(f"tolerance {options.tolerance:g}; give a positive number")
    if not 0 < options.timeout_s < math.inf:
        raise UsageError(f"time-out {options.timeout_s:g} s; give a positive number of seconds")
    if not options.budget_s >= 0:
        raise UsageError(f"budget {options.budget_s:g} s; give a number of seconds")
    if options.seed is not None and not 0 <= options.seed < 2**32:
        raise UsageError(f"seed {options.seed}; give a whole number from 0 to {2**32 - 1}")


def _sizes(example: Example, options: Options) -> dict[Size, set[Task]]:
    """The sizes of the run, each with the tasks that it is there for."""
    timing = example.quick if options.preset == "quick" else example.timing
    memory = () if options.preset == "quick" else example.memory
    if options.sizes or options.sweeps:
        for value, name in ((n, "n") for n in options.sizes):
            if value < 1:
                raise UsageError(f"{name} = {value} is no size; give whole numbers from 1 up")
        for K in options.sweeps:
            if K < 0:
                raise UsageError(f"K = {K} is no number of sweeps; give whole numbers from 0 up")
        known = timing or example.timing or (example.check,)
        ns = options.sizes or tuple(dict.fromkeys(size.n for size in known))
        Ks = options.sweeps or tuple(dict.fromkeys(size.K for size in known))
        timing = tuple(Size(n, K) for K in Ks for n in ns)
        memory = ()
    sizes: dict[Size, set[Task]] = {}
    groups: tuple[tuple[tuple[Size, ...], Task], ...] = (
        ((example.check,), "check"),
        (timing, "time"),
        (memory, "memory"),
    )
    for group, task in groups:
        for size in group:
            sizes.setdefault(size, set()).add(task)
    return sizes


def _wanted(system: str, tasks: set[Task], asked: tuple[Task, ...]) -> tuple[Task, ...]:
    # The oracle decides what is right at every timing size, but is no competitor in speed.
    if system == "oracle":
        deciding = "check" in tasks or ("time" in tasks and "time" in asked)
        return ("check",) if "check" in asked and deciding else ()
    return tuple(t for t in ("check", "time", "memory") if t in tasks and t in asked)


def _choose(kind: str, asked: Iterable[str], known: Iterable[str]) -> list[str]:
    known = list(known)
    for name in asked:
        if name not in known:
            raise unknown(kind, name, known)
    wanted = set(asked)
    return [name for name in known if not wanted or name in wanted]
