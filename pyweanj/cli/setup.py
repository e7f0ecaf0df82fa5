"""``pyweanj setup``: install Julia, choose one that is there, show or forget the choice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from pyweanj.errors import UsageError

__all__ = ["setup"]


def setup(
    julia: Annotated[Path | None, typer.Option(help="A Julia executable to use.")] = None,
    project: Annotated[Path | None, typer.Option(help="Its project with the packages.")] = None,
    cuda: Annotated[bool, typer.Option("--cuda", help="Install CUDA.jl, too.")] = False,
    show: Annotated[
        bool, typer.Option("--show", help="Show the Julia in use; change nothing.")
    ] = False,
    reset: Annotated[bool, typer.Option("--reset", help="Forget the stored choice.")] = False,
    test: Annotated[bool, typer.Option("--test", help="Run WEANJ's own tests.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Plain data on stdout.")] = False,
) -> int:
    """Set Julia up for the system `enzyme`; without options, install it and the pinned packages.

    With --julia and --project a Julia that is there is tried at once and, if it works, used
    by every command from then on.  PYTHON_JULIACALL_EXE and PYTHON_JULIACALL_PROJECT still win.
    """
    from pyweanj import julia_setup
    from pyweanj.systems import UnavailableError

    if (julia is None) != (project is None):
        raise UsageError("--julia and --project go together; give both")
    if sum([julia is not None, show, reset, test]) > 1:
        raise UsageError("give one of --julia with --project, --show, --reset, --test")
    if show:
        shown = {**julia_setup.show(), "versions": julia_setup.versions()}
        typer.echo(json.dumps(shown, indent=1) if as_json else _text(shown))
        return 0
    if reset:
        typer.echo("forgotten" if julia_setup.reset() else "no choice was stored")
        return 0
    try:
        if test:
            return julia_setup.run_tests()
        if julia is not None and project is not None:
            found = julia_setup.configure(julia, project, _say)
        else:
            found = julia_setup.install(cuda, _say)
    except UnavailableError as error:
        remedy = f"; {error.remedy}" if error.remedy else ""
        raise UsageError(f"{error}{remedy}") from error
    if as_json:
        typer.echo(json.dumps(found, indent=1))
    else:
        versions = ", ".join(f"{name} {version}" for name, version in found["versions"].items())
        typer.echo(f"ready: {versions}")
    return 0


def _say(line: str) -> None:
    typer.echo(line, err=True)


def _text(shown: dict[str, object]) -> str:
    if shown["reason"]:
        return f"no Julia: {shown['reason']}"
    versions = shown["versions"]
    assert isinstance(versions, dict)
    lines = [f"{shown['exe']} with {shown['project']}", f"  chosen by {shown['source']}"]
    lines += [f"  {name:18} {version}" for name, version in versions.items() if version]
    return "\n".join(lines)
