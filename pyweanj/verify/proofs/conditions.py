"""Conditions that any implementation must meet before its numbers are looked at."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pyweanj.records import Figure
from pyweanj.verify.evidence import Evidence
from pyweanj.verify.measures import expected_dtype, non_finite
from pyweanj.verify.proofs.names import Proof

__all__ = ["finite", "inputs_unchanged", "like_for_like"]


def like_for_like(
    evidence: Evidence,
    *,
    shapes: Mapping[str, tuple[int, ...]],
    dtype: str,
    n: int,
    K: int,
    input_sha256: Mapping[str, str] | None = None,
) -> Figure:
    """Whether the implementation computed what it was asked to.

    Parameters
    ----------
    shapes
        Logical shape of each differentiated array.
    dtype, n, K
        As asked for.
    input_sha256
        Hash of each array of the inputs file; None leaves the inputs unchecked, and says so.
    """
    faults = []
    for name in sorted({*shapes, *evidence.gradient}):
        if name not in evidence.gradient:
            faults.append(f"no gradient of {name}")
        elif name not in shapes:
            faults.append(f"a gradient of {name} was not asked for")
        elif np.shape(evidence.gradient[name]) != tuple(shapes[name]):
            found = np.shape(evidence.gradient[name])
            faults.append(f"gradient of {name} is {found}, should be {tuple(shapes[name])}")
    if evidence.dtype != dtype:
        faults.append(f"dtype {evidence.dtype} instead of {dtype}")
    for name, array in evidence.gradient.items():
        wanted = expected_dtype(array, dtype)
        if str(np.asarray(array).dtype) != wanted:
            faults.append(f"gradient of {name} is {np.asarray(array).dtype}, should be {wanted}")
    if (evidence.n, evidence.K) != (n, K):
        faults.append(f"n = {evidence.n}, K = {evidence.K} instead of n = {n}, K = {K}")
    if input_sha256 is not None:
        loaded = evidence.input_sha256
        if loaded is None:
            faults.append("it does not say which inputs it loaded")
        else:
            names = sorted({*loaded, *input_sha256})
            other = [name for name in names if loaded.get(name) != input_sha256.get(name)]
            if other:
                faults.append(f"it loaded other {', '.join(other)} than the file holds (SHA-256)")
    good = "shape, dtype, n and K are as asked"
    good += "" if input_sha256 is None else ", inputs have the file's SHA-256"
    return Figure(name=Proof.LIKE, passed=not faults, detail="; ".join(faults) or good)


def finite(evidence: Evidence) -> Figure:
    """Whether loss and gradient hold neither NaN nor Inf."""
    found = non_finite(evidence)
    return Figure(name=Proof.FINITE, passed=not found, detail=found or "no NaN, no Inf")


def inputs_unchanged(before: Mapping[str, str], after: Mapping[str, str]) -> Figure:
    """Whether the hashes of the inputs are the same after the gradient as before."""
    moved = [name for name in sorted({*before, *after}) if before.get(name) != after.get(name)]
    detail = f"changed by the gradient: {', '.join(moved)}" if moved else "SHA-256 before and after"
    return Figure(name=Proof.UNCHANGED, passed=not moved, detail=detail)
