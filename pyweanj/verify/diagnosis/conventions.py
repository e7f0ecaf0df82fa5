"""Differences that are conventions and no errors: conjugates and kinks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pyweanj.verify.diagnosis.context import Context, Finding, distance

__all__ = ["conjugate", "kink"]


def conjugate(wrong: np.ndarray, right: np.ndarray, context: Context) -> Iterator[Finding]:
    """The conjugate: wrong = conj(right)."""
    if wrong.shape == right.shape and np.iscomplexobj(right) and np.any(np.imag(right)):
        residual = distance(np.conj(wrong), right)
        yield Finding.of("conjugate", "the complex conjugate", residual, context, convention=True)


def kink(name: str, wrong: np.ndarray, right: np.ndarray, context: Context) -> Iterator[Finding]:
    """Differences only where the argument is exactly zero, by a subgradient's usual factors.

    There wrong = f · right with f one of 0, ½, 2, or right is zero (0 against 1): the slopes
    0, ½ and 1 that systems give to max(x, 0) at 0, or −1, 0 and 1 to |x|.
    """
    at = context.inputs.get(name)
    if at is None or at.shape != right.shape or wrong.shape != right.shape:
        return
    if not np.isfinite(wrong).all():
        return
    scale = float(np.max(np.abs(right), initial=0.0)) or float(np.max(np.abs(wrong), initial=0.0))
    gap = np.abs(wrong - right)
    mask = gap > context.small * scale
    if not mask.any() or np.any(at[mask] != 0):
        return
    w, r = wrong[mask], right[mask]
    slack = context.small * scale
    usual = np.abs(r) <= slack
    for f in (0.0, 0.5, 2.0, -1.0):
        usual |= np.abs(w - f * r) <= slack
    if not usual.all():
        return
    rest = float(np.max(gap[~mask], initial=0.0)) / scale
    text = f"another slope at {int(mask.sum())} entries where {name} is exactly 0: a kink"
    yield Finding.of("kink", text, rest, context, convention=True)
