"""Directions to probe a gradient in."""

from __future__ import annotations

import numpy as np

from pyweanj.verify.evidence import Arrays

__all__ = ["aligned", "random_signs", "separating"]


def aligned(gradient: Arrays, seed: int = 0) -> dict[str, np.ndarray]:
    """sign(gᵢ) wᵢ with random weights w in [0.5, 1.5).

    Every entry adds to the derivative, Σ |gᵢ| wᵢ, which is then far above the rounding of the
    loss where a single entry is not.  Where g is exactly zero the sign is random.  For complex
    entries the sign is gᵢ / |gᵢ|.
    """
    rng = np.random.default_rng([seed, 1])
    found = {}
    for name, array in gradient.items():
        g = np.asarray(array)
        weights = rng.uniform(0.5, 1.5, g.shape)
        signs = rng.choice([-1.0, 1.0], g.shape)
        size = np.abs(g)
        unit = np.divide(g, size, out=signs.astype(g.dtype), where=(size > 0) & np.isfinite(size))
        found[name] = (unit * weights).astype(g.dtype)
    return found


def random_signs(gradient: Arrays, seed: int = 0) -> dict[str, np.ndarray]:
    """Independent ±1 for every entry, whatever the gradient is (±1 ± i for complex entries)."""
    rng = np.random.default_rng([seed, 2])
    found = {}
    for name, array in gradient.items():
        g = np.asarray(array)
        signs = rng.choice([-1.0, 1.0], g.shape)
        if np.iscomplexobj(g):
            signs = signs + 1j * rng.choice([-1.0, 1.0], g.shape)
        found[name] = signs.astype(g.dtype)
    return found


def separating(left: Arrays, right: Arrays) -> dict[str, np.ndarray]:
    """The direction in which two gradients differ most, scaled to a max-norm of 1.

    Along left − right their derivatives are ‖left − right‖² apart, the most that any direction
    of this length can show.  So one central difference of a loss along it tells which of the two
    gradients is that loss's own, even if only a single entry is wrong.

    Raises
    ------
    ValueError
        The gradients are equal, not finite, or of different shapes.
    """
    gaps = {}
    for name in left:
        a, b = np.asarray(left[name]), np.asarray(right[name])
        if a.shape != b.shape:
            raise ValueError(f"{name} is {a.shape} against {b.shape}")
        gaps[name] = a - b
    largest = max((float(np.max(np.abs(gap))) for gap in gaps.values() if gap.size), default=0.0)
    if not (0 < largest < np.inf):
        raise ValueError("no direction separates equal or non-finite gradients")
    return {name: (gap / largest).astype(gap.dtype) for name, gap in gaps.items()}
