import jax.numpy as jnp


def left_over(a, v, M, B, t, y, k):
    return jnp.exp(-a * t) * (M @ v) + B[k, 0] - y


def loss(a, v, K, M, B, t, y, k, used, times):
    return K * times * jnp.sum(jnp.where(used, left_over(a, v, M, B, t, y, k) ** 2, 0))


def gradient(a, v, K, M, B, t, y, k, used, times):
    r = 2 * K * times * jnp.where(used, left_over(a, v, M, B, t, y, k), 0)
    e = r * jnp.exp(-a * t)
    return {
        "a": -jnp.sum(e * t * (M @ v)),
        "v": M.T @ e,
        "M": jnp.outer(e, v),
        "B": jnp.zeros_like(B).at[k, 0].add(r),
    }
