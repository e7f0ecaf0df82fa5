"""NAME: what is differentiated, on which inputs, at which sizes.

This skeleton fits three weights w to tanh(A w) ≈ b.  Change what is marked with ←; the losses
are in model.py (JAX), model.jl (Julia) and model.cpp (C++).  A language that you do not have
needs no file: its row says so.
"""

from pathlib import Path

import numpy as np

from pyweanj import Example, Size, Variant, normals


# ← The shape of every array at size n, as (rows, columns); () is a scalar.
def shapes(size: Size) -> dict[str, tuple[int, ...]]:
    return {"w": (3,), "A": (size.n, 3), "b": (size.n,)}


# ← The arrays themselves, drawn from a seed.  For measured data put an inputs.h5 beside this
#   file instead, and leave out shapes, make_inputs and generator.
def make_inputs(size: Size, seed: int) -> dict[str, np.ndarray]:
    A = normals(seed, 0, (size.n, 3))
    b = np.tanh(A @ [0.5, -1.0, 0.25]) + 0.1 * normals(seed, 1, (size.n,))
    return {"w": 0.1 * normals(seed, 2, (3,)), "A": A, "b": b}


example = Example(
    name="NAME",
    title="NAME",  # ← what it is, in a few words
    folder=Path(__file__).parent,
    # ← One variant a formulation; `loss` is the name of the function in every model file.
    variants=(Variant("plain", loss="loss", systems=("jax", "enzyme", "enzyme-cpp")),),
    # ← The loss's arguments in order.  "K" stands for the step count of the size, a plain int.
    arguments=("w", "A", "b"),
    differentiate=("w",),  # ← what the gradient is taken with respect to
    shapes=shapes,
    make_inputs=make_inputs,
    generator="pyweanj.normals of streams 0, 1, 2",
    # ← About how many rounded operations lie on the longest chain from an input to the loss:
    #   the tolerance follows from it.
    depth=lambda size: 30.0 + size.n,
    check=Size(20),  # ← the size at which everything is proved
    timing=(Size(1000), Size(10_000)),  # ← the sizes that are timed; none is fine
    quick=(Size(1000),),
)
