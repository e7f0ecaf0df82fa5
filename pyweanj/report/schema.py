"""``docs/schema.md``, generated from `pyweanj.records`: ``python -m pyweanj.report.schema``."""

from __future__ import annotations

import json
import sys
from typing import Any

from pyweanj.records import SCHEMA_VERSION, Figure, Joint, Outcome, Pair, Record

__all__ = ["schema_markdown"]

INTRODUCTION = """\
# The unified schema

Version {version}. This page is generated from `pyweanj/records.py`
(`python -m pyweanj.report.schema > docs/schema.md`); do not edit it.

A run's `joint.json` holds one [Joint](#joint). `records.jsonl` holds one [Record](#record) a
line, `joint.csv` one a row with the same names. Missing is null (in CSV: nothing), never 0.
JSON has no NaN and no infinity: such a figure is the string `"NaN"`, `"Infinity"` or
`"-Infinity"`. Times are in seconds, memory in bytes. `pyweanj.records.json_schema()` gives the
same as a JSON Schema; fields that it does not name are refused.

## Outcomes

| outcome | how the case ended |
| --- | --- |
{outcomes}
"""

OUTCOMES = {
    Outcome.OK: "it ran, and nothing speaks against it",
    Outcome.MISMATCH: "it ran, and its loss, gradient, dtype or inputs are not those they must be",
    Outcome.UNSUPPORTED: "the system has no implementation of this variant",
    Outcome.UNAVAILABLE: "the system cannot run on this machine; `remedy` says what is missing",
    Outcome.COMPILE_ERROR: "it could not be compiled or differentiated",
    Outcome.RUNTIME_ERROR: "it raised an error while it ran",
    Outcome.TIMEOUT: "no answer within the time allowed; its worker was ended",
    Outcome.CRASHED: "its worker process died; `exit_status` has the signal",
    Outcome.SKIPPED: "not run, since it was predicted to exceed the budget or the run was stopped",
}

MODELS = (Joint, Record, Pair, Figure)


def schema_markdown() -> str:
    """The text of ``docs/schema.md``."""
    outcomes = "\n".join(f"| `{outcome.value}` | {OUTCOMES[outcome]} |" for outcome in Outcome)
    parts = [INTRODUCTION.format(version=SCHEMA_VERSION, outcomes=outcomes)]
    parts += [_model(model.model_json_schema()) for model in MODELS]
    return "\n".join(parts)


def _model(schema: dict[str, Any]) -> str:
    lines = [f"## {schema['title']}", "", schema["description"].replace("``", "`"), ""]
    lines += ["| field | type | what it holds |", "| --- | --- | --- |"]
    required = set(schema.get("required", []))
    for name, field in schema["properties"].items():
        about = " ".join(field.get("description", "").split()).replace("``", "`")
        optional = "" if name in required or "default" not in field else _default(field)
        lines.append(f"| `{name}` | {_type(field)}{optional} | {_escape(about)} |")
    return "\n".join(lines) + "\n"


def _default(field: dict[str, Any]) -> str:
    """What a missing field reads as, where that is not null."""
    value = field["default"]
    return "" if value is None or "const" in field else f" (default `{json.dumps(value)}`)"


def _type(field: dict[str, Any]) -> str:
    """The type of a field in words."""
    if "$ref" in field:
        name = field["$ref"].rsplit("/", 1)[-1]
        return f"[{name}](#{'outcomes' if name == 'Outcome' else name.lower()})"
    if "const" in field:
        return f"`{field['const']!r}`"
    if "enum" in field:
        return " or ".join(f"`{value}`" for value in field["enum"])
    if "anyOf" in field:
        return " or ".join(_type(option) for option in field["anyOf"])
    match field.get("type"):
        case "array" if "prefixItems" in field:
            return f"[{', '.join(_type(item) for item in field['prefixItems'])}]"
        case "array":
            return f"list of {_type(field.get('items', {}))}"
        case "object":
            values = field.get("additionalProperties")
            return f"object of {_type(values)}" if isinstance(values, dict) else "object"
        case "number":
            return "number ≥ 0" if field.get("minimum") == 0 else "number"
        case "integer":
            return "integer ≥ 0" if field.get("minimum") == 0 else "integer"
        case None:
            return "anything"
        case other:
            return str(other)


def _escape(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    sys.stdout.write(schema_markdown())
