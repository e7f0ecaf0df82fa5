"""``pyweanj list``: examples, variants, systems, devices, and why one is unavailable."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

__all__ = ["list_", "systems_here"]


def list_(
    as_json: Annotated[bool, typer.Option("--json", help="Plain data on stdout.")] = False,
) -> int:
    """List the examples with their variants, and the systems with what each lacks here."""
    data = {"examples": _examples(), "systems": systems_here()}
    if as_json:
        print(json.dumps(data, indent=1, ensure_ascii=False))
        return 0
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    for example in data["examples"]:
        console.print(f"{example['name']}: {example['title']}", style="bold", markup=False)
        for variant in example["variants"]:
            console.print(f"  {variant['name']}: {variant['description']}", markup=False)
            console.print(f"    systems: {', '.join(variant['systems'])}", markup=False)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("system", "device", "here", "remedy"):
        table.add_column(heading, overflow="fold")
    for system in data["systems"]:
        here = "available" if system["available"] else f"unavailable: {system['reason']}"
        table.add_row(system["system"], system["device"], here, system["remedy"])
    console.print()
    console.print(table)
    return 0


def _examples() -> list[dict[str, Any]]:
    from pyweanj import catalogue

    return [
        {
            "name": example.name,
            "title": example.title,
            "check": example.check._asdict(),
            "dtypes": list(example.dtypes),
            "variants": [
                {"name": v.name, "description": v.description, "systems": list(v.systems)}
                for v in example.variants
            ],
        }
        for example in map(catalogue.load, catalogue.names())
    ]


def systems_here() -> list[dict[str, Any]]:
    """Every system and device with its availability on this machine."""
    from pyweanj import systems

    rows: list[dict[str, Any]] = []
    for name in systems.SYSTEMS:
        cls = systems.load(name)
        for device in cls.devices:
            found = cls.probe(device)
            rows.append(
                {
                    "system": name,
                    "device": device,
                    "available": found.available,
                    "reason": found.reason,
                    "remedy": found.remedy,
                }
            )
    return rows
