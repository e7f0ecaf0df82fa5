"""Tables of time against n, with the fastest gradient marked."""

from __future__ import annotations

from typing import Literal, NamedTuple

from pyweanj.measure import Ratio, growth_exponent
from pyweanj.records import FAILURES, Joint, Outcome, Record
from pyweanj.report import units
from pyweanj.report.check import error_cell
from pyweanj.report.model import Cell, Column, Names, Table, Tone, cell
from pyweanj.report.paired import paired
from pyweanj.report.quoted import Published, PublishedFigures

__all__ = ["Layout", "timed", "timing_tables"]

Layout = Literal["across", "down"]
"""Implementations side by side as columns, or below each other as rows."""

# Nothing was tried there; the reason stands once, under "not ok".
ABSENT = frozenset({Outcome.UNAVAILABLE, Outcome.UNSUPPORTED})

MEDIANS = "ratio of the medians"
INTERVAL = "half-width of the 95 % interval of the median"

DOWN = (
    Column("n"),
    Column("implementation", numeric=False),
    Column("forward", about="median time of one call of the loss"),
    Column("±", wide=True, about=INTERVAL),
    Column("gradient", about="median time of one call of the gradient"),
    Column("± ", about=INTERVAL),
    Column("grad÷fwd", about="gradient time over forward time"),
    Column("× best", about="gradient time over the least at this n (★); ≈: no clear difference"),
    Column("compile", wide=True, about="compilation of forward and gradient"),
    Column("grad err", wide=True, about="against the oracle: ‖gradient − oracle‖₂ / ‖oracle‖₂"),
)


class _Sweep(NamedTuple):
    """Timed cases that stand in one table."""

    computes: str
    dtype: str
    K: int

    def __str__(self) -> str:
        return f"Time · {self.computes} · {self.dtype} · K = {self.K}"


class _Context(NamedTuple):
    names: Names
    published: Published | None

    def quoted(self, record: Record) -> PublishedFigures | None:
        """The published times of the case of `record`."""
        found = self.published.costs.get(record.case) if self.published is not None else None
        return None if found is None or found.forward_s is found.grad_s is None else found


def timed(joint: Joint) -> dict[_Sweep, list[Record]]:
    """Records with times or the failure to get them, by what they may be ranked with."""
    sweeps: dict[_Sweep, list[Record]] = {}
    for record in joint.records:
        if "time" in record.tasks and record.outcome not in ABSENT:
            sweep = _Sweep(record.computes, record.dtype, record.K)
            sweeps.setdefault(sweep, []).append(record)
    return {
        sweep: records
        for sweep, records in sweeps.items()
        if any(r.grad_s is not None or r.forward_s is not None for r in records)
    }


def timing_tables(
    joint: Joint, names: Names, published: Published | None, layout: Layout
) -> list[Table]:
    """One table for each mathematics, dtype and K, in the layout that is asked for."""
    context = _Context(names, published)
    build = _across if layout == "across" else _down
    tables = []
    for sweep, records in timed(joint).items():
        columns, rows = build(records, context)
        name = f"time-{sweep.computes}-{sweep.dtype}-K{sweep.K}"
        notes = tuple(_notes(records, names))
        tables.append(Table(name, str(sweep), columns, tuple(rows), notes, "timing"))
    return tables


def _down(
    records: list[Record], context: _Context
) -> tuple[tuple[Column, ...], list[tuple[Cell, ...]]]:
    rows: list[tuple[Cell, ...]] = []
    for n in sorted({r.n for r in records}):
        here = [r for r in records if r.n == n]
        best = _best(here)
        for record in here:
            rows.append(_measured_row(record, best, context.names))
            found = context.quoted(record)
            if found is not None:
                rows.append(_published_row(record, found, context.names))
    return DOWN, rows


def _best(records: list[Record]) -> Record | None:
    """The record with the fastest gradient among those that are not known to be wrong."""
    found = [r for r in records if r.grad_s is not None and not _unranked(r)]
    return min(found, key=lambda r: r.grad_s or 0.0, default=None)


def _unranked(record: Record) -> bool:
    return record.outcome is not Outcome.OK or record.verdict == "wrong"


def _measured_row(record: Record, best: Record | None, names: Names) -> tuple[Cell, ...]:
    return (
        cell(str(record.n), record.n),
        cell(names.record(record)),
        cell(units.seconds(record.forward_s), record.forward_s, note=_range(record.forward_ci)),
        cell(units.half_width(record.forward_s, record.forward_ci)),
        _gradient(record, best),
        cell(units.half_width(record.grad_s, record.grad_ci)),
        _ratio(record),
        _against_best(record, best),
        cell(units.seconds(record.compile_s), record.compile_s),
        error_cell(record.oracle_grad_error, record.tolerance),
    )


def _published_row(record: Record, found: PublishedFigures, names: Names) -> tuple[Cell, ...]:
    shown = {
        "n": cell(str(record.n), record.n, "published"),
        "implementation": cell(f"{names.record(record)} (published)", tone="published"),
        "forward": cell(units.seconds(found.forward_s), found.forward_s, "published"),
        "gradient": cell(units.seconds(found.grad_s), found.grad_s, "published"),
        "grad÷fwd": _of_medians(found.grad_s, found.forward_s, "published"),
    }
    return tuple(shown.get(column.title, cell("")) for column in DOWN)


def _gradient(record: Record, best: Record | None) -> Cell:
    if record.grad_s is None and record.outcome is not Outcome.OK:
        tone: Tone = "bad" if record.outcome in FAILURES else "muted"
        words = record.outcome.value.replace("_", " ")
        return cell(words, None, tone, record.message)
    tone = "best" if record is best else "bad" if _unranked(record) else ""
    return cell(units.seconds(record.grad_s), record.grad_s, tone, _range(record.grad_ci))


def _against_best(record: Record, best: Record | None) -> Cell:
    if best is None or record.grad_s is None or not best.grad_s:
        return cell(units.MISSING)
    if record is best:
        return cell("★ 1", 1.0, "best", "the least gradient time at this n")
    if _unranked(record):
        return cell("✗ wrong", None, "bad", "a wrong gradient is not ranked")
    found = paired(record.grad_samples, best.grad_samples)
    if found is None:
        value = record.grad_s / best.grad_s
        return cell(units.multiple(value), value, note=MEDIANS)
    clear = found.verdict in ("slower", "faster")
    note = f"{found.verdict}; 95 % interval {_bounds(found)}"
    return cell(f"{'' if clear else '≈ '}{units.multiple(found.value)}", found.value, note=note)


def _ratio(record: Record) -> Cell:
    found = paired(record.grad_samples, record.forward_samples)
    if found is None:
        return _of_medians(record.grad_s, record.forward_s, note=MEDIANS)
    return cell(units.multiple(found.value), found.value, note=f"95 % interval {_bounds(found)}")


def _of_medians(
    gradient: float | None, forward: float | None, tone: Tone = "", note: str = ""
) -> Cell:
    value = gradient / forward if gradient is not None and forward else None
    return cell(units.multiple(value), value, tone, note if value is not None else "")


def _bounds(found: Ratio) -> str:
    return f"{units.multiple(found.low)} to {units.multiple(found.high)}"


def _range(interval: tuple[float, float] | None) -> str:
    if interval is None:
        return ""
    return f"95 % interval {units.seconds(interval[0])} to {units.seconds(interval[1])}"


def _across(
    records: list[Record], context: _Context
) -> tuple[tuple[Column, ...], list[tuple[Cell, ...]]]:
    implementations = list(dict.fromkeys(context.names.record(r) for r in records))
    columns = [Column("n")]
    for name in implementations:
        columns += [
            Column("forward", name),
            Column("gradient", name),
            Column("±", name, wide=True, about=INTERVAL),
            Column("÷", name, about="gradient time over forward time"),
        ]
    rows: list[tuple[Cell, ...]] = []
    for n in sorted({r.n for r in records}):
        here = {context.names.record(r): r for r in records if r.n == n}
        best = _best(list(here.values()))
        measured, quoted = [cell(str(n), n)], [cell("published", n, "published")]
        for name in implementations:
            record = here.get(name)
            found = None if record is None else context.quoted(record)
            measured += [cell("")] * 4 if record is None else _measured_four(record, best)
            quoted += [cell("")] * 4 if found is None else _published_four(found)
        rows.append(tuple(measured))
        if any(c.text for c in quoted[1:]):
            rows.append(tuple(quoted))
    return tuple(columns), rows


def _measured_four(record: Record, best: Record | None) -> list[Cell]:
    gradient = _gradient(record, best)
    if record is best:
        gradient = cell(f"★ {gradient.text}", gradient.value, "best", gradient.note)
    elif _unranked(record) and record.grad_s is not None:
        gradient = cell(f"✗ {gradient.text}", gradient.value, "bad", "a wrong gradient")
    return [
        cell(units.seconds(record.forward_s), record.forward_s, note=_range(record.forward_ci)),
        gradient,
        cell(units.half_width(record.grad_s, record.grad_ci)),
        _ratio(record),
    ]


def _published_four(found: PublishedFigures) -> list[Cell]:
    return [
        cell(units.seconds(found.forward_s), found.forward_s, "published"),
        cell(units.seconds(found.grad_s), found.grad_s, "published"),
        cell(""),
        _of_medians(found.grad_s, found.forward_s, "published"),
    ]


def _notes(records: list[Record], names: Names) -> list[str]:
    """How wide the intervals are, and how the gradient's time grows with n."""
    notes = ["★ is the fastest right gradient of its n"]
    widths = [
        max(r.grad_ci[1] - r.grad_s, r.grad_s - r.grad_ci[0]) / r.grad_s
        for r in records
        if r.grad_ci is not None and r.grad_s
    ]
    if widths:
        notes.append(f"widest interval of a gradient: ±{100 * max(widths):.1f} %")
    grown = []
    for name in dict.fromkeys(names.record(r) for r in records):
        mine = [r for r in records if names.record(r) == name and r.grad_s]
        growth = growth_exponent([r.n for r in mine], [r.grad_s for r in mine if r.grad_s])
        if growth is not None and len(growth.sizes) > 2:
            grown.append(f"{name} {growth.exponent:.2f}")
    if grown:
        notes.append(f"growth of the gradient's time, exponent of n: {', '.join(grown)}")
    return notes
