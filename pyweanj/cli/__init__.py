"""The commands.  Each parses, calls and prints; one module each."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

__all__ = ["main"]


def main() -> NoReturn:
    """Run ``pyweanj``; never returns.

    Exit status: 0 all that ran agree, 1 a mismatch, crash, time-out or a required system
    missing, 2 bad usage or input, 3 fewer than two implementations could run, 130
    interrupted.
    """
    _open_streams()
    debug = "--debug" in sys.argv[1:]
    arguments = [a for a in sys.argv[1:] if a != "--debug"]
    try:
        status = _run(arguments)
    except BrokenPipeError:
        # The reader of our output went away; what was found is on the disk.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 1
    except KeyboardInterrupt:
        status = 130
    except Exception as error:
        if debug:
            raise
        status, text = _explain(error)
        print(f"pyweanj: {text}", file=sys.stderr)
    raise SystemExit(status)


def _open_streams() -> None:
    """Standard streams that are open, and print whatever their encoding lacks as a question mark.

    A closed one would give its number to the next pipe, and that to a worker as its output.
    """
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number, which is this one
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(number, mode, closefd=False))  # noqa: SIM115
        elif mode == "w" and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def _run(arguments: list[str]) -> int:
    from typer.exceptions import Abort, Exit, TyperException

    from pyweanj.cli.app import app
    from pyweanj.errors import UsageError

    try:
        result = app(args=arguments, prog_name="pyweanj", standalone_mode=False)
    except Exit as stop:
        return stop.exit_code
    except Abort as stop:
        raise KeyboardInterrupt from stop
    except TyperException as error:
        context = getattr(error, "ctx", None)
        path = context.command_path if context is not None else "pyweanj"
        if type(error).__name__ == "NoArgsIsHelpError":
            print(error.format_message())
            return 2
        message = " ".join(error.format_message().split())
        raise UsageError(f"{message.rstrip('.')}; `{path} --help` lists the options") from error
    return result if isinstance(result, int) else 0


def _explain(error: Exception) -> tuple[int, str]:
    from pyweanj.errors import UsageError

    if isinstance(error, UsageError):
        return 2, str(error)
    if isinstance(error, OSError):
        name = f"{error.filename}: " if error.filename else ""
        return 2, f"{name}{error.strerror or error}; what was found before is kept"
    first = next((line for line in str(error).splitlines() if line.strip()), "")
    return 2, f"internal error, {type(error).__name__}: {first}; --debug shows where"
