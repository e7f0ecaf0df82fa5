"""A constant factor, with its name; a constant added; the sign lost."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pyweanj.verify.diagnosis.context import Context, Finding, distance

__all__ = ["absolute", "best_factor", "factor", "name_factor", "offset"]


def best_factor(wrong: np.ndarray, right: np.ndarray) -> float:
    """The f that minimises ‖wrong − f right‖₂; 0 where there is none."""
    scale_w, scale_r = (float(np.max(np.abs(x), initial=0.0)) for x in (wrong, right))
    if not (0 < scale_w < np.inf and 0 < scale_r < np.inf):
        return 0.0
    wide = np.complex128 if np.iscomplexobj(wrong) or np.iscomplexobj(right) else np.float64
    a, b = (wrong / scale_w).astype(wide).ravel(), (right / scale_r).astype(wide).ravel()
    return float(np.real(np.vdot(b, a)) / np.real(np.vdot(b, b))) * (scale_w / scale_r)


def factor(wrong: np.ndarray, right: np.ndarray, context: Context) -> Iterator[Finding]:
    """A constant factor: wrong = f · right."""
    if wrong.shape != right.shape:
        return
    found = best_factor(wrong, right)
    if found and abs(found - 1) > 3 * context.tolerance.relative:
        residual = distance(wrong / found, right)
        yield Finding.of("factor", name_factor(found, right.size, context), residual, context)


def offset(wrong: np.ndarray, right: np.ndarray, context: Context) -> Iterator[Finding]:
    """A constant added: wrong = right + c."""
    if wrong.shape != right.shape or right.size < 3:
        return
    gap = wrong - right
    middle = np.mean(gap)
    residual = distance(wrong - middle, right)
    yield Finding.of("offset", f"{middle:.3g} added to every entry", residual, context)


def absolute(wrong: np.ndarray, right: np.ndarray, context: Context) -> Iterator[Finding]:
    """Signs lost: wrong = ± |right|."""
    if wrong.shape != right.shape or np.iscomplexobj(right) or np.all(right >= 0):
        return
    for sign, text in ((1, "the absolute value"), (-1, "minus the absolute value")):
        residual = distance(wrong, sign * np.abs(right))
        yield Finding.of("absolute value", f"{text} of the gradient", residual, context)


def name_factor(found: float, size: int, context: Context) -> str:
    """``× −2 (…)``: every name that a factor has in this case."""
    n, K = context.n, context.K
    sign, value = ("−" if found < 0 else ""), abs(found)
    names = []
    for candidate, name in _candidates(n, K, size):
        if abs(value / candidate - 1) <= context.small:
            names.append(f"{sign}{name}")
    whole = round(value)
    if whole >= 2 and abs(value / whole - 1) <= context.small:
        names.append(f"accumulated {whole} times" + (" with the wrong sign" if sign else ""))
    elif value and (below := round(1 / value)) >= 3 and abs(value * below - 1) <= context.small:
        names.append(f"{sign}1/{below}")
    if sign and abs(value - 1) <= context.small:
        return "sign reversed"
    shown = f"1 {'+' if found > 1 else '−'} {abs(found - 1):.2g}"
    text = f"factor {shown if abs(found - 1) < 1e-4 else f'{sign}{value:.6g}'}"
    return text + (f": {' or '.join(dict.fromkeys(names))}" if names else "")


def _candidates(n: int, K: int, size: int) -> list[tuple[float, str]]:
    h = 1.0 / (n + 1)
    named = [(0.5, "½, a factor 2 is missing")]
    named += [(h * h, "h²"), (1 / h**2, "1/h²"), (h, "h"), (1 / h, "1/h")]
    if n > 1:
        named += [(n * n, "n²"), (1 / n**2, "1/n²"), (n, "n"), (1 / n, "1/n")]
    if size > 1:
        named += [(size, "the number of entries"), (1 / size, "1/the number of entries")]
    if K > 1:
        named += [(K, "K"), (1 / K, "1/K")]
    return named
