"""Axes exchanged or reversed, memory order mixed up, shapes that differ."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np

from pyweanj.verify.diagnosis.context import Context, Finding, distance
from pyweanj.verify.diagnosis.factors import best_factor, name_factor

__all__ = ["axes", "shape"]

#: Beyond this the signed permutations are too many: 4 axes have 384.
_MOST_AXES = 3


def axes(wrong: np.ndarray, right: np.ndarray, context: Context) -> Iterator[Finding]:
    """Every permutation and reversal of axes that gives the right shape, then a factor on top."""
    if wrong.ndim != right.ndim or wrong.size != right.size or right.size < 2:
        return
    if not 1 <= right.ndim <= _MOST_AXES:
        return
    for order in itertools.permutations(range(right.ndim)):
        if wrong.transpose(order).shape != right.shape:
            continue
        for flips in _subsets(right.shape):
            if order == tuple(range(right.ndim)) and not flips:
                continue
            undone = np.flip(wrong.transpose(order), flips)
            text = _words(order, flips, wrong.shape, right.shape)
            yield from _with_factor(undone, right, text, context)
    if wrong.ndim > 1:
        for undone, text in (
            (
                wrong.ravel().reshape(right.shape, order="F"),
                "column-major values in row-major order",
            ),
            (wrong.ravel("F").reshape(right.shape), "row-major values in column-major order"),
        ):
            yield from _with_factor(undone, right, text, context)


def shape(wrong: np.ndarray, right: np.ndarray, context: Context) -> Iterator[Finding]:
    """What a gradient of another shape holds."""
    if wrong.shape == right.shape:
        return
    says = f"shape {wrong.shape} instead of {right.shape}"
    if wrong.ndim == right.ndim and all(
        a == b + 2 for a, b in zip(wrong.shape, right.shape, strict=True)
    ):
        inner = wrong[tuple(slice(1, -1) for _ in wrong.shape)]
        yield Finding.of("shape", f"{says}: with a halo", distance(inner, right), context)
    if wrong.size == right.size:
        for order in ("C", "F"):
            undone = wrong.ravel().reshape(right.shape, order=order)
            if wrong.squeeze().shape == right.squeeze().shape:
                text = f"{says}: an axis of length 1 too many or too few"
            else:
                text = f"{says}: flattened in {'row' if order == 'C' else 'column'}-major order"
            yield Finding.of("shape", text, distance(undone, right), context)
    if math.prod(wrong.shape) != math.prod(right.shape):
        yield Finding.of("shape", says, math.inf, context)


def _with_factor(
    undone: np.ndarray, right: np.ndarray, text: str, context: Context
) -> Iterator[Finding]:
    plain = distance(undone, right)
    yield Finding.of("axes", text, plain, context)
    factor = best_factor(undone, right)
    if plain > context.small and factor and abs(factor - 1) > context.small:
        scaled = distance(undone / factor, right)
        name = name_factor(factor, right.size, context)
        yield Finding.of("axes", f"{text}, and {name}", scaled, context)


def _subsets(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """All sets of axes longer than 1."""
    long = [axis for axis, size in enumerate(shape) if size > 1]
    for count in range(len(long) + 1):
        yield from itertools.combinations(long, count)


def _words(
    order: tuple[int, ...],
    flips: tuple[int, ...],
    found: tuple[int, ...],
    wanted: tuple[int, ...],
) -> str:
    parts = []
    if order != tuple(range(len(order))):
        exchanged = "transposed" if len(order) == 2 else f"axes in order {order}"
        parts.append(
            exchanged + (f" (shape {found} instead of {wanted})" if found != wanted else "")
        )
    if flips:
        plural = "axis" if len(flips) == 1 else "axes"
        parts.append(f"{plural} {', '.join(str(axis) for axis in flips)} reversed")
    return " and ".join(parts)
