"""Problems for the controls, each implemented in NumPy by two ways and an oracle.

None has a square or symmetric array unless a control needs it.
"""

from __future__ import annotations

import numpy as np

from pyweanj.inputs import normals
from pyweanj.verify.controls import chain, grid, small
from pyweanj.verify.controls.model import Implementation, Problem

__all__ = ["kinked", "overwritten", "phases", "recurrent", "sweeps", "twins"]


def sweeps(
    shape: tuple[int, int] = (9, 7),
    K: int = 5,
    dtype: str = "float64",
    *,
    order: str = "lexicographic",
    scale: float = 1.0,
    seed: int = 3,
) -> Problem:
    """Gauss–Seidel on an m × n grid; n of the record is m, and h = 1 / (m + 1).

    `scale` multiplies the loss, and with it the gradient.
    """
    m, n = shape
    make = np.dtype(dtype).type
    arrays = {
        "theta": normals(seed, 0, shape).astype(dtype),
        "uobs": (0.1 * normals(seed, 1, shape)).astype(dtype),
    }
    other = "red-black" if order == "lexicographic" else "lexicographic"
    by_matrix = lambda what, k: lambda a: grid.dense_gradient(a, what, k, scale)  # noqa: E731
    return Problem(
        name=f"sweeps {m}×{n}",
        arrays=arrays,
        differentiate=("theta",),
        n=m,
        K=K,
        dtype=dtype,
        depth=6.0 * (m + n + 2 * K),
        terms=m * n,
        quadratic=True,
        colours=grid.colours,
        first=Implementation(
            lambda a: grid.loss(a, order, K, make(scale)),
            lambda a: grid.gradient(a, order, K, make(scale)),
            lambda a, v: grid.tangent(a, v, order, K, make(scale)),
        ),
        second=Implementation(
            lambda a: grid.dense_loss(a, order, K, scale),
            lambda a: grid.dense_gradient(a, order, K, scale),
        ),
        oracle=Implementation(lambda a: grid.dense_loss(a, order, K, scale), by_matrix(order, K)),
        orders={other: by_matrix(other, K)},
        sweeps={k: by_matrix(order, k) for k in (K - 1, K + 1) if k > 0},
        arguments={"uobs": lambda a: {"uobs": grid.uobs_gradient(a, order, K, make(scale))}},
    )


def recurrent(
    length: int = 50, K: int = 3, dtype: str = "float64", *, scale: float = 1.0, seed: int = 5
) -> Problem:
    """K steps x ← tanh(w₀ x + w₁ roll(x) / 2), loss Σ (x − y)², not quadratic; w is 2 × length."""
    arrays = {
        "w": (0.6 * normals(seed, 0, (2, length))).astype(dtype),
        "x": (0.5 * normals(seed, 1, (length,))).astype(dtype),
        "y": (0.5 * normals(seed, 2, (length,))).astype(dtype),
    }
    make = np.dtype(dtype).type
    return Problem(
        name=f"recurrent 2×{length}",
        arrays=arrays,
        differentiate=("w", "x"),
        n=length,
        K=K,
        dtype=dtype,
        depth=8.0 * (K + 1),
        terms=length,
        first=Implementation(
            lambda a: chain.loss(a, K, make(scale)),
            lambda a: chain.gradient(a, K, make(scale)),
            lambda a, v: chain.tangent(a, v, K, make(scale)),
        ),
        second=Implementation(
            lambda a: chain.other_loss(a, K, make(scale)),
            lambda a: chain.other_gradient(a, K, make(scale)),
        ),
        oracle=Implementation(
            lambda a: chain.other_loss(a, K, np.float64(scale)),
            lambda a: chain.other_gradient(a, K, np.float64(scale)),
        ),
        sweeps={
            k: lambda a, k=k: chain.gradient(a, k, make(scale)) for k in (K - 1, K + 1) if k > 0
        },
        step=1e-2,
    )


def overwritten(n: int = 6, K: int = 1, dtype: str = "float64", seed: int = 7) -> Problem:
    """u[i] ← e[i] u[i+1], in place and ascending, K times; loss Σ u², gradient for e.

    The shape of loop in which a reverse mode that caches the wrong value is wrong.
    """
    rng = np.random.default_rng(seed)
    arrays = {"e": rng.random(n).astype(dtype), "u": rng.random(n).astype(dtype)}
    right = Implementation(
        lambda a: small.overwritten_loss(a, K),
        lambda a: small.overwritten_gradient(a, K),
        lambda a, v: small.overwritten_tangent(a, v, K),
    )
    return Problem(
        name=f"overwritten {n}",
        arrays=arrays,
        differentiate=("e",),
        n=n,
        K=K,
        dtype=dtype,
        depth=2.0 * n + 2 * K,
        terms=n,
        first=right,
        second=Implementation(
            lambda a: small.unrolled_loss(a, K), lambda a: small.unrolled_gradient(a, K)
        ),
        oracle=Implementation(
            lambda a: small.unrolled_loss(a, K), lambda a: small.unrolled_gradient(a, K)
        ),
    )


def kinked(shape: tuple[int, int] = (4, 5), dtype: str = "float64", seed: int = 9) -> Problem:
    """Loss Σ c max(x, 0)², plus Σ d max(x, 0), where some x are exactly 0."""
    x = normals(seed, 0, shape).astype(dtype)
    x[0, 1] = x[2, 3] = 0
    arrays = {"x": x, "c": normals(seed, 1, shape).astype(dtype)}
    half = lambda a: small.kink_gradient(a, 0.5)  # noqa: E731
    implementation = Implementation(small.kink_loss, half, small.kink_tangent)
    return Problem(
        name="kink",
        arrays=arrays,
        differentiate=("x",),
        n=shape[0],
        K=0,
        dtype=dtype,
        depth=6.0,
        terms=x.size,
        first=implementation,
        second=implementation,
        oracle=implementation,
    )


def phases(shape: tuple[int, int] = (4, 3), seed: int = 11) -> Problem:
    """Loss Re Σ c z² for complex z and real c; the gradient in the direction of ascent."""
    z = normals(seed, 0, shape) + 1j * normals(seed, 1, shape)
    arrays = {"z": z, "c": normals(seed, 2, shape)}
    implementation = Implementation(small.phase_loss, small.phase_gradient, small.phase_tangent)
    return Problem(
        name="phases",
        arrays=arrays,
        differentiate=("z",),
        n=shape[0],
        K=0,
        dtype="float64",
        depth=6.0,
        terms=z.size,
        quadratic=True,
        first=implementation,
        second=implementation,
        oracle=implementation,
    )


def twins(length: int = 6, seed: int = 13) -> Problem:
    """Loss Σ x² y, with two differentiated arrays of one shape."""
    arrays = {"x": normals(seed, 0, (length,)), "y": normals(seed, 1, (length,))}
    implementation = Implementation(
        lambda a: float(np.sum(a["x"] ** 2 * a["y"])),
        lambda a: {"x": 2 * a["x"] * a["y"], "y": a["x"] ** 2},
        lambda a, v: float(np.sum(2 * a["x"] * a["y"] * v["x"] + a["x"] ** 2 * v["y"])),
    )
    return Problem(
        name="twins",
        arrays=arrays,
        differentiate=("x", "y"),
        n=length,
        K=0,
        dtype="float64",
        depth=4.0,
        terms=length,
        first=implementation,
        second=implementation,
        oracle=implementation,
    )
