"""Proofs by comparison: with the oracle, with another implementation, with another device."""

from __future__ import annotations

from pyweanj.records import Figure
from pyweanj.verify.evidence import Colours, Evidence
from pyweanj.verify.measures import Comparison, compare, zero_arrays
from pyweanj.verify.proofs.names import Proof
from pyweanj.verify.tolerance import Tolerance

__all__ = ["agreement", "devices", "from_comparison", "oracle"]


def oracle(
    evidence: Evidence,
    reference: Evidence,
    tolerance: Tolerance,
    *,
    colours: Colours | None = None,
) -> Figure:
    """Loss and gradient against another mathematical route.

    A gradient that is exactly zero passes where the oracle's is exactly zero too.
    """
    proved = bool(zero_arrays(reference.gradient))
    return from_comparison(
        Proof.ORACLE, compare(evidence, reference, tolerance, zero_proved=proved, colours=colours)
    )


def agreement(
    evidence: Evidence,
    other: Evidence,
    tolerance: Tolerance,
    *,
    zero_proved: bool = False,
    colours: Colours | None = None,
) -> Figure:
    """Against another implementation of the same mathematics.

    This alone does not say which of the two is wrong.
    """
    found = compare(evidence, other, tolerance, zero_proved=zero_proved, colours=colours)
    return from_comparison(f"{Proof.AGREEMENT}: {other.label}", found)


def devices(
    cpu: Evidence,
    gpu: Evidence,
    tolerance: Tolerance,
    *,
    zero_proved: bool = False,
    colours: Colours | None = None,
) -> Figure:
    """One system on two devices; this alone does not say which of the two is wrong."""
    found = compare(cpu, gpu, tolerance, zero_proved=zero_proved, colours=colours)
    return from_comparison(Proof.DEVICES, found)


def from_comparison(name: str, comparison: Comparison) -> Figure:
    """The figure of a comparison: its largest relative gradient difference (or of the loss)."""
    both = [comparison.grad_difference, comparison.grad_difference_max]
    values = [value for value in both if value is not None]
    value = max(values) if values else None
    if comparison.reason == "loss":
        value = comparison.loss_difference
    return Figure(
        name=name,
        value=value,
        tolerance=comparison.tolerance,
        passed=comparison.ok,
        detail=f"{comparison.reason}: {comparison.detail}" if comparison.reason else "",
        where=comparison.where,
    )
