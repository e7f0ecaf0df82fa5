"""Right implementations in unusual conditions, which must pass."""

from __future__ import annotations

from collections.abc import Callable

from pyweanj.verify.controls import problems
from pyweanj.verify.controls.model import Problem

__all__ = ["unusual"]


def unusual() -> list[tuple[str, Callable[[], Problem]]]:
    """(name, problem): its first and second implementation must be found right and the same."""
    sweeps, recurrent = problems.sweeps, problems.recurrent
    both = ("float64", "float32")
    found: list[tuple[str, Callable[[], Problem]]] = []
    for dtype in both:
        for order in ("lexicographic", "red-black"):
            found.append((f"{order}, {dtype}", lambda d=dtype, o=order: sweeps(dtype=d, order=o)))
        for scale in (1e-12, 1e12):
            found += [
                (
                    f"gradient × {scale:g}, {dtype}",
                    lambda d=dtype, s=scale: sweeps(dtype=d, scale=s),
                ),
                (
                    f"not quadratic × {scale:g}, {dtype}",
                    lambda d=dtype, s=scale: recurrent(dtype=d, scale=s),
                ),
            ]
        for shape in ((1, 1), (2, 2), (1, 5), (2, 1)):
            found.append(
                (f"{shape[0]} × {shape[1]}, {dtype}", lambda d=dtype, s=shape: sweeps(s, dtype=d))
            )
        for K in (0, 1):
            found += [
                (f"K = {K}, {dtype}", lambda d=dtype, K=K: sweeps(K=K, dtype=d)),
                (
                    f"not quadratic, K = {K + 1}, {dtype}",
                    lambda d=dtype, K=K: recurrent(K=K + 1, dtype=d),
                ),
            ]
        found.append((f"many sweeps, {dtype}", lambda d=dtype: sweeps((5, 4), 60, d)))
    found += [
        ("gradient × 1e-200", lambda: sweeps(scale=1e-200)),
        ("1e5 entries", lambda: recurrent(50_000)),
        ("1e5 entries, float32", lambda: recurrent(50_000, dtype="float32")),
        ("overwritten locations", lambda: problems.overwritten(K=3)),
        ("kinks", problems.kinked),
        ("complex", problems.phases),
        ("two arrays of one shape", problems.twins),
    ]
    return found
