"""`check_gradient`: one function and its gradient, in this process."""

from __future__ import annotations

import doctest

import numpy as np
import pytest

from pyweanj import check_gradient, gradients
from pyweanj.errors import UsageError

X = np.linspace(0.5, 2.0, 12).reshape(3, 4)


def loss(x):
    return np.sum(x * np.sin(x))


def right(x):
    return np.sin(x) + x * np.cos(x)


def noisy(x, state=np.random.default_rng(1)):  # noqa: B008  (shared on purpose)
    return right(x) + 1e-3 * state.standard_normal(x.shape)


def mutating(x):
    found = right(x)
    x += 1
    return found


#: What is wrong with the gradient, and what must be said about it.
WRONG = {
    "factor 2": (lambda x: 2 * right(x), "factor 2"),
    "factor ½": (lambda x: right(x) / 2, "a factor 2 is missing"),
    "sign": (lambda x: -right(x), "sign reversed"),
    "transposed": (lambda x: right(x).T, "transposed"),
    "reversed": (lambda x: right(x)[::-1], "axis 0 reversed"),
    "zero": (np.zeros_like, "zero"),
    "nan": (lambda x: right(x) * np.where(x > 1.9, np.nan, 1), "NaN"),
    "float32": (lambda x: right(x).astype(np.float32), "float32"),
    "not repeatable": (noisy, "repeatability"),
    "mutating": (mutating, "changed by the gradient"),
}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_right_gradient(dtype):
    found = check_gradient(loss, right, X.astype(dtype))
    assert found.ok
    assert found.verdict == "right"
    assert not found.diagnosis
    assert sum(figure.passed is True for figure in found.proofs) >= 6


@pytest.mark.parametrize(("gradient", "text"), WRONG.values(), ids=WRONG)
def test_a_wrong_gradient_is_named(gradient, text):
    found = check_gradient(loss, gradient, X.copy())
    assert found.verdict == "wrong"
    assert not found.ok
    assert text in str(found)


def steep(x):
    with np.errstate(invalid="ignore"):
        return np.sum(np.sqrt(x))


@pytest.mark.parametrize(
    ("loss", "slope"),
    [
        (steep, lambda x: 0.5 / np.sqrt(x)),
        (lambda x: np.sum(np.tanh(x / 1e-4)), lambda x: 1e4 / np.cosh(x / 1e-4) ** 2),
    ],
    ids=["outside the domain", "beyond the bend"],
)
def test_a_step_that_is_far_too_long_makes_no_gradient_wrong(loss, slope):
    x = np.array([1e-4, 2e-4, 3e-4])
    assert check_gradient(loss, slope, x).verdict != "wrong"
    assert check_gradient(loss, slope, x, step=1e-6).verdict == "right"
    assert check_gradient(loss, lambda x: 1.4 * slope(x), x).verdict != "right"
    assert check_gradient(loss, lambda x: 1.4 * slope(x), x, step=1e-6).verdict == "wrong"


def test_several_inputs_by_name_and_in_order():
    a, b, k = np.array(0.7), np.linspace(0, 1, 5), np.arange(5)

    def f(a, b, k):
        return np.sum(np.exp(a * b) * k)

    def g(a, b, k):
        return np.sum(b * np.exp(a * b) * k), a * np.exp(a * b) * k

    assert check_gradient(f, g, (a, b, k)).ok
    assert check_gradient(f, g, {"a": a, "b": b, "k": k}).ok
    by_name = check_gradient(f, lambda *x: {"b": g(*x)[1]}, {"a": a, "b": b, "k": k},
                             differentiate=["b"])  # fmt: skip
    assert by_name.ok
    swapped = check_gradient(f, lambda *x: g(*x)[::-1], (a, b, k))
    assert swapped.verdict == "wrong"


def test_a_gradient_that_was_computed_before():
    assert check_gradient(loss, right(X), X).ok
    assert not check_gradient(loss, 1.001 * right(X), X).ok


def test_a_zero_that_is_right():
    found = check_gradient(lambda x: 3.0 + 0 * x.size, np.zeros_like, X)
    assert found.ok, str(found)


def test_complex_inputs():
    z = np.array([1 + 2j, 0.5 - 1j, -1 + 0.1j])
    assert check_gradient(lambda z: np.sum(np.abs(z) ** 4), lambda z: 4 * np.abs(z) ** 2 * z, z).ok


@pytest.mark.parametrize(
    ("arguments", "options", "text"),
    [
        ((lambda x: x, right, X), {}, r"the loss returns an array of shape \(3, 4\)"),
        ((loss, lambda x: (x, x), X), {}, "gives 2 arrays for 1 inputs"),
        ((loss, right, np.arange(3)), {}, "there is nothing to differentiate"),
        ((loss, right, X), {"differentiate": "y"}, "input y is no floating-point array"),
        ((loss, right, {"x": np.array(["a"])}), {}, "inputs are numbers"),
        ((loss, right, (X, X.astype("float32"))), {}, "all of them float64 or all float32"),
    ],
)
def test_what_cannot_be_checked_is_told(arguments, options, text):
    with pytest.raises(UsageError, match=text):
        check_gradient(*arguments, **options)


def test_the_docstring_is_true():
    assert doctest.testmod(gradients).failed == 0
