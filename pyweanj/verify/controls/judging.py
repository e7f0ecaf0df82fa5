"""Everything that a run does with two implementations, within this process."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pyweanj.records import Figure
from pyweanj.verify import proofs
from pyweanj.verify import prove as proving
from pyweanj.verify.controls.model import Held, Problem
from pyweanj.verify.diagnosis import Finding, diagnose, forward_mode_fits
from pyweanj.verify.directions import aligned
from pyweanj.verify.evidence import Arrays, Evidence
from pyweanj.verify.measures import Comparison, compare
from pyweanj.verify.proofs.names import Proof, kind_of
from pyweanj.verify.verdict import PairVerdict, Verdict, decide, decide_pair

__all__ = ["Judgement", "judge", "judge_pair"]

#: Calls of a gradient, unless a control asks for more.
CALLS = 3


@dataclass(frozen=True)
class Judgement:
    """All that was found about one implementation of a pair."""

    verdict: Verdict
    figures: tuple[Figure, ...]
    findings: tuple[Finding, ...]
    evidence: Evidence

    @property
    def diagnosis(self) -> str:
        """The kind of the best finding, or the condition that failed where there is none."""
        conditions = [f.name for f in self.verdict.deciding if f.passed is False]
        if str(Proof.UNCHANGED) in conditions:
            return str(Proof.UNCHANGED)
        kinds = [finding.kind for finding in self.findings]
        if kinds and not (kinds[0] == "none" and str(Proof.LIKE) in conditions):
            return kinds[0]
        return conditions[0] if conditions else ""


def judge_pair(
    problem: Problem, left: Held, right: Held, *, oracle: bool = True, calls: int = CALLS
) -> tuple[Judgement, Judgement, Comparison, PairVerdict]:
    """Proofs, verdicts and diagnoses of two implementations held against each other."""
    reference = problem.reference() if oracle else None
    held, setting = (left, right), problem.setting
    sides = [
        _gather(h, name, reference, calls) for h, name in zip(held, ("left", "right"), strict=True)
    ]
    proved = reference is not None and any(not np.any(g) for g in reference.gradient.values())
    proved = proved or all(_zero_proved(side.figures) for side in sides)
    found = compare(
        sides[0].evidence,
        sides[1].evidence,
        setting.tolerance,
        zero_proved=proved,
        colours=problem.colours,
    )
    for mine, other in (sides, sides[::-1]):
        name = f"{Proof.AGREEMENT}: {other.evidence.label}"
        mine.figures.append(proofs.from_comparison(name, found))
        if found.reason == "gradient" and _sound(mine.figures):
            mine.figures.append(proving.separate(mine.held, mine.evidence, other.evidence, setting))
    words = [decide(side.figures).word for side in sides]
    judgements = []
    for k, side in enumerate(sides):
        known = reference
        if known is None and words[1 - k] != "wrong" and not found.ok:
            known = sides[1 - k].evidence
        judgements.append(_diagnosed(side, known))
    conventions = [f.text for j in judgements for f in j.findings[:1] if f.convention]
    pair = decide_pair(
        judgements[0].verdict.word, judgements[1].verdict.word, found, "".join(conventions[:1])
    )
    return judgements[0], judgements[1], found, pair


def judge(problem: Problem, held: Held, *, oracle: bool = True) -> Judgement:
    """One implementation beside the problem's second one."""
    return judge_pair(problem, held, problem.holding(problem.second), oracle=oracle)[0]


@dataclass(frozen=True)
class _Side:
    held: Held
    evidence: Evidence
    figures: list[Figure]
    gradients: list[Arrays]


def _gather(held: Held, label: str, oracle: Evidence | None, calls: int) -> _Side:
    problem, before = held.problem, held.hashes()
    first = replace(held.evaluate(label), input_sha256=before)
    answers = [first, *(held.evaluate(label) for _ in range(calls - 1))]
    figures = [
        proofs.like_for_like(
            first,
            shapes=problem.shapes,
            dtype=problem.dtype,
            n=problem.n,
            K=problem.K,
            input_sha256=problem.hashes,
        ),
        proofs.inputs_unchanged(before, held.hashes()),
    ]
    gradients = [answer.gradient for answer in answers]
    if _sound(figures):
        losses = [answer.loss for answer in answers]
        figures.append(proofs.repeatability(gradients, losses, problem.setting.tolerance))
        figures += proving.prove(held, first, problem.setting, oracle=oracle)
    else:
        figures.append(proofs.finite(first))
    return _Side(held, first, figures, gradients)


def _diagnosed(side: _Side, known: Evidence | None) -> Judgement:
    verdict = decide(side.figures)
    findings: list[Finding] = []
    disagrees = any(f.passed is False for f in side.figures)
    if disagrees:
        context = replace(side.held.problem.context(), repeats=side.gradients)
        reference = None if known is None else known.gradient
        if known is not None:
            context = replace(context, forward_mode_right=_forward_fits(side, known))
        findings = diagnose(side.evidence.gradient, reference, context)
        if findings and findings[0].convention:
            verdict = decide(side.figures, findings[0].text)
    return Judgement(verdict, tuple(side.figures), tuple(findings), side.evidence)


def _forward_fits(side: _Side, known: Evidence) -> bool | None:
    """Whether the forward mode fits the right gradient."""
    gradient = side.evidence.gradient
    if {k: np.shape(g) for k, g in gradient.items()} != side.held.problem.shapes:
        return None
    direction = aligned(known.gradient, 3)
    tangent = side.held.jvp(direction)
    if tangent is None:
        return None
    tolerance = side.held.problem.setting.tolerance
    return forward_mode_fits([(direction, tangent)], known.gradient, tolerance)


def _sound(figures: list[Figure]) -> bool:
    kinds = (Proof.LIKE, Proof.FINITE)
    return not any(f.passed is False and kind_of(f.name) in kinds for f in figures)


def _zero_proved(figures: list[Figure]) -> bool:
    return any(kind_of(f.name) is Proof.ZERO and f.passed is True for f in figures)
