import itertools

import pytest

from pyweanj.measure import resolution, time_calls, time_median
from tests.measure.simulated import AsyncDevice, Machine


def test_median_of_single_calls():
    machine = Machine()
    durations = iter([9.0, 1.0, 5.0, 2.0, 30.0, 3.0])  # the first is the warm-up
    found = time_median(lambda: machine.work(next(durations)), samples=5, clock=machine.clock)
    assert found == 3.0


def test_warm_up_is_not_timed_but_is_done():
    machine = Machine()
    calls = itertools.count()
    found = time_median(
        lambda: machine.work(100.0 if next(calls) < 2 else 1.0),
        samples=4,
        warmup=2,
        clock=machine.clock,
    )
    assert found == 1.0
    assert next(calls) == 6


def test_synchronisation_gets_the_result_and_is_timed():
    machine = Machine()
    device = AsyncDevice(machine)
    synced = []

    def sync(result):
        synced.append(result)
        device.wait(result)

    found = time_median(lambda: device.dispatch(0.5), sync, samples=3, clock=machine.clock)
    assert found == pytest.approx(0.5, rel=1e-3)
    assert len(synced) == 4  # the warm-up is waited for too
    # Negative control: without it the same device looks thousands of times faster.
    assert time_median(lambda: device.dispatch(0.5), samples=3, clock=machine.clock) < 1e-4


def test_each_of_several_calls_is_synchronised():
    machine = Machine()
    device = AsyncDevice(machine)
    found = time_calls(lambda: device.dispatch(0.5), device.wait, calls=4, clock=machine.clock)
    assert found == pytest.approx(2.0, rel=1e-3)


@pytest.mark.parametrize(("samples", "warmup"), [(0, 1), (-1, 0), (1, -1)])
def test_counts_that_make_no_sense(samples, warmup):
    with pytest.raises(ValueError, match="samples must be"):
        time_median(lambda: None, samples=samples, warmup=warmup)


def test_real_clock_ticks_finely():
    assert 0 < resolution() < 1e-3


def test_resolution_is_the_smallest_step():
    readings = iter([0.0, 0.0, 0.5, 0.5, 0.75, 2.0, 2.0, 3.0, 3.0, 4.0, 5.0, 6.0, 7.0])
    assert resolution(lambda: next(readings), steps=4) == 0.25


def test_clock_that_stands_or_runs_backwards():
    with pytest.raises(ValueError, match="did not move"):
        resolution(lambda: 1.0)
    readings = iter([2.0, 1.0])
    with pytest.raises(ValueError, match="ran backwards"):
        resolution(lambda: next(readings))
