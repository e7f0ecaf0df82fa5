"""Faults that were met for real, in C++, through `pyweanj compare`: no emulation."""

import importlib
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def rows():
    if importlib.util.find_spec("enzyme_ad") is None:
        pytest.skip("the package enzyme-ad is not installed")
    sys.path.insert(0, str(FOLDER))
    try:
        table = importlib.import_module("controls")
        found, missing = table.real_rows(subprocess.DEVNULL, ("enzyme-cpp", "jax"))
    finally:
        sys.path.remove(str(FOLDER))
        sys.modules.pop("controls", None)
    assert missing == []
    return {row.name: row for row in found}


@pytest.mark.parametrize(
    ("name", "flagged", "diagnosis"),
    [
        ("enzyme-cpp: overwritten location", True, "reverse mode"),
        ("enzyme-cpp: overwritten location: two buffers", False, ""),
        ("jax: overwritten location", False, ""),
        ("jax: u as an output of C++", True, "zero"),
        ("enzyme-cpp: u local to C++", False, ""),
    ],
)
def test_real_fault(rows, name, flagged, diagnosis):
    row = rows[name]
    assert (row.flagged, row.side) == (flagged, "broken" if flagged else "neither")
    assert row.diagnosis == diagnosis
    assert row.holds
