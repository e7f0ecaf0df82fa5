"""The evidence that one case gives of itself: what its worker is asked for, and the figures.

Everything here is made of three questions: the gradient again, losses along a direction,
and the forward-mode derivative along a direction.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pyweanj.example import Example
from pyweanj.inputs import InputsError, read_arrays, read_attributes, write_arrays
from pyweanj.records import Case, Figure, Outcome
from pyweanj.run.process import WorkerError
from pyweanj.run.session import Session
from pyweanj.store import Run
from pyweanj.verify import Evidence, Probe, Tolerance, proofs
from pyweanj.verify.directions import aligned, random_signs
from pyweanj.verify.evidence import vector_norms
from pyweanj.verify.fd import random_entries, steps
from pyweanj.verify.proofs import Proof

__all__ = ["Prober", "Tangents", "evaluate"]

Tangents = list[tuple[dict[str, np.ndarray], float]]
"""Directions, and the forward-mode derivative along each."""

ENTRIES = 10
#: A fault in one call of twenty is seen with 99 % confidence …
REPEATS = proofs.calls_needed(1 / 20)
#: … unless so many calls take longer than this; a few are made in any case.
REPEAT_S, LEAST_REPEATS = 1.0, 2
#: Steps of the Taylor test, from a large first one: the remainder must stand above rounding.
TAYLOR_STEPS = tuple(2.0**-k for k in range(0, 10, 2))
#: Both ways where the loss is not quadratic, so that a kink is told from a wrong gradient.
TAYLOR_BOTH_WAYS = (*TAYLOR_STEPS, *(-step for step in TAYLOR_STEPS))


def evaluate(session: Session, run: Run) -> None:
    """Loss and gradient of one case; fills its record.  Raises `WorkerError`."""
    path = run.gradient(session.case)
    reply = session.ask("evaluate", output=str(path))
    session.gradient = _read(path)
    session.loss_dtype = str(read_attributes(path).get("loss_dtype", ""))
    session.evaluate_s = reply["wall_s"]
    record = session.record
    record.loss = reply["loss"]
    record.gradient = run.relative(path)
    norms = [vector_norms(np.asarray(g))[1] for g in session.gradient.values()]
    record.grad_norm = float(np.hypot.reduce(norms)) if norms else None


class Prober:
    """Asks the workers of one group; `directions` are the same files for all of them.

    Parameters
    ----------
    folder
        Where the directions are written.
    stem
        Of their files' names.
    reference
        The gradient that one of the directions is aligned with.
    """

    def __init__(
        self,
        example: Example,
        folder: Path,
        stem: str,
        reference: Mapping[str, np.ndarray],
        tolerance: Tolerance,
        seed: int,
    ) -> None:
        self._example = example
        self._tolerance = tolerance
        self._seed = seed
        self.asked: dict[Case, list[Probe]] = {}
        """What each case was asked for finite differences."""
        self._directions: list[tuple[Path, dict[str, np.ndarray]]] = []
        for name, make in (("aligned", aligned), ("signs", random_signs)):
            direction = make(reference, seed)
            path = folder / f"{stem}_{name}.h5"
            write_arrays(path, direction)
            self._directions.append((path, direction))

    def repeat(self, session: Session, evidence: Evidence, gradient: Path) -> Figure:
        """The same call again; `gradient` is where the first one is kept."""
        gradients, losses = [evidence.gradient], [evidence.loss]
        again = gradient.with_name(f".again-{gradient.name}")
        begin = time.monotonic()
        try:
            for k in range(1, REPEATS):
                if k > LEAST_REPEATS and time.monotonic() - begin > REPEAT_S:
                    break
                losses.append(session.ask("evaluate", output=str(again))["loss"])
                # The oracle computes in float64 whatever is asked.
                gradients.append(
                    {k: v.astype(evidence.gradient[k].dtype) for k, v in _read(again).items()}
                )
        finally:
            again.unlink(missing_ok=True)
        return proofs.repeatability(
            gradients, losses, self._tolerance, colours=self._example.colours
        )

    def entries(self, session: Session, evidence: Evidence) -> Figure:
        """Central differences at random entries."""
        both_ways = self._both_ways(session)
        shapes = {name: np.shape(g) for name, g in evidence.gradient.items()}
        probes = [
            Probe(entry, both_ways, _losses(session, {"entry": entry}, both_ways))
            for entry in random_entries(shapes, ENTRIES, self._seed)
        ]
        return self._differences(session, evidence, probes, Proof.ENTRIES)

    def along(self, session: Session, evidence: Evidence, count: int) -> Figure:
        """Central differences along the first `count` shared directions."""
        both_ways = self._both_ways(session)
        probes = [
            Probe(direction, both_ways, _losses(session, {"file": str(path)}, both_ways))
            for path, direction in self._directions[:count]
        ]
        return self._differences(session, evidence, probes, Proof.DIRECTIONS)

    def taylor(self, session: Session, evidence: Evidence) -> Figure:
        """The order of the Taylor remainder along the first shared direction."""
        path, direction = self._directions[0]
        at = TAYLOR_STEPS if self._example.quadratic else TAYLOR_BOTH_WAYS
        return proofs.taylor(
            Probe(direction, at, _losses(session, {"file": str(path)}, at)),
            evidence.loss,
            evidence.gradient,
            self._tolerance,
            quadratic=self._example.quadratic,
        )

    def tangents(self, session: Session) -> Tangents:
        """Forward-mode derivatives along the shared directions; empty without a forward mode."""
        found = []
        for path, direction in self._directions:
            jvp = _tangent(session, path)
            if jvp is None:
                return []
            found.append((direction, jvp))
        return found

    def separate(
        self,
        session: Session,
        evidence: Evidence,
        other: Evidence,
        path: Path,
        direction: dict[str, np.ndarray],
    ) -> Figure:
        """Whether the case's own loss sides with its gradient or with the other one."""
        both_ways = self._both_ways(session)
        losses = _losses(session, {"file": str(path)}, both_ways)
        return proofs.separating_direction(
            Probe(direction, both_ways, losses),
            evidence,
            other,
            self._tolerance,
            quadratic=self._example.quadratic,
            tangent=_tangent(session, path),
        )

    def _differences(
        self, session: Session, evidence: Evidence, probes: list[Probe], name: str
    ) -> Figure:
        self.asked.setdefault(session.case, []).extend(probes)
        return proofs.finite_differences(
            probes,
            evidence.gradient,
            self._tolerance,
            quadratic=self._example.quadratic,
            loss=evidence.loss,
            name=name,
            colours=self._example.colours,
        )

    def _both_ways(self, session: Session) -> tuple[float, ...]:
        return steps(self._example.fd_step, session.case.dtype, self._example.quadratic)


def _tangent(session: Session, path: Path) -> float | None:
    """The forward-mode derivative along the direction in `path`; None where there is none."""
    try:
        return session.ask("jvp", direction={"file": str(path)})["jvp"]
    except WorkerError as error:
        if error.outcome is not Outcome.UNSUPPORTED:
            raise
        return None


def _losses(
    session: Session, direction: dict[str, Any], at: tuple[float, ...]
) -> tuple[float, ...]:
    return tuple(session.ask("losses", direction=direction, steps=list(at))["losses"])


def _read(path: Path) -> dict[str, np.ndarray]:
    try:
        return read_arrays(path)
    except InputsError as error:
        raise WorkerError(Outcome.RUNTIME_ERROR, f"its gradient cannot be read: {error}") from error
