"""Enzyme on C++: the conventions of model.cpp, and what is said when it is wrong."""

import numpy as np
import pytest

from pyweanj.example import Size
from pyweanj.systems import Availability, CompileError, Direction, UnsupportedError
from pyweanj.systems import enzyme_cpp as module
from pyweanj.systems.enzyme_cpp import EnzymeCpp
from tests.systems.cases import Case, gradient, implementation, system, user_problem

X = {"x": np.array([1.0, -2.0, 3.0])}
SQUARES = """
template <typename T, usz n>
void loss(enzyme::tensor<T>& out, const enzyme::tensor<T, n>& x) {
  T sum = 0;
  for (usz i = 0; i < n; i++) sum += x[i] * x[i];
  out() = sum;
}
"""


def prepare(where, text, arrays, **options):
    return system("enzyme-cpp").prepare(
        user_problem(where, text, arrays, file="model.cpp", **options)
    )


def test_a_template_without_k(tmp_path):
    loss, found = gradient(prepare(tmp_path, SQUARES, X))
    assert loss == 14.0
    np.testing.assert_array_equal(found["x"], 2 * X["x"])


def test_a_plain_function(tmp_path):
    text = SQUARES.replace("template <typename T, usz n>", "typedef double T; const usz n = 3;")
    assert gradient(prepare(tmp_path, text, X))[0] == 14.0


def test_scalars_matrices_integers_booleans_and_k(tmp_path):
    # Names out of alphabetical order, and a matrix that is not square: nothing may be guessed.
    text = """
    template <usz K, typename T, usz m, usz n>
    void loss(enzyme::tensor<T>& out, const enzyme::tensor<T>& scale,
              const enzyme::tensor<T, m, n>& A, const enzyme::tensor<T, n>& x,
              const enzyme::tensor<T, m>& count, const enzyme::tensor<T, m>& mask) {
      static_assert(K == 3 && m == 2 && n == 3, "");
      T sum = 0;
      for (usz i = 0; i < m; i++)
        for (usz j = 0; j < n; j++) sum += A[i][j] * x[j] * count[i] * mask[i];
      out() = scale() * sum;
    }
    """
    arrays = {
        "scale": np.array(2.0),
        "A": np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]]),
        "x": np.array([1.0, 10.0, 100.0]),
        "count": np.array([1, 4]),
        "mask": np.array([False, True]),
    }
    made = prepare(
        tmp_path,
        text,
        arrays,
        arguments=("scale", "A", "x", "K", "count", "mask"),
        differentiate=("x", "scale"),
    )
    loss, found = gradient(made)
    assert loss == 2 * 4 * 754
    np.testing.assert_array_equal(found["x"], 8 * arrays["A"][1])
    assert float(found["scale"]) == 4 * 754
    assert made.jvp(Direction(entry=("x", (2,)))) == 56.0
    assert made.losses(Direction(entry=("x", (0,))), [1.0, 0.0]) == [loss + 32.0, loss]


def test_memory_is_left_to_the_process():
    # XLA does not see what C++ allocates: its figure would be too small.
    made = implementation("enzyme-cpp", Case("lexicographic", Size(5, 3)))
    assert made.memory("gradient") == {}


def test_a_mutated_input_shows_in_the_hash(tmp_path):
    text = SQUARES.replace("T sum = 0;", "T sum = 0; const_cast<T&>(x[0]) = 7;")
    made = prepare(tmp_path, SQUARES, X)
    before = made.input_sha256()
    assert prepare(tmp_path, text, X).input_sha256() != before
    assert made.input_sha256() == before


WRONG = {
    "undeclared": (
        SQUARES.replace("out() = sum", "out() = total"),
        {},
        r"undeclared identifier 'total' \(model.cpp:6\)",
    ),
    "header": ("#include <no_such>\n" + SQUARES, {}, "'no_such' file not found: .* __builtin_"),
    "not const": (
        SQUARES.replace("const enzyme", "enzyme"),
        {},
        r"loss is called with \(enzyme::tensor<double>&, const enzyme::tensor<double, 3>&\), but: "
        r".*\(model.cpp:3\)",
    ),
    "no K": (SQUARES, {"arguments": ("x", "K")}, "loss<3> is called with"),
}


@pytest.mark.parametrize(("text", "options", "message"), WRONG.values(), ids=WRONG)
def test_an_error_of_the_users_is_one_line(text, options, message, tmp_path, capfd):
    with pytest.raises(CompileError, match=message) as caught:
        prepare(tmp_path, text, X, **options)
    assert "\n" not in str(caught.value)
    assert "error:" in capfd.readouterr().err  # the log has all that clang said


REFUSED = {
    "complex": ({"x": np.array([1j])}, "float64", "complex arrays"),
    "integer": ({"x": np.ones(1), "m": np.array([2**24 + 1])}, "float32", "float32 cannot hold"),
}


@pytest.mark.parametrize(("arrays", "dtype", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_cross_is_unsupported(arrays, dtype, message, tmp_path):
    with pytest.raises(UnsupportedError, match=message):
        prepare(tmp_path, SQUARES, arrays, arguments=tuple(arrays), dtype=dtype)


def test_a_model_without_the_loss_is_unsupported(tmp_path):
    with pytest.raises(UnsupportedError, match=r"model\.cpp has no function loss"):
        prepare(tmp_path, SQUARES.replace("loss(", "los("), X)


def test_no_model_is_unsupported(tmp_path):
    problem = user_problem(tmp_path, "", X)
    with pytest.raises(UnsupportedError, match=r"no model\.cpp"):
        system("enzyme-cpp").prepare(problem)


def probed(monkeypatch, *, package=True, version="0.0.16", python=(3, 11)) -> Availability:
    real = module.importlib.util.find_spec
    monkeypatch.setattr(
        module.importlib.util,
        "find_spec",
        lambda name: (real("json") if package else None) if name == "enzyme_ad" else real(name),
    )
    monkeypatch.setattr(module.importlib.metadata, "version", lambda _: version)
    monkeypatch.setattr(module.sys, "version_info", (*python, 0, "final", 0))
    return EnzymeCpp.probe("cpu")


def test_it_is_available_where_its_package_is(monkeypatch):
    assert probed(monkeypatch) == Availability(True)
    assert probed(monkeypatch, version="0.1.0").available
    missing = probed(monkeypatch, package=False)
    assert not missing.available
    assert 'pip install "pyweanj[enzyme-cpp]"' in missing.remedy
    old = probed(monkeypatch, version="0.0.6", python=(3, 12))
    assert not old.available
    assert "0.0.6 is older than 0.0.16" in old.reason
    elsewhere = probed(monkeypatch, package=False, python=(3, 13))
    assert "CPython 3.11 on Linux x86-64 only" in elsewhere.reason
    assert "Python 3.11" in elsewhere.remedy
    assert not EnzymeCpp.probe("gpu").available
