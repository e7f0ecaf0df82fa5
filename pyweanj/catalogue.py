"""Finding an example by its name or its folder.

Installed examples announce themselves through the entry-point group ``pyweanj.examples``;
the built-in ones do the same.  A path is a folder whose ``example.py`` binds ``example``.
"""

from __future__ import annotations

import importlib.util
import sys
from importlib.metadata import entry_points
from pathlib import Path

from pyweanj.declaration import examine, place
from pyweanj.errors import UsageError, unknown
from pyweanj.example import Example

__all__ = ["load", "names"]

GROUP = "pyweanj.examples"


def names() -> list[str]:
    """The installed examples."""
    return sorted({point.name for point in entry_points(group=GROUP)})


def load(reference: str) -> Example:
    """The example called `reference`, or the one in the folder `reference`.

    Raises
    ------
    UsageError
        There is none, or its ``example.py`` raises or does not bind ``example``.
    """
    for point in entry_points(group=GROUP, name=reference):
        return _valid(point.load(), reference)
    folder = Path(reference)
    if folder.is_dir():
        return _from_folder(folder.resolve())
    if "/" in reference or reference.endswith(".py"):
        raise UsageError(f"{reference}: no such folder; an example is a folder with an example.py")
    raise unknown("example", reference, names())


def _from_folder(folder: Path) -> Example:
    file = folder / "example.py"
    if not file.is_file():
        raise UsageError(f"{folder}: no example.py; `pyweanj list` shows the installed examples")
    # The folder is made a package so that example.py may import its neighbours.
    name = f"pyweanj_example_{folder.name.replace('-', '_')}"
    spec = importlib.util.spec_from_file_location(
        name, file, submodule_search_locations=[str(folder)]
    )
    assert spec is not None  # a .py file always has a spec
    assert spec.loader is not None  # a .py file always has both
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        text = f"{type(error).__name__}: {error}".splitlines()[0]
        raise UsageError(f"{file}{place(error, folder)}: {text}") from error
    if not hasattr(module, "example"):
        raise UsageError(f"{file}: does not bind the name `example` to an Example")
    return _valid(module.example, str(file))


def _valid(found: object, where: str) -> Example:
    if not isinstance(found, Example):
        raise UsageError(f"{where}: `example` is a {type(found).__name__}, not a pyweanj.Example")
    try:
        examine(found)
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from error
    return found
