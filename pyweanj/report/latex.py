r"""The report as LaTeX tables, ready for a paper: needs ``booktabs``, works with any engine."""

from __future__ import annotations

import re

from pyweanj.records import Joint
from pyweanj.report.build import build
from pyweanj.report.model import Cell, Names, Table
from pyweanj.report.quoted import Published
from pyweanj.report.timing import timing_tables

__all__ = ["escape", "latex_table", "to_latex"]

#: Side by side a table of more columns than this is wider than a page.
WIDEST = 10

SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "&": r"\&", "%": r"\%", "$": r"\$",
    "#": r"\#", "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': "''",
    "µ": r"$\mu$", "÷": r"$\div$", "×": r"$\times$", "±": r"$\pm$", "−": r"$-$", "–": "--",
    "…": r"\dots{}", "·": r"$\cdot$", "≈": r"$\approx$", "↔": r"$\leftrightarrow$",
    "→": r"$\rightarrow$", "‖": r"$\|$", "₂": r"$_2$", "∞": r"$\infty$", "✓": r"$\surd$",
    "✗": r"$\times$", "★": r"$\star$", "θ": r"$\theta$", "≤": r"$\leq$", "≥": r"$\geq$",
    "²": r"$^2$", "½": r"$\frac{1}{2}$", "∇": r"$\nabla$", "\u202f": r"\,", "\u00a0": "~",
}  # fmt: skip


def to_latex(joint: Joint, published: Published | None = None) -> str:
    r"""Every table of `joint` as a ``table`` environment, for ``\input`` into a paper.

    Published figures are in italics and say that they are published.
    """
    down = build(joint, published)
    names = Names.of(joint.records)
    across = {t.name: t for t in timing_tables(joint, names, published, "across")}
    lines = [f"% {_comment(line.text)}" for line in down.summary]
    parts = [
        f"% {_comment(down.title)}: needs \\usepackage{{booktabs}}",
        *lines,
    ]
    for table in down.tables:
        if table.kind == "problems":
            continue  # a paper tells these in words
        wide = across.get(table.name)
        fits = wide is not None and len(wide.narrow().columns) <= WIDEST
        chosen = (wide if wide is not None and fits else table).narrow()
        if chosen.rows:
            parts.append(latex_table(chosen))
    return "\n".join(parts) + "\n"


def latex_table(table: Table) -> str:
    """One table; the columns that hold nothing at all are left out."""
    keep = [k for k in range(len(table.columns)) if any(row[k].text for row in table.rows)]
    columns = [table.columns[k] for k in keep]
    lines = [
        r"\begin{table}[htbp]",
        r"\centering\small",
        rf"\caption{{{_caption(table)}}}",
        rf"\label{{tab:{re.sub(r'[^A-Za-z0-9]+', '-', table.name)}}}",
        rf"\begin{{tabular}}{{@{{}}{''.join('r' if c.numeric else 'l' for c in columns)}@{{}}}}",
        r"\toprule",
    ]
    if any(column.group for column in columns):
        lines += _groups([column.group for column in columns])
    lines.append(_line([escape(column.title.strip()) for column in columns]))
    lines.append(r"\midrule")
    lines += [_line([_cell(row[k]) for k in keep]) for row in table.rows]
    lines += [r"\bottomrule", r"\end{tabular}", r"\end{table}"]
    return "\n".join(lines)


def escape(text: str) -> str:
    """`text` as LaTeX prints it; characters without a known command are left out as ``?``."""
    flat = " ".join(text.split())
    return "".join(SPECIAL.get(c, c if c.isascii() or c.isalpha() else "?") for c in flat)


def _comment(text: str) -> str:
    return " ".join(text.split())


def _caption(table: Table) -> str:
    sentences = [
        text if "_" in text.partition(" ")[0] else text[:1].upper() + text[1:]
        for text in (table.title, *table.notes)
    ]
    return escape(". ".join(sentences)) + "."


def _groups(groups: list[str]) -> list[str]:
    """The heading of several columns, with a rule under each."""
    cells, rules, start = [], [], 0
    while start < len(groups):
        stop = start
        while stop < len(groups) and groups[stop] == groups[start]:
            stop += 1
        name = groups[start]
        cells.append(rf"\multicolumn{{{stop - start}}}{{c}}{{{escape(name)}}}" if name else "")
        cells += [] if name else [""] * (stop - start - 1)
        if name:
            rules.append(rf"\cmidrule(lr){{{start + 1}-{stop}}}")
        start = stop
    return [_line(cells), "".join(rules)]


def _cell(cell: Cell) -> str:
    text = escape(cell.text)
    # Figures as e-notation read badly in print.
    text = re.sub(
        r"^(\$-\$)?(\d\.\d+)e([+-])(\d+)$",
        lambda m: (
            f"${'-' if m[1] else ''}{m[2]}\\times10^{{{'-' if m[3] == '-' else ''}{int(m[4])}}}$"
        ),
        text,
    )
    if not text:
        return ""
    if cell.tone in ("best", "bad"):
        return rf"\textbf{{{text}}}"
    return rf"\textit{{{text}}}" if cell.tone == "published" else text


def _line(cells: list[str]) -> str:
    return rf"{' & '.join(cells)} \\"
