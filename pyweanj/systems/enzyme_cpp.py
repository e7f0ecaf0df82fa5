"""Enzyme on C++, through the package ``enzyme-ad``: no Julia needed.

``model.cpp`` of the example's folder holds one loss a variant::

    template <usz K, typename T, usz n>
    void loss_name(enzyme::tensor<T>& loss, const enzyme::tensor<T, n, n>& theta,
                   const enzyme::tensor<T, n, n>& uobs) {
      …
      loss() = sum;
    }

- The loss is the first parameter, a tensor without dimensions that is assigned once.  The
  array arguments follow in the example's order, by const reference: ``enzyme::tensor<T>`` for
  a scalar, ``enzyme::tensor<T, n>`` for a vector, ``enzyme::tensor<T, m, n>`` for a matrix, in
  logical C order, read as ``theta[i][j]`` from 0; a scalar as ``s()``.
- Where ``"K"`` is among the example's arguments, K is the first template parameter: the
  function is called as ``loss_name<20>(…)``.  Value type and dimensions are deduced from the
  tensors; a function without ``"K"`` is called as ``loss_name(…)`` and may be no template.
- Integer and boolean arrays arrive as T, which must hold their values exactly; complex
  arrays are not supported.
- ``usz`` is the unsigned size type.  There are no system headers: ``__builtin_malloc``,
  ``__builtin_sin`` and the like take their place.
- The gradient is Enzyme's, or that of the function named in
  ``Variant.gradients["enzyme-cpp"]``: one output tensor for each differentiated array, then
  the same parameters.
- Working arrays are local.  A working array that is declared as an *output* gives a gradient
  of exactly zero, without an error.

Everything is compiled for one size, by Enzyme's own clang.  What that prints goes to
stderr, which the worker keeps as its log.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from pyweanj.example import Problem
from pyweanj.systems.interface import Availability, CompileError, UnsupportedError, What
from pyweanj.systems.jax import Jax, JaxImplementation

__all__ = ["EnzymeCpp", "EnzymeCppImplementation", "cpp_function"]

FLAGS = ("-O3",)
PACKAGE = "enzyme-ad"
OLDEST = (0, 0, 16)
"""The first release whose forward and reverse mode were seen right."""
DIAGNOSTIC = re.compile(
    r"(?P<file>\S+):(?P<line>\d+):\d+: (?:fatal )?(?P<kind>error|note): (?P<text>.*)"
)
PARAMETER = re.compile(r" ((?:const )?enzyme::tensor<[^>]*>&) (?:out|in)_\d+ = ")
CALL = re.compile(r" *(\w+(?:<\d+>)?)\(out_0")
PRELUDE = "typedef unsigned long usz;  // model.cpp begins below\n"


class EnzymeCppImplementation(JaxImplementation):
    """One problem, its functions in C++."""

    def put(self, array: np.ndarray) -> Any:
        if array.dtype.kind == "c":
            raise UnsupportedError("complex arrays cannot be passed to C++")
        dtype = self.problem.dtype
        if array.dtype.kind != "f" and not np.array_equal(array.astype(dtype), array):
            raise UnsupportedError(f"integers that {dtype} cannot hold cannot be passed to C++")
        return super().put(array)

    def memory(self, what: What) -> dict[str, int]:
        """Nothing: what C++ allocates is seen by no allocator of JAX, only by the system."""
        return {}


class EnzymeCpp(Jax):
    """C++ loops differentiated by Enzyme and called through JAX on the CPU."""

    name = "enzyme-cpp"
    devices = ("cpu",)
    implementation: type[EnzymeCppImplementation] = EnzymeCppImplementation

    @staticmethod
    def probe(device: str) -> Availability:
        if device != "cpu":
            return Availability(False, "enzyme-cpp runs on the CPU only")
        wheels = f"{PACKAGE} has wheels for CPython 3.11 on Linux x86-64 only"
        install = 'python -m pip install "pyweanj[enzyme-cpp]"'
        fits = sys.version_info[:2] == (3, 11) and sys.platform == "linux"
        remedy = install if fits else f"{install} under Python 3.11 on Linux x86-64"
        if importlib.util.find_spec("enzyme_ad") is None:
            return Availability(False, f"{PACKAGE} is not installed" if fits else wheels, remedy)
        version = importlib.metadata.version(PACKAGE)
        if _numbers(version) < OLDEST:
            oldest = ".".join(map(str, OLDEST))
            return Availability(
                False, f"{PACKAGE} {version} is older than {oldest} ({wheels})", remedy
            )
        return Jax.probe(device)

    def start(self, device: str, threads: int) -> dict[str, float]:
        phases = super().start(device, threads)
        begin = time.perf_counter()
        import enzyme_ad.jax  # noqa: F401

        phases["import_s"] += time.perf_counter() - begin
        return phases

    def versions(self) -> dict[str, str]:
        return super().versions() | {PACKAGE: importlib.metadata.version(PACKAGE)}

    def settings(self) -> dict[str, str | int]:
        return super().settings() | {"cpp_flags": " ".join(FLAGS)}

    def prepare(self, problem: Problem) -> JaxImplementation:
        path = problem.folder / "model.cpp"
        if not path.is_file():
            raise UnsupportedError(f"the example has no model.cpp ({path})")
        source = path.read_text(encoding="utf-8")
        loss = cpp_function(problem, source, problem.variant.loss)
        own = problem.variant.gradients.get(self.name)
        gradient = None if own is None else cpp_function(problem, source, own, gradient=True)
        with _compiler_notes(path):
            return self.implementation(problem, self.device, loss, gradient)


def cpp_function(
    problem: Problem, source: str, name: str, *, gradient: bool = False
) -> Callable[..., Any]:
    """The C++ function `name` in `source` as a function of the problem's arrays, for JAX.

    Parameters
    ----------
    gradient
        `name` is no loss but a gradient: it has one output for each differentiated array.

    Raises
    ------
    UnsupportedError
        No such name occurs in `source`.
    """
    if not re.search(rf"\b{re.escape(name)}\s*\(", source):
        raise UnsupportedError(f"model.cpp has no function {name}")
    function = f"{name}<{problem.size.K}>" if "K" in problem.arguments else name
    names = [name for name in problem.arguments if name != "K"]

    def call(*arrays: Any) -> Any:
        import jax.numpy as jnp
        from enzyme_ad.jax import cpp_call
        from jax.core import ShapedArray

        dtype = jnp.dtype(problem.dtype)
        shapes = [arrays[names.index(name)].shape for name in problem.differentiate]
        # Reverse mode of the package knows floating-point arguments alone.
        ready = [array if array.dtype.kind == "f" else array.astype(dtype) for array in arrays]
        values = cpp_call(
            *ready,
            out_shapes=[ShapedArray(shape, dtype) for shape in (shapes if gradient else [()])],
            source=PRELUDE + source,
            fn=function,
            argv=FLAGS,
        )
        return tuple(values) if gradient else values[0]

    return call


@contextmanager
def _compiler_notes(path: Path) -> Iterator[None]:
    """Turn the compiler's first error on stderr into the text of a `CompileError`.

    clang writes to the file descriptor itself; all that it wrote is passed on to stderr.
    """
    sys.stderr.flush()
    saved = os.dup(2)
    try:
        with tempfile.TemporaryFile() as caught:
            os.dup2(caught.fileno(), 2)
            failure: CompileError | None = None
            try:
                yield
            except CompileError as error:
                failure = error
            finally:
                sys.stderr.flush()
                os.dup2(saved, 2)
                caught.seek(0)
                notes = caught.read()
                os.write(2, notes)
            if failure is not None:
                text = _first_error(notes.decode(errors="replace"), path.name)
                raise CompileError(text or str(failure)) from failure
    finally:
        os.close(saved)


def _first_error(notes: str, name: str) -> str:
    """The first error among clang's `notes`, at its line of the user's file `name`.

    An error in the call that the package generates is told as how the loss was called and
    why no function of the file fits.
    """
    lines = notes.splitlines()
    # The whole text that was compiled follows this line.
    compiled = lines[lines.index("Source:") + 1 :] if "Source:" in lines else []
    before = compiled.index(PRELUDE.strip()) + 1 if PRELUDE.strip() in compiled else 0
    entry = [i for i, line in enumerate(compiled, 1) if line.startswith('extern "C" void entry')]

    def place(line: str) -> str:
        return f"({name}:{int(line) - before})"

    for found in map(DIAGNOSTIC.match, lines):
        if found is None or found["kind"] == "note":
            continue
        if found["text"].endswith("file not found"):
            return f"{found['text']}: {name} must do without system headers (use __builtin_…)"
        if not entry or int(found["line"]) <= entry[-1]:
            return f"{found['text']} {place(found['line'])}"
        note = next((n for n in map(DIAGNOSTIC.match, lines) if n and n["kind"] == "note"), None)
        reason = f"{note['text']} {place(note['line'])}" if note else found["text"]
        types = ", ".join(match[1] for match in map(PARAMETER.match, compiled) if match)
        call = next((m[1] for m in map(CALL.match, compiled[entry[-1] :]) if m), "it")
        return f"{call} is called with ({types}), but: {reason}"
    return ""


def _numbers(version: str) -> tuple[int, ...]:
    """The leading numbers of a version: (0, 0, 16) for ``0.0.16``."""
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])
