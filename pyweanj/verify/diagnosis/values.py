"""Values that say it themselves: not finite, all zero, too few digits."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pyweanj.verify.diagnosis.context import Context, Finding, distance
from pyweanj.verify.diagnosis.places import place_of
from pyweanj.verify.tolerance import derive

__all__ = ["not_finite", "precision", "zero"]


def not_finite(wrong: np.ndarray, right: np.ndarray, context: Context) -> Iterator[Finding]:
    """Where NaN and Inf are; the residual is that of the finite entries."""
    good = np.isfinite(wrong)
    if good.all():
        return
    bad = wrong[~good]
    kinds = [name for name, test in (("NaN", np.isnan), ("Inf", np.isinf)) if np.any(test(bad))]
    what = " and ".join(kinds)
    if wrong.shape != right.shape:
        yield Finding.of(
            "not finite", f"{what} in {bad.size} of {wrong.size} entries", 0.0, context
        )
        return
    place = place_of(~good, context.colours) or f"{bad.size} of {wrong.size} entries"
    residual = distance(wrong[good], right[good]) if good.any() else 0.0
    rest = "" if residual <= context.small else "; the finite entries are wrong too"
    yield Finding.of("not finite", f"{what} in {place}{rest}", residual, context)


def zero(wrong: np.ndarray, right: np.ndarray | None, context: Context) -> Iterator[Finding]:
    """All entries are exactly zero, and the right ones are not."""
    if not np.any(wrong) and (right is None or np.any(right)):
        yield Finding.of("zero", "exactly zero everywhere", 0.0, context)


def precision(wrong: np.ndarray, right: np.ndarray | None, context: Context) -> Iterator[Finding]:
    """The difference is what rounding in a lower precision makes.

    Entries that are all float32 numbers prove it; else the size of the difference suggests it.
    """
    if right is not None and wrong.shape != right.shape:
        return
    if context.dtype == "float64":
        lower = derive("float32", context.depth).relative
        narrow = wrong.astype(np.complex64 if np.iscomplexobj(wrong) else np.float32)
        # Fewer than four entries may be float32 numbers by chance (0 and 1 are).
        exact = bool(np.array_equal(narrow.astype(wrong.dtype), wrong))
        exact = exact and np.count_nonzero(wrong) > 3
        name = "float32"
    else:
        lower, exact, name = derive("float16", context.depth).relative, False, "TF32 or bfloat16"
    low = context.tolerance.relative
    gap = lower if right is None else distance(wrong, right)
    if not (low < gap <= lower):
        return
    if exact:
        text = f"every entry is a {name} number: computed in {name}, declared {context.dtype}"
        # The claim explains differences up to float32 rounding altogether.
        yield Finding.of("precision", text, 0.0, context)
    elif right is not None and gap >= 1e-3 * lower and _noise(wrong, right):
        text = f"differs like noise by {gap:.1e}, as {name} rounding does"
        yield Finding.of("precision", text, gap, context)


def _noise(wrong: np.ndarray, right: np.ndarray) -> bool:
    """Whether the difference touches most entries, with no preferred sign against the gradient."""
    gap = np.real(wrong - right).ravel()
    touched = np.count_nonzero(gap)
    if touched < max(8, 0.5 * gap.size):
        return False
    agree = np.count_nonzero(np.sign(gap) == np.sign(np.real(right).ravel()))
    # Five standard deviations of a fair coin.
    return bool(abs(agree - gap.size / 2) <= 2.5 * np.sqrt(gap.size) + (gap.size - touched))
