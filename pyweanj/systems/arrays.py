"""What the systems share whose arrays are NumPy arrays or convert to them without loss.

`ArrayImplementation` holds the inputs of one problem and answers every request of
`Implementation` in terms of three small methods of the subclass.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pyweanj.example import Problem
from pyweanj.inputs import InputsError, read_arrays, sha256, write_arrays
from pyweanj.systems.interface import Direction, Implementation, UnsupportedError, What

__all__ = ["ArrayImplementation"]


class ArrayImplementation(Implementation):
    """One problem whose arrays live in this process.

    A subclass says how an array is held (`put`) and how a loss and a gradient are computed
    from the held arrays (`loss`, `gradient`).  Whatever these return must be finished:
    nothing may be in flight on the device.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.phases = {}
        self._answer: tuple[Any, Sequence[Any]] | None = None
        self.names = tuple(name for name in problem.arguments if name != "K")
        arrays = read_arrays(problem.inputs)
        missing = [name for name in self.names if name not in arrays]
        if missing:
            raise InputsError(f"{problem.inputs}: no dataset {missing[0]}")
        self.held = {name: self.put(arrays[name]) for name in self.names}

    @abstractmethod
    def put(self, array: np.ndarray) -> Any:
        """A copy of `array` where the system computes; it shares no memory with `array`."""

    @abstractmethod
    def loss(self, arrays: Mapping[str, Any]) -> Any:
        """Loss of `arrays`, the inputs by name: a scalar of the dtype that was computed in."""

    @abstractmethod
    def gradient(self, arrays: Mapping[str, Any]) -> Sequence[Any]:
        """Gradient of the loss for each array of ``problem.differentiate``, in that order."""

    def tangent(self, arrays: Mapping[str, Any], tangents: Mapping[str, Any]) -> Any:
        """Forward-mode derivative along `tangents`, one for each differentiated array."""
        raise UnsupportedError("no forward mode")

    def call_first(self) -> None:
        """Call loss and gradient once: the phase ``first_call_s``.

        The next `evaluate` writes what they gave, so that a long call is not made twice.
        """
        start = time.perf_counter()
        self._answer = self.loss(self.held), self.gradient(self.held)
        self.phases["first_call_s"] = time.perf_counter() - start

    def input_sha256(self) -> dict[str, str]:
        return {name: sha256(np.asarray(array)) for name, array in self.held.items()}

    def evaluate(self, output: Path) -> float:
        """Loss at the inputs; the gradient goes to `output`, never cast.

        The file's attribute ``loss_dtype`` is the dtype that the loss came out in.
        """
        answer, self._answer = self._answer, None
        value, gradient = answer or (self.loss(self.held), self.gradient(self.held))
        loss = np.asarray(value)
        write_arrays(
            output,
            {
                name: np.asarray(array)
                for name, array in zip(self.problem.differentiate, gradient, strict=True)
            },
            attributes={"loss_dtype": str(loss.dtype)},
        )
        return float(loss)

    def losses(self, direction: Direction, steps: list[float]) -> list[float]:
        """Loss at inputs + step · direction, for each of `steps`.

        The move is made in float64 (complex128) and rounded once to the dtype of the inputs.
        """
        start = {name: np.asarray(self.held[name]) for name in self.problem.differentiate}
        directions = self._directions(direction)
        values = []
        for step in steps:
            moved = {
                name: self.put((array + step * directions[name]).astype(array.dtype))
                for name, array in start.items()
            }
            values.append(float(self.loss({**self.held, **moved})))
        return values

    def jvp(self, direction: Direction) -> float:
        tangents = {
            name: self.put(array.astype(self.held[name].dtype))
            for name, array in self._directions(direction).items()
        }
        return float(self.tangent(self.held, tangents))

    def sample(self, what: What, calls: int) -> float:
        function, held = (self.loss if what == "forward" else self.gradient), self.held
        start = time.perf_counter()
        for _ in range(calls):
            function(held)
        return time.perf_counter() - start

    def memory(self, what: What) -> dict[str, int]:
        return {}

    def close(self) -> None:
        self.held = {}
        self._answer = None

    def _directions(self, direction: Direction) -> dict[str, np.ndarray]:
        """`direction` as one float64 or complex128 array for each differentiated array."""
        if (direction.entry is None) == (direction.file is None):
            raise ValueError("a direction is either an entry or a file")
        arrays = read_arrays(direction.file) if direction.file else {}
        result = {}
        for name in self.problem.differentiate:
            held = self.held[name]
            wide = np.complex128 if np.dtype(held.dtype).kind == "c" else np.float64
            if direction.file is None:
                result[name] = np.zeros(held.shape, wide)
                continue
            if name not in arrays:
                raise InputsError(f"{direction.file}: no dataset {name}")
            if arrays[name].shape != held.shape:
                raise InputsError(
                    f"{direction.file}: {name} has shape {arrays[name].shape}, not {held.shape}"
                )
            result[name] = arrays[name].astype(wide)
        if direction.entry is not None:
            name, index = direction.entry
            result[name][tuple(index)] = 1.0
        return result
