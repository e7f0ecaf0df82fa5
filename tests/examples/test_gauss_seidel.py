"""02-gauss-seidel: the example itself and its oracle, without any AD system."""

import json

import numpy as np
import pytest

from pyweanj.example import Size
from pyweanj.examples.gauss_seidel.example import example
from pyweanj.examples.gauss_seidel.oracle import loss_and_gradient, ordering
from pyweanj.inputs import load_inputs, sha256
from tests.examples import reference

VARIANTS = ("lexicographic", "red-black")


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("n", [1, 2, 5])
def test_the_ordering_is_that_of_the_loops(variant, n):
    expected = [(i - 1) * n + (j - 1) for i, j in reference.points(variant, n)]
    found = ordering(variant, n)
    if variant == "lexicographic":
        assert list(found) == expected
    else:  # within one colour any order is the same
        reds = (n * n + 1) // 2
        assert set(found[:reds]) == set(expected[:reds])
        assert set(found) == set(expected)


def test_an_unknown_ordering_is_refused():
    with pytest.raises(ValueError, match="no ordering for jacobi"):
        ordering("jacobi", 3)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(("n", "K"), [(1, 0), (1, 1), (2, 0), (2, 1), (3, 2), (6, 9)])
def test_the_oracle_is_dense_linear_algebra(variant, n, K):
    rng = np.random.default_rng(n + K)
    arrays = {"theta": rng.standard_normal((n, n)), "uobs": rng.standard_normal((n, n))}
    loss, gradient = loss_and_gradient(variant, arrays, K)
    expected_loss, expected = reference.loss_and_gradient(variant, **arrays, K=K)
    assert loss == pytest.approx(expected_loss, rel=1e-14)
    assert gradient["theta"].dtype == np.float64
    np.testing.assert_allclose(
        gradient["theta"], expected, rtol=0, atol=1e-14 * (np.abs(expected).max() or 1)
    )


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_oracle_tends_to_the_solution_of_the_poisson_problem(variant):
    # Another route to the same numbers: after many sweeps u solves A u = h² θ.
    n = 6
    theta = np.random.default_rng(1).standard_normal((n, n))
    second = 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    A = np.kron(second, np.eye(n)) + np.kron(np.eye(n), second)
    u = np.linalg.solve(A, theta.ravel() / (n + 1) ** 2).reshape(n, n)
    loss, gradient = loss_and_gradient(variant, {"theta": theta, "uobs": u}, 400)
    assert loss < 1e-25
    assert np.abs(gradient["theta"]).max() < 1e-13
    assert loss_and_gradient(variant, {"theta": theta, "uobs": u}, 4)[0] > 1e-6


def test_the_committed_inputs_are_those_of_the_seeds():
    arrays = load_inputs(example)
    # Corner values printed in the first notebook, where θ is indexed from 1.
    assert arrays["theta"][0, 0] == -0.36335748145177754
    assert arrays["theta"][1, 0] == 0.2517372155742292
    assert arrays["theta"][0, 1] == 1.9207540740525255
    assert arrays["theta"][-1, -1] == -0.25196386505341467
    assert arrays["uobs"][0, -1] == -0.01157992248121622
    assert arrays["uobs"][-1, 0] == -0.001636400736785318
    assert sha256(arrays["theta"]).startswith("68861e7d97c13050")
    assert sha256(arrays["uobs"]).startswith("a856e780132d9265")


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_oracle_gives_the_published_figures(variant):
    assert example.data is not None
    published = json.loads((example.data / "published.json").read_text())["check"][variant]
    loss, gradient = loss_and_gradient(variant, load_inputs(example), example.check.K)
    assert f"{loss:.12f}" == f"{published['loss']:.12f}"
    assert f"{np.linalg.norm(gradient['theta']):.6e}" == f"{published['grad_norm']:.6e}"


def test_transposed_inputs_give_the_same_loss_but_a_transposed_gradient():
    # Why an equal loss proves nothing about layout.
    arrays = load_inputs(example)
    loss, gradient = loss_and_gradient("lexicographic", arrays, 20)
    turned = {name: array.T for name, array in arrays.items()}
    turned_loss, turned_gradient = loss_and_gradient("lexicographic", turned, 20)
    assert turned_loss == pytest.approx(loss, rel=1e-14)
    np.testing.assert_allclose(turned_gradient["theta"].T, gradient["theta"], rtol=0, atol=1e-15)
    assert np.abs(turned_gradient["theta"] - gradient["theta"]).max() > 1e-5


def test_what_the_example_declares_fits_together():
    for size in (example.check, Size(3, 1)):
        made = example.make_inputs(size, 5)
        assert {name: array.shape for name, array in made.items()} == example.shapes(size)
        assert example.unknowns(size) == size.n**2
    assert example.colours is not None
    colours = example.colours((4, 4))
    order = ordering("red-black", 4)
    assert list(colours.ravel()[order]) == [0] * 8 + [1] * 8
    for variant in example.variants:
        assert ordering(variant.computes, 2) is not None
