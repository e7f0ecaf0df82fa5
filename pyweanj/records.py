"""The unified schema: one flat `Record` per case, one `Pair` per comparison of two.

Both are validated when written and when read.  Missing is null, never 0.  `json_schema`
gives the published JSON Schema.

Schema history:
    1  first version
"""

from __future__ import annotations

import math
from enum import StrEnum
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, model_validator

__all__ = [
    "SCHEMA_VERSION",
    "Case",
    "Figure",
    "Joint",
    "Outcome",
    "Pair",
    "Record",
    "json_schema",
]

SCHEMA_VERSION = 1


class Outcome(StrEnum):
    """How a case ended."""

    OK = "ok"
    MISMATCH = "mismatch"
    UNSUPPORTED = "unsupported"
    UNAVAILABLE = "unavailable"
    COMPILE_ERROR = "compile_error"
    RUNTIME_ERROR = "runtime_error"
    TIMEOUT = "timeout"
    CRASHED = "crashed"
    SKIPPED = "skipped"


#: Outcomes that make `compare` exit with 1.
FAILURES = frozenset(
    {
        Outcome.MISMATCH,
        Outcome.COMPILE_ERROR,
        Outcome.RUNTIME_ERROR,
        Outcome.TIMEOUT,
        Outcome.CRASHED,
    }
)

Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Bytes = Annotated[int, Field(ge=0)]
# JSON has no NaN: a figure that is not finite is written as a string and read back.
Number = Annotated[float, Field(allow_inf_nan=True)]


class Case(NamedTuple):
    """What identifies a record within a run."""

    system: str
    variant: str
    device: str
    dtype: str
    n: int
    K: int

    def __str__(self) -> str:
        return f"{self.system} {self.variant} {self.device} {self.dtype} n={self.n} K={self.K}"

    @property
    def slug(self) -> str:
        """A name for files: letters, digits, ``-`` and ``_`` only."""
        return f"{self.system}_{self.variant}_{self.device}_{self.dtype}_n{self.n}_K{self.K}"


class _Row(BaseModel):
    model_config = ConfigDict(
        extra="forbid",
        ser_json_inf_nan="strings",
        validate_assignment=True,
        use_enum_values=False,
        use_attribute_docstrings=True,
    )


class Figure(_Row):
    """One proof's figure: what was found, what was allowed, and whether it passed."""

    name: str
    """Of the proof."""
    value: Number | None = None
    """What was found."""
    tolerance: Number | None = None
    """What was allowed."""
    passed: bool | None = None
    """None: the proof does not apply or decides nothing here; `detail` says why."""
    detail: str = ""
    """What was compared, or why the proof decides nothing."""
    where: str = ""
    """The worst element, e.g. ``theta[3, 7] interior``."""

    @model_validator(mode="after")
    def _nan_never_passes(self) -> Figure:
        if self.passed and self.value is not None and not math.isfinite(self.value):
            raise ValueError(f"{self.name}: a figure that is not finite cannot pass")
        return self


class Record(_Row):
    """All that was found out about one case."""

    schema_version: Literal[1] = SCHEMA_VERSION
    """Of the rules that this row was written by."""
    example: str
    """Name of the example, e.g. ``02-gauss-seidel``."""
    system: str
    """The AD system: ``jax``, ``enzyme`` (Julia), ``enzyme-cpp``, ``oracle``, …"""
    variant: str
    """The formulation of the example that was run."""
    computes: str
    """The variant whose mathematics this one shares; equal for variants to be compared."""
    device: Literal["cpu", "gpu"]
    """Where it ran."""
    dtype: str
    """Declared precision, ``float64`` or ``float32``."""
    n: int
    """What the arrays grow with: grid points a side, observations, …"""
    K: int
    """What the work grows with at fixed arrays: sweeps, steps, …"""
    N: int
    """Number of gradient entries."""
    tasks: list[Literal["check", "time", "memory"]] = []
    """What was to be found out about this case."""
    outcome: Outcome
    """How the case ended."""
    message: str = ""
    """Why it did not end well, in one line."""
    remedy: str = ""
    """What to do about it."""

    input_sha256: dict[str, str] | None = None
    """By array: SHA-256 of what the system really loaded (logical C-order bytes)."""
    loss: Number | None = None
    """The loss at the inputs."""
    grad_norm: Number | None = None
    """2-norm of the gradient over all differentiated arrays."""
    gradient: str | None = None
    """HDF5 file of the gradient, relative to the run's folder."""

    oracle_loss_error: Number | None = None
    """|loss − oracle| / |oracle|."""
    oracle_grad_error: Number | None = None
    """‖gradient − oracle‖₂ / ‖oracle‖₂."""
    fd_error: Number | None = None
    """Largest finite-difference error over the checked entries, relative to ‖gradient‖∞."""
    taylor_rate: Number | None = None
    """Order at which the second Taylor remainder falls with the step; 2 for a right gradient."""
    condition: tuple[Number, Number] | None = None
    """How many times more loss and gradient move, relatively, than the inputs: the oracle's."""
    tolerance: Number | None = None
    """Relative tolerance for the loss and the gradient, derived from dtype, n and K."""
    proofs: list[Figure] = []
    """Every proof that was tried."""
    verdict: Literal["right", "wrong", "unproven"] | None = None
    """What the proofs say together; null where nothing was checked."""
    diagnosis: str = ""
    """What kind of wrong, where the verdict is wrong."""

    startup_s: Seconds | None = None
    """Start of the worker process until it answers."""
    load_s: Seconds | None = None
    """Import of the AD system in the worker."""
    model_s: Seconds | None = None
    """Reading the model and the inputs, where the system tells it apart."""
    trace_s: Seconds | None = None
    """Tracing of forward and gradient (JAX)."""
    lower_s: Seconds | None = None
    """Lowering of forward and gradient (JAX)."""
    compile_s: Seconds | None = None
    """Compilation of forward and gradient; for a just-in-time system without separate
    phases, the first gradient call less a steady one."""
    first_call_s: Seconds | None = None
    """The first call after compilation."""
    forward_s: Seconds | None = None
    """Median of `forward_samples`."""
    grad_s: Seconds | None = None
    """Median of `grad_samples`: one call gives the gradient (and the loss on the way)."""
    forward_ci: tuple[Seconds, Seconds] | None = None
    """95 % interval of `forward_s`."""
    grad_ci: tuple[Seconds, Seconds] | None = None
    """95 % interval of `grad_s`."""
    forward_samples: list[Seconds] | None = None
    """Seconds per call of every sample, in the order in which they were taken."""
    grad_samples: list[Seconds] | None = None
    """Seconds per call of every sample, in the order in which they were taken."""
    forward_calls: int | None = None
    """Calls that one of `forward_samples` is the mean of."""
    grad_calls: int | None = None
    """Calls that one of `grad_samples` is the mean of."""
    bridge_s: Number | None = None
    """What the language bridge adds to one gradient call."""

    peak_mem_bytes: Bytes | None = None
    """Memory of one gradient, of the kind `peak_mem_kind`."""
    peak_mem_kind: str | None = None
    """The kind of `peak_mem_bytes`: ``rss_peak``, ``xla_temp``, ``julia_allocated``, …"""
    memory: dict[str, Bytes] = {}
    """Every kind that was measured for one gradient; kinds are never ranked together."""

    threads: int | None = None
    """Threads of the worker, as read back from it."""
    affinity: list[int] | None = None
    """Cores that the worker was allowed to use, as read back from it."""
    settings: dict[str, str | int] = {}
    """Switches of the system, as read back from it."""
    versions: dict[str, str] = {}
    """Versions of everything whose change could change a result."""
    exit_status: int | None = None
    """The worker's exit status where it ended during this case (negative: signal)."""
    log: str | None = None
    """The worker's own output, relative to the run's folder."""

    @property
    def case(self) -> Case:
        """The identity of this record within a run."""
        return Case(self.system, self.variant, self.device, self.dtype, self.n, self.K)


class Pair(_Row):
    """Two implementations of the same mathematics at the same size, held against each other."""

    schema_version: Literal[1] = SCHEMA_VERSION
    """Of the rules that this row was written by."""
    example: str
    """Name of the example."""
    computes: str
    """The mathematics that both sides share."""
    dtype: str
    """Declared precision of both sides."""
    n: int
    """As in a record."""
    K: int
    """As in a record."""
    left: str
    """``system/variant/device``."""
    right: str
    """``system/variant/device``."""
    kind: Literal["systems", "oracle", "devices", "variants"]
    """What the two sides differ in; ``oracle``: one of them is the oracle."""
    loss_difference: Number | None = None
    """|left − right| / max(|left|, |right|)."""
    grad_difference: Number | None = None
    """‖left − right‖₂ / max(‖left‖₂, ‖right‖₂)."""
    grad_difference_max: Number | None = None
    """The same in the max-norm."""
    tolerance: Number | None = None
    """Relative tolerance of the differences."""
    verdict: Literal["ok", "mismatch"]
    """Whether the two are the same within the tolerance."""
    reason: str = ""
    """The first check that failed: shape, dtype, size, inputs, finite, zero, loss, gradient."""
    detail: str = ""
    """That comparison in words."""
    where: str = ""
    """The worst element."""
    ulp: Number | None = None
    """Largest difference in units in the last place."""
    wrong: Literal["neither", "left", "right", "both", "unknown"] | None = None
    """Who is wrong, by the verdict on each side."""
    """The element that differs most."""


class Joint(_Row):
    """A whole run: what ``joint.json`` holds."""

    schema_version: Literal[1] = SCHEMA_VERSION
    """Of the rules that this file was written by."""
    example: str
    """Name of the example."""
    environment: dict[str, Any]
    """Machine and versions."""
    records: list[Record]
    """One for each case, in the order in which they were planned."""
    pairs: list[Pair]
    """One for each two implementations of the same mathematics at the same size."""
    complete: bool = True
    """False where the run was interrupted."""


def json_schema() -> dict[str, Any]:
    """The JSON Schema of `Joint`, and through it of `Record` and `Pair`."""
    return Joint.model_json_schema()
