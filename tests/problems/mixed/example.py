"""Every kind of argument at once: two matrices that are not square, a vector, a scalar, integer
and boolean constants; four of them are differentiated.

Σᵢ wᵢ (exp(−a tᵢ) Σⱼ Mᵢⱼ vⱼ + B[kᵢ, 0] − yᵢ)² over the i that are not masked, K times.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pyweanj import Example, Size, Variant, normals


def shapes(size: Size) -> dict[str, tuple[int, ...]]:
    """n observations."""
    n = size.n
    return {
        "a": (), "v": (3,), "M": (n, 3), "B": (2, 4), "t": (n,), "y": (n,),
        "k": (n,), "used": (n,), "times": (),
    }  # fmt: skip


def make_inputs(size: Size, seed: int) -> dict[str, np.ndarray]:
    """Standard normal numbers, and what is no number to differentiate by."""
    n = size.n
    return {
        "a": np.array(0.7),
        "v": normals(seed, 0, (3,)),
        "M": normals(seed, 1, (n, 3)),
        "B": normals(seed, 2, (2, 4)),
        "t": np.linspace(0, 1, n),
        "y": normals(seed, 3, (n,)),
        "k": np.arange(n) % 2,
        "used": np.arange(n) % 5 != 3,
        "times": np.array(3),
    }


example = Example(
    name="mixed",
    title="every kind of argument",
    folder=Path(__file__).parent,
    variants=(
        Variant("plain", loss="loss", systems=("jax", "enzyme", "enzyme-cpp")),
        Variant(
            "by-hand",
            loss="loss",
            systems=("jax", "enzyme"),
            gradients={"jax": "gradient", "enzyme": "gradient"},
            computes="plain",
        ),
    ),
    arguments=("a", "v", "K", "M", "B", "t", "y", "k", "used", "times"),
    differentiate=("B", "a", "M", "v"),
    shapes=shapes,
    make_inputs=make_inputs,
    generator="normals",
    depth=lambda size: 40.0 + size.n,
    check=Size(9, 2),
)
