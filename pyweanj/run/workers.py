"""The live workers of a run: at most one for each system and device."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyweanj import systems
from pyweanj.records import Outcome
from pyweanj.run.process import WorkerError, WorkerProcess

__all__ = ["Started", "Workers"]


class Started:
    """A live worker and what it said of itself when it started."""

    def __init__(self, process: WorkerProcess, said: dict[str, Any]) -> None:
        self.process = process
        self.said = said

    @property
    def load_s(self) -> float:
        """Seconds that the system took to load."""
        return sum(self.said["phases"].values())


class Workers:
    """Starts workers when they are first needed, and anew after one died.

    A system that could not start is not tried again in the same run: its later cases get
    the same answer at once.
    """

    def __init__(self, logs: Path, *, threads: int, cores: tuple[int, ...], timeout: float) -> None:
        self._logs = logs
        self._threads = threads
        self._cores = cores
        self._timeout = timeout
        self._live: dict[tuple[str, str], Started] = {}
        self._hopeless: dict[tuple[str, str], WorkerError] = {}

    def get(self, system: str, device: str) -> Started:
        """The live worker of `system` on `device`; raises `WorkerError`."""
        key = (system, device)
        if key in self._hopeless:
            raise self._hopeless[key]
        started = self._live.get(key)
        if started is not None and started.process.alive:
            return started
        try:
            self._live[key] = self._start(system, device)
        except WorkerError as error:
            self._hopeless[key] = error
            raise
        return self._live[key]

    def _start(self, system: str, device: str) -> Started:
        found = systems.load(system).probe(device)
        if not found.available:
            raise WorkerError(Outcome.UNAVAILABLE, found.reason, found.remedy)
        process = WorkerProcess(
            system,
            device,
            threads=self._threads,
            cores=self._cores,
            log=self._logs / f"{system}-{device}.log",
        )
        try:
            return Started(process, process.start(self._timeout))
        except WorkerError as error:
            process.kill()
            if error.outcome is Outcome.RUNTIME_ERROR:
                # Whatever an import raises, the user's question is how to make it start.
                raise WorkerError(
                    Outcome.UNAVAILABLE,
                    f"does not start: {error.message}",
                    "see its log; pyweanj doctor",
                ) from error
            raise
        except BaseException:
            process.kill()
            raise

    def close(self, *, at_once: bool = False) -> None:
        """End every worker; `at_once` without waiting for what it is doing."""
        for started in self._live.values():
            if at_once:
                started.process.kill()
            else:
                started.process.stop()
        self._live.clear()
