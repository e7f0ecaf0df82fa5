"""``pyweanj compare``: run an example on every system and print the joint table."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from pyweanj.errors import UsageError, unknown

__all__ = ["compare"]

PRESETS = ("default", "quick", "seeds")

Many = list[str]


def _option(help_: str, *names: str) -> typer.models.OptionInfo:
    return typer.Option(*names, help=help_, show_default=False)


def compare(
    example: Annotated[
        str, typer.Argument(help="Name of an installed example, or a folder with an example.py.")
    ],
    systems: Annotated[
        Many | None, _option("Systems, comma-separated; default: all.", "--systems", "--system")
    ] = None,
    variants: Annotated[
        Many | None, _option("Variants; default: all.", "--variants", "--variant")
    ] = None,
    devices: Annotated[
        Many | None, _option("cpu, gpu; default: those found here.", "--devices", "--device")
    ] = None,
    dtypes: Annotated[
        Many | None, _option("float64, float32; default: float64.", "--dtypes", "--dtype")
    ] = None,
    sizes: Annotated[
        Many | None, _option("Sizes n of the timing sweep, comma-separated.", "--sizes", "--n")
    ] = None,
    sweeps: Annotated[
        Many | None, _option("Sweep counts K of the timing sweep.", "--sweeps", "--K")
    ] = None,
    threads: Annotated[int, typer.Option(help="Threads, and cores, of every worker.", min=1)] = 1,
    budget: Annotated[
        float,
        typer.Option(help="Skip sizes whose gradient is predicted to take longer (s).", min=0),
    ] = 2.5,
    timeout: Annotated[
        float, typer.Option(help="Give up on one step of one case after this long (s).", min=0.001)
    ] = 600.0,
    quick: Annotated[
        bool, typer.Option("--quick", help="Small sizes only; the same as --preset quick.")
    ] = False,
    preset: Annotated[
        str, typer.Option(help="default, quick, or seeds (the notebooks' own protocol).")
    ] = "default",
    no_timing: Annotated[
        bool, typer.Option("--no-timing", help="Compare only; measure neither time nor memory.")
    ] = False,
    no_check: Annotated[
        bool, typer.Option("--no-check", help="Measure only; compare nothing.")
    ] = False,
    inputs: Annotated[
        Path | None, _option("HDF5 file to use as the inputs of the check size.", "--inputs")
    ] = None,
    seed: Annotated[
        int | None, _option("Seed of the timing inputs; default: the example's.", "--seed")
    ] = None,
    tolerance: Annotated[
        float | None,
        _option("Relative tolerance instead of the derived one; recorded.", "--tolerance"),
    ] = None,
    output: Annotated[
        Path | None, _option("Result folder; default: results/EXAMPLE/UTC-TIME.", "--output", "-o")
    ] = None,
    format_: Annotated[
        str,
        typer.Option(
            "--format", "-f", help="table, json, csv, markdown, latex or html, on stdout."
        ),
    ] = "table",
    no_install: Annotated[
        bool, typer.Option("--no-install", help="Never install Julia, even with internet.")
    ] = False,
    resume: Annotated[
        Path | None,
        _option("Take up this run's folder with its own options: run what is missing.", "--resume"),
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show every proof.")] = False,
    require: Annotated[
        Many | None, _option("Systems that must run: exit status 1 where one cannot.", "--require")
    ] = None,
) -> int:
    """Run EXAMPLE on every system and say whether they agree, and what each costs.

    Exit status: 0 all that ran agree; 1 a mismatch, a crash, a time-out or a required
    system missing; 2 bad usage or input; 3 fewer than two implementations could run.
    """
    from pyweanj import api, report
    from pyweanj.cli.progress import Terminal
    from pyweanj.run import Options, Prepared
    from pyweanj.store import Run

    if format_ not in report.FORMATS:
        raise unknown("format", format_, report.FORMATS)
    if preset not in PRESETS:
        raise unknown("preset", preset, PRESETS)
    if no_timing and no_check:
        raise UsageError("--no-timing and --no-check together leave nothing to do; give one")
    if quick and preset != "default":
        raise UsageError(f"--quick and --preset {preset} exclude each other; give one")
    options = Options(
        systems=_split("--systems", systems),
        variants=_split("--variants", variants),
        devices=_split("--devices", devices),
        dtypes=_split("--dtypes", dtypes) or ("float64",),
        sizes=_numbers("--sizes", sizes),
        sweeps=_numbers("--sweeps", sweeps),
        threads=threads,
        budget_s=budget,
        timeout_s=timeout,
        preset="quick" if quick else preset,  # type: ignore[arg-type]
        tasks=("check",)
        if no_timing
        else ("time", "memory")
        if no_check
        else ("check", "time", "memory"),
        require=_split("--require", require),
        seed=seed,
        tolerance=tolerance,
    )

    def install(prepared: Prepared) -> None:
        if not no_install and any(planned.case.system == "enzyme" for planned in prepared.plan):
            _install_julia()

    terminals = []

    def watch(prepared: Prepared, folder: Run) -> Terminal:
        terminals.append(Terminal(prepared, folder))
        return terminals[-1]

    found = api.carry_out(
        example, options, inputs=inputs, output=output, resume=resume, watch=watch, before=install
    )
    if format_ == "table":
        out = terminals[-1].out
        report.print_table(found.joint, out, found.published, explain=explain)
        out.print(f"Results: {_shown(found.folder)}", soft_wrap=True, highlight=False)
    else:
        sys.stdout.write(
            report.render(found.joint, format_, published=found.published, folder=found.folder)
        )
    return found.exit_status


def _install_julia() -> None:
    """Install Julia where none is set up and the network allows it; otherwise say nothing.

    What is missing then is the `unavailable` row's to tell.
    """
    from pyweanj import julia_setup
    from pyweanj.systems import UnavailableError

    if not julia_setup.needs_install() or not julia_setup.reachable():
        return
    typer.echo("no Julia is set up: installing it (once; --no-install forbids it)", err=True)
    try:
        julia_setup.install(progress=lambda line: typer.echo(line, err=True))
    except UnavailableError as error:
        typer.echo(f"Julia was not installed: {error}", err=True)


def _split(name: str, values: Many | None) -> tuple[str, ...]:
    parts = tuple(part.strip() for value in values or () for part in value.split(","))
    if "" in parts:
        raise UsageError(f"{name} has an empty name in it; leave the option out for all")
    return parts


def _numbers(name: str, values: Many | None) -> tuple[int, ...]:
    numbers = []
    for part in _split(name, values):
        try:
            numbers.append(int(part))
        except ValueError:
            raise UsageError(f"{name}: {part!r} is not a whole number") from None
    return tuple(dict.fromkeys(numbers))


def _shown(folder: Path) -> str:
    try:
        return str(folder.relative_to(Path.cwd()))
    except ValueError:
        return str(folder)
