"""Names of the proofs, and which of two figures of one proof counts."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from pyweanj.records import Figure

__all__ = ["Proof", "best", "kind_of"]


class Proof(StrEnum):
    """The name of a proof's figure, up to a colon."""

    LIKE = "like for like"
    FINITE = "finite"
    UNCHANGED = "inputs unchanged"
    REPEATABLE = "repeatability"
    ZERO = "zero gradient"
    ORACLE = "oracle"
    ENTRIES = "finite differences"
    DIRECTIONS = "directional differences"
    SEPARATING = "separating direction"
    TAYLOR = "taylor rate"
    ADJOINT = "adjoint identity"
    """Forward against reverse mode of one system."""
    ACROSS = "adjoint identity across"
    """Forward mode of another system against the reverse mode of this one."""
    AGREEMENT = "agreement"
    """With another implementation."""
    DEVICES = "cpu against gpu"


def kind_of(name: str) -> Proof:
    """The proof that a figure's name stands for; ValueError for a name of none."""
    return Proof(name.partition(":")[0])


def best(figures: Sequence[Figure]) -> Figure:
    """Of figures in different conventions, the first that passed, else that decides nothing."""
    order = {True: 0, None: 1, False: 2}
    return min(figures, key=lambda figure: order[figure.passed])
