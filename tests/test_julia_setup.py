"""Setting up Julia: what is refused, what is stored, and that nothing hangs or is left behind."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from pyweanj import julia_project, julia_setup
from pyweanj.systems import UnavailableError
from tests.test_julia_project import make


@pytest.fixture(autouse=True)
def nothing_set_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in (
        "PYTHON_JULIACALL_EXE",
        "PYTHON_JULIACALL_PROJECT",
        "PYTHON_JULIAPKG_OFFLINE",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("PYTHON_JULIAPKG_PROJECT", str(tmp_path / "julia_env"))


def script(path: Path, text: str) -> Path:
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("echo hello\n", "is not Julia"),
        ("exit 3\n", "is not Julia"),
        ("printf '\\377\\376'\n", "is not Julia"),
        ("echo julia version 1.9.4\n", "is Julia 1.9.4"),
        ("echo julia version 1.12.0\n", "is Julia 1.12.0"),
        # Says that it is Julia, and then is not: found when the worker is started with it.
        ("echo julia version 1.10.10\n", "Julia does not start with"),
    ],
)
def test_a_julia_that_is_none_is_not_stored(text: str, reason: str, tmp_path: Path) -> None:
    choice = make(tmp_path / "fake")
    script(choice.exe, text)
    with pytest.raises(UnavailableError) as caught:
        julia_setup.configure(choice.exe, choice.project)
    assert reason in str(caught.value)
    assert caught.value.remedy
    assert "\n" not in str(caught.value)
    assert not julia_project.configuration_file().exists()


def test_a_good_one_is_stored_shown_and_forgotten(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    choice = make(tmp_path / "good")
    monkeypatch.setattr(julia_setup, "try_out", lambda *_: {"versions": {}})
    assert julia_setup.show()["reason"] == "no Julia is set up"
    assert julia_setup.needs_install()

    monkeypatch.chdir(tmp_path)
    julia_setup.configure(Path("good/julia"), Path("good/project"))  # kept as absolute paths
    assert julia_project.configured() == choice
    assert julia_setup.show() == {
        "exe": str(choice.exe),
        "project": str(choice.project),
        "source": "configuration",
        "reason": None,
    }
    assert not julia_setup.needs_install()
    assert [p.name for p in julia_project.configuration_file().parent.iterdir()] == ["julia.json"]

    assert julia_setup.reset()
    assert not julia_setup.reset()
    assert julia_project.configured() is None


def test_a_configuration_that_cannot_be_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    choice = make(tmp_path / "good")
    monkeypatch.setattr(julia_setup, "try_out", lambda *_: {})
    (tmp_path / "config").write_text("a file where the folder should be")
    with pytest.raises(UnavailableError, match="cannot write"):
        julia_setup.configure(choice.exe, choice.project)


def test_needs_no_install_where_the_environment_is_to_blame(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYTHON_JULIACALL_EXE", "/a/julia")
    assert not julia_setup.needs_install()


def test_needs_no_install_where_the_stored_choice_is_damaged() -> None:
    file = julia_project.configuration_file()
    file.parent.mkdir(parents=True)
    file.write_text("{")
    assert not julia_setup.needs_install()


def test_install_without_network_fails_at_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PYTHON_JULIAPKG_OFFLINE", "yes")
    with pytest.raises(UnavailableError, match="forbids installing"):
        julia_setup.install()
    monkeypatch.delenv("PYTHON_JULIAPKG_OFFLINE")
    monkeypatch.setattr(julia_setup, "reachable", lambda: False)
    with pytest.raises(UnavailableError, match="cannot be reached"):
        julia_setup.install()
    # juliapkg itself, told that there is no network, and no Julia in the PATH.
    monkeypatch.setattr(julia_setup, "reachable", lambda: True)
    monkeypatch.setattr(
        julia_setup, "_INSTALLING", {**julia_setup._INSTALLING, "PYTHON_JULIAPKG_OFFLINE": "yes"}
    )
    monkeypatch.setenv("PATH", "/nowhere")
    heard: list[str] = []
    with pytest.raises(UnavailableError, match="could not find Julia") as caught:
        julia_setup.install(progress=heard.append)
    assert "setup --julia" in caught.value.remedy
    assert heard[0] == "installing Julia and the pinned packages"
    assert any("Locating Julia" in line for line in heard)


def test_run_hands_on_lines_as_they_come_and_leaves_nothing_behind(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pidfile = tmp_path / "pid"
    code = (
        f"import os, time; open({str(pidfile)!r}, 'w').write(str(os.getpid())); "
        "print('one', os.environ.get('A'), os.environ.get('B'), flush=True); time.sleep(60)"
    )
    monkeypatch.setenv("B", "to be unset")
    monkeypatch.setattr(julia_setup, "SILENCE_S", 2.0)
    heard: list[str] = []
    with pytest.raises(UnavailableError, match="nothing was heard"):
        julia_setup._run([sys.executable, "-c", code], {"A": "1", "B": None}, heard.append)
    assert [line.split(maxsplit=2)[2] for line in heard] == ["one 1 None"]
    with pytest.raises(ProcessLookupError):
        os.kill(int(pidfile.read_text()), 0)

    status, lines = julia_setup._run(
        [
            sys.executable,
            "-c",
            "import sys; print('{}'); print('err', file=sys.stderr); sys.exit(3)",
        ],
        {},
        heard.append,
    )
    assert status == 3
    assert set(lines) == {"{}", "err"}


def test_versions_name_what_files_tell(tmp_path: Path) -> None:
    found = julia_setup.versions()
    assert found["Julia"] is None
    assert found["juliacall"]
    assert found["OpenSSL (Python)"]
    choice = make(tmp_path / "good")
    file = julia_project.configuration_file()
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"exe": str(choice.exe), "project": str(choice.project)}))
    found = julia_setup.versions()
    assert found["Julia"] == "1.10.10"
    assert found["Enzyme"] == "0.13.199"
    assert found["CUDA"] is None
