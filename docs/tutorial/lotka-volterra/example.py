"""Fitting the four parameters of a Lotka–Volterra system to observations of both species.

dx/dt = α x − β x y and dy/dt = δ x y − γ y, with p = (α, β, δ, γ), are solved from `start` by
the classical Runge–Kutta method with K steps of equal length between two observations.  The
loss is the sum of squares of what is left of the n observations of x and y.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pyweanj import Example, Size, Variant, normals

TRUE = np.array([1.1, 0.4, 0.1, 0.4])
START = np.array([10.0, 5.0])
INTERVAL = 0.1
NOISE = 0.3


def shapes(size: Size) -> dict[str, tuple[int, ...]]:
    """The first row of `observed` is the prey, the second the predators."""
    return {"p": (4,), "start": (2,), "interval": (), "observed": (2, size.n)}


def make_inputs(size: Size, seed: int) -> dict[str, np.ndarray]:
    """Noisy observations of the true system, and a first guess 5 % or so away from it."""
    observed = trajectory(TRUE, size.n) + NOISE * normals(seed, 0, (2, size.n))
    guess = TRUE * (1 + 0.05 * normals(seed, 1, (4,)))
    return {"p": guess, "start": START, "interval": np.array(INTERVAL), "observed": observed}


def trajectory(p: np.ndarray, n: int, steps: int = 20) -> np.ndarray:
    """Both species at n times, in fine steps: the truth that is observed."""

    def field(u: np.ndarray) -> np.ndarray:
        return np.array([p[0] * u[0] - p[1] * u[0] * u[1], p[2] * u[0] * u[1] - p[3] * u[1]])

    u, h, found = START, INTERVAL / steps, []
    for _ in range(n):
        for _ in range(steps):
            a = field(u)
            b = field(u + h / 2 * a)
            c = field(u + h / 2 * b)
            u = u + h / 6 * (a + 2 * b + 2 * c + field(u + h * c))
        found.append(u)
    return np.stack(found, axis=1)


example = Example(
    name="lotka-volterra",
    title="fit of a Lotka–Volterra system by fixed-step Runge–Kutta",
    folder=Path(__file__).parent,
    variants=(Variant("rk4", loss="misfit", systems=("jax", "enzyme", "enzyme-cpp")),),
    arguments=("p", "start", "interval", "observed", "K"),
    differentiate=("p",),
    shapes=shapes,
    make_inputs=make_inputs,
    generator=(
        "observed = true trajectory + 0.3 * normals(seed, 0, (2, n)); "
        "p = true p * (1 + 0.05 * normals(seed, 1, (4,)))"
    ),
    # One step is a chain of about 50 rounded operations.
    depth=lambda size: 50.0 * size.n * size.K,
    check=Size(40, 4),
    timing=(Size(40, 4), Size(160, 4), Size(640, 4)),
    quick=(Size(40, 4),),
    fd_step=1e-3,
)
