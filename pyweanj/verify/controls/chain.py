"""K steps x ← tanh(w₀ x + ½ w₁ roll(x)), loss scale · Σ (x − y)², by two ways of rounding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import SupportsFloat

import numpy as np

__all__ = ["gradient", "loss", "other_gradient", "other_loss", "tangent"]

Named = Mapping[str, np.ndarray]


def loss(a: Named, K: int, scale: np.floating) -> SupportsFloat:
    """With np.tanh and np.sum."""
    misfit = _states(a, K)[-1] - a["y"]
    return scale * np.sum(misfit * misfit)


def gradient(a: Named, K: int, scale: np.floating) -> dict[str, np.ndarray]:
    """With respect to w and x, by the adjoint of every step."""
    half, two = a["w"].dtype.type(0.5), a["w"].dtype.type(2)
    states = _states(a, K)
    shadow = two * scale * (states[-1] - a["y"])
    w = np.zeros_like(a["w"])
    for x, new in zip(reversed(states[:-1]), reversed(states[1:]), strict=True):
        inner = shadow * (1 - new * new)
        w[0] += inner * x
        w[1] += half * inner * np.roll(x, 1)
        shadow = inner * a["w"][0] + np.roll(half * inner * a["w"][1], -1)
    return {"w": w, "x": shadow}


def tangent(a: Named, v: Named, K: int, scale: np.floating) -> SupportsFloat:
    """Directional derivative along v in w and x."""
    half, two = a["w"].dtype.type(0.5), a["w"].dtype.type(2)
    x, dx = a["x"], v["x"]
    for _ in range(K):
        new = np.tanh(a["w"][0] * x + half * a["w"][1] * np.roll(x, 1))
        inner = v["w"][0] * x + a["w"][0] * dx
        inner = inner + half * (v["w"][1] * np.roll(x, 1) + a["w"][1] * np.roll(dx, 1))
        x, dx = new, (1 - new * new) * inner
    return two * scale * np.sum((x - a["y"]) * dx)


def other_loss(a: Named, K: int, scale: np.floating) -> SupportsFloat:
    """With exponentials, and summed by a scalar product from the other end."""
    misfit = (_other_states(a, K)[-1] - a["y"])[::-1]
    return scale * (misfit @ misfit)


def other_gradient(a: Named, K: int, scale: np.floating) -> dict[str, np.ndarray]:
    """By Jacobians of whole steps applied to the shadow, gathered by index."""
    length = a["x"].size
    before = np.arange(length) - 1
    after = (np.arange(length) + 1) % length
    states = _other_states(a, K)
    shadow = (states[-1] - a["y"]) * (a["w"].dtype.type(2) * scale)
    rows = [np.zeros_like(a["x"]), np.zeros_like(a["x"])]
    for k in range(K - 1, -1, -1):
        x, new = states[k], states[k + 1]
        slope = (1 - new) * (1 + new)
        rows[0] = rows[0] + x * slope * shadow
        rows[1] = rows[1] + x[before] * slope * shadow / 2
        shadow = a["w"][0] * (slope * shadow) + (a["w"][1] / 2 * slope * shadow)[after]
    return {"w": np.stack(rows), "x": shadow}


def _states(a: Named, K: int) -> list[np.ndarray]:
    half, states = a["w"].dtype.type(0.5), [a["x"]]
    for _ in range(K):
        x = states[-1]
        states.append(np.tanh(a["w"][0] * x + half * a["w"][1] * np.roll(x, 1)))
    return states


def _other_states(a: Named, K: int) -> list[np.ndarray]:
    states = [a["x"]]
    for _ in range(K):
        x = states[-1]
        inner = a["w"][1] * x[np.arange(x.size) - 1] / 2 + a["w"][0] * x
        fall = np.expm1(-2 * np.abs(inner))
        states.append(np.sign(inner) * -fall / (2 + fall))
    return states
