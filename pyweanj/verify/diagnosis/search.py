"""All finders on one difference, the best explanation first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from pyweanj.verify.diagnosis.axes import axes, shape
from pyweanj.verify.diagnosis.context import Context, Finding, distance
from pyweanj.verify.diagnosis.conventions import conjugate, kink
from pyweanj.verify.diagnosis.factors import absolute, factor, offset
from pyweanj.verify.diagnosis.others import argument, order, primal, repeats, sweeps
from pyweanj.verify.diagnosis.parts import empty_part, part
from pyweanj.verify.diagnosis.shifts import permuted, shift
from pyweanj.verify.diagnosis.values import not_finite, precision, zero
from pyweanj.verify.evidence import Arrays

__all__ = ["diagnose"]

#: Of explanations that leave nothing, the one that says more comes first.
_RANK = (
    "not repeatable",
    "not finite",
    "zero",
    "kink",
    "conjugate",
    "factor",
    "axes",
    "shape",
    "shift",
    "part",
    "order",
    "sweeps",
    "argument",
    "input",
    "absolute value",
    "offset",
    "precision",
    "permuted",
    "scattered",
)
#: An explanation that leaves more than this share of the difference is not worth a line.
_WORTH = 0.1
#: Kinds that are found by what they are, not by what they leave.
_EVIDENT = frozenset({"not repeatable", "not finite", "shape", "precision"})


def diagnose(wrong: Arrays, reference: Arrays | None, context: Context) -> list[Finding]:
    """What kind of wrong a gradient is.

    Parameters
    ----------
    wrong, reference
        The gradient that is wrong, and one that is right (the oracle's, or that of an
        implementation that passed its proofs); one array for each differentiated argument.
        Without a reference only what the wrong one says by itself is found.
    context
        What else is known of the case; the more, the more finders have something to try.

    Returns
    -------
    list of Finding
        Best first.  Explanations that leave nothing but rounding come before partial ones, and
        the simpler kind before the special one.  Empty where nothing differs; where no
        explanation says how a difference comes about, there is one of kind ``none``, or
        ``reverse mode`` if forward mode is known to be right.
    """
    found: list[tuple[tuple[int, int, float], Finding]] = []
    names = {*wrong, *(reference or {})}
    for name in sorted(names):
        if name not in wrong or (reference is not None and name not in reference):
            what = "no gradient" if name not in wrong else "a gradient that was not asked for"
            missing = Finding.of("shape", f"{what} of {name}", float("inf"), context, array=name)
            found.append(((0, 0, 0.0), missing))
            continue
        with np.errstate(invalid="ignore", over="ignore"):
            if reference is None:
                ranked = _by_itself(name, np.asarray(wrong[name]), context)
            else:
                ranked = _array(name, np.asarray(wrong[name]), reference, context)
        for rank, finding in ranked:
            text = f"{name}: {finding.text}" if len(names) > 1 else finding.text
            found.append((rank, replace(finding, text=text, array=name)))
    return [finding for _, finding in sorted(found, key=lambda pair: pair[0])]


Ranked = list[tuple[tuple[int, int, float], Finding]]


def _array(name: str, w: np.ndarray, reference: Arrays, context: Context) -> Ranked:
    r = np.asarray(reference[name])
    same_shape = w.shape == r.shape
    raw = distance(w, r) if same_shape else np.inf
    unsteady = list(repeats(name, w, r, context))
    if same_shape and raw <= context.tolerance.relative and not unsteady:
        return []
    # A difference above 1 says no more than 1, and one near rounding must shrink all the same.
    worth = max(_WORTH * min(raw, 1.0), 3 * context.tolerance.relative)
    whole = min(worth, context.small)
    best: dict[str, Finding] = {}
    for finding in (*unsteady, *_candidates(name, w, r, reference, context)):
        old = best.get(finding.kind)
        keep = finding.kind in _EVIDENT or finding.residual <= worth
        if keep and (old is None or finding.residual < old.residual):
            best[finding.kind] = finding
    ranked: Ranked = []
    for kind, finding in best.items():
        explains = finding.residual <= whole or kind in _EVIDENT
        group = (2 if finding.vague else 0) if explains else 3
        ranked.append(((group, _RANK.index(kind), finding.residual), finding))
    if not any(group == 0 for (group, *_), _ in ranked):
        nothing = _nothing(w, r, raw, context)
        if nothing.kind == "reverse mode":
            ranked.append(((1, 0, raw), nothing))
        elif not any(group == 2 for (group, *_), _ in ranked):
            ranked.append(((4, 0, raw), nothing))
    return ranked


def _by_itself(name: str, w: np.ndarray, context: Context) -> Ranked:
    """What needs no reference."""
    found = [*repeats(name, w, None, context), *not_finite(w, w, context)]
    if np.isfinite(w).all():
        found += [*zero(w, None, context), *primal(w, None, context)]
        found += [*precision(w, None, context), *empty_part(w, context)]
    evident = [f for f in found if f.kind in _EVIDENT or f.residual <= context.small]
    return [((0, _RANK.index(f.kind), f.residual), f) for f in evident]


def _candidates(
    name: str, w: np.ndarray, r: np.ndarray, reference: Arrays, context: Context
) -> Iterator[Finding]:
    yield from not_finite(w, r, context)
    yield from shape(w, r, context)
    if not np.isfinite(w).all():
        return
    yield from zero(w, r, context)
    if not np.any(w):
        return
    for finder in (conjugate, factor, axes, shift, part, primal, absolute, offset, precision):
        yield from finder(w, r, context)
    yield from kink(name, w, r, context)
    yield from order(name, w, context)
    yield from sweeps(name, w, context)
    yield from argument(name, w, reference, context)
    yield from permuted(w, r, context)


def _nothing(w: np.ndarray, r: np.ndarray, raw: float, context: Context) -> Finding:
    if context.forward_mode_right and w.shape == r.shape:
        text = f"forward mode is right and reverse mode is not, by {raw:.1e}"
        return Finding.of("reverse mode", text, raw, context)
    text = f"no structure found in a difference of {raw:.1e}"
    if w.shape == r.shape and np.isfinite(w).all() and w.size > 2:
        a, b = w.ravel() / (np.max(np.abs(w)) or 1.0), r.ravel() / (np.max(np.abs(r)) or 1.0)
        size = float(np.linalg.norm(a) * np.linalg.norm(b))
        if size > 0:
            text += f" (cosine of the angle {float(np.real(np.vdot(a, b))) / size:.3f})"
    return Finding.of("none", text, raw, context)
