"""How far two right implementations may differ: a tolerance derived from rounding.

One implementation runs a chain of `depth` rounded operations forward and as many in the
adjoint.  Each relative error is at most the unit roundoff u and, as rounding is modelled by
Higham & Mary (SIAM J. Sci. Comput. 41(5), 2019), independent with mean zero.  By Hoeffding's
inequality a sum of such errors weighted by w exceeds λ u ‖w‖₂ with a probability of at most
2 exp(−λ²/2).  ``docs/methodology.md`` has the whole derivation and its assumptions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

__all__ = ["LAMBDA", "WELL", "Condition", "Tolerance", "derive", "unit_roundoff"]

#: 2 exp(−λ²/2) = 2.5e-14 for one entry: below 1e-7 for all entries of n = 1024 together.
LAMBDA = 8.0

_ROUNDOFF = {"float64": 2.0**-53, "float32": 2.0**-24, "float16": 2.0**-11}


class Condition(NamedTuple):
    """How many times more the loss and the gradient move, relatively, than the inputs do."""

    loss: float = 1.0
    gradient: float = 1.0


#: Nothing is amplified.
WELL = Condition()


@dataclass(frozen=True)
class Tolerance:
    """Largest relative difference that rounding explains.

    `relative` holds for gradients (max-norm and 2-norm of each array), `loss` for losses.
    `floor` is the part of both that comes from rounding alone, without measured noise or a
    user's override.
    """

    relative: float
    text: str
    """How it came about, in one line."""
    loss: float
    dtype: str = "float64"
    depth: float = 1.0
    terms: float = 0.0
    floor: float = 0.0
    condition: Condition = WELL
    overridden: bool = False

    @property
    def loss_rounding(self) -> float:
        """Largest relative difference of two losses by rounding alone."""
        length = self.depth + self.terms / 3.0
        return self.condition.loss * LAMBDA * self.roundoff * math.sqrt(2.0 * length)

    @property
    def roundoff(self) -> float:
        """Unit roundoff u of the dtype."""
        return unit_roundoff(self.dtype)


def unit_roundoff(dtype: str) -> float:
    """Half the spacing of numbers just above 1 in `dtype`; KeyError for an unknown one."""
    return _ROUNDOFF[str(dtype)]


def derive(
    dtype: str,
    depth: float,
    noise: float | None = None,
    *,
    terms: float = 0.0,
    condition: Condition = WELL,
    override: float | None = None,
) -> Tolerance:
    """The relative tolerance of one comparison.

    Parameters
    ----------
    dtype
        Declared precision, ``"float64"`` or ``"float32"``.
    depth
        Rounded operations on the longest dependency chain of one loss
        (`pyweanj.example.Example.depth`).
    noise
        Relative noise floor as measured by repeating the gradient, or None.  Each of two
        implementations may bring it, so twice the noise is added, but no more than the rounding
        bound itself: a gradient that moves by more than rounding is not repeatable, and a wide
        tolerance must not hide that.
    terms
        Summands of the loss.  Added one after another they make a chain of their own, of
        which a third counts (the partial sums grow linearly).  Only the loss is concerned.
    condition
        Amplification of relative changes, at least 1, where it was measured
        (`pyweanj.verify.condition.measure`).
    override
        A tolerance that the user asks for, for loss and gradient; recorded in the text.

    Returns
    -------
    Tolerance
        ``relative = 2 λ u √depth``, that is λ u √(2 · 2 depth): two implementations, each
        forward and adjoint; ``loss = λ u √(2 (depth + terms / 3))``; each times its condition.

    Raises
    ------
    ValueError
        `depth`, `terms` or `noise` is negative or not finite, a condition is below 1, the
        override is not a positive number, or the dtype is unknown.
    """
    if dtype not in _ROUNDOFF:
        raise ValueError(f"no tolerance is known for dtype {dtype}; use float64 or float32")
    for name, value in (("depth", depth), ("terms", terms), ("noise", noise or 0.0)):
        if not (0 <= value < math.inf):
            raise ValueError(f"{name} must be a finite number of at least 0, not {value}")
    if not (min(condition) >= 1 and max(condition) < math.inf):
        raise ValueError(f"a condition must be a finite number of at least 1, not {condition}")
    if override is not None and not (0 < override < math.inf):
        raise ValueError(f"a tolerance must be a positive finite number, not {override}")
    u, d = unit_roundoff(dtype), max(float(depth), 1.0)
    floor = condition.gradient * 2.0 * LAMBDA * u * math.sqrt(d)
    text = f"{floor:.1e} = 2·λ·u·√d, λ = {LAMBDA:g}, u = {u:.1e} ({dtype}), d = {d:g} operations"
    if condition.gradient > 1:
        text = text.replace("2·λ", f"{condition.gradient:.3g}·2·λ") + ", condition as measured"
    added = 2.0 * min(noise or 0.0, floor / 2.0)
    if added:
        text = f"{floor + added:.1e} = {text} + {added:.1e} for noise {noise:.1e}"
    derived = Tolerance(floor + added, text, 0.0, dtype, d, float(terms), floor, condition)
    derived = replace(derived, loss=derived.loss_rounding + added)
    if override is None:
        return derived
    text = f"{override:.1e} as given by the user (derived: {text})"
    return replace(derived, relative=override, loss=override, text=text, overridden=True)
