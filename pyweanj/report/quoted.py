"""Published figures of an example: shown beside measured ones, never as such."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pyweanj.example import Example, Size
from pyweanj.records import Case

__all__ = ["Published", "PublishedFigures", "published"]


class PublishedFigures(NamedTuple):
    """The published cost of one case: seconds, and bytes of one memory kind."""

    forward_s: float | None
    grad_s: float | None
    memory: int | None
    memory_kind: str


@dataclass(frozen=True)
class Published:
    """What ``published.json`` of an example holds."""

    dtype: str = "float64"
    check: Size | None = None
    loss: Mapping[str, float] = field(default_factory=dict)
    """By variant, at the check size."""
    grad_norm: Mapping[str, float] = field(default_factory=dict)
    fd_error: Mapping[tuple[str, str], float] = field(default_factory=dict)
    """By (system, variant), at the check size."""
    costs: Mapping[Case, PublishedFigures] = field(default_factory=dict)

    @classmethod
    def parse(cls, data: Mapping[str, Any], check: Size | None = None) -> Published:
        """From the parsed ``published.json``; unknown keys are left alone.

        Parameters
        ----------
        check
            The size that losses and norms were published for; they are not shown for another.

        Raises
        ------
        ValueError
            A record lacks what identifies it, or a figure is not a number.
        """
        checked = data.get("check", {})
        values = {k: v for k, v in checked.items() if isinstance(v, dict) and "loss" in v}
        try:
            return cls(
                dtype=str(data.get("dtype", "float64")).lower(),
                check=check,
                loss={k: float(v["loss"]) for k, v in values.items()},
                grad_norm={k: float(v["grad_norm"]) for k, v in values.items() if "grad_norm" in v},
                fd_error={
                    (system, variant): float(value)
                    for system, by_variant in checked.get("finite_differences", {}).items()
                    for variant, value in by_variant.items()
                },
                costs={_case(row): _figures(row) for row in data.get("records", [])},
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"published figures: {error!r}") from error

    def is_check(self, dtype: str, n: int, K: int) -> bool:
        """Whether `loss` and `grad_norm` were published for this dtype and size."""
        return dtype == self.dtype and self.check == (n, K)


def _case(row: Mapping[str, Any]) -> Case:
    return Case(
        row["system"], row["variant"], row["device"], str(row["dtype"]).lower(), row["n"], row["K"]
    )


def _figures(row: Mapping[str, Any]) -> PublishedFigures:
    kind = str(row.get("mem_kind") or row.get("peak_mem_kind") or "")
    if kind == "allocated":  # Julia's @allocated on the CPU, CUDA.@allocated on a GPU
        kind = "cuda_allocated" if row["device"] == "gpu" else "julia_allocated"
    return PublishedFigures(
        row.get("forward_s"), row.get("grad_s"), row.get("peak_mem_bytes"), kind
    )


def published(example: Example) -> Published | None:
    """The published figures of `example`; None where its data folder holds none.

    Raises
    ------
    ValueError
        The file is there, but is not JSON or does not hold published figures.
    """
    path = example.file.parent / "published.json"
    if not path.is_file():
        return None
    try:
        return Published.parse(json.loads(path.read_text(encoding="utf-8")), example.check)
    except (OSError, ValueError) as error:
        raise ValueError(f"{path}: no readable published figures ({error})") from error
