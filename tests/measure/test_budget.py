import pytest

from pyweanj.example import Size
from pyweanj.measure import SweepBudget, predict

# One gradient of the seeds' JAX lexicographic sweep, K = 100, in seconds.
PUBLISHED = {32: 0.009862, 64: 0.046664, 128: 0.246166, 256: 3.718064, 512: 19.701803}


def test_nothing_measured_predicts_nothing_and_is_allowed():
    assert predict([], [], Size(64, 100)) is None
    forecast = SweepBudget(1.0).forecast(Size(64, 100))
    assert forecast.allowed
    assert forecast.seconds is None


@pytest.mark.parametrize("exponent", [2.0, 2.5, 4.0])
def test_a_power_is_continued(exponent):
    sizes = [Size(n, 100) for n in (32, 64, 128)]
    seconds = [1e-6 * n**exponent for n, _ in sizes]
    assert predict(sizes, seconds, Size(256, 100)) == pytest.approx(1e-6 * 256**exponent)


def test_at_least_square_growth_is_expected():
    sizes = [Size(32, 100), Size(64, 100)]
    assert predict(sizes, [1.0, 1.0], Size(128, 100)) == pytest.approx(4.0)
    assert predict([Size(32, 100)], [1.0], Size(1024, 100)) == pytest.approx(1024.0)


def test_steps_scale_linearly():
    assert predict([Size(256, 10)], [1.0], Size(256, 1000)) == pytest.approx(100.0)
    sizes = [Size(32, 100), Size(64, 10)]
    assert predict(sizes, [1.0, 0.8], Size(128, 10)) == pytest.approx(0.8 * 8)


def test_order_of_measuring_does_not_matter():
    sizes = [Size(128, 100), Size(32, 100), Size(64, 100)]
    assert predict(sizes, [64.0, 1.0, 8.0], Size(256, 100)) == pytest.approx(512.0)


def test_published_sweep_stops_before_the_size_that_took_twenty_seconds():
    budget = SweepBudget(5.0)
    run = []
    for n, seconds in PUBLISHED.items():
        forecast = budget.forecast(Size(n, 100))
        if not forecast.allowed:
            assert "n = 512" in forecast.reason
            assert "budget of 5 s" in forecast.reason
            break
        run.append(n)
        budget.add(Size(n, 100), seconds)
    assert run == [32, 64, 128, 256]


def test_negative_control_a_large_budget_runs_all():
    budget = SweepBudget(100.0)
    for n, seconds in PUBLISHED.items():
        assert budget.forecast(Size(n, 100)).allowed
        budget.add(Size(n, 100), seconds)


def test_a_problem_without_steps_is_foretold_as_one_of_one_step():
    sizes, seconds = [Size(10, 0), Size(20, 0), Size(40, 0)], [1e-3, 8e-3, 64e-3]
    assert predict(sizes, seconds, Size(80, 0)) == pytest.approx(0.512)
    assert predict(sizes, seconds, Size(80, 4)) == pytest.approx(4 * 0.512)
