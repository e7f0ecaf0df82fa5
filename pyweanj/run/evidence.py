"""What the worker of one case is asked for, so that it can be proved."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pyweanj.inputs import InputsError, read_arrays, read_attributes, sha256, write_arrays
from pyweanj.records import Outcome
from pyweanj.run.process import WorkerError
from pyweanj.run.session import Session
from pyweanj.store import Run
from pyweanj.verify import Evidence, proofs
from pyweanj.verify.evidence import Arrays, Direction, vector_norms

__all__ = ["Asked", "evaluate", "repeat"]

#: A fault in one call of twenty is seen with 99 % confidence …
REPEATS = proofs.calls_needed(1 / 20)
#: … unless so many calls take longer than this; a few are made in any case.
REPEAT_S, LEAST_REPEATS = 1.0, 2


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


def repeat(session: Session, run: Run, evidence: Evidence) -> tuple[list[Arrays], list[float]]:
    """Gradients and losses of the same call made again and again, the first one first."""
    gradients, losses = [evidence.gradient], [evidence.loss]
    first = run.gradient(session.case)
    again = first.with_name(f".again-{first.name}")
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
    return gradients, losses


class Asked:
    """A `pyweanj.verify.prove.Subject` that asks the worker of one case.

    Parameters
    ----------
    folder
        Where directions are written that the worker reads; equal ones share a file.
    """

    def __init__(self, session: Session, folder: Path) -> None:
        self._session = session
        self._folder = folder
        self.tangents: list[tuple[Direction, float]] = []
        """The forward-mode derivatives that were asked for: other gradients must fit them too."""

    def losses(self, direction: Direction, steps: Sequence[float]) -> list[float]:
        """Loss at the inputs moved by each of `steps`.  Raises `WorkerError`."""
        return self._session.ask("losses", direction=self._sent(direction), steps=list(steps))[
            "losses"
        ]

    def jvp(self, direction: Direction) -> float | None:
        """Forward-mode derivative, or None without a forward mode.  Raises `WorkerError`."""
        try:
            tangent = self._session.ask("jvp", direction=self._sent(direction))["jvp"]
        except WorkerError as error:
            if error.outcome is not Outcome.UNSUPPORTED:
                raise
            return None
        self.tangents.append((direction, tangent))
        return tangent

    def _sent(self, direction: Direction) -> dict[str, Any]:
        """A direction as the protocol has it."""
        if isinstance(direction, tuple):
            return {"entry": direction}
        what = " ".join(f"{name} {sha256(array)}" for name, array in direction.items())
        path = self._folder / f"{hashlib.sha256(what.encode()).hexdigest()[:16]}.h5"
        if not path.exists():
            write_arrays(path, direction)
        return {"file": str(path)}


def _read(path: Path) -> dict[str, np.ndarray]:
    try:
        return read_arrays(path)
    except InputsError as error:
        raise WorkerError(Outcome.RUNTIME_ERROR, f"its gradient cannot be read: {error}") from error
