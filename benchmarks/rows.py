"""Figures beside their goals, and the ways in which a table of them is shown and kept."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pyweanj import environment, julia_setup
from pyweanj.measure import Samples

__all__ = [
    "Goal",
    "Row",
    "about",
    "as_json",
    "as_markdown",
    "cells",
    "print_table",
    "ratio_row",
    "replace_table",
    "split_at_markers",
]

HEAD = ("figure", "value", "95 % interval", "goal", "holds", "note")
BEGIN, END = "<!-- ratios: begin -->", "<!-- ratios: end -->"
#: Columns of the table where the output is no terminal: wide enough for every note.
PLAIN_WIDTH = 200


@dataclass(frozen=True)
class Row:
    """One figure beside its goal."""

    figure: str
    value: float | None
    low: float | None
    high: float | None
    goal: str
    holds: bool | None
    """None: not measured, or not settled; `note` says why."""
    note: str = ""


@dataclass(frozen=True)
class Goal:
    """A range that a figure must lie in, ends included."""

    most: float | None = None
    least: float | None = None
    unit: str = ""

    def __str__(self) -> str:
        if self.most is None:
            return f"≥ {self.least:g}{self.unit}"
        if self.least is None:
            return f"≤ {self.most:.3g}{self.unit}"
        return f"{self.least:g}–{self.most:g}{self.unit}"

    def met(self, value: float) -> bool:
        """Whether `value` is in the range; NaN never is."""
        above = self.least is None or value >= self.least
        return above and (self.most is None or value <= self.most)

    def row(
        self, figure: str, value: float, bounds: tuple[float, float] | None, note: str = ""
    ) -> Row:
        """`value` beside this goal."""
        low, high = bounds or (None, None)
        return Row(figure, value, low, high, str(self), self.met(value), note)

    def missing(self, figure: str, reason: str) -> Row:
        """No value, and why."""
        return Row(figure, None, None, None, str(self), None, reason)


def ratio_row(
    samples: Samples, left: str, right: str, *, figure: str, goal: Goal, note: str = ""
) -> Row:
    """Left ÷ right of interleaved samples."""
    found = samples.ratio(left, right)
    assert found is not None
    return goal.row(figure, found.value, found.bounds, note)


def about(cores: Sequence[int] | None) -> dict[str, Any]:
    """Plain data about this machine and the versions that a time depends on; None: not there.

    Parameters
    ----------
    cores
        Those that all workers are bound to; None or empty: the system cannot bind.
    """
    found = environment.describe()
    machine, packages, julia = found["machine"], found["packages"], julia_setup.versions()
    return {
        "time": found["time"],
        "cpu": machine["cpu"],
        "cores": machine["cores"],
        "kernel": machine["kernel"],
        "threads": 1,
        "bound_to": list(cores) if cores else None,
        "versions": {
            "Python": found["python"],
            "JAX": packages["jax"],
            "jaxlib": packages["jaxlib"],
            "enzyme-ad": packages["enzyme-ad"],
            "Julia": julia["Julia"],
            "Enzyme.jl": julia["Enzyme"],
        },
    }


def cells(row: Row) -> list[str]:
    """What is shown of one row, in the order of `HEAD`."""
    value = "–" if row.value is None else f"{row.value:.3g}"
    interval = "" if row.low is None or row.high is None else f"{row.low:.3g}–{row.high:.3g}"
    unsettled = "not measured" if row.value is None else "not settled"
    holds = {True: "yes", False: "no", None: unsettled}[row.holds]
    return [row.figure, value, interval, row.goal, holds, row.note]


def as_json(rows: Sequence[Row], machine: dict[str, Any]) -> str:
    """``{"rows": […], "machine": {…}}``."""
    data = {"rows": [asdict(row) for row in rows], "machine": machine}
    return json.dumps(data, indent=1, ensure_ascii=False)


def print_table(rows: Sequence[Row]) -> None:
    """The rows as a table on stdout."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=PLAIN_WIDTH)
    styles = {True: "green", False: "bold red", None: "yellow"}
    table = Table(box=None, header_style="bold", pad_edge=False)
    for title in HEAD:
        right = title in ("value", "95 % interval")
        whole = title != "note" and not console.is_terminal
        table.add_column(title, justify="right" if right else "left", no_wrap=whole)
    for row in rows:
        *before, holds, note = cells(row)
        table.add_row(*map(Text, before), Text(holds, styles[row.holds]), Text(note))
    console.print(table)


def as_markdown(rows: Sequence[Row], machine: dict[str, Any]) -> str:
    """The table, after the machine that it came from."""
    versions = [f"{name} {found or 'none'}" for name, found in machine["versions"].items()]
    lines = [
        f"Measured {machine['time']} on {machine['cpu'] or 'an unnamed processor'}, "
        f"{machine['cores']} cores, {machine['kernel']}.",
        f"Every worker had {machine['threads']} thread and was {_bound(machine['bound_to'])}.",
        f"{', '.join(versions)}.",
        "",
    ]
    if machine["warnings"]:
        lines += ["What makes times of this machine unsure:", ""]
        lines += [f"- {warning}" for warning in machine["warnings"]]
    else:
        lines.append("Nothing was seen that makes times of this machine unsure.")
    lines.append("")
    for line in (HEAD, ["---"] * len(HEAD), *map(cells, rows)):
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |")
    return "\n".join(lines)


def _bound(cores: list[int] | None) -> str:
    return f"bound to core {', '.join(map(str, cores))}" if cores else "bound to no core"


def split_at_markers(text: str) -> tuple[str, str]:
    """What stands before and after the table, the markers included.

    Raises
    ------
    ValueError
        The two markers are not there, each once and in this order.
    """
    for marker in (BEGIN, END):
        if text.count(marker) != 1:
            raise ValueError(f"the line {marker} is there {text.count(marker)} times, not once")
    begin, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    if begin > end:
        raise ValueError(f"{END} stands before {BEGIN}")
    return text[:begin], text[end:]


def replace_table(file: Path, table: str) -> None:
    """Put `table` between the markers of `file`; everything else stays as it is.

    Raises
    ------
    ValueError
        As `split_at_markers`; the file is then as it was.
    """
    before, after = split_at_markers(file.read_text(encoding="utf-8"))
    temporary = file.with_name(f".{file.name}.part")
    temporary.write_text(f"{before}\n\n{table}\n\n{after}", encoding="utf-8")
    temporary.replace(file)
