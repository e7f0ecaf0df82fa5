"""The pytest plugin, in pytest runs of their own on a user's test file outside the repository."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers import EXAMPLE, MODEL, environment, write_example
from tests.test_import import loaded_by

FACTOR_2 = """
import jax
import jax.numpy as jnp

def loss(x, y, K):
    return jnp.sum((K * x - y) ** 2)

twice = jax.custom_vjp(lambda s: s)
twice.defvjp(lambda s: (s, None), lambda _, g: (2 * g,))

def other_loss(x, y, K):
    return twice(loss(x, y, K))
"""

WITH_JULIA = EXAMPLE.replace('("jax", "oracle")', '("jax", "oracle", "enzyme")', 1)

USER = """
import sys
from pathlib import Path
import pytest
from pyweanj.testing import assert_equivalent

HERE = Path(__file__).parent

def test_passes():
    report = assert_equivalent(HERE / "good")
    assert report.verdict == "right"
    assert "pytest" in str(report.folder)

def test_the_same_question_is_asked_once(pyweanj_compare):
    assert pyweanj_compare(HERE / "good") is pyweanj_compare(HERE / "good")

def test_fails(pyweanj_assert_equivalent):
    pyweanj_assert_equivalent(HERE / "wrong")

def test_skips():
    assert_equivalent(HERE / "good", systems=("jax", "enzyme"), variants="good")

@pytest.mark.julia
def test_marked():
    raise AssertionError("ran without Julia")

def test_required():
    assert_equivalent(HERE / "good", systems="jax", require="enzyme-cpp")

def test_nothing_heavy_came_here():
    assert not {"juliacall", "jax", "enzyme_ad"} & set(sys.modules)
"""

FOREIGN = """
import pytest

@pytest.mark.gpu
@pytest.mark.julia
def test_with_markers_of_its_own():
    pass
"""


def run_pytest(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """pytest in `folder`, as a user without a Julia runs it."""
    nowhere = {"PYTHON_JULIACALL_EXE": None, "PYTHON_JULIACALL_PROJECT": None}
    env = {**nowhere, "PYTHON_JULIAPKG_PROJECT": "/nowhere", "XDG_CONFIG_HOME": str(folder)}
    env["PYTEST_ADDOPTS"] = None
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-rA", "-p", "pyweanj.testing", *arguments],
        cwd=folder,
        env=environment({**env, "PYTHONPATH": str(Path(__file__).parents[1])}),
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    folder = tmp_path_factory.mktemp("user")
    write_example(folder / "good", MODEL, WITH_JULIA)
    write_example(folder / "wrong", FACTOR_2)
    (folder / "test_user.py").write_text(USER)
    (folder / "test_foreign.py").write_text(FOREIGN)
    return run_pytest(folder)


@pytest.mark.parametrize(
    "line",
    [
        "PASSED test_user.py::test_passes",
        "PASSED test_user.py::test_the_same_question_is_asked_once",
        "PASSED test_user.py::test_nothing_heavy_came_here",
        "PASSED test_foreign.py::test_with_markers_of_its_own",
        "FAILED test_user.py::test_fails - AssertionError: scaled: not equivalent",
        "FAILED test_user.py::test_required - AssertionError: scaled: not equivalent",
        "jax other cpu float64 n=5 K=3: factor 2: ",
        "jax/other/cpu is wrong",
        "enzyme-cpp is required but did not run: the example or the options leave it out",
        "scaled: nothing to compare with: enzyme unavailable: ",
        "2 failed, 4 passed, 2 skipped",
    ],
)
def test_a_users_test_file(ran, line):
    assert line in ran.stdout
    assert ran.returncode == 1


def test_a_skip_says_what_to_do(ran):
    skips = [line for line in ran.stdout.splitlines() if line.startswith("SKIPPED")]
    assert len(skips) == 2
    assert all("no Julia is set up → pyweanj setup" in line for line in skips)


def test_what_is_required_does_not_skip(tmp_path):
    write_example(tmp_path / "good", MODEL, WITH_JULIA)
    (tmp_path / "test_user.py").write_text(USER)
    done = run_pytest(tmp_path, "--pyweanj-require", "enzyme", "-k", "skips or marked")
    assert "1 failed, 5 deselected, 1 error" in done.stdout
    assert "enzyme is required but cannot run: enzyme: no Julia is set up" in done.stdout
    assert "enzyme is required but did not run: unavailable: no Julia is set up" in done.stdout


def test_an_unknown_required_system_is_told_at_once(tmp_path):
    done = run_pytest(tmp_path, "--pyweanj-require", "enzime")
    assert done.returncode == 4
    assert "unknown system 'enzime'; did you mean enzyme" in done.stderr


def test_the_plugin_is_announced_and_light():
    heavy = loaded_by("import pyweanj.testing")
    assert heavy == set()
    assert loaded_by("import pyweanj.testing, sys; assert 'numpy' not in sys.modules") == set()
