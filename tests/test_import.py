"""Importing the package, and asking for help, load nothing heavy."""

from __future__ import annotations

import subprocess
import sys

import pytest

import pyweanj

HEAVY = ("jax", "jaxlib", "juliacall", "juliapkg", "matplotlib", "scipy", "h5py", "enzyme_ad")


def loaded_by(code: str) -> set[str]:
    script = f"{code}\nimport sys; print(*(m for m in {HEAVY!r} if m in sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return set(done.stdout.splitlines()[-1].split())


HELP = """
import sys
sys.argv = ["pyweanj", "compare", "--help"]
from pyweanj.cli import main
try:
    main()
except SystemExit as stop:
    assert stop.code == 0, stop.code
"""


@pytest.mark.parametrize("code", ["import pyweanj", HELP, "import pyweanj.worker"])
def test_nothing_heavy_is_loaded(code):
    assert loaded_by(code) == set()


def test_the_check_sees_what_is_loaded():
    assert loaded_by("import scipy, h5py") == {"scipy", "h5py"}


def test_every_public_name_is_there():
    for name in pyweanj.__all__:
        assert getattr(pyweanj, name) is not None
    assert set(pyweanj.__all__) <= set(dir(pyweanj))


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        pyweanj.nonsense  # noqa: B018
