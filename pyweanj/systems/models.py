"""The user's ``model.py``: loaded by its path, and its errors told in one line."""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from pyweanj.systems.interface import CompileError, UnsupportedError

__all__ = ["describe", "load_model", "model_function"]


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


def model_function(module: ModuleType, name: str) -> Callable[..., Any]:
    """The function called `name` in `module`.

    Raises
    ------
    CompileError
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
        raise CompileError(f"model.py has no function {name} (found: {found})")
    return function


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
