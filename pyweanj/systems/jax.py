"""JAX on the CPU or on an NVIDIA GPU.

``model.py`` of the example's folder holds one loss a variant, called with the example's
arguments in order: arrays as `jax.Array`, ``K`` as a Python int, hence static.  The gradient
is `jax.grad` of it with respect to the example's differentiated arrays, or the function
named in ``Variant.gradients["jax"]``: called with the same arguments, it returns one array
for each differentiated one (an array alone, a tuple in order, or a mapping by name).

Everything is staged ahead of time, so that tracing, lowering and compiling are figures of
their own and no sample can hold a compile.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import itertools
import os
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pyweanj.example import Problem
from pyweanj.systems.arrays import ArrayImplementation
from pyweanj.systems.interface import (
    Availability,
    CompileError,
    System,
    UnavailableError,
    UnsupportedError,
    What,
)
from pyweanj.systems.models import describe, load_model, located, model_function

__all__ = ["Jax", "JaxImplementation"]

Loss = Callable[..., Any]


class JaxImplementation(ArrayImplementation):
    """One problem, staged and compiled for one device.

    Parameters
    ----------
    problem
    device
        A `jax.Device`.
    loss
        Takes the arrays of the problem in order and returns a real scalar; JAX can trace it.
    gradient
        Of the same arguments; default: `jax.grad` of `loss`.
    """

    def __init__(
        self, problem: Problem, device: Any, loss: Loss, gradient: Loss | None = None
    ) -> None:
        self.device = device
        super().__init__(problem)
        self.function = loss
        positions = tuple(self.names.index(name) for name in problem.differentiate)
        if gradient is None:
            import jax

            gradient = jax.grad(loss, argnums=positions)
        self.phases = dict.fromkeys(("trace_s", "lower_s", "compile_s"), 0.0)
        self.compiled: dict[str, Any] = {
            "forward": self._stage(loss, _check_loss),
            "gradient": self._stage(gradient, self._check_gradient),
        }
        if problem.first_call:
            self.call_first()

    def put(self, array: np.ndarray) -> Any:
        import jax

        # device_put may alias the buffer that it is given: give it one that nobody else has.
        return jax.device_put(np.array(array), self.device)

    def loss(self, arrays: Mapping[str, Any]) -> Any:
        return self.compiled["forward"](*arrays.values()).block_until_ready()

    def gradient(self, arrays: Mapping[str, Any]) -> Sequence[Any]:
        import jax

        return jax.block_until_ready(self.compiled["gradient"](*arrays.values()))

    def tangent(self, arrays: Mapping[str, Any], tangents: Mapping[str, Any]) -> Any:
        import jax

        if "tangent" not in self.compiled:

            def derivative(arrays: Mapping[str, Any], tangents: Mapping[str, Any]) -> Any:
                def moved(active: Mapping[str, Any]) -> Any:
                    # A mapping that went through JAX is sorted: the order is that of `names`.
                    return self.function(*(active.get(n, arrays[n]) for n in self.names))

                active = {name: arrays[name] for name in tangents}
                return jax.jvp(moved, (active,), (tangents,))[1]

            self.compiled["tangent"] = jax.jit(derivative)
        try:
            return self.compiled["tangent"](dict(arrays), dict(tangents)).block_until_ready()
        except Exception as error:
            raise UnsupportedError(
                f"no forward mode: {describe(error, self.problem.folder)}"
            ) from error

    def memory(self, what: What) -> dict[str, int]:
        """``xla_temp``: XLA's scratch memory of one call, inputs and outputs apart."""
        # An unstable part of JAX: where it tells nothing, nothing is said.
        analysis = getattr(self.compiled[what], "memory_analysis", lambda: None)()
        size = getattr(analysis, "temp_size_in_bytes", None)
        return {} if size is None else {"xla_temp": int(size)}

    def close(self) -> None:
        super().close()
        self.compiled = {}

    def _stage(self, function: Loss, check: Callable[[str, Any], None]) -> Any:
        """`function` compiled for the held arrays; adds the seconds to `phases`."""
        import jax

        where = self.problem.folder
        clock = [time.perf_counter()]
        try:
            traced = jax.jit(function).trace(*self.held.values())
            clock.append(time.perf_counter())
            check(self.problem.variant.loss, traced.out_info)
            lowered = traced.lower()
            clock.append(time.perf_counter())
            compiled = lowered.compile()
            clock.append(time.perf_counter())
        except (CompileError, UnsupportedError):
            raise
        except Exception as error:
            raise CompileError(describe(error, where)) from error
        phases = ("trace_s", "lower_s", "compile_s")
        for phase, (begin, end) in zip(phases, itertools.pairwise(clock), strict=True):
            self.phases[phase] += end - begin
        return compiled

    def _check_gradient(self, _name: str, out: Any) -> None:
        """One array of the right shape for each differentiated one."""
        shapes = [tuple(leaf.shape) for leaf in out]
        expected = [tuple(self.held[name].shape) for name in self.problem.differentiate]
        if shapes != expected:
            raise CompileError(f"the gradient has shapes {shapes}, not {expected}")


def _check_loss(name: str, out: Any) -> None:
    """A loss is one real number."""
    shape = getattr(out, "shape", None)
    if shape != () or out.dtype.kind != "f":
        what = f"an array of shape {shape}" if shape else type(out).__name__
        if shape == ():
            what = f"a scalar of dtype {out.dtype}"
        raise CompileError(f"{name} returns {what}; a loss is one real number")


class Jax(System):
    """JAX with 64-bit types, matrix products in full precision and no compilation cache."""

    name = "jax"
    devices = ("cpu", "gpu")

    def __init__(self) -> None:
        self.device: Any = None

    @staticmethod
    def probe(device: str) -> Availability:
        for package in ("jax", "jaxlib"):
            if importlib.util.find_spec(package) is None:
                return Availability(
                    False, f"{package} is not installed", "python -m pip install jax"
                )
        return _probe_gpu() if device == "gpu" else Availability(True)

    @staticmethod
    def environ(device: str, threads: int) -> dict[str, str | None]:
        return {
            "JAX_ENABLE_X64": "1",
            "JAX_PLATFORMS": "cuda,cpu" if device == "gpu" else "cpu",
            "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
            "JAX_DEFAULT_MATMUL_PRECISION": "highest",  # no TF32
            "JAX_ENABLE_COMPILATION_CACHE": "false",  # a compile time is that of a compile
            "NPROC": str(threads),  # sizes XLA's thread pool where there is no affinity
            "OMP_NUM_THREADS": str(threads),
            "OPENBLAS_NUM_THREADS": str(threads),
        }

    def start(self, device: str, threads: int) -> dict[str, float]:
        begin = time.perf_counter()
        import jax

        imported = time.perf_counter()
        # Also where this process was not started with `environ`.
        jax.config.update("jax_enable_x64", True)
        jax.config.update("jax_default_matmul_precision", "highest")
        jax.config.update("jax_enable_compilation_cache", False)
        try:
            self.device = jax.devices(device)[0]
        except RuntimeError as error:
            first = str(error).splitlines()[0]
            raise UnavailableError(f"JAX finds no {device} device ({first})") from error
        return {"import_s": imported - begin, "load_s": time.perf_counter() - imported}

    def versions(self) -> dict[str, str]:
        names = ("jax", "jaxlib", "numpy", *_plugins())
        return {name: importlib.metadata.version(name) for name in names}

    def settings(self) -> dict[str, str | int]:
        import jax

        values = jax.config.values
        return {
            "jax_enable_x64": int(values["jax_enable_x64"]),
            "jax_default_matmul_precision": str(values["jax_default_matmul_precision"]),
            "jax_device": str(self.device.device_kind),
            "XLA_FLAGS": os.environ.get("XLA_FLAGS", ""),
        }

    def prepare(self, problem: Problem) -> JaxImplementation:
        model, variant = load_model(problem.folder), problem.variant
        function = model_function(model, variant.loss, problem.arguments)
        loss = _of_arrays(problem, function)
        named = variant.gradients.get(self.name)
        if named is None:
            with located(function):
                return JaxImplementation(problem, self.device, loss)
        function = model_function(model, named, problem.arguments)
        own = _of_arrays(problem, function)

        def gradient(*arrays: Any) -> tuple[Any, ...]:
            return _in_order(own(*arrays), problem.differentiate)

        with located(function):
            return JaxImplementation(problem, self.device, loss, gradient)


def _of_arrays(problem: Problem, function: Loss) -> Loss:
    """`function` as a function of the arrays alone; K is a Python int in it."""

    def call(*arrays: Any) -> Any:
        rest = iter(arrays)
        return function(
            *(problem.size.K if name == "K" else next(rest) for name in problem.arguments)
        )

    return call


def _in_order(gradient: Any, names: tuple[str, ...]) -> tuple[Any, ...]:
    """What a user's gradient function returned, as one array for each of `names`."""
    if isinstance(gradient, Mapping):
        missing = [name for name in names if name not in gradient]
        if missing:
            raise CompileError(f"the gradient function returns nothing for {missing[0]}")
        return tuple(gradient[name] for name in names)
    return tuple(gradient) if isinstance(gradient, tuple | list) else (gradient,)


def _plugins() -> list[str]:
    """JAX's CUDA plug-ins that are installed."""
    return [
        f"jax-cuda{major}-plugin"
        for major in (12, 13)
        if importlib.util.find_spec(f"jax_cuda{major}_plugin") is not None
    ]


def _probe_gpu() -> Availability:
    driver = Path("/dev/nvidia0").exists() or Path("/proc/driver/nvidia").exists()
    if not driver and shutil.which("nvidia-smi") is None:
        return Availability(
            False, "no NVIDIA GPU is visible", "run on a machine with an NVIDIA GPU and its driver"
        )
    if os.environ.get("CUDA_VISIBLE_DEVICES") in {"", "-1"}:
        return Availability(
            False, "CUDA_VISIBLE_DEVICES hides every GPU", "unset CUDA_VISIBLE_DEVICES"
        )
    if not _plugins():
        return Availability(
            False, "JAX's CUDA plug-in is not installed", 'python -m pip install "pyweanj[gpu]"'
        )
    return Availability(True)
