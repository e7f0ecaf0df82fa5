"""Which Julia the worker uses, found by looking at files alone.

In this order: juliacall's own variables ``PYTHON_JULIACALL_EXE`` and
``PYTHON_JULIACALL_PROJECT``, the choice stored by ``pyweanj setup --julia``, the project that
juliapkg has installed.  Nothing here starts Julia, imports juliacall or uses the network.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import shutil
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pyweanj.systems.interface import UnavailableError

__all__ = [
    "PACKAGES",
    "SETUP",
    "Choice",
    "check",
    "configuration_file",
    "configured",
    "juliapkg_project",
    "locate",
    "manifest_versions",
    "nvidia_driver",
]

Source = Literal["environment", "configuration", "juliapkg"]

#: What the project must hold beside Julia's standard library; WEANJ itself comes with pyweanj.
PACKAGES = ("Enzyme", "HDF5", "KernelAbstractions", "PrecompileTools", "PythonCall")

#: Julia versions that Enzyme.jl is stable on.
SERIES = ("1.10", "1.11")

SETUP = "pyweanj setup, or pyweanj setup --julia EXE --project DIR for a Julia of your own"

META_VERSION = 8
"""Of juliapkg's own record of what it installed; another version is as good as none."""


@dataclass(frozen=True)
class Choice:
    """A Julia executable and the project that holds the packages."""

    exe: Path
    project: Path
    source: Source = "configuration"


def locate() -> Choice:
    """The Julia to use.

    Raises
    ------
    UnavailableError
        None is set up, or only one of juliacall's two variables is set.
    """
    names = ("PYTHON_JULIACALL_EXE", "PYTHON_JULIACALL_PROJECT")
    exe, project = (os.environ.get(name) for name in names)
    if exe and project:
        return Choice(Path(exe), Path(project), "environment")
    if exe or project:
        there, missing = names if exe else reversed(names)
        raise UnavailableError(
            f"{there} is set without {missing}", "set both variables, or neither"
        )
    choice = configured() or juliapkg_project()
    if choice is None:
        raise UnavailableError("no Julia is set up", SETUP)
    return choice


def configuration_file() -> Path:
    """Where ``pyweanj setup --julia`` stores its choice."""
    import platformdirs

    return Path(platformdirs.user_config_dir("pyweanj", appauthor=False)) / "julia.json"


def configured() -> Choice | None:
    """The stored choice, or None where there is none.

    Raises
    ------
    UnavailableError
        The file is there but not readable.
    """
    file = configuration_file()
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
        return Choice(Path(data["exe"]), Path(data["project"]))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UnavailableError(f"{file} is damaged", "pyweanj setup --reset") from error


def juliapkg_project() -> Choice | None:
    """What juliapkg has installed and resolved, or None.

    Raises
    ------
    UnavailableError
        It is there, but without a package that pyweanj pins, or in another version.
    """
    project = _juliapkg_folder()
    try:
        meta = json.loads((project / "pyjuliapkg" / "meta.json").read_text(encoding="utf-8"))
        if meta["meta_version"] != META_VERSION:
            return None
        exe = Path(meta["executable"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    pinned = json.loads(Path(__file__).with_name("juliapkg.json").read_text(encoding="utf-8"))
    found = manifest_versions(project)
    for name, package in pinned["packages"].items():
        wanted = package["version"].removeprefix("=")
        if found.get(name) != wanted:
            raise UnavailableError(
                f"juliapkg's project holds {name} {found.get(name) or 'nowhere'}, not {wanted}",
                "pyweanj setup",
            )
    return Choice(exe, project, "juliapkg")


def _juliapkg_folder() -> Path:
    """Where juliapkg keeps its project; its rules, without importing it."""
    named = os.environ.get("PYTHON_JULIAPKG_PROJECT")
    if named:
        return Path(named)
    prefix = sys.prefix if sys.prefix != sys.base_prefix else os.environ.get("CONDA_PREFIX")
    if prefix:
        return Path(prefix) / "julia_env"
    return depots()[0] / "environments" / "pyjuliapkg"


def depots() -> list[Path]:
    """Julia's depots as the environment names them; the first is the one written to."""
    named = [d for d in os.environ.get("JULIA_DEPOT_PATH", "").split(os.pathsep) if d]
    return [Path(d) for d in named] or [Path.home() / ".julia"]


def check(choice: Choice, device: str = "cpu") -> dict[str, str]:
    """Hold the files of `choice` against what the worker needs.

    Returns
    -------
    dict
        Version of each package in the project's manifest.

    Raises
    ------
    UnavailableError
        The executable or the project is not there, the project was made with another Julia,
        lacks a package, or its PythonCall is not of juliacall's version; for the GPU also no
        NVIDIA driver or no CUDA.jl.
    """
    exe, project = choice.exe, choice.project
    found_exe = shutil.which(exe)
    if found_exe is None or not Path(found_exe).is_file():
        raise UnavailableError(f"{exe} is no executable", _remedy(choice))
    if not project.is_dir():
        raise UnavailableError(f"{project} is no folder", _remedy(choice))
    if not any((project / name).is_file() for name in ("Project.toml", "JuliaProject.toml")):
        raise UnavailableError(f"{project} holds no Project.toml", _remedy(choice))
    versions = manifest_versions(project)
    if not versions:
        raise UnavailableError(
            f"{project} holds no readable Manifest.toml",
            f"julia --project={project} -e 'using Pkg; Pkg.instantiate()'",
        )
    made_with = versions.get("julia", "")
    if made_with and made_with.rpartition(".")[0] not in SERIES:
        raise UnavailableError(
            f"{project} is a project of Julia {made_with}; Enzyme is stable on "
            f"{' and '.join(SERIES)}",
            _remedy(choice),
        )
    wanted = PACKAGES if device == "cpu" else (*PACKAGES, "CUDA")
    missing = [name for name in wanted if name not in versions]
    if missing:
        raise UnavailableError(
            f"{project} lacks {', '.join(missing)}", _add(project, missing, choice)
        )
    juliacall = importlib.metadata.version("juliacall")
    if versions["PythonCall"] != juliacall:
        raise UnavailableError(
            f"PythonCall {versions['PythonCall']} in {project} does not match "
            f"juliacall {juliacall}",
            f'python -m pip install "juliacall=={versions["PythonCall"]}", or in Julia '
            f'Pkg.add(name="PythonCall", version="{juliacall}")',
        )
    if device == "gpu":
        _check_gpu()
    return versions


def _remedy(choice: Choice) -> str:
    match choice.source:
        case "environment":
            return "mend PYTHON_JULIACALL_EXE and PYTHON_JULIACALL_PROJECT, or unset both"
        case "configuration":
            return "pyweanj setup --julia EXE --project DIR"
        case _:
            return "pyweanj setup"


def _add(project: Path, names: list[str], choice: Choice) -> str:
    if choice.source == "juliapkg":
        return "pyweanj setup --cuda" if "CUDA" in names else "pyweanj setup"
    listed = ", ".join(f'"{name}"' for name in names)
    return f"julia --project={project} -e 'using Pkg; Pkg.add([{listed}])'"


def _check_gpu() -> None:
    if not nvidia_driver():
        raise UnavailableError(
            "no NVIDIA GPU is visible", "run on a machine with an NVIDIA GPU and its driver"
        )
    if os.environ.get("CUDA_VISIBLE_DEVICES") in {"", "-1"}:
        raise UnavailableError("CUDA_VISIBLE_DEVICES hides every GPU", "unset CUDA_VISIBLE_DEVICES")


def nvidia_driver() -> bool:
    """Whether this machine shows signs of an NVIDIA driver."""
    places = ("/dev/nvidia0", "/proc/driver/nvidia", "/dev/dxg")
    return any(Path(p).exists() for p in places) or shutil.which("nvidia-smi") is not None


def manifest_versions(project: Path) -> dict[str, str]:
    """Version of each package in the project's manifest, and of the ``julia`` that made it.

    Packages of the standard library have no version of their own and are left out, and so is
    everything where there is no readable manifest.
    """
    # Julia prefers a manifest of its own version, then the Julia… names.
    candidates = [
        *sorted(project.glob("JuliaManifest-v*.toml"), reverse=True),
        *sorted(project.glob("Manifest-v*.toml"), reverse=True),
        project / "JuliaManifest.toml",
        project / "Manifest.toml",
    ]
    file = next((c for c in candidates if c.is_file()), None)
    if file is None:
        return {}
    try:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    versions: dict[str, str] = {}
    if isinstance(data.get("julia_version"), str):
        versions["julia"] = data["julia_version"]
    # Format 1 keeps the packages at the top level.
    packages: dict[str, Any] = data.get("deps", {}) if "manifest_format" in data else data
    for name, entries in packages.items():
        if isinstance(entries, list) and entries and "version" in entries[0]:
            versions[name] = str(entries[0]["version"])
    return versions
