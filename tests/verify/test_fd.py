import numpy as np
import pytest

from pyweanj.verify import fd_check
from pyweanj.verify.fd import random_entries, steps

THETA = np.random.default_rng(0).standard_normal((5, 3))
WEIGHTS = np.random.default_rng(1).uniform(0.5, 2, (5, 3))


def quadratic(theta):
    return np.sum(WEIGHTS * theta**2)


RIGHT = 2 * WEIGHTS * THETA


def test_quadratic_loss_is_exact_up_to_rounding_with_a_large_step():
    assert 0 <= fd_check(quadratic, THETA, RIGHT) < 1e-11
    assert fd_check(quadratic, THETA, RIGHT, n=100, h=1.0) < 1e-13


def test_error_is_relative_to_the_largest_entry():
    wrong = RIGHT.copy()
    wrong[2, 1] += 0.25 * np.max(np.abs(RIGHT))
    found = fd_check(quadratic, THETA, wrong, n=15)
    assert found == pytest.approx(0.25 * np.max(np.abs(RIGHT)) / np.max(np.abs(wrong)), rel=1e-6)


@pytest.mark.parametrize("wrong", [-RIGHT, 2 * RIGHT, RIGHT[::-1], np.roll(RIGHT, 1, 1)])
def test_wrong_gradients_are_seen(wrong):
    assert fd_check(quadratic, THETA, wrong) > 0.1


def test_truncation_falls_with_the_square_of_the_step():
    theta = np.linspace(0.1, 1, 10)
    loss, gradient = lambda t: np.sum(np.exp(t)), np.exp(theta)
    large, small = (fd_check(loss, theta, gradient, h=h) for h in (1e-1, 1e-2))
    assert large / small == pytest.approx(100, rel=0.05)


def test_theta_is_not_changed_and_its_dtype_stays():
    seen = []

    def loss(theta):
        seen.append(theta.dtype)
        return np.sum(theta**2)

    theta = np.ones(3, dtype=np.float32)
    assert fd_check(loss, theta, 2 * theta) < 1e-3
    assert np.array_equal(theta, np.ones(3))
    assert set(seen) == {np.dtype("float32")}


def test_seed_chooses_the_entries():
    wrong = RIGHT.copy()
    wrong[0, 0] *= 2
    found = {fd_check(quadratic, THETA, wrong, n=2, seed=seed) > 1e-3 for seed in range(40)}
    assert found == {True, False}


def test_nan_is_no_pass():
    assert not fd_check(lambda _: float("nan"), THETA, RIGHT) <= 1e9
    assert not fd_check(quadratic, THETA, RIGHT * np.nan) <= 1e9


def test_zero_gradient():
    assert fd_check(lambda _: 1.0, THETA, 0 * THETA) == 0
    assert fd_check(quadratic, THETA, 0 * THETA) == float("inf")


@pytest.mark.parametrize(
    ("theta", "gradient", "options"),
    [
        (THETA, RIGHT.T, {}),
        (THETA[..., None], RIGHT, {}),
        (np.arange(3), np.arange(3), {}),
        (np.zeros(0), np.zeros(0), {}),
        (THETA, RIGHT, {"n": 0}),
        (THETA, RIGHT, {"h": 0.0}),
        (THETA, RIGHT, {"h": float("nan")}),
    ],
)
def test_refuses_what_has_no_meaning(theta, gradient, options):
    with pytest.raises(ValueError, match=r".+"):
        fd_check(quadratic, theta, gradient, **options)


def test_random_entries_cover_all_arrays_once():
    shapes = {"a": (2, 3), "b": (4,), "c": ()}
    assert len(set(random_entries(shapes, 99))) == 11
    many = {entry for seed in range(60) for entry in random_entries(shapes, 3, seed)}
    assert len(many) == 11
    assert all(len(set(random_entries(shapes, 5, seed))) == 5 for seed in range(9))


def test_steps():
    assert steps(1e-2, "float64", True) == (-1e-2, 1e-2)
    assert steps(1e-2, "float32", True)[1] == pytest.approx(8.1, rel=0.01)
    both = steps(1e-2, "float64", False)
    assert sorted(both) == sorted(-t for t in both)
    assert len(both) == 16
    assert min(map(abs, both)) == 1e-2 / 128
