"""Every example × dtype × pair of implementations: one run, and one test for each pair.

An example is one that is installed, or one of the folders in docs/tutorial.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import NamedTuple

import pytest

from pyweanj import catalogue, systems
from pyweanj.records import Outcome
from pyweanj.run import Options, plan

ROOT = Path(__file__).resolve().parents[2]
TUTORIALS = sorted(file.parent for file in ROOT.glob("docs/tutorial/*/example.py"))
EXAMPLES = [*catalogue.names(), *map(str, TUTORIALS)]
DEVICES = ["cpu", "gpu"] if systems.load("jax").probe("gpu").available else ["cpu"]


class Side(NamedTuple):
    system: str
    variant: str
    device: str

    def __str__(self):
        return "/".join(self)


def questions():
    """Every pair of implementations of the same mathematics, as pytest parameters."""
    for reference in EXAMPLES:
        example = catalogue.load(reference)
        for dtype in example.dtypes:
            options = Options(dtypes=(dtype,), tasks=("check",))
            groups = {}
            for planned in plan(example, options, DEVICES):
                if "check" in planned.tasks:
                    side = Side(*planned.case[:3])
                    groups.setdefault(planned.computes, []).append(side)
            for computes, sides in groups.items():
                for left, right in itertools.combinations(sides, 2):
                    both = {left.system, right.system}
                    marks = [pytest.mark.julia] if "enzyme" in both else []
                    marks += [pytest.mark.gpu] if "gpu" in {left.device, right.device} else []
                    name = f"{example.name}-{computes}-{dtype}-{left}-{right}"
                    yield pytest.param(reference, dtype, left, right, marks=marks, id=name)


def record_of(report, side):
    (found,) = [r for r in report.records if r.case[:3] == side]
    return found


@pytest.mark.parametrize(("reference", "dtype", "left", "right"), list(questions()))
def test_the_same_loss_and_gradient(pyweanj_compare, reference, dtype, left, right):
    report = pyweanj_compare(reference, dtypes=dtype)
    for side in (left, right):
        record = record_of(report, side)
        if record.outcome in {Outcome.UNAVAILABLE, Outcome.UNSUPPORTED}:
            pytest.skip(f"{side}: {record.outcome}: {record.message} → {record.remedy}")
        assert record.outcome is Outcome.OK, report.diagnosis
        assert record.verdict == "right", record.proofs
    (pair,) = [p for p in report.pairs if {p.left, p.right} == {str(left), str(right)}]
    assert pair.verdict == "ok", pair
    assert pair.grad_difference <= pair.tolerance
    assert pair.loss_difference <= (1e-4 if dtype == "float32" else 1e-11)


def test_every_example_is_here():
    names = {catalogue.load(reference).name for reference in EXAMPLES}
    assert {"02-gauss-seidel", "lotka-volterra"} <= names
    assert all((folder / "model.jl").is_file() for folder in TUTORIALS)
