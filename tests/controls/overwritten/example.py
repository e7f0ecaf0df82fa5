"""A loop that overwrites what it read: u[i] ← e[i] u[i+1], in place, ascending, K times.

The loss is Σ u², its gradient is taken with respect to e.  Plain reverse mode of Enzyme was
seen to return a wrong gradient of the variant ``in-place``, silently; the loss and forward mode
are right.  The variant ``two-buffers`` is the same function and not hit.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pyweanj.example import Example, Size, Variant


def shapes(size: Size) -> dict[str, tuple[int, ...]]:
    """Two vectors."""
    return {"e": (size.n,), "u": (size.n,)}


def make_inputs(size: Size, seed: int) -> dict[str, np.ndarray]:
    """Uniform numbers in [0, 1)."""
    rng = np.random.default_rng(seed)
    return {"e": rng.random(size.n), "u": rng.random(size.n)}


example = Example(
    name="overwritten",
    title="A read location that a later iteration overwrites",
    folder=Path(__file__).parent,
    variants=(
        Variant(
            "in-place",
            loss="in_place",
            systems=("jax", "enzyme", "enzyme-cpp"),
            computes="recurrence",
            description="one buffer: u[i] reads u[i+1], which the next iteration overwrites",
        ),
        Variant(
            "two-buffers",
            loss="two_buffers",
            systems=("jax", "enzyme", "enzyme-cpp"),
            computes="recurrence",
            description="every sweep writes another buffer than it reads",
        ),
    ),
    arguments=("e", "u", "K"),
    differentiate=("e",),
    shapes=shapes,
    make_inputs=make_inputs,
    generator="numpy.random.default_rng(seed).random, e then u",
    depth=lambda size: 2.0 * size.n + 2.0 * size.K,
    check=Size(6, 1),
    timing=(Size(64, 3),),
    quick=(Size(64, 3),),
    dtypes=("float64",),
)
