"""The report as Markdown (GitHub's tables)."""

from __future__ import annotations

import re

from pyweanj.records import Joint
from pyweanj.report.build import build
from pyweanj.report.model import Cell, Table
from pyweanj.report.quoted import Published

__all__ = ["escape", "markdown_table", "to_markdown"]


def to_markdown(joint: Joint, published: Published | None = None) -> str:
    """The report of `joint`; published figures are in italics and say that they are."""
    report = build(joint, published)
    parts = [f"# {escape(report.title)}"]
    parts.append("\n".join(f"- {escape(line.text)}" for line in report.summary))
    for table in report.tables:
        parts.append(f"## {escape(table.title)}")
        if table.rows:
            parts.append(markdown_table(table))
        parts += [escape(note) for note in table.notes]
    return "\n\n".join(part for part in parts if part) + "\n"


def markdown_table(table: Table) -> str:
    """One table; the columns that hold nothing at all are left out."""
    keep = [k for k in range(len(table.columns)) if any(row[k].text for row in table.rows)]
    columns = [table.columns[k] for k in keep]
    titles = [" ".join(p for p in (c.group, c.title.strip()) if p) for c in columns]
    lines = [
        _line([escape(title) for title in titles]),
        _line(["---:" if column.numeric else "---" for column in columns]),
        *(_line([_cell(row[k]) for k in keep]) for row in table.rows),
    ]
    return "\n".join(lines)


def escape(text: str) -> str:
    """`text` on one line, with nothing left that Markdown would read as markup."""
    flat = " ".join(text.split())
    return re.sub(r"([\\`*_\[\]<>|#~])", r"\\\1", flat)


def _cell(cell: Cell) -> str:
    text = "<br>".join(escape(line) for line in cell.text.splitlines())
    if not text:
        return ""
    if cell.tone in ("best", "bad"):
        return f"**{text}**"
    return f"*{text}*" if cell.tone == "published" else text


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
