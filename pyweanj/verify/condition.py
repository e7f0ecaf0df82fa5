"""How much more the loss and the gradient move, relatively, than the inputs do.

Where large terms cancel, as in a misfit that is nearly fitted or a gradient near a minimum,
rounding is amplified like any other small change of the inputs.  So the amplification is
measured with an implementation that is trusted (the oracle): inputs are moved by a relative
2⁻²⁶ of random sign, in float64.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from pyweanj.verify.evidence import Arrays
from pyweanj.verify.measures import array_difference, relative
from pyweanj.verify.tolerance import Condition

__all__ = ["MOVE", "measure", "moved"]

MOVE = 2.0**-26


def measure(
    evaluate: Callable[[Mapping[str, np.ndarray]], tuple[float, Arrays]],
    inputs: Mapping[str, np.ndarray],
    *,
    draws: int = 2,
    seed: int = 0,
) -> Condition:
    """Condition of loss and gradient: 1 + `draws` evaluations, the largest of which counts.

    Parameters
    ----------
    evaluate
        Loss and gradient of the trusted implementation, in float64.
    inputs
        Its arrays; they are not changed.

    Returns
    -------
    Condition
        At least 1 for both; 1 where the loss or gradient is exactly zero or not finite, since
        then nothing is relative to it.
    """
    wide = {name: _widened(array) for name, array in inputs.items()}
    loss, gradient = evaluate(wide)
    factors = [1.0, 1.0]
    for k in range(draws):
        other_loss, other = evaluate(moved(wide, seed + k))
        change = relative(float(loss), float(other_loss)) / MOVE
        factors[0] = _larger(factors[0], change)
        for name, g in gradient.items():
            if np.any(g) and np.isfinite(g).all() and np.isfinite(other[name]).all():
                found = array_difference(g, other[name])
                factors[1] = _larger(factors[1], max(found.maximum, found.two_norm) / MOVE)
    return Condition(*factors)


def moved(inputs: Mapping[str, np.ndarray], seed: int = 0) -> dict[str, np.ndarray]:
    """Every floating-point entry x becomes x (1 ± 2⁻²⁶)."""
    rng = np.random.default_rng([seed, 4])
    found = {}
    for name, array in inputs.items():
        signs = rng.choice([-1.0, 1.0], array.shape)
        found[name] = array * (1 + MOVE * signs) if array.dtype.kind in "fc" else array
    return found


def _widened(array: np.ndarray) -> np.ndarray:
    wide = {"f": np.float64, "c": np.complex128}
    return array.astype(wide[array.dtype.kind]) if array.dtype.kind in wide else array


def _larger(a: float, b: float) -> float:
    return b if np.isfinite(b) and b > a else a
