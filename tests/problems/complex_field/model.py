import jax.numpy as jnp


def loss(z, F, d):
    left = (F @ z) ** 2 - d
    return jnp.sum(left.real**2 + left.imag**2)
