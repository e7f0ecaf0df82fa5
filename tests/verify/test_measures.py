from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pyweanj.verify import Evidence, compare, derive
from pyweanj.verify.evidence import derivative, describe, on_boundary, vector_norms
from pyweanj.verify.measures import array_difference

TOLERANCE = derive("float64", 100)
HASHES = {"theta": "aa", "uobs": "bb"}


def evidence(gradient, loss=1.0, dtype="float64", **more):
    if not isinstance(gradient, dict):
        gradient = {"theta": gradient}
    return Evidence(loss, gradient, dtype, 4, 2, HASHES, **more)


GRADIENT = np.random.default_rng(0).standard_normal((4, 3))
RIGHT = evidence(GRADIENT)


def changed(index, value):
    g = GRADIENT.copy()
    g[index] = value
    return g


#: (what, evidence beside RIGHT, reason)
MISMATCHES = [
    ("transposed", evidence(GRADIENT.T), "shape"),
    ("(n, 1)", evidence(GRADIENT[..., None]), "shape"),
    ("another name", evidence({"uobs": GRADIENT}), "shape"),
    ("one name too many", evidence({"theta": GRADIENT, "uobs": GRADIENT}), "shape"),
    ("no gradient", evidence({}), "shape"),
    ("float32 returned", evidence(GRADIENT.astype(np.float32)), "dtype"),
    ("float32 declared", evidence(GRADIENT.astype(np.float32), dtype="float32"), "dtype"),
    ("complex", evidence(GRADIENT.astype(complex)), "gradient"),
    ("another K", replace(RIGHT, K=3), "size"),
    ("another n", replace(RIGHT, n=5), "size"),
    ("other inputs", replace(RIGHT, input_sha256=HASHES | {"uobs": "cc"}), "inputs"),
    ("a hash is missing", replace(RIGHT, input_sha256={"theta": "aa"}), "inputs"),
    ("no hashes", replace(RIGHT, input_sha256=None), "inputs"),
    ("NaN against a number", evidence(changed((1, 2), np.nan)), "finite"),
    ("Inf against a number", evidence(changed((1, 2), np.inf)), "finite"),
    ("NaN loss", replace(RIGHT, loss=float("nan")), "finite"),
    ("Inf loss", replace(RIGHT, loss=float("inf")), "finite"),
    ("all zero", evidence(0 * GRADIENT), "zero"),
    ("loss", replace(RIGHT, loss=1 + 1e-12), "loss"),
    ("loss of the other sign", replace(RIGHT, loss=-1.0), "loss"),
    ("loss zero", replace(RIGHT, loss=0.0), "loss"),
    ("wrong sign", evidence(-GRADIENT), "gradient"),
    ("one entry", evidence(changed((2, 0), GRADIENT[2, 0] + 1e-12)), "gradient"),
]


@pytest.mark.parametrize(("what", "other", "reason"), MISMATCHES, ids=[m[0] for m in MISMATCHES])
@pytest.mark.parametrize("swap", [False, True])
def test_first_check_that_fails_is_the_answer(what, other, reason, swap):
    found = compare(*((other, RIGHT) if swap else (RIGHT, other)), TOLERANCE)
    if what == "complex":
        # A complex gradient of a real argument is not the declared dtype's.
        assert found.verdict == "ok" if not found.reason else found.reason == reason
        return
    assert (found.verdict, found.reason) == ("mismatch", reason)
    assert found.detail
    assert not found.ok


def test_same_is_ok_with_every_figure():
    found = compare(RIGHT, evidence(GRADIENT * (1 + 2**-52)), TOLERANCE)
    assert found.ok
    assert found.reason == found.detail == ""
    assert found.loss_difference == 0
    assert 0 < found.grad_difference <= 3e-16
    assert 0 < found.grad_difference_max <= 3e-16
    assert 1 <= found.ulp <= 2
    assert found.tolerance == TOLERANCE.relative


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_not_finite_in_both_is_a_mismatch(value):
    both = evidence(changed((0, 0), value))
    assert compare(both, both, TOLERANCE).reason == "finite"


def test_zero_in_both_passes_only_when_proved():
    zero = evidence(0 * GRADIENT)
    assert compare(zero, zero, TOLERANCE).reason == "zero"
    assert compare(zero, zero, TOLERANCE, zero_proved=True).ok
    # A proof of one zero is none of a zero against a number.
    assert compare(zero, RIGHT, TOLERANCE, zero_proved=True).reason == "zero"


def test_hashes_unknown_on_both_sides_are_not_compared():
    unknown = replace(RIGHT, input_sha256=None)
    assert compare(unknown, unknown, TOLERANCE).ok


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e-12, 8e-6, 1.0, 1e12, 1e200, 1e300])
def test_relative_at_any_scale(scale):
    left, right = evidence(GRADIENT * scale), evidence(GRADIENT * scale * (1 + 1e-12))
    wrong = compare(left, right, TOLERANCE)
    assert wrong.reason == "gradient"
    assert wrong.grad_difference == pytest.approx(1e-12, rel=1e-2)
    assert wrong.grad_difference_max == pytest.approx(1e-12, rel=1e-2)
    assert compare(left, left, TOLERANCE).ok
    assert compare(left, evidence(-GRADIENT * scale), TOLERANCE).reason == "gradient"


def test_small_array_beside_a_large_one_has_its_own_scale():
    a = {"big": 1e9 * GRADIENT, "small": 1e-9 * GRADIENT}
    b = a | {"small": 1.3e-9 * GRADIENT}
    found = compare(evidence(a), evidence(b), TOLERANCE)
    assert (found.reason, found.array) == ("gradient", "small")


def test_one_entry_in_a_hundred_thousand():
    g = np.random.default_rng(1).standard_normal(100_000)
    wrong = g.copy()
    k = 31_415
    wrong[k] *= 1.3
    found = compare(evidence(g), evidence(wrong), TOLERANCE)
    assert found.reason == "gradient"
    assert found.index == (k,)
    assert found.where == f"theta[{k}] interior"


@given(
    g=arrays(np.float64, (5, 4), elements=st.floats(-1, 1).map(lambda x: x + 2.0)),
    k=st.integers(0, 19),
    size=st.floats(1.01, 1e10),
)
def test_max_norm_sees_every_entry_above_the_tolerance(g, k, size):
    wrong = g.copy()
    wrong.ravel()[k] += size * TOLERANCE.relative * np.max(np.abs(g)) * 2
    assert compare(evidence(g), evidence(wrong), TOLERANCE).reason == "gradient"


@pytest.mark.parametrize("shape", [(), (1,), (0,), (2, 0), (1, 1)])
def test_odd_shapes(shape):
    g = np.ones(shape)
    found = compare(evidence(g), evidence(g), TOLERANCE, zero_proved=True)
    assert found.ok
    if g.size:
        assert compare(evidence(g), evidence(2 * g), TOLERANCE).reason == "gradient"


def test_array_difference_refuses_to_broadcast():
    with pytest.raises(ValueError, match="shapes"):
        array_difference(np.ones((3, 1)), np.ones(3))


def test_ulp_counts_in_the_declared_dtype():
    a = np.array([1.0, 3.0], dtype=np.float32)
    assert array_difference(a, np.nextafter(a, np.float32(9)), "float32").ulp == 1


def test_vector_norms_neither_overflow_nor_underflow():
    for scale in (1e-300, 1e300):
        assert vector_norms(scale * np.array([3.0, 4.0])) == pytest.approx((4 * scale, 5 * scale))
    assert vector_norms(np.array([3.0, np.nan]))[0] != vector_norms(np.array([3.0]))[0]


def test_where():
    colours = lambda shape: np.sum(np.indices(shape), axis=0) % 2  # noqa: E731
    assert describe("a", (1, 2), (3, 4), colours) == "a[1, 2] interior, colour 1"
    assert describe("a", (0, 2), (3, 4)) == "a[0, 2] boundary"
    assert describe("a", (0, 1), (2, 2)) == "a[0, 1]"
    assert on_boundary((3, 4)).sum() == 10


def test_derivative_in_both_conventions():
    g = {"z": np.array([1 + 2j])}
    v = {"z": np.array([3 - 1j])}
    assert derivative(g, v)[0] == pytest.approx(((1 - 2j) * (3 - 1j)).real)
    assert derivative(g, v, holomorphic=True)[0] == pytest.approx(((1 + 2j) * (3 - 1j)).real)
    assert derivative({"x": np.array([1.0, -2.0])}, ("x", (1,))) == (-2.0, 2.0)
