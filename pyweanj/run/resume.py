"""What an earlier, interrupted run found and need not be found again."""

from __future__ import annotations

from pyweanj.records import FAILURES, Outcome, Pair, Record
from pyweanj.run.group import INTERRUPTED
from pyweanj.run.plan import GroupKey, Planned, group_key, groups
from pyweanj.store import Run

__all__ = ["kept_groups"]

#: A case that ended so may end better when it is run again.
AGAIN = frozenset(FAILURES - {Outcome.MISMATCH}) | {Outcome.UNAVAILABLE}


def kept_groups(
    planned: tuple[Planned, ...], run: Run
) -> dict[GroupKey, tuple[list[Record], list[Pair]]]:
    """Records and pairs of the groups whose cases all ended, and not in a worker's failure.

    A group is kept whole or not at all, since its samples were taken in turns.
    """
    records = {record.case: record for record in run.records()}
    pairs = run.pairs()
    kept = {}
    for key, members in groups(planned).items():
        found = [records[p.case] for p in members if p.case in records]
        if len(found) == len(members) and not any(map(_unfinished, found)):
            kept[key] = (
                found,
                [p for p in pairs if group_key(p.computes, p.dtype, p.n, p.K) == key],
            )
    return kept


def _unfinished(record: Record) -> bool:
    interrupted = record.outcome is Outcome.SKIPPED and record.message == INTERRUPTED
    return interrupted or record.outcome in AGAIN
