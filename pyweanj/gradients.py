"""One gradient against its own loss, in this process, by the proofs of `pyweanj.verify`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from pyweanj.errors import UsageError
from pyweanj.inputs import sha256
from pyweanj.records import Figure
from pyweanj.verify import decide, derive, diagnosis, proofs
from pyweanj.verify.evidence import Direction, Evidence
from pyweanj.verify.prove import FULL, Setting, prove
from pyweanj.verify.tolerance import Condition

__all__ = ["GradientCheck", "check_gradient"]

Arrays = Mapping[str, np.ndarray]

CALLS = 3
#: Gradients of up to this many entries are found by differences for the diagnosis.
FEW = 2000


@dataclass(frozen=True)
class GradientCheck:
    """What the proofs say about one gradient."""

    verdict: Literal["right", "wrong", "unproven"]
    proofs: tuple[Figure, ...]
    """Every proof that was tried, each with its own figure."""
    reason: str
    """What decided."""
    diagnosis: tuple[str, ...]
    """What kind of wrong, the best explanation first."""
    loss: float
    gradient: Arrays

    @property
    def ok(self) -> bool:
        """Whether the gradient is right."""
        return self.verdict == "right"

    def __str__(self) -> str:
        lines = [f"{self.verdict}: {self.reason}", *(f"  {text}" for text in self.diagnosis)]
        for figure in self.proofs:
            word = {True: "passed", False: "FAILED", None: "–"}[figure.passed]
            value = "" if figure.value is None else f"{figure.value:.1e}"
            allowed = "" if figure.tolerance is None else f"(allowed {figure.tolerance:.1e})"
            parts = (f"  {figure.name}:", word, value, allowed, figure.detail, figure.where)
            lines.append(" ".join(part for part in parts if part))
        return "\n".join(lines)


def check_gradient(
    loss: Callable[..., Any],
    gradient: Callable[..., Any] | Any,
    inputs: Any,
    *,
    differentiate: Sequence[str] | None = None,
    depth: float | None = None,
    quadratic: bool = False,
    step: float = 1e-2,
    tolerance: float | None = None,
    seed: int = 0,
) -> GradientCheck:
    """Whether `gradient` is the gradient of `loss` at `inputs`.

    The proofs are those of a comparison that one function allows: finite values, shape and
    dtype, repeatability, unchanged inputs, central differences at random entries and along
    directions, and the Taylor rate.  A gradient of exactly zero is right only where the loss
    does not change either.

    Parameters
    ----------
    loss
        Called with the inputs in order; returns one real number.  It gets arrays of NumPy.
    gradient
        Called in the same way; returns an array, arrays in order, or arrays by name, one for
        each differentiated input.  Or these arrays themselves.
    inputs
        One array, a tuple of several in order, or several by name.  The differentiated ones are
        all float64 or complex128, or all float32 or complex64.
    differentiate
        Names of the inputs that the gradient is for (``"0"``, ``"1"``, … where they have
        none); default: those of floating point.
    depth
        Rounded operations on the longest chain of one loss, for the tolerance; default: the
        number of entries of all inputs, and at least 100.
    quadratic
        The loss is quadratic: a difference with any step is exact.
    step
        Of the differences, in the units of the inputs.
    tolerance
        Relative, instead of the derived one.
    seed
        Of the entries and directions.

    Raises
    ------
    UsageError
        The inputs cannot be used, or the loss does not return one real number.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([1.0, 2.0, 3.0])
    >>> check_gradient(lambda x: np.sum(x**3), lambda x: 3 * x**2, x).verdict
    'right'
    >>> wrong = check_gradient(lambda x: np.sum(x**3), lambda x: 6 * x**2, x)
    >>> wrong.diagnosis[0]
    'factor 2: accumulated 2 times'
    """
    arrays = _named(inputs)
    names = _chosen(arrays, differentiate)
    dtype = _dtype(arrays, names)
    entries = sum(a.size for a in arrays.values())
    deep = max(100.0, float(entries)) if depth is None else depth
    subject = _Subject(loss, arrays)
    before = {name: sha256(a) for name, a in subject.arrays.items()}
    value = subject.value(subject.arrays)
    answers = [_answer(gradient, subject.arrays, names) for _ in range(CALLS)]
    setting = Setting(
        derive(dtype, deep, terms=entries, override=tolerance),
        quadratic=quadratic,
        step=step,
        magnitude=max(float(np.max(np.abs(arrays[n]), initial=0.0)) for n in names),
        seed=seed,
    )
    evidence = Evidence(value, answers[0], dtype)
    shapes = {name: arrays[name].shape for name in names}
    figures = [proofs.like_for_like(evidence, shapes=shapes, dtype=dtype, n=0, K=0)]
    if figures[0].passed:
        if callable(gradient):
            figures.append(proofs.repeatability(answers, [value] * CALLS, setting.tolerance))
        figures += prove(subject, evidence, setting, effort=FULL)
    after = {name: sha256(a) for name, a in subject.arrays.items()}
    figures.append(proofs.inputs_unchanged(before, after))
    verdict = decide(figures)
    findings: tuple[str, ...] = ()
    if verdict.word == "wrong":
        findings = _diagnose(subject, evidence, setting, arrays, shapes)
    return GradientCheck(
        verdict.word, tuple(figures), verdict.text, findings, value, dict(answers[0])
    )


class _Subject:
    """A `pyweanj.verify.prove.Subject` of one Python function."""

    def __init__(self, loss: Callable[..., Any], arrays: Arrays) -> None:
        self.loss = loss
        self.arrays = {name: a.copy() for name, a in arrays.items()}
        self._start = arrays

    def value(self, arrays: Arrays) -> float:
        """The loss, which must be one real number."""
        found = np.asarray(self.loss(*arrays.values()))
        if found.shape != () or found.dtype.kind not in "fiu":
            what = f"an array of shape {found.shape}" if found.shape else str(found.dtype)
            raise UsageError(f"the loss returns {what}; a loss is one real number")
        return float(found)

    def losses(self, direction: Direction, steps: Sequence[float]) -> list[float]:
        """Loss at the inputs moved by each step; moved in double precision, rounded once."""
        return [self.value(self._moved(direction, step)) for step in steps]

    def jvp(self, direction: Direction) -> None:  # noqa: ARG002  (the protocol's)
        """None: a plain function has no forward mode."""
        return

    def _moved(self, direction: Direction, step: float) -> Arrays:
        moved = {name: a.copy() for name, a in self._start.items()}
        if isinstance(direction, tuple):
            name, index = direction
            moved[name][index] += step
            return moved
        for name, along in direction.items():
            a = moved[name]
            wide = np.complex128 if np.iscomplexobj(a) else np.float64
            moved[name] = (a.astype(wide) + step * np.asarray(along).astype(wide)).astype(a.dtype)
        return moved


def _named(inputs: Any) -> dict[str, np.ndarray]:
    if isinstance(inputs, Mapping):
        found = {str(name): np.asarray(a) for name, a in inputs.items()}
    elif isinstance(inputs, tuple) or (
        isinstance(inputs, list) and not all(np.isscalar(x) for x in inputs)
    ):
        found = {str(k): np.asarray(a) for k, a in enumerate(inputs)}
    else:
        found = {"0": np.asarray(inputs)}
    for name, array in found.items():
        if array.dtype.kind not in "fciub":
            raise UsageError(f"input {name} is of dtype {array.dtype}; inputs are numbers")
    return found


def _chosen(arrays: Arrays, differentiate: Sequence[str] | None) -> tuple[str, ...]:
    asked = [differentiate] if isinstance(differentiate, str) else differentiate
    names = tuple(n for n, a in arrays.items() if a.dtype.kind in "fc") if asked is None else asked
    for name in names:
        if name not in arrays or arrays[name].dtype.kind not in "fc":
            raise UsageError(f"input {name} is no floating-point array (inputs: {list(arrays)})")
    if not names:
        raise UsageError("no input is of floating point: there is nothing to differentiate")
    return tuple(names)


def _dtype(arrays: Arrays, names: Sequence[str]) -> str:
    real = {"float64": "float64", "complex128": "float64"}
    real |= {"float32": "float32", "complex64": "float32"}
    found = {str(arrays[name].dtype) for name in names}
    kinds = {real.get(dtype) for dtype in found}
    if len(kinds) != 1 or None in kinds:
        raise UsageError(
            f"differentiated inputs are {', '.join(sorted(found))}; "
            "make all of them float64 or all float32"
        )
    return str(kinds.pop())


def _answer(gradient: Any, arrays: Arrays, names: Sequence[str]) -> dict[str, np.ndarray]:
    """What the gradient returned, one array by name."""
    returned = gradient(*arrays.values()) if callable(gradient) else gradient
    if isinstance(returned, Mapping):
        return {str(name): np.array(a) for name, a in returned.items()}
    if isinstance(returned, tuple | list) and not (
        len(names) == 1 and all(np.isscalar(x) for x in returned)
    ):
        found = [np.array(a) for a in returned]
    else:
        found = [np.array(returned)]
    if len(found) != len(names):
        raise UsageError(
            f"the gradient gives {len(found)} arrays for {len(names)} inputs "
            f"({', '.join(names)}); name those it is for in differentiate="
        )
    return dict(zip(names, found, strict=True))


def _diagnose(
    subject: _Subject,
    evidence: Evidence,
    setting: Setting,
    arrays: Arrays,
    shapes: Mapping[str, tuple[int, ...]],
) -> tuple[str, ...]:
    """Findings, against a gradient by differences where that has few enough entries."""
    context = diagnosis.Context(
        n=0, K=0, dtype=evidence.dtype, depth=setting.tolerance.depth, inputs=arrays
    )
    reference = None
    few = sum(int(np.prod(shape)) for shape in shapes.values()) <= FEW
    if few and not any(np.iscomplexobj(g) for g in evidence.gradient.values()):
        reference, error = _by_differences(subject, setting, shapes)
        scale = max(1.0, 10 * error / setting.tolerance.relative)
        context = diagnosis.Context(
            n=0,
            K=0,
            dtype=evidence.dtype,
            depth=setting.tolerance.depth,
            inputs=arrays,
            condition=Condition(gradient=scale),
        )
    found = diagnosis.diagnose(evidence.gradient, reference, context)
    return tuple(finding.text for finding in found[:3])


def _by_differences(
    subject: _Subject, setting: Setting, shapes: Mapping[str, tuple[int, ...]]
) -> tuple[dict[str, np.ndarray], float]:
    """The gradient by extrapolated central differences, and its estimated relative error."""
    h = max(setting.steps) / 4
    found, error, largest = {}, 0.0, 0.0
    for name, shape in shapes.items():
        array = np.zeros(shape)
        for index in np.ndindex(*shape):
            a, b, c, d = subject.losses((name, index), (-2 * h, -h, h, 2 * h))
            near, far = (c - b) / (2 * h), (d - a) / (4 * h)
            array[index] = (4 * near - far) / 3
            error = max(error, abs(near - far) / 3 * h)
            largest = max(largest, abs(float(array[index])))
        found[name] = array
    return found, error / largest if largest else 0.0
