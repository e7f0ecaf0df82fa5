"""The difference of two runs as people and programs read it."""

from __future__ import annotations

import dataclasses
import json

from rich.console import Console

from pyweanj.report import units
from pyweanj.report.diff import Difference
from pyweanj.report.markdown import escape, markdown_table
from pyweanj.report.model import Cell, Column, Table, Tone, cell
from pyweanj.report.terminal import Printer

__all__ = ["difference_to_json", "difference_to_markdown", "print_difference", "verdict_line"]

TITLES = {
    "outcome": "How cases ended",
    "verdict": "Verdicts",
    "pair": "Pairs",
    "loss": "Losses",
    "error": "Errors",
    "time": "Times",
    "memory": "Memory",
    "version": "Versions",
    "case": "Cases in one run only",
}

COLUMNS = (
    Column("", numeric=False),
    Column("what", numeric=False),
    Column("of it", numeric=False),
    Column("before"),
    Column("after"),
    Column("change", numeric=False),
)


def verdict_line(difference: Difference) -> str:
    """The difference in one line."""
    worse = sum(change.regression for change in difference.changes)
    total = len(difference.changes)
    cases = f"{units.count(difference.compared, 'case')} in both runs"
    if worse:
        return (
            f"✗ {units.count(worse, 'regression')} among {units.count(total, 'change')} ({cases})"
        )
    if total:
        return f"✓ no regression, {units.count(total, 'change')} ({cases})"
    return f"✓ no change ({cases})"


def difference_to_markdown(difference: Difference) -> str:
    """For a comment on a pull request."""
    parts = [
        f"### pyweanj {escape(difference.example)}: {escape(verdict_line(difference))}",
        *(f"**{escape(table.title)}**\n\n{markdown_table(table)}" for table in _tables(difference)),
    ]
    notes = [*difference.notes, _about(difference)]
    parts.append("\n".join(f"- {escape(note)}" for note in notes))
    return "\n\n".join(parts) + "\n"


def difference_to_json(difference: Difference) -> str:
    """For programs: the fields of `Difference` and ``regression``."""
    data = {"regression": difference.regression, **dataclasses.asdict(difference)}
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def print_difference(difference: Difference, console: Console) -> None:
    """Print it, fitted to the console's width, colour and encoding."""
    show = Printer(console)
    show.line(verdict_line(difference), "bold red" if difference.regression else "green")
    for table in _tables(difference):
        console.print()
        show.fitted([table])
    for note in (*difference.notes, _about(difference)):
        show.note(note)


def _about(difference: Difference) -> str:
    return (
        f"a time or a memory figure is a regression where it grew by more than "
        f"{100 * difference.threshold:g} %; times: the whole 95 % interval of the ratio"
    )


def _tables(difference: Difference) -> list[Table]:
    tables = []
    for kind, title in TITLES.items():
        rows = tuple(
            (
                cell("✗ worse" if change.regression else "", tone=_tone(change.regression)),
                cell(change.what),
                cell(change.aspect),
                Cell(change.before),
                Cell(change.after, tone=_tone(change.regression)),
                cell(change.size),
            )
            for change in difference.changes
            if change.kind == kind
        )
        if rows:
            keep = [k for k in range(len(COLUMNS)) if any(row[k].text for row in rows)]
            columns = tuple(COLUMNS[k] for k in keep)
            kept = tuple(tuple(row[k] for k in keep) for row in rows)
            tables.append(Table(f"diff-{kind}", title, columns, kept, (), "records"))
    return tables


def _tone(regression: bool) -> Tone:
    return "bad" if regression else ""
