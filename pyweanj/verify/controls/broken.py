"""Implementations with one fault each, and what must be found out about them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from pyweanj.verify.controls import faults
from pyweanj.verify.controls.model import Held, Problem
from pyweanj.verify.proofs import calls_needed

__all__ = ["Control", "broken"]

Side = Literal["broken", "both", "neither", "unknown"]


@dataclass(frozen=True)
class Control:
    """One broken implementation beside a right one.

    `side` is who must be named as wrong with an oracle, and `alone` without one.  A fault that
    the loss shares fits its own gradient: without an oracle nobody can tell, and saying so
    is right.  ``neither`` stands for conventions.
    """

    name: str
    build: Callable[[], tuple[Problem, Held]]
    diagnosis: str
    text: str = ""
    """What the finding must say beyond its kind."""
    side: Side = "broken"
    alone: Side = "broken"
    partner: Callable[[Problem], Held] | None = None
    """Instead of the problem's second right implementation."""
    calls: int = 3
    """How often the gradient is called."""


def broken() -> list[Control]:
    """Every control, one or more for each kind of diagnosis."""
    found = [Control(*row) for row in faults.simple()]
    found += [
        # The loss has the same fault: each implementation fits itself.
        Control(
            "another order, loss too", faults.other_order, "order", "red-black", "broken", "unknown"
        ),
        Control(
            "one sweep too many, loss too",
            faults.one_sweep_more,
            "sweeps",
            "K = 6",
            "broken",
            "unknown",
        ),
        Control("float32 inside float64", faults.float32_inside, "precision", "float32"),
        Control("float32 returned for float64", faults.float32_returned, "precision", "float32"),
        Control("TF32 inside float32", faults.tf32_inside, "precision", "TF32"),
        Control("inputs transposed, losses equal", faults.transposed_inputs, "axes", "transposed"),
        Control("other inputs", faults.other_inputs, "like for like"),
        Control("noise of 1e-2", faults.unstructured, "none", "no structure"),
        Control("inputs changed", faults.inputs_changed, "inputs unchanged"),
        Control(
            "wrong in 1 call of 20",
            faults.stochastic,
            "not repeatable",
            "calls are wrong",
            calls=calls_needed(1 / 20),
        ),
        Control("accumulates with every call", faults.accumulating, "not repeatable", "grows"),
        Control(
            "reads an overwritten value", faults.overwritten_once, "reverse mode", "forward mode"
        ),
        Control("reads an overwritten value, K = 3", faults.overwritten_thrice, "reverse mode"),
        Control(
            "both drop a colour",
            faults.colour_missing,
            "part",
            "colour 1: zero",
            "both",
            "both",
            faults.colour_missing_too,
        ),
        Control("both exactly zero", faults.zero, "zero", "zero", "both", "both", faults.zero_too),
        Control("kink: slope 0", faults.kink_zero, "kink", "exactly 0", "neither", "neither"),
        Control("kink: slope 1", faults.kink_one, "kink", "exactly 0", "neither", "neither"),
        Control("conjugate", faults.conjugate, "conjugate", "", "neither", "neither"),
    ]
    return found
