"""Which Julia is found, and what is held against it: files alone, no Julia needed."""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from pyweanj import julia_project
from pyweanj.julia_project import Choice
from pyweanj.paths import PACKAGE, julia_folder
from pyweanj.systems import UnavailableError

JULIACALL = importlib.metadata.version("juliacall")
PINS = json.loads((PACKAGE / "juliapkg.json").read_text())
VERSIONS = {
    "Enzyme": "0.13.199",
    "HDF5": "0.17.3",
    "KernelAbstractions": "0.9.41",
    "PrecompileTools": "1.2.1",
    "PythonCall": JULIACALL,
}


def manifest(versions: dict[str, str], julia: str = "1.10.10") -> str:
    lines = [f'julia_version = "{julia}"', 'manifest_format = "2.0"', "", "[[deps.Random]]"]
    lines += ['uuid = "9a3f8284-a2c9-5f02-9a11-845980a1fd5c"']
    for name, version in versions.items():
        lines += [f"[[deps.{name}]]", f'version = "{version}"']
    return "\n".join(lines) + "\n"


def make(folder: Path, versions: dict[str, str] | None = None, julia: str = "1.10.10") -> Choice:
    """An executable and a project that pass `julia_project.check`."""
    folder.mkdir(parents=True, exist_ok=True)
    exe = folder / "julia"
    exe.write_text("#!/bin/sh\necho julia version 1.10.10\n")
    exe.chmod(0o755)
    project = folder / "project"
    project.mkdir()
    (project / "Project.toml").write_text("[deps]\n")
    (project / "Manifest.toml").write_text(manifest(versions or VERSIONS, julia))
    return Choice(exe, project)


@pytest.fixture(autouse=True)
def nothing_set_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("PYTHON_JULIACALL_EXE", "PYTHON_JULIACALL_PROJECT", "CUDA_VISIBLE_DEVICES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("PYTHON_JULIAPKG_PROJECT", str(tmp_path / "julia_env"))


def store(choice: Choice) -> None:
    file = julia_project.configuration_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"exe": str(choice.exe), "project": str(choice.project)}))


def install(folder: Path, versions: dict[str, str], meta_version: int = 8) -> None:
    """What juliapkg leaves behind."""
    (folder / "pyjuliapkg").mkdir(parents=True)
    meta = {"meta_version": meta_version, "executable": "/somewhere/julia"}
    (folder / "pyjuliapkg" / "meta.json").write_text(json.dumps(meta))
    (folder / "Manifest.toml").write_text(manifest(versions))


def test_order(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="no Julia is set up") as caught:
        julia_project.locate()
    assert "pyweanj setup" in caught.value.remedy

    install(tmp_path / "julia_env", VERSIONS)
    found = julia_project.locate()
    assert found == Choice(Path("/somewhere/julia"), tmp_path / "julia_env", "juliapkg")

    mine = make(tmp_path / "mine")
    store(mine)
    assert julia_project.locate() == mine

    monkeypatch.setenv("PYTHON_JULIACALL_EXE", "/a/julia")
    monkeypatch.setenv("PYTHON_JULIACALL_PROJECT", "/a/project")
    assert julia_project.locate() == Choice(Path("/a/julia"), Path("/a/project"), "environment")


@pytest.mark.parametrize("name", ["EXE", "PROJECT"])
def test_one_variable_alone(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"PYTHON_JULIACALL_{name}", "/a")
    other = {"EXE": "PROJECT", "PROJECT": "EXE"}[name]
    with pytest.raises(UnavailableError, match=f"{name} is set without PYTHON_JULIACALL_{other}"):
        julia_project.locate()


def test_another_juliapkg_record_is_as_good_as_none(tmp_path: Path) -> None:
    install(tmp_path / "julia_env", VERSIONS, meta_version=9)
    assert julia_project.juliapkg_project() is None


def test_juliapkg_project_of_other_pins(tmp_path: Path) -> None:
    install(tmp_path / "julia_env", {**VERSIONS, "Enzyme": "0.13.120"})
    with pytest.raises(UnavailableError, match=r"Enzyme 0\.13\.120, not 0\.13\.199") as caught:
        julia_project.locate()
    assert caught.value.remedy == "pyweanj setup"


@pytest.mark.parametrize("text", ["", "[]", '{"exe": 1}', "{not json"])
def test_damaged_configuration(text: str) -> None:
    file = julia_project.configuration_file()
    file.parent.mkdir(parents=True)
    file.write_text(text)
    with pytest.raises(UnavailableError, match="damaged") as caught:
        julia_project.locate()
    assert caught.value.remedy == "pyweanj setup --reset"


def test_a_good_choice_passes(tmp_path: Path) -> None:
    found = julia_project.check(make(tmp_path / "good"))
    assert found == {"julia": "1.10.10", **VERSIONS}


def _write_manifest(text: str) -> Callable[[Choice], None]:
    return lambda choice: (choice.project / "Manifest.toml").write_text(text) and None


def _without(name: str) -> str:
    return manifest({k: v for k, v in VERSIONS.items() if k != name})


@pytest.mark.parametrize(
    ("damage", "reason", "remedy"),
    [
        (lambda c: c.exe.unlink(), "is no executable", "pyweanj setup --julia"),
        (lambda c: c.exe.chmod(0o644), "is no executable", "pyweanj setup --julia"),
        (lambda c: (c.project / "Project.toml").unlink(), "holds no Project.toml", "setup"),
        (
            lambda c: (c.project / "Manifest.toml").unlink(),
            "no readable Manifest.toml",
            "instantiate",
        ),
        (_write_manifest("[[deps"), "no readable Manifest.toml", "instantiate"),
        (_write_manifest(manifest(VERSIONS, "1.9.4")), "project of Julia 1.9.4", "setup"),
        (_write_manifest(manifest(VERSIONS, "1.12.1")), "project of Julia 1.12.1", "setup"),
        (_write_manifest(_without("Enzyme")), "lacks Enzyme", 'Pkg.add(["Enzyme"])'),
        (_write_manifest(_without("PythonCall")), "lacks PythonCall", "Pkg.add"),
        (
            _write_manifest(manifest({**VERSIONS, "PythonCall": "0.9.20"})),
            f"does not match juliacall {JULIACALL}",
            'pip install "juliacall==0.9.20"',
        ),
    ],
)
def test_what_is_missing_and_the_remedy(
    damage: Callable[[Choice], None], reason: str, remedy: str, tmp_path: Path
) -> None:
    choice = make(tmp_path / "julia")
    damage(choice)
    with pytest.raises(UnavailableError) as caught:
        julia_project.check(choice)
    assert reason in str(caught.value)
    assert remedy in caught.value.remedy
    assert "\n" not in str(caught.value) + caught.value.remedy


def test_gpu_needs_cuda_and_a_driver(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    choice = make(tmp_path / "without")
    with pytest.raises(UnavailableError, match="lacks CUDA"):
        julia_project.check(choice, "gpu")
    choice = make(tmp_path / "with", {**VERSIONS, "CUDA": "6.2.2"})
    monkeypatch.setattr(julia_project, "nvidia_driver", lambda: False)
    with pytest.raises(UnavailableError, match="no NVIDIA GPU"):
        julia_project.check(choice, "gpu")
    monkeypatch.setattr(julia_project, "nvidia_driver", lambda: True)
    assert julia_project.check(choice, "gpu")["CUDA"] == "6.2.2"
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "-1")
    with pytest.raises(UnavailableError, match="hides every GPU"):
        julia_project.check(choice, "gpu")


def test_manifests_of_both_formats_and_names(tmp_path: Path) -> None:
    assert julia_project.manifest_versions(tmp_path) == {}
    old = '[[Enzyme]]\nversion = "0.13.1"\n[[Random]]\nuuid = "x"\n'
    (tmp_path / "Manifest.toml").write_text(old)
    assert julia_project.manifest_versions(tmp_path) == {"Enzyme": "0.13.1"}
    (tmp_path / "Manifest-v1.11.toml").write_text(manifest({"Enzyme": "0.13.2"}, "1.11.3"))
    found = julia_project.manifest_versions(tmp_path)
    assert found == {"julia": "1.11.3", "Enzyme": "0.13.2"}


def test_pins_are_exact_and_agree_with_the_julia_package() -> None:
    project = tomllib.loads((julia_folder() / "Project.toml").read_text())
    for name, package in PINS["packages"].items():
        assert package["version"].startswith("="), f"{name} is not pinned exactly"
        assert package["uuid"] == project["deps"][name]
        bound = tuple(map(int, project["compat"][name].split(".")))
        pinned = tuple(map(int, package["version"][1:].split(".")))
        # A Julia compat bound 0.x.y admits 0.x.z with z ≥ y.
        assert pinned[:2] == bound[:2]
        assert pinned >= bound
    assert set(project["compat"]) >= {*project["deps"], *project["weakdeps"], "julia"}
    assert "CUDA" not in PINS["packages"]


def test_julia_pins_are_what_juliapkg_understands() -> None:
    compat = pytest.importorskip("juliapkg.compat", reason="juliapkg is not installed")
    from semver import Version

    bound = compat.Compat.parse(PINS["julia"])
    for version, admitted in {
        "1.10.9": False,
        "1.10.10": True,
        "1.10.11": True,
        "1.11.2": False,
        "1.11.3": True,
        "1.12.0": False,
    }.items():
        assert (Version.parse(version) in bound) is admitted, version


def test_looking_loads_nothing_heavy() -> None:
    code = (
        "import sys; from pyweanj import julia_project, systems; "
        "systems.load('enzyme').probe('cpu'); systems.load('enzyme').environ('cpu', 1); "
        "bad = {'juliacall', 'juliapkg', 'numpy', 'h5py', 'jax', 'subprocess'} & set(sys.modules); "
        "print(sorted(bad))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(PACKAGE.parent)},
    )
    assert done.stdout.strip() == "[]"
