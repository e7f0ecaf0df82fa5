"""Adjoints written by hand in C++: the practical limit that each AD system is held against.

The loss is the one in ``model.cpp`` that `enzyme-cpp` differentiates, and the gradient the
function of the same file that is named in ``Variant.gradients["adjoint"]``: one output
tensor for each differentiated array, then the parameters of the loss
(`pyweanj.systems.enzyme_cpp` has the conventions).  Both go through the same compiler with
the same flags as `enzyme-cpp`, but nothing is differentiated.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyweanj.example import Problem
from pyweanj.systems.enzyme_cpp import EnzymeCpp, EnzymeCppImplementation
from pyweanj.systems.interface import UnsupportedError
from pyweanj.systems.jax import JaxImplementation

__all__ = ["Adjoint"]


class AdjointImplementation(EnzymeCppImplementation):
    """One problem of `Adjoint`; it has no forward mode."""

    def tangent(self, arrays: Mapping[str, Any], tangents: Mapping[str, Any]) -> Any:
        raise UnsupportedError("an adjoint written by hand has no forward mode")


class Adjoint(EnzymeCpp):
    """Hand-written adjoint code on the CPU, called through JAX as `EnzymeCpp` is."""

    name = "adjoint"
    implementation = AdjointImplementation

    def prepare(self, problem: Problem) -> JaxImplementation:
        if self.name not in problem.variant.gradients:
            raise UnsupportedError(
                f"{problem.variant.name} has no adjoint written by hand: name its C++ function in "
                "Variant.gradients['adjoint']"
            )
        return super().prepare(problem)
