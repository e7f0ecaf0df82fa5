"""The JAX model of 02-gauss-seidel: the hyperplane sweeps beside the nested scan."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pyweanj.examples.gauss_seidel.example import example
from pyweanj.systems.models import load_model
from tests.examples import reference
from tests.systems.cases import system

model = load_model(example.folder)
SIZES = [(1, 1), (2, 3), (5, 0), (5, 13), (17, 4)]


@pytest.fixture(autouse=True, scope="module")
def double_precision():
    system("jax")


def arrays(n, K, dtype="float64"):
    rng = np.random.default_rng(n + 100 * K)
    theta, uobs = rng.standard_normal((2, n, n)).astype(dtype)
    return jnp.asarray(theta), jnp.asarray(uobs)


def relative(left, right):
    return np.linalg.norm(np.asarray(left) - right) / (np.linalg.norm(right) or 1)


@pytest.mark.parametrize(("n", "K"), SIZES)
def test_the_hyperplane_loss_is_that_of_dense_linear_algebra(n, K):
    theta, uobs = arrays(n, K)
    expected, gradient = reference.loss_and_gradient(
        "lexicographic", np.asarray(theta), np.asarray(uobs), K
    )
    assert float(model.gs_hyperplane_loss(theta, uobs, K)) == pytest.approx(expected, rel=1e-13)
    assert relative(model.gs_hyperplane_gradient(theta, uobs, K), gradient) < 1e-13


@pytest.mark.parametrize(("n", "K", "dtype"), [(5, 3, "float64"), (17, 40, "float32")])
def test_the_hyperplane_loss_equals_the_nested_scan_to_the_last_bit(n, K, dtype):
    theta, uobs = arrays(n, K, dtype)
    left = model.gs_hyperplane_loss(theta, uobs, K)
    right = model.gs_loss(theta, uobs, K)
    assert left.dtype == right.dtype == dtype
    assert left == right
    # Another order of updates is not the same to the last bit, nor nearly.
    assert abs(left - model.rb_loss(theta, uobs, K)) > 1e-6 * right


@pytest.mark.parametrize(("n", "K"), [(5, 3), (5, 13)])
def test_the_second_run_of_the_sweeps_is_what_jax_differentiates(n, K):
    theta, uobs = arrays(n, K)
    automatic = jax.jit(jax.grad(model.gs_hyperplane_loss), static_argnums=2)(theta, uobs, K)
    assert relative(model.gs_hyperplane_gradient(theta, uobs, K), automatic) < 1e-15


def test_a_second_run_in_the_same_order_would_be_wrong():
    theta, uobs = arrays(5, 3)
    _, gradient = reference.loss_and_gradient(
        "lexicographic", np.asarray(theta), np.asarray(uobs), 3
    )
    residual = model._hyperplane_sweeps(theta, 3) - uobs
    assert relative(model._hyperplane_sweeps(2 * residual, 3), gradient) > 1e-2


@pytest.mark.parametrize("differentiate", ["jax", "own"])
def test_gradient_memory_is_flat_in_the_number_of_sweeps(differentiate):
    n = 16
    theta, uobs = arrays(n, 0)
    function = {
        "jax": jax.grad(model.gs_hyperplane_loss),
        "own": model.gs_hyperplane_gradient,
    }[differentiate]

    def scratch(K):
        compiled = jax.jit(function, static_argnums=2).lower(theta, uobs, K).compile()
        return compiled.memory_analysis().temp_size_in_bytes

    few, many = scratch(20), scratch(2000)
    # A step's number takes 8 bytes; a tape of the sweeps would take a grid of 2 KiB for each.
    assert many - few <= 8 * (2000 - 20) + 64
    assert 2000 * n * n * 8 > 50 * many
