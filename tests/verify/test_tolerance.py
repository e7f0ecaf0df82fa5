import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyweanj.verify import derive
from pyweanj.verify.condition import MOVE, measure
from pyweanj.verify.tolerance import LAMBDA, Condition, unit_roundoff


def test_check_size_of_the_seeds():
    found = derive("float64", 6.0 * (2 * 32 + 2 * 20), terms=1024)
    assert 1e-14 < found.relative < 6e-14
    assert found.relative == 2 * LAMBDA * 2.0**-53 * math.sqrt(624)
    assert 1e-14 < found.loss < 6e-14
    assert "624" in found.text
    assert "float64" in found.text


@given(depth=st.floats(1, 1e9), dtype=st.sampled_from(["float64", "float32"]))
def test_grows_with_the_root_of_depth_and_with_roundoff(depth, dtype):
    one, four = derive(dtype, depth), derive(dtype, 4 * depth)
    assert four.relative == pytest.approx(2 * one.relative)
    assert one.relative / unit_roundoff(dtype) == pytest.approx(16 * math.sqrt(depth))


def test_covers_the_rounding_of_long_chains():
    """Products and sums in float32 against float64: inside the tolerance, and not far inside."""
    rng = np.random.default_rng(0)
    worst = 0.0
    for depth in (10, 100, 1000, 10_000):
        factors = rng.uniform(0.9, 1.1, (200, depth))
        # Both chains start from the same float32 numbers.
        factors = factors.astype(np.float32)
        exact = np.prod(factors.astype(np.float64), axis=1)
        rounded = np.multiply.accumulate(factors, axis=1)[:, -1]
        error = np.max(np.abs(rounded - exact) / np.abs(exact))
        worst = max(worst, error / derive("float32", depth).relative)
    assert 0.02 < worst < 1


def test_noise_widens_it_but_hides_nothing():
    plain = derive("float64", 100)
    assert derive("float64", 100, noise=1e-16).relative == pytest.approx(plain.relative + 2e-16)
    assert derive("float64", 100, noise=1e-3).relative == pytest.approx(2 * plain.relative)
    assert derive("float64", 100, noise=1e-3).floor == plain.relative


def test_override_is_recorded_and_leaves_the_floor():
    found = derive("float64", 100, override=1e-9)
    assert found.relative == found.loss == 1e-9
    assert found.overridden
    assert "as given by the user" in found.text
    assert f"{derive('float64', 100).relative:.1e}" in found.text
    assert found.floor == derive("float64", 100).relative


def test_condition_multiplies_and_is_told():
    found = derive("float64", 100, condition=Condition(3.0, 5.0))
    assert found.relative == pytest.approx(5 * derive("float64", 100).relative)
    assert found.loss == pytest.approx(3 * derive("float64", 100).loss)
    assert "condition" in found.text


@pytest.mark.parametrize(
    ("arguments", "options", "text"),
    [
        (("float16x", 1), {}, "dtype"),
        (("float64", -1), {}, "depth"),
        (("float64", math.nan), {}, "depth"),
        (("float64", 1, -1.0), {}, "noise"),
        (("float64", 1), {"terms": math.inf}, "terms"),
        (("float64", 1), {"override": 0.0}, "tolerance"),
        (("float64", 1), {"override": math.nan}, "tolerance"),
        (("float64", 1), {"condition": Condition(0.5, 1)}, "condition"),
    ],
)
def test_refuses_what_has_no_meaning(arguments, options, text):
    with pytest.raises(ValueError, match=text):
        derive(*arguments, **options)


def test_condition_of_a_misfit_grows_as_it_is_fitted():
    def evaluate(arrays):
        misfit = arrays["x"] - arrays["y"]
        return float(np.sum(misfit**2)), {"x": 2 * misfit}

    rng = np.random.default_rng(1)
    x = rng.uniform(1, 2, 50)
    for gap in (1e-1, 1e-3, 1e-5):
        found = measure(evaluate, {"x": x, "y": x + gap * rng.choice([-1, 1], 50)})
        assert 0.3 / gap < found.gradient < 10 / gap
        assert found.loss > 0.05 / gap
    assert measure(lambda a: (1.0, {"x": 0 * a["x"]}), {"x": x}) == Condition(1.0, 1.0)
    assert MOVE < 1e-7


def test_condition_leaves_inputs_alone():
    x = np.arange(1.0, 4.0)
    measure(lambda a: (float(np.sum(a["x"])), {"x": a["x"]}), {"x": x, "k": np.arange(3)})
    assert np.array_equal(x, [1, 2, 3])
