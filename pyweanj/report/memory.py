"""Tables of gradient memory: one for each kind, since kinds are never ranked together."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from pyweanj.measure import memory_growth
from pyweanj.measure.memory import KINDS, NOISE
from pyweanj.records import Case, Joint, Record
from pyweanj.report import units
from pyweanj.report.model import Cell, Column, Names, Table, cell
from pyweanj.report.quoted import Published

__all__ = ["Axis", "axes", "memory_kinds", "memory_of", "memory_tables"]


#: More sizes than this stand below each other.
MANY = 8


class Axis(NamedTuple):
    """Sizes along which memory is told: those of one K against n, or of one n against K."""

    along: str
    """``n`` or ``K``."""
    fixed: str
    """The other one, as ``K = 100``."""
    sizes: tuple[tuple[int, int], ...]
    """(n, K) of each."""

    def of(self, size: tuple[int, int]) -> int:
        """Where `size` lies on the axis."""
        return size[0] if self.along == "n" else size[1]


def memory_of(record: Record) -> dict[str, int]:
    """Bytes of one gradient by kind."""
    found = dict(record.memory)
    if record.peak_mem_bytes is not None and record.peak_mem_kind:
        found.setdefault(record.peak_mem_kind, record.peak_mem_bytes)
    return found


def memory_kinds(records: Iterable[Record]) -> list[str]:
    """The kinds that were measured, those that all systems share first."""
    kinds = {kind for record in records for kind in memory_of(record)}
    return sorted(kinds, key=lambda kind: (not kind.startswith("rss"), kind))


def axes(sizes: Iterable[tuple[int, int]]) -> list[Axis]:
    """Split (n, K) into sweeps over n at one K, and what is left into sweeps over K."""
    given = set(sizes)
    found, covered = [], set()
    for K in sorted({K for _, K in given}):
        along = sorted(s for s in given if s[1] == K)
        if len(along) > 1:
            found.append(Axis("n", f"K = {K}", tuple(along)))
            covered.update(along)
    for n in sorted({n for n, _ in given - covered}):
        found.append(Axis("K", f"n = {n}", tuple(sorted(s for s in given if s[0] == n))))
    return found


def memory_tables(joint: Joint, names: Names, published: Published | None) -> list[Table]:
    """For each dtype and kind: implementations against n, and against K."""
    tables = []
    for dtype in dict.fromkeys(r.dtype for r in joint.records):
        records = [r for r in joint.records if r.dtype == dtype]
        for kind in memory_kinds(records):
            having = [r for r in records if kind in memory_of(r)]
            for axis in axes((r.n, r.K) for r in having):
                title = f"Memory · {kind} · {dtype} · {axis.fixed}"
                name = re.sub(r"[^A-Za-z0-9]+", "-", title.lower())
                columns, rows = _rows(kind, axis, having, names, published)
                if len(axis.sizes) > MANY:
                    columns, rows = _turned(axis, columns, rows)
                about = f"{kind}: {KINDS.get(kind, 'bytes of one gradient')}"
                tables.append(Table(name, title, columns, tuple(rows), (about,), "memory"))
    return tables


def _rows(
    kind: str, axis: Axis, records: list[Record], names: Names, published: Published | None
) -> tuple[tuple[Column, ...], list[tuple[Cell, ...]]]:
    columns = [
        Column("computes", numeric=False, section=True),
        Column("implementation", numeric=False),
        *(Column(f"{axis.along} = {axis.of(size)}") for size in axis.sizes),
    ]
    growing = axis.along == "K" and len(axis.sizes) > 2
    if growing:
        columns.append(Column("growth", numeric=False, about="of the memory with K"))
    rows: list[tuple[Cell, ...]] = []
    for computes, name in dict.fromkeys((r.computes, names.record(r)) for r in records):
        mine = {(r.n, r.K): r for r in records if (r.computes, names.record(r)) == (computes, name)}
        if not mine.keys() & set(axis.sizes):
            continue
        found = {size: memory_of(mine[size])[kind] for size in axis.sizes if size in mine}
        cells = [cell(units.byte_size(found.get(s)), found.get(s)) for s in axis.sizes]
        extra = [_growth(kind, found)] if growing else []
        rows.append((cell(computes), cell(name), *cells, *extra))
        one = next(iter(mine.values()))
        quoted = [_quoted(published, one, kind, size) for size in axis.sizes]
        if any(q is not None for q in quoted):
            label = cell(f"{name} (published)", tone="published")
            shown = [cell(units.byte_size(q), q, "published") for q in quoted]
            rows.append((cell(computes), label, *shown, *([cell("")] if growing else [])))
    rows.sort(key=lambda row: row[0].text)
    return tuple(columns), rows


def _turned(
    axis: Axis, columns: tuple[Column, ...], rows: list[tuple[Cell, ...]]
) -> tuple[tuple[Column, ...], list[tuple[Cell, ...]]]:
    """The same with a row for each size and a column for each implementation."""
    names = list(dict.fromkeys(row[1].text for row in rows))
    found = {(row[0].text, row[1].text): row for row in rows}
    turned = []
    for computes in dict.fromkeys(row[0].text for row in rows):
        for k, size in enumerate(axis.sizes, start=2):
            mine = [found.get((computes, name)) for name in names]
            cells = [cell("") if row is None else row[k] for row in mine]
            turned.append((cell(computes), cell(str(axis.of(size)), axis.of(size)), *cells))
    head = (columns[0], Column(axis.along), *(Column(name) for name in names))
    return head, turned


def _growth(kind: str, found: dict[tuple[int, int], int]) -> Cell:
    growth = memory_growth([K for _, K in found], list(found.values()), noise=NOISE.get(kind, 0))
    if growth is None:
        return cell(units.MISSING)
    if growth.verdict == "linear":
        text = f"linear, {units.byte_size(round(growth.per_step))} a step"
        return cell(text, "linear", "warn")
    return cell(growth.verdict, growth.verdict, "good" if growth.verdict == "flat" else "warn")


def _quoted(
    published: Published | None, record: Record, kind: str, size: tuple[int, int]
) -> int | None:
    if published is None:
        return None
    case = Case(record.system, record.variant, record.device, record.dtype, *size)
    found = published.costs.get(case)
    return found.memory if found is not None and found.memory_kind == kind else None
