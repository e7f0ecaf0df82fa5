"""Finite differences of an implementation's own loss against its own gradient."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pyweanj.records import Figure
from pyweanj.verify.evidence import (
    Arrays,
    Colours,
    Probe,
    conventions,
    derivative,
    describe,
    vector_norms,
)
from pyweanj.verify.proofs.names import Proof, best
from pyweanj.verify.proofs.slope import Slope, central_slope
from pyweanj.verify.tolerance import Tolerance

__all__ = ["DECISIVE", "finite_differences"]

#: A proof whose own uncertainty is above this share of what it measures can fail, not pass.
DECISIVE = 0.1


def finite_differences(
    probes: Sequence[Probe],
    gradient: Arrays,
    tolerance: Tolerance,
    *,
    quadratic: bool,
    loss: float | None = None,
    magnitude: float = 1.0,
    scale: float | None = None,
    name: str = Proof.ENTRIES,
    colours: Colours | None = None,
) -> Figure:
    """The gradient against central differences of the loss that it belongs to.

    Parameters
    ----------
    probes
        Entries or directions, with the losses there (`pyweanj.verify.fd.steps` gives the steps).
    gradient
        Of the same implementation.
    quadratic
        Whether the loss is quadratic in the differentiated arrays.
    loss
        At the unmoved inputs; needed to recognise kinks.
    magnitude
        Largest |θ|: how coarsely the moved point is rounded.
    scale
        What errors are relative to.  Default: an entry to the max-norm of its array, a direction
        to Σ |gᵢ vᵢ|.

    Returns
    -------
    Figure
        `value` is the largest relative error and `tolerance` the derived allowance there.
        `passed` is None where the allowance is above a tenth: such a proof decides nothing.
    """
    if not probes:
        return Figure(name=name, passed=None, detail="no entry or direction was probed")
    asked = len(probes)
    # A step may leave the loss's domain; that says nothing about the gradient where it is taken.
    probes = [probe for probe in probes if all(map(math.isfinite, probe.losses))]
    outside = asked - len(probes)
    if not probes:
        detail = "every step leads to where the loss is not finite: try a smaller one"
        return Figure(name=name, passed=None, detail=detail)
    slopes = [
        central_slope(p, tolerance, quadratic=quadratic, loss=loss, magnitude=magnitude)
        for p in probes
    ]
    figures = []
    for holomorphic in conventions(gradient):
        rows = []
        for probe, slope in zip(probes, slopes, strict=True):
            claimed, size = derivative(gradient, probe.direction, holomorphic=holomorphic)
            entry = probe.direction if isinstance(probe.direction, tuple) else None
            unit = size
            if entry is not None:
                unit = vector_norms(np.asarray(gradient[entry[0]]))[0]
            moved = tolerance.roundoff * (1 + magnitude / max(probe.steps))
            allowed = slope.uncertainty + (moved + tolerance.relative) * size
            error = _error(slope, claimed)
            rows.append(_Row(probe, error, allowed, unit if scale is None else scale, slope))
        figure = _figure(rows, name, gradient, colours)
        if outside:
            figure.detail += f"; {outside} more where the loss is not finite at a moved point"
        if holomorphic:
            figure.detail += "; in JAX's convention for complex arrays"
        figures.append(figure)
    return best(figures)


@dataclass(frozen=True)
class _Row:
    probe: Probe
    error: float
    allowed: float
    scale: float
    slope: Slope

    @property
    def value(self) -> float:
        """Relative error."""
        if self.scale:
            return self.error / self.scale
        return math.inf if self.error else 0.0

    @property
    def excess(self) -> float:
        """The error in units of what is allowed."""
        return self.error / self.allowed if self.allowed else math.inf

    @property
    def failed(self) -> bool:
        return not (self.error <= self.allowed)

    @property
    def decides(self) -> bool:
        """Sharp enough to support a gradient, and not at a kink."""
        return not self.slope.kink and self.scale > 0 and self.allowed <= DECISIVE * self.scale


def _error(slope: Slope, claimed: float) -> float:
    # Any slope between the one-sided ones is a subgradient: which one is a convention.
    return max(abs(slope.value - claimed) - slope.kink / 2, 0.0)


def _figure(rows: list[_Row], name: str, gradient: Arrays, colours: Colours | None) -> Figure:
    failed = [row for row in rows if row.failed]
    doubtful = [row for row in rows if row.scale and not row.decides and row.value > DECISIVE]
    if failed:
        worst = max(failed, key=lambda row: row.excess)
    elif doubtful:
        worst = max(doubtful, key=lambda row: row.value)
    else:
        # What is zero has no relative error to show; beside other rows it is left out.
        shown = [row for row in rows if row.decides] or [row for row in rows if row.scale] or rows
        worst = max(shown, key=lambda row: row.value)
    where = ""
    if isinstance(worst.probe.direction, tuple):
        array, index = worst.probe.direction
        where = describe(array, index, np.shape(gradient[array]), colours)
    detail = f"{len(rows)} {'entries' if where else 'directions'}"
    if kinks := sum(row.slope.kink > 0 for row in rows):
        detail += f"; {kinks} at a kink, where any slope between the one-sided ones is a convention"
    value: float | None = worst.value
    passed: bool | None = True
    if failed:
        passed = False
        detail += f"; {len(failed)} differ by more than rounding and truncation allow"
    elif doubtful:
        passed = None
        detail += f"; {len(doubtful)} differ, but with so long a step that it decides nothing"
    elif not any(row.decides for row in rows):
        passed = None
        value = None if math.isinf(worst.value) else worst.value
        limit = min((row.allowed / row.scale for row in rows if row.scale), default=None)
        detail += "; decides nothing: "
        if limit is None:
            detail += "the gradient is zero there, and so is every difference up to rounding"
        elif limit <= DECISIVE:
            detail += "all of them are at kinks"
        elif math.isinf(limit):
            detail += "the differences do not converge, so the step is too long for this loss"
        else:
            detail += f"an error below {limit:.1e} of the gradient drowns in the loss's rounding"
    return Figure(
        name=name,
        value=value,
        tolerance=worst.allowed / worst.scale if worst.scale else None,
        passed=passed,
        detail=detail,
        where=where,
    )
