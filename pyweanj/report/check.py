"""Tables of agreement: the check of every implementation, the pairs, and all proofs."""

from __future__ import annotations

import math

from pyweanj.records import FAILURES, Joint, Outcome, Pair, Record
from pyweanj.report import units
from pyweanj.report.model import Cell, Column, Group, Names, Table, Tone, cell, groups
from pyweanj.report.quoted import Published
from pyweanj.verify.proofs import Proof

__all__ = ["check_tables", "error_cell", "outcome_cell", "pair_table", "proof_tables", "within"]

CHECK = (
    Column("implementation", numeric=False),
    Column("loss"),
    Column("‖gradient‖", about="2-norm of the gradient"),
    Column("loss err", wide=True, about="against the oracle: |loss − oracle| / |oracle|"),
    Column("grad err", about="against the oracle: ‖gradient − oracle‖₂ / ‖oracle‖₂"),
    Column("fin diff", about="largest finite-difference error relative to ‖gradient‖∞"),
    Column("Taylor", wide=True, about="rate of the second-order Taylor remainder"),
    Column(
        "tol",
        wide=True,
        about="relative tolerance of loss and gradient, derived from dtype, n and K",
    ),
    Column("verdict", numeric=False),
)

PAIRS = (
    Column("computes", numeric=False, section=True),
    Column("pair", numeric=False),
    Column("n"),
    Column("K"),
    Column("loss diff", about="|left − right| / max(|left|, |right|)"),
    Column("grad diff", about="‖left − right‖₂ / max(‖left‖₂, ‖right‖₂)"),
    Column("max norm", wide=True, about="the same in the max-norm"),
    Column("tol", wide=True, about="relative tolerance, derived from dtype, n and K"),
    Column("verdict", numeric=False),
)

PROOFS = (
    Column("proof", numeric=False),
    Column("found"),
    Column("allowed"),
    Column("outcome", numeric=False),
    Column("detail", numeric=False),
    Column("worst at", numeric=False, wide=True),
)


def within(value: float | None, tolerance: float | None) -> bool | None:
    """Whether `value` is within `tolerance`; NaN never is, and None decides nothing."""
    if value is None or tolerance is None:
        return None
    return abs(value) <= tolerance


def outcome_cell(record: Record) -> Cell:
    """The verdict of a case that ended well, or how it ended."""
    if record.outcome is Outcome.OK:
        verdict = record.verdict or "ok"
        tone: Tone = {"right": "good", "wrong": "bad", "unproven": "warn"}.get(verdict, "good")  # type: ignore[assignment]
        mark = {"bad": "✗", "warn": "?"}.get(tone, "✓")
        return cell(f"{mark} {verdict}", verdict, tone, record.diagnosis)
    words = record.outcome.value.replace("_", " ")
    if record.outcome is Outcome.MISMATCH and record.verdict == "wrong":
        words = "wrong"
    if record.outcome in FAILURES:
        return cell(f"✗ {words}", words, "bad", record.diagnosis or record.message)
    return cell(words, words, "muted", record.message)


def check_tables(joint: Joint, names: Names, published: Published | None) -> list[Table]:
    """One table for each group: every implementation at the check size."""
    tables = []
    for group in groups(joint):
        members = [r for r in joint.records if Group.of(r) == group and "check" in r.tasks]
        rows = [_check_row(r, names) for r in members]
        notes = _tolerance_note(members)
        if published is not None:
            rows += _published_row(group, published)
            notes += _published_notes(group, published)
        title = f"Check · {group}"
        name = f"check-{group.computes}-{group.dtype}-n{group.n}-K{group.K}"
        tables.append(Table(name, title, CHECK, tuple(rows), tuple(notes), "check"))
    return tables


def _tolerance_note(records: list[Record]) -> list[str]:
    found = dict.fromkeys(r.tolerance for r in records if r.tolerance is not None)
    if not found:
        return []
    shown = ", ".join(units.relative(tolerance) for tolerance in found)
    allowed = f"allowed for loss and gradient: {shown}"
    oracle = any(r.oracle_grad_error is not None for r in records)
    return [f"errors are against the oracle; {allowed}" if oracle else allowed]


def _check_row(record: Record, names: Names) -> tuple[Cell, ...]:
    return (
        cell(names.record(record), note=record.message),
        cell(units.loss(record.loss), record.loss),
        cell(units.norm(record.grad_norm), record.grad_norm),
        error_cell(record.oracle_loss_error, record.tolerance),
        error_cell(record.oracle_grad_error, record.tolerance),
        _finite_differences(record),
        cell(
            units.MISSING if record.taylor_rate is None else f"{record.taylor_rate:.2f}",
            record.taylor_rate,
        ),
        cell(units.relative(record.tolerance), record.tolerance),
        outcome_cell(record),
    )


def error_cell(value: float | None, tolerance: float | None) -> Cell:
    """A relative error, bad where it exceeds `tolerance` or is no number."""
    passed = within(value, tolerance)
    broken = passed is False or (value is not None and not math.isfinite(value))
    return cell(units.relative(value), value, "bad" if broken else "")


def _finite_differences(record: Record) -> Cell:
    proof = next((p for p in record.proofs if p.name.partition(":")[0] == Proof.ENTRIES), None)
    value = record.fd_error
    failed = (proof is not None and proof.passed is False) or (
        value is not None and not math.isfinite(value)
    )
    note = ""
    if proof is not None and proof.tolerance is not None:
        note = f"allowed {units.relative(proof.tolerance)}"
    return cell(units.relative(value), value, "bad" if failed else "", note)


def _published_row(group: Group, published: Published) -> list[tuple[Cell, ...]]:
    value = published.loss.get(group.computes)
    if not published.is_check(group.dtype, group.n, group.K) or value is None:
        return []
    gradient = published.grad_norm.get(group.computes)
    shown = {
        "implementation": cell("published", tone="published"),
        "loss": cell(units.loss(value), value, "published"),
        "‖gradient‖": cell(units.norm(gradient), gradient, "published"),
        "verdict": cell("not run", tone="published"),
    }
    return [tuple(shown.get(column.title, cell("")) for column in CHECK)]


def _published_notes(group: Group, published: Published) -> list[str]:
    if not published.is_check(group.dtype, group.n, group.K):
        return []
    found = [
        f"{system} {units.relative(value)}"
        for (system, variant), value in published.fd_error.items()
        if variant == group.computes
    ]
    return [f"published finite differences: {', '.join(found)}"] if found else []


def pair_table(joint: Joint, names: Names, *, every: bool = False) -> Table | None:
    """Every pair that is not ok, and of the others the worst of each mathematics and dtype.

    `every`: all of the others, too.
    """
    if not joint.pairs:
        return None
    rows, notes = [], []
    for computes, dtype in dict.fromkeys((p.computes, p.dtype) for p in joint.pairs):
        pairs = [p for p in joint.pairs if (p.computes, p.dtype) == (computes, dtype)]
        agreed = [p for p in pairs if p.verdict == "ok"]
        rows += [_pair_row(p, names) for p in pairs if p.verdict != "ok"]
        if every:
            rows += [_pair_row(p, names) for p in agreed]
        elif agreed:
            rows.append(_pair_row(max(agreed, key=_badness), names, len(agreed)))
        notes.append(f"{computes} {dtype}: {len(agreed)} of {units.count(len(pairs), 'pair')} ok")
    return Table("pairs", "Pairs", PAIRS, tuple(rows), tuple(notes), "pairs")


def _badness(pair: Pair) -> float:
    """How much of its tolerance a pair uses up; what cannot be told counts as least."""
    values = [v for v in (pair.loss_difference, pair.grad_difference) if v is not None]
    worst = max(values, default=-1.0)
    return worst / pair.tolerance if pair.tolerance else worst


def _pair_row(pair: Pair, names: Names, agreed: int = 0) -> tuple[Cell, ...]:
    """One pair; `agreed` is the number of those that are ok and that it is the worst of."""
    bad = pair.verdict != "ok"
    allowed = pair.tolerance if bad else None
    reason = " at ".join(part for part in (pair.reason, pair.where) if part)
    others = f" (worst of {agreed})" if agreed > 1 else ""
    verdict = f"✗ {reason or 'mismatch'}" if bad else f"✓ ok{others}"
    return (
        cell(f"{pair.computes} {pair.dtype}"),
        cell(f"{names.side(pair.left)} ↔ {names.side(pair.right)}"),
        cell(str(pair.n), pair.n),
        cell(str(pair.K), pair.K),
        error_cell(pair.loss_difference, allowed),
        error_cell(pair.grad_difference, allowed),
        cell(units.relative(pair.grad_difference_max), pair.grad_difference_max),
        cell(units.relative(pair.tolerance), pair.tolerance),
        cell(verdict, pair.verdict, "bad" if bad else "good"),
    )


def proof_tables(joint: Joint, names: Names) -> list[Table]:
    """Every proof of every checked case."""
    tables = []
    for record in joint.records:
        if not record.proofs:
            continue
        rows = tuple(
            (
                cell(proof.name),
                cell(units.relative(proof.value), proof.value),
                cell(units.relative(proof.tolerance), proof.tolerance),
                _passed(proof.passed),
                cell(proof.detail),
                cell(proof.where),
            )
            for proof in record.proofs
        )
        title = f"Proofs · {names.full(record)} · {record.dtype} · n = {record.n} · K = {record.K}"
        tables.append(Table(f"proofs-{record.case.slug}", title, PROOFS, rows, (), "proofs"))
    return tables


def _passed(passed: bool | None) -> Cell:
    if passed is None:
        return cell("no say", 1, "muted")
    return cell("✓ passed", 2, "good") if passed else cell("✗ failed", 0, "bad")
