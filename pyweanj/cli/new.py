"""``pyweanj new``: the skeleton of an example that already compares successfully."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["new", "write_skeleton"]

TEMPLATES = Path(__file__).resolve().parent.parent / "templates"
FILES = ("example.py", "model.py", "model.jl", "model.cpp", "test_example.py")
PLACEHOLDER = "NAME"


def new(
    name: Annotated[str, typer.Argument(help="Name of the example, or a path that ends in it.")],
) -> int:
    """Write the folder NAME with a small example: change it to yours, and compare it."""
    folder = write_skeleton(Path(name))
    typer.echo(f"wrote {folder}: {', '.join(FILES)}")
    typer.echo(f"compare it:  python -m pyweanj compare {folder}")
    typer.echo(f"test it:     python -m pytest {folder}")
    return 0


def write_skeleton(folder: Path) -> Path:
    """Write the skeleton to `folder`, whose last part is the example's name; returns `folder`.

    Raises
    ------
    UsageError
        The name cannot be one, or the folder exists already and is not empty.
    """
    from pyweanj import catalogue
    from pyweanj.disk import writing
    from pyweanj.errors import UsageError

    name = folder.name
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", name):
        raise UsageError(
            f"{name!r} is no name for an example; use letters, digits, - and _, "
            "beginning with a letter or digit"
        )
    if name in catalogue.names():
        raise UsageError(f"{name} is an installed example already; give yours another name")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} exists already; give another name or remove it")
    folder.mkdir(parents=True, exist_ok=True)
    try:
        for file in FILES:
            text = (TEMPLATES / file).read_text(encoding="utf-8")
            with writing(folder / file):
                (folder / file).write_text(text.replace(PLACEHOLDER, name), encoding="utf-8")
    except OSError:
        for file in FILES:  # so that it can be tried again
            (folder / file).unlink(missing_ok=True)
        raise
    return folder
