"""What a user writes to add a problem: an `Example` with its `Variant`s.

An example is a folder with an `example.py` that binds the name `example` to an
`Example`, and one model file per language: `model.py` (JAX), `model.jl` (Julia),
`model.cpp` (C++).  Each model file holds one loss function per variant, called with the
example's `arguments` in order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np

    Arrays = Mapping[str, np.ndarray]

__all__ = ["Example", "Problem", "Size", "Variant"]

DTYPES = ("float64", "float32")


class Size(NamedTuple):
    """The size of one case."""

    n: int
    """What the arrays grow with: grid points a side, observations, …"""
    K: int = 0
    """What the work grows with at fixed arrays: sweeps, steps, …"""


@dataclass(frozen=True)
class Variant:
    """One formulation of the example.

    `loss` names the loss function in every model file.  `gradients` names, per system,
    a hand-written gradient function of the same arguments; without one the system
    differentiates `loss` itself.  Variants with the same `computes` are the same function
    mathematically and are compared with each other; the default is the variant's own name.
    """

    name: str
    loss: str
    systems: tuple[str, ...] = ("jax", "enzyme", "enzyme-cpp", "oracle")
    gradients: Mapping[str, str] = field(default_factory=dict)
    computes: str = ""
    description: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "computes", self.computes or self.name)


@dataclass(frozen=True, kw_only=True)
class Example:
    """One differentiable problem.

    `arguments` is the signature of every loss: names of input arrays, or ``"K"`` for the
    sweep count.  `differentiate` names the arrays that the gradient is taken with respect
    to.  `make_inputs(size, seed)` returns the float64 or complex128 arrays of one size, in C
    order of the logical shape, and integer and boolean ones as they are; `shapes(size)` says
    what shape each array must have.  Without both, the arrays are those of the HDF5 file
    `data`, and there is no size but the check size.  `depth(size)` is the number of rounded
    operations on the longest dependency chain of one loss, from which the tolerance follows
    (`pyweanj.verify.tolerance`).
    """

    name: str
    title: str
    folder: Path
    variants: tuple[Variant, ...]
    arguments: tuple[str, ...]
    differentiate: tuple[str, ...]
    shapes: Callable[[Size], dict[str, tuple[int, ...]]] = None  # type: ignore[assignment]
    """Default: the shapes of what is in the file `data`, whatever the size."""
    make_inputs: Callable[[Size, int], dict[str, np.ndarray]] | None = None
    generator: str = ""
    """How `make_inputs` draws, in words: stored beside the arrays that it made."""
    depth: Callable[[Size], float]
    check: Size
    timing: tuple[Size, ...] = ()
    memory: tuple[Size, ...] = ()
    quick: tuple[Size, ...] = ()
    """The timing sizes of a quick run."""
    dtypes: tuple[str, ...] = DTYPES
    seed: int = 1
    data: Path | None = None
    """HDF5 file with the arrays of the check size, or a folder with an `inputs.h5` and maybe a
    `published.json`.  Default: `folder`."""
    oracle: Callable[[str, Arrays, int], tuple[float, dict[str, np.ndarray]]] | None = None
    """Loss and gradient by another mathematical route: (computes, arrays, K)."""
    colours: Callable[[tuple[int, ...]], np.ndarray] | None = None
    """Colour of each gradient entry (an integer array of that shape), for the diagnosis."""
    tolerance: Mapping[str, float] = field(default_factory=dict)
    """Relative tolerance by dtype, where the derived one does not fit; it is recorded."""
    fd_step: float = 1e-2
    quadratic: bool = False
    """The loss is quadratic in the differentiated arrays: any finite-difference step is exact."""

    def __post_init__(self) -> None:
        if self.shapes is None:
            object.__setattr__(self, "shapes", self._stored_shapes)

    @property
    def draws_shapes_from_file(self) -> bool:
        """Whether the shapes are those of the arrays in `file`."""
        return self.shapes == self._stored_shapes

    @property
    def file(self) -> Path:
        """The HDF5 file with the arrays of the check size, whether or not it exists."""
        place = self.data or self.folder
        return place if place.suffix in {".h5", ".hdf5"} else place / "inputs.h5"

    def variant(self, name: str) -> Variant:
        """The variant called `name`; raises KeyError where there is none."""
        for variant in self.variants:
            if variant.name == name:
                return variant
        raise KeyError(name)

    @property
    def arrays(self) -> tuple[str, ...]:
        """The arguments that are arrays, in order."""
        return tuple(a for a in self.arguments if a != "K")

    def unknowns(self, size: Size) -> int:
        """Number of gradient entries at `size` (the N of a record)."""
        shapes = self.shapes(size)
        return sum(math.prod(shapes[a]) for a in self.differentiate)

    def _stored_shapes(self, _size: Size) -> dict[str, tuple[int, ...]]:
        from pyweanj.inputs import stored_shapes

        return stored_shapes(self.file)


@dataclass(frozen=True)
class Problem:
    """What one system gets to solve: one variant of an example at one size."""

    folder: Path
    variant: Variant
    arguments: tuple[str, ...]
    differentiate: tuple[str, ...]
    size: Size
    dtype: str
    inputs: Path
    """HDF5 file with every array argument, in `dtype`."""
    example: Example | None = None
    """Given to Python systems; the Julia worker needs none of it."""
    first_call: bool = True
    """Whether preparing it may run it once; False where one call would take too long."""
