"""The engine of a run: groups of cases that are the same mathematics at the same size.

The cases of a group are open at the same time, each in its own worker, so that their
gradients can be held against each other and their samples interleaved.
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, Protocol

import numpy as np

from pyweanj import environment
from pyweanj.errors import UsageError
from pyweanj.example import Example, Size
from pyweanj.inputs import cast, committed_file, load_inputs, make_file, write_arrays
from pyweanj.inputs import inputs as make
from pyweanj.measure import machine
from pyweanj.records import FAILURES, Joint, Outcome, Pair, Record
from pyweanj.run import check, cost
from pyweanj.run.plan import DEVICES, Options, Planned, plan
from pyweanj.run.session import Session
from pyweanj.run.workers import Workers
from pyweanj.store import Run
from pyweanj.systems import SYSTEMS, load

__all__ = ["Observer", "Prepared", "execute", "exit_status", "prepare"]


INTERRUPTED = "interrupted before it was finished"


class Observer(Protocol):
    """Is told what goes on; shows it to somebody or not."""

    def doing(self, planned: Planned, step: str) -> None:
        """`planned` has come to `step`."""

    def done(self, record: Record) -> None:
        """One more case has its record, on the disk."""


@dataclass(frozen=True)
class Prepared:
    """A run that could start now: everything that a user can get wrong has been looked at."""

    example: Example
    reference: str
    options: Options
    plan: tuple[Planned, ...]
    check_inputs: dict[str, np.ndarray]
    inputs: Path | None
    """The file that they came from, where it is not the example's own."""
    cores: tuple[int, ...]


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
    if inputs is None and example.data is None and not committed_file(example).exists():
        arrays = make(example, example.check.n, seed=options.seed)
    else:
        arrays = load_inputs(example, inputs)
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
    if resume:
        kept = _Kept(prepared, run)
    else:
        kept = _Kept(prepared, None)
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
    group: _Group | None = None
    budgets = cost.Budgets(options.budget_s)
    rng = np.random.default_rng(prepared.example.seed if options.seed is None else options.seed)
    with _terminable():
        try:
            for key, members in _groups(prepared.plan).items():
                if key in kept.groups:
                    found, compared = kept.groups[key]
                    records += found
                    pairs += compared
                    for record in found:
                        budgets.add_record(record)
                        observer.done(record)
                    continue
                group = _Group(prepared, run, workers, budgets, rng, observer, members)
                group.work()
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


class _Group:
    """The cases of one computation at one size and dtype."""

    def __init__(
        self,
        prepared: Prepared,
        run: Run,
        workers: Workers,
        budgets: cost.Budgets,
        rng: np.random.Generator,
        observer: Observer,
        members: list[Planned],
    ) -> None:
        self.prepared = prepared
        self.run = run
        self.budgets = budgets
        self.rng = rng
        self.observer = observer
        self.pairs: list[Pair] = []
        self.checker: check.Checker | None = None
        options = prepared.options
        self.sessions = [
            Session(planned, prepared.example, prepared.reference, workers, run, options.timeout_s)
            for planned in members
        ]
        _make_inputs(prepared, run, Size(*members[0].case[4:]), members[0].case.dtype)

    def work(self) -> None:
        """Everything about these cases, in the order: right first, then what it costs."""
        options, example = self.prepared.options, self.prepared.example
        checking = "check" in options.tasks
        for session in self.sessions:
            self._open(session, checking)
        if checking:
            self.checker = check.Checker(
                example, self.run, self.sessions, self.rng, options.tolerance
            )
            self.checker.like_for_like()
            for session in self.checker.sessions:
                self.observer.doing(session.planned, "prove")
                self.checker.prove(session)
            self.checker.compare()
        self._measure()
        if self.checker is not None:
            self.checker.inputs_unchanged()
        for session in self.sessions:
            session.finished = True

    def close(self, *, interrupted: bool = False) -> list[Record]:
        """Release the cases and write their records; those that were never begun have none."""
        records = []
        if self.checker is not None:
            self.checker.judge()
            self.pairs = self.checker.pairs()
        for session in self.sessions:
            if not session.begun:
                continue
            if interrupted and not session.finished:
                session.end(Outcome.SKIPPED, INTERRUPTED)
            if not interrupted:
                session.release()
            records.append(session.record)
        self.run.append([*self.pairs, *records])
        for record in records:
            self.observer.done(record)
        return records

    def _live(self, task: str) -> list[Session]:
        return [s for s in self.sessions if s.alive and task in s.planned.tasks]

    def _open(self, session: Session, checking: bool) -> None:
        """Prepare and evaluate one case, unless it would take too long."""
        session.begun = True
        planned = session.planned
        refusal = self.budgets.refusal(session.case)
        if refusal and planned.tasks != ("memory",):
            session.end(Outcome.SKIPPED, refusal)
            return
        with session.guard():
            self.observer.doing(planned, "compile")
            session.prepare()
            if checking and planned.tasks != ("memory",):
                self.observer.doing(planned, "evaluate")
                check.evaluate(session, self.run)
                if session.evaluate_s is not None and "time" not in planned.tasks:
                    self.budgets.add(session.case, session.evaluate_s)

    def _measure(self) -> None:
        options = self.prepared.options
        timed = self._live("time")
        if timed:
            self.observer.doing(timed[0].planned, "time")
            interrupted = cost.sample(timed, options.preset, self.rng)
            for session in timed:
                if session.record.grad_s is not None:
                    self.budgets.add(session.case, session.record.grad_s)
            if interrupted:
                raise KeyboardInterrupt
            for session in timed:
                cost.measure_bridge(session)
        measured = {s.case: s for s in (*self._live("memory"), *timed) if s.alive}
        for case, session in measured.items():
            if "memory" in options.tasks:
                self.observer.doing(session.planned, "memory")
                cost.measure_memory(session, run_it=not self.budgets.refusal(case))


GroupKey = tuple[str, int, int, str]


def _key(computes: str, dtype: str, n: int, K: int) -> GroupKey:
    return dtype, n, K, computes


def _groups(planned: tuple[Planned, ...]) -> dict[GroupKey, list[Planned]]:
    """The plan's cases by what is held against each other, in the order of their first."""
    groups: dict[GroupKey, list[Planned]] = {}
    for p in planned:
        groups.setdefault(_key(p.computes, p.case.dtype, p.case.n, p.case.K), []).append(p)
    return groups


class _Kept:
    """What an earlier, interrupted run found and need not be found again.

    A group is kept whole or not at all, since its samples were taken in turns.
    """

    #: A case that ended so may end better when it is run again.
    AGAIN = frozenset(FAILURES - {Outcome.MISMATCH}) | {Outcome.UNAVAILABLE}

    def __init__(self, prepared: Prepared, run: Run | None) -> None:
        self.groups: dict[GroupKey, tuple[list[Record], list[Pair]]] = {}
        if run is None:
            return
        records = {record.case: record for record in run.records()}
        pairs = run.pairs()
        for key, members in _groups(prepared.plan).items():
            found = [records[p.case] for p in members if p.case in records]
            if len(found) == len(members) and not any(map(self._unfinished, found)):
                mine = [p for p in pairs if _key(p.computes, p.dtype, p.n, p.K) == key]
                self.groups[key] = found, mine

    def _unfinished(self, record: Record) -> bool:
        interrupted = record.outcome is Outcome.SKIPPED and record.message == INTERRUPTED
        return interrupted or record.outcome in self.AGAIN


def _make_inputs(prepared: Prepared, run: Run, size: Size, dtype: str) -> None:
    """The inputs of one size in the run's folder: the committed arrays at the check size."""
    path, example = run.inputs(size.n, dtype), prepared.example
    if path.exists():
        return
    if size.n == example.check.n:
        arrays = {name: cast(array, dtype) for name, array in prepared.check_inputs.items()}
        write_arrays(path, arrays, attributes={"example": example.name})
    else:
        make_file(example, size, path, dtype, prepared.options.seed)


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
    if "time" not in prepared.options.tasks:
        return []
    from pyweanj.measure import stability

    return stability.warnings(stability.read(list(prepared.cores) or None))


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
