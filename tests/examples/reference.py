"""Gauss–Seidel as dense linear algebra: what every implementation is held against.

The sweeps are linear in θ.  Their matrix is found by sending unit vectors through plain
Python loops, and the gradient of Σ (S θ − uobs)² is 2 Sᵀ (S θ − uobs).
"""

from __future__ import annotations

from functools import cache

import numpy as np


def points(variant: str, n: int):
    """1-based (i, j) in the order of one sweep."""
    grid = [(i, j) for j in range(1, n + 1) for i in range(1, n + 1)]
    if variant.startswith("lexicographic"):
        return grid
    return [p for p in grid if sum(p) % 2 == 0] + [p for p in grid if sum(p) % 2 == 1]


def solution(variant: str, theta: np.ndarray, K: int) -> np.ndarray:
    """u after K sweeps from 0, interior points only; trailing axes of `theta` are a batch."""
    n = theta.shape[0]
    h2 = 1 / (n + 1) ** 2
    u = np.zeros((n + 2, n + 2, *theta.shape[2:]))
    for _ in range(K):
        for i, j in points(variant, n):
            around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
            u[i, j] = (h2 * theta[i - 1, j - 1] + around) / 4
    return u[1:-1, 1:-1]


@cache
def matrix(variant: str, n: int, K: int) -> np.ndarray:
    """S, (n², n²) in C order of (i, j)."""
    units = np.eye(n * n).reshape(n, n, n * n)
    return solution(variant, units, K).reshape(n * n, n * n)


def loss_and_gradient(variant: str, theta: np.ndarray, uobs: np.ndarray, K: int):
    """Loss, and the gradient as an (n, n) array."""
    n = theta.shape[0]
    S = matrix(variant, n, K)
    residual = S @ theta.ravel() - uobs.ravel()
    return residual @ residual, (2 * S.T @ residual).reshape(n, n)
