"""A gradient that is exactly zero is right only where something else says so."""

from __future__ import annotations

from collections.abc import Sequence

from pyweanj.records import Figure
from pyweanj.verify.evidence import Arrays, Probe
from pyweanj.verify.measures import zero_arrays
from pyweanj.verify.proofs.names import Proof

__all__ = ["zero"]


def zero(gradient: Arrays, *, oracle: Arrays | None = None, probes: Sequence[Probe] = ()) -> Figure:
    """Whether arrays of the gradient that are exactly zero are truly so.

    Parameters
    ----------
    oracle
        The oracle's gradient; where there is one it decides.
    probes
        Losses of the implementation itself.  They prove a zero where no loss changes in any bit,
        along at least one direction that moves every entry.  They do not refute one: a small
        change may be rounding, and `finite_differences` knows how much.

    Returns
    -------
    Figure
        Passed where no array is zero; None where nothing proves the zero.  `value` is 0 where the
        whole gradient is zero, else None.
    """
    names = zero_arrays(gradient)
    if not names:
        return Figure(name=Proof.ZERO, passed=True, detail="no array of the gradient is zero")
    value = 0.0 if len(names) == len(gradient) else None
    text = f"the gradient of {', '.join(names)} is exactly zero"
    if oracle is not None:
        agrees = set(names) <= set(zero_arrays(oracle))
        text += ", and so is the oracle's" if agrees else "; the oracle's is not"
        return Figure(name=Proof.ZERO, value=value, passed=agrees, detail=text)
    for name in names:
        along = [p for p in probes if name in _moved(p)]
        everywhere = any(not isinstance(p.direction, tuple) for p in along)
        if not everywhere or any(len(set(p.losses)) > 1 for p in along):
            text += ", and nothing proves that it should be"
            return Figure(name=Proof.ZERO, value=value, passed=None, detail=text)
    text += ", and no loss changes in any bit when the inputs move"
    return Figure(name=Proof.ZERO, value=value, passed=True, detail=text)


def _moved(probe: Probe) -> tuple[str, ...]:
    """Names of the arrays that a probe moves."""
    return probe.direction[:1] if isinstance(probe.direction, tuple) else tuple(probe.direction)
