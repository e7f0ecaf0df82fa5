"""Losses that fool finite differences: a wrong gradient must not pass, nor a right one fail.

Each case: a loss, its gradient, where, and what must never be said of the right gradient and of
wrong ones.  What cannot be known is `unproven`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from scipy.optimize import minimize

from pyweanj import check_gradient

RNG = np.random.default_rng(0)
A, B = RNG.standard_normal((40, 6)), RNG.uniform(-0.5, 0.5, 40)
HINGE, SIDES = RNG.standard_normal((200, 20)), np.sign(RNG.standard_normal(200))


class Case(NamedTuple):
    loss: object
    gradient: object
    points: tuple[np.ndarray, ...]
    right: frozenset[str] = frozenset({"right"})
    """What may be said of the right gradient."""
    wrong: frozenset[str] = frozenset({"wrong"})
    """What may be said of a wrong one."""


UNPROVEN = frozenset({"unproven"})
NOT_RIGHT = frozenset({"wrong", "unproven"})
NOT_WRONG = frozenset({"right", "unproven"})


def points(size, count=5, scale=1.0):
    return tuple(scale * RNG.standard_normal(size) for _ in range(count))


def with_entries(*entries):
    return tuple(np.r_[RNG.standard_normal(5), entries] for _ in range(5))


def fit(w):
    return np.sum((np.tanh(A @ w) - B) ** 2)


def fit_gradient(w):
    t = np.tanh(A @ w)
    return A.T @ (2 * (t - B) * (1 - t**2))


def fitted(tolerance):
    found = minimize(fit, np.zeros(6), jac=fit_gradient, method="BFGS", options={"gtol": tolerance})
    return (found.x,)


def wave(scale):
    return lambda x: np.sum(np.sin(x / scale)), lambda x: np.cos(x / scale) / scale


CASES = {
    # The second derivative jumps: Romberg's bounds do not hold.
    "Huber": Case(
        lambda x: np.sum(np.where(np.abs(x) < 1, x**2 / 2, np.abs(x) - 0.5)),
        lambda x: np.clip(x, -1, 1),
        points(1000),
    ),
    "relu²": Case(
        lambda x: np.sum(np.maximum(x, 0) ** 2), lambda x: 2 * np.maximum(x, 0), points(1000)
    ),
    "|x|³": Case(lambda x: np.sum(np.abs(x) ** 3), lambda x: 3 * x * np.abs(x), points(1000)),
    "squared hinge": Case(
        lambda w: np.sum(np.maximum(0, 1 - SIDES * (HINGE @ w)) ** 2),
        lambda w: -2 * HINGE.T @ (SIDES * np.maximum(0, 1 - SIDES * (HINGE @ w))),
        points(20),
    ),
    # Kinks beside the point, nearer than the steps.
    **{
        f"a kink {gap:g} away": Case(
            lambda x: np.sum(np.maximum(x, 0)),
            lambda x: (x > 0) * 1.0,
            with_entries(gap),
            NOT_WRONG,
            NOT_RIGHT,
        )
        for gap in (1e-9, 1e-6, 1e-4, 1e-3)
    },
    # The gradient drowns in the curvature.
    "nearly fitted": Case(fit, fit_gradient, fitted(1e-4)),
    "fitted": Case(fit, fit_gradient, fitted(1e-7), UNPROVEN, UNPROVEN),
    "tiny arguments": Case(
        lambda x: np.sum(x * x), lambda x: 2 * x, points(20, 2, 1e-30), UNPROVEN, UNPROVEN
    ),
    "near a minimum": Case(
        lambda x: np.sum(np.sin(x - 1) ** 2),
        lambda x: np.sin(2 * (x - 1)),
        tuple(1 + d * RNG.standard_normal(10) for d in (1e-6, 1e-8, 1e-10)),
        NOT_WRONG,
        NOT_RIGHT,
    ),
    # The step is too long for the loss.
    "logarithm near 0": Case(
        lambda x: np.sum(np.log(x)), lambda x: 1 / x, (np.array([1e-8, 0.5, 1]),), NOT_WRONG
    ),
    **{
        f"waves of {scale:g}": Case(*wave(scale), points(10, 5, scale), NOT_WRONG, NOT_RIGHT)
        for scale in (1e-3, 3e-5, 1e-6, 1e-30)
    },
    "waves of 1e-6 in numbers of 1": Case(*wave(1e-6), points(10, 15), UNPROVEN, UNPROVEN),
    "nearly a kink": Case(
        lambda x: np.sum(np.sqrt(x**2 + 1e-10)),
        lambda x: x / np.sqrt(x**2 + 1e-10),
        with_entries(1e-5, -2e-5),
        NOT_WRONG,
        NOT_RIGHT,
    ),
}

#: What is done to the right gradient of a case.
FAULTS = {
    "negated": lambda g: -g,
    "last entry": lambda g: np.r_[g[:-1], g[-1] - 10 * np.max(np.abs(g))],
}


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"):
        yield


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_right_gradient_is_not_accused(case):
    for seed, x in enumerate(case.points):
        found = check_gradient(case.loss, case.gradient, x, seed=seed)
        assert found.verdict in case.right, str(found)


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_negative_control_a_wrong_one_does_not_pass(case, fault):
    for seed, x in enumerate(case.points):
        found = check_gradient(case.loss, lambda x: fault(case.gradient(x)), x, seed=seed)
        assert found.verdict in case.wrong, str(found)
