"""All proofs of one implementation, asked for through the little that they need of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from pyweanj.records import Figure
from pyweanj.verify import directions, fd, proofs
from pyweanj.verify.evidence import Arrays, Colours, Direction, Evidence, Probe
from pyweanj.verify.proofs.names import Proof
from pyweanj.verify.tolerance import Tolerance

__all__ = ["BRIEF", "FULL", "Effort", "Setting", "Subject", "prove", "separate"]


class Subject(Protocol):
    """What a proof asks an implementation for."""

    def losses(self, direction: Direction, steps: Sequence[float]) -> Sequence[float]:
        """Loss at the inputs moved by each of `steps` along `direction`."""
        ...

    def jvp(self, direction: Direction) -> float | None:
        """Forward-mode derivative along `direction`, or None where there is no forward mode."""
        ...


@dataclass(frozen=True)
class Setting:
    """What all proofs of one example at one size share."""

    tolerance: Tolerance
    quadratic: bool = False
    step: float = 1e-2
    """Finite-difference step in float64."""
    magnitude: float = 1.0
    """Largest |θ| over the differentiated arrays."""
    colours: Colours | None = None
    seed: int = 0

    @property
    def steps(self) -> tuple[float, ...]:
        """Steps of one probe."""
        return fd.steps(self.step, self.tolerance.dtype, self.quadratic)


@dataclass(frozen=True)
class Effort:
    """How many questions the proofs ask."""

    entries: int
    directions: int
    taylor: bool
    tangents: int


#: At the check size.
FULL = Effort(entries=10, directions=2, taylor=True, tangents=2)
#: At the sizes of a timing sweep: two losses and a tangent, less than one gradient and a half.
BRIEF = Effort(entries=0, directions=1, taylor=False, tangents=1)


def prove(
    subject: Subject,
    evidence: Evidence,
    setting: Setting,
    *,
    oracle: Evidence | None = None,
    effort: Effort = FULL,
) -> list[Figure]:
    """Every proof that stands on one implementation alone, and the oracle.

    The conditions of its run (`proofs.like_for_like`, `proofs.inputs_unchanged`,
    `proofs.repeatability`) are figures of their own, from what the run reported.  A gradient
    that is not finite gets no further than that.
    """
    figures = [proofs.finite(evidence)]
    if not figures[0].passed:
        return figures
    gradient, loss = evidence.gradient, evidence.loss
    common = {"quadratic": setting.quadratic, "loss": loss, "magnitude": setting.magnitude}
    entries, along = probes(subject, gradient, setting, effort)
    zero = proofs.zero(
        gradient, oracle=None if oracle is None else oracle.gradient, probes=[*entries, *along]
    )
    figures.append(zero)
    if oracle is not None:
        figures.append(proofs.oracle(evidence, oracle, setting.tolerance, colours=setting.colours))
    if entries:
        figures.append(
            proofs.finite_differences(
                entries, gradient, setting.tolerance, colours=setting.colours, **common
            )
        )
    if along:
        figures.append(
            proofs.finite_differences(
                along, gradient, setting.tolerance, name=Proof.DIRECTIONS, **common
            )
        )
    if effort.taylor:
        figures.append(_taylor(subject, evidence, setting))
    if tangents := _tangents(subject, gradient, setting.seed, effort.tangents):
        figures.append(proofs.adjoint_identity(tangents, gradient, setting.tolerance))
    return figures


def probes(
    subject: Subject, gradient: Arrays, setting: Setting, effort: Effort
) -> tuple[list[Probe], list[Probe]]:
    """Losses at random entries, and along directions: aligned with the gradient, then random."""
    shapes = {name: np.shape(array) for name, array in gradient.items()}
    chosen = fd.random_entries(shapes, effort.entries, setting.seed) if effort.entries else []
    along = _directions(gradient, setting.seed, effort.directions)
    return (
        [_ask(subject, entry, setting.steps) for entry in chosen],
        [_ask(subject, direction, setting.steps) for direction in along],
    )


def separate(subject: Subject, evidence: Evidence, other: Evidence, setting: Setting) -> Figure:
    """Whether an implementation's own loss sides with its gradient or with the other one.

    Raises
    ------
    ValueError
        The gradients are equal, not finite, or of different shapes.
    """
    direction = directions.separating(evidence.gradient, other.gradient)
    return proofs.separating_direction(
        _ask(subject, direction, setting.steps),
        evidence,
        other,
        setting.tolerance,
        quadratic=setting.quadratic,
        magnitude=setting.magnitude,
        tangent=subject.jvp(direction),
    )


def _taylor(subject: Subject, evidence: Evidence, setting: Setting) -> Figure:
    direction = directions.aligned(evidence.gradient, setting.seed + 1)
    largest = max(setting.steps)
    steps = tuple(largest * 0.5**k for k in range(4))
    if not setting.quadratic:
        steps += tuple(-t for t in steps)
    return proofs.taylor(
        _ask(subject, direction, steps),
        evidence.loss,
        evidence.gradient,
        setting.tolerance,
        quadratic=setting.quadratic,
    )


def _ask(subject: Subject, direction: Direction, steps: tuple[float, ...]) -> Probe:
    return Probe(direction, steps, tuple(float(x) for x in subject.losses(direction, steps)))


def _directions(gradient: Arrays, seed: int, count: int) -> list[dict[str, np.ndarray]]:
    makers = (directions.aligned, directions.random_signs)
    return [makers[k % 2](gradient, seed + k // 2) for k in range(count)]


def _tangents(
    subject: Subject, gradient: Arrays, seed: int, count: int
) -> list[tuple[Direction, float]]:
    found: list[tuple[Direction, float]] = []
    for direction in _directions(gradient, seed + 7, count):
        tangent = subject.jvp(direction)
        if tangent is None:
            break
        found.append((direction, float(tangent)))
    return found
