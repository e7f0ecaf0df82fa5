"""Adjoints written by hand in C++, beside what Enzyme makes of the same file."""

import numpy as np
import pytest

from pyweanj.systems import UnsupportedError
from tests.systems.cases import gradient, system, user_problem

X = {"x": np.array([1.0, -2.0, 3.0]), "s": np.array(2.0)}
TEXT = """
template <typename T, usz n>
void loss(enzyme::tensor<T>& out, const enzyme::tensor<T, n>& x, const enzyme::tensor<T>& s) {
  T sum = 0;
  for (usz i = 0; i < n; i++) sum += s() * x[i] * x[i];
  out() = sum;
}
template <typename T, usz n>
void own(enzyme::tensor<T>& ds, enzyme::tensor<T, n>& dx,
         const enzyme::tensor<T, n>& x, const enzyme::tensor<T>& s) {
  T sum = 0;
  for (usz i = 0; i < n; i++) {
    sum += x[i] * x[i];
    dx[i] = FACTOR * s() * x[i];
  }
  ds() = sum;
}
"""


def prepare(where, name, *, factor=2, own="own"):
    problem = user_problem(
        where,
        TEXT.replace("FACTOR", str(factor)),
        X,
        file="model.cpp",
        arguments=("x", "s"),
        differentiate=("s", "x"),
        gradients={name: own} if own else {},
    )
    return system(name).prepare(problem)


@pytest.mark.parametrize("name", ["adjoint", "enzyme-cpp"])
def test_the_named_function_is_the_gradient(name, tmp_path):
    loss, found = gradient(prepare(tmp_path, name))
    assert loss == 28.0
    assert float(found["s"]) == 14.0
    np.testing.assert_array_equal(found["x"], 4 * X["x"])


def test_it_is_called_and_not_derived(tmp_path):
    # A wrong factor must come through: nothing differentiates the loss.
    _, found = gradient(prepare(tmp_path, "adjoint", factor=3))
    np.testing.assert_array_equal(found["x"], 6 * X["x"])


def test_a_variant_without_one_is_unsupported(tmp_path):
    with pytest.raises(UnsupportedError, match="own has no adjoint written by hand"):
        prepare(tmp_path, "adjoint", own="")


def test_a_name_that_the_file_has_not_is_unsupported(tmp_path):
    with pytest.raises(UnsupportedError, match=r"model\.cpp has no function other"):
        prepare(tmp_path, "adjoint", own="other")
