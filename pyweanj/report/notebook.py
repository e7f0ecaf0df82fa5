"""The report as a fragment of HTML, for notebooks: no script, no style sheet of its own."""

from __future__ import annotations

from html import escape

from pyweanj.report.build import Report
from pyweanj.report.model import Cell, Table

__all__ = ["to_fragment"]

COLOURS = {"good": "#1a7f37", "bad": "#cf222e", "warn": "#9a6700", "muted": "#6e7781"}


def to_fragment(report: Report) -> str:
    """The headline, the summary and the tables; every text is escaped."""
    parts = [f"<p><b>{escape(report.title)}</b>: {escape(report.headline)}</p>"]
    parts += [f"<div{_colour(line.tone)}>{escape(line.text)}</div>" for line in report.summary]
    parts += [_table(table) for table in report.tables]
    return "\n".join(parts)


def _table(table: Table) -> str:
    head = "".join(f"<th>{escape(f'{c.group} {c.title}'.strip())}</th>" for c in table.columns)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in table.rows)
    notes = "".join(f"<div><small>{escape(note)}</small></div>" for note in table.notes)
    return (
        f"<p><b>{escape(table.title)}</b></p>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{notes}"
    )


def _cell(cell: Cell) -> str:
    note = f' title="{escape(cell.note)}"' if cell.note else ""
    return f"<td{note}{_colour(cell.tone)}>{escape(cell.text)}</td>"


def _colour(tone: str) -> str:
    return f' style="color: {COLOURS[tone]}"' if tone in COLOURS else ""
