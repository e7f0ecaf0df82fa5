"""The cases of one group held against each other, and judged.

What counts as the same, and what proves a gradient, is `pyweanj.verify`'s business; here is
only which case is held against which.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Literal

import numpy as np

from pyweanj.example import Example
from pyweanj.inputs import read_arrays, sha256
from pyweanj.records import Case, Figure, Outcome, Pair
from pyweanj.run.evidence import Asked, repeat
from pyweanj.run.session import Session
from pyweanj.store import Run
from pyweanj.verify import (
    Comparison,
    Evidence,
    compare,
    decide,
    decide_pair,
    derive,
    diagnosis,
    proofs,
)
from pyweanj.verify.diagnosis.context import Source
from pyweanj.verify.proofs import Proof
from pyweanj.verify.prove import BRIEF, FULL, Setting, prove, separate
from pyweanj.verify.tolerance import WELL, Condition

__all__ = ["Checker"]

FINDINGS = 3


class Checker:
    """The evaluated cases of one group: the same mathematics, dtype and size.

    Parameters
    ----------
    sessions
        At least one, each with its gradient.
    seed
        Of random entries and directions.
    tolerance
        Relative, instead of the derived one.
    condition
        Amplification of relative changes, as measured at the check size.
    """

    def __init__(
        self,
        example: Example,
        run: Run,
        sessions: list[Session],
        seed: int,
        tolerance: float | None = None,
        condition: Condition = WELL,
    ) -> None:
        self.example = example
        self.run = run
        self.sessions = sessions
        first = sessions[0]
        case = first.case
        self.tolerance = derive(
            case.dtype,
            example.depth(first.size),
            terms=example.unknowns(first.size),
            condition=condition,
            override=tolerance,
        )
        self._inputs = read_arrays(run.inputs(case.n, case.dtype))
        self._setting = Setting(
            self.tolerance,
            quadratic=example.quadratic,
            step=example.fd_step,
            magnitude=max(
                float(np.max(np.abs(self._inputs[name]), initial=0.0))
                for name in example.differentiate
            ),
            colours=example.colours,
            seed=seed,
        )
        self._brief = first.size != example.check
        self._asked = {s.case: Asked(s, run.folder / "directions") for s in sessions}
        self._oracle = next((s for s in sessions if s.case.system == "oracle"), None)
        self._evidence = {s.case: self._evidence_of(s) for s in sessions}
        self._figures: dict[Case, list[Figure]] = {s.case: [] for s in sessions}
        self._comparisons: list[tuple[Session, Session, Comparison]] = []

    def like_for_like(self) -> None:
        """Whether each case computed what it was asked to, on the inputs that it was given."""
        for session in self.sessions:
            case = session.case
            shapes = self.example.shapes(session.size)
            evidence = self._evidence[case]
            self._add(
                session,
                proofs.like_for_like(
                    evidence,
                    shapes={name: shapes[name] for name in self.example.differentiate},
                    dtype=case.dtype,
                    n=case.n,
                    K=case.K,
                    input_sha256={name: sha256(self._inputs[name]) for name in self.example.arrays},
                ),
            )
            if session.loss_dtype not in {"", case.dtype} and case.system != "oracle":
                detail = f"the loss came out as {session.loss_dtype}, should be {case.dtype}"
                self._add(session, Figure(name=Proof.LIKE, passed=False, detail=detail))

    def prove(self, session: Session) -> None:
        """The proofs that a case gives by itself: its gradient against its own loss.

        Away from the check size that is the difference along one direction, two losses.
        """
        evidence, record = self._evidence[session.case], session.record
        if not self._sound(session):
            self._add(session, proofs.finite(evidence))
            return
        oracle = self._oracle
        reference = None
        if oracle not in (None, session) and self._sound(oracle):
            reference = self._evidence[oracle.case]
        asked = self._asked[session.case]
        with session.guard():
            for figure in prove(
                asked,
                evidence,
                self._setting,
                oracle=reference,
                effort=BRIEF if self._brief else FULL,
            ):
                self._add(session, figure)
                if figure.name == Proof.TAYLOR:
                    record.taylor_rate = figure.value
                elif figure.name == Proof.ENTRIES:
                    record.fd_error = figure.value
            if not self._brief and self._sound(session):
                answers = repeat(session, self.run, evidence)
                self._add(
                    session,
                    proofs.repeatability(*answers, self.tolerance, colours=self.example.colours),
                )

    def compare(self) -> None:
        """Every case against the others and across their forward modes."""
        for session, other in itertools.permutations(self.sessions, 2):
            tangents = self._asked[other.case].tangents
            if tangents and self._sound(session):
                gradient = self._evidence[session.case].gradient
                self._add(
                    session,
                    proofs.adjoint_identity(
                        tangents, gradient, self.tolerance, across=_label(other)
                    ),
                )
        for left, right in itertools.combinations(self.sessions, 2):
            found = compare(
                self._evidence[left.case],
                self._evidence[right.case],
                self.tolerance,
                zero_proved=self._zero_proved(left) and self._zero_proved(right),
                colours=self.example.colours,
            )
            self._comparisons.append((left, right, found))
            for session, other in ((left, right), (right, left)):
                if other is self._oracle and found.grad_difference is not None:
                    session.record.oracle_loss_error = found.loss_difference
                    session.record.oracle_grad_error = found.grad_difference
            # What is unsound by itself says nothing against those that it differs from.
            sound = self._sound(left) and self._sound(right)
            if sound and self._oracle not in (left, right):
                devices = _kind(left, right) == "devices"
                for session, other in ((left, right), (right, left)):
                    name = Proof.DEVICES if devices else f"{Proof.AGREEMENT}: {_label(other)}"
                    self._add(session, proofs.from_comparison(name, found))
            if found.reason == "gradient" or (found.reason == "zero" and self._apart(left, right)):
                self._separate(left, right)

    def inputs_unchanged(self) -> None:
        """Whether each case still holds the inputs that it loaded."""
        for session in self.sessions:
            if not session.alive:
                continue
            with session.guard():
                after = session.ask("hash")["input_sha256"]
                before = session.record.input_sha256 or {}
                self._add(session, proofs.inputs_unchanged(before, after))

    def judge(self) -> None:
        """The verdict on each case, from all its figures; a wrong one is a mismatch."""
        self._dismiss_wrong_oracle()
        for session in self.sessions:
            record, figures = session.record, self._figures[session.case]
            record.tolerance = self.tolerance.relative
            record.proofs = figures
            verdict = decide(figures)
            record.verdict = verdict.word
            if verdict.word == "wrong":
                first = verdict.deciding[0]
                session.end(Outcome.MISMATCH, f"{first.name}: {first.detail or 'failed'}")
        for session in self.sessions:
            if session.record.verdict == "wrong":
                session.record.diagnosis = self._diagnose(session)

    def pairs(self) -> list[Pair]:
        """The comparisons as rows; `judge` comes first."""
        rows = []
        for left, right, found in self._comparisons:
            words = left.record.verdict or "unproven", right.record.verdict or "unproven"
            convention = self._convention(left, right, found)
            who = decide_pair(*words, found, convention)
            rows.append(
                Pair(
                    example=self.example.name,
                    computes=left.planned.computes,
                    dtype=left.case.dtype,
                    n=left.case.n,
                    K=left.case.K,
                    left=_label(left),
                    right=_label(right),
                    kind=_kind(left, right),
                    loss_difference=found.loss_difference,
                    grad_difference=found.grad_difference,
                    grad_difference_max=found.grad_difference_max,
                    tolerance=found.tolerance,
                    verdict="ok" if convention else found.verdict,
                    reason="" if convention else found.reason,
                    detail=who.text if convention else found.detail,
                    where=found.where,
                    ulp=found.ulp,
                    wrong=who.wrong,
                )
            )
        return rows

    def _convention(self, left: Session, right: Session, found: Comparison) -> str:
        """The convention by which two gradients differ of which neither is wrong, or nothing."""
        if found.reason != "gradient" or "wrong" in (left.record.verdict, right.record.verdict):
            return ""
        context = self._context(left)
        one, two = (self._evidence[side.case].gradient for side in (left, right))
        best = diagnosis.diagnose(one, two, context)[:1]
        explained = best and best[0].convention and best[0].residual <= context.small
        return best[0].text if explained else ""

    def _diagnose(self, session: Session) -> str:
        """What kind of wrong: a line for each explanation, the best first."""
        right = [s for s in self.sessions if s.record.verdict == "right"]
        reference = None
        if right:
            best = max(right, key=lambda s: s.case.system == "oracle")
            reference = self._evidence[best.case].gradient
        findings = diagnosis.diagnose(
            self._evidence[session.case].gradient,
            reference,
            self._context(session, reference),
        )
        return "\n".join(
            f"{found.text} (unexplained: {found.residual:.1e})"
            + (f"; usual cause: {found.cause}" if found.cause else "")
            for found in findings[:FINDINGS]
        )

    def _context(
        self, session: Session, reference: Mapping[str, np.ndarray] | None = None
    ) -> diagnosis.Context:
        case, oracle = session.case, self.example.oracle
        arrays = self._inputs
        orders: dict[str, Source] = {}
        sweeps: dict[int, Source] = {}
        if oracle is not None:

            def by_oracle(computes: str, K: int) -> Callable[[], Mapping[str, np.ndarray]]:
                return lambda: oracle(computes, arrays, K)[1]

            mine = session.planned.computes
            others = {variant.computes for variant in self.example.variants} - {mine}
            orders = {name: by_oracle(name, case.K) for name in sorted(others)}
            near = {case.K - 1, case.K + 1, case.K - 2, case.K + 2, 2 * case.K}
            sweeps = {K: by_oracle(mine, K) for K in sorted(near) if K >= 0}
        fits = None
        if reference is not None:
            fits = diagnosis.forward_mode_fits(
                self._asked[case].tangents, reference, self.tolerance
            )
        return diagnosis.Context(
            n=case.n,
            K=case.K,
            dtype=case.dtype,
            depth=self.example.depth(session.size),
            system=case.system,
            colours=self.example.colours,
            inputs=arrays,
            orders=orders,
            sweeps=sweeps,
            forward_mode_right=fits,
        )

    def _evidence_of(self, session: Session) -> Evidence:
        case, record, gradient = session.case, session.record, session.gradient
        assert gradient is not None  # `evaluate` filled both
        assert record.loss is not None
        if case.system == "oracle":
            # It computes in float64 whatever is asked; rounded once, it is the reference.
            gradient = {name: np.asarray(g).astype(case.dtype) for name, g in gradient.items()}
        return Evidence(
            record.loss, gradient, case.dtype, case.n, case.K, record.input_sha256, _label(session)
        )

    def _add(self, session: Session, figure: Figure) -> None:
        self._figures[session.case].append(figure)

    def _dismiss_wrong_oracle(self) -> None:
        """An oracle that fails its own proofs accuses nobody."""
        oracle = self._oracle
        if oracle is None or decide(self._figures[oracle.case]).word != "wrong":
            return
        for session in self.sessions:
            for figure in self._figures[session.case]:
                if session is not oracle and figure.name in (Proof.ORACLE, Proof.ZERO):
                    figure.passed = None
                    figure.detail += "; the oracle fails its own proofs"

    def _sound(self, session: Session) -> bool:
        """Whether shapes, dtype, inputs and finiteness are as they should be."""
        kinds = (Proof.LIKE, Proof.FINITE)
        return bool(proofs.finite(self._evidence[session.case]).passed) and not any(
            f.passed is False and proofs.kind_of(f.name) in kinds
            for f in self._figures[session.case]
        )

    def _zero_proved(self, session: Session) -> bool:
        return any(
            f.passed and proofs.kind_of(f.name) is Proof.ZERO for f in self._figures[session.case]
        )

    def _apart(self, left: Session, right: Session) -> bool:
        """Whether the two gradients differ at all."""
        one, two = self._evidence[left.case].gradient, self._evidence[right.case].gradient
        return any(not np.array_equal(one[name], two[name]) for name in one)

    def _separate(self, left: Session, right: Session) -> None:
        """Which of two gradients is its own loss's, where they differ most."""
        for session, other in ((left, right), (right, left)):
            with session.guard():
                figure = separate(
                    self._asked[session.case],
                    self._evidence[session.case],
                    self._evidence[other.case],
                    self._setting,
                )
                self._add(session, figure)


def _label(session: Session) -> str:
    case = session.case
    return f"{case.system}/{case.variant}/{case.device}"


def _kind(left: Session, right: Session) -> Literal["systems", "oracle", "devices", "variants"]:
    a, b = left.case, right.case
    if "oracle" in (a.system, b.system):
        return "oracle"
    if a.system != b.system:
        return "systems"
    return "variants" if a.variant != b.variant else "devices"
