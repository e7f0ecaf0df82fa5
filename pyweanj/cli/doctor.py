"""``pyweanj doctor``: every part found, its version, and the remedy for what is missing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["doctor"]


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Plain data on stdout.")] = False,
    no_start: Annotated[
        bool, typer.Option("--no-start", help="Look at files only; start no system.")
    ] = False,
) -> int:
    """Look at every part that a comparison needs: its version, or the remedy if it is missing.

    Each system that is there is started as a run would start it, and says what it found:
    threads, switches, devices.
    """
    from pyweanj import environment, julia_setup
    from pyweanj.cli.listing import systems_here

    data: dict[str, Any] = {
        "environment": environment.describe(),
        "julia": {**julia_setup.show(), "versions": julia_setup.versions()},
        "nvidia_driver": environment.nvidia_driver(),
        "systems": systems_here(),
    }
    if not no_start:
        _start(data["systems"])
    if as_json:
        print(json.dumps(data, indent=1, ensure_ascii=False))
    else:
        from rich.console import Console

        _print(data, Console(highlight=False))
    return 0


def _start(rows: list[dict[str, Any]]) -> None:
    """Start each system that should be there, and add what it says of itself to its row."""
    import tempfile
    from pathlib import Path

    from pyweanj.measure import machine
    from pyweanj.run.process import WorkerError
    from pyweanj.run.workers import Workers

    cores = tuple(machine.choose_cores(1) or ())
    with tempfile.TemporaryDirectory() as folder:
        workers = Workers(Path(folder), threads=1, cores=cores, timeout=600.0)
        try:
            for row in rows:
                if not row["available"]:
                    continue
                try:
                    started = workers.get(row["system"], row["device"])
                except WorkerError as error:
                    row.update(available=False, reason=error.message, remedy=error.remedy)
                    continue
                row["startup_s"] = started.process.startup_s
                row["load_s"] = started.load_s
                row["affinity"] = started.said["affinity"]
                row["settings"] = started.said["settings"]
                row["versions"] = started.said["versions"]
        finally:
            workers.close(at_once=True)


def _print(data: dict[str, Any], console: Console) -> None:
    def line(text: str, style: str | None = None) -> None:
        console.print(text, style=style, markup=False, soft_wrap=True)

    about, julia = data["environment"], data["julia"]
    line(f"Python {about['python']} on {about['platform']}")
    for name, version in about["packages"].items():
        line(f"  {name:18} {version or 'not installed'}")
    line("Julia side")
    if julia["reason"]:
        line(f"  {julia['reason']}")
    else:
        line(f"  {julia['exe']} with {julia['project']} (chosen by {julia['source']})")
    for name, version in julia["versions"].items():
        line(f"  {name:18} {version or 'not found'}")
    line(f"NVIDIA driver: {data['nvidia_driver'] or 'none found'}")
    for row in data["systems"]:
        title = f"{row['system']} on {row['device']}"
        if not row["available"]:
            line(f"✗ {title}: {row['reason']}", "yellow")
            if row["remedy"]:
                line(f"    remedy: {row['remedy']}")
            continue
        line(f"✓ {title}", "green")
        if "settings" in row:
            line(f"    start {row['startup_s']:.1f} s, load {row['load_s']:.1f} s")
            found = {**row["settings"], "cores": row["affinity"]}
            line("    " + ", ".join(f"{key} = {value}" for key, value in found.items()))
