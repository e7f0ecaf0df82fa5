"""A scratch buffer passed to Enzyme as `Const`: a gradient of zero, without an error.

Σ (θ² sin θ − y)² through a buffer that the caller gives.  The variant ``duplicated`` gives
the buffer a shadow, and is right; ``const`` does not.  JAX and C++ stand beside it.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pyweanj.example import Example, Size, Variant
from pyweanj.inputs import normals


def shapes(size: Size) -> dict[str, tuple[int, ...]]:
    """Two vectors."""
    return {"theta": (size.n,), "y": (size.n,)}


def make_inputs(size: Size, seed: int) -> dict[str, np.ndarray]:
    """Standard normal numbers."""
    return {"theta": normals(seed, 0, (size.n,)), "y": normals(seed, 1, (size.n,))}


example = Example(
    name="const-scratch",
    title="A scratch buffer without a shadow",
    folder=Path(__file__).parent,
    variants=(
        Variant(
            "duplicated",
            loss="loss",
            systems=("jax", "enzyme", "enzyme-cpp"),
            gradients={"enzyme": "gradient_duplicated"},
            computes="misfit",
        ),
        Variant(
            "const",
            loss="loss",
            systems=("enzyme",),
            gradients={"enzyme": "gradient_const"},
            computes="misfit",
        ),
    ),
    arguments=("theta", "y"),
    differentiate=("theta",),
    shapes=shapes,
    make_inputs=make_inputs,
    generator="pyweanj.normals: theta = normals(seed, 0, (n,)); y = normals(seed, 1, (n,))",
    depth=lambda size: 8.0 + size.n,
    check=Size(7, 0),
    timing=(Size(32, 0),),
    quick=(Size(32, 0),),
    dtypes=("float64",),
)
