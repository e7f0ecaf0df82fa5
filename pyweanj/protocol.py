"""The messages between `compare` and its workers: one JSON object a line, over two pipes.

A request is ``{"do": VERB, …}``; the reply is ``{"ok": {…}}`` or ``{"error": {"outcome",
"message", "remedy"}}``.  Only paths, names and numbers cross.  Numbers that JSON cannot
hold travel as the strings ``"NaN"``, ``"Infinity"`` and ``"-Infinity"``.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from pyweanj.example import Problem, Size, Variant

__all__ = ["decode", "encode", "problem_from_json", "problem_to_json"]

_SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def encode(message: dict[str, Any]) -> bytes:
    """One line, newline included."""
    return json.dumps(_outward(message), allow_nan=False).encode() + b"\n"


def decode(line: bytes) -> dict[str, Any]:
    """The message of one line; raises ValueError where it is not a JSON object."""
    message = json.loads(line)
    if not isinstance(message, dict):
        raise ValueError(f"not a message: {line[:80]!r}")
    return _inward(message)


def problem_to_json(problem: Problem, example: str) -> dict[str, Any]:
    """`problem` as plain data; `example` is what `catalogue.load` finds its Example by."""
    variant = problem.variant
    return {
        "example": example,
        "folder": str(problem.folder),
        "variant": {
            "name": variant.name,
            "loss": variant.loss,
            "systems": list(variant.systems),
            "gradients": dict(variant.gradients),
            "computes": variant.computes,
        },
        "arguments": list(problem.arguments),
        "differentiate": list(problem.differentiate),
        "n": problem.size.n,
        "K": problem.size.K,
        "dtype": problem.dtype,
        "inputs": str(problem.inputs),
        "first_call": problem.first_call,
    }


def problem_from_json(data: dict[str, Any]) -> Problem:
    """The inverse of `problem_to_json`, without the Example."""
    variant = dict(data["variant"])
    variant["systems"] = tuple(variant["systems"])
    return Problem(
        folder=Path(data["folder"]),
        variant=Variant(**variant),
        arguments=tuple(data["arguments"]),
        differentiate=tuple(data["differentiate"]),
        size=Size(data["n"], data["K"]),
        dtype=data["dtype"],
        inputs=Path(data["inputs"]),
        first_call=data["first_call"],
    )


def _outward(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(k): _outward(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_outward(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def _inward(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _inward(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_inward(v) for v in value]
    return _SPECIAL.get(value, value) if isinstance(value, str) else value
