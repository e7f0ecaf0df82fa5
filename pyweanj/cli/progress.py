"""What a run shows while it goes on: a bar on a terminal, a line a case elsewhere; on stderr."""

from __future__ import annotations

import os
import sys
import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from pyweanj.records import Outcome, Record
from pyweanj.run import Planned, Prepared
from pyweanj.store import Run

__all__ = ["Terminal"]

STEPS = {
    "compile": "compiling",
    "evaluate": "gradient of",
    "prove": "proving",
    "time": "timing",
    "memory": "memory of",
}


class _Progress(Console):
    """Where progress goes: who no longer listens to it still gets the results."""

    def on_broken_pipe(self) -> None:
        self.quiet = True
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


class Terminal:
    """An `Observer` that shows progress on stderr; `out` is the console of stdout."""

    def __init__(self, prepared: Prepared, run: Run) -> None:
        self.out = Console(highlight=False)
        self._err = _Progress(stderr=True, highlight=False)
        self._total = len(prepared.plan)
        self._done = 0
        self._begin = time.monotonic()
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=self._err,
            transient=True,
            disable=not self._err.is_terminal,
        )
        self._task = self._progress.add_task("starting", total=self._total)
        if not self._err.is_terminal:
            self._say(f"{prepared.example.name}: {self._total} cases, results in {run.folder}")

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()

    def doing(self, planned: Planned, step: str) -> None:
        """Show what runs now."""
        case = planned.case
        self._progress.update(
            self._task,
            description=f"{STEPS[step]} {case.system} {case.variant} n={case.n} K={case.K}",
        )

    def done(self, record: Record) -> None:
        """Count one case; anything but ok is worth a line."""
        self._done += 1
        self._progress.advance(self._task)
        if not self._err.is_terminal:
            note = f" {record.message}" if record.message else ""
            self._say(f"[{self._done}/{self._total}] {record.case} {record.outcome}{note}")
        elif record.outcome not in {Outcome.OK, Outcome.SKIPPED, Outcome.UNAVAILABLE}:
            self._progress.console.print(f"{record.case}: {record.outcome}", style="red")

    def _say(self, text: str) -> None:
        self._err.print(text, markup=False, soft_wrap=True)
