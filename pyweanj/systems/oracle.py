"""The oracle of an example as a system: another mathematical route, always in float64."""

from __future__ import annotations

import importlib.metadata
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from pyweanj.example import Problem
from pyweanj.systems.arrays import ArrayImplementation
from pyweanj.systems.interface import Availability, System, UnsupportedError
from pyweanj.verify.condition import measure
from pyweanj.verify.tolerance import Condition

__all__ = ["Oracle"]


class OracleImplementation(ArrayImplementation):
    """One problem of `Oracle`; loss and gradient come from the same function."""

    def __init__(self, problem: Problem, function: Callable[..., Any]) -> None:
        self.function = function
        self._pending: tuple[Mapping[str, np.ndarray], dict[str, np.ndarray]] | None = None
        super().__init__(problem)

    def put(self, array: np.ndarray) -> np.ndarray:
        return np.array(array)

    def loss(self, arrays: Mapping[str, np.ndarray]) -> float:
        loss, gradient = self._both(arrays)
        # The gradient of the same arrays is asked for next, once.
        self._pending = arrays, gradient
        return loss

    def gradient(self, arrays: Mapping[str, np.ndarray]) -> Sequence[np.ndarray]:
        pending, self._pending = self._pending, None
        same = pending is not None and pending[0] is arrays
        gradient = pending[1] if pending is not None and same else self._both(arrays)[1]
        return [gradient[name] for name in self.problem.differentiate]

    def condition(self) -> Condition:
        return measure(self._both, self.held)

    def _both(self, arrays: Mapping[str, np.ndarray]) -> tuple[float, dict[str, np.ndarray]]:
        variant, K = self.problem.variant, self.problem.size.K
        return self.function(variant.computes, arrays, K)


class Oracle(System):
    """The function `Example.oracle`, called on the shared inputs.

    It computes in float64 whatever the problem's dtype is, and its gradient is written in
    float64: for a float32 problem it is the gradient at the float32 inputs, good to float64.
    One function gives loss and gradient, so that both take the same time, and there is no
    forward mode.
    """

    name = "oracle"
    devices = ("cpu",)
    needs_example = True

    @staticmethod
    def probe(device: str) -> Availability:
        if device not in Oracle.devices:
            return Availability(False, "the oracle runs on the CPU only")
        return Availability(True)

    @staticmethod
    def environ(device: str, threads: int) -> dict[str, str | None]:
        return {
            "OMP_NUM_THREADS": str(threads),
            "OPENBLAS_NUM_THREADS": str(threads),
            "MKL_NUM_THREADS": str(threads),
        }

    def start(self, device: str, threads: int) -> dict[str, float]:
        start = time.perf_counter()
        import scipy.sparse.linalg  # noqa: F401

        return {"import_s": time.perf_counter() - start}

    def versions(self) -> dict[str, str]:
        return {name: importlib.metadata.version(name) for name in ("numpy", "scipy")}

    def settings(self) -> dict[str, str | int]:
        return {"computes_in": "float64"}

    def prepare(self, problem: Problem) -> OracleImplementation:
        if problem.example is None or problem.example.oracle is None:
            raise UnsupportedError(
                "the example has no oracle: give its Example an oracle=(computes, arrays, K) "
                "that returns the loss and the gradients by name"
            )
        return OracleImplementation(problem, problem.example.oracle)
