"""The small interface that every AD system stands behind.

A worker process holds one `System`.  `System.prepare` compiles one `Problem` and returns
an `Implementation`: everything that a comparison may ask of it.  Arrays cross as HDF5
files, so that a system of another language reads and writes its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from pyweanj.example import Problem

if TYPE_CHECKING:
    from pyweanj.verify.tolerance import Condition

__all__ = [
    "Availability",
    "CompileError",
    "Direction",
    "Implementation",
    "System",
    "UnavailableError",
    "UnsupportedError",
    "What",
]

What = Literal["forward", "gradient"]


class UnsupportedError(Exception):
    """The system has no implementation of this problem; the text says why."""


class CompileError(Exception):
    """The problem could not be compiled or differentiated; the text says why."""


class UnavailableError(Exception):
    """The system cannot run on this machine."""

    def __init__(self, reason: str, remedy: str = "") -> None:
        super().__init__(reason)
        self.remedy = remedy


@dataclass(frozen=True)
class Availability:
    """Whether a system can run on a device here, found without importing it."""

    available: bool
    reason: str = ""
    remedy: str = ""


class Direction(NamedTuple):
    """A direction in the differentiated arrays: one entry, or arrays in an HDF5 file.

    Exactly one is given: `entry` is (array name, 0-based logical index) and stands for the
    unit vector there; `file` holds one dataset for each differentiated array, stored as the
    inputs are.
    """

    entry: tuple[str, tuple[int, ...]] | None = None
    file: Path | None = None


class Implementation(ABC):
    """One compiled problem.  No call leaves work in flight on the device."""

    phases: dict[str, float]
    """Seconds of what was spent before the first steady call, by phase: any of
    ``trace_s``, ``lower_s``, ``compile_s``, ``first_call_s``."""

    @abstractmethod
    def input_sha256(self) -> dict[str, str]:
        """SHA-256 of each array as held now: its logical C-order little-endian bytes."""

    @abstractmethod
    def evaluate(self, output: Path) -> float:
        """Loss; the gradient goes to `output` as `save_gradient` writes it."""

    @abstractmethod
    def losses(self, direction: Direction, steps: list[float]) -> list[float]:
        """Loss at the inputs moved by each of `steps` along `direction`, in float64."""

    @abstractmethod
    def jvp(self, direction: Direction) -> float:
        """Forward-mode directional derivative; `UnsupportedError` where there is none."""

    def condition(self) -> Condition:
        """How much more loss and gradient move than the inputs, by an implementation in float64.

        `UnsupportedError` where it is none that is trusted beyond the others.
        """
        raise UnsupportedError("the condition is the oracle's to tell")

    @abstractmethod
    def sample(self, what: What, calls: int) -> float:
        """Seconds that `calls` calls took together, device finished, on a monotonic clock.

        Taken inside the system's own language.
        """

    def bridge(self, what: What, calls: int) -> float | None:
        """Seconds that the same `calls` took as seen from Python, or None where no bridge is."""
        return None

    @abstractmethod
    def memory(self, what: What) -> dict[str, int]:
        """Bytes by kind that the system itself can tell of one call (``xla_temp``, …).

        The process's peak is not among them: the worker watches it from outside.
        """

    def close(self) -> None:  # noqa: B027  # most have nothing to let go of
        """Let go of the arrays and compiled code."""


class System(ABC):
    """One AD system on one device, inside its worker process."""

    name: str
    devices: tuple[str, ...]
    needs_example: bool = False
    """Whether `prepare` wants `Problem.example`, which costs the import of the user's file."""

    @staticmethod
    @abstractmethod
    def probe(device: str) -> Availability:
        """Whether this system can start here.  Imports nothing heavy, takes milliseconds."""

    @staticmethod
    @abstractmethod
    def environ(device: str, threads: int) -> dict[str, str | None]:
        """Environment variables that the worker needs before it starts (None: unset)."""

    @abstractmethod
    def start(self, device: str, threads: int) -> dict[str, float]:
        """Load the system; returns seconds by phase (``import_s``, ``load_s``).

        Raises `UnavailableError`.
        """

    @abstractmethod
    def versions(self) -> dict[str, str]:
        """Versions of everything whose change could change a result."""

    @abstractmethod
    def settings(self) -> dict[str, str | int]:
        """Thread counts and switches as read back from the running system."""

    @abstractmethod
    def prepare(self, problem: Problem) -> Implementation:
        """Load the inputs and compile.

        Raises `UnsupportedError` or `CompileError`.
        """
