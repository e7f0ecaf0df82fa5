"""What one implementation showed: the input of every comparison and proof."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

__all__ = [
    "Arrays",
    "Colours",
    "Direction",
    "Entry",
    "Evidence",
    "Probe",
    "conventions",
    "derivative",
    "describe",
    "on_boundary",
    "vector_norms",
]

Arrays = Mapping[str, np.ndarray]
Entry = tuple[str, tuple[int, ...]]
"""Name of an array and a 0-based logical index in it."""
Direction = Entry | Arrays
"""A direction in the differentiated arrays: the unit vector of one entry, or arrays."""
Colours = Callable[[tuple[int, ...]], np.ndarray]
"""Colour of each entry of an array of the given shape, as integers."""


@dataclass(frozen=True)
class Evidence:
    """Loss and gradient of one implementation, and what it says that it computed.

    Parameters
    ----------
    loss
        Value of the loss.
    gradient
        One array for each differentiated argument, in the logical shape.
    dtype
        The declared precision, ``"float64"`` or ``"float32"``.
    n, K
        The size it was run at.
    input_sha256
        Hash of each array as it was really loaded, by name; None where it is not known.
    label
        Who it is, for the text of findings.
    """

    loss: float
    gradient: Arrays
    dtype: str
    n: int = 0
    K: int = 0
    input_sha256: Mapping[str, str] | None = None
    label: str = ""


@dataclass(frozen=True)
class Probe:
    """Losses of one implementation at its inputs moved along one direction.

    Parameters
    ----------
    direction
        Where to.
    steps
        How far, as multiples of the direction; negative ones go the other way.
    losses
        The loss after each step.
    """

    direction: Direction
    steps: tuple[float, ...]
    losses: tuple[float, ...]
    values: Mapping[float, float] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if len(self.steps) != len(self.losses):
            raise ValueError(f"{len(self.steps)} steps but {len(self.losses)} losses")
        object.__setattr__(self, "values", dict(zip(self.steps, self.losses, strict=True)))


def vector_norms(array: np.ndarray) -> tuple[float, float]:
    """Max-norm and 2-norm in float64; neither overflows nor underflows."""
    if array.size == 0:
        return 0.0, 0.0
    size = np.abs(array).astype(np.float64, copy=False).ravel()
    largest = float(np.max(size))
    if largest == 0.0 or not np.isfinite(largest):
        return largest, largest
    if 1e-100 < largest < 1e100:
        return largest, float(np.sqrt(np.dot(size, size)))
    size = size / largest
    return largest, largest * float(np.sqrt(np.dot(size, size)))


def derivative(
    gradient: Arrays, direction: Direction, *, holomorphic: bool = False
) -> tuple[float, float]:
    """Σ gᵢ vᵢ and Σ |gᵢ vᵢ|, in float64.

    For complex arrays there are two conventions: the gradient points in the direction of
    steepest ascent, and the derivative is Re Σ conj(gᵢ) vᵢ (Enzyme); or it is the conjugate
    of that, and the derivative is Re Σ gᵢ vᵢ (`holomorphic`, JAX).
    """
    if isinstance(direction, tuple):
        name, index = direction
        value = gradient[name][index]
        return float(np.real(value)), float(abs(value))
    total = size = 0.0
    for name, along in direction.items():
        is_complex = np.iscomplexobj(gradient[name]) or np.iscomplexobj(along)
        kind = np.complex128 if is_complex else np.float64
        g, v = np.asarray(gradient[name]).astype(kind), np.asarray(along).astype(kind)
        product = g * v if holomorphic else np.conj(g) * v
        total += float(np.sum(np.real(product)))
        size += float(np.sum(np.abs(product)))
    return total, size


def conventions(gradient: Arrays) -> tuple[bool, ...]:
    """Values of `holomorphic` that a proof has to try: both for complex gradients."""
    return (False, True) if any(np.iscomplexobj(g) for g in gradient.values()) else (False,)


def on_boundary(shape: tuple[int, ...]) -> np.ndarray:
    """True at the entries of the outermost layer."""
    inside = np.zeros(shape, dtype=bool)
    inside[tuple(slice(1, -1) for _ in shape)] = True
    return ~inside


def describe(
    name: str, index: tuple[int, ...], shape: tuple[int, ...], colours: Colours | None = None
) -> str:
    """Where an entry is, e.g. ``theta[3, 7] interior, colour 1``."""
    text = f"{name}[{', '.join(str(int(i)) for i in index)}]"
    if shape and all(size > 2 for size in shape):
        outside = any(i in (0, size - 1) for i, size in zip(index, shape, strict=True))
        text += " boundary" if outside else " interior"
    if colours is not None:
        text += f", colour {int(colours(shape)[index])}"
    return text
