"""One system on one device, in a process of its own: ``python -m pyweanj.worker``.

Started by `pyweanj.process`, never by a user.  Requests come and replies go over the two
pipes whose descriptors are given; stdout and stderr belong to the system's own chatter
and are the log.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from pyweanj import protocol, systems
from pyweanj.measure import machine
from pyweanj.systems import Direction, Implementation, System
from pyweanj.systems.mends import mend

__all__ = ["main"]


class Worker:
    """Answers requests on behalf of one `System`."""

    def __init__(self, system: System, device: str, threads: int) -> None:
        self.system = system
        self.device = device
        self.threads = threads
        self.implementations: dict[str, Implementation] = {}

    def start(self) -> dict[str, Any]:
        """Load the system and say what it is."""
        phases = self.system.start(self.device, self.threads)
        return {
            "phases": phases,
            "versions": self.system.versions(),
            "settings": self.system.settings(),
            "affinity": machine.affinity(),
            "pid": os.getpid(),
        }

    def prepare(self, handle: str, problem: dict[str, Any]) -> dict[str, Any]:
        """Load the inputs of one problem and compile it."""
        made = protocol.problem_from_json(problem)
        if self.system.needs_example:
            from pyweanj import catalogue

            made = replace(made, example=catalogue.load(problem["example"]))
        implementation = self.system.prepare(made)
        self.implementations[handle] = implementation
        return {"phases": implementation.phases, "input_sha256": implementation.input_sha256()}

    def evaluate(self, handle: str, output: str) -> dict[str, Any]:
        """Loss and gradient of one problem."""
        begin = time.perf_counter()
        loss = self.implementations[handle].evaluate(Path(output))
        return {"loss": loss, "wall_s": time.perf_counter() - begin}

    def losses(self, handle: str, direction: dict[str, Any], steps: list[float]) -> dict[str, Any]:
        """Losses along a direction."""
        return {"losses": self.implementations[handle].losses(_direction(direction), steps)}

    def jvp(self, handle: str, direction: dict[str, Any]) -> dict[str, Any]:
        """Forward-mode derivative along a direction."""
        return {"jvp": self.implementations[handle].jvp(_direction(direction))}

    def condition(self, handle: str) -> dict[str, Any]:
        """Amplification of relative changes of the inputs, in the loss and in the gradient."""
        return {"condition": list(self.implementations[handle].condition())}

    def sample(self, handle: str, what: systems.What, calls: int) -> dict[str, Any]:
        """Seconds of `calls` calls."""
        return {"seconds": self.implementations[handle].sample(what, calls)}

    def bridge(self, handle: str, what: systems.What, calls: int) -> dict[str, Any]:
        """Seconds of `calls` calls across the language bridge."""
        return {"seconds": self.implementations[handle].bridge(what, calls)}

    def memory(self, handle: str, what: systems.What, peak: bool) -> dict[str, Any]:
        """Bytes by kind of one call; `peak`: also run it once and watch the process."""
        from pyweanj.measure import memory

        implementation = self.implementations[handle]
        kinds = implementation.memory(what)
        if peak and self.device == "cpu":
            kinds = {**memory.rss_around(lambda: implementation.sample(what, 1)), **kinds}
        return {"memory": {kind: size for kind, size in kinds.items() if size is not None}}

    def hash(self, handle: str) -> dict[str, Any]:
        """SHA-256 of the inputs as held now."""
        return {"input_sha256": self.implementations[handle].input_sha256()}

    def release(self, handle: str) -> dict[str, Any]:
        """Forget one problem."""
        self.implementations.pop(handle).close()
        return {}

    VERBS = (
        "start",
        "prepare",
        "evaluate",
        "losses",
        "jvp",
        "condition",
        "sample",
        "bridge",
        "memory",
        "hash",
        "release",
    )

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """The reply to one request; never raises for what a system does wrong."""
        arguments = dict(request)
        verb = arguments.pop("do")
        if verb not in self.VERBS:
            return _error("runtime_error", f"unknown request {verb!r}")
        call: Callable[..., dict[str, Any]] = getattr(self, verb)
        try:
            return {"ok": call(**arguments)}
        except systems.UnavailableError as error:
            return _error("unavailable", str(error), error.remedy)
        except systems.UnsupportedError as error:
            return _error("unsupported", str(error))
        except systems.CompileError as error:
            traceback.print_exc()
            return _error("compile_error", str(error))
        except Exception as error:
            traceback.print_exc()
            outcome = "compile_error" if verb == "prepare" else "runtime_error"
            return _error(outcome, f"{type(error).__name__}: {_first_line(error)}")


def _direction(data: dict[str, Any]) -> Direction:
    if "entry" in data:
        name, index = data["entry"]
        return Direction(entry=(name, tuple(index)))
    return Direction(file=Path(data["file"]))


def _error(outcome: str, message: str, remedy: str = "") -> dict[str, Any]:
    remedy = remedy or mend(message)
    return {"error": {"outcome": outcome, "message": message, "remedy": remedy}}


def _first_line(error: BaseException) -> str:
    return next((line for line in str(error).splitlines() if line.strip()), "no message")


def _die_with_parent() -> None:
    """Ask Linux to end this process when the parent dies, so that none is left behind."""
    if sys.platform != "linux":
        return
    import ctypes

    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


def main(argv: list[str] | None = None) -> int:
    """Serve until the request pipe closes; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m pyweanj.worker")
    parser.add_argument("--system", required=True)
    parser.add_argument("--device", required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--cores", default="", help="comma-separated; empty: as inherited")
    parser.add_argument("--requests", type=int, required=True, help="file descriptor")
    parser.add_argument("--replies", type=int, required=True, help="file descriptor")
    options = parser.parse_args(argv)

    _die_with_parent()
    # Pinned before any library is loaded: thread pools size themselves by it.
    if options.cores:
        machine.pin(int(core) for core in options.cores.split(","))
    # Before any library is loaded, so that what it frees is seen to be free.
    from pyweanj.measure.heap import share_heap

    share_heap()
    worker = Worker(systems.load(options.system)(), options.device, options.threads)
    with os.fdopen(options.requests, "rb") as requests, os.fdopen(options.replies, "wb") as replies:
        for line in requests:
            replies.write(protocol.encode(worker.answer(protocol.decode(line))))
            replies.flush()
    return 0


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    sys.stderr.flush()
    # Julia and XLA may crash in their exit handlers; everything asked for has been answered.
    os._exit(status)
