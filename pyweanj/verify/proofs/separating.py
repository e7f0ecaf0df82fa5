"""Along the direction in which two gradients differ most: whose loss has which gradient."""

from __future__ import annotations

from pyweanj.records import Figure
from pyweanj.verify.evidence import Evidence, Probe, derivative
from pyweanj.verify.proofs.adjoint import adjoint_identity
from pyweanj.verify.proofs.differences import finite_differences
from pyweanj.verify.proofs.names import Proof
from pyweanj.verify.tolerance import Tolerance

__all__ = ["separating_direction"]


def separating_direction(
    probe: Probe,
    evidence: Evidence,
    other: Evidence,
    tolerance: Tolerance,
    *,
    quadratic: bool,
    magnitude: float = 1.0,
    tangent: float | None = None,
) -> Figure:
    """Whether an implementation's own loss sides with its own gradient or not.

    Parameters
    ----------
    probe
        Its losses along `pyweanj.verify.directions.separating` of the two gradients.
    evidence, other
        Its own loss and gradient, and those of the implementation it disagrees with.
    tangent
        Its own forward-mode derivative along that direction.  Where the gradients are so close
        that central differences cannot tell, it decides, if it agrees with either gradient.

    Returns
    -------
    Figure
        Errors are relative to how far apart the two gradients' derivatives are, so 0 is a
        gradient that fits its loss and 1 one where the other's fits instead.
    """
    name = f"{Proof.SEPARATING}: {other.label}" if other.label else str(Proof.SEPARATING)
    mine = derivative(evidence.gradient, probe.direction)[0]
    theirs = derivative(other.gradient, probe.direction)[0]
    apart = abs(mine - theirs)
    by_losses = finite_differences(
        [probe],
        evidence.gradient,
        tolerance,
        quadratic=quadratic,
        loss=evidence.loss,
        magnitude=magnitude,
        scale=apart,
        name=name,
    )
    if by_losses.passed is not None or tangent is None:
        return by_losses
    tangents = [(probe.direction, tangent)]
    found = adjoint_identity(tangents, evidence.gradient, tolerance, scale=apart, name=name)
    found.detail += ", by forward mode"
    if (
        found.passed is False
        and not adjoint_identity(tangents, other.gradient, tolerance, scale=apart).passed
    ):
        found.passed = None
        found.detail += ", which agrees with neither"
    return found
