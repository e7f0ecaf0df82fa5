"""The same loss and gradient by matrix splitting, without a loop over points.

Gauss–Seidel in any ordering is u ← M⁻¹ (N u + h² θ), where A = M − N is the 5-point
Laplacian (4 on the diagonal) with its unknowns numbered in that ordering and M is its
lower triangle, diagonal included (Y. Saad, *Iterative Methods for Sparse Linear Systems*,
2nd ed., SIAM 2003, section 4.1).  The ordering enters through the numbering alone.  The
adjoint of one sweep is its transpose: w = M⁻ᵀ λ, θ̄ ← θ̄ + h² w, λ ← Nᵀ w.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

__all__ = ["loss_and_gradient", "ordering"]


def ordering(computes: str, n: int) -> np.ndarray:
    """The points of an n × n grid in the order in which one sweep of `computes` updates them.

    Returns
    -------
    numpy.ndarray
        (n²,) C-order indices into the logical (i, j) array.

    Raises
    ------
    ValueError
        `computes` is neither ``lexicographic`` nor ``red-black``.
    """
    i, j = (index.ravel() for index in np.indices((n, n)))
    match computes:
        case "lexicographic":
            keys = (i, j)  # i fastest, then j
        case "red-black":
            keys = (i, j, (i + j) % 2)  # (i + 1) + (j + 1) even, hence red, first
        case _:
            raise ValueError(f"no ordering for {computes}: use lexicographic or red-black")
    return np.lexsort(keys)


def loss_and_gradient(
    computes: str, arrays: Mapping[str, np.ndarray], K: int
) -> tuple[float, dict[str, np.ndarray]]:
    """Loss Σ (u − uobs)² after K sweeps from u = 0, and its gradient, in float64.

    Parameters
    ----------
    computes
        ``lexicographic`` or ``red-black``.
    arrays
        ``theta`` and ``uobs``, both (n, n), of any real dtype.
    K
        Number of sweeps, 0 or more.

    Returns
    -------
    loss : float
    gradient : dict
        ``theta``: (n, n) float64.
    """
    from scipy import sparse
    from scipy.sparse.linalg import splu

    theta = np.asarray(arrays["theta"], dtype=np.float64)
    n = theta.shape[0]
    order = ordering(computes, n)
    neighbours = sparse.eye_array(n, k=1) + sparse.eye_array(n, k=-1)
    second = 2 * sparse.eye_array(n) - neighbours
    A = sparse.kronsum(second, second, format="csr")[order][:, order]
    M = sparse.tril(A, format="csc")
    N = (M - A).tocsr()
    NT = N.T.tocsr()
    # M is triangular already: factored as it stands, each solve is one substitution.
    solver = splu(M, permc_spec="NATURAL", diag_pivot_thresh=0.0)

    source = theta.ravel()[order] / (n + 1) ** 2
    u = np.zeros(n * n)
    for _ in range(K):
        u = solver.solve(N @ u + source)
    residual = u - np.asarray(arrays["uobs"], dtype=np.float64).ravel()[order]

    adjoint = 2.0 * residual
    ordered = np.zeros(n * n)
    for _ in range(K):
        w = solver.solve(adjoint, trans="T")
        ordered += w
        adjoint = NT @ w
    gradient = np.empty(n * n)
    gradient[order] = ordered / (n + 1) ** 2
    return float(residual @ residual), {"theta": gradient.reshape(n, n)}
