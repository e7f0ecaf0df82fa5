"""The cases that every Python system is held to, and how a test gets an implementation."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from pyweanj import systems
from pyweanj.example import Problem, Size, Variant
from pyweanj.examples.gauss_seidel.example import example
from pyweanj.inputs import make_file, read_arrays, write_arrays
from pyweanj.systems.arrays import ArrayImplementation

SYSTEMS = ("jax", "enzyme-cpp", "adjoint", "oracle")
#: C++ gradients of the example that no variant needs to name for these tests.
ADJOINTS = {"lexicographic": "gs_gradient", "red-black": "rb_gradient"}


class Case(NamedTuple):
    """One problem of the Gauss–Seidel example; `tolerance` is relative, in the 2-norm."""

    variant: str
    size: Size
    dtype: str = "float64"

    @property
    def tolerance(self) -> float:
        return example.depth(self.size) * float(np.finfo(self.dtype).eps)

    def __str__(self) -> str:
        return f"{self.variant}-n{self.size.n}-K{self.size.K}-{self.dtype}"


CASES = [
    Case(variant, size, dtype)
    for variant in ("lexicographic", "red-black")
    for size, dtype in (
        (Size(1, 0), "float64"),
        (Size(2, 1), "float64"),
        (Size(5, 3), "float64"),
        (Size(5, 3), "float32"),
    )
]


_FOLDER = TemporaryDirectory(prefix="pyweanj-tests-", ignore_cleanup_errors=True)


def folder() -> Path:
    """One temporary folder for the files of a test run; it goes when the process ends."""
    return Path(_FOLDER.name)


@cache
def system(name: str) -> systems.System:
    """A started system; the test that asks for one that cannot run here fails."""
    made = systems.load(name)()
    made.start("cpu", 1)
    return made


@cache
def problem(case: Case) -> Problem:
    """`case` with its own inputs; the check size has the committed ones."""
    if case.size == example.check and case.dtype == "float64":
        path = example.data / "inputs.h5"
    else:
        path = folder() / f"{case}.h5"
        make_file(example, case.size, path, case.dtype)
    variant = example.variant(case.variant)
    gradients = {**variant.gradients, "adjoint": ADJOINTS[case.variant]}
    variant = replace(variant, gradients=gradients)
    return Problem(
        example.folder,
        variant,
        example.arguments,
        example.differentiate,
        case.size,
        case.dtype,
        path,
        example,
    )


@cache
def implementation(name: str, case: Case) -> ArrayImplementation:
    """`case` compiled by the system called `name`, once for all tests."""
    return system(name).prepare(problem(case))


def gradient(implementation: ArrayImplementation) -> tuple[float, dict[str, np.ndarray]]:
    """Loss and gradient by way of a file, as the engine gets them."""
    path = folder() / "gradient.h5"
    return implementation.evaluate(path), read_arrays(path)


def user_problem(
    where: Path,
    text: str,
    arrays: dict[str, np.ndarray],
    *,
    file: str = "model.py",
    loss: str = "loss",
    arguments: tuple[str, ...] = ("x",),
    differentiate: tuple[str, ...] = ("x",),
    gradients: dict[str, str] | None = None,
    K: int = 3,
    dtype: str = "float64",
) -> Problem:
    """A problem as a user writes it: a folder with one model file, and its inputs."""
    (where / file).write_text(text, encoding="utf-8")
    write_arrays(where / "inputs.h5", arrays)
    variant = Variant("own", loss, gradients=gradients or {})
    size = Size(next(iter(arrays.values())).size, K)
    return Problem(where, variant, arguments, differentiate, size, dtype, where / "inputs.h5")
