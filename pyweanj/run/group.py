"""One group of a run: the cases of one computation at one size and dtype, open together.

That their workers are all alive at the same time lets their gradients be held against each
other and their samples be taken in turns.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from pyweanj.example import Example, Size
from pyweanj.inputs import cast, make_file, write_arrays
from pyweanj.records import Outcome, Pair, Record
from pyweanj.run import cost, evidence
from pyweanj.run.check import Checker
from pyweanj.run.plan import Options, Planned
from pyweanj.run.session import Session
from pyweanj.run.workers import Workers
from pyweanj.store import Run
from pyweanj.verify.tolerance import WELL, Condition

__all__ = ["INTERRUPTED", "Group", "Observer", "Prepared"]

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


class Group:
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
        condition: Condition = WELL,
    ) -> None:
        self.prepared = prepared
        self.run = run
        self.budgets = budgets
        self.rng = rng
        self.condition = condition
        """Of the computation: as given, or as measured here where this is the check size."""
        self.observer = observer
        self.pairs: list[Pair] = []
        self.checker: Checker | None = None
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
        evaluated = [session for session in self.sessions if session.gradient is not None]
        if evaluated:
            self._measure_condition(evaluated)
            self.checker = Checker(
                example,
                self.run,
                evaluated,
                int(self.rng.integers(1 << 31)),
                self._tolerance(),
                self.condition,
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

    def _tolerance(self) -> float | None:
        """What the user asked for, or declared for this dtype; None: derived."""
        dtype = self.sessions[0].case.dtype
        return self.prepared.options.tolerance or self.prepared.example.tolerance.get(dtype)

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
            session.prepare(first_call=not refusal)
            if checking and planned.tasks != ("memory",):
                self.observer.doing(planned, "evaluate")
                evidence.evaluate(session, self.run)
                if session.evaluate_s is not None and "time" not in planned.tasks:
                    self.budgets.add(session.case, session.evaluate_s)

    def _measure_condition(self, evaluated: list[Session]) -> None:
        """Ask the oracle, at the check size."""
        for session in evaluated:
            if session.case.system == "oracle" and session.size == self.prepared.example.check:
                with session.guard():
                    self.condition = Condition(*session.ask("condition")["condition"])
                    session.record.condition = self.condition.loss, self.condition.gradient

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
