"""Figures as people read them: one function per quantity, used by every format.

What was not measured (None) becomes `MISSING`; NaN and Inf are named as such.
"""

from __future__ import annotations

import math

__all__ = [
    "MISSING",
    "byte_size",
    "count",
    "half_width",
    "loss",
    "multiple",
    "norm",
    "relative",
    "seconds",
]

MISSING = "–"


def _special(value: float | None) -> str | None:
    """The text of a value that no number format fits, or None."""
    if value is None:
        return MISSING
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Inf" if value > 0 else "−Inf"
    return None


def _three(value: float) -> str:
    """`value` below 1000, as printed, to three significant digits."""
    digits = 3 if value < 0.9995 else 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{value:.{digits}f}"


def seconds(value: float | None) -> str:
    """A duration in ns, µs, ms or s, to three significant digits."""
    if (special := _special(value)) is not None:
        return special
    assert value is not None
    if value == 0:
        return "0 s"
    for factor, unit in ((1e9, "ns"), (1e6, "µs"), (1e3, "ms")):
        if value * factor < 999.5:
            return f"{_three(value * factor)} {unit}"
    return f"{_three(value)} s" if value < 999.5 else f"{value:.0f} s"


def byte_size(value: int | None) -> str:
    """A number of bytes in B, KiB, MiB, GiB or TiB, to three significant digits."""
    if value is None:
        return MISSING
    if value < 1024:
        return f"{value} B"
    scaled = float(value)
    for unit in ("KiB", "MiB", "GiB", "TiB"):
        scaled /= 1024
        if scaled < 999.5 or unit == "TiB":
            return f"{_three(scaled)} {unit}"
    raise AssertionError


def loss(value: float | None) -> str:
    """A loss to 12 decimals; in scientific notation where those would say little."""
    special = _special(value)
    if special is not None:
        return special
    assert value is not None
    plain = value == 0 or 1e-4 <= abs(value) < 1e6
    return _minus(f"{value:.12f}" if plain else f"{value:.12e}")


def norm(value: float | None) -> str:
    """A gradient norm to seven significant digits."""
    special = _special(value)
    return special if special is not None else _minus(f"{value:.6e}")


def relative(value: float | None) -> str:
    """A relative error or a tolerance to two significant digits; an exact 0 stays 0."""
    special = _special(value)
    if special is not None:
        return special
    return "0" if value == 0 else _minus(f"{value:.1e}")


def multiple(value: float | None) -> str:
    """A ratio of two times or sizes."""
    special = _special(value)
    if special is not None:
        return special
    assert value is not None
    if value < 0.095:
        return f"{value:.1e}"
    return f"{value:.2f}" if value < 9.995 else f"{value:.1f}" if value < 99.95 else f"{value:.0f}"


def half_width(middle: float | None, interval: tuple[float, float] | None) -> str:
    """The wider half of `interval` around `middle`, as ± per cent of `middle`."""
    if middle is None or interval is None or not middle > 0:
        return MISSING
    half = 100 * max(interval[1] - middle, middle - interval[0], 0.0) / middle
    return f"±{half:.1f} %" if half < 9.95 else f"±{half:.0f} %"


def count(number: int, noun: str) -> str:
    """`number` with `noun`, in the plural where needed."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _minus(text: str) -> str:
    """A leading hyphen as a true minus sign."""
    return f"−{text[1:]}" if text.startswith("-") else text
