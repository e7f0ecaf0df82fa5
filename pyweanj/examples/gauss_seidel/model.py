"""Gauss–Seidel in JAX, as a JAX user writes it: arrays are immutable, loop bodies are pure."""

import jax
import jax.numpy as jnp


def gs_loss(theta: jax.Array, uobs: jax.Array, K: int) -> jax.Array:
    """Misfit after K lexicographic sweeps: i fastest, then j.

    A sweep is a scan over the columns, and each column a scan over its rows that carries
    the new u[i−1, j].
    """
    n = theta.shape[0]
    h2 = 1.0 / (n + 1) ** 2

    def column(u, j):
        left, old, right = u[:, j], u[:, j + 1], u[:, j + 2]

        def point(below, i):
            new = (h2 * theta[i, j] + below + old[i + 2] + left[i + 1] + right[i + 1]) / 4
            return new, new

        _, new = jax.lax.scan(point, old[0], jnp.arange(n))
        return u.at[1 : n + 1, j + 1].set(new), None

    def sweep(u, _):
        return jax.lax.scan(column, u, jnp.arange(n))[0], None

    u, _ = jax.lax.scan(sweep, jnp.zeros((n + 2, n + 2), theta.dtype), None, length=K)
    return jnp.sum((u[1:-1, 1:-1] - uobs) ** 2)


def rb_loss(theta: jax.Array, uobs: jax.Array, K: int) -> jax.Array:
    """Misfit after K red-black sweeps, each colour one stencil under a mask."""
    n = theta.shape[0]
    h2 = 1.0 / (n + 1) ** 2
    i, j = jnp.indices((n, n))
    red = (i + j) % 2 == 0  # the same points as with 1-based i + j in the haloed grid

    def half(u, colour):
        new = (h2 * theta + u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) / 4
        return u.at[1:-1, 1:-1].set(jnp.where(colour, new, u[1:-1, 1:-1]))

    def sweep(u, _):
        return half(half(u, red), ~red), None

    u, _ = jax.lax.scan(sweep, jnp.zeros((n + 2, n + 2), theta.dtype), None, length=K)
    return jnp.sum((u[1:-1, 1:-1] - uobs) ** 2)
