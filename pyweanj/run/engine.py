"""The engine of a run: looks at everything first, then takes one group after the other."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from pyweanj import environment
from pyweanj.declaration import examine_arrays, examine_size, in_user_code
from pyweanj.errors import UsageError
from pyweanj.example import Example, Size
from pyweanj.inputs import committed_file, load_inputs
from pyweanj.inputs import inputs as make
from pyweanj.measure import machine
from pyweanj.records import FAILURES, Joint, Outcome, Pair, Record
from pyweanj.run import cost
from pyweanj.run.group import Group, Observer, Prepared
from pyweanj.run.plan import DEVICES, Options, groups, plan
from pyweanj.run.resume import kept_groups
from pyweanj.run.workers import Workers
from pyweanj.store import Run
from pyweanj.systems import SYSTEMS, load
from pyweanj.verify.tolerance import WELL, Condition

__all__ = ["execute", "exit_status", "prepare"]


def prepare(
    example: Example, reference: str, options: Options, *, inputs: Path | None = None
) -> Prepared:
    """Plan a run and check its inputs, before any folder is made or worker started.

    Parameters
    ----------
    reference
        What `catalogue.load` found `example` by.
    inputs
        Another file with the inputs of the check size.

    Raises
    ------
    UsageError
        A name that does not exist, sizes or threads that cannot be, or inputs that must not
        be used (`InputsError`).
    """
    planned = plan(example, options, _devices_here())
    with in_user_code(example):
        if inputs is None and example.data is None and not committed_file(example).exists():
            arrays = make(example, example.check.n, seed=options.seed)
        else:
            arrays = load_inputs(example, inputs)
        examine_arrays(example, arrays)
        memory = machine.memory_bytes()
        for size in {p.case[-2:] for p in planned}:
            examine_size(example, Size(*size), memory)
    other = {p.case.n for p in planned} - {example.check.n}
    if example.make_inputs is None and other:
        raise UsageError(
            f"{example.name} has the arrays of {example.file} alone, which are those of "
            f"n = {example.check.n}, not of {min(other)}; give its Example make_inputs="
        )
    try:
        cores = machine.choose_cores(options.threads)
    except ValueError as error:
        raise UsageError(str(error)) from error
    return Prepared(example, reference, options, tuple(planned), arrays, inputs, tuple(cores or ()))


def execute(prepared: Prepared, run: Run, observer: Observer, *, resume: bool = False) -> Joint:
    """Run every planned case; the joint table, also where the run was interrupted.

    With `resume` the groups whose cases all ended, and not in a failure of their worker,
    are taken from the folder instead of being run again.

    Records are on the disk as soon as their group ends.  An interruption (Ctrl-C, SIGTERM)
    ends the workers, writes what was found and returns it with ``complete`` false.
    """
    options = prepared.options
    about = environment.describe()
    about["warnings"] = _warnings(prepared)
    about["options"] = options.to_json()
    kept = kept_groups(prepared.plan, run) if resume else {}
    if not resume:
        run.begin(
            {
                "example": prepared.reference,
                "options": options.to_json(),
                "inputs": str(prepared.inputs) if prepared.inputs else None,
                "environment": about,
                "plan": [
                    {"case": p.case._asdict(), "computes": p.computes, "tasks": list(p.tasks)}
                    for p in prepared.plan
                ],
            }
        )
    workers = Workers(
        run.folder / "logs",
        threads=options.threads,
        cores=prepared.cores,
        timeout=options.timeout_s,
    )
    records: list[Record] = []
    pairs: list[Pair] = []
    complete = True
    group: Group | None = None
    conditions: dict[str, Condition] = {}
    budgets = cost.Budgets(options.budget_s)
    rng = np.random.default_rng(prepared.example.seed if options.seed is None else options.seed)
    with _terminable():
        try:
            for key, members in groups(prepared.plan).items():
                if key in kept:
                    found, compared = kept[key]
                    records += found
                    pairs += compared
                    for record in found:
                        budgets.add_record(record)
                        if record.condition:
                            conditions[record.computes] = Condition(*record.condition)
                        observer.done(record)
                    continue
                computes = members[0].computes
                group = Group(
                    prepared,
                    run,
                    workers,
                    budgets,
                    rng,
                    observer,
                    members,
                    conditions.get(computes, WELL),
                )
                group.work()
                conditions[computes] = group.condition
                records += group.close()
                pairs += group.pairs
                group = None
        except KeyboardInterrupt:
            complete = False
            workers.close(at_once=True)
            if group is not None:
                records += group.close(interrupted=True)
                pairs += group.pairs
        finally:
            workers.close(at_once=not complete)
    cores = {" ".join(r.case[:3]): r.affinity for r in records if r.grad_samples}
    about["warnings"] += machine.affinity_warnings(list(prepared.cores) or None, cores)
    about["doubtful_samples"] = _doubts(records)
    joint = Joint(
        example=prepared.example.name,
        environment=about,
        records=records,
        pairs=pairs,
        complete=complete,
    )
    run.finish(joint)
    return joint


def exit_status(joint: Joint, require: tuple[str, ...] = ()) -> int:
    """0 all that ran agree, 1 a failure or a required system missing, 3 fewer than two ran.

    130 where the run was interrupted.
    """
    if not joint.complete:
        return 130
    if any(record.outcome in FAILURES for record in joint.records):
        return 1
    if any(pair.verdict == "mismatch" for pair in joint.pairs):
        return 1
    ran = {r.system for r in joint.records if r.outcome is Outcome.OK}
    if not set(require) <= ran:
        return 1
    side_by_side: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
    for record in joint.records:
        if record.outcome is Outcome.OK:
            side_by_side.setdefault((record.computes, record.dtype), set()).add(record.case[:3])
    return 0 if any(len(found) >= 2 for found in side_by_side.values()) else 3


def _devices_here() -> list[str]:
    """The devices on which some system could start."""
    return [
        device
        for device in DEVICES
        if device == "cpu"
        or any(load(s).probe(device).available for s in SYSTEMS if device in load(s).devices)
    ]


def _warnings(prepared: Prepared) -> list[str]:
    """What makes timings on this machine doubtful, a line each; empty where nothing is timed."""
    if not any("time" in planned.tasks for planned in prepared.plan):
        return []
    from pyweanj.measure import stability

    return stability.warnings(stability.read(list(prepared.cores) or None))


def _doubts(records: list[Record]) -> list[str]:
    """What samples say against themselves, a line each; a median stands above most of it."""
    from pyweanj.measure import stability

    found = []
    for record in records:
        for what, samples in (
            ("forward", record.forward_samples),
            ("gradient", record.grad_samples),
        ):
            found += [
                f"{record.case}, {what}: {text}"
                for text in stability.sample_warnings(samples or [])
            ]
    return found


@contextlib.contextmanager
def _terminable() -> Iterator[None]:
    """SIGTERM ends the run as Ctrl-C does: a scheduler's time limit loses nothing."""

    def interrupt(_signal: int, _frame: FrameType | None) -> Any:
        raise KeyboardInterrupt

    try:
        before = signal.signal(signal.SIGTERM, interrupt)
    except ValueError:  # not in the main thread: the caller's own affair
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
