"""The adjoint identity: forward mode along v equals the reverse-mode gradient times v."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pyweanj.records import Figure
from pyweanj.verify.evidence import Arrays, Direction, conventions, derivative
from pyweanj.verify.proofs.differences import DECISIVE
from pyweanj.verify.proofs.names import Proof, best
from pyweanj.verify.tolerance import Tolerance

__all__ = ["adjoint_identity"]


def adjoint_identity(
    tangents: Sequence[tuple[Direction, float]],
    gradient: Arrays,
    tolerance: Tolerance,
    *,
    scale: float | None = None,
    across: str = "",
    name: str = "",
) -> Figure:
    """⟨J v, 1⟩ of forward mode against ⟨v, g⟩ of reverse mode.

    Parameters
    ----------
    tangents
        Directions v, and the forward-mode derivative along each.
    gradient
        The reverse-mode gradient.
    scale
        What errors are relative to; default Σ |gᵢ vᵢ|.
    across
        The system whose forward mode it is, where that is another one than the gradient's.

    Returns
    -------
    Figure
        `value` is the largest |Jv − g·v| relative to the scale.  `passed` is None where both are
        zero along every direction: 0 = 0 proves nothing.
    """
    name = name or (f"{Proof.ACROSS}: {across}" if across else str(Proof.ADJOINT))
    if not tangents:
        return Figure(name=name, passed=None, detail="no forward mode")
    figures = []
    for holomorphic in conventions(gradient):
        rows = []
        for direction, jvp in tangents:
            claimed, size = derivative(gradient, direction, holomorphic=holomorphic)
            # The tangent of the loss is a sum as long as the loss itself.
            allowed = max(tolerance.relative, tolerance.loss) * size
            unit = size if scale is None else scale
            decides = jvp != 0 and allowed <= DECISIVE * unit
            rows.append((abs(jvp - claimed), allowed, unit, decides))
        figures.append(_figure(rows, name))
    return best(figures)


def _figure(rows: list[tuple[float, float, float, bool]], name: str) -> Figure:
    failed = [row for row in rows if not (row[0] <= row[1])]
    shown = [
        (error / unit if unit else (math.inf if error else 0.0), allowed / unit if unit else 0.0)
        for error, allowed, unit, _ in failed or rows
    ]
    value, allowed = max(shown, key=lambda row: math.inf if math.isnan(row[0]) else row[0])
    detail = f"{len(rows)} directions"
    passed: bool | None = not failed
    if passed and not any(decides for *_, decides in rows):
        passed = None
        detail += "; decides nothing: the derivative is zero or too small along all of them"
    return Figure(name=name, value=value, tolerance=allowed, passed=passed, detail=detail)
