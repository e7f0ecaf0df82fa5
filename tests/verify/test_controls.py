import importlib
import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from pyweanj.verify.controls import Control, broken, judging, random_broken, random_right, unusual
from pyweanj.verify.controls import random_cases as drawing
from pyweanj.verify.controls.faults import wrong
from pyweanj.verify.controls.problems import sweeps
from pyweanj.verify.diagnosis.causes import CAUSES
from pyweanj.verify.measures import Comparison

FOLDER = Path(__file__).parents[2] / "benchmarks"
CONTROLS = {control.name: control for control in broken()}


@pytest.fixture(scope="module")
def table():
    sys.path.insert(0, str(FOLDER))
    try:
        yield importlib.import_module("controls")
    finally:
        sys.path.remove(str(FOLDER))
        sys.modules.pop("controls", None)


@pytest.mark.parametrize("name", CONTROLS)
def test_broken_is_flagged_on_its_side_with_its_diagnosis(name, table):
    row = table.judged(CONTROLS[name])
    assert row.holds, row


def test_every_diagnosis_has_a_control():
    seen = {control.diagnosis for control in CONTROLS.values()}
    assert set(CAUSES) <= seen, set(CAUSES) - seen


def test_unusual_but_right_passes(table):
    rows = list(table.unusual_rows())
    assert len(rows) == len(unusual())
    assert [row for row in rows if not row.holds] == []


@pytest.mark.parametrize("seed", [11, 12])
def test_no_false_alarm_in_random_right_cases(seed):
    found = random_right(40, seed)
    assert found.cases == 40
    assert found.wrong == []


@pytest.mark.parametrize("seed", [11, 12])
def test_no_miss_in_random_broken_cases(seed):
    found = random_broken(40, seed)
    assert found.cases == 40
    assert found.wrong == []
    assert all(found.smallest[dtype] < 0.1 for dtype in found.smallest)


# The controls of the controls: each of these checks must be able to fail.


@pytest.mark.parametrize(
    "change",
    [
        {"build": lambda: wrong(sweeps(), lambda g: g)},
        {"diagnosis": "axes"},
        {"text": "something else"},
        {"side": "both"},
        {"alone": "unknown"},
    ],
    ids=["not broken", "diagnosis", "text", "side", "alone"],
)
def test_a_control_that_does_not_behave_is_shown(table, change):
    right = CONTROLS["factor 2"]
    assert table.judged(right).holds
    assert not table.judged(replace(right, **change)).holds


def test_a_comparison_that_passes_everything_is_found_out(monkeypatch):
    monkeypatch.setattr(judging, "compare", lambda *_, **__: Comparison("ok"))
    assert random_broken(20, 3).wrong


def test_a_comparison_that_passes_nothing_is_found_out(monkeypatch):
    monkeypatch.setattr(judging, "compare", lambda *_, **__: Comparison("mismatch", "loss"))
    assert random_right(5, 3).wrong


def test_an_effect_below_the_limit_is_not_promised(monkeypatch):
    """With faults of a hundredth of the tolerance there are misses: the limit is a real one."""
    monkeypatch.setattr(drawing, "_size", lambda _, limit: 0.005 * limit)
    monkeypatch.setattr(drawing, "LIMIT", 0.0)
    monkeypatch.setattr(drawing, "_FAULTS", {"one entry": drawing._FAULTS["one entry"]})
    assert random_broken(20, 3).wrong


def test_the_command_prints_its_schema(table, monkeypatch, capsys):
    few = [CONTROLS["factor 2"], CONTROLS["kink: slope 0"]]
    monkeypatch.setattr(table, "broken", lambda: few)
    monkeypatch.setattr(table, "unusual", lambda: unusual()[:1])
    assert table.main(["--json", "--only", "numpy", "--cases", "3"]) == 0
    found = json.loads(capsys.readouterr().out)
    for row in found["controls"]:
        assert {"name", "flagged", "side", "diagnosis", "holds"} <= set(row)
        assert row["holds"] is True
    assert [row["flagged"] for row in found["controls"]] == [True, True, False]
    assert found["right_cases"] == found["broken_cases"] == 3
    assert found["false_alarms"] == found["misses"] == 0
    assert found["detection_limits"]
    assert table.main(["--only", "numpy", "--cases", "3"]) == 0
    assert "false alarms: 0 of 3" in capsys.readouterr().out


def test_the_command_fails_where_a_control_does(table, monkeypatch, capsys):
    fake = Control("no fault at all", lambda: wrong(sweeps(), lambda g: g), "factor")
    monkeypatch.setattr(table, "broken", lambda: [fake])
    monkeypatch.setattr(table, "unusual", list)
    assert table.main(["--json", "--only", "numpy", "--cases", "1"]) == 1
    assert json.loads(capsys.readouterr().out)["controls"][0]["holds"] is False
