"""Names for sets of entries: a colour, the boundary, an edge, every second row, a block."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pyweanj.verify.evidence import Colours, on_boundary

__all__ = ["Place", "place_of", "places"]

Place = tuple[str, np.ndarray]
#: This share of a place may agree by chance (a right entry may be zero, say).
_SLACK = 0.1


def place_of(mask: np.ndarray, colours: Colours | None = None) -> str:
    """The name of the place that `mask` fills; empty where it has none."""
    if mask.all():
        return "every entry"
    for name, place in places(mask, colours):
        if _fills(mask, place):
            return name
    return ""


def places(mask: np.ndarray, colours: Colours | None = None) -> Iterator[Place]:
    """Named places in an array of the shape of `mask`, the first and last ones made to fit it."""
    shape = mask.shape
    indices = np.argwhere(mask)
    if len(indices) == 1:
        yield f"entry {tuple(int(i) for i in indices[0])}", mask
    if colours is not None:
        colour = colours(shape)
        for k in np.unique(colour):
            yield f"colour {int(k)}", colour == k
    if all(size > 2 for size in shape):
        edge = on_boundary(shape)
        yield "the boundary", edge
        yield "the interior", ~edge
    for axis in range(len(shape)):
        yield from _lines(axis, shape)
    if len(shape) > 1:
        total = np.sum(np.indices(shape), axis=0)
        for k in (0, 1):
            yield f"the entries with {'odd' if k else 'even'} index sum", total % 2 == k
    if len(indices):
        yield _block(indices, shape)


def _lines(axis: int, shape: tuple[int, ...]) -> Iterator[Place]:
    """First and last row or column, and every second one."""
    size, called = shape[axis], _called(axis, shape)
    at = np.arange(size).reshape([-1 if k == axis else 1 for k in range(len(shape))])
    if size > 1:
        yield f"the first {called}", np.broadcast_to(at == 0, shape)
        yield f"the last {called}", np.broadcast_to(at == size - 1, shape)
    if size > 3:
        for k in (0, 1):
            yield f"every second {called}, from {k}", np.broadcast_to(at % 2 == k, shape)


def _block(indices: np.ndarray, shape: tuple[int, ...]) -> Place:
    """The smallest block of consecutive rows, columns, … around the given entries."""
    low, high = indices.min(axis=0), indices.max(axis=0) + 1
    block = np.zeros(shape, dtype=bool)
    block[tuple(slice(a, b) for a, b in zip(low, high, strict=True))] = True
    return f"block [{', '.join(f'{a}:{b}' for a, b in zip(low, high, strict=True))}]", block


def _fills(mask: np.ndarray, place: np.ndarray) -> bool:
    if np.any(mask & ~place) or not place.any() or place.all():
        return False
    return int(np.count_nonzero(place & ~mask)) <= _SLACK * int(np.count_nonzero(place))


def _called(axis: int, shape: tuple[int, ...]) -> str:
    if len(shape) == 1:
        return "entry"
    return ("row", "column")[axis] if len(shape) == 2 else f"layer of axis {axis}"
