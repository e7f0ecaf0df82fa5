"""Entries displaced by one or two along axes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from pyweanj.verify.diagnosis.context import Context, Finding, distance

__all__ = ["permuted", "shift"]

_FAR = 2


def shift(wrong: np.ndarray, right: np.ndarray, context: Context) -> Iterator[Finding]:
    """A displacement: wrong[i] = right[i − s] where both exist; and what is at the edge."""
    if wrong.shape != right.shape or not 1 <= right.ndim <= 3 or right.size < 4:
        return
    whole = np.linalg.norm(right.ravel() / (np.max(np.abs(right)) or 1.0))
    choices = [range(-min(_FAR, size - 1), min(_FAR, size - 1) + 1) for size in right.shape]
    for moves in itertools.product(*choices):
        if not any(moves):
            continue
        inside = tuple(_overlap(s, size) for s, size in zip(moves, right.shape, strict=True))
        origin = tuple(_overlap(-s, size) for s, size in zip(moves, right.shape, strict=True))
        kept = right[origin]
        part = np.linalg.norm(kept.ravel() / (np.max(np.abs(right)) or 1.0))
        # An overlap of few or of nearly-zero entries would agree with anything.
        if kept.size < max(3, right.size // 4) or not part > 0.5 * whole:
            continue
        residual = distance(wrong[inside], kept)
        if residual > 0.05:
            continue
        # Where the entries agree without a shift as well, it explains nothing.
        if distance(wrong[inside], right[inside]) <= max(10 * residual, context.small):
            continue
        text = "shifted by " + ", ".join(
            f"{s:+d} along axis {axis}" for axis, s in enumerate(moves) if s
        )
        yield Finding.of(
            "shift", f"{text}, {_edge(wrong, right, moves, context)}", residual, context
        )


def permuted(wrong: np.ndarray, right: np.ndarray, context: Context) -> Iterator[Finding]:
    """The right values in wrong places."""
    if wrong.size != right.size or right.size < 3 or np.iscomplexobj(right):
        return
    residual = distance(np.sort(wrong, axis=None), np.sort(right, axis=None))
    yield Finding.of("permuted", "the right values in other places", residual, context)


def _overlap(s: int, size: int) -> slice:
    return slice(max(s, 0), size + min(s, 0))


def _edge(wrong: np.ndarray, right: np.ndarray, moves: tuple[int, ...], context: Context) -> str:
    rolled = np.roll(right, moves, axis=tuple(range(right.ndim)))
    if distance(wrong, rolled) <= context.small:
        return "wrapped around"
    outside = np.ones(right.shape, dtype=bool)
    outside[tuple(_overlap(s, size) for s, size in zip(moves, right.shape, strict=True))] = False
    return "zero at the edge" if not np.any(wrong[outside]) else "something else at the edge"
