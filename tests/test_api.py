"""The Python interface: one run, looked at from every side."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import pyweanj
from pyweanj import catalogue
from pyweanj.errors import UsageError
from pyweanj.store import read_joint
from tests.cli.test_compare import FACTOR_2
from tests.helpers import write_example


@pytest.fixture(scope="module")
def right(tmp_path_factory):
    folder = tmp_path_factory.mktemp("right")
    write_example(folder / "scaled")
    return pyweanj.compare(folder / "scaled", timing=False, output=folder / "run")


@pytest.fixture(scope="module")
def wrong(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wrong")
    write_example(folder / "scaled", FACTOR_2)
    return pyweanj.compare(str(folder / "scaled"), timing=False, output=folder / "run")


def test_a_right_report(right):
    assert right.verdict == "right"
    assert right.exit_status == 0
    assert right.diagnosis == {}
    assert {r.system for r in right.records} == {"jax", "oracle"}
    assert len(right.pairs) == 6
    assert right.records == read_joint(right.folder).records
    assert right.pairs == read_joint(right.folder).pairs
    assert "4 right" in str(right)
    assert repr(right).startswith("<pyweanj.Report scaled: right.")


def test_a_wrong_report(wrong):
    assert wrong.verdict == "wrong"
    assert wrong.exit_status == 1
    ((case, text),) = wrong.diagnosis.items()
    assert case == "jax other cpu float64 n=5 K=3"
    assert text.startswith("factor 2: ")


def test_html_for_notebooks(right, wrong):
    for report in (right, wrong):
        text = report._repr_html_()
        assert text.count("<table>") == text.count("</table>") >= 2
        assert "<script" not in text
        assert "‖gradient‖" in text
    assert "factor 2" in wrong._repr_html_()


def test_html_is_escaped(right):
    joint = right.joint.model_copy(update={"example": "<b>&"})
    report = pyweanj.Report(joint, right.folder, 0)
    assert "&lt;b&gt;&amp;" in report._repr_html_()
    assert "<b>&<" not in report._repr_html_()


def test_to_pandas(right):
    pytest.importorskip("pandas", reason="pandas is not installed: pip install pyweanj[pandas]")
    frame = right.to_pandas()
    assert len(frame) == len(right.records)
    assert set(frame["outcome"]) == {"ok"}
    assert list(frame["loss"]) == [r.loss for r in right.records]
    assert frame["grad_s"].isna().all()


def test_to_pandas_without_pandas(right, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="python -m pip install pandas"):
        right.to_pandas()


def test_an_example_that_was_made_here(tmp_path):
    (tmp_path / "model.py").write_text("def loss(x):\n    return (x**4).sum()\n")
    variant = pyweanj.Variant("plain", loss="loss", systems=("jax",))
    example = pyweanj.Example(
        name="here", title="here", folder=tmp_path, variants=(variant,), arguments=("x",),
        differentiate=("x",), shapes=lambda size: {"x": (size.n,)},
        make_inputs=lambda size, seed: {"x": np.linspace(1, 2, size.n)},
        depth=lambda size: 10.0, check=pyweanj.Size(4),
    )  # fmt: skip
    report = pyweanj.compare(example, timing=False, output=tmp_path / "run")
    assert report.exit_status == 3
    assert report.verdict == "unproven"  # alone it has nothing to agree with
    assert report.records[0].verdict == "right"


def test_an_oracle_needs_a_file_that_another_process_can_find(tmp_path):
    example = catalogue.load(str(write_example(tmp_path / "scaled")))
    (tmp_path / "scaled" / "example.py").unlink()
    with pytest.raises(UsageError, match="put it there, or leave the oracle out"):
        pyweanj.compare(example)


def test_nothing_to_do_is_told():
    with pytest.raises(UsageError, match="leave nothing to do"):
        pyweanj.compare("02-gauss-seidel", check=False, timing=False)
