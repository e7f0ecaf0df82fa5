"""The commands and the Python of the documentation, run as they are written.

A line of a ``sh`` block is a command; ``# exit status N`` behind it says what it ends with.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pyweanj import systems
from tests.helpers import environment

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["docs/your-own-problem.md", "docs/tutorial/lotka-volterra/README.md"]
NO_JULIA = {
    "PYTHON_JULIACALL_EXE": None,
    "PYTHON_JULIACALL_PROJECT": None,
    "PYTHON_JULIAPKG_PROJECT": "/nowhere/at/all",
}
CPP = systems.load("enzyme-cpp").probe("cpu")


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def run(page: str, folder: Path, julia: bool) -> str:
    """Everything that `page` has to run, in `folder`; what it printed."""
    (folder / "docs").symlink_to(ROOT / "docs")
    env = environment({} if julia else {**NO_JULIA, "XDG_CONFIG_HOME": str(folder)})
    env["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), env["PATH"]])
    env["PYTHONPATH"] = str(ROOT)
    printed = []

    def call(command: list[str], status: int) -> None:
        done = subprocess.run(
            command, cwd=folder, env=env, capture_output=True, text=True, timeout=900, check=False
        )
        printed.append(done.stdout)
        assert done.returncode == status, (command, done.stdout, done.stderr)

    lines = "".join(blocks(page, "sh")).splitlines()
    assert lines
    for line in lines:
        status = re.search(r"# exit status (\d+)", line)
        call(["sh", "-c", line], int(status[1]) if status else 0)
    for block in blocks(page, "python"):
        call([sys.executable, "-c", block], 0)
    return "\n".join(printed)


@pytest.mark.skipif(not CPP.available, reason=f"enzyme-cpp: {CPP.reason}")
@pytest.mark.parametrize("page", PAGES)
def test_the_page_is_true_without_julia(page, tmp_path):
    printed = run(page, tmp_path, julia=False)
    assert "2 right (enzyme-cpp, jax); enzyme not run" in printed


@pytest.mark.julia
def test_the_tutorial_is_true_with_julia(tmp_path):
    printed = run(PAGES[1], tmp_path, julia=True)
    for dtype in ("float64", "float32"):
        assert f"✓ rk4 {dtype}: 3 right (enzyme, enzyme-cpp, jax)" in printed
    assert "✗ loss" in printed


def test_every_page_that_is_linked_is_there():
    for page in [*PAGES, "docs/testing.md"]:
        for link in re.findall(r"\]\(([^)#]+)\)", (ROOT / page).read_text(encoding="utf-8")):
            if "://" not in link and not link.startswith("table"):
                assert (ROOT / page).parent.joinpath(link).exists(), (page, link)
