"""``pyweanj report``: render a stored run again; ``pyweanj diff``: hold two runs side by side."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pyweanj.errors import UsageError, unknown

if TYPE_CHECKING:
    from pyweanj.report import Published

__all__ = ["diff", "report"]

RunFolder = Annotated[Path, typer.Argument(help="Folder of a run, or its joint.json.")]


def report(
    run: RunFolder,
    format_: Annotated[
        str,
        typer.Option(
            "--format", "-f", help="table, json, csv, markdown, latex or html, on stdout."
        ),
    ] = "table",
    explain: Annotated[bool, typer.Option("--explain", help="Show every proof.")] = False,
    picture: Annotated[
        Path | None, typer.Option(help="Also write the table as a picture (SVG) to this file.")
    ] = None,
    plots: Annotated[
        Path | None, typer.Option(help="Also write every plot, as SVG and PNG, into this folder.")
    ] = None,
) -> int:
    """Render a stored run again."""
    from rich.console import Console

    from pyweanj import report as reports
    from pyweanj.store import read_joint

    if format_ not in reports.FORMATS:
        raise unknown("format", format_, reports.FORMATS)
    joint = read_joint(run)
    folder = run if run.is_dir() else run.parent
    published = _published(joint.example)
    if format_ == "table":
        reports.print_table(joint, Console(highlight=False), published, explain=explain)
    else:
        text = reports.render(joint, format_, published=published, folder=folder)
        sys.stdout.write(text)
    if picture is not None:
        picture.write_text(reports.to_picture(joint, published), encoding="utf-8")
        typer.echo(str(picture), err=True)
    if plots is not None:
        for path in reports.save_plots(joint, plots, published, folder):
            typer.echo(str(path), err=True)
    return 0


def diff(
    before: Annotated[Path, typer.Argument(help="The earlier run: its folder, or joint.json.")],
    after: Annotated[Path, typer.Argument(help="The later run.")],
    threshold: Annotated[
        float, typer.Option(min=0, help="Slower or larger by more than this share is a regression.")
    ] = 0.1,
    across_machines: Annotated[
        bool, typer.Option("--across-machines", help="Compare times of different machines, too.")
    ] = False,
    format_: Annotated[
        str, typer.Option("--format", "-f", help="table, markdown or json, on stdout.")
    ] = "table",
) -> int:
    """What changed from one run to another: verdicts, errors, times, memory, versions.

    Exit status 1 where anything got worse.
    """
    from rich.console import Console

    from pyweanj import report as reports
    from pyweanj.store import read_joint

    formats = ("table", "markdown", "json")
    if format_ not in formats:
        raise unknown("format", format_, formats)
    one, two = read_joint(before), read_joint(after)
    if one.example != two.example:
        raise UsageError(f"{before} is a run of {one.example}, {after} one of {two.example}")
    found = reports.diff(one, two, threshold, across_machines)
    if format_ == "table":
        reports.print_difference(found, Console(highlight=False))
    elif format_ == "markdown":
        sys.stdout.write(reports.difference_to_markdown(found))
    else:
        sys.stdout.write(reports.difference_to_json(found))
    return 1 if found.regression else 0


def _published(example: str) -> Published | None:
    """The published figures of an installed example; None for any other."""
    from pyweanj import catalogue
    from pyweanj import report as reports

    if example not in catalogue.names():
        return None
    return reports.published(catalogue.load(example))
