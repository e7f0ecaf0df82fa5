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


def gs_hyperplane_loss(theta: jax.Array, uobs: jax.Array, K: int) -> jax.Array:
    """Misfit after K lexicographic sweeps, one hyperplane at a time.

    The update order of `gs_loss` with the same arithmetic per point, in 2 (n + K − 1) vector
    steps where that takes n² K dependent ones.
    """
    return jnp.sum((_hyperplane_sweeps(theta, K) - uobs) ** 2)


def gs_hyperplane_gradient(theta: jax.Array, uobs: jax.Array, K: int) -> jax.Array:
    """Gradient of `gs_hyperplane_loss` with respect to θ, by a second run of the sweeps.

    With u = S θ the gradient is 2 Sᵀ (u − uobs).  The adjoint of the sweeps is
    λᵏ = (δ_kK r + L λᵏ + U λᵏ⁺¹) / 4, where r = 2 (u − uobs), L takes the neighbours that a
    sweep in *reverse* order has passed already and U the others.  Its sum over k is wanted,
    and s = Σ_{l ≥ k} λˡ obeys sₖ = (r + L sₖ + U sₖ₊₁) / 4 with s_{K+1} = 0: these are K
    Gauss–Seidel sweeps with source r in reverse order.  Hence Sᵀ = J S J, J reversing both axes.
    """
    residual = _hyperplane_sweeps(theta, K) - uobs
    return _hyperplane_sweeps(2 * residual[::-1, ::-1], K)[::-1, ::-1]


def _hyperplane_sweeps(theta: jax.Array, K: int) -> jax.Array:
    """The grid u after K lexicographic sweeps from 0, (n, n).

    In sweep k, point (i, j) needs what sweep k made of (i − 1, j) and (i, j − 1) and what
    sweep k − 1 made of (i + 1, j) and (i, j + 1): all points with the same i + j + 2k are
    independent (L. Lamport, The parallel execution of DO loops, CACM 17(2), 1974).  Step τ
    takes those with i + j + 2k = 2τ and then those with i + j + 2k = 2τ + 1 (0-based i, j).

    Antidiagonal i + j = 2m is row m of `even` and i + j = 2m + 1 row m of `odd`, each with a
    halo column at both ends, stored one after the other.  The rows in work, τ − K ≤ m < τ,
    are a contiguous block, and each neighbour is that block of the other parity, shifted.
    """
    n = theta.shape[0]
    h2 = 1.0 / (n + 1) ** 2
    if K == 0:
        return jnp.zeros_like(theta)
    block = min(K, n)
    width = n + 2
    length = block * width
    theta_even, theta_odd = _antidiagonals(theta)
    # ¼ at grid points and 0 elsewhere, so that the halo stays 0.
    quarter_even, quarter_odd = _antidiagonals(jnp.full_like(theta, 0.25))
    within = jax.lax.iota(jnp.uint32, length)

    def part(array, start):
        return jax.lax.dynamic_slice(array, (start,), (length,))

    def update(mine, at, other, source, quarter, start, active):
        """The block of `mine` at `at`, from the block of `other` around `start`."""
        # h² is a factor here, not beforehand: then each point is rounded as in `gs_loss`.
        new = h2 * part(source, start) + part(other, start) + part(other, start + width + 2)
        new = (new + part(other, start + 1) + part(other, start + width + 1)) * part(quarter, start)
        new = jnp.where(active, new, part(mine, at))
        return jax.lax.dynamic_update_slice(mine, new, (at,))

    def step(carry, tau):
        even, odd = carry
        first = jnp.maximum(tau - K, 0)
        row = jnp.minimum(first, n - block + 1)  # never constant: XLA would move h² θ outside
        start = row * width
        skipped = ((first - row) * width).astype(jnp.uint32)
        count = ((jnp.minimum(tau, n) - first) * width).astype(jnp.uint32)
        active = within - skipped < count  # unsigned: what lies before wraps round
        even = update(even, start + 1, odd, theta_even, quarter_even, start, active)
        odd = update(odd, start + width + 1, even, theta_odd, quarter_odd, start, active)
        return (even, odd), None

    # One element in front for the shift by −1; row −1 of `odd` is a halo, and so is the last.
    zeros = jnp.zeros((n + 2) * width + 2, theta.dtype)
    # The step is linear in what it carries: recomputing its masks leaves no tape over τ.
    step = jax.checkpoint(step, prevent_cse=False)
    (even, odd), _ = jax.lax.scan(step, (zeros, zeros), jnp.arange(1, n + K))
    rows = [array[1:-1].reshape(n + 2, width)[:, 1:-1] for array in (even, odd)]
    return _grid(rows[0][:n], rows[1][1 : n + 1])


def _antidiagonals(array: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Antidiagonals of an (n, n) array by the parity of i + j: n + 1 rows of n + 2, flat.

    Element i of row m is array[i, d − i], d = 2m or 2m + 1; 0 where there is none.
    """
    n = array.shape[0]
    # With rows of 2n, element (i, d − i) is (2n − 1) i + d: a row of 2n − 1 is one shear.
    padded = jnp.pad(array, ((0, 0), (0, n))).ravel()[: n * (2 * n - 1)]
    sheared = jnp.pad(padded.reshape(n, 2 * n - 1).T, ((0, 3), (1, 1)))
    return sheared[0::2].ravel(), sheared[1::2].ravel()


def _grid(even: jax.Array, odd: jax.Array) -> jax.Array:
    """The (n, n) array whose antidiagonals are the n rows of `even` and `odd`."""
    n = even.shape[0]
    sheared = jnp.stack([even, odd], axis=1).reshape(2 * n, n)[: 2 * n - 1].T
    return jnp.pad(sheared.ravel(), (0, n)).reshape(n, 2 * n)[:, :n]
