"""What went wrong or was not run, and the verdict of the run in a few lines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from pyweanj.records import FAILURES, Joint, Outcome, Record
from pyweanj.report import units
from pyweanj.report.model import Cell, Column, Names, Table, Tone, cell, shortened

__all__ = ["Line", "headline", "problem_table", "summary"]

PROBLEMS = (
    Column("implementation", numeric=False),
    Column("cases", numeric=False),
    Column("outcome", numeric=False),
    Column("why", numeric=False),
    Column("what to do", numeric=False),
    Column("log", numeric=False, wide=True),
)


# What the cases of one implementation came to, the worst first.
BAD = ("wrong", "mismatch", "failed")
STATES = (*BAD, "unproven", "right", "ran", "not run")


class Line(NamedTuple):
    """One line of the summary."""

    text: str
    tone: Tone


def problem_table(joint: Joint, names: Names) -> Table | None:
    """Every case whose outcome is not ok, those with the same cause in one row."""
    causes: dict[tuple[str, ...], list[Record]] = {}
    for record in joint.records:
        if record.outcome is Outcome.OK:
            continue
        # What a whole system cannot do is one row, whatever the variants are.
        whole = record.outcome is Outcome.UNAVAILABLE
        shown = f"{record.system} {record.device}" if whole else names.full(record)
        why = (record.diagnosis if record.verdict == "wrong" else "") or record.message
        key = (shown, record.outcome.value, shortened(why), shortened(record.remedy))
        causes.setdefault(key, []).append(record)
    if not causes:
        return None
    ordered = sorted(causes.items(), key=lambda item: item[1][0].outcome not in FAILURES)
    rows = tuple(_problem_row(key, records) for key, records in ordered)
    return Table("problems", "Cases that are not ok", PROBLEMS, rows, (), "problems")


def _problem_row(key: tuple[str, ...], records: list[Record]) -> tuple[Cell, ...]:
    shown, _, why, remedy = key
    first = records[0]
    failed = first.outcome in FAILURES
    words = first.outcome.value.replace("_", " ")
    if first.outcome is Outcome.CRASHED and (first.exit_status or 0) < 0:
        words += f" (signal {-(first.exit_status or 0)})"
    logs = ", ".join(dict.fromkeys(r.log for r in records if r.log))
    return (
        cell(shown),
        cell(_sizes(records), len(records)),
        cell(f"{'✗ ' if failed else ''}{words}", first.outcome.value, "bad" if failed else "muted"),
        cell(why or "no reason was given"),
        cell(remedy),
        cell(logs),
    )


def _sizes(records: Iterable[Record]) -> str:
    """The sizes of `records`: ``n = 32, 64 · K = 100``, or their number where they are many."""
    records = list(records)
    parts = []
    for label, values in (
        ("n", sorted({r.n for r in records})),
        ("K", sorted({r.K for r in records})),
    ):
        shown = ", ".join(map(str, values)) if len(values) <= 6 else f"{values[0]} … {values[-1]}"
        parts.append(f"{label} = {shown}")
    dtypes = ", ".join(sorted({r.dtype for r in records}))
    return " · ".join([*parts, dtypes])


def summary(joint: Joint, names: Names) -> list[Line]:
    """The run in a few lines: first whether it is whole, then a line for each mathematics."""
    lines = []
    if not joint.complete:
        lines.append(Line("The run was interrupted: what follows is what it found.", "warn"))
    keys = dict.fromkeys((r.computes, r.dtype) for r in joint.records)
    for computes, dtype in keys:
        records = [r for r in joint.records if (r.computes, r.dtype) == (computes, dtype)]
        lines.append(_verdict(f"{computes} {dtype}", records, names))
    lines += [Line(f"! {text}", "warn") for text in joint.environment.get("warnings") or []]
    if not joint.records:
        lines.append(Line("No case was run.", "warn"))
    return lines


def headline(joint: Joint, names: Names) -> str:
    """How many implementations came to what, those that are wrong or failed by name."""
    several = len({r.dtype for r in joint.records}) > 1
    by_name: dict[str, list[Record]] = {}
    for record in joint.records:
        name = f"{names.full(record)} {record.dtype}" if several else names.full(record)
        by_name.setdefault(name, []).append(record)
    states: dict[str, list[str]] = {}
    for name, cases in by_name.items():
        states.setdefault(_state(cases), []).append(name)
    parts = []
    for state in STATES:
        found = states.get(state, [])
        if found:
            named = f" ({', '.join(found)})" if state in BAD and len(found) <= 3 else ""
            parts.append(f"{len(found)} {state}{named}")
    if not parts:
        return "No case was run"
    total = units.count(len(by_name), "implementation")
    return f"Of {total}: {', '.join(parts)}"


def _verdict(title: str, records: list[Record], names: Names) -> Line:
    """How many implementations are right, and which are not."""
    by_name: dict[str, list[Record]] = {}
    for record in records:
        by_name.setdefault(names.record(record), []).append(record)
    states: dict[str, list[str]] = {}
    for name, cases in by_name.items():
        states.setdefault(_state(cases), []).append(name)
    parts = []
    for state in STATES:
        found = states.get(state, [])
        if state == "right" and len(found) > 1:
            parts.append(f"{len(found)} right ({', '.join(found)})")
        elif found:
            parts.append(f"{', '.join(found)} {state}")
    bad = any(state in states for state in BAD)
    tone: Tone = "bad" if bad else "good" if "right" in states else "warn"
    mark = {"bad": "✗", "good": "✓", "warn": "?"}[tone]
    return Line(f"{mark} {title}: {'; '.join(parts) or units.MISSING}", tone)


def _state(cases: list[Record]) -> str:
    """The worst that any case of one implementation came to."""
    if any(r.verdict == "wrong" for r in cases):
        return "wrong"
    if any(r.outcome is Outcome.MISMATCH for r in cases):
        return "mismatch"
    if any(r.outcome in FAILURES for r in cases):
        return "failed"
    verdicts = {r.verdict for r in cases if r.outcome is Outcome.OK}
    if "unproven" in verdicts:
        return "unproven"
    if "right" in verdicts:
        return "right"
    return "ran" if verdicts else "not run"
