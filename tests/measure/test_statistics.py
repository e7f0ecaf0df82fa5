import math

import numpy as np
import pytest

from pyweanj.measure import growth_exponent, median_interval, memory_growth, ratio


def noisy(seconds, count, noise=0.01, seed=0):
    return seconds * np.exp(noise * np.random.default_rng(seed).standard_normal(count))


@pytest.mark.parametrize("count", [3, 5, 6, 10, 25])
def test_interval_covers_the_true_median_about_as_often_as_it_says(count):
    rng = np.random.default_rng(count)
    hits = 0
    for _ in range(400):
        found = median_interval(np.exp(0.1 * rng.standard_normal(count)))
        hits += found.low <= 1.0 <= found.high
    # Nominal 95 %; the percentile bootstrap is known to fall a little short at small counts.
    assert 0.90 <= hits / 400 <= 0.995


def test_negative_control_the_interval_misses_another_median():
    rng = np.random.default_rng(1)
    found = [median_interval(1.3 * np.exp(0.1 * rng.standard_normal(25))) for _ in range(100)]
    assert sum(i.low <= 1.0 <= i.high for i in found) < 5


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 6, 7, 50])
def test_interval_holds_its_median_and_narrows(count):
    found = median_interval(noisy(2.0, count))
    assert found.low <= found.value <= found.high
    assert found.count == count
    if count == 1:
        assert found.bounds is None
        assert math.isinf(found.half_width)
    if count == 50:
        assert found.half_width < 0.01
        assert found.bounds == (found.low, found.high)


def test_interval_is_reproducible_and_scales_with_the_unit():
    x = noisy(1.0, 12)
    first, again, other = (median_interval(v, seed=s) for v, s in ((x, 1), (x, 1), (1e6 * x, 1)))
    assert first == again
    assert other.low == pytest.approx(1e6 * first.low)
    assert other.half_width == pytest.approx(first.half_width)


def test_one_outlier_does_not_move_the_median():
    x = noisy(1.0, 11)
    spoilt = np.concatenate([[40.0], x[1:]])
    assert median_interval(spoilt).value == pytest.approx(median_interval(x).value, rel=0.01)


@pytest.mark.parametrize(
    "samples", [[], [1.0, math.nan], [1.0, math.inf], [1.0, 0.0], [-1.0], [[1.0, 2.0]]]
)
def test_samples_that_are_none(samples):
    with pytest.raises(ValueError, match="samples must be"):
        median_interval(samples)


@pytest.mark.parametrize(
    ("factor", "noise", "verdict"),
    [
        (1.0, 0.005, "same"),
        (1.01, 0.005, "same"),
        (1 / 1.01, 0.005, "same"),
        (1.3, 0.02, "slower"),
        (1 / 1.3, 0.02, "faster"),
        (1.05, 0.005, "slower"),
        (1.02, 0.01, "unclear"),
        (1.0, 0.2, "unclear"),
        (47.0, 0.2, "slower"),
    ],
)
@pytest.mark.parametrize("seed", range(3))
def test_verdict(factor, noise, verdict, seed):
    left = noisy(factor, 15, noise, seed)
    right = noisy(1.0, 15, noise / 10, seed + 100)
    assert ratio(left, right).verdict == verdict


def test_verdict_with_few_rounds():
    assert ratio([47.0, 47.1, 47.4], [1.0, 1.01, 1.0]).verdict == "slower"
    assert ratio([1.3, 1.3], [1.0, 1.1]).verdict == "unclear"
    assert ratio([1.3], [1.0]).verdict == "unclear"


def test_verdicts_mirror():
    left, right = noisy(1.3, 15, seed=1), noisy(1.0, 15, seed=2)
    forth, back = ratio(left, right), ratio(right, left)
    assert (forth.verdict, back.verdict) == ("slower", "faster")
    assert back.value == pytest.approx(1 / forth.value)


def test_margin_is_a_choice():
    left, right = noisy(1.05, 15, 0.003, 1), noisy(1.0, 15, 0.003, 2)
    assert ratio(left, right, margin=0.1).verdict == "same"


def test_pairing_takes_what_both_share_out_of_the_ratio():
    phase = np.repeat([1.0, 3.0], 10)
    left, right = noisy(1.3, 20, 0.005, 1) * phase, noisy(1.0, 20, 0.005, 2) * phase
    paired = ratio(left, right)
    assert paired.value == pytest.approx(1.3, rel=0.01)
    assert paired.half_width < 0.01
    # Negative control: the pairing destroyed, the interval is useless.
    assert ratio(left, right[::-1]).half_width > 0.5


def test_lengths_must_agree():
    with pytest.raises(ValueError, match="one length"):
        ratio([1.0, 2.0], [1.0])


@pytest.mark.parametrize("exponent", [0.0, 1.0, 2.0, 2.4, 3.9])
def test_growth_exponent_of_a_power(exponent):
    sizes = [32, 64, 128, 256]
    samples = [noisy(1e-6 * n**exponent, 10, 0.02, n) for n in sizes]
    found = growth_exponent(sizes, samples)
    assert found is not None
    assert found.low <= exponent <= found.high
    assert found.high - found.low < 0.1
    assert found.misfit < 0.05


def test_growth_exponent_takes_any_order_and_single_medians():
    found = growth_exponent([256, 32, 64], [256.0**2, 32.0**2, 64.0**2])
    assert found is not None
    assert (found.exponent, found.low, found.high) == pytest.approx((2.0, 2.0, 2.0))


def test_misfit_tells_that_one_power_does_not_fit():
    found = growth_exponent([32, 64, 128, 256], [0.00986, 0.0467, 0.246, 3.718])
    assert found is not None
    assert found.misfit > 0.3


def test_growth_needs_two_sizes():
    assert growth_exponent([64, 64], [1.0, 2.0]) is None
    with pytest.raises(ValueError, match="2 sizes but 1"):
        growth_exponent([1, 2], [1.0])


Ks = (10, 100, 1000)
MiB = 2**20


@pytest.mark.parametrize(
    ("figures", "noise", "verdict"),
    [
        ((1.52 * MiB,) * 3, 0, "flat"),
        ((0, 0, 0), 0, "flat"),
        ((2.04 * MiB, 2.04 * MiB, 2.10 * MiB), 0, "flat"),
        ((0, 0.4 * MiB, 0.2 * MiB), MiB, "flat"),
        ((0, 0.4 * MiB, 0.2 * MiB), 0, "other"),
        (tuple(0.5 * MiB * K for K in Ks), 0, "linear"),
        (tuple(2 * MiB + 0.5 * MiB * K for K in Ks), MiB, "linear"),
        (tuple(8 * MiB + 2048 * K for K in Ks), 0, "linear"),
        (tuple(0.5 * MiB * math.sqrt(K) for K in Ks), 0, "other"),
        (tuple(100 * MiB + 4096 * K**2 for K in Ks), 0, "other"),
        (tuple(8 * K**2 for K in Ks), 0, "other"),
        (tuple(0.5 * MiB * (1100 - K) for K in Ks), 0, "other"),
    ],
)
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1)])
def test_memory_against_steps(figures, noise, verdict, order):
    found = memory_growth([Ks[i] for i in order], [int(figures[i]) for i in order], noise=noise)
    assert found is not None
    assert found.verdict == verdict


def test_memory_that_grows_is_flagged_with_its_rate():
    found = memory_growth(Ks, [int(2 * MiB + 0.5 * MiB * K) for K in Ks], noise=MiB)
    assert found is not None
    assert found.verdict == "linear"
    assert found.per_step == pytest.approx(0.5 * MiB, rel=1e-3)
    assert found.factor == pytest.approx(502 / 7)


def test_two_values_cannot_tell():
    assert memory_growth([10, 100], [1, 2]) is None
    with pytest.raises(ValueError, match="3 values of K but 2"):
        memory_growth(Ks, [1, 2])
    with pytest.raises(ValueError, match="negative"):
        memory_growth(Ks, [1, -2, 3])
