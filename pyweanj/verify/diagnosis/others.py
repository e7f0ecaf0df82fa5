"""Gradients of something else: another order, K or argument; an input; a changing one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pyweanj.verify.diagnosis.context import Context, Finding, Source, distance
from pyweanj.verify.evidence import Arrays

__all__ = ["argument", "order", "primal", "repeats", "sweeps"]


def order(name: str, wrong: np.ndarray, context: Context) -> Iterator[Finding]:
    """The right gradient of another variant."""
    for label, source in context.orders.items():
        residual = _residual(name, wrong, source)
        if residual is not None:
            yield Finding.of("order", f"the gradient of {label}", residual, context)


def sweeps(name: str, wrong: np.ndarray, context: Context) -> Iterator[Finding]:
    """The right gradient at another K."""
    for K, source in context.sweeps.items():
        residual = _residual(name, wrong, source)
        if residual is not None:
            text = f"the gradient at K = {K} instead of {context.K}"
            yield Finding.of("sweeps", text, residual, context)


def argument(
    name: str, wrong: np.ndarray, reference: Arrays, context: Context
) -> Iterator[Finding]:
    """The right gradient of another argument."""
    known: dict[str, Source] = {k: {name: v} for k, v in reference.items() if k != name}
    for label, source in context.arguments.items():
        if label != name:
            found = source() if callable(source) else source
            known[label] = {name: found.get(label, found.get(name, np.zeros(0)))}
    for label, source in known.items():
        residual = _residual(name, wrong, source)
        if residual is not None:
            text = f"the gradient with respect to {label}"
            yield Finding.of("argument", text, residual, context)


def primal(wrong: np.ndarray, right: np.ndarray | None, context: Context) -> Iterator[Finding]:
    """An input itself, or the gradient on top of one."""
    for label, array in context.inputs.items():
        if array.shape != wrong.shape or not np.any(array):
            continue
        yield Finding.of("input", f"the input {label} itself", distance(wrong, array), context)
        if right is not None and right.shape == wrong.shape:
            text = f"the gradient added to the input {label}"
            yield Finding.of("input", text, distance(wrong, right + array), context)


def repeats(
    name: str, wrong: np.ndarray, right: np.ndarray | None, context: Context
) -> Iterator[Finding]:
    """Calls that differ among themselves, or grow with every call."""
    calls = [np.asarray(call[name]) for call in context.repeats if name in call]
    # Without a reference the first call stands for one.
    right = wrong if right is None else right
    if len(calls) < 2 or any(call.shape != right.shape for call in calls):
        return
    first = calls[0]
    if all(
        np.array_equal(call, first, equal_nan=True)
        or distance(call, first) <= context.tolerance.relative
        for call in calls[1:]
    ):
        return
    if np.any(first) and all(
        distance(call, (k + 1) * first) <= context.small for k, call in enumerate(calls)
    ):
        text = "grows by itself with every call: the gradient accumulates"
        yield Finding.of("not repeatable", text, distance(first, right), context)
        return
    off = [k + 1 for k, call in enumerate(calls) if distance(call, right) > context.small]
    good = len(calls) - len(off)
    text = f"{len(off)} of {len(calls)} calls are wrong"
    residual = 0.0 if good else distance(wrong, right)
    yield Finding.of("not repeatable", text, residual, context)


def _residual(name: str, wrong: np.ndarray, source: Source) -> float | None:
    """How far `wrong` is from another gradient; None where the two cannot be the same."""
    found = source() if callable(source) else source
    other = np.asarray(found[name]) if name in found else None
    if other is None or other.shape != wrong.shape or not np.any(other):
        return None
    return distance(wrong, other)
