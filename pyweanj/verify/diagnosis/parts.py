"""One part wrong and the rest right."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pyweanj.verify.diagnosis.context import Context, Finding
from pyweanj.verify.diagnosis.factors import best_factor, name_factor
from pyweanj.verify.diagnosis.places import place_of

__all__ = ["empty_part", "part"]

_UNKNOWN = "wrong values"


def part(wrong: np.ndarray, right: np.ndarray, context: Context) -> Iterator[Finding]:
    """Which entries differ, and what is in them; the residual is that of all others."""
    if wrong.shape != right.shape or right.size < 2 or not np.isfinite(wrong).all():
        return
    scale = float(np.max(np.abs(right)))
    gap = np.abs(wrong - right)
    mask = gap > context.small * scale
    count = int(np.count_nonzero(mask))
    if not 0 < count < mask.size:
        return
    rest = float(np.max(gap[~mask])) / scale
    content = _content(wrong[mask], right[mask], context)
    vague = content == _UNKNOWN
    if place := place_of(mask, context.colours):
        text = f"{place}: {content}; the rest is right"
        yield Finding.of("part", text, rest, context, vague=vague)
    elif count <= 0.5 * mask.size:
        text = f"{count} of {mask.size} entries, in no regular place: {content}"
        yield Finding.of("scattered", text, rest, context, vague=vague)


def empty_part(wrong: np.ndarray, context: Context) -> Iterator[Finding]:
    """A place that is exactly zero while the rest is not: seen without a reference."""
    mask = wrong == 0
    place = place_of(mask, context.colours) if wrong.size > 3 and mask.any() else ""
    if place and place != "every entry":
        yield Finding.of("part", f"{place}: zero, the rest is not", 0.0, context)


def _content(wrong: np.ndarray, right: np.ndarray, context: Context) -> str:
    if not np.any(wrong):
        return "zero"
    factor = best_factor(wrong, right)
    if factor and np.max(np.abs(wrong - factor * right)) <= context.small * np.max(np.abs(wrong)):
        return name_factor(factor, right.size, context)
    return _UNKNOWN
