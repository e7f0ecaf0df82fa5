"""``02-gauss-seidel``: gradient of a misfit through K Gauss–Seidel sweeps.

u starts at 0 on an n × n grid with a halo of zeros, h = 1 / (n + 1).  One sweep updates
every point in place, u[i, j] ← (h² θ[i, j] + u[i−1, j] + u[i+1, j] + u[i, j−1] + u[i, j+1]) / 4,
in the order that the variant is named after.  The loss is Σ (u − uobs)² after K sweeps and
is quadratic in θ.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pyweanj.example import Example, Size, Variant
from pyweanj.examples.gauss_seidel.oracle import loss_and_gradient
from pyweanj.inputs import normals
from pyweanj.paths import data_folder


def shapes(size: Size) -> dict[str, tuple[int, ...]]:
    """Both arrays hold the interior points."""
    return {"theta": (size.n, size.n), "uobs": (size.n, size.n)}


def make_inputs(size: Size, seed: int) -> dict[str, np.ndarray]:
    """A standard normal source and a small normal observation."""
    shape = (size.n, size.n)
    return {"theta": normals(seed, 0, shape), "uobs": 0.01 * normals(seed, 1, shape)}


def depth(size: Size) -> float:
    """Six rounded operations a point; 2 n + 2 K points lie on the longest chain of updates."""
    return 6.0 * (2 * size.n + 2 * size.K)


def colours(shape: tuple[int, ...]) -> np.ndarray:
    """0 for red (1-based i + j even in the haloed grid, hence also 0-based in θ), 1 for black."""
    i, j = np.indices(shape)
    return (i + j) % 2


#: The systems that have each formulation by itself.
SYSTEMS = ("enzyme", "enzyme-cpp", "adjoint", "jax", "oracle")

SWEEP = (32, 64, 128, 256, 512, 1024)

example = Example(
    name="02-gauss-seidel",
    title="Gauss–Seidel sweeps for the Poisson problem",
    folder=Path(__file__).parent,
    variants=(
        Variant(
            "lexicographic",
            loss="gs_loss",
            systems=SYSTEMS,
            gradients={"adjoint": "gs_gradient"},
            description="i fastest, then j: each point uses the new u[i−1, j] and u[i, j−1]",
        ),
        Variant(
            "red-black",
            loss="rb_loss",
            systems=SYSTEMS,
            gradients={"enzyme": "rb_gradient", "adjoint": "rb_gradient"},
            description="all red points (i + j even), then all black ones",
        ),
        Variant(
            "lexicographic-hyperplane",
            loss="gs_hyperplane_loss",
            systems=("jax",),
            computes="lexicographic",
            description="the same order and arithmetic, points with i + j + 2k constant at once",
        ),
        Variant(
            "lexicographic-hyperplane-vjp",
            loss="gs_hyperplane_loss",
            systems=("jax",),
            gradients={"jax": "gs_hyperplane_gradient"},
            computes="lexicographic",
            description="the same loss with its adjoint written by hand: the sweeps run backwards",
        ),
    ),
    arguments=("theta", "uobs", "K"),
    differentiate=("theta",),
    shapes=shapes,
    make_inputs=make_inputs,
    generator=(
        "pyweanj.normals: theta = normals(seed, 0, (n, n)); uobs = 0.01 * normals(seed, 1, (n, n))"
    ),
    depth=depth,
    check=Size(32, 20),
    timing=tuple(Size(n, 100) for n in SWEEP),
    memory=tuple(Size(256, K) for K in (10, 100, 1000)),
    quick=(Size(32, 100), Size(64, 100)),
    data=data_folder() / "02-gauss-seidel",
    oracle=loss_and_gradient,
    colours=colours,
    quadratic=True,
)
