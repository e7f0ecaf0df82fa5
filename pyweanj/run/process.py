"""The parent's end of a worker: start it, ask it, and bury it.

A worker is a fresh process in a session of its own, so that it and whatever it started
can be ended together and a Ctrl-C in the terminal reaches the parent alone.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from pyweanj import protocol, systems
from pyweanj.records import Outcome

__all__ = ["WorkerError", "WorkerProcess"]


class WorkerError(Exception):
    """A request that did not succeed: the outcome of the case that asked for it."""

    def __init__(
        self, outcome: Outcome, message: str, remedy: str = "", exit_status: int | None = None
    ) -> None:
        super().__init__(message)
        self.outcome = outcome
        self.message = message
        self.remedy = remedy
        self.exit_status = exit_status


class WorkerProcess:
    """One live worker.

    Parameters
    ----------
    cores
        The cores to pin it to; empty: leave it free.
    log
        Where the worker's own output is appended.
    """

    def __init__(
        self, system: str, device: str, *, threads: int, cores: tuple[int, ...], log: Path
    ) -> None:
        self.system = system
        self.device = device
        begin = time.perf_counter()
        request_read, request_write = os.pipe()
        reply_read, reply_write = os.pipe()
        log.parent.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-P", "-m", "pyweanj.worker"]
        command += ["--system", system, "--device", device, "--threads", str(threads)]
        command += ["--cores", ",".join(map(str, cores))]
        command += ["--requests", str(request_read), "--replies", str(reply_write)]
        with log.open("ab") as out:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                pass_fds=(request_read, reply_write),
                start_new_session=True,
                env=_environment(systems.load(system).environ(device, threads)),
            )
        os.close(request_read)
        os.close(reply_write)
        self._requests = os.fdopen(request_write, "wb", buffering=0)
        self._replies = os.fdopen(reply_read, "rb", buffering=0)
        self._pending = b""
        self._begin = begin
        self.startup_s: float | None = None

    def start(self, timeout: float) -> dict[str, Any]:
        """Load the system; records `startup_s`, seconds until it answered less its own load."""
        reply = self.ask("start", timeout)
        total = time.perf_counter() - self._begin
        self.startup_s = max(0.0, total - sum(reply["phases"].values()))
        return reply

    def ask(self, verb: str, timeout: float, **arguments: Any) -> dict[str, Any]:
        """The answer to one request.

        Raises `WorkerError`; after `crashed` and `timeout` the worker is gone.
        """
        try:
            self._requests.write(protocol.encode({"do": verb, **arguments}))
        except OSError as error:
            raise self._crashed() from error
        reply = self._reply(timeout)
        if "error" in reply:
            error = reply["error"]
            raise WorkerError(Outcome(error["outcome"]), error["message"], error["remedy"])
        return reply["ok"]

    def _reply(self, timeout: float) -> dict[str, Any]:
        deadline = time.monotonic() + timeout
        while b"\n" not in self._pending:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._replies], [], [], left)[0]:
                self.kill()
                raise WorkerError(
                    Outcome.TIMEOUT,
                    f"no answer within {timeout:g} s",
                    "a longer limit: --timeout SECONDS",
                )
            chunk = self._replies.read(1 << 16)
            if not chunk:
                raise self._crashed()
            self._pending += chunk
        line, self._pending = self._pending.split(b"\n", 1)
        return protocol.decode(line)

    def _crashed(self) -> WorkerError:
        """What the end of the worker says; reaps it and its process group."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=5)
        status = self.process.poll()
        self.kill()
        if status is not None and status < 0:
            with contextlib.suppress(ValueError):
                name = signal.Signals(-status).name
                return WorkerError(
                    Outcome.CRASHED, f"crashed (signal {-status}, {name})", exit_status=status
                )
        return WorkerError(Outcome.CRASHED, f"ended with exit status {status}", exit_status=status)

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        return self.process.poll() is None

    def stop(self, patience: float = 5.0) -> int | None:
        """Close the pipe, wait, then kill; returns the exit status."""
        with contextlib.suppress(OSError):
            self._requests.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=patience)
        self.kill()
        return self.process.poll()

    def kill(self) -> None:
        """End the worker and everything that it started."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        with contextlib.suppress(OSError):
            self._requests.close()
        self._replies.close()


def _environment(changes: dict[str, str | None]) -> dict[str, str]:
    environment = dict(os.environ)
    for name, value in changes.items():
        if value is None:
            environment.pop(name, None)
        else:
            environment[name] = value
    return environment
