"""What every format is made from: a `Report` of `Table`s of `Cell`s, and the names in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from pyweanj.records import Joint, Pair, Record

__all__ = ["Cell", "Column", "Group", "Names", "Table", "Tone", "cell", "groups", "shortened"]

Tone = Literal["", "good", "bad", "warn", "best", "muted", "published"]
"""What a cell means, beside its text; never said by the tone alone."""


@dataclass(frozen=True)
class Cell:
    """One cell: its text, its sort key and its meaning."""

    text: str
    value: float | str | None = None
    tone: Tone = ""
    note: str = ""
    """More of the same, for formats that can show it on demand."""


def cell(text: str, value: float | str | None = None, tone: Tone = "", note: str = "") -> Cell:
    """A `Cell`; what is missing is muted unless it has a tone."""
    return Cell(text, value, tone or ("muted" if text == "–" else ""), note)


@dataclass(frozen=True)
class Column:
    """One column: `group` is the heading that it shares with its neighbours."""

    title: str
    group: str = ""
    numeric: bool = True
    wide: bool = False
    """Left out where there is little room."""
    about: str = ""
    """What the column holds, in a sentence."""
    section: bool = False
    """Its values head sections of the table, where a format can show that."""


@dataclass(frozen=True)
class Table:
    """One table of the report."""

    name: str
    """Letters, digits and hyphens; unique in a report."""
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    kind: Literal["check", "pairs", "timing", "memory", "problems", "proofs", "records"] = "check"

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"{self.name}: {len(row)} cells for {len(self.columns)} columns")

    def narrow(self) -> Table:
        """The same without the columns that need room."""
        keep = [k for k, column in enumerate(self.columns) if not column.wide]
        return Table(
            self.name,
            self.title,
            tuple(self.columns[k] for k in keep),
            tuple(tuple(row[k] for k in keep) for row in self.rows),
            self.notes,
            self.kind,
        )


class Group(NamedTuple):
    """Implementations that must agree: the same mathematics, dtype and size."""

    computes: str
    dtype: str
    n: int
    K: int

    @classmethod
    def of(cls, row: Record | Pair) -> Group:
        """The group that a record or a pair belongs to."""
        return cls(row.computes, row.dtype, row.n, row.K)

    def __str__(self) -> str:
        return f"{self.computes} · {self.dtype} · n = {self.n} · K = {self.K}"


@dataclass(frozen=True)
class Names:
    """Short names of implementations: only what tells them apart in this run."""

    devices: frozenset[str]
    computes: dict[str, str] = field(default_factory=dict)
    """By variant."""

    @classmethod
    def of(cls, records: Sequence[Record]) -> Names:
        """The names of the implementations in `records`."""
        return cls(frozenset(r.device for r in records), {r.variant: r.computes for r in records})

    def short(self, system: str, variant: str, device: str) -> str:
        """``jax``, ``jax hyperplane``, ``jax gpu``: within the group of `variant`."""
        computes = self.computes.get(variant, variant)
        extra = "" if variant == computes else variant.removeprefix(f"{computes}-")
        shown = device if self.devices - {"cpu"} else ""
        return " ".join(part for part in (system, extra, shown) if part)

    def record(self, record: Record) -> str:
        """The short name of the implementation of `record`."""
        return self.short(record.system, record.variant, record.device)

    def full(self, record: Record) -> str:
        """The name that also tells the variant: ``jax lexicographic``."""
        shown = record.device if self.devices - {"cpu"} else ""
        return " ".join(part for part in (record.system, record.variant, shown) if part)

    def side(self, side: str) -> str:
        """The short name of one side of a pair (``system/variant/device``)."""
        parts = side.split("/")
        return self.short(*parts) if len(parts) == 3 else side


def groups(joint: Joint) -> list[Group]:
    """The groups that were checked, in the order in which they first appear.

    The oracle is asked at every timing size too; alone it makes no group.
    """
    checked = [r for r in joint.records if "check" in r.tasks]
    others = [r for r in checked if r.system != "oracle"]
    return list(dict.fromkeys(Group.of(r) for r in others or checked))


def shortened(text: str, limit: int = 300) -> str:
    """`text` on one line, cut where it is longer than `limit` characters."""
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else f"{flat[: limit - 2].rstrip()} …"
