"""The misfit in JAX."""

import jax.numpy as jnp


def loss(theta, y):
    """No buffer is needed."""
    return jnp.sum((theta**2 * jnp.sin(theta) - y) ** 2)
