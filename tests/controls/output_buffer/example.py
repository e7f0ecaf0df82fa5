"""Gauss–Seidel sweeps in C++ with the working array local, and declared as an output.

With the array as an *output* of the C++ function, beside the loss, the package enzyme-ad was
seen to return a gradient of exactly zero, without an error: the variant ``u-as-output``.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pyweanj.example import Example, Size, Variant
from pyweanj.inputs import normals


def shapes(size: Size) -> dict[str, tuple[int, ...]]:
    """Not square."""
    return {"theta": (size.n, size.n + 3), "uobs": (size.n, size.n + 3)}


def make_inputs(size: Size, seed: int) -> dict[str, np.ndarray]:
    """A normal source and a small normal observation."""
    shape = (size.n, size.n + 3)
    return {"theta": normals(seed, 0, shape), "uobs": 0.01 * normals(seed, 1, shape)}


example = Example(
    name="output-buffer",
    title="The working array as an output of the C++ function",
    folder=Path(__file__).parent,
    variants=(
        Variant("u-local", loss="u_local", systems=("jax", "enzyme-cpp"), computes="sweeps"),
        Variant("u-as-output", loss="u_as_output", systems=("jax",), computes="sweeps"),
    ),
    arguments=("theta", "uobs", "K"),
    differentiate=("theta",),
    shapes=shapes,
    make_inputs=make_inputs,
    generator="pyweanj.normals: theta = normals(seed, 0, …); uobs = 0.01 * normals(seed, 1, …)",
    depth=lambda size: 6.0 * (2 * size.n + 3 + 2 * size.K),
    check=Size(6, 4),
    timing=(Size(16, 4),),
    quick=(Size(16, 4),),
    dtypes=("float64",),
    quadratic=True,
)
