"""Problems of a user's own, with every kind of argument, through every system: tests/problems.

One run a problem with all systems and both dtypes; the Julia rows are marked.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pyweanj import catalogue
from pyweanj.inputs import read_arrays
from pyweanj.records import Outcome
from tests.helpers import EXAMPLE, MODEL, command, compare_json, one_line, write_example

PROBLEMS = Path(__file__).parent / "problems"
DTYPES = ("float64", "float32")
ROWS = [
    ("mixed", "plain", "jax"),
    ("mixed", "by-hand", "jax"),
    ("mixed", "plain", "enzyme"),
    ("mixed", "by-hand", "enzyme"),
    ("mixed", "plain", "enzyme-cpp"),
    ("complex_field", "plain", "jax"),
    ("complex_field", "plain", "enzyme"),
    ("measured", "plain", "jax"),
    ("measured", "plain", "enzyme"),
]


def rows():
    for problem, variant, system in ROWS:
        for dtype in DTYPES:
            marks = [pytest.mark.julia] if system == "enzyme" else []
            name = f"{problem}-{variant}-{system}-{dtype}"
            yield pytest.param(problem, variant, system, dtype, marks=marks, id=name)


def report_of(compare, problem):
    return compare(PROBLEMS / problem, dtypes=DTYPES)


@pytest.mark.parametrize(("problem", "variant", "system", "dtype"), list(rows()))
def test_it_is_right(pyweanj_compare, problem, variant, system, dtype):
    report = report_of(pyweanj_compare, problem)
    (record,) = [
        r for r in report.records if (r.system, r.variant, r.dtype) == (system, variant, dtype)
    ]
    if record.outcome is Outcome.UNAVAILABLE:
        pytest.skip(f"{system}: {record.message} → {record.remedy}")
    assert record.outcome is Outcome.OK, (record.message, record.diagnosis)
    assert record.verdict == "right"
    gradient = read_arrays(report.folder / record.gradient)
    example = catalogue.load(str(PROBLEMS / problem))
    shapes = example.shapes(example.check)
    assert {k: v.shape for k, v in gradient.items()} == {
        name: shapes[name] for name in example.differentiate
    }
    others = [r for r in report.records if r.dtype == dtype and r.outcome is Outcome.OK]
    assert len({tuple(sorted(r.input_sha256.items())) for r in others}) == 1
    assert all(pair.verdict == "ok" for pair in report.pairs)


def test_complex_arrays_are_unsupported_in_cpp_with_the_reason(pyweanj_compare):
    report = report_of(pyweanj_compare, "complex_field")
    for record in report.records:
        if record.system == "enzyme-cpp" and record.outcome is not Outcome.UNAVAILABLE:
            assert record.outcome is Outcome.UNSUPPORTED
            assert "complex arrays cannot be passed to C++" in record.message
            assert record.remedy


@pytest.mark.julia
def test_conjugates_are_a_convention_and_no_mismatch(pyweanj_compare):
    report = report_of(pyweanj_compare, "complex_field")
    assert len(report.pairs) == len(DTYPES)
    for pair in report.pairs:
        assert pair.verdict == "ok"
        assert pair.wrong == "neither"
        assert pair.grad_difference > 0.1
        assert "the complex conjugate" in pair.detail
    one, two = (
        read_arrays(report.folder / r.gradient)["z"]
        for r in report.records
        if r.dtype == "float64" and r.outcome is Outcome.OK
    )
    np.testing.assert_allclose(one, np.conj(two), rtol=1e-12)


def test_a_declared_tolerance_is_used_and_recorded(pyweanj_compare):
    report = report_of(pyweanj_compare, "measured")
    found = {r.dtype: r.tolerance for r in report.records if r.system == "jax"}
    assert found["float32"] == 1e-3
    assert found["float64"] < 1e-12


def test_a_file_of_arrays_has_no_other_size(tmp_path):
    done = command("compare", PROBLEMS / "measured", "--sizes", "40", cwd=tmp_path)
    assert done.returncode == 2
    line = one_line(done.stderr)
    assert "those of n = 12, not of 40; give its Example make_inputs=" in line


#: What the second implementation's model is, whether an oracle is there, and what must be said:
#: the verdicts of both, the pair's reason and who is wrong.
DIFFERING = {
    "a constant in the loss": (
        "jnp.sum((K * x - y) ** 2) + 1.0",
        False,
        ("unproven", "unproven", "loss", "unknown"),
    ),
    "a constant in the loss, with an oracle": (
        "jnp.sum((K * x - y) ** 2) + 1.0",
        True,
        ("right", "wrong", "loss", "right"),
    ),
    "twice the loss": (
        "2 * jnp.sum((K * x - y) ** 2)",
        False,
        ("unproven", "unproven", "loss", "unknown"),
    ),
    "negative control: the same": (
        "jnp.sum((y - K * x) ** 2)",
        False,
        ("right", "right", "", "neither"),
    ),
}


@pytest.mark.parametrize(("other", "oracle", "said"), DIFFERING.values(), ids=DIFFERING)
def test_two_losses_of_which_each_has_its_own_gradient(tmp_path, other, oracle, said):
    model = MODEL.replace("other_loss = loss", f"def other_loss(x, y, K):\n    return {other}")
    example = EXAMPLE if oracle else EXAMPLE.replace("oracle=oracle,", "")
    folder = write_example(tmp_path / "two", model, example)
    status, joint, _ = compare_json(folder, "--no-timing", "--system", "jax,oracle", cwd=tmp_path)
    rows = [row for row in joint["records"] if row["system"] == "jax"]
    pair = next(p for p in joint["pairs"] if p["kind"] == "variants")
    found = (*(row["verdict"] for row in rows), pair["reason"], pair["wrong"])
    assert found == said
    assert status == (0 if said[-1] == "neither" else 1)


#: Oracles that are broken themselves.
BROKEN_ORACLES = {
    "NaN": 'return float("nan"), {"x": 2 * K * r * float("nan")}',
    "another shape": 'return float(np.sum(r**2)), {"x": (2 * K * r).T}',
    "writes into its input": 'x *= 2; return float(np.sum(r**2)), {"x": 2 * K * r}',
    "a wrong gradient": 'return float(np.sum(r**2)), {"x": 3 * K * r}',
}


@pytest.mark.parametrize("returned", BROKEN_ORACLES.values(), ids=BROKEN_ORACLES)
def test_a_broken_oracle_accuses_nobody(tmp_path, returned):
    example = EXAMPLE.replace('return float(np.sum(r**2)), {"x": 2 * K * r}', returned)
    assert returned in example
    folder = write_example(tmp_path / "two", example=example)
    status, joint, _ = compare_json(folder, "--no-timing", "--variant", "good", cwd=tmp_path)
    verdicts = {row["system"]: row["verdict"] for row in joint["records"]}
    assert verdicts["oracle"] == "wrong"
    assert verdicts["jax"] != "wrong"
    assert status == 1
