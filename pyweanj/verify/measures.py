"""Two implementations held against each other: like for like first, then differences.

The checks come in a fixed order and the first that fails is the answer: shape, dtype,
size, inputs, finite, zero, loss, gradient.  Every inequality is written so that NaN fails,
and nothing is broadcast.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from pyweanj.verify.evidence import Arrays, Colours, Evidence, describe, vector_norms
from pyweanj.verify.tolerance import Tolerance

__all__ = [
    "Comparison",
    "Difference",
    "Reason",
    "array_difference",
    "compare",
    "expected_dtype",
    "non_finite",
    "relative",
    "zero_arrays",
]

Reason = Literal["", "shape", "dtype", "size", "inputs", "finite", "zero", "loss", "gradient"]


@dataclass(frozen=True)
class Difference:
    """How two arrays of one shape differ."""

    maximum: float
    """‖a − b‖∞ / max(‖a‖∞, ‖b‖∞)."""
    two_norm: float
    """‖a − b‖₂ / max(‖a‖₂, ‖b‖₂)."""
    ulp: float
    """Difference in units in the last place, of the entry with the largest relative one."""
    index: tuple[int, ...]
    """Where |a − b| is largest."""


@dataclass(frozen=True)
class Comparison:
    """What comparing two implementations gave.

    Differences that were not reached, because an earlier check failed, are None.
    """

    verdict: Literal["ok", "mismatch"]
    reason: Reason = ""
    detail: str = ""
    loss_difference: float | None = None
    grad_difference: float | None = None
    """Relative 2-norm, of the array that differs most."""
    grad_difference_max: float | None = None
    """Relative max-norm, of the array that differs most."""
    ulp: float | None = None
    array: str = ""
    """The array that differs most."""
    index: tuple[int, ...] | None = None
    where: str = ""
    tolerance: float | None = None
    """The tolerance that decided (the loss has its own)."""

    @property
    def ok(self) -> bool:
        """Whether the two are the same."""
        return self.verdict == "ok"


def compare(
    left: Evidence,
    right: Evidence,
    tolerance: Tolerance,
    *,
    zero_proved: bool = False,
    colours: Colours | None = None,
) -> Comparison:
    """Whether two implementations are the same, and if not, the first check that fails.

    Parameters
    ----------
    tolerance
        From `pyweanj.verify.tolerance.derive`.  Each differentiated array is held to its own
        norms, so that a small array beside a large one is still looked at.
    zero_proved
        A proof says that the gradient is truly zero (`pyweanj.verify.proofs.zero`).  Without it two
        gradients that are exactly zero are a mismatch.
    colours
        For the description of the worst entry.
    """
    for check in (_shape, _dtype, _size, _inputs, _finite):
        reason, detail = check(left, right)
        if reason:
            return Comparison("mismatch", reason, detail)
    zeros = zero_arrays(left.gradient), zero_arrays(right.gradient)
    if zeros[0] != zeros[1] or (zeros[0] and not zero_proved):
        return _zero(left, right, zeros)
    loss = relative(left.loss, right.loss)
    name, worst = _worst(left, right)
    array = np.asarray(left.gradient[name])
    same = Comparison(
        "ok",
        loss_difference=loss,
        grad_difference=worst.two_norm,
        grad_difference_max=worst.maximum,
        ulp=worst.ulp,
        array=name,
        index=worst.index,
        where=describe(name, worst.index, array.shape, colours) if array.size else "",
        tolerance=tolerance.relative,
    )
    if not (loss <= tolerance.loss):
        detail = f"losses {left.loss!r} and {right.loss!r} differ by {loss:.1e}"
        detail += f" relative, allowed {tolerance.loss:.1e}"
        return _failed(same, "loss", detail, tolerance.loss)
    for norm, value in (("max-norm", worst.maximum), ("2-norm", worst.two_norm)):
        if not (value <= tolerance.relative):
            detail = f"gradients of {name} differ by {value:.1e} in the {norm}"
            detail += f", allowed {tolerance.relative:.1e}, worst at {same.where}"
            return _failed(same, "gradient", detail, tolerance.relative)
    return same


def relative(a: float, b: float) -> float:
    """|a − b| / max(|a|, |b|); 0 where both are 0, NaN where either is not finite."""
    if not (np.isfinite(a) and np.isfinite(b)):
        return float("nan")
    scale = max(abs(a), abs(b))
    return abs(a - b) / scale if scale else 0.0


def array_difference(a: np.ndarray, b: np.ndarray, dtype: str = "float64") -> Difference:
    """How `a` and `b` differ; both finite and of one shape, else ValueError."""
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape:
        raise ValueError(f"shapes {a.shape} and {b.shape} differ")
    if a.size == 0:
        return Difference(0.0, 0.0, 0.0, ())
    wide = np.complex128 if np.iscomplexobj(a) or np.iscomplexobj(b) else np.float64
    a, b = a.astype(wide, copy=False), b.astype(wide, copy=False)
    (max_a, two_a), (max_b, two_b) = vector_norms(a), vector_norms(b)
    largest = max(max_a, max_b)
    if largest == 0.0:
        return Difference(0.0, 0.0, 0.0, (0,) * a.ndim)
    if not 1e-100 < largest < 1e100:
        # Scaled by a power of two, so that a difference stays within the range.
        scale = 2.0 ** float(np.clip(np.floor(np.log2(largest)), -1000, 1000))
        (max_a, two_a), (max_b, two_b) = vector_norms(a / scale), vector_norms(b / scale)
        a, b = a / scale, b / scale
    gap = np.abs(a - b)
    flat = int(np.argmax(gap))
    gap_max, gap_two = vector_norms(gap)
    index = tuple(int(i) for i in np.unravel_index(flat, gap.shape))
    ulp = _ulp(a, b, gap, dtype) if gap_max else 0.0
    return Difference(gap_max / max(max_a, max_b), gap_two / max(two_a, two_b), ulp, index)


def _ulp(a: np.ndarray, b: np.ndarray, gap: np.ndarray, dtype: str) -> float:
    """The gap in units in the last place, where it is largest relative to the entry."""
    ratio = np.atleast_1d(np.maximum(np.abs(a), np.abs(b)))
    # Entries that are zero on both sides have no gap either.
    np.maximum(ratio, np.finfo(np.float64).tiny, out=ratio)
    np.divide(np.atleast_1d(gap), ratio, out=ratio)
    worst = np.unravel_index(int(np.argmax(ratio)), gap.shape) if gap.ndim else ()
    digits = np.asarray(max(abs(a[worst]), abs(b[worst]))).astype(dtype)
    return float(gap[worst]) / float(np.spacing(digits))


def expected_dtype(array: np.ndarray, declared: str) -> str:
    """The dtype that an array of a run declared as `declared` must have (complex twice as wide)."""
    wide = {"float64": "complex128", "float32": "complex64"}
    return wide.get(declared, declared) if np.iscomplexobj(array) else declared


def non_finite(evidence: Evidence) -> str:
    """Where NaN or Inf is, in words; empty where everything is finite."""
    if not np.isfinite(evidence.loss):
        return f"the loss is {evidence.loss}"
    for name, array in evidence.gradient.items():
        good = np.isfinite(array)
        if not good.all():
            first = tuple(int(i) for i in np.argwhere(~good)[0])
            count = int(good.size - np.count_nonzero(good))
            value = np.asarray(array)[first]
            return f"{count} of {good.size} entries of {name} are not finite, {value} at {first}"
    return ""


def zero_arrays(gradient: Arrays) -> tuple[str, ...]:
    """Names of the arrays that are exactly zero everywhere, sorted."""
    return tuple(sorted(name for name, array in gradient.items() if not np.any(array)))


def _shape(left: Evidence, right: Evidence) -> tuple[Reason, str]:
    a, b = left.gradient, right.gradient
    if set(a) != set(b):
        return "shape", f"gradients of {sorted(a)} against gradients of {sorted(b)}"
    for name in a:
        if np.shape(a[name]) != np.shape(b[name]):
            return "shape", f"{name} is {np.shape(a[name])} against {np.shape(b[name])}"
    return ("", "") if a else ("shape", "there is no gradient to compare")


def _dtype(left: Evidence, right: Evidence) -> tuple[Reason, str]:
    if left.dtype != right.dtype:
        return "dtype", f"{left.dtype} against {right.dtype}"
    for side in (left, right):
        for name, array in side.gradient.items():
            wanted = expected_dtype(array, side.dtype)
            if str(np.asarray(array).dtype) != wanted:
                who = f" of {side.label}" if side.label else ""
                return "dtype", f"{name}{who} is {np.asarray(array).dtype}, declared {wanted}"
    return "", ""


def _size(left: Evidence, right: Evidence) -> tuple[Reason, str]:
    if (left.n, left.K) != (right.n, right.K):
        return "size", f"n = {left.n}, K = {left.K} against n = {right.n}, K = {right.K}"
    return "", ""


def _inputs(left: Evidence, right: Evidence) -> tuple[Reason, str]:
    a, b = left.input_sha256, right.input_sha256
    if a is None and b is None:
        return "", ""
    if a is None or b is None:
        who = (left if a is None else right).label or ("left" if a is None else "right")
        return "inputs", f"{who} does not say which inputs it loaded"
    names = [name for name in sorted({*a, *b}) if a.get(name) != b.get(name)]
    if names:
        return "inputs", f"the two computed on different {', '.join(names)} (SHA-256)"
    return "", ""


def _finite(left: Evidence, right: Evidence) -> tuple[Reason, str]:
    found = []
    for side, word in ((left, "left"), (right, "right")):
        if text := non_finite(side):
            found.append(f"{side.label or word}: {text}")
    return ("finite", "; ".join(found)) if found else ("", "")


def _zero(left: Evidence, right: Evidence, zeros: tuple[tuple[str, ...], ...]) -> Comparison:
    both = sorted(set(zeros[0]) & set(zeros[1]))
    if zeros[0] == zeros[1]:
        detail = f"both gradients of {', '.join(both)} are exactly zero and nothing proves it right"
    else:
        side, names = (left, zeros[0]) if set(zeros[0]) - set(both) else (right, zeros[1])
        other = [name for name in names if name not in both]
        who = side.label or ("left" if side is left else "right")
        detail = f"the gradient of {', '.join(other)} is exactly zero in {who} alone"
    return Comparison("mismatch", "zero", detail, loss_difference=relative(left.loss, right.loss))


def _worst(left: Evidence, right: Evidence) -> tuple[str, Difference]:
    differences = {
        name: array_difference(left.gradient[name], right.gradient[name], left.dtype)
        for name in left.gradient
    }
    return max(differences.items(), key=lambda item: max(item[1].maximum, item[1].two_norm))


def _failed(same: Comparison, reason: Reason, detail: str, allowed: float) -> Comparison:
    return replace(same, verdict="mismatch", reason=reason, detail=detail, tolerance=allowed)
