"""Finding an example by its name or its folder.

Installed examples announce themselves through the entry-point group ``pyweanj.examples``;
the built-in ones do the same.  A path is a folder whose ``example.py`` binds ``example``.
"""

from __future__ import annotations

import importlib.util
import sys
from importlib.metadata import entry_points
from pathlib import Path

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
    except Exception as error:
        line = _line_in(error, file)
        raise UsageError(f"{file}{line}: {type(error).__name__}: {error}") from error
    if not hasattr(module, "example"):
        raise UsageError(f"{file}: does not bind the name `example` to an Example")
    return _valid(module.example, str(file))


def _valid(found: object, where: str) -> Example:
    if not isinstance(found, Example):
        raise UsageError(f"{where}: `example` is a {type(found).__name__}, not a pyweanj.Example")
    return found


def _line_in(error: Exception, file: Path) -> str:
    """``:LINE`` of the innermost frame in `file`, from the traceback or the syntax error."""
    if isinstance(error, SyntaxError) and error.filename == str(file):
        return f":{error.lineno}"
    line, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(file):
            line = trace.tb_lineno
        trace = trace.tb_next
    return f":{line}" if line else ""
