"""The oracle as a system."""

from dataclasses import replace

import numpy as np
import pytest

from pyweanj.example import Size
from pyweanj.examples.gauss_seidel.example import example
from pyweanj.inputs import read_arrays, write_arrays
from pyweanj.systems import UnsupportedError
from pyweanj.systems.oracle import Oracle
from tests.systems.cases import Case, gradient, problem, system

CASE = Case("lexicographic", Size(5, 3))


@pytest.mark.parametrize("given", [None, replace(example, oracle=None)], ids=["none", "without"])
def test_an_example_without_an_oracle_is_unsupported(given):
    with pytest.raises(UnsupportedError, match="the example has no oracle"):
        system("oracle").prepare(replace(problem(CASE), example=given))


def test_the_function_is_called_with_what_the_variant_computes():
    seen = []

    def oracle(computes, arrays, K):
        seen.append((computes, sorted(arrays), K))
        return 1.0, {"theta": np.full((5, 5), 2.0)}

    variant = replace(example.variant("lexicographic"), name="another", computes="the same")
    given = replace(problem(CASE), variant=variant, example=replace(example, oracle=oracle))
    loss, found = gradient(system("oracle").prepare(given))
    assert loss == 1.0
    assert np.all(found["theta"] == 2.0)
    assert set(map(str, seen)) == {str(("the same", ["theta", "uobs"], 3))}


def test_a_float32_problem_is_computed_in_float64():
    case = CASE._replace(dtype="float32")
    made = system("oracle").prepare(problem(case))
    arrays = read_arrays(problem(case).inputs)
    assert arrays["theta"].dtype == np.float32
    assert example.oracle is not None
    loss, expected = example.oracle(
        "lexicographic", {k: v.astype(float) for k, v in arrays.items()}, 3
    )
    found_loss, found = gradient(made)
    assert found_loss == loss
    assert np.array_equal(found["theta"], expected["theta"])
    assert system("oracle").settings()["computes_in"] == "float64"


def test_it_needs_its_example_and_runs_on_the_cpu():
    assert Oracle.needs_example
    assert not Oracle.probe("gpu").available


@pytest.mark.parametrize(("gap", "least", "most"), [(1.0, 1.0, 50.0), (1e-6, 1e5, 1e8)])
def test_the_condition_grows_where_large_terms_cancel(tmp_path, gap, least, most):
    def oracle(computes, arrays, K):
        rest = arrays["theta"] - arrays["uobs"]
        return float(np.sum(rest**2)), {"theta": 2 * rest}

    theta = np.random.default_rng(1).uniform(1, 2, (5, 5))
    path = tmp_path / "inputs.h5"
    write_arrays(path, {"theta": theta, "uobs": theta * (1 + gap)})
    given = replace(problem(CASE), example=replace(example, oracle=oracle), inputs=path)
    found = system("oracle").prepare(given).condition()
    assert least <= min(found)
    assert max(found) <= most


def test_only_the_oracle_tells_the_condition():
    with pytest.raises(UnsupportedError, match="the oracle's to tell"):
        system("jax").prepare(problem(CASE)).condition()
