"""Gauss–Seidel on an m × n grid: by sweeps along anti-diagonals, and by dense matrices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

import numpy as np

__all__ = [
    "colours",
    "dense_gradient",
    "dense_loss",
    "gradient",
    "loss",
    "tangent",
    "uobs_gradient",
]

Named = Mapping[str, np.ndarray]
Stage = tuple[np.ndarray, np.ndarray]


def colours(shape: tuple[int, ...]) -> np.ndarray:
    """0 where the sum of the indices is even, 1 where it is odd."""
    return np.sum(np.indices(shape), axis=0) % 2


def loss(a: Named, order: str, K: int, scale: np.floating) -> np.floating:
    """`scale` Σ (u − uobs)²."""
    misfit = _solve(a["theta"], order, K) - a["uobs"]
    return scale * np.sum(misfit * misfit)


def gradient(a: Named, order: str, K: int, scale: np.floating) -> dict[str, np.ndarray]:
    """With respect to theta, by the adjoint of every update in reverse order."""
    theta = a["theta"]
    make = theta.dtype.type
    h2, quarter = _h2(theta), make(0.25)
    shadow = np.zeros((theta.shape[0] + 2, theta.shape[1] + 2), theta.dtype)
    shadow[1:-1, 1:-1] = make(2) * scale * (_solve(theta, order, K) - a["uobs"])
    found = np.zeros_like(theta)
    for _ in range(K):
        for i, j in reversed(_stages(theta.shape, order)):
            part = quarter * shadow[i, j]
            shadow[i, j] = 0
            found[i - 1, j - 1] += h2 * part
            for k, l in ((i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)):  # noqa: E741
                shadow[k, l] += part
    return {"theta": found}


def tangent(a: Named, v: Named, order: str, K: int, scale: np.floating) -> np.floating:
    """Directional derivative; the solution is linear in theta."""
    misfit = _solve(a["theta"], order, K) - a["uobs"]
    moved = _solve(v["theta"], order, K)
    return a["theta"].dtype.type(2) * scale * np.sum(misfit * moved)


def uobs_gradient(a: Named, order: str, K: int, scale: np.floating) -> np.ndarray:
    """With respect to uobs."""
    misfit = _solve(a["theta"], order, K) - a["uobs"]
    return -(a["uobs"].dtype.type(2) * scale * misfit)


def dense_loss(a: Named, order: str, K: int, scale: float) -> np.floating:
    """The same loss by the matrices of one sweep."""
    misfit = _by_matrix(a["theta"], order, K) - a["uobs"].ravel()
    return a["theta"].dtype.type(scale) * (misfit @ misfit)


def dense_gradient(a: Named, order: str, K: int, scale: float) -> dict[str, np.ndarray]:
    """The same gradient: Σₖ Bᵀ (Gᵀ)ᵏ 2 (u − uobs) for u ← G u + B θ."""
    theta = a["theta"]
    G, B = _matrices(theta.shape, order, str(theta.dtype))
    p = theta.dtype.type(2 * scale) * (_by_matrix(theta, order, K) - a["uobs"].ravel())
    total = np.zeros_like(p)
    for _ in range(K):
        total += B.T @ p
        p = G.T @ p
    return {"theta": total.reshape(theta.shape)}


def _h2(theta: np.ndarray) -> np.floating:
    make = theta.dtype.type
    return make(1) / make((theta.shape[0] + 1) ** 2)


def _solve(theta: np.ndarray, order: str, K: int) -> np.ndarray:
    h2, quarter = _h2(theta), theta.dtype.type(0.25)
    u = np.zeros((theta.shape[0] + 2, theta.shape[1] + 2), theta.dtype)
    for _ in range(K):
        for i, j in _stages(theta.shape, order):
            near = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
            u[i, j] = quarter * (h2 * theta[i - 1, j - 1] + near)
    return u[1:-1, 1:-1]


@lru_cache(maxsize=256)
def _stages(shape: tuple[int, int], order: str) -> tuple[Stage, ...]:
    """Points (with halo) that may be updated together, in the order of the sweep."""
    return tuple(_groups(shape, order))


def _groups(shape: tuple[int, int], order: str) -> Iterator[Stage]:
    i, j = np.indices(shape) + 1
    if order == "lexicographic":
        # All points of an anti-diagonal read new values of the one before alone.
        for total in range(2, sum(shape) + 1):
            yield i[i + j == total], j[i + j == total]
    else:
        for colour in (0, 1):
            yield i[(i + j) % 2 == colour], j[(i + j) % 2 == colour]


@lru_cache(maxsize=64)
def _matrices(shape: tuple[int, int], order: str, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """G = M⁻¹ N and B = h² M⁻¹ of the splitting A = M − N in the sweep's order."""
    m, n = shape
    line = lambda k: np.diag(np.ones(k - 1), 1) + np.diag(np.ones(k - 1), -1)  # noqa: E731
    near = np.kron(line(m), np.eye(n)) + np.kron(np.eye(m), line(n))
    i, j = (index.ravel() for index in np.indices(shape))
    rank = i + j if order == "lexicographic" else (i + j) % 2
    earlier = rank[None, :] < rank[:, None]
    M = 4 * np.eye(m * n) - near * earlier
    N = near * ~earlier
    B = np.linalg.inv(M) / (m + 1) ** 2
    return np.linalg.solve(M, N).astype(dtype), B.astype(dtype)


def _by_matrix(theta: np.ndarray, order: str, K: int) -> np.ndarray:
    G, B = _matrices(theta.shape, order, str(theta.dtype))
    source = B @ theta.ravel()
    u = np.zeros_like(source)
    for _ in range(K):
        u = G @ u + source
    return u
