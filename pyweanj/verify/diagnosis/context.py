"""What a diagnosis may use, and what it gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from pyweanj.verify.diagnosis.causes import cause_of
from pyweanj.verify.evidence import Arrays, Colours, Direction
from pyweanj.verify.proofs.adjoint import adjoint_identity
from pyweanj.verify.tolerance import WELL, Condition, Tolerance, derive

__all__ = ["Context", "Finding", "Source", "distance", "forward_mode_fits"]

Source = Arrays | Callable[[], Arrays]
"""Gradients, or a function that computes them when a finder asks."""


@dataclass(frozen=True)
class Context:
    """What is known beside the wrong and the right gradient.

    Parameters
    ----------
    n, K, dtype, depth
        Of the case (`pyweanj.example.Example.depth`).
    system
        Whose gradient is wrong (``"jax"``, ``"enzyme"``, ``"enzyme-cpp"``): chooses the causes.
    colours
        Colour of each entry of an array of the given shape.
    inputs
        The arrays that the loss was called with, by name.
    orders
        Right gradients of the other variants, by name.
    sweeps
        Right gradients at other K.
    arguments
        Right gradients with respect to other arguments, by name.
    repeats
        The gradients of repeated calls of the wrong implementation, the first one first.
    forward_mode_right
        Whether the wrong implementation's own forward mode fits the reference
        (`forward_mode_fits`); None: not known.
    condition
        Of the case, where it was measured (`pyweanj.verify.condition.measure`).
    """

    n: int
    K: int
    dtype: str = "float64"
    depth: float = 1.0
    system: str = ""
    colours: Colours | None = None
    inputs: Arrays = field(default_factory=dict)
    orders: Mapping[str, Source] = field(default_factory=dict)
    sweeps: Mapping[int, Source] = field(default_factory=dict)
    arguments: Mapping[str, Source] = field(default_factory=dict)
    repeats: Sequence[Arrays] = ()
    forward_mode_right: bool | None = None
    condition: Condition = WELL

    @property
    def tolerance(self) -> Tolerance:
        """Of rounding at this size."""
        return derive(self.dtype, self.depth, condition=self.condition)

    @property
    def small(self) -> float:
        """A residual up to this is rounding: undoing a fault may cost some digits."""
        return min(30.0 * self.tolerance.relative, 1e-2)


@dataclass(frozen=True)
class Finding:
    """One explanation of a difference."""

    kind: str
    """A key of `pyweanj.verify.diagnosis.causes.CAUSES`."""
    text: str
    residual: float
    """‖wrong − claimed‖∞ / ‖claimed‖∞: what the claim leaves unexplained."""
    cause: str = ""
    """What usually causes it."""
    array: str = ""
    convention: bool = False
    """Neither side is wrong: the two follow different conventions."""
    vague: bool = False
    """It says where, but not how."""

    @classmethod
    def of(cls, kind: str, text: str, residual: float, context: Context, **more: object) -> Finding:
        """A finding with the usual cause in the context's system."""
        cause = cause_of(kind, context.system)
        return cls(kind, text, residual, cause, **more)  # type: ignore[arg-type]


def distance(a: np.ndarray, b: np.ndarray) -> float:
    """‖a − b‖∞ / ‖b‖∞ in float64; Inf where b is zero and a is not, or anything is not finite."""
    if a.size == 0:
        return 0.0
    wide = np.complex128 if np.iscomplexobj(a) or np.iscomplexobj(b) else np.float64
    a, b = a.astype(wide), b.astype(wide)
    scale, gap = float(np.max(np.abs(b))), float(np.max(np.abs(a - b)))
    if scale == 0.0:
        return 0.0 if gap == 0.0 else float("inf")
    ratio = gap / scale
    return ratio if np.isfinite(ratio) else float("inf")


def forward_mode_fits(
    tangents: Sequence[tuple[Direction, float]], reference: Arrays, tolerance: Tolerance
) -> bool | None:
    """Whether an implementation's forward mode fits a gradient that is right.

    Parameters
    ----------
    tangents
        Directions, and its forward-mode derivative along each.
    reference
        The right gradient.

    Returns
    -------
    bool or None
        None where there are no tangents, or all derivatives are zero.
    """
    return adjoint_identity(tangents, reference, tolerance).passed
