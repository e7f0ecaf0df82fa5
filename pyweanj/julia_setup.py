"""Setting up Julia: choose one that is there, or have juliapkg install one.

``pyweanj setup`` calls these.  Where a Julia is found and what is held against it is in
`pyweanj.julia_project`.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import os
import queue
import signal
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyweanj import julia_project
from pyweanj.julia_project import Choice, configured
from pyweanj.paths import julia_folder
from pyweanj.systems.interface import UnavailableError

__all__ = [
    "Choice",
    "configure",
    "configured",
    "install",
    "needs_install",
    "reachable",
    "reset",
    "run_tests",
    "show",
    "try_out",
    "versions",
]

Progress = Callable[[str], None]

#: The CUDA.jl that resolves together with the pinned Enzyme (see docs/julia.md).
CUDA = {"uuid": "052768ef-5323-5732-b1bb-66c8b64840ba", "version": "=6.2.2"}

SILENCE_S = 900.0
"""No line of output for so long counts as hung: the longest single precompilation is minutes."""


def configure(exe: Path, project: Path, progress: Progress = lambda _: None) -> dict[str, Any]:
    """Try `exe` with `project`, and store the choice if it works.

    Returns
    -------
    dict
        ``phases``, ``versions`` and ``settings`` of the Julia that was started.

    Raises
    ------
    UnavailableError
        Something is missing or does not work; nothing is stored then.
    """
    choice = Choice(exe.expanduser().absolute(), project.expanduser().absolute())
    progress(f"trying {choice.exe} with {choice.project}")
    found = try_out(choice, progress)
    file = julia_project.configuration_file()
    text = json.dumps({"exe": str(choice.exe), "project": str(choice.project)}, indent=1)
    temporary = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(text + "\n", encoding="utf-8")
        temporary.replace(file)
    except OSError as error:
        raise UnavailableError(
            f"cannot write {file}: {error.strerror}",
            "set PYTHON_JULIACALL_EXE and PYTHON_JULIACALL_PROJECT instead",
        ) from error
    return found


def show() -> dict[str, str | None]:
    """The Julia in use and where the choice comes from; ``reason`` where there is none."""
    try:
        choice = julia_project.locate()
    except UnavailableError as error:
        return {"exe": None, "project": None, "source": None, "reason": str(error)}
    return {
        "exe": str(choice.exe),
        "project": str(choice.project),
        "source": choice.source,
        "reason": None,
    }


def reset() -> bool:
    """Forget the stored choice; whether there was one."""
    file = julia_project.configuration_file()
    there = file.exists()
    file.unlink(missing_ok=True)
    return there


def try_out(choice: Choice, progress: Progress = lambda _: None) -> dict[str, Any]:
    """Start `choice` as a worker does, and have Enzyme differentiate once.

    Compiles WEANJ and what it needs if that was not done yet, which takes minutes.

    Raises
    ------
    UnavailableError
    """
    julia_project.check(choice)
    _julia_version(choice)
    # Late: systems.enzyme imports what this module imports.
    from pyweanj.systems.enzyme import Enzyme

    chosen = {
        "PYTHON_JULIACALL_EXE": str(choice.exe),
        "PYTHON_JULIACALL_PROJECT": str(choice.project),
    }
    changes = {**Enzyme.environ("cpu", 1), **chosen}
    script = "import sys; from pyweanj.systems.enzyme import self_check; sys.exit(self_check())"
    status, lines = _run([sys.executable, "-P", "-c", script], changes, progress)
    for line in reversed(lines):
        with contextlib.suppress(ValueError):
            found = json.loads(line)
            if isinstance(found, dict):
                if "reason" in found:
                    raise UnavailableError(found["reason"], found["remedy"])
                return found
    raise UnavailableError(
        f"Julia ended with exit status {status}: {lines[-1] if lines else 'no output'}",
        f"{choice.exe} --project={choice.project} -e 'using PythonCall, Enzyme' shows why",
    )


def needs_install() -> bool:
    """Whether `install` is what is missing: no Julia is named, or juliapkg's is outdated."""
    named = ("PYTHON_JULIACALL_EXE", "PYTHON_JULIACALL_PROJECT")
    if any(os.environ.get(name) for name in named) or julia_project.configuration_file().exists():
        return False
    try:
        return julia_project.juliapkg_project() is None
    except UnavailableError:
        return True


def install(cuda: bool = False, progress: Progress = lambda _: None) -> dict[str, Any]:
    """Have juliapkg install Julia and the pinned packages, then compile WEANJ.

    Parameters
    ----------
    cuda
        Add CUDA.jl, too.
    progress
        Is told each stage, each line of output and what takes long.

    Raises
    ------
    UnavailableError
        There is no network, or the installation failed.
    """
    if os.environ.get("PYTHON_JULIAPKG_OFFLINE") == "yes":
        raise UnavailableError(
            "PYTHON_JULIAPKG_OFFLINE=yes forbids installing",
            "unset it, or pyweanj setup --julia EXE --project DIR",
        )
    if not reachable():
        raise UnavailableError(
            "the server that offers Julia cannot be reached",
            "mend the network, or pyweanj setup --julia EXE --project DIR",
        )
    script = "import socket; socket.setdefaulttimeout(60); import juliapkg; "
    if cuda:
        script += f"juliapkg.add('CUDA', uuid={CUDA['uuid']!r}, version={CUDA['version']!r}); "
    script += "juliapkg.resolve()"
    progress("installing Julia and the pinned packages")
    status, lines = _run([sys.executable, "-P", "-c", script], _INSTALLING, progress)
    if status != 0:
        raise UnavailableError(
            f"juliapkg could not install Julia: {lines[-1] if lines else 'no output'}",
            "mend the network, or pyweanj setup --julia EXE --project DIR",
        )
    choice = julia_project.juliapkg_project()
    if choice is None:
        raise UnavailableError("juliapkg installed no Julia", "pyweanj doctor")
    progress("compiling WEANJ and its packages")
    return try_out(choice, progress)


def reachable(within_s: float = 4.0) -> bool:
    """Whether the server that juliapkg downloads Julia from answers within `within_s` seconds."""
    script = "from juliapkg.install_julia import all_julia_versions; all_julia_versions()"
    # In a process of its own: nothing inside one can bound the look-up of a name.
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-c", script],
            capture_output=True,
            timeout=within_s,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def run_tests(progress: Progress = print) -> int:
    """Run WEANJ's own ``test/runtests.jl`` on the Julia in use; its exit status.

    Raises
    ------
    UnavailableError
        No Julia is set up.
    """
    choice = julia_project.locate()
    julia = [str(choice.exe), "--startup-file=no", f"--project={choice.project}"]
    # WEANJ stacks on the project, as in a worker: it need not be in the project's manifest.
    script = (
        f'push!(LOAD_PATH, {json.dumps(str(julia_folder()))}, "@stdlib"); '
        f"include({json.dumps(str(julia_folder() / 'test' / 'runtests.jl'))})"
    )
    status, _ = _run([*julia, "-e", script], {"JULIA_LOAD_PATH": None}, progress)
    return status


# Julia reports precompilation line by line where it writes to no terminal.
_INSTALLING: dict[str, str | None] = {
    "PYTHONUNBUFFERED": "1",
    "JULIA_PROJECT": None,
    "JULIA_PKG_OFFLINE": None,
}


def versions() -> dict[str, str | None]:
    """Versions of everything on both sides of the bridge, as far as files tell; else None."""
    found: dict[str, str | None] = {"juliacall": None, "juliapkg": None}
    for name in found:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    manifest: dict[str, str] = {}
    julia = None
    with contextlib.suppress(UnavailableError):
        choice = julia_project.locate()
        manifest = julia_project.manifest_versions(choice.project)
        julia = _julia_version(choice)
    packages = ("PythonCall", "Enzyme", "Enzyme_jll", "KernelAbstractions", "HDF5", "CUDA")
    return {
        "Julia": julia,
        **found,
        **{name: manifest.get(name) for name in packages},
        "OpenSSL (Julia)": manifest.get("OpenSSL_jll"),
        "OpenSSL (Python)": ssl.OPENSSL_VERSION.removeprefix("OpenSSL ").split(" ")[0],
        "WEANJ": _weanj_version(),
    }


def _weanj_version() -> str:
    import tomllib

    return tomllib.loads((julia_folder() / "Project.toml").read_text())["version"]


def _julia_version(choice: Choice) -> str:
    """What the executable says that it is.

    Raises
    ------
    UnavailableError
        It is not Julia, or one that Enzyme is not stable on.
    """
    try:
        done = subprocess.run(
            [choice.exe, "--version"],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        words = done.stdout.split()
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        words = []
    if words[:2] != ["julia", "version"]:
        raise UnavailableError(f"{choice.exe} is not Julia", "pyweanj setup --julia EXE …")
    version = words[2]
    if version.rpartition(".")[0] not in julia_project.SERIES:
        raise UnavailableError(
            f"{choice.exe} is Julia {version}; Enzyme is stable on "
            f"{' and '.join(julia_project.SERIES)}",
            "pyweanj setup --julia EXE --project DIR with one of these",
        )
    return version


def _run(
    command: list[str], changes: dict[str, str | None], progress: Progress
) -> tuple[int, list[str]]:
    """Run `command`, hand its lines to `progress` as they come; exit status and all lines."""
    env = {**os.environ, **{k: v for k, v in changes.items() if v is not None}}
    for name, value in changes.items():
        if value is None:
            env.pop(name, None)
    begin = time.monotonic()
    process = subprocess.Popen(
        command,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    arriving: queue.SimpleQueue[str | None] = queue.SimpleQueue()

    def read() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            arriving.put(line.rstrip())
        arriving.put(None)

    threading.Thread(target=read, daemon=True).start()
    lines: list[str] = []
    try:
        while (line := arriving.get(timeout=SILENCE_S)) is not None:
            if line.strip():
                lines.append(line)
                if not line.startswith("{"):
                    progress(f"{time.monotonic() - begin:5.0f} s  {line}")
        return process.wait(), lines
    except queue.Empty:
        raise UnavailableError(
            f"nothing was heard for {SILENCE_S:.0f} s", "try again, or pyweanj doctor"
        ) from None
    finally:
        # Also on Ctrl-C: neither pip-like downloads nor compilers are left behind.
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
