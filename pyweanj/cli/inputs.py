"""``pyweanj inputs``: make, check and describe inputs files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["app"]

app = typer.Typer(help="Make, check or describe the shared HDF5 inputs.", no_args_is_help=True)

ExampleName = Annotated[
    str, typer.Argument(metavar="EXAMPLE", help="Name or folder of an example.")
]


@app.command()
def make(
    example: ExampleName,
    file: Annotated[Path, typer.Argument(help="HDF5 file to write.")],
    n: Annotated[
        int | None, typer.Option("--n", min=1, help="Size; default: the check size.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Default: the example's.", min=0, max=2**32 - 1)
    ] = None,
    dtype: Annotated[str, typer.Option(help="float64 or float32.")] = "float64",
) -> int:
    """Draw the inputs of one size from a seed and write them."""
    from pyweanj import catalogue
    from pyweanj.declaration import examine_size, in_user_code
    from pyweanj.errors import UsageError, unknown
    from pyweanj.example import DTYPES, Size
    from pyweanj.inputs import make_file
    from pyweanj.measure import machine

    found = catalogue.load(example)
    if dtype not in DTYPES:
        raise unknown("dtype", dtype, DTYPES)
    if file.exists():
        raise UsageError(f"{file} exists; give another name or remove it")
    size = Size(n or found.check.n, 0)
    with in_user_code(found):
        examine_size(found, size, machine.memory_bytes())
    make_file(found, size, file, dtype, seed)
    typer.echo(f"wrote {file}")
    return 0


@app.command()
def check(
    example: ExampleName,
    file: Annotated[Path | None, typer.Argument(help="Default: the committed file.")] = None,
    n: Annotated[
        int | None, typer.Option("--n", min=1, help="Size; default: the check size.")
    ] = None,
) -> int:
    """Check a file: shapes, dtypes, SHA-256, finite values."""
    from pyweanj import catalogue
    from pyweanj.example import Size
    from pyweanj.inputs import load_inputs

    found = catalogue.load(example)
    arrays = load_inputs(found, file, Size(n or found.check.n, 0))
    typer.echo(f"ok: {', '.join(f'{k} {v.shape} {v.dtype}' for k, v in arrays.items())}")
    return 0


@app.command()
def describe(
    example: ExampleName,
    file: Annotated[Path | None, typer.Argument(help="Default: the committed file.")] = None,
) -> int:
    """Show every dataset of a file with its attributes."""
    from pyweanj import catalogue
    from pyweanj.inputs import committed_file, describe_file

    path = file or committed_file(catalogue.load(example))
    typer.echo(str(path))
    for row in describe_file(path):
        typer.echo("  " + "  ".join(f"{key}: {value}" for key, value in row.items()))
    return 0
