"""The committed sample: a real run of all systems, and what it says of where it came from."""

import json
import re
from pathlib import Path

import pytest

from pyweanj import read_joint
from pyweanj.records import Outcome
from pyweanj.report import render
from pyweanj.systems import SYSTEMS

SAMPLE = Path(__file__).resolve().parents[2] / "results" / "02-gauss-seidel" / "sample"

#: A path that only one machine has: a quoted one that begins at the root or at a drive.
ABSOLUTE = re.compile(r'"(/(?!/)[\w.-]+/|[A-Z]:\\)')


@pytest.fixture(scope="module")
def sample():
    return read_joint(SAMPLE)


def test_every_system_is_in_it_and_right(sample):
    assert sample.complete
    at = {(r.system, r.variant): r for r in sample.records if "check" in r.tasks and r.n == 32}
    assert {system for system, _ in at} == set(SYSTEMS)
    assert all(r.outcome is Outcome.OK and r.verdict == "right" for r in at.values())
    assert {r.n for r in sample.records if r.system == "enzyme" and r.grad_s} >= {32, 64, 128, 256}
    assert all(pair.verdict == "ok" for pair in sample.pairs)


def test_it_holds_the_published_losses(sample):
    found = {(r.computes, round(r.loss, 12)) for r in sample.records if (r.n, r.K) == (32, 20)}
    assert found == {("lexicographic", 0.105860373742), ("red-black", 0.105843754705)}


@pytest.mark.parametrize("format_", ["table", "csv", "markdown", "latex", "html"])
def test_it_can_be_rendered_again(sample, format_):
    text = render(sample, format_)
    assert "enzyme-cpp" in text
    assert "0.10586037374" in text


@pytest.mark.parametrize("name", sorted(f.name for f in SAMPLE.glob("*.json*")))
def test_it_names_no_place_on_one_machine(name):
    assert not ABSOLUTE.search((SAMPLE / name).read_text(encoding="utf-8"))


def test_negative_control_a_place_would_be_seen():
    assert ABSOLUTE.search(json.dumps({"project": "/home/me/julia"}))
    assert ABSOLUTE.search(json.dumps({"project": "C:\\julia"})[:14] + '"C:\\')
    assert not ABSOLUTE.search(json.dumps({"unit": "1/h", "of": "gradients/a.h5"}))
