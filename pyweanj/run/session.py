"""One case in hand: its worker, its record so far, and how it may fail."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from pyweanj import protocol
from pyweanj.example import Example, Problem, Size
from pyweanj.records import Outcome, Record
from pyweanj.run.plan import Planned
from pyweanj.run.process import WorkerError
from pyweanj.run.workers import Started, Workers
from pyweanj.store import Run

__all__ = ["Session"]


class Session:
    """Asks the worker of one case, and gathers the answers in `record`.

    A worker that died is replaced and the problem prepared again, so that the end of one
    case costs no other.
    """

    def __init__(
        self,
        planned: Planned,
        example: Example,
        reference: str,
        workers: Workers,
        run: Run,
        timeout: float,
    ) -> None:
        case = planned.case
        self.planned = planned
        self.case = case
        self.size = Size(case.n, case.K)
        self.record = Record(
            example=example.name,
            system=case.system,
            variant=case.variant,
            computes=planned.computes,
            device=case.device,  # type: ignore[arg-type]  # validated on the way in
            dtype=case.dtype,
            n=case.n,
            K=case.K,
            N=example.unknowns(self.size),
            tasks=list(planned.tasks),
            outcome=Outcome.OK,
        )
        self.gradient: dict[str, np.ndarray] | None = None
        self.loss_dtype = ""
        """What the loss came out as, where the system says so."""
        self.evaluate_s: float | None = None
        """Wall seconds of the first evaluation: what foretells the next size of an untimed case."""
        self.begun = False
        self.finished = False
        self._workers = workers
        self._run = run
        self._timeout = timeout
        self._started: Started | None = None
        self._problem = protocol.problem_to_json(
            Problem(
                folder=example.folder,
                variant=example.variant(case.variant),
                arguments=example.arguments,
                differentiate=example.differentiate,
                size=self.size,
                dtype=case.dtype,
                inputs=run.inputs(case.n, case.dtype),
            ),
            reference,
        )

    @property
    def alive(self) -> bool:
        """Whether nothing has gone wrong so far."""
        return self.record.outcome is Outcome.OK

    def prepare(self, *, first_call: bool = True) -> None:
        """Load and compile; fills what the record says about that.  Raises `WorkerError`.

        Without `first_call` a system that can compile without running does only that.
        """
        self._problem["first_call"] = first_call
        started = self._workers.get(self.case.system, self.case.device)
        record, said = self.record, started.said
        record.startup_s = started.process.startup_s
        record.load_s = started.load_s
        cores = said["affinity"]
        record.threads = said["settings"].get("threads", len(cores) if cores else None)
        record.affinity = said["affinity"]
        record.settings = said["settings"]
        record.versions = said["versions"]
        record.log = self._run.relative(self._run.log(self.case.system, self.case.device))
        reply = started.process.ask(
            "prepare", self._timeout, handle=self.case.slug, problem=self._problem
        )
        self._started = started
        record.input_sha256 = reply["input_sha256"]
        for name, seconds in reply["phases"].items():
            setattr(record, name, seconds)

    def ask(self, verb: str, **arguments: Any) -> dict[str, Any]:
        """The worker's answer; raises `WorkerError`."""
        started = self._workers.get(self.case.system, self.case.device)
        if started is not self._started:
            started.process.ask(
                "prepare", self._timeout, handle=self.case.slug, problem=self._problem
            )
            self._started = started
        return started.process.ask(verb, self._timeout, handle=self.case.slug, **arguments)

    @contextlib.contextmanager
    def guard(self) -> Iterator[None]:
        """A step of this case: what the worker fails at becomes the case's outcome."""
        try:
            yield
        except WorkerError as error:
            self.fail(error)

    def fail(self, error: WorkerError) -> None:
        """Make `error` the end of this case; the first failure stands."""
        if self.alive:
            self.record.outcome = error.outcome
            self.record.message = error.message
            self.record.remedy = error.remedy
            self.record.exit_status = error.exit_status

    def end(self, outcome: Outcome, message: str) -> None:
        """End this case without an error of the worker."""
        self.fail(WorkerError(outcome, message))

    def release(self) -> None:
        """Let the worker forget the problem; never raises for a worker that is gone."""
        if self._started is not None and self._started.process.alive:
            with contextlib.suppress(WorkerError):
                self._started.process.ask("release", self._timeout, handle=self.case.slug)
        self._started = None
