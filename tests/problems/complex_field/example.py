"""A real loss of complex arguments: Σ |(F z)ᵢ² − dᵢ|², F not square."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pyweanj import Example, Size, Variant, normals


def shapes(size: Size) -> dict[str, tuple[int, ...]]:
    """n data of three unknowns."""
    return {"z": (3,), "F": (size.n, 3), "d": (size.n,)}


def make_inputs(size: Size, seed: int) -> dict[str, np.ndarray]:
    """Complex standard normal numbers."""
    return {
        name: normals(seed, 2 * k, shape) + 1j * normals(seed, 2 * k + 1, shape)
        for k, (name, shape) in enumerate(shapes(size).items())
    }


example = Example(
    name="complex-field",
    title="a real loss of complex arguments",
    folder=Path(__file__).parent,
    variants=(Variant("plain", loss="loss", systems=("jax", "enzyme", "enzyme-cpp")),),
    arguments=("z", "F", "d"),
    differentiate=("z",),
    shapes=shapes,
    make_inputs=make_inputs,
    generator="normals",
    depth=lambda size: 40.0 + size.n,
    check=Size(7),
)
