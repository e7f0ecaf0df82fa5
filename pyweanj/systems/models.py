"""The user's ``model.py``: loaded by its path, and its errors told in one line."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import inspect
import re
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from pyweanj.systems.interface import CompileError, UnsupportedError

__all__ = ["describe", "load_model", "located", "model_function"]


def load_model(folder: Path) -> ModuleType:
    """``model.py`` of `folder` as a module; modules beside it can be imported by it.

    Raises
    ------
    UnsupportedError
        There is no such file.
    CompileError
        It raises when it is run.
    """
    path = folder.resolve() / "model.py"
    if not path.is_file():
        raise UnsupportedError(f"the example has no model.py ({path})")
    name = f"pyweanj_model_{hashlib.sha256(str(path).encode()).hexdigest()[:12]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))  # last, so that no file there hides a package
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise CompileError(describe(error, folder)) from error
    return module


def model_function(
    module: ModuleType, name: str, arguments: Sequence[str] | None = None
) -> Callable[..., Any]:
    """The function called `name` in `module`, which must take `arguments` in order.

    Raises
    ------
    CompileError
        It takes another number of arguments.
    UnsupportedError
        There is none; the text names those that there are.
    """
    function = getattr(module, name, None)
    if not callable(function):
        own = (
            key
            for key, value in vars(module).items()
            if callable(value)
            and not inspect.isclass(value)
            and getattr(value, "__module__", None) == module.__name__
        )
        found = ", ".join(sorted(own)) or "no function"
        raise UnsupportedError(f"model.py has no function {name} (found: {found})")
    if arguments is not None:
        try:
            inspect.signature(function).bind(*arguments)
        except ValueError:
            pass  # it does not tell
        except TypeError as error:
            raise CompileError(
                f"{name} is called with ({', '.join(arguments)}): {error}{_place(function)}"
            ) from error
    return function


@contextlib.contextmanager
def located(function: Callable[..., Any]) -> Iterator[None]:
    """A `CompileError` that names no line is told with that of `function`."""
    try:
        yield
    except CompileError as error:
        if re.search(r"\(\S+:\d+\)", str(error)):
            raise
        raise CompileError(f"{error}{_place(function)}") from error


def _place(function: Callable[..., Any]) -> str:
    """`` (model.py:3)``, where `function` is written; nothing where that is not known."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return f" ({Path(code.co_filename).name}:{code.co_firstlineno})" if code else ""


def describe(error: BaseException, folder: Path) -> str:
    """`error` in one line, with the last line of a file in `folder` that led to it."""
    text = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    line = f"{type(error).__name__}: {text}" if text else type(error).__name__
    if isinstance(error, SyntaxError) and error.filename:
        return f"{line} ({Path(error.filename).name}:{error.lineno})"
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).parent == folder.resolve()
    ]
    return f"{line} ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else line
