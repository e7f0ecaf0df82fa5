import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from pyweanj.records import Joint, Outcome, Record

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def ratios():
    sys.path.insert(0, str(FOLDER))
    try:
        yield importlib.import_module("ratios")
    finally:
        sys.path.remove(str(FOLDER))


@pytest.mark.parametrize(
    ("most", "least", "value", "holds", "text"),
    [
        (2.0, None, 1.9, True, "≤ 2"),
        (2.0, None, 2.0, True, "≤ 2"),
        (2.0, None, 2.01, False, "≤ 2"),
        (2.0, None, float("nan"), False, "≤ 2"),
        (1.02, 0.98, 1.0, True, "0.98–1.02"),
        (1.02, 0.98, 0.97, False, "0.98–1.02"),
        (1.02, 0.98, 1.03, False, "0.98–1.02"),
    ],
)
def test_goal(ratios, most, least, value, holds, text):
    row = ratios.Goal(most, least).row("x", value, None)
    assert (row.holds, row.goal) == (holds, text)


def test_what_is_missing_neither_holds_nor_fails(ratios):
    row = ratios.Goal(2.0).missing("x", "no Julia")
    assert (row.value, row.holds) == (None, None)
    assert ratios.shown(row) == ["x", "–", "", "≤ 2", "not measured", "no Julia"]


def _record(system, n, forward, gradient):
    median = sorted(gradient)[len(gradient) // 2]
    return Record(
        example="e",
        system=system,
        variant="v",
        computes="v",
        device="cpu",
        dtype="float64",
        n=n,
        K=1,
        N=1,
        outcome=Outcome.OK,
        grad_s=median,
        forward_samples=forward,
        grad_samples=gradient,
    )


def test_widest_ratio_of_a_run(ratios):
    steady = [1.0, 1.001, 0.999, 1.0, 1.001, 1.0]
    rough = [3.0, 2.0, 4.0, 3.0, 2.5, 3.5, 3.0]
    records = [
        _record("a", 64, steady, steady),
        _record("b", 64, [1.0] * 7, rough),
        _record("c", 32, steady, rough),  # too small to count
    ]
    widths = ratios.half_widths(Joint(example="e", environment={}, records=records, pairs=[]))
    assert len(widths) == 3
    worst = max(widths, key=widths.get)
    assert worst.startswith("b v")
    assert widths[worst] > 0.1
    assert min(widths.values()) < 0.002


def test_command_prints_the_rows_as_json():
    command = [sys.executable, str(FOLDER / "ratios.py"), "--only", "start-up", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    rows = json.loads(done.stdout)["rows"]
    assert [row["figure"] for row in rows] == ["pyweanj --help", "import pyweanj"]
    for row in rows:
        assert {"figure", "value", "low", "high", "goal", "holds"} <= row.keys()
        assert 0 < row["low"] <= row["value"] <= row["high"]
        assert row["holds"] == (row["value"] <= 0.3)
    assert done.returncode == int(any(not row["holds"] for row in rows))
