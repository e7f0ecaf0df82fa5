"""What samples are taken of: implementations in pyweanj's workers, and code by hand."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from pyweanj import julia_project, protocol, systems
from pyweanj.example import Example, Problem, Size
from pyweanj.inputs import make_file
from pyweanj.measure import Rule, Sampler, Samples, calibrate, interleave, machine
from pyweanj.paths import julia_folder
from pyweanj.run.process import WorkerError
from pyweanj.run.workers import Started, Workers

__all__ = ["ByHand", "Lab", "Missing", "measured"]

HERE = Path(__file__).parent
TIMEOUT_S = 900.0


class Missing(Exception):  # noqa: N818
    """Something that a figure needs is not on this machine, or not in pyweanj yet; the reason."""


def measured(samplers: Mapping[str, Sampler], rule: Rule, pairs: list[tuple[str, str]]) -> Samples:
    """Calibrated, interleaved samples; raises what the first sampler that failed raised."""
    calls = {key: calibrate(sampler) for key, sampler in samplers.items()}
    samples = interleave(samplers, calls, rule, rng=np.random.default_rng(1), ratios=pairs)
    if samples.stopped == "interrupted":
        raise KeyboardInterrupt
    for error in samples.failures.values():
        raise error
    return samples


class Lab:
    """Live workers of one example on one thread, and the input files that they read.

    `timeout` is that of a worker's start, in seconds.
    """

    def __init__(
        self, example: Example, reference: str, folder: Path, timeout: float = TIMEOUT_S
    ) -> None:
        self.example = example
        self.reference = reference
        self.folder = folder
        self.cores = tuple(machine.choose_cores(1) or ())
        self.workers = Workers(folder / "logs", threads=1, cores=self.cores, timeout=timeout)

    def inputs(self, size: Size) -> Path:
        """The HDF5 inputs of `size` in float64, made when they are first needed."""
        path = self.folder / f"inputs-n{size.n}.h5"
        if not path.exists():
            make_file(self.example, size, path)
        return path

    def worker(self, system: str, device: str = "cpu") -> Started:
        """The live worker of `system`, started if need be; raises `WorkerError`."""
        return self.workers.get(system, device)

    def prepare(
        self,
        system: str,
        variant: str,
        size: Size,
        device: str = "cpu",
        *,
        first_call: bool = True,
        timeout: float = TIMEOUT_S,
    ) -> str:
        """Compile one implementation; the handle to sample it by.

        Without `first_call` a system that can compile without running does only that.

        Raises `Missing` with the reason.
        """
        if system not in systems.SYSTEMS:
            raise Missing(f"pyweanj has no system {system}")
        try:
            found = self.example.variant(variant)
        except KeyError:
            raise Missing(f"{self.example.name} has no variant {variant}") from None
        if system not in found.systems:
            raise Missing(f"{system} has no {variant}")
        problem = Problem(
            folder=self.example.folder,
            variant=found,
            arguments=self.example.arguments,
            differentiate=self.example.differentiate,
            size=size,
            dtype="float64",
            inputs=self.inputs(size),
            first_call=first_call,
        )
        handle = f"{system}/{device}/{variant}/{size.n}/{size.K}"
        try:
            self._ask(
                handle,
                "prepare",
                timeout,
                problem=protocol.problem_to_json(problem, self.reference),
            )
        except WorkerError as error:
            raise Missing(f"{system} {variant}: {error}") from error
        return handle

    def sampler(self, handle: str, what: str, timeout: float = TIMEOUT_S) -> Sampler:
        """Samples of a prepared implementation, taken inside its worker.

        A sample that takes longer than `timeout` seconds ends the worker and raises
        `WorkerError`.
        """
        return lambda calls: self._ask(handle, "sample", timeout, what=what, calls=calls)["seconds"]

    def _ask(self, handle: str, verb: str, timeout: float, **arguments: object) -> dict[str, float]:
        system, device, *_ = handle.split("/")
        process = self.worker(system, device).process
        return process.ask(verb, timeout, handle=handle, **arguments)

    def close(self) -> None:
        """End the workers."""
        self.workers.close()


class ByHand:
    """A process that times the same function without pyweanj, asked line by line."""

    def __init__(
        self, command: Sequence[str], log: Path, environment: dict[str, str | None] | None = None
    ) -> None:
        env = dict(os.environ)
        for name, value in (environment or {}).items():
            if value is None:
                env.pop(name, None)
            else:
                env[name] = value
        self._log = log.open("w")
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            bufsize=1,
            env=env,
        )
        if self._read() != "ready":
            self.close()
            last = (log.read_text().strip().splitlines() or ["it says nothing"])[-1]
            raise Missing(f"{command[0]} {command[-1]} by hand does not start: {last}")

    @classmethod
    def jax(cls, lab: Lab, variant: str, size: Size) -> ByHand:
        """``by_hand.py`` on the same model, inputs and core as the worker's."""
        loss = lab.example.variant(variant).loss
        command = [sys.executable, str(HERE / "by_hand.py")]
        command += [str(lab.example.folder / "model.py"), loss, str(lab.inputs(size)), str(size.K)]
        command.append(",".join(map(str, lab.cores)))
        environment = systems.load("jax").environ("cpu", 1)
        return cls(command, lab.folder / "logs" / "by-hand-jax.log", environment)

    @classmethod
    def julia(cls, lab: Lab, size: Size) -> ByHand:
        """``by_hand.jl`` on the same inputs and core as the worker's."""
        try:
            choice = julia_project.locate()
        except systems.UnavailableError as error:
            raise Missing(f"{error} ({error.remedy})") from error
        command = ["taskset", "-c", ",".join(map(str, lab.cores))] if lab.cores else []
        command += [str(choice.exe), "--startup-file=no", f"--project={choice.project}"]
        command += ["--threads=1", str(HERE / "by_hand.jl"), str(julia_folder())]
        command += [str(lab.inputs(size)), str(size.K)]
        environment = systems.load("enzyme").environ("cpu", 1)
        return cls(command, lab.folder / "logs" / "by-hand-julia.log", environment)

    def sampler(self, what: str) -> Sampler:
        """Samples as the process itself times them."""

        def sample(calls: int) -> float:
            assert self._process.stdin is not None
            self._process.stdin.write(f"{what} {calls}\n")
            return float(self._read())

        return sample

    def close(self) -> None:
        """End the process."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()

    def _read(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()
