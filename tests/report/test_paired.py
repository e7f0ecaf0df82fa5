"""Ratios of samples that were taken in the same rounds."""

import pytest

from pyweanj.report.paired import paired

SLOW = [2.0, 4.0, 6.0]
FAST = [1.0, 2.0, 3.0, 100.0, 100.0]


def test_who_rests_is_held_against_the_rounds_before():
    found = paired(SLOW, FAST)
    assert (found.value, found.low, found.high) == (2.0, 2.0, 2.0)
    assert found.verdict == "slower"
    assert paired(FAST, SLOW).value == 0.5


def test_negative_control_medians_would_say_otherwise():
    assert sorted(SLOW)[1] / sorted(FAST)[2] == pytest.approx(4 / 3)


@pytest.mark.parametrize(("left", "right"), [(None, FAST), ([], FAST), (SLOW, [0.0, 1.0, 1.0])])
def test_without_times_in_common_there_is_no_ratio(left, right):
    assert paired(left, right) is None
