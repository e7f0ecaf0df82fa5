"""All proofs of one implementation, asked for through the little that they need of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from pyweanj.records import Figure
from pyweanj.verify import directions, fd, proofs
from pyweanj.verify.evidence import Colours, Direction, Evidence, Probe
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
        """Steps of one finite difference, both ways."""
        return fd.steps(self.step, self.tolerance.dtype, self.quadratic)

    @property
    def taylor_steps(self) -> tuple[float, ...]:
        """Steps of a Taylor test: a large first one, so that the remainder stands above rounding.

        Where the loss is not quadratic they end far below the step of a difference, since a rate
        is of second order only where the loss has come close to its parabola; and they go both
        ways, so that a kink is told from a wrong gradient.
        """
        if self.quadratic:
            return tuple(64 * self.step * 0.25**k for k in range(5))
        sizes = tuple(64 * self.step * 0.25**k for k in range(9))
        return (*sizes, *(-t for t in sizes))


@dataclass(frozen=True)
class Effort:
    """How many questions the proofs ask."""

    entries: int
    directions: int
    taylor: bool
    tangents: int


#: At the check size.
FULL = Effort(entries=10, directions=2, taylor=True, tangents=2)
#: At the sizes of a timing sweep: two losses, less than one gradient.
BRIEF = Effort(entries=0, directions=1, taylor=False, tangents=0)


def prove(
    subject: Subject,
    evidence: Evidence,
    setting: Setting,
    *,
    oracle: Evidence | None = None,
    effort: Effort = FULL,
) -> Iterator[Figure]:
    """Every proof that stands on one implementation alone, and the oracle, as each is found.

    The conditions of its run (`proofs.like_for_like`, `proofs.inputs_unchanged`,
    `proofs.repeatability`) are figures of their own, from what the run reported.  A gradient
    that is not finite gets no further than that.
    """
    finite = proofs.finite(evidence)
    yield finite
    if not finite.passed:
        return
    gradient, tolerance = evidence.gradient, setting.tolerance
    if oracle is not None:
        yield proofs.oracle(evidence, oracle, tolerance, colours=setting.colours)
    shapes = {name: np.shape(array) for name, array in gradient.items()}
    entries = fd.random_entries(shapes, effort.entries, setting.seed) if effort.entries else []
    makers = (directions.aligned, directions.random_signs)
    along = [
        makers[k % 2](gradient, setting.seed + k // 2)
        for k in range(max(effort.directions, effort.tangents, effort.taylor))
    ]
    probed: list[Probe] = []
    for name, chosen in (
        (Proof.ENTRIES, entries),
        (Proof.DIRECTIONS, along[: effort.directions]),
    ):
        if not chosen:
            continue
        probes = [_ask(subject, direction, setting.steps) for direction in chosen]
        probed += probes
        yield proofs.finite_differences(
            probes,
            gradient,
            tolerance,
            quadratic=setting.quadratic,
            loss=evidence.loss,
            magnitude=setting.magnitude,
            name=name,
            colours=setting.colours,
        )
    yield proofs.zero(gradient, oracle=None if oracle is None else oracle.gradient, probes=probed)
    if effort.taylor:
        yield proofs.taylor(
            _ask(subject, along[0], setting.taylor_steps),
            evidence.loss,
            gradient,
            tolerance,
            quadratic=setting.quadratic,
        )
    tangents = _tangents(subject, along[: effort.tangents])
    if tangents:
        yield proofs.adjoint_identity(tangents, gradient, tolerance)


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


def _ask(subject: Subject, direction: Direction, steps: tuple[float, ...]) -> Probe:
    return Probe(direction, steps, tuple(float(x) for x in subject.losses(direction, steps)))


def _tangents(subject: Subject, along: Sequence[Direction]) -> list[tuple[Direction, float]]:
    found: list[tuple[Direction, float]] = []
    for direction in along:
        tangent = subject.jvp(direction)
        if tangent is None:
            break
        found.append((direction, float(tangent)))
    return found
