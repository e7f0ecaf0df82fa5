"""``report.html``: the whole report on one page that needs nothing else, not even a network."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from pyweanj.records import SCHEMA_VERSION, Case, Joint, Outcome, Record
from pyweanj.report.build import Report, build
from pyweanj.report.model import Table
from pyweanj.report.quoted import Published
from pyweanj.report.rows import record_table

__all__ = ["to_html"]


#: A column with more characters than this in a cell is wrapped.
LONG = 40


class _Drawing(NamedTuple):
    """A plot as the page shows it."""

    name: str
    title: str
    about: str
    svg: Any
    case: Case | None


@dataclass(frozen=True)
class _Section:
    """A section of the page; without tables and plots the template has its own form for it."""

    id: str
    title: str
    about: str = ""
    tables: list[dict[str, Any]] = field(default_factory=list)
    plots: list[_Drawing] = field(default_factory=list)


def to_html(joint: Joint, published: Published | None = None, folder: Path | None = None) -> str:
    """The page.

    Parameters
    ----------
    published
        Figures to show beside the measured ones, marked as published.
    folder
        Of the run: where gradients are, for the maps of wrong ones.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    loader = PackageLoader("pyweanj.report")
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True
    )
    report = build(joint, published, explain=True, every_pair=True)
    drawings = list(_drawings(joint, published, folder))
    wrong = [_wrong(r, report, drawings) for r in joint.records if _is_wrong(r)]
    shown = {f"proofs-{r.case.slug}" for r in joint.records if _is_wrong(r)}
    # The page's own files, not data: safe as they are.
    css, js = (
        Markup(loader.get_source(environment, name)[0]) for name in ("report.css", "report.js")
    )
    return environment.get_template("report.html.j2").render(
        css=css,
        js=js,
        example=joint.example,
        headline=report.headline,
        facts=list(_facts(joint)),
        summary=report.summary,
        sections=_sections(joint, report, drawings, has_wrong=bool(wrong)),
        tables={
            "check": [_table(t) for t in report.of("check")],
            "proofs": [_table(t) for t in report.of("proofs") if t.name not in shown],
        },
        wrong=wrong,
        environment=list(_flat(joint.environment)),
        version=(joint.environment.get("packages") or {}).get("pyweanj") or "",
        schema_version=SCHEMA_VERSION,
    )


def _drawings(joint: Joint, published: Published | None, folder: Path | None) -> Iterator[_Drawing]:
    from markupsafe import Markup

    from pyweanj.report.plots import plots
    from pyweanj.report.style import to_svg

    for plot in plots(joint, published, folder):
        # Matplotlib escapes the text that it writes into SVG.
        svg = Markup(to_svg(plot.figure, plot.name, plot.title, inline=True))
        yield _Drawing(plot.name, plot.title, plot.about, svg, plot.case)


def _is_wrong(record: Record) -> bool:
    return record.outcome is Outcome.MISMATCH or record.verdict == "wrong"


def _wrong(record: Record, report: Report, drawings: list[_Drawing]) -> dict[str, Any]:
    where = f"{record.dtype} · n = {record.n} · K = {record.K}"
    return {
        "title": f"{record.system} {record.variant} on {record.device} · {where}",
        "diagnosis": record.diagnosis,
        "message": record.message,
        "remedy": record.remedy,
        "log": record.log,
        "plots": [d for d in drawings if d.case == record.case],
        "tables": [
            _table(t) for t in report.of("proofs") if t.name == f"proofs-{record.case.slug}"
        ],
    }


def _sections(
    joint: Joint, report: Report, drawings: list[_Drawing], *, has_wrong: bool
) -> list[_Section]:
    def plots(*prefixes: str) -> list[_Drawing]:
        return [d for d in drawings if d.name.partition("-")[0] in prefixes]

    def tables(kind: str) -> list[dict[str, Any]]:
        return [_table(t) for t in report.of(kind)]

    found = [
        _Section("verdicts", "Verdicts"),
        *([_Section("wrong", "Wrong implementations")] if has_wrong else []),
        _Section("problems", "Not ok", tables=tables("problems")),
        _Section("pairs", "Agreement", tables=tables("pairs"), plots=plots("error")),
        _Section("time", "Time", tables=tables("timing"), plots=plots("time", "ratio")),
        _Section(
            "memory",
            "Memory",
            "Kinds of memory count different things: compare within a table, never across.",
            tables("memory"),
            plots("memory"),
        ),
        _Section("records", "All records", tables=[_table(record_table(joint))]),
        _Section("proofs", "All proofs"),
        _Section("environment", "Environment"),
    ]
    fixed = {"verdicts", "wrong", "proofs", "environment"}
    return [s for s in found if s.id in fixed or s.tables or s.plots]


def _table(table: Table) -> dict[str, Any]:
    """`table` as the template takes it.

    ``head`` is the column that names the row; the verdict comes right after it, where a
    narrow screen shows it.
    """
    order = list(range(len(table.columns)))
    named = [k for k in order if not table.columns[k].numeric and not table.columns[k].section]
    head = named[0] if named else 0
    if table.kind in ("check", "pairs"):
        order.insert(order.index(head) + 1, order.pop())
    return {
        "name": f"table-{table.name}",
        "title": table.title,
        "columns": [table.columns[k] for k in order],
        "rows": [[row[k] for k in order] for row in table.rows],
        "notes": table.notes,
        "head": order.index(head),
        "long": [max((len(row[k].text) for row in table.rows), default=0) > LONG for k in order],
    }


def _facts(joint: Joint) -> Iterator[str]:
    """What identifies the run, as far as it is known."""
    environment = joint.environment
    machine = environment.get("machine") or {}
    if environment.get("time"):
        yield str(environment["time"])
    if machine.get("cpu"):
        yield str(machine["cpu"])
    threads = sorted({r.threads for r in joint.records if r.threads is not None})
    if threads:
        yield f"threads: {', '.join(map(str, threads))}"
    yield f"{len(joint.records)} records, {len(joint.pairs)} pairs"
    if not joint.complete:
        yield "interrupted"


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Nested data as lines: the path of each value and its text."""
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _flat(item, f"{name}.{key}" if name else str(key))
    elif isinstance(value, (list, tuple)):
        yield name, ", ".join(map(str, value)) or "none"
    else:
        yield name, "unknown" if value is None else str(value)
