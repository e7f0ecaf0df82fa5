import pytest

from pyweanj.measure.clock import time_calls
from pyweanj.measure.sync import check_sync
from tests.measure.simulated import AsyncDevice, Machine


def _check(synchronise: bool, settle_work: float = 1e-5):
    machine = Machine()
    device = AsyncDevice(machine)

    def settle():
        device.wait(device.dispatch(settle_work))

    def sample(calls):
        sync = device.wait if synchronise else None
        return time_calls(lambda: device.dispatch(0.05), sync, calls, clock=machine.clock)

    return check_sync(sample, settle, calls=2, clock=machine.clock)


def test_synchronised_sampler_passes():
    found = _check(synchronise=True)
    assert found.synchronised
    assert found.reported_s == pytest.approx(0.1, rel=1e-2)
    assert found.left_s < 1e-6


def test_timer_without_synchronisation_is_flagged():
    found = _check(synchronise=False)
    assert not found.synchronised
    assert found.left_s == pytest.approx(0.1, rel=1e-2)


def test_slow_settling_alone_is_not_taken_for_work_in_flight():
    assert _check(synchronise=True, settle_work=1.0).synchronised
