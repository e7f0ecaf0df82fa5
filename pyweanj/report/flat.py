"""The formats for programs: JSON as stored, and CSV with one row a record."""

from __future__ import annotations

import csv
import json
import math
from enum import Enum
from io import StringIO
from typing import Any

from pyweanj.records import Joint, Record

__all__ = ["to_csv", "to_json"]


def to_json(joint: Joint) -> str:
    """The text of ``joint.json``: what `Joint.model_validate_json` reads back."""
    return joint.model_dump_json(indent=1) + "\n"


def to_csv(joint: Joint) -> str:
    """One row a record, one column a field; lists and mappings as JSON text, null as nothing."""
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    fields = list(Record.model_fields)
    writer.writerow(fields)
    for record in joint.records:
        values = record.model_dump()
        writer.writerow([_field(values[name]) for name in fields])
    return out.getvalue()


def _field(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, (list, tuple, dict)):
        return json.dumps(_plain(value), separators=(",", ":"), allow_nan=False)
    return str(value)


def _plain(value: Any) -> Any:
    """`value` with figures that JSON has no number for as strings, as in ``joint.json``."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value
