"""The report in a terminal, at any width from 80 columns on."""

from __future__ import annotations

from io import StringIO

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from pyweanj.records import Joint
from pyweanj.report.build import build
from pyweanj.report.model import Cell, Names, Table
from pyweanj.report.quoted import Published
from pyweanj.report.timing import timing_tables

__all__ = ["Printer", "plain_text", "print_table"]

STYLES = {
    "": "",
    "good": "green",
    "bad": "bold red",
    "warn": "yellow",
    "best": "bold green",
    "muted": "dim",
    "published": "italic cyan",
}

GAP = 2

#: What stands for a character that the console's encoding does not have.
FALLBACK = {
    "✓": "+", "✗": "x", "★": "*", "÷": "/", "±": "+-", "µ": "u", "×": "x", "–": "-", "−": "-",
    "…": "...", "‖": "||", "↔": "<->", "·": "|", "→": "->", "₂": "2", "≈": "~",
    "θ": "theta", "∞": "inf", "∇": "grad ",
}  # fmt: skip


def print_table(
    joint: Joint,
    console: Console,
    published: Published | None = None,
    *,
    explain: bool = False,
) -> None:
    """Print the report of `joint`, fitted to the console's width, colour and encoding.

    Parameters
    ----------
    published
        Figures to show beside the measured ones, marked as published.
    explain
        With every proof of every case.
    """
    report = build(joint, published, explain=explain)
    names = Names.of(joint.records)
    across = {t.name: t for t in timing_tables(joint, names, published, "across")}
    show = Printer(console)
    for line in report.summary:
        show.line(line.text, STYLES[line.tone])
    for table in report.tables:
        console.print()
        if table.kind == "problems":
            show.problems(table)
        elif table.kind == "timing":
            show.fitted([across[table.name], table])
        else:
            show.fitted([table])


def plain_text(
    joint: Joint, published: Published | None = None, *, width: int = 100, explain: bool = False
) -> str:
    """What `print_table` prints, without colour."""
    out = StringIO()
    console = Console(file=out, width=width, color_system=None, force_terminal=False)
    print_table(joint, console, published, explain=explain)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


class Printer:
    """Tables on one console."""

    def __init__(self, console: Console) -> None:
        self.console = console

    def text(self, text: str, style: str = "") -> Text:
        """`text` in characters that the console can show."""
        return Text(_encodable(text, self.console.encoding), style=style)

    def line(self, text: str, style: str = "") -> None:
        """A line of its own."""
        self.console.print(self.text(text, style), soft_wrap=False)

    def note(self, text: str) -> None:
        """A remark below a table."""
        self.console.print(Padding(self.text(text, "dim"), (0, 0, 0, 2)))

    def fitted(self, candidates: list[Table]) -> None:
        """The first of `candidates`, wide or narrow, that fits; the last in any case."""
        forms = [form for table in candidates for form in (table, table.narrow())]
        form = next((f for f in forms if _width(f) <= self.console.width), forms[-1])
        self.line(form.title, "bold")
        if form.rows:
            self.console.print(self.rich(form))
        for note in form.notes:
            self.note(note)

    def rich(self, table: Table) -> RichTable:
        """`table` as Rich draws it; sections get a line of their own."""
        rich = RichTable(
            box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 0, 0, GAP - 1), show_edge=False
        )
        columns = [(k, c) for k, c in enumerate(table.columns) if not c.section]
        section = next((k for k, c in enumerate(table.columns) if c.section), None)
        grouped = any(column.group for column in table.columns)
        shown = ""
        for _, column in columns:
            heading = column.title.strip()
            if grouped:
                heading = f"{column.group if column.group != shown else ''}\n{heading}"
                shown = column.group
            justify = "right" if column.numeric else "left"
            rich.add_column(
                self.text(heading), justify=justify, no_wrap=column.numeric, overflow="fold"
            )
        before = ""
        down = table.kind == "timing" and not grouped
        for row in table.rows:
            if section is not None and row[section].text != before:
                before = row[section].text
                rich.add_row(self.text(before, "dim"))
            cells = [self.cell(row[k]) for k, _ in columns]
            if down:
                # n once for each block of implementations: the eye finds the blocks.
                cells[0] = self.text("" if row[0].text == before else row[0].text)
                before = row[0].text
            rich.add_row(*cells)
        return rich

    def cell(self, cell: Cell) -> Text:
        """One cell."""
        return self.text(cell.text, STYLES[cell.tone])

    def problems(self, table: Table) -> None:
        """What is not ok: a paragraph each, so that messages keep their words together."""
        self.line(table.title, "bold")
        for name, sizes, outcome, why, remedy, log in table.rows:
            text = Text()
            text.append(self.text(f"{name.text}: ", "bold"))
            text.append(self.text(outcome.text, STYLES[outcome.tone]))
            text.append(self.text(f" ({sizes.text}): ", "dim"))
            text.append(self.text(why.text))
            if remedy.text:
                text.append(self.text(f" → {remedy.text}", "cyan"))
            if log.text:
                text.append(self.text(f" [{log.text}]", "dim"))
            for k, line in enumerate(text.wrap(self.console, max(20, self.console.width - 4))):
                self.console.print(Padding(line, (0, 0, 0, 4 if k else 2)))


def _width(table: Table) -> int:
    """Characters that `table` needs, with two blanks between columns."""
    needed = -GAP
    for k, column in enumerate(table.columns):
        if column.section:
            continue
        # The heading of a group stands above its first column.
        first = k == 0 or table.columns[k - 1].group != column.group
        texts = [
            column.title.strip(),
            column.group if first else "",
            *(row[k].text for row in table.rows),
        ]
        needed += GAP + max(map(cell_len, texts))
    return needed


def _encodable(text: str, encoding: str) -> str:
    """`text` with what `encoding` lacks spelt in ASCII."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return "".join(_character(c, encoding) for c in text)
    return text


def _character(character: str, encoding: str) -> str:
    try:
        character.encode(encoding)
    except UnicodeEncodeError:
        return FALLBACK.get(character, "?")
    return character
