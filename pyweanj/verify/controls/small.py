"""Small problems with one property each: an overwritten location, a kink, complex numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import SupportsFloat

import numpy as np

__all__ = [
    "kink_gradient",
    "kink_loss",
    "kink_tangent",
    "overwritten_gradient",
    "overwritten_loss",
    "overwritten_tangent",
    "phase_gradient",
    "phase_loss",
    "phase_tangent",
    "unrolled_gradient",
    "unrolled_loss",
]

Named = Mapping[str, np.ndarray]


def overwritten_loss(a: Named, K: int) -> SupportsFloat:
    """Σ u² after K in-place sweeps u[i] ← e[i] u[i+1]."""
    e, u = a["e"], a["u"].copy()
    for _ in range(K):
        for i in range(u.size - 1):
            u[i] = e[i] * u[i + 1]
    return np.sum(u * u)


def overwritten_gradient(a: Named, K: int, *, stale: bool = False) -> dict[str, np.ndarray]:
    """With respect to e, every factor u[i+1] kept as it was when it was read.

    `stale` reads it from the final buffer instead, after later iterations overwrote it.
    """
    e, u = a["e"], a["u"].copy()
    read = []
    for _ in range(K):
        for i in range(u.size - 1):
            read.append(u[i + 1])
            u[i] = e[i] * u[i + 1]
    shadow, found = 2 * u, np.zeros_like(e)
    for _ in range(K):
        for i in reversed(range(u.size - 1)):
            value = read.pop()
            found[i] += shadow[i] * (u[i + 1] if stale else value)
            shadow[i + 1] += shadow[i] * e[i]
            shadow[i] = 0
    return {"e": found}


def overwritten_tangent(a: Named, v: Named, K: int) -> SupportsFloat:
    """Directional derivative along v in e."""
    e, u, du = a["e"], a["u"].copy(), np.zeros_like(a["u"])
    for _ in range(K):
        for i in range(u.size - 1):
            du[i] = v["e"][i] * u[i + 1] + e[i] * du[i + 1]
            u[i] = e[i] * u[i + 1]
    return np.sum(2 * u * du)


def unrolled_loss(a: Named, K: int) -> SupportsFloat:
    """The same, whole arrays at once: u[i] becomes the product of K factors e and one u."""
    u = _unrolled(a["e"], a["u"], K)
    return u @ u


def unrolled_gradient(a: Named, K: int) -> dict[str, np.ndarray]:
    """The same: every state is kept, and the adjoint is that of a shift and a product."""
    e, last = a["e"][:-1], a["u"].size - 1
    states = [a["u"]]
    for _ in range(K):
        states.append(np.append(e * states[-1][1:], states[-1][last]))
    shadow, found = 2 * states[-1], np.zeros_like(a["e"])
    for u in reversed(states[:-1]):
        found[:-1] += shadow[:-1] * u[1:]
        moved = np.zeros_like(shadow)
        moved[1:] = shadow[:-1] * e
        moved[last] += shadow[last]
        shadow = moved
    return {"e": found}


def kink_loss(a: Named) -> SupportsFloat:
    """Σ c (max(x, 0)² + max(x, 0))."""
    y = np.maximum(a["x"], 0)
    return np.sum(a["c"] * (y * y + y))


def kink_gradient(a: Named, at_zero: float) -> dict[str, np.ndarray]:
    """`at_zero` is the slope given to max(x, 0) at 0."""
    x = a["x"]
    slope = np.where(x > 0, 1.0, np.where(x == 0, at_zero, 0.0)).astype(x.dtype)
    return {"x": a["c"] * (2 * np.maximum(x, 0) + 1) * slope}


def kink_tangent(a: Named, v: Named) -> SupportsFloat:
    """Directional derivative with half the slope at the kink."""
    return np.sum(kink_gradient(a, 0.5)["x"] * v["x"])


def phase_loss(a: Named) -> SupportsFloat:
    """Re Σ c z²."""
    return np.sum(a["c"] * np.real(a["z"] ** 2))


def phase_gradient(a: Named) -> dict[str, np.ndarray]:
    """The direction of steepest ascent, 2 c conj(z)."""
    return {"z": 2 * a["c"] * np.conj(a["z"])}


def phase_tangent(a: Named, v: Named) -> SupportsFloat:
    """Re Σ 2 c z v."""
    return np.sum(np.real(2 * a["c"] * a["z"] * v["z"]))


def _unrolled(e: np.ndarray, u: np.ndarray, K: int) -> np.ndarray:
    for _ in range(K):
        u = np.append(e[:-1] * u[1:], u[-1])
    return u
