"""The verdict: right, wrong or unproven, and which proofs decided it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from pyweanj.records import Figure
from pyweanj.verify.measures import Comparison
from pyweanj.verify.proofs.names import Proof, kind_of

__all__ = ["PairVerdict", "Verdict", "Word", "decide", "decide_pair"]

Word = Literal["right", "wrong", "unproven"]

#: Whatever else holds, an implementation that fails one of these is wrong.
_CONDITIONS = (Proof.LIKE, Proof.FINITE, Proof.UNCHANGED, Proof.REPEATABLE)
#: An implementation's own proofs: they say whether its gradient is right.
_OWN = (
    Proof.ZERO,
    Proof.ORACLE,
    Proof.SEPARATING,
    Proof.ENTRIES,
    Proof.DIRECTIONS,
    Proof.TAYLOR,
)
#: Two things held against each other, of which either may be the wrong one.
_RELATIVE = (Proof.ADJOINT, Proof.ACROSS, Proof.AGREEMENT, Proof.DEVICES)
#: Comparisons of two gradients, in which a difference of conventions shows.
_CONVENTIONAL = (
    *_RELATIVE,
    Proof.ORACLE,
    Proof.SEPARATING,
    # Through a kink no directional derivative is linear; the entries are still looked at.
    Proof.DIRECTIONS,
    Proof.TAYLOR,
)
#: Proofs that support a gradient when they pass.
_SUPPORT = (
    Proof.ORACLE,
    Proof.SEPARATING,
    Proof.ENTRIES,
    Proof.DIRECTIONS,
    Proof.TAYLOR,
    Proof.ADJOINT,
    Proof.ACROSS,
)
#: Proofs that look at every entry, or at the very difference in question.
_COMPLETE = (Proof.ORACLE, Proof.SEPARATING)


class Verdict(NamedTuple):
    """A word and the figures that decided it."""

    word: Word
    deciding: tuple[Figure, ...]
    text: str


@dataclass(frozen=True)
class PairVerdict:
    """Which side of a pair is wrong."""

    wrong: Literal["neither", "left", "right", "both", "unknown"]
    text: str


def decide(figures: Sequence[Figure], convention: str = "") -> Verdict:
    """The verdict on one implementation from all its figures.

    A failed condition or a failed proof of its own makes it wrong.  A failed comparison with
    something else (its own forward mode, another system, another device) does not: either may be
    to blame.  It is then right only if the oracle or the separating direction, which look at
    the very difference, vouch for it, and unproven otherwise.  Without any passed proof it is
    unproven.

    Parameters
    ----------
    convention
        Text of a finding that explains every difference from other gradients by a convention
        (`pyweanj.verify.diagnosis.Finding.convention`): then no such difference counts.
    """
    by_kind = [(kind_of(figure.name), figure) for figure in figures]
    if convention:
        by_kind = [(k, f) for k, f in by_kind if f.passed is not False or k not in _CONVENTIONAL]
    for group in (_CONDITIONS, _OWN):
        failed = tuple(f for kind, f in by_kind if kind in group and f.passed is False)
        if failed:
            return Verdict("wrong", failed, _list("failed", failed))
    support = tuple(f for kind, f in by_kind if _supports(kind, f))
    against = tuple(f for kind, f in by_kind if kind in _RELATIVE and f.passed is False)
    unproved = tuple(f for kind, f in by_kind if kind is Proof.ZERO and f.passed is None)
    if unproved:
        return Verdict("unproven", unproved, unproved[0].detail or _list("undecided", unproved))
    if against:
        vouching = tuple(f for f in support if kind_of(f.name) in _COMPLETE)
        if not vouching:
            text = _list("disagrees", against) + ", and no proof says who is wrong"
            return Verdict("unproven", against, text)
        return Verdict("right", vouching, _list("passed", vouching))
    if not support:
        return Verdict("unproven", (), "no proof that could support the gradient decided anything")
    text = _list("passed", support) + (
        f"; differs by a convention: {convention}" if convention else ""
    )
    return Verdict("right", support, text)


def decide_pair(
    left: Word, right: Word, comparison: Comparison, convention: str = ""
) -> PairVerdict:
    """Which of two implementations is wrong, from the verdict on each and their comparison.

    `convention` is the text of a finding that explains their difference by a convention.
    """
    if convention and "wrong" not in (left, right):
        return PairVerdict("neither", f"they differ by a convention: {convention}")
    if comparison.ok:
        if "wrong" in (left, right):
            if left == right:
                return PairVerdict("both", "they agree with each other and both are wrong")
            side = "left" if left == "wrong" else "right"
            text = f"the numbers agree, but the {side} one fails a proof of its own"
            return PairVerdict(side, text)
        return PairVerdict("neither", "they agree")
    if left == right == "wrong":
        return PairVerdict("both", "they differ and both are wrong")
    if left == "wrong" or right == "wrong":
        side = "left" if left == "wrong" else "right"
        return PairVerdict(side, f"the {side} one is wrong")
    if left == right == "right":
        if comparison.reason == "loss":
            text = "each gradient fits its own loss: they compute different losses"
        else:
            text = "each passes its own proofs, which cannot resolve so small a difference"
        return PairVerdict("unknown", text)
    if comparison.reason == "loss":
        text = "they compute different losses, and no proof says which one is meant"
        return PairVerdict("unknown", text)
    return PairVerdict("unknown", "they differ and no proof says which is wrong")


def _supports(kind: Proof, figure: Figure) -> bool:
    # A whole gradient of zero that is proved has no other proof to lean on.
    proved_zero = kind is Proof.ZERO and figure.value == 0.0
    return figure.passed is True and (kind in _SUPPORT or proved_zero)


def _list(word: str, figures: Sequence[Figure]) -> str:
    return f"{word}: " + ", ".join(figure.name for figure in figures)
