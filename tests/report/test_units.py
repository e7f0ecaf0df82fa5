import math

import pytest

from pyweanj.report import units

CASES = [
    (units.seconds, None, "–"),
    (units.seconds, 0.0, "0 s"),
    (units.seconds, 3.2e-9, "3.20 ns"),
    (units.seconds, 4.35e-4, "435 µs"),
    (units.seconds, 9.996e-4, "1.00 ms"),
    (units.seconds, 0.0999999, "100 ms"),
    (units.seconds, 1.318426, "1.32 s"),
    (units.seconds, 9.9949, "9.99 s"),
    (units.seconds, 9.996, "10.0 s"),
    (units.seconds, 1234.5, "1234 s"),
    (units.seconds, math.nan, "NaN"),
    (units.byte_size, None, "–"),
    (units.byte_size, 0, "0 B"),
    (units.byte_size, 1023, "1023 B"),
    (units.byte_size, 1024, "1.00 KiB"),
    (units.byte_size, 25228739, "24.1 MiB"),
    (units.byte_size, 1023 * 1024 + 1023, "1.00 MiB"),
    (units.byte_size, 3 << 50, "3072 TiB"),
    (units.loss, 0.105860373742, "0.105860373742"),
    (units.loss, -0.1, "−0.100000000000"),
    (units.loss, 1.5e-9, "1.500000000000e-09"),
    (units.loss, 0.0, "0.000000000000"),
    (units.loss, math.nan, "NaN"),
    (units.norm, 6.409859e-04, "6.409859e-04"),
    (units.norm, math.inf, "Inf"),
    (units.relative, 0.0, "0"),
    (units.relative, -math.inf, "−Inf"),
    (units.relative, 4.24e-15, "4.2e-15"),
    (units.multiple, 0.001, "1.0e-03"),
    (units.multiple, 1.8, "1.80"),
    (units.multiple, 9.996, "10.0"),
    (units.multiple, 37.3, "37.3"),
    (units.multiple, 449.6, "450"),
]


@pytest.mark.parametrize(("function", "value", "text"), CASES)
def test_texts(function, value, text):
    assert function(value) == text


@pytest.mark.parametrize("exponent", range(-9, 4))
def test_no_duration_jumps_at_a_change_of_unit(exponent):
    """Printed times never decrease where the time increases, within half a last digit."""
    factors = {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1.0}
    values = [10.0**exponent * (0.9 + 0.0007 * k) for k in range(300)]
    read = []
    for value in values:
        number, unit = units.seconds(value).split()
        read.append(float(number) * factors[unit])
        assert abs(read[-1] - value) <= 0.0051 * value
    assert read == sorted(read)


def test_half_width_takes_the_wider_half():
    assert units.half_width(1.0, (0.99, 1.05)) == "±5.0 %"
    assert units.half_width(1.0, (0.5, 1.05)) == "±50 %"
    assert units.half_width(None, (0.5, 1.05)) == "–"
    assert units.half_width(1.0, None) == "–"


def test_count_has_a_plural():
    assert units.count(1, "pair") == "1 pair"
    assert units.count(0, "pair") == "0 pairs"
