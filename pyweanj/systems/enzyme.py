"""Enzyme.jl through juliacall, on the CPU or an NVIDIA GPU.

``model.jl`` of the example's folder holds one loss a variant, called with the example's
arguments in order.  The gradient is Enzyme's reverse mode of it, or the function named in
``Variant.gradients["enzyme"]``: called with the same arguments, it returns one array for each
differentiated one (an array alone, a tuple in order, or a NamedTuple by name).

Everything that counts happens in Julia, in the package WEANJ (`WEANJ.Worker`): it reads the
inputs, differentiates, takes the samples and writes the gradients.  Only names, numbers and
paths cross the bridge, and no array library is loaded on this side.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyweanj import julia_project
from pyweanj.example import Problem
from pyweanj.paths import julia_folder
from pyweanj.systems.interface import (
    Availability,
    CompileError,
    Direction,
    Implementation,
    System,
    UnavailableError,
    UnsupportedError,
    What,
)

__all__ = ["Enzyme", "EnzymeImplementation", "self_check"]


class EnzymeImplementation(Implementation):
    """One problem, held and compiled in Julia.

    Parameters
    ----------
    worker
        The Julia module ``WEANJ.Worker``.
    handle
        What its ``prepare`` returned.
    example
        Name that is written beside the gradient.
    """

    def __init__(self, worker: Any, handle: Any, example: str) -> None:
        self._worker = worker
        self._handle = handle
        self._example = example
        self._callers: dict[str, Any] = {}
        self.phases = {str(name): float(handle.phases[name]) for name in handle.phases}

    def input_sha256(self) -> dict[str, str]:
        with _translated(self._worker):
            return _dictionary(self._worker.input_sha256(self._handle))

    def evaluate(self, output: Path) -> float:
        with _translated(self._worker):
            return float(self._worker.evaluate(self._handle, str(output), self._example))

    def losses(self, direction: Direction, steps: list[float]) -> list[float]:
        """Loss at inputs + step · direction, for each of `steps`.

        The move is made in float64 (complex128) and rounded once to the dtype of the inputs.
        """
        with _translated(self._worker):
            along = _direction(direction)
            values = self._worker.losses(self._handle, along, tuple(map(float, steps)))
            return [float(value) for value in values]

    def jvp(self, direction: Direction) -> float:
        with _translated(self._worker):
            return float(self._worker.jvp(self._handle, _direction(direction)))

    def sample(self, what: What, calls: int) -> float:
        with _translated(self._worker):
            return float(self._worker.sample(self._handle, what, calls))

    def bridge(self, what: What, calls: int) -> float:
        """Seconds of `calls` calls, each crossing from Python to Julia and back."""
        with _translated(self._worker):
            if what not in self._callers:
                self._callers[what] = self._worker.caller(self._handle, what)
                self._callers[what]()  # the first crossing is compiled
            call = self._callers[what]
            begin = time.perf_counter()
            for _ in range(calls):
                call()
            return time.perf_counter() - begin

    def memory(self, what: What) -> dict[str, int]:
        """``julia_allocated``, and on a GPU ``cuda_allocated``: bytes of one call."""
        with _translated(self._worker):
            found = self._worker.memory(self._handle, what)
            return {str(kind): int(found[kind]) for kind in found}

    def close(self) -> None:
        self._callers = {}
        self._handle = None


class Enzyme(System):
    """Enzyme.jl in a Julia that is set up already: nothing is installed from here."""

    name = "enzyme"
    devices = ("cpu", "gpu")

    def __init__(self) -> None:
        self._worker: Any = None
        self._device = ""

    @staticmethod
    def probe(device: str) -> Availability:
        try:
            julia_project.check(julia_project.locate(), device)
        except UnavailableError as error:
            return Availability(False, str(error), error.remedy)
        return Availability(True)

    @staticmethod
    def environ(device: str, threads: int) -> dict[str, str | None]:
        n = str(threads)
        changes: dict[str, str | None] = {
            "PYTHON_JULIACALL_THREADS": n,
            "JULIA_NUM_THREADS": n,
            "OPENBLAS_NUM_THREADS": n,
            # Julia's garbage collector uses SIGSEGV; Python's own handlers must stay away.
            "PYTHON_JULIACALL_HANDLE_SIGNALS": "yes",
            "PYTHONFAULTHANDLER": None,
            "PYTHON_JULIACALL_STARTUP_FILE": "no",
            "PYTHON_JULIACALL_AUTOLOAD_IPYTHON_EXTENSION": "no",
            "JULIA_PROJECT": None,
            # A worker never installs, so it can never hang on a network.
            "PYTHON_JULIAPKG_OFFLINE": "yes",
            "JULIA_PKG_OFFLINE": "true",
        }
        with contextlib.suppress(UnavailableError):  # `start` says it
            choice = julia_project.locate()
            changes["PYTHON_JULIACALL_EXE"] = str(choice.exe)
            changes["PYTHON_JULIACALL_PROJECT"] = str(choice.project)
        libraries = os.environ.get("LD_LIBRARY_PATH", "")
        if "cuda" in libraries.lower():
            # CUDA.jl brings its own libraries and must not find others first.
            kept = [d for d in libraries.split(os.pathsep) if "cuda" not in d.lower()]
            changes["LD_LIBRARY_PATH"] = os.pathsep.join(kept) or None
        depot = _writable_depot()
        if depot is not None:
            changes["JULIA_DEPOT_PATH"] = depot
        return changes

    def start(self, device: str, threads: int) -> dict[str, float]:
        begin = time.perf_counter()
        choice = julia_project.locate()
        julia_project.check(choice, device)
        jl = _import_julia(choice)
        imported = time.perf_counter()
        self._worker = _load_weanj(jl, choice, device)
        self._device = device
        return {"import_s": imported - begin, "load_s": time.perf_counter() - imported}

    def versions(self) -> dict[str, str]:
        import juliacall

        found = _dictionary(self._worker.versions())
        return {"juliacall": juliacall.__version__, **dict(sorted(found.items()))}

    def settings(self) -> dict[str, str | int]:
        found = self._worker.settings()
        values = {str(name): found[name] for name in found}
        # A record tells which project, not where somebody keeps it: `pyweanj doctor` does.
        values["project"] = Path(str(values["project"])).parent.name
        return {name: v if isinstance(v, int) else str(v) for name, v in values.items()}

    def prepare(self, problem: Problem) -> EnzymeImplementation:
        variant = problem.variant
        with _translated(self._worker, CompileError):
            handle = self._worker.prepare(
                str(problem.folder / "model.jl"),
                variant.loss,
                variant.gradients.get(self.name),
                tuple(problem.arguments),
                tuple(problem.differentiate),
                problem.size.K,
                problem.dtype,
                str(problem.inputs),
                self._device,
            )
            name = problem.example.name if problem.example else problem.folder.name
            return EnzymeImplementation(self._worker, handle, name)


@contextlib.contextmanager
def _translated(worker: Any, otherwise: type[Exception] = RuntimeError) -> Iterator[None]:
    """Turn an exception of Julia into one of ours, in one line; all of it goes to the log."""
    import juliacall

    try:
        yield
    except juliacall.JuliaError as error:
        print(error, file=sys.stderr, flush=True)
        kind, line = map(str, worker.describe(error.exception, error.backtrace))
        kinds = {"UnsupportedError": UnsupportedError, "CompileError": CompileError}
        raise kinds.get(kind, otherwise)(line) from None


def _import_julia(choice: julia_project.Choice) -> Any:
    """Julia's module Main; starts Julia in this process."""
    try:
        import juliacall
    except Exception as error:
        # Among these: no libjulia, a program that is not Julia, a PythonCall that fails to load.
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        raise UnavailableError(
            f"Julia does not start with {choice.exe}: {_first_line(error)}",
            f"{choice.exe} --project={choice.project} -e 'using PythonCall' shows why",
        ) from error
    return juliacall.Main  # pyright: ignore[reportAttributeAccessIssue]  (PythonCall adds it)


def _load_weanj(jl: Any, choice: julia_project.Choice, device: str) -> Any:
    """The module ``WEANJ.Worker``, loaded into the running Julia."""
    import juliacall

    series = f"{jl.VERSION.major}.{jl.VERSION.minor}"
    if series not in julia_project.SERIES:
        raise UnavailableError(
            f"{choice.exe} is Julia {jl.VERSION}; Enzyme is stable on "
            f"{' and '.join(julia_project.SERIES)}",
            julia_project.SETUP,
        )
    # Behind the project, which thereby decides the version of every package but WEANJ.
    jl.seval("folder -> push!(LOAD_PATH, folder)")(str(julia_folder()))
    # One by one, so that the one that fails is the one that is named.
    needed = [name for name in julia_project.PACKAGES if name != "PythonCall"]
    for package in (*needed, *(["CUDA"] if device == "gpu" else []), "WEANJ"):
        try:
            jl.seval(f"import {package}")
        except juliacall.JuliaError as error:
            print(error, file=sys.stderr, flush=True)
            shown = "Enzyme" if package == "WEANJ" else package
            raise UnavailableError(
                f"Julia cannot load {package}: {_without_path(_first_line(error))}",
                f"{choice.exe} --project={choice.project} -e 'using Pkg; Pkg.precompile(); "
                f"using {shown}' shows why",
            ) from error
    loaded = Path(str(jl.seval("pkgdir(WEANJ)"))).resolve()
    if loaded != julia_folder().resolve():
        raise UnavailableError(
            f"{choice.project} holds a WEANJ of its own, in {loaded}",
            f"{choice.exe} --project={choice.project} -e 'using Pkg; Pkg.rm(\"WEANJ\")'",
        )
    if device == "gpu":
        obstacle = jl.seval("WEANJ.why_not(WEANJ.CUDADevice())")
        if obstacle is not None:
            raise UnavailableError(str(obstacle), "pyweanj doctor")
    return jl.WEANJ.Worker


def _writable_depot() -> str | None:
    """A depot path that begins with a folder we can write to; None where it does already.

    Julia keeps compiled packages in the first depot: without one, each start would compile
    everything anew.
    """
    import platformdirs

    depots = julia_project.depots()
    folder = depots[0]
    while not folder.exists():
        folder = folder.parent
    if os.access(folder, os.W_OK):
        return None
    cache = Path(platformdirs.user_cache_dir("pyweanj", appauthor=False)) / "julia"
    # The empty last entry stands for Julia's own depots.
    return os.pathsep.join([str(cache), *map(str, depots), ""])


def _direction(direction: Direction) -> str | tuple[str, tuple[int, ...]]:
    if (direction.entry is None) == (direction.file is None):
        raise ValueError("a direction is either an entry or a file")
    if direction.file is not None:
        return str(direction.file)
    assert direction.entry is not None
    name, index = direction.entry
    return name, tuple(map(int, index))


def _dictionary(found: Any) -> dict[str, str]:
    return {str(name): str(found[name]) for name in found}


def _first_line(error: BaseException) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), "no message")


def _without_path(line: str) -> str:
    """`line` without the identifier and temporary file of Julia's "Failed to precompile …"."""
    return re.sub(r' \[[0-9a-f-]{36}\] to ".*"', "", line).rstrip(".:")


def self_check() -> int:
    """Start the system here and differentiate Σ x²; one line of JSON says how it went.

    For `pyweanj.julia_setup`, which runs it in a process of its own with `Enzyme.environ`.
    """
    system = Enzyme()
    try:
        phases = system.start("cpu", 1)
        begin = time.perf_counter()
        import juliacall

        gradient = juliacall.Main.seval(  # pyright: ignore[reportAttributeAccessIssue]
            "WEANJ.gradient(x -> sum(abs2, x), [1.0, -2.0, 3.0]) == [2.0, -4.0, 6.0]"
        )
        phases["gradient_s"] = time.perf_counter() - begin
        if gradient is not True:
            raise UnavailableError("Enzyme's gradient of Σ x² is wrong", "another Enzyme version")
        found: dict[str, Any] = {
            "phases": phases,
            "versions": system.versions(),
            "settings": system.settings(),
        }
    except UnavailableError as error:
        found = {"reason": str(error), "remedy": error.remedy}
    except Exception as error:
        found = {
            "reason": f"{type(error).__name__}: {_first_line(error)}",
            "remedy": "pyweanj doctor",
        }
    print("\n" + json.dumps(found), flush=True)
    return 0
