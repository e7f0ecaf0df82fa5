"""NAME in JAX.  The gradient is jax.grad's."""

import jax.numpy as jnp


def loss(w, A, b):
    return jnp.sum((jnp.tanh(A @ w) - b) ** 2)
