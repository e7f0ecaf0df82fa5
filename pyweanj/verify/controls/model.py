"""What a control is made of: a problem, and implementations of it that live in this process."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import SupportsFloat

import numpy as np

from pyweanj.inputs import sha256
from pyweanj.verify import condition
from pyweanj.verify.diagnosis import Context
from pyweanj.verify.evidence import Colours, Direction, Evidence
from pyweanj.verify.prove import Setting
from pyweanj.verify.tolerance import Condition, derive

__all__ = ["Gradient", "Implementation", "Loss", "Problem", "Tangent"]

Named = Mapping[str, np.ndarray]
Loss = Callable[[Named], SupportsFloat]
Gradient = Callable[[Named], dict[str, np.ndarray]]
Tangent = Callable[[Named, Named], SupportsFloat]


@dataclass(frozen=True)
class Implementation:
    """Loss, gradient and forward mode of the same problem, in NumPy."""

    loss: Loss
    gradient: Gradient
    tangent: Tangent | None = None


@dataclass(frozen=True)
class Problem:
    """One problem at one size with its right answers.

    `first` and `second` are two right implementations that share no code and round differently;
    `oracle` is a third way, in float64.
    """

    name: str
    arrays: dict[str, np.ndarray]
    differentiate: tuple[str, ...]
    n: int
    K: int
    dtype: str
    depth: float
    terms: int
    first: Implementation
    second: Implementation
    oracle: Implementation
    quadratic: bool = False
    colours: Colours | None = None
    orders: Mapping[str, Gradient] = field(default_factory=dict)
    sweeps: Mapping[int, Gradient] = field(default_factory=dict)
    arguments: Mapping[str, Gradient] = field(default_factory=dict)
    step: float = 1e-2

    @cached_property
    def setting(self) -> Setting:
        """What its proofs share."""
        largest = [
            float(np.max(np.abs(self.arrays[name]), initial=0.0)) for name in self.differentiate
        ]
        return Setting(
            derive(self.dtype, self.depth, terms=self.terms, condition=self.condition),
            quadratic=self.quadratic,
            step=self.step,
            magnitude=max(largest),
            colours=self.colours,
        )

    @cached_property
    def condition(self) -> Condition:
        """As the oracle shows it."""
        oracle = self.oracle
        return condition.measure(lambda a: (float(oracle.loss(a)), oracle.gradient(a)), self.arrays)

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Of the gradient."""
        return {name: self.arrays[name].shape for name in self.differentiate}

    @property
    def hashes(self) -> dict[str, str]:
        """Of the inputs."""
        return {name: sha256(array) for name, array in self.arrays.items()}

    def reference(self) -> Evidence:
        """The oracle's answer, rounded once to the problem's dtype."""
        wide = {
            k: v.astype(np.complex128 if np.iscomplexobj(v) else np.float64)
            for k, v in self.arrays.items()
        }
        gradient = {
            name: g.astype(self.arrays[name].dtype)
            for name, g in self.oracle.gradient(wide).items()
        }
        loss = float(self.oracle.loss(wide))
        return Evidence(loss, gradient, self.dtype, self.n, self.K, self.hashes, "oracle")

    def context(self, system: str = "") -> Context:
        """For a diagnosis."""
        at = lambda gradient: lambda: gradient(self.arrays)  # noqa: E731
        return Context(
            n=self.n,
            K=self.K,
            dtype=self.dtype,
            depth=self.depth,
            system=system,
            colours=self.colours,
            inputs=self.arrays,
            orders={k: at(g) for k, g in self.orders.items()},
            sweeps={k: at(g) for k, g in self.sweeps.items()},
            arguments={k: at(g) for k, g in self.arguments.items()},
            condition=self.condition,
        )

    def holding(self, implementation: Implementation) -> Held:
        """An implementation with inputs of its own, as a worker has them."""
        return Held(self, implementation, {k: v.copy() for k, v in self.arrays.items()})


@dataclass
class Held:
    """An implementation that holds its inputs; a `pyweanj.verify.prove.Subject`."""

    problem: Problem
    implementation: Implementation
    arrays: dict[str, np.ndarray]

    def evaluate(self, label: str = "") -> Evidence:
        """Loss, gradient and the hashes of what it holds."""
        p = self.problem
        loss = float(self.implementation.loss(self.arrays))
        gradient = self.implementation.gradient(self.arrays)
        return Evidence(loss, gradient, p.dtype, p.n, p.K, self.hashes(), label)

    def hashes(self) -> dict[str, str]:
        """Of what it holds now."""
        return {name: sha256(array) for name, array in self.arrays.items()}

    def losses(self, direction: Direction, steps: Sequence[float]) -> list[float]:
        """Loss at the inputs moved by each step."""
        return [float(self.implementation.loss(self._moved(direction, step))) for step in steps]

    def jvp(self, direction: Direction) -> float | None:
        """Forward-mode derivative."""
        if self.implementation.tangent is None:
            return None
        along = {name: np.zeros_like(self.arrays[name]) for name in self.problem.differentiate}
        if isinstance(direction, tuple):
            along[direction[0]][direction[1]] = 1
        else:
            along |= {name: np.asarray(v) for name, v in direction.items()}
        return float(self.implementation.tangent(self.arrays, along))

    def _moved(self, direction: Direction, step: float) -> dict[str, np.ndarray]:
        moved = dict(self.arrays)
        if isinstance(direction, tuple):
            name, index = direction
            moved[name] = moved[name].copy()
            moved[name][index] += step
            return moved
        for name, along in direction.items():
            array = moved[name]
            moved[name] = (array + array.dtype.type(step) * along).astype(array.dtype)
        return moved


def but(implementation: Implementation, **changes: object) -> Implementation:
    """An implementation with another loss, gradient or tangent."""
    return replace(implementation, **changes)  # type: ignore[arg-type]
