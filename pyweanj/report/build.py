"""From a `Joint` to the report that every format shows: a summary and tables, in order."""

from __future__ import annotations

from dataclasses import dataclass

from pyweanj.records import Joint
from pyweanj.report.check import check_tables, pair_table, proof_tables
from pyweanj.report.memory import memory_tables
from pyweanj.report.model import Names, Table
from pyweanj.report.problems import Line, headline, problem_table, summary
from pyweanj.report.quoted import Published
from pyweanj.report.timing import timing_tables

__all__ = ["Report", "build"]


@dataclass(frozen=True)
class Report:
    """What a person is shown of one run."""

    title: str
    headline: str
    """The verdict of the run in one line."""
    summary: tuple[Line, ...]
    tables: tuple[Table, ...]

    def of(self, *kinds: str) -> list[Table]:
        """The tables of `kinds`, in order."""
        return [table for table in self.tables if table.kind in kinds]


def build(
    joint: Joint,
    published: Published | None = None,
    *,
    explain: bool = False,
    every_pair: bool = False,
) -> Report:
    """The report of `joint`.

    Parameters
    ----------
    published
        Figures to show beside the measured ones, marked as published.
    explain
        With every proof of every case.
    every_pair
        With every pair, also of those that agree.
    """
    names = Names.of(joint.records)
    tables: list[Table | None] = [
        *check_tables(joint, names, published),
        pair_table(joint, names, every=every_pair),
        problem_table(joint, names),
        *(proof_tables(joint, names) if explain else []),
        *timing_tables(joint, names, published, "down"),
        *memory_tables(joint, names, published),
    ]
    return Report(
        joint.example,
        headline(joint, names),
        tuple(summary(joint, names)),
        tuple(table for table in tables if table is not None),
    )
