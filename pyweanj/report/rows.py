"""The joint table itself: one row a record, the figures that people look for first."""

from __future__ import annotations

from pyweanj.records import Joint, Record
from pyweanj.report import units
from pyweanj.report.check import error_cell, outcome_cell
from pyweanj.report.model import Cell, Column, Table, cell

__all__ = ["record_table"]

COLUMNS = (
    Column("system", numeric=False),
    Column("variant", numeric=False),
    Column("device", numeric=False),
    Column("dtype", numeric=False),
    Column("n"),
    Column("K"),
    Column("outcome", numeric=False),
    Column("loss"),
    Column("‖gradient‖", about="2-norm of the gradient"),
    Column("grad err", about="against the oracle: ‖gradient − oracle‖₂ / ‖oracle‖₂"),
    Column("forward", about="median time of one call of the loss"),
    Column("gradient", about="median time of one call of the gradient"),
    Column("start-up", about="start of the worker process until it answers"),
    Column("load", about="import of the AD system"),
    Column("compile", about="compilation of forward and gradient"),
    Column("first call", about="the first call after compilation"),
    Column("bridge", about="what the language bridge adds to one gradient call"),
    Column("threads", about="as read back from the worker"),
)


def record_table(joint: Joint) -> Table:
    """Every record."""
    rows = tuple(_row(record) for record in joint.records)
    return Table("records-all", "All records", COLUMNS, rows, (), "records")


def _row(record: Record) -> tuple[Cell, ...]:
    times = (record.forward_s, record.grad_s)
    phases = (
        record.startup_s,
        record.load_s,
        record.compile_s,
        record.first_call_s,
        record.bridge_s,
    )
    return (
        cell(record.system),
        cell(record.variant),
        cell(record.device),
        cell(record.dtype),
        cell(str(record.n), record.n),
        cell(str(record.K), record.K),
        outcome_cell(record),
        cell(units.loss(record.loss), record.loss),
        cell(units.norm(record.grad_norm), record.grad_norm),
        error_cell(record.oracle_grad_error, record.tolerance),
        *(cell(units.seconds(value), value) for value in (*times, *phases)),
        cell(units.MISSING if record.threads is None else str(record.threads), record.threads),
    )
